//! An HTTP server that holds each answer for the same time.

use std::{
    io::{self, Read, Write},
    net::{SocketAddr, TcpListener, TcpStream},
    thread,
    time::Duration,
};

/// The end of a request without a body.
const END: &[u8] = b"\r\n\r\n";

const ANSWER: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

/// A server that runs for as long as this program does. It has one thread per connection, which ends with it.
pub(super) struct Target {
    address: SocketAddr,
}

impl Target {
    /// Listens on a free port; each answer is held for this long.
    pub(super) fn start(held: Duration) -> io::Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", 0))?;
        let address = listener.local_addr()?;
        thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                thread::spawn(move || serve(stream, held));
            }
        });
        Ok(Self { address })
    }

    pub(super) fn address(&self) -> SocketAddr {
        self.address
    }
}

/// Answers one request after the other, until the client leaves.
#[expect(
    clippy::disallowed_methods,
    reason = "to hold an answer is what this thread is for, and it has one connection only"
)]
fn serve(mut stream: TcpStream, held: Duration) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let mut received = Vec::new();
    let mut buffer = [0; 4096];
    loop {
        let n = stream.read(&mut buffer)?;
        if n == 0 {
            return Ok(());
        }
        received.extend_from_slice(&buffer[..n]);
        while let Some(at) = received.windows(END.len()).position(|bytes| bytes == END) {
            received.drain(..at + END.len());
            thread::sleep(held);
            stream.write_all(ANSWER)?;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::*;

    #[test]
    fn each_answer_is_held() {
        let held = Duration::from_millis(30);
        let mut stream = TcpStream::connect(Target::start(held).unwrap().address()).unwrap();
        for _ in 0..2 {
            let sent = Instant::now();
            stream.write_all(b"GET / HTTP/1.1\r\nHost: h\r\n\r\n").unwrap();
            let mut answer = [0; ANSWER.len()];
            stream.read_exact(&mut answer).unwrap();
            assert_eq!(answer, ANSWER);
            assert!(sent.elapsed() >= held);
        }
    }
}
