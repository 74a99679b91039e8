//! A host's own objects, judged without conversion: not JSON wherever it stands, cycles, and the same lines as text.

use std::collections::HashMap;

use allocation_counter::measure;
use callgate::{Halt, Instance, Member, Number, Options, Schema, Session, Stack, Text, View};
use serde_json::Value;

use crate::random::Rng;
use crate::verdict::{Verdict, compile, judge};
use crate::{instances, schemas};

/// A value of a dynamic language.
#[derive(Clone, Debug)]
enum Object {
    None,
    Bool(bool),
    Int(i64),
    Float(f64),
    /// An integer of any size, as its digits.
    Long(String),
    Str(String),
    List(Vec<usize>),
    Dict(Vec<(String, usize)>),
    /// What JSON does not have, by its name.
    NotJson(&'static str),
}

/// Objects by number, so that they can hold one another in a circle.
#[derive(Debug, Default)]
pub(crate) struct Heap {
    objects: Vec<Object>,
    root: usize,
}

impl Heap {
    fn add(&mut self, object: Object) -> usize {
        self.objects.push(object);
        self.objects.len() - 1
    }

    pub(crate) fn of(value: &Value) -> Heap {
        let mut heap = Heap::default();
        heap.root = heap.add_value(value);
        heap
    }

    /// A list that holds itself.
    pub(crate) fn inside_itself() -> Heap {
        let mut heap = Heap::default();
        heap.root = heap.add(Object::List(vec![0]));
        heap
    }

    fn add_value(&mut self, value: &Value) -> usize {
        let object = match value {
            Value::Null => Object::None,
            Value::Bool(is) => Object::Bool(*is),
            Value::Number(number) => match (number.as_i64(), number.as_f64()) {
                (Some(int), _) => Object::Int(int),
                (None, Some(float)) if number.is_f64() => Object::Float(float),
                _ => Object::Long(number.to_string()),
            },
            // Sets, keys that are no strings and NaN have no JSON: these stand for them.
            Value::String(text) if text == "<set>" => Object::NotJson("set"),
            Value::String(text) if text == "<keys>" => Object::NotJson("a dict with a key that is no string"),
            Value::String(text) if text == "<nan>" => Object::Float(f64::NAN),
            Value::String(text) => Object::Str(text.clone()),
            Value::Array(elements) => Object::List(elements.iter().map(|element| self.add_value(element)).collect()),
            Value::Object(members) => {
                Object::Dict(members.iter().map(|(name, member)| (name.clone(), self.add_value(member))).collect())
            }
        };
        self.add(object)
    }
}

/// The heap as an instance.
#[derive(Clone, Copy)]
pub(crate) struct Host<'h>(pub(crate) &'h Heap);

#[derive(Clone, Copy, Debug)]
pub(crate) enum Place<'h> {
    Object(usize),
    Name(&'h str),
}

impl<'h> Instance<'h> for Host<'h> {
    type Node = Place<'h>;
    type Members = std::slice::Iter<'h, (String, usize)>;
    type Elements = std::slice::Iter<'h, usize>;

    fn root(&self) -> Place<'h> {
        Place::Object(self.0.root)
    }

    fn identity(&self, node: Place<'h>) -> Option<u64> {
        match node {
            Place::Object(at) => Some(at as u64),
            Place::Name(_) => None,
        }
    }

    fn view(&mut self, node: Place<'h>) -> Result<View<'h>, Halt> {
        let at = match node {
            Place::Name(name) => return Ok(View::String(Text::plain_text(name))),
            Place::Object(at) => at,
        };
        Ok(match &self.0.objects[at] {
            Object::None => View::Null,
            Object::Bool(is) => View::Bool(*is),
            Object::Int(int) => View::Number(Number::Int(*int)),
            Object::Float(float) if float.is_nan() => View::NotJson("NaN"),
            Object::Float(float) => View::Number(Number::from_f64(*float)),
            Object::Long(digits) => View::Number(Number::parse(digits).map_err(|_| callgate::FaultCode::Number)?),
            Object::Str(text) => View::String(Text::plain_text(text)),
            Object::List(_) => View::Array,
            Object::Dict(_) => View::Object,
            Object::NotJson(what) => View::NotJson(what),
        })
    }

    fn members(&mut self, node: Place<'h>) -> Self::Members {
        match node {
            Place::Object(at) => match &self.0.objects[at] {
                Object::Dict(members) => members.iter(),
                _ => [].iter(),
            },
            Place::Name(_) => [].iter(),
        }
    }

    fn next_member(&mut self, at: &mut Self::Members) -> Result<Option<Member<'h, Place<'h>>>, Halt> {
        Ok(at.next().map(|(name, value)| Member {
            name: Text::plain_text(name),
            name_node: Place::Name(name),
            value: Place::Object(*value),
        }))
    }

    fn elements(&mut self, node: Place<'h>) -> Self::Elements {
        match node {
            Place::Object(at) => match &self.0.objects[at] {
                Object::List(elements) => elements.iter(),
                _ => [].iter(),
            },
            Place::Name(_) => [].iter(),
        }
    }

    fn next_element(&mut self, at: &mut Self::Elements) -> Result<Option<Place<'h>>, Halt> {
        Ok(at.next().map(|at| Place::Object(*at)))
    }
}

fn judge_host(schema: &Schema, heap: &Heap) -> Verdict {
    let mut session = Session::new();
    let mut stack = Stack::default();
    schema.check_instance(&mut session, &mut stack, &mut Host(heap)).into()
}

#[track_caller]
fn check_not_json(schema: &str, call: &str, line: &str, location: &str) {
    let schema = compile(schema);
    let heap = Heap::of(&serde_json::from_str(call).expect("is JSON"));
    let mut session = Session::new();
    let mut stack = Stack::default();
    match schema.check_instance(&mut session, &mut stack, &mut Host(&heap)) {
        callgate::Outcome::Rejected(rejection) => {
            let failures: Vec<_> = rejection.failures().collect();
            assert_eq!(failures.len(), 1);
            assert_eq!((failures[0].code(), failures[0].keyword()), ("not_json", None));
            assert_eq!(failures[0].instance_location(), location);
            assert_eq!(rejection.to_string(), line);
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn not_json_is_a_failure_wherever_it_stands() {
    let line = "schema: arguments are not valid JSON: set is no JSON value";
    // Where a keyword looks, where none does, and where the schema says something else is wrong.
    check_not_json(r#"{"properties": {"a": {"type": "array"}}}"#, r#"{"a": "<set>"}"#, &format!("{line} at a"), "/a");
    check_not_json("{}", r#"{"b": [0, {"c/d": "<set>"}]}"#, &format!("{line} at b/1/c~1d"), "/b/1/c~1d");
    check_not_json(r#"{"required": ["x"]}"#, r#"{"b": "<set>"}"#, &format!("{line} at b"), "/b");
    check_not_json("true", r#""<set>""#, line, "");
    check_not_json("false", r#""<set>""#, line, "");
    check_not_json(r#"{"not": {"type": "string"}}"#, r#""<set>""#, line, "");
    check_not_json(r#"{"anyOf": [{"type": "null"}, {}]}"#, r#"["<set>"]"#, &format!("{line} at 0"), "/0");
    check_not_json(r#"{"uniqueItems": true}"#, r#"[1, "<set>"]"#, &format!("{line} at 1"), "/1");
    check_not_json(r#"{"enum": [{"a": 1}]}"#, r#"{"a": "<set>"}"#, &format!("{line} at a"), "/a");
    check_not_json(
        "{}",
        r#"{"x": 1.5, "y": "<nan>"}"#,
        "schema: arguments are not valid JSON: NaN is no JSON value at y",
        "/y",
    );
}

/// Writing its line allocates no more than that of any other rejection: nothing.
#[test]
fn the_line_of_not_json_allocates_nothing() {
    let schema = compile("{}");
    let heap = Heap::of(&serde_json::json!({"a": [1, {"b": "<set>"}]}));
    let (mut session, mut stack) = (schema.session(64), Stack::default());
    let mut line = String::with_capacity(1 << 10);
    match schema.check_instance(&mut session, &mut stack, &mut Host(&heap)) {
        callgate::Outcome::Rejected(rejection) => {
            let written = measure(|| rejection.write_line(&mut line, "").expect("a String takes every write"));
            assert_eq!(written.count_total, 0, "{line}");
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_cycle_ends_at_the_depth() {
    #[track_caller]
    fn check(schema: &str, heap: &Heap) {
        assert_eq!(judge_host(&compile(schema), heap), Verdict::Fault("depth"));
    }
    let list = Heap::inside_itself();
    let mut dict = Heap::default();
    let inner = dict.add(Object::None);
    dict.root = dict.add(Object::Dict(vec![("a".to_owned(), inner), ("me".to_owned(), 1)]));
    for heap in [&list, &dict] {
        for schema in [
            "{}",
            "false",
            r#"{"type": "object"}"#,
            r##"{"items": {"$ref": "#"}, "additionalProperties": {"$ref": "#"}}"##,
            r#"{"uniqueItems": true, "const": [[[]]]}"#,
            r##"{"unevaluatedItems": {"$ref": "#"}, "unevaluatedProperties": {"$ref": "#"}}"##,
        ] {
            check(schema, heap);
        }
    }
    // Not a cycle, only twice the same: that is two values.
    let mut shared = Heap::default();
    let one = shared.add(Object::Int(1));
    let pair = shared.add(Object::List(vec![one, one]));
    shared.root = shared.add(Object::List(vec![pair, pair]));
    assert_eq!(judge_host(&compile(r#"{"items": {"items": {"const": 1}}}"#), &shared), Verdict::Accepted);
    let verdict = judge_host(&compile(r#"{"uniqueItems": true}"#), &shared);
    assert_eq!(verdict.line(), "schema: [[1, 1], [1, 1]] has non-unique elements");
}

#[test]
fn shared_objects_are_judged_under_each_path() {
    let mut heap = Heap::default();
    let one = heap.add(Object::Str("x".to_owned()));
    heap.root = heap.add(Object::Dict(vec![("a".to_owned(), one), ("b".to_owned(), one)]));
    let verdict = judge_host(&compile(r#"{"properties": {"a": {}, "b": {"type": "integer"}}}"#), &heap);
    assert_eq!(verdict.line(), "schema: 'x' is not of type 'integer' at b");
}

#[test]
fn host_objects_have_the_lines_of_text() {
    let mut verdicts = HashMap::new();
    for seed in 0..3_000 {
        let mut rng = Rng::new(seed);
        let (draft, schema) = schemas::schema(&mut rng);
        let options = Options { draft, ..Options::default() };
        let Ok((compiled, _)) = Schema::compile(schema.to_string(), &options) else {
            continue;
        };
        let fitting = instances::fitting(&mut rng, &schema);
        for instance in [instances::changed(&mut rng, &fitting), fitting] {
            let text = instance.to_string();
            let expected = judge(&compiled, text.as_str());
            assert_eq!(judge_host(&compiled, &Heap::of(&instance)), expected, "{schema} on {text}");
            *verdicts.entry(expected.is_accepted()).or_insert(0) += 1;
        }
    }
    assert!(verdicts.len() == 2 && verdicts.values().all(|count| *count > 500), "{verdicts:?}");
}

#[test]
fn long_numbers_and_infinities() {
    let schema = compile(r#"{"maximum": 18446744073709551615}"#);
    let mut heap = Heap::default();
    heap.root = heap.add(Object::Long("18446744073709551616".to_owned()));
    let line = "schema: 18446744073709551616 is greater than the maximum of 18446744073709551615";
    assert_eq!(judge_host(&schema, &heap).line(), line);
    heap.objects[0] = Object::Long("9".repeat(4_400));
    assert_eq!(judge_host(&schema, &heap), Verdict::Fault("number"));
    heap.objects[0] = Object::Float(f64::INFINITY);
    assert_eq!(judge_host(&schema, &heap).line(), "schema: inf is greater than the maximum of 18446744073709551615");
}
