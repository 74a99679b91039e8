//! Locations of subschemas: a tree of steps, written out as JSON Pointers only where something is said about them.

use std::fmt::Write as _;

use crate::dialect::Keyword;

/// A location: an index into [`Locations`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct LocationId(u32);

impl LocationId {
    /// The root of the first document.
    pub(crate) const ROOT: LocationId = LocationId(0);
}

/// All locations of one compilation.
#[derive(Debug, Default)]
pub(crate) struct Locations<'d> {
    steps: Vec<Node<'d>>,
}

/// A location: what leads to it, and the last step.
#[derive(Debug)]
struct Node<'d> {
    parent: Option<LocationId>,
    step: Step<'d>,
    /// Length of its pointer. Unit: bytes.
    bytes: usize,
    /// Whether the step is a name without anything to escape.
    is_plain: bool,
}

#[derive(Debug)]
enum Step<'d> {
    /// The root: the document's URI where it is not the tool's own schema.
    Root(Option<&'d str>),
    Name(&'d str),
    Index(usize),
}

impl<'d> Locations<'d> {
    /// Makes room for so many.
    pub(crate) fn reserve(&mut self, locations: usize) {
        self.steps.reserve(locations);
    }

    fn push(&mut self, parent: Option<LocationId>, step: Step<'d>) -> LocationId {
        let own = match step {
            Step::Root(uri) => uri.map_or(0, |uri| uri.len() + 1),
            Step::Name(name) => segment_bytes(name),
            Step::Index(index) => 2 + index.checked_ilog10().unwrap_or(0) as usize,
        };
        let bytes = own + parent.map_or(0, |parent| self.bytes(parent, ""));
        let is_plain = matches!(step, Step::Name(name) if name.len() + 1 == own);
        self.steps.push(Node { parent, step, bytes, is_plain });
        LocationId(self.steps.len() as u32 - 1)
    }

    /// The root of a document.
    pub(crate) fn root(&mut self, uri: Option<&'d str>) -> LocationId {
        self.push(None, Step::Root(uri))
    }

    /// A member.
    pub(crate) fn name(&mut self, parent: LocationId, name: &'d str) -> LocationId {
        self.push(Some(parent), Step::Name(name))
    }

    /// An element.
    pub(crate) fn index(&mut self, parent: LocationId, index: usize) -> LocationId {
        self.push(Some(parent), Step::Index(index))
    }

    /// Length of the pointer that [`write_pointer`](Self::write_pointer) writes. Unit: bytes.
    pub(crate) fn bytes(&self, location: LocationId, keyword: &str) -> usize {
        let below = if keyword.is_empty() { 0 } else { segment_bytes(keyword) };
        self.steps[location.0 as usize].bytes + below
    }

    /// As [`bytes`](Self::bytes), for a keyword that has nothing to escape, as none has.
    pub(crate) fn bytes_at(&self, location: LocationId, keyword: Option<Keyword>) -> usize {
        self.steps[location.0 as usize].bytes + keyword.map_or(0, |keyword| 1 + keyword.name().len())
    }

    /// The JSON Pointer of the keyword at a location (of the location itself where there is no keyword); behind the
    /// URI of the document, where that is not the tool's own. Source: RFC 6901.
    pub(crate) fn pointer(&self, location: LocationId, keyword: &str) -> String {
        let mut pointer = String::with_capacity(self.bytes(location, keyword));
        self.write_pointer(&mut pointer, location, &mut Vec::new());
        if !keyword.is_empty() {
            push_segment(&mut pointer, keyword);
        }
        pointer
    }

    /// Appends the location's own pointer. `chain` is memory that is used again.
    fn write_pointer(&self, pointer: &mut String, location: LocationId, chain: &mut Vec<LocationId>) {
        chain.clear();
        let mut next = Some(location);
        while let Some(location) = next {
            chain.push(location);
            next = self.node(location).parent;
        }
        chain.iter().rev().for_each(|location| self.node(*location).push_step(pointer));
    }

    fn node(&self, location: LocationId) -> &Node<'d> {
        &self.steps[location.0 as usize]
    }
}

impl Node<'_> {
    fn push_step(&self, pointer: &mut String) {
        match &self.step {
            Step::Root(Some(uri)) => {
                pointer.push_str(uri);
                pointer.push('#');
            }
            Step::Root(None) => {}
            Step::Name(name) if self.is_plain => {
                pointer.push('/');
                pointer.push_str(name);
            }
            Step::Name(name) => push_segment(pointer, name),
            Step::Index(index) => {
                let written = write!(pointer, "/{index}");
                debug_assert!(written.is_ok());
            }
        }
    }
}

/// The pointer of one location after the other, in memory that is used again.
#[derive(Debug, Default)]
pub(crate) struct Pointer {
    location: Option<LocationId>,
    text: String,
    chain: Vec<LocationId>,
}

impl Pointer {
    /// With room for the pointers of most schemas.
    pub(crate) fn with_room() -> Pointer {
        Pointer { location: None, text: String::with_capacity(256), chain: Vec::with_capacity(32) }
    }

    /// The pointer of `location`. Cost: little where it is the last one, or beside it.
    pub(crate) fn at(&mut self, locations: &Locations<'_>, location: LocationId) -> &str {
        if self.location != Some(location) {
            let parent = locations.node(location).parent;
            match parent {
                Some(parent) if self.location.and_then(|last| locations.node(last).parent) == Some(parent) => {
                    self.text.truncate(locations.node(parent).bytes);
                    locations.node(location).push_step(&mut self.text);
                }
                _ => {
                    self.text.clear();
                    locations.write_pointer(&mut self.text, location, &mut self.chain);
                }
            }
            self.location = Some(location);
        }
        &self.text
    }
}

/// What [`push_segment`] appends.
fn segment_bytes(segment: &str) -> usize {
    1 + segment.len() + segment.bytes().filter(|byte| is_escaped(*byte)).count()
}

fn is_escaped(byte: u8) -> bool {
    matches!(byte, b'~' | b'/')
}

/// Appends `/` and the escaped segment.
pub(crate) fn push_segment(pointer: &mut String, segment: &str) {
    pointer.push('/');
    if !segment.bytes().any(is_escaped) {
        return pointer.push_str(segment);
    }
    for c in segment.chars() {
        match c {
            '~' => pointer.push_str("~0"),
            '/' => pointer.push_str("~1"),
            other => pointer.push(other),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pointers_are_as_long_as_they_say() {
        let mut locations = Locations::default();
        let root = locations.root(Some("https://example.com/a"));
        let list = locations.name(root, "a/b~c");
        for index in [0, 9, 10, 12_345] {
            let element = locations.index(list, index);
            let pointer = locations.pointer(element, "~x");
            assert_eq!(pointer, format!("https://example.com/a#/a~1b~0c/{index}/~0x"));
            assert_eq!(locations.bytes(element, "~x"), pointer.len());
        }
    }

    #[test]
    fn keywords_have_nothing_to_escape() {
        let mut locations = Locations::default();
        let root = locations.root(None);
        for keyword in Keyword::ALL {
            assert!(!keyword.name().bytes().any(is_escaped), "{}", keyword.name());
            assert_eq!(locations.bytes_at(root, Some(keyword)), locations.bytes(root, keyword.name()));
        }
        assert_eq!(locations.bytes_at(root, None), 0);
    }

    #[test]
    fn one_pointer_after_the_other() {
        let mut locations = Locations::default();
        let root = locations.root(None);
        let properties = locations.name(root, "properties");
        let (one, two) = (locations.name(properties, "a~"), locations.name(properties, "b"));
        let (below, beside) = (locations.index(two, 3), locations.name(root, "items"));
        let mut pointer = Pointer::default();
        for location in [one, one, two, below, two, beside, properties, root, below, one] {
            assert_eq!(pointer.at(&locations, location), locations.pointer(location, ""));
        }
    }
}
