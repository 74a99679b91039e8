//! The piece of a text that a finding is about, on one line, with a caret under it.

use std::ops::Range;

use crate::output::visible;

/// How much of the line is shown before the span, and of the span and what follows. Unit: characters.
const BEFORE_MAX: usize = 32;
const BEHIND_MAX: usize = 64;

/// A piece of a line, and where in it to point.
#[derive(Debug, PartialEq, Eq)]
pub struct Excerpt {
    /// The piece; `…` where the line goes on.
    pub line: String,
    /// Where the span starts in it. Unit: characters.
    pub indent: usize,
    /// How long it is. Unit: characters, at least one.
    pub width: usize,
}

impl Excerpt {
    /// The piece around `span`; none where nothing is there to be seen. Cost: a few hundred bytes of the text are looked
    /// at, however long its lines are.
    pub fn of(text: &[u8], span: &Range<usize>) -> Option<Excerpt> {
        let start = span.start.min(text.len());
        let end = span.end.clamp(start, text.len());
        // A character has four bytes at most.
        let from = start.saturating_sub(4 * (BEFORE_MAX + 1));
        let to = text.len().min(start + 4 * (BEHIND_MAX + 1));
        let is_break = |byte: &u8| matches!(byte, b'\n' | b'\r');
        let before = &text[from..start];
        let before = &before[before.iter().rposition(is_break).map_or(0, |at| at + 1)..];
        let behind = &text[start..to];
        let behind = &behind[..behind.iter().position(is_break).unwrap_or(behind.len())];
        let span_bytes = (end - start).min(behind.len());

        // The piece may be cut inside a character, but what is no text is no use to anybody.
        let is_text = |bytes: &[u8]| bytes.utf8_chunks().all(|chunk| chunk.valid().len() >= chunk.invalid().len());
        if !is_text(before) || !is_text(behind) {
            return None;
        }
        let before = String::from_utf8_lossy(before);
        let is_cut = before.chars().count() > BEFORE_MAX || from > 0 && before.len() >= start - from;
        let skipped = before.chars().count().saturating_sub(BEFORE_MAX);
        let before: String = before.chars().skip(skipped).collect();
        let before = if is_cut { before } else { before.trim_start().to_owned() };
        let inside = String::from_utf8_lossy(&behind[..span_bytes]);
        let rest = String::from_utf8_lossy(&behind[span_bytes..]);
        let (shown_before, shown_inside) = (visible(&before), visible(&inside));

        let mut line = if is_cut { "…".to_owned() } else { String::new() };
        line.push_str(&shown_before);
        let indent = line.chars().count();
        let inside_len = shown_inside.chars().count();
        line.extend(shown_inside.chars().take(BEHIND_MAX));
        let room = BEHIND_MAX.saturating_sub(inside_len);
        let shown_rest = visible(rest.trim_end());
        line.extend(shown_rest.chars().take(room));
        if inside_len + shown_rest.chars().count() > BEHIND_MAX || to < text.len() && start + behind.len() == to {
            line.push('…');
        }
        let width = inside_len.clamp(1, BEHIND_MAX);
        (!line.trim().is_empty()).then_some(Excerpt { line, indent, width })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, span: Range<usize>, expected: &str) {
        let excerpt = Excerpt::of(text.as_bytes(), &span).expect("something to see");
        let shown = format!("{}\n{}{}", excerpt.line, " ".repeat(excerpt.indent), "^".repeat(excerpt.width));
        assert_eq!(shown, expected);
    }

    #[test]
    fn short_lines_are_shown_whole() {
        check("{\n  \"a\": 1,\n  \"b\": \"x\"\n}", 19..22, "\"b\": \"x\"\n     ^^^");
        check("[1]", 1..2, "[1]\n ^");
        check("{\r\n\"é\": 2}\r\n", 9..10, "\"é\": 2}\n     ^");
    }

    #[test]
    fn long_lines_are_cut() {
        let text = format!("{}\"here\"{}", "a".repeat(100), "b".repeat(100));
        let expected = format!("…{}\"here\"{}…\n{}^^^^^^", "a".repeat(32), "b".repeat(58), " ".repeat(33));
        check(&text, 100..106, &expected);
        let expected = format!("{}…\n{}", "a".repeat(64), "^".repeat(64));
        check(&text, 0..206, &expected);
    }

    #[test]
    fn acting_characters_are_shown() {
        check("[\"\u{1b}[2J\"]", 1..7, "[\"\\u{1b}[2J\"]\n ^^^^^^^^^^^");
        assert_eq!(Excerpt::of(b"", &(0..0)), None);
        assert_eq!(Excerpt::of(b"\n\n", &(9..12)), None);
        assert_eq!(Excerpt::of(&[0xff, 0xfe, b'a'], &(0..2)), None);
    }
}
