//! The checks of [`Unit::new`]: what the machine, the listing and the renderer rely on.
//!
//! The compiler makes parts that hold together; a compiled file can be made by anybody. Both pass here, once:
//!
//! ```text
//! text      every string on character boundaries; numbers are literals of their kind
//! code      known opcodes; operands in their pools; sections and blocks end; skips go forward inside their block
//! targets   start a block, or what is left of one behind its guard; what they claim of it is so
//! lists     one after the other; as long and of such words as their instruction reads
//! tables, tags, enumerations     required bits have names; numbers in order; an index is one of these names
//! sets      evaluated sets open and close in pairs; a kept verdict has a set if all calls of its block ask for one
//! notes     by pc; texts and names there; a wording that shows what is listed stands at an instruction that lists it
//! ```
//!
//! Blocks that come back to their own instance are found by `reach`. Fuel, depth and frames bound what is left to a
//! call: how long a program runs that holds together.

use std::collections::BTreeMap;

use super::{BadUnit, Extra, Note, NotePath, PoolNumber, Requirements, StrId, Table, Unit};
use crate::failure::Wording;
use crate::format::Format;
use crate::insn::{Flags, Operand, OperandKind, Target, Word};
use crate::json;
use crate::limits::LOOK_OPS_MAX;
use crate::number::Number;
use crate::opcode::{Opcode, Traits, is_about_scalars};

/// Instructions of one unit. Unit: instructions. Reason: a pc and its marks are one word.
const CODE_MAX: usize = 1 << 29;

/// Words of lists, and rows of tables, enumerations and tagged unions, counted once for each instruction that names them:
/// what a listing prints, and a walk over blocks visits.
const LISTED_MAX: usize = 1 << 26;

fn bad<T>(what: impl Into<String>) -> Result<T, BadUnit> {
    Err(BadUnit(what.into()))
}

/// Errors unless it holds.
fn ensure(holds: bool, what: &str) -> Result<(), BadUnit> {
    if holds { Ok(()) } else { bad(what) }
}

/// What is known of the instructions from a pc to the end of its block.
#[derive(Clone, Copy)]
struct Tail(u32);

impl Tail {
    const LEAF: u32 = 1 << 31;
    const TOLD: u32 = 1 << 30;
    const SETS: u32 = 1 << 29;

    /// The pc of the block's `leave`.
    fn end(self) -> u32 {
        self.0 & (Self::SETS - 1)
    }

    /// Whether none of them runs a block.
    fn is_leaf(self) -> bool {
        self.0 & Self::LEAF != 0
    }

    /// Whether a look tells what they say, but for elements that have blocks of their own.
    fn is_told(self) -> bool {
        self.0 & Self::TOLD != 0
    }

    /// Whether they open or close evaluated sets.
    fn has_sets(self) -> bool {
        self.0 & Self::SETS != 0
    }
}

/// Where blocks end, and where lists begin.
struct Layout {
    tails: Vec<Tail>,
    /// The opcodes that there are, one bit each.
    opcodes: u64,
    /// By offset: whether a list begins there, and by a bit each, which opcodes have had it checked.
    lists: Vec<u64>,
    listed: usize,
}

impl Layout {
    fn has(&self, op: Opcode) -> bool {
        self.opcodes & 1 << op as u8 != 0
    }
}

/// The bit of `Layout::lists` that says that a list begins there.
const BEGINS: u64 = 1 << 63;

const _: () = assert!(Opcode::ALL.len() < 63, "each opcode has a bit of its own");

impl Unit {
    /// Answers what memory for calls is sized by.
    pub(super) fn check(&self) -> Result<Requirements, BadUnit> {
        self.check_strings()?;
        self.parts.numbers.iter().try_for_each(|number| self.check_number(*number))?;
        self.check_sections()?;
        let (tails, opcodes) = self.tails();
        let mut layout = Layout { tails, opcodes, lists: self.list_starts()?, listed: 0 };
        self.check_target(&layout, self.parts.accept)?;
        self.check_block(self.parts.explain)?;
        for (pc, word) in self.parts.code.iter().enumerate() {
            if let Err(BadUnit(what)) = self.check_word(&mut layout, pc as u32, *word) {
                return bad(format!("{pc:04} {}: {what}", word.opcode().info().mnemonic));
            }
        }
        ensure(layout.listed <= LISTED_MAX, "pools are named too often")?;
        let keeps = layout.has(Opcode::CallMemo) || layout.has(Opcode::TrackOpen);
        ensure(self.parts.revisits || !keeps, "verdicts or evaluated sets are kept, and the unit does not say so")?;
        if layout.has(Opcode::CallMemo) {
            self.check_kept()?;
        }
        if layout.has(Opcode::TrackOpen) || layout.has(Opcode::TrackClose) {
            self.check_sets(&layout)?;
        }
        self.parts.tables.iter().try_for_each(|table| self.check_table(&layout, table))?;
        self.check_switches(&layout)?;
        self.check_enums()?;
        self.check_notes()?;
        self.required(layout.opcodes)
    }

    // --- text ------------------------------------------------------------------------------------------------

    fn check_strings(&self) -> Result<(), BadUnit> {
        let text = self.parts.text.as_str();
        let within = |(start, end): &(u32, u32)| text.get(*start as usize..*end as usize).is_some();
        ensure(self.parts.strings.iter().all(within), "a string is no part of the text")
    }

    fn has_str(&self, id: StrId) -> bool {
        (id.0 as usize) < self.parts.strings.len()
    }

    fn may_have_str(&self, id: StrId) -> bool {
        id == StrId::NONE || self.has_str(id)
    }

    fn check_number(&self, number: PoolNumber) -> Result<(), BadUnit> {
        let (PoolNumber::Big(literal) | PoolNumber::Decimal(_, literal)) = number else {
            return Ok(());
        };
        ensure(self.has_str(literal), "a number has no literal")?;
        let literal = self.str(literal);
        let scanned = json::scan_number(literal.as_bytes(), 0);
        let whole = scanned.is_ok_and(|scanned| scanned.end == literal.len() && scanned.bounded);
        let same = match (number, Number::parse(literal)) {
            (PoolNumber::Big(_), Ok(Number::Big(_))) => true,
            (PoolNumber::Decimal(a, _), Ok(Number::Decimal { value: b, .. })) => a.to_bits() == b.to_bits(),
            _ => false,
        };
        ensure(whole && same, "a number is not its literal")
    }

    // --- code ------------------------------------------------------------------------------------------------

    fn check_sections(&self) -> Result<(), BadUnit> {
        let parts = &self.parts;
        ensure(parts.code.len() < CODE_MAX, "more instructions than a pc can name")?;
        let ends = |at: u32| at == 0 || self.opcode_at(at - 1) == Some(Opcode::Leave);
        ensure(ends(parts.explain_at) && ends(parts.code.len() as u32), "a section does not end in leave")
    }

    /// What is known of the rest of each instruction's block, from the end on; and which opcodes there are.
    fn tails(&self) -> (Vec<Tail>, u64) {
        let mut tails = vec![Tail(0); self.parts.code.len()];
        let (mut tail, mut opcodes) = (Tail(0), 0);
        for (pc, (word, slot)) in self.parts.code.iter().zip(&mut tails).enumerate().rev() {
            let op = word.opcode();
            opcodes |= 1 << op as u8;
            if op == Opcode::Leave {
                tail = Tail(pc as u32 | Tail::LEAF | Tail::TOLD);
            } else {
                let traits = op.traits();
                let lost = if traits.has(Traits::LEAF) { 0 } else { Tail::LEAF }
                    | if traits.has(Traits::TOLD) { 0 } else { Tail::TOLD };
                tail.0 = tail.0 & !lost | if traits.has(Traits::SET) { Tail::SETS } else { 0 };
            }
            *slot = tail;
        }
        (tails, opcodes)
    }

    fn opcode_at(&self, pc: u32) -> Option<Opcode> {
        self.parts.code.get(pc as usize).map(|word| word.opcode())
    }

    pub(super) fn starts_block(&self, pc: u32) -> bool {
        pc == 0 || self.opcode_at(pc - 1) == Some(Opcode::Leave)
    }

    /// The start of the block, given a pc that a target has: only what a guard takes out stands before it.
    pub(super) fn block_start(&self, pc: u32) -> u32 {
        (pc.saturating_sub(2)..=pc).rev().find(|pc| self.starts_block(*pc)).unwrap_or(pc)
    }

    /// The instructions from `pc` to the end of its block.
    pub(super) fn block(&self, pc: u32) -> impl Iterator<Item = &Word> {
        self.parts.code[pc as usize..].iter().take_while(|word| word.opcode() != Opcode::Leave)
    }

    /// Whether everything of a block before `pc` is what a [`Guard`](super::Guard) takes out.
    fn follows_guard(&self, pc: u32) -> bool {
        let mut at = pc.wrapping_sub(1);
        if self.opcode_at(at) == Some(Opcode::TypeIs) {
            if self.starts_block(at) {
                return true;
            }
            at = at.wrapping_sub(1);
        }
        self.opcode_at(at) == Some(Opcode::SkipType) && self.starts_block(at)
    }

    fn check_block(&self, pc: u32) -> Result<(), BadUnit> {
        let within = (pc as usize) < self.parts.code.len();
        if within && (self.starts_block(pc) || self.follows_guard(pc)) {
            Ok(())
        } else {
            bad(format!("{pc:04} is no block"))
        }
    }

    /// The target leads to a block, and what it claims of the block is so.
    fn check_target(&self, layout: &Layout, target: Target) -> Result<(), BadUnit> {
        if !target.is_some() {
            return Ok(());
        }
        let pc = target.pc();
        self.check_block(pc)?;
        let tail = layout.tails[pc as usize];
        let claims = (!target.is_single() || tail.end() == pc + 1)
            && (!target.is_leaf() || tail.is_leaf())
            && (!target.is_told_at_a_look() || self.is_told(layout, pc));
        if claims { Ok(()) } else { bad(format!("{pc:04} is not what its target claims")) }
    }

    /// Whether a look tells what the block says: it is short, about scalars, or about elements of which one instruction
    /// about scalars is all that is said.
    fn is_told(&self, layout: &Layout, pc: u32) -> bool {
        let tail = layout.tails[pc as usize];
        let short = (tail.end() - pc) as usize <= LOOK_OPS_MAX;
        short
            && tail.is_told()
            && self.block(pc).all(|word| {
                let target = match word.opcode() {
                    Opcode::Items => Target::decode(word.c),
                    Opcode::CountedItems => match self.list_of(layout, word.c) {
                        Some(&[_, _, target, _, _]) => Target::from_bits(target),
                        _ => return false,
                    },
                    _ => return true,
                };
                let told = |op| is_about_scalars(op) && layout.tails[target.pc() as usize].end() == target.pc() + 1;
                !target.is_some() || self.opcode_at(target.pc()).is_some_and(told)
            })
    }

    fn check_word(&self, layout: &mut Layout, pc: u32, word: Word) -> Result<(), BadUnit> {
        let op = word.opcode();
        if word.op != op as u8 {
            return bad("no such instruction");
        }
        match op.large_operand() {
            None | Some(OperandKind::Len) if op != Opcode::FormatIs => Ok(()),
            None => ensure(Format::from_u8(word.a).is_some(), "no such format"),
            Some(OperandKind::Target) if op == Opcode::SkipType => check_skip(layout, pc, word.c),
            Some(OperandKind::List) => self.check_list(layout, op, word.c),
            Some(kind) => {
                self.check_operand(layout, kind, word.c)?;
                layout.listed += self.listed_len(kind, word.c);
                Ok(())
            }
        }
    }

    fn check_operand(&self, layout: &Layout, kind: OperandKind, bits: u32) -> Result<(), BadUnit> {
        let parts = &self.parts;
        let in_range = |len: usize| (bits as usize) < len;
        let good = match kind {
            OperandKind::Target => return self.check_target(layout, Target::decode(bits)),
            OperandKind::Number => in_range(parts.numbers.len()),
            OperandKind::Value => in_range(self.constants.len()),
            OperandKind::Enum => in_range(parts.enums.len()),
            OperandKind::Switch => in_range(parts.switches.len()),
            OperandKind::Pattern => in_range(parts.patterns.len()),
            OperandKind::Table => in_range(parts.tables.len()),
            OperandKind::List => self.list_of(layout, bits).is_some(),
            OperandKind::Types | OperandKind::Flags | OperandKind::Format | OperandKind::Len => true,
        };
        if good { Ok(()) } else { bad(format!("{kind:?} {bits} is outside its pool")) }
    }

    /// How much of a pool an operand stands for. It has been checked.
    fn listed_len(&self, kind: OperandKind, bits: u32) -> usize {
        match kind {
            OperandKind::Table => self.table(bits).names.len() + self.table(bits).patterns.len(),
            OperandKind::Switch => self.parts.switches[bits as usize].tags.len(),
            OperandKind::Enum => {
                let set = &self.parts.enums[bits as usize];
                set.strings.len() + set.numbers.len() + set.containers.len()
            }
            _ => 0,
        }
    }

    // --- lists -----------------------------------------------------------------------------------------------

    /// Marks where each list begins. Errors: the last one does not end with the pool.
    fn list_starts(&self) -> Result<Vec<u64>, BadUnit> {
        let lists = &self.parts.lists;
        let mut starts = vec![0; lists.len()];
        let mut at = 0;
        while let Some(len) = lists.get(at) {
            starts[at] = BEGINS;
            at += 1 + *len as usize;
        }
        ensure(at == lists.len(), "a list goes on beyond its pool")?;
        Ok(starts)
    }

    fn list_of(&self, layout: &Layout, at: u32) -> Option<&[u32]> {
        let begins = layout.lists.get(at as usize).is_some_and(|marks| marks & BEGINS != 0);
        begins.then(|| self.list(at))
    }

    /// The list is such as the opcode reads. A list that several instructions share is gone over once for each opcode.
    fn check_list(&self, layout: &mut Layout, op: Opcode, at: u32) -> Result<(), BadUnit> {
        let Some(list) = self.list_of(layout, at) else {
            return bad(format!("List {at} is outside its pool"));
        };
        layout.listed += list.len();
        if layout.lists[at as usize] & 1 << op as u8 == 0 {
            layout.lists[at as usize] |= 1 << op as u8;
            self.check_list_words(layout, op, list)?;
        }
        Ok(())
    }

    fn check_list_words(&self, layout: &Layout, op: Opcode, list: &[u32]) -> Result<(), BadUnit> {
        let target = |bits: u32| self.check_target(layout, Target::from_bits(bits));
        let name = |id: u32| ensure(self.has_str(StrId(id)), "a name is outside its pool");
        match (op, list) {
            (Opcode::InRange, &[lower, upper]) => {
                self.check_operand(layout, OperandKind::Number, lower)?;
                self.check_operand(layout, OperandKind::Number, upper)
            }
            (Opcode::DependentRequired, [_, ..]) => list.iter().try_for_each(|id| name(*id)),
            (Opcode::DependentSchema, &[present, schema]) => name(present).and_then(|()| target(schema)),
            (Opcode::PatternProperties, pairs) if pairs.len() % 2 == 0 => pairs.chunks_exact(2).try_for_each(|pair| {
                self.check_operand(layout, OperandKind::Pattern, pair[0])?;
                target(pair[1])
            }),
            (Opcode::CountedItems, &[_, admit, items, _, _]) if admit < 256 => target(items),
            (Opcode::Contains, &[items, _, _]) => target(items),
            (Opcode::IfThenElse, &[_, _, _]) | (Opcode::AnyOf | Opcode::OneOf | Opcode::PrefixItems, _) => {
                list.iter().try_for_each(|bits| target(*bits))
            }
            _ => bad("the list is not such as the instruction reads"),
        }
    }

    // --- evaluated sets and verdicts ---------------------------------------------------------------------------

    /// Calls of one block that keep its verdict agree whether it has an evaluated set.
    fn check_kept(&self) -> Result<(), BadUnit> {
        let mut kept = BTreeMap::new();
        let mut agreed = |word: &Word| {
            let (block, tracks) = (Target::decode(word.c), Flags(word.a).has(Flags::TRACK));
            !block.is_some() || *kept.entry(block.pc()).or_insert(tracks) == tracks
        };
        let calls = self.parts.code.iter().filter(|word| word.opcode() == Opcode::CallMemo);
        ensure(calls.into_iter().all(&mut agreed), "a verdict is kept with an evaluated set and without")
    }

    /// Evaluated sets open and close in pairs, whichever way a block is run.
    fn check_sets(&self, layout: &Layout) -> Result<(), BadUnit> {
        if !self.parts.code.iter().any(|word| matches!(word.opcode(), Opcode::TrackOpen | Opcode::TrackClose)) {
            return Ok(());
        }
        let mut open = 0_u32;
        let mut open_at = Vec::with_capacity(self.parts.code.len());
        for word in &self.parts.code {
            open_at.push(open);
            match word.opcode() {
                Opcode::TrackOpen => open += 1,
                Opcode::TrackClose if open == 0 => return bad("a set is closed that is not open"),
                Opcode::TrackClose => open -= 1,
                Opcode::Leave if open > 0 => return bad("a block leaves a set open"),
                _ => {}
            }
        }
        let paired = |(pc, word): (usize, &Word)| {
            word.opcode() != Opcode::SkipType || !layout.tails[pc].has_sets() || open_at[pc] == open_at[word.c as usize]
        };
        ensure(self.parts.code.iter().enumerate().all(paired), "a skip leads in or out of an evaluated set")
    }

    // --- pools -----------------------------------------------------------------------------------------------

    fn check_table(&self, layout: &Layout, table: &Table) -> Result<(), BadUnit> {
        for name in &table.names {
            ensure(self.has_str(name.name), "a property has no name")?;
            self.check_target(layout, name.target)?;
        }
        for (pattern, target) in &table.patterns {
            self.check_operand(layout, OperandKind::Pattern, *pattern)?;
            self.check_target(layout, *target)?;
        }
        if let Extra::Run(target) = table.extra {
            self.check_target(layout, target)?;
        }
        let required = table.required.checked_shr(table.names.len() as u32).unwrap_or(0) == 0;
        ensure(required, "a property table requires what it does not name")?;
        ensure(table.index.is_of(table.names.len()), "a property table does not find its names")
    }

    fn check_switches(&self, layout: &Layout) -> Result<(), BadUnit> {
        for switch in &self.parts.switches {
            ensure(self.has_str(switch.name), "a tagged union has no name")?;
            for tag in &switch.tags {
                ensure(self.has_str(tag.text), "a tag has no text")?;
                self.check_target(layout, tag.target)?;
            }
            ensure(switch.index.is_of(switch.tags.len()), "a tagged union does not find its tags")?;
        }
        Ok(())
    }

    fn check_enums(&self) -> Result<(), BadUnit> {
        for set in &self.parts.enums {
            ensure(set.strings.iter().all(|(_, id)| self.has_str(*id)), "an enumeration has no text")?;
            ensure(set.index.is_of(set.strings.len()), "an enumeration does not find its texts")?;
            let known = set.numbers.iter().all(|id| (*id as usize) < self.parts.numbers.len());
            ensure(known, "a number of an enumeration is outside its pool")?;
            let ascending = |pair: &[u32]| self.number(pair[0]).compare(self.number(pair[1])).is_lt();
            ensure(set.numbers.windows(2).all(ascending), "the numbers of an enumeration are not in order")?;
            let known = set.containers.iter().all(|id| (*id as usize) < self.constants.len());
            ensure(known, "a value of an enumeration is outside its pool")?;
        }
        Ok(())
    }

    // --- notes -----------------------------------------------------------------------------------------------

    fn check_notes(&self) -> Result<(), BadUnit> {
        let parts = &self.parts;
        ensure(parts.notes.iter().all(|note| self.is_note(note)), "a note is incomplete")?;
        ensure(parts.note_texts.iter().all(|id| self.has_str(*id)), "a text of a note is outside its pool")?;
        let ascending = parts.note_at.windows(2).all(|pair| pair[0].0 < pair[1].0);
        ensure(ascending, "notes are not in the order of the code")?;
        for (pc, note) in &parts.note_at {
            let (op, note) = (self.opcode_at(*pc), parts.notes.get(*note as usize));
            let (Some(op), Some(note)) = (op, note) else {
                return bad(format!("{pc:04} has a note that is not there"));
            };
            ensure(!shows_listed(note.wording) || lists(op), "a note shows what its instruction does not list")?;
        }
        Ok(())
    }

    fn is_note(&self, note: &Note) -> bool {
        let (from, to) = note.texts;
        let path = match note.path {
            NotePath::Here => true,
            NotePath::Keyword(name) | NotePath::Element(name, _) => self.has_str(name),
        };
        let texts = from <= to && to as usize <= self.parts.note_texts.len();
        let named = self.may_have_str(note.keyword) && self.may_have_str(note.description);
        path && texts && named && self.has_str(note.keyword_location)
    }
}

/// Skips go forward, no further than the end of their block, so that none goes round.
fn check_skip(layout: &Layout, pc: u32, to: u32) -> Result<(), BadUnit> {
    let inside = to > pc && to <= layout.tails[pc as usize].end();
    if inside { Ok(()) } else { bad(format!("{to} is not further on in the block")) }
}

/// Whether the message names members or elements that the instruction has listed.
fn shows_listed(wording: Wording) -> bool {
    matches!(
        wording,
        Wording::AdditionalProperties
            | Wording::MatchNoPattern
            | Wording::UnevaluatedProperties
            | Wording::UnevaluatedInvalid
            | Wording::UnevaluatedItems
    )
}

/// Whether the instruction lists members or elements, and nothing else.
fn lists(op: Opcode) -> bool {
    matches!(op, Opcode::AdditionalProperties | Opcode::UnevaluatedProperties | Opcode::UnevaluatedItems)
}
