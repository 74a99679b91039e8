//! Evaluated sets: which members or elements of an instance some keyword has looked at, as bits in scratch.

use super::{Machine, Sink, Track};
use crate::instance::Instance;

impl<'a, I: Instance<'a>, S: Sink<'a, I>> Machine<'_, 'a, I, S> {
    pub(super) fn push_set(&mut self, words: u32) {
        let at = self.scratch.bits.len() as u32;
        self.scratch.bits.resize((at + words) as usize, 0);
        self.track = Track { at, words };
    }

    /// Adds the set that starts at `from` to `into`.
    pub(super) fn join_set(&mut self, into: Track, from: u32) {
        let (low, high) = self.scratch.bits.split_at_mut(from as usize);
        let words = into.words as usize;
        if let (Some(into), Some(from)) = (low.get_mut(into.at as usize..into.at as usize + words), high.get(..words)) {
            for (into, from) in into.iter_mut().zip(from) {
                *into |= from;
            }
        }
    }

    pub(super) fn mark(&mut self, at: u32) {
        if at / 64 < self.track.words {
            self.scratch.bits[(self.track.at + at / 64) as usize] |= 1 << (at % 64);
        }
    }

    pub(super) fn is_marked(&self, at: u32) -> bool {
        at / 64 < self.track.words && self.scratch.bits[(self.track.at + at / 64) as usize] >> (at % 64) & 1 == 1
    }
}
