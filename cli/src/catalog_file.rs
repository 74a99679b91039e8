//! A catalog's text, from a file or stdin: compiled, its tools found by name, and places in it by line and column.

use std::fmt;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use anyhow::{Context, Result, ensure};
use callgate::{Catalog, Options, Report, Tool};

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

/// The text of a catalog, and where it is from.
#[derive(Debug)]
pub struct CatalogFile {
    name: String,
    text: Vec<u8>,
}

impl CatalogFile {
    /// Reads the file, whatever is in it. Errors: it cannot be read.
    pub fn read(path: &Path) -> Result<CatalogFile> {
        Ok(CatalogFile { name: path.display().to_string(), text: read_file(path)? })
    }

    /// The file as it was named on the command line.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The text as it was read.
    pub fn text(&self) -> &[u8] {
        &self.text
    }

    /// Compiles the catalog. Errors: the text is no catalog; the report says why.
    pub fn compile(&self, options: &Options) -> Result<(Catalog, Report), Report> {
        self.compile_observed(options, &mut |_, _| {})
    }

    /// As [`compile`](Self::compile), and tells after each tool how many are done, of how many.
    pub fn compile_observed(
        &self,
        options: &Options,
        observe: &mut dyn FnMut(usize, usize),
    ) -> Result<(Catalog, Report), Report> {
        let mut catalog = Catalog::default();
        let report = catalog.upsert_observed(&self.text, options, observe).map_err(|refused| refused.report)?;
        Ok((catalog, report))
    }

    /// The tool of that name. Errors: there is none; the names most like it are given.
    pub fn tool<'c>(&self, catalog: &'c Catalog, name: &str) -> Result<&'c Tool, UnknownTool> {
        catalog.tool(name).ok_or_else(|| UnknownTool {
            file: self.name.clone(),
            tool: name.to_owned(),
            nearest: nearest(name, catalog.tools().map(Tool::name)),
        })
    }

    /// Line and column of a byte of the text, from 1; the column counts characters. Cost: linear in the text before.
    pub fn position(&self, at: usize) -> (usize, usize) {
        let before = &self.text[..at.min(self.text.len())];
        let mut lines = before.rsplit(|byte| *byte == b'\n');
        let line = lines.next().unwrap_or_default();
        // Bytes that go on with a character do not count.
        let chars = line.iter().filter(|byte| **byte & 0xc0 != 0x80).count();
        (lines.count() + 1, chars + 1)
    }
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
pub fn nearest<'n>(name: &str, known: impl Iterator<Item = &'n str>) -> Vec<String> {
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
        let file = CatalogFile { name: String::new(), text: "[\n  \"é\", 1]".into() };
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
