//! `callgate diff` as scripts see it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

const OLD: &str = r#"{"tools": [
  {"name": "roll", "description": "Rolls.", "inputSchema": {"type": "object",
    "properties": {"seed": {"type": "integer", "minimum": 0}, "sides": {"type": "integer"}}}},
  {"name": "list", "inputSchema": {"type": "object"},
    "outputSchema": {"type": "object", "properties": {"kind": {"enum": ["a", "b"]}}}},
  {"name": "gone", "inputSchema": {"type": "object"}},
  {"name": "same", "inputSchema": {"type": "object"}},
  {"name": "worded", "inputSchema": {"type": "object", "description": "One."}}
]}"#;

const NEW: &str = r#"{"tools": [
  {"name": "roll", "description": "Rolls dice.", "inputSchema": {"type": "object",
    "properties": {"seed": {"type": "integer", "minimum": 1}, "sides": {"type": "integer"}}, "required": ["sides"]}},
  {"name": "list", "inputSchema": {"type": "object"},
    "outputSchema": {"type": "object", "properties": {"kind": {"enum": ["a", "b", "c"]}}}},
  {"name": "same", "inputSchema": { "type": "object" }},
  {"name": "worded", "inputSchema": {"type": "object", "description": "Two."}},
  {"name": "new", "inputSchema": {"type": "object"}}
]}"#;

/// A folder with the catalogs, and what a command in it answers: exit code, stdout, stderr.
fn run(test: &str, files: &[(&str, &str)], args: &[&str]) -> (Option<i32>, String, String) {
    let folder: PathBuf = Path::new(env!("CARGO_TARGET_TMPDIR")).join(test);
    fs::create_dir_all(&folder).unwrap();
    for (name, text) in files {
        fs::write(folder.join(name), text).unwrap();
    }
    let mut command = Command::new(env!("CARGO_BIN_EXE_callgate"));
    let output = command.arg("diff").args(args).current_dir(&folder).output().unwrap();
    let utf8 = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (output.status.code(), utf8(output.stdout), utf8(output.stderr))
}

#[test]
fn what_has_changed_is_told_by_kind() {
    let (code, out, err) = run("diff_human", &[("old.json", OLD), ("new.json", NEW)], &["old.json", "new.json"]);
    let expected = "\
removed: 1 tool
  gone (breaking)

narrower: 1 tool
  roll (breaking)
    input narrower at /properties/seed: minimum 0 -> 1, e.g. {\"seed\":0,\"sides\":1}
    input narrower: required 'sides' added, e.g. {}
    definition cosmetic: description changed

wider: 1 tool
  list (breaking)
    output wider at /properties/kind: 'c' was not taken before, e.g. {\"kind\":\"c\"}

added: 1 tool
  new

cosmetic: 1 tool
  worded
    input cosmetic: description changed

6 tools: 1 removed, 1 narrower, 1 wider, 1 added, 1 cosmetic, 1 unchanged; 3 break callers
";
    assert_eq!((code, out.as_str(), err.as_str()), (Some(1), expected, ""));
}

#[test]
fn what_has_changed_is_told_as_data() {
    let files = [("old.json", OLD), ("new.json", NEW)];
    let (code, out, _) = run("diff_json", &files, &["old.json", "new.json", "--format", "json"]);
    assert_eq!((code, out.matches('\n').count()), (Some(1), 1));
    let json: Value = serde_json::from_str(&out).unwrap();
    let counts = json!({
        "unchanged": 1, "cosmetic": 1, "added": 1, "wider": 1, "narrower": 1, "undecided": 0, "incompatible": 0,
        "removed": 1, "breaking": 3
    });
    assert_eq!(json["counts"], counts);
    let list = json!({
        "tool_id": "list", "change": "wider", "breaking": true,
        "input": {"change": "unchanged", "differences": []},
        "output": {"change": "wider", "differences": [{
            "effect": "wider", "pointer": "/properties/kind", "reason": "'c' was not taken before",
            "witness": "{\"kind\":\"c\"}"
        }]},
        "definition": []
    });
    assert_eq!(json["tools"][1], list);
    let gone = json!({
        "tool_id": "gone", "change": "removed", "breaking": true, "input": null, "output": null, "definition": []
    });
    assert_eq!(json["tools"][5], gone);
}

#[test]
fn exit_codes() {
    let pattern = |source: &str| format!(r#"[{{"name": "a", "inputSchema": {{"pattern": "{source}"}}}}]"#);
    let (one, other) = (pattern("^a*$"), pattern("^(?:a|aa)*$"));
    let files = [
        ("old.json", OLD),
        ("new.json", NEW),
        ("one.json", one.as_str()),
        ("other.json", other.as_str()),
        ("none.json", "7"),
    ];
    let code = |args: &[&str]| run("diff_codes", &files, args).0;
    assert_eq!(code(&["old.json", "old.json"]), Some(0));
    assert_eq!(code(&["one.json", "other.json"]), Some(1));
    assert_eq!(code(&["one.json", "other.json", "--allow-undecided"]), Some(0));
    assert_eq!(code(&["old.json", "new.json", "--allow-undecided"]), Some(1));
    assert_eq!(code(&["old.json", "nowhere.json"]), Some(2));
    assert_eq!(code(&["old.json"]), Some(2));
    assert_eq!(code(&["-", "-"]), Some(2));
    let (code, out, err) = run("diff_codes", &files, &["none.json", "old.json"]);
    assert_eq!((code, out.as_str()), (Some(2), ""));
    assert!(err.contains("error[unreadable]"), "{err}");
}
