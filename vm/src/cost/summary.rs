//! What a unit costs as a whole: bounds for each loop of the accept section, memory, and what is dear.
//!
//! ```text
//! blocks of the accept section ─► once: what a block spends on its own instance, with all it runs in place
//!                              ─► each loop: its own spending for a child, and `once` of the dearest child
//! ```
//!
//! A bound holds for one child of the loop. Members inside that child count at the loop that walks them. Where no
//! instance is judged by more than one block, the bounds add up to one for a whole call.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use super::{Cost, SHARES, Size, Sizes, patterns};
use crate::insn::{Operand, TableId, Target, Word};
use crate::limits::BACKTRACKING_STEPS_MAX;
use crate::listing::each_target;
use crate::opcode::Opcode;
use crate::pattern::Pattern;
use crate::render::write_text;
use crate::text::Text;
use crate::unit::{Extra, StrId, Unit};

/// From so many branches on, a union is remarked on.
const BRANCHES_DEAR: usize = 8;

/// From so many patterns on that are searched in each name, a table is remarked on.
const PATTERNS_DEAR: usize = 4;

/// What is spent for each child of an instance, which a loop over them has all to itself.
const CHILD: [Size; 3] = [Size::Member, Size::Name, Size::Element];

/// A loop over members or elements.
#[derive(Clone, Debug)]
pub struct LoopCost {
    /// The instruction.
    pub pc: u32,
    /// What it spends at most for one member or element, with the dearest block that judges it.
    pub each: Cost,
    /// How many blocks judge one of them at most.
    pub runs: u64,
    /// The name of the dearest property, if that is one.
    pub dearest: Option<StrId>,
}

/// The cost of a unit, apart from that of single instructions.
#[derive(Clone, Debug)]
pub struct Summary<'u> {
    unit: &'u Unit,
    /// The loops of the accept section, by pc.
    pub loops: Vec<LoopCost>,
    /// What a call spends at most, where no instance is judged by more than one block.
    pub call: Option<Cost>,
    /// How many blocks judge one member or element at most, for each time that its object or array is judged.
    pub runs: u64,
    /// What is dear, in words.
    pub remarks: Vec<String>,
}

impl<'u> Summary<'u> {
    /// Adds up the costs of `unit`. Cost: one pass over the accept section.
    pub fn of(unit: &'u Unit) -> Summary<'u> {
        let accept = unit.parts.accept;
        let entry: Vec<u32> = accept.is_some().then_some(accept.pc()).into_iter().collect();
        let all = walk(unit, &entry, |op| op != Opcode::SkipType);
        let blocks = Blocks::of(unit, &walk(unit, &all.order, Opcode::runs_in_place).order);
        let runs = blocks.at.values().map(|block| block.member_runs.max(block.element_runs)).max().unwrap_or(0);
        let call = (runs <= 1).then(|| blocks.call(&entry));
        let remarks = Remarks { unit, all: &all, lines: Vec::new() }.collect();
        Summary { unit, loops: blocks.loops, call, runs, remarks }
    }
}

/// The instructions of the block at `pc`.
fn insns(unit: &Unit, pc: u32) -> impl Iterator<Item = (u32, Word)> {
    let words = unit.code()[pc as usize..].iter().zip(pc..);
    words.map(|(word, pc)| (pc, *word)).take_while(|(_, word)| word.opcode() != Opcode::Leave)
}

/// Blocks, each after those that it runs.
struct Walk {
    order: Vec<u32>,
    /// Blocks that come back to themselves.
    recursive: BTreeSet<u32>,
}

/// Walks the blocks that `entries` run by opcodes that `follows` takes. Without recursion: chains of references can be
/// as long as a schema.
fn walk(unit: &Unit, entries: &[u32], follows: impl Fn(Opcode) -> bool) -> Walk {
    let mut found = Walk { order: Vec::new(), recursive: BTreeSet::new() };
    let (mut seen, mut around) = (BTreeSet::new(), BTreeSet::new());
    let mut stack: Vec<(u32, bool)> = entries.iter().map(|pc| (*pc, false)).collect();
    while let Some((pc, done)) = stack.pop() {
        if done {
            around.remove(&pc);
            found.order.push(pc);
        } else if seen.insert(pc) {
            around.insert(pc);
            stack.push((pc, true));
            for (_, word) in insns(unit, pc).filter(|(_, word)| follows(word.opcode())) {
                each_target(unit, word, &mut |target| {
                    if around.contains(&target.pc()) {
                        found.recursive.insert(target.pc());
                    }
                    stack.push((target.pc(), false));
                });
            }
        }
    }
    found
}

/// What a block spends, with all that it runs in place.
#[derive(Clone, Copy, Debug, Default)]
struct Block {
    /// On its instance.
    once: Cost,
    /// For each member, in all loops together.
    member: Cost,
    /// For each element.
    element: Cost,
    member_runs: u64,
    element_runs: u64,
}

struct Blocks<'u> {
    unit: &'u Unit,
    at: BTreeMap<u32, Block>,
    loops: Vec<LoopCost>,
}

impl<'u> Blocks<'u> {
    /// `order`: the blocks, each after those that it runs in place.
    fn of(unit: &'u Unit, order: &[u32]) -> Blocks<'u> {
        let mut blocks = Blocks { unit, at: BTreeMap::new(), loops: Vec::new() };
        for pc in order {
            let block = Block { once: blocks.once(*pc), ..Block::default() };
            blocks.at.insert(*pc, block);
        }
        // A child's block may come later in the order, so loops are added up when each block's own cost is known.
        for pc in order {
            let block = blocks.with_loops(*pc);
            blocks.at.insert(*pc, block);
        }
        blocks.loops.sort_by_key(|cost| cost.pc);
        // Blocks can share their last instructions.
        blocks.loops.dedup_by_key(|cost| cost.pc);
        blocks
    }

    fn block(&self, target: Target) -> Block {
        self.at.get(&target.pc()).copied().unwrap_or_default()
    }

    fn once(&self, pc: u32) -> Cost {
        let mut once = Cost::default();
        for (pc, word) in insns(self.unit, pc) {
            once = once.plus(&Cost::of(self.unit, pc).without(&CHILD));
            once = once.plus(&self.in_place(word).once);
        }
        once
    }

    /// All that the instruction runs on its own instance: of a switch, one branch.
    fn in_place(&self, word: Word) -> Block {
        let mut all = Block::default();
        if word.opcode().runs_in_place() {
            each_target(self.unit, word, &mut |target| {
                let block = self.block(target);
                if word.opcode() == Opcode::SwitchTag {
                    all.choose(&block);
                } else {
                    all.once = all.once.plus(&block.once);
                    all.add_loops(&block);
                }
            });
        }
        all
    }

    fn with_loops(&mut self, pc: u32) -> Block {
        let unit = self.unit;
        let mut block = self.block(Target::new(pc, false, false));
        for (pc, word) in insns(unit, pc) {
            block.add_loops(&self.in_place(word));
            let own = Cost::of(unit, pc).only(&CHILD);
            if own == Cost::default() {
                continue;
            }
            let cost = self.loop_cost(pc, word, &own);
            if own.rate(Size::Element) > 0 {
                block.element = block.element.plus(&cost.each);
                block.element_runs = block.element_runs.saturating_add(cost.runs);
            } else {
                block.member = block.member.plus(&cost.each);
                block.member_runs = block.member_runs.saturating_add(cost.runs);
            }
            self.loops.push(cost);
        }
        block
    }

    fn loop_cost(&self, pc: u32, word: Word, own: &Cost) -> LoopCost {
        let mut cost = LoopCost { pc, each: *own, runs: 0, dearest: None };
        let mut child = match word.opcode() {
            Opcode::ObjectTable => self.table_child(word, &mut cost),
            Opcode::PatternProperties => self.every_target(word, &mut cost),
            op if op.runs_in_place() => Cost::default(),
            _ => self.any_target(word, &mut cost),
        };
        if word.opcode() == Opcode::PropertyNames {
            // What is judged is the name; the values are left to others.
            cost.runs = 0;
            child.add(Size::Name, child.rate(Size::Bytes));
            child = child.without(&[Size::Bytes]);
        }
        let size = if own.rate(Size::Element) > 0 { Size::Element } else { Size::Member };
        cost.each.add(size, child.once.saturating_mul(SHARES));
        child.once = 0;
        cost.each = cost.each.plus(&child);
        cost
    }

    /// A member is judged by its property's block and by each pattern's, or else by the extra.
    fn table_child(&self, word: Word, cost: &mut LoopCost) -> Cost {
        let table = self.unit.table(TableId::decode(word.c).0);
        let (mut child, mut dearest) = (Cost::default(), 0);
        for name in table.names.iter().filter(|name| name.target.is_some()) {
            let once = self.block(name.target).once;
            if cost.dearest.is_none() || dearness(&once) > dearest {
                (cost.dearest, dearest) = (Some(name.name), dearness(&once));
            }
            child = child.or(&once);
        }
        let extra = if let Extra::Run(target) = table.extra { target } else { Target::NONE };
        if dearness(&self.block(extra).once) > dearest {
            cost.dearest = None;
        }
        child = child.or(&self.block(extra).once);
        let named = cost.dearest.is_some() || extra.is_some();
        let patterns = || table.patterns.iter().map(|(_, target)| *target).filter(|target| target.is_some());
        cost.runs = u64::from(named) + patterns().count() as u64;
        patterns().fold(child, |child, target| child.plus(&self.block(target).once))
    }

    fn every_target(&self, word: Word, cost: &mut LoopCost) -> Cost {
        let mut child = Cost::default();
        each_target(self.unit, word, &mut |target| {
            cost.runs += 1;
            child = child.plus(&self.block(target).once);
        });
        child
    }

    fn any_target(&self, word: Word, cost: &mut LoopCost) -> Cost {
        let mut child = Cost::default();
        each_target(self.unit, word, &mut |target| {
            cost.runs = 1;
            child = child.or(&self.block(target).once);
        });
        child
    }

    /// What a call spends, if each instance is judged once.
    fn call(&self, entry: &[u32]) -> Cost {
        let root = entry.first().map_or(Cost::default(), |pc| self.at[pc].once);
        self.at.values().fold(root, |call, block| call.or(&block.member).or(&block.element))
    }
}

impl Block {
    /// It or another block runs, whichever costs more.
    fn choose(&mut self, other: &Block) {
        self.once = self.once.or(&other.once);
        self.member = self.member.or(&other.member);
        self.element = self.element.or(&other.element);
        self.member_runs = self.member_runs.max(other.member_runs);
        self.element_runs = self.element_runs.max(other.element_runs);
    }

    /// The loops of another block run on the same instance.
    fn add_loops(&mut self, other: &Block) {
        self.member = self.member.plus(&other.member);
        self.element = self.element.plus(&other.element);
        self.member_runs = self.member_runs.saturating_add(other.member_runs);
        self.element_runs = self.element_runs.saturating_add(other.element_runs);
    }
}

/// What children are compared by: fuel for a value of some length.
fn dearness(cost: &Cost) -> u64 {
    cost.at(&Sizes { values: 1, bytes: 64, divisions: 1, ..Sizes::default() })
}

/// Collects what is dear in the blocks of the accept section.
struct Remarks<'w> {
    unit: &'w Unit,
    all: &'w Walk,
    lines: Vec<String>,
}

impl Remarks<'_> {
    fn collect(mut self) -> Vec<String> {
        let mut seen = BTreeMap::new();
        for block in &self.all.order {
            let bounded = insns(self.unit, *block).any(|(_, word)| bounds_items(self.unit, word));
            seen.extend(insns(self.unit, *block).map(|(pc, word)| (pc, (word, bounded))));
        }
        for (pc, (word, bounded)) in seen {
            self.of_insn(pc, word, bounded);
        }
        for pc in &self.all.recursive {
            self.lines.push(format!("{pc:04} comes back to itself: paid again at each level, up to call_depth_max"));
        }
        let slow = self.unit.patterns().filter_map(of_pattern);
        self.lines.extend(slow);
        self.lines
    }

    /// `bounded`: whether its block bounds the length of arrays.
    fn of_insn(&mut self, pc: u32, word: Word, bounded: bool) {
        let op = word.opcode();
        let name = op.info().mnemonic;
        let remark = match op {
            Opcode::AnyOf | Opcode::OneOf => {
                let branches = self.unit.list(word.c).len();
                let until = if op == Opcode::AnyOf { "until one passes" } else { "until two pass" };
                (branches >= BRANCHES_DEAR).then(|| format!("tries {branches} branches in turn, {until}"))
            }
            Opcode::ObjectTable => {
                let searched = patterns(self.unit, word).len();
                (searched >= PATTERNS_DEAR).then(|| format!("searches {searched} patterns in each name"))
            }
            Opcode::UniqueItems if bounded => None,
            Opcode::UniqueItems => Some("hashes every value of an array whose length has no bound".to_owned()),
            Opcode::TrackOpen => Some("keeps what is evaluated: all branches run, and marks are joined".to_owned()),
            _ => None,
        };
        self.lines.extend(remark.map(|remark| format!("{pc:04} {name} {remark}")));
    }
}

/// Whether arrays of more elements than it says fail.
fn bounds_items(unit: &Unit, word: Word) -> bool {
    match word.opcode() {
        Opcode::MaxItems => true,
        Opcode::CountedItems => unit.list(word.c).get(4).is_some_and(|max| *max != u32::MAX),
        _ => false,
    }
}

fn of_pattern(pattern: &Pattern) -> Option<String> {
    let source = quoted(pattern.source());
    if pattern.backtracks() {
        let steps = BACKTRACKING_STEPS_MAX;
        return Some(format!("{source} backtracks: up to {steps} steps a search, and it may allocate"));
    }
    let fuel = pattern.fuel(1);
    (fuel > 0).then(|| format!("{source} is searched without a table of states: {fuel} fuel a byte"))
}

fn quoted(text: &str) -> String {
    let mut quoted = String::new();
    // Writing to a string does not fail.
    let _ = write_text(&mut quoted, Text::plain_text(text));
    quoted
}

impl fmt::Display for Summary<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let unit = self.unit;
        let ((hot, cold), (accept, explain)) = (unit.memory(), unit.insn_len());
        writeln!(f, "cost")?;
        writeln!(f, "  hot {hot} bytes, cold {cold} bytes; accept {accept} insns, explain {explain} insns")?;
        writeln!(f, "  {}", self.passes())?;
        if let Some(call) = &self.call {
            writeln!(f, "  a call <= {call}")?;
        } else {
            writeln!(f, "  up to {} blocks judge one member or element, at each level", self.runs)?;
        }
        for cost in &self.loops {
            let mnemonic = unit.code()[cost.pc as usize].opcode().info().mnemonic;
            write!(f, "  {:04}  {mnemonic:<22} <= {}", cost.pc, cost.each)?;
            if let Some(name) = cost.dearest {
                write!(f, "   dearest {}", quoted(unit.str(name)))?;
            }
            writeln!(f)?;
        }
        for pattern in unit.patterns() {
            writeln!(f, "  pattern {} ({}) {} bytes", quoted(pattern.source()), pattern.engine(), pattern.memory())?;
        }
        self.remarks.iter().try_for_each(|remark| writeln!(f, "  dear: {remark}"))
    }
}

impl Summary<'_> {
    /// How often instances are looked at.
    fn passes(&self) -> String {
        let tape = if self.unit.revisits() {
            "revisits instances: text is put on a tape first"
        } else {
            "reads text in place"
        };
        let accept = &self.unit.code()[..self.unit.parts.explain_at as usize];
        let kept = accept.iter().filter(|word| word.opcode() == Opcode::CallMemo).map(|word| word.c);
        match kept.collect::<BTreeSet<_>>().len() {
            0 => format!("{tape}; keeps no verdicts"),
            1 => format!("{tape}; keeps the verdicts of 1 block"),
            kept => format!("{tape}; keeps the verdicts of {kept} blocks"),
        }
    }
}
