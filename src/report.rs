//! What compiling a catalog found, as data.

use std::fmt;

use callgate_compiler::{Finding, Severity};
use serde::Serialize;

/// What was found while a catalog was compiled.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Report {
    /// Tools of the catalog.
    pub tools: usize,
    /// Tools without a finding.
    pub healthy: usize,
    /// Tools with findings that can be called all the same.
    pub flagged: usize,
    /// Tools (and entries that are no tools) that cannot be called.
    pub refused: usize,
    /// The findings, tool by tool in the order of the catalog.
    pub findings: Vec<Finding>,
}

impl Report {
    /// Whether a finding is an error.
    pub fn has_errors(&self) -> bool {
        self.findings.iter().any(|finding| finding.severity == Severity::Error)
    }
}

/// A catalog (or schema) that could not be compiled at all. Carries the report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    /// What was found.
    pub report: Report,
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.report.findings.iter().find(|finding| !finding.kind.compiles()) {
            Some(finding) => write!(f, "{finding}"),
            None => f.write_str("the catalog was refused"),
        }
    }
}

impl std::error::Error for Refused {}
