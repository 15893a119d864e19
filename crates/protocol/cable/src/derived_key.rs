//! Keys for single purposes, derived from one secret, so that a deployment has to configure only the secret.

use ring::hmac;

/// The key for `purpose`: the hex digits of HMAC-SHA256(`secret`, `purpose`).
///
/// Purposes in use are `broadcast-cable` and `rpc-cable`. Backends derive the same keys from the same secret
/// (docs/protocols/identification.md, Derived keys).
pub fn derive(secret: &str, purpose: &str) -> String {
    let key = hmac::Key::new(hmac::HMAC_SHA256, secret.as_bytes());
    let tag = hmac::sign(&key, purpose.as_bytes());
    tag.as_ref().iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_key_is_what_openssl_makes_of_secret_and_purpose() {
        // printf broadcast-cable | openssl dgst -sha256 -hmac qwerty
        let expected = "42923a28b760e667fc92f7c6123bb07a282822b329dd2ef48e7aee7830d98485";
        assert_eq!(derive("qwerty", "broadcast-cable"), expected);
    }
}
