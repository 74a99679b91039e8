//! Where a bench leaves its results, for `cargo xtask bench` to read.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

/// Where criterion writes, found as it finds it.
pub(crate) fn folder() -> PathBuf {
    let variable = |name: &str| std::env::var_os(name).map(PathBuf::from);
    let target =
        || variable("CARGO_TARGET_DIR").unwrap_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("target"));
    variable("CRITERION_HOME").unwrap_or_else(|| target().join("criterion"))
}

/// Writes the results of this run under a name, instead of those of the last run.
pub(crate) fn write(name: &str, results: &Value) {
    let file = folder().join(name);
    let written = fs::create_dir_all(folder()).and_then(|()| fs::write(&file, results.to_string()));
    written.unwrap_or_else(|error| panic!("cannot write {}: {error}", file.display()));
}
