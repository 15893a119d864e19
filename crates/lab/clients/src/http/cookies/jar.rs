//! The cookies of one virtual user.

use std::{
    net::IpAddr,
    time::{Duration, SystemTime},
};

use url::Url;

use super::{super::Headers, Cookie};

/// The most cookies in a jar. Beyond that, the oldest is dropped. RFC 6265 §6.1 recommends 3,000.
const MAX_COOKIES: usize = 3000;

/// The largest cookie, with its domain and path. A larger one is ignored. Browsers accept 4 KiB.
const MAX_COOKIE_BYTES: usize = 64 << 10;

/// The size limit of all cookies in a jar. Beyond that, the oldest are dropped. Each of thousands of virtual users has
/// a jar, and servers refuse requests with a hundredth of this.
const MAX_JAR_BYTES: usize = 1 << 20;

/// Cookies, and which requests get them (RFC 6265 §5.3, §5.4).
#[derive(Debug, Clone, Default)]
pub struct CookieJar {
    /// In the order of their making.
    stored: Vec<Stored>,
}

#[derive(Debug, Clone)]
struct Stored {
    name: String,
    value: String,
    domain: String,
    /// Whether hosts below the domain do not get it.
    is_host_only: bool,
    path: String,
    secure: bool,
    expires: Option<SystemTime>,
}

impl CookieJar {
    /// Whether it has no cookie.
    pub fn is_empty(&self) -> bool {
        self.stored.is_empty()
    }

    /// Stores the cookies of an answer that `url` has sent. Returns whether it had some.
    pub fn store_all(&mut self, url: &Url, headers: &Headers) -> bool {
        let mut has_cookies = false;
        for field in headers.get_all("set-cookie") {
            if let Some(cookie) = Cookie::parse(&String::from_utf8_lossy(field)) {
                self.store(url, cookie, SystemTime::now());
                has_cookies = true;
            }
        }
        has_cookies
    }

    /// Stores a cookie that `url` has set. It replaces a cookie with equal name, domain and path; an expired one only
    /// removes it. A cookie for hosts that `url` does not belong to is ignored.
    pub fn store(&mut self, url: &Url, cookie: Cookie, now: SystemTime) {
        let Some(host) = host_of(url) else { return };
        let (domain, is_host_only) = match cookie.domain {
            Some(domain) if !is_within(&host, &domain) => return,
            Some(domain) => {
                let is_address = host.parse::<IpAddr>().is_ok();
                (domain, is_address)
            }
            None => (host, true),
        };
        let path = cookie.path.unwrap_or_else(|| folder(url.path()).to_owned());
        let expires = match cookie.max_age {
            Some(seconds) => u64::try_from(seconds)
                .ok()
                .map_or(Some(now), |seconds| now.checked_add(Duration::from_secs(seconds))),
            None => cookie.expires,
        };
        let stored = Stored {
            name: cookie.name,
            value: cookie.value,
            domain,
            is_host_only,
            path,
            secure: cookie.secure,
            expires,
        };
        if stored.n_bytes() > MAX_COOKIE_BYTES {
            return;
        }
        let has_ended = stored.has_ended(now);
        let same = self.stored.iter().position(|other| other.is_same(&stored));
        match (same, has_ended) {
            (Some(position), false) => self.stored[position] = stored,
            (Some(position), true) => drop(self.stored.remove(position)),
            (None, true) => {}
            (None, false) => self.stored.push(stored),
        }
        self.drop_surplus();
    }

    fn drop_surplus(&mut self) {
        let mut n_bytes = 0;
        let newest_first = self.stored.iter().rev();
        let kept = newest_first.take(MAX_COOKIES).take_while(|stored| {
            n_bytes += stored.n_bytes();
            n_bytes <= MAX_JAR_BYTES
        });
        let n_dropped = self.stored.len() - kept.count();
        self.stored.drain(..n_dropped);
    }

    /// Names and values of the cookies for a request to `url`: those with the longest paths first, then the oldest.
    pub fn matching(&self, url: &Url, now: SystemTime) -> Vec<(&str, &str)> {
        let Some(host) = host_of(url).filter(|_| !self.is_empty()) else {
            return Vec::new();
        };
        let is_for = |stored: &&Stored| stored.is_for(url, &host) && !stored.has_ended(now);
        let mut found: Vec<_> = self.stored.iter().filter(is_for).collect();
        found.sort_by_key(|stored| std::cmp::Reverse(stored.path.len()));
        found
            .iter()
            .map(|stored| (&*stored.name, &*stored.value))
            .collect()
    }

    /// Removes the cookies for a request to `url`: all, or those with this name.
    pub fn remove(&mut self, url: &Url, name: Option<&str>) {
        let Some(host) = host_of(url) else { return };
        self.stored.retain(|stored| {
            let is_meant = name.is_none_or(|name| stored.name == name);
            !(is_meant && stored.is_for(url, &host))
        });
    }
}

impl Stored {
    fn n_bytes(&self) -> usize {
        self.name.len() + self.value.len() + self.domain.len() + self.path.len()
    }

    fn has_ended(&self, now: SystemTime) -> bool {
        self.expires.is_some_and(|expires| expires <= now)
    }

    fn is_same(&self, other: &Self) -> bool {
        (&self.name, &self.domain, &self.path) == (&other.name, &other.domain, &other.path)
    }

    fn is_for(&self, url: &Url, host: &str) -> bool {
        let is_host = if self.is_host_only {
            host == self.domain
        } else {
            is_within(host, &self.domain)
        };
        let is_safe = || url.scheme() == "https" || is_own_machine(host);
        is_host && (!self.secure || is_safe()) && is_below(url.path(), &self.path)
    }
}

/// The host in lower case, without brackets.
fn host_of(url: &Url) -> Option<String> {
    let host = url.host_str()?;
    Some(host.trim_matches(['[', ']']).to_ascii_lowercase())
}

/// Requests to this machine itself cannot be intercepted, so browsers and Go send secure cookies there.
fn is_own_machine(host: &str) -> bool {
    let ip = host.parse::<IpAddr>();
    host == "localhost" || host.ends_with(".localhost") || ip.is_ok_and(|ip| ip.is_loopback())
}

/// RFC 6265 §5.1.3.
fn is_within(host: &str, domain: &str) -> bool {
    let is_below = || {
        host.strip_suffix(domain)
            .is_some_and(|front| front.ends_with('.'))
    };
    host == domain || (is_below() && host.parse::<IpAddr>().is_err())
}

/// RFC 6265 §5.1.4.
fn is_below(path: &str, folder: &str) -> bool {
    let rest = path.strip_prefix(folder);
    rest.is_some_and(|rest| rest.is_empty() || folder.ends_with('/') || rest.starts_with('/'))
}

/// The path up to its last slash.
fn folder(path: &str) -> &str {
    match path.rfind('/') {
        Some(position @ 1..) => &path[..position],
        _ => "/",
    }
}

#[cfg(test)]
mod tests {
    use std::time::UNIX_EPOCH;

    use super::*;

    fn url(text: &str) -> Url {
        text.parse().unwrap()
    }

    fn at(seconds: u64) -> SystemTime {
        UNIX_EPOCH + Duration::from_secs(seconds)
    }

    fn store(jar: &mut CookieJar, from: &str, field: &str) {
        jar.store(&url(from), Cookie::parse(field).unwrap(), at(100));
    }

    fn get(jar: &CookieJar, to: &str, seconds: u64) -> String {
        let to = url(to);
        let found = jar.matching(&to, at(seconds));
        let pairs: Vec<_> = found
            .iter()
            .map(|(name, value)| format!("{name}={value}"))
            .collect();
        pairs.join("; ")
    }

    #[test]
    fn a_request_gets_the_cookies_of_its_host_and_path() {
        let mut jar = CookieJar::default();
        for field in [
            "a=1",
            "b=2; Path=/x",
            "c=3; Domain=example.com",
            "d=4; Secure",
            "e=5; Domain=other.com",
            "f=6; Path=/x/",
        ] {
            store(&mut jar, "http://www.example.com/x/y", field);
        }
        let check = |to: &str, expected: &str| assert_eq!(get(&jar, to, 100), expected, "{to}");
        check("http://www.example.com/", "");
        check("http://www.example.com/x", "a=1; b=2; c=3");
        check("http://WWW.example.com/x/z", "f=6; a=1; b=2; c=3");
        check("https://www.example.com/x", "a=1; b=2; c=3; d=4");
        check("http://www.example.com/xy", "");
        check("http://example.com/x", "c=3");
        check("http://a.example.com/x", "c=3");
        check("http://badexample.com/x", "");
    }

    #[test]
    fn this_machine_gets_secure_cookies_without_tls() {
        let check = |base: &str, expected: &str| {
            let mut jar = CookieJar::default();
            store(&mut jar, base, "a=1; Secure");
            assert_eq!(get(&jar, base, 100), expected, "{base}");
        };
        check("http://127.0.0.1/", "a=1");
        check("http://[::1]/", "a=1");
        check("http://x.localhost/", "a=1");
        check("http://a.test/", "");
    }

    #[test]
    fn the_same_cookie_is_stored_once() {
        let mut jar = CookieJar::default();
        store(&mut jar, "http://a.test/", "n=1");
        store(&mut jar, "http://a.test/", "m=1");
        store(&mut jar, "http://a.test/", "n=2");
        assert_eq!(get(&jar, "http://a.test/", 100), "n=2; m=1");
        store(&mut jar, "http://a.test/", "n=3; Max-Age=0");
        assert_eq!(get(&jar, "http://a.test/", 100), "m=1");
    }

    #[test]
    fn cookies_end() {
        let mut jar = CookieJar::default();
        store(&mut jar, "http://a.test/", "a=1; Max-Age=10");
        store(
            &mut jar,
            "http://a.test/",
            "b=1; Expires=Thu, 01 Jan 1970 00:03:00 GMT",
        );
        store(
            &mut jar,
            "http://a.test/",
            "c=1; Max-Age=10; Expires=Thu, 01 Jan 1970 00:00:00 GMT",
        );
        store(&mut jar, "http://a.test/", "d=1; Max-Age=9223372036854775807");
        assert_eq!(get(&jar, "http://a.test/", 109), "a=1; b=1; c=1; d=1");
        assert_eq!(get(&jar, "http://a.test/", 110), "b=1; d=1");
        assert_eq!(get(&jar, "http://a.test/", 180), "d=1");
    }

    #[test]
    fn cookies_are_taken_out_by_url_and_name() {
        let mut jar = CookieJar::default();
        for field in ["a=1", "b=2"] {
            store(&mut jar, "http://a.test/", field);
            store(&mut jar, "http://[::1]/", field);
        }
        jar.remove(&url("http://a.test/"), Some("a"));
        assert_eq!(get(&jar, "http://a.test/", 100), "b=2");
        jar.remove(&url("http://a.test/"), None);
        assert_eq!(get(&jar, "http://a.test/", 100), "");
        assert_eq!(get(&jar, "http://[::1]/", 100), "a=1; b=2");
    }

    #[test]
    fn a_jar_is_bounded() {
        let mut jar = CookieJar::default();
        for number in 0..=MAX_COOKIES {
            store(&mut jar, "http://a.test/", &format!("n{number}=1"));
        }
        assert_eq!(jar.stored.len(), MAX_COOKIES);
        assert_eq!(jar.stored[0].name, "n1");
        jar.store(
            &url("http://b.test/"),
            Cookie::new("a", &"x".repeat(MAX_COOKIE_BYTES)),
            at(0),
        );
        assert_eq!(get(&jar, "http://b.test/", 0), "");
        let large = "x".repeat(MAX_COOKIE_BYTES - 100);
        for n in 0..100 {
            jar.store(
                &url("http://c.test/"),
                Cookie::new(&format!("n{n}"), &large),
                at(0),
            );
        }
        let n_bytes: usize = jar.stored.iter().map(Stored::n_bytes).sum();
        assert!(n_bytes <= MAX_JAR_BYTES && n_bytes > MAX_JAR_BYTES - MAX_COOKIE_BYTES);
        assert_eq!(jar.stored.last().unwrap().name, "n99");
    }
}
