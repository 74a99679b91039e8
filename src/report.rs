//! What compiling a catalog found, as data.

use std::fmt;

use callgate_compiler::{Finding, Severity};
use serde::{Deserialize, Serialize};

/// What was found while a catalog was compiled.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
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
    /// Whether the counts add up, as far as they are of so many tools.
    pub(crate) fn adds_up(&self) -> bool {
        let sum = self.healthy.checked_add(self.flagged).and_then(|sum| sum.checked_add(self.refused));
        sum == Some(self.tools) && u32::try_from(self.tools).is_ok()
    }

    /// Whether a finding is an error.
    pub fn has_errors(&self) -> bool {
        self.findings.iter().any(|finding| finding.severity == Severity::Error)
    }
}

/// A catalog (or schema) that could not be compiled at all, or that its policy refuses. Carries the report; as text, its
/// errors, one a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    /// What was found.
    pub report: Report,
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let errors = self.report.findings.iter().filter(|finding| finding.severity == Severity::Error);
        let mut lines = 0;
        for finding in errors {
            write!(f, "{}{finding}", if lines > 0 { "\n" } else { "" })?;
            lines += 1;
        }
        if lines == 0 { f.write_str("the catalog was refused") } else { Ok(()) }
    }
}

impl std::error::Error for Refused {}
