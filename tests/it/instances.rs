//! Instances made from a schema: mostly such that satisfy it, or do so but for one place.
//!
//! No keyword is guaranteed. What must hold is told by a validator afterwards; this only makes it likely.

use regex_syntax::hir::{Class, ClassUnicode, Hir, HirKind};
use serde_json::{Map, Value, json};

use crate::random::Rng;
use crate::schemas::{self, NAMES};

/// References followed, and containers entered, before anything goes.
const DEPTH_MAX: usize = 8;

/// An instance that likely satisfies `root`.
pub(crate) fn fitting(rng: &mut Rng, root: &Value) -> Value {
    let mut maker = Maker { rng, root };
    maker.instance(root, DEPTH_MAX)
}

/// The instance with one or two changes.
pub(crate) fn changed(rng: &mut Rng, instance: &Value) -> Value {
    let mut changed = instance.clone();
    for _ in 0..rng.between(1, 2) {
        let nodes = count(&changed);
        let mut at = rng.below(nodes);
        change_at(rng, &mut changed, &mut at);
    }
    changed
}

fn count(value: &Value) -> usize {
    1 + match value {
        Value::Array(elements) => elements.iter().map(count).sum(),
        Value::Object(members) => members.values().map(count).sum(),
        _ => 0,
    }
}

/// Changes the node that is `at` steps on; answers whether that was below here.
fn change_at(rng: &mut Rng, value: &mut Value, at: &mut usize) -> bool {
    if *at == 0 {
        change(rng, value);
        return true;
    }
    *at -= 1;
    match value {
        Value::Array(elements) => elements.iter_mut().any(|element| change_at(rng, element, at)),
        Value::Object(members) => members.values_mut().any(|member| change_at(rng, member, at)),
        _ => false,
    }
}

fn change(rng: &mut Rng, value: &mut Value) {
    match value {
        Value::Array(elements) if rng.chance(70) => {
            let at = rng.below(elements.len());
            match rng.below(3) {
                0 if !elements.is_empty() => drop(elements.remove(at)),
                1 if !elements.is_empty() => elements.push(elements[at].clone()),
                _ => elements.push(schemas::value(rng, 1)),
            }
        }
        Value::Object(members) if rng.chance(70) => {
            let name = members.keys().nth(rng.below(members.len())).cloned();
            match name {
                Some(name) if rng.chance(50) => drop(members.remove(&name)),
                _ => drop(members.insert((*rng.pick(&NAMES)).to_owned(), schemas::value(rng, 1))),
            }
        }
        Value::String(text) if rng.chance(50) => text.push_str(schemas::string(rng)),
        Value::Number(_) if rng.chance(50) => *value = schemas::number(rng),
        _ => *value = schemas::value(rng, 2),
    }
}

/// What kind of instance a keyword is about.
const ABOUT: [(&str, &str); 17] = [
    ("properties", "object"),
    ("required", "object"),
    ("patternProperties", "object"),
    ("additionalProperties", "object"),
    ("propertyNames", "object"),
    ("dependencies", "object"),
    ("minProperties", "object"),
    ("items", "array"),
    ("prefixItems", "array"),
    ("contains", "array"),
    ("minItems", "array"),
    ("uniqueItems", "array"),
    ("pattern", "string"),
    ("minLength", "string"),
    ("maxLength", "string"),
    ("minimum", "number"),
    ("maximum", "number"),
];

struct Maker<'r> {
    rng: &'r mut Rng,
    root: &'r Value,
}

impl<'r> Maker<'r> {
    fn instance(&mut self, schema: &'r Value, depth: usize) -> Value {
        let Value::Object(keywords) = schema else {
            return schemas::value(self.rng, depth.min(2));
        };
        if depth == 0 {
            return schemas::value(self.rng, 0);
        }
        if let Some(value) = keywords.get("const") {
            return value.clone();
        }
        if let Some(Value::Array(values)) = keywords.get("enum") {
            return if values.is_empty() { Value::Null } else { self.rng.pick(values).clone() };
        }
        let inner = self.applicator(keywords).map(|branch| self.instance(branch, depth - 1));
        match (inner, self.kind(keywords)) {
            (Some(Value::Object(mut members)), "object" | "") => {
                self.members(keywords, depth, &mut members);
                Value::Object(members)
            }
            (Some(inner), "") => inner,
            (Some(inner), kind) if kind == type_name(&inner) || (kind == "number" && inner.is_number()) => inner,
            (_, kind) => self.of_kind(kind, keywords, depth),
        }
    }

    /// A subschema that judges the same instance; one is enough.
    fn applicator(&mut self, keywords: &'r Map<String, Value>) -> Option<&'r Value> {
        let reference = ["$ref", "$dynamicRef", "$recursiveRef"].iter().find_map(|name| keywords.get(*name));
        if let Some(Value::String(reference)) = reference {
            return resolve(self.root, reference);
        }
        for name in ["oneOf", "anyOf", "allOf"] {
            if let Some(Value::Array(branches)) = keywords.get(name) {
                return (!branches.is_empty()).then(|| self.rng.pick(branches));
            }
        }
        keywords.get("then")
    }

    /// The type to make: the schema's own, or what its keywords are about.
    fn kind(&mut self, keywords: &'r Map<String, Value>) -> &'r str {
        match keywords.get("type") {
            Some(Value::String(name)) => return name,
            Some(Value::Array(names)) if !names.is_empty() => {
                return self.rng.pick(names).as_str().unwrap_or("");
            }
            _ => {}
        }
        ABOUT.iter().find(|(keyword, _)| keywords.contains_key(*keyword)).map_or("", |(_, kind)| kind)
    }

    fn of_kind(&mut self, kind: &str, keywords: &'r Map<String, Value>, depth: usize) -> Value {
        match kind {
            "null" => Value::Null,
            "boolean" => json!(self.rng.chance(50)),
            "integer" => self.number(keywords, true),
            "number" => self.number(keywords, false),
            "string" => json!(self.string(keywords)),
            "array" => self.array(keywords, depth),
            "object" => {
                let mut members = Map::new();
                self.members(keywords, depth, &mut members);
                Value::Object(members)
            }
            _ => schemas::value(self.rng, depth.min(2)),
        }
    }

    fn number(&mut self, keywords: &Map<String, Value>, whole: bool) -> Value {
        let bound = |names: [&str; 2]| names.iter().find_map(|name| keywords.get(*name)?.as_f64());
        let low = bound(["minimum", "exclusiveMinimum"]);
        let high = bound(["maximum", "exclusiveMaximum"]);
        let step = keywords.get("multipleOf").and_then(Value::as_f64).unwrap_or(1.0);
        let start = match (low, high) {
            (Some(low), Some(high)) => low.midpoint(high),
            (Some(low), None) => low + f64::from(self.rng.below(3) as u32),
            (None, Some(high)) => high - f64::from(self.rng.below(3) as u32),
            (None, None) if self.rng.chance(50) => {
                return if whole { json!(self.rng.below(20)) } else { schemas::number(self.rng) };
            }
            (None, None) => f64::from(self.rng.below(10) as u32),
        };
        let stepped = (start / step).ceil() * step;
        if (whole || self.rng.chance(50)) && stepped.abs() < 1e15 {
            return json!(stepped.round() as i64);
        }
        json!(stepped)
    }

    fn string(&mut self, keywords: &Map<String, Value>) -> String {
        let (min, max) = (len(keywords, "minLength").unwrap_or(0).min(1_000), len(keywords, "maxLength"));
        if let Some(pattern) = keywords.get("pattern").and_then(Value::as_str) {
            return matching(self.rng, pattern, min);
        }
        let mut text = schemas::string(self.rng).to_owned();
        while text.chars().count() < min {
            text.push(*self.rng.pick(&['a', 'b', 'é']));
        }
        max.map_or(text.clone(), |max| text.chars().take(max).collect())
    }

    fn array(&mut self, keywords: &'r Map<String, Value>, depth: usize) -> Value {
        let low = len(keywords, "minItems").unwrap_or(0).min(20);
        let high = len(keywords, "maxItems").unwrap_or(low + 2).min(low + 3).max(low);
        let mut elements: Vec<Value> = Vec::new();
        let prefix = ["prefixItems", "items"].iter().find_map(|name| keywords.get(*name)?.as_array());
        let rest = ["items", "additionalItems", "contains", "unevaluatedItems"]
            .iter()
            .find_map(|name| keywords.get(*name).filter(|schema| !schema.is_array()));
        for at in 0..self.rng.between(low, high) {
            let schema = prefix.and_then(|prefix| prefix.get(at)).or(rest);
            let element = match schema {
                Some(schema) => self.instance(schema, depth - 1),
                None => schemas::value(self.rng, 1),
            };
            if keywords.get("uniqueItems") != Some(&json!(true)) || !elements.contains(&element) {
                elements.push(element);
            }
        }
        Value::Array(elements)
    }

    fn members(&mut self, keywords: &'r Map<String, Value>, depth: usize, into: &mut Map<String, Value>) {
        let required: Vec<&str> = match keywords.get("required") {
            Some(Value::Array(names)) => names.iter().filter_map(Value::as_str).collect(),
            _ => Vec::new(),
        };
        let properties = keywords.get("properties").and_then(Value::as_object);
        for (name, schema) in properties.into_iter().flatten() {
            if required.contains(&name.as_str()) || self.rng.chance(if depth > 3 { 60 } else { 20 }) {
                let value = self.instance(schema, depth - 1);
                into.insert(name.clone(), value);
            }
        }
        let rest = ["additionalProperties", "unevaluatedProperties"].iter().find_map(|name| keywords.get(*name));
        for name in required {
            if !into.contains_key(name) {
                let value = rest.map_or(json!(1), |schema| self.instance(schema, depth - 1));
                into.insert(name.to_owned(), value);
            }
        }
        let patterns = keywords.get("patternProperties").and_then(Value::as_object);
        for (pattern, schema) in patterns.into_iter().flatten() {
            if self.rng.chance(60) {
                let name = matching(self.rng, pattern, 0);
                let value = self.instance(schema, depth - 1);
                into.insert(name, value);
            }
        }
        let wanted = len(keywords, "minProperties").unwrap_or(0);
        if rest != Some(&json!(false)) && (into.len() < wanted || self.rng.chance(20)) {
            let name = (*self.rng.pick(&NAMES)).to_owned();
            let value = rest.map_or(json!("more"), |schema| self.instance(schema, depth - 1));
            into.entry(name).or_insert(value);
        }
    }
}

/// A keyword that counts something; `2.0` is 2.
#[allow(clippy::cast_sign_loss)] // a negative one makes no well-formed schema, and becomes 0
fn len(keywords: &Map<String, Value>, name: &str) -> Option<usize> {
    keywords.get(name)?.as_f64().map(|len| len as usize)
}

fn type_name(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(number) if number.is_f64() => "number",
        Value::Number(_) => "integer",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

/// What a reference of this module's schemas leads to: a pointer from the root, an anchor, or a resource.
pub(crate) fn resolve<'v>(root: &'v Value, reference: &str) -> Option<&'v Value> {
    if let Some(pointer) = reference.strip_prefix('#').filter(|rest| rest.is_empty() || rest.starts_with('/')) {
        return root.pointer(pointer);
    }
    let named = |schema: &Value| {
        let is = |name: &str, text: &str| schema.get(name).and_then(Value::as_str) == Some(text);
        let (file, anchor) = reference.split_once('#').unwrap_or((reference, ""));
        is("$id", reference)
            || is("id", reference)
            || is("$id", file)
            || is("$anchor", anchor)
            || is("$dynamicAnchor", anchor)
    };
    let holders = ["$defs", "definitions"].iter().filter_map(|name| root.get(*name)?.as_object());
    std::iter::once(root).chain(holders.flat_map(Map::values)).find(|schema| named(schema))
}

/// A string that the pattern finds itself in; of a pattern that looks around, any. Repetitions without an end are taken so
/// often that one of them fills `chars`.
fn matching(rng: &mut Rng, pattern: &str, chars: usize) -> String {
    let mut text = String::new();
    // ECMA-262 has ASCII digits only.
    match regex_syntax::parse(&pattern.replace("\\d", "[0-9]")) {
        Ok(hir) => sample(rng, &hir, chars, &mut text),
        Err(_) => text.push_str(schemas::string(rng)),
    }
    text
}

fn sample(rng: &mut Rng, hir: &Hir, chars: usize, into: &mut String) {
    match hir.kind() {
        HirKind::Empty | HirKind::Look(_) => {}
        HirKind::Literal(literal) => into.push_str(&String::from_utf8_lossy(&literal.0)),
        HirKind::Class(Class::Unicode(class)) => into.push(char_of(rng, class)),
        HirKind::Class(Class::Bytes(_)) => into.push('a'),
        HirKind::Repetition(repetition) => {
            let least = repetition.min as usize;
            let (low, high) = match repetition.max {
                Some(most) => (least, (most as usize).min(least + 2)),
                None => (least.max(chars), least.max(chars) + if chars == 0 { 2 } else { 0 }),
            };
            for _ in 0..rng.between(low, high) {
                sample(rng, &repetition.sub, 0, into);
            }
        }
        HirKind::Capture(capture) => sample(rng, &capture.sub, chars, into),
        HirKind::Concat(parts) => parts.iter().for_each(|part| sample(rng, part, chars, into)),
        HirKind::Alternation(parts) => {
            let part = rng.pick(parts);
            sample(rng, part, chars, into);
        }
    }
}

/// A character of the class, of one of its first ranges and no control character if there is another.
fn char_of(rng: &mut Rng, class: &ClassUnicode) -> char {
    let ranges = class.ranges();
    let range = ranges[rng.below(ranges.len().min(4))];
    let (low, high) = (range.start() as u32, range.end() as u32);
    let low = low.max(u32::from(b' ').min(high));
    let high = high.min(low + 40);
    char::from_u32(low + rng.below((high - low + 1) as usize) as u32).unwrap_or('a')
}
