//! What options ask of objects beside their schemas: that no name is unknown, and that `null` may stand for what is absent.
//!
//! Both are about an object and all schemas that judge it *in place*: its *composition*.
//!
//! ```text
//! {"allOf": [{"$ref": "#/$defs/base"}], "properties": {"x": …}}      one object, two parts, one set of known names
//!
//! Part::Whole      the outermost schema of a composition: here names are held against those of all parts
//! Part::Within     one that it applies in place; its members' schemas are outermost ones again
//! Part::Open       below a member that several parts have a schema for: what one does not know the other may
//! Part::AsWritten  where only a verdict counts (`not`, `if`, `contains`, `propertyNames`, marking what is evaluated):
//!                  options have no say, so that an unknown name never turns a verdict round
//! ```
//!
//! A name is *known* if a part declares it in `properties` or `patternProperties`, or asks for it in `required` or
//! `dependentRequired`. Which branch of a union counts is decided by the instance, as for `unevaluatedProperties`; where
//! nothing depends on branches, one table of names does. What says that there may be more ends the matter: a part with
//! `additionalProperties` or `unevaluatedProperties` that are not `false`, an outermost schema that has either at all, a
//! composition in which nothing is declared, or a union with a branch that takes objects and declares nothing.
//!
//! A property is *optional* if no part, applied or not, asks for its name.

use std::rc::Rc;

use ahash::{HashMap, HashSet};
use callgate_vm::insn::Types;
use callgate_vm::tape::EntryKind;

use crate::ir::{Dependency, Rule, Schema};
use crate::lower::{LowExtra, LowName, LowTable, Lowerer, ScopeId};
use crate::options::{NullForOptional, Options, UnknownParameters};
use crate::pattern_cache::PatternNo;
use crate::refs::Place;

/// Schemas that a composition is looked through for. One of more is left as it is written.
const PARTS_MAX: usize = 1_024;

/// References and compositions inside each other, as above.
const NESTED_MAX: u32 = 64;

/// Names, patterns and values that a composition is looked through for, each as often as it is met. As above.
const NAMES_MAX: usize = 1 << 16;

/// As [`NAMES_MAX`], for all compositions of a program together: the others are left as they are written.
pub(super) const NAMES_OF_ALL_MAX: usize = 1 << 22;

/// What lowering asks beside what the schema says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Reading {
    /// Objects must not have names that are unknown.
    pub(crate) forbids_unknown: bool,
    /// `null` passes for an optional property.
    pub(crate) null_is_absent: bool,
}

impl Reading {
    /// The schema and nothing else.
    pub(crate) const AS_WRITTEN: Reading = Reading { forbids_unknown: false, null_is_absent: false };

    /// What the options say.
    pub(crate) fn of(options: &Options) -> Reading {
        Reading {
            forbids_unknown: options.unknown_parameters == UnknownParameters::Forbid,
            null_is_absent: options.null_for_optional == NullForOptional::AsAbsent,
        }
    }
}

/// Which part of a composition a schema is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Part {
    AsWritten,
    Open,
    Within,
    Whole,
}

/// What a block depends on beside its schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Context {
    pub(crate) scope: ScopeId,
    pub(crate) part: Part,
    /// The schema is that of an optional property: `null` passes.
    pub(crate) is_optional: bool,
    /// The composition that it is a part of: that of itself where there is none.
    pub(crate) whole: Option<Place>,
}

impl Context {
    /// Outside all dynamic scopes, as written.
    pub(crate) const PLAIN: Context =
        Context { scope: ScopeId::EMPTY, part: Part::AsWritten, is_optional: false, whole: None };

    /// Whether it is [`PLAIN`](Self::PLAIN): what is as written has nothing else about it but a scope.
    #[inline]
    pub(crate) fn is_plain(self) -> bool {
        self.part == Part::AsWritten && self.scope == ScopeId::EMPTY
    }

    /// The same scope, and no options.
    #[inline]
    pub(crate) fn as_written(self) -> Context {
        Context { scope: self.scope, ..Context::PLAIN }
    }
}

/// How an object's names are held against those that are known.
#[derive(Clone, Copy, Debug)]
pub(super) enum Ends<'d> {
    /// They are not.
    Open,
    /// The schema's own table has all that are known.
    InTable,
    /// The table has those of all parts.
    Names(&'d LowTable<'d>),
    /// It depends on branches; the table has those that do not.
    Marked(&'d LowTable<'d>),
}

/// What the parts of a composition say of members by name.
#[derive(Debug, Default)]
pub(super) struct Claims<'d> {
    /// Names that some part asks for, in whichever branch.
    required: HashSet<&'d str>,
    /// How many parts that hold together have a schema for the name; branches of one union count as one.
    schemas: HashMap<&'d str, u32>,
}

/// What the parts of a composition say of names.
#[derive(Debug, Default)]
struct Known<'d> {
    /// Whichever way an object passes, some part declares names.
    declares: bool,
    /// Some part says of every name what its value must be.
    claims_all: bool,
    /// Branches differ in what they know.
    has_branches: bool,
    names: Vec<&'d str>,
    patterns: Vec<PatternNo>,
}

impl Known<'_> {
    fn says_something(&self) -> bool {
        self.declares || self.claims_all || self.has_branches || !self.patterns.is_empty()
    }
}

/// A composition that is larger than what is looked through.
struct TooLarge;

impl<'d> Lowerer<'_, '_, 'd> {
    /// The context of a schema that starts a composition.
    pub(super) fn outermost(&self) -> Context {
        let part = match self.reading {
            Reading::AS_WRITTEN => Part::AsWritten,
            Reading { forbids_unknown: true, .. } => Part::Whole,
            Reading { .. } => Part::Within,
        };
        Context { part, ..Context::PLAIN }
    }

    /// The context of a schema for members or elements of what is judged in `ctx`.
    pub(super) fn child(&self, ctx: Context) -> Context {
        match ctx.part {
            Part::AsWritten => ctx.as_written(),
            Part::Open => Context { part: Part::Open, ..ctx.as_written() },
            Part::Within | Part::Whole => Context { scope: ctx.scope, ..self.outermost() },
        }
    }

    /// The context of a property's schema.
    pub(super) fn property(&mut self, schema: &Schema<'d>, ctx: Context, name: &str, place: Place) -> Context {
        let child = self.child(ctx);
        if ctx.part == Part::AsWritten {
            return child;
        }
        // Below a member that other parts have a schema for, they may ask for the name.
        let asks = self.reading.null_is_absent && ctx.part != Part::Open && !self.null_is_settled(place);
        // A composition that is too large to be looked through keeps its nulls and its unknown names.
        let claims = self.claims(ctx.whole.unwrap_or(schema.place), ctx.scope);
        let is_optional = asks && claims.as_ref().is_some_and(|claims| !claims.required.contains(name));
        let is_shared = claims.is_none_or(|claims| claims.schemas.get(name).is_some_and(|schemas| *schemas > 1));
        let part = if is_shared { Part::Open } else { child.part };
        Context { part, is_optional, ..child }
    }

    // --- unknown names -----------------------------------------------------------------------------------------

    /// How the names of an object are held against those that are known, at the schema in `ctx`.
    pub(super) fn ends(&mut self, schema: &Schema<'d>, ctx: Context) -> Ends<'d> {
        if ctx.part == Part::AsWritten || !self.reading.forbids_unknown {
            return Ends::Open;
        }
        self.counts_branches |= schema.rule(|rule| matches!(rule, Rule::OneOf(_))).is_some();
        if ctx.part != Part::Whole || says_otherwise(schema) || is_only_reference(schema) {
            return Ends::Open;
        }
        // Each block of the schema asks, and so does its table.
        let key = (schema.place, ctx.scope);
        if let Some(ends) = self.ends.get(&key) {
            return *ends;
        }
        let ends = self.ends_of_whole(schema, ctx.scope);
        self.ends.insert(key, ends);
        ends
    }

    fn ends_of_whole(&mut self, schema: &Schema<'d>, scope: ScopeId) -> Ends<'d> {
        let mut known = Known::default();
        let mut walk = self.walk();
        let added = self.add_known(schema, scope, &mut walk, &mut known);
        self.end_walk(&walk);
        if added.is_err() || !known.declares || known.claims_all {
            return Ends::Open;
        }
        self.has_ends = true;
        if !known.has_branches && !schema.has_in_place_applicator() {
            return Ends::InTable;
        }
        if known.has_branches {
            Ends::Marked(self.known_table(&known, LowExtra::Skip))
        } else {
            Ends::Names(self.known_table(&known, LowExtra::Forbid))
        }
    }

    /// The names and patterns of all parts, each once.
    fn known_table(&self, known: &Known<'d>, extra: LowExtra) -> &'d LowTable<'d> {
        let bump = self.model.registry.bump;
        let mut seen = HashSet::default();
        let once = known.names.iter().filter(|name| seen.insert(**name));
        let names: Vec<_> = once.map(|name| LowName { name, block: None, declared: true, required: false }).collect();
        let mut seen = HashSet::default();
        let once = known.patterns.iter().filter(|pattern| seen.insert(**pattern));
        let patterns: Vec<_> = once.map(|pattern| (*pattern, None)).collect();
        bump.alloc(LowTable { names: bump.alloc_slice_copy(&names), patterns: bump.alloc_slice_copy(&patterns), extra })
    }

    /// A walk through one composition.
    fn walk(&self) -> Walk {
        Walk { parts: 0, nested: 0, names: 0, names_max: self.names_left.min(NAMES_MAX) }
    }

    fn end_walk(&mut self, walk: &Walk) {
        self.names_left = self.names_left.saturating_sub(walk.names);
    }

    /// Adds what the schema and its parts say of names.
    fn add_known(
        &mut self,
        schema: &Schema<'d>,
        scope: ScopeId,
        walk: &mut Walk,
        known: &mut Known<'d>,
    ) -> Result<(), TooLarge> {
        walk.enter()?;
        for at in schema.rules {
            match &at.rule {
                Rule::Properties(list) => {
                    walk.meet(list.len())?;
                    known.declares = true;
                    known.names.extend(list.iter().map(|(name, _)| *name));
                }
                Rule::PatternProperties(list) => {
                    walk.meet(list.len())?;
                    known.patterns.extend(list.iter().map(|(pattern, _)| *pattern));
                }
                Rule::Required(names) => {
                    walk.meet(names.len())?;
                    known.names.extend(*names);
                }
                Rule::AdditionalProperties(place) | Rule::UnevaluatedProperties(place) => {
                    known.claims_all |= self.schema(*place).always != Some(false);
                }
                rule @ (Rule::Ref(_) | Rule::DynamicRef(..) | Rule::RecursiveRef(..)) => {
                    let target = self.target(scope, rule);
                    self.add_known_at(target, scope, walk, known)?;
                }
                Rule::AllOf(list) => list.iter().try_for_each(|place| self.add_known_at(*place, scope, walk, known))?,
                Rule::AnyOf(list) | Rule::OneOf(list) => self.add_union(list, scope, walk, known)?,
                Rule::If(condition, then, otherwise) => {
                    for place in [Some(*condition), *then, *otherwise].into_iter().flatten() {
                        self.add_branch(place, scope, walk, known)?;
                    }
                }
                Rule::Dependencies(list) => {
                    for (name, needed) in *list {
                        match needed {
                            Dependency::Names(names) => {
                                walk.meet(names.len() + 1)?;
                                known.names.extend([*name].iter().chain(*names));
                            }
                            Dependency::Schema(place) => drop(self.add_branch(*place, scope, walk, known)?),
                        }
                    }
                }
                _ => {}
            }
        }
        walk.leave();
        Ok(())
    }

    fn add_known_at(
        &mut self,
        place: Place,
        scope: ScopeId,
        walk: &mut Walk,
        known: &mut Known<'d>,
    ) -> Result<(), TooLarge> {
        let scope = self.enter(place, scope);
        let schema = self.schema(place);
        self.add_known(schema, scope, walk, known)
    }

    /// Adds that what the schema knows counts only if it passes; answers whether it declares names.
    fn add_branch(
        &mut self,
        place: Place,
        scope: ScopeId,
        walk: &mut Walk,
        known: &mut Known<'d>,
    ) -> Result<bool, TooLarge> {
        let mut branch = Known::default();
        self.add_known_at(place, scope, walk, &mut branch)?;
        known.has_branches |= branch.says_something();
        Ok(branch.declares || branch.claims_all)
    }

    /// A union of which one branch takes objects applies that one.
    fn add_union(
        &mut self,
        list: &[Place],
        scope: ScopeId,
        walk: &mut Walk,
        known: &mut Known<'d>,
    ) -> Result<(), TooLarge> {
        let mut taking = Vec::new();
        for place in list {
            if self.takes_objects(*place, scope, walk)? {
                taking.push(*place);
            }
        }
        if let [only] = taking[..] {
            return self.add_known_at(only, scope, walk, known);
        }
        let mut all_declare = !taking.is_empty();
        for place in taking {
            all_declare &= self.add_branch(place, scope, walk, known)?;
        }
        known.declares |= all_declare;
        Ok(())
    }

    /// Whether an object may pass, as far as types, values and references tell.
    fn takes_objects(&mut self, place: Place, scope: ScopeId, walk: &mut Walk) -> Result<bool, TooLarge> {
        let (mut place, mut scope) = (place, scope);
        for _ in 0..NESTED_MAX {
            walk.meet(1)?;
            scope = self.enter(place, scope);
            let schema = self.schema(place);
            if schema.always == Some(false) || schema.types != Types::NONE && !schema.types.meets(Types::OBJECT) {
                return Ok(false);
            }
            for at in schema.rules {
                if !self.has_objects(schema, &at.rule, walk)? {
                    return Ok(false);
                }
            }
            match reference(schema) {
                Some(rule) => place = self.target(scope, rule),
                None => return Ok(true),
            }
        }
        Ok(true)
    }

    /// Whether an object is among the values of `const` and `enum`.
    fn has_objects(&self, schema: &Schema<'d>, rule: &Rule<'d>, walk: &mut Walk) -> Result<bool, TooLarge> {
        let tape = self.model.tape(schema.place);
        let is_object = |node| tape.entry(node).kind == EntryKind::Object;
        match rule {
            Rule::Const(node) => Ok(is_object(*node)),
            Rule::Enum(node) => {
                for value in tape.element_nodes(*node) {
                    walk.meet(1)?;
                    if is_object(value) {
                        return Ok(true);
                    }
                }
                Ok(false)
            }
            _ => Ok(true),
        }
    }

    // --- members ---------------------------------------------------------------------------------------------------

    /// Whether there is nothing to do for `null` to pass: it does, or the schema is `false` and nothing ever shall.
    fn null_is_settled(&mut self, place: Place) -> bool {
        let schema = self.schema(place);
        match schema.rules {
            _ if schema.always.is_some() => true,
            [at] => match &at.rule {
                Rule::Type(types, _) => types.meets(Types::NULL),
                Rule::AnyOf(list) => list.iter().any(|place| self.takes_only_null(*place)),
                _ => false,
            },
            [] => true,
            _ => false,
        }
    }

    fn takes_only_null(&mut self, place: Place) -> bool {
        matches!(self.schema(place).rules, [at] if matches!(at.rule, Rule::Type(Types::NULL, _)))
    }

    /// What the composition that starts at `whole` says of members; `None` where it is too large.
    fn claims(&mut self, whole: Place, scope: ScopeId) -> Option<Rc<Claims<'d>>> {
        if let Some(known) = self.claims.get(&(whole, scope)) {
            return known.clone();
        }
        let mut claims = Claims::default();
        let mut walk = self.walk();
        let added = self.add_claims(whole, scope, &mut walk, &mut claims);
        self.end_walk(&walk);
        let claims = added.is_ok().then(|| Rc::new(claims));
        self.claims.insert((whole, scope), claims.clone());
        claims
    }

    fn add_claims(
        &mut self,
        place: Place,
        scope: ScopeId,
        walk: &mut Walk,
        claims: &mut Claims<'d>,
    ) -> Result<(), TooLarge> {
        walk.enter()?;
        let scope = self.enter(place, scope);
        let schema = self.schema(place);
        for at in schema.rules {
            match &at.rule {
                Rule::Properties(list) => {
                    walk.meet(list.len())?;
                    list.iter().for_each(|(name, _)| *claims.schemas.entry(name).or_default() += 1);
                }
                Rule::Required(names) => {
                    walk.meet(names.len())?;
                    claims.required.extend(*names);
                }
                Rule::Dependencies(list) => {
                    for (_, needed) in *list {
                        match needed {
                            Dependency::Names(needed) => {
                                walk.meet(needed.len())?;
                                claims.required.extend(*needed);
                            }
                            Dependency::Schema(place) => self.add_claims(*place, scope, walk, claims)?,
                        }
                    }
                }
                rule @ (Rule::Ref(_) | Rule::DynamicRef(..) | Rule::RecursiveRef(..)) => {
                    let target = self.target(scope, rule);
                    self.add_claims(target, scope, walk, claims)?;
                }
                Rule::AllOf(list) => {
                    list.iter().try_for_each(|place| self.add_claims(*place, scope, walk, claims))?;
                }
                Rule::AnyOf(list) | Rule::OneOf(list) => self.add_claims_of_any(list, scope, walk, claims)?,
                Rule::If(_, then, otherwise) => {
                    let branches: Vec<Place> = [*then, *otherwise].into_iter().flatten().collect();
                    self.add_claims_of_any(&branches, scope, walk, claims)?;
                }
                _ => {}
            }
        }
        walk.leave();
        Ok(())
    }

    /// Branches stand in for each other: a name counts as often as it does in the one where that is most.
    fn add_claims_of_any(
        &mut self,
        branches: &[Place],
        scope: ScopeId,
        walk: &mut Walk,
        claims: &mut Claims<'d>,
    ) -> Result<(), TooLarge> {
        let mut most: HashMap<&'d str, u32> = HashMap::default();
        for place in branches {
            let mut of_branch = Claims::default();
            self.add_claims(*place, scope, walk, &mut of_branch)?;
            claims.required.extend(of_branch.required);
            for (name, schemas) in of_branch.schemas {
                let most = most.entry(name).or_default();
                *most = schemas.max(*most);
            }
        }
        for (name, schemas) in most {
            *claims.schemas.entry(name).or_default() += schemas;
        }
        Ok(())
    }
}

/// How far a composition has been looked through.
#[derive(Debug)]
struct Walk {
    parts: usize,
    nested: u32,
    names: usize,
    names_max: usize,
}

impl Walk {
    fn enter(&mut self) -> Result<(), TooLarge> {
        self.parts += 1;
        self.nested += 1;
        self.meet(1)?;
        if self.parts > PARTS_MAX || self.nested > NESTED_MAX { Err(TooLarge) } else { Ok(()) }
    }

    fn leave(&mut self) {
        self.nested -= 1;
    }

    /// Counts so many names, patterns or values, before they are gone through.
    fn meet(&mut self, names: usize) -> Result<(), TooLarge> {
        self.names = self.names.saturating_add(names);
        if self.names > self.names_max { Err(TooLarge) } else { Ok(()) }
    }
}

/// The context of a schema that is applied in place by `schema`. One that does nothing but apply it gives it its place.
pub(super) fn part(schema: &Schema<'_>, ctx: Context) -> Context {
    if ctx.part == Part::AsWritten {
        return ctx;
    }
    let whole = ctx.whole.or(Some(schema.place));
    match ctx.part {
        _ if is_only_reference(schema) => Context { is_optional: false, ..ctx },
        Part::Open => Context { is_optional: false, whole, ..ctx },
        _ => Context { part: Part::Within, is_optional: false, whole, ..ctx },
    }
}

/// Whether the schema itself says what becomes of names that it does not declare.
fn says_otherwise(schema: &Schema<'_>) -> bool {
    schema.rule(|rule| matches!(rule, Rule::AdditionalProperties(_) | Rule::UnevaluatedProperties(_))).is_some()
}

/// Whether the schema does nothing but apply another one, whatever it says about it.
fn is_only_reference(schema: &Schema<'_>) -> bool {
    match schema.rules {
        [at] => reference(schema).is_some() || matches!(at.rule, Rule::AllOf([_])),
        _ => false,
    }
}

/// The schema's reference.
fn reference<'d>(schema: &Schema<'d>) -> Option<&'d Rule<'d>> {
    schema.rule(|rule| matches!(rule, Rule::Ref(_) | Rule::DynamicRef(..) | Rule::RecursiveRef(..)))
}
