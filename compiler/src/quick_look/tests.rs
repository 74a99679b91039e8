//! The quick look beside the metaschemas: it never accepts what they reject.

use std::fs;
use std::path::Path;

use bumpalo::Bump;
use callgate_vm::tape::{EntryKind, Node, TapeBuf};

use super::is_plainly_well_formed;
use crate::dialect::{Dialect, Draft, Keyword};
use crate::document::{Documents, SCHEMA_READ};
use crate::refs::Registry;
use crate::well_formed::Checker;

/// Values of every shape that some keyword takes, and of some that none does.
const SHAPES: [&str; 62] = [
    "null",
    "true",
    "false",
    "0",
    "1",
    "-1",
    "7",
    "1.5",
    "2.0",
    "-0.0",
    "0.0",
    "0.00",
    "1e2",
    "1e-2",
    "0e5",
    "123456789012345678901234567890",
    "1e400",
    r#""""#,
    r#""string""#,
    r#""a b""#,
    r##""#""##,
    r##""#a""##,
    r#""a""#,
    r#""_a""#,
    r#""a:b""#,
    r#""1a""#,
    r#""\u0061""#,
    r#""\u0023""#,
    r#""(""#,
    r#""http://x/y#z""#,
    r#""strnig""#,
    "[]",
    "{}",
    "[{}]",
    "[[]]",
    "[1]",
    "[1,1]",
    "[1,1.0]",
    r#"["a"]"#,
    r#"["a","a"]"#,
    r#"["a","\u0061"]"#,
    r#"["string","null"]"#,
    r#"["string","string"]"#,
    r#"["string",1]"#,
    r#"["strnig"]"#,
    "[true]",
    "[null]",
    "[true,{}]",
    r#"["1","2","3","4","5","6","7","8","9"]"#,
    r#"["1","2","3","4","5","6","7","8","1"]"#,
    r#"{"a":{}}"#,
    r#"{"a":1}"#,
    r#"{"a":[]}"#,
    r#"{"a":["b"]}"#,
    r#"{"a":["b","b"]}"#,
    r#"{"a":[1]}"#,
    r#"{"a":true}"#,
    r#"{"a":null}"#,
    r#"{"type":"string"}"#,
    r#"{"type":"strnig"}"#,
    r#"{"type":5}"#,
    r#"[{"type":1}]"#,
];

/// Where a keyword may stand: at the root, and below keywords that hold schemas.
const FRAMES: [(&str, &str); 9] = [
    ("", ""),
    (r#""properties":{"type":"#, "}"),
    (r#""items":"#, ""),
    (r#""items":["#, "]"),
    (r#""allOf":[true,"#, "]"),
    (r#""$defs":{"a":"#, "}"),
    (r#""dependencies":{"a":"#, "}"),
    (r#""default":"#, ""),
    (r#""if":"#, ""),
];

/// Reads `text` as a schema of the draft: whether the quick look takes it; `None` where it never gets so far.
#[track_caller]
fn check(text: &str, draft: Draft) -> Option<bool> {
    let documents = Documents::default();
    let bump = Bump::new();
    let mut buf = TapeBuf::new();
    let tape = buf.read(text.as_bytes(), SCHEMA_READ).ok()?;
    if !tape.duplicates().is_empty() || !crate::refs::is_schema(tape.entry(0).kind) {
        return None;
    }
    let mut registry = Registry::new(&bump, &documents, 50_000);
    let root = registry.add(tape, 0, None, Dialect::of(draft));
    let draft = registry.site(root)?.dialect.draft;
    let quick = is_plainly_well_formed(&registry, root);
    if quick {
        let finding = Checker::default().judge_by_draft(draft, &registry, root);
        assert!(finding.is_empty(), "{draft:?} {text}: {finding:?}");
    }
    Some(quick)
}

struct Rng(u64);

impl Rng {
    /// A number below `end`. Xorshift.
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 16) as usize % end.max(1)
    }

    fn pick<T: Copy>(&mut self, list: &[T]) -> T {
        list[self.below(list.len())]
    }
}

#[test]
fn every_shape_under_every_keyword() {
    let mut taken = 0;
    for draft in Draft::ALL {
        for keyword in Keyword::ALL {
            for shape in SHAPES {
                for (before, after) in FRAMES {
                    let member = format!(r#""{}":{shape}"#, keyword.name());
                    let inside = if before.is_empty() { member } else { format!("{before}{{{member}}}{after}") };
                    taken += usize::from(check(&format!("{{{inside}}}"), draft) == Some(true));
                }
            }
        }
        assert_eq!(check("true", draft), Some(draft > Draft::D4));
    }
    assert!(taken > 20_000, "{taken}");
}

/// The text with one value replaced, or one member added.
fn mutated(text: &str, rng: &mut Rng) -> Option<String> {
    let mut buf = TapeBuf::new();
    let tape = buf.read(text.as_bytes(), SCHEMA_READ).ok()?;
    let node = rng.below(tape.entry_len()) as Node;
    let entry = tape.entry(node);
    let quote = usize::from(tape.is_string(node));
    let (start, end) = (entry.start as usize - quote, entry.end as usize + quote);
    if entry.kind == EntryKind::Object && rng.below(2) == 0 {
        let comma = if entry.len > 0 { "," } else { "" };
        let member = format!(r#"{{"{}":{}{comma}"#, rng.pick(&Keyword::ALL).name(), rng.pick(&SHAPES));
        return Some(format!("{}{member}{}", &text[..start], &text[start + 1..]));
    }
    // A name stays a name: the text would not read otherwise.
    let shape = if text[end..].trim_start().starts_with(':') {
        format!(r#""{}""#, rng.pick(&Keyword::ALL).name())
    } else {
        rng.pick(&SHAPES).to_owned()
    };
    Some(format!("{}{shape}{}", &text[..start], &text[end..]))
}

/// Schemas of the file: whatever stands under one of these names.
fn schemas_of(text: &str) -> Vec<String> {
    let mut buf = TapeBuf::new();
    let Ok(tape) = buf.read(text.as_bytes(), SCHEMA_READ) else {
        return Vec::new();
    };
    let names = ["inputSchema", "outputSchema", "input_schema", "parameters", "schema"];
    let objects = (0..tape.entry_len() as Node).filter(|node| tape.entry(*node).kind == EntryKind::Object);
    let members = objects.flat_map(|node| tape.member_nodes(node));
    let schemas = members.filter(|(name, _)| names.iter().any(|wanted| tape.text(*name).is(wanted)));
    let schemas = schemas.filter(|(_, value)| tape.entry(*value).kind == EntryKind::Object);
    schemas.map(|(_, value)| tape.slice(value).to_owned()).collect()
}

fn schemas_below(folder: &Path, found: &mut Vec<String>) {
    let Ok(entries) = fs::read_dir(folder) else {
        return;
    };
    let mut paths: Vec<_> = entries.flatten().map(|entry| entry.path()).collect();
    paths.sort();
    for path in paths {
        if path.is_dir() {
            schemas_below(&path, found);
        } else if path.extension().is_some_and(|ending| ending == "json") {
            found.extend(schemas_of(&fs::read_to_string(&path).unwrap_or_default()));
        }
    }
}

/// The example, the project's own cases, and, where they are at hand, real catalogs and the official suite.
#[test]
fn schemas_and_their_mutations() {
    let home = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut schemas = Vec::new();
    for folder in ["examples", "tests/data", "target/tmp", "../shared/corpus/catalogs"] {
        schemas_below(&home.join(folder), &mut schemas);
    }
    assert!(schemas.len() > 20, "{}", schemas.len());
    let mut rng = Rng(0x2545_f491_4f6c_dd1d);
    let mut taken = 0;
    for text in &schemas {
        for draft in Draft::ALL {
            taken += usize::from(check(text, draft) == Some(true));
        }
        if text.len() < 20_000 {
            for _ in 0..if schemas.len() > 1_000 { 4 } else { 100 } {
                let one = mutated(text, &mut rng);
                let two = one.as_deref().and_then(|text| mutated(text, &mut rng));
                for text in [one, two].into_iter().flatten() {
                    check(&text, rng.pick(&Draft::ALL));
                }
            }
        }
    }
    assert!(taken > schemas.len(), "{taken} of {}", schemas.len());
}

#[test]
fn the_example_needs_no_metaschema() {
    let text = include_str!("../../../examples/library.json");
    for schema in schemas_of(text) {
        assert_eq!(check(&schema, Draft::D2020), Some(true), "{schema}");
    }
}
