//! The catalog: tools by name, each compiled once.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, OnceLock};

use callgate_compiler::{
    Compiled, CompiledSchema, CompiledTool, Finding, FindingKind, KnownSchemas, Options, Policy, SchemaRole, Severity,
    Stage, compile_catalog_observed,
};
use callgate_vm::instance::Instance;
use callgate_vm::limits::Limits;
use callgate_vm::scratch::StackOf;
use callgate_vm::unit::Unit;
use serde::Serialize;

use crate::counts::{Counts, ToolCounters};
use crate::diff::Diff;
use crate::load_error::LoadError;
use crate::loaded::LoadedTool;
use crate::report::{Refused, Report};
use crate::result::prepare_results;
use crate::schema::{Arguments, Outcome, Schema};
use crate::session::Session;
use crate::style::Rendering;

/// A tool of a catalog.
#[derive(Clone, Debug)]
pub struct Tool {
    name: String,
    content: Content,
    options: Arc<Options>,
    /// None while calls are not counted.
    counts: Option<Arc<Counts>>,
}

/// Where a tool is from.
#[derive(Clone, Debug)]
enum Content {
    /// Compiled in this process.
    Compiled { compiled: CompiledTool, input: Option<Schema>, output: Option<Schema> },
    /// In a compiled catalog, and read at its first use.
    Loaded(LoadedTool),
}

impl Tool {
    /// A tool of a compiled catalog.
    pub(crate) fn loaded(name: String, tool: LoadedTool, options: Arc<Options>) -> Tool {
        Tool { name, content: Content::Loaded(tool), options, counts: None }
    }

    /// The tool's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What judges its arguments; `None` if the schema could not be compiled, the tool is in quarantine, or its unit is not
    /// sound in the file that it was loaded from ([`Catalog::verify`]).
    pub fn input(&self) -> Option<&Schema> {
        match &self.content {
            Content::Compiled { input, .. } => input.as_ref(),
            Content::Loaded(tool) => tool.schema(SchemaRole::Input),
        }
    }

    /// What judges its results; `None` if it has no such schema, or one that could not be compiled or loaded.
    pub fn output(&self) -> Option<&Schema> {
        match &self.content {
            Content::Compiled { output, .. } => output.as_ref(),
            Content::Loaded(tool) => tool.schema(SchemaRole::Output),
        }
    }

    /// The schema of that role as it was compiled: digest, source and findings. `{}` stands for the input schema of a tool
    /// that has none; `None` only for an output schema, or where the tool is not sound in the file it was loaded from.
    pub fn compiled(&self, role: SchemaRole) -> Option<&CompiledSchema> {
        let compiled = self.compiled_tool()?;
        match role {
            SchemaRole::Input => Some(&compiled.input),
            SchemaRole::Output => compiled.output.as_ref(),
        }
    }

    /// The tool's entry in its catalog as compact JSON text, with `null` in the places of its schemas.
    pub fn definition(&self) -> &str {
        self.compiled_tool().map_or("", |compiled| &compiled.definition)
    }

    /// How it was compiled.
    pub fn options(&self) -> &Options {
        &self.options
    }

    /// What became of its calls since the catalog counts them ([`Catalog::count_calls`]), as long as its schemas stay the
    /// same: a refresh keeps the counters of tools that it does not change. All 0 where calls are not counted.
    pub fn counters(&self) -> ToolCounters {
        self.counts.as_deref().map_or_else(ToolCounters::default, Counts::read)
    }

    /// Counts a call, if calls are counted.
    #[inline]
    fn count(&self, outcome: &Outcome<'_>) {
        if let Some(counts) = &self.counts {
            counts.count(outcome);
        }
    }

    /// Goes on with the counters of the tool as it was before, if its schemas are the same.
    fn count_on(&mut self, before: &Tool) {
        let same =
            |role| self.compiled(role).map(|schema| schema.digest) == before.compiled(role).map(|schema| schema.digest);
        if before.counts.is_some() && same(SchemaRole::Input) && same(SchemaRole::Output) {
            self.counts.clone_from(&before.counts);
        }
    }

    fn compiled_tool(&self) -> Option<&CompiledTool> {
        match &self.content {
            Content::Compiled { compiled, .. } => Some(compiled),
            Content::Loaded(tool) => tool.compiled(&self.name),
        }
    }

    fn schemas(&self) -> impl Iterator<Item = &CompiledSchema> {
        [SchemaRole::Input, SchemaRole::Output].into_iter().filter_map(|role| self.compiled(role))
    }
}

/// What compiling or refreshing a catalog did with the schemas of its tools, those of arguments and of results alike.
///
/// Of the schemas in the new text, `compiled` and `reused` are two parts; of those in the catalog before, `replaced` and
/// `dropped` are what is not there any more.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Counters {
    /// Compiled now.
    pub compiled: usize,
    /// Known by their digest: from the catalog before, or from another tool of the text. A digest is of the whole schema and
    /// of the options that can change what it is compiled to.
    pub reused: usize,
    /// Schemas whose tool has another one in the same place now.
    pub replaced: usize,
    /// Schemas whose tool is gone, or has none in that place any more.
    pub dropped: usize,
}

impl Counters {
    /// Counts what became of a tool's schemas.
    fn count_change(&mut self, before: &Tool, after: Option<&Tool>) {
        for role in [SchemaRole::Input, SchemaRole::Output] {
            let digest = |tool: &Tool| tool.compiled(role).map(|schema| schema.digest);
            match (digest(before), after.and_then(digest)) {
                (None, _) => {}
                (Some(_), None) => self.dropped += 1,
                (Some(before), Some(after)) => self.replaced += usize::from(before != after),
            }
        }
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
    options: Arc<Options>,
    limits: Arc<Limits>,
    counters: Counters,
    report: Arc<Report>,
    counts_calls: bool,
    /// Judges results without content, once there is one: shared parts, put together without allocating.
    pub(crate) envelope: OnceLock<Schema>,
    rendering: Rendering,
}

impl Catalog {
    /// Compiles a catalog of any shape that is read ([`Shape`](crate::Shape)): results and responses of MCP, requests and
    /// tools of OpenAI, Anthropic, Gemini and Bedrock, bare lists and maps, JSON lines.
    ///
    /// A tool that cannot be compiled is a finding of the report, and [`Outcome::NotCompiled`] when called; the others
    /// work. Errors: the text is no catalog at all, or the options' [`Policy`] is strict and there is an error.
    pub fn compile(text: impl AsRef<[u8]>, options: &Options) -> Result<(Catalog, Report), Refused> {
        let mut catalog = Catalog::default();
        let report = catalog.upsert(text, options)?;
        Ok((catalog, report))
    }

    /// Compiles the tools of `text` (a single tool or a catalog) and adds them, in place of any of the same name. Schemas
    /// that the catalog has already are not compiled again; [`counters`](Self::counters) tell how many.
    /// Errors: the text is no tool or catalog; then nothing is changed.
    pub fn upsert(&mut self, text: impl AsRef<[u8]>, options: &Options) -> Result<Report, Refused> {
        self.upsert_observed(text, options, &mut |_, _| {})
    }

    /// As [`upsert`](Self::upsert), and tells after each tool how many are done, of how many.
    pub fn upsert_observed(
        &mut self,
        text: impl AsRef<[u8]>,
        options: &Options,
        observe: &mut dyn FnMut(usize, usize),
    ) -> Result<Report, Refused> {
        let compiled = self.compiled(text.as_ref(), options, observe)?;
        self.options = Arc::new(options.clone());
        self.limits = Arc::new(options.limits.clone());
        self.envelope = OnceLock::new();
        self.take(compiled);
        Ok(Report::clone(&self.report))
    }

    /// The catalog that `text` makes of this one, and what has changed. This one stays as it is, and usable.
    ///
    /// The new catalog has the tools of `text` and no others, compiled with the options of this one. Schemas that have not
    /// changed are shared, not compiled again: [`counters`](Self::counters) of the new catalog tell how many, and its
    /// [`report`](Self::report) what was found. Errors: the text is no catalog, or the options' [`Policy`] is strict and
    /// there is an error; then there is no catalog but this.
    ///
    /// A host that checks calls meanwhile keeps its catalog in an `Arc` and puts the new one in its place at once, as
    /// [`SharedCatalog`](crate::SharedCatalog) does.
    pub fn refresh(&self, text: impl AsRef<[u8]>) -> Result<(Catalog, Diff), Refused> {
        let compiled = self.compiled(text.as_ref(), &self.options, &mut |_, _| {})?;
        let (options, limits) = (Arc::clone(&self.options), Arc::clone(&self.limits));
        let counts_calls = self.counts_calls;
        let rendering = self.rendering;
        let mut catalog = Catalog { options, limits, counts_calls, rendering, ..Catalog::default() };
        catalog.take(compiled);
        for tool in &self.tools {
            let now = catalog.by_name.get(tool.name()).map(|at| &mut catalog.tools[*at]);
            catalog.counters.count_change(tool, now.as_deref());
            if let Some(now) = now {
                now.count_on(tool);
            }
        }
        let diff = Diff::between(self, &catalog);
        Ok((catalog, diff))
    }

    /// The tools of the text, as far as they are not known, if the policy lets them be.
    fn compiled(
        &self,
        text: &[u8],
        options: &Options,
        observe: &mut dyn FnMut(usize, usize),
    ) -> Result<Compiled, Refused> {
        let known = self.known_schemas();
        let mut compiled = compile_catalog_observed(text, options, known, observe).map_err(refused)?;
        let has_errors = compiled.findings.iter().any(|finding| finding.severity == Severity::Error);
        if options.policy == Policy::Strict && has_errors {
            return Err(Refused { report: report(&mut compiled, options.policy) });
        }
        Ok(compiled)
    }

    /// What has changed from the `old` catalog to this one.
    pub fn diff_from(&self, old: &Catalog) -> Diff {
        Diff::between(old, self)
    }

    /// What became of schemas when the catalog was last compiled, refreshed or added to.
    pub fn counters(&self) -> Counters {
        self.counters
    }

    /// What was found in the text that was last compiled.
    pub fn report(&self) -> &Report {
        &self.report
    }

    fn known_schemas(&self) -> KnownSchemas {
        self.tools.iter().flat_map(Tool::schemas).cloned().collect()
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

    fn take(&mut self, mut compiled: Compiled) {
        self.report = Arc::new(report(&mut compiled, self.options.policy));
        let quarantined = quarantined(self.options.policy, &self.report.findings);
        let (compiled_now, reused) = (compiled.schemas_compiled, compiled.schemas_reused);
        self.counters = Counters { compiled: compiled_now, reused, ..Counters::default() };
        for tool in compiled.tools {
            let is_quarantined = quarantined.contains(tool.name.as_str());
            let tool = self.tool_of(tool, is_quarantined);
            match self.by_name.get(tool.name()) {
                Some(at) => {
                    let before = std::mem::replace(&mut self.tools[*at], tool);
                    self.counters.count_change(&before, Some(&self.tools[*at]));
                    self.tools[*at].count_on(&before);
                }
                None => {
                    self.by_name.insert(tool.name().to_owned(), self.tools.len());
                    self.tools.push(tool);
                }
            }
        }
    }

    fn tool_of(&self, compiled: CompiledTool, is_quarantined: bool) -> Tool {
        let schema = |compiled: &CompiledSchema, role| {
            let unit = compiled.unit.as_ref().filter(|_| !is_quarantined);
            unit.map(|unit| Schema::of(unit, compiled.counterpart.as_ref(), &self.limits, &self.options, role))
        };
        let input = schema(&compiled.input, SchemaRole::Input);
        let output = compiled.output.as_ref().and_then(|output| schema(output, SchemaRole::Output));
        if output.is_some() {
            prepare_results();
        }
        let name = compiled.name.clone();
        let counts = self.counts_calls.then(Arc::default);
        Tool {
            name,
            content: Content::Compiled { compiled, input, output },
            options: Arc::clone(&self.options),
            counts,
        }
    }

    /// A catalog of tools that were found in a file. `None` if two have one name.
    pub(crate) fn of_loaded(
        tools: impl ExactSizeIterator<Item = Tool>,
        options: Arc<Options>,
        limits: Arc<Limits>,
        report: Report,
    ) -> Option<Catalog> {
        let mut catalog = Catalog { options, limits, report: Arc::new(report), ..Catalog::default() };
        catalog.tools.reserve(tools.len());
        catalog.by_name.reserve(tools.len());
        for tool in tools {
            if catalog.by_name.insert(tool.name().to_owned(), catalog.tools.len()).is_some() {
                return None;
            }
            catalog.tools.push(tool);
        }
        Some(catalog)
    }

    /// Reads all of a catalog that was loaded, which otherwise happens tool by tool, at the first use. Errors: a tool does not
    /// hold together, so that it cannot be called.
    pub fn verify(&self) -> Result<(), LoadError> {
        for tool in &self.tools {
            if let Content::Loaded(loaded) = &tool.content {
                loaded.verify(&tool.name)?;
            }
        }
        Ok(())
    }

    /// How the tools of the catalog's last text were compiled. Documents for references are not kept in a compiled catalog.
    pub fn options(&self) -> &Options {
        &self.options
    }

    /// Counts the calls of each tool from now on: [`Tool::counters`] tells what became of them. Clones of this catalog and
    /// catalogs that a refresh makes of it go on counting with it.
    ///
    /// Counted are the checks of calls ([`check`](Self::check), [`check_instance`](Self::check_instance)), not those of
    /// results. Cost: for each accepted call an atomic addition, for each rejected one its signature as well; off by default,
    /// since threads that call one tool then write to the same memory.
    pub fn count_calls(&mut self) {
        self.counts_calls = true;
        self.tools.iter_mut().filter(|tool| tool.counts.is_none()).for_each(|tool| tool.counts = Some(Arc::default()));
    }

    pub(crate) fn shared_limits(&self) -> Arc<Limits> {
        Arc::clone(&self.limits)
    }

    /// The limits: those of calls hold for every check.
    pub fn limits(&self) -> &Limits {
        &self.limits
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
        if self.tools.iter().any(|tool| tool.output().is_some()) {
            // A catalog that was loaded has compiled nothing so far.
            prepare_results();
        }
        let schemas = self.tools.iter().flat_map(|tool| [tool.input(), tool.output()]).flatten();
        // Tools may share units.
        let mut seen: HashSet<*const Unit, ahash::RandomState> = HashSet::default();
        let units = schemas.flat_map(Schema::units);
        let units = units.filter(|unit| seen.insert(std::ptr::from_ref(*unit)));
        session.reserve(call_bytes, &self.limits, self.options.lax, units);
        session
    }

    /// Checks a call. Cost: one pass over the arguments for most schemas; no allocation within the session's size.
    pub fn check<'s>(
        &'s self,
        session: &'s mut Session,
        tool: &str,
        arguments: impl Into<Arguments<'s>>,
    ) -> Outcome<'s> {
        let (tool, schema) = match self.input(tool) {
            Ok(found) => found,
            Err(outcome) => return outcome,
        };
        let mut outcome = schema.check(session, arguments);
        tool.count(&outcome);
        self.set_default_rendering(&mut outcome);
        outcome
    }

    /// What the tool's handler would get of the arguments if it read them as pydantic does; see [`Schema::coerced`]. `None`
    /// also where there is no such tool, or it is not compiled.
    pub fn coerced<'a>(
        &self,
        session: &mut Session,
        tool: &str,
        arguments: impl Into<Arguments<'a>>,
    ) -> Option<serde_json::Value> {
        let (_, schema) = self.input(tool).ok()?;
        schema.coerced(session, arguments)
    }

    /// Checks a call whose arguments are a host's own object; see [`Schema::check_instance`].
    pub fn check_instance<'s, 'a, I: Instance<'a>>(
        &'s self,
        session: &'s mut Session,
        stack: &mut StackOf<'a, I>,
        tool: &str,
        arguments: &mut I,
    ) -> Outcome<'s> {
        let (tool, schema) = match self.input(tool) {
            Ok(found) => found,
            Err(outcome) => return outcome,
        };
        let mut outcome = schema.check_instance(session, stack, arguments);
        tool.count(&outcome);
        self.set_default_rendering(&mut outcome);
        outcome
    }

    /// How rejections of this catalog's calls are to be written, unless a host says otherwise for one; see
    /// [`Rejection::rendering`](crate::Rejection::rendering). A catalog made by [`refresh`](Self::refresh) takes it over. It
    /// changes nothing that is compiled, and no compiled file has it.
    pub fn set_rendering(&mut self, rendering: Rendering) {
        self.rendering = rendering;
    }

    /// See [`set_rendering`](Self::set_rendering).
    pub fn rendering(&self) -> Rendering {
        self.rendering
    }

    /// In place: an outcome is large to move.
    pub(crate) fn set_default_rendering<'s>(&'s self, outcome: &mut Outcome<'s>) {
        if let Outcome::Rejected(rejection) = outcome {
            rejection.rendering = &self.rendering;
        }
    }

    fn input<'s>(&'s self, tool: &str) -> Result<(&'s Tool, &'s Schema), Outcome<'s>> {
        let tool = self.tool(tool).ok_or(Outcome::UnknownTool)?;
        Ok((tool, tool.input().ok_or(Outcome::NotCompiled)?))
    }
}

#[allow(clippy::boxed_local)] // as the compiler answers it
pub(crate) fn refused(finding: Box<Finding>) -> Refused {
    Refused { report: Report { findings: vec![*finding], ..Report::default() } }
}

/// Names of tools that their policy keeps from being called.
fn quarantined(policy: Policy, findings: &[Finding]) -> HashSet<String, ahash::RandomState> {
    let is_error = |finding: &&Finding| {
        // A second tool of the name says nothing about the first, which is kept.
        finding.severity == Severity::Error && finding.kind != FindingKind::DuplicateTool
    };
    let errors = findings.iter().filter(|_| policy == Policy::Quarantine).filter(is_error);
    errors.filter_map(|finding| finding.tool.clone()).collect()
}

/// Counts the tools by what was found about them, and takes the findings.
fn report(compiled: &mut Compiled, policy: Policy) -> Report {
    let entries = compiled.refused_entries;
    let quarantined = quarantined(policy, &compiled.findings);
    let about: HashSet<&str, ahash::RandomState> = compiled
        .findings
        .iter()
        .filter(|finding| finding.kind != FindingKind::DuplicateTool)
        .filter_map(|finding| finding.tool.as_deref())
        .collect();
    let is_refused = |tool: &CompiledTool| tool.input.unit.is_none() || quarantined.contains(&tool.name);
    let refused = compiled.tools.iter().filter(|tool| is_refused(tool)).count();
    let flagged = compiled.tools.iter().filter(|tool| !is_refused(tool) && about.contains(tool.name.as_str())).count();
    let tools = compiled.tools.len();
    Report {
        tools: tools + entries,
        healthy: tools - refused - flagged,
        flagged,
        refused: refused + entries,
        findings: std::mem::take(&mut compiled.findings),
    }
}
