//! Bytes to units.

use std::ops::Range;
use std::sync::{Arc, OnceLock};

use super::patterns::{PATTERN_BYTES_MIN, PatternReader, RebuildPattern};
use super::wire::{BadImage, Reader, word_at};
use super::write::{ELEMENT, FORBID, HERE, INT, KEYWORD, LITERAL, RUN, SKIP};
use crate::failure::Wording;
use crate::insn::{Target, Types, Word};
use crate::names::{Keyed, NameIndex, TextKey};
use crate::number::Number;
use crate::pattern::Pattern;
use crate::unit::{
    BadUnit, EnumSet, Extra, Guard, Note, NotePath, PoolNumber, StrId, Table, TableName, Tag, TagSwitch, Unit,
    UnitParts,
};

/// The least that each of these takes. Unit: bytes.
const UNIT_BYTES_MIN: usize = 4;
const ENUM_BYTES_MIN: usize = 14;
const SWITCH_BYTES_MIN: usize = 9;
const TABLE_BYTES_MIN: usize = 22;
const NOTE_BYTES: usize = 32;

/// The units of a file, each read and verified when it is first asked for.
///
/// Of a large catalog few tools are called in a process, and reading a unit takes ten times as long as finding it.
#[derive(Debug)]
pub struct Units {
    file: Vec<u8>,
    /// Where each unit lies in the file.
    ranges: Vec<Range<usize>>,
    patterns: Vec<Arc<Pattern>>,
    read: Vec<OnceLock<Result<Arc<Unit>, BadImage>>>,
}

impl Units {
    /// Finds the units that [`Image`](super::Image) wrote; `patterns` and `units` are where its two parts lie in `file`.
    /// Errors: the patterns are none, or the units do not end with their part.
    ///
    /// Cost: linear in the number of units and in the bytes of the patterns, but for patterns that `rebuild` builds, of
    /// which there are at most [`REBUILT_PATTERNS_MAX`](crate::limits::REBUILT_PATTERNS_MAX).
    pub fn find(
        file: Vec<u8>,
        patterns: Range<usize>,
        units: Range<usize>,
        rebuild: &mut RebuildPattern<'_>,
    ) -> Result<Units, BadImage> {
        let part = |range: Range<usize>| file.get(range).ok_or_else(BadImage::cut_off);
        let patterns = read_patterns(part(patterns)?, rebuild)?;
        let end = units.end;
        let mut from = Reader::new(part(units)?);
        let ranges = from.list(UNIT_BYTES_MIN, |from| {
            let bytes = from.bytes()?;
            let after = end - from.rest().len();
            Ok(after - bytes.len()..after)
        })?;
        from.finish()?;
        let read = ranges.iter().map(|_| OnceLock::new()).collect();
        Ok(Units { file, ranges, patterns, read })
    }

    /// The file that they were found in.
    pub fn file(&self) -> &[u8] {
        &self.file
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.ranges.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }

    /// The unit of that number, read now or before. Errors: it does not hold together, or there is none.
    ///
    /// Cost, the first time: linear in its bytes. Allocates in proportion to them.
    pub fn get(&self, number: u32) -> Result<&Arc<Unit>, BadImage> {
        let Some(read) = self.read.get(number as usize) else {
            return Err(BadImage(format!("there is no unit {number}")));
        };
        let unit = read.get_or_init(|| {
            let bytes = self.file.get(self.ranges[number as usize].clone()).unwrap_or_default();
            UnitReader { from: Reader::new(bytes), strings: Strings::default() }.read(&self.patterns).map(Arc::new)
        });
        unit.as_ref().map_err(BadImage::clone)
    }
}

fn read_patterns(bytes: &[u8], rebuild: &mut RebuildPattern<'_>) -> Result<Vec<Arc<Pattern>>, BadImage> {
    let mut from = Reader::new(bytes);
    let mut reader = PatternReader::new(rebuild);
    let patterns = from.list(PATTERN_BYTES_MIN, |from| reader.read(from).map(Arc::new))?;
    from.finish().map(|()| patterns)
}

impl From<BadUnit> for BadImage {
    fn from(BadUnit(what): BadUnit) -> BadImage {
        BadImage(what)
    }
}

/// A unit's strings: those that are read later name them.
#[derive(Default)]
struct Strings {
    text: String,
    ranges: Vec<(u32, u32)>,
}

impl Strings {
    fn get(&self, id: StrId) -> Result<&str, BadImage> {
        let range = self.ranges.get(id.0 as usize);
        let text = range.and_then(|(start, end)| self.text.get(*start as usize..*end as usize));
        text.ok_or_else(|| BadImage("a string is no part of the text".to_owned()))
    }

    fn key(&self, id: StrId) -> Result<TextKey, BadImage> {
        self.get(id).map(TextKey::of)
    }
}

struct UnitReader<'b> {
    from: Reader<'b>,
    strings: Strings,
}

impl UnitReader<'_> {
    fn read(mut self, patterns: &[Arc<Pattern>]) -> Result<Unit, BadImage> {
        let digest = self.from.array()?;
        let (explain_at, accept) = (self.from.u32()?, Target::from_bits(self.from.u32()?));
        let (accept_guard, explain) = (Guard::from_bits(self.from.u32()?), self.from.u32()?);
        let revisits = self.from.bool()?;
        let code = self.code()?;
        self.strings.text.push_str(self.from.text()?);
        self.strings.ranges = self.from.rows::<8, _>(|row| (word_at(row, 0), word_at(row, 4)))?;
        let numbers = self.list(9, Self::number)?;
        let value_text = self.from.text()?.to_owned();
        let enums = self.list(ENUM_BYTES_MIN, Self::enumeration)?;
        let switches = self.list(SWITCH_BYTES_MIN, Self::switch)?;
        let pattern = |number: u32| patterns.get(number as usize).cloned();
        let patterns: Option<Vec<_>> = self.from.words()?.into_iter().map(pattern).collect();
        let patterns = patterns.ok_or_else(|| BadImage("a pattern is not there".to_owned()))?;
        let tables = self.list(TABLE_BYTES_MIN, Self::table)?;
        let lists = self.from.words()?;
        let notes = self.from.list(NOTE_BYTES, |from| {
            read_note(&from.array()?).ok_or_else(|| BadImage("a note is of no kind that there is".to_owned()))
        })?;
        let note_texts = self.from.rows::<4, _>(|row| StrId(word_at(row, 0)))?;
        let note_at = self.from.rows::<8, _>(|row| (word_at(row, 0), word_at(row, 4)))?;
        self.from.finish()?;
        let Strings { text, ranges: strings } = self.strings;
        let parts = UnitParts {
            code,
            explain_at,
            accept,
            accept_guard,
            explain,
            text,
            strings,
            numbers,
            value_text,
            enums,
            switches,
            patterns,
            tables,
            lists,
            notes,
            note_texts,
            note_at,
            digest,
            revisits,
        };
        Ok(Unit::new(parts)?)
    }

    fn list<T>(
        &mut self,
        bytes_each: usize,
        read: impl Fn(&mut Reader<'_>, &Strings) -> Result<T, BadImage>,
    ) -> Result<Vec<T>, BadImage> {
        let strings = &self.strings;
        self.from.list(bytes_each, |from| read(from, strings))
    }

    fn code(&mut self) -> Result<Vec<Word>, BadImage> {
        self.from.rows::<8, _>(|row| Word {
            op: row[0],
            a: row[1],
            b: u16::from_le_bytes([row[2], row[3]]),
            c: word_at(row, 4),
        })
    }

    fn number(from: &mut Reader<'_>, strings: &Strings) -> Result<PoolNumber, BadImage> {
        let (kind, bytes) = (from.u8()?, from.array()?);
        if kind == INT {
            return Ok(PoolNumber::Int(i64::from_le_bytes(bytes)));
        }
        let literal = u32::try_from(u64::from_le_bytes(bytes)).ok().filter(|_| kind == LITERAL).map(StrId);
        let literal = literal.ok_or_else(|| BadImage("a number is of no kind that there is".to_owned()))?;
        match Number::parse(strings.get(literal)?) {
            Ok(Number::Decimal { value, .. }) => Ok(PoolNumber::Decimal(value, literal)),
            Ok(Number::Big(_)) => Ok(PoolNumber::Big(literal)),
            Ok(Number::Int(_)) | Err(_) => Err(BadImage("a number is not its literal".to_owned())),
        }
    }

    fn enumeration(from: &mut Reader<'_>, strings: &Strings) -> Result<EnumSet, BadImage> {
        let flags = from.u8()?;
        if flags > 7 {
            return Err(BadImage("an enumeration has more constants than there are".to_owned()));
        }
        let texts = from.list(4, |from| {
            let id = StrId(from.u32()?);
            Ok((strings.key(id)?, id))
        })?;
        let index = index(from, &texts, |(_, id)| *id, strings)?;
        let (numbers, containers) = (from.words()?, from.words()?);
        Ok(EnumSet {
            null: flags & 1 != 0,
            yes: flags & 2 != 0,
            no: flags & 4 != 0,
            strings: texts,
            index,
            numbers,
            containers,
        })
    }

    fn switch(from: &mut Reader<'_>, strings: &Strings) -> Result<TagSwitch, BadImage> {
        let name = StrId(from.u32()?);
        let tags = from.list(8, |from| {
            let (text, target) = (StrId(from.u32()?), Target::from_bits(from.u32()?));
            Ok(Tag { key: strings.key(text)?, text, target })
        })?;
        let index = index(from, &tags, |tag| tag.text, strings)?;
        Ok(TagSwitch { name, tags, index })
    }

    fn table(from: &mut Reader<'_>, strings: &Strings) -> Result<Table, BadImage> {
        let names = from.list(12, |from| {
            let row: [u8; 12] = from.array()?;
            let (name, target) = (StrId(word_at(&row, 0)), Target::from_bits(word_at(&row, 4)));
            let bits = word_at(&row, 8);
            if bits >> 17 != 0 {
                return Err(BadImage("a property has more to it than there is".to_owned()));
            }
            let (guard, declared) = (Guard::from_bits(bits), bits >> 16 != 0);
            Ok(TableName { key: strings.key(name)?, name, target, guard, declared })
        })?;
        let index = index(from, &names, |name| name.name, strings)?;
        let required = from.u64()?;
        let patterns = from.rows::<8, _>(|row| (word_at(row, 0), Target::from_bits(word_at(row, 4))))?;
        let extra = match (from.u8()?, Target::from_bits(from.u32()?)) {
            (SKIP, Target::NONE) => Extra::Skip,
            (FORBID, Target::NONE) => Extra::Forbid,
            (RUN, target) => Extra::Run(target),
            _ => return Err(BadImage("a property table ends in nothing that there is".to_owned())),
        };
        Ok(Table { names, index, required, patterns, extra })
    }
}

/// The index of names whose keys, and so whose texts, are known to be there.
fn index<T: Keyed>(
    from: &mut Reader<'_>,
    names: &[T],
    id: impl Fn(&T) -> StrId,
    strings: &Strings,
) -> Result<NameIndex, BadImage> {
    let index = NameIndex::of_spread(names, |name| strings.get(id(name)).unwrap_or_default(), from.u8()?);
    index.ok_or_else(|| BadImage("names are spread in a way that there is not".to_owned()))
}

fn read_note(row: &[u8; NOTE_BYTES]) -> Option<Note> {
    let [types, wording, path, zero] = [row[28], row[29], row[30], row[31]];
    let (keyword, element) = (StrId(word_at(row, 20)), word_at(row, 24));
    let path = match path {
        HERE if keyword.0 == 0 && element == 0 => NotePath::Here,
        KEYWORD if element == 0 => NotePath::Keyword(keyword),
        ELEMENT => NotePath::Element(keyword, element),
        _ => return None,
    };
    Some(Note {
        keyword: StrId(word_at(row, 0)),
        keyword_location: StrId(word_at(row, 4)),
        description: StrId(word_at(row, 8)),
        types: Types(types),
        wording: Wording::from_u8(wording).filter(|_| zero == 0)?,
        texts: (word_at(row, 12), word_at(row, 16)),
        path,
    })
}
