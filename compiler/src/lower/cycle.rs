//! Where a loop of references that consumes nothing is closed.

use ahash::HashMap;

use crate::dialect::Keyword;
use crate::finding::{Finding, FindingKind};
use crate::ir::{Dependency, Model, Rule};
use crate::refs::Place;

/// Reports the loop that the schema at `on_loop` lies on, at a reference of it. Cost: each schema that judges the same
/// instance is looked at once.
pub(super) fn report(model: &mut Model<'_, '_>, on_loop: Place) {
    let (place, keyword) = closing_reference(model, on_loop).unwrap_or((on_loop, None));
    let location = model.schema(place).location;
    let pointer = model.registry.locations.pointer(location, keyword.map_or("", Keyword::name));
    let detail = "the reference comes back to itself without looking into the instance";
    model.registry.findings.push(Finding::new(FindingKind::RefCycle, pointer, detail));
}

/// The first reference on a way from `start` back to it.
fn closing_reference(model: &mut Model<'_, '_>, start: Place) -> Option<(Place, Option<Keyword>)> {
    // From a schema to the one that leads there, and the reference by which it does.
    let mut came_from: HashMap<Place, (Place, Option<Keyword>)> = HashMap::default();
    let mut open = vec![start];
    while let Some(place) = open.pop() {
        for (next, keyword) in in_place(model, place) {
            if next == start {
                let (mut step, mut first) = ((place, keyword), None);
                loop {
                    first = Some(step).filter(|(_, keyword)| keyword.is_some()).or(first);
                    if step.0 == start {
                        return first;
                    }
                    step = *came_from.get(&step.0)?;
                }
            }
            if let std::collections::hash_map::Entry::Vacant(entry) = came_from.entry(next) {
                entry.insert((place, keyword));
                open.push(next);
            }
        }
    }
    None
}

/// The schemas that a schema asks about its own instance; with the keyword where that is a reference.
fn in_place(model: &mut Model<'_, '_>, place: Place) -> Vec<(Place, Option<Keyword>)> {
    let mut next = Vec::new();
    for at in model.schema(place).rules {
        match &at.rule {
            Rule::Ref(target) | Rule::DynamicRef(target, _) | Rule::RecursiveRef(target, _) => {
                next.push((*target, Some(at.keyword)));
            }
            Rule::AllOf(branches) | Rule::AnyOf(branches) | Rule::OneOf(branches) => {
                next.extend(branches.iter().map(|branch| (*branch, None)));
            }
            Rule::Not(refused) => next.push((*refused, None)),
            Rule::If(condition, then, otherwise) => {
                next.extend([Some(*condition), *then, *otherwise].into_iter().flatten().map(|branch| (branch, None)));
            }
            Rule::Dependencies(list) => next.extend(list.iter().filter_map(|(_, needed)| match needed {
                Dependency::Schema(schema) => Some((*schema, None)),
                Dependency::Names(_) => None,
            })),
            _ => {}
        }
    }
    next
}
