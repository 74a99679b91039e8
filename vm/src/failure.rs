//! What a call did wrong, and why the gate may decline: both closed lists.
//!
//! A [`Record`] is how a failure is kept while a call is explained: numbers only, of fixed size. Its words are
//! in the unit's notes; [`crate::render`] brings the two together.

use crate::tape::Node;

/// Why the gate declined to decide; the call does not pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FaultCode {
    /// The work exceeds `call_fuel_max`.
    Fuel,
    /// Nesting exceeds `call_depth_max`.
    Depth,
    /// The text exceeds `call_bytes_max`.
    CallBytes,
    /// More verdicts would have to be kept than `call_memo_max`.
    Memo,
    /// A number has more digits or a larger exponent than is computed with.
    Number,
    /// A pattern with look-around or back-references took more steps than it may.
    Backtracking,
}

impl FaultCode {
    /// Every code.
    pub const ALL: [FaultCode; 6] = [
        FaultCode::Fuel,
        FaultCode::Depth,
        FaultCode::CallBytes,
        FaultCode::Memo,
        FaultCode::Number,
        FaultCode::Backtracking,
    ];

    /// The code's stable spelling.
    pub fn as_str(self) -> &'static str {
        match self {
            FaultCode::Fuel => "fuel",
            FaultCode::Depth => "depth",
            FaultCode::CallBytes => "call_bytes",
            FaultCode::Memo => "memo",
            FaultCode::Number => "number",
            FaultCode::Backtracking => "backtracking",
        }
    }

    /// One sentence for a host's log.
    pub fn detail(self) -> &'static str {
        match self {
            FaultCode::Fuel => "judging the call takes more work than call_fuel_max allows",
            FaultCode::Depth => "the arguments nest deeper than call_depth_max allows",
            FaultCode::CallBytes => "the arguments are longer than call_bytes_max allows",
            FaultCode::Memo => "judging the call keeps more verdicts than call_memo_max allows",
            FaultCode::Number => "a number has more than 4300 digits or an exponent beyond 100000",
            FaultCode::Backtracking => "a pattern with look-around or back-references took too many steps",
        }
    }
}

/// How a failure is worded; one row a template of the pinned text. Which of them a keyword uses is decided by
/// the compiler, so that `minLength: 1` and `minLength: 2` differ in nothing else.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Wording {
    /// `{v} is not of type {text}`
    NotOfType,
    /// `{v} is not one of {text}`
    NotOneOf,
    /// `{text} was expected`
    Expected,
    /// `{v} is less than the minimum of {text}`
    Less,
    /// `{v} is greater than the maximum of {text}`
    Greater,
    /// `{v} is less than or equal to the minimum of {text}`
    LessOrEqual,
    /// `{v} is greater than or equal to the maximum of {text}`
    GreaterOrEqual,
    /// `{v} is not a multiple of {text}`
    NotMultiple,
    /// `{v} is too short`
    TooShort,
    /// `{v} is too long`
    TooLong,
    /// `{v} should be non-empty`
    NonEmpty,
    /// `{v} is expected to be empty`
    ExpectedEmpty,
    /// `{v} does not match {text}`
    NoMatch,
    /// `{v} is not a {text}`
    NotFormat,
    /// `{v} has non-unique elements`
    NonUnique,
    /// `Expected at most {n} items but found {k} extra: {rest}`
    ExtraItems,
    /// `Additional items are not allowed ({rest} were unexpected)`
    AdditionalItems,
    /// `{v} does not contain items matching the given schema`, and the two counts of `minContains`, `maxContains`
    Contains,
    /// `None of {v} are valid under the given schema`
    NoneValid,
    /// `{text} is a required property`
    Required,
    /// `Additional properties are not allowed ({names} were unexpected)`
    AdditionalProperties,
    /// `{names} do not match any of the regexes: {text}`
    MatchNoPattern,
    /// `{v} does not have enough properties`
    TooFewProperties,
    /// `{v} has too many properties`
    TooManyProperties,
    /// `{text} is a dependency of {first text}`
    Dependency,
    /// `{v} is not valid under any of the given schemas`, or under each of several
    Union,
    /// `{v} should not be valid under {text}`
    Not,
    /// `False schema does not allow {v}`
    FalseSchema,
    /// `Unevaluated properties are not allowed ({names} were unexpected)`
    UnevaluatedProperties,
    /// `Unevaluated properties are not valid under the given schema ({names} were unevaluated and invalid)`
    UnevaluatedInvalid,
    /// `Unevaluated items are not allowed ({values} were unexpected)`
    UnevaluatedItems,
}

impl Wording {
    /// Every wording, each at the place that its byte says.
    pub const ALL: [Wording; 31] = [
        Wording::NotOfType,
        Wording::NotOneOf,
        Wording::Expected,
        Wording::Less,
        Wording::Greater,
        Wording::LessOrEqual,
        Wording::GreaterOrEqual,
        Wording::NotMultiple,
        Wording::TooShort,
        Wording::TooLong,
        Wording::NonEmpty,
        Wording::ExpectedEmpty,
        Wording::NoMatch,
        Wording::NotFormat,
        Wording::NonUnique,
        Wording::ExtraItems,
        Wording::AdditionalItems,
        Wording::Contains,
        Wording::NoneValid,
        Wording::Required,
        Wording::AdditionalProperties,
        Wording::MatchNoPattern,
        Wording::TooFewProperties,
        Wording::TooManyProperties,
        Wording::Dependency,
        Wording::Union,
        Wording::Not,
        Wording::FalseSchema,
        Wording::UnevaluatedProperties,
        Wording::UnevaluatedInvalid,
        Wording::UnevaluatedItems,
    ];

    /// The wording of that byte, if there is one.
    pub(crate) fn from_u8(byte: u8) -> Option<Wording> {
        Wording::ALL.get(usize::from(byte)).copied()
    }

    /// Whether the message shows the value, or parts of it that are not listed as extras.
    pub(crate) fn shows_value(self) -> bool {
        !matches!(
            self,
            Wording::Expected
                | Wording::Required
                | Wording::AdditionalProperties
                | Wording::MatchNoPattern
                | Wording::Dependency
                | Wording::UnevaluatedProperties
                | Wording::UnevaluatedInvalid
                | Wording::UnevaluatedItems
        )
    }
}

/// One failure while a call is explained.
#[derive(Clone, Copy, Debug)]
pub struct Record {
    /// The instruction that failed.
    pub pc: u32,
    /// Its note, which has the words: an index of the unit's notes.
    pub note: u32,
    /// The instance it failed on; known only where the wording shows it.
    pub node: Node,
    /// Whether it is no union, and whether its value does not fit its schema object's own `type`: the last parts of its rank.
    pub class: (bool, bool),
    /// Where that is: an id of [`Paths`].
    pub path: u32,
    /// Which of the note's texts, a count, or how the failure came about: as the wording needs.
    pub arg: u32,
    /// Nodes or numbers that the message lists: a range of the explanation's `extras`.
    pub extras: (u32, u32),
    /// The evaluation path, where it was asked for: a range of the explanation's `trail`.
    pub trail: (u32, u32),
    /// What the branches of a union said, where failures are listed: a range of the explanation's `inner`.
    pub inner: (u32, u32),
}

/// A failure inside a union that failed. The list of them is in post-order: what the branches of a union said comes before
/// the union's own entry, if that is inside another one.
#[derive(Clone, Copy, Debug)]
pub struct Inner {
    /// The failure.
    pub record: Record,
    /// Which branch of the union around it.
    pub branch: u32,
    /// How many unions are around it.
    pub(crate) depth: u32,
}

impl Inner {
    /// Moves what lies at or below `from` unions to as many below `to`; where it lies right there, into `branch`.
    pub(crate) fn move_to(&mut self, from: u32, to: u32, branch: u32) {
        if self.depth == from {
            self.branch = branch;
        }
        self.depth = (self.depth + to).saturating_sub(from);
    }
}

/// A failure with what it says in the end: for a union, the failure inside it that speaks.
#[derive(Clone, Copy, Debug)]
pub struct Ranked {
    /// The failure of the list.
    pub own: Record,
    /// The failure whose message is shown.
    pub deep: Record,
}

/// One step of an instance's location.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Into a member: its name's node.
    Name(Node),
    /// Into an element.
    Index(u32),
}

/// Instance locations as a tree of steps, so that a location is one number.
#[derive(Debug, Default)]
pub struct Paths {
    steps: Vec<PathStep>,
}

#[derive(Clone, Copy, Debug)]
struct PathStep {
    parent: u32,
    len: u32,
    step: Step,
}

/// The location of the whole instance.
pub const ROOT_PATH: u32 = 0;

impl Paths {
    /// Forgets all locations but the root.
    pub(crate) fn clear(&mut self) {
        self.steps.clear();
    }

    /// The location one step below `parent`.
    pub(crate) fn push(&mut self, parent: u32, step: Step) -> u32 {
        let len = self.len(parent) + 1;
        self.steps.push(PathStep { parent, len, step });
        self.steps.len() as u32
    }

    /// How many locations there are; [`truncate`](Self::truncate) comes back here.
    pub(crate) fn mark(&self) -> u32 {
        self.steps.len() as u32
    }

    /// Forgets the locations made since `mark`.
    pub(crate) fn truncate(&mut self, mark: u32) {
        self.steps.truncate(mark as usize);
    }

    pub(crate) fn reserve(&mut self, total: usize) {
        crate::tape::reserve_total(&mut self.steps, total);
    }

    /// Number of steps.
    pub fn len(&self, path: u32) -> u32 {
        if path == ROOT_PATH { 0 } else { self.steps[path as usize - 1].len }
    }

    /// The location one step up, and the step.
    pub fn parent(&self, path: u32) -> Option<(u32, Step)> {
        let step = self.steps.get((path as usize).checked_sub(1)?)?;
        Some((step.parent, step.step))
    }

    /// The `at`th step from the root. Cost: linear in the steps below it.
    pub fn step(&self, path: u32, at: u32) -> Option<Step> {
        let mut path = path;
        loop {
            let (parent, step) = self.parent(path)?;
            if self.len(path) == at + 1 {
                return Some(step);
            }
            path = parent;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wordings_have_bytes() {
        for (at, wording) in Wording::ALL.into_iter().enumerate() {
            assert_eq!(wording as usize, at);
            assert_eq!(Wording::from_u8(at as u8), Some(wording));
        }
        assert_eq!(Wording::from_u8(Wording::ALL.len() as u8), None);
    }
}
