//! Missing-only: whether all that is wrong with a rejected call is that required information is missing.
//!
//! A host that can fill in what is missing (by asking the user, or a larger model) must know that nothing else is wrong:
//! filling in a call that stays wrong is paid for in vain. So the instance is judged once more, by the explain section,
//! with a sink that *forgives*: names that `required` and `dependentRequired` ask for are noted and do not fail. If it
//! passes so, they are all that is wrong.
//!
//! ```text
//! a union fails      it passes by the one branch that lacks nothing else, and fails where that is none or several
//! not, if, contains  mean what they say: what is missing is missing
//! all else           fails as ever: minProperties, types, unknown names, false schemas
//! ```
//!
//! The answer is a promise, so doubt is a no: beyond the bounds of a call, beyond `missing_max` names, or where the names
//! that `unevaluatedProperties` is to leave alone are those of a branch that lacks something.

use crate::ExplainInto;
use crate::execute::{Bounds, Into, Machine, Sink};
use crate::explain::{Capture, Copies, Explanation, Ranking, Whole};
use crate::failure::{ROOT_PATH, Ranked, Step, Wording};
use crate::instance::{Halt, Instance};
use crate::scratch::{Scratch, StackOf};
use crate::tape::TapeInstance;
use crate::unit::{StrId, Unit};

/// A member that should be there.
#[derive(Clone, Copy, Debug)]
pub struct MissingName {
    /// The object's location.
    pub(crate) path: u32,
    pub(crate) name: StrId,
    /// Where it stands in the list.
    at: u32,
    /// Locations before this mark are named by the list so far.
    keep: u32,
}

impl Unit {
    /// The name of the member that is missing.
    pub fn missing_name(&self, missing: &MissingName) -> &str {
        self.str(missing.name)
    }
}

/// Whether an instance that has been explained in `explanation` lacks only names. They are added to the explanation
/// ([`Renderer::missing`](crate::render::Renderer::missing)), each location once.
///
/// Errors: as [`explain`](crate::explain()). Cost: at most another run of it, for each level of unions inside each other;
/// none where a failure is listed that is of another kind. Allocates only while the memory grows to the call's size.
pub fn find_missing<'t>(
    unit: &Unit,
    mut instance: TapeInstance<'t>,
    stack: &mut StackOf<'t, TapeInstance<'t>>,
    scratch: &mut Scratch,
    explanation: &mut Explanation,
    bounds: &Bounds,
    missing_max: usize,
) -> Result<bool, Halt> {
    let capture = Whole(instance.tape());
    run(unit, &mut instance, stack, scratch, Forgive::new(explanation, capture, missing_max), bounds)
}

/// As [`find_missing`], for any instance where it lies and was explained ([`explain_in_place`](crate::explain_in_place)).
/// Errors: as there.
pub fn find_missing_in_place<'a, I: Instance<'a>>(
    unit: &Unit,
    instance: &mut I,
    stack: &mut StackOf<'a, I>,
    scratch: &mut Scratch,
    into: &mut ExplainInto<'_>,
    bounds: &Bounds,
    missing_max: usize,
) -> Result<bool, Halt> {
    let capture = Copies::more(into.copies, bounds.depth_max);
    run(unit, instance, stack, scratch, Forgive::new(into.explanation, capture, missing_max), bounds)
}

fn run<'a, I: Instance<'a>, C: Capture<'a, I>>(
    unit: &Unit,
    instance: &mut I,
    stack: &mut StackOf<'a, I>,
    scratch: &mut Scratch,
    sink: Forgive<'_, C>,
    bounds: &Bounds,
) -> Result<bool, Halt> {
    if !sink.explanation.may_lack_only(unit) {
        return Ok(false);
    }
    let mut machine = Machine::new(unit, instance, Some(stack), scratch, sink, bounds);
    let passed = machine.explain()?;
    machine.sink.finish(passed)
}

impl Explanation {
    /// Whether every failure that is known is that of a name, or may stand for one inside.
    fn may_lack_only(&self, unit: &Unit) -> bool {
        use Wording::{Dependency, Required, UnevaluatedInvalid, Union};
        let forgivable = |failure: &Ranked| {
            matches!(unit.wording(&failure.own), Some(Required | Dependency | Union | UnevaluatedInvalid))
        };
        self.failures.iter().chain(&self.top).all(forgivable)
    }
}

/// The forgiving sink.
struct Forgive<'e, C> {
    explanation: &'e mut Explanation,
    capture: C,
    missing_max: usize,
    path: u32,
    /// Locations before this mark are named by the explanation.
    base: u32,
    /// More is missing than is listed.
    overflown: bool,
    /// A name on the way could not be captured.
    lost: Option<Halt>,
}

impl<'e, C> Forgive<'e, C> {
    fn new(explanation: &'e mut Explanation, capture: C, missing_max: usize) -> Self {
        explanation.missing.clear();
        let base = explanation.paths.mark();
        Forgive { explanation, capture, missing_max, path: ROOT_PATH, base, overflown: false, lost: None }
    }

    /// Locations before this mark are named.
    fn keep(&self) -> u32 {
        self.explanation.missing.last().map_or(self.base, |missing| missing.keep)
    }

    /// The answer, to a run that came to its end.
    fn finish<'a, I: Instance<'a>>(&mut self, passed: bool) -> Result<bool, Halt>
    where
        C: Capture<'a, I>,
    {
        if let Some(halt) = self.lost {
            return Err(halt);
        }
        if !passed || self.overflown {
            self.explanation.missing.clear();
            return Ok(false);
        }
        // Several keywords may ask for one name.
        let Explanation { missing, paths, .. } = &mut *self.explanation;
        let ranking = Ranking { tape: self.capture.tape(), paths };
        let order = |a: &MissingName, b: &MissingName| {
            a.name.0.cmp(&b.name.0).then_with(|| ranking.compare_locations(a.path, b.path))
        };
        missing.sort_unstable_by(|a, b| order(a, b).then_with(|| a.at.cmp(&b.at)));
        missing.dedup_by(|later, earlier| order(later, earlier).is_eq());
        missing.sort_unstable_by_key(|missing| missing.at);
        Ok(true)
    }
}

impl<'a, I: Instance<'a>, C: Capture<'a, I>> Sink<'a, I> for Forgive<'_, C> {
    const COLLECTS: bool = false;
    const FORGIVES: bool = true;
    const TRACES: bool = false;

    fn here(&self) -> (u32, u32) {
        (self.path, self.explanation.paths.mark())
    }

    fn enter(&mut self, instance: &mut I, into: Into<I::Node>) -> (u32, u32) {
        let here = (self.path, self.explanation.paths.mark());
        let step = match into {
            Into::Place | Into::Name => return here,
            Into::Member(name) => match self.capture.capture(instance, name) {
                Ok(name) => Step::Name(name),
                Err(halt) => {
                    self.lost = Some(halt);
                    return here;
                }
            },
            Into::Element(index) => Step::Index(index),
        };
        self.path = self.explanation.paths.push(self.path, step);
        here
    }

    fn leave(&mut self, path: u32, mark: u32) {
        self.path = path;
        self.explanation.paths.truncate(mark.max(self.keep()));
    }

    fn miss(&mut self, name: StrId) {
        let at = self.explanation.missing.len();
        if at >= self.missing_max {
            self.overflown = true;
            return;
        }
        let keep = self.explanation.paths.mark();
        self.explanation.missing.push(MissingName { path: self.path, name, at: at as u32, keep });
    }

    fn noted_len(&self) -> u32 {
        self.explanation.missing.len() as u32
    }

    fn forget_noted(&mut self, len: u32) {
        self.explanation.missing.truncate(len as usize);
    }
}
