//! Contradictions: rules that no value can satisfy together.
//!
//! Read from the rules as they stand, a schema and what `allOf` and `$ref` join to it: its *parts*. What is said is so (no
//! number is above 5 and below 1); what is not said may still be impossible. A tool with a contradiction compiles: its
//! author has something else in mind, and only he can say what.

use std::cmp::Ordering;

use callgate_vm::insn::Types;
use callgate_vm::instance::View;
use callgate_vm::number::Number;
use callgate_vm::pattern::PatternScratch;
use callgate_vm::tape::Node;
use callgate_vm::text::Text;

use crate::dialect::Keyword;
use crate::finding::{Finding, FindingKind};
use crate::ir::{Bound, Count, Model, Rule, RuleAt, Schema, quoted, shorten};
use crate::pattern_cache::PatternNo;
use crate::refs::Place;

/// Parts of one schema that are looked at. Unit: schemas.
const PARTS_MAX: usize = 32;

/// How deep unions and references are followed for the kinds of value that they admit. Unit: schemas.
const KINDS_DEPTH_MAX: u32 = 6;

/// Work for one tool, before only what is plain is still told. Unit: schemas, rules, names and values looked at.
const WORK_MAX: u64 = 2_000_000;

/// What is said of one schema. Unit: findings.
const FINDINGS_MAX: usize = 50;

/// Finds the contradictions of the document's schemas.
pub(crate) fn check(model: &mut Model<'_, '_>, places: &[Place], findings: &mut Vec<Finding>) {
    let mut finder = Finder { model, findings: Vec::new(), work_left: WORK_MAX, scratch: PatternScratch::default() };
    for place in places {
        if finder.findings.len() >= FINDINGS_MAX {
            break;
        }
        finder.schema(*place);
    }
    finder.findings.truncate(FINDINGS_MAX);
    findings.append(&mut finder.findings);
}

/// Kinds of values that no type of JSON Schema cuts through, one bit each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Kinds(u8);

impl Kinds {
    const NONE: Kinds = Kinds(0);
    const ANY: Kinds = Kinds(0xff);
    /// Integers that are written as such, others without fraction, and numbers with one.
    const NUMBERS: Kinds = Kinds(1 | 2 | 4);
    const INTEGERS: Kinds = Kinds(1 | 2);
    const FRACTIONS: Kinds = Kinds(4);
    const STRINGS: Kinds = Kinds(8);
    const ARRAYS: Kinds = Kinds(16);
    const OBJECTS: Kinds = Kinds(32);

    /// What a `type` admits; everything where there is none.
    fn of(types: Types) -> Kinds {
        if types == Types::NONE {
            return Kinds::ANY;
        }
        let bits = [
            (Types::INTEGER_LITERAL, Kinds(1)),
            (Types::INTEGER, Kinds::INTEGERS),
            (Types::NUMBER, Kinds::NUMBERS),
            (Types::STRING, Kinds::STRINGS),
            (Types::ARRAY, Kinds::ARRAYS),
            (Types::OBJECT, Kinds::OBJECTS),
            (Types::NULL, Kinds(64)),
            (Types::BOOLEAN, Kinds(128)),
        ];
        let admitted = bits.into_iter().filter(|(one, _)| types.meets(*one));
        admitted.fold(Kinds::NONE, |kinds, (_, more)| Kinds(kinds.0 | more.0))
    }

    /// The kinds of the values that are equal to this one: `1` and `1.0` are.
    fn of_value(view: &View<'_>) -> Kinds {
        match view {
            View::Number(number) if number.is_integral() => Kinds::INTEGERS,
            View::Number(_) => Kinds::FRACTIONS,
            other => Kinds::of(other.types()),
        }
    }

    fn and(self, other: Kinds) -> Kinds {
        Kinds(self.0 & other.0)
    }

    fn or(self, other: Kinds) -> Kinds {
        Kinds(self.0 | other.0)
    }

    fn meet(self, other: Kinds) -> bool {
        self.and(other) != Kinds::NONE
    }
}

/// What a schema asks for that may contradict something, one bit each.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Asks(u8);

impl Asks {
    const NOTHING: Asks = Asks(0);
    const JOINS: Asks = Asks(1);
    const UNIONS: Asks = Asks(2);
    const BOUNDS: Asks = Asks(4);
    const COUNTS: Asks = Asks(8);
    const VALUES: Asks = Asks(16);
    const NAMES: Asks = Asks(32);

    fn of(schema: &Schema<'_>) -> Asks {
        schema.rules.iter().fold(Asks::NOTHING, |asks, at| {
            asks.with(match &at.rule {
                Rule::AllOf(_) | Rule::Ref(_) => Asks::JOINS,
                Rule::AnyOf(_) | Rule::OneOf(_) => Asks::UNIONS,
                Rule::Bound(..) => Asks::BOUNDS,
                Rule::Count(..) | Rule::ItemsEnd(_) | Rule::Contains(..) => Asks::COUNTS,
                Rule::Enum(_) | Rule::Const(_) => Asks::VALUES,
                Rule::Required(_) => Asks::NAMES,
                _ => Asks::NOTHING,
            })
        })
    }

    fn with(self, other: Asks) -> Asks {
        Asks(self.0 | other.0)
    }

    fn has(self, other: Asks) -> bool {
        self.0 & other.0 != 0
    }
}

/// A bound, and where it comes from.
#[derive(Clone, Copy)]
struct Limit<'d> {
    part: &'d Schema<'d>,
    keyword: &'static str,
    number: Number<'d>,
    exclusive: bool,
}

struct Finder<'f, 'm, 'd> {
    model: &'f mut Model<'m, 'd>,
    findings: Vec<Finding>,
    work_left: u64,
    scratch: PatternScratch,
}

impl<'d> Finder<'_, '_, 'd> {
    fn schema(&mut self, place: Place) {
        let own = self.model.schema(place);
        let asks = Asks::of(own);
        // A reference alone is said at what it leads to.
        if asks == Asks::NOTHING || matches!(own.rules, [RuleAt { rule: Rule::Ref(_), .. }]) {
            return;
        }
        let joined = if asks.has(Asks::JOINS) { self.parts(own) } else { Vec::new() };
        let parts = if joined.is_empty() { &[own][..] } else { &joined };
        let types = parts.iter().fold(Kinds::ANY, |kinds, part| kinds.and(Kinds::of(part.types)));
        if types == Kinds::NONE {
            let detail = "the types that it asks for together exclude each other".to_owned();
            return self.say(own, joining(own), detail);
        }
        let asks = parts.iter().fold(asks, |asks, part| asks.with(Asks::of(part)));
        if asks.has(Asks::UNIONS) {
            self.unions(own, types);
        }
        if asks.has(Asks::BOUNDS) {
            self.bounds(own, parts, types);
        }
        if asks.has(Asks::COUNTS) {
            self.counts(own, parts, types);
        }
        if asks.has(Asks::VALUES) {
            self.constants(own, parts, types);
        }
        if asks.has(Asks::NAMES) {
            self.names(own, parts, types);
        }
    }

    /// Takes work from what is left; answers whether there was as much.
    fn spend(&mut self, work: usize) -> bool {
        self.work_left = self.work_left.saturating_sub(work as u64 + 1);
        self.work_left > 0
    }

    fn say(&mut self, at: &Schema<'d>, keyword: &str, detail: String) {
        let pointer = self.model.registry.locations.pointer(at.location, keyword);
        self.findings.push(Finding::new(FindingKind::Contradiction, pointer, detail));
    }

    /// The schema, and what `allOf` and `$ref` join to it.
    fn parts(&mut self, own: &'d Schema<'d>) -> Vec<&'d Schema<'d>> {
        let mut parts = vec![own];
        let mut at = 0;
        while let Some(part) = parts.get(at) {
            at += 1;
            for rule in part.rules {
                let joined: &[Place] = match &rule.rule {
                    Rule::AllOf(places) => places,
                    Rule::Ref(place) => std::slice::from_ref(place),
                    _ => &[],
                };
                for place in joined.iter().take(PARTS_MAX) {
                    let joined = self.model.schema(*place);
                    if parts.len() < PARTS_MAX && !parts.iter().any(|part| part.place == joined.place) {
                        parts.push(joined);
                    }
                }
            }
        }
        parts
    }

    /// Whether this is the schema to say it at: not where all of it comes from a part that says it itself.
    fn is_here(own: &Schema<'d>, one: &Schema<'d>, other: &Schema<'d>) -> bool {
        one.place == own.place || other.place == own.place || one.place != other.place
    }

    // --- kinds of values -------------------------------------------------------------------------------------

    /// `anyOf` and `oneOf` no branch of which admits what the schema admits.
    fn unions(&mut self, own: &'d Schema<'d>, types: Kinds) {
        for at in own.rules {
            let (Rule::AnyOf(branches) | Rule::OneOf(branches)) = &at.rule else {
                continue;
            };
            let admitted = branches.iter().fold(Kinds::NONE, |kinds, place| kinds.or(self.kinds(*place, 0)));
            if !branches.is_empty() && !admitted.meet(types) {
                self.say(own, at.keyword.name(), "no branch admits the type that stands beside it".to_owned());
            }
        }
    }

    /// Kinds of values of which some may satisfy the schema.
    fn kinds(&mut self, place: Place, depth: u32) -> Kinds {
        let schema = self.model.schema(place);
        if depth > KINDS_DEPTH_MAX || !self.spend(schema.rules.len()) {
            return Kinds::ANY;
        }
        match schema.always {
            Some(true) => return Kinds::ANY,
            Some(false) => return Kinds::NONE,
            None => {}
        }
        let mut kinds = Kinds::of(schema.types);
        for at in schema.rules {
            let admitted = match &at.rule {
                Rule::Const(value) => Kinds::of_value(&self.model.tape(place).view_node(*value)),
                Rule::Enum(values) => {
                    let tape = self.model.tape(place);
                    if !self.spend(tape.entry(*values).len as usize) {
                        return Kinds::ANY;
                    }
                    let views = tape.element_nodes(*values).map(|value| tape.view_node(value));
                    views.fold(Kinds::NONE, |kinds, view| kinds.or(Kinds::of_value(&view)))
                }
                Rule::Ref(target) => self.kinds(*target, depth + 1),
                Rule::AllOf(all) => all.iter().fold(Kinds::ANY, |kinds, one| kinds.and(self.kinds(*one, depth + 1))),
                Rule::AnyOf(any) | Rule::OneOf(any) => {
                    any.iter().fold(Kinds::NONE, |kinds, one| kinds.or(self.kinds(*one, depth + 1)))
                }
                Rule::Not(refused) if self.model.schema(*refused).always == Some(true) => Kinds::NONE,
                _ => Kinds::ANY,
            };
            kinds = kinds.and(admitted);
        }
        kinds
    }

    // --- bounds ----------------------------------------------------------------------------------------------

    fn bounds(&mut self, own: &'d Schema<'d>, parts: &[&'d Schema<'d>], types: Kinds) {
        let numbers = types.and(Kinds::NUMBERS);
        let (Some(lower), Some(upper)) = (self.limit(parts, true), self.limit(parts, false)) else {
            return;
        };
        if numbers == Kinds::NONE || !Self::is_here(own, lower.part, upper.part) {
            return;
        }
        let order = lower.number.compare(upper.number);
        let crossed = order == Ordering::Greater || order == Ordering::Equal && (lower.exclusive || upper.exclusive);
        let whole = !numbers.meet(Kinds::FRACTIONS);
        if crossed || whole && no_integer_between(&lower, &upper) {
            let (from, to) = (written(lower.number), written(upper.number));
            let what = if crossed { "number" } else { "integer" };
            let detail = format!("no {what} satisfies both {} {from} and {} {to}", lower.keyword, upper.keyword);
            let at = if lower.part.place == own.place { lower } else { upper };
            let (at, keyword) = if at.part.place == own.place { (at.part, at.keyword) } else { (own, joining(own)) };
            self.say(at, keyword, detail);
        }
    }

    /// The tightest bound of all parts.
    fn limit(&self, parts: &[&'d Schema<'d>], is_lower: bool) -> Option<Limit<'d>> {
        let mut tightest: Option<Limit<'d>> = None;
        for part in parts {
            for at in part.rules {
                let Rule::Bound(bound, node) = &at.rule else {
                    continue;
                };
                let exclusive = matches!(bound, Bound::ExclusiveMinimum | Bound::ExclusiveMaximum);
                let below = matches!(bound, Bound::Minimum | Bound::ExclusiveMinimum);
                let View::Number(number) = self.model.tape(part.place).view_node(*node) else {
                    continue;
                };
                if below != is_lower {
                    continue;
                }
                let tighter = tightest.as_ref().is_none_or(|known| {
                    let order = number.compare(known.number);
                    let order = if is_lower { order } else { order.reverse() };
                    order == Ordering::Greater || order == Ordering::Equal && exclusive
                });
                if tighter {
                    tightest = Some(Limit { part, keyword: at.keyword.name(), number, exclusive });
                }
            }
        }
        tightest
    }

    // --- counts ----------------------------------------------------------------------------------------------

    fn counts(&mut self, own: &'d Schema<'d>, parts: &[&'d Schema<'d>], types: Kinds) {
        let pairs = [
            (Count::MinLength, Count::MaxLength, Kinds::STRINGS, "string", "minLength", "maxLength"),
            (Count::MinItems, Count::MaxItems, Kinds::ARRAYS, "array", "minItems", "maxItems"),
            (Count::MinProperties, Count::MaxProperties, Kinds::OBJECTS, "object", "minProperties", "maxProperties"),
        ];
        for (min, max, kind, what, low, high) in pairs {
            let count = |wanted: Count| {
                parts.iter().flat_map(|part| part.rules.iter().map(move |at| (*part, at))).filter_map(
                    move |(part, at)| match &at.rule {
                        Rule::Count(count, value) if *count == wanted => Some((*value, part)),
                        _ => None,
                    },
                )
            };
            let lowest = count(min).max_by_key(|(value, _)| *value);
            let highest = count(max).min_by_key(|(value, _)| *value);
            let (Some((low_value, one)), Some((high_value, other))) = (lowest, highest) else {
                continue;
            };
            if low_value > high_value && types.meet(kind) && Self::is_here(own, one, other) {
                let detail = format!("no {what} satisfies both {low} {low_value} and {high} {high_value}");
                let keyword = if one.place == own.place {
                    low
                } else if other.place == own.place {
                    high
                } else {
                    joining(own)
                };
                self.say(own, keyword, detail);
            }
        }
        self.arrays(own, types);
    }

    /// What one schema says of an array's length in other ways than by its counts.
    fn arrays(&mut self, own: &'d Schema<'d>, types: Kinds) {
        let (mut end, mut min, mut max, mut contains) = (None, None, None, None);
        for at in own.rules {
            match &at.rule {
                Rule::ItemsEnd(len) => end = Some(*len),
                Rule::Count(Count::MinItems, count) => min = Some(*count),
                Rule::Count(Count::MaxItems, count) => max = Some(*count),
                Rule::Contains(_, least, most) => contains = Some((*least, *most)),
                _ => {}
            }
        }
        if !types.meet(Kinds::ARRAYS) {
            return;
        }
        if let (Some(end), Some(min)) = (end, min)
            && min > end
        {
            self.say(own, "minItems", format!("minItems is {min}, but nothing may stand behind the first {end}"));
        }
        if let Some((least, most)) = contains {
            let longest = max.into_iter().chain(end).min();
            if least > most {
                let keyword = if own.rules.iter().any(|at| at.keyword == Keyword::Contains) { "contains" } else { "" };
                self.say(own, keyword, format!("minContains {least} is more than maxContains {most}"));
            } else if longest.is_some_and(|longest| least > longest) {
                self.say(
                    own,
                    "contains",
                    format!(
                        "{least} elements must match, but no more than {} may stand there",
                        longest.unwrap_or_default()
                    ),
                );
            }
        }
    }

    // --- constants -------------------------------------------------------------------------------------------

    /// `enum` and `const` none of whose values satisfies the rest.
    fn constants(&mut self, own: &'d Schema<'d>, parts: &[&'d Schema<'d>], types: Kinds) {
        for at in own.rules {
            let tape = self.model.tape(own.place);
            let values: Vec<Node> = match &at.rule {
                Rule::Enum(list) => tape.element_nodes(*list).collect(),
                Rule::Const(value) => vec![*value],
                _ => continue,
            };
            let keyword = at.keyword.name();
            if values.is_empty() {
                self.say(own, keyword, "the list is empty, and nothing satisfies it".to_owned());
                continue;
            }
            let bounds = [self.limit(parts, true), self.limit(parts, false)];
            let mut culprit = None;
            let all_fail = values.iter().all(|value| {
                let refused = self.refused_by(parts, types, &bounds, tape.view_node(*value));
                culprit = culprit.or(refused);
                refused.is_some()
            });
            if all_fail {
                let what =
                    if values.len() == 1 { "its value does not satisfy" } else { "none of its values satisfies" };
                let detail = format!("{what} the rest of the schema, such as `{}`", culprit.unwrap_or_default());
                self.say(own, keyword, detail);
            }
        }
    }

    /// The keyword beside it that a constant does not satisfy. `bounds` are the tightest, lower and upper.
    fn refused_by(
        &mut self,
        parts: &[&'d Schema<'d>],
        types: Kinds,
        bounds: &[Option<Limit<'d>>; 2],
        value: View<'d>,
    ) -> Option<&'static str> {
        if !self.spend(parts.len()) {
            return None;
        }
        if !Kinds::of_value(&value).meet(types) {
            return Some("type");
        }
        if let View::String(text) = value {
            return self.text_refused_by(parts, text);
        }
        let View::Number(number) = value else {
            return None;
        };
        let outside = |limit: &Option<Limit<'d>>, wrong: Ordering| {
            limit.filter(|limit| {
                let order = number.compare(limit.number);
                order == wrong || order == Ordering::Equal && limit.exclusive
            })
        };
        let below = outside(&bounds[0], Ordering::Less);
        below.or_else(|| outside(&bounds[1], Ordering::Greater)).map(|limit| limit.keyword)
    }

    fn text_refused_by(&mut self, parts: &[&'d Schema<'d>], text: Text<'d>) -> Option<&'static str> {
        for part in parts {
            if !self.spend(part.rules.len() + text.raw_bytes() / 16) {
                return None;
            }
            for at in part.rules {
                let holds = match &at.rule {
                    Rule::Count(Count::MinLength, min) => text.char_len() >= *min as usize,
                    Rule::Count(Count::MaxLength, max) => text.char_len() <= *max as usize,
                    Rule::Pattern(pattern) => self.matches(*pattern, text),
                    _ => true,
                };
                if !holds {
                    return Some(at.keyword.name());
                }
            }
        }
        None
    }

    /// Whether the text matches; what backtracks is taken to match.
    fn matches(&mut self, pattern: PatternNo, text: Text<'_>) -> bool {
        let work = usize::try_from(self.model.pattern(pattern).fuel(text.raw_bytes())).unwrap_or(usize::MAX);
        if !self.spend(work) {
            return true;
        }
        let pattern = self.model.pattern(pattern);
        pattern.backtracks() || pattern.is_match(text, &mut self.scratch).unwrap_or(true)
    }

    // --- names -----------------------------------------------------------------------------------------------

    /// Required names that the object must not have, and more of them than it may have.
    fn names(&mut self, own: &'d Schema<'d>, parts: &[&'d Schema<'d>], types: Kinds) {
        if !types.meet(Kinds::OBJECTS) {
            return;
        }
        let required = own.rules.iter().find_map(|at| match &at.rule {
            Rule::Required(names) => Some(*names),
            _ => None,
        });
        let Some(required) = required else {
            return;
        };
        for (index, name) in required.iter().enumerate() {
            if self.findings.len() >= FINDINGS_MAX {
                return;
            }
            let Some(why) = parts.iter().find_map(|part| self.forbids(part, name)) else {
                continue;
            };
            let mut pointer = self.model.registry.locations.pointer(own.location, "required");
            pointer.push('/');
            pointer.push_str(&index.to_string());
            let detail = format!("{} is required, but {why}", shorten(&quoted(name)));
            self.findings.push(Finding::new(FindingKind::Contradiction, pointer, detail));
        }
        let max = own.rules.iter().find_map(|at| match &at.rule {
            Rule::Count(Count::MaxProperties, max) => Some(*max),
            _ => None,
        });
        if let Some(max) = max.filter(|max| required.len() > *max as usize) {
            self.say(
                own,
                "maxProperties",
                format!("{} names are required, but no more than {max} may stand there", required.len()),
            );
        }
    }

    /// Why an object of that schema must not have a member of that name.
    fn forbids(&mut self, part: &'d Schema<'d>, name: &str) -> Option<&'static str> {
        if !self.spend(part.rules.len() + part.properties().len()) {
            return None;
        }
        if let Some((_, place)) = part.properties().iter().find(|(known, _)| *known == name) {
            return self.refuses_all(*place).then_some("its schema takes no value");
        }
        for at in part.rules {
            match &at.rule {
                Rule::PropertyNames(names) if self.model.schema(*names).always == Some(false) => {
                    return Some("propertyNames takes no name");
                }
                Rule::PatternProperties(patterns)
                    if patterns.iter().any(|(pattern, _)| self.matches(*pattern, Text::plain_text(name))) =>
                {
                    return None;
                }
                _ => {}
            }
        }
        part.rules.iter().find_map(|at| match &at.rule {
            Rule::AdditionalProperties(place) if self.refuses_all(*place) => {
                Some("it is no property, and no others may stand there")
            }
            _ => None,
        })
    }

    /// Whether the schema is `false`, or says so: `{"not": {}}`.
    fn refuses_all(&mut self, place: Place) -> bool {
        let schema = self.model.schema(place);
        let refuses = |at: &RuleAt<'d>| match at.rule {
            Rule::Not(refused) => {
                let refused = self.model.schema(refused);
                refused.always == Some(true) || refused.always.is_none() && refused.rules.is_empty()
            }
            _ => false,
        };
        schema.always == Some(false) || schema.rules.iter().any(refuses)
    }
}

/// The keyword by which other parts come to a schema.
fn joining(own: &Schema<'_>) -> &'static str {
    if own.rule(|rule| matches!(rule, Rule::AllOf(_))).is_some() { "allOf" } else { "$ref" }
}

/// Whether there is no integer from the one bound to the other. Told of bounds within 53 bits.
fn no_integer_between(lower: &Limit<'_>, upper: &Limit<'_>) -> bool {
    let (Some(from), Some(to)) = (next_integer(lower, true), next_integer(upper, false)) else {
        return false;
    };
    from > to
}

/// The integer nearest to a bound, on its inner side.
#[allow(clippy::cast_possible_truncation)] // within 53 bits
fn next_integer(limit: &Limit<'_>, up: bool) -> Option<i64> {
    const EXACT: f64 = 9_007_199_254_740_991.0;
    let step = if up { 1 } else { -1 };
    match limit.number {
        Number::Int(int) => int.checked_add(if limit.exclusive { step } else { 0 }),
        Number::Decimal { value, .. } if value.abs() < EXACT => {
            let inner = if up { value.ceil() } else { value.floor() };
            let is_bound = inner.total_cmp(&value).is_eq();
            Some(inner as i64 + if is_bound && limit.exclusive { step } else { 0 })
        }
        _ => None,
    }
}

fn written(number: Number<'_>) -> String {
    let mut text = String::new();
    let done = number.write(&mut text);
    debug_assert!(done.is_ok());
    shorten(&text)
}
