//! From the text of a catalog to its tools, whatever shape the provider gives it.
//!
//! Read are: an MCP `tools/list` result, the JSON-RPC response around it, a list of such pages, OpenAI tools (chat and
//! responses), Anthropic tools, a bare list of tools, a single tool, and a map from name to schema or tool. One entry
//! that is no tool does not cost the others.

use callgate_vm::tape::{EntryKind, Node, Tape};

use crate::finding::{Finding, FindingKind};
use crate::location::push_segment;

/// A tool as the catalog has it.
#[derive(Debug)]
pub(crate) struct Tool {
    pub(crate) name: String,
    /// The schema of its arguments; without one, anything goes.
    pub(crate) input: Option<Node>,
    /// The schema of its results.
    pub(crate) output: Option<Node>,
}

/// An entry of the catalog: where it is, and the tool, or why it is none.
#[derive(Debug)]
pub(crate) struct Entry {
    pub(crate) node: Node,
    pub(crate) pointer: String,
    pub(crate) tool: Result<Tool, Finding>,
}

/// Members that hold the schema of the arguments, by provider.
const INPUT: [&str; 3] = ["inputSchema", "input_schema", "parameters"];

/// Reads the catalog's entries. Errors: a finding that it has no known shape.
pub(crate) fn read(tape: Tape<'_>) -> Result<Vec<Entry>, Finding> {
    let mut entries = Vec::new();
    match tape.entry(0).kind {
        EntryKind::Array => read_list(tape, 0, "", &mut entries),
        EntryKind::Object => read_object(tape, &mut entries)?,
        _ => return Err(unreadable("a catalog is an object or an array")),
    }
    Ok(entries)
}

fn unreadable(detail: &str) -> Finding {
    Finding::new(FindingKind::Unreadable, "", detail)
}

fn read_object(tape: Tape<'_>, entries: &mut Vec<Entry>) -> Result<(), Finding> {
    let list =
        |node: Node, name: &str| tape.member(node, name).filter(|list| tape.entry(*list).kind == EntryKind::Array);
    if let Some(result) = tape.member(0, "result")
        && let Some(tools) = list(result, "tools")
    {
        read_list(tape, tools, "/result/tools", entries);
        return Ok(());
    }
    if tape.member(0, "jsonrpc").is_some() && tape.member(0, "error").is_some() {
        return Err(unreadable("the JSON-RPC response is an error"));
    }
    if let Some(tools) = list(0, "tools") {
        read_list(tape, tools, "/tools", entries);
        return Ok(());
    }
    if is_definition(tape, 0) {
        entries.push(entry(tape, 0, String::new()));
        return Ok(());
    }
    if tape.entry(0).len == 0 {
        return Err(unreadable("the object is empty: it has no list of tools"));
    }
    read_map(tape, entries)
}

/// A list of tools, or of pages that have some.
fn read_list(tape: Tape<'_>, list: Node, pointer: &str, entries: &mut Vec<Entry>) {
    for (index, node) in tape.element_nodes(list).enumerate() {
        let response = tape.member(node, "result").and_then(|result| tape.member(result, "tools"));
        let page = response.or_else(|| tape.member(node, "tools"));
        let under = if response.is_some() { "/result/tools" } else { "/tools" };
        match page {
            Some(page) if tape.entry(page).kind == EntryKind::Array && tape.member(node, "name").is_none() => {
                for (at, tool) in tape.element_nodes(page).enumerate() {
                    entries.push(entry(tape, tool, format!("{pointer}/{index}{under}/{at}")));
                }
            }
            _ => entries.push(entry(tape, node, format!("{pointer}/{index}"))),
        }
    }
}

/// A map from names to tools or schemas.
fn read_map(tape: Tape<'_>, entries: &mut Vec<Entry>) -> Result<(), Finding> {
    let members = tape.member_nodes(0);
    if members.clone().any(|(_, value)| tape.entry(value).kind != EntryKind::Object) {
        return Err(unreadable("neither a list of tools, nor an object with one, nor a map from names to schemas"));
    }
    for (key, value) in members {
        let name: String = tape.text(key).chars().collect();
        let mut pointer = String::new();
        push_segment(&mut pointer, &name);
        let tool = if is_definition(tape, value) {
            read_definition(tape, value, name)
        } else {
            Tool { name, input: Some(value), output: None }
        };
        entries.push(Entry { node: value, pointer, tool: Ok(tool) });
    }
    Ok(())
}

/// Whether the object is a tool rather than a schema.
fn is_definition(tape: Tape<'_>, node: Node) -> bool {
    let input = INPUT.iter().any(|name| tape.member(node, name).is_some());
    input || tape.member(node, "function").is_some_and(|inner| tape.entry(inner).kind == EntryKind::Object)
}

fn entry(tape: Tape<'_>, node: Node, pointer: String) -> Entry {
    let tool = read_tool(tape, node).map_err(|detail| {
        let finding = Finding::new(FindingKind::NotATool, pointer.clone(), detail);
        Finding { at: Some(tape.entry(node).start as usize), ..finding }
    });
    Entry { node, pointer, tool }
}

fn read_tool(tape: Tape<'_>, node: Node) -> Result<Tool, &'static str> {
    if tape.entry(node).kind != EntryKind::Object {
        return Err("a tool is an object");
    }
    let definition = unwrapped(tape, node);
    match tape.member(definition, "name").filter(|name| tape.is_string(*name)) {
        None => Err("the tool has no name"),
        Some(name) if tape.slice(name).is_empty() => Err("the tool's name is empty"),
        Some(name) => Ok(read_definition(tape, node, tape.text(name).chars().collect())),
    }
}

/// OpenAI's chat form wraps the definition.
fn unwrapped(tape: Tape<'_>, node: Node) -> Node {
    let inner = tape.member(node, "function").filter(|inner| tape.entry(*inner).kind == EntryKind::Object);
    inner.unwrap_or(node)
}

fn read_definition(tape: Tape<'_>, node: Node, name: String) -> Tool {
    let node = unwrapped(tape, node);
    let schema = |name: &str| tape.member(node, name).filter(|schema| tape.entry(*schema).kind != EntryKind::Null);
    Tool { name, input: INPUT.iter().find_map(|name| schema(name)), output: schema("outputSchema") }
}
