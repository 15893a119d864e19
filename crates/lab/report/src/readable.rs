//! Numbers inside sentences: three significant digits, a unit, and separated thousands. The page formats its numbers in
//! the same way (`web/src/format.ts`); the columns of the terminal have k6's form, see [`quantity`](crate::quantity).

/// Microseconds: `850 µs`, `1.26 ms`, `1.5 s`, `2 min 5 s`.
pub fn duration(us: f64) -> String {
    match us {
        0.0 => "0 ms".to_owned(),
        us if us < 999.5 => format!("{} µs", digits(us)),
        us if us < 999_500.0 => format!("{} ms", digits(us / 1e3)),
        us => seconds(us / 1e6),
    }
}

/// Seconds: `0.4 s`, `23.6 s`, `1 min 30 s`, `1 h 2 min`.
pub fn seconds(seconds: f64) -> String {
    if seconds < 59.95 {
        return format!("{} s", digits(seconds));
    }
    let total = seconds.round() as u64;
    let parts = match total / 3600 {
        0 => [(total / 60, "min"), (total % 60, "s")],
        hours => [(hours, "h"), (total / 60 % 60, "min")],
    };
    let shown = parts
        .iter()
        .enumerate()
        .filter(|(at, (value, _))| *at == 0 || *value > 0);
    let words: Vec<_> = shown
        .map(|(_, (value, unit))| format!("{value} {unit}"))
        .collect();
    words.join(" ")
}

/// Bytes in powers of 1,000: `301 B`, `31.4 MB`.
pub(crate) fn bytes(bytes: f64) -> String {
    const UNITS: [&str; 6] = ["B", "kB", "MB", "GB", "TB", "PB"];
    let mut value = bytes;
    let mut unit = 0;
    // 999.5 of a unit would be written as 1,000.
    while value >= 999.5 && unit + 1 < UNITS.len() {
        value /= 1e3;
        unit += 1;
    }
    match unit {
        0 => format!("{} B", value.round()),
        _ => format!("{} {}", digits(value), UNITS[unit]),
    }
}

/// Whole numbers in full: `394,029`.
pub fn count(count: u64) -> String {
    thousands(&count.to_string())
}

/// Events per second: `16,745/s`.
pub(crate) fn per_second(rate: f64) -> String {
    format!("{}/s", digits(rate))
}

/// CPU time per second, to a hundredth of a core: `1 core`, `0.8 cores`, `< 0.01 cores`. Reason: the system's counters
/// are not finer.
pub(crate) fn cores(cores: f64) -> String {
    if cores > 0.0 && cores < 0.005 {
        return "< 0.01 cores".to_owned();
    }
    let digits = if cores < 1.0 {
        trim(format!("{cores:.2}"))
    } else {
        digits(cores)
    };
    let noun = if digits == "1" { "core" } else { "cores" };
    format!("{digits} {noun}")
}

/// A share (0 to 1) in percent, cut off after two decimals, so that nearly all never reads as all.
pub fn share(share: f64) -> String {
    // The small amount heals shares such as 0.29, which is a little less in binary.
    let hundredths = (share * 1e4 + 1e-6).floor();
    if share > 0.0 && hundredths == 0.0 {
        return "< 0.01 %".to_owned();
    }
    format!("{} %", trim(format!("{:.2}", hundredths / 100.0)))
}

/// Three digits that matter, without zeros at the end: `0.0123`, `1.23`, `123`, `12,345`.
pub(crate) fn digits(value: f64) -> String {
    let size = value.abs();
    if size == 0.0 || !value.is_finite() {
        return "0".to_owned();
    }
    let decimals = (2.0 - size.log10().floor()).clamp(0.0, 6.0) as usize;
    thousands(&trim(format!("{value:.decimals$}")))
}

/// `text` in at most `longest` characters: a longer one keeps its beginning and its end, where names of machines, files
/// and URLs differ.
pub(crate) fn shortened(text: &str, longest: usize) -> String {
    let characters: Vec<char> = text.chars().collect();
    if characters.len() <= longest {
        return text.to_owned();
    }
    let n_kept = longest.saturating_sub(1);
    let n_front = n_kept / 2;
    let n_back = n_kept - n_front;
    let front: String = characters[..n_front].iter().collect();
    let back: String = characters[characters.len() - n_back..].iter().collect();
    format!("{front}…{back}")
}

fn trim(number: String) -> String {
    if !number.contains('.') {
        return number;
    }
    number.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// With a comma before every third digit of the whole part.
fn thousands(number: &str) -> String {
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    let mut text = String::new();
    for (at, digit) in whole.chars().enumerate() {
        let n_after = whole.len() - at;
        if n_after.is_multiple_of(3) && text.ends_with(|last: char| last.is_ascii_digit()) {
            text.push(',');
        }
        text.push(digit);
    }
    if !fraction.is_empty() {
        text.push('.');
        text.push_str(fraction);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(of: fn(f64) -> String, cases: &[(f64, &str)]) {
        for &(value, expected) in cases {
            assert_eq!(of(value), expected, "{value}");
        }
    }

    #[test]
    fn numbers_are_written_as_on_the_page() {
        check(
            duration,
            &[
                (0.0, "0 ms"),
                (1.0, "1 µs"),
                (999.4, "999 µs"),
                (999.6, "1 ms"),
                (1_263.0, "1.26 ms"),
                (999_499.0, "999 ms"),
                (1_500_000.0, "1.5 s"),
                (125_000_000.0, "2 min 5 s"),
            ],
        );
        check(
            seconds,
            &[
                (0.4, "0.4 s"),
                (23.64, "23.6 s"),
                (59.96, "1 min"),
                (90.0, "1 min 30 s"),
                (3_600.0, "1 h"),
                (3_723.0, "1 h 2 min"),
            ],
        );
        check(
            bytes,
            &[
                (0.0, "0 B"),
                (999.0, "999 B"),
                (999.7, "1 kB"),
                (31_400_000.0, "31.4 MB"),
                (1e19, "10,000 PB"),
            ],
        );
        check(
            digits,
            &[
                (16_744.71, "16,745"),
                (0.012_34, "0.0123"),
                (-1_500.0, "-1,500"),
                (f64::NAN, "0"),
            ],
        );
        check(
            cores,
            &[
                (1.0, "1 core"),
                (0.8, "0.8 cores"),
                (0.0303, "0.03 cores"),
                (0.004, "< 0.01 cores"),
                (0.0, "0 cores"),
                (0.999, "1 core"),
                (12.34, "12.3 cores"),
            ],
        );
        check(
            share,
            &[
                (1.0, "100 %"),
                (0.999_999, "99.99 %"),
                (0.29, "29 %"),
                (1e-5, "< 0.01 %"),
                (0.0, "0 %"),
            ],
        );
        assert_eq!([0, 999, 394_029].map(count), ["0", "999", "394,029"]);
    }

    #[test]
    fn long_names_keep_both_ends() {
        for (text, longest, expected) in [
            ("agent", 5, "agent"),
            ("load-eu-1", 8, "loa…eu-1"),
            ("äöüß", 3, "ä…ß"),
            ("ab", 1, "…"),
        ] {
            assert_eq!(shortened(text, longest), expected);
        }
    }
}
