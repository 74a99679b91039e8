//! Emission: blocks get their pcs, names and numbers their pools, notes their pcs.
//!
//! Blocks are laid out in the order in which the root leads to them, accept code first. Nothing here depends on the
//! order of a hash map, so the same program gives the same unit.

use std::borrow::Cow;
use std::sync::Arc;

use ahash::HashMap;
use callgate_vm::insn::{
    EnumId, Flags, Len, ListId, NumberId, PatternId, SwitchId, TableId, Target, Types, ValueId, Word,
};
use callgate_vm::instance::View;
use callgate_vm::limits::LOOK_OPS_MAX;
use callgate_vm::names::{NameIndex, TextKey};
use callgate_vm::number::Number;
use callgate_vm::opcode::{self, Opcode, build};
use callgate_vm::tape::Node;
use callgate_vm::unit::{
    BadUnit, EnumSet, Extra, Guard, Note, NotePath, PoolNumber, StrId, Table, TableName, Tag, TagSwitch, Unit,
    UnitParts,
};

use crate::dialect::Keyword;
use crate::ir::Model;
use crate::location::Pointer;
use crate::lower::graph::blocks_of;
use crate::lower::{Block, BlockId, BlockKind, Low, LowExtra, LowNote, LowPath, LowTable, Op, Program};
use crate::pattern_cache::PatternNo;
use crate::refs::Place;
use crate::string_pool::StringPool;

/// Makes the unit. Errors: a fault of this compiler.
pub(crate) fn emit<'d>(program: &Program<'d>, model: &Model<'_, 'd>, digest: [u8; 32]) -> Result<Unit, BadUnit> {
    let layout = Layout::new(program);
    let words = layout.words;
    let parts = UnitParts {
        code: Vec::with_capacity(words),
        notes: Vec::with_capacity(words / 2),
        note_texts: Vec::with_capacity(words / 2),
        note_at: Vec::with_capacity(words / 2),
        tables: Vec::with_capacity(words / 4),
        ..UnitParts::default()
    };
    let mut emitter = Emitter {
        program,
        model,
        layout: &layout,
        parts,
        strings: StringPool::with_capacity(words, model.source_bytes() + 32 * words),
        keywords: [StrId::NONE; Keyword::ALL.len()],
        numbers: HashMap::default(),
        values: HashMap::default(),
        patterns: HashMap::default(),
        lists: HashMap::default(),
        own_tables: HashMap::default(),
        first_notes: Vec::with_capacity(4 * words),
        more_notes: HashMap::default(),
        pointer: Pointer::with_room(),
    };
    for section in SECTIONS {
        if section == Section::Explain {
            emitter.parts.explain_at = emitter.parts.code.len() as u32;
        }
        emitter.section(section);
    }
    (emitter.parts.accept_guard, emitter.parts.accept) = emitter.guarded(Some(program.accept));
    emitter.parts.explain = layout.pc(program.explain);
    emitter.parts.digest = digest;
    emitter.parts.revisits = program.revisits;
    emitter.values_text();
    (emitter.parts.text, emitter.parts.strings) = emitter.strings.into_parts();
    Unit::new(emitter.parts)
}

/// Where each block lies: accept code first, each section in the order in which the root leads to its blocks.
struct Layout {
    order: Vec<BlockId>,
    laid: Vec<Laid>,
    words: usize,
}

/// Where a block lies, and what is known of it.
struct Laid {
    /// None for a block that nothing runs.
    pc: Option<u32>,
    /// Instructions; running a block that has none is running nothing.
    len: u32,
    is_leaf: bool,
    stands_for: BlockId,
}

/// The sections, in their order.
const SECTIONS: [Section; 2] = [Section::Accept, Section::Explain];

#[derive(Clone, Copy, PartialEq, Eq)]
enum Section {
    Accept,
    Explain,
}

impl Section {
    fn of(block: &Block<'_>) -> Section {
        if block.key.kind == BlockKind::Explain { Section::Explain } else { Section::Accept }
    }
}

impl Layout {
    fn new(program: &Program<'_>) -> Layout {
        let laid = (0..program.blocks.len()).map(|at| {
            let len = program.blocks[at].ops.len() as u32;
            Laid { pc: None, len, is_leaf: true, stands_for: program.stands_for(BlockId(at as u32)) }
        });
        let order = Vec::with_capacity(program.blocks.len());
        let mut layout = Layout { order, laid: laid.collect(), words: 0 };
        layout.find_order(program);
        for section in SECTIONS {
            for block in &layout.order {
                if Section::of(&program.blocks[block.0 as usize]) == section {
                    let laid = &mut layout.laid[block.0 as usize];
                    laid.pc = Some(layout.words as u32);
                    layout.words += laid.len as usize + 1;
                }
            }
        }
        layout
    }

    /// The blocks that the root leads to. The order is its own queue: what comes after `at` is still to be followed.
    fn find_order(&mut self, program: &Program<'_>) {
        self.enter(program.accept);
        self.enter(program.explain);
        let mut at = 0;
        while let Some(block) = self.order.get(at).copied() {
            let mut all_leaves = true;
            for op in program.blocks[block.0 as usize].ops.iter() {
                all_leaves &= is_leaf(&op.low);
                if !matches!(op.low, Low::Plain(_)) {
                    blocks_of(&op.low).for_each(|block| self.enter(block));
                }
            }
            self.laid[block.0 as usize].is_leaf = all_leaves;
            at += 1;
        }
    }

    fn enter(&mut self, block: BlockId) {
        let block = self.laid[block.0 as usize].stands_for;
        let pc = &mut self.laid[block.0 as usize].pc;
        if pc.is_none() {
            *pc = Some(0);
            self.order.push(block);
        }
    }

    /// What is run in the block's stead.
    fn laid(&self, block: BlockId) -> &Laid {
        &self.laid[self.laid[block.0 as usize].stands_for.0 as usize]
    }

    fn pc(&self, block: BlockId) -> u32 {
        self.laid(block).pc.unwrap_or(0)
    }

    fn target(&self, block: BlockId) -> Target {
        match *self.laid(block) {
            Laid { pc: Some(pc), len, is_leaf, .. } if len > 0 => Target::new(pc, is_leaf, len == 1),
            _ => Target::NONE,
        }
    }

    fn maybe(&self, block: Option<BlockId>) -> Target {
        block.map_or(Target::NONE, |block| self.target(block))
    }
}

/// The guard that the block's first instructions make, and how many they are.
fn guard(ops: &[Op<'_>]) -> (Guard, usize) {
    let mut guard = Guard::OPEN;
    let mut head = 0;
    if let Some(Op { low: Low::SkipType { types, skip }, .. }) = ops.first()
        && skip + 1 == ops.len()
    {
        guard.pass = *types;
        head = 1;
    }
    if let Some(types) = ops.get(head).and_then(Op::type_test) {
        guard.admit = types;
        head += 1;
    }
    (guard, head)
}

/// Whether a look tells what the instructions say of a value: see [`Target::with_look`].
fn is_told_at_a_look(program: &Program<'_>, ops: &[Op<'_>]) -> bool {
    let told = |op: &Op<'_>| match &op.low {
        Low::Items { block, .. } => {
            let ops = program.ops(*block);
            let (guard, head) = guard(ops);
            match &ops[head..] {
                [] => true,
                // Elements that pass by their types run the whole block, see `items`.
                [op] => guard.pass == Types::NONE && is_about_scalars(&op.low),
                _ => false,
            }
        }
        low => is_about_scalars(low),
    };
    ops.len() <= LOOK_OPS_MAX && ops.iter().all(told)
}

fn is_about_scalars(low: &Low<'_>) -> bool {
    match low {
        Low::Plain(word) => opcode::is_about_scalars(word.opcode()),
        Low::Number(build, ..) => opcode::is_about_scalars(build(NumberId(0)).opcode()),
        Low::Enum(..) | Low::Matches(_) | Low::InRange { .. } | Low::SkipType { .. } => true,
        _ => false,
    }
}

/// Whether the instruction runs no block.
fn is_leaf(low: &Low<'_>) -> bool {
    match low {
        Low::Plain(word) => !matches!(word.opcode(), Opcode::TrackOpen | Opcode::TrackClose),
        Low::Number(..)
        | Low::Enum(..)
        | Low::Const(..)
        | Low::Matches(_)
        | Low::SkipType { .. }
        | Low::AsJudged(_)
        | Low::Required(_)
        | Low::DependentRequired(_) => true,
        _ => false,
    }
}

/// Names that `object_table` watches: one bit each.
const WATCHED_MAX: usize = 64;

struct Emitter<'e, 'm, 'd> {
    program: &'e Program<'d>,
    model: &'e Model<'m, 'd>,
    layout: &'e Layout,
    parts: UnitParts,
    strings: StringPool,
    /// The strings of the keywords met so far.
    keywords: [StrId; Keyword::ALL.len()],
    numbers: HashMap<&'d str, u32>,
    values: HashMap<Cow<'d, str>, u32>,
    patterns: HashMap<PatternNo, u32>,
    lists: HashMap<Vec<u32>, u32>,
    /// By their place in the arena.
    own_tables: HashMap<usize, TableId>,
    /// By the string of its location: the first note there.
    first_notes: Vec<Option<u32>>,
    /// Those beside the first, without the place of their texts, and the texts; few schemas have any.
    more_notes: HashMap<(Note, Vec<StrId>), u32>,
    pointer: Pointer,
}

impl Emitter<'_, '_, '_> {
    fn section(&mut self, section: Section) {
        let (program, layout) = (self.program, self.layout);
        let blocks = layout.order.iter().map(|id| &program.blocks[id.0 as usize]);
        blocks.filter(|block| Section::of(block) == section).for_each(|block| self.block(block));
    }

    fn block(&mut self, block: &Block<'_>) {
        for op in block.ops.iter() {
            let pc = self.parts.code.len() as u32;
            let word = self.word(&op.low, pc);
            self.parts.code.push(word);
            if let Some(note) = &op.note {
                let note = self.note(note);
                self.parts.note_at.push((pc, note));
            }
        }
        self.parts.code.push(build::leave());
    }

    fn word(&mut self, low: &Low<'_>, pc: u32) -> Word {
        match low {
            Low::Plain(word) => *word,
            Low::Number(build, place, node) => build(NumberId(self.number(*place, *node))),
            Low::Enum(place, node) => self.enumeration(*place, *node),
            Low::Const(place, node) => build::const_is(ValueId(self.value(*place, *node))),
            Low::Matches(pattern) => build::matches(PatternId(self.pattern(*pattern))),
            Low::Call { block, memo: false, .. } => build::call(self.layout.target(*block)),
            Low::Call { block, track, .. } => {
                build::call_memo(if *track { Flags::TRACK } else { Flags::NONE }, self.layout.target(*block))
            }
            Low::AsJudged(block) => {
                let (guard, target) = self.guarded(Some(*block));
                build::as_judged(guard.pass, guard.admit, target)
            }
            Low::SkipType { types, skip } => build::skip_type(*types, Target::new(pc + 1 + *skip as u32, false, false)),
            Low::Required(table) => build::required(self.table(table)),
            Low::DependentRequired(names) => {
                let names = names.iter().map(|name| self.str(name).0).collect();
                build::dependent_required(self.list(names))
            }
            Low::ObjectTable(table) => build::object_table(self.own_table(table)),
            Low::Survey(table) => build::survey(self.own_table(table)),
            Low::Properties(table) => build::properties(self.table(table)),
            Low::PatternProperties(pairs) => {
                let mut list = Vec::new();
                for (pattern, block) in *pairs {
                    list.extend([self.pattern(*pattern), self.layout.target(*block).bits()]);
                }
                build::pattern_properties(self.list(list))
            }
            Low::AdditionalProperties { flags, table } => build::additional_properties(*flags, self.table(table)),
            Low::PropertyNames(block) => build::property_names(self.layout.target(*block)),
            Low::DependentSchema(name, block) => {
                let list = vec![self.str(name).0, self.layout.target(*block).bits()];
                build::dependent_schema(self.list(list))
            }
            Low::PrefixItems(blocks) => build::prefix_items(self.targets(blocks)),
            Low::Items { start, block, counts } => self.items(*start, *block, *counts),
            Low::InRange { lower, upper } => {
                let below = if lower.exclusive { Flags::OPEN_BELOW } else { Flags::NONE };
                let above = if upper.exclusive { Flags::OPEN_ABOVE } else { Flags::NONE };
                let list = [lower, upper].map(|bound| self.number(bound.place, bound.node)).to_vec();
                build::in_range(below.with(above), self.list(list))
            }
            Low::SwitchTag { name, cases } => self.switch(name, cases),
            Low::Contains { flags, block, min, max } => {
                let list = vec![self.layout.target(*block).bits(), *min, *max];
                build::contains(*flags, self.list(list))
            }
            Low::AnyOf { flags, branches } => build::any_of(*flags, self.targets(branches)),
            Low::OneOf { flags, branches } => build::one_of(*flags, self.targets(branches)),
            Low::Not(block) => build::not(self.layout.target(*block)),
            Low::If { flags, condition, then, otherwise } => {
                let blocks = [Some(*condition), *then, *otherwise];
                let list = blocks.iter().map(|block| self.layout.maybe(*block).bits()).collect();
                build::if_then_else(*flags, self.list(list))
            }
            Low::MarkBy(block) => build::mark_by(self.layout.target(*block)),
            Low::MarkNames(table) => build::mark_names(self.table(table)),
            Low::UnevaluatedProperties { flags, block } => {
                build::unevaluated_properties(*flags, self.unevaluated_target(*block))
            }
            Low::UnevaluatedItems { flags, block } => build::unevaluated_items(*flags, self.unevaluated_target(*block)),
        }
    }

    /// The block, its head taken out where types decide it. Where only a call is left, the block called.
    fn guarded(&self, block: Option<BlockId>) -> (Guard, Target) {
        let (program, layout) = (self.program, self.layout);
        let target = layout.maybe(block);
        let Some(block) = block.filter(|_| target.is_some() && self.model.options.fusion) else {
            return (Guard::OPEN, target);
        };
        let block = &program.blocks[layout.laid[block.0 as usize].stands_for.0 as usize];
        // Explaining code keeps its blocks whole, tracking code its marks.
        let (guard, head) = if block.key.kind == BlockKind::Judge { guard(block.ops) } else { (Guard::OPEN, 0) };
        match &block.ops[head..] {
            ops if head == 0 => (Guard::OPEN, target.with_look(is_told_at_a_look(program, ops))),
            [] => (Guard { pass: guard.pass.union(guard.admit), ..guard }, Target::NONE),
            [Op { low: Low::Call { block: callee, memo: false, .. }, .. }] if guard.admit == Types::ANY => {
                (guard, layout.target(*callee))
            }
            rest => {
                let target = Target::new(target.pc() + head as u32, target.is_leaf(), rest.len() == 1);
                (guard, target.with_look(is_told_at_a_look(program, rest)))
            }
        }
    }

    /// The whole block, marked if a look tells what it says.
    fn looked_at(&self, block: Option<BlockId>) -> Target {
        let target = self.layout.maybe(block);
        let Some(block) = block.filter(|_| target.is_some() && self.model.options.fusion) else {
            return target;
        };
        target.with_look(is_told_at_a_look(self.program, self.program.ops(block)))
    }

    fn items(&mut self, start: u32, block: BlockId, counts: Option<(u32, u32)>) -> Word {
        let (guard, target) = self.guarded(Some(block));
        let (admit, target) = match (guard.pass, target.is_some()) {
            (Types::NONE, true) => (guard.admit, target),
            // Two sets do not fit the word.
            (_, true) => (Types::ANY, self.layout.target(block)),
            (pass, false) if guard != Guard::OPEN => (pass, target),
            (_, false) => (Types::ANY, target),
        };
        match counts {
            None => build::items(admit, Len(start), target),
            Some((min, max)) => {
                let list = vec![start, admit.0.into(), target.bits(), min, max];
                build::counted_items(self.list(list))
            }
        }
    }

    fn switch(&mut self, name: &str, cases: &[(&str, BlockId)]) -> Word {
        let tag = |this: &mut Self, (text, block): &(&str, BlockId)| Tag {
            key: TextKey::of(text),
            text: this.str(text),
            target: this.layout.target(*block),
        };
        let tags: Vec<Tag> = cases.iter().map(|case| tag(self, case)).collect();
        let index = NameIndex::new(&tags, |tag| self.strings.get(tag.text));
        let id = SwitchId(self.parts.switches.len() as u32);
        let name = self.str(name);
        self.parts.switches.push(TagSwitch { name, tags, index });
        build::switch_tag(id)
    }

    /// `none` forbids here, so a block that passes everything must stay a block.
    fn unevaluated_target(&self, block: Option<BlockId>) -> Target {
        block.map_or(Target::NONE, |block| {
            let pc = self.layout.pc(block);
            Target::new(pc, self.layout.laid(block).is_leaf, false)
        })
    }

    fn targets(&mut self, blocks: &[BlockId]) -> ListId {
        let list = blocks.iter().map(|block| self.layout.target(*block).bits()).collect();
        self.list(list)
    }

    // --- pools ---------------------------------------------------------------------------------------------

    fn str(&mut self, text: &str) -> StrId {
        self.strings.add(text)
    }

    fn keyword(&mut self, keyword: Keyword) -> StrId {
        let known = &mut self.keywords[keyword as usize];
        if *known == StrId::NONE {
            *known = self.strings.add(keyword.name());
        }
        *known
    }

    fn list(&mut self, list: Vec<u32>) -> ListId {
        if let Some(at) = self.lists.get(&list) {
            return ListId(*at);
        }
        let at = self.parts.lists.len() as u32;
        self.parts.lists.push(list.len() as u32);
        self.parts.lists.extend_from_slice(&list);
        self.lists.insert(list, at);
        ListId(at)
    }

    fn number(&mut self, place: Place, node: Node) -> u32 {
        let literal = self.model.tape(place).slice(node);
        if let Some(id) = self.numbers.get(literal) {
            return *id;
        }
        let number = match Number::parse(literal) {
            Ok(Number::Int(value)) => PoolNumber::Int(value),
            Ok(Number::Decimal { value, .. }) => PoolNumber::Decimal(value, self.str(literal)),
            // The reader of schemas lets no number beyond the bounds through.
            Ok(Number::Big(_)) | Err(_) => PoolNumber::Big(self.str(literal)),
        };
        let id = self.parts.numbers.len() as u32;
        self.parts.numbers.push(number);
        self.numbers.insert(literal, id);
        id
    }

    /// The constant at `node`: its JSON text, which the unit reads when all are there.
    fn value(&mut self, place: Place, node: Node) -> u32 {
        let tape = self.model.tape(place);
        let text = crate::compact::text(tape, node);
        if let Some(id) = self.values.get(text.as_ref()) {
            return *id;
        }
        let id = self.values.len() as u32;
        if id > 0 {
            self.parts.value_text.push(',');
        }
        self.parts.value_text.push_str(&text);
        self.values.insert(text, id);
        id
    }

    /// The constants as the unit takes them.
    fn values_text(&mut self) {
        if !self.values.is_empty() {
            self.parts.value_text = format!("[{}]", self.parts.value_text);
        }
    }

    fn enumeration(&mut self, place: Place, node: Node) -> Word {
        let tape = self.model.tape(place);
        let mut set = EnumSet::default();
        let mut strings = Vec::with_capacity(tape.entry(node).len as usize);
        for value in tape.element_nodes(node) {
            match tape.view_node(value) {
                View::Null => set.null = true,
                View::Bool(true) => set.yes = true,
                View::Bool(false) => set.no = true,
                View::Number(_) => set.numbers.push(self.number(place, value)),
                View::String(text) => strings.push(self.model.registry.plain(text)),
                View::Array | View::Object => set.containers.push(self.value(place, value)),
                View::NotJson(_) => {}
            }
        }
        strings.sort_unstable();
        strings.dedup();
        set.strings = strings.iter().map(|text| (TextKey::of(text), self.str(text))).collect();
        set.index = NameIndex::new(&set.strings, |(_, text)| self.strings.get(*text));
        set.numbers.sort_by(|a, b| self.pool_number(*a).compare(self.pool_number(*b)));
        set.numbers.dedup_by(|a, b| self.pool_number(*a).compare(self.pool_number(*b)).is_eq());
        let id = self.parts.enums.len() as u32;
        self.parts.enums.push(set);
        build::enum_is(EnumId(id))
    }

    fn pool_number(&self, id: u32) -> Number<'_> {
        let text = |id: StrId| self.strings.get(id);
        match self.parts.numbers[id as usize] {
            PoolNumber::Int(value) => Number::Int(value),
            PoolNumber::Big(literal) => Number::Big(text(literal)),
            PoolNumber::Decimal(value, literal) => Number::Decimal { value, literal: text(literal) },
        }
    }

    fn pattern(&mut self, pattern: PatternNo) -> u32 {
        let next = self.parts.patterns.len() as u32;
        let id = *self.patterns.entry(pattern).or_insert(next);
        if id == next {
            self.parts.patterns.push(Arc::clone(self.model.pattern(pattern)));
        }
        id
    }

    /// A table that judging and explaining code share.
    fn own_table(&mut self, low: &LowTable<'_>) -> TableId {
        // Each lies once in the arena.
        let identity = std::ptr::from_ref(low).addr();
        if let Some(id) = self.own_tables.get(&identity) {
            return *id;
        }
        let id = self.table(low);
        self.own_tables.insert(identity, id);
        id
    }

    fn table(&mut self, low: &LowTable<'_>) -> TableId {
        let len = low.names.len();
        let first = low.names.iter().filter(|name| len <= WATCHED_MAX || name.required);
        let rest = low.names.iter().filter(|name| len > WATCHED_MAX && !name.required);
        let mut required = 0;
        let mut names = Vec::with_capacity(len);
        for (at, name) in first.chain(rest).enumerate() {
            if name.required && at < WATCHED_MAX {
                required |= 1 << at;
            }
            let (guard, target) = self.guarded(name.block);
            let key = TextKey::of(name.name);
            names.push(TableName { key, name: self.str(name.name), target, guard, declared: name.declared });
        }
        let index = NameIndex::new(&names, |name| self.strings.get(name.name));
        let patterns = low.patterns.iter();
        let patterns = patterns.map(|(pattern, block)| (self.pattern(*pattern), self.looked_at(*block))).collect();
        let extra = match low.extra {
            LowExtra::Skip => Extra::Skip,
            LowExtra::Forbid => Extra::Forbid,
            LowExtra::Run(block) => Extra::Run(self.looked_at(block)),
        };
        let id = self.parts.tables.len() as u32;
        self.parts.tables.push(Table { names, index, required, patterns, extra });
        TableId(id)
    }

    fn note(&mut self, low: &LowNote<'_>) -> u32 {
        let keyword = low.keyword.map_or(StrId::NONE, |keyword| self.keyword(keyword));
        let description = low.description.map_or(StrId::NONE, |text| self.str(text));
        let keyword_location = self.keyword_location(low);
        let from = self.parts.note_texts.len();
        for text in low.texts {
            let id = self.str(text);
            self.parts.note_texts.push(id);
        }
        let path = match low.path {
            LowPath::Here => NotePath::Here,
            LowPath::Keyword(keyword) => NotePath::Keyword(self.keyword(keyword)),
            LowPath::Element(keyword, index) => NotePath::Element(self.keyword(keyword), index as u32),
        };
        let (types, wording) = (low.types, low.wording);
        let note = Note { keyword, keyword_location, description, types, wording, texts: (0, 0), path };
        let (id, known) = self.note_id(note, from);
        if known {
            self.parts.note_texts.truncate(from);
        } else {
            let texts = (from as u32, self.parts.note_texts.len() as u32);
            self.parts.notes.push(Note { texts, ..note });
        }
        id
    }

    /// The id of the note whose texts have been added from `from` on, and whether it was known.
    fn note_id(&mut self, note: Note, from: usize) -> (u32, bool) {
        let next = self.parts.notes.len() as u32;
        let at = note.keyword_location.0 as usize;
        self.first_notes.resize(self.first_notes.len().max(at + 1), None);
        let first = *self.first_notes[at].get_or_insert(next);
        if first == next {
            return (next, false);
        }
        let (start, end) = self.parts.notes[first as usize].texts;
        let (known_texts, texts) = self.parts.note_texts.split_at(from);
        let other = Note { texts: (0, 0), ..self.parts.notes[first as usize] };
        if other == note && known_texts[start as usize..end as usize] == *texts {
            return (first, true);
        }
        let id = *self.more_notes.entry((note, texts.to_vec())).or_insert(next);
        (id, id != next)
    }

    /// The keyword's pointer: that of its schema object, which mostly is the one of the note before, and a name.
    fn keyword_location(&mut self, low: &LowNote<'_>) -> StrId {
        let pointer = self.pointer.at(&self.model.registry.locations, low.location);
        self.strings.add_written(|text| {
            text.push_str(pointer);
            if let Some(keyword) = low.keyword {
                // No keyword has anything to escape.
                text.push('/');
                text.push_str(keyword.name());
            }
        })
    }
}
