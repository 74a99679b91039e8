//! Which code points may stand in a U-label: RFC 5892, by the Unicode version of `icu_properties`.
//!
//! Left out is what UTS #46 processing checks as well: normalization, hyphens, marks at the start,
//! the joiners' rules (appendices A.1 and A.2), the Bidi rule and lengths. Nothing allocates.

use icu_properties::props::{
    ChangesWhenNfkcCasefolded, DefaultIgnorableCodePoint, GeneralCategory, HangulSyllableType, Script,
};
use icu_properties::{CodePointMapData, CodePointSetData};

/// Whether every code point of `label` is PVALID, or CONTEXTO with its rule kept, or a joiner
/// (RFC 5892 section 3 and appendix A). Quadratic: for labels whose length is bounded.
pub(super) fn is_permitted(label: &str) -> bool {
    let mut before = None;
    let mut rest = label.chars();
    while let Some(c) = rest.next() {
        let after = rest.clone().next();
        if !is_permitted_between(before, c, after, label) {
            return false;
        }
        before = Some(c);
    }
    true
}

/// The exceptions of section 2.6 with the rules of appendices A.3 to A.9, before all else.
fn is_permitted_between(before: Option<char>, c: char, after: Option<char>, label: &str) -> bool {
    let has = |script| label.chars().any(|other| is_of(other, script));
    match c {
        'ß' | 'ς' | '\u{6FD}' | '\u{6FE}' | '\u{F0B}' | '\u{3007}' => true,
        '\u{640}' | '\u{7FA}' | '\u{302E}' | '\u{302F}' | '\u{3031}'..='\u{3035}' | '\u{303B}' => false,
        // Middle dot.
        '\u{B7}' => before == Some('l') && after == Some('l'),
        // Greek keraia.
        '\u{375}' => after.is_some_and(|after| is_of(after, Script::Greek)),
        // Hebrew geresh and gershayim.
        '\u{5F3}' | '\u{5F4}' => before.is_some_and(|before| is_of(before, Script::Hebrew)),
        // Katakana middle dot.
        '\u{30FB}' => [Script::Hiragana, Script::Katakana, Script::Han].into_iter().any(has),
        // Arabic-Indic digits, and the extended ones: never both.
        '\u{660}'..='\u{669}' => !label.contains(|c| matches!(c, '\u{6F0}'..='\u{6F9}')),
        '\u{6F0}'..='\u{6F9}' => !label.contains(|c| matches!(c, '\u{660}'..='\u{669}')),
        _ => is_joiner(c) || is_letter_or_digit(c),
    }
}

/// `JoinControl`, section 2.8.
fn is_joiner(c: char) -> bool {
    matches!(c, '\u{200C}' | '\u{200D}')
}

/// What section 3 leaves PVALID after the exceptions: letters, digits and marks that are stable
/// under folding and normalization, and the hyphen.
fn is_letter_or_digit(c: char) -> bool {
    if c.is_ascii() {
        return matches!(c, '-' | '0'..='9' | 'a'..='z');
    }
    is_in_letter_digits(c) && !is_unstable(c) && !is_ignorable(c) && !is_old_hangul_jamo(c)
}

/// `LetterDigits`, section 2.1. What is unassigned isn't in it.
fn is_in_letter_digits(c: char) -> bool {
    matches!(
        CodePointMapData::<GeneralCategory>::new().get(c),
        GeneralCategory::LowercaseLetter
            | GeneralCategory::UppercaseLetter
            | GeneralCategory::OtherLetter
            | GeneralCategory::DecimalNumber
            | GeneralCategory::ModifierLetter
            | GeneralCategory::NonspacingMark
            | GeneralCategory::SpacingMark
    )
}

/// `Unstable`, section 2.2. Unicode's property differs in characters that `is_ignorable` has too.
fn is_unstable(c: char) -> bool {
    CodePointSetData::new::<ChangesWhenNfkcCasefolded>().contains(c)
}

/// `IgnorableProperties` and `IgnorableBlocks`, sections 2.3 and 2.4; white space and
/// noncharacters are no letters anyway.
fn is_ignorable(c: char) -> bool {
    // Marks for symbols, musical symbols, ancient Greek musical notation.
    matches!(c, '\u{20D0}'..='\u{20FF}' | '\u{1D100}'..='\u{1D1FF}' | '\u{1D200}'..='\u{1D24F}')
        || CodePointSetData::new::<DefaultIgnorableCodePoint>().contains(c)
}

/// `OldHangulJamo`, section 2.9.
fn is_old_hangul_jamo(c: char) -> bool {
    matches!(
        CodePointMapData::<HangulSyllableType>::new().get(c),
        HangulSyllableType::LeadingJamo | HangulSyllableType::VowelJamo | HangulSyllableType::TrailingJamo
    )
}

fn is_of(c: char, script: Script) -> bool {
    CodePointMapData::<Script>::new().get(c) == script
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(label: &str, expected: bool) {
        assert_eq!(is_permitted(label), expected, "{label:?}");
    }

    #[test]
    fn letters_and_digits() {
        check("caf\u{e9}-9", true);
        check("\u{447}\u{430}\u{439}", true);
        check("\u{e01}\u{e34}", true);
        check("\u{967}", true);
        check("Cafe", false);
        check("\u{c9}", false);
        check("\u{2126}", false);
        check("a_b", false);
        check("\u{1f600}", false);
        check("\u{2160}", false);
        check("\u{ad}a", false);
        check("a b", false);
        check("a\u{378}", false);
        check("a\u{20d0}", false);
        check("\u{1100}\u{1161}", false);
        check("\u{ac00}", true);
    }

    #[test]
    fn exceptions() {
        check("fu\u{df}", true);
        check("\u{3bb}\u{3cc}\u{3b3}\u{3bf}\u{3c2}", true);
        check("\u{628}\u{640}\u{628}", false);
        check("\u{4eba}\u{3005}\u{3007}", true);
        check("\u{4eba}\u{303b}", false);
    }

    #[test]
    fn contexts() {
        check("col\u{b7}lega", true);
        check("col\u{b7}a", false);
        check("\u{b7}", false);
        check("\u{375}\u{3b3}", true);
        check("\u{3b3}\u{375}", false);
        check("\u{5d2}\u{5f3}", true);
        check("g\u{5f4}", false);
        check("\u{30ab}\u{30fb}", true);
        check("ka\u{30fb}", false);
        check("\u{664}\u{665}", true);
        check("\u{664}a\u{6f5}", false);
    }
}
