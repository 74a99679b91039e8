//! Exact JSON numbers: what a number literal says, compared, divided and shown.
//!
//! A literal becomes one of three kinds. The text stays with the two kinds that 64 bits cannot hold
//! exactly, borrowed from wherever the literal lies:
//!
//! ```text
//! literal                  kind        compares as              is shown as
//! 42, -0                   Int         itself                   42, 0
//! 9223372036854775808      Big         itself, every digit      9223372036854775808
//! 1.0, 1E5, 0.1            Decimal     the nearest double       1.0, 100000.0, 0.1
//! 1e400                    Decimal     infinity                 inf
//! ```
//!
//! Only `multipleOf` looks at the digits of a decimal as they are written, so that 19.99 is a
//! multiple of 0.01 although neither double is that number:
//!
//! ```text
//! 19.99 = 1999 * 10^-2     0.01 = 1 * 10^-2     1 divides 1999     so it is a multiple
//! 0.35  =   35 * 10^-2     0.1  = 1 * 10^-1     -2 < -1            so it is not
//! ```
//!
//! Nothing here allocates or panics, whatever the input; work space is on the stack, at most about
//! 8 kB ([`Number::is_multiple_of`]).
//!
//! Left out: checking the grammar of a literal (the reader of the text does), arithmetic, numbers
//! that JSON cannot write (NaN), and the tolerance that some validators grant to doubles.

use std::cmp::Ordering;
use std::fmt::{self, Write as _};
use std::hash::{Hash, Hasher};
use std::iter;

/// The most digits a number may have, before and after the point together. Unit: decimal digits.
///
/// Python's own limit for reading integers, so no text that the pinned wording could show is lost.
pub const MAX_DIGITS: usize = 4300;

/// The greatest exponent, and with a minus sign the least, by value: zeros before it do not count.
/// Unit: powers of ten.
pub const MAX_EXPONENT: i64 = 100_000;

/// The literal has more than [`MAX_DIGITS`] digits, or an exponent beyond [`MAX_EXPONENT`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NumberLimit;

impl fmt::Display for NumberLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a number has more than {MAX_DIGITS} digits or an exponent beyond {MAX_EXPONENT}")
    }
}

impl std::error::Error for NumberLimit {}

/// A JSON number, small enough to copy; the text it may hold belongs to the reader's input.
///
/// Source: RFC 8259 section 6; JSON Schema Core 4.2.1 (numbers are of any precision).
#[derive(Clone, Copy, Debug)]
pub enum Number<'a> {
    /// No fraction and no exponent, within 64 bits. `-0` is `Int(0)`.
    Int(i64),
    /// No fraction and no exponent, beyond 64 bits: the literal, `-` and digits without leading
    /// zeros.
    Big(&'a str),
    /// A fraction or an exponent.
    Decimal {
        /// The nearest double, a tie to the even one; infinite beyond the greatest, as for `1e400`.
        value: f64,
        /// The literal, or empty when only the double is known: then the shortest digits that read
        /// back as the double stand for it.
        literal: &'a str,
    },
}

impl<'a> Number<'a> {
    /// Reads a literal that matches JSON's number grammar.
    ///
    /// Text that does not match it gives some number or the error, never a panic. Errors: more than
    /// [`MAX_DIGITS`] digits, or an exponent beyond [`MAX_EXPONENT`]; a zero is no exception. Cost:
    /// one pass over an integer of up to 18 digits, at most four over anything else.
    /// Source: RFC 8259 section 6.
    pub fn parse(literal: &'a str) -> Result<Self, NumberLimit> {
        if let Some(int) = parse_short_int(literal.as_bytes()) {
            return Ok(Self::Int(int));
        }
        if let Some(number) = parse_short_decimal(literal) {
            return Ok(number);
        }
        let spelling = Spelling::of(literal.as_bytes());
        if spelling.is_over_limit() {
            return Err(NumberLimit);
        }
        Ok(if spelling.is_integer {
            literal.parse().map_or(Self::Big(literal), Self::Int)
        } else {
            Self::Decimal { value: literal.parse().unwrap_or(0.0), literal }
        })
    }

    /// The decimal of a double whose literal is not known. NaN is no JSON number: it is shown as
    /// `nan`, equals any double and is a multiple of nothing.
    #[must_use]
    pub fn from_f64(value: f64) -> Self {
        Self::Decimal { value, literal: "" }
    }

    /// Orders by exact mathematical value, of integers and of the nearest doubles.
    ///
    /// 2^53 + 1 is greater than 9007199254740992.0; 0 equals -0.0; infinities are at the ends and
    /// equal themselves, so 1e400 equals 1e500. Cost: constant, but for two long integers one pass
    /// over their digits; no allocation.
    /// Source: JSON Schema Core 4.2.2 (equality), Validation 6.2.2 to 6.2.5 (bounds).
    #[must_use]
    #[inline]
    pub fn compare(self, other: Number<'_>) -> Ordering {
        if let (Self::Int(a), Number::Int(b)) = (self, other) {
            return a.cmp(&b);
        }
        match (self.as_double(), other.as_double()) {
            (Some(a), Some(b)) => compare_doubles(a, b),
            _ => self.compare_long(other),
        }
    }

    /// The double that equals the number, if it is told without a look at digits.
    #[inline]
    fn as_double(self) -> Option<f64> {
        match self {
            Self::Int(int) => small_double(int),
            Self::Big(_) => None,
            Self::Decimal { value, .. } => Some(value),
        }
    }

    #[inline(never)]
    fn compare_long(self, other: Number<'_>) -> Ordering {
        match (self, other) {
            (Self::Int(a), Number::Int(b)) => a.cmp(&b),
            (Self::Int(_), Number::Big(b)) => sign_order(b).reverse(),
            (Self::Int(a), Number::Decimal { value: b, .. }) => compare_int_double(a, b),
            (Self::Big(a), Number::Int(_)) => sign_order(a),
            (Self::Big(a), Number::Big(b)) => compare_big(a, b),
            (Self::Big(a), Number::Decimal { value: b, .. }) => compare_big_double(a, b),
            (Self::Decimal { value: a, .. }, Number::Decimal { value: b, .. }) => compare_doubles(a, b),
            (Self::Decimal { .. }, Number::Int(_) | Number::Big(_)) => other.compare_long(self).reverse(),
        }
    }

    /// Whether the fraction is zero: `integer` from draft 6 on.
    ///
    /// A decimal is judged by its double, so `1.0` and `1e300` are integral; one that overflows to
    /// infinity, by its literal: `1e400` is integral. An infinity without a literal is not.
    /// Cost: constant, but one pass over a literal that overflows.
    /// Source: JSON Schema Validation 6.1.1.
    #[must_use]
    pub fn is_integral(self) -> bool {
        match self {
            Self::Int(_) | Self::Big(_) => true,
            Self::Decimal { value, .. } if value.is_finite() => value.fract() == 0.0,
            Self::Decimal { literal, .. } => !literal.is_empty() && Scaled::of(literal.as_bytes()).exponent >= 0,
        }
    }

    /// Whether it is written without fraction and exponent: draft 4's `integer`.
    ///
    /// Source: JSON Schema draft 4 Core 3.5.
    #[must_use]
    pub fn is_integer_literal(self) -> bool {
        matches!(self, Self::Int(_) | Self::Big(_))
    }

    /// Whether the quotient by `divisor` is an integer, exactly, for decimals as they are written.
    ///
    /// 19.99 is a multiple of 0.01 and 0.3 of 0.1; 1e308 is not one of 0.123456789. Signs do not
    /// matter. Of a zero divisor only zero is a multiple; an infinity without a literal neither has
    /// multiples nor is one, and a divisor of more than [`MAX_DIGITS`] digits (which
    /// [`parse`](Self::parse) never makes) has none but zero. Cost: [`Self::multiple_of_cost`], at
    /// worst a few milliseconds; about 8 kB of stack, no allocation.
    /// Source: JSON Schema Validation 6.2.1.
    #[must_use]
    pub fn is_multiple_of(self, divisor: Number<'_>) -> bool {
        if let (Self::Int(a), Number::Int(b)) = (self, divisor) {
            return is_int_multiple(a, b);
        }
        let (mut text, mut divisor_text) = (ShortText::new(), ShortText::new());
        match (self.spelled(&mut text), divisor.spelled(&mut divisor_text)) {
            (Some(a), Some(b)) => Scaled::of(a).is_multiple_of(Scaled::of(b)),
            _ => false,
        }
    }

    /// An upper bound of the work of [`Self::is_multiple_of`], to be paid in fuel beforehand.
    ///
    /// Unit: one step of long division in base 10^9, a few nanoseconds; that is, groups of nine
    /// digits of the value (and of the zeros that the exponents may add to it) times those of the
    /// divisor. One for two small integers, a handful for everyday decimals, about a million for
    /// two numbers of [`MAX_DIGITS`] digits. Cost: constant.
    #[must_use]
    pub fn multiple_of_cost(self, divisor: Number<'_>) -> u64 {
        if let (Self::Int(_), Number::Int(_)) = (self, divisor) {
            return 1;
        }
        let divisor_len = divisor.digits_bound();
        let value_len = self.digits_bound().saturating_add(zeros_bound(divisor_len));
        let (groups, limbs) = (value_len.div_ceil(GROUP), divisor_len.div_ceil(GROUP));
        let limbs = if divisor_len <= WIDE_GROUP { 1 } else { limbs };
        u64::try_from(groups.saturating_mul(limbs)).unwrap_or(u64::MAX)
    }

    /// Feeds `state` so that numbers which [`compare`](Self::compare) as equal hash alike.
    ///
    /// Integers that differ feed different bytes, however long, so no set of them collides by
    /// construction. Cost: constant; one pass over the digits of a long integer; no allocation.
    pub fn hash_into<H: Hasher>(self, state: &mut H) {
        match self.canonical() {
            Self::Int(int) => (0_u8, int).hash(state),
            Self::Decimal { value, .. } => (1_u8, value.to_bits()).hash(state),
            Self::Big(literal) => (2_u8, literal).hash(state),
        }
    }

    /// Writes the number in the value notation, which is Python's.
    ///
    /// Integers in full. Decimals as Python's `repr(float)`: the shortest digits that read back as
    /// the double; scientific when the decimal exponent is below -4 or at least 16 (`1e-05`,
    /// `1.5e+300`), else positional with at least one decimal (`100.0`); `-0.0`, `inf`, `-inf`.
    /// Errors: only those of `out`. Cost: one pass, no allocation.
    /// Source: the Python standard library, `float.__repr__`.
    pub fn write(self, out: &mut (impl fmt::Write + ?Sized)) -> fmt::Result {
        match self {
            Self::Int(int) => write_int(out, int),
            Self::Big(literal) => out.write_str(literal),
            Self::Decimal { value, .. } => write_double(out, value),
        }
    }

    /// The nearest double; infinite beyond the greatest.
    #[allow(clippy::cast_precision_loss)] // which is what nearest means
    pub(crate) fn nearest_double(self) -> f64 {
        match self {
            Self::Int(int) => int as f64,
            Self::Big(literal) => literal.parse().unwrap_or(f64::INFINITY),
            Self::Decimal { value, .. } => value,
        }
    }

    /// Bytes of the literal that is still to be looked at; none for a number that has been read whole.
    pub(crate) fn literal_bytes(self) -> usize {
        match self {
            Self::Int(_) => 0,
            Self::Big(literal) | Self::Decimal { literal, .. } => literal.len(),
        }
    }

    /// The one form that all equal numbers share: `Int` if it can be, else the double if it is
    /// exact, else the digits.
    fn canonical(self) -> Self {
        match self {
            Self::Int(_) => self,
            Self::Big(literal) => exact_double(literal).map_or(self, Self::from_f64),
            Self::Decimal { value, .. } => exact_int(value).map_or(self, Self::Int),
        }
    }

    /// The digits that stand for the number; none for an infinity or NaN without a literal.
    fn spelled<'t>(self, text: &'t mut ShortText) -> Option<&'t [u8]>
    where
        'a: 't,
    {
        match self {
            Self::Int(int) => write!(text, "{int}").ok()?,
            Self::Decimal { value, literal: "" } if value.is_finite() => {
                *text = shortest(value, format_args!("{value:e}")).ok()?;
            }
            Self::Decimal { literal: "", .. } => return None,
            Self::Big(literal) | Self::Decimal { literal, .. } => return Some(literal.as_bytes()),
        }
        Some(text.as_str().as_bytes())
    }

    /// No less than the digits that are left of [`Self::spelled`] when the zeros at both ends are
    /// gone.
    fn digits_bound(self) -> usize {
        match self {
            Self::Int(int) => int.unsigned_abs().checked_ilog10().map_or(1, |log| log as usize + 1),
            Self::Decimal { literal: "", .. } => SHORTEST_DIGITS,
            Self::Big(literal) | Self::Decimal { literal, .. } => literal.len(),
        }
    }
}

/// Writes an integer; small ones, which most are, without the formatter's machinery.
fn write_int(out: &mut (impl fmt::Write + ?Sized), int: i64) -> fmt::Result {
    match u8::try_from(int) {
        Ok(digit @ 0..=9) => out.write_char(char::from(b'0' + digit)),
        _ => write!(out, "{int}"),
    }
}

/// 2^63: the least double beyond `i64`, and the least magnitude of a `Big`.
const TWO_63: f64 = 9_223_372_036_854_775_808.0;

/// Digits before the point of the greatest double, 1.8e308.
const DOUBLE_DIGITS: usize = 309;

/// Digits that always suffice to tell a double from its neighbours.
const SHORTEST_DIGITS: usize = 17;

/// Digits in one limb of a long division.
const GROUP: usize = 9;
const GROUP_BASE: u64 = 1_000_000_000;

/// Digits that always fit 64 bits.
const WIDE_GROUP: usize = 19;
const WIDE_GROUP_BASE: u64 = 10_000_000_000_000_000_000;

const _: () = assert!(GROUP_BASE == 10_u64.pow(9) && GROUP == 9);
const _: () = assert!(WIDE_GROUP_BASE == 10_u64.pow(19) && WIDE_GROUP == 19);

/// An integer of up to 18 digits, so no step can overflow.
fn parse_short_int(literal: &[u8]) -> Option<i64> {
    let (negative, digits) = split_sign(literal);
    if digits.is_empty() || digits.len() > 18 {
        return None;
    }
    let mut magnitude = 0_i64;
    for byte in digits {
        if !byte.is_ascii_digit() {
            return None;
        }
        magnitude = magnitude * 10 + i64::from(byte - b'0');
    }
    Some(if negative { -magnitude } else { magnitude })
}

/// A number with a fraction and without an exponent, too short to be over a limit.
fn parse_short_decimal(literal: &str) -> Option<Number<'_>> {
    const BYTES_MAX: usize = 64;
    let short = literal.len() <= BYTES_MAX && literal.contains('.') && !literal.contains(['e', 'E']);
    let value = if short { literal.parse().ok()? } else { return None };
    Some(Number::Decimal { value, literal })
}

fn split_sign(literal: &[u8]) -> (bool, &[u8]) {
    match literal {
        [b'-', digits @ ..] => (true, digits),
        digits => (false, digits),
    }
}

/// The order of a `Big` against any `Int`.
fn sign_order(big: &str) -> Ordering {
    if big.starts_with('-') { Ordering::Less } else { Ordering::Greater }
}

fn compare_big(a: &str, b: &str) -> Ordering {
    let ((a_negative, a), (b_negative, b)) = (split_sign(a.as_bytes()), split_sign(b.as_bytes()));
    match (a_negative, b_negative) {
        (false, true) => Ordering::Greater,
        (true, false) => Ordering::Less,
        (false, false) => compare_digits(a, b),
        (true, true) => compare_digits(b, a),
    }
}

/// Without leading zeros the longer one is the greater.
fn compare_digits(a: &[u8], b: &[u8]) -> Ordering {
    a.len().cmp(&b.len()).then_with(|| a.cmp(b))
}

/// The double that equals the integer, if its size alone says that there is one.
#[inline]
#[allow(clippy::cast_precision_loss)] // none is lost up to that size
fn small_double(int: i64) -> Option<f64> {
    (int.unsigned_abs() <= 1 << f64::MANTISSA_DIGITS).then_some(int as f64)
}

#[inline]
fn compare_doubles(a: f64, b: f64) -> Ordering {
    a.partial_cmp(&b).unwrap_or(Ordering::Equal)
}

fn compare_int_double(int: i64, double: f64) -> Ordering {
    if double >= TWO_63 {
        Ordering::Less
    } else if double < -TWO_63 {
        Ordering::Greater
    } else {
        let fraction = double.fract();
        int.cmp(&truncate(double)).then_with(|| 0.0.partial_cmp(&fraction).unwrap_or(Ordering::Equal))
    }
}

fn compare_big_double(big: &str, double: f64) -> Ordering {
    let (negative, digits) = split_sign(big.as_bytes());
    if double.is_infinite() {
        return if double > 0.0 { Ordering::Less } else { Ordering::Greater };
    }
    let beyond = digits.len() > DOUBLE_DIGITS || double.abs() < TWO_63;
    if beyond || negative != double.is_sign_negative() {
        return sign_order(big);
    }
    let order = Magnitude::of_digits(digits).cmp(&Magnitude::of_double(double));
    if negative { order.reverse() } else { order }
}

/// The double that equals a `Big`, if there is one.
fn exact_double(big: &str) -> Option<f64> {
    let (_, digits) = split_sign(big.as_bytes());
    let exact = digits.len() <= DOUBLE_DIGITS && Magnitude::of_digits(digits).is_double();
    if exact { big.parse().ok() } else { None }
}

/// The `i64` that equals a double, if there is one.
fn exact_int(double: f64) -> Option<i64> {
    let fits = (-TWO_63..TWO_63).contains(&double) && double.fract() == 0.0;
    fits.then(|| truncate(double))
}

/// Rust's `as` rounds toward zero and saturates; the callers compare with 2^63 first.
fn truncate(double: f64) -> i64 {
    double as i64
}

fn is_int_multiple(value: i64, divisor: i64) -> bool {
    // Magnitudes: `i64::MIN % -1` overflows.
    let (value, divisor) = (value.unsigned_abs(), divisor.unsigned_abs());
    value.checked_rem(divisor).map_or(value == 0, |rest| rest == 0)
}

fn write_double(out: &mut (impl fmt::Write + ?Sized), value: f64) -> fmt::Result {
    let magnitude = value.abs();
    if value.is_nan() {
        out.write_str("nan")
    } else if magnitude.is_infinite() {
        write!(out, "{value}")
    } else if magnitude == 0.0 || (1e-4..1e16).contains(&magnitude) {
        out.write_str(shortest(value, format_args!("{value}"))?.as_str())?;
        out.write_str(if value.fract() == 0.0 { ".0" } else { "" })
    } else {
        write_scientific(out, shortest(value, format_args!("{value:e}"))?.as_str())
    }
}

/// Rust's `{:e}` has `e16` for `e+16` and `e-5` for `e-05`.
fn write_scientific(out: &mut (impl fmt::Write + ?Sized), text: &str) -> fmt::Result {
    let (mantissa, exponent) = text.split_once('e').unwrap_or_default();
    let (sign, digits) = match exponent.strip_prefix('-') {
        Some(digits) => ('-', digits),
        None => ('+', exponent),
    };
    write!(out, "{mantissa}e{sign}{digits:0>2}")
}

/// The text that `{}` or `{:e}` gives for a finite double, but with Python's digits.
///
/// They are the same but for a tie. 0.50000762939453125 is a double and needs 16 digits, of which
/// both ...312 and ...313 read back and are equally near: Python takes the even one, Rust the upper.
/// A double with n binary places has exactly n decimal places, the last of them a 5; so it is a tie
/// if and only if the shortest text has one place less. (An integer is never a tie: it would have to
/// be an odd multiple of 5 * 10^k, which has a neighbour within 2^k, nearer than any text that much
/// shorter.)
fn shortest(value: f64, formatted: fmt::Arguments<'_>) -> Result<ShortText, fmt::Error> {
    let mut text = ShortText::new();
    text.write_fmt(formatted)?;
    if decimal_places(text.as_str()) + 1 != binary_places(value) {
        return Ok(text);
    }
    let lower = text.with_even_last_digit();
    // The spacing below a power of two is half of that above, so the lower text may be too far off.
    Ok(if lower.as_str().parse() == Ok(value) { lower } else { text })
}

fn decimal_places(text: &str) -> i64 {
    let spelling = Spelling::of(text.as_bytes());
    to_i64(spelling.fraction.len()).saturating_sub(spelling.exponent_value())
}

/// Digits after the binary point; zero or less for an integer.
fn binary_places(value: f64) -> i64 {
    let bits = value.to_bits();
    let (exponent, mantissa) = (bits >> 52 & 0x7ff, bits & ((1 << 52) - 1));
    let places = if exponent == 0 { 1074 } else { 1075 - exponent.cast_signed() };
    // Of a normal double the hidden bit; beyond the reach of a subnormal one.
    places - i64::from((mantissa | 1 << 52).trailing_zeros())
}

/// Text of a 64-bit integer or of a double's shortest digits, the longest of them
/// `-1.2345678901234567e-308`.
struct ShortText {
    bytes: [u8; Self::CAPACITY],
    len: usize,
}

impl ShortText {
    const CAPACITY: usize = 24;

    fn new() -> Self {
        Self { bytes: [0; Self::CAPACITY], len: 0 }
    }

    fn as_str(&self) -> &str {
        self.bytes.get(..self.len).and_then(|bytes| str::from_utf8(bytes).ok()).unwrap_or_default()
    }

    /// One less if the last digit before an exponent is odd.
    fn with_even_last_digit(&self) -> Self {
        let mut bytes = self.bytes;
        let end = self.as_str().find('e').unwrap_or(self.len);
        if let Some(digit) = bytes[..end].last_mut() {
            // '0' is even too.
            *digit &= !1;
        }
        Self { bytes, len: self.len }
    }
}

impl fmt::Write for ShortText {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let end = self.len + text.len();
        self.bytes.get_mut(self.len..end).ok_or(fmt::Error)?.copy_from_slice(text.as_bytes());
        self.len = end;
        Ok(())
    }
}

/// The parts of a literal: `-12.50e3` is whole `12`, fraction `50`, exponent `3`.
struct Spelling<'t> {
    whole: &'t [u8],
    fraction: &'t [u8],
    exponent: &'t [u8],
    is_integer: bool,
}

impl<'t> Spelling<'t> {
    fn of(literal: &'t [u8]) -> Self {
        let (_, unsigned) = split_sign(literal);
        let (mantissa, exponent) = split_once(unsigned, |byte| matches!(byte, b'e' | b'E'));
        let (whole, fraction) = split_once(mantissa, |byte| byte == b'.');
        let is_integer = fraction.is_none() && exponent.is_none();
        let [fraction, exponent] = [fraction, exponent].map(Option::unwrap_or_default);
        Self { whole, fraction, exponent, is_integer }
    }

    fn is_over_limit(&self) -> bool {
        self.whole.len() + self.fraction.len() > MAX_DIGITS || self.exponent_value().saturating_abs() > MAX_EXPONENT
    }

    fn exponent_value(&self) -> i64 {
        let (negative, digits) = match self.exponent {
            [b'+', digits @ ..] => (false, digits),
            signed => split_sign(signed),
        };
        let magnitude =
            digits.iter().fold(0_i64, |value, &byte| value.saturating_mul(10).saturating_add(i64::from(digit(byte))));
        if negative { -magnitude } else { magnitude }
    }
}

fn split_once(bytes: &[u8], at: impl Fn(u8) -> bool) -> (&[u8], Option<&[u8]>) {
    let mut parts = bytes.splitn(2, |&byte| at(byte));
    (parts.next().unwrap_or_default(), parts.next())
}

/// The value of a digit. Any other byte counts as some digit, so that text outside the grammar
/// cannot break the bounds that the divisions rest on.
fn digit(byte: u8) -> u8 {
    byte.wrapping_sub(b'0') % 10
}

/// The magnitude of a literal as an integer times a power of ten, with the zeros at both ends of the
/// integer gone: `12.50e3` is `12`, `5` and exponent 2. No digits at all: zero.
#[derive(Clone, Copy)]
struct Scaled<'t> {
    /// The first digits, and those that followed a point.
    whole: &'t [u8],
    fraction: &'t [u8],
    exponent: i64,
}

impl<'t> Scaled<'t> {
    fn of(literal: &'t [u8]) -> Self {
        let spelling = Spelling::of(literal);
        let (mut whole, mut fraction) = (spelling.whole, trim_end(spelling.fraction));
        let mut places = -to_i64(fraction.len());
        if fraction.is_empty() {
            whole = trim_end(whole);
            places = to_i64(spelling.whole.len() - whole.len());
        }
        whole = trim_start(whole);
        if whole.is_empty() {
            fraction = trim_start(fraction);
        }
        Self { whole, fraction, exponent: spelling.exponent_value().saturating_add(places) }
    }

    fn is_multiple_of(self, divisor: Scaled<'_>) -> bool {
        if self.len() == 0 {
            return true;
        }
        // No digits end in zero, so a finer unit than the divisor's cannot cancel: 12.5 by 5.
        let Ok(zeros) = usize::try_from(self.exponent.saturating_sub(divisor.exponent)) else {
            return false;
        };
        // Fewer digits than the divisor: less than the divisor, and not zero.
        if self.len().saturating_add(zeros) < divisor.len() {
            return false;
        }
        let zeros = zeros.min(divisor.useful_zeros());
        match divisor.len() {
            0 => false,
            len if len <= WIDE_GROUP => self.is_multiple_of_short(zeros, divisor),
            len => len <= MAX_DIGITS && self.is_multiple_of_long(zeros, divisor),
        }
    }

    fn is_multiple_of_short(self, zeros: usize, divisor: Scaled<'_>) -> bool {
        // Not zero: the first digit is not.
        let divisor = u128::from(divisor.groups(WIDE_GROUP, 0).sum::<u64>().max(1));
        let remainder = self
            .groups(WIDE_GROUP, zeros)
            .fold(0, |remainder, group| (remainder * u128::from(WIDE_GROUP_BASE) + u128::from(group)) % divisor);
        remainder == 0
    }

    fn is_multiple_of_long(self, zeros: usize, divisor: Scaled<'_>) -> bool {
        let mut division = LongDivision::by(divisor);
        for group in self.groups(GROUP, zeros) {
            division.push(group);
        }
        division.is_exact()
    }

    fn len(self) -> usize {
        self.whole.len() + self.fraction.len()
    }

    fn digits(self) -> impl Iterator<Item = u8> {
        self.whole.iter().chain(self.fraction).map(|&byte| digit(byte))
    }

    /// How many zeros after the value can still help this divisor to divide it.
    ///
    /// Zeros bring in factors 2 and 5, and the divisor does not end in zero, so it has only the one
    /// or the other, and no more of them than its length allows. This is what keeps 1e100000 cheap.
    fn useful_zeros(self) -> usize {
        match self.digits().last() {
            Some(1 | 3 | 7 | 9) => 0,
            Some(5) => zeros_bound(self.len()) / 2,
            _ => zeros_bound(self.len()),
        }
    }

    /// The digits and then the zeros, in numbers of `size` digits; the first one may have fewer.
    fn groups(self, size: usize, zeros: usize) -> impl Iterator<Item = u64> {
        let mut digits = self.digits().chain(iter::repeat_n(0, zeros));
        let mut left = self.len() + zeros;
        iter::from_fn(move || {
            let len = left.checked_sub(1)? % size + 1;
            left -= len;
            Some(digits.by_ref().take(len).fold(0, |value, digit| value * 10 + u64::from(digit)))
        })
    }
}

/// Factors 2 that a number of `len` digits can have: at most 10/3 a digit, as 10^3 < 2^10. Factors
/// 5 are fewer than half of that: 10 < 5^(5/3).
fn zeros_bound(len: usize) -> usize {
    len.saturating_mul(10) / 3 + 2
}

fn to_i64(len: usize) -> i64 {
    i64::try_from(len).unwrap_or(i64::MAX)
}

fn trim_start(digits: &[u8]) -> &[u8] {
    let zeros = digits.iter().take_while(|&&byte| digit(byte) == 0).count();
    digits.get(zeros..).unwrap_or_default()
}

fn trim_end(digits: &[u8]) -> &[u8] {
    let zeros = digits.iter().rev().take_while(|&&byte| digit(byte) == 0).count();
    digits.get(..digits.len() - zeros).unwrap_or_default()
}

/// Division by more than 64 bits, for the remainder only. Limbs of nine digits, the least first.
///
/// A limb has 64 bits for 30 in use: that spares the casts, and 8 kB is little for a stack.
struct LongDivision {
    divisor: [u64; LIMBS],
    /// Less than the divisor; one limb more, for the moment in which a group has come in.
    remainder: [u64; LIMBS + 1],
    /// Limbs of the divisor, at least three.
    len: usize,
}

const LIMBS: usize = MAX_DIGITS.div_ceil(GROUP);

impl LongDivision {
    /// `divisor` has more than [`WIDE_GROUP`] digits and at most [`MAX_DIGITS`].
    fn by(divisor: Scaled<'_>) -> Self {
        let len = divisor.len().div_ceil(GROUP).clamp(3, LIMBS);
        let mut limbs = [0; LIMBS];
        for (limb, group) in limbs[..len].iter_mut().rev().zip(divisor.groups(GROUP, 0)) {
            *limb = group;
        }
        Self { divisor: limbs, remainder: [0; LIMBS + 1], len }
    }

    /// Appends nine digits to the dividend.
    fn push(&mut self, group: u64) {
        self.remainder.copy_within(..self.len, 1);
        self.remainder[0] = group;
        self.subtract(self.quotient_guess());
        if self.reaches_divisor() {
            self.subtract(1);
        }
    }

    /// The next limb of the quotient or one less, from the three upper limbs of the remainder and
    /// the two of the divisor, the latter rounded up.
    ///
    /// With `r` and `d` those numbers, `B` the base and `g` the guess, `r / (d + 1)` cut to an
    /// integer: the true quotient is below `(r + 1) / d`, hence below `g + 1 + (g + 2) / d`. If
    /// `g + 2 <= B <= d` that is at most `g + 2`; if not, the quotient is below `B < g + 2` anyway.
    fn quotient_guess(&self) -> u64 {
        let n = self.len;
        let [a, b, c] = [n, n - 1, n - 2].map(|at| u128::from(self.remainder[at]));
        let base = u128::from(GROUP_BASE);
        let remainder = (a * base + b) * base + c;
        let divisor = self.divisor[n - 1] * GROUP_BASE + self.divisor[n - 2];
        u64::try_from(remainder / u128::from(divisor + 1)).unwrap_or(0)
    }

    /// Takes `quotient` divisors off the remainder, which has as many.
    fn subtract(&mut self, quotient: u64) {
        let mut carry = 0;
        for (limb, divisor) in self.remainder.iter_mut().zip(&self.divisor[..self.len]) {
            carry += quotient * divisor;
            let low = carry % GROUP_BASE;
            carry /= GROUP_BASE;
            if *limb < low {
                *limb += GROUP_BASE;
                carry += 1;
            }
            *limb -= low;
        }
        let top = &mut self.remainder[self.len];
        *top = top.saturating_sub(carry);
    }

    fn reaches_divisor(&self) -> bool {
        let (low, high) = self.remainder.split_at(self.len);
        high[0] > 0 || low.iter().rev().ge(self.divisor[..self.len].iter().rev())
    }

    fn is_exact(&self) -> bool {
        self.remainder.iter().all(|&limb| limb == 0)
    }
}

/// The magnitude of an integer in the range of doubles, in binary; the highest limb first, so that
/// the derived order is that of the numbers.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Magnitude([u64; Self::LIMBS]);

impl Magnitude {
    /// 309 digits are below 2^1027.
    const LIMBS: usize = 17;

    /// `digits` are at most [`DOUBLE_DIGITS`]; what more there were would be lost at the top.
    fn of_digits(digits: &[u8]) -> Self {
        let mut limbs = [0; Self::LIMBS];
        for group in digits.chunks(WIDE_GROUP) {
            let (mut scale, mut carry) = (1_u128, 0_u128);
            for &byte in group {
                scale *= 10;
                carry = carry * 10 + u128::from(digit(byte));
            }
            for limb in limbs.iter_mut().rev() {
                carry += u128::from(*limb) * scale;
                *limb = low_half(carry);
                carry >>= 64;
            }
        }
        Self(limbs)
    }

    /// `double` is finite and at least 2^63, so it is its 53 bits with zeros after them.
    fn of_double(double: f64) -> Self {
        let bits = double.abs().to_bits();
        let mantissa = bits & ((1 << 52) - 1) | 1 << 52;
        let shift = (bits >> 52).saturating_sub(1075);
        let shifted = u128::from(mantissa) << (shift % 64);
        let parts = [low_half(shifted), low_half(shifted >> 64)];
        let below = usize::try_from(shift / 64).unwrap_or(0);
        let mut limbs = [0; Self::LIMBS];
        for (limb, part) in limbs.iter_mut().rev().skip(below).zip(parts) {
            *limb = part;
        }
        Self(limbs)
    }

    /// Whether a double is exactly this: 53 bits or fewer between the first one and the last, and
    /// below 2^1024.
    fn is_double(&self) -> bool {
        let Some(high) = self.0.iter().position(|&limb| limb != 0) else {
            return true;
        };
        let low = self.0.iter().rposition(|&limb| limb != 0).unwrap_or(high);
        let first = 64 * u32::try_from(high).unwrap_or(0) + self.0[high].leading_zeros();
        let after_last = 64 * u32::try_from(low).unwrap_or(0) + 64 - self.0[low].trailing_zeros();
        after_last - first <= 53 && first >= 64
    }
}

fn low_half(wide: u128) -> u64 {
    wide as u64
}

#[cfg(test)]
mod tests {
    use std::cmp::Ordering::{self, Equal, Greater, Less};
    use std::hash::{DefaultHasher, Hasher};

    use super::{MAX_DIGITS, MAX_EXPONENT, Number};

    fn number(literal: &str) -> Number<'_> {
        Number::parse(literal).unwrap()
    }

    fn hash(number: Number<'_>) -> u64 {
        let mut hasher = DefaultHasher::new();
        number.hash_into(&mut hasher);
        hasher.finish()
    }

    #[track_caller]
    fn check_kind(literal: &str, expected: &str) {
        let kind = match Number::parse(literal) {
            Ok(Number::Int(int)) => format!("Int {int}"),
            Ok(Number::Big(text)) => format!("Big {text}"),
            Ok(Number::Decimal { value, literal }) => format!("Decimal {value:?} {literal}"),
            Err(limit) => limit.to_string(),
        };
        assert_eq!(kind, expected);
    }

    /// Both ways round, and that hashes are the same exactly when the numbers are.
    #[track_caller]
    fn check_order(a: Number<'_>, b: Number<'_>, expected: Ordering) {
        assert_eq!(a.compare(b), expected);
        assert_eq!(b.compare(a), expected.reverse());
        assert_eq!(hash(a) == hash(b), expected == Equal);
    }

    #[track_caller]
    fn check(a: &str, b: &str, expected: Ordering) {
        check_order(number(a), number(b), expected);
    }

    #[track_caller]
    fn check_multiple(value: &str, divisor: &str, expected: bool) {
        assert_eq!(number(value).is_multiple_of(number(divisor)), expected);
    }

    #[track_caller]
    fn check_text(number: Number<'_>, expected: &str) {
        let mut text = String::new();
        number.write(&mut text).unwrap();
        assert_eq!(text, expected);
    }

    #[track_caller]
    fn check_integral(literal: &str, integral: bool, integer_literal: bool) {
        let number = number(literal);
        assert_eq!((number.is_integral(), number.is_integer_literal()), (integral, integer_literal));
    }

    #[test]
    fn literals_have_kinds() {
        check_kind("0", "Int 0");
        check_kind("-0", "Int 0");
        check_kind("-42", "Int -42");
        check_kind("9223372036854775807", "Int 9223372036854775807");
        check_kind("-9223372036854775808", "Int -9223372036854775808");
        check_kind("9223372036854775808", "Big 9223372036854775808");
        check_kind("-9223372036854775809", "Big -9223372036854775809");
        check_kind("1.0", "Decimal 1.0 1.0");
        check_kind("-0.0", "Decimal -0.0 -0.0");
        check_kind("1E+2", "Decimal 100.0 1E+2");
        check_kind("1e400", "Decimal inf 1e400");
        check_kind("-1e-400", "Decimal -0.0 -1e-400");
    }

    #[test]
    fn limits_are_inclusive() {
        let digits = "7".repeat(MAX_DIGITS);
        assert!(Number::parse(&digits).is_ok());
        assert!(Number::parse(&format!("-{digits}")).is_ok());
        assert!(Number::parse(&format!("{digits}1")).is_err());
        assert!(Number::parse(&format!("0.{}", &digits[1..])).is_ok());
        assert!(Number::parse(&format!("0.{digits}")).is_err());
        for sign in ["", "+", "-"] {
            assert!(Number::parse(&format!("1e{sign}{MAX_EXPONENT}")).is_ok());
            assert!(Number::parse(&format!("1e{sign}{}", MAX_EXPONENT + 1)).is_err());
            assert!(Number::parse(&format!("1e{sign}{digits}")).is_err());
        }
        // Zeros before the exponent do not count, however many.
        let zeros = "0".repeat(2 * MAX_DIGITS);
        check(&format!("1e{zeros}5"), "100000", Equal);
        check_multiple(&format!("1e-{zeros}2"), "0.01", true);
    }

    #[test]
    fn text_outside_the_grammar_is_harmless() {
        let divisor = "9876543210".repeat(30);
        for text in ["", "-", ".", "e", "-.e-", "1e", "+5", "--1", "1.2.3", "1e5e5", "inf", "NaN", "é:/"] {
            for a in [number(text), Number::Big(text), Number::Decimal { value: 1e300, literal: text }] {
                for b in [a, number("0.5"), number("1e300"), number(&divisor)] {
                    check_order(a, b, a.compare(b));
                    let _ = (a.is_multiple_of(b), b.is_multiple_of(a), a.is_integral());
                    assert!(a.multiple_of_cost(b) > 0);
                }
            }
        }
    }

    #[test]
    fn not_a_number_is_harmless() {
        let nan = Number::from_f64(f64::NAN);
        check_text(nan, "nan");
        assert!(!nan.is_multiple_of(number("1")) && !number("1").is_multiple_of(nan));
        assert!(!nan.is_integral());
        assert_eq!(nan.compare(number("1.0")), Equal);
    }

    #[test]
    fn integers_and_doubles_compare_exactly() {
        check("1", "1.0", Equal);
        check("0", "-0.0", Equal);
        check("-1", "-0.5", Less);
        check("0", "-0.5", Greater);
        check("1", "1.5", Less);
        check("9007199254740993", "9007199254740992.0", Greater);
        check("9223372036854775807", "9223372036854775808.0", Less);
        check("-9223372036854775808", "-9223372036854775808.0", Equal);
        check("-9223372036854775808", "-9.3e18", Greater);
    }

    #[test]
    fn big_integers_compare_by_every_digit() {
        check("9223372036854775808", "9223372036854775807", Greater);
        check("-9223372036854775809", "-9223372036854775808", Less);
        check("18446744073709551616", "18446744073709551617", Less);
        check("-18446744073709551616", "-18446744073709551617", Greater);
        check("-18446744073709551616", "18446744073709551616", Less);
        check("100000000000000000000", "99999999999999999999", Greater);
    }

    #[test]
    fn big_integers_and_doubles_compare_exactly() {
        check("9223372036854775808", "9223372036854775808.0", Equal);
        check("9223372036854775809", "9223372036854775808.0", Greater);
        check("-18446744073709551616", "-18446744073709551616.0", Equal);
        check("100000000000000000000000", "1e23", Greater);
        check("99999999999999991611392", "1e23", Equal);
        check("9223372036854775808", "0.5", Greater);
        check("-9223372036854775809", "1e300", Less);
        let greatest = format!("{:.0}", f64::MAX);
        check(&greatest, "1.7976931348623157e308", Equal);
        check(&greatest, "1.7976931348623155e308", Greater);
        check(&format!("{greatest}0"), "1.7976931348623157e308", Greater);
    }

    #[test]
    fn infinities_are_at_the_ends() {
        check("1e400", "1e500", Equal);
        check("-1e400", "1e400", Less);
        check("1e400", "1e308", Greater);
        check("1e400", "5", Greater);
        check("-1e400", "-9223372036854775808", Less);
        check(&"9".repeat(MAX_DIGITS), "1e400", Less);
        check(&format!("-{}", "9".repeat(MAX_DIGITS)), "-1e400", Greater);
    }

    #[test]
    fn integral_is_about_the_value_and_integer_about_the_writing() {
        check_integral("5", true, true);
        check_integral("123456789012345678901234567890", true, true);
        check_integral("5.0", true, false);
        check_integral("1e300", true, false);
        check_integral("5.5", false, false);
        check_integral("1e-5", false, false);
        check_integral("1e400", true, false);
        check_integral(&format!("{}.5", "9".repeat(400)), false, false);
        check_integral(&format!("{}.0", "9".repeat(400)), true, false);
        assert!(!Number::from_f64(f64::INFINITY).is_integral());
    }

    #[test]
    fn multiples_of_integers() {
        check_multiple("10", "5", true);
        check_multiple("-10", "5", true);
        check_multiple("11", "5", false);
        check_multiple("-9223372036854775808", "-1", true);
        check_multiple("0", "0", true);
        check_multiple("1", "0", false);
        check_multiple("7.0", "7", true);
        check_multiple("7.5", "7", false);
        check_multiple("36893488147419103232", "2", true);
        check_multiple("36893488147419103233", "2", false);
        check_multiple("36893488147419103233", "36893488147419103233", true);
        check_multiple("3", "36893488147419103233", false);
    }

    #[test]
    fn multiples_of_decimals_are_of_what_is_written() {
        check_multiple("19.99", "0.01", true);
        check_multiple("0.3", "0.1", true);
        check_multiple("4.35", "0.01", true);
        check_multiple("0.35", "0.1", false);
        check_multiple("0.0075", "0.0001", true);
        check_multiple("0.00751", "0.0001", false);
        check_multiple("1e308", "0.123456789", false);
        check_multiple("1e308", "0.5", true);
        check_multiple("1e16", "0.123456789", false);
        check_multiple("12391239123", "1e-8", true);
        check_multiple("0.0", "0.3", true);
        check_multiple("0.3", "0.0", false);
        check_multiple("0e5", "0.00", true);
        check_multiple("10.000", "1e1", true);
        check_multiple("5", "1e1", false);
        check_multiple("0.1000000000000000055511151231257827", "0.1", false);
    }

    #[test]
    fn multiples_at_the_limits() {
        let nines = "9".repeat(MAX_DIGITS);
        let power_of_2 = format!("{:.0}", 2_f64.powi(200));
        check_multiple("1e100000", &nines, false);
        check_multiple(&nines, "1e-100000", true);
        check_multiple("1e-100000", &nines, false);
        check_multiple(&format!("{nines}e100000"), &format!("{nines}e-100000"), true);
        check_multiple("1e100000", &power_of_2, true);
        check_multiple("1e200", &power_of_2, true);
        check_multiple("1e199", &power_of_2, false);
        check_multiple("1e100000", "1e-100000", true);
        let too_long = format!("{nines}9");
        assert!(!Number::Big(&too_long).is_multiple_of(Number::Big(&too_long)));
    }

    #[test]
    fn shortest_digits_stand_for_a_lone_double() {
        let [a, b, infinity] = [19.99, 0.01, f64::INFINITY].map(Number::from_f64);
        assert!(a.is_multiple_of(b) && a.is_multiple_of(number("0.01")));
        assert!(!b.is_multiple_of(a));
        assert!(Number::from_f64(0.0).is_multiple_of(b));
        assert!(Number::from_f64(1e308).is_multiple_of(number("10")));
        assert!(!infinity.is_multiple_of(b) && !a.is_multiple_of(infinity));
    }

    #[test]
    fn cost_grows_with_the_digits_only() {
        let nines = "9".repeat(MAX_DIGITS);
        assert_eq!(number("9223372036854775807").multiple_of_cost(number("3")), 1);
        assert!(number("19.99").multiple_of_cost(number("0.01")) < 10);
        assert!(number("1e100000").multiple_of_cost(number("1e-9")) < 10);
        let most = number(&nines).multiple_of_cost(number(&nines));
        assert!((900_000..1_200_000).contains(&most));
    }

    #[test]
    fn integers_are_written_in_full() {
        check_text(number("-0"), "0");
        check_text(number("-7"), "-7");
        check_text(number("9223372036854775808"), "9223372036854775808");
        check_text(number("-10000000000000000000000000"), "-10000000000000000000000000");
    }

    #[test]
    fn doubles_are_written_as_python_writes_them() {
        for (literal, expected) in [
            ("1.0", "1.0"),
            ("-0.0", "-0.0"),
            ("-0e5", "-0.0"),
            ("1E5", "100000.0"),
            ("1000000000000000.0", "1000000000000000.0"),
            ("1000000000000000.5", "1000000000000000.5"),
            ("9999999999999998.0", "9999999999999998.0"),
            ("1e16", "1e+16"),
            ("123456789012345678.0", "1.2345678901234568e+17"),
            ("1e22", "1e+22"),
            ("-1.5e300", "-1.5e+300"),
            ("0.0001", "0.0001"),
            ("0.00001", "1e-05"),
            ("0.00012345", "0.00012345"),
            ("5e-324", "5e-324"),
            ("-2.2250738585072014e-308", "-2.2250738585072014e-308"),
            ("1e400", "inf"),
            ("-1e400", "-inf"),
        ] {
            check_text(number(literal), expected);
        }
        check_text(Number::from_f64(0.1), "0.1");
    }

    #[test]
    fn ties_between_shortest_digits_go_to_the_even_one() {
        check_text(number("562949953421312.25"), "562949953421312.2");
        check_text(number("562949953421312.75"), "562949953421312.8");
        check_text(number("-1125899906842624.25"), "-1125899906842624.2");
        check_text(number("0.50000762939453125"), "0.5000076293945312");
        check_text(number("70368744177664.125"), "70368744177664.12");
        // 2^-24: of its two nearest, only the upper reads back.
        check_text(number("5.9604644775390625e-08"), "5.960464477539063e-08");
        let lone = Number::from_f64(2_f64.powi(49) + 0.25);
        assert!(lone.is_multiple_of(number("0.2")) && !lone.is_multiple_of(number("0.3")));
    }
}
