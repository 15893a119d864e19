//! Certificates that a user named, and that a server has itself.

use std::time::Duration;

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair, date_time_ymd};
use rustls::crypto::ring;

use super::*;
use crate::Authorities;

const NAME: &str = "app.test";

/// 2026-01-01.
const NOW: UnixTime = UnixTime::since_unix_epoch(Duration::from_secs(1_767_225_600));

/// What a certificate is made for.
fn params(is_ca: IsCa, last_year: i32) -> CertificateParams {
    let mut params = CertificateParams::new([NAME.to_owned()]).unwrap();
    params.distinguished_name.push(DnType::CommonName, NAME);
    params.is_ca = is_ca;
    params.not_before = date_time_ymd(2020, 1, 1);
    params.not_after = date_time_ymd(last_year, 1, 1);
    params
}

fn self_signed(is_ca: IsCa, last_year: i32) -> CertificateDer<'static> {
    let key = KeyPair::generate().unwrap();
    params(is_ca, last_year).self_signed(&key).unwrap().into()
}

/// The result for a server with the certificate `presented`, whose client knows those of `file`.
fn verify(file: &[&CertificateDer<'static>], presented: &CertificateDer<'static>, name: &str) -> String {
    let Authorities { roots, known } = Authorities::of(file.iter().map(|&it| it.clone()).collect()).unwrap();
    let verifier = KnownCertificate::new(roots, known, &Arc::new(ring::default_provider()));
    let name = ServerName::try_from(name.to_owned()).unwrap();
    match verifier.verify_server_cert(presented, &[], &name, &[], NOW) {
        Ok(_) => "accepted".to_owned(),
        Err(Error::InvalidCertificate(error)) => format!("{error:?}")
            .split([' ', '(', '{'])
            .next()
            .unwrap()
            .to_owned(),
        Err(error) => error.to_string(),
    }
}

#[test]
fn a_self_signed_certificate_of_the_file_is_accepted() {
    let ca = IsCa::Ca(BasicConstraints::Unconstrained);
    for is_ca in [ca, IsCa::NoCa, IsCa::ExplicitNoCa] {
        let certificate = self_signed(is_ca, 2030);
        let other = self_signed(is_ca, 2030);
        let expired = self_signed(is_ca, 2025);
        let check = |presented, name, expected| {
            let found = verify(&[&certificate, &expired], presented, name);
            assert_eq!(found, expected, "{is_ca:?}");
        };
        check(&certificate, NAME, "accepted");
        check(&certificate, "other.test", "NotValidForNameContext");
        check(&expired, NAME, "ExpiredContext");
        let found = verify(&[&certificate], &other, NAME);
        assert_ne!(
            found, "accepted",
            "{is_ca:?}: the name of the authority fits, and its key does not"
        );
    }
}

#[test]
fn a_certificate_of_the_file_needs_no_known_authority() {
    let authority = |name: &str| {
        let mut params = params(IsCa::Ca(BasicConstraints::Unconstrained), 2030);
        params.distinguished_name.push(DnType::CommonName, name);
        CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap()
    };
    let (ours, unknown) = (authority("ours"), authority("unknown"));
    let key = KeyPair::generate().unwrap();
    let signed = |authority: &CertifiedIssuer<'static, KeyPair>, last_year| -> CertificateDer<'static> {
        let params = params(IsCa::NoCa, last_year);
        params.signed_by(&key, authority).unwrap().into()
    };
    let ours_der: CertificateDer<'static> = ours.der().clone();
    let leaf = signed(&unknown, 2030);
    let expired = signed(&unknown, 2025);
    assert_eq!(verify(&[&ours_der], &signed(&ours, 2030), NAME), "accepted");
    assert_eq!(verify(&[&ours_der], &leaf, NAME), "UnknownIssuer");
    assert_eq!(verify(&[&ours_der, &leaf], &leaf, NAME), "accepted");
    assert_eq!(
        verify(&[&ours_der, &leaf], &leaf, "other.test"),
        "NotValidForNameContext"
    );
    assert_eq!(verify(&[&ours_der, &expired], &expired, NAME), "ExpiredContext");
}
