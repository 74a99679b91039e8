//! `callgate audit` as scripts see it: recorded calls in, lines, a summary and an exit code out.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use flate2::Compression;
use flate2::write::GzEncoder;
use ruzstd::encoding::{CompressionLevel, compress_to_vec};
use serde_json::{Value, json};

/// Two tools, and one that cannot be compiled.
const TOOLS: &str = r##"{"tools": [
  {"name": "roll", "inputSchema": {
    "type": "object",
    "properties": {"sides": {"type": "integer", "minimum": 2, "description": "Of the die."}},
    "required": ["sides"]
  }},
  {"name": "ping", "inputSchema": {"type": "object", "maxProperties": 0}},
  {"name": "lost", "inputSchema": {"$ref": "#/$defs/nowhere"}}
]}"##;

/// A folder with files in it, where the command runs.
struct Place(PathBuf);

/// What the command did.
#[derive(Debug)]
struct Done {
    code: Option<i32>,
    out: String,
    err: String,
}

impl Place {
    fn new(test: &str) -> Place {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("audit").join(test);
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).unwrap();
        let place = Place(path);
        place.write("tools.json", TOOLS);
        place
    }

    fn write(&self, name: &str, text: impl AsRef<[u8]>) {
        fs::write(self.0.join(name), text).unwrap();
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_callgate"));
        command.current_dir(&self.0).env_remove("NO_COLOR").arg("audit").args(args);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    fn run(&self, args: &[&str]) -> Done {
        self.run_with(args, b"")
    }

    fn run_with(&self, args: &[&str], stdin: &[u8]) -> Done {
        let mut child = self.command(args).spawn().unwrap();
        let mut pipe = child.stdin.take().unwrap();
        let output = std::thread::scope(|scope| {
            scope.spawn(move || drop(pipe.write_all(stdin)));
            child.wait_with_output().unwrap()
        });
        let text = |bytes| String::from_utf8(bytes).unwrap();
        Done { code: output.status.code(), out: text(output.stdout), err: text(output.stderr) }
    }

    /// The lines about these rows.
    fn lines(&self, rows: &str) -> Vec<Value> {
        let done = self.run_with(&["tools.json", "-", "--output", "-"], rows.as_bytes());
        assert_eq!(done.code, Some(0), "{done:?}");
        lines(&done.out)
    }
}

fn lines(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn rejections_are_worded_in_the_style_asked_for() {
    let place = Place::new("styles");
    let row = br#"{"name": "roll", "arguments": {"sides": "six"}}"#;
    let line = |args: &[&str]| {
        let done = place.run_with(&[&["tools.json", "-", "--output", "-"], args].concat(), row);
        assert_eq!(done.code, Some(0), "{done:?}");
        lines(&done.out)[0]["line"].clone()
    };
    assert_eq!(line(&[]), "schema: 'six' is not of type 'integer' at sides — Of the die.");
    assert_eq!(line(&["--mask"]), "schema: <string of 3 characters> is not of type 'integer' at sides — Of the die.");
    let guided = line(&["--style", "guided"]);
    assert_eq!(guided, "sides: expected integer >= 2, got string \"six\". Of the die.");
}

#[test]
fn every_form_of_a_call_is_judged() {
    let place = Place::new("forms");
    let text = r#"{\"sides\": 6}"#;
    for row in [
        r#"{"name": "roll", "arguments": {"sides": 6}}"#.to_owned(),
        format!(r#"{{"name": "roll", "arguments": "{text}"}}"#),
        format!(r#"{{"name": "roll", "arguments_raw": "{text}", "raw_kind": "exact", "model": "m"}}"#),
        format!(r#"{{"tool_calls": [{{"type": "function", "function": {{"name": "roll", "arguments": "{text}"}}}}]}}"#),
        format!(
            r#"{{"choices": [{{"message": {{"tool_calls": [{{"function": {{"name": "roll", "arguments": "{text}"}}}}]}}}}]}}"#
        ),
        format!(r#"{{"type": "function_call", "name": "roll", "arguments": "{text}"}}"#),
        r#"{"type": "tool_use", "id": "1", "name": "roll", "input": {"sides": 6}}"#.to_owned(),
        r#"{"content": [{"type": "text"}, {"type": "tool_use", "name": "roll", "input": {"sides": 6}}]}"#.to_owned(),
        r#"{"functionCall": {"name": "roll", "args": {"sides": 6}}}"#.to_owned(),
        r#"{"candidates": [{"content": {"parts": [{"functionCall": {"name": "roll", "args": {"sides": 6}}}]}}]}"#
            .to_owned(),
        r#"{"jsonrpc": "2.0", "method": "tools/call", "params": {"name": "roll", "arguments": {"sides": 6}}}"#
            .to_owned(),
    ] {
        assert_eq!(place.lines(&row), [json!({"row": 1, "call": 1, "tool": "roll", "outcome": "accepted"})], "{row}");
        // The same call with a value that is too small.
        assert_eq!(
            place.lines(&row.replace('6', "1")),
            [json!({
                "row": 1, "call": 1, "tool": "roll", "outcome": "rejected", "code": "minimum",
                "keyword_location": "/properties/sides/minimum",
                "line": "schema: 1 is less than the minimum of 2 at sides — Of the die.",
            })],
            "{row}"
        );
    }
}

#[test]
fn each_row_is_answered_in_its_place() {
    let place = Place::new("answers");
    let rows = concat!(
        "\u{feff}{\"name\": \"ping\", \"arguments\": {}}\n",
        "\n",
        "{\"name\": \"ping\", \"arguments\": \"{\\\"a\\\": 1, \\\"a\\\": 1}\"}\r\n",
        "{\"name\": \"pong\", \"arguments\": {}}\n",
        "{\"name\": \"lost\", \"arguments\": {}}\n",
        "{\"role\": \"user\", \"content\": \"hello\"}\n",
        "{\"name\": \"ping\"\n",
        "[{\"name\": \"ping\", \"arguments\": 12}, {\"name\": 5, \"arguments\": {}}, {\"name\": \"ping\", \"arguments\": \"\"}]",
    );
    assert_eq!(
        place.lines(rows),
        [
            json!({"row": 1, "call": 1, "tool": "ping", "outcome": "accepted"}),
            json!({
                "row": 3, "call": 1, "tool": "ping", "outcome": "rejected", "code": "duplicate_member",
                "keyword_location": "", "line": "schema: arguments are not valid JSON: duplicate member name at byte 9",
            }),
            json!({"row": 4, "call": 1, "tool": "pong", "outcome": "unknown_tool"}),
            json!({
                "row": 5, "call": 1, "tool": "lost", "outcome": "not_compiled", "code": "ref_unresolved",
                "line": "#/$defs/nowhere points to nothing",
            }),
            json!({"row": 7, "outcome": "malformed", "line": "EOF while parsing an object at column 15"}),
            json!({
                "row": 8, "call": 1, "tool": "ping", "outcome": "rejected", "code": "type",
                "keyword_location": "/type", "line": "schema: 12 is not of type 'object'",
            }),
            json!({
                "row": 8, "call": 2, "outcome": "malformed", "line": "the call has no name that is a string",
            }),
            json!({
                "row": 8, "call": 3, "tool": "ping", "outcome": "rejected", "code": "not_json",
                "keyword_location": "", "line": "schema: arguments are not valid JSON: no value at byte 0",
            }),
        ]
    );
    let done =
        place.run_with(&["tools.json", "-", "--output", "-"], b"\"\xff\"\n{\"name\": \"ping\", \"arguments\": {}}");
    assert_eq!(
        lines(&done.out)[0],
        json!({"row": 1, "outcome": "malformed", "line": "the row is not UTF-8 at column 2"})
    );
    assert_eq!(lines(&done.out)[1], json!({"row": 2, "call": 1, "tool": "ping", "outcome": "accepted"}));
}

#[test]
fn a_fault_is_no_rejection() {
    let place = Place::new("fault");
    let row = b"{\"name\": \"roll\", \"arguments\": {\"sides\": 1, \"names\": [1, 2, 3, 4, 5, 6]}}";
    let args = ["tools.json", "-", "--output", "-", "--limit", "call_bytes_max=20", "--fail-on-reject"];
    let done = place.run_with(&args, row);
    assert_eq!(done.code, Some(0), "{done:?}");
    let line = &lines(&done.out)[0];
    assert_eq!((&line["outcome"], &line["code"]), (&json!("fault"), &json!("call_bytes")));
    assert!(done.err.contains("fault call_bytes\n"), "{}", done.err);
}

#[test]
fn rows_name_their_catalog() {
    let place = Place::new("groups");
    let tools = r#"{"a": [{"name": "f", "inputSchema": {"type": "object"}}],
        "b": [{"name": "f", "inputSchema": {"type": "array"}}]}"#;
    place.write("groups.json", tools);
    let own = |kind: &str| {
        format!(
            r#"{{"tools": [{{"name": "f", "inputSchema": {{"type": "{kind}"}}}}], "name": "f", "arguments_raw": "[]"}}"#
        )
    };
    place.write("own.jsonl", [own("object"), own("array")].join("\n"));
    let rows = r#"{"catalog_key": "a", "name": "f", "arguments_raw": "[]"}
        {"catalog_key": "b", "name": "f", "arguments_raw": "[]"}
        {"catalog_key": "c", "name": "f", "arguments_raw": "[]"}
        {"name": "b/f", "arguments": []}"#;
    let done = place.run_with(&["groups.json", "-", "--output", "-"], rows.as_bytes());
    let seen = |done: &Done| -> Vec<(Value, Value)> {
        lines(&done.out).into_iter().map(|line| (line["tool"].clone(), line["outcome"].clone())).collect()
    };
    let pair = |tool: &str, outcome: &str| (json!(tool), json!(outcome));
    let expected =
        [pair("a/f", "rejected"), pair("b/f", "accepted"), pair("f", "unknown_tool"), pair("b/f", "accepted")];
    assert_eq!(seen(&done), expected);
    let done = place.run(&["own.jsonl", "own.jsonl", "--output", "-"]);
    assert_eq!(seen(&done), [pair("1/f", "rejected"), pair("2/f", "accepted")]);
}

/// Rows of which every third is rejected, of every length.
fn many(rows: usize) -> String {
    let row = |at: usize| {
        let (sides, long) = (at % 3 + 1, "x".repeat(at * 7919 % 3_000));
        format!("{{\"name\": \"roll\", \"arguments\": {{\"sides\": {sides}, \"long\": \"{long}\"}}}}\n")
    };
    (0..rows).map(row).collect()
}

#[test]
fn many_rows_keep_their_order_packed_or_not() {
    let place = Place::new("order");
    let rows = many(6_000);
    place.write("plain", &rows);
    let mut packer = GzEncoder::new(Vec::new(), Compression::fast());
    packer.write_all(rows.as_bytes()).unwrap();
    place.write("gzip", packer.finish().unwrap());
    place.write("zstd", compress_to_vec(rows.as_bytes(), CompressionLevel::Fastest));
    let args = ["tools.json", "plain", "gzip", "zstd", "--output", "lines.jsonl", "--format", "json", "--sample", "2"];
    let done = place.run(&args);
    assert_eq!((done.code, done.err.as_str()), (Some(0), ""), "{done:?}");
    let mut seen = 0;
    for line in lines(&fs::read_to_string(place.0.join("lines.jsonl")).unwrap()) {
        let (file, row) = (["plain", "gzip", "zstd"][seen / 6_000], seen % 6_000);
        assert_eq!((&line["file"], &line["row"], &line["call"]), (&json!(file), &json!(row + 1), &json!(1)));
        assert_eq!(line["outcome"], if row % 3 == 0 { "rejected" } else { "accepted" }, "{line}");
        seen += 1;
    }
    assert_eq!(seen, 18_000);
    let line = "schema: 1 is less than the minimum of 2 at sides — Of the die.";
    let expected = json!({
        "rows": 18_000, "without_call": 0, "malformed": 0,
        "calls": 18_000, "accepted": 12_000, "rejected": 6_000, "faults": 0, "unknown_tool": 0, "not_compiled": 0,
        "tools": [{
            "tool": "roll", "calls": 18_000, "accepted": 12_000, "rejected": 6_000, "faults": 0, "not_compiled": 0,
            "signatures": [{
                "outcome": "rejected", "code": "minimum", "keyword_location": "/properties/sides/minimum", "count": 6_000,
                "examples": [{"file": "plain", "row": 1, "line": line}, {"file": "plain", "row": 4, "line": line}],
            }],
            "signatures_unlisted": 0,
        }],
        "unknown_tools": [], "unknown_tools_unlisted": 0, "malformed_rows": [],
    });
    assert_eq!(serde_json::from_str::<Value>(&done.out).unwrap(), expected);
}

/// Each call is answered by the whole of a long description: far more text than is kept of the batches.
#[test]
fn long_lines_keep_their_order() {
    let place = Place::new("long_lines");
    let description = "d".repeat(30_000);
    let tools =
        json!([{"name": "f", "inputSchema": {"properties": {"a": {"minimum": 2, "description": description}}}}]);
    place.write("tools.json", tools.to_string());
    place.write(
        "calls.jsonl",
        "{\"name\": \"f\", \"arguments\": {\"a\": 1, \"b\": \"........................\"}}\n".repeat(600),
    );
    let args = ["tools.json", "calls.jsonl", "calls.jsonl", "calls.jsonl", "--output", "lines.jsonl"];
    let done = place.run(&args);
    assert_eq!((done.code, done.err.as_str()), (Some(0), ""));
    let text = fs::read_to_string(place.0.join("lines.jsonl")).unwrap();
    assert_eq!(text.lines().count(), 1_800);
    for (at, line) in text.lines().enumerate() {
        let head = format!("{{\"file\":\"calls.jsonl\",\"row\":{},\"call\":1,", at % 600 + 1);
        assert!(line.starts_with(&head) && line.contains(&description), "line {at}: {}", &line[..100]);
    }
    // And nobody waits for his turn when there are no more.
    let mut child =
        place.command(&["tools.json", "calls.jsonl", "calls.jsonl", "calls.jsonl", "--output", "-"]).spawn().unwrap();
    drop(child.stdout.take());
    assert_eq!(child.wait_with_output().unwrap().status.code(), Some(2));
}

#[test]
fn the_table() {
    let place = Place::new("table");
    let mut rows = many(3_000);
    rows.push_str("{\"name\": \"roll\", \"arguments\": {}}\n{\"name\": \"rol\", \"arguments\": {}}\n");
    rows.push_str("{\"name\": \"ping\", \"arguments\": {}}\n{\"name\": \"lost\", \"arguments\": {}}\n{}\n{\n");
    place.write("calls.jsonl", rows);
    let done = place.run(&["tools.json", "calls.jsonl"]);
    assert_eq!((done.code, done.err.as_str()), (Some(0), ""), "{done:?}");
    let expected = "\
tool       calls    accepted    rejected              faults
roll       3,001       2,000       1,001  33.3 %           -
      1,000  minimum at /properties/sides/minimum
             row 1  schema: 1 is less than the minimum of 2 at sides — Of the die.
          1  required at /required
             row 3001  schema: 'sides' is a required property
lost           1           -           -                   -
          1  finding ref_unresolved
             row 3004  #/$defs/nowhere points to nothing
ping           1           1           -                   -

names that no tool has
          1  rol, first in row 3002; most like it: roll

malformed
             row 3006  EOF while parsing an object at column 1

3,006 rows, 3,004 calls: 2,001 accepted, 1,001 rejected (33.3 %), 1 of unknown tools, 1 of tools not compiled; \
1 row without a call; 1 malformed
";
    assert_eq!(done.out, expected);
}

#[test]
fn repairs_are_counted() {
    let place = Place::new("repairs");
    let rows = [
        json!({"name": "roll", "arguments": {"sides": "6"}}),
        json!({"name": "roll", "arguments": "\"{\\\"sides\\\": \\\"6\\\"}\""}),
        json!({"name": "roll", "arguments": {"sides": "six"}}),
        json!({"name": "roll", "arguments": {"sides": 6}}),
    ];
    place.write("calls.jsonl", rows.map(|row| row.to_string()).join("\n"));
    let done = place.run(&["tools.json", "calls.jsonl", "--repair", "--sample", "0"]);
    let repaired = "          2  can be repaired: str_to_integer 2, parse_stringified_arguments 1\n";
    let roll = done.out.lines().nth(1).unwrap();
    assert!(roll.starts_with("roll           4           1           3  75.0 %"), "{roll}");
    assert_eq!(done.out.matches(repaired).count(), 2, "of the tool and of all: {}", done.out);
    let summary = lines(&place.run(&["tools.json", "calls.jsonl", "--repair", "--format", "json"]).out);
    let expected = json!({"calls": 2, "rules": {"str_to_integer": 2, "parse_stringified_arguments": 1}});
    assert_eq!((&summary[0]["repaired"], &summary[0]["tools"][0]["repaired"]), (&expected, &expected));
    let answers = lines(&place.run(&["tools.json", "calls.jsonl", "--repair", "--output", "-"]).out);
    assert_eq!(answers[0]["repair"]["arguments"], json!({"sides": 6}));
    assert_eq!(answers[1]["repair"]["steps"][1]["path"], "$.sides");
    assert_eq!((answers[2].get("repair"), answers[3].get("repair")), (None, None));
    let without = place.run(&["tools.json", "calls.jsonl", "--format", "json"]);
    assert_eq!(lines(&without.out)[0].get("repaired"), None, "only where it is asked for");
}

#[test]
fn no_calls_at_all() {
    let place = Place::new("nothing");
    let done = place.run(&["tools.json", "-"]);
    let expected = "3 tools of the catalog were not called.\n\n0 rows, 0 calls: 0 accepted, 0 rejected\n";
    assert_eq!((done.code, done.out.as_str(), done.err.as_str()), (Some(0), expected, ""));
}

#[test]
fn exit_codes() {
    let place = Place::new("codes");
    place.write("good.jsonl", r#"{"name": "ping", "arguments": {}}"#);
    place.write("bad.jsonl", r#"{"name": "ping", "arguments": {"a": 1}}"#);
    place.write("broken.gz", [0x1f, 0x8b, 8, 0, 0, 0]);
    place.write("unreadable.json", "1");
    let cases: [(&[&str], i32, &str); 12] = [
        (&["tools.json", "good.jsonl", "--fail-on-reject"], 0, ""),
        (&["tools.json", "bad.jsonl"], 0, ""),
        (&["tools.json", "good.jsonl", "bad.jsonl", "--fail-on-reject"], 1, ""),
        (&["tools.json", "absent.jsonl", "bad.jsonl", "--fail-on-reject"], 2, "cannot read absent.jsonl: "),
        (&["tools.json", "broken.gz"], 2, "cannot read broken.gz: "),
        (&["tools.json", "."], 2, "cannot read .: "),
        (&["absent.json", "good.jsonl"], 2, "cannot read absent.json"),
        (&["unreadable.json", "good.jsonl"], 2, "error[unreadable]"),
        (&["tools.json", "good.jsonl", "--output", "absent/lines"], 2, "absent/lines: "),
        (&["tools.json", "good.jsonl", "--output", "./good.jsonl"], 2, "is read, and cannot be the output too"),
        (&["tools.json", "-", "-"], 2, "only one of the inputs can be stdin"),
        (&["tools.json"], 2, "<CALLS>..."),
    ];
    for (args, code, message) in cases {
        let done = place.run(args);
        assert_eq!(done.code, Some(code), "{args:?}: {done:?}");
        assert!(done.err.contains(message) && (code == 2 || done.err.is_empty()), "{args:?}: {done:?}");
    }
    assert_eq!(fs::read_to_string(place.0.join("good.jsonl")).unwrap(), r#"{"name": "ping", "arguments": {}}"#);
    // What cannot be read does not cost what can.
    let done = place.run(&["tools.json", "absent.jsonl", "bad.jsonl", "--format", "json"]);
    assert_eq!(serde_json::from_str::<Value>(&done.out).unwrap()["rejected"], 1);
}

#[test]
fn a_reader_that_goes_away_ends_the_run() {
    let place = Place::new("closed_pipe");
    place.write("calls.jsonl", many(20_000));
    let mut child = place.command(&["tools.json", "calls.jsonl", "--output", "-"]).spawn().unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), output.stderr.as_slice()), (Some(2), &b""[..]));
}
