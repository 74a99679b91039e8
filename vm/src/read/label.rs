//! What a branch of a union is called in a location: `int`, `list[str]`, `literal['a','b']`, a model's title.

use std::fmt::{self, Write};

use super::block::{Block, constants};
use super::failure::NO_PC;
use super::scalar::type_of_branch;
use crate::format::Format;
use crate::insn::{Operand, Target, Types};
use crate::literal;
use crate::opcode::Opcode;
use crate::unit::{Extra, Unit};

/// Labels inside a label; what is deeper is not told. Unit: labels.
const DEPTH_MAX: u32 = 8;

/// Labels that one label is made of at most.
const PARTS_MAX: u32 = 64;

/// Text of one label; an `enum` in it may have any length. Unit: bytes.
const BYTES_MAX: usize = 4 << 10;

/// Constraints that make a plain type a constrained one.
const CONSTRAINTS: [Opcode; 8] = [
    Opcode::MultipleOf,
    Opcode::Maximum,
    Opcode::ExclusiveMaximum,
    Opcode::Minimum,
    Opcode::ExclusiveMinimum,
    Opcode::MinLength,
    Opcode::MaxLength,
    Opcode::Matches,
];

/// Writes the label of the branch whose block is at `pc`.
pub(super) fn write_label(out: &mut impl Write, unit: &Unit, pc: u32) -> fmt::Result {
    if pc == NO_PC {
        return out.write_str("any");
    }
    if let Some(types) = type_of_branch(pc) {
        return out.write_str(plain_name(types));
    }
    let mut out = Short { out, left: BYTES_MAX, is_cut: false };
    Labeller { out: &mut out, parts_left: PARTS_MAX }.block(Some(Block { unit, pc }), 0)
}

fn plain_name(types: Types) -> &'static str {
    match types {
        Types::NULL => "none",
        Types::BOOLEAN => "bool",
        Types::INTEGER | Types::INTEGER_LITERAL => "int",
        Types::NUMBER => "float",
        Types::STRING => "str",
        Types::ARRAY => "list[any]",
        Types::OBJECT => "dict[str,any]",
        _ => "any",
    }
}

fn format_name(format: Format) -> &'static str {
    match format {
        Format::DateTime => "datetime",
        Format::Date => "date",
        Format::Time => "time",
        Format::Duration => "timedelta",
        Format::Uuid => "uuid",
        Format::Uri => "url",
        _ => "str",
    }
}

/// Passes on so many bytes, and `…` once for all others.
struct Short<'w, W> {
    out: &'w mut W,
    left: usize,
    is_cut: bool,
}

impl<W: Write> Write for Short<'_, W> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        if self.is_cut {
            return Ok(());
        }
        let fitting = up_to(text, self.left);
        self.left -= fitting.len();
        self.out.write_str(fitting)?;
        self.is_cut = fitting.len() < text.len();
        if self.is_cut { self.out.write_char('…') } else { Ok(()) }
    }
}

/// As much of the text as so many bytes hold.
fn up_to(text: &str, bytes_max: usize) -> &str {
    let end = (0..=bytes_max.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    &text[..end]
}

struct Labeller<'s, 'w, W> {
    out: &'s mut Short<'w, W>,
    parts_left: u32,
}

impl<W: Write> Labeller<'_, '_, W> {
    /// Recursion is bounded by [`DEPTH_MAX`], width by [`PARTS_MAX`].
    fn block(&mut self, block: Option<Block<'_>>, depth: u32) -> fmt::Result {
        let Some(block) = block.map(Block::resolved) else {
            return self.out.write_str("any");
        };
        if depth > DEPTH_MAX || self.parts_left == 0 {
            return self.out.write_char('…');
        }
        self.parts_left -= 1;
        if block.literal().is_some() {
            return self.literal(block);
        }
        if let Some((pc, word)) = block.find(Opcode::AnyOf).or_else(|| block.find(Opcode::OneOf)) {
            debug_assert!(pc >= block.pc);
            return self.union(block, word.c, depth);
        }
        match block.types() {
            Some((_, Types::OBJECT)) => self.object(block, depth),
            Some((_, Types::ARRAY)) => self.array(block, depth),
            Some((_, types)) => self.scalar(block, types),
            None => self.out.write_str("any"),
        }
    }

    fn literal(&mut self, block: Block<'_>) -> fmt::Result {
        let Some((pc, word)) = block.literal() else {
            return Ok(());
        };
        if block.is_definition()
            && word.opcode() == Opcode::EnumIs
            && let Some(title) = block.title()
        {
            let prefix = match block.types() {
                Some((_, Types::STRING)) => "str-",
                Some((_, Types::INTEGER)) => "int-",
                Some((_, Types::NUMBER)) => "float-",
                _ => "",
            };
            return write!(self.out, "{prefix}enum[{title}]");
        }
        self.out.write_str("literal[")?;
        let (text, is_list) = constants(block.unit, pc);
        if is_list {
            // What is beyond is not seen in a label, though it has no spaces, and need not be taken apart.
            for (at, constant) in literal::elements_inside(up_to(text, 2 * BYTES_MAX)).enumerate() {
                self.out.write_str(if at > 0 { "," } else { "" })?;
                self.out.write_str(constant)?;
            }
        } else {
            self.out.write_str(text)?;
        }
        self.out.write_char(']')
    }

    /// Labels of what is inside a block; `…` once for all beyond those that a label has.
    fn list<'b>(&mut self, blocks: impl Iterator<Item = Option<Block<'b>>>, joint: &str, depth: u32) -> fmt::Result {
        for (at, block) in blocks.enumerate() {
            self.out.write_str(if at > 0 { joint } else { "" })?;
            if self.parts_left == 0 {
                return self.out.write_char('…');
            }
            self.block(block, depth + 1)?;
        }
        Ok(())
    }

    fn scalar(&mut self, block: Block<'_>, types: Types) -> fmt::Result {
        let name = plain_name(types);
        match block.format() {
            Some((_, format)) if types == Types::STRING => return self.out.write_str(format_name(format)),
            _ => {}
        }
        let is_constrained = types != Types::BOOLEAN && CONSTRAINTS.iter().any(|op| block.has(*op));
        self.out.write_str(if is_constrained { "constrained-" } else { "" })?;
        self.out.write_str(name)
    }

    fn array(&mut self, block: Block<'_>, depth: u32) -> fmt::Result {
        let item = |word: crate::insn::Word| Block::of(block.unit, Target::decode(word.c));
        if let Some((_, word)) = block.find(Opcode::PrefixItems) {
            self.out.write_str("tuple[")?;
            let elements = block.unit.list(word.c).iter();
            self.list(elements.map(|bits| Block::of(block.unit, Target::from_bits(*bits))), ", ", depth)?;
            return self.out.write_char(']');
        }
        self.out.write_str(if block.has(Opcode::UniqueItems) { "set[" } else { "list[" })?;
        self.block(block.find(Opcode::Items).and_then(|(_, word)| item(word)), depth + 1)?;
        self.out.write_char(']')
    }

    fn object(&mut self, block: Block<'_>, depth: u32) -> fmt::Result {
        if block.is_model()
            && let Some(title) = block.title()
        {
            return self.out.write_str(title);
        }
        let extra = block.find(Opcode::AdditionalProperties).map(|(_, word)| block.unit.table(word.c).extra);
        self.out.write_str("dict[str,")?;
        let value = match extra {
            Some(Extra::Run(target)) => Block::of(block.unit, target),
            _ => None,
        };
        self.block(value, depth + 1)?;
        self.out.write_char(']')
    }

    fn union(&mut self, block: Block<'_>, branches: u32, depth: u32) -> fmt::Result {
        let branches = block.unit.list(branches).iter().map(|bits| Block::of(block.unit, Target::from_bits(*bits)));
        let is_null = |branch: &Option<Block<'_>>| branch.is_some_and(|branch| branch.resolved().is_null());
        let has_null = branches.clone().any(|branch| is_null(&branch));
        let others = branches.filter(|branch| !is_null(branch));
        let several = others.clone().nth(1).is_some();
        self.out.write_str(if has_null { "nullable[" } else { "" })?;
        self.out.write_str(if several { "union[" } else { "" })?;
        self.list(others, ",", depth)?;
        self.out.write_str(if several { "]" } else { "" })?;
        self.out.write_str(if has_null { "]" } else { "" })
    }
}
