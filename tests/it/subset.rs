//! What is said of two schemas, held against instances: nothing that is proven has a counterexample, and every instance that
//! is said to show a difference shows it.

use callgate::{Catalog, Draft, Effect, Options, SchemaChange, SchemaDiff, Session};
use serde_json::{Map, Value, json};

use crate::random::Rng;
use crate::{instances, schemas, shrink};

/// Instances for each pair.
const INSTANCES: usize = 24;

/// A compiled pair, and what is said of it.
struct Pair {
    old: Catalog,
    new: Catalog,
    diff: SchemaDiff,
}

impl Pair {
    /// `None` if a schema does not compile.
    fn new(old: &Value, new: &Value, options: &Options) -> Option<Pair> {
        let catalog = |schema: &Value| {
            let tools = json!([{"name": "t", "inputSchema": schema}]).to_string();
            let (catalog, _) = Catalog::compile(tools, options).expect("a catalog");
            catalog.tool("t")?.input()?;
            Some(catalog)
        };
        let (old, new) = (catalog(old)?, catalog(new)?);
        let diff = new.diff_from(&old).tools.remove(0).input.expect("both have one");
        Some(Pair { old, new, diff })
    }

    /// Whether old and new accept the instance; none where one declines.
    fn verdicts(&self, session: &mut Session, instance: &str) -> Option<(bool, bool)> {
        let mut judge = |catalog: &Catalog| match catalog.check(session, "t", instance) {
            callgate::Outcome::Accepted(_) => Some(true),
            callgate::Outcome::Rejected(_) => Some(false),
            _ => None,
        };
        Some((judge(&self.old)?, judge(&self.new)?))
    }

    /// Whether the instance contradicts what is said.
    fn is_refuted_by(&self, session: &mut Session, instance: &str) -> bool {
        let Some((old, new)) = self.verdicts(session, instance) else {
            return false;
        };
        match self.diff.change {
            SchemaChange::Unchanged | SchemaChange::Cosmetic => old != new,
            SchemaChange::Wider => old && !new,
            SchemaChange::Narrower => new && !old,
            SchemaChange::Incompatible | SchemaChange::Undecided => false,
        }
    }

    /// Whether every witness shows what its difference says, and a change that needs one has one.
    fn holds_together(&self, session: &mut Session) -> bool {
        let shown = self.diff.differences.iter().all(|difference| {
            let verdicts = difference.witness.as_ref().map(|witness| self.verdicts(session, witness));
            match difference.effect {
                Effect::Narrower => verdicts == Some(Some((true, false))),
                Effect::Wider => verdicts == Some(Some((false, true))),
                Effect::Cosmetic | Effect::Undecided => verdicts.is_none(),
            }
        });
        let has = |effect| self.diff.differences.iter().any(|difference| difference.effect == effect);
        shown && (self.diff.change != SchemaChange::Incompatible || has(Effect::Narrower) && has(Effect::Wider))
    }
}

/// A schema object somewhere in `schema`.
fn some_object<'v>(rng: &mut Rng, schema: &'v mut Value) -> Option<&'v mut Map<String, Value>> {
    fn count(value: &Value) -> usize {
        match value {
            Value::Object(members) => 1 + members.values().map(count).sum::<usize>(),
            Value::Array(elements) => elements.iter().map(count).sum(),
            _ => 0,
        }
    }
    fn nth<'v>(value: &'v mut Value, at: &mut usize) -> Option<&'v mut Map<String, Value>> {
        match value {
            Value::Object(members) => {
                if *at == 0 {
                    return Some(members);
                }
                *at -= 1;
                members.values_mut().find_map(|member| nth(member, at))
            }
            Value::Array(elements) => elements.iter_mut().find_map(|element| nth(element, at)),
            _ => None,
        }
    }
    let mut at = rng.below(count(schema));
    nth(schema, &mut at)
}

/// The schema with a keyword less, a keyword of another more, or a number that is another.
fn mutated(rng: &mut Rng, schema: &Value, other: &Value) -> Value {
    let mut mutated = schema.clone();
    for _ in 0..rng.between(1, 2) {
        let mut other = other.clone();
        let donor = some_object(rng, &mut other).map(|donor| donor.clone()).unwrap_or_default();
        let Some(object) = some_object(rng, &mut mutated) else {
            continue;
        };
        let key = object.keys().nth(rng.below(object.len())).cloned();
        match (rng.below(4), key) {
            (0, Some(key)) => drop(object.remove(&key)),
            (1, Some(key)) if object[&key].is_number() => drop(object.insert(key, schemas::number(rng))),
            (2, Some(key)) if object[&key].is_array() => {
                if let Some(Value::Array(list)) = object.get_mut(&key) {
                    let at = rng.below(list.len());
                    if !list.is_empty() {
                        list.remove(at);
                    }
                }
            }
            _ => {
                if let Some((key, value)) = donor.iter().nth(rng.below(donor.len())) {
                    object.insert(key.clone(), value.clone());
                }
            }
        }
    }
    mutated
}

fn other_of(rng: &mut Rng, draft: Draft) -> Value {
    loop {
        let (of, schema) = schemas::schema(rng);
        if of == draft {
            return schema;
        }
    }
}

#[derive(Debug, Default)]
struct Tally {
    pairs: usize,
    proven: usize,
    incompatible: usize,
    undecided: usize,
    unproven_without_difference: usize,
}

fn run(seed: u64, session: &mut Session, tally: &mut Tally) {
    let mut rng = Rng::new(seed);
    let (draft, old) = schemas::schema(&mut rng);
    let other = other_of(&mut rng, draft);
    let new = if rng.chance(80) { mutated(&mut rng, &old, &other) } else { other };
    let options = Options { draft, assert_formats: seed.is_multiple_of(2), ..Options::default() };
    let Some(pair) = Pair::new(&old, &new, &options) else {
        return;
    };
    assert!(pair.holds_together(session), "seed {seed}: {:?}\n{old}\n{new}", pair.diff);
    let mut differs = false;
    for at in 0..INSTANCES {
        let mut instance = instances::fitting(&mut rng, if at % 2 == 0 { &old } else { &new });
        if at % 3 == 0 {
            instance = instances::changed(&mut rng, &instance);
        }
        let text = instance.to_string();
        differs |= pair.verdicts(session, &text).is_some_and(|(old, new)| old != new);
        if pair.is_refuted_by(session, &text) {
            // The instance stands; the schemas are made smaller as long as it refutes what is said of them.
            let both = json!([old, new]);
            let (both, instance) = shrink::shrink((both, instance), |both, instance| {
                let pair = both.get(0).zip(both.get(1)).and_then(|(old, new)| Pair::new(old, new, &options));
                pair.is_some_and(|pair| pair.is_refuted_by(&mut Session::new(), &instance.to_string()))
            });
            panic!("seed {seed}, {draft:?}: said to be {}, but for {instance}\n{both}", pair.diff.change);
        }
    }
    tally.pairs += 1;
    match pair.diff.change {
        SchemaChange::Undecided => {
            tally.undecided += 1;
            tally.unproven_without_difference += usize::from(!differs);
        }
        SchemaChange::Incompatible => tally.incompatible += 1,
        _ => tally.proven += 1,
    }
}

#[test]
fn what_is_proven_has_no_counterexample() {
    let pairs: u64 = std::env::var("CALLGATE_PAIRS").ok().and_then(|pairs| pairs.parse().ok()).unwrap_or(1_200);
    let mut tally = Tally::default();
    let mut session = Session::new();
    for seed in 0..pairs {
        run(seed, &mut session, &mut tally);
    }
    assert!(tally.pairs * 2 > pairs as usize, "most pairs compile: {tally:?}");
    assert!(tally.undecided * 4 < tally.pairs, "most pairs are decided: {tally:?}");
}

/// Whatever keywords it has, a schema that only says more about itself is the same.
#[test]
fn a_schema_is_within_itself() {
    for seed in 0..500 {
        let (draft, schema) = schemas::schema(&mut Rng::new(seed));
        let options = Options { draft, ..Options::default() };
        let mut described = schema.clone();
        if let Value::Object(members) = &mut described {
            members.insert("description".to_owned(), json!("Another one."));
        }
        if let Some(pair) = Pair::new(&schema, &described, &options) {
            assert_eq!(pair.diff.change, SchemaChange::Cosmetic, "seed {seed}: {:?}\n{schema}", pair.diff);
        }
    }
}

/// Schemas inside each other, so that every step of a proof is inside another one, to the depth that ends it.
fn nested(levels: usize, wrap: impl Fn(Value, usize) -> Value) -> [Value; 2] {
    ["integer", "string"].map(|name| (0..levels).fold(json!({"type": name}), &wrap))
}

/// A proof goes down on the stack of the thread that asks for it, which may be small.
#[test]
fn a_deep_proof_fits_a_small_stack() {
    const STACK_BYTES: usize = 512 << 10;
    let shapes: [fn(Value, usize) -> Value; 7] = [
        |inner, _| json!({"properties": {"a": inner}, "required": ["a"]}),
        |inner, _| json!({"items": inner, "minItems": 1}),
        |inner, _| json!({"anyOf": [inner, {"type": "null"}]}),
        |inner, _| json!({"oneOf": [{"type": "null"}, {"properties": {"a": inner}, "required": ["a"]}]}),
        |inner, _| json!({"not": inner}),
        |inner, at| json!({"if": {"required": ["a"]}, "then": {"properties": {"a": inner}}, "minProperties": at % 3}),
        |inner, _| json!({"patternProperties": {"^a": inner}, "not": {"type": "array"}, "additionalProperties": {"type": "null"}}),
    ];
    let run = move || {
        for shape in shapes {
            for levels in [30, 120] {
                let [old, new] = nested(levels, shape);
                let options = Options::default();
                let pair = Pair::new(&old, &new, &options).expect("both compile");
                assert!(pair.holds_together(&mut Session::new()));
                assert_ne!(pair.diff.change, SchemaChange::Unchanged);
            }
        }
    };
    let thread = std::thread::Builder::new().stack_size(STACK_BYTES).spawn(run).expect("a thread");
    thread.join().expect("no assertion fails, and the stack is large enough");
}

/// What is large is compared within its steps: none of these takes a time that grows with the square of its size.
#[test]
fn large_schemas_are_compared_within_their_steps() {
    let names = |len: usize, mark: &str| -> Vec<Value> { (0..len).map(|at| json!(format!("{mark}{at}"))).collect() };
    let properties = |len: usize, name: &str| -> Value {
        (0..len).map(|at| (format!("p{at}"), json!({"type": name}))).collect::<Map<String, Value>>().into()
    };
    let branches = |len: usize, more: &str| -> Vec<Value> {
        let branch = |at| json!({"properties": {"tag": {"const": at}, "n": {"type": more}}, "required": ["tag"]});
        (0..len).map(branch).collect()
    };
    let pairs = [
        (json!({"properties": properties(12_000, "integer")}), json!({"properties": properties(12_000, "string")})),
        (
            json!({"properties": properties(12_000, "integer"), "additionalProperties": false}),
            json!({"properties": properties(11_999, "integer"), "additionalProperties": false}),
        ),
        (json!({"required": names(100_000, "a")}), json!({"required": names(100_000, "b")})),
        (json!({"enum": names(60_000, "a")}), json!({"enum": names(60_000, "b")})),
        (json!({"anyOf": branches(1_500, "integer")}), json!({"anyOf": branches(1_500, "string")})),
        (json!({"oneOf": branches(200, "integer")}), json!({"oneOf": branches(200, "number")})),
        (
            json!({"patternProperties": {"^a": {}, "^b": {"type": "null"}}, "properties": properties(6_000, "null")}),
            json!({"patternProperties": {"^a": {}, "^p": {"type": "null"}}, "properties": properties(5_000, "null")}),
        ),
    ];
    for (old, new) in pairs {
        let pair = Pair::new(&old, &new, &Options::default()).expect("both compile");
        assert!(pair.holds_together(&mut Session::new()));
        assert!(pair.diff.differences.len() <= 2 * 64, "{}", pair.diff.differences.len());
        let is_said = [SchemaChange::Unchanged, SchemaChange::Cosmetic].contains(&pair.diff.change);
        assert!(!is_said, "{:?}", pair.diff.change);
    }
}
