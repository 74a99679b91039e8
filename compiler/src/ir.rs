//! The intermediate form: a schema object as typed rules, in the order of its source.
//!
//! A keyword becomes a [`Rule`] that says what it means and no longer how its draft spells it: the array form of
//! `items` and `prefixItems` are both [`Rule::Prefix`], draft 4's boolean `exclusiveMinimum` is folded into its
//! partner. Keywords that only accompany another (`then`, `minContains`) stand at the partner's place. Subschemas
//! stay [`Place`]s: they are read when lowering asks for them, so the form needs no recursion.
//!
//! Both sections of a unit, accept and explain, are lowered from this one form. It lies in the compilation's arena:
//! its parts are plain references, and nothing of it is given back one by one.

use std::sync::Arc;

use ahash::HashMap;
use bumpalo::collections::Vec as BumpVec;
use callgate_vm::format::Format;
use callgate_vm::insn::Types;
use callgate_vm::instance::View;
use callgate_vm::number::Number;
use callgate_vm::pattern::Pattern;
use callgate_vm::render::{write_text, write_value};
use callgate_vm::tape::{EntryKind, Node, Tape};

use crate::dialect::{Draft, Keyword, Vocabularies};
use crate::finding::{Finding, FindingKind};
use crate::location::{LocationId, push_segment};
use crate::options::Options;
use crate::pattern_cache::{PatternCache, PatternNo};
use crate::refs::{Member, Place, Registry, Site, is_schema};

/// A comparison with a bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Bound {
    Minimum,
    Maximum,
    ExclusiveMinimum,
    ExclusiveMaximum,
}

/// A count with a limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Count {
    MinLength,
    MaxLength,
    MinItems,
    MaxItems,
    MinProperties,
    MaxProperties,
}

impl Count {
    pub(crate) fn is_minimum(self) -> bool {
        matches!(self, Count::MinLength | Count::MinItems | Count::MinProperties)
    }
}

/// What `dependencies` asks for beside a name.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Dependency<'d> {
    Names(&'d [&'d str]),
    Schema(Place),
}

/// What a keyword means.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Rule<'d> {
    /// Types, and their names as they are printed.
    Type(Types, &'d str),
    Enum(Node),
    Const(Node),
    Bound(Bound, Node),
    MultipleOf(Node),
    Count(Count, u32),
    Pattern(PatternNo),
    Format(Format, &'d str),
    /// `items: false` after that many, or `additionalItems: false`.
    ItemsEnd(u32),
    UniqueItems,
    Required(&'d [&'d str]),
    Dependencies(&'d [(&'d str, Dependency<'d>)]),
    Properties(&'d [(&'d str, Place)]),
    PatternProperties(&'d [(PatternNo, Place)]),
    AdditionalProperties(Place),
    PropertyNames(Place),
    Prefix(&'d [Place]),
    Items(u32, Place),
    /// The schema, its bounds, and whether the draft has no bounds to name.
    Contains(Place, u32, u32),
    AllOf(&'d [Place]),
    AnyOf(&'d [Place]),
    OneOf(&'d [Place]),
    Not(Place),
    If(Place, Option<Place>, Option<Place>),
    Ref(Place),
    /// The target as it stands, and the anchor by which the dynamic scope may replace it.
    DynamicRef(Place, Option<&'d str>),
    /// The target as it stands, and whether the dynamic scope may replace it.
    RecursiveRef(Place, bool),
    UnevaluatedProperties(Place),
    UnevaluatedItems(Place),
}

/// A rule with the keyword it comes from.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RuleAt<'d> {
    pub(crate) keyword: Keyword,
    pub(crate) rule: Rule<'d>,
}

/// A schema, read.
#[derive(Debug)]
pub(crate) struct Schema<'d> {
    pub(crate) place: Place,
    pub(crate) location: LocationId,
    pub(crate) draft: Draft,
    /// `Some` for a boolean schema.
    pub(crate) always: Option<bool>,
    pub(crate) description: Option<&'d str>,
    /// The types its own `type` names; none without one.
    pub(crate) types: Types,
    pub(crate) rules: &'d [RuleAt<'d>],
}

impl<'d> Schema<'d> {
    /// Whether an applicator stands beside that judges the same instance: then what is evaluated is known only when
    /// the instance is.
    pub(crate) fn has_in_place_applicator(&self) -> bool {
        self.rules.iter().any(|at| match &at.rule {
            Rule::AllOf(_)
            | Rule::AnyOf(_)
            | Rule::OneOf(_)
            | Rule::If(..)
            | Rule::Ref(_)
            | Rule::DynamicRef(..)
            | Rule::RecursiveRef(..) => true,
            Rule::Dependencies(list) => list.iter().any(|(_, needed)| matches!(needed, Dependency::Schema(_))),
            _ => false,
        })
    }

    /// The rule of a keyword that can stand only once.
    pub(crate) fn rule(&self, find: impl Fn(&Rule<'d>) -> bool) -> Option<&'d Rule<'d>> {
        self.rules.iter().map(|at| &at.rule).find(|rule| find(rule))
    }

    pub(crate) fn properties(&self) -> &'d [(&'d str, Place)] {
        match self.rule(|rule| matches!(rule, Rule::Properties(_))) {
            Some(Rule::Properties(list)) => list,
            _ => &[],
        }
    }

    pub(crate) fn pattern_properties(&self) -> Option<&'d [(PatternNo, Place)]> {
        match self.rule(|rule| matches!(rule, Rule::PatternProperties(_))) {
            Some(Rule::PatternProperties(list)) => Some(list),
            _ => None,
        }
    }
}

/// Every schema that lowering has asked for.
pub(crate) struct Model<'m, 'd> {
    pub(crate) registry: Registry<'d>,
    pub(crate) options: &'m Options,
    patterns: &'m mut PatternCache,
    schemas: Vec<&'d Schema<'d>>,
    /// By the place's site; none that has not been read.
    by_site: Vec<Option<&'d Schema<'d>>>,
    /// Those that the limit on subschemas has kept out of the index.
    beyond: HashMap<Place, &'d Schema<'d>>,
}

impl<'m, 'd> Model<'m, 'd> {
    pub(crate) fn new(registry: Registry<'d>, options: &'m Options, patterns: &'m mut PatternCache) -> Self {
        let sites = registry.sites().len();
        Model {
            registry,
            options,
            patterns,
            schemas: Vec::with_capacity(sites),
            by_site: vec![None; sites],
            beyond: HashMap::default(),
        }
    }

    /// The schema at `place`. What is wrong with it becomes a finding.
    pub(crate) fn schema(&mut self, place: Place) -> &'d Schema<'d> {
        let id = self.registry.site_id(place);
        let known = match id {
            Some(id) => self.by_site.get(id as usize).copied().flatten(),
            None => self.beyond.get(&place).copied(),
        };
        if let Some(schema) = known {
            return schema;
        }
        let site = self.registry.site_or_root(place);
        let bump = self.registry.bump;
        let schema: &'d Schema<'d> = bump.alloc(Reader { model: self, place, site }.read());
        match id {
            Some(id) => {
                let len = self.by_site.len().max(self.registry.sites().len());
                self.by_site.resize(len, None);
                self.by_site[id as usize] = Some(schema);
            }
            None => {
                self.beyond.insert(place, schema);
            }
        }
        self.schemas.push(schema);
        schema
    }

    /// The schemas that have been read, in the order of reading.
    pub(crate) fn read_schemas(&self) -> impl Iterator<Item = &Schema<'d>> {
        self.schemas.iter().copied()
    }

    /// The pattern of a rule.
    pub(crate) fn pattern(&self, number: PatternNo) -> &Arc<Pattern> {
        self.patterns.pattern(number)
    }

    /// About as many bytes as the schema itself has.
    pub(crate) fn source_bytes(&self) -> usize {
        self.registry.source_bytes()
    }

    pub(crate) fn tape(&self, place: Place) -> Tape<'d> {
        self.registry.tape(place.doc)
    }

    /// The value at `node` in value notation.
    pub(crate) fn notation(&self, place: Place, node: Node) -> String {
        self.noted(place, node).to_owned()
    }

    /// As [`notation`](Self::notation), for as long as the compilation lasts.
    pub(crate) fn noted(&self, place: Place, node: Node) -> &'d str {
        let tape = self.tape(place);
        let entry = tape.entry(node);
        match entry.kind {
            EntryKind::String => return self.quoted(tape.slice(node)),
            // A short number without sign, point and exponent is its own notation.
            EntryKind::Number if is_short_integer(tape.slice(node)) => return tape.slice(node),
            _ => {}
        }
        let source_bytes = (entry.end - entry.start) as usize;
        let mut out = bumpalo::collections::String::with_capacity_in(source_bytes + 16, self.registry.bump);
        let written = write_value(&mut out, tape, node);
        debug_assert!(written.is_ok());
        out.into_bump_str()
    }

    /// A text in value notation, for as long as the compilation lasts.
    pub(crate) fn quoted(&self, text: &str) -> &'d str {
        let mut out = bumpalo::collections::String::with_capacity_in(text.len() + 2, self.registry.bump);
        let written = write_text(&mut out, callgate_vm::text::Text::plain_text(text));
        debug_assert!(written.is_ok());
        out.into_bump_str()
    }
}

fn is_short_integer(literal: &str) -> bool {
    literal.len() < 18 && literal.bytes().all(|byte| byte.is_ascii_digit())
}

/// A text in value notation.
pub(crate) fn quoted(text: &str) -> String {
    let mut out = String::new();
    let written = write_text(&mut out, callgate_vm::text::Text::plain_text(text));
    debug_assert!(written.is_ok());
    out
}

/// Reads one schema object.
struct Reader<'r, 'm, 'd> {
    model: &'r mut Model<'m, 'd>,
    place: Place,
    site: Site,
}

/// A keyword's value of a kind that the keyword does not take.
struct WrongKind(&'static str);

type Read<'d> = Result<Option<Rule<'d>>, WrongKind>;

impl<'d> Reader<'_, '_, 'd> {
    fn read(mut self) -> Schema<'d> {
        let site = self.site;
        let tape = self.tape();
        let mut schema = Schema {
            place: self.place,
            location: site.location,
            draft: site.dialect.draft,
            always: None,
            description: None,
            types: Types::NONE,
            rules: &[],
        };
        match tape.entry(self.place.node).kind {
            EntryKind::True => schema.always = Some(true),
            EntryKind::False => schema.always = Some(false),
            EntryKind::Object => self.read_object(site, &mut schema),
            _ => self.finding(FindingKind::NotWellFormed, "", "a schema must be an object or a boolean".to_owned()),
        }
        schema
    }

    fn read_object(&mut self, site: Site, schema: &mut Schema<'d>) {
        let alone = site.dialect.draft.ref_stands_alone()
            && self.model.registry.member(site, Keyword::Ref).is_some_and(|node| self.tape().is_string(node));
        let len = self.model.registry.members(site).len();
        let mut rules = BumpVec::with_capacity_in(len, self.model.registry.bump);
        for at in 0..len {
            let Member { keyword, value } = self.model.registry.members(site)[at];
            if !keyword.is_of(site.dialect) || alone && keyword != Keyword::Ref {
                continue;
            }
            match self.rule(site, keyword, value) {
                Ok(Some(rule)) => {
                    if let Rule::Type(types, _) = &rule {
                        schema.types = *types;
                    }
                    rules.push(RuleAt { keyword, rule });
                }
                Ok(None) => {}
                Err(WrongKind(expected)) => {
                    let got = self.model.notation(self.place, value);
                    let detail = format!("{} is no {expected}", shorten(&got));
                    self.finding(FindingKind::NotWellFormed, keyword.name(), detail);
                }
            }
        }
        schema.rules = rules.into_bump_slice();
        if !alone {
            let description = self.model.registry.string_member(self.place, site, Keyword::Description);
            schema.description = description.filter(|text| !text.is_empty());
        }
    }

    fn tape(&self) -> Tape<'d> {
        self.model.registry.tape(self.place.doc)
    }

    /// The text of a string or name.
    fn plain(&self, node: Node) -> &'d str {
        self.model.registry.plain(self.tape().text(node))
    }

    fn finding(&mut self, kind: FindingKind, keyword: &str, detail: String) {
        let location = self.site.location;
        let pointer = self.model.registry.locations.pointer(location, keyword);
        self.model.registry.findings.push(Finding::new(kind, pointer, detail));
    }

    /// The value of a keyword beside this one, if the dialect has it.
    fn sibling(&self, site: Site, keyword: Keyword) -> Option<Node> {
        keyword.is_of(site.dialect).then(|| self.model.registry.member(site, keyword))?
    }

    fn rule(&mut self, site: Site, keyword: Keyword, value: Node) -> Read<'d> {
        let draft = site.dialect.draft;
        Ok(Some(match keyword {
            Keyword::Type => return self.types(draft, value),
            Keyword::Enum => Rule::Enum(self.data(self.array(value)?)?),
            Keyword::Const => Rule::Const(self.data(value)?),
            Keyword::Minimum => self.bound(site, value, Bound::Minimum)?,
            Keyword::Maximum => self.bound(site, value, Bound::Maximum)?,
            Keyword::ExclusiveMinimum | Keyword::ExclusiveMaximum if draft == Draft::D4 => return Ok(None),
            Keyword::ExclusiveMinimum => Rule::Bound(Bound::ExclusiveMinimum, self.number(value)?),
            Keyword::ExclusiveMaximum => Rule::Bound(Bound::ExclusiveMaximum, self.number(value)?),
            Keyword::MultipleOf => Rule::MultipleOf(self.number(value)?),
            Keyword::MinLength => Rule::Count(Count::MinLength, self.count(value)?),
            Keyword::MaxLength => Rule::Count(Count::MaxLength, self.count(value)?),
            Keyword::MinItems => Rule::Count(Count::MinItems, self.count(value)?),
            Keyword::MaxItems => Rule::Count(Count::MaxItems, self.count(value)?),
            Keyword::MinProperties => Rule::Count(Count::MinProperties, self.count(value)?),
            Keyword::MaxProperties => Rule::Count(Count::MaxProperties, self.count(value)?),
            Keyword::Pattern => return self.pattern_rule(value),
            Keyword::Format => return self.format(site, value),
            Keyword::UniqueItems => return Ok(self.boolean(value)?.then_some(Rule::UniqueItems)),
            Keyword::Required => Rule::Required(self.names(value)?),
            Keyword::DependentRequired | Keyword::DependentSchemas | Keyword::Dependencies => {
                self.dependencies(value)?
            }
            Keyword::Properties => Rule::Properties(self.named_schemas(value)?),
            Keyword::PatternProperties => self.pattern_properties(value)?,
            Keyword::AdditionalProperties => Rule::AdditionalProperties(self.schema(value)?),
            Keyword::PropertyNames => Rule::PropertyNames(self.schema(value)?),
            Keyword::PrefixItems => Rule::Prefix(self.schemas(value)?),
            Keyword::Items => self.items(site, value)?,
            Keyword::AdditionalItems => return self.additional_items(site, value),
            Keyword::Contains => self.contains(site, value)?,
            Keyword::AllOf => Rule::AllOf(self.schemas(value)?),
            Keyword::AnyOf => Rule::AnyOf(self.schemas(value)?),
            Keyword::OneOf => Rule::OneOf(self.schemas(value)?),
            Keyword::Not => Rule::Not(self.schema(value)?),
            Keyword::If => self.condition(site, value)?,
            Keyword::Ref => return self.reference(site, Keyword::Ref, value),
            Keyword::DynamicRef => return self.reference(site, Keyword::DynamicRef, value),
            Keyword::RecursiveRef => return self.reference(site, Keyword::RecursiveRef, value),
            Keyword::UnevaluatedProperties => Rule::UnevaluatedProperties(self.schema(value)?),
            Keyword::UnevaluatedItems => Rule::UnevaluatedItems(self.schema(value)?),
            _ => return Ok(None),
        }))
    }

    // --- values of keywords ----------------------------------------------------------------------------------

    fn expect(&self, value: Node, kind: EntryKind, expected: &'static str) -> Result<Node, WrongKind> {
        if self.tape().entry(value).kind == kind { Ok(value) } else { Err(WrongKind(expected)) }
    }

    fn array(&self, value: Node) -> Result<Node, WrongKind> {
        self.expect(value, EntryKind::Array, "array")
    }

    fn object(&self, value: Node) -> Result<Node, WrongKind> {
        self.expect(value, EntryKind::Object, "object")
    }

    fn number(&self, value: Node) -> Result<Node, WrongKind> {
        self.expect(value, EntryKind::Number, "number")?;
        match Number::parse(self.tape().slice(value)) {
            Ok(_) => Ok(value),
            Err(_) => Err(WrongKind("number within 4300 digits")),
        }
    }

    /// Data to compare with: all its numbers must be such as are computed with.
    fn data(&self, value: Node) -> Result<Node, WrongKind> {
        let tape = self.tape();
        for node in value..tape.entry(value).next {
            if tape.entry(node).kind == EntryKind::Number {
                self.number(node)?;
            }
        }
        Ok(value)
    }

    fn boolean(&self, value: Node) -> Result<bool, WrongKind> {
        match self.tape().view_node(value) {
            View::Bool(is) => Ok(is),
            _ => Err(WrongKind("boolean")),
        }
    }

    /// A count; one beyond 32 bits is as good as the largest.
    fn count(&self, value: Node) -> Result<u32, WrongKind> {
        self.number(value)?;
        let View::Number(number) = self.tape().view_node(value) else {
            return Err(WrongKind("number"));
        };
        if !number.is_integral() || number.compare(Number::Int(0)).is_lt() {
            return Err(WrongKind("count"));
        }
        Ok(match number {
            Number::Int(count) => u32::try_from(count).unwrap_or(u32::MAX),
            Number::Big(_) => u32::MAX,
            // Saturates, and has no fraction.
            #[allow(clippy::cast_sign_loss)]
            Number::Decimal { value, .. } => value as u32,
        })
    }

    fn string(&self, value: Node) -> Result<&'d str, WrongKind> {
        if self.tape().is_string(value) { Ok(self.plain(value)) } else { Err(WrongKind("string")) }
    }

    /// As many items as `value` has elements or members, in the arena.
    fn list<T: Copy>(
        &self,
        value: Node,
        items: impl Iterator<Item = Result<T, WrongKind>>,
    ) -> Result<&'d [T], WrongKind> {
        let len = self.tape().entry(value).len as usize;
        let mut list = BumpVec::with_capacity_in(len, self.model.registry.bump);
        for item in items {
            list.push(item?);
        }
        Ok(list.into_bump_slice())
    }

    fn names(&self, value: Node) -> Result<&'d [&'d str], WrongKind> {
        self.list(value, self.tape().element_nodes(self.array(value)?).map(|name| self.string(name)))
    }

    fn schema(&self, value: Node) -> Result<Place, WrongKind> {
        if is_schema(self.tape().entry(value).kind) {
            Ok(Place { node: value, ..self.place })
        } else {
            Err(WrongKind("schema"))
        }
    }

    fn schemas(&self, value: Node) -> Result<&'d [Place], WrongKind> {
        self.list(value, self.tape().element_nodes(self.array(value)?).map(|node| self.schema(node)))
    }

    fn named_schemas(&self, value: Node) -> Result<&'d [(&'d str, Place)], WrongKind> {
        let members = self.tape().member_nodes(self.object(value)?);
        self.list(value, members.map(|(key, node)| Ok((self.plain(key), self.schema(node)?))))
    }

    // --- keywords --------------------------------------------------------------------------------------------

    fn types(&self, draft: Draft, value: Node) -> Read<'d> {
        let tape = self.tape();
        if tape.entry(value).kind != EntryKind::Array {
            let (types, name) = type_named(self.string(value)?, draft).ok_or(WrongKind("type"))?;
            return Ok(Some(Rule::Type(types, name)));
        }
        let mut types = Types::NONE;
        let mut names = bumpalo::collections::String::new_in(self.model.registry.bump);
        for node in tape.element_nodes(value) {
            let (named, name) = type_named(self.string(node)?, draft).ok_or(WrongKind("type"))?;
            types = types.union(named);
            names.push_str(if names.is_empty() { "" } else { ", " });
            names.push_str(name);
        }
        Ok(Some(Rule::Type(types, names.into_bump_str())))
    }

    /// `minimum` and `maximum`; in draft 4 their exclusive partners are booleans.
    fn bound(&self, site: Site, value: Node, bound: Bound) -> Result<Rule<'d>, WrongKind> {
        let value = self.number(value)?;
        let (partner, exclusive) = match bound {
            Bound::Maximum => (Keyword::ExclusiveMaximum, Bound::ExclusiveMaximum),
            _ => (Keyword::ExclusiveMinimum, Bound::ExclusiveMinimum),
        };
        let excludes = site.dialect.draft == Draft::D4
            && self.sibling(site, partner).is_some_and(|node| self.tape().entry(node).kind == EntryKind::True);
        Ok(Rule::Bound(if excludes { exclusive } else { bound }, value))
    }

    /// The pattern, or a finding where it stands: at `pattern`, or at its member of `patternProperties`.
    fn pattern(&mut self, source: &str, keyword: &str) -> Option<PatternNo> {
        let bytes_max = self.model.options.limits.pattern_bytes_max;
        let found = if source.len() as u64 > bytes_max {
            Err((FindingKind::PatternLimit, format!("{} bytes > {bytes_max}", source.len())))
        } else {
            self.model.patterns.get(source)
        };
        let (kind, detail) = match &found {
            Ok(pattern) if !self.model.pattern(*pattern).backtracks() => return found.ok(),
            Ok(_) => {
                let shown = shorten(&quoted(source));
                let detail = format!("{shown} needs look-around or back-references: it backtracks, under a step limit");
                (FindingKind::PatternBacktracks, detail)
            }
            Err((kind, detail)) => (*kind, detail.clone()),
        };
        let location = self.site.location;
        let mut pointer = self.model.registry.locations.pointer(location, keyword);
        if keyword == "patternProperties" {
            push_segment(&mut pointer, source);
        }
        self.model.registry.findings.push(Finding::new(kind, pointer, detail));
        found.ok()
    }

    fn pattern_rule(&mut self, value: Node) -> Read<'d> {
        let source = self.string(value)?;
        Ok(self.pattern(source, "pattern").map(Rule::Pattern))
    }

    fn format(&self, site: Site, value: Node) -> Read<'d> {
        let name = self.string(value)?;
        let asserted =
            self.model.options.assert_formats || site.dialect.vocabularies.has(Vocabularies::FORMAT_ASSERTION);
        let format =
            Format::from_name(name).filter(|format| asserted && format.is_defined_in(site.dialect.draft.number()));
        Ok(format.map(|format| Rule::Format(format, name)))
    }

    fn dependencies(&self, value: Node) -> Result<Rule<'d>, WrongKind> {
        let tape = self.tape();
        let members = tape.member_nodes(self.object(value)?).map(|(key, node)| {
            let needed = match tape.entry(node).kind {
                EntryKind::Array => Dependency::Names(self.names(node)?),
                _ => Dependency::Schema(self.schema(node)?),
            };
            Ok((self.plain(key), needed))
        });
        Ok(Rule::Dependencies(self.list(value, members)?))
    }

    fn pattern_properties(&mut self, value: Node) -> Result<Rule<'d>, WrongKind> {
        let named = self.named_schemas(value)?;
        let mut list = BumpVec::with_capacity_in(named.len(), self.model.registry.bump);
        for (source, place) in named {
            if let Some(pattern) = self.pattern(source, "patternProperties") {
                list.push((pattern, *place));
            }
        }
        Ok(Rule::PatternProperties(list.into_bump_slice()))
    }

    fn items(&self, site: Site, value: Node) -> Result<Rule<'d>, WrongKind> {
        let tape = self.tape();
        if site.dialect.draft < Draft::D2020 && tape.entry(value).kind == EntryKind::Array {
            return Ok(Rule::Prefix(self.schemas(value)?));
        }
        let schema = self.schema(value)?;
        let start = self.sibling(site, Keyword::PrefixItems).map_or(0, |node| tape.entry(node).len);
        let ends = site.dialect.draft == Draft::D2020 && tape.entry(value).kind == EntryKind::False;
        Ok(if ends { Rule::ItemsEnd(start) } else { Rule::Items(start, schema) })
    }

    /// Only counts beside an array of `items`.
    fn additional_items(&self, site: Site, value: Node) -> Read<'d> {
        let tape = self.tape();
        let schema = self.schema(value)?;
        let prefix = self.sibling(site, Keyword::Items).map(|node| tape.entry(node));
        Ok(match prefix {
            Some(entry) if entry.kind == EntryKind::Array => match tape.entry(value).kind {
                EntryKind::False => Some(Rule::ItemsEnd(entry.len)),
                _ => Some(Rule::Items(entry.len, schema)),
            },
            _ => None,
        })
    }

    fn contains(&self, site: Site, value: Node) -> Result<Rule<'d>, WrongKind> {
        let schema = self.schema(value)?;
        let bound = |name| self.sibling(site, name).map(|node| self.count(node)).transpose();
        let (min, max) = (bound(Keyword::MinContains)?.unwrap_or(1), bound(Keyword::MaxContains)?.unwrap_or(u32::MAX));
        Ok(Rule::Contains(schema, min, max))
    }

    fn condition(&self, site: Site, value: Node) -> Result<Rule<'d>, WrongKind> {
        let branch = |name| self.sibling(site, name).map(|node| self.schema(node)).transpose();
        Ok(Rule::If(self.schema(value)?, branch(Keyword::Then)?, branch(Keyword::Else)?))
    }

    fn reference(&mut self, site: Site, keyword: Keyword, value: Node) -> Read<'d> {
        let reference = self.string(value)?;
        let registry = &mut self.model.registry;
        let (target, anchor) = match registry.resolve(site, reference, keyword.name()) {
            Ok(found) => found,
            Err(finding) => {
                registry.findings.push(finding);
                return Ok(None);
            }
        };
        let target_resource = registry.site(target).map(|site| site.resource);
        let resource = target_resource.map(|id| registry.resource(id));
        Ok(Some(match keyword {
            Keyword::DynamicRef => {
                let bookend = |name: &&str| resource.is_some_and(|found| found.dynamic_anchors.contains_key(name));
                Rule::DynamicRef(target, anchor.filter(bookend))
            }
            Keyword::RecursiveRef => {
                Rule::RecursiveRef(target, resource.is_some_and(|found| found.root == target && found.recursive_anchor))
            }
            _ => Rule::Ref(target),
        }))
    }
}

/// The type of that name, and the name in value notation.
fn type_named(name: &str, draft: Draft) -> Option<(Types, &'static str)> {
    Some(match name {
        "string" => (Types::STRING, "'string'"),
        "object" => (Types::OBJECT, "'object'"),
        "array" => (Types::ARRAY, "'array'"),
        "boolean" => (Types::BOOLEAN, "'boolean'"),
        "integer" if draft == Draft::D4 => (Types::INTEGER_LITERAL, "'integer'"),
        "integer" => (Types::INTEGER, "'integer'"),
        "number" => (Types::NUMBER, "'number'"),
        "null" => (Types::NULL, "'null'"),
        _ => return None,
    })
}

/// A text cut for a finding's one line. Unit: characters.
pub(crate) fn shorten(text: &str) -> String {
    const CHARS_MAX: usize = 80;
    if text.chars().count() <= CHARS_MAX {
        return text.to_owned();
    }
    text.chars().take(CHARS_MAX).chain(['…']).collect()
}
