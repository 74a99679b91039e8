//! One compiled schema, and the check itself.

use std::sync::Arc;

use callgate_compiler::{Options, SchemaRole, compile_schema};
use callgate_vm::execute::Bounds;
use callgate_vm::explain::Extent;
use callgate_vm::failure::FaultCode;
use callgate_vm::instance::{Halt, Instance};
use callgate_vm::json;
use callgate_vm::json_text::JsonText;
use callgate_vm::limits::{Limits, NESTED_MAX};
use callgate_vm::scratch::StackOf;
use callgate_vm::tape::{ReadError, ReadOptions, TapeInstance};
use callgate_vm::unit::Unit;
use callgate_vm::value::ValueInstance;
use callgate_vm::{instance, judge};
use serde_json::Value;

use crate::by_options::ByOptions;
use crate::found::{Found, Source};
use crate::rejection::Rejection;
use crate::report::{Refused, Report};
use crate::session::Session;

/// The arguments of a call.
#[derive(Clone, Copy, Debug)]
pub enum Arguments<'a> {
    /// JSON text, read strictly.
    Bytes(&'a [u8]),
    /// A parsed value, judged where it lies.
    Value(&'a Value),
}

impl<'a> From<&'a [u8]> for Arguments<'a> {
    fn from(bytes: &'a [u8]) -> Self {
        Arguments::Bytes(bytes)
    }
}

impl<'a, const N: usize> From<&'a [u8; N]> for Arguments<'a> {
    fn from(bytes: &'a [u8; N]) -> Self {
        Arguments::Bytes(bytes)
    }
}

impl<'a> From<&'a str> for Arguments<'a> {
    fn from(text: &'a str) -> Self {
        Arguments::Bytes(text.as_bytes())
    }
}

impl<'a> From<&'a Value> for Arguments<'a> {
    fn from(value: &'a Value) -> Self {
        Arguments::Value(value)
    }
}

/// What a check answers.
#[derive(Debug)]
pub enum Outcome<'s> {
    /// The call satisfies the schema.
    Accepted(Accepted),
    /// It does not; the caller can repair it.
    Rejected(Rejection<'s>),
    /// The gate declined to decide; the call does not pass.
    Fault(Fault),
    /// The catalog has no tool of that name.
    UnknownTool,
    /// The tool's schema could not be compiled, or the tool is in quarantine; whether the call passes is the host's choice.
    NotCompiled,
}

impl Outcome<'_> {
    /// What a host tells its callers by: `OK`, `ARGS_INVALID`, `SCHEMA_INVALID` (the tool is not compiled or in quarantine),
    /// `UNKNOWN_TOOL`, `FAULT`.
    pub fn code(&self) -> &'static str {
        match self {
            Outcome::Accepted(_) => "OK",
            Outcome::Rejected(_) => "ARGS_INVALID",
            Outcome::Fault(_) => "FAULT",
            Outcome::UnknownTool => "UNKNOWN_TOOL",
            Outcome::NotCompiled => "SCHEMA_INVALID",
        }
    }

    /// Whether the call was accepted.
    pub fn is_accepted(&self) -> bool {
        matches!(self, Outcome::Accepted(_))
    }
}

/// What is to be said about an accepted call.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Accepted {
    /// Remarks that do not keep the call from passing: parameters that the schema does not know, where they are to be
    /// reported ([`UnknownParameters::Report`](crate::UnknownParameters)), at most twenty and a count of the others. Those
    /// are the one thing that a check of an accepted call allocates.
    pub notices: Vec<String>,
}

/// Why the gate declined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The code.
    pub code: FaultCode,
}

impl std::fmt::Display for Fault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}", self.code.as_str(), self.code.detail())
    }
}

impl std::error::Error for Fault {}

impl From<FaultCode> for Fault {
    fn from(code: FaultCode) -> Self {
        Fault { code }
    }
}

/// What is read whole and cannot be has a number beyond what is computed with: nothing else keeps a tape from holding it.
impl From<Halt> for Fault {
    fn from(halt: Halt) -> Self {
        match halt {
            Halt::Fault(code) => code.into(),
            Halt::Unreadable | Halt::Stackless => FaultCode::Number.into(),
        }
    }
}

/// A compiled schema. Cheap to clone; `Send + Sync`.
#[derive(Clone, Debug)]
pub struct Schema {
    unit: Arc<Unit>,
    limits: Arc<Limits>,
    bounds: Bounds,
    /// Whether calls are judged by a lax reading.
    pub(crate) lax: bool,
    /// What options ask of calls beside it, if they do.
    by_options: Option<Arc<ByOptions>>,
}

impl Schema {
    /// Compiles one schema. Errors: it could not be compiled; the report says why.
    pub fn compile(text: impl AsRef<[u8]>, options: &Options) -> Result<(Schema, Report), Refused> {
        match compile_schema(text.as_ref(), options) {
            Ok((units, findings)) => {
                let healthy = usize::from(findings.is_empty());
                let report = Report { tools: 1, healthy, flagged: 1 - healthy, refused: 0, findings };
                let (unit, counterpart) = (Arc::new(units.unit), units.counterpart.map(Arc::new));
                let limits = Arc::new(options.limits.clone());
                Ok((Schema::of(&unit, counterpart.as_ref(), &limits, options, SchemaRole::Input), report))
            }
            Err(findings) => Err(Refused { report: Report { tools: 1, refused: 1, findings, ..Report::default() } }),
        }
    }

    /// What judges in that role, by the options.
    pub(crate) fn of(
        unit: &Arc<Unit>,
        counterpart: Option<&Arc<Unit>>,
        limits: &Arc<Limits>,
        options: &Options,
        role: SchemaRole,
    ) -> Schema {
        // Results are a server's own: nothing is read into them.
        let lax = options.lax && role == SchemaRole::Input;
        let alone = |unit: &Arc<Unit>| Schema { lax, ..Schema::new(Arc::clone(unit), Arc::clone(limits)) };
        let counterpart = counterpart.map(alone);
        let by_options = match role {
            SchemaRole::Input => ByOptions::of_arguments(options, unit, counterpart),
            SchemaRole::Output => ByOptions::of_results(options, unit, counterpart),
        };
        Schema { by_options: by_options.map(Arc::new), ..alone(unit) }
    }

    /// What judges, and nothing else is asked.
    pub(crate) fn new(unit: Arc<Unit>, limits: Arc<Limits>) -> Schema {
        let bounds = Bounds {
            fuel_max: limits.call_fuel_max,
            depth_max: limits.call_depth_max as u32,
            memo_max: limits.call_memo_max,
            nested_max: NESTED_MAX,
        };
        Schema { unit, limits, bounds, lax: false, by_options: None }
    }

    /// The compiled program.
    pub fn unit(&self) -> &Arc<Unit> {
        &self.unit
    }

    /// A session for calls of `call_bytes`.
    pub fn session(&self, call_bytes: usize) -> Session {
        let mut session = Session::new();
        session.reserve(call_bytes, &self.limits, self.lax, self.units());
        session
    }

    /// What options ask of calls beside it.
    pub(crate) fn by_options(&self) -> Option<&ByOptions> {
        self.by_options.as_deref()
    }

    /// All units that checks run.
    pub(crate) fn units(&self) -> impl Iterator<Item = &Unit> {
        let counterpart = self.by_options.as_deref().and_then(ByOptions::unit);
        std::iter::once(self.unit.as_ref()).chain(counterpart)
    }

    /// Checks an instance.
    pub fn check<'s>(&'s self, session: &'s mut Session, instance: impl Into<Arguments<'s>>) -> Outcome<'s> {
        match &self.by_options {
            None => self.check_alone(session, instance.into()),
            Some(asked) => self.check_by_options(asked, session, instance.into()),
        }
    }

    /// Checks an instance by the unit, whatever else is asked.
    #[inline] // a call more is a fiftieth of a small check
    pub(crate) fn check_alone<'s>(&'s self, session: &'s mut Session, instance: Arguments<'s>) -> Outcome<'s> {
        match instance {
            arguments if self.lax => self.check_lax(session, arguments),
            Arguments::Bytes(bytes) => self.check_bytes(session, bytes),
            Arguments::Value(value) => self.check_value(session, value),
        }
    }

    /// The schema with other bounds of a check: so many failures listed, and no more fuel than that. They hold for its
    /// counterpart too.
    pub(crate) fn with_bounds(&self, failures_max: u64, fuel_max: u64) -> Schema {
        let limits =
            Limits { failures_max, call_fuel_max: fuel_max.min(self.limits.call_fuel_max), ..(*self.limits).clone() };
        let Schema { limits, bounds, .. } = Schema::new(Arc::clone(&self.unit), Arc::new(limits));
        let by_options = self.by_options.as_ref().map(|asked| Arc::new(asked.with_bounds(failures_max, fuel_max)));
        Schema { limits, bounds, by_options, ..self.clone() }
    }

    pub(crate) fn bounds(&self) -> Bounds {
        self.bounds
    }

    /// How the text of a call is read.
    pub(crate) fn read_options(&self) -> ReadOptions {
        ReadOptions {
            depth_max: self.limits.call_depth_max as u32,
            bytes_max: usize::try_from(self.limits.call_bytes_max).unwrap_or(usize::MAX),
            strict: true,
        }
    }

    /// Whether the failures are listed at once: where verdicts are kept or evaluated sets are, seeking one failure takes as
    /// long as finding all.
    pub(crate) fn lists_at_once(&self) -> bool {
        self.unit.revisits()
    }

    /// All failures, as far as the limits go.
    pub(crate) fn all_failures(&self, session: &Session) -> Extent {
        Extent::Listed { failures_max: self.failures_max(), evaluation_paths: session.evaluation_paths }
    }

    /// How many failures, or missing names, are listed.
    pub(crate) fn failures_max(&self) -> usize {
        usize::try_from(self.limits.failures_max).unwrap_or(usize::MAX)
    }

    // --- JSON text -------------------------------------------------------------------------------------------

    fn check_bytes<'s>(&'s self, session: &'s mut Session, bytes: &'s [u8]) -> Outcome<'s> {
        if !self.has_room_for(bytes) {
            return Outcome::Fault(FaultCode::CallBytes.into());
        }
        let text = match json::utf8(bytes) {
            Ok(text) => text,
            Err(malformed) => return Outcome::Rejected(Rejection::not_json(malformed)),
        };
        let in_place = if self.unit.revisits() { Err(Halt::Unreadable) } else { self.judge_text(session, text) };
        if in_place == Ok(true) {
            return Outcome::Accepted(Accepted::default());
        }
        // Text that is not JSON is said to be so, whatever the schema says.
        let tape = match session.tape.read_text(text, self.read_options()) {
            Ok(tape) => tape,
            Err(ReadError::Malformed(malformed)) => return Outcome::Rejected(Rejection::not_json(malformed)),
            Err(ReadError::Fault(code)) => return Outcome::Fault(code.into()),
        };
        // Only a depth that the half limit of reading in place met may still be within the whole one.
        if let Err(Halt::Fault(code)) = in_place
            && code != FaultCode::Depth
        {
            return Outcome::Fault(code.into());
        }
        // Where the text has not been judged to its end, the tape is.
        let judged = if in_place.is_err() {
            let (stack, scratch) = (&mut session.tape_stack, &mut session.scratch);
            judge(&self.unit, &mut TapeInstance::new(tape, 0), Some(stack), scratch, &self.bounds)
        } else {
            Ok(false)
        };
        match judged {
            Ok(true) => Outcome::Accepted(Accepted::default()),
            Ok(false) | Err(Halt::Unreadable | Halt::Stackless) => {
                let mut found = Found::not_yet(self, session, Source::Text(text));
                let explained = found.seek();
                self.outcome(explained.map(|accepted| (!accepted).then_some(found)))
            }
            Err(Halt::Fault(code)) => Outcome::Fault(code.into()),
        }
    }

    /// Whether a call may be that long. Offsets are 32 bits wide.
    pub(crate) fn has_room_for(&self, bytes: &[u8]) -> bool {
        bytes.len() as u64 <= self.limits.call_bytes_max.min(u64::from(u32::MAX / 2))
    }

    /// Judges the text in place, and reads it to its end.
    pub(crate) fn judge_text(&self, session: &mut Session, text: &str) -> Result<bool, Halt> {
        // Half the depth for the machine and half for what it does not visit: together within the limit.
        let bounds = Bounds { depth_max: self.bounds.depth_max / 2, ..self.bounds };
        let mut text = JsonText::new(text, &mut session.text, bounds.depth_max);
        let passed = judge(&self.unit, &mut text, Some(&mut session.text_stack), &mut session.scratch, &bounds)?;
        if passed {
            text.finish()?;
        }
        Ok(passed)
    }

    // --- parsed values ---------------------------------------------------------------------------------------

    fn check_value<'s>(&'s self, session: &'s mut Session, value: &'s Value) -> Outcome<'s> {
        let mut instance = ValueInstance::new(value);
        let mut judged = judge(&self.unit, &mut instance, None, &mut session.scratch, &self.bounds);
        if judged == Err(Halt::Stackless) {
            judged = session.with_value_stack(|session, stack| {
                judge(&self.unit, &mut instance, Some(stack), &mut session.scratch, &self.bounds)
            });
        }
        match judged {
            Ok(true) => Outcome::Accepted(Accepted::default()),
            Ok(false) => self.reject_value(session, value),
            Err(Halt::Unreadable | Halt::Stackless) => self.reject_copy(session, &mut instance),
            Err(Halt::Fault(code)) => Outcome::Fault(code.into()),
        }
    }

    fn reject_value<'s>(&'s self, session: &'s mut Session, value: &'s Value) -> Outcome<'s> {
        let mut found = Found::not_yet(self, session, Source::Value(value));
        match found.seek() {
            Ok(false) => self.rejected(found),
            // Where it lies it cannot be explained: a copy can.
            _ => self.reject_copy(found.into_session(), &mut ValueInstance::new(value)),
        }
    }

    // --- hosts -----------------------------------------------------------------------------------------------

    /// Checks a host's own object without converting it; only a rejection copies it, to be explained.
    ///
    /// `stack` is the machine's memory for this type of instance, kept by the host. A value that JSON does not have
    /// is a failure `not_json`, wherever it is; a cycle ends at the depth fault.
    pub fn check_instance<'s, 'a, I: Instance<'a>>(
        &'s self,
        session: &'s mut Session,
        stack: &mut StackOf<'a, I>,
        host: &mut I,
    ) -> Outcome<'s> {
        match &self.by_options {
            None => self.check_instance_alone(session, stack, host),
            Some(asked) => self.check_instance_by_options(asked, session, stack, host),
        }
    }

    /// As [`check_alone`](Self::check_alone), of a host's object.
    pub(crate) fn check_instance_alone<'s, 'a, I: Instance<'a>>(
        &'s self,
        session: &'s mut Session,
        stack: &mut StackOf<'a, I>,
        host: &mut I,
    ) -> Outcome<'s> {
        match instance::ensure_json(host, self.bounds.depth_max) {
            Ok(true) => {}
            Ok(false) => return self.not_json(session, host),
            Err(Halt::Fault(code)) => return Outcome::Fault(code.into()),
            Err(Halt::Unreadable | Halt::Stackless) => {}
        }
        if self.lax {
            return self.check_lax_instance(session, host);
        }
        match judge(&self.unit, host, Some(stack), &mut session.scratch, &self.bounds) {
            Ok(true) => Outcome::Accepted(Accepted::default()),
            Ok(false) => {
                // The host cannot be asked again, so all that is to be known is found out now.
                let extent = self.all_failures(session);
                let explained = session.explain_in_place(self, host, Some(stack), extent);
                let missing_only = explained.and_then(|_| session.find_missing_in_place(self, host, stack));
                match (explained, missing_only) {
                    (Ok(false), Ok(missing_only)) => self.rejected(Found::answered(self, session, missing_only)),
                    (Ok(false), Err(Halt::Fault(_))) => self.rejected(Found::answered(self, session, false)),
                    _ => self.reject_copy(session, host),
                }
            }
            Err(Halt::Unreadable | Halt::Stackless) => self.reject_copy(session, host),
            Err(Halt::Fault(code)) => Outcome::Fault(code.into()),
        }
    }

    /// Explains a copy of the whole instance.
    fn reject_copy<'s, 'a, I: Instance<'a>>(&'s self, session: &'s mut Session, host: &mut I) -> Outcome<'s> {
        let explained = session.explain_copy(self, host);
        self.outcome(explained.map(|accepted| (!accepted).then(|| Found::listed(self, session))))
    }

    fn not_json<'s, 'a, I: Instance<'a>>(&'s self, session: &'s mut Session, host: &mut I) -> Outcome<'s> {
        match session.tape.copy(host, self.bounds.depth_max) {
            Ok(tape) => Outcome::Rejected(Rejection::not_json_value(tape)),
            Err(halt) => Outcome::Fault(halt.into()),
        }
    }

    // --- outcomes --------------------------------------------------------------------------------------------

    pub(crate) fn outcome<'s>(&'s self, explained: Result<Option<Found<'s>>, Halt>) -> Outcome<'s> {
        match explained {
            Ok(Some(found)) => self.rejected(found),
            Ok(None) => Outcome::Accepted(Accepted::default()),
            Err(halt) => Outcome::Fault(halt.into()),
        }
    }

    pub(crate) fn rejected<'s>(&'s self, found: Found<'s>) -> Outcome<'s> {
        Outcome::Rejected(Rejection::of(found, self.limits.text_bytes_max as usize))
    }

    /// Where only a reading has found something.
    pub(crate) fn misread<'s>(&'s self, found: Found<'s>) -> Outcome<'s> {
        Outcome::Rejected(Rejection::misread(found, self.limits.text_bytes_max as usize))
    }
}
