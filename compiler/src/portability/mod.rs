//! Portability: would a provider take the tools as they are?
//!
//! ```text
//! openai_strict, openai, anthropic, …   tables of rules, as data
//!        └───────────┬───────────┘
//! catalog ─► tools ─► walk ─► judge ─► Objections, and who accepts how many tools
//!                     every   every check is decided
//!                     place   once, for all providers
//!                     once
//! ```
//!
//! Each provider takes its own subset of JSON Schema, and most answer a request with one bad tool by refusing all of
//! it. What is known of the subsets stands in one table per provider: each rule with the public source it is from, and
//! whether it refuses. A rule is there because it is documented or because the provider's error was quoted in public,
//! never because it seems likely.
//!
//! One walk over a schema applies the rules of all providers. It goes by the text and not by the IR: the IR has left out
//! what does not change a verdict, and a schema that does not compile has none; yet providers judge it all the same.
//! `$ref`s are not unfolded: a definition is judged where it stands.
//!
//! Objections are no findings: a finding is about the schema alone, an objection about a schema and a provider.
//!
//! **To add a provider**, write a table like the others in a file of its own, and name it in [`PROVIDERS`].

mod anthropic;
mod gemini;
mod gemini_json_schema;
mod judge;
mod judging;
mod mcp;
mod openai;
mod openai_strict;
mod python;
mod rule;
#[cfg(test)]
mod tests;
mod walk;

use ahash::HashSet;
use callgate_vm::tape::TapeBuf;
use serde::Serialize;

use crate::finding::{Finding, SchemaRole};
use crate::ingest::{self, source::Source};
use crate::options::Options;
use crate::portability::judging::Judging;

pub use crate::portability::rule::{Basis, Provider, Rule};

/// Every provider.
pub const PROVIDERS: [Provider; 6] = [
    Provider(&openai_strict::TABLE),
    Provider(&openai::TABLE),
    Provider(&anthropic::TABLE),
    Provider(&gemini::TABLE),
    Provider(&gemini_json_schema::TABLE),
    Provider(&mcp::TABLE),
];

impl Provider {
    /// The provider of that name.
    pub fn named(name: &str) -> Option<Provider> {
        PROVIDERS.into_iter().find(|provider| provider.name() == name)
    }
}

/// What the providers say of a catalog.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Portability {
    /// Tools that were judged: those with a name, and of two of one name the first.
    pub tools: usize,
    /// Who accepts how many, in the order asked for.
    pub providers: Vec<Acceptance>,
    /// The objections, tool by tool in the order of the catalog; of one tool by provider, then in the order of the text.
    pub objections: Vec<Objection>,
    /// Objections that are counted but not listed, since too much was to be said of one tool.
    pub unlisted: usize,
}

impl Portability {
    /// Whether some provider refuses some tool.
    pub fn refuses(&self) -> bool {
        self.providers.iter().any(|provider| provider.refused > 0)
    }
}

/// One provider's verdict over a catalog.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Acceptance {
    /// The provider.
    pub provider: &'static str,
    /// Tools without an objection that refuses.
    pub accepted: usize,
    /// Tools with one.
    pub refused: usize,
    /// The rules that some tool breaks, the one that most tools break first.
    pub rules: Vec<RuleCount>,
}

/// How many tools break a rule.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RuleCount {
    /// The rule.
    pub rule: &'static str,
    /// Whether it refuses.
    pub refuses: bool,
    /// Tools.
    pub tools: usize,
}

/// What a provider has against a tool.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Objection {
    /// The tool.
    pub tool: String,
    /// Which of its schemas; none where it is about the tool itself.
    pub schema: Option<SchemaRole>,
    /// JSON Pointer inside that schema.
    pub pointer: String,
    /// The provider.
    pub provider: &'static str,
    /// The rule.
    pub rule: &'static str,
    /// Whether the provider refuses the tool for it, and with it the request.
    pub refuses: bool,
    /// One line about it.
    pub detail: String,
    /// How to rewrite the schema: one line.
    pub hint: &'static str,
    /// Where the rule is documented or was seen: a URL.
    pub source: &'static str,
    /// Where in the catalog's text it is. Unit: bytes.
    pub at: usize,
}

/// Judges the tools of a catalog by the rules of the providers; a provider named twice counts once.
///
/// Tools that do not compile are judged like any other. Errors: the text is not JSON, or no catalog.
/// Cost: linear in the text, for each rule.
pub fn portability(text: &[u8], options: &Options, providers: &[Provider]) -> Result<Portability, Box<Finding>> {
    let mut buf = TapeBuf::new();
    let source = Source::read(text, &mut buf)?;
    let tape = buf.tape(&source.text);
    let entries = ingest::read(tape, options.shape, &source.broken)?;
    let mut judging = Judging::new(tape, options, providers);
    let mut names = HashSet::default();
    for entry in entries {
        if let Ok(tool) = entry.tool
            && names.insert(tool.name.clone())
        {
            judging.tool(entry.node, &tool);
        }
    }
    let mut portability = judging.finish();
    for objection in &mut portability.objections {
        objection.at = objection.at.saturating_sub(source.shift);
    }
    Ok(portability)
}
