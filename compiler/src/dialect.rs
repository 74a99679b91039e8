//! Dialects: which draft a schema is of, which vocabularies it has, and what each keyword is there.
//!
//! The keyword table ([`Keyword`]) is the one place that knows in which drafts a keyword exists, what kind of value
//! holds its subschemas, and what its metaschema surely takes. The index of resources, the reader of schemas and the
//! quick look at well-formedness all go by it.

use std::sync::LazyLock;

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
        self.id().name()
    }

    /// As [`id_keyword`](Self::id_keyword).
    pub(crate) fn id(self) -> Keyword {
        if self == Draft::D4 { Keyword::OldId } else { Keyword::Id }
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

/// What a metaschema surely takes as a keyword's value. Less than it may take: what is doubtful is left to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Takes {
    /// Any value.
    Anything,
    /// No value that is worth telling here.
    Unsure,
    /// A string.
    Text,
    /// A boolean.
    Flag,
    /// A number.
    Number,
    /// A number above zero.
    Divisor,
    /// An integer that is not negative.
    Count,
    /// An array.
    Values,
    /// An array of different strings.
    Names,
    /// An object of such arrays.
    NameLists,
    /// A type, or an array of different types.
    TypeNames,
    /// Whatever holds its subschemas, with schemas in it.
    Schemas,
}

/// Name, first draft, last draft, vocabulary, what holds its subschemas, what it surely takes.
#[derive(Debug)]
struct Row {
    name: &'static str,
    first: Draft,
    last: Draft,
    vocabulary: Vocabularies,
    holds: Holds,
    takes: Takes,
}

use Draft::{D4, D6, D7, D2019, D2020};
use Holds::{List, Map, MapOrNames, Nothing, Schema, SchemaOrList};

const CORE: Vocabularies = Vocabularies::CORE;
const APPLICATOR: Vocabularies = Vocabularies::APPLICATOR;
const VALIDATION: Vocabularies = Vocabularies::VALIDATION;
const UNEVALUATED: Vocabularies = Vocabularies::UNEVALUATED;
const FORMAT: Vocabularies = Vocabularies::FORMAT;

/// The table: one row a keyword, in the order of names.
macro_rules! keywords {
    ($($word:ident $name:literal: $first:ident $last:ident $vocabulary:ident $holds:ident $takes:ident,)*) => {
        /// A keyword that some draft has.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[repr(u8)]
        pub(crate) enum Keyword { $($word),* }

        impl Keyword {
            /// Every keyword, in the order of names.
            pub(crate) const ALL: [Keyword; [$($name),*].len()] = [$(Keyword::$word),*];
        }

        const ROWS: [Row; Keyword::ALL.len()] = [$(Row {
            name: $name,
            first: $first,
            last: $last,
            vocabulary: $vocabulary,
            holds: $holds,
            takes: Takes::$takes,
        }),*];
    };
}

keywords! {
    Anchor "$anchor": D2019 D2020 CORE Nothing Text,
    Comment "$comment": D7 D2020 CORE Nothing Text,
    Defs "$defs": D2019 D2020 CORE Map Schemas,
    DynamicAnchor "$dynamicAnchor": D2020 D2020 CORE Nothing Text,
    DynamicRef "$dynamicRef": D2020 D2020 CORE Nothing Text,
    Id "$id": D6 D2020 CORE Nothing Text,
    RecursiveAnchor "$recursiveAnchor": D2019 D2019 CORE Nothing Flag,
    RecursiveRef "$recursiveRef": D2019 D2019 CORE Nothing Text,
    Ref "$ref": D4 D2020 CORE Nothing Text,
    SchemaUri "$schema": D4 D2020 CORE Nothing Text,
    Vocabulary "$vocabulary": D2019 D2020 CORE Nothing Unsure,
    AdditionalItems "additionalItems": D4 D2019 APPLICATOR Schema Schemas,
    AdditionalProperties "additionalProperties": D4 D2020 APPLICATOR Schema Schemas,
    AllOf "allOf": D4 D2020 APPLICATOR List Schemas,
    AnyOf "anyOf": D4 D2020 APPLICATOR List Schemas,
    Const "const": D6 D2020 VALIDATION Nothing Anything,
    Contains "contains": D6 D2020 APPLICATOR Schema Schemas,
    ContentEncoding "contentEncoding": D7 D2020 CORE Nothing Text,
    ContentMediaType "contentMediaType": D7 D2020 CORE Nothing Text,
    ContentSchema "contentSchema": D2019 D2020 CORE Schema Schemas,
    Default "default": D4 D2020 CORE Nothing Anything,
    Definitions "definitions": D4 D2020 CORE Map Schemas,
    Dependencies "dependencies": D4 D7 APPLICATOR MapOrNames Schemas,
    DependentRequired "dependentRequired": D2019 D2020 VALIDATION Nothing NameLists,
    DependentSchemas "dependentSchemas": D2019 D2020 APPLICATOR Map Schemas,
    Deprecated "deprecated": D2019 D2020 CORE Nothing Flag,
    Description "description": D4 D2020 CORE Nothing Text,
    Else "else": D7 D2020 APPLICATOR Schema Schemas,
    Enum "enum": D4 D2020 VALIDATION Nothing Values,
    Examples "examples": D6 D2020 CORE Nothing Values,
    ExclusiveMaximum "exclusiveMaximum": D4 D2020 VALIDATION Nothing Number,
    ExclusiveMinimum "exclusiveMinimum": D4 D2020 VALIDATION Nothing Number,
    Format "format": D4 D2020 FORMAT Nothing Text,
    OldId "id": D4 D4 CORE Nothing Text,
    If "if": D7 D2020 APPLICATOR Schema Schemas,
    Items "items": D4 D2020 APPLICATOR SchemaOrList Schemas,
    MaxContains "maxContains": D2019 D2020 VALIDATION Nothing Count,
    MaxItems "maxItems": D4 D2020 VALIDATION Nothing Count,
    MaxLength "maxLength": D4 D2020 VALIDATION Nothing Count,
    MaxProperties "maxProperties": D4 D2020 VALIDATION Nothing Count,
    Maximum "maximum": D4 D2020 VALIDATION Nothing Number,
    MinContains "minContains": D2019 D2020 VALIDATION Nothing Count,
    MinItems "minItems": D4 D2020 VALIDATION Nothing Count,
    MinLength "minLength": D4 D2020 VALIDATION Nothing Count,
    MinProperties "minProperties": D4 D2020 VALIDATION Nothing Count,
    Minimum "minimum": D4 D2020 VALIDATION Nothing Number,
    MultipleOf "multipleOf": D4 D2020 VALIDATION Nothing Divisor,
    Not "not": D4 D2020 APPLICATOR Schema Schemas,
    OneOf "oneOf": D4 D2020 APPLICATOR List Schemas,
    Pattern "pattern": D4 D2020 VALIDATION Nothing Text,
    PatternProperties "patternProperties": D4 D2020 APPLICATOR Map Schemas,
    PrefixItems "prefixItems": D2020 D2020 APPLICATOR List Schemas,
    Properties "properties": D4 D2020 APPLICATOR Map Schemas,
    PropertyNames "propertyNames": D6 D2020 APPLICATOR Schema Schemas,
    ReadOnly "readOnly": D7 D2020 CORE Nothing Flag,
    Required "required": D4 D2020 VALIDATION Nothing Names,
    Then "then": D7 D2020 APPLICATOR Schema Schemas,
    Title "title": D4 D2020 CORE Nothing Text,
    Type "type": D4 D2020 VALIDATION Nothing TypeNames,
    UnevaluatedItems "unevaluatedItems": D2019 D2020 UNEVALUATED Schema Schemas,
    UnevaluatedProperties "unevaluatedProperties": D2019 D2020 UNEVALUATED Schema Schemas,
    UniqueItems "uniqueItems": D4 D2020 VALIDATION Nothing Flag,
    WriteOnly "writeOnly": D2019 D2020 CORE Nothing Flag,
}

impl Keyword {
    fn row(self) -> &'static Row {
        static TABLE: [Row; Keyword::ALL.len()] = ROWS;
        &TABLE[self as usize]
    }

    /// The keyword of that spelling, whatever the draft. Cost: a look into a table, and one comparison.
    pub(crate) fn named(name: &str) -> Option<Keyword> {
        let mut slot = slot(name.as_bytes());
        loop {
            let keyword = SLOTS[slot]?;
            if keyword.name() == name {
                return Some(keyword);
            }
            slot = (slot + 1) % SLOTS.len();
        }
    }

    /// Its spelling.
    pub(crate) fn name(self) -> &'static str {
        self.row().name
    }

    /// Where its subschemas are.
    pub(crate) fn holds(self) -> Holds {
        self.row().holds
    }

    /// What its metaschema surely takes.
    pub(crate) fn takes(self) -> Takes {
        self.row().takes
    }

    /// Whether the dialect has it, and its vocabularies do not leave it out.
    pub(crate) fn is_of(self, dialect: Dialect) -> bool {
        let row = self.row();
        row.first <= dialect.draft && dialect.draft <= row.last && dialect.vocabularies.has(row.vocabulary)
    }

    /// Whether the draft has it, whatever its vocabularies.
    pub(crate) fn is_in(self, draft: Draft) -> bool {
        let (first, last) = self.drafts();
        first <= draft && draft <= last
    }

    /// The first draft that has it, and the last.
    pub(crate) fn drafts(self) -> (Draft, Draft) {
        (self.row().first, self.row().last)
    }

    /// Whether calls are judged by it, directly or by the schema that it leads to.
    pub(crate) fn asks_for_something(self) -> bool {
        self.row().vocabulary != Vocabularies::CORE || matches!(self, Keyword::RecursiveRef | Keyword::DynamicRef)
    }

    /// A bit for each keyword that the draft does not have and that would ask for something.
    pub(crate) fn foreign_to(draft: Draft) -> u64 {
        static MASKS: LazyLock<[u64; Draft::ALL.len()]> = LazyLock::new(|| {
            Draft::ALL.map(|draft| {
                let foreign = Keyword::ALL.into_iter().filter(|keyword| !keyword.is_in(draft));
                foreign
                    .filter(|keyword| keyword.asks_for_something())
                    .fold(0, |mask, keyword| mask | 1 << keyword as u32)
            })
        });
        MASKS[draft as usize]
    }

    /// Whether drafts before this one had it: metaschemas go on to describe some of these.
    pub(crate) fn is_retired(self, draft: Draft) -> bool {
        self.row().last < draft
    }
}

/// Where the search for a name begins in [`SLOTS`]: length, first, middle and last byte tell the keywords apart, with
/// these factors all but six.
const fn slot(name: &[u8]) -> usize {
    let [.., last] = name else {
        return 0;
    };
    (name.len() * 115 + name[0] as usize * 69 + *last as usize * 185 + name[name.len() / 2] as usize * 206) % 256
}

/// The keywords by [`slot`]; one whose slot is taken has the next that is free.
static SLOTS: [Option<Keyword>; 256] = {
    let mut slots = [None; 256];
    let mut at = 0;
    while at < ROWS.len() {
        let mut slot = slot(ROWS[at].name.as_bytes());
        while slots[slot].is_some() {
            slot = (slot + 1) % 256;
        }
        slots[slot] = Some(Keyword::ALL[at]);
        at += 1;
    }
    slots
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_sorted() {
        assert!(ROWS.windows(2).all(|pair| pair[0].name < pair[1].name));
    }

    #[test]
    fn each_is_found_by_its_name() {
        for keyword in Keyword::ALL {
            assert_eq!(Keyword::named(keyword.name()), Some(keyword));
        }
        assert_eq!(Keyword::named(""), None);
        assert_eq!(Keyword::named("nullable"), None);
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
        assert!(!Keyword::Const.is_of(Dialect::of(Draft::D4)));
        assert!(Keyword::Const.is_of(Dialect::of(Draft::D6)));
        assert!(!Keyword::Dependencies.is_of(Dialect::of(Draft::D2019)));
        assert!(Keyword::Dependencies.is_retired(Draft::D2019));
    }
}
