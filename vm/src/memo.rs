//! Verdicts kept by block and instance, so that schemas whose arms meet again on one instance are judged in time
//! linear in the nodes instead of exponential in the depth.
//!
//! Insert-only and exact: an entry is found by its whole key. Only code whose call graph can come back to an
//! instance asks it (`call_memo`). Fuel counts look-ups; probes are hidden behind a seeded hash.

use std::hash::{BuildHasher, Hasher};

use ahash::RandomState;

use crate::failure::FaultCode;

/// What is known by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct MemoKey {
    pub(crate) pc: u32,
    /// Whether the run judged, collected inside a union or at the top, or forgave what is missing.
    pub(crate) mode: u8,
    pub(crate) node: u64,
}

/// What is known.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Known {
    pub(crate) passed: bool,
    /// Where the evaluated set lies in the memo's bits.
    pub(crate) bits_at: u32,
    /// What the run would add to the union around it: an id of the collecting sink. Where it forgave: 1 if something was.
    pub(crate) fold: u32,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    /// The call that wrote the entry; others' are free.
    call: u32,
    key: MemoKey,
    known: Known,
}

/// The table.
#[derive(Debug, Default)]
pub(crate) struct Memo {
    entries: Vec<Entry>,
    len: usize,
    call: u32,
    pub(crate) bits: Vec<u64>,
    hasher: RandomState,
}

const FREE: Entry =
    Entry { call: 0, key: MemoKey { pc: 0, mode: 0, node: 0 }, known: Known { passed: false, bits_at: 0, fold: 0 } };

impl Memo {
    /// Forgets the verdicts of the last call. Cost: constant, but once in 2^32 calls.
    pub(crate) fn clear(&mut self) {
        self.len = 0;
        self.bits.clear();
        self.call = self.call.wrapping_add(1);
        if self.call == 0 {
            self.entries.fill(FREE);
            self.call = 1;
        }
    }

    /// Allocates for `entries` verdicts.
    pub(crate) fn reserve(&mut self, entries: usize) {
        let slots = (entries * 2).next_power_of_two().max(16);
        if slots > self.entries.len() {
            self.grow(slots);
        }
    }

    pub(crate) fn get(&self, key: MemoKey) -> Option<Known> {
        if self.entries.is_empty() {
            return None;
        }
        let entry = &self.entries[self.find(key)];
        (entry.call == self.call).then_some(entry.known)
    }

    /// Errors: `entries_max` verdicts are kept already.
    pub(crate) fn insert(&mut self, key: MemoKey, known: Known, entries_max: u64) -> Result<(), FaultCode> {
        if self.len as u64 >= entries_max {
            return Err(FaultCode::Memo);
        }
        if (self.len + 1) * 2 > self.entries.len() {
            self.grow((self.entries.len() * 2).max(16));
        }
        let slot = self.find(key);
        if self.entries[slot].call != self.call {
            self.len += 1;
        }
        self.entries[slot] = Entry { call: self.call, key, known };
        Ok(())
    }

    /// The key's slot, or the free one where it belongs. There always is one: at most half are taken.
    fn find(&self, key: MemoKey) -> usize {
        let mask = self.entries.len() - 1;
        let mut state = self.hasher.build_hasher();
        state.write_u64(key.node);
        state.write_u64(u64::from(key.pc) << 8 | u64::from(key.mode));
        let mut slot = state.finish() as usize & mask;
        while self.entries[slot].call == self.call && self.entries[slot].key != key {
            slot = (slot + 1) & mask;
        }
        slot
    }

    fn grow(&mut self, slots: usize) {
        let old = std::mem::replace(&mut self.entries, vec![FREE; slots]);
        for entry in old {
            if entry.call == self.call && self.len > 0 {
                let slot = self.find(entry.key);
                self.entries[slot] = entry;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_until_cleared() {
        let mut memo = Memo::default();
        memo.clear();
        let key = |node| MemoKey { pc: 3, mode: 0, node };
        for node in 0..100 {
            let known = Known { passed: node % 2 == 0, bits_at: 0, fold: 0 };
            assert_eq!(memo.insert(key(node), known, 100), Ok(()));
        }
        assert_eq!(memo.get(key(7)).map(|known| known.passed), Some(false));
        assert_eq!(memo.get(key(8)).map(|known| known.passed), Some(true));
        assert!(memo.get(key(100)).is_none());
        let known = Known { passed: true, bits_at: 0, fold: 0 };
        assert_eq!(memo.insert(key(100), known, 100), Err(FaultCode::Memo));
        memo.clear();
        assert!(memo.get(key(7)).is_none());
    }
}
