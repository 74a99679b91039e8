//! OpenAI function calling without strict mode.
//!
//! The API validates `parameters` by the metaschema of 2020-12 with Python's `jsonschema` and adds a few checks of its own, which
//! are known from its error messages. Where a request leaves `strict` out, the Responses API reads the tools as strict
//! first, so that `openai-strict` is the table to ask.

use crate::portability::rule::{Basis, Check, INPUT, Metaschema, NameForm, PatternFault, Rule, Table};

pub(super) static TABLE: Table = Table {
    name: "openai",
    about: "OpenAI function calling with `strict: false`, in Chat Completions and Responses. The published types of \
            the API, and reported error messages.",
    rules: &[RULES],
};

/// Rules that hold with and without strict mode.
pub(super) static RULES: &[Rule] = &[
    Rule {
        id: "tool_name",
        when: "the name has other characters than letters, digits, `_` and `-`, or more than 64",
        check: Check::ToolName(NameForm {
            shown: "^[a-zA-Z0-9_-]{1,64}$",
            more: "_-",
            starts_a_word: false,
            chars_max: 64,
        }),
        schemas: INPUT,
        refuses: true,
        basis: Basis::Documented,
        hint: "send the tool under a name of that form, and map it back when it is called",
        source: "https://github.com/openai/openai-python/blob/main/src/openai/types/shared_params/function_definition.py",
    },
    Rule {
        id: "root_type",
        when: "the root is not of `\"type\": \"object\"`",
        check: Check::RootType(&["object"]),
        schemas: INPUT,
        refuses: true,
        basis: Basis::Seen,
        hint: "set \"type\": \"object\" at the root, and put other arguments into a property",
        source: "https://github.com/chatanywhere/GPT_API_free/issues/403",
    },
    Rule {
        id: "root_combinator",
        when: "`oneOf`, `anyOf`, `allOf`, `enum` or `not` at the root",
        check: Check::RootHas(&["oneOf", "anyOf", "allOf", "enum", "not"]),
        schemas: INPUT,
        refuses: true,
        basis: Basis::Seen,
        hint: "merge the branches into the root's properties, or move the union into a property",
        source: "https://github.com/nspady/google-calendar-mcp/issues/39",
    },
    Rule {
        id: "root_properties",
        when: "the root has no `properties`",
        check: Check::RootLacks("properties"),
        schemas: INPUT,
        refuses: true,
        basis: Basis::Seen,
        hint: "add \"properties\": {}",
        source: "https://github.com/spring-projects/spring-ai/issues/4776",
    },
    Rule {
        id: "array_items",
        when: "an array without `items`",
        check: Check::NoItems,
        schemas: INPUT,
        refuses: true,
        basis: Basis::Seen,
        hint: "add \"items\" with the schema of the elements",
        source: "https://github.com/spring-projects/spring-ai/issues/2561",
    },
    Rule {
        id: "not_2020_12",
        when: "the metaschema of 2020-12 rejects the schema, whatever dialect it declares",
        check: Check::Malformed(Metaschema::D2020),
        schemas: INPUT,
        refuses: true,
        basis: Basis::Seen,
        hint: "write it as 2020-12 has it: numbers for exclusive bounds, no lists of items",
        source: "https://github.com/vercel/ai/issues/2271",
    },
    Rule {
        id: "pattern_syntax",
        when: "a `pattern` that Python's `re` does not read",
        check: Check::Pattern(PatternFault::NotPython),
        schemas: INPUT,
        refuses: true,
        basis: Basis::Seen,
        hint: "write the pattern without it, or say it in the description",
        source: "https://github.com/pleaseai/shunt/pull/488",
    },
];
