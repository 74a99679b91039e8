//! Rewrites of accept code, as named rules over one block.
//!
//! ```text
//! union_of_types    any_of {type_is A} {type_is B}     ->  type_is A|B
//! nullable_union    any_of {type_is A} {rest}          ->  skip_type A; rest
//! single_branch     any_of {rest}                      ->  rest
//! passing_branch    any_of {} ..                       ->  (nothing)
//! nothing_to_run    items {} / call {} ..             ->  (nothing)
//! tail_call         a block that is only call B        ->  B itself
//! ```
//!
//! Each rule keeps the verdict on every instance; a test runs all data with the rules off and compares. Only judging
//! blocks are rewritten: explaining ones keep the shape of the schema, tracking ones need every branch.

use bumpalo::Bump;
use callgate_vm::insn::Flags;
use callgate_vm::opcode::build;

use crate::lower::accept::only_type_test;
use crate::lower::{Block, BlockId, BlockKind, Low, Op, Program};

/// A block of at most so many instructions is copied to where it is run in place; a longer one is called.
const INLINE_OPS_MAX: usize = 8;

/// A block of more instructions is not rewritten any further.
const BLOCK_OPS_MAX: usize = 64;

/// Applies the rules until none fires, and then once names the blocks that stand for others.
pub(crate) fn run<'d>(program: &mut Program<'d>, bump: &'d Bump) {
    for at in 0..program.blocks.len() {
        if program.blocks[at].key.kind == BlockKind::Judge {
            while let Some(ops) = rewrite_unions(program, at, bump) {
                program.blocks[at].ops = bump.alloc_slice_copy(&ops);
            }
        }
    }
    drop_idle(program, bump);
    for at in 0..program.blocks.len() {
        program.blocks[at].alias = tail_call(&program.blocks[at]);
    }
}

/// The block's instructions after one union has been rewritten; `None` where there is none to rewrite.
fn rewrite_unions<'d>(program: &Program<'d>, at: usize, bump: &'d Bump) -> Option<Vec<Op<'d>>> {
    let ops = &program.blocks[at].ops;
    // A skip counts instructions: a block that has one already is left as it is. And no block is to grow without end.
    if ops.len() > BLOCK_OPS_MAX || ops.iter().any(|op| matches!(op.low, Low::SkipType { .. })) {
        return None;
    }
    let (index, rewritten) = ops.iter().enumerate().find_map(|(index, op)| match &op.low {
        Low::AnyOf { flags, branches } if *flags == Flags::NONE => {
            Some((index, rewrite_union(program, at, branches, bump)?))
        }
        _ => None,
    })?;
    let mut result = ops[..index].to_vec();
    result.extend(rewritten.into_iter().map(|low| Op { low, note: None }));
    result.extend_from_slice(&ops[index + 1..]);
    Some(result)
}

fn rewrite_union<'d>(
    program: &Program<'d>,
    within: usize,
    branches: &[BlockId],
    bump: &'d Bump,
) -> Option<Vec<Low<'d>>> {
    let block = |id: &BlockId| &program.blocks[id.0 as usize];
    // passing_branch
    if branches.iter().any(|id| block(id).ops.is_empty()) {
        return Some(Vec::new());
    }
    let tested = |id: &BlockId| only_type_test(block(id).ops);
    let types = branches.iter().filter_map(tested).reduce(callgate_vm::insn::Types::union);
    let rest: Vec<BlockId> = branches.iter().filter(|id| tested(id).is_none()).copied().collect();
    match (types, rest.as_slice()) {
        // union_of_types
        (Some(types), []) => Some(vec![Low::Plain(build::type_is(types))]),
        // nullable_union
        (Some(types), [one]) => {
            let mut body = inline(program, within, *one);
            let skip = body.len();
            body.insert(0, Low::SkipType { types, skip });
            Some(body)
        }
        (Some(types), rest) => {
            let branches = bump.alloc_slice_copy(rest);
            Some(vec![Low::SkipType { types, skip: 1 }, Low::AnyOf { flags: Flags::NONE, branches }])
        }
        // single_branch
        (None, [one]) => Some(inline(program, within, *one)),
        (None, _) => None,
    }
}

/// The block's instructions, or a call of it.
fn inline<'d>(program: &Program<'d>, within: usize, id: BlockId) -> Vec<Low<'d>> {
    let block = &program.blocks[id.0 as usize];
    let fits = block.ops.len() <= INLINE_OPS_MAX && id.0 as usize != within;
    if fits && block.key.kind == BlockKind::Judge {
        return block.ops.iter().map(|op| op.low).collect();
    }
    vec![Low::Call { block: id, memo: false, track: false }]
}

/// Drops the instructions that only run blocks without instructions. Blocks that become empty so are left to run: the
/// saving is not worth another round.
fn drop_idle<'d>(program: &mut Program<'d>, bump: &'d Bump) {
    let empty: Vec<bool> = program.blocks.iter().map(|block| block.ops.is_empty()).collect();
    let idle = |low: &Low<'_>| match low {
        Low::Items { block, .. } | Low::PropertyNames(block) | Low::DependentSchema(_, block) => {
            empty[block.0 as usize]
        }
        Low::Call { block, .. } => empty[block.0 as usize],
        _ => false,
    };
    for block in program.blocks.iter_mut().filter(|block| block.key.kind == BlockKind::Judge) {
        // A skip counts instructions.
        let skips = |op: &Op<'_>| matches!(op.low, Low::SkipType { .. });
        if block.ops.iter().any(|op| idle(&op.low)) && !block.ops.iter().any(skips) {
            let rest: Vec<Op<'d>> = block.ops.iter().filter(|op| !idle(&op.low)).copied().collect();
            block.ops = bump.alloc_slice_copy(&rest);
        }
    }
}

/// The block that this one only calls.
fn tail_call(block: &Block<'_>) -> Option<BlockId> {
    match &*block.ops {
        [Op { low: Low::Call { block: callee, memo: false, .. }, .. }] if block.key.kind == BlockKind::Judge => {
            Some(*callee)
        }
        _ => None,
    }
}
