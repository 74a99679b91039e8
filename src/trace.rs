//! What was compiled, and what a call runs of it: for people who want to know why.

use callgate_vm::judge_traced;
use callgate_vm::listing::{Insn, Listing};
use callgate_vm::tape::{TapeBuf, TapeInstance};

use crate::schema::Schema;

impl Schema {
    /// The compiled program, to be printed: one line an instruction, under `name`.
    pub fn listing<'a>(&'a self, name: &'a str) -> Listing<'a> {
        Listing { name, unit: self.unit() }
    }

    /// Runs the accept code on `arguments`, calling `each` before every instruction with the fuel used so far.
    ///
    /// Answers the fuel used in all; 0, and no call of `each`, where the arguments cannot be read. The verdict is
    /// that of [`check`](Schema::check), which is also what says why. The run is over parsed arguments, whether or
    /// not a check would have read them in place. Cost: allocates, for every call anew.
    ///
    /// ```
    /// # use callgate::{Options, Schema};
    /// let (schema, _) = Schema::compile(r#"{"type": "object", "maxProperties": 1}"#, &Options::default())?;
    /// let mut path = Vec::new();
    /// let fuel = schema.trace(br#"{"seed": 1}"#, |used, insn| path.push((used, insn.to_string())));
    /// assert!(!path.is_empty() && fuel >= path[path.len() - 1].0);
    /// # Ok::<(), callgate::Refused>(())
    /// ```
    pub fn trace(&self, arguments: &[u8], mut each: impl FnMut(u64, Insn<'_>)) -> u64 {
        let mut buf = TapeBuf::new();
        let Ok(tape) = buf.read(arguments, self.read_options()) else {
            return 0;
        };
        let unit = self.unit().as_ref();
        let trace = |pc, used| each(used, Insn { unit, pc });
        let (_, used) = judge_traced(unit, TapeInstance::new(tape, 0), self.bounds(), trace);
        used
    }
}
