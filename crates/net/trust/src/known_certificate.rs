//! A certificate verifier that accepts the server's own certificate when the user named it, as curl and OpenSSL do.
//!
//! For webpki an authority only signs: it refuses a server that has the certificate of an authority itself. The
//! certificate that `openssl req -x509` makes is both.

use std::sync::Arc;

use rustls::{
    CertificateError, DigitallySignedStruct, Error, RootCertStore, SignatureScheme,
    client::{
        WebPkiServerVerifier,
        danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier},
        verify_server_name,
    },
    crypto::CryptoProvider,
    pki_types::{CertificateDer, ServerName, UnixTime},
    server::ParsedCertificate,
};

/// Accepts certificates that an authority signed, and known ones.
#[derive(Debug)]
pub(crate) struct KnownCertificate {
    signed: Arc<WebPkiServerVerifier>,
    known: Vec<CertificateDer<'static>>,
}

impl KnownCertificate {
    /// `roots` must not be empty.
    pub(crate) fn new(
        roots: RootCertStore,
        known: Vec<CertificateDer<'static>>,
        provider: &Arc<CryptoProvider>,
    ) -> Self {
        let signed = WebPkiServerVerifier::builder_with_provider(Arc::new(roots), Arc::clone(provider));
        Self {
            signed: signed.build().expect("there are roots, and no revocation lists"),
            known,
        }
    }
}

impl ServerCertVerifier for KnownCertificate {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let verdict =
            self.signed
                .verify_server_cert(end_entity, intermediates, server_name, ocsp_response, now);
        match verdict {
            Err(error) if is_about_the_signer(&error) && self.known.contains(end_entity) => {
                // webpki checks the name last, so it has not done so.
                verify_server_name(&ParsedCertificate::try_from(end_entity)?, server_name)?;
                Ok(ServerCertVerified::assertion())
            }
            verdict => verdict,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.signed.verify_tls12_signature(message, certificate, signed)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.signed.verify_tls13_signature(message, certificate, signed)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.signed.supported_verify_schemes()
    }
}

/// Whether a refusal concerns only who signed. webpki checks the dates of the server's certificate before, so a refusal for
/// this reason means that they are right.
fn is_about_the_signer(error: &Error) -> bool {
    match error {
        Error::InvalidCertificate(CertificateError::UnknownIssuer | CertificateError::BadSignature) => true,
        Error::InvalidCertificate(CertificateError::Other(other)) => {
            other.0.downcast_ref() == Some(&webpki::Error::CaUsedAsEndEntity)
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests;
