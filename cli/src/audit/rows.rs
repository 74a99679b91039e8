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
//! Arguments are text: what a string says, or a value with the bytes that it has in the row. No tree is made of them. Objects
//! are read by the scanner ([`scan`]), and by `serde_json` where that has doubts: it decides, and words what is wrong.

use std::borrow::Cow;
use std::fmt;

use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, SeqAccess, Visitor};
use serde_json::value::RawValue;

use super::scan;

/// Objects and lists inside each other that are searched for calls: Gemini's candidates, their content and parts take six.
const LEVELS_MAX: usize = 8;

/// The arguments of a call that says nothing of any.
const NO_ARGUMENTS: &str = "{}";

/// A call as it was recorded.
#[derive(Debug, PartialEq, Eq)]
pub struct Call<'c> {
    /// The tool's name.
    pub name: Cow<'c, str>,
    /// JSON text, or what was recorded as such.
    pub arguments: &'c str,
}

/// Hears of each call, and of each that cannot be told.
pub type Tell<'t> = &'t mut dyn FnMut(Result<Call<'_>, Malformed>);

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
pub struct Row<'r> {
    text: &'r str,
    /// What it is if it is an object; a list, or a value without calls, is not.
    node: Option<Node<'r>>,
}

impl<'r> Row<'r> {
    /// Reads a row. Errors: it is not JSON, or has a member twice that matters here.
    pub fn read(text: &'r str) -> Result<Row<'r>, Malformed> {
        let read = if text.trim_ascii_start().starts_with('{') {
            Node::scan(text).map_or_else(|| serde_json::from_str(text), Ok).map(Some)
        } else if scan::is_value(text) {
            Ok(None)
        } else {
            serde_json::from_str(text).map(|IgnoredAny| None)
        };
        read.map(|node| Row { text, node }).map_err(|error| Malformed::row(&error))
    }

    /// The catalog that the row names, of a file with several.
    pub fn catalog_key(&self) -> Option<Cow<'r, str>> {
        self.node.as_ref()?.catalog_key.and_then(text_of)
    }

    /// Whether the row comes with tools of its own.
    pub fn has_tools(&self) -> bool {
        self.node.as_ref().is_some_and(|node| unless_null(node.tools).is_some())
    }

    /// Tells each call of the row, in its order; and each of those that cannot be told. `plain` is memory for what strings say.
    pub fn calls(&self, plain: &mut String, tell: Tell<'_>) {
        match &self.node {
            Some(node) => search(node, 1, plain, tell),
            None => search_text(self.text, 0, plain, tell),
        }
    }
}

/// The members of an object that can make it a call, or hold calls, each as the text that it is.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Node<'r> {
    #[serde(borrow, deserialize_with = "present")]
    name: Option<&'r str>,
    #[serde(deserialize_with = "present")]
    arguments: Option<&'r str>,
    #[serde(deserialize_with = "present")]
    arguments_raw: Option<&'r str>,
    #[serde(deserialize_with = "present")]
    input: Option<&'r str>,
    #[serde(deserialize_with = "present")]
    args: Option<&'r str>,
    #[serde(rename = "type", deserialize_with = "present")]
    kind: Option<&'r str>,
    #[serde(deserialize_with = "present")]
    method: Option<&'r str>,
    #[serde(deserialize_with = "present")]
    params: Option<&'r str>,
    #[serde(deserialize_with = "present")]
    function: Option<&'r str>,
    #[serde(rename = "functionCall", alias = "function_call", deserialize_with = "present")]
    function_call: Option<&'r str>,
    #[serde(deserialize_with = "present")]
    tool_calls: Option<&'r str>,
    #[serde(deserialize_with = "present")]
    message: Option<&'r str>,
    #[serde(deserialize_with = "present")]
    choices: Option<&'r str>,
    #[serde(deserialize_with = "present")]
    content: Option<&'r str>,
    #[serde(deserialize_with = "present")]
    parts: Option<&'r str>,
    #[serde(deserialize_with = "present")]
    candidates: Option<&'r str>,
    #[serde(deserialize_with = "present")]
    output: Option<&'r str>,
    #[serde(deserialize_with = "present")]
    catalog_key: Option<&'r str>,
    #[serde(deserialize_with = "present")]
    tools: Option<&'r str>,
}

/// A member that is there, `null` too.
fn present<'r, D: Deserializer<'r>>(deserializer: D) -> Result<Option<&'r str>, D::Error> {
    <&RawValue>::deserialize(deserializer).map(|value| Some(value.get()))
}

impl<'r> Node<'r> {
    /// The object that the text is; `None` where that, or which of two members counts, is for others to say.
    fn scan(text: &'r str) -> Option<Node<'r>> {
        let mut node = Node::default();
        scan::members(text, |name, value| match node.member(name) {
            Some(Some(_)) => None,
            Some(member) => {
                *member = Some(value);
                Some(())
            }
            None => Some(()),
        })?;
        Some(node)
    }

    fn member(&mut self, name: &str) -> Option<&mut Option<&'r str>> {
        Some(match name {
            "name" => &mut self.name,
            "arguments" => &mut self.arguments,
            "arguments_raw" => &mut self.arguments_raw,
            "input" => &mut self.input,
            "args" => &mut self.args,
            "type" => &mut self.kind,
            "method" => &mut self.method,
            "params" => &mut self.params,
            "function" => &mut self.function,
            "functionCall" | "function_call" => &mut self.function_call,
            "tool_calls" => &mut self.tool_calls,
            "message" => &mut self.message,
            "choices" => &mut self.choices,
            "content" => &mut self.content,
            "parts" => &mut self.parts,
            "candidates" => &mut self.candidates,
            "output" => &mut self.output,
            "catalog_key" => &mut self.catalog_key,
            "tools" => &mut self.tools,
            _ => return None,
        })
    }

    /// The call that the object is; none if it is something else.
    fn call<'c>(&self, plain: &'c mut String) -> Option<Result<Call<'c>, Malformed>>
    where
        'r: 'c,
    {
        if is_text(self.method, "tools/call") {
            let params = unless_null(self.params).unwrap_or(NO_ARGUMENTS);
            return Some(Node::read(params).and_then(|params| named(params.name, params.arguments, plain)));
        }
        if is_text(self.kind, "tool_use") {
            return Some(named(self.name, self.input, plain));
        }
        if let Some(function) = self.function_call.filter(|function| is_object(function)) {
            let node = Node::read(function);
            return Some(node.and_then(|node| named(node.name, node.args.or(node.arguments), plain)));
        }
        if let Some(function) = self.function.filter(|function| is_object(function)) {
            // Without arguments it is the definition of a tool.
            return match Node::read(function) {
                Ok(node) => node.arguments.map(|arguments| named(node.name, Some(arguments), plain)),
                Err(malformed) => Some(Err(malformed)),
            };
        }
        let arguments = self.arguments_raw.or(self.arguments);
        let is_plain = unless_null(self.name).is_some() && arguments.is_some();
        (is_plain || is_text(self.kind, "function_call")).then(|| named(self.name, arguments, plain))
    }

    fn read(text: &'r str) -> Result<Node<'r>, Malformed> {
        if !is_object(text) {
            return Err(Malformed("the call is no object".to_owned()));
        }
        Node::scan(text).map_or_else(|| serde_json::from_str(text).map_err(|error| Malformed::inside(&error)), Ok)
    }

    /// What may hold calls, in the order in which it is searched.
    fn holders(&self) -> impl Iterator<Item = &'r str> {
        let Node { message, choices, content, parts, candidates, output, tool_calls, .. } = *self;
        [message, choices, content, parts, candidates, output, tool_calls].into_iter().flatten()
    }
}

/// The call of that name. Errors: the name is no text, or the arguments are text that cannot be told.
fn named<'c>(name: Option<&'c str>, arguments: Option<&'c str>, plain: &'c mut String) -> Result<Call<'c>, Malformed> {
    let no_name = || Malformed("the call has no name that is a string".to_owned());
    let name = name.and_then(text_of).ok_or_else(no_name)?;
    let arguments = match arguments {
        Some(text) if text.starts_with('"') => {
            let half = || Malformed("the arguments are a string with half a character".to_owned());
            text_in(text, plain).ok_or_else(half)?
        }
        Some(value) => value,
        None => NO_ARGUMENTS,
    };
    Ok(Call { name, arguments })
}

fn search(node: &Node<'_>, level: usize, plain: &mut String, tell: Tell<'_>) {
    match node.call(plain) {
        Some(call) => tell(call),
        None => node.holders().for_each(|holder| search_text(holder, level, plain, tell)),
    }
}

/// Searches an object, or the elements of a list; in anything else there is no call.
fn search_text(text: &str, level: usize, plain: &mut String, tell: Tell<'_>) {
    if level >= LEVELS_MAX {
        return;
    }
    match text.trim_ascii_start().as_bytes().first() {
        Some(b'{') => match Node::read(text) {
            Ok(node) => search(&node, level + 1, plain, tell),
            Err(malformed) => tell(Err(malformed)),
        },
        Some(b'[') => {
            let mut searched = 0;
            let scanned = scan::elements(text, |element| {
                searched += 1;
                search_text(element, level + 1, plain, tell);
            });
            if scanned.is_none() {
                search_rest(text, searched, level, plain, tell);
            }
        }
        _ => {}
    }
}

/// Searches the elements of a list but the first ones: the others are too deep for the scanner, or have names with escapes.
fn search_rest(list: &str, first: usize, level: usize, plain: &mut String, tell: Tell<'_>) {
    let mut at = 0;
    let elements = Elements(|element: &RawValue| {
        at += 1;
        if at > first {
            search_text(element.get(), level + 1, plain, tell);
        }
    });
    let read = elements.deserialize(&mut serde_json::Deserializer::from_str(list));
    debug_assert!(read.is_ok(), "the row has been read to its end");
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
fn text_of(value: &str) -> Option<Cow<'_, str>> {
    let inner = value.strip_prefix('"')?.strip_suffix('"')?;
    if !inner.contains('\\') {
        return Some(Cow::Borrowed(inner));
    }
    serde_json::from_str(value).ok().map(Cow::Owned)
}

/// As above, in that memory if the string has escapes.
fn text_in<'c>(value: &'c str, plain: &'c mut String) -> Option<&'c str> {
    let inner = value.strip_prefix('"')?.strip_suffix('"')?;
    if !inner.contains('\\') {
        return Some(inner);
    }
    plain.clear();
    if scan::unescape(inner, plain).is_none() {
        *plain = serde_json::from_str(value).ok()?;
    }
    Some(plain)
}

fn unless_null(value: Option<&str>) -> Option<&str> {
    value.filter(|value| *value != "null")
}

fn is_text(value: Option<&str>, text: &str) -> bool {
    value.and_then(text_of).is_some_and(|value| value == text)
}

fn is_object(value: &str) -> bool {
    value.starts_with('{')
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The calls of a row, as `NAME ARGUMENTS`, or why one cannot be told.
    fn calls(row: &str) -> Vec<String> {
        let mut found = Vec::new();
        Row::read(row).expect("JSON").calls(&mut String::new(), &mut |call| {
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
