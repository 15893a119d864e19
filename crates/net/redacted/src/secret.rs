//! Parameters that hold secrets: by their names, and by the form of their values.

/// Parts of the names of parameters that hold secrets.
const SECRET_NAMES: [&str; 8] = [
    "token",
    "secret",
    "password",
    "jwt",
    "jid",
    "auth",
    "signature",
    "signed",
];

/// Whether a parameter of this name holds a secret.
pub fn is_secret_name(name: &str) -> bool {
    let name = name.to_lowercase();
    SECRET_NAMES.iter().any(|part| name.contains(part))
}

/// Whether a value has the form of a secret, whatever its name: a signature of Rails, or a JSON Web Token.
pub fn is_secret_value(text: &str) -> bool {
    is_signed(text) || is_token(text)
}

/// Whether the text ends in a signature as Rails writes it: `--` and a digest of at least 20 bytes in hexadecimal
/// digits.
fn is_signed(text: &str) -> bool {
    let signature = text.rsplit_once("--").map_or("", |(_, signature)| signature);
    signature.len() >= 40 && signature.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// Whether the text looks like a JSON Web Token: a JSON object in Base64, and two more parts.
fn is_token(text: &str) -> bool {
    text.starts_with("eyJ") && text.split('.').count() == 3
}
