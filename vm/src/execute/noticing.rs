//! Unions while unknown names are noticed: by which branch the instance passes.

use super::{Flow, Into, LoopState, Machine, Sink, Step1, Use};
use crate::insn::Target;
use crate::instance::Instance;

impl<'a, I: Instance<'a>, S: Sink<'a, I>> Machine<'_, 'a, I, S> {
    /// `any_of` and `one_of`, noticing.
    ///
    /// ```text
    /// round 1  each branch, unknown names forbidden   one passes  ->  the union passes, and there are none
    /// round 2  each branch, unknown names noted       one passes  ->  so does the union; its names stay noted
    /// ```
    ///
    /// That `one_of` passes by one branch alone has been found out where names are as they may be.
    pub(super) fn noticed_union_loop(
        &mut self,
        list: u32,
        mut state: LoopState<'a, I>,
        mut passed: Option<bool>,
    ) -> Step1 {
        let unit = self.unit;
        let branches = unit.list(list);
        let len = branches.len();
        // `at` counts the branches run, over both rounds; `seen` is how many names were noted before the last of them.
        loop {
            match passed.take() {
                Some(true) => return Ok(Flow::Next),
                Some(false) => self.sink.forget_unknown(state.seen as u32),
                None => {}
            }
            let Some(branch) = branches.get(state.at as usize).or(branches.get((state.at as usize).wrapping_sub(len)))
            else {
                return Ok(Flow::Fail);
            };
            self.spend(1)?;
            state.at += 1;
            state.seen = self.sink.unknown_len().into();
            let use_ = if state.at as usize > len { Use::Failures } else { Use::Verdict };
            passed = self.apply(Target::from_bits(*branch), self.node, Into::Place, use_, &mut state)?;
            if passed.is_none() {
                return Ok(Flow::Entered);
            }
        }
    }
}
