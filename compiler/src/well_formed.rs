//! Well-formedness: a schema is an instance of its dialect's metaschema, and is judged as one.

use callgate_vm::execute::Bounds;
use callgate_vm::explain::{Explanation, Extent};
use callgate_vm::failure::Record;
use callgate_vm::instance::Halt;
use callgate_vm::limits::NESTED_MAX;
use callgate_vm::render::{Bounded, Renderer};
use callgate_vm::scratch::{Scratch, Stack};
use callgate_vm::tape::{Node, Tape, TapeInstance};
use callgate_vm::unit::Unit;
use callgate_vm::{explain, judge};

use crate::compile_document;
use crate::dialect::{Draft, Keyword};
use crate::document::without_fragment;
use crate::finding::{Finding, FindingKind};
use crate::metaschema;
use crate::options::Options;
use crate::quick_look::is_plainly_well_formed;
use crate::refs::{Place, Registry};
use crate::repair;

/// What checking a schema may spend: linear in its nodes, and a schema is bounded itself. Unit: fuel.
const FUEL_MAX: u64 = 1 << 34;

/// Failures of one schema that are told. Unit: failures.
const FAILURES_MAX: usize = 20;

/// A finding's text. Unit: bytes.
const DETAIL_BYTES_MAX: usize = 240;

/// Memory of the checks, used again for each schema.
#[derive(Debug, Default)]
pub(crate) struct Checker {
    scratch: Scratch,
    explanation: Explanation,
}

impl Checker {
    /// Judges the schema at `root` by its metaschema.
    pub(crate) fn check(
        &mut self,
        registry: &Registry<'_>,
        root: Place,
        options: &Options,
        findings: &mut Vec<Finding>,
    ) {
        let Some(site) = registry.site(root) else {
            return;
        };
        let custom = registry
            .string_member(root, site, Keyword::SchemaUri)
            .map(without_fragment)
            .filter(|uri| Draft::from_uri(uri).is_none() && options.documents.get(uri).is_some());
        match custom {
            Some(uri) => match compile_document(uri, site.dialect.draft, &options.documents, options) {
                Ok(unit) => findings.extend(self.judge(&unit, registry.tape(root.doc), root.node)),
                Err(errors) => {
                    let what = errors.first().map_or(String::new(), |error| format!(": {error}"));
                    let detail = format!("the metaschema {uri} does not compile{what}");
                    findings.push(Finding::new(FindingKind::UnknownDialect, "/$schema", detail));
                }
            },
            None if is_plainly_well_formed(registry, root) => {}
            None => findings.extend(self.judge_by_draft(site.dialect.draft, registry, root)),
        }
    }

    /// What the metaschema of a draft has against the schema; the worst first.
    pub(crate) fn judge_by_draft(&mut self, draft: Draft, registry: &Registry<'_>, root: Place) -> Vec<Finding> {
        metaschema::unit(draft).map(|unit| self.judge(unit, registry.tape(root.doc), root.node)).unwrap_or_default()
    }

    /// The worst that the metaschema of a draft has against the schema at a node, whatever that says of itself.
    pub(crate) fn judge_node(&mut self, draft: Draft, tape: Tape<'_>, node: Node) -> Option<Finding> {
        metaschema::unit(draft).and_then(|unit| self.judge(unit, tape, node).into_iter().next())
    }

    fn judge(&mut self, unit: &Unit, tape: Tape<'_>, node: Node) -> Vec<Finding> {
        let mut instance = TapeInstance::new(tape, node);
        let mut stack = Stack::default();
        let bounds =
            Bounds { fuel_max: FUEL_MAX, depth_max: u32::MAX, memo_max: u64::from(u32::MAX), nested_max: NESTED_MAX };
        match judge(unit, &mut instance, Some(&mut stack), &mut self.scratch, &bounds) {
            Ok(true) => return Vec::new(),
            Ok(false) => {}
            Err(halt) => return vec![declined(halt)],
        }
        let extent = Extent::Listed { failures_max: FAILURES_MAX, evaluation_paths: false };
        let explained = explain(unit, instance, &mut stack, &mut self.scratch, &mut self.explanation, &bounds, extent);
        match explained {
            Ok(true) => Vec::new(),
            Ok(false) => Self::findings(Renderer { unit, tape, explanation: &self.explanation, masked: false }),
            Err(halt) => vec![declined(halt)],
        }
    }

    /// One finding a place: the failure that speaks, then the others as they are listed.
    fn findings(renderer: Renderer<'_>) -> Vec<Finding> {
        let mut findings: Vec<Finding> = Vec::new();
        for failure in renderer.top().into_iter().chain(renderer.failures()) {
            let finding = Self::finding(renderer, &failure.deep);
            if findings.iter().all(|known| known.pointer != finding.pointer) {
                findings.push(finding);
            }
        }
        findings
    }

    fn finding(renderer: Renderer<'_>, failure: &Record) -> Finding {
        let (mut pointer, mut detail) = (String::new(), String::new());
        let mut bounded = Bounded::new(&mut detail, DETAIL_BYTES_MAX);
        let written = renderer
            .write_message(&mut bounded, failure)
            .and_then(|()| bounded.finish())
            .and_then(|()| renderer.write_pointer(&mut pointer, failure.path));
        debug_assert!(written.is_ok());
        let hint = repair::hint(&pointer, renderer.tape, failure.node);
        Finding { hint, ..Finding::new(FindingKind::NotWellFormed, pointer, detail) }
    }
}

fn declined(halt: Halt) -> Finding {
    let code = match halt {
        Halt::Fault(code) => code.as_str(),
        Halt::Unreadable | Halt::Stackless => "unreadable",
    };
    Finding::new(FindingKind::SizeLimit, "", format!("the schema is too large to be checked: {code}"))
}
