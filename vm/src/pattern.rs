//! Patterns at run time: the cheapest engine that gives the answer.
//!
//! Most patterns of real schemas are literals, prefixes or one class repeated: they need no engine. Regular ones
//! run on a dense automaton of at most [`DFA_BYTES_MAX`], or, where that would grow too large, on the NFA with
//! memory of the caller's scratch; both are linear in the text. Look-around and back-references leave regular
//! languages: they backtrack, under a step limit, and are the one kind that may allocate.

use regex_automata::dfa::{Automaton, dense};
use regex_automata::nfa::thompson::{self, pikevm};
use regex_automata::{Anchored, Input, MatchKind};
use regex_syntax::hir::Hir;

use crate::failure::FaultCode;
use crate::limits::{BACKTRACKING_STEPS_MAX, DFA_BUILD_BYTES_MAX, DFA_BYTES_MAX, NFA_BYTES_MAX};
use crate::text::Text;

/// A compiled pattern.
#[derive(Debug)]
pub struct Pattern {
    source: String,
    engine: Engine,
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
}

#[derive(Debug)]
enum Engine {
    Shape(Shape),
    Dfa(Box<dense::DFA<Vec<u32>>>),
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
        let nfa = thompson::Compiler::new()
            .configure(
                thompson::Config::new()
                    .nfa_size_limit(Some(NFA_BYTES_MAX))
                    .which_captures(thompson::WhichCaptures::None),
            )
            .build_from_hir(hir)
            .map_err(|error| TooComplex(innermost(&error)))?;
        let dfa = dense::Builder::new()
            .configure(
                dense::Config::new()
                    .match_kind(MatchKind::All)
                    .start_kind(regex_automata::dfa::StartKind::Unanchored)
                    .accelerate(false)
                    .dfa_size_limit(Some(DFA_BYTES_MAX))
                    .determinize_size_limit(Some(DFA_BUILD_BYTES_MAX)),
            )
            .build_from_nfa(&nfa);
        let engine = match dfa {
            Ok(dfa) => Engine::Dfa(Box::new(dfa)),
            Err(_) => {
                Engine::Nfa(Box::new(pikevm::PikeVM::new_from_nfa(nfa).map_err(|error| TooComplex(innermost(&error)))?))
            }
        };
        Ok(Pattern { source: source.to_owned(), engine })
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
            Engine::Dfa(_) => "dfa",
            Engine::Nfa(_) => "nfa",
            Engine::Backtracking(_) => "backtracking",
        }
    }

    /// Memory. Unit: bytes.
    pub fn memory(&self) -> usize {
        match &self.engine {
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
            Engine::Shape(shape) => Ok(shape.is_match(text)),
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
    fn is_match(&self, text: Text<'_>) -> bool {
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
            (Shape::Exact(literal), _) => text.is(literal),
            (Shape::Prefix(literal), Some(plain)) => plain.starts_with(literal),
            (Shape::Suffix(literal), Some(plain)) => plain.ends_with(literal),
            (Shape::Contains(literal), Some(plain)) => plain.contains(literal.as_str()),
            (Shape::Prefix(literal), None) => starts_with(text.chars(), literal),
            (Shape::Suffix(literal), None) => {
                let skip = text.char_len().checked_sub(literal.chars().count());
                skip.is_some_and(|skip| text.chars().skip(skip).eq(literal.chars()))
            }
            (Shape::Contains(literal), None) => {
                let mut rest = text.chars();
                loop {
                    if starts_with(rest.clone(), literal) {
                        return true;
                    }
                    if rest.next().is_none() {
                        return false;
                    }
                }
            }
        }
    }
}

fn starts_with(mut chars: impl Iterator<Item = char>, literal: &str) -> bool {
    literal.chars().all(|c| chars.next() == Some(c))
}

fn in_range(len: usize, min: u32, max: Option<u32>) -> bool {
    len >= min as usize && max.is_none_or(|max| len <= max as usize)
}

/// The error at the end of the chain: the outer ones only say that building failed.
fn innermost(error: &dyn std::error::Error) -> String {
    let mut error = error;
    while let Some(source) = error.source() {
        error = source;
    }
    error.to_string()
}
