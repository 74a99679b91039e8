//! What instructions cost: the fuel of one run, and what they spend by size.
//!
//! ```text
//! 1                            one fuel
//! 1 + bytes/16                 and one for each 16 bytes of the string judged
//! 1 + 1/member + name/16       and one for each member, and one for each 16 bytes of its name
//! ```
//!
//! The table of instructions has each opcode's spending by size as terms joined by ` + `. Some depend on operands and are
//! settled here for one instruction: `bytes x engine` by the pattern's engine, `names/member` by the names of its list and
//! `names/64` by those of its table, `patterns/member` (each pattern searched in each name), `passes` and `passes/member`
//! (a walk over the members for each pattern) by its patterns, `tracked` by its flag, `branches` by its list. A *value* is
//! one looked at while comparing or hashing, a string counting once more for each 16 bytes; a *division* is one step of a
//! long division; *children* are members or elements.
//!
//! What is said is what an instruction spends at most by itself. What the blocks spend that it runs stands at their own
//! instructions; [`summary`] adds it up.

mod meter;
pub mod summary;

use std::fmt;

use crate::insn::{EnumId, Flags, ListId, Operand, TableId, Word};
use crate::listing::{self, Insn};
use crate::opcode::Opcode;
use crate::unit::Unit;

pub use meter::{Spending, Spent, judge_metered};

/// Rates are kept in these shares of one fuel: the smallest that an instruction spends for one of anything.
const SHARES: u64 = 1024;

/// Width of the costs beside a listing: most fit. Unit: characters.
const COLUMN: usize = 27;

/// What spending goes by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Size {
    Member,
    Name,
    Element,
    Value,
    Bytes,
    Division,
    Children,
}

impl Size {
    /// In the order of the notation.
    const ALL: [Size; 7] =
        [Size::Member, Size::Name, Size::Element, Size::Value, Size::Bytes, Size::Division, Size::Children];

    fn name(self) -> &'static str {
        match self {
            Size::Member => "member",
            Size::Name => "name",
            Size::Element => "element",
            Size::Value => "value",
            Size::Bytes => "bytes",
            Size::Division => "division",
            Size::Children => "children",
        }
    }

    fn of(name: &str) -> Option<Size> {
        Size::ALL.into_iter().find(|size| size.name() == name)
    }

    /// Whether it is written as `2/member`; a length is written as `bytes/16`.
    fn is_counted(self) -> bool {
        !matches!(self, Size::Name | Size::Bytes | Size::Children)
    }
}

/// How large an instance is, all its levels together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sizes {
    /// Members of objects.
    pub members: u64,
    /// Their names. Unit: bytes.
    pub name_bytes: u64,
    /// Elements of arrays.
    pub elements: u64,
    /// Values looked at while comparing or hashing, a string counting once more for each 16 bytes.
    pub values: u64,
    /// Strings. Unit: bytes.
    pub bytes: u64,
    /// Steps of long division.
    pub divisions: u64,
}

impl Sizes {
    fn of(&self, size: Size) -> u64 {
        match size {
            Size::Member => self.members,
            Size::Name => self.name_bytes,
            Size::Element => self.elements,
            Size::Value => self.values,
            Size::Bytes => self.bytes,
            Size::Division => self.divisions,
            Size::Children => self.members.saturating_add(self.elements),
        }
    }
}

/// Fuel, once and by size.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cost {
    once: u64,
    /// By [`Size`]. Unit: [`SHARES`] of a fuel for one member, byte and so on.
    rates: [u64; Size::ALL.len()],
}

impl Cost {
    /// What the instruction at `pc` spends at most by itself.
    ///
    /// # Panics
    ///
    /// If the unit has no such instruction.
    pub fn of(unit: &Unit, pc: u32) -> Cost {
        let word = unit.code()[pc as usize];
        let info = word.opcode().info();
        let mut cost = Cost { once: info.fuel.into(), ..Cost::default() };
        for term in info.by_size.split(" + ") {
            cost.add_term(term, unit, word);
        }
        if word.opcode() == Opcode::EnumIs && unit.parts.enums[EnumId::decode(word.c).0 as usize].containers.is_empty()
        {
            cost.rates[Size::Value as usize] = 0;
        }
        cost
    }

    /// Fuel whatever the size.
    pub fn once(&self) -> u64 {
        self.once
    }

    /// Fuel for instances of that size.
    pub fn at(&self, sizes: &Sizes) -> u64 {
        let by_size = Size::ALL.into_iter().map(|size| {
            let fuel = u128::from(self.rate(size)) * u128::from(sizes.of(size));
            u64::try_from(fuel.div_ceil(SHARES.into())).unwrap_or(u64::MAX)
        });
        by_size.fold(self.once, u64::saturating_add)
    }

    fn rate(&self, size: Size) -> u64 {
        self.rates[size as usize]
    }

    fn add(&mut self, size: Size, rate: u64) {
        let sum = &mut self.rates[size as usize];
        *sum = sum.saturating_add(rate);
    }

    /// Adds one term of the table; answers whether it is one.
    fn add_term(&mut self, term: &str, unit: &Unit, word: Word) -> bool {
        let list = || unit.list(ListId::decode(word.c).0);
        let tracked = u64::from(Flags(word.a).has(Flags::TRACK));
        match term {
            "" => {}
            "bytes x engine" => self.add(Size::Bytes, engine_rate(unit, word.c)),
            "names/64" => self.once += unit.table(TableId::decode(word.c).0).names.len() as u64 / 64,
            "passes" => self.once += list().len() as u64 / 2,
            "names/member" => self.add(Size::Member, SHARES * list().len() as u64),
            "patterns/member" => self.add_searches(unit, word),
            "passes/member" => {
                self.add(Size::Member, SHARES * (list().len() / 2) as u64);
                self.add(Size::Name, SHARES / 16 * (list().len() / 2) as u64);
            }
            "tracked/1024" => self.add(Size::Children, tracked),
            "1/branch" => self.once += list().len() as u64,
            "branches x tracked/1024" => self.add(Size::Children, tracked * list().len() as u64),
            _ => return self.add_plain_term(term),
        }
        true
    }

    /// `2`, `2/member` or `bytes/16`.
    fn add_plain_term(&mut self, term: &str) -> bool {
        let parts = term.split_once('/').unwrap_or((term, ""));
        match (parts.0.parse::<u64>(), Size::of(parts.0), parts.1.parse::<u64>(), Size::of(parts.1)) {
            (Ok(fuel), _, _, _) if parts.1.is_empty() => self.once += fuel,
            (Ok(fuel), _, _, Some(size)) => self.add(size, fuel * SHARES),
            (_, Some(size), Ok(divisor), _) => self.add(size, SHARES / divisor.max(1)),
            _ => return false,
        }
        true
    }

    /// Each pattern of the instruction is searched in each member's name.
    fn add_searches(&mut self, unit: &Unit, word: Word) {
        for pattern in patterns(unit, word) {
            self.add(Size::Member, SHARES);
            self.add(Size::Name, engine_rate(unit, pattern));
        }
    }

    /// Both, one after the other.
    fn plus(mut self, other: &Cost) -> Cost {
        self.once = self.once.saturating_add(other.once);
        for size in Size::ALL {
            self.add(size, other.rate(size));
        }
        self
    }

    /// Whichever is more, of everything.
    fn or(mut self, other: &Cost) -> Cost {
        self.once = self.once.max(other.once);
        for (rate, other) in self.rates.iter_mut().zip(other.rates) {
            *rate = (*rate).max(other);
        }
        self
    }

    /// The part by those sizes alone.
    fn only(&self, sizes: &[Size]) -> Cost {
        let mut part = Cost::default();
        for size in sizes {
            part.add(*size, self.rate(*size));
        }
        part
    }

    /// All but the part by those sizes.
    fn without(mut self, sizes: &[Size]) -> Cost {
        for size in sizes {
            self.rates[*size as usize] = 0;
        }
        self
    }
}

/// The ids of the patterns that an instruction over members searches in their names.
fn patterns(unit: &Unit, word: Word) -> Vec<u32> {
    if word.opcode() == Opcode::PatternProperties {
        return unit.list(ListId::decode(word.c).0).iter().step_by(2).copied().collect();
    }
    unit.table(TableId::decode(word.c).0).patterns.iter().map(|(pattern, _)| *pattern).collect()
}

/// What a pattern costs for each byte that it is searched in.
fn engine_rate(unit: &Unit, pattern: u32) -> u64 {
    unit.pattern(pattern).fuel(SHARES as usize)
}

impl fmt::Display for Cost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut terms = Vec::new();
        if self.once > 0 {
            terms.push(self.once.to_string());
        }
        for size in Size::ALL {
            let rate = self.rate(size);
            if rate > 0 {
                terms.push(rate_text(size, rate));
            }
        }
        f.write_str(&if terms.is_empty() { "0".to_owned() } else { terms.join(" + ") })
    }
}

fn rate_text(size: Size, rate: u64) -> String {
    let name = size.name();
    let shared = 1 << rate.trailing_zeros().min(SHARES.trailing_zeros());
    match (rate / shared, SHARES / shared) {
        (fuel, 1) if size.is_counted() => format!("{fuel}/{name}"),
        (1, 1) => name.to_owned(),
        (1, divisor) => format!("{name}/{divisor}"),
        (fuel, 1) => format!("{name} x {fuel}"),
        (fuel, divisor) => format!("{name} x {fuel}/{divisor}"),
    }
}

/// A unit with its name, to be printed: the listing, each instruction behind what it costs, then the [`summary`].
#[derive(Clone, Copy, Debug)]
pub struct CostListing<'u> {
    /// The tool's name.
    pub name: &'u str,
    /// The unit.
    pub unit: &'u Unit,
}

impl fmt::Display for CostListing<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let unit = self.unit;
        listing::write_unit(f, self.name, unit, COLUMN, &|pc| Cost::of(unit, pc).to_string() + " ")?;
        write!(f, "{}", summary::Summary::of(unit))
    }
}

/// An instruction behind what it costs.
impl Insn<'_> {
    /// What it spends at most by itself.
    pub fn cost(&self) -> Cost {
        Cost::of(self.unit, self.pc)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(term: &str, expected: &str) {
        let mut cost = Cost::default();
        for term in term.split(" + ") {
            assert!(cost.add_plain_term(term), "{term}");
        }
        assert_eq!(cost.to_string(), expected);
    }

    #[test]
    fn plain_terms_are_read_and_written() {
        check("1", "1");
        check("0", "0");
        check("1 + 1/member + name/16", "1 + 1/member + name/16");
        check("1 + bytes/16 + bytes/16 + bytes/16", "1 + bytes x 3/16");
        check("bytes/1 + children/64 + 2/value", "2/value + bytes + children/64");
        check("bytes/1 + bytes/1", "bytes x 2");
        assert!(!Cost::default().add_plain_term("1/letter"));
        assert!(!Cost::default().add_plain_term("bytes x 4"));
    }

    #[test]
    fn every_term_of_the_table_is_one() {
        // Terms that look at operands have the slots of their opcode; the others are read without a unit.
        const SETTLED: [&str; 9] = [
            "1/branch",
            "bytes x engine",
            "names/64",
            "names/member",
            "passes",
            "patterns/member",
            "passes/member",
            "tracked/1024",
            "branches x tracked/1024",
        ];
        for op in Opcode::ALL {
            let terms = op.info().by_size.split(" + ").filter(|term| !term.is_empty());
            for term in terms.filter(|term| !SETTLED.contains(term)) {
                assert!(Cost::default().add_plain_term(term), "{}: {term}", op.info().mnemonic);
            }
        }
    }
}
