//! A catalog, from a file or stdin, as text or in its compiled form: its tools found by name, and places in its text by line
//! and column.

use std::cell::OnceCell;
use std::fmt;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use anyhow::{Context, Result, ensure};
use callgate::{Catalog, Finding, FindingKind, Limits, LoadError, Options, Report, Tool};

use crate::output::visible;

/// What is read of one input, so that a device without end is an error and not all of the memory. Unit: bytes.
pub const INPUT_BYTES_MAX: u64 = 1 << 30;

/// Names listed where a name is not known.
const NEAREST_MAX: usize = 3;

/// Whether the path means stdin.
pub fn is_stdin(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// The bytes of a file, or of stdin. Errors: it cannot be read, or has more than [`INPUT_BYTES_MAX`].
pub fn read_file(path: &Path) -> Result<Vec<u8>> {
    let text = read_up_to(path, INPUT_BYTES_MAX + 1)?;
    ensure!(text.len() as u64 <= INPUT_BYTES_MAX, "cannot read {}: it is larger than 1 GiB", path.display());
    Ok(text)
}

/// The first `bytes_max` bytes of a file, or of stdin. Errors: it cannot be read.
pub fn read_up_to(path: &Path, bytes_max: u64) -> Result<Vec<u8>> {
    let mut text = Vec::new();
    let read = if is_stdin(path) {
        io::stdin().lock().take(bytes_max).read_to_end(&mut text)
    } else {
        File::open(path).and_then(|file| file.take(bytes_max).read_to_end(&mut text))
    };
    read.with_context(|| format!("cannot read {}", path.display()))?;
    Ok(text)
}

/// A catalog as it was read, and where it is from.
#[derive(Debug)]
pub struct CatalogFile {
    name: String,
    form: Form,
    lines: OnceCell<Lines>,
}

/// What a file turned out to be.
#[derive(Debug)]
enum Form {
    Text(Vec<u8>),
    /// A compiled catalog, and the text that it was compiled from, empty where that is not kept.
    Compiled {
        bytes: Vec<u8>,
        text: Vec<u8>,
    },
}

impl CatalogFile {
    /// Reads the file, whatever is in it. Errors: it cannot be read.
    pub fn read(path: &Path) -> Result<CatalogFile> {
        Ok(CatalogFile::new(path.display().to_string(), read_file(path)?))
    }

    fn new(name: String, bytes: Vec<u8>) -> CatalogFile {
        let form = if Catalog::is_compiled(&bytes) {
            // What is wrong with it is said when it is loaded.
            let text = Catalog::source_of(&bytes).ok().flatten().map(<[u8]>::to_vec).unwrap_or_default();
            Form::Compiled { bytes, text }
        } else {
            Form::Text(bytes)
        };
        CatalogFile { name, form, lines: OnceCell::new() }
    }

    /// The file as it was named on the command line.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The text as it was read, or as it was compiled; empty where it is not known.
    pub fn text(&self) -> &[u8] {
        match &self.form {
            Form::Text(text) | Form::Compiled { text, .. } => text,
        }
    }

    /// Whether the catalog has been compiled before, with options of its own.
    pub fn is_compiled(&self) -> bool {
        matches!(self.form, Form::Compiled { .. })
    }

    /// Something that goes by the catalog's text. Errors: it was compiled, and its text is not kept.
    pub fn ensure_text(&self, what: &str) -> Result<()> {
        ensure!(!self.is_compiled() || !self.text().is_empty(), "{} is compiled: {what} needs its source", self.name);
        Ok(())
    }

    /// Compiles the catalog, or loads it. Of a compiled one the limits of calls are its own, unless `options` sets other than
    /// the default ones; all else was settled when it was compiled. Errors: it is no catalog; the report says why.
    pub fn compile(&self, options: &Options) -> Result<(Catalog, Report), Report> {
        self.compile_observed(options, &mut |_, _| {})
    }

    /// As [`compile`](Self::compile), and tells after each tool how many are done, of how many.
    pub fn compile_observed(
        &self,
        options: &Options,
        observe: &mut dyn FnMut(usize, usize),
    ) -> Result<(Catalog, Report), Report> {
        match &self.form {
            Form::Text(text) => {
                let mut catalog = Catalog::default();
                let report = catalog.upsert_observed(text, options, observe).map_err(|refused| refused.report)?;
                Ok((catalog, report))
            }
            Form::Compiled { bytes, text } => {
                let catalog = load(bytes, options).map_err(|error| {
                    let finding = Finding::new(FindingKind::Unreadable, "", error.to_string());
                    Report { findings: vec![finding], ..Report::default() }
                })?;
                let mut report = catalog.report().clone();
                if text.is_empty() {
                    // There is nothing that the offsets could be into.
                    report.findings.iter_mut().for_each(|finding| finding.span = None);
                }
                Ok((catalog, report))
            }
        }
    }

    /// The catalog as a compiled file, with its text.
    pub fn compiled(&self, catalog: &Catalog) -> Vec<u8> {
        if self.text().is_empty() { catalog.to_bytes() } else { catalog.to_bytes_with_source(self.text()) }
    }

    /// The tool of that name. Errors: there is none; the names most like it are given.
    pub fn tool<'c>(&self, catalog: &'c Catalog, name: &str) -> Result<&'c Tool, UnknownTool> {
        catalog.tool(name).ok_or_else(|| UnknownTool {
            file: self.name.clone(),
            tool: name.to_owned(),
            nearest: nearest(name, catalog.tools().map(Tool::name)),
        })
    }

    /// Line and column of a byte of the text, from 1; the column counts characters. Cost: one pass over the text at the first
    /// call, then little, however long lines are.
    pub fn position(&self, at: usize) -> (usize, usize) {
        self.lines.get_or_init(|| Lines::of(self.text())).position(self.text(), at.min(self.text().len()))
    }
}

/// Where lines start, and how many characters stand before every so many bytes.
#[derive(Debug)]
struct Lines {
    starts: Vec<usize>,
    chars: Vec<usize>,
}

impl Lines {
    /// Bytes between two counts.
    const STEP: usize = 4096;

    fn of(text: &[u8]) -> Lines {
        let breaks = text.iter().enumerate().filter(|(_, byte)| **byte == b'\n').map(|(at, _)| at + 1);
        let mut chars = 0;
        let counts = text.chunks(Self::STEP).map(|chunk| {
            let before = chars;
            chars += Self::count(chunk);
            before
        });
        Lines { starts: std::iter::once(0).chain(breaks).collect(), chars: counts.collect() }
    }

    /// Bytes that go on with a character do not count.
    fn count(bytes: &[u8]) -> usize {
        bytes.iter().filter(|byte| **byte & 0xc0 != 0x80).count()
    }

    /// Characters before a byte.
    fn before(&self, text: &[u8], at: usize) -> usize {
        let step = (at / Self::STEP).min(self.chars.len().saturating_sub(1));
        self.chars.get(step).copied().unwrap_or(0) + Self::count(&text[(step * Self::STEP).min(at)..at])
    }

    fn position(&self, text: &[u8], at: usize) -> (usize, usize) {
        let line = self.starts.partition_point(|start| *start <= at);
        let start = self.starts[line - 1];
        (line, self.before(text, at) - self.before(text, start) + 1)
    }
}

/// A compiled catalog, if all of it holds together.
fn load(bytes: &[u8], options: &Options) -> std::result::Result<Catalog, LoadError> {
    let catalog = if options.limits == Limits::default() {
        Catalog::load(bytes)?
    } else {
        Catalog::load_with_limits(bytes, &options.limits)?
    };
    catalog.verify().map(|()| catalog)
}

/// Stdin can be read once. Errors: it is named twice.
pub fn ensure_one_stdin(sources: impl IntoIterator<Item = bool>) -> Result<()> {
    ensure!(sources.into_iter().filter(|is_stdin| *is_stdin).count() < 2, "only one of the inputs can be stdin");
    Ok(())
}

/// A name that no tool of the catalog has.
#[derive(Debug)]
pub struct UnknownTool {
    file: String,
    tool: String,
    nearest: Vec<String>,
}

impl fmt::Display for UnknownTool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} has no tool \"{}\"", self.file, visible(&self.tool))?;
        for (at, name) in self.nearest.iter().enumerate() {
            write!(f, "{}\"{}\"", if at == 0 { "; most like it: " } else { ", " }, visible(name))?;
        }
        Ok(())
    }
}

impl std::error::Error for UnknownTool {}

/// The names most like `name`, the likest first; of two as like, the first of the catalog.
fn nearest<'n>(name: &str, known: impl Iterator<Item = &'n str>) -> Vec<String> {
    let wanted = name.to_lowercase();
    let likeness = |known: &str| {
        let known = known.to_lowercase();
        // `weather` means `get_weather` rather than `feather`.
        let part = !wanted.is_empty() && !known.is_empty() && (known.contains(&wanted) || wanted.contains(&known));
        strsim::jaro_winkler(&known, &wanted) + f64::from(u8::from(part))
    };
    let mut ranked: Vec<_> = known.map(|known| (likeness(known), known)).collect();
    ranked.sort_by(|(left, _), (right, _)| right.total_cmp(left));
    ranked.into_iter().take(NEAREST_MAX).map(|(_, known)| known.to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_count_characters() {
        let file = CatalogFile::new(String::new(), "[\n  \"é\", 1]".into());
        assert_eq!(file.position(0), (1, 1));
        assert_eq!(file.position(4), (2, 3));
        assert_eq!(file.position(10), (2, 8));
        assert_eq!(file.position(99), (2, 10));
    }

    #[test]
    fn a_part_is_nearer_than_a_likeness() {
        let known = ["feather", "get_weather", "list_alerts", "roll", "weathers"];
        assert_eq!(nearest("weather", known.into_iter()), ["weathers", "get_weather", "feather"]);
        assert_eq!(nearest("x", std::iter::empty()), [""; 0]);
    }
}
