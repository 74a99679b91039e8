//! Random schemas: every keyword of every draft, references that recurse, unions inside unions.
//!
//! What is made is well-formed by its draft's metaschema, and small, so that every validator is done with it in no
//! time. Names, patterns and numbers come from short lists: schema and instance meet more often.

use callgate::Draft;
use serde_json::{Map, Value, json};

use crate::random::Rng;

/// Names of members.
pub(crate) const NAMES: [&str; 8] = ["a", "b", "c", "ab", "x-1", "é", "a/b", "long_name"];

/// Patterns. The first are cheap to compile.
const PATTERNS: [&str; 24] = [
    "^a+$",
    "a",
    "^x-",
    "b$",
    "^(foo|bar)$",
    "\\d+",
    "^\\d{2,3}$",
    "^[a-c]*$",
    "^\\w+$",
    "^$",
    "",
    "[é-ü]",
    "^(a|ab)(c|bcd)?$",
    "^.{1,2}$",
    "^(?!a)",
    "^(.)\\1$",
    "^\\S+$",
    "^[^b]*$",
    "\\s",
    "\\bfoo\\b",
    "a.c",
    "^\\p{L}+$",
    "^(\\p{L}|\\d){1,20}$",
    "(?<=o) b",
];
const CHEAP_PATTERNS: usize = 17;

/// Numbers, as they stand in schemas and instances.
const NUMBERS: [&str; 16] =
    ["0", "1", "2", "3", "-1", "5", "10", "1.0", "1.5", "-0.5", "2.0", "0.1", "100", "1e2", "-7", "0.3"];

const TYPES: [&str; 7] = ["null", "boolean", "integer", "number", "string", "array", "object"];

const FORMATS: [&str; 4] = ["date-time", "email", "ipv4", "no-such-format"];

/// Where subschemas under a name are kept.
fn definitions_keyword(draft: Draft) -> &'static str {
    if draft >= Draft::D2019 { "$defs" } else { "definitions" }
}

/// A draft and a schema of it.
pub(crate) fn schema(rng: &mut Rng) -> (Draft, Value) {
    let draft = *rng.pick(&Draft::ALL);
    let mut maker = Maker { rng, draft, budget: 0, targets: Vec::new(), dynamic: Vec::new() };
    (draft, maker.document())
}

/// A number of the list, as JSON.
pub(crate) fn number(rng: &mut Rng) -> Value {
    let literal = *rng.pick(&NUMBERS);
    serde_json::from_str(literal).unwrap_or(Value::Null)
}

/// Any value.
pub(crate) fn value(rng: &mut Rng, depth: usize) -> Value {
    match rng.below(if depth == 0 { 8 } else { 12 }) {
        0 => Value::Null,
        1 => json!(rng.chance(50)),
        2..=4 => number(rng),
        5..=7 => json!(string(rng)),
        8 | 9 => (0..rng.below(4)).map(|_| value(rng, depth - 1)).collect(),
        _ => (0..rng.below(4)).map(|_| ((*rng.pick(&NAMES)).to_owned(), value(rng, depth - 1))).collect(),
    }
}

/// Any string.
pub(crate) fn string(rng: &mut Rng) -> &'static str {
    const STRINGS: [&str; 18] = [
        "", "a", "b", "aa", "ab", "abc", "foo", "bar", "foo bar", "12", "123", "x-1", "é", "🐲", "a\nc", "\n", "a\"\\",
        "bb",
    ];
    STRINGS[rng.below(STRINGS.len())]
}

struct Maker<'r> {
    rng: &'r mut Rng,
    draft: Draft,
    /// Subschemas that may still be made.
    budget: usize,
    /// What references may lead to, from where schemas are being made.
    targets: Vec<String>,
    /// What dynamic references may lead to.
    dynamic: Vec<String>,
}

impl Maker<'_> {
    fn document(&mut self) -> Value {
        self.budget = self.rng.between(2, 28);
        let names: Vec<String> = (0..self.rng.below(4)).map(|at| format!("d{at}")).collect();
        let (resources, others): (Vec<String>, Vec<String>) = names.into_iter().partition(|_| self.rng.chance(25));
        let files: Vec<String> = resources.iter().map(|name| format!("{name}.json")).collect();
        let mut definitions = Map::new();
        for name in &resources {
            // Inside a resource, pointers and anchors of the root mean something else or nothing.
            self.targets.clone_from(&files);
            self.dynamic = vec!["#node".to_owned()];
            let resource = self.resource(name);
            definitions.insert(name.clone(), resource);
        }
        let holder = definitions_keyword(self.draft);
        self.targets = others.iter().map(|name| format!("#/{holder}/{name}")).chain(files.iter().cloned()).collect();
        self.targets.push("#".to_owned());
        self.dynamic = files.iter().map(|file| format!("{file}#node")).collect();
        let is_node = self.draft == Draft::D2020 && self.rng.chance(40);
        if is_node {
            self.targets.push("#node".to_owned());
            self.dynamic.extend(["#node".to_owned(), "#node".to_owned()]);
        }
        for name in &others {
            let mut definition = self.subschema(2);
            self.anchor(name, &mut definition);
            definitions.insert(name.clone(), definition);
        }
        let Value::Object(mut root) = self.object(3) else {
            return json!(true);
        };
        if self.rng.chance(30) {
            root.insert("$schema".to_owned(), json!(self.schema_uri()));
        }
        if self.draft == Draft::D2019 && self.rng.chance(40) {
            root.insert("$recursiveAnchor".to_owned(), json!(true));
        }
        if is_node {
            root.insert("$dynamicAnchor".to_owned(), json!("node"));
        }
        if !definitions.is_empty() {
            root.insert(holder.to_owned(), Value::Object(definitions));
        }
        Value::Object(root)
    }

    /// A definition that is a resource of its own. In the drafts that have dynamic references, they may lead to it.
    fn resource(&mut self, name: &str) -> Value {
        let Value::Object(mut members) = self.object(2) else {
            return json!(true);
        };
        if self.draft.ref_stands_alone() {
            // An identifier beside it would be ignored.
            members.remove("$ref");
        }
        members.insert(self.draft.id_keyword().to_owned(), json!(format!("{name}.json")));
        match self.draft {
            Draft::D2020 => {
                let keyword = if self.rng.chance(70) { "$dynamicAnchor" } else { "$anchor" };
                members.insert(keyword.to_owned(), json!("node"));
            }
            Draft::D2019 if self.rng.chance(50) => drop(members.insert("$recursiveAnchor".to_owned(), json!(true))),
            _ => {}
        }
        Value::Object(members)
    }

    /// The URI as the draft's own metaschema spells it: up to draft 7 with an empty fragment.
    fn schema_uri(&self) -> String {
        let end = if self.draft <= Draft::D7 { "#" } else { "" };
        format!("{}{end}", self.draft.uri())
    }

    /// May give a definition an anchor.
    fn anchor(&mut self, name: &str, definition: &mut Value) {
        let Value::Object(members) = definition else {
            return;
        };
        let ignored = self.draft.ref_stands_alone() && members.contains_key("$ref");
        if ignored || !self.rng.chance(20) {
            return;
        }
        let anchor = format!("anchor-{name}");
        match self.draft {
            Draft::D2019 | Draft::D2020 => members.insert("$anchor".to_owned(), json!(anchor)),
            _ => members.insert(self.draft.id_keyword().to_owned(), json!(format!("#{anchor}"))),
        };
        self.targets.push(format!("#{anchor}"));
    }

    fn subschema(&mut self, depth: usize) -> Value {
        if self.draft > Draft::D4 && self.rng.chance(7) {
            return json!(self.rng.chance(70));
        }
        self.object(depth)
    }

    fn object(&mut self, depth: usize) -> Value {
        let mut members = Map::new();
        if self.budget == 0 {
            self.type_of(&mut members);
            return Value::Object(members);
        }
        self.budget -= 1;
        for _ in 0..self.rng.between(1, 4) {
            self.facet(depth, &mut members);
        }
        if self.rng.chance(25) {
            members.insert("description".to_owned(), json!("What it is for."));
        }
        Value::Object(members)
    }

    fn facet(&mut self, depth: usize, into: &mut Map<String, Value>) {
        match self.rng.below(if depth == 0 { 9 } else { 20 }) {
            0 | 1 => self.type_of(into),
            2 => self.enumeration(into),
            3 | 4 => self.number_bounds(into),
            5 | 6 => self.string_bounds(into),
            7 => self.counts(into),
            8 | 9 => self.reference(depth, into),
            10..=12 => (0..self.rng.between(1, 3)).for_each(|_| self.array(depth - 1, into)),
            13..=16 => (0..self.rng.between(1, 3)).for_each(|_| self.members(depth - 1, into)),
            _ => self.combination(depth - 1, into),
        }
    }

    fn type_of(&mut self, into: &mut Map<String, Value>) {
        let one = *self.rng.pick(&TYPES);
        let other = *self.rng.pick(&TYPES);
        let types = if self.rng.chance(75) || one == other { json!(one) } else { json!([one, other]) };
        into.insert("type".to_owned(), types);
    }

    fn enumeration(&mut self, into: &mut Map<String, Value>) {
        if self.draft > Draft::D4 && self.rng.chance(40) {
            into.insert("const".to_owned(), value(self.rng, 2));
            return;
        }
        let mut values: Vec<Value> = Vec::new();
        for _ in 0..self.rng.between(1, 4) {
            let value = value(self.rng, 2);
            // Draft 4 and 6 want distinct values.
            if !values.iter().any(|known| same_number_or_value(known, &value)) {
                values.push(value);
            }
        }
        into.insert("enum".to_owned(), Value::Array(values));
    }

    fn number_bounds(&mut self, into: &mut Map<String, Value>) {
        let bound = number(self.rng);
        let name = if self.rng.chance(50) { ("minimum", "exclusiveMinimum") } else { ("maximum", "exclusiveMaximum") };
        match self.rng.below(5) {
            0 | 1 => drop(into.insert(name.0.to_owned(), bound)),
            2 if self.draft == Draft::D4 => {
                into.insert(name.0.to_owned(), bound);
                into.insert(name.1.to_owned(), json!(self.rng.chance(70)));
            }
            2 | 3 => drop(into.insert((if self.draft == Draft::D4 { name.0 } else { name.1 }).to_owned(), bound)),
            _ => {
                let divisors = [json!(1), json!(2), json!(3), json!(0.5), json!(0.1), json!(1.0), json!(10)];
                into.insert("multipleOf".to_owned(), self.rng.pick(&divisors).clone());
            }
        }
    }

    fn string_bounds(&mut self, into: &mut Map<String, Value>) {
        let len = self.rng.below(4);
        let (name, value) = match self.rng.below(5) {
            0 => ("minLength", json!(len)),
            1 => ("maxLength", json!(len)),
            2 if self.draft > Draft::D4 && self.rng.chance(30) => ("maxLength", json!(2.0)),
            2 | 3 => ("pattern", json!(self.pattern())),
            _ => ("format", json!(self.rng.pick(&FORMATS))),
        };
        into.insert(name.to_owned(), value);
    }

    fn pattern(&mut self) -> &'static str {
        let dear = self.rng.chance(10);
        let from = if dear { &PATTERNS[CHEAP_PATTERNS..] } else { &PATTERNS[..CHEAP_PATTERNS] };
        let picked: &&'static str = self.rng.pick(from);
        picked
    }

    fn counts(&mut self, into: &mut Map<String, Value>) {
        let name = *self.rng.pick(&["minItems", "maxItems", "minProperties", "maxProperties", "uniqueItems"]);
        let value = if name == "uniqueItems" { json!(self.rng.chance(90)) } else { json!(self.rng.below(4)) };
        into.insert(name.to_owned(), value);
    }

    fn reference(&mut self, depth: usize, into: &mut Map<String, Value>) {
        if into.contains_key("$ref") || (depth > 2 && self.rng.chance(50)) {
            return;
        }
        match self.draft {
            Draft::D2020 if self.rng.chance(35) && !self.dynamic.is_empty() => {
                drop(into.insert("$dynamicRef".to_owned(), json!(self.rng.pick(&self.dynamic))));
            }
            Draft::D2019 if self.rng.chance(35) => drop(into.insert("$recursiveRef".to_owned(), json!("#"))),
            _ if self.targets.is_empty() => {}
            _ => drop(into.insert("$ref".to_owned(), json!(self.rng.pick(&self.targets)))),
        }
    }

    fn list(&mut self, depth: usize) -> Value {
        (0..self.rng.between(1, 3)).map(|_| self.subschema(depth)).collect()
    }

    fn array(&mut self, depth: usize, into: &mut Map<String, Value>) {
        match self.rng.below(7) {
            0 | 1 => drop(into.insert("items".to_owned(), self.subschema(depth))),
            2 if self.draft == Draft::D2020 => drop(into.insert("prefixItems".to_owned(), self.list(depth))),
            2 | 3 if self.draft < Draft::D2020 => {
                into.insert("items".to_owned(), self.list(depth));
                if self.rng.chance(60) {
                    let rest = if self.rng.chance(30) { json!(false) } else { self.subschema(depth) };
                    into.insert("additionalItems".to_owned(), rest);
                }
            }
            3 | 4 if self.draft > Draft::D4 => {
                into.insert("contains".to_owned(), self.subschema(depth));
                if self.draft >= Draft::D2019 && self.rng.chance(40) {
                    let name = *self.rng.pick(&["minContains", "maxContains"]);
                    into.insert(name.to_owned(), json!(self.rng.below(3)));
                }
            }
            5 if self.draft >= Draft::D2019 => {
                let rest = if self.rng.chance(50) { json!(false) } else { self.subschema(depth) };
                into.insert("unevaluatedItems".to_owned(), rest);
            }
            _ => self.counts(into),
        }
    }

    fn map(&mut self, depth: usize, name: impl Fn(&mut Self) -> &'static str) -> Value {
        let names: Vec<String> = (0..self.rng.between(1, 3)).map(|_| name(self).to_owned()).collect();
        names.into_iter().map(|name| (name, self.subschema(depth))).collect()
    }

    fn names(&mut self) -> Vec<&'static str> {
        let mut names: Vec<&str> = (0..self.rng.between(1, 2)).map(|_| *self.rng.pick(&NAMES)).collect();
        names.dedup();
        names
    }

    fn members(&mut self, depth: usize, into: &mut Map<String, Value>) {
        let boolean_or_schema = |maker: &mut Self| {
            if maker.rng.chance(50) { json!(false) } else { maker.subschema(depth) }
        };
        match self.rng.below(10) {
            0..=3 => drop(into.insert("properties".to_owned(), self.map(depth, |maker| *maker.rng.pick(&NAMES)))),
            4 => drop(into.insert("required".to_owned(), json!(self.names()))),
            5 => drop(into.insert("additionalProperties".to_owned(), boolean_or_schema(self))),
            6 => drop(into.insert("patternProperties".to_owned(), self.map(depth, Self::pattern))),
            7 if self.draft > Draft::D4 => drop(into.insert("propertyNames".to_owned(), self.subschema(depth))),
            8 => self.dependencies(depth, into),
            9 if self.draft >= Draft::D2019 => {
                drop(into.insert("unevaluatedProperties".to_owned(), boolean_or_schema(self)));
            }
            _ => self.counts(into),
        }
    }

    fn dependencies(&mut self, depth: usize, into: &mut Map<String, Value>) {
        let name = (*self.rng.pick(&NAMES)).to_owned();
        let on_names = self.rng.chance(50);
        let needed = if on_names { json!(self.names()) } else { self.subschema(depth) };
        let keyword = match (self.draft >= Draft::D2019, on_names) {
            (true, true) => "dependentRequired",
            (true, false) => "dependentSchemas",
            (false, _) => "dependencies",
        };
        into.insert(keyword.to_owned(), json!({ name: needed }));
    }

    fn combination(&mut self, depth: usize, into: &mut Map<String, Value>) {
        match self.rng.below(9) {
            0 | 1 => drop(into.insert("allOf".to_owned(), self.list(depth))),
            2..=4 => drop(into.insert("anyOf".to_owned(), self.list(depth))),
            5 | 6 => drop(into.insert("oneOf".to_owned(), self.list(depth))),
            7 if self.draft >= Draft::D7 => {
                into.insert("if".to_owned(), self.subschema(depth));
                for name in ["then", "else"] {
                    if self.rng.chance(70) {
                        into.insert(name.to_owned(), self.subschema(depth));
                    }
                }
            }
            _ => drop(into.insert("not".to_owned(), self.subschema(depth))),
        }
    }
}

/// Equal as JSON has it where either is a number, else as `Value` has it; coarse enough for distinct `enum` values.
fn same_number_or_value(a: &Value, b: &Value) -> bool {
    match (a.as_f64(), b.as_f64()) {
        (Some(a), Some(b)) => (a - b).abs() < f64::EPSILON,
        _ => a == b || (a.is_array() && b.is_array()) || (a.is_object() && b.is_object()),
    }
}
