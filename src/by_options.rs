//! What options ask of a call beside its schema: arguments that are empty, and names that the schema does not know.
//!
//! ```text
//! empty_arguments: AsObject     null, "", blank text  ->  {}
//! unknown_parameters: Report    the schema passes the call; its counterpart, which forbids unknown names, does not
//!                               ->  accepted, with a notice for each of them. A counterpart that would be larger than a
//!                               unit may be is left out, and each call that passes has a notice of that
//! unknown_parameters: Forbid    the unit forbids them itself. Where a `oneOf` counts branches, its counterpart, which does
//!                               not, must pass the call as well
//! ```
//!
//! A schema of which nothing is asked has none of this, and its check knows nothing of it but a null pointer.

use std::fmt::{Display, Write};

use callgate_compiler::{EmptyArguments, Options, UnknownParameters, left_out_digest};
use callgate_vm::instance::{Halt, Instance, View};
use callgate_vm::json;
use callgate_vm::judge;
use callgate_vm::render::Bounded;
use callgate_vm::scratch::StackOf;
use callgate_vm::tape::{ReadError, TapeInstance};
use callgate_vm::unit::Unit;
use callgate_vm::unknown::{UnknownNames, find_unknown};
use callgate_vm::value::ValueInstance;
use serde_json::Value;

use crate::schema::{Accepted, Arguments, Fault, Outcome, Schema};
use crate::session::Session;

/// Notices of one call; one more counts the rest.
const NOTICES_MAX: usize = 20;

/// A notice that is longer is cut. Unit: bytes.
const NOTICE_BYTES_MAX: usize = 512;

/// The arguments of a call that has none.
const NO_ARGUMENTS: &[u8] = b"{}";

/// What is asked of calls.
#[derive(Clone, Debug)]
pub(crate) struct ByOptions {
    empty_as_object: bool,
    counterpart: Option<Counterpart>,
}

/// The schema read the other way.
#[derive(Clone, Debug)]
enum Counterpart {
    /// It names what is unknown in calls that pass.
    Notices(Schema),
    /// It would, and is too large; this one says nothing.
    LeftOut(Schema),
    /// It must pass calls too.
    Confirms(Schema),
}

impl ByOptions {
    /// What the options ask of arguments to `unit`; `None` if that is nothing. `counterpart`: of the schema, if it has one.
    pub(crate) fn of_arguments(options: &Options, unit: &Unit, counterpart: Option<Schema>) -> Option<ByOptions> {
        Self::of(options, options.empty_arguments == EmptyArguments::AsObject, unit, counterpart)
    }

    /// As above, of results.
    pub(crate) fn of_results(options: &Options, unit: &Unit, counterpart: Option<Schema>) -> Option<ByOptions> {
        Self::of(options, false, unit, counterpart)
    }

    fn of(options: &Options, empty_as_object: bool, unit: &Unit, counterpart: Option<Schema>) -> Option<ByOptions> {
        let is_left_out = |schema: &Schema| *schema.unit().digest() == left_out_digest(unit.digest());
        let counterpart = counterpart.map(|schema| match options.unknown_parameters {
            UnknownParameters::Report if is_left_out(&schema) => Counterpart::LeftOut(schema),
            UnknownParameters::Report => Counterpart::Notices(schema),
            UnknownParameters::Ignore | UnknownParameters::Forbid => Counterpart::Confirms(schema),
        });
        (empty_as_object || counterpart.is_some()).then_some(ByOptions { empty_as_object, counterpart })
    }

    /// The counterpart's unit.
    pub(crate) fn unit(&self) -> Option<&Unit> {
        match &self.counterpart {
            Some(Counterpart::Notices(schema) | Counterpart::LeftOut(schema) | Counterpart::Confirms(schema)) => {
                Some(schema.unit())
            }
            None => None,
        }
    }

    /// The arguments as they are taken.
    pub(crate) fn taken<'a>(&self, arguments: Arguments<'a>) -> Arguments<'a> {
        if self.empty_as_object && arguments.are_empty() { Arguments::Bytes(NO_ARGUMENTS) } else { arguments }
    }

    /// The schema that must pass calls too.
    pub(crate) fn confirms(&self) -> Option<&Schema> {
        match &self.counterpart {
            Some(Counterpart::Confirms(schema)) => Some(schema),
            Some(Counterpart::Notices(_) | Counterpart::LeftOut(_)) | None => None,
        }
    }

    /// The same, with other bounds of a check: see [`Schema::with_bounds`].
    pub(crate) fn with_bounds(&self, failures_max: u64, fuel_max: u64) -> ByOptions {
        let bounded = |schema: &Schema| schema.with_bounds(failures_max, fuel_max);
        let counterpart = self.counterpart.as_ref().map(|counterpart| match counterpart {
            Counterpart::Notices(schema) => Counterpart::Notices(bounded(schema)),
            Counterpart::LeftOut(schema) => Counterpart::LeftOut(bounded(schema)),
            Counterpart::Confirms(schema) => Counterpart::Confirms(bounded(schema)),
        });
        ByOptions { counterpart, ..*self }
    }
}

impl Schema {
    /// [`check`](Self::check), where something is asked.
    #[inline(never)]
    pub(crate) fn check_by_options<'s>(
        &'s self,
        asked: &'s ByOptions,
        session: &'s mut Session,
        arguments: Arguments<'s>,
    ) -> Outcome<'s> {
        let arguments = asked.taken(arguments);
        match &asked.counterpart {
            None => self.check_alone(session, arguments),
            Some(Counterpart::Confirms(other)) if self.passes(session, arguments) => {
                other.check_alone(session, arguments)
            }
            Some(Counterpart::Notices(other)) if self.passes(session, arguments) => {
                if other.passes(session, arguments) {
                    return Outcome::Accepted(Accepted::default());
                }
                let notices = match arguments {
                    _ if other.lax => other.notices_of_reading(session),
                    Arguments::Bytes(bytes) => other.notices_of_text(session, bytes),
                    Arguments::Value(value) => other.notices_of_copy(session, &mut ValueInstance::new(value)),
                };
                Outcome::Accepted(Accepted { notices })
            }
            Some(Counterpart::LeftOut(_)) if self.passes(session, arguments) => left_out(),
            Some(_) => self.check_alone(session, arguments),
        }
    }

    /// [`check_instance`](Self::check_instance), where something is asked.
    pub(crate) fn check_instance_by_options<'s, 'a, I: Instance<'a>>(
        &'s self,
        asked: &'s ByOptions,
        session: &'s mut Session,
        stack: &mut StackOf<'a, I>,
        host: &mut I,
    ) -> Outcome<'s> {
        if asked.empty_as_object && is_empty_host(host) {
            return self.check_by_options(asked, session, Arguments::Bytes(NO_ARGUMENTS));
        }
        match &asked.counterpart {
            Some(Counterpart::Confirms(other)) if self.passes_host(session, stack, host) => {
                other.check_instance_alone(session, stack, host)
            }
            Some(Counterpart::Notices(other)) if self.passes_host(session, stack, host) => {
                let notices = match other.passes_host(session, stack, host) {
                    true => Vec::new(),
                    false if other.lax => other.notices_of_reading(session),
                    false => other.notices_of_copy(session, host),
                };
                Outcome::Accepted(Accepted { notices })
            }
            Some(Counterpart::LeftOut(_)) if self.passes_host(session, stack, host) => left_out(),
            _ => self.check_instance_alone(session, stack, host),
        }
    }

    // --- verdicts --------------------------------------------------------------------------------------------

    /// Whether the arguments are accepted; no if that could not be decided.
    fn passes(&self, session: &mut Session, arguments: Arguments<'_>) -> bool {
        match arguments {
            _ if self.lax => session.reads(self, arguments),
            Arguments::Bytes(bytes) => self.passes_text(session, bytes),
            Arguments::Value(value) => session.with_value_stack(|session, stack| {
                let mut instance = ValueInstance::new(value);
                judge(self.unit(), &mut instance, Some(stack), &mut session.scratch, &self.bounds()) == Ok(true)
            }),
        }
    }

    fn passes_text(&self, session: &mut Session, bytes: &[u8]) -> bool {
        let Some(text) = self.readable(bytes) else {
            return false;
        };
        let in_place = if self.unit().revisits() { Err(Halt::Unreadable) } else { self.judge_text(session, text) };
        in_place.unwrap_or_else(|_| {
            let Session { tape, tape_stack, scratch, .. } = session;
            tape.read_text(text, self.read_options()).is_ok_and(|tape| {
                let mut instance = TapeInstance::new(tape, 0);
                judge(self.unit(), &mut instance, Some(tape_stack), scratch, &self.bounds()) == Ok(true)
            })
        })
    }

    fn passes_host<'a, I: Instance<'a>>(
        &self,
        session: &mut Session,
        stack: &mut StackOf<'a, I>,
        host: &mut I,
    ) -> bool {
        if callgate_vm::instance::ensure_json(host, self.bounds().depth_max) != Ok(true) {
            return false;
        }
        if self.lax {
            return session.reads_host(self, host);
        }
        judge(self.unit(), host, Some(stack), &mut session.scratch, &self.bounds()) == Ok(true)
    }

    /// The text, if it is UTF-8 and no longer than a call may be.
    fn readable<'b>(&self, bytes: &'b [u8]) -> Option<&'b str> {
        self.has_room_for(bytes).then(|| json::utf8(bytes).ok())?
    }

    // --- notices -----------------------------------------------------------------------------------------------

    fn notices_of_text(&self, session: &mut Session, bytes: &[u8]) -> Vec<String> {
        let Some(text) = self.readable(bytes) else {
            return Vec::new();
        };
        match session.tape.read_text(text, self.read_options()) {
            Ok(_) => self.notices(session, Some(text)),
            Err(ReadError::Fault(code)) => vec![undecided(Fault::from(code))],
            Err(ReadError::Malformed(_)) => Vec::new(),
        }
    }

    /// Of what a lax reading has just read: names are held against its copy.
    fn notices_of_reading(&self, session: &mut Session) -> Vec<String> {
        match session.fill_coerced(self) {
            Ok(()) => self.notices(session, None),
            Err(code) => vec![undecided(Fault::from(code))],
        }
    }

    fn notices_of_copy<'a, I: Instance<'a>>(&self, session: &mut Session, host: &mut I) -> Vec<String> {
        let copied = session.tape.copy(host, self.bounds().depth_max).map(|_| ());
        match copied {
            Ok(()) => self.notices(session, None),
            Err(Halt::Fault(code)) => vec![undecided(Fault::from(code))],
            Err(Halt::Unreadable | Halt::Stackless) => Vec::new(),
        }
    }

    /// A notice for each unknown name of what is on the tape: of `text`, or a copy.
    fn notices(&self, session: &mut Session, text: Option<&str>) -> Vec<String> {
        let Session { tape, tape_stack, scratch, unknown, .. } = session;
        let tape = text.map_or_else(|| tape.copied(), |text| tape.tape(text));
        let instance = TapeInstance::new(tape, 0);
        let found = find_unknown(self.unit(), instance, tape_stack, scratch, unknown, &self.bounds(), NOTICES_MAX);
        if let Err(Halt::Fault(code)) = found {
            return vec![undecided(Fault::from(code))];
        }
        let mut notices: Vec<String> = (0..unknown.listed())
            .map(|at| {
                let mut notice = String::new();
                let written = write_notice(&mut notice, unknown, tape, at);
                debug_assert!(written.is_ok());
                notice
            })
            .collect();
        if unknown.unlisted() > 0 {
            notices.push(format!("{} more unknown parameters", unknown.unlisted()));
        }
        notices
    }
}

fn write_notice(
    out: &mut String,
    unknown: &UnknownNames,
    tape: callgate_vm::tape::Tape<'_>,
    at: usize,
) -> std::fmt::Result {
    let mut out = Bounded::new(out, NOTICE_BYTES_MAX);
    out.write_str("unknown parameter ")?;
    unknown.write_name(&mut out, tape, at)?;
    out.write_str(" at ")?;
    unknown.write_pointer(&mut out, tape, at)?;
    out.finish()
}

fn undecided(why: impl Display) -> String {
    format!("whether there are unknown parameters was not decided: {why}")
}

/// Accepted, by a schema whose counterpart was left out.
fn left_out<'s>() -> Outcome<'s> {
    Outcome::Accepted(Accepted { notices: vec![undecided("what tells would be larger than unit_bytes_max allows")] })
}

// --- arguments that are empty ------------------------------------------------------------------------------------

impl Arguments<'_> {
    /// Whether there are none: `null`, nothing but white space, or a string of that.
    fn are_empty(self) -> bool {
        match self {
            Arguments::Bytes(bytes) => is_blank_json(bytes),
            Arguments::Value(Value::Null) => true,
            Arguments::Value(Value::String(text)) => text.bytes().all(is_blank),
            Arguments::Value(_) => false,
        }
    }
}

fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r')
}

fn is_blank_json(bytes: &[u8]) -> bool {
    let Some(from) = bytes.iter().position(|byte| !is_blank(*byte)) else {
        return true;
    };
    let to = bytes.iter().rposition(|byte| !is_blank(*byte)).unwrap_or(from);
    match &bytes[from..=to] {
        b"null" => true,
        [b'"', inside @ .., b'"'] => is_blank_string(inside),
        _ => false,
    }
}

/// Whether the inside of a JSON string is white space, escaped or not.
fn is_blank_string(inside: &[u8]) -> bool {
    let mut rest = inside;
    while let [b' ', after @ ..]
    | [b'\\', b't' | b'n' | b'r', after @ ..]
    | [b'\\', b'u', b'0', b'0', b'2', b'0', after @ ..]
    | [b'\\', b'u', b'0', b'0', b'0', b'9' | b'a' | b'A' | b'd' | b'D', after @ ..] = rest
    {
        rest = after;
    }
    rest.is_empty()
}

fn is_empty_host<'a, I: Instance<'a>>(host: &mut I) -> bool {
    let root = host.root();
    match host.view(root) {
        Ok(View::Null) => true,
        Ok(View::String(text)) => text.chars().all(|c| c.is_ascii() && is_blank(c as u8)),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_bounds_reach_the_counterpart() {
        for choice in [UnknownParameters::Report, UnknownParameters::Forbid] {
            let options = Options { unknown_parameters: choice, ..Options::default() };
            let schema = r#"{"properties": {"a": {}}, "oneOf": [{"properties": {"b": {}}}, {"required": ["c"]}]}"#;
            let (schema, _) = Schema::compile(schema, &options).expect("it compiles");
            let bounds = |schema: &Schema| {
                let asked = schema.by_options().expect("something is asked");
                match &asked.counterpart {
                    Some(Counterpart::Notices(other) | Counterpart::Confirms(other)) => {
                        [schema, other].map(|schema| (schema.bounds().fuel_max, schema.failures_max()))
                    }
                    other => panic!("{other:?}"),
                }
            };
            assert_eq!(bounds(&schema.with_bounds(7, 1_000)), [(1_000, 7); 2]);
            let unbounded = bounds(&schema)[0];
            assert_eq!(bounds(&schema.with_bounds(unbounded.1 as u64, u64::MAX)), [unbounded; 2]);
        }
    }

    #[test]
    fn blank_texts_are_no_arguments() {
        for text in ["", " \n\t\r", "null", " null ", "\"\"", "\"  \"", " \"\\n\\t \" ", r#""\u0020\u000A\u0009""#] {
            assert!(Arguments::from(text).are_empty(), "{text:?}");
        }
        for text in ["{}", "[]", "0", "false", "\"a\"", "\"", "\"\\\\\"", "nul", "\u{c}", "null null"] {
            assert!(!Arguments::from(text).are_empty(), "{text:?}");
        }
    }
}
