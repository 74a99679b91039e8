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
//! union succeed, neither of them a part of the other, it is not known which was meant, and there is no repair.
//!
//! What is found is then tried without each of its changes: a condition (`if`, `not`, `dependentSchemas`) may have made a
//! value fail only since another one did.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet, VecDeque};

use callgate_vm::tape::TapeBuf;

use super::limits::{
    ATTEMPTS_MAX, CHANGES_MAX, CHECK_FUEL_MAX, CHECKS_MAX, FAILURES_MAX, ROUNDS_MAX, TRIED_WITHOUT_MAX, WORK_MAX,
};
use super::places::Places;
use super::proposals::{Kind, Reader, Round, Wrong, admits_string, same};
use super::reading::array_of;
use super::text::{Change, changed};
use super::{RepairOptions, RepairRule};
use crate::schema::{Outcome, Schema};
use crate::session::Session;
use crate::summary::Step;

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
    /// The least sets of changes that make it pass: one, or several of which it is not known which was meant.
    passing: Vec<Vec<Round>>,
}

/// Changes that are tried.
struct Attempt {
    /// The branches that want them.
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
    work_left: usize,
}

impl<'s> Search<'s> {
    pub(super) fn new(schema: &Schema, session: &'s mut Session, options: RepairOptions) -> Self {
        let schema = schema.with_bounds(FAILURES_MAX, CHECK_FUEL_MAX);
        let tape = TapeBuf::new();
        Search { schema, session, options, tape, checks_left: CHECKS_MAX, work_left: WORK_MAX }
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
            let (round, text) = self.round(&found.text, &wrong)?;
            if repeats(&found.rounds, &round) {
                return None;
            }
            if !round.is_empty() {
                found.rounds.push(round);
                found.text = text;
            } else if is_whole {
                let rounds = self.settle_unions(&found.text, wrong)?;
                if rounds.iter().any(|round| repeats(&found.rounds, round)) {
                    return None;
                }
                found.text = self.made(&found.text, &rounds)?;
                found.rounds.extend(rounds);
            } else {
                return None;
            }
            if len(&found.rounds) > CHANGES_MAX {
                return None;
            }
        }
        None
    }

    /// Judges a text. None beyond the limits.
    fn check(&mut self, text: &str) -> Option<Verdict> {
        self.checks_left = self.checks_left.checked_sub(1)?;
        self.spend(text.len())?;
        let verdict = match self.schema.check(self.session, text) {
            Outcome::Accepted(_) => Verdict::Accepted,
            Outcome::Rejected(rejection) => {
                let wrong = rejection.failures().map(|failure| Wrong::of(&failure, 0)).collect();
                let is_whole =
                    rejection.unlisted() == 0 && rejection.listing_fault().is_none() && rejection.branches_are_whole();
                Verdict::Rejected { wrong, is_whole }
            }
            Outcome::Fault(_) | Outcome::UnknownTool | Outcome::NotCompiled => return None,
        };
        if let Verdict::Rejected { wrong, .. } = &verdict {
            self.spend(wrong.iter().map(Wrong::work).sum())?;
        }
        Some(verdict)
    }

    /// None if so much work is no longer left.
    fn spend(&mut self, work: usize) -> Option<()> {
        self.work_left = self.work_left.checked_sub(work)?;
        Some(())
    }

    /// The values of a text.
    fn places<'t>(&'t mut self, text: &'t str) -> Option<Places<'t>> {
        self.spend(text.len())?;
        let tape = self.tape.read_text(text, self.schema.read_options()).ok()?;
        Some(Places::of(tape))
    }

    fn reader<'t>(&'t mut self, text: &'t str) -> Option<Reader<'t>> {
        let (allowed, options) = (self.options, self.schema.read_options());
        Some(Reader { places: self.places(text)?, allowed, options })
    }

    /// The text with the changes of all rounds made.
    fn made(&mut self, text: &str, rounds: &[Round]) -> Option<String> {
        let mut text = text.to_owned();
        for round in rounds {
            text = changed(&self.places(&text)?, round)?;
        }
        Some(text)
    }

    /// The changes that the failures outside unions ask for, and the text with them made. There may be none.
    fn round(&mut self, text: &str, wrong: &[Wrong]) -> Option<(Round, String)> {
        if wrong.iter().all(|wrong| matches!(wrong.kind, Kind::Other | Kind::Union { .. })) {
            return Some((Round::new(), String::new()));
        }
        let reader = self.reader(text)?;
        let round = reader.changes(wrong, None);
        let text = changed(&reader.places, &round)?;
        Some((round, text))
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
        let reader = self.reader(text)?;
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
            let attempts = start.next(&reader, &path, &branches)?;
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
            if len(&rounds) > CHANGES_MAX {
                return None;
            }
        }
        let text = self.made(text, &rounds)?;
        let wrong = match self.check(&text)? {
            Verdict::Accepted => Vec::new(),
            Verdict::Rejected { wrong, is_whole: true } => wrong,
            Verdict::Rejected { is_whole: false, .. } => return None,
        };
        let (failing, reader) = (unions(&wrong), self.reader(&text)?);
        for (union, attempt) in open.iter_mut().zip(tried) {
            let Some(attempt) = attempt else {
                continue;
            };
            match failing.get(&(union.path.as_slice(), union.keyword_location.as_str())) {
                None => union.passes_by(attempt.rounds),
                Some(branches) if attempt.rounds.len() < ROUNDS_MAX => {
                    union.attempts.extend(attempt.next(&reader, &union.path, branches)?);
                }
                Some(_) => {}
            }
            if union.attempts.len() > ATTEMPTS_MAX {
                return None;
            }
        }
        Some(())
    }

    // --- what is not needed ------------------------------------------------------------------------------------

    /// Leaves out changes without which the call passes too. None if some can only be left out one at a time: then it is not
    /// known which were meant.
    fn without_needless(&mut self, original: &str, found: Found) -> Option<Found> {
        if !(2..=TRIED_WITHOUT_MAX).contains(&len(&found.rounds)) {
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
            let places = self.places(&found.text)?;
            let kept = round.iter().filter(|change| !is_needless(change));
            // What is wrapped may have been changed before.
            let round: Round = kept.map(|change| rewrapped(&places, change)).collect::<Option<_>>()?;
            found.text = changed(&places, &round)?;
            found.rounds.push(round);
        }
        found.rounds.retain(|round| !round.is_empty());
        let passes = matches!(self.check(&found.text)?, Verdict::Accepted);
        Some((found, passes))
    }
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

/// Whether a value that has been changed is to be changed again: `"null"` to null, and that to nothing. One reading is
/// lossless, a chain of them is a guess.
fn repeats(rounds: &[Round], round: &[Change]) -> bool {
    let known: HashSet<&[Step]> = rounds.iter().flatten().map(|change| change.path.as_slice()).collect();
    round.iter().any(|change| known.contains(change.path.as_slice()))
}

/// How many changes there are.
fn len(rounds: &[Round]) -> usize {
    rounds.iter().map(Vec::len).sum()
}

/// The change as it is made in this text.
fn rewrapped(places: &Places<'_>, change: &Change) -> Option<Change> {
    let mut change = change.clone();
    if change.rule == RepairRule::WrapInArray {
        change.becomes = Some(array_of(places.tape, places.locate(&change.path)?.node));
    }
    Some(change)
}

impl Attempt {
    /// What is to be tried next, by what the branches of the union at `path` say after this attempt. None if that is too much.
    fn next(&self, reader: &Reader<'_>, path: &[Step], branches: &BTreeMap<usize, Vec<Wrong>>) -> Option<Vec<Attempt>> {
        let mut next: Vec<(Round, BTreeSet<usize>)> = Vec::new();
        let of_string = branches.values().any(|branch| admits_string(branch, path)).then_some(path);
        for (at, branch) in branches.iter().filter(|(at, _)| self.branches.contains(at)) {
            let rounds = reader.alternatives(branch, of_string, 0)?;
            for round in rounds.into_iter().filter(|round| !repeats(&self.rounds, round)) {
                match next.iter_mut().find(|(known, _)| same(known, &round)) {
                    Some((_, wanting)) => drop(wanting.insert(*at)),
                    None => next.push((round, BTreeSet::from([*at]))),
                }
            }
        }
        let with = |round| self.rounds.iter().cloned().chain([round]).collect();
        Some(next.into_iter().map(|(round, branches)| Attempt { branches, rounds: with(round) }).collect())
    }
}

impl Open {
    fn is(&self, path: &[Step], keyword_location: &str) -> bool {
        self.path == path && self.keyword_location == keyword_location
    }

    /// Takes in a set of changes with which it passes. What does more than another set is not needed.
    fn passes_by(&mut self, rounds: Vec<Round>) {
        if self.passing.iter().any(|known| is_part_of(known, &rounds)) {
            return;
        }
        self.passing.retain(|known| !is_part_of(&rounds, known));
        self.passing.push(rounds);
    }
}

/// Whether all that is made of values by the first changes is made of them by the others too.
fn is_part_of(part: &[Round], whole: &[Round]) -> bool {
    let all: HashSet<(&[Step], Option<&str>)> = whole.iter().flatten().map(made_of).collect();
    part.iter().flatten().all(|change| all.contains(&made_of(change)))
}

fn made_of(change: &Change) -> (&[Step], Option<&str>) {
    (&change.path, change.becomes.as_deref())
}

/// What the branches of a union say, by where it is in the arguments and in the schema.
type Unions<'w> = HashMap<(&'w [Step], &'w str), &'w BTreeMap<usize, Vec<Wrong>>>;

/// The unions among the failures.
fn unions(wrong: &[Wrong]) -> Unions<'_> {
    let mut unions = Unions::new();
    for Wrong { path, kind } in wrong {
        if let Kind::Union { keyword_location, branches } = kind {
            unions.insert((path, keyword_location), branches);
        }
    }
    unions
}
