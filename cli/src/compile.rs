//! `callgate compile`: a catalog as one file that is loaded without compiling it again.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use callgate::Catalog;

use crate::catalog_file::{CatalogFile, is_stdin};
use crate::findings;
use crate::flags::CompileFlags;
use crate::output::{self, print};

/// The flags of `callgate compile`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The catalog; `-` is stdin.
    catalog: PathBuf,
    /// Where the compiled catalog goes; `-` is stdout. The other commands take it in place of the catalog.
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    #[command(flatten)]
    compile: CompileFlags,
}

/// Compiles the catalog and writes the file. Tools that do not compile are in it with what was found, and stay refused.
pub fn run(args: &Args) -> Result<ExitCode> {
    let file = CatalogFile::read(&args.catalog)?;
    args.compile.ensure_for(&file)?;
    let (catalog, report) = match file.compile(&args.compile.options()) {
        Ok(compiled) => compiled,
        Err(report) => {
            findings::log(&file, &report.findings.iter().collect::<Vec<_>>());
            bail!("{} is no catalog", file.name());
        }
    };
    let bytes = file.compiled(&catalog);
    // Of some patterns a file can hold only so many.
    Catalog::load_with_limits(bytes.as_slice(), catalog.limits())
        .with_context(|| format!("cannot keep {} compiled", file.name()))?;
    write(&args.output, &bytes)?;
    let plural = if report.tools == 1 { "" } else { "s" };
    let said = format!(
        "{} tool{plural}: {} healthy, {} flagged, {} refused; {} bytes",
        report.tools,
        report.healthy,
        report.flagged,
        report.refused,
        bytes.len()
    );
    if is_stdin(&args.output) {
        output::log(&said);
    } else {
        print(|out| writeln!(out, "{said}"))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Writes the file beside its place first, so that nobody reads half of it.
fn write(path: &Path, bytes: &[u8]) -> Result<()> {
    if is_stdin(path) {
        return io::stdout().lock().write_all(bytes).context("cannot write to stdout");
    }
    let cannot = || format!("cannot write {}", path.display());
    // A device or a pipe is written as it is.
    if fs::metadata(path).is_ok_and(|there| !there.is_file()) {
        return fs::write(path, bytes).with_context(cannot);
    }
    let mut beside = path.as_os_str().to_owned();
    beside.push(".part");
    fs::write(&beside, bytes).and_then(|()| fs::rename(&beside, path)).with_context(cannot)
}
