//! Bounds that hostile input once got around.

use callgate::{Catalog, FaultCode, FindingKind, Options, Outcome, Schema};

/// A reference met when the index of subschemas is full: a finding, wherever it leads.
#[test]
fn references_beyond_the_limit_on_subschemas() {
    let mut options = Options::default();
    options.limits.set("subschemas_max", 2).expect("a limit");
    for target in ["#/foo/bar", "http://json-schema.org/draft-07/schema#"] {
        let schema = format!(r#"{{"properties": {{"a": {{"$ref": "{target}"}}}}, "foo": {{"bar": {{"not": {{}}}}}}}}"#);
        let refused = Schema::compile(&schema, &options).expect_err("it is over the limit");
        assert!(refused.report.findings.iter().any(|finding| finding.kind == FindingKind::SubschemaLimit), "{target}");
        let catalog = format!(r#"[{{"name": "big", "inputSchema": {schema}}}, {{"name": "small"}}]"#);
        let (catalog, report) = Catalog::compile(catalog, &options).expect("a catalog");
        assert_eq!((report.healthy, report.refused), (1, 1));
        assert!(catalog.check(&mut catalog.session(8), "small", "{}").is_accepted());
    }
}

/// Schemas that look at a text again and again read it a bounded number of times.
#[test]
fn a_text_is_not_read_without_end() {
    let branches = |branch: fn(usize) -> String| (0..2_000).map(branch).collect::<Vec<_>>().join(",");
    let schemas = [
        format!(r#"{{"anyOf": [{}]}}"#, branches(|at| format!(r#"{{"required": ["k{at}"]}}"#))),
        format!(r#"{{"dependentRequired": {{{}}}, "minProperties": 9}}"#, branches(|at| format!(r#""k{at}": ["b"]"#))),
        format!(
            r#"{{"properties": {{"big": {{"anyOf": [{}]}}}}}}"#,
            branches(|at| format!(r#"{{"minItems": {}}}"#, 9_000_000 + at))
        ),
    ];
    let call = format!(r#"{{"big": [{}1], "z": 1}}"#, "1,".repeat(1_000_000));
    for schema in schemas {
        let (compiled, _) = Schema::compile(&schema, &Options::default()).expect("it compiles");
        let mut session = compiled.session(1 << 10);
        let outcome = compiled.check(&mut session, call.as_str());
        let bounded = matches!(&outcome, Outcome::Rejected(_))
            || matches!(&outcome, Outcome::Fault(fault) if fault.code == FaultCode::Fuel);
        assert!(bounded, "{outcome:.80?}");
    }
}

/// Evaluated sets that are kept count against the limit on what is kept.
#[test]
fn kept_sets_take_no_more_than_is_kept() {
    let references: Vec<String> = (0..2_000).map(|at| format!(r##"{{"$ref": "#/$defs/d{}"}}"##, at / 2)).collect();
    let definitions: Vec<String> = (0..1_000).map(|at| format!(r#""d{at}": {{"type": "array"}}"#)).collect();
    let schema = format!(
        r#"{{"allOf": [{}], "unevaluatedItems": {{}}, "$defs": {{{}}}}}"#,
        references.join(","),
        definitions.join(",")
    );
    let mut options = Options::default();
    options.limits.set("call_memo_max", 10_000).expect("a limit");
    let (compiled, _) = Schema::compile(&schema, &options).expect("it compiles");
    let call = format!("[{}1]", "1,".repeat(100_000));
    let mut session = compiled.session(64);
    let outcome = compiled.check(&mut session, call.as_str());
    assert!(matches!(&outcome, Outcome::Fault(fault) if fault.code == FaultCode::Memo), "{outcome:.80?}");
}

/// Depth counts the same for comparing and for looking.
#[test]
fn equality_goes_as_deep_as_allowed() {
    let mut options = Options::default();
    options.limits.set("call_depth_max", 2).expect("a limit");
    let (schema, _) = Schema::compile(r#"{"const": [[1]]}"#, &options).expect("it compiles");
    let mut session = schema.session(64);
    assert!(schema.check(&mut session, "[[1]]").is_accepted());
    let deep: serde_json::Value = serde_json::from_str("[[[1]]]").expect("JSON");
    let outcome = schema.check(&mut session, &deep);
    assert!(!outcome.is_accepted(), "{outcome:?}");
}

/// Blocks nest on the thread's stack up to a bound, whatever the call: a thread of a quarter MiB is enough, for every
/// kind of applicator that nests.
#[test]
fn deep_calls_fit_a_small_thread() {
    let schemas = [
        r##"{"$id": "u:a", "properties": {"a": {"$ref": "#"}}, "additionalProperties": false}"##,
        r##"{"$id": "u:b", "type": "object", "properties": {"a": {"type": ["object", "null"], "allOf": [{"$ref": "#"}]}}}"##,
        r##"{"$id": "u:c", "properties": {"a": {"anyOf": [{"type": "null"}, {"not": {"not": {"$ref": "#"}}}]}}, "required": []}"##,
        r##"{"$id": "u:d", "patternProperties": {"^a": {"oneOf": [{"$ref": "#"}, {"type": "null"}]}}}"##,
        r##"{"$id": "u:e", "additionalProperties": {"if": {"type": "object"}, "then": {"$ref": "#"}}}"##,
    ];
    let call = |bottom: &str| format!("{}{bottom}{}", "{\"a\":".repeat(120), "}".repeat(120));
    let calls = [call("{}"), call("{\"b\":{\"c\":1}}"), call("[1]")];
    let run = move || {
        for schema in schemas {
            let (schema, _) = Schema::compile(schema, &Options::default()).expect("compiles");
            let mut session = schema.session(4_096);
            for text in &calls {
                let value: serde_json::Value = serde_json::from_str(text).expect("JSON");
                let bytes = schema.check(&mut session, text.as_str()).is_accepted();
                assert_eq!(schema.check(&mut session, &value).is_accepted(), bytes, "{text}");
            }
        }
    };
    let small = std::thread::Builder::new().stack_size(256 << 10).spawn(run).expect("a thread");
    assert!(small.join().is_ok());
}
