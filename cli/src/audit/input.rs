//! Recorded calls as they lie in files: opened, unpacked if they are packed, and cut into batches of whole rows.
//!
//! ```text
//! file or stdin ─► Counted ─► magic bytes ─┬─► gzip ─┬─► Batches ─► rows of about a mebibyte, numbered
//!                  for the                 ├─► zstd ─┤               one that is too long stands for itself
//!                  progress                └─► plain ┘
//! ```

use std::fs::File;
use std::io::{self, BufRead, BufReader, Chain, Cursor, Read};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use flate2::bufread::MultiGzDecoder;
use memchr::{memchr, memchr_iter, memrchr};
use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};

use crate::catalog_file::is_stdin;

/// Bytes of rows in a batch, unless one row has more.
const BATCH_BYTES: usize = 1 << 20;

/// A row of more bytes is malformed. The default limit of a call's arguments is a quarter of it.
pub const ROW_BYTES_MAX: usize = 64 << 20;

/// What is read of a file at once.
const READ_BYTES: usize = 128 << 10;

/// Two bytes begin a member of a gzip file. Source: RFC 1952, section 2.3.1.
const GZIP: [u8; 2] = [0x1f, 0x8b];

/// Four bytes begin a frame of a zstd file. Source: RFC 8878, section 3.1.1.
const ZSTD: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];

/// Whole rows of one file. The memory is used again for later ones.
#[derive(Debug, Default)]
pub struct Rows {
    /// Which of the files.
    pub file: usize,
    /// The number of the first row in its file, from 1.
    pub first: u64,
    /// The rows, each but the last of a file with its line break.
    pub text: Vec<u8>,
    /// Whether they are one row, left out because it is longer than [`ROW_BYTES_MAX`].
    pub is_too_long: bool,
}

/// Opens a file, or stdin, and unpacks it if it is gzip or zstd by its first bytes. `read` counts the bytes as they lie in
/// the file. Errors: it cannot be opened, or not be read.
pub fn open(path: &Path, read: &Arc<AtomicU64>) -> io::Result<Box<dyn Read>> {
    let source: Box<dyn Read> = if is_stdin(path) { Box::new(io::stdin()) } else { Box::new(File::open(path)?) };
    unpacked(Counted { source, read: Arc::clone(read) })
}

fn unpacked(source: impl Read + 'static) -> io::Result<Box<dyn Read>> {
    let mut source = BufReader::with_capacity(READ_BYTES, source);
    let mut head = Vec::new();
    source.by_ref().take(ZSTD.len() as u64).read_to_end(&mut head)?;
    let (is_gzip, is_zstd) = (head.starts_with(&GZIP), head == ZSTD);
    let whole = Cursor::new(head).chain(source);
    Ok(match (is_gzip, is_zstd) {
        (true, _) => Box::new(MultiGzDecoder::new(whole)),
        (_, true) => Box::new(ZstdReader::new(whole)),
        _ => Box::new(whole),
    })
}

/// Counts what is read, for those who watch from another thread.
struct Counted<R> {
    source: R,
    read: Arc<AtomicU64>,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let read = self.source.read(into)?;
        self.read.fetch_add(read as u64, Ordering::Relaxed);
        Ok(read)
    }
}

/// The frames of a zstd file, one after the other. The decoder itself knows one frame, skips none of those that are to be
/// skipped, and compares no checksum.
struct ZstdReader<R> {
    source: Chain<Cursor<Vec<u8>>, R>,
    decoder: FrameDecoder,
    is_inside: bool,
}

impl<R: BufRead> ZstdReader<R> {
    fn new(source: Chain<Cursor<Vec<u8>>, R>) -> Self {
        ZstdReader { source, decoder: FrameDecoder::new(), is_inside: false }
    }

    /// Enters the next frame that has content. Answers whether there is one.
    fn enter(&mut self) -> io::Result<bool> {
        while !self.source.fill_buf()?.is_empty() {
            match self.decoder.reset(&mut self.source) {
                Ok(()) => return Ok(true),
                Err(FrameDecoderError::ReadFrameHeaderError(ReadFrameHeaderError::SkipFrame { length, .. })) => {
                    let length = u64::from(length);
                    if io::copy(&mut self.source.by_ref().take(length), &mut io::sink())? < length {
                        return Err(io::ErrorKind::UnexpectedEof.into());
                    }
                }
                Err(error) => return Err(io::Error::other(error)),
            }
        }
        Ok(false)
    }

    /// Errors: the frame's content is not what was packed.
    fn leave(&mut self) -> io::Result<()> {
        self.is_inside = false;
        match self.decoder.get_checksum_from_data() {
            Some(checksum) if self.decoder.get_calculated_checksum() != Some(checksum) => {
                Err(io::Error::new(io::ErrorKind::InvalidData, "the checksum of a zstd frame is another"))
            }
            _ => Ok(()),
        }
    }
}

impl<R: BufRead> Read for ZstdReader<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        loop {
            if !self.is_inside {
                self.is_inside = self.enter()?;
                if !self.is_inside {
                    return Ok(0);
                }
            }
            while self.decoder.can_collect() == 0 && !self.decoder.is_finished() {
                let one = BlockDecodingStrategy::UptoBlocks(1);
                self.decoder.decode_blocks(&mut self.source, one).map_err(io::Error::other)?;
            }
            let read = self.decoder.read(into)?;
            if read > 0 || into.is_empty() {
                return Ok(read);
            }
            self.leave()?;
        }
    }
}

/// A file cut into batches. Each takes up to [`ROW_BYTES_MAX`] bytes of memory, and usually a mebibyte.
pub struct Batches<R> {
    source: R,
    file: usize,
    /// The number of the next row.
    next: u64,
    /// Read already: the beginning of the next batch.
    rest: Vec<u8>,
    /// Why no more can be read, until that has been told.
    failed: Option<io::Error>,
}

impl<R: Read> Batches<R> {
    /// The rows of `source`, which is the file of that number.
    pub fn new(source: R, file: usize) -> Self {
        Batches { source, file, next: 1, rest: Vec::new(), failed: None }
    }

    /// Fills `rows` with the next ones. Answers whether there are any. Errors: they cannot be read; all whole rows before
    /// have been answered then, and one that had begun is left out.
    pub fn fill(&mut self, rows: &mut Rows) -> io::Result<bool> {
        rows.text.clear();
        // A row of great length has been; most are small.
        rows.text.shrink_to(2 * BATCH_BYTES);
        rows.text.append(&mut self.rest);
        (rows.file, rows.first, rows.is_too_long) = (self.file, self.next, false);
        self.read_rows(rows);
        if rows.is_too_long {
            self.skip_row();
        }
        self.next += breaks(&rows.text) + u64::from(rows.is_too_long);
        let is_any = rows.is_too_long || !rows.text.is_empty();
        if is_any { Ok(true) } else { self.failed.take().map_or(Ok(false), Err) }
    }

    /// Reads until a row is whole, and all that follow it in a batch.
    fn read_rows(&mut self, rows: &mut Rows) {
        let mut searched = 0;
        loop {
            let room = room_behind(rows.text.len());
            let is_end = self.read(room, &mut rows.text);
            if let Some(last) = memrchr(b'\n', &rows.text[searched..]) {
                self.rest.extend_from_slice(&rows.text[searched + last + 1..]);
                rows.text.truncate(searched + last + 1);
                return;
            }
            if is_end {
                if self.failed.is_some() {
                    rows.text.clear();
                }
                return;
            }
            if rows.text.len() > ROW_BYTES_MAX {
                rows.text.clear();
                rows.is_too_long = true;
                return;
            }
            searched = rows.text.len();
        }
    }

    /// Reads up to `room` bytes. Answers whether there are no more.
    fn read(&mut self, room: usize, into: &mut Vec<u8>) -> bool {
        if self.failed.is_some() {
            return true;
        }
        match self.source.by_ref().take(room as u64).read_to_end(into) {
            Ok(read) => read < room,
            Err(error) => {
                self.failed = Some(error);
                true
            }
        }
    }

    /// Reads on to the end of the row.
    fn skip_row(&mut self) {
        let mut part = Vec::new();
        loop {
            part.clear();
            let is_end = self.read(READ_BYTES, &mut part);
            if let Some(end) = memchr(b'\n', &part) {
                self.rest.extend_from_slice(&part[end + 1..]);
                return;
            }
            if is_end {
                return;
            }
        }
    }
}

/// How many line breaks there are.
fn breaks(text: &[u8]) -> u64 {
    memchr_iter(b'\n', text).count() as u64
}

/// How much to read behind so many bytes: up to a whole batch, and of a longer row as much again, so that a long row is
/// searched once. At most to one byte more than a row may have.
fn room_behind(bytes: usize) -> usize {
    let whole = if bytes < BATCH_BYTES { BATCH_BYTES } else { 2 * bytes };
    whole.min(ROW_BYTES_MAX + 1).saturating_sub(bytes)
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use flate2::Compression;
    use flate2::write::GzEncoder;
    use ruzstd::encoding::{CompressionLevel, compress_to_vec};

    use super::*;

    /// A batch: its first row, its text, and whether that is too long.
    type Filled = (u64, Vec<u8>, bool);

    /// The batches of a source, and what ended them.
    fn all(source: impl Read) -> (Vec<Filled>, Option<io::Error>) {
        let (mut batches, mut rows, mut filled) = (Batches::new(source, 0), Rows::default(), Vec::new());
        loop {
            match batches.fill(&mut rows) {
                Ok(true) => filled.push((rows.first, rows.text.clone(), rows.is_too_long)),
                Ok(false) => return (filled, None),
                Err(error) => return (filled, Some(error)),
            }
        }
    }

    fn texts(source: &[u8]) -> Vec<u8> {
        let (batches, error) = all(source);
        assert!(error.is_none(), "{error:?}");
        batches.into_iter().flat_map(|(_, text, _)| text).collect()
    }

    fn gzip(text: &[u8]) -> Vec<u8> {
        let mut packer = GzEncoder::new(Vec::new(), Compression::fast());
        packer.write_all(text).expect("a vector takes all");
        packer.finish().expect("a vector takes all")
    }

    fn zstd(text: &[u8]) -> Vec<u8> {
        compress_to_vec(text, CompressionLevel::Fastest)
    }

    fn unpack(packed: &[u8]) -> io::Result<Vec<u8>> {
        let mut text = Vec::new();
        unpacked(Cursor::new(packed.to_vec()))?.read_to_end(&mut text)?;
        Ok(text)
    }

    #[test]
    fn rows_stay_whole() {
        assert_eq!(texts(b""), b"");
        assert_eq!(texts(b"a"), b"a");
        assert_eq!(all(&b"a\n\nbc"[..]).0, [(1, b"a\n\n".to_vec(), false), (3, b"bc".to_vec(), false)]);
    }

    #[test]
    fn batches_are_cut_at_rows() {
        let long = [vec![b'x'; 3 * BATCH_BYTES], b"\n".to_vec()].concat();
        let text = [b"1\n".repeat(BATCH_BYTES), long.clone(), b"2\n3\n".to_vec()].concat();
        let (batches, error) = all(&text[..]);
        assert!(error.is_none());
        assert_eq!(batches.iter().flat_map(|(_, text, _)| text).copied().collect::<Vec<u8>>(), text);
        let mut next = 1;
        for (first, text, _) in &batches {
            assert_eq!((*first, text.last()), (next, Some(&b'\n')));
            next += breaks(text);
        }
        assert!(batches.iter().all(|(_, text, _)| text.len() <= 2 * long.len()));
    }

    #[test]
    fn a_row_that_is_too_long_stands_for_itself() {
        let row = |bytes: usize| io::repeat(b'x').take(bytes as u64);
        let fits = (&b"1\n"[..]).chain(row(ROW_BYTES_MAX - 1)).chain(&b"\n2"[..]);
        let lens: Vec<_> = all(fits).0.into_iter().map(|(first, text, cut)| (first, text.len(), cut)).collect();
        assert_eq!(lens, [(1, 2, false), (2, ROW_BYTES_MAX, false), (3, 1, false)]);
        let exceeds = (&b"1\n"[..]).chain(row(ROW_BYTES_MAX + 1)).chain(&b"\n2\n3\n4"[..]);
        let lens: Vec<_> = all(exceeds).0.into_iter().map(|(first, text, cut)| (first, text.len(), cut)).collect();
        assert_eq!(lens, [(1, 2, false), (2, 0, true), (3, 4, false), (5, 1, false)]);
    }

    #[test]
    fn what_breaks_off_keeps_its_whole_rows() {
        struct Broken;
        impl Read for Broken {
            fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
                Err(io::Error::other("gone"))
            }
        }
        let (batches, error) = all((&b"1\n2\n3"[..]).chain(Broken));
        assert_eq!(batches, [(1, b"1\n2\n".to_vec(), false)]);
        assert_eq!(error.map(|error| error.to_string()).as_deref(), Some("gone"));
    }

    #[test]
    fn packed_by_magic_bytes() {
        let text = b"{\"a\": 1}\n".repeat(50_000);
        for packed in [text.clone(), gzip(&text), zstd(&text)] {
            assert_eq!(unpack(&packed).expect("sound"), text);
        }
        // Of two members or frames, with a frame between that is to be skipped.
        assert_eq!(unpack(&[gzip(b"1\n"), gzip(b"2\n")].concat()).expect("sound"), b"1\n2\n");
        let skipped = [0x50, 0x2a, 0x4d, 0x18, 2, 0, 0, 0, 7, 7];
        assert_eq!(unpack(&[&zstd(b"1\n"), &skipped[..], &zstd(b"2\n")].concat()).expect("sound"), b"1\n2\n");
        for short in [&b""[..], b"{", b"\x28\xb5"] {
            assert_eq!(unpack(short).expect("plain"), short);
        }
    }

    #[test]
    fn packed_and_damaged() {
        let text = b"{\"a\": 1}\n".repeat(1_000);
        for packed in [gzip(&text), zstd(&text)] {
            assert!(unpack(&packed[..packed.len() - 3]).is_err());
            let mut other = packed.clone();
            other[packed.len() - 6] ^= 1;
            assert!(unpack(&other).is_err());
        }
        assert!(unpack(&[0x28, 0xb5, 0x2f, 0xfd, 0xff]).is_err());
    }
}
