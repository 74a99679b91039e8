//! Memory that a caller owns and every call uses again.
//!
//! [`Scratch`] holds what does not depend on the instance's type, [`Stack`] what does. Both are sized once; a call
//! within that size does not allocate.

use ahash::RandomState;

use crate::execute::Frame;
use crate::instance::Instance;
use crate::memo::Memo;
use crate::pattern::PatternScratch;
use crate::tape::reserve_total;

/// Memory of the machine that any instance can share.
#[derive(Debug, Default)]
pub struct Scratch {
    /// Evaluated sets, innermost last. Unit: 64 members or elements a word.
    pub(crate) bits: Vec<u64>,
    pub(crate) memo: Memo,
    /// Hash and index of the elements of an array.
    pub(crate) hashes: Vec<(u64, u32)>,
    pub(crate) patterns: PatternScratch,
    /// Seeds element hashes, per process.
    pub(crate) seed: RandomState,
}

impl Scratch {
    /// Allocates what calls of `bytes`, judged in at most so many frames, need of the parts every unit uses.
    pub fn reserve(&mut self, bytes: usize, frames: usize) {
        reserve_total(&mut self.hashes, bytes / 2 + 1);
        // Each open set has a bit for a member or element, rounded up to words.
        reserve_total(&mut self.bits, bytes / 64 + 2 * frames);
        self.patterns.reserve_text(bytes);
    }

    /// Allocates for so many verdicts kept.
    pub fn reserve_memo(&mut self, entries: usize) {
        self.memo.reserve(entries);
        reserve_total(&mut self.memo.bits, entries);
    }

    /// What the pattern engines keep.
    pub fn patterns(&mut self) -> &mut PatternScratch {
        &mut self.patterns
    }
}

/// Memory of the machine for one type of instance: its nodes, cursors of members, cursors of elements.
#[derive(Clone, Debug)]
pub struct Stack<N, M, E> {
    pub(crate) frames: Vec<Frame<N, M, E>>,
    /// Members that `properties` has found: index in the table, name, value; by index.
    pub(crate) slots: Vec<(u32, N, N)>,
    /// Elements under comparison.
    pub(crate) nodes: Vec<N>,
}

/// The [`Stack`] for an instance.
pub type StackOf<'a, I> = Stack<<I as Instance<'a>>::Node, <I as Instance<'a>>::Members, <I as Instance<'a>>::Elements>;

impl<N, M, E> Default for Stack<N, M, E> {
    fn default() -> Self {
        Stack { frames: Vec::new(), slots: Vec::new(), nodes: Vec::new() }
    }
}

impl<N, M, E> Stack<N, M, E> {
    /// Allocates for so many frames and nodes.
    pub fn reserve(&mut self, frames: usize, nodes: usize) {
        reserve_total(&mut self.frames, frames);
        reserve_total(&mut self.slots, nodes);
        reserve_total(&mut self.nodes, nodes);
    }

    pub(crate) fn clear(&mut self) {
        self.frames.clear();
        self.slots.clear();
        self.nodes.clear();
    }

    /// The same memory for nodes and cursors of another lifetime. Frames of one layout are collected in place, so
    /// nothing is allocated; the allocation tests would tell.
    pub fn recycle<N2, M2, E2>(mut self) -> Stack<N2, M2, E2> {
        self.clear();
        Stack { frames: recycle(self.frames), slots: recycle(self.slots), nodes: recycle(self.nodes) }
    }
}

fn recycle<T, U>(empty: Vec<T>) -> Vec<U> {
    debug_assert!(empty.is_empty());
    empty.into_iter().filter_map(|_| None).collect()
}
