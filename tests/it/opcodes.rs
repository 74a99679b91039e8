//! Every opcode: a schema that emits it, instances that pass and fail.
//!
//! `tests/data/opcodes/<mnemonic>.json` holds `{schema, draft, accepts, rejects, assert_formats?}`. A row of the
//! instruction table without a file, or whose file does not emit it, fails here.

use std::fs;
use std::path::Path;

use callgate::{Draft, Options, Outcome, Schema};
use callgate_vm::listing::Listing;
use callgate_vm::opcode::Opcode;
use serde_json::Value;

#[test]
fn every_opcode_has_a_case_that_emits_it() {
    for op in Opcode::ALL {
        check(op.info().mnemonic);
    }
}

/// The case of an opcode.
pub(crate) fn case(mnemonic: &str) -> Value {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/opcodes").join(format!("{mnemonic}.json"));
    let text = fs::read_to_string(&file).unwrap_or_else(|error| panic!("{mnemonic} has no case: {error}"));
    serde_json::from_str(&text).expect("a case is JSON")
}

#[track_caller]
fn check(mnemonic: &str) {
    let case = case(mnemonic);
    // With and without rewrites: some opcodes are only emitted by one.
    let mut emitted = false;
    for (peephole, fusion) in [(true, true), (false, false), (false, true), (true, false)] {
        let options = Options {
            draft: Draft::from_name(case["draft"].as_str().unwrap_or_default()).expect("a draft"),
            assert_formats: case["assert_formats"] == true,
            peephole,
            fusion,
            ..Options::default()
        };
        let (schema, _) = Schema::compile(case["schema"].to_string(), &options).expect("the schema compiles");
        let listing = Listing { name: mnemonic, unit: schema.unit() }.to_string();
        emitted |= listing.lines().any(|line| line.split_whitespace().any(|word| word == mnemonic));
        judge(mnemonic, &schema, &case["accepts"], true);
        judge(mnemonic, &schema, &case["rejects"], false);
    }
    assert!(emitted, "{mnemonic} is not emitted by its case");
}

fn judge(mnemonic: &str, schema: &Schema, instances: &Value, accepted: bool) {
    let mut session = schema.session(256);
    for instance in instances.as_array().expect("a list of instances") {
        let text = instance.to_string();
        for outcome in [schema.check(&mut session, text.as_str()).is_accepted(), {
            matches!(schema.check(&mut session, instance), Outcome::Accepted(_))
        }] {
            assert_eq!(outcome, accepted, "{mnemonic}: {text}");
        }
    }
}

#[test]
fn files_are_of_opcodes() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/opcodes");
    for entry in fs::read_dir(folder).expect("the cases are there").flatten() {
        let name = entry.path().file_stem().expect("a file name").to_string_lossy().into_owned();
        assert!(Opcode::ALL.iter().any(|op| op.info().mnemonic == name), "{name} is no opcode");
    }
}
