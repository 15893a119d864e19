//! TLS to databases, from the settings that they have for it.

use std::fs;

use http::Uri;
use plimsoll_trust::{Authorities, Offer, believing, system_authorities};
use rustls::{
    ClientConfig, RootCertStore, SupportedProtocolVersion,
    pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject},
    version::{TLS12, TLS13},
};

use crate::{OutputError, settings::Settings};

/// Versions of TLS that are offered.
pub(crate) type Versions = &'static [&'static SupportedProtocolVersion];

/// 1.2 and 1.3.
pub(crate) const SINCE_1_2: Versions = &[&TLS13, &TLS12];

/// 1.3 only.
pub(crate) const SINCE_1_3: Versions = &[&TLS13];

/// The TLS settings for a database whose URL is `https`.
pub(crate) struct Tls {
    pub(crate) versions: Versions,
    pub(crate) believes_anybody: bool,
    /// A file of authorities. Without it, the system's are trusted.
    pub(crate) authorities: Option<PemFile>,
    pub(crate) identity: Option<Identity>,
}

/// A file in PEM, and the variable that names it.
pub(crate) struct PemFile {
    variable: String,
    path: String,
}

/// The client certificate.
pub(crate) struct Identity {
    certificate: PemFile,
    key: PemFile,
}

impl Tls {
    /// Reads the files, if connections to `url` need them.
    pub(crate) fn for_url(&self, url: &Uri) -> Result<ClientConfig, OutputError> {
        if url.scheme_str() != Some("https") {
            return Ok(believing(RootCertStore::empty()).with_no_client_auth());
        }
        let offer = Offer {
            versions: self.versions.to_vec(),
            ..Offer::default()
        };
        let builder = match &self.authorities {
            _ if self.believes_anybody => offer.believing_anybody(),
            Some(file) => offer.believing(file.authorities()?),
            None => offer.believing(system_authorities().map_err(OutputError::NoAuthorities)?),
        };
        let builder = builder.expect("ring has the cipher suites of TLS 1.2 and 1.3");
        let Some(Identity { certificate, key }) = &self.identity else {
            return Ok(builder.with_no_client_auth());
        };
        builder
            .with_client_auth_cert(certificate.certificates()?, key.key()?)
            .map_err(|error| key.error(&error.to_string()))
    }
}

impl Identity {
    /// Reads a certificate and its key, from the first variables that are set; both or neither.
    pub(crate) fn read(
        settings: Settings<'_>,
        certificate: &[&str],
        key: &[&str],
    ) -> Result<Option<Self>, OutputError> {
        let incomplete = |present: PemFile, missing: &[&str]| {
            let problem = format!("set {} as well: a certificate needs its key", missing[0]);
            Err(present.error(&problem))
        };
        match (PemFile::read(settings, certificate), PemFile::read(settings, key)) {
            (Some(certificate), Some(key)) => Ok(Some(Self { certificate, key })),
            (Some(present), None) => incomplete(present, key),
            (None, Some(present)) => incomplete(present, certificate),
            (None, None) => Ok(None),
        }
    }
}

impl PemFile {
    /// The file at `path`, which errors call the value of `setting`.
    pub(crate) fn named(setting: &str, path: &str) -> Self {
        Self {
            variable: setting.to_owned(),
            path: path.to_owned(),
        }
    }

    pub(crate) fn read(settings: Settings<'_>, names: &[&str]) -> Option<Self> {
        settings.first(names).map(|(variable, path)| Self {
            variable: variable.to_owned(),
            path,
        })
    }

    fn text(&self) -> Result<Vec<u8>, OutputError> {
        fs::read(&self.path).map_err(|error| self.error(&error.to_string()))
    }

    fn authorities(&self) -> Result<Authorities, OutputError> {
        Authorities::of(self.certificates()?).map_err(|error| self.error(&error.to_string()))
    }

    fn certificates(&self) -> Result<Vec<CertificateDer<'static>>, OutputError> {
        let text = self.text()?;
        let certificates: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&text).collect();
        match certificates {
            Ok(certificates) if certificates.is_empty() => Err(self.error("there is no certificate in it")),
            Ok(certificates) => Ok(certificates),
            Err(error) => Err(self.error(&error.to_string())),
        }
    }

    fn key(&self) -> Result<PrivateKeyDer<'static>, OutputError> {
        PrivateKeyDer::from_pem_slice(&self.text()?).map_err(|error| self.error(&error.to_string()))
    }

    fn error(&self, problem: &str) -> OutputError {
        OutputError::Pem {
            variable: self.variable.clone(),
            path: self.path.clone(),
            problem: problem.to_owned(),
        }
    }
}
