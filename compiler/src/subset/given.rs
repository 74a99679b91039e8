//! What is given of an instance: the schemas that it satisfies, taken apart.
//!
//! `$ref` and `allOf` are followed, so that every fact is a schema object of which all rules hold. Unions are kept aside as
//! cases, of which one holds; a proof takes them one by one where it must. What is left out here (dynamic references,
//! `unevaluated*` beside applicators) makes less known of the instance, and never more than is true.

use callgate_vm::insn::Types;
use callgate_vm::instance::View;
use callgate_vm::number::Number;
use callgate_vm::text::Text;

use crate::ir::{Rule, Schema};
use crate::lower::accept::is_static;
use crate::pattern_cache::PatternNo;
use crate::refs::Place;
use crate::subset::{At, Compare};

/// Facts that one instance may have; more are left out. Unit: schemas.
const FACTS_MAX: usize = 512;

/// Names that are looked through one by one.
const FEW: usize = 16;

/// A set of kinds of values that no rule tells apart further.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Kinds(u8);

impl Kinds {
    pub(super) const NONE: Kinds = Kinds(0);
    pub(super) const ALL: Kinds = Kinds(0xff);
    pub(super) const NULL: Kinds = Kinds(1);
    pub(super) const BOOLEAN: Kinds = Kinds(2);
    /// A number written without fraction and exponent.
    pub(super) const LITERAL: Kinds = Kinds(4);
    /// Another number without a fraction, as `1.0`.
    pub(super) const WHOLE: Kinds = Kinds(8);
    pub(super) const FRACTION: Kinds = Kinds(16);
    pub(super) const STRING: Kinds = Kinds(32);
    pub(super) const ARRAY: Kinds = Kinds(64);
    pub(super) const OBJECT: Kinds = Kinds(128);
    pub(super) const NUMBER: Kinds = Kinds(4 | 8 | 16);
    pub(super) const INTEGER: Kinds = Kinds(4 | 8);
    /// Kinds of few values.
    pub(super) const FINITE: Kinds = Kinds(1 | 2);

    /// The kinds that are told apart by `type`, numbers as one.
    pub(super) const GROUPS: [Kinds; 6] =
        [Kinds::NULL, Kinds::BOOLEAN, Kinds::NUMBER, Kinds::STRING, Kinds::ARRAY, Kinds::OBJECT];

    const EACH: [(Kinds, Types); 8] = [
        (Kinds::NULL, Types::NULL),
        (Kinds::BOOLEAN, Types::BOOLEAN),
        (Kinds::LITERAL, Types::WHOLE),
        (Kinds::WHOLE, Types(Types::INTEGER.0 | Types::NUMBER.0)),
        (Kinds::FRACTION, Types::NUMBER),
        (Kinds::STRING, Types::STRING),
        (Kinds::ARRAY, Types::ARRAY),
        (Kinds::OBJECT, Types::OBJECT),
    ];

    /// Those that `type` lets through.
    pub(super) fn of(types: Types) -> Kinds {
        let kinds = Kinds::EACH.iter().filter(|(_, of)| of.meets(types));
        Kinds(kinds.fold(0, |all, (kind, _)| all | kind.0))
    }

    /// Those of the values that are equal to this one: `1` and `1.0` are.
    fn equal_to(view: View<'_>) -> Kinds {
        match view {
            View::Number(number) if number.is_integral() => Kinds::INTEGER,
            view => Kinds::of(view.types()),
        }
    }

    pub(super) fn meets(self, other: Kinds) -> bool {
        self.0 & other.0 != 0
    }

    pub(super) fn is_empty(self) -> bool {
        self.0 == 0
    }

    pub(super) fn is_within(self, other: Kinds) -> bool {
        self.0 & !other.0 == 0
    }

    #[must_use]
    pub(super) fn and(self, other: Kinds) -> Kinds {
        Kinds(self.0 & other.0)
    }

    #[must_use]
    pub(super) fn or(self, other: Kinds) -> Kinds {
        Kinds(self.0 | other.0)
    }

    #[must_use]
    pub(super) fn without(self, other: Kinds) -> Kinds {
        Kinds(self.0 & !other.0)
    }

    pub(super) fn bits(self) -> u8 {
        self.0
    }

    /// The kinds by the names of their types.
    pub(super) fn names(self) -> String {
        let number = if self.meets(Kinds::FRACTION) { "number" } else { "integer" };
        let names = ["null", "boolean", number, "string", "array", "object"];
        let present = Kinds::GROUPS.iter().zip(names).filter(|(group, _)| self.meets(**group));
        present.map(|(_, name)| name).collect::<Vec<_>>().join(", ")
    }
}

/// A schema object of which all rules hold.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fact<'d> {
    pub(super) at: At,
    pub(super) schema: &'d Schema<'d>,
}

/// A case of a union: all of these hold, and none of those.
#[derive(Clone, Debug, Default)]
pub(super) struct Case {
    pub(super) all: Vec<At>,
    pub(super) nots: Vec<At>,
}

/// What is known of an instance.
#[derive(Clone, Debug)]
pub(super) struct Given<'d> {
    pub(super) facts: Vec<Fact<'d>>,
    /// Of each, one case holds.
    pub(super) unions: Vec<Vec<Case>>,
    /// Schemas that the instance does not satisfy.
    pub(super) nots: Vec<At>,
    /// Members that it has, beside those that the facts require.
    pub(super) required: Vec<&'d str>,
    /// What it may be.
    pub(super) kinds: Kinds,
}

impl<'d> Given<'d> {
    /// Nothing.
    pub(super) fn anything() -> Self {
        Given { facts: Vec::new(), unions: Vec::new(), nots: Vec::new(), required: Vec::new(), kinds: Kinds::ALL }
    }

    /// What no instance satisfies.
    pub(super) fn nothing() -> Self {
        Given { kinds: Kinds::NONE, ..Given::anything() }
    }

    /// As it is, for the instances that are of the kinds.
    pub(super) fn of_kinds(&self, kinds: Kinds) -> Given<'d> {
        Given { kinds: self.kinds.and(kinds), ..self.clone() }
    }

    pub(super) fn rules(&self) -> impl Iterator<Item = (Fact<'d>, &'d Rule<'d>)> + '_ {
        self.facts.iter().flat_map(|fact| fact.schema.rules.iter().map(|at| (*fact, &at.rule)))
    }

    /// The names that the instance has members of, sorted.
    pub(super) fn required_names(&self) -> Vec<&'d str> {
        let mut names = self.required.clone();
        for (_, rule) in self.rules() {
            if let Rule::Required(more) = rule {
                names.extend(*more);
            }
        }
        names.sort_unstable();
        names.dedup();
        names
    }

    /// Names that some fact says something about, sorted.
    pub(super) fn known_names(&self) -> Vec<&'d str> {
        let mut names: Vec<&str> =
            self.facts.iter().flat_map(|fact| fact.schema.properties()).map(|(name, _)| *name).collect();
        names.sort_unstable();
        names.dedup();
        names
    }
}

/// A member's name.
#[derive(Clone, Copy, Debug)]
pub(super) enum Name<'n, 'd> {
    /// This one.
    Known(&'d str),
    /// Any that no `properties` has, that matches the pattern, if there is one, and none of the others.
    Open { matching: Option<&'n str>, not_matching: &'n [&'n str] },
}

/// An element's place.
#[derive(Clone, Copy, Debug)]
pub(super) enum Index {
    /// This one.
    At(u32),
    /// Any from there on, where no prefix reaches.
    From(u32),
}

impl<'d> Compare<'_, 'd> {
    /// What is known of an instance that satisfies all of `schemas`.
    pub(super) fn given(&mut self, schemas: &[At]) -> Given<'d> {
        let mut given = Given::anything();
        self.add(&mut given, schemas);
        given
    }

    /// `given`, and the case as well.
    pub(super) fn given_case(&mut self, given: &Given<'d>, case: &Case) -> Given<'d> {
        let mut more = given.clone();
        more.nots.extend(&case.nots);
        self.add(&mut more, &case.all);
        more
    }

    /// The cases of the first union, each with all the rest that is given.
    pub(super) fn split(&mut self, given: &Given<'d>) -> Option<Vec<Given<'d>>> {
        let mut rest = given.clone();
        if rest.unions.is_empty() {
            return None;
        }
        let cases = rest.unions.remove(0);
        Some(cases.iter().map(|case| self.given_case(&rest, case)).collect())
    }

    fn add(&mut self, given: &mut Given<'d>, schemas: &[At]) {
        let mut open: Vec<At> = schemas.iter().rev().copied().collect();
        while let Some(at) = open.pop() {
            if given.facts.iter().any(|fact| fact.at == at) || given.facts.len() == FACTS_MAX {
                continue;
            }
            let schema = self.schema(at);
            given.facts.push(Fact { at, schema });
            if schema.always == Some(false) {
                given.kinds = Kinds::NONE;
            }
            for rule in schema.rules {
                self.add_rule(given, at, &rule.rule, &mut open);
            }
        }
    }

    fn add_rule(&mut self, given: &mut Given<'d>, at: At, rule: &Rule<'d>, open: &mut Vec<At>) {
        let case = |all: &[Place], nots: &[Place]| Case {
            all: all.iter().map(|place| at.to(*place)).collect(),
            nots: nots.iter().map(|place| at.to(*place)).collect(),
        };
        match rule {
            Rule::Type(types, _) => given.kinds = given.kinds.and(Kinds::of(*types)),
            Rule::Enum(node) => {
                let tape = self.tape(at);
                let values = tape.element_nodes(*node).map(|value| Kinds::equal_to(tape.view_node(value)));
                given.kinds = given.kinds.and(values.fold(Kinds::NONE, Kinds::or));
            }
            Rule::Const(node) => {
                given.kinds = given.kinds.and(Kinds::equal_to(self.tape(at).view_node(*node)));
            }
            // Exact, where whether a decimal is whole is told by its double.
            Rule::MultipleOf(node) => {
                if let View::Number(Number::Int(_)) = self.tape(at).view_node(*node) {
                    given.kinds = given.kinds.without(Kinds::FRACTION);
                }
            }
            Rule::Ref(place) | Rule::DynamicRef(place, None) | Rule::RecursiveRef(place, false) => {
                open.push(at.to(*place));
            }
            Rule::AllOf(places) => open.extend(places.iter().map(|place| at.to(*place))),
            Rule::AnyOf(places) => given.unions.push(places.iter().map(|place| case(&[*place], &[])).collect()),
            Rule::OneOf(places) => {
                let others = |chosen: usize| places.iter().enumerate().filter(move |(other, _)| *other != chosen);
                let cases = places.iter().enumerate().map(|(chosen, place)| {
                    case(&[*place], &others(chosen).map(|(_, place)| *place).collect::<Vec<_>>())
                });
                given.unions.push(cases.collect());
            }
            Rule::If(condition, then, otherwise) => {
                let holds: Vec<Place> = [Some(*condition), *then].into_iter().flatten().collect();
                let fails: Vec<Place> = otherwise.iter().copied().collect();
                given.unions.push(vec![case(&holds, &[]), case(&fails, &[*condition])]);
            }
            Rule::Not(place) => given.nots.push(at.to(*place)),
            _ => {}
        }
    }

    // --- children --------------------------------------------------------------------------------------------

    /// What is known of a member of that name, if the instance has one.
    pub(super) fn member(&mut self, given: &Given<'d>, name: Name<'_, 'd>) -> Given<'d> {
        let (mut schemas, mut unions) = (Vec::new(), Vec::new());
        for fact in &given.facts {
            self.charge(fact.schema.pattern_properties().map_or(0, <[_]>::len));
            if !self.takes_name(*fact, name) {
                return Given::nothing();
            }
            match name {
                Name::Known(name) => self.known_member(*fact, name, &mut schemas),
                Name::Open { matching, not_matching } => {
                    self.open_member(*fact, matching, not_matching, &mut schemas, &mut unions);
                }
            }
        }
        let mut member = self.given(&schemas);
        member.unions.append(&mut unions);
        member
    }

    /// Whether `propertyNames` lets the name be.
    fn takes_name(&mut self, fact: Fact<'d>, name: Name<'_, 'd>) -> bool {
        let Some(Rule::PropertyNames(place)) = fact.schema.rule(|rule| matches!(rule, Rule::PropertyNames(_))) else {
            return true;
        };
        let names = fact.at.to(*place);
        match name {
            Name::Known(name) => self.accepts_string(names, name) != Some(false),
            Name::Open { .. } => self.given(&[names]).kinds.meets(Kinds::STRING),
        }
    }

    fn known_member(&mut self, fact: Fact<'d>, name: &str, schemas: &mut Vec<At>) {
        let own = self.property(fact.at, fact.schema, name);
        let mut claimed = own.is_some();
        schemas.extend(own.map(|place| fact.at.to(place)));
        for (pattern, place) in fact.schema.pattern_properties().unwrap_or_default() {
            match self.matches(fact.at, *pattern, name) {
                Some(true) => schemas.push(fact.at.to(*place)),
                Some(false) => continue,
                // It may, or it may not: nothing is known of the rest either.
                None => {}
            }
            claimed = true;
        }
        if !claimed {
            schemas.extend(additional(fact.schema).map(|place| fact.at.to(place)));
        }
    }

    /// The schema's own property of that name.
    pub(super) fn property(&mut self, at: At, schema: &Schema<'d>, name: &str) -> Option<Place> {
        let list = schema.properties();
        if list.len() <= FEW {
            return list.iter().find(|(own, _)| *own == name).map(|(_, place)| *place);
        }
        let by_name = self.properties.entry(at).or_insert_with(|| list.iter().copied().collect());
        by_name.get(name).copied()
    }

    fn open_member(
        &mut self,
        fact: Fact<'d>,
        matching: Option<&str>,
        not_matching: &[&str],
        schemas: &mut Vec<At>,
        unions: &mut Vec<Vec<Case>>,
    ) {
        let patterns = fact.schema.pattern_properties().unwrap_or_default();
        let rest = additional(fact.schema).map(|place| fact.at.to(place));
        if patterns.is_empty() {
            schemas.extend(rest);
            return;
        }
        let mut cases = Vec::new();
        for (pattern, place) in patterns {
            let source = self.pattern_source(fact.at, *pattern);
            if matching == Some(source) {
                schemas.push(fact.at.to(*place));
                return;
            }
            if !not_matching.contains(&source) {
                cases.push(Case { all: vec![fact.at.to(*place)], nots: Vec::new() });
            }
        }
        // Where the rest is free, the union says nothing.
        if let Some(rest) = rest {
            cases.push(Case { all: vec![rest], nots: Vec::new() });
            unions.push(cases);
        }
    }

    /// What is known of an element at that place, if the instance has one.
    pub(super) fn element(&mut self, given: &Given<'d>, index: Index) -> Given<'d> {
        let (Index::At(at) | Index::From(at)) = index;
        let mut schemas = Vec::new();
        for (fact, rule) in given.rules() {
            match (rule, index) {
                (Rule::ItemsEnd(end), _) if at >= *end => return Given::nothing(),
                (Rule::Prefix(places), Index::At(at)) => {
                    schemas.extend(places.get(at as usize).map(|place| fact.at.to(*place)));
                }
                (Rule::Items(start, place), _) if at >= *start => schemas.push(fact.at.to(*place)),
                (Rule::Count(crate::ir::Count::MaxItems, max), _) if at >= *max => return Given::nothing(),
                _ => {}
            }
        }
        self.given(&schemas)
    }

    /// Whether the pattern finds the name; `None` where the search does not come to an end.
    pub(super) fn matches(&mut self, at: At, pattern: PatternNo, name: &str) -> Option<bool> {
        let pattern = std::sync::Arc::clone(self.models[at.side as usize].pattern(pattern));
        pattern.is_match(Text::plain_text(name), &mut self.patterns).ok()
    }
}

/// The schema of members that nothing else names.
pub(super) fn additional(schema: &Schema<'_>) -> Option<Place> {
    schema.rules.iter().find_map(|at| match &at.rule {
        Rule::AdditionalProperties(place) => Some(*place),
        rule @ Rule::UnevaluatedProperties(place) if is_static(schema, rule) => Some(*place),
        _ => None,
    })
}
