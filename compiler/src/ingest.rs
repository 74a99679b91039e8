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

/// An entry of the catalog.
pub(crate) type Entry = Result<Tool, Finding>;

/// Members that hold the schema of the arguments, by provider.
const INPUT: [&str; 3] = ["inputSchema", "input_schema", "parameters"];

/// Reads the catalog's entries. Errors: a finding that it has no known shape.
pub(crate) fn read(tape: Tape<'_>) -> Result<Vec<Entry>, Finding> {
    let mut entries = Vec::new();
    match tape.entry(0).kind {
        EntryKind::Array => read_list(tape, 0, "", &mut entries)?,
        EntryKind::Object => read_object(tape, &mut entries)?,
        _ => return Err(unreadable("a catalog is an object or an array")),
    }
    Ok(entries)
}

fn unreadable(detail: &str) -> Finding {
    Finding::new(FindingKind::Unreadable, "", detail)
}

fn read_object(tape: Tape<'_>, entries: &mut Vec<Entry>) -> Result<(), Finding> {
    let list = |node: Node, name: &str| {
        tape.member(node, name).filter(|list| tape.entry(*list).kind == EntryKind::Array)
    };
    if let Some(result) = tape.member(0, "result") {
        if let Some(tools) = list(result, "tools") {
            return read_list(tape, tools, "/result/tools", entries);
        }
    }
    if tape.member(0, "jsonrpc").is_some() && tape.member(0, "error").is_some() {
        return Err(unreadable("the JSON-RPC response is an error"));
    }
    if let Some(tools) = list(0, "tools") {
        return read_list(tape, tools, "/tools", entries);
    }
    if is_definition(tape, 0) {
        entries.push(read_tool(tape, 0, ""));
        return Ok(());
    }
    read_map(tape, entries)
}

/// A list of tools, or of pages that have some.
fn read_list(tape: Tape<'_>, list: Node, pointer: &str, entries: &mut Vec<Entry>) -> Result<(), Finding> {
    for (index, node) in tape.element_nodes(list).enumerate() {
        let pointer = format!("{pointer}/{index}");
        let page = tape.member(node, "result").and_then(|result| tape.member(result, "tools"));
        match page.or_else(|| tape.member(node, "tools")) {
            Some(page) if tape.entry(page).kind == EntryKind::Array && tape.member(node, "name").is_none() => {
                for (at, tool) in tape.element_nodes(page).enumerate() {
                    entries.push(read_tool(tape, tool, &format!("{pointer}/tools/{at}")));
                }
            }
            _ => entries.push(read_tool(tape, node, &pointer)),
        }
    }
    Ok(())
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
        entries.push(if is_definition(tape, value) {
            read_tool(tape, value, &pointer).map(|tool| Tool { name, ..tool })
        } else {
            Ok(Tool { name, input: Some(value), output: None })
        });
    }
    Ok(())
}

/// Whether the object is a tool rather than a schema.
fn is_definition(tape: Tape<'_>, node: Node) -> bool {
    let input = INPUT.iter().any(|name| tape.member(node, name).is_some());
    input || tape.member(node, "function").is_some_and(|inner| tape.entry(inner).kind == EntryKind::Object)
}

fn read_tool(tape: Tape<'_>, node: Node, pointer: &str) -> Entry {
    let not_a_tool = |detail: String| Finding::new(FindingKind::NotATool, pointer, detail);
    if tape.entry(node).kind != EntryKind::Object {
        return Err(not_a_tool("a tool is an object".to_owned()));
    }
    // OpenAI's chat form wraps the definition.
    let wrapped = tape.member(node, "function").filter(|inner| tape.entry(*inner).kind == EntryKind::Object);
    let node = wrapped.unwrap_or(node);
    let name = match tape.member(node, "name").filter(|name| tape.is_string(*name)) {
        Some(name) => tape.text(name).chars().collect::<String>(),
        None => return Err(not_a_tool("the tool has no name".to_owned())),
    };
    if name.is_empty() {
        return Err(not_a_tool("the tool's name is empty".to_owned()));
    }
    let schema = |name: &str| tape.member(node, name).filter(|schema| tape.entry(*schema).kind != EntryKind::Null);
    Ok(Tool { name, input: INPUT.iter().find_map(|name| schema(name)), output: schema("outputSchema") })
}
