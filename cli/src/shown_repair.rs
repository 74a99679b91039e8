//! How a repair is shown: whole, or by its rules.

use std::io::{self, Write};

use callgate::{Repair, RepairRule};
use serde::Serialize;

use crate::output::as_printed;

/// A repair, or its rules alone where values are masked.
#[derive(Serialize)]
#[serde(untagged)]
pub enum ShownRepair {
    /// All of it.
    Whole(Repair),
    /// Paths, patch and arguments are the call's own.
    Masked {
        /// In the order of the steps.
        rules: Vec<RepairRule>,
    },
}

impl ShownRepair {
    /// `masked`: whether the call's own values and names are kept back.
    pub fn of(repair: Repair, masked: bool) -> ShownRepair {
        if masked {
            return ShownRepair::Masked { rules: repair.steps().map(|step| step.rule()).collect() };
        }
        ShownRepair::Whole(repair)
    }

    /// Writes it as text.
    pub fn write_human(&self, out: &mut dyn Write) -> io::Result<()> {
        match self {
            ShownRepair::Masked { rules } => rules.iter().try_for_each(|rule| writeln!(out, "repair: {rule}")),
            ShownRepair::Whole(repair) => {
                for step in repair.steps() {
                    writeln!(out, "repair: {} at {}", step.rule(), as_printed(step.path()))?;
                }
                writeln!(out, "repaired: {}", as_printed(repair.arguments()))
            }
        }
    }
}
