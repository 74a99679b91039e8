//! The compiler's stages as text: the rules of every schema object, and the lowered blocks before they have pcs.
//!
//! For people who look for where a schema went another way than they thought; the last stage is the unit's own
//! [`Listing`](callgate_vm::listing::Listing).

use std::fmt::{self, Write};

use callgate_vm::insn::Flags;
use callgate_vm::listing::write_types;
use callgate_vm::opcode::Opcode;

use crate::ir::{Dependency, Model, Rule, Schema, quoted};
use crate::lower::{BlockId, Low, LowExtra, LowTable, NumberAt, Program};
use crate::pattern_cache::PatternNo;
use crate::refs::Place;

/// A stage of compilation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Schema objects as typed rules.
    Ir,
    /// Blocks of instructions with labels.
    Lowered,
}

/// Writes the rules of every schema that was read, in the order in which lowering asked for them.
pub(crate) fn write_ir(out: &mut String, model: &Model<'_, '_>) -> fmt::Result {
    for schema in model.read_schemas() {
        writeln!(out, "{}   draft {}", location(model, schema.place), schema.draft.name())?;
        if let Some(always) = schema.always {
            writeln!(out, "  {always}")?;
        }
        for at in schema.rules {
            write!(out, "  {:<22} ", at.keyword.name())?;
            write_rule(out, model, schema, &at.rule)?;
            out.write_char('\n')?;
        }
    }
    Ok(())
}

fn location(model: &Model<'_, '_>, place: Place) -> String {
    let pointer = model.registry.site(place).map(|site| model.registry.locations.pointer(site.location, ""));
    pointer.filter(|pointer| !pointer.is_empty()).unwrap_or_else(|| "/".to_owned())
}

fn write_rule(out: &mut String, model: &Model<'_, '_>, schema: &Schema<'_>, rule: &Rule<'_>) -> fmt::Result {
    let at = |place: &Place| format!("-> {}", location(model, *place));
    let all = |places: &[Place]| places.iter().map(at).collect::<Vec<_>>().join(", ");
    match rule {
        Rule::Type(types, _) => write_types(out, *types),
        Rule::Enum(node) | Rule::Const(node) | Rule::MultipleOf(node) => {
            out.write_str(&model.notation(schema.place, *node))
        }
        Rule::Bound(bound, node) => write!(out, "{bound:?} {}", model.notation(schema.place, *node)),
        Rule::Count(_, len) | Rule::ItemsEnd(len) => write!(out, "{len}"),
        Rule::Pattern(pattern) => {
            let pattern = model.pattern(*pattern);
            write!(out, "{} ({})", quoted(pattern.source()), pattern.engine())
        }
        Rule::Format(_, name) => out.write_str(name),
        Rule::UniqueItems => Ok(()),
        Rule::Required(names) => out.write_str(&names.iter().map(|name| quoted(name)).collect::<Vec<_>>().join(", ")),
        Rule::Dependencies(list) => {
            let items = list.iter().map(|(name, needed)| match needed {
                Dependency::Names(names) => format!("{}: {}", quoted(name), names.join(", ")),
                Dependency::Schema(place) => format!("{}: {}", quoted(name), at(place)),
            });
            out.write_str(&items.collect::<Vec<_>>().join("; "))
        }
        Rule::Properties(list) => out.write_str(
            &list.iter().map(|(name, place)| format!("{} {}", quoted(name), at(place))).collect::<Vec<_>>().join(", "),
        ),
        Rule::PatternProperties(list) => {
            let items = list.iter().map(|(pattern, place)| format!("{} {}", source(model, *pattern), at(place)));
            out.write_str(&items.collect::<Vec<_>>().join(", "))
        }
        Rule::Prefix(list) | Rule::AllOf(list) | Rule::AnyOf(list) | Rule::OneOf(list) => out.write_str(&all(list)),
        Rule::Items(start, place) => write!(out, "from {start} {}", at(place)),
        Rule::Contains(place, min, max) if *max == u32::MAX => write!(out, "{min}.. {}", at(place)),
        Rule::Contains(place, min, max) => write!(out, "{min}..={max} {}", at(place)),
        Rule::If(condition, then, otherwise) => {
            let branches = [Some(*condition), *then, *otherwise];
            out.write_str(
                &branches
                    .iter()
                    .map(|place| place.map_or("none".to_owned(), |place| at(&place)))
                    .collect::<Vec<_>>()
                    .join(", "),
            )
        }
        Rule::AdditionalProperties(place)
        | Rule::PropertyNames(place)
        | Rule::Not(place)
        | Rule::Ref(place)
        | Rule::UnevaluatedProperties(place)
        | Rule::UnevaluatedItems(place) => out.write_str(&at(place)),
        Rule::DynamicRef(place, anchor) => {
            write!(out, "{} {}", at(place), anchor.unwrap_or("(static)"))
        }
        Rule::RecursiveRef(place, dynamic) => {
            write!(out, "{} {}", at(place), if *dynamic { "dynamic" } else { "(static)" })
        }
    }
}

/// Writes the blocks of the program.
pub(crate) fn write_lowered(out: &mut String, model: &Model<'_, '_>, program: &Program<'_>) -> fmt::Result {
    for (at, block) in program.blocks.iter().enumerate() {
        let BlockId(id) = BlockId(at as u32);
        writeln!(out, "b{id} {:?} {}", block.key.kind, location(model, block.key.place))?;
        if let Some(BlockId(alias)) = block.alias {
            writeln!(out, "  is b{alias}")?;
            continue;
        }
        for op in block.ops.iter() {
            out.write_str("  ")?;
            write_low(out, model, &op.low)?;
            out.write_char('\n')?;
        }
    }
    Ok(())
}

fn write_low(out: &mut String, model: &Model<'_, '_>, low: &Low<'_>) -> fmt::Result {
    let name = |op: Opcode| op.info().mnemonic;
    let labels = |blocks: &[BlockId]| blocks.iter().map(|block| format!("b{}", block.0)).collect::<Vec<_>>().join(" ");
    let maybe = |block: &Option<BlockId>| block.map_or("none".to_owned(), |block| format!("b{}", block.0));
    let notation = |at: &NumberAt| model.notation(at.place, at.node);
    match low {
        Low::Plain(word) => {
            let op = word.opcode();
            write!(out, "{}", name(op))?;
            match op {
                Opcode::TypeIs => {
                    out.write_char(' ')?;
                    write_types(out, callgate_vm::insn::Types(word.a))
                }
                Opcode::UniqueItems | Opcode::Never | Opcode::TrackOpen => Ok(()),
                Opcode::TrackClose => write!(out, "{}", flags(Flags(word.a))),
                Opcode::FormatIs => write!(out, " #{}", word.a),
                _ => write!(out, " {}", word.c),
            }
        }
        Low::Number(build, place, node) => {
            let op = build(callgate_vm::insn::NumberId(0)).opcode();
            write!(out, "{} {}", name(op), model.notation(*place, *node))
        }
        Low::Enum(place, node) => write!(out, "{} {}", name(Opcode::EnumIs), model.notation(*place, *node)),
        Low::Const(place, node) => write!(out, "{} {}", name(Opcode::ConstIs), model.notation(*place, *node)),
        Low::Matches(pattern) => write!(out, "{} {}", name(Opcode::Matches), source(model, *pattern)),
        Low::Call { block, memo, track } => {
            let op = if *memo { Opcode::CallMemo } else { Opcode::Call };
            write!(out, "{} b{}{}", name(op), block.0, if *track { " track" } else { "" })
        }
        Low::Survey(table) => write_table(out, model, name(Opcode::Survey), table),
        Low::AsJudged(block) => write!(out, "{} b{}", name(Opcode::AsJudged), block.0),
        Low::SkipType { types, skip } => {
            write!(out, "{} ", name(Opcode::SkipType))?;
            write_types(out, *types)?;
            write!(out, " +{skip}")
        }
        Low::Required(table) => write_table(out, model, name(Opcode::Required), table),
        Low::DependentRequired(names) => write!(out, "{} {names:?}", name(Opcode::DependentRequired)),
        Low::ObjectTable(table) => write_table(out, model, name(Opcode::ObjectTable), table),
        Low::Properties(table) => write_table(out, model, name(Opcode::Properties), table),
        Low::PatternProperties(pairs) => {
            write!(out, "{}", name(Opcode::PatternProperties))?;
            pairs.iter().try_for_each(|(pattern, block)| write!(out, " {}: b{}", source(model, *pattern), block.0))
        }
        Low::AdditionalProperties { flags: set, table } => {
            write_table(out, model, name(Opcode::AdditionalProperties), table)?;
            out.write_str(&flags(*set))
        }
        Low::PropertyNames(block) => write!(out, "{} b{}", name(Opcode::PropertyNames), block.0),
        Low::DependentSchema(member, block) => {
            write!(out, "{} {}: b{}", name(Opcode::DependentSchema), quoted(member), block.0)
        }
        Low::PrefixItems(blocks) => write!(out, "{} {}", name(Opcode::PrefixItems), labels(blocks)),
        Low::Items { start, block, counts: None } => write!(out, "{} {start}.. b{}", name(Opcode::Items), block.0),
        Low::Items { start, block, counts: Some((min, max)) } => {
            write!(out, "{} {start}.. b{} {min}..={max}", name(Opcode::CountedItems), block.0)
        }
        Low::InRange { lower, upper } => {
            let (least, greatest) = (notation(lower), notation(upper));
            write!(out, "{} {least}..={greatest}", name(Opcode::InRange))
        }
        Low::SwitchTag { name: tag, cases } => {
            write!(out, "{} {}", name(Opcode::SwitchTag), quoted(tag))?;
            cases.iter().try_for_each(|(text, block)| write!(out, " {}: b{}", quoted(text), block.0))
        }
        Low::Contains { flags: set, block, min, max } => {
            write!(out, "{} b{} {min}..={max}{}", name(Opcode::Contains), block.0, flags(*set))
        }
        Low::AnyOf { flags: set, branches } => {
            write!(out, "{} {}{}", name(Opcode::AnyOf), labels(branches), flags(*set))
        }
        Low::OneOf { flags: set, branches } => {
            write!(out, "{} {}{}", name(Opcode::OneOf), labels(branches), flags(*set))
        }
        Low::Not(block) => write!(out, "{} b{}", name(Opcode::Not), block.0),
        Low::If { flags: set, condition, then, otherwise } => {
            let op = name(Opcode::IfThenElse);
            write!(out, "{op} b{} {} {}{}", condition.0, maybe(then), maybe(otherwise), flags(*set))
        }
        Low::MarkBy(block) => write!(out, "{} b{}", name(Opcode::MarkBy), block.0),
        Low::MarkNames(table) => write_table(out, model, name(Opcode::MarkNames), table),
        Low::UnevaluatedProperties { flags: set, block } => {
            write!(out, "{} {}{}", name(Opcode::UnevaluatedProperties), maybe(block), flags(*set))
        }
        Low::UnevaluatedItems { flags: set, block } => {
            write!(out, "{} {}{}", name(Opcode::UnevaluatedItems), maybe(block), flags(*set))
        }
    }
}

fn flags(set: Flags) -> String {
    let names = [(Flags::TRACK, " track"), (Flags::SOFT, " soft")];
    names.iter().filter(|(flag, _)| set.has(*flag)).map(|(_, name)| *name).collect()
}

/// The pattern as the schema has it, in value notation.
fn source(model: &Model<'_, '_>, pattern: PatternNo) -> String {
    quoted(model.pattern(pattern).source())
}

fn write_table(out: &mut String, model: &Model<'_, '_>, mnemonic: &str, table: &LowTable<'_>) -> fmt::Result {
    write!(out, "{mnemonic} {{")?;
    for (at, name) in table.names.iter().enumerate() {
        write!(out, "{}{}", if at > 0 { ", " } else { "" }, quoted(name.name))?;
        if let Some(block) = name.block {
            write!(out, ": b{}", block.0)?;
        }
        out.write_str(if name.required { " !req" } else { "" })?;
    }
    for (pattern, block) in table.patterns {
        write!(out, ", {}", source(model, *pattern))?;
        if let Some(block) = block {
            write!(out, ": b{}", block.0)?;
        }
    }
    out.write_char('}')?;
    match table.extra {
        LowExtra::Skip => Ok(()),
        LowExtra::Forbid => out.write_str(" extra=forbid"),
        LowExtra::Run(None) => out.write_str(" extra=any"),
        LowExtra::Run(Some(block)) => write!(out, " extra: b{}", block.0),
    }
}
