//! Masking (RFC 6455 §5.3): XOR with a repeated four-byte key. The same operation masks and unmasks.

/// Width of one step. 32 bytes are one AVX2 or two SSE2 registers; the compiler turns a step into exactly those.
const STEP_BYTES: usize = 32;

/// XORs `data` with `key`, as if `data` began `offset` bytes into a masked payload.
pub(crate) fn apply(data: &mut [u8], key: [u8; 4], offset: u64) {
    let key = rotate(key, offset);
    let wide: [u8; STEP_BYTES] = std::array::from_fn(|i| key[i % 4]);
    let (steps, rest) = data.as_chunks_mut::<STEP_BYTES>();
    for step in steps {
        for (byte, key) in step.iter_mut().zip(wide) {
            *byte ^= key;
        }
    }
    for (byte, key) in rest.iter_mut().zip(wide) {
        *byte ^= key;
    }
}

/// The key rotated for `offset`: its first byte applies to payload byte `offset`.
fn rotate(mut key: [u8; 4], offset: u64) -> [u8; 4] {
    key.rotate_left((offset % 4) as usize);
    key
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The definition in RFC 6455 §5.3, byte at a time.
    fn reference(data: &mut [u8], key: [u8; 4], offset: u64) {
        for (i, byte) in data.iter_mut().enumerate() {
            *byte ^= key[((offset + i as u64) % 4) as usize];
        }
    }

    proptest! {
        #[test]
        fn equals_the_definition_on_unaligned_slices(
            data in proptest::collection::vec(any::<u8>(), 0..600),
            key: [u8; 4],
            offset in 0_u64..1 << 40,
            skip in 0_usize..40,
        ) {
            let skip = skip.min(data.len());
            let mut expected = data.clone();
            reference(&mut expected[skip..], key, offset);
            let mut actual = data;
            apply(&mut actual[skip..], key, offset);
            prop_assert_eq!(actual, expected);
        }
    }
}
