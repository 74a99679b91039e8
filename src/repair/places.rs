//! Values of a text by their locations, of which many may lie in one long container.

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::HashMap;

use callgate_vm::tape::{EntryKind, Node, Tape};

use crate::summary::Step;

/// The value at a location, and the object and name before it if it is a member.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    pub(super) node: Node,
    pub(super) member: Option<(Node, Node)>,
}

/// Finds values on a tape. Containers that are long are gone through once.
pub(super) struct Places<'t> {
    pub(super) tape: Tape<'t>,
    long: RefCell<HashMap<Node, Inside<'t>, ahash::RandomState>>,
}

/// What is inside a long container.
enum Inside<'t> {
    /// Name and value, by name.
    Members(HashMap<Cow<'t, str>, (Node, Node), ahash::RandomState>),
    Elements(Vec<Node>),
}

/// Containers up to this length are gone through at each look. Unit: members or elements.
const SHORT_LEN: u32 = 16;

impl<'t> Places<'t> {
    pub(super) fn of(tape: Tape<'t>) -> Self {
        Places { tape, long: RefCell::default() }
    }

    /// The value at a location, if there is one. Cost: constant for each step, but for the first look into a container.
    pub(super) fn locate(&self, path: &[Step]) -> Option<Place> {
        path.iter().try_fold(Place { node: 0, member: None }, |Place { node, .. }, step| match step {
            Step::Name(name) => {
                let (name, value) = self.member(node, name)?;
                Some(Place { node: value, member: Some((node, name)) })
            }
            Step::Index(index) => Some(Place { node: self.element(node, *index as usize)?, member: None }),
        })
    }

    fn member(&self, object: Node, name: &str) -> Option<(Node, Node)> {
        if self.is_short(object) {
            return self.tape.member_nodes(object).find(|(key, _)| self.tape.text(*key).is(name));
        }
        match self.long.borrow_mut().entry(object).or_insert_with(|| self.inside(object)) {
            Inside::Members(members) => members.get(name).copied(),
            Inside::Elements(_) => None,
        }
    }

    fn element(&self, array: Node, index: usize) -> Option<Node> {
        if self.is_short(array) {
            return self.tape.element_nodes(array).nth(index);
        }
        match self.long.borrow_mut().entry(array).or_insert_with(|| self.inside(array)) {
            Inside::Elements(elements) => elements.get(index).copied(),
            Inside::Members(_) => None,
        }
    }

    fn is_short(&self, container: Node) -> bool {
        self.tape.entry(container).len <= SHORT_LEN
    }

    fn inside(&self, container: Node) -> Inside<'t> {
        let tape = self.tape;
        if tape.entry(container).kind == EntryKind::Array {
            return Inside::Elements(tape.element_nodes(container).collect());
        }
        let named = |(name, value)| {
            let text = tape.text(name);
            let text = text.as_plain().map_or_else(|| Cow::Owned(text.chars().collect()), Cow::Borrowed);
            (text, (name, value))
        };
        Inside::Members(tape.member_nodes(container).map(named).collect())
    }
}

#[cfg(test)]
mod tests {
    use callgate_vm::tape::{ReadOptions, TapeBuf};

    use super::*;

    #[test]
    fn long_and_short_containers() {
        let members: Vec<String> = (0..100).map(|at| format!("\"n\\u00e9{at}\": [{at}]")).collect();
        let elements: Vec<String> = (0..100).map(|at| format!("{{\"a\": {at}}}")).collect();
        let text = format!("[{{{}}}, [{}]]", members.join(","), elements.join(","));
        let mut buf = TapeBuf::new();
        let options = ReadOptions { depth_max: 8, bytes_max: 1 << 20, strict: true };
        let places = Places::of(buf.read_text(&text, options).expect("JSON"));
        let name = |name: &str| Step::Name(name.to_owned());
        for at in [0, 57, 99] {
            for path in [
                [Step::Index(0), name(&format!("né{at}")), Step::Index(0)],
                [Step::Index(1), Step::Index(at), name("a")],
            ] {
                let node = places.locate(&path).expect("it is there").node;
                assert_eq!(places.tape.slice(node), at.to_string());
            }
        }
        for path in [[Step::Index(0), name("né100")], [Step::Index(0), Step::Index(0)], [Step::Index(1), name("a")]] {
            assert!(places.locate(&path).is_none());
        }
        assert!(places.locate(&[Step::Index(1), Step::Index(100)]).is_none());
    }
}
