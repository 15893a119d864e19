//! Names signed by Rails' message verifier and by AnyCable's Ruby gem, and forged ones.

use base64::engine::general_purpose;
use proptest::prelude::*;

use super::*;

const KEY: &str = "s3cr3t";

/// Signs any text.
fn sign(key: &str, encoded: &str) -> String {
    let signature = hmac::sign(
        &hmac::Key::new(hmac::HMAC_SHA256, key.as_bytes()),
        encoded.as_bytes(),
    );
    let digits: String = signature
        .as_ref()
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect();
    format!("{encoded}--{digits}")
}

#[track_caller]
fn check(signed: &str, expected: Result<&str, SignedNameError>) {
    let found = Verifier::new(KEY).verify(signed);
    assert_eq!(found.as_deref().map_err(|error| *error), expected, "{signed}");
}

#[test]
fn names_signed_by_ruby_are_understood() {
    for (signed, name) in [
        // ActiveSupport::MessageVerifier.new("s3cr3t", digest: "SHA256", serializer: JSON).generate(name)
        (
            "ImNoYXQvMjAyMyI=--92681d73b6a2c7f43ebabe8cb78625c005935b17473630265c8d96d6237fbc4b",
            "chat/2023",
        ),
        (
            "ImE/Yj5jfn5+Ig==--a4113fb2f9ddb80d9a5954821cd4a613e6568ece85f1894892f7ae50436f84b7",
            "a?b>c~~~",
        ),
        (
            "IsO/w77wn5qiIg==--32682c2a98c03a4fc50f7cb182d8aa957a5575e7594fbd2967bcefaced4fe3e7",
            "ÿþ🚢",
        ),
        (
            "Inh4c+++viI=--2852d11e34283a66c0ae8b7342ba24434ac61cc311d40642d7b306c999084acc",
            "xxsﾾ",
        ),
        (
            "ImFiLS1jZCI=--9858e464185da1c5fc5b5f8249ed0c65aa10290c4df8b0bc219cdcd11b8d193d",
            "ab--cd",
        ),
        (
            "IiI=--fa7cfe3c792b6fba95be15c0ee1c4a7d7c46ec351903687b979e44eb41688576",
            "",
        ),
        // Base64.urlsafe_encode64(name.to_json), with OpenSSL::HMAC.hexdigest("SHA256", "s3cr3t", …)
        (
            "ImE_Yj5jfn5-Ig==--662eab4efa1e2ed1772977f6af6ea58a448d6b2fe79c847de3a39cf075dd719e",
            "a?b>c~~~",
        ),
        (
            "Inh4c---viI=--fc0bea324d9e8088954ff12272ce9ec919671b036e45a807ceb0c78f660de7b8",
            "xxsﾾ",
        ),
        // As above, with padding: false.
        (
            "ImFiIg--3353d82e285d3af1ab7f5a1a3b940cd35feed41cbbb7f766f679a5968c311a34",
            "ab",
        ),
    ] {
        check(signed, Ok(name));
    }
}

#[test]
fn anything_else_is_refused() {
    use SignedNameError::{Malformed, NotAName, WrongSignature};
    let good = "ImNoYXQvMjAyMyI=--92681d73b6a2c7f43ebabe8cb78625c005935b17473630265c8d96d6237fbc4b";
    check(&sign("another key", "ImNoYXQvMjAyMyI="), Err(WrongSignature));
    check(&sign("", "ImNoYXQvMjAyMyI="), Err(WrongSignature));
    check(&good.replace("ImNo", "ImMo"), Err(WrongSignature));
    check(&good.replace('=', ""), Err(WrongSignature));
    check(&good[..good.len() - 1], Err(Malformed));
    check(&good[..good.len() - 2], Err(WrongSignature));
    check(&good.to_uppercase(), Err(Malformed));
    check(&format!("{good}\n"), Err(Malformed));
    check(&good.replace("--", "-"), Err(Malformed));
    check("", Err(Malformed));
    check("--", Err(WrongSignature));
    check("chat--", Err(WrongSignature));
    check("chat--gg", Err(Malformed));
    check("chat--é", Err(Malformed));
    check(&sign(KEY, "no base64!"), Err(NotAName));
    check(&sign(KEY, "Im+_Ig=="), Err(NotAName));
    check(
        &sign(KEY, &general_purpose::STANDARD.encode("chat")),
        Err(NotAName),
    );
    // MessageVerifier#generate({"a" => 1})
    check(
        "eyJhIjoxfQ==--623fe2d6b230b883ac51945c609d782ea6b79cddae9f2fae8a0436176b5d6f55",
        Err(NotAName),
    );
}

proptest! {
    #[test]
    fn what_was_signed_comes_back(name in ".*", key in ".+") {
        let json = serde_json::to_string(&name).expect("a string always serialises");
        for base64 in [
            general_purpose::STANDARD,
            general_purpose::STANDARD_NO_PAD,
            general_purpose::URL_SAFE,
            general_purpose::URL_SAFE_NO_PAD,
        ] {
            let signed = sign(&key, &base64.encode(&json));
            prop_assert_eq!(Verifier::new(&key).verify(&signed), Ok(name.clone()));
        }
    }

    #[test]
    fn any_flipped_bit_spoils_a_name(name in ".*", position in any::<prop::sample::Index>(), bit in 0..8_u8) {
        let json = serde_json::to_string(&name).expect("a string always serialises");
        let mut bytes = sign(KEY, &general_purpose::STANDARD.encode(json)).into_bytes();
        let position = position.index(bytes.len());
        bytes[position] ^= 1 << bit;
        if let Ok(flipped) = String::from_utf8(bytes) {
            prop_assert!(Verifier::new(KEY).verify(&flipped).is_err());
        }
    }
}
