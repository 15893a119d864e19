//! Bytes as texts in the encodings of Node's `Buffer`, and back.

use base64::{
    Engine as _, alphabet,
    engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig, general_purpose::STANDARD},
};
use rquickjs::{Ctx, Exception, Function, Object, Result, Value};

use crate::{arguments::utf8, bytes};

/// URL-safe, without padding.
const URL_SAFE: GeneralPurpose = GeneralPurpose::new(
    &alphabet::URL_SAFE,
    GeneralPurposeConfig::new()
        .with_encode_padding(false)
        .with_decode_allow_trailing_bits(true)
        .with_decode_padding_mode(DecodePaddingMode::RequireNone),
);

pub(super) fn install<'js>(ctx: &Ctx<'js>, native: &Object<'js>) -> Result<()> {
    native.set("textOf", Function::new(ctx.clone(), text_of)?)?;
    native.set("bytesOf", Function::new(ctx.clone(), bytes_of)?)
}

fn text_of<'js>(ctx: Ctx<'js>, bytes: Value<'js>, encoding: String) -> Result<String> {
    let bytes = bytes::of(&ctx, &bytes, "toString()")?;
    Ok(match encoding.as_str() {
        "utf8" => match String::from_utf8(bytes) {
            Ok(text) => text,
            Err(error) => String::from_utf8_lossy(error.as_bytes()).into_owned(),
        },
        "hex" => bytes.iter().map(|byte| format!("{byte:02x}")).collect(),
        "base64" => STANDARD.encode(bytes),
        "base64url" => URL_SAFE.encode(bytes),
        "latin1" => bytes.iter().map(|&byte| char::from(byte)).collect(),
        "ascii" => bytes.iter().map(|byte| char::from(byte & 0x7f)).collect(),
        "utf16le" => {
            let units = bytes
                .chunks_exact(2)
                .map(|pair| u16::from_le_bytes([pair[0], pair[1]]));
            char::decode_utf16(units)
                .map(|c| c.unwrap_or(char::REPLACEMENT_CHARACTER))
                .collect()
        }
        other => return Err(unknown(&ctx, other)),
    })
}

fn bytes_of<'js>(ctx: Ctx<'js>, text: rquickjs::String<'js>, encoding: String) -> Result<Value<'js>> {
    let text = utf8(&text)?;
    let decoded = match encoding.as_str() {
        "utf8" => text.into_bytes(),
        "hex" => from_hex(&text),
        "base64" | "base64url" => from_base64(&text),
        // As in Node, the lower half of each code unit.
        "latin1" | "ascii" => text.encode_utf16().map(|unit| unit as u8).collect(),
        "utf16le" => text.encode_utf16().flat_map(u16::to_le_bytes).collect(),
        other => return Err(unknown(&ctx, other)),
    };
    bytes::buffer(&ctx, &decoded)
}

fn unknown(ctx: &Ctx<'_>, encoding: &str) -> rquickjs::Error {
    Exception::throw_type(ctx, &format!("Unknown encoding: {encoding}"))
}

/// The bytes up to the first pair that is not hexadecimal, as in Node.
fn from_hex(text: &str) -> Vec<u8> {
    let digit = |byte: u8| char::from(byte).to_digit(16);
    let pairs = text.as_bytes().chunks_exact(2);
    pairs
        .map_while(|pair| Some((digit(pair[0])? * 16 + digit(pair[1])?) as u8))
        .collect()
}

/// The bytes of base64 in either alphabet. As in Node, other characters are skipped, and `=` is the end.
fn from_base64(text: &str) -> Vec<u8> {
    let known = text.bytes().take_while(|byte| *byte != b'=');
    let mut digits: Vec<u8> = known
        .filter_map(|byte| match byte {
            b'+' => Some(b'-'),
            b'/' => Some(b'_'),
            b'-' | b'_' => Some(byte),
            _ => byte.is_ascii_alphanumeric().then_some(byte),
        })
        .collect();
    // A single digit has not enough bits for a byte.
    if digits.len() % 4 == 1 {
        digits.pop();
    }
    URL_SAFE.decode(digits).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_of_the_encoding_is_passed_over_as_in_node() {
        let hex = |text: &str, expected: &[u8]| assert_eq!(from_hex(text), expected, "{text}");
        hex("0aFF", &[10, 255]);
        hex("0aFFf", &[10, 255]);
        hex("0azz0a", &[10]);
        hex("ü0", &[]);
        let base64 =
            |text: &str, expected: &str| assert_eq!(from_base64(text), expected.as_bytes(), "{text}");
        base64("aGk=", "hi");
        base64("aGk", "hi");
        base64("a G\nk=ignored", "hi");
        base64("aGkx-", "hi1");
        base64("a", "");
        base64("aG", "h");
        assert_eq!(from_base64("-_+/"), [0xfb, 0xff, 0xbf]);
    }
}
