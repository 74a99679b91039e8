//! One thread's memory for checking calls.

use callgate_vm::explain::Explanation;
use callgate_vm::instance::Instance;
use callgate_vm::json_text::{JsonText, TextScratch};
use callgate_vm::limits::{FRAMES_MAX, Limits};
use callgate_vm::scratch::{Scratch, Stack};
use callgate_vm::tape::{TapeBuf, TapeInstance};
use callgate_vm::unit::Unit;
use callgate_vm::value::ValueInstance;

/// Memory that checks use again and again; one a thread.
///
/// Made by [`Catalog::session`](crate::Catalog::session) for calls of a size, it allocates what calls of that size
/// need; a larger call grows it once. A session is not tied to a catalog: after a refresh it goes on with the new one.
#[derive(Debug, Default)]
pub struct Session {
    pub(crate) text: TextScratch,
    pub(crate) scratch: Scratch,
    pub(crate) text_stack: Stack<'static, JsonText<'static, 'static>>,
    pub(crate) value_stack: Stack<'static, ValueInstance<'static>>,
    pub(crate) tape_stack: Stack<'static, TapeInstance<'static>>,
    pub(crate) tape: TapeBuf,
    pub(crate) explanation: Explanation,
    pub(crate) evaluation_paths: bool,
}

impl Session {
    /// An empty session: the first calls grow it.
    pub fn new() -> Self {
        Session::default()
    }

    /// Whether failures keep their evaluation path ([`Failure::evaluation_path`](crate::Failure::evaluation_path)).
    /// Off by default: it costs memory and time for each failure.
    pub fn keep_evaluation_paths(&mut self, keep: bool) {
        self.evaluation_paths = keep;
    }

    /// Allocates what calls of `call_bytes` to `units` need.
    pub(crate) fn reserve<'u>(&mut self, call_bytes: usize, limits: &Limits, units: impl Iterator<Item = &'u Unit>) {
        let depth = usize::try_from(limits.call_depth_max).unwrap_or(usize::MAX).min(call_bytes) + 1;
        let mut frames = 1;
        for unit in units {
            frames = frames.max(unit.frames_per_level() as usize);
            unit.patterns().for_each(|pattern| self.scratch.patterns().reserve(pattern));
            if unit.revisits() {
                self.scratch.reserve_memo(call_bytes);
            }
        }
        let frames = (frames + 1).saturating_mul(depth).min(FRAMES_MAX);
        let nodes = call_bytes / 2 + 1;
        self.text.reserve(call_bytes, depth);
        self.scratch.reserve(call_bytes);
        self.text_stack.reserve(frames, nodes);
        self.value_stack.reserve(frames, nodes);
        self.tape_stack.reserve(frames, nodes);
        self.tape.reserve(call_bytes, depth);
        let failures = usize::try_from(limits.failures_max).unwrap_or(usize::MAX).min(nodes);
        self.explanation.reserve(call_bytes, failures);
    }
}

/// A stack lent to one call, under the call's lifetimes.
pub(crate) fn lend<'a, 'b, I: Instance<'a>, J: Instance<'b>>(stack: &mut Stack<'a, I>) -> Stack<'b, J> {
    std::mem::take(stack).recycle()
}
