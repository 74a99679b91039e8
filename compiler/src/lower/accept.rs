//! Accept code: judging, as cheap as the schema allows.
//!
//! The order of the source means nothing here: what is cheap and what fails most comes first, and everything about an
//! object's members is one instruction. The same lowering serves code that tracks what is evaluated; it adds marks,
//! and lets the branches of unions run to the end.

use bumpalo::Bump;
use bumpalo::collections::Vec as BumpVec;
use callgate_vm::insn::{Flags, FormatId, Len, Types, Word};
use callgate_vm::opcode::build;

use crate::ir::{Bound, Count, Dependency, Rule, Schema};
use crate::lower::composition::part;
use crate::lower::{
    BlockId, BlockKind, Context, Ends, Low, LowExtra, LowName, LowTable, Lowerer, Op, OwnTable, RECURSIVE_ANCHOR,
    ScopeId,
};
use crate::pattern_cache::PatternNo;
use crate::refs::Place;

/// How many `allOf` may be merged into one block; deeper ones are called.
const INLINE_DEPTH_MAX: u32 = 8;

/// Required names that `object_table` watches; more are left to `required`.
const REQUIRED_MAX: usize = 64;

fn push<'d>(ops: &mut Vec<Op<'d>>, low: Low<'d>) {
    ops.push(Op { low, note: None });
}

/// The order in which rules are judged: cheap and telling first.
fn rank(rule: &Rule<'_>) -> u8 {
    match rule {
        Rule::Type(..) => 0,
        Rule::Enum(_)
        | Rule::Const(_)
        | Rule::Bound(..)
        | Rule::MultipleOf(_)
        | Rule::Count(..)
        | Rule::ItemsEnd(_) => 1,
        Rule::Pattern(_) | Rule::Format(..) => 2,
        Rule::Required(_) | Rule::Properties(_) | Rule::PatternProperties(_) | Rule::AdditionalProperties(_) => 3,
        Rule::PropertyNames(_) | Rule::Prefix(_) | Rule::Items(..) | Rule::Contains(..) | Rule::UniqueItems => 4,
        Rule::Ref(_) | Rule::DynamicRef(..) | Rule::RecursiveRef(..) | Rule::AllOf(_) => 5,
        Rule::AnyOf(_) | Rule::OneOf(_) | Rule::Not(_) | Rule::If(..) | Rule::Dependencies(_) => 6,
        Rule::UnevaluatedProperties(_) | Rule::UnevaluatedItems(_) => 7,
    }
}

/// The instruction of a rule about scalars or counts, the same in all code.
pub(super) fn leaf<'d>(schema: &Schema<'d>, rule: &Rule<'d>) -> Option<Low<'d>> {
    let count = |count: Count, len: u32| -> Word {
        let len = Len(len);
        match count {
            Count::MinLength => build::min_length(len),
            Count::MaxLength => build::max_length(len),
            Count::MinItems => build::min_items(len),
            Count::MaxItems => build::max_items(len),
            Count::MinProperties => build::min_properties(len),
            Count::MaxProperties => build::max_properties(len),
        }
    };
    Some(match rule {
        Rule::Type(types, _) => Low::Plain(build::type_is(*types)),
        Rule::Enum(node) => Low::Enum(schema.place, *node),
        Rule::Const(node) => Low::Const(schema.place, *node),
        Rule::Bound(bound, node) => {
            let build = match bound {
                Bound::Minimum => build::minimum,
                Bound::Maximum => build::maximum,
                Bound::ExclusiveMinimum => build::exclusive_minimum,
                Bound::ExclusiveMaximum => build::exclusive_maximum,
            };
            Low::Number(build, schema.place, *node)
        }
        Rule::MultipleOf(node) => Low::Number(build::multiple_of, schema.place, *node),
        Rule::Count(which, len) => Low::Plain(count(*which, *len)),
        Rule::Pattern(pattern) => Low::Matches(*pattern),
        Rule::Format(format, _) => Low::Plain(build::format_is(FormatId(*format as u8))),
        Rule::ItemsEnd(len) => Low::Plain(build::items_end(Len(*len))),
        Rule::UniqueItems => Low::Plain(build::unique_items()),
        _ => return None,
    })
}

impl<'d> Lowerer<'_, '_, 'd> {
    /// Lowers the schema at `place` into `ops`; with `track`, so that what it evaluates is marked.
    pub(super) fn judge(&mut self, place: Place, ctx: Context, track: bool, inlined: u32, ops: &mut Vec<Op<'d>>) {
        let schema = self.schema(place);
        let from = ops.len();
        match schema.always {
            Some(true) => return,
            Some(false) => return push(ops, Low::Plain(build::never())),
            None => {}
        }
        let rules = self.model.registry.bump.alloc_slice_fill_iter(schema.rules.iter().map(|at| &at.rule));
        rules.sort_by_key(|rule| rank(rule));
        let unevaluated = |rule: &&Rule<'d>| matches!(rule, Rule::UnevaluatedProperties(_) | Rule::UnevaluatedItems(_));
        let opens = rules.iter().any(|rule| unevaluated(rule) && !is_static(schema, rule));
        if opens {
            push(ops, Low::Plain(build::track_open()));
        }
        let inner = track || opens;
        let ends = self.ends(schema, ctx);
        let mut tabled = false;
        for rule in rules.iter().copied() {
            match rule {
                rule if in_table(schema, rule) => {
                    if !std::mem::replace(&mut tabled, true) {
                        self.object_table(schema, ctx, inner, ops);
                    }
                }
                rule => self.judge_rule(schema, ctx, inner, inlined, rule, ops),
            }
        }
        if opens {
            push(ops, Low::Plain(build::track_close(if track { Flags::TRACK } else { Flags::NONE })));
        }
        self.judge_ends(schema, ctx, ends, ops);
        if ctx.is_optional && ops.len() > from {
            ops.insert(from, Op { low: Low::SkipType { types: Types::NULL, skip: ops.len() - from }, note: None });
        }
    }

    /// What is known of the members' names is asked for last.
    fn judge_ends(&mut self, schema: &Schema<'d>, ctx: Context, ends: Ends<'d>, ops: &mut Vec<Op<'d>>) {
        match ends {
            Ends::Open | Ends::InTable => {}
            Ends::Names(table) => push(ops, Low::AdditionalProperties { flags: Flags::NONE, table }),
            Ends::Marked(names) => {
                let unknown = Low::UnevaluatedProperties { flags: Flags::NONE, block: None };
                self.marked(schema, ctx, names, Op { low: unknown, note: None }, ops);
            }
        }
    }

    /// Marks what any part of the composition evaluates, and runs `unknown` on what is left.
    pub(super) fn marked(
        &mut self,
        schema: &Schema<'d>,
        ctx: Context,
        names: &'d LowTable<'d>,
        unknown: Op<'d>,
        ops: &mut Vec<Op<'d>>,
    ) {
        let marks = self.block(schema.place, ctx.as_written(), BlockKind::Mark);
        push(ops, Low::Plain(build::track_open()));
        push(ops, Low::MarkNames(names));
        push(ops, Low::MarkBy(marks));
        ops.push(unknown);
        push(ops, Low::Plain(build::track_close(Flags::NONE)));
    }

    fn judge_rule(
        &mut self,
        schema: &Schema<'d>,
        ctx: Context,
        track: bool,
        inlined: u32,
        rule: &Rule<'d>,
        ops: &mut Vec<Op<'d>>,
    ) {
        if let Some(low) = leaf(schema, rule) {
            return push(ops, low);
        }
        let kind = if track { BlockKind::Track } else { BlockKind::Judge };
        let flags = if track { Flags::TRACK } else { Flags::NONE };
        let (child, part) = (self.child(ctx), part(schema, ctx));
        match rule {
            Rule::PropertyNames(inside) => {
                let block = self.block(*inside, ctx.as_written(), BlockKind::Judge);
                push(ops, Low::PropertyNames(block));
            }
            Rule::Prefix(list) => {
                let blocks = self.blocks(list, child, BlockKind::Judge);
                push(ops, Low::PrefixItems(blocks));
                mark_items(track, list.len() as u32, ops);
            }
            Rule::Items(start, inside) => {
                let block = self.block(*inside, child, BlockKind::Judge);
                push(ops, Low::Items { start: *start, block, counts: None });
                mark_items(track, u32::MAX, ops);
            }
            Rule::Contains(inside, min, max) => {
                let block = self.block(*inside, ctx.as_written(), BlockKind::Judge);
                let flags = if track && contains_evaluates(schema) { Flags::TRACK } else { Flags::NONE };
                push(ops, Low::Contains { flags, block, min: *min, max: *max });
            }
            Rule::Ref(_) | Rule::DynamicRef(..) | Rule::RecursiveRef(..) => {
                let target = self.target(ctx.scope, rule);
                let block = self.block(target, part, kind);
                push(ops, Low::Call { block, memo: false, track });
            }
            Rule::AllOf(list) => {
                for place in *list {
                    if inlined < INLINE_DEPTH_MAX {
                        let scope = self.enter(*place, ctx.scope);
                        self.judge(*place, Context { scope, ..part }, track, inlined + 1, ops);
                    } else {
                        let block = self.block(*place, part, kind);
                        push(ops, Low::Call { block, memo: false, track });
                    }
                }
            }
            Rule::AnyOf(list) => {
                let branches = self.blocks(list, part, kind);
                push(ops, Low::AnyOf { flags, branches });
            }
            Rule::OneOf(list) => {
                let branches = self.blocks(list, part, kind);
                push(ops, Low::OneOf { flags, branches });
            }
            Rule::Not(inside) => {
                let block = self.block(*inside, ctx.as_written(), BlockKind::Judge);
                push(ops, Low::Not(block));
            }
            Rule::If(condition, then, otherwise) => {
                let condition = self.block(*condition, ctx.as_written(), kind);
                let then = then.map(|place| self.block(place, part, kind));
                let otherwise = otherwise.map(|place| self.block(place, part, kind));
                push(ops, Low::If { flags, condition, then, otherwise });
            }
            Rule::Dependencies(list) => self.dependencies(list, part, kind, ops),
            Rule::UnevaluatedProperties(inside) => {
                let block = self.unless_false(*inside, child, BlockKind::Judge);
                push(ops, Low::UnevaluatedProperties { flags: Flags::NONE, block });
            }
            Rule::UnevaluatedItems(inside) => {
                let block = self.unless_false(*inside, child, BlockKind::Judge);
                push(ops, Low::UnevaluatedItems { flags: Flags::NONE, block });
            }
            // Leaves, and what the table has.
            _ => {}
        }
    }

    pub(super) fn blocks(&mut self, places: &[Place], ctx: Context, kind: BlockKind) -> &'d [BlockId] {
        let bump = self.model.registry.bump;
        bump.alloc_slice_fill_iter(places.iter().map(|place| self.block(*place, ctx, kind)))
    }

    /// The name, and after it the others.
    pub(super) fn with_name(&self, name: &'d str, others: &[&'d str]) -> &'d [&'d str] {
        let mut names = BumpVec::with_capacity_in(others.len() + 1, self.model.registry.bump);
        names.push(name);
        names.extend_from_slice_copy(others);
        names.into_bump_slice()
    }

    /// The block of a schema, unless it is `false`.
    pub(super) fn unless_false(&mut self, place: Place, ctx: Context, kind: BlockKind) -> Option<BlockId> {
        let never = self.schema(place).always == Some(false);
        (!never).then(|| self.block(place, ctx, kind))
    }

    /// What a reference leads to.
    pub(super) fn target(&mut self, scope: ScopeId, rule: &Rule<'d>) -> Place {
        match rule {
            Rule::DynamicRef(target, anchor) => self.dynamic_target(scope, *target, *anchor),
            Rule::RecursiveRef(target, true) => self.dynamic_target(scope, *target, Some(RECURSIVE_ANCHOR)),
            Rule::RecursiveRef(target, false) | Rule::Ref(target) => *target,
            _ => Place { doc: 0, node: 0 },
        }
    }

    fn dependencies(
        &mut self,
        list: &[(&'d str, Dependency<'d>)],
        ctx: Context,
        kind: BlockKind,
        ops: &mut Vec<Op<'d>>,
    ) {
        for (name, needed) in list {
            match needed {
                Dependency::Names([]) => {}
                Dependency::Names(names) => {
                    push(ops, Low::DependentRequired(self.with_name(name, names)));
                }
                Dependency::Schema(place) => {
                    let block = self.block(*place, ctx, kind);
                    push(ops, Low::DependentSchema(name, block));
                }
            }
        }
    }

    /// Everything about the members in one instruction, and the marks beside it.
    fn object_table(&mut self, schema: &Schema<'d>, ctx: Context, track: bool, ops: &mut Vec<Op<'d>>) {
        let bump = self.model.registry.bump;
        let OwnTable { table, beyond } = self.own_table(schema, ctx);
        if !table.is_empty() {
            push(ops, Low::ObjectTable(table));
        }
        if let Some(beyond) = beyond {
            push(ops, Low::Required(beyond));
        }
        if track {
            let mut marks = names_table(schema, bump);
            let all = |rule: &Rule<'d>| matches!(rule, Rule::AdditionalProperties(_)) || is_static(schema, rule);
            if schema.rule(all).is_some() {
                marks.extra = LowExtra::Run(None);
            }
            push(ops, Low::MarkNames(bump.alloc(marks)));
        }
    }

    /// The table of the schema's own members, made once for each scope.
    pub(super) fn own_table(&mut self, schema: &Schema<'d>, ctx: Context) -> OwnTable<'d> {
        let site = self.model.registry.site_id(schema.place).filter(|_| ctx.is_plain());
        let known = match site {
            Some(site) => self.own_tables.get(site as usize).copied().flatten(),
            None => self.other_tables.get(&(schema.place, ctx)).copied(),
        };
        if let Some(known) = known {
            return known;
        }
        let bump = self.model.registry.bump;
        let required: &[&str] = match schema.rule(|rule| matches!(rule, Rule::Required(_))) {
            Some(Rule::Required(names)) => names,
            _ => &[],
        };
        let mut names = self.names(schema, ctx, BlockKind::Judge, required.len());
        let patterns = self.patterns(schema, self.child(ctx), BlockKind::Judge);
        let mut extra = self.extra(schema, self.child(ctx));
        let beyond = add_required(&mut names, required, bump).map(|table| &*bump.alloc(table));
        if matches!(self.ends(schema, ctx), Ends::InTable) {
            extra = LowExtra::Forbid;
            // What must be there is known, declared or not.
            names.iter_mut().for_each(|name| name.declared = true);
        }
        let table = bump.alloc(LowTable { names: names.into_bump_slice(), patterns, extra });
        let own = OwnTable { table, beyond };
        match site {
            Some(site) => {
                let len = self.own_tables.len().max(self.model.registry.sites().len());
                self.own_tables.resize(len, None);
                self.own_tables[site as usize] = Some(own);
            }
            None => drop(self.other_tables.insert((schema.place, ctx), own)),
        }
        own
    }

    /// The declared names with their blocks, and room for some more.
    pub(super) fn names(
        &mut self,
        schema: &Schema<'d>,
        ctx: Context,
        kind: BlockKind,
        more: usize,
    ) -> BumpVec<'d, LowName<'d>> {
        let properties = schema.properties();
        let mut names = BumpVec::with_capacity_in(properties.len() + more, self.model.registry.bump);
        for (name, place) in properties {
            let property = self.property(schema, ctx, name, *place);
            let block = Some(self.block(*place, property, kind));
            names.push(LowName { name, block, declared: true, required: false });
        }
        names
    }

    /// The patterns with their blocks.
    fn patterns(&mut self, schema: &Schema<'d>, ctx: Context, kind: BlockKind) -> &'d [(PatternNo, Option<BlockId>)] {
        let bump = self.model.registry.bump;
        let patterns = schema.pattern_properties().unwrap_or_default().iter();
        bump.alloc_slice_fill_iter(patterns.map(|(pattern, place)| (*pattern, Some(self.block(*place, ctx, kind)))))
    }

    /// What the table does with the members that it does not name.
    fn extra(&mut self, schema: &Schema<'d>, ctx: Context) -> LowExtra {
        let place = schema.rules.iter().find_map(|at| match &at.rule {
            Rule::AdditionalProperties(place) => Some(*place),
            Rule::UnevaluatedProperties(place) if is_static(schema, &at.rule) => Some(*place),
            _ => None,
        });
        let Some(place) = place else {
            return LowExtra::Skip;
        };
        match self.schema(place).always {
            Some(false) => LowExtra::Forbid,
            Some(true) => LowExtra::Skip,
            None => LowExtra::Run(Some(self.block(place, ctx, BlockKind::Judge))),
        }
    }

    /// Marks what the schema at `place` evaluates, and judges nothing that does not decide it.
    pub(super) fn mark(&mut self, place: Place, ctx: Context, ops: &mut Vec<Op<'d>>) {
        let soft = Flags::TRACK.with(Flags::SOFT);
        let schema = self.schema(place);
        let bump = self.model.registry.bump;
        let names = names_table(schema, bump);
        if !names.names.is_empty() || !names.patterns.is_empty() {
            push(ops, Low::MarkNames(bump.alloc(names)));
        }
        for at in schema.rules {
            match &at.rule {
                Rule::AdditionalProperties(inside) => {
                    if let Some(block) = self.unless_false(*inside, ctx, BlockKind::Judge) {
                        let table = bump.alloc(LowTable { extra: LowExtra::Run(Some(block)), ..names });
                        push(ops, Low::AdditionalProperties { flags: soft, table });
                    }
                }
                Rule::UnevaluatedProperties(inside) => {
                    if let Some(block) = self.unless_false(*inside, ctx, BlockKind::Judge) {
                        push(ops, Low::UnevaluatedProperties { flags: soft, block: Some(block) });
                    }
                }
                Rule::UnevaluatedItems(inside) => {
                    if let Some(block) = self.unless_false(*inside, ctx, BlockKind::Judge) {
                        push(ops, Low::UnevaluatedItems { flags: soft, block: Some(block) });
                    }
                }
                Rule::Prefix(list) => mark_items(true, list.len() as u32, ops),
                Rule::Items(..) | Rule::ItemsEnd(_) => mark_items(true, u32::MAX, ops),
                Rule::Contains(inside, ..) if contains_evaluates(schema) => {
                    let block = self.block(*inside, ctx, BlockKind::Judge);
                    push(ops, Low::Contains { flags: soft, block, min: 0, max: u32::MAX });
                }
                Rule::AllOf(list) | Rule::AnyOf(list) | Rule::OneOf(list) => {
                    let branches = self.blocks(list, ctx, BlockKind::Track);
                    push(ops, Low::AnyOf { flags: soft, branches });
                }
                Rule::If(condition, then, otherwise) => {
                    let condition = self.block(*condition, ctx, BlockKind::Track);
                    let then = then.map(|place| self.block(place, ctx, BlockKind::Mark));
                    let otherwise = otherwise.map(|place| self.block(place, ctx, BlockKind::Mark));
                    push(ops, Low::If { flags: Flags::TRACK, condition, then, otherwise });
                }
                Rule::Ref(_) | Rule::DynamicRef(..) | Rule::RecursiveRef(..) => {
                    let target = self.target(ctx.scope, &at.rule);
                    let block = self.block(target, ctx, BlockKind::Mark);
                    push(ops, Low::Call { block, memo: false, track: true });
                }
                Rule::Dependencies(list) => {
                    let schemas = list.iter().filter(|(_, needed)| matches!(needed, Dependency::Schema(_)));
                    let schemas: Vec<_> = schemas.copied().collect();
                    self.dependencies(&schemas, ctx, BlockKind::Mark, ops);
                }
                _ => {}
            }
        }
    }
}

fn mark_items(track: bool, len: u32, ops: &mut Vec<Op<'_>>) {
    if track {
        push(ops, Low::Plain(build::mark_items(Len(len))));
    }
}

/// Whether the rule is part of the schema's one property table.
pub(super) fn in_table(schema: &Schema<'_>, rule: &Rule<'_>) -> bool {
    let members = matches!(
        rule,
        Rule::Required(_) | Rule::Properties(_) | Rule::PatternProperties(_) | Rule::AdditionalProperties(_)
    );
    members || is_static(schema, rule)
}

/// Whether what the keyword looks at is known from the schema alone: nothing beside it judges the same instance, and
/// no keyword before it claims everything.
pub(crate) fn is_static(schema: &Schema<'_>, rule: &Rule<'_>) -> bool {
    match rule {
        Rule::UnevaluatedProperties(_) => {
            !schema.has_in_place_applicator()
                && schema.rule(|rule| matches!(rule, Rule::AdditionalProperties(_))).is_none()
        }
        _ => false,
    }
}

/// Whether the elements that `contains` accepts count as evaluated: from 2020-12 on.
fn contains_evaluates(schema: &Schema<'_>) -> bool {
    schema.draft == crate::dialect::Draft::D2020
}

/// The names and patterns that the schema claims, without blocks.
pub(super) fn names_table<'d>(schema: &Schema<'d>, bump: &'d Bump) -> LowTable<'d> {
    let names =
        schema.properties().iter().map(|(name, _)| LowName { name, block: None, declared: true, required: false });
    let patterns = schema.pattern_properties().unwrap_or_default().iter();
    LowTable {
        names: bump.alloc_slice_fill_iter(names),
        patterns: bump.alloc_slice_fill_iter(patterns.map(|(pattern, _)| (*pattern, None))),
        extra: LowExtra::Skip,
    }
}

/// The names that must be there, each once, in the order of the source.
pub(super) fn required_table<'d>(names: &[&'d str], bump: &'d Bump) -> LowTable<'d> {
    let mut once = BumpVec::with_capacity_in(names.len(), bump);
    let mut add = |name| once.push(LowName { name, block: None, declared: false, required: true });
    if names.len() <= COMPARED_MAX {
        names.iter().enumerate().filter(|(at, name)| !names[..*at].contains(*name)).for_each(|(_, name)| add(*name));
    } else {
        let mut seen = ahash::HashSet::default();
        names.iter().filter(|name| seen.insert(**name)).for_each(|name| add(*name));
    }
    LowTable { names: once.into_bump_slice(), patterns: &[], extra: LowExtra::Skip }
}

/// Lists of at most so many names are compared name by name.
const COMPARED_MAX: usize = 8;

/// Adds the required names to those of the table; answers a table of all of them where they are too many to watch.
fn add_required<'d>(
    names: &mut BumpVec<'d, LowName<'d>>,
    required: &[&'d str],
    bump: &'d Bump,
) -> Option<LowTable<'d>> {
    let required = required_table(required, bump);
    if required.names.len() > REQUIRED_MAX {
        return Some(required);
    }
    let declared_len = names.len();
    let mut declared: ahash::HashMap<&str, usize> = ahash::HashMap::default();
    if declared_len > COMPARED_MAX {
        declared.extend(names.iter().enumerate().map(|(at, name)| (name.name, at)));
    }
    for name in required.names {
        let known = if declared_len > COMPARED_MAX {
            declared.get(name.name).copied()
        } else {
            names[..declared_len].iter().position(|other| other.name == name.name)
        };
        match known {
            Some(at) => names[at].required = true,
            None => names.push(*name),
        }
    }
    None
}

/// The types that the one instruction of a block tests, if it has just that.
pub(crate) fn only_type_test(ops: &[Op<'_>]) -> Option<Types> {
    match ops {
        [op] => op.type_test(),
        _ => None,
    }
}
