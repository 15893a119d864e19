//! The hash slot of a key (<https://redis.io/docs/latest/operate/oss_and_stack/reference/cluster-spec/>).

/// The number of hash slots of a Redis Cluster.
pub(crate) const N_SLOTS: u16 = 16384;

/// The slot of a key: that of its hash tag, the text in its first pair of braces, if that is not empty.
pub(crate) fn slot(key: &[u8]) -> u16 {
    crc16(tag(key).unwrap_or(key)) % N_SLOTS
}

fn tag(key: &[u8]) -> Option<&[u8]> {
    let start = key.iter().position(|byte| *byte == b'{')? + 1;
    let length = key[start..].iter().position(|byte| *byte == b'}')?;
    (length > 0).then(|| &key[start..start + length])
}

/// CRC-16/XMODEM: polynomial 0x1021, from 0, nothing reflected.
fn crc16(bytes: &[u8]) -> u16 {
    bytes.iter().fold(0, |crc: u16, byte| {
        let [high, _] = crc.to_be_bytes();
        (crc << 8) ^ TABLE[usize::from(high ^ byte)]
    })
}

const TABLE: [u16; 256] = table();

const fn table() -> [u16; 256] {
    let mut table = [0; 256];
    let mut index = 0;
    while index < 256 {
        #[expect(clippy::cast_possible_truncation, reason = "`index` is less than 256")]
        let mut crc = (index as u16) << 8;
        let mut bit = 0;
        while bit < 8 {
            crc = if crc & 0x8000 == 0 {
                crc << 1
            } else {
                (crc << 1) ^ 0x1021
            };
            bit += 1;
        }
        table[index] = crc;
        index += 1;
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The check value of the specification, and those of `CLUSTER KEYSLOT`.
    #[test]
    fn published_values() {
        assert_eq!(crc16(b"123456789"), 0x31C3);
        for (key, expected) in [("", 0), ("foo", 12182), ("bar", 5061), ("123456789", 12739)] {
            assert_eq!(slot(key.as_bytes()), expected, "{key}");
        }
    }

    #[track_caller]
    fn check(key: &str, hashed: &str) {
        assert_eq!(slot(key.as_bytes()), crc16(hashed.as_bytes()) % N_SLOTS, "{key}");
    }

    #[test]
    fn only_the_first_tag_counts_and_only_if_it_is_not_empty() {
        check("{user1000}.following", "user1000");
        check("foo{}{bar}", "foo{}{bar}");
        check("foo{{bar}}zap", "{bar");
        check("foo{bar}{zap}", "bar");
        check("foo{bar", "foo{bar");
        check("foo}bar{a}", "a");
    }
}
