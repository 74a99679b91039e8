//! One thread's memory for checking calls.

use callgate_vm::explain::{Explanation, ExplanationSizes};
use callgate_vm::json_text::{JsonText, TextScratch};
use callgate_vm::limits::{FRAMES_MAX, Limits};
use callgate_vm::read::Reading;
use callgate_vm::scratch::{Scratch, StackOf};
use callgate_vm::tape::{TapeBuf, TapeInstance};
use callgate_vm::unit::{Requirements, Unit};
use callgate_vm::unknown::UnknownNames;
use callgate_vm::value::{ValueInstance, prepare};

/// Memory that checks use again and again; one a thread.
///
/// Made by [`Catalog::session`](crate::Catalog::session) for calls of a size, it allocates what calls of that size
/// need; a larger call grows it once. A session is not tied to a catalog: after a refresh it goes on with the new one.
#[derive(Debug, Default)]
pub struct Session {
    pub(crate) text: TextScratch,
    pub(crate) scratch: Scratch,
    pub(crate) text_stack: StackOf<'static, JsonText<'static, 'static>>,
    pub(crate) value_stack: StackOf<'static, ValueInstance<'static>>,
    pub(crate) tape_stack: StackOf<'static, TapeInstance<'static>>,
    pub(crate) tape: TapeBuf,
    pub(crate) explanation: Explanation,
    /// What was sent, where a lax reading has put its copy on the other tape.
    pub(crate) sent: TapeBuf,
    pub(crate) reading: Reading,
    pub(crate) unknown: UnknownNames,
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

    /// Lends the stack for values under the lifetime of the value at hand, which costs more than judging most calls.
    pub(crate) fn with_value_stack<'v, R>(
        &mut self,
        run: impl FnOnce(&mut Session, &mut StackOf<'v, ValueInstance<'v>>) -> R,
    ) -> R {
        let mut stack = std::mem::take(&mut self.value_stack).recycle();
        let result = run(self, &mut stack);
        self.value_stack = stack.recycle();
        result
    }

    /// Allocates what calls of `call_bytes` to `units` need, and what lax readings do where calls are judged by those.
    pub(crate) fn reserve<'u>(
        &mut self,
        call_bytes: usize,
        limits: &Limits,
        lax: bool,
        units: impl Iterator<Item = &'u Unit>,
    ) {
        // Calls beyond the limit are never read.
        let call_bytes = call_bytes.min(to_usize(limits.call_bytes_max));
        let mut need = Requirements { frames_per_level: 1, ..Requirements::default() };
        for unit in units {
            let other = unit.requirements();
            need.frames_per_level = need.frames_per_level.max(other.frames_per_level);
            need.kept = need.kept.max(other.kept);
            need.listing = need.listing.max(other.listing);
            unit.patterns().for_each(|pattern| self.scratch.patterns().reserve(pattern));
            unit.prepare_names();
        }
        let depth = to_usize(limits.call_depth_max).min(call_bytes) + 1;
        let frames = (need.frames_per_level + 1).saturating_mul(depth).min(FRAMES_MAX);
        // An element takes two bytes, a member five.
        let nodes = call_bytes / 2 + 16;
        // A block keeps a verdict for each of three ways of running it; few schemas bring every node to every block.
        let kept = (need.kept.min(KEPT_BLOCKS_MAX) * 3).saturating_mul(nodes).min(to_usize(limits.call_memo_max));
        prepare();
        self.text.reserve(call_bytes, depth);
        self.scratch.reserve(call_bytes, frames);
        if kept > 0 {
            self.scratch.reserve_memo(kept);
        }
        self.text_stack.reserve(frames, nodes);
        self.value_stack.reserve(frames, nodes);
        self.tape_stack.reserve(frames, nodes);
        self.tape.reserve(call_bytes, depth);
        // Field lines are of a reading; only a lax one writes values anew.
        self.reading.reserve(nodes, call_bytes, to_usize(limits.failures_max), lax);
        if lax {
            self.sent.reserve(call_bytes, depth);
        }
        self.explanation.reserve(ExplanationSizes {
            failures: to_usize(limits.failures_max),
            paths: 2 * nodes + PATHS_MORE,
            extras: nodes.saturating_mul(need.listing.min(LISTING_MAX)) + nodes,
            missing: to_usize(limits.failures_max),
            unions: frames,
            kept,
        });
    }
}

/// Blocks for which a session makes room to keep verdicts on every node; more grow it once.
const KEPT_BLOCKS_MAX: usize = 4;

/// Messages for which a session makes room to list every node; more grow it once.
const LISTING_MAX: usize = 16;

/// Locations beside one for each node: several keywords may look at one node.
const PATHS_MORE: usize = 4_096;

fn to_usize(limit: u64) -> usize {
    usize::try_from(limit).unwrap_or(usize::MAX)
}
