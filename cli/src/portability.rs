//! `--for`: what providers have against the tools of catalogs, as text for people, and as JSON.

use std::io::{self, Write};

use callgate::{Acceptance, Objection, Options, PROVIDERS, Portability, Provider, SchemaRole, portability};
use serde::Serialize;

use crate::catalog_file::CatalogFile;
use crate::output::{Styles, visible};

/// Rules that a summary line names.
const NAMED_MAX: usize = 5;

/// `--for`
#[derive(Debug, clap::Args)]
pub struct ForFlag {
    /// Say which tools these providers would refuse, and why: `openai-strict`, `openai`, `anthropic`, `gemini`,
    /// `gemini-json-schema`, `mcp`.
    #[arg(long = "for", value_name = "PROVIDER", value_delimiter = ',', value_parser = parse_provider)]
    providers: Vec<Provider>,
}

fn parse_provider(name: &str) -> Result<Provider, String> {
    Provider::named(name).ok_or_else(|| {
        let names: Vec<&str> = PROVIDERS.iter().map(|provider| provider.name()).collect();
        format!("no such provider; there are {}", names.join(", "))
    })
}

impl ForFlag {
    /// Whether a provider was named.
    pub fn is_any_named(&self) -> bool {
        !self.providers.is_empty()
    }

    /// Judges a catalog; nothing if no provider was named, or the text is no catalog.
    pub fn judge(&self, file: &CatalogFile, options: &Options) -> Portability {
        if self.providers.is_empty() {
            return Portability::default();
        }
        portability(file.text(), options, &self.providers).unwrap_or_default()
    }
}

/// What was judged, file by file.
pub type Judged<'f> = Vec<(&'f CatalogFile, &'f Portability)>;

/// Writes the objections by tool; nothing if there are none.
///
/// ```text
/// tools.json
///   roll
///     error openai-strict[one_of] 1:40 input /properties/die/oneOf: "oneOf" is not supported
///       hint: use anyOf
/// ```
pub fn write(out: &mut dyn Write, styles: Styles, judged: &Judged<'_>) -> io::Result<()> {
    for (file, portability) in judged {
        write_file(out, styles, file, portability)?;
    }
    Ok(())
}

fn write_file(out: &mut dyn Write, styles: Styles, file: &CatalogFile, judged: &Portability) -> io::Result<()> {
    let Portability { objections, unlisted, .. } = judged;
    if objections.is_empty() {
        return Ok(());
    }
    let Styles { name, .. } = styles;
    let positions = Positions::of(file.text(), objections.iter().map(|objection| objection.at));
    writeln!(out, "{name}{}{name:#}", visible(file.name()))?;
    let mut tool = None;
    for objection in objections {
        if tool != Some(&objection.tool) {
            writeln!(out, "  {name}{}{name:#}", visible(&objection.tool))?;
            tool = Some(&objection.tool);
        }
        write_objection(out, styles, objection, positions.at(objection.at))?;
    }
    if *unlisted > 0 {
        writeln!(out, "  and {unlisted} more, not listed")?;
    }
    writeln!(out)
}

fn write_objection(out: &mut dyn Write, styles: Styles, objection: &Objection, at: Position) -> io::Result<()> {
    let Objection { provider, rule, pointer, detail, hint, refuses, schema, .. } = objection;
    let (word, style) = if *refuses { ("error", styles.error) } else { ("warning", styles.warning) };
    let role = schema.map(|role| format!(" {role}")).unwrap_or_default();
    let pointer = if pointer.is_empty() { String::new() } else { format!(" {pointer}") };
    let place = format!("{}:{}{role}{pointer}", at.line, at.column);
    write!(out, "    {style}{word} {provider}[{rule}]{style:#} ")?;
    writeln!(out, "{}{}{:#}: {}", styles.place, visible(&place), styles.place, visible(detail))?;
    writeln!(out, "      hint: {hint}")
}

/// Writes one line a provider, over all files.
pub fn write_summary(out: &mut dyn Write, judged: &Judged<'_>) -> io::Result<()> {
    for Acceptance { provider, accepted, refused, rules } in sum(judged) {
        let tools = accepted + refused;
        let plural = if tools == 1 { "" } else { "s" };
        write!(out, "{provider}: {tools} tool{plural}, {accepted} accepted, {refused} refused")?;
        for (at, count) in rules.iter().take(NAMED_MAX).enumerate() {
            let before = if at == 0 { "; most often: " } else { ", " };
            let warns = if count.refuses { "" } else { " (warning)" };
            write!(out, "{before}{} {}{warns}", count.rule, count.tools)?;
        }
        writeln!(out)?;
    }
    Ok(())
}

/// The verdicts of all files, added up.
fn sum(judged: &Judged<'_>) -> Vec<Acceptance> {
    let mut sums: Vec<Acceptance> = Vec::new();
    for acceptance in judged.iter().flat_map(|(_, judged)| &judged.providers) {
        match sums.iter_mut().find(|sum| sum.provider == acceptance.provider) {
            Some(sum) => add(sum, acceptance),
            None => sums.push(acceptance.clone()),
        }
    }
    for sum in &mut sums {
        sum.rules.sort_by_key(|count| std::cmp::Reverse(count.tools));
    }
    sums
}

fn add(sum: &mut Acceptance, more: &Acceptance) {
    sum.accepted += more.accepted;
    sum.refused += more.refused;
    for count in &more.rules {
        match sum.rules.iter_mut().find(|sum| sum.rule == count.rule) {
            Some(sum) => sum.tools += count.tools,
            None => sum.rules.push(count.clone()),
        }
    }
}

/// What providers say, as scripts read it; nothing if none was named.
#[derive(Debug, Serialize)]
pub struct PortabilityJson<'f> {
    #[serde(skip_serializing_if = "Vec::is_empty")]
    providers: Vec<Acceptance>,
    #[serde(skip_serializing_if = "Option::is_none")]
    objections: Option<Vec<ObjectionJson<'f>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    unlisted: Option<usize>,
}

#[derive(Debug, Serialize)]
struct ObjectionJson<'f> {
    file: &'f str,
    tool_id: &'f str,
    schema: Option<SchemaRole>,
    pointer: &'f str,
    provider: &'f str,
    rule: &'f str,
    refuses: bool,
    detail: &'f str,
    hint: &'f str,
    source: &'f str,
}

impl<'f> PortabilityJson<'f> {
    /// All of it.
    pub fn new(judged: &Judged<'f>) -> Self {
        let providers = sum(judged);
        let asked = !providers.is_empty();
        let objections = judged
            .iter()
            .flat_map(|(file, judged)| judged.objections.iter().map(|objection| ObjectionJson::new(file, objection)));
        PortabilityJson {
            objections: asked.then(|| objections.collect()),
            unlisted: asked.then(|| judged.iter().map(|(_, judged)| judged.unlisted).sum()),
            providers,
        }
    }
}

impl<'f> ObjectionJson<'f> {
    fn new(file: &'f CatalogFile, objection: &'f Objection) -> Self {
        ObjectionJson {
            file: file.name(),
            tool_id: &objection.tool,
            schema: objection.schema,
            pointer: &objection.pointer,
            provider: objection.provider,
            rule: objection.rule,
            refuses: objection.refuses,
            detail: &objection.detail,
            hint: objection.hint,
            source: objection.source,
        }
    }
}

// --- positions ----------------------------------------------------------------------------------------------------

/// A line and a column, from 1; the column counts characters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Position {
    line: usize,
    column: usize,
}

/// The positions of many bytes of a text, found in one pass over it.
struct Positions(Vec<(usize, Position)>);

impl Positions {
    fn of(text: &[u8], bytes: impl Iterator<Item = usize>) -> Positions {
        let mut sorted: Vec<usize> = bytes.collect();
        sorted.sort_unstable();
        sorted.dedup();
        let mut found = Vec::with_capacity(sorted.len());
        let (mut from, mut position) = (0, Position { line: 1, column: 1 });
        for at in sorted {
            for byte in &text[from.min(text.len())..at.min(text.len())] {
                match byte {
                    b'\n' => position = Position { line: position.line + 1, column: 1 },
                    // Bytes that go on with a character do not count.
                    _ => position.column += usize::from(byte & 0xc0 != 0x80),
                }
            }
            from = at;
            found.push((at, position));
        }
        Positions(found)
    }

    fn at(&self, byte: usize) -> Position {
        let found = self.0.binary_search_by_key(&byte, |(at, _)| *at);
        found.map_or(Position::default(), |index| self.0[index].1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_are_found_together() {
        let text = "[\n  \"é\", 1]".as_bytes();
        let positions = Positions::of(text, [10, 0, 4, 10, 99].into_iter());
        let found = [0, 4, 10, 99].map(|at| positions.at(at)).map(|Position { line, column }| (line, column));
        assert_eq!(found, [(1, 1), (2, 3), (2, 8), (2, 10)]);
    }

    #[test]
    fn providers_are_named() {
        assert_eq!(parse_provider("mcp").map(Provider::name), Ok("mcp"));
        let error = "no such provider; there are openai-strict, openai, anthropic, gemini, gemini-json-schema, mcp";
        assert_eq!(parse_provider("cohere"), Err(error.to_owned()));
    }
}
