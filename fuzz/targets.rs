//! What the fuzz targets do with their input; the replay of regressions does the same.

use callgate::{Catalog, Options, Outcome, Schema, Session};

/// Compiles any bytes as a catalog and as a schema: a finding or a program, never a panic.
pub(crate) fn compile(data: &[u8]) {
    let options = Options { assert_formats: true, ..Options::default() };
    let _ = Catalog::compile(data, &options);
    let _ = Schema::compile(data, &options);
}

/// A schema and an instance, parted by a NUL: the verdict from bytes, after rewrites or not, is one.
pub(crate) fn call(data: &[u8]) {
    let Some(at) = data.iter().position(|byte| *byte == 0) else {
        return;
    };
    let (schema, instance) = (&data[..at], &data[at + 1..]);
    let verdict = |rewrites| {
        let options = Options { peephole: rewrites, fusion: rewrites, ..Options::default() };
        let (schema, _) = Schema::compile(schema, &options).ok()?;
        let mut session = Session::new();
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
}
