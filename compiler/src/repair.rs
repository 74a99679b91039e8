//! What is likely meant where a schema is not well-formed: a misspelt type, or another draft's or provider's way to say it.

use callgate_vm::nearest::edit_distance;
use callgate_vm::tape::{EntryKind, Node, Tape};

/// The repair of the value at `pointer`, which its metaschema does not take; none where nothing is likely.
pub(crate) fn hint(pointer: &str, tape: Tape<'_>, value: Node) -> Option<String> {
    let kind = tape.entry(value).kind;
    let mut steps = pointer.rsplit('/');
    let keyword = steps.next().unwrap_or_default();
    // A property may be called like a keyword, and what is below it is a schema.
    if matches!(steps.next(), Some("properties" | "patternProperties" | "$defs" | "definitions" | "dependentSchemas")) {
        return None;
    }
    let is_flag = matches!(kind, EntryKind::True | EntryKind::False);
    let hint = match keyword {
        "required" if is_flag => {
            "a boolean here is draft 3's: put the property's name into the \"required\" of the object around it"
        }
        "exclusiveMinimum" | "exclusiveMaximum" if is_flag => {
            "a boolean here is draft 4's: give the bound itself, or say \"$schema\": \"http://json-schema.org/draft-04/schema#\""
        }
        "items" if kind == EntryKind::Array => {
            "a list here is draft 2019-09's and older: say \"prefixItems\", or name that draft in \"$schema\""
        }
        _ if !tape.is_string(value) => return None,
        _ => {
            let mut buffer = String::new();
            return meant_type(pointer, tape.text(value).plain(&mut buffer));
        }
    };
    Some(hint.to_owned())
}

const TYPES: [&str; 7] = ["array", "boolean", "integer", "null", "number", "object", "string"];

/// What other languages call the types.
const ALIASES: [(&str, &str); 13] = [
    ("str", "string"),
    ("text", "string"),
    ("int", "integer"),
    ("long", "integer"),
    ("float", "number"),
    ("double", "number"),
    ("decimal", "number"),
    ("bool", "boolean"),
    ("dict", "object"),
    ("map", "object"),
    ("list", "array"),
    ("tuple", "array"),
    ("none", "null"),
];

/// Longer words are no misspelt type. Unit: bytes.
const TYPE_BYTES_MAX: usize = 16;

/// The type that a misspelt one means, where the pointer says that a type stands there.
fn meant_type(pointer: &str, value: &str) -> Option<String> {
    let is_index = |segment: &str| !segment.is_empty() && segment.bytes().all(|byte| byte.is_ascii_digit());
    let in_list = pointer.rsplit_once('/').is_some_and(|(list, index)| list.ends_with("/type") && is_index(index));
    if !(in_list || pointer.ends_with("/type")) || value.is_empty() || value.len() > TYPE_BYTES_MAX {
        return None;
    }
    let lower = value.to_ascii_lowercase();
    if let Some(meant) = TYPES.iter().find(|name| **name == lower) {
        return Some(if value.bytes().all(|byte| byte.is_ascii_uppercase()) {
            format!("did you mean \"{meant}\"? {value} is how Gemini spells it: read the catalog as gemini")
        } else {
            format!("did you mean \"{meant}\"?")
        });
    }
    let alias = ALIASES.iter().find(|(alias, _)| *alias == lower).map(|(_, meant)| meant);
    let is_within = |name: &str, most| edit_distance(name.chars(), lower.chars()).is_some_and(|steps| steps <= most);
    let nearest = || TYPES.iter().find(|name| lower.len() > 4 && is_within(name, 2));
    let nearer = || TYPES.iter().find(|name| is_within(name, 1));
    alias.or_else(nearer).or_else(nearest).map(|meant| format!("did you mean \"{meant}\"?"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::SCHEMA_READ;
    use callgate_vm::tape::TapeBuf;

    #[track_caller]
    fn check(pointer: &str, value: &str, expected: &str) {
        let mut buf = TapeBuf::new();
        let tape = buf.read(value.as_bytes(), SCHEMA_READ).expect("reads");
        let hint = hint(pointer, tape, 0).unwrap_or_default();
        assert!(if expected.is_empty() { hint.is_empty() } else { hint.starts_with(expected) }, "{hint}");
    }

    #[test]
    fn misspelt_types() {
        check("/type", r#""strnig""#, "did you mean \"string\"?");
        check("/properties/a/type/0", r#""OBJECT""#, "did you mean \"object\"? OBJECT is how Gemini spells it");
        check("/type", r#""String""#, "did you mean \"string\"?");
        check("/type", r#""float""#, "did you mean \"number\"?");
        check("/type", r#""banana""#, "");
        check("/title", r#""strnig""#, "");
        check("/type", r#""url""#, "");
        check("/properties/type", r#""string""#, "");
        check("/type", "7", "");
    }

    #[test]
    fn other_drafts() {
        check("/properties/a/required", "true", "a boolean here is draft 3's");
        check("/exclusiveMinimum", "false", "a boolean here is draft 4's");
        check("/items", "[{}]", "a list here is draft 2019-09's");
        check("/items", "3", "");
    }
}
