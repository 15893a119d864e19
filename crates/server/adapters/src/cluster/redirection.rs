//! The errors with which a node of a Redis Cluster sends a request away.

use crate::{cluster::slots::N_SLOTS, target::Address};

/// What to do with a request that a node has not carried out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Redirection {
    /// The slot belongs to this node. An empty host is that of the node that says so.
    Moved { slot: u16, to: Address },
    /// The slot moves, and this node has the keys already.
    Ask { to: Address },
    /// No node can carry it out at the moment.
    Later,
}

impl Redirection {
    /// `None`: the error is no redirection, so the request was refused for good.
    pub(crate) fn of(error: &str) -> Option<Self> {
        let mut words = error.split_whitespace();
        match words.next()? {
            code @ ("MOVED" | "ASK") => {
                let slot = words.next()?.parse().ok().filter(|slot| *slot < N_SLOTS)?;
                let to = words.next()?.parse().ok()?;
                Some(match code {
                    "MOVED" => Self::Moved { slot, to },
                    _ => Self::Ask { to },
                })
            }
            // The last two come from a node that is not, or no longer, the primary of the slot.
            "TRYAGAIN" | "CLUSTERDOWN" | "LOADING" | "MASTERDOWN" | "READONLY" => Some(Self::Later),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(host: &str, port: u16) -> Address {
        Address {
            host: host.to_owned(),
            port,
        }
    }

    #[track_caller]
    fn check(error: &str, expected: Option<&Redirection>) {
        assert_eq!(Redirection::of(error).as_ref(), expected, "{error}");
    }

    #[test]
    fn errors_say_where_to_go() {
        for (error, slot, to) in [
            ("MOVED 3999 127.0.0.1:6381", 3999, at("127.0.0.1", 6381)),
            ("MOVED 0 ::1:7000", 0, at("::1", 7000)),
            ("MOVED 866 host-1.example:30002", 866, at("host-1.example", 30002)),
            ("MOVED 866 :30002", 866, at("", 30002)),
        ] {
            check(error, Some(&Redirection::Moved { slot, to }));
        }
        let to = at("10.0.0.2", 7001);
        check("ASK 16383 10.0.0.2:7001", Some(&Redirection::Ask { to }));
        for later in [
            "TRYAGAIN Multiple keys request during rehashing of slot",
            "CLUSTERDOWN Hash slot not served",
            "CLUSTERDOWN The cluster is down",
            "LOADING Redis is loading the dataset in memory",
        ] {
            check(later, Some(&Redirection::Later));
        }
    }

    #[test]
    fn other_errors_are_final() {
        for error in [
            "",
            "OOM command not allowed when used memory > 'maxmemory'.",
            "CROSSSLOT Keys in request don't hash to the same slot",
            "MOVED",
            "MOVED 16384 127.0.0.1:1",
            "MOVED 1 127.0.0.1",
            "MOVED 1 127.0.0.1:many",
            "MOVEDX 1 127.0.0.1:1",
        ] {
            check(error, None);
        }
    }
}
