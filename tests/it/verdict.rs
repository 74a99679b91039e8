//! What a check answers, as data that can be compared and printed.

use callgate::{Arguments, Options, Outcome, Schema, Session};

/// An outcome that borrows nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    Accepted,
    /// The line, and the code of each listed failure.
    Rejected(String, Vec<String>),
    /// The fault's code.
    Fault(&'static str),
    UnknownTool,
    NotCompiled,
}

impl Verdict {
    pub(crate) fn is_accepted(&self) -> bool {
        *self == Verdict::Accepted
    }

    pub(crate) fn line(&self) -> &str {
        match self {
            Verdict::Rejected(line, _) => line,
            _ => "",
        }
    }

    /// The code of a failure or fault.
    pub(crate) fn code(&self) -> &str {
        match self {
            Verdict::Rejected(_, codes) => codes.first().map_or("", String::as_str),
            Verdict::Fault(code) => code,
            _ => "",
        }
    }
}

impl From<Outcome<'_>> for Verdict {
    fn from(outcome: Outcome<'_>) -> Verdict {
        match outcome {
            Outcome::Accepted(_) => Verdict::Accepted,
            Outcome::Rejected(rejection) => {
                let codes = rejection.failures().map(|failure| failure.code().to_owned());
                Verdict::Rejected(rejection.to_string(), codes.collect())
            }
            Outcome::Fault(fault) => Verdict::Fault(fault.code.as_str()),
            Outcome::UnknownTool => Verdict::UnknownTool,
            Outcome::NotCompiled => Verdict::NotCompiled,
        }
    }
}

/// Compiles a schema that must compile.
#[track_caller]
pub(crate) fn compile(schema: &str) -> Schema {
    compile_with(schema, &Options::default())
}

#[track_caller]
pub(crate) fn compile_with(schema: &str, options: &Options) -> Schema {
    match Schema::compile(schema, options) {
        Ok((schema, _)) => schema,
        Err(refused) => panic!("{refused}: {}", start_of(schema)),
    }
}

/// The verdict with a session of its own.
pub(crate) fn judge<'a>(schema: &'a Schema, arguments: impl Into<Arguments<'a>>) -> Verdict {
    let mut session = Session::new();
    let arguments = arguments.into();
    // The outcome borrows schema and session alike.
    schema.check(&mut session, arguments).into()
}

/// The start of a text that may be very long.
pub(crate) fn start_of(text: &str) -> String {
    text.chars().take(300).collect()
}
