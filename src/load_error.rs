//! Why bytes are no compiled catalog that can be used.

use std::fmt;

use callgate_vm::image::BadImage;

/// What is in the way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LoadErrorKind {
    /// The bytes do not start as a compiled catalog does.
    NotCompiled,
    /// It was written by a callgate of another version; compiling the source again helps.
    Version,
    /// It is cut off, or its checksum is another: it was damaged.
    Damaged,
    /// It holds something that no callgate writes.
    Invalid,
    /// A call could take more than the limits of whoever loads it allow.
    Limit,
}

/// A compiled catalog that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoadError {
    kind: LoadErrorKind,
    detail: String,
}

impl LoadError {
    pub(crate) fn new(kind: LoadErrorKind, detail: impl Into<String>) -> LoadError {
        LoadError { kind, detail: detail.into() }
    }

    pub(crate) fn invalid(detail: impl Into<String>) -> LoadError {
        LoadError::new(LoadErrorKind::Invalid, detail)
    }

    /// What is in the way.
    pub fn kind(&self) -> LoadErrorKind {
        self.kind
    }

    /// One line about it.
    pub fn detail(&self) -> &str {
        &self.detail
    }
}

impl From<BadImage> for LoadError {
    fn from(BadImage(what): BadImage) -> LoadError {
        LoadError::invalid(what)
    }
}

impl fmt::Display for LoadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = match self.kind {
            LoadErrorKind::NotCompiled => "no compiled catalog",
            LoadErrorKind::Version => "a compiled catalog of another version",
            LoadErrorKind::Damaged => "a damaged compiled catalog",
            LoadErrorKind::Invalid => "not a sound compiled catalog",
            LoadErrorKind::Limit => "a compiled catalog beyond the limits",
        };
        write!(f, "{what}: {}", self.detail)
    }
}

impl std::error::Error for LoadError {}
