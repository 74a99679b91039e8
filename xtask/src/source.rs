//! The repository's source as text: its files, and what stands in the doc comments of an enum.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};

use crate::root;

/// The files below the repository's root, sorted; without what git and cargo keep.
pub(crate) fn files() -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    let mut folders = vec![root().to_owned()];
    while let Some(folder) = folders.pop() {
        let entries = fs::read_dir(&folder).with_context(|| format!("cannot list {}", folder.display()))?;
        for entry in entries {
            let path = entry?.path();
            if !path.is_dir() {
                files.push(path);
            } else if !path.ends_with("target") && !path.ends_with(".git") {
                folders.push(path);
            }
        }
    }
    files.sort();
    Ok(files)
}

/// The text of a file of the repository, by its path from the root.
pub(crate) fn text(path: impl AsRef<Path>) -> Result<String> {
    let path = root().join(path);
    fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))
}

/// The variants of `name` and their doc comments, in order. Errors: no such enum, or a variant without a comment.
///
/// Reads formatted source, a line at a time: it sees the variants that hold nothing.
pub(crate) fn variants(source: &str, name: &str) -> Result<Vec<(String, String)>> {
    let start = format!("pub enum {name} {{");
    let (_, body) = source.split_once(&start).with_context(|| format!("no enum {name}"))?;
    let mut variants = Vec::new();
    let mut doc = String::new();
    for line in body.lines().map(str::trim).take_while(|line| *line != "}") {
        if let Some(comment) = line.strip_prefix("///") {
            format!("{doc} {}", comment.trim()).trim().clone_into(&mut doc);
        } else if let Some(variant) = line.strip_suffix(',') {
            ensure!(!doc.is_empty(), "{name}::{variant} has no comment");
            variants.push((variant.to_owned(), std::mem::take(&mut doc)));
        }
    }
    Ok(variants)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOURCE: &str =
        "/// A fruit.\npub enum Fruit {\n    /// Round,\n    /// and red.\n    Apple,\n    /// Long.\n    Banana,\n}\n";

    #[test]
    fn variants_come_with_their_comments() {
        let variants = variants(SOURCE, "Fruit").unwrap();
        let want = [("Apple", "Round, and red."), ("Banana", "Long.")];
        assert_eq!(variants, want.map(|(name, doc)| (name.to_owned(), doc.to_owned())));
    }

    #[test]
    fn a_variant_without_comment_is_an_error() {
        assert!(variants("pub enum Fruit {\n    Apple,\n}\n", "Fruit").is_err());
        assert!(variants(SOURCE, "Vegetable").is_err());
    }
}
