//! Other programs, run in the repository: cargo and whatever else a step needs.

use std::env;
use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::root;

/// Runs cargo, its output passed through. Errors: it fails.
pub(crate) fn run(arguments: &[&str], variables: &[(&str, &str)]) -> Result<()> {
    let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let shown = format!("cargo {}", arguments.join(" "));
    run_as(&shown, Command::new(cargo).args(arguments).envs(variables.iter().copied()))
}

/// Runs a program in the repository, called `shown` where it fails.
pub(crate) fn run_as(shown: &str, command: &mut Command) -> Result<()> {
    let status = command.current_dir(root()).status().with_context(|| format!("cannot run {shown}"))?;
    if !status.success() {
        bail!("{shown}: {status}");
    }
    Ok(())
}

/// Where cargo puts what it builds.
pub(crate) fn target_folder() -> PathBuf {
    env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), |folder| root().join(folder))
}
