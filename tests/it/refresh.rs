//! Catalogs that change: what is compiled again, what callers are told, and that every check sees one catalog whole.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

use callgate::{Catalog, Change, Counters, Options, Outcome, Policy, SharedCatalog};
use serde_json::{Value, json};

fn catalog(tools: &Value) -> Catalog {
    Catalog::compile(tools.to_string(), &Options::default()).expect("a catalog").0
}

fn tool(name: &str, schema: &Value) -> Value {
    json!({"name": name, "inputSchema": schema})
}

/// The schema of one property.
fn seed(schema: &Value) -> Value {
    json!({"type": "object", "properties": {"seed": schema}})
}

/// Row C28: the name of the tool, of the property and all else stay; only a type changes.
#[test]
fn c28_a_change_of_type_is_noticed() {
    let before = catalog(&json!([tool("roll", &seed(&json!({"type": "integer", "description": "Omit for random."})))]));
    let after = json!([tool("roll", &seed(&json!({"type": "string", "description": "Omit for random."})))]);
    let (after, diff) = before.refresh(after.to_string()).expect("a catalog");
    let counters = Counters { compiled: 1, reused: 0, replaced: 1, dropped: 0 };
    assert_eq!(after.counters(), counters);
    let (mut session, call) = (after.session(64), br#"{"seed": 1}"#);
    assert!(before.check(&mut session, "roll", call).is_accepted());
    let outcome = after.check(&mut session, "roll", call);
    let Outcome::Rejected(rejection) = outcome else { panic!("{outcome:?}") };
    assert_eq!(rejection.to_string(), "schema: 1 is not of type 'string' at seed — Omit for random.");
    let roll = &diff.tools[0];
    assert_eq!((roll.change, roll.breaking), (Change::Incompatible, true));
    let lines: Vec<String> = roll.input.iter().flat_map(|input| &input.differences).map(ToString::to_string).collect();
    assert_eq!(
        lines,
        ["narrower at /properties/seed: type integer -> string", "wider at /properties/seed: type integer -> string"]
    );
}

/// Row C29: each schema is compiled once; the counters tell what became of it.
#[test]
fn c29_schemas_are_compiled_once() {
    let (a, b) = (seed(&json!({"type": "integer"})), seed(&json!({"minimum": 1})));
    let tools = json!([tool("a", &a), tool("b", &b), tool("again", &a), {"name": "free"}]);
    let first = catalog(&tools);
    assert_eq!(first.counters(), Counters { compiled: 3, reused: 1, replaced: 0, dropped: 0 });

    let (second, diff) = first.refresh(serde_json::to_vec_pretty(&tools).expect("JSON")).expect("a catalog");
    assert_eq!(second.counters(), Counters { compiled: 0, reused: 4, replaced: 0, dropped: 0 });
    assert_eq!(diff.count(Change::Unchanged), 4);
    let unit = |catalog: &Catalog, tool: &str| {
        Arc::clone(catalog.tool(tool).and_then(callgate::Tool::input).expect("a schema").unit())
    };
    assert!(Arc::ptr_eq(&unit(&first, "a"), &unit(&second, "again")));

    let changed = json!([tool("b", &a), {"name": "new", "inputSchema": b, "outputSchema": a}]);
    let (third, _) = second.refresh(changed.to_string()).expect("a catalog");
    assert_eq!(third.counters(), Counters { compiled: 0, reused: 3, replaced: 1, dropped: 3 });

    // A thousand refreshes compile nothing.
    let mut catalog = third;
    for _ in 0..1_000 {
        catalog = catalog.refresh(changed.to_string()).expect("a catalog").0;
        assert_eq!(catalog.counters().compiled, 0);
    }
}

#[test]
fn adding_tools_takes_what_is_known() {
    let (a, b) = (seed(&json!({"type": "integer"})), seed(&json!({"minimum": 1})));
    let mut catalog = catalog(&json!([tool("a", &a), tool("b", &b)]));
    let report = catalog.upsert(json!([tool("a", &b), tool("c", &a)]).to_string(), &Options::default());
    assert_eq!(report.expect("a catalog").tools, 2);
    assert_eq!(catalog.counters(), Counters { compiled: 0, reused: 2, replaced: 1, dropped: 0 });
    // Other options make other units, whatever the text.
    let options = Options { assert_formats: true, ..Options::default() };
    catalog.upsert(tool("a", &b).to_string(), &options).expect("a catalog");
    assert_eq!(catalog.counters(), Counters { compiled: 1, reused: 0, replaced: 1, dropped: 0 });
}

#[test]
fn what_cannot_be_read_changes_nothing() {
    let mut catalog = catalog(&json!([tool("a", &seed(&json!({})))]));
    let before = (catalog.counters(), catalog.report().clone());
    for text in ["", "[", "7", "{}"] {
        let refused = catalog.refresh(text).expect_err("no catalog");
        assert_eq!(refused.report.findings.len(), 1, "{text}");
        catalog.upsert(text, &Options::default()).expect_err("no catalog");
    }
    assert_eq!((catalog.counters(), catalog.report().clone()), before);
    assert!(catalog.check(&mut catalog.session(64), "a", b"{}").is_accepted());
}

/// The findings of a schema that is not compiled again are told all the same, at their places in the new text.
#[test]
fn findings_are_told_again() {
    let before = catalog(&json!([tool("a", &seed(&json!({"type": "intger"})))]));
    let text = json!([tool("new", &json!({})), tool("a", &seed(&json!({"type": "intger"})))]).to_string();
    let (after, diff) = before.refresh(&text).expect("a catalog");
    let [finding] = &after.report().findings[..] else { panic!("{:?}", after.report()) };
    assert_eq!(finding.tool.as_deref(), Some("a"));
    assert_eq!(finding.span.as_ref().map(|span| &text[span.clone()]), Some("\"intger\""));
    assert_eq!(after.counters(), Counters { compiled: 1, reused: 1, replaced: 0, dropped: 0 });
    assert!(!diff.is_breaking());
}

/// The policy that the catalog was compiled with holds for what comes later.
#[test]
fn a_refresh_goes_by_the_policy() {
    let (good, bad) = (json!({"type": "object"}), json!({"type": "array"}));
    let refreshed = |policy| {
        let options = Options { policy, ..Options::default() };
        let (before, _) = Catalog::compile(tool("a", &good).to_string(), &options).expect("a catalog");
        before.refresh(tool("a", &bad).to_string())
    };
    let (after, diff) = refreshed(Policy::Quarantine).expect("a catalog");
    assert!(matches!(after.check(&mut after.session(64), "a", b"{}"), Outcome::NotCompiled));
    let input = diff.tools[0].input.as_ref().expect("it has one");
    assert_eq!(input.differences[0].to_string(), "undecided: the tool is in quarantine now");
    assert!(diff.is_breaking());
    assert_eq!(refreshed(Policy::Strict).expect_err("refused").report.findings.len(), 1);
    assert_eq!(refreshed(Policy::Flag).expect("a catalog").1.tools[0].change, Change::Incompatible);
}

#[track_caller]
fn changes(before: &Value, after: &Value, expected: &[(&str, Change, bool)]) {
    let diff = catalog(before).refresh(after.to_string()).expect("a catalog").1;
    let found: Vec<_> = diff.tools.iter().map(|tool| (tool.tool_id.as_str(), tool.change, tool.breaking)).collect();
    assert_eq!(found, expected);
}

#[test]
fn arguments_that_narrow_and_results_that_widen_break_callers() {
    let (whole, positive) = (seed(&json!({"type": "integer"})), seed(&json!({"type": "integer", "minimum": 1})));
    let results = |schema: &Value| json!([{"name": "a", "inputSchema": {}, "outputSchema": schema}]);
    changes(
        &json!([tool("a", &whole), tool("b", &positive), tool("gone", &whole)]),
        &json!([tool("new", &whole), tool("a", &positive), tool("b", &whole)]),
        &[
            ("new", Change::Added, false),
            ("a", Change::Narrower, true),
            ("b", Change::Wider, false),
            ("gone", Change::Removed, true),
        ],
    );
    changes(&results(&whole), &results(&positive), &[("a", Change::Narrower, false)]);
    changes(&results(&positive), &results(&whole), &[("a", Change::Wider, true)]);
    // Where there was no promise about results, there is one now, and the other way round.
    changes(&json!([tool("a", &json!({}))]), &results(&whole), &[("a", Change::Narrower, false)]);
    changes(&results(&whole), &json!([tool("a", &json!({}))]), &[("a", Change::Wider, true)]);
    changes(
        &json!([{"name": "a", "inputSchema": whole, "outputSchema": whole}]),
        &json!([{"name": "a", "inputSchema": positive, "outputSchema": positive}]),
        &[("a", Change::Narrower, true)],
    );
    changes(
        &json!([{"name": "a", "description": "Rolls.", "inputSchema": whole}]),
        &json!([{"name": "a", "description": "Rolls a die.", "inputSchema": whole}]),
        &[("a", Change::Cosmetic, false)],
    );
}

#[test]
fn a_schema_that_does_not_compile_is_undecided() {
    let (good, bad) = (seed(&json!({"type": "integer"})), seed(&json!({"type": "intger"})));
    changes(&json!([tool("a", &good)]), &json!([tool("a", &bad)]), &[("a", Change::Undecided, true)]);
    changes(&json!([tool("a", &bad)]), &json!([tool("a", &good)]), &[("a", Change::Undecided, true)]);
    changes(&json!([tool("a", &bad)]), &json!([tool("a", &bad)]), &[("a", Change::Unchanged, false)]);
}

/// Tells the others to end, whether the test ends well or not.
struct Done<'a>(&'a AtomicBool);

impl Drop for Done<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Two tools that change at once: a check that saw one of the old and one of the new would see both reject, or both accept.
#[test]
fn a_check_sees_one_catalog_whole() {
    const REFRESHES: usize = 300;
    let tools = |even: bool| {
        let (one, other) = if even { ("integer", "string") } else { ("string", "integer") };
        json!([tool("one", &seed(&json!({"type": one}))), tool("other", &seed(&json!({"type": other})))]).to_string()
    };
    let shared = SharedCatalog::new(Catalog::compile(tools(true), &Options::default()).expect("a catalog").0);
    let (is_done, checks) = (AtomicBool::new(false), AtomicUsize::new(0));
    thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                let mut session = shared.current().session(64);
                while !is_done.load(Ordering::Relaxed) {
                    let catalog = shared.current();
                    let one = catalog.check(&mut session, "one", br#"{"seed": 1}"#).is_accepted();
                    let other = catalog.check(&mut session, "other", br#"{"seed": 1}"#).is_accepted();
                    assert_ne!(one, other, "of two catalogs");
                    checks.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
        let _done = Done(&is_done);
        for at in 0..REFRESHES {
            let diff = shared.refresh(tools(at % 2 == 1)).expect("a catalog");
            assert_eq!(diff.count(Change::Incompatible), 2);
            let counters = shared.current().counters();
            // What was replaced is gone: both schemas change places, so both are known.
            assert_eq!((counters.compiled, counters.reused, counters.replaced), (0, 2, 2));
        }
    });
    assert!(checks.into_inner() > 0);
}

/// Refreshes that come at once each replace the one before: no two start from the same catalog.
#[test]
fn refreshes_wait_for_each_other() {
    let shared = SharedCatalog::new(catalog(&json!([tool("t0", &json!({}))])));
    let replaced = AtomicUsize::new(0);
    thread::scope(|scope| {
        for at in 1..=8 {
            let (shared, replaced) = (&shared, &replaced);
            scope.spawn(move || {
                let diff = shared.refresh(json!([tool(&format!("t{at}"), &json!({}))]).to_string()).expect("a catalog");
                assert_eq!((diff.count(Change::Added), diff.count(Change::Removed)), (1, 1));
                replaced.fetch_add(diff.count(Change::Removed), Ordering::Relaxed);
            });
        }
    });
    assert_eq!(replaced.into_inner(), 8);
    shared.refresh("no catalog").expect_err("not JSON");
    assert_eq!(shared.current().tools().len(), 1);
}

#[test]
fn catalogs_are_shared_between_threads() {
    fn is_shared<T: Send + Sync>() {}
    is_shared::<Catalog>();
    is_shared::<SharedCatalog>();
    is_shared::<callgate::Diff>();
}
