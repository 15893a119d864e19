//! Cursors: texts that change with time, so that a cache between server and readers does not give the same answer for
//! ever (docs/protocols/durable-streams.md, Cursors).

/// The length of an interval, in seconds.
const INTERVAL_SECS: u64 = 20;

/// The beginning of the first interval: 2024-10-09T00:00:00Z, in Unix seconds.
const FIRST_SECS: u64 = 1_728_432_000;

/// The most intervals by which a cursor that is ahead of time goes on: an hour.
const MOST_STEPS: u64 = 180;

/// The cursor of an answer at this time: the number of the interval, and always greater than that of the request.
/// `jitter` is at least 0 and less than 1.
pub(super) fn next(request: Option<&str>, now_secs: u64, jitter: f64) -> u64 {
    let now = interval(now_secs);
    let given = request.and_then(|cursor| cursor.parse::<u64>().ok());
    match given.filter(|given| *given >= now) {
        Some(given) => given.saturating_add(1 + (jitter * MOST_STEPS as f64) as u64),
        None => now,
    }
}

/// The cursor of a later part of an answer that began with the cursor `first`.
pub(super) fn later(first: u64, now_secs: u64) -> u64 {
    interval(now_secs).max(first)
}

fn interval(now_secs: u64) -> u64 {
    now_secs.saturating_sub(FIRST_SECS) / INTERVAL_SECS
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cursors_grow_with_time_and_beyond_those_of_requests() {
        let at = FIRST_SECS + 1000 * INTERVAL_SECS + 7;
        for (request, jitter, expected) in [
            (None, 0.5, 1000),
            (Some("999"), 0.5, 1000),
            (Some("1000"), 0.0, 1001),
            (Some("1000"), 0.999, 1180),
            (Some("5000"), 0.0, 5001),
            (Some("no number"), 0.0, 1000),
            (Some("18446744073709551615"), 0.9, u64::MAX),
        ] {
            assert_eq!(next(request, at, jitter), expected, "{request:?}");
        }
        assert_eq!(next(None, 0, 0.0), 0);
        assert_eq!([later(1007, at), later(7, at)], [1007, 1000]);
    }
}
