//! A server with a few routes, for scripts.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use serde_json::{Map, json};
use tokio::{
    io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader},
    net::{TcpListener, TcpStream},
};

/// It serves until the test ends.
pub(super) struct Server {
    /// `http://127.0.0.1:port`.
    pub(super) base: String,
    n_connections: Arc<AtomicUsize>,
}

struct Request {
    method: String,
    path: String,
    headers: Map<String, serde_json::Value>,
    body: Vec<u8>,
}

impl Server {
    pub(super) async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let base = format!("http://{}", listener.local_addr().unwrap());
        let n_connections = Arc::new(AtomicUsize::new(0));
        let counter = Arc::clone(&n_connections);
        tokio::spawn(async move {
            loop {
                let (stream, _) = listener.accept().await.unwrap();
                counter.fetch_add(1, Ordering::Relaxed);
                tokio::spawn(serve(stream));
            }
        });
        Self { base, n_connections }
    }

    /// A script in which `BASE` stands for the server.
    pub(super) fn script(&self, text: &str) -> String {
        text.replace("BASE", &self.base)
    }

    pub(super) fn n_connections(&self) -> usize {
        self.n_connections.load(Ordering::Relaxed)
    }
}

async fn serve(stream: TcpStream) {
    let mut stream = BufReader::new(stream);
    while let Some(request) = read(&mut stream).await {
        if request.path == "/slow" {
            // No answer, until the client leaves.
            let _ = stream.read(&mut [0]).await;
            return;
        }
        let answer = answer(&request);
        stream.write_all(&answer).await.unwrap();
    }
}

/// `None` at the end of the connection.
async fn read(stream: &mut BufReader<TcpStream>) -> Option<Request> {
    let mut lines = Vec::new();
    loop {
        let mut line = String::new();
        if stream.read_line(&mut line).await.ok()? == 0 {
            return None;
        }
        let line = line.trim_end().to_owned();
        if line.is_empty() {
            break;
        }
        lines.push(line);
    }
    let headers: Map<_, _> = lines[1..]
        .iter()
        .filter_map(|line| line.split_once(": "))
        .map(|(name, value)| (name.to_ascii_lowercase(), value.into()))
        .collect();
    let length = headers
        .get("content-length")
        .and_then(|length| length.as_str()?.parse().ok());
    let mut body = vec![0; length.unwrap_or(0)];
    stream.read_exact(&mut body).await.ok()?;
    let mut words = lines[0].split(' ').map(str::to_owned);
    Some(Request {
        method: words.next()?,
        path: words.next()?,
        headers,
        body,
    })
}

fn answer(request: &Request) -> Vec<u8> {
    let parts: Vec<_> = request.path.split('/').collect();
    let (status, fields, body) = match parts[1..] {
        ["redirect", n] => {
            let next = match n.parse::<u32>().unwrap() - 1 {
                0 => "/echo".to_owned(),
                n => format!("/redirect/{n}"),
            };
            ("302 Found", format!("Location: {next}\r\n"), Vec::new())
        }
        ["status", "404"] => ("404 Not Found", String::new(), Vec::new()),
        ["status", "500"] => ("500 Internal Server Error", String::new(), Vec::new()),
        ["switch"] => ("101 Switching Protocols", String::new(), Vec::new()),
        ["status", "204"] => ("204 No Content", String::new(), Vec::new()),
        ["cookie"] => (
            "200 OK",
            "Set-Cookie: sid=1; Path=/; HttpOnly\r\n".to_owned(),
            Vec::new(),
        ),
        ["page"] => {
            let page = "<title>Room</title><div id=messages><turbo-cable-stream-source channel=C></turbo-cable-stream-source>\
                        </div><form action=/say method=post><input name=text value=old><input name=a value=1><input name=a \
                        value=2><input type=submit name=go value=Go></form><form id=search action='/find?old=1'><input name=q>\
                        </form><a name=top>Top</a><a href='redirect/1'>Next</a>";
            ("200 OK", String::new(), page.as_bytes().to_vec())
        }
        ["gzip"] => {
            let body = plimsoll_clients::http::Coding::Gzip.encode(b"hello");
            ("200 OK", "Content-Encoding: gzip\r\n".to_owned(), body)
        }
        ["gunzip"] => {
            let field = "Content-Encoding: gzip\r\n".to_owned();
            ("200 OK", field, request.body.clone())
        }
        _ => {
            let echo = json!({
                "method": request.method,
                "path": request.path,
                "headers": request.headers,
                "body": String::from_utf8_lossy(&request.body),
            });
            let fields = "x-twice: a\r\nX-Twice: b\r\n".to_owned();
            ("200 OK", fields, echo.to_string().into_bytes())
        }
    };
    let head = format!(
        "HTTP/1.1 {status}\r\n{fields}Content-Length: {}\r\n\r\n",
        body.len()
    );
    let body = if request.method == "HEAD" { &[][..] } else { &body };
    [head.as_bytes(), body].concat()
}
