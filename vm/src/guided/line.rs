//! Lines within their bounds, and what they begin and end with.

use std::fmt::{self, Write};

use super::{Guided, Item};
use crate::describe::Steps;
use crate::failure::Step;
use crate::render::LocationStep;
use crate::shown::{clipped, write_json_text, write_masked_text, write_name_chars, write_one_line};
use crate::tape::Node;
use crate::text::Text;

/// Of one line; longer ones are cut. Unit: bytes.
pub const LINE_BYTES_MAX: usize = 600;

/// Of a location. Unit: bytes.
const LOCATION_BYTES_MAX: usize = 160;

/// Of the name and of the text of a tag. Unit: bytes.
const TAG_BYTES_MAX: usize = 60;

/// Of a description. Unit: bytes.
pub(super) const DESCRIPTION_BYTES_MAX: usize = 140;

/// Known names that unknown ones are compared with, in a whole text.
const NAMES_SOUGHT_MAX: u32 = 8_192;

/// What the count of the lines left out may take. Unit: bytes.
const MORE_BYTES: usize = "\n… and 18446744073709551615 more".len();

/// A line while it is written.
pub(crate) struct Line {
    bytes: [u8; LINE_BYTES_MAX],
    len: usize,
    is_full: bool,
}

impl Line {
    fn new() -> Line {
        Line { bytes: [0; LINE_BYTES_MAX], len: 0, is_full: false }
    }

    /// The text so far.
    pub(super) fn as_str(&self) -> &str {
        // Only whole characters are put in.
        std::str::from_utf8(&self.bytes[..self.len]).unwrap_or_default()
    }
}

impl Write for Line {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        if self.is_full {
            return Ok(());
        }
        let room = LINE_BYTES_MAX - '…'.len_utf8() - self.len;
        let fits = text.len() <= room;
        let end = if fits { text.len() } else { (0..=room).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0) };
        self.bytes[self.len..self.len + end].copy_from_slice(&text.as_bytes()[..end]);
        self.len += end;
        if !fits {
            self.len += '…'.encode_utf8(&mut self.bytes[self.len..]).len();
            self.is_full = true;
        }
        Ok(())
    }
}

/// The lines of a text.
pub(super) struct Lines<'w> {
    out: &'w mut dyn Write,
    count_left: usize,
    bytes_left: usize,
    is_first: bool,
    left_out: u64,
    /// Known names that unknown ones may still be compared with.
    sought_left: Steps,
}

impl<'w> Lines<'w> {
    pub(super) fn new(out: &'w mut dyn Write, lines_max: usize, bytes_max: usize) -> Self {
        Lines {
            out,
            count_left: lines_max,
            bytes_left: bytes_max,
            is_first: true,
            left_out: 0,
            sought_left: Steps(NAMES_SOUGHT_MAX),
        }
    }

    /// Takes one comparison of names off those that the text may make; none is left once no line is.
    pub(super) fn may_seek(&mut self) -> bool {
        self.count_left > 0 && self.sought_left.take()
    }

    /// Counts what has no line.
    pub(super) fn leave_out(&mut self, count: u64) {
        self.left_out = self.left_out.saturating_add(count);
    }

    /// Writes one line, if it fits; once one does not, none does.
    pub(super) fn line(&mut self, write: impl FnOnce(&mut Line) -> fmt::Result) -> fmt::Result {
        if self.count_left == 0 {
            self.leave_out(1);
            return Ok(());
        }
        let mut line = Line::new();
        write(&mut line)?;
        let needed = line.len + usize::from(!self.is_first);
        match self.bytes_left.checked_sub(needed).filter(|left| *left >= MORE_BYTES) {
            Some(left) => self.bytes_left = left,
            None => {
                self.count_left = 0;
                self.leave_out(1);
                return Ok(());
            }
        }
        self.out.write_str(if self.is_first { "" } else { "\n" })?;
        self.is_first = false;
        self.count_left -= 1;
        self.out.write_str(line.as_str())
    }

    /// Tells how many have no line, where there is room for that.
    pub(super) fn finish(self) -> fmt::Result {
        if self.left_out == 0 || self.bytes_left < MORE_BYTES {
            return Ok(());
        }
        write!(self.out, "{}… and {} more", if self.is_first { "" } else { "\n" }, self.left_out)
    }
}

impl<'r> Guided<'r> {
    /// `filters.tags[1]: `, `shape (kind "circle"): `, or nothing at the root.
    pub(super) fn write_start(self, line: &mut Line, item: &Item<'r>) -> fmt::Result {
        clipped(line, LOCATION_BYTES_MAX, |out| self.write_location(out, item))?;
        if let Some((name, text)) = tag_to_tell(item) {
            let (before, after) = if line.len == 0 { ("with ", "") } else { (" (", ")") };
            line.write_str(before)?;
            clipped(line, TAG_BYTES_MAX, |out| write_name_chars(out, name.chars()))?;
            line.write_char(' ')?;
            clipped(line, TAG_BYTES_MAX, |out| write_json_text(out, text.chars()))?;
            line.write_str(after)?;
        }
        line.write_str(if line.len == 0 { "" } else { ": " })
    }

    fn write_location(self, out: &mut dyn Write, item: &Item<'r>) -> fmt::Result {
        let member = item.member.map(|name| LocationStep::Name(Text::plain_text(name)));
        let steps = self.renderer.location(item.record.path).chain(member);
        write_steps(out, steps, |name| self.renderer.hides_name(name))
    }

    /// What the value is for, unless the location's last line said so.
    pub(super) fn write_description(
        self,
        line: &mut Line,
        item: &Item<'r>,
        described: &mut Option<&'r str>,
    ) -> fmt::Result {
        let Some(text) = self.description_of(item).filter(|text| described.replace(text) != Some(text)) else {
            return Ok(());
        };
        end_sentence(line)?;
        line.write_char(' ')?;
        clipped(line, DESCRIPTION_BYTES_MAX, |out| write_one_line(out, text)).map(|_| ())
    }

    fn description_of(self, item: &Item<'r>) -> Option<&'r str> {
        let unit = self.renderer.unit;
        // That of the tool itself says nothing of the call's form, and who called has it.
        if self.renderer.explanation.paths.len(item.record.path) == 0 {
            return None;
        }
        let union = item.around.union.filter(|union| union.path == item.record.path);
        let of_union = || union.and_then(|union| unit.description(&union));
        super::wording::speaks_of_value(self, item)
            .then(|| unit.description(&item.record).or_else(of_union).filter(|text| !text.is_empty()))?
    }

    /// The value at the item's location, where the whole call is on the tape.
    pub(super) fn value_at(self, path: u32) -> Option<Node> {
        if !self.is_whole {
            return None;
        }
        let Some((parent, step)) = self.renderer.explanation.paths.parent(path) else {
            return Some(0);
        };
        match step {
            Step::Name(name) => Some(name + 1),
            Step::Index(index) => self.renderer.tape.element_nodes(self.value_at(parent)?).nth(index as usize),
        }
    }
}

/// The tag that told the branch, where the item is about the union's own value.
fn tag_to_tell<'r>(item: &Item<'r>) -> Option<(&'r str, &'r str)> {
    let union = item.around.union.as_ref()?;
    item.around.tag.filter(|_| item.member.is_none() && union.path == item.record.path)
}

/// Ends what has been said before more is.
pub(super) fn end_sentence(line: &mut Line) -> fmt::Result {
    line.write_str(if line.as_str().ends_with(['?', '.', '!']) { "" } else { "." })
}

/// `filters.tags[1]`
pub(super) fn write_steps<'t>(
    out: &mut dyn Write,
    steps: impl Iterator<Item = LocationStep<'t>>,
    hides_name: impl Fn(Text<'t>) -> bool,
) -> fmt::Result {
    for (at, step) in steps.enumerate() {
        match step {
            LocationStep::Index(index) => write!(out, "[{index}]")?,
            LocationStep::Name(name) if hides_name(name) => {
                out.write_char('[')?;
                write_masked_text(out, "name", name)?;
                out.write_char(']')?;
            }
            LocationStep::Name(name) => write_name_step(out, name, at == 0)?,
        }
    }
    Ok(())
}

/// `.name`, or `["any name"]` where a name would not be told from what is around it.
fn write_name_step(out: &mut dyn Write, name: Text<'_>, is_first: bool) -> fmt::Result {
    let is_plain = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '$' | '@');
    let is_index_like = name.chars().next().is_none_or(char::is_numeric);
    if !is_index_like && name.chars().all(is_plain) {
        out.write_str(if is_first { "" } else { "." })?;
        return name.chars().try_for_each(|c| out.write_char(c));
    }
    out.write_char('[')?;
    write_json_text(out, name.chars())?;
    out.write_char(']')
}
