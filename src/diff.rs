//! What has changed from one catalog to the next, tool by tool, and whether it breaks those who call.
//!
//! A schema of arguments is a promise of what a tool takes: who wrote calls to the old one is let down where the new one
//! takes less. A schema of results is a promise of what a tool gives: who reads results by the old one is let down where
//! the new one lets more come.

use std::fmt;

use callgate_compiler::{
    Difference, Effect, SchemaChange, SchemaDiff, SchemaRole, anything, compare, definition_differences,
};
use serde::Serialize;

use crate::catalog::{Catalog, Tool};

/// What has become of a tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Change {
    /// The same, up to white space.
    Unchanged,
    /// Descriptions and other annotations differ; the same calls are accepted, and the same results.
    Cosmetic,
    /// New.
    Added,
    /// Every call that was accepted still is.
    Wider,
    /// Every call that is accepted now was before; some may be missing.
    Narrower,
    /// It cannot be told; the differences say why.
    Undecided,
    /// Some call is no longer accepted, and some other one is new.
    Incompatible,
    /// Gone.
    Removed,
}

impl Change {
    /// Every change, the least first.
    pub const ALL: [Change; 8] = [
        Change::Unchanged,
        Change::Cosmetic,
        Change::Added,
        Change::Wider,
        Change::Narrower,
        Change::Undecided,
        Change::Incompatible,
        Change::Removed,
    ];

    /// The stable spelling.
    pub fn as_str(self) -> &'static str {
        match self {
            Change::Unchanged => "unchanged",
            Change::Cosmetic => "cosmetic",
            Change::Added => "added",
            Change::Wider => "wider",
            Change::Narrower => "narrower",
            Change::Incompatible => "incompatible",
            Change::Undecided => "undecided",
            Change::Removed => "removed",
        }
    }
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl From<SchemaChange> for Change {
    fn from(change: SchemaChange) -> Change {
        match change {
            SchemaChange::Unchanged => Change::Unchanged,
            SchemaChange::Cosmetic => Change::Cosmetic,
            SchemaChange::Wider => Change::Wider,
            SchemaChange::Narrower => Change::Narrower,
            SchemaChange::Incompatible => Change::Incompatible,
            SchemaChange::Undecided => Change::Undecided,
        }
    }
}

/// What the comparisons of one diff may take together: some seconds. Tools that come after are undecided. Unit: steps of
/// [`compare`].
const STEPS_MAX: u64 = 5_000_000;

/// What has become of one tool.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ToolDiff {
    /// The tool's name.
    pub tool_id: String,
    /// The change as a whole: that of the schema whose change breaks callers, else the greater of the two.
    pub change: Change,
    /// Whether those who call the tool may be let down: it is removed, its arguments became narrower or incompatible, its
    /// results wider or incompatible, or one of these cannot be ruled out.
    pub breaking: bool,
    /// The schema of its arguments; none for a tool that is added or removed.
    pub input: Option<SchemaDiff>,
    /// The schema of its results; none as well where neither catalog has one. A missing one takes anything.
    pub output: Option<SchemaDiff>,
    /// What differs beside the schemas: descriptions, titles, hints. Pointers are into the tool's entry.
    pub definition: Vec<Difference>,
}

impl ToolDiff {
    fn whole(tool: &Tool, change: Change) -> ToolDiff {
        let tool_id = tool.name().to_owned();
        let breaking = change == Change::Removed;
        ToolDiff { tool_id, change, breaking, input: None, output: None, definition: Vec::new() }
    }

    fn between(old: &Tool, new: &Tool, steps: &mut u64) -> ToolDiff {
        let input = schema_diff(old, new, SchemaRole::Input, steps);
        let output = schema_diff(old, new, SchemaRole::Output, steps);
        let definition = definition_differences(old.definition(), new.definition());
        let about = if definition.is_empty() { Change::Unchanged } else { Change::Cosmetic };
        let of = |diff: &Option<SchemaDiff>, role| {
            diff.as_ref().map(|diff| (breaks(role, diff.change), Change::from(diff.change)))
        };
        let changes = [of(&input, SchemaRole::Input), of(&output, SchemaRole::Output), Some((false, about))];
        let (breaking, change) = changes.into_iter().flatten().max().unwrap_or((false, Change::Unchanged));
        ToolDiff { tool_id: new.name().to_owned(), change, breaking, input, output, definition }
    }

    /// Whether it is breaking for nothing but what is undecided.
    pub fn is_breaking_undecided(&self) -> bool {
        let schemas = [(&self.input, SchemaRole::Input), (&self.output, SchemaRole::Output)];
        let mut breaking = schemas
            .into_iter()
            .filter_map(|(diff, role)| diff.as_ref().map(|diff| (diff.change, role)))
            .filter(|(change, role)| breaks(*role, *change))
            .peekable();
        self.breaking && breaking.peek().is_some() && breaking.all(|(change, _)| change == SchemaChange::Undecided)
    }
}

/// Whether the change of a schema breaks those who rely on the old one. What cannot be told counts as breaking: a guard that
/// lets pass what it does not understand is none.
fn breaks(role: SchemaRole, change: SchemaChange) -> bool {
    match change {
        SchemaChange::Unchanged | SchemaChange::Cosmetic => false,
        SchemaChange::Wider => role == SchemaRole::Output,
        SchemaChange::Narrower => role == SchemaRole::Input,
        SchemaChange::Incompatible | SchemaChange::Undecided => true,
    }
}

/// Compares the schemas of a role; none where there are none. A missing schema of results takes anything.
fn schema_diff(old: &Tool, new: &Tool, role: SchemaRole, steps: &mut u64) -> Option<SchemaDiff> {
    let (was, is) = (old.compiled(role), new.compiled(role));
    let missing = match (was, is) {
        (None, None) => return None,
        (Some(_), Some(_)) => None,
        (None, _) => Some(anything(old.options())),
        (_, None) => Some(anything(new.options())),
    };
    let is_quarantined = |tool: &Tool| {
        let is_compiled = tool.compiled(SchemaRole::Input).is_some_and(|schema| schema.unit.is_some());
        is_compiled && tool.input().is_none()
    };
    match (is_quarantined(old), is_quarantined(new)) {
        (false, true) => return Some(undecided("the tool is in quarantine now")),
        (true, false) => return Some(undecided("the tool was in quarantine")),
        _ => {}
    }
    let (was, is) = (was.or(missing.as_ref())?, is.or(missing.as_ref())?);
    Some(compare((was, old.options()), (is, new.options()), steps))
}

/// No call is judged by a tool in quarantine: there is nothing to compare with.
fn undecided(reason: &str) -> SchemaDiff {
    let (pointer, reason) = (String::new(), reason.to_owned());
    let difference = Difference { effect: Effect::Undecided, pointer, reason, witness: None };
    SchemaDiff { change: SchemaChange::Undecided, differences: vec![difference] }
}

/// What has changed from one catalog to another.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Diff {
    /// The tools: those of the new catalog in its order, then those that are gone in the order of the old one.
    pub tools: Vec<ToolDiff>,
}

impl Diff {
    pub(crate) fn between(old: &Catalog, new: &Catalog) -> Diff {
        let mut steps = STEPS_MAX;
        let now = new.tools().map(|tool| match old.tool(tool.name()) {
            Some(before) => ToolDiff::between(before, tool, &mut steps),
            None => ToolDiff::whole(tool, Change::Added),
        });
        let gone = old.tools().filter(|tool| new.tool(tool.name()).is_none());
        let gone = gone.map(|tool| ToolDiff::whole(tool, Change::Removed));
        Diff { tools: now.chain(gone).collect() }
    }

    /// Whether some tool's change may let its callers down.
    pub fn is_breaking(&self) -> bool {
        self.tools.iter().any(|tool| tool.breaking)
    }

    /// How many tools have changed so.
    pub fn count(&self, change: Change) -> usize {
        self.tools.iter().filter(|tool| tool.change == change).count()
    }
}
