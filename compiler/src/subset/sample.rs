//! An instance of which something is given, made up: as small as it comes, and perhaps wrong.

use std::fmt::Write as _;

use regex_syntax::hir::{Class, Hir, HirKind};

use crate::ir::{Count, Dependency, Rule};
use crate::pattern::translate;
use crate::subset::given::{Given, Index, Kinds, Name};
use crate::subset::scalar::{greatest_count, least_count};
use crate::subset::witness::To;
use crate::subset::{Compare, NESTED_MAX};

/// Stands for a value that is filled in later; no JSON text has it.
pub(super) const HOLE: &str = "\0";

/// How deep a sample goes. Unit: levels.
const DEPTH_MAX: u32 = 24;

/// Parts of samples that one direction of a comparison may make. Unit: values.
const PARTS_MAX: u32 = 100_000;

/// Members or elements of one sample.
const CHILDREN_MAX: u32 = 256;

/// An object that must have more members is not made. Unit: members.
const NAMES_MAX: usize = 1_024;

/// A sample of what a pattern finds. Unit: characters.
const TEXT_MAX: usize = 256;

/// A child that is there already.
type Fixed<'f, 'd> = Option<(To<'d>, &'f str)>;

impl<'d> Compare<'_, 'd> {
    /// JSON text of an instance.
    pub(super) fn sample(&mut self, given: &Given<'d>) -> Option<String> {
        self.part(given, None, DEPTH_MAX)
    }

    /// JSON text of an instance that has `inner` as that child.
    pub(super) fn around(&mut self, given: &Given<'d>, to: To<'d>, inner: &str) -> Option<String> {
        self.part(given, Some((to, inner)), DEPTH_MAX)
    }

    /// JSON text of an array of that length.
    pub(super) fn array_of(&mut self, given: &Given<'d>, len: u32) -> Option<String> {
        self.array(given, None, len, DEPTH_MAX)
    }

    fn part(&mut self, given: &Given<'d>, fixed: Fixed<'_, 'd>, depth: u32) -> Option<String> {
        self.sampled += 1;
        if depth == 0 || self.sampled > PARTS_MAX || self.nested >= NESTED_MAX || !self.spend(given, 0) {
            return None;
        }
        self.nest(|compare| compare.part_within(given, fixed, depth))
    }

    fn part_within(&mut self, given: &Given<'d>, fixed: Fixed<'_, 'd>, depth: u32) -> Option<String> {
        if let Some(cases) = self.split(given) {
            return cases.iter().find_map(|case| self.part(case, fixed, depth - 1));
        }
        if fixed.is_none()
            && let Some(values) = self.values(given)
        {
            return values.first().map(|(tape, node)| crate::compact::text(*tape, *node).into_owned());
        }
        if fixed.is_none() && given.facts.is_empty() && given.kinds == Kinds::ALL {
            return Some("\"a\"".to_owned());
        }
        let left = self.left(given);
        match fixed {
            Some((To::Element(at), _)) => {
                let len = least_count(given, Count::MinItems).max(at.saturating_add(1));
                left.meets(Kinds::ARRAY).then(|| self.array(given, fixed, len, depth))?
            }
            Some(_) => left.meets(Kinds::OBJECT).then(|| self.object(given, fixed, depth))?,
            None if left.meets(Kinds::OBJECT) => self.object(given, None, depth),
            None if left.meets(Kinds::STRING) => Some(self.string(given)),
            None if left.meets(Kinds::NUMBER) => self.numeral(given, left),
            None if left.meets(Kinds::ARRAY) => self.array(given, None, least_count(given, Count::MinItems), depth),
            None if left.meets(Kinds::BOOLEAN) => Some("true".to_owned()),
            None => left.meets(Kinds::NULL).then(|| "null".to_owned()),
        }
    }

    // --- containers ------------------------------------------------------------------------------------------

    fn object(&mut self, given: &Given<'d>, fixed: Fixed<'_, 'd>, depth: u32) -> Option<String> {
        let mut names = given.required_names();
        if let Some((To::Member(name) | To::OpenMember(name), _)) = fixed {
            names.push(name);
        }
        add_dependent(given, &mut names);
        let wanted = least_count(given, Count::MinProperties).min(CHILDREN_MAX);
        let more = given.known_names().into_iter().chain(["x", "y", "z", "x1", "x2", "x3"]);
        for name in more {
            if names.len() < wanted as usize && !names.contains(&name) {
                names.push(name);
            }
        }
        names.sort_unstable();
        names.dedup();
        if names.len() > NAMES_MAX {
            return None;
        }
        let mut json = "{".to_owned();
        for name in names {
            json.push_str(if json.len() > 1 { "," } else { "" });
            write_string(&mut json, name);
            json.push(':');
            match fixed {
                Some((To::Member(known) | To::OpenMember(known), inner)) if known == name => json.push_str(inner),
                _ => {
                    let member = self.member(given, Name::Known(name));
                    json.push_str(&self.part(&member, None, depth - 1)?);
                }
            }
        }
        json.push('}');
        Some(json)
    }

    fn array(&mut self, given: &Given<'d>, fixed: Fixed<'_, 'd>, len: u32, depth: u32) -> Option<String> {
        let contained = given.rules().find_map(|(fact, rule)| match rule {
            Rule::Contains(place, min, _) if *min > 0 => Some((fact.at.to(*place), *min)),
            _ => None,
        });
        let is_unique = given.rules().any(|(_, rule)| matches!(rule, Rule::UniqueItems));
        let mut json = "[".to_owned();
        for at in 0..len.min(CHILDREN_MAX) {
            json.push_str(if at > 0 { "," } else { "" });
            match fixed {
                Some((To::Element(known), inner)) if known == at => json.push_str(inner),
                _ => {
                    let mut element = self.element(given, Index::At(at));
                    if let Some((schema, _)) = contained.filter(|(_, min)| at < *min) {
                        let case = crate::subset::given::Case { all: vec![schema], nots: Vec::new() };
                        element = self.given_case(&element, &case);
                    }
                    let is_free = is_unique && element.facts.is_empty();
                    let value = if is_free { at.to_string() } else { self.part(&element, None, depth - 1)? };
                    json.push_str(&value);
                }
            }
        }
        json.push(']');
        Some(json)
    }

    // --- scalars ---------------------------------------------------------------------------------------------

    /// A number at an end of the range, or the nearest plain one.
    fn numeral(&mut self, given: &Given<'d>, left: Kinds) -> Option<String> {
        let mut near = vec!["1".to_owned(), "0".to_owned(), "-1".to_owned(), "0.5".to_owned()];
        for (fact, rule) in given.rules() {
            if let Rule::Bound(_, node) | Rule::MultipleOf(node) = rule {
                let literal = self.tape(fact.at).slice(*node);
                near.push(literal.to_owned());
                if let Ok(double) = literal.parse::<f64>() {
                    near.extend([1.0, -1.0, 0.5, -0.5].map(|step| (double + step).to_string()));
                }
            }
        }
        near.into_iter().find(|literal| left.meets(Self::number_kinds(literal)) && self.all_accept(given, literal))
    }

    fn string(&mut self, given: &Given<'d>) -> String {
        let (min, max) = (least_count(given, Count::MinLength), greatest_count(given, Count::MaxLength));
        let mut text = String::new();
        for (fact, rule) in given.rules() {
            match rule {
                Rule::Pattern(pattern) => {
                    let source = self.pattern_source(fact.at, *pattern);
                    text = matching(source, min);
                }
                Rule::Format(_, name) => example(name).clone_into(&mut text),
                _ => {}
            }
        }
        let wanted = min.max(u32::from(max != Some(0))).min(CHILDREN_MAX) as usize;
        let len = text.chars().count();
        text.extend(std::iter::repeat_n('a', wanted.saturating_sub(len)));
        let mut json = String::new();
        write_string(&mut json, &text);
        json
    }

    /// A text that the pattern finds itself in; any text, where that takes more than a look.
    pub(super) fn name_matching(&self, source: &str) -> &'d str {
        self.models[0].registry.bump.alloc_str(&matching(source, 0))
    }
}

/// A text that the pattern finds itself in, of about that length; any text, where that takes more than a look.
pub(super) fn matching(source: &str, len: u32) -> String {
    let mut text = String::new();
    if let Some(hir) = translate(source).ok().and_then(|translation| translation.hir) {
        write_match(&mut text, &hir, len);
    }
    text
}

/// Adds the names that those present ask for.
fn add_dependent<'d>(given: &Given<'d>, names: &mut Vec<&'d str>) {
    for (_, rule) in given.rules() {
        let Rule::Dependencies(list) = rule else {
            continue;
        };
        for (name, needed) in *list {
            if let Dependency::Names(needed) = needed
                && names.contains(name)
            {
                let new: Vec<&str> = needed.iter().filter(|name| !names.contains(name)).copied().collect();
                names.extend(new);
            }
        }
    }
}

/// A text that matches, as far as that is told part by part: the shortest, but for repetitions without an end, of which each
/// goes on until the whole is `len` long.
fn write_match(text: &mut String, hir: &Hir, len: u32) {
    if text.len() > TEXT_MAX {
        return;
    }
    match hir.kind() {
        HirKind::Empty | HirKind::Look(_) => {}
        HirKind::Literal(literal) => text.push_str(&String::from_utf8_lossy(&literal.0)),
        HirKind::Class(Class::Unicode(class)) => {
            // A letter or digit reads better than what the class starts with.
            let has = |c: &char| class.ranges().iter().any(|range| (range.start()..=range.end()).contains(c));
            let first = class.ranges().first().map(regex_syntax::hir::ClassUnicodeRange::start);
            text.extend(['a', '0', 'A'].into_iter().find(has).or(first));
        }
        HirKind::Class(Class::Bytes(_)) => text.push('a'),
        HirKind::Repetition(repetition) => {
            let most = repetition.max.unwrap_or(u32::MAX).min(len).max(repetition.min);
            for times in 0..most.min(TEXT_MAX as u32) {
                if times >= repetition.min && text.len() >= len as usize {
                    break;
                }
                write_match(text, &repetition.sub, len);
            }
        }
        HirKind::Capture(capture) => write_match(text, &capture.sub, len),
        HirKind::Concat(parts) => parts.iter().for_each(|part| write_match(text, part, len)),
        HirKind::Alternation(parts) => {
            if let Some(part) = parts.first() {
                write_match(text, part, len);
            }
        }
    }
}

/// A text of the format.
fn example(format: &str) -> &'static str {
    match format {
        "date-time" => "2026-01-01T00:00:00Z",
        "date" => "2026-01-01",
        "time" => "00:00:00Z",
        "duration" => "P1D",
        "email" | "idn-email" => "a@example.com",
        "hostname" | "idn-hostname" => "example.com",
        "ipv4" => "127.0.0.1",
        "ipv6" => "::1",
        "uri" | "iri" | "uri-reference" | "iri-reference" | "uri-template" => "https://example.com/",
        "uuid" => "00000000-0000-0000-0000-000000000000",
        "relative-json-pointer" => "0",
        _ => "",
    }
}

/// Writes a JSON string.
pub(super) fn write_string(json: &mut String, text: &str) {
    json.push('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => json.extend(['\\', c]),
            c if c < ' ' => {
                let written = write!(json, "\\u{:04x}", u32::from(c));
                debug_assert!(written.is_ok());
            }
            c => json.push(c),
        }
    }
    json.push('"');
}
