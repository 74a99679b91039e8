//! The loops of the applicators: how each goes over members, elements or branches.
//!
//! Each takes the state that it left off with and the verdict of the block it ran, `None` at the start. It goes on until
//! a block must be entered (then its state is in the frame) or it has its own verdict.

use super::skim::{Items, Skimmed, watched_bit};
use super::{
    CLAIMED, Child, Cursor, Flow, Idle, Into, LoopState, Machine, Sink, State, Step1, Surveyed, Suspect, TOO_MANY, Use,
    verdict,
};
use crate::insn::{Flags, TableId, Target, Types};
use crate::instance::{Halt, Instance, Member, View};
use crate::opcode::Opcode;
use crate::text::Text;
use crate::unit::{Extra, Guard, Table};

impl<'a, I: Instance<'a>, S: Sink<'a, I>> Machine<'_, 'a, I, S> {
    // Each takes the state it left off with and the verdict of the block it ran, `None` at the start.

    /// Whether the loop must end: a block failed while judging. While collecting, the failure is remembered.
    #[inline]
    pub(super) fn stops(&self, passed: Option<bool>, state: &mut LoopState<'a, I>) -> bool {
        if passed != Some(false) {
            return false;
        }
        state.failed = true;
        !self.collecting()
    }

    /// `object_table` in one sweep: every child is judged at a look, or nested.
    #[inline(never)]
    pub(super) fn object_table_nested(&mut self, id: TableId) -> Result<bool, Halt> {
        if !self.is_object()? {
            return Ok(true);
        }
        self.check_depth()?;
        let cursor = self.instance.members(self.node);
        self.members_from(self.unit.table(id.0), cursor, 0)
    }

    /// Judges the members that the cursor has before it.
    #[inline]
    pub(super) fn members_from(&mut self, table: &Table, mut cursor: I::Members, mut seen: u64) -> Result<bool, Halt> {
        loop {
            let mut looker = self.looker();
            let skimmed = looker.skim(table, &mut cursor, &mut seen)?;
            self.fuel = looker.fuel;
            match skimmed {
                Skimmed::Through => return Ok(table.required & !seen == 0),
                stopped => {
                    if !self.stopped_passes(table, &stopped)? {
                        return Ok(false);
                    }
                }
            }
        }
    }

    /// Judges the member at which a skim stopped.
    #[inline]
    pub(super) fn stopped_passes(&mut self, table: &Table, stopped: &Skimmed<'a, I::Node>) -> Result<bool, Halt> {
        match stopped {
            Skimmed::Through => Ok(true),
            Skimmed::Failed => Ok(false),
            Skimmed::Child(value, target) => self.nest(*target, *value, true, Use::Failures),
            Skimmed::Rest(member, target, claimed) => {
                let passed = !target.is_some() || self.nest(*target, member.value, true, Use::Failures)?;
                Ok(passed && self.rest_passes(table, *claimed, member)?)
            }
        }
    }

    /// What the patterns say of a member, and the extra if nothing has claimed it.
    fn rest_passes(&mut self, table: &Table, claimed: bool, member: &Member<'a, I::Node>) -> Result<bool, Halt> {
        let mut claimed = claimed;
        for (pattern, target) in &table.patterns {
            if self.matches_pattern(*pattern, member.name)? {
                claimed = true;
                if !self.child_passes(Guard::OPEN, *target, member.value)? {
                    return Ok(false);
                }
            }
        }
        match table.extra {
            _ if claimed => Ok(true),
            Extra::Skip => Ok(true),
            Extra::Forbid => Ok(false),
            Extra::Run(target) => self.child_passes(Guard::OPEN, target, member.value),
        }
    }

    /// Whether a survey has found that nothing will come of the instruction.
    pub(super) fn is_idle(&self, kind: Idle) -> bool {
        self.collecting() && self.surveyed.idle.has(kind)
    }

    /// Looks which of the block's instructions about members have something to say: `table` is the judging code's, of
    /// `properties`, `patternProperties`, `additionalProperties` and `required` together.
    ///
    /// Outside unions, a failure of the object itself speaks before all that its members have.
    pub(super) fn survey_members(&mut self, id: TableId) -> Result<(), Halt> {
        self.surveyed.idle = Idle::ALL;
        if !self.is_object()? {
            return Ok(());
        }
        self.check_depth()?;
        let table = self.unit.table(id.0);
        let in_union = self.sink.in_union();
        let mut cursor = self.instance.members(self.node);
        let mut seen = 0_u64;
        while let Some(member) = self.instance.next_member(&mut cursor)? {
            self.spend(1 + member.name.raw_bytes() as u64 / 16)?;
            let found = self.find_name(table, member.name);
            if let Some((at, name)) = found {
                seen |= watched_bit(at);
                if !self.child_passes(name.guard, name.target, member.value)? {
                    self.surveyed.suspects(&member);
                }
            }
            let claimed = found.is_some_and(|(_, name)| name.declared);
            if claimed && table.patterns.is_empty() || !self.survey_rest(table, claimed, &member)? {
                continue;
            }
            if !in_union {
                // Whether a name is missing as well is not known yet.
                self.surveyed = Surveyed { idle: Idle::MEMBERS, ..Surveyed::NOTHING };
                return Ok(());
            }
        }
        let missing = table.required & !seen;
        if in_union {
            self.surveyed.suspect = None;
        } else if missing != 0 {
            self.surveyed = Surveyed { idle: Idle::ALL, ..Surveyed::NOTHING };
        }
        if missing != 0 {
            self.surveyed.idle = self.surveyed.idle.without(Idle::REQUIRED);
            self.surveyed.missing = Some((id, missing));
        }
        Ok(())
    }

    /// What patterns and the extra say of a member; whether it is one that the object must not have.
    fn survey_rest(&mut self, table: &Table, claimed: bool, member: &Member<'a, I::Node>) -> Result<bool, Halt> {
        let mut claimed = claimed;
        for (pattern, target) in &table.patterns {
            if self.matches_pattern(*pattern, member.name)? {
                claimed = true;
                if !self.child_passes(Guard::OPEN, *target, member.value)? {
                    self.surveyed.idle = self.surveyed.idle.without(Idle::PATTERNS);
                }
            }
        }
        let failing = match table.extra {
            _ if claimed => false,
            Extra::Skip => false,
            Extra::Forbid => true,
            Extra::Run(target) => !self.child_passes(Guard::OPEN, target, member.value)?,
        };
        if failing {
            self.surveyed.idle = self.surveyed.idle.without(Idle::EXTRA);
        }
        Ok(failing && table.extra == Extra::Forbid)
    }

    /// Fails `required`, whose table is `of`, for each of the names that a survey has found missing.
    pub(super) fn missing_names(&mut self, of: TableId, (surveyed, missing): (TableId, u64)) -> Flow {
        let unit = self.unit;
        let table = unit.table(surveyed.0);
        for (at, name) in unit.table(of.0).names.iter().enumerate() {
            let found = unit.find_name(table, unit.str(name.name));
            if found.is_some_and(|(at, _)| watched_bit(at) & missing != 0) {
                self.fail_with(at as u32);
            }
        }
        Flow::Fail
    }

    /// Explains the member of greatest name among those that fail, by `properties`, whose table this is. Answers its place
    /// in the table, its verdict, and whether the others need not be looked at: there are none, or it is this one that
    /// speaks. `None` where the table has nothing to say of it.
    pub(super) fn explain_suspect(
        &mut self,
        table: &Table,
        suspect: &Suspect<'a, I::Node>,
    ) -> Result<Option<(usize, bool, bool)>, Halt> {
        let found = self.find_name(table, suspect.name);
        let Some((at, name)) = found.filter(|(_, name)| name.target.is_some()) else {
            return Ok(None);
        };
        let passed = self.nest_to_explain(name.target, suspect.value, Into::Member(suspect.name_node))?;
        let settled = suspect.alone || self.sink.is_settled_below(Child::Named(suspect.name));
        Ok(Some((at, passed, !passed && settled)))
    }

    /// Whether of all failures that `target` has below this location at most one is sought.
    fn one_speaks_below(&self, target: Target) -> bool {
        let sought = self.sink.searches() && !self.sink.in_union();
        sought && target.is_some() && !self.is_false_schema(target.pc())
    }

    /// `items` in a search outside unions: the last of the elements that fail is explained first.
    fn items_searched(&mut self, items: Items) -> Step1 {
        let mut cursor = self.instance.elements(self.node);
        let (mut at, mut suspect, mut failing) = (0, None, 0);
        while let Some(element) = self.instance.next_element(&mut cursor)? {
            self.spend(1)?;
            at += 1;
            if at > items.start && self.asked(items.target, element)? != Some(true) {
                suspect = Some((at - 1, element));
                failing += 1;
            }
        }
        let Some((index, element)) = suspect else {
            return Ok(Flow::Next);
        };
        let mut passed = self.nest_to_explain(items.target, element, Into::Element(index))?;
        if failing == 1 || !passed && self.sink.is_settled_below(Child::At(index)) {
            return Ok(verdict(Some(passed)));
        }
        // All others are looked at as well; each once, or deep calls would take time without end.
        let mut cursor = self.instance.elements(self.node);
        let mut at = 0;
        while let Some(element) = self.instance.next_element(&mut cursor)? {
            self.spend(1)?;
            at += 1;
            if at > items.start && at - 1 != index {
                let into = Into::Element(at - 1);
                let state = &mut State::default();
                passed &= self.apply(items.target, element, into, Use::Failures, state)? == Some(true);
            }
        }
        Ok(verdict(Some(passed)))
    }

    /// `items`, counted or not.
    pub(super) fn run_items(&mut self, items: Option<Items>) -> Step1 {
        let Some(items) = items else {
            return Ok(Flow::Fail);
        };
        if !self.is_array()? {
            return Ok(Flow::Next);
        }
        self.check_depth()?;
        if self.nested_left > 0 && !self.noting() {
            let passed = self.items_nested(items)?;
            return self.fail_unless(passed);
        }
        if self.nested_left > 0 && self.one_speaks_below(items.target) {
            return if self.sink.is_beaten_below() { Ok(Flow::Next) } else { self.items_searched(items) };
        }
        let cursor = Cursor::Elements(self.instance.elements(self.node));
        self.items_loop(items, State { cursor, ..State::default() }, None)
    }

    /// `items` in one sweep: every element is judged nested.
    #[inline(never)]
    fn items_nested(&mut self, items: Items) -> Result<bool, Halt> {
        let guard = items.guard();
        let mut cursor = self.instance.elements(self.node);
        let mut at = 0;
        while let Some(element) = self.instance.next_element(&mut cursor)? {
            self.spend(1)?;
            at += 1;
            if at > items.max || at > items.start && !self.child_passes(guard, items.target, element)? {
                return Ok(false);
            }
        }
        Ok(at >= items.min)
    }

    pub(super) fn object_table_loop(
        &mut self,
        id: u32,
        mut state: LoopState<'a, I>,
        mut passed: Option<bool>,
    ) -> Step1 {
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
                let Some((at, name)) = self.find_name(table, member.name) else {
                    continue;
                };
                state.seen |= watched_bit(at);
                if name.declared {
                    state.count |= CLAIMED;
                }
                passed = self.guarded(name.guard, member.value)?;
                if passed.is_some() {
                    continue;
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
        let missing = table.required & !state.seen != 0;
        Ok(if missing { self.fail() } else { verdict(Some(!state.failed)) })
    }

    /// `required` of more names than a word has bits.
    pub(super) fn required_of_many(&mut self, table: &Table, mut state: LoopState<'a, I>) -> Step1 {
        let outer = self.track;
        let bits_len = self.scratch.bits.len();
        self.push_set(table.names.len().div_ceil(64) as u32);
        while let Some(member) = self.next_member(&mut state)? {
            if let Some((at, _)) = self.find_name(table, member.name) {
                self.mark(at as u32);
            }
        }
        let mut flow = Flow::Next;
        for at in 0..table.names.len() as u32 {
            if !self.is_marked(at) {
                flow = self.lacks(at, table.names[at as usize].name);
                if !self.noting() {
                    break;
                }
            }
        }
        self.scratch.bits.truncate(bits_len);
        self.track = outer;
        Ok(flow)
    }

    pub(super) fn name_at(&mut self, node: I::Node) -> Result<Text<'a>, Halt> {
        match self.instance.view(node)? {
            View::String(text) => Ok(text),
            _ => Err(Halt::Unreadable),
        }
    }

    pub(super) fn properties_loop(&mut self, id: u32, mut state: LoopState<'a, I>, mut passed: Option<bool>) -> Step1 {
        let unit = self.unit;
        let table = unit.table(id);
        // `seen` is where the found members start, `count` the next of them, `at` its index in the table.
        let from = state.seen as usize;
        loop {
            if self.stops(passed.take(), &mut state) {
                break;
            }
            let Some(&(at, name_node, value)) = self.stack()?.slots.get(from + state.count as usize) else {
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
        self.stack()?.slots.truncate(from);
        Ok(verdict(Some(!state.failed)))
    }

    pub(super) fn pattern_properties_loop(
        &mut self,
        list: u32,
        mut state: LoopState<'a, I>,
        mut passed: Option<bool>,
    ) -> Step1 {
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
                self.spend(1)?;
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

    pub(super) fn additional_properties_loop(
        &mut self,
        flags: Flags,
        id: u32,
        mut state: LoopState<'a, I>,
        mut passed: Option<bool>,
    ) -> Step1 {
        let unit = self.unit;
        let table = unit.table(id);
        let soft = flags.has(Flags::SOFT);
        // `count` is the member's index plus one, `seen` where the list of forbidden names starts.
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
            if self.is_claimed(table, member.name)? {
                continue;
            }
            match table.extra {
                Extra::Skip => {}
                Extra::Forbid if !self.collecting() => return Ok(if soft { Flow::Next } else { Flow::Fail }),
                Extra::Forbid => self.sink.extra_node(self.instance, member.name_node),
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

    pub(super) fn property_names_loop(
        &mut self,
        target: Target,
        mut state: LoopState<'a, I>,
        mut passed: Option<bool>,
    ) -> Step1 {
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

    pub(super) fn prefix_items_loop(
        &mut self,
        list: u32,
        mut state: LoopState<'a, I>,
        mut passed: Option<bool>,
    ) -> Step1 {
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

    pub(super) fn items_loop(&mut self, items: Items, mut state: LoopState<'a, I>, mut passed: Option<bool>) -> Step1 {
        let guard = items.guard();
        // `at` is the next element's index.
        loop {
            if self.stops(passed.take(), &mut state) {
                return Ok(Flow::Fail);
            }
            let Some(element) = self.next_element(&mut state)? else {
                let counted = state.at >= items.min;
                return Ok(verdict(Some(counted && !state.failed)));
            };
            state.at += 1;
            if state.at > items.max {
                return Ok(Flow::Fail);
            }
            if state.at <= items.start {
                continue;
            }
            passed = self.guarded(guard, element)?;
            if passed.is_some() {
                continue;
            }
            passed = self.apply(items.target, element, Into::Element(state.at - 1), Use::Failures, &mut state)?;
            if passed.is_none() {
                return Ok(Flow::Entered);
            }
        }
    }

    pub(super) fn contains_loop(
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

    /// Whether the block's first instruction tests for types that the instance is not of: it need not run to fail.
    fn excludes(&self, target: Target, types: Types) -> bool {
        if !target.is_some() {
            return false;
        }
        let word = self.code[target.pc() as usize];
        word.op == Opcode::TypeIs as u8 && !types.meets(Types(word.a))
    }

    /// Runs a branch on the instance, on an evaluated set of its own where one is kept.
    pub(super) fn apply_branch(
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

    pub(super) fn any_of_loop(
        &mut self,
        flags: Flags,
        list: u32,
        mut state: LoopState<'a, I>,
        mut passed: Option<bool>,
    ) -> Step1 {
        let unit = self.unit;
        let branches = unit.list(list);
        let types = self.instance.types(self.node)?;
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
            self.spend(1)?;
            if !self.collecting() && self.excludes(Target::from_bits(*branch), types) {
                continue;
            }
            if self.collecting() && !flags.has(Flags::SOFT) {
                self.sink.enter_branch(state.at - 1);
            }
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
    pub(super) fn union_done(&mut self, passed: bool) -> Flow {
        if self.collecting() {
            if passed {
                self.sink.drop_union();
            } else {
                self.sink.close_union();
            }
        }
        if passed { Flow::Next } else { self.fail() }
    }

    pub(super) fn one_of_loop(
        &mut self,
        flags: Flags,
        list: u32,
        mut state: LoopState<'a, I>,
        mut passed: Option<bool>,
    ) -> Step1 {
        let unit = self.unit;
        let branches = unit.list(list);
        let types = self.instance.types(self.node)?;
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
            self.spend(1)?;
            // After the first that fits, the others' failures are of no interest.
            let use_ = if state.count == 0 { Use::Failures } else { Use::Verdict };
            let quiet = use_ == Use::Verdict || !self.collecting();
            if quiet && self.excludes(Target::from_bits(*branch), types) {
                continue;
            }
            if !quiet {
                self.sink.enter_branch(state.at - 1);
            }
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

    pub(super) fn not_done(&mut self, passed: bool) -> Flow {
        if passed { self.fail() } else { Flow::Next }
    }

    pub(super) fn if_then_else_loop(
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

    pub(super) fn unevaluated_properties_loop(
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
                let failures = self.member_failures(passed, &mut state)?;
                match state.member {
                    _ if passed => self.mark(state.at - 1),
                    Some((name, _)) if self.collecting() => {
                        (0..failures).for_each(|_| self.sink.extra_node(self.instance, name));
                    }
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
                    self.sink.extra_node(self.instance, member.name_node);
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

    /// How many failures a member's block had: they are counted, not listed, and what their messages would list is taken
    /// off again.
    fn member_failures(&mut self, passed: bool, state: &mut LoopState<'a, I>) -> Result<u32, Halt> {
        if !self.collecting() {
            return Ok(0);
        }
        let failures = if passed { 0 } else { self.sink.union_len().max(1) };
        self.sink.drop_union();
        let (from, to) = (state.seen as u32, (state.seen >> 32) as u32);
        self.spend(u64::from(to - from) / 16)?;
        state.seen = self.sink.cut_extras(from, to).into();
        Ok(failures)
    }

    pub(super) fn unevaluated_items_loop(
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
                    Some((element, _)) if self.collecting() => self.sink.extra_node(self.instance, element),
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
}
