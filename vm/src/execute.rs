//! The machine: one body an opcode, one loop, an explicit stack of frames.
//!
//! The machine runs *blocks*. A block judges one instance and ends in `leave`. An applicator that must run a
//! block on something pushes a [`Frame`] (what it was doing, and where in its loop), sets the registers and lets
//! the loop go on; when the block has its verdict, the frame is popped and the applicator goes on from there
//! ([`Machine::resume`]). Nothing here recurses, so depth is bounded by `call_depth_max` and not by the thread.
//!
//! The same bodies serve both sections of a unit. With the [`Judge`] sink the first failure ends a block; with a
//! collecting sink (see [`crate::explain`]) a failure is noted and the block goes on. Parts of which only the
//! verdict counts (`not`, `if`, `contains`) are judged *quietly* in either.
//!
//! A block without applicators is a *leaf* and is run in place, without a frame.

use crate::equal::{self, Budget};
use crate::failure::FaultCode;
use crate::format::Format;
use crate::insn::{EnumId, Flags, FormatId, Len, ListId, NumberId, PatternId, TableId, Target, Types, ValueId, Word};
use crate::instance::{Halt, Instance, Member, View};
use crate::limits::FRAMES_MAX;
use crate::memo::{Known, MemoKey};
use crate::number::Number;
use crate::opcode::{Handler, Opcode, dispatch};
use crate::scratch::{Scratch, Stack};
use crate::tape::TapeInstance;
use crate::text::Text;
use crate::unit::{Extra, StrId, Table, Unit};

/// What the machine may spend on one run.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    /// Work.
    pub fuel_max: u64,
    /// Containers inside containers.
    pub depth_max: u32,
    /// Verdicts kept.
    pub memo_max: u64,
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
    /// The first block has ended with this verdict.
    Done(bool),
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

/// How the verdict of a block is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Use {
    /// Its failures are the applicator's.
    Failures,
    /// Only the verdict counts.
    Verdict,
}

/// Takes failures. [`Judge`] takes none; the collecting sink of [`crate::explain`] keeps them.
///
/// *Extras* are what a message lists (names, values, branches): one growing list, of which a failure takes the
/// part from a given length on.
pub(crate) trait Sink<N: Copy> {
    /// Whether a failing block goes on to collect.
    const COLLECTS: bool;
    /// The location now, and a mark to come back to.
    fn here(&self) -> (u32, u32);
    /// Steps down to a member or element; answers what [`here`](Self::here) would have.
    fn enter(&mut self, into: Into<N>) -> (u32, u32);
    /// Comes back.
    fn leave(&mut self, path: u32, mark: u32);
    /// Length of the list of extras.
    fn extras_len(&self) -> u32;
    /// Adds a number to the list.
    fn extra(&mut self, number: u32);
    /// Adds a node.
    fn extra_node(&mut self, node: N);
    /// Cuts the list.
    fn truncate_extras(&mut self, len: u32);
    /// Orders the nodes of the list from there on by their texts.
    fn sort_extras(&mut self, from: u32);
    /// Notes a failure whose extras start there.
    fn record(&mut self, pc: u32, node: N, arg: u32, extras_from: u32, trail: impl Iterator<Item = (u32, u32)>);
    /// Opens a union: what fails from now on goes into its fold.
    fn open_union(&mut self);
    /// Forgets the union's fold.
    fn drop_union(&mut self);
    /// The union failed: its fold is the context of the failure noted next.
    fn close_union(&mut self);
    /// How many failures the union has so far.
    fn union_len(&self) -> u32;
    /// Whether a union is open.
    fn in_union(&self) -> bool;
    /// Whether no further failure is listed.
    fn is_full(&self) -> bool;
    /// Ends the union, keeps its fold and adds it to the one around; answers its id.
    fn keep_union(&mut self) -> u32;
    /// Adds a kept fold to the union.
    fn add_kept(&mut self, fold: u32);
}

/// The sink of a judging run: the first failure ends it, so there is nothing to keep.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Judge;

impl<N: Copy> Sink<N> for Judge {
    const COLLECTS: bool = false;
    fn here(&self) -> (u32, u32) {
        (0, 0)
    }
    fn enter(&mut self, _: Into<N>) -> (u32, u32) {
        (0, 0)
    }
    fn leave(&mut self, _: u32, _: u32) {}
    fn extras_len(&self) -> u32 {
        0
    }
    fn extra(&mut self, _: u32) {}
    fn extra_node(&mut self, _: N) {}
    fn truncate_extras(&mut self, _: u32) {}
    fn sort_extras(&mut self, _: u32) {}
    fn record(&mut self, _: u32, _: N, _: u32, _: u32, _: impl Iterator<Item = (u32, u32)>) {}
    fn open_union(&mut self) {}
    fn drop_union(&mut self) {}
    fn close_union(&mut self) {}
    fn union_len(&self) -> u32 {
        0
    }
    fn in_union(&self) -> bool {
        false
    }
    fn is_full(&self) -> bool {
        true
    }
    fn keep_union(&mut self) -> u32 {
        0
    }
    fn add_kept(&mut self, _: u32) {}
}

/// One run of a unit over an instance.
pub(crate) struct Machine<'m, 'a, I: Instance<'a>, S> {
    unit: &'m Unit,
    instance: &'m mut I,
    stack: &'m mut Stack<'a, I>,
    scratch: &'m mut Scratch,
    pub(crate) sink: S,
    bounds: Bounds,
    fuel: u64,
    pc: u32,
    node: I::Node,
    /// Whether an instruction of the block has failed (collecting only).
    failed: bool,
    /// Whether only the verdict counts.
    quiet: bool,
    /// Containers around the instance.
    depth: u32,
    track: Track,
    trace: Option<&'m mut dyn FnMut(u32, u64)>,
}

type LoopState<'a, I> = State<<I as Instance<'a>>::Node, <I as Instance<'a>>::Members, <I as Instance<'a>>::Elements>;

type Step1 = Result<Flow, Halt>;

impl<'m, 'a, I: Instance<'a>, S: Sink<I::Node>> Machine<'m, 'a, I, S> {
    pub(crate) fn new(
        unit: &'m Unit,
        instance: &'m mut I,
        stack: &'m mut Stack<'a, I>,
        scratch: &'m mut Scratch,
        sink: S,
        bounds: Bounds,
    ) -> Self {
        stack.clear();
        scratch.bits.clear();
        scratch.memo.clear();
        let node = instance.root();
        Machine {
            unit,
            instance,
            stack,
            scratch,
            sink,
            bounds,
            fuel: bounds.fuel_max,
            pc: 0,
            node,
            failed: false,
            quiet: false,
            depth: 0,
            track: Track::default(),
            trace: None,
        }
    }

    /// Calls `trace` with the pc and the fuel left before each instruction.
    pub(crate) fn trace(&mut self, trace: &'m mut dyn FnMut(u32, u64)) {
        self.trace = Some(trace);
    }

    /// Fuel used so far.
    pub(crate) fn fuel_used(&self) -> u64 {
        self.bounds.fuel_max - self.fuel
    }

    /// Runs the block at `entry` on the whole instance.
    pub(crate) fn run(&mut self, entry: u32) -> Result<bool, Halt> {
        self.pc = entry;
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
                    Flow::Fail => {
                        flow = self.resume(false)?;
                        continue;
                    }
                    Flow::Leave => {
                        flow = self.resume(!self.failed)?;
                        continue;
                    }
                    Flow::Done(passed) => return Ok(passed),
                }
                break;
            }
        }
    }

    #[inline]
    fn step(&mut self) -> Step1 {
        let word: Word = self.unit.code()[self.pc as usize];
        let op = word.opcode();
        if let Some(trace) = &mut self.trace {
            trace(self.pc, self.fuel);
        }
        self.spend(op.info().fuel.into())?;
        dispatch(self, op, word)
    }

    #[inline]
    fn spend(&mut self, fuel: u64) -> Result<(), Halt> {
        match self.fuel.checked_sub(fuel) {
            Some(left) => {
                self.fuel = left;
                Ok(())
            }
            None => Err(Halt::Fault(FaultCode::Fuel)),
        }
    }

    /// Whether failures are noted here and the block goes on.
    #[inline]
    fn collecting(&self) -> bool {
        S::COLLECTS && !self.quiet
    }

    // --- entering and leaving blocks -------------------------------------------------------------------------

    /// Runs `target` on `node`: at once where it is a leaf (`Some` verdict), else by pushing a frame (`None`).
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
        if target.is_leaf() && (use_ == Use::Verdict || !self.collecting()) {
            return self.run_leaf(target.pc(), node, use_).map(Some);
        }
        self.enter(target, node, into, use_, state, false)?;
        Ok(None)
    }

    fn run_leaf(&mut self, pc: u32, node: I::Node, use_: Use) -> Result<bool, Halt> {
        let saved = (self.pc, self.node, self.quiet);
        (self.pc, self.node) = (pc, node);
        self.quiet |= use_ == Use::Verdict;
        let passed = loop {
            match self.step()? {
                Flow::Next => self.pc += 1,
                Flow::Goto(pc) => self.pc = pc,
                Flow::Leave => break true,
                Flow::Fail | Flow::Entered | Flow::Done(_) => break false,
            }
        };
        (self.pc, self.node, self.quiet) = saved;
        Ok(passed)
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
        if self.stack.frames.len() >= FRAMES_MAX {
            return Err(Halt::Fault(FaultCode::Depth));
        }
        let bits_len = self.scratch.bits.len() as u32;
        let (path, path_mark) = self.step_into(target, into);
        self.stack.frames.push(Frame {
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
                slots_len: self.stack.slots.len() as u32,
                path,
                path_mark,
            },
        });
        if branch_set {
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
        if !self.collecting() || self.is_false_schema(target.pc()) {
            return self.sink.here();
        }
        self.sink.enter(into)
    }

    /// Rule F: the failure of a schema that is `false` stands at the applicator, without the step to it.
    fn is_false_schema(&self, pc: u32) -> bool {
        self.unit.code()[pc as usize].opcode() == Opcode::Never
            && self.unit.note(pc).is_some_and(|note| note.path.is_empty())
    }

    /// Pops the frame of the block that ended with `passed`, and lets its applicator go on.
    fn resume(&mut self, passed: bool) -> Step1 {
        let Some(frame) = self.stack.frames.pop() else {
            return Ok(Flow::Done(passed));
        };
        let saved = frame.saved;
        let word = self.unit.code()[frame.pc as usize];
        if saved.branch_set && passed {
            if word.opcode() == Opcode::CallMemo {
                self.keep_set(saved.bits_len, saved.track.words);
            }
            self.join_set(saved.track, saved.bits_len);
        }
        self.scratch.bits.truncate(saved.bits_len as usize);
        self.stack.slots.truncate(saved.slots_len as usize);
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
            Opcode::Call | Opcode::TrackOpen | Opcode::DependentSchema => Ok(verdict(passed)),
            Opcode::MarkBy => Ok(Flow::Next),
            Opcode::CallMemo => self.call_memo_done(Flags(word.a), Target::from_bits(word.c), passed == Some(true)),
            Opcode::ObjectTable => self.object_table_loop(word.c, state, passed),
            Opcode::Properties => self.properties_loop(word.c, state, passed),
            Opcode::PatternProperties => self.pattern_properties_loop(word.c, state, passed),
            Opcode::AdditionalProperties => self.additional_properties_loop(Flags(word.a), word.c, state, passed),
            Opcode::PropertyNames => self.property_names_loop(Target::from_bits(word.c), state, passed),
            Opcode::PrefixItems => self.prefix_items_loop(word.c, state, passed),
            Opcode::Items => self.items_loop(word.b.into(), Target::from_bits(word.c), state, passed),
            Opcode::Contains => self.contains_loop(Flags(word.a), word.c, state, passed),
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

    /// The instruction fails; its message lists the extras from `extras_from` on.
    fn fail_listing(&mut self, arg: u32, extras_from: u32) -> Flow {
        if self.collecting() {
            let trail = self.stack.frames.iter().map(|frame| (frame.pc, frame.state.at));
            self.sink.record(self.pc, self.node, arg, extras_from, trail);
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
                let holds = test(number, self.unit);
                self.fail_unless(holds)
            }
            _ => Ok(Flow::Next),
        }
    }

    /// Tests the string's length. Short of counting: a string has between a quarter of its bytes and its bytes.
    fn length(&mut self, test: impl Fn(usize) -> bool) -> Step1 {
        match self.view()? {
            View::String(text) => {
                self.spend(text.raw_bytes() as u64 / 16)?;
                let holds = test(text.char_len());
                self.fail_unless(holds)
            }
            _ => Ok(Flow::Next),
        }
    }

    fn is_object(&mut self) -> Result<bool, Halt> {
        Ok(matches!(self.view()?, View::Object))
    }

    fn is_array(&mut self) -> Result<bool, Halt> {
        Ok(matches!(self.view()?, View::Array))
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

    /// The member called `name`. Cost: one pass over the members.
    fn has_member(&mut self, name: &str) -> Result<bool, Halt> {
        let mut at = self.instance.members(self.node);
        while let Some(member) = self.instance.next_member(&mut at)? {
            self.spend(1)?;
            if member.name.is(name) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The name's index in the table.
    #[inline]
    fn find_name(&mut self, table: &Table, name: Text<'a>, guess: usize) -> Option<usize> {
        match name.as_plain() {
            Some(plain) => self.unit.find_name(table, plain, guess),
            None => {
                let buffer = self.scratch.patterns.plain();
                self.unit.find_name(table, name.plain(buffer), guess)
            }
        }
    }

    fn matches_pattern(&mut self, pattern: u32, text: Text<'a>) -> Result<bool, Halt> {
        let pattern = self.unit.pattern(pattern);
        self.spend(1 + pattern.fuel(text.raw_bytes()))?;
        Ok(pattern.is_match(text, &mut self.scratch.patterns)?)
    }

    /// Whether the table's names or patterns claim the member.
    fn is_claimed(&mut self, table: &Table, name: Text<'a>, guess: &mut u32) -> Result<bool, Halt> {
        if let Some(at) = self.find_name(table, name, *guess as usize) {
            *guess = at as u32 + 1;
            if table.names[at].declared {
                return Ok(true);
            }
        }
        for (pattern, _) in &table.patterns {
            if self.matches_pattern(*pattern, name)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn budget(&self) -> Budget {
        Budget { fuel: self.fuel, depth: self.bounds.depth_max.saturating_sub(self.depth).saturating_add(1) }
    }

    fn equals_constant(&mut self, value: u32) -> Result<bool, Halt> {
        let mut constants = TapeInstance::new(self.unit.values(), 0);
        let mut budget = self.budget();
        let same = equal::equal(self.instance, self.node, &mut constants, self.unit.value(value), &mut budget);
        self.fuel = budget.fuel;
        same
    }

    // --- evaluated sets ------------------------------------------------------------------------------------

    fn push_set(&mut self, words: u32) {
        let at = self.scratch.bits.len() as u32;
        self.scratch.bits.resize((at + words) as usize, 0);
        self.track = Track { at, words };
    }

    /// Adds the set that starts at `from` to `into`.
    fn join_set(&mut self, into: Track, from: u32) {
        let (low, high) = self.scratch.bits.split_at_mut(from as usize);
        let words = into.words as usize;
        if let (Some(into), Some(from)) = (low.get_mut(into.at as usize..into.at as usize + words), high.get(..words)) {
            for (into, from) in into.iter_mut().zip(from) {
                *into |= from;
            }
        }
    }

    fn mark(&mut self, at: u32) {
        if at / 64 < self.track.words {
            self.scratch.bits[(self.track.at + at / 64) as usize] |= 1 << (at % 64);
        }
    }

    fn is_marked(&self, at: u32) -> bool {
        at / 64 < self.track.words && self.scratch.bits[(self.track.at + at / 64) as usize] >> (at % 64) & 1 == 1
    }

    // --- loops of the applicators --------------------------------------------------------------------------
    // Each takes the state it left off with and the verdict of the block it ran, `None` at the start.

    /// Whether the loop must end: a block failed while judging. While collecting, the failure is remembered.
    #[inline]
    fn stops(&self, passed: Option<bool>, state: &mut LoopState<'a, I>) -> bool {
        if passed != Some(false) {
            return false;
        }
        state.failed = true;
        !self.collecting()
    }

    fn object_table_loop(&mut self, id: u32, mut state: LoopState<'a, I>, mut passed: Option<bool>) -> Step1 {
        let unit = self.unit;
        let table = unit.table(id);
        // `count` is the pass over the member: 0 none yet, 1.. the patterns, then the rest. Its top bit: claimed.
        loop {
            if self.stops(passed.take(), &mut state) {
                return Ok(Flow::Fail);
            }
            if state.count == 0 {
                let Some(member) = self.next_member(&mut state)? else {
                    break;
                };
                state.count = 1;
                let Some(at) = self.find_name(table, member.name, state.at as usize) else {
                    continue;
                };
                let name = &table.names[at];
                state.at = at as u32 + 1;
                if let Some(bit) = name.required {
                    state.seen |= 1 << bit;
                }
                if name.declared {
                    state.count |= CLAIMED;
                }
                passed =
                    self.apply(name.target, member.value, Into::Member(member.name_node), Use::Failures, &mut state)?;
                if passed.is_none() {
                    return Ok(Flow::Entered);
                }
                continue;
            }
            let Some((name_node, value)) = state.member else {
                break;
            };
            let pass = (state.count & !CLAIMED) as usize;
            if let Some((pattern, target)) = table.patterns.get(pass - 1) {
                state.count += 1;
                let name = self.name_at(name_node)?;
                if self.matches_pattern(*pattern, name)? {
                    state.count |= CLAIMED;
                    passed = self.apply(*target, value, Into::Member(name_node), Use::Failures, &mut state)?;
                    if passed.is_none() {
                        return Ok(Flow::Entered);
                    }
                }
                continue;
            }
            let claimed = state.count & CLAIMED != 0;
            state.count = 0;
            match table.extra {
                _ if claimed => {}
                Extra::Skip => {}
                Extra::Forbid => return Ok(self.fail()),
                Extra::Run(target) => {
                    passed = self.apply(target, value, Into::Member(name_node), Use::Failures, &mut state)?;
                    if passed.is_none() {
                        return Ok(Flow::Entered);
                    }
                }
            }
        }
        let missing = table.required_mask() & !state.seen != 0;
        Ok(if missing { self.fail() } else { verdict(Some(!state.failed)) })
    }

    fn name_at(&mut self, node: I::Node) -> Result<Text<'a>, Halt> {
        match self.instance.view(node)? {
            View::String(text) => Ok(text),
            _ => Err(Halt::Unreadable),
        }
    }

    fn properties_loop(&mut self, id: u32, mut state: LoopState<'a, I>, mut passed: Option<bool>) -> Step1 {
        let unit = self.unit;
        let table = unit.table(id);
        // `seen` is where the found members start, `count` the next of them, `at` its index in the table.
        let from = state.seen as usize;
        loop {
            if self.stops(passed.take(), &mut state) {
                break;
            }
            let Some(&(at, name_node, value)) = self.stack.slots.get(from + state.count as usize) else {
                break;
            };
            state.count += 1;
            state.at = at;
            let target = table.names[at as usize].target;
            passed = self.apply(target, value, Into::Member(name_node), Use::Failures, &mut state)?;
            if passed.is_none() {
                return Ok(Flow::Entered);
            }
        }
        self.stack.slots.truncate(from);
        Ok(verdict(Some(!state.failed)))
    }

    fn pattern_properties_loop(&mut self, list: u32, mut state: LoopState<'a, I>, mut passed: Option<bool>) -> Step1 {
        let unit = self.unit;
        let pairs = unit.list(list);
        loop {
            if self.stops(passed.take(), &mut state) {
                return Ok(Flow::Fail);
            }
            let Some(&[pattern, target]) = pairs.get(2 * state.at as usize..2 * state.at as usize + 2) else {
                return Ok(verdict(Some(!state.failed)));
            };
            let Some(member) = self.next_member(&mut state)? else {
                state.at += 1;
                state.cursor = Cursor::Members(self.instance.members(self.node));
                continue;
            };
            if !self.matches_pattern(pattern, member.name)? {
                continue;
            }
            let target = Target::from_bits(target);
            passed = self.apply(target, member.value, Into::Member(member.name_node), Use::Failures, &mut state)?;
            if passed.is_none() {
                return Ok(Flow::Entered);
            }
        }
    }

    fn additional_properties_loop(
        &mut self,
        flags: Flags,
        id: u32,
        mut state: LoopState<'a, I>,
        mut passed: Option<bool>,
    ) -> Step1 {
        let unit = self.unit;
        let table = unit.table(id);
        let soft = flags.has(Flags::SOFT);
        // `at` guesses the next name of the table, `count` is the member's index plus one, `seen` where the list of
        // forbidden names starts.
        loop {
            if soft {
                if passed.take() == Some(true) {
                    self.mark(state.count - 1);
                }
            } else if self.stops(passed.take(), &mut state) {
                return Ok(Flow::Fail);
            }
            let Some(member) = self.next_member(&mut state)? else {
                break;
            };
            state.count += 1;
            if self.is_claimed(table, member.name, &mut state.at)? {
                continue;
            }
            match table.extra {
                Extra::Skip => {}
                Extra::Forbid if !self.collecting() => return Ok(if soft { Flow::Next } else { Flow::Fail }),
                Extra::Forbid => self.sink.extra_node(member.name_node),
                Extra::Run(target) => {
                    let use_ = if soft { Use::Verdict } else { Use::Failures };
                    passed = self.apply(target, member.value, Into::Member(member.name_node), use_, &mut state)?;
                    if passed.is_none() {
                        return Ok(Flow::Entered);
                    }
                }
            }
        }
        let from = state.seen as u32;
        if self.collecting() && table.extra == Extra::Forbid && self.sink.extras_len() > from {
            self.sink.sort_extras(from);
            return Ok(self.fail_listing(0, from));
        }
        Ok(verdict(Some(!state.failed)))
    }

    fn property_names_loop(&mut self, target: Target, mut state: LoopState<'a, I>, mut passed: Option<bool>) -> Step1 {
        loop {
            if self.stops(passed.take(), &mut state) {
                return Ok(Flow::Fail);
            }
            let Some(member) = self.next_member(&mut state)? else {
                return Ok(verdict(Some(!state.failed)));
            };
            passed = self.apply(target, member.name_node, Into::Name, Use::Failures, &mut state)?;
            if passed.is_none() {
                return Ok(Flow::Entered);
            }
        }
    }

    fn prefix_items_loop(&mut self, list: u32, mut state: LoopState<'a, I>, mut passed: Option<bool>) -> Step1 {
        let unit = self.unit;
        let targets = unit.list(list);
        loop {
            if passed.is_some() {
                state.at += 1;
            }
            if self.stops(passed.take(), &mut state) {
                return Ok(Flow::Fail);
            }
            let (Some(target), Some(element)) = (targets.get(state.at as usize), self.next_element(&mut state)?) else {
                return Ok(verdict(Some(!state.failed)));
            };
            let target = Target::from_bits(*target);
            passed = self.apply(target, element, Into::Element(state.at), Use::Failures, &mut state)?;
            if passed.is_none() {
                return Ok(Flow::Entered);
            }
        }
    }

    fn items_loop(
        &mut self,
        start: u32,
        target: Target,
        mut state: LoopState<'a, I>,
        mut passed: Option<bool>,
    ) -> Step1 {
        // `at` is the next element's index.
        loop {
            if self.stops(passed.take(), &mut state) {
                return Ok(Flow::Fail);
            }
            let Some(element) = self.next_element(&mut state)? else {
                return Ok(verdict(Some(!state.failed)));
            };
            state.at += 1;
            if state.at <= start {
                continue;
            }
            passed = self.apply(target, element, Into::Element(state.at - 1), Use::Failures, &mut state)?;
            if passed.is_none() {
                return Ok(Flow::Entered);
            }
        }
    }

    fn contains_loop(
        &mut self,
        flags: Flags,
        list: u32,
        mut state: LoopState<'a, I>,
        mut passed: Option<bool>,
    ) -> Step1 {
        let unit = self.unit;
        let &[target, min, max] = unit.list(list) else {
            return Ok(Flow::Fail);
        };
        let (track, soft) = (flags.has(Flags::TRACK), flags.has(Flags::SOFT));
        // `at` is the next element's index, `count` how many fit.
        loop {
            if passed.take() == Some(true) {
                state.count += 1;
                if track {
                    self.mark(state.at - 1);
                }
                if state.count > max && !soft {
                    return Ok(self.fail_with(TOO_MANY));
                }
                if state.count >= min && max == u32::MAX && !track {
                    return Ok(Flow::Next);
                }
            }
            let Some(element) = self.next_element(&mut state)? else {
                break;
            };
            state.at += 1;
            passed =
                self.apply(Target::from_bits(target), element, Into::Element(state.at - 1), Use::Verdict, &mut state)?;
            if passed.is_none() {
                return Ok(Flow::Entered);
            }
        }
        Ok(if state.count >= min || soft { Flow::Next } else { self.fail_with(state.count) })
    }

    /// Runs a branch on the instance, on an evaluated set of its own where one is kept.
    fn apply_branch(
        &mut self,
        flags: Flags,
        target: Target,
        use_: Use,
        state: &mut LoopState<'a, I>,
    ) -> Result<Option<bool>, Halt> {
        if flags.has(Flags::TRACK) && target.is_some() && !target.is_leaf() {
            self.enter(target, self.node, Into::Place, use_, state, true)?;
            return Ok(None);
        }
        self.apply(target, self.node, Into::Place, use_, state)
    }

    fn any_of_loop(&mut self, flags: Flags, list: u32, mut state: LoopState<'a, I>, mut passed: Option<bool>) -> Step1 {
        let unit = self.unit;
        let branches = unit.list(list);
        // `at` is the next branch, `count` how many passed.
        loop {
            state.count += u32::from(passed.take() == Some(true));
            if state.count > 0 && !flags.has(Flags::TRACK) {
                break;
            }
            let Some(branch) = branches.get(state.at as usize) else {
                break;
            };
            state.at += 1;
            passed = self.apply_branch(flags, Target::from_bits(*branch), Use::Failures, &mut state)?;
            if passed.is_none() {
                return Ok(Flow::Entered);
            }
        }
        if flags.has(Flags::SOFT) {
            return Ok(Flow::Next);
        }
        Ok(self.union_done(state.count > 0))
    }

    /// Ends a union: passed, or failed with what its branches said.
    fn union_done(&mut self, passed: bool) -> Flow {
        if self.collecting() {
            if passed {
                self.sink.drop_union();
            } else {
                self.sink.close_union();
            }
        }
        if passed { Flow::Next } else { self.fail() }
    }

    fn one_of_loop(&mut self, flags: Flags, list: u32, mut state: LoopState<'a, I>, mut passed: Option<bool>) -> Step1 {
        let unit = self.unit;
        let branches = unit.list(list);
        // `at` is the next branch, `count` how many passed, `seen` the first of them and where the list of the others
        // starts.
        loop {
            if passed.take() == Some(true) {
                state.count += 1;
                let branch = state.at - 1;
                if state.count == 1 {
                    state.seen = u64::from(branch) << 32 | u64::from(self.sink.extras_len());
                    if self.collecting() {
                        self.sink.drop_union();
                    }
                } else if !self.collecting() {
                    return Ok(Flow::Fail);
                } else {
                    self.sink.extra(branch);
                }
            }
            let Some(branch) = branches.get(state.at as usize) else {
                break;
            };
            state.at += 1;
            // After the first that fits, the others' failures are of no interest.
            let use_ = if state.count == 0 { Use::Failures } else { Use::Verdict };
            passed = self.apply_branch(flags, Target::from_bits(*branch), use_, &mut state)?;
            if passed.is_none() {
                return Ok(Flow::Entered);
            }
        }
        Ok(match state.count {
            0 => self.union_done(false),
            1 => Flow::Next,
            _ => {
                self.sink.extra((state.seen >> 32) as u32);
                self.fail_listing(1, state.seen as u32)
            }
        })
    }

    fn not_done(&mut self, passed: bool) -> Flow {
        if passed { self.fail() } else { Flow::Next }
    }

    fn if_then_else_loop(
        &mut self,
        flags: Flags,
        list: u32,
        mut state: LoopState<'a, I>,
        passed: Option<bool>,
    ) -> Step1 {
        let unit = self.unit;
        let &[condition, then, otherwise] = unit.list(list) else {
            return Ok(Flow::Fail);
        };
        // `at` is what runs: 0 the condition, 1 `then`, 2 `else`.
        let mut passed = passed;
        if passed.is_none() {
            passed = self.apply_branch(flags, Target::from_bits(condition), Use::Verdict, &mut state)?;
            if passed.is_none() {
                return Ok(Flow::Entered);
            }
        }
        if state.at > 0 {
            return Ok(verdict(passed));
        }
        let chosen = if passed == Some(true) { then } else { otherwise };
        state.at = if passed == Some(true) { 1 } else { 2 };
        match self.apply(Target::from_bits(chosen), self.node, Into::Place, Use::Failures, &mut state)? {
            None => Ok(Flow::Entered),
            passed => Ok(verdict(passed)),
        }
    }

    fn unevaluated_properties_loop(
        &mut self,
        flags: Flags,
        target: Target,
        mut state: LoopState<'a, I>,
        mut passed: Option<bool>,
    ) -> Step1 {
        let soft = flags.has(Flags::SOFT);
        // `at` is the next member's index, `seen` where the list of names starts (low half) and where it ended before
        // the member that runs (high half).
        loop {
            if let Some(passed) = passed.take() {
                let failures = self.member_failures(passed, (state.seen >> 32) as u32);
                match state.member {
                    _ if passed => self.mark(state.at - 1),
                    Some((name, _)) if self.collecting() => (0..failures).for_each(|_| self.sink.extra_node(name)),
                    _ if soft => {}
                    _ => return Ok(Flow::Fail),
                }
            }
            let Some(member) = self.next_member(&mut state)? else {
                break;
            };
            state.at += 1;
            if self.is_marked(state.at - 1) {
                continue;
            }
            if !target.is_some() {
                if self.collecting() {
                    self.sink.extra_node(member.name_node);
                } else if !soft {
                    return Ok(Flow::Fail);
                }
                continue;
            }
            if self.collecting() {
                // The names so far stay; what the member's block lists is cut off again.
                state.seen = u64::from(self.sink.extras_len()) << 32 | u64::from(state.seen as u32);
                self.sink.open_union();
            }
            let use_ = if soft { Use::Verdict } else { Use::Failures };
            passed = self.apply(target, member.value, Into::Member(member.name_node), use_, &mut state)?;
            if passed.is_none() {
                return Ok(Flow::Entered);
            }
        }
        let from = state.seen as u32;
        if self.collecting() && self.sink.extras_len() > from {
            if !target.is_some() {
                self.sink.sort_extras(from);
            }
            return Ok(self.fail_listing(0, from));
        }
        Ok(Flow::Next)
    }

    /// How many failures a member's block had: they are counted, not listed.
    fn member_failures(&mut self, passed: bool, extras_len: u32) -> u32 {
        if !self.collecting() {
            return 0;
        }
        let failures = if passed { 0 } else { self.sink.union_len().max(1) };
        self.sink.drop_union();
        self.sink.truncate_extras(extras_len);
        failures
    }

    fn unevaluated_items_loop(
        &mut self,
        flags: Flags,
        target: Target,
        mut state: LoopState<'a, I>,
        mut passed: Option<bool>,
    ) -> Step1 {
        let soft = flags.has(Flags::SOFT);
        // `at` is the next element's index, `seen` where the list of values starts.
        loop {
            if let Some(passed) = passed.take() {
                match state.member {
                    _ if passed => self.mark(state.at - 1),
                    Some((element, _)) if self.collecting() => self.sink.extra_node(element),
                    _ if soft => {}
                    _ => return Ok(Flow::Fail),
                }
            }
            let Some(element) = self.next_element(&mut state)? else {
                break;
            };
            state.at += 1;
            state.member = Some((element, element));
            if self.is_marked(state.at - 1) {
                continue;
            }
            if !target.is_some() {
                passed = Some(false);
                continue;
            }
            passed = self.apply(target, element, Into::Element(state.at - 1), Use::Verdict, &mut state)?;
            if passed.is_none() {
                return Ok(Flow::Entered);
            }
        }
        let from = state.seen as u32;
        let failed = self.collecting() && self.sink.extras_len() > from;
        Ok(if failed { self.fail_listing(0, from) } else { Flow::Next })
    }

    // --- verdicts kept -------------------------------------------------------------------------------------

    /// The key of this call. The same before the block runs and after it: the union that is opened for a block only
    /// is one where a union was open anyway.
    fn memo_key(&self, target: Target) -> Option<MemoKey> {
        let mode = match (self.collecting(), self.sink.in_union()) {
            (false, _) => MEMO_JUDGE,
            (true, true) => MEMO_UNION,
            (true, false) => MEMO_TOP,
        };
        Some(MemoKey { pc: target.pc(), mode, node: self.instance.identity(self.node)? })
    }

    /// What is known already: it passes, or it fails with what it said then.
    fn recall(&mut self, flags: Flags, key: MemoKey) -> Option<Flow> {
        let known = self.scratch.memo.get(key)?;
        if known.passed {
            if flags.has(Flags::TRACK) {
                self.recall_set(known.bits_at);
            }
            return Some(Flow::Next);
        }
        match key.mode {
            MEMO_UNION => self.sink.add_kept(known.fold),
            // Listed again, as long as there is room: each run adds to the list, so this ends.
            MEMO_TOP if !self.sink.is_full() => return None,
            _ => {}
        }
        Some(Flow::Fail)
    }

    fn recall_set(&mut self, bits_at: u32) {
        let Track { at, words } = self.track;
        let from = &self.scratch.memo.bits[bits_at as usize..(bits_at + words) as usize];
        for (into, from) in self.scratch.bits[at as usize..(at + words) as usize].iter_mut().zip(from) {
            *into |= from;
        }
    }

    /// Keeps the evaluated set that starts at `from`, for [`recall_set`](Self::recall_set).
    fn keep_set(&mut self, from: u32, words: u32) {
        let set = from as usize..(from + words) as usize;
        self.scratch.memo.bits.extend_from_slice(&self.scratch.bits[set]);
    }

    fn call_memo_done(&mut self, flags: Flags, target: Target, passed: bool) -> Step1 {
        if let Some(key) = self.memo_key(target) {
            let fold = if key.mode == MEMO_UNION { self.sink.keep_union() } else { 0 };
            let kept = if flags.has(Flags::TRACK) && passed { self.track.words } else { 0 };
            let bits_at = self.scratch.memo.bits.len() as u32 - kept;
            self.scratch.memo.insert(key, Known { passed, bits_at, fold }, self.bounds.memo_max)?;
        }
        Ok(verdict(Some(passed)))
    }

    // --- uniqueItems ---------------------------------------------------------------------------------------

    /// Whether two elements are equal: by sorting hashes, then comparing where they meet.
    fn has_equal_elements(&mut self, from: usize) -> Result<bool, Halt> {
        let mut at = self.instance.elements(self.node);
        self.scratch.hashes.clear();
        let mut budget = self.budget();
        while let Some(element) = self.instance.next_element(&mut at)? {
            let hash = equal::hash(self.instance, element, &self.scratch.seed, &mut budget)?;
            self.scratch.hashes.push((hash, (self.stack.nodes.len() - from) as u32));
            self.stack.nodes.push(element);
        }
        self.fuel = budget.fuel;
        self.scratch.hashes.sort_unstable();
        for later in 1..self.scratch.hashes.len() {
            let (hash, element) = self.scratch.hashes[later];
            for earlier in (0..later).rev() {
                let (other_hash, other) = self.scratch.hashes[earlier];
                if other_hash != hash {
                    break;
                }
                let nodes = (self.stack.nodes[from + element as usize], self.stack.nodes[from + other as usize]);
                let mut budget = self.budget();
                let same = self.instance.equal(nodes.0, nodes.1, &mut budget);
                self.fuel = budget.fuel;
                if same? {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }
}

const CLAIMED: u32 = 1 << 31;
const TOO_MANY: u32 = u32::MAX;
const MEMO_JUDGE: u8 = 0;
const MEMO_UNION: u8 = 1;
const MEMO_TOP: u8 = 2;

/// How `contains` says that there were too many.
pub(crate) const CONTAINS_TOO_MANY: u32 = TOO_MANY;

/// Goes on, or fails with what the block has noted already.
#[inline]
fn verdict(passed: Option<bool>) -> Flow {
    if passed == Some(true) { Flow::Next } else { Flow::Fail }
}

impl<'a, I: Instance<'a>, S: Sink<I::Node>> Handler for Machine<'_, 'a, I, S> {
    type Flow = Step1;

    #[inline]
    fn leave(&mut self) -> Step1 {
        Ok(Flow::Leave)
    }

    fn call(&mut self, target: Target) -> Step1 {
        let passed = self.apply(target, self.node, Into::Place, Use::Failures, &mut State::default())?;
        Ok(passed.map_or(Flow::Entered, |passed| verdict(Some(passed))))
    }

    fn call_memo(&mut self, flags: Flags, target: Target) -> Step1 {
        let key = match self.memo_key(target) {
            Some(key) if target.is_some() => key,
            _ => return self.call(target),
        };
        if let Some(flow) = self.recall(flags, key) {
            return Ok(flow);
        }
        if key.mode == MEMO_UNION {
            self.sink.open_union();
        }
        self.enter(target, self.node, Into::Place, Use::Failures, &mut State::default(), flags.has(Flags::TRACK))?;
        Ok(Flow::Entered)
    }

    fn never(&mut self) -> Step1 {
        Ok(self.fail())
    }

    fn skip_type(&mut self, types: Types, to: Target) -> Step1 {
        Ok(if self.view()?.types().meets(types) { Flow::Goto(to.pc()) } else { Flow::Next })
    }

    #[inline]
    fn type_is(&mut self, types: Types) -> Step1 {
        let holds = self.view()?.types().meets(types);
        self.fail_unless(holds)
    }

    fn enum_is(&mut self, set: EnumId) -> Step1 {
        let unit = self.unit;
        let set = &unit.parts.enums[set.0 as usize];
        let holds = match self.view()? {
            View::Null => set.null,
            View::Bool(is) => (is && set.yes) || (!is && set.no),
            View::String(text) => {
                self.spend(1 + text.raw_bytes() as u64 / 16)?;
                let find = |id: &StrId| Text::plain_text(unit.str(*id)).compare(text);
                set.strings.binary_search_by(find).is_ok()
            }
            View::Number(number) => set.numbers.binary_search_by(|id| unit.number(*id).compare(number)).is_ok(),
            View::Array | View::Object => {
                let mut found = false;
                for value in &set.containers {
                    found = self.equals_constant(*value)?;
                    if found {
                        break;
                    }
                }
                found
            }
            View::NotJson(_) => return Err(Halt::Unreadable),
        };
        self.fail_unless(holds)
    }

    fn const_is(&mut self, value: ValueId) -> Step1 {
        let holds = self.equals_constant(value.0)?;
        self.fail_unless(holds)
    }

    fn minimum(&mut self, bound: NumberId) -> Step1 {
        self.number(|number, unit| number.compare(unit.number(bound.0)).is_ge())
    }

    fn maximum(&mut self, bound: NumberId) -> Step1 {
        self.number(|number, unit| number.compare(unit.number(bound.0)).is_le())
    }

    fn exclusive_minimum(&mut self, bound: NumberId) -> Step1 {
        self.number(|number, unit| number.compare(unit.number(bound.0)).is_gt())
    }

    fn exclusive_maximum(&mut self, bound: NumberId) -> Step1 {
        self.number(|number, unit| number.compare(unit.number(bound.0)).is_lt())
    }

    fn multiple_of(&mut self, divisor: NumberId) -> Step1 {
        let unit = self.unit;
        let divisor = unit.number(divisor.0);
        match self.view()? {
            View::Number(number) => {
                self.spend(number.multiple_of_cost(divisor))?;
                self.fail_unless(number.is_multiple_of(divisor))
            }
            _ => Ok(Flow::Next),
        }
    }

    fn min_length(&mut self, min: Len) -> Step1 {
        self.length(|len| len >= min.0 as usize)
    }

    fn max_length(&mut self, max: Len) -> Step1 {
        self.length(|len| len <= max.0 as usize)
    }

    fn matches(&mut self, pattern: PatternId) -> Step1 {
        match self.view()? {
            View::String(text) => {
                let holds = self.matches_pattern(pattern.0, text)?;
                self.fail_unless(holds)
            }
            _ => Ok(Flow::Next),
        }
    }

    fn format_is(&mut self, format: FormatId) -> Step1 {
        let View::String(text) = self.view()? else {
            return Ok(Flow::Next);
        };
        self.spend(1 + text.raw_bytes() as u64 / 4)?;
        let text = text.plain(self.scratch.patterns.plain());
        let holds = Format::from_u8(format.0).is_none_or(|format| format.check(text));
        self.fail_unless(holds)
    }

    fn min_items(&mut self, min: Len) -> Step1 {
        let holds = !self.is_array()? || self.instance.element_len(self.node)? >= min.0 as usize;
        self.fail_unless(holds)
    }

    fn max_items(&mut self, max: Len) -> Step1 {
        let holds = !self.is_array()? || self.instance.element_len(self.node)? <= max.0 as usize;
        self.fail_unless(holds)
    }

    fn items_end(&mut self, len: Len) -> Step1 {
        self.max_items(len)
    }

    fn unique_items(&mut self) -> Step1 {
        if !self.is_array()? {
            return Ok(Flow::Next);
        }
        self.check_depth()?;
        let from = self.stack.nodes.len();
        let repeated = self.has_equal_elements(from);
        self.stack.nodes.truncate(from);
        let holds = !repeated?;
        self.fail_unless(holds)
    }

    fn min_properties(&mut self, min: Len) -> Step1 {
        let holds = !self.is_object()? || self.instance.member_len(self.node)? >= min.0 as usize;
        self.fail_unless(holds)
    }

    fn max_properties(&mut self, max: Len) -> Step1 {
        let holds = !self.is_object()? || self.instance.member_len(self.node)? <= max.0 as usize;
        self.fail_unless(holds)
    }

    fn required(&mut self, table: TableId) -> Step1 {
        let Some(mut state) = self.open_members()? else {
            return Ok(Flow::Next);
        };
        let unit = self.unit;
        let table = unit.table(table.0);
        let outer = self.track;
        let bits_len = self.scratch.bits.len();
        self.push_set(table.names.len().div_ceil(64) as u32);
        while let Some(member) = self.next_member(&mut state)? {
            if let Some(at) = self.find_name(table, member.name, state.at as usize) {
                state.at = at as u32 + 1;
                self.mark(at as u32);
            }
        }
        let mut flow = Flow::Next;
        for at in 0..table.names.len() as u32 {
            if !self.is_marked(at) {
                flow = self.fail_with(at);
                if !self.collecting() {
                    break;
                }
            }
        }
        self.scratch.bits.truncate(bits_len);
        self.track = outer;
        Ok(flow)
    }

    fn dependent_required(&mut self, names: ListId) -> Step1 {
        let unit = self.unit;
        let Some((present, needed)) = unit.list(names.0).split_first() else {
            return Ok(Flow::Next);
        };
        if !self.is_object()? || !self.has_member(unit.str(StrId(*present)))? {
            return Ok(Flow::Next);
        }
        let mut flow = Flow::Next;
        for (at, name) in needed.iter().enumerate() {
            if !self.has_member(unit.str(StrId(*name)))? {
                flow = self.fail_with(at as u32);
                if !self.collecting() {
                    break;
                }
            }
        }
        Ok(flow)
    }

    fn object_table(&mut self, table: TableId) -> Step1 {
        match self.open_members()? {
            Some(state) => self.object_table_loop(table.0, state, None),
            None => Ok(Flow::Next),
        }
    }

    fn properties(&mut self, table: TableId) -> Step1 {
        let Some(mut state) = self.open_members()? else {
            return Ok(Flow::Next);
        };
        let unit = self.unit;
        let names = unit.table(table.0);
        let from = self.stack.slots.len();
        let mut guess = 0;
        while let Some(member) = self.next_member(&mut state)? {
            if let Some(at) = self.find_name(names, member.name, guess) {
                guess = at + 1;
                self.stack.slots.push((at as u32, member.name_node, member.value));
            }
        }
        self.stack.slots[from..].sort_unstable_by_key(|(at, ..)| *at);
        self.properties_loop(table.0, State { seen: from as u64, ..State::default() }, None)
    }

    fn pattern_properties(&mut self, pairs: ListId) -> Step1 {
        match self.open_members()? {
            Some(state) => self.pattern_properties_loop(pairs.0, state, None),
            None => Ok(Flow::Next),
        }
    }

    fn additional_properties(&mut self, flags: Flags, table: TableId) -> Step1 {
        match self.open_members()? {
            Some(mut state) => {
                state.seen = self.sink.extras_len().into();
                self.additional_properties_loop(flags, table.0, state, None)
            }
            None => Ok(Flow::Next),
        }
    }

    fn property_names(&mut self, target: Target) -> Step1 {
        match self.open_members()? {
            Some(state) => self.property_names_loop(target, state, None),
            None => Ok(Flow::Next),
        }
    }

    fn dependent_schema(&mut self, pair: ListId) -> Step1 {
        let unit = self.unit;
        let &[name, target] = unit.list(pair.0) else {
            return Ok(Flow::Fail);
        };
        if !self.is_object()? || !self.has_member(unit.str(StrId(name)))? {
            return Ok(Flow::Next);
        }
        self.call(Target::from_bits(target))
    }

    fn prefix_items(&mut self, targets: ListId) -> Step1 {
        match self.open_elements()? {
            Some(state) => self.prefix_items_loop(targets.0, state, None),
            None => Ok(Flow::Next),
        }
    }

    fn items(&mut self, start: Len, target: Target) -> Step1 {
        match self.open_elements()? {
            Some(state) => self.items_loop(start.0, target, state, None),
            None => Ok(Flow::Next),
        }
    }

    fn contains(&mut self, flags: Flags, list: ListId) -> Step1 {
        match self.open_elements()? {
            Some(state) => self.contains_loop(flags, list.0, state, None),
            None => Ok(Flow::Next),
        }
    }

    fn any_of(&mut self, flags: Flags, branches: ListId) -> Step1 {
        if self.collecting() {
            self.sink.open_union();
        }
        self.any_of_loop(flags, branches.0, State::default(), None)
    }

    fn one_of(&mut self, flags: Flags, branches: ListId) -> Step1 {
        if self.collecting() {
            self.sink.open_union();
        }
        self.one_of_loop(flags, branches.0, State::default(), None)
    }

    fn not(&mut self, target: Target) -> Step1 {
        let passed = self.apply(target, self.node, Into::Place, Use::Verdict, &mut State::default())?;
        Ok(passed.map_or(Flow::Entered, |passed| self.not_done(passed)))
    }

    fn if_then_else(&mut self, flags: Flags, list: ListId) -> Step1 {
        self.if_then_else_loop(flags, list.0, State::default(), None)
    }

    fn track_open(&mut self) -> Step1 {
        let len = match self.view()? {
            View::Object => self.instance.member_len(self.node)?,
            View::Array => self.instance.element_len(self.node)?,
            _ => 0,
        };
        self.spend(len as u64 / 64)?;
        let failed = self.failed;
        let next = Target::new(self.pc + 1, false);
        self.enter(next, self.node, Into::Place, Use::Failures, &mut State::default(), false)?;
        self.failed = failed;
        self.push_set(len.div_ceil(64) as u32);
        Ok(Flow::Entered)
    }

    fn track_close(&mut self, flags: Flags) -> Step1 {
        // The frame is that of `track_open`: blocks nest.
        if let Some(frame) = self.stack.frames.pop() {
            let own = self.track.at;
            if flags.has(Flags::TRACK) {
                self.join_set(frame.saved.track, own);
            }
            self.scratch.bits.truncate(frame.saved.bits_len as usize);
            self.track = frame.saved.track;
        }
        Ok(Flow::Next)
    }

    fn mark_by(&mut self, target: Target) -> Step1 {
        let passed = self.apply(target, self.node, Into::Place, Use::Verdict, &mut State::default())?;
        Ok(passed.map_or(Flow::Entered, |_| Flow::Next))
    }

    fn mark_names(&mut self, table: TableId) -> Step1 {
        let Some(mut state) = self.open_members()? else {
            return Ok(Flow::Next);
        };
        let unit = self.unit;
        let table = unit.table(table.0);
        let mut index = 0;
        while let Some(member) = self.next_member(&mut state)? {
            if table.extra != Extra::Skip || self.is_claimed(table, member.name, &mut state.at)? {
                self.mark(index);
            }
            index += 1;
        }
        Ok(Flow::Next)
    }

    fn mark_items(&mut self, len: Len) -> Step1 {
        if self.is_array()? {
            let len = (self.instance.element_len(self.node)? as u32).min(len.0);
            self.spend(u64::from(len) / 64)?;
            (0..len).for_each(|at| self.mark(at));
        }
        Ok(Flow::Next)
    }

    fn unevaluated_properties(&mut self, flags: Flags, target: Target) -> Step1 {
        match self.open_members()? {
            Some(mut state) => {
                state.seen = self.sink.extras_len().into();
                self.unevaluated_properties_loop(flags, target, state, None)
            }
            None => Ok(Flow::Next),
        }
    }

    fn unevaluated_items(&mut self, flags: Flags, target: Target) -> Step1 {
        match self.open_elements()? {
            Some(mut state) => {
                state.seen = self.sink.extras_len().into();
                self.unevaluated_items_loop(flags, target, state, None)
            }
            None => Ok(Flow::Next),
        }
    }
}
