//! Pages for browsers on this machine only.
//!
//! Such a page shows runs, or controls one. So it listens on a loopback address. Its path begins with a secret, which
//! other users of the machine and web pages cannot guess. It answers only under the names of this machine, so that no
//! other name can be pointed to it. Its connections are few and bounded in time.

mod address;
mod connections;
mod origin;

pub use self::{
    address::{ListenError, listen, secret},
    connections::{MAX_CONNECTIONS, REQUEST_TIMEOUT, accept, guard, protocol},
    origin::Origin,
};

/// The rest of a path after the secret. `None` if the path does not begin with the secret.
pub fn within<'a>(path: &'a str, secret: &str) -> Option<&'a str> {
    path.strip_prefix('/')?.strip_prefix(secret)?.strip_prefix('/')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_the_secret_there_is_nothing() {
        for (path, expected) in [
            ("/5ec4e7/", Some("")),
            ("/5ec4e7/states", Some("states")),
            ("/", None),
            ("/states", None),
            ("/5ec4e", None),
            ("/5ec4e7", None),
            ("/5ec4e8/", None),
            ("/x5ec4e7/", None),
            ("5ec4e7/", None),
        ] {
            assert_eq!(within(path, "5ec4e7"), expected, "{path}");
        }
    }
}
