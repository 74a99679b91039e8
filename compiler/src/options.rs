//! What changes a verdict: options of compilation, part of a unit's digest.

use std::fmt::Write as _;
use std::sync::{Arc, OnceLock};

use callgate_vm::limits::Limits;

use crate::dialect::Draft;
use crate::document::Documents;
use crate::ingest::shape::Shape;

/// What becomes of tools about which an error was found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Policy {
    /// Whatever compiles can be called; the findings are told.
    #[default]
    Flag,
    /// A tool with a finding of severity error cannot be called, also where its schema compiles.
    Quarantine,
    /// One finding of severity error refuses the whole catalog; all findings are told.
    Strict,
}

/// What becomes of a name that an object has and its schema does not know.
///
/// An object is held against the names that any schema applied to it in place declares (`allOf`, `$ref`, the branches of
/// unions that pass), as by an `unevaluatedProperties: false` around them all; names in `required` and
/// `dependentRequired` are known too. Wherever schemas say that there may be more, or declare nothing, nothing is
/// unknown: `additionalProperties` or `unevaluatedProperties` beside, or no `properties` at all (`properties: {}`
/// declares that there are none). Inside `not`, `if`, `contains` and `propertyNames` the schema alone decides.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum UnknownParameters {
    /// Nothing: the schema alone decides.
    #[default]
    Ignore,
    /// The call passes, and a notice names it.
    Report,
    /// The call is rejected, with a failure `unknown_parameter`.
    Forbid,
}

/// What becomes of a call without arguments: `null`, and text that is empty or blank.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EmptyArguments {
    /// They are judged as they are: no object, or no JSON.
    #[default]
    Reject,
    /// They count as `{}`. Holds for arguments, not for results.
    AsObject,
}

/// What becomes of `null` for a property that may be left out and whose schema does not take it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum NullForOptional {
    /// It is judged by the property's schema.
    #[default]
    Reject,
    /// It passes, as if the property were not there. Only `properties` is meant so: the member still counts for
    /// `minProperties`, `dependentRequired` and `propertyNames`, and is judged by patterns that match its name. A property
    /// may be left out if no part of the composition, in whichever branch, has its name in `required` or asks for it
    /// beside another.
    AsAbsent,
}

/// How schemas are compiled.
#[derive(Clone, Debug)]
#[allow(clippy::struct_excessive_bools)] // each is a choice of its own
pub struct Options {
    /// The draft of a schema that does not say with `$schema`. MCP's default is 2020-12.
    pub draft: Draft,
    /// Whether `format` asserts. Otherwise it is an annotation, as the specification has it.
    pub assert_formats: bool,
    /// Whether calls are read as a lax handler reads them, so that `"7"` is taken for an integer; formats are then read as
    /// the types that they stand for. What a call is judged by is that reading, and the handler still gets what was sent.
    pub lax: bool,
    /// Names that schemas do not know.
    pub unknown_parameters: UnknownParameters,
    /// Calls without arguments.
    pub empty_arguments: EmptyArguments,
    /// `null` where a property may be left out.
    pub null_for_optional: NullForOptional,
    /// Documents that references may reach, by URI. Nothing else is ever read.
    pub documents: Arc<Documents>,
    /// The shape that all tools of a catalog are read in; none recognises each by its members. Not part of a digest: it
    /// says where schemas are, not what they mean.
    pub shape: Option<Shape>,
    /// What becomes of tools with errors. Not part of a digest: units are the same.
    pub policy: Policy,
    /// Bounds.
    pub limits: Limits,
    /// Rewrites of the accept code. On by default; off only to compare.
    pub peephole: bool,
    /// Instructions that do the work of several. On by default; off only to compare.
    pub fusion: bool,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            draft: Draft::D2020,
            assert_formats: false,
            lax: false,
            unknown_parameters: UnknownParameters::Ignore,
            empty_arguments: EmptyArguments::Reject,
            null_for_optional: NullForOptional::Reject,
            documents: Arc::default(),
            shape: None,
            policy: Policy::Flag,
            limits: Limits::default(),
            peephole: true,
            fusion: true,
        }
    }
}

impl Options {
    /// What of the options belongs into a digest: all that can change a unit.
    pub(crate) fn fingerprint(&self) -> String {
        // An option that is added does not compile until it is said here whether it can change a unit.
        let Options {
            draft,
            assert_formats,
            lax,
            unknown_parameters,
            empty_arguments,
            null_for_optional,
            documents,
            shape: _,
            policy: _,
            limits,
            peephole,
            fusion,
        } = self;
        let mut out = String::with_capacity(512);
        out.push_str("draft=");
        out.push_str(draft.name());
        let truth = |is: bool| if is { "true" } else { "false" };
        out.push_str(" formats=");
        out.push_str(truth(*assert_formats));
        out.push_str(" lax=");
        out.push_str(truth(*lax));
        out.push_str(" peephole=");
        out.push_str(truth(*peephole));
        out.push_str(" fusion=");
        out.push_str(truth(*fusion));
        // Of these, what nobody has set is left out.
        out.push_str(match unknown_parameters {
            UnknownParameters::Ignore => "",
            UnknownParameters::Report => " unknown=report",
            UnknownParameters::Forbid => " unknown=forbid",
        });
        out.push_str(match empty_arguments {
            EmptyArguments::Reject => "",
            EmptyArguments::AsObject => " empty=object",
        });
        out.push_str(match null_for_optional {
            NullForOptional::Reject => "",
            NullForOptional::AsAbsent => " null=absent",
        });
        out.push_str(" limits=");
        push_limits(&mut out, limits);
        out.push_str(" documents=");
        out.push_str(documents.fingerprint());
        out
    }
}

/// Appends the limits. Those that nobody has set are written once a process: a small schema compiles in little more
/// time than writing them takes.
fn push_limits(out: &mut String, limits: &Limits) {
    static UNSET: OnceLock<(Limits, String)> = OnceLock::new();
    let (unset, text) = UNSET.get_or_init(|| {
        let (limits, mut text) = (Limits::default(), String::new());
        push_numbers(&mut text, &limits);
        (limits, text)
    });
    if limits == unset {
        out.push_str(text);
    } else {
        push_numbers(out, limits);
    }
}

fn push_numbers(out: &mut String, limits: &Limits) {
    for (at, value) in limits.values().enumerate() {
        let written = write!(out, "{}{value}", if at > 0 { "," } else { "" });
        debug_assert!(written.is_ok());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_limit_is_in_the_fingerprint() {
        let plain = Options::default().fingerprint();
        assert!(plain.contains(" limits=65536,32,512,"), "{plain}");
        for name in Limits::names() {
            let mut options = Options::default();
            options.limits.set(name, 1).expect("a limit");
            assert_ne!(options.fingerprint(), plain, "{name}");
        }
    }

    #[test]
    fn every_option_is_in_the_fingerprint() {
        let plain = Options::default();
        let others = [
            Options { draft: Draft::D7, ..plain.clone() },
            Options { assert_formats: true, ..plain.clone() },
            Options { lax: true, ..plain.clone() },
            Options { peephole: false, ..plain.clone() },
            Options { fusion: false, ..plain.clone() },
            Options { unknown_parameters: UnknownParameters::Report, ..plain.clone() },
            Options { unknown_parameters: UnknownParameters::Forbid, ..plain.clone() },
            Options { empty_arguments: EmptyArguments::AsObject, ..plain.clone() },
            Options { null_for_optional: NullForOptional::AsAbsent, ..plain.clone() },
        ];
        let mut seen = vec![plain.fingerprint()];
        for options in others {
            let fingerprint = options.fingerprint();
            assert!(!seen.contains(&fingerprint), "{fingerprint}");
            seen.push(fingerprint);
        }
    }

    #[test]
    fn numbers_are_written_whole() {
        for number in [0, 9, 10, 65_536, 1 << 34, u64::MAX] {
            let mut options = Options::default();
            options.limits.set("call_fuel_max", number).expect("a limit");
            let fingerprint = options.fingerprint();
            let limits = fingerprint.split([' ', '=', ',']).collect::<Vec<_>>();
            assert!(limits.contains(&number.to_string().as_str()), "{fingerprint}");
        }
    }
}
