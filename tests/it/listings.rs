//! Listings: the compiled form of real-looking tools, as text that is reviewed.

use callgate::{Catalog, Options, Stage};

const LIBRARY: &str = include_str!("../../examples/library.json");

#[test]
fn listings_of_the_example() {
    let (catalog, _) = Catalog::compile(LIBRARY, &Options::default()).expect("a catalog");
    for tool in catalog.tools() {
        let schema = tool.input().expect("it compiles");
        let listing = callgate_vm::listing::Listing { name: tool.name(), unit: schema.unit() }.to_string();
        snapshot("listing", tool.name(), &listing);
    }
}

#[test]
fn stages_of_one_tool() {
    for (stage, name) in [(Stage::Ir, "ir"), (Stage::Lowered, "lowered")] {
        let text = Catalog::stage_listing(LIBRARY, "pay_fine", stage, &Options::default());
        snapshot(name, "pay_fine", &text.expect("a catalog").expect("a tool"));
    }
}

pub(crate) fn snapshot(folder: &str, name: &str, text: &str) {
    insta::with_settings!({snapshot_path => format!("../../snapshots/{folder}"), prepend_module_to_snapshot => false, omit_expression => true}, {
        insta::assert_snapshot!(name, text);
    });
}

#[test]
fn the_same_tool_gives_the_same_unit() {
    let compile = || Catalog::compile(LIBRARY, &Options::default()).expect("a catalog").0;
    let (one, other) = (compile(), compile());
    for (a, b) in one.tools().zip(other.tools()) {
        let (a, b) = (a.input().expect("it compiles").unit(), b.input().expect("it compiles").unit());
        assert_eq!(a.digest(), b.digest());
        let list = |unit| callgate_vm::listing::Listing { name: "t", unit }.to_string();
        assert_eq!(list(a), list(b));
    }
    let formats = Options { assert_formats: true, ..Options::default() };
    let (other, _) = Catalog::compile(LIBRARY, &formats).expect("a catalog");
    let digest = |catalog: &Catalog| {
        *catalog.tool("reserve_book").expect("a tool").input().expect("it compiles").unit().digest()
    };
    assert_ne!(digest(&one), digest(&other), "an option that changes verdicts is part of the digest");
}
