//! Bounds on what the compiler makes, watched while it is made.

use ahash::HashSet;

use crate::ir::Model;
use crate::location::Locations;
use crate::lower::{Low, LowTable, Op};
use crate::pattern_cache::PatternNo;

/// Bytes left for one unit. Counted while lowering, so that no schema makes the compiler itself grow beyond it.
#[derive(Debug)]
pub(crate) struct LowerBudget {
    bytes_max: u64,
    left: u64,
    /// Patterns that have been counted: a unit has each once.
    patterns: HashSet<PatternNo>,
}

impl LowerBudget {
    pub(crate) fn new(bytes_max: u64) -> Self {
        LowerBudget { bytes_max, left: bytes_max, patterns: HashSet::default() }
    }

    pub(crate) fn bytes_max(&self) -> u64 {
        self.bytes_max
    }

    /// What a pattern adds to the unit.
    fn pattern_bytes(&mut self, pattern: PatternNo, model: &Model<'_, '_>) -> u64 {
        if self.patterns.insert(pattern) { model.pattern(pattern).memory() as u64 } else { 0 }
    }

    /// Counts a block. Answers whether it still fits.
    pub(crate) fn spend(&mut self, ops: &[Op<'_>], model: &Model<'_, '_>) -> bool {
        let mut bytes = 8;
        for op in ops {
            bytes += op_bytes(op, &model.registry.locations) + self.patterns_bytes(&op.low, model);
        }
        match self.left.checked_sub(bytes) {
            Some(left) => {
                self.left = left;
                true
            }
            None => false,
        }
    }

    /// What the patterns add that an instruction runs.
    fn patterns_bytes(&mut self, low: &Low<'_>, model: &Model<'_, '_>) -> u64 {
        match low {
            Low::Matches(pattern) => self.pattern_bytes(*pattern, model),
            Low::PatternProperties(pairs) => pairs.iter().map(|(pattern, _)| self.pattern_bytes(*pattern, model)).sum(),
            Low::ObjectTable(table) | Low::MarkNames(table) | Low::AdditionalProperties { table, .. } => {
                table.patterns.iter().map(|(pattern, _)| self.pattern_bytes(*pattern, model)).sum()
            }
            _ => 0,
        }
    }
}

/// What an instruction and what belongs to it take, about.
fn op_bytes(op: &Op<'_>, locations: &Locations<'_>) -> u64 {
    let operands = match &op.low {
        Low::Required(table)
        | Low::ObjectTable(table)
        | Low::Properties(table)
        | Low::MarkNames(table)
        | Low::AdditionalProperties { table, .. } => table_bytes(table),
        Low::DependentRequired(names) => names.iter().map(|name| name.len() as u64 + 4).sum(),
        Low::PatternProperties(pairs) => pairs.len() as u64 * 8,
        Low::AnyOf { branches, .. } | Low::OneOf { branches, .. } => branches.len() as u64 * 4,
        Low::PrefixItems(blocks) => blocks.len() as u64 * 4,
        _ => 0,
    };
    let note = op.note.as_ref().map_or(0, |note| {
        let texts: usize = note.texts.iter().map(|text| text.len()).sum();
        let description = note.description.map_or(0, str::len);
        let location = locations.bytes_at(note.location, note.keyword);
        (location + description + texts + 64) as u64
    });
    8 + operands + note
}

fn table_bytes(table: &LowTable<'_>) -> u64 {
    let names: usize = table.names.iter().map(|name| name.name.len() + 16).sum();
    (names + table.patterns.len() * 12 + 16) as u64
}
