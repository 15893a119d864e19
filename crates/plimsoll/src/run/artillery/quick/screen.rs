//! The lines of a quick look, during the run and at its end.

use std::fmt::Write as _;

use plimsoll_load::histogram::Histogram;
use plimsoll_report::{Style, readable, wrap};

use super::{
    bars::{cut, lines},
    load::Load,
    look::Look,
};
use crate::probe;

/// Causes of failures that the screen has room for.
const MOST_CAUSES: usize = 3;

/// The figures of a run, in progress or over.
#[derive(Debug)]
pub(super) struct Figures<'a> {
    pub(super) seconds: f64,
    pub(super) n_arrived: u64,
    /// Requests that were answered, messages that were sent or returned, or connections that were ready.
    pub(super) n_done: u64,
    /// The latency that matters for the load; `None` without samples.
    pub(super) latencies: Option<&'a Histogram>,
}

/// The end of a run.
#[derive(Debug)]
pub(super) struct Ending<'a> {
    pub(super) figures: Figures<'a>,
    /// Failures by cause, the most frequent first.
    pub(super) causes: Vec<(u64, String)>,
}

impl Look {
    /// The block that is redrawn during the run.
    pub(super) fn frame(&self, figures: &Figures<'_>, width: usize) -> String {
        let progress = format!("  {}", self.progress(figures));
        let mut frame = format!("{}\n{}\n", cut(&self.title(), width), cut(&progress, width));
        if let Some(latencies) = figures.latencies {
            for line in lines(latencies, width) {
                let _infallible = writeln!(frame, "{line}");
            }
        }
        frame
    }

    /// The one screen at the end.
    pub(super) fn screen(&self, ending: &Ending<'_>, style: Style) -> String {
        let figures = &ending.figures;
        let mut text: Vec<_> = wrap(&self.title(), "", "  ", style.width);
        text.iter_mut().for_each(|line| *line = style.strong(line));
        text.extend(wrap(&self.progress(figures), "  ", "  ", style.width));
        text.extend(self.errors(&ending.causes, style));
        if let Some(latencies) = figures.latencies {
            text.push(String::new());
            let title = format!(
                "{}, {} samples:",
                self.load.latency_in_words(),
                readable::count(latencies.count())
            );
            text.push(cut(&title, style.width));
            text.extend(lines(latencies, style.width));
        }
        text.push(String::new());
        text.push(format!("Next: {}", self.next_step()));
        text.iter().map(|line| format!("{line}\n")).collect()
    }

    fn title(&self) -> String {
        let url = &self.url;
        match &self.load {
            Load::Http => format!("{url} over HTTP"),
            Load::Echo => format!("{url} is a WebSocket that sends each message back"),
            Load::Websocket => format!("{url} is a WebSocket with a protocol of its own"),
            Load::Cable(None) => format!("{url} speaks Action Cable"),
            Load::Cable(Some(subscription)) => {
                format!("{url} speaks Action Cable; channel {}", subscription.channel)
            }
        }
    }

    fn progress(&self, figures: &Figures<'_>) -> String {
        let n_planned = self.n_users.saturating_mul(self.n_each);
        let count = readable::count;
        format!(
            "{} of {} users arrived, {} of {} {} in {}",
            count(figures.n_arrived),
            count(self.n_users),
            count(figures.n_done),
            count(n_planned),
            self.load.work_in_words(),
            readable::seconds((figures.seconds * 10.0).round() / 10.0)
        )
    }

    fn errors(&self, causes: &[(u64, String)], style: Style) -> Vec<String> {
        if causes.is_empty() {
            return vec!["  no errors".to_owned()];
        }
        let total: u64 = causes.iter().map(|(count, _)| count).sum();
        let head = if total == 1 {
            "  1 error:".to_owned()
        } else {
            format!("  {} errors:", readable::count(total))
        };
        let mut lines = vec![head];
        let listed = causes.iter().take(MOST_CAUSES);
        lines.extend(listed.map(|(count, cause)| {
            let cause: String = cause
                .chars()
                .map(|c| if c.is_control() { ' ' } else { c })
                .collect();
            cut(&format!("    {} × {cause}", readable::count(*count)), style.width)
        }));
        if let Some(more) = causes.len().checked_sub(MOST_CAUSES).filter(|&more| more > 0) {
            lines.push(format!(
                "    and {more} more causes; --report FILE.html lists all"
            ));
        }
        lines.iter().map(|line| style.bad(line)).collect()
    }

    fn next_step(&self) -> String {
        let url = probe::quoted(&self.url);
        let headers = if self.has_headers { " -H …" } else { "" };
        match &self.load {
            Load::Http => format!("plimsoll bench http {url} -n 1000 -c 10{headers}"),
            Load::Echo => format!("plimsoll line bench echo {url} --slo 'rtt p(95)<200'{headers}"),
            Load::Websocket => {
                format!("plimsoll probe {url} --write chat.js{headers}, then plimsoll run chat.js")
            }
            Load::Cable(None) => {
                format!(
                    "plimsoll quick {url} --channel ChatChannel{headers}: with --channel, users subscribe"
                )
            }
            Load::Cable(Some(subscription)) => {
                let channel = probe::quoted(&subscription.channel);
                let parameters = match &subscription.parameters {
                    Some(parameters) => {
                        format!(" --channel-params {}", probe::quoted(&parameters.to_string()))
                    }
                    None => String::new(),
                };
                format!(
                    "plimsoll probe {url} --write chat.js --channel {channel}{parameters}{headers}, then plimsoll line chat.js"
                )
            }
        }
    }
}

impl Load {
    /// The name of the metric of the latency that matters.
    pub(super) fn latency(&self) -> &'static str {
        match self {
            Self::Http => "http_response_time",
            Self::Websocket => "ws_connecting",
            Self::Echo | Self::Cable(_) => "ws_response_time",
        }
    }

    fn latency_in_words(&self) -> &'static str {
        match self {
            Self::Http => "Answers: from the request to the first byte",
            Self::Websocket => "Connections: TCP, TLS and the upgrade",
            Self::Echo => "Replies: from sending a message to its return",
            Self::Cable(None) => "Welcomes: from the beginning of connecting to the welcome",
            Self::Cable(Some(_)) => "Subscriptions: from the command to its confirmation",
        }
    }

    fn work_in_words(&self) -> &'static str {
        match self {
            Self::Http => "requests answered",
            Self::Websocket => "messages sent",
            Self::Echo => "messages returned",
            Self::Cable(None) => "connections welcomed",
            Self::Cable(Some(_)) => "subscriptions confirmed",
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use expect_test::{Expect, expect};

    use super::{super::load::Subscription, *};

    fn look(load: Load) -> Look {
        Look {
            url: "ws://chat.example.com/cable".to_owned(),
            load,
            n_users: 10,
            n_each: 10,
            has_headers: true,
        }
    }

    fn latencies() -> Histogram {
        let mut latencies = Histogram::new();
        for us in 1..=63 {
            latencies.record(Duration::from_micros(us * us * 10));
        }
        latencies
    }

    fn figures(latencies: Option<&Histogram>) -> Figures<'_> {
        Figures {
            seconds: 1.234,
            n_arrived: 9,
            n_done: latencies.map_or(0, Histogram::count),
            latencies,
        }
    }

    fn check(load: Load, latencies: Option<&Histogram>, causes: &[(u64, &str)], expected: &Expect) {
        let ending = Ending {
            figures: figures(latencies),
            causes: causes
                .iter()
                .map(|&(count, cause)| (count, cause.to_owned()))
                .collect(),
        };
        let screen = look(load).screen(&ending, Style::PLAIN);
        // The verdict, with an empty line before it, takes up to four lines more.
        assert!(screen.lines().count() <= 20, "{screen}");
        expected.assert_eq(&screen);
    }

    #[test]
    fn the_end_is_one_screen() {
        let subscription = Subscription {
            channel: "ChatChannel".to_owned(),
            parameters: None,
        };
        let causes = [
            (31, "one"),
            (4, "two\x1b[31m"),
            (2, "three"),
            (1, "four"),
            (1, "five"),
        ];
        let samples = latencies();
        check(
            Load::Cable(Some(subscription)),
            Some(&samples),
            &causes,
            &expect![[r#"
                ws://chat.example.com/cable speaks Action Cable; channel ChatChannel
                  9 of 10 users arrived, 63 of 100 subscriptions confirmed in 1.2 s
                  39 errors:
                    31 × one
                    4 × two [31m
                    2 × three
                    and 2 more causes; --report FILE.html lists all

                Subscriptions: from the command to its confirmation, 63 samples:
                   10 µs – 100 µs   3  ████▊
                  100 µs –   1 ms   6  █████████▍
                    1 ms –  10 ms  22  ██████████████████████████████████▍
                   10 ms – 100 ms  32  ██████████████████████████████████████████████████
                  p50 10.2 ms   p95 35.9 ms   p99 38.9 ms   max 39.7 ms

                Next: plimsoll probe ws://chat.example.com/cable --write chat.js --channel ChatChannel -H …, then plimsoll line chat.js
            "#]],
        );
        check(
            Load::Cable(None),
            Some(&samples),
            &[],
            &expect![[r#"
            ws://chat.example.com/cable speaks Action Cable
              9 of 10 users arrived, 63 of 100 connections welcomed in 1.2 s
              no errors

            Welcomes: from the beginning of connecting to the welcome, 63 samples:
               10 µs – 100 µs   3  ████▊
              100 µs –   1 ms   6  █████████▍
                1 ms –  10 ms  22  ██████████████████████████████████▍
               10 ms – 100 ms  32  ██████████████████████████████████████████████████
              p50 10.2 ms   p95 35.9 ms   p99 38.9 ms   max 39.7 ms

            Next: plimsoll quick ws://chat.example.com/cable --channel ChatChannel -H …: with --channel, users subscribe
        "#]],
        );
        check(
            Load::Http,
            None,
            &[(1, "ECONNREFUSED")],
            &expect![[r#"
            ws://chat.example.com/cable over HTTP
              9 of 10 users arrived, 0 of 100 requests answered in 1.2 s
              1 error:
                1 × ECONNREFUSED

            Next: plimsoll bench http ws://chat.example.com/cable -n 1000 -c 10 -H …
        "#]],
        );
        check(
            Load::Echo,
            None,
            &[],
            &expect![[r#"
            ws://chat.example.com/cable is a WebSocket that sends each message back
              9 of 10 users arrived, 0 of 100 messages returned in 1.2 s
              no errors

            Next: plimsoll line bench echo ws://chat.example.com/cable --slo 'rtt p(95)<200' -H …
        "#]],
        );
        check(
            Load::Websocket,
            None,
            &[],
            &expect![[r#"
            ws://chat.example.com/cable is a WebSocket with a protocol of its own
              9 of 10 users arrived, 0 of 100 messages sent in 1.2 s
              no errors

            Next: plimsoll probe ws://chat.example.com/cable --write chat.js -H …, then plimsoll run chat.js
        "#]],
        );
    }

    #[test]
    fn a_frame_fits_the_terminal() {
        let latencies = latencies();
        let frame = look(Load::Echo).frame(&figures(Some(&latencies)), 40);
        assert!(frame.lines().all(|line| line.chars().count() <= 40), "{frame}");
        expect![[r#"
            ws://chat.example.com/cable is a WebSock
              9 of 10 users arrived, 63 of 100 messa
               10 µs – 100 µs   3  █▋
              100 µs –   1 ms   6  ███▎
                1 ms –  10 ms  22  ███████████▊
               10 ms – 100 ms  32  █████████████████
              p50 10.2 ms   p95 35.9 ms   p99 38.9 m
        "#]]
        .assert_eq(&frame);
        expect![[r#"
            ws://chat.example.com/cable is a WebSocket that sends each message back
              9 of 10 users arrived, 0 of 100 messages returned in 1.2 s
        "#]]
        .assert_eq(&look(Load::Echo).frame(&figures(None), 100));
    }
}
