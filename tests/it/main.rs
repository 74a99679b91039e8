//! Integration tests: the library as a host sees it.
//!
//! One binary, so that the peers are linked once. Its global allocator counts the allocations of each thread, which
//! costs the other tests little and lets any of them bound its memory.

mod alloc;
mod bounds;
mod branches;
mod catalogs;
mod compiled;
mod corpus;
mod costs;
mod counters;
mod defects;
mod differential;
mod failures;
mod findings;
mod guided;
mod hostile;
mod hosts;
mod instances;
mod interplay;
mod listings;
mod missing;
mod numbers;
mod opcodes;
mod options;
mod peers;
mod portability;
mod random;
mod reading;
mod refresh;
mod regressions;
mod repair;
mod results;
mod schemas;
mod shrink;
mod subset;
mod systems;
mod verdict;
