//! Lowering: schemas become blocks of instructions with labels.
//!
//! A *block* judges one instance by one schema. It is named by the schema's place, the dynamic scope it runs in, and
//! what it is for ([`BlockKind`]). Lowering starts with the root schema, judged and explained, and goes on with every
//! block that another one names, from a list: nothing recurses.
//!
//! The dynamic scope is settled here. What `$dynamicRef` and `$recursiveRef` lead to depends only on which resource
//! first brought each dynamic anchor into scope; a block is therefore lowered once for each such assignment that
//! reaches it ([`Scopes`]), and the references become plain calls. Tools have one assignment; the 2020-12 metaschema
//! with its eight resources has one.

pub(crate) mod accept;
mod composition;
mod cycle;
mod explain;
pub(crate) mod graph;
mod scope;

use std::rc::Rc;

use ahash::HashMap;
use callgate_vm::failure::Wording;
use callgate_vm::insn::{Flags, Types, Word};
use callgate_vm::opcode::Opcode;
use callgate_vm::tape::Node;

use crate::dialect::Keyword;
use crate::finding::{Finding, FindingKind};
use crate::ir::{Model, Schema};
use crate::limits_check::LowerBudget;
use crate::location::LocationId;
use crate::pattern_cache::PatternNo;
use crate::refs::Place;

pub(crate) use composition::{Context, Reading};
pub(crate) use scope::{ScopeId, Scopes};

use composition::{Claims, Ends, NAMES_OF_ALL_MAX};

/// An index into [`Program::blocks`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct BlockId(pub(crate) u32);

/// What a block is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum BlockKind {
    /// Judges; stops at the first failure.
    Judge,
    /// Judges, and marks what it evaluates.
    Track,
    /// Only marks what the schema evaluates; never fails.
    Mark,
    /// Judges to the end, in source order, with notes.
    Explain,
}

/// Names a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct BlockKey {
    pub(crate) place: Place,
    pub(crate) context: Context,
    pub(crate) kind: BlockKind,
}

/// A lowered instruction: one word once the blocks have their pcs.
///
/// A word and its operands are plain data in the arena: blocks are copied and dropped for nothing.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Low<'d> {
    /// An instruction that names no code and no pool.
    Plain(Word),
    /// One with a number of the schema: the constructor, and the number's place.
    Number(fn(callgate_vm::insn::NumberId) -> Word, Place, Node),
    Enum(Place, Node),
    Const(Place, Node),
    Matches(PatternNo),
    /// Heads explaining code: the judging code of the same schema.
    AsJudged(BlockId),
    /// Heads explaining code about members: the judging code's table for them.
    Survey(&'d LowTable<'d>),
    Call {
        block: BlockId,
        memo: bool,
        track: bool,
    },
    /// Skips so many instructions for instances of these types.
    SkipType {
        types: Types,
        skip: usize,
    },
    Required(&'d LowTable<'d>),
    DependentRequired(&'d [&'d str]),
    ObjectTable(&'d LowTable<'d>),
    Properties(&'d LowTable<'d>),
    PatternProperties(&'d [(PatternNo, BlockId)]),
    AdditionalProperties {
        flags: Flags,
        table: &'d LowTable<'d>,
    },
    PropertyNames(BlockId),
    DependentSchema(&'d str, BlockId),
    PrefixItems(&'d [BlockId]),
    Items {
        start: u32,
        block: BlockId,
        /// The least and the most elements, where they are counted on the way.
        counts: Option<(u32, u32)>,
    },
    /// Both bounds at once.
    InRange {
        lower: NumberAt,
        upper: NumberAt,
    },
    /// Runs the branch that the text of the member `name` means.
    SwitchTag {
        name: &'d str,
        cases: &'d [(&'d str, BlockId)],
    },
    Contains {
        flags: Flags,
        block: BlockId,
        min: u32,
        max: u32,
    },
    AnyOf {
        flags: Flags,
        branches: &'d [BlockId],
    },
    OneOf {
        flags: Flags,
        branches: &'d [BlockId],
    },
    Not(BlockId),
    If {
        flags: Flags,
        condition: BlockId,
        then: Option<BlockId>,
        otherwise: Option<BlockId>,
    },
    MarkBy(BlockId),
    MarkNames(&'d LowTable<'d>),
    UnevaluatedProperties {
        flags: Flags,
        block: Option<BlockId>,
    },
    UnevaluatedItems {
        flags: Flags,
        block: Option<BlockId>,
    },
}

/// A bound: where its number stands.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NumberAt {
    pub(crate) place: Place,
    pub(crate) node: Node,
    pub(crate) exclusive: bool,
}

/// A property table before it has its pool.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LowTable<'d> {
    pub(crate) names: &'d [LowName<'d>],
    pub(crate) patterns: &'d [(PatternNo, Option<BlockId>)],
    pub(crate) extra: LowExtra,
}

impl LowTable<'_> {
    /// Whether it says nothing of any member.
    pub(crate) fn is_empty(&self) -> bool {
        self.names.is_empty() && self.patterns.is_empty() && self.extra == LowExtra::Skip
    }
}

/// What a schema itself says of members, as judging code has it.
#[derive(Clone, Copy, Debug)]
struct OwnTable<'d> {
    table: &'d LowTable<'d>,
    /// Required names, where they are more than `object_table` watches.
    beyond: Option<&'d LowTable<'d>>,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct LowName<'d> {
    pub(crate) name: &'d str,
    pub(crate) block: Option<BlockId>,
    pub(crate) declared: bool,
    pub(crate) required: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LowExtra {
    Skip,
    Forbid,
    /// Judged by the block; by nothing where there is none, but claimed all the same.
    Run(Option<BlockId>),
}

/// A note before its strings are in their pool.
#[derive(Clone, Debug)]
pub(crate) struct LowNote<'d> {
    pub(crate) keyword: Option<Keyword>,
    /// The schema object that has the keyword; its pointer is written when the unit is.
    pub(crate) location: LocationId,
    pub(crate) description: Option<&'d str>,
    pub(crate) types: Types,
    pub(crate) wording: Wording,
    pub(crate) texts: &'d [&'d str],
    pub(crate) path: LowPath,
}

/// The evaluation path from a block's start.
#[derive(Clone, Copy, Debug)]
pub(crate) enum LowPath {
    Here,
    Keyword(Keyword),
    Element(Keyword, usize),
}

/// An instruction with what is said when it fails.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Op<'d> {
    pub(crate) low: Low<'d>,
    pub(crate) note: Option<&'d LowNote<'d>>,
}

/// A lowered block.
#[derive(Debug)]
pub(crate) struct Block<'d> {
    pub(crate) key: BlockKey,
    pub(crate) ops: &'d mut [Op<'d>],
    /// Stands for this block: it does nothing but call it.
    pub(crate) alias: Option<BlockId>,
}

/// All blocks of a schema.
#[derive(Debug)]
pub(crate) struct Program<'d> {
    pub(crate) blocks: Vec<Block<'d>>,
    pub(crate) accept: BlockId,
    pub(crate) explain: BlockId,
    /// Whether instances are visited more than once as a matter of course.
    pub(crate) revisits: bool,
    /// Whether some object must not have names that are unknown.
    pub(crate) has_ends: bool,
    /// Whether there is a `oneOf` in what is read otherwise than written: a branch that fails by that alone may leave
    /// another as the only one.
    pub(crate) counts_branches: bool,
}

impl<'d> Program<'d> {
    /// The block that this one stands for: the end of a chain of aliases. In-place cycles have been refused, so chains end.
    pub(crate) fn stands_for(&self, block: BlockId) -> BlockId {
        let mut block = block;
        while let Some(next) = self.blocks[block.0 as usize].alias {
            block = next;
        }
        block
    }

    /// The instructions of the block that this one stands for.
    pub(crate) fn ops(&self, block: BlockId) -> &[Op<'d>] {
        self.blocks[self.stands_for(block).0 as usize].ops
    }
}

impl Op<'_> {
    /// The types that the instruction tests for, if it is a test of types.
    pub(crate) fn type_test(&self) -> Option<Types> {
        match &self.low {
            Low::Plain(word) if word.opcode() == Opcode::TypeIs => Some(Types(word.a)),
            _ => None,
        }
    }
}

/// Lowers the schema at `root`. What is wrong becomes findings of the model's registry; `None` if the program is too
/// large to go on or has a cycle.
pub(crate) fn lower<'d>(
    model: &mut Model<'_, 'd>,
    root: Place,
    reading: Reading,
    budget: LowerBudget,
) -> Option<Program<'d>> {
    // Most schemas have two blocks: one judges and one explains.
    let blocks = 2 * model.registry.sites().len();
    let mut lowerer = Lowerer {
        model,
        scopes: Scopes::default(),
        ids: vec![[None; 4]; blocks / 2],
        other_ids: HashMap::default(),
        own_tables: vec![None; blocks / 2],
        other_tables: HashMap::default(),
        reading,
        claims: HashMap::default(),
        ends: HashMap::default(),
        names_left: NAMES_OF_ALL_MAX,
        has_ends: false,
        counts_branches: false,
        keys: Vec::with_capacity(blocks),
        blocks: Vec::with_capacity(blocks),
        budget,
    };
    let context = lowerer.outermost();
    let accept = lowerer.block(root, context, BlockKind::Judge);
    let explain = lowerer.block(root, context, BlockKind::Explain);
    lowerer.lower_all()?;
    let Lowerer { blocks, has_ends, counts_branches, .. } = lowerer;
    let mut program = Program { blocks, accept, explain, revisits: false, has_ends, counts_branches };
    if let Some(block) = graph::in_place_cycle(&program) {
        cycle::report(model, program.blocks[block.0 as usize].key.place);
        return None;
    }
    graph::choose_memos(&mut program);
    program.revisits = program.blocks.iter().flat_map(|block| &*block.ops).any(|op| {
        matches!(
            op.low,
            Low::Call { memo: true, .. } | Low::UnevaluatedProperties { .. } | Low::UnevaluatedItems { .. }
        )
    });
    if model.options.peephole {
        crate::peephole::run(&mut program, model.registry.bump);
    }
    if model.options.fusion {
        crate::fusion::run(&mut program, model, model.registry.bump);
    }
    Some(program)
}

/// Lowers blocks until no more are named.
struct Lowerer<'l, 'm, 'd> {
    model: &'l mut Model<'m, 'd>,
    scopes: Scopes<'d>,
    /// By site and kind, outside all dynamic scopes.
    ids: Vec<[Option<BlockId>; 4]>,
    /// All others.
    other_ids: HashMap<BlockKey, BlockId>,
    /// By site, as for blocks.
    own_tables: Vec<Option<OwnTable<'d>>>,
    other_tables: HashMap<(Place, Context), OwnTable<'d>>,
    reading: Reading,
    /// What compositions say of members, by the places where they start; `None` for those that are too large.
    claims: HashMap<(Place, ScopeId), Option<Rc<Claims<'d>>>>,
    /// How names are held against those that are known, by the outermost schemas of compositions.
    ends: HashMap<(Place, ScopeId), Ends<'d>>,
    /// Names that compositions may still be looked through for.
    names_left: usize,
    /// See [`Program`].
    has_ends: bool,
    counts_branches: bool,
    keys: Vec<BlockKey>,
    blocks: Vec<Block<'d>>,
    budget: LowerBudget,
}

impl<'d> Lowerer<'_, '_, 'd> {
    /// The block's id; it is lowered in its turn.
    fn block(&mut self, place: Place, context: Context, kind: BlockKind) -> BlockId {
        let context = Context { scope: self.enter(place, context.scope), ..context };
        let key = BlockKey { place, context, kind };
        let next = BlockId(self.keys.len() as u32);
        let id = match self.model.registry.site_id(place) {
            Some(site) if context.is_plain() => {
                let len = self.ids.len().max(self.model.registry.sites().len());
                self.ids.resize(len, [None; 4]);
                *self.ids[site as usize][kind as usize].get_or_insert(next)
            }
            _ => *self.other_ids.entry(key).or_insert(next),
        };
        if id == next {
            self.keys.push(key);
        }
        id
    }

    /// The scope once the resource of `place` has been entered.
    fn enter(&mut self, place: Place, scope: ScopeId) -> ScopeId {
        if !self.model.registry.has_dynamic {
            return scope;
        }
        match self.model.registry.site(place) {
            Some(site) => self.scopes.enter(scope, self.model.registry.resource(site.resource)),
            None => scope,
        }
    }

    fn lower_all(&mut self) -> Option<()> {
        // Filled anew for each block, which takes what it needs.
        let mut ops = Vec::with_capacity(16);
        while self.blocks.len() < self.keys.len() {
            let key = self.keys[self.blocks.len()];
            match key.kind {
                BlockKind::Judge => self.judge(key.place, key.context, false, 0, &mut ops),
                BlockKind::Track => self.judge(key.place, key.context, true, 0, &mut ops),
                BlockKind::Mark => self.mark(key.place, key.context, &mut ops),
                BlockKind::Explain => {
                    self.explain(key.place, key.context, &mut ops);
                    self.head(key, &mut ops);
                }
            }
            if !self.budget.spend(&ops, self.model) {
                return self.too_large(format!("the program would exceed {} bytes", self.budget.bytes_max()));
            }
            if self.scopes.are_too_many() {
                return self.too_large(format!("more than {} dynamic scopes", scope::SCOPES_MAX));
            }
            let own = self.model.registry.bump.alloc_slice_copy(&ops);
            ops.clear();
            self.blocks.push(Block { key, ops: own, alias: None });
        }
        Some(())
    }

    /// Puts the judging code before the explaining one: what is accepted there need not be explained.
    fn head(&mut self, key: BlockKey, ops: &mut Vec<Op<'d>>) {
        let root = self.blocks.len() == 1;
        // A schema that is `false` is known by its first instruction.
        let is_false = self.schema(key.place).always.is_some();
        if !root && !is_false && !ops.is_empty() {
            let judging = self.block(key.place, key.context, BlockKind::Judge);
            ops.insert(0, Op { low: Low::AsJudged(judging), note: None });
        }
    }

    fn too_large(&mut self, detail: String) -> Option<()> {
        self.model.registry.findings.push(Finding::new(FindingKind::ProgramLimit, "", detail));
        None
    }

    fn schema(&mut self, place: Place) -> &'d Schema<'d> {
        self.model.schema(place)
    }

    /// What a reference leads to in the scope.
    fn dynamic_target(&self, scope: ScopeId, target: Place, anchor: Option<&str>) -> Place {
        anchor.and_then(|anchor| self.scopes.lookup(scope, anchor)).unwrap_or(target)
    }
}

/// The name under which `$recursiveAnchor` is kept among the dynamic anchors; no anchor can have it.
pub(crate) const RECURSIVE_ANCHOR: &str = "";
