//! Calls counted by tool: how many passed, how many did not, and by which mistake.
//!
//! Counting is off until a catalog is told to ([`Catalog::count_calls`](crate::Catalog::count_calls)). Then an accepted call
//! adds one to a counter, and a rejected one finds its signature's counter in a table of fixed size. There is no lock and no
//! allocation; threads that call one tool share a line of memory.
//!
//! ```text
//! slot = signature mod 32, then the next ones      a free slot is taken by compare-and-swap and never given back
//! table full                                       counted as `other`
//! ```

use std::array;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

use serde::Serialize;

use crate::schema::Outcome;
use crate::signature;

/// Signatures that a tool tells apart; rejections of any others are counted together.
const SLOTS: usize = 32;

/// The counters of one tool. Catalogs that come from one another share those of tools that have not changed.
///
/// Each number is exact once no check is running; numbers read meanwhile may be of slightly different moments.
#[derive(Debug)]
pub(crate) struct Counts {
    accepted: AtomicU64,
    faults: AtomicU64,
    other: AtomicU64,
    slots: [Slot; SLOTS],
}

/// A signature and how often it was met.
#[derive(Debug, Default)]
struct Slot {
    /// None yet where it is 0.
    signature: AtomicU64,
    count: AtomicU64,
}

impl Default for Counts {
    fn default() -> Self {
        Counts {
            accepted: AtomicU64::new(0),
            faults: AtomicU64::new(0),
            other: AtomicU64::new(0),
            slots: array::from_fn(|_| Slot::default()),
        }
    }
}

impl Counts {
    /// Counts a check.
    #[inline(never)] // most catalogs do not count
    pub(crate) fn count(&self, outcome: &Outcome<'_>) {
        match outcome {
            Outcome::Accepted(_) => self.accepted.fetch_add(1, Relaxed),
            Outcome::Rejected(rejection) => self.of_signature(rejection.signature()).fetch_add(1, Relaxed),
            Outcome::Fault(_) => self.faults.fetch_add(1, Relaxed),
            Outcome::UnknownTool | Outcome::NotCompiled => 0,
        };
    }

    /// The counter of a signature.
    fn of_signature(&self, signature: u64) -> &AtomicU64 {
        // 0 is the mark of a free slot; the one signature in 2^64 that it would be is counted with the others.
        if signature == 0 {
            return &self.other;
        }
        let start = signature as usize % SLOTS;
        for slot in self.slots[start..].iter().chain(&self.slots[..start]) {
            let taken = match slot.signature.load(Relaxed) {
                0 => {
                    slot.signature.compare_exchange(0, signature, Relaxed, Relaxed).map_or_else(|by| by, |_| signature)
                }
                taken => taken,
            };
            if taken == signature {
                return &slot.count;
            }
        }
        &self.other
    }

    /// The counters as they are now.
    pub(crate) fn read(&self) -> ToolCounters {
        let slots = self
            .slots
            .iter()
            .map(|slot| SignatureCount { signature: slot.signature.load(Relaxed), count: slot.count.load(Relaxed) });
        let mut signatures: Vec<_> = slots.filter(|slot| slot.count > 0).collect();
        signatures.sort_unstable_by(|a, b| b.count.cmp(&a.count).then(a.signature.cmp(&b.signature)));
        let (accepted, faults, other) =
            (self.accepted.load(Relaxed), self.faults.load(Relaxed), self.other.load(Relaxed));
        let rejected = signatures.iter().map(|slot| slot.count).sum::<u64>() + other;
        ToolCounters { accepted, rejected, faults, signatures, other }
    }
}

/// What became of a tool's calls, as it was when it was asked.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct ToolCounters {
    /// Calls that were accepted.
    pub accepted: u64,
    /// Calls that were rejected: those of all signatures, and `other`.
    pub rejected: u64,
    /// Calls about which the gate declined to decide.
    pub faults: u64,
    /// Rejections by what was wrong, the most frequent first; at most 32, which are the first that were met.
    pub signatures: Vec<SignatureCount>,
    /// Rejections of further signatures.
    pub other: u64,
}

/// How often a tool's calls were rejected for one reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct SignatureCount {
    /// See [`Rejection::signature`](crate::Rejection::signature). Serialised as 16 hexadecimal digits.
    #[serde(serialize_with = "signature::as_hex")]
    pub signature: u64,
    /// Rejections.
    pub count: u64,
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;

    #[test]
    fn signatures_that_share_a_slot_are_told_apart() {
        let counts = Counts::default();
        let same_slot = [5, 5 + SLOTS as u64, 5 + 2 * SLOTS as u64];
        for (at, signature) in same_slot.into_iter().enumerate() {
            counts.of_signature(signature).fetch_add(at as u64 + 1, Relaxed);
        }
        let read: Vec<_> = counts.read().signatures.iter().map(|slot| (slot.signature, slot.count)).collect();
        assert_eq!(read, [(same_slot[2], 3), (same_slot[1], 2), (same_slot[0], 1)]);
    }

    #[test]
    fn more_signatures_than_slots_are_counted_together() {
        let counts = Counts::default();
        let all = SLOTS as u64 + 10;
        for signature in 0..=all {
            counts.of_signature(signature).fetch_add(1, Relaxed);
        }
        let read = counts.read();
        assert_eq!((read.signatures.len(), read.other, read.rejected), (SLOTS, 11, all + 1));
    }

    #[test]
    fn threads_lose_nothing() {
        const THREADS: u64 = 4;
        const EACH: u64 = 20_000;
        let counts = &Counts::default();
        thread::scope(|scope| {
            for thread in 0..THREADS {
                scope.spawn(move || {
                    for call in 0..EACH {
                        // More signatures than there is room for, met in another order by each thread.
                        let signature = (call * (2 * thread + 1)) % 48 + 1;
                        counts.of_signature(signature).fetch_add(1, Relaxed);
                    }
                });
            }
        });
        let read = counts.read();
        assert_eq!(read.rejected, THREADS * EACH);
        let mut signatures: Vec<u64> = read.signatures.iter().map(|slot| slot.signature).collect();
        signatures.sort_unstable();
        signatures.dedup();
        assert_eq!(signatures.len(), SLOTS);
        assert!(read.other > 0);
    }
}
