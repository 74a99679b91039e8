//! Cold start: loading compiled catalogs beside compiling them, in one process and turn by turn.
//!
//! Whole catalogs, with their findings: the example, and the real ones where they are at hand. *load* makes a catalog whose
//! tools can be called; *verify* also reads every unit of it, which otherwise happens at a tool's first use. What was made
//! is dropped outside the time. A figure is the median of all rounds.

#![allow(clippy::print_stdout, clippy::cast_precision_loss)] // a bench prints, and its counts are small

use std::fs;
use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::time::Instant;

use callgate::{Catalog, Options};

const ROUNDS: usize = 15;

fn main() {
    let texts = texts();
    let files: Vec<Vec<u8>> = texts.iter().map(|(_, text)| compile(text).to_bytes()).collect();
    let mut times: Vec<[Vec<f64>; 3]> = texts.iter().map(|_| [const { Vec::new() }; 3]).collect();
    for _ in 0..ROUNDS {
        for (((_, text), file), [compiled, loaded, verified]) in texts.iter().zip(&files).zip(&mut times) {
            compiled.push(milliseconds((), |()| compile(text)));
            loaded.push(milliseconds(file.clone(), load));
            verified.push(milliseconds(file.clone(), |file| {
                let catalog = load(file);
                catalog.verify().expect("it was written here");
                catalog
            }));
        }
    }
    println!("| catalog | tools | source | compiled form | compile | load | ratio | load and verify | ratio |");
    println!("|---|---|---|---|---|---|---|---|---|");
    let mut all = [0.0; 3];
    let mut ratios = Vec::new();
    for (((name, text), file), times) in texts.iter().zip(&files).zip(&mut times) {
        let times = times.each_mut().map(median);
        all.iter_mut().zip(times).for_each(|(all, time)| *all += time);
        let tools = compile(text).tools().len();
        ratios.push((times[0] / times[1], row(name, tools, text.len(), file.len(), times)));
    }
    ratios.sort_by(|a, b| a.0.total_cmp(&b.0));
    let shown = ratios.iter().take(3).chain(ratios.iter().skip(3).rev().take(3).rev());
    shown.for_each(|(_, row)| println!("{row}"));
    let tools = texts.iter().map(|(_, text)| compile(text).tools().len()).sum();
    let bytes = [texts.iter().map(|(_, text)| text.len()).sum(), files.iter().map(Vec::len).sum()];
    println!("{}", row(&format!("all {}", texts.len()), tools, bytes[0], bytes[1], all));
}

/// The least and the greatest ratios are shown, and all together.
fn row(name: &str, tools: usize, source: usize, file: usize, [compiled, loaded, verified]: [f64; 3]) -> String {
    format!(
        "| {name} | {tools} | {:.0} kB | {:.0} kB | {compiled:.3} ms | {loaded:.3} ms | {:.1} | {verified:.3} ms | {:.1} |",
        source as f64 / 1e3,
        file as f64 / 1e3,
        compiled / loaded,
        compiled / verified
    )
}

fn load(file: Vec<u8>) -> Catalog {
    Catalog::load(file).expect("it was written here")
}

fn compile(text: &str) -> Catalog {
    Catalog::compile(text, &Options::default()).expect("is a catalog").0
}

/// `from` is made outside the time.
fn milliseconds<F, T>(from: F, run: impl FnOnce(F) -> T) -> f64 {
    let start = Instant::now();
    let made = black_box(run(from));
    let time = start.elapsed().as_secs_f64() * 1e3;
    drop(made);
    time
}

fn median(times: &mut Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

/// Names and texts of the catalogs.
fn texts() -> Vec<(String, String)> {
    let library = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/library.json");
    let folder = std::env::var_os("CALLGATE_CORPUS")
        .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/corpus"), PathBuf::from);
    let real = fs::read_dir(folder.join("catalogs")).into_iter().flatten().flatten().map(|entry| entry.path());
    let mut paths: Vec<PathBuf> = real.filter(|path| path.extension().is_some_and(|ending| ending == "json")).collect();
    paths.sort();
    paths.insert(0, library);
    let name = |path: &Path| path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    paths.iter().filter_map(|path| Some((name(path), fs::read_to_string(path).ok()?))).collect()
}
