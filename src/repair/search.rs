//! The search for a repair: rounds of changes, each judged, and the branches of unions tried one beside the other.
//!
//! ```text
//! round     every value that fails outside unions gets its reading, all at once; then the call is judged again
//! unions    only when nothing else is left to read: each failing union has attempts, of which one must succeed
//!
//!             anyOf at /a   ─► [branch 0: "1" is 1]  [branches 1, 2: left out]
//!             anyOf at /b/0 ─► [branch 1: "x" is …]
//!                               └──── one check ───┘ └── another ──┘
//! ```
//!
//! An attempt belongs to the branches that want exactly its changes, and goes on with what these branches say next: a text
//! that one branch wants parsed is not mended inside by another one. Attempts of different unions do not depend on each
//! other, so the first ones of all unions are checked together, then the second ones, and so on. If two attempts of one
//! union succeed with different values, it is not known which was meant, and there is no repair.
//!
//! What is found is then tried without each of its changes: a condition (`if`, `not`, `dependentSchemas`) may have made a
//! value fail only since another one did.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use callgate_vm::insn::Types;
use callgate_vm::tape::{ReadOptions, Tape, TapeBuf};

use super::limits::{
    ATTEMPTS_MAX, CHANGES_MAX, CHECK_FUEL_MAX, CHECKED_BYTES_MAX, CHECKS_MAX, FAILURES_MAX, ROUNDS_MAX,
    TRIED_WITHOUT_MAX, UNION_LEVELS_MAX,
};
use super::reading::{Wanted, array_of, reading, wrapped};
use super::text::{Change, changed, locate};
use super::{RepairOptions, RepairRule};
use crate::rejection::{FALSE_SCHEMA, Failure, Step};
use crate::schema::{Outcome, Schema};
use crate::session::Session;

/// Changes that are made together; each lies outside the others.
type Round = Vec<Change>;

/// Changed arguments, and how they came about.
#[derive(Clone, Debug)]
pub(super) struct Found {
    pub(super) rounds: Vec<Round>,
    pub(super) text: String,
}

/// A failure, as far as it matters here.
struct Wrong {
    path: Vec<Step>,
    kind: Kind,
}

enum Kind {
    /// Of the types that the schema object names.
    Type(Types),
    /// Of a list of values, of an object that names those types.
    Value(Types),
    /// Of a schema that takes nothing.
    Nothing,
    /// Of a union: where in the schema, and the failures of each branch.
    Union { keyword_location: String, branches: BTreeMap<usize, Vec<Wrong>> },
    /// One that no reading helps.
    Other,
}

/// What a check says of changed arguments.
enum Verdict {
    Accepted,
    Rejected {
        wrong: Vec<Wrong>,
        /// Whether that is all that fails, so that a union which is not among it passes.
        is_whole: bool,
    },
}

/// A failing union while its attempts are made.
struct Open {
    path: Vec<Step>,
    keyword_location: String,
    attempts: VecDeque<Attempt>,
    /// The changes that make it pass: one set, or several of which it is not known which was meant.
    passing: Vec<Vec<Round>>,
}

#[derive(Clone)]
struct Attempt {
    branches: BTreeSet<usize>,
    rounds: Vec<Round>,
}

/// The search, with what it may still spend.
pub(super) struct Search<'s> {
    schema: Schema,
    session: &'s mut Session,
    options: RepairOptions,
    tape: TapeBuf,
    checks_left: usize,
    bytes_left: usize,
}

impl<'s> Search<'s> {
    pub(super) fn new(schema: &Schema, session: &'s mut Session, options: RepairOptions) -> Self {
        let schema = schema.with_bounds(FAILURES_MAX, CHECK_FUEL_MAX);
        let tape = TapeBuf::new();
        Search { schema, session, options, tape, checks_left: CHECKS_MAX, bytes_left: CHECKED_BYTES_MAX }
    }

    /// The repair of a text; none if it is accepted, or cannot be repaired within the limits.
    pub(super) fn run(mut self, text: String) -> Option<Found> {
        let mut found = Found { rounds: Vec::new(), text };
        let original = found.text.clone();
        while found.rounds.len() <= ROUNDS_MAX {
            let (wrong, is_whole) = match self.check(&found.text)? {
                Verdict::Accepted if found.rounds.is_empty() => return None,
                Verdict::Accepted => return self.without_needless(&original, found),
                Verdict::Rejected { wrong, is_whole } => (wrong, is_whole),
            };
            let round = self.round(&found.text, &wrong)?;
            let rounds = match round.is_empty() {
                false => vec![round],
                true if is_whole => self.settle_unions(&found.text, wrong)?,
                true => return None,
            };
            found.text = self.made(&found.text, &rounds)?;
            found.rounds.extend(rounds);
            if found.rounds.iter().map(Vec::len).sum::<usize>() > CHANGES_MAX {
                return None;
            }
        }
        None
    }

    /// Judges a text. None beyond the limits.
    fn check(&mut self, text: &str) -> Option<Verdict> {
        self.checks_left = self.checks_left.checked_sub(1)?;
        self.bytes_left = self.bytes_left.checked_sub(text.len())?;
        match self.schema.check(self.session, text) {
            Outcome::Accepted(_) => Some(Verdict::Accepted),
            Outcome::Rejected(rejection) => {
                let wrong = rejection.failures().map(|failure| Wrong::of(&failure, 0)).collect();
                let is_whole =
                    rejection.unlisted() == 0 && rejection.listing_fault().is_none() && rejection.branches_are_whole();
                Some(Verdict::Rejected { wrong, is_whole })
            }
            Outcome::Fault(_) | Outcome::UnknownTool | Outcome::NotCompiled => None,
        }
    }

    /// The text with the changes of all rounds made.
    fn made(&mut self, text: &str, rounds: &[Round]) -> Option<String> {
        let mut text = text.to_owned();
        for round in rounds {
            let tape = self.tape.read_text(&text, self.schema.read_options()).ok()?;
            text = changed(tape, round)?;
        }
        Some(text)
    }

    /// The changes that the failures outside unions ask for.
    fn round(&mut self, text: &str, wrong: &[Wrong]) -> Option<Round> {
        if wrong.iter().all(|wrong| matches!(wrong.kind, Kind::Other | Kind::Union { .. })) {
            return Some(Round::new());
        }
        let options = self.schema.read_options();
        let tape = self.tape.read_text(text, options).ok()?;
        Some(Reader { tape, allowed: self.options, options }.changes(wrong, None))
    }

    // --- unions ------------------------------------------------------------------------------------------------

    /// The rounds that make failing unions pass, at least one of them. None if there is no such union, or one that may be
    /// made to pass in several ways.
    fn settle_unions(&mut self, text: &str, wrong: Vec<Wrong>) -> Option<Vec<Round>> {
        let mut open = self.open_unions(text, wrong)?;
        while open.iter().any(|union| !union.attempts.is_empty()) {
            self.attempt(text, &mut open)?;
        }
        let mut rounds: Vec<Round> = Vec::new();
        for union in open {
            let mut passing = union.passing.into_iter();
            let (first, other) = (passing.next(), passing.next());
            if other.is_some() {
                return None;
            }
            merge(&mut rounds, first.unwrap_or_default());
        }
        (!rounds.is_empty()).then_some(rounds)
    }

    fn open_unions(&mut self, text: &str, wrong: Vec<Wrong>) -> Option<Vec<Open>> {
        let mut open: Vec<Open> = Vec::new();
        for Wrong { path, kind } in wrong {
            let Kind::Union { keyword_location, branches } = kind else {
                continue;
            };
            // A subschema that applies twice fails twice.
            if open.iter().any(|union| union.is(&path, &keyword_location)) {
                continue;
            }
            let all = branches.keys().copied().collect();
            let start = Attempt { branches: all, rounds: Vec::new() };
            let attempts = self.next_attempts(text, &path, &branches, &start)?;
            open.push(Open { path, keyword_location, attempts: attempts.into(), passing: Vec::new() });
        }
        Some(open)
    }

    /// Checks the next attempt of each union, all in one call.
    fn attempt(&mut self, text: &str, open: &mut [Open]) -> Option<()> {
        let mut rounds = Vec::new();
        let tried: Vec<Option<Attempt>> = open.iter_mut().map(|union| union.attempts.pop_front()).collect();
        for attempt in tried.iter().flatten() {
            merge(&mut rounds, attempt.rounds.clone());
        }
        let text = self.made(text, &rounds)?;
        let wrong = match self.check(&text)? {
            Verdict::Accepted => Vec::new(),
            Verdict::Rejected { wrong, is_whole: true } => wrong,
            Verdict::Rejected { is_whole: false, .. } => return None,
        };
        for (union, attempt) in open.iter_mut().zip(tried) {
            let Some(attempt) = attempt else {
                continue;
            };
            match union.find_in(&wrong) {
                None => union.passes_by(attempt.rounds),
                Some(branches) if attempt.rounds.len() < ROUNDS_MAX => {
                    let next = self.next_attempts(&text, &union.path, branches, &attempt)?;
                    union.attempts.extend(next);
                }
                Some(_) => {}
            }
            if union.attempts.len() > ATTEMPTS_MAX {
                return None;
            }
        }
        Some(())
    }

    /// What is to be tried next of a union, by the branches of an attempt that was made in `text`.
    fn next_attempts(
        &mut self,
        text: &str,
        path: &[Step],
        branches: &BTreeMap<usize, Vec<Wrong>>,
        attempt: &Attempt,
    ) -> Option<Vec<Attempt>> {
        let options = self.schema.read_options();
        let tape = self.tape.read_text(text, options).ok()?;
        let reader = Reader { tape, allowed: self.options, options };
        let mut next: Vec<(Round, BTreeSet<usize>)> = Vec::new();
        let of_string = branches.values().any(|branch| admits_string(branch, path)).then_some(path);
        for (at, branch) in branches.iter().filter(|(at, _)| attempt.branches.contains(at)) {
            for round in reader.alternatives(branch, of_string, 0)? {
                match next.iter_mut().find(|(known, _)| same(known, &round)) {
                    Some((_, wanting)) => drop(wanting.insert(*at)),
                    None => next.push((round, BTreeSet::from([*at]))),
                }
            }
        }
        let with = |round| attempt.rounds.iter().cloned().chain([round]).collect();
        Some(next.into_iter().map(|(round, branches)| Attempt { branches, rounds: with(round) }).collect())
    }

    // --- what is not needed ------------------------------------------------------------------------------------

    /// Leaves out changes without which the call passes too. None if some can only be left out one at a time: then it is not
    /// known which were meant.
    fn without_needless(&mut self, original: &str, found: Found) -> Option<Found> {
        let len = found.rounds.iter().map(Vec::len).sum::<usize>();
        if !(2..=TRIED_WITHOUT_MAX).contains(&len) {
            return Some(found);
        }
        let mut needless = Vec::new();
        for (at, round) in found.rounds.iter().enumerate() {
            for change in round {
                if self.passes_without(original, &found.rounds, &[(at, change)])?.is_some() {
                    needless.push((at, change));
                }
            }
        }
        if needless.is_empty() {
            return Some(found);
        }
        self.passes_without(original, &found.rounds, &needless)?
    }

    /// The changed arguments without some of the changes, each with the number of its round, and without what was changed
    /// inside them afterwards; if they pass so. None beyond the limits.
    fn passes_without(
        &mut self,
        original: &str,
        rounds: &[Round],
        needless: &[(usize, &Change)],
    ) -> Option<Option<Found>> {
        let mut found = Found { rounds: Vec::new(), text: original.to_owned() };
        for (at, round) in rounds.iter().enumerate() {
            let is_needless =
                |change: &Change| needless.iter().any(|(from, needless)| *from <= at && needless.covers(&change.path));
            let tape = self.tape.read_text(&found.text, self.schema.read_options()).ok()?;
            let kept = round.iter().filter(|change| !is_needless(change));
            // What is wrapped may have been changed before.
            let round: Round = kept.map(|change| rewrapped(tape, change)).collect::<Option<_>>()?;
            found.text = changed(tape, &round)?;
            found.rounds.push(round);
        }
        found.rounds.retain(|round| !round.is_empty());
        match self.check(&found.text)? {
            Verdict::Accepted => Some(Some(found)),
            Verdict::Rejected { .. } => Some(None),
        }
    }
}

/// The change as it is made in this text.
fn rewrapped(tape: Tape<'_>, change: &Change) -> Option<Change> {
    let mut change = change.clone();
    if change.rule == RepairRule::WrapInArray {
        change.becomes = Some(array_of(tape, locate(tape, &change.path)?.node));
    }
    Some(change)
}

impl Open {
    fn is(&self, path: &[Step], keyword_location: &str) -> bool {
        self.path == path && self.keyword_location == keyword_location
    }

    /// The union among the failures: what its branches say.
    fn find_in<'w>(&self, wrong: &'w [Wrong]) -> Option<&'w BTreeMap<usize, Vec<Wrong>>> {
        wrong.iter().find_map(|wrong| match &wrong.kind {
            Kind::Union { keyword_location, branches } if self.is(&wrong.path, keyword_location) => Some(branches),
            _ => None,
        })
    }

    fn passes_by(&mut self, rounds: Vec<Round>) {
        let flat = |rounds: &[Round]| rounds.iter().flatten().cloned().collect::<Round>();
        let changes = flat(&rounds);
        if !self.passing.iter().any(|known| same(&flat(known), &changes)) {
            self.passing.push(rounds);
        }
    }
}

/// Whether two lists make the same of the same values, whatever the rules are called.
fn same(a: &[Change], b: &[Change]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.path == b.path && a.becomes == b.becomes)
}

/// Adds rounds to others that are made at the same time. Of two changes of one value the first is made.
fn merge(rounds: &mut Vec<Round>, more: Vec<Round>) {
    rounds.resize_with(rounds.len().max(more.len()), Round::new);
    for (round, more) in rounds.iter_mut().zip(more) {
        for change in more {
            if !round.iter().any(|known| known.covers(&change.path) || change.covers(&known.path)) {
                round.push(change);
            }
        }
    }
}

// --- failures ----------------------------------------------------------------------------------------------------

impl Wrong {
    fn of(failure: &Failure<'_, '_>, level: usize) -> Wrong {
        let kind = match failure.code() {
            "type" => Kind::Type(failure.types()),
            "enum" | "const" => Kind::Value(failure.types()),
            FALSE_SCHEMA => Kind::Nothing,
            _ if failure.is_union() => Wrong::of_union(failure, level),
            _ => Kind::Other,
        };
        // Where it is does not matter if nothing can be done there.
        let path = if matches!(kind, Kind::Other) { Vec::new() } else { failure.instance_path() };
        Wrong { path, kind }
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
fn admits_string(branch: &[Wrong], path: &[Step]) -> bool {
    let refuses = |wrong: &Wrong| {
        wrong.path == path
            && match &wrong.kind {
                Kind::Type(types) => !types.meets(Types::STRING),
                Kind::Union { branches, .. } => !branches.values().any(|branch| admits_string(branch, path)),
                Kind::Value(_) | Kind::Nothing | Kind::Other => false,
            }
    };
    !branch.iter().any(refuses)
}

// --- readings ----------------------------------------------------------------------------------------------------

/// Reads failing values of one text.
struct Reader<'t> {
    tape: Tape<'t>,
    allowed: RepairOptions,
    options: ReadOptions,
}

impl Reader<'_> {
    /// The changes that the failures outside unions ask for, in the order of the text. `of_string`: a value that may be
    /// meant as a string.
    fn changes(&self, wrong: &[Wrong], of_string: Option<&[Step]>) -> Round {
        let mut by_node: BTreeMap<u32, Change> = BTreeMap::new();
        for Wrong { path, kind } in wrong {
            let (types, is_type) = match kind {
                Kind::Type(types) => (*types, true),
                Kind::Value(types) => (*types, false),
                Kind::Nothing => (Types::NULL, false),
                Kind::Union { .. } | Kind::Other => continue,
            };
            let wanted = Wanted { types, is_type, maybe_string: of_string == Some(path.as_slice()) };
            let Some(place) = locate(self.tape, path) else {
                continue;
            };
            let is_member = matches!(path.last(), Some(Step::Name(_)));
            if let Some(reading) = self.reading(place.node, wanted, is_member) {
                let change = Change::new(path.clone(), reading);
                by_node.entry(place.node).or_insert(change);
            }
        }
        // What lies inside a value that is wrapped is looked at when it lies there.
        let mut round = Round::new();
        for change in by_node.into_values() {
            if !round.last().is_some_and(|outer: &Change| outer.covers(&change.path)) {
                round.push(change);
            }
        }
        round
    }

    fn reading(&self, node: u32, wanted: Wanted, is_member: bool) -> Option<super::reading::Reading> {
        let read = reading(self.tape, node, wanted, is_member, self.options);
        let read = read.filter(|reading| self.allowed.allows(reading.rule));
        read.or_else(|| {
            let may_wrap = self.allowed.allows(RepairRule::WrapInArray);
            may_wrap.then(|| wrapped(self.tape, node, wanted)).flatten()
        })
    }

    /// The sets of changes by which a branch may pass, without the empty one. None if there are too many.
    fn alternatives(&self, branch: &[Wrong], of_string: Option<&[Step]>, level: usize) -> Option<Vec<Round>> {
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
            // Each of what there is so far, with each of these.
            let pairs = all.iter().flat_map(|outer| inner.iter().map(move |inner| (outer, inner)));
            all = pairs.map(|(outer, inner)| self.joined(outer, inner)).collect();
            if all.len() > ATTEMPTS_MAX {
                return None;
            }
        }
        all.retain(|round| !round.is_empty());
        Some(all)
    }

    fn joined(&self, outer: &Round, inner: &Round) -> Round {
        let mut rounds = vec![outer.clone()];
        merge(&mut rounds, vec![inner.clone()]);
        let mut round = rounds.swap_remove(0);
        // In the order of the text, by which sets are compared.
        round.sort_by_cached_key(|change| locate(self.tape, &change.path).map(|place| place.node));
        round
    }
}
