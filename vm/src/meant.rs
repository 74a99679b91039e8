//! Which branch of a failed union was meant.
//!
//! ```text
//! 1  types      only one branch admits the value's type                        {"depth": 0}  for  object or null
//! 2  a tag      a member that each branch fixes to texts of its own            {"kind": "x"}, or nearly: {"kind": "X"}
//! 3  measure    fewest failures, then most members that the branch declares    the best one, if it is alone
//! ```
//!
//! Nothing of this changes a verdict or the pinned line. Tags are read off the explaining code when they are needed: the
//! compiler recognises them for judging (`switch_tag`) only where a switch may stand for the union, that is where every
//! branch is an object and requires the tag. Here one `null` branch, a tag behind a reference or one that no branch
//! requires does no harm, since nothing but words depends on it.

use std::cell::Cell;
use std::ops::ControlFlow;

use crate::describe::names::{each_name, property};
use crate::describe::{Facets, Wanted, admitted, branches, fits};
use crate::failure::Record;
use crate::insn::Types;
use crate::instance::View;
use crate::nearest::nearness;
use crate::render::{Inside, Renderer};
use crate::tape::{Node, Tape};
use crate::text::Text;
use crate::unit::{EnumSet, StrId, Unit};

/// Branches that are looked at.
const BRANCHES_MAX: usize = 64;

/// Names that may be a tag.
const NAMES_MAX: usize = 16;

/// Members of the value that are looked for in branches.
const MEMBERS_MAX: usize = 64;

/// What one text may spend on all its unions; those that it does not reach are told by all their branches. Unit: a
/// comparison of two texts.
pub(crate) const EFFORT_MAX: u32 = 1 << 20;

/// What reading the branches of one union takes. Unit: as [`EFFORT_MAX`].
const UNION_EFFORT: u32 = 256;

/// What measuring the distance of two texts takes. Unit: as [`EFFORT_MAX`].
const NEARNESS_EFFORT: u32 = 64;

/// What is known of the branch that was meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Meant<'u> {
    /// The one of this index, by the type of the value alone.
    ByType(u32),
    /// The one of this index, by a tag: its name, and its text.
    ByTag(u32, &'u str, &'u str),
    /// The tag of that name has none of the texts; the branch is the one with a text that is nearly the same, if there is
    /// one, with that text.
    UnknownTag(Option<(u32, &'u str)>, &'u str),
    /// The tag of that name is not there, and nothing else tells.
    NoTag(&'u str),
    /// The one of this index is the closest.
    Closest(u32),
    /// It cannot be told.
    Unknown,
}

impl Meant<'_> {
    /// The branch, if it can be told.
    pub(crate) fn branch(self) -> Option<u32> {
        match self {
            Meant::ByType(branch) | Meant::ByTag(branch, ..) | Meant::Closest(branch) => Some(branch),
            Meant::UnknownTag(near, _) => near.map(|(branch, _)| branch),
            Meant::NoTag(_) | Meant::Unknown => None,
        }
    }
}

/// The branch that the value of a failed union was meant for. `inside` is what its branches said.
pub(crate) fn meant<'u>(renderer: Renderer<'u>, union: &Record, inside: Inside<'u>, effort: &Cell<u32>) -> Meant<'u> {
    let search = Search { unit: renderer.unit, tape: renderer.tape, union: union.pc, node: union.node, effort };
    if !search.spend(UNION_EFFORT) {
        return Meant::Unknown;
    }
    let types = search.tape.view_node(search.node).types();
    let admitting = search.admitting(types);
    match admitting.count_ones() {
        0 => return Meant::Unknown,
        1 => return Meant::ByType(admitting.trailing_zeros()),
        _ => {}
    }
    let tag = if types.meets(Types::OBJECT) { search.tag(admitting) } else { None };
    match tag {
        None | Some(Meant::NoTag(_)) => {
            search.closest(inside, admitting).map_or(tag.unwrap_or(Meant::Unknown), Meant::Closest)
        }
        Some(known) => known,
    }
}

/// The texts that the tag `name` may have in the branches of the union at `pc`, in their order.
pub(crate) fn each_tag_text<'u>(unit: &'u Unit, pc: u32, name: &str, visit: &mut dyn FnMut(&'u str)) {
    for target in branches(unit, pc).take(BRANCHES_MAX) {
        let texts = property(unit, target.pc(), name).and_then(|wanted| Texts::of(unit, wanted));
        texts.into_iter().flat_map(|texts| texts.iter(unit)).for_each(&mut *visit);
    }
}

struct Search<'u, 'e> {
    unit: &'u Unit,
    tape: Tape<'u>,
    union: u32,
    node: Node,
    effort: &'e Cell<u32>,
}

impl<'u> Search<'u, '_> {
    /// Takes so much off the effort; answers whether there was enough.
    fn spend(&self, effort: u32) -> bool {
        let left = self.effort.get().checked_sub(effort);
        self.effort.set(left.unwrap_or(0));
        left.is_some()
    }

    /// The branches that admit a value of the types, one bit each.
    fn admitting(&self, types: Types) -> u64 {
        let targets = branches(self.unit, self.union).take(BRANCHES_MAX).enumerate();
        let admits = targets.filter(|(_, target)| fits(types, admitted(self.unit, Wanted::target(*target))));
        admits.fold(0, |bits, (at, _)| bits | 1 << at)
    }

    /// The blocks of those branches, with their indices.
    fn blocks(&self, admitting: u64) -> impl Iterator<Item = (u32, u32)> + '_ {
        let targets = (0..).zip(branches(self.unit, self.union).take(BRANCHES_MAX));
        targets.filter(move |(at, _)| admitting >> at & 1 == 1).map(|(at, target)| (at, target.pc()))
    }

    /// What a tag says of the branches: the first name that all of them fix to texts of their own.
    fn tag(&self, admitting: u64) -> Option<Meant<'u>> {
        let (_, first) = self.blocks(admitting).next()?;
        let (mut found, mut left) = (None, NAMES_MAX);
        let flow: ControlFlow<()> = each_name(self.unit, first, &mut |name, wanted| {
            if Texts::of(self.unit, wanted).is_none() {
                return ControlFlow::Continue(());
            }
            left -= 1;
            let better = match (self.tag_called(name, admitting), found) {
                (Some(tag @ Meant::ByTag(..)), _) => Some(tag),
                (Some(tag @ Meant::UnknownTag(..)), None | Some(Meant::NoTag(_))) => Some(tag),
                (Some(tag), None) => Some(tag),
                _ => None,
            };
            found = better.or(found);
            let is_settled = left == 0 || matches!(found, Some(Meant::ByTag(..)));
            if is_settled { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        let _ = flow;
        found
    }

    /// What the member `name` says, if it is a tag.
    fn tag_called(&self, name: &'u str, admitting: u64) -> Option<Meant<'u>> {
        let value = self.tape.member(self.node, name).map(|node| self.tape.view_node(node));
        let (mut hit, mut first_texts) = (None, None);
        let mut near: Option<(u32, u32, &'u str)> = None;
        for (branch, block) in self.blocks(admitting) {
            let texts = Texts::of(self.unit, property(self.unit, block, name)?)?;
            match first_texts {
                None => first_texts = Some(texts),
                // Texts that are another branch's too tell nothing.
                Some(first) if texts.iter(self.unit).any(|text| !self.spend(1) || first.has(self.unit, text)) => {
                    return None;
                }
                Some(_) => {}
            }
            if let Some(View::String(given)) = value {
                let exact = texts.iter(self.unit).take_while(|_| self.spend(1)).find(|text| given.is(text));
                hit = hit.or(exact.map(|text| (branch, text)));
                let nearest = self.nearest(texts, given).map(|(distance, text)| (distance, branch, text));
                let is_nearer = |(distance, ..): &(u32, u32, &str)| near.is_none_or(|(least, ..)| *distance < least);
                near = nearest.filter(is_nearer).or(near);
            }
        }
        Some(match (value, hit) {
            (_, Some((branch, text))) => Meant::ByTag(branch, name, text),
            (None, None) => Meant::NoTag(name),
            (Some(_), None) => Meant::UnknownTag(near.map(|(_, branch, text)| (branch, text)), name),
        })
    }

    /// The nearest of the texts, as far as the effort goes.
    fn nearest(&self, texts: Texts<'u>, given: Text<'_>) -> Option<(u32, &'u str)> {
        let sought = texts.iter(self.unit).take_while(|_| self.spend(NEARNESS_EFFORT));
        let near = sought.filter_map(|text| Some((nearness(given.chars(), text.chars())?, text)));
        near.min_by_key(|(distance, _)| *distance)
    }

    /// The branch with the fewest failures, and among those the one that declares most of the value's members; none where
    /// two are equal in both, where it declares no member of an object, or where not all failures are known.
    fn closest(&self, inside: Inside<'u>, admitting: u64) -> Option<u32> {
        let mut failures = [0_u32; BRANCHES_MAX];
        for inner in inside {
            *failures.get_mut(inner.branch as usize)? += 1;
        }
        let is_object = matches!(self.tape.view_node(self.node), View::Object);
        let mut best: Option<(u32, u32, u32)> = None;
        let mut is_tie = false;
        for (branch, block) in self.blocks(admitting) {
            let (count, declared) = (failures[branch as usize], self.declared(block));
            if count == 0 {
                return None;
            }
            let order =
                best.map(|(best_count, best_declared, _)| count.cmp(&best_count).then(best_declared.cmp(&declared)));
            match order {
                None | Some(std::cmp::Ordering::Less) => (best, is_tie) = (Some((count, declared, branch)), false),
                Some(std::cmp::Ordering::Equal) => is_tie = true,
                Some(std::cmp::Ordering::Greater) => {}
            }
        }
        best.filter(|(_, declared, _)| !is_tie && (!is_object || *declared > 0)).map(|(.., branch)| branch)
    }

    /// How many members of the value the block declares.
    fn declared(&self, block: u32) -> u32 {
        let members = || self.tape.member_nodes(self.node).take(MEMBERS_MAX);
        let mut declared = 0;
        let flow: ControlFlow<()> = each_name(self.unit, block, &mut |name, _| {
            if !self.spend(MEMBERS_MAX as u32) {
                return ControlFlow::Break(());
            }
            declared += u32::from(members().any(|(member, _)| self.tape.text(member).is(name)));
            ControlFlow::Continue(())
        });
        let _ = flow;
        declared
    }
}

/// The only texts that pass: a `const`, or an `enum`, of texts alone.
#[derive(Clone, Copy)]
enum Texts<'u> {
    One(&'u str),
    List(&'u EnumSet),
}

impl<'u> Texts<'u> {
    fn of(unit: &'u Unit, wanted: Wanted) -> Option<Texts<'u>> {
        let facets = Facets::of(unit, wanted);
        if let Some(text) = facets.constant_text(unit) {
            return Some(Texts::One(text));
        }
        let set = facets.enum_set(unit)?;
        let only = set.numbers.is_empty() && set.containers.is_empty() && !(set.null || set.yes || set.no);
        (only && !set.strings.is_empty()).then_some(Texts::List(set))
    }

    fn iter(self, unit: &'u Unit) -> impl Iterator<Item = &'u str> {
        let (one, list): (Option<&'u str>, &'u [(_, StrId)]) = match self {
            Texts::One(text) => (Some(text), &[]),
            Texts::List(set) => (None, &set.strings),
        };
        one.into_iter().chain(list.iter().map(|(_, text)| unit.str(*text)))
    }

    fn has(self, unit: &Unit, text: &str) -> bool {
        match self {
            Texts::One(one) => one == text,
            Texts::List(set) => unit.has_string(set, text),
        }
    }
}
