//! The parts of an address, complete or not (RFC 3986, appendix B).

/// The parts as written; empty when there are none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Reference<'a> {
    pub(super) scheme: &'a str,
    pub(super) username: &'a str,
    pub(super) password: &'a str,
    /// The host with its port.
    pub(super) host: &'a str,
    pub(super) path: &'a str,
    pub(super) query: &'a str,
    pub(super) fragment: &'a str,
}

/// The ports that browsers leave out.
const DEFAULT_PORTS: [(&str, &str); 3] = [("http", "80"), ("https", "443"), ("ftp", "21")];

impl<'a> Reference<'a> {
    /// The parts of this text.
    pub(super) fn of(text: &'a str) -> Self {
        let (text, fragment) = text.split_once('#').unwrap_or((text, ""));
        let (text, query) = text.split_once('?').unwrap_or((text, ""));
        let is_scheme = |scheme: &str| {
            scheme.starts_with(|c: char| c.is_ascii_alphabetic())
                && scheme
                    .bytes()
                    .all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte))
        };
        let (scheme, rest) = match text.split_once(':') {
            Some((scheme, rest)) if is_scheme(scheme) => (scheme, rest),
            _ => ("", text),
        };
        let (authority, path) = match rest.strip_prefix("//") {
            Some(rest) => rest.split_at(rest.find('/').unwrap_or(rest.len())),
            None => ("", rest),
        };
        let (user, host) = authority.rsplit_once('@').unwrap_or(("", authority));
        let (username, password) = user.split_once(':').unwrap_or((user, ""));
        Self {
            scheme,
            username,
            password,
            host,
            path,
            query,
            fragment,
        }
    }

    /// The host without its port, and the port.
    pub(super) fn host_and_port(&self) -> (&'a str, &'a str) {
        let is_port = |port: &str| port.bytes().all(|byte| byte.is_ascii_digit());
        match self.host.rsplit_once(':') {
            Some((host, port)) if is_port(port) => (host.trim_matches(['[', ']']), port),
            _ => (self.host, ""),
        }
    }

    /// The host with its port, unless it is that of the scheme.
    pub(super) fn host(&self) -> &'a str {
        let (host, port) = self.host_and_port();
        if DEFAULT_PORTS.contains(&(self.scheme, port)) {
            host
        } else {
            self.host
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_have_parts() {
        let whole = Reference::of("https://me:pw@[::1]:443/a/b?c=d?e#f#g");
        let parts = (
            whole.scheme,
            whole.username,
            whole.password,
            whole.host,
            whole.path,
        );
        assert_eq!(parts, ("https", "me", "pw", "[::1]:443", "/a/b"));
        assert_eq!((whole.query, whole.fragment), ("c=d?e", "f#g"));
        assert_eq!((whole.host_and_port(), whole.host()), (("::1", "443"), "::1"));
        for (text, host, path) in [
            ("", "", ""),
            ("//a:8080", "a:8080", ""),
            ("/x:y", "", "/x:y"),
            ("mailto:a@b", "", "a@b"),
            ("http://a@b@c/", "c", "/"),
        ] {
            let reference = Reference::of(text);
            assert_eq!((reference.host(), reference.path), (host, path), "{text}");
        }
    }
}
