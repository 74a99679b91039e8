//! A catalog that is replaced while calls are checked by it.

use std::sync::{Arc, Mutex, PoisonError, RwLock};

use crate::catalog::Catalog;
use crate::diff::Diff;
use crate::report::Refused;

/// A place for the catalog in use: many check by it, and now and then it is refreshed.
///
/// A check takes the [`current`](Self::current) catalog and holds on to it: it sees that catalog whole, whatever is put in
/// its place meanwhile. The old one goes when the last check by it ends. `Send + Sync`.
///
/// ```
/// use callgate::{Catalog, Options, Outcome, SharedCatalog};
///
/// let tools = |seed: &str| format!(r#"[{{"name": "roll", "inputSchema": {{"properties": {{"seed": {{"type": "{seed}"}}}}}}}}]"#);
/// let shared = SharedCatalog::new(Catalog::compile(tools("integer"), &Options::default())?.0);
///
/// let catalog = shared.current();
/// let mut session = catalog.session(1024);
/// assert!(catalog.check(&mut session, "roll", br#"{"seed": 1}"#).is_accepted());
///
/// let diff = shared.refresh(tools("string"))?;
/// assert!(diff.is_breaking());
/// let details = diff.tools[0].input.as_ref().map(|input| input.differences[0].to_string());
/// assert_eq!(details.as_deref(), Some("narrower at /properties/seed: type integer -> string"));
/// assert!(!shared.current().check(&mut session, "roll", br#"{"seed": 1}"#).is_accepted());
/// # Ok::<(), callgate::Refused>(())
/// ```
#[derive(Debug, Default)]
pub struct SharedCatalog {
    current: RwLock<Arc<Catalog>>,
    /// Held while a new catalog is made, so that each is made from the one it replaces.
    refreshing: Mutex<()>,
}

impl SharedCatalog {
    /// A place for `catalog`.
    pub fn new(catalog: Catalog) -> SharedCatalog {
        SharedCatalog { current: RwLock::new(Arc::new(catalog)), refreshing: Mutex::default() }
    }

    /// The catalog in use. Cost: a lock that is held for the copy of a pointer.
    pub fn current(&self) -> Arc<Catalog> {
        // A lock is poisoned by a panic while it is held; nothing here can leave half a catalog behind.
        Arc::clone(&self.current.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Puts the catalog that `text` makes in the place of the one in use: see [`Catalog::refresh`]. Checks go on while it is
    /// compiled; one refresh waits for another. Errors: the text is no catalog; then the one in use stays.
    pub fn refresh(&self, text: impl AsRef<[u8]>) -> Result<Diff, Refused> {
        let _one_at_a_time = self.refreshing.lock().unwrap_or_else(PoisonError::into_inner);
        let (catalog, diff) = self.current().refresh(text)?;
        self.replace(catalog);
        Ok(diff)
    }

    /// Puts `catalog` in the place of the one in use.
    fn replace(&self, catalog: Catalog) {
        let new = Arc::new(catalog);
        let old = std::mem::replace(&mut *self.current.write().unwrap_or_else(PoisonError::into_inner), new);
        // Outside the lock: it may be the last to let go of many units.
        drop(old);
    }
}
