//! A rejection as one number: 64-bit FNV-1a over texts that do not depend on values, processes or releases.
//!
//! Written out here because hosts store these numbers: a hasher of the standard library or of a crate promises nothing
//! about the next release.

use serde::Serializer;

use crate::rejection::{Cause, NOT_JSON, Rejection, code_of, code_of_failure};

/// Source: Fowler, Noll, Vo: the offset basis for 64 bits.
const OFFSET_BASIS: u64 = 0xcbf2_9ce4_8422_2325;

/// Source: as above, the prime for 64 bits.
const PRIME: u64 = 0x0000_0100_0000_01b3;

impl Rejection<'_> {
    /// What tells this kind of rejection from others: a number made of the code and the keyword location of the failure
    /// whose message is shown, and of no value. Equal for equal mistakes, in every process and as long as the schema keeps
    /// its shape, so that a loop of equal calls can be seen. Together with the tool's name it is unique as far as 64 bits
    /// reach; it is no defence against a schema made to collide. Source: FNV-1a, 64 bits, over the code, a byte 0, and the
    /// location.
    pub fn signature(&self) -> u64 {
        match &self.cause {
            Cause::Failed(unit, found) => found
                .borrow()
                .renderer()
                .top()
                .map_or(0, |top| of(code_of_failure(unit, &top.deep), unit.keyword_location(&top.deep))),
            Cause::Misread(..) => of(self.code(), ""),
            Cause::Malformed(malformed) => of(code_of(malformed), ""),
            Cause::NotJson(..) => of(NOT_JSON, ""),
        }
    }
}

/// The signature of a failure by its code and its keyword location. No code has a byte 0, so the two cannot run together.
fn of(code: &str, keyword_location: &str) -> u64 {
    fnv1a(code.bytes().chain([0]).chain(keyword_location.bytes()))
}

fn fnv1a(bytes: impl Iterator<Item = u8>) -> u64 {
    bytes.fold(OFFSET_BASIS, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(PRIME))
}

/// As 16 hexadecimal digits: many readers of JSON keep numbers to 53 bits.
#[allow(clippy::trivially_copy_pass_by_ref)] // the signature that serde asks for
pub(crate) fn as_hex<S: Serializer>(signature: &u64, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(&format_args!("{signature:016x}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Figures of the authors' own test vectors.
    #[test]
    fn fnv1a_is_as_published() {
        for (text, expected) in
            [("", 0xcbf2_9ce4_8422_2325), ("a", 0xaf63_dc4c_8601_ec8c), ("foobar", 0x8594_4171_f739_67e8)]
        {
            assert_eq!(fnv1a(text.bytes()), expected, "{text}");
        }
    }

    #[test]
    fn code_and_location_do_not_run_together() {
        assert_ne!(of("type", "/a"), of("typ", "e/a"));
    }
}
