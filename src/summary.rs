//! A rejection as owned data, which keeps neither the arguments nor the schema alive.

use serde::Serialize;

use crate::rejection::{Failure, Rejection};
use crate::signature;

impl Rejection<'_> {
    /// The rejection as data of its own: neither the arguments nor the schema are kept alive.
    #[allow(clippy::should_implement_trait)] // `ToOwned` wants a borrowed form; this is the summary of one
    pub fn to_owned(&self) -> Summary {
        Summary {
            line: self.to_string(),
            message: self.message(),
            path: self.path(),
            failures: self.failures().map(|failure| failure.to_owned()).collect(),
            unlisted: self.unlisted(),
            missing_only: self.missing_only(),
            missing: self.missing().map(|missing| missing.pointer()).collect(),
            signature: self.signature(),
        }
    }
}

impl Failure<'_, '_> {
    /// The failure as data of its own.
    #[allow(clippy::should_implement_trait)] // as for `Rejection`
    pub fn to_owned(&self) -> FailureSummary {
        FailureSummary {
            code: self.code().to_owned(),
            keyword: self.keyword().map(str::to_owned),
            instance_location: self.instance_location(),
            instance_path: self.instance_path(),
            keyword_location: self.keyword_location().to_owned(),
            evaluation_path: self.evaluation_path(),
            message: self.message(),
            description: self.description().map(str::to_owned),
        }
    }
}

/// One step of a location.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(untagged)]
pub enum Step {
    /// A member's name, or a keyword.
    Name(String),
    /// An index.
    Index(u32),
}

/// A rejection as owned, serialisable data. Immutable: its fields are read through accessors.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Summary {
    line: String,
    message: String,
    path: Vec<Step>,
    failures: Vec<FailureSummary>,
    unlisted: u64,
    missing_only: bool,
    missing: Vec<String>,
    #[serde(serialize_with = "signature::as_hex")]
    signature: u64,
}

impl Summary {
    /// The line, with the usual prefix.
    pub fn line(&self) -> &str {
        &self.line
    }

    /// The message of the failure that speaks.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// Where that failure stands.
    pub fn path(&self) -> &[Step] {
        &self.path
    }

    /// All failures listed.
    pub fn failures(&self) -> &[FailureSummary] {
        &self.failures
    }

    /// How many are not listed.
    pub fn unlisted(&self) -> u64 {
        self.unlisted
    }

    /// See [`Rejection::missing_only`].
    pub fn missing_only(&self) -> bool {
        self.missing_only
    }

    /// The JSON Pointers of what is missing; see [`Rejection::missing`].
    pub fn missing(&self) -> &[String] {
        &self.missing
    }

    /// See [`Rejection::signature`]. Serialised as 16 hexadecimal digits.
    pub fn signature(&self) -> u64 {
        self.signature
    }
}

/// One failure as owned, serialisable data; the fields of [`Failure`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FailureSummary {
    code: String,
    keyword: Option<String>,
    instance_location: String,
    instance_path: Vec<Step>,
    keyword_location: String,
    evaluation_path: Vec<Step>,
    message: String,
    description: Option<String>,
}

impl FailureSummary {
    /// See [`Failure::code`].
    pub fn code(&self) -> &str {
        &self.code
    }

    /// See [`Failure::keyword`].
    pub fn keyword(&self) -> Option<&str> {
        self.keyword.as_deref()
    }

    /// See [`Failure::instance_location`].
    pub fn instance_location(&self) -> &str {
        &self.instance_location
    }

    /// See [`Failure::instance_path`].
    pub fn instance_path(&self) -> &[Step] {
        &self.instance_path
    }

    /// See [`Failure::keyword_location`].
    pub fn keyword_location(&self) -> &str {
        &self.keyword_location
    }

    /// See [`Failure::evaluation_path`].
    pub fn evaluation_path(&self) -> &[Step] {
        &self.evaluation_path
    }

    /// See [`Failure::message`].
    pub fn message(&self) -> &str {
        &self.message
    }

    /// See [`Failure::description`].
    pub fn description(&self) -> Option<&str> {
        self.description.as_deref()
    }
}
