//! A load test for the server that was found: a k6 script that runs unchanged.
//!
//! Values of header fields are often secrets, so the script takes them from variables; [`variable`] names them.

use serde_json::{Value, json};

use crate::{Findings, Kind};

/// What a person adds to the findings.
#[derive(Debug, Clone, Default)]
pub struct Parameters {
    /// The channel of Action Cable and Pusher, or the topic of Phoenix. Empty for none.
    pub channel: String,
    /// The channel's parameters, a JSON object.
    pub parameters: Option<Value>,
    /// The names of the header fields that the client sends.
    pub header_names: Vec<String>,
    /// The client's `Origin`, if it is not the URL's own.
    pub origin: Option<String>,
}

const HEAD: &str = include_str!("script/head.js");

/// The script. None if the engine has no client for this kind of server.
pub fn write(findings: &Findings, parameters: &Parameters) -> Option<String> {
    let body = match findings.kind {
        Kind::ActionCable | Kind::Anycable => include_str!("script/cable.js"),
        Kind::SocketIo => include_str!("script/socket-io.js"),
        Kind::Phoenix => include_str!("script/phoenix.js"),
        Kind::Pusher => include_str!("script/pusher.js"),
        Kind::Echo => include_str!("script/echo.js"),
        Kind::Websocket => include_str!("script/websocket.js"),
        Kind::Http => include_str!("script/http.js"),
        Kind::Grpc => include_str!("script/grpc.js"),
        Kind::Sse | Kind::Unknown | Kind::Nothing => return None,
    };
    let url = match findings.kind {
        // `ws` becomes `http`, and `wss` becomes `https`.
        Kind::Http => findings.url.replacen("ws", "http", 1),
        _ => findings.url.clone(),
    };
    let is_verified = findings.tls.as_ref().is_none_or(|tls| tls.is_verified);
    let tls = if is_verified {
        ""
    } else {
        "\n  // The certificate was not accepted, or not verified.\n  insecureSkipTLSVerify: true,"
    };
    // The URL comes last, because it may contain any text.
    let script = body
        .replacen("%HEAD%", HEAD, 1)
        .replacen("%TLS%", tls, 1)
        .replacen("%HEADERS%", &headers(findings, parameters), 1)
        .replacen(
            "%PARAMETERS%",
            &in_script(parameters.parameters.as_ref().unwrap_or(&json!({}))),
            1,
        )
        .replacen("%CHANNEL%", &in_script(&json!(parameters.channel)), 1)
        .replacen("%URL%", &in_script(&json!(url)), 1);
    Some(script)
}

/// The variable for the value of a header field: `HEADER_COOKIE` for `Cookie`.
pub fn variable(header_name: &str) -> String {
    let name = header_name.to_ascii_uppercase();
    format!(
        "HEADER_{}",
        name.replace(|c: char| !c.is_ascii_alphanumeric(), "_")
    )
}

fn headers(findings: &Findings, parameters: &Parameters) -> String {
    let agreed = findings
        .sub_protocols
        .iter()
        .flat_map(|found| found.agreed.iter());
    let protocol = agreed
        .map(String::as_str)
        .next()
        .filter(|_| !findings.kind.is_cable());
    let fixed = [
        ("Origin", parameters.origin.as_deref()),
        ("Sec-WebSocket-Protocol", protocol),
    ];
    let fixed = fixed
        .into_iter()
        .filter_map(|(name, value)| Some((name, in_script(&json!(value?)))));
    let fixed = fixed.map(|(name, value)| format!("  {}: {value},\n", in_script(&json!(name))));
    let secret = parameters.header_names.iter().map(|name| {
        let variable = variable(name);
        format!("  {}: __ENV.{variable} || \"\",\n", in_script(&json!(name)))
    });
    let fields: String = fixed.chain(secret).collect();
    if fields.is_empty() {
        "const HEADERS = {};\n".to_owned()
    } else {
        format!("const HEADERS = {{\n{fields}}};\n")
    }
}

/// JSON is JavaScript, and is not confused with a placeholder.
fn in_script(value: &Value) -> String {
    value.to_string().replace('%', "\\u0025")
}

#[cfg(test)]
mod tests;
