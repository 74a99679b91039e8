//! Constants: `enum` and `const`.
//!
//! Text is compared as it is. Numbers and booleans are what Python has them equal to: `1.0` and `true` are the constant `1`,
//! which then stands in their place. Where an enumeration of integers has a name, text that is one of them is taken too.

use super::Mode;
use super::block::Block;
use super::failure::FieldCode;
use super::integer;
use super::walk::{Exactness, Reader, Step, Value};
use crate::equal::{self, Budget};
use crate::insn::{Types, Word};
use crate::instance::{Instance as _, View};
use crate::limits::DEPTH_CEILING;
use crate::number::Number;
use crate::opcode::Opcode;
use crate::tape::{Node, TapeInstance};
use crate::unit::EnumSet;

/// How a value is among constants.
#[derive(Clone, Copy, Debug)]
pub(super) enum Found<'u> {
    No,
    /// It is one of them.
    Same,
    /// It is equal to a number of other spelling or type.
    Number(Number<'u>),
    /// It is equal to a boolean.
    Bool(bool),
}

impl<'r, 't> Reader<'r, 't> {
    /// The value as one of the block's constants.
    pub(super) fn literal(
        &mut self,
        block: Block<'r>,
        (pc, word): (u32, Word),
        node: Node,
        at: u32,
    ) -> Step<Option<Value<'t>>> {
        let named = block.is_definition();
        let mut found = self.found(word, node)?;
        if let Found::No = found
            && named
            && self.mode == Mode::Lax
        {
            found = self.found_in_text(word, node);
        }
        match found {
            Found::No => {
                let code = if self.is_long_among_integers(word, node)? {
                    FieldCode::IntParsingSize
                } else if named && word.opcode() == Opcode::EnumIs {
                    FieldCode::Enum
                } else {
                    FieldCode::Literal
                };
                self.fail(code, at, pc, node);
                Ok(None)
            }
            _ if self.mode == Mode::Schema => self.of_block(block, node, at),
            Found::Same => self.same(block, node, at),
            Found::Number(number) => {
                self.edit(node, |out| number.write(out));
                let types = View::Number(number).types();
                self.equal_to(block, types, node, at)
            }
            Found::Bool(is) => {
                self.edit(node, |out| std::fmt::Write::write_str(out, if is { "true" } else { "false" }));
                self.equal_to(block, View::Bool(is).types(), node, at)
            }
        }
    }

    /// The value as the constant of `types` that it is equal to: it is still held against what stands beside.
    fn equal_to(&mut self, block: Block<'r>, types: Types, node: Node, at: u32) -> Step<Option<Value<'t>>> {
        if block.types().is_some_and(|(_, wanted)| !types.meets(wanted)) {
            return self.of_block(block, node, at);
        }
        Ok(Some(match self.tape.view_node(node) {
            View::Bool(is) if types.meets(Types::WHOLE) => Value::Number(Number::Int(is.into())),
            View::Number(_) if types.meets(Types::BOOLEAN) => Value::Settled,
            _ => self.raw(node),
        }))
    }

    /// The value as it is; a constant that is not of the types beside it is out of reach.
    fn same(&mut self, block: Block<'r>, node: Node, at: u32) -> Step<Option<Value<'t>>> {
        let types = TapeInstance::new(self.tape, node).types(node)?;
        if block.types().is_none_or(|(_, wanted)| types.meets(wanted)) {
            return Ok(Some(self.raw(node)));
        }
        self.of_block(block, node, at)
    }

    /// Whether the value is among the constants of the instruction.
    pub(super) fn found(&mut self, word: Word, node: Node) -> Step<Found<'r>> {
        let view = self.tape.view_node(node);
        self.spend(1 + view.bytes() as u64 / 16)?;
        let unit = self.unit;
        if word.opcode() == Opcode::EnumIs {
            let set = unit.parts.enums.get(word.c as usize);
            return set.map_or(Ok(Found::No), |set| self.found_in(set, view, node));
        }
        let constant = unit.value(word.c);
        let values = unit.values();
        let alike = self.mode.is_pydantic();
        let same = |is| if is { Found::Same } else { Found::No };
        Ok(match (values.view_node(constant), view) {
            (View::Number(constant), View::Number(number)) if constant.compare(number).is_eq() => {
                if constant.is_integer_literal() == number.is_integer_literal() {
                    Found::Same
                } else {
                    Found::Number(constant)
                }
            }
            (View::Number(constant), View::Bool(is)) if alike && is_bit(constant, is) => Found::Number(constant),
            (View::Bool(is), View::Number(number)) if alike && is_bit(number, is) => Found::Bool(is),
            (View::Array | View::Object, View::Array | View::Object) => same(self.equals(word.c, node)?),
            (constant, view) => same(equal::equal_scalars(constant, view)),
        })
    }

    fn found_in(&mut self, set: &'r EnumSet, view: View<'t>, node: Node) -> Step<Found<'r>> {
        let same = |is| if is { Found::Same } else { Found::No };
        let alike = self.mode.is_pydantic();
        Ok(match view {
            View::Null => same(set.null),
            View::Bool(is) if if is { set.yes } else { set.no } => Found::Same,
            View::Bool(is) if alike => self.number_in(set, Number::Int(is.into())).map_or(Found::No, Found::Number),
            View::Bool(_) | View::NotJson(_) => Found::No,
            View::String(text) => {
                let text = text.plain(self.scratch.patterns.plain());
                same(self.unit.has_string(set, text))
            }
            View::Number(number) => {
                let literal = number.is_integer_literal();
                let constant = self.number_in(set, number);
                if constant.is_some_and(|constant| constant.is_integer_literal() == literal) {
                    return Ok(Found::Same);
                }
                // Python keeps the last of equal constants, and that is mostly the boolean.
                let bit = [(set.yes, true), (set.no, false)].into_iter().find(|(has, is)| *has && is_bit(number, *is));
                match (bit.filter(|_| alike), constant) {
                    (Some((_, is)), _) => Found::Bool(is),
                    (None, Some(constant)) => Found::Number(constant),
                    (None, None) => Found::No,
                }
            }
            View::Array | View::Object => {
                for value in &set.containers {
                    if self.equals(*value, node)? {
                        return Ok(Found::Same);
                    }
                }
                Found::No
            }
        })
    }

    fn number_in(&self, set: &EnumSet, number: Number<'_>) -> Option<Number<'r>> {
        let unit = self.unit;
        let at = set.numbers.binary_search_by(|id| unit.number(*id).compare(number)).ok()?;
        set.numbers.get(at).map(|id| unit.number(*id))
    }

    /// Text that is an integer among the constants.
    fn found_in_text(&mut self, word: Word, node: Node) -> Found<'r> {
        let View::String(text) = self.tape.view_node(node) else {
            return Found::No;
        };
        let set = self.unit.parts.enums.get(word.c as usize).filter(|_| word.opcode() == Opcode::EnumIs);
        let Some(set) = set.filter(|set| set.strings.is_empty()) else {
            return Found::No;
        };
        let text = text.plain(self.scratch.patterns.plain());
        self.reading.spare.clear();
        if integer::parse(text, &mut self.reading.spare).is_err() {
            return Found::No;
        }
        let number = Number::parse(&self.reading.spare).ok().and_then(|number| self.number_in(set, number));
        let Some(number) = number else {
            return Found::No;
        };
        self.floor(Exactness::Lax);
        Found::Number(number)
    }

    /// Whether an integer of more than 64 bits is looked for among integers, which pydantic does not do.
    fn is_long_among_integers(&mut self, word: Word, node: Node) -> Step<bool> {
        let is_long = matches!(self.tape.view_node(node), View::Number(Number::Big(_))) && self.mode.is_pydantic();
        if !is_long {
            return Ok(false);
        }
        let unit = self.unit;
        let is_integer = |number: Number<'_>| number.is_integer_literal();
        if word.opcode() == Opcode::ConstIs {
            let constant = unit.values().view_node(unit.value(word.c));
            return Ok(matches!(constant, View::Number(number) if is_integer(number)));
        }
        let Some(set) = unit.parts.enums.get(word.c as usize) else {
            return Ok(false);
        };
        self.spend(set.numbers.len() as u64)?;
        Ok(set.numbers.iter().any(|id| is_integer(unit.number(*id))))
    }

    fn equals(&mut self, constant: u32, node: Node) -> Step<bool> {
        let mut budget = Budget { fuel: self.fuel, depth: DEPTH_CEILING };
        let mut constants = TapeInstance::new(self.unit.values(), 0);
        let mut instance = TapeInstance::new(self.tape, node);
        let equal = equal::equal(&mut constants, self.unit.value(constant), &mut instance, node, &mut budget);
        self.fuel = budget.fuel;
        equal
    }
}

fn is_bit(number: Number<'_>, is: bool) -> bool {
    number.compare(Number::Int(is.into())).is_eq()
}
