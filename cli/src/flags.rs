//! Flags that several commands have; each is defined here once.

use std::fmt::Write;

use anyhow::{Result, bail, ensure};
use callgate::{Limits, Options, Rendering, Shape, Style};
use clap::builder::{PossibleValuesParser, TypedValueParser};

use crate::catalog_file::CatalogFile;

/// How results are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Format {
    /// Text for people.
    Human,
    /// One line of JSON.
    Json,
}

/// `--format`
#[derive(Debug, clap::Args)]
pub struct FormatFlag {
    /// How to print the result.
    #[arg(long, value_enum, default_value_t = Format::Human)]
    pub format: Format,
}

/// `--limit`
#[derive(Debug, clap::Args)]
pub struct LimitFlags {
    /// Set a limit, e.g. `call_fuel_max=1000`; may be given several times. `--help` lists the names.
    #[arg(long = "limit", value_name = "NAME=N", value_parser = parse_limit, long_help = limits_help())]
    limits: Vec<(String, u64)>,
}

impl LimitFlags {
    /// Whether any limit was set.
    pub fn is_any_set(&self) -> bool {
        !self.limits.is_empty()
    }

    /// The limits: the defaults, and what the flags set. Of two flags for one limit the last counts.
    pub fn limits(&self) -> Limits {
        let mut limits = Limits::default();
        for (name, value) in &self.limits {
            let set = limits.set(name, *value);
            debug_assert!(set.is_ok(), "parsing has set it before");
        }
        limits
    }
}

/// `--shape`
#[derive(Debug, clap::Args)]
pub struct ShapeFlag {
    /// Read all tools of the catalog in this shape. Without it each is recognised by its members.
    #[arg(long, value_name = "SHAPE", value_parser = shapes())]
    pub shape: Option<Shape>,
}

impl ShapeFlag {
    /// Errors: a shape was named, and the catalog has been compiled.
    pub fn ensure_for(&self, file: &CatalogFile) -> Result<()> {
        let settled = file.is_compiled() && self.shape.is_some();
        ensure!(!settled, "{} is compiled: --shape is for its source", file.name());
        Ok(())
    }
}

/// `--style`
#[derive(Clone, Copy, Debug, Default, clap::Args)]
pub struct StyleFlags {
    /// How a rejection is put into words: `line` is one line in pinned words (the default), `field` a line for each failure,
    /// `guided` is for a model that is to repair the call, `json` one object with all that is known.
    #[arg(long, value_name = "STYLE", value_parser = styles())]
    pub style: Option<Style>,
}

/// The flags of commands that may show what is not for every eye.
#[derive(Clone, Copy, Debug, Default, clap::Args)]
pub struct MaskedStyleFlags {
    #[command(flatten)]
    style: StyleFlags,
    /// Show types and lengths in place of the call's own values, and of names that no schema has. Of a repair its rules are
    /// left, of a notice that there is one.
    #[arg(long)]
    pub mask: bool,
}

impl MaskedStyleFlags {
    /// The rendering that the flags ask for.
    pub fn rendering(self) -> Rendering {
        self.rendering_of(self.style.style.unwrap_or_default())
    }

    /// As [`rendering`](Self::rendering), in that style.
    pub fn rendering_of(self, style: Style) -> Rendering {
        Rendering { masked: self.mask, ..Rendering::of(style) }
    }
}

fn styles() -> impl TypedValueParser<Value = Style> {
    // Every name that the parser lets through is one.
    PossibleValuesParser::new(Style::ALL.iter().map(|style| style.name()))
        .map(|name| Style::from_name(&name).unwrap_or_default())
}

fn shapes() -> impl TypedValueParser<Value = Shape> {
    // Every name that the parser lets through is one.
    PossibleValuesParser::new(Shape::names()).map(|name| Shape::from_name(&name).unwrap_or(Shape::Mcp))
}

/// What becomes of names that a schema does not know.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
enum UnknownParameters {
    /// The schema alone decides.
    #[default]
    Ignore,
    /// The call passes, and each name is told on stderr.
    Report,
    /// The call is rejected.
    Forbid,
}

/// What becomes of calls without arguments.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
enum EmptyArguments {
    /// They are judged as they are.
    #[default]
    Reject,
    /// They count as `{}`.
    AsObject,
}

/// What becomes of `null` where a property may be left out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
enum NullForOptional {
    /// The property's schema decides.
    #[default]
    Reject,
    /// It passes, as if the property were not there.
    AsAbsent,
}

/// What is asked of calls beside their schemas; settled when a catalog is compiled.
#[derive(Debug, PartialEq, Eq, clap::Args)]
pub struct PolicyFlags {
    /// Reject strings that do not have the `format` their schema names. Without it `format` says nothing about
    /// validity, as JSON Schema has it.
    #[arg(long)]
    assert_formats: bool,
    /// What becomes of members whose names the schema does not know, at every object that does not say itself whether it
    /// may have more.
    #[arg(long, value_enum, value_name = "CHOICE", default_value_t)]
    unknown_parameters: UnknownParameters,
    /// What becomes of a call whose arguments are null, or text that is empty or blank.
    #[arg(long, value_enum, value_name = "CHOICE", default_value_t)]
    empty_arguments: EmptyArguments,
    /// What becomes of null for a property that is not required and whose schema does not take null.
    #[arg(long, value_enum, value_name = "CHOICE", default_value_t)]
    null_for_optional: NullForOptional,
}

impl PolicyFlags {
    /// Errors: something is asked, and the catalog has been compiled.
    pub fn ensure_for(&self, file: &CatalogFile) -> Result<()> {
        if file.is_compiled()
            && let Some(flag) = self.first_set()
        {
            bail!("{} is compiled: {flag} is for its source", file.name());
        }
        Ok(())
    }

    fn first_set(&self) -> Option<&'static str> {
        let set = [
            (self.assert_formats, "--assert-formats"),
            (self.unknown_parameters != UnknownParameters::Ignore, "--unknown-parameters"),
            (self.empty_arguments != EmptyArguments::Reject, "--empty-arguments"),
            (self.null_for_optional != NullForOptional::Reject, "--null-for-optional"),
        ];
        set.into_iter().find_map(|(is_set, flag)| is_set.then_some(flag))
    }

    /// The options with what the flags say.
    pub fn apply(&self, options: Options) -> Options {
        Options {
            assert_formats: self.assert_formats,
            unknown_parameters: match self.unknown_parameters {
                UnknownParameters::Ignore => callgate::UnknownParameters::Ignore,
                UnknownParameters::Report => callgate::UnknownParameters::Report,
                UnknownParameters::Forbid => callgate::UnknownParameters::Forbid,
            },
            empty_arguments: match self.empty_arguments {
                EmptyArguments::Reject => callgate::EmptyArguments::Reject,
                EmptyArguments::AsObject => callgate::EmptyArguments::AsObject,
            },
            null_for_optional: match self.null_for_optional {
                NullForOptional::Reject => callgate::NullForOptional::Reject,
                NullForOptional::AsAbsent => callgate::NullForOptional::AsAbsent,
            },
            ..options
        }
    }
}

/// The flags of commands that compile a tool to call it.
#[derive(Debug, clap::Args)]
pub struct CompileFlags {
    #[command(flatten)]
    limits: LimitFlags,
    #[command(flatten)]
    shape: ShapeFlag,
    #[command(flatten)]
    policy: PolicyFlags,
    /// Take spellings of what is wanted for it, as handlers written with pydantic do: `"7"` for an integer. The arguments
    /// themselves stay as they are.
    #[arg(long)]
    lax: bool,
}

impl CompileFlags {
    /// A compiled catalog has been compiled with options of its own. Errors: flags ask for others.
    pub fn ensure_for(&self, file: &CatalogFile) -> Result<()> {
        self.policy.ensure_for(file)?;
        ensure!(!(file.is_compiled() && self.lax), "{} is compiled: --lax is for its source", file.name());
        self.shape.ensure_for(file)
    }

    /// The options of compilation.
    pub fn options(&self) -> Options {
        let (limits, shape, lax) = (self.limits.limits(), self.shape.shape, self.lax);
        self.policy.apply(Options { limits, shape, lax, ..Options::default() })
    }
}

fn parse_limit(text: &str) -> std::result::Result<(String, u64), String> {
    let (name, value) = text.split_once('=').ok_or("a limit is set as NAME=N")?;
    let value = value.parse().map_err(|_| format!("{value:?} is no whole number of 64 bits"))?;
    Limits::default().set(name, value).map_err(|error| error.to_string())?;
    Ok((name.to_owned(), value))
}

fn limits_help() -> String {
    let mut help = "Set a limit; may be given several times. The limits and their defaults:".to_owned();
    for (name, value) in Limits::names().zip(Limits::default().values()) {
        // Writing to a string does not fail.
        let _ = write!(help, "\n  {name:<21} {value:>9}");
    }
    help
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_is_a_name_and_a_number() {
        assert_eq!(parse_limit("call_depth_max=7"), Ok(("call_depth_max".to_owned(), 7)));
        assert_eq!(parse_limit("call_depth_max"), Err("a limit is set as NAME=N".to_owned()));
        assert_eq!(parse_limit("call_depth_max=-1"), Err("\"-1\" is no whole number of 64 bits".to_owned()));
        assert_eq!(parse_limit("call_depth_max=4096"), Err("the limit can be at most 1024".to_owned()));
        assert!(parse_limit("depth=1").is_err_and(|error| error.starts_with("no such limit; there are ")));
    }
}
