//! Schemas and calls that are made to cost much: a right verdict within the limits, or a refusal with the right code.
//!
//! Each case runs under a clock and an account of memory. The clock is generous, and only there so that a hang is a
//! failure; the account is what the counting allocator saw at most at one time.

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use allocation_counter::measure;
use callgate::{Catalog, Options, Outcome, Schema, Session, UnknownParameters};
use serde_json::Value;

use crate::verdict::{Verdict, start_of};

const TIME_MAX: Duration = Duration::from_secs(60);

/// At one time, the inputs of the case left out. A buffer that grows counts twice for a moment.
const BYTES_MAX: u64 = 512 << 20;

/// What must come out.
enum Expected<'e> {
    Accepted,
    /// The whole line.
    Line(&'e str),
    /// How a line starts that is cut or very long.
    LineStart(&'e str),
    Fault(&'static str),
    /// The kind of a finding that keeps the schema from compiling.
    Finding(&'static str),
}

use Expected::{Accepted, Fault, Finding, Line, LineStart};

/// Compiles, makes a session for the call, checks, and writes the line.
#[track_caller]
fn check(name: &str, schema: &str, call: &str, expected: &Expected<'_>) {
    check_with(name, schema, &Options::default(), call, expected, BYTES_MAX);
}

/// As [`check`], under options, within so many bytes.
#[track_caller]
fn check_with(name: &str, schema: &str, options: &Options, call: &str, expected: &Expected<'_>, bytes_max: u64) {
    let mut answer = Err(Vec::new());
    let start = Instant::now();
    let spent = measure(|| answer = answer_of(schema, options, call)).bytes_max;
    report(name, start.elapsed(), spent);
    let shown = answer.as_ref().map(|verdict| start_of(&format!("{verdict:?}")));
    let fits = match (&answer, expected) {
        (Ok(verdict), Accepted) => verdict.is_accepted(),
        (Ok(verdict), Line(line)) => verdict.line() == *line,
        (Ok(verdict), LineStart(start)) => verdict.line().starts_with(start),
        (Ok(verdict), Fault(code)) => *verdict == Verdict::Fault(code),
        (Err(kinds), Finding(kind)) => kinds.contains(kind),
        _ => false,
    };
    assert!(fits, "{name}: {shown:?}");
    assert!(start.elapsed() < TIME_MAX, "{name}: {:?}", start.elapsed());
    assert!(spent < bytes_max, "{name}: {spent} bytes at one time");
}

fn answer_of(schema: &str, options: &Options, call: &str) -> Result<Verdict, Vec<&'static str>> {
    match Schema::compile(schema, options) {
        Ok((schema, _)) => {
            // What a session made for large calls takes is a matter of its own.
            let mut session = schema.session(call.len().min(64 << 10));
            Ok(schema.check(&mut session, call).into())
        }
        Err(refused) => Err(refused.report.findings.iter().map(|finding| finding.kind.as_str()).collect()),
    }
}

#[allow(clippy::print_stdout)]
fn report(name: &str, time: Duration, bytes: u64) {
    println!("{:>8.1} ms {:>8} kB  {name}", time.as_secs_f64() * 1e3, bytes / 1_000);
}

/// `open` so many times, `inside`, `close` as many times.
fn nested(open: &str, inside: &str, close: &str, levels: usize) -> String {
    format!("{}{inside}{}", open.repeat(levels), close.repeat(levels))
}

/// Numbered texts, joined by commas.
fn listed(len: usize, text: impl Fn(usize) -> String) -> String {
    (0..len).map(text).collect::<Vec<_>>().join(",")
}

// --- answered within the limits -----------------------------------------------------------------------------------

/// Two arms that each go down: exponential in the depth unless verdicts are kept.
#[test]
fn arms_that_meet_again() {
    let schema = |second: &str| {
        format!(
            r##"{{"$defs": {{"n": {{"anyOf": [
                {{"type": "array", "items": {{"$ref": "#/$defs/n"}}, "maxItems": 5}},
                {{"type": "array", "items": {{"$ref": "#/$defs/n"}}, {second}}},
                {{"const": 1}}
            ]}}}}, "$ref": "#/$defs/n"}}"##
        )
    };
    let call = |inside: &str| nested("[", inside, "]", 30);
    check("two arms, valid", &schema(r#""minItems": 0"#), &call("1"), &Accepted);
    let line = format!("schema: {} is not valid under any of the given schemas", call("2"));
    check("two arms, failing inside", &schema(r#""minItems": 0"#), &call("2"), &Line(&line));
    let wide = call("1,1,1,1,1,1");
    let line = format!("schema: {} is not valid under any of the given schemas", call("1, 1, 1, 1, 1, 1"));
    check("two arms, failing in both", &schema(r#""maxItems": 4"#), &wide, &Line(&line));
    let one_of = schema(r#""minItems": 6"#).replace("anyOf", "oneOf");
    check("two arms, one of them", &one_of, &call("1,1,1"), &Accepted);
    check("two arms, one of them, wide", &one_of, &wide, &Accepted);
}

#[test]
fn doubled_again_and_again() {
    for (keyword, both) in [("allOf", true), ("anyOf", false)] {
        let definitions = listed(40, |at| {
            let below = format!(r##"{{"$ref": "#/$defs/d{}"}}"##, at + 1);
            format!(r#""d{at}": {{"{keyword}": [{below}, {below}]}}"#)
        });
        let schema = format!(r##"{{"$ref": "#/$defs/d0", "$defs": {{{definitions}, "d40": {{"type": "integer"}}}}}}"##);
        check(&format!("{keyword} doubled, valid"), &schema, "1", &Accepted);
        let line = if both {
            "schema: 'x' is not of type 'integer'"
        } else {
            "schema: 'x' is not valid under any of the given schemas"
        };
        check(&format!("{keyword} doubled, failing"), &schema, r#""x""#, &Line(line));
    }
}

#[test]
fn a_pattern_that_would_backtrack() {
    let call = format!("\"{}!\"", "a".repeat(40));
    let line = format!("schema: '{}!' does not match '^(a+)+$'", "a".repeat(40));
    check("(a+)+", r#"{"pattern": "^(a+)+$"}"#, &call, &Line(&line));
    let long = format!("\"{}!\"", "a".repeat(1_000_000));
    check("(a+)+ on a million", r#"{"pattern": "^(a+)+$"}"#, &long, &LineStart("schema: 'aaaa"));
    let look = r#"{"pattern": "^(?=(a+)+$).*$"}"#;
    check("(a+)+ behind a look-ahead", look, &call, &LineStart("schema: 'aaaa"));
    let around = r#"{"pattern": "^(?:(a|aa)(?!x))+$"}"#;
    check("(a|aa)+ that must look ahead", around, &call, &Fault("backtracking"));
}

#[test]
fn unique_among_many() {
    let objects =
        |last: usize| listed(20_000, |at| format!(r#"{{"id": {}, "x": [1]}}"#, if at == 19_999 { last } else { at }));
    check("20,000 unique objects", r#"{"uniqueItems": true}"#, &format!("[{}]", objects(19_999)), &Accepted);
    let one = format!("[{}]", objects(7));
    check(
        "20,000 objects, two equal",
        r#"{"uniqueItems": true}"#,
        &one,
        &LineStart("schema: [{'id': 0, 'x': [1]}, {'id': 1,"),
    );
    let spelled = format!("[{}]", listed(20_000, |at| format!("{at}.0, {}", at + 20_000)));
    check("40,000 unique numbers", r#"{"uniqueItems": true}"#, &spelled, &Accepted);
    let strings = format!("[{}]", listed(20_000, |at| format!("\"\\u0041{at}\"")));
    check("20,000 unique strings", r#"{"uniqueItems": true}"#, &strings, &Accepted);
}

#[test]
fn enumerations_of_many() {
    type Values = (&'static str, fn(usize) -> String);
    let values: [Values; 3] = [
        ("strings", |at| format!("\"value {at}\"")),
        ("numbers", |at| format!("{at}.5")),
        ("objects", |at| format!(r#"{{"at": {at}}}"#)),
    ];
    for (name, value) in values {
        let schema = format!(r#"{{"enum": [{}]}}"#, listed(10_000, value));
        check(&format!("enum of 10,000 {name}, the last"), &schema, &value(9_999), &Accepted);
        let shown = value(10_000).replace('"', "'");
        check(
            &format!("enum of 10,000 {name}, none"),
            &schema,
            &value(10_000),
            &LineStart(&format!("schema: {shown} is not one of [")),
        );
    }
    let schema = format!(r#"{{"items": {{"enum": [{}]}}}}"#, listed(10_000, values[2].1));
    let call = format!("[{}]", listed(200, values[2].1));
    check("200 among 10,000 objects", &schema, &call, &Accepted);
    let schema = format!(r#"{{"enum": [{}]}}"#, listed(100_000, values[0].1));
    check("enum of 100,000 strings", &schema, r#""value 99999""#, &Accepted);
}

#[test]
fn members_by_the_thousand() {
    let members = |len: usize| format!("{{{}}}", listed(len, |at| format!("\"key{at}\": {at}")));
    check("20,000 members", "{}", &members(20_000), &Accepted);
    let twice = members(20_000).replace("\"key19999\"", "\"key7\"");
    check(
        "20,000 members, two alike",
        "{}",
        &twice,
        &LineStart("schema: arguments are not valid JSON: duplicate member name at byte "),
    );
    let forbidden = r#"{"additionalProperties": false}"#;
    check(
        "20,000 forbidden",
        forbidden,
        &members(20_000),
        &LineStart("schema: Additional properties are not allowed ('key0', "),
    );
    let schema = format!(
        r#"{{"properties": {{{}}}, "required": [{}]}}"#,
        listed(20_000, |at| format!("\"key{}\": {{\"type\": \"integer\"}}", 19_999 - at)),
        listed(20_000, |at| format!("\"key{at}\""))
    );
    check("20,000 properties", &schema, &members(20_000), &Accepted);
    check("20,000 properties, none there", &schema, "{}", &Line("schema: 'key0' is a required property"));
    let patterns = format!(r#"{{"patternProperties": {{{}}}}}"#, listed(100, |at| format!("\"{at}$\": true")));
    check("100 patterns on 5,000 members", &patterns, &members(5_000), &Accepted);
    let needs =
        format!(r#"{{"dependentRequired": {{{}}}}}"#, listed(400, |at| format!("\"key{at}\": [\"key{}\"]", at + 1)));
    check("400 dependencies on 5,000 members", &needs, &members(5_000), &Accepted);
}

#[test]
fn texts_and_failures_by_the_million() {
    let string = format!("\"{}\"", "é".repeat(7_000_000));
    check("a string of 14 MB", r#"{"maxLength": 7000000, "pattern": "^é+$"}"#, &string, &Accepted);
    let many = format!("[{}1]", "1,".repeat(2_000_000));
    check(
        "2,000,001 failures",
        r#"{"items": {"type": "string"}}"#,
        &many,
        &Line("schema: 1 is not of type 'string' at 2000000"),
    );
    check("spaces", "{}", &format!("{}1{}", " ".repeat(8 << 20), "\n".repeat(7 << 20)), &Accepted);
    let branches = format!(r#"{{"items": {{"anyOf": [{}]}}}}"#, listed(1_000, |at| format!(r#"{{"const": {at}}}"#)));
    check(
        "1,000 branches on 1,000 elements",
        &branches,
        &format!("[{}]", listed(1_000, |at| at.to_string())),
        &Accepted,
    );
}

/// Rejections of calls near the greatest size that is read.
#[test]
fn large_calls_rejected() {
    let ones = |len: usize, end: &str| format!("[{}{end}", "1,".repeat(len));
    check(
        "16 MB against false",
        "false",
        &ones(8_000_000, "1]"),
        &LineStart("schema: False schema does not allow [1, 1, 1"),
    );
    check(
        "10 MB, a failure each",
        r#"{"items": {"type": "string"}}"#,
        &ones(5_000_000, "1]"),
        &Line("schema: 1 is not of type 'string' at 5000000"),
    );
    check("4 MB, not unique", r#"{"uniqueItems": true}"#, &ones(2_000_000, "1]"), &LineStart("schema: [1, 1, 1"));
    let objects = format!("[{}{{}}]", r#"{"a":1},"#.repeat(1_000_000));
    check("8 MB of objects", r#"{"maxItems": 5}"#, &objects, &LineStart("schema: [{'a': 1}, {'a': 1}, "));
    let line = "schema: arguments are not valid JSON: expected a value at byte 8000003";
    check("8 MB, broken at the end", "{}", &ones(4_000_000, "1,]"), &Line(line));
}

/// A line is whole up to the limit; then it is cut between characters, and says how much is left out.
#[test]
fn lines_are_cut() {
    for (call, limit) in [
        (format!("\"{}\"", "é🐲x".repeat(100)), 50..120),
        (format!("[{}1]", "\"a'\\n\", ".repeat(50)), 30..60),
        (r#"{"a": "short"}"#.to_owned(), 20..90),
    ] {
        let whole = line_within(&call, 1 << 20);
        for bytes in limit {
            let line = line_within(&call, bytes);
            if whole.len() <= bytes as usize {
                assert_eq!(line, whole);
                continue;
            }
            let (start, rest) = line.split_once('…').unwrap_or_else(|| panic!("{bytes}: {line}"));
            assert!(whole.starts_with(start) && start.len() <= bytes as usize, "{bytes}: {line}");
            assert!(start.len() + 4 > bytes as usize, "{bytes}: more would have fitted: {line}");
            assert_eq!(rest, format!(" ({} bytes more)", whole.len() - start.len()), "{bytes}: {line}");
        }
    }
}

fn line_within(call: &str, bytes: u64) -> String {
    let mut options = Options::default();
    options.limits.text_bytes_max = bytes;
    let (schema, _) = Schema::compile(r#"{"not": {}}"#, &options).expect("compiles");
    Verdict::from(schema.check(&mut Session::new(), call)).line().to_owned()
}

#[test]
fn schemas_of_many_parts() {
    let ids = listed(1_000, |at| format!(r#""d{at}": {{"$id": "id{at}", "type": "integer"}}"#));
    let schema = format!(r#"{{"$defs": {{{ids}}}, "$ref": "id999"}}"#);
    check("1,000 ids", &schema, "1", &Accepted);
    check("1,000 ids, failing", &schema, "null", &Line("schema: None is not of type 'integer'"));
    let chain = listed(5_000, |at| format!(r##""d{at}": {{"$ref": "#/$defs/d{}"}}"##, at + 1));
    let schema = format!(r##"{{"$defs": {{{chain}, "d5000": {{"type": "integer"}}}}, "$ref": "#/$defs/d0"}}"##);
    check("a chain of 5,000 references", &schema, "1", &Accepted);
    check("a chain of 5,000 references, failing", &schema, "null", &Line("schema: None is not of type 'integer'"));
    let chain = listed(500, |at| format!(r##""d{at}": {{"$ref": "#/$defs/d{}", "minimum": {at}}}"##, at + 1));
    let schema =
        format!(r##"{{"$defs": {{{chain}, "d500": {{"items": {{"$ref": "#/$defs/d0"}}}}}}, "$ref": "#/$defs/d0"}}"##);
    check("500 references at each of 120 levels", &schema, &nested("[", "500", "]", 120), &Accepted);
    check("500 references at each of 250 levels", &schema, &nested("[", "500", "]", 250), &Accepted);
}

/// Patterns are small each; what they become must not add up without bound.
#[test]
fn patterns_add_up() {
    let schema = |len: usize| {
        let pattern = |at: usize| format!(r#""p{at}": {{"pattern": "^(\\p{{L}}|\\p{{N}}){{1,80}}x{at}$"}}"#);
        format!(r#"{{"properties": {{{}}}}}"#, listed(len, pattern))
    };
    check("5 large patterns", &schema(5), r#"{"p3": "äöü1x3"}"#, &Accepted);
    check("200 large patterns", &schema(200), r#"{"p7": "äöü1x7"}"#, &Finding("program_limit"));
}

// --- refused ------------------------------------------------------------------------------------------------------

#[test]
fn calls_beyond_the_limits() {
    let deep = nested("[", "", "]", 100_000);
    for schema in ["{}", "false", r##"{"items": {"$ref": "#"}}"##, r#"{"uniqueItems": true}"#, r#"{"const": []}"#] {
        check(&format!("100,000 nested arrays on {schema}"), schema, &deep, &Fault("depth"));
    }
    let objects = nested("{\"a\":", "1", "}", 100_000);
    check("100,000 nested objects", r##"{"unevaluatedProperties": {"$ref": "#"}}"##, &objects, &Fault("depth"));
    // Broken besides: that comes first in the text only at its end, so the depth is met before.
    check("100,000 open arrays", "{}", &"[".repeat(100_000), &Fault("depth"));
    check("50 MB", "{}", &format!("\"{}\"", "x".repeat(50_000_000)), &Fault("call_bytes"));
    let digits = "9".repeat(4_400);
    for call in [digits.as_str(), "1e100001", "-1E-100001", &format!("[{digits}]"), &format!("0.{digits}")] {
        for schema in ["{}", "false", r#"{"type": "string"}"#, r#"{"multipleOf": 3}"#, r#"{"items": {"maximum": 7}}"#] {
            check(&format!("{} on {schema}", &call[..8.min(call.len())]), schema, call, &Fault("number"));
        }
    }
    let nfa = format!("\"{}\"", "a".repeat(8 << 20));
    check("8 MB on a large automaton", r#"{"pattern": "^(\\p{L}|\\p{N}){1,40}x{1,30}$"}"#, &nfa, &Fault("fuel"));
    let product = format!("[{}]", listed(20_000, |at| format!(r#"{{"a{at}": 1}}"#)));
    let schema = format!(r#"{{"items": {{"enum": [{}]}}}}"#, listed(10_000, |at| format!(r#"{{"b{at}": 1}}"#)));
    check(
        "20,000 among 10,000 objects",
        &schema,
        &product,
        &LineStart("schema: {'a19999': 1} is not one of [{'b0': 1}"),
    );
}

#[test]
fn schemas_beyond_the_limits() {
    let deep: [(&str, String); 6] = [
        ("10,000 levels of not", nested(r#"{"not":"#, "{}", "}", 10_000)),
        ("10,000 levels of properties", nested(r#"{"properties":{"a":"#, "{}", "}}", 10_000)),
        ("10,000 levels of allOf", nested(r#"{"allOf":["#, "{}", "]}", 10_000)),
        ("10,000 levels of data", format!(r#"{{"default":{}}}"#, nested("[", "", "]", 10_000))),
        ("700,000 levels of data", format!(r#"{{"default":{}}}"#, nested("[", "", "]", 700_000))),
        ("10,000 levels of no schema", nested("[", "", "]", 10_000)),
    ];
    for (name, schema) in deep {
        check(name, &schema, "1", &Finding("depth_limit"));
    }
    // Beyond a million levels nothing is read at all.
    check("1,500,000 levels", &nested("[", "", "]", 1_500_000), "1", &Finding("unreadable"));
    let many = format!(r#"{{"anyOf": [{}]}}"#, listed(60_000, |_| "{}".to_owned()));
    check("60,000 subschemas", &many, "1", &Finding("subschema_limit"));
    let long = format!(r#"{{"pattern": "{}"}}"#, "a".repeat(20 << 10));
    check("a pattern of 20 KiB", &long, "1", &Finding("pattern_limit"));
    let large = format!(r#"{{"description": "{}"}}"#, "x".repeat(5 << 20));
    check("5 MiB", &large, "1", &Finding("size_limit"));
    let groups = nested("(", "a", ")", 5_000);
    for (pattern, kind) in [
        ("a{1000}{1000}", "pattern_invalid"),
        ("(?:a{1000}){1000}", "pattern_limit"),
        ("(((a{100}){100}){100}){100}", "pattern_limit"),
        ("(?:\\\\p{L}{500}){500}", "pattern_limit"),
        ("a{99999999}", "pattern_limit"),
        ("(?=(a{1000}){1000})", "pattern_invalid"),
        (&groups, "pattern_invalid"),
    ] {
        check(&start_of(pattern), &format!(r#"{{"pattern": "{pattern}"}}"#), "1", &Finding(kind));
    }
}

#[test]
fn references_that_go_round() {
    for schema in [
        r##"{"$ref": "#"}"##,
        r##"{"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}}"##,
        r##"{"anyOf": [{"type": "null"}, {"not": {"$ref": "#"}}]}"##,
        r##"{"items": {"if": {"$ref": "#/items"}}}"##,
        r##"{"$dynamicAnchor": "a", "allOf": [{"$dynamicRef": "#a"}]}"##,
        r##"{"$schema": "https://json-schema.org/draft/2019-09/schema", "$recursiveRef": "#"}"##,
    ] {
        check(schema, schema, "1", &Finding("ref_cycle"));
    }
    let chain = listed(5_000, |at| format!(r##""d{at}": {{"$ref": "#/$defs/d{}"}}"##, (at + 1) % 5_000));
    check(
        "a ring of 5,000",
        &format!(r##"{{"$defs": {{{chain}}}, "$ref": "#/$defs/d0"}}"##),
        "1",
        &Finding("ref_cycle"),
    );
}

/// Many resources with many dynamic anchors. Each two share an anchor, so that each order of entering them is a scope of
/// its own.
#[test]
fn scopes_that_multiply() {
    let resources = 10;
    let definitions = listed(resources, |at| {
        let others = || (0..resources).filter(move |other| *other != at);
        let anchors: Vec<String> = others()
            .map(|other| {
                let (low, high) = (at.min(other), at.max(other));
                format!(r#""x{other}": {{"$dynamicAnchor": "a{low}-{high}", "type": ["integer", "object"]}}"#)
            })
            .collect();
        let references: Vec<String> = others()
            .map(|other| {
                let (low, high) = (at.min(other), at.max(other));
                format!(r##""p{other}": {{"allOf": [{{"$ref": "r{other}"}}, {{"$dynamicRef": "#a{low}-{high}"}}]}}"##)
            })
            .collect();
        let (anchors, references) = (anchors.join(","), references.join(","));
        format!(r#""d{at}": {{"$id": "r{at}", "$defs": {{{anchors}}}, "properties": {{{references}}}}}"#)
    });
    let schema = format!(r#"{{"$defs": {{{definitions}}}, "$ref": "r0"}}"#);
    check("scopes", &schema, r#"{"p3": {"p7": {"p1": 5}}}"#, &Finding("program_limit"));
}

/// The pointers of a deep schema with long keys, one in each note, would be quadratic.
#[test]
fn pointers_that_add_up() {
    let levels = 480;
    let key = "k".repeat(8_000);
    let schema =
        nested(&format!(r#"{{"type": "object", "properties": {{"{key}": "#), r#"{"type": "integer"}"#, "}}", levels);
    check("pointers of long keys", &schema, "{}", &Finding("program_limit"));
    let mut flat = String::from(r#"{"allOf": ["#);
    let description = "d".repeat(3_000_000);
    let parts = listed(5_000, |at| format!(r#"{{"minimum": {at}}}"#));
    let written = write!(flat, r#"{parts}], "description": "{description}"}}"#);
    assert!(written.is_ok());
    // The description goes with each of the 5,000.
    check("one long description", &flat, "5000", &Finding("program_limit"));
}

/// Numbers beyond what is computed with: as a bound they are a finding, as data nobody looks at them.
#[test]
fn numbers_of_schemas() {
    let digits = "9".repeat(4_400);
    for number in [digits.as_str(), "1e100001"] {
        for keyword in ["minimum", "maximum", "exclusiveMinimum", "multipleOf", "const"] {
            let schema = format!(r#"{{"{keyword}": {number}}}"#);
            let answer = answer_of(&schema, &Options::default(), "1");
            assert!(answer.is_err(), "{keyword}: {} reads as {answer:?}", &number[..8]);
        }
        let data = format!(r#"{{"default": {number}, "examples": [{number}]}}"#);
        check("numbers as data", &data, "1", &Accepted);
    }
}

/// Unions of the same branches with many tags, from many places: the unit does not grow with their product.
#[test]
fn tags_that_multiply() {
    let texts: Vec<String> = (0..2_000).map(|at| format!(r#""tag number {at:06}""#)).collect();
    let names: Vec<String> = (0..8_000).map(|at| format!(r#""p{at:06}": true"#)).collect();
    let unions: Vec<String> = (0..2_000)
        .map(|at| format!(r##""u{at}": {{"oneOf": [{{"$ref": "#/$defs/A"}}, {{"$ref": "#/$defs/B"}}]}}"##))
        .collect();
    let branch = |texts: &str| {
        let names = names.join(",");
        format!(r#"{{"type": "object", "required": ["t"], "properties": {{"t": {{"enum": [{texts}]}}, {names}}}}}"#)
    };
    for tags in [&texts[..], &texts[..600]] {
        let (a, b) = (branch(&tags.join(",")), branch(r#""z""#));
        let schema = format!(r#"{{"properties": {{{}}}, "$defs": {{"A": {a}, "B": {b}}}}}"#, unions.join(","));
        check("tags", &schema, r#"{"u1": {"t": "z"}}"#, &Accepted);
    }
}

/// Names that all point to one slot of a table, and texts of an `enum` that do: looked up in time all the same.
#[test]
fn names_that_crowd() {
    let name = |at: u64| {
        let tail: [u8; 8] = std::array::from_fn(|byte| b'@' + 2 * (at >> (4 * byte) & 15) as u8);
        let head = (u64::from_le_bytes(*b"@@@@@@@@") ^ u64::from_le_bytes(tail).rotate_left(23)).to_le_bytes();
        String::from_utf8([head, tail].concat()).expect("ASCII").replace('\\', "]")
    };
    let names: std::collections::BTreeSet<String> = (0..20_000).map(name).collect();
    let properties: Vec<String> = names.iter().map(|name| format!(r#""{name}": true"#)).collect();
    let texts: Vec<String> = names.iter().map(|name| format!(r#""{name}""#)).collect();
    let schema = format!(
        r#"{{"properties": {{"a": {{"properties": {{{}}}}}, "b": {{"items": {{"enum": [{}]}}}}}}}}"#,
        properties.join(","),
        texts.join(",")
    );
    let call = format!(r#"{{"a": {{{}}}, "b": [{}]}}"#, properties.join(","), vec![texts.join(","); 10].join(","));
    check("crowd", &schema, &call, &Accepted);
}

/// What is read again and again is white space, or a name: no fuel is asked for it, but reading in place has an end.
#[test]
fn bytes_that_are_read_again() {
    let times = |rule: &str| format!(r#"{{"allOf": [{}]}}"#, vec![rule; 2_000].join(","));
    let blanks = " ".repeat(8_000_000);
    check("blanks", &times(r#"{"minProperties": 1}"#), &format!(r#"{{"k": 1{blanks}}}"#), &Accepted);
    check("elements", &times(r#"{"minItems": 1}"#), &format!("[1{blanks}]"), &Accepted);
    let needs: Vec<String> = (0..2_000).map(|at| format!(r#""x{at}": ["y"]"#)).collect();
    let needs = format!(r#"{{"dependentRequired": {{{}}}}}"#, needs.join(","));
    check("needs", &needs, &format!(r#"{{"k": 1{blanks}}}"#), &Accepted);
    check("name", &needs, &format!(r#"{{"{}": 1}}"#, "n".repeat(8_000_000)), &Fault("fuel"));
}

/// Asking the judging code first may cost as much as explaining: it never makes a rejection a fault.
#[test]
fn asking_has_fuel_of_its_own() {
    let row = r#"{"type": "array", "items": {"type": "object", "required": ["a"]}}"#;
    let schema = nested(r#"{"properties": {"p": "#, row, "}}", 4);
    let call = nested(r#"{"p": "#, &format!("[{}{{}}]", r#"{"a":1},"#.repeat(99)), "}", 4);
    for fuel in [900, 1_200, 1_500, 1_800, 2_400] {
        let mut options = Options::default();
        options.limits.set("call_fuel_max", fuel).expect("a limit");
        let (schema, _) = Schema::compile(&schema, &options).expect("compiles");
        let mut session = schema.session(4_000);
        let line = schema.check(&mut session, call.as_str());
        assert!(matches!(line, Outcome::Rejected(_)), "{fuel}: {line:?}");
    }
}

/// A `Value` is judged where it lies: a cycle it cannot have, and its depth is measured where it is visited.
#[test]
fn values_that_nest() {
    let mut value = Value::Null;
    for _ in 0..2_000 {
        value = Value::Array(vec![value]);
    }
    for schema in [r##"{"items": {"$ref": "#"}}"##, "false", r#"{"uniqueItems": true, "items": {"uniqueItems": true}}"#]
    {
        let (schema, _) = Schema::compile(schema, &Options::default()).expect("compiles");
        let mut session = schema.session(4_000);
        let verdict = Verdict::from(schema.check(&mut session, &value));
        assert_eq!(verdict, Verdict::Fault("depth"));
    }
}

/// Many parts that declare many names, again and again: what is too large is left as it is written, and the rest is not.
#[test]
fn names_that_many_parts_declare() {
    let names = |len: usize| listed(len, |at| format!(r#""n{at}": {{}}"#));
    let parts = |len: usize| listed(len, |_| r##"{"$ref": "#/$defs/many"}"##.to_owned());
    let schema = |names_len, inside: String| {
        format!(r#"{{"$defs": {{"many": {{"properties": {{{}}}}}}}, {inside}}}"#, names(names_len))
    };
    let options = Options { unknown_parameters: UnknownParameters::Forbid, ..Options::default() };
    let check = |name: &str, schema: &str, call: &str, expected: &Expected<'_>| {
        check_with(name, schema, &options, call, expected, 64 << 20);
    };
    let (known, unknown) = (r#"{"n1": 1, "n4999": 2}"#, r#"{"n1": 1, "m": 2}"#);
    let line = Line("schema: Additional properties are not allowed ('m' was unexpected)");
    for (len, expected) in [(12, &line), (1_000, &Accepted), (2_000, &Accepted)] {
        let schema = schema(5_000, format!(r#""allOf": [{}]"#, parts(len)));
        check(&format!("{len} parts of 5,000 names, known"), &schema, known, &Accepted);
        check(&format!("{len} parts of 5,000 names, unknown"), &schema, unknown, expected);
    }
    let many = listed(600, |at| format!(r#""p{at}": {{"allOf": [{}, {{}}]}}"#, parts(12)));
    let schema = schema(5_000, format!(r#""properties": {{{many}}}"#));
    check("compositions of 60,000 names each", &schema, "{}", &Finding("program_limit"));
}

/// One bad tool never costs the others.
#[test]
fn a_hostile_tool_beside_a_good_one() {
    let deep = nested(r#"{"not":"#, "{}", "}", 10_000);
    let tools = format!(
        r##"{{"tools": [{{"name": "deep", "inputSchema": {deep}}}, {{"name": "loop", "inputSchema": {{"$ref": "#"}}}},
            {{"name": "good", "inputSchema": {{"type": "object"}}}}]}}"##
    );
    let (catalog, report) = Catalog::compile(&tools, &Options::default()).expect("is a catalog");
    assert_eq!((report.tools, report.refused), (3, 2));
    let mut session = catalog.session(64);
    assert!(catalog.check(&mut session, "good", "{}").is_accepted());
    assert!(matches!(catalog.check(&mut session, "deep", "{}"), Outcome::NotCompiled));
    assert!(matches!(catalog.check(&mut session, "loop", "{}"), Outcome::NotCompiled));
}
