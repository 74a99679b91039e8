//! Unions while something is noted that does not fail (names that are missing, or unknown): by which branch they pass.

use super::{Flow, Into, LoopState, Machine, Sink, Step1, Use};
use crate::insn::Target;
use crate::instance::Instance;
use crate::opcode::Opcode;

impl<'a, I: Instance<'a>, S: Sink<'a, I>> Machine<'_, 'a, I, S> {
    /// `any_of` and `one_of`, lenient.
    ///
    /// ```text
    /// round 1  each branch as it is    one passes (`one_of`: just one)  ->  the union passes, and there is nothing to note
    /// round 2  each branch, lenient    just one passes                  ->  it was meant; what it notes stays
    ///                                  none, or several                 ->  fails: nobody knows what is missing
    /// ```
    ///
    /// In the other branches something else is wrong: a tag, a type, a name too many. That is why a tag decides, and why
    /// nothing here needs to know what a tag is.
    ///
    /// Where unknown names are noticed the first branch that passes will do, in either round: that `one_of` passes by one
    /// alone has been found out where names are as they may be.
    pub(super) fn lenient_union_loop(
        &mut self,
        op: Opcode,
        list: u32,
        mut state: LoopState<'a, I>,
        mut passed: Option<bool>,
    ) -> Step1 {
        let unit = self.unit;
        let branches = unit.list(list);
        let len = branches.len();
        // `at` counts the branches run, over both rounds; `count` is how many passed, `seen` how many names were noted
        // before the branch that ran last.
        loop {
            let second = state.at as usize > len;
            match passed.take() {
                Some(true) => state.count += 1,
                Some(false) if second => self.sink.forget_noted(state.seen as u32),
                Some(false) | None => {}
            }
            let ended = state.at as usize == if second { 2 * len } else { len };
            match state.count {
                0 if second && ended => return Ok(Flow::Fail),
                0 => {}
                1 if ended || S::NOTICES || !second && op == Opcode::AnyOf => return Ok(Flow::Next),
                1 => {}
                _ => return Ok(Flow::Fail),
            }
            let Some(branch) = branches.get(state.at as usize).or(branches.get((state.at as usize).wrapping_sub(len)))
            else {
                return Ok(Flow::Fail);
            };
            self.spend(1)?;
            state.at += 1;
            state.seen = self.sink.noted_len().into();
            let use_ = if state.at as usize > len { Use::Failures } else { Use::Verdict };
            passed = self.apply(Target::from_bits(*branch), self.node, Into::Place, use_, &mut state)?;
            if passed.is_none() {
                return Ok(Flow::Entered);
            }
        }
    }
}
