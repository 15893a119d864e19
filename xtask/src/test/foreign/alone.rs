//! The test files that need the machine to themselves. All other files run at the same time as others.

/// Names without `.test.mjs`, each with its reason.
const ALONE: [(&str, &str); 8] = [
    ("blame", "keeps a core busy and stops the generator on purpose"),
    (
        "bench-draining",
        "compares latencies within 2 % with the server's own clock",
    ),
    (
        "documents",
        "types the README, which opens 10,000 connections, with the ports that it names",
    ),
    (
        "k6-parity",
        "compares counts with the real k6, which runs beside it",
    ),
    (
        "lifecycle",
        "opens 10,000 connections, and a server has 3 s to stop",
    ),
    ("line", "looks for a load whose latencies hold"),
    ("truth", "compares latencies and arrivals with an exact schedule"),
    ("wire", "measures when pings arrive"),
];

/// All names of the table.
#[cfg(test)]
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    ALONE.iter().map(|(name, _)| *name)
}

/// The reason for which a file must not run beside others. `None` if it may.
pub(super) fn reason(name: &str) -> Option<&'static str> {
    ALONE
        .iter()
        .find(|(known, _)| *known == name)
        .map(|(_, reason)| *reason)
}
