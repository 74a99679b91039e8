//! Every bound of the machine and of the compiler, with its unit and reason, in one place.
//!
//! All have defaults here and are set by name ([`Limits::set`]); [`CEILINGS`](Limits::set) keep what the code
//! itself relies on.

/// Nesting above which no depth limit can be set: comparing, hashing and printing a value recurse, and their
/// frames must fit the smallest stack a host's thread is likely to have (512 KiB). Unit: levels.
pub const DEPTH_CEILING: u32 = 1_024;

/// Frames of the machine at once; what a depth-limited call of a compiled schema needs is far below. Unit: frames.
pub const FRAMES_MAX: usize = 1 << 18;

/// Blocks that run inside each other on the thread's own stack, before frames take over. A test
/// runs them, in a build of little optimisation, on a thread of 256 KiB. Unit: blocks.
pub const NESTED_MAX: u32 = 64;

/// Longer blocks are never told at a look. Unit: instructions. Reason: what is unclear in the end is judged again.
pub const LOOK_OPS_MAX: usize = 8;

/// Explaining asks the judging code about a child first, down to this depth: a failing value is judged again for each
/// level above it. Unit: containers around the object or array that holds the child.
pub const JUDGED_FIRST_DEPTH_MAX: u32 = 4;

/// Bytes of a dense automaton kept in a unit; a larger one costs more cache than it saves time.
pub const DFA_BYTES_MAX: usize = 64 << 10;

/// Memory for building an automaton before the compiler falls back to the NFA. Unit: bytes.
pub const DFA_BUILD_BYTES_MAX: usize = 1 << 20;

/// Memory of a pattern's NFA; above it the pattern is a finding. Unit: bytes.
pub const NFA_BYTES_MAX: usize = 2 << 20;

/// Steps of the backtracking engine for one search, then a fault. Unit: steps.
pub const BACKTRACKING_STEPS_MAX: usize = 1_000_000;

/// Pieces of a pattern that needs no engine, of which a literal is one a character. Unit: pieces.
pub const PIECES_MAX: usize = 64;

/// What `pattern_bytes_max` can be set to at most. Unit: bytes.
pub const PATTERN_BYTES_CEILING: u64 = 1 << 20;

/// Patterns of a compiled file that have to be built when it is loaded, since only their sources are in it: look-around,
/// back-references, and what is too large for a dense automaton. Reason: building one can take ten milliseconds, however
/// short its source, and whoever made the file does not pay for it. Unit: patterns.
pub const REBUILT_PATTERNS_MAX: usize = 256;

/// The limits of a catalog. Health limits are findings and the tool still compiles; hard limits keep it from
/// compiling; call limits end a call with a fault.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Health: compact, sorted, ASCII size of one schema. Unit: bytes. Reason: providers send it with every request.
    pub schema_bytes_healthy: u64,
    /// Health: containers inside containers. Unit: levels.
    pub schema_depth_healthy: u64,
    /// Health: sum of the lengths of all `properties`. Unit: properties.
    pub properties_healthy: u64,
    /// Hard: source size of one schema. Unit: bytes.
    pub schema_bytes_max: u64,
    /// Hard: containers inside containers of one schema. Unit: levels.
    pub schema_depth_max: u64,
    /// Hard: subschemas of one tool. Unit: subschemas.
    pub subschemas_max: u64,
    /// Hard: one pattern. Unit: bytes.
    pub pattern_bytes_max: u64,
    /// Hard: one compiled unit. Unit: bytes.
    pub unit_bytes_max: u64,
    /// Call: text of the arguments. Unit: bytes.
    pub call_bytes_max: u64,
    /// Call: containers inside containers. Unit: levels.
    pub call_depth_max: u64,
    /// Call: work of one run of the machine. Unit: fuel.
    pub call_fuel_max: u64,
    /// Call: verdicts kept by block and instance. Unit: entries.
    pub call_memo_max: u64,
    /// Call: failures that are listed; the line is not affected. Unit: failures.
    pub failures_max: u64,
    /// Call: text of one rendering. Unit: bytes.
    pub text_bytes_max: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            schema_bytes_healthy: 65_536,
            schema_depth_healthy: 32,
            properties_healthy: 512,
            schema_bytes_max: 4 << 20,
            schema_depth_max: 1_024,
            subschemas_max: 50_000,
            pattern_bytes_max: 16 << 10,
            unit_bytes_max: 16 << 20,
            call_bytes_max: 16 << 20,
            call_depth_max: 256,
            call_fuel_max: 10_000_000,
            call_memo_max: 1 << 20,
            failures_max: 1_000,
            text_bytes_max: 64 << 10,
        }
    }
}

/// A limit's name, what it bounds, and the largest value it takes.
type Row = (&'static str, fn(&mut Limits) -> &mut u64, u64);

/// The limits by name. The ceilings are what offsets of 32 bits and bounded recursion allow.
const ROWS: [Row; 14] = [
    ("schema_bytes_healthy", |l| &mut l.schema_bytes_healthy, u64::MAX),
    ("schema_depth_healthy", |l| &mut l.schema_depth_healthy, u64::MAX),
    ("properties_healthy", |l| &mut l.properties_healthy, u64::MAX),
    ("schema_bytes_max", |l| &mut l.schema_bytes_max, 1 << 30),
    ("schema_depth_max", |l| &mut l.schema_depth_max, DEPTH_CEILING as u64),
    // An index into `prefixItems` must fit the middle operand of a word.
    ("subschemas_max", |l| &mut l.subschemas_max, u16::MAX as u64),
    ("pattern_bytes_max", |l| &mut l.pattern_bytes_max, PATTERN_BYTES_CEILING),
    ("unit_bytes_max", |l| &mut l.unit_bytes_max, 1 << 28),
    ("call_bytes_max", |l| &mut l.call_bytes_max, 1 << 30),
    ("call_depth_max", |l| &mut l.call_depth_max, DEPTH_CEILING as u64),
    ("call_fuel_max", |l| &mut l.call_fuel_max, u64::MAX),
    ("call_memo_max", |l| &mut l.call_memo_max, 1 << 26),
    ("failures_max", |l| &mut l.failures_max, 1 << 20),
    ("text_bytes_max", |l| &mut l.text_bytes_max, 1 << 30),
];

/// Why a limit was not set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LimitError {
    /// There is no limit of that name.
    Unknown,
    /// The value is above what the limit takes.
    AboveCeiling(u64),
}

impl std::fmt::Display for LimitError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            LimitError::Unknown => {
                f.write_str("no such limit; there are ")?;
                Limits::names()
                    .enumerate()
                    .try_for_each(|(at, name)| write!(f, "{}{name}", if at == 0 { "" } else { ", " }))
            }
            LimitError::AboveCeiling(ceiling) => write!(f, "the limit can be at most {ceiling}"),
        }
    }
}

impl std::error::Error for LimitError {}

impl Limits {
    /// The names that [`set`](Self::set) takes.
    pub fn names() -> impl Iterator<Item = &'static str> {
        ROWS.iter().map(|row| row.0)
    }

    /// Sets a limit by name. Errors: an unknown name, a value above the ceiling.
    pub fn set(&mut self, name: &str, value: u64) -> Result<(), LimitError> {
        let row = ROWS.iter().find(|row| row.0 == name).ok_or(LimitError::Unknown)?;
        if value > row.2 {
            return Err(LimitError::AboveCeiling(row.2));
        }
        *row.1(self) = value;
        Ok(())
    }

    /// The first limit of calls that allows more here than there: its name, and both values.
    pub fn beyond_in_calls(&self, most: &Limits) -> Option<(&'static str, u64, u64)> {
        let rows = Limits::names().zip(self.values().zip(most.values()));
        let is_of_calls = |name: &str| name.starts_with("call_") || ["failures_max", "text_bytes_max"].contains(&name);
        rows.map(|(name, (here, there))| (name, here, there))
            .find(|(name, here, there)| is_of_calls(name) && here > there)
    }

    /// The values, in the order of [`names`](Self::names).
    pub fn values(&self) -> impl Iterator<Item = u64> {
        let mut copy = self.clone();
        ROWS.iter().map(move |row| *row.1(&mut copy))
    }
}

const _: () = assert!(DEPTH_CEILING <= 1_024, "recursive helpers are sized for this depth");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn set_by_name() {
        let mut limits = Limits::default();
        assert_eq!(limits.set("call_depth_max", 100), Ok(()));
        assert_eq!(limits.call_depth_max, 100);
        assert_eq!(limits.set("call_depth_max", 2_000), Err(LimitError::AboveCeiling(1_024)));
        assert_eq!(limits.set("nope", 1), Err(LimitError::Unknown));
        assert_eq!(limits.beyond_in_calls(&Limits::default()), None);
        assert_eq!(limits.set("schema_bytes_max", 1 << 30), Ok(()));
        assert_eq!(limits.beyond_in_calls(&Limits::default()), None);
        assert_eq!(limits.set("failures_max", 1_001), Ok(()));
        assert_eq!(limits.beyond_in_calls(&Limits::default()), Some(("failures_max", 1_001, 1_000)));
        assert_eq!(Limits::names().count(), limits.values().count());
    }
}
