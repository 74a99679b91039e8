//! callgate's compiler: schemas in, units and findings out.
//!
//! ```text
//! catalog text ─► tape ─► ingest ─► bounds ─► index ─► metaschema ─► ir ─► lower ─► peephole ─► emit ─► Unit
//!                 strict   tools    limits   $id, $ref  run in the   rules  blocks   fusion     pools
//!                 reader            health   anchors    same machine        of code  code
//!                              └───────────────┴───────────┴──────────┴──────► Findings, per tool
//! ```
//!
//! [`compile_catalog`] takes a whole catalog, [`compile_schema`] one schema. A tool that cannot be compiled is a
//! finding; the others are not affected. Nothing is fetched: references lead into the schema, to
//! [`Documents`] registered beforehand, or to a metaschema.

mod bounds;
mod compact;
mod dialect;
mod document;
mod emit;
mod finding;
mod fusion;
mod ingest;
mod ir;
mod limits_check;
mod location;
mod lower;
mod metaschema;
mod options;
mod pattern;
mod pattern_cache;
mod peephole;
mod quick_look;
mod refs;
mod stages;
mod string_pool;
mod well_formed;

use std::sync::Arc;

use ahash::HashSet;
use bumpalo::Bump;
use callgate_vm::tape::{EntryKind, Node, ReadError, Tape, TapeBuf};
use callgate_vm::unit::Unit;
use sha2::{Digest, Sha256};

use crate::document::SCHEMA_READ;
use crate::ir::Model;
use crate::limits_check::LowerBudget;
use crate::pattern_cache::PatternCache;
use crate::refs::Registry;
use crate::well_formed::Checker;

pub use crate::dialect::Draft;
pub use crate::document::{Documents, DocumentsBuilder};
pub use crate::finding::{Finding, FindingKind, SchemaRole, Severity};
pub use crate::options::Options;
pub use crate::pattern_cache::rebuild_pattern;
pub use crate::stages::Stage;
pub use callgate_vm::unit::FORMAT_VERSION;

/// A tool, compiled as far as it can be.
#[derive(Clone, Debug)]
pub struct CompiledTool {
    /// Its name.
    pub name: String,
    /// What judges its arguments; none if the schema could not be compiled.
    pub input: Option<Arc<Unit>>,
    /// What judges its results; none if there is no schema or it could not be compiled.
    pub output: Option<Arc<Unit>>,
}

/// A compiled catalog.
#[derive(Clone, Debug, Default)]
pub struct Compiled {
    /// The tools, in the order of the catalog; of two of one name, the first.
    pub tools: Vec<CompiledTool>,
    /// What was found, in the same order.
    pub findings: Vec<Finding>,
    /// Entries that are no tool, or the second of their name: they are not among the tools.
    pub refused_entries: usize,
}

/// Compiles a catalog. Errors: it is not JSON, or of no known shape; one finding says so.
pub fn compile_catalog(text: &[u8], options: &Options) -> Result<Compiled, Box<Finding>> {
    let mut buf = TapeBuf::new();
    let tape = buf.read(text, SCHEMA_READ).map_err(|error| Box::new(unreadable(error)))?;
    let entries = ingest::read(tape)?;
    let mut session = Session::new(options);
    let mut compiled = Compiled::default();
    let mut names = HashSet::default();
    for entry in entries {
        let tool = match entry.tool {
            Ok(tool) => tool,
            Err(finding) => {
                compiled.findings.push(finding);
                compiled.refused_entries += 1;
                continue;
            }
        };
        if !names.insert(tool.name.clone()) {
            let detail = "the catalog has a tool of that name already; the first is kept";
            let finding = Finding::new(FindingKind::DuplicateTool, entry.pointer, detail);
            let at = Some(tape.entry(entry.node).start as usize);
            compiled.findings.push(Finding { tool: Some(tool.name), at, ..finding });
            compiled.refused_entries += 1;
            continue;
        }
        let mut compile = |node: Option<Node>, role| {
            let root = node?;
            let (unit, findings) = session.tool_schema(tape, root, role);
            compiled.findings.extend(findings.into_iter().map(|finding| {
                let at = finding.at.or_else(|| Some(bounds::offset_of(tape, root, &finding.pointer)));
                Finding { tool: Some(tool.name.clone()), schema: role, at, ..finding }
            }));
            unit.map(Arc::new)
        };
        let input = match tool.input {
            None => Some(Arc::new(session_free_unit(options))),
            node => compile(node, SchemaRole::Input),
        };
        let output = compile(tool.output, SchemaRole::Output);
        compiled.tools.push(CompiledTool { name: tool.name, input, output });
    }
    Ok(compiled)
}

/// The unit of a tool without a schema: anything goes.
fn session_free_unit(options: &Options) -> Unit {
    let mut buf = TapeBuf::new();
    let compiled = buf.read(b"{}", SCHEMA_READ).ok().and_then(|tape| Session::new(options).schema(tape, 0).0);
    compiled.expect("the empty schema compiles; a test does it")
}

/// Compiles one schema. Errors: the findings that keep it from being compiled, and all others.
pub fn compile_schema(text: &[u8], options: &Options) -> Result<(Unit, Vec<Finding>), Vec<Finding>> {
    let mut buf = TapeBuf::new();
    let tape = buf.read(text, SCHEMA_READ).map_err(|error| vec![unreadable(error)])?;
    match Session::new(options).schema(tape, 0) {
        (Some(unit), findings) => Ok((unit, findings)),
        (None, findings) => Err(findings),
    }
}

/// One stage of compiling a tool of a catalog, as text. `None` if there is no such tool or its schema does not get
/// that far. Errors: the text is no catalog.
pub fn stage_listing(text: &[u8], tool: &str, stage: Stage, options: &Options) -> Result<Option<String>, Box<Finding>> {
    let mut buf = TapeBuf::new();
    let tape = buf.read(text, SCHEMA_READ).map_err(|error| Box::new(unreadable(error)))?;
    let found = ingest::read(tape)?.into_iter().filter_map(|entry| entry.tool.ok()).find(|entry| entry.name == tool);
    let Some(node) = found.and_then(|tool| tool.input).filter(|node| refs::is_schema(tape.entry(*node).kind)) else {
        return Ok(None);
    };
    if bounds::hard(tape, node, &options.limits).is_err() {
        return Ok(None);
    }
    let bump = Bump::new();
    let mut registry = Registry::new(&bump, &options.documents, options.limits.subschemas_max);
    let root = registry.add(tape, node, None, dialect::Dialect::of(options.draft));
    let mut patterns = PatternCache::default();
    let mut model = Model::new(registry, options, &mut patterns);
    let budget = LowerBudget::new(options.limits.unit_bytes_max);
    let Some(program) = lower::lower(&mut model, root, options.peephole, budget) else {
        return Ok(None);
    };
    let mut out = String::new();
    let written = match stage {
        Stage::Ir => stages::write_ir(&mut out, &model),
        Stage::Lowered => stages::write_lowered(&mut out, &model, &program),
    };
    debug_assert!(written.is_ok());
    Ok(Some(out))
}

fn unreadable(error: ReadError) -> Finding {
    match error {
        ReadError::Malformed(malformed) => {
            let finding = Finding::new(FindingKind::Unreadable, "", format!("not JSON: {malformed}"));
            Finding { at: Some(malformed.at), ..finding }
        }
        ReadError::Fault(code) => {
            Finding::new(FindingKind::Unreadable, "", format!("beyond what is read: {}", code.as_str()))
        }
    }
}

/// Compiles a registered document by its URI, without asking its metaschema: how the metaschemas come to be units.
fn compile_document(uri: &str, draft: Draft, documents: &Documents, options: &Options) -> Result<Unit, Vec<Finding>> {
    let Some(tape) = documents.get(uri) else {
        return Err(vec![Finding::new(FindingKind::RefUnresolved, "", format!("{uri} is not registered"))]);
    };
    let bump = Bump::new();
    let mut patterns = PatternCache::default();
    let mut registry = Registry::new(&bump, documents, options.limits.subschemas_max);
    let root = registry.add(tape, 0, Some(uri), dialect::Dialect::of(draft));
    let (unit, findings) = compile_model(Model::new(registry, options, &mut patterns), root, [0; 32], options);
    unit.ok_or(findings)
}

/// What compiling several schemas has in common.
struct Session<'o> {
    options: &'o Options,
    patterns: PatternCache,
    checker: Checker,
    fingerprint: String,
    /// Holds one schema's compilation at a time.
    bump: Bump,
}

/// The arena that a compilation starts with: about what tools ask for. Unit: bytes for each byte of schema.
const ARENA_PER_BYTE: usize = 8;

/// A larger arena grows as it must. Unit: bytes.
const ARENA_START_MAX: usize = 256 << 10;

impl<'o> Session<'o> {
    fn new(options: &'o Options) -> Self {
        Session {
            options,
            patterns: PatternCache::default(),
            checker: Checker::default(),
            fingerprint: options.fingerprint(),
            bump: Bump::new(),
        }
    }

    /// Compiles a tool's schema; beside the rest, arguments and results must be able to be objects.
    fn tool_schema(&mut self, tape: Tape<'_>, node: Node, role: SchemaRole) -> (Option<Unit>, Vec<Finding>) {
        let (unit, mut findings) = self.schema(tape, node);
        if unit.is_some() && !admits_objects(tape, node) {
            let what = if role == SchemaRole::Input { "arguments are" } else { "structured content is" };
            let detail = format!("the type excludes objects, and {what} an object");
            findings.push(Finding::new(FindingKind::RootNotObject, "/type", detail));
        }
        (unit, findings)
    }

    fn schema(&mut self, tape: Tape<'_>, node: Node) -> (Option<Unit>, Vec<Finding>) {
        let options = self.options;
        let mut findings = Vec::new();
        let depth = match bounds::hard(tape, node, &options.limits) {
            Ok(depth) => depth,
            Err(finding) => return (None, vec![finding]),
        };
        bounds::health(tape, node, depth, &options.limits, &mut findings);
        bounds::duplicates(tape, node, &mut findings);
        if !refs::is_schema(tape.entry(node).kind) {
            findings.push(Finding::new(FindingKind::NotWellFormed, "", "a schema is an object or a boolean"));
            return (None, findings);
        }
        self.clear_arena(tape, node);
        let mut registry = Registry::new(&self.bump, &options.documents, options.limits.subschemas_max);
        let root = registry.add(tape, node, None, dialect::Dialect::of(options.draft));
        findings.append(&mut registry.findings);
        if findings.iter().any(|finding| !finding.kind.compiles()) {
            return (None, findings);
        }
        self.checker.check(&registry, root, options, &mut findings);
        if findings.iter().any(|finding| !finding.kind.compiles()) {
            return (None, findings);
        }
        let digest = self.digest(tape, node);
        let model = Model::new(registry, options, &mut self.patterns);
        let (unit, more) = compile_model(model, root, digest, options);
        findings.extend(more);
        (unit, findings)
    }

    /// Empties the arena of the schema before, or takes one that this schema is likely to fit.
    fn clear_arena(&mut self, tape: Tape<'_>, node: Node) {
        let source = tape.entry(node);
        let bytes = ((source.end - source.start) as usize * ARENA_PER_BYTE).min(ARENA_START_MAX);
        if self.bump.allocated_bytes() < bytes {
            self.bump = Bump::with_capacity(bytes);
        } else {
            self.bump.reset();
        }
    }

    fn digest(&self, tape: Tape<'_>, node: Node) -> [u8; 32] {
        let mut hasher = Sha256::new();
        hasher.update(FORMAT_VERSION.to_le_bytes());
        hasher.update(self.fingerprint.as_bytes());
        hasher.update([0]);
        hasher.update(compact::text(tape, node).as_bytes());
        hasher.finalize().into()
    }
}

fn compile_model(
    mut model: Model<'_, '_>,
    root: refs::Place,
    digest: [u8; 32],
    options: &Options,
) -> (Option<Unit>, Vec<Finding>) {
    let budget = LowerBudget::new(options.limits.unit_bytes_max);
    let program = lower::lower(&mut model, root, options.peephole, budget);
    if program.is_some() {
        // What nothing refers to is read all the same: a broken reference or pattern there is a finding too.
        for place in model.registry.places(root.doc) {
            model.schema(place);
        }
    }
    let mut findings = std::mem::take(&mut model.registry.findings);
    // A schema behind two references is read once, but a pattern may be met in several blocks.
    findings.dedup();
    let compiles = findings.iter().all(|finding| finding.kind.compiles());
    let unit = match program {
        Some(program) if compiles => match emit::emit(&program, &model, digest) {
            Ok(unit) => Some(unit),
            Err(error) => {
                // Not reachable by a schema; said rather than hidden if it ever is.
                let detail = format!("the program does not hold together: {}", error.0);
                findings.push(Finding::new(FindingKind::ProgramLimit, "", detail));
                None
            }
        },
        _ => None,
    };
    (unit, findings)
}

/// Whether the schema's own `type`, if it has one, lets objects through.
fn admits_objects(tape: Tape<'_>, node: Node) -> bool {
    let Some(types) = tape.member(node, "type") else {
        return true;
    };
    if tape.entry(types).kind == EntryKind::Array {
        return tape.element_nodes(types).any(|name| tape.text(name).is("object"));
    }
    tape.text(types).is("object")
}

fn hex(bytes: &[u8]) -> String {
    bytes
        .iter()
        .flat_map(|byte| [byte >> 4, byte & 15])
        .filter_map(|digit| char::from_digit(digit.into(), 16))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tool_without_a_schema_takes_anything() {
        let unit = session_free_unit(&Options::default());
        assert_eq!(unit.insn_len(), (1, 1));
    }
}
