//! What fails in a call, and the changes that would help: proposals, of which the machine judges.
//!
//! Only failures of types and of listed values ask for a reading. A string that fails `minLength` or `pattern` is meant as a
//! string: read as a number it would pass these keywords without being what they ask for.

use std::collections::BTreeMap;

use callgate_vm::insn::Types;
use callgate_vm::tape::{Node, ReadOptions};

use super::limits::{ATTEMPTS_MAX, UNION_LEVELS_MAX};
use super::places::Places;
use super::reading::{Reading, Wanted, reading, wrapped};
use super::text::Change;
use super::{RepairOptions, RepairRule};
use crate::rejection::Failure;
use crate::summary::Step;

/// Changes that are made together; each lies outside the others.
pub(super) type Round = Vec<Change>;

/// A failure, as far as it matters here.
pub(super) struct Wrong {
    pub(super) path: Vec<Step>,
    pub(super) kind: Kind,
}

pub(super) enum Kind {
    /// Of the types that the schema object names.
    Type(Types),
    /// Of a list of values, of an object that names those types.
    Value(Types),
    /// Of a union: where in the schema, and the failures of each branch.
    Union { keyword_location: String, branches: BTreeMap<usize, Vec<Wrong>> },
    /// One that no reading helps.
    Other,
}

impl Wrong {
    pub(super) fn of(failure: &Failure<'_, '_>, level: usize) -> Wrong {
        let kind = match failure.code() {
            "type" => Kind::Type(failure.types()),
            "enum" | "const" => Kind::Value(failure.types()),
            _ if failure.is_union() => Wrong::of_union(failure, level),
            _ => Kind::Other,
        };
        // Where it is does not matter if nothing can be done there.
        let path = if matches!(kind, Kind::Other) { Vec::new() } else { failure.instance_path() };
        Wrong { path, kind }
    }

    /// What finding out about it takes; see [`WORK_MAX`](super::limits::WORK_MAX).
    pub(super) fn work(&self) -> usize {
        let inside = match &self.kind {
            Kind::Union { branches, .. } => branches.values().flatten().map(Wrong::work).sum(),
            _ => 0,
        };
        64 + self.path.len() * self.path.len() + inside
    }

    fn of_union(failure: &Failure<'_, '_>, level: usize) -> Kind {
        let mut branches: BTreeMap<usize, Vec<Wrong>> = BTreeMap::new();
        if level < UNION_LEVELS_MAX {
            for (at, inner) in failure.branches() {
                branches.entry(at).or_default().push(Wrong::of(&inner, level + 1));
            }
        }
        Kind::Union { keyword_location: failure.keyword_location().to_owned(), branches }
    }
}

/// Whether a branch has nothing against the value at `path` being a string.
pub(super) fn admits_string(branch: &[Wrong], path: &[Step]) -> bool {
    let refuses = |wrong: &Wrong| {
        wrong.path == path
            && match &wrong.kind {
                Kind::Type(types) => !types.meets(Types::STRING),
                Kind::Union { branches, .. } => !branches.values().any(|branch| admits_string(branch, path)),
                Kind::Value(_) | Kind::Other => false,
            }
    };
    !branch.iter().any(refuses)
}

/// Reads failing values of one text.
pub(super) struct Reader<'t> {
    pub(super) places: Places<'t>,
    pub(super) allowed: RepairOptions,
    /// Of texts that are parsed.
    pub(super) options: ReadOptions,
}

impl Reader<'_> {
    /// The changes that the failures outside unions ask for, in the order of the text. `of_string`: a value that may be
    /// meant as a string.
    pub(super) fn changes(&self, wrong: &[Wrong], of_string: Option<&[Step]>) -> Round {
        let mut changes = Vec::new();
        for Wrong { path, kind } in wrong {
            let (types, is_type) = match kind {
                Kind::Type(types) => (*types, true),
                Kind::Value(types) => (*types, false),
                Kind::Union { .. } | Kind::Other => continue,
            };
            let wanted = Wanted { types, is_type, maybe_string: of_string == Some(path.as_slice()) };
            let Some(place) = self.places.locate(path) else {
                continue;
            };
            let is_member = matches!(path.last(), Some(Step::Name(_)));
            if let Some(reading) = self.reading(place.node, wanted, is_member) {
                changes.push(Change::new(path.clone(), reading));
            }
        }
        self.round(changes)
    }

    /// The changes in the order of the text, by which rounds are compared; of each value the first one. What lies inside a
    /// value that is wrapped is looked at when it lies there.
    fn round(&self, changes: Vec<Change>) -> Round {
        let mut by_node: BTreeMap<Node, Change> = BTreeMap::new();
        for change in changes {
            if let Some(place) = self.places.locate(&change.path) {
                by_node.entry(place.node).or_insert(change);
            }
        }
        let mut round = Round::new();
        for change in by_node.into_values() {
            if !round.last().is_some_and(|outer: &Change| outer.covers(&change.path)) {
                round.push(change);
            }
        }
        round
    }

    fn reading(&self, node: Node, wanted: Wanted, is_member: bool) -> Option<Reading> {
        let read = reading(self.places.tape, node, wanted, is_member, self.options);
        let read = read.filter(|reading| self.allowed.allows(reading.rule));
        read.or_else(|| {
            let may_wrap = self.allowed.allows(RepairRule::WrapInArray);
            may_wrap.then(|| wrapped(self.places.tape, node, wanted)).flatten()
        })
    }

    /// The sets of changes by which a branch may pass, without the empty one. None if there are too many.
    pub(super) fn alternatives(
        &self,
        branch: &[Wrong],
        of_string: Option<&[Step]>,
        level: usize,
    ) -> Option<Vec<Round>> {
        if level > UNION_LEVELS_MAX {
            return None;
        }
        let own = self.changes(branch, of_string);
        let mut all = vec![own.clone()];
        for Wrong { path, kind } in branch {
            let Kind::Union { branches, .. } = kind else {
                continue;
            };
            if own.iter().any(|change| change.covers(path)) {
                continue;
            }
            let is_string = branches.values().any(|inner| admits_string(inner, path));
            let of_string = if is_string { Some(path.as_slice()) } else { of_string };
            let mut inner: Vec<Round> = Vec::new();
            for branch in branches.values() {
                for round in self.alternatives(branch, of_string, level + 1)? {
                    if !inner.iter().any(|known| same(known, &round)) {
                        inner.push(round);
                    }
                }
            }
            if all.len() * inner.len() > ATTEMPTS_MAX {
                return None;
            }
            // Each of what there is so far, with each of these.
            let Some(last) = inner.pop() else {
                return Some(Vec::new());
            };
            let with = |outer: &Round, inner: &Round| outer.iter().chain(inner).cloned().collect();
            let more: Vec<Round> =
                all.iter().flat_map(|outer| inner.iter().map(move |inner| with(outer, inner))).collect();
            for outer in &mut all {
                outer.extend_from_slice(&last);
            }
            all.extend(more);
        }
        all.retain(|changes| !changes.is_empty());
        Some(all.into_iter().map(|changes| self.round(changes)).collect())
    }
}

/// Whether two lists make the same of the same values, whatever the rules are called.
pub(super) fn same(a: &[Change], b: &[Change]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.path == b.path && a.becomes == b.becomes)
}
