//! Findings as text for people, and as JSON.

use std::io::{self, Write};

use callgate::{Finding, FindingKind, Report, SchemaRole, Severity};
use serde::Serialize;

use crate::catalog_file::CatalogFile;
use crate::excerpt::Excerpt;
use crate::output::{Styles, visible};

/// Writes the findings of one catalog, by tool; nothing if there are none.
///
/// ```text
/// tools.json
///   roll
///     error[not_well_formed] 1:40 input /properties/seed/type: 'intger' is not valid …
///       | {"seed": {"type": "intger"}}
///       |                   ^^^^^^^^ did you mean "integer"?
/// ```
pub fn write<'f>(
    out: &mut dyn Write,
    styles: Styles,
    file: &CatalogFile,
    findings: impl IntoIterator<Item = &'f Finding>,
) -> io::Result<()> {
    let Styles { name, .. } = styles;
    let mut tool = None;
    for (at, finding) in findings.into_iter().enumerate() {
        if at == 0 {
            writeln!(out, "{name}{}{name:#}", visible(file.name()))?;
        }
        if finding.tool.is_some() && finding.tool != tool {
            writeln!(out, "  {name}{}{name:#}", visible(finding.tool.as_deref().unwrap_or_default()))?;
        }
        tool.clone_from(&finding.tool);
        write_finding(out, styles, file, finding)?;
    }
    Ok(())
}

fn write_finding(out: &mut dyn Write, styles: Styles, file: &CatalogFile, finding: &Finding) -> io::Result<()> {
    let indentation = if finding.tool.is_some() { "    " } else { "  " };
    let severity = match finding.severity {
        Severity::Error => styles.error,
        Severity::Warning => styles.warning,
    };
    write!(out, "{indentation}{severity}{}[{}]{severity:#}", finding.severity, finding.kind)?;
    let place = place(file, finding);
    if !place.is_empty() {
        write!(out, " {}{}{:#}", styles.place, visible(&place), styles.place)?;
    }
    writeln!(out, ": {}", visible(&finding.detail))?;
    let hint = finding.hint.as_deref().map(|hint| format!(" {}", visible(hint))).unwrap_or_default();
    let excerpt = finding.span.as_ref().and_then(|span| Excerpt::of(file.text(), span));
    let place = styles.place;
    if let Some(Excerpt { line, indent, width }) = excerpt {
        let carets = "^".repeat(width);
        writeln!(out, "{indentation}  {place}|{place:#} {line}")?;
        writeln!(out, "{indentation}  {place}|{place:#} {:indent$}{severity}{carets}{severity:#}{hint}", "")
    } else if !hint.is_empty() {
        writeln!(out, "{indentation} {hint}")
    } else {
        Ok(())
    }
}

/// Position, schema and pointer, as far as they are known.
fn place(file: &CatalogFile, finding: &Finding) -> String {
    let position =
        finding.span.as_ref().map(|span| file.position(span.start)).map(|(line, column)| format!("{line}:{column}"));
    let schema = schema(finding).map(|role| role.to_string());
    let pointer = Some(finding.pointer.clone()).filter(|pointer| !pointer.is_empty());
    [position, schema, pointer].into_iter().flatten().collect::<Vec<_>>().join(" ")
}

/// Which schema the finding is about; none where it is about the catalog or one of its entries.
fn schema(finding: &Finding) -> Option<SchemaRole> {
    match finding.kind {
        FindingKind::NotATool | FindingKind::DuplicateTool => None,
        _ => finding.tool.is_some().then_some(finding.schema),
    }
}

/// A finding as scripts read it.
#[derive(Debug, Serialize)]
pub struct FindingJson<'f> {
    file: &'f str,
    tool_id: Option<&'f str>,
    schema: Option<SchemaRole>,
    pointer: &'f str,
    kind: FindingKind,
    severity: Severity,
    detail: &'f str,
    hint: Option<&'f str>,
    /// Where in the file, from and to. Unit: bytes.
    span: Option<[usize; 2]>,
}

impl<'f> FindingJson<'f> {
    /// The finding, with the file it is from.
    pub fn new(file: &'f CatalogFile, finding: &'f Finding) -> Self {
        FindingJson {
            file: file.name(),
            tool_id: finding.tool.as_deref(),
            schema: schema(finding),
            pointer: &finding.pointer,
            kind: finding.kind,
            severity: finding.severity,
            detail: &finding.detail,
            hint: finding.hint.as_deref(),
            span: finding.span.as_ref().map(|span| [span.start, span.end]),
        }
    }
}

/// The findings that keep a tool's schema from being compiled; without a tool, those about the whole catalog.
pub fn that_refuse<'r>(report: &'r Report, tool: Option<&str>, role: SchemaRole) -> Vec<&'r Finding> {
    let refuses = |finding: &&Finding| {
        // A second tool of the name says nothing about the first, which is kept.
        finding.tool.as_deref() == tool
            && finding.schema == role
            && finding.kind != FindingKind::DuplicateTool
            && !finding.kind.compiles()
    };
    report.findings.iter().filter(refuses).collect()
}

/// Writes findings to stderr.
pub fn log(file: &CatalogFile, findings: &[&Finding]) {
    let mut stderr = io::stderr().lock();
    // Nobody is left to hear that stderr is closed.
    let _ = write(&mut stderr, Styles::of(&io::stderr()), file, findings.iter().copied());
}
