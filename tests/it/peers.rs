//! The two validators that callgate is compared with.

use boon::{Compiler, Draft as BoonDraft, Format, SchemaIndex, Schemas};
use callgate::Draft;
use serde_json::Value;

/// Who disagrees.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Peer {
    Jsonschema,
    Boon,
}

/// One schema in both peers; none where a peer cannot take it.
pub(crate) struct Peers {
    jsonschema: Option<jsonschema::Validator>,
    boon: Option<(Schemas, SchemaIndex)>,
}

impl Peers {
    pub(crate) fn new(draft: Draft, schema: &Value) -> Peers {
        Peers { jsonschema: jsonschema_of(draft, schema), boon: boon_of(draft, schema) }
    }

    /// What each of them says that can.
    pub(crate) fn verdicts(&self, instance: &Value) -> Vec<(Peer, bool)> {
        let jsonschema = self.jsonschema.as_ref().map(|validator| (Peer::Jsonschema, validator.is_valid(instance)));
        let boon = self.boon.as_ref().map(|(schemas, at)| (Peer::Boon, schemas.validate(instance, *at).is_ok()));
        jsonschema.into_iter().chain(boon).collect()
    }

    /// Which of the two took the schema.
    pub(crate) fn took(&self) -> [bool; 2] {
        [self.jsonschema.is_some(), self.boon.is_some()]
    }
}

/// Formats do not assert, nothing is fetched.
pub(crate) fn jsonschema_of(draft: Draft, schema: &Value) -> Option<jsonschema::Validator> {
    let draft = match draft {
        Draft::D4 => jsonschema::Draft::Draft4,
        Draft::D6 => jsonschema::Draft::Draft6,
        Draft::D7 => jsonschema::Draft::Draft7,
        Draft::D2019 => jsonschema::Draft::Draft201909,
        Draft::D2020 => jsonschema::Draft::Draft202012,
    };
    // `$schema` says the draft if it is there.
    let draft = if schema.get("$schema").is_some() { draft.detect(schema) } else { draft };
    jsonschema::options().with_draft(draft).should_validate_formats(false).build(schema).ok()
}

fn boon_of(draft: Draft, schema: &Value) -> Option<(Schemas, SchemaIndex)> {
    const LOCATION: &str = "http://test.example/schema.json";
    let mut compiler = Compiler::new();
    compiler.set_default_draft(match draft {
        Draft::D4 => BoonDraft::V4,
        Draft::D6 => BoonDraft::V6,
        Draft::D7 => BoonDraft::V7,
        Draft::D2019 => BoonDraft::V2019_09,
        Draft::D2020 => BoonDraft::V2020_12,
    });
    // Up to draft 7 it asserts formats and cannot be asked not to.
    for name in ["date-time", "email", "ipv4"] {
        compiler.register_format(Format { name, func: |_| Ok(()) });
    }
    compiler.add_resource(LOCATION, schema.clone()).ok()?;
    let mut schemas = Schemas::new();
    let at = compiler.compile(LOCATION, &mut schemas).ok()?;
    Some((schemas, at))
}
