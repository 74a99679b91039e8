//! Ratios of one revision: the other's time over callgate's, by set and by group.
//!
//! One run's spread is that of its samples, at its widest: the other's lower quartile over callgate's upper one, and the
//! other way round. The spread of several runs is the lowest and the highest of their ratios.

use serde_json::Value;

use super::run::{Entry, Run, Time};
use super::table::{geometric_mean, machine, spread, table};

/// Groups, in the order in which they are told.
pub(crate) const GROUPS: [&str; 5] =
    ["compile", "accepted_value", "accepted_bytes", "rejected_value", "rejected_bytes"];

/// Validators and limits, in the same way.
const OTHERS: [&str; 5] = ["jsonschema", "boon", "serde_json", "sonic_rs", "walk"];

/// The table of groups, and below it one of sets for each group.
pub(crate) fn tables(runs: &[Run], allocations: &Value) -> String {
    let mut groups = Vec::new();
    let mut sets = String::new();
    for group in GROUPS {
        for other in OTHERS {
            groups.extend(group_row(runs, group, other, allocations));
        }
        sets.extend(sets_table(runs, group));
    }
    let head = ["group", "to", "ratio", "spread", "worst set", "allocations a check"];
    let runs = if runs.len() == 1 { "one run".to_owned() } else { format!("{} runs", runs.len()) };
    format!("{runs}; {}.\n\n{}{sets}", machine(), table(&head, 2, &groups))
}

fn group_row(runs: &[Run], group: &str, other: &str, allocations: &Value) -> Option<Vec<String>> {
    let ratios: Vec<(String, Ratio)> =
        sets(runs, group).into_iter().filter_map(|set| Some((set.clone(), ratio(runs, group, &set, other)?))).collect();
    let (worst_set, worst) = ratios.iter().min_by(|a, b| a.1.median.total_cmp(&b.1.median))?;
    let mean = |of: fn(&Ratio) -> f64| geometric_mean(&ratios.iter().map(|(_, ratio)| of(ratio)).collect::<Vec<_>>());
    let (low, high) = (mean(|ratio| ratio.low)?, mean(|ratio| ratio.high)?);
    Some(vec![
        group.to_owned(),
        other.to_owned(),
        format!("{:.2}", mean(|ratio| ratio.median)?),
        format!("{low:.2} – {high:.2}"),
        format!("{worst_set} {:.2}", worst.median),
        allocations[group]["mean"].as_f64().map_or_else(String::new, |mean| format!("{mean:.2}")),
    ])
}

/// Every set of a group: callgate's time for one call, and the ratios.
fn sets_table(runs: &[Run], group: &str) -> Option<String> {
    let sets = sets(runs, group);
    let of = |set: &String, other: &str| ratio(runs, group, set, other);
    let others: Vec<&str> =
        OTHERS.into_iter().filter(|other| sets.iter().any(|set| of(set, other).is_some())).collect();
    let row = |set: &String| {
        let mut row = vec![set.clone(), nanoseconds(runs, group, set)];
        row.extend(others.iter().map(|other| of(set, other).map_or_else(String::new, |ratio| ratio.to_string())));
        row
    };
    let rows: Vec<Vec<String>> = sets.iter().map(row).collect();
    let unit = if group == "compile" { "ns a schema" } else { "ns a call" };
    let head = [&[group, unit], others.as_slice()].concat();
    (!rows.is_empty()).then(|| format!("\n{}", table(&head, 1, &rows)))
}

/// The sets of a group that callgate was measured on, in the order of their names.
pub(crate) fn sets(runs: &[Run], group: &str) -> Vec<String> {
    let ours = |entry: &&Entry| entry.group == group && entry.who == "callgate";
    runs.first().into_iter().flat_map(Run::keys).filter(ours).map(|entry| entry.set.clone()).collect()
}

pub(crate) fn time<'a>(run: &'a Run, group: &str, set: &str, who: &str) -> Option<&'a Time> {
    run.get(&Entry { group: group.to_owned(), set: set.to_owned(), who: who.to_owned() })
}

fn nanoseconds(runs: &[Run], group: &str, set: &str) -> String {
    let times = runs.iter().filter_map(|run| time(run, group, set, "callgate")).map(|time| time.median / time.len);
    spread(times.collect()).map_or_else(String::new, |[_, median, _]| format!("{median:.0}"))
}

/// A ratio with its spread.
struct Ratio {
    low: f64,
    median: f64,
    high: f64,
}

impl std::fmt::Display for Ratio {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:.2} ({:.2} – {:.2})", self.median, self.low, self.high)
    }
}

fn ratio(runs: &[Run], group: &str, set: &str, other: &str) -> Option<Ratio> {
    let both = |run| Some((time(run, group, set, "callgate")?, time(run, group, set, other)?));
    let both: Vec<(&Time, &Time)> = runs.iter().filter_map(both).collect();
    if let [(ours, others)] = both[..] {
        let (low, high) = (others.low / ours.high, others.high / ours.low);
        return Some(Ratio { low, median: others.median / ours.median, high });
    }
    let [low, median, high] = spread(both.iter().map(|(ours, others)| others.median / ours.median).collect())?;
    Some(Ratio { low, median, high })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(times: &[(&str, &str, f64)]) -> Run {
        let entry = |(set, who, median): &(&str, &str, f64)| {
            let key = Entry { group: "compile".to_owned(), set: (*set).to_owned(), who: (*who).to_owned() };
            (key, Time { low: median * 0.5, median: *median, high: median * 2.0, len: 2.0 })
        };
        times.iter().map(entry).collect()
    }

    #[test]
    fn one_run_has_the_spread_of_its_samples() {
        let runs = [run(&[("a", "callgate", 10.0), ("a", "boon", 40.0)])];
        assert_eq!(ratio(&runs, "compile", "a", "boon").unwrap().to_string(), "4.00 (1.00 – 16.00)");
        assert!(ratio(&runs, "compile", "a", "jsonschema").is_none());
    }

    #[test]
    fn several_runs_have_the_spread_of_their_ratios() {
        let runs = [2.0, 3.0, 8.0].map(|time| run(&[("a", "callgate", 1.0), ("a", "boon", time)]));
        assert_eq!(ratio(&runs, "compile", "a", "boon").unwrap().to_string(), "3.00 (2.00 – 8.00)");
    }

    #[test]
    fn no_set_hides() {
        let times = [("a", "callgate", 1.0), ("a", "boon", 4.0), ("b", "callgate", 4.0), ("b", "boon", 1.0)];
        let tables = tables(&[run(&times)], &Value::Null);
        assert!(tables.contains("| compile | boon |  1.00 | 0.25 – 4.00 |    b 0.25 |"), "{tables}");
        assert!(tables.contains("\n| a   ") && tables.contains("\n| b   "), "{tables}");
    }
}
