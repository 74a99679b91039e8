//! Dynamic scopes, as far as they matter: which place each dynamic anchor leads to.

use std::collections::BTreeMap;

use ahash::HashMap;

use crate::lower::RECURSIVE_ANCHOR;
use crate::refs::{Place, Resource};

/// An interned scope.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct ScopeId(u32);

impl ScopeId {
    /// No dynamic anchor is in scope.
    pub(crate) const EMPTY: ScopeId = ScopeId(0);
}

/// The outermost place of each anchor.
type Scope<'d> = BTreeMap<&'d str, Place>;

/// Scopes of one compilation; real schemas have one or two. Each block is lowered once for each scope that reaches it,
/// so their number bounds the work.
pub(crate) const SCOPES_MAX: usize = 256;

/// All scopes of one compilation.
#[derive(Debug)]
pub(crate) struct Scopes<'d> {
    scopes: Vec<Scope<'d>>,
    ids: HashMap<Scope<'d>, ScopeId>,
}

impl Default for Scopes<'_> {
    fn default() -> Self {
        // No scope that is entered is empty, so the empty one need not be found.
        Scopes { scopes: vec![Scope::new()], ids: HashMap::default() }
    }
}

impl<'d> Scopes<'d> {
    /// The scope inside `resource`: anchors that are there already stay, since the outermost counts.
    /// Source: JSON Schema Core 2020-12, 7.1 and 8.2.3.2.
    pub(crate) fn enter(&mut self, id: ScopeId, resource: &Resource<'d>) -> ScopeId {
        let scope = &self.scopes[id.0 as usize];
        let adds_recursive = resource.recursive_anchor && !scope.contains_key(RECURSIVE_ANCHOR);
        if !adds_recursive && resource.dynamic_anchors.keys().all(|anchor| scope.contains_key(anchor)) {
            return id;
        }
        let mut scope = scope.clone();
        for (anchor, node) in &resource.dynamic_anchors {
            scope.entry(*anchor).or_insert(Place { node: *node, ..resource.root });
        }
        if adds_recursive {
            scope.insert(RECURSIVE_ANCHOR, resource.root);
        }
        if let Some(id) = self.ids.get(&scope) {
            return *id;
        }
        let id = ScopeId(self.scopes.len() as u32);
        self.ids.insert(scope.clone(), id);
        self.scopes.push(scope);
        id
    }

    /// Whether there are more than are lowered for.
    pub(crate) fn are_too_many(&self) -> bool {
        self.scopes.len() > SCOPES_MAX
    }

    /// Where the anchor leads.
    pub(crate) fn lookup(&self, id: ScopeId, anchor: &str) -> Option<Place> {
        self.scopes[id.0 as usize].get(anchor).copied()
    }
}
