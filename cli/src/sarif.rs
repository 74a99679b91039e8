//! Findings as SARIF, which code review tools read.
//!
//! Source: Static Analysis Results Interchange Format 2.1.0, OASIS.

use std::fmt::Write;

use callgate::{Finding, FindingKind, Severity};
use serde_json::{Value, json};

use crate::catalog_file::CatalogFile;
use crate::output::visible;

/// The log of one run over catalogs.
pub fn log<'f>(findings: impl Iterator<Item = (&'f CatalogFile, &'f Finding)>) -> Value {
    let rules: Vec<Value> = FindingKind::ALL.iter().map(|kind| json!({"id": kind.as_str()})).collect();
    json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": {"driver": {
                "name": "callgate",
                "semanticVersion": env!("CARGO_PKG_VERSION"),
                "rules": rules
            }},
            "columnKind": "unicodeCodePoints",
            "results": findings.map(|(file, finding)| result(file, finding)).collect::<Vec<_>>()
        }]
    })
}

fn result(file: &CatalogFile, finding: &Finding) -> Value {
    let level = match finding.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
    };
    let mut location = json!({"physicalLocation": {"artifactLocation": {"uri": uri(file.name())}}});
    if let Some(span) = &finding.span {
        let ((line, column), (end_line, end_column)) = (file.position(span.start), file.position(span.end));
        location["physicalLocation"]["region"] = json!({
            "startLine": line, "startColumn": column, "endLine": end_line, "endColumn": end_column,
            "byteOffset": span.start, "byteLength": span.len()
        });
    }
    if let Some(tool) = &finding.tool {
        let name = format!("{tool}#{}{}", finding.schema, finding.pointer);
        location["logicalLocations"] = json!([{"name": tool, "fullyQualifiedName": name}]);
    }
    json!({
        "ruleId": finding.kind.as_str(),
        "level": level,
        "message": {"text": message(&finding.to_string())},
        "locations": [location]
    })
}

/// A message that is text and nothing else: no control characters, and no `[text](target)`, which would be a link. Source: SARIF
/// 2.1.0, 3.11.6.
fn message(text: &str) -> String {
    visible(text).replace("](", "] (")
}

/// The path as a relative reference. Source: RFC 3986, 2.1 and 4.2.
fn uri(path: &str) -> String {
    let mut uri = String::with_capacity(path.len());
    for byte in path.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => uri.push(byte.into()),
            b'\\' if cfg!(windows) => uri.push('/'),
            other => {
                // Writing to a string does not fail.
                let _ = write!(uri, "%{other:02X}");
            }
        }
    }
    uri
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_have_no_links() {
        assert_eq!(message("[click](https://evil.example)\u{1b}[2J"), "[click] (https://evil.example)\\u{1b}[2J");
    }

    #[test]
    fn paths_become_references() {
        assert_eq!(uri("catalogs/a b.json"), "catalogs/a%20b.json");
        assert_eq!(uri("é:1"), "%C3%A9%3A1");
    }
}
