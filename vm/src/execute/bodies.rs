//! The bodies: one a row of the instruction table.

use super::skim::{Items, is_within};
use super::{Cursor, Flow, Idle, Into, MEMO_UNION, Machine, Sink, State, Step1, Surveyed, Use, verdict};
use crate::format::Format;
use crate::insn::{
    EnumId, Flags, FormatId, Len, ListId, NumberId, PatternId, SwitchId, TableId, Target, Types, ValueId,
};
use crate::instance::{Halt, Instance, View};
use crate::opcode::{Handler, Opcode, build};
use crate::unit::{Extra, StrId};

impl<'a, I: Instance<'a>, S: Sink<'a, I>> Handler for Machine<'_, 'a, I, S> {
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
        let state = &mut State { seen: self.sink.noted_len().into(), ..State::default() };
        self.enter(target, self.node, Into::Place, Use::Failures, state, flags.has(Flags::TRACK))?;
        Ok(Flow::Entered)
    }

    fn as_judged(&mut self, _: Types, _: Types, _: Target) -> Step1 {
        Ok(Flow::Next)
    }

    fn survey(&mut self, table: TableId) -> Step1 {
        if self.collecting() && self.sink.searches() && self.can_ask() {
            self.surveyed = Surveyed::NOTHING;
            if self.ask(|machine| machine.survey_members(table))?.is_none() {
                self.surveyed = Surveyed::NOTHING;
            }
        }
        Ok(Flow::Next)
    }

    fn never(&mut self) -> Step1 {
        Ok(self.fail())
    }

    fn skip_type(&mut self, types: Types, to: Target) -> Step1 {
        Ok(if self.instance.is_of(self.node, types)? { Flow::Goto(to.pc()) } else { Flow::Next })
    }

    #[inline]
    fn type_is(&mut self, types: Types) -> Step1 {
        let holds = self.instance.is_of(self.node, types)?;
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
                unit.has_string(set, text.plain(self.scratch.patterns.plain()))
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
        self.number(|number, unit| is_within(unit, build::minimum(bound), number))
    }

    fn maximum(&mut self, bound: NumberId) -> Step1 {
        self.number(|number, unit| is_within(unit, build::maximum(bound), number))
    }

    fn exclusive_minimum(&mut self, bound: NumberId) -> Step1 {
        self.number(|number, unit| is_within(unit, build::exclusive_minimum(bound), number))
    }

    fn exclusive_maximum(&mut self, bound: NumberId) -> Step1 {
        self.number(|number, unit| is_within(unit, build::exclusive_maximum(bound), number))
    }

    fn in_range(&mut self, flags: Flags, bounds: ListId) -> Step1 {
        self.number(|number, unit| is_within(unit, build::in_range(flags, bounds), number))
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
        if let Some(repeated) = self.has_equal_scalars()? {
            return self.fail_unless(!repeated);
        }
        if let Some(repeated) = self.has_equal_among_few()? {
            return self.fail_unless(!repeated);
        }
        let from = self.stack()?.nodes.len();
        let repeated = self.has_equal_elements(from);
        self.stack()?.nodes.truncate(from);
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
        if self.is_idle(Idle::REQUIRED) {
            return Ok(Flow::Next);
        }
        self.spend(self.unit.table(table.0).names.len() as u64 / 64)?;
        if let Some(missing) = self.surveyed.missing.filter(|_| self.collecting()) {
            return Ok(self.missing_names(table, missing));
        }
        let Some(mut state) = self.open_members()? else {
            return Ok(Flow::Next);
        };
        let unit = self.unit;
        let table = unit.table(table.0);
        let missing = |seen: u64| !seen & u64::MAX.checked_shr(64 - table.names.len() as u32).unwrap_or(0);
        if table.names.len() > 64 {
            return self.required_of_many(table, state);
        }
        let mut seen = 0_u64;
        while let Some(member) = self.next_member(&mut state)? {
            if let Some((at, _)) = self.find_name(table, member.name) {
                seen |= 1 << at;
            }
        }
        let (mut flow, mut left) = (Flow::Next, missing(seen));
        while left != 0 {
            let at = left.trailing_zeros();
            flow = self.lacks(at, table.names[at as usize].name);
            if !self.noting() {
                break;
            }
            left &= left - 1;
        }
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
                flow = self.lacks(at as u32, StrId(*name));
                if !self.noting() {
                    break;
                }
            }
        }
        Ok(flow)
    }

    fn object_table(&mut self, table: TableId) -> Step1 {
        if self.nested_left > 0 && !self.collecting() {
            let passed = self.object_table_nested(table)?;
            return self.fail_unless(passed);
        }
        if !self.is_object()? {
            return Ok(Flow::Next);
        }
        self.check_depth()?;
        let cursor = Cursor::Members(self.instance.members(self.node));
        self.object_table_loop(table.0, State { cursor, ..State::default() }, None)
    }

    fn properties(&mut self, table: TableId) -> Step1 {
        if self.is_idle(Idle::PROPERTIES) {
            return Ok(Flow::Next);
        }
        let unit = self.unit;
        let names = unit.table(table.0);
        let mut explained = None;
        if self.collecting()
            && let Some(suspect) = self.surveyed.suspect.take()
            && let Some((at, passed, speaks)) = self.explain_suspect(names, &suspect)?
        {
            if speaks {
                return Ok(Flow::Fail);
            }
            explained = Some((at, passed));
        }
        let Some(mut state) = self.open_members()? else {
            return Ok(Flow::Next);
        };
        let from = self.stack()?.slots.len();
        let (mut next, mut sorted) = (0, true);
        while let Some(member) = self.next_member(&mut state)? {
            if let Some((at, _)) = self.find_name(names, member.name)
                && explained.is_none_or(|(other, _)| other != at)
            {
                sorted &= at >= next;
                next = at;
                self.stack()?.slots.push((at as u32, member.name_node, member.value));
            }
        }
        if !sorted {
            self.stack()?.slots[from..].sort_unstable_by_key(|(at, ..)| *at);
        }
        let failed = explained.is_some_and(|(_, passed)| !passed);
        self.properties_loop(table.0, State { seen: from as u64, failed, ..State::default() }, None)
    }

    fn pattern_properties(&mut self, pairs: ListId) -> Step1 {
        if self.is_idle(Idle::PATTERNS) {
            return Ok(Flow::Next);
        }
        match self.open_members()? {
            Some(state) => self.pattern_properties_loop(pairs.0, state, None),
            None => Ok(Flow::Next),
        }
    }

    fn additional_properties(&mut self, flags: Flags, table: TableId) -> Step1 {
        if self.is_idle(Idle::EXTRA) {
            return Ok(Flow::Next);
        }
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

    fn items(&mut self, admit: Types, start: Len, target: Target) -> Step1 {
        self.run_items(Items::of(self.unit, build::items(admit, start, target)))
    }

    fn counted_items(&mut self, list: ListId) -> Step1 {
        self.run_items(Items::of(self.unit, build::counted_items(list)))
    }

    fn contains(&mut self, flags: Flags, list: ListId) -> Step1 {
        match self.open_elements()? {
            Some(state) => self.contains_loop(flags, list.0, state, None),
            None => Ok(Flow::Next),
        }
    }

    fn any_of(&mut self, flags: Flags, branches: ListId) -> Step1 {
        if self.is_lenient() {
            return self.lenient_union_loop(Opcode::AnyOf, branches.0, State::default(), None);
        }
        // Code that only marks ends its unions without a word.
        if self.collecting() && !flags.has(Flags::SOFT) {
            self.sink.open_union();
        }
        self.any_of_loop(flags, branches.0, State::default(), None)
    }

    fn one_of(&mut self, flags: Flags, branches: ListId) -> Step1 {
        if self.is_lenient() {
            return self.lenient_union_loop(Opcode::OneOf, branches.0, State::default(), None);
        }
        if self.collecting() {
            self.sink.open_union();
        }
        self.one_of_loop(flags, branches.0, State::default(), None)
    }

    fn switch_tag(&mut self, switch: SwitchId) -> Step1 {
        let unit = self.unit;
        let switch = &unit.parts.switches[switch.0 as usize];
        if !self.is_object()? {
            return Ok(self.fail());
        }
        self.check_depth()?;
        let Some(tag) = self.member_value(unit.str(switch.name))? else {
            return Ok(self.fail());
        };
        let View::String(text) = self.instance.view(tag)? else {
            return Ok(self.fail());
        };
        self.spend(text.raw_bytes() as u64 / 16)?;
        match unit.branch(switch, text.plain(self.scratch.patterns.plain())) {
            Some(target) => self.call(target),
            None => Ok(self.fail()),
        }
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
        let next = Target::new(self.pc + 1, false, false);
        self.enter(next, self.node, Into::Place, Use::Failures, &mut State::default(), false)?;
        self.failed = failed;
        self.push_set(len.div_ceil(64) as u32);
        Ok(Flow::Entered)
    }

    fn track_close(&mut self, flags: Flags) -> Step1 {
        // The frame is that of `track_open`: blocks nest.
        if let Some(frame) = self.stack()?.frames.pop() {
            self.sink.leave_block(self.fuel);
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
            if table.extra != Extra::Skip || self.is_claimed(table, member.name)? {
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
