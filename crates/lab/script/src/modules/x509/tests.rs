//! Certificates that `rcgen` made. `tests/foreign/k6-parity.test.mjs` compares more kinds of them with k6.

use rcgen::{CertificateParams, DnType, KeyPair, SanType, date_time_ymd};

use super::*;
use crate::tests::{Trial, program};

/// A certificate with names of all kinds, for a key on P-256.
fn certificate() -> String {
    let names = ["b.example".to_owned(), "::1".to_owned(), "a.example".to_owned()];
    let mut params = CertificateParams::new(names).unwrap();
    let mail = SanType::Rfc822Name("a@b.example".try_into().unwrap());
    let page = SanType::URI("https://a.example/x?y".try_into().unwrap());
    params.subject_alt_names.splice(0..0, [page, mail]);
    let parts = [
        (DnType::CountryName, "DE"),
        (DnType::OrganizationalUnitName, "Zwei ü"),
        (DnType::CommonName, "a.example"),
    ];
    params.distinguished_name = rcgen::DistinguishedName::new();
    for (kind, value) in parts {
        params.distinguished_name.push(kind, value);
    }
    (params.not_before, params.not_after) = (date_time_ymd(2026, 1, 2), date_time_ymd(2027, 3, 4));
    params.self_signed(&KeyPair::generate().unwrap()).unwrap().pem()
}

#[test]
fn a_certificate_says_what_it_is_about() {
    let pem = certificate();
    let certificate = Certificate::from_pem(format!("a comment\n{pem}").as_bytes()).unwrap();
    assert_eq!(
        certificate.alt_names(),
        [
            "b.example",
            "a.example",
            "a@b.example",
            "::1",
            "https://a.example/x?y"
        ]
    );
    assert_eq!(certificate.not_before(), "2026-01-02T00:00:00Z");
    assert_eq!(certificate.not_after(), "2027-03-04T00:00:00Z");
    assert_eq!(certificate.signature_algorithm(), "ECDSA-SHA256");
    let subject = certificate.subject();
    assert_eq!(subject.first(dn::COUNTRY), "DE");
    assert_eq!(subject.last(dn::COMMON_NAME), "a.example");
    assert_eq!(subject.first(dn::LOCALITY), "");
    assert!(matches!(
        certificate.public_key().unwrap(),
        PublicKey::Ecdsa { curve, x, y } if curve.name == "P-256" && x.len() == 32 && y.len() == 32
    ));
}

#[test]
fn texts_without_a_certificate_are_refused() {
    for (pem, expected) in [
        ("", "failed to decode certificate PEM file: expected"),
        (
            "-----BEGIN CERTIFICATE-----\nAAAA",
            "failed to decode certificate PEM file: expected",
        ),
        (
            "-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----",
            "failed to parse certificate: the PEM block holds something else",
        ),
        (
            "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----",
            "failed to parse certificate: ",
        ),
    ] {
        let error = Certificate::from_pem(pem.as_bytes()).err().unwrap().to_string();
        assert!(error.starts_with(expected), "{error}");
    }
}

#[tokio::test(start_paused = true)]
async fn scripts_read_certificates() {
    let pem = certificate();
    let script = format!(
        "import {{ check }} from 'k6';
         import {{ parse, getAltNames, getIssuer, getSubject }} from 'k6/crypto/x509';
         const pem = `{pem}`;
         const throws = (run, words) => {{ try {{ run(); }} catch (error) {{ return words.test(error.message); }} }};
         export default () => {{
           const certificate = parse(pem);
           const {{ x, y, curve }} = certificate.publicKey.key;
           check(certificate, {{
             subject: (c) => c.subject.organizationalUnitName.join() === 'Zwei ü' && c.subject.names[2].type === '2.5.4.3',
             key: (c) => c.publicKey.algorithm === 'ECDSA' && typeof x === 'bigint' && y > 0n && curve.params().bitSize === 256,
             fingerprint: (c) => c.fingerPrint.length === 20,
             alone: (c) => JSON.stringify([getAltNames(pem), getIssuer(pem), getSubject(pem)])
               === JSON.stringify([c.altNames, c.issuer, c.subject]),
             refused: () => throws(() => parse('x'), /PEM/) && throws(() => getSubject(), /PEM/) && throws(() => parse(5), /parse\\(\\)/),
           }});
         }}"
    );
    let mut trial = Trial::new(program(&script));
    trial.iterate(1).await.unwrap();
    assert_eq!(trial.outcome().0, ["checks=5/5"]);
}
