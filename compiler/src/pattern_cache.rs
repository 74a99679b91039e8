//! Patterns of one catalog, each compiled once: tools of one server share most of theirs.

use std::sync::Arc;

use ahash::HashMap;
use callgate_vm::image::Rebuild;
use callgate_vm::limits::PATTERN_BYTES_CEILING;
use callgate_vm::pattern::{Pattern, TooComplex};

use crate::finding::FindingKind;
use crate::pattern::{PatternError, Translation, translate};

/// Why a pattern cannot be used: the finding's kind and detail.
pub(crate) type Refusal = (FindingKind, String);

/// A pattern of a [`PatternCache`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct PatternNo(u32);

/// Compiled patterns by source, numbered in the order of their compilation.
#[derive(Debug, Default)]
pub(crate) struct PatternCache {
    numbers: HashMap<String, Result<PatternNo, Refusal>>,
    patterns: Vec<Arc<Pattern>>,
}

impl PatternCache {
    /// The pattern, compiled now or earlier.
    pub(crate) fn get(&mut self, source: &str) -> Result<PatternNo, Refusal> {
        if let Some(known) = self.numbers.get(source) {
            return known.clone();
        }
        let number = compile(source).map(|pattern| {
            self.patterns.push(Arc::new(pattern));
            PatternNo(self.patterns.len() as u32 - 1)
        });
        self.numbers.insert(source.to_owned(), number.clone());
        number
    }

    /// The pattern of that number.
    pub(crate) fn pattern(&self, number: PatternNo) -> &Arc<Pattern> {
        &self.patterns[number.0 as usize]
    }
}

fn compile(source: &str) -> Result<Pattern, Refusal> {
    let translation = translated(source)?;
    if let Some(shape) = translation.shape {
        return Ok(Pattern::of_shape(source, shape));
    }
    let built = match &translation.hir {
        Some(hir) => Pattern::regular(source, hir),
        None => Pattern::backtracking(source, &translation.regex),
    };
    built.map_err(too_large)
}

/// Builds a pattern of a compiled file anew, by the engine that it had. Errors: why it cannot be.
///
/// Cost: milliseconds at most, as for any pattern of a schema.
pub fn rebuild_pattern(source: &str, engine: Rebuild) -> Result<Pattern, String> {
    if source.len() as u64 > PATTERN_BYTES_CEILING {
        return Err("it is longer than a pattern can be".to_owned());
    }
    let built = translated(source).and_then(|translation| match (engine, &translation.hir) {
        (Rebuild::Nfa, Some(hir)) => Pattern::regular_without_dfa(source, hir).map_err(too_large),
        (_, Some(hir)) => Pattern::regular(source, hir).map_err(too_large),
        (_, None) => Pattern::backtracking(source, &translation.regex).map_err(too_large),
    });
    built.map_err(|(_, detail)| detail)
}

fn translated(source: &str) -> Result<Translation, Refusal> {
    translate(source).map_err(|error| {
        let (what, at, reason) = match error {
            PatternError::Syntax { at, reason } => ("not an ECMA-262 pattern", at, reason),
            PatternError::Untranslatable { at, reason } => ("cannot be run", at, reason),
        };
        (FindingKind::PatternInvalid, format!("{what}: {reason} at byte {at}"))
    })
}

#[allow(clippy::needless_pass_by_value)] // as `map_err` hands it over
fn too_large(error: TooComplex) -> Refusal {
    (FindingKind::PatternLimit, format!("the automaton is too large: {error}"))
}
