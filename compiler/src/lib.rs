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

mod annotations;
mod bounds;
mod compact;
mod compare;
mod contradiction;
mod dialect;
mod document;
mod emit;
mod finding;
mod fusion;
mod ingest;
mod ir;
mod known;
mod limits_check;
mod location;
mod lower;
mod metaschema;
mod options;
mod pattern;
mod pattern_cache;
mod peephole;
mod portability;
mod quick_look;
mod refs;
mod repair;
mod stages;
mod stray;
mod string_pool;
mod subset;
mod well_formed;

use std::sync::{Arc, LazyLock};

use ahash::HashSet;
use bumpalo::Bump;
use callgate_vm::tape::{EntryKind, Node, OwnedTape, ReadError, Tape, TapeBuf};
use callgate_vm::unit::Unit;
use sha2::{Digest, Sha256};

use crate::document::SCHEMA_READ;
use crate::ingest::shape::SchemaAt;
use crate::ingest::source::Source;
use crate::ir::Model;
use crate::limits_check::LowerBudget;
use crate::lower::{Program, Reading};
use crate::pattern_cache::PatternCache;
use crate::refs::Registry;
use crate::well_formed::Checker;

pub use crate::compare::{Difference, Effect, SchemaChange, SchemaDiff, compare, definition_differences};
pub use crate::dialect::Draft;
pub use crate::document::{Documents, DocumentsBuilder};
pub use crate::finding::{Finding, FindingKind, SchemaRole, Severity};
pub use crate::ingest::shape::Shape;
pub use crate::known::{CompiledSchema, KnownSchemas};
pub use crate::options::{EmptyArguments, NullForOptional, Options, Policy, UnknownParameters};
pub use crate::pattern_cache::rebuild_pattern;
pub use crate::portability::{
    Acceptance, Basis, Objection, PROVIDERS, Portability, Provider, Rule, RuleCount, portability,
};
pub use crate::stages::Stage;
pub use callgate_vm::unit::FORMAT_VERSION;

/// A tool, compiled as far as it can be.
#[derive(Clone, Debug)]
pub struct CompiledTool {
    /// Its name.
    pub name: String,
    /// The schema of its arguments; `{}` where the tool has none.
    pub input: CompiledSchema,
    /// The schema of its results, if it has one.
    pub output: Option<CompiledSchema>,
    /// The tool's entry as compact JSON text, with `null` in the places of its schemas.
    pub definition: Arc<str>,
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
    /// Schemas that were compiled now, with success or without.
    pub schemas_compiled: usize,
    /// Schemas that were known already, or stand in the catalog before.
    pub schemas_reused: usize,
}

/// Compiles a catalog; schemas that are `known` by their digest are taken as they are. Errors: it is not JSON, or of no
/// known shape; one finding says so.
pub fn compile_catalog(text: &[u8], options: &Options, known: KnownSchemas) -> Result<Compiled, Box<Finding>> {
    compile_catalog_observed(text, options, known, &mut |_, _| {})
}

/// As [`compile_catalog`], and tells after each entry how many are done, of how many.
pub fn compile_catalog_observed(
    text: &[u8],
    options: &Options,
    known: KnownSchemas,
    observe: &mut dyn FnMut(usize, usize),
) -> Result<Compiled, Box<Finding>> {
    let mut buf = TapeBuf::new();
    let source = Source::read(text, &mut buf)?;
    let tape = buf.tape(&source.text);
    let entries = ingest::read(tape, options.shape, &source.broken)?;
    let mut session = Session { known, ..Session::new(options) };
    let mut compiled = Compiled::default();
    let mut names = HashSet::default();
    let all = entries.len();
    for (done, entry) in entries.into_iter().enumerate() {
        match entry.tool {
            Ok(tool) if names.insert(tool.name.clone()) => {
                let tool = session.tool(tape, entry.node, tool, &mut compiled.findings);
                compiled.tools.push(tool);
            }
            Ok(tool) => {
                let detail = "the catalog has a tool of that name already; the first is kept";
                let finding = Finding::new(FindingKind::DuplicateTool, entry.place.pointer(tape), detail);
                let span = Some(bounds::span_of(tape, entry.node));
                compiled.findings.push(Finding { tool: Some(tool.name), span, ..finding });
                compiled.refused_entries += 1;
            }
            Err(finding) => {
                compiled.findings.push(finding);
                compiled.refused_entries += 1;
            }
        }
        observe(done + 1, all);
    }
    for span in compiled.findings.iter_mut().filter_map(|finding| finding.span.as_mut()) {
        *span = span.start.saturating_sub(source.shift)..span.end.saturating_sub(source.shift);
    }
    compiled.schemas_compiled = session.compiled;
    compiled.schemas_reused = session.reused;
    Ok(compiled)
}

/// The schema of what has none, compiled: anything goes.
pub fn anything(options: &Options) -> CompiledSchema {
    Session::new(options).known_schema(ANYTHING.tape(), 0)
}

/// The schema of a tool that has none: anything goes.
static ANYTHING: LazyLock<OwnedTape> =
    LazyLock::new(|| OwnedTape::read(b"{}", SCHEMA_READ).expect("an empty object is JSON"));

/// What is to be said about a schema in one role and not in the other: arguments and results must be able to be objects.
fn role_finding(schema: &CompiledSchema, tape: Tape<'_>, root: Node, role: SchemaRole) -> Option<Finding> {
    if schema.unit.is_none() || admits_objects(tape, root) {
        return None;
    }
    let what = if role == SchemaRole::Input { "arguments are" } else { "structured content is" };
    let detail = format!("the type excludes objects, and {what} an object");
    Some(Finding::new(FindingKind::RootNotObject, "/type", detail))
}

/// What judges by one schema.
#[derive(Debug)]
pub struct Units {
    /// What gives the verdict.
    pub unit: Unit,
    /// See [`CompiledSchema::counterpart`].
    pub counterpart: Option<Unit>,
}

/// Compiles one schema. Errors: the findings that keep it from being compiled, and all others.
pub fn compile_schema(text: &[u8], options: &Options) -> Result<(Units, Vec<Finding>), Vec<Finding>> {
    let mut buf = TapeBuf::new();
    let tape = buf.read(text, SCHEMA_READ).map_err(|error| vec![unreadable(error)])?;
    match Session::new(options).schema(tape, 0) {
        (Some(units), findings) => Ok((units, findings)),
        (None, findings) => Err(findings),
    }
}

/// One stage of compiling a tool of a catalog, as text. `None` if there is no such tool or its schema does not get
/// that far. Errors: the text is no catalog.
pub fn stage_listing(text: &[u8], tool: &str, stage: Stage, options: &Options) -> Result<Option<String>, Box<Finding>> {
    let mut buf = TapeBuf::new();
    let source = Source::read(text, &mut buf)?;
    let tape = buf.tape(&source.text);
    let mut tools = ingest::read(tape, options.shape, &source.broken)?.into_iter().filter_map(|entry| entry.tool.ok());
    let Some(input) = tools.find(|entry| entry.name == tool).and_then(|tool| tool.input) else {
        return Ok(None);
    };
    if !refs::is_schema(tape.entry(input.node).kind) || bounds::hard(tape, input.node, &options.limits).is_err() {
        return Ok(None);
    }
    let mut translated = TapeBuf::new();
    let text = input.flavour.translate(tape, input.node);
    let (tape, node) = match &text {
        Some(text) => (translated.read_text(text, SCHEMA_READ).map_err(|error| Box::new(unreadable(error)))?, 0),
        None => (tape, input.node),
    };
    let bump = Bump::new();
    let mut registry = Registry::new(&bump, &options.documents, options.limits.subschemas_max);
    let root = registry.add(tape, node, None, dialect::Dialect::of(options.draft));
    let mut patterns = PatternCache::default();
    let mut model = Model::new(registry, options, &mut patterns);
    let budget = LowerBudget::new(options.limits.unit_bytes_max);
    let Some(program) = lower::lower(&mut model, root, Reading::of(options), budget) else {
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
            Finding { span: Some(malformed.at..malformed.at), ..finding }
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
    let (units, findings) = compile_model(Model::new(registry, options, &mut patterns), root, [0; 32], options);
    units.map(|units| units.unit).ok_or(findings)
}

/// What compiling several schemas has in common.
struct Session<'o> {
    options: &'o Options,
    patterns: PatternCache,
    checker: Checker,
    fingerprint: String,
    /// Holds one schema's compilation at a time.
    bump: Bump,
    /// What need not be compiled again, and what has been compiled by now.
    known: KnownSchemas,
    compiled: usize,
    reused: usize,
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
            known: KnownSchemas::default(),
            compiled: 0,
            reused: 0,
        }
    }

    /// Compiles a tool's schemas. What is found is told of the tool, with its place in the text.
    fn tool(&mut self, tape: Tape<'_>, entry: Node, tool: ingest::Tool, findings: &mut Vec<Finding>) -> CompiledTool {
        let ingest::Tool { name, input, output } = tool;
        let mut compile = |at: SchemaAt, role| {
            let (schema, of_role) = self.flavoured(tape, at, role);
            findings.extend(schema.findings.iter().cloned().chain(of_role).map(|finding| {
                let span = bounds::span_at(tape, at.node, &finding.pointer);
                Finding { tool: Some(name.clone()), schema: role, span: Some(span), ..finding }
            }));
            schema
        };
        let schemas: Vec<Node> = [input, output].into_iter().flatten().map(|schema| schema.node).collect();
        let (input, output) =
            (input.map(|at| compile(at, SchemaRole::Input)), output.map(|at| compile(at, SchemaRole::Output)));
        let input = input.unwrap_or_else(|| self.known_schema(ANYTHING.tape(), 0));
        CompiledTool { name, input, output, definition: compact::text_without(tape, entry, &schemas).into() }
    }

    /// Compiles a schema of any flavour, in JSON Schema; and what is found about its role.
    fn flavoured(&mut self, tape: Tape<'_>, at: SchemaAt, role: SchemaRole) -> (CompiledSchema, Option<Finding>) {
        // Writing over goes as deep as the schema nests.
        let is_bounded = at.is_other() && bounds::hard(tape, at.node, &self.options.limits).is_ok();
        // A key that stands twice is told of the source: writing over may drop both.
        let mut twice = Vec::new();
        if at.is_other() {
            bounds::duplicates(tape, at.node, &mut twice);
        }
        let text = if is_bounded && twice.is_empty() { at.flavour.translate(tape, at.node) } else { None };
        let mut buf = TapeBuf::new();
        let translated = text.as_ref().and_then(|text| buf.read_text(text, SCHEMA_READ).ok());
        let (tape, node) = translated.map_or((tape, at.node), |translated| (translated, 0));
        let schema = self.known_schema(tape, node);
        let of_role = role_finding(&schema, tape, node, role);
        (schema, of_role)
    }

    /// The schema at `node`, compiled now if it is not known by its digest.
    fn known_schema(&mut self, tape: Tape<'_>, node: Node) -> CompiledSchema {
        let hard = bounds::hard(tape, node, &self.options.limits);
        let text = compact::text(tape, node);
        let digest = self.digest(&text);
        if let Some(known) = self.known.get(&digest) {
            self.reused += 1;
            return known.clone();
        }
        let (units, findings, source) = match hard {
            Ok(depth) => {
                self.compiled += 1;
                let (units, findings) = self.compile(tape, node, depth, digest);
                (units, findings, Some(text.into()))
            }
            Err(finding) => (None, vec![finding], None),
        };
        let (unit, counterpart) = units.map_or((None, None), |units| (Some(units.unit), units.counterpart));
        let (unit, counterpart) = (unit.map(Arc::new), counterpart.map(Arc::new));
        let schema = CompiledSchema { digest, source, unit, counterpart, findings: findings.into() };
        self.known.insert(schema.clone());
        schema
    }

    /// As [`known_schema`](Self::known_schema) where nothing is known.
    fn schema(&mut self, tape: Tape<'_>, node: Node) -> (Option<Units>, Vec<Finding>) {
        match bounds::hard(tape, node, &self.options.limits) {
            Ok(depth) => {
                let digest = self.digest(&compact::text(tape, node));
                self.compile(tape, node, depth, digest)
            }
            Err(finding) => (None, vec![finding]),
        }
    }

    /// Compiles a schema that is within the hard limits of size and depth. What is found tells its place by pointer
    /// alone: the same schema may stand in another text tomorrow.
    fn compile(&mut self, tape: Tape<'_>, node: Node, depth: u64, digest: [u8; 32]) -> (Option<Units>, Vec<Finding>) {
        let options = self.options;
        let mut findings = Vec::new();
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
        stray::check(&registry, root, &mut findings);
        if findings.iter().any(|finding| !finding.kind.compiles()) {
            return (None, findings);
        }
        let model = Model::new(registry, options, &mut self.patterns);
        let (units, more) = compile_model(model, root, digest, options);
        findings.extend(more);
        (units, findings)
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

    /// The digest of a schema's compact text. What changes a unit is part of it.
    fn digest(&self, source: &str) -> [u8; 32] {
        let mut hasher = Sha256::new();
        hasher.update(FORMAT_VERSION.to_le_bytes());
        hasher.update(self.fingerprint.as_bytes());
        hasher.update([0]);
        hasher.update(source.as_bytes());
        hasher.finalize().into()
    }
}

/// The digest of a schema's counterpart: another unit, known by the same source and options.
pub fn counterpart_digest(digest: &[u8; 32]) -> [u8; 32] {
    let mut hasher = Sha256::new();
    hasher.update(digest);
    hasher.update(b"counterpart");
    hasher.finalize().into()
}

/// The digest of what stands for a counterpart that reports unknown names and would be too large: a unit that says nothing,
/// and whose digest says why. A notice never costs a verdict.
pub fn left_out_digest(digest: &[u8; 32]) -> [u8; 32] {
    let mut hasher = Sha256::new();
    hasher.update(digest);
    hasher.update(b"left out");
    hasher.finalize().into()
}

/// What stands for the counterpart of the schema with that digest: see [`left_out_digest`].
fn left_out(digest: &[u8; 32]) -> Option<Unit> {
    let (bump, options, mut patterns) = (Bump::new(), Options::default(), PatternCache::default());
    let mut registry = Registry::new(&bump, &options.documents, options.limits.subschemas_max);
    let root = registry.add(ANYTHING.tape(), 0, None, dialect::Dialect::of(options.draft));
    let model = Model::new(registry, &options, &mut patterns);
    compile_model(model, root, left_out_digest(digest), &options).0.map(|units| units.unit)
}

/// How the schema is read for the counterpart of its program, if there is to be one.
fn counterpart_reading(program: &Program<'_>, options: &Options) -> Option<Reading> {
    let reading = Reading::of(options);
    match options.unknown_parameters {
        UnknownParameters::Ignore => None,
        UnknownParameters::Report => Some(Reading { forbids_unknown: true, ..reading }),
        UnknownParameters::Forbid if program.has_ends && program.counts_branches => {
            Some(Reading { forbids_unknown: false, ..reading })
        }
        UnknownParameters::Forbid => None,
    }
}

fn compile_model<'d>(
    mut model: Model<'_, 'd>,
    root: refs::Place,
    digest: [u8; 32],
    options: &Options,
) -> (Option<Units>, Vec<Finding>) {
    let lower = |model: &mut Model<'_, 'd>, reading| {
        lower::lower(model, root, reading, LowerBudget::new(options.limits.unit_bytes_max))
    };
    let program = lower(&mut model, Reading::of(options));
    let reports = options.unknown_parameters == UnknownParameters::Report;
    let found = model.registry.findings.len();
    let mut is_left_out = false;
    let counterpart = match program.as_ref().and_then(|program| counterpart_reading(program, options)) {
        Some(reading) => {
            let counterpart = lower(&mut model, reading);
            is_left_out = reports && counterpart.is_none();
            counterpart
        }
        None => None,
    };
    if is_left_out {
        // What judges has been lowered: the schema is as good as it is where nothing is reported.
        model.registry.findings.truncate(found);
    }
    // Where no name can be unknown there is nothing to report.
    let counterpart = counterpart.filter(|program| !reports || program.has_ends);
    let places = model.registry.places(root.doc);
    if program.is_some() {
        // What nothing refers to is read all the same: a broken reference or pattern there is a finding too.
        for place in &places {
            model.schema(*place);
        }
    }
    let mut findings = std::mem::take(&mut model.registry.findings);
    // A schema behind two references is read once, but a pattern may be met in several blocks.
    findings.dedup();
    let compiles = findings.iter().all(|finding| finding.kind.compiles());
    if compiles && program.is_some() {
        contradiction::check(&mut model, &places, &mut findings);
    }
    let mut emit = |program: &Program<'d>, digest| match emit::emit(program, &model, digest) {
        Ok(unit) => Some(unit),
        Err(error) => {
            // Not reachable by a schema; said rather than hidden if it ever is.
            let detail = format!("the program does not hold together: {}", error.0);
            findings.push(Finding::new(FindingKind::ProgramLimit, "", detail));
            None
        }
    };
    let units = program.filter(|_| compiles).and_then(|program| {
        let unit = emit(&program, digest)?;
        let counterpart = match &counterpart {
            Some(counterpart) => Some(emit(counterpart, counterpart_digest(&digest))?),
            None if is_left_out => left_out(&digest),
            None => None,
        };
        Some(Units { unit, counterpart })
    });
    (units, findings)
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

    #[track_caller]
    fn compile(text: &str, options: &Options, known: KnownSchemas) -> Compiled {
        compile_catalog(text.as_bytes(), options, known).expect("a catalog")
    }

    #[test]
    fn a_tool_without_a_schema_takes_anything() {
        let compiled = compile(r#"[{"name": "a"}]"#, &Options::default(), KnownSchemas::default());
        let input = &compiled.tools[0].input;
        assert_eq!(input.source.as_deref(), Some("{}"));
        assert_eq!(input.unit.as_ref().map(|unit| unit.insn_len()), Some((1, 1)));
    }

    #[test]
    fn equal_schemas_are_compiled_once() {
        let text = r#"[
            {"name": "a", "inputSchema": {"type": "object"}, "outputSchema": { "type" : "object" }},
            {"name": "b", "inputSchema": {"type": "object"}, "outputSchema": {"type": "array"}},
            {"name": "c", "inputSchema": {"type": "array"}}
        ]"#;
        let compiled = compile(text, &Options::default(), KnownSchemas::default());
        assert_eq!((compiled.schemas_compiled, compiled.schemas_reused), (2, 3));
        let unit = |schema: &CompiledSchema| schema.unit.clone().expect("it compiles");
        let [a, b, c] = &compiled.tools[..] else { panic!("three tools") };
        assert!(Arc::ptr_eq(&unit(&a.input), &unit(&b.input)));
        assert!(Arc::ptr_eq(&unit(&a.input), &unit(a.output.as_ref().expect("an output"))));
        // What is said about a role is not said about the other.
        let details: Vec<&str> = compiled.findings.iter().map(|finding| finding.detail.as_str()).collect();
        let not_object = |what| format!("the type excludes objects, and {what} an object");
        assert_eq!(details, [not_object("structured content is"), not_object("arguments are")]);
        assert_eq!(c.input.findings[..], []);
    }

    #[test]
    fn known_schemas_are_taken_with_their_findings() {
        let options = Options::default();
        let schema = r#"{"properties": {"a": {"pattern": "(?=a)"}, "b": {}}}"#;
        let first =
            compile(&format!(r#"[{{"name": "a", "inputSchema": {schema}}}]"#), &options, KnownSchemas::default());
        let known = || first.tools.iter().map(|tool| tool.input.clone()).collect::<KnownSchemas>();
        let text = format!(r#"{{"tools": [{{"name": "b", "inputSchema":   {schema}}}]}}"#);
        let second = compile(&text, &options, known());
        assert_eq!((first.schemas_compiled, second.schemas_compiled), (1, 0));
        let finding = &second.findings[0];
        assert_eq!((finding.kind, finding.tool.as_deref()), (FindingKind::PatternBacktracks, Some("b")));
        let start = finding.span.as_ref().map(|span| span.start + 1);
        assert_eq!(start, text.find("(?=a)"));
        // Options are part of the digest, and so is the last letter of the text.
        let other = Options { assert_formats: true, ..Options::default() };
        assert_eq!(compile(&text, &other, known()).schemas_compiled, 1);
        assert_eq!(compile(&text.replace("(?=a)", "(?=b)"), &options, known()).schemas_compiled, 1);
    }

    #[test]
    fn what_is_beyond_the_hard_limits_is_known_by_its_digest_alone() {
        let mut options = Options::default();
        options.limits.set("schema_bytes_max", 30).expect("a limit");
        let text = r#"[{"name": "a", "inputSchema": {"description": "much too long"}}]"#;
        let compiled = compile(text, &options, KnownSchemas::default());
        let input = &compiled.tools[0].input;
        assert!(input.source.is_none() && input.unit.is_none());
        assert_eq!(input.findings[0].kind, FindingKind::SizeLimit);
        assert_eq!(compiled.schemas_compiled, 0);
        assert_ne!(
            input.digest,
            compile(&text.replace("long", "wide"), &options, KnownSchemas::default()).tools[0].input.digest
        );
    }
}
