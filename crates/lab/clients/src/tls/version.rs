//! Versions of TLS.

use std::{fmt, str::FromStr};

use rustls::{
    ProtocolVersion, SupportedProtocolVersion,
    version::{TLS12, TLS13},
};
use serde::{Deserialize, Serialize};

use super::TlsError;

/// A version, as k6's constants name it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum TlsVersion {
    /// `tls1.0`; only as the lower end of a range.
    Tls10,
    /// `tls1.1`; only as the lower end of a range.
    Tls11,
    /// `tls1.2`.
    Tls12,
    /// `tls1.3`.
    Tls13,
}

/// A range of versions, both ends included.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Versions {
    /// The oldest version.
    pub min: TlsVersion,
    /// The newest version.
    pub max: TlsVersion,
}

impl Default for Versions {
    fn default() -> Self {
        Self {
            min: TlsVersion::Tls10,
            max: TlsVersion::Tls13,
        }
    }
}

impl Versions {
    /// The supported versions of the range, the newest first.
    pub(super) fn offered(self) -> Result<Vec<&'static SupportedProtocolVersion>, TlsError> {
        if self.min > self.max {
            return Err(TlsError::Range(self));
        }
        let all = [(TlsVersion::Tls13, &TLS13), (TlsVersion::Tls12, &TLS12)];
        let within = all
            .into_iter()
            .filter(|(version, _)| (self.min..=self.max).contains(version));
        let offered: Vec<_> = within.map(|(_, supported)| supported).collect();
        if offered.is_empty() {
            return Err(TlsError::TooOld(self.max));
        }
        Ok(offered)
    }
}

impl TlsVersion {
    /// The version of a completed handshake.
    pub fn of(version: ProtocolVersion) -> Self {
        match version {
            ProtocolVersion::TLSv1_3 => Self::Tls13,
            // rustls supports no older one.
            _ => Self::Tls12,
        }
    }

    /// As k6 writes it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Tls10 => "tls1.0",
            Self::Tls11 => "tls1.1",
            Self::Tls12 => "tls1.2",
            Self::Tls13 => "tls1.3",
        }
    }
}

impl fmt::Display for TlsVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for TlsVersion {
    type Err = TlsError;

    fn from_str(text: &str) -> Result<Self, TlsError> {
        let all = [Self::Tls10, Self::Tls11, Self::Tls12, Self::Tls13];
        let found = all.into_iter().find(|version| version.name() == text);
        found.ok_or_else(|| TlsError::Version(text.to_owned()))
    }
}
