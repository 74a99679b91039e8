//! What an audit came to: as a table for people, and as one line of JSON.

use std::cmp::Reverse;
use std::io::{self, Write};

use serde::Serialize;

use super::judge::{Targets, Wanted};
use super::tally::{Counts, Example, Repaired, Signature, Tally, ToolTally, Verdict};
use crate::catalog_file::nearest;
use crate::output::{Styles, visible};

/// Signatures shown of a tool, and names that are unknown; the others are counted. JSON has all.
const SHOWN_MAX: usize = 5;

/// The first column is no wider. Unit: characters.
const NAME_CHARS_MAX: usize = 40;

/// The result of an audit.
///
/// ```text
/// tool               calls  accepted      rejected  faults
/// search_catalogue   1,000       900  100   10.0 %       -
///        60  minimum at /properties/limit/minimum
///            row 17  schema: 0 is less than the minimum of 1 at limit
///        40  required at /required
///            row 3  schema: 'query' is a required property
/// 1 tool was not called.
///
/// 1,003 rows, 1,000 calls: 900 accepted, 100 rejected; 2 rows without a call, 1 malformed
/// ```
#[derive(Serialize)]
pub struct Summary<'t> {
    rows: u64,
    without_call: u64,
    malformed: u64,
    #[serde(flatten)]
    counts: Counts,
    /// Only where that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    repaired: Option<&'t Repaired>,
    tools: Vec<ToolSummary<'t>>,
    unknown_tools: Vec<UnknownTool<'t>>,
    /// Calls of further names.
    unknown_tools_unlisted: u64,
    malformed_rows: Vec<ExampleOf<'t>>,
    #[serde(skip)]
    uncalled: usize,
}

#[derive(Serialize)]
struct ToolSummary<'t> {
    tool: &'t str,
    #[serde(flatten)]
    counts: ToolCounts,
    #[serde(skip_serializing_if = "Option::is_none")]
    repaired: Option<&'t Repaired>,
    signatures: Vec<SignatureSummary<'t>>,
    /// Calls that failed elsewhere.
    signatures_unlisted: u64,
}

/// The counts that a known tool can have.
#[derive(Serialize)]
struct ToolCounts {
    calls: u64,
    accepted: u64,
    rejected: u64,
    faults: u64,
    not_compiled: u64,
}

#[derive(Serialize)]
struct SignatureSummary<'t> {
    outcome: Verdict,
    code: &'t str,
    #[serde(skip_serializing_if = "Option::is_none")]
    keyword_location: Option<&'t str>,
    count: u64,
    examples: Vec<ExampleOf<'t>>,
}

#[derive(Serialize)]
struct ExampleOf<'t> {
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<&'t str>,
    #[serde(flatten)]
    example: &'t Example,
}

#[derive(Serialize)]
struct UnknownTool<'t> {
    tool: &'t str,
    calls: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<&'t str>,
    /// The first one.
    row: u64,
    /// The catalog's names most like it.
    nearest: Vec<String>,
}

impl<'t> Summary<'t> {
    /// What has been counted, the tools with most trouble first.
    pub fn new(tally: &'t Tally, targets: &'t Targets<'_>, wanted: &'t Wanted) -> Summary<'t> {
        let called = targets.tools().iter().zip(&tally.tools).filter(|(_, tally)| tally.counts.calls > 0);
        let mut tools: Vec<_> = called.map(|(target, tally)| ToolSummary::new(target.name, tally, wanted)).collect();
        // Sorting keeps the catalog's order among equals.
        tools.sort_by_key(|tool| Reverse((tool.counts.failed(), tool.counts.calls)));
        let mut unknown: Vec<_> = tally.unknown.iter().collect();
        unknown.sort_by_key(|(_, unknown)| (Reverse(unknown.calls), unknown.first));
        let names = || targets.tools().iter().map(|target| target.name);
        let unknown_tools = unknown.into_iter().enumerate().map(|(at, (name, unknown))| UnknownTool {
            tool: name,
            calls: unknown.calls,
            file: wanted.files.get(unknown.first.0).map(String::as_str),
            row: unknown.first.1,
            // Likeness takes a look at every name.
            nearest: if at < SHOWN_MAX { nearest(name, names()) } else { Vec::new() },
        });
        Summary {
            rows: tally.rows,
            without_call: tally.without_call,
            malformed: tally.malformed,
            counts: tally.counts,
            repaired: wanted.repairs.then_some(&tally.repaired),
            uncalled: targets.tools().len() - tools.len(),
            tools,
            unknown_tools: unknown_tools.collect(),
            unknown_tools_unlisted: tally.unknown_unkept,
            malformed_rows: tally.malformed_rows.iter().map(|example| ExampleOf::new(example, wanted)).collect(),
        }
    }

    /// One line of JSON.
    pub fn write_json(&self, out: &mut dyn Write) -> io::Result<()> {
        serde_json::to_writer(&mut *out, self)?;
        writeln!(out)
    }

    /// The table.
    pub fn write_human(&self, out: &mut dyn Write, styles: Styles) -> io::Result<()> {
        self.write_tools(out, styles)?;
        self.write_unknown(out, styles)?;
        self.write_malformed(out, styles)?;
        if self.uncalled > 0 {
            let (tools, were) = (plural(self.uncalled as u64, "tool"), if self.uncalled == 1 { "was" } else { "were" });
            writeln!(out, "{tools} of the catalog {were} not called.\n")?;
        }
        self.write_totals(out)
    }

    fn write_tools(&self, out: &mut dyn Write, styles: Styles) -> io::Result<()> {
        if self.tools.is_empty() {
            return Ok(());
        }
        let width = self.tools.iter().map(|tool| visible(tool.tool).chars().count()).max().unwrap_or(0);
        let width = width.clamp("tool".len(), NAME_CHARS_MAX);
        let Styles { name, place, .. } = styles;
        let (empty, heads) = ("", ["calls", "accepted", "rejected", "faults"].map(|head| format!("{head:>11}")));
        let [calls, accepted, rejected, faults] = &heads;
        writeln!(out, "{place}{:width$} {calls} {accepted} {rejected} {empty:>7} {faults}{place:#}", "tool")?;
        for tool in &self.tools {
            let ToolCounts { calls, accepted, rejected, faults, .. } = tool.counts;
            let shown = visible(tool.tool);
            let numbers = [calls, accepted, rejected].map(|count| format!("{:>11}", thousands_or_none(count)));
            let [calls_shown, accepted, rejected_shown] = &numbers;
            let part = if rejected == 0 { String::new() } else { percent(rejected, calls) };
            write!(out, "{name}{shown:width$}{name:#} {calls_shown} {accepted} {rejected_shown} {part:>7}")?;
            writeln!(out, " {:>11}", thousands_or_none(faults))?;
            write_repaired(out, tool.repaired)?;
            tool.write_signatures(out, styles)?;
        }
        writeln!(out)
    }

    fn write_unknown(&self, out: &mut dyn Write, styles: Styles) -> io::Result<()> {
        if self.unknown_tools.is_empty() {
            return Ok(());
        }
        writeln!(out, "{}names that no tool has{:#}", styles.place, styles.place)?;
        for unknown in self.unknown_tools.iter().take(SHOWN_MAX) {
            let name = styles.error;
            let shown = visible(unknown.tool);
            write!(out, "{:>11}  {name}{shown}{name:#}, first in ", thousands(unknown.calls))?;
            write_row(out, unknown.file, unknown.row)?;
            if let Some(nearest) = unknown.nearest.first() {
                write!(out, "; most like it: {}", visible(nearest))?;
            }
            writeln!(out)?;
        }
        let others = self.unknown_tools.iter().skip(SHOWN_MAX).map(|unknown| unknown.calls).sum::<u64>();
        if others + self.unknown_tools_unlisted > 0 {
            writeln!(out, "{:>11}  others", thousands(others + self.unknown_tools_unlisted))?;
        }
        writeln!(out)
    }

    fn write_malformed(&self, out: &mut dyn Write, styles: Styles) -> io::Result<()> {
        if self.malformed_rows.is_empty() {
            return Ok(());
        }
        writeln!(out, "{}malformed{:#}", styles.place, styles.place)?;
        self.malformed_rows.iter().try_for_each(|example| example.write_human(out))?;
        writeln!(out)
    }

    fn write_totals(&self, out: &mut dyn Write) -> io::Result<()> {
        let Counts { calls, accepted, rejected, faults, unknown_tool, not_compiled } = self.counts;
        write!(out, "{}, {}: {} accepted", plural(self.rows, "row"), plural(calls, "call"), thousands(accepted))?;
        write!(out, ", {} rejected", thousands(rejected))?;
        if rejected > 0 {
            write!(out, " ({})", percent(rejected, calls))?;
        }
        let more = [
            (faults, "declined by a fault"),
            (unknown_tool, "of unknown tools"),
            (not_compiled, "of tools not compiled"),
        ];
        for (count, what) in more.into_iter().filter(|(count, _)| *count > 0) {
            write!(out, ", {} {what}", thousands(count))?;
        }
        if self.without_call > 0 {
            write!(out, "; {} without a call", plural(self.without_call, "row"))?;
        }
        if self.malformed > 0 {
            write!(out, "; {} malformed", thousands(self.malformed))?;
        }
        writeln!(out)?;
        write_repaired(out, self.repaired)
    }
}

/// How many rejected calls can be repaired, and by which rules, if any can.
fn write_repaired(out: &mut dyn Write, repaired: Option<&Repaired>) -> io::Result<()> {
    let Some(Repaired { calls, rules }) = repaired.filter(|repaired| repaired.calls > 0) else {
        return Ok(());
    };
    let rules: Vec<_> = rules.iter().map(|(rule, calls)| format!("{rule} {}", thousands(*calls))).collect();
    writeln!(out, "{:>11}  can be repaired: {}", thousands(*calls), rules.join(", "))
}

impl ToolCounts {
    fn failed(&self) -> u64 {
        self.calls - self.accepted
    }
}

impl<'t> ToolSummary<'t> {
    fn new(tool: &'t str, tally: &'t ToolTally, wanted: &'t Wanted) -> ToolSummary<'t> {
        let Counts { calls, accepted, rejected, faults, not_compiled, .. } = tally.counts;
        let mut signatures: Vec<_> = tally.signatures.list().iter().collect();
        // Sorting keeps the order in which they came among equals.
        signatures.sort_by_key(|signature| Reverse(signature.count));
        ToolSummary {
            tool,
            counts: ToolCounts { calls, accepted, rejected, faults, not_compiled },
            repaired: wanted.repairs.then_some(&tally.repaired),
            signatures: signatures.into_iter().map(|signature| SignatureSummary::new(signature, wanted)).collect(),
            signatures_unlisted: tally.unkept,
        }
    }

    fn write_signatures(&self, out: &mut dyn Write, styles: Styles) -> io::Result<()> {
        let Styles { error, place, .. } = styles;
        for signature in self.signatures.iter().take(SHOWN_MAX) {
            let SignatureSummary { outcome, code, keyword_location, count, examples } = signature;
            let outcome = match outcome {
                Verdict::Fault => "fault ",
                Verdict::NotCompiled => "finding ",
                _ => "",
            };
            write!(out, "{:>11}  {error}{outcome}{}{error:#}", thousands(*count), visible(code))?;
            match keyword_location {
                Some("") | None => writeln!(out)?,
                Some(location) => writeln!(out, " at {place}{}{place:#}", visible(location))?,
            }
            examples.iter().try_for_each(|example| example.write_human(out))?;
        }
        let others = self.signatures.iter().skip(SHOWN_MAX).map(|signature| signature.count).sum::<u64>();
        if others + self.signatures_unlisted > 0 {
            writeln!(out, "{:>11}  elsewhere", thousands(others + self.signatures_unlisted))?;
        }
        Ok(())
    }
}

impl<'t> SignatureSummary<'t> {
    fn new(signature: &'t Signature, wanted: &'t Wanted) -> SignatureSummary<'t> {
        let location = Some(signature.keyword_location.as_str());
        SignatureSummary {
            outcome: signature.verdict,
            code: &signature.code,
            keyword_location: location.filter(|_| signature.verdict == Verdict::Rejected),
            count: signature.count,
            examples: signature.examples.iter().map(|example| ExampleOf::new(example, wanted)).collect(),
        }
    }
}

impl<'t> ExampleOf<'t> {
    fn new(example: &'t Example, wanted: &'t Wanted) -> ExampleOf<'t> {
        ExampleOf { file: wanted.files.get(example.file).map(String::as_str), example }
    }

    fn write_human(&self, out: &mut dyn Write) -> io::Result<()> {
        write!(out, "{:13}", "")?;
        write_row(out, self.file, self.example.row)?;
        writeln!(out, "  {}", visible(&self.example.line))
    }
}

/// Where a row is.
fn write_row(out: &mut dyn Write, file: Option<&str>, row: u64) -> io::Result<()> {
    match file {
        Some(file) => write!(out, "{}:{row}", visible(file)),
        None => write!(out, "row {row}"),
    }
}

/// So many of a thing.
fn plural(count: u64, thing: &str) -> String {
    format!("{} {thing}{}", thousands(count), if count == 1 { "" } else { "s" })
}

/// The number, with commas between its thousands.
fn thousands(count: u64) -> String {
    indicatif::HumanCount(count).to_string()
}

/// As above, but nothing is a dash.
fn thousands_or_none(count: u64) -> String {
    if count == 0 { "-".to_owned() } else { thousands(count) }
}

/// The part of the whole, to a tenth of a percent; what is there is not shown as nothing, and what is not all not as all.
fn percent(part: u64, whole: u64) -> String {
    let tenths = u128::from(part) * 1_000 / u128::from(whole.max(1));
    match tenths {
        0 if part > 0 => "<0.1 %".to_owned(),
        _ => format!("{}.{} %", tenths / 10, tenths % 10),
    }
}
