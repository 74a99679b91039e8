//! The unit's strings while they are gathered: one text, each string once, in the order of first use.
//!
//! A table of slots finds a string by its hash; the strings themselves lie in the text alone. The hash is seeded, and
//! nothing of it reaches the unit.

use ahash::RandomState;
use callgate_vm::unit::StrId;

/// Strings, each once.
#[derive(Debug)]
pub(crate) struct StringPool {
    text: String,
    /// Where each string lies in the text.
    ranges: Vec<(u32, u32)>,
    /// Ids by hash, at most half full; a string whose slot is taken has the next that is free.
    slots: Vec<StrId>,
    state: RandomState,
}

impl StringPool {
    /// A pool that need not grow for so many strings of so many bytes.
    pub(crate) fn with_capacity(strings: usize, bytes: usize) -> StringPool {
        let slots = (2 * strings).next_power_of_two().max(16);
        StringPool {
            text: String::with_capacity(bytes),
            ranges: Vec::with_capacity(strings),
            slots: vec![StrId::NONE; slots],
            state: RandomState::new(),
        }
    }

    /// The string's id.
    pub(crate) fn add(&mut self, string: &str) -> StrId {
        let slot = match self.find(string) {
            Ok(id) => return id,
            Err(slot) => slot,
        };
        let start = self.text.len();
        self.text.push_str(string);
        self.enter(start, slot)
    }

    /// The id of the string that `write` appends.
    pub(crate) fn add_written(&mut self, write: impl FnOnce(&mut String)) -> StrId {
        let start = self.text.len();
        write(&mut self.text);
        match self.find(&self.text[start..]) {
            Ok(id) => {
                self.text.truncate(start);
                id
            }
            Err(slot) => self.enter(start, slot),
        }
    }

    /// Takes what is beyond `start` for a new string.
    fn enter(&mut self, start: usize, slot: usize) -> StrId {
        let id = StrId(self.ranges.len() as u32);
        self.ranges.push((start as u32, self.text.len() as u32));
        self.slots[slot] = id;
        if self.ranges.len() * 2 > self.slots.len() {
            self.grow();
        }
        id
    }

    /// The string of that id.
    pub(crate) fn get(&self, id: StrId) -> &str {
        let (start, end) = self.ranges[id.0 as usize];
        &self.text[start as usize..end as usize]
    }

    /// The text and the ranges.
    pub(crate) fn into_parts(self) -> (String, Vec<(u32, u32)>) {
        (self.text, self.ranges)
    }

    /// The id of a string that is there, or the slot for it.
    fn find(&self, string: &str) -> Result<StrId, usize> {
        let string = string.as_bytes();
        let mask = self.slots.len() - 1;
        let mut slot = self.state.hash_one(string) as usize & mask;
        loop {
            let id = self.slots[slot];
            if id == StrId::NONE {
                return Err(slot);
            }
            let (start, end) = self.ranges[id.0 as usize];
            if (end - start) as usize == string.len() && self.text.as_bytes()[start as usize..end as usize] == *string {
                return Ok(id);
            }
            slot = (slot + 1) & mask;
        }
    }

    fn grow(&mut self) {
        self.slots = vec![StrId::NONE; self.slots.len() * 2];
        for at in 0..self.ranges.len() as u32 {
            if let Err(slot) = self.find(self.get(StrId(at))) {
                self.slots[slot] = StrId(at);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_are_kept_once() {
        let mut pool = StringPool::with_capacity(0, 0);
        let names: Vec<String> = (0..100).map(|at| format!("name {at}")).collect();
        let ids: Vec<StrId> = names.iter().map(|name| pool.add(name)).collect();
        assert_eq!(ids, (0..100).map(StrId).collect::<Vec<_>>());
        for (name, id) in names.iter().zip(ids) {
            assert_eq!(pool.add(name), id);
            assert_eq!(pool.add_written(|text| text.push_str(name)), id);
            assert_eq!(pool.get(id), name);
        }
        assert_eq!(pool.add_written(|text| text.push_str("another")), StrId(100));
        let (text, ranges) = pool.into_parts();
        assert_eq!((text.len(), ranges.len()), (names.concat().len() + "another".len(), 101));
    }
}
