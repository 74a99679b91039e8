//! What a reading finds wrong, as numbers; [`super::render`] has the words.

use super::BLOCKS_MAX;
use super::problem::Problem;
use crate::tape::{Node, reserve_total};
use crate::unit::StrId;

macro_rules! codes {
    ($($(#[$doc:meta])* $variant:ident $text:literal,)+) => {
        /// What is wrong with a value: pydantic's error types, and a few of our own for keywords that it has not.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum FieldCode { $($(#[$doc])* $variant,)+ }

        impl FieldCode {
            /// Every code.
            pub const ALL: &'static [FieldCode] = &[$(FieldCode::$variant,)+];

            /// The stable spelling.
            pub fn as_str(self) -> &'static str {
                match self { $(FieldCode::$variant => $text,)+ }
            }
        }
    };
}

codes! {
    /// A required name, or an element of a tuple, is not there.
    Missing "missing",
    /// A name that the object may not have.
    Extra "extra_forbidden",
    /// No string.
    String "string_type",
    /// No integer.
    Int "int_type",
    /// A fraction where an integer is wanted.
    IntFromFloat "int_from_float",
    /// Text that is no integer.
    IntParsing "int_parsing",
    /// An integer too large to be read.
    IntParsingSize "int_parsing_size",
    /// No number.
    Float "float_type",
    /// Text that is no number.
    FloatParsing "float_parsing",
    /// Infinite.
    Finite "finite_number",
    /// Nothing that can be a boolean.
    Bool "bool_type",
    /// No spelling of a boolean.
    BoolParsing "bool_parsing",
    /// Not null.
    None "none_required",
    /// No list.
    List "list_type",
    /// No list where a tuple is wanted.
    Tuple "tuple_type",
    /// No mapping.
    Dict "dict_type",
    /// No mapping where a model is wanted.
    Model "model_type",
    /// No mapping where a tag tells models apart.
    ModelAttributes "model_attributes_type",
    /// The tag is not there.
    TagNotFound "union_tag_not_found",
    /// No model has the tag.
    TagInvalid "union_tag_invalid",
    /// None of the constants.
    Literal "literal_error",
    /// None of the constants of an enumeration that has a name.
    Enum "enum",
    /// Below the least.
    GreaterThanEqual "greater_than_equal",
    /// Not above a bound.
    GreaterThan "greater_than",
    /// Above the greatest.
    LessThanEqual "less_than_equal",
    /// Not below a bound.
    LessThan "less_than",
    /// No multiple.
    MultipleOf "multiple_of",
    /// Too few characters.
    StringTooShort "string_too_short",
    /// Too many characters.
    StringTooLong "string_too_long",
    /// The pattern is not found.
    PatternMismatch "string_pattern_mismatch",
    /// Too few elements or members.
    TooShort "too_short",
    /// Too many.
    TooLong "too_long",
    /// No date-time.
    DateTime "datetime_type",
    /// A number that is no date-time.
    DateTimeParsing "datetime_parsing",
    /// Text that is no date-time.
    DateTimeFromDate "datetime_from_date_parsing",
    /// No date.
    Date "date_type",
    /// Neither date nor date-time.
    DateFromDateTime "date_from_datetime_parsing",
    /// A time of day beside the date.
    DateInexact "date_from_datetime_inexact",
    /// No time of day.
    Time "time_type",
    /// Text or a number that is no time of day.
    TimeParsing "time_parsing",
    /// No duration.
    TimeDelta "time_delta_type",
    /// Text or a number that is no duration.
    TimeDeltaParsing "time_delta_parsing",
    /// No UUID.
    Uuid "uuid_type",
    /// Text that is no UUID.
    UuidParsing "uuid_parsing",
    /// No URL.
    Url "url_type",
    /// Text that is no URL.
    UrlParsing "url_parsing",
    /// No IPv4 address.
    Ipv4 "ip_v4_address",
    /// No IPv6 address.
    Ipv6 "ip_v6_address",
    /// No mail address.
    Email "value_error",
    /// Not of a format that pydantic does not know.
    Format "format",
    /// A value where the schema is `false`.
    Never "never",
    /// What `not` excludes.
    Not "not",
    /// Too few or too many elements are as `contains` says.
    Contains "contains",
    /// Equal elements under `uniqueItems`.
    Unique "unique_items",
    /// Several branches of `oneOf`.
    SeveralBranches "one_of",
    /// Members or elements that no part of the schema evaluates.
    Unevaluated "unevaluated",
}

/// One step to where a failure stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FieldStep {
    /// Into the member of that name.
    Name(Node),
    /// By the branch that a tag means: the tag's value.
    Tag(Node),
    /// To a member that is not there.
    Missing(StrId),
    /// Into an element.
    Index(u32),
    /// By the branch of a union: the block's pc, or [`NO_PC`].
    Branch(u32),
    /// To a member's name itself.
    Key,
}

/// No instruction.
pub(super) const NO_PC: u32 = u32::MAX;

/// The location of the whole.
pub(super) const ROOT: u32 = 0;

/// Steps to one value: each block inside another is at most two steps further, and a failure stands at most one below.
const PATH_MAX: usize = 2 * BLOCKS_MAX as usize + 4;

/// Steps for each failure that is listed, on the average; listing ends where locations take more. Reason: steps into branches
/// come from the schema alone, so nothing about a call bounds them.
const STEPS_PER_FAILURE: usize = 16;

/// Locations as a tree of steps; a location is one number.
#[derive(Debug, Default)]
pub(super) struct Locations {
    steps: Vec<(u32, FieldStep)>,
}

impl Locations {
    pub(super) fn push(&mut self, parent: u32, step: FieldStep) -> u32 {
        self.steps.push((parent, step));
        self.steps.len() as u32
    }

    pub(super) fn mark(&self) -> usize {
        self.steps.len()
    }

    pub(super) fn truncate(&mut self, mark: usize) {
        self.steps.truncate(mark);
    }

    fn parent(&self, location: u32) -> Option<(u32, FieldStep)> {
        self.steps.get((location as usize).checked_sub(1)?).copied()
    }

    /// The steps from the root. Cost: linear in their number, of which there are at most [`PATH_MAX`].
    pub(super) fn steps(&self, location: u32) -> impl Iterator<Item = FieldStep> {
        let mut path = [ROOT; PATH_MAX];
        let up = std::iter::successors(Some(location), |at| self.parent(*at).map(|(parent, _)| parent));
        let mut from = PATH_MAX;
        for (place, at) in path.iter_mut().rev().zip(up.take_while(|at| *at != ROOT)) {
            *place = at;
            from -= 1;
        }
        (from..PATH_MAX).filter_map(move |at| self.parent(*path.get(at)?).map(|(_, step)| step))
    }
}

/// One thing that is wrong.
#[derive(Clone, Copy, Debug)]
pub struct FieldFailure {
    /// What.
    pub code: FieldCode,
    /// Where.
    pub(super) location: u32,
    /// The instruction that wants otherwise, or [`NO_PC`].
    pub(super) pc: u32,
    /// The value.
    pub(super) node: Node,
    /// How many there are, where they are counted.
    pub(super) len: u32,
    /// What a parser says.
    pub(super) problem: Option<Problem>,
}

/// What stands in place of a value in the coerced copy.
#[derive(Clone, Copy, Debug)]
pub(super) struct Edit {
    /// The value; the name of a member that is dropped.
    pub(super) node: Node,
    /// Its JSON text: a range of [`Reading::text`]. None drops the member.
    pub(super) text: Option<(u32, u32)>,
}

/// What a reading leaves behind; owned by a session, used again for each.
#[derive(Debug, Default)]
pub struct Reading {
    pub(super) failures: Vec<FieldFailure>,
    /// Failures beyond those listed.
    pub(super) unlisted: u64,
    pub(super) locations: Locations,
    pub(super) edits: Vec<Edit>,
    /// Texts of edits.
    pub(super) text: String,
    /// Members that `properties` names: index in the table, value.
    pub(super) slots: Vec<(u32, Node)>,
    /// Memory for a text that is being read.
    pub(super) spare: String,
}

impl Reading {
    /// Allocates what calls of `nodes` values and `bytes` need, with so many failures listed, and where values are read anew
    /// (`lax`), two edits for each value: of the branch that is tried and of the best one before it. More edits, by several
    /// blocks about one value or unions inside unions, grow it once.
    pub fn reserve(&mut self, nodes: usize, bytes: usize, failures_max: usize, lax: bool) {
        reserve_total(&mut self.failures, failures_max);
        // Beside what is listed there is one path that is being walked.
        reserve_total(&mut self.locations.steps, steps_max(failures_max).saturating_add(PATH_MAX));
        reserve_total(&mut self.slots, nodes);
        self.spare.clear();
        // A URL takes three bytes for each that it escapes.
        self.spare.reserve(bytes.saturating_mul(3).saturating_add(64));
        self.text.clear();
        if lax {
            reserve_total(&mut self.edits, nodes.saturating_mul(2));
            // A number that is written anew takes at most so many bytes for each of its digits, a URL three for each byte.
            self.text.reserve(bytes.saturating_mul(4).saturating_add(64));
        }
    }

    /// Lists what is wrong, or counts it where so many are listed or their locations have no room. Once one is only counted,
    /// all that follow are.
    pub(super) fn note(&mut self, failure: FieldFailure, failures_max: usize) {
        let has_room = self.failures.len() < failures_max && self.locations.mark() <= steps_max(failures_max);
        if has_room && self.unlisted == 0 {
            self.failures.push(failure);
        } else {
            self.unlisted += 1;
        }
    }

    /// What is wrong, in the order of the schema.
    pub fn failures(&self) -> &[FieldFailure] {
        &self.failures
    }

    /// How many failures are not listed.
    pub fn unlisted(&self) -> u64 {
        self.unlisted
    }

    pub(super) fn clear(&mut self) {
        self.failures.clear();
        self.unlisted = 0;
        self.locations.truncate(0);
        self.edits.clear();
        self.text.clear();
        self.slots.clear();
    }

    /// Where a rewinding comes back to.
    pub(super) fn mark(&self) -> Mark {
        Mark { failures: self.failures.len(), unlisted: self.unlisted, locations: self.locations.mark() }
    }

    /// Whether nothing has failed since.
    pub(super) fn is_clean_since(&self, mark: Mark) -> bool {
        self.failures.len() == mark.failures && self.unlisted == mark.unlisted
    }

    /// Forgets the locations made since, unless a failure that is listed names one.
    pub(super) fn forget_locations(&mut self, mark: Mark) {
        if self.failures.len() == mark.failures {
            self.locations.truncate(mark.locations);
        }
    }

    /// Where [`undo_edits`](Self::undo_edits) comes back to.
    pub(super) fn edit_mark(&self) -> EditMark {
        EditMark { edits: self.edits.len(), text: self.text.len() }
    }

    /// Forgets the edits made since.
    pub(super) fn undo_edits(&mut self, mark: EditMark) {
        self.edits.truncate(mark.edits);
        self.text.truncate(mark.text);
    }

    /// Forgets the edits made between the two marks.
    pub(super) fn undo_edits_between(&mut self, from: EditMark, to: EditMark) {
        self.edits.drain(from.edits..to.edits);
    }

    /// Forgets what has failed since.
    pub(super) fn rewind(&mut self, mark: Mark) {
        self.failures.truncate(mark.failures);
        self.unlisted = mark.unlisted;
        self.locations.truncate(mark.locations);
    }
}

/// Steps that failures may keep: those of any first one, and so many more on the average.
fn steps_max(failures_max: usize) -> usize {
    failures_max.saturating_mul(STEPS_PER_FAILURE).saturating_add(PATH_MAX)
}

/// See [`Reading::mark`].
#[derive(Clone, Copy, Debug)]
pub(super) struct Mark {
    failures: usize,
    unlisted: u64,
    locations: usize,
}

/// See [`Reading::edit_mark`].
#[derive(Clone, Copy, Debug)]
pub(super) struct EditMark {
    edits: usize,
    text: usize,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_distinct() {
        let mut texts: Vec<_> = FieldCode::ALL.iter().map(|code| code.as_str()).collect();
        texts.sort_unstable();
        texts.dedup();
        assert_eq!(texts.len(), FieldCode::ALL.len());
    }

    #[test]
    fn locations_are_read_from_the_root() {
        let mut locations = Locations::default();
        let one = locations.push(ROOT, FieldStep::Index(1));
        let two = locations.push(one, FieldStep::Key);
        assert_eq!(locations.steps(two).collect::<Vec<_>>(), [FieldStep::Index(1), FieldStep::Key]);
        assert_eq!(locations.steps(ROOT).count(), 0);
    }
}
