//! Whether every instance that one schema accepts is accepted by another: what a change of a schema does to its callers.
//!
//! ```text
//! given: schemas that an instance satisfies ─┐   one goal schema ─► its rules, one by one ─► proven, or an obstacle
//!   (given.rs: $ref, allOf followed,         ├─►   scalar.rs   members.rs   unions.rs   values.rs   same.rs
//!    unions as cases)                        ┘                                              │
//!                                            witness.rs, sample.rs: an instance that shows it ◄─┘
//! ```
//!
//! A goal is proven rule by rule: each must follow from what is given. Where it does not, what is given is taken apart
//! further (by kinds of values, by the cases of its unions, by the values of an enumeration). A pair that comes up again
//! inside its own proof is taken as proven if a member or element lies between the two: the instance is smaller there, and
//! induction over the size of instances carries the proof. Nothing is ever concluded from a proof that failed.
//!
//! What cannot be proven is an *obstacle*. It becomes a difference only through an instance, made from the schemas, that
//! the one unit accepts and the other rejects; both are run. An obstacle without such a witness is undecided.
//!
//! Not followed: dynamic references, and `unevaluated*` beside applicators, unless both schemas are the same there.
//! Numbers, strings and sets are compared as far as the rules tell, patterns by their source alone.

mod given;
mod members;
mod reason;
mod same;
mod sample;
mod scalar;
mod unions;
mod values;
mod witness;

use ahash::{HashMap, HashSet};
use callgate_vm::pattern::PatternScratch;
use callgate_vm::tape::{Node, Tape};
use callgate_vm::unit::Unit;

use crate::ir::{Dependency, Model, Rule, Schema};
use crate::pattern_cache::PatternNo;
use crate::refs::Place;
use crate::subset::given::{Given, Kinds};
use crate::subset::values::Judge;
use crate::subset::witness::{Step, To};

/// Steps that one direction of a comparison may take. Tools of a few hundred properties take a few thousand, a few tens of
/// tagged branches ten times that; unions inside unions can ask for any number. Unit: goals and cases looked at.
const STEPS_MAX: u64 = 100_000;

/// Names, branches and values that a step looks at; one that looks at more counts as several.
const NAMES_PER_STEP: usize = 32;

/// How deep a proof goes, on the thread's own stack: goals, cases and questions inside each other. A schema as deep as is
/// healthy takes two for each level. A test runs a proof to that depth on a thread of 512 KiB. Unit: steps.
const NESTED_MAX: u32 = 96;

/// Obstacles that are told; of many, the first say enough.
const OBSTACLES_MAX: usize = 64;

/// Which of the two schemas.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Side {
    /// As it was.
    Old = 0,
    /// As it is now.
    New = 1,
}

/// A subschema of one of the two.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct At {
    side: Side,
    place: Place,
}

impl At {
    /// Another subschema of the same side.
    fn to(self, place: Place) -> At {
        At { place, ..self }
    }
}

/// Something that could not be proven.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Obstacle {
    /// JSON Pointer of the subschema that asks for it.
    pub(crate) pointer: String,
    /// What is the matter with it, on one line.
    pub(crate) reason: String,
    /// JSON text of an instance that shows it: accepted by the schema that is given, rejected by the goal. Both units ran.
    pub(crate) witness: Option<String>,
}

/// What is given and a goal: what a proof is of.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Pair<'d> {
    facts: Vec<At>,
    nots: Vec<At>,
    unions: Vec<At>,
    required: Vec<&'d str>,
    kinds: u8,
    /// None where the question is whether there can be such an instance.
    goal: Option<At>,
}

/// Two schemas, and the proofs between them.
pub(crate) struct Compare<'m, 'd> {
    models: [Model<'m, 'd>; 2],
    roots: [Place; 2],
    units: [&'m Unit; 2],
    judge: Judge,
    patterns: PatternScratch,
    /// Pairs whose proofs are under way, and how far from the root the instance is.
    open: Vec<(Pair<'d>, usize)>,
    /// The least of the open pairs that something was concluded from since it was last looked at.
    assumed: usize,
    proven: HashSet<Pair<'d>>,
    /// Failed even with all that was assumed.
    failed: HashSet<Pair<'d>>,
    /// Of those, the ones whose obstacles have been told.
    told: HashSet<Pair<'d>>,
    /// Whether there can be an instance, by what is given of it.
    impossible: HashMap<Pair<'d>, bool>,
    same: HashMap<(At, At), bool>,
    /// The properties of schemas that have many.
    properties: HashMap<At, HashMap<&'d str, Place>>,
    /// Names, branches and values that may still be looked at.
    looks: u64,
    /// Steps of the proof inside each other.
    nested: u32,
    /// Obstacles are told only while this is zero: inside, it is only asked whether there is a proof.
    asking: u32,
    obstacles: Vec<Obstacle>,
    /// How the instance at hand is reached from the root.
    path: Vec<Step<'d>>,
    /// Instances that were tried as witnesses, and values made for them.
    tried: u32,
    sampled: u32,
}

impl<'m, 'd> Compare<'m, 'd> {
    /// Compares the schemas at `roots`; `units` are what they were compiled to.
    pub(crate) fn new(models: [Model<'m, 'd>; 2], roots: [Place; 2], units: [&'m Unit; 2]) -> Self {
        let mut compare = Compare {
            models,
            roots,
            units,
            judge: Judge::default(),
            patterns: PatternScratch::default(),
            open: Vec::new(),
            assumed: usize::MAX,
            proven: HashSet::default(),
            failed: HashSet::default(),
            told: HashSet::default(),
            impossible: HashMap::default(),
            same: HashMap::default(),
            properties: HashMap::default(),
            looks: 0,
            nested: 0,
            asking: 0,
            obstacles: Vec::new(),
            path: Vec::new(),
            tried: 0,
            sampled: 0,
        };
        compare.judge.learn(&mut compare.models, roots);
        compare
    }

    /// Whether the two mean the same, rule by rule.
    pub(crate) fn is_same(&mut self) -> bool {
        let [old, new] = [Side::Old, Side::New].map(|side| self.root(side));
        self.same_documents(old, new)
    }

    /// What keeps it from being proven that all that `given` accepts is accepted by the other; nothing if it is proven. Takes
    /// what it needs of the `steps` that are left.
    pub(crate) fn obstacles(&mut self, given: Side, steps: &mut u64) -> Vec<Obstacle> {
        let goal = if given == Side::Old { Side::New } else { Side::Old };
        let allowed = STEPS_MAX.min(*steps);
        (self.looks, self.tried, self.sampled) = (allowed * NAMES_PER_STEP as u64, 0, 0);
        let facts = self.given(&[self.root(given)]);
        let goal = self.root(goal);
        let is_proven = self.implies(&facts, goal);
        if !is_proven && self.obstacles.is_empty() {
            self.not_decided(goal, "not proven");
        }
        let obstacles = std::mem::take(&mut self.obstacles);
        *steps -= allowed - self.looks / NAMES_PER_STEP as u64;
        obstacles
    }

    fn root(&self, side: Side) -> At {
        At { side, place: self.roots[side as usize] }
    }

    fn schema(&mut self, at: At) -> &'d Schema<'d> {
        self.models[at.side as usize].schema(at.place)
    }

    fn tape(&self, at: At) -> Tape<'d> {
        self.models[at.side as usize].tape(at.place)
    }

    fn pattern_source(&self, at: At, pattern: PatternNo) -> &'d str {
        let model = &self.models[at.side as usize];
        model.registry.bump.alloc_str(model.pattern(pattern).source())
    }

    // --- the proof -------------------------------------------------------------------------------------------

    /// Whether every instance of which this is given satisfies `goal`.
    fn implies(&mut self, given: &Given<'d>, goal: At) -> bool {
        if given.kinds.is_empty() || given.facts.iter().any(|fact| fact.at == goal) {
            return true;
        }
        if self.is_over(goal) {
            return false;
        }
        let schema = self.schema(goal);
        if schema.always == Some(true) || given.facts.iter().any(|fact| self.is_same_place(fact.at, goal)) {
            return true;
        }
        if !self.spend(given, weight(schema)) {
            return self.not_decided(goal, OUT_OF_STEPS);
        }
        if self.nested >= NESTED_MAX {
            return self.not_decided(goal, TOO_DEEP);
        }
        if schema.always == Some(false) {
            return self.is_impossible(given) || self.obstacle_of_false(goal, given);
        }
        let pair = pair(given, Some(goal));
        if let Some(known) = self.known(&pair) {
            return known;
        }
        self.open.push((pair, self.path.len()));
        let outer = std::mem::replace(&mut self.assumed, usize::MAX);
        let is_proven = self.nest(|compare| compare.follows(given, goal, schema));
        self.close(outer, is_proven);
        is_proven
    }

    /// What is known of the pair from before: proven, failed (unless there are obstacles to be told), or assumed.
    fn known(&mut self, pair: &Pair<'d>) -> Option<bool> {
        if let Some(at) = self.open.iter().position(|(open, _)| open == pair) {
            // Of the same instance, a proof would rest on itself.
            let is_smaller = self.path.len() > self.open[at].1;
            if is_smaller {
                self.assumed = self.assumed.min(at);
            }
            return Some(is_smaller);
        }
        if self.proven.contains(pair) {
            return Some(true);
        }
        let failed = if self.asking > 0 { &self.failed } else { &self.told };
        failed.contains(pair).then_some(false)
    }

    /// Ends the proof of the last open pair. What was concluded from a pair further out holds only with that one.
    fn close(&mut self, outer: usize, is_proven: bool) {
        let Some((pair, _)) = self.open.pop() else {
            return;
        };
        let inner = self.assumed;
        self.assumed = outer;
        if !is_proven {
            if self.asking == 0 {
                self.told.insert(pair.clone());
            }
            self.failed.insert(pair);
        } else if inner >= self.open.len() {
            self.proven.insert(pair);
        } else {
            self.assumed = outer.min(inner);
        }
    }

    fn follows(&mut self, given: &Given<'d>, goal: At, schema: &'d Schema<'d>) -> bool {
        if let Some(decided) = self.by_values(given, goal) {
            return decided;
        }
        let mut all = true;
        for rule in schema.rules {
            all &= self.rule(given, goal, schema, &rule.rule);
            if !all && self.asking > 0 {
                return false;
            }
        }
        all
    }

    /// Whether the rule follows, from all that is given or from each of the cases.
    fn rule(&mut self, given: &Given<'d>, goal: At, schema: &'d Schema<'d>, rule: &'d Rule<'d>) -> bool {
        if !given.kinds.meets(kinds_of(rule)) {
            return true;
        }
        if self.is_over(goal) {
            return false;
        }
        if self.ask(|compare| compare.direct(given, goal, schema, rule)) {
            return true;
        }
        let Some(cases) = self.split(given) else {
            return self.ask(|compare| compare.is_impossible(given))
                || self.asking == 0 && self.direct(given, goal, schema, rule);
        };
        let mut all = true;
        for case in cases {
            if !self.spend(&case, 0) {
                return self.not_decided(goal, OUT_OF_STEPS);
            }
            if self.nested >= NESTED_MAX {
                return self.not_decided(goal, TOO_DEEP);
            }
            all &= self.ask(|compare| compare.is_impossible(&case))
                || self.nest(|compare| compare.rule(&case, goal, schema, rule));
            if !all && self.asking > 0 {
                return false;
            }
        }
        all
    }

    /// Whether there is no use in going on: no steps are left, or enough obstacles have been told.
    fn is_over(&mut self, goal: At) -> bool {
        if self.looks == 0 {
            self.not_decided(goal, OUT_OF_STEPS);
        }
        self.looks == 0 || self.asking == 0 && self.obstacles.len() >= OBSTACLES_MAX
    }

    /// Goes a step further down.
    fn nest<T>(&mut self, run: impl FnOnce(&mut Self) -> T) -> T {
        self.nested += 1;
        let answer = run(self);
        self.nested -= 1;
        answer
    }

    /// Counts a step of the proof, which looks at all that is given and at a goal of that weight. Answers whether it may go
    /// on.
    fn spend(&mut self, given: &Given<'d>, goal: usize) -> bool {
        self.charge(NAMES_PER_STEP + given_weight(given) + goal)
    }

    /// Counts the looks at so many names, branches or values. Answers whether there may be more.
    fn charge(&mut self, looks: usize) -> bool {
        let left = self.looks.checked_sub(looks as u64);
        self.looks = left.unwrap_or(0);
        left.is_some()
    }

    /// Whether there is a proof, without a word about what keeps it from being one.
    fn ask(&mut self, prove: impl FnOnce(&mut Self) -> bool) -> bool {
        self.asking += 1;
        let is_proven = prove(self);
        self.asking -= 1;
        is_proven
    }

    /// Whether the rule follows from what is given as a whole.
    fn direct(&mut self, given: &Given<'d>, goal: At, schema: &'d Schema<'d>, rule: &'d Rule<'d>) -> bool {
        match rule {
            Rule::Enum(node) => {
                let listed: Vec<Node> = self.tape(goal).element_nodes(*node).collect();
                self.is_listed(given, goal, rule, &listed)
            }
            Rule::Const(node) => self.is_listed(given, goal, rule, &[*node]),
            Rule::Type(..)
            | Rule::Bound(..)
            | Rule::MultipleOf(_)
            | Rule::Count(..)
            | Rule::Pattern(_)
            | Rule::Format(..)
            | Rule::ItemsEnd(_)
            | Rule::UniqueItems => self.scalar_follows(given, goal, rule) || self.obstacle_of_rule(given, goal, rule),
            Rule::Required(names) => self.required(given, goal, names),
            Rule::Dependencies(list) => self.dependencies(given, goal, rule, list),
            Rule::Properties(list) => self.properties(given, goal, list),
            Rule::PatternProperties(list) => self.pattern_properties(given, goal, list),
            Rule::AdditionalProperties(place) => self.additional_properties(given, goal, schema, *place),
            Rule::PropertyNames(place) => self.property_names(given, goal, rule, *place),
            Rule::Prefix(places) => self.prefix(given, goal, places),
            Rule::Items(start, place) => self.items(given, goal, *start, *place),
            Rule::Contains(place, min, max) => {
                self.contains(given, goal, *place, (*min, *max)) || self.obstacle_of_rule(given, goal, rule)
            }
            Rule::AllOf(places) => self.all_of(given, goal, places),
            Rule::AnyOf(places) => self.any_of(given, goal, rule, places),
            Rule::OneOf(places) => self.one_of(given, goal, rule, places),
            Rule::Not(place) => self.excludes(given, goal.to(*place)) || self.obstacle_of_rule(given, goal, rule),
            Rule::If(condition, then, otherwise) => self.condition(given, goal, *condition, *then, *otherwise),
            Rule::Ref(place) | Rule::DynamicRef(place, None) | Rule::RecursiveRef(place, false) => {
                self.implies(given, goal.to(*place))
            }
            Rule::DynamicRef(..) | Rule::RecursiveRef(..) => {
                self.not_decided(goal, "a dynamic reference is not followed")
            }
            Rule::UnevaluatedProperties(place) if crate::lower::accept::is_static(schema, rule) => {
                self.additional_properties(given, goal, schema, *place)
            }
            Rule::UnevaluatedProperties(place) | Rule::UnevaluatedItems(place) => {
                self.schema(goal.to(*place)).always == Some(true) || self.obstacle_of_rule(given, goal, rule)
            }
        }
    }

    /// Whether a child of which `child` is given satisfies the goal. `from` leads to it: what is given of the parent, what the
    /// parent is to satisfy, and the step.
    fn below(&mut self, from: (&Given<'d>, At, To<'d>), child: &Given<'d>, goal: At) -> bool {
        let (parent, parent_goal, to) = from;
        // Where nothing is told, no instance is made, and only the length of the path matters.
        let parent = if self.asking > 0 { Given::anything() } else { parent.clone() };
        self.path.push(Step { parent, goal: parent_goal, to });
        let is_proven = self.implies(child, goal);
        self.path.pop();
        is_proven
    }
}

fn given_weight(given: &Given<'_>) -> usize {
    let cases = given.unions.iter().map(Vec::len).sum::<usize>();
    given.required.len() + cases + given.facts.iter().map(|fact| weight(fact.schema)).sum::<usize>()
}

/// How many names, branches and values there are in the schema's own rules.
fn weight(schema: &Schema<'_>) -> usize {
    let of = |rule: &Rule<'_>| match rule {
        Rule::Required(names) => names.len(),
        Rule::Properties(list) => list.len(),
        Rule::PatternProperties(list) => list.len(),
        Rule::Dependencies(list) => list
            .iter()
            .map(|(_, needed)| match needed {
                Dependency::Names(names) => 1 + names.len(),
                Dependency::Schema(_) => 1,
            })
            .sum(),
        Rule::Prefix(list) | Rule::AllOf(list) | Rule::AnyOf(list) | Rule::OneOf(list) => list.len(),
        _ => 1,
    };
    schema.rules.iter().map(|at| of(&at.rule)).sum()
}

const OUT_OF_STEPS: &str = "not decided within the steps that a comparison may take";
const TOO_DEEP: &str = "not decided so deep";

fn pair<'d>(given: &Given<'d>, goal: Option<At>) -> Pair<'d> {
    let mut facts: Vec<At> = given.facts.iter().map(|fact| fact.at).collect();
    facts.sort_unstable();
    let mut nots = given.nots.clone();
    nots.sort_unstable();
    nots.dedup();
    let unions = given.unions.iter().flat_map(|cases| cases.iter().flat_map(|case| &case.all)).copied().collect();
    let mut required = given.required.clone();
    required.sort_unstable();
    required.dedup();
    Pair { facts, nots, unions, required, kinds: given.kinds.bits(), goal }
}

/// What the rule is about; all others pass it.
fn kinds_of(rule: &Rule<'_>) -> Kinds {
    use crate::ir::Count;
    match rule {
        Rule::Bound(..) | Rule::MultipleOf(_) => Kinds::NUMBER,
        Rule::Count(Count::MinLength | Count::MaxLength, _) | Rule::Pattern(_) | Rule::Format(..) => Kinds::STRING,
        Rule::Count(Count::MinItems | Count::MaxItems, _)
        | Rule::ItemsEnd(_)
        | Rule::UniqueItems
        | Rule::Prefix(_)
        | Rule::Items(..)
        | Rule::Contains(..)
        | Rule::UnevaluatedItems(_) => Kinds::ARRAY,
        Rule::Count(Count::MinProperties | Count::MaxProperties, _)
        | Rule::Required(_)
        | Rule::Dependencies(_)
        | Rule::Properties(_)
        | Rule::PatternProperties(_)
        | Rule::AdditionalProperties(_)
        | Rule::PropertyNames(_)
        | Rule::UnevaluatedProperties(_) => Kinds::OBJECT,
        Rule::Type(..)
        | Rule::Enum(_)
        | Rule::Const(_)
        | Rule::AllOf(_)
        | Rule::AnyOf(_)
        | Rule::OneOf(_)
        | Rule::Not(_)
        | Rule::If(..)
        | Rule::Ref(_)
        | Rule::DynamicRef(..)
        | Rule::RecursiveRef(..) => Kinds::ALL,
    }
}
