//! A part of a block, for who goes through the block himself ([`mod@crate::read`]).

use super::{Flow, Machine, Sink};
use crate::instance::{Halt, Instance};

impl<'a, I: Instance<'a>, S: Sink<'a, I>> Machine<'_, 'a, I, S> {
    /// Judges the whole instance by the instructions of one block from `pc` to before `end`: no further than the first that
    /// fails. They are such that what opens among them closes there too.
    pub(crate) fn run_part(&mut self, pc: u32, end: u32) -> Result<bool, Halt> {
        let base = self.frames_len();
        self.pc = pc;
        while self.pc != end || self.frames_len() != base {
            let mut flow = self.step()?;
            while let Flow::Fail | Flow::Leave = flow {
                let passed = flow == Flow::Leave;
                if self.frames_len() == base {
                    return Ok(passed);
                }
                flow = self.resume(passed)?;
            }
            match flow {
                Flow::Goto(pc) => self.pc = pc,
                Flow::Next => self.pc += 1,
                Flow::Entered | Flow::Fail | Flow::Leave => {}
            }
        }
        Ok(true)
    }
}
