//! Which word of a schema another word was likely meant for.
//!
//! ```text
//! fold       maxResults, max_results, Max-Results  ->  maxresults       spelling conventions are no difference
//! distance   querry, query                         ->  1                optimal string alignment
//! contained  path, file_path                       ->  a whole word of it
//! ```
//!
//! Everything is on the thread's stack: words of more than [`WORD_CHARS_MAX`] characters are only ever equal.

/// Characters of a word that is compared; longer words are too far from all others.
pub const WORD_CHARS_MAX: usize = 48;

/// Insertions, deletions, replacements and swaps of neighbours that lead from one word to the other (optimal string
/// alignment); none where a word has more than [`WORD_CHARS_MAX`] characters. Cost: the product of their lengths, no
/// allocation.
pub fn edit_distance(a: impl Iterator<Item = char>, b: impl Iterator<Item = char>) -> Option<usize> {
    Some(Word::of(a)?.distance(&Word::of(b)?))
}

/// How near two words are, or none where neither is meant by the other. Less is nearer; 0 is the same but for case and
/// the marks between words.
///
/// Up to a third of the longer word's letters may differ, and not all of the shorter one's. Beyond that a word of three
/// letters or more is near if the other begins or ends with it.
pub(crate) fn nearness(a: impl Iterator<Item = char>, b: impl Iterator<Item = char>) -> Option<u32> {
    let (a, b) = (Word::of(folded(a))?, Word::of(folded(b))?);
    let (shorter, longer) = if a.len <= b.len { (&a, &b) } else { (&b, &a) };
    if shorter.len == 0 {
        return None;
    }
    let distance = a.distance(&b);
    let differing = ((longer.len + 1) / 3).max(1);
    if distance <= differing && distance < shorter.len.max(2) && (distance == 0 || longer.len > 1) {
        return Some(distance as u32);
    }
    let is_part = longer.chars().starts_with(shorter.chars()) || longer.chars().ends_with(shorter.chars());
    let more = (longer.len - shorter.len) as u32;
    (is_part && shorter.len >= PART_CHARS_MIN).then_some(WORD_CHARS_MAX as u32 + more)
}

/// A shorter word is not held to be a part of another.
const PART_CHARS_MIN: usize = 3;

/// The letters alone, small.
fn folded(chars: impl Iterator<Item = char>) -> impl Iterator<Item = char> {
    chars.filter(|c| !matches!(c, '_' | '-' | ' ' | '.' | '/')).flat_map(char::to_lowercase)
}

struct Word {
    letters: [char; WORD_CHARS_MAX],
    len: usize,
}

impl Word {
    fn of(chars: impl Iterator<Item = char>) -> Option<Word> {
        let mut word = Word { letters: ['\0'; WORD_CHARS_MAX], len: 0 };
        for c in chars {
            *word.letters.get_mut(word.len)? = c;
            word.len += 1;
        }
        Some(word)
    }

    fn chars(&self) -> &[char] {
        &self.letters[..self.len]
    }

    /// Three rows of the table suffice: a swap looks two rows back.
    fn distance(&self, other: &Word) -> usize {
        let mut rows = [[0_usize; WORD_CHARS_MAX + 1]; 3];
        rows[0].iter_mut().enumerate().for_each(|(at, cell)| *cell = at);
        for i in 1..=self.len {
            let (now, last, before) = (i % 3, (i + 2) % 3, (i + 1) % 3);
            rows[now][0] = i;
            for j in 1..=other.len {
                let (a, b) = (self.letters[i - 1], other.letters[j - 1]);
                let replaced = rows[last][j - 1] + usize::from(a != b);
                let best = replaced.min(rows[last][j] + 1).min(rows[now][j - 1] + 1);
                let swaps = i > 1 && j > 1 && a == other.letters[j - 2] && self.letters[i - 2] == b;
                rows[now][j] = if swaps { best.min(rows[before][j - 2] + 1) } else { best };
            }
        }
        rows[self.len % 3][other.len]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_distance(a: &str, b: &str, expected: Option<usize>) {
        assert_eq!(edit_distance(a.chars(), b.chars()), expected);
        assert_eq!(edit_distance(b.chars(), a.chars()), expected);
    }

    #[test]
    fn distances() {
        check_distance("", "", Some(0));
        check_distance("", "abc", Some(3));
        check_distance("strnig", "string", Some(1));
        check_distance("kitten", "sitting", Some(3));
        check_distance("ca", "abc", Some(3));
        check_distance(&"x".repeat(WORD_CHARS_MAX), "x", Some(WORD_CHARS_MAX - 1));
        check_distance(&"x".repeat(WORD_CHARS_MAX + 1), "x", None);
    }

    #[track_caller]
    fn check_near(a: &str, b: &str, expected: bool) {
        assert_eq!(nearness(a.chars(), b.chars()).is_some(), expected, "{a} {b}");
        assert_eq!(nearness(b.chars(), a.chars()).is_some(), expected, "{b} {a}");
    }

    #[test]
    fn what_is_near() {
        check_near("querry", "query", true);
        check_near("maxResults", "max_results", true);
        check_near("ASC", "asc", true);
        check_near("path", "file_path", true);
        check_near("q", "query", false);
        check_near("a", "b", false);
        check_near("a", "A", true);
        check_near("read", "send", false);
        check_near("title", "name", false);
        check_near("", "x", false);
        check_near("ab", "ac", true);
    }

    #[test]
    fn spelling_is_nearer_than_parts() {
        let near = |a: &str, b: &str| nearness(a.chars(), b.chars()).expect("is near");
        assert_eq!(near("file-path", "filePath"), 0);
        assert!(near("filepaht", "file_path") < near("path", "file_path"));
    }
}
