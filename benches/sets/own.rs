//! Sets made up for what recorded calls hardly have: wide unions, recursion, long strings, long arrays, objects whose
//! names no schema knows.
//!
//! Everything is made by counting, so the same texts come out each time.

use serde_json::{Map, Value, json};

use super::{Case, Set};

pub(super) fn sets() -> Vec<Set> {
    vec![
        Set::new("wide_union", vec![actions(), target()]),
        Set::new("recursion", vec![tree(), condition()]),
        Set::new("long_strings", vec![letter(), document()]),
        Set::new("numbers", vec![series(), matrix()]),
        Set::new("objects", vec![orders(), rows()]),
        Set::new("free_form", vec![anything(), labels()]),
        Set::new("many_properties", vec![form()]),
    ]
}

/// A word that differs from number to number.
fn word(number: usize) -> String {
    const SYLLABLES: [&str; 16] =
        ["ba", "ce", "di", "fo", "gu", "ha", "je", "ki", "lo", "mu", "na", "pe", "ri", "so", "tu", "ve"];
    [number * 7 + 3, number / 3 + 1, number / 16].map(|at| SYLLABLES[at % 16]).concat()
}

// --- unions --------------------------------------------------------------------------------------------------

const BRANCHES: usize = 24;

/// A list of actions, each one of [`BRANCHES`] objects that a tag tells apart.
fn actions() -> Case {
    let branches: Vec<Value> = (0..BRANCHES).map(action_schema).collect();
    let schema = json!({
        "type": "object",
        "properties": {"actions": {"type": "array", "items": {"anyOf": branches}, "description": "What to do, in order."}},
        "required": ["actions"]
    });
    let call = |start: usize, step: usize, len: usize| {
        let actions: Vec<Value> = (0..len).map(|at| action(start + at * step)).collect();
        json!({"actions": actions})
    };
    Case::new(schema, [call(0, 1, 2), call(5, 7, 8), call(BRANCHES - 1, 0, 3), call(3, 5, 24)])
}

fn action_schema(number: usize) -> Value {
    let text = format!("{} of the {}.", word(number + 40), word(number));
    json!({
        "type": "object",
        "properties": {
            "kind": {"const": word(number)},
            "at": {"type": "integer", "minimum": 0, "description": text},
            (word(number + 40)): {"type": "string"},
            "options": {"type": "object", "properties": {"force": {"type": "boolean"}, "note": {"type": "string"}}}
        },
        "required": ["kind", "at"],
        "additionalProperties": false
    })
}

fn action(number: usize) -> Value {
    let number = number % BRANCHES;
    json!({
        "kind": word(number),
        "at": number * 3,
        (word(number + 40)): word(number + 80),
        "options": {"force": number.is_multiple_of(2), "note": word(number + 9)}
    })
}

/// `oneOf` with a shared shape, and properties that may be null.
fn target() -> Case {
    let branch = |number: usize| {
        json!({
            "type": "object",
            "properties": {
                "type": {"enum": [word(number)]},
                "id": {"type": "string", "minLength": 1},
                "size": {"anyOf": [{"type": "integer", "minimum": 1}, {"type": "null"}], "default": null}
            },
            "required": ["type", "id"]
        })
    };
    let optional = json!({"anyOf": [{"type": "string"}, {"type": "null"}], "default": null});
    let schema = json!({
        "type": "object",
        "properties": {
            "target": {"oneOf": (0..12).map(branch).collect::<Vec<_>>(), "description": "What it is about."},
            "title": optional, "owner": optional, "until": optional,
            "limit": {"anyOf": [{"type": "integer"}, {"type": "string", "pattern": "^[0-9]+%$"}, {"type": "null"}]}
        },
        "required": ["target"]
    });
    let call = |number: usize| {
        let limit = [json!(number), json!("40%"), Value::Null][number % 3].clone();
        let target = json!({"type": word(number), "id": format!("x-{number}"), "size": number + 1});
        json!({"target": target, "title": word(number), "owner": null, "until": "tomorrow", "limit": limit})
    };
    Case::new(schema, [0, 4, 11].map(call))
}

// --- recursion -----------------------------------------------------------------------------------------------

/// A tree, once deep and once bushy.
fn tree() -> Case {
    let schema = json!({
        "type": "object",
        "properties": {"root": {"$ref": "#/$defs/Node"}},
        "required": ["root"],
        "$defs": {"Node": {
            "type": "object",
            "properties": {
                "name": {"type": "string", "description": "Of the node."},
                "weight": {"type": "number", "minimum": 0},
                "children": {"type": "array", "items": {"$ref": "#/$defs/Node"}}
            },
            "required": ["name"],
            "additionalProperties": false
        }}
    });
    Case::new(schema, [json!({"root": node(40, 1)}), json!({"root": node(4, 4)})])
}

fn node(depth: usize, width: usize) -> Value {
    let children: Vec<Value> = (0..if depth == 0 { 0 } else { width }).map(|_| node(depth - 1, width)).collect();
    json!({"name": word(depth), "weight": depth as f64 / 4.0, "children": children})
}

/// A condition made of conditions: a union that leads back to itself.
fn condition() -> Case {
    let again = json!({"$ref": "#/$defs/Condition"});
    let schema = json!({
        "type": "object",
        "properties": {"where": again},
        "required": ["where"],
        "$defs": {"Condition": {"anyOf": [
            {"type": "object", "properties": {"all": {"type": "array", "items": again, "minItems": 1}}, "required": ["all"]},
            {"type": "object", "properties": {"not": again}, "required": ["not"]},
            {
                "type": "object",
                "properties": {
                    "field": {"type": "string"},
                    "is": {"enum": ["=", "<", ">", "in"]},
                    "value": {"type": ["string", "number", "array"]}
                },
                "required": ["field", "is", "value"]
            }
        ]}}
    });
    Case::new(schema, [1, 3, 7].map(|depth| json!({"where": nested_condition(depth)})))
}

fn nested_condition(depth: usize) -> Value {
    let leaf = |number: usize| json!({"field": word(number), "is": "<", "value": number});
    match depth {
        0 => leaf(1),
        _ if depth.is_multiple_of(2) => json!({"not": nested_condition(depth - 1)}),
        _ => json!({"all": [leaf(depth), nested_condition(depth - 1), leaf(depth + 1)]}),
    }
}

// --- strings -------------------------------------------------------------------------------------------------

/// Prose of about `bytes` bytes.
fn prose(bytes: usize, end: &str) -> String {
    let mut text = String::new();
    for number in 0.. {
        if text.len() >= bytes {
            break;
        }
        text.push_str(&word(number));
        text.push_str(if number % 12 == 11 { end } else { " " });
    }
    text
}

/// A text with its limits: plain, with escapes, beyond ASCII.
fn letter() -> Case {
    let schema = json!({
        "type": "object",
        "properties": {
            "to": {"type": "string", "pattern": "^[a-z]+@[a-z.]+$", "description": "Address."},
            "subject": {"type": "string", "minLength": 1, "maxLength": 200},
            "body": {"type": "string", "minLength": 1, "maxLength": 20000, "description": "The text itself."}
        },
        "required": ["to", "subject", "body"],
        "additionalProperties": false
    });
    let call = |body: String| json!({"to": "reader@library.example", "subject": prose(60, ", "), "body": body});
    Case::new(schema, [call(prose(8_000, ". ")), call(prose(4_000, ".\n\"")), call(prose(4_000, "… ä€ 字 "))])
}

/// A file to write, whose content no keyword limits.
fn document() -> Case {
    let schema = json!({
        "type": "object",
        "properties": {
            "path": {"type": "string", "description": "Where to write."},
            "content": {"type": "string", "description": "What to write."},
            "mode": {"enum": ["create", "append", "replace"]}
        },
        "required": ["path", "content"]
    });
    let call = |bytes, end| json!({"path": "notes/day.md", "content": prose(bytes, end), "mode": "append"});
    Case::new(schema, [call(300, ". "), call(16_000, ";\n\t")])
}

// --- arrays --------------------------------------------------------------------------------------------------

/// Numbers within bounds, whole and with a fraction.
fn series() -> Case {
    let schema = json!({
        "type": "object",
        "properties": {
            "values": {"type": "array", "items": {"type": "number", "minimum": -1000, "maximum": 1000}, "maxItems": 500},
            "counts": {"type": "array", "items": {"type": "integer", "minimum": 0}}
        },
        "required": ["values"]
    });
    let values: Vec<f64> = (0..300_i32).map(|at| f64::from(at * 37 % 4_001 - 2_000) / 4.0).collect();
    let counts: Vec<usize> = (0..300).map(|at| at * 7_919 % 10_007).collect();
    Case::new(schema, [json!({"values": values, "counts": counts}), json!({"values": values[..20]})])
}

/// Rows of numbers.
fn matrix() -> Case {
    let row = json!({"type": "array", "items": {"type": "number"}, "minItems": 16, "maxItems": 16});
    let schema = json!({
        "type": "object",
        "properties": {"matrix": {"type": "array", "items": row}},
        "required": ["matrix"]
    });
    let rows: Vec<Vec<i32>> = (0..16).map(|row| (0..16).map(|column| row * column - 40).collect()).collect();
    Case::new(schema, [json!({"matrix": rows})])
}

/// A list of objects as tools take them: a few members, some optional, a list inside.
fn orders() -> Case {
    let schema = json!({
        "type": "object",
        "properties": {"orders": {"type": "array", "items": {
            "type": "object",
            "properties": {
                "id": {"type": "integer", "minimum": 1},
                "name": {"type": "string", "minLength": 1},
                "price": {"type": "number", "exclusiveMinimum": 0},
                "state": {"enum": ["open", "paid", "sent", "returned"]},
                "tags": {"type": "array", "items": {"type": "string"}}
            },
            "required": ["id", "name", "price"],
            "additionalProperties": false
        }}},
        "required": ["orders"]
    });
    let states = ["open", "paid", "sent", "returned"];
    let order = |at: usize| {
        let tags = [word(at), word(at + 1)];
        json!({"id": at + 1, "name": word(at), "price": (at + 1) as f64 * 1.25, "state": states[at % 4], "tags": tags})
    };
    let call = |len: usize| json!({"orders": (0..len).map(order).collect::<Vec<_>>()});
    Case::new(schema, [call(200), call(5)])
}

/// Objects that are different from each other.
fn rows() -> Case {
    let schema = json!({
        "type": "object",
        "properties": {
            "rows": {"type": "array", "items": {"type": "object", "required": ["key"]}, "uniqueItems": true}
        },
        "required": ["rows"]
    });
    let row = |at: usize| json!({"key": word(at), "at": at, "value": {"x": at % 5, "y": at % 3}});
    Case::new(schema, [json!({"rows": (0..100).map(row).collect::<Vec<_>>()})])
}

// --- free-form objects ---------------------------------------------------------------------------------------

fn members(len: usize, value: impl Fn(usize) -> Value) -> Value {
    Value::Object((0..len).map(|at| (format!("{}_{at}", word(at)), value(at))).collect::<Map<_, _>>())
}

/// Whatever the caller has: most of the call is not looked at.
fn anything() -> Case {
    let schema = json!({
        "type": "object",
        "properties": {
            "event": {"type": "string", "description": "Name of the event."},
            "payload": {"type": "object", "additionalProperties": true, "description": "Its data."}
        },
        "required": ["event", "payload"]
    });
    let value = |at: usize| match at % 4 {
        0 => json!(word(at)),
        1 => json!(at),
        2 => json!([at, null, true, {"deep": [word(at)]}]),
        _ => members(3, |at| json!(at)),
    };
    Case::new(schema, [8, 120].map(|len| json!({"event": "saved", "payload": members(len, value)})))
}

/// Names that only a pattern or a general schema knows.
fn labels() -> Case {
    let schema = json!({
        "type": "object",
        "properties": {
            "labels": {"type": "object", "additionalProperties": {"type": "string", "maxLength": 63}, "maxProperties": 100},
            "limits": {
                "type": "object",
                "patternProperties": {"^[a-z]+_[0-9]+$": {"type": "integer", "minimum": 0}},
                "additionalProperties": false
            },
            "headers": {"type": "object", "propertyNames": {"pattern": "^[a-z0-9_]+$"}, "additionalProperties": {"type": "string"}}
        },
        "required": ["labels"]
    });
    let text = |at: usize| json!(word(at + 5));
    let whole = |at: usize| json!(at);
    let call =
        |len| json!({"labels": members(len, text), "limits": members(len, whole), "headers": members(len, text)});
    Case::new(schema, [call(6), call(60)])
}

// --- many properties -----------------------------------------------------------------------------------------

const PROPERTIES: usize = 60;

/// A form of many fields: all in order, half of them, all in another order.
fn form() -> Case {
    let field = |at: usize| {
        let text = format!("The {}.", word(at));
        match at % 4 {
            0 => json!({"type": "string", "description": text}),
            1 => json!({"type": "integer", "minimum": 0, "description": text}),
            2 => json!({"type": "boolean", "description": text}),
            _ => json!({"enum": ["low", "middle", "high"], "description": text}),
        }
    };
    let name = |at: usize| format!("{}_{at}", word(at));
    let fields: Map<String, Value> = (0..PROPERTIES).map(|at| (name(at), field(at))).collect();
    let required: Vec<String> = (0..PROPERTIES).step_by(6).map(name).collect();
    let schema = json!({"type": "object", "properties": fields, "required": required, "additionalProperties": false});
    let value = |at: usize| match at % 4 {
        0 => json!(word(at)),
        1 => json!(at),
        2 => json!(at.is_multiple_of(8)),
        _ => json!("middle"),
    };
    let call = |order: &mut dyn Iterator<Item = usize>| {
        Value::Object(order.map(|at| (name(at), value(at))).collect::<Map<_, _>>())
    };
    let calls = [
        call(&mut (0..PROPERTIES)),
        call(&mut (0..PROPERTIES).step_by(2)),
        call(&mut (0..PROPERTIES).map(|at| (at * 17 + 5) % PROPERTIES)),
    ];
    Case::new(schema, calls)
}
