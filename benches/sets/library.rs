//! The example catalog, with calls as a model makes them.

use std::fs;

use serde_json::Value;

use super::{Call, Case, Set, root};

const CALLS: [(&str, &[&str]); 5] = [
    (
        "search_catalogue",
        &[
            r#"{"query": "tides of the north", "fields": ["title", "subject"], "published": {"from": 1950, "to": 1999}, "limit": 10, "seed": null}"#,
            r#"{"query": "lighthouses"}"#,
        ],
    ),
    (
        "reserve_book",
        &[
            r#"{"member_id": "M000042", "isbn": "9780306406157", "pick_up": {"date": "2026-03-01", "branch": "harbour"}, "notify": {"by": "text", "number": "+4915112345678"}}"#,
        ],
    ),
    (
        "pay_fine",
        &[
            r#"{"member_id": "M000042", "amount": 12.35, "method": "card"}"#,
            r#"{"member_id": "M000042", "amount": 4, "method": "account", "iban": "DE02120300000000202051"}"#,
        ],
    ),
    (
        "move_shelf",
        &[
            r#"{"shelf": {"label": "A1", "inside": [{"label": "A1a"}, {"label": "A1b", "inside": [{"label": "x"}]}]}, "into": "Maritime"}"#,
        ],
    ),
    ("opening_hours", &["{}"]),
];

pub(super) fn set() -> Set {
    let text = fs::read_to_string(root().join("examples/library.json")).expect("the example is there");
    let catalog: Value = serde_json::from_str(&text).expect("the example is JSON");
    let tools = catalog["tools"].as_array().expect("a list of tools");
    Set::new("library", tools.iter().map(case).collect())
}

fn case(tool: &Value) -> Case {
    let name = tool["name"].as_str().expect("a tool has a name");
    let (_, calls) = CALLS.iter().find(|(tool, _)| *tool == name).expect("each tool has calls");
    let mut case = Case::new(tool["inputSchema"].clone(), []);
    case.calls = calls.iter().filter_map(|text| Call::read(text)).collect();
    case
}
