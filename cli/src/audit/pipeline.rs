//! From files to counts on all cores, in constant memory and in order.
//!
//! ```text
//!            ┌────────────── empty batches ◄────────────────┐
//!            ▼                                              │
//! reader ─► fill ─► full batches, bounded ─► judges ─► collector ─► lines, in order; the tally
//! a thread          numbered                 a core each    this thread
//! ```
//!
//! There is a fixed number of batches, so whoever is fast waits for whoever is slow. The collector holds back the
//! batches that overtook an earlier one; it never waits for a batch that has no memory, since batches are filled in order.
//! A batch that has more lines than are kept hands them over while it is judged, once it is its turn: the batch whose turn
//! it is waits for no other, so there is always one that goes on.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread;

use super::input::{Batches, open};
use super::judge::{Batch, Judge, LINES_BYTES, Targets, Wanted};
use super::tally::Tally;

/// Batches that wait or are being filled, beside those being judged: as many for each judge, and for the others.
const BATCHES_A_JUDGE: usize = 2;

/// What the run came to.
pub struct Done {
    pub tally: Tally,
    /// Files that could not be read to their end, and why.
    pub unread: Vec<(usize, io::Error)>,
}

/// A batch for the judges, numbered in the order of the rows.
struct Numbered {
    number: u64,
    batch: Batch,
}

/// What reaches the collector.
enum Judged {
    /// The first lines of the batch whose turn it is.
    Lines(Vec<u8>),
    /// A batch, and its last lines.
    Batch(Box<Numbered>),
}

/// The number of the batch whose lines the collector writes next; the greatest number once it writes no more.
#[derive(Default)]
struct Turn {
    number: Mutex<u64>,
    changed: Condvar,
}

impl Turn {
    fn wait_for(&self, number: u64) {
        let current = self.number.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = self.changed.wait_while(current, |current| *current < number);
        drop(waited.unwrap_or_else(PoisonError::into_inner));
    }

    fn set(&self, number: u64) {
        *self.number.lock().unwrap_or_else(PoisonError::into_inner) = number;
        self.changed.notify_all();
    }
}

/// Judges all rows of the files and writes their lines to `out`; tells after each batch what there is so far, and how many
/// bytes have been read of the files. Errors: the lines cannot be written.
pub fn run(
    files: &[PathBuf],
    targets: &Targets<'_>,
    wanted: &Wanted,
    out: &mut dyn Write,
    tell: &mut dyn FnMut(&Tally, u64),
) -> io::Result<Done> {
    let threads = thread::available_parallelism().map_or(1, usize::from);
    let tools = targets.tools().len();
    let read = Arc::new(AtomicU64::new(0));
    let (to_reader, empty) = channel();
    let (to_judges, full) = sync_channel(threads);
    let (to_collector, judged) = sync_channel(threads);
    for _ in 0..BATCHES_A_JUDGE * (threads + 1) {
        // The reader's end is held right here.
        let _ = to_reader.send(Batch { tally: Tally::of_tools(tools), ..Batch::default() });
    }
    let (full, turn) = (Mutex::new(full), Turn::default());
    thread::scope(|scope| {
        let reader = scope.spawn(|| Reader { empty, full: to_judges, number: 0, read: &read }.read(files));
        for _ in 0..threads {
            let to_collector = to_collector.clone();
            let (full, turn) = (&full, &turn);
            scope.spawn(move || judge_all(full, &to_collector, turn, Judge::new(targets, wanted)));
        }
        // The last judge to end closes the way.
        drop(to_collector);
        let mut tally = Tally::of_tools(tools);
        let mut told = |tally: &Tally| tell(tally, read.load(Ordering::Relaxed));
        let collected = collect(judged, to_reader, &turn, &mut tally, wanted.samples, out, &mut told);
        turn.set(u64::MAX);
        collected?;
        let unread = reader.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        Ok(Done { tally, unread })
    })
}

struct Reader<'r> {
    empty: Receiver<Batch>,
    full: SyncSender<Numbered>,
    number: u64,
    read: &'r Arc<AtomicU64>,
}

impl Reader<'_> {
    /// Reads the files, one after the other. One that cannot be read does not cost the others.
    fn read(mut self, files: &[PathBuf]) -> Vec<(usize, io::Error)> {
        let mut unread = Vec::new();
        for (file, path) in files.iter().enumerate() {
            let source = open(path, self.read);
            match source.and_then(|source| self.send_all(&mut Batches::new(source, file))) {
                Ok(true) => {}
                Ok(false) => break,
                Err(error) => unread.push((file, error)),
            }
        }
        unread
    }

    /// Sends the batches of a file to the judges. Answers whether anybody still wants them.
    fn send_all(&mut self, batches: &mut Batches<impl io::Read>) -> io::Result<bool> {
        loop {
            let Ok(mut batch) = self.empty.recv() else { return Ok(false) };
            let is_any = batches.fill(&mut batch.rows);
            let is_end = !matches!(is_any, Ok(true));
            if is_end {
                // Without rows it only brings its memory back.
                batch.rows.text.clear();
            }
            if self.full.send(Numbered { number: self.number, batch }).is_err() {
                return Ok(false);
            }
            self.number += 1;
            if is_end {
                return is_any.map(|_| true);
            }
        }
    }
}

/// Judges batches until there are no more.
fn judge_all(full: &Mutex<Receiver<Numbered>>, judged: &SyncSender<Judged>, turn: &Turn, mut judge: Judge<'_>) {
    loop {
        // Judges do not panic while they hold the lock.
        let next = full.lock().unwrap_or_else(PoisonError::into_inner).recv();
        let Ok(Numbered { number, mut batch }) = next else { return };
        judge.judge(&mut batch, &mut |lines| {
            turn.wait_for(number);
            // Where nobody wants them, they are gone.
            let _ = judged.send(Judged::Lines(std::mem::take(lines)));
        });
        // Where nobody wants it, the judges still empty the queue, so that the reader is not left waiting.
        let _ = judged.send(Judged::Batch(Box::new(Numbered { number, batch })));
    }
}

/// Takes the judged batches in order: writes their lines, adds their tallies up, and gives them back.
fn collect(
    judged: Receiver<Judged>,
    to_reader: Sender<Batch>,
    turn: &Turn,
    tally: &mut Tally,
    samples: usize,
    out: &mut dyn Write,
    tell: &mut dyn FnMut(&Tally),
) -> io::Result<()> {
    let mut early = BTreeMap::new();
    let mut next = 0;
    for judged in judged {
        match judged {
            Judged::Lines(lines) => out.write_all(&lines)?,
            Judged::Batch(judged) => drop(early.insert(judged.number, judged.batch)),
        }
        while let Some(mut batch) = early.remove(&next) {
            out.write_all(&batch.lines)?;
            batch.lines.clear();
            batch.lines.shrink_to(LINES_BYTES);
            tally.add(&mut batch.tally, samples);
            next += 1;
            turn.set(next);
            tell(tally);
            // At the end of the files nobody wants it.
            let _ = to_reader.send(batch);
        }
    }
    drop(to_reader);
    out.flush()
}
