//! What the tables of the providers are made of: a rule, and the conditions a rule can name.
//!
//! A rule is data: it names one [`Check`] with its parameters, says whether the provider refuses the request for it, and
//! where that is documented or was seen. How a check is decided and worded is in `judge`, once for all providers.

use std::fmt;

use crate::finding::SchemaRole;

/// One provider's rules.
#[derive(Debug)]
pub(crate) struct Table {
    /// As `--for` spells it.
    pub(crate) name: &'static str,
    /// What the rules are about, and the revision where there is one.
    pub(crate) about: &'static str,
    /// The rules, in groups that tables may share.
    pub(crate) rules: &'static [&'static [Rule]],
}

/// A provider that tools are sent to: a table of its rules.
#[derive(Clone, Copy)]
pub struct Provider(pub(crate) &'static Table);

impl Provider {
    /// The provider's name, as the command line spells it.
    pub fn name(self) -> &'static str {
        self.0.name
    }

    /// What its rules are about, and the revision where there is one: a sentence or two.
    pub fn about(self) -> &'static str {
        self.0.about
    }

    /// Its rules, in the order in which they are judged.
    pub fn rules(self) -> impl Iterator<Item = &'static Rule> {
        self.0.rules.iter().copied().flatten()
    }
}

impl PartialEq for Provider {
    fn eq(&self, other: &Provider) -> bool {
        self.name() == other.name()
    }
}

impl Eq for Provider {}

impl fmt::Debug for Provider {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Provider").field(&self.name()).finish()
    }
}

/// A rule of a provider.
#[derive(Debug)]
pub struct Rule {
    pub(crate) id: &'static str,
    pub(crate) when: &'static str,
    pub(crate) check: Check,
    pub(crate) schemas: &'static [SchemaRole],
    pub(crate) refuses: bool,
    pub(crate) basis: Basis,
    pub(crate) hint: &'static str,
    pub(crate) source: &'static str,
}

impl Rule {
    /// Its stable name, in snake case; unique within a provider.
    pub fn id(&self) -> &'static str {
        self.id
    }

    /// What it objects to: a phrase.
    pub fn when(&self) -> &'static str {
        self.when
    }

    /// Whether the provider refuses a request with such a tool. Otherwise the tool is taken, and something of the
    /// schema is lost, or another deployment, an older model or a stricter client refuses it.
    pub fn refuses(&self) -> bool {
        self.refuses
    }

    /// How the rule is known.
    pub fn basis(&self) -> Basis {
        self.basis
    }

    /// How to rewrite the schema: one line.
    pub fn hint(&self) -> &'static str {
        self.hint
    }

    /// Where it is documented or was seen: a URL.
    pub fn source(&self) -> &'static str {
        self.source
    }
}

/// How a rule is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Basis {
    /// The provider's documentation or published types say so.
    Documented,
    /// The provider's error message is quoted in a public report.
    Seen,
}

impl fmt::Display for Basis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Basis::Documented => "documented",
            Basis::Seen => "seen",
        })
    }
}

/// A rule about the schema of the arguments.
pub(crate) const INPUT: &[SchemaRole] = &[SchemaRole::Input];
/// A rule about the schema of the results.
pub(crate) const OUTPUT: &[SchemaRole] = &[SchemaRole::Output];
/// A rule about both.
pub(crate) const BOTH: &[SchemaRole] = &[SchemaRole::Input, SchemaRole::Output];

/// Names of keywords, formats or types.
pub(crate) type Names = &'static [&'static str];

/// What a rule objects to.
#[derive(Debug)]
pub(crate) enum Check {
    // --- the tool
    /// Its name is not of this form.
    ToolName(NameForm),
    /// It has no schema of its arguments.
    NoSchema,

    // --- the root of a schema
    /// `type` is none of these spellings.
    RootType(Names),
    /// It has one of these members.
    RootHas(Names),
    /// It has no member of that name.
    RootLacks(&'static str),
    /// `$schema` names another draft than 2020-12.
    Dialect,
    /// The metaschema rejects the schema.
    Malformed(Metaschema),

    // --- every subschema
    /// It has one of these members.
    Has(Names),
    /// It has a member that is none of these.
    HasOther(Names),
    /// `type` is a list.
    TypeList,
    /// It has neither `type` nor any of these.
    Untyped(Names),
    /// An array without `items`.
    NoItems,
    /// It is `true`, `false` or a list of schemas.
    NoObject,
    /// An object whose `additionalProperties` is not `false`.
    Open,
    /// An object with properties that are not required.
    Optional,
    /// A required name that is none of the properties.
    Undefined,
    /// One of these members where `type` is not this one.
    OnlyFor(&'static str, Names),
    /// An object without any property.
    NoProperties,
    /// A value of `enum` that is no string.
    EnumNoText,
    /// An empty string in `enum`.
    EnumEmptyText,
    /// A `format` beside this type that is none of these.
    Format(&'static str, Names),
    /// A `pattern` with this fault.
    Pattern(PatternFault),
    /// A property whose name is not of this form; at the root only, or everywhere.
    PropertyName(NameForm, Extent),
    /// A member beside `$ref` that is none of these.
    RefBeside(Names),
    /// A `$ref` to something other than the root or a definition there.
    RefElsewhere,
    /// One of these members beside `anyOf`.
    AnyOfBeside(Names),
    /// `x-mcp-header` is no name of an HTTP header.
    HeaderName,
    /// `x-mcp-header` where `type` is none of these.
    HeaderType(Names),

    // --- the schema as a whole
    /// More objects inside objects than this.
    Depth(u64),
    /// More properties than this, over all subschemas.
    Properties(u64),
    /// More characters than this in all names of properties and definitions and in all strings of `enum` and `const`.
    NameChars(u64),
    /// More values of `enum` than this, over all subschemas.
    EnumValues(u64),
    /// More characters in the strings of one `enum` than the second, where it has more values than the first.
    EnumChars(u64, u64),
}

/// Which metaschema.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Metaschema {
    /// That of the dialect that the schema declares.
    Declared,
    /// That of 2020-12, whatever the schema declares.
    D2020,
}

/// Where a rule about property names looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Extent {
    /// At the root.
    Root,
    /// At every subschema.
    Everywhere,
}

/// What is wrong with a pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PatternFault {
    /// It looks ahead or behind.
    LooksAround,
    /// It has what Python's `re` does not read.
    NotPython,
}

/// The form of a name: ASCII letters, digits, and some more characters.
#[derive(Debug)]
pub(crate) struct NameForm {
    /// As a regular expression, for people.
    pub(crate) shown: &'static str,
    /// Characters beside letters and digits.
    pub(crate) more: &'static str,
    /// Whether the first must be a letter or an underscore.
    pub(crate) starts_a_word: bool,
    /// Unit: characters.
    pub(crate) chars_max: usize,
}

impl NameForm {
    /// Whether the name is of this form.
    pub(crate) fn takes(&self, name: &str) -> bool {
        let first = name.chars().next();
        let starts = first.is_some_and(|c| !self.starts_a_word || c.is_ascii_alphabetic() || c == '_');
        let chars = name.chars().all(|c| c.is_ascii_alphanumeric() || self.more.contains(c));
        // Of ASCII characters each is one byte.
        starts && chars && name.len() <= self.chars_max
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_have_a_form() {
        let form = NameForm { shown: "", more: "_.", starts_a_word: true, chars_max: 4 };
        for (name, taken) in [("a", true), ("_9.b", true), ("", false), ("9a", false), ("a-b", false), ("abcde", false)]
        {
            assert_eq!(form.takes(name), taken, "{name}");
        }
        assert!(!form.takes("é"));
        assert!(NameForm { starts_a_word: false, ..form }.takes("9a"));
    }
}
