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
use crate::text::Text;
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

/// Who looks: what it goes by, and the fuel it has left.
pub(super) struct Looker<'m, I> {
    pub(super) unit: &'m Unit,
    pub(super) instance: &'m mut I,
    /// For patterns, and for texts that must be in one piece.
    pub(super) patterns: &'m mut PatternScratch,
    pub(super) fuel: u64,
    /// How much deeper a child may nest.
    pub(super) depth_left: u32,
    /// Whether instructions are looked at too, and not the guards alone.
    pub(super) instructions: bool,
}

/// What the types of a value decide of it.
#[inline(always)]
#[allow(clippy::inline_always)] // as for `Looker::skim`
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

impl<'a, I: Instance<'a>> Looker<'_, I> {
    /// Goes over an object's members from `at` on.
    ///
    /// A text's cursor leaves it to this loop to see that no name of the table comes twice.
    #[inline(always)]
    #[allow(clippy::inline_always)] // the heart of judging: its variables are to be registers
    pub(super) fn skim(
        &mut self,
        table: &Table,
        at: &mut I::Members,
        seen: &mut u64,
    ) -> Result<Skimmed<'a, I::Node>, Halt> {
        // Mostly there are no patterns, and further members are of no interest.
        let open = table.extra == Extra::Skip && table.patterns.is_empty();
        while let Some(member) = self.instance.next_unnoted(at)? {
            spend(&mut self.fuel, 1 + member.name.raw_bytes() as u64 / 16)?;
            let found = match member.name.as_plain() {
                Some(plain) => self.unit.find_name(table, plain),
                None => self.unit.find_name(table, member.name.plain(self.patterns.plain())),
            };
            let (bit, claimed) = found.map_or((0, false), |(at, name)| (watched_bit(at), name.declared));
            if bit == 0 {
                self.instance.note_name(at, member.name)?;
            }
            if *seen & bit != 0 {
                return Err(Halt::Unreadable);
            }
            *seen |= bit;
            let mut target = Target::NONE;
            if let Some((_, row)) = found {
                match self.look(row.guard, row.target, member.value)? {
                    Look::Passes => {}
                    Look::Fails => return Ok(Skimmed::Failed),
                    Look::Unclear => target = row.target,
                }
            }
            if !open && (!claimed && table.extra != Extra::Skip || !table.patterns.is_empty()) {
                let forbidden = table.extra == Extra::Forbid && table.patterns.is_empty();
                return Ok(if forbidden { Skimmed::Failed } else { Skimmed::Rest(member, target, claimed) });
            }
            if target.is_some() {
                return Ok(Skimmed::Child(member.value, target));
            }
        }
        Ok(Skimmed::Through)
    }

    /// What a look at a child tells: by its types, then by a block without applicators.
    #[inline(always)]
    #[allow(clippy::inline_always)] // as for `skim`
    pub(super) fn look(&mut self, guard: Guard, target: Target, node: I::Node) -> Result<Look, Halt> {
        match guarded(guard, self.instance, node)? {
            Look::Unclear if !target.is_some() => Ok(Look::Passes),
            Look::Unclear if self.instructions && target.is_told_at_a_look() => {
                if !target.is_single() {
                    return self.look_by(target.pc(), node);
                }
                self.look_at(self.unit.code()[target.pc() as usize], node)
            }
            told => Ok(told),
        }
    }

    /// What a block says of a value at a look. Where it is unclear no fuel is spent.
    #[inline(never)]
    fn look_by(&mut self, mut pc: u32, node: I::Node) -> Result<Look, Halt> {
        let before = self.fuel;
        loop {
            let word = self.unit.code()[pc as usize];
            let told = match word.opcode() {
                Opcode::Leave => return Ok(Look::Passes),
                Opcode::SkipType => {
                    if self.instance.is_of(node, Types(word.a))? {
                        pc = Target::from_bits(word.c).pc() - 1;
                    }
                    self.pay(word.opcode().fuel(), true)
                }
                _ => self.look_at(word, node)?,
            };
            match told {
                Look::Passes => pc += 1,
                Look::Fails => return Ok(Look::Fails),
                Look::Unclear => {
                    self.fuel = before;
                    return Ok(Look::Unclear);
                }
            }
        }
    }

    /// What an instruction says of a value at a look. Where it is unclear no fuel is spent.
    #[inline(never)]
    fn look_at(&mut self, word: Word, node: I::Node) -> Result<Look, Halt> {
        if word.op == Opcode::Items as u8 || word.op == Opcode::CountedItems as u8 {
            let before = self.fuel;
            let told = self.look_at_elements(word, node)?;
            if told == Look::Unclear {
                self.fuel = before;
            }
            return Ok(told);
        }
        self.look_at_scalar(word, node)
    }

    #[inline(never)]
    fn look_at_elements(&mut self, word: Word, node: I::Node) -> Result<Look, Halt> {
        let Some(items) = Items::of(self.unit, word).filter(|_| self.depth_left > 0) else {
            return Ok(Look::Unclear);
        };
        if spend(&mut self.fuel, word.opcode().fuel()).is_err() {
            return Ok(Look::Unclear);
        }
        if !self.instance.is_of(node, Types::ARRAY)? {
            return Ok(Look::Passes);
        }
        let of_element =
            if items.target.is_some() { self.unit.code()[items.target.pc() as usize] } else { build::leave() };
        let mut cursor = self.instance.elements(node);
        let mut at = 0;
        while let Some(element) = self.instance.next_element(&mut cursor)? {
            if spend(&mut self.fuel, 1).is_err() {
                return Ok(Look::Unclear);
            }
            at += 1;
            if at > items.max {
                return Ok(Look::Fails);
            }
            if at <= items.start {
                continue;
            }
            let told = match guarded(items.guard(), self.instance, element)? {
                Look::Unclear => self.look_at_scalar(of_element, element)?,
                told => told,
            };
            if told != Look::Passes {
                return Ok(told);
            }
        }
        Ok(Look::from(at >= items.min))
    }

    /// What an instruction about scalars says at a look. Where it is unclear no fuel is spent.
    #[inline(always)]
    #[allow(clippy::inline_always)] // in two places, each a loop of its own
    fn look_at_scalar(&mut self, word: Word, node: I::Node) -> Result<Look, Halt> {
        let op = word.opcode();
        Ok(match op {
            Opcode::Leave => Look::Passes,
            Opcode::TypeIs => {
                let holds = self.instance.is_of(node, Types(word.a))?;
                self.pay(op.fuel(), holds)
            }
            Opcode::InRange
            | Opcode::Minimum
            | Opcode::Maximum
            | Opcode::ExclusiveMinimum
            | Opcode::ExclusiveMaximum => match self.instance.view(node)? {
                View::Number(number) => {
                    let holds = is_within(self.unit, word, number);
                    self.pay(op.fuel() + number.literal_bytes() as u64 / 16, holds)
                }
                other => self.pass_by(op, other),
            },
            Opcode::MinLength | Opcode::MaxLength | Opcode::Matches => match self.instance.view(node)? {
                View::String(text) => self.look_at_text(word, text)?,
                other => self.pass_by(op, other),
            },
            Opcode::EnumIs => match self.instance.view(node)? {
                View::String(text) => {
                    let set = &self.unit.parts.enums[word.c as usize];
                    let holds = self.unit.has_string(set, text.plain(self.patterns.plain()));
                    self.pay(op.fuel() + 1 + text.raw_bytes() as u64 / 16, holds)
                }
                _ => Look::Unclear,
            },
            _ => Look::Unclear,
        })
    }

    #[inline]
    fn look_at_text(&mut self, word: Word, text: Text<'_>) -> Result<Look, Halt> {
        let op = word.opcode();
        if op == Opcode::Matches {
            let pattern = self.unit.pattern(word.c);
            if spend(&mut self.fuel, op.fuel() + 1 + pattern.fuel(text.raw_bytes())).is_err() {
                return Ok(Look::Unclear);
            }
            return Ok(Look::from(pattern.is_match(text, self.patterns)?));
        }
        // Characters are counted only where the bytes do not tell.
        let holds = |len| if op == Opcode::MinLength { len >= word.c as usize } else { len <= word.c as usize };
        let (least, most) = text.char_len_bounds();
        if holds(least) == holds(most) {
            return Ok(self.pay(op.fuel(), holds(least)));
        }
        Ok(match spend(&mut self.fuel, op.fuel() + text.raw_bytes() as u64 / 16) {
            Ok(()) => Look::from(holds(text.char_len())),
            Err(_) => Look::Unclear,
        })
    }

    /// A value that the instruction is not about passes, if it is one that JSON has.
    #[inline]
    fn pass_by(&mut self, op: Opcode, value: View<'_>) -> Look {
        if matches!(value, View::NotJson(_)) { Look::Unclear } else { self.pay(op.fuel(), true) }
    }

    /// The verdict, if there is fuel for it: the machine says that there is none.
    #[inline]
    fn pay(&mut self, amount: u64, passes: bool) -> Look {
        if spend(&mut self.fuel, amount).is_ok() { Look::from(passes) } else { Look::Unclear }
    }
}

/// Whether a look at a scalar tells what the instruction says of it. The compiler marks blocks by it
/// ([`Target::with_look`]).
pub const fn is_about_scalars(op: Opcode) -> bool {
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
