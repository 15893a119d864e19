//! Findings in words, and the next steps.

use std::path::Path;

use plimsoll_probe::{Authentication, Findings, Kind, Origins, Ping, PingSource, Problem, Verdict, script};

/// The findings with the tokens and other secrets of their URLs hidden.
pub(crate) fn shown(findings: &Findings) -> Findings {
    let hidden = |url: &str| plimsoll_redacted::url_with_query(url).into_owned();
    let mut findings = findings.clone();
    findings.url = hidden(&findings.url);
    findings.requested = hidden(&findings.requested);
    for problem in &mut findings.problems {
        if let Problem::Redirect { location } = problem {
            *location = hidden(location);
        }
    }
    findings
}

/// Why no load test is written for a server whose path answers HTTP. None if one is.
pub(super) fn unfit_for_a_script(findings: &Findings) -> Option<String> {
    let is_error = |status: &u16| findings.kind == Kind::Http && !matches!(status, 200..=399);
    let status = findings.status.filter(is_error)?;
    Some(format!(
        "{} answers status {status}, so a load test would measure errors; name a path that answers, or repair the server",
        plimsoll_redacted::url_with_query(&findings.url)
    ))
}

/// The parameters in the URL of a script whose values are secrets, as `?jid and ?token`. None without such parameters.
pub(super) fn secrets_in_script(findings: &Findings) -> Option<String> {
    let names = plimsoll_redacted::secret_parameters(&findings.url);
    let names: Vec<_> = names.iter().map(|name| format!("?{name}")).collect();
    (!names.is_empty()).then(|| list(&names))
}

/// The kind of server, as the end of no sentence: `ws://… speaks Action Cable`.
pub(crate) fn title(findings: &Findings) -> String {
    let url = &findings.url;
    let is_page = findings.problems.is_empty();
    match findings.kind {
        Kind::ActionCable => format!("{url} speaks Action Cable"),
        Kind::Anycable => {
            format!("{url} speaks Action Cable with AnyCable's extensions: it is AnyCable or Plimsoll")
        }
        Kind::SocketIo => format!("{url} speaks Socket.IO"),
        Kind::Phoenix => format!("{url} speaks Phoenix Channels"),
        Kind::Pusher => format!("{url} speaks Pusher Channels"),
        Kind::Echo => format!("{url} is a WebSocket that sends each message back"),
        Kind::Websocket => format!("{url} is a WebSocket with a protocol of its own"),
        Kind::Sse => format!("{url} sends Server-Sent Events"),
        Kind::Grpc => format!("{url} speaks gRPC, which is not a WebSocket"),
        Kind::Http if is_page => format!("{url} answers HTTP, and has no WebSocket"),
        Kind::Http => format!("{url} answers HTTP, and opens no WebSocket for this client"),
        Kind::Unknown => format!("{url} accepts connections, and speaks neither HTTP nor gRPC"),
        Kind::Nothing => format!("no server answers at {url}"),
    }
}

/// A problem, and the way out of it.
pub(crate) fn problem(problem: &Problem) -> (String, String) {
    let pair = |what: &str, next: &str| (what.to_owned(), next.to_owned());
    match problem {
        Problem::Unreachable { reason, advice } => pair(
            reason,
            advice.unwrap_or("check the host, the port, and whether the server runs"),
        ),
        Problem::NoTls => pair("The port does not speak TLS", "use ws:// in place of wss://"),
        Problem::NeedsTls => pair("The port speaks TLS only", "use wss:// in place of ws://"),
        Problem::Certificate { reason } => (
            format!("The certificate is not accepted: {reason}"),
            "use the name that is in the certificate, or name the authority that signed it with --cacert FILE".to_owned(),
        ),
        Problem::Unauthorized { status, challenge } => {
            let status = status.map_or_else(|| "its first message".to_owned(), |status| format!("status {status}"));
            let challenge = challenge.as_ref().map_or_else(String::new, |text| format!(" and asks for {text}"));
            (
                format!("The server refuses this client with {status}{challenge}"),
                "send its cookie or token: -H 'Cookie: …', -H 'Authorization: Bearer …', or ?jid=TOKEN in the URL \
                 for AnyCable"
                    .to_owned(),
            )
        }
        Problem::Origin => pair(
            "The server refuses the origin of this client, and accepts a client without one",
            "send an origin that it allows: --origin https://…; browsers always send theirs",
        ),
        Problem::OtherPath => pair(
            "The requested path has no WebSocket",
            "use the URL above, which has one",
        ),
        Problem::NoWebSocket { status: 403 } => pair(
            "The path answers status 403 to a WebSocket handshake",
            "perhaps the origin is not allowed: --origin https://…; or credentials are missing: -H 'Cookie: …'",
        ),
        Problem::NoWebSocket { status } => (
            format!("The path answers status {status} to a WebSocket handshake"),
            "check the path: Action Cable is usually at /cable. If a proxy stands before the server, it must pass on \
             the headers Upgrade and Connection"
                .to_owned(),
        ),
        Problem::UpgradeDropped { server } => {
            let is_nginx = server.as_ref().is_some_and(|name| name.to_ascii_lowercase().starts_with("nginx"));
            let next = if is_nginx {
                "add to nginx's location: proxy_http_version 1.1; proxy_set_header Upgrade $http_upgrade; \
                 proxy_set_header Connection \"upgrade\";"
            } else {
                "let the proxies on the way pass on the headers Upgrade and Connection"
            };
            pair(
                "The server demands the header Upgrade, which this client sent: a proxy on the way dropped it",
                next,
            )
        }
        Problem::Busy { status } => (
            format!("The server answers status {status}: it has too many clients, or stops"),
            "try again later, or look at the server's limits".to_owned(),
        ),
        Problem::BadGateway { status } => (
            format!("A proxy answers status {status}: it does not reach the server behind it"),
            "check whether the server behind the proxy runs, and its address in the proxy's settings".to_owned(),
        ),
        Problem::Redirect { location } => {
            (format!("The server redirects to {location}"), "use that URL".to_owned())
        }
    }
}

/// The rules for origins.
pub(super) fn origins(origins: Origins) -> String {
    let Origins { own, foreign, none } = origins;
    match (own, foreign, none) {
        (Verdict::Accepted, Verdict::Accepted, Verdict::Accepted) => {
            "all accepted: pages of any site can connect as their visitors".to_owned()
        }
        (Verdict::Accepted, Verdict::Accepted, Verdict::Refused) => {
            "all accepted, but not a missing one".to_owned()
        }
        (Verdict::Accepted, Verdict::Refused, Verdict::Accepted) => {
            "this client's and a missing one accepted, foreign ones refused".to_owned()
        }
        (Verdict::Accepted, Verdict::Refused, Verdict::Refused) => {
            "this client's accepted, foreign ones and a missing one refused".to_owned()
        }
        _ => {
            let word = |verdict| match verdict {
                Verdict::Accepted => "accepted",
                Verdict::Refused => "refused",
                Verdict::NotAsked => "not asked",
            };
            format!(
                "this client's {}, a foreign one {}, a missing one {}",
                word(own),
                word(foreign),
                word(none)
            )
        }
    }
}

/// Whether the server wants to know who the client is. None if nothing is known.
pub(super) fn authentication(findings: &Findings) -> Option<String> {
    let sent = list(&findings.credentials);
    Some(match findings.authentication {
        Authentication::NotNeeded => "not needed to connect; channels may ask for more".to_owned(),
        Authentication::Accepted => {
            format!("needed: a client with {sent} is accepted, and a client without is refused")
        }
        Authentication::Ignored => format!("not needed to connect: a client without {sent} gets in, too"),
        Authentication::Untested => {
            format!("a client with {sent} is accepted; it is unknown whether one without is")
        }
        Authentication::Refused if sent.is_empty() => "needed: this client was refused".to_owned(),
        Authentication::Refused => format!("needed: this client was refused, although it sent {sent}"),
        Authentication::Unknown => return None,
    })
}

/// `a, b and c`.
fn list(names: &[String]) -> String {
    match names {
        [] => String::new(),
        [name] => name.clone(),
        [names @ .., last] => format!("{} and {last}", names.join(", ")),
    }
}

/// The signs of life.
pub(super) fn ping(ping: &Ping) -> String {
    let (one, several) = match ping.source {
        PingSource::Message => ("message of the protocol", "messages of the protocol"),
        PingSource::Frame => ("WebSocket ping", "WebSocket pings"),
    };
    match (ping.seconds, ping.is_announced) {
        (Some(seconds), true) => format!("announced: every {seconds} s, {several}"),
        (Some(seconds), false) => format!("every {seconds:.1} s, {several}"),
        (None, _) => format!("one {one} while this command listened"),
    }
}

/// What a person does next, the most useful first.
pub(super) fn next_steps(findings: &Findings, header_names: &[String]) -> Vec<String> {
    let url = quoted(&findings.url);
    let advice = |found: &Problem| match found {
        Problem::Unauthorized { .. } if !findings.credentials.is_empty() => format!(
            "check {}: it may have expired, or belong to another server",
            list(&findings.credentials)
        ),
        _ => problem(found).1,
    };
    let mut steps: Vec<String> = findings.problems.iter().map(advice).collect();
    let is_open = findings.kind.is_websocket() && findings.authentication != Authentication::Refused;
    if is_open {
        let channel = if findings.kind.is_cable() {
            " --channel ChatChannel"
        } else {
            ""
        };
        let headers = if header_names.is_empty() { "" } else { " -H …" };
        steps.push(format!(
            "plimsoll probe {url} --write chat.js{channel}{headers}    writes a script"
        ));
        steps.push(format!(
            "{}    finds the number of users that the server carries",
            line_command(header_names)
        ));
    }
    match findings.kind {
        Kind::Echo => steps.push(format!("plimsoll bench echo {url}    measures round trips")),
        Kind::Http if findings.problems.is_empty() => {
            let url = quoted(&findings.url.replacen("ws", "http", 1));
            steps.push(format!(
                "plimsoll bench http {url} -n 1000 -c 10    measures requests"
            ));
        }
        Kind::Grpc => steps.push(format!("plimsoll probe {url} --write rpc.js    writes a script")),
        Kind::Sse => {
            steps.push("scripts have no client for event streams; curl -N shows the stream".to_owned());
        }
        _ => {}
    }
    steps
}

fn line_command(header_names: &[String]) -> String {
    let variables: String = header_names
        .iter()
        .map(|name| format!(" -e {}=…", script::variable(name)))
        .collect();
    format!("plimsoll line chat.js{variables} --slo 'checks rate>0.99'")
}

/// The command that runs the script.
pub(super) fn run_command(path: &Path, header_names: &[String]) -> String {
    let variables: String = header_names
        .iter()
        .map(|name| format!("-e {}=… ", script::variable(name)))
        .collect();
    format!("plimsoll run {variables}{}", quoted(&path.display().to_string()))
}

/// A word for the shell.
pub(crate) fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./:@".contains(c);
    if word.chars().all(is_plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}

#[cfg(test)]
mod tests;
