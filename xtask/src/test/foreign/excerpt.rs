//! The part of a log of Node.js tests that says what failed.

/// The heading behind which the reporter `spec` repeats each test that failed.
const HEADING: &str = "failing tests:";

/// The most lines of an excerpt. An assertion that prints a whole report would hide the other files' failures.
const N_LINES: usize = 60;

/// The most characters of a line, for the same reason.
const N_CHARS: usize = 400;

/// What `log` says about failing tests: the part behind the reporter's heading, or the end of the log of a file that ended
/// without one. Long parts and long lines are cut, visibly.
pub(super) fn of_failures(log: &str) -> String {
    let mut lines: Vec<String> = match log.find(HEADING) {
        Some(start) => log[start + HEADING.len()..].lines().map(cut).collect(),
        None => {
            let all: Vec<&str> = log.lines().collect();
            all[all.len().saturating_sub(N_LINES)..]
                .iter()
                .map(|line| cut(line))
                .collect()
        }
    };
    lines.retain(|line| !line.trim().is_empty());
    let n_left_out = lines.len().saturating_sub(N_LINES);
    lines.truncate(N_LINES);
    if n_left_out > 0 {
        lines.push(format!("[{n_left_out} more lines in the log]"));
    }
    lines.join("\n")
}

fn cut(line: &str) -> String {
    match line.char_indices().nth(N_CHARS) {
        Some((end, _)) => format!("{} […]", &line[..end]),
        None => line.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reporters_list_or_the_end_of_the_log() {
        let long = format!("failing tests:\n{}", "é".repeat(500));
        let many = format!("failing tests:\n{}", "line\n".repeat(100));
        for (log, expected) in [
            (
                "✔ one\n✖ two\n\n✖ failing tests:\n\n✖ two\n  4 !== 0\n",
                "✖ two\n  4 !== 0".to_owned(),
            ),
            (
                "SyntaxError: Unexpected token\n",
                "SyntaxError: Unexpected token".to_owned(),
            ),
            ("", String::new()),
            (&long, format!("{} […]", "é".repeat(400))),
            (
                &many,
                format!("{}[40 more lines in the log]", "line\n".repeat(60)),
            ),
        ] {
            assert_eq!(of_failures(log), expected, "{log}");
        }
    }
}
