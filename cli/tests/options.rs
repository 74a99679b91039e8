//! Options of compilation and results of tools, as the command line has them.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

const TOOLS: &str = r#"[{"name": "search",
  "inputSchema": {"type": "object", "properties": {"query": {"type": "string"}, "limit": {"type": "integer"}}},
  "outputSchema": {"type": "object", "properties": {"hits": {"type": "integer"}}, "required": ["hits"]}
}, {"name": "ping"}, {"name": "far", "outputSchema": {"$ref": "https://example.com/"}}]"#;

/// A folder with the catalog in it.
fn place(test: &str) -> PathBuf {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(test);
    fs::create_dir_all(&path).unwrap();
    fs::write(path.join("tools.json"), TOOLS).unwrap();
    path
}

/// Exit code, stdout and stderr of a command in that folder.
fn run(place: &PathBuf, args: &[&str]) -> (i32, String, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_callgate")).current_dir(place).args(args).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

#[track_caller]
fn check(place: &PathBuf, args: &[&str], expected: (i32, &str, &str)) {
    let (code, out, err) = run(place, args);
    assert_eq!((code, out.as_str(), err.as_str()), expected, "{args:?}");
}

#[test]
fn unknown_parameters() {
    let place = place("unknown_parameters");
    let call = ["call", "tools.json", "search", r#"{"query": "x", "hallu": 1}"#];
    let with = |choice| [&call[..], &["--unknown-parameters", choice]].concat();
    check(&place, &call, (0, "ok\n", ""));
    check(&place, &with("ignore"), (0, "ok\n", ""));
    check(&place, &with("report"), (0, "ok\n", "callgate: unknown parameter 'hallu' at /hallu\n"));
    let line = "schema: Additional properties are not allowed ('hallu' was unexpected)\n";
    check(&place, &with("forbid"), (1, line, ""));
    let json = run(&place, &[&with("forbid")[..], &["--format", "json"]].concat()).1;
    let failure = r#"{"code":"unknown_parameter","keyword":null,"instance_location":"","keyword_location":"","#;
    assert!(json.contains(failure), "{json}");
    let json = run(&place, &[&with("report")[..], &["--format", "json"]].concat()).1;
    assert!(json.contains(r#""notices":["unknown parameter 'hallu' at /hallu"]"#), "{json}");
}

#[test]
fn nulls_and_no_arguments() {
    let place = place("nulls_and_no_arguments");
    let null = ["call", "tools.json", "search", r#"{"limit": null}"#];
    check(&place, &null, (1, "schema: None is not of type 'integer' at limit\n", ""));
    check(&place, &[&null[..], &["--null-for-optional", "as-absent"]].concat(), (0, "ok\n", ""));
    let empty = ["call", "tools.json", "search", ""];
    check(&place, &empty, (1, "schema: arguments are not valid JSON: no value at byte 0\n", ""));
    check(&place, &[&empty[..], &["--empty-arguments", "as-object"]].concat(), (0, "ok\n", ""));
}

#[test]
fn options_of_a_compiled_catalog_hold() {
    let place = place("options_of_a_compiled_catalog_hold");
    let compile = ["compile", "tools.json", "-o", "compiled", "--unknown-parameters", "forbid"];
    assert_eq!(run(&place, &compile).0, 0);
    let call = ["call", "compiled", "search", r#"{"hallu": 1}"#];
    let line = "schema: Additional properties are not allowed ('hallu' was unexpected)\n";
    check(&place, &call, (1, line, ""));
    let settled = "callgate: compiled is compiled: --unknown-parameters is for its source\n";
    check(&place, &[&call[..], &["--unknown-parameters", "report"]].concat(), (2, "", settled));
}

#[test]
fn eval_takes_the_options() {
    let place = place("eval_takes_the_options");
    fs::write(place.join("rows"), r#"{"id": 1, "schema": {"properties": {}}, "instance": {"a": 1}}"#).unwrap();
    let (code, out, _) = run(&place, &["eval", "rows", "--unknown-parameters", "forbid"]);
    assert_eq!(code, 0);
    let line = r#""line":"schema: Additional properties are not allowed ('a' was unexpected)""#;
    assert!(out.contains(line), "{out}");
}

#[test]
fn results() {
    let place = place("results");
    let result = |tool, text| ["call", "tools.json", tool, text, "--result"];
    check(&place, &result("search", r#"{"structuredContent": {"hits": 3}}"#), (0, "ok\n", ""));
    let wrong = "schema: '3' is not of type 'integer' at hits\n";
    check(&place, &result("search", r#"{"structuredContent": {"hits": "3"}}"#), (1, wrong, ""));
    check(&place, &result("search", r#"{"isError": true}"#), (0, "ok\n", ""));
    let lacks = "schema: 'structuredContent' is a required property — The tool has an output schema, so a result that \
                 is no error has structured content.\n";
    check(&place, &result("search", r#"{"content": []}"#), (1, lacks, ""));
    check(&place, &result("ping", "{}"), (0, "ok\n", ""));
    let (code, out, err) = run(&place, &result("far", "{}"));
    assert_eq!((code, out.as_str()), (2, ""));
    assert!(err.contains("not compiled: ref_remote"), "{err}");
}
