//! A scripted server for the tests of this crate: it accepts one connection on a free port of 127.0.0.1 and follows the
//! test's script, byte by byte where that matters.

use std::sync::Arc;

use plimsoll_websocket::{
    CloseCode, CloseFrame, Config, Decoder, Event, Frame, Opcode, Role,
    deflate::{Deflater, Direction, Preferences},
    encode_close, encode_frame,
    handshake::server::{Request, Upgrade},
};
use rustls::{RootCertStore, ServerConfig, crypto::ring, pki_types::PrivateKeyDer};
use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt},
    net::TcpListener,
};
use tokio_rustls::TlsAcceptor;

use crate::{
    target::Target,
    tls::{Believe, Tls, TlsOptions},
    websocket::Options,
};

const CONFIG: Config = Config {
    role: Role::Server,
    max_message_bytes: 1 << 20,
    deflate: None,
};

/// A bound listener without connections.
pub(crate) struct Peer {
    listener: TcpListener,
    tls: Option<TlsAcceptor>,
}

trait Wire: AsyncRead + AsyncWrite + Unpin {}

impl<T: AsyncRead + AsyncWrite + Unpin> Wire for T {}

/// One accepted connection.
pub(crate) struct Session {
    stream: Box<dyn Wire>,
    decoder: Decoder,
    input: Vec<u8>,
    /// The head of the upgrade request.
    pub(crate) request: String,
}

/// A message from the client.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Got {
    Text(String),
    Binary(Vec<u8>),
    Pong(Vec<u8>),
    Ping(Vec<u8>),
    Close(Option<(u16, String)>),
    End,
}

impl Peer {
    /// The listener, and options for connecting to its `/cable?a=1`.
    pub(crate) async fn bind() -> (Self, Options) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let target = Target::parse(&format!("ws://{address}/cable?a=1")).unwrap();
        let tls = None;
        (Self { listener, tls }, Options::new(target, vec![address]))
    }

    /// A listener with TLS, and options that trust its certificate, which is for `localhost`.
    pub(crate) async fn bind_tls() -> (Self, Options) {
        let (peer, plain) = Self::bind().await;
        let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
        let mut authorities = RootCertStore::empty();
        authorities.add(made.cert.der().clone()).unwrap();
        let key = PrivateKeyDer::try_from(made.signing_key.serialize_der()).unwrap();
        let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![made.cert.der().clone()], key)
            .unwrap();
        let target = Target::parse(&format!("wss://localhost:{}/cable?a=1", plain.target.port())).unwrap();
        let believe = Believe::Authorities(authorities.into());
        let tls = Tls::new(TlsOptions {
            believe,
            ..TlsOptions::default()
        })
        .unwrap();
        let options = Options {
            target,
            tls: Some(Arc::new(tls)),
            ..plain
        };
        let tls = Some(TlsAcceptor::from(Arc::new(config)));
        (Self { tls, ..peer }, options)
    }

    /// Accepts and reads the request head. The test answers.
    pub(crate) async fn accept(&self) -> Session {
        let (stream, _) = self.listener.accept().await.unwrap();
        let mut stream: Box<dyn Wire> = match &self.tls {
            None => Box::new(stream),
            Some(tls) => Box::new(tls.accept(stream).await.unwrap()),
        };
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            assert!(stream.read_buf(&mut head).await.unwrap() > 0, "the client left");
        }
        let request = String::from_utf8(head).unwrap();
        Session {
            stream,
            decoder: Decoder::new(),
            input: Vec::new(),
            request,
        }
    }

    /// Accepts and answers the first bytes, whatever they contain.
    pub(crate) async fn answer_anything(&self, answer: &[u8]) {
        let (mut stream, _) = self.listener.accept().await.unwrap();
        let mut first = [0; 1];
        stream.read_exact(&mut first).await.unwrap();
        stream.write_all(answer).await.unwrap();
        stream.shutdown().await.unwrap();
        // Reads until the client leaves: closing a socket with unread bytes would destroy bytes that the client has not
        // read yet.
        while stream.read(&mut [0; 512]).await.is_ok_and(|n_read| n_read > 0) {}
    }

    /// Accepts and upgrades; `first_bytes` travel with the answer.
    pub(crate) async fn accept_websocket(&self, first_bytes: &[u8]) -> Session {
        let mut session = self.accept().await;
        let mut answer = session.answer(None);
        answer.extend_from_slice(first_bytes);
        session.write(&answer).await;
        session
    }
}

impl Session {
    /// The valid 101 answer to the request.
    pub(crate) fn answer(&self, protocol: Option<&str>) -> Vec<u8> {
        self.upgrade().response(protocol, None, &[])
    }

    /// Sends the 101, and agrees on compression if asked to.
    pub(crate) async fn accept_deflate(&mut self, agrees: bool) {
        let upgrade = self.upgrade();
        let agreed = upgrade.negotiate(&Preferences::default()).filter(|_| agrees);
        if let Some(agreed) = &agreed {
            self.decoder = Decoder::with_deflate(&CONFIG, agreed);
        }
        let answer = upgrade.response(None, agreed.as_ref(), &[]);
        self.write(&answer).await;
    }

    fn upgrade(&self) -> Upgrade {
        let (request, _) = Request::parse(self.request.as_bytes()).unwrap().unwrap();
        Upgrade::from_request(&request).unwrap()
    }

    pub(crate) async fn write(&mut self, bytes: &[u8]) {
        self.stream.write_all(bytes).await.unwrap();
        self.stream.flush().await.unwrap();
    }

    pub(crate) async fn send(&mut self, text: &str) {
        self.write(&frame(Opcode::Text, text.as_bytes())).await;
    }

    /// The client's next message.
    pub(crate) async fn next(&mut self) -> Got {
        loop {
            let decoded = self.decoder.decode(&CONFIG, &mut self.input).unwrap();
            let (n_consumed, got) = (decoded.consumed, decoded.event.map(Got::of));
            self.input.drain(..n_consumed);
            if let Some(got) = got {
                return got;
            }
            if self.stream.read_buf(&mut self.input).await.unwrap_or(0) == 0 {
                return Got::End;
            }
        }
    }
}

impl Got {
    /// A Close frame with a code and no reason.
    pub(crate) fn close(code: u16) -> Self {
        Self::Close(Some((code, String::new())))
    }

    fn of(event: Event<'_>) -> Self {
        match event {
            Event::Text(text) => Self::Text(text.to_owned()),
            Event::Binary(bytes) => Self::Binary(bytes.to_owned()),
            Event::Pong(bytes) => Self::Pong(bytes.to_owned()),
            Event::Close(frame) => {
                Self::Close(frame.map(|frame| (frame.code.get(), frame.reason.to_owned())))
            }
            Event::Ping(bytes) => Self::Ping(bytes.to_owned()),
        }
    }
}

/// An unmasked frame.
pub(crate) fn frame(opcode: Opcode, payload: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    encode_frame(opcode, payload, None, &mut bytes);
    bytes
}

/// An unmasked Close frame.
pub(crate) fn close(code: CloseCode, reason: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    encode_close(Some(CloseFrame { code, reason }), None, &mut bytes);
    bytes
}

/// An unmasked, compressed text frame.
pub(crate) fn compressed(text: &str) -> Vec<u8> {
    let (mut payload, mut bytes) = (Vec::new(), Vec::new());
    Deflater::new(Direction::STATELESS).compress(text.as_bytes(), &mut payload);
    let frame = Frame {
        fin: true,
        compressed: true,
        opcode: Opcode::Text,
        payload: &payload,
    };
    frame.encode(None, &mut bytes);
    bytes
}
