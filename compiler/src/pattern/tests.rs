//! Patterns in both syntaxes, and what they match.

use callgate_vm::pattern::{Pattern, PatternScratch};
use callgate_vm::text::Text;

use super::*;

fn engine(pattern: &str) -> Pattern {
    let Translation { regex, hir, backtracks, shape } = translate(pattern).unwrap();
    match (backtracks, shape) {
        (_, Some(shape)) => Ok(Pattern::of_shape(pattern, shape)),
        (true, None) => Pattern::backtracking(pattern, &regex),
        (false, None) => Pattern::regular(pattern, &hir.expect("a regular pattern is parsed")),
    }
    .unwrap_or_else(|error| panic!("{pattern}: {error}"))
}

#[track_caller]
fn check(pattern: &str, regex: &str) {
    let translation = translate(pattern).unwrap_or_else(|error| panic!("{pattern}: {error:?}"));
    assert_eq!(translation.regex, regex, "{pattern}");
    assert_eq!(translation.backtracks, parse(regex).is_err(), "{pattern}");
    assert!(regex.len() <= pattern.len() * OUTPUT_BYTES_MAX, "{pattern}");
    engine(pattern);
}

#[track_caller]
fn check_matches(pattern: &str, matching: &[&str], others: &[&str]) {
    let (engine, mut scratch) = (engine(pattern), PatternScratch::default());
    for text in matching {
        assert_eq!(engine.is_match(Text::plain_text(text), &mut scratch), Ok(true), "{pattern} on {text}");
    }
    for text in others {
        assert_eq!(engine.is_match(Text::plain_text(text), &mut scratch), Ok(false), "{pattern} on {text}");
    }
}

#[track_caller]
fn check_shape(pattern: &str, shape: impl Into<Option<Shape>>) {
    assert_eq!(translate(pattern).unwrap().shape, shape.into(), "{pattern}");
}

#[track_caller]
fn check_untranslatable(pattern: &str, at: usize, reason: &'static str) {
    assert_eq!(translate(pattern), untranslatable(at, reason), "{pattern}");
}

#[test]
fn the_module_example_holds() {
    check(r"^\d+(?<unit>\s?[^\W_]{2})$", r"\A[0-9]+(?:[\t-\r\p{Z}\x{FEFF}]?[^[^0-9A-Za-z_]_]{2})\z");
    check(r#"(["']).*\1"#, r#"(["'])[^\n\r\x{2028}\x{2029}]*(?:\1)"#);
}

#[test]
fn literals_are_escaped_for_their_place() {
    check(r"\^\$\\\.\*\+\?\(\)\[\]\{\}\|\/", r"\^\$\\\.\*\+\?\(\)\[\]\{\}\|/");
    check("a-z #&&~~é中\u{301}", r"a-z #&&~~é中\x{301}");
    check(r"\t\0\cJ\x7f\u{1F432}", r"\x{9}\x{0}\x{A}\x{7F}\x{1F432}");
    check(r"[---a&&b~~\-\]\\\^[:alpha:]", r"[\-a\&\&b\~\~\-\]\\\^\[:alpha:]");
    check(r"[.*+?()|{}$#\b]", r"[.*+?()|{}$#\x{8}]");
}

#[test]
fn classes_keep_their_members() {
    check("[]a", r"[^\x{0}-\x{10FFFF}]a");
    check("[^]a", r"[\x{0}-\x{10FFFF}]a");
    check("[a-z0-9_-]b", r"[a-z0-9_\-]b");
    check(r"[\d\D\w\W\s]b", r"[0-9[^0-9]0-9A-Za-z_[^0-9A-Za-z_]\t-\r\p{Z}\x{FEFF}]b");
    check(r"[^\S\p{Lu}\P{sc=Grek}]", r"[^[^\t-\r\p{Z}\x{FEFF}]\p{Lu}\P{sc=Greek}]");
    check_matches(r"^[\S]$", &["a", "\u{85}", "\u{180e}"], &[" ", "\u{feff}", "\u{a0}", "\u{2028}", "\u{3000}", "\n"]);
    check_matches(r"^[^a&&b]$", &["c"], &["a", "b", "&"]);
}

#[test]
fn surrogates_match_nothing() {
    check(r"\ud83dx", r"[^\x{0}-\x{10FFFF}]x");
    check(r"\ud83d\udc32x", r"\x{1F432}x");
    check(r"[\ud83d]x", r"[^\x{0}-\x{10FFFF}]x");
    check(r"[^\ud83d-\udfff]x", r"[\x{0}-\x{10FFFF}]x");
    check(r"[a-\udfff\ud800-\uffff]x", r"[a-\x{D7FF}\x{E000}-\x{FFFF}]x");
    check(r"\p{Cs}\P{Cs}[\p{Cs}]", r"[^\x{0}-\x{10FFFF}][\x{0}-\x{10FFFF}][^\x{0}-\x{10FFFF}]");
}

#[test]
fn properties_have_one_name() {
    check(r"\p{Letter}\p{gc=digit}\P{scx=Grek}\p{space}", r"\p{L}\p{Nd}\P{scx=Greek}\p{White_Space}");
    let reason = "a Unicode property that regex-syntax has no table for";
    check_untranslatable(r"a\p{CWKCF}", 1, reason);
    check_untranslatable(r"[\p{sc=Unknown}]", 1, reason);
}

#[test]
fn assertions_are_about_the_whole_text_and_ascii_words() {
    check("^a$|^$", r"\Aa\z|\A\z");
    check(r"\ba\b", r"(?-u:\b)a(?-u:\b)");
    check(r"\B", r"\A[\x{0}-\x{10FFFF}]*?(?:(?-u:\B))");
    check_matches("^[ab]$", &["a"], &["a\n", "\na"]);
    for look in ["", "(?=)"] {
        check_matches(&format!(r"{look}\bé\b"), &["aéa"], &["é"]);
        check_matches(&format!(r"{look}é\B"), &["é", "é-"], &["éa"]);
        check_matches(&format!(r"{look}(?:\B|é\b)"), &["aéb", "aé", ""], &["a"]);
    }
}

#[test]
fn counts_are_bounded() {
    check("a{2}b{2,}?c{0,1}d{1,}e{0,}?f{2,3}", "a{2}b{2,}?c?d+e*?f{2,3}");
    check("a{0,4294967296}", "a*");
    check("a{5,99999999999999999999}", "a{5,}");
    check_untranslatable("ba{4294967295}", 2, "a repetition of 2^32 - 1 times or more");
    let reason = "too large for look-around or back-references";
    check_untranslatable("(?=x)(?:a{1000}){1000}", 16, reason);
    check_untranslatable(&(r"\p{L}".repeat(1000) + "(?=x)"), 0, reason);
    assert!(translate("(?:a{1000}){1000}").is_ok());
}

#[test]
fn repeated_assertions_are_written_without_a_quantifier() {
    check("(?:(?=a))*a", "(?:(?=a)|)a");
    check("(?:(?!a)){2,}a", "(?:(?!a))a");
    check("(?:)+(?=a)", "(?:)(?=a)");
    check("(^)?a", r"(?:\A|)a");
}

#[test]
fn groups_capture_for_references_only() {
    check("(a)(?<n>b)", "(?:a)(?:b)");
    check(r"(a)(b)\2(?<n>c)\k<n>0", r"(?:a)(b)(?:\1)(c)(?:\2)0");
    check(r"(?<=a)(?<!b)(?=c)(?!d)", "(?<=a)(?<!b)(?=c)(?!d)");
}

#[test]
fn references_to_groups_that_cannot_have_taken_part_are_empty() {
    check(r"\1(a)", "(?:a{0})(?:a)");
    check(r"(a\1)*", "(?:a(?:a{0}))*");
    check(r"(?:(a)|b\1)", "(?:(?:a)|b(?:a{0}))");
    check(r"(?!(a)b)\1", "(?!(?:a)b)(?:a{0})");
    check(r"(?<=(a)\1)", "(?<=(?:a)(?:a{0}))");
    check(r"(a){0}\1", "(?:a){0}(?:a{0})");
    check(r"(\b)\1*", r"(?:(?-u:\b))(?:a{0})*");
}

#[test]
fn references_to_groups_that_may_not_have_taken_part_match_either_way() {
    check(r"(a)?\1", r"(a|)(?:\1)");
    check(r"(a|b)??\1", r"(|a|b)(?:\1)");
    check(r"(?:(a)|b)\1", r"(?:(a)|b)(?(1)\1|)");
    check(r"(a)*\1", r"(a)*(?(1)\1|)");
    check_matches(r"^(?:(a)|b)\1$", &["aa", "b"], &["a", "ba"]);
    check_matches(r"^(?:(-)?\d\1)+$", &["1-2-3", "-4-"], &["-4", "5-"]);
}

#[test]
fn references_that_the_engines_see_differently_are_refused() {
    check_untranslatable(r"(?:(a)|b)*\1", 10, "a reference to a group that only some repetitions set");
    check_untranslatable(r"(a*)*\1", 5, "a reference to a group in a repetition of the empty text");
    check_untranslatable(r"(?<=\1(a))", 4, "a reference to a group in the same look-behind");
    check_untranslatable(r"(?<=(a*)b)\1", 10, "a reference to a group in a look-behind of variable width");
    let reason = "a reference to a group in a look-ahead that repeats the empty text";
    check_untranslatable(r"(?=((?:a*?)*))\1", 14, reason);
    check(r"(?<=(a|b)c)\1", r"(?<=(a|b)c)(?:\1)");
}

#[test]
fn syntax_errors_come_first() {
    let error = PatternError::Syntax { at: 100, reason: "a group is not closed" };
    assert_eq!(translate(&"(".repeat(100)), Err(error));
    let nested = |depth| "(?:".repeat(depth) + &")".repeat(depth);
    assert!(translate(&nested(GROUP_DEPTH_MAX as usize)).is_ok());
    let at = 3 * GROUP_DEPTH_MAX as usize;
    check_untranslatable(&nested(GROUP_DEPTH_MAX as usize + 1), at, "groups nest too deeply");
}

#[test]
fn the_deepest_patterns_can_be_read() {
    let depth = GROUP_DEPTH_MAX as usize;
    for (open, middle, close) in [("(?:a|b", r"[\Wé]{2}", ")*?d"), ("(?=a|b", r"\b\p{L}", ")d"), ("(a|b", "c", ")?d")]
    {
        let pattern = open.repeat(depth) + middle + &close.repeat(depth);
        engine(&pattern);
        engine(&(pattern + "(?=d)"));
    }
}

#[test]
fn simple_patterns_have_a_shape() {
    let exact = |text: &str| Shape::Exact(text.to_owned());
    for pattern in ["", "a*", "^", "$", ".*", "^.*", "a|", "^(?:ab)?|c", "^[^]*$", r"^[\s\S]*$", r"\1()"] {
        check_shape(pattern, Shape::Any);
    }
    check_shape("^$", exact(""));
    check_shape(r"^(?:a\.b)(é)$", exact("a.bé"));
    check_shape("^ab", Shape::Prefix("ab".to_owned()));
    check_shape("ab$", Shape::Suffix("ab".to_owned()));
    check_shape("a(b)", Shape::Contains("ab".to_owned()));
    for pattern in
        ["^.*$", "^.+", "a|b", "^a|b$", "a^", r"\b", "^[^a]*$", "^[é]+$", "^(?:ab)+$", "[ab]", "[ab]$", "(?=a)"]
    {
        check_shape(pattern, None);
    }
}

#[test]
fn repeated_ascii_classes_have_a_shape() {
    let class = |ascii, min, max| Shape::Class { ascii, min, max };
    let digits = 0x3FF << b'0';
    check_shape(r"^\d+$", class(digits, 1, None));
    check_shape("^[0-9]{2,8}?$", class(digits, 2, Some(8)));
    check_shape("^(0|1)$", class(0b11 << b'0', 1, Some(1)));
    check_shape("^a{3}$", class(1 << b'a', 3, Some(3)));
    check_shape(r"^[\0-\x7f]*$", class(u128::MAX, 0, None));
}

#[test]
fn ascii_classes_one_after_the_other_have_a_shape() {
    let piece = |ascii, min, max| Piece { ascii, min, max };
    let pieces = |pieces: &[Piece], whole| Shape::Pieces { pieces: pieces.into(), whole };
    let digits = 0x3FF << b'0';
    let once = |c: u8| piece(1 << c, 1, Some(1));
    check_shape("^M[0-9]{6}$", pieces(&[once(b'M'), piece(digits, 6, Some(6))], true));
    check_shape(r"^-?(\d)+", pieces(&[piece(1 << b'-', 0, Some(1)), piece(digits, 1, None)], false));
    check_shape("^[ab]", pieces(&[piece(0b11 << b'a', 1, Some(1))], false));
    for pattern in ["^[a-z]+[a-c]$", "^a*b?a$", "^aé[0-9]", "[0-9]a$", "^a(?:bc)*$", "^a[^b]$", "^a|b[0-9]$"] {
        check_shape(pattern, None);
    }
    assert!(translate(&format!("^{}[ab]$", "a".repeat(PIECES_MAX - 1))).unwrap().shape.is_some());
    check_shape(&format!("^{}[ab]$", "a".repeat(PIECES_MAX)), None);
}

#[test]
fn alternatives_of_pieces_have_a_shape() {
    let shape = |pattern| translate(pattern).unwrap().shape;
    assert!(matches!(shape("^(?:[0-9]{8}|0{4}-a|b)$"), Some(Shape::Alternatives(_))));
    check_matches("^([0-9a-f]{2}-[0-9]|00-00|b)$", &["a0-1", "00-00", "b"], &["", "a0-", "00-001", "c", "xb"]);
    for pattern in ["^([0-9]a|b+b|cd)$", "^([0-9]a|bc|cd|de|ef)$", "^([0-9]a|bc)", "^[0-9]a|bc$"] {
        check_shape(pattern, None);
    }
}

/// Numbers that look random, the same in every run.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % end
    }

    fn pick<'t>(&mut self, from: &[&'t str]) -> &'t str {
        from[self.below(from.len())]
    }

    fn join(&mut self, from: &[&str], len: usize) -> String {
        (0..len).map(|_| self.pick(from)).collect()
    }
}

#[test]
fn pieces_match_what_the_automaton_does() {
    const CLASSES: [&str; 9] = ["a", "b", "-", "[ab]", "[0-9]", r"\d", "[a-c]", "[b-]", "1a"];
    const TIMES: [&str; 9] = ["", "", "?", "*", "+", "{2}", "{1,2}", "{2,}", "+?"];
    const CHARS: [&str; 8] = ["a", "b", "c", "-", "0", "1", "é", "\n"];
    let (mut numbers, mut scratch, mut shaped) = (Numbers(7), PatternScratch::default(), 0);
    for _ in 0..2_000 {
        let len = 1 + numbers.below(5);
        let mut body = String::new();
        for _ in 0..len {
            body += &["(?:", numbers.pick(&CLASSES), ")", numbers.pick(&TIMES)].concat();
        }
        let pattern = match numbers.below(3) {
            0 => format!("^{body}"),
            1 => format!("^{body}$"),
            _ => format!("^(?:{body}|0[ab]|-+)$"),
        };
        let translation = translate(&pattern).unwrap();
        let Some(shape @ (Shape::Pieces { .. } | Shape::Alternatives(_))) = translation.shape else {
            continue;
        };
        shaped += 1;
        let pieces = Pattern::of_shape(&pattern, shape);
        let automaton = Pattern::regular(&pattern, &translation.hir.expect("a regular pattern is parsed")).unwrap();
        for _ in 0..60 {
            let len = numbers.below(9);
            let text = numbers.join(&CHARS, len);
            let [expected, found] =
                [&automaton, &pieces].map(|engine| engine.is_match(Text::plain_text(&text), &mut scratch));
            assert_eq!(found, expected, "{pattern} on {text}");
            assert!(pieces.fuel(text.len()) <= automaton.fuel(text.len()));
        }
    }
    assert!(shaped > 400, "{shaped}");
}
