//! Scripts with `k6/websockets` against a server on a real socket.

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

/// Runs one iteration of `body`, in which `at(path)` is a URL of the server, and `log` is told when all sockets that
/// were made with `open(path)` are closed.
async fn run(body: &str) -> Seen {
    let server = TestServer::start().await;
    let at = server.url("");
    let text = format!(
        "import {{ WebSocket, Blob }} from 'k6/websockets'; import {{ sleep }} from 'k6';
         const at = (path) => '{at}' + path;
         const later = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
         export default async function () {{
           const log = [], closed = [];
           const open = (path, ...more) => {{
             const socket = new WebSocket(at(path), ...more);
             closed.push(new Promise((resolve) => socket.addEventListener('close', resolve)));
             return socket;
           }};
           try {{ {body} }} catch (e) {{ log.push('thrown ' + e) }}
           await Promise.all(closed);
           throw log.join(' | ');
         }}"
    );
    let mut trial = Trial::with_options(program(&text), &json!({}));
    let error = trial.iterate(1).await.expect_err(body);
    let log = error.to_string().replace(&at, "ws://server");
    Seen { server, trial, log }
}

async fn check(body: &str, expected: &str) {
    assert_eq!(run(body).await.log, expected, "{body}");
}

/// All events of a socket at the given path, with the state at the time.
async fn check_events(path: &str, setup: &str, expected: &str) {
    let body = format!(
        "const socket = open('{path}');
         const told = (event) => {{
           const parts = [event.type, socket.readyState];
           for (const key of ['data', 'error', 'code', 'reason']) if (key in event) parts.push(event[key]);
           log.push(parts.join(' '));
         }};
         for (const type of ['open', 'message', 'ping', 'pong', 'error', 'close']) socket.addEventListener(type, told);
         {setup}"
    );
    check(&body, expected).await;
}

#[tokio::test(flavor = "local", start_paused = true)]
async fn a_socket_goes_through_its_events_in_order() {
    let setup = "log.push(socket.readyState);
        socket.onopen = () => { socket.send('hi'); socket.ping() };
        socket.onpong = () => { socket.close(3005, 'done'); log.push(socket.readyState) };";
    let expected =
        "0 | open 1 | message 1 hi | 2 | pong 2 | error 3 websocket: close 3005: done | close 3 3005 done";
    check_events("/echo", setup, expected).await;
    check_events(
        "/ping",
        "socket.onping = () => socket.close()",
        "open 1 | ping 2 | close 3 1000 ",
    )
    .await;
}

#[tokio::test(flavor = "local", start_paused = true)]
async fn endings_are_told_as_in_k6() {
    let check = async |path, ending: &str| check_events(path, "", &format!("open 1 | {ending}")).await;
    check("/close/1000", "close 3 1000 why").await;
    check("/close/1001", "close 3 1001 why").await;
    let told = "error 3 websocket: close 1002 (protocol error): why | close 3 1002 why";
    check("/close/1002", told).await;
    check(
        "/close",
        "error 3 websocket: close 1005 (no status) | close 3 1005 ",
    )
    .await;
    let told =
        "error 3 websocket: close 1006 (abnormal closure): unexpected EOF | close 3 1006 unexpected EOF";
    check("/eof", told).await;
    check_events("/refuse", "", "error 3 websocket: bad handshake | close 3 ").await;
}

#[tokio::test(flavor = "local", start_paused = true)]
async fn what_comes_with_a_close_is_told_before_it() {
    check_events("/last-words", "", "open 1 | message 1 bye | close 3 1000 why").await;
}

#[tokio::test(flavor = "local", start_paused = true)]
async fn a_close_that_is_not_answered_is_not_waited_for_for_ever() {
    let told =
        "error 3 websocket: close 1006 (abnormal closure): unexpected EOF | close 3 1006 unexpected EOF";
    let setup = "socket.onopen = () => socket.close();";
    check_events("/deaf", setup, &format!("open 2 | {told}")).await;
}

#[tokio::test(flavor = "local", start_paused = true)]
async fn a_socket_that_is_closed_before_it_is_open_never_opens() {
    check_events(
        "/echo",
        "socket.close(); log.push(socket.readyState)",
        "2 | close 3 1000 ",
    )
    .await;
}

#[tokio::test(flavor = "local", start_paused = true)]
async fn data_of_all_kinds_comes_back() {
    check(
        "const socket = open('/echo');
         const views = [new Uint8Array([1, 2, 3]).subarray(1), new ArrayBuffer(4), new Blob(['ab', new Uint8Array([99])])];
         socket.onopen = () => { for (const view of views) socket.send(view); socket.send('größe'); socket.send('') };
         socket.onmessage = async ({ data, origin, target, timestamp }) => {
           log.push(typeof data === 'string' ? data : data instanceof Blob ? 'blob ' + data.size : 'buffer ' + data.byteLength);
           if (log.length === 3) socket.binaryType = 'arraybuffer';
           if (log.length === 5) {
             log.push(origin === at('/echo'), target === socket, Math.abs(Date.now() - timestamp) < 1000, socket.bufferedAmount);
             socket.send(new Uint8Array([7]));
           }
           if (log.length === 10) socket.close();
         };",
        "blob 2 | blob 4 | blob 3 | größe |  | true | true | true | 0 | buffer 1",
    )
    .await;
}

#[tokio::test(flavor = "local", start_paused = true)]
async fn properties_tell_what_was_agreed_on() {
    check(
        "const socket = open('/echo', ['one', 'two'], { compression: 'deflate', headers: { 'X-Own': 1 } });
         log.push(socket.url, socket.protocol, socket.binaryType, JSON.stringify(socket.extensions), socket.onopen);
         socket.onopen = () => {
           log.push(socket.protocol, JSON.stringify(socket.extensions));
           log.push(socket instanceof WebSocket, WebSocket.OPEN, socket.CLOSED);
           socket.close();
         };
         log.push(typeof socket.onopen);",
        "ws://server/echo |  | blob | [] |  | function | one | [\"permessage-deflate\"] | true | 1 | 3",
    )
    .await;
}

#[tokio::test(flavor = "local", start_paused = true)]
async fn listeners_come_and_go() {
    check(
        "const socket = open('/echo');
         const gone = () => log.push('gone'), stays = () => log.push('stays');
         socket.addEventListener('open', stays);
         socket.addEventListener('open', stays);
         socket.addEventListener('open', gone);
         socket.removeEventListener('open', gone);
         socket.removeEventListener('nonsense', gone);
         socket.addEventListener('nonsense', gone);
         socket.onopen = gone;
         socket.onopen = () => log.push('property');
         socket.onclose = gone;
         socket.onclose = null;
         socket.addEventListener('open', () => socket.close());",
        "property | stays",
    )
    .await;
}

#[tokio::test(flavor = "local", start_paused = true)]
async fn mistakes_are_told() {
    let scheme = "ws or wss, for example ws://127.0.0.1:8080/cable";
    check(
        "new WebSocket()",
        "thrown Error: WebSocket requires a url, for example new WebSocket('ws://localhost:8080/cable')",
    )
    .await;
    check(
        "new WebSocket('http://a')",
        &format!("thrown Error: \"http://a\" has the scheme \"http\"; expected {scheme}"),
    )
    .await;
    check(
        "new WebSocket('ws://a/#b')",
        "thrown Error: \"ws://a/#b\" has a fragment (#…), which WebSocket URLs do \
        not allow; write # as %23 if it is data",
    )
    .await;
    check(
        "new WebSocket('ws://a', null, { foo: 1 })",
        "thrown Error: unknown WebSocket's option foo; expected headers, tags, jar or compression",
    )
    .await;
    let of_socket = async |call: &str, expected: &str| {
        let body = format!("const socket = open('/echo'); socket.onopen = () => socket.close(); {call}");
        check(&body, &format!("thrown {expected}")).await;
    };
    of_socket(
        "socket.send('x')",
        "InvalidStateError: InvalidStateError: the WebSocket is CONNECTING and not OPEN; send from its event `open` on, \
         until it is closed",
    )
    .await;
    of_socket("socket.ping()", "InvalidStateError: InvalidStateError: the WebSocket is CONNECTING and not OPEN; send from its event `open` on, until it is closed").await;
    of_socket(
        "socket.binaryType = 'x'",
        "Error: unknown binaryType x, the supported ones are \"blob\" and \"arraybuffer\"",
    )
    .await;
    of_socket(
        "socket.onclose = 5",
        "TypeError: a value for 'onclose' should be callable",
    )
    .await;
    of_socket(
        "socket.addEventListener('open', 5)",
        "TypeError: handler for event type \"open\" isn't a callable function",
    )
    .await;
    of_socket("socket.close(1001)", "RangeError: InvalidAccessError: Failed to execute 'close' on 'WebSocket': The close code must be either 1000, or between 3000 and 4999. 1001 is neither").await;
    of_socket("socket.close(3000, 'ä'.repeat(62))", "Error: SyntaxError: Failed to execute 'close' on 'WebSocket': The message must not be greater than 123 bytes").await;
    check(
        "const socket = open('/echo');
         socket.onopen = () => { for (const it of [5, null, {}]) try { socket.send(it) } catch (e) { log.push(e.message.split(';')[0]) } socket.close() }",
        "unsupported send type int | unsupported send type null | unsupported send type object",
    )
    .await;
}

#[tokio::test(flavor = "local", start_paused = true)]
async fn an_exception_in_a_listener_ends_socket_and_iteration() {
    let seen = run("const socket = open('/echo');
         socket.onerror = ({ error }) => console.log(error);
         socket.onopen = () => { throw new Error('in open') }")
    .await;
    assert_eq!(seen.log.lines().next(), Some("in open (script.js:13:44)"));
    assert!(
        seen.trial
            .recorded()
            .contains(&"ws_session_duration=#1".to_owned())
    );
}

#[tokio::test(flavor = "local", start_paused = true)]
async fn sockets_are_read_side_by_side_and_while_the_script_sleeps() {
    let seen = run("const sockets = [open('/ping'), open('/ping'), open('/echo')];
         await later(20);
         sleep(0.05);
         for (const socket of sockets) socket.close();")
    .await;
    let log = seen.server.log();
    let n_pongs = log.iter().filter(|entry| *entry == "Pong([120])").count();
    assert_eq!(n_pongs, 2, "{log:?}");
}

#[tokio::test(flavor = "local", start_paused = true)]
async fn sessions_are_measured_as_in_k6() {
    let server = TestServer::start().await;
    let text = format!(
        "import {{ WebSocket }} from 'k6/experimental/websockets';
         export default function () {{
           const socket = new WebSocket('{0}', null, {{ tags: {{ name: 'mine' }} }});
           socket.onopen = () => {{ socket.send('a'); socket.ping() }};
           socket.onpong = () => socket.close();
           new WebSocket('{1}');
         }}",
        server.url("/echo"),
        server.url("/refuse"),
    );
    let mut trial = Trial::new(program(&text));
    trial.watch(&[
        (
            "ws_sessions",
            &[("url", "mine"), ("name", "mine"), ("status", "101")],
        ),
        ("ws_sessions", &[("status", "403")]),
    ]);
    trial.iterate(1).await.unwrap();
    let recorded = trial.recorded();
    let others: Vec<_> = recorded.iter().filter(|one| !one.starts_with("data_")).collect();
    assert_eq!(
        others,
        [
            "ws_sessions=2",
            "ws_connecting=#2",
            "ws_session_duration=#1",
            "ws_msgs_sent=3",
            "ws_msgs_received=1",
            "ws_ping=#1",
            "ws_sessions{name:mine,status:101,url:mine}=1",
            "ws_sessions{status:403}=1",
        ]
    );
}

#[tokio::test(flavor = "local", start_paused = true)]
async fn blobs_are_as_in_browsers() {
    check(
        "const blob = new Blob(['hé', new Uint8Array([33]), new Blob(['q'])], { type: 'text/plain' });
         log.push(blob.size, blob.type, await blob.text(), (await blob.bytes()).length, (await blob.arrayBuffer()).byteLength);
         log.push(await blob.slice(1, -1).text(), blob.slice(-2).size, blob.slice(3, 1).size, blob.slice(0, 1, 'x/y').type, new Blob().size);
         for (const parts of ['x', [5]]) try { new Blob(parts) } catch (e) { log.push(e.message.split(';')[0]) }",
        "5 | text/plain | hé!q | 5 | 5 | é! | 2 | 0 | x/y | 0 | failed to process [blobParts]: found string | \
         failed to process [blobParts]: unsupported type: int",
    )
    .await;
}

#[tokio::test(flavor = "local", start_paused = true)]
async fn an_interrupted_session_is_measured_and_the_server_is_told() {
    let server = TestServer::start().await;
    let text = format!(
        "import {{ WebSocket }} from 'k6/websockets'; import ws from 'k6/ws';
         export default function () {{ new WebSocket('{0}'); new WebSocket('{1}'); ws.connect('{0}', () => {{}}) }}",
        server.url("/echo"),
        server.url("/silent"),
    );
    let mut trial = Trial::new(program(&text));
    let outcome = tokio::time::timeout(std::time::Duration::from_millis(100), trial.iterate(1)).await;
    assert!(outcome.is_err());
    let recorded = trial.recorded();
    for expected in ["ws_sessions=3", "ws_connecting=#3", "ws_session_duration=#2"] {
        assert!(
            recorded.contains(&expected.to_owned()),
            "{expected} in {recorded:?}"
        );
    }
    while server.log().iter().filter(|entry| *entry == "end").count() < 2 {
        tokio::task::yield_now().await;
    }
    let log = server.log();
    let closes: Vec<_> = log.iter().filter(|entry| entry.starts_with("Close")).collect();
    assert_eq!(closes.len(), 2, "{log:?}");
}

#[tokio::test(flavor = "local", start_paused = true)]
async fn what_comes_after_the_own_close_is_not_told() {
    let body = "const socket = open('/');
        socket.onopen = () => { socket.send('one'); socket.send('two'); socket.ping() };
        socket.onmessage = ({ data }) => { log.push(data); sleep(0.05); socket.close() };
        socket.onpong = () => log.push('pong');";
    check(body, "one").await;
}
