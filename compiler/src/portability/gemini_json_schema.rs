//! Gemini's function declarations with `parametersJsonSchema`, which takes more of JSON Schema than `parameters`.

use crate::portability::gemini;
use crate::portability::rule::{Basis, Check, INPUT, Names, Rule, Table};

pub(super) static TABLE: Table = Table {
    name: "gemini-json-schema",
    about: "Gemini API, `functionDeclarations[].parametersJsonSchema`. The guide to structured output, \"JSON Schema \
            support\", and reported error messages.",
    rules: &[gemini::NAME, RULES],
};

/// What the guide lists as supported, and annotations.
const LISTED: Names = &[
    "$schema",
    "$id",
    "$defs",
    "$ref",
    "$anchor",
    "$comment",
    "type",
    "format",
    "title",
    "description",
    "default",
    "examples",
    "enum",
    "items",
    "prefixItems",
    "minItems",
    "maxItems",
    "minimum",
    "maximum",
    "anyOf",
    "oneOf",
    "properties",
    "additionalProperties",
    "required",
    "propertyOrdering",
];

static RULES: &[Rule] = &[
    Rule {
        id: "root_type",
        when: "the root is not of type object",
        check: Check::RootType(&["object", "OBJECT"]),
        schemas: INPUT,
        refuses: true,
        basis: Basis::Documented,
        hint: "set \"type\": \"object\" at the root, and put other arguments into a property",
        source: "https://cloud.google.com/vertex-ai/docs/reference/rest/v1beta1/FunctionDeclaration",
    },
    Rule {
        id: "ref_siblings",
        when: "a keyword beside `$ref` other than `description`, `default` and those that start with `$`",
        check: Check::RefBeside(&["description", "default", "$defs", "$schema", "$id", "$anchor", "$comment"]),
        schemas: INPUT,
        refuses: true,
        basis: Basis::Seen,
        hint: "move it into the definition, or write the definition in place of the reference",
        source: "https://github.com/anomalyco/opencode/issues/12295",
    },
    Rule {
        id: "unlisted_keyword",
        when: "a keyword that the guide does not list as supported",
        check: Check::HasOther(LISTED),
        schemas: INPUT,
        refuses: false,
        basis: Basis::Documented,
        hint: "do not rely on it: say it in the description, and check the call",
        source: "https://ai.google.dev/gemini-api/docs/structured-output#json-schema-support",
    },
];
