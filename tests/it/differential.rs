//! Everything that must agree, on random schemas and instances.
//!
//! ```text
//! schema ─┬─ as it is          instance ─┬─ text    ─► check ─┐
//!         ├─ without rewrites            ├─ `Value` ─► check  ├─► one verdict, one line
//!         ├─ one failure listed          ├─ other spelling    │   (members in another order, schema or
//!         ├─ little fuel                 ├─ judge on a tape   │    instance: one verdict; little fuel:
//!         └─ keys in another order       └─ explain          ─┘    the same, or a fault)
//!                  └───────────────────────────► the peers: the same verdict, or a listed reason
//! ```
//!
//! `CALLGATE_PAIRS` says how many pairs, `CALLGATE_SEED` where to start. A disagreement is shrunk before it is shown.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::thread;

use callgate::{Draft, Options, Outcome, Schema, Session};
use callgate_vm::execute::Bounds;
use callgate_vm::explain::{Explanation, Extent};
use callgate_vm::instance::Halt;
use callgate_vm::limits::NESTED_MAX;
use callgate_vm::missing::find_missing;
use callgate_vm::render::Renderer;
use callgate_vm::scratch::{Scratch, Stack};
use callgate_vm::tape::{ReadOptions, TapeBuf, TapeInstance};
use callgate_vm::{explain, judge};
use serde_json::Value;

use crate::instances;
use crate::peers::{Peer, Peers, jsonschema_of};
use crate::random::Rng;
use crate::schemas;
use crate::shrink::shrink;
use crate::verdict::Verdict;

/// Instances for each schema.
const INSTANCES: usize = 8;

/// Orders of a schema's keys that are tried.
const ORDERS: u64 = 2;

/// Problems of one kind that each worker minimises and shows.
const SHOWN_MAX: usize = 1;

/// So many take about 20 seconds in a debug build.
const PAIRS_DEFAULT: usize = 30_000;

/// Two answers that should be one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Problem {
    /// The schema does not compile, or only in one of its forms.
    Compile,
    /// The gate declined.
    Fault,
    /// Text and `Value`.
    Form,
    /// Judging and explaining.
    Explain,
    /// A rejection without failures, or without a line.
    Wordless,
    /// With rewrites and without.
    Peephole,
    /// With fused instructions and without.
    Fusion,
    /// One failure listed and all.
    Cap,
    /// A session used before and a fresh one.
    Session,
    /// Another spelling of the same text: spaces and escapes.
    Spelling,
    /// With little fuel: neither the same answer nor a fault.
    Fuel,
    /// The order of the instance's members.
    MemberOrder,
    /// The order of the schema's keys.
    KeyOrder,
    /// Something panicked.
    Panic,
    /// A peer says otherwise, and no reason is listed.
    Peer(Peer),
}

type Found = Option<(Problem, String)>;

/// One schema in all its forms.
struct Subject {
    plain: Schema,
    unrewritten: Schema,
    unfused: Schema,
    /// One failure listed, or little fuel: one of the two, to save time.
    limited: (Problem, Schema),
    reordered: Schema,
    peers: Peers,
    session: Session,
}

impl Subject {
    /// `order` says which order of keys the schema is written in. Errors: it does not compile; the kinds of the findings.
    fn new(draft: Draft, schema: &Value, order: u64) -> Result<Subject, Vec<&'static str>> {
        Self::compiled(schema, order, &Options { draft, ..Options::default() })
    }

    /// As [`new`](Self::new), with any options.
    fn compiled(schema: &Value, order: u64, options: &Options) -> Result<Subject, Vec<&'static str>> {
        let text = reordered(&mut Rng::new(order), schema);
        let compile = |text: &str, options: &Options| match Schema::compile(text, options) {
            Ok((schema, _)) => Ok(schema),
            Err(refused) => {
                Err(refused.report.findings.iter().map(|finding| finding.kind.as_str()).collect::<Vec<_>>())
            }
        };
        let mut limited = options.clone();
        let what = if text.len().is_multiple_of(2) { Problem::Cap } else { Problem::Fuel };
        match what {
            Problem::Cap => limited.limits.failures_max = 1,
            _ => limited.limits.call_fuel_max = 1 + text.len() as u64 % 50,
        }
        Ok(Subject {
            plain: compile(&text, options)?,
            unrewritten: compile(&text, &Options { peephole: false, ..options.clone() })?,
            unfused: compile(&text, &Options { fusion: false, ..options.clone() })?,
            limited: (what, compile(&text, &limited)?),
            reordered: compile(&schema.to_string(), options)?,
            peers: Peers::new(options.draft, schema),
            session: Session::new(),
        })
    }

    fn verdict(&mut self, text: &str) -> Verdict {
        self.plain.check(&mut self.session, text).into()
    }

    /// The first of the things that do not agree, the peers left out.
    fn inner_problem(&mut self, instance: &Value) -> Found {
        let text = instance.to_string();
        let verdict = self.verdict(&text);
        if let Verdict::Fault(code) = verdict {
            return Some((Problem::Fault, code.to_owned()));
        }
        if verdict.is_accepted() == verdict.line().starts_with("schema: ")
            || (verdict.code() == "") != verdict.is_accepted()
        {
            return Some((Problem::Wordless, format!("{verdict:?}")));
        }
        let mut fresh = Session::new();
        fresh.keep_evaluation_paths(true);
        let spelled = spelled(&mut Rng::new(text.len() as u64), instance);
        let others: [(Problem, Verdict); 6] = [
            (Problem::Form, self.plain.check(&mut self.session, instance).into()),
            (Problem::Session, self.plain.check(&mut fresh, text.as_str()).into()),
            (Problem::Peephole, self.unrewritten.check(&mut self.session, text.as_str()).into()),
            (Problem::Fusion, self.unfused.check(&mut self.session, text.as_str()).into()),
            (Problem::Spelling, self.plain.check(&mut self.session, spelled.as_str()).into()),
            (self.limited.0, self.limited.1.check(&mut self.session, text.as_str()).into()),
        ];
        for (problem, other) in others {
            if problem == Problem::Fuel && other == Verdict::Fault("fuel") {
                continue;
            }
            // Either may keep failures from being listed.
            let same_codes = matches!(problem, Problem::Cap | Problem::Fuel) || other == verdict;
            if other.is_accepted() != verdict.is_accepted() || other.line() != verdict.line() || !same_codes {
                return Some((problem, format!("{verdict:?} and {other:?}")));
            }
        }
        let explained = explain_alone(&self.plain, &text);
        if explained != (Ok(verdict.is_accepted()), Ok(verdict.is_accepted())) {
            return Some((Problem::Explain, format!("{verdict:?}; judged, explained: {explained:?}")));
        }
        self.order_problem(instance, verdict.is_accepted())
    }

    fn order_problem(&mut self, instance: &Value, accepted: bool) -> Found {
        let text = reordered(&mut Rng::new(accepted.into()), instance);
        let other = self.verdict(&text);
        if other.is_accepted() != accepted {
            return Some((Problem::MemberOrder, format!("{text}: {other:?}")));
        }
        let other: Verdict = self.reordered.check(&mut self.session, text.as_str()).into();
        (other.is_accepted() != accepted).then(|| (Problem::KeyOrder, format!("{other:?}")))
    }

    /// The peers that say otherwise.
    fn dissenters(&mut self, instance: &Value) -> Vec<Peer> {
        let accepted = self.verdict(&instance.to_string()).is_accepted();
        let verdicts = self.peers.verdicts(instance);
        verdicts.into_iter().filter(|(_, theirs)| *theirs != accepted).map(|(peer, _)| peer).collect()
    }
}

/// What does not agree about a schema compiled with these options, worded; the peers know no options. `None` as well where
/// the schema does not compile.
pub(crate) fn problem_with(options: &Options, schema: &Value, instances: &[Value]) -> Option<String> {
    let mut subject = Subject::compiled(schema, 1, options).ok()?;
    instances.iter().find_map(|instance| {
        let (problem, detail) = subject.inner_problem(instance)?;
        Some(format!("{problem:?}: {schema} and {instance}: {detail}"))
    })
}

/// The machine's two verdicts on a tape, without the facade between: accept code and explain code.
fn explain_alone(schema: &Schema, text: &str) -> (Result<bool, Halt>, Result<bool, Halt>) {
    let options = ReadOptions { depth_max: 256, bytes_max: 1 << 20, strict: true };
    let bounds = Bounds { fuel_max: 10_000_000, depth_max: 256, memo_max: 1 << 20, nested_max: NESTED_MAX };
    let mut buf = TapeBuf::new();
    let tape = buf.read(text.as_bytes(), options).expect("generated instances are JSON");
    let (mut stack, mut scratch, mut explanation) = (Stack::default(), Scratch::default(), Explanation::default());
    let mut judged = |nested_max| {
        let bounds = Bounds { nested_max, ..bounds };
        judge(schema.unit(), &mut TapeInstance::new(tape, 0), Some(&mut stack), &mut scratch, &bounds)
    };
    // Frames from the first block on, from the third on, and only beyond the usual depth.
    let (framed, mixed, judged) = (judged(0), judged(2), judged(NESTED_MAX));
    assert!(framed == judged && mixed == judged, "nested and framed differ: {text}");
    let mut explained = |nested_max, extent| {
        let bounds = Bounds { nested_max, ..bounds };
        let instance = TapeInstance::new(tape, 0);
        let explained = explain(schema.unit(), instance, &mut stack, &mut scratch, &mut explanation, &bounds, extent);
        let mut line = String::new();
        let renderer = Renderer { unit: schema.unit(), tape, explanation: &explanation, masked: false };
        renderer.write_line(&mut line).expect("a string takes every write");
        (explained, line)
    };
    let listed = explained(NESTED_MAX, Extent::Listed { failures_max: 1_000, evaluation_paths: false });
    // One failure is sought as all are listed: the same one speaks.
    for nested_max in [0, 2, NESTED_MAX] {
        assert_eq!(explained(nested_max, Extent::Speaking), listed, "sought and listed differ: {text}");
    }
    if listed.0 == Ok(false) {
        let mut missing = |nested_max| {
            let bounds = Bounds { nested_max, ..bounds };
            let explanation = &mut explanation;
            let listed = Extent::Listed { failures_max: 1_000, evaluation_paths: false };
            let (unit, instance) = (schema.unit(), TapeInstance::new(tape, 0));
            let explained = explain(unit, instance, &mut stack, &mut scratch, explanation, &bounds, listed);
            assert_eq!(explained, Ok(false), "{text}");
            let instance = TapeInstance::new(tape, 0);
            let found = find_missing(unit, instance, &mut stack, &mut scratch, explanation, &bounds, 1_000);
            let renderer = Renderer { unit, tape, explanation, masked: false };
            let mut pointers = String::new();
            for missing in renderer.missing() {
                renderer.write_missing(&mut pointers, missing).expect("a string takes every write");
            }
            (found, pointers)
        };
        // Whatever nests and whatever is framed, the same is missing.
        let nested = missing(NESTED_MAX);
        assert!(missing(0) == nested && missing(2) == nested, "what is missing differs: {text}");
    }
    (judged, listed.0)
}

/// The value's text with the members of every object in another order.
fn reordered(rng: &mut Rng, value: &Value) -> String {
    match value {
        Value::Array(elements) => {
            let elements: Vec<String> = elements.iter().map(|element| reordered(rng, element)).collect();
            format!("[{}]", elements.join(","))
        }
        Value::Object(members) => {
            let mut members: Vec<String> = members
                .iter()
                .map(|(name, member)| format!("{}:{}", Value::from(name.as_str()), reordered(rng, member)))
                .collect();
            rng.shuffle(&mut members);
            format!("{{{}}}", members.join(","))
        }
        scalar => scalar.to_string(),
    }
}

/// The value's text with spaces and escapes where they may be.
fn spelled(rng: &mut Rng, value: &Value) -> String {
    const SPACES: [&str; 5] = ["", "", " ", "\n", "\t \r"];
    let inside = match value {
        Value::Array(elements) => {
            let elements: Vec<String> = elements.iter().map(|element| spelled(rng, element)).collect();
            format!("[{}{}]", rng.pick(&SPACES), elements.join(","))
        }
        Value::Object(members) => {
            let members: Vec<String> = members
                .iter()
                .map(|(name, member)| format!("{}{}:{}", escaped(rng, name), rng.pick(&SPACES), spelled(rng, member)))
                .map(|member| format!("{}{member}", [" ", ""][member.len() % 2]))
                .collect();
            format!("{{{}{}}}", rng.pick(&SPACES), members.join(","))
        }
        Value::String(text) => escaped(rng, text),
        scalar => scalar.to_string(),
    };
    format!("{}{inside}{}", rng.pick(&SPACES), rng.pick(&SPACES))
}

/// The string with some of its characters as escapes.
fn escaped(rng: &mut Rng, text: &str) -> String {
    let mut escaped = String::from("\"");
    for c in text.chars() {
        if rng.chance(30) {
            for unit in c.encode_utf16(&mut [0; 2]) {
                write!(escaped, "\\u{unit:04x}").expect("a String takes every write");
            }
        } else {
            let quoted = Value::from(c.to_string()).to_string();
            escaped.push_str(&quoted[1..quoted.len() - 1]);
        }
    }
    escaped + "\""
}

// --- references that look at nothing ------------------------------------------------------------------------------

/// Keywords whose subschemas judge the instance itself.
const IN_PLACE: [&str; 10] =
    ["allOf", "anyOf", "oneOf", "not", "if", "then", "else", "dependentSchemas", "dependencies", "$ref"];

/// Whether references lead back to where they started without a step into the instance. `None`: dynamic references
/// leave it open.
fn has_cycle(draft: Draft, root: &Value) -> Option<bool> {
    if holds_keyword(root, &["$dynamicRef", "$recursiveRef"]) {
        return None;
    }
    let mut path = Vec::new();
    let mut done = Vec::new();
    let mut all = Vec::new();
    reachable(draft, root, root, &mut all);
    Some(all.iter().any(|schema| comes_back(draft, root, schema, &mut path, &mut done)))
}

fn holds_keyword(value: &Value, names: &[&str]) -> bool {
    match value {
        Value::Object(members) => {
            members.iter().any(|(name, member)| names.contains(&name.as_str()) || holds_keyword(member, names))
        }
        Value::Array(elements) => elements.iter().any(|element| holds_keyword(element, names)),
        _ => false,
    }
}

/// All schemas that judging can come to.
fn reachable<'v>(draft: Draft, root: &'v Value, schema: &'v Value, all: &mut Vec<&'v Value>) {
    if !schema.is_object() || all.iter().any(|known| std::ptr::eq(*known, schema)) {
        return;
    }
    all.push(schema);
    for (_, below) in applied(draft, root, schema, false) {
        reachable(draft, root, below, all);
    }
}

fn comes_back<'v>(
    draft: Draft,
    root: &'v Value,
    schema: &'v Value,
    path: &mut Vec<&'v Value>,
    done: &mut Vec<&'v Value>,
) -> bool {
    if path.iter().any(|above| std::ptr::eq(*above, schema)) {
        return true;
    }
    if done.iter().any(|known| std::ptr::eq(*known, schema)) {
        return false;
    }
    path.push(schema);
    let found = applied(draft, root, schema, true).iter().any(|(_, below)| comes_back(draft, root, below, path, done));
    path.pop();
    done.push(schema);
    found
}

/// The subschemas that a schema applies, with their keywords; only those in place if asked so.
fn applied<'v>(draft: Draft, root: &'v Value, schema: &'v Value, in_place: bool) -> Vec<(&'v str, &'v Value)> {
    let Value::Object(members) = schema else {
        return Vec::new();
    };
    if let (true, Some(Value::String(reference))) = (draft <= Draft::D7, members.get("$ref")) {
        return instances::resolve(root, reference).map(|target| ("$ref", target)).into_iter().collect();
    }
    let mut all = Vec::new();
    for (keyword, value) in members {
        let keyword = keyword.as_str();
        let beside_if = !matches!(keyword, "then" | "else") || members.contains_key("if");
        let beside_items = keyword != "additionalItems" || members.get("items").is_some_and(Value::is_array);
        if (in_place && !IN_PLACE.contains(&keyword)) || !beside_if || !beside_items {
            continue;
        }
        match (keyword, value) {
            ("$ref", Value::String(reference)) => {
                all.extend(instances::resolve(root, reference).map(|target| (keyword, target)));
            }
            ("enum" | "const" | "default" | "$defs" | "definitions" | "type" | "required", _) => {}
            ("properties" | "patternProperties" | "dependentSchemas" | "dependencies", Value::Object(inner)) => {
                all.extend(inner.values().map(|below| (keyword, below)));
            }
            (_, Value::Array(list)) => all.extend(list.iter().map(|below| (keyword, below))),
            (_, below) => all.push((keyword, below)),
        }
    }
    all
}

// --- known differences --------------------------------------------------------------------------------------------

/// Why a peer differs, and who is right.
struct Reason {
    peer: Peer,
    text: &'static str,
    /// The pair without what they differ about: there the two must agree, or this is not the reason.
    without: fn(Draft, &Value, &Value) -> (Value, Value),
}

/// Each was looked at in the specification or the peer's source before it was listed.
const REASONS: [Reason; 8] = [
    Reason {
        peer: Peer::Boon,
        text: "takes $recursiveRef under propertyNames for a loop; callgate is right: a name is another instance",
        without: |_, schema, instance| (without_keyword(schema, "propertyNames"), instance.clone()),
    },
    Reason {
        peer: Peer::Boon,
        text: "lets . match a carriage return; callgate is right: ECMA-262 has four line ends",
        without: |_, schema, instance| (schema.clone(), replaced(instance, |c| c == '\r')),
    },
    Reason {
        peer: Peer::Boon,
        text: "divides doubles; callgate is right: 0.3 is a multiple of 0.1",
        without: |_, schema, instance| (without_keyword(schema, "multipleOf"), instance.clone()),
    },
    Reason {
        peer: Peer::Boon,
        text: "heeds siblings of $ref in draft 6 and 7; callgate is right: they are ignored before 2019-09",
        without: |draft, schema, instance| {
            (if draft <= Draft::D7 { lone_references(schema) } else { schema.clone() }, instance.clone())
        },
    },
    Reason {
        peer: Peer::Jsonschema,
        text: "takes \\b and \\w for Unicode's; callgate is right: ECMA-262 has the ASCII ones",
        without: |_, schema, instance| (schema.clone(), replaced(instance, |c| !c.is_ascii())),
    },
    Reason {
        peer: Peer::Boon,
        text: "takes \\b for Unicode's; callgate is right: ECMA-262 has the ASCII one",
        without: |_, schema, instance| (schema.clone(), replaced(instance, |c| !c.is_ascii())),
    },
    Reason {
        peer: Peer::Boon,
        text: "takes 1.0 for an integer in draft 4; callgate is right: draft 4 has integers by their spelling",
        without: |_, schema, instance| (schema.clone(), whole(instance)),
    },
    Reason {
        peer: Peer::Jsonschema,
        text: "lets contains evaluate items in 2019-09; callgate is right: only 2020-12 does",
        without: |_, schema, instance| (without_keyword(schema, "contains"), instance.clone()),
    },
];

/// The reason why the peer and callgate differ on the pair, if it is listed.
fn known(draft: Draft, schema: &Value, instance: &Value, peer: Peer) -> Option<&'static str> {
    let (mut schema, mut instance) = (schema.clone(), instance.clone());
    for reason in REASONS.iter().filter(|reason| reason.peer == peer) {
        let changed = (reason.without)(draft, &schema, &instance);
        if changed == (schema, instance) {
            (schema, instance) = changed;
            continue;
        }
        (schema, instance) = changed;
        let agreed =
            Subject::new(draft, &schema, 0).is_ok_and(|mut subject| !subject.dissenters(&instance).contains(&peer));
        if agreed {
            return Some(reason.text);
        }
    }
    None
}

/// The value with its scalars, names included, mapped.
fn mapped(value: &Value, scalar: &impl Fn(&Value) -> Value) -> Value {
    let name = |name: &String| scalar(&Value::from(name.as_str())).as_str().unwrap_or_default().to_owned();
    match value {
        Value::Array(elements) => elements.iter().map(|element| mapped(element, scalar)).collect(),
        Value::Object(members) => members.iter().map(|(key, value)| (name(key), mapped(value, scalar))).collect(),
        other => scalar(other),
    }
}

/// Some characters of strings replaced by another letter.
fn replaced(value: &Value, which: impl Fn(char) -> bool) -> Value {
    mapped(value, &|scalar| match scalar {
        Value::String(text) => text.chars().map(|c| if which(c) { 'z' } else { c }).collect::<String>().into(),
        other => other.clone(),
    })
}

/// Numbers without a fraction spelled without a point.
fn whole(value: &Value) -> Value {
    mapped(value, &|scalar| match scalar.as_f64() {
        Some(number) if number.fract() == 0.0 && number.abs() < 1e15 => Value::from(number as i64),
        _ => scalar.clone(),
    })
}

/// References without siblings, but for what they lead to.
fn lone_references(schema: &Value) -> Value {
    let Value::Object(members) = schema else {
        return match schema {
            Value::Array(elements) => elements.iter().map(lone_references).collect(),
            other => other.clone(),
        };
    };
    let refers = members.get("$ref").is_some_and(Value::is_string);
    let kept =
        members.iter().filter(|(name, _)| !refers || ["$ref", "definitions", "$schema"].contains(&name.as_str()));
    kept.map(|(name, member)| (name.clone(), lone_references(member))).collect()
}

fn without_keyword(schema: &Value, keyword: &str) -> Value {
    match schema {
        Value::Array(elements) => elements.iter().map(|element| without_keyword(element, keyword)).collect(),
        Value::Object(members) => {
            let kept = members.iter().filter(|(name, _)| *name != keyword);
            kept.map(|(name, member)| (name.clone(), without_keyword(member, keyword))).collect()
        }
        other => other.clone(),
    }
}

// --- the run ------------------------------------------------------------------------------------------------------

#[derive(Default)]
struct Tally {
    schemas: usize,
    pairs: usize,
    accepted: usize,
    cycles: usize,
    taken: [usize; 2],
    classes: BTreeMap<(Peer, &'static str), usize>,
    /// How many, and some of them minimised.
    problems: BTreeMap<Problem, (usize, Vec<String>)>,
}

impl Tally {
    fn add(&mut self, other: Tally) {
        self.schemas += other.schemas;
        self.pairs += other.pairs;
        self.accepted += other.accepted;
        self.cycles += other.cycles;
        (0..2).for_each(|at| self.taken[at] += other.taken[at]);
        for (class, count) in other.classes {
            *self.classes.entry(class).or_default() += count;
        }
        for (problem, (count, shown)) in other.problems {
            let (counted, all) = self.problems.entry(problem).or_default();
            *counted += count;
            all.extend(shown);
        }
    }

    fn problem(&mut self, problem: Problem, shown: impl FnOnce() -> String) {
        let (count, all) = self.problems.entry(problem).or_default();
        *count += 1;
        if all.len() < SHOWN_MAX {
            all.push(shown());
        }
    }
}

/// What is wrong with a pair, whatever it is: the test of the shrinker too.
fn problem_of(draft: Draft, schema: &Value, instance: &Value, order: u64) -> Found {
    let found = catch_unwind(AssertUnwindSafe(|| {
        let mut subject = match Subject::new(draft, schema, order) {
            Ok(subject) => subject,
            Err(kinds) => return Some((Problem::Compile, format!("{kinds:?}"))),
        };
        if let Some(found) = subject.inner_problem(instance) {
            return Some(found);
        }
        let dissenters = subject.dissenters(instance);
        let unexplained = dissenters.into_iter().find(|peer| known(draft, schema, instance, *peer).is_none())?;
        let ours = subject.verdict(&instance.to_string());
        Some((Problem::Peer(unexplained), format!("callgate: {ours:?}, peers: {:?}", subject.peers.verdicts(instance))))
    }));
    found.unwrap_or_else(|_| Some((Problem::Panic, "a panic".to_owned())))
}

/// A problem of that kind on the smallest pair.
fn minimised(draft: Draft, schema: &Value, instance: &Value, problem: Problem) -> String {
    let find = |schema: &Value, instance: &Value| {
        // What no longer compiles, or loops, would be another problem, and the peers may not survive it.
        let safe = has_cycle(draft, schema) == Some(false) || Subject::new(draft, schema, 0).is_ok();
        let orders = if safe { 0..ORDERS } else { 0..0 };
        orders.into_iter().find_map(|order| {
            let (found, detail) = problem_of(draft, schema, instance, order)?;
            (found == problem).then_some((order, detail))
        })
    };
    let pair = (schema.clone(), instance.clone());
    let (schema, instance) = shrink(pair, |schema, instance| find(schema, instance).is_some());
    let (order, detail) = find(&schema, &instance).unwrap_or_default();
    format!("{draft:?} {}\n    on {instance}\n    {detail}", reordered(&mut Rng::new(order), &schema))
}

fn run_schema(seed: u64, session: &mut Session, tally: &mut Tally) {
    let mut rng = Rng::new(seed);
    let (draft, schema) = schemas::schema(&mut rng);
    tally.schemas += 1;
    let mut subject = match catch_unwind(|| Subject::new(draft, &schema, seed % ORDERS)) {
        Ok(Ok(subject)) if has_cycle(draft, &schema) != Some(true) => subject,
        Ok(Err(kinds)) if kinds.contains(&"ref_cycle") && has_cycle(draft, &schema) != Some(false) => {
            tally.cycles += 1;
            return;
        }
        Ok(Ok(_)) => return tally.problem(Problem::Compile, || format!("a cycle not seen: {draft:?} {schema}")),
        Ok(Err(kinds)) => return tally.problem(Problem::Compile, || format!("{kinds:?}: {draft:?} {schema}")),
        Err(_) => return tally.problem(Problem::Panic, || format!("{draft:?} {schema}")),
    };
    // What earlier calls of other schemas left behind must not matter.
    std::mem::swap(&mut subject.session, session);
    for (at, took) in subject.peers.took().into_iter().enumerate() {
        tally.taken[at] += usize::from(took);
    }
    let mut instance = Value::Null;
    for at in 0..INSTANCES {
        instance = match at % 4 {
            0 | 2 => instances::fitting(&mut rng, &schema),
            1 => instances::changed(&mut rng, &instance),
            _ if rng.chance(50) => schemas::value(&mut rng, 2),
            _ => instances::changed(&mut rng, &instance),
        };
        run_pair(&mut subject, draft, &schema, &instance, tally);
    }
    std::mem::swap(&mut subject.session, session);
}

fn run_pair(subject: &mut Subject, draft: Draft, schema: &Value, instance: &Value, tally: &mut Tally) {
    tally.pairs += 1;
    let found = catch_unwind(AssertUnwindSafe(|| subject.inner_problem(instance)));
    match found.unwrap_or_else(|_| Some((Problem::Panic, String::new()))) {
        Some((problem, _)) => {
            subject.session = Session::new();
            return tally.problem(problem, || minimised(draft, schema, instance, problem));
        }
        None => tally.accepted += usize::from(subject.verdict(&instance.to_string()).is_accepted()),
    }
    for peer in subject.dissenters(instance) {
        match known(draft, schema, instance, peer) {
            Some(reason) => *tally.classes.entry((peer, reason)).or_default() += 1,
            None => {
                let problem = Problem::Peer(peer);
                tally.problem(problem, || minimised(draft, schema, instance, problem));
            }
        }
    }
}

fn number_from(variable: &str, default: usize) -> usize {
    std::env::var(variable).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

#[test]
fn all_agree() {
    const WORKERS: u64 = 2;
    let schemas = (number_from("CALLGATE_PAIRS", PAIRS_DEFAULT) / INSTANCES) as u64;
    let seed = number_from("CALLGATE_SEED", 1) as u64 * 1_000_000_007;
    let work = |worker: u64| {
        let (mut tally, mut session) = (Tally::default(), Session::new());
        (0..schemas).filter(|at| at % WORKERS == worker).for_each(|at| run_schema(seed + at, &mut session, &mut tally));
        tally
    };
    let mut tally = Tally::default();
    thread::scope(|scope| {
        // Peers recurse.
        let builder = || thread::Builder::new().stack_size(64 << 20);
        let workers = (0..WORKERS).map(|worker| builder().spawn_scoped(scope, move || work(worker)).expect("spawns"));
        for worker in workers.collect::<Vec<_>>() {
            tally.add(worker.join().expect("a worker counts panics and has none"));
        }
    });
    report(&tally);
    assert!(tally.problems.is_empty(), "{} kinds of problems; see above", tally.problems.len());
}

#[allow(clippy::print_stdout)]
fn report(tally: &Tally) {
    let Tally { schemas, pairs, accepted, cycles, taken, .. } = tally;
    println!("{schemas} schemas ({cycles} with cycles; jsonschema took {}, boon {})", taken[0], taken[1]);
    println!("{pairs} pairs, {accepted} accepted");
    for ((peer, reason), count) in &tally.classes {
        println!("{count:>6}  {peer:?}: {reason}");
    }
    for (problem, (count, shown)) in &tally.problems {
        println!("{count:>6}  {problem:?}");
        for shown in shown {
            println!("    {shown}");
        }
    }
}

/// Pairs that once were judged wrongly, or in two ways.
#[test]
fn found_before() {
    #[track_caller]
    fn check(schema: &str, instance: &str, expected: &str) {
        let options = Options::default();
        let (schema, _) = Schema::compile(schema, &options).expect("compiles");
        let instance: Value = serde_json::from_str(instance).expect("is JSON");
        let text = instance.to_string();
        let verdict = Verdict::from(schema.check(&mut Session::new(), text.as_str()));
        assert_eq!(if verdict.is_accepted() { "accepted" } else { verdict.line() }, expected, "{verdict:?}");
        let accepted = expected == "accepted";
        assert_eq!(explain_alone(&schema, &text), (Ok(accepted), Ok(accepted)), "accept code and explain code");
    }
    // `additionalProperties` evaluates what it judges, wherever it stands.
    check(
        r#"{"unevaluatedProperties": false, "additionalProperties": {"type": "integer"}}"#,
        r#"{"a": 1}"#,
        "accepted",
    );
    check(
        r#"{"not": {"unevaluatedProperties": {"type": "null"}, "additionalProperties": true}}"#,
        r#"{"a": 1}"#,
        "schema: {'a': 1} should not be valid under \
         {'unevaluatedProperties': {'type': 'null'}, 'additionalProperties': True}",
    );
    // What a message lists outlives the union that it was found in.
    check(
        r##"{"oneOf": [{
            "unevaluatedProperties": {"allOf": [{"enum": [], "type": "string", "$dynamicRef": "#"}]},
            "additionalProperties": {"$ref": "#"}
        }]}"##,
        r#"{"x-1": {"ab": {"x-1": "b"}, "x-1": {"x-1": ""}}}"#,
        "accepted",
    );
}

/// Holds the line of a rejected call, and what speaks among all its failures.
#[track_caller]
fn rejects(schema: &str, call: &str, line: &str) {
    let schema = crate::verdict::compile(schema);
    assert_eq!(Verdict::from(schema.check(&mut Session::new(), call)).line(), line);
    assert_eq!(explain_alone(&schema, call), (Ok(false), Ok(false)));
}

/// What another instruction, or another branch, has found about a sibling does not settle which of the others speaks.
#[test]
fn siblings_that_fail_by_several_keywords() {
    let deep = r#""b": {"properties": {"x": {"type": "string"}}}"#;
    let by = |keywords: &str| format!(r#"{{{keywords}, "properties": {{"aa": {{"type": "string"}}, {deep}}}}}"#);
    let object = r#"{"a": 1, "aa": 1, "b": {"x": 1}}"#;
    for keywords in [
        r#""patternProperties": {"^a$": {"type": "string"}}"#,
        r#""allOf": [{"properties": {"a": {"type": "string"}}}]"#,
        r#""additionalProperties": {"type": "string"}"#,
    ] {
        rejects(&by(keywords), object, "schema: 1 is not of type 'string' at aa");
    }
    let row = r#"{"type": "object", "properties": {"x": {"type": "string"}}}"#;
    let tuple = format!(r#"{{"prefixItems": [{{"type": "string"}}], "items": {row}}}"#);
    rejects(&tuple, r#"[1, 1, {"x": 1}]"#, "schema: 1 is not of type 'object' at 1");
    rejects(&format!(r#"{{"items": {row}}}"#), r#"[{"x": 1}, 1, {"x": 1}]"#, "schema: 1 is not of type 'object' at 1");
}

/// In a search each child is explained once, however deep it is.
#[test]
fn deep_searches_end() {
    let rows = r##"{"properties": {"v": {"$ref": "#/$defs/A"}}, "$defs": {"A": {
        "type": ["array", "string"], "items": {"$ref": "#/$defs/A"}}}}"##;
    let path = "/1".repeat(100);
    let call = format!(r#"{{"v": {}1{}}}"#, "[[],".repeat(100), "]".repeat(100));
    rejects(rows, &call, &format!("schema: 1 is not of type 'array', 'string' at v{path}"));
    let tree =
        r##"{"type": "object", "properties": {"a": {"$ref": "#"}, "b": {"$ref": "#"}, "x": {"type": "string"}}}"##;
    let chain = |depth: usize| format!("{}{}{}", r#"{"b":"#.repeat(depth), r#"{"x":1}"#, "}".repeat(depth));
    let mut call = r#"{"x":1}"#.to_owned();
    for depth in 0..40 {
        call = format!(r#"{{"a":{},"b":{call}}}"#, chain(depth));
    }
    rejects(tree, &call, &format!("schema: 1 is not of type 'string' at {}/x", ["b"; 40].join("/")));
}

/// Rejections keep their parts together; `Outcome` is what hosts match on.
#[test]
fn a_rejection_is_one_outcome() {
    let schema = crate::verdict::compile(r#"{"minimum": 3, "multipleOf": 2}"#);
    let mut session = schema.session(64);
    match schema.check(&mut session, "1") {
        Outcome::Rejected(rejection) => {
            assert_eq!(rejection.failures().count(), 2);
            assert_eq!(rejection.to_owned().line(), rejection.to_string());
        }
        other => panic!("{other:?}"),
    }
}

/// A schema that its metaschema refuses, as a peer reads that, does not compile; no other is said to be malformed.
#[test]
fn well_formed_is_what_the_metaschema_says() {
    let (mut good, mut bad) = (0, 0);
    let peers = Draft::ALL.map(metaschema);
    let metaschema = |draft| &peers[draft as usize];
    for seed in 0..6_000 {
        let mut rng = Rng::new(seed);
        let (draft, schema) = schemas::schema(&mut rng);
        let schema = instances::changed(&mut rng, &schema);
        let Value::Object(members) = &schema else {
            continue;
        };
        // `$schema` would choose another metaschema, or none.
        let mut schema = members.clone();
        schema.insert("$schema".to_owned(), Value::from(format!("{}#", draft.uri())));
        let schema = Value::Object(schema);
        let well_formed = metaschema(draft).is_valid(&schema);
        let (compiles, findings) = match Schema::compile(schema.to_string(), &Options::default()) {
            Ok((_, report)) => (true, report.findings),
            Err(refused) => (false, refused.report.findings),
        };
        let refused = findings.iter().any(|finding| finding.kind.as_str() == "not_well_formed");
        // No metaschema asserts what a URI reference is. In draft 4 the peer lets `enum` be empty, where the published
        // metaschema does not, and none says that a reference is a string.
        let stricter = findings.iter().any(|finding| {
            let id = finding.detail.ends_with("is not a URI reference");
            id || (draft == Draft::D4 && ["/enum", "/$ref"].iter().any(|end| finding.pointer.ends_with(end)))
        });
        let lenient = schema.to_string().contains(r#""prefixItems":[]"#);
        let shown = || findings.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ");
        assert!(well_formed || !compiles || lenient, "compiles: {schema}\n{}", shown());
        assert!(!well_formed || !refused || stricter, "refused: {schema}\n{}", shown());
        if well_formed { good += 1 } else { bad += 1 }
    }
    assert!(good > 1_000 && bad > 1_000, "{good} well-formed, {bad} not");
}

/// A metaschema judges schemas as instances: recursion, dynamic references and all.
#[test]
fn metaschemas_judge_as_the_peer_does() {
    for draft in Draft::ALL {
        let ours = crate::verdict::compile(&reference_to_metaschema(draft).to_string());
        let (peer, mut session) = (metaschema(draft), ours.session(4_096));
        for seed in 0..1_500 {
            let mut rng = Rng::new(seed);
            let (of, schema) = schemas::schema(&mut rng);
            let schema = if rng.chance(60) { instances::changed(&mut rng, &schema) } else { schema };
            if of == draft {
                let verdict = Verdict::from(ours.check(&mut session, &schema));
                // As above: the published draft 4 says more about `enum`.
                let stricter = draft == Draft::D4 && verdict.line().contains("enum");
                assert!(stricter || verdict.is_accepted() == peer.is_valid(&schema), "{schema}: {verdict:?}");
            }
        }
    }
}

fn reference_to_metaschema(draft: Draft) -> Value {
    let (uri, end) = (draft.uri(), if draft <= Draft::D7 { "#" } else { "" });
    serde_json::json!({"$schema": format!("{uri}{end}"), "$ref": uri})
}

/// The peer's reading of a metaschema, formats left aside.
fn metaschema(draft: Draft) -> jsonschema::Validator {
    jsonschema_of(draft, &reference_to_metaschema(draft)).expect("the peer knows the metaschema")
}

#[test]
fn cycles_are_seen_by_the_test_itself() {
    #[track_caller]
    fn check(schema: &str, expected: Option<bool>) {
        let schema: Value = serde_json::from_str(schema).expect("is JSON");
        assert_eq!(has_cycle(Draft::D2020, &schema), expected);
    }
    check(r##"{"$ref": "#"}"##, Some(true));
    check(r##"{"items": {"$ref": "#"}}"##, Some(false));
    check(
        r##"{"items": {"allOf": [{"$ref": "#/$defs/a"}]}, "$defs": {"a": {"not": {"$ref": "#/$defs/a"}}}}"##,
        Some(true),
    );
    check(r##"{"$defs": {"a": {"$ref": "#/$defs/a"}}}"##, Some(false));
    check(r##"{"$dynamicRef": "#"}"##, None);
}

#[test]
fn other_orders_and_spellings_keep_the_value() {
    let value: Value = serde_json::from_str(r#"{"a": [1, {"b": 2, "\"c🐲": "\n\\"}], "d": {}}"#).expect("is JSON");
    for seed in 0..20 {
        for text in [reordered(&mut Rng::new(seed), &value), spelled(&mut Rng::new(seed), &value)] {
            assert_eq!(serde_json::from_str::<Value>(&text).ok().as_ref(), Some(&value), "{text}");
        }
    }
}

/// Broken texts: what serde_json does not read is not JSON to callgate either, whatever the schema says, and the other way
/// round. Only callgate minds a name that stands twice.
#[test]
fn broken_texts_are_not_json() {
    let (mut broken, mut whole) = (0, 0);
    for seed in 0..20_000 {
        let mut rng = Rng::new(seed);
        let schema = ["{}", "false", r#"{"type": "object", "required": ["a"]}"#, r#"{"items": {"uniqueItems": true}}"#];
        let schema = crate::verdict::compile(schema[rng.below(4)]);
        let value = schemas::value(&mut rng, 3);
        let mut text = spelled(&mut rng, &value).into_bytes();
        damage(&mut rng, &mut text);
        let verdict = crate::verdict::judge(&schema, text.as_slice());
        let reads = serde_json::from_slice::<Value>(&text).is_ok();
        let shown = String::from_utf8_lossy(&text);
        match verdict.code() {
            "duplicate_member" => {}
            "not_json" => assert!(!reads, "{shown}: {verdict:?}"),
            _ => assert!(reads, "{shown}: {verdict:?}"),
        }
        if reads { whole += 1 } else { broken += 1 }
    }
    assert!(broken > 2_000 && whole > 2_000, "{broken} broken, {whole} whole");
}

/// Cuts the text off, or changes, adds or takes away a byte.
fn damage(rng: &mut Rng, text: &mut Vec<u8>) {
    const BYTES: &[u8] = b"{}[],:\"\\ntu0-1.eE+ \n\xff\xc3\x00";
    let at = rng.below(text.len());
    let byte = *rng.pick(BYTES);
    match rng.below(4) {
        0 => text.truncate(at),
        1 => text[at] = byte,
        2 => text.insert(at, byte),
        _ => drop(text.remove(at)),
    }
}

/// Arrays are searched for equal elements in three ways, by how many there are and of what kind: all of them find the same.
#[test]
fn equal_elements_are_found_at_any_length() {
    const PAIRS: [(&str, &str); 5] = [
        ("1", "1.0"),
        (r#""b""#, r#""\u0062""#),
        ("null", "null"),
        ("123456789012345678901", "123456789012345678901"),
        ("true", "true"),
    ];
    let schema = crate::verdict::compile(r#"{"uniqueItems": true}"#);
    let check = |elements: &[String], unique: bool| {
        let text = format!("[{}]", elements.join(","));
        let value: Value = serde_json::from_str(&text).unwrap();
        for verdict in [crate::verdict::judge(&schema, text.as_bytes()), crate::verdict::judge(&schema, &value)] {
            assert_eq!(verdict.is_accepted(), unique, "{text}: {verdict:?}");
        }
    };
    for len in 2..=20 {
        // With and without an element that is no scalar.
        for last in [Some("[1]"), None] {
            let mut elements: Vec<String> =
                (2..len).map(|at| if at % 2 == 0 { at.to_string() } else { format!("\"{at}\"") }).collect();
            elements.extend(last.map(str::to_owned));
            check(&elements, true);
            for (one, other) in PAIRS {
                let mut equal = elements.clone();
                equal.insert(0, one.to_owned());
                check(&equal, true);
                equal.insert(len / 2, other.to_owned());
                check(&equal, false);
            }
        }
    }
}
