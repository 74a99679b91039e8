//! Repair: what a rejected call would be if values that were only spelled wrongly were spelled as the schema wants them.
//!
//! ```text
//! rejected text ─► failures ─► proposals: readings of failing values ─► changed text ─► judged again ─┬─► repair
//!                     ▲        (reading.rs: lossless, a closed list of rules)                         │
//!                     └────────────────────────── what a parsed text reveals ◄────────────────────────┘
//! ```
//!
//! The machine is the only judge: rules propose, and what is returned has been checked. Nothing is touched but values that
//! fail, and a repair is a whole one: a call that would still be rejected has none, since a host that passes on half of it
//! gains nothing and a model that is told of it mends the wrong half. Where unions leave several readings that fit, there is
//! none either; `search.rs` says how that is found out.
//!
//! Changes are made in the text (`text.rs`), so all that is not changed stays as it was to the byte: numbers keep their
//! spelling and objects their order. Unlike checks, repairs allocate.

mod places;
mod proposals;
mod reading;
mod search;
mod text;

use std::fmt;

use callgate_vm::tape::TapeBuf;
use callgate_vm::value::ValueInstance;
use serde::ser::{Error as _, SerializeMap};
use serde::{Serialize, Serializer};
use serde_json::Value;
use serde_json::value::RawValue;

use self::search::Search;
use self::text::Change;
use crate::catalog::Catalog;
use crate::schema::{Arguments, Schema};
use crate::session::Session;

/// Bounds of a repair; a call that would take more has none.
///
/// Reasons: calls that models spell wrongly are small and wrong in few places, and what a hostile one costs must stay near
/// what checking it costs.
pub(crate) mod limits {
    /// Changes one after the other on the way to one value: a text that is parsed reveals what is wrong inside.
    pub(crate) const ROUNDS_MAX: usize = 8;
    /// Values changed.
    pub(crate) const CHANGES_MAX: usize = 1_000;
    /// Readings of one union that are tried.
    pub(crate) const ATTEMPTS_MAX: usize = 32;
    /// Unions inside each other whose branches are read.
    pub(crate) const UNION_LEVELS_MAX: usize = 32;
    /// Checks of changed calls.
    pub(crate) const CHECKS_MAX: usize = 64;
    /// Bytes of text read by all checks and to make changes; and for each failure 64 and the square of its depth, which is
    /// what telling its location takes.
    pub(crate) const WORK_MAX: usize = 64 << 20;
    /// Failures listed by one check, and as many inside unions.
    pub(crate) const FAILURES_MAX: u64 = 4_096;
    /// Work of one check, where the limit of a call is not below. Unit: fuel.
    pub(crate) const CHECK_FUEL_MAX: u64 = 1_000_000;
    /// A call changed in more places than that is not tried with each place left as it was. Unit: changes.
    pub(crate) const TRIED_WITHOUT_MAX: usize = 32;
}

/// What a repair may do to a value. The list is closed and the names are stable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RepairRule {
    /// `"42"` is 42 where an integer is wanted.
    StrToInteger,
    /// `"1.5"` is 1.5 where a number is wanted.
    StrToNumber,
    /// `"true"` is true.
    StrToBoolean,
    /// `"null"` is null.
    StrToNull,
    /// `"{\"a\": 1}"` is the object it spells, where an object is wanted and no string is.
    ParseStringifiedObject,
    /// `"[1]"` is the array it spells, where an array is wanted and no string is.
    ParseStringifiedArray,
    /// The arguments as a whole are a string that spells them.
    ParseStringifiedArguments,
    /// A member that is `null` and must not be is left out.
    NullToAbsent,
    /// One value where an array is wanted is an array of it. Off unless allowed.
    WrapInArray,
}

impl RepairRule {
    /// Every rule.
    pub const ALL: [RepairRule; 9] = [
        RepairRule::StrToInteger,
        RepairRule::StrToNumber,
        RepairRule::StrToBoolean,
        RepairRule::StrToNull,
        RepairRule::ParseStringifiedObject,
        RepairRule::ParseStringifiedArray,
        RepairRule::ParseStringifiedArguments,
        RepairRule::NullToAbsent,
        RepairRule::WrapInArray,
    ];

    /// The stable name.
    pub fn as_str(self) -> &'static str {
        match self {
            RepairRule::StrToInteger => "str_to_integer",
            RepairRule::StrToNumber => "str_to_number",
            RepairRule::StrToBoolean => "str_to_boolean",
            RepairRule::StrToNull => "str_to_null",
            RepairRule::ParseStringifiedObject => "parse_stringified_object",
            RepairRule::ParseStringifiedArray => "parse_stringified_array",
            RepairRule::ParseStringifiedArguments => "parse_stringified_arguments",
            RepairRule::NullToAbsent => "null_to_absent",
            RepairRule::WrapInArray => "wrap_in_array",
        }
    }

    fn bit(self) -> u16 {
        1 << self as u16
    }
}

impl fmt::Display for RepairRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Serialize for RepairRule {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

/// Which rules a repair may use: all but [`RepairRule::WrapInArray`] by default.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RepairOptions {
    rules: u16,
}

impl Default for RepairOptions {
    fn default() -> Self {
        RepairOptions { rules: u16::MAX }.deny(RepairRule::WrapInArray)
    }
}

impl RepairOptions {
    /// With that rule.
    #[must_use]
    pub fn allow(self, rule: RepairRule) -> Self {
        RepairOptions { rules: self.rules | rule.bit() }
    }

    /// Without that rule.
    #[must_use]
    pub fn deny(self, rule: RepairRule) -> Self {
        RepairOptions { rules: self.rules & !rule.bit() }
    }

    /// Whether that rule may be used.
    pub fn allows(self, rule: RepairRule) -> bool {
        self.rules & rule.bit() != 0
    }
}

/// How a rejected call is repaired; the call itself stays as it is.
///
/// Serialises as `{patch, steps, arguments}`, without white space between tokens; through `serde_json` only, since numbers
/// keep their spelling.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Repair {
    changes: Vec<Change>,
    arguments: String,
}

impl Repair {
    /// The repaired arguments as JSON text: the caller's own text but for the values that were changed. It satisfies the
    /// schema.
    pub fn arguments(&self) -> &str {
        &self.arguments
    }

    /// What was done, in this order: what a parsed text reveals comes after it. Each step is the operation of
    /// [`patch`](Repair::patch) in the same place.
    pub fn steps(&self) -> impl ExactSizeIterator<Item = RepairStep> {
        self.changes.iter().map(|change| RepairStep {
            path: text::json_path(&change.path),
            pointer: text::pointer(&change.path),
            rule: change.rule,
        })
    }

    /// The steps as operations that make the repaired arguments of the caller's. Source: RFC 6902.
    pub fn patch(&self) -> impl ExactSizeIterator<Item = PatchOperation<'_>> {
        self.changes
            .iter()
            .map(|change| PatchOperation { path: text::pointer(&change.path), value: change.becomes.as_deref() })
    }

    /// Makes the changes in a parsed value of the same arguments, and leaves all else in it alone. Answers whether it could:
    /// not if the value is another one, or a text that was parsed holds what `serde_json` does not read (it nests deeper
    /// than 128 levels, a number is beyond `f64`); then the value may have been changed in part.
    pub fn apply_to(&self, arguments: &mut Value) -> bool {
        self.changes.iter().all(|change| change.apply_to(arguments).is_some())
    }
}

impl Serialize for Repair {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(3))?;
        map.serialize_entry("patch", &self.patch().collect::<Vec<_>>())?;
        map.serialize_entry("steps", &self.steps().collect::<Vec<_>>())?;
        map.serialize_entry("arguments", &Json(&self.arguments))?;
        map.end()
    }
}

/// One thing that a repair does.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RepairStep {
    path: String,
    pointer: String,
    rule: RepairRule,
}

impl RepairStep {
    /// Where: `$`, then `.name`, `[0]`, or `['another name']`. Source: RFC 9535, with the short form of plain names.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// Where: JSON Pointer (RFC 6901).
    pub fn pointer(&self) -> &str {
        &self.pointer
    }

    /// What.
    pub fn rule(&self) -> RepairRule {
        self.rule
    }
}

/// One operation of a patch: `replace`, or `remove` where there is no value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PatchOperation<'r> {
    path: String,
    value: Option<&'r str>,
}

impl<'r> PatchOperation<'r> {
    /// `replace` or `remove`.
    pub fn op(&self) -> &'static str {
        if self.value.is_some() { "replace" } else { "remove" }
    }

    /// Where: JSON Pointer (RFC 6901).
    pub fn path(&self) -> &str {
        &self.path
    }

    /// The value, as JSON text.
    pub fn value(&self) -> Option<&'r str> {
        self.value
    }
}

impl Serialize for PatchOperation<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("op", self.op())?;
        map.serialize_entry("path", self.path())?;
        if let Some(value) = self.value {
            map.serialize_entry("value", &Json(value))?;
        }
        map.end()
    }
}

/// JSON text, serialised as the value that it is.
struct Json<'t>(&'t str);

impl Serialize for Json<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        RawValue::from_string(text::compact(self.0)).map_err(S::Error::custom)?.serialize(serializer)
    }
}

impl Schema {
    /// How a call that [`check`](Schema::check) rejects is repaired, if it can be: losslessly, wholly, and in one way only.
    /// `None` for a call that is accepted, and where that takes more than checks of some multiples of the call.
    ///
    /// The module's page, docs/repair.md, has the rules. Cost: two checks for most calls with something to repair, one for
    /// others; allocates.
    pub fn repair<'a>(
        &self,
        session: &mut Session,
        instance: impl Into<Arguments<'a>>,
        options: &RepairOptions,
    ) -> Option<Repair> {
        let text = match instance.into() {
            Arguments::Bytes(bytes) => callgate_vm::json::utf8(bytes).ok()?.to_owned(),
            Arguments::Value(value) => self.text_of(value)?,
        };
        let found = Search::new(self, session, *options).run(text)?;
        Some(Repair { changes: found.rounds.into_iter().flatten().collect(), arguments: found.text })
    }

    /// The value as text; none if it nests too deep, which would exhaust the stack of what writes it.
    fn text_of(&self, value: &Value) -> Option<String> {
        let depth_max = self.bounds().depth_max;
        TapeBuf::new().copy(&mut ValueInstance::new(value), depth_max).ok()?;
        serde_json::to_string(value).ok()
    }
}

impl Catalog {
    /// As [`Schema::repair`], of the tool of that name. `None` also where there is no such tool or it is not compiled.
    ///
    /// ```
    /// use callgate::{Catalog, Options, RepairOptions};
    ///
    /// let tools = r#"[{"name": "close_issue", "inputSchema": {
    ///     "type": "object", "properties": {"issue_id": {"type": "integer"}, "note": {"type": "string"}}
    /// }}]"#;
    /// let (catalog, _) = Catalog::compile(tools, &Options::default())?;
    /// let arguments = r#"{"issue_id": "42", "note": null}"#;
    /// let repair = catalog.repair(&mut catalog.session(1024), "close_issue", arguments, &RepairOptions::default());
    /// let repair = repair.expect("there is one reading");
    /// assert_eq!(repair.arguments(), r#"{"issue_id": 42}"#);
    /// let steps: Vec<String> = repair.steps().map(|step| format!("{} {}", step.path(), step.rule())).collect();
    /// assert_eq!(steps, ["$.issue_id str_to_integer", "$.note null_to_absent"]);
    /// # Ok::<(), callgate::Refused>(())
    /// ```
    pub fn repair<'a>(
        &self,
        session: &mut Session,
        tool: &str,
        arguments: impl Into<Arguments<'a>>,
        options: &RepairOptions,
    ) -> Option<Repair> {
        self.tool(tool)?.input()?.repair(session, arguments, options)
    }
}
