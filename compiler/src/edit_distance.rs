//! How far one word is from another.

/// Insertions, deletions, replacements and swaps of neighbours that lead from one word to the other (optimal string
/// alignment). Cost: the product of their lengths, so give it words and no texts.
pub(crate) fn edit_distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut rows = vec![vec![0; b.len() + 1]; a.len() + 1];
    for i in 0..=a.len() {
        for j in 0..=b.len() {
            rows[i][j] = match (i, j) {
                (0, n) | (n, 0) => n,
                (i, j) => {
                    let replaced = rows[i - 1][j - 1] + usize::from(a[i - 1] != b[j - 1]);
                    let best = replaced.min(rows[i - 1][j] + 1).min(rows[i][j - 1] + 1);
                    let swaps = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
                    if swaps { best.min(rows[i - 2][j - 2] + 1) } else { best }
                }
            };
        }
    }
    rows[a.len()][b.len()]
}
