//! Keys that another program, or another version of this one, has written.

use std::fmt::Write;

use redis::{Arg, Cmd};

use super::line::Request;

/// Parts of the errors that come from what a key has. In Redis 6 they are behind the place in the script.
const SIGNS: [&str; 4] = [
    // A key of another type.
    "WRONGTYPE",
    // What a script says of a key of the right type.
    "FOREIGN",
    // A log that has more than its head says.
    "specified in XADD is equal or smaller",
    // A field of members that counts something.
    "hash value is not an integer",
];

/// Keys that do not have what this version of Plimsoll writes there.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "another program, or another version of Plimsoll, has written keys of this one: expected {expected}, but {reason}; \
     remove them (in redis-cli: DEL {keys}), or give the servers another --redis_prefix"
)]
pub struct ForeignKeys {
    /// The first key of the request.
    pub(super) key: Vec<u8>,
    /// The type of each key.
    expected: String,
    /// The keys as redis-cli takes them.
    keys: String,
    reason: String,
}

impl ForeignKeys {
    /// Why Redis refused a request, if that comes from what its keys have.
    pub(super) fn of(request: &Request, error: &str) -> Option<Self> {
        let is_foreign = SIGNS.iter().any(|sign| error.contains(sign));
        // Redis 7 says behind this where it happened in the script.
        let said = error.split(" script: ").next().unwrap_or_default();
        is_foreign.then(|| Self::new(request, format!("Redis says: {said}")))
    }

    /// The answer has another form than expected.
    pub(super) fn unreadable(request: &Request) -> Self {
        Self::new(request, "what they have cannot be read".to_owned())
    }

    fn new(request: &Request, reason: String) -> Self {
        let (mut expected, mut keys) = (String::new(), String::new());
        for (key, kind) in typed_keys(request) {
            let key = key.escape_ascii();
            let comma = if keys.is_empty() { "" } else { ", " };
            write!(expected, "{comma}a {kind} in \"{key}\"").expect("memory takes everything");
            let space = if keys.is_empty() { "" } else { " " };
            write!(keys, "{space}\"{key}\"").expect("memory takes everything");
        }
        Self {
            key: request.key().to_vec(),
            expected,
            keys,
            reason,
        }
    }
}

/// The keys of a request, and the type that each must have.
fn typed_keys(request: &Request) -> Vec<(&[u8], &'static str)> {
    match request {
        Request::Script { script, keys, .. } => {
            let keys = keys.iter().map(Vec::as_slice);
            keys.zip(script.types.iter().copied()).collect()
        }
        Request::Command(command) => vec![(request.key(), type_of(command))],
    }
}

/// The type of the key that a command reads.
fn type_of(command: &Cmd) -> &'static str {
    match command.args_iter().next() {
        Some(Arg::Simple([b'H', ..])) => "hash",
        Some(Arg::Simple([b'Z', ..])) => "sorted set",
        _ => "string",
    }
}

#[cfg(test)]
mod tests {
    use redis::cmd;

    use super::{super::Script, *};

    static SCRIPT: Script = Script::new(0, "", &["stream", "hash", "hash"]);

    fn script(keys: &[&str]) -> Request {
        Request::Script {
            script: &SCRIPT,
            keys: keys.iter().map(|key| key.as_bytes().to_vec()).collect(),
            arguments: Vec::new(),
        }
    }

    fn command(words: [&str; 2]) -> Request {
        Request::Command(cmd(words[0]).arg(words[1]).to_owned())
    }

    #[track_caller]
    fn check(request: &Request, expected: &str) {
        assert_eq!(
            ForeignKeys::unreadable(request).to_string(),
            format!(
                "another program, or another version of Plimsoll, has written keys of this one: expected {expected}, or \
                 give the servers another --redis_prefix"
            )
        );
    }

    #[test]
    fn keys_are_named_with_their_types() {
        check(
            &script(&["p:{s}:log", "p:{s}:head"]),
            "a stream in \"p:{s}:log\", a hash in \"p:{s}:head\", but what they have cannot be read; remove them (in \
             redis-cli: DEL \"p:{s}:log\" \"p:{s}:head\")",
        );
        // As redis-cli reads it: a name cannot end the line, nor the argument.
        check(
            &script(&["p:{\"\n\u{e9}\\}"]),
            "a stream in \"p:{\\\"\\n\\xc3\\xa9\\\\}\", but what they have cannot be read; remove them (in redis-cli: DEL \
             \"p:{\\\"\\n\\xc3\\xa9\\\\}\")",
        );
        for (name, kind) in [
            ("HGETALL", "hash"),
            ("HKEYS", "hash"),
            ("ZRANGE", "sorted set"),
            ("GET", "string"),
        ] {
            check(
                &command([name, "k"]),
                &format!(
                    "a {kind} in \"k\", but what they have cannot be read; remove them (in redis-cli: DEL \"k\")"
                ),
            );
        }
    }

    #[track_caller]
    fn check_reason(error: &str, expected: Option<&str>) {
        let foreign = ForeignKeys::of(&command(["GET", "k"]), error);
        let reason = foreign.map(|foreign| foreign.reason);
        let expected = expected.map(|expected| format!("Redis says: {expected}"));
        assert_eq!(reason, expected, "{error}");
    }

    #[test]
    fn errors_that_come_from_what_a_key_has() {
        const TYPE: &str = "WRONGTYPE Operation against a key holding the wrong kind of value";
        check_reason(TYPE, Some(TYPE));
        check_reason(&format!("{TYPE} script: 5ce2, on @user_script:20."), Some(TYPE));
        // Redis 6.
        let old = format!("ERR Error running script (call to f_5ce2): @user_script:20: {TYPE}");
        check_reason(&old, Some(&old));
        for said in [
            "FOREIGN the hash has no epoch e",
            "ERR The ID specified in XADD is equal or smaller than the target stream top item",
            "ERR hash value is not an integer",
        ] {
            check_reason(said, Some(said));
        }
        for other in [
            "",
            "OOM command not allowed when used memory > 'maxmemory'. script: 5ce2, on @user_script:31.",
            "NOPERM this user has no permissions to run the 'xadd' command",
            "MOVED 12182 :7000",
        ] {
            check_reason(other, None);
        }
    }
}
