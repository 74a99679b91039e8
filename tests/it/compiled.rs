//! Compiled catalogs: what is loaded judges, words and lists as what was compiled, and a file that is damaged or made to
//! harm is an error, or a catalog whose calls end.

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::OnceLock;

use callgate::{Catalog, FORMAT_VERSION, Limits, LoadErrorKind, Options, Policy, SchemaRole, Session};
use callgate_vm::opcode::Opcode;
use serde_json::{Value, json};

use crate::instances;
use crate::opcodes;
use crate::random::Rng;
use crate::regressions::targets::{framed, load_and_call};
use crate::verdict::Verdict;

const LIBRARY: &str = include_str!("../../examples/library.json");

/// Patterns for every engine: shapes, a dense automaton, an NFA, look-around.
const PATTERNS: &str = r#"[{"name": "patterns", "inputSchema": {"type": "object", "properties": {
    "exact": {"pattern": "^on$"}, "prefix": {"pattern": "^on"}, "suffix": {"pattern": "on$"}, "inside": {"pattern": "on"},
    "class": {"pattern": "^[a-z]{1,4}$"}, "pieces": {"pattern": "^M[0-9]{2,3}-"}, "either": {"pattern": "^([a-z]+|[0-9]+)$"},
    "dense": {"pattern": "(ab|cd)+e"}, "empty": {"pattern": "\\Bx*$"}, "nfa": {"pattern": "^\\p{L}{1,40}[^x]{3,90}$"},
    "around": {"pattern": "(?=a)[^b]"}}, "patternProperties": {"^x-": {"type": "string"}}}}]"#;

/// A catalog of one shape or another, with calls for its tools.
struct Sample {
    name: String,
    catalog: Catalog,
    calls: Vec<String>,
}

#[track_caller]
fn compile(text: &str) -> Catalog {
    let options = Options { assert_formats: true, ..Options::default() };
    Catalog::compile(text, &options).unwrap_or_else(|refused| panic!("{refused}: {text}")).0
}

/// The file, loaded again.
#[track_caller]
fn loaded(name: &str, catalog: &Catalog) -> Catalog {
    let bytes = catalog.to_bytes();
    let again = Catalog::load(bytes.as_slice()).unwrap_or_else(|error| panic!("{name}: {error}"));
    assert_eq!(again.verify(), Ok(()), "{name}");
    assert!(again.to_bytes() == bytes, "{name}: other bytes when written again");
    again
}

/// Catalogs of every opcode's case, of the example, of patterns; small, so that a change in one is likely to matter.
fn samples() -> &'static [Sample] {
    static SAMPLES: OnceLock<Vec<Sample>> = OnceLock::new();
    SAMPLES.get_or_init(|| {
        let mut samples: Vec<Sample> = Opcode::ALL.iter().filter_map(|op| sample_of(op.info().mnemonic)).collect();
        assert!(samples.len() > 40, "most cases are of the newest draft");
        let patterns = json!({"exact": "on", "class": "toolong", "pieces": "M12-", "either": "a1", "dense": "xabcde",
            "empty": "é", "nfa": "äöü abc", "around": "ba", "x-y": 1});
        samples.push(Sample { name: "patterns".into(), catalog: compile(PATTERNS), calls: vec![patterns.to_string()] });
        let library: Value = serde_json::from_str(LIBRARY).expect("is JSON");
        for tool in library["tools"].as_array().expect("a list") {
            let calls = calls_of(&tool["inputSchema"]);
            samples.push(Sample {
                name: tool["name"].to_string(),
                catalog: compile(&json!([tool]).to_string()),
                calls,
            });
        }
        samples
    })
}

fn sample_of(mnemonic: &str) -> Option<Sample> {
    let case = opcodes::case(mnemonic);
    let options = Options { assert_formats: case["assert_formats"] == true, ..Options::default() };
    let tools = json!([{"name": mnemonic, "inputSchema": case["schema"]}]);
    let (catalog, report) = Catalog::compile(tools.to_string(), &options).expect("is a catalog");
    let lists = [&case["accepts"], &case["rejects"]];
    let calls = lists.into_iter().flat_map(|list| list.as_array().expect("a list")).map(Value::to_string).collect();
    (report.refused == 0).then(|| Sample { name: mnemonic.to_owned(), catalog, calls })
}

/// Calls that fit and calls that are changed.
fn calls_of(schema: &Value) -> Vec<String> {
    let mut rng = Rng::new(11);
    let fitting: Vec<Value> = (0..3).map(|_| instances::fitting(&mut rng, schema)).collect();
    let changed: Vec<Value> = (0..6).map(|at| instances::changed(&mut rng, &fitting[at % 3])).collect();
    let mut calls: Vec<String> = fitting.iter().chain(&changed).map(Value::to_string).collect();
    calls.extend(["{}".to_owned(), "[1".to_owned()]);
    calls
}

fn verdicts(catalog: &Catalog, name: &str, calls: &[String]) -> Vec<Verdict> {
    let mut session = Session::new();
    calls.iter().map(|call| Verdict::from(catalog.check(&mut session, name, call.as_str()))).collect()
}

/// One catalog says of the calls what the other does, and lists the same programs.
#[track_caller]
fn assert_same(name: &str, one: &Catalog, other: &Catalog, calls: &dyn Fn(&str) -> Vec<String>) {
    assert_eq!(one.report(), other.report(), "{name}");
    assert_eq!(one.limits(), other.limits(), "{name}");
    assert_eq!(one.tools().len(), other.tools().len(), "{name}");
    for (a, b) in one.tools().zip(other.tools()) {
        assert_eq!(a.name(), b.name(), "{name}");
        let calls = calls(a.name());
        assert_eq!(verdicts(one, a.name(), &calls), verdicts(other, b.name(), &calls), "{name}: {}", a.name());
        assert_eq!((a.definition(), a.options().draft), (b.definition(), b.options().draft), "{name}: {}", a.name());
        for role in [SchemaRole::Input, SchemaRole::Output] {
            let compiled = [a, b].map(|tool| {
                let compiled = tool.compiled(role)?;
                let unit = compiled.unit.as_ref().map(|unit| *unit.digest());
                Some((compiled.digest, compiled.source.clone(), unit, compiled.findings.clone()))
            });
            assert_eq!(compiled[0], compiled[1], "{name}: {}", a.name());
        }
        for (a_schema, b_schema) in [(a.input(), b.input()), (a.output(), b.output())] {
            let units = [a_schema, b_schema].map(|schema| {
                let unit = |schema: &callgate::Schema| {
                    let unit = schema.unit();
                    let listing = schema.cost_listing(a.name()).to_string();
                    (*unit.digest(), unit.memory(), unit.requirements(), unit.revisits(), listing)
                };
                schema.map(unit)
            });
            assert_eq!(units[0], units[1], "{name}: {}", a.name());
        }
    }
}

#[test]
fn every_opcode_is_loaded_as_it_was_compiled() {
    for Sample { name, catalog, calls } in samples() {
        assert_same(name, catalog, &loaded(name, catalog), &|_| calls.clone());
    }
}

#[test]
fn the_example_is_loaded_as_it_was_compiled() {
    let catalog = compile(LIBRARY);
    let tools: Value = serde_json::from_str(LIBRARY).expect("is JSON");
    let schema = |name: &str| {
        let tool = tools["tools"].as_array()?.iter().find(|tool| tool["name"] == name)?;
        Some(calls_of(&tool["inputSchema"]))
    };
    assert_same("library", &catalog, &loaded("library", &catalog), &|name| schema(name).expect("a tool"));
    assert!(compile(LIBRARY).to_bytes() == catalog.to_bytes(), "the same catalog gives the same bytes");
}

#[test]
fn every_catalog_of_the_corpus_is_loaded_as_it_was_compiled() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/corpus/catalogs");
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let text = fs::read_to_string(entry.path()).expect("the catalog is read");
        let tools: Value = serde_json::from_str(&text).expect("is JSON");
        let (catalog, _) = Catalog::compile(&text, &Options::default()).expect("is a catalog");
        let calls = |name: &str| {
            let tool = tools["tools"].as_array().and_then(|tools| tools.iter().find(|tool| tool["name"] == name));
            tool.map_or(Vec::new(), |tool| calls_of(&tool["inputSchema"]))
        };
        assert_same(&name, &catalog, &loaded(&name, &catalog), &calls);
    }
}

#[test]
fn tools_share_units_and_patterns() {
    let tool = |name: &str, description: &str| json!({"name": name, "inputSchema": {"properties": {"a": {"pattern": "(ab|cd)+e", "description": description}}}});
    let bytes = |tools: Value| compile(&tools.to_string()).to_bytes().len();
    let one = bytes(json!([tool("a", "x")]));
    let two = bytes(json!([tool("a", "x"), tool("b", "x")]));
    assert!(two < one + 300, "a second tool is a name, numbers and its source: {one}, {two}");
    let other = bytes(json!([tool("a", "x"), tool("b", "y")]));
    assert!(other < one + 900, "the automaton is there once: {one}, {other}");
    let catalog = loaded("shared", &compile(&json!([tool("a", "x"), tool("b", "x")]).to_string()));
    let unit = |name| catalog.tool(name).and_then(|tool| tool.input()).expect("it compiles").unit();
    assert!(std::sync::Arc::ptr_eq(unit("a"), unit("b")));
}

/// A unit that is not sound costs its own tools alone, and is said to be so.
#[test]
fn units_are_verified_at_their_first_use() {
    let tools = r#"[{"name": "a", "inputSchema": {"minimum": 1}}, {"name": "b", "inputSchema": {"maximum": 1}}]"#;
    let mut bytes = compile(tools).to_bytes();
    let maximum = Opcode::ALL.iter().position(|op| op.info().mnemonic == "maximum").expect("an opcode") as u8;
    let at = bytes.windows(8).position(|word| word == [maximum, 0, 0, 0, 0, 0, 0, 0]).expect("it is emitted");
    bytes[at + 4] = 9;
    let catalog = Catalog::load(framed(&bytes)).expect("its frame is sound");
    let verdict = |tool| Verdict::from(catalog.check(&mut Session::new(), tool, "0"));
    assert!(matches!(verdict("a"), Verdict::Rejected(..)));
    assert_eq!(verdict("b"), Verdict::NotCompiled);
    let error = catalog.verify().expect_err("it is not sound").to_string();
    let expected = "not a sound compiled catalog: tool \"b\": 0000 maximum: Number 9 is outside its pool";
    assert_eq!(error, expected);
    let tool = catalog.tool("b").expect("a tool");
    assert!(tool.compiled(SchemaRole::Input).is_none() && tool.definition().is_empty());
}

/// What is read at the first use is read by one thread, whoever comes first.
#[test]
fn threads_may_come_first_together() {
    let catalog = loaded("library", &compile(LIBRARY));
    let bytes = catalog.to_bytes();
    let fresh = Catalog::load(bytes).expect("loads");
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for tool in fresh.tools() {
                    let verdicts = [&catalog, &fresh].map(|one| verdicts(one, tool.name(), &["{}".to_owned()]));
                    assert_eq!(verdicts[0], verdicts[1]);
                }
            });
        }
    });
}

#[test]
fn what_was_found_is_kept() {
    let text = r#"{"tools": [
        {"name": "é", "inputSchema": {"type": "array"}}, {"name": "broken", "inputSchema": {"type": "intger"}},
        {"name": "sound", "inputSchema": {"type": "object"}}, {"name": "sound"}, 7]}"#;
    let catalog = compile(text);
    let again = loaded("findings", &catalog);
    let report = again.report();
    assert_eq!((report.tools, report.healthy, report.flagged, report.refused), (5, 1, 1, 3));
    assert_eq!(report, catalog.report());
    let mut session = Session::new();
    assert_eq!(Verdict::from(again.check(&mut session, "broken", "{}")), Verdict::NotCompiled);
    assert_eq!(Verdict::from(again.check(&mut session, "nope", "{}")), Verdict::UnknownTool);
}

#[test]
fn the_source_is_kept_on_request() {
    let catalog = compile(LIBRARY);
    let (without, with) = (catalog.to_bytes(), catalog.to_bytes_with_source(LIBRARY.as_bytes()));
    assert_eq!(Catalog::source_of(&without), Ok(None));
    assert_eq!(Catalog::source_of(&with), Ok(Some(LIBRARY.as_bytes())));
    assert_eq!(Catalog::source_of(b"[]").map_err(|error| error.kind()), Err(LoadErrorKind::NotCompiled));
    let again = Catalog::load(with).expect("loads");
    assert!(again.to_bytes() == without);
}

/// A loaded catalog goes on as any other: schemas that it has are not compiled again.
#[test]
fn loaded_schemas_are_known() {
    let mut again = loaded("library", &compile(LIBRARY));
    let options = Options { assert_formats: true, ..Options::default() };
    again.upsert(LIBRARY, &options).expect("is a catalog");
    assert_eq!((again.counters().compiled, again.counters().replaced), (0, 0));
    again.upsert(r#"{"name": "new", "inputSchema": {"maximum": 7}}"#, &options).expect("is a tool");
    assert_eq!(again.counters().compiled, 1);
    assert_eq!(Verdict::from(again.check(&mut Session::new(), "new", "3")), Verdict::Accepted);
}

#[test]
fn tools_in_quarantine_stay_there() {
    let options = Options { policy: Policy::Quarantine, ..Options::default() };
    let text = r#"[{"name": "a", "inputSchema": {"type": "array"}}, {"name": "b", "inputSchema": {}}]"#;
    let again = loaded("quarantine", &Catalog::compile(text, &options).expect("is a catalog").0);
    let verdict = |tool| Verdict::from(again.check(&mut Session::new(), tool, "[]"));
    assert_eq!((verdict("a"), verdict("b")), (Verdict::NotCompiled, Verdict::Accepted));
    assert_eq!(again.options().policy, Policy::Quarantine);
    let a = again.tool("a").and_then(|tool| tool.compiled(SchemaRole::Input)).expect("is there");
    assert!(a.unit.is_some() && a.findings.len() + again.report().findings.len() > 0);
}

// --- errors -------------------------------------------------------------------------------------------------------

#[track_caller]
fn check_error(bytes: &[u8], kind: LoadErrorKind, expected: &str) {
    let error = Catalog::load(bytes).map(|_| ()).expect_err("it does not load");
    assert_eq!((error.kind(), error.to_string().as_str()), (kind, expected));
}

#[test]
fn errors_say_what_is_in_the_way() {
    let bytes = compile(LIBRARY).to_bytes();
    let at = bytes.len();
    let changed = |at: usize, byte: u8| {
        let mut changed = bytes.clone();
        changed[at] = byte;
        changed
    };
    check_error(b"", LoadErrorKind::NotCompiled, "no compiled catalog: it does not start as one");
    check_error(LIBRARY.as_bytes(), LoadErrorKind::NotCompiled, "no compiled catalog: it does not start as one");
    let cut = "a damaged compiled catalog: it ends inside its header";
    check_error(&bytes[..20], LoadErrorKind::Damaged, cut);
    let version = format!(
        "a compiled catalog of another version: it is of version 9.{FORMAT_VERSION}, and 2.{FORMAT_VERSION} is read; \
         compile its source again"
    );
    check_error(&changed(8, 9), LoadErrorKind::Version, &version);
    let body = at - 32;
    let short = format!("a damaged compiled catalog: it should have {body} bytes behind its header, and 8 more");
    check_error(&bytes[..at - 1], LoadErrorKind::Damaged, &short);
    check_error(&[&bytes[..], b"x"].concat(), LoadErrorKind::Damaged, &short);
    let sum = "a damaged compiled catalog: its checksum is not that of its bytes";
    check_error(&changed(at / 2, !bytes[at / 2]), LoadErrorKind::Damaged, sum);
    let section = "not a sound compiled catalog: section 77 is not known";
    check_error(&framed(&changed(24, 77)), LoadErrorKind::Invalid, section);
}

#[test]
fn limits_are_those_of_compilation_unless_whoever_loads_sets_others() {
    let mut options = Options::default();
    options.limits.set("call_depth_max", 1).expect("a limit");
    let text = r#"[{"name": "a", "inputSchema": {}}]"#;
    let deep = "[[1]]";
    let compiled = |options: &Options| Catalog::compile(text, options).expect("is a catalog").0;
    let verdict = |catalog: &Catalog| Verdict::from(catalog.check(&mut Session::new(), "a", deep));
    let low = loaded("low", &compiled(&options));
    assert_eq!(verdict(&low), Verdict::Fault("depth"));
    let own = Catalog::load_with_limits(low.to_bytes(), &Limits::default()).expect("loads");
    assert_eq!(verdict(&own), Verdict::Accepted);
    options.limits.set("call_fuel_max", u64::MAX).expect("a limit");
    let bytes = compiled(&options).to_bytes();
    let expected = "a compiled catalog beyond the limits: call_fuel_max is 18446744073709551615, above 10000000; \
                    whoever loads it may set limits of their own";
    check_error(&bytes, LoadErrorKind::Limit, expected);
    assert_eq!(verdict(&Catalog::load_with_limits(bytes, &options.limits).expect("loads")), Verdict::Fault("depth"));
}

// --- damage -------------------------------------------------------------------------------------------------------

/// Flips and cuts, of a file of many tools: each is an error.
#[test]
fn damage_is_noticed() {
    let bytes = compile(LIBRARY).to_bytes();
    let mut rng = Rng::new(4);
    for turn in 0..1_000 {
        let mut damaged = bytes.clone();
        if turn % 4 == 0 {
            damaged.truncate(rng.below(bytes.len()));
        } else {
            for _ in 0..rng.between(1, 3) {
                damaged[rng.below(bytes.len())] ^= 1 << rng.below(8);
            }
        }
        assert!(damaged == bytes || Catalog::load(damaged).is_err(), "turn {turn}");
    }
}

/// Changes what is verified behind the checksum: words, bytes, lengths, whole pieces.
fn change(rng: &mut Rng, file: &mut Vec<u8>) {
    const HEADER: usize = 24;
    let room = file.len() - HEADER - 8;
    let at = HEADER + rng.below(room.saturating_sub(8));
    let from = HEADER + rng.below(room.saturating_sub(8));
    let word = |file: &[u8], at: usize| u32::from_le_bytes([file[at], file[at + 1], file[at + 2], file[at + 3]]);
    match rng.below(8) {
        0 => file[at] ^= 1 << rng.below(8),
        1 => file[at] = *rng.pick(&[0, 1, 2, 0x7f, 0x80, 0xff]),
        2 => file[at] = rng.below(256) as u8,
        3 => {
            let copied = word(file, from);
            file[at..at + 4].copy_from_slice(&copied.to_le_bytes());
        }
        4 => {
            let near = word(file, at).wrapping_add(*rng.pick(&[1, u32::MAX, 2, 8]));
            file[at..at + 4].copy_from_slice(&near.to_le_bytes());
        }
        5 => {
            let small = rng.below(64) as u32;
            let word = *rng.pick(&[0, 1, u32::MAX, u32::MAX - 1, 1 << 31, 1 << 30, 1 << 29, small, small]);
            file[at..at + 4].copy_from_slice(&word.to_le_bytes());
        }
        6 => {
            let insn: [u8; 8] = std::array::from_fn(|byte| file[from + byte]);
            file[at..at + 8].copy_from_slice(&insn);
        }
        _ => {
            let len = rng.between(1, 8);
            if rng.chance(50) {
                file.drain(at..at + len.min(file.len() - 8 - at));
            } else {
                file.splice(at..at, std::iter::repeat_n(rng.below(3) as u8, len));
            }
        }
    }
}

/// How many files are made to harm; the variable asks for more.
fn iterations() -> usize {
    std::env::var("CALLGATE_LOADER_ITERATIONS").ok().and_then(|text| text.parse().ok()).unwrap_or(4_000)
}

#[test]
fn files_made_to_harm_do_none() {
    let files: Vec<_> = samples().iter().map(|sample| (sample, sample.catalog.to_bytes())).collect();
    let (mut loaded, all) = (0, iterations());
    for seed in 0..all {
        let mut rng = Rng::new(seed as u64);
        let (sample, bytes) = rng.pick(&files);
        let mut file = bytes.clone();
        (0..rng.between(1, 3)).for_each(|_| change(&mut rng, &mut file));
        let file = framed(&file);
        let done = catch_unwind(AssertUnwindSafe(|| load_and_call(&file, &sample.calls)));
        loaded += usize::from(done.unwrap_or_else(|_| panic!("seed {seed}: {} panicked", sample.name)));
    }
    #[allow(clippy::print_stdout)]
    {
        println!("{loaded} of {all} files loaded");
    }
    // Texts, bounds and locations may be any: what is changed there is another catalog, as sound as the first.
    assert!(loaded > all / 20, "the changes get past the verification: {loaded} of {all}");
}
