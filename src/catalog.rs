//! The catalog: tools by name, each compiled once.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, OnceLock};

use callgate_compiler::{Compiled, CompiledTool, Finding, FindingKind, Options, Stage, compile_catalog};
use callgate_vm::image::Units;
use callgate_vm::instance::Instance;
use callgate_vm::limits::Limits;
use callgate_vm::scratch::StackOf;
use callgate_vm::unit::Unit;

use crate::load_error::LoadError;
use crate::report::{Refused, Report};
use crate::schema::{Arguments, Outcome, Schema};
use crate::session::Session;

/// A tool of a catalog.
#[derive(Clone, Debug)]
pub struct Tool {
    name: String,
    input: Option<Kept>,
    output: Option<Kept>,
}

/// A schema of a tool: compiled in this process, or in a compiled catalog and read at its first use.
#[derive(Clone, Debug)]
enum Kept {
    Compiled(Schema),
    Loaded { units: Arc<Units>, number: u32, limits: Arc<Limits>, schema: OnceLock<Option<Schema>> },
}

impl Kept {
    /// The schema. `None` if it was loaded and does not hold together.
    #[inline]
    fn schema(&self) -> Option<&Schema> {
        match self {
            Kept::Compiled(schema) => Some(schema),
            Kept::Loaded { units, number, limits, schema } => {
                let read = || Some(Schema::new(Arc::clone(units.get(*number).ok()?), Arc::clone(limits)));
                schema.get_or_init(read).as_ref()
            }
        }
    }
}

impl Tool {
    /// The tool's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What judges its arguments; `None` if the schema could not be compiled, or is not sound in the file it was loaded from
    /// ([`Catalog::verify`]).
    pub fn input(&self) -> Option<&Schema> {
        self.input.as_ref()?.schema()
    }

    /// What judges its results; `None` if it has no such schema, or one that could not be compiled or loaded.
    pub fn output(&self) -> Option<&Schema> {
        self.output.as_ref()?.schema()
    }
}

/// Compiled tools by name.
///
/// `Send + Sync`; checks take `&self`. Cloning shares the compiled units, so a changed catalog can be prepared beside
/// the one in use and swapped in.
#[derive(Clone, Debug, Default)]
pub struct Catalog {
    tools: Vec<Tool>,
    by_name: HashMap<String, usize, ahash::RandomState>,
    limits: Arc<Limits>,
    /// What the options of compilation came to, as text.
    fingerprint: Arc<str>,
    findings: Arc<Vec<Finding>>,
    /// Entries that are no tool, or the second of their name.
    refused_entries: usize,
    positions: Arc<Positions>,
}

/// Offsets into the source that findings name, ascending, with line and column, both from 1.
pub(crate) type Positions = Vec<(usize, usize, usize)>;

/// A tool of a compiled catalog: its name, and the numbers of its units.
#[derive(Debug)]
pub(crate) struct LoadedTool {
    pub(crate) name: String,
    pub(crate) input: Option<u32>,
    pub(crate) output: Option<u32>,
}

impl Catalog {
    /// Compiles a catalog of any shape that is read: an MCP `tools/list` result or response, OpenAI or Anthropic tools,
    /// a bare list or map.
    ///
    /// A tool that cannot be compiled is a finding of the report, and [`Outcome::NotCompiled`] when called; the others
    /// work. Errors: the text is no catalog at all.
    pub fn compile(text: impl AsRef<[u8]>, options: &Options) -> Result<(Catalog, Report), Refused> {
        let mut catalog = Catalog::default();
        let report = catalog.upsert(text, options)?;
        Ok((catalog, report))
    }

    /// Compiles the tools of `text` (a single tool or a catalog) and adds them, in place of any of the same name.
    /// Errors: the text is no tool or catalog; then nothing is changed.
    pub fn upsert(&mut self, text: impl AsRef<[u8]>, options: &Options) -> Result<Report, Refused> {
        let mut compiled = compile_catalog(text.as_ref(), options).map_err(refused)?;
        self.limits = Arc::new(options.limits.clone());
        self.fingerprint = options.fingerprint().into();
        let report = report(&compiled);
        self.take_findings(&mut compiled, text.as_ref());
        for CompiledTool { name, input, output } in compiled.tools {
            let kept = |unit| Kept::Compiled(Schema::new(unit, Arc::clone(&self.limits)));
            let tool = Tool { name, input: input.map(kept), output: output.map(kept) };
            self.put(tool);
        }
        Ok(report)
    }

    /// One stage of compiling a tool of the catalog `text`, as text for people. `None` if there is no such tool or its
    /// schema does not get that far. Errors: the text is no catalog.
    pub fn stage_listing(
        text: impl AsRef<[u8]>,
        tool: &str,
        stage: Stage,
        options: &Options,
    ) -> Result<Option<String>, Refused> {
        callgate_compiler::stage_listing(text.as_ref(), tool, stage, options).map_err(refused)
    }

    /// A catalog of units that were found in a file. `None` if two tools have one name.
    pub(crate) fn of_units(
        tools: Vec<LoadedTool>,
        units: &Arc<Units>,
        limits: Limits,
        fingerprint: &str,
    ) -> Option<Catalog> {
        let limits = Arc::new(limits);
        let mut catalog =
            Catalog { limits: Arc::clone(&limits), fingerprint: fingerprint.into(), ..Catalog::default() };
        let kept = |number| Kept::Loaded {
            units: Arc::clone(units),
            number,
            limits: Arc::clone(&limits),
            schema: OnceLock::new(),
        };
        let len = tools.len();
        catalog.tools.reserve(len);
        catalog.by_name.reserve(len);
        for LoadedTool { name, input, output } in tools {
            catalog.put(Tool { name, input: input.map(kept), output: output.map(kept) });
        }
        (catalog.tools.len() == len).then_some(catalog)
    }

    /// Adds a tool, in place of one of the same name.
    fn put(&mut self, tool: Tool) {
        match self.by_name.get(&tool.name) {
            Some(at) => self.tools[*at] = tool,
            None => {
                self.by_name.insert(tool.name.clone(), self.tools.len());
                self.tools.push(tool);
            }
        }
    }

    /// Reads all units of a catalog that was loaded, which otherwise happens tool by tool, at the first use. Errors: one
    /// does not hold together, so that its tools cannot be called.
    pub fn verify(&self) -> Result<(), LoadError> {
        for tool in &self.tools {
            for kept in [&tool.input, &tool.output].into_iter().flatten() {
                if let Kept::Loaded { units, number, .. } = kept {
                    let name = tool.name();
                    units.get(*number).map_err(|error| LoadError::invalid(format!("tool {name:?}: {error}")))?;
                }
            }
        }
        Ok(())
    }

    /// Takes over what was found in `text`. What was found of tools that it replaces, and where in another text, is of no
    /// more interest.
    fn take_findings(&mut self, compiled: &mut Compiled, text: &[u8]) {
        let replaced: HashSet<&str, ahash::RandomState> =
            compiled.tools.iter().map(|tool| tool.name.as_str()).collect();
        let kept = |finding: &&Finding| finding.tool.as_deref().is_none_or(|tool| !replaced.contains(tool));
        let older = self.findings.iter().filter(kept).map(|finding| Finding { at: None, ..finding.clone() });
        let findings: Vec<Finding> = older.chain(std::mem::take(&mut compiled.findings)).collect();
        let positions = positions(text, &findings);
        self.set_findings(findings, self.refused_entries + compiled.refused_entries, positions);
    }

    pub(crate) fn set_findings(&mut self, findings: Vec<Finding>, refused_entries: usize, positions: Positions) {
        self.findings = Arc::new(findings);
        self.refused_entries = refused_entries;
        self.positions = Arc::new(positions);
    }

    /// What was found in the catalog, as it was compiled. Cost: the findings are copied.
    pub fn report(&self) -> Report {
        let tools = self.tools.iter().map(|tool| (tool.name(), tool.input.is_some()));
        counted(tools, &self.findings, self.refused_entries)
    }

    pub(crate) fn findings(&self) -> &[Finding] {
        &self.findings
    }

    pub(crate) fn refused_entries(&self) -> usize {
        self.refused_entries
    }

    pub(crate) fn positions(&self) -> &Positions {
        &self.positions
    }

    /// Line and column, from 1, of an offset into the source that a finding names ([`Finding::at`]); the column counts
    /// characters. Known to a loaded catalog too.
    pub fn position(&self, at: usize) -> Option<(usize, usize)> {
        let found = self.positions.binary_search_by_key(&at, |(at, ..)| *at).ok()?;
        let (_, line, column) = self.positions[found];
        Some((line, column))
    }

    /// The limits: those of calls hold for every check.
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// What the options of compilation came to, as text ([`Options::fingerprint`]): catalogs with equal ones have units in
    /// common where their schemas are equal.
    pub fn fingerprint(&self) -> &str {
        &self.fingerprint
    }

    /// The tool of that name.
    pub fn tool(&self, name: &str) -> Option<&Tool> {
        self.by_name.get(name).map(|at| &self.tools[*at])
    }

    /// The tools, in the order of the catalog.
    pub fn tools(&self) -> impl ExactSizeIterator<Item = &Tool> {
        self.tools.iter()
    }

    /// A session for calls of up to `call_bytes`: it allocates now, and the checks of such calls do not. Of a catalog that was
    /// loaded it reads all units.
    pub fn session(&self, call_bytes: usize) -> Session {
        let mut session = Session::new();
        let schemas = self.tools.iter().flat_map(|tool| [tool.input(), tool.output()]).flatten();
        // Tools may share units.
        let mut seen: HashSet<*const Unit, ahash::RandomState> = HashSet::default();
        let units = schemas.map(|schema| schema.unit().as_ref());
        session.reserve(call_bytes, &self.limits, units.filter(|unit| seen.insert(std::ptr::from_ref(*unit))));
        session
    }

    /// Checks a call. Cost: one pass over the arguments for most schemas; no allocation within the session's size.
    pub fn check<'s>(
        &'s self,
        session: &'s mut Session,
        tool: &str,
        arguments: impl Into<Arguments<'s>>,
    ) -> Outcome<'s> {
        match self.input(tool) {
            Ok(schema) => schema.check(session, arguments),
            Err(outcome) => outcome,
        }
    }

    /// Checks a call whose arguments are a host's own object; see [`Schema::check_instance`].
    pub fn check_instance<'s, 'a, I: Instance<'a>>(
        &'s self,
        session: &'s mut Session,
        stack: &mut StackOf<'a, I>,
        tool: &str,
        arguments: &mut I,
    ) -> Outcome<'s> {
        match self.input(tool) {
            Ok(schema) => schema.check_instance(session, stack, arguments),
            Err(outcome) => outcome,
        }
    }

    fn input<'s>(&'s self, tool: &str) -> Result<&'s Schema, Outcome<'s>> {
        let tool = self.tool(tool).ok_or(Outcome::UnknownTool)?;
        tool.input().ok_or(Outcome::NotCompiled)
    }
}

#[allow(clippy::boxed_local)] // as the compiler answers it
fn refused(finding: Box<Finding>) -> Refused {
    Refused { report: Report { findings: vec![*finding], ..Report::default() } }
}

/// What was found, and the tools counted by it.
fn report(compiled: &Compiled) -> Report {
    let tools = compiled.tools.iter().map(|tool| (tool.name.as_str(), tool.input.is_some()));
    counted(tools, &compiled.findings, compiled.refused_entries)
}

/// Counts tools, each with whether it can be called, by what was found about them.
fn counted<'t>(
    tools: impl ExactSizeIterator<Item = (&'t str, bool)>,
    findings: &[Finding],
    refused_entries: usize,
) -> Report {
    let about: HashSet<&str, ahash::RandomState> = findings
        .iter()
        .filter(|finding| finding.kind != FindingKind::DuplicateTool)
        .filter_map(|finding| finding.tool.as_deref())
        .collect();
    let mut report = Report { tools: tools.len().saturating_add(refused_entries), ..Report::default() };
    for (name, callable) in tools {
        match (callable, about.contains(name)) {
            (false, _) => report.refused += 1,
            (true, true) => report.flagged += 1,
            (true, false) => report.healthy += 1,
        }
    }
    report.refused = report.refused.saturating_add(refused_entries);
    report.findings = findings.to_vec();
    report
}

/// Line and column of each offset that the findings name. Cost: one pass over the text, and a sort of the offsets.
fn positions(text: &[u8], findings: &[Finding]) -> Positions {
    let mut offsets: Vec<usize> = findings.iter().filter_map(|finding| finding.at).collect();
    offsets.sort_unstable();
    offsets.dedup();
    let (mut line, mut column, mut from) = (1, 1, 0);
    let mut positions = Positions::with_capacity(offsets.len());
    for at in offsets {
        for byte in text.get(from..at.min(text.len())).unwrap_or_default() {
            match byte {
                b'\n' => (line, column) = (line + 1, 1),
                // Bytes that go on with a character do not count.
                _ => column += usize::from(byte & 0xc0 != 0x80),
            }
        }
        from = at;
        positions.push((at, line, column));
    }
    positions
}
