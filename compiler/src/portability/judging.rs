//! Tools, one after the other: what is asked of each, what was said, and how much of it is listed.

use bumpalo::Bump;
use callgate_vm::tape::{EntryKind, Node, Tape};

use crate::bounds;
use crate::dialect::Draft;
use crate::document::without_fragment;
use crate::finding::{Finding, FindingKind, SchemaRole};
use crate::ingest::Tool;
use crate::location::{LocationId, push_segment};
use crate::options::Options;
use crate::portability::judge::{self, Totals};
use crate::portability::rule::{Check, Metaschema, Provider, Rule};
use crate::portability::walk::{Subschema, Walk};
use crate::portability::{Acceptance, Objection, Portability, RuleCount};
use crate::well_formed::Checker;

/// Pointers and details listed of one tool; the objections beyond are only counted. Unit: bytes. Reason: a schema of
/// 100,000 levels has pointers of a megabyte each.
pub(super) const LISTED_BYTES_MAX: usize = 1 << 20;

/// What the text of one objection counts for beside its own. Unit: bytes.
const OBJECTION_BYTES: usize = 64;

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

/// All tools of a catalog.
pub(super) struct Judging<'a> {
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

/// The tool at hand.
struct Hand<'t> {
    name: &'t str,
    role: Option<SchemaRole>,
    /// What is listed of it, each with the index of its provider.
    listed: Vec<(usize, Objection)>,
    /// What that takes of [`LISTED_BYTES_MAX`].
    bytes: usize,
    /// What metaschemas say of the schema at hand: several providers ask the same one.
    well_formed: Vec<(Draft, Option<Finding>)>,
}

/// Where an objection stands. The pointer is only written if it is listed.
struct Where<P> {
    /// Offset in the text. Unit: bytes.
    at: usize,
    /// About what the pointer will take. Unit: bytes.
    pointer_bytes: usize,
    pointer: P,
}

impl<'a> Judging<'a> {
    pub(super) fn new(tape: Tape<'a>, options: &'a Options, providers: &[Provider]) -> Self {
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

    /// Judges a tool, which the catalog has at `node`.
    pub(super) fn tool(&mut self, node: Node, tool: &Tool) {
        let mut hand = Hand { name: &tool.name, role: None, listed: Vec::new(), bytes: 0, well_formed: Vec::new() };
        for at in 0..self.asked.len() {
            let rule = self.asked[at].rule;
            let detail = match &rule.check {
                Check::ToolName(form) => judge::tool_name(form, &tool.name),
                Check::NoSchema if tool.input.is_none() => Some("the tool has no schema of its arguments".to_owned()),
                _ => None,
            };
            if let Some(detail) = detail {
                let place = Where { at: self.offset(node), pointer_bytes: 0, pointer: String::new };
                self.say(&mut hand, at, place, detail);
            }
        }
        // As it is written: a provider gets the flavour that the catalog has.
        for (schema, role) in [(tool.input, SchemaRole::Input), (tool.output, SchemaRole::Output)] {
            if let Some(root) = schema.map(|schema| schema.node) {
                hand.role = Some(role);
                hand.well_formed.clear();
                self.schema(&mut hand, root, role);
            }
        }
        // Objections of one provider stand together, and keep the order of the text.
        hand.listed.sort_by_key(|(provider, _)| *provider);
        self.objections.extend(hand.listed.into_iter().map(|(_, objection)| objection));
        self.count();
    }

    /// Adds the tool at hand to the counts.
    fn count(&mut self) {
        self.tools += 1;
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
        let is_about = |at: &usize| self.asked[*at].rule.schemas.contains(&role);
        let rules: Vec<usize> = (0..self.asked.len()).filter(is_about).collect();
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
            if let Some((place, detail)) = totals.judge(&self.asked[at].rule.check) {
                let (node, location) = place.unwrap_or((root, LocationId::ROOT));
                let place = Where {
                    at: self.offset(node),
                    pointer_bytes: walk.locations.bytes(location, ""),
                    pointer: || walk.locations.pointer(location, ""),
                };
                self.say(hand, at, place, detail);
            }
        }
    }

    fn place(&mut self, hand: &mut Hand<'_>, at: usize, walk: &Walk<'_>, place: &Subschema<'_>) {
        let rule = self.asked[at].rule;
        let check = &rule.check;
        let mut say = |node: Node, below: &[&str], detail: String| {
            let pointer = || {
                let mut pointer = walk.locations.pointer(place.location, "");
                for segment in below {
                    push_segment(&mut pointer, segment);
                }
                pointer
            };
            let pointer_bytes = walk.locations.bytes(place.location, "");
            let place = Where { at: self.offset(node), pointer_bytes, pointer };
            self.say(hand, at, place, detail);
        };
        match *check {
            Check::Malformed(by) if place.is_root => self.malformed(hand, at, by, place),
            Check::Dialect if place.is_root => {
                if let Some((node, detail)) = dialect(place) {
                    say(node, &["$schema"], detail);
                }
            }
            Check::RootType(_) | Check::RootHas(_) | Check::RootLacks(_) if place.is_root => {
                judge::root(check, place, &mut say);
            }
            _ => judge::subschema(rule, place, &mut say),
        }
    }

    /// Says what a metaschema has against the schema.
    fn malformed(&mut self, hand: &mut Hand<'_>, at: usize, by: Metaschema, root: &Subschema<'_>) {
        let draft = match by {
            Metaschema::D2020 => Some(Draft::D2020),
            Metaschema::Declared => declared(root).map_or(Some(self.options.draft), |uri| draft_of(&uri)),
        };
        // A dialect of the catalog's own has no metaschema that a provider has.
        let Some(draft) = draft else {
            return;
        };
        let known = hand.well_formed.iter().find(|(known, _)| *known == draft);
        let finding = match known {
            Some((_, finding)) => finding.clone(),
            None => {
                let finding = self.judge_by(draft, root.node);
                hand.well_formed.push((draft, finding.clone()));
                finding
            }
        };
        if let Some(Finding { pointer, detail, .. }) = finding {
            let at_byte = bounds::span_at(self.tape, root.node, &pointer).start;
            let place = Where { at: at_byte, pointer_bytes: pointer.len(), pointer: || pointer };
            self.say(hand, at, place, detail);
        }
    }

    /// What the draft's metaschema finds. Nothing is known of a schema beyond the hard limits, nor where judging it was
    /// declined.
    fn judge_by(&mut self, draft: Draft, root: Node) -> Option<Finding> {
        bounds::hard(self.tape, root, &self.options.limits).ok()?;
        let finding = self.checker.judge_node(draft, self.tape, root);
        finding.filter(|finding| finding.kind == FindingKind::NotWellFormed)
    }

    fn offset(&self, node: Node) -> usize {
        self.tape.entry(node).start as usize
    }

    /// Lists an objection if there is room; counts it anyhow.
    fn say(&mut self, hand: &mut Hand<'_>, at: usize, place: Where<impl FnOnce() -> String>, detail: String) {
        let asked = &mut self.asked[at];
        asked.broken = true;
        let bytes = place.pointer_bytes + detail.len() + OBJECTION_BYTES;
        if hand.bytes + bytes > LISTED_BYTES_MAX {
            self.unlisted += 1;
            return;
        }
        hand.bytes += bytes;
        let Rule { id, refuses, hint, source, .. } = *asked.rule;
        let objection = Objection {
            tool: hand.name.to_owned(),
            schema: hand.role,
            pointer: (place.pointer)(),
            provider: self.providers[asked.provider].name(),
            rule: id,
            refuses,
            detail,
            hint,
            source,
            at: place.at,
        };
        hand.listed.push((asked.provider, objection));
    }

    pub(super) fn finish(self) -> Portability {
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
