//! Names of a schema, found by the names of an instance.
//!
//! A property table and an `enum` of strings ask the same question: which of these texts is that one? A text is
//! told from others by its [`TextKey`] (length, first and last eight bytes), which for texts of up to 16 bytes is
//! the text itself, so that most look-ups compare no bytes. A [`NameIndex`] leads from a key to the place of the
//! name: one multiplication, one slot, rarely a second.

/// What tells texts apart: equal texts have equal keys, and equal keys of up to [`TextKey::WHOLE_BYTES`] are equal
/// texts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TextKey {
    head: u64,
    tail: u64,
    len: u32,
}

impl TextKey {
    /// Up to this length a key holds every byte of its text.
    pub const WHOLE_BYTES: usize = 16;

    /// The key of a text. Cost: constant.
    #[inline(always)]
    #[allow(clippy::inline_always)] // a dozen instructions, wanted in registers
    pub fn of(text: &str) -> TextKey {
        let bytes = text.as_bytes();
        let len = bytes.len() as u32;
        if let (Some(head), Some(tail)) = (bytes.first_chunk::<8>(), bytes.last_chunk::<8>()) {
            return TextKey { head: u64::from_le_bytes(*head), tail: u64::from_le_bytes(*tail), len };
        }
        // Shorter texts fit the head: two overlapping halves, or their three bytes.
        let head = match (bytes.first_chunk::<4>(), bytes.last_chunk::<4>()) {
            (Some(first), Some(last)) => {
                u64::from(u32::from_le_bytes(*first)) | u64::from(u32::from_le_bytes(*last)) << 32
            }
            _ => match bytes {
                [] => 0,
                [first, ..] => {
                    let (middle, last) = (bytes[bytes.len() / 2], bytes[bytes.len() - 1]);
                    u64::from(*first) | u64::from(middle) << 8 | u64::from(last) << 16
                }
            },
        };
        TextKey { head, tail: 0, len }
    }

    /// Length of the text. Unit: bytes.
    pub fn text_bytes(self) -> usize {
        self.len as usize
    }

    /// Whether the key holds every byte of its text.
    #[inline]
    pub fn is_whole(self) -> bool {
        self.len as usize <= Self::WHOLE_BYTES
    }

    /// A hash of the key under a secret: not strong, and nothing but time depends on it.
    #[inline]
    pub(crate) fn mix(self, secret: u64) -> u64 {
        let product = u128::from(self.head ^ secret) * u128::from(self.tail.rotate_left(32) ^ !secret);
        (product as u64 ^ (product >> 64) as u64).wrapping_add(u64::from(self.len)).wrapping_mul(MULTIPLIERS[0])
    }

    #[inline]
    fn slot(self, multiplier: u64) -> u64 {
        (self.head ^ self.tail.rotate_left(23) ^ u64::from(self.len) << 56).wrapping_mul(multiplier)
    }
}

/// Odd numbers with bits all over; the one that spreads a table's names best is taken.
const MULTIPLIERS: [u64; 8] = [
    0x9e37_79b9_7f4a_7c15,
    0xc2b2_ae3d_27d4_eb4f,
    0x1656_67b1_9e37_79f9,
    0xff51_afd7_ed55_8ccd,
    0xc4ce_b9fe_1a85_ec53,
    0xd6e8_feb8_6659_fd93,
    0xa076_1d64_78bd_642f,
    0xe703_7ed1_a0b4_28db,
];

/// From the key of a name to its place in a list of names.
///
/// Shape: a power of two of slots, at least twice as many as names; each holds a place or is empty, and a place lies
/// in the first free slot from where its key points, at most `PROBES_MAX` slots on. So a search ends at an empty slot.
/// Names made to crowd into one slot (the multipliers are no secret, since the unit may not depend on one) are sorted
/// instead, and searched by halves.
#[derive(Clone, Debug, Default)]
pub struct NameIndex {
    slots: Vec<u32>,
    multiplier: u64,
    shift: u32,
    /// The slots are the places in the order of their names.
    sorted: bool,
    /// How many names it was made of.
    names: u32,
}

/// How far from where its key points a place may lie. Unit: slots.
const PROBES_MAX: usize = 32;

const EMPTY: u32 = u32::MAX;

/// How [`NameIndex::spread`] says that names are sorted.
const SPREAD_SORTED: u8 = MULTIPLIERS.len() as u8;

/// Slots for so many names, as a power of two.
fn slot_bits(names: usize) -> u32 {
    (2 * names).next_power_of_two().trailing_zeros().max(1)
}

/// A name in a list that an index leads into.
pub trait Keyed {
    /// Its key.
    fn key(&self) -> TextKey;
}

impl NameIndex {
    /// Indexes names by their keys, in order; `text` spells one out. Cost: linear, or a sort of names that crowd.
    pub fn new<'t, T: Keyed>(names: &[T], text: impl Fn(&T) -> &'t str) -> NameIndex {
        Self::hashed(names).unwrap_or_else(|| Self::sorted(names, text))
    }

    /// How the names are spread, as one byte: the multiplier's number, or that they are sorted. With the names this is all
    /// of the index, see [`of_spread`](Self::of_spread).
    pub(crate) fn spread(&self) -> u8 {
        let number = MULTIPLIERS.iter().position(|multiplier| *multiplier == self.multiplier);
        if self.sorted { SPREAD_SORTED } else { number.unwrap_or(0) as u8 }
    }

    /// The index of names that are spread so. `None` where there is no such spread, names crowd under it, or one stands twice.
    /// Cost: as [`new`](Self::new), without the search for the best multiplier.
    pub(crate) fn of_spread<'t, T: Keyed>(names: &[T], text: impl Fn(&T) -> &'t str, spread: u8) -> Option<NameIndex> {
        if spread == SPREAD_SORTED {
            let index = Self::sorted(names, &text);
            let same = |pair: &[u32]| text(&names[pair[0] as usize]) == text(&names[pair[1] as usize]);
            return (!index.slots.windows(2).any(same)).then_some(index);
        }
        Self::hashed_by(names, *MULTIPLIERS.get(usize::from(spread))?, |a, b| text(a) == text(b))
    }

    fn sorted<'t, T: Keyed>(names: &[T], text: impl Fn(&T) -> &'t str) -> NameIndex {
        let mut slots: Vec<u32> = (0..names.len() as u32).collect();
        slots.sort_unstable_by_key(|at| text(&names[*at as usize]));
        NameIndex { slots, sorted: true, names: names.len() as u32, ..NameIndex::default() }
    }

    /// The index by hash, unless names crowd. That names differ is the caller's to know.
    fn hashed<T: Keyed>(names: &[T]) -> Option<NameIndex> {
        Self::hashed_by(names, best_multiplier(names, 64 - slot_bits(names.len())), |_, _| false)
    }

    /// The index by hash, unless names crowd, or one of the same key is the `same`.
    fn hashed_by<T: Keyed>(names: &[T], multiplier: u64, same: impl Fn(&T, &T) -> bool) -> Option<NameIndex> {
        let bits = slot_bits(names.len());
        let slots = vec![EMPTY; 1 << bits];
        let mut index = NameIndex { slots, multiplier, shift: 64 - bits, sorted: false, names: names.len() as u32 };
        let mut places = names.iter().enumerate();
        let differs = |name: &T, other: u32| {
            let other = &names[other as usize];
            name.key() != other.key() || !same(name, other)
        };
        places.all(|(at, name)| index.insert(name.key(), at as u32, |other| differs(name, other))).then_some(index)
    }

    /// Puts a place into the first free slot from where its key points; answers whether there is one near enough, and all
    /// places before it pass the test. There are twice as many slots as names, so a search for what is not there ends.
    fn insert(&mut self, key: TextKey, at: u32, passes: impl Fn(u32) -> bool) -> bool {
        let mask = self.slots.len() - 1;
        let first = (key.slot(self.multiplier) >> self.shift) as usize;
        for slot in first..first + PROBES_MAX {
            match &mut self.slots[slot & mask] {
                free if *free == EMPTY => {
                    *free = at;
                    return true;
                }
                other if !passes(*other) => return false,
                _ => {}
            }
        }
        false
    }

    /// The one of `names` that is `sought`, and its place. `text` spells one out, which is asked for only where the key is
    /// not the whole text. Cost: constant, or the logarithm of names that crowd.
    #[inline(always)]
    #[allow(clippy::inline_always)] // a few instructions; profiled as a call otherwise
    pub(crate) fn find<'n, 't, T: Keyed>(
        &self,
        sought: &str,
        names: &'n [T],
        text: impl Fn(&T) -> &'t str,
    ) -> Option<(usize, &'n T)> {
        if self.sorted {
            return self.find_sorted(sought, names, text);
        }
        let key = TextKey::of(sought);
        let slots = self.slots.as_slice();
        let mut slot = (key.slot(self.multiplier) >> self.shift) as usize;
        loop {
            // An empty slot is beyond every list.
            let at = *slots.get(slot & slots.len().wrapping_sub(1))? as usize;
            let name = names.get(at)?;
            let other = name.key();
            let equal = (key.head ^ other.head) | (key.tail ^ other.tail) | u64::from(key.len ^ other.len) == 0;
            if equal && (key.is_whole() || text(name) == sought) {
                return Some((at, name));
            }
            slot += 1;
        }
    }

    #[cold]
    fn find_sorted<'n, 't, T: Keyed>(
        &self,
        sought: &str,
        names: &'n [T],
        text: impl Fn(&T) -> &'t str,
    ) -> Option<(usize, &'n T)> {
        let slot = self.slots.binary_search_by(|at| names.get(*at as usize).map_or("", &text).cmp(sought)).ok()?;
        let at = self.slots[slot] as usize;
        Some((at, names.get(at)?))
    }

    /// Whether the index was made of so many names. What it was made of leads to its own places, and searches end: see
    /// [`insert`](Self::insert).
    pub(crate) fn is_of(&self, len: usize) -> bool {
        self.names == len as u32
    }

    /// Bytes that the index takes.
    pub(crate) fn memory(&self) -> usize {
        self.slots.len() * size_of::<u32>()
    }
}

/// Larger tables take the first multiplier. Unit: names.
const SPREAD_MAX: usize = 64;

/// The first multiplier under which the names lie nearest to where their keys point.
fn best_multiplier<T: Keyed>(names: &[T], shift: u32) -> u64 {
    let mut best = MULTIPLIERS[0];
    let mut least = u32::MAX;
    if names.len() <= SPREAD_MAX {
        for multiplier in MULTIPLIERS {
            let steps = steps_under(names, multiplier, shift, least);
            if steps < least {
                (best, least) = (multiplier, steps);
            }
            if least == 0 {
                break;
            }
        }
    }
    best
}

/// How far all names together lie from where their keys point; counted no further than `enough`. The slots are tried
/// out as bits: twice [`SPREAD_MAX`] of them.
fn steps_under<T: Keyed>(names: &[T], multiplier: u64, shift: u32, enough: u32) -> u32 {
    let mask = (1 << (64 - shift)) - 1;
    let mut taken = 0u128;
    let mut steps = 0;
    for name in names {
        let mut slot = (name.key().slot(multiplier) >> shift) as u32;
        while taken >> slot & 1 == 1 {
            slot = (slot + 1) & mask;
            steps += 1;
        }
        if steps >= enough {
            break;
        }
        taken |= 1 << slot;
    }
    steps
}

const _: () = assert!(2 * SPREAD_MAX <= u128::BITS as usize);

#[cfg(test)]
mod tests {
    use super::*;

    impl Keyed for &'static str {
        fn key(&self) -> TextKey {
            TextKey::of(self)
        }
    }

    #[test]
    fn short_keys_are_their_texts() {
        let texts = ["", "a", "b", "ab", "ba", "aab", "aba", "abcd", "abcdabcd", "abcdefghabcdefgh", "name", "nameX"];
        for a in texts {
            for b in texts {
                assert_eq!(TextKey::of(a) == TextKey::of(b), a == b, "{a} {b}");
            }
        }
    }

    #[track_caller]
    fn check(names: impl Iterator<Item = String>) -> NameIndex {
        let names: Vec<&'static str> = names.map(|name| &*name.leak()).collect();
        let names = names.as_slice();
        let index = NameIndex::new(names, |name| *name);
        assert!(index.is_of(names.len()) && !index.is_of(names.len() + 1));
        let again = NameIndex::of_spread(names, |name| *name, index.spread()).expect("the spread is known");
        assert_eq!((again.slots, again.sorted), (index.slots.clone(), index.sorted));
        for (at, name) in names.iter().enumerate() {
            assert_eq!(index.find(name, names, |name| *name).map(|(at, _)| at), Some(at));
        }
        assert!(index.find("no such name", names, |name| *name).is_none());
        index
    }

    #[test]
    fn every_name_is_found_and_no_other() {
        for len in [0, 1, 2, 3, 16, 100, 5_000] {
            check((0..len).map(|at| format!("a name of some length, number {at} of them")));
        }
    }

    #[test]
    fn a_name_that_stands_twice_is_noticed() {
        let names = ["a", "b", "a", "a name that is longer than its key", "a name that is longer than its key"];
        for len in [3, 5] {
            for spread in 0..=SPREAD_SORTED {
                assert!(NameIndex::of_spread(&names[..len], |name| *name, spread).is_none());
            }
        }
        assert!(NameIndex::of_spread(&names[1..4], |name| *name, 0).is_some());
        assert!(NameIndex::of_spread(&names, |name| *name, SPREAD_SORTED + 1).is_none());
    }

    /// Names of one slot under every multiplier, and names of one key: found, by halves.
    #[test]
    fn names_that_crowd_are_sorted() {
        let of_one_slot = |at: u64| {
            let tail: [u8; 8] = std::array::from_fn(|byte| b'@' + 2 * (at >> (4 * byte) & 15) as u8);
            let head = (u64::from_le_bytes(*b"@@@@@@@@") ^ u64::from_le_bytes(tail).rotate_left(23)).to_le_bytes();
            String::from_utf8([head, tail].concat()).expect("ASCII")
        };
        assert!(check((0..2_000).map(of_one_slot)).sorted);
        assert!(check((0..2_000).map(|at| format!("the same {at:04} the same"))).sorted);
        assert!(!check((0..20).map(of_one_slot)).sorted);
    }
}
