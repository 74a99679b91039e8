//! An instance that shows a difference: accepted by the schema that is given, rejected by the goal.
//!
//! ```text
//! path to the obstacle ─► samples of what lies around, with a hole ─┐
//! what is given there, and what the goal asks for ─► variants ──────┴─► texts ─► both units ─► the first that shows it
//! ```
//!
//! Whatever is tried may be wrong: the units have the last word.

use callgate_vm::instance::View;
use callgate_vm::number::Number;

use crate::document::SCHEMA_READ;
use crate::ir::{Count, Rule};
use crate::subset::given::{Case, Given, Index, Kinds, Name};
use crate::subset::sample::{HOLE, matching, write_string};
use crate::subset::scalar::{greatest_count, least_count};
use crate::subset::{At, Compare, Side, given_weight};

/// Texts that one direction of a comparison may try. Unit: instances.
const TRIES_MAX: u32 = 4_000;

/// How often an instance is made of what is given, about. Unit: looks at each name.
const LOOKS_PER_NAME: usize = 32;

/// Bytes of an instance that are judged for what a look at a name costs.
const BYTES_PER_LOOK: usize = 4;

/// Variants of one value. Unit: instances.
const VARIANTS_MAX: usize = 96;

/// How far down elements are varied for `contains`. Unit: levels.
const ELEMENTS_DEPTH: u32 = 2;

/// Of those, how many are tried. Unit: elements.
const CONTAINED_MAX: usize = 32;

/// Strings and arrays that are made longer than this show no more. Unit: characters, elements.
const LEN_MAX: u32 = 2_000;

/// A step from an instance to one of its children.
#[derive(Clone, Debug)]
pub(super) struct Step<'d> {
    /// What is given of the parent.
    pub(super) parent: Given<'d>,
    /// What the parent is to satisfy.
    pub(super) goal: At,
    pub(super) to: To<'d>,
}

/// A child.
#[derive(Clone, Copy, Debug)]
pub(super) enum To<'d> {
    /// The member that a schema names.
    Member(&'d str),
    /// A member that none names, by way of example.
    OpenMember(&'d str),
    /// An element.
    Element(u32),
}

impl<'d> Compare<'_, 'd> {
    /// JSON text of an instance that shows that the goal does not follow from what is given. `first` is a value to try before
    /// all others.
    pub(super) fn witness(&mut self, given: &Given<'d>, goal: At, first: Option<String>) -> Option<String> {
        // What is large is looked at again for each variant.
        if !self.charge(given_weight(given).saturating_mul(LOOKS_PER_NAME)) {
            return None;
        }
        let (before, after) = self.surroundings()?;
        let variants = first.into_iter().chain(self.variants(given, goal, ELEMENTS_DEPTH)).collect::<Vec<_>>();
        variants.into_iter().find_map(|value| {
            let text = format!("{before}{value}{after}");
            // What is around the value may be rejected as well, and for reasons of its own.
            let is_it = self.accepts_json(goal, &value) != Some(true);
            (is_it && self.shows(&text, goal.side)).then_some(text)
        })
    }

    /// The text of an instance around the value at the end of the path.
    fn surroundings(&mut self) -> Option<(String, String)> {
        let path = std::mem::take(&mut self.path);
        let around = |inner: String, step: &Step<'d>| self.around_child(step, &inner);
        let text = path.iter().rev().try_fold(HOLE.to_owned(), around);
        self.path = path;
        let text = text?;
        let (before, after) = text.split_once(HOLE)?;
        Some((before.to_owned(), after.to_owned()))
    }

    /// The text of a parent, which but for the child satisfies both sides where that can be.
    fn around_child(&mut self, step: &Step<'d>, inner: &str) -> Option<String> {
        let both = self.given_case(&step.parent, &Case { all: vec![step.goal], nots: Vec::new() });
        self.around(&both, step.to, inner).or_else(|| self.around(&step.parent, step.to, inner))
    }

    /// Whether the units disagree about it: the goal's rejects what the other accepts.
    fn shows(&mut self, text: &str, goal: Side) -> bool {
        self.tried += 1;
        if self.tried > TRIES_MAX || !self.charge(text.len() / BYTES_PER_LOOK) {
            return false;
        }
        let given = if goal == Side::New { Side::Old } else { Side::New };
        let mut buf = std::mem::take(&mut self.judge.text);
        let shows = buf.read_text(text, SCHEMA_READ).is_ok_and(|tape| {
            self.judge.run(self.units[given as usize], (tape, 0)) == Some(true)
                && self.judge.run(self.units[goal as usize], (tape, 0)) == Some(false)
        });
        self.judge.text = buf;
        shows
    }

    /// Values that are given, near to where the goal may draw its line.
    fn variants(&mut self, given: &Given<'d>, goal: At, depth: u32) -> Vec<String> {
        let mut goals = self.given(&[goal]);
        // What the goal's branches ask for is where its lines are.
        let branches: Vec<At> = goals.unions.drain(..).flatten().flat_map(|case| case.all).collect();
        let branches = self.given(&branches);
        goals.facts.extend(branches.facts);
        let mut variants = self.sample(given).into_iter().collect::<Vec<_>>();
        if given.kinds.meets(Kinds::NULL) {
            variants.push("null".to_owned());
        }
        if given.kinds.meets(Kinds::BOOLEAN) {
            variants.extend(["true".to_owned(), "false".to_owned()]);
        }
        if given.kinds.meets(Kinds::NUMBER) {
            self.numbers(given, &goals, &mut variants);
        }
        if given.kinds.meets(Kinds::STRING) {
            self.strings(given, &goals, &mut variants);
        }
        if given.kinds.meets(Kinds::ARRAY) {
            self.arrays(given, &goals, depth, &mut variants);
        }
        if given.kinds.meets(Kinds::OBJECT) {
            self.objects(given, &goals, &mut variants);
        }
        variants.truncate(VARIANTS_MAX);
        variants
    }

    fn numbers(&mut self, given: &Given<'d>, goals: &Given<'d>, variants: &mut Vec<String>) {
        let mut near: Vec<f64> = vec![0.0, 1.0, -1.0, 7.0, 0.5, -0.5, 1e6];
        for (fact, rule) in given.rules().chain(goals.rules()) {
            let nodes = match rule {
                Rule::Bound(_, node) | Rule::MultipleOf(node) | Rule::Const(node) => vec![*node],
                Rule::Enum(node) => self.tape(fact.at).element_nodes(*node).take(8).collect(),
                _ => continue,
            };
            for node in nodes {
                let View::Number(number) = self.tape(fact.at).view_node(node) else {
                    continue;
                };
                variants.push(self.tape(fact.at).slice(node).to_owned());
                let number = double(number);
                near.extend([number, number - 1.0, number + 1.0, number - 0.5, number + 0.5, number * 2.0]);
            }
        }
        if given.kinds.meets(Kinds::FRACTION.or(Kinds::WHOLE)) {
            variants.push("1.0".to_owned());
        }
        variants.extend(near.into_iter().filter(|number| number.is_finite()).map(|number| number.to_string()));
    }

    fn strings(&mut self, given: &Given<'d>, goals: &Given<'d>, variants: &mut Vec<String>) {
        let lengths = lengths(given, goals, [Count::MinLength, Count::MaxLength]);
        for len in &lengths {
            let len = *len;
            variants.push(format!("\"{}\"", "a".repeat(len as usize)));
        }
        for text in ["", "0", "a", "zz 9", "é-", "A_b", "2026-01-01"] {
            let mut json = String::new();
            write_string(&mut json, text);
            variants.push(json);
        }
        for (fact, rule) in given.rules().chain(goals.rules()) {
            if let Rule::Pattern(pattern) = rule {
                let source = self.pattern_source(fact.at, *pattern);
                for len in std::iter::once(0).chain(lengths.iter().copied()) {
                    let mut json = String::new();
                    write_string(&mut json, &matching(source, len));
                    variants.push(json);
                }
            }
        }
    }

    fn arrays(&mut self, given: &Given<'d>, goals: &Given<'d>, depth: u32, variants: &mut Vec<String>) {
        variants.push("[]".to_owned());
        for len in lengths(given, goals, [Count::MinItems, Count::MaxItems]) {
            variants.extend(self.array_of(given, len));
        }
        let element = self.element(given, Index::From(LEN_MAX));
        if let Some(element) = self.sample(&element) {
            variants.extend([format!("[{element}]"), format!("[{element},{element}]")]);
        }
        if depth > 0 {
            self.contained(given, goals, depth - 1, variants);
        }
    }

    /// Arrays of what `contains` counts on the one side and perhaps not on the other.
    fn contained(&mut self, given: &Given<'d>, goals: &Given<'d>, depth: u32, variants: &mut Vec<String>) {
        let counted = |given: &Given<'d>| {
            given.rules().find_map(|(fact, rule)| match rule {
                Rule::Contains(place, ..) => Some(fact.at.to(*place)),
                _ => None,
            })
        };
        let (known, wanted) = (counted(given), counted(goals));
        if let Some(goal) = wanted.or(known) {
            let element = self.given(&known.into_iter().collect::<Vec<_>>());
            let elements = self.variants(&element, goal, depth);
            variants.extend(elements.into_iter().take(CONTAINED_MAX).map(|element| format!("[{element}]")));
        }
    }

    fn objects(&mut self, given: &Given<'d>, goals: &Given<'d>, variants: &mut Vec<String>) {
        let mut names = given.known_names();
        names.extend(goals.known_names());
        names.extend(goals.required_names());
        names.sort_unstable();
        names.dedup();
        variants.extend(self.object_with(given, &[]));
        for name in names.iter().take(24) {
            variants.extend(self.object_with(given, &[*name]));
        }
        variants.extend(self.object_with(given, &names));
        let more = ["x", "y", "z", "x-1", "0"];
        for len in 1..=more.len() {
            variants.extend(self.object_with(given, &more[..len]));
        }
    }

    /// A name that none of the facts has, and not the goal's `schema` either: of a member that is required, if there is one.
    pub(super) fn name_unknown(&mut self, given: &Given<'d>, own: &[&str]) -> &'d str {
        let known = given.known_names();
        let is_new = |name: &&'d str| !known.contains(name) && !own.contains(name);
        if let Some(name) = given.required_names().into_iter().find(is_new) {
            return name;
        }
        for (fact, rule) in given.rules() {
            let listed = match rule {
                Rule::PatternProperties(list) => list.first().map(|(pattern, _)| {
                    let source = self.pattern_source(fact.at, *pattern);
                    self.name_matching(source)
                }),
                Rule::PropertyNames(place) => {
                    let names = self.given(&[fact.at.to(*place)]).of_kinds(Kinds::STRING);
                    let name = self.sample(&names);
                    name.and_then(|json| self.plain(&json))
                }
                _ => None,
            };
            if let Some(name) = listed.filter(is_new) {
                return name;
            }
        }
        ["x", "extra", "x1", "x2", "x3"].into_iter().find(is_new).unwrap_or("unheard-of")
    }

    /// The text of a JSON string.
    fn plain(&mut self, json: &str) -> Option<&'d str> {
        let mut buf = std::mem::take(&mut self.judge.text);
        let text = buf.read_text(json, SCHEMA_READ).ok().filter(|tape| tape.is_string(0));
        let bump = self.models[0].registry.bump;
        let plain = text.map(|tape| {
            let text: String = tape.text(0).chars().collect();
            &*bump.alloc_str(&text)
        });
        self.judge.text = buf;
        plain
    }

    /// An object that has members of these names as well as those that it must have.
    fn object_with(&mut self, given: &Given<'d>, names: &[&'d str]) -> Option<String> {
        let mut with = given.clone();
        for name in names {
            let member = self.member(given, Name::Known(name));
            if !self.ask(|compare| compare.is_impossible(&member)) {
                with.required.push(name);
            }
        }
        self.sample(&with.of_kinds(Kinds::OBJECT))
    }
}

/// The number as a double, near enough.
fn double(number: Number<'_>) -> f64 {
    match number {
        #[allow(clippy::cast_precision_loss, reason = "what is tried need not be exact")]
        Number::Int(int) => int as f64,
        Number::Big(literal) => literal.parse().unwrap_or(0.0),
        Number::Decimal { value, .. } => value,
    }
}

/// Lengths near to the limits of both.
fn lengths(given: &Given<'_>, goals: &Given<'_>, [min, max]: [Count; 2]) -> Vec<u32> {
    let (least, most) = (least_count(given, min), greatest_count(given, max).unwrap_or(u32::MAX));
    let lines = [least, most, least_count(goals, min), greatest_count(goals, max).unwrap_or(0), 1];
    let mut lengths: Vec<u32> =
        lines.iter().flat_map(|line| [line.saturating_sub(1), *line, line.saturating_add(1)]).collect();
    lengths.retain(|len| (least..=most).contains(len) && *len <= LEN_MAX);
    lengths.sort_unstable();
    lengths.dedup();
    lengths
}
