//! Handshakes with rustls' own server over an in-memory stream.

use std::sync::Arc;

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair};
use rustls::{
    ServerConfig,
    crypto::ring,
    pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject},
    server::WebPkiClientVerifier,
};
use tokio::io::duplex;
use tokio_rustls::TlsAcceptor;

use super::*;

fn authority(name: &str) -> CertifiedIssuer<'static, KeyPair> {
    let mut params = CertificateParams::new(Vec::new()).unwrap();
    params.distinguished_name.push(DnType::CommonName, name);
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap()
}

/// A certificate for `name`, signed by `authority`, and its key; in PEM.
fn signed(authority: &CertifiedIssuer<'_, KeyPair>, name: &str) -> (String, String) {
    let key = KeyPair::generate().unwrap();
    let params = CertificateParams::new([name.to_owned()]).unwrap();
    let certificate = params.signed_by(&key, authority).unwrap();
    (certificate.pem(), key.serialize_pem())
}

fn roots(authority: &CertifiedIssuer<'_, KeyPair>) -> RootCertStore {
    let mut roots = RootCertStore::empty();
    roots.add(authority.der().clone()).unwrap();
    roots
}

/// A server for `app.test` that supports `protocols` and, if asked to, requires a client certificate of the same
/// authority.
fn server(
    authority: &CertifiedIssuer<'_, KeyPair>,
    protocols: &[&str],
    wants_certificate: bool,
) -> TlsAcceptor {
    let (certificate, key) = signed(authority, "app.test");
    let provider = Arc::new(ring::default_provider());
    let builder = ServerConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()
        .unwrap();
    let builder = if wants_certificate {
        let roots = Arc::new(roots(authority));
        let verifier = WebPkiClientVerifier::builder_with_provider(roots, provider).build();
        builder.with_client_cert_verifier(verifier.unwrap())
    } else {
        builder.with_no_client_auth()
    };
    let chain = vec![CertificateDer::from_pem_slice(certificate.as_bytes()).unwrap()];
    let key = PrivateKeyDer::from_pem_slice(key.as_bytes()).unwrap();
    let mut config = builder.with_single_cert(chain, key).unwrap();
    config.alpn_protocols = protocols
        .iter()
        .map(|protocol| protocol.as_bytes().to_vec())
        .collect();
    TlsAcceptor::from(Arc::new(config))
}

/// What was agreed on, as `version cipher-suite protocol`, or why not.
async fn shake(server: &TlsAcceptor, options: TlsOptions, host: &str, application: Application) -> String {
    let (ours, theirs) = duplex(1 << 16);
    let tls = Tls::new(options).unwrap();
    let (client, accepted) = tokio::join!(tls.connect(host, application, ours), server.accept(theirs));
    match client {
        Err(error) => error.to_string(),
        Ok(_) if accepted.is_err() => "refused by the server".to_owned(),
        Ok(stream) => {
            let (_, session) = stream.get_ref();
            let version = TlsVersion::of(session.protocol_version().unwrap());
            let suite = suite_name(session.negotiated_cipher_suite().unwrap());
            let protocol = session.alpn_protocol().unwrap_or(b"-");
            format!("{version} {suite} {}", String::from_utf8_lossy(protocol))
        }
    }
}

#[tokio::test]
async fn the_options_decide_what_is_agreed_on() {
    let authority = authority("ours");
    let both = server(&authority, &["h2", "http/1.1"], false);
    let known = || TlsOptions {
        believe: Believe::Authorities(roots(&authority).into()),
        ..TlsOptions::default()
    };
    let check = async |options: TlsOptions, host: &str, application: Application, expected: &str| {
        assert_eq!(shake(&both, options, host, application).await, expected);
    };
    let modern = "tls1.3 TLS_AES_256_GCM_SHA384 h2";
    check(known(), "app.test", Application::Http2, modern).await;
    let modern = "tls1.3 TLS_AES_256_GCM_SHA384 http/1.1";
    check(known(), "app.test", Application::Http1, modern).await;
    let wrong_host = "x509: the certificate is not valid for this host";
    check(known(), "other.test", Application::Http1, wrong_host).await;
    let unknown = "x509: certificate signed by unknown authority";
    let stranger = TlsOptions {
        believe: Believe::Authorities(roots(&self::authority("stranger")).into()),
        ..TlsOptions::default()
    };
    check(stranger, "app.test", Application::Http1, unknown).await;
    let namesake = TlsOptions {
        believe: Believe::Authorities(roots(&self::authority("ours")).into()),
        ..TlsOptions::default()
    };
    check(namesake, "app.test", Application::Http1, unknown).await;
    let trusting = TlsOptions {
        believe: Believe::Anybody,
        ..TlsOptions::default()
    };
    check(trusting, "other.test", Application::Http1, modern).await;
    let old = TlsOptions {
        versions: Versions {
            min: TlsVersion::Tls10,
            max: TlsVersion::Tls12,
        },
        cipher_suites: Some(vec!["TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256".to_owned()]),
        ..known()
    };
    let expected = "tls1.2 TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256 http/1.1";
    check(old, "app.test", Application::Http1, expected).await;
}

#[tokio::test]
async fn a_certificate_of_ours_is_shown_to_its_hosts() {
    let authority = authority("ours");
    let asking = server(&authority, &[], true);
    let (certificates, key) = signed(&authority, "me");
    let check = async |domain: &str, expected: &str| {
        let options = TlsOptions {
            believe: Believe::Authorities(roots(&authority).into()),
            identities: vec![Identity {
                domains: vec![domain.parse().unwrap()],
                certificates: certificates.clone(),
                key: key.clone(),
            }],
            ..TlsOptions::default()
        };
        let got = shake(&asking, options, "app.test", Application::Http1).await;
        assert_eq!(got, expected, "{domain}");
    };
    check("*.test", "tls1.3 TLS_AES_256_GCM_SHA384 -").await;
    check("other.test", "refused by the server").await;
}

#[tokio::test]
async fn a_server_without_tls_is_recognised() {
    let (ours, mut theirs) = duplex(1 << 16);
    let answer = b"HTTP/1.1 400 Bad Request\r\n\r\n";
    tokio::io::AsyncWriteExt::write_all(&mut theirs, answer)
        .await
        .unwrap();
    let tls = Tls::new(TlsOptions {
        believe: Believe::Anybody,
        ..TlsOptions::default()
    });
    let refused = tls.unwrap().connect("a.test", Application::Http1, ours).await;
    assert_eq!(refused.unwrap_err(), HandshakeError::NotTls);
}

#[test]
fn options_that_make_no_sense_are_explained() {
    let check = |options: TlsOptions, expected: &str| {
        let error = Tls::new(options).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    };
    let versions = |min, max| TlsOptions {
        versions: Versions { min, max },
        ..TlsOptions::default()
    };
    let suites = |names: &[&str]| Some(names.iter().map(|&name| name.to_owned()).collect());
    check(versions(TlsVersion::Tls13, TlsVersion::Tls12), "is newer than");
    check(
        versions(TlsVersion::Tls10, TlsVersion::Tls11),
        "tls1.1 is not supported",
    );
    let unknown = TlsOptions {
        cipher_suites: suites(&["TLS_RSA_WITH_RC4_128_SHA"]),
        ..TlsOptions::default()
    };
    check(unknown, "expected one of TLS_AES_256_GCM_SHA384, ");
    let none = TlsOptions {
        cipher_suites: suites(&[]),
        ..versions(TlsVersion::Tls12, TlsVersion::Tls12)
    };
    check(none, "no cipher suite belongs");
    let identity = |certificates: &str, key: &str| TlsOptions {
        identities: vec![Identity {
            domains: Vec::new(),
            certificates: certificates.to_owned(),
            key: key.to_owned(),
        }],
        ..TlsOptions::default()
    };
    let authority = authority("ours");
    let ((certificate, key), (_, other_key)) = (signed(&authority, "a"), signed(&authority, "b"));
    check(identity("x", &key), "the certificate is not in PEM format");
    check(identity(&certificate, "x"), "the key is not in PEM format");
    check(
        identity(&certificate, &other_key),
        "does not belong to the certificate",
    );
    check(
        identity(&certificate, "-----BEGIN ENCRYPTED PRIVATE KEY-----"),
        "is encrypted",
    );
    assert!("tls1.4".parse::<TlsVersion>().is_err());
}

#[tokio::test]
async fn a_server_that_vouches_for_itself_is_not_believed() {
    let own = authority("own");
    let key = PrivateKeyDer::from_pem_slice(own.key().serialize_pem().as_bytes()).unwrap();
    let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![own.der().clone()], key)
        .unwrap();
    let options = TlsOptions {
        believe: Believe::Authorities(roots(&authority("stranger")).into()),
        ..TlsOptions::default()
    };
    let server = TlsAcceptor::from(Arc::new(config));
    let told = shake(&server, options, "app.test", Application::Http1).await;
    assert_eq!(told, "x509: certificate signed by unknown authority");
}
