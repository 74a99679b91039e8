//! callgate checks an AI agent's tool calls against the tools' own schemas, before anything runs.
//!
//! A catalog is compiled once; each call is then judged without a heap allocation, and a rejection is one line that a
//! model can act on.
//!
//! ```
//! use callgate::{Catalog, Options, Outcome};
//!
//! let tools = r#"{"tools": [{"name": "roll", "inputSchema": {
//!     "type": "object",
//!     "properties": {"seed": {"type": "integer", "minimum": 0, "description": "Omit for random."}}
//! }}]}"#;
//! let (catalog, report) = Catalog::compile(tools, &Options::default())?;
//! assert_eq!(report.findings.len(), 0);
//!
//! let mut session = catalog.session(16 * 1024);
//! match catalog.check(&mut session, "roll", br#"{"seed": -1}"#) {
//!     Outcome::Rejected(rejection) => assert_eq!(
//!         rejection.to_string(),
//!         "schema: -1 is less than the minimum of 0 at seed — Omit for random."
//!     ),
//!     other => panic!("{other:?}"),
//! }
//! # Ok::<(), callgate::Refused>(())
//! ```
//!
//! A catalog that was compiled once can be kept as bytes ([`Catalog::to_bytes`]) and loaded in a fraction of the time
//! ([`Catalog::load`]), verified before it is used.
//!
//! A [`Catalog`] is `Send + Sync` and shared; a [`SharedCatalog`] is refreshed while others check by it; a [`Session`] is
//! one thread's memory. Arguments come as JSON bytes, as a `&serde_json::Value`, or as a host's own object
//! ([`Catalog::check_instance`]).

mod by_options;
mod catalog;
mod compiled;
mod counts;
mod diff;
mod found;
mod load_error;
mod loaded;
mod missing;
mod portability;
mod reading;
mod rejection;
mod repair;
mod report;
mod result;
mod schema;
mod session;
mod shared;
mod signature;
mod style;
mod summary;
mod trace;

pub use callgate_compiler::{
    Acceptance, Basis, CompiledSchema, Difference, Documents, DocumentsBuilder, Draft, Effect, EmptyArguments,
    FORMAT_VERSION, Finding, FindingKind, NullForOptional, Objection, Options, PROVIDERS, Policy, Portability,
    Provider, Rule, RuleCount, SchemaChange, SchemaDiff, SchemaRole, Severity, Shape, Stage, UnknownParameters,
};
pub use callgate_vm::cost::{Cost, CostListing, Sizes, Spending, Spent};
pub use callgate_vm::failure::FaultCode;
pub use callgate_vm::instance::{Halt, Instance, Member, View};
pub use callgate_vm::limits::{LimitError, Limits};
pub use callgate_vm::listing::{Insn, Listing};
pub use callgate_vm::number::Number;
pub use callgate_vm::render::PREFIX;
pub use callgate_vm::scratch::Stack;
pub use callgate_vm::tape::ReadError;
pub use callgate_vm::text::Text;

pub use crate::catalog::{Catalog, Counters, Tool};
pub use crate::counts::{SignatureCount, ToolCounters};
pub use crate::diff::{Change, Diff, ToolDiff};
pub use crate::load_error::{LoadError, LoadErrorKind};
pub use crate::missing::Missing;
pub use crate::portability::portability;
pub use crate::rejection::{Failure, Rejection};
pub use crate::repair::{PatchOperation, Repair, RepairOptions, RepairRule, RepairStep};
pub use crate::report::{Refused, Report};
pub use crate::schema::{Accepted, Arguments, Fault, Outcome, Schema};
pub use crate::session::Session;
pub use crate::shared::SharedCatalog;
pub use crate::style::{GUIDED_FAILURES_MAX, Rendering, Style};
pub use crate::summary::{FailureSummary, Step, Summary};
