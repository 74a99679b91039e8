//! Names that are not known: each is paired with a missing one of its object that it is likely meant for, or else with a
//! known one; the rest are told together, with the names that there are.
//!
//! ```text
//! extras  querry, fast, hallu        'querry' is unknown; did you mean 'query' (string), which is required?
//! missing query                  ─►  'fast' is unknown; did you mean 'is_fast'?
//! known   query, is_fast, limit      'hallu' is unknown; known names: 'query', 'is_fast', 'limit'
//! ```
//!
//! Where unknown names are ignored they are no failures; one that is near a missing name is told all the same. A name that
//! is known and yet left over (`unevaluatedProperties`, where the branch that has it failed) is no stray: what is wrong is
//! told elsewhere, or there is nothing else and it is told as not allowed.

use std::fmt::{self, Write};
use std::ops::ControlFlow;

use super::line::{Lines, end_sentence};
use super::wording::{NAME_BYTES_MAX, missing_name, missing_wanted, write_instance_name};
use super::{Guided, Item};
use crate::describe::names::{Around, each_name, property};
use crate::describe::phrase::write_wanted;
use crate::describe::{Facets, Wanted, admitted, block_of, description, fits};
use crate::failure::Wording;
use crate::insn::Target;
use crate::nearest::nearness;
use crate::opcode::Opcode;
use crate::render::Renderer;
use crate::shown::{clipped, write_name_chars, write_one_line};
use crate::tape::Node;
use crate::unit::Extra;

/// Unknown names of one object that are told one by one.
const STRAYS_MAX: usize = 16;

/// Known names that are told.
const KNOWN_MAX: usize = 12;

/// Entries of a table that are gone through to tell or compare its names.
const NAMES_SOUGHT_MAX: usize = 1_024;

/// Of the names that are told. Unit: bytes.
const KNOWN_BYTES_MAX: usize = 200;

/// A name that is not known.
#[derive(Clone, Copy)]
struct Stray {
    name: Node,
    /// The item that says so; none where it does not matter to the schema.
    item: Option<usize>,
    /// Whether the schema has the name, and leaves it over.
    is_known: bool,
}

/// Writes the lines about unknown names of one location, and drops the items that they settle.
pub(super) fn write_strays<'r>(
    guided: Guided<'r>,
    lines: &mut Lines<'_>,
    items: &mut [Option<Item<'r>>],
    is_all: bool,
) -> fmt::Result {
    let mut strays = Strays { guided, list: [None; STRAYS_MAX], len: 0, unlisted: 0 };
    strays.collect(items);
    if is_all && items.len() == 1 {
        strays.write_left_over(lines, items)?;
    }
    strays.write_paired(lines, items)?;
    strays.write_near(lines, items)?;
    strays.write_others(lines, items)?;
    for item in items.iter_mut().filter(|item| item.is_some_and(|item| is_of_strays(guided, &item))) {
        *item = None;
    }
    Ok(())
}

/// Whether the failure is that of unknown names.
fn is_of_strays(guided: Guided<'_>, item: &Item<'_>) -> bool {
    use Wording as W;
    let wording = guided.wording(item);
    matches!(
        wording,
        Some(W::AdditionalProperties | W::MatchNoPattern | W::UnevaluatedProperties | W::UnevaluatedInvalid)
    )
}

struct Strays<'r> {
    guided: Guided<'r>,
    list: [Option<Stray>; STRAYS_MAX],
    len: usize,
    /// Names beyond.
    unlisted: u64,
}

impl<'r> Strays<'r> {
    fn collect(&mut self, items: &[Option<Item<'r>>]) {
        for (at, item) in items.iter().enumerate() {
            let Some(item) = item.filter(|item| is_of_strays(self.guided, item)) else {
                continue;
            };
            for name in self.guided.renderer.extras(&item.record) {
                // Those beyond are counted alone.
                let is_known = self.len < STRAYS_MAX && self.is_left_over(&item, *name);
                self.add(Stray { name: *name, item: Some(at), is_known });
            }
        }
        let missing = items.iter().flatten().find(|item| missing_name(self.guided, item).is_some());
        if let Some(missing) = missing {
            self.collect_ignored(missing);
        }
    }

    fn add(&mut self, stray: Stray) {
        if self.list.iter().flatten().any(|other| other.name == stray.name) {
            return;
        }
        match self.list.get_mut(self.len) {
            Some(free) => {
                *free = Some(stray);
                self.len += 1;
            }
            None => self.unlisted += u64::from(stray.item.is_some()),
        }
    }

    /// Members of the object that lacks a name which its schema does not declare, and does not forbid.
    fn collect_ignored(&mut self, missing: &Item<'r>) {
        let Some(object) = self.guided.value_at(missing.record.path) else {
            return;
        };
        let Renderer { unit, tape, .. } = self.guided.renderer;
        let around = Around::of(unit, block_of(unit, missing.record.pc));
        for (name, _) in tape.member_nodes(object).take(STRAYS_MAX) {
            if !self.is_declared(&around, name) {
                self.add(Stray { name, item: None, is_known: false });
            }
        }
    }

    /// Whether the object's schema, or one around it, declares the name.
    fn is_declared(&self, around: &Around, name: Node) -> bool {
        let Renderer { unit, tape, .. } = self.guided.renderer;
        let text = tape.text(name);
        let mut declares =
            |known: &str, _| if text.is(known) { ControlFlow::Break(()) } else { ControlFlow::Continue(()) };
        around.blocks().iter().any(|block| match text.as_plain() {
            Some(plain) => property(unit, *block, plain).is_some(),
            None => each_name(unit, *block, &mut declares).is_break(),
        })
    }

    /// Whether an unevaluated name is one that the schema has.
    fn is_left_over(&self, item: &Item<'r>, name: Node) -> bool {
        use Wording::{UnevaluatedInvalid, UnevaluatedProperties};
        if !matches!(self.guided.wording(item), Some(UnevaluatedProperties | UnevaluatedInvalid)) {
            return false;
        }
        let Renderer { unit, tape, .. } = self.guided.renderer;
        let text = tape.text(name);
        let word = unit.code().get(item.record.pc as usize);
        match (text.as_plain(), word.filter(|word| word.opcode() == Opcode::AdditionalProperties)) {
            (Some(plain), Some(word)) => {
                unit.find_name(unit.table(word.c), plain).is_some_and(|(_, entry)| entry.declared)
            }
            (Some(plain), None) => property(unit, block_of(unit, item.record.pc), plain).is_some(),
            (None, _) => {
                let mut is_known = false;
                self.each_known(item, &mut |known| is_known |= text.is(known));
                is_known
            }
        }
    }

    /// Names that are known and left over.
    fn write_left_over(&self, lines: &mut Lines<'_>, items: &[Option<Item<'r>>]) -> fmt::Result {
        for Stray { name, item, .. } in self.list.iter().flatten().filter(|stray| stray.is_known) {
            let Some(item) = item.and_then(|at| items.get(at)?.as_ref()) else {
                continue;
            };
            lines.line(|line| {
                self.guided.write_start(line, item)?;
                write_instance_name(self.guided, line, self.guided.renderer.tape.text(*name))?;
                line.write_str(" is not allowed together with the other members")
            })?;
        }
        Ok(())
    }

    fn left(&self) -> impl Iterator<Item = (usize, Stray)> + '_ {
        let left = self.list.iter().enumerate().filter_map(|(at, stray)| Some((at, (*stray)?)));
        left.filter(|(_, stray)| !stray.is_known)
    }

    fn near(&self, name: Node, known: &str) -> Option<u32> {
        nearness(self.guided.renderer.tape.text(name).chars(), known.chars())
    }

    // --- paired with what is missing -------------------------------------------------------------------------

    fn write_paired(&mut self, lines: &mut Lines<'_>, items: &mut [Option<Item<'r>>]) -> fmt::Result {
        while let Some((at, stray, missing)) = self.nearest_pair(items).or_else(|| self.only_pair(items)) {
            let Some(item) = items[missing].take() else {
                break;
            };
            self.list[at] = None;
            self.write_pair(lines, &item, stray)?;
        }
        Ok(())
    }

    /// The nearest of all pairs.
    fn nearest_pair(&self, items: &[Option<Item<'r>>]) -> Option<(usize, Stray, usize)> {
        let missing =
            || items.iter().enumerate().filter_map(|(at, item)| Some((at, missing_name(self.guided, item.as_ref()?)?)));
        let pairs = self.left().flat_map(|(at, stray)| {
            missing().filter_map(move |(item, name)| Some((self.near(stray.name, name)?, at, stray, item)))
        });
        pairs.min_by_key(|(distance, ..)| *distance).map(|(_, at, stray, item)| (at, stray, item))
    }

    /// The one forbidden name and the one missing name that are left, if the value would do.
    fn only_pair(&self, items: &[Option<Item<'r>>]) -> Option<(usize, Stray, usize)> {
        let mut missing = items.iter().enumerate().filter_map(|(at, item)| {
            let item = item.as_ref()?;
            Some((at, missing_wanted(self.guided, item, missing_name(self.guided, item)?)))
        });
        let mut strays = self.left().filter(|(_, stray)| stray.item.is_some());
        let ((item, wanted), (at, stray)) = (missing.next()?, strays.next()?);
        if missing.next().is_some() || strays.next().is_some() || self.unlisted > 0 || !self.guided.is_whole {
            return None;
        }
        let Guided { renderer, .. } = self.guided;
        let types = renderer.tape.view_node(stray.name + 1).types();
        let fits = wanted.is_some_and(|wanted| fits(types, admitted(renderer.unit, wanted)));
        fits.then_some((at, stray, item))
    }

    fn write_pair(&self, lines: &mut Lines<'_>, item: &Item<'r>, stray: Stray) -> fmt::Result {
        let guided = self.guided;
        let unit = guided.renderer.unit;
        let name = missing_name(guided, item).unwrap_or_default();
        let wanted = missing_wanted(guided, item, name);
        lines.line(|line| {
            guided.write_start(line, item)?;
            write_instance_name(guided, line, guided.renderer.tape.text(stray.name))?;
            line.write_str(" is unknown; did you mean ")?;
            write_known(line, name)?;
            if let Some(wanted) = wanted.filter(|wanted| !Facets::of(unit, *wanted).is_open()) {
                line.write_str(" (")?;
                write_wanted(line, unit, wanted, KNOWN_BYTES_MAX)?;
                line.write_char(')')?;
            }
            line.write_str(", which is required?")?;
            match wanted.and_then(|wanted| wanted.block).and_then(|block| description(unit, block)) {
                Some(text) => {
                    end_sentence(line)?;
                    line.write_char(' ')?;
                    clipped(line, super::line::DESCRIPTION_BYTES_MAX, |out| write_one_line(out, text)).map(|_| ())
                }
                None => Ok(()),
            }
        })
    }

    // --- paired with what is known ---------------------------------------------------------------------------

    fn write_near(&mut self, lines: &mut Lines<'_>, items: &[Option<Item<'r>>]) -> fmt::Result {
        for at in 0..self.len {
            let Some(Stray { name, item: Some(item), is_known: false }) = self.list[at] else {
                continue;
            };
            let Some((item, known)) =
                items[item].as_ref().and_then(|item| Some((item, self.nearest_known(lines, item, name)?)))
            else {
                continue;
            };
            self.list[at] = None;
            lines.line(|line| {
                self.guided.write_start(line, item)?;
                write_instance_name(self.guided, line, self.guided.renderer.tape.text(name))?;
                line.write_str(" is unknown; did you mean ")?;
                write_known(line, known)?;
                line.write_char('?')
            })?;
        }
        Ok(())
    }

    /// The known name that is nearest, among those that the object does not have.
    fn nearest_known(&self, lines: &mut Lines<'_>, item: &Item<'r>, name: Node) -> Option<&'r str> {
        let tape = self.guided.renderer.tape;
        let object = self.guided.value_at(item.record.path);
        let mut nearest: Option<(u32, &'r str)> = None;
        self.each_known(item, &mut |known| {
            let is_there = || object.is_some_and(|object| tape.member(object, known).is_some());
            if lines.may_seek()
                && let Some(distance) = self.near(name, known)
                && nearest.is_none_or(|(least, _)| distance < least)
                && !is_there()
            {
                nearest = Some((distance, known));
            }
        });
        nearest.map(|(_, known)| known)
    }

    /// Goes through the names that the failing keyword knows.
    fn each_known(&self, item: &Item<'r>, visit: &mut dyn FnMut(&'r str)) {
        let unit = self.guided.renderer.unit;
        match unit.code().get(item.record.pc as usize) {
            Some(word) if word.opcode() == Opcode::AdditionalProperties => {
                let names = unit.table(word.c).names.iter().take(NAMES_SOUGHT_MAX).filter(|entry| entry.declared);
                names.for_each(|entry| visit(unit.str(entry.name)));
            }
            _ => {
                let flow: ControlFlow<()> = each_name(unit, block_of(unit, item.record.pc), &mut |known, _| {
                    visit(known);
                    ControlFlow::Continue(())
                });
                let _ = flow;
            }
        }
    }

    // --- the rest --------------------------------------------------------------------------------------------

    fn write_others(&self, lines: &mut Lines<'_>, items: &[Option<Item<'r>>]) -> fmt::Result {
        let mut unlisted = self.unlisted;
        for (at, item) in items.iter().enumerate() {
            let Some(item) = item.filter(|item| is_of_strays(self.guided, item)) else {
                continue;
            };
            let of_item = || self.left().filter(|(_, stray)| stray.item == Some(at));
            let count = of_item().count() as u64 + std::mem::take(&mut unlisted);
            if count == 0 {
                continue;
            }
            lines.line(|line| {
                self.guided.write_start(line, &item)?;
                let mut told = 0;
                clipped(line, KNOWN_BYTES_MAX, |out| {
                    for (_, stray) in of_item() {
                        out.write_str(if told > 0 { ", " } else { "" })?;
                        write_instance_name(self.guided, out, self.guided.renderer.tape.text(stray.name))?;
                        told += 1;
                    }
                    Ok(())
                })?;
                if told < count {
                    write!(line, " and {} more", count - told)?;
                }
                line.write_str(if count == 1 { " is unknown" } else { " are unknown" })?;
                self.write_known_names(line, &item)
            })?;
        }
        Ok(())
    }

    /// What names there are, and what else the keyword asks of others.
    fn write_known_names(&self, line: &mut dyn Write, item: &Item<'r>) -> fmt::Result {
        let (mut known, mut total) = ([""; KNOWN_MAX], 0);
        self.each_known(item, &mut |name| {
            if !known.iter().take(total).any(|other| *other == name) {
                if let Some(free) = known.get_mut(total) {
                    *free = name;
                }
                total += 1;
            }
        });
        if total > 0 {
            line.write_str("; known names: ")?;
            let is_cut = clipped(line, KNOWN_BYTES_MAX, |out| {
                known.iter().take(total).enumerate().try_for_each(|(at, name)| {
                    out.write_str(if at > 0 { ", " } else { "" })?;
                    write_known(out, name)
                })
            })?;
            if is_cut || total > KNOWN_MAX {
                line.write_str(", …")?;
            }
        }
        match self.guided.wording(item) {
            Some(Wording::MatchNoPattern) => self.write_patterns(line, item),
            Some(Wording::UnevaluatedInvalid) => self.write_further(line, item),
            _ if total == 0 => line.write_str("; no names are known here, leave it out"),
            _ => Ok(()),
        }
    }

    fn write_patterns(&self, line: &mut dyn Write, item: &Item<'r>) -> fmt::Result {
        let unit = self.guided.renderer.unit;
        let Some(word) = unit.code().get(item.record.pc as usize) else {
            return Ok(());
        };
        line.write_str("; other names must match ")?;
        clipped(line, KNOWN_BYTES_MAX, |out| {
            unit.table(word.c).patterns.iter().enumerate().try_for_each(|(at, (pattern, _))| {
                out.write_str(if at > 0 { " or `" } else { "`" })?;
                write_name_chars(out, unit.pattern(*pattern).source().chars())?;
                out.write_char('`')
            })
        })
        .map(|_| ())
    }

    /// What members of other names must be.
    fn write_further(&self, line: &mut dyn Write, item: &Item<'r>) -> fmt::Result {
        let unit = self.guided.renderer.unit;
        let Some(word) = unit.code().get(item.record.pc as usize) else {
            return Ok(());
        };
        let target = match word.opcode() {
            Opcode::UnevaluatedProperties => Target::from_bits(word.c),
            Opcode::AdditionalProperties => match unit.table(word.c).extra {
                Extra::Run(target) => target,
                Extra::Skip | Extra::Forbid => return Ok(()),
            },
            _ => return Ok(()),
        };
        line.write_str("; the values of other names must be ")?;
        write_wanted(line, unit, Wanted::target(target), KNOWN_BYTES_MAX)
    }
}

/// Writes a name of the schema.
fn write_known(out: &mut dyn Write, name: &str) -> fmt::Result {
    out.write_char('\'')?;
    clipped(out, NAME_BYTES_MAX, |out| write_name_chars(out, name.chars()))?;
    out.write_char('\'')
}
