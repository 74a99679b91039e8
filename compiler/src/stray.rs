//! Names that say nothing where they stand: keywords of other drafts and flavours, and keywords misspelt.
//!
//! JSON Schema takes any name beside its keywords, so none of these keeps a schema from compiling; but what their author
//! asks for is not asked of any call. Names that are plainly somebody's own annotations are left alone.

use std::sync::LazyLock;

use callgate_vm::nearest::edit_distance;
use callgate_vm::tape::{EntryKind, Node, Tape};

use crate::dialect::{Draft, Keyword};
use crate::finding::{Finding, FindingKind};
use crate::location::push_segment;
use crate::refs::{Place, Registry, Site};

/// What is said of one schema. Unit: findings.
const FINDINGS_MAX: usize = 50;

/// Names that are no keyword and are looked at; whoever has more has names of his own. Unit: names.
const NAMES_MAX: usize = 2_000;

/// Keywords of other flavours that would ask for something: name, whose it is, what to say instead.
const FOREIGN: [(&str, &str, &str); 6] = [
    ("nullable", "OpenAPI 3.0's", "say \"type\": [TYPE, \"null\"]"),
    ("optional", "draft 2's", "leave the name out of \"required\""),
    ("divisibleBy", "draft 3's", "say \"multipleOf\""),
    ("disallow", "draft 3's", "say \"not\""),
    ("extends", "draft 3's", "say \"allOf\""),
    ("required", "draft 3's inside a property", "put the property's name into the object's \"required\""),
];

/// Looks at the names of every schema of the document at `root`. What is well-formed and has none costs nothing.
pub(crate) fn check(registry: &Registry<'_>, root: Place, findings: &mut Vec<Finding>) {
    let before = findings.len();
    if !registry.has_strays && before == 0 {
        return;
    }
    let mut names_left = NAMES_MAX;
    for place in registry.places(root.doc) {
        let Some(site) = registry.site(place).filter(|site| has_strays(registry, *site, place)) else {
            continue;
        };
        let alone = site.dialect.draft.ref_stands_alone() && registry.member(site, Keyword::Ref).is_some();
        let tape = registry.tape(place.doc);
        for (key, value) in tape.member_nodes(place.node) {
            let name = registry.plain(tape.text(key));
            if Keyword::named(name).is_none() {
                let Some(left) = names_left.checked_sub(1) else {
                    return;
                };
                names_left = left;
            }
            let Some((kind, detail, hint)) = said(tape, site.dialect.draft, name, value).filter(|_| !alone) else {
                continue;
            };
            if findings.len() - before >= FINDINGS_MAX {
                return;
            }
            let mut pointer = registry.locations.pointer(site.location, "");
            push_segment(&mut pointer, name);
            findings.push(Finding { hint, ..Finding::new(kind, pointer, detail) });
        }
    }
}

/// Whether one of the object's names is no keyword of the dialect.
fn has_strays(registry: &Registry<'_>, site: Site, place: Place) -> bool {
    let known = registry.members(site);
    let entry = registry.tape(place.doc).entry(place.node);
    let flags = |keyword| matches!(keyword, Keyword::Required | Keyword::ExclusiveMinimum | Keyword::ExclusiveMaximum);
    entry.kind == EntryKind::Object
        && (known.len() != entry.len as usize
            || known.iter().any(|member| !member.keyword.is_in(site.dialect.draft) || flags(member.keyword)))
}

type Said = (FindingKind, String, Option<String>);

/// What is to be said of a member of that name; mostly nothing.
fn said(tape: Tape<'_>, draft: Draft, name: &str, value: Node) -> Option<Said> {
    let kind = tape.entry(value).kind;
    let is_flag = matches!(kind, EntryKind::True | EntryKind::False);
    match Keyword::named(name) {
        Some(Keyword::Required) if is_flag => {}
        Some(Keyword::ExclusiveMinimum | Keyword::ExclusiveMaximum) if is_flag && draft > Draft::D4 => {
            let detail = format!("a boolean `{name}` is draft 4's: since draft 6 it is the bound itself");
            return Some((FindingKind::ForeignKeyword, detail, None));
        }
        Some(keyword) => return of_another_draft(keyword, draft),
        None => {}
    }
    if let Some((_, whose, instead)) = FOREIGN.iter().find(|(foreign, ..)| *foreign == name) {
        let detail = format!("`{name}` is {whose}, and says nothing here");
        return is_flag_or_named(name, is_flag)
            .then(|| (FindingKind::ForeignKeyword, detail, Some((*instead).to_owned())));
    }
    let meant = meant_keyword(name).filter(|meant| meant.is_in(draft) && fits(*meant, kind))?;
    if meant == Keyword::Ref && !tape.slice(value).contains(['#', '/', ':']) {
        return None;
    }
    let detail = format!("`{name}` is no keyword, and says nothing");
    Some((FindingKind::UnknownKeyword, detail, Some(format!("did you mean \"{}\"?", meant.name()))))
}

/// `optional` and `required` are foreign as flags alone: as anything else they are somebody's own.
fn is_flag_or_named(name: &str, is_flag: bool) -> bool {
    is_flag || !matches!(name, "optional" | "required" | "nullable")
}

fn of_another_draft(keyword: Keyword, draft: Draft) -> Option<Said> {
    if keyword.is_in(draft) || !keyword.asks_for_something() {
        return None;
    }
    let (name, (first, last)) = (keyword.name(), keyword.drafts());
    let (detail, its) = if draft < first {
        (format!("`{name}` is new in draft {}, and says nothing in draft {}", first.name(), draft.name()), first)
    } else {
        (format!("`{name}` went with draft {}, and says nothing in draft {}", last.name(), draft.name()), last)
    };
    let hint = match keyword {
        Keyword::Dependencies => "say \"dependentRequired\" or \"dependentSchemas\"".to_owned(),
        Keyword::AdditionalItems => "say \"items\" beside \"prefixItems\"".to_owned(),
        Keyword::RecursiveRef => "say \"$dynamicRef\"".to_owned(),
        _ => format!("say \"$schema\": \"{}\"", its.uri()),
    };
    Some((FindingKind::ForeignKeyword, detail, Some(hint)))
}

/// Whether the keyword would take a value of that kind: a number under `note` is no `not`.
fn fits(keyword: Keyword, kind: EntryKind) -> bool {
    use crate::dialect::Takes;
    match keyword.takes() {
        Takes::Text => matches!(kind, EntryKind::String | EntryKind::EscapedString),
        Takes::Flag => matches!(kind, EntryKind::True | EntryKind::False),
        Takes::Number | Takes::Divisor | Takes::Count => kind == EntryKind::Number,
        Takes::Values | Takes::Names => kind == EntryKind::Array,
        Takes::NameLists => kind == EntryKind::Object,
        Takes::TypeNames => matches!(kind, EntryKind::String | EntryKind::Array),
        Takes::Schemas => {
            !matches!(kind, EntryKind::Null | EntryKind::Number | EntryKind::String | EntryKind::EscapedString)
        }
        Takes::Anything | Takes::Unsure => true,
    }
}

/// Names of at least so many letters may differ by one letter, and by two. Unit: bytes.
const ONE_LETTER_FROM: usize = 6;
const TWO_LETTERS_FROM: usize = 10;

/// Names that look like a keyword's misspelling and are well-known annotations.
const ANNOTATIONS: [&str; 5] = ["example", "note", "notes", "descriptor", "descriptions"];

/// The keywords without case and separators, by which misspelt ones are found.
static PLAIN: LazyLock<Vec<(Keyword, String)>> =
    LazyLock::new(|| Keyword::ALL.into_iter().map(|keyword| (keyword, plain(keyword.name()))).collect());

fn plain(name: &str) -> String {
    let letters = name.chars().filter(|c| !matches!(c, '_' | '-' | ' '));
    letters.collect::<String>().to_ascii_lowercase()
}

/// The keyword that a name is likely meant for: the same but for case and separators, or a letter or two away. Names that
/// start with a separator, and plurals of keywords, are names of their own.
fn meant_keyword(name: &str) -> Option<Keyword> {
    let is_own = name.starts_with(['_', '-']) || name.starts_with("x-") || ANNOTATIONS.contains(&name);
    if name.len() < 3 || name.len() > 32 || is_own {
        return None;
    }
    let own = plain(name);
    let same = |known: &str| known == own || own == "ref" && known == "$ref" || own == "defs" && known == "$defs";
    if let Some((keyword, _)) = PLAIN.iter().find(|(_, known)| same(known)) {
        return Some(*keyword);
    }
    let near = PLAIN.iter().filter_map(|(keyword, known)| Some((distance(&own, known)?, *keyword)));
    near.min_by_key(|(distance, _)| *distance).map(|(_, keyword)| keyword)
}

/// How far a name is from a keyword, if it is likely meant for it.
fn distance(own: &str, known: &str) -> Option<usize> {
    let far = own.len().abs_diff(known.len()) > 2 || known.starts_with('$') != own.starts_with('$');
    if far || own.strip_suffix('s') == Some(known) {
        return None;
    }
    let shorter = own.len().min(known.len());
    let distance = edit_distance(own.chars(), known.chars())?;
    let is_near = match distance {
        1 => shorter >= ONE_LETTER_FROM || known.strip_suffix('s') == Some(own) || is_swapped(own, known),
        2 => shorter >= TWO_LETTERS_FROM,
        _ => false,
    };
    is_near.then_some(distance)
}

/// Whether two words that are one step apart have the same letters: two neighbours have changed places.
fn is_swapped(one: &str, other: &str) -> bool {
    let sorted = |word: &str| {
        let mut letters = word.as_bytes().to_vec();
        letters.sort_unstable();
        letters
    };
    sorted(one) == sorted(other)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(name: &str, expected: Option<&str>) {
        assert_eq!(meant_keyword(name).map(Keyword::name), expected, "{name}");
    }

    #[test]
    fn misspelt_keywords() {
        check("min_length", Some("minLength"));
        check("MaxLength", Some("maxLength"));
        check("additional_properties", Some("additionalProperties"));
        check("additonalProperties", Some("additionalProperties"));
        check("proprties", Some("properties"));
        check("require", Some("required"));
        check("requried", Some("required"));
        check("item", Some("items"));
        check("tpye", Some("type"));
        check("ref", Some("$ref"));
        check("pattren", Some("pattern"));
        check("anyof", Some("anyOf"));
    }

    #[test]
    fn annotations_of_their_own() {
        for name in [
            "example",
            "note",
            "cost",
            "x-type",
            "order",
            "discriminator",
            "id",
            "comment",
            "schema",
            "unit",
            "_type",
            "types",
            "defaults",
        ] {
            check(name, None);
        }
    }
}
