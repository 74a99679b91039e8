//! Numbers at the edges: text and `Value` agree on every call that survives the way from the one to the other.
//!
//! What survives depends on how serde_json was built (`arbitrary_precision` keeps what doubles lose), so each literal is
//! taken as far as this build takes it: what its `Value` prints is judged against that `Value`.

use serde_json::Value;

use crate::verdict::{compile, judge};

const LITERALS: [&str; 38] = [
    "0",
    "-0",
    "0.0",
    "-0.0",
    "0e0",
    "1",
    "1.0",
    "1.00",
    "10e-1",
    "1e0",
    "1E+2",
    "-1.5",
    "0.1",
    "0.30000000000000004",
    "19.99",
    "9007199254740991",
    "9007199254740992",
    "9007199254740993",
    "9007199254740993.0",
    "-9007199254740993",
    "9223372036854775807",
    "9223372036854775808",
    "18446744073709551615",
    "18446744073709551616",
    "-9223372036854775808",
    "-9223372036854775809",
    "123456789012345678901234567890",
    "1e15",
    "1e16",
    "1e21",
    "1e22",
    "1e308",
    "1e400",
    "-1e400",
    "5e-324",
    "1e-400",
    "0.1234567890123456789012345678901234567890",
    "3.141592653589793238462643383279502884197",
];

/// Each is about numbers in another way.
const SCHEMAS: [&str; 16] = [
    r#"{"type": "integer"}"#,
    r#"{"type": "string"}"#,
    r#"{"minimum": 9007199254740993}"#,
    r#"{"maximum": 9223372036854775807}"#,
    r#"{"exclusiveMaximum": 1}"#,
    r#"{"exclusiveMinimum": 18446744073709551615}"#,
    r#"{"maximum": 1e308}"#,
    r#"{"multipleOf": 1}"#,
    r#"{"multipleOf": 0.01}"#,
    r#"{"multipleOf": 3}"#,
    r#"{"const": 1}"#,
    r#"{"const": 0.0}"#,
    r#"{"enum": [0, 18446744073709551615, 9007199254740992, 1e400, 0.1]}"#,
    r#"{"not": {"type": "number"}}"#,
    r#"{"$schema": "http://json-schema.org/draft-04/schema#", "type": "integer"}"#,
    r#"{"minimum": -1e-400}"#,
];

/// The verdict and line of a number, alone and inside containers that compare it.
#[track_caller]
fn check(schema: &str, literal: &str) {
    let Ok(value) = serde_json::from_str::<Value>(literal) else {
        return;
    };
    let by_spelling = schema.contains("draft-04");
    let schema = compile(schema);
    let printed = value.to_string();
    let from_text = judge(&schema, printed.as_str());
    assert_eq!(judge(&schema, &value), from_text, "{literal}, printed as {printed}");
    // Draft 4 has integers by their spelling, and a line shows the spelling.
    if decimal(literal) == decimal(&printed) && !by_spelling {
        assert_eq!(judge(&schema, literal).is_accepted(), from_text.is_accepted(), "{literal}, printed as {printed}");
    }
}

/// The number's sign, digits and exponent, without the zeros that say nothing. Texts of containers are taken as they are.
fn decimal(literal: &str) -> (bool, String, i128) {
    let (negative, rest) = literal.strip_prefix('-').map_or((false, literal), |rest| (true, rest));
    let (mantissa, exponent) = rest.split_once(['e', 'E']).unwrap_or((rest, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = format!("{whole}{fraction}");
    let exponent = i128::from(exponent.parse::<i64>().unwrap_or(i64::MAX)) - fraction.len() as i128;
    let kept = digits.trim_end_matches('0');
    let exponent = exponent + (digits.len() - kept.len()) as i128;
    match kept.trim_start_matches('0') {
        "" => (false, String::new(), 0),
        kept => (negative, kept.to_owned(), exponent),
    }
}

#[test]
fn decimals_are_told_apart() {
    assert_eq!(decimal("1.50e1"), decimal("15"));
    assert_eq!(decimal("-0"), decimal("0.00"));
    assert_eq!(decimal("100"), decimal("1E+2"));
    assert_ne!(decimal("9007199254740993"), decimal("9007199254740992.0"));
}

#[test]
fn text_and_value_agree() {
    for schema in SCHEMAS {
        for literal in LITERALS {
            check(schema, literal);
        }
    }
}

#[test]
fn containers_agree() {
    for literal in LITERALS {
        for other in LITERALS {
            let text = format!(r#"{{"a": [{literal}, {other}], "b": {literal}}}"#);
            check(r#"{"properties": {"a": {"uniqueItems": true}, "b": {"type": "integer"}}}"#, &text);
        }
    }
}

#[test]
fn text_is_exact() {
    #[track_caller]
    fn check(schema: &str, literal: &str, expected: &str) {
        let schema = compile(schema);
        let verdict = judge(&schema, literal);
        assert_eq!(if verdict.is_accepted() { "accepted" } else { verdict.line() }, expected);
    }
    check(
        r#"{"maximum": 9007199254740992}"#,
        "9007199254740993",
        "schema: 9007199254740993 is greater than the maximum of 9007199254740992",
    );
    check(r#"{"maximum": 18446744073709551615}"#, "18446744073709551615", "accepted");
    check(
        r#"{"maximum": 18446744073709551615}"#,
        "18446744073709551616",
        "schema: 18446744073709551616 is greater than the maximum of 18446744073709551615",
    );
    check(r#"{"const": 1}"#, "1.0", "accepted");
    check(r#"{"const": 0}"#, "-0.0", "accepted");
    check(r#"{"type": "integer"}"#, "1.0", "accepted");
    check(r#"{"type": "integer"}"#, "1e400", "accepted");
    check(r#"{"maximum": 5}"#, "1e400", "schema: inf is greater than the maximum of 5");
    check(r#"{"multipleOf": 0.01}"#, "19.99", "accepted");
    check(r#"{"multipleOf": 0.1}"#, "0.35", "schema: 0.35 is not a multiple of 0.1");
    check(r#"{"uniqueItems": true}"#, "[9007199254740993, 9007199254740992]", "accepted");
    check(r#"{"uniqueItems": true}"#, "[1, 1.0]", "schema: [1, 1.0] has non-unique elements");
}
