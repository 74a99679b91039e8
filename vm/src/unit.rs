//! The unit: one tool, compiled.
//!
//! ```text
//! code    accept section ─ fused, stops at the first failure      hot
//!         explain section ─ source order, exhaustive              cold
//! pools   strings, numbers, values, enums, patterns, tables, lists
//! notes   by pc of the explain section: words, location, description
//! ```
//!
//! A unit is position-independent: instructions name each other by pc and everything else by pool id. Nothing in
//! it depends on a hash seed or an address, so the same tool with the same options gives the same unit.
//! [`UnitParts`] is what the compiler fills, or a compiled file ([`crate::image`]); [`Unit::new`] checks all of it, after
//! which no instruction can reach outside, whoever made the parts.

mod check;
mod constants;
mod reach;

use std::sync::{Arc, OnceLock};

use crate::failure::Wording;
use crate::insn::{Target, Types, Word};
use crate::names::{Keyed, NameIndex, TextKey};
use crate::number::Number;
use crate::opcode::Opcode;
use crate::pattern::Pattern;
use crate::tape::{Node, Tape};
use crate::text::Text;

use constants::Constants;

/// The version of the instruction set and of the unit's layout: part of every digest, and of every compiled file. It
/// changes with the operands of an instruction, with what one means, and with what a unit's parts mean.
pub const FORMAT_VERSION: u32 = 3;

/// An index into the string pool.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StrId(pub u32);

impl StrId {
    /// No string: a schema without description.
    pub const NONE: StrId = StrId(u32::MAX);
}

/// A number of the schema.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum PoolNumber {
    /// An integer within 64 bits.
    Int(i64),
    /// A larger integer: its literal.
    Big(StrId),
    /// A decimal: nearest double and literal.
    Decimal(f64, StrId),
}

/// The values of an `enum`, sorted for look-up.
#[derive(Clone, Debug, Default)]
pub struct EnumSet {
    /// `null`, `true` and `false` where they are in the list.
    pub null: bool,
    /// See `null`.
    pub yes: bool,
    /// See `null`.
    pub no: bool,
    /// Strings, by bytes.
    pub strings: Vec<(TextKey, StrId)>,
    /// Finds them.
    pub index: NameIndex,
    /// Numbers, by value. Ids of the number pool.
    pub numbers: Vec<u32>,
    /// Arrays and objects. Ids of the value pool.
    pub containers: Vec<u32>,
}

/// A union of objects that the text of one required member tells apart.
#[derive(Clone, Debug)]
pub struct TagSwitch {
    /// The member's name.
    pub name: StrId,
    /// The texts, and the branch that each means.
    pub tags: Vec<Tag>,
    /// Finds them.
    pub index: NameIndex,
}

/// One text of a [`TagSwitch`].
#[derive(Clone, Copy, Debug)]
pub struct Tag {
    /// What the text is found by.
    pub key: TextKey,
    /// The text.
    pub text: StrId,
    /// The branch.
    pub target: Target,
}

impl Keyed for Tag {
    #[inline]
    fn key(&self) -> TextKey {
        self.key
    }
}

/// What becomes of a member that neither a name nor a pattern of the table claims.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extra {
    /// It is of no interest.
    Skip,
    /// It fails.
    Forbid,
    /// Its value is judged.
    Run(Target),
}

/// What the types of a value decide before any block runs: the head of the block for it, taken out.
///
/// A value of a type in `pass` satisfies the block; any other that is not of a type in `admit` fails it; the rest is
/// the block's to judge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Guard {
    /// Types that pass at once.
    pub pass: Types,
    /// Types that may pass.
    pub admit: Types,
}

impl Guard {
    /// Decides nothing.
    pub const OPEN: Guard = Guard { pass: Types::NONE, admit: Types::ANY };

    /// The guard as a word of a list.
    pub fn bits(self) -> u32 {
        u32::from(self.pass.0) | u32::from(self.admit.0) << 8
    }

    /// Back from a list.
    pub fn from_bits(bits: u32) -> Guard {
        Guard { pass: Types(bits as u8), admit: Types((bits >> 8) as u8) }
    }
}

/// One name of a property table.
#[derive(Clone, Copy, Debug)]
pub struct TableName {
    /// What the name is found by.
    pub key: TextKey,
    /// The name.
    pub name: StrId,
    /// The block for its value, or none (a property that is only required, or has no further constraint).
    pub target: Target,
    /// What is decided before the block.
    pub guard: Guard,
    /// Whether `properties` has it: if not, it counts as a further member.
    pub declared: bool,
}

impl Keyed for TableName {
    #[inline]
    fn key(&self) -> TextKey {
        self.key
    }
}

impl Keyed for (TextKey, StrId) {
    #[inline]
    fn key(&self) -> TextKey {
        self.0
    }
}

/// A property table.
#[derive(Clone, Debug)]
pub struct Table {
    /// The names in schema order; in tables of more than 64, the required ones first.
    pub names: Vec<TableName>,
    /// Finds them.
    pub index: NameIndex,
    /// The required names that `object_table` watches: a bit for each of the first 64.
    pub required: u64,
    /// `patternProperties`: pattern id and target.
    pub patterns: Vec<(u32, Target)>,
    /// The rest.
    pub extra: Extra,
}

/// One step of a schema location.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Segment {
    /// A keyword or a name under it.
    Name(StrId),
    /// An index under a keyword.
    Index(u32),
}

/// The evaluation path from a block's start to an instruction's keyword: of two steps at most.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum NotePath {
    /// No step.
    Here,
    /// The keyword.
    Keyword(StrId),
    /// An element of the keyword's list.
    Element(StrId, u32),
}

impl NotePath {
    /// Whether there is no step.
    pub fn is_empty(self) -> bool {
        self == NotePath::Here
    }

    /// The steps.
    pub fn segments(self) -> impl Iterator<Item = Segment> {
        let (keyword, index) = match self {
            NotePath::Here => (None, None),
            NotePath::Keyword(keyword) => (Some(keyword), None),
            NotePath::Element(keyword, index) => (Some(keyword), Some(index)),
        };
        keyword.map(Segment::Name).into_iter().chain(index.map(Segment::Index))
    }
}

/// What is said when an instruction fails; fixed when the schema was compiled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Note {
    /// The failing keyword in its own spelling; [`StrId::NONE`] for the schema `false`.
    pub keyword: StrId,
    /// JSON Pointer of the keyword in the schema document.
    pub keyword_location: StrId,
    /// The description of the schema object that holds the keyword.
    pub description: StrId,
    /// The types which that object names, none if it has no `type`.
    pub types: Types,
    /// How the failure is worded.
    pub wording: Wording,
    /// Texts of the wording, in value notation: a bound, names, schemas. Then what only a reading ([`mod@crate::read`]) asks
    /// for: the title of a schema behind its types, the discriminator of a union behind its branches, and of properties the
    /// word that lets further ones through. Where they begin and end among [`UnitParts::note_texts`].
    pub texts: (u32, u32),
    /// The evaluation path from the block's start.
    pub path: NotePath,
}

/// Everything of a unit, before it is checked.
#[derive(Clone, Debug)]
pub struct UnitParts {
    /// The accept section, then the explain section.
    pub code: Vec<Word>,
    /// Where the explain section starts.
    pub explain_at: u32,
    /// Entry of the accept section: none if it accepts everything that its guard lets through.
    pub accept: Target,
    /// What is decided before the accept section.
    pub accept_guard: Guard,
    /// Entry of the explain section.
    pub explain: u32,
    /// All strings, one after the other.
    pub text: String,
    /// Where each string lies in `text`.
    pub strings: Vec<(u32, u32)>,
    /// Numbers.
    pub numbers: Vec<PoolNumber>,
    /// The constants: a JSON array of them, or nothing where there are none.
    pub value_text: String,
    /// Enumerations.
    pub enums: Vec<EnumSet>,
    /// Tagged unions.
    pub switches: Vec<TagSwitch>,
    /// Patterns, shared between units of one catalog.
    pub patterns: Vec<Arc<Pattern>>,
    /// Property tables.
    pub tables: Vec<Table>,
    /// Lists: a length, then as many words.
    pub lists: Vec<u32>,
    /// Notes.
    pub notes: Vec<Note>,
    /// The texts of all notes, one after the other.
    pub note_texts: Vec<StrId>,
    /// From a pc to its note, by pc.
    pub note_at: Vec<(u32, u32)>,
    /// Digest of the schema text, the options and the format.
    pub digest: [u8; 32],
    /// Whether instances are visited again and again, so that bytes are put on a tape first.
    pub revisits: bool,
}

impl Default for UnitParts {
    fn default() -> Self {
        UnitParts {
            code: Vec::new(),
            explain_at: 0,
            accept: Target::NONE,
            accept_guard: Guard::OPEN,
            explain: 0,
            text: String::new(),
            strings: Vec::new(),
            numbers: Vec::new(),
            value_text: String::new(),
            enums: Vec::new(),
            switches: Vec::new(),
            patterns: Vec::new(),
            tables: Vec::new(),
            lists: Vec::new(),
            notes: Vec::new(),
            note_texts: Vec::new(),
            note_at: Vec::new(),
            digest: [0; 32],
            revisits: false,
        }
    }
}

/// A compiled tool.
#[derive(Clone, Debug)]
pub struct Unit {
    pub(crate) parts: UnitParts,
    /// The table that the accept section is, if it is nothing else.
    root_table: Option<u32>,
    constants: Constants,
    requirements: Requirements,
    /// The names of all property tables in their order, once they have been asked for.
    declared: OnceLock<Box<[StrId]>>,
}

/// What a unit asks of the memory that calls are judged in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Requirements {
    /// The longest chain of blocks that judge one instance. Unit: frames.
    pub frames_per_level: usize,
    /// Blocks that keep their verdicts.
    pub kept: usize,
    /// Instructions whose messages list members or elements.
    pub listing: usize,
}

/// What is wrong with a unit's parts: a fault of the compiler, never of a schema; or of whoever wrote a compiled file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadUnit(pub String);

impl Unit {
    /// Checks the parts: `unit/check.rs` says what holds afterwards. Cost: linear in their size, but for names that are
    /// sorted.
    pub fn new(parts: UnitParts) -> Result<Unit, BadUnit> {
        let constants = Constants::read(&parts.value_text)?;
        let (requirements, declared) = (Requirements::default(), OnceLock::new());
        let mut unit = Unit { parts, root_table: None, constants, requirements, declared };
        unit.requirements = unit.check()?;
        let accept = unit.parts.accept;
        let word = unit.parts.code.get(accept.pc() as usize).filter(|_| accept.is_some() && accept.is_single());
        unit.root_table = word.filter(|word| word.opcode() == Opcode::ObjectTable).map(|word| word.c);
        Ok(unit)
    }

    /// The table that the accept section is, if it is nothing else.
    #[inline]
    pub(crate) fn root_table(&self) -> Option<&Table> {
        self.root_table.map(|id| self.table(id))
    }

    /// The digest of source, options and format: equal units have equal digests.
    pub fn digest(&self) -> &[u8; 32] {
        &self.parts.digest
    }

    /// Whether instances are visited again and again, so that text is put on a tape first.
    pub fn revisits(&self) -> bool {
        self.parts.revisits
    }

    /// What memory for calls is sized by.
    pub fn requirements(&self) -> Requirements {
        self.requirements
    }

    /// The patterns.
    pub fn patterns(&self) -> impl Iterator<Item = &Pattern> {
        self.parts.patterns.iter().map(Arc::as_ref)
    }

    /// Memory that the unit takes. Unit: bytes. First the hot section, then the cold one (explain code, notes).
    pub fn memory(&self) -> (usize, usize) {
        let parts = &self.parts;
        let accept = parts.explain_at as usize * size_of::<Word>();
        let tables: usize = parts
            .tables
            .iter()
            .map(|t| {
                size_of::<Table>()
                    + t.names.len() * size_of::<TableName>()
                    + t.index.memory()
                    + t.patterns.len() * size_of::<(u32, Target)>()
            })
            .sum();
        let switches: usize = parts.switches.iter().map(|s| s.tags.len() * size_of::<Tag>() + s.index.memory()).sum();
        let pools = switches + parts.numbers.len() * size_of::<PoolNumber>() + parts.lists.len() * 4 + tables;
        let patterns: usize = parts.patterns.iter().map(|p| p.memory()).sum();
        let explain = (parts.code.len() - parts.explain_at as usize) * size_of::<Word>();
        let notes = parts.notes.len() * size_of::<Note>() + parts.note_texts.len() * size_of::<StrId>();
        let cold = explain + notes + parts.note_at.len() * 8 + parts.text.len() + parts.strings.len() * 8;
        (accept + pools + patterns, cold)
    }

    /// Number of instructions: accept section, explain section.
    pub fn insn_len(&self) -> (usize, usize) {
        let accept = self.parts.explain_at as usize;
        (accept, self.parts.code.len() - accept)
    }

    pub(crate) fn code(&self) -> &[Word] {
        &self.parts.code
    }

    #[inline]
    pub(crate) fn str(&self, id: StrId) -> &str {
        let (start, end) = self.parts.strings[id.0 as usize];
        &self.parts.text[start as usize..end as usize]
    }

    pub(crate) fn opt_str(&self, id: StrId) -> Option<&str> {
        (id != StrId::NONE).then(|| self.str(id))
    }

    #[inline]
    pub(crate) fn number(&self, id: u32) -> Number<'_> {
        match self.parts.numbers[id as usize] {
            PoolNumber::Int(value) => Number::Int(value),
            PoolNumber::Big(literal) => Number::Big(self.str(literal)),
            PoolNumber::Decimal(value, literal) => Number::Decimal { value, literal: self.str(literal) },
        }
    }

    /// As [`number`](Self::number), to be compared with: without the literal of a decimal.
    #[inline]
    pub(crate) fn bound(&self, id: u32) -> Number<'_> {
        match self.parts.numbers[id as usize] {
            PoolNumber::Int(value) => Number::Int(value),
            PoolNumber::Big(literal) => Number::Big(self.str(literal)),
            PoolNumber::Decimal(value, _) => Number::Decimal { value, literal: "" },
        }
    }

    pub(crate) fn values(&self) -> Tape<'_> {
        self.constants.tape(&self.parts.value_text)
    }

    pub(crate) fn value(&self, id: u32) -> Node {
        self.constants.node(id)
    }

    #[inline]
    pub(crate) fn table(&self, id: u32) -> &Table {
        &self.parts.tables[id as usize]
    }

    #[inline]
    pub(crate) fn list(&self, at: u32) -> &[u32] {
        let at = at as usize;
        let len = self.parts.lists[at] as usize;
        &self.parts.lists[at + 1..=at + len]
    }

    pub(crate) fn pattern(&self, id: u32) -> &Pattern {
        &self.parts.patterns[id as usize]
    }

    /// The note of the instruction at `pc`, if it can fail.
    pub(crate) fn note(&self, pc: u32) -> Option<&Note> {
        self.note_at(self.note_index(pc)?)
    }

    /// The index of that note.
    pub(crate) fn note_index(&self, pc: u32) -> Option<u32> {
        let at = self.parts.note_at.binary_search_by_key(&pc, |(pc, _)| *pc).ok()?;
        Some(self.parts.note_at[at].1)
    }

    /// The note of that index.
    pub(crate) fn note_at(&self, index: u32) -> Option<&Note> {
        self.parts.notes.get(index as usize)
    }

    /// The note's texts.
    pub(crate) fn note_texts(&self, note: &Note) -> &[StrId] {
        let (from, to) = note.texts;
        &self.parts.note_texts[from as usize..to as usize]
    }

    /// Finds `name` in the table: its index. Cost: constant, and one comparison of texts longer than a key.
    #[inline(always)]
    #[allow(clippy::inline_always)] // the heart of every sweep
    pub(crate) fn find_name<'t>(&self, table: &'t Table, name: &str) -> Option<(usize, &'t TableName)> {
        table.index.find(name, &table.names, |entry| self.str(entry.name))
    }

    /// Whether the name is not to be shown where names are `masked`: no schema has it.
    pub(crate) fn hides(&self, name: Text<'_>, masked: bool) -> bool {
        masked && !self.declares(name)
    }

    /// Whether a property table has the name, wherever. Cost: a search among all names; see
    /// [`prepare_names`](Self::prepare_names).
    fn declares(&self, name: Text<'_>) -> bool {
        self.declared().binary_search_by(|id| Text::plain_text(self.str(*id)).compare(name)).is_ok()
    }

    /// Puts the names of all property tables in order, which masked texts look into. Allocates, once a unit; without it the
    /// first masked text does so.
    pub fn prepare_names(&self) {
        self.declared();
    }

    fn declared(&self) -> &[StrId] {
        self.declared.get_or_init(|| {
            let mut names: Vec<StrId> =
                self.parts.tables.iter().flat_map(|table| &table.names).map(|entry| entry.name).collect();
            names.sort_unstable_by_key(|id| self.str(*id));
            names.dedup_by_key(|id| self.str(*id));
            names.into_boxed_slice()
        })
    }

    /// The branch that `text` means. Cost: as [`find_name`](Self::find_name).
    pub(crate) fn branch(&self, switch: &TagSwitch, text: &str) -> Option<Target> {
        let tag = switch.index.find(text, &switch.tags, |tag| self.str(tag.text));
        tag.map(|(_, tag)| tag.target)
    }

    /// Whether the set holds `text`. Cost: as [`find_name`](Self::find_name).
    #[inline]
    pub(crate) fn has_string(&self, set: &EnumSet, text: &str) -> bool {
        set.index.find(text, &set.strings, |(_, string)| self.str(*string)).is_some()
    }
}
