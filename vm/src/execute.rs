//! The machine: one body an opcode, one loop, an explicit stack of frames.
//!
//! The machine runs *blocks*. A block judges one instance and ends in `leave`. An applicator that must run a block on
//! something has two ways. While only the verdict counts, or one failure is sought, it *nests*: the block runs to its
//! end on the thread's own stack, up to [`NESTED_MAX`] blocks deep. Beyond that, and wherever failures are listed, it
//! pushes a *frame* (what it was doing, and where in its loop), sets the registers and lets the loop go on; when the
//! block has its verdict, the frame is popped and the applicator goes on from there (`Machine::resume`). So the thread's
//! stack is bounded whatever the schema and the call, and depth by `call_depth_max`.
//!
//! Before either comes a third: what one look tells needs no machine at all (`skim`).
//!
//! The same bodies serve both sections of a unit. With the `Judge` sink the first failure ends a block; with a
//! collecting sink (see [`mod@crate::explain`]) a failure is noted and the block goes on; with the *lenient* sinks names are
//! noted and do not fail: those that are missing ([`mod@crate::missing`]), or unknown ([`mod@crate::unknown`]). Parts of which
//! only the verdict counts (`not`, `if`, `contains`) are judged *quietly* in all.

mod applicators;
mod bodies;
mod evaluated;
mod kept;
mod lenient;
mod part;
pub(crate) mod skim;

use crate::equal::{self, Budget};
use crate::failure::FaultCode;
use crate::insn::{Flags, Operand, TableId, Target, Types, Word};
use crate::instance::{Halt, Instance, Member, View};
use crate::limits::{FRAMES_MAX, JUDGED_FIRST_DEPTH_MAX, NESTED_MAX};
use crate::number::Number;
use crate::opcode::{Opcode, dispatch};
use crate::scratch::{Scratch, StackOf};
use crate::tape::TapeInstance;
use crate::text::Text;
use crate::unit::{Guard, StrId, Table, TableName, Unit};

use skim::{Items, Look, Looker, Skimmed};

/// What the machine may spend on one run.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    /// Work.
    pub fuel_max: u64,
    /// Containers inside containers.
    pub depth_max: u32,
    /// Verdicts kept.
    pub memo_max: u64,
    /// Blocks that run on the thread's stack, inside each other; [`NESTED_MAX`] is the most. Verdicts do not depend on it.
    pub nested_max: u32,
}

/// What an instruction leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flow {
    /// The next instruction.
    Next,
    /// The instruction at this pc.
    Goto(u32),
    /// A block has been entered; the registers are set.
    Entered,
    /// The instruction failed.
    Fail,
    /// The block ends.
    Leave,
}

/// An applicator waiting for the verdict of a block it runs.
#[derive(Clone, Debug)]
pub(crate) struct Frame<N, M, E> {
    /// The applicator.
    pub(crate) pc: u32,
    /// The instance that it judges.
    node: N,
    state: State<N, M, E>,
    /// The registers to come back to.
    saved: Saved,
}

/// Where an applicator is in its loop; which fields mean something depends on the opcode.
#[derive(Clone, Debug)]
pub(crate) struct State<N, M, E> {
    cursor: Cursor<M, E>,
    /// The member being looked at: name and value.
    member: Option<(N, N)>,
    /// Which name, pattern, branch or element.
    pub(crate) at: u32,
    /// A second count: branches that passed, elements that matched, the pass over a member.
    count: u32,
    /// Required names seen.
    seen: u64,
    /// Whether something failed while collecting.
    failed: bool,
}

#[derive(Clone, Debug)]
enum Cursor<M, E> {
    None,
    Members(M),
    Elements(E),
}

impl<N, M, E> Default for State<N, M, E> {
    fn default() -> Self {
        State { cursor: Cursor::None, member: None, at: 0, count: 0, seen: 0, failed: false }
    }
}

/// Registers that a frame keeps.
#[derive(Clone, Copy, Debug)]
struct Saved {
    failed: bool,
    quiet: bool,
    /// Whether the block ran on an evaluated set of its own, which joins the one around it if it passes.
    branch_set: bool,
    depth: u32,
    track: Track,
    bits_len: u32,
    slots_len: u32,
    path: u32,
    path_mark: u32,
}

/// What a survey of an object's members has found out for the instructions that follow in its block.
#[derive(Clone, Copy, Debug)]
struct Surveyed<'a, N> {
    /// Of which kinds of instruction nothing will come.
    idle: Idle,
    /// Of the members that `properties` names and that fail, the one of greatest name.
    suspect: Option<Suspect<'a, N>>,
    /// The table that was gone by, and which of its required names are missing.
    missing: Option<(TableId, u64)>,
}

/// A member that fails.
#[derive(Clone, Copy, Debug)]
struct Suspect<'a, N> {
    name: Text<'a>,
    name_node: N,
    value: N,
    /// Whether no other member does.
    alone: bool,
}

impl<N> Surveyed<'_, N> {
    const NOTHING: Self = Surveyed { idle: Idle::NONE, suspect: None, missing: None };
}

impl<'a, N: Copy> Surveyed<'a, N> {
    /// Takes note of a member that fails by `properties`.
    fn suspects(&mut self, member: &Member<'a, N>) {
        self.idle = self.idle.without(Idle::PROPERTIES);
        let alone = self.suspect.is_none();
        match &mut self.suspect {
            Some(other) if other.name.compare(member.name).is_gt() => other.alone = false,
            suspect => {
                let Member { name, name_node, value } = *member;
                *suspect = Some(Suspect { name, name_node, value, alone });
            }
        }
    }
}

/// A set of kinds of instruction, one bit each.
#[derive(Clone, Copy, Debug)]
struct Idle(u8);

impl Idle {
    const NONE: Idle = Idle(0);
    const PROPERTIES: Idle = Idle(1);
    const PATTERNS: Idle = Idle(2);
    const EXTRA: Idle = Idle(4);
    const REQUIRED: Idle = Idle(8);
    /// What is about members' values.
    const MEMBERS: Idle = Idle(3);
    const ALL: Idle = Idle(15);

    fn has(self, other: Idle) -> bool {
        self.0 & other.0 != 0
    }

    fn without(self, other: Idle) -> Idle {
        Idle(self.0 & !other.0)
    }
}

/// The evaluated set in use: a range of the scratch's bits. Empty: nothing is tracked.
#[derive(Clone, Copy, Debug, Default)]
struct Track {
    at: u32,
    words: u32,
}

/// How a block is entered from its applicator.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Into<N> {
    /// On the same instance.
    Place,
    /// On a member's name: no step, but one level.
    Name,
    /// On a member's value; its name.
    Member(N),
    /// On an element; its index.
    Element(u32),
}

/// A child of an object or array, by what its rank goes by.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Child<'n> {
    /// The member of that name.
    Named(Text<'n>),
    /// The element at that index.
    At(u32),
}

/// How the verdict of a block is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Use {
    /// Its failures are the applicator's.
    Failures,
    /// Only the verdict counts.
    Verdict,
}

/// An instruction that failed while failures are collected.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Failed<N> {
    pub(crate) pc: u32,
    pub(crate) node: N,
    /// What the message needs beside the note, see [`Record::arg`](crate::failure::Record).
    pub(crate) arg: u32,
    /// Where its extras start.
    pub(crate) extras_from: u32,
}

/// Takes failures. [`Judge`] takes none, so the methods about them do nothing unless a sink says otherwise; the collecting
/// sink of [`mod@crate::explain`] keeps them, that of [`mod@crate::missing`] keeps the names that are missing.
///
/// *Extras* are what a message lists (names, values, branches): one growing list, of which a failure takes the
/// part from a given length on.
pub(crate) trait Sink<'a, I: Instance<'a>> {
    /// Whether a failing block goes on to collect.
    const COLLECTS: bool;
    /// Whether a missing name is noted and not a failure, and a union passes by the one branch that lacks nothing else.
    const FORGIVES: bool = false;
    /// Whether names that no part of the schema knows are noted and no failure ([`mod@crate::unknown`]).
    const NOTICES: bool = false;
    /// Whether it is told of every instruction, so that none may be judged at a look.
    const TRACES: bool;
    /// Whether only the failure that speaks is sought: what cannot give it is passed over.
    fn searches(&self) -> bool {
        false
    }
    /// Whether no failure below the location now can speak: one nearer to the root is known.
    fn is_beaten_below(&self) -> bool {
        false
    }
    /// Whether the failure that speaks so far is of a member or element of the location now: of this one, or of one whose
    /// failures come before those of this one.
    fn is_settled_below(&self, child: Child<'_>) -> bool {
        let _ = child;
        false
    }
    /// Told of each instruction before it runs: its pc, and the fuel left.
    #[inline]
    fn step(&mut self, pc: u32, fuel: u64) {
        let _ = (pc, fuel);
    }
    /// Told that an applicator enters a block, with the fuel left.
    #[inline]
    fn enter_block(&mut self, fuel: u64) {
        let _ = fuel;
    }
    /// Told that the block last entered has its verdict, with the fuel left.
    #[inline]
    fn leave_block(&mut self, fuel: u64) {
        let _ = fuel;
    }
    /// The location now, and a mark to come back to.
    fn here(&self) -> (u32, u32) {
        (0, 0)
    }
    /// Steps down to a member or element; answers what [`here`](Self::here) would have.
    fn enter(&mut self, instance: &mut I, into: Into<I::Node>) -> (u32, u32) {
        let _ = (instance, into);
        (0, 0)
    }
    /// Comes back.
    fn leave(&mut self, path: u32, mark: u32) {
        let _ = (path, mark);
    }
    /// Length of the list of extras.
    fn extras_len(&self) -> u32 {
        0
    }
    /// Adds a number to the list.
    fn extra(&mut self, number: u32) {
        let _ = number;
    }
    /// Adds a node.
    fn extra_node(&mut self, instance: &mut I, node: I::Node) {
        let _ = (instance, node);
    }
    /// Takes what was added since `to` off the list; answers where the part from `from` to there lies now.
    fn cut_extras(&mut self, from: u32, to: u32) -> u32 {
        let _ = (from, to);
        0
    }
    /// Orders the nodes of the list from there on by their texts.
    fn sort_extras(&mut self, from: u32) {
        let _ = from;
    }
    /// Notes a failure.
    fn record(&mut self, instance: &mut I, failed: &Failed<I::Node>, trail: impl Iterator<Item = (u32, u32)>) {
        let _ = (instance, failed, trail);
    }
    /// Opens a union: what fails from now on goes into its fold.
    fn open_union(&mut self) {}
    /// Told which branch of the union runs next.
    fn enter_branch(&mut self, branch: u32) {
        let _ = branch;
    }
    /// Forgets the union's fold.
    fn drop_union(&mut self) {}
    /// The union failed: its fold is the context of the failure noted next.
    fn close_union(&mut self) {}
    /// How many failures the union has so far.
    fn union_len(&self) -> u32 {
        0
    }
    /// Whether a union is open.
    fn in_union(&self) -> bool {
        false
    }
    /// Whether no further failure is listed.
    fn is_full(&self) -> bool {
        true
    }
    /// Ends the union, keeps its fold and adds it to the one around; answers its id.
    fn keep_union(&mut self) -> u32 {
        0
    }
    /// Adds a kept fold to the union.
    fn add_kept(&mut self, fold: u32) {
        let _ = fold;
    }
    /// Notes that the object at the location now has no member of that name ([`FORGIVES`](Self::FORGIVES)).
    fn miss(&mut self, name: StrId) {
        let _ = name;
    }
    /// Notes that the object at the location now has a member of a name that is unknown ([`NOTICES`](Self::NOTICES)).
    fn unknown(&mut self, name: I::Node) {
        let _ = name;
    }
    /// How many names are noted, missing or unknown.
    fn noted_len(&self) -> u32 {
        0
    }
    /// Forgets those noted since there were so many.
    fn forget_noted(&mut self, len: u32) {
        let _ = len;
    }
}

/// The sink of a judging run: the first failure ends it, so there is nothing to keep.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Judge<T = ()>(pub(crate) T);

/// Told of instructions as they run.
pub(crate) trait Trace {
    /// Whether it wants to know.
    const TRACES: bool = true;
    /// An instruction's pc, and the fuel left before it.
    fn step(&mut self, pc: u32, fuel: u64);
    /// An applicator enters a block.
    #[inline]
    fn enter_block(&mut self, _fuel: u64) {}
    /// The block last entered has its verdict.
    #[inline]
    fn leave_block(&mut self, _fuel: u64) {}
}

impl Trace for () {
    const TRACES: bool = false;
    #[inline]
    fn step(&mut self, _: u32, _: u64) {}
}

impl<F: FnMut(u32, u64)> Trace for F {
    fn step(&mut self, pc: u32, fuel: u64) {
        self(pc, fuel);
    }
}

impl<'a, I: Instance<'a>, T: Trace> Sink<'a, I> for Judge<T> {
    const COLLECTS: bool = false;
    const TRACES: bool = T::TRACES;
    #[inline]
    fn step(&mut self, pc: u32, fuel: u64) {
        self.0.step(pc, fuel);
    }
    #[inline]
    fn enter_block(&mut self, fuel: u64) {
        self.0.enter_block(fuel);
    }
    #[inline]
    fn leave_block(&mut self, fuel: u64) {
        self.0.leave_block(fuel);
    }
}

/// Judges an object by the accept section, which is one table: with the machine from the first member on that takes it.
#[inline(always)]
#[allow(clippy::inline_always)] // most of most checks
pub(crate) fn judge_object<'a, I: Instance<'a>>(
    unit: &Unit,
    table: &Table,
    instance: &mut I,
    stack: Option<&mut StackOf<'a, I>>,
    scratch: &mut Scratch,
    bounds: &Bounds,
) -> Result<bool, Halt> {
    let root = instance.root();
    match skim::guarded(unit.parts.accept_guard, instance, root)? {
        Look::Passes => return Ok(true),
        Look::Fails => return Ok(false),
        Look::Unclear => {}
    }
    if bounds.nested_max == 0 {
        return Machine::new(unit, instance, stack, scratch, Judge(()), bounds).judge();
    }
    let mut fuel = bounds.fuel_max;
    skim::spend(&mut fuel, Opcode::ObjectTable.fuel())?;
    if unit.parts.accept_guard.admit != Types::OBJECT && !instance.is_of(root, Types::OBJECT)? {
        return Ok(true);
    }
    let Some(depth_left) = bounds.depth_max.checked_sub(1) else {
        return Err(Halt::Fault(FaultCode::Depth));
    };
    let (mut cursor, mut seen) = (instance.members(root), 0);
    let mut looker = Looker { unit, instance, patterns: &mut scratch.patterns, fuel, depth_left, instructions: true };
    let skimmed = looker.skim(table, &mut cursor, &mut seen)?;
    fuel = looker.fuel;
    match skimmed {
        Skimmed::Through => Ok(table.required & !seen == 0),
        Skimmed::Failed => Ok(false),
        stopped => {
            let mut machine = Machine::new(unit, instance, stack, scratch, Judge(()), bounds);
            machine.fuel = fuel;
            Ok(machine.stopped_passes(table, &stopped)? && machine.members_from(table, cursor, seen)?)
        }
    }
}

/// One run of a unit over an instance.
pub(crate) struct Machine<'m, 'a, I: Instance<'a>, S> {
    unit: &'m Unit,
    instance: &'m mut I,
    code: &'m [Word],
    /// Frames and the like; a run that needs none does without.
    stack: Option<&'m mut StackOf<'a, I>>,
    scratch: &'m mut Scratch,
    pub(crate) sink: S,
    bounds: &'m Bounds,
    fuel: u64,
    pc: u32,
    node: I::Node,
    /// Whether an instruction of the block has failed (collecting only).
    failed: bool,
    /// Whether only the verdict counts.
    quiet: bool,
    /// Containers around the instance.
    depth: u32,
    /// How many more blocks may nest.
    nested_left: u32,
    /// Fuel for asking the judging code while explaining: its own, so that what it costs never makes a rejection a fault.
    asking_fuel: u64,
    track: Track,
    /// What a search knows of the block's instructions about members.
    surveyed: Surveyed<'a, I::Node>,
}

type LoopState<'a, I> = State<<I as Instance<'a>>::Node, <I as Instance<'a>>::Members, <I as Instance<'a>>::Elements>;

type Step1 = Result<Flow, Halt>;

impl<'m, 'a, I: Instance<'a>, S: Sink<'a, I>> Machine<'m, 'a, I, S> {
    #[inline(always)]
    #[allow(clippy::inline_always)] // as for `judge`
    pub(crate) fn new(
        unit: &'m Unit,
        instance: &'m mut I,
        mut stack: Option<&'m mut StackOf<'a, I>>,
        scratch: &'m mut Scratch,
        sink: S,
        bounds: &'m Bounds,
    ) -> Self {
        if let Some(stack) = &mut stack {
            stack.clear();
        }
        scratch.bits.clear();
        if unit.parts.revisits {
            scratch.memo.clear();
        }
        let node = instance.root();
        Machine {
            unit,
            code: unit.code(),
            instance,
            stack,
            scratch,
            sink,
            bounds,
            nested_left: bounds.nested_max.min(NESTED_MAX),
            asking_fuel: bounds.fuel_max,
            fuel: bounds.fuel_max,
            pc: 0,
            node,
            failed: false,
            quiet: false,
            depth: 0,
            track: Track::default(),
            surveyed: Surveyed::NOTHING,
        }
    }

    /// Fuel used so far.
    pub(crate) fn fuel_used(&self) -> u64 {
        self.bounds.fuel_max - self.fuel
    }

    /// Runs the accept section on the whole instance.
    #[inline(always)]
    #[allow(clippy::inline_always)] // once in each kind of check, and a tenth of a small call
    pub(crate) fn judge(&mut self) -> Result<bool, Halt> {
        let parts = &self.unit.parts;
        match self.guarded(parts.accept_guard, self.node)? {
            Some(passed) => Ok(passed),
            None if !parts.accept.is_some() => Ok(true),
            None => {
                self.pc = parts.accept.pc();
                self.run_here(parts.accept)
            }
        }
    }

    /// Runs the block `target`, at which the registers stand, to its end.
    #[inline(always)]
    #[allow(clippy::inline_always)] // as for `judge`
    fn run_here(&mut self, target: Target) -> Result<bool, Halt> {
        let word = self.code[target.pc() as usize];
        if !target.is_single() {
            self.run_on(self.frames_len())
        } else if word.op == Opcode::ObjectTable as u8 && self.nested_left > 0 {
            self.object_table_at_once(word)
        } else {
            self.run_single()
        }
    }

    /// `object_table` without the way through the loop: most blocks of most tools are just that. There is room to nest.
    #[inline]
    fn object_table_at_once(&mut self, word: Word) -> Result<bool, Halt> {
        self.sink.step(self.pc, self.fuel);
        self.spend(Opcode::ObjectTable.fuel())?;
        self.object_table_nested(TableId::decode(word.c))
    }

    /// Runs the explain section on the whole instance.
    pub(crate) fn explain(&mut self) -> Result<bool, Halt> {
        self.run_block(self.unit.parts.explain)
    }

    /// Runs the block at `pc` on the current instance to its end. Frames that are there stay.
    pub(crate) fn run_block(&mut self, pc: u32) -> Result<bool, Halt> {
        self.pc = pc;
        self.run_on(self.frames_len())
    }

    /// Goes on until the block that was entered over `base` frames ends.
    fn run_on(&mut self, base: usize) -> Result<bool, Halt> {
        loop {
            let mut flow = self.step()?;
            loop {
                match flow {
                    Flow::Next => self.pc += 1,
                    Flow::Goto(pc) => self.pc = pc,
                    Flow::Entered => {}
                    Flow::Fail if self.collecting() => {
                        self.failed = true;
                        self.pc += 1;
                    }
                    Flow::Fail if self.frames_len() == base => return Ok(false),
                    Flow::Fail => {
                        flow = self.resume(false)?;
                        continue;
                    }
                    Flow::Leave if self.frames_len() == base => return Ok(!(S::COLLECTS && self.failed)),
                    Flow::Leave => {
                        flow = self.resume(!self.failed)?;
                        continue;
                    }
                }
                break;
            }
        }
    }

    #[inline]
    fn step(&mut self) -> Step1 {
        let word: Word = self.code[self.pc as usize];
        let op = word.opcode();
        self.sink.step(self.pc, self.fuel);
        self.spend(op.fuel())?;
        dispatch(self, op, word)
    }

    #[inline]
    fn spend(&mut self, fuel: u64) -> Result<(), Halt> {
        skim::spend(&mut self.fuel, fuel)
    }

    /// Whether failures are noted here and the block goes on.
    #[inline]
    fn collecting(&self) -> bool {
        S::COLLECTS && !self.quiet
    }

    /// Whether missing names are noted here, and do not fail.
    #[inline]
    fn forgiving(&self) -> bool {
        S::FORGIVES && !self.quiet
    }

    /// Whether unknown names are noted here, and do not fail.
    #[inline]
    fn noticing(&self) -> bool {
        S::NOTICES && !self.quiet
    }

    /// Whether names are noted here that would fail otherwise.
    #[inline]
    fn is_lenient(&self) -> bool {
        self.forgiving() || self.noticing()
    }

    /// Whether something is noted here, of which the location must be known.
    #[inline]
    fn noting(&self) -> bool {
        self.collecting() || self.is_lenient()
    }

    // --- entering and leaving blocks -------------------------------------------------------------------------

    /// Runs `target` on `node`: nested (`Some` verdict), or by pushing a frame (`None`).
    #[inline]
    fn apply(
        &mut self,
        target: Target,
        node: I::Node,
        into: Into<I::Node>,
        use_: Use,
        state: &mut LoopState<'a, I>,
    ) -> Result<Option<bool>, Halt> {
        if !target.is_some() {
            return Ok(Some(true));
        }
        let deeper = !matches!(into, Into::Place);
        if self.nested_left > 0 && (use_ == Use::Verdict || !self.noting()) {
            return self.nest(target, node, deeper, use_).map(Some);
        }
        let explains = self.noting() && use_ == Use::Failures;
        if explains && deeper && (self.is_beaten(target, into) || self.asked(target, node)? == Some(true)) {
            return Ok(Some(true));
        }
        if explains && self.nested_left > 0 && (S::FORGIVES || S::NOTICES || self.sink.searches()) {
            return self.nest_to_explain(target, node, into).map(Some);
        }
        self.enter(target, node, into, use_, state, false)?;
        Ok(None)
    }

    /// Whether no failure of the child can speak. One of its name, or of a schema that is `false`, stands nearer to the root
    /// than all others of it.
    fn is_beaten(&self, target: Target, into: Into<I::Node>) -> bool {
        self.sink.is_beaten_below() && !matches!(into, Into::Name) && !self.is_false_schema(target.pc())
    }

    /// What the judging code of the explaining block at `target` says of the child `node`; `None` where it cannot be asked.
    fn asked(&mut self, target: Target, node: I::Node) -> Result<Option<bool>, Halt> {
        let word = self.code[target.pc() as usize];
        if !self.noting() || word.op != Opcode::AsJudged as u8 {
            return Ok(None);
        }
        if let Some(passed) = self.guarded(Guard { pass: Types(word.a), admit: Types(word.b as u8) }, node)? {
            return Ok(Some(passed));
        }
        let judging = Target::decode(word.c);
        if !judging.is_some() {
            return Ok(Some(true));
        }
        if !self.can_ask() {
            return Ok(None);
        }
        self.ask(|machine| machine.nest(judging, node, true, Use::Verdict))
    }

    /// Whether judging code may be asked: near the root only, since what lies below a failing value is judged again for
    /// each level above it.
    fn can_ask(&self) -> bool {
        self.depth < JUDGED_FIRST_DEPTH_MAX && self.nested_left > 0 && self.asking_fuel > 0
    }

    /// Runs `question` on the fuel for asking. Where that does not suffice there is no answer, and nobody asks again.
    fn ask<T>(&mut self, question: impl FnOnce(&mut Self) -> Result<T, Halt>) -> Result<Option<T>, Halt> {
        let saved = (self.pc, self.node, self.depth, self.nested_left, self.failed, self.quiet, self.track);
        let bits_len = self.scratch.bits.len();
        let lens = self.stack.as_ref().map(|stack| (stack.frames.len(), stack.slots.len(), stack.nodes.len()));
        let fuel = std::mem::replace(&mut self.fuel, self.asking_fuel);
        let quiet = std::mem::replace(&mut self.quiet, true);
        let answer = question(self);
        self.quiet = quiet;
        self.asking_fuel = std::mem::replace(&mut self.fuel, fuel);
        match answer {
            Err(Halt::Fault(FaultCode::Fuel)) => {}
            answer => return answer.map(Some),
        }
        self.asking_fuel = 0;
        (self.pc, self.node, self.depth, self.nested_left, self.failed, self.quiet, self.track) = saved;
        self.scratch.bits.truncate(bits_len);
        if let (Some(stack), Some((frames, slots, nodes))) = (&mut self.stack, lens) {
            stack.frames.truncate(frames);
            stack.slots.truncate(slots);
            stack.nodes.truncate(nodes);
        }
        Ok(None)
    }

    /// As [`nest`](Self::nest), with the block's failures collected.
    fn nest_to_explain(&mut self, target: Target, node: I::Node, into: Into<I::Node>) -> Result<bool, Halt> {
        let (path, mark) = self.step_into(target, into);
        let surveyed = std::mem::replace(&mut self.surveyed, Surveyed::NOTHING);
        let passed = self.nest(target, node, !matches!(into, Into::Place), Use::Failures)?;
        self.surveyed = surveyed;
        self.sink.leave(path, mark);
        Ok(passed)
    }

    /// Runs `target` on `node` to its end, on the thread's own stack. There is room: `nested_left > 0`.
    #[inline]
    fn nest(&mut self, target: Target, node: I::Node, deeper: bool, use_: Use) -> Result<bool, Halt> {
        let saved = (self.pc, self.node, self.depth);
        (self.pc, self.node) = (target.pc(), node);
        self.depth += u32::from(deeper);
        self.nested_left -= 1;
        self.sink.enter_block(self.fuel);
        let collect = (self.failed, self.quiet);
        if S::COLLECTS || S::FORGIVES || S::NOTICES {
            self.failed = false;
            self.quiet |= use_ == Use::Verdict;
        }
        let passed = self.run_here(target)?;
        self.sink.leave_block(self.fuel);
        if S::COLLECTS || S::FORGIVES || S::NOTICES {
            (self.failed, self.quiet) = collect;
        }
        (self.pc, self.node, self.depth) = saved;
        self.nested_left += 1;
        Ok(passed)
    }

    /// Runs a block of one instruction.
    fn run_single(&mut self) -> Result<bool, Halt> {
        let base = self.frames_len();
        match self.step()? {
            Flow::Next => Ok(true),
            Flow::Entered => self.run_on(base),
            // A skip over nothing more than the end.
            Flow::Goto(_) => Ok(true),
            Flow::Leave | Flow::Fail => Ok(false),
        }
    }

    /// What the guard alone decides of a value.
    #[inline]
    fn guarded(&mut self, guard: Guard, node: I::Node) -> Result<Option<bool>, Halt> {
        Ok(match skim::guarded(guard, self.instance, node)? {
            Look::Passes => Some(true),
            Look::Fails => Some(false),
            Look::Unclear => None,
        })
    }

    /// Looks at children of the instance.
    #[inline]
    fn looker(&mut self) -> Looker<'_, I> {
        Looker {
            unit: self.unit,
            instance: self.instance,
            patterns: &mut self.scratch.patterns,
            fuel: self.fuel,
            depth_left: self.bounds.depth_max.saturating_sub(self.depth + 1),
            instructions: !S::TRACES,
        }
    }

    /// Judges a member or element: at a look, or by its block. Nested.
    #[inline]
    fn child_passes(&mut self, guard: Guard, target: Target, node: I::Node) -> Result<bool, Halt> {
        let mut looker = self.looker();
        let told = looker.look(guard, target, node)?;
        self.fuel = looker.fuel;
        match told {
            Look::Passes => Ok(true),
            Look::Fails => Ok(false),
            Look::Unclear => self.nest(target, node, true, Use::Failures),
        }
    }

    fn enter(
        &mut self,
        target: Target,
        node: I::Node,
        into: Into<I::Node>,
        use_: Use,
        state: &mut LoopState<'a, I>,
        branch_set: bool,
    ) -> Result<(), Halt> {
        if self.frames_len() >= FRAMES_MAX {
            return Err(Halt::Fault(FaultCode::Depth));
        }
        let slots_len = self.stack()?.slots.len() as u32;
        let bits_len = self.scratch.bits.len() as u32;
        let (path, path_mark) = self.step_into(target, into);
        let frame = Frame {
            pc: self.pc,
            node: self.node,
            state: std::mem::take(state),
            saved: Saved {
                failed: self.failed,
                quiet: self.quiet,
                branch_set,
                depth: self.depth,
                track: self.track,
                bits_len,
                slots_len,
                path,
                path_mark,
            },
        };
        self.stack()?.frames.push(frame);
        self.sink.enter_block(self.fuel);
        if branch_set {
            self.spend(u64::from(self.track.words) / 16)?;
            self.push_set(self.track.words);
        }
        self.pc = target.pc();
        self.node = node;
        self.failed = false;
        self.quiet |= use_ == Use::Verdict;
        if !matches!(into, Into::Place) {
            self.depth += 1;
        }
        Ok(())
    }

    fn step_into(&mut self, target: Target, into: Into<I::Node>) -> (u32, u32) {
        if !self.noting() || self.is_false_schema(target.pc()) {
            return self.sink.here();
        }
        self.sink.enter(self.instance, into)
    }

    /// Rule F: the failure of a schema that is `false` stands at the applicator, without the step to it.
    fn is_false_schema(&self, pc: u32) -> bool {
        self.code[pc as usize].opcode() == Opcode::Never && self.unit.note(pc).is_some_and(|note| note.path.is_empty())
    }

    /// Pops the frame of the block that ended with `passed`, and lets its applicator go on.
    fn resume(&mut self, passed: bool) -> Step1 {
        let Some(frame) = self.stack()?.frames.pop() else {
            return Ok(Flow::Fail);
        };
        self.sink.leave_block(self.fuel);
        let saved = frame.saved;
        let word = self.code[frame.pc as usize];
        if saved.branch_set && passed {
            if word.opcode() == Opcode::CallMemo {
                self.keep_set(saved.bits_len, saved.track.words)?;
            }
            self.join_set(saved.track, saved.bits_len);
        }
        self.scratch.bits.truncate(saved.bits_len as usize);
        self.stack()?.slots.truncate(saved.slots_len as usize);
        self.track = saved.track;
        self.sink.leave(saved.path, saved.path_mark);
        (self.pc, self.node, self.depth) = (frame.pc, frame.node, saved.depth);
        (self.failed, self.quiet) = (saved.failed, saved.quiet);
        self.go_on(word, frame.state, passed)
    }

    /// The applicator at `word` with the verdict of the block it ran. Those not named never push a frame.
    fn go_on(&mut self, word: Word, state: LoopState<'a, I>, passed: bool) -> Step1 {
        let passed = Some(passed);
        match word.opcode() {
            Opcode::Call | Opcode::TrackOpen | Opcode::DependentSchema | Opcode::SwitchTag => Ok(verdict(passed)),
            Opcode::MarkBy => Ok(Flow::Next),
            Opcode::CallMemo => {
                self.call_memo_done(Flags(word.a), Target::from_bits(word.c), passed == Some(true), state.seen as u32)
            }
            Opcode::ObjectTable => self.object_table_loop(word.c, state, passed),
            Opcode::Properties => self.properties_loop(word.c, state, passed),
            Opcode::PatternProperties => self.pattern_properties_loop(word.c, state, passed),
            Opcode::AdditionalProperties => self.additional_properties_loop(Flags(word.a), word.c, state, passed),
            Opcode::PropertyNames => self.property_names_loop(Target::from_bits(word.c), state, passed),
            Opcode::PrefixItems => self.prefix_items_loop(word.c, state, passed),
            Opcode::Items | Opcode::CountedItems => match Items::of(self.unit, word) {
                Some(items) => self.items_loop(items, state, passed),
                None => Ok(Flow::Fail),
            },
            Opcode::Contains => self.contains_loop(Flags(word.a), word.c, state, passed),
            Opcode::AnyOf | Opcode::OneOf if self.is_lenient() => {
                self.lenient_union_loop(word.opcode(), word.c, state, passed)
            }
            Opcode::AnyOf => self.any_of_loop(Flags(word.a), word.c, state, passed),
            Opcode::OneOf => self.one_of_loop(Flags(word.a), word.c, state, passed),
            Opcode::Not => Ok(self.not_done(passed == Some(true))),
            Opcode::IfThenElse => self.if_then_else_loop(Flags(word.a), word.c, state, passed),
            Opcode::UnevaluatedProperties => {
                self.unevaluated_properties_loop(Flags(word.a), Target::from_bits(word.c), state, passed)
            }
            Opcode::UnevaluatedItems => {
                self.unevaluated_items_loop(Flags(word.a), Target::from_bits(word.c), state, passed)
            }
            _ => Ok(Flow::Fail),
        }
    }

    // --- failing -------------------------------------------------------------------------------------------

    /// The instruction fails.
    #[inline]
    fn fail(&mut self) -> Flow {
        self.fail_with(0)
    }

    #[inline]
    fn fail_with(&mut self, arg: u32) -> Flow {
        self.fail_listing(arg, self.sink.extras_len())
    }

    /// The instruction fails since a name is missing, which is the `at`th it asks for; or takes note of it.
    #[inline]
    fn lacks(&mut self, at: u32, name: StrId) -> Flow {
        if self.forgiving() {
            self.sink.miss(name);
            return Flow::Next;
        }
        self.fail_with(at)
    }

    /// The instruction fails; its message lists the extras from `extras_from` on.
    fn fail_listing(&mut self, arg: u32, extras_from: u32) -> Flow {
        if self.collecting() {
            let frames = self.stack.as_ref().map_or(&[][..], |stack| stack.frames.as_slice());
            let trail = frames.iter().map(|frame| (frame.pc, frame.state.at));
            let failed = Failed { pc: self.pc, node: self.node, arg, extras_from };
            self.sink.record(self.instance, &failed, trail);
        }
        Flow::Fail
    }

    #[inline]
    #[allow(clippy::unnecessary_wraps)] // it is the last expression of most bodies
    fn fail_unless(&mut self, holds: bool) -> Step1 {
        Ok(if holds { Flow::Next } else { self.fail() })
    }

    // --- reading the instance ------------------------------------------------------------------------------

    #[inline]
    fn view(&mut self) -> Result<View<'a>, Halt> {
        match self.instance.view(self.node)? {
            View::NotJson(_) => Err(Halt::Unreadable),
            view => Ok(view),
        }
    }

    fn number(&mut self, test: impl FnOnce(Number<'a>, &Unit) -> bool) -> Step1 {
        match self.view()? {
            View::Number(number) => {
                self.spend(number.literal_bytes() as u64 / 16)?;
                let holds = test(number, self.unit);
                self.fail_unless(holds)
            }
            _ => Ok(Flow::Next),
        }
    }

    /// Tests the string's length by a test that is true from some length on, or up to some. Counts only where the
    /// length in bytes does not tell.
    fn length(&mut self, test: impl Fn(usize) -> bool) -> Step1 {
        match self.view()? {
            View::String(text) => {
                let (least, most) = text.char_len_bounds();
                let mut holds = test(least);
                if holds != test(most) {
                    self.spend(text.raw_bytes() as u64 / 16)?;
                    holds = test(text.char_len());
                }
                self.fail_unless(holds)
            }
            _ => Ok(Flow::Next),
        }
    }

    fn is_object(&mut self) -> Result<bool, Halt> {
        self.instance.is_of(self.node, Types::OBJECT)
    }

    fn is_array(&mut self) -> Result<bool, Halt> {
        self.instance.is_of(self.node, Types::ARRAY)
    }

    /// Starts a walk of the members, if there are any to walk.
    fn open_members(&mut self) -> Result<Option<LoopState<'a, I>>, Halt> {
        if !self.is_object()? {
            return Ok(None);
        }
        self.check_depth()?;
        let cursor = Cursor::Members(self.instance.members(self.node));
        Ok(Some(State { cursor, ..State::default() }))
    }

    fn open_elements(&mut self) -> Result<Option<LoopState<'a, I>>, Halt> {
        if !self.is_array()? {
            return Ok(None);
        }
        self.check_depth()?;
        let cursor = Cursor::Elements(self.instance.elements(self.node));
        Ok(Some(State { cursor, ..State::default() }))
    }

    #[inline]
    fn stack(&mut self) -> Result<&mut StackOf<'a, I>, Halt> {
        self.stack.as_deref_mut().ok_or(Halt::Stackless)
    }

    #[inline]
    fn frames_len(&self) -> usize {
        self.stack.as_ref().map_or(0, |stack| stack.frames.len())
    }

    #[inline]
    fn check_depth(&self) -> Result<(), Halt> {
        if self.depth >= self.bounds.depth_max { Err(Halt::Fault(FaultCode::Depth)) } else { Ok(()) }
    }

    #[inline]
    fn next_member(&mut self, state: &mut LoopState<'a, I>) -> Result<Option<Member<'a, I::Node>>, Halt> {
        let Cursor::Members(at) = &mut state.cursor else {
            return Ok(None);
        };
        let member = self.instance.next_member(at)?;
        if let Some(member) = &member {
            self.spend(1 + member.name.raw_bytes() as u64 / 16)?;
            state.member = Some((member.name_node, member.value));
        }
        Ok(member)
    }

    #[inline]
    fn next_element(&mut self, state: &mut LoopState<'a, I>) -> Result<Option<I::Node>, Halt> {
        self.spend(1)?;
        match &mut state.cursor {
            Cursor::Elements(at) => self.instance.next_element(at),
            _ => Ok(None),
        }
    }

    /// Whether there is a member called `name`. Cost: one pass over the members.
    fn has_member(&mut self, name: &str) -> Result<bool, Halt> {
        Ok(self.member_value(name)?.is_some())
    }

    /// The value of the member called `name`. Cost: one pass over the members.
    fn member_value(&mut self, name: &str) -> Result<Option<I::Node>, Halt> {
        let mut at = self.instance.members(self.node);
        while let Some(member) = self.instance.next_member(&mut at)? {
            self.spend(1 + member.name.raw_bytes() as u64 / 16)?;
            if member.name.is(name) {
                return Ok(Some(member.value));
            }
        }
        Ok(None)
    }

    /// The name's index in the table.
    #[inline(always)]
    #[allow(clippy::inline_always)] // the heart of every sweep
    fn find_name<'t>(&mut self, table: &'t Table, name: Text<'a>) -> Option<(usize, &'t TableName)> {
        match name.as_plain() {
            Some(plain) => self.unit.find_name(table, plain),
            None => self.find_escaped_name(table, name),
        }
    }

    #[cold]
    fn find_escaped_name<'t>(&mut self, table: &'t Table, name: Text<'a>) -> Option<(usize, &'t TableName)> {
        self.unit.find_name(table, name.plain(self.scratch.patterns.plain()))
    }

    fn matches_pattern(&mut self, pattern: u32, text: Text<'a>) -> Result<bool, Halt> {
        let pattern = self.unit.pattern(pattern);
        self.spend(1 + pattern.fuel(text.raw_bytes()))?;
        Ok(pattern.is_match(text, &mut self.scratch.patterns)?)
    }

    /// Whether the table's names or patterns claim the member.
    fn is_claimed(&mut self, table: &Table, name: Text<'a>) -> Result<bool, Halt> {
        if self.find_name(table, name).is_some_and(|(_, found)| found.declared) {
            return Ok(true);
        }
        for (pattern, _) in &table.patterns {
            if self.matches_pattern(*pattern, name)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn budget(&self) -> Budget {
        Budget { fuel: self.fuel, depth: self.bounds.depth_max.saturating_sub(self.depth) }
    }

    fn equals_constant(&mut self, value: u32) -> Result<bool, Halt> {
        let mut constants = TapeInstance::new(self.unit.values(), 0);
        let mut budget = self.budget();
        let same = equal::equal(self.instance, self.node, &mut constants, self.unit.value(value), &mut budget);
        self.fuel = budget.fuel;
        same
    }
}

const CLAIMED: u32 = 1 << 31;
const TOO_MANY: u32 = u32::MAX;
const MEMO_JUDGE: u8 = 0;
const MEMO_UNION: u8 = 1;
const MEMO_TOP: u8 = 2;
const MEMO_LENIENT: u8 = 3;

/// How `contains` says that there were too many.
pub(crate) const CONTAINS_TOO_MANY: u32 = TOO_MANY;

/// Goes on, or fails with what the block has noted already.
#[inline]
fn verdict(passed: Option<bool>) -> Flow {
    if passed == Some(true) { Flow::Next } else { Flow::Fail }
}
