//! How providers write tools down: one row a shape.
//!
//! A row says under which member the definition lies (OpenAI's chat tools wrap theirs in `function`), which members hold
//! its schemas, and in which flavour of JSON Schema these are. A tool of no declared shape is recognised by the first row
//! that its members fit.

use callgate_vm::tape::{EntryKind, Node, Tape};

use super::flavour::Flavour;

/// A provider's way of writing tools down.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Shape {
    /// `{name, inputSchema, outputSchema}`: the Model Context Protocol.
    Mcp,
    /// `{type, function: {name, parameters}}`: OpenAI's chat completions.
    OpenaiChat,
    /// `{type: "function", name, parameters}`: OpenAI's responses.
    OpenaiResponses,
    /// `{name, parameters}`: OpenAI's first form, also under `functions`.
    OpenaiFunctions,
    /// `{name, input_schema}`: Anthropic's messages.
    Anthropic,
    /// `{name, parameters}` in the flavour of `OpenAPI`, or `{name, parametersJsonSchema}`: Gemini.
    Gemini,
    /// `{toolSpec: {name, inputSchema: {json}}}`: Bedrock's converse.
    Bedrock,
    /// `{name, parameters}` with `dict`, `float`, `tuple` and `any` for types: the function-calling leaderboard.
    Leaderboard,
    /// A map from names to schemas.
    Schemas,
}

/// One way of writing tools down.
struct Row {
    shape: Shape,
    name: &'static str,
    /// Members that the definition may lie under.
    wrappers: &'static [&'static str],
    /// Members that hold the schema of the arguments, the first that is there.
    input: &'static [(&'static str, Flavour)],
    /// Members that hold the schema of the results.
    output: &'static [(&'static str, Flavour)],
}

use Flavour::{JsonSchema, Leaderboard, OpenApi};

const ROWS: [Row; 9] = [
    Row {
        shape: Shape::Bedrock,
        name: "bedrock",
        wrappers: &["toolSpec"],
        input: &[("inputSchema", JsonSchema)],
        output: &[],
    },
    Row {
        shape: Shape::OpenaiChat,
        name: "openai-chat",
        wrappers: &["function", "custom"],
        input: &[("parameters", JsonSchema)],
        output: &[],
    },
    Row {
        shape: Shape::Mcp,
        name: "mcp",
        wrappers: &[],
        input: &[("inputSchema", JsonSchema)],
        output: &[("outputSchema", JsonSchema)],
    },
    Row {
        shape: Shape::Anthropic,
        name: "anthropic",
        wrappers: &[],
        input: &[("input_schema", JsonSchema)],
        output: &[("output_schema", JsonSchema)],
    },
    Row {
        shape: Shape::Gemini,
        name: "gemini",
        wrappers: &[],
        input: &[("parametersJsonSchema", JsonSchema), ("parameters_json_schema", JsonSchema), ("parameters", OpenApi)],
        output: &[("responseJsonSchema", JsonSchema), ("response_json_schema", JsonSchema), ("response", OpenApi)],
    },
    Row {
        shape: Shape::OpenaiResponses,
        name: "openai-responses",
        wrappers: &[],
        input: &[("parameters", JsonSchema)],
        output: &[],
    },
    Row {
        shape: Shape::Leaderboard,
        name: "leaderboard",
        wrappers: &[],
        input: &[("parameters", Leaderboard)],
        output: &[],
    },
    Row {
        shape: Shape::OpenaiFunctions,
        name: "openai-functions",
        wrappers: &[],
        input: &[("parameters", JsonSchema)],
        output: &[],
    },
    Row { shape: Shape::Schemas, name: "schemas", wrappers: &[], input: &[], output: &[] },
];

/// Other spellings of names, as recordings have them.
const ALIASES: [(&str, Shape); 3] =
    [("openai-legacy", Shape::OpenaiFunctions), ("openai", Shape::OpenaiChat), ("bfcl", Shape::Leaderboard)];

/// A schema inside a definition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SchemaAt {
    pub(crate) node: Node,
    pub(crate) flavour: Flavour,
}

impl SchemaAt {
    /// Whether the schema is of another flavour than JSON Schema's own.
    pub(crate) fn is_other(self) -> bool {
        self.flavour != JsonSchema
    }
}

impl Shape {
    /// The names that [`from_name`](Self::from_name) takes.
    pub fn names() -> impl Iterator<Item = &'static str> {
        ROWS.iter().map(|row| row.name)
    }

    /// The shape of that name.
    pub fn from_name(name: &str) -> Option<Shape> {
        let row = ROWS.iter().find(|row| row.name == name).map(|row| row.shape);
        row.or_else(|| ALIASES.iter().find(|(alias, _)| *alias == name).map(|(_, shape)| *shape))
    }

    /// The shape's name: `mcp`, `openai-chat`, `openai-responses`, `openai-functions`, `anthropic`, `gemini`, `bedrock`,
    /// `leaderboard`, `schemas`.
    pub fn name(self) -> &'static str {
        self.row().name
    }

    fn row(self) -> &'static Row {
        static TABLE: [Row; 9] = ROWS;
        // A test finds every shape in the table.
        TABLE.iter().find(|row| row.shape == self).unwrap_or(&TABLE[0])
    }

    /// The shape that the entry's members fit; none where nothing tells.
    pub(crate) fn of(tape: Tape<'_>, node: Node) -> Option<Shape> {
        let has = |name: &str| tape.member(node, name).is_some();
        if let Some(row) = ROWS.iter().find(|row| wrapped(tape, node, row.wrappers).is_some()) {
            return Some(row.shape);
        }
        if let Some(parameters) = tape.member(node, "parameters") {
            let calls_itself = |name: &str| tape.member(node, "type").is_some_and(|kind| tape.text(kind).is(name));
            return Some(match Flavour::of(tape, parameters) {
                OpenApi => Shape::Gemini,
                Leaderboard => Shape::Leaderboard,
                JsonSchema if calls_itself("function") || calls_itself("custom") => Shape::OpenaiResponses,
                JsonSchema => Shape::OpenaiFunctions,
            });
        }
        let own = |row: &&Row| row.wrappers.is_empty() && row.input.iter().chain(row.output).any(|(name, _)| has(name));
        ROWS.iter().find(own).map(|row| row.shape)
    }

    /// The definition itself, out of its wrapper.
    pub(crate) fn definition(self, tape: Tape<'_>, node: Node) -> Node {
        wrapped(tape, node, self.row().wrappers).unwrap_or(node)
    }

    /// The schemas of arguments and of results.
    pub(crate) fn schemas(self, tape: Tape<'_>, definition: Node) -> (Option<SchemaAt>, Option<SchemaAt>) {
        let first = |names: &[(&str, Flavour)]| {
            names.iter().find_map(|(name, flavour)| {
                let node = tape.member(definition, name).filter(|node| tape.entry(*node).kind != EntryKind::Null)?;
                // Bedrock leaves room for schemas that are not JSON.
                let node = match tape.member(node, "json") {
                    Some(json) if self == Shape::Bedrock => json,
                    _ => node,
                };
                Some(SchemaAt { node, flavour: *flavour })
            })
        };
        (first(self.row().input), first(self.row().output))
    }

    /// Whether a definition that has no schema where this shape looks for it has one where `other` does.
    pub(crate) fn overlooks(self, other: Shape, tape: Tape<'_>, node: Node) -> bool {
        self.schemas(tape, self.definition(tape, node)) == (None, None)
            && other.schemas(tape, other.definition(tape, node)) != (None, None)
    }
}

/// The object under the first of these members that is there.
fn wrapped(tape: Tape<'_>, node: Node, wrappers: &[&str]) -> Option<Node> {
    let inner = wrappers.iter().find_map(|name| tape.member(node, name));
    inner.filter(|inner| tape.entry(*inner).kind == EntryKind::Object)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::SCHEMA_READ;
    use callgate_vm::tape::TapeBuf;

    #[track_caller]
    fn check(tool: &str, expected: &str) {
        let mut buf = TapeBuf::new();
        let tape = buf.read(tool.as_bytes(), SCHEMA_READ).expect("reads");
        assert_eq!(Shape::of(tape, 0).map_or("none", Shape::name), expected, "{tool}");
    }

    #[test]
    fn shapes_are_recognised() {
        check(r#"{"name": "a", "inputSchema": {}}"#, "mcp");
        check(r#"{"name": "a", "outputSchema": {}}"#, "mcp");
        check(r#"{"type": "function", "function": {"name": "a"}}"#, "openai-chat");
        check(r#"{"type": "custom", "custom": {"name": "a"}}"#, "openai-chat");
        check(r#"{"type": "function", "name": "a", "parameters": {}}"#, "openai-responses");
        check(r#"{"name": "a", "parameters": {"type": "object"}}"#, "openai-functions");
        check(r#"{"name": "a", "input_schema": {}}"#, "anthropic");
        check(r#"{"name": "a", "parameters": {"type": "OBJECT"}}"#, "gemini");
        check(r#"{"name": "a", "parametersJsonSchema": {}}"#, "gemini");
        check(r#"{"toolSpec": {"name": "a", "inputSchema": {"json": {}}}}"#, "bedrock");
        check(r#"{"name": "a", "parameters": {"type": "dict"}}"#, "leaderboard");
        check(r#"{"name": "a"}"#, "none");
    }

    #[test]
    fn names_lead_back() {
        for row in &ROWS {
            assert_eq!(Shape::from_name(row.shape.name()), Some(row.shape));
        }
        assert_eq!(Shape::from_name("bfcl"), Some(Shape::Leaderboard));
        assert_eq!(Shape::from_name("MCP"), None);
    }
}
