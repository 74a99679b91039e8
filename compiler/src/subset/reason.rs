//! Obstacles in words: where, and what is the matter, on one line, from the old schema to the new.

use crate::dialect::Keyword;
use crate::ir::{Rule, quoted, shorten};
use crate::subset::given::Given;
use crate::subset::values::Value;
use crate::subset::witness::To;
use crate::subset::{At, Compare, OBSTACLES_MAX, Obstacle, Side};

impl<'d> Compare<'_, 'd> {
    /// Tells an obstacle, unless it is only asked for a proof. Answers that there is none.
    pub(super) fn obstacle(&mut self, goal: At, given: &Given<'d>, reason: String) -> bool {
        self.tell(goal, given, reason, None)
    }

    /// Tells something that is not decided, whatever an instance may show.
    pub(super) fn not_decided(&mut self, goal: At, reason: &str) -> bool {
        if self.asking == 0 {
            let pointer = self.pointer(goal);
            let obstacle = Obstacle { pointer, reason: reason.to_owned(), witness: None };
            if self.obstacles.len() < OBSTACLES_MAX && !self.obstacles.contains(&obstacle) {
                self.obstacles.push(obstacle);
            }
        }
        false
    }

    fn tell(&mut self, goal: At, given: &Given<'d>, reason: String, value: Option<String>) -> bool {
        if self.asking > 0 {
            return false;
        }
        let pointer = self.pointer(goal);
        let known = self.obstacles.iter().position(|known| known.pointer == pointer && known.reason == reason);
        match known {
            Some(at) if self.obstacles[at].witness.is_none() => {
                self.obstacles[at].witness = self.witness(given, goal, value);
            }
            Some(_) => {}
            None if self.obstacles.len() >= OBSTACLES_MAX => {}
            None => {
                let witness = self.witness(given, goal, value);
                self.obstacles.push(Obstacle { pointer, reason, witness });
            }
        }
        false
    }

    fn pointer(&mut self, at: At) -> String {
        let location = self.schema(at).location;
        self.models[at.side as usize].registry.locations.pointer(location, "")
    }

    /// The rule is not met: what it was and is.
    pub(super) fn obstacle_of_rule(&mut self, given: &Given<'d>, goal: At, rule: &Rule<'d>) -> bool {
        if self.asking > 0 {
            return false;
        }
        let keyword = self.keyword(goal, rule);
        let name = keyword.map_or("schema", Keyword::name);
        let wanted = self.operand(goal, rule);
        let other = given.facts.iter().filter(|fact| fact.at.side != goal.side).find_map(|fact| {
            let found = fact.schema.rules.iter().find(|rule| Some(rule.keyword) == keyword)?;
            Some((fact.at, &found.rule))
        });
        let had = other.map(|(at, rule)| self.operand(at, rule));
        let reason = match (had, wanted) {
            (Some(Some(had)), Some(wanted)) if had != wanted => {
                let (old, new) = if goal.side == Side::New { (had, wanted) } else { (wanted, had) };
                format!("{name} {old} -> {new}")
            }
            (Some(_), _) => format!("{name} changed"),
            (None, wanted) => {
                let wanted = wanted.map_or(String::new(), |wanted| format!(" {wanted}"));
                format!("{name}{wanted} {}", came(goal))
            }
        };
        self.obstacle(goal, given, reason)
    }

    pub(super) fn obstacle_of_required(&mut self, given: &Given<'d>, goal: At, name: &str) -> bool {
        let reason = format!("required {} {}", shorten(&quoted(name)), came(goal));
        self.obstacle(goal, given, reason)
    }

    /// A value of the one side that the other does not take.
    pub(super) fn obstacle_of_value(&mut self, given: &Given<'d>, goal: At, (tape, node): Value<'d>) -> bool {
        if self.asking > 0 {
            return false;
        }
        let json = crate::compact::text(tape, node).into_owned();
        let mut shown = String::new();
        let written = callgate_vm::render::write_value(&mut shown, tape, node);
        debug_assert!(written.is_ok());
        let reason = format!("{} {}", shorten(&shown), taken(goal));
        self.tell(goal, given, reason, Some(json))
    }

    /// `false`: a member or element that the other side takes.
    pub(super) fn obstacle_of_false(&mut self, goal: At, given: &Given<'d>) -> bool {
        let what = match self.path.last().map(|step| step.to) {
            Some(To::Member(name)) => format!("property {}", shorten(&quoted(name))),
            Some(To::OpenMember(_)) => "any other property".to_owned(),
            Some(To::Element(at)) => format!("element {at}"),
            None => "everything".to_owned(),
        };
        let reason = format!("{what} {}", taken(goal));
        self.obstacle(goal, given, reason)
    }

    /// A union that has no branch for what the other side takes.
    pub(super) fn obstacle_of_branch(&mut self, given: &Given<'d>, goal: At, rule: &Rule<'d>) -> bool {
        let name = self.keyword(goal, rule).map_or("union", Keyword::name);
        let told = if goal.side == Side::New { "surely takes every" } else { "surely took every" };
        let reason = format!("no branch of {name} {told} {}", given.kinds.names());
        self.obstacle(goal, given, reason)
    }

    fn keyword(&mut self, goal: At, rule: &Rule<'d>) -> Option<Keyword> {
        let schema = self.schema(goal);
        schema.rules.iter().find(|at| std::ptr::eq(&raw const at.rule, rule)).map(|at| at.keyword)
    }

    /// What the keyword asks for, where that is short.
    fn operand(&self, at: At, rule: &Rule<'d>) -> Option<String> {
        let model = &self.models[at.side as usize];
        let text = match rule {
            Rule::Type(_, names) => names.replace('\'', ""),
            Rule::Const(node) | Rule::MultipleOf(node) | Rule::Bound(_, node) => model.notation(at.place, *node),
            Rule::Count(_, len) => len.to_string(),
            Rule::Pattern(pattern) => quoted(self.pattern_source(at, *pattern)),
            Rule::Format(_, name) => quoted(name),
            _ => return None,
        };
        Some(shorten(&text))
    }
}

/// What has become of something that the goal has and the other side does not.
fn came(goal: At) -> &'static str {
    if goal.side == Side::New { "added" } else { "removed" }
}

/// What has become of something that the goal does not take and the other side does.
fn taken(goal: At) -> &'static str {
    if goal.side == Side::New { "is not taken any more" } else { "was not taken before" }
}
