//! What a block wants, in a phrase: `integer >= 0 or null`, `array of strings`, `object with 'depth' (integer >= 1)`.
//!
//! There is no second form of a schema: the phrase is read off the block's own instructions when it is needed. They are
//! gathered into *facets* (types, bounds, names), which [`phrase`] words.
//!
//! ```text
//! any_of ->0069 ->0073            alternatives   ─►  integer >= 0 or null
//!   0070 minimum 0                lower 0
//!   0071 type_is integer          types
//!   0074 type_is null             types
//! ```
//!
//! Explaining blocks and judging ones are both read, since `not` and `contains` have judging ones only. What is left out:
//! conditions (`if`, `not`, dependencies), and what `allOf` says twice but for the tighter bound. Instructions are bounded by
//! [`STEPS_MAX`], references by [`CALLS_MAX`], nesting by [`phrase::LEVEL_MAX`], and the phrase by its writer. Names and values
//! are shown up to a limit; to count those of one list takes a pass over it.

pub(crate) mod names;
pub(crate) mod phrase;

use crate::insn::{Flags, Target, Types};
use crate::number::Number;
use crate::opcode::Opcode;
use crate::unit::{EnumSet, Extra, StrId, Table, TableName, Unit};

/// Blocks inside each other that are about one instance.
const CALLS_MAX: u32 = 8;

/// Property tables, or lists of required names, of one schema object and what it refers to.
const TABLES_MAX: usize = 4;

/// Instructions that one reading looks at; what lies beyond is left out.
const STEPS_MAX: u32 = 1_024;

/// Branches of a union among which one that is a list is sought.
const BRANCHES_SOUGHT_MAX: usize = 64;

/// Required names that are looked for in a value; one of which more are wanted is held not to have them.
const ELEMENT_NAMES_MAX: usize = 16;

/// Divisions that cost more are not made: nothing but a hint depends on them. Unit: that of [`Number::multiple_of_cost`].
const DIVISION_COST_MAX: u64 = 1_000;

/// What a reading may still look at.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Steps(pub(crate) u32);

impl Steps {
    pub(crate) fn take(&mut self) -> bool {
        self.0 = self.0.saturating_sub(1);
        self.0 > 0
    }
}

/// A schema as code knows it: a block, and the types that were taken out of it into a guard.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wanted {
    /// The block's first instruction; none accepts all values of the types.
    pub(crate) block: Option<u32>,
    /// Types that may pass.
    pub(crate) types: Types,
}

impl Wanted {
    /// What the block at `pc` wants.
    pub(crate) fn block(pc: u32) -> Wanted {
        Wanted { block: Some(pc), types: Types::ANY }
    }

    /// What is run wants.
    pub(crate) fn target(target: Target) -> Wanted {
        Wanted { block: target.is_some().then(|| target.pc()), types: Types::ANY }
    }

    fn named(name: &TableName) -> Wanted {
        Wanted { types: name.guard.admit.union(name.guard.pass), ..Wanted::target(name.target) }
    }
}

/// A bound: its number, and whether it is itself out of the range.
type Bound = (u32, bool);

/// A few ids, as many as there is room for.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Few {
    ids: [u32; TABLES_MAX],
    len: usize,
}

impl Few {
    fn add(&mut self, id: u32) {
        if let Some(free) = self.ids.get_mut(self.len) {
            *free = id;
            self.len += 1;
        }
    }
}

/// All that is read off a block.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Facets {
    /// Types that may pass.
    pub(crate) types: Types,
    /// Types that pass whatever the rest says.
    or_types: Types,
    /// Nothing passes.
    never: bool,
    constant: Option<u32>,
    /// The instruction of an `enum`.
    list: Option<u32>,
    /// The instruction of a union.
    pub(crate) union: Option<u32>,
    lower: Option<Bound>,
    upper: Option<Bound>,
    multiple: Option<u32>,
    chars: (u32, u32),
    pattern: Option<u32>,
    format: Option<u8>,
    items: (u32, u32),
    is_unique: bool,
    element: Option<Wanted>,
    prefix: Option<u32>,
    /// What elements after the prefix must be.
    rest: Option<Wanted>,
    tables: Few,
    required: Few,
    /// What the values of names that are not declared must be.
    values: Option<Wanted>,
    members_min: u32,
}

/// Facets of a block that says nothing.
const OPEN: Facets = Facets {
    types: Types::ANY,
    or_types: Types::NONE,
    never: false,
    constant: None,
    list: None,
    union: None,
    lower: None,
    upper: None,
    multiple: None,
    chars: (0, u32::MAX),
    pattern: None,
    format: None,
    items: (0, u32::MAX),
    is_unique: false,
    element: None,
    prefix: None,
    rest: None,
    tables: Few { ids: [0; TABLES_MAX], len: 0 },
    required: Few { ids: [0; TABLES_MAX], len: 0 },
    values: None,
    members_min: 0,
};

impl Facets {
    /// Reads what is wanted. Cost: the instructions of the block and of those it refers to.
    pub(crate) fn of(unit: &Unit, wanted: Wanted) -> Facets {
        let mut facets = Facets { types: wanted.types, ..OPEN };
        if let Some(block) = wanted.block {
            facets.read(unit, block, CALLS_MAX, &mut Steps(STEPS_MAX));
        }
        facets
    }

    /// Whether nothing is said but types.
    fn is_plain(&self) -> bool {
        let is_bounded = self.lower.is_some() || self.upper.is_some() || self.multiple.is_some();
        let is_text = self.chars != OPEN.chars || self.pattern.is_some() || self.format.is_some();
        let is_listed = self.constant.is_some() || self.list.is_some() || self.union.is_some() || self.never;
        !(is_bounded || is_text || is_listed || self.is_about_elements() || self.is_about_members())
    }

    /// Whether more is said of a number than `> 1` or `from 1 to 2`.
    fn has_many_bounds(&self) -> bool {
        let is_range = matches!((self.lower, self.upper), (Some((_, false)), Some((_, false))));
        self.multiple.is_some() || self.lower.is_some() && self.upper.is_some() && !is_range
    }

    fn is_about_elements(&self) -> bool {
        self.items != OPEN.items || self.is_unique || self.element.is_some() || self.prefix.is_some()
    }

    fn is_about_members(&self) -> bool {
        self.tables.len > 0 || self.required.len > 0 || self.values.is_some() || self.members_min > 0
    }

    /// Whether the number is within the bounds.
    pub(crate) fn has_room_for(&self, unit: &Unit, number: Number<'_>) -> bool {
        let order = |id| number.compare(unit.number(id));
        let is_above = self.lower.is_none_or(|(id, is_open)| order(id).is_gt() || !is_open && order(id).is_eq());
        let is_below = self.upper.is_none_or(|(id, is_open)| order(id).is_lt() || !is_open && order(id).is_eq());
        let divides = |divisor: Number<'_>| {
            number.multiple_of_cost(divisor) <= DIVISION_COST_MAX && number.is_multiple_of(divisor)
        };
        is_above && is_below && self.multiple.is_none_or(|id| divides(unit.number(id)))
    }

    /// Whether elements are known to be of a kind that a value of the types is of, which has the members that they need.
    pub(crate) fn admits_element(&self, unit: &Unit, types: Types, has: impl Fn(&str) -> bool) -> bool {
        let in_branch = |target| Facets::of(unit, Wanted::target(target)).element;
        let in_union =
            || self.union.and_then(|union| branches(unit, union).take(BRANCHES_SOUGHT_MAX).find_map(in_branch));
        self.element.or_else(in_union).is_some_and(|element| {
            let admitted = admitted(unit, element);
            let facets = Facets::of(unit, element);
            let has_all = || {
                facets.required_total(unit) <= ELEMENT_NAMES_MAX
                    && facets.required_names(unit).all(|name| has(unit.str(name)))
            };
            admitted != Types::ANY && fits(types, admitted) && has_all()
        })
    }

    /// The text of a `const` that is one, spelt without escapes.
    pub(crate) fn constant_text<'u>(&self, unit: &'u Unit) -> Option<&'u str> {
        let (values, node) = (unit.values(), unit.value(self.constant?));
        values.is_string(node).then(|| values.text(node).as_plain())?
    }

    /// The values of an `enum`.
    pub(crate) fn enum_set<'u>(&self, unit: &'u Unit) -> Option<&'u EnumSet> {
        let word = unit.code().get(self.list? as usize)?;
        unit.parts.enums.get(word.c as usize)
    }

    /// The names that are required, where nothing else is said.
    pub(crate) fn only_required<'u>(&self, unit: &'u Unit) -> Option<impl Iterator<Item = &'u str>> {
        let mut rest = *self;
        rest.required = OPEN.required;
        rest.tables.len = 0;
        let declares = self.declared_names(unit).next().is_some();
        let only = rest.is_open() && !declares && self.required_names(unit).next().is_some();
        only.then(|| self.required_names(unit).map(|name| unit.str(name)))
    }

    /// The divisor, where nothing is said but that a number is a multiple of it.
    pub(crate) fn only_multiple(&self) -> Option<u32> {
        let rest = Facets { multiple: None, types: Types::ANY, ..*self };
        self.multiple.filter(|_| rest.is_open() && fits(Types::WHOLE, self.subject()))
    }

    /// The types that it is about, where it names none.
    pub(crate) fn subject(&self) -> Types {
        if self.types == Types::ANY { phrase::inferred(self) } else { self.types }
    }

    /// Whether nothing is said at all.
    pub(crate) fn is_open(&self) -> bool {
        self.types == Types::ANY && self.is_plain()
    }

    fn read(&mut self, unit: &Unit, block: u32, calls_left: u32, steps: &mut Steps) {
        let Some(calls_left) = calls_left.checked_sub(1) else {
            return;
        };
        for (pc, word) in block_words(unit, block) {
            if !steps.take() {
                return;
            }
            match word.opcode() {
                Opcode::Call | Opcode::CallMemo => {
                    self.read(unit, Target::from_bits(word.c).pc(), calls_left, steps);
                }
                Opcode::SkipType => self.or_types = self.or_types.union(Types(word.a)),
                Opcode::Never => self.never = true,
                Opcode::TypeIs => self.types = meet(self.types, Types(word.a)),
                Opcode::EnumIs => self.list = self.list.or(Some(pc)),
                Opcode::ConstIs => self.constant = self.constant.or(Some(word.c)),
                Opcode::AnyOf | Opcode::OneOf | Opcode::SwitchTag => self.union = self.union.or(Some(pc)),
                Opcode::Minimum => self.raise(unit, (word.c, false)),
                Opcode::ExclusiveMinimum => self.raise(unit, (word.c, true)),
                Opcode::Maximum => self.lessen(unit, (word.c, false)),
                Opcode::ExclusiveMaximum => self.lessen(unit, (word.c, true)),
                Opcode::InRange => {
                    if let &[lower, upper] = unit.list(word.c) {
                        self.raise(unit, (lower, Flags(word.a).has(Flags::OPEN_BELOW)));
                        self.lessen(unit, (upper, Flags(word.a).has(Flags::OPEN_ABOVE)));
                    }
                }
                Opcode::MultipleOf => self.multiple = self.multiple.or(Some(word.c)),
                Opcode::MinLength => self.chars.0 = self.chars.0.max(word.c),
                Opcode::MaxLength => self.chars.1 = self.chars.1.min(word.c),
                Opcode::Matches => self.pattern = self.pattern.or(Some(word.c)),
                Opcode::FormatIs => self.format = self.format.or(Some(word.a)),
                Opcode::MinItems => self.items.0 = self.items.0.max(word.c),
                Opcode::MaxItems | Opcode::ItemsEnd => self.items.1 = self.items.1.min(word.c),
                Opcode::UniqueItems => self.is_unique = true,
                Opcode::PrefixItems => self.prefix = self.prefix.or(Some(word.c)),
                Opcode::Items => self.read_items(word.b.into(), word.a, word.c),
                Opcode::Not if is_open(unit, Target::from_bits(word.c)) => self.never = true,
                Opcode::CountedItems => self.read_counted(unit.list(word.c)),
                Opcode::Properties => self.tables.add(word.c),
                Opcode::Required => self.required.add(word.c),
                Opcode::ObjectTable => {
                    self.tables.add(word.c);
                    self.read_values(unit.table(word.c));
                }
                Opcode::AdditionalProperties => self.read_values(unit.table(word.c)),
                Opcode::MinProperties => self.members_min = self.members_min.max(word.c),
                _ => {}
            }
        }
    }

    fn read_counted(&mut self, list: &[u32]) {
        if let &[start, admit, target, min, max] = list {
            self.items = (self.items.0.max(min), self.items.1.min(max));
            self.read_items(start, admit as u8, target);
        }
    }

    fn read_items(&mut self, start: u32, admit: u8, target: u32) {
        let element = Wanted { types: Types(admit), ..Wanted::target(Target::from_bits(target)) };
        let place = if start == 0 { &mut self.element } else { &mut self.rest };
        *place = place.or(Some(element));
    }

    fn read_values(&mut self, table: &Table) {
        if let Extra::Run(target) = table.extra {
            self.values = self.values.or(Some(Wanted::target(target)));
        }
    }

    fn raise(&mut self, unit: &Unit, bound: Bound) {
        let tighter = |old: Bound| unit.number(bound.0).compare(unit.number(old.0)).is_gt();
        if self.lower.is_none_or(tighter) {
            self.lower = Some(bound);
        }
    }

    fn lessen(&mut self, unit: &Unit, bound: Bound) {
        let tighter = |old: Bound| unit.number(bound.0).compare(unit.number(old.0)).is_lt();
        if self.upper.is_none_or(tighter) {
            self.upper = Some(bound);
        }
    }

    /// Required names, in order.
    fn required_names<'u>(&self, unit: &'u Unit) -> impl Iterator<Item = StrId> + use<'u> {
        let (tables, required) = (self.tables, self.required);
        let listed = (0..required.len).flat_map(move |at| &unit.table(required.ids[at]).names).map(|entry| entry.name);
        // In a judging table the required ones have a bit; the names beyond them are few enough to be left out.
        let marked = (0..tables.len).flat_map(move |at| {
            let table = unit.table(tables.ids[at]);
            let is_required = move |at: &usize| *at < 64 && table.required >> at & 1 == 1;
            (0..table.names.len()).filter(is_required).map(|at| table.names[at].name)
        });
        listed.chain(marked)
    }

    /// How many [`required_names`](Self::required_names) there are. Cost: constant.
    fn required_total(&self, unit: &Unit) -> usize {
        let listed = self.required.ids.iter().take(self.required.len).map(|id| unit.table(*id).names.len());
        let marked = self.tables.ids.iter().take(self.tables.len).map(|id| {
            let table = unit.table(*id);
            let beyond = u32::try_from(table.names.len()).ok().and_then(|len| u64::MAX.checked_shl(len)).unwrap_or(0);
            (table.required & !beyond).count_ones() as usize
        });
        listed.chain(marked).sum()
    }

    /// What the value of the name must be. Cost: a look into each table.
    fn wanted_of(&self, unit: &Unit, name: StrId) -> Wanted {
        let mut tables = self.tables.ids.iter().take(self.tables.len).map(|id| unit.table(*id));
        let found = tables.find_map(|table| unit.find_name(table, unit.str(name)));
        found.map_or(Wanted { block: None, types: Types::ANY }, |(_, entry)| Wanted::named(entry))
    }

    /// The names that are declared.
    fn declared_names<'u>(&self, unit: &'u Unit) -> impl Iterator<Item = &'u TableName> {
        let tables = self.tables;
        let entries = (0..tables.len).flat_map(move |at| &unit.table(tables.ids[at]).names);
        // A name whose schema is `false` is declared in order to be forbidden.
        let is_allowed = |entry: &TableName| {
            let target = entry.target;
            !target.is_some() || unit.code().get(target.pc() as usize).is_none_or(|word| word.opcode() != Opcode::Never)
        };
        entries.filter(move |entry| entry.declared && is_allowed(entry))
    }
}

/// Whether the block accepts everything.
fn is_open(unit: &Unit, target: Target) -> bool {
    !target.is_some() || block_words(unit, target.pc()).next().is_none()
}

/// The instructions from `block` to the end of their block, with their pcs.
pub(crate) fn block_words(unit: &Unit, block: u32) -> impl Iterator<Item = (u32, crate::insn::Word)> + '_ {
    let words = unit.code().get(block as usize..).unwrap_or_default();
    (block..).zip(words.iter().copied()).take_while(|(_, word)| word.opcode() != Opcode::Leave)
}

/// The block that the instruction at `pc` is in.
pub(crate) fn block_of(unit: &Unit, pc: u32) -> u32 {
    let before = unit.code().get(..pc as usize).unwrap_or_default();
    before.iter().rposition(|word| word.opcode() == Opcode::Leave).map_or(0, |at| at as u32 + 1)
}

/// The branches of the union at `pc`; none for another instruction.
pub(crate) fn branches(unit: &Unit, pc: u32) -> impl ExactSizeIterator<Item = Target> + Clone + '_ {
    let list = match unit.code().get(pc as usize) {
        Some(word) if matches!(word.opcode(), Opcode::AnyOf | Opcode::OneOf) => unit.list(word.c),
        _ => &[],
    };
    list.iter().map(|bits| Target::from_bits(*bits))
}

/// The types that both sets of a schema have; an integer is a number.
fn meet(a: Types, b: Types) -> Types {
    Types(wide(a).0 & wide(b).0)
}

fn wide(types: Types) -> Types {
    if types.meets(Types::NUMBER) { types.union(Types::WHOLE) } else { types }
}

/// The types of which a value may pass, as far as the block and its unions tell.
pub(crate) fn admitted(unit: &Unit, wanted: Wanted) -> Types {
    admitted_within(unit, wanted, CALLS_MAX, &mut Steps(BRANCHES_READ_MAX))
}

/// Branches that are read to tell which types pass.
const BRANCHES_READ_MAX: u32 = 128;

fn admitted_within(unit: &Unit, wanted: Wanted, levels_left: u32, steps: &mut Steps) -> Types {
    if !steps.take() {
        return Types::ANY;
    }
    let facets = Facets::of(unit, wanted);
    if facets.never {
        return Types::NONE;
    }
    let mut types = facets.types;
    if let Some(value) = facets.constant {
        types = meet(types, unit.values().view_node(unit.value(value)).types());
    }
    if let Some(set) = facets.enum_set(unit) {
        types = meet(types, types_of_set(set));
    }
    if let (Some(union), Some(levels_left)) = (facets.union, levels_left.checked_sub(1)) {
        let of_branch = |target| admitted_within(unit, Wanted::target(target), levels_left, steps);
        let any = branches(unit, union).map(of_branch).reduce(Types::union);
        types = any.map_or(types, |any| meet(types, any));
    }
    types.union(facets.or_types)
}

fn types_of_set(set: &EnumSet) -> Types {
    let mut types = Types::NONE;
    let mut add = |is_there: bool, of: Types| types = if is_there { types.union(of) } else { types };
    add(set.null, Types::NULL);
    add(set.yes || set.no, Types::BOOLEAN);
    add(!set.strings.is_empty(), Types::STRING);
    add(!set.numbers.is_empty(), Types::NUMBER.union(Types::WHOLE));
    add(!set.containers.is_empty(), Types::ARRAY.union(Types::OBJECT));
    types
}

/// Whether a value of `types` is of one of the `wanted` types.
pub(crate) fn fits(types: Types, wanted: Types) -> bool {
    types.meets(wide(wanted))
}

/// The description of the schema object that `block` is, or of the one that it refers to.
pub(crate) fn description(unit: &Unit, block: u32) -> Option<&str> {
    let mut block = block;
    for _ in 0..CALLS_MAX {
        let mut calls = None;
        for (pc, word) in block_words(unit, block) {
            if let Some(text) = unit.note(pc).and_then(|note| unit.opt_str(note.description)).filter(|t| !t.is_empty())
            {
                return Some(text);
            }
            if matches!(word.opcode(), Opcode::Call | Opcode::CallMemo) {
                calls = calls.or(Some(Target::from_bits(word.c).pc()));
            }
        }
        block = calls?;
    }
    None
}
