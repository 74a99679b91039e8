//! How each check is decided, and worded.
//!
//! A check of a subschema looks at that subschema alone; what is counted over a whole schema is gathered in [`Totals`]
//! as the walk goes by, and decided at its end.

use callgate_vm::tape::{EntryKind, Node};

use crate::dialect::Keyword;
use crate::location::LocationId;
use crate::portability::python;
use crate::portability::rule::{Check, Extent, NameForm, PatternFault, Rule};
use crate::portability::walk::Subschema;

/// Names listed in one detail.
const LISTED_MAX: usize = 3;

/// Characters of a name or value that a detail shows.
const SHOWN_CHARS_MAX: usize = 60;

/// Where an objection stands: the node, and the segments below the subschema that lead there.
pub(super) type Say<'s> = dyn FnMut(Node, &[&str], String) + 's;

/// Says what is wrong with the form of the tool's name.
pub(super) fn tool_name(form: &NameForm, name: &str) -> Option<String> {
    (!form.takes(name)).then(|| mismatch(name, form))
}

/// Judges the root of a schema.
pub(super) fn root(check: &Check, root: &Subschema<'_>, say: &mut Say<'_>) {
    match *check {
        Check::RootType(spellings) => root_type(spellings, root, say),
        Check::RootHas(names) => {
            each_member(root, |name| names.contains(&name), say, |name| format!("{name:?} stands at the root"));
        }
        Check::RootLacks(name) if root.kind() == EntryKind::Object && !root.has(name) => {
            say(root.node, &[], format!("the root has no {name:?}"));
        }
        _ => {}
    }
}

fn root_type(spellings: &[&str], root: &Subschema<'_>, say: &mut Say<'_>) {
    let Some(types) = root.member("type") else {
        let what =
            if root.kind() == EntryKind::Object { "the root has no \"type\"" } else { "the schema is no object" };
        return say(root.node, &[], what.to_owned());
    };
    if !root.tape.is_string(types) {
        return say(types, &["type"], "the root's type is a list".to_owned());
    }
    let of = root.text(types);
    if !spellings.contains(&&*of) {
        say(types, &["type"], format!("the root's type is {}", quoted(&of)));
    }
}

/// Judges a subschema.
pub(super) fn subschema(rule: &Rule, it: &Subschema<'_>, say: &mut Say<'_>) {
    let unsupported = |name: &str| {
        let what = if rule.refuses { "is not supported" } else { "is not listed as supported" };
        format!("{} {what}", quoted(name))
    };
    match rule.check {
        Check::Has(names) => {
            each_member(it, |name| names.contains(&name), say, unsupported);
        }
        Check::HasOther(names) => {
            each_member(it, |name| !names.contains(&name), say, unsupported);
        }
        Check::TypeList => type_list(it, say),
        Check::Untyped(names) => {
            let typed = it.has("type") || names.iter().any(|name| it.has(name));
            if it.kind() == EntryKind::Object && !typed && !is_about_free_keys(it) {
                say(it.node, &[], "the schema has no \"type\"".to_owned());
            }
        }
        Check::NoItems if it.is_of_type("array") && !it.has("items") => {
            say(it.node, &[], "the array has no \"items\"".to_owned());
        }
        Check::NoObject => no_object(it, say),
        Check::Open => open(it, say),
        Check::Optional => optional(it, say),
        Check::Undefined => undefined(it, say),
        Check::OnlyFor(of, names) if !it.is_of_type(of) => {
            let wording = |name: &str| format!("{name:?} stands beside {}", shown_type(it));
            each_member(it, |name| names.contains(&name), say, wording);
        }
        Check::NoProperties if it.is_of_type("object") && it.properties().next().is_none() => {
            say(it.node, &[], "the object has no properties".to_owned());
        }
        Check::EnumNoText => enum_no_text(it, say),
        Check::EnumEmptyText => enum_empty_text(it, say),
        Check::Format(of, names) => format(of, names, it, say),
        Check::Pattern(fault) => pattern(fault, it, say),
        Check::PropertyName(ref form, extent) if extent == Extent::Everywhere || it.is_root => {
            for (name, node) in it.properties().filter(|(name, _)| !form.takes(name)) {
                say(node, &["properties", &name], mismatch(&name, form));
            }
        }
        Check::RefBeside(names) if it.has("$ref") => {
            let other = |name: &str| name != "$ref" && !names.contains(&name);
            each_member(it, other, say, |name| format!("{name:?} stands beside \"$ref\""));
        }
        Check::RefElsewhere => ref_elsewhere(it, say),
        Check::AnyOfBeside(names) if it.has("anyOf") => {
            each_member(it, |name| names.contains(&name), say, |name| format!("{name:?} stands beside \"anyOf\""));
        }
        Check::EnumChars(above, max) => enum_chars(above, max, it, say),
        Check::HeaderName => header_name(it, say),
        Check::HeaderType(types) if it.has("x-mcp-header") && !types.iter().any(|of| it.is_of_type(of)) => {
            each_member(it, |name| name == "x-mcp-header", say, |_| format!("the header is beside {}", shown_type(it)));
        }
        _ => {}
    }
}

/// Says something about each member that `is_meant` names.
fn each_member(
    it: &Subschema<'_>,
    is_meant: impl Fn(&str) -> bool,
    say: &mut Say<'_>,
    wording: impl Fn(&str) -> String,
) {
    for (name, value) in it.members.iter().filter(|(name, _)| is_meant(name)) {
        say(*value, &[name], wording(name));
    }
}

/// Whether the place is about keys that are not named. Providers that ask for a type take no such keys, and never look.
fn is_about_free_keys(it: &Subschema<'_>) -> bool {
    matches!(
        it.held_by,
        Some(
            Keyword::AdditionalProperties
                | Keyword::PatternProperties
                | Keyword::PropertyNames
                | Keyword::UnevaluatedProperties
        )
    )
}

fn type_list(it: &Subschema<'_>, say: &mut Say<'_>) {
    let list = it.member("type").filter(|node| it.tape.entry(*node).kind == EntryKind::Array);
    if let Some(types) = list {
        say(types, &["type"], format!("the type is a list: {}", listed(it.types())));
    }
}

fn no_object(it: &Subschema<'_>, say: &mut Say<'_>) {
    // `additionalProperties: false` and the like are how these keywords are written.
    let takes_flags = matches!(
        it.held_by,
        Some(
            Keyword::AdditionalProperties
                | Keyword::AdditionalItems
                | Keyword::UnevaluatedItems
                | Keyword::UnevaluatedProperties
        )
    );
    let what = match it.kind() {
        EntryKind::Object => return,
        EntryKind::True | EntryKind::False if takes_flags => return,
        EntryKind::True => "true",
        EntryKind::False => "false",
        EntryKind::Array => "a list",
        _ => "another value",
    };
    say(it.node, &[], format!("{what} stands where a schema object is expected"));
}

fn open(it: &Subschema<'_>, say: &mut Say<'_>) {
    if !it.is_object() {
        return;
    }
    match it.member("additionalProperties") {
        None => say(it.node, &[], "the object has no \"additionalProperties\": false".to_owned()),
        Some(value) if it.tape.entry(value).kind != EntryKind::False => {
            say(value, &["additionalProperties"], "\"additionalProperties\" is not false".to_owned());
        }
        Some(_) => {}
    }
}

fn optional(it: &Subschema<'_>, say: &mut Say<'_>) {
    let mut required: Vec<_> = it.required().map(|(name, _)| name).collect();
    required.sort_unstable();
    let optional = it.properties().map(|(name, _)| name).filter(|name| required.binary_search(name).is_err());
    let names = listed(optional);
    if !names.is_empty() {
        let (node, below) = it.member("required").map_or((it.node, None), |node| (node, Some("required")));
        say(node, below.as_slice(), format!("properties are not required: {names}"));
    }
}

fn undefined(it: &Subschema<'_>, say: &mut Say<'_>) {
    let mut defined: Vec<_> = it.properties().map(|(name, _)| name).collect();
    defined.sort_unstable();
    for (index, (name, node)) in it.required().enumerate() {
        if defined.binary_search(&name).is_err() {
            say(node, &["required", &index.to_string()], format!("{} is none of the properties", quoted(&name)));
        }
    }
}

/// The values of `enum`.
fn values<'a>(it: &Subschema<'a>) -> impl Iterator<Item = Node> + use<'a> {
    let tape = it.tape;
    it.member("enum").into_iter().flat_map(move |node| tape.element_nodes(node))
}

fn enum_no_text(it: &Subschema<'_>, say: &mut Say<'_>) {
    if let Some((index, node)) = values(it).enumerate().find(|(_, node)| !it.tape.is_string(*node)) {
        let value = cut(it.tape.slice(node));
        say(node, &["enum", &index.to_string()], format!("the value {value} is no string"));
    }
}

fn enum_empty_text(it: &Subschema<'_>, say: &mut Say<'_>) {
    let empty = |node: &Node| it.tape.is_string(*node) && it.tape.slice(*node).is_empty();
    if let Some((index, node)) = values(it).enumerate().find(|(_, node)| empty(node)) {
        say(node, &["enum", &index.to_string()], "the value is an empty string".to_owned());
    }
}

fn enum_chars(above: u64, max: u64, it: &Subschema<'_>, say: &mut Say<'_>) {
    let Some(node) = it.member("enum") else {
        return;
    };
    let (count, chars) = values(it).fold((0, 0), |(count, sum), node| (count + 1, sum + chars(&it.text(node))));
    if count > above && chars > max {
        say(node, &["enum"], format!("{chars} characters in {count} values > {max}"));
    }
}

fn format(of: &str, names: &[&str], it: &Subschema<'_>, say: &mut Say<'_>) {
    let Some(node) = it.member("format").filter(|node| it.tape.is_string(*node) && it.is_of_type(of)) else {
        return;
    };
    let format = it.text(node);
    if !names.contains(&&*format) {
        say(node, &["format"], format!("{} is none of the formats for {of}", quoted(&format)));
    }
}

fn pattern(fault: PatternFault, it: &Subschema<'_>, say: &mut Say<'_>) {
    let Some(node) = it.member("pattern").filter(|node| it.tape.is_string(*node)) else {
        return;
    };
    let pattern = it.text(node);
    let detail = match fault {
        PatternFault::LooksAround if python::looks_around(&pattern) => "the pattern looks around".to_owned(),
        PatternFault::NotPython => match python::refused(&pattern) {
            Some(construct) => format!("the pattern has {construct}, which Python's re does not read"),
            None => return,
        },
        PatternFault::LooksAround => return,
    };
    say(node, &["pattern"], detail);
}

fn ref_elsewhere(it: &Subschema<'_>, say: &mut Say<'_>) {
    let Some(node) = it.member("$ref").filter(|node| it.tape.is_string(*node)) else {
        return;
    };
    let reference = it.text(node);
    let definition = ["#/$defs/", "#/definitions/"].iter().find_map(|start| reference.strip_prefix(start));
    let is_definition = definition.is_some_and(|name| !name.is_empty() && !name.contains('/'));
    if reference != "#" && !is_definition {
        say(node, &["$ref"], format!("{} leads to no definition at the root", quoted(&reference)));
    }
}

fn header_name(it: &Subschema<'_>, say: &mut Say<'_>) {
    let Some(node) = it.member("x-mcp-header") else {
        return;
    };
    let name = it.text(node);
    // Source: RFC 9110, section 5.6.2, `tchar`.
    let is_token = |c: char| c.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(c);
    if name.is_empty() || !name.chars().all(is_token) {
        let what = if it.tape.is_string(node) { quoted(&name) } else { "the value".to_owned() };
        say(node, &["x-mcp-header"], format!("{what} is no name of an HTTP header"));
    }
}

// --- the schema as a whole ----------------------------------------------------------------------------------------

/// What is counted over all subschemas of a schema.
#[derive(Debug, Default)]
pub(super) struct Totals {
    properties: u64,
    name_chars: u64,
    enum_values: u64,
    /// The first object inside so many others, by how many.
    levels: Vec<(Node, LocationId)>,
}

impl Totals {
    /// Counts what a subschema adds.
    pub(super) fn add(&mut self, it: &Subschema<'_>) {
        for (name, _) in it.properties() {
            self.properties += 1;
            self.name_chars += chars(&name);
        }
        let definitions = ["$defs", "definitions"].into_iter().filter_map(|name| it.member(name));
        for (key, _) in definitions.flat_map(|node| it.tape.member_nodes(node)) {
            self.name_chars += chars(&it.text(key));
        }
        let constant = it.member("const").into_iter();
        self.name_chars += values(it).chain(constant).map(|node| chars(&it.text(node))).sum::<u64>();
        self.enum_values += values(it).count() as u64;
        if it.objects > self.levels.len() as u64 {
            self.levels.push((it.node, it.location));
        }
    }

    /// What a check of the whole schema says: where (none for the root), and the detail.
    pub(super) fn judge(&self, check: &Check) -> Option<(Option<(Node, LocationId)>, String)> {
        let (amount, max, what) = match *check {
            Check::Depth(max) => (self.levels.len() as u64, max, "nested objects"),
            Check::Properties(max) => (self.properties, max, "properties"),
            Check::NameChars(max) => (self.name_chars, max, "characters of names and values"),
            Check::EnumValues(max) => (self.enum_values, max, "values of enums"),
            _ => return None,
        };
        let first_beyond = usize::try_from(max).ok().and_then(|max| self.levels.get(max).copied());
        let place = first_beyond.filter(|_| matches!(check, Check::Depth(_)));
        (amount > max).then(|| (place, format!("{amount} {what} > {max}")))
    }
}

// --- words --------------------------------------------------------------------------------------------------------

fn chars(text: &str) -> u64 {
    text.chars().count() as u64
}

fn mismatch(name: &str, form: &NameForm) -> String {
    format!("{} does not match {}", quoted(name), form.shown)
}

/// The types of a subschema, as a detail says them.
fn shown_type(it: &Subschema<'_>) -> String {
    let types = listed(it.types());
    if types.is_empty() { "no \"type\"".to_owned() } else { format!("the type {types}") }
}

/// The first names, and how many more there are. Empty for none.
fn listed(names: impl Iterator<Item = impl AsRef<str>>) -> String {
    let (mut text, mut more) = (String::new(), 0);
    for (at, name) in names.enumerate() {
        if at >= LISTED_MAX {
            more += 1;
            continue;
        }
        if at > 0 {
            text.push_str(", ");
        }
        text.push_str(&quoted(name.as_ref()));
    }
    if more > 0 { format!("{text} and {more} more") } else { text }
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", cut(text))
}

/// The text, or its beginning.
fn cut(text: &str) -> String {
    match text.char_indices().nth(SHOWN_CHARS_MAX) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_texts_are_cut_at_a_character() {
        assert_eq!(cut("é"), "é");
        assert_eq!(cut(&"é".repeat(60)), "é".repeat(60));
        assert_eq!(cut(&"é".repeat(61)), "é".repeat(60) + "…");
    }

    #[test]
    fn lists_are_cut_after_three() {
        assert_eq!(listed(["a", "b"].iter()), "\"a\", \"b\"");
        assert_eq!(listed(["a", "b", "c", "d", "e"].iter()), "\"a\", \"b\", \"c\" and 2 more");
        assert_eq!(listed(std::iter::empty::<&str>()), "");
    }
}
