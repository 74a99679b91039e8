//! THE TABLE: every instruction of the machine, one row each.
//!
//! A row says what the opcode is called, which operands lie in which slot of the [`Word`], which instances
//! it looks at, what it does in one line, the fuel of one run, and last, where there is any, the fuel it spends by
//! size ([`crate::cost`] has the notation):
//!
//! ```text
//! MaxLength max_length (max: c Len) String "if chars(node) > max: fail" 1 "bytes/16"
//! ```
//!
//! The enum, the typed constructors ([`build`]), the decoder ([`dispatch`] over [`Handler`]), the operand
//! checks, the listing and `docs/opcodes.md` are made from the rows. A row without a body does not compile:
//! [`Handler`] has one required method an opcode.
//!
//! How to read the effects: `node` is the instance being judged; `fail` ends the block in judging code and is
//! noted, the block going on, in explaining code; `run t on x` judges `x` by the block `t`; `kinds` in the
//! third column name the instances an opcode looks at, all others pass.

use crate::insn::{
    EnumId, Flags, FormatId, Len, ListId, NumberId, Operand, OperandKind, PatternId, SwitchId, TableId, Target, Types,
    ValueId, Word,
};

/// Hands every row of the table to the macro named.
macro_rules! for_each_op {
    ($with:ident) => {
        $with! {
            // Control.
            /// Ends the block; the frame below goes on with the block's verdict.
            Leave leave () Any "end of block" 0
            /// Judges the same instance by another block: `$ref`.
            Call call (target: c Target) Any "run target on node; fail if it fails" 1
            /// A `call` whose verdict is kept by block and instance, since both can meet again.
            CallMemo call_memo (flags: a Flags, target: c Target) Any "as call, or the verdict already known" 2 "tracked/1024"
            /// Heads the explaining code of a schema and names its judging code: an applicator that is about to run this block
            /// on a member or element first asks there, and passes over what is accepted.
            AsJudged as_judged (pass: a Types, admit: b Types, target: c Target) Any "nothing" 0
            /// Heads explaining code about members and names the judging table for them: in a search for the failure that
            /// speaks, the instructions that have nothing to say are passed over.
            Survey survey (table: c TableId) Object "nothing" 0
            /// The schema `false`.
            Never never () Any "fail" 1
            /// Skips code that an instance of these types satisfies anyway: `anyOf` with `null`.
            SkipType skip_type (types: a Types, to: c Target) Any "if kind(node) in types: goto to" 1

            // Assertions about any instance.
            /// `type`.
            TypeIs type_is (types: a Types) Any "if kind(node) not in types: fail" 1
            /// `enum`.
            EnumIs enum_is (set: c EnumId) Any "if node not in set: fail" 1 "1 + bytes/16 + 1/value"
            /// `const`.
            ConstIs const_is (value: c ValueId) Any "if node != value: fail" 1 "1/value"

            // Assertions about numbers.
            /// `minimum`.
            Minimum minimum (bound: c NumberId) Number "if node < bound: fail" 1
            /// `maximum`.
            Maximum maximum (bound: c NumberId) Number "if node > bound: fail" 1
            /// `exclusiveMinimum`.
            ExclusiveMinimum exclusive_minimum (bound: c NumberId) Number "if node <= bound: fail" 1
            /// `exclusiveMaximum`.
            ExclusiveMaximum exclusive_maximum (bound: c NumberId) Number "if node >= bound: fail" 1
            /// A lower and an upper bound: two numbers of the pool.
            InRange in_range (flags: a Flags, bounds: c ListId) Number "if node is not within the bounds: fail" 1
            /// `multipleOf`, exact on decimals.
            MultipleOf multiple_of (divisor: c NumberId) Number "if node / divisor is not whole: fail" 1 "1/division"

            // Assertions about strings.
            /// `minLength`.
            MinLength min_length (min: c Len) String "if chars(node) < min: fail" 1 "bytes/16"
            /// `maxLength`.
            MaxLength max_length (max: c Len) String "if chars(node) > max: fail" 1 "bytes/16"
            /// `pattern`, searched anywhere in the text.
            Matches matches (pattern: c PatternId) String "if pattern is not found in node: fail" 1 "1 + bytes x engine"
            /// `format`, where it is asserted.
            FormatIs format_is (format: a FormatId) String "if node is not of format: fail" 1 "1 + bytes/4"

            // Assertions about arrays.
            /// `minItems`.
            MinItems min_items (min: c Len) Array "if elements(node) < min: fail" 1
            /// `maxItems`.
            MaxItems max_items (max: c Len) Array "if elements(node) > max: fail" 1
            /// `items: false` and `additionalItems: false` after `len` elements.
            ItemsEnd items_end (len: c Len) Array "if elements(node) > len: fail" 1
            /// `uniqueItems`.
            UniqueItems unique_items () Array "if two elements are equal: fail" 1 "1/value"

            // Assertions about objects.
            /// `minProperties`.
            MinProperties min_properties (min: c Len) Object "if members(node) < min: fail" 1
            /// `maxProperties`.
            MaxProperties max_properties (max: c Len) Object "if members(node) > max: fail" 1
            /// `required`: all names of the table.
            Required required (table: c TableId) Object "for each name of table that is no member: fail" 1 "names/64 + 1/member + name/16"
            /// `dependentRequired` of one name: the name, then what it needs.
            DependentRequired dependent_required (names: c ListId) Object "if names[0] is a member: each other name that is none: fail" 1 "names/member"

            // Applicators for members.
            /// `properties`, `patternProperties`, `additionalProperties` and `required` in one pass (judging code).
            ObjectTable object_table (table: c TableId) Object "for each member: run what the table says; if a required one is missing: fail" 1 "1/member + name/16 + patterns/member"
            /// `properties` in the order of the schema (explaining code).
            Properties properties (table: c TableId) Object "for each name of table that is a member: run its target on the value" 1 "1/member + name/16"
            /// `patternProperties`: pattern and target in turn.
            PatternProperties pattern_properties (pairs: c ListId) Object "for each pattern, for each member it matches: run its target on the value" 1 "passes + passes/member + patterns/member"
            /// `additionalProperties`, and `unevaluatedProperties` where the compiler can tell what is evaluated.
            AdditionalProperties additional_properties (flags: a Flags, table: c TableId) Object "for each member outside the table: run extra on the value; if extra forbids: fail" 1 "1/member + name/16 + patterns/member"
            /// `propertyNames`.
            PropertyNames property_names (target: c Target) Object "for each member: run target on its name" 1 "1/member + name/16"
            /// `dependentSchemas` of one name: the name, then the target.
            DependentSchema dependent_schema (pair: c ListId) Object "if pair[0] is a member: run pair[1] on node" 1 "1/member"

            // Applicators for elements.
            /// `prefixItems`, and the array form of `items`.
            PrefixItems prefix_items (targets: c ListId) Array "for each element that has a target: run it" 1 "1 + 1/element"
            /// `items` and `additionalItems` with a schema.
            Items items (admit: a Types, start: b Len, target: c Target) Array "for each element from start on: fail if its kind is not in admit; run target" 1 "1 + 1/element"
            /// `items` with `minItems` and `maxItems`: start, types to admit, target, minimum, maximum.
            CountedItems counted_items (list: c ListId) Array "as items; if elements(node) is outside list[3]..=list[4]: fail" 1 "1 + 1/element"
            /// `contains` with its bounds: target, minimum, maximum.
            Contains contains (flags: a Flags, list: c ListId) Array "count the elements that list[0] accepts; if outside list[1]..=list[2]: fail" 1 "1 + 1/element"

            // Applicators in place.
            /// `anyOf`.
            AnyOf any_of (flags: a Flags, branches: c ListId) Any "run the branches on node until one passes; if none: fail" 1 "1/branch + branches x tracked/1024"
            /// `oneOf`.
            OneOf one_of (flags: a Flags, branches: c ListId) Any "run the branches on node; if not exactly one passes: fail" 1 "1/branch + branches x tracked/1024"
            /// `anyOf` or `oneOf` of objects that a required member's text tells apart.
            SwitchTag switch_tag (switch: c SwitchId) Any "run on node the target that its tag means; if there is none: fail" 1 "1/member + 1/value"
            /// `not`.
            Not not (target: c Target) Any "run target on node; fail if it passes" 1
            /// `if`, `then`, `else`: three targets.
            IfThenElse if_then_else (flags: a Flags, list: c ListId) Any "run list[0] on node; then list[1] if it passes, else list[2]" 1 "tracked/1024"

            // Evaluated members and elements.
            /// Opens an empty evaluated set for the instance.
            TrackOpen track_open () Any "push an evaluated set for node" 1 "children/64"
            /// Closes it; with TRACK, it joins the set around it.
            TrackClose track_close (flags: a Flags) Any "pop the evaluated set" 1
            /// Marks what another block says is evaluated; whether it passes is of no interest.
            MarkBy mark_by (target: c Target) Any "run target on node, for its marks" 1
            /// Marks the members that the table's names and patterns evaluate (all, where it has an extra).
            MarkNames mark_names (table: c TableId) Object "evaluated |= members of table" 1 "1/member + name/16 + patterns/member"
            /// Marks elements before `len`.
            MarkItems mark_items (len: c Len) Array "evaluated |= 0..len" 1 "children/64"
            /// `unevaluatedProperties`.
            UnevaluatedProperties unevaluated_properties (flags: a Flags, target: c Target) Object "for each member not evaluated: run target on the value (none: fail); mark it" 1 "1/member + name/16"
            /// `unevaluatedItems`.
            UnevaluatedItems unevaluated_items (flags: a Flags, target: c Target) Array "for each element not evaluated: run target (none: fail); mark it" 1 "1 + 1/element"
        }
    };
}

/// What a row of the table says about its opcode.
#[derive(Debug)]
pub struct OpInfo {
    /// The opcode's name in listings.
    pub mnemonic: &'static str,
    /// The operands: name, slot (`a`, `b` or `c`), kind.
    pub operands: &'static [(&'static str, char, OperandKind)],
    /// The instances it looks at.
    pub applies: &'static str,
    /// What it does, in one line.
    pub effect: &'static str,
    /// Fuel for one run, beside what is charged by size.
    pub fuel: u8,
    /// What a run charges by size at most, in the notation of [`crate::cost`]; empty: nothing.
    pub by_size: &'static str,
    /// The row's comment.
    pub doc: &'static str,
}

macro_rules! slot_char {
    (a) => {
        'a'
    };
    (b) => {
        'b'
    };
    (c) => {
        'c'
    };
}

macro_rules! operand_type {
    (FormatId) => {
        FormatId
    };
    (Number) => {
        NumberId
    };
    ($name:ident) => {
        $name
    };
}

macro_rules! define_opcodes {
    ($( $(#[doc = $doc:literal])+ $variant:ident $method:ident ( $($arg:ident : $slot:ident $kind:ident),* ) $applies:ident $effect:literal $fuel:literal $($by_size:literal)? )*) => {
        /// The opcodes, in the order of the table.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[repr(u8)]
        pub enum Opcode { $( $(#[doc = $doc])+ $variant, )* }

        impl Opcode {
            /// Every opcode, in order.
            pub const ALL: &'static [Opcode] = &[ $(Opcode::$variant),* ];

            /// Fuel for one run, see [`OpInfo::fuel`].
            #[inline]
            pub(crate) fn fuel(self) -> u64 {
                const FUEL: &[u8] = &[ $($fuel),* ];
                FUEL[self as usize].into()
            }

            /// The row of the table.
            pub fn info(self) -> &'static OpInfo { &INFO[self as usize] }

            /// Whether it has an operand of that kind.
            pub(crate) fn has_operand(self, kind: OperandKind) -> bool {
                self.info().operands.iter().any(|(_, _, of)| *of == kind)
            }
        }

        const ROWS: &[OpInfo] = &[ $(OpInfo {
            mnemonic: stringify!($method),
            operands: &[ $((stringify!($arg), slot_char!($slot), <operand_type!($kind) as Operand>::KIND)),* ],
            applies: stringify!($applies),
            effect: $effect,
            fuel: $fuel,
            by_size: concat!($($by_size)?),
            doc: concat!($($doc),+),
        }),* ];

        static INFO: &[OpInfo] = ROWS;

        /// Constructors of instructions, one an opcode, typed by its operands.
        pub mod build {
            use super::*;
            $( $(#[doc = $doc])+
            #[allow(clippy::needless_update, unused_mut)]
            pub fn $method($($arg: operand_type!($kind)),*) -> Word {
                let mut word = Word { op: Opcode::$variant as u8, a: 0, b: 0, c: 0 };
                $( word.$slot = Operand::encode($arg) as _; )*
                word
            } )*
        }

        /// One body an opcode. A row of the table without a method here, or the reverse, does not compile.
        pub trait Handler {
            /// What a body answers.
            type Flow;
            $( $(#[doc = $doc])+ fn $method(&mut self, $($arg: operand_type!($kind)),*) -> Self::Flow; )*
        }

        /// Decodes `word` and runs its body.
        #[inline(always)]
        #[allow(clippy::inline_always)] // the one loop of the machine; profiled as a call otherwise
        pub fn dispatch<H: Handler>(handler: &mut H, op: Opcode, word: Word) -> H::Flow {
            match op {
                $( Opcode::$variant => handler.$method($( <operand_type!($kind) as Operand>::decode(word.$slot.into()) ),*), )*
            }
        }
    };
}

for_each_op!(define_opcodes);

const _: () = assert!(Opcode::ALL.len() < 256, "an opcode fits one byte");

pub use crate::execute::skim::is_about_scalars;

/// What is to be known of an opcode beside its row, one bit each; what it is of opcodes is asked for every instruction of
/// a unit that is checked.
#[derive(Clone, Copy)]
pub(crate) struct Traits(u8);

impl Traits {
    /// The blocks that it runs judge the instance that it judges itself.
    pub(crate) const IN_PLACE: Traits = Traits(1);
    /// It runs no block, nor what follows it in a frame of its own.
    pub(crate) const LEAF: Traits = Traits(2);
    /// A look tells what it says, of a scalar or of elements.
    pub(crate) const TOLD: Traits = Traits(4);
    /// It opens or closes an evaluated set.
    pub(crate) const SET: Traits = Traits(8);

    pub(crate) const fn has(self, other: Traits) -> bool {
        self.0 & other.0 != 0
    }

    const fn of(op: Opcode) -> Traits {
        let in_place = matches!(
            op,
            Opcode::Call
                | Opcode::CallMemo
                | Opcode::DependentSchema
                | Opcode::AnyOf
                | Opcode::OneOf
                | Opcode::Not
                | Opcode::IfThenElse
                | Opcode::SwitchTag
                | Opcode::MarkBy
        );
        let set = matches!(op, Opcode::TrackOpen | Opcode::TrackClose);
        let names_no_block = matches!(
            op,
            Opcode::AsJudged | Opcode::SkipType | Opcode::Required | Opcode::DependentRequired | Opcode::InRange
        );
        let leaf = names_no_block || !set && !names_blocks(op);
        let told = is_about_scalars(op) || matches!(op, Opcode::Leave | Opcode::Items | Opcode::CountedItems);
        Traits(in_place as u8 | (leaf as u8) << 1 | (told as u8) << 2 | (set as u8) << 3)
    }
}

/// Whether an operand leads to blocks, or to something that may.
const fn names_blocks(op: Opcode) -> bool {
    use OperandKind::{List, Switch, Table, Target};
    matches!(op.large_operand(), Some(Target | Table | List | Switch))
}

impl Opcode {
    /// The kind of the large operand, if it has one. All that need a pool or a block to be there are large.
    pub(crate) const fn large_operand(self) -> Option<OperandKind> {
        const KINDS: [Option<OperandKind>; Opcode::ALL.len()] = {
            let mut kinds = [None; Opcode::ALL.len()];
            let mut op = 0;
            while op < kinds.len() {
                let operands = ROWS[op].operands;
                let mut at = 0;
                while at < operands.len() {
                    let (_, slot, kind) = operands[at];
                    if slot == 'c' {
                        kinds[op] = Some(kind);
                    }
                    at += 1;
                }
                op += 1;
            }
            kinds
        };
        KINDS[self as usize]
    }

    pub(crate) const fn traits(self) -> Traits {
        const TRAITS: [Traits; Opcode::ALL.len()] = {
            let mut traits = [Traits(0); Opcode::ALL.len()];
            let mut op = 0;
            while op < traits.len() {
                traits[op] = Traits::of(Opcode::ALL[op]);
                op += 1;
            }
            traits
        };
        TRAITS[self as usize]
    }

    /// Whether the blocks that it runs judge the instance that it judges itself.
    pub(crate) fn runs_in_place(self) -> bool {
        self.traits().has(Traits::IN_PLACE)
    }
}

impl Word {
    /// The instruction's opcode.
    ///
    /// A word is only made by [`build`]; one with an unknown number reads as `never`, so that it fails closed.
    #[inline]
    pub fn opcode(self) -> Opcode {
        match Opcode::ALL.get(self.op as usize) {
            Some(&op) => op,
            None => Opcode::Never,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decode_undoes_encode() {
        let word = build::items(Types::ANY, Len(7), Target::new(99, true, false));
        assert_eq!(word.opcode(), Opcode::Items);
        assert_eq!((word.b, Target::decode(word.c)), (7, Target::new(99, true, false)));
    }

    #[test]
    fn numbers_follow_the_table() {
        for (at, op) in Opcode::ALL.iter().enumerate() {
            assert_eq!(*op as usize, at);
            assert!(!op.info().effect.is_empty());
            // What is checked of operands goes by the large one.
            for (name, slot, kind) in op.info().operands {
                let small = matches!(kind, OperandKind::Types | OperandKind::Flags | OperandKind::Len);
                assert!(*slot == 'c' || small || *kind == OperandKind::Format, "{name} of {}", op.info().mnemonic);
            }
        }
    }

    /// Files of other tables cannot be told by their checksum: whoever changes a row sets [`FORMAT_VERSION`] one higher, and
    /// the sum here.
    ///
    /// [`FORMAT_VERSION`]: crate::unit::FORMAT_VERSION
    #[test]
    fn the_table_is_that_of_its_version() {
        let rows = Opcode::ALL.iter().map(|op| (op.info().mnemonic, op.info().operands));
        let sum = crate::image::checksum(format!("{:?}", rows.collect::<Vec<_>>()).as_bytes());
        assert_eq!((crate::unit::FORMAT_VERSION, sum), (3, 14_097_162_739_454_954_212));
    }
}
