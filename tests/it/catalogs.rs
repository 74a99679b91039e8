//! Catalogs of every shape: which tools are read, in which schema their calls are judged, and what is said of what is no
//! tool.

use callgate::{Catalog, Options, Outcome, Policy, Report, Session, Shape};

use crate::verdict::Verdict;

fn read(text: &str, options: &Options) -> (Catalog, Report) {
    Catalog::compile(text, options).unwrap_or_else(|refused| panic!("{refused}: {text}"))
}

/// The catalog has one tool, `roll`, which takes `{"n": 1}` and neither `{"n": "1"}` nor `{}`.
#[track_caller]
fn check(text: &str) {
    check_named(text, "roll");
}

#[track_caller]
fn check_named(text: &str, name: &str) {
    let (catalog, report) = read(text, &Options::default());
    assert_eq!((report.tools, &report.findings), (1, &Vec::new()), "{text}");
    let mut session = Session::new();
    let mut judge = |arguments: &str| Verdict::from(catalog.check(&mut session, name, arguments));
    assert_eq!(judge(r#"{"n": 1}"#), Verdict::Accepted, "{text}");
    assert_eq!(judge(r#"{"n": "1"}"#).line(), "schema: '1' is not of type 'integer' at n", "{text}");
    assert_eq!(judge("{}").line(), "schema: 'n' is a required property", "{text}");
}

const SCHEMA: &str = r#"{"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}"#;
const GEMINI: &str = r#"{"type": "OBJECT", "properties": {"n": {"type": "INTEGER"}}, "required": ["n"]}"#;
const DICT: &str = r#"{"type": "dict", "properties": {"n": {"type": "int"}}, "required": ["n"]}"#;

#[test]
fn mcp() {
    let tool = format!(r#"{{"name": "roll", "inputSchema": {SCHEMA}}}"#);
    check(&tool);
    check(&format!("[{tool}]"));
    check(&format!(r#"{{"tools": [{tool}], "nextCursor": "x"}}"#));
    check(&format!(r#"{{"jsonrpc": "2.0", "id": 1, "result": {{"tools": [{tool}]}}}}"#));
    check(&format!(r#"[{{"tools": []}}, {{"result": {{"tools": [{tool}]}}}}]"#));
    check(&format!(r#"{{"tools": {{"roll": {SCHEMA}}}}}"#));
}

#[test]
fn openai() {
    check(&format!(r#"[{{"type": "function", "function": {{"name": "roll", "parameters": {SCHEMA}}}}}]"#));
    check(&format!(
        r#"{{"model": "m", "tools": [{{"type": "function", "name": "roll", "strict": true, "parameters": {SCHEMA}}}]}}"#
    ));
    check(&format!(
        r#"{{"messages": [], "functions": [{{"name": "roll", "description": "", "parameters": {SCHEMA}}}]}}"#
    ));
}

#[test]
fn anthropic_and_bedrock() {
    check(&format!(r#"{{"tools": [{{"name": "roll", "input_schema": {SCHEMA}}}]}}"#));
    check(&format!(
        r#"{{"toolConfig": {{"tools": [{{"toolSpec": {{"name": "roll", "inputSchema": {{"json": {SCHEMA}}}}}}}]}}}}"#
    ));
    check(&format!(r#"[{{"toolSpec": {{"name": "roll", "inputSchema": {{"json": {SCHEMA}}}}}}}]"#));
}

#[test]
fn gemini() {
    check(&format!(r#"[{{"name": "roll", "parameters": {GEMINI}}}]"#));
    check(&format!(
        r#"{{"contents": [], "tools": [{{"functionDeclarations": [{{"name": "roll", "parameters": {GEMINI}}}]}}]}}"#
    ));
    check(&format!(r#"{{"function_declarations": [{{"name": "roll", "parametersJsonSchema": {SCHEMA}}}]}}"#));
    check(&format!(r#"{{"name": "roll", "parameters_json_schema": {SCHEMA}}}"#));
}

#[test]
fn leaderboard() {
    check(&format!(r#"[{{"name": "roll", "parameters": {DICT}}}]"#));
    check_named(&format!(r#"{{"simple_0": [{{"name": "roll", "parameters": {DICT}}}]}}"#), "simple_0/roll");
}

#[test]
fn rows() {
    let tool = format!(r#"{{"name": "roll", "inputSchema": {SCHEMA}}}"#);
    check(&format!("{tool}\n"));
    let (catalog, report) = read(&format!("\n{tool}\r\nnot json\n{{\"name\": \"ping\"}}\n"), &Options::default());
    assert_eq!(catalog.tools().map(callgate::Tool::name).collect::<Vec<_>>(), ["roll", "ping"]);
    let [finding] = &report.findings[..] else {
        panic!("{report:?}");
    };
    assert_eq!(finding.to_string(), "error[not_a_tool] at /1: line 3: not JSON: expected a value at byte 0");
    assert_eq!(finding.span, Some(tool.len() + 3..tool.len() + 4));
    // A recording comes with its tools: a catalog of its own.
    let recording = format!(r#"{{"name": "roll", "arguments_raw": "{{}}", "tools": [{tool}]}}"#);
    let (catalog, report) = read(&format!("{recording}\n{recording}\n"), &Options::default());
    assert_eq!(catalog.tools().map(callgate::Tool::name).collect::<Vec<_>>(), ["1/roll", "2/roll"]);
    assert_eq!(report.findings, []);
    let declared = format!(
        r#"{{"source": "s", "dialect": "openai-chat", "tool": {{"function": {{"name": "roll", "parameters": {SCHEMA}}}}}}}"#
    );
    check_named(&format!("{declared}\n\n"), "1/roll");
}

#[test]
fn places_of_rows_are_those_of_the_text() {
    let text = "{\"name\": \"a\"}\n{\"name\": \"b\", \"inputSchema\": {\"type\": \"strnig\"}}\n";
    let (_, report) = read(text, &Options::default());
    let span = report.findings[0].span.clone().expect("a place");
    assert_eq!(&text[span], "\"strnig\"");
}

#[test]
fn flavours_keep_their_places() {
    let text = r#"[{"name": "t", "parameters": {"type": "OBJECT", "properties": {"a": {"nullable": true, "type": "STRING", "pattern": "(a"}}}}]"#;
    let (_, report) = read(text, &Options::default());
    let [finding] = &report.findings[..] else {
        panic!("{report:?}");
    };
    assert_eq!(finding.pointer, "/properties/a/pattern");
    assert_eq!(&text[finding.span.clone().expect("a place")], "\"(a\"");
}

#[track_caller]
fn check_refused(text: &str, shape: Option<Shape>, expected: &str) {
    let options = Options { shape, ..Options::default() };
    let said = match Catalog::compile(text, &options) {
        Ok((_, report)) => report.findings.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"),
        Err(refused) => refused.to_string(),
    };
    assert_eq!(said, expected, "{text}");
}

#[test]
fn what_is_no_catalog() {
    check_refused("", None, "error[unreadable]: not JSON: the text is empty");
    check_refused("[1", None, "error[unreadable]: not JSON: the text ends too early at byte 2");
    check_refused("{}", None, "error[unreadable]: the object is empty: it has no list of tools");
    check_refused("3", None, "error[unreadable]: a catalog is an object or an array");
    check_refused(SCHEMA, None, "error[unreadable]: a JSON Schema and no tool: name it, as in {\"NAME\": SCHEMA}");
    let error = r#"{"jsonrpc": "2.0", "id": 1, "error": {"code": -32601, "message": "no"}}"#;
    check_refused(error, None, "error[unreadable]: the JSON-RPC response is an error");
    let utf16: Vec<u8> = "[]".encode_utf16().flat_map(u16::to_le_bytes).collect();
    let refused = Catalog::compile(&utf16, &Options::default()).expect_err("UTF-16");
    assert_eq!(refused.to_string(), "error[unreadable]: not JSON: the text is UTF-16, and must be UTF-8");
}

#[test]
fn what_is_no_tool() {
    check_refused("[7]", None, "error[not_a_tool] at /0: a tool is an object");
    check_refused(r#"[{"description": "x"}]"#, None, "error[not_a_tool] at /0: the tool has no name");
    check_refused(
        r#"[{"type": "web_search"}]"#,
        None,
        "error[not_a_tool] at /0: the tool has no name: \"web_search\" is the provider's own, and has no schema here",
    );
    check_refused(
        r#"[{"name": "a", "arguments": {}}]"#,
        None,
        "error[not_a_tool] at /0: a call and no tool: it has arguments and no schema",
    );
}

#[test]
fn a_wrong_shape_is_explained() {
    check_refused(
        &format!(r#"[{{"name": "a", "input_schema": {SCHEMA}}}]"#),
        Some(Shape::Mcp),
        "error[not_a_tool] a at /0: read as mcp, the tool has no schema, but it has one of anthropic; it looks like anthropic",
    );
    check_refused(
        &format!(r#"[{{"type": "function", "function": {{"name": "a", "parameters": {SCHEMA}}}}}]"#),
        Some(Shape::Mcp),
        "error[not_a_tool] at /0: read as mcp, the tool has no name; it looks like openai-chat",
    );
    check_refused(
        &format!(r#"[{{"name": "a", "inputSchema": {GEMINI}}}]"#),
        None,
        "error[not_well_formed] a at /type: 'OBJECT' is not valid under any of the given schemas; did you mean \"object\"? OBJECT is how Gemini spells it: read the catalog as gemini\n\
         error[not_well_formed] a at /properties/n/type: 'INTEGER' is not valid under any of the given schemas; did you mean \"integer\"? INTEGER is how Gemini spells it: read the catalog as gemini",
    );
}

#[test]
fn policies() {
    let text = r#"[{"name": "list", "inputSchema": {"type": "array"}}, {"name": "ping"}]"#;
    let with = |policy| Options { policy, ..Options::default() };
    let mut session = Session::new();

    let (catalog, report) = read(text, &Options::default());
    assert_eq!((report.flagged, report.refused), (1, 0));
    assert_eq!(catalog.check(&mut session, "list", "[]").code(), "OK");

    let (catalog, report) = read(text, &with(Policy::Quarantine));
    assert_eq!((report.healthy, report.flagged, report.refused), (1, 0, 1));
    assert!(matches!(catalog.check(&mut session, "list", "[]"), Outcome::NotCompiled));
    assert_eq!(catalog.check(&mut session, "list", "[]").code(), "SCHEMA_INVALID");
    assert_eq!(catalog.check(&mut session, "ping", "{}").code(), "OK");
    assert_eq!(catalog.check(&mut session, "ping", "[").code(), "ARGS_INVALID");
    assert_eq!(catalog.check(&mut session, "pong", "{}").code(), "UNKNOWN_TOOL");

    let refused = Catalog::compile(text, &with(Policy::Strict)).expect_err("an error");
    assert_eq!(
        refused.to_string(),
        "error[root_not_object] list at /type: the type excludes objects, and arguments are an object"
    );
    assert_eq!(refused.report.findings.len(), 1);
    let (_, report) = read(r#"[{"name": "ping", "inputSchema": {"nullable": true}}]"#, &with(Policy::Strict));
    assert_eq!(report.flagged, 1);
}

#[test]
fn many_tools_and_large_texts() {
    let tools: Vec<String> = (0..10_000).map(|at| format!(r#"{{"name": "t{at}", "inputSchema": {SCHEMA}}}"#)).collect();
    let (catalog, report) = read(&format!("[{}]", tools.join(",")), &Options::default());
    assert_eq!((catalog.tools().len(), report.healthy), (10_000, 10_000));
    // 30 MB, of which one tool is too large.
    let long = format!(
        r#"[{{"name": "a", "description": "{}"}}, {{"name": "b", "inputSchema": {{"description": "{}"}}}}]"#,
        "x".repeat(24 << 20),
        "y".repeat(6 << 20)
    );
    let (catalog, report) = read(&long, &Options::default());
    assert_eq!(catalog.tools().len(), 2);
    assert_eq!(report.findings[0].to_string(), "error[size_limit] b: 6291475 bytes > 4194304");
    assert_eq!(report.refused, 1);
}

/// A tool that has a schema somewhere must not become one that takes anything: it is judged by that schema, or refused.
#[test]
fn no_schema_is_overlooked() {
    let strict = r#"{"type": "object", "required": ["x"], "additionalProperties": false, "properties": {"x": {"type": "integer"}}}"#;
    let texts = [
        r#"[{"name": "a", "parameters": null, "inputSchema": ST}]"#,
        r#"[{"name": "a", "parameters": {}, "inputSchema": ST}]"#,
        r#"[{"name": "a", "inputSchema": null, "input_schema": ST}]"#,
        r#"[{"name": "a", "inputSchema": ST, "toolSpec": {"name": "a"}}]"#,
        r#"[{"name": "a", "inputSchema": ST, "function": {"name": "b"}}]"#,
        r#"[{"type": "function", "function": {"name": "a"}, "parameters": ST}]"#,
        r#"[{"type": "function", "function": {"name": "a", "inputSchema": ST}}]"#,
        r#"[{"name": "a", "outputSchema": {}, "input_schema": ST}]"#,
        r#"{"functionDeclarations": [{"name": "a", "inputSchema": ST, "response": {}}]}"#,
        r#"[{"name": "a", "inputSchema": ST, "input_schema": {}, "dialect": "anthropic", "source": "x"}]"#,
        r#"[{"name": "a", "inputSchema": {}, "inputSchema": ST}]"#,
        r#"[{"name": "a", "name": "b", "inputSchema": ST}]"#,
        r#"[{"name": "a", "schema": ST}]"#,
        r#"[{"name": "a", "InputSchema": ST}]"#,
        r#"[{"name": "a", "inputSchema": {"json": ST}}]"#,
        r#"{"a": {"description": "d", "args": ST}}"#,
        r#"{"a": {"description": "d", "schema": {"required": ["y"]}}}"#,
        r#"{"a": {"description": "d", "args": {"bad": {"type": "string"}}}}"#,
        r#"[{"type": "function", "function": {"name": "a", "params": ST}}]"#,
        r#"{"toolSpec": {"name": "a", "input": ST}}"#,
        r#"[{"name": "a", "schema": {"type": ["object"], "required": ["x"]}}]"#,
        r#"[{"name": "a", "schema": {"required": ["x"]}}]"#,
        r#"[{"name": "a", "inputschema": {"required": ["x"]}}]"#,
        r#"[{"name": "a", "annotations": ST}]"#,
        r#"[{"name": "a", "inputSchema": {"schema": ST}}]"#,
        r#"{"toolSpec": {"name": "a", "inputSchema": {"json": ST, "note": 1}}}"#,
        r#"[{"name": "a", "inputSchema": ST, "tools": [{"name": "b", "inputSchema": ST}]}]"#,
        r#"[{"name": "a", "schema": ST, "tools": []}]"#,
        r#"{"a": {"properties": {}, "parameters": ST}}"#,
        r#"[{"name": "a", "arguments": [], "inputSchema": ST}]"#,
        r#"{"name": "a", "inputSchema": ST, "tools": []}"#,
    ];
    for text in texts {
        let text = text.replace("ST", strict);
        let (catalog, report) = read(&text, &Options::default());
        let mut session = Session::new();
        let takes_anything =
            catalog.tools().any(|tool| catalog.check(&mut session, tool.name(), r#"{"bad": 1}"#).is_accepted());
        assert!(!takes_anything, "{text}");
        assert!(catalog.tool("a").is_some() || !report.findings.is_empty(), "{text}");
    }
    let with = |shape| Options { shape: Some(shape), ..Options::default() };
    let (catalog, _) =
        read(&format!(r#"[{{"name": "a", "outputSchema": {{}}, "parameters": {strict}}}]"#), &with(Shape::Mcp));
    assert_eq!(catalog.tools().len(), 0);
}

/// Tools in containers of any kind are read, or it is said that they are not.
#[test]
fn no_tool_is_lost() {
    let names = |text: &str| {
        let text = text.replace("@A", &format!(r#"{{"name": "a", "inputSchema": {SCHEMA}}}"#));
        let text = text.replace("@B", &format!(r#"{{"name": "b", "inputSchema": {SCHEMA}}}"#)).replace("@S", SCHEMA);
        match Catalog::compile(&text, &Options::default()) {
            Ok((catalog, _)) => catalog.tools().map(|tool| tool.name().to_owned()).collect::<Vec<_>>().join(" "),
            Err(refused) => refused.to_string(),
        }
    };
    assert_eq!(names(r#"{"fs": {"tools": [@A]}, "git": {"tools": [@B]}}"#), "fs/a git/b");
    assert_eq!(names(r#"{"mcpServers": {"fs": {"tools": [@A]}}}"#), "fs/a");
    assert_eq!(names(r#"{"data": {"tools": [@A]}}"#), "data/a");
    assert_eq!(names(r#"{"result": {"tools": {"a": @S}}}"#), "a");
    assert_eq!(names(r#"{"functions": {"a": @S}}"#), "a");
    assert_eq!(names(r#"[{"name": "fs", "tools": [@A]}]"#), "fs/a");
    assert_eq!(names(r#"[{"type": "namespace", "name": "n", "tools": [@A, @B]}]"#), "n/a n/b");
    assert_eq!(names(r#"{"tools": [@A], "functions": [@B]}"#), "a b");
    assert_eq!(names(r#"{"functionDeclarations": [@A], "function_declarations": [@B]}"#), "a b");
    assert_eq!(names(r#"{"tools": @S, "search": @S}"#), "tools search");
    assert_eq!(names(r#"{"tools": {"k": [@A]}}"#), "k/a");
    assert_eq!(names(r#"{"tools": {"functionDeclarations": [@A]}}"#), "functionDeclarations/a");
    assert_eq!(names(r#"{"mcpServers": {"s": [@A], "t": {"tools": [@B]}}}"#), "s/a t/b");
    assert_eq!(
        names(
            r#"[{"name": "a", "annotations": {"title": "t", "readOnlyHint": true}, "_meta": {"type": "x"}, "cache_control": {"type": "ephemeral"}}]"#
        ),
        "a"
    );
    assert_eq!(names(r#"[{"type": "custom", "name": "a", "format": {"type": "grammar", "definition": "x"}}]"#), "a");
    assert_eq!(names(r#"{"result": {}}"#), "error[unreadable]: the result has no list of tools");
    assert_eq!(names(r#"{"result": {"tools": null}}"#), "error[unreadable]: the result has no list of tools");
    assert_eq!(names(r#"{"tools": [@A], "tools": [@B]}"#), "error[unreadable]: the key \"tools\" stands twice");
    assert_eq!(
        names(r#"{"properties": {"a": {}}, "$defs": {}}"#),
        "error[unreadable]: a JSON Schema and no tool: name it, as in {\"NAME\": SCHEMA}"
    );
}
