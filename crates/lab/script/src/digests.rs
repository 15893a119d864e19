//! The digests of k6 by name, each alone and under an HMAC (RFC 2104): for `k6/crypto` and for `crypto.subtle`.

use digest::DynDigest;
use hmac::Hmac;

/// A digest.
pub(crate) struct Algorithm {
    /// The name in scripts.
    pub(crate) name: &'static str,
    hash: fn() -> Box<dyn DynDigest>,
    hmac: fn(&[u8]) -> Box<dyn Mac>,
}

/// All algorithms.
pub(crate) const ALGORITHMS: &[Algorithm] = &[
    Algorithm::new::<md4::Md4>("md4", |key| mac::<Hmac<md4::Md4>>(key)),
    Algorithm::new::<md5::Md5>("md5", |key| mac::<Hmac<md5::Md5>>(key)),
    Algorithm::new::<sha1::Sha1>("sha1", |key| mac::<Hmac<sha1::Sha1>>(key)),
    Algorithm::new::<sha2::Sha256>("sha256", |key| mac::<Hmac<sha2::Sha256>>(key)),
    Algorithm::new::<sha2::Sha384>("sha384", |key| mac::<Hmac<sha2::Sha384>>(key)),
    Algorithm::new::<sha2::Sha512>("sha512", |key| mac::<Hmac<sha2::Sha512>>(key)),
    Algorithm::new::<sha2::Sha512_224>("sha512_224", |key| mac::<Hmac<sha2::Sha512_224>>(key)),
    Algorithm::new::<sha2::Sha512_256>("sha512_256", |key| mac::<Hmac<sha2::Sha512_256>>(key)),
    Algorithm::new::<ripemd::Ripemd160>("ripemd160", |key| mac::<Hmac<ripemd::Ripemd160>>(key)),
];

/// A digest or an HMAC in progress.
pub(crate) enum Running {
    Hash(Box<dyn DynDigest>),
    Hmac(Box<dyn Mac>),
}

/// An HMAC of any digest.
pub(crate) trait Mac {
    fn update(&mut self, bytes: &[u8]);
    fn finish(self: Box<Self>) -> Vec<u8>;
    fn copy(&self) -> Box<dyn Mac>;
}

impl<M: digest::Mac + Clone + 'static> Mac for M {
    fn update(&mut self, bytes: &[u8]) {
        digest::Mac::update(self, bytes);
    }

    fn finish(self: Box<Self>) -> Vec<u8> {
        self.finalize().into_bytes().to_vec()
    }

    fn copy(&self) -> Box<dyn Mac> {
        Box::new(self.clone())
    }
}

fn mac<M: digest::Mac + digest::KeyInit + Clone + 'static>(key: &[u8]) -> Box<dyn Mac> {
    let mac = <M as digest::KeyInit>::new_from_slice(key);
    Box::new(mac.expect("an HMAC takes keys of any length"))
}

impl Algorithm {
    const fn new<D: DynDigest + Default + 'static>(
        name: &'static str,
        hmac: fn(&[u8]) -> Box<dyn Mac>,
    ) -> Self {
        Self {
            name,
            hash: || Box::new(D::default()),
            hmac,
        }
    }

    /// Begins a digest.
    pub(crate) fn hash(&self) -> Running {
        Running::Hash((self.hash)())
    }

    /// Begins an HMAC.
    pub(crate) fn hmac(&self, key: &[u8]) -> Running {
        Running::Hmac((self.hmac)(key))
    }
}

impl Running {
    /// Takes more bytes.
    pub(crate) fn update(&mut self, bytes: &[u8]) {
        match self {
            Self::Hash(hash) => hash.update(bytes),
            Self::Hmac(hmac) => hmac.update(bytes),
        }
    }

    /// The result.
    pub(crate) fn finish(self) -> Vec<u8> {
        match self {
            Self::Hash(hash) => hash.finalize().into_vec(),
            Self::Hmac(hmac) => hmac.finish(),
        }
    }
}

impl Clone for Running {
    fn clone(&self) -> Self {
        match self {
            Self::Hash(hash) => Self::Hash(hash.box_clone()),
            Self::Hmac(hmac) => Self::Hmac(hmac.copy()),
        }
    }
}
