//! Values that stand in a schema (`enum`, `const`, names of members), judged by subschemas of either side.
//!
//! A subschema is compiled for that as any schema is, and the machine has the last word.

use std::sync::LazyLock;

use ahash::HashMap;
use callgate_vm::equal::{Budget, equal};
use callgate_vm::execute::Bounds;
use callgate_vm::instance::View;
use callgate_vm::judge;
use callgate_vm::limits::{DEPTH_CEILING, NESTED_MAX};
use callgate_vm::number::Number;
use callgate_vm::scratch::{Scratch, Stack};
use callgate_vm::tape::{EntryKind, Node, OwnedTape, Tape, TapeBuf, TapeInstance};
use callgate_vm::unit::Unit;

use crate::dialect::Draft;
use crate::document::SCHEMA_READ;
use crate::emit;
use crate::ir::{Model, Rule};
use crate::limits_check::LowerBudget;
use crate::lower::{self, Reading};
use crate::refs::Place;
use crate::subset::given::{Given, Kinds};
use crate::subset::{At, Compare, OUT_OF_STEPS};

/// Values of one enumeration that are judged one by one; of more, nothing is decided.
const VALUES_MAX: usize = 8_192;

/// What judging one value may spend. Unit: fuel.
const FUEL_MAX: u64 = 1_000_000;

/// Entries of a schema that count as one look, where a container may be compared with each. Unit: entries.
const ENTRIES_PER_LOOK: usize = 16;

/// Subschemas that are compiled to judge values. Unit: units.
const UNITS_MAX: usize = 1_024;

/// A value of a schema.
pub(super) type Value<'d> = (Tape<'d>, Node);

/// Runs subschemas.
#[derive(Debug, Default)]
pub(super) struct Judge {
    units: HashMap<At, Option<Unit>>,
    scratch: Scratch,
    /// Whether a side tells numbers apart that are equal, as draft 4 does `1` and `1.0`.
    spelling_matters: bool,
    pub(super) text: TapeBuf,
}

impl Judge {
    /// Reads both schemas whole: what there is in them decides how values can be judged.
    pub(super) fn learn(&mut self, models: &mut [Model<'_, '_>; 2], roots: [Place; 2]) {
        for (model, root) in models.iter_mut().zip(roots) {
            model.schema(root);
            let mut doc = 0;
            // References may load more documents.
            while doc < model.registry.doc_len() {
                for place in model.registry.places(doc) {
                    model.schema(place);
                }
                doc += 1;
            }
            self.spelling_matters |= model.read_schemas().any(|schema| {
                schema.draft == Draft::D4 || schema.rule(|rule| matches!(rule, Rule::MultipleOf(_))).is_some()
            });
        }
    }

    pub(super) fn run(&mut self, unit: &Unit, (tape, node): Value<'_>) -> Option<bool> {
        let mut stack = Stack::default();
        let mut instance = TapeInstance::new(tape, node);
        judge(unit, &mut instance, Some(&mut stack), &mut self.scratch, &BOUNDS).ok()
    }
}

const BOUNDS: Bounds = Bounds { fuel_max: FUEL_MAX, depth_max: 1_024, memo_max: 1 << 16, nested_max: NESTED_MAX };

/// The values of the kinds that have few.
static FEW: LazyLock<OwnedTape> =
    LazyLock::new(|| OwnedTape::read(b"[null, false, true]", SCHEMA_READ).expect("it is JSON"));

impl<'d> Compare<'_, 'd> {
    /// Decides by each of the values that there can be, where these are few.
    pub(super) fn by_values(&mut self, given: &Given<'d>, goal: At) -> Option<bool> {
        let values = self.values(given)?;
        let mut all = true;
        for value in values {
            match self.accepts(goal, value) {
                Some(true) => {}
                Some(false) => all = all && self.asking == 0 && self.obstacle_of_value(given, goal, value),
                None => return None,
            }
            if !all && self.asking > 0 {
                return Some(false);
            }
        }
        Some(all)
    }

    /// Whether all values that there can be are among those `listed` by the goal.
    pub(super) fn is_listed(&mut self, given: &Given<'d>, goal: At, rule: &Rule<'d>, listed: &[Node]) -> bool {
        let Some(values) = self.values(given) else {
            return self.obstacle_of_rule(given, goal, rule);
        };
        if !self.charge(values.len().saturating_mul(listed.len())) {
            return self.not_decided(goal, OUT_OF_STEPS);
        }
        let tape = self.tape(goal);
        let mut all = true;
        for value in values {
            let is_listed = listed.iter().any(|node| same_value(value, (tape, *node)));
            all &= is_listed || self.obstacle_of_value(given, goal, value);
        }
        all
    }

    /// All values that the instance can have, if they are few and known.
    pub(super) fn values(&mut self, given: &Given<'d>) -> Option<Vec<Value<'d>>> {
        let mut values = self.listed(given)?;
        if !self.charge(values.len() * given.facts.len()) {
            return None;
        }
        values.retain(|value| self.is_given(given, *value));
        Some(values)
    }

    /// The values of an enumeration of the facts, or of kinds that have few.
    fn listed(&self, given: &Given<'d>) -> Option<Vec<Value<'d>>> {
        let listed = given.rules().find_map(|(fact, rule)| match rule {
            Rule::Const(node) => Some((self.tape(fact.at), vec![*node])),
            Rule::Enum(node) => {
                let tape = self.tape(fact.at);
                Some((tape, tape.element_nodes(*node).collect()))
            }
            _ => None,
        });
        let (tape, nodes): (Tape<'d>, Vec<Node>) = match listed {
            Some(listed) => listed,
            None if given.kinds.is_within(Kinds::FINITE) => {
                let tape = FEW.tape();
                (tape, tape.element_nodes(0).collect())
            }
            None => return None,
        };
        let has_numbers =
            |node: &Node| (*node..tape.entry(*node).next).any(|node| tape.entry(node).kind == EntryKind::Number);
        // Equal values must have equal verdicts.
        let is_clear = !self.judge.spelling_matters || !nodes.iter().any(has_numbers);
        (nodes.len() <= VALUES_MAX && is_clear).then(|| nodes.into_iter().map(|node| (tape, node)).collect())
    }

    /// Whether the value may be one of which this is given.
    fn is_given(&mut self, given: &Given<'d>, value: Value<'d>) -> bool {
        let (tape, node) = value;
        let kinds = match tape.view_node(node) {
            View::Number(number) if number.is_integral() => Kinds::INTEGER,
            view => Kinds::of(view.types()),
        };
        given.kinds.meets(kinds)
            && given.facts.iter().all(|fact| self.accepts(fact.at, value) != Some(false))
            && given.nots.iter().all(|not| self.accepts(*not, value) != Some(true))
    }

    /// Whether the subschema accepts the value; `None` where that is not told by the subschema alone, or after too many looks.
    pub(super) fn accepts(&mut self, schema: At, value: Value<'_>) -> Option<bool> {
        let (tape, node) = value;
        // A list of arrays or objects is gone through for each: at most all that the schema has.
        if matches!(tape.entry(node).kind, EntryKind::Array | EntryKind::Object)
            && !self.charge(self.tape(schema).entry_len() / ENTRIES_PER_LOOK)
        {
            return None;
        }
        self.compile(schema);
        let unit = self.judge.units.get_mut(&schema).and_then(Option::take)?;
        let verdict = self.judge.run(&unit, value);
        self.judge.units.insert(schema, Some(unit));
        verdict
    }

    /// As [`accepts`](Self::accepts), of a text.
    pub(super) fn accepts_string(&mut self, schema: At, text: &str) -> Option<bool> {
        let mut json = String::new();
        super::sample::write_string(&mut json, text);
        self.accepts_json(schema, &json)
    }

    /// As [`accepts`](Self::accepts), of a JSON text.
    pub(super) fn accepts_json(&mut self, schema: At, json: &str) -> Option<bool> {
        let mut buf = std::mem::take(&mut self.judge.text);
        let verdict = buf.read_text(json, SCHEMA_READ).ok().and_then(|tape| self.accepts(schema, (tape, 0)));
        self.judge.text = buf;
        verdict
    }

    /// The kinds of a numeral; none for a text that is no number.
    pub(super) fn number_kinds(literal: &str) -> Kinds {
        match Number::parse(literal) {
            Ok(number) if number.is_integer_literal() => Kinds::LITERAL,
            Ok(number) if number.is_integral() => Kinds::WHOLE,
            Ok(_) => Kinds::FRACTION,
            Err(_) => Kinds::NONE,
        }
    }

    /// Whether no fact rejects the JSON text.
    pub(super) fn all_accept(&mut self, given: &Given<'d>, json: &str) -> bool {
        let mut buf = std::mem::take(&mut self.judge.text);
        let all = buf
            .read_text(json, SCHEMA_READ)
            .is_ok_and(|tape| given.facts.iter().all(|fact| self.accepts(fact.at, (tape, 0)) != Some(false)));
        self.judge.text = buf;
        all
    }

    /// Compiles the subschema, if it has not been. Where references are resolved dynamically it would mean something else
    /// alone.
    fn compile(&mut self, schema: At) {
        if self.judge.units.contains_key(&schema) || self.judge.units.len() >= UNITS_MAX {
            return;
        }
        let model = &mut self.models[schema.side as usize];
        let unit = (!model.registry.has_dynamic).then(|| {
            let budget = LowerBudget::new(model.options.limits.unit_bytes_max);
            let program = lower::lower(model, schema.place, Reading::AS_WRITTEN, budget)?;
            emit::emit(&program, model, [0; 32]).ok()
        });
        self.judge.units.insert(schema, unit.flatten());
    }
}

/// Whether two values of schemas are equal as JSON values are.
pub(super) fn same_value((tape, node): Value<'_>, (other_tape, other): Value<'_>) -> bool {
    let mut budget = Budget { fuel: FUEL_MAX, depth: DEPTH_CEILING };
    let (mut left, mut right) = (TapeInstance::new(tape, node), TapeInstance::new(other_tape, other));
    equal(&mut left, node, &mut right, other, &mut budget).unwrap_or(false)
}
