//! Digest authentication (RFC 7616), with MD5 and SHA-256, their session variants, and `qop=auth` or none.
//!
//! `auth-int` is not supported: nearly no server offers it, and those that do also offer `auth`.

use std::fmt::Write;

use md5::{Digest as _, Md5};

/// A server's challenge.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Challenge {
    realm: String,
    nonce: String,
    opaque: Option<String>,
    algorithm: Algorithm,
    /// The algorithm as the server wrote it. Without one, the answer has none.
    algorithm_name: Option<String>,
    has_qop: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Algorithm {
    hash: Hash,
    is_session: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Hash {
    Md5,
    Sha256,
}

/// Who answers.
pub(super) struct Credentials<'a> {
    pub(super) user: &'a str,
    pub(super) password: &'a str,
}

impl Challenge {
    /// The strongest of the challenges in `WWW-Authenticate` fields that can be answered.
    pub(super) fn choose<'a>(fields: impl Iterator<Item = &'a str>) -> Option<Self> {
        fields
            .filter_map(Self::parse)
            .max_by_key(|challenge| challenge.algorithm.hash)
    }

    fn parse(field: &str) -> Option<Self> {
        let (scheme, params) = field.trim_start().split_once(' ')?;
        if !scheme.eq_ignore_ascii_case("digest") {
            return None;
        }
        let params = params_of(params);
        let find = |name: &str| {
            params
                .iter()
                .find(|(other, _)| other == name)
                .map(|(_, value)| value.clone())
        };
        let algorithm_name = find("algorithm");
        let algorithm = match algorithm_name
            .as_deref()
            .unwrap_or("MD5")
            .to_ascii_uppercase()
            .as_str()
        {
            "MD5" => (Hash::Md5, false),
            "MD5-SESS" => (Hash::Md5, true),
            "SHA-256" => (Hash::Sha256, false),
            "SHA-256-SESS" => (Hash::Sha256, true),
            _ => return None,
        };
        let qop = find("qop");
        let offers_auth = |qop: &String| qop.split(',').any(|one| one.trim().eq_ignore_ascii_case("auth"));
        if qop.as_ref().is_some_and(|qop| !offers_auth(qop)) {
            return None;
        }
        Some(Self {
            realm: find("realm")?,
            nonce: find("nonce")?,
            opaque: find("opaque"),
            algorithm: Algorithm {
                hash: algorithm.0,
                is_session: algorithm.1,
            },
            algorithm_name,
            has_qop: qop.is_some(),
        })
    }

    /// The `Authorization` field. `cnonce` is the client's random part. The nonce counts as used once.
    pub(super) fn answer(
        &self,
        credentials: &Credentials<'_>,
        method: &str,
        path: &str,
        cnonce: &str,
    ) -> String {
        let Credentials { user, password } = credentials;
        let hash = |text: &str| self.algorithm.hash.of(text);
        let mut secret = hash(&format!("{user}:{}:{password}", self.realm));
        if self.algorithm.is_session {
            secret = hash(&format!("{secret}:{}:{cnonce}", self.nonce));
        }
        let what = hash(&format!("{method}:{path}"));
        let response = if self.has_qop {
            hash(&format!("{secret}:{}:00000001:{cnonce}:auth:{what}", self.nonce))
        } else {
            hash(&format!("{secret}:{}:{what}", self.nonce))
        };
        let mut field = String::from("Digest ");
        let mut add = |name: &str, value: &str, is_quoted: bool| {
            let comma = if field.len() > "Digest ".len() { ", " } else { "" };
            let written = if is_quoted {
                write!(field, "{comma}{name}=\"{}\"", quoted(value))
            } else {
                write!(field, "{comma}{name}={value}")
            };
            written.expect("a string takes everything");
        };
        add("username", user, true);
        add("realm", &self.realm, true);
        add("nonce", &self.nonce, true);
        add("uri", path, true);
        if let Some(algorithm) = &self.algorithm_name {
            add("algorithm", algorithm, false);
        }
        add("response", &response, true);
        if let Some(opaque) = &self.opaque {
            add("opaque", opaque, true);
        }
        if self.has_qop {
            add("qop", "auth", false);
            add("nc", "00000001", false);
        }
        if self.has_qop || self.algorithm.is_session {
            add("cnonce", cnonce, true);
        }
        field
    }
}

impl Hash {
    fn of(self, text: &str) -> String {
        match self {
            Self::Md5 => hex(&Md5::digest(text)),
            Self::Sha256 => hex(ring::digest::digest(&ring::digest::SHA256, text.as_bytes()).as_ref()),
        }
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes
        .iter()
        .fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
            write!(text, "{byte:02x}").expect("a string takes everything");
            text
        })
}

fn quoted(value: &str) -> String {
    value.replace('\\', "\\\\").replace('"', "\\\"")
}

/// `name=value` and `name="value"` with commas between them; names in lower case.
fn params_of(mut text: &str) -> Vec<(String, String)> {
    let mut params = Vec::new();
    while let Some((name, rest)) = text.split_once('=') {
        let name = name
            .trim_matches(|c: char| c.is_whitespace() || c == ',')
            .to_ascii_lowercase();
        let (value, rest) = value_of(rest.trim_start());
        params.push((name, value));
        text = rest;
    }
    params
}

/// The value at the front, and the rest after it.
fn value_of(text: &str) -> (String, &str) {
    let Some(inner) = text.strip_prefix('"') else {
        let end = text.find(',').unwrap_or(text.len());
        return (text[..end].trim().to_owned(), &text[end..]);
    };
    let mut value = String::new();
    let mut chars = inner.char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            '"' => return (value, &inner[at + 1..]),
            '\\' => value.extend(chars.next().map(|(_, c)| c)),
            c => value.push(c),
        }
    }
    (value, "")
}

#[cfg(test)]
mod tests {
    use super::*;

    const MUFASA: Credentials<'_> = Credentials {
        user: "Mufasa",
        password: "Circle of Life",
    };

    /// The example of RFC 7616 §3.9.1.
    const FIELD: &str = r#"Digest realm="http-auth@example.org", qop="auth, auth-int", algorithm=MD5,
        nonce="7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v", opaque="FQhe/qaU925kfnzjCev0ciny7QMkPqMAFRtzCUYo5tdS""#;
    const CNONCE: &str = "f2/wE4q74E6zIJEtWaHKaf5wv/H5QzzpXusqGemxURZJ";

    fn answer(field: &str) -> String {
        let challenge = Challenge::choose([field].into_iter()).unwrap();
        challenge.answer(&MUFASA, "GET", "/dir/index.html", CNONCE)
    }

    #[test]
    fn the_examples_of_the_standard_come_out() {
        assert!(
            answer(FIELD).contains("response=\"8ca523f5e9506fed4657c9700eebdbec\""),
            "{}",
            answer(FIELD)
        );
        let sha256 = answer(&FIELD.replace("MD5", "SHA-256"));
        let expected = "response=\"753927fa0e85d155564e2e272a28d1802ca10daf4496794697cf8db5856cb6c1\"";
        assert!(sha256.contains(expected), "{sha256}");
        // Without qop, as RFC 2069 has it; the value is another implementation's.
        let old = r#"Digest realm="testrealm@host.com", nonce="dcd98b7102dd2f0e8b11d0f600bfb0c093""#;
        assert!(
            answer(old).contains("response=\"2951cdbad33b2271fcb6b8e7b8feac23\""),
            "{}",
            answer(old)
        );
    }

    #[test]
    fn an_answer_is_written_so() {
        let field = r#"digest Realm="a \"b\"", nonce=n, qop=auth, algorithm=MD5-sess"#;
        let expected = expect_test::expect![[
            r#"Digest username="Mufasa", realm="a \"b\"", nonce="n", uri="/dir/index.html", algorithm=MD5-sess, response="1f1781fe071c0d977c9378ef45101556", qop=auth, nc=00000001, cnonce="f2/wE4q74E6zIJEtWaHKaf5wv/H5QzzpXusqGemxURZJ""#
        ]];
        expected.assert_eq(&answer(field));
    }

    #[test]
    fn challenges_are_read_as_servers_write_them() {
        let check = |rest: &str, expected: &str| {
            let answer = answer(&format!("Digest {rest}"));
            assert!(answer.contains(expected), "{rest}: {answer}");
        };
        check(r#"realm="r", nonce="n", algorithm=md5"#, "algorithm=md5, ");
        check(
            r#"realm="r", nonce="n", algorithm=SHA-256-SESS"#,
            "algorithm=SHA-256-SESS, ",
        );
        check(r#"realm="r", nonce="n", qop="auth,token""#, "qop=auth, ");
        check(r#"realm="r", nonce="n", qop="AUTH""#, "qop=auth, ");
        check(
            "realm=\"Z\u{fc}rich\", nonce=\"n\"",
            "realm=\"Z\u{fc}rich\", nonce=\"n\"",
        );
        check(r#"realm = "r", nonce = "n""#, r#"realm="r", nonce="n""#);
        check(r#"realm="r", nonce="n", charset=iso-8859-1"#, r#"nonce="n""#);
        check(
            r#"realm="r", opaque=, nonce="n""#,
            r#"nonce="n", uri="/dir/index.html""#,
        );
        check("realm=r, nonce=a/b==", r#"nonce="a/b==""#);
        // The server cannot check the answer without it.
        check(r#"realm="r", nonce="n", algorithm=MD5-sess"#, "cnonce=");
    }

    #[test]
    fn the_strongest_challenge_is_answered() {
        let weak = r#"Digest realm="r", nonce="n""#;
        let strong = r#"Digest realm="r", nonce="n", algorithm=SHA-256"#;
        let chosen = Challenge::choose([weak, strong, "Basic realm=x"].into_iter()).unwrap();
        assert_eq!(chosen.algorithm.hash, Hash::Sha256);
        for other in [
            "Basic realm=x",
            "Digest",
            "Digest realm=r",
            r#"Digest realm="r", nonce="n", qop="auth-int""#,
        ] {
            assert_eq!(Challenge::choose([other].into_iter()), None, "{other}");
        }
    }
}
