//! Reading: field lines, lax checks, coerced copies; and that a reading by the schema agrees with the machine.

use callgate::{Options, Schema};
use callgate_vm::execute::Bounds;
use callgate_vm::instance::Halt;
use callgate_vm::judge;
use callgate_vm::limits::NESTED_MAX;
use callgate_vm::read::{Mode, Reading, read};
use callgate_vm::scratch::{Scratch, Stack};
use callgate_vm::tape::{ReadOptions, TapeBuf, TapeInstance};

use crate::random::Rng;
use crate::{instances, schemas};

// --- the machine and the reading ----------------------------------------------------------------------------------

/// Schemas in a run, and instances for each.
const SCHEMAS: u64 = 3_000;
const INSTANCES: usize = 6;

/// What the machine says, what a reading by the schema says, and how many failures that lists.
fn both(schema: &Schema, text: &str) -> (Result<bool, Halt>, Result<bool, Halt>, usize) {
    let bounds = Bounds { fuel_max: 10_000_000, depth_max: 256, memo_max: 1 << 20, nested_max: NESTED_MAX };
    let mut tape = TapeBuf::new();
    let options = ReadOptions { depth_max: 256, bytes_max: 1 << 20, strict: true };
    let tape = tape.read(text.as_bytes(), options).expect("it is JSON");
    let (mut stack, mut scratch, mut reading) = (Stack::default(), Scratch::default(), Reading::default());
    let judged = judge(schema.unit(), &mut TapeInstance::new(tape, 0), Some(&mut stack), &mut scratch, &bounds);
    let unit = schema.unit();
    let read = read(unit, tape, Mode::Schema, &mut stack, &mut scratch, &mut reading, &bounds, 1_000);
    (judged, read, reading.failures().len())
}

#[test]
fn a_reading_by_the_schema_agrees_with_the_machine() {
    for seed in 0..SCHEMAS {
        let mut rng = Rng::new(seed);
        let (draft, schema) = schemas::schema(&mut rng);
        let options = Options { draft, assert_formats: true, ..Options::default() };
        let Ok((compiled, _)) = Schema::compile(schema.to_string(), &options) else {
            continue;
        };
        for _ in 0..INSTANCES {
            let fitting = instances::fitting(&mut rng, &schema);
            for instance in [instances::changed(&mut rng, &fitting), fitting] {
                let (judged, read, failures) = both(&compiled, &instance.to_string());
                assert_eq!(judged, read, "seed {seed}: {schema} on {instance}");
                assert_eq!(read == Ok(true), failures == 0, "seed {seed}: {schema} on {instance}");
            }
        }
    }
}
