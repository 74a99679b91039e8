//! The counts of an audit: of rows and calls, by tool, and by what failed where.
//!
//! Each batch is tallied on its own, and the tallies are added up in the order of the batches; so the counts, and which
//! signatures and examples are kept, do not depend on how many threads there were.

use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, BTreeSet, HashMap};

use callgate::{Repair, RepairRule};
use serde::Serialize;

/// Signatures kept; what fails elsewhere beyond them is counted by tool.
pub const SIGNATURES_MAX: usize = 10_000;

/// Names kept that no tool of the catalog has; further ones are counted together.
pub const UNKNOWN_MAX: usize = 1_000;

/// Of an example's line; more is cut. Unit: bytes.
const EXAMPLE_BYTES_MAX: usize = 1_024;

/// What became of a call, or of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// The call satisfies its schema.
    Accepted,
    /// It does not.
    Rejected,
    /// The gate declined to decide.
    Fault,
    /// The catalog has no such tool.
    UnknownTool,
    /// The tool's schema could not be compiled.
    NotCompiled,
    /// The row, or a call in it, cannot be read.
    Malformed,
}

/// How many calls there were, by what became of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Counts {
    /// All of them.
    pub calls: u64,
    pub accepted: u64,
    pub rejected: u64,
    pub faults: u64,
    pub unknown_tool: u64,
    pub not_compiled: u64,
}

impl Counts {
    fn count(&mut self, verdict: Verdict) {
        let of_verdict = match verdict {
            Verdict::Accepted => &mut self.accepted,
            Verdict::Rejected => &mut self.rejected,
            Verdict::Fault => &mut self.faults,
            Verdict::UnknownTool => &mut self.unknown_tool,
            Verdict::NotCompiled => &mut self.not_compiled,
            // Of what cannot be read it is not known whether it is a call.
            Verdict::Malformed => return,
        };
        *of_verdict += 1;
        self.calls += 1;
    }

    fn add(&mut self, other: Counts) {
        self.calls += other.calls;
        self.accepted += other.accepted;
        self.rejected += other.rejected;
        self.faults += other.faults;
        self.unknown_tool += other.unknown_tool;
        self.not_compiled += other.not_compiled;
    }
}

/// One call, or malformed row, as it is shown.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Example {
    /// Which of the files.
    #[serde(skip)]
    pub file: usize,
    /// The row's number in its file, from 1.
    pub row: u64,
    /// The line of the rejection, or why there is no verdict; cut at [`EXAMPLE_BYTES_MAX`].
    pub line: String,
}

impl Example {
    /// An example, its line cut.
    pub fn new(file: usize, row: u64, line: &str) -> Self {
        let cut = (0..=line.len().min(EXAMPLE_BYTES_MAX)).rfind(|at| line.is_char_boundary(*at)).unwrap_or(0);
        let mark = if cut < line.len() { "…" } else { "" };
        Example { file, row, line: format!("{}{mark}", &line[..cut]) }
    }
}

/// Calls that failed in the same way, or rows that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Signature {
    pub verdict: Verdict,
    /// The code of the failure that speaks, or of the fault.
    pub code: String,
    /// Where in the schema that failure is.
    pub keyword_location: String,
    pub count: u64,
    /// The first ones.
    pub examples: Vec<Example>,
}

/// Signatures in the order in which they came, found by where they are.
#[derive(Debug, Default)]
pub struct Signatures {
    list: Vec<Signature>,
    by_location: HashMap<String, Vec<usize>>,
}

impl Signatures {
    /// All of them, in the order in which they first came.
    pub fn list(&self) -> &[Signature] {
        &self.list
    }

    fn at(&self, verdict: Verdict, code: &str, keyword_location: &str) -> Option<usize> {
        let here = self.by_location.get(keyword_location)?;
        here.iter().copied().find(|at| self.list[*at].verdict == verdict && self.list[*at].code == code)
    }

    /// Counts one. Answers the signature, whose examples may want one more.
    fn count(&mut self, verdict: Verdict, code: &str, keyword_location: &str) -> &mut Signature {
        let at = self.at(verdict, code, keyword_location).unwrap_or_else(|| {
            let (code, keyword_location) = (code.to_owned(), keyword_location.to_owned());
            self.push(Signature { verdict, code, keyword_location, count: 0, examples: Vec::new() })
        });
        let signature = &mut self.list[at];
        signature.count += 1;
        signature
    }

    fn push(&mut self, signature: Signature) -> usize {
        let at = self.list.len();
        self.by_location.entry(signature.keyword_location.clone()).or_default().push(at);
        self.list.push(signature);
        at
    }

    /// Adds those of a later batch, and leaves none there. Answers how many calls have a signature that was not kept, of which
    /// up to `room` new ones are, and how many of these there were.
    fn add(&mut self, later: &mut Signatures, samples: usize, room: usize) -> (u64, usize) {
        let (mut unkept, mut kept) = (0, 0);
        for signature in later.list.drain(..) {
            match self.at(signature.verdict, &signature.code, &signature.keyword_location) {
                Some(at) => {
                    let known = &mut self.list[at];
                    known.count += signature.count;
                    let wanted = samples.saturating_sub(known.examples.len());
                    known.examples.extend(signature.examples.into_iter().take(wanted));
                }
                None if kept < room => {
                    kept += 1;
                    self.push(signature);
                }
                None => unkept += signature.count,
            }
        }
        later.by_location.clear();
        (unkept, kept)
    }
}

/// Rejected calls that can be repaired, where that was asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Repaired {
    pub calls: u64,
    /// Of these, calls that take the rule.
    pub rules: BTreeMap<RepairRule, u64>,
}

impl Repaired {
    fn count(&mut self, repair: &Repair) {
        self.calls += 1;
        for rule in repair.steps().map(|step| step.rule()).collect::<BTreeSet<_>>() {
            *self.rules.entry(rule).or_default() += 1;
        }
    }

    fn add(&mut self, later: Repaired) {
        self.calls += later.calls;
        for (rule, calls) in later.rules {
            *self.rules.entry(rule).or_default() += calls;
        }
    }
}

/// The calls of one tool.
#[derive(Debug, Default)]
pub struct ToolTally {
    pub counts: Counts,
    pub signatures: Signatures,
    pub repaired: Repaired,
    /// Calls whose signature was not kept.
    pub unkept: u64,
}

/// The calls of one name that no tool has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unknown {
    pub calls: u64,
    /// The first one.
    pub first: (usize, u64),
}

/// What is counted.
#[derive(Debug, Default)]
pub struct Tally {
    /// Rows that are not blank.
    pub rows: u64,
    /// Of these, rows that are JSON and hold no call.
    pub without_call: u64,
    /// Rows that are not JSON, and calls that cannot be told.
    pub malformed: u64,
    pub counts: Counts,
    pub repaired: Repaired,
    /// By the number of the tool in the catalog.
    pub tools: Vec<ToolTally>,
    pub unknown: HashMap<String, Unknown>,
    /// Calls of names that were not kept.
    pub unknown_unkept: u64,
    /// What is malformed, by reason.
    pub malformed_rows: Vec<Example>,
    /// Signatures kept, of all tools.
    signatures: usize,
}

impl Tally {
    /// For a catalog of so many tools.
    pub fn of_tools(tools: usize) -> Tally {
        Tally { tools: std::iter::repeat_with(ToolTally::default).take(tools).collect(), ..Tally::default() }
    }

    /// Counts a call that was accepted.
    pub fn accepted(&mut self, tool: usize) {
        self.tools[tool].counts.count(Verdict::Accepted);
        self.counts.count(Verdict::Accepted);
    }

    /// Counts a call that was not. Answers the examples of its signature so far.
    pub fn failed(&mut self, tool: usize, verdict: Verdict, code: &str, keyword_location: &str) -> &mut Vec<Example> {
        self.counts.count(verdict);
        let tool = &mut self.tools[tool];
        tool.counts.count(verdict);
        &mut tool.signatures.count(verdict, code, keyword_location).examples
    }

    /// Counts a rejected call that can be repaired.
    pub fn repaired(&mut self, tool: usize, repair: &Repair) {
        self.tools[tool].repaired.count(repair);
        self.repaired.count(repair);
    }

    /// Counts a call of a name that no tool has.
    pub fn unknown(&mut self, name: &str, file: usize, row: u64) {
        self.counts.count(Verdict::UnknownTool);
        match self.unknown.get_mut(name) {
            Some(unknown) => unknown.calls += 1,
            None => {
                self.unknown.insert(name.to_owned(), Unknown { calls: 1, first: (file, row) });
            }
        }
    }

    /// Adds the tally of a later batch and empties it. Keeps up to `samples` examples of each signature.
    pub fn add(&mut self, later: &mut Tally, samples: usize) {
        self.rows += std::mem::take(&mut later.rows);
        self.without_call += std::mem::take(&mut later.without_call);
        self.malformed += std::mem::take(&mut later.malformed);
        self.counts.add(std::mem::take(&mut later.counts));
        self.repaired.add(std::mem::take(&mut later.repaired));
        for (tool, later) in self.tools.iter_mut().zip(&mut later.tools) {
            if later.counts.calls == 0 {
                continue;
            }
            tool.counts.add(std::mem::take(&mut later.counts));
            tool.repaired.add(std::mem::take(&mut later.repaired));
            let room = SIGNATURES_MAX - self.signatures;
            let (unkept, kept) = tool.signatures.add(&mut later.signatures, samples, room);
            tool.unkept += unkept;
            self.signatures += kept;
        }
        let wanted = samples.saturating_sub(self.malformed_rows.len());
        self.malformed_rows.extend(later.malformed_rows.drain(..).take(wanted));
        self.add_unknown(&mut later.unknown);
    }

    fn add_unknown(&mut self, later: &mut HashMap<String, Unknown>) {
        let mut names: Vec<_> = later.drain().collect();
        // Of names that come when few more are kept, the first ones are.
        names.sort_unstable_by(|(left, l), (right, r)| (l.first, left).cmp(&(r.first, right)));
        let mut len = self.unknown.len();
        for (name, unknown) in names {
            match self.unknown.entry(name) {
                Entry::Occupied(known) => known.into_mut().calls += unknown.calls,
                Entry::Vacant(place) if len < UNKNOWN_MAX => {
                    place.insert(unknown);
                    len += 1;
                }
                Entry::Vacant(_) => self.unknown_unkept += unknown.calls,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A tally of one tool with calls that failed at these locations, in rows from `first`.
    fn failing(first: u64, locations: &[&str]) -> Tally {
        let mut tally = Tally::of_tools(1);
        for (row, location) in (first..).zip(locations) {
            let examples = tally.failed(0, Verdict::Rejected, "type", location);
            examples.push(Example::new(0, row, location));
        }
        tally
    }

    #[test]
    fn tallies_add_up() {
        let mut all = failing(1, &["/a", "/b", "/a"]);
        all.accepted(0);
        let mut later = failing(4, &["/c", "/b"]);
        later.failed(0, Verdict::Fault, "fuel", "");
        all.add(&mut later, 2);
        let tool = &all.tools[0];
        let signatures = tool.signatures.list().iter();
        let seen: Vec<_> = signatures
            .map(|signature| {
                let rows: Vec<u64> = signature.examples.iter().map(|example| example.row).collect();
                (signature.keyword_location.as_str(), signature.count, rows)
            })
            .collect();
        assert_eq!(seen, [("/a", 2, vec![1, 3]), ("/b", 2, vec![2, 5]), ("/c", 1, vec![4]), ("", 1, vec![])]);
        let expected = Counts { calls: 7, accepted: 1, rejected: 5, faults: 1, ..Counts::default() };
        assert_eq!((tool.counts, all.counts), (expected, expected));
        assert_eq!((later.counts, later.tools[0].counts), (Counts::default(), Counts::default()));
        assert!(later.tools[0].signatures.list().is_empty());
    }

    #[test]
    fn signatures_beyond_the_bound_are_counted() {
        let mut all = Tally::of_tools(1);
        let locations: Vec<String> = (0..SIGNATURES_MAX + 3).map(|at| format!("/{at}")).collect();
        let locations: Vec<&str> = locations.iter().map(String::as_str).collect();
        all.add(&mut failing(1, &locations[..5]), 1);
        all.add(&mut failing(6, &locations), 1);
        // Those that are known go on being counted.
        all.add(&mut failing(1, &[locations[0], locations[SIGNATURES_MAX + 1]]), 1);
        let tool = &all.tools[0];
        assert_eq!((tool.signatures.list().len(), tool.unkept), (SIGNATURES_MAX, 4));
        assert_eq!(tool.signatures.list()[0].count, 3);
        assert_eq!(tool.signatures.list()[0].examples.len(), 1);
    }

    #[test]
    fn names_beyond_the_bound_are_counted() {
        let (mut all, mut batch) = (Tally::of_tools(0), Tally::of_tools(0));
        for row in 0..UNKNOWN_MAX as u64 + 2 {
            batch.unknown(&format!("tool {row}"), 0, row);
        }
        batch.unknown("tool 0", 1, 9);
        all.add(&mut batch, 1);
        assert_eq!((all.unknown.len(), all.unknown_unkept), (UNKNOWN_MAX, 2));
        assert_eq!(all.unknown.get("tool 0"), Some(&Unknown { calls: 2, first: (0, 0) }));
        assert_eq!(all.counts.unknown_tool, UNKNOWN_MAX as u64 + 3);
    }

    #[test]
    fn examples_are_cut() {
        let line = "é".repeat(EXAMPLE_BYTES_MAX);
        assert_eq!(Example::new(0, 1, &line).line.chars().count(), EXAMPLE_BYTES_MAX / 2 + 1);
        assert_eq!(Example::new(0, 1, "é").line, "é");
    }
}
