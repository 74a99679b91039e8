//! How providers write tools down: one row a shape.
//!
//! A row says under which member the definition lies (OpenAI's chat tools wrap theirs in `function`), which members hold
//! its schemas, and in which flavour of JSON Schema these are. A tool of no declared shape is looked at everywhere where some
//! shape has a schema: one that is found is its own, and of several nobody knows which.

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
    /// Whether the node lies in the schema.
    pub(crate) fn holds(self, tape: Tape<'_>, node: Node) -> bool {
        (self.node..tape.entry(self.node).next).contains(&node)
    }

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

    /// The schemas of arguments and of results, where this shape has them.
    pub(crate) fn schemas(self, tape: Tape<'_>, node: Node) -> (Option<SchemaAt>, Option<SchemaAt>) {
        let definition = wrapped(tape, node, self.row().wrappers).unwrap_or(node);
        let first = |names: &[(&str, Flavour)]| {
            names.iter().find_map(|(name, flavour)| schema_at(tape, definition, name, *flavour))
        };
        (first(self.row().input), first(self.row().output))
    }
}

/// What an entry has for schemas of its arguments, wherever some shape looks for them.
#[derive(Debug, Default)]
pub(crate) struct Found(Vec<Candidate>);

/// One of them.
#[derive(Clone, Copy, Debug)]
struct Candidate {
    shape: Shape,
    input: SchemaAt,
    /// The member that holds it.
    member: &'static str,
    /// What that is a member of.
    definition: Node,
}

/// Members that a definition may lie under.
const WRAPPERS: [&str; 3] = ["toolSpec", "function", "custom"];

/// Members that hold a schema of arguments.
const INPUTS: [&str; 5] =
    ["inputSchema", "input_schema", "parameters", "parametersJsonSchema", "parameters_json_schema"];

impl Found {
    /// Looks at the entry and at what is wrapped in it. Members that are null are not there.
    pub(crate) fn of(tape: Tape<'_>, node: Node) -> Found {
        let mut found = Found::default();
        let wrapped = WRAPPERS.iter().filter_map(|name| {
            let inner = tape.member(node, name).filter(|inner| tape.entry(*inner).kind == EntryKind::Object)?;
            Some((Some(*name), inner))
        });
        for (wrapper, definition) in std::iter::once((None, node)).chain(wrapped) {
            for member in INPUTS {
                let Some(input) = schema_at(tape, definition, member, JsonSchema) else {
                    continue;
                };
                let flavour = if member == "parameters" { Flavour::of(tape, input.node) } else { JsonSchema };
                let shape = shape_of(tape, node, wrapper, member, flavour);
                found.0.push(Candidate { shape, input: SchemaAt { flavour, ..input }, member, definition });
            }
        }
        found
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The shape that the first of them is of.
    pub(crate) fn first(&self) -> Option<Shape> {
        self.0.first().map(|candidate| candidate.shape)
    }

    /// The only schema, or how many there are. `around` is the shape of what holds the tool: Gemini's lists have
    /// `parameters` in its flavour, however they are spelled.
    pub(crate) fn only(&self, around: Option<Shape>) -> Result<SchemaAt, usize> {
        match self.0[..] {
            [Candidate { input, member: "parameters", .. }] if around == Some(Shape::Gemini) => {
                Ok(SchemaAt { flavour: OpenApi, ..input })
            }
            [Candidate { input, .. }] => Ok(input),
            _ => Err(self.0.len()),
        }
    }

    /// The members that hold them, for people.
    pub(crate) fn members(&self) -> String {
        self.0.iter().map(|candidate| candidate.member).collect::<Vec<_>>().join(", ")
    }

    /// What the first of them lies in.
    fn definition(&self) -> Option<Node> {
        self.0.first().map(|candidate| candidate.definition)
    }

    /// The schema of results beside the first of them.
    pub(crate) fn output(&self, tape: Tape<'_>, node: Node) -> Option<SchemaAt> {
        let definition = self.definition().unwrap_or(node);
        let shape = self.first().unwrap_or(Shape::Mcp);
        let rows = std::iter::once(shape.row()).chain([Shape::Mcp, Shape::Anthropic].map(Shape::row));
        rows.flat_map(|row| row.output).find_map(|(name, flavour)| schema_at(tape, definition, name, *flavour))
    }

    /// The tool's name: beside the schema, in what is wrapped, or outside it.
    pub(crate) fn name(&self, tape: Tape<'_>, node: Node, declared: Option<Shape>) -> Option<String> {
        let inside = match declared {
            Some(shape) => wrapped(tape, node, shape.row().wrappers),
            None => self.definition().or_else(|| WRAPPERS.iter().find_map(|name| wrapped(tape, node, &[name]))),
        };
        let outer = if declared.is_some_and(|shape| shape.row().wrappers.is_empty()) {
            Vec::new()
        } else {
            WRAPPERS.iter().filter_map(|name| wrapped(tape, node, &[name])).collect()
        };
        let places = inside.into_iter().chain([node]).chain(outer);
        let mut names = places.filter_map(|place| tape.member(place, "name").filter(|name| tape.is_string(*name)));
        names.next().map(|name| tape.text(name).chars().collect())
    }
}

/// The shape that has its schema in that place.
fn shape_of(tape: Tape<'_>, node: Node, wrapper: Option<&str>, member: &str, flavour: Flavour) -> Shape {
    let calls_itself = |name: &str| tape.member(node, "type").is_some_and(|kind| tape.text(kind).is(name));
    match (wrapper, member) {
        (Some("toolSpec"), _) => Shape::Bedrock,
        (Some(_), _) => Shape::OpenaiChat,
        (None, "inputSchema") => Shape::Mcp,
        (None, "input_schema") => Shape::Anthropic,
        (None, "parameters") => match flavour {
            OpenApi => Shape::Gemini,
            Leaderboard => Shape::Leaderboard,
            JsonSchema if calls_itself("function") || calls_itself("custom") => Shape::OpenaiResponses,
            JsonSchema => Shape::OpenaiFunctions,
        },
        (None, _) => Shape::Gemini,
    }
}

/// The schema under that member. Bedrock leaves room for schemas that are not JSON: `{"json": SCHEMA}`.
fn schema_at(tape: Tape<'_>, definition: Node, name: &str, flavour: Flavour) -> Option<SchemaAt> {
    let node = tape.member(definition, name).filter(|node| tape.entry(*node).kind != EntryKind::Null)?;
    let is_boxed = tape.entry(node).kind == EntryKind::Object && tape.entry(node).len == 1;
    let node = tape.member(node, "json").filter(|_| is_boxed).unwrap_or(node);
    Some(SchemaAt { node, flavour })
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
        assert_eq!(Found::of(tape, 0).first().map_or("none", Shape::name), expected, "{tool}");
    }

    #[test]
    fn shapes_are_recognised() {
        check(r#"{"name": "a", "inputSchema": {}}"#, "mcp");
        check(r#"{"name": "a", "parameters": null, "inputSchema": {}}"#, "mcp");
        check(r#"{"type": "function", "function": {"name": "a", "parameters": {}}}"#, "openai-chat");
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
