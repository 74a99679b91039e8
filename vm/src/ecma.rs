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

use std::fmt;

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

/// General categories: the short name, which is used, and another. Source: Unicode, PropertyValueAliases.txt.
#[rustfmt::skip]
static GENERAL_CATEGORIES: [(&str, &str); 42] = [
    ("C", "Other"), ("Cc", "Control"), ("Cc", "cntrl"), ("Cf", "Format"), ("Cn", "Unassigned"),
    ("Co", "Private_Use"), ("Cs", "Surrogate"), ("L", "Letter"), ("LC", "Cased_Letter"),
    ("Ll", "Lowercase_Letter"), ("Lm", "Modifier_Letter"), ("Lo", "Other_Letter"), ("Lt", "Titlecase_Letter"),
    ("Lu", "Uppercase_Letter"), ("M", "Combining_Mark"), ("M", "Mark"), ("Mc", "Spacing_Mark"),
    ("Me", "Enclosing_Mark"), ("Mn", "Nonspacing_Mark"), ("N", "Number"), ("Nd", "Decimal_Number"),
    ("Nd", "digit"), ("Nl", "Letter_Number"), ("No", "Other_Number"), ("P", "Punctuation"), ("P", "punct"),
    ("Pc", "Connector_Punctuation"), ("Pd", "Dash_Punctuation"), ("Pe", "Close_Punctuation"),
    ("Pf", "Final_Punctuation"), ("Pi", "Initial_Punctuation"), ("Po", "Other_Punctuation"),
    ("Ps", "Open_Punctuation"), ("S", "Symbol"), ("Sc", "Currency_Symbol"), ("Sk", "Modifier_Symbol"),
    ("Sm", "Math_Symbol"), ("So", "Other_Symbol"), ("Z", "Separator"), ("Zl", "Line_Separator"),
    ("Zp", "Paragraph_Separator"), ("Zs", "Space_Separator"),
];

/// Binary properties: the long name, which is used, and the alias. Source: ECMA-262, 22.2.2.9, the table of
/// `UnicodeMatchProperty`.
#[rustfmt::skip]
static BINARY_PROPERTIES: [(&str, &str); 53] = [
    ("ASCII", "ASCII"), ("ASCII_Hex_Digit", "AHex"), ("Alphabetic", "Alpha"), ("Any", "Any"),
    ("Assigned", "Assigned"), ("Bidi_Control", "Bidi_C"), ("Bidi_Mirrored", "Bidi_M"), ("Case_Ignorable", "CI"),
    ("Cased", "Cased"), ("Changes_When_Casefolded", "CWCF"), ("Changes_When_Casemapped", "CWCM"),
    ("Changes_When_Lowercased", "CWL"), ("Changes_When_NFKC_Casefolded", "CWKCF"),
    ("Changes_When_Titlecased", "CWT"), ("Changes_When_Uppercased", "CWU"), ("Dash", "Dash"),
    ("Default_Ignorable_Code_Point", "DI"), ("Deprecated", "Dep"), ("Diacritic", "Dia"), ("Emoji", "Emoji"),
    ("Emoji_Component", "EComp"), ("Emoji_Modifier", "EMod"), ("Emoji_Modifier_Base", "EBase"),
    ("Emoji_Presentation", "EPres"), ("Extended_Pictographic", "ExtPict"), ("Extender", "Ext"),
    ("Grapheme_Base", "Gr_Base"), ("Grapheme_Extend", "Gr_Ext"), ("Hex_Digit", "Hex"),
    ("IDS_Binary_Operator", "IDSB"), ("IDS_Trinary_Operator", "IDST"), ("ID_Continue", "IDC"),
    ("ID_Start", "IDS"), ("Ideographic", "Ideo"), ("Join_Control", "Join_C"),
    ("Logical_Order_Exception", "LOE"), ("Lowercase", "Lower"), ("Math", "Math"),
    ("Noncharacter_Code_Point", "NChar"), ("Pattern_Syntax", "Pat_Syn"), ("Pattern_White_Space", "Pat_WS"),
    ("Quotation_Mark", "QMark"), ("Radical", "Radical"), ("Regional_Indicator", "RI"),
    ("Sentence_Terminal", "STerm"), ("Soft_Dotted", "SD"), ("Terminal_Punctuation", "Term"),
    ("Unified_Ideograph", "UIdeo"), ("Uppercase", "Upper"), ("Variation_Selector", "VS"),
    ("White_Space", "space"), ("XID_Continue", "XIDC"), ("XID_Start", "XIDS"),
];

/// Scripts: the long name, which is used, and an alias. Source: Unicode, PropertyValueAliases.txt, without
/// `Katakana_Or_Hiragana`, which is the script of no code point.
#[rustfmt::skip]
static SCRIPTS: [(&str, &str); 177] = [
    ("Adlam", "Adlm"), ("Ahom", "Ahom"), ("Anatolian_Hieroglyphs", "Hluw"), ("Arabic", "Arab"),
    ("Armenian", "Armn"), ("Avestan", "Avst"), ("Balinese", "Bali"), ("Bamum", "Bamu"), ("Bassa_Vah", "Bass"),
    ("Batak", "Batk"), ("Bengali", "Beng"), ("Beria_Erfe", "Berf"), ("Bhaiksuki", "Bhks"), ("Bopomofo", "Bopo"),
    ("Brahmi", "Brah"), ("Braille", "Brai"), ("Buginese", "Bugi"), ("Buhid", "Buhd"),
    ("Canadian_Aboriginal", "Cans"), ("Carian", "Cari"), ("Caucasian_Albanian", "Aghb"), ("Chakma", "Cakm"),
    ("Cham", "Cham"), ("Cherokee", "Cher"), ("Chorasmian", "Chrs"), ("Common", "Zyyy"), ("Coptic", "Copt"),
    ("Coptic", "Qaac"), ("Cuneiform", "Xsux"), ("Cypriot", "Cprt"), ("Cypro_Minoan", "Cpmn"),
    ("Cyrillic", "Cyrl"), ("Deseret", "Dsrt"), ("Devanagari", "Deva"), ("Dives_Akuru", "Diak"),
    ("Dogra", "Dogr"), ("Duployan", "Dupl"), ("Egyptian_Hieroglyphs", "Egyp"), ("Elbasan", "Elba"),
    ("Elymaic", "Elym"), ("Ethiopic", "Ethi"), ("Garay", "Gara"), ("Georgian", "Geor"), ("Glagolitic", "Glag"),
    ("Gothic", "Goth"), ("Grantha", "Gran"), ("Greek", "Grek"), ("Gujarati", "Gujr"), ("Gunjala_Gondi", "Gong"),
    ("Gurmukhi", "Guru"), ("Gurung_Khema", "Gukh"), ("Han", "Hani"), ("Hangul", "Hang"),
    ("Hanifi_Rohingya", "Rohg"), ("Hanunoo", "Hano"), ("Hatran", "Hatr"), ("Hebrew", "Hebr"),
    ("Hiragana", "Hira"), ("Imperial_Aramaic", "Armi"), ("Inherited", "Qaai"), ("Inherited", "Zinh"),
    ("Inscriptional_Pahlavi", "Phli"), ("Inscriptional_Parthian", "Prti"), ("Javanese", "Java"),
    ("Kaithi", "Kthi"), ("Kannada", "Knda"), ("Katakana", "Kana"), ("Kawi", "Kawi"), ("Kayah_Li", "Kali"),
    ("Kharoshthi", "Khar"), ("Khitan_Small_Script", "Kits"), ("Khmer", "Khmr"), ("Khojki", "Khoj"),
    ("Khudawadi", "Sind"), ("Kirat_Rai", "Krai"), ("Lao", "Laoo"), ("Latin", "Latn"), ("Lepcha", "Lepc"),
    ("Limbu", "Limb"), ("Linear_A", "Lina"), ("Linear_B", "Linb"), ("Lisu", "Lisu"), ("Lycian", "Lyci"),
    ("Lydian", "Lydi"), ("Mahajani", "Mahj"), ("Makasar", "Maka"), ("Malayalam", "Mlym"), ("Mandaic", "Mand"),
    ("Manichaean", "Mani"), ("Marchen", "Marc"), ("Masaram_Gondi", "Gonm"), ("Medefaidrin", "Medf"),
    ("Meetei_Mayek", "Mtei"), ("Mende_Kikakui", "Mend"), ("Meroitic_Cursive", "Merc"),
    ("Meroitic_Hieroglyphs", "Mero"), ("Miao", "Plrd"), ("Modi", "Modi"), ("Mongolian", "Mong"),
    ("Mro", "Mroo"), ("Multani", "Mult"), ("Myanmar", "Mymr"), ("Nabataean", "Nbat"), ("Nag_Mundari", "Nagm"),
    ("Nandinagari", "Nand"), ("New_Tai_Lue", "Talu"), ("Newa", "Newa"), ("Nko", "Nkoo"), ("Nushu", "Nshu"),
    ("Nyiakeng_Puachue_Hmong", "Hmnp"), ("Ogham", "Ogam"), ("Ol_Chiki", "Olck"), ("Ol_Onal", "Onao"),
    ("Old_Hungarian", "Hung"), ("Old_Italic", "Ital"), ("Old_North_Arabian", "Narb"), ("Old_Permic", "Perm"),
    ("Old_Persian", "Xpeo"), ("Old_Sogdian", "Sogo"), ("Old_South_Arabian", "Sarb"), ("Old_Turkic", "Orkh"),
    ("Old_Uyghur", "Ougr"), ("Oriya", "Orya"), ("Osage", "Osge"), ("Osmanya", "Osma"), ("Pahawh_Hmong", "Hmng"),
    ("Palmyrene", "Palm"), ("Pau_Cin_Hau", "Pauc"), ("Phags_Pa", "Phag"), ("Phoenician", "Phnx"),
    ("Psalter_Pahlavi", "Phlp"), ("Rejang", "Rjng"), ("Runic", "Runr"), ("Samaritan", "Samr"),
    ("Saurashtra", "Saur"), ("Sharada", "Shrd"), ("Shavian", "Shaw"), ("Siddham", "Sidd"), ("Sidetic", "Sidt"),
    ("SignWriting", "Sgnw"), ("Sinhala", "Sinh"), ("Sogdian", "Sogd"), ("Sora_Sompeng", "Sora"),
    ("Soyombo", "Soyo"), ("Sundanese", "Sund"), ("Sunuwar", "Sunu"), ("Syloti_Nagri", "Sylo"),
    ("Syriac", "Syrc"), ("Tagalog", "Tglg"), ("Tagbanwa", "Tagb"), ("Tai_Le", "Tale"), ("Tai_Tham", "Lana"),
    ("Tai_Viet", "Tavt"), ("Tai_Yo", "Tayo"), ("Takri", "Takr"), ("Tamil", "Taml"), ("Tangsa", "Tnsa"),
    ("Tangut", "Tang"), ("Telugu", "Telu"), ("Thaana", "Thaa"), ("Thai", "Thai"), ("Tibetan", "Tibt"),
    ("Tifinagh", "Tfng"), ("Tirhuta", "Tirh"), ("Todhri", "Todr"), ("Tolong_Siki", "Tols"), ("Toto", "Toto"),
    ("Tulu_Tigalari", "Tutg"), ("Ugaritic", "Ugar"), ("Unknown", "Zzzz"), ("Vai", "Vaii"), ("Vithkuqi", "Vith"),
    ("Wancho", "Wcho"), ("Warang_Citi", "Wara"), ("Yezidi", "Yezi"), ("Yi", "Yiii"),
    ("Zanabazar_Square", "Zanb"),
];

/// Code points outside `ID_Start` that are alphabetic nevertheless, as `ID_Continue` has not got them either.
#[rustfmt::skip]
static ALPHABETIC_NOT_IN_NAMES: [(u32, u32); 5] = [
    (0x24B6, 0x24E9), (0x2E2F, 0x2E2F), (0x1F130, 0x1F149), (0x1F150, 0x1F169), (0x1F170, 0x1F189),
];

/// Code points of `ID_Start` that are not alphabetic. Source: Unicode, PropList.txt, `Other_ID_Start`.
#[rustfmt::skip]
static NAME_STARTS: [(u32, u32); 3] = [
    (0x2118, 0x2118), (0x212E, 0x212E), (0x309B, 0x309C),
];

/// Code points beyond ASCII of `ID_Continue` but not of `ID_Start`, most of them marks and digits.
/// Source: Unicode, DerivedCoreProperties.txt.
#[rustfmt::skip]
static NAME_PARTS: [(u32, u32); 398] = [
    (0xB7, 0xB7), (0x300, 0x36F), (0x387, 0x387), (0x483, 0x487), (0x591, 0x5BD), (0x5BF, 0x5BF),
    (0x5C1, 0x5C2), (0x5C4, 0x5C5), (0x5C7, 0x5C7), (0x610, 0x61A), (0x64B, 0x669), (0x670, 0x670),
    (0x6D6, 0x6DC), (0x6DF, 0x6E4), (0x6E7, 0x6E8), (0x6EA, 0x6ED), (0x6F0, 0x6F9), (0x711, 0x711),
    (0x730, 0x74A), (0x7A6, 0x7B0), (0x7C0, 0x7C9), (0x7EB, 0x7F3), (0x7FD, 0x7FD), (0x816, 0x819),
    (0x81B, 0x823), (0x825, 0x827), (0x829, 0x82D), (0x859, 0x85B), (0x897, 0x89F), (0x8CA, 0x8E1),
    (0x8E3, 0x903), (0x93A, 0x93C), (0x93E, 0x94F), (0x951, 0x957), (0x962, 0x963), (0x966, 0x96F),
    (0x981, 0x983), (0x9BC, 0x9BC), (0x9BE, 0x9C4), (0x9C7, 0x9C8), (0x9CB, 0x9CD), (0x9D7, 0x9D7),
    (0x9E2, 0x9E3), (0x9E6, 0x9EF), (0x9FE, 0x9FE), (0xA01, 0xA03), (0xA3C, 0xA3C), (0xA3E, 0xA42),
    (0xA47, 0xA48), (0xA4B, 0xA4D), (0xA51, 0xA51), (0xA66, 0xA71), (0xA75, 0xA75), (0xA81, 0xA83),
    (0xABC, 0xABC), (0xABE, 0xAC5), (0xAC7, 0xAC9), (0xACB, 0xACD), (0xAE2, 0xAE3), (0xAE6, 0xAEF),
    (0xAFA, 0xAFF), (0xB01, 0xB03), (0xB3C, 0xB3C), (0xB3E, 0xB44), (0xB47, 0xB48), (0xB4B, 0xB4D),
    (0xB55, 0xB57), (0xB62, 0xB63), (0xB66, 0xB6F), (0xB82, 0xB82), (0xBBE, 0xBC2), (0xBC6, 0xBC8),
    (0xBCA, 0xBCD), (0xBD7, 0xBD7), (0xBE6, 0xBEF), (0xC00, 0xC04), (0xC3C, 0xC3C), (0xC3E, 0xC44),
    (0xC46, 0xC48), (0xC4A, 0xC4D), (0xC55, 0xC56), (0xC62, 0xC63), (0xC66, 0xC6F), (0xC81, 0xC83),
    (0xCBC, 0xCBC), (0xCBE, 0xCC4), (0xCC6, 0xCC8), (0xCCA, 0xCCD), (0xCD5, 0xCD6), (0xCE2, 0xCE3),
    (0xCE6, 0xCEF), (0xCF3, 0xCF3), (0xD00, 0xD03), (0xD3B, 0xD3C), (0xD3E, 0xD44), (0xD46, 0xD48),
    (0xD4A, 0xD4D), (0xD57, 0xD57), (0xD62, 0xD63), (0xD66, 0xD6F), (0xD81, 0xD83), (0xDCA, 0xDCA),
    (0xDCF, 0xDD4), (0xDD6, 0xDD6), (0xDD8, 0xDDF), (0xDE6, 0xDEF), (0xDF2, 0xDF3), (0xE31, 0xE31),
    (0xE34, 0xE3A), (0xE47, 0xE4E), (0xE50, 0xE59), (0xEB1, 0xEB1), (0xEB4, 0xEBC), (0xEC8, 0xECE),
    (0xED0, 0xED9), (0xF18, 0xF19), (0xF20, 0xF29), (0xF35, 0xF35), (0xF37, 0xF37), (0xF39, 0xF39),
    (0xF3E, 0xF3F), (0xF71, 0xF84), (0xF86, 0xF87), (0xF8D, 0xF97), (0xF99, 0xFBC), (0xFC6, 0xFC6),
    (0x102B, 0x103E), (0x1040, 0x1049), (0x1056, 0x1059), (0x105E, 0x1060), (0x1062, 0x1064), (0x1067, 0x106D),
    (0x1071, 0x1074), (0x1082, 0x108D), (0x108F, 0x109D), (0x135D, 0x135F), (0x1369, 0x1371), (0x1712, 0x1715),
    (0x1732, 0x1734), (0x1752, 0x1753), (0x1772, 0x1773), (0x17B4, 0x17D3), (0x17DD, 0x17DD), (0x17E0, 0x17E9),
    (0x180B, 0x180D), (0x180F, 0x1819), (0x18A9, 0x18A9), (0x1920, 0x192B), (0x1930, 0x193B), (0x1946, 0x194F),
    (0x19D0, 0x19DA), (0x1A17, 0x1A1B), (0x1A55, 0x1A5E), (0x1A60, 0x1A7C), (0x1A7F, 0x1A89), (0x1A90, 0x1A99),
    (0x1AB0, 0x1ABD), (0x1ABF, 0x1ADD), (0x1AE0, 0x1AEB), (0x1B00, 0x1B04), (0x1B34, 0x1B44), (0x1B50, 0x1B59),
    (0x1B6B, 0x1B73), (0x1B80, 0x1B82), (0x1BA1, 0x1BAD), (0x1BB0, 0x1BB9), (0x1BE6, 0x1BF3), (0x1C24, 0x1C37),
    (0x1C40, 0x1C49), (0x1C50, 0x1C59), (0x1CD0, 0x1CD2), (0x1CD4, 0x1CE8), (0x1CED, 0x1CED), (0x1CF4, 0x1CF4),
    (0x1CF7, 0x1CF9), (0x1DC0, 0x1DFF), (0x200C, 0x200D), (0x203F, 0x2040), (0x2054, 0x2054), (0x20D0, 0x20DC),
    (0x20E1, 0x20E1), (0x20E5, 0x20F0), (0x2CEF, 0x2CF1), (0x2D7F, 0x2D7F), (0x2DE0, 0x2DFF), (0x302A, 0x302F),
    (0x3099, 0x309A), (0x30FB, 0x30FB), (0xA620, 0xA629), (0xA66F, 0xA66F), (0xA674, 0xA67D), (0xA69E, 0xA69F),
    (0xA6F0, 0xA6F1), (0xA802, 0xA802), (0xA806, 0xA806), (0xA80B, 0xA80B), (0xA823, 0xA827), (0xA82C, 0xA82C),
    (0xA880, 0xA881), (0xA8B4, 0xA8C5), (0xA8D0, 0xA8D9), (0xA8E0, 0xA8F1), (0xA8FF, 0xA909), (0xA926, 0xA92D),
    (0xA947, 0xA953), (0xA980, 0xA983), (0xA9B3, 0xA9C0), (0xA9D0, 0xA9D9), (0xA9E5, 0xA9E5), (0xA9F0, 0xA9F9),
    (0xAA29, 0xAA36), (0xAA43, 0xAA43), (0xAA4C, 0xAA4D), (0xAA50, 0xAA59), (0xAA7B, 0xAA7D), (0xAAB0, 0xAAB0),
    (0xAAB2, 0xAAB4), (0xAAB7, 0xAAB8), (0xAABE, 0xAABF), (0xAAC1, 0xAAC1), (0xAAEB, 0xAAEF), (0xAAF5, 0xAAF6),
    (0xABE3, 0xABEA), (0xABEC, 0xABED), (0xABF0, 0xABF9), (0xFB1E, 0xFB1E), (0xFE00, 0xFE0F), (0xFE20, 0xFE2F),
    (0xFE33, 0xFE34), (0xFE4D, 0xFE4F), (0xFF10, 0xFF19), (0xFF3F, 0xFF3F), (0xFF65, 0xFF65),
    (0x101FD, 0x101FD), (0x102E0, 0x102E0), (0x10376, 0x1037A), (0x104A0, 0x104A9), (0x10A01, 0x10A03),
    (0x10A05, 0x10A06), (0x10A0C, 0x10A0F), (0x10A38, 0x10A3A), (0x10A3F, 0x10A3F), (0x10AE5, 0x10AE6),
    (0x10D24, 0x10D27), (0x10D30, 0x10D39), (0x10D40, 0x10D49), (0x10D69, 0x10D6D), (0x10EAB, 0x10EAC),
    (0x10EFA, 0x10EFF), (0x10F46, 0x10F50), (0x10F82, 0x10F85), (0x11000, 0x11002), (0x11038, 0x11046),
    (0x11066, 0x11070), (0x11073, 0x11074), (0x1107F, 0x11082), (0x110B0, 0x110BA), (0x110C2, 0x110C2),
    (0x110F0, 0x110F9), (0x11100, 0x11102), (0x11127, 0x11134), (0x11136, 0x1113F), (0x11145, 0x11146),
    (0x11173, 0x11173), (0x11180, 0x11182), (0x111B3, 0x111C0), (0x111C9, 0x111CC), (0x111CE, 0x111D9),
    (0x1122C, 0x11237), (0x1123E, 0x1123E), (0x11241, 0x11241), (0x112DF, 0x112EA), (0x112F0, 0x112F9),
    (0x11300, 0x11303), (0x1133B, 0x1133C), (0x1133E, 0x11344), (0x11347, 0x11348), (0x1134B, 0x1134D),
    (0x11357, 0x11357), (0x11362, 0x11363), (0x11366, 0x1136C), (0x11370, 0x11374), (0x113B8, 0x113C0),
    (0x113C2, 0x113C2), (0x113C5, 0x113C5), (0x113C7, 0x113CA), (0x113CC, 0x113D0), (0x113D2, 0x113D2),
    (0x113E1, 0x113E2), (0x11435, 0x11446), (0x11450, 0x11459), (0x1145E, 0x1145E), (0x114B0, 0x114C3),
    (0x114D0, 0x114D9), (0x115AF, 0x115B5), (0x115B8, 0x115C0), (0x115DC, 0x115DD), (0x11630, 0x11640),
    (0x11650, 0x11659), (0x116AB, 0x116B7), (0x116C0, 0x116C9), (0x116D0, 0x116E3), (0x1171D, 0x1172B),
    (0x11730, 0x11739), (0x1182C, 0x1183A), (0x118E0, 0x118E9), (0x11930, 0x11935), (0x11937, 0x11938),
    (0x1193B, 0x1193E), (0x11940, 0x11940), (0x11942, 0x11943), (0x11950, 0x11959), (0x119D1, 0x119D7),
    (0x119DA, 0x119E0), (0x119E4, 0x119E4), (0x11A01, 0x11A0A), (0x11A33, 0x11A39), (0x11A3B, 0x11A3E),
    (0x11A47, 0x11A47), (0x11A51, 0x11A5B), (0x11A8A, 0x11A99), (0x11B60, 0x11B67), (0x11BF0, 0x11BF9),
    (0x11C2F, 0x11C36), (0x11C38, 0x11C3F), (0x11C50, 0x11C59), (0x11C92, 0x11CA7), (0x11CA9, 0x11CB6),
    (0x11D31, 0x11D36), (0x11D3A, 0x11D3A), (0x11D3C, 0x11D3D), (0x11D3F, 0x11D45), (0x11D47, 0x11D47),
    (0x11D50, 0x11D59), (0x11D8A, 0x11D8E), (0x11D90, 0x11D91), (0x11D93, 0x11D97), (0x11DA0, 0x11DA9),
    (0x11DE0, 0x11DE9), (0x11EF3, 0x11EF6), (0x11F00, 0x11F01), (0x11F03, 0x11F03), (0x11F34, 0x11F3A),
    (0x11F3E, 0x11F42), (0x11F50, 0x11F5A), (0x13440, 0x13440), (0x13447, 0x13455), (0x1611E, 0x16139),
    (0x16A60, 0x16A69), (0x16AC0, 0x16AC9), (0x16AF0, 0x16AF4), (0x16B30, 0x16B36), (0x16B50, 0x16B59),
    (0x16D70, 0x16D79), (0x16F4F, 0x16F4F), (0x16F51, 0x16F87), (0x16F8F, 0x16F92), (0x16FE4, 0x16FE4),
    (0x16FF0, 0x16FF1), (0x1BC9D, 0x1BC9E), (0x1CCF0, 0x1CCF9), (0x1CF00, 0x1CF2D), (0x1CF30, 0x1CF46),
    (0x1D165, 0x1D169), (0x1D16D, 0x1D172), (0x1D17B, 0x1D182), (0x1D185, 0x1D18B), (0x1D1AA, 0x1D1AD),
    (0x1D242, 0x1D244), (0x1D7CE, 0x1D7FF), (0x1DA00, 0x1DA36), (0x1DA3B, 0x1DA6C), (0x1DA75, 0x1DA75),
    (0x1DA84, 0x1DA84), (0x1DA9B, 0x1DA9F), (0x1DAA1, 0x1DAAF), (0x1E000, 0x1E006), (0x1E008, 0x1E018),
    (0x1E01B, 0x1E021), (0x1E023, 0x1E024), (0x1E026, 0x1E02A), (0x1E08F, 0x1E08F), (0x1E130, 0x1E136),
    (0x1E140, 0x1E149), (0x1E2AE, 0x1E2AE), (0x1E2EC, 0x1E2F9), (0x1E4EC, 0x1E4F9), (0x1E5EE, 0x1E5EF),
    (0x1E5F1, 0x1E5FA), (0x1E6E3, 0x1E6E3), (0x1E6E6, 0x1E6E6), (0x1E6EE, 0x1E6EF), (0x1E6F5, 0x1E6F5),
    (0x1E8D0, 0x1E8D6), (0x1E944, 0x1E94A), (0x1E950, 0x1E959), (0x1FBF0, 0x1FBF9), (0xE0100, 0xE01EF),
];

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
