//! Turns ECMA-262 regular expressions (with the `u` flag) into the syntax of the Rust engines.
//!
//! The result means the same for UTF-8 text, searched without anchors, and needs no flags:
//!
//! ```text
//! ^\d+(?<unit>\s?[^\W_]{2})$    \A[0-9]+(?:[\t-\r\p{Z}\x{FEFF}]?[^[^0-9A-Za-z_]_]{2})\z       regex
//! (["']).*\1                    (["'])[^\n\r\x{2028}\x{2029}]*(?:\1)                          fancy-regex
//! ^[a-z]{1,8}$                  also as a shape: 1 to 8 times one of 26 ASCII characters      no engine
//! ^M[0-9]{6}$                   also as a shape: an M, then 6 digits                          no engine
//! ```
//!
//! It goes in three steps without recursion, each linear in the length of the pattern (a reference costs its depth
//! and that of its group, which are bounded):
//!
//! 1. `Outline` reads the pattern once: how its groups nest, what repeats them, where the references are.
//! 2. `Outline::resolve` decides what each back-reference can see. In ECMA-262 a group that has not taken part
//!    counts as empty, and entering a repeated part forgets what its groups held before; in fancy-regex the
//!    reference fails, and nothing is forgotten.
//! 3. `Writer` reads the pattern again and writes each piece in the other syntax.
//!
//! The output has at most [`OUTPUT_BYTES_MAX`] bytes for each byte of the pattern.
//!
//! Left out, as [`PatternError::Untranslatable`]: references whose group may hold something from an earlier
//! repetition or depends on the direction of a look-behind, properties without a table in regex-syntax, nesting
//! beyond [`GROUP_DEPTH_MAX`], repetition of 2^32 - 1 times or more, and look-around over patterns too large for
//! fancy-regex. How large a pattern without look-around and references may grow is left to its engine.
#![forbid(unsafe_code)]

use std::fmt;
use std::fmt::Write as _;

use callgate_vm::ecma::{CharacterClassEscape, EscapedSet, Event, Group, Reader, SyntaxError};
use callgate_vm::limits::PIECES_MAX;
use callgate_vm::pattern::{Piece, Shape};
use regex_syntax::hir::{Class, Hir, HirKind, Look};

/// How many groups may be open at once. Chosen so that regex-syntax (250 levels, up to 4 of them for a group)
/// and fancy-regex (64 groups, some of them added here) can read the output.
const GROUP_DEPTH_MAX: u32 = 56;

/// The longest output. Unit: bytes of output for each byte of the pattern. Word boundaries next to look-around
/// need the most, 79 bytes for the two of `\b`.
const OUTPUT_BYTES_MAX: usize = 40;

/// The heaviest pattern with look-around or back-references. Unit: about a byte of automaton, as in [`Measure`];
/// fancy-regex refuses automata above 10 MiB.
const WEIGHT_MAX: u64 = 8_000_000;

/// A pattern in the syntax of the Rust engines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Translation {
    /// Rust regex syntax, equal in meaning for UTF-8 text and an unanchored search.
    ///
    /// `\b` and `\B` stand for ASCII words in it; fancy-regex can read those only if `backtracks` says so.
    pub(crate) regex: String,
    /// Whether it holds look-around or back-references, so that only fancy-regex can run it.
    pub(crate) backtracks: bool,
    /// As regex-syntax reads it, where it needs no backtracking.
    pub(crate) hir: Option<Hir>,
    /// The pattern without an engine, where it is that simple.
    pub(crate) shape: Option<Shape>,
}

/// Why there is no translation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PatternError {
    /// ECMA-262 has no such pattern.
    Syntax {
        /// Where the offending piece begins. Unit: bytes from the start of the pattern.
        at: usize,
        /// What is wrong there: a phrase in lower case.
        reason: &'static str,
    },
    /// A valid pattern whose meaning the Rust engines cannot express or hold.
    Untranslatable {
        /// Where the piece in the way begins. Unit: bytes from the start of the pattern.
        at: usize,
        /// What is in the way: a phrase in lower case.
        reason: &'static str,
    },
}

impl From<SyntaxError> for PatternError {
    fn from(SyntaxError { at, reason }: SyntaxError) -> Self {
        PatternError::Syntax { at, reason }
    }
}

/// Translates `pattern`.
///
/// # Errors
/// [`PatternError::Syntax`] when ECMA-262 rejects the pattern, [`PatternError::Untranslatable`] for what the
/// module leaves out.
///
/// Cost: linear in the length of the pattern, but for regex-syntax, which sorts the members of each class.
/// Source: ECMA-262, 22.2.1 Patterns and 22.2.2 Pattern Semantics.
pub(crate) fn translate(pattern: &str) -> Result<Translation, PatternError> {
    let outline = Outline::read(pattern)?;
    if let Some(at) = outline.deep_at {
        return untranslatable(at, "groups nest too deeply");
    }
    let references = outline.resolve()?;
    let backtracks = outline.looks_around || references.iter().any(|&reference| reference != Resolution::Empty);
    if let (true, Some(at)) = (backtracks, outline.heavy_at) {
        return untranslatable(at, "too large for look-around or back-references");
    }
    let regex = Writer::new(&outline, &references, backtracks).write(pattern)?;
    debug_assert!(regex.len() <= pattern.len() * OUTPUT_BYTES_MAX);
    let hir = if backtracks { None } else { Some(parse(&regex)?) };
    let shape = hir.as_ref().and_then(shape);
    Ok(Translation { regex, backtracks, hir, shape })
}

fn untranslatable<T>(at: usize, reason: &'static str) -> Result<T, PatternError> {
    Err(PatternError::Untranslatable { at, reason })
}

fn parse(regex: &str) -> Result<Hir, PatternError> {
    let mut parser = regex_syntax::ParserBuilder::new().unicode(true).utf8(true).build();
    parser.parse(regex).or_else(|_| untranslatable(0, "regex-syntax cannot hold it"))
}

/// The groups and references of a pattern.
///
/// Shape: `groups[0]` is the whole pattern, the others follow in the order of opening; `captures[n]` is the
/// index of capture group `n + 1` among them; `references` are in the order of the text.
#[derive(Debug, Default)]
struct Outline {
    groups: Vec<GroupFacts>,
    captures: Vec<usize>,
    references: Vec<Reference>,
    looks_around: bool,
    /// Whether it holds `\B`.
    has_inner_boundary: bool,
    /// Where the groups are more than `GROUP_DEPTH_MAX` deep, if they are.
    deep_at: Option<usize>,
    /// Where the pattern outgrows `WEIGHT_MAX`, if it does.
    heavy_at: Option<usize>,
}

/// What the text in and around a group says about it.
#[derive(Debug)]
struct GroupFacts {
    kind: Kind,
    parent: usize,
    depth: u32,
    /// Which alternative of its parent it is in.
    alternative: u32,
    /// How many `|` it has.
    alternations: u32,
    /// Whether a look-behind makes its content match from right to left.
    backward: bool,
    quantifier: Quantifier,
    /// Of its content, without its quantifier.
    measure: Measure,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Capture,
    NonCapturing,
    Lookahead { negated: bool },
    Lookbehind { negated: bool },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Quantifier {
    min: u32,
    max: Option<u32>,
    greedy: bool,
}

#[derive(Debug)]
struct Reference {
    at: usize,
    /// The number of the capture group, from 1.
    number: u32,
    /// The group around the reference, and which of its alternatives.
    parent: usize,
    alternative: u32,
    /// How many groups open before it, the whole pattern included.
    groups_before: usize,
}

/// What a reference sees.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Resolution {
    /// The empty text: the group cannot have taken part, or cannot match more.
    Empty,
    /// What the group holds; it has taken part.
    Group(u32),
    /// What the group holds, or the empty text if it has not taken part.
    GroupIfSet(u32),
}

impl Kind {
    fn is_lookaround(self) -> bool {
        matches!(self, Kind::Lookahead { .. } | Kind::Lookbehind { .. })
    }

    fn is_negated(self) -> bool {
        matches!(self, Kind::Lookahead { negated: true } | Kind::Lookbehind { negated: true })
    }
}

impl From<Group<'_>> for Kind {
    fn from(group: Group<'_>) -> Self {
        match group {
            Group::Capture { .. } => Kind::Capture,
            Group::NonCapturing => Kind::NonCapturing,
            Group::Lookahead { negated } => Kind::Lookahead { negated },
            Group::Lookbehind { negated } => Kind::Lookbehind { negated },
        }
    }
}

impl Quantifier {
    const ONCE: Quantifier = Quantifier { min: 1, max: Some(1), greedy: true };

    fn may_repeat(self) -> bool {
        self.max.is_none_or(|max| max > 1)
    }

    /// Whether ECMA-262 gives up repetitions that match nothing: only beyond the least number.
    fn refuses_nothing(self) -> bool {
        self.max != Some(self.min)
    }
}

impl GroupFacts {
    /// Whether, as a capture group with a reference, it is written `(...|)` in place of `(...)?`: it then holds
    /// the empty text when it is skipped, which is what a reference must see.
    fn is_emptied(&self) -> bool {
        self.kind == Kind::Capture && (self.quantifier.min, self.quantifier.max) == (0, Some(1))
    }
}

impl Outline {
    fn read(pattern: &str) -> Result<Self, PatternError> {
        let mut reader = Reader::lenient(pattern);
        let mut builder = OutlineBuilder::new();
        while let Some(event) = reader.next_event()? {
            builder.add(event, reader.event_at());
        }
        Ok(builder.finish())
    }

    /// Decides what each reference sees. Cost: for each reference, its depth and the depth of its group.
    fn resolve(&self) -> Result<Vec<Resolution>, PatternError> {
        let resolved = self
            .references
            .iter()
            .map(|reference| self.resolve_one(reference).or_else(|reason| untranslatable(reference.at, reason)));
        resolved.collect()
    }

    fn resolve_one(&self, reference: &Reference) -> Result<Resolution, &'static str> {
        let capture = self.captures[reference.number as usize - 1];
        let path = self.path_if_earlier(reference, capture);
        let Some(path) = path.filter(|_| self.groups[capture].measure.moves) else {
            return Ok(Resolution::Empty);
        };
        let is_lost = |group: &GroupFacts| group.kind.is_negated() || group.quantifier.max == Some(0);
        if path.groups().any(is_lost) {
            return Ok(Resolution::Empty);
        }
        path.check_captured_text()?;
        Ok(if path.may_be_unset()? {
            Resolution::GroupIfSet(reference.number)
        } else {
            Resolution::Group(reference.number)
        })
    }

    /// The way from the referenced group up to what it shares with the reference, if the group is closed by the
    /// time the reference is tried.
    ///
    /// It is not if it holds the reference, if it is in another alternative, or if it comes later in the
    /// direction of matching. An earlier repetition does not help then: each starts out with its groups empty.
    fn path_if_earlier(&self, reference: &Reference, capture: usize) -> Option<CapturePath<'_>> {
        let (mut around, mut alternative) = (reference.parent, reference.alternative);
        let (mut top, mut shared) = (capture, self.groups[capture].parent);
        while around != shared {
            if around == capture {
                return None;
            }
            if self.groups[around].depth > self.groups[shared].depth {
                alternative = self.groups[around].alternative;
                around = self.groups[around].parent;
            } else {
                top = shared;
                shared = self.groups[shared].parent;
            }
        }
        let opens_before = top < reference.groups_before;
        let is_earlier = opens_before != self.groups[shared].backward;
        let is_passed = is_earlier && self.groups[top].alternative == alternative;
        is_passed.then_some(CapturePath { outline: self, capture, shared })
    }
}

/// The groups from a capture group, included, up to the innermost one that holds its reference too, excluded.
struct CapturePath<'a> {
    outline: &'a Outline,
    capture: usize,
    shared: usize,
}

impl<'a> CapturePath<'a> {
    fn groups(&self) -> impl Iterator<Item = &'a GroupFacts> {
        let outline = self.outline;
        outline.upward(self.capture).take_while(|&index| index != self.shared).map(|index| &outline.groups[index])
    }

    /// Refuses what could leave another text in the group than ECMA-262 would.
    fn check_captured_text(&self) -> Result<(), &'static str> {
        if self.outline.groups[self.shared].backward {
            return Err("a reference to a group in the same look-behind");
        }
        let is_emptied = self.outline.groups[self.capture].is_emptied();
        for (steps, group) in self.groups().enumerate() {
            let measure = group.measure;
            if matches!(group.kind, Kind::Lookbehind { .. }) && measure.width.is_none() {
                return Err("a reference to a group in a look-behind of variable width");
            }
            if matches!(group.kind, Kind::Lookahead { .. }) && measure.repeats_nothing {
                return Err("a reference to a group in a look-ahead that repeats the empty text");
            }
            if measure.nullable && group.quantifier.refuses_nothing() && !(steps == 0 && is_emptied) {
                return Err("a reference to a group in a repetition of the empty text");
            }
        }
        Ok(())
    }

    /// Whether the group may not have taken part; an error if it could then hold an earlier repetition's text.
    fn may_be_unset(&self) -> Result<bool, &'static str> {
        const STALE: &str = "a reference to a group that only some repetitions set";
        let mut may_be_unset = false;
        for (steps, group) in self.groups().enumerate() {
            let is_capture = steps == 0;
            may_be_unset |= !is_capture && group.alternations > 0;
            if may_be_unset && group.quantifier.may_repeat() {
                return Err(STALE);
            }
            may_be_unset |= group.quantifier.min == 0 && !(is_capture && group.is_emptied());
        }
        let mut around = self.outline.upward(self.shared).map(|index| &self.outline.groups[index]);
        if may_be_unset && around.any(|group| group.quantifier.may_repeat()) {
            return Err(STALE);
        }
        Ok(may_be_unset)
    }
}

impl Outline {
    /// The group `index` and the groups around it, from the inside; the whole pattern last.
    fn upward(&self, index: usize) -> impl Iterator<Item = usize> {
        std::iter::successors(Some(index), |&index| (index != 0).then(|| self.groups[index].parent))
    }
}

/// Gathers an [`Outline`] from events.
struct OutlineBuilder {
    outline: Outline,
    open: Vec<OpenGroup>,
    /// The group that the last event closed.
    closed: Option<usize>,
    in_class: bool,
}

/// A group being read: the measures of the alternatives before, of the terms before, and of the last term.
struct OpenGroup {
    index: usize,
    alternatives: Option<Measure>,
    terms: Measure,
    last_term: Measure,
}

impl OutlineBuilder {
    fn new() -> Self {
        let mut builder =
            OutlineBuilder { outline: Outline::default(), open: Vec::new(), closed: None, in_class: false };
        builder.push_group(Kind::NonCapturing, 0, 0, false, 0);
        builder
    }

    fn finish(mut self) -> Outline {
        let (_, measure) = self.pop_group();
        if measure.weight > WEIGHT_MAX {
            self.outline.heavy_at.get_or_insert(0);
        }
        self.outline
    }

    fn add(&mut self, event: Event<'_>, at: usize) {
        let closed = self.closed.take();
        match event {
            Event::Literal(_) => self.add_term(Measure::character(Measure::LITERAL)),
            Event::Dot => self.add_term(Measure::character(Measure::WIDE_CLASS)),
            Event::CharacterClassEscape(escape) => self.add_escape(escape),
            Event::ClassOpen { negated } => self.open_class(negated),
            Event::ClassCharacter(_) => self.grow(Measure::LITERAL),
            Event::ClassRange { last, .. } => self.grow(if last < 0x80 { 0 } else { Measure::WIDE_CLASS }),
            Event::ClassClose => self.in_class = false,
            Event::GroupOpen(group) => self.open_group(group.into(), at),
            Event::GroupClose => self.close_group(),
            Event::Alternation => self.next_alternative(),
            Event::Quantifier { min, max, greedy } => self.repeat(closed, Quantifier { min, max, greedy }),
            Event::InputStart | Event::InputEnd => self.add_term(Measure::EMPTY),
            Event::WordBoundary { negated } => {
                self.outline.has_inner_boundary |= negated;
                self.add_term(Measure::EMPTY);
            }
            Event::Backreference { group } => self.add_reference(group, at),
        }
        if self.outline.heavy_at.is_none() && self.innermost().last_term.weight > WEIGHT_MAX {
            self.outline.heavy_at = Some(at);
        }
    }

    fn innermost(&mut self) -> &mut OpenGroup {
        self.open.last_mut().expect("the reader closes no group that it has not opened")
    }

    fn add_term(&mut self, term: Measure) {
        let group = self.innermost();
        group.terms = group.terms.then(group.last_term);
        group.last_term = term;
    }

    fn open_class(&mut self, negated: bool) {
        self.in_class = true;
        self.add_term(Measure::character(if negated { Measure::WIDE_CLASS } else { Measure::LITERAL }));
    }

    fn grow(&mut self, weight: u64) {
        self.innermost().last_term.weight += weight;
    }

    fn add_escape(&mut self, escape: CharacterClassEscape) {
        let weight = match escape.set {
            EscapedSet::Digit | EscapedSet::Word if !escape.negated => Measure::LITERAL,
            EscapedSet::Digit | EscapedSet::Word | EscapedSet::WhiteSpace => Measure::WIDE_CLASS,
            _ => Measure::PROPERTY,
        };
        if self.in_class {
            self.grow(weight);
        } else {
            self.add_term(Measure::character(weight));
        }
    }

    fn open_group(&mut self, kind: Kind, at: usize) {
        let parent = self.innermost().index;
        let GroupFacts { depth, alternations, backward, .. } = self.outline.groups[parent];
        if depth == GROUP_DEPTH_MAX && self.outline.deep_at.is_none() {
            self.outline.deep_at = Some(at);
        }
        let backward = match kind {
            Kind::Lookahead { .. } => false,
            Kind::Lookbehind { .. } => true,
            _ => backward,
        };
        self.outline.looks_around |= kind.is_lookaround();
        if kind == Kind::Capture {
            self.outline.captures.push(self.outline.groups.len());
        }
        self.push_group(kind, parent, depth + 1, backward, alternations);
    }

    fn push_group(&mut self, kind: Kind, parent: usize, depth: u32, backward: bool, alternative: u32) {
        let index = self.outline.groups.len();
        self.outline.groups.push(GroupFacts {
            kind,
            parent,
            depth,
            alternative,
            alternations: 0,
            backward,
            quantifier: Quantifier::ONCE,
            measure: Measure::EMPTY,
        });
        let (terms, last_term) = (Measure::EMPTY, Measure::EMPTY);
        self.open.push(OpenGroup { index, alternatives: None, terms, last_term });
    }

    fn close_group(&mut self) {
        let (index, measure) = self.pop_group();
        self.closed = Some(index);
        let is_lookaround = self.outline.groups[index].kind.is_lookaround();
        self.add_term(if is_lookaround { measure.looked_around() } else { measure });
    }

    fn pop_group(&mut self) -> (usize, Measure) {
        self.end_alternative();
        let group = self.open.pop().expect("the reader closes no group that it has not opened");
        let measure = group.alternatives.expect("the last alternative has just ended");
        self.outline.groups[group.index].measure = measure;
        (group.index, measure)
    }

    fn next_alternative(&mut self) {
        self.end_alternative();
        let index = self.innermost().index;
        self.outline.groups[index].alternations += 1;
    }

    fn end_alternative(&mut self) {
        self.add_term(Measure::EMPTY);
        let group = self.innermost();
        group.alternatives = Some(group.alternatives.map_or(group.terms, |before| before.or(group.terms)));
        group.terms = Measure::EMPTY;
    }

    fn repeat(&mut self, closed: Option<usize>, quantifier: Quantifier) {
        if let Some(index) = closed {
            self.outline.groups[index].quantifier = quantifier;
        }
        let term = &mut self.innermost().last_term;
        *term = term.repeated(quantifier);
    }

    fn add_reference(&mut self, number: u32, at: usize) {
        let parent = self.innermost().index;
        let alternative = self.outline.groups[parent].alternations;
        let groups_before = self.outline.groups.len();
        self.outline.references.push(Reference { at, number, parent, alternative, groups_before });
        self.add_term(Measure::REFERENCE);
    }
}

/// What part of a pattern can match, as far as it matters here.
#[derive(Debug, Clone, Copy)]
struct Measure {
    /// Whether it may match the empty text.
    nullable: bool,
    /// Whether it may match another text.
    moves: bool,
    /// How many characters it matches, where that is the same in every way of matching.
    width: Option<u32>,
    /// Whether there is a repetition in it that ECMA-262 stops when it matches nothing.
    repeats_nothing: bool,
    /// About how many bytes an automaton takes for it, in the worse direction.
    weight: u64,
}

impl Measure {
    const EMPTY: Measure = Measure { nullable: true, moves: false, width: Some(0), repeats_nothing: false, weight: 0 };
    const REFERENCE: Measure = Measure { moves: true, width: None, weight: Measure::LITERAL, ..Measure::EMPTY };

    /// Weights, as measured with regex-automata 0.4 and rounded up.
    const LITERAL: u64 = 100;
    const WIDE_CLASS: u64 = 2_000;
    const PROPERTY: u64 = 45_000;

    fn character(weight: u64) -> Self {
        Measure { nullable: false, moves: true, width: Some(1), repeats_nothing: false, weight }
    }

    fn then(self, next: Measure) -> Self {
        let width = self.width.zip(next.width).and_then(|(a, b)| a.checked_add(b));
        Measure { nullable: self.nullable && next.nullable, width, ..self.joined(next) }
    }

    fn or(self, other: Measure) -> Self {
        let width = self.width.filter(|_| self.width == other.width);
        Measure { nullable: self.nullable || other.nullable, width, ..self.joined(other) }
    }

    fn joined(self, other: Measure) -> Self {
        Measure {
            moves: self.moves || other.moves,
            repeats_nothing: self.repeats_nothing || other.repeats_nothing,
            weight: self.weight.saturating_add(other.weight),
            ..self
        }
    }

    fn repeated(self, quantifier: Quantifier) -> Self {
        let Quantifier { min, max, .. } = quantifier;
        let fixed_width = self.width.filter(|&width| width == 0 || max == Some(min));
        let copies = u64::from(max.unwrap_or(min)).max(1);
        Measure {
            nullable: self.nullable || min == 0,
            moves: self.moves,
            width: fixed_width.and_then(|width| if width == 0 { Some(0) } else { width.checked_mul(min) }),
            repeats_nothing: self.repeats_nothing || self.nullable && quantifier.refuses_nothing(),
            weight: self.weight.saturating_mul(copies),
        }
    }

    fn looked_around(self) -> Self {
        Measure { repeats_nothing: self.repeats_nothing, weight: self.weight, ..Measure::EMPTY }
    }
}

/// Any code point, as a class.
const ANY: &str = r"[\x{0}-\x{10FFFF}]";
/// A class without members.
const NOTHING: &str = r"[^\x{0}-\x{10FFFF}]";

/// Writes a pattern in Rust syntax.
struct Writer<'a> {
    outline: &'a Outline,
    references: std::slice::Iter<'a, Resolution>,
    /// For each capture group its number in the output; 0 for one without references, which captures nothing.
    numbers: Vec<u32>,
    backtracks: bool,
    out: String,
    open: Vec<WrittenGroup>,
    groups_opened: usize,
    /// The group that the last event closed.
    closed: Option<WrittenGroup>,
    /// Where the members of the open class begin in `out`, and whether it is negated.
    class: Option<(usize, bool)>,
}

#[derive(Debug, Clone, Copy)]
struct WrittenGroup {
    index: usize,
    /// Whether it captures in the output too.
    captures: bool,
}

impl<'a> Writer<'a> {
    fn new(outline: &'a Outline, references: &'a [Resolution], backtracks: bool) -> Self {
        Writer {
            outline,
            references: references.iter(),
            numbers: output_numbers(outline, references),
            backtracks,
            out: String::new(),
            open: Vec::new(),
            groups_opened: 1,
            closed: None,
            class: None,
        }
    }

    fn write(mut self, pattern: &str) -> Result<String, PatternError> {
        if self.outline.has_inner_boundary && !self.backtracks {
            return self.write_from_start(pattern);
        }
        self.events(pattern)?;
        Ok(self.out)
    }

    /// Writes the pattern with its own search, which goes from character to character.
    ///
    /// `(?-u:\B)` also matches between the bytes of one character. The engines then take the match back, but
    /// where they stop at the earliest match (as for a plain yes or no) they miss others that were under way:
    /// regex 1.13 does not find `\B|é\b` in "aéb".
    fn write_from_start(mut self, pattern: &str) -> Result<String, PatternError> {
        self.push(r"\A[\x{0}-\x{10FFFF}]*?(?:");
        self.events(pattern)?;
        self.push(")");
        Ok(self.out)
    }

    fn events(&mut self, pattern: &str) -> Result<(), PatternError> {
        let mut reader = Reader::lenient(pattern);
        while let Some(event) = reader.next_event()? {
            self.event(event).or_else(|reason| untranslatable(reader.event_at(), reason))?;
        }
        Ok(())
    }

    fn event(&mut self, event: Event<'_>) -> Result<(), &'static str> {
        let closed = self.closed.take();
        match event {
            Event::Literal(c) => self.literal(c),
            Event::Dot => self.push(r"[^\n\r\x{2028}\x{2029}]"),
            Event::CharacterClassEscape(escape) => self.escape(escape)?,
            Event::ClassOpen { negated } => self.class_open(negated),
            Event::ClassCharacter(c) => self.range(c, c),
            Event::ClassRange { first, last } => self.range(first, last),
            Event::ClassClose => self.class_close(),
            Event::GroupOpen(group) => self.group_open(group),
            Event::GroupClose => self.group_close(),
            Event::Alternation => self.push("|"),
            Event::Quantifier { min, max, greedy } => self.quantifier(closed, Quantifier { min, max, greedy })?,
            Event::InputStart => self.push(r"\A"),
            Event::InputEnd => self.push(r"\z"),
            Event::WordBoundary { negated } => self.word_boundary(negated),
            Event::Backreference { .. } => self.reference(),
        }
        Ok(())
    }

    fn push(&mut self, text: &str) {
        self.out.push_str(text);
    }

    fn push_format(&mut self, text: fmt::Arguments<'_>) {
        self.out.write_fmt(text).expect("writing to a String succeeds");
    }

    fn literal(&mut self, c: u32) {
        match char::from_u32(c) {
            Some(c) => self.character(c),
            None => self.push(NOTHING),
        }
    }

    fn character(&mut self, c: char) {
        let syntax = if self.class.is_some() { r"\[]^-&~" } else { r"\.+*?()|[]{}^$" };
        if syntax.contains(c) {
            self.out.push('\\');
        }
        if c == ' ' || c.is_ascii_graphic() || !c.is_ascii() && c.is_alphanumeric() {
            self.out.push(c);
        } else {
            self.push_format(format_args!(r"\x{{{:X}}}", u32::from(c)));
        }
    }

    fn class_open(&mut self, negated: bool) {
        self.push(if negated { "[^" } else { "[" });
        self.class = Some((self.out.len(), negated));
    }

    /// Writes the part of a range that UTF-8 text can hold; surrogates it cannot.
    fn range(&mut self, first: u32, last: u32) {
        let first = char::from_u32(first).unwrap_or('\u{E000}');
        let last = char::from_u32(last).unwrap_or('\u{D7FF}');
        if first <= last {
            self.character(first);
        }
        if first < last {
            self.push("-");
            self.character(last);
        }
    }

    fn class_close(&mut self) {
        let (members_at, negated) = self.class.take().expect("the reader opens a class before it closes it");
        if self.out.len() > members_at {
            return self.push("]");
        }
        self.out.truncate(members_at - if negated { "[^".len() } else { "[".len() });
        self.push(if negated { ANY } else { NOTHING });
    }

    fn escape(&mut self, escape: CharacterClassEscape) -> Result<(), &'static str> {
        let members = match escape.set {
            EscapedSet::Digit => "0-9",
            EscapedSet::WhiteSpace => r"\t-\r\p{Z}\x{FEFF}",
            EscapedSet::Word => "0-9A-Za-z_",
            EscapedSet::GeneralCategory("Cs") => {
                self.surrogates(escape.negated);
                return Ok(());
            }
            EscapedSet::GeneralCategory(name) | EscapedSet::Binary(name) => {
                return self.property(escape.negated, "", name);
            }
            EscapedSet::Script(name) => return self.property(escape.negated, "sc=", name),
            EscapedSet::ScriptExtensions(name) => return self.property(escape.negated, "scx=", name),
        };
        match (escape.negated, self.class.is_some()) {
            (true, _) => self.push_format(format_args!("[^{members}]")),
            (false, true) => self.push(members),
            (false, false) => self.push_format(format_args!("[{members}]")),
        }
        Ok(())
    }

    fn surrogates(&mut self, negated: bool) {
        match (negated, self.class.is_some()) {
            (true, _) => self.push(ANY),
            (false, true) => {}
            (false, false) => self.push(NOTHING),
        }
    }

    fn property(&mut self, negated: bool, property: &str, name: &str) -> Result<(), &'static str> {
        let start = self.out.len();
        let letter = if negated { 'P' } else { 'p' };
        self.push_format(format_args!(r"\{letter}{{{property}{name}}}"));
        match regex_syntax::parse(&self.out[start..]) {
            Ok(_) => Ok(()),
            Err(_) => Err("a Unicode property that regex-syntax has no table for"),
        }
    }

    fn group_open(&mut self, group: Group<'_>) {
        let index = self.groups_opened;
        self.groups_opened += 1;
        let captures = matches!(group, Group::Capture { number, .. } if self.numbers[number as usize - 1] > 0);
        self.open.push(WrittenGroup { index, captures });
        let facts = &self.outline.groups[index];
        self.push(match facts.kind {
            Kind::Capture if captures && facts.is_emptied() && !facts.quantifier.greedy => "(|",
            Kind::Capture if captures => "(",
            Kind::Capture | Kind::NonCapturing => "(?:",
            Kind::Lookahead { negated: false } => "(?=",
            Kind::Lookahead { negated: true } => "(?!",
            Kind::Lookbehind { negated: false } => "(?<=",
            Kind::Lookbehind { negated: true } => "(?<!",
        });
    }

    fn group_close(&mut self) {
        self.closed = self.open.pop();
        self.push(")");
    }

    fn quantifier(&mut self, closed: Option<WrittenGroup>, quantifier: Quantifier) -> Result<(), &'static str> {
        let Some(group) = closed else {
            return self.plain_quantifier(quantifier);
        };
        let facts = &self.outline.groups[group.index];
        if group.captures && facts.is_emptied() {
            if quantifier.greedy {
                self.allow_nothing();
            }
            return Ok(());
        }
        if facts.measure.moves {
            return self.plain_quantifier(quantifier);
        }
        // It matches nothing but the empty text, so that once does for often. fancy-regex insists: it takes
        // no quantifier after look-around or an empty group.
        if quantifier.min == 0 {
            self.allow_nothing();
        }
        Ok(())
    }

    /// Turns the `(...)` that ends the output into `(...|)`.
    fn allow_nothing(&mut self) {
        self.out.pop();
        self.push("|)");
    }

    fn plain_quantifier(&mut self, quantifier: Quantifier) -> Result<(), &'static str> {
        // No text is long enough to tell 2^32 - 1 repetitions from more.
        let max = quantifier.max.filter(|&max| max < u32::MAX);
        match (quantifier.min, max) {
            (u32::MAX, _) => return Err("a repetition of 2^32 - 1 times or more"),
            (0, None) => self.push("*"),
            (1, None) => self.push("+"),
            (0, Some(1)) => self.push("?"),
            (min, None) => self.push_format(format_args!("{{{min},}}")),
            (min, Some(max)) if min == max => self.push_format(format_args!("{{{min}}}")),
            (min, Some(max)) => self.push_format(format_args!("{{{min},{max}}}")),
        }
        if !quantifier.greedy {
            self.push("?");
        }
        Ok(())
    }

    /// fancy-regex has no ASCII word boundaries, but look-around.
    fn word_boundary(&mut self, negated: bool) {
        self.push(match (self.backtracks, negated) {
            (false, false) => r"(?-u:\b)",
            (false, true) => r"(?-u:\B)",
            (true, false) => "(?:(?<=[0-9A-Za-z_])(?![0-9A-Za-z_])|(?<![0-9A-Za-z_])(?=[0-9A-Za-z_]))",
            (true, true) => "(?:(?<=[0-9A-Za-z_])(?=[0-9A-Za-z_])|(?<![0-9A-Za-z_])(?![0-9A-Za-z_]))",
        });
    }

    /// An empty reference is written as something that can be repeated, a full one so that no digit joins it.
    fn reference(&mut self) {
        let resolution = self.references.next().expect("each reference has been resolved");
        match *resolution {
            Resolution::Empty => self.push("(?:a{0})"),
            Resolution::Group(number) => {
                let number = self.numbers[number as usize - 1];
                self.push_format(format_args!(r"(?:\{number})"));
            }
            Resolution::GroupIfSet(number) => {
                let number = self.numbers[number as usize - 1];
                self.push_format(format_args!(r"(?({number})\{number}|)"));
            }
        }
    }
}

/// Numbers the capture groups that references see, in the order of opening, from 1; the others get 0.
fn output_numbers(outline: &Outline, references: &[Resolution]) -> Vec<u32> {
    let mut numbers = vec![0; outline.captures.len()];
    for resolution in references {
        if let Resolution::Group(number) | Resolution::GroupIfSet(number) = resolution {
            numbers[*number as usize - 1] = 1;
        }
    }
    let mut count = 0;
    for number in numbers.iter_mut().filter(|number| **number > 0) {
        count += 1;
        *number = count;
    }
    numbers
}

/// Looks for a shape at the top of a parsed pattern; deeper ones, such as alternatives, are left to the engine.
fn shape(hir: &Hir) -> Option<Shape> {
    if matches_everything(hir) {
        return Some(Shape::Any);
    }
    let (start, parts) = strip_start(parts(hir));
    let (end, parts) = strip_end(parts);
    match (start, end, parts) {
        (true, true, []) => Some(Shape::Exact(String::new())),
        (true, true, [part]) => literal(part).map(Shape::Exact).or_else(|| repeated_class(part)),
        (true, false, [part]) => literal(part).map(Shape::Prefix),
        (false, true, [part]) => literal(part).map(Shape::Suffix),
        (false, false, [part]) => literal(part).map(Shape::Contains),
        _ => None,
    }
    .or_else(|| start.then(|| Shape::of_pieces(pieces(parts)?, end)).flatten())
    .or_else(|| (start && end).then(|| alternatives(parts)).flatten())
}

/// Whether the pattern, or one of its alternatives, matches the empty text at the start or at the end of any
/// text.
fn matches_everything(hir: &Hir) -> bool {
    let alternatives =
        if let HirKind::Alternation(alternatives) = hir.kind() { alternatives } else { std::slice::from_ref(hir) };
    alternatives.iter().any(|alternative| {
        let parts = parts(alternative);
        let (_, after_start) = strip_start(parts);
        let (_, before_end) = strip_end(parts);
        after_start.iter().all(is_nullable) || before_end.iter().all(is_nullable) || is_all_text(parts)
    })
}

/// Whether it matches the empty text wherever it is tried.
fn is_nullable(hir: &Hir) -> bool {
    hir.properties().look_set().is_empty() && hir.properties().minimum_len() == Some(0)
}

/// Recognises `^[^]*$`.
fn is_all_text(parts: &[Hir]) -> bool {
    let [start, middle, end] = parts else {
        return false;
    };
    let HirKind::Repetition(repetition) = middle.kind() else {
        return false;
    };
    let HirKind::Class(Class::Unicode(class)) = repetition.sub.kind() else {
        return false;
    };
    let whole = matches!(class.ranges(), [range] if (range.start(), range.end()) == ('\0', char::MAX));
    let anchored = (start.kind(), end.kind()) == (&HirKind::Look(Look::Start), &HirKind::Look(Look::End));
    anchored && whole && (repetition.min, repetition.max) == (0, None)
}

fn parts(hir: &Hir) -> &[Hir] {
    match hir.kind() {
        HirKind::Concat(parts) => parts,
        HirKind::Empty => &[],
        _ => std::slice::from_ref(hir),
    }
}

/// Takes `^` off the front, as often as it is there.
fn strip_start(mut parts: &[Hir]) -> (bool, &[Hir]) {
    let mut found = false;
    while let Some((HirKind::Look(Look::Start), rest)) = parts.split_first().map(|(part, rest)| (part.kind(), rest)) {
        (found, parts) = (true, rest);
    }
    (found, parts)
}

/// Takes `$` off the back, as often as it is there.
fn strip_end(mut parts: &[Hir]) -> (bool, &[Hir]) {
    let mut found = false;
    while let Some((HirKind::Look(Look::End), rest)) = parts.split_last().map(|(part, rest)| (part.kind(), rest)) {
        (found, parts) = (true, rest);
    }
    (found, parts)
}

fn literal(hir: &Hir) -> Option<String> {
    let HirKind::Literal(literal) = hir.kind() else {
        return None;
    };
    String::from_utf8(literal.0.to_vec()).ok()
}

fn repeated_class(hir: &Hir) -> Option<Shape> {
    let Piece { ascii, min, max } = piece(hir)?;
    Some(Shape::Class { ascii, min, max })
}

/// Classes and literals one after the other.
fn pieces(parts: &[Hir]) -> Option<Vec<Piece>> {
    let mut pieces = Vec::new();
    for part in parts {
        match part.kind() {
            HirKind::Literal(literal) if literal.0.is_ascii() => {
                pieces.extend(literal.0.iter().map(|byte| Piece { ascii: 1 << byte, min: 1, max: Some(1) }));
            }
            _ => pieces.push(piece(part)?),
        }
        if pieces.len() > PIECES_MAX {
            return None;
        }
    }
    Some(pieces)
}

/// Alternatives of which each is pieces.
fn alternatives(hir: &[Hir]) -> Option<Shape> {
    let [hir] = hir else {
        return None;
    };
    let HirKind::Alternation(alternatives) = hir.kind() else {
        return None;
    };
    Shape::of_alternatives(alternatives.iter().map(|alternative| pieces(parts(alternative))).collect::<Option<_>>()?)
}

/// One ASCII class, repeated or not.
fn piece(hir: &Hir) -> Option<Piece> {
    let (class, min, max) = match hir.kind() {
        HirKind::Repetition(repetition) => (&*repetition.sub, repetition.min, repetition.max),
        _ => (hir, 1, Some(1)),
    };
    Some(Piece { ascii: ascii_set(class)?, min, max })
}

/// The characters that `hir` matches one of, if they are all ASCII.
fn ascii_set(hir: &Hir) -> Option<u128> {
    match hir.kind() {
        HirKind::Literal(literal) => match *literal.0 {
            [byte] if byte.is_ascii() => Some(1 << byte),
            _ => None,
        },
        HirKind::Class(Class::Unicode(class)) => class.ranges().iter().try_fold(0, |set, range| {
            let (first, last) = (u32::from(range.start()), u32::from(range.end()));
            (last < 128).then(|| set | u128::MAX << first & u128::MAX >> (127 - last))
        }),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
