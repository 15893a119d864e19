//! Artillery's plugin `slack`: a message at the end of a run, with its verdict, users, duration, checks and errors.

use std::{cmp::Reverse, time::Duration};

use plimsoll_outputs::Webhook;
use plimsoll_report::artillery::Figures;
use plimsoll_scenario::artillery::{Slack, Verdict};
use serde_json::{Value, json};

/// The length limit of a run's name, in characters, as in Artillery. Slack takes 150 for the whole header.
const LONGEST_NAME: usize = 80;

/// The most checks and errors that are listed, as in Artillery.
const MOST_LINES: usize = 10;

/// The length limit of one of them, in characters. Reason: Slack takes 2,000 for a field.
const LONGEST_LINE: usize = 150;

/// A run that is over.
#[derive(Clone, Copy, Debug)]
pub(super) struct Course<'a> {
    pub(super) name: &'a str,
    pub(super) exit_code: u8,
    pub(super) figures: &'a Figures,
    pub(super) verdicts: &'a [Verdict],
}

/// Sends the message, if the run is one to tell about. A failure is a warning.
pub(super) async fn tell(slack: &Slack, course: Course<'_>) {
    if slack.on_failure_only && course.exit_code == 0 {
        return;
    }
    let sent = match Webhook::new(&slack.webhook) {
        Ok(webhook) => webhook.send(course.message().to_string()).await,
        Err(error) => Err(error.to_string()),
    };
    if let Err(reason) = sent {
        tracing::warn!(
            "The message to Slack was not delivered: {reason}. The result of the run is as if there were no plugin `slack`."
        );
    }
}

impl Course<'_> {
    /// The message, in Slack's blocks.
    fn message(&self) -> Value {
        let name = shortened(self.name, LONGEST_NAME);
        let header = if self.exit_code == 0 {
            format!("🟢 Load test passed ({name})")
        } else {
            format!("🔴 Load test failed ({name})")
        };
        let figures = self.figures;
        let users = format!(
            "*VUs*\n{} completed / {} created",
            figures.counter("vusers.completed"),
            figures.counter("vusers.created")
        );
        let duration = format!("*Duration*\n{}", in_words(figures.width));
        json!({
            "text": header,
            "blocks": [
                { "type": "header", "text": { "type": "plain_text", "text": header, "emoji": true } },
                section([users, duration]),
                section([self.checks(), self.errors()]),
            ],
        })
    }

    /// The checks of `ensure`, those that hold first; only their numbers if there are many.
    fn checks(&self) -> String {
        let n_total = self.verdicts.len();
        if n_total == 0 {
            return "*Checks*\nNone defined".to_owned();
        }
        let n_held = self.verdicts.iter().filter(|verdict| verdict.holds).count();
        let title = format!("Checks ({n_held} / {n_total})");
        if n_total > MOST_LINES {
            let n_failed = n_total - n_held;
            let lines = [(n_held, "🟢", "passed"), (n_failed, "🔴", "failed")].into_iter();
            let lines = lines.filter(|(n, ..)| *n > 0);
            return list(
                &title,
                lines.map(|(n, sign, word)| format!("{sign} {n} checks {word}")),
            );
        }
        let (held, failed): (Vec<&Verdict>, Vec<_>) = self.verdicts.iter().partition(|verdict| verdict.holds);
        list(&title, held.into_iter().chain(failed).map(check))
    }

    /// The errors, the most frequent first.
    fn errors(&self) -> String {
        let counters = self.figures.counters.iter();
        let errors = counters.filter_map(|(name, n)| Some((name.strip_prefix("errors.")?, *n)));
        let mut errors: Vec<_> = errors.collect();
        if errors.is_empty() {
            return "*Errors*\nNone".to_owned();
        }
        errors.sort_by_key(|&(name, n)| (Reverse(n), name));
        let n_more = errors.len().saturating_sub(MOST_LINES);
        let lines = errors.iter().take(MOST_LINES);
        let lines = lines.map(|(name, n)| format!("❌ {} ({n})", plain(name)));
        let more = (n_more > 0).then(|| format!("➕ {n_more} more"));
        list(&format!("Errors ({})", errors.len()), lines.chain(more))
    }
}

fn section(texts: [String; 2]) -> Value {
    let fields = texts.map(|text| json!({ "type": "mrkdwn", "text": text }));
    json!({ "type": "section", "fields": fields })
}

/// Lines as written, below a title.
fn list(title: &str, lines: impl Iterator<Item = String>) -> String {
    let lines: Vec<_> = lines.collect();
    format!("*{title}*\n```\n{}\n```", lines.join("\n"))
}

fn check(verdict: &Verdict) -> String {
    let text = plain(&verdict.text);
    match verdict {
        Verdict { holds: true, .. } => format!("🟢 {text}"),
        Verdict { is_strict: true, .. } => format!("🔴 {text}"),
        Verdict { .. } => format!("🔴 {text} (optional)"),
    }
}

/// One short line of text that Slack shows as it is. Errors have words of servers and functions, which must not mention
/// people or end the list.
fn plain(text: &str) -> String {
    let line = shortened(text, LONGEST_LINE).replace(char::is_control, " ");
    let line = line.replace("```", "'''").replace('&', "&amp;");
    line.replace('<', "&lt;").replace('>', "&gt;")
}

fn shortened(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.to_owned();
    }
    let start: String = text.chars().take(most - 1).collect();
    format!("{start}…")
}

/// `1 minute, 5 seconds`, from the largest unit that there is.
fn in_words(duration: Duration) -> String {
    let secs = duration.as_secs();
    let parts = [
        (secs / 86_400, "day"),
        (secs / 3_600 % 24, "hour"),
        (secs / 60 % 60, "minute"),
        (secs % 60, "second"),
    ];
    let first = parts.iter().position(|(n, _)| *n > 0).unwrap_or(parts.len() - 1);
    let words = parts[first..].iter().map(|(n, unit)| {
        let plural = if *n == 1 { "" } else { "s" };
        format!("{n} {unit}{plural}")
    });
    words.collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use std::{collections::BTreeMap, time::SystemTime};

    use expect_test::{Expect, expect};

    use super::*;

    fn figures(counters: &[(&str, u64)]) -> Figures {
        let counters = counters.iter().map(|&(name, n)| (name.to_owned(), n));
        Figures {
            start: SystemTime::UNIX_EPOCH,
            width: Duration::from_secs(65),
            counters: counters.collect(),
            rates: BTreeMap::new(),
            summaries: BTreeMap::new(),
        }
    }

    fn verdict(text: &str, holds: bool, is_strict: bool) -> Verdict {
        Verdict {
            text: text.to_owned(),
            holds,
            is_strict,
        }
    }

    fn check(exit_code: u8, counters: &[(&str, u64)], verdicts: &[Verdict], expected: &Expect) {
        let course = Course {
            name: "chat.yml",
            exit_code,
            figures: &figures(counters),
            verdicts,
        };
        expected.assert_eq(&serde_json::to_string_pretty(&course.message()).unwrap());
    }

    #[test]
    fn a_message_has_blocks() {
        let users = [("vusers.completed", 9), ("vusers.created", 10)];
        check(
            0,
            &users,
            &[],
            &expect![[r#"
            {
              "text": "🟢 Load test passed (chat.yml)",
              "blocks": [
                {
                  "type": "header",
                  "text": {
                    "type": "plain_text",
                    "text": "🟢 Load test passed (chat.yml)",
                    "emoji": true
                  }
                },
                {
                  "type": "section",
                  "fields": [
                    {
                      "type": "mrkdwn",
                      "text": "*VUs*\n9 completed / 10 created"
                    },
                    {
                      "type": "mrkdwn",
                      "text": "*Duration*\n1 minute, 5 seconds"
                    }
                  ]
                },
                {
                  "type": "section",
                  "fields": [
                    {
                      "type": "mrkdwn",
                      "text": "*Checks*\nNone defined"
                    },
                    {
                      "type": "mrkdwn",
                      "text": "*Errors*\nNone"
                    }
                  ]
                }
              ]
            }"#]],
        );
        let errors = [
            users[0],
            users[1],
            ("errors.ETIMEDOUT", 1),
            ("errors.ECONNREFUSED", 2),
        ];
        let verdicts = [
            verdict("vusers.failed < 1", false, true),
            verdict("http.response_time.p95 < 5", false, false),
            verdict("vusers.created > 1", true, true),
        ];
        check(
            1,
            &errors,
            &verdicts,
            &expect![[r#"
            {
              "text": "🔴 Load test failed (chat.yml)",
              "blocks": [
                {
                  "type": "header",
                  "text": {
                    "type": "plain_text",
                    "text": "🔴 Load test failed (chat.yml)",
                    "emoji": true
                  }
                },
                {
                  "type": "section",
                  "fields": [
                    {
                      "type": "mrkdwn",
                      "text": "*VUs*\n9 completed / 10 created"
                    },
                    {
                      "type": "mrkdwn",
                      "text": "*Duration*\n1 minute, 5 seconds"
                    }
                  ]
                },
                {
                  "type": "section",
                  "fields": [
                    {
                      "type": "mrkdwn",
                      "text": "*Checks (1 / 3)*\n```\n🟢 vusers.created &gt; 1\n🔴 vusers.failed &lt; 1\n🔴 http.response_time.p95 &lt; 5 (optional)\n```"
                    },
                    {
                      "type": "mrkdwn",
                      "text": "*Errors (2)*\n```\n❌ ECONNREFUSED (2)\n❌ ETIMEDOUT (1)\n```"
                    }
                  ]
                }
              ]
            }"#]],
        );
    }

    #[test]
    fn lists_are_short() {
        let many: Vec<_> = (0..12)
            .map(|n| verdict(&format!("metric < {n}"), n > 0, true))
            .collect();
        let names: Vec<_> = (0..12).map(|n| format!("errors.E{n:02}")).collect();
        let counters: Vec<_> = names.iter().map(|name| (name.as_str(), 1)).collect();
        let course = Course {
            name: "a",
            exit_code: 1,
            figures: &figures(&counters),
            verdicts: &many,
        };
        expect![[r#"
            *Checks (11 / 12)*
            ```
            🟢 11 checks passed
            🔴 1 checks failed
            ```"#]]
        .assert_eq(&course.checks());
        expect![[r#"
            *Errors (12)*
            ```
            ❌ E00 (1)
            ❌ E01 (1)
            ❌ E02 (1)
            ❌ E03 (1)
            ❌ E04 (1)
            ❌ E05 (1)
            ❌ E06 (1)
            ❌ E07 (1)
            ❌ E08 (1)
            ❌ E09 (1)
            ➕ 2 more
            ```"#]]
        .assert_eq(&course.errors());
    }

    #[test]
    fn text_from_outside_is_only_text() {
        let check = |text: &str, expected: &str| assert_eq!(plain(text), expected);
        check("<!channel> a & b", "&lt;!channel&gt; a &amp; b");
        check("```\nend", "''' end");
        assert_eq!(
            shortened(&"ä".repeat(200), LONGEST_NAME).chars().count(),
            LONGEST_NAME
        );
        let longest = "&".repeat(1_000);
        assert!(plain(&longest).len() <= 5 * LONGEST_LINE);
    }

    #[test]
    fn durations_begin_with_their_largest_unit() {
        for (secs, expected) in [
            (0, "0 seconds"),
            (1, "1 second"),
            (65, "1 minute, 5 seconds"),
            (3_600, "1 hour, 0 minutes, 0 seconds"),
            (90_061, "1 day, 1 hour, 1 minute, 1 second"),
        ] {
            assert_eq!(in_words(Duration::from_secs(secs)), expected);
        }
    }
}
