//! What the adopting systems must see: the rows of their tables, with the texts.

use callgate::{Catalog, FindingKind, Limits, Options, Outcome, Policy, SchemaRole, Step};
use serde_json::json;

/// A tool in the style of a registry that checks calls before they are dispatched.
const BACKTEST: &str = r##"[{"name": "run_backtest", "inputSchema": {
    "type": "object",
    "properties": {
        "max_drawdown_pct": {"type": "number", "exclusiveMinimum": 0, "description": "Never negative."},
        "seed": {"anyOf": [{"type": "integer", "minimum": 0}, {"type": "null"}], "description": "Omit for random."},
        "nested": {"anyOf": [{"$ref": "#/$defs/Nested"}, {"type": "null"}], "description": "Optional nesting."},
        "direct": {"$ref": "#/$defs/Nested"},
        "tags": {"type": "array", "items": {"type": "string", "description": "one tag"}},
        "one": {"oneOf": [{"type": "integer"}, {"type": "number"}]}
    },
    "required": ["max_drawdown_pct"],
    "$defs": {"Nested": {
        "type": "object",
        "properties": {"depth": {"type": "integer", "minimum": 1, "description": "Depth."}},
        "required": ["depth"],
        "description": "Nested model."
    }}
}}]"##;

/// Both from bytes and from a parsed value.
#[track_caller]
fn check(arguments: &str, expected: &str) {
    let (catalog, report) = Catalog::compile(BACKTEST, &Options::default()).expect("a catalog");
    assert_eq!(report.findings, []);
    let mut session = catalog.session(1024);
    let text = outcome(&catalog.check(&mut session, "run_backtest", arguments));
    assert_eq!(text, expected);
    let value: serde_json::Value = serde_json::from_str(arguments).expect("JSON");
    assert_eq!(outcome(&catalog.check(&mut session, "run_backtest", &value)), expected);
}

fn outcome(outcome: &Outcome<'_>) -> String {
    match outcome {
        Outcome::Accepted(_) => "ok".to_owned(),
        Outcome::Rejected(rejection) => rejection.to_string(),
        Outcome::Fault(fault) => format!("fault: {}", fault.code.as_str()),
        Outcome::UnknownTool => "unknown tool".to_owned(),
        Outcome::NotCompiled => "not compiled".to_owned(),
    }
}

#[test]
fn j1_scalar() {
    check(
        r#"{"max_drawdown_pct": -30}"#,
        "schema: -30 is less than or equal to the minimum of 0 at max_drawdown_pct — Never negative.",
    );
}

#[test]
fn j2_optional() {
    check(
        r#"{"max_drawdown_pct": 10, "seed": -1}"#,
        "schema: -1 is less than the minimum of 0 at seed — Omit for random.",
    );
}

#[test]
fn j3_nested() {
    check(
        r#"{"max_drawdown_pct": 10, "nested": {"depth": 0}}"#,
        "schema: 0 is less than the minimum of 1 at nested — Optional nesting.",
    );
}

#[test]
fn j4_missing() {
    check("{}", "schema: 'max_drawdown_pct' is a required property");
}

#[test]
fn j5_wrong_type() {
    check(
        r#"{"max_drawdown_pct": "thirty"}"#,
        "schema: 'thirty' is not of type 'number' at max_drawdown_pct — Never negative.",
    );
}

#[test]
fn j6_behind_a_reference() {
    check(
        r#"{"max_drawdown_pct": 1, "direct": {"depth": 0}}"#,
        "schema: 0 is less than the minimum of 1 at direct/depth — Depth.",
    );
    check(
        r#"{"max_drawdown_pct": 1, "direct": {}}"#,
        "schema: 'depth' is a required property at direct — Nested model.",
    );
}

#[test]
fn j7_an_element() {
    check(r#"{"max_drawdown_pct": 1, "tags": ["a", 1]}"#, "schema: 1 is not of type 'string' at tags/1 — one tag");
}

#[test]
fn j10_one_of_matched_twice() {
    check(
        r#"{"max_drawdown_pct": 1, "one": 1}"#,
        "schema: 1 is valid under each of {'type': 'number'}, {'type': 'integer'} at one",
    );
}

#[test]
fn j11_no_branch_is_nearest() {
    check(
        r#"{"max_drawdown_pct": 1, "seed": "x"}"#,
        "schema: 'x' is not valid under any of the given schemas at seed — Omit for random.",
    );
}

#[test]
fn j14_arguments_are_untouched() {
    let (catalog, _) = Catalog::compile(BACKTEST, &Options::default()).expect("a catalog");
    let mut session = catalog.session(1024);
    let arguments = json!({"max_drawdown_pct": 1, "seed": null, "extra": [1.0]});
    let before = arguments.clone();
    assert!(catalog.check(&mut session, "run_backtest", &arguments).is_accepted());
    assert_eq!(arguments, before);
}

#[test]
fn j16_a_tool_that_does_not_compile_costs_no_other() {
    let tools = r##"[
        {"name": "bad", "inputSchema": {"type": "object", "properties": {"a": {"$ref": "#/nowhere"}}}},
        {"name": "good", "inputSchema": {"type": "object"}}
    ]"##;
    let (catalog, report) = Catalog::compile(tools, &Options::default()).expect("a catalog");
    assert_eq!((report.tools, report.healthy, report.flagged, report.refused), (2, 1, 0, 1));
    assert_eq!(report.findings[0].kind, FindingKind::RefUnresolved);
    assert_eq!(report.findings[0].pointer, "/properties/a/$ref");
    let mut session = catalog.session(1024);
    assert_eq!(outcome(&catalog.check(&mut session, "bad", "{}")), "not compiled");
    assert_eq!(outcome(&catalog.check(&mut session, "good", "{}")), "ok");
}

#[test]
fn j17_an_unknown_tool_is_known_before_anything_is_read() {
    let (catalog, _) = Catalog::compile(BACKTEST, &Options::default()).expect("a catalog");
    let mut session = catalog.session(1024);
    assert_eq!(outcome(&catalog.check(&mut session, "run_backtests", "not JSON")), "unknown tool");
}

// --- 4. a gateway in front of untrusted servers -------------------------------------------------------------------

/// The findings of a catalog whose one tool has that schema, one line each.
#[track_caller]
fn check_schema(schema: &str, expected: &[&str]) {
    check_catalog(&format!(r#"{{"tools": [{{"name": "t", "inputSchema": {schema}}}]}}"#), expected);
}

#[track_caller]
fn check_catalog(catalog: &str, expected: &[&str]) {
    let (_, report) = Catalog::compile(catalog, &Options::default()).expect("a catalog");
    let lines: Vec<String> = report.findings.iter().map(ToString::to_string).collect();
    assert_eq!(lines, expected, "{catalog}");
}

#[test]
fn c1_no_schema_or_an_empty_one() {
    check_catalog(r#"{"tools": [{"name": "t"}]}"#, &[]);
    check_schema("{}", &[]);
}

#[test]
fn c2_a_misspelt_type() {
    let said = "'strnig' is not valid under any of the given schemas; did you mean \"string\"?";
    check_schema(r#"{"type": "strnig"}"#, &[&format!("error[not_well_formed] t at /type: {said}")]);
    check_schema(
        r#"{"properties": {"a": {"items": {"type": "strnig"}}}}"#,
        &[&format!("error[not_well_formed] t at /properties/a/items/type: {said}")],
    );
}

/// So many objects, one in the other's `properties`; the innermost has none.
fn nested(levels: usize) -> String {
    let open = r#"{"type": "object", "properties": {"a": "#.repeat(levels);
    format!(r#"{open}{{"type": "object", "properties": {{}}}}{}"#, "}}".repeat(levels))
}

#[test]
fn c3_depth() {
    check_schema(&nested(20), &["warning[depth_exceeded] t: depth 41 > 32"]);
    check_schema(&nested(15), &[]);
}

#[test]
fn c4_properties() {
    let many = |len: usize| (0..len).map(|at| format!(r#""p{at}": {{}}"#)).collect::<Vec<_>>().join(", ");
    check_schema(
        &format!(r#"{{"properties": {{{}}}}}"#, many(600)),
        &["warning[properties_exceeded] t: 600 properties > 512"],
    );
    for data in ["enum", "examples"] {
        check_schema(&format!(r#"{{"{data}": [{{"properties": {{{}}}}}]}}"#, many(600)), &[]);
    }
    for data in ["const", "default"] {
        check_schema(&format!(r#"{{"{data}": {{"properties": {{{}}}}}}}"#, many(600)), &[]);
    }
}

#[test]
fn c5_size() {
    let schema = format!(r#"{{ "type" : "object", "description": "{}" }}"#, "x".repeat(70_000));
    check_schema(&schema, &["warning[size_exceeded] t: 70034 bytes > 65536"]);
    // What is not ASCII counts escaped.
    let schema = format!(r#"{{"description": "{}"}}"#, "é".repeat(11_000));
    check_schema(&schema, &["warning[size_exceeded] t: 66018 bytes > 65536"]);
}

#[test]
fn c6_order() {
    let many: Vec<String> = (0..600).map(|at| format!(r#""p{at}": {{}}"#)).collect();
    let bad = format!(
        r#"{{"description": "{}", "properties": {{"deep": {}, {}}}, "type": "strnig"}}"#,
        "x".repeat(70_000),
        nested(20),
        many.join(", ")
    );
    let (_, report) = Catalog::compile(
        format!(r#"[{{"name": "t", "inputSchema": {bad}, "outputSchema": {bad}}}]"#),
        &Options::default(),
    )
    .expect("a catalog");
    let order: Vec<_> = report.findings.iter().map(|finding| (finding.schema, finding.kind.as_str())).collect();
    let of =
        |role| ["size_exceeded", "depth_exceeded", "properties_exceeded", "not_well_formed"].map(|kind| (role, kind));
    assert_eq!(order, [of(SchemaRole::Input), of(SchemaRole::Output)].concat());
}

#[test]
fn c7_patterns_are_ecma_262() {
    // Python reads `(?P<a>b)` and knows no `\p{L}`.
    check_schema(r#"{"properties": {"a": {"pattern": "^\\p{L}+$"}}}"#, &[]);
    let (_, report) = Catalog::compile(
        r#"[{"name": "t", "inputSchema": {"properties": {"a": {"pattern": "(?P<a>b)"}}}}]"#,
        &Options::default(),
    )
    .expect("a catalog");
    assert_eq!(report.findings[0].kind, FindingKind::PatternInvalid);
    assert_eq!(report.findings[0].pointer, "/properties/a/pattern");
}

#[test]
fn c8_schemas_of_the_wrong_kind_cost_no_other() {
    check_catalog(
        r#"[
            {"name": "a", "inputSchema": {"properties": ["a"]}},
            {"name": "b", "inputSchema": [1]},
            {"name": "c", "inputSchema": {"type": "object"}}
        ]"#,
        &[
            "error[not_well_formed] a at /properties: ['a'] is not of type 'object'",
            "error[not_well_formed] b: a schema is an object or a boolean",
        ],
    );
}

#[test]
fn c9_many_levels() {
    check_schema(&nested(300), &["warning[depth_exceeded] t: depth 601 > 32"]);
    check_schema(&nested(5_000), &["error[depth_limit] t: depth 10001 > 1024"]);
    check_schema(&nested(50_000), &["error[depth_limit] t: depth 100001 > 1024"]);
}

#[test]
fn c10_c11_c12_references() {
    check_schema(
        r##"{"properties": {"a": {"$ref": "#/$defs/b"}}}"##,
        &["error[ref_unresolved] t at /properties/a/$ref: #/$defs/b points to nothing"],
    );
    check_schema(
        r##"{"properties": {"a": {"$ref": "#/properties/a"}}}"##,
        &[
            "error[ref_cycle] t at /properties/a/$ref: the reference comes back to itself without looking into the instance",
        ],
    );
    check_schema(
        r#"{"properties": {"a": {"$ref": "https://example.com/a.json"}}}"#,
        &[
            "error[ref_remote] t at /properties/a/$ref: https://example.com/a.json is not registered, and nothing is fetched",
        ],
    );
}

#[test]
fn c13_contradictions_and_other_flavours() {
    check_schema(
        r#"{"properties": {"a": {"minimum": 5, "maximum": 1}}}"#,
        &["warning[contradiction] t at /properties/a/minimum: no number satisfies both minimum 5 and maximum 1"],
    );
    check_schema(
        r#"{"properties": {"a": {}}, "required": ["b"], "additionalProperties": false}"#,
        &[
            "warning[contradiction] t at /required/0: 'b' is required, but it is no property, and no others may stand there",
        ],
    );
    check_schema(
        r#"{"properties": {"a": {"type": "string", "nullable": true}}}"#,
        &[
            "warning[foreign_keyword] t at /properties/a/nullable: `nullable` is OpenAPI 3.0's, and says nothing here; say \"type\": [TYPE, \"null\"]",
        ],
    );
}

#[test]
fn c14_dialects() {
    let gemini = r#"{"type": "OBJECT", "properties": {"a": {"type": "STRING"}}}"#;
    check_catalog(&format!(r#"{{"functionDeclarations": [{{"name": "t", "parameters": {gemini}}}]}}"#), &[]);
    check_schema(
        gemini,
        &[
            "error[not_well_formed] t at /type: 'OBJECT' is not valid under any of the given schemas; did you mean \"object\"? OBJECT is how Gemini spells it: read the catalog as gemini",
            "error[not_well_formed] t at /properties/a/type: 'STRING' is not valid under any of the given schemas; did you mean \"string\"? STRING is how Gemini spells it: read the catalog as gemini",
        ],
    );
    let hint = |schema: &str| {
        let catalog = format!(r#"[{{"name": "t", "inputSchema": {schema}}}]"#);
        let (_, report) = Catalog::compile(catalog, &Options::default()).expect("a catalog");
        let finding = report.findings.into_iter().find(|finding| finding.kind == FindingKind::NotWellFormed);
        let finding = finding.expect("a finding");
        (finding.pointer, finding.hint.expect("a hint"))
    };
    let (pointer, said) = hint(r#"{"properties": {"a": {"type": "string", "required": true}}}"#);
    assert_eq!(pointer, "/properties/a/required");
    assert!(said.starts_with("a boolean here is draft 3's"), "{said}");
    let (pointer, said) = hint(r#"{"properties": {"a": {"type": "array", "items": [{"type": "string"}]}}}"#);
    assert_eq!(pointer, "/properties/a/items");
    assert!(said.starts_with("a list here is draft 2019-09's and older"), "{said}");
}

#[test]
fn c15_c16_entries() {
    check_catalog(
        r#"[3, {"description": "x"}, {"name": "a"}, {"name": "a", "inputSchema": {"type": "array"}}]"#,
        &[
            "error[not_a_tool] at /0: a tool is an object",
            "error[not_a_tool] at /1: the tool has no name",
            "error[duplicate_tool] a at /3: the catalog has a tool of that name already; the first is kept",
        ],
    );
}

#[test]
fn c18_c19_policies() {
    let tools = r#"[
        {"name": "a", "inputSchema": {"type": "strnig"}},
        {"name": "b", "inputSchema": {"type": "array"}},
        {"name": "c"}
    ]"#;
    let with = |policy| Options { policy, ..Options::default() };
    let refused = Catalog::compile(tools, &with(Policy::Strict)).expect_err("two errors");
    assert_eq!(
        refused.to_string(),
        "error[not_well_formed] a at /type: 'strnig' is not valid under any of the given schemas; did you mean \"string\"?\n\
         error[root_not_object] b at /type: the type excludes objects, and arguments are an object"
    );
    let codes = |policy| {
        let (catalog, _) = Catalog::compile(tools, &with(policy)).expect("a catalog");
        let mut session = catalog.session(64);
        ["a", "b", "c"].map(|tool| catalog.check(&mut session, tool, "{}").code())
    };
    assert_eq!(codes(Policy::Flag), ["SCHEMA_INVALID", "ARGS_INVALID", "OK"]);
    assert_eq!(codes(Policy::Quarantine), ["SCHEMA_INVALID", "SCHEMA_INVALID", "OK"]);
}

/// A tool of a server, of which a gateway sees the calls.
const ISSUES: &str = r#"[{"name": "get_issue", "inputSchema": {
    "type": "object", "properties": {"issue_id": {"type": "integer"}}, "required": ["issue_id"]
}}]"#;

#[test]
fn c20_c21_codes_messages_and_paths() {
    let (catalog, _) = Catalog::compile(ISSUES, &Options::default()).expect("a catalog");
    let mut session = catalog.session(64);
    for (arguments, message, path) in [
        ("{}", "'issue_id' is a required property", vec![]),
        (r#"{"issue_id": "42"}"#, "'42' is not of type 'integer'", vec![Step::Name("issue_id".to_owned())]),
    ] {
        let value: serde_json::Value = serde_json::from_str(arguments).expect("JSON");
        for arguments in [callgate::Arguments::from(arguments), callgate::Arguments::from(&value)] {
            let outcome = catalog.check(&mut session, "get_issue", arguments);
            assert_eq!(outcome.code(), "ARGS_INVALID");
            let Outcome::Rejected(rejection) = outcome else { panic!("it is wrong") };
            assert_eq!((rejection.message(), rejection.path()), (message.to_owned(), path.clone()));
        }
    }
}

#[test]
fn c25_a_long_value_is_cut_at_the_output_limit() {
    let (catalog, _) = Catalog::compile(ISSUES, &Options::default()).expect("a catalog");
    let mut session = catalog.session(1 << 17);
    let value = "4".repeat(100_000);
    let whole = format!("schema: '{value}' is not of type 'integer' at issue_id");
    let limit = Limits::default().text_bytes_max as usize;
    let expected = format!("{}… ({} bytes more)", &whole[..limit], whole.len() - limit);
    let arguments = format!(r#"{{"issue_id": "{value}"}}"#);
    assert_eq!(outcome(&catalog.check(&mut session, "get_issue", arguments.as_str())), expected);
}

#[test]
fn c26_nesting_through_a_recursive_reference() {
    let tools = r##"[{"name": "t", "inputSchema": {
        "type": "object", "properties": {"child": {"$ref": "#"}}, "additionalProperties": false
    }}]"##;
    let (catalog, _) = Catalog::compile(tools, &Options::default()).expect("a catalog");
    let mut session = catalog.session(1 << 14);
    let nested = |levels: usize| format!("{}{{}}{}", r#"{"child":"#.repeat(levels), "}".repeat(levels));
    let (within, beyond) = (nested(255), nested(400));
    assert_eq!(outcome(&catalog.check(&mut session, "t", within.as_str())), "ok");
    assert_eq!(outcome(&catalog.check(&mut session, "t", beyond.as_str())), "fault: depth");
}

#[test]
fn c27_a_pattern_that_explodes_elsewhere() {
    let tools = r#"[{"name": "t", "inputSchema": {"type": "object", "properties": {"a": {"pattern": "^(a+)+$"}}}}]"#;
    let (catalog, _) = Catalog::compile(tools, &Options::default()).expect("a catalog");
    let mut session = catalog.session(1024);
    let arguments = format!(r#"{{"a": "{}!"}}"#, "a".repeat(26));
    assert_eq!(
        outcome(&catalog.check(&mut session, "t", arguments.as_str())),
        format!("schema: '{}!' does not match '^(a+)+$' at a", "a".repeat(26)),
    );
}

#[test]
fn a_tool_that_arrives_later() {
    let (mut catalog, _) = Catalog::compile(BACKTEST, &Options::default()).expect("a catalog");
    let later = r#"{"name": "later", "inputSchema": {"type": "object", "required": ["x"]}}"#;
    let report = catalog.upsert(later, &Options::default()).expect("a tool");
    assert_eq!((report.tools, report.healthy), (1, 1));
    let mut session = catalog.session(1024);
    assert_eq!(outcome(&catalog.check(&mut session, "later", "{}")), "schema: 'x' is a required property");
    assert_eq!(catalog.tools().count(), 2);
    let changed = r#"{"name": "later", "inputSchema": {"type": "object"}}"#;
    catalog.upsert(changed, &Options::default()).expect("a tool");
    assert_eq!(outcome(&catalog.check(&mut session, "later", "{}")), "ok");
}

#[test]
fn text_that_is_not_json_is_said_to_be_so() {
    let (catalog, _) = Catalog::compile(BACKTEST, &Options::default()).expect("a catalog");
    let mut session = catalog.session(1024);
    let mut say = |bytes: &[u8]| outcome(&catalog.check(&mut session, "run_backtest", bytes));
    assert_eq!(say(b""), "schema: arguments are not valid JSON: no value at byte 0");
    assert_eq!(say(b"{\"a\": 1"), "schema: arguments are not valid JSON: the text ends too early at byte 7");
    assert_eq!(say(b"{\"a\": NaN}"), "schema: arguments are not valid JSON: NaN and Infinity are not JSON at byte 6");
    assert_eq!(say(b"{} {}"), "schema: arguments are not valid JSON: text after the value at byte 3");
    assert_eq!(
        say(br#"{"max_drawdown_pct": 1, "max_drawdown_pct": 2}"#),
        "schema: arguments are not valid JSON: duplicate member name at byte 24"
    );
    assert_eq!(
        say(br#"{"max_drawdown_pct": 1, "x": "\ud800"}"#),
        "schema: arguments are not valid JSON: lone surrogate at byte 30"
    );
    assert_eq!(say(b"\xef\xbb\xbf{}"), "schema: arguments are not valid JSON: byte order mark at byte 0");
    assert_eq!(say(b"{\"a\": \"\xff\"}"), "schema: arguments are not valid JSON: invalid UTF-8 at byte 7");
}

#[test]
fn a_catalog_and_a_session_can_cross_threads() {
    fn shared<T: Send + Sync>() {}
    fn sent<T: Send>() {}
    shared::<Catalog>();
    sent::<callgate::Session>();
}
