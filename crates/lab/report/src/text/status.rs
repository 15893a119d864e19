//! k6's line about how far a run is: while it runs, and at its end.

use std::time::Duration;

/// For example `running (44.5s), 000/100 VUs, 10 complete and 90 interrupted iterations`.
pub fn status_line(
    elapsed: Duration,
    active_vus: u32,
    max_vus: u32,
    n_complete: u64,
    n_interrupted: u64,
) -> String {
    let width = max_vus.to_string().len();
    format!(
        "running ({}), {active_vus:0width$}/{max_vus} VUs, {n_complete} complete and {n_interrupted} interrupted \
         iterations",
        clock(elapsed)
    )
}

/// Minutes and hours appear when they are needed; tenths are cut off.
fn clock(elapsed: Duration) -> String {
    let (secs, tenths) = (elapsed.as_secs(), elapsed.subsec_millis() / 100);
    let (hours, minutes, secs) = (secs / 3600, secs / 60 % 60, secs % 60);
    match (hours, minutes) {
        (0, 0) => format!("{secs}.{tenths}s"),
        (0, _) => format!("{minutes}m{secs:02}.{tenths}s"),
        _ => format!("{hours}h{minutes:02}m{secs:02}.{tenths}s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_as_in_k6() {
        assert_eq!(
            status_line(Duration::from_millis(44_560), 0, 100, 10, 90),
            "running (44.5s), 000/100 VUs, 10 complete and 90 interrupted iterations"
        );
        assert_eq!(
            status_line(Duration::from_secs(64), 7, 20, 0, 0),
            "running (1m04.0s), 07/20 VUs, 0 complete and 0 interrupted iterations"
        );
        assert_eq!(clock(Duration::from_millis(3_605_200)), "1h00m05.2s");
    }
}
