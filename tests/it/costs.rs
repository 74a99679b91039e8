//! What is said of costs, and that no call costs more.

use callgate::{Catalog, Draft, Options, Schema, Sizes};
use callgate_vm::cost::summary::Summary;
use callgate_vm::opcode::Opcode;
use serde_json::Value;

use crate::{listings, opcodes};

/// A schema of everything that is remarked on.
const DEAR: &str = r##"{
  "type": "object",
  "properties": {
    "mode": {"oneOf": [
      {"const": "a"}, {"type": "integer"}, {"type": "null"}, {"minLength": 9},
      {"maximum": 7}, {"multipleOf": 1.5}, {"type": "boolean"}, {"format": "date"}
    ]},
    "code": {"pattern": "^(?!M)[a-z]+$"},
    "word": {"pattern": "^\\w+(\\p{L}{1,9})$"},
    "tags": {"type": "array", "uniqueItems": true},
    "few": {"type": "array", "uniqueItems": true, "maxItems": 4},
    "tree": {"$ref": "#/$defs/tree"}
  },
  "patternProperties": {"^a": true, "^b": true, "^c": {"maxLength": 3}, "^d": {"minLength": 1}},
  "dependentRequired": {"code": ["word", "mode"]},
  "anyOf": [{"properties": {"more": {"enum": [1, [2]]}}}, {"required": ["few"]}],
  "unevaluatedProperties": false,
  "$defs": {
    "tree": {
      "type": "object",
      "properties": {"label": {"maxLength": 20}, "in": {"type": "array", "items": {"$ref": "#/$defs/tree"}}}
    }
  }
}"##;

#[test]
fn costs_are_listed() {
    let library = include_str!("../../examples/library.json");
    let (catalog, _) = Catalog::compile(library, &Options::default()).expect("a catalog");
    let tool = catalog.tool("reserve_book").expect("a tool");
    snapshot("reserve_book", tool.input().expect("it compiles"));
    let (dear, _) = Schema::compile(DEAR, &Options::default()).expect("it compiles");
    snapshot("dear", &dear);
}

/// Bytes of memory depend on the machine and on the engines, so they are left out.
fn snapshot(name: &str, schema: &Schema) {
    let mut text = String::new();
    for line in schema.cost_listing(name).to_string().lines() {
        let is_memory = line.starts_with("  hot ") || line.starts_with("  pattern ");
        let words = line.split(' ').map(|word| if is_memory && word.parse::<u64>().is_ok() { "N" } else { word });
        text += words.collect::<Vec<_>>().join(" ").trim_end();
        text.push('\n');
    }
    listings::snapshot("cost", name, &text);
}

#[test]
fn no_call_costs_more_than_is_said() {
    for op in Opcode::ALL {
        let mnemonic = op.info().mnemonic;
        let case = opcodes::case(mnemonic);
        for peephole in [true, false] {
            let options = Options {
                draft: Draft::from_name(case["draft"].as_str().unwrap_or_default()).expect("a draft"),
                assert_formats: case["assert_formats"] == true,
                peephole,
                ..Options::default()
            };
            let (schema, _) = Schema::compile(case["schema"].to_string(), &options).expect("the schema compiles");
            let lists = ["accepts", "rejects"].map(|list| case[list].as_array().expect("a list of instances"));
            lists.into_iter().flatten().for_each(|instance| check(mnemonic, &schema, instance));
        }
    }
}

#[track_caller]
fn check(name: &str, schema: &Schema, instance: &Value) {
    let text = instance.to_string();
    let spending = schema.spending(text.as_bytes());
    assert_eq!(spending.fuel, spending.insns.iter().map(|spent| spent.fuel).sum::<u64>(), "{name}: {text}");
    let mut steps = 0;
    assert_eq!(spending.fuel, schema.trace(text.as_bytes(), |_, _| steps += 1), "{name}: {text}");
    assert_eq!(steps, spending.insns.iter().map(|spent| spent.runs).sum::<u64>(), "{name}: {text}");
    let sizes = sizes_of(instance);
    for spent in &spending.insns {
        let most = spent.runs * spent.insn.cost().at(&sizes);
        let least = spent.runs * u64::from(fuel_of_one_run(&spent.insn.to_string()));
        assert!((least..=most).contains(&spent.fuel), "{name}: {text}: {} spent {}", spent.insn, spent.fuel);
    }
    if let Some(call) = Summary::of(schema.unit()).call {
        assert!(spending.fuel <= call.at(&sizes), "{name}: {text}: {} against {call}", spending.fuel);
    }
}

/// What the table says of the opcode in a line of a listing.
fn fuel_of_one_run(insn: &str) -> u8 {
    let mnemonic = insn.split_whitespace().nth(1);
    let op = Opcode::ALL.iter().find(|op| Some(op.info().mnemonic) == mnemonic);
    op.expect("a mnemonic comes after the pc").info().fuel
}

/// The sizes of an instance. Comparing looks at each value for each other at most.
fn sizes_of(instance: &Value) -> Sizes {
    let mut sizes = Sizes { divisions: 1_000, ..Sizes::default() };
    let mut values = 1;
    let mut left = vec![instance];
    while let Some(value) = left.pop() {
        values += 1;
        match value {
            Value::String(text) => sizes.bytes += text.len() as u64,
            Value::Array(elements) => {
                sizes.elements += elements.len() as u64;
                left.extend(elements);
            }
            Value::Object(members) => {
                sizes.members += members.len() as u64;
                sizes.name_bytes += members.keys().map(|name| name.len() as u64).sum::<u64>();
                left.extend(members.values());
            }
            _ => {}
        }
    }
    sizes.values = values * values + sizes.bytes;
    sizes
}

#[test]
fn loops_are_charged_to_the_loop() {
    let text = r#"{"properties": {"a": {"maxLength": 9}, "b": {"maxLength": 9}}}"#;
    let (schema, _) = Schema::compile(text, &Options::default()).expect("it compiles");
    let call = format!(r#"{{"a": "x", "b": "yyy", "{}": 1}}"#, "c".repeat(64));
    let spent: Vec<_> = schema.spending(call.as_bytes()).insns.iter().map(|spent| (spent.runs, spent.fuel)).collect();
    // The table: itself, three members, and four for the long name. Then the two values, too short to cost more.
    assert_eq!(spent, [(1, 8), (1, 1), (1, 1)]);
}
