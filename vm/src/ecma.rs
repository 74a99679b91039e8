//! Reads ECMA-262 regular expressions, with the `u` flag and no other.
//!
//! The text of a pattern is turned into a stream of [`Event`]s, one for each piece of its syntax, or into the
//! first [`SyntaxError`]. Nothing is built and nothing is matched:
//!
//! ```text
//! ^(?<sign>-)?[0-9]{1,3}$
//!
//! InputStart
//! GroupOpen(Capture { number: 1, name: Some("sign") })
//! Literal('-')
//! GroupClose
//! Quantifier { min: 0, max: Some(1), greedy: true }
//! ClassOpen { negated: false }, ClassRange { first: '0', last: '9' }, ClassClose
//! Quantifier { min: 1, max: Some(3), greedy: true }
//! InputEnd
//! ```
//!
//! A quantifier follows what it repeats: one literal, one class, or the whole group that has just closed.
//! The reader checks the grammar of 22.2.1 Patterns and the early errors of 22.2.1.1 as it goes, so a stream that
//! reaches its end came from a valid pattern.
//!
//! Patterns come from strangers. The reader is a loop over a fixed amount of state: it neither recurses nor
//! allocates, and reads the text twice (once to count the groups, since `\2` may come before group 2).
//! The price is two bounds that ECMA-262 does not have, [`GROUP_DEPTH_MAX`] and [`NAMED_GROUPS_MAX`].
//!
//! Left out: every other flag, the wider syntax of patterns without `u` (Annex B), the set notation of `v`,
//! and what ECMA-262 added in 2025, which are modifiers `(?i:...)` and one name in two alternatives.
//! Names of Unicode properties and scripts are those of Unicode 17.
#![forbid(unsafe_code)]

mod tables;

use std::fmt;

use tables::{ALPHABETIC_NOT_IN_NAMES, BINARY_PROPERTIES, GENERAL_CATEGORIES, NAME_PARTS, NAME_STARTS, SCRIPTS};

/// How many groups may be open at once.
pub const GROUP_DEPTH_MAX: usize = 1024;

/// How many groups of one pattern may have a name.
pub const NAMED_GROUPS_MAX: usize = 128;

/// Tells whether `pattern` is a pattern of ECMA-262 with the `u` flag.
///
/// Also false above [`GROUP_DEPTH_MAX`] or [`NAMED_GROUPS_MAX`]. Cost: two passes over the text, no allocation.
/// Source: ECMA-262, 22.2.1 Patterns.
#[must_use]
pub fn is_valid(pattern: &str) -> bool {
    let mut reader = Reader::new(pattern);
    loop {
        match reader.next_event() {
            Ok(Some(_)) => {}
            Ok(None) => return true,
            Err(_) => return false,
        }
    }
}

/// Why a text is not a pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SyntaxError {
    /// Where the offending piece begins. Unit: bytes from the start of the pattern, at most its length.
    pub at: usize,
    /// What is wrong there: a phrase in lower case, without a full stop.
    pub reason: &'static str,
}

impl fmt::Display for SyntaxError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at byte {}", self.reason, self.at)
    }
}

impl std::error::Error for SyntaxError {}

/// One piece of a pattern.
///
/// Code points are `u32` because a pattern may name a surrogate on its own, which no `char` can hold and no
/// UTF-8 text contains.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event<'p> {
    /// One code point, written plainly or as an escape. Outside classes.
    Literal(u32),
    /// `.`: any code point but LF, CR, U+2028 and U+2029.
    Dot,
    /// `\d`, `\p{L}` and their like, outside a class or inside one.
    CharacterClassEscape(CharacterClassEscape),
    /// `[` or `[^`. Until `ClassClose` there are only members: characters, ranges and escapes.
    ClassOpen {
        /// Whether the class matches what its members do not.
        negated: bool,
    },
    /// One code point as the member of a class.
    ClassCharacter(u32),
    /// The code points from `first` to `last`, both included; `first <= last`.
    ClassRange {
        /// The lowest member.
        first: u32,
        /// The highest member.
        last: u32,
    },
    /// `]`.
    ClassClose,
    /// `(` and what says its kind.
    GroupOpen(Group<'p>),
    /// `)`.
    GroupClose,
    /// `|`, between two alternatives of the innermost open group or of the whole pattern.
    Alternation,
    /// `*`, `+`, `?`, `{n}`, `{n,}` or `{n,m}`, after what it repeats.
    Quantifier {
        /// The least number of repetitions; `u32::MAX` stands for that many or more.
        min: u32,
        /// The greatest number, `u32::MAX` for that many or more; `None`: no limit. Not below `min`.
        max: Option<u32>,
        /// False when a `?` follows, so that fewer repetitions are tried first.
        greedy: bool,
    },
    /// `^`: the start of the text.
    InputStart,
    /// `$`: the end of the text.
    InputEnd,
    /// `\b`, or `\B` when negated.
    WordBoundary {
        /// True for `\B`.
        negated: bool,
    },
    /// `\1` or `\k<name>`: the capture group it refers to, which exists but may come later.
    Backreference {
        /// The number of the group, from 1.
        group: u32,
    },
}

/// What `(` opens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Group<'p> {
    /// `(` or `(?<name>`.
    Capture {
        /// The number of the group, from 1, in the order of opening.
        number: u32,
        /// The name as it is written, escapes included.
        name: Option<&'p str>,
    },
    /// `(?:`.
    NonCapturing,
    /// `(?=`, or `(?!` when negated.
    Lookahead {
        /// True for `(?!`.
        negated: bool,
    },
    /// `(?<=`, or `(?<!` when negated.
    Lookbehind {
        /// True for `(?<!`.
        negated: bool,
    },
}

/// A set of code points that has an escape. Source: ECMA-262, 22.2.2.9.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CharacterClassEscape {
    /// Whether the complement is meant: `\D`, `\S`, `\W`, `\P`.
    pub negated: bool,
    /// The set before negation.
    pub set: EscapedSet,
}

/// The set behind a [`CharacterClassEscape`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EscapedSet {
    /// `\d`: 0 to 9.
    Digit,
    /// `\s`: the white space and line terminators of ECMA-262, 12.2 and 12.3.
    WhiteSpace,
    /// `\w`: ASCII letters, ASCII digits and `_`.
    Word,
    /// `\p{General_Category=name}` or `\p{name}`: the short name, such as `Lu`.
    GeneralCategory(&'static str),
    /// `\p{Script=name}`: the long name, such as `Old_Italic`.
    Script(&'static str),
    /// `\p{Script_Extensions=name}`: the long name of the script.
    ScriptExtensions(&'static str),
    /// `\p{name}`: the long name, such as `White_Space`.
    Binary(&'static str),
}

/// A pattern being read, one event at a time.
///
/// Shape: borrows the pattern; about 4 KiB, on the stack. Cost of all calls together: linear in the length of
/// the pattern (a name is compared with at most [`NAMED_GROUPS_MAX`] others, by hash first), no allocation.
#[derive(Debug, Clone)]
pub struct Reader<'p> {
    cursor: Cursor<'p>,
    event_at: usize,
    captures: Captures<'p>,
    capture_count: u32,
    named_count: usize,
    open_groups: OpenGroups,
    place: Place,
    lenient: bool,
    failure: Option<SyntaxError>,
}

impl<'p> Reader<'p> {
    /// Starts at the beginning of `pattern`, after one pass that counts its capture groups.
    #[must_use]
    pub fn new(pattern: &'p str) -> Self {
        let captures = Captures::count(pattern);
        Reader {
            cursor: Cursor { text: pattern, at: 0 },
            event_at: 0,
            captures,
            capture_count: 0,
            named_count: 0,
            open_groups: OpenGroups::default(),
            place: Place::TermStart,
            lenient: false,
            failure: captures.failure,
        }
    }

    /// As [`new`](Self::new), but what only the `u` flag forbids and can be meant in one way is taken as every engine
    /// without it takes it: escaped punctuation (`\-`, `\@`), brackets and braces that close or count nothing (`]`,
    /// `{x}`), and a hyphen beside a set in a class (`[\w-.]`). Escaped letters stay errors: `\a` and `\Z` mean one
    /// thing in ECMA-262 and another where their authors come from. Source: ECMA-262, annex B.1.2.
    #[must_use]
    pub fn lenient(pattern: &'p str) -> Self {
        Reader { lenient: true, ..Reader::new(pattern) }
    }

    /// Reads the next event; `None` at the end of a valid pattern.
    ///
    /// # Errors
    /// The first thing that ECMA-262 forbids. Later calls give the same error again.
    pub fn next_event(&mut self) -> Result<Option<Event<'p>>, SyntaxError> {
        if let Some(failure) = self.failure {
            return Err(failure);
        }
        self.event_at = self.cursor.at;
        let event = if self.place == Place::Class { self.class_member() } else { self.term() };
        self.failure = event.err();
        event
    }

    /// Where the last event begins. Unit: bytes from the start of the pattern.
    #[must_use]
    pub fn event_at(&self) -> usize {
        self.event_at
    }

    fn term(&mut self) -> Result<Option<Event<'p>>, SyntaxError> {
        let Some(c) = self.cursor.bump() else {
            return self.end();
        };
        let repeatable = self.place == Place::AfterAtom;
        self.place = Place::AfterAtom;
        let event = match c {
            '{' if self.lenient && !self.counts_follow() => Event::Literal(u32::from(c)),
            '*' | '+' | '?' | '{' => self.quantifier(c, repeatable)?,
            '^' => self.not_repeatable(Event::InputStart),
            '$' => self.not_repeatable(Event::InputEnd),
            '|' => self.not_repeatable(Event::Alternation),
            '(' => self.group_open()?,
            ')' => self.group_close()?,
            '[' => self.class_open(),
            '.' => Event::Dot,
            '\\' => self.atom_escape()?,
            ']' | '}' if self.lenient => Event::Literal(u32::from(c)),
            ']' => return self.fail("`]` without `[`"),
            '}' => return self.fail("`}` without `{`"),
            _ => Event::Literal(u32::from(c)),
        };
        Ok(Some(event))
    }

    fn end(&self) -> Result<Option<Event<'p>>, SyntaxError> {
        if self.open_groups.depth > 0 { self.fail("a group is not closed") } else { Ok(None) }
    }

    fn not_repeatable(&mut self, event: Event<'p>) -> Event<'p> {
        self.place = Place::TermStart;
        event
    }

    fn fail<T>(&self, reason: &'static str) -> Result<T, SyntaxError> {
        Err(SyntaxError { at: self.event_at, reason })
    }
}

/// Quantifiers. Source: ECMA-262, 22.2.1, `QuantifierPrefix`.
impl<'p> Reader<'p> {
    fn quantifier(&mut self, c: char, repeatable: bool) -> Result<Event<'p>, SyntaxError> {
        if !repeatable {
            return self.fail("nothing to repeat");
        }
        let (min, max) = match c {
            '*' => (0, None),
            '+' => (1, None),
            '?' => (0, Some(1)),
            _ => self.counts()?,
        };
        let greedy = !self.cursor.eat("?");
        Ok(self.not_repeatable(Event::Quantifier { min, max, greedy }))
    }

    /// Whether what follows `{` makes it a quantifier.
    fn counts_follow(&self) -> bool {
        let mut ahead = self.cursor;
        let min = ahead.count();
        if ahead.eat(",") {
            ahead.count();
        }
        min.is_some() && ahead.eat("}")
    }

    /// Reads what follows `{`.
    fn counts(&mut self) -> Result<(u32, Option<u32>), SyntaxError> {
        let min = self.cursor.count();
        let max = if self.cursor.eat(",") { self.cursor.count() } else { min };
        if min.is_none() || !self.cursor.eat("}") {
            return self.fail("an incomplete quantifier");
        }
        if max.is_some() && max < min {
            return self.fail("a quantifier whose limits are out of order");
        }
        Ok((min.map_or(0, Count::saturated), max.map(Count::saturated)))
    }
}

/// Groups. Source: ECMA-262, 22.2.1, `Atom`, `Assertion` and `GroupSpecifier`.
impl<'p> Reader<'p> {
    fn group_open(&mut self) -> Result<Event<'p>, SyntaxError> {
        let group = if self.cursor.eat("?") { self.marked_group()? } else { self.capture(None) };
        let looks_around = matches!(group, Group::Lookahead { .. } | Group::Lookbehind { .. });
        if !self.open_groups.push(!looks_around) {
            return self.fail("groups nest too deeply");
        }
        Ok(self.not_repeatable(Event::GroupOpen(group)))
    }

    /// Reads what follows `(?`.
    fn marked_group(&mut self) -> Result<Group<'p>, SyntaxError> {
        const MARKS: [(&str, Group<'static>); 5] = [
            (":", Group::NonCapturing),
            ("=", Group::Lookahead { negated: false }),
            ("!", Group::Lookahead { negated: true }),
            ("<=", Group::Lookbehind { negated: false }),
            ("<!", Group::Lookbehind { negated: true }),
        ];
        for (mark, group) in MARKS {
            if self.cursor.eat(mark) {
                return Ok(group);
            }
        }
        if !self.cursor.eat("<") {
            return self.fail("an unknown kind of group");
        }
        let name = self.cursor.group_name()?;
        self.check_new_name(name)?;
        Ok(self.capture(Some(name.text)))
    }

    fn capture(&mut self, name: Option<&'p str>) -> Group<'p> {
        self.capture_count += 1;
        self.named_count += usize::from(name.is_some());
        Group::Capture { number: self.capture_count, name }
    }

    fn check_new_name(&self, name: Name<'p>) -> Result<(), SyntaxError> {
        let earlier = &self.captures.named[..self.named_count];
        if earlier.iter().any(|(other, _)| other.is_same(name)) {
            return self.fail("two groups have this name");
        }
        Ok(())
    }

    fn group_close(&mut self) -> Result<Event<'p>, SyntaxError> {
        match self.open_groups.pop() {
            None => self.fail("`)` without `(`"),
            Some(true) => Ok(Event::GroupClose),
            Some(false) => Ok(self.not_repeatable(Event::GroupClose)),
        }
    }
}

/// Escapes. Source: ECMA-262, 22.2.1, `AtomEscape`, `ClassEscape` and `CharacterEscape`.
impl<'p> Reader<'p> {
    /// Reads what follows `\` outside a class.
    fn atom_escape(&mut self) -> Result<Event<'p>, SyntaxError> {
        let Some(c) = self.cursor.bump() else {
            return self.fail("`\\` at the end");
        };
        match c {
            'b' | 'B' => Ok(self.not_repeatable(Event::WordBoundary { negated: c == 'B' })),
            'k' => self.named_reference(),
            '1'..='9' => self.numbered_reference(),
            _ => Ok(match self.escape(c)? {
                ClassAtom::Character(c) => Event::Literal(c),
                ClassAtom::Set(set) => Event::CharacterClassEscape(set),
            }),
        }
    }

    fn numbered_reference(&mut self) -> Result<Event<'p>, SyntaxError> {
        self.cursor.at -= 1;
        let group = self.cursor.count().map_or(0, Count::saturated);
        if group > self.captures.count {
            return self.fail("a reference to a group that does not exist");
        }
        Ok(Event::Backreference { group })
    }

    fn named_reference(&mut self) -> Result<Event<'p>, SyntaxError> {
        if !self.cursor.eat("<") {
            return self.fail("`\\k` without a name");
        }
        let name = self.cursor.group_name()?;
        let mut named = self.captures.named[..self.captures.named_count].iter();
        match named.find(|(other, _)| other.is_same(name)) {
            Some(&(_, group)) => Ok(Event::Backreference { group }),
            None => self.fail("a reference to a group that does not exist"),
        }
    }

    /// Reads an escape that means the same inside a class and outside; `c` follows the `\`.
    fn escape(&mut self, c: char) -> Result<ClassAtom, SyntaxError> {
        let set = match c.to_ascii_lowercase() {
            'd' => EscapedSet::Digit,
            's' => EscapedSet::WhiteSpace,
            'w' => EscapedSet::Word,
            'p' => self.property()?,
            _ => return self.character_escape(c).map(ClassAtom::Character),
        };
        let negated = c.is_ascii_uppercase();
        Ok(ClassAtom::Set(CharacterClassEscape { negated, set }))
    }

    fn character_escape(&mut self, c: char) -> Result<u32, SyntaxError> {
        match c {
            't' => Ok(0x09),
            'n' => Ok(0x0A),
            'v' => Ok(0x0B),
            'f' => Ok(0x0C),
            'r' => Ok(0x0D),
            '0' if !self.cursor.sees(|c| c.is_ascii_digit()) => Ok(0),
            '0'..='9' => self.fail("an octal escape"),
            'c' => self.control_letter(),
            'x' => self.cursor.hex(2).map_or_else(|| self.fail("`\\x` without two digits"), Ok),
            'u' => self.cursor.unicode_escape().map_or_else(|| self.fail("a malformed `\\u`"), Ok),
            '^' | '$' | '\\' | '.' | '*' | '+' | '?' | '(' | ')' | '[' | ']' | '{' | '}' | '|' | '/' => {
                Ok(u32::from(c))
            }
            _ if self.lenient && !c.is_alphanumeric() => Ok(u32::from(c)),
            _ => self.fail("an unknown escape"),
        }
    }

    fn control_letter(&mut self) -> Result<u32, SyntaxError> {
        match self.cursor.bump() {
            Some(letter) if letter.is_ascii_alphabetic() => Ok(u32::from(letter) % 32),
            _ => self.fail("`\\c` without a letter"),
        }
    }

    /// Reads what follows `\p`. Source: ECMA-262, 22.2.1, `UnicodePropertyValueExpression`.
    fn property(&mut self) -> Result<EscapedSet, SyntaxError> {
        let set = if self.cursor.eat("{") { self.property_set() } else { None };
        match set {
            Some(set) if self.cursor.eat("}") => Ok(set),
            _ => self.fail("an unknown Unicode property"),
        }
    }

    fn property_set(&mut self) -> Option<EscapedSet> {
        let name = self.cursor.property_word();
        if !self.cursor.eat("=") {
            return canonical(&GENERAL_CATEGORIES, name)
                .map(EscapedSet::GeneralCategory)
                .or_else(|| canonical(&BINARY_PROPERTIES, name).map(EscapedSet::Binary));
        }
        let value = self.cursor.property_word();
        match name {
            "General_Category" | "gc" => canonical(&GENERAL_CATEGORIES, value).map(EscapedSet::GeneralCategory),
            "Script" | "sc" => canonical(&SCRIPTS, value).map(EscapedSet::Script),
            "Script_Extensions" | "scx" => canonical(&SCRIPTS, value).map(EscapedSet::ScriptExtensions),
            _ => None,
        }
    }
}

/// Classes. Source: ECMA-262, 22.2.1, `CharacterClass`, and the early errors of 22.2.1.1 for ranges.
impl<'p> Reader<'p> {
    fn class_open(&mut self) -> Event<'p> {
        self.place = Place::Class;
        Event::ClassOpen { negated: self.cursor.eat("^") }
    }

    fn class_member(&mut self) -> Result<Option<Event<'p>>, SyntaxError> {
        if self.cursor.eat("]") {
            self.place = Place::AfterAtom;
            return Ok(Some(Event::ClassClose));
        }
        let first = self.class_atom()?;
        if self.range_follows() {
            let hyphen = self.cursor;
            self.cursor.eat("-");
            let last = self.class_atom()?;
            let beside_set = matches!((first, last), (ClassAtom::Set(_), _) | (_, ClassAtom::Set(_)));
            if !(self.lenient && beside_set) {
                return self.range(first, last).map(Some);
            }
            // The hyphen is a member of its own, and read as the next one.
            self.cursor = hyphen;
        }
        Ok(Some(match first {
            ClassAtom::Character(c) => Event::ClassCharacter(c),
            ClassAtom::Set(set) => Event::CharacterClassEscape(set),
        }))
    }

    fn class_atom(&mut self) -> Result<ClassAtom, SyntaxError> {
        match self.cursor.bump() {
            None => self.fail("a class is not closed"),
            Some('\\') => self.class_escape(),
            Some(c) => Ok(ClassAtom::Character(u32::from(c))),
        }
    }

    fn class_escape(&mut self) -> Result<ClassAtom, SyntaxError> {
        match self.cursor.bump() {
            None => self.fail("`\\` at the end"),
            Some('b') => Ok(ClassAtom::Character(0x08)),
            Some('-') => Ok(ClassAtom::Character(u32::from('-'))),
            Some(c) => self.escape(c),
        }
    }

    /// A `-` makes a range unless it is the last thing in the class.
    fn range_follows(&self) -> bool {
        let rest = &self.cursor.text.as_bytes()[self.cursor.at..];
        rest.first() == Some(&b'-') && rest.get(1) != Some(&b']')
    }

    fn range(&self, first: ClassAtom, last: ClassAtom) -> Result<Event<'p>, SyntaxError> {
        match (first, last) {
            (ClassAtom::Character(first), ClassAtom::Character(last)) if first <= last => {
                Ok(Event::ClassRange { first, last })
            }
            (ClassAtom::Character(_), ClassAtom::Character(_)) => self.fail("a range whose ends are out of order"),
            _ => self.fail("a range that begins or ends with a set"),
        }
    }
}

/// What the reader stands in or behind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    /// Nothing here can be repeated.
    TermStart,
    /// A quantifier may follow.
    AfterAtom,
    /// Between `[` and `]`.
    Class,
}

/// One end of a range, or a member on its own.
#[derive(Debug, Clone, Copy)]
enum ClassAtom {
    Character(u32),
    Set(CharacterClassEscape),
}

/// The open groups, a bit each: whether a quantifier may follow the group once it is closed.
#[derive(Debug, Clone, Default)]
struct OpenGroups {
    depth: usize,
    repeatable: [u64; GROUP_DEPTH_MAX / 64],
}

const _: () = assert!(GROUP_DEPTH_MAX.is_multiple_of(64), "the bits fill their words");

impl OpenGroups {
    /// False when there is no room.
    fn push(&mut self, repeatable: bool) -> bool {
        let Some(word) = self.repeatable.get_mut(self.depth / 64) else {
            return false;
        };
        let bit = 1 << (self.depth % 64);
        *word = if repeatable { *word | bit } else { *word & !bit };
        self.depth += 1;
        true
    }

    fn pop(&mut self) -> Option<bool> {
        self.depth = self.depth.checked_sub(1)?;
        Some(self.repeatable[self.depth / 64] >> (self.depth % 64) & 1 == 1)
    }
}

/// How many capture groups a whole pattern has, and the names and numbers of those with a name.
#[derive(Debug, Clone, Copy)]
struct Captures<'p> {
    count: u32,
    named: [(Name<'p>, u32); NAMED_GROUPS_MAX],
    named_count: usize,
    failure: Option<SyntaxError>,
}

impl<'p> Captures<'p> {
    /// Looks for capture groups without checking anything else.
    ///
    /// In a valid pattern every `(` outside classes and not behind a `\` opens a group, so the count is right
    /// for those; for the others it does not matter, as reading them fails.
    fn count(pattern: &'p str) -> Self {
        let named = [(Name::default(), 0); NAMED_GROUPS_MAX];
        let mut captures = Captures { count: 0, named, named_count: 0, failure: None };
        let bytes = pattern.as_bytes();
        let mut in_class = false;
        let mut at = 0;
        while let Some(&byte) = bytes.get(at) {
            match byte {
                b'\\' => at += 1,
                b'[' => in_class = true,
                b']' => in_class = false,
                b'(' if !in_class => captures.group(pattern, at),
                _ => {}
            }
            at += 1;
        }
        captures
    }

    fn group(&mut self, pattern: &'p str, at: usize) {
        match &pattern.as_bytes()[at + 1..] {
            [b'?', b'<', b'=' | b'!', ..] => {}
            [b'?', b'<', ..] => self.named_group(pattern, at),
            [b'?', ..] => {}
            _ => self.count += 1,
        }
    }

    fn named_group(&mut self, pattern: &'p str, at: usize) {
        self.count += 1;
        let Ok(name) = (Cursor { text: pattern, at: at + "(?<".len() }).group_name() else {
            return;
        };
        if let Some(named) = self.named.get_mut(self.named_count) {
            *named = (name, self.count);
            self.named_count += 1;
        } else if self.failure.is_none() {
            self.failure = Some(SyntaxError { at, reason: "too many groups have a name" });
        }
    }
}

/// The name of a group: as it is written, and a hash of what it spells.
#[derive(Debug, Clone, Copy, Default)]
struct Name<'p> {
    text: &'p str,
    hash: u64,
}

impl Name<'_> {
    fn is_same(self, other: Name<'_>) -> bool {
        self.hash == other.hash && self.characters().eq(other.characters())
    }

    fn characters(self) -> impl Iterator<Item = u32> {
        let mut cursor = Cursor { text: self.text, at: 0 };
        std::iter::from_fn(move || cursor.name_character())
    }
}

/// A text and how much of it is read. Unit: bytes, on a character boundary.
#[derive(Debug, Clone, Copy)]
struct Cursor<'p> {
    text: &'p str,
    at: usize,
}

impl<'p> Cursor<'p> {
    fn rest(&self) -> &'p str {
        &self.text[self.at..]
    }

    fn bump(&mut self) -> Option<char> {
        let c = self.rest().chars().next()?;
        self.at += c.len_utf8();
        Some(c)
    }

    fn sees(&self, wanted: impl Fn(char) -> bool) -> bool {
        self.rest().chars().next().is_some_and(wanted)
    }

    fn eat(&mut self, expected: &str) -> bool {
        let found = self.rest().starts_with(expected);
        self.at += if found { expected.len() } else { 0 };
        found
    }

    fn take_while(&mut self, wanted: impl Fn(u8) -> bool) -> &'p str {
        let rest = self.rest();
        let len = rest.bytes().take_while(|&byte| wanted(byte)).count();
        self.at += len;
        &rest[..len]
    }

    /// Reads decimal digits, if there are any.
    fn count(&mut self) -> Option<Count<'p>> {
        let digits = self.take_while(|byte| byte.is_ascii_digit());
        let significant = digits.trim_start_matches('0');
        (!digits.is_empty()).then_some(Count { len: significant.len(), significant })
    }

    fn property_word(&mut self) -> &'p str {
        self.take_while(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    }

    /// Reads exactly `len` hexadecimal digits, or nothing.
    fn hex(&mut self, len: usize) -> Option<u32> {
        let digits = self.rest().get(..len)?;
        let value = hex_value(digits)?;
        self.at += len;
        Some(value)
    }

    /// Reads what follows `\u`, two escaped surrogates as one code point.
    /// Source: ECMA-262, 22.2.1, `RegExpUnicodeEscapeSequence`.
    fn unicode_escape(&mut self) -> Option<u32> {
        if self.eat("{") {
            let digits = self.take_while(|byte| byte.is_ascii_hexdigit());
            let value = hex_value(digits).filter(|&value| value <= 0x0010_FFFF);
            return value.filter(|_| self.eat("}"));
        }
        let first = self.hex(4)?;
        let second = if is_lead_surrogate(first) { self.trail_surrogate() } else { None };
        Some(second.map_or(first, |second| 0x1_0000 + ((first - 0xD800) << 10) + (second - 0xDC00)))
    }

    /// Reads an escaped trail surrogate, or nothing.
    fn trail_surrogate(&mut self) -> Option<u32> {
        let mut ahead = *self;
        let value = if ahead.eat("\\u") { ahead.hex(4) } else { None };
        let value = value.filter(|value| (0xDC00..=0xDFFF).contains(value))?;
        *self = ahead;
        Some(value)
    }

    /// Reads a name and the `>` behind it. Source: ECMA-262, 22.2.1, `GroupName`.
    fn group_name(&mut self) -> Result<Name<'p>, SyntaxError> {
        let start = self.at;
        let mut hash = 0_u64;
        loop {
            let at = self.at;
            if at > start && self.eat(">") {
                return Ok(Name { text: &self.text[start..at], hash });
            }
            match self.name_character() {
                Some(c) if if at == start { starts_name(c) } else { continues_name(c) } => {
                    hash = (hash.rotate_left(5) ^ u64::from(c)).wrapping_mul(0x517C_C1B7_2722_0A95);
                }
                _ => return Err(SyntaxError { at, reason: "a malformed group name" }),
            }
        }
    }

    /// Reads one code point of a name; `None` where there is none.
    fn name_character(&mut self) -> Option<u32> {
        match self.bump()? {
            '\\' => {
                if self.eat("u") {
                    self.unicode_escape()
                } else {
                    None
                }
            }
            c => Some(u32::from(c)),
        }
    }
}

/// A number of any size, as its digits without leading zeros; greater numbers compare greater.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Count<'p> {
    len: usize,
    significant: &'p str,
}

impl Count<'_> {
    fn saturated(self) -> u32 {
        if self.len == 0 { 0 } else { self.significant.parse().unwrap_or(u32::MAX) }
    }
}

/// The value of hexadecimal digits; `None` when there are none, others, or it exceeds 32 bits.
fn hex_value(digits: &str) -> Option<u32> {
    let all_hex = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    all_hex.then(|| u32::from_str_radix(digits, 16).ok()).flatten()
}

fn is_lead_surrogate(c: u32) -> bool {
    (0xD800..=0xDBFF).contains(&c)
}

/// `ID_Start`, `$` and `_`. Source: ECMA-262, 12.7, `IdentifierStartChar`.
fn starts_name(c: u32) -> bool {
    match char::from_u32(c) {
        Some('$' | '_') => true,
        Some(c) if c.is_ascii() => c.is_ascii_alphabetic(),
        Some(letter) => {
            (letter.is_alphabetic() && !holds(&NAME_PARTS, c) && !holds(&ALPHABETIC_NOT_IN_NAMES, c))
                || holds(&NAME_STARTS, c)
        }
        None => false,
    }
}

/// `ID_Continue`, `$`, ZWNJ and ZWJ. Source: ECMA-262, 12.7, `IdentifierPartChar`.
fn continues_name(c: u32) -> bool {
    let ascii_digit = (0x30..=0x39).contains(&c);
    ascii_digit || starts_name(c) || matches!(c, 0x200C | 0x200D) || holds(&NAME_PARTS, c)
}

/// Whether `c` is in one of `ranges`, which are sorted and apart.
fn holds(ranges: &[(u32, u32)], c: u32) -> bool {
    let after = ranges.partition_point(|&(first, _)| first <= c);
    after > 0 && c <= ranges[after - 1].1
}

/// The first name in the row that has `name`.
fn canonical(table: &'static [(&str, &str)], name: &str) -> Option<&'static str> {
    let row = table.iter().find(|(canonical, alias)| *canonical == name || *alias == name);
    row.map(|&(canonical, _)| canonical)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(pattern: &str, valid: bool) {
        assert_eq!(is_valid(pattern), valid, "{pattern}");
    }

    #[track_caller]
    fn check_events(pattern: &str, expected: &[Event<'_>]) {
        let mut reader = Reader::new(pattern);
        let mut events = Vec::new();
        while let Some(event) = reader.next_event().unwrap() {
            events.push(event);
        }
        assert_eq!(events, expected, "{pattern}");
    }

    #[track_caller]
    fn check_error(pattern: &str, at: usize, reason: &str) {
        let mut reader = Reader::new(pattern);
        let error = loop {
            match reader.next_event() {
                Ok(Some(_)) => {}
                Ok(None) => panic!("{pattern} is valid"),
                Err(error) => break error,
            }
        };
        assert_eq!((error.at, error.reason), (at, reason), "{pattern}");
        assert_eq!(reader.next_event(), Err(error));
    }

    fn literal(c: char) -> Event<'static> {
        Event::Literal(u32::from(c))
    }

    #[test]
    fn quantifiers_follow_atoms_only() {
        for valid in ["", "a*", "a+?", "a??", "a{2}", "a{2,}?", "a{0012,12}", "(?:^)*", "(a){0}", "[a]*", r"\1?()"] {
            check(valid, true);
        }
        for invalid in ["*", "a**", "a{2}{3}", "a*+", "^*", "$?", r"\b+", "(?=a)*", "(?<=a)?", "(?!a){2}", "|*", "(*)"]
        {
            check(invalid, false);
        }
        for invalid in ["{", "}", "a{", "a{1", "a{,2}", "a{1,2", "a{b}", "a{ 1}", "a{2,1}", "a{}"] {
            check(invalid, false);
        }
    }

    #[test]
    fn counts_of_any_size_are_compared_exactly() {
        check("a{99999999999999999998,99999999999999999999}", true);
        check("a{99999999999999999999,99999999999999999998}", false);
        let counts = Event::Quantifier { min: 7, max: Some(u32::MAX), greedy: true };
        check_events("a{007,4294967296}", &[literal('a'), counts]);
    }

    #[test]
    fn groups_are_balanced_and_known() {
        for valid in
            ["()", "(?:)", "(?=)", "(?!a)", "(?<=a+)b", "(?<!a)", "(a(b)c)", "(?<name>x)", "(?<$>)", "(?<é_1>)"]
        {
            check(valid, true);
        }
        for invalid in ["(", ")", "(?", "(?)", "(?#c)a", "(?i)a", "(?i:a)", "(?P<n>a)", "(?P=n)", "(?>a)", "(?'n'a)"] {
            check(invalid, false);
        }
        check_error("^(abc]", 5, "`]` without `[`");
        check_error("a(b", 3, "a group is not closed");
    }

    #[test]
    fn group_names_are_identifiers_and_unique() {
        for valid in [r"(?<a\u{62}>.)\k<ab>", r"(?<\ud835\udc9c>.)\k<𝒜>", "(?<a\u{301}\u{200c}>)", r"\k<n>(?<n>)"] {
            check(valid, true);
        }
        for invalid in ["(?<>)", "(?<1>)", "(?<a", "(?<a b>)", "(?<\u{301}>)", "(?<Ⓐ>)", "(?<²>)", r"(?<a\x62>)"] {
            check(invalid, false);
        }
        check_error(r"(?<ab>)(?<a\u0062>)", 7, "two groups have this name");
        check_error(r"(?<a>)\k<b>", 6, "a reference to a group that does not exist");
    }

    #[test]
    fn references_need_their_group() {
        for valid in [r"(a)\1", r"\1(a)", r"(a\1)", r"(?:(a)|\1)", r"[\]](a)\1"] {
            check(valid, true);
        }
        for invalid in [r"\1", r"(a)\2", r"(?:a)\1", r"\(\1", r"[(]\1", r"\k", r"\k<a>", r"(a)\99999999999", r"(a)[\1]"]
        {
            check(invalid, false);
        }
        check_events(
            r"(?<n>)\k<n>",
            &[
                Event::GroupOpen(Group::Capture { number: 1, name: Some("n") }),
                Event::GroupClose,
                Event::Backreference { group: 1 },
            ],
        );
    }

    #[test]
    fn escapes_are_the_known_ones() {
        for valid in [r"\t\n\v\f\r\0\cA\cz\x41\u0041\u{041}\^\$\\\.\*\+\?\(\)\[\]\{\}\|\/", r"\d\D\s\S\w\W\b\B"] {
            check(valid, true);
        }
        for invalid in
            [r"\a", r"\Z", r"\A", r"\z", r"\_", r"\-", r"\'", r"\é", r"\", r"\00", r"\01", r"\c", r"\c1", r"\x4"]
        {
            check(invalid, false);
        }
        for invalid in [r"\u", r"\u41", r"\u{}", r"\u{110000}", r"\u{41", r"\u{FFFFFFFFF}", r"\u{+41}", r"\x+1"] {
            check(invalid, false);
        }
    }

    #[test]
    fn two_escaped_surrogates_are_one_code_point() {
        check_events(r"\ud83d\udc32", &[literal('🐲')]);
        check_events("🐲", &[literal('🐲')]);
        check_events(r"\u{d83d}\udc32", &[Event::Literal(0xD83D), Event::Literal(0xDC32)]);
        check_events(r"\ud83d\u{dc32}", &[Event::Literal(0xD83D), Event::Literal(0xDC32)]);
        check_events(r"\ud83dx", &[Event::Literal(0xD83D), literal('x')]);
    }

    #[test]
    fn classes_hold_members_and_ranges() {
        for valid in
            ["[]", "[^]", "[-]", "[a-]", "[-a]", "[a-b-c]", "[+--]", "[---]", r"[\d-]", r"[-\d]", r"[\b\-]", "[(?[*]"]
        {
            check(valid, true);
        }
        for invalid in [
            "[",
            "[]]",
            "[z-a]",
            r"[a-\d]",
            r"[\d-a]",
            r"[--\d]",
            r"[\p{L}-z]",
            r"[\B]",
            r"[\c]",
            r"[\k]",
            r"[\",
            "[a-",
        ] {
            check(invalid, false);
        }
        check_events(
            "[^a-b---]",
            &[
                Event::ClassOpen { negated: true },
                Event::ClassRange { first: 0x61, last: 0x62 },
                Event::ClassRange { first: 0x2D, last: 0x2D },
                Event::ClassClose,
            ],
        );
    }

    #[test]
    fn properties_are_known_by_exact_names() {
        for valid in ["L", "Letter", "digit", "Script=Greek", "sc=Grek", "scx=Qaai", "gc=Nd", "ASCII", "Any", "space"] {
            check(&format!(r"\p{{{valid}}}\P{{{valid}}}[\p{{{valid}}}]"), true);
        }
        for invalid in [
            "l",
            "letter",
            "Greek",
            "Script=greek",
            "sc=L",
            "Script",
            "gc=",
            "=L",
            "",
            "L ",
            "^L",
            "RGI_Emoji",
            "InGreek",
        ] {
            check(&format!(r"\p{{{invalid}}}"), false);
        }
        for invalid in [r"\p", r"\pL", r"\p{L", r"\p{sc=Grek"] {
            check(invalid, false);
        }
    }

    #[test]
    fn bounds_are_errors() {
        let nested = |depth| "(?:".repeat(depth) + &")".repeat(depth);
        check(&nested(GROUP_DEPTH_MAX), true);
        check(&nested(GROUP_DEPTH_MAX + 1), false);
        let mut named = (0..NAMED_GROUPS_MAX).map(|n| format!("(?<n{n}>)")).collect::<Vec<_>>();
        check(&named.concat(), true);
        named.push("(?<other>)".to_owned());
        check(&named.concat(), false);
    }

    #[test]
    fn the_quantifier_after_a_deep_group_is_judged_by_that_group() {
        check(&format!("{}a{}*", "(?=(".repeat(200), "))".repeat(200)), false);
        check(&format!("{}a{}*", "((?=".repeat(200), "))".repeat(200)), true);
    }

    #[track_caller]
    fn check_lenient(pattern: &str, valid: bool) {
        let mut reader = Reader::lenient(pattern);
        let read = loop {
            match reader.next_event() {
                Ok(Some(_)) => {}
                Ok(None) => break true,
                Err(_) => break false,
            }
        };
        assert_eq!(read, valid, "{pattern}");
    }

    #[test]
    fn leniency_takes_what_can_be_meant_in_one_way() {
        for pattern in [r"a\-b", r"\@\_", "a]", "{x}", "a{,2}", r"[\w-.]", r"[+-\d]"] {
            check(pattern, false);
            check_lenient(pattern, true);
        }
        check_lenient(r"\a", false);
        check_lenient(r"x\Z", false);
        check_lenient("a{2,1}", false);
        check_lenient("[b-a]", false);
    }

    #[test]
    fn tables_are_sorted() {
        for table in [&GENERAL_CATEGORIES[..], &BINARY_PROPERTIES, &SCRIPTS] {
            assert!(table.is_sorted(), "{table:?}");
        }
        for ranges in [&NAME_PARTS[..], &NAME_STARTS, &ALPHABETIC_NOT_IN_NAMES] {
            assert!(ranges.is_sorted_by(|a, b| a.1 < b.0), "{ranges:?}");
        }
    }
}
