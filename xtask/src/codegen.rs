//! `cargo xtask codegen`: pages of `docs/` from the tables of the source.
//!
//! ```text
//! Opcode::ALL ─► docs/opcodes.md        FindingKind::ALL ─► docs/findings.md
//! FaultCode::ALL, Wording ─► docs/failures.md       PROVIDERS ─► part of docs/portability.md
//! ```
//!
//! What a kind or a wording means stands in its doc comment and nowhere else, so that is read from the source.

use std::fmt::Write;
use std::fs;

use anyhow::{Context, Result, bail};
use callgate::{FaultCode, FindingKind, PROVIDERS, Provider};
use callgate_vm::opcode::{OpInfo, Opcode};

use crate::{root, source};

/// Writes the pages.
pub(crate) fn write() -> Result<()> {
    fs::create_dir_all(root().join("docs"))?;
    for (path, text) in pages()? {
        fs::write(root().join(path), text).with_context(|| format!("cannot write {path}"))?;
    }
    Ok(())
}

/// Errors: a page is not what [`write()`] would write.
pub(crate) fn check() -> Result<()> {
    for (path, text) in pages()? {
        if source::text(path).ok().as_deref() != Some(&text) {
            bail!("{path} is stale: run cargo xtask codegen, and commit what changes");
        }
    }
    Ok(())
}

fn pages() -> Result<[(&'static str, String); 4]> {
    Ok([
        ("docs/opcodes.md", opcodes()),
        ("docs/findings.md", findings()?),
        ("docs/failures.md", failures()?),
        (PORTABILITY, portability()?),
    ])
}

const GENERATED: &str = "<!-- Made by cargo xtask codegen; change the source and run it again. -->";

// --- opcodes -------------------------------------------------------------------------------------------------

const OPCODES_HEAD: &str = "# Opcodes

Every instruction of the machine, in the order of the table in `vm/src/opcode.rs`. An instruction is eight bytes, `op u8 |
a u8 | b u16 | c u32`; an operand is shown as `slot name: kind`. `node` is the instance being judged; an instance of
another kind than an opcode looks at passes. `fail` ends the block in judging code; in explaining code it is noted and
the block goes on. Fuel is for one run, and what that spends by size at most: `bytes` of the string judged, `name` bytes
of each member's name. `engine` is a sixteenth where a pattern needs a table of states or none, 1 where it backtracks, and
else more. `callgate listing --cost` settles what depends on operands; `vm/src/cost.rs` has the notation.
";

fn opcodes() -> String {
    let rows = Opcode::ALL.iter().enumerate().map(|(number, opcode)| opcode_row(number, opcode.info()));
    let table = table(&["#", "mnemonic", "operands", "looks at", "effect", "fuel", "serves"], rows);
    format!("{GENERATED}\n{OPCODES_HEAD}\n{table}")
}

fn opcode_row(number: usize, info: &OpInfo) -> Vec<String> {
    let operands = info.operands.iter().map(|(name, slot, kind)| format!("`{slot} {name}: {kind:?}`"));
    vec![
        number.to_string(),
        format!("`{}`", info.mnemonic),
        operands.collect::<Vec<_>>().join(", "),
        info.applies.to_lowercase(),
        format!("`{}`", info.effect),
        fuel(info),
        info.doc.trim().to_owned(),
    ]
}

/// Fuel of one run, then what is spent by size.
fn fuel(info: &OpInfo) -> String {
    if info.by_size.is_empty() { info.fuel.to_string() } else { format!("{}; {}", info.fuel, info.by_size) }
}

// --- findings ------------------------------------------------------------------------------------------------

const FINDINGS_HEAD: &str = "# Findings

What is said about schemas, when a catalog is compiled. A finding has a tool, which of its schemas, a JSON Pointer, a
kind, a severity and a line of detail. A tool with a finding that does not compile cannot be called; the other tools
are not affected.
";

fn findings() -> Result<String> {
    let meanings = source::variants(&source::text("compiler/src/finding.rs")?, "FindingKind")?;
    let rows = FindingKind::ALL.iter().map(|kind| {
        let name = format!("{kind:?}");
        let (_, meaning) = meanings.iter().find(|(variant, _)| *variant == name).context(name)?;
        let compiles = if kind.compiles() { "yes" } else { "no" };
        Ok(vec![format!("`{kind}`"), kind.severity().to_string(), compiles.to_owned(), meaning.clone()])
    });
    let rows = rows.collect::<Result<Vec<_>>>()?;
    Ok(format!("{GENERATED}\n{FINDINGS_HEAD}\n{}", table(&["kind", "severity", "compiles", "when"], rows)))
}

// --- portability ---------------------------------------------------------------------------------------------

const PORTABILITY: &str = "docs/portability.md";

/// Between these lines of the page stand the rules; the rest of it is written by hand.
const RULES: [&str; 2] = ["<!-- Rules: made by cargo xtask codegen. -->\n", "<!-- End of the rules. -->\n"];

fn portability() -> Result<String> {
    let page = source::text(PORTABILITY)?;
    let marks = || format!("{PORTABILITY} has not both lines that enclose the rules");
    let (before, rest) = page.split_once(RULES[0]).with_context(marks)?;
    let (_, after) = rest.split_once(RULES[1]).with_context(marks)?;
    let rules: String = PROVIDERS.into_iter().map(provider_rules).collect();
    Ok(format!("{before}{}{rules}\n{}{after}", RULES[0], RULES[1]))
}

fn provider_rules(provider: Provider) -> String {
    let rows = provider.rules().map(|rule| {
        let refuses = if rule.refuses() { "yes" } else { "no" };
        let (id, source) = (format!("`{}`", rule.id()), format!("[{}]({})", rule.basis(), rule.source()));
        vec![id, rule.when().to_owned(), refuses.to_owned(), rule.hint().to_owned(), source]
    });
    let table = table(&["rule", "objects to", "refuses", "hint", "source"], rows);
    format!("\n### {}\n\n{}\n\n{table}", provider.name(), provider.about())
}

// --- failures and faults -------------------------------------------------------------------------------------

const FAILURES_HEAD: &str = "# Failures and faults

A failure says what is wrong with a call; whoever made the call can repair it. A fault says that the gate declined to
decide; the call does not pass.

## Failures

The code of a failure is the keyword that failed, in the keyword's own spelling. Beside these: `false_schema` where the
schema is `false`, `unknown_parameter` where an option forbids names that the schema does not know, `not_json` for
arguments that are not JSON, `duplicate_member` for a name that stands twice in one object.

How failures are worded: `{v}` is the value that failed, `{text}` what the schema says, `{n}` and `{k}` are counts, and
`{names}`, `{values}` and `{rest}` list what was unexpected.
";

const FAULTS_HEAD: &str = "## Faults

The limits named are those of `vm/src/limits.rs`; each can be set.
";

fn failures() -> Result<String> {
    let wordings = source::variants(&source::text("vm/src/failure.rs")?, "Wording")?;
    let wordings =
        table(&["wording", "text"], wordings.into_iter().map(|(name, text)| vec![format!("`{name}`"), text]));
    let faults = FaultCode::ALL.iter().map(|code| vec![format!("`{}`", code.as_str()), code.detail().to_owned()]);
    let faults = table(&["code", "when"], faults);
    Ok(format!("{GENERATED}\n{FAILURES_HEAD}\n{wordings}\n{FAULTS_HEAD}\n{faults}"))
}

// --- tables --------------------------------------------------------------------------------------------------

fn table(head: &[&str], rows: impl IntoIterator<Item = Vec<String>>) -> String {
    let mut table = format!("| {} |\n|{}\n", head.join(" | "), "---|".repeat(head.len()));
    for row in rows {
        let cells: Vec<String> = row.iter().map(|cell| cell.replace('|', "\\|")).collect();
        // Writing to a string does not fail.
        let _ = writeln!(table, "| {} |", cells.join(" | "));
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bar_in_a_cell_is_no_border() {
        let rows = [vec!["a|b".to_owned(), "c".to_owned()]];
        assert_eq!(table(&["x", "y"], rows), "| x | y |\n|---|---|\n| a\\|b | c |\n");
    }

    #[test]
    fn pages_are_made_from_every_row() {
        let pages = pages().unwrap();
        let lines = |at: usize| pages[at].1.lines().filter(|line| line.starts_with("| ")).count();
        assert_eq!(lines(0), Opcode::ALL.len() + 1);
        assert_eq!(lines(1), FindingKind::ALL.len() + 1);
    }
}
