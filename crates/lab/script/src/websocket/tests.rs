//! What `k6/ws` and `k6/websockets` do alike: what came before the end of a connection is answered before it.

use super::test_server::TestServer;
use crate::tests::{Trial, program};

/// A module with a script that connects to `URL`, gives texts to `HANDLER`, which may `answer`, and throws what it has logged.
struct Module {
    script: &'static str,
    /// What it tells of a connection that broke the protocol.
    broken: &'static str,
    /// The same, when the script has said Close already.
    broken_after_close: &'static str,
}

const MODULES: [Module; 2] = [
    Module {
        script: "import ws from 'k6/ws'; import { sleep } from 'k6';
            export default function () {
              const log = [];
              ws.connect('URL', (socket) => {
                const answer = (text) => { if (text.length < 9) log.push(text); socket.send(text) };
                socket.on('message', HANDLER);
                socket.on('error', (error) => log.push(error.error()));
                socket.on('close', (code) => log.push('close ' + code));
              });
              throw log.join(' | ');
            }",
        broken: "websocket: protocol violation by the server: WHAT | close 1001",
        broken_after_close: "close 3001",
    },
    Module {
        script: "import { WebSocket } from 'k6/websockets'; import { sleep } from 'k6';
            export default async function () {
              const log = [], socket = new WebSocket('URL'), handler = HANDLER;
              function answer(text) { if (text.length < 9) log.push(text); socket.send(text) }
              socket.onmessage = ({ data }) => handler(data);
              socket.onerror = ({ error }) => log.push(error);
              await new Promise((resolve) => {
                socket.onclose = ({ code }) => { log.push('close ' + code); resolve() };
              });
              throw log.join(' | ');
            }",
        broken: "websocket: protocol violation by the server: WHAT | close undefined",
        broken_after_close: "websocket: protocol violation by the server: WHAT | close undefined",
    },
];

const ONE: &str = r#"Text("one")"#;
const TWO: &str = r#"Text("two")"#;
const RESERVED: &str = "opcode 3 is reserved";

impl Module {
    /// `told` is what the script has logged, `said` what the server has got.
    async fn check(&self, path: &str, handler: &str, told: &str, said: &[&str]) {
        let server = TestServer::start().await;
        let script = self.script.replace("URL", &server.url(path));
        let mut trial = Trial::new(program(&script.replace("HANDLER", handler)));
        let thrown = trial.iterate(1).await.expect_err(path);
        assert_eq!(thrown.to_string(), told, "{path}, {handler}");
        assert_eq!(server.all_said().await, said, "{path}, {handler}");
    }
}

#[tokio::test(flavor = "local", start_paused = true)]
async fn what_came_before_the_end_is_answered_before_it() {
    for module in MODULES {
        for handler in [
            "(text) => answer(text)",
            "(text) => { sleep(0.01); answer(text) }",
            "async (text) => { await null; await null; answer(text) }",
        ] {
            let broken = |what| module.broken.replace("WHAT", what);
            for (path, told, close) in [
                ("/behind/close", "close 1000".to_owned(), "Close 1000"),
                ("/behind/violation", broken(RESERVED), "Close 1002"),
                (
                    "/behind/text",
                    broken("the text is not valid UTF-8"),
                    "Close 1007",
                ),
            ] {
                let told = format!("one | two | {told}");
                module
                    .check(path, handler, &told, &[ONE, TWO, close, "end"])
                    .await;
            }
        }
    }
}

#[tokio::test(flavor = "local", start_paused = true)]
async fn an_end_that_comes_while_the_script_answers_waits_for_it() {
    for module in MODULES {
        let handler = "(text) => { socket.ping(); sleep(0.1); answer(text) }";
        let said = ["Ping([48])", ONE, "Close 1000", "end"];
        module
            .check("/behind/ping", handler, "one | close 1000", &said)
            .await;
        let said = ["4194304 bytes", "Close 1000", "end"];
        let handler = "(text) => answer(text)";
        module.check("/behind/large", handler, "close 1000", &said).await;
        let handler = "(text) => { answer(text); socket.close(3001) }";
        let told = format!("one | {}", module.broken_after_close.replace("WHAT", RESERVED));
        let said = [ONE, "Close 3001", "end"];
        module.check("/behind/violation", handler, &told, &said).await;
    }
}
