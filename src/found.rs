//! What a check leaves behind when it rejects a call: the failure that speaks, and the others once they are asked for.

use callgate_vm::explain::Extent;
use callgate_vm::failure::{FaultCode, Ranked};
use callgate_vm::instance::{Halt, Instance};
use callgate_vm::missing::{find_missing, find_missing_in_place};
use callgate_vm::read::FieldLines;
use callgate_vm::render::Renderer;
use callgate_vm::scratch::StackOf;
use callgate_vm::tape::{Tape, TapeInstance};
use callgate_vm::value::ValueInstance;
use callgate_vm::{ExplainInto, explain, explain_in_place};
use serde_json::Value;

use crate::schema::{Fault, Schema};
use crate::session::Session;

/// A rejected call: its arguments, and the session that holds what was found about them.
///
/// The check seeks the failure that speaks, which most hosts want alone. All of them are listed at the first question
/// for them, in the same memory.
pub(crate) struct Found<'s> {
    schema: &'s Schema,
    session: &'s mut Session,
    source: Source<'s>,
    listed: Listed,
    /// Whether all that is wrong is that names are missing, once that is known.
    missing_only: Option<bool>,
    /// Whether a lax reading has judged what was sent, which is on the session's other tape.
    is_lax: bool,
    /// Whether a reading found what is wrong, once there was one.
    read: Option<bool>,
    /// How often a listing has been made anew.
    listing: u32,
}

/// Where the arguments are.
#[derive(Clone, Copy)]
pub(crate) enum Source<'s> {
    /// The session's tape is of this text.
    Text(&'s str),
    /// What failures name of the value is copied to the session's tape.
    Value(&'s Value),
    /// The session's tape is a copy of them; everything has been listed.
    Copied,
    /// As for a value; the arguments themselves are out of reach, and everything has been asked.
    OutOfReach,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Listed {
    No,
    Yes,
    /// They could not be: the failure that speaks stands alone.
    Stopped(FaultCode),
}

impl<'s> Found<'s> {
    fn new(schema: &'s Schema, session: &'s mut Session, source: Source<'s>, listed: Listed) -> Self {
        Found { schema, session, source, listed, missing_only: None, is_lax: false, read: None, listing: 0 }
    }

    /// Before anything has been found.
    pub(crate) fn not_yet(schema: &'s Schema, session: &'s mut Session, source: Source<'s>) -> Self {
        let listed = if schema.lists_at_once() { Listed::Yes } else { Listed::No };
        Found::new(schema, session, source, listed)
    }

    /// Seeks the failure that speaks; answers the verdict.
    /// Errors: explaining is beyond the bounds, or the value needs a tape.
    pub(crate) fn seek(&mut self) -> Result<bool, Halt> {
        self.explain(self.listed)
    }

    /// The session back.
    pub(crate) fn into_session(self) -> &'s mut Session {
        self.session
    }

    /// What has been explained on a copy in the session already, with all failures.
    pub(crate) fn listed(schema: &'s Schema, session: &'s mut Session) -> Self {
        Found::new(schema, session, Source::Copied, Listed::Yes)
    }

    /// As above, where the arguments lie, with the answer to whether all that is wrong is that names are missing.
    pub(crate) fn answered(schema: &'s Schema, session: &'s mut Session, missing_only: bool) -> Self {
        Found { missing_only: Some(missing_only), ..Found::new(schema, session, Source::OutOfReach, Listed::Yes) }
    }

    /// The same, after a lax reading of the arguments that rejected them.
    pub(crate) fn with_reading(self) -> Self {
        Found { is_lax: true, read: Some(true), ..self }
    }

    /// Reads the arguments by the schema, unless that has been done; whether what is wrong was found so. Arguments that are
    /// out of reach are not read, nor what is beyond the bounds.
    pub(crate) fn read_fields(&mut self) -> bool {
        if let Some(known) = self.read {
            return known;
        }
        let read = self.text_on_tape().is_some_and(|text| self.session.read_tape(self.schema, text) == Ok(false));
        let found = read && !self.session.reading.failures().is_empty();
        if !found {
            self.list();
        }
        self.read = Some(found);
        found
    }

    /// Whether [`read_fields`](Self::read_fields) found what is wrong.
    pub(crate) fn has_fields(&self) -> bool {
        self.read == Some(true)
    }

    /// The text that the whole tape is of; a value is put there first.
    #[allow(clippy::option_option)] // whether there is a tape, and whether it has a text beside it
    fn text_on_tape(&mut self) -> Option<Option<&'s str>> {
        match self.source {
            Source::Text(text) => Some(Some(text)),
            Source::Copied => Some(None),
            Source::OutOfReach => None,
            Source::Value(value) => self.put_on_tape(value).ok().map(|()| None),
        }
    }

    /// Puts the whole value on the tape and lists all failures from there; what was found before keeps its place in the list.
    /// Errors: it cannot be; then all is as it was.
    fn put_on_tape(&mut self, value: &Value) -> Result<(), Halt> {
        self.listing += 1;
        let copied = self.session.explain_copy(self.schema, &mut ValueInstance::new(value)).map(|_| ());
        if copied.is_ok() {
            (self.source, self.listed) = (Source::Copied, Listed::Yes);
        } else {
            // As it was found before, within the same bounds.
            let again = self.explain(self.listed);
            debug_assert_eq!(again, Ok(false));
        }
        // The explanation is another one, and has what is missing no more.
        if self.missing_only.take().is_some() {
            self.missing_only();
        }
        copied
    }

    /// Words what the reading found.
    pub(crate) fn field_lines(&self, masked: bool) -> FieldLines<'_> {
        let tape = if self.is_lax { self.session.sent.copied() } else { self.renderer().tape };
        FieldLines { unit: self.schema.unit(), tape, reading: &self.session.reading, masked }
    }

    /// The unit's schema.
    pub(crate) fn schema(&self) -> &'s Schema {
        self.schema
    }

    /// Words the failures found so far.
    pub(crate) fn renderer(&self) -> Renderer<'_> {
        let tape = match self.source {
            Source::Text(text) => self.session.tape.tape(text),
            Source::Value(_) | Source::Copied | Source::OutOfReach => self.session.tape.copied(),
        };
        Renderer { unit: self.schema.unit(), tape, explanation: &self.session.explanation, masked: false }
    }

    /// The failures that are listed.
    pub(crate) fn failures(&self) -> &[Ranked] {
        match self.listed {
            Listed::Stopped(_) => self.renderer().top().map_or(&[], std::slice::from_ref),
            Listed::No | Listed::Yes => self.renderer().failures(),
        }
    }

    /// Which listing the failures are of: what one listing says of places holds for it alone.
    pub(crate) fn listing(&self) -> u32 {
        self.listing
    }

    /// Lists all failures, where it can be with the whole call on the tape; answers whether it is.
    pub(crate) fn list_whole(&mut self) -> bool {
        if let Source::Value(value) = self.source
            && self.stopped().is_none()
        {
            // Where it cannot be, they are listed where they lie.
            let _ = self.put_on_tape(value);
        }
        self.list();
        matches!(self.source, Source::Text(_) | Source::Copied)
    }

    /// How many failures are not listed; only known once all are.
    pub(crate) fn unlisted(&self) -> u64 {
        if self.listed == Listed::Yes { self.renderer().unlisted() } else { 0 }
    }

    /// Why all failures could not be listed.
    pub(crate) fn stopped(&self) -> Option<FaultCode> {
        match self.listed {
            Listed::Stopped(code) => Some(code),
            Listed::No | Listed::Yes => None,
        }
    }

    /// Lists all failures, unless that has been done.
    pub(crate) fn list(&mut self) {
        if self.listed != Listed::No {
            return;
        }
        let mut explained = self.explain(Listed::Yes);
        if let (Err(Halt::Unreadable | Halt::Stackless), Source::Value(value)) = (explained, self.source) {
            // What all failures name together has no room: the whole value is put on the tape.
            explained = self.session.explain_copy(self.schema, &mut ValueInstance::new(value));
            if explained.is_ok() {
                self.source = Source::Copied;
            }
        }
        self.listed = match explained {
            Ok(_) => Listed::Yes,
            Err(halt) => Listed::Stopped(Fault::from(halt).code),
        };
        if self.stopped().is_some() {
            // As it was found before, within the same bounds.
            let again = self.explain(Listed::No);
            debug_assert_eq!(again, Ok(false));
        }
    }

    fn explain(&mut self, listed: Listed) -> Result<bool, Halt> {
        let extent = match listed {
            Listed::No | Listed::Stopped(_) => Extent::Speaking,
            Listed::Yes => self.schema.all_failures(self.session),
        };
        match self.source {
            Source::Text(text) => self.session.explain_tape(self.schema, text, extent),
            Source::Value(value) => {
                let mut instance = ValueInstance::new(value);
                // Most failures are found without a stack.
                if let Extent::Speaking = extent {
                    let sought = self.session.explain_in_place(self.schema, &mut instance, None, extent);
                    if sought != Err(Halt::Stackless) {
                        return sought;
                    }
                }
                self.session.with_value_stack(|session, stack| {
                    session.explain_in_place(self.schema, &mut instance, Some(stack), extent)
                })
            }
            Source::Copied | Source::OutOfReach => self.session.explain_copied(self.schema, extent),
        }
    }

    /// Whether all that is wrong is that names are missing; the explanation has them. What cannot be decided is a no.
    pub(crate) fn missing_only(&mut self) -> bool {
        if let Some(known) = self.missing_only {
            return known;
        }
        // The list comes first: both are about one explanation, and it often tells.
        self.list();
        let missing_only = self.stopped().is_none() && self.find_missing() == Ok(true);
        self.missing_only = Some(missing_only);
        missing_only
    }

    fn find_missing(&mut self) -> Result<bool, Halt> {
        match self.source {
            Source::Text(text) => self.session.find_missing_on_tape(self.schema, Some(text)),
            Source::Copied => self.session.find_missing_on_tape(self.schema, None),
            Source::OutOfReach => Ok(false),
            Source::Value(value) => {
                let mut instance = ValueInstance::new(value);
                let found = self.session.with_value_stack(|session, stack| {
                    session.find_missing_in_place(self.schema, &mut instance, stack)
                });
                match found {
                    Err(Halt::Unreadable | Halt::Stackless) => self.find_missing_on_copy(value),
                    found => found,
                }
            }
        }
    }

    /// What is missing has no room beside the copies of what failures name: the whole value is put on the tape.
    fn find_missing_on_copy(&mut self, value: &Value) -> Result<bool, Halt> {
        self.put_on_tape(value)?;
        self.find_missing()
    }
}

/// What a session without a size of its own makes room for when it first has to copy a call. Unit: bytes of its text.
const COPIES_BYTES: usize = 1_024;

/// As above. Unit: levels.
const COPIES_DEPTH: usize = 16;

impl Session {
    /// Explains what the tape has read of `text`.
    fn explain_tape(&mut self, schema: &Schema, text: &str, extent: Extent) -> Result<bool, Halt> {
        let Session { scratch, tape_stack, tape, explanation, .. } = self;
        let instance = TapeInstance::new(tape.tape(text), 0);
        explain(schema.unit(), instance, tape_stack, scratch, explanation, &schema.bounds(), extent)
    }

    /// Explains the copy that a lax reading has made, with all failures.
    pub(crate) fn explain_coerced(&mut self, schema: &Schema) -> Result<bool, Halt> {
        let extent = schema.all_failures(self);
        self.explain_copied(schema, extent)
    }

    /// Explains the whole instance that has been copied.
    fn explain_copied(&mut self, schema: &Schema, extent: Extent) -> Result<bool, Halt> {
        let Session { scratch, tape_stack, tape, explanation, .. } = self;
        let instance = TapeInstance::new(tape.copied(), 0);
        explain(schema.unit(), instance, tape_stack, scratch, explanation, &schema.bounds(), extent)
    }

    /// Explains a copy of the whole instance, with all failures.
    pub(crate) fn explain_copy<'a, I: Instance<'a>>(&mut self, schema: &Schema, host: &mut I) -> Result<bool, Halt> {
        // The next call may then be explained where it lies.
        if self.tape.is_unused() {
            self.tape.reserve(COPIES_BYTES, COPIES_DEPTH);
        }
        let _: Tape<'_> = self.tape.copy(host, schema.bounds().depth_max)?;
        let extent = schema.all_failures(self);
        self.explain_copied(schema, extent)
    }

    /// Explains an instance where it lies; what failures name is copied.
    pub(crate) fn explain_in_place<'a, I: Instance<'a>>(
        &mut self,
        schema: &Schema,
        host: &mut I,
        stack: Option<&mut StackOf<'a, I>>,
        extent: Extent,
    ) -> Result<bool, Halt> {
        let Session { scratch, explanation, tape, .. } = self;
        let mut into = ExplainInto { explanation, copies: tape };
        explain_in_place(schema.unit(), host, stack, scratch, &mut into, &schema.bounds(), extent)
    }

    /// Looks for what is missing on the tape: of `text`, or the copy that was made.
    fn find_missing_on_tape(&mut self, schema: &Schema, text: Option<&str>) -> Result<bool, Halt> {
        let Session { scratch, tape_stack, tape, explanation, .. } = self;
        let tape = text.map_or_else(|| tape.copied(), |text| tape.tape(text));
        let (instance, bounds) = (TapeInstance::new(tape, 0), schema.bounds());
        find_missing(schema.unit(), instance, tape_stack, scratch, explanation, &bounds, schema.failures_max())
    }

    /// Looks for what is missing in an instance where it lies, after it has been explained there.
    pub(crate) fn find_missing_in_place<'a, I: Instance<'a>>(
        &mut self,
        schema: &Schema,
        host: &mut I,
        stack: &mut StackOf<'a, I>,
    ) -> Result<bool, Halt> {
        let Session { scratch, explanation, tape, .. } = self;
        let mut into = ExplainInto { explanation, copies: tape };
        find_missing_in_place(schema.unit(), host, stack, scratch, &mut into, &schema.bounds(), schema.failures_max())
    }
}
