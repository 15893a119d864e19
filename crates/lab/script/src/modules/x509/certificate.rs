//! One certificate (RFC 5280), without an engine. What k6 reads with Go's library, this program reads with `x509-cert`.

use std::net::IpAddr;

use rsa::pkcs1;
use rustls::pki_types::pem::{PemObject as _, SectionKind};
use sha1::{Digest as _, Sha1};
use x509_cert::{
    der::{
        DateTime, Decode as _,
        asn1::{ObjectIdentifier, Uint},
    },
    ext::pkix::{SubjectAltName, name::GeneralName},
    spki::SubjectPublicKeyInfoOwned,
};

pub(super) use super::distinguished_name::Name;

/// Why a text holds no certificate that can be read. The first words are k6's.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum CertificateError {
    #[error(
        "failed to decode certificate PEM file: expected a text with a block that begins with -----BEGIN CERTIFICATE-----"
    )]
    NoPem,
    #[error("failed to parse certificate: the PEM block holds something else ({0})")]
    OtherPem(String),
    #[error("failed to parse certificate: {0}")]
    Malformed(String),
    #[error("unsupported public key algorithm: {0}; supported are RSA, DSA, and ECDSA with curves of NIST")]
    UnsupportedKey(String),
}

/// A certificate with its bytes.
pub(super) struct Certificate {
    der: Vec<u8>,
    parsed: x509_cert::Certificate,
}

/// The key that a certificate is about. Numbers begin with the highest byte and have no leading zero.
pub(super) enum PublicKey {
    Rsa {
        modulus: Vec<u8>,
        exponent: u64,
    },
    Dsa {
        p: Vec<u8>,
        q: Vec<u8>,
        g: Vec<u8>,
        y: Vec<u8>,
    },
    Ecdsa {
        curve: &'static Curve,
        x: Vec<u8>,
        y: Vec<u8>,
    },
}

/// A curve of NIST, as Go names it.
pub(super) struct Curve {
    oid: &'static str,
    pub(super) name: &'static str,
    pub(super) n_bits: usize,
}

const CURVES: [Curve; 4] = [
    Curve {
        oid: "1.3.132.0.33",
        name: "P-224",
        n_bits: 224,
    },
    Curve {
        oid: "1.2.840.10045.3.1.7",
        name: "P-256",
        n_bits: 256,
    },
    Curve {
        oid: "1.3.132.0.34",
        name: "P-384",
        n_bits: 384,
    },
    Curve {
        oid: "1.3.132.0.35",
        name: "P-521",
        n_bits: 521,
    },
];

const RSA: &str = "1.2.840.113549.1.1.1";
const DSA: &str = "1.2.840.10040.4.1";
const EC: &str = "1.2.840.10045.2.1";
const RSA_PSS: &str = "1.2.840.113549.1.1.10";

/// Algorithms of signatures with Go's names.
const SIGNATURES: [(&str, &str); 13] = [
    ("1.2.840.113549.1.1.2", "MD2-RSA"),
    ("1.2.840.113549.1.1.4", "MD5-RSA"),
    ("1.2.840.113549.1.1.5", "SHA1-RSA"),
    ("1.2.840.113549.1.1.11", "SHA256-RSA"),
    ("1.2.840.113549.1.1.12", "SHA384-RSA"),
    ("1.2.840.113549.1.1.13", "SHA512-RSA"),
    ("1.2.840.10040.4.3", "DSA-SHA1"),
    ("2.16.840.1.101.3.4.3.2", "DSA-SHA256"),
    ("1.2.840.10045.4.1", "ECDSA-SHA1"),
    ("1.2.840.10045.4.3.2", "ECDSA-SHA256"),
    ("1.2.840.10045.4.3.3", "ECDSA-SHA384"),
    ("1.2.840.10045.4.3.4", "ECDSA-SHA512"),
    ("1.3.101.112", "Ed25519"),
];

/// Digests of RSA-PSS, by the bytes of their identifiers.
const PSS: [(&[u8], &str); 3] = [
    (
        &[0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x02, 0x01],
        "SHA256-RSAPSS",
    ),
    (
        &[0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x02, 0x02],
        "SHA384-RSAPSS",
    ),
    (
        &[0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x02, 0x03],
        "SHA512-RSAPSS",
    ),
];

impl Certificate {
    /// The first certificate of a PEM text.
    ///
    /// # Errors
    /// When there is none, or another block comes first.
    pub(super) fn from_pem(pem: &[u8]) -> Result<Self, CertificateError> {
        let (kind, der) =
            <(SectionKind, Vec<u8>)>::from_pem_slice(pem).map_err(|_| CertificateError::NoPem)?;
        if kind != SectionKind::Certificate {
            return Err(CertificateError::OtherPem(format!("{kind:?}")));
        }
        let parsed = x509_cert::Certificate::from_der(&der)
            .map_err(|error| CertificateError::Malformed(error.to_string()))?;
        Ok(Self { der, parsed })
    }

    pub(super) fn subject(&self) -> Name {
        Name::of(self.parsed.tbs_certificate().subject())
    }

    pub(super) fn issuer(&self) -> Name {
        Name::of(self.parsed.tbs_certificate().issuer())
    }

    /// The first moment at which it is valid, as `2026-01-01T00:00:00Z`.
    pub(super) fn not_before(&self) -> String {
        iso(self.parsed.tbs_certificate().validity().not_before.to_date_time())
    }

    /// The last moment at which it is valid.
    pub(super) fn not_after(&self) -> String {
        iso(self.parsed.tbs_certificate().validity().not_after.to_date_time())
    }

    /// Further names of the subject: hosts, then addresses of mail, of hosts, and URLs. Empty without any, and if they
    /// cannot be read.
    pub(super) fn alt_names(&self) -> Vec<String> {
        let found = self.parsed.tbs_certificate().get_extension::<SubjectAltName>();
        let Ok(Some((_, SubjectAltName(names)))) = &found else {
            return Vec::new();
        };
        let mut names: Vec<_> = names.iter().collect();
        names.sort_by_key(|name| match name {
            GeneralName::DnsName(_) => 0,
            GeneralName::Rfc822Name(_) => 1,
            GeneralName::IpAddress(_) => 2,
            _ => 3,
        });
        names.into_iter().filter_map(written).collect()
    }

    /// The name of the algorithm of its signature.
    pub(super) fn signature_algorithm(&self) -> &'static str {
        let algorithm = self.parsed.signature_algorithm();
        let oid = algorithm.oid.to_string();
        let name = if oid == RSA_PSS {
            let parameters = algorithm
                .parameters
                .as_ref()
                .map_or(&[][..], |parameters| parameters.value());
            let mut digests = PSS.iter();
            let has = |digest: &[u8]| parameters.windows(digest.len()).any(|window| window == digest);
            digests.find(|(digest, _)| has(digest)).map(|&(_, name)| name)
        } else {
            SIGNATURES
                .iter()
                .find(|(known, _)| *known == oid)
                .map(|&(_, name)| name)
        };
        name.unwrap_or("UnknownSignatureAlgorithm")
    }

    /// The SHA-1 of its bytes.
    pub(super) fn fingerprint(&self) -> [u8; 20] {
        Sha1::digest(&self.der).into()
    }

    /// The key that it is about.
    ///
    /// # Errors
    /// When k6 has no words for such a key, or it is malformed.
    pub(super) fn public_key(&self) -> Result<PublicKey, CertificateError> {
        let info = self.parsed.tbs_certificate().subject_public_key_info();
        match info.algorithm.oid.to_string().as_str() {
            RSA => rsa_key(info),
            DSA => dsa_key(info),
            EC => ec_key(info),
            other => Err(CertificateError::UnsupportedKey(other.to_owned())),
        }
    }
}

impl PublicKey {
    pub(super) fn algorithm(&self) -> &'static str {
        match self {
            Self::Rsa { .. } => "RSA",
            Self::Dsa { .. } => "DSA",
            Self::Ecdsa { .. } => "ECDSA",
        }
    }
}

fn iso(time: DateTime) -> String {
    time.to_string()
}

/// A name that k6 gives; `None` of other kinds, and of addresses of impossible lengths.
fn written(name: &GeneralName) -> Option<String> {
    match name {
        GeneralName::DnsName(text)
        | GeneralName::Rfc822Name(text)
        | GeneralName::UniformResourceIdentifier(text) => Some(text.as_str().to_owned()),
        GeneralName::IpAddress(bytes) => {
            let bytes = bytes.as_bytes();
            let v4 = <[u8; 4]>::try_from(bytes).map(IpAddr::from);
            let address = v4.or_else(|_| <[u8; 16]>::try_from(bytes).map(IpAddr::from));
            address.ok().map(|address| address.to_canonical().to_string())
        }
        _ => None,
    }
}

fn malformed(what: &str) -> CertificateError {
    CertificateError::Malformed(format!("its {what} key is malformed"))
}

fn rsa_key(info: &SubjectPublicKeyInfoOwned) -> Result<PublicKey, CertificateError> {
    let key = pkcs1::RsaPublicKeyRef::try_from(info.subject_public_key.raw_bytes())
        .map_err(|_| malformed("RSA"))?;
    let exponent = key.public_exponent.as_bytes();
    if exponent.len() > 8 {
        return Err(malformed("RSA"));
    }
    Ok(PublicKey::Rsa {
        modulus: key.modulus.as_bytes().to_vec(),
        exponent: exponent
            .iter()
            .fold(0, |number, &byte| number << 8 | u64::from(byte)),
    })
}

fn dsa_key(info: &SubjectPublicKeyInfoOwned) -> Result<PublicKey, CertificateError> {
    let parameters = info
        .algorithm
        .parameters
        .as_ref()
        .ok_or_else(|| malformed("DSA"))?;
    let numbers: Vec<Uint> = parameters.decode_as().map_err(|_| malformed("DSA"))?;
    let y = Uint::from_der(info.subject_public_key.raw_bytes()).map_err(|_| malformed("DSA"))?;
    match numbers.as_slice() {
        [p, q, g] => {
            let [p, q, g, y] = [p, q, g, &y].map(|number| number.as_bytes().to_vec());
            Ok(PublicKey::Dsa { p, q, g, y })
        }
        _ => Err(malformed("DSA")),
    }
}

fn ec_key(info: &SubjectPublicKeyInfoOwned) -> Result<PublicKey, CertificateError> {
    let parameters = info.algorithm.parameters.as_ref();
    let oid = parameters.and_then(|parameters| parameters.decode_as::<ObjectIdentifier>().ok());
    let oid = oid.map(|oid| oid.to_string()).unwrap_or_default();
    let curve = CURVES.iter().find(|curve| curve.oid == oid);
    let curve = curve
        .ok_or_else(|| CertificateError::UnsupportedKey(format!("a curve that has no name here ({oid})")))?;
    let n_bytes = curve.n_bits.div_ceil(8);
    // 4 stands for a point with both coordinates, the only kind that certificates have.
    match info.subject_public_key.raw_bytes() {
        [4, point @ ..] if point.len() == 2 * n_bytes => Ok(PublicKey::Ecdsa {
            curve,
            x: point[..n_bytes].to_vec(),
            y: point[n_bytes..].to_vec(),
        }),
        _ => Err(malformed("ECDSA")),
    }
}
