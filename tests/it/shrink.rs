//! Makes a failing pair of schema and instance smaller, as long as it goes on failing.

use serde_json::Value;

/// Attempts in all; each may compile a schema.
const ATTEMPTS_MAX: usize = 1_500;

/// The smallest pair found. `fails` says whether a pair still shows what is to be shown.
pub(crate) fn shrink(pair: (Value, Value), mut fails: impl FnMut(&Value, &Value) -> bool) -> (Value, Value) {
    let (mut schema, mut instance) = pair;
    let mut attempts = 0;
    loop {
        let smaller = candidates(&schema).into_iter().take(ATTEMPTS_MAX).find(|candidate| {
            attempts += 1;
            attempts < ATTEMPTS_MAX && fails(candidate, &instance)
        });
        if let Some(smaller) = smaller {
            schema = smaller;
            continue;
        }
        let smaller = candidates(&instance).into_iter().find(|candidate| {
            attempts += 1;
            attempts < ATTEMPTS_MAX && fails(&schema, candidate)
        });
        match smaller {
            Some(smaller) => instance = smaller,
            None => return (schema, instance),
        }
    }
}

/// Every value that is one step smaller, the boldest steps first: a child in place of its parent, one member or element
/// less, a scalar made simple.
fn candidates(value: &Value) -> Vec<Value> {
    let mut all = Vec::new();
    match value {
        Value::Array(elements) => {
            all.extend(elements.iter().cloned());
            for at in 0..elements.len() {
                let mut fewer = elements.clone();
                fewer.remove(at);
                all.push(Value::Array(fewer));
            }
            for (at, element) in elements.iter().enumerate() {
                for smaller in candidates(element) {
                    let mut changed = elements.clone();
                    changed[at] = smaller;
                    all.push(Value::Array(changed));
                }
            }
        }
        Value::Object(members) => {
            all.extend(members.values().cloned());
            for name in members.keys() {
                let mut fewer = members.clone();
                fewer.remove(name);
                all.push(Value::Object(fewer));
            }
            for (name, member) in members {
                for smaller in candidates(member) {
                    let mut changed = members.clone();
                    changed.insert(name.clone(), smaller);
                    all.push(Value::Object(changed));
                }
            }
        }
        Value::String(text) if text.len() > 1 => all.push(Value::String(String::new())),
        Value::Number(number) if number.as_i64() != Some(0) => all.push(Value::from(0)),
        _ => {}
    }
    all
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_matters_is_left() {
        let pair = (json!({"a": {"type": "string", "minLength": 3}, "b": [1, 2]}), json!([{"c": 1}, "text"]));
        let shrunk = shrink(pair, |schema, instance| {
            schema.to_string().contains("minLength") && instance.to_string().contains('c')
        });
        assert_eq!(shrunk, (json!({"minLength": 0}), json!({"c": 0})));
    }
}
