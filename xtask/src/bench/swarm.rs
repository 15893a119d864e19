//! Subscribed clients that do nothing, held by this process: as little client as the cable protocol allows.
//!
//! Written without our own protocol crates, so that the connections a figure is divided by were counted by somebody
//! who shares no code with the server.

use std::{
    io::{self, Read, Write},
    net::{SocketAddr, TcpStream},
    time::Duration,
};

/// Everything a client waits for comes within a few seconds, the first ping latest of all.
const PATIENCE: Duration = Duration::from_secs(30);

const SUBSCRIBE: &str = r#"{"command":"subscribe","identifier":"{\"channel\":\"BenchmarkChannel\"}"}"#;

/// Any 16 bytes in base64 will do (RFC 6455, section 4.1).
const UPGRADE: &str = "GET /cable HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\
     Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\
     Sec-WebSocket-Protocol: actioncable-v1-json\r\n\r\n";

/// One subscribed client.
pub(super) struct Member {
    stream: TcpStream,
    /// Received and not yet looked at.
    received: Vec<u8>,
}

/// Connects and subscribes `n` clients, one after the other.
pub(super) fn gather(address: SocketAddr, n: usize) -> io::Result<Vec<Member>> {
    (0..n).map(|_| Member::subscribe(address)).collect()
}

impl Member {
    pub(super) fn subscribe(address: SocketAddr) -> io::Result<Self> {
        let stream = TcpStream::connect(address)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        let mut member = Self {
            stream,
            received: Vec::new(),
        };
        member.stream.write_all(UPGRADE.as_bytes())?;
        member.wait_for_head()?;
        member.wait_for(r#""type":"welcome""#)?;
        member.stream.write_all(&masked_text_frame(SUBSCRIBE))?;
        member.wait_for(r#""type":"confirm_subscription""#)?;
        Ok(member)
    }

    /// Reads until a frame with `needle` has come, and returns that frame's size on the wire. Frames before it are
    /// dropped, those after it kept.
    pub(super) fn wait_for(&mut self, needle: &str) -> io::Result<usize> {
        loop {
            while let Some(n_bytes) = frame_bytes(&self.received) {
                let frame: Vec<u8> = self.received.drain(..n_bytes).collect();
                if contains(&frame, needle.as_bytes()) {
                    return Ok(n_bytes);
                }
            }
            self.read_more()?;
        }
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

/// Size of the whole unmasked frame at the start of `bytes`; `None` while a part of it is missing (RFC 6455, 5.2).
fn frame_bytes(bytes: &[u8]) -> Option<usize> {
    let (header, payload) = match *bytes.get(1)? {
        126 => (
            4,
            usize::from(u16::from_be_bytes([*bytes.get(2)?, *bytes.get(3)?])),
        ),
        short => (2, usize::from(short)),
    };
    (bytes.len() >= header + payload).then_some(header + payload)
}

/// A text frame of at most 125 bytes. Its mask key is zero, which leaves the payload readable and is a valid key.
fn masked_text_frame(text: &str) -> Vec<u8> {
    let length = u8::try_from(text.len()).expect("commands of this file are short");
    let mut frame = vec![0x81, 0x80 | length, 0, 0, 0, 0];
    frame.extend_from_slice(text.as_bytes());
    frame
}

fn contains(bytes: &[u8], needle: &[u8]) -> bool {
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
            (b"\x81\x02abc", Some(4)),
            (b"\x81\x7e\x00", None),
            (b"\x81\x7e\x00\x03abc", Some(7)),
        ] {
            assert_eq!(frame_bytes(bytes), expected, "{bytes:?}");
        }
    }

    #[test]
    fn commands_fit_a_short_frame() {
        assert!(SUBSCRIBE.len() <= 125);
        assert_eq!(masked_text_frame("hi"), b"\x81\x82\0\0\0\0hi");
    }
}
