//! Replays what fuzzing has found: `fuzz/regressions/<target>/`, each file an input that once went wrong.

use std::fs;
use std::path::Path;

#[path = "../../fuzz/targets.rs"]
pub(crate) mod targets;

fn replay(target: &str, run: fn(&[u8])) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/regressions").join(target);
    let files: Vec<_> = fs::read_dir(&folder).expect("the regressions are there").flatten().collect();
    assert!(!files.is_empty(), "{target} has regressions");
    for file in files {
        run(&fs::read(file.path()).expect("a regression can be read"));
    }
}

#[test]
fn compile() {
    replay("compile", targets::compile);
}

#[test]
fn call() {
    replay("call", targets::call);
}

#[test]
fn load() {
    replay("load", targets::load);
}
