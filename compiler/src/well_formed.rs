//! Well-formedness: a schema is an instance of its dialect's metaschema, and is judged as one.

use std::fmt::Write as _;

use callgate_vm::execute::Bounds;
use callgate_vm::explain::{Explanation, Extent};
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

/// What checking a schema may spend: linear in its nodes, and a schema is bounded itself. Unit: fuel.
const FUEL_MAX: u64 = 1 << 34;

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
                Ok(unit) => findings.extend(self.judge(&unit, registry, root)),
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

    /// Judges the schema by the metaschema of a draft.
    pub(crate) fn judge_by_draft(&mut self, draft: Draft, registry: &Registry<'_>, root: Place) -> Option<Finding> {
        metaschema::unit(draft).and_then(|unit| self.judge(unit, registry, root))
    }

    /// Judges the schema at a node by the metaschema of a draft, whatever it says of itself.
    pub(crate) fn judge_node(&mut self, draft: Draft, tape: Tape<'_>, node: Node) -> Option<Finding> {
        metaschema::unit(draft).and_then(|unit| self.run(unit, tape, node))
    }

    fn judge(&mut self, unit: &Unit, registry: &Registry<'_>, root: Place) -> Option<Finding> {
        self.run(unit, registry.tape(root.doc), root.node)
    }

    fn run(&mut self, unit: &Unit, tape: Tape<'_>, node: Node) -> Option<Finding> {
        let mut instance = TapeInstance::new(tape, node);
        let mut stack = Stack::default();
        let bounds =
            Bounds { fuel_max: FUEL_MAX, depth_max: u32::MAX, memo_max: u64::from(u32::MAX), nested_max: NESTED_MAX };
        match judge(unit, &mut instance, Some(&mut stack), &mut self.scratch, &bounds) {
            Ok(true) => return None,
            Ok(false) => {}
            Err(halt) => return Some(declined(halt)),
        }
        let extent = Extent::Speaking;
        let explained = explain(unit, instance, &mut stack, &mut self.scratch, &mut self.explanation, &bounds, extent);
        match explained {
            Ok(true) => None,
            Ok(false) => Some(Self::finding(Renderer { unit, tape, explanation: &self.explanation })),
            Err(halt) => Some(declined(halt)),
        }
    }

    fn finding(renderer: Renderer<'_>) -> Finding {
        let (mut pointer, mut detail) = (String::new(), String::new());
        if let Some(top) = renderer.top() {
            let mut bounded = Bounded::new(&mut detail, DETAIL_BYTES_MAX);
            let written = renderer
                .write_message(&mut bounded, &top.deep)
                .and_then(|()| bounded.finish())
                .and_then(|()| renderer.write_pointer(&mut pointer, top.deep.path));
            debug_assert!(written.is_ok());
            let mut buffer = String::new();
            let value = renderer.tape.text(top.deep.node).plain(&mut buffer);
            if let Some(meant) = meant_type(&pointer, value) {
                let added = write!(detail, "; did you mean \"{meant}\"?");
                debug_assert!(added.is_ok());
            }
        }
        Finding::new(FindingKind::NotWellFormed, pointer, detail)
    }
}

fn declined(halt: Halt) -> Finding {
    let code = match halt {
        Halt::Fault(code) => code.as_str(),
        Halt::Unreadable | Halt::Stackless => "unreadable",
    };
    Finding::new(FindingKind::SizeLimit, "", format!("the schema is too large to be checked: {code}"))
}

const TYPES: [&str; 7] = ["array", "boolean", "integer", "null", "number", "object", "string"];

/// The type that a misspelt one means, where the pointer says that a type stands there.
fn meant_type(pointer: &str, value: &str) -> Option<&'static str> {
    let at_type = pointer.ends_with("/type")
        || pointer
            .rsplit_once('/')
            .is_some_and(|(list, index)| list.ends_with("/type") && index.bytes().all(|byte| byte.is_ascii_digit()));
    if !at_type || value.is_empty() || value.len() > 16 {
        return None;
    }
    let aliases = [
        ("str", "string"),
        ("text", "string"),
        ("int", "integer"),
        ("long", "integer"),
        ("float", "number"),
        ("double", "number"),
        ("decimal", "number"),
        ("bool", "boolean"),
        ("dict", "object"),
        ("map", "object"),
        ("list", "array"),
        ("tuple", "array"),
        ("none", "null"),
    ];
    let lower = value.to_ascii_lowercase();
    if let Some((_, meant)) = aliases.iter().find(|(alias, _)| *alias == lower) {
        return Some(meant);
    }
    let nearest = TYPES.iter().min_by_key(|name| edit_distance(name, &lower))?;
    (edit_distance(nearest, &lower) <= 2).then_some(nearest)
}

/// Insertions, deletions, replacements and swaps of neighbours that lead from one word to the other.
fn edit_distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut rows = vec![vec![0; b.len() + 1]; a.len() + 1];
    for i in 0..=a.len() {
        for j in 0..=b.len() {
            rows[i][j] = match (i, j) {
                (0, n) | (n, 0) => n,
                (i, j) => {
                    let replaced = rows[i - 1][j - 1] + usize::from(a[i - 1] != b[j - 1]);
                    let best = replaced.min(rows[i - 1][j] + 1).min(rows[i][j - 1] + 1);
                    let swaps = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
                    if swaps { best.min(rows[i - 2][j - 2] + 1) } else { best }
                }
            };
        }
    }
    rows[a.len()][b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(pointer: &str, value: &str, expected: Option<&str>) {
        assert_eq!(meant_type(pointer, value), expected);
    }

    #[test]
    fn misspelt_types() {
        check("/type", "strnig", Some("string"));
        check("/properties/a/type/0", "OBJECT", Some("object"));
        check("/type", "float", Some("number"));
        check("/type", "banana", None);
        check("/title", "strnig", None);
    }
}
