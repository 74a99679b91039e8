//! The Model Context Protocol's own rules about tools: what clients of the protocol take.

use crate::portability::rule::{BOTH, Basis, Check, INPUT, Metaschema, NameForm, OUTPUT, Rule, Table};

pub(super) static TABLE: Table = Table {
    name: "mcp",
    about: "Model Context Protocol, revision 2025-11-25, and what 2026-07-28 adds. What the specification says a server \
            should do does not refuse; what it must do, and what its types and official SDKs reject, does.",
    rules: &[RULES],
};

const TOOLS: &str = "https://modelcontextprotocol.io/specification/2025-11-25/server/tools";
const TYPES: &str =
    "https://github.com/modelcontextprotocol/modelcontextprotocol/blob/main/schema/2025-11-25/schema.ts";
const HEADER: &str = "https://modelcontextprotocol.io/specification/2026-07-28/server/tools#x-mcp-header";

static RULES: &[Rule] = &[
    Rule {
        id: "tool_name",
        when: "the name has other characters than letters, digits, `_`, `-` and `.`, or more than 128",
        check: Check::ToolName(NameForm {
            shown: "^[A-Za-z0-9_.-]{1,128}$",
            more: "_.-",
            starts_a_word: false,
            chars_max: 128,
        }),
        schemas: INPUT,
        refuses: false,
        basis: Basis::Documented,
        hint: "rename the tool: the specification says it should have such a name",
        source: TOOLS,
    },
    Rule {
        id: "no_schema",
        when: "the tool has no `inputSchema`",
        check: Check::NoSchema,
        schemas: INPUT,
        refuses: true,
        basis: Basis::Documented,
        hint: "add \"inputSchema\": {\"type\": \"object\", \"additionalProperties\": false}",
        source: TOOLS,
    },
    Rule {
        id: "input_type",
        when: "the root of `inputSchema` is not of `\"type\": \"object\"`",
        check: Check::RootType(&["object"]),
        schemas: INPUT,
        refuses: true,
        basis: Basis::Documented,
        hint: "set \"type\": \"object\" at the root, and put other arguments into a property",
        source: TYPES,
    },
    Rule {
        id: "output_type",
        when: "the root of `outputSchema` is not of `\"type\": \"object\"`, as revisions before 2026-07-28 have it",
        check: Check::RootType(&["object"]),
        schemas: OUTPUT,
        refuses: true,
        basis: Basis::Documented,
        hint: "set \"type\": \"object\" at the root, and put another result into a property",
        source: TYPES,
    },
    Rule {
        id: "malformed",
        when: "the metaschema of the declared dialect, or else of 2020-12, rejects the schema",
        check: Check::Malformed(Metaschema::Declared),
        schemas: BOTH,
        refuses: true,
        basis: Basis::Documented,
        hint: "make it a valid schema of the dialect that it declares",
        source: TOOLS,
    },
    Rule {
        id: "dialect",
        when: "`$schema` names another dialect than 2020-12, which clients need not support",
        check: Check::Dialect,
        schemas: BOTH,
        refuses: false,
        basis: Basis::Documented,
        hint: "write the schema in 2020-12, and leave $schema out",
        source: "https://modelcontextprotocol.io/specification/2025-11-25/basic#json-schema-usage",
    },
    Rule {
        id: "header_name",
        when: "`x-mcp-header` is no name of an HTTP header (revision 2026-07-28, over HTTP)",
        check: Check::HeaderName,
        schemas: INPUT,
        refuses: true,
        basis: Basis::Documented,
        hint: "use a token of letters, digits and hyphens",
        source: HEADER,
    },
    Rule {
        id: "header_type",
        when: "`x-mcp-header` on a property that is no integer, string or boolean (revision 2026-07-28, over HTTP)",
        check: Check::HeaderType(&["integer", "string", "boolean"]),
        schemas: INPUT,
        refuses: true,
        basis: Basis::Documented,
        hint: "mirror properties of these types only",
        source: HEADER,
    },
];
