//! The texts of statuses, which are percent-encoded in their header field.

/// Decodes percent-encoding. Invalid sequences stay unchanged.
pub fn decode_text(text: &[u8]) -> String {
    let mut decoded = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((&byte, behind)) = rest.split_first() {
        let encoded = behind.split_at_checked(2).filter(|_| byte == b'%');
        match encoded.and_then(|(digits, behind)| Some((hexadecimal(digits)?, behind))) {
            Some((value, behind)) => {
                decoded.push(value);
                rest = behind;
            }
            None => {
                decoded.push(byte);
                rest = behind;
            }
        }
    }
    String::from_utf8_lossy(&decoded).into_owned()
}

fn hexadecimal(digits: &[u8]) -> Option<u8> {
    digits.iter().try_fold(0, |value, digit| {
        let digit = char::from(*digit).to_digit(16)?;
        Some(value << 4 | u8::try_from(digit).ok()?)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_decoded_as_far_as_they_are_encoded() {
        for (sent, expected) in [
            ("no such table", "no such table"),
            ("caf%C3%A9%0A", "café\n"),
            ("caf%c3%a9", "café"),
            ("100%", "100%"),
            ("%4", "%4"),
            ("%zz%+1%41", "%zz%+1A"),
            ("%FF", "\u{fffd}"),
        ] {
            assert_eq!(decode_text(sent.as_bytes()), expected);
        }
    }
}
