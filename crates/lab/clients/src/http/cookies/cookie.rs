//! One cookie, as a server sets it.

use std::time::SystemTime;

use super::parse_date;

/// A cookie with its attributes (RFC 6265 §5.2).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Cookie {
    /// Its name; not empty.
    pub name: String,
    /// Its value.
    pub value: String,
    /// The hosts that get it, in lower case and without a leading dot; `None` is the host that set it.
    pub domain: Option<String>,
    /// The paths that get it; `None` is the folder of the path that set it.
    pub path: Option<String>,
    /// When it expires. `None`: with the jar.
    pub expires: Option<SystemTime>,
    /// After how many seconds it ends; wins over `expires`. Zero or less is at once.
    pub max_age: Option<i64>,
    /// Whether it is sent over TLS only.
    pub secure: bool,
    /// Whether scripts of pages may not see it.
    pub http_only: bool,
}

impl Cookie {
    /// A cookie without attributes.
    pub fn new(name: &str, value: &str) -> Self {
        Self {
            name: name.to_owned(),
            value: value.to_owned(),
            ..Self::default()
        }
    }

    /// Parses a `Set-Cookie` field. `None` for one without a name, which is ignored.
    pub fn parse(field: &str) -> Option<Self> {
        let mut parts = field.split(';');
        let (name, value) = parts.next()?.split_once('=')?;
        let name = name.trim();
        if name.is_empty() {
            return None;
        }
        let mut cookie = Self::new(name, unquoted(value.trim()));
        for part in parts {
            let (name, value) = part.split_once('=').unwrap_or((part, ""));
            cookie.set(name.trim(), value.trim());
        }
        Some(cookie)
    }

    fn set(&mut self, attribute: &str, value: &str) {
        match attribute.to_ascii_lowercase().as_str() {
            "domain" => {
                let domain = value.strip_prefix('.').unwrap_or(value);
                self.domain = (!domain.is_empty()).then(|| domain.to_ascii_lowercase());
            }
            "path" => self.path = value.starts_with('/').then(|| value.to_owned()),
            "expires" => self.expires = parse_date(value).or(self.expires),
            "max-age" => self.max_age = value.parse().ok().or(self.max_age),
            "secure" => self.secure = true,
            "httponly" => self.http_only = true,
            _ => {}
        }
    }
}

/// Servers that quote a value do not mean the quotes.
fn unquoted(value: &str) -> &str {
    let inner = value.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
    inner.unwrap_or(value)
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, UNIX_EPOCH};

    use super::*;

    #[test]
    fn attributes_are_read_without_regard_to_case() {
        let field = "sid = \"a=b\" ; DOMAIN=.Example.com; path=/x; Max-Age=-1; Secure; HttpOnly; SameSite=Lax; \
                     Expires=Wed, 09 Jun 2021 10:18:14 GMT";
        let expected = Cookie {
            domain: Some("example.com".to_owned()),
            path: Some("/x".to_owned()),
            max_age: Some(-1),
            expires: Some(UNIX_EPOCH + Duration::from_secs(1_623_233_894)),
            secure: true,
            http_only: true,
            ..Cookie::new("sid", "a=b")
        };
        assert_eq!(Cookie::parse(field), Some(expected));
        assert_eq!(Cookie::parse("a="), Some(Cookie::new("a", "")));
        assert_eq!(
            Cookie::parse("a=1; Path=x; Max-Age=y; Domain="),
            Some(Cookie::new("a", "1"))
        );
        for none in ["", "a", "=1", ";"] {
            assert_eq!(Cookie::parse(none), None, "{none}");
        }
    }
}
