//! What a block of explaining code says of a value, told from its instructions and their notes.

use crate::failure::Wording;
use crate::format::Format;
use crate::insn::{Operand, Target, Types, Word};
use crate::opcode::Opcode;
use crate::unit::{Note, StrId, Table, Unit};

/// References that are followed to what they refer to.
const REFERENCES_MAX: usize = 16;

/// A block: one schema object.
#[derive(Clone, Copy, Debug)]
pub(super) struct Block<'u> {
    pub(super) unit: &'u Unit,
    pub(super) pc: u32,
}

impl<'u> Block<'u> {
    /// The block that a target runs, unless it is none.
    pub(super) fn of(unit: &'u Unit, target: Target) -> Option<Block<'u>> {
        target.is_some().then(|| Block { unit, pc: target.pc() })
    }

    /// Its instructions.
    pub(super) fn words(self) -> impl Iterator<Item = (u32, Word)> + 'u {
        let words = self.unit.code().get(self.pc as usize..).unwrap_or_default();
        (self.pc..).zip(words.iter().copied()).take_while(|(_, word)| word.opcode() != Opcode::Leave)
    }

    /// The types of which values pass, whatever it says of others.
    pub(super) fn skipped(self) -> Types {
        self.find(Opcode::SkipType).map_or(Types::NONE, |(_, word)| Types(word.a))
    }

    /// Its first instruction of that kind.
    pub(super) fn find(self, op: Opcode) -> Option<(u32, Word)> {
        self.words().find(|(_, word)| word.opcode() == op)
    }

    pub(super) fn has(self, op: Opcode) -> bool {
        self.find(op).is_some()
    }

    /// The types that it names, and the instruction.
    pub(super) fn types(self) -> Option<(u32, Types)> {
        self.find(Opcode::TypeIs).map(|(pc, word)| (pc, Types(word.a)))
    }

    /// The format that it asserts, and the instruction.
    pub(super) fn format(self) -> Option<(u32, Format)> {
        self.find(Opcode::FormatIs).and_then(|(pc, word)| Some((pc, Format::from_u8(word.a)?)))
    }

    /// The instruction that compares with constants.
    pub(super) fn literal(self) -> Option<(u32, Word)> {
        self.find(Opcode::EnumIs).or_else(|| self.find(Opcode::ConstIs))
    }

    /// The table of its properties.
    pub(super) fn properties(self) -> Option<(u32, &'u Table)> {
        self.find(Opcode::Properties).map(|(pc, word)| (pc, self.unit.table(word.c)))
    }

    /// Whether it says that a value is null, and no more.
    pub(super) fn is_null(self) -> bool {
        self.types().is_some_and(|(_, types)| types == Types::NULL)
    }

    /// Whether objects of it are models rather than mappings: they have named properties.
    pub(super) fn is_model(self) -> bool {
        self.has(Opcode::Properties)
    }

    /// What a reference that stands alone leads to.
    pub(super) fn resolved(self) -> Block<'u> {
        let mut block = self;
        for _ in 0..REFERENCES_MAX {
            let says = |word: &Word| !matches!(word.opcode(), Opcode::AsJudged | Opcode::SkipType);
            let mut words = block.words().filter(|(_, word)| says(word));
            let (Some((_, word)), None) = (words.next(), words.next()) else {
                break;
            };
            let leads = matches!(word.opcode(), Opcode::Call | Opcode::CallMemo);
            let Some(next) = Block::of(self.unit, Target::decode(word.c)).filter(|_| leads) else {
                break;
            };
            block = next;
        }
        block
    }

    /// What is called by its title.
    pub(super) fn title(self) -> Option<&'u str> {
        let (pc, _) = self.types()?;
        note_text(self.unit, pc, 1)
    }

    /// Whether it stands among definitions: what refers to it calls it by its name.
    pub(super) fn is_definition(self) -> bool {
        let location =
            self.words().find_map(|(pc, _)| self.unit.note(pc)).map(|note| self.unit.str(note.keyword_location));
        let mut steps = location.unwrap_or_default().rsplit('/').skip(2);
        matches!(steps.next(), Some("$defs" | "definitions"))
    }

    /// The block for the property of that name, whose constants are tags of this one.
    pub(super) fn tag(self, name: &str) -> Option<Block<'u>> {
        let (_, table) = self.resolved().properties()?;
        let (_, property) = self.unit.find_name(table, name)?;
        let block = Block::of(self.unit, property.target)?.resolved();
        block.literal().map(|_| block)
    }
}

/// A text of the instruction's note.
pub(super) fn note_text(unit: &Unit, pc: u32, at: usize) -> Option<&str> {
    let note = unit.note(pc)?;
    unit.note_texts(note).get(at).map(|id| unit.str(*id))
}

/// The name of the property that tells the branches of the union apart.
pub(super) fn discriminator(unit: &Unit, pc: u32) -> Option<&str> {
    let word = unit.code().get(pc as usize)?;
    // A `oneOf` names its branches first.
    let before = if word.opcode() == Opcode::OneOf { unit.list(word.c).len() } else { 0 };
    note_text(unit, pc, before)
}

/// The constants that the instruction compares with, in the order of the schema, each in value notation.
pub(super) fn constants(unit: &Unit, pc: u32) -> impl Iterator<Item = &str> {
    let note: Option<&Note> = unit.note(pc);
    let text = note.and_then(|note| unit.note_texts(note).first()).map_or("", |id: &StrId| unit.str(*id));
    let is_list = note.is_some_and(|note| note.wording == Wording::NotOneOf);
    let inside =
        if is_list { text.strip_prefix('[').and_then(|text| text.strip_suffix(']')).unwrap_or(text) } else { text };
    Constants { rest: inside, whole: !is_list }
}

/// Splits a list in value notation.
struct Constants<'t> {
    rest: &'t str,
    whole: bool,
}

impl<'t> Iterator for Constants<'t> {
    type Item = &'t str;

    fn next(&mut self) -> Option<&'t str> {
        if self.rest.is_empty() {
            return None;
        }
        let end = if self.whole { self.rest.len() } else { end_of_first(self.rest) };
        let (first, rest) = self.rest.split_at(end);
        self.rest = rest.strip_prefix(", ").unwrap_or("");
        Some(first)
    }
}

/// Where the first element ends: at a comma outside of quotes and brackets.
fn end_of_first(text: &str) -> usize {
    let (mut quote, mut escaped, mut depth) = (None, false, 0_u32);
    for (at, byte) in text.bytes().enumerate() {
        match (quote, byte) {
            (Some(_), _) if escaped => escaped = false,
            (Some(_), b'\\') => escaped = true,
            (Some(open), _) => quote = Some(open).filter(|open| *open != byte),
            (None, b'\'' | b'"') => quote = Some(byte),
            (None, b'[' | b'{') => depth += 1,
            (None, b']' | b'}') => depth = depth.saturating_sub(1),
            (None, b',') if depth == 0 => return at,
            (None, _) => {}
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_split_at_their_own_commas() {
        let parts = |rest| Constants { rest, whole: false }.collect::<Vec<_>>();
        assert_eq!(parts("'a', 2, True"), ["'a'", "2", "True"]);
        assert_eq!(
            parts(r#""it's, so", '\', ', [1, 2], {'k': 'v, w'}"#),
            [r#""it's, so""#, r"'\', '", "[1, 2]", "{'k': 'v, w'}"]
        );
        assert!(parts("").is_empty());
    }
}
