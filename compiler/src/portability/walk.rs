//! Every subschema of a schema, once, in the order of the text.
//!
//! ```text
//! {"properties": {"a": {"items": [true, {…}]}}, "$ref": "#/x/y", "x": {"y": {…}}}
//!  root            /properties/a   │     │                             /x/y, since a reference leads there
//!                                  items, items/0, items/1
//! ```
//!
//! This goes by the text and the keyword table, not by the index of references or the rules of the IR: providers read a
//! schema without asking for its draft, they see members that no draft knows, and a schema that does not compile has
//! neither index nor rules. Places that hold something other than a schema object (`true`, a list) are places too:
//! some providers take objects only.
//!
//! The stack is explicit and no longer than the schema has nodes; a place is visited once, so references that come back
//! end the walk.

use std::borrow::Cow;

use ahash::HashMap;
use bumpalo::Bump;
use callgate_vm::tape::{EntryKind, Node, Tape};

use crate::dialect::{Holds, Keyword};
use crate::location::{LocationId, Locations};

/// A place where a schema is expected.
pub(super) struct Subschema<'a> {
    pub(super) tape: Tape<'a>,
    pub(super) node: Node,
    pub(super) location: LocationId,
    /// The keyword that holds it; none for the root and where only a reference leads.
    pub(super) held_by: Option<Keyword>,
    pub(super) is_root: bool,
    /// Objects around it, itself included if it is one. Unit: subschemas of type object.
    pub(super) objects: u64,
    /// Names and values, in the order of the text; none if it is no object.
    pub(super) members: Vec<(Cow<'a, str>, Node)>,
}

impl<'a> Subschema<'a> {
    pub(super) fn kind(&self) -> EntryKind {
        self.tape.entry(self.node).kind
    }

    /// The value of its member of that name.
    pub(super) fn member(&self, name: &str) -> Option<Node> {
        self.members.iter().find(|(member, _)| member == name).map(|(_, value)| *value)
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.member(name).is_some()
    }

    /// The string at a node, decoded.
    pub(super) fn text(&self, node: Node) -> Cow<'a, str> {
        text(self.tape, node)
    }

    /// The types it names, in whatever spelling; none if it names none.
    pub(super) fn types(&self) -> impl Iterator<Item = Cow<'a, str>> {
        let (tape, types) = (self.tape, self.member("type"));
        let one = types.filter(|node| tape.is_string(*node));
        let listed = types.into_iter().flat_map(move |node| tape.element_nodes(node));
        one.into_iter().chain(listed.filter(move |node| tape.is_string(*node))).map(move |node| text(tape, node))
    }

    /// Whether that type is among those it names, in small or capital letters.
    pub(super) fn is_of_type(&self, name: &str) -> bool {
        self.types().any(|of| of.eq_ignore_ascii_case(name))
    }

    /// Whether it describes an object, by its type or by having properties.
    pub(super) fn is_object(&self) -> bool {
        self.is_of_type("object") || self.has("properties")
    }

    /// Names and schemas of its properties.
    pub(super) fn properties(&self) -> impl Iterator<Item = (Cow<'a, str>, Node)> + use<'a> {
        let tape = self.tape;
        let properties = self.member("properties").into_iter();
        properties.flat_map(move |node| tape.member_nodes(node)).map(move |(key, value)| (text(tape, key), value))
    }

    /// The strings of `required`.
    pub(super) fn required(&self) -> impl Iterator<Item = (Cow<'a, str>, Node)> + use<'a> {
        let tape = self.tape;
        let names = self.member("required").into_iter().flat_map(move |node| tape.element_nodes(node));
        names.filter(move |name| tape.is_string(*name)).map(move |name| (text(tape, name), name))
    }
}

fn text(tape: Tape<'_>, node: Node) -> Cow<'_, str> {
    let text = tape.text(node);
    text.as_plain().map_or_else(|| Cow::Owned(text.chars().collect()), Cow::Borrowed)
}

/// A place still to be visited.
#[derive(Clone, Copy)]
struct Open {
    node: Node,
    location: LocationId,
    held_by: Option<Keyword>,
    /// Objects around it.
    objects: u64,
}

/// The walk over one schema.
pub(super) struct Walk<'a> {
    tape: Tape<'a>,
    root: Node,
    bump: &'a Bump,
    pub(super) locations: Locations<'a>,
    open: Vec<Open>,
    /// Targets of references, visited at the end if nothing else has led there.
    referred: Vec<Open>,
    /// By node, from the root on.
    visited: Vec<bool>,
    /// The containers that references have led through. A schema may have as many references as definitions, and each
    /// would search them all.
    passed: HashMap<Node, Passed<'a>>,
}

/// What a container has, by name or index.
enum Passed<'a> {
    Object(HashMap<Cow<'a, str>, Node>),
    Array(Vec<Node>),
    Other,
}

impl<'a> Passed<'a> {
    fn of(tape: Tape<'a>, node: Node) -> Self {
        match tape.entry(node).kind {
            // Of two members of one name the first counts, as elsewhere.
            EntryKind::Object => {
                let mut members = HashMap::default();
                for (key, value) in tape.member_nodes(node) {
                    members.entry(text(tape, key)).or_insert(value);
                }
                Passed::Object(members)
            }
            EntryKind::Array => Passed::Array(tape.element_nodes(node).collect()),
            _ => Passed::Other,
        }
    }

    fn get(&self, segment: &str) -> Option<Node> {
        match self {
            Passed::Object(members) => members.get(segment).copied(),
            Passed::Array(elements) => elements.get(segment.parse::<usize>().ok()?).copied(),
            Passed::Other => None,
        }
    }
}

impl<'a> Walk<'a> {
    pub(super) fn new(tape: Tape<'a>, root: Node, bump: &'a Bump) -> Self {
        let mut locations = Locations::default();
        let location = locations.root(None);
        let nodes = (tape.entry(root).next - root) as usize;
        let open = vec![Open { node: root, location, held_by: None, objects: 0 }];
        let visited = vec![false; nodes];
        Walk { tape, root, bump, locations, open, referred: Vec::new(), visited, passed: HashMap::default() }
    }

    /// The next place that has not been visited.
    pub(super) fn next(&mut self) -> Option<Subschema<'a>> {
        loop {
            let open = match self.open.pop() {
                Some(open) => open,
                None => self.referred.pop()?,
            };
            let visited = self.visited.get_mut((open.node - self.root) as usize)?;
            if !std::mem::replace(visited, true) {
                return Some(self.visit(open));
            }
        }
    }

    fn visit(&mut self, open: Open) -> Subschema<'a> {
        let tape = self.tape;
        let members = tape.member_nodes(open.node).map(|(key, value)| (text(tape, key), value)).collect();
        let Open { node, location, held_by, objects } = open;
        let is_root = node == self.root;
        let mut subschema = Subschema { tape, node, location, held_by, is_root, objects, members };
        subschema.objects += u64::from(subschema.is_object());
        self.push_held(&subschema);
        self.push_referred(&subschema);
        subschema
    }

    /// Puts what the keywords hold on the stack, the first on top.
    fn push_held(&mut self, subschema: &Subschema<'a>) {
        let from = self.open.len();
        for (name, value) in &subschema.members {
            if let Some(keyword) = Keyword::named(name) {
                self.push_held_by(keyword, *value, subschema);
            }
        }
        self.open[from..].reverse();
    }

    fn push_held_by(&mut self, keyword: Keyword, value: Node, subschema: &Subschema<'a>) {
        let (tape, holds) = (self.tape, keyword.holds());
        if holds == Holds::Nothing {
            return;
        }
        let location = self.locations.name(subschema.location, keyword.name());
        let open = Open { node: value, location, held_by: Some(keyword), objects: subschema.objects };
        match (holds, tape.entry(value).kind) {
            (Holds::Schema | Holds::SchemaOrList, EntryKind::Object | EntryKind::True | EntryKind::False) => {
                self.open.push(open);
            }
            (Holds::List | Holds::SchemaOrList, EntryKind::Array) => {
                if holds == Holds::SchemaOrList {
                    self.open.push(open);
                }
                for (index, node) in tape.element_nodes(value).enumerate() {
                    let location = self.locations.index(location, index);
                    self.open.push(Open { node, location, ..open });
                }
            }
            (Holds::Map | Holds::MapOrNames, EntryKind::Object) => {
                for (key, node) in tape.member_nodes(value) {
                    let names = holds == Holds::MapOrNames && tape.entry(node).kind == EntryKind::Array;
                    if !names {
                        let location = self.name(location, key);
                        self.open.push(Open { node, location, ..open });
                    }
                }
            }
            _ => {}
        }
    }

    fn name(&mut self, parent: LocationId, key: Node) -> LocationId {
        let name = match text(self.tape, key) {
            Cow::Borrowed(name) => name,
            Cow::Owned(name) => self.bump.alloc_str(&name),
        };
        self.locations.name(parent, name)
    }

    /// Notes where a reference by JSON Pointer leads. Anchors and other documents are not followed: an anchor is on a
    /// subschema, which is visited anyway if a keyword holds it.
    fn push_referred(&mut self, subschema: &Subschema<'a>) {
        let Some(reference) = subschema.member("$ref").filter(|node| self.tape.is_string(*node)) else {
            return;
        };
        let reference = subschema.text(reference);
        let Some(pointer) = reference.strip_prefix("#/") else {
            return;
        };
        let mut node = self.root;
        for segment in pointer.split('/') {
            let segment = segment.replace("~1", "/").replace("~0", "~");
            let container = self.passed.entry(node).or_insert_with(|| Passed::of(self.tape, node));
            let Some(next) = container.get(&segment) else {
                return;
            };
            node = next;
        }
        if self.is_visited(node) {
            return;
        }
        let location = self.referred_location(pointer);
        self.referred.push(Open { node, location, held_by: None, objects: 0 });
    }

    fn is_visited(&self, node: Node) -> bool {
        self.visited.get((node - self.root) as usize).is_none_or(|visited| *visited)
    }

    fn referred_location(&mut self, pointer: &str) -> LocationId {
        pointer.split('/').fold(LocationId::ROOT, |location, segment| {
            let segment = segment.replace("~1", "/").replace("~0", "~");
            self.locations.name(location, self.bump.alloc_str(&segment))
        })
    }
}

#[cfg(test)]
mod tests {
    use callgate_vm::tape::TapeBuf;

    use super::*;
    use crate::document::SCHEMA_READ;

    /// The pointers of the places, in order.
    #[track_caller]
    fn check(text: &str, expected: &[&str]) {
        let (mut buf, bump) = (TapeBuf::new(), Bump::new());
        let tape = buf.read(text.as_bytes(), SCHEMA_READ).expect("reads");
        let mut walk = Walk::new(tape, 0, &bump);
        let mut pointers = Vec::new();
        while let Some(place) = walk.next() {
            pointers.push(walk.locations.pointer(place.location, ""));
        }
        assert_eq!(pointers, expected);
    }

    #[test]
    fn places_come_in_the_order_of_the_text() {
        check(
            r#"{"anyOf": [{"not": {}}, true], "properties": {"a/b": {}}}"#,
            &["", "/anyOf/0", "/anyOf/0/not", "/anyOf/1", "/properties/a~1b"],
        );
        check(r#"{"items": [{}], "default": {"not": {}}, "x": {"not": {}}}"#, &["", "/items", "/items/0"]);
        check(r#"{"dependencies": {"a": ["b"], "c": {}}, "properties": 7}"#, &["", "/dependencies/c"]);
        check("[]", &[""]);
    }

    #[test]
    fn references_lead_to_odd_places_and_come_back() {
        check(r##"{"not": {"$ref": "#/x/y"}, "x": {"y": {"not": {"$ref": "#"}}}}"##, &["", "/not", "/x/y", "/x/y/not"]);
        check(r##"{"$ref": "#/not", "not": {"$ref": "#/not"}}"##, &["", "/not"]);
        check(r##"{"$ref": "#/x/1/~0", "x": [0, {"~": {}}]}"##, &["", "/x/1/~0"]);
        check(r##"{"$ref": "#/nowhere/9"}"##, &[""]);
    }

    #[test]
    fn nesting_is_on_the_heap() {
        let levels = 100_000;
        let text = "{\"not\":".repeat(levels) + "{}" + &"}".repeat(levels);
        let (mut buf, bump) = (TapeBuf::new(), Bump::new());
        let tape = buf.read(text.as_bytes(), SCHEMA_READ).expect("reads");
        let mut walk = Walk::new(tape, 0, &bump);
        let mut places = 0;
        while walk.next().is_some() {
            places += 1;
        }
        assert_eq!(places, levels + 1);
    }
}
