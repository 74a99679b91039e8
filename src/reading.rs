//! Calls as a pydantic-like handler reads them: lax acceptance, coerced copies, field lines.
//!
//! ```text
//! lax check:    arguments ─► tape `sent` ─► read ─┬─► accepted
//!                                                └─► edits ─► tape `tape` ─► explain ─► line, json
//! field lines:  tape `sent` (lax, read already) or `tape` (read by the schema) ─► FieldLines
//! ```
//!
//! What a lax reading forgives no text may hold against the caller: so a rejected call is explained by its coerced copy, in
//! which only what really failed stands as it came.

use std::fmt::{self, Write};

use callgate_vm::failure::FaultCode;
use callgate_vm::instance::{Halt, Instance};
use callgate_vm::json;
use callgate_vm::read::{CopyExtent, Mode, ReadInto, read};
use callgate_vm::render::{Bounded, Renderer};
use callgate_vm::tape::ReadError;
use callgate_vm::value::ValueInstance;
use serde_json::Value;

use crate::by_options::ByOptions;
use crate::found::Found;
use crate::rejection::{Cause, Rejection};
use crate::schema::{Accepted, Arguments, Outcome, Schema};
use crate::session::Session;

impl Schema {
    /// Judges the arguments by a lax reading; they are passed on as they came.
    #[cold]
    pub(crate) fn check_lax<'s>(&'s self, session: &'s mut Session, arguments: Arguments<'_>) -> Outcome<'s> {
        match session.put(self, arguments) {
            Ok(()) => self.judge_sent(session),
            Err(outcome) => outcome,
        }
    }

    /// As above, of a host's own object, which is copied.
    pub(crate) fn check_lax_instance<'s, 'a, I: Instance<'a>>(
        &'s self,
        session: &'s mut Session,
        host: &mut I,
    ) -> Outcome<'s> {
        match session.sent.copy(host, self.bounds().depth_max) {
            Ok(_) => self.judge_sent(session),
            Err(halt) => Outcome::Fault(halt.into()),
        }
    }

    fn judge_sent<'s>(&'s self, session: &'s mut Session) -> Outcome<'s> {
        match session.read_sent(self, Mode::Lax) {
            Ok(true) => Outcome::Accepted(Accepted::default()),
            Ok(false) => self.reject_sent(session),
            Err(halt) => Outcome::Fault(halt.into()),
        }
    }

    /// Explains the coerced copy. Where the schema has nothing against it, what the reading found stands alone.
    fn reject_sent<'s>(&'s self, session: &'s mut Session) -> Outcome<'s> {
        if let Err(code) = session.fill_coerced(self) {
            return Outcome::Fault(code.into());
        }
        let explained = session.explain_coerced(self);
        let passed = explained == Ok(true);
        match explained {
            Err(Halt::Fault(code)) => Outcome::Fault(code.into()),
            _ => {
                let found = Found::listed(self, session).with_reading();
                if passed { self.misread(found) } else { self.rejected(found) }
            }
        }
    }

    /// What the handler would get if it read the arguments as pydantic does in its lax mode: with values in place of their
    /// spellings, without members that a model does not take, and without defaults. `None` if the reading does not accept
    /// them. Whether this schema was compiled for lax checks makes no difference.
    ///
    /// A number that is not finite is `null`. Integers beyond 64 bits become doubles, as `serde_json` has them;
    /// [`coerced_text`](Self::coerced_text) keeps them.
    pub fn coerced<'a>(&self, session: &mut Session, arguments: impl Into<Arguments<'a>>) -> Option<Value> {
        serde_json::from_str(&self.coerced_text(session, arguments)?).ok()
    }

    /// As [`coerced`](Self::coerced), as JSON text with numbers as they are written.
    pub fn coerced_text<'a>(&self, session: &mut Session, arguments: impl Into<Arguments<'a>>) -> Option<String> {
        let arguments = arguments.into();
        let arguments = self.by_options().map_or(arguments, |asked| asked.taken(arguments));
        if let Some(other) = self.by_options().and_then(ByOptions::confirms)
            && !session.reads(other, arguments)
        {
            return None;
        }
        session.put(self, arguments).ok()?;
        if session.read_sent(self, Mode::Lax) != Ok(true) {
            return None;
        }
        let Session { sent, reading, .. } = session;
        let mut text = String::new();
        reading.write_coerced(sent.copied(), CopyExtent::Handler, &mut text);
        Some(text)
    }

    /// Whether pydantic's strict mode would take the arguments from JSON; `None` where that cannot be told (text that is not
    /// JSON, limits).
    pub fn accepts_strictly<'a>(&self, session: &mut Session, arguments: impl Into<Arguments<'a>>) -> Option<bool> {
        session.put(self, arguments.into()).ok()?;
        session.read_sent(self, Mode::Strict).ok()
    }
}

impl Session {
    /// Puts the arguments on the tape of what was sent, with a text of its own. Errors: they are not JSON, or beyond the limits.
    fn put<'o>(&mut self, schema: &Schema, arguments: Arguments<'_>) -> Result<(), Outcome<'o>> {
        let bytes = match arguments {
            Arguments::Bytes(bytes) => bytes,
            Arguments::Value(value) => {
                let copied = self.sent.copy(&mut ValueInstance::new(value), schema.bounds().depth_max);
                return copied.map(|_| ()).map_err(|halt| Outcome::Fault(halt.into()));
            }
        };
        let options = schema.read_options();
        if bytes.len() > options.bytes_max {
            return Err(Outcome::Fault(FaultCode::CallBytes.into()));
        }
        let not_json = |malformed| Outcome::Rejected(Rejection::not_json(malformed));
        let text = json::utf8(bytes).map_err(not_json)?;
        match self.sent.fill(options, |out| out.push_str(text)) {
            Ok(_) => Ok(()),
            Err(ReadError::Malformed(malformed)) => Err(not_json(malformed)),
            Err(ReadError::Fault(code)) => Err(Outcome::Fault(code.into())),
        }
    }

    /// Whether a lax reading takes the arguments; no if that cannot be told.
    pub(crate) fn reads(&mut self, schema: &Schema, arguments: Arguments<'_>) -> bool {
        self.put(schema, arguments).is_ok() && self.read_sent(schema, Mode::Lax) == Ok(true)
    }

    /// As above, of a host's own object.
    pub(crate) fn reads_host<'a, I: Instance<'a>>(&mut self, schema: &Schema, host: &mut I) -> bool {
        self.sent.copy(host, schema.bounds().depth_max).is_ok() && self.read_sent(schema, Mode::Lax) == Ok(true)
    }

    /// Puts what has been read on the other tape, with values in place of their spellings.
    pub(crate) fn fill_coerced(&mut self, schema: &Schema) -> Result<(), FaultCode> {
        let Session { sent, reading, tape, .. } = self;
        match tape.fill(schema.read_options(), |out| reading.write_coerced(sent.copied(), CopyExtent::Values, out)) {
            Err(ReadError::Fault(code)) => Err(code),
            Ok(_) | Err(ReadError::Malformed(_)) => Ok(()),
        }
    }

    fn read_sent(&mut self, schema: &Schema, mode: Mode) -> Result<bool, Halt> {
        let Session { sent, reading, tape_stack, scratch, .. } = self;
        let into = ReadInto { reading, failures_max: schema.failures_max() };
        read(schema.unit(), sent.copied(), mode, tape_stack, scratch, into, &schema.bounds())
    }

    /// Reads what is on the tape of explanations: of `text`, or a copy.
    pub(crate) fn read_tape(&mut self, schema: &Schema, text: Option<&str>) -> Result<bool, Halt> {
        let Session { tape: buf, reading, tape_stack, scratch, .. } = self;
        let tape = text.map_or_else(|| buf.copied(), |text| buf.tape(text));
        let into = ReadInto { reading, failures_max: schema.failures_max() };
        read(schema.unit(), tape, Mode::Schema, tape_stack, scratch, into, &schema.bounds())
    }
}

impl Rejection<'_> {
    /// Writes what is wrong as lines `LOC: MESSAGE`, joined by line ends, in the words of pydantic: all failures, no URL, no
    /// name of a class but those of the schema. Cut at the output limit as the line is; failures whose lines are beyond it, or
    /// beyond the limit on listed ones, are counted in a last line.
    ///
    /// Judged by the schema, or by the lax reading where the catalog is compiled for it. What only the schema's own judge
    /// finds is said in its words. Cost: at the first question one more reading.
    pub fn write_field(&self, out: &mut dyn Write) -> fmt::Result {
        self.write_field_masked(out, false)
    }

    pub(crate) fn write_field_masked(&self, out: &mut dyn Write, masked: bool) -> fmt::Result {
        let mut unbounded = out;
        let mut out = Bounded::new(&mut unbounded, self.text_bytes_max());
        let (len, mut unwritten) = self.field_len();
        for at in 0..len {
            if out.is_cut() {
                unwritten += (len - at) as u64;
                break;
            }
            out.write_str(if at > 0 { "\n" } else { "" })?;
            self.write_field_line(&mut out, at, masked)?;
        }
        out.finish()?;
        if unwritten == 0 { Ok(()) } else { write!(unbounded, "\n… ({unwritten} failures more)") }
    }

    /// The lines of [`write_field`](Self::write_field) one by one, each cut at the output limit, without the count of what is
    /// not listed.
    pub fn field_lines(&self) -> Vec<String> {
        let line = |at| {
            let mut line = String::new();
            let mut out = Bounded::new(&mut line, self.text_bytes_max());
            let written = self.write_field_line(&mut out, at, false).and_then(|()| out.finish());
            debug_assert!(written.is_ok());
            line
        };
        (0..self.field_len().0).map(line).collect()
    }

    /// How many lines there are, and how many failures beside.
    fn field_len(&self) -> (usize, u64) {
        match &self.cause {
            Cause::Failed(_, found) | Cause::Misread(found) => {
                let read = found.try_borrow_mut().is_ok_and(|mut found| found.read_fields());
                let found = found.borrow();
                let reading = found.field_lines(false).reading;
                if read {
                    (reading.failures().len(), reading.unlisted())
                } else {
                    (found.failures().len(), found.unlisted())
                }
            }
            Cause::Malformed(_) | Cause::NotJson(..) => (1, 0),
        }
    }

    fn write_field_line(&self, out: &mut impl Write, at: usize, masked: bool) -> fmt::Result {
        let (Cause::Failed(_, found) | Cause::Misread(found)) = &self.cause else {
            return self.write_text(out, masked);
        };
        let found = found.borrow();
        let lines = found.field_lines(masked);
        if found.has_fields() {
            return lines.reading.failures().get(at).map_or(Ok(()), |failure| lines.write_line(out, failure));
        }
        let Some(failure) = found.failures().get(at) else {
            return Ok(());
        };
        let renderer = Renderer { masked, ..found.renderer() };
        if renderer.write_location(out, failure.own.path, '.')? {
            out.write_str(": ")?;
        }
        renderer.write_message(out, &failure.own)
    }
}
