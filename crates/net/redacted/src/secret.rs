//! Parameters that hold secrets: by their names, and by the form of their values.

/// Words that make the name of a parameter the name of a secret.
const SECRET_WORDS: [&str; 9] = [
    "auth",
    "authentication",
    "authkey",
    "authorization",
    "jid",
    "jwt",
    "oauth",
    "signature",
    "signed",
];

/// The same, also at the end of a word, because many names are written as one: `accesstoken`.
const SECRET_ENDS: [&str; 3] = ["password", "secret", "token"];

/// Whether a parameter of this name holds a secret: one of the words of the name says so. `auth_token`, `X-Auth`,
/// `accessToken` and `user%5Bpassword%5D` do, `author` and `tokenize` do not.
pub fn is_secret_name(name: &str) -> bool {
    let mut word = String::new();
    let mut is_after_small = false;
    let mut rest = name.chars();
    while let Some(c) = rest.next() {
        let is_before_small = rest.clone().next().is_some_and(char::is_lowercase);
        let begins_word = c.is_uppercase() && (is_after_small || is_before_small);
        if begins_word || !c.is_alphabetic() {
            if is_secret_word(&word) {
                return true;
            }
            word.clear();
        }
        if c.is_alphabetic() {
            word.extend(c.to_lowercase());
        } else if let Some(behind) = (c == '%').then(|| behind_escape(rest.as_str())).flatten() {
            rest = behind.chars();
        }
        is_after_small = c.is_lowercase();
    }
    is_secret_word(&word)
}

/// Whether a word in lower case, perhaps in the plural, names a secret.
fn is_secret_word(word: &str) -> bool {
    let one = word.strip_suffix('s').unwrap_or(word);
    SECRET_WORDS.contains(&one) || SECRET_ENDS.iter().any(|end| one.ends_with(end))
}

/// The text behind the two digits that follow a `%`. None if it is no escape.
fn behind_escape(text: &str) -> Option<&str> {
    let (digits, behind) = text.split_at_checked(2)?;
    let is_escape = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_escape.then_some(behind)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_by_words() {
        for (names, expected) in [
            (
                "auth AUTH auth_token x-auth X-Auth xAuth XAuth auth[1] auth2 oauth oAuth OAuth",
                true,
            ),
            (
                "authorization Authorization proxy-authorization authentication authkey",
                true,
            ),
            (
                "token tokens token2 access_token accessToken accesstoken ACCESS_TOKEN IDToken token_id",
                true,
            ),
            (
                "user[password] user%5Bpassword%5D user%5bnew_passwords%5d userpassword",
                true,
            ),
            (
                "jid jwt jwts secret client_secret signature X-Amz-Signature signed signed_stream_name",
                true,
            ),
            (
                "author Author authors authority x-author authored co_author authorize",
                false,
            ),
            (
                "tokenize tokenizer secretary passwordless assigned design unsigned jidoka",
                false,
            ),
            ("", false),
            ("_ % %5 %5B %zz room id key user ünïcode %5Bä", false),
        ] {
            for name in names.split(' ') {
                assert_eq!(is_secret_name(name), expected, "{name}");
            }
        }
    }
}
