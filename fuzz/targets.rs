//! What the fuzz targets do with their input; the replay of regressions does the same.

use callgate::{
    Catalog, EmptyArguments, Limits, NullForOptional, Options, Outcome, Rendering, RepairOptions, Schema, SchemaRole,
    Session, Style, UnknownParameters,
};
use callgate_vm::image::checksum;

/// Compiles any bytes as a catalog and as a schema: a finding or a program, never a panic.
pub(crate) fn compile(data: &[u8]) {
    let options = Options { assert_formats: true, ..Options::default() };
    let _ = Catalog::compile(data, &options);
    let _ = Schema::compile(data, &options);
}

/// A schema and an instance, parted by a NUL: the verdict from bytes, after rewrites or not, is one; and only what is
/// rejected is repaired, into what is accepted.
pub(crate) fn call(data: &[u8]) {
    let Some(at) = data.iter().position(|byte| *byte == 0) else {
        return;
    };
    let (schema, instance) = (&data[..at], &data[at + 1..]);
    let verdict = |rewrites| {
        let options = Options { peephole: rewrites, fusion: rewrites, ..Options::default() };
        let (schema, _) = Schema::compile(schema, &options).ok()?;
        let mut session = Session::new();
        if let Some(repair) = schema.repair(&mut session, instance, &RepairOptions::default()) {
            assert!(matches!(schema.check(&mut session, instance), Outcome::Rejected(_)));
            assert!(schema.check(&mut session, repair.arguments()).is_accepted());
        }
        Some(match schema.check(&mut session, instance) {
            Outcome::Accepted(_) => "accepted".to_owned(),
            Outcome::Rejected(rejection) => rejection.to_string(),
            // Fuel differs with the code.
            _ => return None,
        })
    };
    if let (Some(with), Some(without)) = (verdict(true), verdict(false)) {
        assert_eq!(with, without);
    }
    let plain = Options::default();
    let forbid = Options { unknown_parameters: UnknownParameters::Forbid, ..plain.clone() };
    let report = Options {
        unknown_parameters: UnknownParameters::Report,
        null_for_optional: NullForOptional::AsAbsent,
        empty_arguments: EmptyArguments::AsObject,
        ..plain.clone()
    };
    let lax = Options { lax: true, assert_formats: true, ..plain.clone() };
    let all = Options { lax: true, ..report.clone() };
    for options in [plain, forbid, report, lax, all] {
        word(schema, instance, &options);
    }
}

/// What is rejected is put into words in every style, masked or not: the guided text is there, and within its bound.
fn word(schema: &[u8], instance: &[u8], options: &Options) {
    let Ok((schema, _)) = Schema::compile(schema, options) else {
        return;
    };
    let mut session = Session::new();
    let _ = schema.coerced_text(&mut session, instance);
    let Outcome::Rejected(rejection) = schema.check(&mut session, instance) else {
        return;
    };
    let mut text = String::new();
    for style in Style::ALL {
        for masked in [false, true] {
            let rendering = Rendering { masked, ..Rendering::of(*style) };
            text.clear();
            rejection.write(&mut text, &rendering).expect("a string takes all");
            assert!(!text.is_empty(), "{style:?}");
            assert!(*style != Style::Guided || text.len() <= rendering.text_bytes_max, "{} bytes", text.len());
        }
    }
}

/// A compiled catalog, as it is and with a sound frame around it: an error, or a catalog whose calls end.
pub(crate) fn load(data: &[u8]) {
    load_and_call(data, &[]);
    load_and_call(&framed(data), &[]);
}

/// Bytes of header and trailer, see `src/compiled.rs`.
const HEADER_BYTES: usize = 24;
const TRAILER_BYTES: usize = 8;

/// The file with the length and the checksum that its body has, so that what is behind them is tried.
pub(crate) fn framed(file: &[u8]) -> Vec<u8> {
    let mut framed = file.to_vec();
    if let Some(body) = file.len().checked_sub(HEADER_BYTES + TRAILER_BYTES) {
        framed[HEADER_BYTES - 8..HEADER_BYTES].copy_from_slice(&(body as u64).to_le_bytes());
        let sum = checksum(&framed[..HEADER_BYTES + body]);
        framed[HEADER_BYTES + body..].copy_from_slice(&sum.to_le_bytes());
    }
    framed
}

/// Calls of many shapes.
const CALLS: [&str; 6] = [
    "{}",
    "[]",
    r#"{"a": {"a": [1, 2.5, "x"], "b": null}, "b": [[], {}, -1], "c": "\u0061\u00e9", "d": true}"#,
    r#"[1, "one", null, [1, [2]], {"a": 1}, 1.0, 1e3, "one"]"#,
    r#""a text""#,
    "12345678901234567890123",
];

/// Loads the file; if that works, makes these calls and others of every tool, and lists it. Answers whether all of it is
/// sound.
pub(crate) fn load_and_call(file: &[u8], calls: &[String]) -> bool {
    let mut limits = Limits::default();
    for (name, value) in
        [("call_fuel_max", 20_000), ("call_depth_max", 64), ("call_memo_max", 1_000), ("failures_max", 20)]
    {
        limits.set(name, value).expect("it is below its ceiling");
    }
    let Ok(catalog) = Catalog::load_with_limits(file, &limits) else {
        return false;
    };
    let mut session = catalog.session(64);
    session.keep_evaluation_paths(true);
    for tool in catalog.tools().take(100) {
        let _ = (tool.definition(), tool.compiled(SchemaRole::Input), tool.compiled(SchemaRole::Output));
        for schema in [tool.input(), tool.output()].into_iter().flatten() {
            for call in calls.iter().map(String::as_str).chain(CALLS) {
                say_all(&schema.check(&mut session, call));
                let _ = (schema.coerced(&mut session, call), schema.accepts_strictly(&mut session, call));
                if let Ok(value) = serde_json::from_str::<serde_json::Value>(call) {
                    say_all(&schema.check(&mut session, &value));
                }
            }
            let listed = (schema.listing(tool.name()).to_string(), schema.cost_listing(tool.name()).to_string());
            assert!(listed.0.starts_with("unit ") && !listed.1.is_empty());
            schema.trace(CALLS[2].as_bytes(), |_, _| ());
            schema.spending(CALLS[3].as_bytes());
        }
    }
    let report = catalog.report();
    assert!(report.tools >= catalog.tools().len());
    catalog.verify().is_ok()
}

/// Words everything that a rejection says.
fn say_all(outcome: &Outcome<'_>) {
    if let Outcome::Rejected(rejection) = outcome {
        let _ = (rejection.to_string(), rejection.message(), rejection.path(), rejection.field_lines());
        for failure in rejection.failures() {
            let _ = (failure.message(), failure.keyword_location(), failure.description(), failure.evaluation_path());
        }
    }
}
