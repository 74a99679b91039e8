//! From the text of a catalog to its tools, whatever shape the provider gives it.
//!
//! ```text
//! source    the text, or its rows as a list                       JSONL, UTF-8
//! mod       containers: results, pages, requests, maps, groups    ─► entries
//! shape     how a provider writes one tool down                   ─► name, schemas
//! flavour   schemas that are not quite JSON Schema                ─► JSON Schema
//! ```
//!
//! One entry that is no tool does not cost the others.

pub(crate) mod flavour;
pub(crate) mod shape;
pub(crate) mod source;

use std::collections::BTreeMap;

use callgate_vm::tape::{EntryKind, Node, Tape};

use self::shape::{SchemaAt, Shape};
use crate::bounds::span_of;
use crate::finding::{Finding, FindingKind};
use crate::location::push_segment;

/// A tool as the catalog has it.
#[derive(Debug)]
pub(crate) struct Tool {
    pub(crate) name: String,
    /// The schema of its arguments; without one, anything goes.
    pub(crate) input: Option<SchemaAt>,
    /// The schema of its results.
    pub(crate) output: Option<SchemaAt>,
}

/// An entry of the catalog: where it is, and the tool, or why it is none.
#[derive(Debug)]
pub(crate) struct Entry {
    pub(crate) node: Node,
    pub(crate) pointer: String,
    pub(crate) tool: Result<Tool, Finding>,
}

/// Containers inside each other: a row of a recording, its tools, Gemini's lists inside them. Unit: levels.
const LEVELS_MAX: usize = 4;

/// Members that are lists of tools, in a request or result.
const LISTS: [&str; 4] = ["tools", "functions", "functionDeclarations", "function_declarations"];

/// Reads the catalog's entries. `declared` is the shape to read all tools in. Errors: a finding that the catalog has no
/// known shape.
pub(crate) fn read(
    tape: Tape<'_>,
    declared: Option<Shape>,
    broken: &BTreeMap<usize, String>,
) -> Result<Vec<Entry>, Finding> {
    let mut reader = Reader { tape, declared, broken, entries: Vec::new() };
    match tape.entry(0).kind {
        EntryKind::Array => reader.list(0, &Context::default()),
        EntryKind::Object => reader.object()?,
        _ => return Err(unreadable("a catalog is an object or an array")),
    }
    Ok(reader.entries)
}

fn unreadable(detail: &str) -> Finding {
    Finding { span: Some(0..1), ..Finding::new(FindingKind::Unreadable, "", detail) }
}

/// What is known of an entry from around it.
#[derive(Clone, Default)]
struct Context {
    /// Pointer of what holds it.
    pointer: String,
    /// The shape that the container is of.
    shape: Option<Shape>,
    /// Before its tools' names: the catalog in a file of several.
    group: Option<String>,
    level: usize,
}

impl Context {
    fn below(&self, segments: &[&str]) -> Context {
        let mut context = Context { level: self.level + 1, ..self.clone() };
        for segment in segments {
            push_segment(&mut context.pointer, segment);
        }
        context
    }
}

struct Reader<'t> {
    tape: Tape<'t>,
    declared: Option<Shape>,
    broken: &'t BTreeMap<usize, String>,
    entries: Vec<Entry>,
}

impl Reader<'_> {
    /// The whole catalog, an object.
    fn object(&mut self) -> Result<(), Finding> {
        let tape = self.tape;
        let context = Context::default();
        if self.container(0, &context) {
            return Ok(());
        }
        if tape.member(0, "jsonrpc").is_some() && tape.member(0, "error").is_some() {
            return Err(unreadable("the JSON-RPC response is an error"));
        }
        if let Some(tools) = tape.member(0, "tools").filter(|tools| self.is(*tools, EntryKind::Object)) {
            self.map(tools, &context.below(&["tools"]));
            return Ok(());
        }
        // One row of a recording.
        if tape.member(0, "tool").is_some_and(|tool| self.is(tool, EntryKind::Object)) && !self.has_text(0, "name") {
            self.element(0, 0, &context);
            return Ok(());
        }
        let is_tool = Shape::of(tape, 0).is_some() || self.has_text(0, "name");
        if is_tool && self.declared != Some(Shape::Schemas) {
            self.tool(0, String::new(), &context);
            return Ok(());
        }
        if tape.entry(0).len == 0 {
            return Err(unreadable("the object is empty: it has no list of tools"));
        }
        let holds = |kind| tape.member_nodes(0).all(|(_, value)| tape.entry(value).kind == kind);
        if holds(EntryKind::Array) {
            self.groups();
        } else if holds(EntryKind::Object) {
            self.map(0, &context);
        } else if tape.member(0, "type").is_some() || tape.member(0, "$schema").is_some() {
            return Err(unreadable("a JSON Schema and no tool: name it, as in {\"NAME\": SCHEMA}"));
        } else {
            return Err(unreadable("neither a list of tools, nor an object with one, nor a map from names to schemas"));
        }
        Ok(())
    }

    /// What holds a list of tools: a result, a response around one, a request, a row of a recording. Answers whether the
    /// object is such.
    fn container(&mut self, node: Node, context: &Context) -> bool {
        let tape = self.tape;
        let under = |names: &[&str]| names.iter().try_fold(node, |node, name| tape.member(node, name));
        let wrapped: [&[&str]; 3] = [&["result", "tools"], &["toolConfig", "tools"], &["request", "tools"]];
        let direct = LISTS.iter().map(std::slice::from_ref);
        for names in wrapped.into_iter().chain(direct) {
            if let Some(list) = under(names).filter(|list| self.is(*list, EntryKind::Array)) {
                let mut below = context.below(names);
                if names[0].starts_with("function") && names[0] != "functions" {
                    below.shape = Some(Shape::Gemini);
                }
                self.list(list, &below);
                return true;
            }
        }
        false
    }

    /// A list of tools, or of what holds some.
    fn list(&mut self, list: Node, context: &Context) {
        for (index, node) in self.tape.element_nodes(list).enumerate() {
            let mut context = context.clone();
            push_segment(&mut context.pointer, &index.to_string());
            self.element(node, index, &context);
        }
    }

    fn element(&mut self, node: Node, index: usize, context: &Context) {
        let tape = self.tape;
        let mut context = context.clone();
        if let Some(declared) = tape.member(node, "dialect").filter(|_| tape.member(node, "source").is_some()) {
            let name: String = tape.text(declared).chars().collect();
            context.shape = Shape::from_name(&name).or(context.shape);
        }
        let wrapped = tape.member(node, "tool").filter(|tool| self.is(*tool, EntryKind::Object));
        let is_named = self.has_text(node, "name");
        // A recording comes with the tools that were sent: a catalog of its own, called by its number.
        if self.is_call(node) || wrapped.is_some() && !is_named {
            context.group = Some((index + 1).to_string());
        }
        if context.level < LEVELS_MAX && (self.is_call(node) || !is_named) {
            if self.container(node, &context) {
                return;
            }
            if let Some(tool) = wrapped {
                return self.tool(tool, context.below(&["tool"]).pointer, &context);
            }
        }
        self.tool(node, context.pointer.clone(), &context);
    }

    /// A map from names to tools or schemas.
    fn map(&mut self, map: Node, context: &Context) {
        let tape = self.tape;
        for (key, value) in tape.member_nodes(map) {
            let name: String = tape.text(key).chars().collect();
            let pointer = context.below(&[&name]).pointer;
            let shape = Shape::of(tape, value).filter(|_| self.declared != Some(Shape::Schemas));
            let tool = match shape {
                Some(shape) => self.definition(value, name, shape),
                None => {
                    let input = SchemaAt { node: value, flavour: flavour::Flavour::JsonSchema };
                    Ok(Tool { name, input: Some(input), output: None })
                }
            };
            self.push(value, pointer, tool);
        }
    }

    /// A map from keys to lists of tools, each a catalog of its own.
    fn groups(&mut self) {
        for (key, list) in self.tape.member_nodes(0) {
            let name: String = self.tape.text(key).chars().collect();
            let context = Context { group: Some(name.clone()), ..Context::default().below(&[&name]) };
            self.list(list, &context);
        }
    }

    fn tool(&mut self, node: Node, pointer: String, context: &Context) {
        let tool = self.read_tool(node, context);
        self.push(node, pointer, tool);
    }

    fn push(&mut self, node: Node, pointer: String, tool: Result<Tool, (String, Option<String>)>) {
        let tool = tool.map_err(|(detail, hint)| {
            let finding = Finding::new(FindingKind::NotATool, pointer.clone(), detail);
            Finding { span: Some(span_of(self.tape, node)), hint, ..finding }
        });
        self.entries.push(Entry { node, pointer, tool });
    }

    /// Errors: why it is no tool, and what may be meant.
    fn read_tool(&self, node: Node, context: &Context) -> Result<Tool, (String, Option<String>)> {
        let tape = self.tape;
        if let Some(broken) = self.broken.get(&(tape.entry(node).start as usize)) {
            return Err((broken.clone(), None));
        }
        if !self.is(node, EntryKind::Object) {
            return Err(("a tool is an object".to_owned(), None));
        }
        let own = Shape::of(tape, node);
        if own.is_none() && self.is_call(node) {
            return Err(("a call and no tool: it has arguments and no schema".to_owned(), None));
        }
        let around = context.shape.filter(|shape| own.is_none_or(|own| !shape.overlooks(own, tape, node)));
        let shape = self.declared.or(around).or(own).unwrap_or(Shape::Mcp);
        let definition = shape.definition(tape, node);
        let name = match tape.member(definition, "name").filter(|name| tape.is_string(*name)) {
            None => return Err((self.nameless(node, shape), likelier(own, shape))),
            Some(name) if tape.slice(name).is_empty() => return Err(("the tool's name is empty".to_owned(), None)),
            Some(name) => tape.text(name).chars().collect::<String>(),
        };
        let name = match &context.group {
            Some(group) => format!("{group}/{name}"),
            None => name,
        };
        self.definition(node, name, shape)
    }

    /// The tool of that name. Errors: its schema is where another shape has it.
    fn definition(&self, node: Node, name: String, shape: Shape) -> Result<Tool, (String, Option<String>)> {
        let tape = self.tape;
        let own = Shape::of(tape, node);
        if let Some(other) = own.filter(|own| shape.overlooks(*own, tape, node)) {
            let detail =
                format!("read as {}, the tool has no schema, but it has one of {}", shape.name(), other.name());
            return Err((detail, likelier(own, shape)));
        }
        let (input, output) = shape.schemas(tape, shape.definition(tape, node));
        Ok(Tool { name, input, output })
    }

    /// Whether the object is a recorded call.
    fn is_call(&self, node: Node) -> bool {
        ["arguments_raw", "arguments"].iter().any(|name| self.tape.member(node, name).is_some())
    }

    fn nameless(&self, node: Node, shape: Shape) -> String {
        let tape = self.tape;
        let kind: Option<String> = tape.member(node, "type").map(|kind| tape.text(kind).chars().take(40).collect());
        match kind.filter(|kind| !matches!(kind.as_str(), "" | "function" | "custom")) {
            Some(kind) => format!("the tool has no name: {kind:?} is the provider's own, and has no schema here"),
            None if self.declared.is_some() => format!("read as {}, the tool has no name", shape.name()),
            None => "the tool has no name".to_owned(),
        }
    }

    fn is(&self, node: Node, kind: EntryKind) -> bool {
        self.tape.entry(node).kind == kind
    }

    fn has_text(&self, node: Node, name: &str) -> bool {
        self.tape.member(node, name).is_some_and(|node| self.tape.is_string(node))
    }
}

/// The shape that fits better than the one that the tool was read in.
fn likelier(own: Option<Shape>, shape: Shape) -> Option<String> {
    own.filter(|own| *own != shape).map(|own| format!("it looks like {}", own.name()))
}
