//! Findings as workflow commands, which GitHub shows beside the lines of a change.

use std::io::{self, Write};

use callgate::{Finding, Severity};

use crate::catalog_file::CatalogFile;
use crate::output::visible_lines;

/// Writes one command a finding: `::error file=tools.json,line=1,col=40,title=not_well_formed::…`.
pub fn write(out: &mut dyn Write, file: &CatalogFile, finding: &Finding) -> io::Result<()> {
    let severity = match finding.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
    };
    write!(out, "::{severity} file={}", property(file.name()))?;
    if let Some(span) = &finding.span {
        let ((line, column), (end_line, end_column)) = (file.position(span.start), file.position(span.end));
        write!(out, ",line={line},endLine={end_line},col={column}")?;
        // A column counts on the line that it starts on.
        if end_line == line {
            write!(out, ",endColumn={end_column}")?;
        }
    }
    writeln!(out, ",title={}::{}", property(finding.kind.as_str()), message(&finding.to_string()))
}

/// A message on one line.
fn message(text: &str) -> String {
    let text = visible_lines(text);
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// A property's value, which ends at a comma or colon.
fn property(text: &str) -> String {
    message(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_ends_a_command_is_escaped() {
        assert_eq!(message("100%\na: b, c"), "100%25%0Aa: b, c");
        assert_eq!(property("C:\\a,b"), "C%3A\\a%2Cb");
    }
}
