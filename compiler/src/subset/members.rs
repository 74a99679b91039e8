//! Rules about members and elements.

use crate::ir::{Count, Dependency, Rule, Schema};
use crate::pattern_cache::PatternNo;
use crate::refs::Place;
use crate::subset::given::{Case, Given, Index, Kinds, Name};
use crate::subset::scalar::{greatest_count, least_count};
use crate::subset::witness::To;
use crate::subset::{At, Compare, OBSTACLES_MAX};

/// Elements of a prefix that are compared one by one; beyond, nothing is decided.
const PREFIX_MAX: u32 = 1_024;

impl<'d> Compare<'_, 'd> {
    // --- objects ---------------------------------------------------------------------------------------------

    pub(super) fn required(&mut self, given: &Given<'d>, goal: At, names: &[&'d str]) -> bool {
        let known = given.required_names();
        let mut all = true;
        for name in names.iter().filter(|name| known.binary_search(name).is_err()) {
            all &= self.obstacle_of_required(given, goal, name);
            if self.asking > 0 || self.obstacles.len() >= OBSTACLES_MAX {
                return false;
            }
        }
        all
    }

    pub(super) fn dependencies(
        &mut self,
        given: &Given<'d>,
        goal: At,
        rule: &Rule<'d>,
        list: &[(&'d str, Dependency<'d>)],
    ) -> bool {
        let mut all = true;
        for (name, needed) in list {
            let present = self.with_member(given, name);
            if self.ask(|compare| compare.is_impossible(&present)) {
                continue;
            }
            all &= match needed {
                Dependency::Names(names) => {
                    let known = present.required_names();
                    names.iter().all(|name| known.binary_search(name).is_ok())
                        || self.obstacle_of_rule(&present, goal, rule)
                }
                Dependency::Schema(place) => self.implies(&present, goal.to(*place)),
            };
        }
        all
    }

    /// What is given of those instances that have the member: what depends on it as well.
    fn with_member(&mut self, given: &Given<'d>, name: &'d str) -> Given<'d> {
        let mut present = given.clone();
        present.required.push(name);
        let mut case = Case::default();
        for (fact, rule) in given.rules() {
            let Rule::Dependencies(list) = rule else {
                continue;
            };
            for (_, needed) in list.iter().filter(|(on, _)| *on == name) {
                match needed {
                    Dependency::Names(names) => present.required.extend(*names),
                    Dependency::Schema(place) => case.all.push(fact.at.to(*place)),
                }
            }
        }
        self.given_case(&present, &case)
    }

    pub(super) fn properties(&mut self, given: &Given<'d>, goal: At, list: &[(&'d str, Place)]) -> bool {
        let mut all = true;
        for (name, place) in list {
            all &= self.known_member_satisfies(given, goal, name, goal.to(*place));
        }
        all
    }

    fn known_member_satisfies(&mut self, given: &Given<'d>, parent: At, name: &'d str, goal: At) -> bool {
        let member = self.member(given, Name::Known(name));
        let is_fine = self.ask(|compare| compare.is_impossible(&member));
        is_fine || self.below((given, parent, To::Member(name)), &member, goal)
    }

    pub(super) fn pattern_properties(&mut self, given: &Given<'d>, goal: At, list: &[(PatternNo, Place)]) -> bool {
        let names = given.known_names();
        let mut all = true;
        for (pattern, place) in list {
            self.charge(names.len());
            for name in &names {
                if self.matches(goal, *pattern, name) != Some(false) {
                    all &= self.known_member_satisfies(given, goal, name, goal.to(*place));
                }
            }
            let source = self.pattern_source(goal, *pattern);
            let member = self.member(given, Name::Open { matching: Some(source), not_matching: &[] });
            let is_fine = self.ask(|compare| compare.is_impossible(&member));
            let name = if self.asking > 0 { "" } else { self.name_matching(source) };
            all &= is_fine || self.below((given, goal, To::OpenMember(name)), &member, goal.to(*place));
        }
        all
    }

    /// Members that neither the goal's `properties` name nor its patterns find.
    pub(super) fn additional_properties(
        &mut self,
        given: &Given<'d>,
        goal: At,
        schema: &Schema<'d>,
        place: Place,
    ) -> bool {
        let rest = goal.to(place);
        let own = schema.properties();
        let patterns = schema.pattern_properties().unwrap_or_default();
        let mut all = true;
        for name in given.known_names() {
            let is_own = self.property(goal, schema, name).is_some();
            if is_own || patterns.iter().any(|(pattern, _)| self.matches(goal, *pattern, name) == Some(true)) {
                continue;
            }
            all &= self.known_member_satisfies(given, goal, name, rest);
        }
        let sources: Vec<&str> = patterns.iter().map(|(pattern, _)| self.pattern_source(goal, *pattern)).collect();
        let member = self.member(given, Name::Open { matching: None, not_matching: &sources });
        let is_fine = self.ask(|compare| compare.is_impossible(&member));
        let own: Vec<&str> = own.iter().map(|(name, _)| *name).collect();
        let name = if self.asking > 0 { "" } else { self.name_unknown(given, &own) };
        all &= is_fine || self.below((given, goal, To::OpenMember(name)), &member, rest);
        all
    }

    pub(super) fn property_names(&mut self, given: &Given<'d>, goal: At, rule: &Rule<'d>, place: Place) -> bool {
        let goal_names = goal.to(place);
        let told: Vec<At> = given
            .rules()
            .filter_map(|(fact, rule)| match rule {
                Rule::PropertyNames(place) => Some(fact.at.to(*place)),
                _ => None,
            })
            .collect();
        let names = self.given(&told).of_kinds(Kinds::STRING);
        if self.ask(|compare| compare.implies(&names, goal_names)) {
            return true;
        }
        let open = self.member(given, Name::Open { matching: None, not_matching: &[] });
        let is_closed = self.ask(|compare| compare.is_impossible(&open));
        let all_fit = is_closed
            && given.known_names().into_iter().all(|name| {
                let member = self.member(given, Name::Known(name));
                self.accepts_string(goal_names, name) == Some(true)
                    || self.ask(|compare| compare.is_impossible(&member))
            });
        all_fit || self.obstacle_of_rule(given, goal, rule)
    }

    // --- arrays ----------------------------------------------------------------------------------------------

    pub(super) fn prefix(&mut self, given: &Given<'d>, goal: At, places: &[Place]) -> bool {
        let mut all = true;
        for (at, place) in (0..).zip(places) {
            all &= self.element_satisfies(given, goal, Index::At(at), goal.to(*place));
        }
        all
    }

    pub(super) fn items(&mut self, given: &Given<'d>, goal: At, start: u32, place: Place) -> bool {
        let element = goal.to(place);
        let rest = given.rules().fold(start, |rest, (_, rule)| match rule {
            Rule::Prefix(places) => rest.max(u32::try_from(places.len()).unwrap_or(u32::MAX)),
            Rule::Items(start, _) | Rule::ItemsEnd(start) => rest.max(*start),
            _ => rest,
        });
        if rest - start > PREFIX_MAX {
            return self.not_decided(goal, "too many elements are told apart");
        }
        let mut all = true;
        for at in start..rest {
            all &= self.element_satisfies(given, goal, Index::At(at), element);
        }
        self.element_satisfies(given, goal, Index::From(rest), element) && all
    }

    fn element_satisfies(&mut self, given: &Given<'d>, parent: At, index: Index, goal: At) -> bool {
        let element = self.element(given, index);
        let (Index::At(at) | Index::From(at)) = index;
        let is_fine = self.ask(|compare| compare.is_impossible(&element));
        is_fine || self.below((given, parent, To::Element(at)), &element, goal)
    }

    pub(super) fn contains(&mut self, given: &Given<'d>, goal: At, place: Place, (min, max): (u32, u32)) -> bool {
        let goal = goal.to(place);
        let most = greatest_count(given, Count::MaxItems);
        let is_at_most =
            max == u32::MAX || most.is_some_and(|most| most <= max) || self.contains_at_most(given, goal, max);
        is_at_most && (min == 0 || self.contains_at_least(given, goal, min))
    }

    fn contains_at_most(&mut self, given: &Given<'d>, goal: At, max: u32) -> bool {
        let told: Vec<At> = given
            .rules()
            .filter_map(|(fact, rule)| match rule {
                Rule::Contains(place, _, known) if *known <= max => Some(fact.at.to(*place)),
                _ => None,
            })
            .collect();
        // What the goal counts must all be counted by what is given.
        let element = self.given(&[goal]);
        told.into_iter().any(|known| self.ask(|compare| compare.below((given, goal, To::Element(0)), &element, known)))
    }

    fn contains_at_least(&mut self, given: &Given<'d>, goal: At, min: u32) -> bool {
        let told: Vec<At> = given
            .rules()
            .filter_map(|(fact, rule)| match rule {
                Rule::Contains(place, known, _) if *known >= min => Some(fact.at.to(*place)),
                _ => None,
            })
            .collect();
        let is_counted = told.into_iter().any(|known| {
            let element = self.given(&[known]);
            self.ask(|compare| compare.below((given, goal, To::Element(0)), &element, goal))
        });
        is_counted
            || least_count(given, Count::MinItems) >= min
                && self.ask(|compare| compare.items(given, goal, 0, goal.place))
    }
}
