//! Gemini's function declarations with `parameters`: a message `Schema`, a subset of OpenAPI 3.0.
//!
//! Its fields are fixed, and the reader of the request refuses a member that is none of them. What the fields may hold
//! is checked afterwards.

use crate::portability::rule::{Basis, Check, Extent, INPUT, NameForm, Names, Rule, Table};

pub(super) const TABLE: Table = Table {
    name: "gemini",
    about: "Gemini API, `functionDeclarations[].parameters`. The published types of generativelanguage v1beta as of \
            September 2026, and error messages reported until then. Where Vertex AI is known to differ, the rule says so.",
    rules: &[NAME, RULES],
};

const SCHEMA: &str = "https://docs.cloud.google.com/nodejs/docs/reference/generativelanguage/latest/generativelanguage/\
                      protos.google.ai.generativelanguage.v1beta.ischema";

/// The fields of the message.
const FIELDS: Names = &[
    "type",
    "format",
    "title",
    "description",
    "nullable",
    "enum",
    "items",
    "maxItems",
    "minItems",
    "properties",
    "required",
    "minProperties",
    "maxProperties",
    "minimum",
    "maximum",
    "minLength",
    "maxLength",
    "pattern",
    "example",
    "anyOf",
    "propertyOrdering",
    "default",
];

/// The rule about names, which holds for both ways of declaring parameters.
pub(super) const NAME: &[Rule] = &[Rule {
    id: "tool_name",
    when: "the name does not start with a letter or `_`, has other characters than letters, digits, `_`, `.`, `:` and \
           `-`, or more than 64 (Vertex AI: 128)",
    check: Check::ToolName(NameForm {
        shown: "^[a-zA-Z_][a-zA-Z0-9_.:-]{0,63}$",
        more: "_.:-",
        starts_a_word: true,
        chars_max: 64,
    }),
    schemas: INPUT,
    refuses: true,
    basis: Basis::Documented,
    hint: "send the tool under a name of that form, and map it back when it is called",
    source: "https://pub.dev/documentation/google_cloud_ai_generativelanguage_v1beta/latest/generativelanguage/\
             FunctionDeclaration/name.html",
}];

const RULES: &[Rule] = &[
    Rule {
        id: "root_type",
        when: "the root is not of type object",
        check: Check::RootType(&["object", "OBJECT"]),
        schemas: INPUT,
        refuses: true,
        basis: Basis::Seen,
        hint: "set \"type\": \"object\" at the root, and put other arguments into a property",
        source: "https://github.com/diegosouzapw/OmniRoute/pull/3360",
    },
    Rule {
        id: "unknown_field",
        when: "a member that is no field of the message `Schema`, as `$ref`, `$defs`, `$schema`, `additionalProperties`, \
               `const`, `oneOf`, `allOf`, `not`, `exclusiveMinimum`, `multipleOf`, `uniqueItems`, `examples`, `x-…`",
        check: Check::HasOther(FIELDS),
        schemas: INPUT,
        refuses: true,
        basis: Basis::Documented,
        hint: "drop it or write it otherwise (const as enum, oneOf as anyOf, $ref in place), or send parametersJsonSchema",
        source: SCHEMA,
    },
    Rule {
        id: "type_list",
        when: "`type` is a list",
        check: Check::TypeList,
        schemas: INPUT,
        refuses: true,
        basis: Basis::Seen,
        hint: "use one type with \"nullable\": true, or anyOf",
        source: "https://github.com/WordPress/ai-provider-for-google/issues/33",
    },
    Rule {
        id: "untyped",
        when: "a subschema with neither `type` nor `anyOf`",
        check: Check::Untyped(&["anyOf", "oneOf", "allOf", "$ref"]),
        schemas: INPUT,
        refuses: true,
        basis: Basis::Seen,
        hint: "name the type; for any value, anyOf over the types that occur",
        source: "https://github.com/danny-avila/LibreChat/issues/6971",
    },
    Rule {
        id: "no_object",
        when: "`true`, `false` or a list where a schema is expected",
        check: Check::NoObject,
        schemas: INPUT,
        refuses: true,
        basis: Basis::Documented,
        hint: "write a schema object with a type",
        source: SCHEMA,
    },
    Rule {
        id: "array_items",
        when: "an array without `items`",
        check: Check::NoItems,
        schemas: INPUT,
        refuses: true,
        basis: Basis::Seen,
        hint: "add \"items\" with the schema of the elements",
        source: "https://github.com/cline/cline/issues/7926",
    },
    Rule {
        id: "required_undefined",
        when: "`required` names something that `properties` does not have",
        check: Check::Undefined,
        schemas: INPUT,
        refuses: true,
        basis: Basis::Seen,
        hint: "define the property, or do not require it",
        source: "https://github.com/moltis-org/moltis/issues/849",
    },
    Rule {
        id: "object_only",
        when: "`properties` or `required` where `type` is not object",
        check: Check::OnlyFor("object", &["properties", "required"]),
        schemas: INPUT,
        refuses: true,
        basis: Basis::Seen,
        hint: "set \"type\": \"object\" beside it, or drop it",
        source: "https://github.com/anomalyco/opencode/pull/11888",
    },
    Rule {
        id: "enum_type",
        when: "`enum` where `type` is not string",
        check: Check::OnlyFor("string", &["enum"]),
        schemas: INPUT,
        refuses: true,
        basis: Basis::Seen,
        hint: "use the type string and strings for values, or describe the values",
        source: "https://github.com/decolua/9router/issues/359",
    },
    Rule {
        id: "enum_value",
        when: "a value of `enum` that is no string",
        check: Check::EnumNoText,
        schemas: INPUT,
        refuses: true,
        basis: Basis::Seen,
        hint: "use the type string and strings for values, or describe the values",
        source: "https://github.com/microsoft/azure-devops-mcp/issues/145",
    },
    Rule {
        id: "enum_empty",
        when: "an empty string in `enum`",
        check: Check::EnumEmptyText,
        schemas: INPUT,
        refuses: true,
        basis: Basis::Seen,
        hint: "leave the empty string out, and do not require the property",
        source: "https://github.com/Bobsilvio/ha-claude/pull/32",
    },
    Rule {
        id: "no_properties",
        when: "an object without properties: older models refuse it, newer ones return it empty",
        check: Check::NoProperties,
        schemas: INPUT,
        refuses: false,
        basis: Basis::Seen,
        hint: "name the properties; for a tool without arguments send no parameters at all",
        source: "https://github.com/agno-agi/agno/issues/2112",
    },
    Rule {
        id: "format",
        when: "a string's `format` other than `enum` and `date-time`: older models refuse it, newer ones ignore it",
        check: Check::Format("string", &["enum", "date-time"]),
        schemas: INPUT,
        refuses: false,
        basis: Basis::Seen,
        hint: "drop the format, or say it in the description",
        source: "https://github.com/google-gemini/gemini-cli/issues/3178",
    },
    Rule {
        id: "any_of_siblings",
        when: "a type or an assertion beside `anyOf`: Vertex AI refuses it",
        check: Check::AnyOfBeside(&["type", "items", "properties", "required", "enum", "format", "pattern"]),
        schemas: INPUT,
        refuses: false,
        basis: Basis::Seen,
        hint: "move it into the branches of anyOf",
        source: "https://github.com/anomalyco/opencode/issues/15795",
    },
    Rule {
        id: "property_name",
        when: "the name of a property is no word of at most 64 letters, digits and `_`, as Vertex AI documents it",
        check: Check::PropertyName(
            NameForm { shown: "^[a-zA-Z_][a-zA-Z0-9_]{0,63}$", more: "_", starts_a_word: true, chars_max: 64 },
            Extent::Everywhere,
        ),
        schemas: INPUT,
        refuses: false,
        basis: Basis::Documented,
        hint: "send the property under a name of that form, and map it back when the tool is called",
        source: "https://cloud.google.com/vertex-ai/docs/reference/rest/v1beta1/FunctionDeclaration",
    },
];
