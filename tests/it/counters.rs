//! Calls counted by tool and by what was wrong with them.

use std::thread;

use callgate::{Catalog, Options, Outcome, Session, SharedCatalog, ToolCounters};

const TOOLS: &str = r#"[
    {"name": "a", "inputSchema": {"properties": {"x": {"type": "integer"}, "y": {"type": "string"}}}},
    {"name": "b", "inputSchema": {"properties": {"x": {"type": "integer"}}}}
]"#;

fn counting() -> Catalog {
    let (mut catalog, _) = Catalog::compile(TOOLS, &Options::default()).expect("a catalog");
    catalog.count_calls();
    catalog
}

fn counters(catalog: &Catalog, tool: &str) -> ToolCounters {
    catalog.tool(tool).expect("a tool").counters()
}

/// Accepted, rejected, faults.
fn totals(counters: &ToolCounters) -> (u64, u64, u64) {
    (counters.accepted, counters.rejected, counters.faults)
}

#[test]
fn calls_are_counted_by_tool_and_signature() {
    let catalog = counting();
    let mut session = Session::new();
    let mut signature = |call: &str| match catalog.check(&mut session, "a", call) {
        Outcome::Rejected(rejection) => rejection.signature(),
        other => panic!("{other:?}"),
    };
    let wrong_x = signature(r#"{"x": "1"}"#);
    assert_eq!(signature(r#"{"x": null}"#), wrong_x);
    let wrong_y = signature(r#"{"y": 1}"#);
    let not_json = signature("{");
    for call in ["{}", r#"{"x": 1}"#, r#"{"y": ""}"#] {
        assert!(catalog.check(&mut session, "a", call).is_accepted());
    }
    let deep = "[".repeat(300) + &"]".repeat(300);
    assert_eq!(catalog.check(&mut session, "a", &*deep).code(), "FAULT");
    assert_eq!(catalog.check(&mut session, "c", "{}").code(), "UNKNOWN_TOOL");

    let counted = counters(&catalog, "a");
    assert_eq!(totals(&counted), (3, 4, 1));
    assert_eq!(counted.other, 0);
    assert_eq!((counted.signatures[0].signature, counted.signatures[0].count), (wrong_x, 2));
    let mut once: Vec<u64> = counted.signatures[1..].iter().map(|slot| slot.signature).collect();
    once.sort_unstable();
    let mut expected = [wrong_y, not_json];
    expected.sort_unstable();
    assert_eq!(once, expected);
    assert_eq!(totals(&counters(&catalog, "b")), (0, 0, 0));
}

#[test]
fn nothing_is_counted_unless_asked_for() {
    let (catalog, _) = Catalog::compile(TOOLS, &Options::default()).expect("a catalog");
    assert!(catalog.check(&mut Session::new(), "a", "{}").is_accepted());
    assert_eq!(counters(&catalog, "a"), ToolCounters::default());
}

#[test]
fn a_refresh_keeps_the_counters_of_what_stays() {
    let changed = TOOLS
        .replace(r#"{"name": "b", "inputSchema": {"properties": {"x": {"type": "integer"}}}}"#, r#"{"name": "b"}"#);
    let call = |catalog: &Catalog| {
        for tool in ["a", "b"] {
            assert!(catalog.check(&mut Session::new(), tool, r#"{"x": 1}"#).is_accepted());
        }
    };
    let accepted = |catalog: &Catalog| ["a", "b"].map(|tool| counters(catalog, tool).accepted);
    let mut catalog = counting();
    call(&catalog);
    let (refreshed, _) = catalog.refresh(&changed).expect("a catalog");
    assert_eq!(accepted(&refreshed), [1, 0]);
    call(&refreshed);
    // Who still checks by the catalog before counts with it, as far as tools are the same.
    assert_eq!((accepted(&catalog), accepted(&refreshed)), ([2, 1], [2, 1]));

    catalog.upsert(&changed, &Options::default()).expect("a catalog");
    assert_eq!(accepted(&catalog), [2, 0]);
    catalog.upsert(r#"{"name": "c"}"#, &Options::default()).expect("a tool");
    assert!(catalog.check(&mut Session::new(), "c", "{}").is_accepted());
    assert_eq!(counters(&catalog, "c").accepted, 1);

    let loaded = Catalog::load(catalog.to_bytes()).expect("sound");
    assert_eq!(accepted(&loaded), [0, 0]);
}

#[test]
fn the_sums_of_all_threads_agree() {
    const THREADS: u64 = 4;
    const ROUNDS: u64 = 500;
    let shared = SharedCatalog::new(counting());
    thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| {
                let mut session = Session::new();
                for round in 0..ROUNDS {
                    let catalog = shared.current();
                    for call in ["{}", r#"{"x": "1"}"#, r#"{"y": 1}"#, "{", "[]"] {
                        catalog.check(&mut session, "a", call);
                    }
                    if round % 100 == 0 {
                        shared.refresh(TOOLS).expect("a catalog");
                    }
                }
            });
        }
    });
    let counted = counters(&shared.current(), "a");
    assert_eq!(totals(&counted), (2 * THREADS * ROUNDS, 3 * THREADS * ROUNDS, 0));
    let each: Vec<u64> = counted.signatures.iter().map(|slot| slot.count).collect();
    assert_eq!(each, [THREADS * ROUNDS; 3]);
}
