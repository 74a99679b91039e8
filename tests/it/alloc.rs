//! No call allocates: not the first of a session, not a rejected one, not the writing of its line.
//!
//! A *cell* is one call in one form (text or `Value`) on a session that no call has seen. Five numbers are counted in
//! it: allocations of the check, of writing the line, of telling what is missing, of writing every style, and of the same
//! check again. All are to be 0, but for tools with patterns that look around or back, which are listed by name.
//!
//! The global allocator comes from the crate `allocation-counter`: it counts for each thread alone, so tests run beside
//! one another, and no `unsafe` is written in this workspace.

use std::fmt;
use std::hint::black_box;

use allocation_counter::measure;
use callgate::{Arguments, Catalog, Options, Outcome, PREFIX, Rendering, Session, Style};
use serde_json::Value;

use crate::random::Rng;
use crate::{instances, schemas};

/// What a check and the writing of its line allocate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Cell {
    pub(crate) check: u64,
    pub(crate) line: u64,
    /// Of deciding whether all that is wrong is that names are missing, and writing them.
    pub(crate) missing: u64,
    /// Of writing the rejection in every style.
    pub(crate) styles: u64,
    /// The same check on the session as it is now.
    pub(crate) again: u64,
    pub(crate) accepted: bool,
}

impl Cell {
    pub(crate) fn is_zero(self) -> bool {
        self.check == 0 && self.line == 0 && self.missing == 0 && self.styles == 0 && self.again == 0
    }
}

/// Counts the allocations of a call on a session that was made for `bytes`.
pub(crate) fn cell(catalog: &Catalog, bytes: usize, tool: &str, arguments: Arguments<'_>) -> Cell {
    let mut session = catalog.session(bytes);
    let mut line = String::with_capacity(1 << 17);
    let mut cell = count(catalog, &mut session, tool, arguments, &mut line);
    cell.again = count(catalog, &mut session, tool, arguments, &mut line).check;
    cell
}

fn count(catalog: &Catalog, session: &mut Session, tool: &str, arguments: Arguments<'_>, line: &mut String) -> Cell {
    let mut outcome = Outcome::NotCompiled;
    let check = measure(|| outcome = catalog.check(session, tool, black_box(arguments))).count_total;
    let written = measure(|| {
        if let Outcome::Rejected(rejection) = &outcome {
            rejection.write_line(line, PREFIX).expect("a String takes every write");
        }
    });
    line.clear();
    let missing = measure(|| {
        if let Outcome::Rejected(rejection) = &outcome {
            black_box((rejection.missing_only(), rejection.signature()));
            rejection.missing().for_each(|missing| missing.write_pointer(line).expect("a String takes every write"));
        }
    });
    line.clear();
    let styles = measure(|| {
        if let Outcome::Rejected(rejection) = &outcome {
            let renderings = Style::ALL
                .iter()
                .flat_map(|style| [false, true].map(|masked| Rendering { masked, ..Rendering::of(*style) }));
            renderings.for_each(|rendering| rejection.write(&mut Nowhere, &rendering).expect("takes every write"));
        }
    });
    let (line, missing, styles) = (written.count_total, missing.count_total, styles.count_total);
    Cell { check, line, missing, styles, again: 0, accepted: outcome.is_accepted() }
}

/// Takes every write.
struct Nowhere;

impl fmt::Write for Nowhere {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        black_box(text);
        Ok(())
    }
}

/// Counts a call in both forms; answers the cells that are not zero, worded.
pub(crate) fn nonzero(catalog: &Catalog, bytes: usize, tool: &str, text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut add = |form: &str, cell: Cell| {
        if !cell.is_zero() {
            let call: String = text.chars().take(100).collect();
            found.push(format!("{tool} from {form}: {cell:?} on {call}"));
        }
    };
    add("text", cell(catalog, bytes, tool, Arguments::Bytes(text.as_bytes())));
    if let Ok(value) = serde_json::from_str::<Value>(text) {
        add("Value", cell(catalog, bytes, tool, Arguments::Value(&value)));
    }
    found
}

/// The calls of a tool, which must all be accepted or all be rejected.
struct Calls {
    schema: &'static str,
    accepted: &'static [&'static str],
    rejected: &'static [&'static str],
}

#[track_caller]
fn check(calls: &Calls) {
    check_tool(&catalog_of(calls.schema), calls.accepted, calls.rejected);
}

/// A catalog of one tool.
fn catalog_of(schema: &str) -> String {
    format!(r#"{{"tools": [{{"name": "tool", "inputSchema": {schema}}}]}}"#)
}

#[track_caller]
fn check_tool(tools: &str, accepted: &[&str], rejected: &[&str]) {
    let (catalog, report) = Catalog::compile(tools, &Options::default()).expect("is a catalog");
    assert_eq!(report.refused, 0, "{:?}", report.findings);
    let mut found = Vec::new();
    for (calls, expected) in [(accepted, true), (rejected, false)] {
        for call in calls {
            let cell = cell(&catalog, call.len(), "tool", Arguments::Bytes(call.as_bytes()));
            assert_eq!(cell.accepted, expected, "{call}");
            found.extend(nonzero(&catalog, call.len(), "tool", call));
            found.extend(nonzero(&catalog, 64 << 10, "tool", call));
        }
    }
    assert!(found.is_empty(), "{} cells are not zero:\n{}", found.len(), found.join("\n"));
}

#[test]
fn the_counter_counts() {
    assert_eq!(measure(|| drop(black_box(vec![1_u8]))).count_total, 1);
    assert_eq!(measure(|| ()).count_total, 0);
}

#[test]
fn scalars_and_members() {
    check(&Calls {
        schema: r#"{
            "type": "object",
            "properties": {
                "name": {"type": "string", "minLength": 1, "maxLength": 8, "description": "A name."},
                "seed": {"type": ["integer", "null"], "minimum": 0},
                "ratio": {"type": "number", "exclusiveMaximum": 1, "multipleOf": 0.01},
                "on": {"type": "boolean"}
            },
            "required": ["name"],
            "additionalProperties": false
        }"#,
        accepted: &[
            r#"{"name": "x"}"#,
            r#"{"on": true, "ratio": 0.25, "seed": null, "name": "\u00e9\n"}"#,
            r#" { "seed" : 7 , "name" : "🐲" } "#,
        ],
        rejected: &[
            "{}",
            "3",
            r#"{"name": ""}"#,
            r#"{"name": "x", "seed": -1, "ratio": 2.5, "on": "yes", "more": [1, {"deep": "er"}], "other": null}"#,
            r#"{"name": "much too long \u00e9 \"quoted\" 'so'"}"#,
            r#"{"name": "x", "ratio": 0.123}"#,
            r#"{"name": "x", "name": "y"}"#,
            r#"{"name": NaN}"#,
            r#"{"name": "x""#,
            "",
        ],
    });
}

#[test]
fn unions_and_references() {
    check(&Calls {
        schema: r##"{
            "$defs": {
                "point": {"type": "object", "properties": {"x": {"type": "number"}, "y": {"type": "number"}}, "required": ["x", "y"]},
                "name": {"type": "string", "pattern": "^[a-z]+$"}
            },
            "properties": {
                "at": {"anyOf": [{"$ref": "#/$defs/point"}, {"$ref": "#/$defs/name"}, {"type": "null"}]},
                "kind": {"oneOf": [{"const": "a"}, {"enum": ["b", 3, null, [1, {"k": 2}]]}, {"type": "number", "minimum": 3}]},
                "not": {"not": {"required": ["forbidden"]}},
                "if": {"if": {"properties": {"t": {"const": 1}}}, "then": {"required": ["u"]}, "else": {"maxProperties": 2}}
            },
            "allOf": [{"minProperties": 1}, {"dependentRequired": {"at": ["kind"]}}]
        }"##,
        accepted: &[
            r#"{"at": {"x": 1, "y": 2.5}, "kind": "a"}"#,
            r#"{"at": null, "kind": [1.0, {"k": 2}]}"#,
            r#"{"kind": 4, "not": {}, "if": {"t": 1, "u": 2}}"#,
        ],
        rejected: &[
            r#"{"at": {"x": 1}, "kind": "a"}"#,
            r#"{"at": "UPPER", "kind": 3}"#,
            r#"{"at": 7, "not": {"forbidden": 1}, "if": {"t": 1}}"#,
            r#"{"if": {"a": 1, "b": 2, "c": 3}, "kind": {"no": "such"}}"#,
            "{}",
        ],
    });
}

#[test]
fn recursion_that_keeps_verdicts() {
    check(&Calls {
        schema: r##"{
            "$defs": {"n": {"anyOf": [
                {"type": "array", "items": {"$ref": "#/$defs/n"}, "maxItems": 2},
                {"type": "array", "items": {"$ref": "#/$defs/n"}, "minItems": 2},
                {"const": 1}
            ]}},
            "$ref": "#/$defs/n"
        }"##,
        accepted: &["[[[[[[1]]]]]]", "[[1, [1, 1, 1]], 1, [[]]]", "1"],
        rejected: &["[[[[[[2]]]]]]", "[[1, [1, 1, 3]], 1, [[]]]", r#"{"a": 1}"#],
    });
    check(&Calls {
        schema: r##"{
            "type": "object",
            "properties": {"value": {"type": "integer"}, "left": {"$ref": "#"}, "right": {"$ref": "#"}},
            "unevaluatedProperties": false
        }"##,
        accepted: &[r#"{"value": 1, "left": {"value": 2, "left": {}}, "right": {}}"#],
        rejected: &[r#"{"value": 1, "left": {"value": 2, "left": {"middle": 3}}, "right": {"value": "x"}}"#],
    });
}

#[test]
fn patterns() {
    check(&Calls {
        schema: r#"{
            "properties": {
                "literal": {"pattern": "^id-"},
                "class": {"pattern": "^[a-z0-9]{2,}$"},
                "pieces": {"pattern": "^\\d{4}-\\d{2}-\\d{2}$"},
                "dfa": {"pattern": "^(?:\\d{4}-\\d{2}-\\d{2}|today)$"},
                "nfa": {"pattern": "^\\p{L}{1,40}(\\p{N}|x){0,40}$"},
                "loop": {"pattern": "^(a+)+$"}
            },
            "patternProperties": {"^x-[a-z]+$": {"type": "string"}, "(\\p{Lu}|_){2,60}z": {"type": "null"}},
            "propertyNames": {"pattern": "^[A-Za-z_-]+$"}
        }"#,
        accepted: &[
            r#"{"literal": "id-7", "class": "ab9", "pieces": "2024-01-31", "dfa": "2024-01-31", "nfa": "Größe1x", "loop": "aaaa"}"#,
            r#"{"pieces": "\u0032024-01-31", "dfa": "\u0032024-01-31", "x-note": "", "A_z": null, "nfa": "\u00e9x"}"#,
        ],
        rejected: &[
            r#"{"literal": "no", "class": "A", "pieces": "2024-1-31", "dfa": "2024-1-31", "nfa": "-", "loop": "aaaa!"}"#,
            r#"{"x-note": 1, "A_z": 0, "7": 7, "pieces": "\u0032", "dfa": "\u0032"}"#,
        ],
    });
}

#[test]
fn evaluated_sets() {
    check(&Calls {
        schema: r#"{
            "properties": {"a": true},
            "anyOf": [{"properties": {"b": {"type": "integer"}}, "required": ["b"]}, {"patternProperties": {"^c": true}}],
            "if": {"required": ["d"]}, "then": {"properties": {"d": true, "e": {"items": {"type": "null"}}}},
            "unevaluatedProperties": {"type": "string", "maxLength": 2}
        }"#,
        accepted: &[r#"{"a": 1, "b": 2, "c1": 3, "d": 4, "e": [null], "z": "zz"}"#, "{}"],
        rejected: &[r#"{"a": 1, "b": "b", "e": [null], "z": "zzz", "y": 1}"#, r#"{"b": 1.5, "q": [1, 2]}"#],
    });
    check(&Calls {
        schema: r#"{
            "prefixItems": [{"type": "integer"}],
            "contains": {"type": "string"},
            "oneOf": [{"prefixItems": [true, {"type": "null"}]}, {"minItems": 5}],
            "unevaluatedItems": false
        }"#,
        accepted: &[r#"[1, null, "x", "y"]"#],
        rejected: &[r#"[1, null, "x", 2, 3, 4]"#, "[1, null, {}]", r#"["x", 7]"#],
    });
}

#[test]
fn collections() {
    check(&Calls {
        schema: r#"{
            "properties": {
                "unique": {"uniqueItems": true, "minItems": 1},
                "has": {"contains": {"type": "integer", "minimum": 5}, "minContains": 2, "maxContains": 3},
                "tuple": {"prefixItems": [{"type": "string"}, {"type": "integer"}], "items": false}
            },
            "dependentSchemas": {"tuple": {"required": ["has"]}},
            "maxProperties": 3
        }"#,
        accepted: &[
            r#"{"unique": [1, "1", [1], {"a": 1}, {"a": 2}, null, true, 2.5]}"#,
            r#"{"has": [5, 6, 1], "tuple": ["x", 1]}"#,
        ],
        rejected: &[
            r#"{"unique": [{"a": 1, "b": [2]}, 3, {"b": [2.0], "a": 1.0}]}"#,
            r#"{"unique": [], "has": [5, 6, 7, 8], "tuple": ["x", 1, 2]}"#,
            r#"{"has": [1], "tuple": [1], "c": 1, "d": 2}"#,
        ],
    });
}

#[test]
fn numbers_of_any_size() {
    check(&Calls {
        schema: r#"{"properties": {
            "big": {"type": "integer", "maximum": 123456789012345678901234567890},
            "exact": {"minimum": 9007199254740993},
            "step": {"multipleOf": 0.01},
            "long": {"enum": [0.1234567890123456789, 18446744073709551615, 1e400]}
        }}"#,
        accepted: &[
            r#"{"big": 123456789012345678901234567889, "exact": 9007199254740993, "step": 19.99, "long": 18446744073709551615}"#,
            r#"{"big": -18446744073709551616, "exact": 1e300, "step": 123456789012345678901234567890, "long": 0.12345678901234567890}"#,
        ],
        rejected: &[
            r#"{"big": 123456789012345678901234567891, "exact": 9007199254740992, "step": 0.005, "long": 18446744073709551614}"#,
            r#"{"big": 1.5, "exact": -1e5, "step": 1.001e-5, "long": 1e-400}"#,
        ],
    });
}

#[test]
fn formats_annotate() {
    check(&Calls {
        schema: r#"{"properties": {"at": {"type": "string", "format": "date-time"}, "to": {"format": "email"}}}"#,
        accepted: &[r#"{"at": "soon", "to": "\u0000"}"#],
        rejected: &[r#"{"at": 5}"#],
    });
}

#[test]
fn many_required_names() {
    let names: Vec<String> = (0..70).map(|at| format!("name{at:02}")).collect();
    let properties: Vec<String> = names.iter().map(|name| format!(r#""{name}": {{"type": "integer"}}"#)).collect();
    let required = format!("[\"{}\"]", names.join("\",\""));
    let schema = format!(r#"{{"properties": {{{}}}, "required": {required}}}"#, properties.join(","));
    let tools = catalog_of(&schema);
    let members: Vec<String> = names.iter().map(|name| format!(r#""{name}": 1"#)).collect();
    let all = format!("{{{}}}", members.join(","));
    let reversed = format!("{{{}}}", members.iter().rev().cloned().collect::<Vec<_>>().join(","));
    let one_less = format!("{{{}}}", members[1..].join(","));
    let wrong = all.replace(": 1", ": \"1\"");
    check_tool(&tools, &[&all, &reversed], &[&one_less, &wrong, "{}"]);
}

#[test]
fn deep_and_wide() {
    let tools = r##"{"tools": [{"name": "tool", "inputSchema": {
        "type": "object", "properties": {"n": {"$ref": "#/$defs/n"}},
        "$defs": {"n": {"type": ["array", "integer"], "items": {"$ref": "#/$defs/n"}, "maxItems": 2000}}
    }}]}"##;
    let nested = |inner: &str, levels: usize| format!("{{\"n\": {}{inner}{}}}", "[".repeat(levels), "]".repeat(levels));
    let wide = format!("{{\"n\": [{}1]}}", "1,".repeat(1_500));
    let failing = format!("{{\"n\": [{}\"x\"]}}", "\"x\",".repeat(1_500));
    let unvisited = format!("{{\"other\": {}0{}}}", "[".repeat(120), "]".repeat(120));
    check_tool(
        tools,
        &[&nested("1", 100), &nested("1", 200), &wide, &unvisited],
        &[&nested("null", 100), &nested("null", 200), &failing],
    );
}

/// Calls that fail in more places than they have values, or keep more than they have bytes.
#[test]
fn crowded_rejections() {
    let forbid = r#"{"additionalProperties": false}"#;
    let schema = format!(r#"{{"allOf": [{}]}}"#, [forbid; 12].join(","));
    check_tool(&catalog_of(&schema), &["{}"], &[r#"{"a":1,"b":2,"c":3,"d":4,"e":5}"#]);

    let items = r#"{"items": {"properties": {"k": {"type": "null", "enum": [0], "const": "x", "minLength": 2}}}}"#;
    let schema = format!(r#"{{"allOf": [{}]}}"#, [items; 12].join(","));
    check_tool(&catalog_of(&schema), &["[]"], &[r#"[{"k":1},{"k":""},{"k":2},{"k":3},{"k":4}]"#]);

    let numbers = format!("[{}]", ["1e15"; 100].join(","));
    check_tool(
        &catalog_of(r#"{"items": {"minimum": 0}, "maxItems": 100}"#),
        &[&numbers],
        &[&numbers.replace("[1", "[-1")],
    );
}

/// Unions inside unions at every level of a deep call, and more kept verdicts than the call has values.
#[test]
fn crowded_unions() {
    let schema = r##"{
        "$defs": {"n": {"anyOf": [{"anyOf": [{"oneOf": [{"type": "array", "items": {"$ref": "#/$defs/n"}}, {"const": 1}]}, {"const": 2}]}, {"const": 3}]}},
        "$ref": "#/$defs/n"
    }"##;
    let nested = |inner: &str| format!("{}{inner}{}", "[".repeat(120), "]".repeat(120));
    let wide = |last: &str| format!("[{}{last}]", "[1,2,3],".repeat(120));
    check_tool(&catalog_of(schema), &[&nested("1"), &wide("1")], &[&nested("7"), &wide("7")]);

    let twice = r##"{
        "$defs": {"n": {"oneOf": [
            {"type": "array", "items": {"$ref": "#/$defs/n"}, "minItems": 3},
            {"type": "array", "items": {"$ref": "#/$defs/n"}, "maxItems": 2},
            {"type": "object", "additionalProperties": {"$ref": "#/$defs/n"}, "unevaluatedProperties": false},
            {"type": "integer"}
        ]}},
        "$ref": "#/$defs/n"
    }"##;
    let wide = |last: &str| format!("[{}{last}]", r#"[1,{"a":[2,3,4],"b":[5]},3],"#.repeat(60));
    check_tool(&catalog_of(twice), &[&nested("1"), &wide("1")], &[&nested("null"), &wide("null")]);
}

/// Evaluated sets and required names at every level of a deep call.
#[test]
fn crowded_sets() {
    let names: Vec<String> = (0..70).map(|at| format!("\"n{at}\"")).collect();
    let schema = format!(
        r##"{{"properties": {{"in": {{"$ref": "#"}}}}, "anyOf": [{{"required": ["in"]}}, {{"required": [{}]}}], "unevaluatedProperties": false}}"##,
        names.join(",")
    );
    let nested = |inner: &str| format!("{}{inner}{}", "{\"in\":".repeat(110), "}".repeat(110));
    check_tool(&catalog_of(&schema), &[&nested("1")], &[&nested("{}")]);
}

/// Random schemas, and calls of which about half are accepted. Calls on which the gate declines are left out.
#[test]
fn random_calls() {
    let (mut counts, mut found) = ([0, 0], Vec::new());
    for seed in 0..1_500 {
        let mut rng = Rng::new(seed);
        let (draft, schema) = schemas::schema(&mut rng);
        let options = Options { draft, ..Options::default() };
        let (catalog, report) = Catalog::compile(catalog_of(&schema.to_string()), &options).expect("is a catalog");
        if report.refused > 0 || report.findings.iter().any(|finding| finding.kind.as_str() == "pattern_backtracks") {
            continue;
        }
        for _ in 0..2 {
            let fitting = instances::fitting(&mut rng, &schema);
            for call in [instances::changed(&mut rng, &fitting), fitting] {
                let text = call.to_string();
                let accepted = cell(&catalog, text.len(), "tool", Arguments::Value(&call)).accepted;
                counts[usize::from(accepted)] += 1;
                let cells = nonzero(&catalog, text.len(), "tool", &text);
                found.extend(cells.into_iter().map(|cell| format!("{cell} by {schema}")));
            }
        }
    }
    assert!(counts.iter().all(|count| *count > 1_000), "{counts:?} rejected and accepted");
    found.sort_by_key(String::len);
    assert!(found.is_empty(), "{} cells are not zero:\n{}", found.len(), found[..found.len().min(20)].join("\n"));
}

/// What a session takes is known before: in step with the size of calls, and not more than calls of the limit's size need,
/// whatever a host asks for.
#[test]
fn sessions_have_bounds() {
    let tools =
        catalog_of(r##"{"anyOf": [{"items": {"$ref": "#"}}, {"required": ["a"]}], "additionalProperties": false}"##);
    let mut options = Options::default();
    options.limits.call_bytes_max = 1 << 20;
    let (catalog, _) = Catalog::compile(&tools, &options).expect("is a catalog");
    let taken = |bytes: usize| measure(|| drop(black_box(catalog.session(bytes)))).bytes_max;
    let (small, large, most) = (taken(16 << 10), taken(256 << 10), taken(1 << 20));
    assert!(small < 4 << 20, "{small} bytes for calls of 16 KiB");
    assert!(large < 128 * (256 << 10), "{large} bytes for calls of 256 KiB");
    assert_eq!(taken(8 << 20), most, "calls beyond the limit are never read");
    assert_eq!(taken(usize::MAX), most);
}

/// The listed exception: look-around and back-references backtrack, and their engine allocates.
#[test]
fn only_backtracking_patterns_allocate() {
    let tools = r#"{"tools": [
        {"name": "looks", "inputSchema": {"properties": {"s": {"pattern": "^(?!-)[a-z-]+$"}}}},
        {"name": "plain", "inputSchema": {"properties": {"s": {"pattern": "^[a-z-]+$"}}}}
    ]}"#;
    let (catalog, report) = Catalog::compile(tools, &Options::default()).expect("is a catalog");
    let backtracks = |finding: &callgate::Finding| finding.kind.as_str() == "pattern_backtracks";
    let named: Vec<_> =
        report.findings.iter().filter(|finding| backtracks(finding)).map(|f| f.tool.as_deref()).collect();
    assert_eq!(named, [Some("looks")], "a finding names what is excepted");
    assert_eq!(nonzero(&catalog, 64, "plain", r#"{"s": "a-b"}"#), [""; 0]);
    let excepted = cell(&catalog, 64, "looks", Arguments::from(r#"{"s": "a-b"}"#));
    assert!(excepted.accepted);
}

/// What a process does once must not fall on a call: the first of all calls, in a process of its own.
#[test]
fn the_first_call_of_a_process() {
    if std::env::var_os(FIRST_CALL).is_some() {
        return;
    }
    let program = std::env::current_exe().expect("the test has a path");
    for form in ["text", "value"] {
        let run = std::process::Command::new(&program)
            .args(["--exact", "alloc::first_call_here", "--ignored", "--test-threads", "1"])
            .env(FIRST_CALL, form)
            .output()
            .expect("the test runs");
        let said = String::from_utf8_lossy(&run.stdout);
        assert!(run.status.success() && said.contains("1 passed"), "{form}: {said}");
    }
}

const FIRST_CALL: &str = "CALLGATE_FIRST_CALL";

#[test]
#[ignore = "run in a process of its own by the_first_call_of_a_process"]
fn first_call_here() {
    let tools = r#"{"tools": [{"name": "tool", "inputSchema": {
        "properties": {"x": {"type": "number"}, "y": {"uniqueItems": true}, "s": {"pattern": "^[é-ü]{1,3}$"}}
    }}]}"#;
    let text = r#"{"x": 1.5, "y": [1, {"a": 2.5}], "s": "é"}"#;
    let value: Value = serde_json::from_str(text).expect("is JSON");
    let (catalog, _) = Catalog::compile(tools, &Options::default()).expect("is a catalog");
    let arguments = match std::env::var(FIRST_CALL).as_deref() {
        Ok("value") => Arguments::Value(&value),
        _ => Arguments::Bytes(text.as_bytes()),
    };
    let cell = cell(&catalog, text.len(), "tool", arguments);
    assert_eq!(cell, Cell { accepted: true, ..Cell::default() });
}
