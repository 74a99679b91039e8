//! The guided text: what a model needs to repair the call, one line a failure.
//!
//! ```text
//! 'querry' is unknown; did you mean 'query' (string), which is required? What to look for.
//! seed: expected integer >= 0 or null, got string "x". Omit for random.
//! filters.mode: expected one of "fast", "safe", got string "fsat"; did you mean "fast"?
//! … and 3 more
//! ```
//!
//! Where: as a model would write it. What came: type and value, cut. What is allowed: read off the block
//! (`describe.rs`). What it is for: the description, cut. A failed union gives way to what the branch that was meant
//! says (`meant.rs`), or tells all branches. No keyword, no location in the schema, no URI is named.
//!
//! ```text
//! failures ─► items: unions resolved, shallow first, by location ─► strays paired ─► lines, bounded
//! ```
//!
//! Everything is on the thread's stack: [`ITEMS_MAX`] items, one line of [`LINE_BYTES_MAX`] bytes. Nothing is allocated.

mod hint;
mod line;
mod stray;
mod union;
mod wording;

use std::cell::Cell;
use std::fmt::{self, Write};

use crate::explain::Ranking;
use crate::failure::{Ranked, Record, Step, Wording};
use crate::json::Malformed;
use crate::meant::{EFFORT_MAX, Meant, meant};
use crate::render::{Renderer, steps_of};
use crate::tape::{Node, Tape};

pub use line::LINE_BYTES_MAX;
use line::Lines;

/// Failures that are put in order; more are counted.
pub const ITEMS_MAX: usize = 64;

/// Unions inside each other whose branches are told apart.
const UNIONS_MAX: u32 = 8;

/// What a guided text is written from.
#[derive(Clone, Copy, Debug)]
pub struct Guided<'r> {
    /// Words the failures; says whether values are masked.
    pub renderer: Renderer<'r>,
    /// The failures to tell, in the order of the schema.
    pub failures: &'r [Ranked],
    /// How many there are beside them.
    pub unlisted: u64,
    /// Whether the tape is of the whole call, and not of what failures name alone.
    pub is_whole: bool,
    /// Lines at most, but for the count of the others.
    pub lines_max: usize,
    /// Bytes at most.
    pub bytes_max: usize,
}

impl<'r> Guided<'r> {
    /// Writes the text; lines are parted by line feeds, and there is none at the end. Errors: only those of `out`. Cost: a
    /// few readings of the blocks that failed for each line; no allocation.
    pub fn write(self, out: &mut impl Write) -> fmt::Result {
        let mut items = Items {
            guided: self,
            list: [None; ITEMS_MAX],
            len: 0,
            unlisted: self.unlisted,
            effort: Cell::new(EFFORT_MAX),
        };
        for failure in self.failures {
            items.add(&failure.own, 0, Around::default());
        }
        items.drop_told_tags();
        let mut lines = Lines::new(out, self.lines_max, self.bytes_max);
        lines.leave_out(items.unlisted);
        let mut from = 0;
        while let Some(first) = items.at(from) {
            let len =
                items.list[from..items.len].iter().flatten().take_while(|item| self.is_same(item, &first)).count();
            let is_all = items.len == 1;
            self.write_group(&mut lines, &mut items.list[from..from + len.max(1)], is_all)?;
            from += len.max(1);
        }
        lines.finish()
    }

    /// The lines of one location.
    fn write_group(self, lines: &mut Lines<'_>, items: &mut [Option<Item<'r>>], is_all: bool) -> fmt::Result {
        self.drop_repeated(items);
        stray::write_strays(self, lines, items, is_all)?;
        let mut described = None;
        for item in items.iter().flatten() {
            lines.line(|line| {
                self.write_start(line, item)?;
                wording::write(self, line, item)?;
                self.write_description(line, item, &mut described)
            })?;
        }
        Ok(())
    }

    /// Drops what another line of the location says too: values are told all that their schema object wants, and one of the
    /// wrong type is not told what it must not be.
    fn drop_repeated(self, items: &mut [Option<Item<'r>>]) {
        if items.iter().flatten().any(|item| self.wording(item) == Some(Wording::NotOfType)) {
            // What holds for values of another type is no news, whether it is forbidden or matched twice.
            let is_not = |item: &Item<'_>| {
                let is_matched_twice = self.wording(item) == Some(Wording::Union) && item.kind == Kind::Own;
                is_matched_twice || self.wording(item) == Some(Wording::Not)
            };
            items.iter_mut().filter(|item| item.as_ref().is_some_and(is_not)).for_each(|item| *item = None);
        }
        for at in 1..items.len() {
            let (before, rest) = items.split_at_mut(at);
            let Some(item) = rest[0] else {
                continue;
            };
            let repeats = |other: &Item<'_>| {
                let same = other.record.note == item.record.note && other.record.arg == item.record.arg;
                same && other.kind == item.kind && other.record.node == item.record.node
                    || wording::tells_all(self, &item) && wording::tells_all(self, other) && {
                        let unit = self.renderer.unit;
                        wording::block(unit, &item) == wording::block(unit, other)
                    }
            };
            if before.iter().flatten().any(repeats) {
                rest[0] = None;
            }
        }
    }

    fn wording(self, item: &Item<'_>) -> Option<Wording> {
        self.renderer.unit.wording(&item.record)
    }

    fn is_same(self, a: &Item<'_>, b: &Item<'_>) -> bool {
        let Renderer { tape, explanation, .. } = self.renderer;
        a.member == b.member && {
            let ranking = Ranking { tape, paths: &explanation.paths };
            ranking.compare_locations(a.record.path, b.record.path).is_eq()
        }
    }

    /// Steps from the root to what the item is about.
    fn depth(self, item: &Item<'_>) -> u32 {
        self.renderer.explanation.paths.len(item.record.path) + u32::from(item.member.is_some())
    }
}

/// Writes what is told of text that is not JSON.
pub fn write_malformed(out: &mut dyn Write, malformed: Malformed, bytes_max: usize) -> fmt::Result {
    let mut lines = Lines::new(out, 1, bytes_max);
    lines.line(|line| {
        let Malformed { reason, at } = malformed;
        write!(line, "the arguments are not valid JSON: {reason} at byte {at}. Send one JSON object.")
    })?;
    lines.finish()
}

/// Writes what is told of a value that JSON does not have, at `node` of the call on `tape`.
pub fn write_not_json(out: &mut dyn Write, tape: Tape<'_>, node: Node, masked: bool, bytes_max: usize) -> fmt::Result {
    let mut lines = Lines::new(out, 1, bytes_max);
    lines.line(|line| {
        line::write_steps(line, steps_of(tape, 0, node), |_| masked)?;
        let word = tape.slice(node);
        write!(line, "{}got {word}, which JSON does not have", if line.as_str().is_empty() { "" } else { ": " })
    })?;
    lines.finish()
}

/// One thing to tell.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Item<'r> {
    record: Record,
    kind: Kind<'r>,
    /// The member of the record's location that it is about, where that is not the location itself.
    member: Option<&'r str>,
    around: Around<'r>,
}

/// What is to be told of a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind<'r> {
    /// What its wording says.
    Own,
    /// What all branches of the union want.
    Branches,
    /// Which texts the tag of the union may have: it has another value.
    UnknownTag(&'r str),
    /// As above: it is missing.
    NoTag(&'r str),
}

/// The unions around a failure, as far as its text speaks of them.
#[derive(Clone, Copy, Debug, Default)]
struct Around<'r> {
    /// The union whose branch it is of.
    union: Option<Record>,
    /// Whether the type of the value alone told the branch: what the union wants may then be told as one.
    by_type: bool,
    /// Name and text of the tag that told the branch, or nearly.
    tag: Option<(&'r str, &'r str)>,
}

struct Items<'r> {
    guided: Guided<'r>,
    list: [Option<Item<'r>>; ITEMS_MAX],
    len: usize,
    unlisted: u64,
    /// What may still be done to tell which branches were meant.
    effort: Cell<u32>,
}

impl<'r> Items<'r> {
    fn at(&self, at: usize) -> Option<Item<'r>> {
        self.list.get(at).copied().flatten()
    }

    /// Adds a failure: of a union, those of the branch that was meant.
    fn add(&mut self, record: &Record, depth: u32, around: Around<'r>) {
        let renderer = self.guided.renderer;
        let item = Item { record: *record, kind: Kind::Own, member: None, around };
        let is_open_union = renderer.unit.wording(record) == Some(Wording::Union) && record.arg == 0;
        if !is_open_union || depth >= UNIONS_MAX {
            let kind = if is_open_union { Kind::Branches } else { Kind::Own };
            return self.insert(Item { kind, ..item });
        }
        let inside = renderer.inner(record, depth + 1);
        let meant = meant(renderer, record, inside.clone(), &self.effort);
        let around = Around {
            union: Some(*record),
            by_type: matches!(meant, Meant::ByType(_)),
            tag: match meant {
                Meant::ByTag(_, name, text) | Meant::UnknownTag(Some((_, text)), name) => Some((name, text)),
                _ => None,
            },
        };
        let tag = match meant {
            Meant::UnknownTag(_, name) => Some(name),
            _ => None,
        };
        if let Some(name) = tag {
            self.insert(Item { kind: Kind::UnknownTag(name), member: Some(name), ..item });
        }
        let mut said = tag.is_some();
        if let Some(branch) = meant.branch() {
            for inner in inside.filter(|inner| inner.branch == branch) {
                said = true;
                if !self.is_about_tag(&inner.record, record, tag) {
                    self.add(&inner.record, depth + 1, around);
                }
            }
        }
        match meant {
            Meant::NoTag(name) => self.insert(Item { kind: Kind::NoTag(name), ..item }),
            _ if !said => self.insert(Item { kind: Kind::Branches, ..item }),
            _ => {}
        }
    }

    /// Whether the failure is that of the member that is the union's tag.
    fn is_about_tag(&self, record: &Record, union: &Record, tag: Option<&str>) -> bool {
        let Renderer { tape, explanation, .. } = self.guided.renderer;
        let ranking = Ranking { tape, paths: &explanation.paths };
        match (tag, explanation.paths.parent(record.path)) {
            (Some(tag), Some((parent, Step::Name(name)))) => {
                tape.text(name).is(tag) && ranking.compare_locations(parent, union.path).is_eq()
            }
            _ => false,
        }
    }

    /// Drops what is said of a tag where the tag's own schema says it too.
    fn drop_told_tags(&mut self) {
        for at in 0..self.len {
            let Some(Item { kind: Kind::UnknownTag(name), record: union, .. }) = self.list[at] else {
                continue;
            };
            let is_told = self.list.iter().flatten().any(|item| {
                wording::tells_all(self.guided, item) && self.is_about_tag(&item.record, &union, Some(name))
            });
            if is_told {
                self.list[at] = None;
            }
        }
        // What is left keeps its order.
        let mut len = 0;
        for at in 0..self.len {
            if let Some(item) = self.list[at].take() {
                self.list[len] = Some(item);
                len += 1;
            }
        }
        self.len = len;
    }

    /// Puts the item behind those of its location, or behind all that are not deeper.
    fn insert(&mut self, item: Item<'r>) {
        let depth = self.guided.depth(&item);
        let listed = &self.list[..self.len];
        let last = |is: &dyn Fn(&Item<'r>) -> bool| listed.iter().rposition(|other| other.as_ref().is_some_and(is));
        let same = last(&|other| self.guided.is_same(other, &item));
        let not_deeper = || last(&|other| self.guided.depth(other) <= depth);
        let at = same.or_else(not_deeper).map_or(0, |at| at + 1);
        if self.len == ITEMS_MAX {
            self.unlisted += 1;
            if at == ITEMS_MAX {
                return;
            }
            self.len -= 1;
        }
        self.list.copy_within(at..self.len, at + 1);
        self.list[at] = Some(item);
        self.len += 1;
    }
}
