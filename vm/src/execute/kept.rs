//! Verdicts kept by block and instance (`call_memo`), and the search for equal elements.

use super::{Flow, MEMO_JUDGE, MEMO_LENIENT, MEMO_TOP, MEMO_UNION, Machine, Sink, Step1, Track, verdict};
use crate::equal;
use crate::failure::FaultCode;
use crate::insn::{Flags, Target};
use crate::instance::{Halt, Instance, View};
use crate::memo::{Known, MemoKey};

/// Arrays of up to so many elements have each hashed and compared with those before it. Unit: elements.
const FEW_ELEMENTS: usize = 16;

/// Arrays of up to so many scalars have each compared with those before it, unhashed. Unit: elements.
const FEW_SCALARS: usize = 8;

impl<'a, I: Instance<'a>, S: Sink<'a, I>> Machine<'_, 'a, I, S> {
    /// The key of this call. The same before the block runs and after it: the union that is opened for a block only
    /// is one where a union was open anyway.
    pub(super) fn memo_key(&self, target: Target) -> Option<MemoKey> {
        let mode = match (self.collecting(), self.sink.in_union()) {
            (false, _) if self.is_lenient() => MEMO_LENIENT,
            (false, _) => MEMO_JUDGE,
            (true, true) => MEMO_UNION,
            (true, false) => MEMO_TOP,
        };
        Some(MemoKey { pc: target.pc(), mode, node: self.instance.identity(self.node)? })
    }

    /// What is known already: it passes, or it fails with what it said then.
    pub(super) fn recall(&mut self, flags: Flags, key: MemoKey) -> Option<Flow> {
        let known = self.scratch.memo.get(key)?;
        if known.passed {
            // What was noted is noted again: the branch that noted it may have been dropped.
            if key.mode == MEMO_LENIENT && known.fold != 0 {
                return None;
            }
            if flags.has(Flags::TRACK) {
                self.recall_set(known.bits_at);
            }
            return Some(Flow::Next);
        }
        match key.mode {
            MEMO_UNION => self.sink.add_kept(known.fold),
            // Listed again, as long as there is room: each run adds to the list, so this ends.
            MEMO_TOP if !self.sink.is_full() => return None,
            _ => {}
        }
        Some(Flow::Fail)
    }

    pub(super) fn recall_set(&mut self, bits_at: u32) {
        let Track { at, words } = self.track;
        let from = self.scratch.memo.bits.get(bits_at as usize..bits_at as usize + words as usize);
        let into = self.scratch.bits.get_mut(at as usize..at as usize + words as usize);
        // Both are there, and of one instance, in all that the compiler makes.
        for (into, from) in into.into_iter().flatten().zip(from.into_iter().flatten()) {
            *into |= from;
        }
    }

    /// Keeps the evaluated set that starts at `from`, for [`recall_set`](Self::recall_set).
    /// Errors: the sets kept take more words than verdicts may be kept.
    pub(super) fn keep_set(&mut self, from: u32, words: u32) -> Result<(), Halt> {
        if self.scratch.memo.bits.len() as u64 + u64::from(words) > self.bounds.memo_max {
            return Err(Halt::Fault(FaultCode::Memo));
        }
        let set = from as usize..(from + words) as usize;
        self.scratch.memo.bits.extend_from_slice(&self.scratch.bits[set]);
        Ok(())
    }

    /// Keeps the verdict of the block that has run. `noted_len`: how many names were noted before.
    pub(super) fn call_memo_done(&mut self, flags: Flags, target: Target, passed: bool, noted_len: u32) -> Step1 {
        if let Some(key) = self.memo_key(target) {
            let fold = match key.mode {
                MEMO_UNION => self.sink.keep_union(),
                MEMO_LENIENT => u32::from(self.sink.noted_len() > noted_len),
                _ => 0,
            };
            let kept = if flags.has(Flags::TRACK) && passed { self.track.words } else { 0 };
            let bits_at = self.scratch.memo.bits.len() as u32 - kept;
            self.scratch.memo.insert(key, Known { passed, bits_at, fold }, self.bounds.memo_max)?;
        }
        Ok(verdict(Some(passed)))
    }
}

impl<'a, I: Instance<'a>, S: Sink<'a, I>> Machine<'_, 'a, I, S> {
    /// Whether two of few scalars are equal; `None` where there are more, or others. A fuel each and per
    /// 16 bytes, and nothing where there is no answer.
    pub(super) fn has_equal_scalars(&mut self) -> Result<Option<bool>, Halt> {
        let mut at = self.instance.elements(self.node);
        let mut few = [View::Null; FEW_SCALARS];
        let (mut len, mut cost) = (0, 0);
        while let Some(element) = self.instance.next_element(&mut at)? {
            let scalar = self.instance.view(element)?;
            if len == few.len() || matches!(scalar, View::Array | View::Object | View::NotJson(_)) {
                return Ok(None);
            }
            let earlier = &few[..len];
            cost += 1 + scalar.bytes() as u64 / 16;
            if earlier.iter().any(|other| equal::equal_scalars(*other, scalar)) {
                self.spend(cost)?;
                return Ok(Some(true));
            }
            few[len] = scalar;
            len += 1;
        }
        self.spend(cost)?;
        Ok(Some(false))
    }

    /// Whether two of few elements are equal, without memory of their own; `None` where there are more.
    pub(super) fn has_equal_among_few(&mut self) -> Result<Option<bool>, Halt> {
        let mut at = self.instance.elements(self.node);
        let mut few: [Option<(u64, I::Node)>; FEW_ELEMENTS] = [None; FEW_ELEMENTS];
        let mut len = 0;
        while let Some(element) = self.instance.next_element(&mut at)? {
            if len == few.len() {
                return Ok(None);
            }
            let mut budget = self.budget();
            let hash = equal::hash(self.instance, element, &self.scratch.seed, &mut budget)?;
            for (_, earlier) in few[..len].iter().flatten().filter(|(other, _)| *other == hash) {
                if self.instance.equal(*earlier, element, &mut budget)? {
                    self.fuel = budget.fuel;
                    return Ok(Some(true));
                }
            }
            self.fuel = budget.fuel;
            few[len] = Some((hash, element));
            len += 1;
        }
        Ok(Some(false))
    }

    /// Whether two elements are equal: by sorting hashes, then comparing where they meet.
    pub(super) fn has_equal_elements(&mut self, from: usize) -> Result<bool, Halt> {
        let mut at = self.instance.elements(self.node);
        self.scratch.hashes.clear();
        let mut budget = self.budget();
        while let Some(element) = self.instance.next_element(&mut at)? {
            let hash = equal::hash(self.instance, element, &self.scratch.seed, &mut budget)?;
            let nodes = &mut self.stack()?.nodes;
            let at = (nodes.len() - from) as u32;
            nodes.push(element);
            self.scratch.hashes.push((hash, at));
        }
        self.fuel = budget.fuel;
        self.scratch.hashes.sort_unstable();
        for later in 1..self.scratch.hashes.len() {
            let (hash, element) = self.scratch.hashes[later];
            for earlier in (0..later).rev() {
                let (other_hash, other) = self.scratch.hashes[earlier];
                if other_hash != hash {
                    break;
                }
                let nodes = &self.stack()?.nodes;
                let nodes = (nodes[from + element as usize], nodes[from + other as usize]);
                let mut budget = self.budget();
                let same = self.instance.equal(nodes.0, nodes.1, &mut budget);
                self.fuel = budget.fuel;
                if same? {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }
}
