//! A checksum over much in little time: loading a catalog is to take a twentieth of compiling it, and a cryptographic
//! digest would take more than that alone.

/// Odd constants with bits all over, one for each lane.
const LANES: [u64; 4] = [0x9fb2_1c65_1e98_df25, 0xd6e8_feb8_6659_fd93, 0xa24b_aed4_963e_e407, 0xe9b5_dba5_8189_dbbd];

/// 64 bits over all bytes and their number.
///
/// The words of eight bytes go to four lanes in turn, and each step of a lane can be undone. So any change within one word,
/// a flipped bit above all, gives another checksum for certain; any other change, a text cut off among them, but for about
/// one in 2^64. That holds for accidents: whoever wants to can make a text of any checksum.
/// Cost: one pass, several bytes a cycle.
pub fn checksum(bytes: &[u8]) -> u64 {
    let mut lanes = LANES;
    let (blocks, rest) = bytes.as_chunks::<32>();
    for block in blocks {
        let (words, _) = block.as_chunks::<8>();
        for ((lane, multiplier), word) in lanes.iter_mut().zip(LANES).zip(words) {
            *lane = step(*lane, u64::from_le_bytes(*word), multiplier);
        }
    }
    let mut last = [0; 32];
    last[..rest.len()].copy_from_slice(rest);
    let (words, _) = last.as_chunks::<8>();
    for ((lane, multiplier), word) in lanes.iter_mut().zip(LANES).zip(words) {
        *lane = step(*lane, u64::from_le_bytes(*word), multiplier);
    }
    lanes.into_iter().fold(bytes.len() as u64, |sum, lane| step(sum, lane, LANES[0]))
}

/// Undone by an inverse of the odd multiplier, and since a shift by half the bits undoes itself.
fn step(state: u64, word: u64, multiplier: u64) -> u64 {
    let product = (state ^ word).wrapping_mul(multiplier);
    product ^ product >> 32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_flipped_bit_and_every_cut_shows() {
        let bytes: Vec<u8> = (0..300_u32).map(|at| (at * 7 % 256) as u8).collect();
        let whole = checksum(&bytes);
        for bit in 0..8 * bytes.len() {
            let mut changed = bytes.clone();
            changed[bit / 8] ^= 1 << (bit % 8);
            assert_ne!(checksum(&changed), whole, "bit {bit}");
        }
        for len in 0..bytes.len() {
            assert_ne!(checksum(&bytes[..len]), whole, "{len} bytes");
        }
    }

    /// Zeros at the end count, and so does where words stand.
    #[test]
    fn zeros_and_order_count() {
        assert_ne!(checksum(&[0; 8]), checksum(&[0; 9]));
        assert_ne!(checksum(&[]), checksum(&[0]));
        let mut words = [0; 64];
        words[0] = 1;
        let first = checksum(&words);
        words.swap(0, 32);
        assert_ne!(checksum(&words), first);
    }

    /// Two flips of the highest bit, which a multiplication alone would leave where they are.
    #[test]
    fn flips_do_not_cancel() {
        let whole = checksum(&[0; 128]);
        for (a, b) in [(7, 39), (7, 71), (39, 71), (7, 15)] {
            let mut changed = [0; 128];
            changed[a] ^= 0x80;
            changed[b] ^= 0x80;
            assert_ne!(checksum(&changed), whole, "{a} {b}");
        }
    }
}
