//! What was compiled, what a call runs of it and what either costs: for people who want to know why.

use callgate_vm::cost::{CostListing, Spending, judge_metered};
use callgate_vm::judge_traced;
use callgate_vm::listing::{Insn, Listing};
use callgate_vm::tape::{TapeBuf, TapeInstance};

use crate::schema::Schema;

impl Schema {
    /// The compiled program, to be printed: one line an instruction, under `name`.
    pub fn listing<'a>(&'a self, name: &'a str) -> Listing<'a> {
        Listing { name, unit: self.unit() }
    }

    /// As [`listing`](Self::listing), each instruction behind what it costs, and then what the whole costs.
    ///
    /// ```
    /// # use callgate::{Options, Schema};
    /// let (schema, _) = Schema::compile(r#"{"properties": {"seed": {"minimum": 1}}}"#, &Options::default())?;
    /// assert!(schema.cost_listing("roll").to_string().contains("\n  a call <= 1 + 2/member + name/16\n"));
    /// # Ok::<(), callgate::Refused>(())
    /// ```
    pub fn cost_listing<'a>(&'a self, name: &'a str) -> CostListing<'a> {
        CostListing { name, unit: self.unit() }
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

    /// Runs the accept code as [`trace`](Self::trace) does, and answers what each instruction spent. Nothing is spent
    /// where the arguments cannot be read.
    pub fn spending(&self, arguments: &[u8]) -> Spending<'_> {
        let mut buf = TapeBuf::new();
        let bounds = self.bounds();
        match buf.read(arguments, self.read_options()) {
            Ok(tape) => judge_metered(self.unit(), TapeInstance::new(tape, 0), bounds).1,
            Err(_) => Spending { fuel_max: bounds.fuel_max, ..Spending::default() },
        }
    }
}
