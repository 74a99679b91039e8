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
const SCHEMA: [&str; 10] = [
    "items",
    "additionalProperties",
    "not",
    "contains",
    "propertyNames",
    "if",
    "then",
    "else",
    "unevaluatedItems",
    "unevaluatedProperties",
];
const LIST: [&str; 5] = ["anyOf", "oneOf", "allOf", "prefixItems", "items"];
const MAP: [&str; 6] = ["properties", "patternProperties", "dependentSchemas", "$defs", "defs", "definitions"];

/// What stays outside where a schema becomes a branch: what describes it, and what references lead into.
const OUTSIDE: [&str; 7] = ["title", "description", "default", "example", "$defs", "defs", "definitions"];

impl Flavour {
    /// The flavour that the root's type is spelled in: arguments are an object.
    pub(crate) fn of(tape: Tape<'_>, schema: Node) -> Flavour {
        let kind = tape.member(schema, "type").filter(|name| tape.is_string(*name)).map(|name| tape.text(name));
        let spelled = |names: &[(&str, &str)]| {
            kind.is_some_and(|kind| names.iter().any(|(name, meant)| *meant == "object" && kind.is(name)))
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
    /// Its type, its values and the branches of its unions name it.
    Named,
    /// The schema becomes one branch, null the other: it joins others, which do not admit it.
    Wrapped,
}

impl Translation<'_, '_> {
    fn schema(&mut self, node: Node) {
        if self.tape.entry(node).kind != EntryKind::Object {
            return self.copy(node);
        }
        let null = self.null(node);
        self.out.push('{');
        if null == Null::Wrapped {
            self.members(node, null, |name| OUTSIDE.contains(&name));
            self.out.push_str(if self.out.ends_with('{') { r#""anyOf":[{"# } else { r#","anyOf":[{"# });
            self.members(node, null, |name| !OUTSIDE.contains(&name));
            self.out.push_str(r#"},{"type":"null"}]"#);
        } else {
            self.members(node, null, |_| true);
        }
        self.out.push('}');
    }

    /// Writes the members of a schema that are `wanted`.
    fn members(&mut self, node: Node, null: Null, wanted: impl Fn(&str) -> bool) {
        let mut first = true;
        let mut buffer = String::new();
        for (key, value) in self.tape.member_nodes(node) {
            let name = self.tape.text(key).plain(&mut buffer);
            if !wanted(name) {
                continue;
            }
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
            "const" if null == Null::Named => {
                self.out.push_str(r#""enum":["#);
                self.copy(value);
                self.out.push_str(",null]");
            }
            "anyOf" | "oneOf" if null == Null::Named && !self.admits_null(value) => {
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

    /// The type, or types, in JSON Schema's spelling. Answers whether there is something to say.
    fn types(&mut self, key: Node, value: Node, null: Null) -> bool {
        let is_list = self.tape.entry(value).kind == EntryKind::Array;
        let names: Vec<Node> = if is_list { self.tape.element_nodes(value).collect() } else { vec![value] };
        if names.iter().any(|name| self.meant(*name) == Some(ANY)) {
            return false;
        }
        let mut adds_null = null == Null::Named && self.tape.is_string(names.first().copied().unwrap_or(value));
        adds_null &= names.iter().all(|name| self.meant(*name) != Some("null") && !self.tape.text(*name).is("null"));
        self.key(key);
        if is_list || adds_null {
            self.out.push('[');
        }
        for (at, name) in names.into_iter().enumerate() {
            if at > 0 {
                self.out.push(',');
            }
            match self.meant(name) {
                Some(meant) => self.text(meant),
                None => self.copy(name),
            }
        }
        if adds_null {
            self.out.push_str(r#","null""#);
        }
        if is_list || adds_null {
            self.out.push(']');
        }
        true
    }

    /// What the flavour's name for a type means; [`ANY`] where it means none.
    fn meant(&self, name: Node) -> Option<&'static str> {
        let spelled = match self.flavour {
            Flavour::Leaderboard => &LEADERBOARD[..],
            _ => &UPPER[..],
        };
        if !self.tape.is_string(name) {
            return None;
        }
        let text = self.tape.text(name);
        if self.flavour == Flavour::OpenApi && text.is("TYPE_UNSPECIFIED") {
            return Some(ANY);
        }
        spelled.iter().find(|(one, _)| text.is(one)).map(|(_, meant)| *meant)
    }

    /// Whether a branch of the union says that null is of it.
    fn admits_null(&self, branches: Node) -> bool {
        self.tape.element_nodes(branches).any(|branch| {
            let member = |name: &str| self.tape.member(branch, name);
            let is_null = |value: Node| self.tape.entry(value).kind == EntryKind::Null;
            let nullable = member("nullable").is_some_and(|flag| self.tape.entry(flag).kind == EntryKind::True);
            let named =
                member("type").is_some_and(|name| ["NULL", "null"].iter().any(|null| self.tape.text(name).is(null)));
            nullable || named || member("enum").is_some_and(|values| self.tape.element_nodes(values).any(is_null))
        })
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
        let joins = ["$ref", "allOf", "not", "if"].iter().any(|name| has(name));
        if joins { Null::Wrapped } else { Null::Named }
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
        openapi(
            r##"{"nullable": true, "description": "d", "allOf": [{"$ref": "#/$defs/s"}], "$defs": {"s": {"type": "STRING"}}}"##,
            r##"{"description":"d","$defs":{"s":{"type":"string"}},"anyOf":[{"allOf":[{"$ref":"#/$defs/s"}]},{"type":"null"}]}"##,
        );
        openapi(
            r#"{"nullable": true, "type": "OBJECT", "enum": ["x"], "anyOf": [{"required": ["x"]}], "oneOf": [{"type": "STRING", "nullable": true}]}"#,
            r#"{"type":["object","null"],"enum":["x",null],"anyOf":[{"required":["x"]},{"type":"null"}],"oneOf":[{"type":["string","null"]}]}"#,
        );
        openapi(r#"{"nullable": true, "const": "a"}"#, r#"{"enum":["a",null]}"#);
        openapi(r#"{"type": ["STRING", "NULL"], "nullable": true}"#, r#"{"type":["string","null"]}"#);
        openapi(
            r#"{"items": [{"type": "STRING"}], "if": {"type": "NULL"}}"#,
            r#"{"items":[{"type":"string"}],"if":{"type":"null"}}"#,
        );
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
