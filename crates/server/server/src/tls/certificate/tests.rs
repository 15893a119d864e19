//! Certificates in files that change correctly or incorrectly.

use rustls::crypto::ring;

use super::*;
use crate::tls::test_files::{TestFiles, pair};

fn load(files: &TestFiles) -> Result<Certificate, CertificateError> {
    Certificate::load(files.chain(), files.key(), Arc::new(ring::default_provider()))
}

/// The certificate that new connections get.
fn current(certificate: &Certificate) -> Vec<u8> {
    let current = certificate.current.read().expect("no writer panics");
    current.cert[0].to_vec()
}

fn look(certificate: &Certificate) -> Result<bool, String> {
    certificate.look_for_change().map_err(|error| error.to_string())
}

#[test]
fn a_change_is_taken_when_it_has_settled() {
    let files = TestFiles::new();
    let certificate = load(&files).expect("a good pair");
    let old = current(&certificate);
    assert_eq!(look(&certificate), Ok(false));
    assert_eq!(look(&certificate), Ok(false));

    let (chain, key) = pair();
    files.write_chain(&chain);
    assert_eq!(look(&certificate), Ok(false), "the key may be on its way");
    files.write_key(&key);
    assert_eq!(look(&certificate), Ok(false), "this differs from the last look");
    assert_eq!(current(&certificate), old);
    assert_eq!(look(&certificate), Ok(true));
    assert_ne!(current(&certificate), old);
    assert_eq!(look(&certificate), Ok(false));
}

#[test]
fn a_bad_change_is_reported_once_and_leaves_the_old_certificate() {
    let files = TestFiles::new();
    let certificate = load(&files).expect("a good pair");
    let old = current(&certificate);
    for spoil in [
        |files: &TestFiles| files.write_key(&pair().1),
        |files: &TestFiles| files.write_chain("nothing"),
        |files: &TestFiles| fs::remove_file(files.chain()).expect("it is there"),
    ] {
        spoil(&files);
        assert_eq!(look(&certificate), Ok(false));
        assert!(look(&certificate).is_err());
        assert_eq!(look(&certificate), Ok(false));
        assert!(certificate.reload().is_err(), "who asks is told again");
        assert_eq!(current(&certificate), old);
    }
    let (chain, key) = pair();
    files.write_chain(&chain);
    files.write_key(&key);
    certificate.reload().expect("a good pair");
    assert_ne!(current(&certificate), old);
    assert_eq!(look(&certificate), Ok(false), "it was taken already");
}

#[track_caller]
fn check_fault(spoil: impl FnOnce(&TestFiles), expected: &str) {
    let files = TestFiles::new();
    spoil(&files);
    let error = load(&files).expect_err(expected).to_string();
    assert!(error.contains(expected), "{error}");
}

#[test]
fn faults_are_named() {
    let (_, other_key) = pair();
    check_fault(|files| files.write_chain(""), "cert.pem has no certificate");
    check_fault(
        |files| files.write_chain(&other_key),
        "cert.pem has no certificate",
    );
    check_fault(
        |files| files.write_chain("-----BEGIN CERTIFICATE-----\n!\n-----END CERTIFICATE-----\n"),
        "cert.pem is not valid PEM file",
    );
    check_fault(
        |files| files.write_chain("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"),
        "cannot be used with the key",
    );
    check_fault(|files| files.write_key("nothing"), "key.pem has no private key");
    check_fault(|files| files.write_key(&other_key), "cannot be used with the key");
    check_fault(
        |files| fs::remove_file(files.key()).expect("it is there"),
        "cannot read",
    );
}

#[test]
fn the_key_is_not_shown() {
    let files = TestFiles::new();
    let certificate = load(&files).expect("a good pair");
    let shown = format!("{certificate:?}");
    assert!(shown.contains("key.pem") && !shown.contains("PRIVATE"), "{shown}");
}
