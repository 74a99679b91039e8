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

use callgate_vm::insn::{Flags, Types};
use callgate_vm::instance::View;
use callgate_vm::opcode::Opcode;

use crate::ir::Model;
use crate::lower::{Block, BlockId, BlockKind, Low, LowTable, NumberAt, Op, Program};

/// A union of more branches times names is left as it is. Unit: names looked at.
const TAG_NAMES_MAX: usize = 1 << 14;

/// Fuses what can be, in every judging block.
pub(crate) fn run<'d>(program: &mut Program<'d>, model: &Model<'_, 'd>) {
    for at in 0..program.blocks.len() {
        if program.blocks[at].key.kind == BlockKind::Judge {
            tagged_unions(program, model, at);
            let ops = &mut program.blocks[at].ops;
            if may_shrink(ops) {
                number_range(ops);
                counted_items(ops);
            }
        }
    }
}

// --- tagged unions -------------------------------------------------------------------------------------------

fn tagged_unions<'d>(program: &mut Program<'d>, model: &Model<'_, 'd>, at: usize) {
    for index in 0..program.blocks[at].ops.len() {
        let branches = match &program.blocks[at].ops[index].low {
            Low::AnyOf { flags, branches } | Low::OneOf { flags, branches } if *flags == Flags::NONE => branches,
            _ => continue,
        };
        if let Some(switch) = tagged_union(program, model, branches) {
            program.blocks[at].ops[index].low = switch;
        }
    }
}

/// The switch that stands for a union: a name that every branch requires, with texts that no other branch takes.
fn tagged_union<'d>(program: &Program<'d>, model: &Model<'_, 'd>, branches: &[BlockId]) -> Option<Low<'d>> {
    let tables: Option<Vec<&LowTable<'d>>> = branches.iter().map(|id| object_table(stands_for(program, *id))).collect();
    let tables = tables.filter(|tables| tables.len() > 1)?;
    if tables.len().saturating_mul(tables[0].names.len()) > TAG_NAMES_MAX {
        return None;
    }
    tables[0].names.iter().find_map(|candidate| {
        let mut seen = HashSet::new();
        let mut cases = Vec::new();
        for (table, branch) in tables.iter().zip(branches) {
            let name = table.names.iter().find(|name| name.name == candidate.name && name.required)?;
            for text in texts(program, model, name.block?)? {
                if !seen.insert(text.clone()) {
                    return None;
                }
                cases.push((text, *branch));
            }
        }
        Some(Low::SwitchTag { name: candidate.name, cases })
    })
}

fn stands_for<'p, 'd>(program: &'p Program<'d>, id: BlockId) -> &'p Block<'d> {
    let mut block = &program.blocks[id.0 as usize];
    while let Some(next) = block.alias {
        block = &program.blocks[next.0 as usize];
    }
    block
}

/// The table of a block that only objects pass.
fn object_table<'p, 'd>(block: &'p Block<'d>) -> Option<&'p LowTable<'d>> {
    let skips = block.ops.iter().any(|op| matches!(op.low, Low::SkipType { .. }));
    let only_objects = block.ops.iter().any(|op| is_type_test(op, Types::OBJECT));
    let mut tables = block.ops.iter().filter_map(|op| match &op.low {
        Low::ObjectTable(table) => Some(table),
        _ => None,
    });
    tables.next().filter(|_| only_objects && !skips)
}

fn is_type_test(op: &Op<'_>, types: Types) -> bool {
    matches!(&op.low, Low::Plain(word) if word.opcode() == Opcode::TypeIs && Types(word.a) == types)
}

/// The only texts that pass the block, if it is a `const` or `enum` of texts.
fn texts(program: &Program<'_>, model: &Model<'_, '_>, id: BlockId) -> Option<Vec<String>> {
    let ops = stands_for(program, id).ops.iter().filter(|op| !is_type_test(op, Types::STRING));
    let mut listed = ops.map(|op| match &op.low {
        Low::Const(place, node) => Some(vec![text(model, *place, *node)?]),
        Low::Enum(place, node) => {
            model.tape(*place).element_nodes(*node).map(|node| text(model, *place, node)).collect()
        }
        _ => None,
    });
    let texts = listed.next()??;
    listed.next().is_none().then_some(texts)
}

fn text(model: &Model<'_, '_>, place: crate::refs::Place, node: callgate_vm::tape::Node) -> Option<String> {
    match model.tape(place).view_node(node) {
        View::String(text) => Some(text.chars().collect()),
        _ => None,
    }
}

// --- pairs of instructions -----------------------------------------------------------------------------------

/// Whether instructions may be taken out: a skip counts them, so there must be none but one over the whole block.
fn may_shrink(ops: &[Op<'_>]) -> bool {
    ops.iter().enumerate().all(|(at, op)| match op.low {
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
