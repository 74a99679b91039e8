//! The metaschemas: embedded, and compiled by this compiler to run in its own machine.
//!
//! Only what asserts is kept of the published documents: titles, comments and defaults are left out.

use std::sync::OnceLock;

use callgate_vm::unit::Unit;

use crate::dialect::Draft;
use crate::document::{Documents, DocumentsBuilder};
use crate::options::Options;

/// URI and text of each document.
const SOURCES: [(&str, &str); 19] = [
    ("http://json-schema.org/draft-04/schema", include_str!("metaschemas/draft4.json")),
    ("http://json-schema.org/draft-06/schema", include_str!("metaschemas/draft6.json")),
    ("http://json-schema.org/draft-07/schema", include_str!("metaschemas/draft7.json")),
    ("https://json-schema.org/draft/2019-09/schema", include_str!("metaschemas/draft2019-09.json")),
    (
        "https://json-schema.org/draft/2019-09/meta/applicator",
        include_str!("metaschemas/draft2019-09-meta-applicator.json"),
    ),
    ("https://json-schema.org/draft/2019-09/meta/content", include_str!("metaschemas/draft2019-09-meta-content.json")),
    ("https://json-schema.org/draft/2019-09/meta/core", include_str!("metaschemas/draft2019-09-meta-core.json")),
    ("https://json-schema.org/draft/2019-09/meta/format", include_str!("metaschemas/draft2019-09-meta-format.json")),
    (
        "https://json-schema.org/draft/2019-09/meta/meta-data",
        include_str!("metaschemas/draft2019-09-meta-meta-data.json"),
    ),
    (
        "https://json-schema.org/draft/2019-09/meta/validation",
        include_str!("metaschemas/draft2019-09-meta-validation.json"),
    ),
    ("https://json-schema.org/draft/2020-12/schema", include_str!("metaschemas/draft2020-12.json")),
    (
        "https://json-schema.org/draft/2020-12/meta/applicator",
        include_str!("metaschemas/draft2020-12-meta-applicator.json"),
    ),
    ("https://json-schema.org/draft/2020-12/meta/content", include_str!("metaschemas/draft2020-12-meta-content.json")),
    ("https://json-schema.org/draft/2020-12/meta/core", include_str!("metaschemas/draft2020-12-meta-core.json")),
    (
        "https://json-schema.org/draft/2020-12/meta/format-annotation",
        include_str!("metaschemas/draft2020-12-meta-format-annotation.json"),
    ),
    (
        "https://json-schema.org/draft/2020-12/meta/format-assertion",
        include_str!("metaschemas/draft2020-12-meta-format-assertion.json"),
    ),
    (
        "https://json-schema.org/draft/2020-12/meta/meta-data",
        include_str!("metaschemas/draft2020-12-meta-meta-data.json"),
    ),
    (
        "https://json-schema.org/draft/2020-12/meta/unevaluated",
        include_str!("metaschemas/draft2020-12-meta-unevaluated.json"),
    ),
    (
        "https://json-schema.org/draft/2020-12/meta/validation",
        include_str!("metaschemas/draft2020-12-meta-validation.json"),
    ),
];

/// The documents as references see them, read once a process.
pub(crate) fn documents() -> &'static Documents {
    static DOCUMENTS: OnceLock<Documents> = OnceLock::new();
    DOCUMENTS.get_or_init(|| read(std::borrow::ToOwned::to_owned))
}

/// The documents as schemas are checked by: as published, but that an empty `prefixItems` passes. Generators emit it
/// for tuples without elements, it says nothing, and validators in use take it.
fn lenient_documents() -> &'static Documents {
    static DOCUMENTS: OnceLock<Documents> = OnceLock::new();
    DOCUMENTS.get_or_init(|| {
        read(|text| {
            let strict = "\"prefixItems\": {\n   \"$ref\": \"#/$defs/schemaArray\"\n  }";
            let lenient = r##""prefixItems": {"type": "array", "items": {"$dynamicRef": "#meta"}}"##;
            text.replace(strict, lenient)
        })
    })
}

fn read(edit: impl Fn(&str) -> String) -> Documents {
    let mut builder = DocumentsBuilder::default();
    for (uri, text) in SOURCES {
        // Embedded text; a test reads each.
        let read = builder.add(uri, edit(text).as_bytes());
        debug_assert!(read.is_ok());
    }
    builder.build()
}

/// The draft's metaschema, compiled once a process.
pub(crate) fn unit(draft: Draft) -> Option<&'static Unit> {
    static UNITS: [OnceLock<Option<Unit>>; 5] = [const { OnceLock::new() }; 5];
    UNITS[draft as usize]
        .get_or_init(|| crate::compile_document(draft.uri(), draft, lenient_documents(), &Options::default()).ok())
        .as_ref()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_keyword_is_lenient() {
        let uri = "https://json-schema.org/draft/2020-12/meta/applicator";
        let entries = |documents: &Documents| documents.get(uri).map(callgate_vm::tape::Tape::entry_len);
        assert_ne!(entries(documents()), entries(lenient_documents()));
    }

    #[test]
    fn all_compile() {
        for draft in Draft::ALL {
            let compiled = crate::compile_document(draft.uri(), draft, documents(), &Options::default());
            assert!(compiled.is_ok(), "{draft:?}: {:?}", compiled.err());
        }
    }
}
