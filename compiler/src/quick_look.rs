//! A quick look at well-formedness: most schemas are plainly well-formed, and need no metaschema to say so.
//!
//! One walk over the members that the index has named, by the column `takes` of the keyword table. It answers "plainly
//! well-formed" or nothing: whatever is unusual, rare or wrong is left to the metaschema ([`crate::well_formed`]), which
//! alone judges what is not well-formed and words it. A test holds the two side by side.

use callgate_vm::tape::{EntryKind, Node, Tape};

use crate::dialect::{Dialect, Draft, Holds, Keyword, Takes};
use crate::refs::{Member, Place, Registry, is_schema};

/// Literals of at most so many bytes are told without being computed.
const LITERAL_BYTES_MAX: usize = 17;

/// Lists of at most so many names are compared name by name.
const NAMES_COMPARED_MAX: usize = 8;

/// Whether the schema at `root`, the only one indexed so far, is plainly well-formed.
///
/// The index has been everywhere where a metaschema goes that finds nothing wrong: a keyword's value either has the
/// schemas that the keyword table says, and then the index has them too, or the answer is no.
pub(crate) fn is_plainly_well_formed(registry: &Registry<'_>, root: Place) -> bool {
    let Some(site) = registry.site(root) else {
        return false;
    };
    let look = Look { tape: registry.tape(root.doc), draft: site.dialect.draft };
    // A dialect of its own has a metaschema of its own.
    if site.dialect != Dialect::of(look.draft) || !look.schema(Keyword::Properties, root.node) {
        return false;
    }
    registry.sites().iter().enumerate().all(|(at, site)| {
        registry.members(*site).iter().all(|member| {
            // The metaschema of the root judges all, also what is below another `$schema`.
            (at == 0 || member.keyword != Keyword::SchemaUri) && look.member(*member)
        })
    })
}

struct Look<'d> {
    tape: Tape<'d>,
    draft: Draft,
}

impl Look<'_> {
    fn member(&self, Member { keyword, value }: Member) -> bool {
        if !keyword.is_of(Dialect::of(self.draft)) {
            // A later draft's is anyone's; metaschemas still describe some that have gone.
            return !keyword.is_retired(self.draft);
        }
        match keyword.takes() {
            Takes::Anything => true,
            Takes::Unsure => false,
            Takes::Text => self.text(keyword, value),
            Takes::Flag => matches!(self.kind(value), EntryKind::True | EntryKind::False),
            Takes::Number => self.kind(value) == EntryKind::Number && !self.is_flag_in_draft_4(keyword),
            Takes::Divisor => self.is_above_zero(value),
            Takes::Count => self.is_count(value),
            Takes::Values => match self.draft {
                Draft::D4 => self.names(value),
                _ => self.kind(value) == EntryKind::Array,
            },
            Takes::Names => self.names(value),
            Takes::NameLists => self.members(value, |names| self.names(names)),
            Takes::TypeNames => self.types(value),
            Takes::Schemas => self.schemas(keyword, value),
        }
    }

    fn kind(&self, value: Node) -> EntryKind {
        self.tape.entry(value).kind
    }

    /// Every value of an object.
    fn members(&self, object: Node, good: impl Fn(Node) -> bool) -> bool {
        self.kind(object) == EntryKind::Object && self.tape.member_nodes(object).all(|(_, value)| good(value))
    }

    /// Every element of an array that has some.
    fn elements(&self, array: Node, good: impl Fn(Node) -> bool) -> bool {
        let entry = self.tape.entry(array);
        entry.kind == EntryKind::Array && entry.len > 0 && self.tape.element_nodes(array).all(good)
    }

    // --- scalars ---------------------------------------------------------------------------------------------

    fn text(&self, keyword: Keyword, value: Node) -> bool {
        let plain = self.kind(value) == EntryKind::String;
        match keyword {
            Keyword::Id if self.draft >= Draft::D2019 => plain && !self.tape.slice(value).contains('#'),
            Keyword::Anchor | Keyword::DynamicAnchor => plain && is_anchor(self.tape.slice(value)),
            _ => self.tape.is_string(value),
        }
    }

    fn is_flag_in_draft_4(&self, keyword: Keyword) -> bool {
        self.draft == Draft::D4 && matches!(keyword, Keyword::ExclusiveMaximum | Keyword::ExclusiveMinimum)
    }

    fn short_literal(&self, value: Node) -> &str {
        let number = self.kind(value) == EntryKind::Number;
        Some(self.tape.slice(value)).filter(|text| number && text.len() <= LITERAL_BYTES_MAX).unwrap_or("")
    }

    fn is_count(&self, value: Node) -> bool {
        let literal = self.short_literal(value);
        !literal.is_empty() && literal.bytes().all(|byte| byte.is_ascii_digit())
    }

    fn is_above_zero(&self, value: Node) -> bool {
        let literal = self.short_literal(value).as_bytes();
        literal.iter().all(|byte| byte.is_ascii_digit() || *byte == b'.')
            && literal.iter().any(|byte| matches!(byte, b'1'..=b'9'))
    }

    // --- lists -----------------------------------------------------------------------------------------------

    /// Different strings; draft 4 wants at least one.
    fn names(&self, value: Node) -> bool {
        let entry = self.tape.entry(value);
        if entry.kind != EntryKind::Array || (entry.len == 0 && self.draft == Draft::D4) {
            return false;
        }
        let mut names = self.tape.element_nodes(value);
        if names.clone().any(|name| self.kind(name) != EntryKind::String) {
            return false;
        }
        if entry.len as usize <= NAMES_COMPARED_MAX {
            return names.clone().enumerate().all(|(at, name)| {
                let name = self.tape.slice(name);
                names.clone().take(at).all(|other| self.tape.slice(other) != name)
            });
        }
        let mut sorted: Vec<&str> = names.by_ref().map(|name| self.tape.slice(name)).collect();
        sorted.sort_unstable();
        sorted.windows(2).all(|pair| pair[0] != pair[1])
    }

    fn types(&self, value: Node) -> bool {
        match self.kind(value) {
            EntryKind::String => self.is_type(value),
            _ => self.elements(value, |name| self.is_type(name)) && self.names(value),
        }
    }

    fn is_type(&self, value: Node) -> bool {
        let types = ["string", "object", "array", "integer", "boolean", "number", "null"];
        self.kind(value) == EntryKind::String && types.contains(&self.tape.slice(value))
    }

    // --- subschemas ------------------------------------------------------------------------------------------

    fn schemas(&self, keyword: Keyword, value: Node) -> bool {
        let schema = |node| self.schema(keyword, node);
        let array = self.kind(value) == EntryKind::Array;
        match keyword.holds() {
            Holds::Nothing => false,
            Holds::Schema => schema(value),
            Holds::List => self.elements(value, schema),
            Holds::SchemaOrList if array => self.draft < Draft::D2020 && self.elements(value, schema),
            Holds::SchemaOrList => schema(value),
            Holds::Map => self.members(value, schema),
            Holds::MapOrNames => self.members(value, |node| schema(node) || self.names(node)),
        }
    }

    /// A schema's own members are looked at where the index has them.
    fn schema(&self, keyword: Keyword, value: Node) -> bool {
        let kind = self.kind(value);
        let takes_flags =
            self.draft > Draft::D4 || matches!(keyword, Keyword::AdditionalItems | Keyword::AdditionalProperties);
        if takes_flags { is_schema(kind) } else { kind == EntryKind::Object }
    }
}

/// What both drafts that have anchors take.
fn is_anchor(text: &str) -> bool {
    let first = text.bytes().next().is_some_and(|byte| byte.is_ascii_alphabetic());
    first && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_'))
}

#[cfg(test)]
mod tests;
