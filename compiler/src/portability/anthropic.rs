//! Anthropic's Messages API, tools without `strict`.

use crate::portability::rule::{Basis, Check, Extent, INPUT, Metaschema, NameForm, Rule, Table};

pub(super) static TABLE: Table = Table {
    name: "anthropic",
    about: "Anthropic's Messages API, tools without `strict`. The page \"Define tools\", and reported error \
            messages.",
    rules: &[RULES],
};

const DEFINE: &str = "https://platform.claude.com/docs/en/agents-and-tools/tool-use/define-tools";

static RULES: &[Rule] = &[
    Rule {
        id: "tool_name",
        when: "the name has other characters than letters, digits, `_` and `-`, or more than 128",
        check: Check::ToolName(NameForm {
            shown: "^[a-zA-Z0-9_-]{1,128}$",
            more: "_-",
            starts_a_word: false,
            chars_max: 128,
        }),
        schemas: INPUT,
        refuses: true,
        basis: Basis::Documented,
        hint: "send the tool under a name of that form, and map it back when it is called",
        source: DEFINE,
    },
    Rule {
        id: "tool_name_bedrock",
        when: "the name has more than 64 characters, which Amazon Bedrock's Converse API refuses",
        check: Check::ToolName(NameForm {
            shown: "^[a-zA-Z0-9_-]{1,64}$",
            more: "_-",
            starts_a_word: false,
            chars_max: 64,
        }),
        schemas: INPUT,
        refuses: false,
        basis: Basis::Seen,
        hint: "keep names within 64 characters",
        source: "https://github.com/aws/aws-sdk-js-v3/issues/7287",
    },
    Rule {
        id: "no_schema",
        when: "the tool has no schema of its arguments",
        check: Check::NoSchema,
        schemas: INPUT,
        refuses: true,
        basis: Basis::Documented,
        hint: "send \"input_schema\": {\"type\": \"object\"}",
        source: DEFINE,
    },
    Rule {
        id: "root_type",
        when: "the root is not of `\"type\": \"object\"`",
        check: Check::RootType(&["object"]),
        schemas: INPUT,
        refuses: true,
        basis: Basis::Seen,
        hint: "set \"type\": \"object\" at the root, and put other arguments into a property",
        source: "https://github.com/BerriAI/litellm/pull/31527",
    },
    Rule {
        id: "root_combinator",
        when: "`oneOf`, `allOf` or `anyOf` at the root",
        check: Check::RootHas(&["oneOf", "allOf", "anyOf"]),
        schemas: INPUT,
        refuses: true,
        basis: Basis::Seen,
        hint: "merge the branches into the root's properties, or move the union into a property",
        source: "https://github.com/anthropics/claude-code/issues/5319",
    },
    Rule {
        id: "property_key",
        when: "a property of the root has other characters than letters, digits, `_`, `.` and `-`, or more than 64",
        check: Check::PropertyName(
            NameForm { shown: "^[a-zA-Z0-9_.-]{1,64}$", more: "_.-", starts_a_word: false, chars_max: 64 },
            Extent::Root,
        ),
        schemas: INPUT,
        refuses: true,
        basis: Basis::Seen,
        hint: "send the property under a name of that form, and map it back when the tool is called",
        source: "https://github.com/anthropics/claude-code/issues/79418",
    },
    Rule {
        id: "not_2020_12",
        when: "the metaschema of 2020-12 rejects the schema, whatever dialect it declares",
        check: Check::Malformed(Metaschema::D2020),
        schemas: INPUT,
        refuses: true,
        basis: Basis::Seen,
        hint: "write it as 2020-12 has it: numbers for exclusive bounds, prefixItems for lists of items",
        source: "https://github.com/homeassistant-ai/ha-mcp/issues/2361",
    },
];
