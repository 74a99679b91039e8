//! Integration tests: the library as a host sees it.
//!
//! One binary, so that the peers are linked once. Its global allocator counts the allocations of each thread, which
//! costs the other tests little and lets any of them bound its memory.

mod alloc;
mod differential;
mod hosts;
mod instances;
mod numbers;
mod peers;
mod random;
mod schemas;
mod shrink;
mod verdict;
mod failures;
mod findings;
mod listings;
mod systems;
mod opcodes;
