//! Dialects: which draft a schema is of, which vocabularies it has, and what each keyword is there.
//!
//! The keyword table ([`keyword`]) is the one place that knows in which drafts a keyword exists and what kind of
//! value holds its subschemas. The index of resources and the reader of schemas both go by it.

/// A draft of JSON Schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Draft {
    /// Draft 4.
    D4,
    /// Draft 6.
    D6,
    /// Draft 7.
    D7,
    /// 2019-09.
    D2019,
    /// 2020-12.
    D2020,
}

impl Draft {
    /// Every draft, oldest first.
    pub const ALL: [Draft; 5] = [Draft::D4, Draft::D6, Draft::D7, Draft::D2019, Draft::D2020];

    /// The URI of its metaschema, without a fragment.
    pub fn uri(self) -> &'static str {
        match self {
            Draft::D4 => "http://json-schema.org/draft-04/schema",
            Draft::D6 => "http://json-schema.org/draft-06/schema",
            Draft::D7 => "http://json-schema.org/draft-07/schema",
            Draft::D2019 => "https://json-schema.org/draft/2019-09/schema",
            Draft::D2020 => "https://json-schema.org/draft/2020-12/schema",
        }
    }

    /// The draft's short name: `4`, `6`, `7`, `2019-09`, `2020-12`.
    pub fn name(self) -> &'static str {
        match self {
            Draft::D4 => "4",
            Draft::D6 => "6",
            Draft::D7 => "7",
            Draft::D2019 => "2019-09",
            Draft::D2020 => "2020-12",
        }
    }

    /// The draft of that short name.
    pub fn from_name(name: &str) -> Option<Draft> {
        Draft::ALL.into_iter().find(|draft| draft.name() == name)
    }

    /// The draft whose metaschema has that URI (without fragment).
    pub fn from_uri(uri: &str) -> Option<Draft> {
        Draft::ALL.into_iter().find(|draft| draft.uri() == uri)
    }

    /// The draft that a near-miss of a metaschema's URI means: another scheme, a stray slash or extension, capital
    /// letters.
    pub fn from_near_uri(uri: &str) -> Option<Draft> {
        let essence = essence(uri);
        Draft::ALL.into_iter().find(|draft| self::essence(draft.uri()) == essence)
    }

    /// Whether siblings of `$ref` are ignored.
    pub fn ref_stands_alone(self) -> bool {
        self <= Draft::D7
    }

    /// The keyword that names a resource.
    pub fn id_keyword(self) -> &'static str {
        if self == Draft::D4 { "id" } else { "$id" }
    }

    /// The draft's number for [`callgate_vm::format::Format::is_defined_in`].
    pub fn number(self) -> u16 {
        match self {
            Draft::D4 => 4,
            Draft::D6 => 6,
            Draft::D7 => 7,
            Draft::D2019 => 2019,
            Draft::D2020 => 2020,
        }
    }
}

fn essence(uri: &str) -> String {
    let lower = uri.trim().to_ascii_lowercase();
    let rest = lower.strip_prefix("https://").or_else(|| lower.strip_prefix("http://")).unwrap_or(&lower);
    let rest = rest.strip_prefix("www.").unwrap_or(rest);
    let rest = rest.trim_end_matches(['#', '/']);
    let rest = rest.strip_suffix(".json").unwrap_or(rest);
    // `draft-2020-12/schema` and `draft/2020-12/schema` are both seen in the wild.
    rest.replace("draft/", "draft-")
}

/// A set of vocabularies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Vocabularies(u8);

impl Vocabularies {
    /// Applicators.
    pub(crate) const APPLICATOR: Vocabularies = Vocabularies(1);
    /// `unevaluatedItems`, `unevaluatedProperties` (part of the applicators in 2019-09).
    pub(crate) const UNEVALUATED: Vocabularies = Vocabularies(2);
    /// Assertions.
    pub(crate) const VALIDATION: Vocabularies = Vocabularies(4);
    /// Formats as annotations.
    pub(crate) const FORMAT: Vocabularies = Vocabularies(8);
    /// Formats as assertions.
    pub(crate) const FORMAT_ASSERTION: Vocabularies = Vocabularies(16);
    /// `$id`, `$ref` and the like: always there.
    pub(crate) const CORE: Vocabularies = Vocabularies(32);
    /// What a draft has by default.
    pub(crate) const DEFAULT: Vocabularies = Vocabularies(1 | 2 | 4 | 8 | 32);

    /// Whether all of `other` is in the set.
    pub(crate) fn has(self, other: Vocabularies) -> bool {
        self.0 & other.0 == other.0
    }

    /// Both sets together.
    #[must_use]
    pub(crate) fn with(self, other: Vocabularies) -> Vocabularies {
        Vocabularies(self.0 | other.0)
    }

    /// The vocabularies that a URI of `$vocabulary` stands for; `None` for one that is not known.
    pub(crate) fn from_uri(uri: &str) -> Option<Vocabularies> {
        let name = uri
            .strip_prefix("https://json-schema.org/draft/2020-12/vocab/")
            .or_else(|| uri.strip_prefix("https://json-schema.org/draft/2019-09/vocab/"))?;
        let old = uri.contains("/2019-09/");
        Some(match name {
            "core" => Vocabularies::CORE,
            "applicator" if old => Vocabularies::APPLICATOR.with(Vocabularies::UNEVALUATED),
            "applicator" => Vocabularies::APPLICATOR,
            "unevaluated" if !old => Vocabularies::UNEVALUATED,
            "validation" => Vocabularies::VALIDATION,
            "format" if old => Vocabularies::FORMAT,
            "format-annotation" if !old => Vocabularies::FORMAT,
            "format-assertion" if !old => Vocabularies::FORMAT.with(Vocabularies::FORMAT_ASSERTION),
            "content" | "meta-data" => Vocabularies::CORE,
            _ => return None,
        })
    }
}

/// A draft with its vocabularies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Dialect {
    /// The draft.
    pub(crate) draft: Draft,
    /// The vocabularies in force.
    pub(crate) vocabularies: Vocabularies,
}

impl Dialect {
    /// The draft with its own vocabularies.
    pub(crate) fn of(draft: Draft) -> Dialect {
        Dialect { draft, vocabularies: Vocabularies::DEFAULT }
    }
}

/// What holds a keyword's subschemas.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Holds {
    /// The keyword has none.
    Nothing,
    /// The value is one.
    Schema,
    /// The value is an array of them.
    List,
    /// The value is an object of them.
    Map,
    /// The value is one, or an array of them.
    SchemaOrList,
    /// The value is an object of them and of lists of names.
    MapOrNames,
}

/// A keyword as a dialect has it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Keyword {
    /// Its name.
    pub(crate) name: &'static str,
    /// Where its subschemas are.
    pub(crate) holds: Holds,
}

use Draft::{D4, D6, D7, D2019, D2020};
use Holds::{List, Map, MapOrNames, Nothing, Schema, SchemaOrList};

/// Name, first draft, last draft, vocabulary, what holds its subschemas.
type Row = (&'static str, Draft, Draft, Vocabularies, Holds);

const CORE: Vocabularies = Vocabularies::CORE;
const APPLICATOR: Vocabularies = Vocabularies::APPLICATOR;
const VALIDATION: Vocabularies = Vocabularies::VALIDATION;
const UNEVALUATED: Vocabularies = Vocabularies::UNEVALUATED;

/// The keywords that callgate acts on, sorted by name.
const KEYWORDS: [Row; 52] = [
    ("$anchor", D2019, D2020, CORE, Nothing),
    ("$defs", D2019, D2020, CORE, Map),
    ("$dynamicAnchor", D2020, D2020, CORE, Nothing),
    ("$dynamicRef", D2020, D2020, CORE, Nothing),
    ("$id", D6, D2020, CORE, Nothing),
    ("$recursiveAnchor", D2019, D2019, CORE, Nothing),
    ("$recursiveRef", D2019, D2019, CORE, Nothing),
    ("$ref", D4, D2020, CORE, Nothing),
    ("$schema", D4, D2020, CORE, Nothing),
    ("additionalItems", D4, D2019, APPLICATOR, Schema),
    ("additionalProperties", D4, D2020, APPLICATOR, Schema),
    ("allOf", D4, D2020, APPLICATOR, List),
    ("anyOf", D4, D2020, APPLICATOR, List),
    ("const", D6, D2020, VALIDATION, Nothing),
    ("contains", D6, D2020, APPLICATOR, Schema),
    ("contentSchema", D2019, D2020, CORE, Schema),
    ("definitions", D4, D2020, CORE, Map),
    ("dependencies", D4, D7, APPLICATOR, MapOrNames),
    ("dependentRequired", D2019, D2020, VALIDATION, Nothing),
    ("dependentSchemas", D2019, D2020, APPLICATOR, Map),
    ("else", D7, D2020, APPLICATOR, Schema),
    ("enum", D4, D2020, VALIDATION, Nothing),
    ("exclusiveMaximum", D4, D2020, VALIDATION, Nothing),
    ("exclusiveMinimum", D4, D2020, VALIDATION, Nothing),
    ("format", D4, D2020, Vocabularies::FORMAT, Nothing),
    ("id", D4, D4, CORE, Nothing),
    ("if", D7, D2020, APPLICATOR, Schema),
    ("items", D4, D2020, APPLICATOR, SchemaOrList),
    ("maxContains", D2019, D2020, VALIDATION, Nothing),
    ("maxItems", D4, D2020, VALIDATION, Nothing),
    ("maxLength", D4, D2020, VALIDATION, Nothing),
    ("maxProperties", D4, D2020, VALIDATION, Nothing),
    ("maximum", D4, D2020, VALIDATION, Nothing),
    ("minContains", D2019, D2020, VALIDATION, Nothing),
    ("minItems", D4, D2020, VALIDATION, Nothing),
    ("minLength", D4, D2020, VALIDATION, Nothing),
    ("minProperties", D4, D2020, VALIDATION, Nothing),
    ("minimum", D4, D2020, VALIDATION, Nothing),
    ("multipleOf", D4, D2020, VALIDATION, Nothing),
    ("not", D4, D2020, APPLICATOR, Schema),
    ("oneOf", D4, D2020, APPLICATOR, List),
    ("pattern", D4, D2020, VALIDATION, Nothing),
    ("patternProperties", D4, D2020, APPLICATOR, Map),
    ("prefixItems", D2020, D2020, APPLICATOR, List),
    ("properties", D4, D2020, APPLICATOR, Map),
    ("propertyNames", D6, D2020, APPLICATOR, Schema),
    ("required", D4, D2020, VALIDATION, Nothing),
    ("then", D7, D2020, APPLICATOR, Schema),
    ("type", D4, D2020, VALIDATION, Nothing),
    ("unevaluatedItems", D2019, D2020, UNEVALUATED, Schema),
    ("unevaluatedProperties", D2019, D2020, UNEVALUATED, Schema),
    ("uniqueItems", D4, D2020, VALIDATION, Nothing),
];

/// The keyword `name` of the dialect; `None` for one that it does not have, or that its vocabularies leave out.
pub(crate) fn keyword(name: &str, dialect: Dialect) -> Option<Keyword> {
    let at = KEYWORDS.binary_search_by(|row| row.0.cmp(name)).ok()?;
    let (name, first, last, vocabulary, holds) = KEYWORDS[at];
    let drafts = first..=last;
    (drafts.contains(&dialect.draft) && dialect.vocabularies.has(vocabulary)).then_some(Keyword { name, holds })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_sorted() {
        assert!(KEYWORDS.windows(2).all(|pair| pair[0].0 < pair[1].0));
    }

    #[track_caller]
    fn check_near(uri: &str, expected: Option<Draft>) {
        assert_eq!(Draft::from_near_uri(uri), expected, "{uri}");
    }

    #[test]
    fn near_misses() {
        check_near("https://json-schema.org/draft-07/schema", Some(Draft::D7));
        check_near("http://json-schema.org/draft/2020-12/schema#", Some(Draft::D2020));
        check_near("https://json-schema.org/draft-2020-12/schema", Some(Draft::D2020));
        check_near("http://json-schema.org/schema", None);
        check_near("https://example.com/draft-07/schema", None);
    }

    #[test]
    fn keywords_belong_to_drafts() {
        assert!(keyword("const", Dialect::of(Draft::D4)).is_none());
        assert!(keyword("const", Dialect::of(Draft::D6)).is_some());
        assert!(keyword("dependencies", Dialect::of(Draft::D2019)).is_none());
    }
}
