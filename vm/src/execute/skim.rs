//! Judging by a look: what of an object's members and an array's elements is told without the machine.
//!
//! Most values are told by their types ([`Guard`]), most others by one instruction about a scalar. A skim goes over the
//! members for as long as that holds, with nothing but its own variables; a member that takes more is handed to the
//! machine, after which the skim goes on. Looks spend what the instructions they stand for would.

use crate::failure::FaultCode;
use crate::insn::{Flags, Target, Types, Word};
use crate::instance::{Halt, Instance, Member, View};
use crate::number::Number;
use crate::opcode::{Opcode, build};
use crate::pattern::PatternScratch;
use crate::unit::{Extra, Guard, Table, Unit};

/// The bit of a table's name in its mask of required ones; 0 for names beyond those that are watched.
#[inline]
pub(super) fn watched_bit(at: usize) -> u64 {
    1_u64.checked_shl(at as u32).unwrap_or(0)
}

/// What one look at a value tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Look {
    Passes,
    Fails,
    /// It takes the machine.
    Unclear,
}

impl From<bool> for Look {
    #[inline]
    fn from(passes: bool) -> Look {
        if passes { Look::Passes } else { Look::Fails }
    }
}

/// How far a skim came.
pub(super) enum Skimmed<'a, N> {
    /// To the end.
    Through,
    /// A member fails.
    Failed,
    /// The machine must judge this value by the block.
    Child(N, Target),
    /// So it must, if there is a block; and ask what the table's patterns, and what it says of further members, make of the
    /// member. Whether `properties` names it.
    Rest(Member<'a, N>, Target, bool),
}

/// Goes over an object's members from `at` on. `depth_left`: how deep a member may nest.
///
/// A text's cursor leaves it to this loop to see that no name of the table comes twice.
#[inline(always)]
#[allow(clippy::inline_always)] // the heart of judging: its variables are to be registers
pub(super) fn skim<'a, I: Instance<'a>>(
    unit: &Unit,
    table: &Table,
    instance: &mut I,
    at: &mut I::Members,
    seen: &mut u64,
    fuel: &mut u64,
    looks: &mut Looks<'_>,
) -> Result<Skimmed<'a, I::Node>, Halt> {
    while let Some(member) = instance.next_unnoted(at)? {
        spend(fuel, 1 + member.name.raw_bytes() as u64 / 16)?;
        let found = match member.name.as_plain() {
            Some(plain) => unit.find_name(table, plain),
            None => unit.find_name(table, member.name.plain(looks.patterns.plain())),
        };
        let (bit, claimed) = found.map_or((0, false), |(at, name)| (watched_bit(at), name.declared));
        if bit == 0 {
            instance.note_name(at, member.name)?;
        }
        if *seen & bit != 0 {
            return Err(Halt::Unreadable);
        }
        *seen |= bit;
        let mut target = Target::NONE;
        if let Some((_, row)) = found {
            match look(unit, row.guard, row.target, instance, member.value, fuel, looks)? {
                Look::Passes => {}
                Look::Fails => return Ok(Skimmed::Failed),
                Look::Unclear => target = row.target,
            }
        }
        // Mostly there are no patterns and the rest is of no interest.
        let rest = !claimed && table.extra != Extra::Skip || !table.patterns.is_empty();
        if rest && table.extra == Extra::Forbid && table.patterns.is_empty() {
            return Ok(Skimmed::Failed);
        }
        if rest {
            return Ok(Skimmed::Rest(member, target, claimed));
        }
        if target.is_some() {
            return Ok(Skimmed::Child(member.value, target));
        }
    }
    Ok(Skimmed::Through)
}

/// What looks go by.
pub(super) struct Looks<'s> {
    /// For patterns, and for texts that must be in one piece.
    pub(super) patterns: &'s mut PatternScratch,
    /// How much deeper a child may nest.
    pub(super) depth_left: u32,
    /// Whether instructions are looked at too, and not the guards alone.
    pub(super) instructions: bool,
}

/// What the types of a value decide of it.
#[inline(always)]
#[allow(clippy::inline_always)] // as for `skim`
pub(super) fn guarded<'a, I: Instance<'a>>(guard: Guard, instance: &mut I, node: I::Node) -> Result<Look, Halt> {
    if guard == Guard::OPEN {
        return Ok(Look::Unclear);
    }
    let mut types = instance.kind(node)?;
    if types == Types::NUMBER && (guard.pass.tells_integers() || guard.admit.tells_integers()) {
        types = instance.types(node)?;
    }
    Ok(if types.meets(guard.pass) {
        Look::Passes
    } else if !types.meets(guard.admit) {
        Look::Fails
    } else {
        Look::Unclear
    })
}

/// What a look at a child tells: by its types, then by a block without applicators.
#[inline(always)]
#[allow(clippy::inline_always)] // as for `skim`
pub(super) fn look<'a, I: Instance<'a>>(
    unit: &Unit,
    guard: Guard,
    target: Target,
    instance: &mut I,
    node: I::Node,
    fuel: &mut u64,
    looks: &mut Looks<'_>,
) -> Result<Look, Halt> {
    match guarded(guard, instance, node)? {
        Look::Unclear if !target.is_some() => Ok(Look::Passes),
        Look::Unclear if looks.instructions && target.is_told_at_a_look() => {
            if !target.is_single() {
                return look_by(unit, target.pc(), instance, node, fuel, looks);
            }
            look_at(unit, unit.code()[target.pc() as usize], instance, node, fuel, looks)
        }
        told => Ok(told),
    }
}

/// Whether a look at a scalar tells what the instruction says of it. The compiler marks blocks by it
/// ([`Target::with_look`]).
pub fn is_about_scalars(op: Opcode) -> bool {
    matches!(
        op,
        Opcode::TypeIs
            | Opcode::SkipType
            | Opcode::EnumIs
            | Opcode::Minimum
            | Opcode::Maximum
            | Opcode::ExclusiveMinimum
            | Opcode::ExclusiveMaximum
            | Opcode::InRange
            | Opcode::MinLength
            | Opcode::MaxLength
            | Opcode::Matches
    )
}

/// What a block says of a value at a look. Where it is unclear no fuel is spent.
#[inline(never)]
fn look_by<'a, I: Instance<'a>>(
    unit: &Unit,
    pc: u32,
    instance: &mut I,
    node: I::Node,
    fuel: &mut u64,
    looks: &mut Looks<'_>,
) -> Result<Look, Halt> {
    let before = *fuel;
    let mut pc = pc;
    loop {
        let word = unit.code()[pc as usize];
        let told = match word.opcode() {
            Opcode::Leave => return Ok(Look::Passes),
            Opcode::SkipType => {
                let skips = instance.is_of(node, Types(word.a))?;
                if skips {
                    pc = Target::from_bits(word.c).pc() - 1;
                }
                pay(fuel, word.opcode().fuel(), true)?
            }
            _ => look_at(unit, word, instance, node, fuel, looks)?,
        };
        match told {
            Look::Passes => pc += 1,
            Look::Fails => return Ok(Look::Fails),
            Look::Unclear => {
                *fuel = before;
                return Ok(Look::Unclear);
            }
        }
    }
}

/// What `items` and `counted_items` do.
#[derive(Clone, Copy, Debug)]
pub(super) struct Items {
    pub(super) admit: Types,
    pub(super) start: u32,
    pub(super) target: Target,
    pub(super) min: u32,
    pub(super) max: u32,
}

impl Items {
    pub(super) fn of(unit: &Unit, word: Word) -> Option<Items> {
        if word.op != Opcode::CountedItems as u8 {
            let (admit, target) = (Types(word.a), Target::from_bits(word.c));
            return Some(Items { admit, start: word.b.into(), target, min: 0, max: u32::MAX });
        }
        let &[start, admit, target, min, max] = unit.list(word.c) else {
            return None;
        };
        Some(Items { admit: Types(admit as u8), start, target: Target::from_bits(target), min, max })
    }

    pub(super) fn guard(self) -> Guard {
        Guard { pass: Types::NONE, admit: self.admit }
    }
}

#[inline(never)]
fn look_at_elements<'a, I: Instance<'a>>(
    unit: &Unit,
    word: Word,
    instance: &mut I,
    node: I::Node,
    fuel: &mut u64,
    looks: &mut Looks<'_>,
) -> Result<Look, Halt> {
    let Some(items) = Items::of(unit, word).filter(|_| looks.depth_left > 0) else {
        return Ok(Look::Unclear);
    };
    if spend(fuel, word.opcode().fuel()).is_err() {
        return Ok(Look::Unclear);
    }
    if !instance.is_of(node, Types::ARRAY)? {
        return Ok(Look::Passes);
    }
    let of_element = if items.target.is_some() { unit.code()[items.target.pc() as usize] } else { build::leave() };
    let mut cursor = instance.elements(node);
    let mut at = 0;
    while let Some(element) = instance.next_element(&mut cursor)? {
        if spend(fuel, 1).is_err() {
            return Ok(Look::Unclear);
        }
        at += 1;
        if at > items.max {
            return Ok(Look::Fails);
        }
        if at <= items.start {
            continue;
        }
        let told = match guarded(items.guard(), instance, element)? {
            Look::Unclear => look_at_scalar(unit, of_element, instance, element, fuel, looks)?,
            told => told,
        };
        if told != Look::Passes {
            return Ok(told);
        }
    }
    Ok(Look::from(at >= items.min))
}

/// What an instruction says of a value at a look. Where it is unclear no fuel is spent.
#[inline(never)]
fn look_at<'a, I: Instance<'a>>(
    unit: &Unit,
    word: Word,
    instance: &mut I,
    node: I::Node,
    fuel: &mut u64,
    looks: &mut Looks<'_>,
) -> Result<Look, Halt> {
    if word.op == Opcode::Items as u8 || word.op == Opcode::CountedItems as u8 {
        let before = *fuel;
        let told = look_at_elements(unit, word, instance, node, fuel, looks)?;
        if told == Look::Unclear {
            *fuel = before;
        }
        return Ok(told);
    }
    look_at_scalar(unit, word, instance, node, fuel, looks)
}

/// What an instruction about scalars says at a look. Where it is unclear no fuel is spent.
#[inline(always)]
#[allow(clippy::inline_always)] // in two places, each a loop of its own
fn look_at_scalar<'a, I: Instance<'a>>(
    unit: &Unit,
    word: Word,
    instance: &mut I,
    node: I::Node,
    fuel: &mut u64,
    looks: &mut Looks<'_>,
) -> Result<Look, Halt> {
    let op = word.opcode();
    match op {
        Opcode::Leave => Ok(Look::Passes),
        Opcode::TypeIs => {
            let holds = instance.is_of(node, Types(word.a))?;
            pay(fuel, op.fuel(), holds)
        }
        Opcode::EnumIs => match instance.view(node)? {
            View::String(text) => {
                let set = &unit.parts.enums[word.c as usize];
                let holds = unit.has_string(set, text.plain(looks.patterns.plain()));
                pay(fuel, op.fuel() + 1 + text.raw_bytes() as u64 / 16, holds)
            }
            _ => Ok(Look::Unclear),
        },
        Opcode::MinLength | Opcode::MaxLength => match instance.view(node)? {
            View::String(text) => {
                let (least, most) = text.char_len_bounds();
                let bound = word.c as usize;
                let holds = |len| if op == Opcode::MinLength { len >= bound } else { len <= bound };
                if holds(least) == holds(most) {
                    return pay(fuel, op.fuel(), holds(least));
                }
                match spend(fuel, op.fuel() + text.raw_bytes() as u64 / 16) {
                    Ok(()) => Ok(Look::from(holds(text.char_len()))),
                    Err(_) => Ok(Look::Unclear),
                }
            }
            View::NotJson(_) => Ok(Look::Unclear),
            _ => pay(fuel, op.fuel(), true),
        },
        Opcode::Matches => match instance.view(node)? {
            View::String(text) => {
                let pattern = unit.pattern(word.c);
                if spend(fuel, op.fuel() + 1 + pattern.fuel(text.raw_bytes())).is_err() {
                    return Ok(Look::Unclear);
                }
                Ok(Look::from(pattern.is_match(text, looks.patterns)?))
            }
            View::NotJson(_) => Ok(Look::Unclear),
            _ => pay(fuel, op.fuel(), true),
        },
        Opcode::InRange | Opcode::Minimum | Opcode::Maximum | Opcode::ExclusiveMinimum | Opcode::ExclusiveMaximum => {
            match instance.view(node)? {
                View::Number(number) => {
                    pay(fuel, op.fuel() + number.literal_bytes() as u64 / 16, is_within(unit, word, number))
                }
                View::NotJson(_) => Ok(Look::Unclear),
                _ => pay(fuel, op.fuel(), true),
            }
        }
        _ => Ok(Look::Unclear),
    }
}

/// Whether a number satisfies an instruction about bounds.
#[inline]
pub(super) fn is_within(unit: &Unit, word: Word, number: Number<'_>) -> bool {
    let order = |bound: u32| number.compare(unit.bound(bound));
    match word.opcode() {
        Opcode::Minimum => order(word.c).is_ge(),
        Opcode::Maximum => order(word.c).is_le(),
        Opcode::ExclusiveMinimum => order(word.c).is_gt(),
        Opcode::ExclusiveMaximum => order(word.c).is_lt(),
        _ => {
            let &[lower, upper] = unit.list(word.c) else {
                return false;
            };
            let flags = Flags(word.a);
            let (below, above) = (order(lower), order(upper));
            let from = if flags.has(Flags::OPEN_BELOW) { below.is_gt() } else { below.is_ge() };
            let to = if flags.has(Flags::OPEN_ABOVE) { above.is_lt() } else { above.is_le() };
            from && to
        }
    }
}

#[inline]
pub(super) fn spend(fuel: &mut u64, amount: u64) -> Result<(), Halt> {
    *fuel = fuel.checked_sub(amount).ok_or(Halt::Fault(FaultCode::Fuel))?;
    Ok(())
}

/// The verdict, if there is fuel for it: the machine says that there is none.
#[inline]
#[allow(clippy::unnecessary_wraps)] // it is the last expression of most arms
fn pay(fuel: &mut u64, amount: u64, passes: bool) -> Result<Look, Halt> {
    Ok(if spend(fuel, amount).is_ok() { Look::from(passes) } else { Look::Unclear })
}
