//! An event kernel that may ask a language model to fill in what a call lacks, and pays for each time it asks.
//!
//! ```text
//! event ─► check ─┬─► accepted ─► command
//!                 └─► rejected ─┬─► only names are missing ─► ask the model once ─► check again
//!                               ├─► the same mistake too often ─► give up on it (by signature)
//!                               └─► anything else ─► INVALID_ARGUMENTS; no model is asked
//! ```
//!
//! Arguments are the kernel's own values, judged where they lie: what is no JSON (a NaN, a set, a key that is no string,
//! a value inside itself) is a failure of the arguments, and nothing is converted. Run it by `cargo run --example kernel`.

#![allow(clippy::print_stdout, reason = "an example shows what it does")]

use std::collections::HashMap;

use callgate::{
    Catalog, Halt, Instance, Member, Number, Options, Outcome, Refused, Session, Stack, Summary, Text, View,
};

/// Equal mistakes in one tool after which the kernel stops.
const EQUAL_MAX: u32 = 3;

/// A value of the kernel. It refers to others by number, so it may be inside itself.
#[derive(Clone, Debug)]
enum Item {
    Int(i64),
    Float(f64),
    Text(String),
    List(Vec<usize>),
    /// Keys and values; a key may be any value.
    Map(Vec<(usize, usize)>),
    Set,
}

/// The values of an event, and which of them is the arguments.
#[derive(Clone, Debug, Default)]
struct Event {
    items: Vec<Item>,
    root: usize,
}

impl Event {
    fn add(&mut self, item: Item) -> usize {
        self.items.push(item);
        self.items.len() - 1
    }

    /// Puts a value into a map.
    fn put(&mut self, map: usize, name: &str, value: usize) {
        let key = self.add(text(name));
        if let Some(Item::Map(members)) = self.items.get_mut(map) {
            members.push((key, value));
        }
    }

    fn members(&self, at: usize) -> &[(usize, usize)] {
        match self.items.get(at) {
            Some(Item::Map(members)) => members,
            _ => &[],
        }
    }

    fn key(&self, at: usize) -> Option<&str> {
        match self.items.get(at) {
            Some(Item::Text(key)) => Some(key),
            _ => None,
        }
    }
}

fn text(text: &str) -> Item {
    Item::Text(text.to_owned())
}

// --- the event as an instance -------------------------------------------------------------------------------------

/// An event that is judged where it lies.
struct Judged<'e>(&'e Event);

impl<'e> Instance<'e> for Judged<'e> {
    type Node = usize;
    type Members = std::slice::Iter<'e, (usize, usize)>;
    type Elements = std::slice::Iter<'e, usize>;

    fn root(&self) -> usize {
        self.0.root
    }

    fn identity(&self, node: usize) -> Option<u64> {
        u64::try_from(node).ok()
    }

    fn view(&mut self, node: usize) -> Result<View<'e>, Halt> {
        Ok(match self.0.items.get(node) {
            Some(Item::Int(int)) => View::Number(Number::Int(*int)),
            Some(Item::Float(float)) if float.is_nan() => View::NotJson("NaN"),
            Some(Item::Float(float)) => View::Number(Number::from_f64(*float)),
            Some(Item::Text(text)) => View::String(Text::plain_text(text)),
            Some(Item::List(_)) => View::Array,
            Some(Item::Map(members)) if members.iter().all(|(key, _)| self.0.key(*key).is_some()) => View::Object,
            Some(Item::Map(_)) => View::NotJson("a map with a key that is no string"),
            Some(Item::Set) => View::NotJson("a set"),
            None => View::NotJson("nothing"),
        })
    }

    fn members(&mut self, node: usize) -> Self::Members {
        self.0.members(node).iter()
    }

    fn next_member(&mut self, at: &mut Self::Members) -> Result<Option<Member<'e, usize>>, Halt> {
        Ok(at.next().map(|(key, value)| {
            let name = Text::plain_text(self.0.key(*key).unwrap_or_default());
            Member { name, name_node: *key, value: *value }
        }))
    }

    fn elements(&mut self, node: usize) -> Self::Elements {
        match self.0.items.get(node) {
            Some(Item::List(elements)) => elements.iter(),
            _ => [].iter(),
        }
    }

    fn next_element(&mut self, at: &mut Self::Elements) -> Result<Option<usize>, Halt> {
        Ok(at.next().copied())
    }
}

// --- the kernel ---------------------------------------------------------------------------------------------------

/// What became of an event.
#[derive(Clone, Debug, PartialEq)]
enum Answer {
    /// The command is run.
    Run,
    /// `INVALID_ARGUMENTS`, and all that is known about it. It owns its data.
    InvalidArguments(Box<Summary>),
    /// `INVALID_ARGUMENTS` without a verdict: beyond the limits of a call.
    Declined(&'static str),
    /// The same mistake was made too often.
    GivenUp,
    /// The tool is unknown, or its schema does not compile.
    NoTool(&'static str),
}

/// Has a call filled in: the event as it should be, if the model knows what is missing.
type Fallback = fn(&Event, missing: &[String]) -> Option<Event>;

struct Kernel {
    catalog: Catalog,
    session: Session,
    fallback: Fallback,
    /// How often the model was asked, which is what costs.
    asked: u32,
    /// Mistakes by tool and signature.
    mistakes: HashMap<(String, u64), u32>,
}

impl Kernel {
    fn new(tools: &str, fallback: Fallback) -> Result<Kernel, Refused> {
        let (catalog, _) = Catalog::compile(tools, &Options::default())?;
        Ok(Kernel { catalog, session: Session::new(), fallback, asked: 0, mistakes: HashMap::new() })
    }

    fn on(&mut self, tool: &str, event: &Event) -> Answer {
        let summary = match self.check(tool, event) {
            Answer::InvalidArguments(summary) => summary,
            other => return other,
        };
        if self.is_repeated(tool, &summary) {
            return Answer::GivenUp;
        }
        if !summary.missing_only() {
            return Answer::InvalidArguments(summary);
        }
        self.asked += 1;
        match (self.fallback)(event, summary.missing()) {
            Some(filled) => self.check(tool, &filled),
            None => Answer::InvalidArguments(summary),
        }
    }

    fn check(&mut self, tool: &str, event: &Event) -> Answer {
        let (mut stack, mut judged) = (Stack::default(), Judged(event));
        match self.catalog.check_instance(&mut self.session, &mut stack, tool, &mut judged) {
            Outcome::Accepted(_) => Answer::Run,
            Outcome::Rejected(rejection) => Answer::InvalidArguments(Box::new(rejection.to_owned())),
            Outcome::Fault(fault) => Answer::Declined(fault.code.as_str()),
            other => Answer::NoTool(other.code()),
        }
    }

    fn is_repeated(&mut self, tool: &str, summary: &Summary) -> bool {
        let count = self.mistakes.entry((tool.to_owned(), summary.signature())).or_default();
        *count += 1;
        *count > EQUAL_MAX
    }
}

/// A command of two kinds, told apart by a tag.
const TOOLS: &str = r#"[{"name": "notify", "inputSchema": {
    "type": "object",
    "properties": {
        "what": {"anyOf": [
            {"type": "object", "required": ["kind", "to", "body"], "properties": {
                "kind": {"const": "mail"}, "to": {"type": "string"}, "body": {"type": "string"}}},
            {"type": "object", "required": ["kind", "at"], "properties": {
                "kind": {"const": "meet"}, "at": {"type": "integer"}}}
        ]},
        "priority": {"type": "integer"}
    },
    "required": ["what"]
}}]"#;

/// Stands for the model: it knows to whom mail goes, and nothing else.
fn to_the_desk(event: &Event, missing: &[String]) -> Option<Event> {
    if missing != ["/what/to"] {
        return None;
    }
    let (_, what) = *event.members(event.root).first()?;
    let mut filled = event.clone();
    let desk = filled.add(text("desk@example.com"));
    filled.put(what, "to", desk);
    Some(filled)
}

/// An event that asks for that to be done.
fn notify(what: &[(&str, Item)]) -> Event {
    let mut event = Event::default();
    event.root = event.add(Item::Map(Vec::new()));
    let inner = event.add(Item::Map(Vec::new()));
    event.put(event.root, "what", inner);
    for (name, item) in what {
        let value = event.add(item.clone());
        event.put(inner, name, value);
    }
    event
}

fn mail_to_nobody() -> Event {
    notify(&[("kind", text("mail")), ("body", text("tides"))])
}

fn mail_of_a_number() -> Event {
    notify(&[("kind", text("mail")), ("to", text("desk")), ("body", Item::Int(7))])
}

fn meeting_at(item: Item) -> Event {
    notify(&[("kind", text("meet")), ("at", item)])
}

fn main() -> Result<(), Refused> {
    let mut kernel = Kernel::new(TOOLS, to_the_desk)?;
    for (what, event) in [
        ("mail to nobody", mail_to_nobody()),
        ("mail whose body is a number", mail_of_a_number()),
        ("neither mail nor a meeting", notify(&[("to", text("desk"))])),
        ("a meeting at NaN", meeting_at(Item::Float(f64::NAN))),
        ("a meeting at a set", meeting_at(Item::Set)),
        ("a meeting at a list that holds the event itself", meeting_at(Item::List(vec![0]))),
    ] {
        let answer = kernel.on("notify", &event);
        println!("{what}\n  {}\n  calls of the model so far: {}", said(&answer), kernel.asked);
    }
    println!("mail whose body is a number, again and again");
    for _ in 0..EQUAL_MAX {
        println!("  {}", said(&kernel.on("notify", &mail_of_a_number())));
    }
    Ok(())
}

fn said(answer: &Answer) -> String {
    match answer {
        Answer::Run => "runs".to_owned(),
        Answer::InvalidArguments(summary) => format!("INVALID_ARGUMENTS {}", summary.line()),
        Answer::Declined(fault) => format!("INVALID_ARGUMENTS declined: {fault}"),
        Answer::GivenUp => "the same mistake too often: given up".to_owned(),
        Answer::NoTool(code) => (*code).to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What becomes of an event, whether it is only missing something, and how often the model is asked.
    fn on(event: &Event) -> (Answer, u32) {
        let mut kernel = Kernel::new(TOOLS, |_, _| None).expect("a catalog");
        (kernel.on("notify", event), kernel.asked)
    }

    #[track_caller]
    fn check_unasked(event: &Event) {
        match on(event) {
            (Answer::InvalidArguments(summary), 0) => {
                assert_eq!((summary.missing_only(), summary.missing()), (false, &[][..]));
            }
            other => panic!("{other:?}"),
        }
    }

    #[track_caller]
    fn check_asked(event: &Event, missing: &[&str]) {
        match on(event) {
            (Answer::InvalidArguments(summary), 1) => assert_eq!(summary.missing(), missing),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn l1_a_wrong_value_in_the_branch_that_was_meant_costs_nothing() {
        check_unasked(&mail_of_a_number());
    }

    #[test]
    fn l2_a_branch_that_only_lacks_something_is_filled_in() {
        check_asked(&mail_to_nobody(), &["/what/to"]);
        let mut kernel = Kernel::new(TOOLS, to_the_desk).expect("a catalog");
        assert_eq!((kernel.on("notify", &mail_to_nobody()), kernel.asked), (Answer::Run, 1));
    }

    #[test]
    fn l3_doubt_costs_nothing() {
        check_unasked(&notify(&[("to", text("desk"))]));
        check_unasked(&notify(&[("kind", text("fax"))]));
    }

    #[test]
    fn l4_plain_objects() {
        let mut event = Event::default();
        event.root = event.add(Item::Map(Vec::new()));
        check_asked(&event, &["/what"]);
        let priority = event.add(text("high"));
        event.put(event.root, "priority", priority);
        check_unasked(&event);
    }

    #[test]
    fn l5_what_is_no_json_is_told_of_the_arguments() {
        let line = |event: &Event| match on(event) {
            (Answer::InvalidArguments(summary), 0) => {
                assert_eq!(summary.failures()[0].code(), "not_json");
                summary.line().to_owned()
            }
            other => panic!("{other:?}"),
        };
        let prefix = "schema: arguments are not valid JSON:";
        assert_eq!(line(&meeting_at(Item::Float(f64::NAN))), format!("{prefix} NaN is no JSON value at what/at"));
        assert_eq!(line(&meeting_at(Item::Set)), format!("{prefix} a set is no JSON value at what/at"));
        let mut keyed = meeting_at(Item::Int(1));
        let one = keyed.add(Item::Int(1));
        let inner = keyed.add(Item::Map(vec![(one, one)]));
        keyed.put(keyed.root, "more", inner);
        assert_eq!(line(&keyed), format!("{prefix} a map with a key that is no string is no JSON value at more"));
        // What is inside itself ends at the depth limit, whatever the schema says.
        assert_eq!(on(&meeting_at(Item::List(vec![0]))), (Answer::Declined("depth"), 0));
    }

    #[test]
    fn l6_the_summary_outlives_the_event_and_the_catalog() {
        fn sent_elsewhere(answer: Answer) -> String {
            std::thread::spawn(move || said(&answer)).join().expect("no panic")
        }
        let (answer, _) = on(&mail_of_a_number());
        assert_eq!(sent_elsewhere(answer), "INVALID_ARGUMENTS schema: 7 is not of type 'string' at what");
    }

    #[test]
    fn the_same_mistake_ends() {
        let mut kernel = Kernel::new(TOOLS, |_, _| None).expect("a catalog");
        for _ in 0..EQUAL_MAX {
            assert!(matches!(kernel.on("notify", &mail_to_nobody()), Answer::InvalidArguments(_)));
        }
        assert_eq!((kernel.on("notify", &mail_to_nobody()), kernel.asked), (Answer::GivenUp, EQUAL_MAX));
        // Another mistake is another matter.
        assert!(matches!(kernel.on("notify", &mail_of_a_number()), Answer::InvalidArguments(_)));
    }

    #[test]
    fn a_tool_that_is_not_there() {
        let mut kernel = Kernel::new(TOOLS, |_, _| None).expect("a catalog");
        assert_eq!(kernel.on("notice", &mail_to_nobody()), Answer::NoTool("UNKNOWN_TOOL"));
    }
}
