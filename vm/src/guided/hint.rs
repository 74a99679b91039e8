//! What a value of the wrong type likely is in another form: in quotes, as JSON text, in a list, or not meant at all.

use std::fmt::{self, Write};

use super::line::Line;
use super::wording::Words;
use crate::describe::{Facets, Steps, Wanted, admitted, branches, fits};
use crate::failure::Step;
use crate::insn::Types;
use crate::instance::View;
use crate::number::Number;
use crate::opcode::Opcode;
use crate::render::Renderer;
use crate::shown::type_word;
use crate::tape::Node;
use crate::text::Text;
use crate::unit::Unit;

impl Words<'_, '_> {
    /// What the value likely is in another form than is wanted.
    pub(super) fn hint(self, line: &mut Line, wanted: Wanted) -> fmt::Result {
        let types = admitted(self.unit(), wanted);
        match self.view() {
            View::String(text) if text.is("null") && types.meets(Types::NULL) => {
                line.write_str("; write it without quotes")
            }
            View::String(text) if !types.meets(Types::STRING) => match spelt(text) {
                Some(scalar) if accepts(self.unit(), wanted, scalar, UNIONS_MAX, &mut Steps(SCHEMAS_MAX)) => {
                    line.write_str("; write it without quotes")
                }
                _ => self.hint_of_text(line, text, wanted, types),
            },
            View::Array if !types.meets(Types::ARRAY) => self.hint_of_list(line, wanted, types),
            View::Null if self.may_be_absent() => line.write_str("; leave it out instead of null"),
            View::Array | View::Null | View::NotJson(_) => Ok(()),
            other => self.hint_of_one(line, other, wanted, types),
        }
    }

    /// JSON text where the value itself belongs, or one text where a list of them does.
    fn hint_of_text(self, line: &mut Line, text: Text<'_>, wanted: Wanted, types: Types) -> fmt::Result {
        match text.chars().find(|c| !c.is_whitespace()) {
            Some('[') if types.meets(Types::ARRAY) => {
                line.write_str("; send the array itself, not its text in a string")
            }
            Some('{') if types.meets(Types::OBJECT) => {
                line.write_str("; send the object itself, not its text in a string")
            }
            _ => self.hint_of_one(line, View::String(text), wanted, types),
        }
    }

    /// One value where a list of such is wanted.
    fn hint_of_one(self, line: &mut Line, view: View<'_>, wanted: Wanted, types: Types) -> fmt::Result {
        let tape = self.guided.renderer.tape;
        let has = |name: &str| !matches!(view, View::Object) || tape.member(self.node(), name).is_some();
        let is_element = types.meets(Types::ARRAY)
            && !fits(view.types(), types)
            && Facets::of(self.unit(), wanted).admits_element(self.unit(), view.types(), has);
        line.write_str(if is_element { "; put it in a list" } else { "" })
    }

    /// One value in a list where the value is wanted.
    fn hint_of_list(self, line: &mut Line, wanted: Wanted, types: Types) -> fmt::Result {
        let tape = self.guided.renderer.tape;
        let mut elements = tape.element_nodes(self.node()).map(|node: Node| tape.view_node(node));
        match (elements.next(), elements.next()) {
            (Some(View::Null), _) => Ok(()),
            (Some(View::Number(number)), None)
                if !accepts(self.unit(), wanted, number.into(), UNIONS_MAX, &mut Steps(SCHEMAS_MAX)) =>
            {
                Ok(())
            }
            (Some(only), None) if fits(only.types(), types) => {
                write!(line, "; send the {} itself, not in a list", type_word(only))
            }
            _ => Ok(()),
        }
    }

    /// Whether no schema of the unit requires a member of that name.
    fn may_be_absent(self) -> bool {
        let Renderer { unit, tape, explanation, .. } = self.guided.renderer;
        let Some((_, Step::Name(name))) = explanation.paths.parent(self.item.record.path) else {
            return false;
        };
        let name = tape.text(name);
        let required = unit.code().iter().filter(|word| word.opcode() == Opcode::Required);
        let mut names = required.flat_map(|word| &unit.table(word.c).names);
        !self.is_name() && !names.any(|entry| name.is(unit.str(entry.name)))
    }
}

/// Texts that are longer spell no scalar. Unit: bytes.
const SPELT_BYTES_MAX: usize = 40;

/// Unions inside each other that a hint looks into.
const UNIONS_MAX: u32 = 4;

/// Schemas that a hint looks into; what lies beyond would not do.
const SCHEMAS_MAX: u32 = 128;

/// A scalar that a text spells.
#[derive(Clone, Copy)]
enum Scalar {
    Boolean,
    Null,
    Number(f64, Types),
}

impl From<Number<'_>> for Scalar {
    fn from(number: Number<'_>) -> Self {
        Scalar::Number(number.nearest_double(), View::Number(number).types())
    }
}

/// The scalar that the text spells, but for space around it.
fn spelt(text: Text<'_>) -> Option<Scalar> {
    let (mut bytes, mut len) = ([0; SPELT_BYTES_MAX], 0);
    for c in text.chars() {
        *bytes.get_mut(len).filter(|_| c.is_ascii())? = c as u8;
        len += 1;
    }
    match std::str::from_utf8(&bytes[..len]).unwrap_or_default().trim() {
        "true" | "false" => Some(Scalar::Boolean),
        "null" => Some(Scalar::Null),
        text => spelt_number(text),
    }
}

fn spelt_number(text: &str) -> Option<Scalar> {
    // No word that other notations have for a number.
    let only = text.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b'-' | b'+' | b'.' | b'e' | b'E'));
    text.parse::<f64>().ok().filter(|_| only)?;
    Some(Number::parse(text).ok()?.into())
}

/// Whether the scalar would do, as far as types and bounds tell.
fn accepts(unit: &Unit, wanted: Wanted, scalar: Scalar, unions_left: u32, steps: &mut Steps) -> bool {
    if !steps.take() {
        return false;
    }
    let facets = Facets::of(unit, wanted);
    if let (Some(union), Some(unions_left)) = (facets.union, unions_left.checked_sub(1)) {
        return branches(unit, union).any(|target| accepts(unit, Wanted::target(target), scalar, unions_left, steps));
    }
    let types = admitted(unit, wanted);
    match scalar {
        Scalar::Boolean => types.meets(Types::BOOLEAN),
        Scalar::Null => types.meets(Types::NULL),
        Scalar::Number(value, of) => fits(of, types) && facets.has_room_for(unit, Number::from_f64(value)),
    }
}
