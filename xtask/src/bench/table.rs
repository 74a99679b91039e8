//! Tables that read well on a terminal and are Markdown as well; and the machine that they were made on.

use std::fs;

/// A table whose columns are as wide as their widest cell. All but the first `left` columns are set right.
pub(crate) fn table(head: &[&str], left: usize, rows: &[Vec<String>]) -> String {
    let head: Vec<String> = head.iter().map(|cell| (*cell).to_owned()).collect();
    let width = |at: usize| rows.iter().chain([&head]).map(|row| row[at].chars().count()).max().unwrap_or(0).max(3);
    let widths: Vec<usize> = (0..head.len()).map(width).collect();
    let line = |row: &Vec<String>| {
        let cells = row.iter().enumerate().map(|(at, cell)| {
            let width = widths[at];
            if at < left { format!("{cell:<width$}") } else { format!("{cell:>width$}") }
        });
        format!("| {} |\n", cells.collect::<Vec<_>>().join(" | "))
    };
    let rules = widths
        .iter()
        .enumerate()
        .map(|(at, width)| if at < left { "-".repeat(*width) } else { format!("{}:", "-".repeat(width - 1)) });
    let rule = line(&rules.collect());
    format!("{}{rule}{}", line(&head), rows.iter().map(line).collect::<String>())
}

/// The geometric mean, which a ratio and its inverse agree on; `None` of nothing.
pub(crate) fn geometric_mean(numbers: &[f64]) -> Option<f64> {
    let logarithms: f64 = numbers.iter().map(|number| number.ln()).sum();
    let len = u32::try_from(numbers.len()).ok().filter(|len| *len > 0)?;
    Some((logarithms / f64::from(len)).exp())
}

/// Lowest, median and highest; `None` of nothing.
pub(crate) fn spread(mut numbers: Vec<f64>) -> Option<[f64; 3]> {
    numbers.sort_by(f64::total_cmp);
    let last = numbers.len().checked_sub(1)?;
    let median = f64::midpoint(numbers[last / 2], numbers[last.div_ceil(2)]);
    Some([numbers[0], median, numbers[last]])
}

/// Cores, what they are, and how busy they were in the last minute.
pub(crate) fn machine() -> String {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let processors = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = processors.lines().find_map(|line| line.strip_prefix("model name")?.split_once(": "));
    let load = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let load = load.split(' ').next().filter(|load| !load.is_empty()).unwrap_or("unknown").to_owned();
    format!("{cores} cores ({}), load {load} at the end", model.map_or("of unknown kind", |(_, name)| name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_as_wide_as_their_widest_cell() {
        let rows = [vec!["wide_union".to_owned(), "0.5".to_owned()]];
        let expected = "| set        | ratio |\n| ---------- | ----: |\n| wide_union |   0.5 |\n";
        assert_eq!(table(&["set", "ratio"], 1, &rows), expected);
    }

    #[test]
    fn means_and_spreads() {
        assert_eq!(geometric_mean(&[]), None);
        assert!((geometric_mean(&[4.0, 0.25]).unwrap() - 1.0).abs() < 1e-12);
        assert_eq!(spread(vec![3.0, 1.0, 2.0, 6.0]), Some([1.0, 2.5, 6.0]));
        assert_eq!(spread(Vec::new()), None);
    }
}
