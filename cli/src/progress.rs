//! How far a long run has come, on a terminal.

use indicatif::{HumanCount, ProgressBar, ProgressStyle};

use crate::output::visible;

/// Fewer tools are done before anybody could read how many.
const TOOLS_MIN: usize = 500;

/// A bar on stderr while a catalog is compiled. Nothing is shown where stderr is no terminal.
pub struct Progress {
    name: String,
    bar: Option<ProgressBar>,
}

impl Progress {
    /// The progress through the tools of a file.
    pub fn of_tools(name: &str) -> Progress {
        Progress { name: visible(name).into_owned(), bar: None }
    }

    /// Tells that so many are done, of so many.
    pub fn tell(&mut self, done: usize, all: usize) {
        if all < TOOLS_MIN {
            return;
        }
        let name = &self.name;
        let bar = self.bar.get_or_insert_with(|| {
            let style = ProgressStyle::with_template("{msg} [{wide_bar}] {pos}/{len} tools, {eta} left");
            let bar = ProgressBar::new(all as u64).with_message(name.clone());
            // The template is a constant, and a test draws it.
            if let Ok(style) = style { bar.with_style(style.progress_chars("=> ")) } else { bar }
        });
        bar.set_position(done as u64);
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

/// A bar on stderr while rows of files are judged. Nothing is shown where stderr is no terminal.
pub struct RowProgress {
    bar: ProgressBar,
}

impl RowProgress {
    /// The progress through files of so many bytes in all; `None` where that is not known.
    pub fn of_bytes(all: Option<u64>) -> RowProgress {
        let (bar, template) = match all {
            Some(all) => (ProgressBar::new(all), "[{wide_bar}] {bytes}/{total_bytes}, {msg}, {eta} left"),
            None => (ProgressBar::new_spinner(), "{spinner} {bytes}, {msg}, {elapsed}"),
        };
        // The templates are constants, and a test draws them.
        let bar = match ProgressStyle::with_template(template) {
            Ok(style) => bar.with_style(style.progress_chars("=> ")),
            Err(_) => bar,
        };
        RowProgress { bar }
    }

    /// Tells that so many bytes have been read, and so many calls judged.
    pub fn tell(&self, bytes: u64, calls: u64) {
        let milliseconds = u64::try_from(self.bar.elapsed().as_millis()).unwrap_or(u64::MAX).max(1);
        let rate = calls.saturating_mul(1_000) / milliseconds;
        self.bar.set_message(format!("{} calls, {}/s", HumanCount(calls), HumanCount(rate)));
        self.bar.set_position(bytes);
    }
}

impl Drop for RowProgress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_have_a_bar_or_a_spinner() {
        for all in [Some(1_000), None] {
            let progress = RowProgress::of_bytes(all);
            progress.tell(10, 1_234);
            assert_eq!((progress.bar.position(), progress.bar.length()), (10, all));
            assert!(progress.bar.message().starts_with("1,234 calls, "), "{}", progress.bar.message());
        }
    }

    #[test]
    fn a_bar_is_made_for_many() {
        let mut progress = Progress::of_tools("a\n.json");
        progress.tell(1, TOOLS_MIN - 1);
        assert!(progress.bar.is_none());
        progress.tell(7, 2 * TOOLS_MIN);
        let bar = progress.bar.as_ref().expect("a bar");
        assert_eq!((bar.position(), bar.length()), (7, Some(2 * TOOLS_MIN as u64)));
        assert_eq!(bar.message(), "a\\n.json");
    }
}
