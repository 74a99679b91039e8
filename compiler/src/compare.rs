//! What a change of a schema does to its callers.
//!
//! ```text
//! old, new ─► digests ─► unchanged
//!               │ differ
//!               ├─► the same rules ─► cosmetic: which annotations differ (annotations.rs)
//!               └─► subset.rs, both ways ─► wider, narrower, incompatible, undecided: what, and where
//! ```

use std::fmt;

use bumpalo::Bump;
use callgate_vm::tape::{Tape, TapeBuf};
use serde::Serialize;

use crate::annotations;
use crate::dialect::Dialect;
use crate::document::SCHEMA_READ;
use crate::ir::Model;
use crate::known::CompiledSchema;
use crate::options::Options;
use crate::pattern_cache::PatternCache;
use crate::refs::{Place, Registry};
use crate::subset::{Compare, Obstacle, Side};

/// How the instances that a schema accepts have changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum SchemaChange {
    /// The same text, up to white space.
    Unchanged,
    /// Exactly the same instances are accepted: only annotations differ, or the order and wording of rules.
    Cosmetic,
    /// All that was accepted still is, and there may be more.
    Wider,
    /// All that is accepted now was before, and some may be missing.
    Narrower,
    /// Some instance is no longer accepted, and some other one is new.
    Incompatible,
    /// It cannot be told.
    Undecided,
}

impl fmt::Display for SchemaChange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            SchemaChange::Unchanged => "unchanged",
            SchemaChange::Cosmetic => "cosmetic",
            SchemaChange::Wider => "wider",
            SchemaChange::Narrower => "narrower",
            SchemaChange::Incompatible => "incompatible",
            SchemaChange::Undecided => "undecided",
        })
    }
}

/// What one difference does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Effect {
    /// Nothing is accepted or rejected for it.
    Cosmetic,
    /// Something is accepted that was not before.
    Wider,
    /// Something is not accepted any more.
    Narrower,
    /// That could be neither proven nor shown.
    Undecided,
}

impl fmt::Display for Effect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Effect::Cosmetic => "cosmetic",
            Effect::Wider => "wider",
            Effect::Narrower => "narrower",
            Effect::Undecided => "undecided",
        })
    }
}

/// One difference between two schemas.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Difference {
    /// What it does.
    pub effect: Effect,
    /// JSON Pointer of the subschema: in the new schema for what narrows, in the old one for what widens.
    pub pointer: String,
    /// What has changed, on one line.
    pub reason: String,
    /// JSON text of an instance that shows it, accepted by one schema and rejected by the other.
    pub witness: Option<String>,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.effect)?;
        if !self.pointer.is_empty() {
            write!(f, " at {}", self.pointer)?;
        }
        write!(f, ": {}", self.reason)
    }
}

/// Two schemas, compared.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SchemaDiff {
    /// The change as a whole.
    pub change: SchemaChange,
    /// Its parts.
    pub differences: Vec<Difference>,
}

/// Compares two schemas, each with the options it was compiled with.
///
/// *Wider* and *narrower* are proven; *incompatible* is shown by an instance for each direction, which both units have
/// judged. Anything else is undecided, and the differences say why.
///
/// Cost: unlike compiling, not linear in the size of the schemas, but bounded: by a limit of its own, and by the `steps` that
/// all comparisons of a caller may take together, of which this one takes away its own. A step is about a microsecond.
pub fn compare(old: (&CompiledSchema, &Options), new: (&CompiledSchema, &Options), steps: &mut u64) -> SchemaDiff {
    if old.0.digest == new.0.digest {
        return SchemaDiff { change: SchemaChange::Unchanged, differences: Vec::new() };
    }
    for ((schema, _), when) in [(old, "before"), (new, "now")] {
        if schema.unit.is_none() {
            let finding = schema.findings.iter().find(|finding| !finding.kind.compiles());
            let why = finding.map_or(String::new(), |finding| format!(": {}: {}", finding.kind, finding.detail));
            return undecided(format!("the schema does not compile {when}{why}"));
        }
    }
    compare_sources(old, new, steps).unwrap_or_else(|| undecided("the source of a schema is not at hand".to_owned()))
}

/// What differs between two JSON texts beside schemas, as that of two tools' entries; nothing is told of what is no JSON.
pub fn definition_differences(old: &str, new: &str) -> Vec<Difference> {
    if old == new {
        return Vec::new();
    }
    let (mut old_buf, mut new_buf) = (TapeBuf::new(), TapeBuf::new());
    match (old_buf.read_text(old, SCHEMA_READ), new_buf.read_text(new, SCHEMA_READ)) {
        (Ok(old), Ok(new)) => annotations::differences([old, new]),
        _ => Vec::new(),
    }
}

fn undecided(reason: String) -> SchemaDiff {
    let difference = Difference { effect: Effect::Undecided, pointer: String::new(), reason, witness: None };
    SchemaDiff { change: SchemaChange::Undecided, differences: vec![difference] }
}

fn compare_sources(
    old: (&CompiledSchema, &Options),
    new: (&CompiledSchema, &Options),
    steps: &mut u64,
) -> Option<SchemaDiff> {
    let ((old, old_options), (new, new_options)) = (old, new);
    let units = [old.unit.as_deref()?, new.unit.as_deref()?];
    let (mut old_buf, mut new_buf) = (TapeBuf::new(), TapeBuf::new());
    let tapes = [
        old_buf.read_text(old.source.as_deref()?, SCHEMA_READ).ok()?,
        new_buf.read_text(new.source.as_deref()?, SCHEMA_READ).ok()?,
    ];
    let bump = Bump::new();
    let [mut old_patterns, mut new_patterns] = [PatternCache::default(), PatternCache::default()];
    let (old_registry, old_root) = registry(&bump, old_options, tapes[Side::Old as usize]);
    let (new_registry, new_root) = registry(&bump, new_options, tapes[Side::New as usize]);
    let models = [
        Model::new(old_registry, old_options, &mut old_patterns),
        Model::new(new_registry, new_options, &mut new_patterns),
    ];
    let mut compare = Compare::new(models, [old_root, new_root], units);
    if compare.is_same() {
        return Some(cosmetic(annotations::differences(tapes)));
    }
    let (narrowing, widening) = (compare.obstacles(Side::Old, steps), compare.obstacles(Side::New, steps));
    if narrowing.is_empty() && widening.is_empty() {
        return Some(cosmetic(annotations::differences(tapes)));
    }
    Some(judged(narrowing, widening))
}

fn registry<'d>(bump: &'d Bump, options: &'d Options, tape: Tape<'d>) -> (Registry<'d>, Place) {
    let mut registry = Registry::new(bump, &options.documents, options.limits.subschemas_max);
    let root = registry.add(tape, 0, None, Dialect::of(options.draft));
    (registry, root)
}

fn cosmetic(differences: Vec<Difference>) -> SchemaDiff {
    SchemaDiff { change: SchemaChange::Cosmetic, differences }
}

/// The change, from what keeps the old schema from being within the new one, and the other way round.
fn judged(narrowing: Vec<Obstacle>, widening: Vec<Obstacle>) -> SchemaDiff {
    let is_shown = |obstacles: &[Obstacle]| obstacles.iter().any(|obstacle| obstacle.witness.is_some());
    let change = match (&narrowing[..], &widening[..]) {
        ([], _) => SchemaChange::Wider,
        (_, []) => SchemaChange::Narrower,
        (narrowing, widening) if is_shown(narrowing) && is_shown(widening) => SchemaChange::Incompatible,
        _ => SchemaChange::Undecided,
    };
    let differences = |obstacles: Vec<Obstacle>, effect: Effect| {
        obstacles.into_iter().map(move |Obstacle { pointer, reason, witness }| Difference {
            effect: if witness.is_some() { effect } else { Effect::Undecided },
            pointer,
            reason,
            witness,
        })
    };
    let narrowing = differences(narrowing, Effect::Narrower);
    SchemaDiff { change, differences: narrowing.chain(differences(widening, Effect::Wider)).collect() }
}

#[cfg(test)]
mod tests;
