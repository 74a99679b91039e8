//! The command line as scripts see it: arguments and stdin in, stdout, stderr and exit code out.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::{Value, json};

/// A catalog of one sound tool, one that is flagged, and one that is refused.
const TOOLS: &str = r##"{"tools": [
  {"name": "roll_dice", "inputSchema": {
    "type": "object",
    "properties": {
      "seed": {"type": "integer", "minimum": 0, "description": "Omit for random."},
      "when": {"type": "string", "format": "date"}
    },
    "additionalProperties": false
  }},
  {"name": "list_rolls", "inputSchema": {"type": "array"}},
  {"name": "sum_rolls", "inputSchema": {"$ref": "#/$defs/nowhere"}}
]}
"##;

/// A catalog without a finding.
const SOUND: &str = r#"[{"name": "ping", "inputSchema": {"type": "object", "maxProperties": 1}}]"#;

/// A catalog with a tool that some providers take.
const DICE: &str = r#"[
  {"name": "roll.dice", "inputSchema": {"$schema": "http://json-schema.org/draft-07/schema#", "type": "object",
    "properties": {"sides": {"type": "integer"}, "é": {"type": "array"}}}}
]"#;

/// A folder with files in it, where commands run.
struct Place(PathBuf);

impl Place {
    /// A folder for the test of that name, with the two catalogs.
    fn new(test: &str) -> Place {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(test);
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).unwrap();
        let place = Place(path);
        place.write("tools.json", TOOLS);
        place.write("sound.json", SOUND);
        place
    }

    fn write(&self, name: &str, text: impl AsRef<[u8]>) {
        fs::write(self.0.join(name), text).unwrap();
    }

    fn run(&self, args: &[&str]) -> Done {
        self.run_with(args, "")
    }

    fn run_with(&self, args: &[&str], stdin: &str) -> Done {
        let mut command = self.command();
        command.args(args);
        finish(command, stdin.as_bytes())
    }

    fn command(&self) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_callgate"));
        command.current_dir(&self.0).env_remove("NO_COLOR").env_remove("CLICOLOR_FORCE");
        command
    }
}

/// What a command did.
#[derive(Debug, PartialEq)]
struct Done {
    code: Option<i32>,
    out: String,
    err: String,
}

impl Done {
    #[track_caller]
    fn json(&self) -> Value {
        assert_eq!(self.out.matches('\n').count(), 1, "one line: {self:?}");
        serde_json::from_str(&self.out).unwrap()
    }
}

fn finish(mut command: Command, stdin: &[u8]) -> Done {
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut pipe = child.stdin.take().unwrap();
    let output = std::thread::scope(|scope| {
        // Beside reading the answers, which a full pipe would hold up. A command may end without reading its stdin.
        scope.spawn(move || drop(pipe.write_all(stdin)));
        child.wait_with_output().unwrap()
    });
    Done {
        code: output.status.code(),
        out: String::from_utf8(output.stdout).unwrap(),
        err: String::from_utf8(output.stderr).unwrap(),
    }
}

fn done(code: i32, out: &str, err: &str) -> Done {
    Done { code: Some(code), out: out.to_owned(), err: err.to_owned() }
}

// --- help and usage ------------------------------------------------------------------------------------------

#[test]
fn version_and_help() {
    let place = Place::new("version_and_help");
    let version = format!("callgate {}\n", env!("CARGO_PKG_VERSION"));
    assert_eq!(place.run(&["--version"]), done(0, &version, ""));
    assert!(place.run(&["--help"]).out.starts_with("Checks an AI agent's tool calls against the tools' own schemas\n"));
    for command in ["check", "call", "listing", "compile", "eval"] {
        let help = place.run(&[command, "--help"]);
        assert_eq!((help.code, help.err.as_str()), (Some(0), ""));
        assert!(help.out.contains("call_fuel_max          10000000"), "{}", help.out);
    }
    let help = place.run(&["call", "--help"]).out.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(help.contains("Without them the call has no arguments, which is `{}`"), "{help}");
}

#[test]
fn wrong_usage_exits_2() {
    let place = Place::new("wrong_usage");
    let cases: [(&[&str], &str); 12] = [
        (&["chek"], "unrecognized subcommand 'chek'"),
        (&["check"], "<CATALOG>..."),
        (&["check", "tools.json", "--format", "xml"], "[possible values: human, json, sarif, github]"),
        (
            &["check", "tools.json", "--shape", "soap"],
            "[possible values: bedrock, openai-chat, mcp, anthropic, gemini, ",
        ),
        (&["check", "tools.json", "--limit", "call_fuel_max"], "a limit is set as NAME=N"),
        (&["check", "tools.json", "--limit", "fuel=1"], "no such limit; there are schema_bytes_healthy, "),
        (&["check", "tools.json", "--limit", "call_depth_max=1025"], "the limit can be at most 1024"),
        (&["check", "tools.json", "--limit", "call_fuel_max=many"], "\"many\" is no whole number of 64 bits"),
        (&["check", "-", "-"], "only one of the inputs can be stdin"),
        (&["call", "-", "ping", "-"], "only one of the inputs can be stdin"),
        (&["call", "tools.json", "roll_dice", "@"], "a file's name must follow the @"),
        (&["listing", "tools.json", "--stage", "first"], "[possible values: ir, lowered, final]"),
    ];
    for (args, message) in cases {
        let done = place.run(args);
        assert_eq!((done.code, done.out.as_str()), (Some(2), ""), "{args:?}");
        assert!(done.err.contains(message), "{args:?}: {}", done.err);
    }
}

#[test]
fn files_that_cannot_be_read_exit_2() {
    let place = Place::new("cannot_be_read");
    for args in [
        &["check", "absent.json"][..],
        &["check", "."],
        &["call", "absent.json", "ping"],
        &["call", ".", "ping"],
        &["call", "sound.json", "ping", "@absent.json"],
        &["call", "sound.json", "ping", "@."],
        &["listing", "."],
        &["listing", "sound.json", "ping", "--call", "@absent.json"],
        &["eval", "."],
        &["eval", "absent.jsonl"],
        &["eval", "--documents", "absent.json"],
        &["eval", "--documents", "sound.json"],
    ] {
        let done = place.run(args);
        assert_eq!((done.code, done.out.as_str()), (Some(2), ""), "{args:?}");
        assert!(done.err.starts_with("callgate: "), "{args:?}: {}", done.err);
        assert_eq!(done.err.lines().count(), 1, "{args:?}: {}", done.err);
    }
}

#[cfg(unix)]
#[test]
fn arguments_that_are_not_utf8() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;

    let place = Place::new("not_utf8");
    let run = |args: &[&[u8]]| {
        let mut command = place.command();
        command.args(args.iter().map(|arg| OsStr::from_bytes(arg)));
        finish(command, b"")
    };
    let line = "schema: arguments are not valid JSON: invalid UTF-8 at byte 1\n";
    assert_eq!(run(&[b"call", b"sound.json", b"ping", b"\"\xff\""]), done(1, line, ""));
    for args in [
        &[&b"check"[..], b"\xff.json"][..],
        &[b"check", b"sound.json", b"--limit", b"\xff=1"],
        &[b"call", b"sound.json", b"\xff"],
        &[b"call", b"sound.json", b"ping", b"@\xff"],
        &[b"\xff"],
    ] {
        let done = run(args);
        assert_eq!((done.code, done.out.as_str()), (Some(2), ""), "{args:?}");
        assert!(!done.err.contains("panicked"), "{}", done.err);
    }
}

// --- check ---------------------------------------------------------------------------------------------------

#[test]
fn check_a_sound_catalog() {
    let place = Place::new("check_sound");
    let all_well = done(0, "1 tool: 1 healthy, 0 flagged, 0 refused\n", "");
    assert_eq!(place.run(&["check", "sound.json"]), all_well);
    assert_eq!(place.run(&["check", "sound.json", "--strict"]), all_well);
    assert_eq!(place.run_with(&["check", "-", "--strict"], SOUND), all_well);
    let counts = json!({"tools": 1, "healthy": 1, "flagged": 0, "refused": 0, "findings": []});
    assert_eq!(place.run(&["check", "sound.json", "--format", "json"]).json(), counts);
}

#[test]
fn check_prints_findings_by_file_and_tool() {
    let place = Place::new("check_findings");
    let text = r##"tools.json
  list_rolls
    error[root_not_object] 10:50 input /type: the type excludes objects, and arguments are an object
      | …rolls", "inputSchema": {"type": "array"}},
      |                                  ^^^^^^^
  sum_rolls
    error[ref_unresolved] 11:49 input /$ref: #/$defs/nowhere points to nothing
      | …rolls", "inputSchema": {"$ref": "#/$defs/nowhere"}}
      |                                  ^^^^^^^^^^^^^^^^^

4 tools: 2 healthy, 1 flagged, 1 refused
"##;
    assert_eq!(place.run(&["check", "sound.json", "tools.json"]), done(0, text, ""));
    assert_eq!(place.run(&["check", "--strict", "sound.json", "tools.json"]), done(1, text, ""));
    let from_stdin = text.replace("tools.json", "-").replace("4 tools: 2 healthy", "3 tools: 1 healthy");
    assert_eq!(place.run_with(&["check", "-"], TOOLS), done(0, &from_stdin, ""));
}

#[test]
fn check_as_json() {
    let place = Place::new("check_json");
    let done = place.run(&["check", "tools.json", "sound.json", "--format", "json"]);
    assert_eq!((done.code, done.err.as_str()), (Some(0), ""));
    let finding = |tool: &str, pointer: &str, kind: &str, detail: &str, span: [usize; 2]| {
        json!({
            "file": "tools.json", "tool_id": tool, "schema": "input", "pointer": pointer, "kind": kind,
            "severity": "error", "detail": detail, "hint": null, "span": span,
        })
    };
    let no_object = "the type excludes objects, and arguments are an object";
    let findings = [
        finding("list_rolls", "/type", "root_not_object", no_object, [326, 333]),
        finding("sum_rolls", "/$ref", "ref_unresolved", "#/$defs/nowhere points to nothing", [385, 402]),
    ];
    assert_eq!(done.json(), json!({"tools": 4, "healthy": 2, "flagged": 1, "refused": 1, "findings": findings}));
    let order = ["\"tools\":", "\"healthy\":", "\"flagged\":", "\"refused\":", "\"findings\":"];
    assert!(order.map(|key| done.out.find(key)).is_sorted(), "{}", done.out);
}

#[test]
fn check_a_text_that_is_no_catalog() {
    let place = Place::new("check_unreadable");
    place.write("broken.json", "{\"tools\": [\n  oops]}");
    place.write("empty.json", "");
    place.write("binary.json", b"\xff\xfe\0");
    place.write("number.json", "7");
    let text = "broken.json
  error[unreadable] 2:3: not JSON: expected a value at byte 14
    | oops]}
    | ^

empty.json
  error[unreadable] 1:1: not JSON: the text is empty

binary.json
  error[unreadable] 1:1: not JSON: the text is UTF-16, and must be UTF-8

number.json
  error[unreadable] 1:1: a catalog is an object or an array
    | 7
    | ^

1 tool: 1 healthy, 0 flagged, 0 refused; 4 catalogs unreadable
";
    let files = ["broken.json", "empty.json", "binary.json", "number.json", "sound.json"];
    let args = [&["check"], &files[..]].concat();
    assert_eq!(place.run(&args), done(0, text, ""));
    assert_eq!(place.run(&[&args[..], &["--strict"]].concat()), done(1, text, ""));
    let json = place.run(&["check", "broken.json", "--format", "json"]).json();
    let finding = json!({
        "file": "broken.json", "tool_id": null, "schema": null, "pointer": "", "kind": "unreadable",
        "severity": "error", "detail": "not JSON: expected a value at byte 14", "hint": null, "span": [14, 14],
    });
    assert_eq!(json, json!({"tools": 0, "healthy": 0, "flagged": 0, "refused": 0, "findings": [finding]}));
}

#[test]
fn check_goes_on_after_a_file_that_cannot_be_read() {
    let place = Place::new("check_goes_on");
    let done = place.run(&["check", "absent.json", "sound.json", "--strict"]);
    assert_eq!((done.code, done.out.as_str()), (Some(2), "1 tool: 1 healthy, 0 flagged, 0 refused\n"));
    assert!(done.err.starts_with("callgate: cannot read absent.json: "), "{}", done.err);
}

#[test]
fn check_warnings_pass_under_strict() {
    let place = Place::new("check_warnings");
    let done = place.run(&["check", "sound.json", "--strict", "--limit", "schema_bytes_healthy=10"]);
    assert_eq!(done.code, Some(0));
    assert!(done.out.contains("    warning[size_exceeded] 1:34 input: "), "{}", done.out);
    assert!(done.out.ends_with("\n1 tool: 0 healthy, 1 flagged, 0 refused\n"), "{}", done.out);
}

#[test]
fn check_for_providers() {
    let place = Place::new("check_for");
    place.write("dice.json", DICE);
    let text = "dice.json
  roll.dice
    error openai[tool_name] 2:3: \"roll.dice\" does not match ^[a-zA-Z0-9_-]{1,64}$
      hint: send the tool under a name of that form, and map it back when it is called
    error openai[array_items] 3:55 input /properties/é: the array has no \"items\"
      hint: add \"items\" with the schema of the elements
    warning mcp[dialect] 2:53 input /$schema: the schema is of draft 7
      hint: write the schema in 2020-12, and leave $schema out

2 tools: 2 healthy, 0 flagged, 0 refused
openai: 2 tools, 0 accepted, 2 refused; most often: root_properties 1, tool_name 1, array_items 1
mcp: 2 tools, 2 accepted, 0 refused; most often: dialect 1 (warning)
";
    let args = ["check", "sound.json", "dice.json", "--for", "openai,mcp"];
    let sound = "sound.json
  ping
    error openai[root_properties] 1:34 input: the root has no \"properties\"
      hint: add \"properties\": {}

";
    assert_eq!(place.run(&args), done(0, &format!("{sound}{text}"), ""));
    assert_eq!(place.run(&[&args[..], &["--strict"]].concat()).code, Some(1));
    let taken = ["check", "dice.json", "--strict", "--for", "mcp", "--for", "mcp"];
    assert_eq!(place.run(&taken).code, Some(0));
}

#[test]
fn check_for_providers_as_json() {
    let place = Place::new("check_for_json");
    place.write("dice.json", DICE);
    let json = place.run(&["check", "dice.json", "--for", "mcp", "--format", "json"]).json();
    let rules = json!([{"rule": "dialect", "refuses": false, "tools": 1}]);
    let objection = json!({
        "file": "dice.json", "tool_id": "roll.dice", "schema": "input", "pointer": "/$schema", "provider": "mcp",
        "rule": "dialect", "refuses": false, "detail": "the schema is of draft 7",
        "hint": "write the schema in 2020-12, and leave $schema out",
        "source": "https://modelcontextprotocol.io/specification/2025-11-25/basic#json-schema-usage",
    });
    let expected = json!({
        "tools": 1, "healthy": 1, "flagged": 0, "refused": 0, "findings": [], "objections": [objection], "unlisted": 0,
        "providers": [{"provider": "mcp", "accepted": 1, "refused": 0, "rules": rules}],
    });
    assert_eq!(json, expected);
}

#[test]
fn check_for_nobody_that_is_known() {
    let place = Place::new("check_for_nobody");
    let done = place.run(&["check", "sound.json", "--for", "openai,cohere"]);
    assert_eq!((done.code, done.out.as_str()), (Some(2), ""));
    assert!(done.err.contains("no such provider; there are openai-strict, openai, anthropic"), "{}", done.err);
    place.write("number.json", "7");
    let done = place.run(&["check", "number.json", "--for", "mcp"]);
    assert!(done.out.ends_with("0 tools: 0 healthy, 0 flagged, 0 refused; 1 catalog unreadable\n"), "{}", done.out);
}

#[test]
fn check_entries_that_are_no_tools() {
    let place = Place::new("check_entries");
    place.write("entries.json", r#"[7, {"name": "ping"}, {"name": "ping"}, {"inputSchema": {}}]"#);
    let json = place.run(&["check", "entries.json", "--format", "json"]).json();
    let findings: Vec<_> = json["findings"].as_array().unwrap().iter().collect();
    let parts = |key: &str| findings.iter().map(|finding| finding[key].clone()).collect::<Value>();
    assert_eq!(parts("kind"), json!(["not_a_tool", "duplicate_tool", "not_a_tool"]));
    assert_eq!(parts("tool_id"), json!([null, "ping", null]));
    assert_eq!(parts("schema"), json!([null, null, null]));
}

/// A tool with a misspelt type, and a tool of OpenAI's.
const MIXED: &str = r#"[
  {"name": "roll", "inputSchema": {"properties": {"seed": {"type": "intger"}}}},
  {"type": "function", "function": {"name": "sum", "parameters": {"minProperties": 2, "maxProperties": 1}}}
]"#;

#[test]
fn check_shows_the_repair_under_the_value() {
    let place = Place::new("check_repair");
    place.write("mixed.json", MIXED);
    let text = r#"mixed.json
  roll
    error[not_well_formed] 2:68 input /properties/seed/type: 'intger' is not valid under any of the given schemas
      | …"properties": {"seed": {"type": "intger"}}}},
      |                                  ^^^^^^^^ did you mean "integer"?
  sum
    warning[contradiction] 3:84 input /minProperties: no object satisfies both minProperties 2 and maxProperties 1
      | …"parameters": {"minProperties": 2, "maxProperties": 1}}}
      |                                  ^

2 tools: 0 healthy, 1 flagged, 1 refused
"#;
    assert_eq!(place.run(&["check", "mixed.json"]), done(0, text, ""));
}

#[test]
fn check_in_a_declared_shape() {
    let place = Place::new("check_shape");
    place.write("mixed.json", MIXED);
    let json = place.run(&["check", "mixed.json", "--shape", "openai-chat", "--format", "json"]).json();
    let first = &json["findings"][0];
    let said = ["kind", "detail", "hint"].map(|key| first[key].as_str().unwrap());
    let detail = "read as openai-chat, the tool has no schema, but it has one of mcp";
    assert_eq!(said, ["not_a_tool", detail, "it looks like mcp"]);
    assert_eq!((&json["tools"], &json["flagged"], &json["refused"]), (&json!(2), &json!(1), &json!(1)));
}

#[test]
fn check_json_is_as_its_schema_says() {
    let place = Place::new("check_schema");
    place.write("mixed.json", MIXED);
    place.write("page.json", include_str!("../../docs/check.schema.json"));
    place.write("schemas.json", format!(r#"{{"report": {}}}"#, include_str!("../../docs/check.schema.json")));
    for files in [&["mixed.json"][..], &["sound.json"], &["tools.json", "mixed.json", "page.json"]] {
        let report = place.run(&[&["check", "--format", "json"], files].concat()).out;
        place.write("report.json", report);
        assert_eq!(place.run(&["call", "schemas.json", "report", "@report.json"]), done(0, "ok\n", ""));
    }
    place.write("report.json", r#"{"tools": 1, "healthy": 1, "flagged": 0, "refused": 0, "findings": [{}]}"#);
    assert_eq!(place.run(&["call", "schemas.json", "report", "@report.json"]).code, Some(1));
}

#[test]
fn check_as_sarif() {
    let place = Place::new("check_sarif");
    place.write("a b.json", MIXED);
    let log = place.run(&["check", "a b.json", "--format", "sarif"]).json();
    assert_eq!((&log["version"], &log["runs"][0]["tool"]["driver"]["name"]), (&json!("2.1.0"), &json!("callgate")));
    let results = log["runs"][0]["results"].as_array().unwrap();
    assert_eq!(results.len(), 2);
    assert_eq!((&results[0]["ruleId"], &results[0]["level"]), (&json!("not_well_formed"), &json!("error")));
    let location = &results[0]["locations"][0];
    assert_eq!(location["physicalLocation"]["artifactLocation"]["uri"], "a%20b.json");
    let region = json!({
        "startLine": 2, "startColumn": 68, "endLine": 2, "endColumn": 76, "byteOffset": 69, "byteLength": 8
    });
    assert_eq!(location["physicalLocation"]["region"], region);
    assert_eq!(location["logicalLocations"][0]["fullyQualifiedName"], "roll#input/properties/seed/type");
}

#[test]
fn check_as_annotations() {
    let place = Place::new("check_github");
    place.write("mixed.json", MIXED);
    let text = "::error file=mixed.json,line=2,endLine=2,col=68,endColumn=76,title=not_well_formed::error[not_well_formed] roll at \
                /properties/seed/type: 'intger' is not valid under any of the given schemas; did you mean \"integer\"?
::warning file=mixed.json,line=3,endLine=3,col=84,endColumn=85,title=contradiction::warning[contradiction] sum at \
                /minProperties: no object satisfies both minProperties 2 and maxProperties 1\n";
    assert_eq!(place.run(&["check", "mixed.json", "--format", "github"]), done(0, text, ""));
    assert_eq!(place.run(&["check", "sound.json", "--format", "github"]), done(0, "", ""));
}

#[test]
fn no_colours_where_no_terminal_is() {
    let place = Place::new("no_colours");
    let plain = place.run(&["check", "tools.json"]);
    for (name, value) in [("NO_COLOR", "1"), ("CLICOLOR_FORCE", "1"), ("TERM", "xterm-256color")] {
        let mut command = place.command();
        command.args(["check", "tools.json"]).env(name, value);
        assert_eq!(finish(command, b""), plain);
    }
    assert!(!plain.out.contains('\u{1b}'));
}

#[test]
fn control_characters_of_a_catalog_are_shown() {
    let place = Place::new("control_characters");
    place.write("odd.json", r#"[{"name": "a\u001b[2J\nb", "inputSchema": {"type": "array"}}]"#);
    let done = place.run(&["check", "odd.json"]);
    assert!(done.out.starts_with("odd.json\n  a\\u{1b}[2J\\nb\n    error[root_not_object] "), "{}", done.out);
}

// --- call ----------------------------------------------------------------------------------------------------

const REJECTED: &str = "schema: -1 is less than the minimum of 0 at seed — Omit for random.\n";

#[test]
fn call_prints_ok_or_the_line() {
    let place = Place::new("call");
    place.write("good.json", r#"{"seed": 3}"#);
    place.write("bad.json", r#"{"seed": -1}"#);
    let call = |arguments: &[&str]| place.run(&[&["call", "tools.json", "roll_dice"], arguments].concat());
    assert_eq!(call(&[]), done(0, "ok\n", ""));
    assert_eq!(call(&[r#"{"seed": 3}"#]), done(0, "ok\n", ""));
    assert_eq!(call(&[r#"{"seed": -1}"#]), done(1, REJECTED, ""));
    assert_eq!(call(&["@good.json"]), done(0, "ok\n", ""));
    assert_eq!(call(&["@bad.json"]), done(1, REJECTED, ""));
    assert_eq!(call(&["-1"]), done(1, "schema: -1 is not of type 'object'\n", ""));
    let not_json = "schema: arguments are not valid JSON: no value at byte 0\n";
    assert_eq!(call(&[""]), done(1, not_json, ""));
    assert_eq!(place.run_with(&["call", "tools.json", "roll_dice", "-"], r#"{"seed": -1}"#), done(1, REJECTED, ""));
    assert_eq!(place.run_with(&["call", "-", "roll_dice"], TOOLS), done(0, "ok\n", ""));
    // A flagged tool can be called, if in vain.
    assert_eq!(place.run(&["call", "tools.json", "list_rolls", "[]"]), done(0, "ok\n", ""));
}

#[test]
fn inputs_without_end() {
    let place = Place::new("endless");
    if !Path::new("/dev/zero").exists() {
        return;
    }
    let fault = "callgate: fault: call_bytes: the arguments are longer than call_bytes_max allows\n";
    assert_eq!(place.run(&["call", "sound.json", "ping", "@/dev/zero"]), done(2, "", fault));
    let listed = place.run(&["listing", "sound.json", "ping", "--call", "@/dev/zero", "--limit", "call_bytes_max=10"]);
    assert_eq!(listed.code, Some(2));
    assert!(listed.out.contains("\nfault   fuel 0\ncall_bytes: "), "{}", listed.out);
}

#[test]
fn call_as_json() {
    let place = Place::new("call_json");
    let call = |args: &[&str]| place.run(&[&["call", "tools.json", "roll_dice", "--format", "json"], args].concat());
    let accepted = call(&[]);
    let nothing = r#""missing_only":false,"missing":[],"signature":null,"failures":[]"#;
    assert_eq!(accepted, done(0, &format!("{{\"valid\":true,\"line\":null,{nothing}}}\n"), ""));
    let rejected = call(&[r#"{"seed": -1, "sead": 2}"#]);
    assert_eq!((rejected.code, rejected.err.as_str()), (Some(1), ""));
    assert_eq!(
        rejected.json(),
        json!({
            "valid": false,
            "line": "schema: Additional properties are not allowed ('sead' was unexpected)",
            "missing_only": false,
            "missing": [],
            "signature": "902cc8377ce49308",
            "failures": [
                {
                    "code": "minimum", "keyword": "minimum", "instance_location": "/seed",
                    "keyword_location": "/properties/seed/minimum",
                    "message": "-1 is less than the minimum of 0", "description": "Omit for random.",
                },
                {
                    "code": "additionalProperties", "keyword": "additionalProperties", "instance_location": "",
                    "keyword_location": "/additionalProperties",
                    "message": "Additional properties are not allowed ('sead' was unexpected)", "description": null,
                },
            ],
        })
    );
    let not_json = call(&["{"]).json();
    assert_eq!(not_json["failures"][0]["code"], "not_json");
    assert_eq!(not_json["failures"][0]["keyword"], Value::Null);
    let cut = call(&["--limit", "failures_max=1", r#"{"seed": -1, "sead": 2}"#]).json();
    assert_eq!((cut["failures"].as_array().unwrap().len(), &cut["unlisted"]), (1, &json!(1)));
}

#[test]
fn call_words_rejections_in_styles() {
    let place = Place::new("call_styles");
    let call = |args: &[&str]| {
        place.run(&[&["call", "tools.json", "roll_dice", r#"{"seed": "x", "wen": "soon"}"#], args].concat())
    };
    let line = "schema: Additional properties are not allowed ('wen' was unexpected)\n";
    assert_eq!(call(&[]), done(1, line, ""));
    assert_eq!(call(&["--style", "line"]), done(1, line, ""));
    let guided =
        "'wen' is unknown; did you mean 'when'?\nseed: expected integer >= 0, got string \"x\". Omit for random.\n";
    assert_eq!(call(&["--style", "guided"]), done(1, guided, ""));
    let masked = "a name of 3 characters is unknown; did you mean 'when'?\n\
                  seed: expected integer >= 0, got string of 1 character. Omit for random.\n";
    assert_eq!(call(&["--style", "guided", "--mask"]), done(1, masked, ""));
    assert_eq!(call(&["--style", "json"]), call(&["--format", "json"]));
    let json = call(&["--format", "json", "--mask"]).json();
    assert_eq!(json["failures"][0]["message"], "<string of 1 character> is not of type 'integer'");
    assert_eq!(call(&["--style", "loud"]).code, Some(2));
}

/// Whatever is printed of a masked call, its own values and names are not.
#[test]
fn masked_calls_leave_nothing_behind() {
    let place = Place::new("call_masked");
    let tool = r#"[{"name": "close", "inputSchema": {"type": "object", "required": ["issue_id"], "properties": {
        "issue_id": {"type": "integer"}, "labels": {"type": "object", "additionalProperties": {"type": "integer"}}
    }}}]"#;
    place.write("issues.json", tool);
    let calls = [
        r#"{"issue_id": "4242", "labels": "{\"canary\": 4242}"}"#,
        r#"{"issue_id": 1, "labels": {"canary": "4242"}}"#,
        r#"{"issue_id": 1, "canary": 4242}"#,
        r#"{"issue_id": "canary"}"#,
        r#""canary""#,
    ];
    for call in calls {
        for flags in [
            &["--mask"][..],
            &["--mask", "--repair"],
            &["--mask", "--format", "json"],
            &["--mask", "--style", "guided", "--unknown-parameters", "forbid"],
            &["--mask", "--style", "field", "--lax"],
            &["--mask", "--unknown-parameters", "report", "--format", "json"],
        ] {
            let done = place.run(&[&["call", "issues.json", "close", call], flags].concat());
            let printed = format!("{}{}", done.out, done.err);
            assert!(!printed.contains("canary") && !printed.contains("4242"), "{call} {flags:?}: {printed}");
        }
        place.write("calls.jsonl", format!("{{\"name\": \"close\", \"arguments\": {call}}}\n"));
        let audit = ["audit", "issues.json", "calls.jsonl", "--mask", "--repair", "--output", "-"];
        let done = place.run(&audit);
        let printed = format!("{}{}", done.out, done.err);
        assert!(!printed.contains("canary") && !printed.contains("4242"), "{call}: {printed}");
    }
}

#[test]
fn eval_has_a_text_in_the_style_asked_for() {
    let place = Place::new("eval_styles");
    let row = r#"{"id": 1, "schema": {"anyOf": [{"type": "integer"}, {"type": "null"}]}, "instance": "x"}"#;
    assert_eq!(place.run_with(&["eval"], row).json().get("text"), None);
    let answer = place.run_with(&["eval", "--style", "guided"], row).json();
    assert_eq!(answer["text"], "expected integer or null, got string \"x\"");
    assert_eq!(answer["line"], "schema: 'x' is not valid under any of the given schemas");
}

#[test]
fn call_says_how_it_is_repaired() {
    let place = Place::new("call_repair");
    place.write(
        "issues.json",
        r#"[{"name": "close", "inputSchema": {"type": "object", "properties": {
            "issue_id": {"type": "integer"}, "labels": {"type": "array"}, "note": {"type": "string"}
        }}}]"#,
    );
    let call = |args: &[&str]| place.run(&[&["call", "issues.json", "close"], args].concat());
    let line = "schema: '42' is not of type 'integer' at issue_id\n";
    let arguments = r#"{"issue_id": "42", "labels": "[ 1 ]", "note": null}"#;
    assert_eq!(call(&[r#"{"issue_id": "42"}"#]), done(1, line, ""));
    let human = call(&[r#"{"issue_id": "42"}"#, "--repair"]);
    let repaired = "repair: str_to_integer at $.issue_id\nrepaired: {\"issue_id\": 42}\n";
    assert_eq!(human, done(1, &format!("{line}{repaired}"), ""));
    let json = call(&[arguments, "--format", "json"]);
    assert_eq!(
        json.json()["repair"],
        json!({
            "patch": [
                {"op": "replace", "path": "/issue_id", "value": 42},
                {"op": "replace", "path": "/labels", "value": [1]},
                {"op": "remove", "path": "/note"},
            ],
            "steps": [
                {"path": "$.issue_id", "pointer": "/issue_id", "rule": "str_to_integer"},
                {"path": "$.labels", "pointer": "/labels", "rule": "parse_stringified_array"},
                {"path": "$.note", "pointer": "/note", "rule": "null_to_absent"},
            ],
            "arguments": {"issue_id": 42, "labels": [1]},
        })
    );
    assert!(json.out.ends_with("\"arguments\":{\"issue_id\":42,\"labels\":[1]}}}\n"), "{}", json.out);
    let none = call(&[r#"{"issue_id": "one"}"#, "--repair"]);
    assert_eq!(none, done(1, "schema: 'one' is not of type 'integer' at issue_id\n", ""));
    assert_eq!(call(&[r#"{"issue_id": "one"}"#, "--format", "json"]).json().get("repair"), None);
    assert_eq!(call(&["{}", "--repair"]), done(0, "ok\n", ""));
}

#[test]
fn call_says_what_is_missing() {
    let place = Place::new("call_missing");
    place.write(
        "mail.json",
        r#"[{"name": "mail", "inputSchema": {"type": "object", "required": ["to", "what"], "properties": {
            "to": {"type": "string"}, "what": {"oneOf": [
                {"type": "object", "properties": {"kind": {"const": "text"}}, "required": ["kind", "body"]},
                {"type": "object", "properties": {"kind": {"const": "file"}}, "required": ["kind", "a/b"]}
            ]}
        }}}]"#,
    );
    let call = |args: &str| place.run(&["call", "mail.json", "mail", args, "--format", "json"]).json();
    for (args, missing_only, missing) in [
        ("{}", true, json!(["/to", "/what"])),
        (r#"{"what": {"kind": "file"}}"#, true, json!(["/to", "/what/a~1b"])),
        (r#"{"to": "ann", "what": {}}"#, false, json!([])),
        (r#"{"to": 1}"#, false, json!([])),
        ("{", false, json!([])),
    ] {
        let answer = call(args);
        assert_eq!((&answer["missing_only"], &answer["missing"]), (&json!(missing_only), &missing), "{args}");
    }
    // The same mistake has the same signature, in every process.
    assert_eq!(call("{}")["signature"], "a7e9bb7bd7f385c8");
    assert_eq!(call(r#"{"to": "ann"}"#)["signature"], "a7e9bb7bd7f385c8");
    assert_eq!(call("{")["signature"], "5a0d1c5dc3896a77");
}

#[test]
fn call_asserts_formats_by_option() {
    let place = Place::new("call_formats");
    let call = ["call", "tools.json", "roll_dice", r#"{"when": "soon"}"#];
    assert_eq!(place.run(&call), done(0, "ok\n", ""));
    let line = "schema: 'soon' is not a 'date' at when\n";
    assert_eq!(place.run(&[&call[..], &["--assert-formats"]].concat()), done(1, line, ""));
}

#[test]
fn call_is_lax_by_option() {
    let place = Place::new("call_lax");
    let call = |args: &str, more: &[&str]| place.run(&[&["call", "tools.json", "roll_dice", args], more].concat());
    assert_eq!(call(r#"{"seed": "7"}"#, &[]).code, Some(1));
    assert_eq!(call(r#"{"seed": "7"}"#, &["--lax"]), done(0, "ok\n", ""));
    assert_eq!(call(r#"{"seed": -1}"#, &["--lax"]), done(1, REJECTED, ""));
}

#[test]
fn call_that_ends_in_a_fault() {
    let place = Place::new("call_fault");
    let args = ["call", "sound.json", "ping", r#"{"a": [[[1]]]}"#, "--limit", "call_depth_max=2"];
    let detail = "the arguments nest deeper than call_depth_max allows";
    let err = format!("callgate: fault: depth: {detail}\n");
    assert_eq!(place.run(&args), done(2, "", &err));
    let json = place.run(&[&args[..], &["--format", "json"]].concat());
    assert_eq!((json.code, &json.err), (Some(2), &err));
    assert_eq!(json.json(), json!({"error": {"outcome": "fault", "code": "depth", "detail": detail}}));
}

#[test]
fn call_of_a_tool_that_is_not_there() {
    let place = Place::new("call_unknown");
    let message = r#"tools.json has no tool "roll"; most like it: "roll_dice", "list_rolls", "sum_rolls""#;
    assert_eq!(place.run(&["call", "tools.json", "roll"]), done(2, "", &format!("callgate: {message}\n")));
    let json = place.run(&["call", "tools.json", "roll", "--format", "json"]);
    assert_eq!(json.code, Some(2));
    assert_eq!(json.json(), json!({"error": {"outcome": "unknown_tool", "code": "unknown_tool", "detail": message}}));
    place.write("none.json", "[]");
    assert_eq!(place.run(&["call", "none.json", "x"]), done(2, "", "callgate: none.json has no tool \"x\"\n"));
}

#[test]
fn call_of_a_tool_that_is_not_compiled() {
    let place = Place::new("call_uncompiled");
    let err = r##"tools.json
  sum_rolls
    error[ref_unresolved] 11:49 input /$ref: #/$defs/nowhere points to nothing
      | …rolls", "inputSchema": {"$ref": "#/$defs/nowhere"}}
      |                                  ^^^^^^^^^^^^^^^^^
callgate: not compiled: ref_unresolved
"##;
    assert_eq!(place.run(&["call", "tools.json", "sum_rolls"]), done(2, "", err));
    let json = place.run(&["call", "tools.json", "sum_rolls", "--format", "json"]);
    assert_eq!((json.code, json.err.as_str()), (Some(2), err));
    let detail = "#/$defs/nowhere points to nothing at /$ref";
    assert_eq!(json.json(), json!({"error": {"outcome": "finding", "code": "ref_unresolved", "detail": detail}}));
    let err = "-\n  error[unreadable] 1:1: not JSON: the text is empty\ncallgate: not compiled: unreadable\n";
    assert_eq!(place.run(&["call", "-", "x"]), done(2, "", err));
}

// --- listing -------------------------------------------------------------------------------------------------

#[test]
fn listing_of_a_tool_and_of_all() {
    let place = Place::new("listing");
    let one = place.run(&["listing", "tools.json", "roll_dice"]);
    assert_eq!((one.code, one.err.as_str()), (Some(0), ""));
    let first: Vec<_> = one.out.split_whitespace().take(3).collect();
    assert_eq!(first, ["unit", "roll_dice", "accept"]);
    for line in ["\naccept\n", "\nexplain\n", "\n        ; /properties/seed\n"] {
        assert!(one.out.contains(line), "{}", one.out);
    }
    let all = place.run(&["listing", "tools.json"]);
    assert_eq!(all.code, Some(0));
    assert!(all.out.starts_with(&one.out), "{}", all.out);
    let units: Vec<_> = all.out.lines().filter_map(|line| line.strip_prefix("unit ")).collect();
    let names: Vec<_> = units.iter().filter_map(|unit| unit.split_whitespace().next()).collect();
    assert_eq!(names, ["roll_dice", "list_rolls"]);
    assert!(all.err.contains("error[ref_unresolved]"), "{}", all.err);
}

#[test]
fn listing_of_a_tool_that_is_missing() {
    let place = Place::new("listing_missing");
    let unknown = place.run(&["listing", "tools.json", "roll"]);
    assert_eq!((unknown.code, unknown.out.as_str()), (Some(2), ""));
    assert!(unknown.err.contains("most like it: \"roll_dice\""), "{}", unknown.err);
    let refused = place.run(&["listing", "tools.json", "sum_rolls"]);
    assert_eq!((refused.code, refused.out.as_str()), (Some(2), ""));
    assert!(refused.err.contains("error[ref_unresolved]"), "{}", refused.err);
    let broken = place.run_with(&["listing", "-"], "{");
    assert_eq!((broken.code, broken.out.as_str()), (Some(2), ""));
    assert!(broken.err.contains("error[unreadable]"), "{}", broken.err);
}

#[test]
fn listing_of_stages() {
    let place = Place::new("listing_stages");
    let ir = place.run(&["listing", "tools.json", "roll_dice", "--stage", "ir"]);
    assert_eq!((ir.code, ir.err.as_str()), (Some(0), ""));
    assert!(ir.out.starts_with("unit roll_dice\n/   draft 2020-12\n"), "{}", ir.out);
    let lowered = place.run(&["listing", "tools.json", "roll_dice", "--stage", "lowered"]);
    assert_eq!((lowered.code, lowered.err.as_str()), (Some(0), ""));
    assert!(lowered.out.contains("\nb0 "), "{}", lowered.out);
    let without = place.run_with(&["listing", "-", "--stage", "ir"], r#"[{"name": "ping"}]"#);
    assert_eq!(without, done(0, "unit ping   no schema\n", ""));
}

#[test]
fn listing_of_a_call() {
    let place = Place::new("listing_call");
    let list = |arguments: &str| place.run(&["listing", "tools.json", "roll_dice", "--call", arguments]);
    let listed = place.run(&["listing", "tools.json", "roll_dice"]).out;

    let accepted = list(r#"{"seed": 3}"#);
    assert_eq!((accepted.code, accepted.err.as_str()), (Some(0), ""));
    let path = accepted.out.strip_prefix(&listed).expect("the listing comes first");
    let lines: Vec<_> = path.lines().collect();
    assert_eq!(lines[0], "call");
    assert!(lines.last().unwrap().starts_with("accepted   fuel "), "{path}");
    for line in &lines[1..lines.len() - 1] {
        let mut columns = line.split_whitespace();
        let number = |column: Option<&str>| column.and_then(|text| text.parse::<u64>().ok());
        assert!(number(columns.next()).is_some() && number(columns.next()).is_some(), "{line}");
    }

    let rejected = list(r#"{"seed": -1}"#);
    assert_eq!(rejected.code, Some(1));
    assert!(rejected.out.contains("\nrejected   fuel "), "{}", rejected.out);
    assert!(rejected.out.ends_with(REJECTED), "{}", rejected.out);

    let not_json = list("{");
    assert_eq!(not_json.code, Some(1));
    assert!(not_json.out.contains("\ncall\nrejected   fuel 0\nschema: arguments are not valid JSON: "));

    let needs_tool = place.run(&["listing", "tools.json", "--call", "{}"]);
    assert_eq!((needs_tool.code, needs_tool.out.as_str()), (Some(2), ""));
    let needs_final = place.run(&["listing", "tools.json", "roll_dice", "--stage", "ir", "--call", "{}"]);
    assert_eq!((needs_final.code, needs_final.out.as_str()), (Some(2), ""));
    // The only tool of a catalog needs no name.
    assert_eq!(place.run(&["listing", "sound.json", "--call", "{}"]).code, Some(0));
}

#[test]
fn listing_of_costs() {
    let place = Place::new("listing_costs");
    let list = |flags: &[&str]| place.run(&[&["listing", "tools.json", "roll_dice"], flags].concat());
    let plain = list(&[]).out;
    let costs = list(&["--cost"]);
    assert_eq!((costs.code, costs.err.as_str()), (Some(0), ""));
    let (insns, summary) = costs.out.split_once("\ncost\n").expect("the summary comes last");
    // Each line of the listing, behind a cost.
    assert_eq!(insns.lines().count(), plain.lines().count());
    assert!(insns.lines().zip(plain.lines()).all(|(with, without)| with.ends_with(without)), "{insns}");
    let costed = |cost: &str, insn: &str| insns.lines().any(|line| line.starts_with(cost) && line.contains(insn));
    assert!(costed("1 + 1/member + name/16 ", "  object_table "), "{insns}");
    assert!(costed("1   ", "  minimum "), "{insns}");
    assert!(summary.contains("\n  a call <= 1 + 2/member + name/16\n"), "{summary}");
    assert!(summary.ends_with("  <= 2/member + name/16   dearest 'seed'\n"), "{summary}");

    let called = list(&["--cost", "--call", r#"{"seed": 3}"#]);
    assert_eq!(called.code, Some(0));
    let call = called.out.strip_prefix(&costs.out).expect("the listing comes first");
    let [head, columns, insns @ .., verdict] = &call.lines().collect::<Vec<_>>()[..] else {
        panic!("{call}");
    };
    assert_eq!((*head, *columns), ("call", "    fuel     runs"));
    let fuel = |line: &&str| line.split_whitespace().next().and_then(|fuel| fuel.parse::<u64>().ok()).unwrap();
    let total: u64 = insns.iter().map(fuel).sum();
    assert_eq!(*verdict, format!("accepted   fuel {total}, less than 0.01 % of 10000000"));

    let faulty = list(&["--cost", "--call", r#"{"seed": 3}"#, "--limit", "call_fuel_max=2"]);
    assert_eq!(faulty.code, Some(2));
    assert!(faulty.out.contains("\nfault   fuel 2, 100.00 % of 2\n"), "{}", faulty.out);
    let unread = list(&["--cost", "--call", "{"]);
    assert!(unread.out.contains("\nrejected   fuel 0, 0.00 % of 10000000\n"), "{}", unread.out);
    let needs_final = list(&["--cost", "--stage", "lowered"]);
    assert_eq!((needs_final.code, needs_final.out.as_str()), (Some(2), ""));
}

// --- compile --------------------------------------------------------------------------------------------------

#[test]
fn a_compiled_catalog_serves_as_the_catalog_does() {
    let place = Place::new("compiled_serves");
    let wrote = place.run(&["compile", "tools.json", "-o", "tools.callgate"]);
    let bytes = fs::metadata(place.0.join("tools.callgate")).unwrap().len();
    assert_eq!(wrote, done(0, &format!("3 tools: 1 healthy, 1 flagged, 1 refused; {bytes} bytes\n"), ""));
    let commands: [&[&str]; 11] = [
        &["check", "CATALOG"],
        &["check", "CATALOG", "--format", "json"],
        &["check", "CATALOG", "--strict"],
        &["call", "CATALOG", "roll_dice", r#"{"seed": -1}"#],
        &["call", "CATALOG", "roll_dice", r#"{"seed": 1}"#, "--format", "json"],
        &["call", "CATALOG", "sum_rolls"],
        &["listing", "CATALOG", "--cost"],
        &["listing", "CATALOG", "roll_dice", "--stage", "ir"],
        &["check", "CATALOG", "--for", "openai-strict"],
        &["check", "CATALOG", "--format", "github"],
        &["diff", "CATALOG", "sound.json"],
    ];
    for command in commands {
        let with = |catalog| {
            place.run(
                &command
                    .iter()
                    .map(|arg| arg.replace("CATALOG", catalog))
                    .collect::<Vec<_>>()
                    .iter()
                    .map(String::as_str)
                    .collect::<Vec<_>>(),
            )
        };
        let (source, mut compiled) = (with("tools.json"), with("tools.callgate"));
        for text in [&mut compiled.out, &mut compiled.err] {
            *text = text.replace("tools.callgate", "tools.json");
        }
        assert_eq!(compiled, source, "{command:?}");
    }
    // Written again it is the same, and the same source gives the same file.
    assert_eq!(place.run(&["compile", "tools.callgate", "-o", "again.callgate"]).code, Some(0));
    assert_eq!(place.run(&["compile", "tools.json", "-o", "other.callgate"]).code, Some(0));
    let file = |name| fs::read(place.0.join(name)).unwrap();
    assert!(file("tools.callgate") == file("again.callgate") && file("tools.callgate") == file("other.callgate"));
}

#[test]
fn options_of_a_compiled_catalog_are_settled() {
    let place = Place::new("compiled_options");
    let formats = ["compile", "tools.json", "--assert-formats", "--limit", "call_fuel_max=20000000", "-o", "high"];
    assert_eq!(place.run(&formats).code, Some(0));
    let call = |more: &[&str]| place.run(&[&["call", "high", "roll_dice", r#"{"when": "soon"}"#], more].concat());
    let above = "callgate: not compiled: unreadable\n";
    assert_eq!((call(&[]).code, call(&[]).err.ends_with(above)), (Some(2), true), "{:?}", call(&[]));
    assert!(call(&[]).err.contains("call_fuel_max is 20000000, above 10000000"));
    let line = "schema: 'soon' is not a 'date' at when\n";
    assert_eq!(call(&["--limit", "call_fuel_max=30000000"]), done(1, line, ""));
    let refusals: [(&[&str], &str); 4] = [
        (&["call", "sound", "ping", "--lax"], "sound is compiled: --lax is for its source"),
        (&["call", "sound", "ping", "--assert-formats"], "sound is compiled: --assert-formats is for its source"),
        (&["check", "sound", "--limit", "schema_depth_healthy=1"], "sound is compiled: --limit is for its source"),
        (&["check", "sound", "--shape", "mcp"], "sound is compiled: --shape is for its source"),
    ];
    assert_eq!(place.run(&["compile", "sound.json", "-o", "sound"]).code, Some(0));
    for (command, expected) in refusals {
        assert_eq!(place.run(command), done(2, "", &format!("callgate: {expected}\n")), "{command:?}");
    }
}

#[test]
fn a_catalog_that_would_not_load_is_not_written() {
    let place = Place::new("compiled_patterns");
    let tool = |at: usize| json!({"name": format!("t{at}"), "inputSchema": {"pattern": format!("(?=a)b{at}")}});
    place.write("many.json", json!((0..257).map(tool).collect::<Vec<_>>()).to_string());
    let refused = "callgate: cannot keep many.json compiled: not a sound compiled catalog: more than 256 patterns have to be \
                   built\n";
    assert_eq!(place.run(&["compile", "many.json", "-o", "many"]), done(2, "", refused));
    assert!(!place.0.join("many").exists());
}

#[test]
fn a_damaged_compiled_catalog_is_unreadable() {
    let place = Place::new("compiled_damaged");
    assert_eq!(place.run(&["compile", "sound.json", "-o", "sound"]).code, Some(0));
    let mut bytes = fs::read(place.0.join("sound")).unwrap();
    bytes[100] ^= 1;
    place.write("sound", &bytes);
    let expected = "sound\n  error[unreadable]: a damaged compiled catalog: its checksum is not that of its bytes\n\n\
                    0 tools: 0 healthy, 0 flagged, 0 refused; 1 catalog unreadable\n";
    assert_eq!(place.run(&["check", "sound"]), done(0, expected, ""));
    assert_eq!(place.run(&["call", "sound", "ping"]).code, Some(2));
    let refused = place.run(&["compile", "tools.json", "-o", "no/such/folder/file"]);
    assert_eq!((refused.code, refused.err.starts_with("callgate: cannot write no/such/folder/file")), (Some(2), true));
}

// --- eval ----------------------------------------------------------------------------------------------------

#[test]
fn eval_answers_every_row_in_order() {
    let place = Place::new("eval");
    let rows = [
        r#"{"id": 1, "schema": {"type": "integer"}, "instance": 5}"#,
        r#"{"id": "two", "schema": {"type": "integer"}, "instance": "5"}"#,
        "no row at all",
        r#"{"id": 4, "schema": {"type": "intger"}, "instance": 5}"#,
        r#"{"id": 5, "schema": {"type": "null"}}"#,
        "",
        r#"{"id": 7, "schema": {"$ref": "x:y"}, "instance": 5, "dialect": "3"}"#,
        r#"{"id": 8, "schema": {"type": "null"}, "instance_text": "nul"}"#,
        r#"{"id": 9, "schema": {"type": "null"}, "instance": null, "more": [1]}"#,
    ];
    place.write("rows.jsonl", rows.join("\n"));
    let from_file = place.run(&["eval", "rows.jsonl"]);
    assert_eq!((from_file.code, from_file.err.as_str()), (Some(0), ""));
    let answers: Vec<Value> = from_file.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let ids: Value = answers.iter().map(|answer| answer["id"].clone()).collect();
    assert_eq!(ids, json!([1, "two", null, 4, 5, 7, 8, 9]));
    let verdicts: Value = answers.iter().map(|answer| answer["valid"].clone()).collect();
    assert_eq!(verdicts, json!([true, false, null, null, null, null, false, true]));
    let codes: Value = answers.iter().map(|answer| answer["error"]["code"].clone()).collect();
    assert_eq!(
        codes,
        json!([null, null, "unreadable", "not_well_formed", "unreadable", "unknown_dialect", null, null])
    );
    assert_eq!(
        answers[1],
        json!({
            "id": "two", "valid": false, "line": "schema: '5' is not of type 'integer'", "top_path": [],
            "message": "'5' is not of type 'integer'",
            "errors": [{
                "keyword": "type", "instance_path": [], "schema_path": ["type"],
                "message": "'5' is not of type 'integer'", "description": null,
            }],
        })
    );
    assert_eq!(place.run_with(&["eval"], &rows.join("\n")), from_file);
    assert_eq!(place.run_with(&["eval", "-"], &rows.join("\r\n")), from_file);
    assert_eq!(place.run(&["eval"]), done(0, "", ""));
}

#[test]
fn eval_reads_laxly_by_option() {
    let place = Place::new("eval_lax");
    let rows = [
        r#"{"id": 1, "schema": {"type": "number"}, "instance": 5}"#,
        r#"{"id": 2, "schema": {"type": "integer"}, "instance": "5"}"#,
        r#"{"id": 3, "schema": {"type": "string", "format": "date"}, "instance": "5"}"#,
        r#"{"id": 4, "schema": {"type": "null"}, "instance_text": "nul"}"#,
        r#"{"id": 5, "schema": {"type": "nul"}, "instance": 1}"#,
    ];
    let answers = place.run_with(&["eval", "--lax"], &rows.join("\n"));
    assert_eq!((answers.code, answers.err.as_str()), (Some(0), ""));
    let lines: Vec<&str> = answers.out.lines().collect();
    assert_eq!(
        lines[..4],
        [
            r#"{"id":1,"lax_ok":true,"strict_ok":true,"lines":[],"coerced":5.0}"#,
            r#"{"id":2,"lax_ok":true,"strict_ok":false,"lines":[],"coerced":5}"#,
            r#"{"id":3,"lax_ok":false,"strict_ok":false,"lines":["Datetimes provided to dates should have zero time - e.g. be exact dates"],"coerced":null}"#,
            r#"{"id":4,"lax_ok":false,"strict_ok":null,"lines":["arguments are not valid JSON: the text ends too early at byte 3"],"coerced":null}"#,
        ]
    );
    assert!(lines[4].contains("not_well_formed"), "{}", lines[4]);
}

#[test]
fn eval_keeps_the_order_over_many_rows() {
    let place = Place::new("eval_many");
    let row = |id: usize| {
        let schema = if id.is_multiple_of(3) { "{" } else { "{}" };
        format!("{{\"id\": {id}, \"schema\": {schema}, \"instance\": {id}}}")
    };
    let rows = (0..5_000).map(row).collect::<Vec<_>>().join("\n");
    let done = place.run_with(&["eval"], &rows);
    assert_eq!((done.code, done.out.lines().count()), (Some(0), 5_000));
    for (at, line) in done.out.lines().enumerate() {
        let answer: Value = serde_json::from_str(line).unwrap();
        assert_eq!(answer.get("valid").is_some(), at % 3 != 0);
        assert!(answer["id"] == json!(at) || at % 3 == 0);
    }
}

#[test]
fn eval_reads_documents_and_limits() {
    let place = Place::new("eval_documents");
    place.write("documents.json", r#"{"https://example.org/seed.json": {"type": "integer"}}"#);
    let row = r#"{"id": 1, "schema": {"$ref": "https://example.org/seed.json"}, "instance": "x"}"#;
    let without = place.run_with(&["eval"], row).json();
    assert_eq!(without["error"]["code"], "ref_remote");
    let with = place.run_with(&["eval", "--documents", "documents.json"], row).json();
    assert_eq!(with["line"], "schema: 'x' is not of type 'integer'");
    let limited = place.run_with(&["eval", "--documents", "documents.json", "--limit", "call_bytes_max=2"], row).json();
    assert_eq!(limited["error"]["outcome"], "fault");
    assert_eq!(limited["error"]["code"], "call_bytes");
}

// --- readers that stop ---------------------------------------------------------------------------------------

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let place = Place::new("broken_pipe");
    let tools: Vec<_> =
        (0..3_000).map(|at| json!({"name": format!("t{at}"), "inputSchema": {"type": "array"}})).collect();
    place.write("many.json", Value::from(tools).to_string());
    place.write("rows.jsonl", "{\"id\": 1, \"schema\": {}, \"instance\": 1}\n".repeat(9_000));
    for (args, code) in [
        (&["check", "many.json", "--strict"][..], 1),
        (&["check", "many.json", "--format", "json"], 0),
        (&["listing", "many.json"], 0),
        (&["eval", "rows.jsonl"], 2),
    ] {
        let mut command = place.command();
        command.args(args).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        assert_eq!(
            (output.status.code(), String::from_utf8_lossy(&output.stderr).as_ref()),
            (Some(code), ""),
            "{args:?}"
        );
    }
}
