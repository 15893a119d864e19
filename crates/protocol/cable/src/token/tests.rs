//! Tokens made by npm's `jose`, and invalid tokens made here.

use std::{
    collections::BTreeMap,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD as BASE64};
use proptest::prelude::*;
use ring::hmac;
use serde::Deserialize;
use serde_json::{Value, json, value::RawValue};

use super::*;

const SECRET: &str = "an application secret that is long enough for HS512 ones: 64 bytes and more";
const KAY: &str = r#"{"user":"kay"}"#;
/// Tokens of `jose` expire an hour later.
const NOW: u64 = 1_700_000_000;

/// Tokens by algorithm, all for [`KAY`], and the public keys that they are signed with. `kid` is the key's type.
#[derive(Deserialize)]
struct SignedByJose {
    jwks: Box<RawValue>,
    tokens: BTreeMap<String, String>,
}

fn signed_by_jose() -> SignedByJose {
    serde_json::from_str(include_str!("tests/signed-by-jose.json")).expect("valid JSON")
}

fn at(secs: u64) -> SystemTime {
    UNIX_EPOCH + Duration::from_secs(secs)
}

fn verify(token: &str, secret: Option<&str>, jwks: Option<&str>, now: u64) -> Result<String, String> {
    let secret = secret.map(Secret::new);
    let set = jwks.map(|json| KeySet::parse(json.as_bytes()).expect("a set"));
    let keys = Keys {
        secret: secret.as_ref(),
        set: set.as_ref(),
    };
    keys.verify(token, at(now))
        .map(|token| token.identifiers)
        .map_err(|error| match error {
            TokenError::Expired => "expired".to_owned(),
            TokenError::UnknownKey => "unknown key".to_owned(),
            TokenError::Invalid(_) => "invalid".to_owned(),
            TokenError::NoIdentifiers => "no identifiers".to_owned(),
        })
}

fn encode(header: &Value, claims: &str) -> String {
    format!("{}.{}", BASE64.encode(header.to_string()), BASE64.encode(claims))
}

fn sign(algorithm: hmac::Algorithm, key: &[u8], message: &str) -> String {
    let signature = hmac::sign(&hmac::Key::new(algorithm, key), message.as_bytes());
    format!("{message}.{}", BASE64.encode(signature))
}

/// Signs claims like AnyCable's tokens.
fn hs256(claims: &str) -> String {
    let message = encode(&json!({"alg": "HS256", "typ": "JWT"}), claims);
    sign(hmac::HMAC_SHA256, SECRET.as_bytes(), &message)
}

#[test]
fn every_algorithm_of_jose_is_understood_and_expires() {
    let SignedByJose { jwks, tokens } = signed_by_jose();
    assert_eq!(tokens.len(), 12);
    for (algorithm, token) in &tokens {
        let verify = |now| verify(token, Some(SECRET), Some(jwks.get()), now);
        assert_eq!(verify(NOW).as_deref(), Ok(KAY), "{algorithm}");
        assert_eq!(verify(NOW + 3599).as_deref(), Ok(KAY), "{algorithm}");
        assert_eq!(verify(NOW + 3600), Err("expired".to_owned()), "{algorithm}");
    }
}

#[test]
fn claims_decide() {
    for (claims, expected) in [
        (json!({"ext": KAY}), Ok(KAY)),
        (
            json!({"ext": KAY, "exp": NOW + 1, "nbf": NOW, "aud": "others", "iss": "me"}),
            Ok(KAY),
        ),
        (json!({"ext": KAY, "exp": 1_700_000_000.5}), Ok(KAY)),
        (json!({"ext": "", "exp": NOW + 1}), Ok("")),
        (json!({"ext": KAY, "exp": NOW}), Err("expired")),
        (json!({"ext": KAY, "exp": 0}), Err("expired")),
        (json!({"ext": KAY, "exp": -1}), Err("expired")),
        (json!({"ext": KAY, "exp": "tomorrow"}), Err("invalid")),
        (json!({"ext": KAY, "nbf": NOW + 1}), Err("invalid")),
        (json!({}), Err("no identifiers")),
        (json!({"ext": null}), Err("no identifiers")),
        (json!({"ext": {"user": "kay"}}), Err("no identifiers")),
        (json!({"exp": NOW}), Err("expired")),
        (json!([KAY]), Err("invalid")),
        (json!("x"), Err("invalid")),
    ] {
        let found = verify(&hs256(&claims.to_string()), Some(SECRET), None, NOW);
        assert_eq!(found.as_deref().map_err(String::as_str), expected, "{claims}");
    }
    for claims in [
        "",
        "{",
        "\u{0}",
        r#"{"ext":"a","ext":"b"}"#,
        r#"{"ext":"a","exp":1e999}"#,
    ] {
        let found = verify(&hs256(claims), Some(SECRET), None, NOW);
        assert_eq!(found, Err("invalid".to_owned()), "{claims}");
    }
}

#[test]
fn forged_tokens_are_refused() {
    let SignedByJose { jwks, tokens } = signed_by_jose();
    let good = format!(r#"{{"ext":{}}}"#, json!(KAY));
    let signed = |header: Value, key: &[u8]| sign(hmac::HMAC_SHA256, key, &encode(&header, &good));
    let unsigned = |header: Value| format!("{}.", encode(&header, &good));
    // A well-known attack: use the public key as the secret of an HMAC.
    let public_key: Value = serde_json::from_str(jwks.get()).expect("valid JSON");
    let modulus = BASE64
        .decode(public_key["keys"][0]["n"].as_str().expect("an RSA key"))
        .expect("base64");
    let secret = SECRET.as_bytes();
    for (what, token, expected) in [
        ("alg none", unsigned(json!({"alg": "none"})), "invalid"),
        ("alg None", unsigned(json!({"alg": "None"})), "invalid"),
        ("no algorithm", signed(json!({"typ": "JWT"}), secret), "invalid"),
        ("no signature", unsigned(json!({"alg": "HS256"})), "invalid"),
        (
            "another secret",
            signed(json!({"alg": "HS256"}), b"guess"),
            "invalid",
        ),
        ("no secret", signed(json!({"alg": "HS256"}), b""), "invalid"),
        (
            "HS256 as HS512",
            signed(json!({"alg": "HS512"}), secret),
            "invalid",
        ),
        (
            "the public key as a secret",
            signed(json!({"alg": "HS256", "kid": "rsa"}), &modulus),
            "invalid",
        ),
        (
            "a secret as a public key",
            signed(json!({"alg": "RS256", "kid": "rsa"}), secret),
            "invalid",
        ),
        (
            "a kid nobody has",
            signed(json!({"alg": "RS256", "kid": "x"}), secret),
            "unknown key",
        ),
        (
            "a kid of another type",
            signed(json!({"alg": "ES256", "kid": "rsa"}), secret),
            "unknown key",
        ),
        (
            "its own key",
            signed(json!({"alg": "RS256", "jwk": public_key["keys"][0]}), secret),
            "unknown key",
        ),
        (
            "critical extensions",
            signed(json!({"alg": "HS256", "crit": ["exp"]}), secret),
            "invalid",
        ),
        (
            "two parts",
            tokens["HS256"].rsplit_once('.').expect("dots").0.to_owned(),
            "invalid",
        ),
        ("four parts", format!("{}.x", tokens["HS256"]), "invalid"),
        ("nothing", String::new(), "invalid"),
        ("dots", "..".to_owned(), "invalid"),
        ("garbage", "\u{0}é🚢.a.b".to_owned(), "invalid"),
    ] {
        let found = verify(&token, Some(SECRET), Some(jwks.get()), NOW);
        assert_eq!(found, Err(expected.to_owned()), "{what}");
    }
}

#[test]
fn an_algorithm_without_its_key_is_refused() {
    let SignedByJose { jwks, tokens } = signed_by_jose();
    assert_eq!(
        verify(&tokens["HS256"], None, Some(jwks.get()), NOW),
        Err("invalid".to_owned())
    );
    assert_eq!(
        verify(&tokens["RS256"], Some(SECRET), None, NOW),
        Err("invalid".to_owned())
    );
    assert_eq!(
        verify(&tokens["RS256"], None, None, NOW),
        Err("invalid".to_owned())
    );
}

/// The set of `jose` with only one of its keys, modified.
fn set_with(key_type: &str, change: impl Fn(&mut Value)) -> Result<KeySet, KeySetError> {
    let mut set: Value = serde_json::from_str(signed_by_jose().jwks.get()).expect("valid JSON");
    let keys = set["keys"].as_array_mut().expect("a list");
    keys.retain(|key| key["kid"] == key_type);
    keys.iter_mut().for_each(change);
    KeySet::parse(set.to_string().as_bytes())
}

#[track_caller]
fn check_set(key_type: &str, change: impl Fn(&mut Value), algorithm: &str, expected: Result<&str, &str>) {
    let set = set_with(key_type, change).expect("a usable key");
    let keys = Keys {
        secret: None,
        set: Some(&set),
    };
    let token = &signed_by_jose().tokens[algorithm];
    let found = keys
        .verify(token, at(NOW))
        .map(|token| token.identifiers)
        .map_err(|error| error.to_string());
    assert_eq!(found.as_deref().map_err(String::as_str), expected);
}

#[test]
fn a_key_serves_what_it_says() {
    let unknown = Err("the token is signed with an unknown key");
    check_set("rsa", |key| key["alg"] = json!("RS256"), "RS256", Ok(KAY));
    check_set("rsa", |key| key["alg"] = json!("RS256"), "PS256", unknown);
    check_set("rsa", |key| key["kid"] = json!("other"), "RS256", unknown);
    check_set("ed", |key| key["key_ops"] = json!(["verify"]), "EdDSA", Ok(KAY));
    check_set("ed", |key| key["use"] = json!("sig"), "EdDSA", Ok(KAY));
    check_set("p384", |key| key["alg"] = json!("ES384"), "ES384", Ok(KAY));
    check_set(
        "p256",
        |key| drop(key.as_object_mut().unwrap().remove("kid")),
        "ES256",
        unknown,
    );
    check_set("p256", |key| key["x5c"] = json!([]), "ES256", Ok(KAY));
}

#[test]
fn sets_without_a_usable_key_are_errors() {
    for (key_type, field, value) in [
        ("rsa", "use", json!("enc")),
        ("rsa", "alg", json!("HS256")),
        ("rsa", "alg", json!("RSA-OAEP")),
        ("rsa", "n", json!("not base64!")),
        ("rsa", "kty", json!("oct")),
        ("rsa", "kty", json!("XYZ")),
        ("ed", "crv", json!("X25519")),
        ("ed", "crv", json!("P-256")),
        ("p256", "crv", json!("P-521")),
        ("p256", "key_ops", json!(["sign"])),
        ("p256", "alg", json!("ES384")),
    ] {
        let set = set_with(key_type, |key| key[field] = value.clone());
        assert!(
            matches!(set, Err(KeySetError::NoUsableKey)),
            "{key_type} {field} {value}: {set:?}"
        );
    }
    for (json, error) in [
        ("", "decode the key set as JSON"),
        ("[]", "decode the key set as JSON"),
        (r#"{"keys":{}}"#, "decode the key set as JSON"),
        (r#"{"keys":[]}"#, "the set has no key"),
        (
            &format!(r#"{{"keys":[{}1]}}"#, "1,".repeat(31)),
            "the set has no key",
        ),
        (
            &format!(r#"{{"keys":[{}1]}}"#, "1,".repeat(32)),
            "the set has 33 keys, more than 32",
        ),
    ] {
        let found = KeySet::parse(json.as_bytes()).expect_err("no set").to_string();
        assert!(found.starts_with(error), "{found}");
    }
}

#[test]
fn keys_that_nobody_understands_do_not_spoil_a_set() {
    let mut set: Value = serde_json::from_str(signed_by_jose().jwks.get()).expect("valid JSON");
    set["keys"]
        .as_array_mut()
        .expect("a list")
        .extend([json!(7), json!({"kty": "future"})]);
    let set = KeySet::parse(set.to_string().as_bytes()).expect("four keys are known");
    assert_eq!(set.n_keys(), 4);
}

#[test]
fn without_a_key_id_the_keys_that_fit_are_tried() {
    let SignedByJose { jwks, .. } = signed_by_jose();
    let message = encode(&json!({"alg": "ES256"}), "{}");
    let token = format!("{message}.{}", BASE64.encode([0_u8; 64]));
    assert_eq!(
        verify(&token, None, Some(jwks.get()), NOW),
        Err("unknown key".to_owned())
    );
}

proptest! {
    #[test]
    fn what_was_signed_comes_back(identifiers in ".*") {
        let token = hs256(&json!({"ext": identifiers}).to_string());
        prop_assert_eq!(verify(&token, Some(SECRET), None, NOW), Ok(identifiers));
    }

    #[test]
    fn any_flipped_bit_spoils_a_token(algorithm in 0..12_usize, position in any::<prop::sample::Index>(), bit in 0..8_u8) {
        let SignedByJose { jwks, tokens } = signed_by_jose();
        let token = tokens.values().nth(algorithm).expect("twelve tokens");
        let mut bytes = token.clone().into_bytes();
        let position = position.index(bytes.len());
        bytes[position] ^= 1 << bit;
        if let Ok(flipped) = String::from_utf8(bytes) {
            prop_assert!(verify(&flipped, Some(SECRET), Some(jwks.get()), NOW).is_err());
        }
    }

    #[test]
    fn no_text_makes_it_panic(token in "(.{0,40}\\.){0,3}.{0,40}", now in any::<u32>()) {
        let SignedByJose { jwks, .. } = signed_by_jose();
        prop_assert!(verify(&token, Some(SECRET), Some(jwks.get()), now.into()).is_err());
    }
}
