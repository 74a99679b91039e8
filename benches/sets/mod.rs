//! What is measured: sets of schemas with calls, the same for every bench.
//!
//! ```text
//! library.rs   the example catalog, with calls as a model makes them ─┐
//! own.rs       made up, where real data does not go                   ├─► accepted calls ─► broken.rs ─► rejected calls
//! recorded.rs  real calls, where the recordings are at hand          ─┘
//! ```
//!
//! A call is taken only where callgate and both peers give the verdict it is there for. A set is measured whole, so a
//! number is the time of all its calls.

mod broken;
mod library;
mod own;
mod recorded;

use std::path::{Path, PathBuf};

use callgate::{Options, Schema, Session};
use serde_json::Value;

/// The groups, in the order in which they are measured and printed.
pub(crate) const GROUPS: [&str; 5] =
    ["compile", "accepted_value", "accepted_bytes", "rejected_value", "rejected_bytes"];

/// Schemas with calls, measured together.
pub(crate) struct Set {
    pub(crate) name: String,
    pub(crate) cases: Vec<Case>,
}

/// A schema with calls.
pub(crate) struct Case {
    /// As a peer takes it.
    pub(crate) value: Value,
    /// As callgate takes it.
    pub(crate) text: String,
    pub(crate) calls: Vec<Call>,
}

/// One call in both forms.
#[derive(Clone)]
pub(crate) struct Call {
    pub(crate) text: String,
    pub(crate) value: Value,
}

/// Everything to measure.
pub(crate) struct Sets {
    /// Schemas, for compiling.
    pub(crate) schemas: Vec<Set>,
    pub(crate) accepted: Vec<Set>,
    /// What fails because no branch of a union is satisfied is a set of its own.
    pub(crate) rejected: Vec<Set>,
}

/// The sets. Their calls depend on nothing but the files that are read.
pub(crate) fn all() -> Sets {
    let mut accepted = vec![library::set()];
    accepted.extend(own::sets());
    accepted.extend(recorded::sets());
    for set in &mut accepted {
        for case in &mut set.cases {
            let judges = Judges::new(case).unwrap_or_else(|| panic!("{}: not taken by all: {}", set.name, case.text));
            case.calls.retain(|call| judges.accept(call));
        }
        set.cases.retain(|case| !case.calls.is_empty());
    }
    accepted.retain(|set| !set.cases.is_empty());
    let rejected = accepted.iter().flat_map(broken::sets).collect();
    let mut schemas: Vec<Set> = accepted.iter().map(Set::without_calls).collect();
    schemas.extend(recorded::catalogs());
    Sets { schemas, accepted, rejected }
}

impl Set {
    fn new(name: impl Into<String>, cases: Vec<Case>) -> Set {
        Set { name: name.into(), cases }
    }

    fn without_calls(&self) -> Set {
        let bare = |case: &Case| Case { value: case.value.clone(), text: case.text.clone(), calls: Vec::new() };
        Set::new(&self.name, self.cases.iter().map(bare).collect())
    }

    /// Its calls; of a set for compiling alone, its schemas.
    pub(crate) fn len(&self) -> usize {
        let calls: usize = self.cases.iter().map(|case| case.calls.len()).sum();
        if calls == 0 { self.cases.len() } else { calls }
    }
}

impl Case {
    fn new(schema: Value, calls: impl IntoIterator<Item = Value>) -> Case {
        let calls = calls.into_iter().map(|value| Call { text: value.to_string(), value }).collect();
        Case { text: schema.to_string(), value: schema, calls }
    }
}

impl Call {
    fn read(text: &str) -> Option<Call> {
        Some(Call { text: text.to_owned(), value: serde_json::from_str(text).ok()? })
    }
}

// --- verdicts ------------------------------------------------------------------------------------------------

/// One schema in callgate and in both peers.
struct Judges {
    callgate: Schema,
    jsonschema: jsonschema::Validator,
    boon: (boon::Schemas, boon::SchemaIndex),
}

impl Judges {
    /// `None` where one of them does not take the schema.
    fn new(case: &Case) -> Option<Judges> {
        Some(Judges {
            callgate: Schema::compile(&case.text, &Options::default()).ok()?.0,
            jsonschema: jsonschema::validator_for(&case.value).ok()?,
            boon: boon_of(&case.value)?,
        })
    }

    fn accept(&self, call: &Call) -> bool {
        let mut session = Session::new();
        self.jsonschema.is_valid(&call.value)
            && self.boon.0.validate(&call.value, self.boon.1).is_ok()
            && self.callgate.check(&mut session, call.text.as_bytes()).is_accepted()
            && self.callgate.check(&mut session, &call.value).is_accepted()
    }

    /// The failure of a union, or another one; `None` where one of them accepts the call.
    fn reject(&self, call: &Call) -> Option<Rejected> {
        let mut session = Session::new();
        if self.jsonschema.is_valid(&call.value)
            || self.boon.0.validate(&call.value, self.boon.1).is_ok()
            || !matches!(self.callgate.check(&mut session, &call.value), callgate::Outcome::Rejected(_))
        {
            return None;
        }
        match self.callgate.check(&mut session, call.text.as_bytes()) {
            callgate::Outcome::Rejected(rejection) => {
                let union = rejection.failures().any(|failure| matches!(failure.code(), "anyOf" | "oneOf"));
                Some(if union { Rejected::ByUnion } else { Rejected::Plainly })
            }
            _ => None,
        }
    }
}

/// Why a call is rejected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Rejected {
    ByUnion,
    Plainly,
}

/// The schema in boon; `None` if it does not take it.
pub(crate) fn boon_of(schema: &Value) -> Option<(boon::Schemas, boon::SchemaIndex)> {
    let mut schemas = boon::Schemas::new();
    let mut compiler = boon::Compiler::new();
    compiler.add_resource("schema.json", schema.clone()).ok()?;
    let index = compiler.compile("schema.json", &mut schemas).ok()?;
    Some((schemas, index))
}

// --- files ---------------------------------------------------------------------------------------------------

/// The repository.
fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Where recordings and catalogs are. Another place can be given, for a copy of the repository that lies elsewhere.
fn corpus() -> PathBuf {
    std::env::var_os("CALLGATE_CORPUS").map_or_else(|| root().join("../shared/corpus"), PathBuf::from)
}

/// The files of a folder with that ending, by name; none where there is no folder.
fn files(folder: &Path, ending: &str) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let mut paths: Vec<PathBuf> =
        entries.filter(|path| path.extension().is_some_and(|found| found == ending)).collect();
    paths.sort();
    paths
}
