//! References: resources, anchors, and what a `$ref` leads to.
//!
//! A schema document is indexed once: every subschema at a place where the dialect knows one gets a [`Site`] (its
//! resource, its dialect, its location), every `$id` a [`Resource`], every anchor an entry in its resource. A
//! reference then resolves inside the document, to a registered document, or to a known metaschema, and to
//! nothing else: nothing is fetched.
//!
//! Source: JSON Schema Core 2020-12, sections 8.2 and 9; the older drafts where they differ (`id`, fragment-only
//! `$id` as an anchor, siblings of `$ref` ignored).

use std::collections::BTreeMap;

use ahash::HashMap;
use bumpalo::Bump;
use callgate_vm::tape::{EntryKind, Node, Tape};
use callgate_vm::text::Text;
use fluent_uri::{Iri, IriRef};

use crate::dialect::{Dialect, Draft, Holds, Keyword, Vocabularies};
use crate::document::{Documents, without_fragment};
use crate::finding::{Finding, FindingKind};
use crate::location::{LocationId, Locations};
use crate::metaschema;

/// The base of a schema that names none.
const DEFAULT_BASE: &str = "json-schema:///";

/// How many metaschemas may describe one another before the chain is taken for a loop.
const METASCHEMA_CHAIN_MAX: usize = 8;

/// A document in use by one compilation.
pub(crate) type DocId = u32;
/// A schema resource.
pub(crate) type ResourceId = u32;

/// Where a schema is: a document and a node of its tape.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Place {
    pub(crate) doc: DocId,
    pub(crate) node: Node,
}

/// What is known of a subschema's place.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Site {
    pub(crate) resource: ResourceId,
    pub(crate) dialect: Dialect,
    pub(crate) location: LocationId,
    members: MemberRange,
}

/// A member of a schema object whose name is a keyword of some draft.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Member {
    pub(crate) keyword: Keyword,
    pub(crate) value: Node,
}

/// Where a schema's members lie among those of all schemas.
#[derive(Clone, Copy, Debug)]
struct MemberRange {
    from: u32,
    to: u32,
    /// A bit for each keyword that is among them: most questions are about one that is not.
    keywords: u64,
}

const _: () = assert!(Keyword::ALL.len() <= u64::BITS as usize);

impl MemberRange {
    const NONE: MemberRange = MemberRange { from: 0, to: 0, keywords: 0 };
}

/// A schema resource: a schema with an identifier of its own, or the whole document.
#[derive(Debug)]
pub(crate) struct Resource<'d> {
    pub(crate) root: Place,
    base: &'d str,
    anchors: HashMap<&'d str, Node>,
    pub(crate) dynamic_anchors: BTreeMap<&'d str, Node>,
    pub(crate) recursive_anchor: bool,
}

/// A document: its text, and which of its nodes are subschemas.
struct Document<'d> {
    tape: Tape<'d>,
    root: Node,
    /// By node, from the root on: an index into [`Registry::sites`], or [`NO_SITE`].
    site_at: Vec<u32>,
}

/// The node is no subschema that is known.
const NO_SITE: u32 = u32::MAX;

/// A subschema: an index into the sites, in the order of indexing.
pub(crate) type SiteId = u32;

/// All documents, resources and subschemas of one compilation.
pub(crate) struct Registry<'d> {
    /// Texts that are not in a document as they are: decoded names, resolved URIs.
    pub(crate) bump: &'d Bump,
    docs: Vec<Document<'d>>,
    documents: [&'d Documents; 2],
    loaded: HashMap<&'d str, ResourceId>,
    resources: Vec<Resource<'d>>,
    by_uri: HashMap<&'d str, ResourceId>,
    sites: Vec<Site>,
    members: Vec<Member>,
    pub(crate) locations: Locations<'d>,
    pub(crate) findings: Vec<Finding>,
    subschemas_max: usize,
    /// Whether some resource has an anchor that is resolved dynamically.
    pub(crate) has_dynamic: bool,
    /// Whether some schema has a member that is no keyword of its dialect.
    pub(crate) has_strays: bool,
}

impl<'d> Registry<'d> {
    pub(crate) fn new(bump: &'d Bump, documents: &'d Documents, subschemas_max: u64) -> Self {
        Registry {
            bump,
            docs: Vec::new(),
            documents: [documents, metaschema::documents()],
            loaded: HashMap::default(),
            resources: Vec::new(),
            by_uri: HashMap::default(),
            sites: Vec::new(),
            members: Vec::new(),
            locations: Locations::default(),
            findings: Vec::new(),
            subschemas_max: usize::try_from(subschemas_max).unwrap_or(usize::MAX),
            has_dynamic: false,
            has_strays: false,
        }
    }

    /// Adds a document and indexes it. `uri` is where it was registered; none for a tool's own schema.
    pub(crate) fn add(&mut self, tape: Tape<'d>, root: Node, uri: Option<&'d str>, dialect: Dialect) -> Place {
        let doc = self.docs.len() as DocId;
        let nodes = tape.entry(root).next - root;
        self.docs.push(Document { tape, root, site_at: vec![NO_SITE; nodes as usize] });
        // About as many as tools have: a subschema has four nodes or more, and most are behind `properties`.
        self.sites.reserve(nodes as usize / 6);
        self.members.reserve(nodes as usize / 3);
        self.locations.reserve(nodes as usize / 4);
        let base = uri.unwrap_or(DEFAULT_BASE);
        let place = Place { doc, node: root };
        let location = self.locations.root(uri);
        let resource = self.add_resource(place, base, location);
        if let Some(uri) = uri {
            self.loaded.insert(uri, resource);
        }
        self.index(place, Site { resource, dialect, location, members: MemberRange::NONE });
        place
    }

    pub(crate) fn tape(&self, doc: DocId) -> Tape<'d> {
        self.docs[doc as usize].tape
    }

    /// The subschema's number; none for a place that is not known to be one.
    pub(crate) fn site_id(&self, place: Place) -> Option<SiteId> {
        let document = &self.docs[place.doc as usize];
        let id = *document.site_at.get(place.node.wrapping_sub(document.root) as usize)?;
        (id != NO_SITE).then_some(id)
    }

    pub(crate) fn site(&self, place: Place) -> Option<Site> {
        self.site_id(place).map(|id| self.sites[id as usize])
    }

    fn add_site(&mut self, place: Place, site: Site) {
        let document = &mut self.docs[place.doc as usize];
        document.site_at[(place.node - document.root) as usize] = self.sites.len() as SiteId;
        self.sites.push(site);
    }

    /// As [`site`](Self::site); a place that the limit on subschemas has kept out of the index counts as its
    /// document's root, but for its own members. The compilation fails anyhow.
    pub(crate) fn site_or_root(&mut self, place: Place) -> Site {
        if let Some(site) = self.site(place) {
            return site;
        }
        let root = self.docs[place.doc as usize].root;
        let site = self.site(Place { node: root, ..place }).unwrap_or(Site {
            resource: 0,
            dialect: Dialect::of(Draft::D2020),
            location: LocationId::ROOT,
            members: MemberRange::NONE,
        });
        Site { members: self.read_members(place), ..site }
    }

    /// The members of a schema that are keywords of some draft, in the order of the text.
    pub(crate) fn members(&self, site: Site) -> &[Member] {
        &self.members[site.members.from as usize..site.members.to as usize]
    }

    /// The value of the schema's first member of that name.
    pub(crate) fn member(&self, site: Site, keyword: Keyword) -> Option<Node> {
        if site.members.keywords >> keyword as u32 & 1 == 0 {
            return None;
        }
        self.members(site).iter().find(|member| member.keyword == keyword).map(|member| member.value)
    }

    /// As [`member`](Self::member), if the value is a string.
    pub(crate) fn string_member(&self, place: Place, site: Site, keyword: Keyword) -> Option<&'d str> {
        let tape = self.tape(place.doc);
        let node = self.member(site, keyword).filter(|node| tape.is_string(*node))?;
        Some(self.plain(tape.text(node)))
    }

    /// Places of the document that are subschemas, in the order of the text.
    pub(crate) fn places(&self, doc: DocId) -> Vec<Place> {
        let document = &self.docs[doc as usize];
        let known = (document.root..).zip(&document.site_at).filter(|(_, id)| **id != NO_SITE);
        known.map(|(node, _)| Place { doc, node }).collect()
    }

    /// How many documents have been met by now.
    pub(crate) fn doc_len(&self) -> DocId {
        self.docs.len() as DocId
    }

    /// The extent of the first document. Unit: bytes.
    pub(crate) fn source_bytes(&self) -> usize {
        let entry = self.docs.first().map(|document| document.tape.entry(document.root));
        entry.map_or(0, |entry| (entry.end - entry.start) as usize)
    }

    /// The subschemas indexed so far, in the order of indexing.
    pub(crate) fn sites(&self) -> &[Site] {
        &self.sites
    }

    pub(crate) fn resource(&self, id: ResourceId) -> &Resource<'d> {
        &self.resources[id as usize]
    }

    /// A text in one piece: as it lies in the document, or decoded.
    pub(crate) fn plain(&self, text: Text<'d>) -> &'d str {
        text.as_plain().unwrap_or_else(|| {
            let mut plain = bumpalo::collections::String::with_capacity_in(text.raw_bytes(), self.bump);
            let written = text.write(&mut plain);
            debug_assert!(written.is_ok());
            plain.into_bump_str()
        })
    }

    fn finding(&mut self, kind: FindingKind, location: LocationId, keyword: &str, detail: impl Into<String>) {
        let pointer = self.locations.pointer(location, keyword);
        self.findings.push(Finding::new(kind, pointer, detail));
    }

    // --- the index -----------------------------------------------------------------------------------------

    fn add_resource(&mut self, root: Place, base: &'d str, location: LocationId) -> ResourceId {
        let id = self.resources.len() as ResourceId;
        if let Some(other) = self.by_uri.get(base).copied() {
            if self.resources[other as usize].root != root {
                self.finding(FindingKind::DuplicateId, location, "", format!("{base} names two resources"));
            }
        } else {
            self.by_uri.insert(base, id);
        }
        self.resources.push(Resource {
            root,
            base,
            anchors: HashMap::default(),
            dynamic_anchors: BTreeMap::new(),
            recursive_anchor: false,
        });
        id
    }

    /// Indexes a schema and every subschema below it, with an explicit stack.
    fn index(&mut self, place: Place, site: Site) {
        let mut open = Vec::with_capacity(16);
        open.push((place, site));
        while let Some((place, site)) = open.pop() {
            if self.site_id(place).is_some() {
                continue;
            }
            if self.sites.len() >= self.subschemas_max {
                let detail = format!("more than {} subschemas", self.subschemas_max);
                self.finding(FindingKind::SubschemaLimit, site.location, "", detail);
                // The place that was asked for stays known, whatever becomes of those below it.
                let site = Site { members: self.read_members(place), ..site };
                self.add_site(place, site);
                return;
            }
            let site = Site { members: self.read_members(place), ..site };
            let site = self.identify(place, site);
            let entry = self.tape(place.doc).entry(place.node);
            let known = (site.members.to - site.members.from) as usize;
            let is_stray = entry.kind == EntryKind::Object && known != entry.len as usize
                || site.members.keywords & Keyword::foreign_to(site.dialect.draft) != 0;
            self.has_strays |= is_stray;
            self.add_site(place, site);
            self.push_subschemas(place, site, &mut open);
        }
    }

    /// Finds the keywords among the members' names, once for all who ask later.
    fn read_members(&mut self, place: Place) -> MemberRange {
        let tape = self.tape(place.doc);
        let from = self.members.len() as u32;
        let mut keywords = 0;
        for (key, value) in tape.member_nodes(place.node) {
            let text = tape.text(key);
            let keyword = match text.as_plain() {
                Some(name) => Keyword::named(name),
                None => Keyword::named(self.plain(text)),
            };
            if let Some(keyword) = keyword {
                keywords |= 1 << keyword as u32;
                self.members.push(Member { keyword, value });
            }
        }
        MemberRange { from, to: self.members.len() as u32, keywords }
    }

    fn push_subschemas(&mut self, place: Place, site: Site, open: &mut Vec<(Place, Site)>) {
        let tape = self.tape(place.doc);
        let from = open.len();
        for at in site.members.from..site.members.to {
            let Member { keyword, value } = self.members[at as usize];
            let holds = keyword.holds();
            if holds == Holds::Nothing || !keyword.is_of(site.dialect) {
                continue;
            }
            let location = self.locations.name(site.location, keyword.name());
            let mut push = |node: Node, location: LocationId| {
                open.push((Place { doc: place.doc, node }, Site { location, ..site }));
            };
            match (holds, tape.entry(value).kind) {
                (Holds::Schema | Holds::SchemaOrList, kind) if is_schema(kind) => push(value, location),
                (Holds::List | Holds::SchemaOrList, EntryKind::Array) => {
                    for (at, node) in tape.element_nodes(value).enumerate() {
                        push(node, self.locations.index(location, at));
                    }
                }
                (Holds::Map | Holds::MapOrNames, EntryKind::Object) => {
                    for (key, node) in tape.member_nodes(value) {
                        if is_schema(tape.entry(node).kind) {
                            let name = self.plain(tape.text(key));
                            push(node, self.locations.name(location, name));
                        }
                    }
                }
                _ => {}
            }
        }
        // The stack gives the last first; source order decides which of two equal ids is the duplicate.
        open[from..].reverse();
    }

    /// Reads what the object says of itself: dialect, identifier, anchors.
    fn identify(&mut self, place: Place, mut site: Site) -> Site {
        if let Some(uri) = self.string_member(place, site, Keyword::SchemaUri) {
            match self.dialect(uri, site.location) {
                Ok(dialect) => site.dialect = dialect,
                Err(finding) => self.findings.push(finding),
            }
        }
        let draft = site.dialect.draft;
        if draft.ref_stands_alone() && self.string_member(place, site, Keyword::Ref).is_some() {
            return site;
        }
        if let Some(id) = self.string_member(place, site, draft.id()) {
            self.identify_resource(place, &mut site, id);
        }
        if draft >= Draft::D2019 {
            self.identify_anchors(place, site);
        }
        site
    }

    fn identify_resource(&mut self, place: Place, site: &mut Site, id: &'d str) {
        let draft = site.dialect.draft;
        let (uri, fragment) = id.split_once('#').unwrap_or((id, ""));
        if !uri.is_empty() {
            match resolve_uri(self.resource(site.resource).base, uri) {
                Some(base) => {
                    let base = self.bump.alloc_str(&base);
                    site.resource = self.enter_resource(place, base, site);
                }
                None => {
                    let detail = format!("{id} is not a URI reference");
                    self.finding(FindingKind::NotWellFormed, site.location, draft.id_keyword(), detail);
                }
            }
        }
        if draft <= Draft::D7 && !fragment.is_empty() {
            self.add_anchor(place, *site, fragment, draft.id_keyword());
        }
    }

    /// The resource that starts at `place`. The root of a document gets a second name, not a second resource.
    fn enter_resource(&mut self, place: Place, base: &'d str, site: &Site) -> ResourceId {
        let id = site.resource;
        if self.resource(id).root == place {
            self.by_uri.entry(base).or_insert(id);
            self.resources[id as usize].base = base;
            return id;
        }
        self.add_resource(place, base, site.location)
    }

    fn identify_anchors(&mut self, place: Place, site: Site) {
        if let Some(anchor) = self.string_member(place, site, Keyword::Anchor) {
            self.add_anchor(place, site, anchor, "$anchor");
        }
        if site.dialect.draft == Draft::D2020 {
            if let Some(anchor) = self.string_member(place, site, Keyword::DynamicAnchor) {
                self.add_anchor(place, site, anchor, "$dynamicAnchor");
                self.resources[site.resource as usize].dynamic_anchors.insert(anchor, place.node);
                self.has_dynamic = true;
            }
        } else if self.resource(site.resource).root == place {
            let tape = self.tape(place.doc);
            let is = self.member(site, Keyword::RecursiveAnchor).map(|node| tape.entry(node).kind);
            self.resources[site.resource as usize].recursive_anchor = is == Some(EntryKind::True);
            self.has_dynamic |= is == Some(EntryKind::True);
        }
    }

    fn add_anchor(&mut self, place: Place, site: Site, anchor: &'d str, keyword: &str) {
        let anchors = &mut self.resources[site.resource as usize].anchors;
        let first = *anchors.entry(anchor).or_insert(place.node);
        if first != place.node {
            self.finding(FindingKind::DuplicateId, site.location, keyword, format!("the anchor {anchor} stands twice"));
        }
    }

    // --- dialects ------------------------------------------------------------------------------------------

    /// The dialect that `$schema` names.
    fn dialect(&mut self, uri: &str, location: LocationId) -> Result<Dialect, Finding> {
        let bare = uri.strip_suffix('#').unwrap_or(uri);
        if let Some(draft) = Draft::from_uri(bare) {
            return Ok(Dialect::of(draft));
        }
        if self.documents[0].get(without_fragment(uri)).is_some() {
            return self.custom_dialect(without_fragment(uri), location);
        }
        let pointer = self.locations.pointer(location, "$schema");
        match Draft::from_near_uri(bare) {
            Some(draft) => {
                let detail = format!("{uri} is read as {}", draft.uri());
                self.findings.push(Finding::new(FindingKind::NearDialect, pointer, detail));
                Ok(Dialect::of(draft))
            }
            None => {
                let detail = format!("{uri} is neither a draft of JSON Schema nor a registered document");
                Err(Finding::new(FindingKind::UnknownDialect, pointer, detail))
            }
        }
    }

    /// The dialect of a registered metaschema: the draft of its own `$schema`, the vocabularies it lists.
    fn custom_dialect(&mut self, uri: &str, location: LocationId) -> Result<Dialect, Finding> {
        let documents = self.documents[0];
        let mut next = uri.to_owned();
        let mut vocabularies = None;
        for _ in 0..METASCHEMA_CHAIN_MAX {
            if let Some(draft) = Draft::from_uri(&next) {
                let dialect = Dialect::of(draft);
                return Ok(Dialect { vocabularies: vocabularies.unwrap_or(dialect.vocabularies), ..dialect });
            }
            let Some(tape) = documents.get(&next) else {
                break;
            };
            if vocabularies.is_none() {
                vocabularies = self.vocabularies(tape, location)?;
            }
            let mut buffer = String::new();
            match tape.member(0, "$schema") {
                Some(schema) => next = without_fragment(tape.text(schema).plain(&mut buffer)).to_owned(),
                None => Draft::D2020.uri().clone_into(&mut next),
            }
        }
        let pointer = self.locations.pointer(location, "$schema");
        let detail = format!("the metaschema {uri} is of no known draft");
        Err(Finding::new(FindingKind::UnknownDialect, pointer, detail))
    }

    fn vocabularies(&self, tape: Tape<'d>, location: LocationId) -> Result<Option<Vocabularies>, Finding> {
        let Some(listed) = tape.member(0, "$vocabulary") else {
            return Ok(None);
        };
        let mut set = Vocabularies::CORE;
        let mut buffer = String::new();
        for (key, required) in tape.member_nodes(listed) {
            let uri = tape.text(key).plain(&mut buffer);
            match Vocabularies::from_uri(uri) {
                Some(vocabulary) => set = set.with(vocabulary),
                None if tape.entry(required).kind == EntryKind::True => {
                    let pointer = self.locations.pointer(location, "$schema");
                    let detail = format!("the vocabulary {uri} is required and not known");
                    return Err(Finding::new(FindingKind::VocabularyUnknown, pointer, detail));
                }
                None => {}
            }
        }
        Ok(Some(set))
    }

    // --- references ----------------------------------------------------------------------------------------

    /// What `reference`, standing in a schema at `site`, leads to: its place, and the name of the anchor if it was
    /// found by one. Errors: a finding at `keyword`.
    pub(crate) fn resolve(
        &mut self,
        site: Site,
        reference: &str,
        keyword: &str,
    ) -> Result<(Place, Option<&'d str>), Finding> {
        let (uri, fragment) = reference.split_once('#').unwrap_or((reference, ""));
        let resource =
            if uri.is_empty() { site.resource } else { self.resolve_resource(site, uri, reference, keyword)? };
        let Some(fragment) = percent_decode(fragment) else {
            let pointer = self.locations.pointer(site.location, keyword);
            let detail = format!("the fragment of {reference} is not percent-encoded UTF-8");
            return Err(Finding::new(FindingKind::RefUnresolved, pointer, detail));
        };
        if fragment.is_empty() {
            return Ok((self.resource(resource).root, None));
        }
        let unresolved = |registry: &Self, what: &str| {
            let pointer = registry.locations.pointer(site.location, keyword);
            Finding::new(FindingKind::RefUnresolved, pointer, format!("{reference} {what}"))
        };
        if fragment.starts_with('/') {
            let place = self.follow(resource, &fragment).ok_or_else(|| unresolved(self, "points to nothing"))?;
            let kind = self.tape(place.doc).entry(place.node).kind;
            return if is_schema(kind) { Ok((place, None)) } else { Err(unresolved(self, "points to no schema")) };
        }
        let found = self.resource(resource);
        match found.anchors.get_key_value(fragment.as_str()) {
            Some((anchor, node)) => Ok((Place { node: *node, ..found.root }, Some(anchor))),
            None => Err(unresolved(self, "names an anchor that does not exist")),
        }
    }

    fn resolve_resource(
        &mut self,
        site: Site,
        uri: &str,
        reference: &str,
        keyword: &str,
    ) -> Result<ResourceId, Finding> {
        let base = self.resource(site.resource).base;
        let pointer = |registry: &Self| registry.locations.pointer(site.location, keyword);
        let Some(uri) = resolve_uri(base, uri) else {
            let detail = format!("{reference} is not a URI reference");
            return Err(Finding::new(FindingKind::RefUnresolved, pointer(self), detail));
        };
        if let Some(resource) = self.by_uri.get(uri.as_str()).or_else(|| self.loaded.get(uri.as_str())) {
            return Ok(*resource);
        }
        let documents = self.documents;
        if let Some(tape) = documents.iter().find_map(|documents| documents.get(&uri)) {
            // A document that does not say takes the dialect of the schema that refers to it.
            let uri: &'d str = self.bump.alloc_str(&uri);
            let place = self.add(tape, 0, Some(uri), site.dialect);
            return Ok(match self.loaded.get(uri) {
                Some(resource) => *resource,
                None => self.site_or_root(place).resource,
            });
        }
        let remote = uri.starts_with("http://") || uri.starts_with("https://");
        let kind = if remote { FindingKind::RefRemote } else { FindingKind::RefUnresolved };
        let detail = match (remote, uri.strip_prefix(DEFAULT_BASE)) {
            (true, _) => format!("{uri} is not registered, and nothing is fetched"),
            (false, Some(_)) => format!("{reference} is not part of the schema"),
            (false, None) => format!("{uri} is not known"),
        };
        Err(Finding::new(kind, pointer(self), detail))
    }

    /// Follows a JSON Pointer from the resource's root. A place that no keyword leads to is indexed now, in the
    /// dialect of what is around it.
    fn follow(&mut self, resource: ResourceId, pointer: &str) -> Option<Place> {
        let mut place = self.resource(resource).root;
        let tape = self.tape(place.doc);
        let mut site = self.site(place)?;
        let mut location = site.location;
        for segment in pointer[1..].split('/') {
            let segment = segment.replace("~1", "/").replace("~0", "~");
            place.node = match tape.entry(place.node).kind {
                EntryKind::Object => tape.member(place.node, &segment)?,
                EntryKind::Array => array_index(&segment).and_then(|at| tape.element_nodes(place.node).nth(at))?,
                _ => return None,
            };
            match self.site(place) {
                Some(known) => {
                    site = known;
                    location = known.location;
                }
                None => {
                    let segment = self.bump.alloc_str(&segment);
                    location = self.locations.name(location, segment);
                }
            }
        }
        self.index(place, Site { location, ..site });
        Some(place)
    }
}

/// Whether a value of that kind can be a schema.
pub(crate) fn is_schema(kind: EntryKind) -> bool {
    matches!(kind, EntryKind::Object | EntryKind::True | EntryKind::False)
}

/// Source: RFC 6901, section 4: no leading zeros.
fn array_index(segment: &str) -> Option<usize> {
    let good = segment == "0" || (!segment.starts_with('0') && segment.bytes().all(|b| b.is_ascii_digit()));
    if good { segment.parse().ok() } else { None }
}

/// Source: RFC 3986, section 5. The answer has no fragment.
fn resolve_uri(base: &str, reference: &str) -> Option<String> {
    let reference = IriRef::parse(reference).ok()?;
    let base = Iri::parse(without_fragment(base)).ok()?;
    let resolved = reference.resolve_against(&base).ok()?;
    Some(without_fragment(resolved.as_str()).to_owned())
}

fn percent_decode(text: &str) -> Option<String> {
    if !text.contains('%') {
        return Some(text.to_owned());
    }
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        if byte != b'%' {
            bytes.push(byte);
            continue;
        }
        let digit = |byte: Option<u8>| (byte? as char).to_digit(16);
        let (high, low) = (digit(rest.next())?, digit(rest.next())?);
        bytes.push((high * 16 + low) as u8);
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(base: &str, reference: &str, expected: Option<&str>) {
        assert_eq!(resolve_uri(base, reference).as_deref(), expected);
    }

    #[test]
    fn uris_resolve() {
        check("http://example.com/a/b.json", "c.json", Some("http://example.com/a/c.json"));
        check(DEFAULT_BASE, "item.json", Some("json-schema:///item.json"));
        check("urn:uuid:deadbeef-1234-ffff-ffff-4321feebdaed", "http://x/y", Some("http://x/y"));
        check("http://example.com/", "a b", None);
    }

    #[test]
    fn fragments_decode() {
        assert_eq!(percent_decode("/%25a%22").as_deref(), Some("/%a\""));
        assert_eq!(percent_decode("%zz"), None);
        assert_eq!(array_index("01"), None);
    }
}
