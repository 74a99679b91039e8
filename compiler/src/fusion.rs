//! Fused instructions: one that does the work of several, in judging blocks.
//!
//! ```text
//! number_range     minimum A; maximum B                      ->  in_range A..=B
//! counted_items    min_items A; max_items B; items X         ->  counted_items A..=B X
//! tagged_union     any_of / one_of of objects told apart     ->  switch_tag: the branch that the tag means
//!                  by a required member's const or enum
//! ```
//!
//! (The fourth fusion needs no pass: the head of a child's block becomes the guard of its property or element, see
//! [`crate::emit`].) Each keeps the verdict on every instance; a test runs all data with them off and compares.

use std::collections::HashSet;
use std::rc::Rc;

use ahash::HashMap;
use bumpalo::Bump;
use callgate_vm::insn::{Flags, Types};
use callgate_vm::instance::View;
use callgate_vm::opcode::Opcode;
use callgate_vm::tape::Node;

use crate::ir::Model;
use crate::lower::{BlockId, BlockKind, Low, LowName, LowTable, NumberAt, Op, Program};
use crate::refs::Place;

/// Tags of all switches of a unit: about 40 bytes each, so that a unit stays far below its limit. Unions beyond are left
/// as they are.
const TAGS_MAX: usize = 1 << 16;

/// Tags of one switch.
const SWITCH_TAGS_MAX: usize = 1_024;

/// Steps that looking for tags may take in all. Unit: a name or text compared.
const STEPS_MAX: usize = 1 << 20;

/// Fuses what can be, in every judging block.
pub(crate) fn run<'d>(program: &mut Program<'d>, model: &Model<'_, 'd>, bump: &'d Bump) {
    let mut search = TagSearch { tags_left: TAGS_MAX, steps_left: STEPS_MAX, of_block: HashMap::default() };
    for at in 0..program.blocks.len() {
        if program.blocks[at].key.kind == BlockKind::Judge {
            for index in 0..program.blocks[at].ops.len() {
                if let Some(switch) = search.switch(program, model, &program.blocks[at].ops[index].low, bump) {
                    program.blocks[at].ops[index].low = switch;
                }
            }
            if may_fuse(program.blocks[at].ops) {
                let mut ops = program.blocks[at].ops.to_vec();
                number_range(&mut ops);
                counted_items(&mut ops);
                program.blocks[at].ops = bump.alloc_slice_copy(&ops);
            }
        }
    }
}

// --- tagged unions -------------------------------------------------------------------------------------------

/// A required member of a branch, and the only texts that it may be.
type TagOf<'d> = (&'d str, Vec<&'d str>);

/// Looks for tags, within bounds: a schema may refer to the same branches from any number of unions.
struct TagSearch<'d> {
    tags_left: usize,
    steps_left: usize,
    /// What could be a tag of a branch, found once.
    of_block: HashMap<BlockId, Rc<[TagOf<'d>]>>,
}

impl<'d> TagSearch<'d> {
    /// The switch that stands for a union: a name that every branch requires, with texts that no other branch takes.
    fn switch(
        &mut self,
        program: &Program<'d>,
        model: &Model<'_, 'd>,
        union: &Low<'d>,
        bump: &'d Bump,
    ) -> Option<Low<'d>> {
        let branches: &[BlockId] = match union {
            Low::AnyOf { flags, branches } | Low::OneOf { flags, branches } if *flags == Flags::NONE => branches,
            _ => return None,
        };
        if branches.len() < 2 || branches.len() > SWITCH_TAGS_MAX {
            return None;
        }
        let mut candidates = Vec::with_capacity(branches.len());
        for branch in branches {
            let of_branch = self.of_branch(program, model, *branch)?;
            if of_branch.is_empty() {
                return None;
            }
            candidates.push(of_branch);
        }
        candidates[0].iter().find_map(|(name, _)| {
            let cases = self.cases(name, &candidates, branches)?;
            self.tags_left = self.tags_left.checked_sub(cases.len())?;
            Some(Low::SwitchTag { name, cases: bump.alloc_slice_copy(&cases) })
        })
    }

    fn spend(&mut self, steps: usize) -> Option<()> {
        self.steps_left = self.steps_left.checked_sub(steps)?;
        Some(())
    }

    /// Each text of the member `name` with its branch, if all branches have it and share none.
    fn cases(
        &mut self,
        name: &str,
        candidates: &[Rc<[TagOf<'d>]>],
        branches: &[BlockId],
    ) -> Option<Vec<(&'d str, BlockId)>> {
        let mut seen = HashSet::new();
        let mut cases = Vec::new();
        for (of_branch, branch) in candidates.iter().zip(branches) {
            self.spend(of_branch.len())?;
            let (_, texts) = of_branch.iter().find(|(other, _)| *other == name)?;
            self.spend(texts.len())?;
            if cases.len() + texts.len() > SWITCH_TAGS_MAX || !texts.iter().all(|text| seen.insert(*text)) {
                return None;
            }
            cases.extend(texts.iter().map(|text| (*text, *branch)));
        }
        Some(cases)
    }

    /// What could be a tag of the branch.
    fn of_branch(&mut self, program: &Program<'d>, model: &Model<'_, 'd>, branch: BlockId) -> Option<Rc<[TagOf<'d>]>> {
        if let Some(known) = self.of_block.get(&branch) {
            return Some(Rc::clone(known));
        }
        let names: &[LowName<'d>] = object_table(program.ops(branch)).map_or(&[], |table| table.names);
        self.spend(names.len())?;
        let required = names.iter().filter(|name| name.required);
        let found: Rc<[TagOf<'d>]> =
            required.filter_map(|name| Some((name.name, texts(program, model, name.block?)?))).collect();
        self.of_block.insert(branch, Rc::clone(&found));
        Some(found)
    }
}

/// The table of a block that only objects pass.
fn object_table<'p, 'd>(ops: &'p [Op<'d>]) -> Option<&'p LowTable<'d>> {
    let skips = ops.iter().any(|op| matches!(op.low, Low::SkipType { .. }));
    let only_objects = ops.iter().any(|op| op.type_test() == Some(Types::OBJECT));
    let mut tables = ops.iter().filter_map(|op| match &op.low {
        Low::ObjectTable(table) => Some(*table),
        _ => None,
    });
    tables.next().filter(|_| only_objects && !skips)
}

/// The only texts that pass the block, if it is a `const` or `enum` of texts, and of few enough for a switch.
fn texts<'d>(program: &Program<'d>, model: &Model<'_, 'd>, id: BlockId) -> Option<Vec<&'d str>> {
    let text = |place: Place, node: Node| match model.tape(place).view_node(node) {
        View::String(text) => Some(model.registry.plain(text)),
        _ => None,
    };
    let ops = program.ops(id).iter().filter(|op| op.type_test() != Some(Types::STRING));
    let mut listed = ops.map(|op| match op.low {
        Low::Const(place, node) => Some(vec![text(place, node)?]),
        Low::Enum(place, node) if model.tape(place).entry(node).len as usize <= SWITCH_TAGS_MAX => {
            model.tape(place).element_nodes(node).map(|node| text(place, node)).collect()
        }
        _ => None,
    });
    let texts = listed.next()??;
    listed.next().is_none().then_some(texts)
}

// --- pairs of instructions -----------------------------------------------------------------------------------

/// Whether there is something to look at, and instructions may be taken out: a skip counts them, so there must be none
/// but one over the whole block.
fn may_fuse(ops: &[Op<'_>]) -> bool {
    let numbers = ops.iter().filter(|op| matches!(op.low, Low::Number(..))).count();
    let items = ops.iter().any(|op| matches!(op.low, Low::Items { .. }));
    (numbers > 1 || items && ops.len() > 1)
        && ops.iter().enumerate().all(|(at, op)| match op.low {
            Low::SkipType { skip, .. } => at == 0 && skip + 1 == ops.len(),
            _ => true,
        })
}

fn take(ops: &mut Vec<Op<'_>>, at: usize) {
    ops.remove(at);
    let rest = ops.len() - 1;
    if let Low::SkipType { skip, .. } = &mut ops[0].low {
        *skip = rest;
    }
}

fn number_range(ops: &mut Vec<Op<'_>>) {
    let bound = |opcodes: [Opcode; 2]| {
        ops.iter().enumerate().find_map(|(at, op)| match &op.low {
            Low::Number(build, place, node) => {
                let opcode = build(callgate_vm::insn::NumberId(0)).opcode();
                let exclusive = opcodes.iter().position(|other| *other == opcode)? == 1;
                Some((at, NumberAt { place: *place, node: *node, exclusive }))
            }
            _ => None,
        })
    };
    let lower = bound([Opcode::Minimum, Opcode::ExclusiveMinimum]);
    let upper = bound([Opcode::Maximum, Opcode::ExclusiveMaximum]);
    if let (Some((at, lower)), Some((other, upper))) = (lower, upper) {
        ops[at].low = Low::InRange { lower, upper };
        take(ops, other);
    }
}

fn counted_items(ops: &mut Vec<Op<'_>>) {
    let Some(at) = ops.iter().position(|op| matches!(op.low, Low::Items { .. })) else {
        return;
    };
    let count = |opcode: Opcode| {
        ops.iter().enumerate().find_map(|(at, op)| match &op.low {
            Low::Plain(word) if word.opcode() == opcode => Some((at, word.c)),
            _ => None,
        })
    };
    let (min, max) = (count(Opcode::MinItems), count(Opcode::MaxItems));
    if min.is_none() && max.is_none() {
        return;
    }
    if let Low::Items { counts, .. } = &mut ops[at].low {
        *counts = Some((min.map_or(0, |(_, min)| min), max.map_or(u32::MAX, |(_, max)| max)));
    }
    let mut taken: Vec<usize> = min.into_iter().chain(max).map(|(at, _)| at).collect();
    taken.sort_unstable();
    taken.into_iter().rev().for_each(|at| take(ops, at));
}
