//! Types and the constraints of scalars.

use std::fmt::Write as _;

use super::Mode;
use super::block::{Block, note_text};
use super::coerced::NOT_FINITE;
use super::failure::{FieldCode, FieldFailure, FieldStep, NO_PC};
use super::integer::IntProblem;
use super::walk::{Exactness, Fit, Misfit, Reader, Step, Value};
use super::{boolean, float, integer};
use crate::insn::Types;
use crate::instance::View;
use crate::number::Number;
use crate::opcode::Opcode;
use crate::tape::Node;

/// Doubles from here on are no 64-bit integers.
const TWO_TO_63: f64 = 9_223_372_036_854_775_808.0;

/// What the remainder may be and still count as none: this, or this share of the value. Source: pydantic-core, constraints of
/// floats.
const REMAINDER_MAX: f64 = 1e-9;

/// Constraints of numbers in the order in which they are looked at.
const OF_NUMBERS: [(Opcode, FieldCode); 5] = [
    (Opcode::MultipleOf, FieldCode::MultipleOf),
    (Opcode::Maximum, FieldCode::LessThanEqual),
    (Opcode::ExclusiveMaximum, FieldCode::LessThan),
    (Opcode::Minimum, FieldCode::GreaterThanEqual),
    (Opcode::ExclusiveMinimum, FieldCode::GreaterThan),
];

/// The types by their names in `type`.
const NAMES: [(&str, Types); 7] = [
    ("null", Types::NULL),
    ("boolean", Types::BOOLEAN),
    ("integer", Types::INTEGER),
    ("number", Types::NUMBER),
    ("string", Types::STRING),
    ("array", Types::ARRAY),
    ("object", Types::OBJECT),
];

impl<'t> Reader<'_, 't> {
    /// The value as one of the types that `type` names. With `null`, one other type is what is wanted; several are a union.
    pub(super) fn of_types(
        &mut self,
        block: Block<'_>,
        (pc, types): (u32, Types),
        node: Node,
        at: u32,
    ) -> Step<Option<Value<'t>>> {
        if types.meets(Types::NULL) && matches!(self.tape.view_node(node), View::Null) {
            return Ok(Some(Value::Settled));
        }
        let text = note_text(self.unit, pc, 0).unwrap_or_default();
        let wanted = || text.split(", ").filter_map(named).filter(|of| *of != Types::NULL);
        match (wanted().next(), wanted().nth(1)) {
            (None, _) => self.of_type(block, Types::NULL, pc, node, at),
            (Some(only), None) => self.of_type(block, only, pc, node, at),
            _ => self.of_one_of(block, pc, wanted(), node, at),
        }
    }

    /// The value as the first of several types that fits best.
    fn of_one_of(
        &mut self,
        block: Block<'_>,
        pc: u32,
        wanted: impl Iterator<Item = Types>,
        node: Node,
        at: u32,
    ) -> Step<Option<Value<'t>>> {
        let (outer, mark, edits) = (self.fit, self.reading.mark(), self.reading.edit_mark());
        let mut best: Option<(Exactness, Value<'t>)> = None;
        for of in wanted {
            self.fit = Fit::EXACT;
            let before = self.reading.edit_mark();
            match self.taken(block, of, node)? {
                Ok(value) if best.is_none_or(|(exactness, _)| self.fit.exactness > exactness) => {
                    best = Some((self.fit.exactness, value));
                    self.reading.undo_edits_between(edits, before);
                }
                Ok(_) => self.reading.undo_edits(before),
                Err(misfit) => {
                    self.reading.undo_edits(before);
                    let tried = self.reading.mark();
                    let location = self.reading.locations.push(at, FieldStep::Branch(branch_of(of)));
                    self.misfits(misfit, location, pc, node);
                    self.reading.forget_locations(tried);
                }
            }
        }
        self.fit = outer;
        if let Some((exactness, _)) = best {
            self.reading.rewind(mark);
            self.floor(exactness);
        }
        Ok(best.map(|(_, value)| value))
    }

    /// The value as that type.
    pub(super) fn of_type(
        &mut self,
        block: Block<'_>,
        wanted: Types,
        pc: u32,
        node: Node,
        at: u32,
    ) -> Step<Option<Value<'t>>> {
        match self.taken(block, wanted, node)? {
            Ok(value) => Ok(Some(value)),
            Err(misfit) => {
                self.misfits(misfit, at, pc, node);
                Ok(None)
            }
        }
    }

    fn misfits(&mut self, misfit: Misfit, location: u32, pc: u32, node: Node) {
        let Misfit { code, problem } = misfit;
        self.note(FieldFailure { code, location, pc, node, len: 0, problem });
    }

    fn taken(&mut self, block: Block<'_>, wanted: Types, node: Node) -> Step<Result<Value<'t>, Misfit>> {
        let view = self.tape.view_node(node);
        self.spend(view.bytes() as u64 / 16)?;
        Ok(match wanted {
            Types::NULL => match view {
                View::Null => Ok(Value::Settled),
                _ => Err(FieldCode::None.into()),
            },
            Types::BOOLEAN => self.boolean(view, node),
            Types::INTEGER => self.integer(view, node, block),
            Types::NUMBER => self.float(view, node),
            Types::ARRAY => match view {
                View::Array => {
                    if block.has(Opcode::PrefixItems) && self.mode == Mode::Lax {
                        self.floor(Exactness::Lax);
                    }
                    Ok(Value::Array)
                }
                _ if block.has(Opcode::PrefixItems) => Err(FieldCode::Tuple.into()),
                _ => Err(FieldCode::List.into()),
            },
            Types::OBJECT => match view {
                View::Object => Ok(Value::Object),
                _ if block.is_model() && block.title().is_some() => Err(FieldCode::Model.into()),
                _ => Err(FieldCode::Dict.into()),
            },
            _ => match block.format() {
                Some((_, format)) => return self.formatted(format, view, node),
                None => match view {
                    View::String(text) => Ok(Value::Text(text)),
                    _ => Err(FieldCode::String.into()),
                },
            },
        })
    }

    fn boolean(&mut self, view: View<'t>, node: Node) -> Result<Value<'t>, Misfit> {
        let read = match view {
            View::Bool(_) => return Ok(Value::Settled),
            _ if self.mode != Mode::Lax => return Err(FieldCode::Bool.into()),
            View::Number(Number::Int(int)) => of_int(int).ok_or(FieldCode::BoolParsing)?,
            View::Number(Number::Decimal { value, .. }) if value.fract() == 0.0 && value.abs() < TWO_TO_63 => {
                of_int(value as i64).ok_or(FieldCode::BoolParsing)?
            }
            View::String(text) => {
                let text = text.plain(self.scratch.patterns.plain());
                boolean::parse(text).ok_or(FieldCode::BoolParsing)?
            }
            _ => return Err(FieldCode::Bool.into()),
        };
        self.floor(Exactness::Lax);
        self.edit(node, |out| write!(out, "{read}"));
        Ok(Value::Settled)
    }

    fn integer(&mut self, view: View<'t>, node: Node, block: Block<'_>) -> Result<Value<'t>, Misfit> {
        match view {
            View::Number(number) if number.is_integer_literal() => return Ok(Value::Number(number)),
            View::Number(number) if self.mode == Mode::Schema => {
                // Draft 4 wants a literal without a fraction.
                let types = block.types().map_or(Types::INTEGER, |(_, types)| types);
                return if view.types().meets(types) {
                    Ok(Value::Number(number))
                } else if number.is_integral() {
                    Err(FieldCode::Int.into())
                } else {
                    Err(FieldCode::IntFromFloat.into())
                };
            }
            _ if self.mode != Mode::Lax => return Err(FieldCode::Int.into()),
            _ => {}
        }
        self.lax_integer(view, node)
    }

    fn lax_integer(&mut self, view: View<'t>, node: Node) -> Result<Value<'t>, Misfit> {
        let int = match view {
            View::Bool(is) => i64::from(is),
            View::Number(Number::Decimal { value, .. }) if value.is_infinite() => return Err(FieldCode::Finite.into()),
            View::Number(Number::Decimal { value, .. }) if value.fract() != 0.0 => {
                return Err(FieldCode::IntFromFloat.into());
            }
            View::Number(Number::Decimal { value, .. }) if value.abs() < TWO_TO_63 => value as i64,
            View::Number(_) => return Err(FieldCode::IntParsingSize.into()),
            View::String(text) => {
                let text = text.plain(self.scratch.patterns.plain());
                let from = self.reading.text.len() as u32;
                integer::parse(text, &mut self.reading.text).map_err(|problem| match problem {
                    IntProblem::Unreadable => FieldCode::IntParsing,
                    IntProblem::TooLong => FieldCode::IntParsingSize,
                })?;
                let range = (from, self.reading.text.len() as u32);
                self.floor(Exactness::Lax);
                self.settle(node, range);
                return Ok(Value::Digits(range));
            }
            _ => return Err(FieldCode::Int.into()),
        };
        self.floor(Exactness::Lax);
        self.edit(node, |out| write!(out, "{int}"));
        Ok(Value::Number(Number::Int(int)))
    }

    fn float(&mut self, view: View<'t>, node: Node) -> Result<Value<'t>, Misfit> {
        let value = match view {
            View::Number(number) if !self.mode.is_pydantic() => return Ok(Value::Number(number)),
            View::Number(Number::Decimal { value, .. }) => return Ok(Value::Float(value)),
            View::Number(number) => {
                self.floor(Exactness::Strict);
                number.nearest_double()
            }
            _ if self.mode != Mode::Lax => return Err(FieldCode::Float.into()),
            View::Bool(is) => {
                self.floor(Exactness::Lax);
                f64::from(u8::from(is))
            }
            View::String(text) => {
                let text = text.plain(self.scratch.patterns.plain());
                let value = float::parse(text, &mut self.reading.spare).ok_or(FieldCode::FloatParsing)?;
                self.floor(Exactness::Lax);
                value
            }
            _ => return Err(FieldCode::Float.into()),
        };
        self.edit(node, |out| {
            if value.is_finite() {
                return Number::from_f64(value).write(out);
            }
            out.push_str(if value < 0.0 { "-" } else { "" });
            out.push_str(NOT_FINITE);
            Ok(())
        });
        Ok(Value::Float(value))
    }

    /// The first constraint that a scalar does not satisfy.
    pub(super) fn misfit(&mut self, block: Block<'_>, value: Value<'t>) -> Step<Option<(FieldCode, u32)>> {
        match value {
            Value::Number(number) => self.number_misfit(block, number, false),
            Value::Float(value) => self.number_misfit(block, Number::from_f64(value), true),
            Value::Digits((from, to)) => {
                // Lent out, since the constraints are paid for while it is read.
                let text = std::mem::take(&mut self.reading.text);
                let number = text.get(from as usize..to as usize).map(Number::parse);
                let misfit = match number {
                    Some(Ok(number)) => self.number_misfit(block, number, false),
                    _ => Ok(None),
                };
                self.reading.text = text;
                misfit
            }
            Value::Text(text) => self.text_misfit(block, text),
            Value::Settled | Value::Array | Value::Object => Ok(None),
        }
    }

    fn number_misfit(
        &mut self,
        block: Block<'_>,
        number: Number<'_>,
        is_float: bool,
    ) -> Step<Option<(FieldCode, u32)>> {
        for (op, code) in OF_NUMBERS {
            let Some((pc, word)) = block.find(op) else {
                continue;
            };
            let bound = self.unit.number(word.c);
            let order = number.compare(bound);
            let holds = match op {
                Opcode::MultipleOf if is_float => is_about_multiple(number, bound),
                Opcode::MultipleOf => {
                    self.spend(number.multiple_of_cost(bound))?;
                    number.is_multiple_of(bound)
                }
                _ if is_nan(number) => false,
                Opcode::Maximum => order.is_le(),
                Opcode::ExclusiveMaximum => order.is_lt(),
                Opcode::Minimum => order.is_ge(),
                _ => order.is_gt(),
            };
            if !holds {
                return Ok(Some((code, pc)));
            }
        }
        Ok(None)
    }

    fn text_misfit(&mut self, block: Block<'_>, text: crate::text::Text<'t>) -> Step<Option<(FieldCode, u32)>> {
        if let Some((pc, word)) = block.find(Opcode::MinLength)
            && text.char_len() < word.c as usize
        {
            return Ok(Some((FieldCode::StringTooShort, pc)));
        }
        if let Some((pc, word)) = block.find(Opcode::MaxLength)
            && text.char_len() > word.c as usize
        {
            return Ok(Some((FieldCode::StringTooLong, pc)));
        }
        let Some((pc, word)) = block.find(Opcode::Matches) else {
            return Ok(None);
        };
        let pattern = self.unit.pattern(word.c);
        self.spend(1 + pattern.fuel(text.raw_bytes()))?;
        let found = pattern.is_match(text, &mut self.scratch.patterns)?;
        Ok((!found).then_some((FieldCode::PatternMismatch, pc)))
    }

    /// Notes that a range of the texts stands in place of the value.
    pub(super) fn settle(&mut self, node: Node, range: (u32, u32)) {
        self.reading.edits.push(super::failure::Edit { node, text: Some(range) });
    }
}

fn of_int(int: i64) -> Option<bool> {
    match int {
        0 => Some(false),
        1 => Some(true),
        _ => None,
    }
}

fn is_nan(number: Number<'_>) -> bool {
    matches!(number, Number::Decimal { value, .. } if value.is_nan())
}

/// Whether the remainder is about nothing, for doubles.
fn is_about_multiple(number: Number<'_>, divisor: Number<'_>) -> bool {
    let (value, divisor) = (number.nearest_double(), divisor.nearest_double());
    let (rest, share) = ((value % divisor).abs(), REMAINDER_MAX * value.abs().max(1.0));
    // What is no number has no remainder either.
    !(rest > share && (rest - divisor).abs() > share)
}

/// The type that a name in value notation means.
fn named(text: &str) -> Option<Types> {
    let name = text.trim_matches('\'');
    NAMES.iter().find(|(known, _)| *known == name).map(|(_, types)| *types)
}

/// The step that stands for a type among several: beyond every pc.
fn branch_of(types: Types) -> u32 {
    NO_PC - u32::from(types.0)
}

/// What [`branch_of`] has made, back.
pub(super) fn type_of_branch(branch: u32) -> Option<Types> {
    u8::try_from(NO_PC - branch).ok().filter(|bits| *bits > 0).map(Types)
}
