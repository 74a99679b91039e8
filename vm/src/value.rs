//! A `serde_json::Value` as an instance, judged where it lies.
//!
//! Works the same whether or not the build turns on serde_json's `preserve_order`, `arbitrary_precision` or
//! `float_roundtrip`: members come in the map's own order, and a number is read through the interface that all
//! of them have.

use std::fmt::Write as _;

use serde_json::Value;

use crate::equal::{self, Budget};
use crate::insn::Types;
use crate::instance::{Halt, Instance, Member, View};
use crate::number::Number;
use crate::text::Text;

/// A borrowed `Value`.
#[derive(Clone, Copy, Debug)]
pub struct ValueInstance<'a> {
    root: &'a Value,
    /// Whether numbers are kept as their texts, which may be beyond the bounds.
    number_texts: bool,
}

impl<'a> ValueInstance<'a> {
    /// The instance `root`.
    pub fn new(root: &'a Value) -> Self {
        ValueInstance { root, number_texts: keeps_number_texts() }
    }
}

/// A value inside the instance, or a member's name taken as one.
#[derive(Clone, Copy, Debug)]
pub enum ValueNode<'a> {
    /// A value.
    Value(&'a Value),
    /// A name.
    Name(&'a String),
}

/// A position among the elements of an array.
#[derive(Clone, Debug)]
pub struct ValueElements<'a>(std::slice::Iter<'a, Value>);

/// A position among the members of an object.
#[derive(Clone, Debug)]
pub struct ValueMembers<'a>(Option<serde_json::map::Iter<'a>>);

impl<'a> Instance<'a> for ValueInstance<'a> {
    type Node = ValueNode<'a>;
    type Members = ValueMembers<'a>;
    type Elements = ValueElements<'a>;

    fn root(&self) -> ValueNode<'a> {
        ValueNode::Value(self.root)
    }

    fn identity(&self, node: ValueNode<'a>) -> Option<u64> {
        match node {
            ValueNode::Value(value) => Some(std::ptr::from_ref(value).addr() as u64),
            ValueNode::Name(_) => None,
        }
    }

    #[inline]
    fn view(&mut self, node: ValueNode<'a>) -> Result<View<'a>, Halt> {
        let value = match node {
            ValueNode::Name(name) => return Ok(View::String(Text::plain_text(name))),
            ValueNode::Value(value) => value,
        };
        Ok(match value {
            Value::Null => View::Null,
            Value::Bool(is) => View::Bool(*is),
            Value::Number(number) => View::Number(view_number(number)?),
            Value::String(text) => View::String(Text::plain_text(text)),
            Value::Array(_) => View::Array,
            Value::Object(_) => View::Object,
        })
    }

    #[inline]
    fn types(&mut self, node: ValueNode<'a>) -> Result<Types, Halt> {
        match node {
            ValueNode::Value(Value::Number(number)) if number.is_i64() || number.is_u64() => Ok(Types::WHOLE),
            ValueNode::Value(Value::Number(number)) => Ok(View::Number(view_number(number)?).types()),
            ValueNode::Value(value) => Ok(kind_of(value)),
            ValueNode::Name(_) => Ok(Types::STRING),
        }
    }

    #[inline]
    fn kind(&mut self, node: ValueNode<'a>) -> Result<Types, Halt> {
        match node {
            ValueNode::Value(Value::Number(_)) if self.number_texts => self.types(node),
            ValueNode::Value(value) => Ok(kind_of(value)),
            ValueNode::Name(_) => Ok(Types::STRING),
        }
    }

    #[inline]
    fn members(&mut self, node: ValueNode<'a>) -> ValueMembers<'a> {
        match node {
            ValueNode::Value(Value::Object(map)) => ValueMembers(Some(map.iter())),
            _ => ValueMembers(None),
        }
    }

    #[inline]
    fn next_member(&mut self, at: &mut ValueMembers<'a>) -> Result<Option<Member<'a, ValueNode<'a>>>, Halt> {
        Ok(at.0.as_mut().and_then(Iterator::next).map(|(name, value)| Member {
            name: Text::plain_text(name),
            name_node: ValueNode::Name(name),
            value: ValueNode::Value(value),
        }))
    }

    #[inline]
    fn elements(&mut self, node: ValueNode<'a>) -> ValueElements<'a> {
        match node {
            ValueNode::Value(Value::Array(elements)) => ValueElements(elements.iter()),
            _ => ValueElements([].iter()),
        }
    }

    #[inline]
    fn next_element(&mut self, at: &mut ValueElements<'a>) -> Result<Option<ValueNode<'a>>, Halt> {
        Ok(at.0.next().map(ValueNode::Value))
    }

    fn write_number(&mut self, node: ValueNode<'a>, out: &mut String) -> Result<(), Halt> {
        match node {
            ValueNode::Value(Value::Number(number)) => write!(out, "{number}").map_err(|_| Halt::Unreadable),
            _ => Err(Halt::Unreadable),
        }
    }

    fn equal(&mut self, a: ValueNode<'a>, b: ValueNode<'a>, budget: &mut Budget) -> Result<bool, Halt> {
        equal::equal(&mut self.clone(), a, self, b, budget)
    }

    fn member_len(&mut self, node: ValueNode<'a>) -> Result<usize, Halt> {
        Ok(match node {
            ValueNode::Value(Value::Object(map)) => map.len(),
            _ => 0,
        })
    }

    fn element_len(&mut self, node: ValueNode<'a>) -> Result<usize, Halt> {
        Ok(match node {
            ValueNode::Value(Value::Array(elements)) => elements.len(),
            _ => 0,
        })
    }
}

/// The types of the value; of a number, that it is one.
#[inline]
fn kind_of(value: &Value) -> Types {
    match value {
        Value::Null => Types::NULL,
        Value::Bool(_) => Types::BOOLEAN,
        Value::Number(_) => Types::NUMBER,
        Value::String(_) => Types::STRING,
        Value::Array(_) => Types::ARRAY,
        Value::Object(_) => Types::OBJECT,
    }
}

/// The number as the `Value` holds it.
///
/// An integer beyond `i64`, and any decimal of a build that keeps number texts (`arbitrary_precision`), have no
/// borrowed spelling to judge by: [`Halt::Unreadable`] sends them to the tape, which spells them out.
#[inline]
fn view_number(number: &serde_json::Number) -> Result<Number<'static>, Halt> {
    if let Some(value) = number.as_i64() {
        return Ok(Number::Int(value));
    }
    match number.as_f64() {
        Some(value) if number.is_f64() && !keeps_number_texts() => Ok(Number::from_f64(value)),
        _ => Err(Halt::Unreadable),
    }
}

/// Finds out what numbers are in this build, which allocates once a process.
pub fn prepare() {
    keeps_number_texts();
}

/// Whether this build of serde_json keeps a number as its text.
fn keeps_number_texts() -> bool {
    static KEEPS: std::sync::OnceLock<bool> = std::sync::OnceLock::new();
    // Only a kept text survives a literal beyond every double.
    *KEEPS.get_or_init(|| serde_json::from_str::<serde_json::Number>("1e400").is_ok())
}
