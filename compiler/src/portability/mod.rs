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
mod mcp;
mod openai;
mod openai_strict;
mod python;
mod rule;
#[cfg(test)]
mod tests;
mod walk;

use ahash::HashSet;
use bumpalo::Bump;
use callgate_vm::tape::{EntryKind, Node, Tape, TapeBuf};
use serde::Serialize;

use crate::dialect::Draft;
use crate::document::{SCHEMA_READ, without_fragment};
use crate::finding::{Finding, FindingKind, SchemaRole};
use crate::ingest::Tool;
use crate::location::push_segment;
use crate::options::Options;
use crate::portability::judge::Totals;
use crate::portability::rule::{Check, Metaschema};
use crate::portability::walk::{Subschema, Walk};
use crate::well_formed::Checker;
use crate::{bounds, ingest, unreadable};

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

/// Pointers and details listed of one tool; the objections beyond are only counted. Unit: bytes. Reason: a schema of
/// 100,000 levels has pointers of a megabyte each.
const LISTED_BYTES_MAX: usize = 1 << 20;

/// What the text of one objection counts for beside its own. Unit: bytes.
const OBJECTION_BYTES: usize = 64;

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
    let tape = buf.read(text, SCHEMA_READ).map_err(|error| Box::new(unreadable(error)))?;
    let entries = ingest::read(tape)?;
    let mut judging = Judging::new(tape, options, providers);
    let mut names = HashSet::default();
    for entry in entries {
        if let Ok(tool) = entry.tool
            && names.insert(tool.name.clone())
        {
            judging.tool(entry.node, tool);
        }
    }
    Ok(judging.finish())
}

/// A rule that is asked for, and what came of it.
struct Asked {
    /// Index of the provider among those asked for.
    provider: usize,
    rule: &'static Rule,
    /// Tools that break it.
    tools: usize,
    /// Whether the tool at hand does.
    broken: bool,
}

struct Judging<'a> {
    tape: Tape<'a>,
    options: &'a Options,
    providers: Vec<Provider>,
    asked: Vec<Asked>,
    /// Tools that each provider refuses.
    refused: Vec<usize>,
    checker: Checker,
    tools: usize,
    objections: Vec<Objection>,
    unlisted: usize,
}

/// The tool at hand, and what is listed of it.
struct Hand<'t> {
    name: &'t str,
    role: Option<SchemaRole>,
    /// By index among the rules asked for.
    listed: Vec<(usize, Objection)>,
    bytes: usize,
}

impl<'a> Judging<'a> {
    fn new(tape: Tape<'a>, options: &'a Options, providers: &[Provider]) -> Self {
        let mut kept: Vec<Provider> = Vec::new();
        for provider in providers {
            if !kept.contains(provider) {
                kept.push(*provider);
            }
        }
        let of = |(at, provider): (usize, &Provider)| {
            provider.rules().map(move |rule| Asked { provider: at, rule, tools: 0, broken: false })
        };
        Judging {
            tape,
            options,
            asked: kept.iter().enumerate().flat_map(of).collect(),
            refused: vec![0; kept.len()],
            providers: kept,
            checker: Checker::default(),
            tools: 0,
            objections: Vec::new(),
            unlisted: 0,
        }
    }

    fn tool(&mut self, node: Node, tool: Tool) {
        let mut hand = Hand { name: &tool.name, role: None, listed: Vec::new(), bytes: 0 };
        for at in 0..self.asked.len() {
            let rule = self.asked[at].rule;
            match &rule.check {
                Check::ToolName(form) => {
                    if let Some(detail) = judge::tool_name(form, &tool.name) {
                        self.say(&mut hand, at, node, String::new, detail);
                    }
                }
                Check::NoSchema if tool.input.is_none() => {
                    let detail = "the tool has no schema of its arguments".to_owned();
                    self.say(&mut hand, at, node, String::new, detail);
                }
                _ => {}
            }
        }
        for (root, role) in [(tool.input, SchemaRole::Input), (tool.output, SchemaRole::Output)] {
            if let Some(root) = root {
                hand.role = Some(role);
                self.schema(&mut hand, root, role);
            }
        }
        // The rules of one provider stand together; of one rule and one place, the order of the text stays.
        hand.listed.sort_by_key(|(at, _)| self.asked[*at].provider);
        self.objections.extend(hand.listed.into_iter().map(|(_, objection)| objection));
        self.tools += 1;
        self.count();
    }

    /// Adds the tool at hand to the counts.
    fn count(&mut self) {
        let mut refuses = vec![false; self.providers.len()];
        for asked in &mut self.asked {
            if std::mem::take(&mut asked.broken) {
                asked.tools += 1;
                refuses[asked.provider] |= asked.rule.refuses;
            }
        }
        for (count, refuses) in self.refused.iter_mut().zip(refuses) {
            *count += usize::from(refuses);
        }
    }

    fn schema(&mut self, hand: &mut Hand<'_>, root: Node, role: SchemaRole) {
        let rules: Vec<usize> =
            (0..self.asked.len()).filter(|at| self.asked[*at].rule.schemas.contains(&role)).collect();
        if rules.is_empty() {
            return;
        }
        let bump = Bump::new();
        let mut walk = Walk::new(self.tape, root, &bump);
        let mut totals = Totals::default();
        while let Some(place) = walk.next() {
            totals.add(&place);
            for at in &rules {
                self.place(hand, *at, &walk, &place);
            }
        }
        for at in rules {
            let Some((place, detail)) = totals.judge(&self.asked[at].rule.check) else {
                continue;
            };
            let node = place.map_or(root, |(node, _)| node);
            let pointer = || place.map_or(String::new(), |(_, location)| walk.locations.pointer(location, ""));
            self.say(hand, at, node, pointer, detail);
        }
    }

    fn place(&mut self, hand: &mut Hand<'_>, at: usize, walk: &Walk<'_>, place: &Subschema<'_>) {
        let rule = self.asked[at].rule;
        let check = &rule.check;
        let mut say = |node: Node, below: &[&str], detail: String| {
            let pointer = || {
                let mut pointer = walk.locations.pointer(place.location, "");
                below.iter().for_each(|segment| push_segment(&mut pointer, segment));
                pointer
            };
            // What is too long to be listed is not made.
            let bytes = walk.locations.bytes(place.location, "");
            self.say_within(hand, at, node, bytes, pointer, detail);
        };
        match *check {
            Check::EnumChars(above, max) => judge::enum_chars(above, max, place, &mut say),
            Check::Malformed(by) if place.is_root => self.malformed(hand, at, by, place),
            Check::Dialect if place.is_root => {
                if let Some((node, detail)) = dialect(place) {
                    say(node, &["$schema"], detail);
                }
            }
            Check::RootType(_) | Check::RootHas(_) | Check::RootLacks(_) if place.is_root => {
                judge::root(check, place, &mut say);
            }
            _ => judge::subschema(check, place, &mut say),
        }
    }

    /// Judges a schema by its metaschema, unless it is beyond the hard limits: then it is not.
    fn malformed(&mut self, hand: &mut Hand<'_>, at: usize, by: Metaschema, root: &Subschema<'_>) {
        if bounds::hard(self.tape, root.node, &self.options.limits).is_err() {
            return;
        }
        let draft = match by {
            Metaschema::D2020 => Some(Draft::D2020),
            Metaschema::Declared => declared(root).map_or(Some(self.options.draft), |uri| draft_of(&uri)),
        };
        // A dialect of the catalog's own has no metaschema that a provider has.
        let Some(draft) = draft else {
            return;
        };
        let finding = self.checker.judge_node(draft, self.tape, root.node);
        // Where judging was declined nothing is known.
        if let Some(finding) = finding.filter(|finding| finding.kind == FindingKind::NotWellFormed) {
            let node_at = bounds::offset_of(self.tape, root.node, &finding.pointer);
            let Finding { pointer, detail, .. } = finding;
            self.say_at(hand, at, node_at, pointer.len(), || pointer, detail);
        }
    }

    fn say(&mut self, hand: &mut Hand<'_>, at: usize, node: Node, pointer: impl FnOnce() -> String, detail: String) {
        self.say_within(hand, at, node, 0, pointer, detail);
    }

    fn say_within(
        &mut self,
        hand: &mut Hand<'_>,
        at: usize,
        node: Node,
        bytes: usize,
        pointer: impl FnOnce() -> String,
        detail: String,
    ) {
        self.say_at(hand, at, self.tape.entry(node).start as usize, bytes, pointer, detail);
    }

    /// Lists an objection if there is room; counts it anyhow. `bytes` is about what its pointer will take.
    fn say_at(
        &mut self,
        hand: &mut Hand<'_>,
        at: usize,
        offset: usize,
        bytes: usize,
        pointer: impl FnOnce() -> String,
        detail: String,
    ) {
        let asked = &mut self.asked[at];
        asked.broken = true;
        let bytes = bytes + detail.len() + OBJECTION_BYTES;
        if hand.bytes + bytes > LISTED_BYTES_MAX {
            self.unlisted += 1;
            return;
        }
        hand.bytes += bytes;
        let Rule { id, refuses, hint, source, .. } = *asked.rule;
        let objection = Objection {
            tool: hand.name.to_owned(),
            schema: hand.role,
            pointer: pointer(),
            provider: self.providers[asked.provider].name(),
            rule: id,
            refuses,
            detail,
            hint,
            source,
            at: offset,
        };
        hand.listed.push((at, objection));
    }

    fn finish(self) -> Portability {
        let Judging { providers, asked, refused, tools, objections, unlisted, .. } = self;
        let acceptance = |(at, provider): (usize, &Provider)| Acceptance {
            provider: provider.name(),
            accepted: tools - refused[at],
            refused: refused[at],
            rules: rule_counts(&asked, at),
        };
        let providers = providers.iter().enumerate().map(acceptance).collect();
        Portability { tools, providers, objections, unlisted }
    }
}

/// The rules of a provider that some tool breaks, the most broken first; of equals, in the order of the table.
fn rule_counts(asked: &[Asked], provider: usize) -> Vec<RuleCount> {
    let broken = asked.iter().filter(|asked| asked.provider == provider && asked.tools > 0);
    let count = |asked: &Asked| RuleCount { rule: asked.rule.id, refuses: asked.rule.refuses, tools: asked.tools };
    let mut counts: Vec<RuleCount> = broken.map(count).collect();
    counts.sort_by_key(|count| std::cmp::Reverse(count.tools));
    counts
}

/// What `$schema` at the root says.
fn declared(root: &Subschema<'_>) -> Option<String> {
    let uri = root.member("$schema").filter(|node| root.tape.is_string(*node))?;
    Some(root.text(uri).into_owned())
}

/// The draft of a URI, also where it is a near miss.
fn draft_of(uri: &str) -> Option<Draft> {
    let bare = without_fragment(uri);
    Draft::from_uri(bare).or_else(|| Draft::from_near_uri(bare))
}

/// What is to be said of the dialect that the root declares, unless it is 2020-12.
fn dialect(root: &Subschema<'_>) -> Option<(Node, String)> {
    let node = root.member("$schema").filter(|node| root.kind() == EntryKind::Object && root.tape.is_string(*node))?;
    match draft_of(&root.text(node)) {
        Some(Draft::D2020) => None,
        Some(draft) => Some((node, format!("the schema is of draft {}", draft.name()))),
        None => Some((node, "the schema is of a dialect of its own".to_owned())),
    }
}
