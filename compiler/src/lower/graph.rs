//! The graph of blocks: cycles that consume nothing, and where verdicts are worth keeping.

use crate::lower::{Block, BlockId, Low, LowExtra, LowName, LowTable, Program};
use crate::pattern_cache::PatternNo;

/// How an instruction's blocks relate to the instance of the block it stands in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Arm {
    /// They judge the same instance.
    Place,
    /// They judge its members.
    Members,
    /// They judge its elements.
    Elements,
    /// They are not run: the applicator that runs the block asks them first.
    Beside,
}

/// The blocks that an instruction names, in that order: those of a table, of pairs, of a list, and up to three alone.
#[derive(Clone, Debug, Default)]
pub(crate) struct Blocks<'l> {
    names: &'l [LowName<'l>],
    patterns: &'l [(PatternNo, Option<BlockId>)],
    pairs: &'l [(PatternNo, BlockId)],
    list: &'l [BlockId],
    cases: &'l [(&'l str, BlockId)],
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
        Blocks { names: table.names, patterns: table.patterns, alone, ..Blocks::default() }
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
        let listed = listed.or_else(|| shift(&mut self.cases).map(|(_, block)| *block));
        listed.or_else(|| self.alone.iter_mut().find_map(Option::take))
    }

    /// All that are left, list by list: what `for_each` goes by.
    fn fold<B, F: FnMut(B, BlockId) -> B>(self, init: B, f: F) -> B {
        let named = self.names.iter().filter_map(|name| name.block);
        let matched = self.patterns.iter().filter_map(|(_, block)| *block);
        let listed = self.pairs.iter().map(|(_, block)| *block).chain(self.list.iter().copied());
        named.chain(matched).chain(listed).chain(self.alone.into_iter().flatten()).fold(init, f)
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
        Low::AsJudged(block) => (Arm::Beside, Blocks::one(*block)),
        Low::Survey(table) => (Arm::Beside, Blocks::table(table)),
        Low::SwitchTag { cases, .. } => (Arm::Place, Blocks { cases, ..Blocks::default() }),
        _ => (Arm::Place, Blocks::default()),
    }
}

/// The blocks that an instruction names, in the order in which it names them.
pub(crate) fn blocks_of<'l>(low: &'l Low<'_>) -> Blocks<'l> {
    runs(low).1
}

/// Adds the blocks that judge the instance of `block`.
fn add_in_place(callees: &mut Vec<BlockId>, block: &Block<'_>) {
    for op in block.ops.iter() {
        // Most are one word, or run blocks for members.
        if matches!(op.low, Low::Plain(_) | Low::ObjectTable(_) | Low::Properties(_)) {
            continue;
        }
        let (arm, blocks) = runs(&op.low);
        if arm == Arm::Place {
            blocks.for_each(|block| callees.push(block));
        }
    }
}

/// A block on a cycle of blocks that all judge the same instance, if there is one. An explicit stack: chains are as long
/// as the schema's author likes.
pub(super) fn in_place_cycle(program: &Program<'_>) -> Option<BlockId> {
    #[derive(Clone, Copy, PartialEq)]
    enum Seen {
        No,
        Open,
        Done,
    }
    let mut seen = vec![Seen::No; program.blocks.len()];
    // Open blocks, and where those of their callees begin that are still to be seen.
    let mut stack: Vec<(usize, usize)> = Vec::new();
    let mut callees: Vec<BlockId> = Vec::new();
    for start in 0..program.blocks.len() {
        if seen[start] != Seen::No {
            continue;
        }
        seen[start] = Seen::Open;
        stack.push((start, callees.len()));
        add_in_place(&mut callees, &program.blocks[start]);
        while let Some((block, from)) = stack.last() {
            if callees.len() == *from {
                seen[*block] = Seen::Done;
                stack.pop();
                continue;
            }
            let Some(callee) = callees.pop() else {
                continue;
            };
            let at = callee.0 as usize;
            match seen[at] {
                Seen::Open => return Some(callee),
                Seen::Done => {}
                Seen::No => {
                    seen[at] = Seen::Open;
                    stack.push((at, callees.len()));
                    add_in_place(&mut callees, &program.blocks[at]);
                }
            }
        }
    }
    None
}

/// Above this much work the choice of memos is not computed but assumed. Unit: blocks times callees.
const CHOICE_MAX: usize = 1 << 26;

/// Lets a call keep its verdict where its block can be run on one instance twice: where two arms of some block that
/// may look at the same instance both lead to it.
pub(super) fn choose_memos(program: &mut Program<'_>) {
    let callees = Callees::of(program);
    if callees.len == 0 {
        return;
    }
    let meeting: Vec<bool> = if callees.len * program.blocks.len() > CHOICE_MAX {
        vec![true; callees.len]
    } else {
        meeting(program, &callees)
    };
    for block in &mut program.blocks {
        for op in block.ops.iter_mut() {
            if let Low::Call { block, memo, .. } = &mut op.low {
                *memo = callees.number(*block).is_some_and(|at| meeting[at]);
            }
        }
    }
}

/// The blocks that are called, numbered. Any other block has one place that runs it.
struct Callees {
    numbers: Vec<Option<u32>>,
    len: usize,
}

impl Callees {
    fn of(program: &Program<'_>) -> Callees {
        let mut callees = Callees { numbers: Vec::new(), len: 0 };
        for op in program.blocks.iter().flat_map(|block| &*block.ops) {
            if let Low::Call { block, .. } = &op.low {
                callees.numbers.resize(program.blocks.len(), None);
                let number = &mut callees.numbers[block.0 as usize];
                callees.len += usize::from(number.is_none());
                number.get_or_insert(callees.len as u32 - 1);
            }
        }
        callees
    }

    fn number(&self, block: BlockId) -> Option<usize> {
        self.numbers[block.0 as usize].map(|number| number as usize)
    }
}

/// A set of callees.
type Set = [u64];

fn join(into: &mut Set, from: &Set) -> bool {
    let mut grew = false;
    for (into, from) in into.iter_mut().zip(from) {
        grew |= *from & !*into != 0;
        *into |= from;
    }
    grew
}

fn meeting(program: &Program<'_>, callees: &Callees) -> Vec<bool> {
    let reach = Reach::of(program, callees);
    let mut meeting = Meeting::new(reach.words);
    for block in &program.blocks {
        meeting.seen.iter_mut().for_each(|seen| seen.fill(0));
        block.ops.iter().for_each(|op| meeting.look(&op.low, &reach));
    }
    (0..callees.len).map(|at| meeting.twice[at / 64] >> (at % 64) & 1 == 1).collect()
}

/// What the arms of one block lead to, instruction by instruction.
struct Meeting {
    /// What arms so far lead to: those that look at the same instance, its members, its elements.
    seen: [Vec<u64>; 3],
    /// What two arms lead to that may look at one instance, in any block.
    twice: Vec<u64>,
    /// The set at hand.
    set: Vec<u64>,
}

impl Meeting {
    fn new(words: usize) -> Meeting {
        let empty = || vec![0; words];
        Meeting { seen: [empty(), empty(), empty()], twice: empty(), set: empty() }
    }

    /// Sets of blocks of which at most one looks at any one instance are one arm.
    fn look(&mut self, low: &Low<'_>, reach: &Reach) {
        let (arm, blocks) = runs(low);
        match low {
            // Names are disjoint from each other and from the rest; patterns are not.
            Low::ObjectTable(table) | Low::Properties(table) | Low::AdditionalProperties { table, .. } => {
                self.arm(arm, Blocks { patterns: &[], ..blocks }, reach);
                table.patterns.iter().filter_map(|(_, block)| *block).for_each(|block| self.one(arm, block, reach));
            }
            Low::PrefixItems(_) => self.arm(arm, blocks, reach),
            _ => blocks.for_each(|block| self.one(arm, block, reach)),
        }
    }

    fn one(&mut self, arm: Arm, block: BlockId, reach: &Reach) {
        self.arm(arm, Blocks::one(block), reach);
    }

    fn arm(&mut self, arm: Arm, blocks: Blocks<'_>, reach: &Reach) {
        let others: &[usize] = match arm {
            Arm::Place => &[0, 1, 2],
            Arm::Members => &[0, 1],
            Arm::Elements => &[0, 2],
            Arm::Beside => return,
        };
        self.set.fill(0);
        for block in blocks {
            join(&mut self.set, reach.of_block(block));
        }
        for other in others {
            for (twice, (seen, set)) in self.twice.iter_mut().zip(self.seen[*other].iter().zip(&self.set)) {
                *twice |= seen & set;
            }
        }
        join(&mut self.seen[arm as usize], &self.set);
    }
}

/// The callees that each block leads to, itself included.
struct Reach {
    words: usize,
    sets: Vec<u64>,
}

impl Reach {
    fn of_block(&self, block: BlockId) -> &Set {
        &self.sets[block.0 as usize * self.words..][..self.words]
    }

    fn of(program: &Program<'_>, callees: &Callees) -> Reach {
        let words = callees.len.div_ceil(64);
        let mut reach = Reach { words, sets: vec![0; words * program.blocks.len()] };
        let callers = Callers::of(program);
        let mut changed = Vec::new();
        for (block, number) in callees.numbers.iter().enumerate() {
            if let Some(number) = number {
                reach.sets[block * words + *number as usize / 64] |= 1 << (number % 64);
                changed.push(block);
            }
        }
        let mut set = vec![0; words];
        while let Some(block) = changed.pop() {
            set.copy_from_slice(&reach.sets[block * words..][..words]);
            for caller in callers.of_block(block) {
                if join(&mut reach.sets[*caller as usize * words..][..words], &set) {
                    changed.push(*caller as usize);
                }
            }
        }
        reach
    }
}

/// Who runs each block, one list after the other.
struct Callers {
    starts: Vec<u32>,
    callers: Vec<u32>,
}

impl Callers {
    fn of(program: &Program<'_>) -> Callers {
        let edges = || {
            program.blocks.iter().enumerate().flat_map(|(caller, block)| {
                let run = block.ops.iter().map(|op| runs(&op.low)).filter(|(arm, _)| *arm != Arm::Beside);
                run.flat_map(move |(_, blocks)| blocks.map(move |callee| (caller as u32, callee.0)))
            })
        };
        let mut starts = vec![0; program.blocks.len() + 1];
        edges().for_each(|(_, callee)| starts[callee as usize] += 1);
        // Each list is filled from its end: what stands here at last is its start.
        let mut end = 0;
        for start in &mut starts {
            end += *start;
            *start = end;
        }
        let mut callers = vec![0; end as usize];
        for (caller, callee) in edges() {
            starts[callee as usize] -= 1;
            callers[starts[callee as usize] as usize] = caller;
        }
        Callers { starts, callers }
    }

    fn of_block(&self, block: usize) -> &[u32] {
        &self.callers[self.starts[block] as usize..self.starts[block + 1] as usize]
    }
}
