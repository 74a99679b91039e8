//! Rules that judge the same instance by other schemas, and what cannot be at all.

use callgate_vm::instance::View;

use crate::ir::Rule;
use crate::refs::Place;
use crate::subset::given::{Case, Given, Index, Kinds, Name};
use crate::subset::scalar::least_count;
use crate::subset::{At, Compare, NESTED_MAX, pair};

/// How far down it is asked whether there can be a member or element. Unit: levels.
const IMPOSSIBLE_DEPTH_MAX: u32 = 4;

/// Cases of unions that are taken one by one to see that none can be.
const CASES_MAX: usize = 64;

impl<'d> Compare<'_, 'd> {
    pub(super) fn all_of(&mut self, given: &Given<'d>, goal: At, places: &[Place]) -> bool {
        let mut all = true;
        for place in places {
            all &= self.implies(given, goal.to(*place));
        }
        all
    }

    /// One branch takes all, or each kind of values has one that does.
    pub(super) fn any_of(&mut self, given: &Given<'d>, goal: At, rule: &Rule<'d>, places: &[Place]) -> bool {
        let takes = |compare: &mut Self, given: &Given<'d>| {
            places.iter().any(|place| compare.ask(|compare| compare.implies(given, goal.to(*place))))
        };
        self.by_kinds(given, takes, |compare, part| compare.nearest_branch(part, goal, rule, places))
    }

    /// Exactly one branch takes all of what is given, or of each kind of values in it.
    pub(super) fn one_of(&mut self, given: &Given<'d>, goal: At, rule: &Rule<'d>, places: &[Place]) -> bool {
        let takes = |compare: &mut Self, given: &Given<'d>| {
            (0..places.len()).any(|chosen| {
                compare.ask(|compare| {
                    compare.implies(given, goal.to(places[chosen]))
                        && places
                            .iter()
                            .enumerate()
                            .all(|(other, place)| other == chosen || compare.excludes(given, goal.to(*place)))
                })
            })
        };
        self.by_kinds(given, takes, |compare, part| compare.nearest_branch(part, goal, rule, places))
    }

    /// Whether the union `takes` all that is given, or each kind of values in it. What keeps it from taking a kind is told by
    /// `tell`, which answers whether a proof came out of it after all.
    fn by_kinds(
        &mut self,
        given: &Given<'d>,
        takes: impl Fn(&mut Self, &Given<'d>) -> bool,
        tell: impl Fn(&mut Self, &Given<'d>) -> bool,
    ) -> bool {
        if takes(self, given) {
            return true;
        }
        let mut all = true;
        for group in Kinds::GROUPS {
            let part = given.of_kinds(group);
            if part.kinds.is_empty() || part.kinds != given.kinds && takes(self, &part) {
                continue;
            }
            all &= self.asking == 0 && tell(self, &part);
        }
        all
    }

    /// Tells what keeps the branch that is meant from taking these instances: the only one that takes such values at all. Of
    /// several, none is singled out. Answers whether a proof came out of it after all.
    fn nearest_branch(&mut self, given: &Given<'d>, goal: At, rule: &Rule<'d>, places: &[Place]) -> bool {
        let mut near = places.iter().map(|place| goal.to(*place)).filter(|branch| {
            let both = self.given_case(given, &Case { all: vec![*branch], nots: Vec::new() });
            !self.ask(|compare| compare.is_impossible(&both))
        });
        let (first, second) = (near.next(), near.next());
        match (first, second) {
            (Some(branch), None) if !self.implies(given, branch) => false,
            // For `oneOf`, the others must be out of the way as well.
            (Some(_), None) if matches!(rule, Rule::AnyOf(_)) => true,
            _ => self.obstacle_of_branch(given, goal, rule),
        }
    }

    pub(super) fn condition(
        &mut self,
        given: &Given<'d>,
        goal: At,
        condition: Place,
        then: Option<Place>,
        otherwise: Option<Place>,
    ) -> bool {
        let condition = goal.to(condition);
        let mut all = true;
        if let Some(then) = then {
            let holds = self.given_case(given, &Case { all: vec![condition], nots: Vec::new() });
            all &= self.ask(|compare| compare.is_impossible(&holds)) || self.implies(&holds, goal.to(then));
        }
        if let Some(otherwise) = otherwise {
            let fails = self.given_case(given, &Case { all: Vec::new(), nots: vec![condition] });
            all &= self.ask(|compare| compare.is_impossible(&fails)) || self.implies(&fails, goal.to(otherwise));
        }
        all
    }

    /// Whether no instance of which this is given satisfies the schema.
    pub(super) fn excludes(&mut self, given: &Given<'d>, schema: At) -> bool {
        let both = self.given_case(given, &Case { all: vec![schema], nots: Vec::new() });
        self.ask(|compare| compare.is_impossible(&both))
    }

    /// Whether there is surely no such instance.
    pub(super) fn is_impossible(&mut self, given: &Given<'d>) -> bool {
        if given.kinds.is_empty() {
            return true;
        }
        let key = pair(given, None);
        if let Some(known) = self.impossible.get(&key) {
            return *known;
        }
        let outer = std::mem::replace(&mut self.assumed, usize::MAX);
        let is_impossible = self.is_impossible_within(given, IMPOSSIBLE_DEPTH_MAX);
        // What was concluded from a proof that is under way may not hold later.
        if !is_impossible || self.assumed == usize::MAX {
            self.impossible.insert(key, is_impossible);
        }
        self.assumed = self.assumed.min(outer);
        is_impossible
    }

    fn is_impossible_within(&mut self, given: &Given<'d>, depth: u32) -> bool {
        if given.kinds.is_empty() || self.left(given).is_empty() {
            return true;
        }
        if depth == 0 || self.nested >= NESTED_MAX || !self.spend(given, 0) {
            return false;
        }
        self.nest(|compare| compare.is_contradictory(given, depth))
    }

    fn is_contradictory(&mut self, given: &Given<'d>, depth: u32) -> bool {
        if let Some(values) = self.values(given)
            && values.is_empty()
        {
            return true;
        }
        let mut left = self.left(given);
        if left.meets(Kinds::ARRAY) && self.lacks_elements(given, depth) {
            left = left.without(Kinds::ARRAY);
        }
        if left.meets(Kinds::OBJECT) && self.lacks_members(given, depth) {
            left = left.without(Kinds::OBJECT);
        }
        left.is_empty() || self.is_excluded(given, left) || self.has_no_case(given, depth)
    }

    /// Whether an element that there must be cannot be.
    fn lacks_elements(&mut self, given: &Given<'d>, depth: u32) -> bool {
        let needed = least_count(given, crate::ir::Count::MinItems);
        needed > 0 && {
            let first = self.element(given, Index::At(0));
            self.is_impossible_within(&first, depth - 1)
        }
    }

    fn lacks_members(&mut self, given: &Given<'d>, depth: u32) -> bool {
        given.required_names().into_iter().any(|name| {
            let member = self.member(given, Name::Known(name));
            self.is_impossible_within(&member, depth - 1)
        })
    }

    /// Whether a schema that the instance does not satisfy takes all that there is.
    fn is_excluded(&mut self, given: &Given<'d>, left: Kinds) -> bool {
        let rest = Given { kinds: left, nots: Vec::new(), ..given.clone() };
        given.nots.clone().into_iter().any(|not| self.ask(|compare| compare.implies(&rest, not)))
    }

    fn has_no_case(&mut self, given: &Given<'d>, depth: u32) -> bool {
        let len: usize = given.unions.iter().map(Vec::len).sum();
        if len > CASES_MAX {
            return false;
        }
        let rest = Given { unions: Vec::new(), ..given.clone() };
        given.unions.iter().any(|cases| {
            cases.iter().all(|case| {
                let case = self.given_case(&rest, case);
                self.is_impossible_within(&case, depth - 1)
            })
        })
    }

    /// Whether the schema takes nothing, plainly.
    pub(super) fn is_false(&self, at: At) -> bool {
        matches!(self.tape(at).view_node(at.place.node), View::Bool(false))
    }
}
