//! What a block of explaining code says of a value, told from its instructions and their notes.

use crate::describe::block_words;
use crate::failure::Wording;
use crate::format::Format;
use crate::insn::{Operand, Target, Types, Word};
use crate::literal;
use crate::opcode::Opcode;
use crate::unit::{Note, StrId, Table, Unit};

/// References that are followed to what they refer to.
const REFERENCES_MAX: usize = 16;

/// A longer block than this, up to its type, says more than that a value is null. Unit: instructions.
const NULL_OPS_MAX: usize = 8;

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
        block_words(self.unit, self.pc)
    }

    /// How many instructions it has, which is what looking for one costs. Unit: fuel.
    pub(super) fn cost(self) -> u64 {
        self.words().count() as u64
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

    /// Whether it says that a value is null, and no more. Cost: constant, since unions ask it of every branch.
    pub(super) fn is_null(self) -> bool {
        let mut words = self.words().take(NULL_OPS_MAX);
        words.any(|(_, word)| word.opcode() == Opcode::TypeIs && Types(word.a) == Types::NULL)
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

/// The constants that the instruction compares with, in the order of the schema, in value notation: joined by `, `, and whether
/// they are a list.
pub(super) fn constants(unit: &Unit, pc: u32) -> (&str, bool) {
    let note: Option<&Note> = unit.note(pc);
    let text = note.and_then(|note| unit.note_texts(note).first()).map_or("", |id: &StrId| unit.str(*id));
    let inside = literal::inside(text).filter(|_| note.is_some_and(|note| note.wording == Wording::NotOneOf));
    inside.map_or((text, false), |inside| (inside, true))
}
