//! Findings: what is said about schemas, at ingest. A closed list.

use std::fmt;
use std::ops::Range;

use serde::{Deserialize, Serialize};

/// What a finding is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FindingKind {
    /// The catalog is not JSON, not UTF-8, or of no known shape.
    Unreadable,
    /// An entry of the catalog is no object, or has no name.
    NotATool,
    /// A name that the catalog has already.
    DuplicateTool,
    /// The metaschema rejects the schema.
    NotWellFormed,
    /// A key stands twice in one object of the schema.
    DuplicateMember,
    /// Two resources of one URI, or two anchors of one name.
    DuplicateId,
    /// A reference to nowhere.
    RefUnresolved,
    /// A reference to a network document that is not registered. Nothing is ever fetched.
    RefRemote,
    /// References that come back to where they started without looking at anything.
    RefCycle,
    /// `$schema` names no dialect that is known.
    UnknownDialect,
    /// The dialect requires a vocabulary that is not known.
    VocabularyUnknown,
    /// Not an ECMA-262 pattern, or one that cannot be run.
    PatternInvalid,
    /// Hard: the schema is too large.
    SizeLimit,
    /// Hard: the schema nests too deep.
    DepthLimit,
    /// Hard: too many subschemas.
    SubschemaLimit,
    /// Hard: a pattern is too large.
    PatternLimit,
    /// Hard: the compiled program is too large.
    ProgramLimit,
    /// Health: the schema is large.
    SizeExceeded,
    /// Health: the schema nests deep.
    DepthExceeded,
    /// Health: the schema has many properties.
    PropertiesExceeded,
    /// `type` is present and excludes objects: no arguments can satisfy it.
    RootNotObject,
    /// A pattern with look-around or back-references.
    PatternBacktracks,
    /// A near-miss spelling of a known `$schema`, read as meant.
    NearDialect,
    /// No value can satisfy the schema, or none that its author has in mind.
    Contradiction,
    /// A keyword that another draft or flavour has, and that says nothing here.
    ForeignKeyword,
    /// A name that is likely a keyword misspelt.
    UnknownKeyword,
}

impl FindingKind {
    /// Every kind.
    pub const ALL: [FindingKind; 26] = [
        FindingKind::Unreadable,
        FindingKind::NotATool,
        FindingKind::DuplicateTool,
        FindingKind::NotWellFormed,
        FindingKind::DuplicateMember,
        FindingKind::DuplicateId,
        FindingKind::RefUnresolved,
        FindingKind::RefRemote,
        FindingKind::RefCycle,
        FindingKind::UnknownDialect,
        FindingKind::VocabularyUnknown,
        FindingKind::PatternInvalid,
        FindingKind::SizeLimit,
        FindingKind::DepthLimit,
        FindingKind::SubschemaLimit,
        FindingKind::PatternLimit,
        FindingKind::ProgramLimit,
        FindingKind::SizeExceeded,
        FindingKind::DepthExceeded,
        FindingKind::PropertiesExceeded,
        FindingKind::RootNotObject,
        FindingKind::PatternBacktracks,
        FindingKind::NearDialect,
        FindingKind::Contradiction,
        FindingKind::ForeignKeyword,
        FindingKind::UnknownKeyword,
    ];

    /// The kind's stable spelling.
    pub fn as_str(self) -> &'static str {
        match self {
            FindingKind::Unreadable => "unreadable",
            FindingKind::NotATool => "not_a_tool",
            FindingKind::DuplicateTool => "duplicate_tool",
            FindingKind::NotWellFormed => "not_well_formed",
            FindingKind::DuplicateMember => "duplicate_member",
            FindingKind::DuplicateId => "duplicate_id",
            FindingKind::RefUnresolved => "ref_unresolved",
            FindingKind::RefRemote => "ref_remote",
            FindingKind::RefCycle => "ref_cycle",
            FindingKind::UnknownDialect => "unknown_dialect",
            FindingKind::VocabularyUnknown => "vocabulary_unknown",
            FindingKind::PatternInvalid => "pattern_invalid",
            FindingKind::SizeLimit => "size_limit",
            FindingKind::DepthLimit => "depth_limit",
            FindingKind::SubschemaLimit => "subschema_limit",
            FindingKind::PatternLimit => "pattern_limit",
            FindingKind::ProgramLimit => "program_limit",
            FindingKind::SizeExceeded => "size_exceeded",
            FindingKind::DepthExceeded => "depth_exceeded",
            FindingKind::PropertiesExceeded => "properties_exceeded",
            FindingKind::RootNotObject => "root_not_object",
            FindingKind::PatternBacktracks => "pattern_backtracks",
            FindingKind::NearDialect => "near_dialect",
            FindingKind::Contradiction => "contradiction",
            FindingKind::ForeignKeyword => "foreign_keyword",
            FindingKind::UnknownKeyword => "unknown_keyword",
        }
    }

    /// How much it matters.
    pub fn severity(self) -> Severity {
        match self {
            FindingKind::SizeExceeded
            | FindingKind::DepthExceeded
            | FindingKind::PropertiesExceeded
            | FindingKind::PatternBacktracks
            | FindingKind::NearDialect
            | FindingKind::Contradiction
            | FindingKind::ForeignKeyword
            | FindingKind::UnknownKeyword => Severity::Warning,
            _ => Severity::Error,
        }
    }

    /// Whether a schema with this finding still compiles.
    pub fn compiles(self) -> bool {
        self.severity() == Severity::Warning || self == FindingKind::RootNotObject
    }
}

impl fmt::Display for FindingKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// How much a finding matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// The schema means something else than its author thinks, or nothing.
    Error,
    /// Worth knowing.
    Warning,
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Severity::Error => "error",
            Severity::Warning => "warning",
        })
    }
}

/// Which of a tool's schemas.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SchemaRole {
    /// Its arguments.
    Input,
    /// Its results.
    Output,
}

impl fmt::Display for SchemaRole {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            SchemaRole::Input => "input",
            SchemaRole::Output => "output",
        })
    }
}

/// One thing found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    /// The tool; none where the finding is about the catalog.
    pub tool: Option<String>,
    /// Which of its schemas.
    pub schema: SchemaRole,
    /// JSON Pointer inside that schema; inside the catalog where there is no tool.
    pub pointer: String,
    /// What it is.
    pub kind: FindingKind,
    /// How much it matters.
    pub severity: Severity,
    /// One line about it.
    pub detail: String,
    /// The repair, where it is cheap to know: `did you mean "string"?`.
    pub hint: Option<String>,
    /// Where in the catalog's text the value is that the pointer leads to. Unit: bytes.
    pub span: Option<Range<usize>>,
}

impl Finding {
    /// A finding about the schema at hand; the tool is filled in by the catalog.
    pub fn new(kind: FindingKind, pointer: impl Into<String>, detail: impl Into<String>) -> Finding {
        Finding {
            tool: None,
            schema: SchemaRole::Input,
            pointer: pointer.into(),
            kind,
            severity: kind.severity(),
            detail: detail.into(),
            hint: None,
            span: None,
        }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}[{}]", self.severity, self.kind)?;
        if let Some(tool) = &self.tool {
            write!(f, " {tool}")?;
            if self.schema == SchemaRole::Output {
                f.write_str(" (output)")?;
            }
        }
        if !self.pointer.is_empty() {
            write!(f, " at {}", self.pointer)?;
        }
        write!(f, ": {}", self.detail)?;
        match &self.hint {
            Some(hint) => write!(f, "; {hint}"),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_are_spelled_once() {
        let mut names: Vec<_> = FindingKind::ALL.iter().map(|kind| kind.as_str()).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), FindingKind::ALL.len());
    }
}
