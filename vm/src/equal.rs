//! JSON equality and hashing: `enum`, `const`, `uniqueItems`.
//!
//! Numbers are equal by value (`1` and `1.0`), objects whatever the order of their members, strings by code points.
//! Source: JSON Schema 2020-12 Core, 4.2.2. Both functions recurse into containers; the depth they are given is
//! at most [`DEPTH_CEILING`](crate::limits::DEPTH_CEILING). Both charge the fuel they are given for each value.

use std::hash::{BuildHasher, Hasher};

use ahash::{AHasher, RandomState};

use crate::failure::FaultCode;
use crate::instance::{Halt, Instance, View};

/// What a comparison may still spend.
#[derive(Clone, Copy, Debug)]
pub struct Budget {
    /// Values to look at.
    pub fuel: u64,
    /// Levels to go down.
    pub depth: u32,
}

impl Budget {
    fn spend(&mut self, fuel: u64) -> Result<(), Halt> {
        self.fuel = self.fuel.checked_sub(fuel).ok_or(FaultCode::Fuel)?;
        Ok(())
    }

    fn deeper(&mut self) -> Result<(), Halt> {
        self.depth = self.depth.checked_sub(1).ok_or(FaultCode::Depth)?;
        Ok(())
    }
}

/// Whether two values are equal. Cost: one pass over both where members come in the same order, else one pass
/// over `b`'s members for each of `a`'s; all of it charged.
pub fn equal<'a, 'b, A: Instance<'a>, B: Instance<'b>>(
    a: &mut A,
    a_node: A::Node,
    b: &mut B,
    b_node: B::Node,
    budget: &mut Budget,
) -> Result<bool, Halt> {
    budget.spend(1)?;
    match (a.view(a_node)?, b.view(b_node)?) {
        (View::Array, View::Array) => equal_arrays(a, a_node, b, b_node, budget),
        (View::Object, View::Object) => equal_objects(a, a_node, b, b_node, budget),
        (x, y) => {
            if let (View::String(x), View::String(y)) = (x, y) {
                budget.spend(x.raw_bytes().min(y.raw_bytes()) as u64 / 16)?;
            }
            Ok(equal_scalars(x, y))
        }
    }
}

/// Whether two scalars are equal. Containers, and what JSON does not have, are equal to nothing here.
#[inline]
pub fn equal_scalars(x: View<'_>, y: View<'_>) -> bool {
    match (x, y) {
        (View::Null, View::Null) => true,
        (View::Bool(x), View::Bool(y)) => x == y,
        (View::Number(x), View::Number(y)) => x.compare(y).is_eq(),
        (View::String(x), View::String(y)) => match (x.as_plain(), y.as_plain()) {
            (Some(x), Some(y)) => x == y,
            _ => x.compare(y).is_eq(),
        },
        _ => false,
    }
}

fn equal_arrays<'a, 'b, A: Instance<'a>, B: Instance<'b>>(
    a: &mut A,
    a_node: A::Node,
    b: &mut B,
    b_node: B::Node,
    budget: &mut Budget,
) -> Result<bool, Halt> {
    budget.deeper()?;
    let (mut a_at, mut b_at) = (a.elements(a_node), b.elements(b_node));
    loop {
        match (a.next_element(&mut a_at)?, b.next_element(&mut b_at)?) {
            (Some(x), Some(y)) if equal(a, x, b, y, budget)? => {}
            (None, None) => {
                budget.depth += 1;
                return Ok(true);
            }
            _ => {
                budget.depth += 1;
                return Ok(false);
            }
        }
    }
}

fn equal_objects<'a, 'b, A: Instance<'a>, B: Instance<'b>>(
    a: &mut A,
    a_node: A::Node,
    b: &mut B,
    b_node: B::Node,
    budget: &mut Budget,
) -> Result<bool, Halt> {
    // Names are distinct on either side: equal counts and one-sided inclusion are equality.
    if a.member_len(a_node)? != b.member_len(b_node)? {
        return Ok(false);
    }
    budget.deeper()?;
    let same = includes(a, a_node, b, b_node, budget);
    budget.depth += 1;
    same
}

/// Whether each member of `a` is one of `b`.
fn includes<'a, 'b, A: Instance<'a>, B: Instance<'b>>(
    a: &mut A,
    a_node: A::Node,
    b: &mut B,
    b_node: B::Node,
    budget: &mut Budget,
) -> Result<bool, Halt> {
    let mut a_at = a.members(a_node);
    // Goes on where the last name was found, and once around.
    let mut b_at = b.members(b_node);
    let len = b.member_len(b_node)?;
    while let Some(member) = a.next_member(&mut a_at)? {
        let mut left = len + 1;
        loop {
            if left == 0 {
                return Ok(false);
            }
            left -= 1;
            budget.spend(1)?;
            let Some(other) = b.next_member(&mut b_at)? else {
                b_at = b.members(b_node);
                continue;
            };
            if member.name.compare(other.name).is_eq() {
                if equal(a, member.value, b, other.value, budget)? {
                    break;
                }
                return Ok(false);
            }
        }
    }
    Ok(true)
}

/// A hash under which equal values are equal. Seeded: it must not leave the process.
pub fn hash<'a, I: Instance<'a>>(
    instance: &mut I,
    node: I::Node,
    seed: &RandomState,
    budget: &mut Budget,
) -> Result<u64, Halt> {
    let mut state = seed.build_hasher();
    hash_into(instance, node, seed, budget, &mut state)?;
    Ok(state.finish())
}

/// Arrays end in a mark of their own, so that no two different values write the same.
fn hash_into<'a, I: Instance<'a>>(
    instance: &mut I,
    node: I::Node,
    seed: &RandomState,
    budget: &mut Budget,
    state: &mut AHasher,
) -> Result<(), Halt> {
    budget.spend(1)?;
    match instance.view(node)? {
        View::Null => state.write_u8(0),
        View::Bool(is) => state.write_u8(1 + u8::from(is)),
        View::Number(number) => {
            state.write_u8(3);
            number.hash_into(state);
        }
        View::String(text) => {
            budget.spend(text.raw_bytes() as u64 / 16)?;
            state.write_u8(4);
            text.hash_into(state);
        }
        View::Array => {
            budget.deeper()?;
            state.write_u8(5);
            let mut at = instance.elements(node);
            while let Some(element) = instance.next_element(&mut at)? {
                hash_into(instance, element, seed, budget, state)?;
            }
            state.write_u8(6);
            budget.depth += 1;
        }
        View::Object => {
            budget.deeper()?;
            state.write_u8(7);
            // The sum of the members' hashes is the same in any order.
            let mut sum = 0_u64;
            let mut at = instance.members(node);
            while let Some(member) = instance.next_member(&mut at)? {
                let mut state = seed.build_hasher();
                member.name.hash_into(&mut state);
                hash_into(instance, member.value, seed, budget, &mut state)?;
                sum = sum.wrapping_add(state.finish());
            }
            state.write_u64(sum);
            budget.depth += 1;
        }
        View::NotJson(_) => return Err(Halt::Unreadable),
    }
    Ok(())
}
