//! `cargo xtask tidy`: rules of the house that no lint knows.
//!
//! * no snapshot waits to be reviewed (`.snap.new`);
//! * no source file is longer than [`LINES_MAX`] lines;
//! * nothing is left to do in the code: none of [`UNFINISHED`];
//! * every file of source begins with a module doc;
//! * every crate that is depended on is named in ARCHITECTURE.md.
//!
//! All violations are listed, not only the first.

use std::collections::BTreeSet;
use std::path::Path;

use anyhow::{Result, bail};

use crate::{root, source};

/// Longest source file. Unit: lines.
const LINES_MAX: usize = 1_200;

/// Macros that mark unfinished code.
const UNFINISHED: [&str; 3] = ["todo", "unimplemented", "dbg"];

/// Errors: what violates a rule.
pub(crate) fn check() -> Result<()> {
    let mut violations = Vec::new();
    let mut dependencies = BTreeSet::new();
    for path in source::files()? {
        let shown = path.strip_prefix(root()).unwrap_or(&path).display().to_string();
        if shown.ends_with(".snap.new") {
            violations.push(format!("{shown}: a snapshot to review"));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let found = of_source(&source::text(&path)?);
            violations.extend(found.into_iter().map(|violation| format!("{shown}: {violation}")));
        } else if path.file_name() == Some("Cargo.toml".as_ref()) {
            dependencies.extend(dependencies_of(&source::text(&path)?));
        }
    }
    violations.extend(unnamed(&dependencies)?);
    if violations.is_empty() {
        return Ok(());
    }
    bail!("{}", violations.join("\n"))
}

/// What is wrong with one file of source.
fn of_source(text: &str) -> Vec<String> {
    let mut violations = Vec::new();
    let lines = text.lines().count();
    if lines > LINES_MAX {
        violations.push(format!("{lines} lines, more than {LINES_MAX}"));
    }
    if !text.starts_with("//!") {
        violations.push("no module doc".to_owned());
    }
    let calls = UNFINISHED.map(|name| format!("{name}!("));
    violations.extend(calls.iter().filter(|call| text.contains(*call)).map(|call| format!("unfinished: {call})")));
    violations
}

/// The dependencies of a manifest, without the crates of this repository.
fn dependencies_of(manifest: &str) -> BTreeSet<String> {
    let mut dependencies = BTreeSet::new();
    let mut inside = false;
    for line in manifest.lines() {
        if line.starts_with('[') {
            inside = line.trim_end().ends_with("dependencies]");
        } else if inside && line.starts_with(|first: char| first.is_ascii_alphanumeric()) {
            let name = line.split(['.', ' ', '=']).next().unwrap_or_default();
            dependencies.insert(name.to_owned());
        }
    }
    dependencies.retain(|name| !name.starts_with("callgate"));
    dependencies
}

/// Errors that ARCHITECTURE.md does not account for a dependency.
fn unnamed(dependencies: &BTreeSet<String>) -> Result<Vec<String>> {
    let page = "ARCHITECTURE.md";
    if !Path::new(&root().join(page)).exists() {
        println!("{page} is not here yet: dependencies are not looked up");
        return Ok(Vec::new());
    }
    let text = source::text(page)?;
    let unnamed = dependencies.iter().filter(|name| !text.contains(&format!("`{name}`")));
    Ok(unnamed.map(|name| format!("{page}: does not name the dependency {name}")).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &[&str]) {
        assert_eq!(of_source(text), expected);
    }

    #[test]
    fn violations_are_listed() {
        check("//! Doc.\n", &[]);
        check("fn f() {}\n", &["no module doc"]);
        let call = format!("{}!()", UNFINISHED[0]); // written out, it would be a violation here
        check(&format!("//! Doc.\n{call}\n"), &[&format!("unfinished: {call}")]);
        check(&"//! Doc.\n".repeat(LINES_MAX + 1), &["1201 lines, more than 1200"]);
    }

    #[test]
    fn dependencies_are_read_from_every_kind_of_table() {
        let manifest = "[package]\nname = \"x\"\n[dependencies]\nserde.workspace = true\ncallgate-vm = \"1\"\n\
            [dev-dependencies]\n# a peer\nboon = \"0.6\"\n[lints]\nworkspace = true\n";
        assert_eq!(dependencies_of(manifest), ["boon", "serde"].map(str::to_owned).into());
    }
}
