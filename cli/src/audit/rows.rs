//! What a row of recorded calls holds: the calls, whoever recorded them.
//!
//! ```text
//! {name, arguments}                             plain; OpenAI's function_call items; arguments_raw of recordings
//! {type: "tool_use", name, input}               Anthropic
//! {functionCall: {name, args}}                  Gemini, and OpenAI's old function_call
//! {function: {name, arguments}}                 OpenAI, inside tool_calls
//! {method: "tools/call", params: {name, …}}     MCP
//! {tool_calls | message | choices | content | parts | candidates | output: …}   searched for these
//! ```
//!
//! Arguments are text: what a string says, or a value with the bytes that it has in the row. No tree is made of them.

use std::borrow::Cow;
use std::fmt;

use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, SeqAccess, Visitor};
use serde_json::value::RawValue;

/// Objects and lists inside each other that are searched for calls: Gemini's candidates, their content and parts take six.
const LEVELS_MAX: usize = 8;

/// The arguments of a call that says nothing of any.
const NO_ARGUMENTS: &str = "{}";

/// A call as it was recorded.
#[derive(Debug, PartialEq, Eq)]
pub struct Call<'r> {
    /// The tool's name.
    pub name: Cow<'r, str>,
    /// JSON text, or what was recorded as such.
    pub arguments: Cow<'r, str>,
}

/// Why something is no call although it looks like one.
#[derive(Debug, PartialEq, Eq)]
pub struct Malformed(pub String);

impl Malformed {
    /// Why the row cannot be read.
    fn row(error: &serde_json::Error) -> Malformed {
        // A row is one line, so which it is says nothing.
        Malformed(format!("{} at column {}", reason(error), error.column()))
    }

    /// Why an object inside a row cannot be read: the columns are not those of the row.
    fn inside(error: &serde_json::Error) -> Malformed {
        Malformed(reason(error))
    }
}

/// The error without its place.
fn reason(error: &serde_json::Error) -> String {
    let message = error.to_string();
    let place = format!(" at line {} column {}", error.line(), error.column());
    message.strip_suffix(&place).unwrap_or(&message).to_owned()
}

/// A row, read so far that its calls can be looked for.
#[derive(Debug)]
pub enum Row<'r> {
    /// An object.
    One(Box<Node<'r>>),
    /// A list, or a value without calls.
    Other(&'r str),
}

impl<'r> Row<'r> {
    /// Reads a row. Errors: it is not JSON, or has a member twice that matters here.
    pub fn read(text: &'r str) -> Result<Row<'r>, Malformed> {
        if text.trim_ascii_start().starts_with('{') {
            return serde_json::from_str(text).map(Row::One).map_err(|error| Malformed::row(&error));
        }
        serde_json::from_str(text).map(|IgnoredAny| Row::Other(text)).map_err(|error| Malformed::row(&error))
    }

    /// The catalog that the row names, of a file with several.
    pub fn catalog_key(&self) -> Option<Cow<'r, str>> {
        match self {
            Row::One(node) => node.catalog_key.and_then(text_of),
            Row::Other(_) => None,
        }
    }

    /// Whether the row comes with tools of its own.
    pub fn has_tools(&self) -> bool {
        matches!(self, Row::One(node) if node.tools.is_some())
    }

    /// Tells each call of the row, in its order; and each of those that cannot be told.
    pub fn calls(&self, tell: &mut dyn FnMut(Result<Call<'r>, Malformed>)) {
        match self {
            Row::One(node) => search(node, 1, tell),
            Row::Other(text) => search_text(text, 0, tell),
        }
    }
}

/// The members of an object that can make it a call, or hold calls.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Node<'r> {
    #[serde(borrow)]
    name: Option<&'r RawValue>,
    #[serde(deserialize_with = "present")]
    arguments: Option<&'r RawValue>,
    #[serde(deserialize_with = "present")]
    arguments_raw: Option<&'r RawValue>,
    #[serde(deserialize_with = "present")]
    input: Option<&'r RawValue>,
    #[serde(deserialize_with = "present")]
    args: Option<&'r RawValue>,
    #[serde(rename = "type")]
    kind: Option<&'r RawValue>,
    method: Option<&'r RawValue>,
    params: Option<&'r RawValue>,
    function: Option<&'r RawValue>,
    #[serde(rename = "functionCall", alias = "function_call")]
    function_call: Option<&'r RawValue>,
    tool_calls: Option<&'r RawValue>,
    message: Option<&'r RawValue>,
    choices: Option<&'r RawValue>,
    content: Option<&'r RawValue>,
    parts: Option<&'r RawValue>,
    candidates: Option<&'r RawValue>,
    output: Option<&'r RawValue>,
    catalog_key: Option<&'r RawValue>,
    tools: Option<&'r RawValue>,
}

/// A member that is there, `null` too.
fn present<'r, D: Deserializer<'r>>(deserializer: D) -> Result<Option<&'r RawValue>, D::Error> {
    <&RawValue>::deserialize(deserializer).map(Some)
}

impl<'r> Node<'r> {
    /// The call that the object is; none if it is something else.
    fn call(&self) -> Option<Result<Call<'r>, Malformed>> {
        if is_text(self.method, "tools/call") {
            let params = self.params.map_or(NO_ARGUMENTS, RawValue::get);
            return Some(Node::read(params).and_then(|params| named(params.name, params.arguments)));
        }
        if is_text(self.kind, "tool_use") {
            return Some(named(self.name, self.input));
        }
        if let Some(function) = self.function_call.filter(|function| is_object(function)) {
            let node = Node::read(function.get());
            return Some(node.and_then(|node| named(node.name, node.args.or(node.arguments))));
        }
        if let Some(function) = self.function.filter(|function| is_object(function)) {
            // Without arguments it is the definition of a tool.
            return match Node::read(function.get()) {
                Ok(node) => node.arguments.map(|arguments| named(node.name, Some(arguments))),
                Err(malformed) => Some(Err(malformed)),
            };
        }
        let arguments = self.arguments_raw.or(self.arguments);
        let is_plain = self.name.is_some() && arguments.is_some();
        (is_plain || is_text(self.kind, "function_call")).then(|| named(self.name, arguments))
    }

    fn read(text: &'r str) -> Result<Node<'r>, Malformed> {
        if !text.starts_with('{') {
            return Err(Malformed("the call is no object".to_owned()));
        }
        serde_json::from_str(text).map_err(|error| Malformed::inside(&error))
    }

    /// What may hold calls, in the order in which it is searched.
    fn holders(&self) -> impl Iterator<Item = &'r RawValue> {
        let Node { message, choices, content, parts, candidates, output, tool_calls, .. } = *self;
        [message, choices, content, parts, candidates, output, tool_calls].into_iter().flatten()
    }
}

/// The call of that name. Errors: the name is no text, or the arguments are text that cannot be told.
fn named<'r>(name: Option<&'r RawValue>, arguments: Option<&'r RawValue>) -> Result<Call<'r>, Malformed> {
    let no_name = || Malformed("the call has no name that is a string".to_owned());
    let name = name.and_then(text_of).ok_or_else(no_name)?;
    let arguments = match arguments {
        Some(text) if text.get().starts_with('"') => {
            text_of(text).ok_or_else(|| Malformed("the arguments are a string with half a character".to_owned()))?
        }
        Some(value) => Cow::Borrowed(value.get()),
        None => Cow::Borrowed(NO_ARGUMENTS),
    };
    Ok(Call { name, arguments })
}

fn search<'r>(node: &Node<'r>, level: usize, tell: &mut dyn FnMut(Result<Call<'r>, Malformed>)) {
    match node.call() {
        Some(call) => tell(call),
        None => node.holders().for_each(|holder| search_text(holder.get(), level, tell)),
    }
}

/// Searches an object, or the elements of a list; in anything else there is no call.
fn search_text<'r>(text: &'r str, level: usize, tell: &mut dyn FnMut(Result<Call<'r>, Malformed>)) {
    if level >= LEVELS_MAX {
        return;
    }
    match text.trim_ascii_start().as_bytes().first() {
        Some(b'{') => match Node::read(text) {
            Ok(node) => search(&node, level + 1, tell),
            Err(malformed) => tell(Err(malformed)),
        },
        Some(b'[') => {
            let mut reader = serde_json::Deserializer::from_str(text);
            let elements = Elements(|element: &'r RawValue| search_text(element.get(), level + 1, tell));
            let read = elements.deserialize(&mut reader);
            debug_assert!(read.is_ok(), "the row has been read to its end");
        }
        _ => {}
    }
}

/// Tells the elements of a list, one after the other, without keeping them.
struct Elements<F>(F);

impl<'r, F: FnMut(&'r RawValue)> DeserializeSeed<'r> for Elements<F> {
    type Value = ();

    fn deserialize<D: Deserializer<'r>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'r, F: FnMut(&'r RawValue)> Visitor<'r> for Elements<F> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list")
    }

    fn visit_seq<A: SeqAccess<'r>>(mut self, mut elements: A) -> Result<(), A::Error> {
        while let Some(element) = elements.next_element()? {
            (self.0)(element);
        }
        Ok(())
    }
}

/// What a string says; none for other values, and for a string with half of a surrogate pair.
fn text_of(value: &RawValue) -> Option<Cow<'_, str>> {
    let inner = value.get().strip_prefix('"')?.strip_suffix('"')?;
    if !inner.contains('\\') {
        return Some(Cow::Borrowed(inner));
    }
    serde_json::from_str(value.get()).ok().map(Cow::Owned)
}

fn is_text(value: Option<&RawValue>, text: &str) -> bool {
    value.and_then(text_of).is_some_and(|value| value == text)
}

fn is_object(value: &RawValue) -> bool {
    value.get().starts_with('{')
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The calls of a row, as `NAME ARGUMENTS`, or why one cannot be told.
    fn calls(row: &str) -> Vec<String> {
        let mut found = Vec::new();
        Row::read(row).expect("JSON").calls(&mut |call| {
            found.push(match call {
                Ok(Call { name, arguments }) => format!("{name} {arguments}"),
                Err(Malformed(why)) => format!("! {why}"),
            });
        });
        found
    }

    #[track_caller]
    fn check(row: &str, expected: &[&str]) {
        assert_eq!(calls(row), expected, "{row}");
    }

    #[test]
    fn plain() {
        check(r#"{"name": "f", "arguments": {"a":  1.0}}"#, &[r#"f {"a":  1.0}"#]);
        check(r#" {"arguments": "{\"a\": \"\\u00e9\"}", "name": "\u0066"}"#, &[r#"f {"a": "\u00e9"}"#]);
        check(r#"{"name": "f", "arguments": null}"#, &["f null"]);
        check(r#"{"name": "f", "arguments": ""}"#, &["f "]);
        check(r#"{"name": "f", "arguments_raw": "{", "tools": []}"#, &["f {"]);
    }

    #[test]
    fn openai() {
        let calls = r#"[{"id": "1", "type": "function", "function": {"name": "f", "arguments": "{}"}},
            {"type": "function", "function": {"name": "g", "arguments": "[]"}}]"#;
        for row in [
            calls.to_owned(),
            format!(r#"{{"role": "assistant", "content": null, "tool_calls": {calls}}}"#),
            format!(r#"{{"message": {{"content": "text", "tool_calls": {calls}}}}}"#),
            format!(r#"{{"choices": [{{"index": 0, "message": {{"tool_calls": {calls}}}}}]}}"#),
        ] {
            check(&row, &["f {}", "g []"]);
        }
        check(r#"{"type": "function_call", "call_id": "1", "name": "f", "arguments": "1"}"#, &["f 1"]);
        check(r#"{"output": [{"type": "reasoning"}, {"type": "function_call", "name": "f"}]}"#, &["f {}"]);
        check(r#"{"role": "assistant", "function_call": {"name": "f", "arguments": "1"}}"#, &["f 1"]);
    }

    #[test]
    fn anthropic() {
        let used = r#"{"type": "tool_use", "id": "1", "name": "f", "input": {"a": 1}}"#;
        check(used, &[r#"f {"a": 1}"#]);
        check(&format!(r#"{{"content": [{{"type": "text", "text": "…"}}, {used}, {used}]}}"#), &[r#"f {"a": 1}"#; 2]);
        check(r#"{"type": "tool_use", "name": "f"}"#, &["f {}"]);
    }

    #[test]
    fn gemini() {
        let parts = r#"{"parts": [{"text": "…"}, {"functionCall": {"name": "f", "args": {"a": 1}}}]}"#;
        check(parts, &[r#"f {"a": 1}"#]);
        check(&format!(r#"{{"content": {parts}}}"#), &[r#"f {"a": 1}"#]);
        check(&format!(r#"{{"candidates": [{{"content": {parts}}}, {{"content": {parts}}}]}}"#), &[r#"f {"a": 1}"#; 2]);
        check(r#"{"functionCall": {"name": "f"}}"#, &["f {}"]);
        check(r#"{"function_call": {"name": "f", "args": []}}"#, &["f []"]);
    }

    #[test]
    fn mcp() {
        let row = r#"{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "f", "arguments": {}}}"#;
        check(row, &["f {}"]);
        check(r#"{"method": "tools/call", "params": {"name": "f"}}"#, &["f {}"]);
        check(r#"{"method": "tools/list", "params": {"name": "f"}}"#, &[]);
    }

    #[test]
    fn without_a_call() {
        for row in [
            "1",
            "null",
            "[]",
            r#""name""#,
            "{}",
            r#"{"role": "user", "name": "f", "content": "text"}"#,
            r#"{"type": "function", "function": {"name": "f", "parameters": {}}}"#,
            r#"{"tools": [{"name": "f", "arguments": {}}]}"#,
            r#"{"function_call": "auto", "tool_calls": null}"#,
        ] {
            check(row, &[]);
        }
        let deep = format!(r#"{}{{"name": "f", "arguments": 1}}{}"#, "[".repeat(LEVELS_MAX), "]".repeat(LEVELS_MAX));
        check(&deep, &[]);
        check(&deep[1..deep.len() - 1], &["f 1"]);
    }

    #[test]
    fn calls_that_cannot_be_told() {
        let no_name = "! the call has no name that is a string";
        check(r#"{"name": 1, "arguments": {}}"#, &[no_name]);
        check(r#"{"tool_calls": [{"function": {"arguments": ""}}, {"name": "f", "arguments": 1}]}"#, &[no_name, "f 1"]);
        check(r#"{"method": "tools/call", "params": []}"#, &["! the call is no object"]);
        check(r#"{"method": "tools/call"}"#, &[no_name]);
        let half = "! the arguments are a string with half a character";
        check(r#"{"name": "f", "arguments": "\ud800"}"#, &[half]);
        check(r#"{"message": {"name": 1, "name": 2}}"#, &["! duplicate field `name`"]);
    }

    #[test]
    fn rows_that_are_malformed() {
        for (row, why) in [
            ("", "EOF while parsing a value at column 0"),
            (r#"{"name": "f""#, "EOF while parsing an object at column 12"),
            ("[1, 2", "EOF while parsing a list at column 5"),
            ("{} 1", "trailing characters at column 4"),
            (r#"{"name": 1, "name": 2}"#, "duplicate field `name` at column 18"),
        ] {
            assert_eq!(Row::read(row).err(), Some(Malformed(why.to_owned())), "{row}");
        }
    }

    #[test]
    fn whose_catalog() {
        let row = Row::read(r#"{"catalog_key": "k", "name": "f", "arguments_raw": "", "tools": []}"#).expect("JSON");
        assert_eq!((row.catalog_key().as_deref(), row.has_tools()), (Some("k"), true));
        let row = Row::read(r#"{"name": "f", "arguments_raw": ""}"#).expect("JSON");
        assert_eq!((row.catalog_key(), row.has_tools()), (None, false));
    }
}
