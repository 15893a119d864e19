//! Verifies the signatures of tokens with ring, which TLS needs anyway.
//!
//! `jsonwebtoken` leaves the cryptography to a provider. The providers that come with it are aws-lc (a second C library
//! beside ring) and RustCrypto (thirty crates, among them `rsa` with the advisory RUSTSEC-2023-0071).

use jsonwebtoken::{
    Algorithm, AlgorithmFamily, DecodingKey, DecodingKeyKind,
    crypto::{CryptoProvider, JwtVerifier, KeyUtils},
    errors::{Error, ErrorKind},
    signature::{Error as SignatureError, Verifier},
};
use ring::{
    error::Unspecified,
    hmac,
    signature::{self, RsaParameters, RsaPublicKeyComponents, UnparsedPublicKey, VerificationAlgorithm},
};

/// Makes ring the provider of this process. Repeated calls do no harm.
pub(super) fn install() {
    let _is_installed_already = PROVIDER.install_default();
}

static PROVIDER: CryptoProvider = CryptoProvider {
    signer_factory: |_, _| unsupported(),
    verifier_factory: verifier,
    // For making keys and thumbprints, which is not used here.
    key_utils: KeyUtils {
        rsa_pub_components_from_private_key: |_| unsupported(),
        rsa_pub_components_from_public_key: |_| unsupported(),
        ec_pub_components_from_private_key: |_, _| unsupported(),
        ed_pub_components_from_private_key: |_, _| unsupported(),
        compute_digest: |_, _| unsupported(),
    },
};

fn unsupported<T>() -> Result<T, Error> {
    Err(ErrorKind::UnsupportedAlgorithm.into())
}

/// An algorithm and a key for it.
struct SignatureVerifier {
    algorithm: Algorithm,
    key: DecodingKey,
}

fn verifier(algorithm: &Algorithm, key: &DecodingKey) -> Result<Box<dyn JwtVerifier>, Error> {
    if algorithm.family() != key.family() {
        return Err(ErrorKind::InvalidKeyFormat.into());
    }
    Ok(Box::new(SignatureVerifier {
        algorithm: *algorithm,
        key: key.clone(),
    }))
}

impl JwtVerifier for SignatureVerifier {
    fn algorithm(&self) -> Algorithm {
        self.algorithm
    }
}

impl Verifier<Vec<u8>> for SignatureVerifier {
    fn verify(&self, message: &[u8], signature: &Vec<u8>) -> Result<(), SignatureError> {
        let result = match self.key.kind() {
            DecodingKeyKind::SecretOrDer(bytes) if self.key.family() == AlgorithmFamily::Hmac => {
                verify_hmac(self.algorithm, bytes, message, signature)
            }
            DecodingKeyKind::SecretOrDer(bytes) => verify_curve(self.algorithm, bytes, message, signature),
            DecodingKeyKind::RsaModulusExponent { n, e } => {
                let key = RsaPublicKeyComponents { n, e };
                rsa_parameters(self.algorithm)
                    .ok_or(Unspecified)
                    .and_then(|parameters| key.verify(parameters, message, signature))
            }
        };
        result.map_err(|_| SignatureError::new())
    }
}

fn verify_hmac(
    algorithm: Algorithm,
    secret: &[u8],
    message: &[u8],
    signature: &[u8],
) -> Result<(), Unspecified> {
    let algorithm = match algorithm {
        Algorithm::HS256 => hmac::HMAC_SHA256,
        Algorithm::HS384 => hmac::HMAC_SHA384,
        Algorithm::HS512 => hmac::HMAC_SHA512,
        _ => return Err(Unspecified),
    };
    hmac::verify(&hmac::Key::new(algorithm, secret), message, signature)
}

fn verify_curve(
    algorithm: Algorithm,
    point: &[u8],
    message: &[u8],
    signature: &[u8],
) -> Result<(), Unspecified> {
    let algorithm: &dyn VerificationAlgorithm = match algorithm {
        Algorithm::ES256 => &signature::ECDSA_P256_SHA256_FIXED,
        Algorithm::ES384 => &signature::ECDSA_P384_SHA384_FIXED,
        Algorithm::EdDSA => &signature::ED25519,
        _ => return Err(Unspecified),
    };
    UnparsedPublicKey::new(algorithm, point).verify(message, signature)
}

fn rsa_parameters(algorithm: Algorithm) -> Option<&'static RsaParameters> {
    match algorithm {
        Algorithm::RS256 => Some(&signature::RSA_PKCS1_2048_8192_SHA256),
        Algorithm::RS384 => Some(&signature::RSA_PKCS1_2048_8192_SHA384),
        Algorithm::RS512 => Some(&signature::RSA_PKCS1_2048_8192_SHA512),
        Algorithm::PS256 => Some(&signature::RSA_PSS_2048_8192_SHA256),
        Algorithm::PS384 => Some(&signature::RSA_PSS_2048_8192_SHA384),
        Algorithm::PS512 => Some(&signature::RSA_PSS_2048_8192_SHA512),
        _ => None,
    }
}
