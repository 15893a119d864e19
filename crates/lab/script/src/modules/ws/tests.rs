//! Scripts with `k6/ws` against a server on a real socket.

use std::time::Duration;

use plimsoll_load::metrics::Value;
use serde_json::json;

use crate::{
    tests::{Trial, program},
    websocket::test_server::TestServer,
};

/// What came of a script.
struct Seen {
    server: TestServer,
    trial: Trial,
    /// What it has logged, and what it has thrown.
    log: String,
}

/// Runs one iteration of `body`, in which `at(path)` is a URL of the server. The log that it returns omits the server's
/// address.
async fn run(body: &str, options: &serde_json::Value) -> Seen {
    run_watching(body, options, &[]).await
}

/// The same, with samples of these tags counted apart.
async fn run_watching(body: &str, options: &serde_json::Value, parts: &[(&str, &[(&str, &str)])]) -> Seen {
    let server = TestServer::start().await;
    let at = server.url("");
    let text = format!(
        "import ws from 'k6/ws'; import {{ sleep }} from 'k6'; import http from 'k6/http';
         const at = (path) => '{at}' + path;
         export default function () {{
           const log = [];
           try {{ {body} }} catch (e) {{ log.push('thrown ' + e) }}
           throw log.join(' | ')
         }}"
    );
    let mut trial = Trial::with_options(program(&text), options);
    trial.watch(parts);
    let error = trial.iterate(1).await.expect_err(body);
    let log = error.to_string().replace(&at, "ws://server");
    Seen { server, trial, log }
}

async fn check(body: &str, expected: &str) {
    assert_eq!(run(body, &json!({})).await.log, expected, "{body}");
}

/// All that a socket tells at the given path, then the answer of `connect`.
async fn check_events(path: &str, setup: &str, expected: &str) {
    let body = format!(
        "const answer = ws.connect(at('{path}'), (socket) => {{
           log.push('callback');
           for (const event of ['open', 'message', 'binaryMessage', 'ping', 'pong', 'close', 'error', 'nonsense']) {{
             socket.on(event, (value) => log.push(event + (value === undefined ? '' :
               value.error ? ' ' + value.error() : value.byteLength ? ' ' + value.byteLength + ' bytes' : ' ' + value)));
           }}
           {setup}
         }});
         log.push(answer.status);"
    );
    check(&body, expected).await;
}

#[tokio::test(flavor = "local", start_paused = true)]
async fn a_session_goes_through_its_events_in_order() {
    let setup = "socket.on('open', () => {
          socket.send('hi'); socket.sendBinary(new Uint8Array([1, 2]).buffer); socket.ping(); socket.send(5);
        });
        socket.on('message', 'no function');
        socket.on('message', (text) => { if (text === '5') { socket.close(); log.push('after') } });";
    let expected =
        "callback | open | message hi | binaryMessage 2 bytes | pong | message 5 | close 1001 | after | 101";
    check_events("/echo", setup, expected).await;
    let setup = "socket.setTimeout(() => socket.close(3002), 20);";
    check_events("/ping", setup, "callback | open | ping | close 3002 | 101").await;
}

#[tokio::test(flavor = "local", start_paused = true)]
async fn endings_are_told_as_in_k6() {
    let check = async |path, ending: &str| {
        check_events(path, "", &format!("callback | open | {ending} | 101")).await;
    };
    check("/close/1000", "close 1000").await;
    check("/close/1001", "close 1001").await;
    let told = "error websocket: close 1002 (protocol error): why | close 1002";
    check("/close/1002", told).await;
    check("/close/3001", "error websocket: close 3001: why | close 3001").await;
    check("/close", "error websocket: close 1005 (no status) | close 1005").await;
    let told = "error websocket: close 1006 (abnormal closure): unexpected EOF | close 1006";
    check("/eof", told).await;
}

#[tokio::test(flavor = "local", start_paused = true)]
async fn an_exception_ends_the_session_behind_the_answers() {
    let body = "ws.connect(at('/behind/close'), (socket) => {
          socket.on('message', (text) => { socket.send(text); throw 'no more' });
          socket.on('close', (code) => log.push('close ' + code));
        });";
    let seen = run(body, &json!({})).await;
    assert_eq!(seen.log, "close 1001 | thrown no more");
    assert_eq!(
        seen.server.all_said().await,
        [r#"Text("one")"#, "Close 1001", "end"]
    );
}

#[tokio::test(flavor = "local", start_paused = true)]
async fn connect_tells_what_the_server_answered() {
    let tell =
        |url: &str| format!("log.push(JSON.stringify(ws.connect({url}, null, () => log.push('never'))))");
    let refused = r#"{"url":"","status":403,"headers":{"X-A":"1, 2","Content-Length":"8"},"body":"no entry","error":""}"#;
    check(&tell("at('/refuse')"), refused).await;
    let nobody = r#"{"url":"","status":0,"headers":{},"body":"","error":"dial tcp 127.0.0.1:1: Connection refused (os error 111)"}"#;
    check(&tell("'ws://127.0.0.1:1/'"), nobody).await;
    check(
        "const { error } = ws.connect('http://a/', () => {}); log.push(error)",
        r#""http://a/" has the scheme "http"; expected ws or wss, for example ws://127.0.0.1:8080/cable"#,
    )
    .await;
    check(
        "const { url, status, headers } = ws.connect(at('/echo'), (socket) => socket.on('open', () => socket.close()));
         log.push(url, status, headers.Upgrade, headers['Sec-Websocket-Accept'].length)",
        "ws://server/echo | 101 | websocket | 28",
    )
    .await;
}

#[tokio::test(flavor = "local", start_paused = true)]
async fn with_the_option_throw_failures_are_thrown() {
    let body = "ws.connect(at('/refuse'), () => {})";
    let seen = run(body, &json!({ "throw": true })).await;
    assert_eq!(seen.log, "thrown Error: websocket: bad handshake");
}

#[tokio::test(flavor = "local", start_paused = true)]
async fn params_reach_the_server() {
    let body = "ws.connect(at('/echo?a=1'), {
          headers: { 'X-Own': 5, Host: 'app.test', Origin: 'http://o', 'Sec-WebSocket-Protocol': 'one, two' },
          compression: 'deflate', unknown: 1,
        }, (socket) => {
          socket.on('message', (text) => { log.push(text.length); socket.close() });
          socket.on('open', () => socket.send('x'.repeat(1000)));
        })";
    let seen = run(body, &json!({ "userAgent": "tester" })).await;
    assert_eq!(seen.log, "1000");
    let request = &seen.server.log()[0];
    for line in [
        "GET /echo?a=1 HTTP/1.1\r\nHost: app.test\r\n",
        "\r\nX-Own: 5\r\n",
        "\r\nOrigin: http://o\r\n",
        "\r\nSec-WebSocket-Protocol: one, two\r\n",
        "\r\nSec-WebSocket-Extensions: permessage-deflate; ",
        "\r\nUser-Agent: tester\r\n",
    ] {
        assert!(request.contains(line), "{line:?} not in {request}");
    }
}

#[tokio::test(flavor = "local", start_paused = true)]
async fn cookies_of_the_user_reach_the_server_and_come_back() {
    let body = "const web = (path) => at(path).replace('ws://', 'http://');
        http.cookieJar().set(web('/'), 'uid', '7');
        http.cookieJar().set('http://other.test/', 'uid', '8');
        const own = new http.CookieJar();
        own.set(web('/'), 'own', '1');
        const bye = (socket) => socket.on('open', () => socket.close());
        ws.connect(at('/cookie'), bye);
        ws.connect(at('/echo'), bye);
        ws.connect(at('/echo'), { jar: own }, bye);
        ws.connect(at('/echo'), { headers: { cookie: 'mine=1' } }, bye);
        log.push(JSON.stringify(http.cookieJar().cookiesForURL(web('/'))))";
    let seen = run(body, &json!({})).await;
    assert_eq!(seen.log, r#"{"uid":["7"],"seen":["yes"]}"#);
    let requests = seen.server.log();
    let cookies: Vec<_> = requests
        .iter()
        .flat_map(|request| request.lines())
        .filter_map(|line| line.split_once(": "))
        .filter(|(name, _)| name.eq_ignore_ascii_case("cookie"))
        .map(|(_, value)| value)
        .collect();
    assert_eq!(cookies, ["uid=7", "uid=7; seen=yes", "own=1", "mine=1"]);
}

#[tokio::test(flavor = "local", start_paused = true)]
async fn mistakes_are_told() {
    let form = "; expected ws.connect(url, [params], callback), for example \
                ws.connect('ws://localhost:8080/ws', function (socket) { … })";
    let wrong = |what: &str| format!("thrown TypeError: {what}{form}");
    check(
        "ws.connect()",
        &wrong("invalid number of arguments to ws.connect"),
    )
    .await;
    check(
        "ws.connect('ws://a', {})",
        &wrong("last argument to ws.connect must be a function"),
    )
    .await;
    check(
        "ws.connect('ws://a', { compression: 'gzip' }, () => {})",
        "thrown Error: unsupported compression algorithm 'gzip', supported algorithm is 'deflate'",
    )
    .await;
    check(
        "ws.connect('ws://a', { tags: { a: {} } }, () => {})",
        "thrown TypeError: the tag `a` is object; expected a string, a number or a boolean",
    )
    .await;
    let in_callback = async |call: &str, expected: &str| {
        let body = format!(
            "ws.connect(at('/echo'), (socket) => {{ try {{ {call} }} catch (e) {{ log.push(e) }} socket.close() }})"
        );
        check(&body, expected).await;
    };
    in_callback(
        "socket.sendBinary()",
        "TypeError: missing argument, expected ArrayBuffer",
    )
    .await;
    in_callback(
        "socket.sendBinary('x')",
        "TypeError: expected ArrayBuffer as argument, received: string; text goes out with send()",
    )
    .await;
    in_callback(
        "socket.setTimeout(() => {}, 0)",
        "Error: setTimeout requires a >0 timeout parameter, received 0.00",
    )
    .await;
    in_callback(
        "socket.setInterval(() => {}, -1)",
        "Error: setInterval requires a >0 timeout parameter, received -1.00",
    )
    .await;
    in_callback(
        "socket.close(1006)",
        "RangeError: the close code must be a number that may be sent: 1000 to 1003, 1007 to 1014 or 3000 to 4999",
    )
    .await;
}

#[tokio::test(flavor = "local", start_paused = true)]
async fn exceptions_end_the_session() {
    let told = "socket.on('close', (code) => log.push('close ' + code));";
    let throwing = |part: &str| format!("ws.connect(at('/echo'), (socket) => {{ {told} {part} }})");
    check(&throwing("throw new Error('callback')"), "thrown Error: callback").await;
    let part = "socket.on('open', () => { throw new Error('handler') })";
    check(&throwing(part), "close 1001 | thrown Error: handler").await;
    let part = "socket.setTimeout(() => { throw new Error('timer') }, 5)";
    check(&throwing(part), "close 1001 | thrown Error: timer").await;
    let part = "socket.on('open', () => { throw new Error('first') }); socket.on('close', () => { throw new Error('second') })";
    check(&throwing(part), "close 1001 | thrown Error: first").await;
}

#[tokio::test(flavor = "local", start_paused = true)]
async fn timers_run_until_the_session_ends() {
    check(
        "ws.connect(at('/echo'), (socket) => {
           socket.setInterval(() => { log.push('tick'); if (log.length === 4) socket.close() }, 5);
           socket.setTimeout(() => log.push('once'), 1);
           socket.setTimeout(() => log.push('never'), 3600e3);
         })",
        "once | tick | tick | tick",
    )
    .await;
}

#[tokio::test(flavor = "local", start_paused = true)]
async fn promises_and_timers_of_the_script_go_on_meanwhile() {
    check(
        "const later = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
         ws.connect(at('/echo'), (socket) => {
           socket.on('open', async () => { log.push('a'); await null; log.push('b'); await later(5); socket.send('c') });
           socket.on('message', async (text) => { log.push(text); await later(1); socket.close() });
         });
         log.push('d')",
        "a | b | c | d",
    )
    .await;
}

/// On the real clock: round trips of pings are measured by it, so a sleep that takes no time would prove nothing.
#[tokio::test(flavor = "local")]
async fn the_socket_is_read_while_the_script_sleeps() {
    let body = "ws.connect(at('/ping'), (socket) => {
          socket.on('open', () => { socket.ping(); socket.send('x'); sleep(0.2) });
          socket.on('message', () => socket.close());
        })";
    let seen = run(body, &json!({})).await;
    let log = seen.server.log();
    assert_eq!(
        log[1..3],
        ["Pong([120])", "Ping([48])"],
        "the server's ping was answered"
    );
    let recorded = seen.trial.recorder.take();
    let ping = recorded.iter().find_map(|(definition, value)| match value {
        Value::Trend(histogram) if definition.name == "ws_ping" => Some(histogram.max()),
        _ => None,
    });
    assert!(
        ping.unwrap() < Duration::from_millis(200),
        "{ping:?}: the sleep is not a part of it"
    );
}

#[tokio::test(flavor = "local", start_paused = true)]
async fn a_flood_comes_through_whole() {
    check(
        "let n = 0, sum = 0;
         ws.connect(at('/flood/30000'), (socket) => {
           socket.on('open', () => sleep(0.05));
           socket.on('message', (text) => { sum += Number(text); if (++n === 30000) socket.close() });
         });
         log.push(n, sum === 30000 * 29999 / 2)",
        "30000 | true",
    )
    .await;
}

#[tokio::test(flavor = "local", start_paused = true)]
async fn large_messages_are_sent_whole_before_the_close() {
    let body = "ws.connect(at('/echo'), (socket) => {
          socket.on('open', () => socket.send('x'.repeat(5e6)));
          socket.on('message', (text) => { log.push(text.length); socket.sendBinary(new ArrayBuffer(3e6)) });
          socket.on('binaryMessage', (data) => { log.push(data.byteLength); socket.close() });
        })";
    check(body, "5000000 | 3000000").await;
}

#[tokio::test(flavor = "local", start_paused = true)]
async fn sessions_are_measured() {
    let body = "ws.connect(at('/echo'), { tags: { own: 'x' } }, (socket) => {
          socket.on('open', () => { socket.send('a'); socket.ping(); socket.send('b') });
          socket.on('message', (text) => { if (text === 'b') socket.close() });
        });
        ws.connect(at('/refuse'), () => {})";
    let parts: [(&str, &[(&str, &str)]); 4] = [
        ("ws_sessions", &[("status", "101"), ("own", "x"), ("group", "")]),
        ("ws_sessions", &[("status", "403"), ("subproto", "")]),
        ("ws_msgs_sent", &[("name", "any")]),
        ("data_sent", &[("status", "101")]),
    ];
    let recorded = run_watching(body, &json!({}), &parts).await.trial.recorded();
    let data: Vec<_> = recorded.iter().filter(|one| one.starts_with("data_")).collect();
    let others: Vec<_> = recorded.iter().filter(|one| !one.starts_with("data_")).collect();
    assert_eq!(
        others,
        [
            "ws_sessions=2",
            "ws_connecting=#2",
            "ws_session_duration=#2",
            "ws_msgs_sent=2",
            "ws_msgs_received=2",
            "ws_ping=#1",
            "ws_sessions{group:,own:x,status:101}=1",
            "ws_sessions{status:403,subproto:}=1",
        ]
    );
    assert_eq!(data.len(), 2, "{data:?}");
}

#[tokio::test(flavor = "local", start_paused = true)]
async fn the_init_context_has_no_sockets() {
    let text = "import ws from 'k6/ws'; ws.connect('ws://a', () => {}); export default () => {}";
    crate::tests::check_refusal(text, "ws.connect() does not work in the init context");
}
