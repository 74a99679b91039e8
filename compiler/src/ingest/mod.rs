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
use std::rc::Rc;

use callgate_vm::tape::{EntryKind, Node, Tape};

use self::flavour::Flavour;
use self::shape::{Found, SchemaAt, Shape};
use crate::bounds::span_of;
use crate::dialect::Keyword;
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
    pub(crate) place: Place,
    pub(crate) tool: Result<Tool, Finding>,
}

/// Where an entry is: what holds it, and the step to it. Written out only where something is said of it.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    holder: Rc<str>,
    step: Step,
}

#[derive(Clone, Copy, Debug)]
enum Step {
    Here,
    Index(usize),
    Member(Node),
}

impl Place {
    /// The JSON Pointer inside the catalog.
    pub(crate) fn pointer(&self, tape: Tape<'_>) -> String {
        let mut pointer = self.holder.to_string();
        match self.step {
            Step::Here => {}
            Step::Index(index) => push_segment(&mut pointer, &index.to_string()),
            Step::Member(key) => push_segment(&mut pointer, &tape.text(key).chars().collect::<String>()),
        }
        pointer
    }
}

/// Containers inside each other: servers, their results, a recording's tools, Gemini's lists inside them. Unit: levels.
const LEVELS_MAX: usize = 6;

/// Longer keys are no names of catalogs: they would stand before the name of each of its tools. Unit: bytes.
const GROUP_BYTES_MAX: usize = 256;

/// Ways from an object to the tools that it holds, in results, responses, requests and recordings.
const LISTS: [&[&str]; 8] = [
    &["result", "tools"],
    &["toolConfig", "tools"],
    &["request", "tools"],
    &["tools"],
    &["functions"],
    &["function"],
    &["functionDeclarations"],
    &["function_declarations"],
];

/// Keys that are read outside of tools: the catalog says two things where one of them stands twice.
const READ: [&str; 10] = [
    "name",
    "result",
    "tools",
    "toolConfig",
    "request",
    "functions",
    "function",
    "functionDeclarations",
    "function_declarations",
    "tool",
];

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
    reader.duplicates()?;
    Ok(reader.entries)
}

fn unreadable(detail: &str) -> Finding {
    Finding { span: Some(0..1), ..Finding::new(FindingKind::Unreadable, "", detail) }
}

/// What is known of an entry from around it.
#[derive(Clone)]
struct Context {
    /// Pointer of what holds it.
    pointer: Rc<str>,
    /// The shape that the container is of.
    shape: Option<Shape>,
    /// Before its tools' names: the catalog in a file of several.
    group: Option<Rc<str>>,
    level: usize,
}

impl Default for Context {
    fn default() -> Self {
        Context { pointer: "".into(), shape: None, group: None, level: 0 }
    }
}

impl Context {
    fn below(&self, segments: &[&str]) -> Context {
        let mut pointer = self.pointer.to_string();
        for segment in segments {
            push_segment(&mut pointer, segment);
        }
        Context { pointer: pointer.into(), level: self.level + 1, ..self.clone() }
    }

    fn of_group(self, group: &str) -> Context {
        Context { group: Some(group.into()), ..self }
    }

    /// A tool's name, behind that of its catalog in a file of several.
    fn named(&self, name: String) -> String {
        match &self.group {
            Some(group) => format!("{group}/{name}"),
            None => name,
        }
    }

    fn place(&self, step: Step) -> Place {
        Place { holder: Rc::clone(&self.pointer), step }
    }
}

/// Why an entry is no tool: its name if it has one, what is wrong, and what may be meant.
struct NoTool {
    name: Option<String>,
    detail: String,
    hint: Option<String>,
}

impl NoTool {
    fn new(detail: impl Into<String>) -> NoTool {
        NoTool { name: None, detail: detail.into(), hint: None }
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
        if self.declared == Some(Shape::Schemas) {
            self.map(0, &context);
            return Ok(());
        }
        let is_tool = !Found::of(tape, 0).is_empty();
        if !is_tool && self.container(0, &context) {
            return Ok(());
        }
        if tape.member(0, "jsonrpc").is_some() && tape.member(0, "error").is_some() {
            return Err(unreadable("the JSON-RPC response is an error"));
        }
        if !is_tool && tape.member(0, "result").is_some_and(|result| !self.looks_like_schema(result)) {
            return Err(unreadable("the result has no list of tools"));
        }
        // One tool, or one row of a recording.
        let row = tape.member(0, "tool").is_some_and(|tool| self.is_tool(tool));
        if is_tool || self.has_text(0, "name") || row {
            self.element(0, 0, &context, context.place(Step::Here));
            return Ok(());
        }
        if tape.entry(0).len == 0 {
            return Err(unreadable("the object is empty: it has no list of tools"));
        }
        let mut name = String::new();
        let is_keyword = |key: Node, name: &mut String| Keyword::named(tape.text(key).plain(name)).is_some();
        let says = ["type", "properties", "$schema", "$ref", "anyOf", "oneOf", "allOf"];
        if says.iter().any(|keyword| tape.member(0, keyword).is_some())
            && tape.member_nodes(0).all(|(key, _)| is_keyword(key, &mut name))
        {
            return Err(unreadable("a JSON Schema and no tool: name it, as in {\"NAME\": SCHEMA}"));
        }
        let holds = |kind| tape.member_nodes(0).all(|(_, value)| tape.entry(value).kind == kind);
        if holds(EntryKind::Array) {
            self.groups();
        } else if holds(EntryKind::Object) {
            self.map(0, &context);
        } else {
            return Err(unreadable("neither a list of tools, nor an object with one, nor a map from names to schemas"));
        }
        Ok(())
    }

    /// What holds tools: a result, a response around one, a request, a row of a recording. Answers whether the object is
    /// such; all that it holds is read.
    fn container(&mut self, node: Node, context: &Context) -> bool {
        let tape = self.tape;
        if context.level >= LEVELS_MAX {
            return false;
        }
        let mut found = false;
        for names in LISTS {
            let Some(tools) = names.iter().try_fold(node, |node, name| tape.member(node, name)) else {
                continue;
            };
            let mut below = context.below(names);
            if names[0].starts_with("functionD") || names[0].starts_with("function_d") {
                below.shape = Some(Shape::Gemini);
            }
            let is_empty = tape.entry(tools).len == 0;
            match tape.entry(tools).kind {
                _ if is_empty && self.has_text(node, "name") => continue,
                EntryKind::Array => self.list(tools, &below),
                EntryKind::Object if names != ["function"] && !self.looks_like_schema(tools) => self.map(tools, &below),
                _ => continue,
            }
            found = true;
        }
        found
    }

    /// A list of tools, or of what holds some.
    fn list(&mut self, list: Node, context: &Context) {
        for (index, node) in self.tape.element_nodes(list).enumerate() {
            self.element(node, index, context, context.place(Step::Index(index)));
        }
    }

    fn element(&mut self, node: Node, index: usize, context: &Context, place: Place) {
        let tape = self.tape;
        let found = Found::of(tape, node);
        if !found.is_empty() {
            if self.holds_tools(node) {
                return self.push(node, place, Err(NoTool::new("a tool and a list of tools at once")));
            }
            return self.tool(node, &found, place, context);
        }
        let mut inner = context.clone();
        inner.pointer = place.pointer(tape).into();
        if let Some(declared) = tape.member(node, "dialect").filter(|_| tape.member(node, "source").is_some()) {
            let name: String = tape.text(declared).chars().collect();
            inner.shape = Shape::from_name(&name).or(inner.shape);
        }
        let wrapped = tape.member(node, "tool").filter(|tool| self.is(*tool, EntryKind::Object));
        // A recording comes with the tools that were sent: a catalog of its own, called by its number. A server or
        // namespace is called by its name.
        if self.is_call(node) || wrapped.is_some() {
            inner = inner.of_group(&(index + 1).to_string());
        } else if let Some(name) = self.text(node, "name").filter(|name| name.len() <= GROUP_BYTES_MAX) {
            inner = inner.of_group(&name);
        }
        if self.container(node, &inner) {
            return;
        }
        if let Some(tool) = wrapped.filter(|_| !self.has_text(node, "name")) {
            let below = inner.below(&["tool"]);
            return self.tool(tool, &Found::of(tape, tool), below.place(Step::Here), &below);
        }
        self.tool(node, &found, place, context);
    }

    /// A map from names to tools, schemas, or what holds tools.
    fn map(&mut self, map: Node, context: &Context) {
        let tape = self.tape;
        for (key, value) in tape.member_nodes(map) {
            let place = context.place(Step::Member(key));
            if self.declared == Some(Shape::Schemas) {
                let name = tape.text(key).chars().collect();
                self.push(value, place, Ok(Tool { name, input: Some(plain(value)), output: None }));
                continue;
            }
            let found = Found::of(tape, value);
            if found.is_empty() && !self.is_plain_schema(value) {
                if tape.text(key).raw_bytes() > GROUP_BYTES_MAX {
                    let detail =
                        format!("neither a tool nor a schema, under a name of more than {GROUP_BYTES_MAX} bytes");
                    self.push(value, place, Err(NoTool::new(detail)));
                    continue;
                }
                let name: String = tape.text(key).chars().collect();
                let inner = Context { pointer: place.pointer(tape).into(), ..context.clone() }.of_group(&name);
                if self.container(value, &inner) {
                    continue;
                }
                if self.is(value, EntryKind::Array) && tape.entry(value).len > 0 {
                    self.list(value, &inner);
                    continue;
                }
                // A map around the map, as `mcpServers` is.
                let is_map = self.is(value, EntryKind::Object) && tape.entry(value).len > 0;
                let mut members = tape.member_nodes(value).map(|(_, inner)| tape.entry(inner).kind);
                if context.level < LEVELS_MAX
                    && is_map
                    && members.all(|kind| matches!(kind, EntryKind::Object | EntryKind::Array))
                    && !self.is_like_properties(value)
                {
                    let outer = Context { group: context.group.clone(), level: context.level + 1, ..inner };
                    self.map(value, &outer);
                    continue;
                }
            }
            let name: String = tape.text(key).chars().collect();
            let tool = self.named(value, &found, context.named(name), context);
            self.push(value, place, tool);
        }
    }

    /// A map from keys to lists of tools, each a catalog of its own.
    fn groups(&mut self) {
        for (key, list) in self.tape.member_nodes(0) {
            let root = Context::default();
            if self.tape.text(key).raw_bytes() > GROUP_BYTES_MAX {
                let detail = format!("the catalog's name is longer than {GROUP_BYTES_MAX} bytes");
                self.push(list, root.place(Step::Here), Err(NoTool::new(detail)));
                continue;
            }
            let name: String = self.tape.text(key).chars().collect();
            self.list(list, &root.below(&[&name]).of_group(&name));
        }
    }

    fn tool(&mut self, node: Node, found: &Found, place: Place, context: &Context) {
        let tool = self.read_tool(node, found, context);
        self.push(node, place, tool);
    }

    fn push(&mut self, node: Node, place: Place, tool: Result<Tool, NoTool>) {
        let tool = tool.map_err(|NoTool { name, detail, hint }| {
            let finding = Finding::new(FindingKind::NotATool, place.pointer(self.tape), detail);
            Finding { tool: name, span: Some(span_of(self.tape, node)), hint, ..finding }
        });
        self.entries.push(Entry { node, place, tool });
    }

    fn read_tool(&self, node: Node, found: &Found, context: &Context) -> Result<Tool, NoTool> {
        let tape = self.tape;
        if let Some(broken) = self.broken.get(&(tape.entry(node).start as usize)) {
            return Err(NoTool::new(broken.clone()));
        }
        if !self.is(node, EntryKind::Object) {
            return Err(NoTool::new("a tool is an object"));
        }
        if found.is_empty() && self.holds_tools(node) {
            return Err(NoTool::new("it holds tools deeper than catalogs are read"));
        }
        if found.is_empty() && self.is_call(node) {
            return Err(NoTool::new("a call and no tool: it has arguments and no schema"));
        }
        let name = match found.name(tape, node, self.declared) {
            Some(name) if !name.is_empty() => name,
            Some(_) => return Err(NoTool::new("the tool's name is empty")),
            None => return Err(self.nameless(node, found)),
        };
        self.named(node, found, context.named(name), context)
    }

    /// The tool of that name. Errors: which schema is its own cannot be told.
    fn named(&self, node: Node, found: &Found, name: String, context: &Context) -> Result<Tool, NoTool> {
        let tape = self.tape;
        let refuse = |name: String, detail: String, hint| Err(NoTool { name: Some(name), detail, hint });
        let unknown =
            |member: &str| format!("the tool has no schema where one is known, but `{member}` looks like one");
        if let Some(shape) = self.declared.filter(|shape| *shape != Shape::Schemas) {
            let (input, output) = shape.schemas(tape, node);
            return match (input, found.first(), self.overlooked(node)) {
                (Some(input), ..) => self.unboxed(name, input, output),
                (None, Some(other), _) => {
                    let (read, other) = (shape.name(), other.name());
                    let detail = format!("read as {read}, the tool has no schema, but it has one of {other}");
                    refuse(name, detail, Some(format!("it looks like {other}")))
                }
                (None, None, Some(member)) => refuse(name, unknown(&member), None),
                (None, None, None) => Ok(Tool { name, input, output }),
            };
        }
        match found.only(context.shape) {
            Err(0) if self.is_plain_schema(node) && found.name(tape, node, None).is_none() => {
                Ok(Tool { name, input: Some(plain(node)), output: None })
            }
            Err(0) => match self.overlooked(node) {
                Some(member) => refuse(name, unknown(&member), None),
                None if !self.is(node, EntryKind::Object) => {
                    refuse(name, "neither a tool nor a schema".to_owned(), None)
                }
                None => Ok(Tool { name, input: None, output: found.output(tape, node) }),
            },
            Ok(input) => self.unboxed(name, input, found.output(tape, node)),
            Err(_) => {
                let detail = format!("the tool has several schemas of its arguments: {}", found.members());
                refuse(name, detail, Some("keep one, or declare the shape".to_owned()))
            }
        }
    }

    /// The tool with that schema. Errors: it says nothing itself, but holds one that does.
    fn unboxed(&self, name: String, input: SchemaAt, output: Option<SchemaAt>) -> Result<Tool, NoTool> {
        if !self.holds_keyword(input.node)
            && let Some(member) = self.overlooked(input.node)
        {
            let detail = format!("the tool's schema says nothing, but `{member}` in it looks like one");
            return Err(NoTool { name: Some(name), ..NoTool::new(detail) });
        }
        Ok(Tool { name, input: Some(input), output })
    }

    /// A member that holds a schema, of a tool that has none where one is known; in the entry or in what is wrapped in it.
    fn overlooked(&self, node: Node) -> Option<String> {
        /// Schemas of results, and objects that are no schemas though keywords stand in them.
        const OTHERS: [&str; 8] = [
            "outputSchema",
            "output_schema",
            "response",
            "responseJsonSchema",
            "response_json_schema",
            "toolSpec",
            "function",
            "custom",
        ];
        const LABELS: [&str; 4] = ["annotations", "_meta", "format", "cache_control"];
        let tape = self.tape;
        let wrapped = OTHERS[5..].iter().filter_map(|name| tape.member(node, name));
        let mut name = String::new();
        for definition in std::iter::once(node).chain(wrapped) {
            for (key, value) in tape.member_nodes(definition) {
                let name = tape.text(key).plain(&mut name);
                let is_schema = match name {
                    _ if OTHERS.contains(&name) || Keyword::named(name).is_some() => false,
                    _ if LABELS.contains(&name) => self.has_kind(value, "properties", EntryKind::Object),
                    _ => self.holds_keyword(value) || self.is_like_properties(value),
                };
                if is_schema {
                    return Some(name.chars().take(80).collect());
                }
            }
        }
        None
    }

    /// Whether the object has a member that is called like a keyword.
    fn holds_keyword(&self, node: Node) -> bool {
        let tape = self.tape;
        let mut name = String::new();
        tape.member_nodes(node).any(|(key, _)| Keyword::named(tape.text(key).plain(&mut name)).is_some())
    }

    /// Whether all that the object has are objects of some type.
    fn is_like_properties(&self, node: Node) -> bool {
        let tape = self.tape;
        tape.entry(node).kind == EntryKind::Object
            && tape.entry(node).len > 0
            && tape.member_nodes(node).all(|(_, value)| self.has_text(value, "type"))
    }

    fn has_kind(&self, node: Node, name: &str, kind: EntryKind) -> bool {
        self.tape.member(node, name).is_some_and(|value| self.is(value, kind))
    }

    /// Whether the value is surely meant as a schema.
    fn looks_like_schema(&self, node: Node) -> bool {
        const LISTS: [&str; 3] = ["anyOf", "oneOf", "allOf"];
        const TEXTS: [&str; 3] = ["type", "$ref", "$schema"];
        let kind = |name: &str| self.tape.member(node, name).map(|value| self.tape.entry(value).kind);
        let is_text = |name: &&str| matches!(kind(name), Some(EntryKind::String | EntryKind::EscapedString));
        kind("properties") == Some(EntryKind::Object)
            || LISTS.iter().any(|name| kind(name) == Some(EntryKind::Array))
            || TEXTS.iter().any(is_text)
    }

    /// Whether a map's value is a schema: a boolean, or an object without a member or with a keyword.
    fn is_plain_schema(&self, node: Node) -> bool {
        let entry = self.tape.entry(node);
        match entry.kind {
            EntryKind::True | EntryKind::False => true,
            EntryKind::Object => entry.len == 0 || self.holds_keyword(node) && self.overlooked(node).is_none(),
            _ => false,
        }
    }

    /// Whether the object is a tool rather than anything else.
    fn is_tool(&self, node: Node) -> bool {
        !Found::of(self.tape, node).is_empty() || self.has_text(node, "name")
    }

    /// Whether the object has a list of tools that is not empty.
    fn holds_tools(&self, node: Node) -> bool {
        let list = |name: &str| self.tape.member(node, name).map(|list| self.tape.entry(list));
        let lists =
            ["tools", "functions", "functionDeclarations", "function_declarations"].into_iter().filter_map(list);
        lists.into_iter().any(|list| list.kind == EntryKind::Array && list.len > 0)
    }

    /// Whether the object is a recorded call.
    fn is_call(&self, node: Node) -> bool {
        ["arguments_raw", "arguments"].iter().any(|name| self.tape.member(node, name).is_some())
    }

    fn nameless(&self, node: Node, found: &Found) -> NoTool {
        let tape = self.tape;
        let kind: Option<String> = tape.member(node, "type").map(|kind| tape.text(kind).chars().take(40).collect());
        let hint = match (self.declared, found.first()) {
            (Some(shape), Some(other)) if other != shape => Some(format!("it looks like {}", other.name())),
            _ => None,
        };
        let detail = match (kind, self.declared) {
            (Some(kind), _) if !matches!(kind.as_str(), "" | "function" | "custom") => {
                format!("the tool has no name: {kind:?} is the provider's own, and has no schema here")
            }
            (_, Some(shape)) => format!("read as {}, the tool has no name", shape.name()),
            _ => "the tool has no name".to_owned(),
        };
        NoTool { hint, ..NoTool::new(detail) }
    }

    /// Keys that stand twice outside of schemas: of two values, nobody knows which another reader takes. A tool that says two
    /// things of itself is none. Errors: the catalog itself says two things.
    fn duplicates(&mut self) -> Result<(), Finding> {
        let tape = self.tape;
        if tape.duplicates().is_empty() {
            return Ok(());
        }
        let mut order: Vec<usize> = (0..self.entries.len()).collect();
        order.sort_unstable_by_key(|at| self.entries[*at].node);
        for key in tape.duplicates() {
            let at = order.partition_point(|at| self.entries[*at].node <= *key);
            let entry = at.checked_sub(1).map(|at| order[at]);
            let inside = entry.filter(|at| *key < tape.entry(self.entries[*at].node).next);
            let name: String = tape.text(*key).chars().take(80).collect();
            let said = format!("the key {name:?} stands twice");
            let span = Some(span_of(tape, *key));
            match inside {
                None if READ.contains(&name.as_str()) => {
                    return Err(Finding { span, ..Finding::new(FindingKind::Unreadable, "", said) });
                }
                // A map's key: two tools of one name.
                None => {}
                Some(at) => {
                    let entry = &mut self.entries[at];
                    let pointer = entry.place.pointer(tape);
                    if let Ok(tool) = &entry.tool
                        && ![tool.input, tool.output].into_iter().flatten().any(|schema| schema.holds(tape, *key))
                    {
                        let finding = Finding::new(FindingKind::DuplicateMember, pointer, said);
                        entry.tool = Err(Finding { tool: Some(tool.name.clone()), span, ..finding });
                    }
                }
            }
        }
        Ok(())
    }

    fn is(&self, node: Node, kind: EntryKind) -> bool {
        self.tape.entry(node).kind == kind
    }

    fn text(&self, node: Node, name: &str) -> Option<String> {
        let text = self.tape.member(node, name).filter(|text| self.tape.is_string(*text))?;
        Some(self.tape.text(text).chars().collect())
    }

    fn has_text(&self, node: Node, name: &str) -> bool {
        self.tape.member(node, name).is_some_and(|node| self.tape.is_string(node))
    }
}

fn plain(node: Node) -> SchemaAt {
    SchemaAt { node, flavour: Flavour::JsonSchema }
}
