//! Names of hosts with a leading wildcard.

use std::{fmt, str::FromStr};

use super::RuleError;

/// A pattern of host names: `example.com`, `*.example.com` (all names with this ending), `*`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostPattern {
    /// What follows the `*`, in lower case.
    name: String,
    is_wildcard: bool,
}

impl HostPattern {
    /// Whether a host belongs to it; case does not matter.
    pub fn matches(&self, host: &str) -> bool {
        let (name, host) = (self.name.as_bytes(), host.as_bytes());
        let Some(n_before) = host.len().checked_sub(name.len()) else {
            return false;
        };
        (n_before == 0 || self.is_wildcard) && host[n_before..].eq_ignore_ascii_case(name)
    }

    /// The precision of the pattern: higher for a longer name, highest for one without a wildcard.
    pub(super) fn precision(&self) -> (bool, usize) {
        (!self.is_wildcard, self.name.len())
    }
}

impl FromStr for HostPattern {
    type Err = RuleError;

    fn from_str(text: &str) -> Result<Self, RuleError> {
        let (name, is_wildcard) = match text.strip_prefix('*') {
            Some(name) => (name, true),
            None => (text, false),
        };
        let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
        if !name.chars().all(is_name) || (name.is_empty() && !is_wildcard) {
            return Err(RuleError::Host(text.to_owned()));
        }
        Ok(Self {
            name: name.to_ascii_lowercase(),
            is_wildcard,
        })
    }
}

impl fmt::Display for HostPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let wildcard = if self.is_wildcard { "*" } else { "" };
        write!(f, "{wildcard}{}", self.name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wildcard_stands_at_the_front() {
        let check = |pattern: &str, host: &str, expected: bool| {
            let pattern: HostPattern = pattern.parse().unwrap();
            assert_eq!(pattern.matches(host), expected, "{pattern} {host}");
        };
        check("a.example", "A.Example", true);
        check("a.example", "b.a.example", false);
        check("*.example", "b.a.example", true);
        check("*.example", "example", false);
        check("*example", "anexample", true);
        check("*", "whatever", true);
        for bad in ["", "a.*", "a b", "*.a/*"] {
            assert_eq!(bad.parse::<HostPattern>(), Err(RuleError::Host(bad.to_owned())));
        }
    }
}
