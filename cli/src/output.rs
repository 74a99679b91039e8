//! The standard streams: what is printed, in which colours, and how another's text is kept from acting on a terminal.

use std::borrow::Cow;
use std::env;
use std::io::{self, BufWriter, IsTerminal, Write};

use anstyle::{AnsiColor, Style};
use anyhow::{Context, Result};

/// Writes results to stdout, buffered. A reader that has gone away (`callgate … | head`) is no error.
pub fn print(write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<()> {
    let mut out = BufWriter::new(io::stdout().lock());
    match write(&mut out).and_then(|()| out.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(error).context("cannot write to stdout"),
        _ => Ok(()),
    }
}

/// Writes a message to stderr. Nobody is left to hear that stderr is closed, so that is ignored.
pub fn log(message: &str) {
    let _ = writeln!(io::stderr().lock(), "callgate: {}", visible_lines(message));
}

/// How the parts of a finding look.
#[derive(Clone, Copy, Debug, Default)]
pub struct Styles {
    /// A file's or a tool's name.
    pub name: Style,
    /// A finding of severity error.
    pub error: Style,
    /// A finding of severity warning.
    pub warning: Style,
    /// Positions and pointers.
    pub place: Style,
}

impl Styles {
    /// Colours if the stream is a terminal that has some and `NO_COLOR` is not set; otherwise none.
    pub fn of(stream: &impl IsTerminal) -> Styles {
        let is_set = |name: &str| env::var_os(name).is_some_and(|value| !value.is_empty());
        let is_dumb = env::var_os("TERM").is_some_and(|value| value == "dumb");
        if !stream.is_terminal() || is_set("NO_COLOR") || is_dumb {
            return Styles::default();
        }
        Styles {
            name: Style::new().bold(),
            error: AnsiColor::Red.on_default().bold(),
            warning: AnsiColor::Yellow.on_default().bold(),
            place: AnsiColor::Cyan.on_default(),
        }
    }
}

/// The text on one line, for people: characters that move a cursor, break a line or turn the direction of writing
/// are shown as escapes. Catalogs come from strangers.
pub fn visible(text: &str) -> Cow<'_, str> {
    escape(text, acts)
}

/// As [`visible`], but keeping line breaks and tabs.
pub fn visible_lines(text: &str) -> Cow<'_, str> {
    escape(text, |char| acts(char) && !matches!(char, '\n' | '\t'))
}

fn escape(text: &str, is_escaped: impl Fn(char) -> bool) -> Cow<'_, str> {
    if !text.contains(&is_escaped) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    for char in text.chars() {
        if is_escaped(char) {
            shown.extend(char.escape_default());
        } else {
            shown.push(char);
        }
    }
    Cow::Owned(shown)
}

/// As [`visible_lines`] where a terminal reads it; a program that reads it gets the text to the byte.
pub fn as_printed(text: &str) -> Cow<'_, str> {
    if io::stdout().is_terminal() { visible_lines(text) } else { Cow::Borrowed(text) }
}

/// Whether the character does something to the text around it.
fn acts(char: char) -> bool {
    let breaks_line = matches!(char, '\u{2028}' | '\u{2029}');
    let turns_direction = matches!(char, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    char.is_control() || breaks_line || turns_direction
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn acting_characters_are_shown() {
        assert_eq!(visible("plain — text"), "plain — text");
        assert_eq!(visible("a\u{1b}[2Jb\nc\u{202e}"), "a\\u{1b}[2Jb\\nc\\u{202e}");
        assert_eq!(visible_lines("a\n\tb\u{7}"), "a\n\tb\\u{7}");
    }
}
