//! Rejected calls: accepted ones, each broken in one place.
//!
//! Every call is broken in every way of [`WAYS`] that it has a place for; how the place is chosen goes by counting, so
//! the same calls come out each time. What any of the validators still accepts is dropped. A call is written anew, as
//! `serde_json` writes it.

use serde_json::{Value, json};

use super::{Call, Case, Judges, Rejected, Set};

/// A way to break an instance. `turn` chooses among the places that would do. Answers whether there was one.
type Way = fn(instance: &mut Value, schema: &Value, turn: usize) -> bool;

const WAYS: [Way; 8] =
    [wrong_type, missing, unknown, out_of_bounds, not_in_enum, wrong_type_deep, missing_deep, unknown_deep];

/// Most calls of one case: beyond, a set would be that case alone.
const CALLS_MAX: usize = 40;

/// The rejected calls of a set: those that fail at a union, and the others.
pub(super) fn sets(set: &Set) -> Vec<Set> {
    let mut plain = set.without_calls();
    let mut by_union = Set { name: format!("{}_at_union", set.name), ..set.without_calls() };
    for (at, case) in set.cases.iter().enumerate() {
        let judges = Judges::new(case).expect("the schema was taken before");
        for call in broken(case) {
            match judges.reject(&call) {
                Some(Rejected::Plainly) => plain.cases[at].calls.push(call),
                Some(Rejected::ByUnion) => by_union.cases[at].calls.push(call),
                None => {}
            }
        }
    }
    let mut sets = vec![plain, by_union];
    for set in &mut sets {
        set.cases.iter_mut().for_each(|case| thin(&mut case.calls));
        set.cases.retain(|case| !case.calls.is_empty());
    }
    sets.retain(|set| !set.cases.is_empty());
    sets
}

/// Keeps [`CALLS_MAX`] of the calls, evenly.
fn thin(calls: &mut Vec<Call>) {
    let len = calls.len();
    if len > CALLS_MAX {
        *calls = (0..CALLS_MAX).map(|at| calls[at * len / CALLS_MAX].clone()).collect();
    }
}

fn broken(case: &Case) -> Vec<Call> {
    let mut calls = Vec::new();
    for (turn, call) in case.calls.iter().enumerate() {
        for way in WAYS {
            let mut value = call.value.clone();
            if way(&mut value, &case.value, turn) {
                calls.push(Call { text: value.to_string(), value });
            }
        }
    }
    calls
}

// --- ways ----------------------------------------------------------------------------------------------------

/// A value of another kind for one of the properties.
fn wrong_type(instance: &mut Value, _: &Value, turn: usize) -> bool {
    replace_member(instance, turn)
}

/// A required name is left out.
fn missing(instance: &mut Value, schema: &Value, turn: usize) -> bool {
    let required: Vec<&str> = schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let (Some(object), false) = (instance.as_object_mut(), required.is_empty()) else {
        return false;
    };
    object.remove(required[turn % required.len()]).is_some()
}

/// A name too many; counts only where a schema forbids it.
fn unknown(instance: &mut Value, _: &Value, _: usize) -> bool {
    let object = instance.as_object_mut();
    object.is_some_and(|object| object.insert("verbosity".to_owned(), json!("high")).is_none())
}

/// A number beyond every sensible bound, or else a string or an array of no length.
fn out_of_bounds(instance: &mut Value, _: &Value, turn: usize) -> bool {
    let numbers = |value: &Value| value.is_number();
    let long = |value: &Value| value.is_string() || value.is_array();
    replace(instance, turn, &numbers, |_| json!(-9_999_999_999_999_i64))
        || replace(instance, turn, &long, |value| if value.is_array() { json!([]) } else { json!("") })
}

/// Another string, which fits neither an `enum` nor a `const` nor most patterns.
fn not_in_enum(instance: &mut Value, _: &Value, turn: usize) -> bool {
    replace(instance, turn, &Value::is_string, |_| json!("no such value"))
}

/// A value of another kind, in an object that lies deepest.
fn wrong_type_deep(instance: &mut Value, _: &Value, turn: usize) -> bool {
    deepest_object(instance).is_some_and(|object| replace_member(object, turn))
}

/// A name left out of an object that lies deepest: its first, which is mostly required, or a tag.
fn missing_deep(instance: &mut Value, _: &Value, _: usize) -> bool {
    let Some(object) = deepest_object(instance).and_then(Value::as_object_mut) else {
        return false;
    };
    let first = object.keys().next().cloned();
    first.is_some_and(|name| object.remove(&name).is_some())
}

/// A name too many, in an object that lies deepest.
fn unknown_deep(instance: &mut Value, schema: &Value, turn: usize) -> bool {
    deepest_object(instance).is_some_and(|object| unknown(object, schema, turn))
}

// --- places --------------------------------------------------------------------------------------------------

fn replace_member(instance: &mut Value, turn: usize) -> bool {
    let Some(object) = instance.as_object_mut().filter(|object| !object.is_empty()) else {
        return false;
    };
    let at = turn % object.len();
    let value = object.values_mut().nth(at).expect("it is within the object");
    *value = of_another_kind(value);
    true
}

fn of_another_kind(value: &Value) -> Value {
    match value {
        Value::String(_) => json!(17),
        Value::Number(_) => json!("seventeen"),
        Value::Bool(_) => json!("yes, please"),
        Value::Array(_) => json!("a, b, c"),
        Value::Object(_) => json!("{\"a\": 1}"),
        Value::Null => json!([[1]]),
    }
}

/// Replaces one of the values that fit, in whichever depth.
fn replace(instance: &mut Value, turn: usize, fits: &dyn Fn(&Value) -> bool, with: fn(&Value) -> Value) -> bool {
    let mut places = 0;
    visit(instance, &mut |value| places += usize::from(fits(value)));
    if places == 0 {
        return false;
    }
    let mut left = turn * 5 % places;
    visit(instance, &mut |value| {
        if fits(value) {
            if left == 0 {
                *value = with(value);
            }
            left = left.wrapping_sub(1);
        }
    });
    true
}

/// Visits every value below the instance, children before what holds them.
fn visit(instance: &mut Value, see: &mut dyn FnMut(&mut Value)) {
    let mut each = |value: &mut Value| {
        visit(value, see);
        see(value);
    };
    match instance {
        Value::Array(elements) => elements.iter_mut().for_each(each),
        Value::Object(members) => members.values_mut().for_each(&mut each),
        _ => {}
    }
}

/// The last of the objects that lie deepest below the instance; `None` if there is none below it.
fn deepest_object(instance: &mut Value) -> Option<&mut Value> {
    let depth = object_depth(instance).filter(|depth| *depth > 0)?;
    let mut place = instance;
    for left in (1..=depth).rev() {
        let leads = |child: &Value| object_depth(child).is_some_and(|below| below + 1 >= left);
        place = match place {
            Value::Array(elements) => elements.iter_mut().rev().find(|child| leads(child))?,
            Value::Object(members) => members.values_mut().rev().find(|child| leads(child))?,
            _ => return None,
        };
    }
    Some(place)
}

/// Levels from the instance down to its deepest object; `None` where there is none.
fn object_depth(instance: &Value) -> Option<usize> {
    let below = match instance {
        Value::Array(elements) => elements.iter().filter_map(object_depth).max(),
        Value::Object(members) => members.values().filter_map(object_depth).max().or(None),
        _ => None,
    };
    below.map(|depth| depth + 1).or(instance.is_object().then_some(0))
}
