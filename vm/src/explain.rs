//! Explanation: the collecting sink, and which failure speaks.
//!
//! Every failing instruction delivers one failure. At the top they form a list, and the one of greatest *rank* is
//! kept, the first among equals. Inside a union they form a fold: the one of least rank, whether another ties with
//! it, and the failure it stands for itself (its *deep* failure). When the union fails, its own failure takes its
//! deep one from the fold. So the choice needs no tree of errors, whatever the schema; see [`Ranked`].
//!
//! Most hosts want that one failure alone ([`Extent::Speaking`]), and it is *sought* rather than chosen: outside unions,
//! what stands further from the root than a known failure is passed over, and the judging code is asked about members
//! and elements before they are explained. Where it is known which of several failing siblings has the greatest rank,
//! only that one is looked at again. The list gives the same failure; a test compares the two on every pair.
//!
//! ```text
//! rank = (fewer steps, path, not a union, value does not fit the schema object's own type)
//! ```

use std::cmp::Ordering;

use crate::execute::{Child, Failed, Into, Sink};
use crate::failure::{Inner, Paths, ROOT_PATH, Ranked, Record, Step, Wording};
use crate::insn::Types;
use crate::instance::{Halt, Instance};
use crate::missing::MissingName;
use crate::tape::{Node, Tape, TapeBuf, TapeInstance};
use crate::unit::Unit;

/// What explanations keep; owned by a session, used again for each.
#[derive(Debug, Default)]
pub struct Explanation {
    pub(crate) failures: Vec<Ranked>,
    pub(crate) top: Option<Ranked>,
    /// Failures beyond those listed.
    pub(crate) unlisted: u64,
    /// What the branches of failed unions said, where failures are listed; as many as failures may be.
    pub(crate) inner: Vec<Inner>,
    /// Whether some had no room.
    pub(crate) inner_cut: bool,
    pub(crate) paths: Paths,
    pub(crate) extras: Vec<u32>,
    /// Call sites around a failure, outermost first: pc and where its loop was.
    pub(crate) trail: Vec<(u32, u32)>,
    /// What is missing, where that is all that is wrong ([`mod@crate::missing`]).
    pub(crate) missing: Vec<MissingName>,
    folds: Vec<Fold>,
    kept: Vec<Fold>,
}

impl Explanation {
    /// Allocates what explaining needs: failures that are listed, locations, names and values that messages list,
    /// missing names, open unions, unions kept.
    pub fn reserve(&mut self, sizes: ExplanationSizes) {
        use crate::tape::reserve_total;
        reserve_total(&mut self.failures, sizes.failures);
        reserve_total(&mut self.inner, sizes.failures);
        self.paths.reserve(sizes.paths);
        reserve_total(&mut self.extras, sizes.extras);
        reserve_total(&mut self.missing, sizes.missing);
        reserve_total(&mut self.folds, sizes.unions);
        reserve_total(&mut self.kept, sizes.kept);
    }

    fn clear(&mut self) {
        self.failures.clear();
        self.top = None;
        self.unlisted = 0;
        self.inner.clear();
        self.inner_cut = false;
        self.paths.clear();
        self.extras.clear();
        self.trail.clear();
        self.missing.clear();
        self.folds.clear();
        self.kept.clear();
    }
}

/// How much of what is wrong an explanation holds.
#[derive(Clone, Copy, Debug)]
pub enum Extent {
    /// The failure that speaks, and no list. What cannot give it is not looked at; nor is it where verdicts are kept or
    /// evaluated sets are, since those need all of it.
    Speaking,
    /// All failures, in the order of the schema.
    Listed {
        /// Failures listed; the one that speaks does not depend on it.
        failures_max: usize,
        /// Whether each listed failure keeps its evaluation path.
        evaluation_paths: bool,
    },
}

/// What [`Explanation::reserve`] makes room for.
#[derive(Clone, Copy, Debug)]
pub struct ExplanationSizes {
    /// Failures listed.
    pub failures: usize,
    /// Locations.
    pub paths: usize,
    /// Names and values in messages.
    pub extras: usize,
    /// Missing names.
    pub missing: usize,
    /// Unions open at once.
    pub unions: usize,
    /// Unions kept by block and instance.
    pub kept: usize,
}

/// What a union keeps of its branches' failures.
#[derive(Clone, Copy, Debug, Default)]
struct Fold {
    best: Option<Ranked>,
    tie: bool,
    len: u32,
    /// What was named before the union: once it is dropped, nothing more is.
    keep: u32,
    /// How many folds were kept before it.
    kept: u32,
    /// The branch that runs.
    branch: u32,
    /// What its branches said: where in the list that starts, and, of one that was kept, ends.
    inner: (u32, u32),
}

/// How the values that failures name come to lie on a tape, which is what messages are written from.
pub(crate) trait Capture<'a, I: Instance<'a>> {
    /// The entry that stands for `node`. Errors: there is no room left.
    fn capture(&mut self, instance: &mut I, node: I::Node) -> Result<Node, Halt>;
    /// The tape so far.
    fn tape(&self) -> Tape<'_>;
}

/// The instance is a tape.
pub(crate) struct Whole<'t>(pub(crate) Tape<'t>);

impl<'t> Capture<'t, TapeInstance<'t>> for Whole<'t> {
    fn capture(&mut self, _: &mut TapeInstance<'t>, node: Node) -> Result<Node, Halt> {
        Ok(node)
    }
    fn tape(&self) -> Tape<'_> {
        self.0
    }
}

/// Values and names of any instance, copied when a failure names them. The room is what the buffer has: it never grows.
pub(crate) struct Copies<'b> {
    buf: &'b mut TapeBuf,
    depth_max: u32,
    /// The value copied last: the branches of a union fail on one and the same.
    last: Option<(u64, Node)>,
}

impl<'b> Copies<'b> {
    pub(crate) fn new(buf: &'b mut TapeBuf, depth_max: u32) -> Self {
        buf.clear_copies();
        Copies::more(buf, depth_max)
    }

    /// Leaves the copies that are there.
    pub(crate) fn more(buf: &'b mut TapeBuf, depth_max: u32) -> Self {
        Copies { buf, depth_max, last: None }
    }
}

impl<'a, I: Instance<'a>> Capture<'a, I> for Copies<'_> {
    fn capture(&mut self, instance: &mut I, node: I::Node) -> Result<Node, Halt> {
        let identity = instance.identity(node);
        if let (Some((last, copy)), Some(identity)) = (self.last, identity)
            && last == identity
        {
            return Ok(copy);
        }
        let copy = self.buf.append(instance, node, self.depth_max)?;
        self.last = identity.map(|identity| (identity, copy));
        Ok(copy)
    }
    fn tape(&self) -> Tape<'_> {
        self.buf.copied()
    }
}

/// The collecting sink.
pub(crate) struct Collect<'e, C> {
    explanation: &'e mut Explanation,
    unit: &'e Unit,
    capture: C,
    failures_max: usize,
    with_trail: bool,
    /// Only the failure that speaks is sought.
    searches: bool,
    path: u32,
    /// Locations before this mark are named by failures.
    keep: u32,
    /// The fold of the union that has just failed, for the failure it will note.
    context: Option<Fold>,
    /// What a failure names could not be captured: the explanation is void.
    lost: Option<Halt>,
}

impl<'e, C> Collect<'e, C> {
    pub(crate) fn new(explanation: &'e mut Explanation, unit: &'e Unit, capture: C, extent: Extent) -> Self {
        explanation.clear();
        let (path, keep) = (ROOT_PATH, 0);
        let (failures_max, with_trail, searches) = match extent {
            Extent::Speaking => (0, false, !unit.revisits()),
            Extent::Listed { failures_max, evaluation_paths } => (failures_max, evaluation_paths, false),
        };
        Collect {
            explanation,
            unit,
            capture,
            failures_max,
            with_trail,
            searches,
            path,
            keep,
            context: None,
            lost: None,
        }
    }

    /// Why the explanation is void, if it is.
    pub(crate) fn lost(&self) -> Option<Halt> {
        self.lost
    }

    fn captured<'a, I: Instance<'a>>(&mut self, instance: &mut I, node: I::Node) -> Node
    where
        C: Capture<'a, I>,
    {
        match self.capture.capture(instance, node) {
            Ok(node) => node,
            Err(halt) => {
                self.lost = Some(halt);
                0
            }
        }
    }

    fn deliver<'a, I: Instance<'a>>(&mut self, failure: Ranked)
    where
        C: Capture<'a, I>,
    {
        if self.lost.is_some() {
            return;
        }
        let ranking = Ranking { tape: self.capture.tape(), paths: &self.explanation.paths };
        let depth = self.explanation.folds.len() as u32;
        if let Some(fold) = self.explanation.folds.last_mut() {
            ranking.add(fold, failure);
            let inner = Inner { record: failure.own, branch: fold.branch, depth };
            self.list_inner(inner);
            return;
        }
        let greater = |top: &Ranked| ranking.compare(&failure.own, &top.own).is_gt();
        if self.explanation.top.as_ref().is_none_or(greater) {
            self.explanation.top = Some(failure);
        }
        if self.explanation.failures.len() < self.failures_max {
            self.explanation.failures.push(failure);
        } else {
            self.explanation.unlisted += 1;
            if self.explanation.kept.is_empty() {
                self.explanation.inner.truncate(failure.own.inner.0 as usize);
            }
        }
    }
}

impl<C> Collect<'_, C> {
    /// Whether all failures are listed, and not one sought.
    fn lists(&self) -> bool {
        self.failures_max > 0
    }

    /// Lists a failure inside a union, as long as there is room.
    fn list_inner(&mut self, inner: Inner) {
        if self.explanation.inner.len() < self.failures_max {
            self.explanation.inner.push(inner);
        } else {
            self.explanation.inner_cut = self.lists();
        }
    }

    fn inner_len(&self) -> u32 {
        self.explanation.inner.len() as u32
    }
}

impl<'a, I: Instance<'a>, C: Capture<'a, I>> Sink<'a, I> for Collect<'_, C> {
    const COLLECTS: bool = true;
    const TRACES: bool = false;

    fn searches(&self) -> bool {
        self.searches
    }

    fn is_beaten_below(&self) -> bool {
        let paths = &self.explanation.paths;
        let beaten = |top: &Ranked| paths.len(top.own.path) <= paths.len(self.path);
        self.searches && self.explanation.folds.is_empty() && self.explanation.top.as_ref().is_some_and(beaten)
    }

    fn is_settled_below(&self, child: Child<'_>) -> bool {
        let Some((parent, step)) =
            self.explanation.top.as_ref().and_then(|top| self.explanation.paths.parent(top.own.path))
        else {
            return false;
        };
        parent == self.path
            && match (step, child) {
                (Step::Name(name), Child::Named(other)) => {
                    self.lost.is_none() && self.capture.tape().text(name).compare(other).is_ge()
                }
                (Step::Index(index), Child::At(other)) => index >= other,
                _ => false,
            }
    }

    fn here(&self) -> (u32, u32) {
        (self.path, self.explanation.paths.mark())
    }

    fn enter(&mut self, instance: &mut I, into: Into<I::Node>) -> (u32, u32) {
        let here = (self.path, self.explanation.paths.mark());
        match into {
            Into::Place | Into::Name => {}
            Into::Member(name) => {
                let name = self.captured(instance, name);
                self.path = self.explanation.paths.push(self.path, Step::Name(name));
            }
            Into::Element(index) => self.path = self.explanation.paths.push(self.path, Step::Index(index)),
        }
        here
    }

    fn leave(&mut self, path: u32, mark: u32) {
        self.path = path;
        self.explanation.paths.truncate(mark.max(self.keep));
    }

    fn extras_len(&self) -> u32 {
        self.explanation.extras.len() as u32
    }

    fn extra(&mut self, number: u32) {
        self.explanation.extras.push(number);
    }

    fn extra_node(&mut self, instance: &mut I, node: I::Node) {
        let node = self.captured(instance, node);
        self.explanation.extras.push(node);
    }

    fn cut_extras(&mut self, from: u32, to: u32) -> u32 {
        if self.explanation.kept.is_empty() || self.explanation.extras.len() == to as usize {
            self.explanation.extras.truncate(to as usize);
            return from;
        }
        // A fold that was kept may name what would be cut: the part moves behind it instead.
        let moved = self.explanation.extras.len() as u32;
        self.explanation.extras.extend_from_within(from as usize..to as usize);
        moved
    }

    fn sort_extras(&mut self, from: u32) {
        if self.lost.is_some() {
            return;
        }
        let tape = self.capture.tape();
        self.explanation.extras[from as usize..].sort_unstable_by(|a, b| tape.text(*a).compare(tape.text(*b)));
    }

    fn record(&mut self, instance: &mut I, failed: &Failed<I::Node>, trail: impl Iterator<Item = (u32, u32)>) {
        let trail_from = self.explanation.trail.len() as u32;
        let full = self.explanation.failures.len() >= self.failures_max;
        if self.with_trail && self.explanation.folds.is_empty() && !full {
            self.explanation.trail.extend(trail);
        }
        let index = self.unit.note_index(failed.pc).unwrap_or(u32::MAX);
        let note = self.unit.note_at(index);
        let types = instance.types(failed.node).unwrap_or(Types::NONE);
        let class = note.map_or((true, true), |note| (note.wording != Wording::Union, !types.meets(note.types)));
        // Other texts than the message show what came in place of a constant.
        let shown =
            note.is_some_and(|note| note.wording.shows_value() || self.lists() && note.wording == Wording::Expected);
        let inner_from = self.context.map_or(self.inner_len(), |context| context.inner.0);
        let own = Record {
            pc: failed.pc,
            note: index,
            node: if shown { self.captured(instance, failed.node) } else { 0 },
            class,
            path: self.path,
            arg: failed.arg,
            extras: (failed.extras_from, self.explanation.extras.len() as u32),
            trail: (trail_from, self.explanation.trail.len() as u32),
            inner: (inner_from, self.inner_len()),
        };
        self.keep = self.explanation.paths.mark();
        let mut failure = Ranked { own, deep: own };
        if let Some(context) = &self.context {
            if let Fold { best: Some(best), tie: false, .. } = context {
                failure.deep = best.deep;
            }
            self.context = None;
        }
        self.deliver(failure);
    }

    fn open_union(&mut self) {
        let kept = self.explanation.kept.len() as u32;
        let inner = (self.inner_len(), 0);
        self.explanation.folds.push(Fold { keep: self.keep, kept, inner, ..Fold::default() });
    }

    fn enter_branch(&mut self, branch: u32) {
        if let Some(fold) = self.explanation.folds.last_mut() {
            fold.branch = branch;
        }
    }

    fn drop_union(&mut self) {
        // What its branches named is forgotten, unless a kept fold may still name it.
        match self.explanation.folds.pop() {
            Some(fold) if fold.kept as usize == self.explanation.kept.len() => {
                self.keep = fold.keep;
                self.explanation.inner.truncate(fold.inner.0 as usize);
            }
            _ => {}
        }
    }

    fn close_union(&mut self) {
        self.context = self.explanation.folds.pop();
    }

    fn union_len(&self) -> u32 {
        self.explanation.folds.last().map_or(0, |fold| fold.len)
    }

    fn in_union(&self) -> bool {
        !self.explanation.folds.is_empty()
    }

    fn is_full(&self) -> bool {
        self.explanation.failures.len() >= self.failures_max
    }

    fn keep_union(&mut self) -> u32 {
        let mut fold = self.explanation.folds.pop().unwrap_or_default();
        fold.inner.1 = self.inner_len();
        // What its block said is what the branch around it says: the union was opened for the block only.
        let (depth, branch) = self.around();
        let listed = self.explanation.inner.get_mut(fold.inner.0 as usize..).unwrap_or_default();
        for inner in listed {
            inner.move_to(depth + 1, depth, branch);
        }
        self.explanation.kept.push(fold);
        self.merge_kept(fold);
        self.explanation.kept.len() as u32 - 1
    }

    fn add_kept(&mut self, fold: u32) {
        let kept = self.explanation.kept[fold as usize];
        self.merge_kept(kept);
        let (depth, branch) = self.around();
        let from = kept.inner.0;
        // The outermost of them come last.
        let listed = self.explanation.inner.get(from as usize..kept.inner.1 as usize).unwrap_or_default();
        let Some(kept_depth) = listed.last().map(|last| last.depth) else {
            return;
        };
        for at in from..kept.inner.1 {
            let offset = self.inner_len() - at;
            let mut inner = self.explanation.inner[at as usize];
            inner.move_to(kept_depth, depth, branch);
            inner.record.inner = (inner.record.inner.0 + offset, inner.record.inner.1 + offset);
            self.list_inner(inner);
        }
    }
}

impl<C> Collect<'_, C> {
    /// How many unions are open, and the branch that runs in the innermost.
    fn around(&self) -> (u32, u32) {
        let folds = &self.explanation.folds;
        (folds.len() as u32, folds.last().map_or(0, |fold| fold.branch))
    }

    fn merge_kept<'a, I: Instance<'a>>(&mut self, kept: Fold)
    where
        C: Capture<'a, I>,
    {
        if self.lost.is_some() {
            return;
        }
        let ranking = Ranking { tape: self.capture.tape(), paths: &self.explanation.paths };
        if let Some(into) = self.explanation.folds.last_mut() {
            ranking.merge(into, kept);
        }
    }
}

/// Compares failures, and locations.
#[derive(Clone, Copy)]
pub(crate) struct Ranking<'r> {
    pub(crate) tape: Tape<'r>,
    pub(crate) paths: &'r Paths,
}

impl Ranking<'_> {
    /// Order by rank: greater speaks at the top, less inside a union.
    fn compare(self, a: &Record, b: &Record) -> Ordering {
        self.compare_locations(b.path, a.path).then_with(|| a.class.cmp(&b.class))
    }

    /// Order of locations: nearer to the root first, equal ones by their steps (those against the order of rank).
    pub(crate) fn compare_locations(self, a: u32, b: u32) -> Ordering {
        self.paths.len(a).cmp(&self.paths.len(b)).then_with(|| self.compare_paths(b, a))
    }

    /// Step by step from the root; both paths have the same number of steps.
    fn compare_paths(self, a: u32, b: u32) -> Ordering {
        let (mut a, mut b) = (a, b);
        let mut order = Ordering::Equal;
        while a != b {
            let (Some((a_parent, a_step)), Some((b_parent, b_step))) = (self.paths.parent(a), self.paths.parent(b))
            else {
                break;
            };
            // The difference nearest to the root counts, and that is seen last.
            match self.compare_steps(a_step, b_step) {
                Ordering::Equal => {}
                different => order = different,
            }
            (a, b) = (a_parent, b_parent);
        }
        order
    }

    fn compare_steps(self, a: Step, b: Step) -> Ordering {
        match (a, b) {
            (Step::Index(a), Step::Index(b)) => a.cmp(&b),
            (Step::Name(a), Step::Name(b)) if a == b => Ordering::Equal,
            (Step::Name(a), Step::Name(b)) => self.tape.text(a).compare(self.tape.text(b)),
            (Step::Index(_), Step::Name(_)) => Ordering::Less,
            (Step::Name(_), Step::Index(_)) => Ordering::Greater,
        }
    }

    fn add(self, fold: &mut Fold, failure: Ranked) {
        self.merge(fold, Fold { best: Some(failure), len: 1, ..Fold::default() });
    }

    fn merge(self, fold: &mut Fold, other: Fold) {
        fold.len = fold.len.saturating_add(other.len);
        let Some(theirs) = other.best else {
            return;
        };
        let order = match &fold.best {
            None => Ordering::Less,
            Some(ours) => self.compare(&theirs.own, &ours.own),
        };
        match order {
            Ordering::Less => (fold.best, fold.tie) = (Some(theirs), other.tie),
            Ordering::Equal => fold.tie = true,
            Ordering::Greater => {}
        }
    }
}
