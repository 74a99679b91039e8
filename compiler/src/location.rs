//! Locations of subschemas: a tree of steps, written out as JSON Pointers only where something is said about them.

use std::fmt::Write as _;

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
    steps: Vec<(Option<LocationId>, Step<'d>)>,
}

#[derive(Debug)]
enum Step<'d> {
    /// The root: the document's URI where it is not the tool's own schema.
    Root(Option<&'d str>),
    Name(&'d str),
    Index(usize),
}

impl<'d> Locations<'d> {
    fn push(&mut self, parent: Option<LocationId>, step: Step<'d>) -> LocationId {
        self.steps.push((parent, step));
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

    /// The JSON Pointer of the keyword at a location (of the location itself where there is no keyword); behind the
    /// URI of the document, where that is not the tool's own. Source: RFC 6901.
    pub(crate) fn pointer(&self, location: LocationId, keyword: &str) -> String {
        let mut chain = Vec::new();
        let mut next = Some(location);
        while let Some(LocationId(at)) = next {
            let (parent, step) = &self.steps[at as usize];
            chain.push(step);
            next = *parent;
        }
        let mut pointer = String::new();
        for step in chain.into_iter().rev() {
            match step {
                Step::Root(Some(uri)) => {
                    pointer.push_str(uri);
                    pointer.push('#');
                }
                Step::Root(None) => {}
                Step::Name(name) => push_segment(&mut pointer, name),
                Step::Index(index) => {
                    let written = write!(pointer, "/{index}");
                    debug_assert!(written.is_ok());
                }
            }
        }
        if !keyword.is_empty() {
            push_segment(&mut pointer, keyword);
        }
        pointer
    }
}

/// Appends `/` and the escaped segment.
pub(crate) fn push_segment(pointer: &mut String, segment: &str) {
    pointer.push('/');
    for c in segment.chars() {
        match c {
            '~' => pointer.push_str("~0"),
            '/' => pointer.push_str("~1"),
            other => pointer.push(other),
        }
    }
}
