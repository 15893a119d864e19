//! Moments in all formats, written and read.

use super::*;

/// 2026-03-05 14:07:09.120 UTC, a Thursday.
fn moment() -> UtcDateTime {
    UtcDateTime::from_unix_timestamp_nanos(1_772_719_629_120_000_000).unwrap()
}

#[test]
fn moments_are_written_in_all_formats() {
    let check = |format, expected| assert_eq!(Format::named(format).of(moment()), expected, "{format}");
    check("", "2026-03-05T14:07:09Z");
    check("RFC3339", "2026-03-05T14:07:09Z");
    check("RFC3339Nano", "2026-03-05T14:07:09.12Z");
    check("ANSIC", "Thu Mar  5 14:07:09 2026");
    check("UnixDate", "Thu Mar  5 14:07:09 UTC 2026");
    check("RubyDate", "Thu Mar 05 14:07:09 +0000 2026");
    check("RFC822", "05 Mar 26 14:07 UTC");
    check("RFC822Z", "05 Mar 26 14:07 +0000");
    check("RFC850", "Thursday, 05-Mar-26 14:07:09 UTC");
    check("RFC1123", "Thu, 05 Mar 2026 14:07:09 UTC");
    check("RFC1123Z", "Thu, 05 Mar 2026 14:07:09 +0000");
    check("2006-01-02", "2026-03-05");
    check("3:04pm 1/2/06", "2:07pm 3/5/26");
    check("15:04:05.000", "14:07:09.120");
    check("15:04:05,999", "14:07:09,12");
    check("yyyy-MM-dd", "2026-03-05");
    check("yyyy-MM-dd'T'HH:mm:ss.SSSXXX", "2026-03-05T14:07:09.120Z");
    check(
        "EEEE, d. MMMM yyyy, h:mm a z",
        "Thursday, 5. March 2026, 2:07 PM UTC",
    );
    check("EEE dd/MM/yy Z", "Thu 05/03/26 +0000");
    check("'it''s' HH", "its 14");
    check("''yy''", "'26'");
    check("'open", "open");
    check("日: d", "日: 5");
}

#[test]
fn texts_are_read_in_all_formats() {
    let check = |format, text, expected: Option<&str>| {
        let found = Format::named(format).read(text);
        let found = found.map(|moment| Format::named("RFC3339Nano").of(moment));
        assert_eq!(found.as_deref(), expected, "{format} {text}");
    };
    check("yyyy-MM-dd", "1970-01-01", Some("1970-01-01T00:00:00Z"));
    check("yyyy-MM-dd", "2024-02-29", Some("2024-02-29T00:00:00Z"));
    check("yyyy-MM-dd", "2023-02-29", None);
    check("yyyy-MM-dd", "2024-2-9", None);
    check("yyyy-MM-dd", "2024-02-09 ", None);
    check("yyyy-MM-dd", "2024-02", None);
    check("yyyy-MM-dd", "٢٠٢٤-02-09", None);
    check(
        "RFC3339",
        "2026-11-26T15:19:10+01:30",
        Some("2026-11-26T13:49:10Z"),
    );
    check("RFC3339", "2026-11-26T15:19:10Z", Some("2026-11-26T15:19:10Z"));
    check(
        "RFC3339Nano",
        "2026-11-26T15:19:10.25Z",
        Some("2026-11-26T15:19:10.25Z"),
    );
    check(
        "RFC3339Nano",
        "2026-11-26T15:19:10Z",
        Some("2026-11-26T15:19:10Z"),
    );
    check(
        "RFC1123",
        "Thu, 26 Nov 2026 15:19:10 UTC",
        Some("2026-11-26T15:19:10Z"),
    );
    check(
        "RFC1123Z",
        "Thu, 26 Nov 2026 15:19:10 -0500",
        Some("2026-11-26T20:19:10Z"),
    );
    check("ANSIC", "Thu Nov  5 15:19:10 2026", Some("2026-11-05T15:19:10Z"));
    check(
        "d MMMM yy, h:mm a",
        "5 november 69, 12:05 AM",
        Some("1969-11-05T00:05:00Z"),
    );
    check(
        "d MMMM yy, h:mm a",
        "5 november 68, 12:05 PM",
        Some("2068-11-05T12:05:00Z"),
    );
    check("h a", "13 PM", None);
    check("EEEE HH", "Caturday 10", None);
    check("HH:mm:ss.SSS", "10:20:30.5", Some("1970-01-01T10:20:30.5Z"));
    check("HH:mm", "24:00", None);
}

#[test]
fn a_written_moment_is_read_again() {
    for (name, _) in NAMED {
        let format = Format::named(name);
        let text = format.of(moment());
        let again = format.read(&text).map(|moment| format.of(moment));
        assert_eq!(again, Some(text), "{name}");
    }
}
