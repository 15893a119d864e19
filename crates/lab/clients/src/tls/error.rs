//! Errors of TLS: in the options before a run, and in a handshake.

use std::io;

use rustls::{CertificateError, InvalidMessage};

use super::{TlsVersion, Versions};
use crate::cause::Cause;

/// The options cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TlsError {
    /// An unknown name of a version.
    #[error(
        "{0:?} is not a TLS version; expected tls1.2 or tls1.3 (tls1.0 and tls1.1 as the lower end of a range)"
    )]
    Version(String),
    /// The ends are the wrong way round.
    #[error("the oldest TLS version ({}) is newer than the newest one ({}); swap them", .0.min, .0.max)]
    Range(Versions),
    /// Nothing of the range is supported.
    #[error("{0} is not supported because it was withdrawn (RFC 8996); use tls1.2 or tls1.3")]
    TooOld(TlsVersion),
    /// An unknown name of a cipher suite.
    #[error("the cipher suite {name:?} is not supported; expected one of {known}")]
    CipherSuite {
        /// As given.
        name: String,
        /// All that are supported.
        known: String,
    },
    /// The versions and the cipher suites exclude each other.
    #[error("no cipher suite belongs to an offered TLS version; add a suite for TLS 1.2")]
    NoCipherSuite,
    /// A client certificate cannot be used.
    #[error("client certificate: {what}: {reason}")]
    Identity {
        /// The problem.
        what: &'static str,
        /// More of it.
        reason: String,
    },
}

/// A handshake failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum HandshakeError {
    /// The host of the URL cannot occur in a certificate.
    #[error("tls: {0:?} is neither a host name nor an IP address")]
    Host(String),
    /// No trusted authority has signed the server's certificate.
    #[error("x509: certificate signed by unknown authority")]
    UnknownAuthority,
    /// The certificate is for other hosts.
    #[error("x509: the certificate is not valid for this host")]
    WrongHost,
    /// Something else about the certificate.
    #[error("x509: {0}")]
    Certificate(String),
    /// The server does not speak TLS on this port.
    #[error("tls: first record does not look like a TLS handshake; is this the port for https?")]
    NotTls,
    /// The server ended the connection.
    #[error("tls: the server ended the connection during the handshake")]
    Ended,
    /// The connection broke.
    #[error("tls: {0}")]
    Lost(io::ErrorKind),
    /// Another disagreement.
    #[error("tls: {0}")]
    Protocol(String),
    /// No connection can be made.
    #[error("tls: {0}")]
    Unusable(String),
}

impl HandshakeError {
    /// The cause by which this failure is counted.
    pub fn cause(&self) -> Cause {
        match self {
            Self::UnknownAuthority | Self::WrongHost | Self::Certificate(_) => Cause::Certificate,
            Self::NotTls => Cause::NotTls,
            Self::Lost(kind) => Cause::of_io(&io::Error::from(*kind)),
            Self::Host(_) | Self::Ended | Self::Protocol(_) | Self::Unusable(_) => Cause::Tls,
        }
    }

    /// Converts an error of rustls or the system. rustls wraps its errors in those of the system.
    pub(super) fn of_io(error: io::Error) -> Self {
        let kind = error.kind();
        match error.downcast::<rustls::Error>() {
            Ok(error) => Self::of_rustls(&error),
            Err(_) if kind == io::ErrorKind::UnexpectedEof => Self::Ended,
            Err(_) => Self::Lost(kind),
        }
    }

    fn of_rustls(error: &rustls::Error) -> Self {
        match error {
            rustls::Error::InvalidCertificate(reason) => match reason {
                // The last two: a trusted authority has the issuer's name, and another key.
                CertificateError::UnknownIssuer
                | CertificateError::BadSignature
                | CertificateError::UnsupportedSignatureAlgorithmForPublicKeyContext { .. } => {
                    Self::UnknownAuthority
                }
                // A certificate from `openssl req -x509` is its own authority. webpki has no public name for this
                // error.
                CertificateError::Other(other) if other.to_string() == "CaUsedAsEndEntity" => {
                    Self::UnknownAuthority
                }
                CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => {
                    Self::WrongHost
                }
                reason => Self::Certificate(reason.to_string()),
            },
            rustls::Error::InvalidMessage(InvalidMessage::InvalidContentType) => Self::NotTls,
            error => Self::Protocol(error.to_string()),
        }
    }
}
