//! Rules that look at one value: types, sets, bounds, counts, patterns, formats.

use std::cmp::Ordering;

use callgate_vm::instance::View;
use callgate_vm::number::Number;
use callgate_vm::tape::Node;
use regex_syntax::hir::{Hir, Look};

use crate::ir::{Bound, Count, Rule};
use crate::pattern::translate;
use crate::subset::given::{Given, Kinds};
use crate::subset::{At, Compare};

/// An end of a range of numbers.
#[derive(Clone, Copy, Debug)]
pub(super) struct End<'d> {
    pub(super) number: Number<'d>,
    /// Whether the number itself is outside.
    pub(super) excluded: bool,
}

impl<'d> End<'d> {
    /// The end of a range of whole numbers, where it is told by a whole number itself.
    fn of_whole(self, lower: bool) -> End<'d> {
        let step = if lower { 1 } else { -1 };
        match self.number {
            Number::Int(int) if self.excluded => match int.checked_add(step) {
                Some(next) => End { number: Number::Int(next), excluded: false },
                None => self,
            },
            _ => self,
        }
    }

    /// How the ranges that start here compare: greater is narrower.
    fn compare_lower(self, other: End<'_>) -> Ordering {
        self.number.compare(other.number).then(self.excluded.cmp(&other.excluded))
    }

    /// How the ranges that end here compare: less is narrower.
    fn compare_upper(self, other: End<'_>) -> Ordering {
        self.number.compare(other.number).then(other.excluded.cmp(&self.excluded))
    }
}

impl<'d> Compare<'_, 'd> {
    /// Whether the rule follows from the facts, without a look at cases.
    pub(super) fn scalar_follows(&mut self, given: &Given<'d>, goal: At, rule: &Rule<'d>) -> bool {
        match rule {
            Rule::Type(types, _) => given.kinds.is_within(Kinds::of(*types)),
            Rule::Bound(bound, node) => self.is_bounded(given, *bound, self.number(goal, *node)),
            Rule::MultipleOf(node) => self.number(goal, *node).is_some_and(|goal| self.is_multiple(given, goal)),
            Rule::Count(count, len) => self.is_counted(given, *count, *len),
            Rule::ItemsEnd(len) => greatest_count(given, Count::MaxItems).is_some_and(|max| max <= *len),
            Rule::UniqueItems => {
                let is_unique = given.rules().any(|(_, rule)| matches!(rule, Rule::UniqueItems));
                is_unique || greatest_count(given, Count::MaxItems).is_some_and(|max| max <= 1)
            }
            Rule::Pattern(pattern) => {
                let source = self.pattern_source(goal, *pattern);
                given.rules().any(|(fact, rule)| match rule {
                    Rule::Pattern(pattern) => self.pattern_source(fact.at, *pattern) == source,
                    _ => false,
                })
            }
            Rule::Format(format, _) => {
                let draft = self.schema(goal).draft;
                given.rules().any(|(fact, rule)| {
                    matches!(rule, Rule::Format(known, _) if known == format) && fact.schema.draft == draft
                })
            }
            _ => false,
        }
    }

    /// The number at `node`, which is one of a keyword.
    pub(super) fn number(&self, at: At, node: Node) -> Option<Number<'d>> {
        match self.tape(at).view_node(node) {
            View::Number(number) => Some(number),
            _ => None,
        }
    }

    /// The narrowest lower or upper end that the facts tell.
    pub(super) fn end(&self, given: &Given<'d>, lower: bool) -> Option<End<'d>> {
        let mut narrowest: Option<End<'d>> = None;
        for (fact, rule) in given.rules() {
            let Rule::Bound(bound, node) = rule else {
                continue;
            };
            let (is_lower, excluded) = ends(*bound);
            let Some(number) = self.number(fact.at, *node).filter(|_| is_lower == lower) else {
                continue;
            };
            let end = End { number, excluded };
            let is_narrower = narrowest.is_none_or(|known| {
                if lower { end.compare_lower(known).is_gt() } else { end.compare_upper(known).is_lt() }
            });
            if is_narrower {
                narrowest = Some(end);
            }
        }
        let is_whole = !given.kinds.meets(Kinds::FRACTION);
        narrowest.map(|end| if is_whole { end.of_whole(lower) } else { end })
    }

    fn is_bounded(&self, given: &Given<'d>, bound: Bound, number: Option<Number<'d>>) -> bool {
        let (lower, excluded) = ends(bound);
        let (Some(known), Some(number)) = (self.end(given, lower), number) else {
            return false;
        };
        let wanted = End { number, excluded };
        let wanted = if given.kinds.meets(Kinds::FRACTION) { wanted } else { wanted.of_whole(lower) };
        if lower { known.compare_lower(wanted).is_ge() } else { known.compare_upper(wanted).is_le() }
    }

    fn is_multiple(&self, given: &Given<'d>, goal: Number<'d>) -> bool {
        // A decimal is whole by its double and a multiple by its digits: only a literal is surely a multiple of 1.
        let is_literal = given.kinds.and(Kinds::NUMBER).is_within(Kinds::LITERAL);
        if is_literal && Number::Int(1).is_multiple_of(goal) {
            return true;
        }
        given.rules().any(|(fact, rule)| match rule {
            Rule::MultipleOf(node) => self.number(fact.at, *node).is_some_and(|known| known.is_multiple_of(goal)),
            _ => false,
        })
    }

    fn is_counted(&self, given: &Given<'d>, count: Count, len: u32) -> bool {
        if count.is_minimum() {
            let least = least_count(given, count);
            len == 0 || least >= len || count == Count::MinLength && self.shortest_match(given) >= len
        } else {
            let max = match count {
                Count::MaxLength => greatest_count(given, count).into_iter().chain(self.longest_match(given)).min(),
                Count::MaxProperties => greatest_count(given, count).into_iter().chain(self.closed_len(given)).min(),
                _ => greatest_count(given, count),
            };
            max.is_some_and(|max| max <= len)
        }
    }

    /// How long a string can be by its patterns. Unit: characters, of which none has less than a byte.
    fn longest_match(&self, given: &Given<'d>) -> Option<u32> {
        let longest = self.hirs(given).into_iter().filter_map(|hir| {
            let properties = hir.properties();
            let is_whole =
                properties.look_set_prefix().contains(Look::Start) && properties.look_set_suffix().contains(Look::End);
            properties.maximum_len().filter(|_| is_whole)
        });
        longest.min().and_then(|bytes| u32::try_from(bytes).ok())
    }

    /// How short a string can be by its patterns. Unit: characters, of which each has four bytes at most.
    fn shortest_match(&self, given: &Given<'d>) -> u32 {
        let shortest = self.hirs(given).into_iter().filter_map(|hir| hir.properties().minimum_len());
        shortest.max().map_or(0, |bytes| u32::try_from(bytes.div_ceil(4)).unwrap_or(u32::MAX))
    }

    /// The patterns that need no backtracking, parsed.
    fn hirs(&self, given: &Given<'d>) -> Vec<Hir> {
        let sources = given.rules().filter_map(|(fact, rule)| match rule {
            Rule::Pattern(pattern) => Some(self.pattern_source(fact.at, *pattern)),
            _ => None,
        });
        sources.filter_map(|source| translate(source).ok()?.hir).collect()
    }

    /// How many members there can be where only known names are taken.
    fn closed_len(&self, given: &Given<'d>) -> Option<u32> {
        let closed = given.facts.iter().find(|fact| {
            let rest = crate::subset::given::additional(fact.schema).map(|place| fact.at.to(place));
            let is_closed = rest.is_some_and(|rest| self.is_false(rest));
            is_closed && fact.schema.pattern_properties().is_none_or(<[_]>::is_empty)
        })?;
        u32::try_from(closed.schema.properties().len()).ok()
    }

    /// Whether nothing of these kinds is left, as far as bounds and counts tell.
    pub(super) fn left(&self, given: &Given<'d>) -> Kinds {
        let mut kinds = given.kinds;
        if let (Some(lower), Some(upper)) = (self.end(given, true), self.end(given, false)) {
            let order = lower.number.compare(upper.number);
            if order.is_gt() || order.is_eq() && (lower.excluded || upper.excluded) {
                kinds = kinds.without(Kinds::NUMBER);
            }
        }
        let crossing = [
            (Count::MinLength, Count::MaxLength, Kinds::STRING),
            (Count::MinItems, Count::MaxItems, Kinds::ARRAY),
            (Count::MinProperties, Count::MaxProperties, Kinds::OBJECT),
        ];
        for (min, max, kind) in crossing {
            if greatest_count(given, max).is_some_and(|max| least_count(given, min) > max) {
                kinds = kinds.without(kind);
            }
        }
        kinds
    }
}

/// Which end of a range the bound is, and whether it excludes its number.
fn ends(bound: Bound) -> (bool, bool) {
    match bound {
        Bound::Minimum => (true, false),
        Bound::ExclusiveMinimum => (true, true),
        Bound::Maximum => (false, false),
        Bound::ExclusiveMaximum => (false, true),
    }
}

/// The greatest minimum that the facts tell.
pub(super) fn least_count(given: &Given<'_>, count: Count) -> u32 {
    let told = given.rules().filter_map(|(_, rule)| match rule {
        Rule::Count(known, len) if *known == count => Some(*len),
        Rule::Contains(_, min, _) if count == Count::MinItems => Some(*min),
        _ => None,
    });
    let required =
        if count == Count::MinProperties { u32::try_from(given.required_names().len()).unwrap_or(u32::MAX) } else { 0 };
    told.max().unwrap_or(0).max(required)
}

/// The least maximum that the facts tell.
pub(super) fn greatest_count(given: &Given<'_>, count: Count) -> Option<u32> {
    let told = given.rules().filter_map(|(_, rule)| match rule {
        Rule::Count(known, len) if *known == count => Some(*len),
        Rule::ItemsEnd(len) if count == Count::MaxItems => Some(*len),
        _ => None,
    });
    told.min()
}
