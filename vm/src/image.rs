//! Units as bytes: what a compiled catalog is made of.
//!
//! ```text
//! patterns   n, each: source │ engine ─ a shape, or a dense automaton as its crate writes it,
//!                            │           or nothing: to be built again from the source
//! units      n, each: length │ digest │ code │ text, strings │ numbers │ constants │ enumerations │ tagged unions
//!                            │ patterns, by number │ tables │ lists │ notes
//! ```
//!
//! Little-endian, without addresses; a count before each list, a length before each text. A unit stands there once, found
//! by its digest, and so does a pattern, by its source. The bytes depend on the units alone: the same units in the same
//! order give the same bytes.
//!
//! What can be made from the rest is not written, and so cannot contradict it: keys and places of names (a byte says how
//! they are spread), the tape of the constants, the doubles of decimals, how much memory calls take.
//!
//! Reading trusts nothing, and is done unit by unit, at the first use ([`Units`]). Counts are held against the bytes that are left before anything is allocated, and what comes
//! out goes through [`Unit::new`](crate::unit::Unit::new) like what the compiler makes. [`checksum`] tells a file that was
//! damaged; it does not tell one that was made to harm, and need not.
//!
//! Not here: the file around this (versions, tools, findings) is the facade's.

mod checksum;
mod patterns;
mod read;
mod wire;
mod write;

pub use checksum::checksum;
pub use patterns::{Rebuild, RebuildPattern};
pub use read::Units;
pub use wire::{BadImage, Reader, Writer};
pub use write::Image;
