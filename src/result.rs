//! Results of tools, held against their output schemas.
//!
//! ```text
//! isError: true            accepted: the schema is of results, not of errors
//! no output schema         accepted
//! structuredContent        judged by the output schema, by itself: locations start inside it
//! none of it               rejected, by the schema of such results ([`ENVELOPE`])
//! ```
//!
//! Source: Model Context Protocol 2025-06-18, server/tools, "Structured Content" and "Output Schema".

use std::sync::{Arc, LazyLock};

use callgate_compiler::{Options, SchemaRole, compile_schema};
use callgate_vm::instance::View;
use callgate_vm::json;
use callgate_vm::tape::{Node, ReadError, Tape};
use callgate_vm::unit::Unit;
use serde_json::Value;

use crate::catalog::Catalog;
use crate::rejection::Rejection;
use crate::schema::{Accepted, Arguments, Outcome, Schema};
use crate::session::Session;

/// What a result is where its tool has an output schema. Judges those that lack their content.
const ENVELOPE: &str = r#"{
    "type": "object",
    "required": ["structuredContent"],
    "description": "The tool has an output schema, so a result that is no error has structured content."
}"#;

static ENVELOPE_UNIT: LazyLock<Arc<Unit>> = LazyLock::new(|| {
    let (units, _) = compile_schema(ENVELOPE.as_bytes(), &Options::default()).expect("the envelope is a schema");
    Arc::new(units.unit)
});

/// Makes what the first result without content would make otherwise, so that checks allocate nothing. Once a process; asked
/// by catalogs that get a tool with an output schema, and for sessions of those that were loaded.
pub(crate) fn prepare_results() {
    LazyLock::force(&ENVELOPE_UNIT);
}

/// What a result says of itself.
enum Content<C> {
    /// It is an error.
    Error,
    /// Its structured content.
    Structured(C),
    /// It is no object, or one without.
    Missing,
}

impl Catalog {
    /// Checks the result of a call, as MCP has it, against the tool's output schema.
    ///
    /// Judged is the result's `structuredContent`, by itself: instance locations start inside it. A result whose `isError`
    /// is `true` is accepted, and so is any result of a tool that has no output schema. A result that should have
    /// structured content and has none is rejected: `'structuredContent' is a required property`, with a description that
    /// says why. Notices and unknown parameters are as for calls; empty results are never taken for `{}`.
    ///
    /// Cost: from text, the result is read whole before its content is judged. No allocation within the session's size,
    /// if the session is of this catalog or the catalog was compiled in this process ([`Catalog::session`]).
    /// Source: Model Context Protocol 2025-06-18, server/tools.
    pub fn check_result<'s>(
        &'s self,
        session: &'s mut Session,
        tool: &str,
        result: impl Into<Arguments<'s>>,
    ) -> Outcome<'s> {
        let schema = match self.output(tool) {
            Ok(Some(schema)) => schema,
            Ok(None) => return Outcome::Accepted(Accepted::default()),
            Err(outcome) => return outcome,
        };
        let result = result.into();
        let content = match result {
            Arguments::Value(value) => content_of_value(value),
            Arguments::Bytes(bytes) => match content_of_text(session, schema, bytes) {
                Ok(content) => content,
                Err(outcome) => return outcome,
            },
        };
        match content {
            Content::Error => Outcome::Accepted(Accepted::default()),
            Content::Structured(content) => self.about_result(schema.check(session, content)),
            Content::Missing => self.about_result(self.envelope().check(session, result)),
        }
    }

    /// Checks the structured content of a result alone; otherwise as [`check_result`](Self::check_result).
    pub fn check_structured_content<'s>(
        &'s self,
        session: &'s mut Session,
        tool: &str,
        content: impl Into<Arguments<'s>>,
    ) -> Outcome<'s> {
        match self.output(tool) {
            Ok(Some(schema)) => self.about_result(schema.check(session, content)),
            Ok(None) => Outcome::Accepted(Accepted::default()),
            Err(outcome) => outcome,
        }
    }

    /// The tool's output schema, if it has one.
    fn output<'s>(&'s self, tool: &str) -> Result<Option<&'s Schema>, Outcome<'s>> {
        let tool = self.tool(tool).ok_or(Outcome::UnknownTool)?;
        match tool.output() {
            None if tool.compiled(SchemaRole::Output).is_some() => Err(Outcome::NotCompiled),
            output => Ok(output),
        }
    }

    fn about_result<'s>(&'s self, outcome: Outcome<'s>) -> Outcome<'s> {
        let mut outcome = about_result(outcome);
        self.set_default_rendering(&mut outcome);
        outcome
    }

    /// What judges results that lack their content.
    fn envelope(&self) -> &Schema {
        self.envelope.get_or_init(|| Schema::new(Arc::clone(&ENVELOPE_UNIT), self.shared_limits()))
    }
}

fn content_of_value(result: &Value) -> Content<Arguments<'_>> {
    match (result.get("isError"), result.get("structuredContent")) {
        (Some(Value::Bool(true)), _) => Content::Error,
        (_, Some(content)) => Content::Structured(Arguments::Value(content)),
        _ => Content::Missing,
    }
}

/// Errors: the text is no JSON, or beyond what is read.
fn content_of_text<'s>(
    session: &mut Session,
    schema: &Schema,
    bytes: &'s [u8],
) -> Result<Content<Arguments<'s>>, Outcome<'s>> {
    let malformed = |malformed| about_result(Outcome::Rejected(Rejection::not_json(malformed)));
    if !schema.has_room_for(bytes) {
        return Err(Outcome::Fault(callgate_vm::failure::FaultCode::CallBytes.into()));
    }
    let text = json::utf8(bytes).map_err(malformed)?;
    let tape = match session.tape.read_text(text, schema.read_options()) {
        Ok(tape) => tape,
        Err(ReadError::Malformed(found)) => return Err(malformed(found)),
        Err(ReadError::Fault(code)) => return Err(Outcome::Fault(code.into())),
    };
    if tape.member(0, "isError").is_some_and(|is| matches!(tape.view_node(is), View::Bool(true))) {
        return Ok(Content::Error);
    }
    let content = tape.member(0, "structuredContent");
    Ok(content.map_or(Content::Missing, |content| Content::Structured(Arguments::Bytes(extent(text, tape, content)))))
}

/// The value's text as it stands, a string's quotes with it.
fn extent<'s>(text: &'s str, tape: Tape<'_>, node: Node) -> &'s [u8] {
    let entry = tape.entry(node);
    let quote = u32::from(tape.is_string(node));
    let (start, end) = ((entry.start - quote) as usize, (entry.end + quote) as usize);
    text.as_bytes().get(start..end).unwrap_or_default()
}

fn about_result(outcome: Outcome<'_>) -> Outcome<'_> {
    match outcome {
        Outcome::Rejected(rejection) => Outcome::Rejected(rejection.about_result()),
        outcome => outcome,
    }
}
