//! The catalog: tools by name, each compiled once.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use callgate_compiler::{Compiled, CompiledTool, Finding, FindingKind, Options, Stage, compile_catalog};
use callgate_vm::instance::Instance;
use callgate_vm::limits::Limits;
use callgate_vm::scratch::StackOf;

use crate::report::{Refused, Report};
use crate::schema::{Arguments, Outcome, Schema};
use crate::session::Session;

/// A tool of a catalog.
#[derive(Clone, Debug)]
pub struct Tool {
    name: String,
    input: Option<Schema>,
    output: Option<Schema>,
}

impl Tool {
    /// The tool's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What judges its arguments; `None` if the schema could not be compiled.
    pub fn input(&self) -> Option<&Schema> {
        self.input.as_ref()
    }

    /// What judges its results; `None` if it has no such schema, or one that could not be compiled.
    pub fn output(&self) -> Option<&Schema> {
        self.output.as_ref()
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
}

impl Catalog {
    /// Compiles a catalog of any shape that is read: an MCP `tools/list` result or response, OpenAI or Anthropic tools,
    /// a bare list or map.
    ///
    /// A tool that cannot be compiled is a finding of the report, and [`Outcome::NotCompiled`] when called; the others
    /// work. Errors: the text is no catalog at all.
    pub fn compile(text: impl AsRef<[u8]>, options: &Options) -> Result<(Catalog, Report), Refused> {
        let compiled = compile_catalog(text.as_ref(), options).map_err(refused)?;
        let mut catalog = Catalog { limits: Arc::new(options.limits.clone()), ..Catalog::default() };
        let report = catalog.take(compiled);
        Ok((catalog, report))
    }

    /// Compiles the tools of `text` (a single tool or a catalog) and adds them, in place of any of the same name.
    /// Errors: the text is no tool or catalog; then nothing is changed.
    pub fn upsert(&mut self, text: impl AsRef<[u8]>, options: &Options) -> Result<Report, Refused> {
        let compiled = compile_catalog(text.as_ref(), options).map_err(refused)?;
        self.limits = Arc::new(options.limits.clone());
        Ok(self.take(compiled))
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

    fn take(&mut self, mut compiled: Compiled) -> Report {
        let report = report(&mut compiled);
        for tool in compiled.tools {
            let tool = self.tool_of(tool);
            match self.by_name.get(&tool.name) {
                Some(at) => self.tools[*at] = tool,
                None => {
                    self.by_name.insert(tool.name.clone(), self.tools.len());
                    self.tools.push(tool);
                }
            }
        }
        report
    }

    fn tool_of(&self, tool: CompiledTool) -> Tool {
        let schema = |unit| Schema::new(unit, Arc::clone(&self.limits));
        Tool { name: tool.name, input: tool.input.map(schema), output: tool.output.map(schema) }
    }

    /// The tool of that name.
    pub fn tool(&self, name: &str) -> Option<&Tool> {
        self.by_name.get(name).map(|at| &self.tools[*at])
    }

    /// The tools, in the order of the catalog.
    pub fn tools(&self) -> impl ExactSizeIterator<Item = &Tool> {
        self.tools.iter()
    }

    /// A session for calls of up to `call_bytes`: it allocates now, and the checks of such calls do not.
    pub fn session(&self, call_bytes: usize) -> Session {
        let mut session = Session::new();
        let schemas = self.tools.iter().flat_map(|tool| [tool.input(), tool.output()]).flatten();
        session.reserve(call_bytes, &self.limits, schemas.map(|schema| schema.unit().as_ref()));
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
pub(crate) fn refused(finding: Box<Finding>) -> Refused {
    Refused { report: Report { findings: vec![*finding], ..Report::default() } }
}

/// Counts the tools by what was found about them, and takes the findings.
fn report(compiled: &mut Compiled) -> Report {
    let entries = compiled.refused_entries;
    let about: HashSet<&str, ahash::RandomState> = compiled
        .findings
        .iter()
        .filter(|finding| finding.kind != FindingKind::DuplicateTool)
        .filter_map(|finding| finding.tool.as_deref())
        .collect();
    let flagged = |tool: &&CompiledTool| tool.input.is_some() && about.contains(tool.name.as_str());
    let refused = compiled.tools.iter().filter(|tool| tool.input.is_none()).count();
    let flagged = compiled.tools.iter().filter(flagged).count();
    let tools = compiled.tools.len();
    Report {
        tools: tools + entries,
        healthy: tools - refused - flagged,
        flagged,
        refused: refused + entries,
        findings: std::mem::take(&mut compiled.findings),
    }
}
