//! Flavours of JSON Schema that only catalogs know, written over into JSON Schema before anything else reads them.
//!
//! ```text
//! OpenAPI      {"type": "STRING", "nullable": true}   ->  {"type": ["string", "null"]}
//! leaderboard  {"type": "dict", "properties": {…}}     ->  {"type": "object", "properties": {…}}
//! ```
//!
//! What is written keeps the places of the source: a pointer into the one is a pointer into the other (but below a
//! reference that may be null, which becomes a branch). Whatever has no meaning of its own is copied as it stands.

use callgate_vm::tape::{EntryKind, Node, Tape};

/// A flavour of JSON Schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Flavour {
    /// JSON Schema itself.
    JsonSchema,
    /// The subset that `OpenAPI` 3.0 has, as Gemini writes it: upper-case types, `nullable`, counts as texts.
    OpenApi,
    /// The names that the function-calling leaderboard has for types, from several languages.
    Leaderboard,
}

/// The types of `OpenAPI`, as Gemini spells them.
const UPPER: [(&str, &str); 7] = [
    ("OBJECT", "object"),
    ("STRING", "string"),
    ("INTEGER", "integer"),
    ("NUMBER", "number"),
    ("BOOLEAN", "boolean"),
    ("ARRAY", "array"),
    ("NULL", "null"),
];

/// A type that says nothing.
const ANY: &str = "";

/// Types of the leaderboard: Python's, Java's and JavaScript's.
const LEADERBOARD: [(&str, &str); 27] = [
    ("dict", "object"),
    ("HashMap", "object"),
    ("Hashtable", "object"),
    ("Object", "object"),
    ("float", "number"),
    ("double", "number"),
    ("Float", "number"),
    ("Double", "number"),
    ("tuple", "array"),
    ("list", "array"),
    ("List", "array"),
    ("Array", "array"),
    ("ArrayList", "array"),
    ("set", "array"),
    ("int", "integer"),
    ("Integer", "integer"),
    ("long", "integer"),
    ("short", "integer"),
    ("byte", "integer"),
    ("Bigint", "integer"),
    ("bool", "boolean"),
    ("Boolean", "boolean"),
    ("String", "string"),
    ("char", "string"),
    ("any", ANY),
    ("Any", ANY),
    ("", ANY),
];

/// Counts, which Gemini writes as texts, since they are 64 bits wide.
const COUNTS: [&str; 6] = ["minItems", "maxItems", "minLength", "maxLength", "minProperties", "maxProperties"];

/// Keywords whose value is a schema, a list of them, or a map to them.
const SCHEMA: [&str; 3] = ["items", "additionalProperties", "not"];
const LIST: [&str; 4] = ["anyOf", "oneOf", "allOf", "prefixItems"];
const MAP: [&str; 4] = ["properties", "$defs", "defs", "definitions"];

impl Flavour {
    /// The flavour that the root's type is spelled in.
    pub(crate) fn of(tape: Tape<'_>, schema: Node) -> Flavour {
        let spelled = |types: &[(&str, &str)]| {
            let name = tape.member(schema, "type").filter(|name| tape.is_string(*name));
            name.is_some_and(|name| types.iter().any(|(one, _)| tape.text(name).is(one)))
        };
        if spelled(&UPPER) {
            Flavour::OpenApi
        } else if spelled(&LEADERBOARD) {
            Flavour::Leaderboard
        } else {
            Flavour::JsonSchema
        }
    }

    /// The schema at `root` in JSON Schema; `None` where it is that already. Recursion goes as deep as the schema nests,
    /// which must have been bounded. Cost: one pass.
    pub(crate) fn translate(self, tape: Tape<'_>, root: Node) -> Option<String> {
        if self == Flavour::JsonSchema {
            return None;
        }
        let entry = tape.entry(root);
        let mut out = String::with_capacity((entry.end - entry.start) as usize + 64);
        Translation { flavour: self, tape, out: &mut out }.schema(root);
        Some(out)
    }
}

struct Translation<'t, 'o> {
    flavour: Flavour,
    tape: Tape<'t>,
    out: &'o mut String,
}

/// What makes a schema admit null, where its source says `nullable`.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Null {
    /// It does not.
    No,
    /// The type and the enumeration name it.
    Named,
    /// A further branch of this union.
    Branch(&'static str),
    /// The schema becomes one branch, null the other.
    Wrapped,
}

impl Translation<'_, '_> {
    fn schema(&mut self, node: Node) {
        if self.tape.entry(node).kind != EntryKind::Object {
            return self.copy(node);
        }
        let null = self.null(node);
        if null == Null::Wrapped {
            self.out.push_str(r#"{"anyOf":["#);
        }
        self.out.push('{');
        let mut first = true;
        for (key, value) in self.tape.member_nodes(node) {
            let mut name = String::new();
            let name = self.tape.text(key).plain(&mut name);
            let before = self.out.len();
            if !first {
                self.out.push(',');
            }
            if self.member(node, name, key, value, null) {
                first = false;
            } else {
                self.out.truncate(before);
            }
        }
        self.out.push('}');
        if null == Null::Wrapped {
            self.out.push_str(r#",{"type":"null"}]}"#);
        }
    }

    /// Writes one member; answers whether it stays.
    fn member(&mut self, schema: Node, name: &str, key: Node, value: Node, null: Null) -> bool {
        let openapi = self.flavour == Flavour::OpenApi;
        match name {
            "type" => return self.types(key, value, null),
            "nullable" if openapi => return false,
            "optional" if !openapi => return false,
            "exclusiveMinimum" if openapi && self.is_flag(value) => {
                return self.exclusive(schema, key, value, "minimum");
            }
            "exclusiveMaximum" if openapi && self.is_flag(value) => {
                return self.exclusive(schema, key, value, "maximum");
            }
            "enum" if null == Null::Named => {
                self.key(key);
                self.with_null(value, "null", Self::copy);
            }
            _ if null == Null::Branch("anyOf") && name == "anyOf"
                || null == Null::Branch("oneOf") && name == "oneOf" =>
            {
                self.key(key);
                self.with_null(value, r#"{"type":"null"}"#, Self::schema);
            }
            _ if openapi && COUNTS.contains(&name) && self.tape.is_string(value) => {
                let digits = self.tape.slice(value);
                let is_count = (1..=18).contains(&digits.len()) && digits.bytes().all(|byte| byte.is_ascii_digit());
                self.key(key);
                if is_count {
                    let trimmed = digits.trim_start_matches('0');
                    self.out.push_str(if trimmed.is_empty() { "0" } else { trimmed });
                } else {
                    self.copy(value);
                }
            }
            _ => {
                self.key(key);
                self.value(name, value);
            }
        }
        true
    }

    /// A keyword's value, the schemas in it written over.
    fn value(&mut self, name: &str, value: Node) {
        match self.tape.entry(value).kind {
            EntryKind::Object if SCHEMA.contains(&name) => self.schema(value),
            EntryKind::Array if LIST.contains(&name) => self.list(value, Self::schema),
            EntryKind::Object if MAP.contains(&name) => {
                self.out.push('{');
                for (at, (key, value)) in self.tape.member_nodes(value).enumerate() {
                    if at > 0 {
                        self.out.push(',');
                    }
                    self.key(key);
                    self.schema(value);
                }
                self.out.push('}');
            }
            _ => self.copy(value),
        }
    }

    fn types(&mut self, key: Node, value: Node, null: Null) -> bool {
        let spelled = match self.flavour {
            Flavour::Leaderboard => &LEADERBOARD[..],
            _ => &UPPER[..],
        };
        let text = self.tape.text(value);
        let meant = spelled.iter().find(|(one, _)| self.tape.is_string(value) && text.is(one)).map(|(_, meant)| *meant);
        let says_nothing = meant == Some(ANY) || self.flavour == Flavour::OpenApi && text.is("TYPE_UNSPECIFIED");
        if says_nothing {
            return false;
        }
        self.key(key);
        let nullable = null == Null::Named && self.tape.is_string(value) && meant != Some("null");
        if nullable {
            self.out.push('[');
        }
        match meant {
            Some(meant) => self.text(meant),
            None => self.copy(value),
        }
        if nullable {
            self.out.push_str(r#","null"]"#);
        }
        true
    }

    /// A bound that says of its partner that it is exclusive.
    fn exclusive(&mut self, schema: Node, key: Node, value: Node, partner: &str) -> bool {
        let bound = self.tape.member(schema, partner).filter(|_| self.tape.entry(value).kind == EntryKind::True);
        if let Some(bound) = bound {
            self.key(key);
            self.copy(bound);
        }
        bound.is_some()
    }

    /// How the schema comes to admit null.
    fn null(&self, schema: Node) -> Null {
        let has = |name: &str| self.tape.member(schema, name).is_some();
        let nullable = self.tape.member(schema, "nullable").map(|flag| self.tape.entry(flag).kind);
        if self.flavour != Flavour::OpenApi || nullable != Some(EntryKind::True) {
            return Null::No;
        }
        match () {
            () if has("$ref") || has("allOf") => Null::Wrapped,
            () if has("anyOf") => Null::Branch("anyOf"),
            () if has("oneOf") => Null::Branch("oneOf"),
            () => Null::Named,
        }
    }

    fn is_flag(&self, value: Node) -> bool {
        matches!(self.tape.entry(value).kind, EntryKind::True | EntryKind::False)
    }

    fn list(&mut self, array: Node, write: impl Fn(&mut Self, Node)) {
        self.out.push('[');
        for (at, element) in self.tape.element_nodes(array).enumerate() {
            if at > 0 {
                self.out.push(',');
            }
            write(self, element);
        }
        self.out.push(']');
    }

    /// The array with `null` behind its elements, unless null is one of them.
    fn with_null(&mut self, array: Node, null: &str, write: impl Fn(&mut Self, Node)) {
        if self.tape.entry(array).kind != EntryKind::Array {
            return self.copy(array);
        }
        self.list(array, write);
        if self.tape.element_nodes(array).all(|element| self.tape.entry(element).kind != EntryKind::Null) {
            self.out.pop();
            if self.tape.entry(array).len > 0 {
                self.out.push(',');
            }
            self.out.push_str(null);
            self.out.push(']');
        }
    }

    fn key(&mut self, key: Node) {
        self.copy(key);
        self.out.push(':');
    }

    fn text(&mut self, text: &str) {
        self.out.push('"');
        self.out.push_str(text);
        self.out.push('"');
    }

    /// The value as its source has it.
    fn copy(&mut self, node: Node) {
        if self.tape.is_string(node) {
            return self.text(self.tape.slice(node));
        }
        self.out.push_str(self.tape.slice(node));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::SCHEMA_READ;
    use callgate_vm::tape::TapeBuf;

    #[track_caller]
    fn check(flavour: Flavour, schema: &str, expected: &str) {
        let mut buf = TapeBuf::new();
        let tape = buf.read(schema.as_bytes(), SCHEMA_READ).expect("reads");
        let written = flavour.translate(tape, 0).expect("another flavour");
        assert_eq!(written, expected);
        assert!(TapeBuf::new().read(written.as_bytes(), SCHEMA_READ).is_ok(), "{written}");
    }

    #[test]
    fn openapi() {
        let openapi = |schema, expected| check(Flavour::OpenApi, schema, expected);
        openapi(
            r#"{"type": "OBJECT", "properties": {"type": {"type": "STRING", "nullable": true, "enum": ["a"]}}}"#,
            r#"{"type":"object","properties":{"type":{"type":["string","null"],"enum":["a",null]}}}"#,
        );
        openapi(
            r#"{"type": "ARRAY", "minItems": "02", "items": {"type": "integer"}}"#,
            r#"{"type":"array","minItems":2,"items":{"type":"integer"}}"#,
        );
        openapi(
            r#"{"minimum": 1, "exclusiveMinimum": true, "exclusiveMaximum": false}"#,
            r#"{"minimum":1,"exclusiveMinimum":1}"#,
        );
        openapi(r##"{"nullable": true, "$ref": "#/defs/A"}"##, r##"{"anyOf":[{"$ref":"#/defs/A"},{"type":"null"}]}"##);
        openapi(
            r#"{"nullable": true, "anyOf": [{"type": "STRING"}]}"#,
            r#"{"anyOf":[{"type":"string"},{"type":"null"}]}"#,
        );
        openapi(r#"{"type": "TYPE_UNSPECIFIED", "nullable": false}"#, "{}");
        openapi(r#"{"nullable": true, "enum": []}"#, r#"{"enum":[null]}"#);
        openapi("true", "true");
    }

    #[test]
    fn leaderboard() {
        let leaderboard = |schema, expected| check(Flavour::Leaderboard, schema, expected);
        leaderboard(
            r#"{"type": "dict", "properties": {"a": {"type": "any", "optional": true}, "b": {"type": "tuple", "items": {"type": "float"}}}, "required": ["a"]}"#,
            r#"{"type":"object","properties":{"a":{},"b":{"type":"array","items":{"type":"number"}}},"required":["a"]}"#,
        );
        leaderboard(
            r#"{"type": "banana", "enum": ["float", "dict"]}"#,
            r#"{"type":"banana","enum":["float", "dict"]}"#,
        );
    }
}
