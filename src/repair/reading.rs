//! How one value may be read as something else, without a loss.
//!
//! A string has at most one reading: what its text is as JSON, read strictly. Scalars must be their whole text, and a reader
//! that keeps 64 bits must keep their value: `"42"`, not `" 42"`, `"042"`, `"+42"` or `"1e400"`. Zeros at the end (`"4.20"`)
//! are part of a number only where one is known to be wanted: elsewhere the digits may be the point (a version, a code).

use callgate_vm::insn::Types;
use callgate_vm::tape::{EntryKind, Node, ReadOptions, Tape, TapeBuf};

use super::RepairRule;
use super::text::value_text;

/// What the schema wants of a value that fails.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wanted {
    /// The types that it names.
    pub(super) types: Types,
    /// Whether they are what fails, so that no other will do. If not, a value is wanted that stands in a list.
    pub(super) is_type: bool,
    /// Whether a string may be wanted too.
    pub(super) maybe_string: bool,
}

/// What becomes of a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Reading {
    pub(super) rule: RepairRule,
    /// The value's text; none for a member that is left out.
    pub(super) becomes: Option<String>,
}

/// A scalar that a text spells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Scalar {
    Integer,
    /// A number with a fraction or an exponent.
    Decimal {
        /// Whether its fraction is zero.
        is_whole: bool,
        /// Whether a double of that value is written so again.
        is_written_so: bool,
    },
    Boolean,
    Null,
}

/// The reading of the value at `node` by rules that need no permission.
///
/// `is_member`: whether it can be left out. `options` bound a text that is parsed.
pub(super) fn reading(
    tape: Tape<'_>,
    node: Node,
    wanted: Wanted,
    is_member: bool,
    options: ReadOptions,
) -> Option<Reading> {
    match tape.entry(node).kind {
        EntryKind::Null => is_member.then_some(Reading { rule: RepairRule::NullToAbsent, becomes: None }),
        EntryKind::String | EntryKind::EscapedString => {
            let mut buffer = String::new();
            let text = tape.text(node).plain(&mut buffer);
            let (rule, text) = match text.bytes().next()? {
                b'-' | b'0'..=b'9' | b't' | b'f' | b'n' => (scalar_rule(scalar(text)?, wanted)?, text),
                _ => (container_rule(text, node == 0, wanted, options)?, text.trim_matches(WHITE_SPACE)),
            };
            Some(Reading { rule, becomes: Some(text.to_owned()) })
        }
        _ => None,
    }
}

/// The value at `node` as the one element of an array, where an array is wanted.
pub(super) fn wrapped(tape: Tape<'_>, node: Node, wanted: Wanted) -> Option<Reading> {
    let is_list = matches!(tape.entry(node).kind, EntryKind::Array | EntryKind::Null);
    let wants_list = wanted.is_type && wanted.types.meets(Types::ARRAY);
    (wants_list && !is_list).then(|| Reading { rule: RepairRule::WrapInArray, becomes: Some(array_of(tape, node)) })
}

/// The text of an array of that value alone.
pub(super) fn array_of(tape: Tape<'_>, node: Node) -> String {
    format!("[{}]", value_text(tape, node))
}

/// White space of JSON.
const WHITE_SPACE: [char; 4] = [' ', '\t', '\n', '\r'];

/// The rule for that scalar, if it can be of use. It goes by what is wanted where that is known.
fn scalar_rule(scalar: Scalar, wanted: Wanted) -> Option<RepairRule> {
    let is_known = wanted.types != Types::NONE;
    let wants = |types: Types| !is_known || wanted.types.meets(types);
    let integer = Types::INTEGER.union(Types::INTEGER_LITERAL);
    match scalar {
        Scalar::Integer if wants(integer) => Some(RepairRule::StrToInteger),
        Scalar::Integer if wants(Types::NUMBER) => Some(RepairRule::StrToNumber),
        // Where an integer is wanted, `1.0` is spelled as none; so it may be where it is not known what is.
        Scalar::Decimal { is_whole, is_written_so }
            if wants(Types::NUMBER) && (is_known || !is_whole && is_written_so) =>
        {
            Some(RepairRule::StrToNumber)
        }
        Scalar::Boolean if wants(Types::BOOLEAN) => Some(RepairRule::StrToBoolean),
        Scalar::Null if wants(Types::NULL) => Some(RepairRule::StrToNull),
        _ => None,
    }
}

/// The rule for the object or array that the text spells, if one is wanted and no string is.
fn container_rule(text: &str, is_root: bool, wanted: Wanted, options: ReadOptions) -> Option<RepairRule> {
    if !wanted.is_type || wanted.maybe_string {
        return None;
    }
    let (types, rule) = match text.trim_start_matches(WHITE_SPACE).bytes().next()? {
        b'{' => (Types::OBJECT, RepairRule::ParseStringifiedObject),
        b'[' => (Types::ARRAY, RepairRule::ParseStringifiedArray),
        _ => return None,
    };
    let is_read = || TapeBuf::new().read_text(text, options).is_ok();
    let rule = if is_root { RepairRule::ParseStringifiedArguments } else { rule };
    (wanted.types.meets(types) && is_read()).then_some(rule)
}

/// The scalar that is spelled by the whole text.
fn scalar(text: &str) -> Option<Scalar> {
    match text {
        "true" | "false" => return Some(Scalar::Boolean),
        "null" => return Some(Scalar::Null),
        _ => {}
    }
    if text.len() > LITERAL_BYTES_MAX || text.ends_with(WHITE_SPACE) {
        return None;
    }
    let digits = text.strip_prefix('-').unwrap_or(text);
    if digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return is_integer_again(text).then_some(Scalar::Integer);
    }
    // What else parses (`inf`, `.5`, `1.`) is none of JSON's.
    serde_json::from_str::<serde_json::Number>(text).ok()?;
    let value: f64 = text.parse().ok()?;
    let is_kept = value.is_finite() && significant(text) == significant(&format!("{value:e}"));
    let is_written_so = [format!("{value}"), format!("{value:?}")].iter().any(|again| again == text);
    is_kept.then_some(Scalar::Decimal { is_whole: value.fract() == 0.0, is_written_so })
}

/// The digits of a number's literal without zeros around them, and the exponent of ten that belongs to them as an integer:
/// equal for equal numbers of one sign.
fn significant(literal: &str) -> Option<(String, i64)> {
    let (mantissa, exponent) = literal.split_once(['e', 'E']).unwrap_or((literal, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = [whole.trim_start_matches('-'), fraction].concat();
    let kept = digits.trim_end_matches('0');
    let (places, zeros) = (i64::try_from(fraction.len()).ok()?, i64::try_from(digits.len() - kept.len()).ok()?);
    let exponent = exponent.parse::<i64>().ok()?.checked_sub(places)?.checked_add(zeros)?;
    let kept = kept.trim_start_matches('0');
    Some((kept.to_owned(), if kept.is_empty() { 0 } else { exponent }))
}

/// The longest text of a double, `-2.2250738585072014e-308`, is shorter, unless it is written without an exponent; so are
/// integers of 64 bits. Unit: bytes.
const LITERAL_BYTES_MAX: usize = 32;

/// Whether 64 bits hold the integer, and it is written with the same digits: no leading zeros, no `-0`.
fn is_integer_again(text: &str) -> bool {
    let signed = text.parse::<i64>().is_ok_and(|value| value.to_string() == text);
    signed || text.parse::<u64>().is_ok_and(|value| value.to_string() == text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: Option<Scalar>) {
        assert_eq!(scalar(text), expected, "{text}");
    }

    #[test]
    fn integers() {
        for text in ["0", "42", "-7", "9223372036854775807", "-9223372036854775808", "18446744073709551615"] {
            check(text, Some(Scalar::Integer));
        }
        for text in ["", "-", "042", "-0", "+1", " 1", "1 ", "١", "18446744073709551616", "1_000", "0x1", "--1"] {
            check(text, None);
        }
    }

    #[test]
    fn decimals() {
        let decimal = |is_whole, is_written_so| Some(Scalar::Decimal { is_whole, is_written_so });
        for text in ["1.5", "-0.25", "0.1", "1e300", "0.00001", "1e-5"] {
            check(text, decimal(text == "1e300", true));
        }
        check("100.0", decimal(true, true));
        for text in ["1.10", "12.50", "-0.250", "15e-1", "1.5E0"] {
            check(text, decimal(false, false));
        }
        for text in ["1e5", "1E+2", "1.00"] {
            check(text, decimal(true, false));
        }
        for text in [".5", "1.", "01.5", "+1.5", "1.5 ", "1e400", "NaN", "nan", "inf", "-inf", "0.1000000000000000055"]
        {
            check(text, None);
        }
    }

    #[test]
    fn words() {
        check("true", Some(Scalar::Boolean));
        check("null", Some(Scalar::Null));
        for text in ["True", "TRUE", "yes", "None", "true ", "nul", "tru"] {
            check(text, None);
        }
    }
}
