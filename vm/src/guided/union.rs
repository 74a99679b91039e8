//! The words about unions themselves: matched too often, and tags. What a branch lacks is told like anything else.

use std::fmt::{self, Write};

use super::Item;
use super::line::Line;
use super::wording::{BRIEF_BYTES_MAX, NAME_BYTES_MAX, VALUE_BYTES_MAX, Words};
use crate::describe::{Steps, Wanted, branches};
use crate::instance::View;
use crate::meant::each_tag_text;
use crate::nearest::nearness;
use crate::shown::{clipped, write_json_text, write_name_chars};

/// Texts of a tag among which the nearest is sought.
const TEXTS_SOUGHT_MAX: u32 = 1_024;

impl Words<'_, '_> {
    /// That several branches of a `oneOf` took the value, and which.
    pub(super) fn matched_twice(self, line: &mut Line) -> fmt::Result {
        line.write_str("must fit exactly one alternative, but fits more: ")?;
        for (at, branch) in self.guided.renderer.extras(&self.item.record).iter().take(4).enumerate() {
            line.write_str(if at > 0 { "; " } else { "" })?;
            if let Some(target) = branches(self.unit(), self.item.record.pc).nth(*branch as usize) {
                self.wanted(line, Wanted::target(target), BRIEF_BYTES_MAX)?;
            }
        }
        line.write_str("; got ")?;
        self.came(line)
    }

    /// Which texts the tag may have, and what it has.
    pub(super) fn tag(self, line: &mut Line, name: &str) -> fmt::Result {
        let tape = self.guided.renderer.tape;
        self.tag_texts(line, "expected ", name)?;
        let Some(value) = tape.member(self.node(), name) else {
            return Ok(());
        };
        let mut record = self.item.record;
        record.node = value;
        let item = Item { record, ..*self.item };
        Words { item: &item, ..self }.got(line)?;
        let View::String(given) = tape.view_node(value) else {
            return Ok(());
        };
        let (mut near, mut left) = (None, Steps(TEXTS_SOUGHT_MAX + 1));
        each_tag_text(self.unit(), self.item.record.pc, name, &mut |text| {
            if !left.take() {
                return;
            }
            let distance = nearness(given.chars(), text.chars());
            if let Some(distance) = distance.filter(|distance| near.is_none_or(|(nearest, _)| *distance < nearest)) {
                near = Some((distance, text));
            }
        });
        match near {
            Some((_, text)) => {
                line.write_str("; did you mean ")?;
                clipped(line, VALUE_BYTES_MAX, |out| write_json_text(out, text.chars()))?;
                line.write_char('?')
            }
            None => Ok(()),
        }
    }

    /// That the tag is missing, and which texts it may have.
    pub(super) fn no_tag(self, line: &mut Line, name: &str) -> fmt::Result {
        line.write_str("missing '")?;
        clipped(line, NAME_BYTES_MAX, |out| write_name_chars(out, name.chars()))?;
        self.tag_texts(line, "' (", name)?;
        line.write_str("), which tells what else is wanted")
    }

    fn tag_texts(self, line: &mut Line, before: &str, name: &str) -> fmt::Result {
        line.write_str(before)?;
        line.write_str("one of ")?;
        let mut total = 0;
        each_tag_text(self.unit(), self.item.record.pc, name, &mut |_| total += 1);
        let is_cut = clipped(line, BRIEF_BYTES_MAX, |out| {
            let (mut at, mut written) = (0, Ok(()));
            each_tag_text(self.unit(), self.item.record.pc, name, &mut |text| {
                if written.is_ok() {
                    written =
                        out.write_str(if at > 0 { ", " } else { "" }).and_then(|()| write_json_text(out, text.chars()));
                }
                at += 1;
            });
            written
        })?;
        if is_cut { write!(line, " ({total} values)") } else { Ok(()) }
    }
}
