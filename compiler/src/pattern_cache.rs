//! Patterns of one catalog, each compiled once: tools of one server share most of theirs.

use std::sync::Arc;

use ahash::HashMap;
use callgate_vm::pattern::Pattern;

use crate::finding::FindingKind;
use crate::pattern::{PatternError, translate};

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
    let translation = translate(source).map_err(|error| {
        let (what, at, reason) = match error {
            PatternError::Syntax { at, reason } => ("not an ECMA-262 pattern", at, reason),
            PatternError::Untranslatable { at, reason } => ("cannot be run", at, reason),
        };
        (FindingKind::PatternInvalid, format!("{what}: {reason} at byte {at}"))
    })?;
    if let Some(shape) = translation.shape {
        return Ok(Pattern::of_shape(source, shape));
    }
    let built = match &translation.hir {
        Some(hir) => Pattern::regular(source, hir),
        None => Pattern::backtracking(source, &translation.regex),
    };
    built.map_err(|error| (FindingKind::PatternLimit, format!("the automaton is too large: {error}")))
}
