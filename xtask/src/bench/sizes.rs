//! Memory of compiled tools: the hot section, which judging reads, and the cold one, which a rejection reads.
//!
//! The tools are those of the real catalogs where they are at hand, else of the example.

use std::env;
use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result, ensure};
use callgate::{Catalog, Options};

use super::table::table;
use crate::{root, source};

/// Tools of a large catalog.
const CATALOG_LEN: usize = 400;

/// One row a section, one a sum of both.
fn table_text(units: &[(usize, usize)]) -> String {
    let row = |name: &str, of: fn(&(usize, usize)) -> usize| {
        let mut sizes: Vec<usize> = units.iter().map(of).collect();
        let catalog: usize = (0..CATALOG_LEN).map(|at| sizes[at * sizes.len() / CATALOG_LEN]).sum();
        sizes.sort_unstable();
        let at = |part: usize| sizes[(sizes.len() - 1) * part / 100].to_string();
        vec![name.to_owned(), at(50), at(90), at(100), format!("{} KiB", catalog / 1024)]
    };
    let rows = [row("hot", |unit| unit.0), row("cold", |unit| unit.1), row("both", |unit| unit.0 + unit.1)];
    let catalog = format!("{CATALOG_LEN} tools");
    table(&["bytes a tool", "median", "90 %", "largest", &catalog], 1, &rows)
}

/// The table, with where the tools come from and this machine's L2.
pub(crate) fn tell() -> Result<String> {
    let (source, texts) = catalogs()?;
    let mut units = Vec::new();
    for text in &texts {
        let (catalog, _) = Catalog::compile(text, &Options::default()).context("a catalog does not compile")?;
        units.extend(catalog.tools().filter_map(|tool| Some(tool.input()?.unit().memory())));
    }
    ensure!(!units.is_empty(), "no tool compiles");
    Ok(format!(
        "{} tools of {source}; {CATALOG_LEN} tools: taken evenly from them. L2 of a core: {}.\n\n{}",
        units.len(),
        l2(),
        table_text(&units)
    ))
}

fn catalogs() -> Result<(&'static str, Vec<String>)> {
    let corpus = env::var_os("CALLGATE_CORPUS").map_or_else(|| root().join("../shared/corpus"), PathBuf::from);
    let Ok(entries) = fs::read_dir(corpus.join("catalogs")) else {
        return Ok(("the example catalog", vec![source::text("examples/library.json")?]));
    };
    let mut files = entries.map(|entry| Ok(entry?.path())).collect::<Result<Vec<_>>>()?;
    files.sort();
    let texts = files.iter().map(|file| fs::read_to_string(file).with_context(|| file.display().to_string()));
    Ok(("the real catalogs", texts.collect::<Result<_>>()?))
}

fn l2() -> String {
    let size = fs::read_to_string("/sys/devices/system/cpu/cpu0/cache/index2/size");
    size.map_or_else(|_| "unknown".to_owned(), |size| size.trim().replace('K', " KiB"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sections_are_apart() {
        let units: Vec<(usize, usize)> = (1..=100).map(|size| (size * 10, size * 1_000)).collect();
        let text = table_text(&units);
        let cells = |line: &str| line.split('|').map(|cell| cell.trim().to_owned()).collect::<Vec<_>>();
        let hot = text.lines().find(|line| line.starts_with("| hot")).unwrap();
        assert_eq!(cells(hot)[2..6], ["500", "900", "1000", "197 KiB"].map(str::to_owned));
    }
}
