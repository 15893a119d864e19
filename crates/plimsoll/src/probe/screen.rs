//! The findings on one screen.

use std::fmt::Write as _;

use plimsoll_probe::{Findings, Kind};
use plimsoll_report::{Style, wrap};

use super::words;

/// The width of the first column, with its dots.
const NAME_WIDTH: usize = 18;

/// The findings with their explanation.
pub(super) fn draw(findings: &Findings, header_names: &[String], style: Style) -> String {
    let mut text = format!("{}.\n", style.strong(&capital(&words::title(findings))));
    if findings.url != findings.requested {
        let _infallible = writeln!(text, "Asked for: {}", findings.requested);
    }
    for problem in &findings.problems {
        let (what, _) = words::problem(problem);
        let lines = wrap(
            &format!("{}.", capital(&printable(&what))),
            "✗ ",
            "  ",
            style.width,
        );
        text.extend(lines.iter().map(|line| format!("{}\n", style.bad(line))));
    }
    if findings.kind != Kind::Nothing {
        text.push('\n');
    }
    for (name, value) in rows(findings) {
        let dots = ".".repeat(NAME_WIDTH - name.len());
        let rest = " ".repeat(NAME_WIDTH + 4);
        let lines = wrap(
            &printable(&value),
            &format!("  {name}{dots}: "),
            &rest,
            style.width,
        );
        text.extend(lines.iter().map(|line| format!("{line}\n")));
    }
    let steps = words::next_steps(findings, header_names);
    if !steps.is_empty() {
        text.push_str("\nNext:\n");
        text.extend(steps.iter().map(|step| format!("  {step}\n")));
    }
    let (n, seconds) = (findings.n_connections, findings.seconds);
    let connections = if n == 1 { "connection" } else { "connections" };
    let _infallible = writeln!(
        text,
        "\nOpened {n} {connections}, one after the other, in {seconds:.2} s."
    );
    text
}

/// The facts that are known, in their order.
fn rows(findings: &Findings) -> Vec<(&'static str, String)> {
    let mut rows = Vec::new();
    let mut row = |name, value: Option<String>| rows.extend(value.map(|value| (name, value)));
    row("address", findings.address.clone());
    row(
        "status",
        findings
            .status
            .filter(|&status| status != 101)
            .map(|status| status.to_string()),
    );
    row(
        "sub-protocols",
        findings.sub_protocols.as_ref().map(sub_protocols),
    );
    row("origins", findings.origins.map(words::origins));
    row("authentication", words::authentication(findings));
    row("TLS", tls(findings));
    row(
        "compression",
        findings.compression.map(|is_deflated| {
            let text = if is_deflated { "permessage-deflate" } else { "none" };
            text.to_owned()
        }),
    );
    let listened = findings
        .kind
        .is_websocket()
        .then(|| "none while this command listened".to_owned());
    row("pings", findings.ping.as_ref().map(words::ping).or(listened));
    let is_silent = findings.kind.is_websocket() && findings.greeting.is_none();
    row(
        "greeting",
        findings
            .greeting
            .clone()
            .or(is_silent.then(|| "none: the server waits for the client".to_owned())),
    );
    if findings.status.is_some() {
        let names = &findings.on_the_way;
        let text = if names.is_empty() {
            "no server or proxy names itself".to_owned()
        } else {
            names.join("; ")
        };
        row("on the way", Some(text));
    }
    row(
        "handshake",
        findings.handshake.map(|took| {
            let total = took.tcp_ms + took.tls_ms + took.upgrade_ms;
            let tls = if took.tls_ms > 0.0 {
                format!(", TLS {:.1}", took.tls_ms)
            } else {
                String::new()
            };
            format!(
                "{total:.1} ms: TCP {:.1}{tls}, upgrade {:.1}",
                took.tcp_ms, took.upgrade_ms
            )
        }),
    );
    rows
}

fn sub_protocols(found: &plimsoll_probe::SubProtocols) -> String {
    let agreed = if found.agreed.is_empty() {
        "none".to_owned()
    } else {
        found.agreed.join(", ")
    };
    if found.agrees_to_any {
        "any name is agreed to, so this says nothing".to_owned()
    } else if found.refused.is_empty() {
        agreed
    } else {
        format!("{agreed}; refused: {}", found.refused.join(", "))
    }
}

/// None without an answer.
fn tls(findings: &Findings) -> Option<String> {
    findings.status?;
    Some(match &findings.tls {
        None => "none: everybody on the way can read the messages".to_owned(),
        Some(tls) if tls.is_verified => "the certificate is valid for this host".to_owned(),
        Some(tls) => match &tls.reason {
            Some(reason) => format!("not accepted: {reason}"),
            None => "not verified (--insecure)".to_owned(),
        },
    })
}

/// The text without characters that a terminal would obey.
fn printable(text: &str) -> String {
    text.chars()
        .map(|c| if c.is_control() { '\u{fffd}' } else { c })
        .collect()
}

fn capital(text: &str) -> String {
    // A URL at the beginning stays as it is.
    match text.strip_prefix("no server") {
        Some(rest) => format!("No server{rest}"),
        None => text.to_owned(),
    }
}
