//! Numbers, texts and lists as bytes, and back.

use std::fmt;

/// Why bytes are no image.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadImage(pub String);

impl BadImage {
    /// Bytes end before what they are said to hold.
    pub(super) fn cut_off() -> BadImage {
        BadImage("it ends too early".to_owned())
    }
}

impl fmt::Display for BadImage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for BadImage {}

/// Bytes being written. Lengths and counts are 32 bits wide, as ids and offsets of a unit are.
#[derive(Clone, Debug, Default)]
pub struct Writer {
    bytes: Vec<u8>,
}

impl Writer {
    /// Nothing yet.
    pub fn new() -> Writer {
        Writer::default()
    }

    /// All that was written.
    pub fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }

    /// What was written so far.
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// One byte.
    pub fn u8(&mut self, value: u8) {
        self.bytes.push(value);
    }

    /// Four bytes.
    pub fn u32(&mut self, value: u32) {
        self.bytes.extend_from_slice(&value.to_le_bytes());
    }

    /// Eight bytes.
    pub fn u64(&mut self, value: u64) {
        self.bytes.extend_from_slice(&value.to_le_bytes());
    }

    /// A count, before what is counted.
    pub fn count(&mut self, len: usize) {
        debug_assert!(u32::try_from(len).is_ok(), "pools and texts are bounded far below");
        self.u32(len as u32);
    }

    /// Bytes as they are, without their length.
    pub fn raw(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    /// Bytes behind their length.
    pub fn bytes(&mut self, bytes: &[u8]) {
        self.count(bytes.len());
        self.raw(bytes);
    }

    /// A text behind its length.
    pub fn text(&mut self, text: &str) {
        self.bytes(text.as_bytes());
    }

    /// Words behind their count.
    pub fn words(&mut self, words: impl ExactSizeIterator<Item = u32>) {
        self.count(words.len());
        words.for_each(|word| self.u32(word));
    }

    /// What `write` writes, behind its length.
    pub fn sized(&mut self, write: impl FnOnce(&mut Writer)) {
        let at = self.bytes.len();
        self.u32(0);
        write(self);
        let len = (self.bytes.len() - at - 4) as u32;
        self.bytes[at..at + 4].copy_from_slice(&len.to_le_bytes());
    }
}

/// Bytes being read, front to back. Every method errors where too few are left.
#[derive(Clone, Debug)]
pub struct Reader<'b> {
    bytes: &'b [u8],
}

impl<'b> Reader<'b> {
    /// Reads these.
    pub fn new(bytes: &'b [u8]) -> Reader<'b> {
        Reader { bytes }
    }

    /// So many bytes as they are.
    pub fn raw(&mut self, len: usize) -> Result<&'b [u8], BadImage> {
        let (taken, rest) = self.bytes.split_at_checked(len).ok_or_else(BadImage::cut_off)?;
        self.bytes = rest;
        Ok(taken)
    }

    /// The next `N` bytes.
    pub fn array<const N: usize>(&mut self) -> Result<[u8; N], BadImage> {
        let (taken, rest) = self.bytes.split_first_chunk::<N>().ok_or_else(BadImage::cut_off)?;
        self.bytes = rest;
        Ok(*taken)
    }

    /// One byte.
    pub fn u8(&mut self) -> Result<u8, BadImage> {
        Ok(self.array::<1>()?[0])
    }

    /// A byte that is 0 or 1.
    pub fn bool(&mut self) -> Result<bool, BadImage> {
        match self.u8()? {
            0 => Ok(false),
            1 => Ok(true),
            other => Err(BadImage(format!("{other} is neither true nor false"))),
        }
    }

    /// Four bytes.
    pub fn u32(&mut self) -> Result<u32, BadImage> {
        Ok(u32::from_le_bytes(self.array()?))
    }

    /// Eight bytes.
    pub fn u64(&mut self) -> Result<u64, BadImage> {
        Ok(u64::from_le_bytes(self.array()?))
    }

    /// A count of things that take at least so many bytes each: there are as many left, so room can be made for them.
    pub fn count(&mut self, bytes_each: usize) -> Result<usize, BadImage> {
        let count = self.u32()? as usize;
        let fits = count.checked_mul(bytes_each).is_some_and(|bytes| bytes <= self.bytes.len());
        if fits { Ok(count) } else { Err(BadImage::cut_off()) }
    }

    /// So many things, each as `read` reads it; they take at least so many bytes each.
    pub fn list<T>(
        &mut self,
        bytes_each: usize,
        mut read: impl FnMut(&mut Self) -> Result<T, BadImage>,
    ) -> Result<Vec<T>, BadImage> {
        let count = self.count(bytes_each)?;
        let mut list = Vec::with_capacity(count);
        for _ in 0..count {
            list.push(read(self)?);
        }
        Ok(list)
    }

    /// Rows of `N` bytes behind their count.
    pub(super) fn rows<const N: usize, T>(&mut self, row: impl Fn(&[u8; N]) -> T) -> Result<Vec<T>, BadImage> {
        let count = self.count(N)?;
        let (rows, _) = self.raw(count * N)?.as_chunks::<N>();
        Ok(rows.iter().map(row).collect())
    }

    /// Words behind their count.
    pub fn words(&mut self) -> Result<Vec<u32>, BadImage> {
        self.rows(|row| u32::from_le_bytes(*row))
    }

    /// Bytes behind their length.
    pub fn bytes(&mut self) -> Result<&'b [u8], BadImage> {
        let len = self.count(1)?;
        self.raw(len)
    }

    /// A text behind its length. Errors: it is not UTF-8.
    pub fn text(&mut self) -> Result<&'b str, BadImage> {
        std::str::from_utf8(self.bytes()?).map_err(|_| BadImage("a text is not UTF-8".to_owned()))
    }

    /// What is left.
    pub fn rest(&self) -> &'b [u8] {
        self.bytes
    }

    /// Nothing is left. Errors: something is.
    pub fn finish(&self) -> Result<(), BadImage> {
        match self.bytes.len() {
            0 => Ok(()),
            rest => Err(BadImage(format!("{rest} bytes more than it holds"))),
        }
    }
}

/// A word of a row.
pub(super) fn word_at<const N: usize>(row: &[u8; N], at: usize) -> u32 {
    let mut word = [0; 4];
    word.copy_from_slice(&row[at..at + 4]);
    u32::from_le_bytes(word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let mut out = Writer::new();
        out.u8(7);
        out.u32(0x0102_0304);
        out.u64(u64::MAX - 1);
        out.text("é");
        out.words([1, 2, 3].into_iter());
        out.sized(|out| out.raw(b"inside"));
        let bytes = out.into_bytes();
        assert_eq!(bytes[..5], [7, 4, 3, 2, 1]);
        let mut from = Reader::new(&bytes);
        assert_eq!((from.u8(), from.u32(), from.u64()), (Ok(7), Ok(0x0102_0304), Ok(u64::MAX - 1)));
        assert_eq!((from.text(), from.words(), from.bytes()), (Ok("é"), Ok(vec![1, 2, 3]), Ok(&b"inside"[..])));
        assert_eq!(from.finish(), Ok(()));
        for len in 0..bytes.len() {
            let mut from = Reader::new(&bytes[..len]);
            let all = (|| {
                from.u8()?;
                from.u32()?;
                from.u64()?;
                from.text()?;
                from.words()?;
                from.bytes()?;
                from.finish()
            })();
            assert_eq!(all, Err(BadImage::cut_off()), "{len}");
        }
    }

    #[test]
    fn a_count_beyond_the_bytes_makes_no_room() {
        let bytes = [0xff, 0xff, 0xff, 0xff, 1, 2, 3];
        assert_eq!(Reader::new(&bytes).words(), Err(BadImage::cut_off()));
        assert_eq!(Reader::new(&bytes).bytes(), Err(BadImage::cut_off()));
        assert!(Reader::new(&bytes).list(2, Reader::u8).is_err());
        assert!(Reader::new(&[2]).bool().is_err());
    }
}
