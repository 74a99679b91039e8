//! The listing: a unit as text, for people.
//!
//! One line an instruction, names instead of pool numbers, `>` before a line that something runs or jumps to. In
//! the explain section the keyword location is printed when it changes. Nothing in it depends on pool order, so a
//! change of one keyword changes few lines.

use std::collections::BTreeSet;
use std::fmt::{self, Write as _};

use crate::format::Format;
use crate::insn::{Flags, Operand, OperandKind, Target, Types, Word};
use crate::opcode::Opcode;
use crate::render::{write_text, write_value};
use crate::text::Text;
use crate::unit::{Extra, Guard, StrId, Table, Unit};

/// A unit with its name, to be printed.
#[derive(Clone, Copy, Debug)]
pub struct Listing<'u> {
    /// The tool's name.
    pub name: &'u str,
    /// The unit.
    pub unit: &'u Unit,
}

impl fmt::Display for Listing<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_unit(f, self.name, self.unit, 0, &|_| String::new())
    }
}

/// Writes the unit, each instruction behind what `before` says of it, in a column of that width.
pub(crate) fn write_unit(
    f: &mut fmt::Formatter<'_>,
    name: &str,
    unit: &Unit,
    width: usize,
    before: &dyn Fn(u32) -> String,
) -> fmt::Result {
    let (accept, explain) = unit.insn_len();
    let parts = &unit.parts;
    write!(f, "unit {name}   accept {accept} insns, {} tables", parts.tables.len())?;
    write!(f, "   explain {explain} insns   notes {}", parts.notes.len())?;
    writeln!(f, "{}", if parts.revisits { "   revisits" } else { "" })?;
    let targets = targets(unit);
    let write_insn = |f: &mut fmt::Formatter<'_>, pc| {
        let mark = if targets.contains(&pc) { '>' } else { ' ' };
        writeln!(f, "{:<width$}{mark} {}", before(pc), Insn { unit, pc })
    };
    f.write_str("accept\n")?;
    for pc in 0..parts.explain_at {
        write_insn(f, pc)?;
    }
    f.write_str("explain\n")?;
    let mut location = None;
    for pc in parts.explain_at..parts.code.len() as u32 {
        if let Some(note) = unit.note(pc) {
            let here = unit.str(note.keyword_location);
            // What has no keyword is of the object itself.
            let object = here.rsplit_once('/').map_or("", |(object, _)| object);
            let here = if note.keyword == StrId::NONE { here } else { object };
            if location != Some(here) {
                writeln!(f, "{:width$}        ; {}", "", if here.is_empty() { "/" } else { here })?;
                location = Some(here);
            }
        }
        write_insn(f, pc)?;
    }
    Ok(())
}

/// One instruction as it stands in a listing, without its mark.
#[derive(Clone, Copy, Debug)]
pub struct Insn<'u> {
    /// The unit.
    pub unit: &'u Unit,
    /// Which instruction.
    pub pc: u32,
}

impl fmt::Display for Insn<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let word = self.unit.code()[self.pc as usize];
        let mut operands = String::new();
        write_operands(&mut operands, self.unit, word)?;
        let mnemonic = word.opcode().info().mnemonic;
        if operands.is_empty() {
            return write!(f, "{:04}  {mnemonic}", self.pc);
        }
        write!(f, "{:04}  {mnemonic:<22} {operands}", self.pc)
    }
}

/// The pcs that something runs or jumps to.
fn targets(unit: &Unit) -> BTreeSet<u32> {
    let mut pcs = BTreeSet::new();
    for word in unit.code() {
        each_target(unit, *word, &mut |target| {
            pcs.insert(target.pc());
        });
    }
    pcs
}

/// Every block that the instruction runs or jumps to.
pub(crate) fn each_target(unit: &Unit, word: Word, add: &mut dyn FnMut(Target)) {
    let mut add = |target: Target| {
        if target.is_some() {
            add(target);
        }
    };
    let list = || unit.list(word.c).iter().map(|bits| Target::from_bits(*bits));
    match word.opcode() {
        Opcode::PatternProperties => list().skip(1).step_by(2).for_each(&mut add),
        Opcode::DependentSchema => list().skip(1).for_each(&mut add),
        Opcode::Contains => list().take(1).for_each(&mut add),
        Opcode::CountedItems => list().skip(2).take(1).for_each(&mut add),
        Opcode::SwitchTag => unit.parts.switches[word.c as usize].tags.iter().for_each(|tag| add(tag.target)),
        Opcode::AnyOf | Opcode::OneOf | Opcode::IfThenElse | Opcode::PrefixItems => list().for_each(&mut add),
        op if op.has_operand(OperandKind::Target) => add(Target::from_bits(word.c)),
        op if op.has_operand(OperandKind::Table) => {
            let table = unit.table(word.c);
            table.names.iter().for_each(|name| add(name.target));
            table.patterns.iter().for_each(|(_, target)| add(*target));
            if let Extra::Run(target) = table.extra {
                add(target);
            }
        }
        _ => {}
    }
}

fn write_operands(out: &mut String, unit: &Unit, word: Word) -> fmt::Result {
    let op = word.opcode();
    for (name, slot, kind) in op.info().operands {
        let bits = match slot {
            'a' => u32::from(word.a),
            'b' => u32::from(word.b),
            _ => word.c,
        };
        if *kind == OperandKind::Flags && bits == 0 {
            continue;
        }
        if !out.is_empty() {
            out.push_str("  ");
        }
        match kind {
            OperandKind::Types => write_types(out, Types(bits as u8))?,
            OperandKind::Flags => write_flags(out, Flags(bits as u8)),
            OperandKind::Format => out.push_str(Format::from_u8(bits as u8).map_or("?", Format::name)),
            OperandKind::Len if bits == u32::MAX => write!(out, "{name}=all")?,
            OperandKind::Len => write!(out, "{bits}")?,
            OperandKind::Target => write_target(out, Target::from_bits(bits))?,
            OperandKind::Number => unit.number(bits).write(out)?,
            OperandKind::Value => write_value(out, unit.values(), unit.value(bits))?,
            OperandKind::Enum => write_enum(out, unit, bits)?,
            OperandKind::Switch => write_switch(out, unit, bits)?,
            OperandKind::Pattern => write_pattern(out, unit, bits)?,
            OperandKind::Table => write_table(out, unit, op, unit.table(bits))?,
            OperandKind::List => write_list(out, unit, op, unit.list(bits))?,
        }
    }
    Ok(())
}

/// The types of a set, in the order of the specification.
pub fn write_types(out: &mut impl fmt::Write, types: Types) -> fmt::Result {
    const NAMES: [(Types, &str); 8] = [
        (Types::NULL, "null"),
        (Types::BOOLEAN, "boolean"),
        (Types::OBJECT, "object"),
        (Types::ARRAY, "array"),
        (Types::NUMBER, "number"),
        (Types::STRING, "string"),
        (Types::INTEGER, "integer"),
        (Types::INTEGER_LITERAL, "integer literal"),
    ];
    if types == Types::ANY {
        return out.write_str("any");
    }
    let mut first = true;
    for (one, name) in NAMES {
        if types.meets(one) {
            write!(out, "{}{name}", if first { "" } else { "|" })?;
            first = false;
        }
    }
    Ok(())
}

fn write_flags(out: &mut String, flags: Flags) {
    let names = [
        (Flags::TRACK, "track"),
        (Flags::SOFT, "soft"),
        (Flags::UNKNOWN, "unknown"),
        (Flags::OPEN_BELOW, "open_below"),
        (Flags::OPEN_ABOVE, "open_above"),
    ];
    let set: Vec<&str> = names.iter().filter(|(flag, _)| flags.has(*flag)).map(|(_, name)| *name).collect();
    out.push_str(&set.join(" "));
}

fn write_target(out: &mut String, target: Target) -> fmt::Result {
    if target.is_some() { write!(out, "->{:04}", target.pc()) } else { out.write_str("none") }
}

fn write_enum(out: &mut String, unit: &Unit, id: u32) -> fmt::Result {
    let set = &unit.parts.enums[id as usize];
    let mut first = true;
    let mut item = |out: &mut String| {
        out.push_str(if first { "{" } else { ", " });
        first = false;
    };
    for (is, word) in [(set.null, "None"), (set.yes, "True"), (set.no, "False")] {
        if is {
            item(out);
            out.push_str(word);
        }
    }
    for (_, string) in &set.strings {
        item(out);
        write_text(out, Text::plain_text(unit.str(*string)))?;
    }
    for number in &set.numbers {
        item(out);
        unit.number(*number).write(out)?;
    }
    for value in &set.containers {
        item(out);
        write_value(out, unit.values(), unit.value(*value))?;
    }
    if first {
        out.push('{');
    }
    out.push('}');
    Ok(())
}

fn write_switch(out: &mut String, unit: &Unit, id: u32) -> fmt::Result {
    let switch = &unit.parts.switches[id as usize];
    write_text(out, Text::plain_text(unit.str(switch.name)))?;
    out.push_str("  {");
    for (at, tag) in switch.tags.iter().enumerate() {
        out.push_str(if at > 0 { ", " } else { "" });
        write_text(out, Text::plain_text(unit.str(tag.text)))?;
        out.push_str(": ");
        write_target(out, tag.target)?;
    }
    out.push('}');
    Ok(())
}

fn write_pattern(out: &mut String, unit: &Unit, id: u32) -> fmt::Result {
    let pattern = unit.pattern(id);
    write_text(out, Text::plain_text(pattern.source()))?;
    write!(out, " ({})", pattern.engine())
}

fn write_table(out: &mut String, unit: &Unit, op: Opcode, table: &Table) -> fmt::Result {
    out.push('{');
    for (at, name) in table.names.iter().enumerate() {
        out.push_str(if at > 0 { ", " } else { "" });
        write_text(out, Text::plain_text(unit.str(name.name)))?;
        if op == Opcode::Required {
            continue;
        }
        write_child(out, name.guard, name.target)?;
        if at < 64 && table.required >> at & 1 != 0 {
            out.push_str(" !req");
        }
        if !name.declared {
            out.push_str(" !undeclared");
        }
    }
    for (pattern, target) in &table.patterns {
        out.push_str(if out.ends_with('{') { "" } else { ", " });
        write_pattern(out, unit, *pattern)?;
        if target.is_some() {
            out.push_str(": ");
            write_target(out, *target)?;
        }
    }
    out.push('}');
    match table.extra {
        Extra::Skip => {}
        Extra::Forbid => out.push_str("  extra=forbid"),
        Extra::Run(target) if !target.is_some() => out.push_str("  extra=any"),
        Extra::Run(target) => {
            out.push_str("  extra: ");
            write_target(out, target)?;
        }
    }
    Ok(())
}

/// What becomes of a child: types that pass at once, then those that its block is run on.
fn write_child(out: &mut String, guard: Guard, target: Target) -> fmt::Result {
    let mut mark = ": ";
    if guard.pass != Types::NONE {
        out.push_str(mark);
        write_types(out, guard.pass)?;
        mark = " or ";
    }
    if !target.is_some() {
        return Ok(());
    }
    out.push_str(mark);
    if guard.admit != Types::ANY {
        write_types(out, guard.admit)?;
        out.push(' ');
    }
    write_target(out, target)
}

fn write_list(out: &mut String, unit: &Unit, op: Opcode, list: &[u32]) -> fmt::Result {
    let string = |out: &mut String, id: u32| write_text(out, Text::plain_text(unit.str(StrId(id))));
    match op {
        Opcode::DependentRequired => {
            for (at, id) in list.iter().enumerate() {
                out.push_str(["", ": ", ", "][at.min(2)]);
                string(out, *id)?;
            }
        }
        Opcode::DependentSchema => {
            string(out, list[0])?;
            out.push_str(": ");
            write_target(out, Target::from_bits(list[1]))?;
        }
        Opcode::PatternProperties => {
            for (at, pair) in list.chunks_exact(2).enumerate() {
                out.push_str(if at > 0 { ", " } else { "" });
                write_pattern(out, unit, pair[0])?;
                out.push_str(": ");
                write_target(out, Target::decode(pair[1]))?;
            }
        }
        Opcode::InRange => {
            unit.number(list[0]).write(out)?;
            out.push_str("..=");
            unit.number(list[1]).write(out)?;
        }
        Opcode::CountedItems => {
            write_types(out, Types(list[1] as u8))?;
            write!(out, "  {}  ", list[0])?;
            write_target(out, Target::from_bits(list[2]))?;
            write!(out, "  {}..", list[3])?;
            if list[4] != u32::MAX {
                write!(out, "={}", list[4])?;
            }
        }
        Opcode::Contains => {
            write_target(out, Target::from_bits(list[0]))?;
            write!(out, "  {}..", list[1])?;
            if list[2] != u32::MAX {
                write!(out, "={}", list[2])?;
            }
        }
        _ => {
            for (at, bits) in list.iter().enumerate() {
                out.push_str(if at > 0 { " " } else { "" });
                write_target(out, Target::from_bits(*bits))?;
            }
        }
    }
    Ok(())
}
