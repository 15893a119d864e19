//! Subscribed clients, held by this process: as little client as the cable protocol allows.
//!
//! Written without our own protocol crates: the count of connections that a figure is divided by must not depend on
//! code of the server.

use std::{
    io::{self, Read, Write},
    net::{SocketAddr, TcpStream},
    os::fd::{AsFd, BorrowedFd},
    time::Duration,
};

use serde_json::json;

/// Everything a client waits for comes within a few seconds, the first ping latest of all.
const PATIENCE: Duration = Duration::from_secs(30);

/// What clients ask for.
#[derive(Clone, Copy)]
pub(super) struct Wish {
    /// The sub-protocol that they offer.
    pub(super) protocol: &'static str,
    /// The identifier of their subscription.
    pub(super) identifier: &'static str,
}

/// The benchmark application's channel, in the base protocol.
pub(super) const BASE: Wish = Wish {
    protocol: "actioncable-v1-json",
    identifier: r#"{"channel":"BenchmarkChannel"}"#,
};

impl Wish {
    /// Any 16 bytes in base64 will do as a key (RFC 6455, section 4.1).
    fn upgrade(self) -> String {
        format!(
            "GET /cable HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\
             Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\
             Sec-WebSocket-Protocol: {}\r\n\r\n",
            self.protocol
        )
    }

    fn subscribe(self) -> String {
        json!({ "command": "subscribe", "identifier": self.identifier }).to_string()
    }
}

/// One subscribed client.
pub(super) struct Member {
    stream: TcpStream,
    /// Received and not yet looked at.
    received: Vec<u8>,
}

/// Connects and subscribes `n` clients of the benchmark application, one after the other.
pub(super) fn gather(address: SocketAddr, n: usize) -> io::Result<Vec<Member>> {
    gather_as(address, n, BASE)
}

/// The same with this wish.
pub(super) fn gather_as(address: SocketAddr, n: usize, wish: Wish) -> io::Result<Vec<Member>> {
    (0..n).map(|_| Member::with_wish(address, wish)).collect()
}

impl Member {
    pub(super) fn subscribe(address: SocketAddr) -> io::Result<Self> {
        Self::with_wish(address, BASE)
    }

    fn with_wish(address: SocketAddr, wish: Wish) -> io::Result<Self> {
        let stream = TcpStream::connect(address)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        let mut member = Self {
            stream,
            received: Vec::new(),
        };
        member.stream.write_all(wish.upgrade().as_bytes())?;
        member.wait_for_head()?;
        member.wait_for(r#""type":"welcome""#)?;
        member.send(&wish.subscribe())?;
        member.wait_for(r#""type":"confirm_subscription""#)?;
        Ok(member)
    }

    /// Reads until a frame with `needle` has come, and returns that frame's size on the wire. Frames before it are
    /// dropped, those after it kept.
    pub(super) fn wait_for(&mut self, needle: &str) -> io::Result<usize> {
        loop {
            while let Some(Extent { header, payload }) = extent(&self.received) {
                let n_bytes = header + payload;
                let frame: Vec<u8> = self.received.drain(..n_bytes).collect();
                if contains(&frame, needle.as_bytes()) {
                    return Ok(n_bytes);
                }
            }
            self.read_more()?;
        }
    }

    /// Sends a command.
    pub(super) fn send(&mut self, command: &str) -> io::Result<()> {
        self.stream.write_all(&masked_text_frame(command))
    }

    /// Reads once, which does not wait when there is something to read, and returns the payloads of the frames that
    /// are complete.
    pub(super) fn read_frames(&mut self) -> io::Result<Vec<Vec<u8>>> {
        self.read_more()?;
        let mut payloads = Vec::new();
        while let Some(Extent { header, payload }) = extent(&self.received) {
            let frame: Vec<u8> = self.received.drain(..header + payload).collect();
            payloads.push(frame[header..].to_vec());
        }
        Ok(payloads)
    }

    fn wait_for_head(&mut self) -> io::Result<()> {
        let end_of_head = b"\r\n\r\n";
        loop {
            if let Some(at) = self
                .received
                .windows(end_of_head.len())
                .position(|bytes| bytes == end_of_head)
            {
                self.received.drain(..at + end_of_head.len());
                return Ok(());
            }
            self.read_more()?;
        }
    }

    fn read_more(&mut self) -> io::Result<()> {
        let mut buffer = [0; 4096];
        match self.stream.read(&mut buffer)? {
            0 => Err(io::ErrorKind::UnexpectedEof.into()),
            n => {
                self.received.extend_from_slice(&buffer[..n]);
                Ok(())
            }
        }
    }
}

/// Lets a poller wait for what the server sends.
impl AsFd for Member {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.stream.as_fd()
    }
}

/// Sizes of the two parts of a frame.
#[derive(Debug, PartialEq, Eq)]
struct Extent {
    header: usize,
    payload: usize,
}

/// The whole unmasked frame at the start of `bytes`; `None` while a part of it is missing (RFC 6455, 5.2).
fn extent(bytes: &[u8]) -> Option<Extent> {
    let (header, payload) = match *bytes.get(1)? {
        126 => (
            4,
            usize::from(u16::from_be_bytes([*bytes.get(2)?, *bytes.get(3)?])),
        ),
        short => (2, usize::from(short)),
    };
    (bytes.len() >= header + payload).then_some(Extent { header, payload })
}

/// A text frame. Its mask key is zero, which leaves the payload readable and is a valid key.
fn masked_text_frame(text: &str) -> Vec<u8> {
    let length = u16::try_from(text.len()).expect("commands are short");
    let mut frame = vec![0x81];
    match u8::try_from(length) {
        Ok(short) if short < 126 => frame.push(0x80 | short),
        _ => {
            frame.push(0x80 | 126);
            frame.extend_from_slice(&length.to_be_bytes());
        }
    }
    frame.extend_from_slice(&[0; 4]);
    frame.extend_from_slice(text.as_bytes());
    frame
}

pub(super) fn contains(bytes: &[u8], needle: &[u8]) -> bool {
    bytes.windows(needle.len()).any(|window| window == needle)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_are_measured_with_their_header() {
        for (bytes, expected) in [
            (&b""[..], None),
            (b"\x81", None),
            (b"\x81\x02a", None),
            (b"\x81\x02abc", Some((2, 2))),
            (b"\x81\x7e\x00", None),
            (b"\x81\x7e\x00\x03abc", Some((4, 3))),
        ] {
            let expected = expected.map(|(header, payload)| Extent { header, payload });
            assert_eq!(extent(bytes), expected, "{bytes:?}");
        }
    }

    #[test]
    fn commands_have_the_shortest_header() {
        assert_eq!(masked_text_frame("hi"), b"\x81\x82\0\0\0\0hi");
        for (length, header) in [(125, &[0x81, 0x80 | 125][..]), (126, &[0x81, 0x80 | 126, 0, 126])] {
            assert!(
                masked_text_frame(&"x".repeat(length)).starts_with(header),
                "{length}"
            );
        }
    }
}
