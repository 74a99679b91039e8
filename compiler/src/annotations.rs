//! What differs between two JSON texts, member by member: for schemas that mean the same, what is told of their change.

use std::collections::BTreeMap;

use callgate_vm::tape::{EntryKind, Node, Tape};

use crate::compact;
use crate::compare::{Difference, Effect};
use crate::location::push_segment;

/// Differences that are told; of more, the last line says that there are.
const LISTED_MAX: usize = 32;

/// Where the two values differ. An object's members are held side by side by name, whatever their order.
pub(crate) fn differences([old, new]: [Tape<'_>; 2]) -> Vec<Difference> {
    let mut differences = Vec::new();
    let mut open = vec![(String::new(), 0, 0)];
    while let Some((pointer, was, is)) = open.pop() {
        if differences.len() == LISTED_MAX {
            differences.push(cosmetic(String::new(), "more differences are not listed".to_owned()));
            break;
        }
        match (old.entry(was).kind, new.entry(is).kind) {
            (EntryKind::Object, EntryKind::Object) => {
                members((old, was), (new, is), &pointer, &mut open, &mut differences);
            }
            (EntryKind::Array, EntryKind::Array)
                if old.entry(was).len == new.entry(is).len
                    && is_of_containers(old, was)
                    && is_of_containers(new, is) =>
            {
                let pairs = old.element_nodes(was).zip(new.element_nodes(is)).enumerate();
                open.extend(pairs.map(|(at, (was, is))| (format!("{pointer}/{at}"), was, is)));
            }
            _ if compact::text(old, was) == compact::text(new, is) => {}
            _ => differences.push(changed(pointer, "changed")),
        }
    }
    differences.sort_by(|one, other| (&one.pointer, &one.reason).cmp(&(&other.pointer, &other.reason)));
    differences
}

/// Whether elements are told apart by what is in them; a list of scalars is told of as a whole.
fn is_of_containers(tape: Tape<'_>, array: Node) -> bool {
    tape.element_nodes(array).all(|node| matches!(tape.entry(node).kind, EntryKind::Object | EntryKind::Array))
}

fn members(
    (old, was): (Tape<'_>, Node),
    (new, is): (Tape<'_>, Node),
    pointer: &str,
    open: &mut Vec<(String, Node, Node)>,
    differences: &mut Vec<Difference>,
) {
    let below = |name: &str| {
        let mut pointer = pointer.to_owned();
        push_segment(&mut pointer, name);
        pointer
    };
    let (before, now) = (by_name(old, was), by_name(new, is));
    for (name, value) in &before {
        match now.get(name) {
            Some(with) => open.push((below(name), *value, *with)),
            None => differences.push(changed(below(name), "removed")),
        }
    }
    let added = now.keys().filter(|name| !before.contains_key(*name));
    differences.extend(added.map(|name| changed(below(name), "added")));
}

fn by_name(tape: Tape<'_>, object: Node) -> BTreeMap<String, Node> {
    tape.member_nodes(object).map(|(key, value)| (tape.text(key).chars().collect(), value)).collect()
}

/// The difference is told where the member stands, and named by it.
fn changed(pointer: String, how: &str) -> Difference {
    match pointer.rsplit_once('/') {
        Some((parent, name)) => cosmetic(parent.to_owned(), format!("{} {how}", unescaped(name))),
        None => cosmetic(pointer, format!("the value {how}")),
    }
}

fn unescaped(segment: &str) -> String {
    segment.replace("~1", "/").replace("~0", "~")
}

fn cosmetic(pointer: String, reason: String) -> Difference {
    Difference { effect: Effect::Cosmetic, pointer, reason, witness: None }
}
