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
//! Arguments are text: what a string says, or a value with the bytes that it has in the row. No tree is made of them. Most
//! rows are read in one pass by the [`finder`](super::finder); the others object by object, by `serde_json`, which decides, and
//! words what is wrong.

use std::borrow::Cow;
use std::fmt;

use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, SeqAccess, Visitor};
use serde_json::value::RawValue;

use super::finder::Finder;
use super::scan;

/// Objects and lists inside each other that are searched for calls: Gemini's candidates, their content and parts take six.
pub const LEVELS_MAX: usize = 8;

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
pub enum Row<'f, 'r> {
    /// Its calls have been found.
    Found(&'f Finder<'r>),
    /// An object.
    One(Box<Node<'r>>),
    /// A list, or a value without calls.
    Other(&'r str),
}

impl<'f, 'r> Row<'f, 'r> {
    /// Reads a row. Errors: it is not JSON, or has a member twice that matters here.
    pub fn read(text: &'r str, finder: &'f mut Finder<'r>) -> Result<Row<'f, 'r>, Malformed> {
        if finder.find(text) { Ok(Row::Found(finder)) } else { Row::parse(text) }
    }

    fn parse(text: &'r str) -> Result<Row<'f, 'r>, Malformed> {
        if text.trim_ascii_start().starts_with('{') {
            return serde_json::from_str(text).map(Row::One).map_err(|error| Malformed::row(&error));
        }
        serde_json::from_str(text).map(|IgnoredAny| Row::Other(text)).map_err(|error| Malformed::row(&error))
    }

    /// The catalog that the row names, of a file with several.
    pub fn catalog_key(&self) -> Option<Cow<'r, str>> {
        match self {
            Row::Found(finder) => finder.catalog_key().and_then(text_of),
            Row::One(node) => node.catalog_key.and_then(text_of),
            Row::Other(_) => None,
        }
    }

    /// Whether the row comes with tools of its own.
    pub fn has_tools(&self) -> bool {
        match self {
            Row::Found(finder) => finder.has_tools(),
            Row::One(node) => unless_null(node.tools).is_some(),
            Row::Other(_) => false,
        }
    }

    /// Tells each call of the row, in its order; and each of those that cannot be told. `plain` is memory for what strings say.
    pub fn calls(&self, plain: &mut String, tell: Tell<'_>) {
        match self {
            Row::Found(finder) => finder.calls().iter().for_each(|call| tell(named(call.name, call.arguments, plain))),
            Row::One(node) => search(node, 1, plain, tell),
            Row::Other(text) => search_text(text, 0, plain, tell),
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
        serde_json::from_str(text).map_err(|error| Malformed::inside(&error))
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
            let mut reader = serde_json::Deserializer::from_str(text);
            let elements = Elements(|element: &RawValue| search_text(element.get(), level + 1, plain, tell));
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
fn text_of(value: &str) -> Option<Cow<'_, str>> {
    let inner = value.strip_prefix('"')?.strip_suffix('"')?;
    if scan::is_plain(inner) {
        return Some(Cow::Borrowed(inner));
    }
    serde_json::from_str(value).ok().map(Cow::Owned)
}

/// As above, in that memory if the string has escapes.
fn text_in<'c>(value: &'c str, plain: &'c mut String) -> Option<&'c str> {
    let inner = value.strip_prefix('"')?.strip_suffix('"')?;
    if scan::is_plain(inner) {
        return Some(inner);
    }
    plain.clear();
    if scan::unescape(inner, plain).is_none() {
        *plain = serde_json::from_str(value).ok()?;
    }
    Some(plain)
}

pub fn unless_null(value: Option<&str>) -> Option<&str> {
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
    use super::super::finder::CALLS_MAX;
    use super::*;

    /// The calls of a row, as `NAME ARGUMENTS`, or why one cannot be told.
    fn calls(row: &str) -> Vec<String> {
        let found = told(&Row::read(row, &mut Finder::default()).expect("JSON"));
        assert_eq!(told(&Row::parse(row).expect("JSON")), found, "{row}");
        found
    }

    fn told(row: &Row<'_, '_>) -> Vec<String> {
        let mut told = Vec::new();
        row.calls(&mut String::new(), &mut |call| {
            told.push(match call {
                Ok(Call { name, arguments }) => format!("{name} {arguments}"),
                Err(Malformed(why)) => format!("! {why}"),
            });
        });
        told
    }

    #[track_caller]
    fn check(row: &str, expected: &[&str]) {
        assert_eq!(calls(row), expected, "{row}");
    }

    /// A random value of the names that matter, nested up to so many levels.
    fn random(state: &mut u64, levels: usize, text: &mut String) {
        const NAMES: [&str; 22] = [
            "name",
            "arguments",
            "arguments_raw",
            "input",
            "args",
            "type",
            "method",
            "params",
            "function",
            "functionCall",
            "function_call",
            "tool_calls",
            "message",
            "choices",
            "content",
            "parts",
            "candidates",
            "output",
            "catalog_key",
            "tools",
            "x",
            "\\u0078",
        ];
        const SCALARS: [&str; 10] = [
            "null",
            "-1.5e3",
            "true",
            r#""f""#,
            r#""tools/call""#,
            r#""tools\/call""#,
            r#""tool_use""#,
            r#""function_call""#,
            r#""{\"a\": \u0031}""#,
            r#""\ud800""#,
        ];
        let mut below = |bound: usize| {
            *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            usize::try_from(*state >> 33).expect("31 bits") % bound
        };
        let (kind, len) = (below(4), below(5));
        if levels == 0 || kind == 0 {
            return text.push_str(SCALARS[below(SCALARS.len())]);
        }
        let (brackets, is_object) = if kind == 1 { (["[", "]"], false) } else { (["{", " }"], true) };
        let names: Vec<&str> = (0..len).map(|_| NAMES[below(NAMES.len())]).collect();
        text.push_str(brackets[0]);
        for (at, name) in names.into_iter().enumerate() {
            text.push_str(if at == 0 { "" } else { ", " });
            if is_object {
                text.extend(["\"", name, "\" :"]);
            }
            random(state, levels - 1, text);
        }
        text.push_str(brackets[1]);
    }

    #[test]
    fn what_is_found_in_one_pass_is_what_is_read_object_by_object() {
        let (mut state, mut text, mut found, mut with_calls) = (7, String::new(), 0, 0);
        for _ in 0..20_000 {
            text.clear();
            random(&mut state, 9, &mut text);
            let mut finder = Finder::default();
            let Ok(row @ Row::Found(_)) = Row::read(&text, &mut finder) else { continue };
            let parsed = Row::parse(&text).expect("JSON");
            assert_eq!(told(&row), told(&parsed), "{text}");
            assert_eq!((row.catalog_key(), row.has_tools()), (parsed.catalog_key(), parsed.has_tools()), "{text}");
            found += 1;
            with_calls += usize::from(!told(&row).is_empty());
        }
        assert!(found > 5_000 && with_calls > 500, "{found} rows, {with_calls} with calls");
    }

    #[test]
    fn a_row_of_very_many_calls() {
        for len in [CALLS_MAX, CALLS_MAX + 1] {
            let row = format!("[{}]", vec![r#"{"name": "f", "arguments": 1}"#; len].join(","));
            check(&row, &vec!["f 1"; len]);
            let mut finder = Finder::default();
            let read = Row::read(&row, &mut finder).expect("JSON");
            assert_eq!(matches!(read, Row::Found(_)), len == CALLS_MAX);
        }
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
            assert_eq!(Row::read(row, &mut Finder::default()).err(), Some(Malformed(why.to_owned())), "{row}");
        }
    }

    #[test]
    fn whose_catalog() {
        for (row, expected) in [
            (r#"{"catalog_key": "k", "name": "f", "arguments_raw": "", "tools": []}"#, (Some("k"), true)),
            (r#"{"name": "f", "arguments_raw": "", "tools": null}"#, (None, false)),
        ] {
            for read in [Row::read(row, &mut Finder::default()), Row::parse(row)] {
                let read = read.expect("JSON");
                assert_eq!((read.catalog_key().as_deref(), read.has_tools()), expected, "{row}");
            }
        }
    }
}
