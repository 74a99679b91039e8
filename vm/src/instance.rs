//! What the machine asks of an instance.
//!
//! The machine judges anything that can be walked in order: JSON text in place ([`crate::json_text`]), a tape
//! ([`crate::tape`]), a `serde_json::Value` ([`crate::value`]), or a host's own object. There is no `get(key)`:
//! an object is judged in one pass over its members, so a text needs no index.

use crate::equal::Budget;
use crate::failure::FaultCode;
use crate::insn::Types;
use crate::number::Number;
use crate::text::Text;

/// Why the machine stopped without a verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Halt {
    /// The gate declines to decide.
    Fault(FaultCode),
    /// The instance is not JSON, or it cannot be told while judging in place (two names may be equal); the
    /// tape tells.
    Unreadable,
    /// The run needs a [`Stack`](crate::scratch::Stack), and was given none.
    Stackless,
}

impl From<FaultCode> for Halt {
    fn from(code: FaultCode) -> Self {
        Halt::Fault(code)
    }
}

/// One value, scalars whole, containers as their kind.
#[derive(Clone, Copy, Debug)]
pub enum View<'a> {
    /// `null`
    Null,
    /// `true` or `false`
    Bool(bool),
    /// A number.
    Number(Number<'a>),
    /// A string.
    String(Text<'a>),
    /// An array; walk it with [`Instance::elements`].
    Array,
    /// An object; walk it with [`Instance::members`].
    Object,
    /// A host's value that JSON does not have; the name says what it is (`set`, `NaN`).
    NotJson(&'a str),
}

impl View<'_> {
    /// Bytes that are still to be looked at: a text's, a long number's. Unit: bytes as they are written.
    #[inline]
    pub(crate) fn bytes(&self) -> usize {
        match self {
            View::Number(number) => number.literal_bytes(),
            View::String(text) => text.raw_bytes(),
            _ => 0,
        }
    }

    /// The types of JSON Schema that the value is of.
    #[inline]
    pub fn types(&self) -> Types {
        match self {
            View::Null => Types::NULL,
            View::Bool(_) => Types::BOOLEAN,
            View::Number(number) => number_types(*number),
            View::String(_) => Types::STRING,
            View::Array => Types::ARRAY,
            View::Object => Types::OBJECT,
            View::NotJson(_) => Types::NONE,
        }
    }
}

fn number_types(number: Number<'_>) -> Types {
    if number.is_integer_literal() {
        Types::WHOLE
    } else if number.is_integral() {
        Types::NUMBER.union(Types::INTEGER)
    } else {
        Types::NUMBER
    }
}

/// One member of an object.
#[derive(Clone, Copy, Debug)]
pub struct Member<'a, N> {
    /// The name.
    pub name: Text<'a>,
    /// The name as an instance of its own, for `propertyNames`.
    pub name_node: N,
    /// The value.
    pub value: N,
}

/// An instance that can be judged. `'a` is how long its texts live.
///
/// A host implements it over its own objects; nothing is converted. Order is the host's own, and must be the
/// same at every walk during one call. Errors: any method may answer [`Halt`]; the call is then not accepted.
/// A cyclic object ends at the depth fault. The machine does not recurse through these methods.
pub trait Instance<'a> {
    /// Names a value; cheap to copy.
    type Node: Copy + std::fmt::Debug;
    /// A position among an object's members.
    type Members: Clone;
    /// A position among an array's elements.
    type Elements: Clone;

    /// The whole instance.
    fn root(&self) -> Self::Node;
    /// A number that tells the node from every other of this instance, names included, for results that are kept by
    /// node; `None` where there is none.
    fn identity(&self, node: Self::Node) -> Option<u64>;
    /// The value at `node`.
    fn view(&mut self, node: Self::Node) -> Result<View<'a>, Halt>;
    /// A cursor before the first member. `node` is an object.
    fn members(&mut self, node: Self::Node) -> Self::Members;
    /// The next member, in order. The names of one object are distinct.
    fn next_member(&mut self, at: &mut Self::Members) -> Result<Option<Member<'a, Self::Node>>, Halt>;
    /// A cursor before the first element. `node` is an array.
    fn elements(&mut self, node: Self::Node) -> Self::Elements;
    /// The next element, in order.
    fn next_element(&mut self, at: &mut Self::Elements) -> Result<Option<Self::Node>, Halt>;

    /// Whether two values of this instance are equal, see [`crate::equal::equal`]. An instance that cannot be walked
    /// in two places at once leaves it to the tape.
    fn equal(&mut self, a: Self::Node, b: Self::Node, budget: &mut Budget) -> Result<bool, Halt> {
        let _ = (a, b, budget);
        Err(Halt::Unreadable)
    }

    /// The types of the value. An instance may tell them from less than a whole [`view`](Self::view).
    #[inline]
    fn types(&mut self, node: Self::Node) -> Result<Types, Halt> {
        Ok(self.view(node)?.types())
    }

    /// As [`types`](Self::types), but of a number only that it is one: what kind of number may take longer to tell.
    #[inline]
    fn kind(&mut self, node: Self::Node) -> Result<Types, Halt> {
        self.types(node)
    }

    /// Whether the value is of one of the types.
    #[inline]
    fn is_of(&mut self, node: Self::Node, types: Types) -> Result<bool, Halt> {
        let kind = self.kind(node)?;
        Ok(if kind == Types::NUMBER && types.tells_integers() {
            self.types(node)?.meets(types)
        } else {
            kind.meets(types)
        })
    }

    /// As [`next_member`](Self::next_member) of an instance that must look whether the names of an object are distinct,
    /// without looking: the caller does, by names it knows, and hands all others to [`note_name`](Self::note_name).
    #[inline]
    fn next_unnoted(&mut self, at: &mut Self::Members) -> Result<Option<Member<'a, Self::Node>>, Halt> {
        self.next_member(at)
    }

    /// Looks whether the name is distinct from those noted before.
    #[inline]
    fn note_name(&mut self, at: &mut Self::Members, name: Text<'a>) -> Result<(), Halt> {
        let _ = (at, name);
        Ok(())
    }

    /// Spells out a number for which [`view`](Self::view) answered [`Halt::Unreadable`], in JSON's grammar.
    /// Hosts whose numbers always have a [`View`] need not write it.
    fn write_number(&mut self, node: Self::Node, out: &mut String) -> Result<(), Halt> {
        let _ = (node, out);
        Err(Halt::Unreadable)
    }

    /// How many members the object has.
    fn member_len(&mut self, node: Self::Node) -> Result<usize, Halt> {
        let mut at = self.members(node);
        let mut len = 0;
        while self.next_member(&mut at)?.is_some() {
            len += 1;
        }
        Ok(len)
    }

    /// How many elements the array has.
    fn element_len(&mut self, node: Self::Node) -> Result<usize, Halt> {
        let mut at = self.elements(node);
        let mut len = 0;
        while self.next_element(&mut at)?.is_some() {
            len += 1;
        }
        Ok(len)
    }
}

/// Walks the whole instance: whether every value in it is one that JSON has.
///
/// Errors: nesting beyond `depth_max` (so a cycle ends), and what the instance answers. Recursion is bounded by
/// `depth_max`.
pub fn ensure_json<'a, I: Instance<'a>>(instance: &mut I, depth_max: u32) -> Result<bool, Halt> {
    let root = instance.root();
    is_json(instance, root, depth_max)
}

fn is_json<'a, I: Instance<'a>>(instance: &mut I, node: I::Node, depth_left: u32) -> Result<bool, Halt> {
    let view = match instance.view(node) {
        // A number that has no borrowed spelling is a number all the same.
        Err(Halt::Unreadable) => return Ok(true),
        view => view?,
    };
    let deeper = || depth_left.checked_sub(1).ok_or(Halt::Fault(FaultCode::Depth));
    match view {
        View::NotJson(_) => return Ok(false),
        View::Array => {
            let depth_left = deeper()?;
            let mut at = instance.elements(node);
            while let Some(element) = instance.next_element(&mut at)? {
                if !is_json(instance, element, depth_left)? {
                    return Ok(false);
                }
            }
        }
        View::Object => {
            let depth_left = deeper()?;
            let mut at = instance.members(node);
            while let Some(member) = instance.next_member(&mut at)? {
                if !is_json(instance, member.value, depth_left)? {
                    return Ok(false);
                }
            }
        }
        View::Null | View::Bool(_) | View::Number(_) | View::String(_) => {}
    }
    Ok(true)
}
