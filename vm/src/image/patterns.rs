//! Patterns as bytes: shapes as they are, dense automata as their crate writes them, all others by their source.

use super::wire::{BadImage, Reader, Writer};
use crate::limits::REBUILT_PATTERNS_MAX;
use crate::pattern::{Dfa, Engine, Pattern, Piece, Shape};

/// Engines that are not written, since their crates do not write them: they are built again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rebuild {
    /// An NFA, for a regular pattern whose dense automaton would be too large.
    Nfa,
    /// The backtracking engine, for look-around and back-references.
    Backtracking,
}

/// Builds a pattern from its ECMA-262 source, as it was built at first. That takes a compiler, which this crate knows
/// nothing of. Errors: why there is no such pattern.
pub type RebuildPattern<'r> = dyn FnMut(&str, Rebuild) -> Result<Pattern, String> + 'r;

const ANY: u8 = 0;
const EXACT: u8 = 1;
const PREFIX: u8 = 2;
const SUFFIX: u8 = 3;
const CONTAINS: u8 = 4;
const CLASS: u8 = 5;
const PIECES: u8 = 6;
const WHOLE_PIECES: u8 = 7;
const ALTERNATIVES: u8 = 8;
const DFA: u8 = 9;
const NFA: u8 = 10;
const BACKTRACKING: u8 = 11;

/// A source's length and an engine.
pub(super) const PATTERN_BYTES_MIN: usize = 5;

const PIECE_BYTES: usize = 25;

pub(super) fn write(out: &mut Writer, pattern: &Pattern) {
    out.text(pattern.source());
    match &pattern.engine {
        Engine::Shape(shape) => write_shape(out, shape),
        Engine::Dfa(dfa) => {
            out.u8(DFA);
            write_dfa(out, dfa);
        }
        Engine::Nfa(_) => out.u8(NFA),
        Engine::Backtracking(_) => out.u8(BACKTRACKING),
    }
}

fn write_dfa(out: &mut Writer, dfa: &Dfa) {
    // The crate pads in front, for a buffer that the automaton is used in.
    let (bytes, padding) = dfa.to_bytes_little_endian();
    out.bytes(&bytes[padding..]);
}

fn write_shape(out: &mut Writer, shape: &Shape) {
    let mut literal = |engine, literal: &str| {
        out.u8(engine);
        out.text(literal);
    };
    match shape {
        Shape::Any => out.u8(ANY),
        Shape::Exact(text) => literal(EXACT, text),
        Shape::Prefix(text) => literal(PREFIX, text),
        Shape::Suffix(text) => literal(SUFFIX, text),
        Shape::Contains(text) => literal(CONTAINS, text),
        Shape::Class { ascii, min, max } => {
            out.u8(CLASS);
            write_piece(out, Piece { ascii: *ascii, min: *min, max: *max });
        }
        Shape::Pieces { pieces, whole } => {
            out.u8(if *whole { WHOLE_PIECES } else { PIECES });
            write_pieces(out, pieces);
        }
        Shape::Alternatives(lists) => {
            out.u8(ALTERNATIVES);
            out.count(lists.len());
            lists.iter().for_each(|pieces| write_pieces(out, pieces));
        }
    }
}

fn write_pieces(out: &mut Writer, pieces: &[Piece]) {
    out.count(pieces.len());
    for piece in pieces {
        write_piece(out, *piece);
    }
}

fn write_piece(out: &mut Writer, piece: Piece) {
    out.raw(&piece.ascii.to_le_bytes());
    out.u32(piece.min);
    out.u8(piece.max.is_some().into());
    out.u32(piece.max.unwrap_or(0));
}

/// Reads patterns, and counts those that have to be built.
pub(super) struct PatternReader<'r, 'c> {
    rebuild: &'r mut RebuildPattern<'c>,
    rebuilt: usize,
}

impl<'r, 'c> PatternReader<'r, 'c> {
    pub(super) fn new(rebuild: &'r mut RebuildPattern<'c>) -> Self {
        PatternReader { rebuild, rebuilt: 0 }
    }

    pub(super) fn read(&mut self, from: &mut Reader<'_>) -> Result<Pattern, BadImage> {
        let source = from.text()?;
        let shape = match from.u8()? {
            ANY => Shape::Any,
            EXACT => Shape::Exact(from.text()?.to_owned()),
            PREFIX => Shape::Prefix(from.text()?.to_owned()),
            SUFFIX => Shape::Suffix(from.text()?.to_owned()),
            CONTAINS => Shape::Contains(from.text()?.to_owned()),
            CLASS => {
                let Piece { ascii, min, max } = read_piece(from)?;
                Shape::Class { ascii, min, max }
            }
            PIECES => settled(Shape::of_pieces(read_pieces(from)?, false))?,
            WHOLE_PIECES => settled(Shape::of_pieces(read_pieces(from)?, true))?,
            ALTERNATIVES => settled(Shape::of_alternatives(from.list(4, read_pieces)?))?,
            DFA => return Pattern::of_dfa_bytes(source, from.bytes()?).map_err(|error| bad(source, &error.0)),
            NFA => return self.rebuilt(source, Rebuild::Nfa),
            BACKTRACKING => return self.rebuilt(source, Rebuild::Backtracking),
            other => return Err(bad(source, &format!("there is no engine {other}"))),
        };
        Ok(Pattern::of_shape(source, shape))
    }

    fn rebuilt(&mut self, source: &str, engine: Rebuild) -> Result<Pattern, BadImage> {
        self.rebuilt += 1;
        if self.rebuilt > REBUILT_PATTERNS_MAX {
            let detail = format!("more than {REBUILT_PATTERNS_MAX} patterns have to be built");
            return Err(BadImage(detail));
        }
        let pattern = (self.rebuild)(source, engine).map_err(|error| bad(source, &error))?;
        let same = match engine {
            Rebuild::Nfa => matches!(pattern.engine, Engine::Nfa(_)),
            Rebuild::Backtracking => matches!(pattern.engine, Engine::Backtracking(_)),
        };
        if same { Ok(pattern) } else { Err(bad(source, "it is no pattern of the engine that it is said to need")) }
    }
}

/// How much of a source a message shows. Unit: characters.
const SHOWN_MAX: usize = 40;

fn bad(source: &str, what: &str) -> BadImage {
    let shown: String = source.chars().take(SHOWN_MAX).collect();
    BadImage(format!("pattern {shown:?}: {what}"))
}

fn settled(shape: Option<Shape>) -> Result<Shape, BadImage> {
    shape.ok_or_else(|| BadImage("the pieces of a pattern are not settled by the next character".to_owned()))
}

fn read_pieces(from: &mut Reader<'_>) -> Result<Vec<Piece>, BadImage> {
    from.list(PIECE_BYTES, read_piece)
}

fn read_piece(from: &mut Reader<'_>) -> Result<Piece, BadImage> {
    let (ascii, min) = (u128::from_le_bytes(from.array()?), from.u32()?);
    let (bounded, max) = (from.bool()?, from.u32()?);
    let max = bounded.then_some(max);
    if max.is_some_and(|max| max < min) {
        return Err(BadImage("a piece of a pattern is at least longer than at most".to_owned()));
    }
    Ok(Piece { ascii, min, max })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pattern::PatternScratch;
    use crate::text::Text;

    fn again(pattern: &Pattern) -> Result<Pattern, BadImage> {
        let mut out = Writer::new();
        write(&mut out, pattern);
        let bytes = out.into_bytes();
        let mut from = Reader::new(&bytes);
        let read = PatternReader::new(&mut |_, _| Err("not here".to_owned())).read(&mut from)?;
        from.finish().map(|()| read)
    }

    fn finds(pattern: &Pattern, text: &str) -> bool {
        pattern.is_match(Text::plain_text(text), &mut PatternScratch::default()).expect("it does not backtrack")
    }

    #[test]
    fn shapes_are_read_as_they_were() {
        let digit = |min, max| Piece { ascii: 0x3FF << b'0', min, max };
        let dash = Piece { ascii: 1 << b'-', min: 1, max: Some(1) };
        let shapes = [
            Shape::Any,
            Shape::Exact("é".to_owned()),
            Shape::Prefix("a".to_owned()),
            Shape::Suffix("b".to_owned()),
            Shape::Contains("-".to_owned()),
            Shape::Class { ascii: u128::MAX, min: 2, max: None },
            Shape::of_pieces(vec![digit(1, None), dash], false).expect("settled"),
            Shape::of_pieces(vec![digit(1, Some(3)), dash], true).expect("settled"),
            Shape::of_alternatives(vec![vec![dash], vec![digit(2, Some(2))]]).expect("few"),
        ];
        for shape in shapes {
            let read = again(&Pattern::of_shape("source", shape.clone())).expect("reads back");
            assert!(matches!(&read.engine, Engine::Shape(other) if *other == shape), "{shape:?}");
            assert_eq!(read.source(), "source");
        }
    }

    #[test]
    fn automata_are_read_as_they_were() {
        let hir = regex_syntax::parse("(ab|cd)+e").expect("is a pattern");
        let pattern = Pattern::regular("(ab|cd)+e", &hir).expect("is small");
        let read = again(&pattern).expect("reads back");
        assert_eq!((read.engine(), read.memory()), ("dfa", pattern.memory()));
        for text in ["", "abe", "xxabcdexx", "abcd", "e"] {
            assert_eq!(finds(&read, text), finds(&pattern, text), "{text}");
        }
    }

    /// Wherever the bytes lie, and whichever of them is changed.
    #[test]
    fn automata_are_checked() {
        let hir = regex_syntax::parse("(ab|cd)+e").expect("is a pattern");
        let Engine::Dfa(dfa) = Pattern::regular("", &hir).expect("is small").engine else { panic!("is an automaton") };
        let (bytes, padding) = dfa.to_bytes_little_endian();
        let bytes = &bytes[padding..];
        for offset in 0..8 {
            let moved = [vec![0; offset], bytes.to_vec()].concat();
            assert!(Pattern::of_dfa_bytes("", &moved[offset..]).is_ok(), "{offset}");
        }
        for at in 0..bytes.len() {
            let mut changed = bytes.to_vec();
            changed[at] ^= 0x41;
            if let Ok(pattern) = Pattern::of_dfa_bytes("", &changed) {
                for text in ["", "abe", "xxabcdexx", "abcd", "é"] {
                    // Whatever it answers, it does so.
                    let _ = pattern.is_match(Text::plain_text(text), &mut PatternScratch::default());
                }
            }
            assert!(Pattern::of_dfa_bytes("", &bytes[..at]).is_err());
        }
    }

    #[test]
    fn what_must_be_built_is_asked_for() {
        let mut out = Writer::new();
        out.text("(?=a)b");
        out.u8(BACKTRACKING);
        let bytes = out.into_bytes();
        let mut asked = Vec::new();
        let mut rebuild = |source: &str, engine| {
            asked.push((source.to_owned(), engine));
            Ok(Pattern::of_shape(source, Shape::Any))
        };
        let read = PatternReader::new(&mut rebuild).read(&mut Reader::new(&bytes));
        let refused = "pattern \"(?=a)b\": it is no pattern of the engine that it is said to need";
        assert_eq!(read.map(|_| ()), Err(BadImage(refused.to_owned())));
        assert_eq!(asked, [("(?=a)b".to_owned(), Rebuild::Backtracking)]);
    }
}
