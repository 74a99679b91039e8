//! Whether two schemas have the same rules: what differs between them says nothing about validity.
//!
//! Rules are held side by side, whatever the order in which they stand; annotations are no rules. A pair that comes up
//! again is taken as the same: a difference would show elsewhere.

use ahash::{HashMap, HashSet};
use callgate_vm::tape::Node;

use crate::ir::{Dependency, Rule};
use crate::pattern_cache::PatternNo;
use crate::refs::{Place, ResourceId};
use crate::subset::values::same_value;
use crate::subset::{At, Compare, NAMES_PER_STEP};

/// Pairs of subschemas that are held side by side for one question. Unit: pairs.
const PAIRS_MAX: usize = 50_000;

/// Pairs that count as a step of the proof.
const PAIRS_PER_STEP: usize = 8;

/// Pairs that are yet to be held side by side.
struct Walk {
    open: Vec<(At, At)>,
    /// Which resource of the one is which of the other; only where dynamic references are followed.
    resources: Option<Vec<(ResourceId, ResourceId)>>,
}

impl<'d> Compare<'_, 'd> {
    /// Whether the two subschemas surely mean the same. Dynamic references do not where only a part is looked at.
    pub(super) fn is_same_place(&mut self, a: At, b: At) -> bool {
        if a == b {
            return true;
        }
        if let Some(known) = self.same.get(&(a, b)) {
            return *known;
        }
        let is_same = self.walk(Walk { open: vec![(a, b)], resources: None });
        self.same.insert((a, b), is_same);
        is_same
    }

    /// Whether the two whole schemas surely mean the same, dynamic references included.
    pub(super) fn same_documents(&mut self, a: At, b: At) -> bool {
        self.walk(Walk { open: vec![(a, b)], resources: Some(Vec::new()) })
    }

    fn walk(&mut self, mut walk: Walk) -> bool {
        let mut seen: HashSet<(At, At)> = HashSet::default();
        while let Some((a, b)) = walk.open.pop() {
            if !seen.insert((a, b)) {
                continue;
            }
            self.charge(NAMES_PER_STEP / PAIRS_PER_STEP);
            if seen.len() > PAIRS_MAX || !self.same_schema(a, b, &mut walk) {
                return false;
            }
        }
        true
    }

    fn same_schema(&mut self, a: At, b: At, walk: &mut Walk) -> bool {
        if a == b {
            return true;
        }
        let (one, other) = (self.schema(a), self.schema(b));
        if one.draft != other.draft || one.always != other.always || one.rules.len() != other.rules.len() {
            return false;
        }
        if walk.resources.is_some() && !self.same_resources(a, b, walk) {
            return false;
        }
        one.rules.iter().all(|rule| {
            let same = other.rules.iter().find(|other| other.keyword == rule.keyword);
            same.is_some_and(|other| self.same_rule((a, &rule.rule), (b, &other.rule), walk))
        })
    }

    /// Whether what the dynamic scope sees in both is the same.
    fn same_resources(&mut self, a: At, b: At, walk: &mut Walk) -> bool {
        let id = |at: At| self.models[at.side as usize].registry.site(at.place).map(|site| site.resource);
        let (Some(one), Some(other), Some(pairs)) = (id(a), id(b), &mut walk.resources) else {
            return false;
        };
        if let Some(known) = pairs.iter().find(|(known, with)| *known == one || *with == other) {
            return *known == (one, other);
        }
        pairs.push((one, other));
        let [one, other] = [(a, one), (b, other)].map(|(at, id)| self.models[at.side as usize].registry.resource(id));
        // A recursive reference leads to the root of a resource that may have been entered elsewhere.
        walk.open.push((a.to(one.root), b.to(other.root)));
        let anchors = one.dynamic_anchors.iter().zip(&other.dynamic_anchors);
        walk.open.extend(anchors.clone().map(|((_, node), (_, with))| {
            let of = |at: At, root: Place, node: Node| at.to(Place { node, ..root });
            (of(a, one.root, *node), of(b, other.root, *with))
        }));
        one.recursive_anchor == other.recursive_anchor
            && one.dynamic_anchors.len() == other.dynamic_anchors.len()
            && anchors.into_iter().all(|((name, _), (with, _))| name == with)
    }

    fn same_rule(&mut self, (a, one): (At, &Rule<'d>), (b, other): (At, &Rule<'d>), walk: &mut Walk) -> bool {
        let mut places = |one: &[Place], other: &[Place]| {
            walk.open.extend(one.iter().zip(other).map(|(one, other)| (a.to(*one), b.to(*other))));
            one.len() == other.len()
        };
        match (one, other) {
            (Rule::Type(one, _), Rule::Type(other, _)) => one == other,
            (Rule::Enum(one), Rule::Enum(other)) | (Rule::Const(one), Rule::Const(other)) => {
                same_value((self.tape(a), *one), (self.tape(b), *other))
            }
            (Rule::Bound(one, value), Rule::Bound(other, with)) => {
                one == other && same_value((self.tape(a), *value), (self.tape(b), *with))
            }
            // A decimal is a multiple by its digits.
            (Rule::MultipleOf(one), Rule::MultipleOf(other)) => self.tape(a).slice(*one) == self.tape(b).slice(*other),
            (Rule::Count(one, len), Rule::Count(other, with)) => one == other && len == with,
            (Rule::Pattern(one), Rule::Pattern(other)) => {
                self.pattern_source(a, *one) == self.pattern_source(b, *other)
            }
            (Rule::Format(one, _), Rule::Format(other, _)) => one == other,
            (Rule::ItemsEnd(one), Rule::ItemsEnd(other)) => one == other,
            (Rule::UniqueItems, Rule::UniqueItems) => true,
            (Rule::Required(one), Rule::Required(other)) => same_names(one, other),
            (Rule::Dependencies(one), Rule::Dependencies(other)) => by_name(one, other).is_some_and(|pairs| {
                pairs.into_iter().all(|needed| match needed {
                    (Dependency::Names(one), Dependency::Names(other)) => same_names(one, other),
                    (Dependency::Schema(one), Dependency::Schema(other)) => places(&[one], &[other]),
                    _ => false,
                })
            }),
            (Rule::Properties(one), Rule::Properties(other)) => {
                by_name(one, other).is_some_and(|pairs| pairs.into_iter().all(|(one, other)| places(&[one], &[other])))
            }
            (Rule::PatternProperties(one), Rule::PatternProperties(other)) => {
                let sources = |at: At, list: &[(PatternNo, Place)]| -> Vec<(&'d str, Place)> {
                    list.iter().map(|(pattern, place)| (self.pattern_source(at, *pattern), *place)).collect()
                };
                by_name(&sources(a, one), &sources(b, other))
                    .is_some_and(|pairs| pairs.into_iter().all(|(one, other)| places(&[one], &[other])))
            }
            (Rule::Prefix(one), Rule::Prefix(other))
            | (Rule::AllOf(one), Rule::AllOf(other))
            | (Rule::AnyOf(one), Rule::AnyOf(other))
            | (Rule::OneOf(one), Rule::OneOf(other)) => places(one, other),
            (Rule::Items(start, one), Rule::Items(with, other)) => start == with && places(&[*one], &[*other]),
            (Rule::Contains(one, min, max), Rule::Contains(other, with_min, with_max)) => {
                (min, max) == (with_min, with_max) && places(&[*one], &[*other])
            }
            (Rule::If(one, then, otherwise), Rule::If(other, with_then, with_otherwise)) => {
                let branches = |branch: &Option<Place>| branch.iter().copied().collect::<Vec<_>>();
                places(&[*one], &[*other])
                    && places(&branches(then), &branches(with_then))
                    && places(&branches(otherwise), &branches(with_otherwise))
            }
            (Rule::AdditionalProperties(one), Rule::AdditionalProperties(other))
            | (Rule::PropertyNames(one), Rule::PropertyNames(other))
            | (Rule::Not(one), Rule::Not(other))
            | (Rule::Ref(one), Rule::Ref(other))
            | (Rule::DynamicRef(one, None), Rule::DynamicRef(other, None))
            | (Rule::RecursiveRef(one, false), Rule::RecursiveRef(other, false))
            | (Rule::UnevaluatedProperties(one), Rule::UnevaluatedProperties(other))
            | (Rule::UnevaluatedItems(one), Rule::UnevaluatedItems(other)) => places(&[*one], &[*other]),
            (Rule::DynamicRef(one, Some(anchor)), Rule::DynamicRef(other, Some(with))) => {
                anchor == with && places(&[*one], &[*other]) && walk.resources.is_some()
            }
            (Rule::RecursiveRef(one, true), Rule::RecursiveRef(other, true)) => {
                places(&[*one], &[*other]) && walk.resources.is_some()
            }
            _ => false,
        }
    }
}

/// Pairs of what two lists have under the same names, if these are the same.
fn by_name<'a, T: Copy, U: Copy>(one: &[(&'a str, T)], other: &[(&'a str, U)]) -> Option<Vec<(T, U)>> {
    let names: HashMap<&str, U> = other.iter().copied().collect();
    let pairs = one.iter().map(|(name, value)| Some((*value, *names.get(name)?)));
    (one.len() == other.len()).then(|| pairs.collect())?
}

fn same_names(one: &[&str], other: &[&str]) -> bool {
    let (names, others): (HashSet<&str>, HashSet<&str>) =
        (one.iter().copied().collect(), other.iter().copied().collect());
    names == others
}
