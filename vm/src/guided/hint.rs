//! What a value of the wrong type likely is in another form: in quotes, as JSON text, in a list, or not meant at all.

use std::fmt::{self, Write};

use super::line::Line;
use super::wording::Words;
use crate::describe::{Wanted, admitted, fits};
use crate::failure::Step;
use crate::insn::Types;
use crate::instance::View;
use crate::number::Number;
use crate::opcode::Opcode;
use crate::render::Renderer;
use crate::tape::Node;
use crate::text::Text;

impl Words<'_, '_> {
    /// What the value likely is in another form than is wanted.
    pub(super) fn hint(self, line: &mut Line, wanted: Wanted) -> fmt::Result {
        let types = admitted(self.unit(), wanted);
        match self.view() {
            View::String(text) if !types.meets(Types::STRING) => {
                if is_spelt(text, types) {
                    return line.write_str("; write it without quotes");
                }
                hint_of_container(line, text, types)
            }
            View::Array if types.meets(Types::OBJECT) && !types.meets(Types::ARRAY) => self.hint_of_list(line),
            View::Null if self.may_be_absent() => line.write_str("; leave it out instead of null"),
            _ => Ok(()),
        }
    }

    /// One object in a list where the object is wanted.
    fn hint_of_list(self, line: &mut Line) -> fmt::Result {
        let tape = self.guided.renderer.tape;
        let mut elements = tape.element_nodes(self.node());
        let is_object = |node: Node| matches!(tape.view_node(node), View::Object);
        match (elements.next(), elements.next()) {
            (Some(only), None) if is_object(only) => line.write_str("; send the object itself, not in a list"),
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

/// JSON text where the value itself belongs.
fn hint_of_container(line: &mut Line, text: Text<'_>, types: Types) -> fmt::Result {
    let first = text.chars().find(|c| !c.is_whitespace());
    match first {
        Some('[') if types.meets(Types::ARRAY) => line.write_str("; send the array itself, not its text in a string"),
        Some('{') if types.meets(Types::OBJECT) => line.write_str("; send the object itself, not its text in a string"),
        _ => Ok(()),
    }
}

/// Texts that are longer spell no scalar. Unit: bytes.
const SPELT_BYTES_MAX: usize = 40;

/// Whether the text spells a scalar of one of the types, but for space around it.
fn is_spelt(text: Text<'_>, types: Types) -> bool {
    let (mut bytes, mut len) = ([0; SPELT_BYTES_MAX], 0);
    for c in text.chars() {
        let Some(byte) = bytes.get_mut(len).filter(|_| c.is_ascii()) else {
            return false;
        };
        *byte = c as u8;
        len += 1;
    }
    match std::str::from_utf8(&bytes[..len]).unwrap_or_default().trim() {
        "true" | "false" => types.meets(Types::BOOLEAN),
        "null" => types.meets(Types::NULL),
        text => is_spelt_number(text, types),
    }
}

fn is_spelt_number(text: &str, types: Types) -> bool {
    // No word that other notations have for a number.
    let only = text.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b'-' | b'+' | b'.' | b'e' | b'E'));
    only && text.parse::<f64>().is_ok()
        && Number::parse(text).is_ok_and(|number| fits(View::Number(number).types(), types))
}
