//! The instruction word: eight bytes, `op u8 | a u8 | b u16 | c u32`.
//!
//! ```text
//!   0        1        2                 4                                   8
//!   ┌────────┬────────┬─────────────────┬───────────────────────────────────┐
//!   │   op   │   a    │        b        │                 c                 │
//!   └────────┴────────┴─────────────────┴───────────────────────────────────┘
//! ```
//!
//! Operands are newtypes that know how they fit into a slot. What does not fit a slot lies in a pool of the
//! [`Unit`](crate::unit::Unit) and is named by an id.

/// One instruction. Built only by the constructors of [`crate::opcode::build`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct Word {
    /// The opcode's number.
    pub op: u8,
    /// The small operand: a flag set, a type set, a format.
    pub a: u8,
    /// The middle operand: a count below 65,536.
    pub b: u16,
    /// The large operand: a pool id, a target, a length.
    pub c: u32,
}

const _: () = assert!(size_of::<Word>() == 8, "an instruction is one 8-byte word");

/// An operand that can be put into a slot of a [`Word`] and read back from it.
pub trait Operand: Copy {
    /// How the operand is called in documentation and listings.
    const KIND: OperandKind;
    /// The bits to store.
    fn encode(self) -> u32;
    /// The operand back from its bits.
    fn decode(bits: u32) -> Self;
}

/// The kinds of operand; the listing and the checks of a loaded unit go by them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OperandKind {
    /// A set of JSON types.
    Types,
    /// A set of [`Flags`].
    Flags,
    /// A format's number.
    Format,
    /// A count of characters, elements, members.
    Len,
    /// Code to run: a pc.
    Target,
    /// A number in the number pool.
    Number,
    /// A constant in the value pool.
    Value,
    /// An enumeration in its pool.
    Enum,
    /// A union whose branches a tag tells apart, in its pool.
    Switch,
    /// A compiled pattern.
    Pattern,
    /// A property table.
    Table,
    /// A list of words in the list pool.
    List,
}

macro_rules! operand {
    ($(#[$doc:meta])* $name:ident($inner:ty) = $kind:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub $inner);
        impl Operand for $name {
            const KIND: OperandKind = OperandKind::$kind;
            fn encode(self) -> u32 { u32::from(self.0) }
            fn decode(bits: u32) -> Self { Self(bits as $inner) }
        }
    };
}

operand! {
    /// A set of JSON types, one bit each.
    Types(u8) = Types
}
operand! {
    /// How an instruction behaves inside evaluated-tracking code.
    Flags(u8) = Flags
}
operand! {
    /// A format, see [`crate::format::Format`].
    FormatId(u8) = Format
}
operand! {
    /// A count. Unit: code points, elements or members, as the opcode says.
    Len(u32) = Len
}
operand! {
    /// An index into the number pool.
    NumberId(u32) = Number
}
operand! {
    /// An index into the value pool.
    ValueId(u32) = Value
}
operand! {
    /// An index into the enumeration pool.
    EnumId(u32) = Enum
}
operand! {
    /// An index into the pool of tagged unions.
    SwitchId(u32) = Switch
}
operand! {
    /// An index into the pattern pool.
    PatternId(u32) = Pattern
}
operand! {
    /// An index into the property tables.
    TableId(u32) = Table
}
operand! {
    /// An offset into the list pool, at the list's length word.
    ListId(u32) = List
}

impl Types {
    /// `null`
    pub const NULL: Types = Types(1);
    /// `true`, `false`
    pub const BOOLEAN: Types = Types(2);
    /// A number without a fraction (from draft 6 on `1.0` counts).
    pub const INTEGER: Types = Types(4);
    /// Any number.
    pub const NUMBER: Types = Types(8);
    /// A string.
    pub const STRING: Types = Types(16);
    /// An array.
    pub const ARRAY: Types = Types(32);
    /// An object.
    pub const OBJECT: Types = Types(64);
    /// A number written without fraction and exponent: draft 4's `integer`.
    pub const INTEGER_LITERAL: Types = Types(128);
    /// What an integer literal is of.
    pub const WHOLE: Types = Types(4 | 8 | 128);
    /// No type at all.
    pub const NONE: Types = Types(0);
    /// Every type of JSON.
    pub const ANY: Types = Types(0xff);

    /// Whether the two sets share a type.
    #[inline]
    pub fn meets(self, other: Types) -> bool {
        self.0 & other.0 != 0
    }
    /// Whether it depends on what kind of number a number is if it is of one of the types.
    #[inline]
    pub fn tells_integers(self) -> bool {
        !self.meets(Types::NUMBER) && self.meets(Types::WHOLE)
    }
    /// Both sets together.
    #[must_use]
    pub fn union(self, other: Types) -> Types {
        Types(self.0 | other.0)
    }
}

impl Flags {
    /// No flag.
    pub const NONE: Flags = Flags(0);
    /// What a passing branch evaluated joins the current set.
    pub const TRACK: Flags = Flags(1);
    /// The instruction marks and never fails: used to collect what is evaluated, not to judge.
    pub const SOFT: Flags = Flags(2);

    /// The lower bound itself is not in the range.
    pub const OPEN_BELOW: Flags = Flags(4);
    /// Nor is the upper one.
    pub const OPEN_ABOVE: Flags = Flags(8);
    /// What the instruction finds is an unknown name: no keyword forbids it, and a sink that takes notice of such names
    /// lets it pass.
    pub const UNKNOWN: Flags = Flags(16);

    /// Whether all of `other` is in the set.
    pub fn has(self, other: Flags) -> bool {
        self.0 & other.0 == other.0
    }
    /// Both sets together.
    #[must_use]
    pub fn with(self, other: Flags) -> Flags {
        Flags(self.0 | other.0)
    }
}

/// Code to run: the pc of a block's first instruction, and what is known of the block. A *leaf* holds no applicator,
/// so it never pushes a frame; a *single* is one instruction, so it needs no loop; one that is *told at a look* is about
/// scalars, or elements that are, and needs no machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Target(u32);

impl Target {
    /// No code: nothing is run (`then` without `else`, a property that is only required).
    pub const NONE: Target = Target(Self::PC);
    const LEAF: u32 = 1 << 31;
    const SINGLE: u32 = 1 << 30;
    const LOOK: u32 = 1 << 29;
    const PC: u32 = Self::LOOK - 1;

    /// A block at `pc`.
    pub fn new(pc: u32, leaf: bool, single: bool) -> Target {
        Target(pc | if leaf { Self::LEAF } else { 0 } | if single { Self::SINGLE } else { 0 })
    }
    /// The same, told at a look or not.
    #[must_use]
    pub fn with_look(self, told: bool) -> Target {
        if told && self.is_some() { Target(self.0 | Self::LOOK) } else { self }
    }
    /// Whether the block is told at a look.
    #[inline]
    pub(crate) fn is_told_at_a_look(self) -> bool {
        self.0 & Self::LOOK != 0
    }
    /// Where the block starts.
    #[inline]
    pub fn pc(self) -> u32 {
        self.0 & Self::PC
    }
    /// Whether the block holds leaf instructions only.
    pub fn is_leaf(self) -> bool {
        self.0 & Self::LEAF != 0
    }
    /// Whether the block is one instruction.
    #[inline]
    pub fn is_single(self) -> bool {
        self.0 & Self::SINGLE != 0
    }
    /// Whether there is a block at all.
    #[inline]
    pub fn is_some(self) -> bool {
        self != Self::NONE
    }
    /// As stored in a list.
    pub fn bits(self) -> u32 {
        self.0
    }
    /// Back from a list.
    pub fn from_bits(bits: u32) -> Target {
        Target(bits)
    }
}

impl Operand for Target {
    const KIND: OperandKind = OperandKind::Target;
    fn encode(self) -> u32 {
        self.0
    }
    fn decode(bits: u32) -> Self {
        Target(bits)
    }
}
