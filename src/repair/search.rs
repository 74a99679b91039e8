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

use callgate_vm::tape::{Tape, TapeBuf};

use super::limits::{
    ATTEMPTS_MAX, CHANGES_MAX, CHECK_FUEL_MAX, CHECKED_BYTES_MAX, CHECKS_MAX, FAILURES_MAX, ROUNDS_MAX,
    TRIED_WITHOUT_MAX,
};
use super::proposals::{Kind, Reader, Round, Wrong, admits_string, merge, same};
use super::reading::array_of;
use super::text::{Change, changed, locate};
use super::{RepairOptions, RepairRule};
use crate::rejection::Step;
use crate::schema::{Outcome, Schema};
use crate::session::Session;

/// Changed arguments, and how they came about.
#[derive(Clone, Debug)]
pub(super) struct Found {
    pub(super) rounds: Vec<Round>,
    pub(super) text: String,
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
            if open.len() >= CHANGES_MAX {
                return None;
            }
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
                let (_, passes) = self.made_without(original, &found.rounds, &[(at, change)])?;
                if passes {
                    needless.push((at, change));
                }
            }
        }
        if needless.is_empty() {
            return Some(found);
        }
        let (found, passes) = self.made_without(original, &found.rounds, &needless)?;
        passes.then_some(found)
    }

    /// The changed arguments without some of the changes, each with the number of its round, and without what was changed
    /// inside them afterwards; and whether they pass so. None beyond the limits.
    fn made_without(
        &mut self,
        original: &str,
        rounds: &[Round],
        needless: &[(usize, &Change)],
    ) -> Option<(Found, bool)> {
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
        let passes = matches!(self.check(&found.text)?, Verdict::Accepted);
        Some((found, passes))
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
