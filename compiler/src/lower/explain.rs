//! Explain code: every keyword in the order of the source, each with its note.
//!
//! A note carries all that can be said beforehand: the failing keyword and its location, the description of its
//! schema object, bounds and names already written out. Parts of which only the verdict counts (`not`, `if`,
//! `contains`) run the accept code of their schemas.

use bumpalo::collections::Vec as BumpVec;
use callgate_vm::failure::Wording;
use callgate_vm::insn::{Flags, Types};
use callgate_vm::opcode::build;
use callgate_vm::tape::Node;

use crate::dialect::{Draft, Keyword};
use crate::ir::{Bound, Count, Dependency, Rule, RuleAt, Schema};
use crate::lower::accept::{in_table, is_static, leaf, names_table, required_table};
use crate::lower::composition::part;
use crate::lower::{
    BlockKind, Context, Ends, Low, LowExtra, LowName, LowNote, LowPath, LowTable, Lowerer, Op, OwnTable,
};
use crate::refs::Place;

impl<'d> Lowerer<'_, '_, 'd> {
    /// Lowers the schema at `place` into `ops`, with notes.
    pub(super) fn explain(&mut self, place: Place, ctx: Context, ops: &mut Vec<Op<'d>>) {
        let schema = self.schema(place);
        match schema.always {
            Some(true) => {}
            Some(false) => ops.push(self.false_schema(place, LowPath::Here)),
            None => {
                let ends = self.ends(schema, ctx);
                // A survey knows nothing of names that other parts declare.
                if !matches!(ends, Ends::Names(_)) {
                    self.survey(schema, ctx, ops);
                }
                schema.rules.iter().for_each(|at| self.explain_rule(schema, at, ctx, ops));
                self.explain_ends(schema, ctx, ends, ops);
                if ctx.is_optional && !ops.is_empty() {
                    ops.insert(0, Op { low: Low::SkipType { types: Types::NULL, skip: ops.len() }, note: None });
                }
            }
        }
    }

    /// Heads what is said of members with the table that judges them, if that is one. A member's schema that is `false`
    /// fails where the object is (rule F), so that it has a say beside the object's own keywords.
    fn survey(&mut self, schema: &Schema<'d>, ctx: Context, ops: &mut Vec<Op<'d>>) {
        if !schema.rules.iter().any(|at| in_table(schema, &at.rule)) {
            return;
        }
        let patterns = schema.pattern_properties().unwrap_or_default().iter().map(|(_, place)| *place);
        let mut children = schema.properties().iter().map(|(_, place)| *place).chain(patterns);
        if children.any(|place| self.schema(place).always == Some(false)) {
            return;
        }
        let OwnTable { table, beyond } = self.own_table(schema, ctx);
        if !table.is_empty() && beyond.is_none() {
            ops.push(Op { low: Low::Survey(table), note: None });
        }
    }

    /// The failure of a schema that is `false`: it has no keyword and no description.
    fn false_schema(&mut self, place: Place, path: LowPath) -> Op<'d> {
        let location = self.schema(place).location;
        let note = LowNote {
            keyword: None,
            location,
            description: None,
            types: Types::NONE,
            wording: Wording::FalseSchema,
            texts: &[],
            path,
        };
        self.noted(note, Low::Plain(build::never()))
    }

    /// Names that no part of the composition knows. The failure is of the option and of no keyword; it is worded as that of
    /// `additionalProperties`, and stands where the schema object does.
    fn explain_ends(&mut self, schema: &Schema<'d>, ctx: Context, ends: Ends<'d>, ops: &mut Vec<Op<'d>>) {
        let bump = self.model.registry.bump;
        let note = LowNote {
            keyword: None,
            path: LowPath::Here,
            ..note_of(schema, Keyword::AdditionalProperties, Wording::AdditionalProperties, &[])
        };
        let flags = Flags::UNKNOWN;
        match ends {
            Ends::Open => {}
            Ends::InTable => {
                let OwnTable { table, .. } = self.own_table(schema, ctx);
                let names = table.names.iter().map(|name| LowName { block: None, required: false, ..*name });
                let (names, patterns) = (bump.alloc_slice_fill_iter(names), names_table(schema, bump).patterns);
                let table = bump.alloc(LowTable { names, patterns, extra: LowExtra::Forbid });
                ops.push(self.noted(note, Low::AdditionalProperties { flags, table }));
            }
            Ends::Names(table) => ops.push(self.noted(note, Low::AdditionalProperties { flags, table })),
            Ends::Marked(names) => {
                let unknown = self.noted(note, Low::UnevaluatedProperties { flags, block: None });
                self.marked(schema, ctx, names, unknown, ops);
            }
        }
    }

    /// The instruction with its note.
    fn noted(&self, note: LowNote<'d>, low: Low<'d>) -> Op<'d> {
        Op { low, note: Some(self.model.registry.bump.alloc(note)) }
    }

    fn texts(&self, texts: &[&'d str]) -> &'d [&'d str] {
        self.model.registry.bump.alloc_slice_copy(texts)
    }

    /// Texts in value notation.
    fn all_quoted(&self, texts: impl ExactSizeIterator<Item = &'d str>) -> &'d [&'d str] {
        self.model.registry.bump.alloc_slice_fill_iter(texts.map(|text| self.model.quoted(text)))
    }

    fn explain_rule(&mut self, schema: &Schema<'d>, at: &RuleAt<'d>, ctx: Context, ops: &mut Vec<Op<'d>>) {
        let RuleAt { keyword, ref rule } = *at;
        if let Some(low) = leaf(schema, rule) {
            let (wording, texts) = self.leaf_wording(schema, rule);
            let note = note_of(schema, keyword, wording, texts);
            return ops.push(self.noted(note, low));
        }
        let (child, part) = (self.child(ctx), part(schema, ctx));
        // The wording of an instruction that fails only through what it runs is never used.
        let plain = || note_of(schema, keyword, Wording::Union, &[]);
        match rule {
            Rule::Required(names) => {
                let table = required_table(names, self.model.registry.bump);
                let texts = self.all_quoted(table.names.iter().map(|name| name.name));
                let note = note_of(schema, keyword, Wording::Required, texts);
                let table = self.model.registry.bump.alloc(table);
                ops.push(self.noted(note, Low::Required(table)));
            }
            Rule::Properties(_) => {
                let names = self.names(schema, ctx, BlockKind::Explain, 0).into_bump_slice();
                let table = LowTable { names, patterns: &[], extra: LowExtra::Skip };
                let note = LowNote { texts: self.openness(schema), ..plain() };
                ops.push(self.noted(note, Low::Properties(self.model.registry.bump.alloc(table))));
            }
            Rule::PatternProperties(list) => {
                let bump = self.model.registry.bump;
                let pairs =
                    list.iter().map(|(pattern, place)| (*pattern, self.block(*place, child, BlockKind::Explain)));
                let pairs = bump.alloc_slice_fill_iter(pairs);
                ops.push(self.noted(plain(), Low::PatternProperties(pairs)));
            }
            Rule::AdditionalProperties(inside) => self.additional_properties(schema, keyword, *inside, child, ops),
            Rule::PropertyNames(inside) => {
                let block = self.block(*inside, ctx.as_written(), BlockKind::Explain);
                ops.push(self.noted(plain(), Low::PropertyNames(block)));
            }
            Rule::Prefix(list) => {
                let blocks = self.blocks(list, child, BlockKind::Explain);
                ops.push(self.noted(plain(), Low::PrefixItems(blocks)));
            }
            Rule::Items(start, inside) => {
                let block = self.block(*inside, child, BlockKind::Explain);
                ops.push(self.noted(plain(), Low::Items { start: *start, block, counts: None }));
            }
            Rule::Contains(inside, min, max) => self.contains(schema, *inside, (*min, *max), ctx, ops),
            Rule::AllOf(list) => self.all_of(schema, list, part, ops),
            Rule::AnyOf(list) => {
                let branches = self.blocks(list, part, BlockKind::Explain);
                let texts = self.model.registry.bump.alloc_slice_fill_iter(self.discriminator(schema));
                let note = LowNote { texts, ..plain() };
                ops.push(self.noted(note, Low::AnyOf { flags: Flags::NONE, branches }));
            }
            Rule::OneOf(list) => {
                let branches = self.blocks(list, part, BlockKind::Explain);
                let mut texts = BumpVec::with_capacity_in(list.len() + 1, self.model.registry.bump);
                texts.extend(list.iter().map(|place| self.model.noted(*place, place.node)));
                texts.extend(self.discriminator(schema));
                let note = note_of(schema, keyword, Wording::Union, texts.into_bump_slice());
                ops.push(self.noted(note, Low::OneOf { flags: Flags::NONE, branches }));
            }
            Rule::Not(inside) => {
                let block = self.block(*inside, ctx.as_written(), BlockKind::Judge);
                let texts = self.texts(&[self.model.noted(*inside, inside.node)]);
                let note = note_of(schema, keyword, Wording::Not, texts);
                ops.push(self.noted(note, Low::Not(block)));
            }
            Rule::If(condition, then, otherwise) => {
                let condition = self.block(*condition, ctx.as_written(), BlockKind::Judge);
                let then = then.map(|place| self.block(place, part, BlockKind::Explain));
                let otherwise = otherwise.map(|place| self.block(place, part, BlockKind::Explain));
                // `if` is no step of the evaluation path; `then` and `else` are.
                let note = LowNote { path: LowPath::Here, ..plain() };
                ops.push(self.noted(note, Low::If { flags: Flags::NONE, condition, then, otherwise }));
            }
            Rule::Ref(_) | Rule::DynamicRef(..) | Rule::RecursiveRef(..) => {
                let target = self.target(ctx.scope, rule);
                let block = self.block(target, part, BlockKind::Explain);
                // Neither is `$ref`; the dynamic references are.
                let path = if keyword == Keyword::Ref { LowPath::Here } else { LowPath::Keyword(keyword) };
                let note = LowNote { path, ..plain() };
                ops.push(self.noted(note, Low::Call { block, memo: false, track: false }));
            }
            Rule::Dependencies(list) => self.explain_dependencies(schema, keyword, list, part, ops),
            Rule::UnevaluatedProperties(inside) => self.unevaluated(schema, at, *inside, ctx, ops),
            Rule::UnevaluatedItems(inside) => self.unevaluated(schema, at, *inside, ctx, ops),
            // Leaves have been dealt with.
            _ => {}
        }
    }

    fn leaf_wording(&self, schema: &Schema<'d>, rule: &Rule<'d>) -> (Wording, &'d [&'d str]) {
        let one = |text| self.texts(&[text]);
        let noted = |node| one(self.model.noted(schema.place, node));
        match rule {
            Rule::Type(types, names) => (Wording::NotOfType, self.type_texts(schema, *types, names)),
            Rule::Enum(node) => (Wording::NotOneOf, noted(*node)),
            Rule::Const(node) => (Wording::Expected, noted(*node)),
            Rule::Bound(Bound::Minimum, node) => (Wording::Less, noted(*node)),
            Rule::Bound(Bound::Maximum, node) => (Wording::Greater, noted(*node)),
            Rule::Bound(Bound::ExclusiveMinimum, node) => (Wording::LessOrEqual, noted(*node)),
            Rule::Bound(Bound::ExclusiveMaximum, node) => (Wording::GreaterOrEqual, noted(*node)),
            Rule::MultipleOf(node) => (Wording::NotMultiple, noted(*node)),
            Rule::Count(count, len) => (count_wording(*count, *len), &[]),
            Rule::Pattern(pattern) => (Wording::NoMatch, one(self.model.quoted(self.model.pattern(*pattern).source()))),
            Rule::Format(_, name) => (Wording::NotFormat, one(self.model.quoted(name))),
            Rule::ItemsEnd(len) if schema.draft == Draft::D2020 => (Wording::ExtraItems, one(self.count_text(*len))),
            Rule::ItemsEnd(len) => (Wording::AdditionalItems, one(self.count_text(*len))),
            _ => (Wording::NonUnique, &[]),
        }
    }

    /// The names of the types and, of what is called by its title (objects and enumerations), the title.
    fn type_texts(&self, schema: &Schema<'d>, types: Types, names: &'d str) -> &'d [&'d str] {
        let is_enumeration = || schema.rules.iter().any(|at| matches!(at.rule, Rule::Enum(_)));
        let is_called = types.meets(Types::OBJECT) || is_enumeration();
        match is_called.then(|| self.member_text(schema.place, schema.place.node, "title")).flatten() {
            Some(title) => self.texts(&[names, title]),
            None => self.texts(&[names]),
        }
    }

    /// What is said of further members where they are let through by name, not by silence: the keyword.
    fn openness(&mut self, schema: &Schema<'d>) -> &'d [&'d str] {
        let further = schema.rules.iter().find_map(|at| match at.rule {
            Rule::AdditionalProperties(inside) => Some(inside),
            _ => None,
        });
        let is_open = further.is_some_and(|inside| self.schema(inside).always == Some(true));
        if is_open { &["additionalProperties"] } else { &[] }
    }

    /// The name of the property that tells the branches of a union apart. Source: OpenAPI 3.1, 4.8.25.
    fn discriminator(&self, schema: &Schema<'d>) -> Option<&'d str> {
        let Place { node, .. } = schema.place;
        let discriminator = self.model.tape(schema.place).member(node, "discriminator")?;
        self.member_text(schema.place, discriminator, "propertyName")
    }

    /// The text of a member of an object in the document of `place`.
    fn member_text(&self, place: Place, object: Node, name: &str) -> Option<&'d str> {
        let tape = self.model.tape(place);
        let node = tape.member(object, name).filter(|node| tape.is_string(*node))?;
        Some(self.model.registry.plain(tape.text(node)))
    }

    fn count_text(&self, len: u32) -> &'d str {
        self.model.registry.bump.alloc_str(&len.to_string())
    }

    fn additional_properties(
        &mut self,
        schema: &Schema<'d>,
        keyword: Keyword,
        inside: Place,
        ctx: Context,
        ops: &mut Vec<Op<'d>>,
    ) {
        if self.schema(inside).always == Some(true) {
            return;
        }
        let block = self.unless_false(inside, ctx, BlockKind::Explain);
        let extra = block.map_or(LowExtra::Forbid, |block| LowExtra::Run(Some(block)));
        let note = match schema.pattern_properties() {
            Some(patterns) => {
                let sources = patterns.iter().map(|(pattern, _)| self.model.pattern(*pattern).source());
                let mut patterns: Vec<&str> = sources.collect();
                patterns.sort_unstable();
                let texts: Vec<&str> = patterns.into_iter().map(|pattern| self.model.quoted(pattern)).collect();
                let texts = self.model.registry.bump.alloc_str(&texts.join(", "));
                note_of(schema, keyword, Wording::MatchNoPattern, self.texts(&[texts]))
            }
            None => note_of(schema, keyword, Wording::AdditionalProperties, &[]),
        };
        let bump = self.model.registry.bump;
        let table = bump.alloc(LowTable { extra, ..names_table(schema, bump) });
        ops.push(self.noted(note, Low::AdditionalProperties { flags: Flags::NONE, table }));
    }

    fn contains(
        &mut self,
        schema: &Schema<'d>,
        inside: Place,
        (min, max): (u32, u32),
        ctx: Context,
        ops: &mut Vec<Op<'d>>,
    ) {
        let block = self.block(inside, ctx.as_written(), BlockKind::Judge);
        let note = if schema.draft < Draft::D2019 {
            note_of(schema, Keyword::Contains, Wording::NoneValid, &[])
        } else {
            let bump = self.model.registry.bump;
            let pointer = |keyword| &*bump.alloc_str(&self.model.registry.locations.pointer(schema.location, keyword));
            let bound = |keyword, len| self.bound_text(schema, keyword).unwrap_or_else(|| self.count_text(len));
            let texts =
                [bound("minContains", min), bound("maxContains", max), pointer("minContains"), pointer("maxContains")];
            note_of(schema, Keyword::Contains, Wording::Contains, self.texts(&texts))
        };
        ops.push(self.noted(note, Low::Contains { flags: Flags::NONE, block, min, max }));
    }

    /// A bound as the schema spells it: `2.0` prints as `2.0`.
    fn bound_text(&self, schema: &Schema<'d>, keyword: &str) -> Option<&'d str> {
        let node = self.model.tape(schema.place).member(schema.place.node, keyword)?;
        Some(self.model.noted(schema.place, node))
    }

    fn all_of(&mut self, schema: &Schema<'d>, list: &[Place], ctx: Context, ops: &mut Vec<Op<'d>>) {
        for (index, place) in list.iter().enumerate() {
            if self.schema(*place).always == Some(false) {
                // Rule F: without the step to it.
                let op = self.false_schema(*place, LowPath::Keyword(Keyword::AllOf));
                ops.push(op);
                continue;
            }
            let block = self.block(*place, ctx, BlockKind::Explain);
            let note = note_of(schema, Keyword::AllOf, Wording::Union, &[]);
            let note = LowNote { path: LowPath::Element(Keyword::AllOf, index), ..note };
            ops.push(self.noted(note, Low::Call { block, memo: false, track: false }));
        }
    }

    fn explain_dependencies(
        &mut self,
        schema: &Schema<'d>,
        keyword: Keyword,
        list: &[(&'d str, Dependency<'d>)],
        ctx: Context,
        ops: &mut Vec<Op<'d>>,
    ) {
        for (name, needed) in list {
            let names = match needed {
                Dependency::Names(names) => names,
                Dependency::Schema(place) => {
                    let block = self.block(*place, ctx, BlockKind::Explain);
                    let note = note_of(schema, keyword, Wording::Union, &[]);
                    ops.push(self.noted(note, Low::DependentSchema(name, block)));
                    continue;
                }
            };
            let names = self.with_name(name, names);
            let texts = self.all_quoted(names.iter().copied());
            let note = note_of(schema, keyword, Wording::Dependency, texts);
            ops.push(self.noted(note, Low::DependentRequired(names)));
        }
    }

    /// First what the rest of the schema evaluates, then what is left.
    fn unevaluated(
        &mut self,
        schema: &Schema<'d>,
        at: &RuleAt<'d>,
        inside: Place,
        ctx: Context,
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
        let note = note_of(schema, at.keyword, wording, &[]);
        if always == Some(false) && is_static(schema, &at.rule) {
            let bump = self.model.registry.bump;
            let table = bump.alloc(LowTable { extra: LowExtra::Forbid, ..names_table(schema, bump) });
            return ops.push(self.noted(note, Low::AdditionalProperties { flags: Flags::NONE, table }));
        }
        let kind = if items { BlockKind::Judge } else { BlockKind::Explain };
        let block = self.unless_false(inside, self.child(ctx), kind);
        let marks = self.block(schema.place, ctx.as_written(), BlockKind::Mark);
        let flags = Flags::NONE;
        let low =
            if items { Low::UnevaluatedItems { flags, block } } else { Low::UnevaluatedProperties { flags, block } };
        ops.push(Op { low: Low::Plain(build::track_open()), note: None });
        ops.push(Op { low: Low::MarkBy(marks), note: None });
        ops.push(self.noted(note, low));
        ops.push(Op { low: Low::Plain(build::track_close(Flags::NONE)), note: None });
    }
}

/// The note of a keyword of the schema.
fn note_of<'d>(schema: &Schema<'d>, keyword: Keyword, wording: Wording, texts: &'d [&'d str]) -> LowNote<'d> {
    LowNote {
        keyword: Some(keyword),
        location: schema.location,
        description: schema.description,
        types: schema.types,
        wording,
        texts,
        path: LowPath::Keyword(keyword),
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
