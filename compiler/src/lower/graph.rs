//! The graph of blocks: cycles that consume nothing, chains of frames, and where verdicts are worth keeping.

use std::sync::Arc;

use ahash::HashMap;
use callgate_vm::pattern::Pattern;

use crate::lower::{Block, BlockId, Low, LowExtra, LowName, LowTable, Op, Program};

/// How an instruction's blocks relate to the instance of the block it stands in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Arm {
    /// They judge the same instance.
    Place,
    /// They judge its members.
    Members,
    /// They judge its elements.
    Elements,
}

/// The blocks that an instruction names, in that order: those of a table, of pairs, of a list, and up to three alone.
#[derive(Clone, Debug, Default)]
pub(crate) struct Blocks<'l> {
    names: &'l [LowName<'l>],
    patterns: &'l [(Arc<Pattern>, Option<BlockId>)],
    pairs: &'l [(Arc<Pattern>, BlockId)],
    list: &'l [BlockId],
    alone: [Option<BlockId>; 3],
}

impl<'l> Blocks<'l> {
    fn one(block: BlockId) -> Self {
        Blocks { alone: [Some(block), None, None], ..Blocks::default() }
    }

    fn list(list: &'l [BlockId]) -> Self {
        Blocks { list, ..Blocks::default() }
    }

    fn table(table: &'l LowTable<'l>) -> Self {
        let extra = match table.extra {
            LowExtra::Run(block) => block,
            _ => None,
        };
        let alone = [extra, None, None];
        Blocks { names: &table.names, patterns: &table.patterns, alone, ..Blocks::default() }
    }
}

/// Takes the first of the slice.
fn shift<'l, T>(slice: &mut &'l [T]) -> Option<&'l T> {
    let (first, rest) = slice.split_first()?;
    *slice = rest;
    Some(first)
}

impl Iterator for Blocks<'_> {
    type Item = BlockId;

    fn next(&mut self) -> Option<BlockId> {
        while let Some(name) = shift(&mut self.names) {
            if name.block.is_some() {
                return name.block;
            }
        }
        while let Some((_, block)) = shift(&mut self.patterns) {
            if block.is_some() {
                return *block;
            }
        }
        let listed = shift(&mut self.pairs).map(|(_, block)| *block).or_else(|| shift(&mut self.list).copied());
        listed.or_else(|| self.alone.iter_mut().find_map(Option::take))
    }
}

/// The blocks that an instruction runs, and what on.
fn runs<'l>(low: &'l Low<'_>) -> (Arm, Blocks<'l>) {
    match low {
        Low::Call { block, .. } | Low::DependentSchema(_, block) | Low::Not(block) | Low::MarkBy(block) => {
            (Arm::Place, Blocks::one(*block))
        }
        Low::AnyOf { branches, .. } | Low::OneOf { branches, .. } => (Arm::Place, Blocks::list(branches)),
        Low::If { condition, then, otherwise, .. } => {
            (Arm::Place, Blocks { alone: [Some(*condition), *then, *otherwise], ..Blocks::default() })
        }
        Low::ObjectTable(table) | Low::Properties(table) | Low::AdditionalProperties { table, .. } => {
            (Arm::Members, Blocks::table(table))
        }
        Low::PatternProperties(pairs) => (Arm::Members, Blocks { pairs, ..Blocks::default() }),
        Low::PropertyNames(block) => (Arm::Members, Blocks::one(*block)),
        Low::UnevaluatedProperties { block, .. } => {
            (Arm::Members, Blocks { alone: [*block, None, None], ..Blocks::default() })
        }
        Low::PrefixItems(blocks) => (Arm::Elements, Blocks::list(blocks)),
        Low::Items { block, .. } | Low::Contains { block, .. } => (Arm::Elements, Blocks::one(*block)),
        Low::UnevaluatedItems { block, .. } => {
            (Arm::Elements, Blocks { alone: [*block, None, None], ..Blocks::default() })
        }
        _ => (Arm::Place, Blocks::default()),
    }
}

/// The blocks that an instruction runs, in the order in which it names them.
pub(crate) fn blocks_of<'l>(low: &'l Low<'_>) -> Blocks<'l> {
    runs(low).1
}

fn in_place(block: &Block<'_>) -> Vec<BlockId> {
    let runs = block.ops.iter().map(|op| runs(&op.low));
    runs.filter(|(arm, _)| *arm == Arm::Place).flat_map(|(_, blocks)| blocks).collect()
}

/// The longest chain of frames that judge one instance. Errors: a block on a cycle of blocks that all judge the same
/// instance. An explicit stack: chains are as long as the schema's author likes.
pub(super) fn in_place_chain(program: &Program<'_>) -> Result<u32, BlockId> {
    const OPEN: u32 = u32::MAX;
    let mut chain: Vec<Option<u32>> = vec![None; program.blocks.len()];
    for start in 0..program.blocks.len() {
        if chain[start].is_some() {
            continue;
        }
        let mut stack = vec![(start, in_place(&program.blocks[start]), 0)];
        chain[start] = Some(OPEN);
        while let Some((block, next, longest)) = stack.last_mut() {
            let Some(BlockId(callee)) = next.pop() else {
                let own = 1 + u32::from(program.blocks[*block].ops.iter().any(|op| opens_set(op)));
                let length = *longest + own;
                chain[*block] = Some(length);
                stack.pop();
                if let Some((_, _, longest)) = stack.last_mut() {
                    *longest = length.max(*longest);
                }
                continue;
            };
            let callee = callee as usize;
            match chain[callee] {
                Some(OPEN) => return Err(BlockId(callee as u32)),
                Some(length) => *longest = length.max(*longest),
                None => {
                    chain[callee] = Some(OPEN);
                    let calls = in_place(&program.blocks[callee]);
                    stack.push((callee, calls, 0));
                }
            }
        }
    }
    Ok(chain.into_iter().flatten().max().unwrap_or(1))
}

fn opens_set(op: &Op<'_>) -> bool {
    matches!(&op.low, Low::Plain(word) if word.opcode() == callgate_vm::opcode::Opcode::TrackOpen)
}

/// Above this much work the choice of memos is not computed but assumed. Unit: blocks times callees.
const CHOICE_MAX: usize = 1 << 26;

/// Lets a call keep its verdict where its block can be run on one instance twice: where two arms of some block that
/// may look at the same instance both lead to it.
pub(super) fn choose_memos(program: &mut Program<'_>) {
    let callees = callees(program);
    if callees.is_empty() {
        return;
    }
    let meeting: Vec<bool> = if callees.len() * program.blocks.len() > CHOICE_MAX {
        vec![true; callees.len()]
    } else {
        meeting(program, &callees)
    };
    for block in &mut program.blocks {
        for op in &mut block.ops {
            if let Low::Call { block, memo, .. } = &mut op.low {
                *memo = callees.get(block).is_some_and(|at| meeting[*at]);
            }
        }
    }
}

/// The blocks that are called, numbered. Any other block has one place that runs it.
fn callees(program: &Program<'_>) -> HashMap<BlockId, usize> {
    let mut callees = HashMap::default();
    for op in program.blocks.iter().flat_map(|block| &block.ops) {
        if let Low::Call { block, .. } = &op.low {
            let next = callees.len();
            callees.entry(*block).or_insert(next);
        }
    }
    callees
}

/// A set of callees.
type Set = Vec<u64>;

fn join(into: &mut Set, from: &Set) -> bool {
    let mut grew = false;
    for (into, from) in into.iter_mut().zip(from) {
        grew |= *from & !*into != 0;
        *into |= from;
    }
    grew
}

fn meeting(program: &Program<'_>, callees: &HashMap<BlockId, usize>) -> Vec<bool> {
    let words = callees.len().div_ceil(64);
    let reach = reach(program, callees, words);
    let mut twice: Set = vec![0; words];
    for block in &program.blocks {
        // What arms so far lead to: those that look at the same instance, its members, its elements.
        let mut seen: [Set; 3] = std::array::from_fn(|_| vec![0; words]);
        for op in &block.ops {
            for (arm, set) in arms(&op.low, &reach, words) {
                let others: &[usize] = match arm {
                    Arm::Place => &[0, 1, 2],
                    Arm::Members => &[0, 1],
                    Arm::Elements => &[0, 2],
                };
                for other in others {
                    let both: Set = seen[*other].iter().zip(&set).map(|(a, b)| a & b).collect();
                    join(&mut twice, &both);
                }
                join(&mut seen[arm as usize], &set);
            }
        }
    }
    (0..callees.len()).map(|at| twice[at / 64] >> (at % 64) & 1 == 1).collect()
}

/// The callees that each block leads to, itself included.
fn reach(program: &Program<'_>, callees: &HashMap<BlockId, usize>, words: usize) -> Vec<Set> {
    let mut reach: Vec<Set> = vec![vec![0; words]; program.blocks.len()];
    for (block, at) in callees {
        reach[block.0 as usize][at / 64] |= 1 << (at % 64);
    }
    let mut callers: Vec<Vec<u32>> = vec![Vec::new(); program.blocks.len()];
    for (caller, block) in program.blocks.iter().enumerate() {
        for callee in block.ops.iter().flat_map(|op| blocks_of(&op.low)) {
            callers[callee.0 as usize].push(caller as u32);
        }
    }
    let mut changed: Vec<u32> = (0..program.blocks.len() as u32).collect();
    while let Some(block) = changed.pop() {
        let set = reach[block as usize].clone();
        for caller in &callers[block as usize] {
            if join(&mut reach[*caller as usize], &set) {
                changed.push(*caller);
            }
        }
    }
    reach
}

/// The instruction's arms: sets of blocks of which at most one looks at any one instance are one arm.
fn arms(low: &Low<'_>, reach: &[Set], words: usize) -> Vec<(Arm, Set)> {
    let union = |blocks: &[BlockId]| {
        let mut set = vec![0; words];
        for block in blocks {
            join(&mut set, &reach[block.0 as usize]);
        }
        set
    };
    let (arm, blocks) = runs(low);
    let blocks: Vec<BlockId> = blocks.collect();
    match low {
        // Names are disjoint from each other and from the rest; patterns are not.
        Low::ObjectTable(table) | Low::Properties(table) | Low::AdditionalProperties { table, .. } => {
            let patterns: Vec<BlockId> = table.patterns.iter().filter_map(|(_, block)| *block).collect();
            let others: Vec<BlockId> = blocks.into_iter().filter(|block| !patterns.contains(block)).collect();
            let mut arms = vec![(arm, union(&others))];
            arms.extend(patterns.iter().map(|block| (arm, union(&[*block]))));
            arms
        }
        Low::PrefixItems(_) => vec![(arm, union(&blocks))],
        _ => blocks.iter().map(|block| (arm, union(&[*block]))).collect(),
    }
}
