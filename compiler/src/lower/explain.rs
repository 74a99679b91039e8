//! Explain code: every keyword in the order of the source, each with its note.
//!
//! A note carries all that can be said beforehand: the failing keyword and its location, the description of its
//! schema object, bounds and names already written out. Parts of which only the verdict counts (`not`, `if`,
//! `contains`) run the accept code of their schemas.

use callgate_vm::failure::Wording;
use callgate_vm::insn::{Flags, Types};
use callgate_vm::opcode::build;

use crate::dialect::Draft;
use crate::ir::{Bound, Count, Dependency, Rule, RuleAt, Schema, quoted};
use crate::lower::accept::{is_static, leaf, names_table, required_table};
use crate::lower::{BlockKind, Low, LowExtra, LowNote, LowSegment, LowTable, Lowerer, Op, ScopeId};
use crate::refs::Place;

impl<'d> Lowerer<'_, '_, 'd> {
    /// Lowers the schema at `place` into `ops`, with notes.
    pub(super) fn explain(&mut self, place: Place, scope: ScopeId, ops: &mut Vec<Op<'d>>) {
        let schema = self.schema(place);
        match schema.always {
            Some(true) => {}
            Some(false) => ops.push(self.false_schema(place, Vec::new())),
            None => schema.rules.iter().for_each(|at| self.explain_rule(&schema, at, scope, ops)),
        }
    }

    /// The failure of a schema that is `false`: it has no keyword and no description.
    fn false_schema(&mut self, place: Place, path: Vec<LowSegment>) -> Op<'d> {
        let location = self.schema(place).location;
        let note = LowNote {
            keyword: None,
            location: self.model.registry.locations.pointer(location, ""),
            description: None,
            types: Types::NONE,
            wording: Wording::FalseSchema,
            texts: Vec::new(),
            path,
        };
        Op { low: Low::Plain(build::never()), note: Some(Box::new(note)) }
    }

    fn note(&self, schema: &Schema<'d>, keyword: &'static str, wording: Wording, texts: Vec<String>) -> LowNote<'d> {
        LowNote {
            keyword: Some(keyword),
            location: self.model.registry.locations.pointer(schema.location, keyword),
            description: schema.description,
            types: schema.types,
            wording,
            texts,
            path: vec![LowSegment::Keyword(keyword)],
        }
    }

    fn explain_rule(&mut self, schema: &Schema<'d>, at: &RuleAt<'d>, scope: ScopeId, ops: &mut Vec<Op<'d>>) {
        let RuleAt { keyword, rule } = at;
        if let Some(low) = leaf(schema, rule) {
            let (wording, texts) = self.leaf_wording(schema, rule);
            let note = self.note(schema, keyword, wording, texts);
            ops.push(Op { low, note: Some(Box::new(note)) });
            return;
        }
        let mut push = |note: LowNote<'d>, low: Low<'d>| ops.push(Op { low, note: Some(Box::new(note)) });
        // The wording of an instruction that fails only through what it runs is never used.
        let plain = |this: &Self| this.note(schema, keyword, Wording::Union, Vec::new());
        match rule {
            Rule::Required(names) => {
                let table = required_table(names);
                let texts = table.names.iter().map(|name| quoted(name.name)).collect();
                push(self.note(schema, keyword, Wording::Required, texts), Low::Required(table));
            }
            Rule::Properties(_) => {
                let table = LowTable { patterns: Vec::new(), ..self.table(schema, scope, BlockKind::Explain) };
                push(plain(self), Low::Properties(table));
            }
            Rule::PatternProperties(list) => {
                let pairs = list
                    .iter()
                    .map(|(pattern, place)| (pattern.clone(), self.block(*place, scope, BlockKind::Explain)));
                let pairs = pairs.collect();
                push(plain(self), Low::PatternProperties(pairs));
            }
            Rule::AdditionalProperties(inside) => self.additional_properties(schema, keyword, *inside, scope, ops),
            Rule::PropertyNames(inside) => {
                let block = self.block(*inside, scope, BlockKind::Explain);
                push(plain(self), Low::PropertyNames(block));
            }
            Rule::Prefix(list) => {
                let blocks = self.blocks(list, scope, BlockKind::Explain);
                push(plain(self), Low::PrefixItems(blocks));
            }
            Rule::Items(start, inside) => {
                let block = self.block(*inside, scope, BlockKind::Explain);
                push(plain(self), Low::Items { start: *start, block });
            }
            Rule::Contains(inside, min, max) => self.contains(schema, *inside, (*min, *max), scope, ops),
            Rule::AllOf(list) => self.all_of(schema, list, scope, ops),
            Rule::AnyOf(list) => {
                let branches = self.blocks(list, scope, BlockKind::Explain);
                push(plain(self), Low::AnyOf { flags: Flags::NONE, branches });
            }
            Rule::OneOf(list) => {
                let branches = self.blocks(list, scope, BlockKind::Explain);
                let texts = list.iter().map(|place| self.model.notation(*place, place.node)).collect();
                push(self.note(schema, keyword, Wording::Union, texts), Low::OneOf { flags: Flags::NONE, branches });
            }
            Rule::Not(inside) => {
                let block = self.block(*inside, scope, BlockKind::Judge);
                let texts = vec![self.model.notation(*inside, inside.node)];
                push(self.note(schema, keyword, Wording::Not, texts), Low::Not(block));
            }
            Rule::If(condition, then, otherwise) => {
                let condition = self.block(*condition, scope, BlockKind::Judge);
                let then = then.map(|place| self.block(place, scope, BlockKind::Explain));
                let otherwise = otherwise.map(|place| self.block(place, scope, BlockKind::Explain));
                // `if` is no step of the evaluation path; `then` and `else` are.
                let note = LowNote { path: Vec::new(), ..plain(self) };
                push(note, Low::If { flags: Flags::NONE, condition, then, otherwise });
            }
            Rule::Ref(_) | Rule::DynamicRef(..) | Rule::RecursiveRef(..) => {
                let target = self.target(scope, rule);
                let block = self.block(target, scope, BlockKind::Explain);
                // Neither is `$ref`; the dynamic references are.
                let path = if *keyword == "$ref" { Vec::new() } else { vec![LowSegment::Keyword(keyword)] };
                let note = LowNote { path, ..plain(self) };
                push(note, Low::Call { block, memo: false, track: false });
            }
            Rule::Dependencies(list) => self.explain_dependencies(schema, keyword, list, scope, ops),
            Rule::UnevaluatedProperties(inside) => self.unevaluated(schema, at, *inside, scope, ops),
            Rule::UnevaluatedItems(inside) => self.unevaluated(schema, at, *inside, scope, ops),
            // Leaves have been dealt with.
            _ => {}
        }
    }

    fn leaf_wording(&self, schema: &Schema<'d>, rule: &Rule<'d>) -> (Wording, Vec<String>) {
        let notation = |node| vec![self.model.notation(schema.place, node)];
        match rule {
            Rule::Type(_, names) => (Wording::NotOfType, vec![names.clone()]),
            Rule::Enum(node) => (Wording::NotOneOf, notation(*node)),
            Rule::Const(node) => (Wording::Expected, notation(*node)),
            Rule::Bound(Bound::Minimum, node) => (Wording::Less, notation(*node)),
            Rule::Bound(Bound::Maximum, node) => (Wording::Greater, notation(*node)),
            Rule::Bound(Bound::ExclusiveMinimum, node) => (Wording::LessOrEqual, notation(*node)),
            Rule::Bound(Bound::ExclusiveMaximum, node) => (Wording::GreaterOrEqual, notation(*node)),
            Rule::MultipleOf(node) => (Wording::NotMultiple, notation(*node)),
            Rule::Count(count, len) => (count_wording(*count, *len), Vec::new()),
            Rule::Pattern(pattern) => (Wording::NoMatch, vec![quoted(pattern.source())]),
            Rule::Format(_, name) => (Wording::NotFormat, vec![quoted(name)]),
            Rule::ItemsEnd(len) if schema.draft == Draft::D2020 => (Wording::ExtraItems, vec![len.to_string()]),
            Rule::ItemsEnd(len) => (Wording::AdditionalItems, vec![len.to_string()]),
            _ => (Wording::NonUnique, Vec::new()),
        }
    }

    fn additional_properties(
        &mut self,
        schema: &Schema<'d>,
        keyword: &'static str,
        inside: Place,
        scope: ScopeId,
        ops: &mut Vec<Op<'d>>,
    ) {
        if self.schema(inside).always == Some(true) {
            return;
        }
        let block = self.unless_false(inside, scope, BlockKind::Explain);
        let extra = block.map_or(LowExtra::Forbid, |block| LowExtra::Run(Some(block)));
        let note = match schema.pattern_properties() {
            Some(patterns) => {
                let mut patterns: Vec<&str> = patterns.iter().map(|(pattern, _)| pattern.source()).collect();
                patterns.sort_unstable();
                let texts = patterns.into_iter().map(quoted).collect::<Vec<_>>().join(", ");
                self.note(schema, keyword, Wording::MatchNoPattern, vec![texts])
            }
            None => self.note(schema, keyword, Wording::AdditionalProperties, Vec::new()),
        };
        let table = LowTable { extra, ..names_table(schema) };
        let low = Low::AdditionalProperties { flags: Flags::NONE, table };
        ops.push(Op { low, note: Some(Box::new(note)) });
    }

    fn contains(
        &mut self,
        schema: &Schema<'d>,
        inside: Place,
        (min, max): (u32, u32),
        scope: ScopeId,
        ops: &mut Vec<Op<'d>>,
    ) {
        let block = self.block(inside, scope, BlockKind::Judge);
        let note = if schema.draft < Draft::D2019 {
            self.note(schema, "contains", Wording::NoneValid, Vec::new())
        } else {
            let pointer = |keyword| self.model.registry.locations.pointer(schema.location, keyword);
            let bound = |keyword, len: u32| self.bound_text(schema, keyword).unwrap_or_else(|| len.to_string());
            let texts = vec![
                bound("minContains", min),
                bound("maxContains", max),
                pointer("minContains"),
                pointer("maxContains"),
            ];
            self.note(schema, "contains", Wording::Contains, texts)
        };
        let low = Low::Contains { flags: Flags::NONE, block, min, max };
        ops.push(Op { low, note: Some(Box::new(note)) });
    }

    /// A bound as the schema spells it: `2.0` prints as `2.0`.
    fn bound_text(&self, schema: &Schema<'d>, keyword: &str) -> Option<String> {
        let node = self.model.tape(schema.place).member(schema.place.node, keyword)?;
        Some(self.model.notation(schema.place, node))
    }

    fn all_of(&mut self, schema: &Schema<'d>, list: &[Place], scope: ScopeId, ops: &mut Vec<Op<'d>>) {
        for (index, place) in list.iter().enumerate() {
            if self.schema(*place).always == Some(false) {
                // Rule F: without the step to it.
                ops.push(self.false_schema(*place, vec![LowSegment::Keyword("allOf")]));
                continue;
            }
            let block = self.block(*place, scope, BlockKind::Explain);
            let note = self.note(schema, "allOf", Wording::Union, Vec::new());
            let note = LowNote { path: vec![LowSegment::Keyword("allOf"), LowSegment::Index(index)], ..note };
            ops.push(Op { low: Low::Call { block, memo: false, track: false }, note: Some(Box::new(note)) });
        }
    }

    fn explain_dependencies(
        &mut self,
        schema: &Schema<'d>,
        keyword: &'static str,
        list: &[(&'d str, Dependency<'d>)],
        scope: ScopeId,
        ops: &mut Vec<Op<'d>>,
    ) {
        for (name, needed) in list {
            let names = match needed {
                Dependency::Names(names) => names,
                Dependency::Schema(place) => {
                    let block = self.block(*place, scope, BlockKind::Explain);
                    let note = self.note(schema, keyword, Wording::Union, Vec::new());
                    let low = Low::DependentSchema(name, block);
                    ops.push(Op { low, note: Some(Box::new(note)) });
                    continue;
                }
            };
            let names: Vec<&'d str> = std::iter::once(name).chain(names).copied().collect();
            let texts = names.iter().map(|name| quoted(name)).collect();
            let note = self.note(schema, keyword, Wording::Dependency, texts);
            ops.push(Op { low: Low::DependentRequired(names), note: Some(Box::new(note)) });
        }
    }

    /// First what the rest of the schema evaluates, then what is left.
    fn unevaluated(
        &mut self,
        schema: &Schema<'d>,
        at: &RuleAt<'d>,
        inside: Place,
        scope: ScopeId,
        ops: &mut Vec<Op<'d>>,
    ) {
        let always = self.schema(inside).always;
        if always == Some(true) {
            return;
        }
        let items = matches!(at.rule, Rule::UnevaluatedItems(_));
        let wording = match (items, always) {
            (true, _) => Wording::UnevaluatedItems,
            (false, Some(false)) => Wording::UnevaluatedProperties,
            (false, _) => Wording::UnevaluatedInvalid,
        };
        let note = Some(Box::new(self.note(schema, at.keyword, wording, Vec::new())));
        if always == Some(false) && is_static(schema, &at.rule) {
            let table = LowTable { extra: LowExtra::Forbid, ..names_table(schema) };
            ops.push(Op { low: Low::AdditionalProperties { flags: Flags::NONE, table }, note });
            return;
        }
        let kind = if items { BlockKind::Judge } else { BlockKind::Explain };
        let block = self.unless_false(inside, scope, kind);
        let marks = self.block(schema.place, scope, BlockKind::Mark);
        let flags = Flags::NONE;
        let low =
            if items { Low::UnevaluatedItems { flags, block } } else { Low::UnevaluatedProperties { flags, block } };
        ops.push(Op { low: Low::Plain(build::track_open()), note: None });
        ops.push(Op { low: Low::MarkBy(marks), note: None });
        ops.push(Op { low, note });
        ops.push(Op { low: Low::Plain(build::track_close(Flags::NONE)), note: None });
    }
}

fn count_wording(count: Count, len: u32) -> Wording {
    match (count, len) {
        (count, 1) if count.is_minimum() => Wording::NonEmpty,
        (count, 0) if !count.is_minimum() => Wording::ExpectedEmpty,
        (Count::MinLength | Count::MinItems, _) => Wording::TooShort,
        (Count::MaxLength | Count::MaxItems, _) => Wording::TooLong,
        (Count::MinProperties, _) => Wording::TooFewProperties,
        (Count::MaxProperties, _) => Wording::TooManyProperties,
    }
}
