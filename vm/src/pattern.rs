//! Patterns at run time: the cheapest engine that gives the answer.
//!
//! Most patterns of real schemas are literals, prefixes, or a few classes one after the other: they need no engine, and
//! building one would be most of compiling their schema. Other regular ones run on a dense automaton of at most
//! [`DFA_BYTES_MAX`], or, where that would grow too large, on the NFA with memory of the caller's scratch; both are
//! linear in the text. Look-around and back-references leave regular languages: they backtrack, under a step limit, and
//! are the one kind that may allocate.

use regex_automata::dfa::{Automaton, StartKind, dense};
use regex_automata::nfa::thompson::{self, pikevm};
use regex_automata::{Anchored, Input, MatchKind};
use regex_syntax::hir::Hir;

use crate::failure::FaultCode;
use crate::limits::{BACKTRACKING_STEPS_MAX, DFA_BUILD_BYTES_MAX, DFA_BYTES_MAX, NFA_BYTES_MAX, PIECES_MAX};
use crate::text::Text;

/// A compiled pattern.
#[derive(Debug)]
pub struct Pattern {
    source: String,
    pub(crate) engine: Engine,
}

/// A pattern that needs no engine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Shape {
    /// Every text.
    Any,
    /// This text.
    Exact(String),
    /// Texts that start so.
    Prefix(String),
    /// Texts that end so.
    Suffix(String),
    /// Texts that hold this.
    Contains(String),
    /// Between `min` and `max` characters, all of a set of ASCII.
    Class {
        /// One bit a character.
        ascii: u128,
        /// The fewest characters.
        min: u32,
        /// The most characters.
        max: Option<u32>,
    },
    /// Texts that start with these pieces, one after the other; with `whole`, those that are nothing else.
    ///
    /// Invariant: a piece that may be longer shares no character with what may follow it, so that each takes all
    /// it can and nothing is tried twice.
    Pieces {
        /// The pieces.
        pieces: Box<[Piece]>,
        /// Whether the text ends with them.
        whole: bool,
    },
    /// Texts that are one of a few such lists of pieces.
    Alternatives(Box<[Box<[Piece]>]>),
}

/// Between `min` and `max` characters of a set of ASCII.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    /// One bit a character.
    pub ascii: u128,
    /// The fewest characters.
    pub min: u32,
    /// The most characters.
    pub max: Option<u32>,
}

impl Shape {
    /// The shape of pieces one after the other, if they are at most [`PIECES_MAX`] and what each takes is settled by the
    /// next character.
    pub fn of_pieces(pieces: Vec<Piece>, whole: bool) -> Option<Shape> {
        Self::are_settled(&pieces).then(|| Shape::Pieces { pieces: pieces.into_boxed_slice(), whole })
    }

    /// The shape of texts that are one of these lists of pieces. As many as are faster tried one by one than together.
    pub fn of_alternatives(alternatives: Vec<Vec<Piece>>) -> Option<Shape> {
        const ALTERNATIVES_MAX: usize = 4;
        let few = alternatives.len() <= ALTERNATIVES_MAX && alternatives.iter().all(|pieces| Self::are_settled(pieces));
        few.then(|| Shape::Alternatives(alternatives.into_iter().map(Vec::into_boxed_slice).collect()))
    }

    fn are_settled(pieces: &[Piece]) -> bool {
        let settled = |at: usize, piece: &Piece| {
            let rest = &pieces[at + 1..];
            // What may stand next: pieces up to the first that cannot be empty.
            let next_len = rest.iter().position(|next| next.min > 0).map_or(rest.len(), |first| first + 1);
            piece.max == Some(piece.min) || rest[..next_len].iter().all(|next| next.ascii & piece.ascii == 0)
        };
        pieces.len() <= PIECES_MAX && pieces.iter().enumerate().all(|(at, piece)| settled(at, piece))
    }
}

/// A dense automaton that owns its tables.
pub(crate) type Dfa = dense::DFA<Vec<u32>>;

/// What searches for a pattern.
#[derive(Debug)]
pub(crate) enum Engine {
    Shape(Shape),
    Dfa(Box<Dfa>),
    Nfa(Box<pikevm::PikeVM>),
    Backtracking(Box<fancy_regex::Regex>),
}

/// Memory of the engines, owned by a session.
#[derive(Debug, Default)]
pub struct PatternScratch {
    nfa: Option<pikevm::Cache>,
    plain: String,
}

impl PatternScratch {
    /// Allocates what searches of `pattern` need.
    pub fn reserve(&mut self, pattern: &Pattern) {
        if let Engine::Nfa(engine) = &pattern.engine {
            let cache = self.nfa.get_or_insert_with(|| engine.create_cache());
            cache.reset(engine);
            // The engine's stack grows with the states that it meets at once, at most all. It cannot be sized, so a
            // machine that meets as many at its start makes it grow now; resetting keeps it.
            if let Some(wide) = wide_machine(engine.get_nfa().states().len()) {
                cache.reset(&wide);
                wide.is_match(cache, Input::new(""));
                cache.reset(engine);
            }
        }
    }

    /// Allocates what decoding strings of `bytes` needs.
    pub fn reserve_text(&mut self, bytes: usize) {
        self.plain.clear();
        self.plain.reserve(bytes);
    }

    /// A buffer for a text that must be in one piece.
    pub(crate) fn plain(&mut self) -> &mut String {
        &mut self.plain
    }
}

/// A machine whose start leads to so many states at once.
fn wide_machine(states: usize) -> Option<pikevm::PikeVM> {
    let mut builder = thompson::Builder::new();
    builder.start_pattern().ok()?;
    let end = builder.add_match().ok()?;
    let start = builder.add_union(vec![end; states + 1]).ok()?;
    builder.finish_pattern(start).ok()?;
    let wide = builder.build(start, start).ok()?;
    pikevm::PikeVM::new_from_nfa(wide).ok()
}

/// Why a pattern has no engine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TooComplex(pub String);

impl std::fmt::Display for TooComplex {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl Pattern {
    /// A pattern of that shape.
    pub fn of_shape(source: &str, shape: Shape) -> Pattern {
        Pattern { source: source.to_owned(), engine: Engine::Shape(shape) }
    }

    /// A regular pattern, parsed with Unicode classes and for UTF-8 text. Errors: its automaton exceeds the limits.
    pub fn regular(source: &str, hir: &Hir) -> Result<Pattern, TooComplex> {
        let nfa = nfa_of(hir)?;
        let dfa = dense::Builder::new()
            .configure(
                dense::Config::new()
                    .match_kind(MatchKind::All)
                    .start_kind(StartKind::Unanchored)
                    .accelerate(false)
                    .dfa_size_limit(Some(DFA_BYTES_MAX))
                    .determinize_size_limit(Some(DFA_BUILD_BYTES_MAX)),
            )
            .build_from_nfa(&nfa);
        match dfa {
            Ok(dfa) => Ok(Pattern { source: source.to_owned(), engine: Engine::Dfa(Box::new(dfa)) }),
            Err(_) => Self::of_nfa(source, nfa),
        }
    }

    /// As [`regular`](Self::regular), where it is known that a dense automaton would exceed the limits: none is tried.
    pub fn regular_without_dfa(source: &str, hir: &Hir) -> Result<Pattern, TooComplex> {
        Self::of_nfa(source, nfa_of(hir)?)
    }

    fn of_nfa(source: &str, nfa: thompson::NFA) -> Result<Pattern, TooComplex> {
        let engine = pikevm::PikeVM::new_from_nfa(nfa).map_err(|error| TooComplex(innermost(&error)))?;
        Ok(Pattern { source: source.to_owned(), engine: Engine::Nfa(Box::new(engine)) })
    }

    /// A pattern whose dense automaton was written by [`dfa_bytes`](Self::dfa_bytes). Errors: the bytes are no such
    /// automaton, or one that this build does not make: of another version or byte order, or beyond the limits.
    ///
    /// The crate of the automaton checks every state and transition, so a search ends after one step a byte.
    pub(crate) fn of_dfa_bytes(source: &str, bytes: &[u8]) -> Result<Pattern, TooComplex> {
        let copy;
        let aligned = if bytes.as_ptr().align_offset(align_of::<u32>()) == 0 {
            bytes
        } else {
            copy = Aligned::copy(bytes);
            copy.bytes()
        };
        let (dfa, read) = dense::DFA::from_bytes(aligned).map_err(|error| TooComplex(error.to_string()))?;
        let made_here = read == bytes.len()
            && dfa.pattern_len() == 1
            && dfa.start_kind() == StartKind::Unanchored
            && dfa.memory_usage() <= DFA_BYTES_MAX;
        if !made_here {
            return Err(TooComplex("the automaton is none that patterns are compiled to".to_owned()));
        }
        Ok(Pattern { source: source.to_owned(), engine: Engine::Dfa(Box::new(dfa.to_owned())) })
    }

    /// A pattern with look-around or back-references, already in the engine's syntax.
    pub fn backtracking(source: &str, regex: &str) -> Result<Pattern, TooComplex> {
        let engine = fancy_regex::RegexBuilder::new(regex)
            .backtrack_limit(BACKTRACKING_STEPS_MAX)
            .delegate_size_limit(NFA_BYTES_MAX)
            .delegate_dfa_size_limit(DFA_BUILD_BYTES_MAX)
            .build()
            .map_err(|error| TooComplex(error.to_string()))?;
        Ok(Pattern { source: source.to_owned(), engine: Engine::Backtracking(Box::new(engine)) })
    }

    /// The pattern as the schema has it.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// Whether a search may allocate and may end in the backtracking fault.
    pub fn backtracks(&self) -> bool {
        matches!(self.engine, Engine::Backtracking(_))
    }

    /// The name of the engine, for listings.
    pub fn engine(&self) -> &'static str {
        match &self.engine {
            Engine::Shape(Shape::Any) => "any",
            Engine::Shape(Shape::Exact(_)) => "exact",
            Engine::Shape(Shape::Prefix(_)) => "prefix",
            Engine::Shape(Shape::Suffix(_)) => "suffix",
            Engine::Shape(Shape::Contains(_)) => "contains",
            Engine::Shape(Shape::Class { .. }) => "class",
            Engine::Shape(Shape::Pieces { .. }) => "pieces",
            Engine::Shape(Shape::Alternatives(_)) => "alternatives",
            Engine::Dfa(_) => "dfa",
            Engine::Nfa(_) => "nfa",
            Engine::Backtracking(_) => "backtracking",
        }
    }

    /// Memory. Unit: bytes.
    pub fn memory(&self) -> usize {
        match &self.engine {
            Engine::Shape(Shape::Pieces { pieces, .. }) => size_of::<Shape>() + size_of_val::<[Piece]>(pieces),
            Engine::Shape(Shape::Alternatives(lists)) => {
                size_of::<Shape>() + lists.iter().map(|pieces| size_of_val::<[Piece]>(pieces)).sum::<usize>()
            }
            Engine::Shape(_) => size_of::<Shape>(),
            Engine::Dfa(dfa) => dfa.memory_usage(),
            Engine::Nfa(engine) => engine.get_nfa().memory_usage(),
            Engine::Backtracking(_) => self.source.len() * 8,
        }
    }

    /// What one search of a text of `bytes` costs beside the instruction. Unit: fuel.
    pub fn fuel(&self, bytes: usize) -> u64 {
        let bytes = bytes as u64;
        match &self.engine {
            Engine::Shape(_) | Engine::Dfa(_) => bytes / 16,
            Engine::Nfa(engine) => bytes.saturating_mul(1 + engine.get_nfa().states().len() as u64 / 16),
            Engine::Backtracking(_) => bytes,
        }
    }

    /// Whether the pattern is found in `text`. Errors: the backtracking limit.
    pub fn is_match(&self, text: Text<'_>, scratch: &mut PatternScratch) -> Result<bool, FaultCode> {
        match &self.engine {
            Engine::Shape(shape) => Ok(shape.is_match(text, &mut scratch.plain)),
            Engine::Dfa(dfa) if dfa.has_empty() && dfa.is_utf8() => {
                found_between_characters(dfa, text.plain(&mut scratch.plain))
            }
            Engine::Dfa(dfa) => {
                let text = text.plain(&mut scratch.plain);
                let input = Input::new(text).earliest(true).anchored(Anchored::No);
                // The automaton quits on no byte, so a search cannot fail; if it did, the gate would decline.
                dfa.try_search_fwd(&input).map(|found| found.is_some()).map_err(|_| FaultCode::Backtracking)
            }
            Engine::Nfa(engine) => {
                let cache = scratch.nfa.get_or_insert_with(|| engine.create_cache());
                cache.reset(engine);
                let text = text.plain(&mut scratch.plain);
                Ok(engine.is_match(cache, Input::new(text).earliest(true)))
            }
            Engine::Backtracking(engine) => {
                let text = text.plain(&mut scratch.plain);
                engine.is_match(text).map_err(|_| FaultCode::Backtracking)
            }
        }
    }
}

impl Shape {
    /// `plain` is for a text that must be in one piece.
    fn is_match(&self, text: Text<'_>, plain: &mut String) -> bool {
        match (self, text.as_plain()) {
            (Shape::Any, _) => true,
            (Shape::Class { ascii, min, max }, Some(plain)) => {
                let bytes = plain.as_bytes();
                let all = bytes.iter().all(|&b| b < 128 && ascii >> b & 1 == 1);
                all && in_range(bytes.len(), *min, *max)
            }
            (Shape::Class { ascii, min, max }, None) => {
                let all = text.chars().all(|c| c.is_ascii() && ascii >> (c as u32) & 1 == 1);
                all && in_range(text.char_len(), *min, *max)
            }
            (Shape::Pieces { pieces, whole }, Some(plain)) => starts_with_pieces(plain.bytes(), pieces, *whole),
            (Shape::Pieces { pieces, whole }, None) => starts_with_pieces(text.chars(), pieces, *whole),
            (Shape::Alternatives(lists), Some(plain)) => {
                lists.iter().any(|pieces| starts_with_pieces(plain.bytes(), pieces, true))
            }
            (Shape::Alternatives(lists), None) => {
                lists.iter().any(|pieces| starts_with_pieces(text.chars(), pieces, true))
            }
            (Shape::Exact(literal), _) => text.is(literal),
            (Shape::Prefix(literal), Some(plain)) => plain.starts_with(literal),
            (Shape::Suffix(literal), Some(plain)) => plain.ends_with(literal),
            // In one piece, or finding it would take a comparison at each character.
            (Shape::Contains(literal), _) => text.plain(plain).contains(literal.as_str()),
            (Shape::Prefix(literal), None) => starts_with(text.chars(), literal),
            (Shape::Suffix(literal), None) => {
                let skip = text.char_len().checked_sub(literal.chars().count());
                skip.is_some_and(|skip| text.chars().skip(skip).eq(literal.chars()))
            }
        }
    }
}

fn starts_with(mut chars: impl Iterator<Item = char>, literal: &str) -> bool {
    literal.chars().all(|c| chars.next() == Some(c))
}

/// Bytes serve as well as characters: no byte of a longer character is ASCII.
fn starts_with_pieces(text: impl Iterator<Item = impl Into<u32>>, pieces: &[Piece], whole: bool) -> bool {
    let mut codes = text.map(Into::into);
    let mut next = codes.next();
    for piece in pieces {
        let mut len = 0;
        while let Some(code) = next
            && code < 128
            && piece.ascii >> code & 1 == 1
            && piece.max.is_none_or(|max| len < max)
        {
            len += 1;
            next = codes.next();
        }
        if len < piece.min {
            return false;
        }
    }
    !whole || next.is_none()
}

fn in_range(len: usize, min: u32, max: Option<u32>) -> bool {
    len >= min as usize && max.is_none_or(|max| len <= max as usize)
}

/// The NFA of a parsed pattern. Errors: it exceeds the limits.
fn nfa_of(hir: &Hir) -> Result<thompson::NFA, TooComplex> {
    let config =
        thompson::Config::new().nfa_size_limit(Some(NFA_BYTES_MAX)).which_captures(thompson::WhichCaptures::None);
    let built = thompson::Compiler::new().configure(config).build_from_hir(hir);
    built.map_err(|error| TooComplex(innermost(&error)))
}

/// Whether the automaton of a pattern that may match nothing finds it, inside no character.
///
/// A search by the automaton's own crate starts again behind each match inside a character, and so could take the square
/// of the text's length. But the automaton keeps all threads, so a search that goes on finds all the others.
fn found_between_characters(dfa: &Dfa, text: &str) -> Result<bool, FaultCode> {
    let input = Input::new(text).anchored(Anchored::No);
    let mut state = dfa.start_state_forward(&input).map_err(|_| FaultCode::Backtracking)?;
    for (at, byte) in text.bytes().enumerate() {
        state = dfa.next_state(state, byte);
        if !dfa.is_special_state(state) {
            continue;
        }
        // A state tells of a match one byte later than where it ends.
        if dfa.is_match_state(state) && text.is_char_boundary(at) {
            return Ok(true);
        }
        if dfa.is_dead_state(state) {
            return Ok(false);
        }
        if dfa.is_quit_state(state) {
            return Err(FaultCode::Backtracking);
        }
    }
    Ok(dfa.is_match_state(dfa.next_eoi_state(state)))
}

/// Bytes of an automaton where its words can be read: whatever lies before them is left out.
struct Aligned {
    buffer: Vec<u8>,
    from: usize,
}

impl Aligned {
    fn copy(bytes: &[u8]) -> Aligned {
        let mut buffer = vec![0; bytes.len() + align_of::<u32>()];
        let from = buffer.as_ptr().align_offset(align_of::<u32>()).min(align_of::<u32>());
        buffer[from..from + bytes.len()].copy_from_slice(bytes);
        buffer.truncate(from + bytes.len());
        Aligned { buffer, from }
    }

    fn bytes(&self) -> &[u8] {
        &self.buffer[self.from..]
    }
}

/// The error at the end of the chain: the outer ones only say that building failed.
fn innermost(error: &dyn std::error::Error) -> String {
    let mut error = error;
    while let Some(source) = error.source() {
        error = source;
    }
    error.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_settled_by_the_next_character() {
        let digits = |min, max| Piece { ascii: 0x3FF << b'0', min, max };
        let dash = |min| Piece { ascii: 1 << b'-', min, max: Some(1) };
        assert!(Shape::of_pieces(vec![digits(1, None), dash(1), digits(1, None)], true).is_some());
        assert!(Shape::of_pieces(vec![digits(2, Some(2)), digits(1, None)], true).is_some());
        // Where the first run ends is not known, with or without a dash that may be left out.
        assert!(Shape::of_pieces(vec![digits(1, None), digits(2, Some(2))], true).is_none());
        assert!(Shape::of_pieces(vec![digits(1, None), dash(0), digits(1, None)], true).is_none());
    }

    /// The linear search answers what the crate's own does.
    #[test]
    fn empty_matches_are_found_between_characters() {
        for regex in [r"(?-u:\B)", r"(?-u:\b)", r"(?-u:\B)$", "a*", "^$", r"x*(?-u:\B)y*$", r"(?-u:\B)(?:é|$)"] {
            let hir = regex_syntax::parse(regex).expect("is a pattern");
            let pattern = Pattern::regular(regex, &hir).expect("is small");
            let Engine::Dfa(dfa) = &pattern.engine else { panic!("{regex} is no automaton") };
            assert!(dfa.has_empty() && dfa.is_utf8(), "{regex}");
            for text in ["", "a", "é", "aéb", "aé", "éa", "éé", "a é b", "日本", "a日", "xyé", "abcdefgh"] {
                let own = dfa.try_search_fwd(&Input::new(text).earliest(true)).expect("it quits on no byte").is_some();
                assert_eq!(found_between_characters(dfa, text), Ok(own), "{regex} in {text:?}");
            }
        }
    }

    #[test]
    fn pieces_of_escaped_texts() {
        let digits = Piece { ascii: 0x3FF << b'0', min: 1, max: Some(3) };
        let dash = Piece { ascii: 1 << b'-', min: 1, max: Some(1) };
        for whole in [true, false] {
            let shape = Shape::of_pieces(vec![digits, dash], whole).expect("settled");
            for (text, start, rest) in [
                (r"1\u0032-", true, false),
                (r"\u0031\u002D\n", true, true),
                (r"1-\u00e9", true, true),
                (r"\u00e9-", false, true),
                (r"1234\u002D", false, true),
                (r"\u0031", false, false),
            ] {
                let found = shape.is_match(Text::escaped_text(text, true), &mut String::new());
                assert_eq!(found, start && !(whole && rest), "{text}");
            }
        }
    }
}
