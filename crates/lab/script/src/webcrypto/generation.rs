//! New keys.

use super::{
    algorithm::{Algorithm, Family},
    derivation::key_bits,
    ec,
    error::{Error, Kind},
    key::{Key, Material},
    rsa,
    usage::{Usage, Usages},
};

/// The longest HMAC key, in bits. Reason: a script that wants more has a typing mistake.
const MAX_HMAC_BITS: usize = 1 << 20;

/// The wish for a key.
#[derive(Clone)]
pub(crate) struct Generation {
    /// Its algorithm.
    pub(crate) algorithm: Algorithm,
    /// The length of a secret key or of an RSA modulus, in bits; `None` when the script does not say.
    pub(crate) bits: Option<usize>,
    /// The public exponent of an RSA key, big-endian.
    pub(crate) exponent: Vec<u8>,
    /// Whether the secret or private key can be exported.
    pub(crate) is_extractable: bool,
    /// The usages of both keys together.
    pub(crate) usages: Usages,
}

/// A new key, or two.
pub(crate) enum Generated {
    Secret(Key),
    Pair {
        /// The private key.
        private: Key,
        /// The public key.
        public: Key,
    },
}

impl Generation {
    /// Makes the key.
    ///
    /// # Errors
    /// When a parameter or a usage is not valid.
    pub(crate) fn generate(&self) -> Result<Generated, Error> {
        let family = self.algorithm.family();
        if family == Family::Pbkdf2 {
            let text = "keys of PBKDF2 cannot be generated; import the password with importKey(\"raw\", …)";
            return Err(Kind::NotSupported.error(text));
        }
        let (private_usages, public_usages) = (family.private_usages(), family.public_usages());
        let all = private_usages.iter().chain(public_usages.iter()).collect();
        self.usages.within(all, &format!("keys of {}", family.name()))?;
        if self.usages.and(private_usages).is_empty() {
            let names: Vec<_> = private_usages.iter().map(Usage::name).collect();
            let text = format!(
                "the secret or private key would have no usage; expected at least one of {}",
                names.join(", ")
            );
            return Err(Kind::Syntax.error(text));
        }
        let (private, public) = match self.algorithm {
            Algorithm::Aes(_) | Algorithm::Hmac(_) => {
                let material = Material::Secret(self.random()?);
                let key = Key::new(self.algorithm, material, self.is_extractable, self.usages)?;
                return Ok(Generated::Secret(key));
            }
            Algorithm::Ecdsa(curve) | Algorithm::Ecdh(curve) => {
                let key = ec::Private::generate(curve)?;
                let public = Material::EcPublic(key.public());
                (Material::EcPrivate(key), public)
            }
            Algorithm::RsaOaep(_) | Algorithm::RsaPss(_) | Algorithm::RsaPkcs1(_) => {
                let key = rsa::Private::generate(self.bits.unwrap_or_default(), &self.exponent)?;
                let public = Material::RsaPublic(Box::new(key.public()));
                (Material::RsaPrivate(Box::new(key)), public)
            }
            Algorithm::Pbkdf2 => return Err(Kind::NotSupported.error("PBKDF2 has no keys of its own")),
        };
        let own = self.usages.and(private_usages);
        let other = self.usages.and(public_usages);
        Ok(Generated::Pair {
            private: Key::new(self.algorithm, private, self.is_extractable, own)?,
            public: Key::new(self.algorithm, public, true, other)?,
        })
    }

    fn random(&self) -> Result<Vec<u8>, Error> {
        let bits = key_bits(self.algorithm, self.bits)?;
        if bits == 0 || bits % 8 != 0 || bits > MAX_HMAC_BITS {
            let text =
                format!("the length of the key is {bits}; expected a multiple of 8, {MAX_HMAC_BITS} at most");
            return Err(Kind::Operation.error(text));
        }
        let mut bytes = vec![0; bits / 8];
        getrandom::fill(&mut bytes).map_err(|error| Kind::Operation.error(error.to_string()))?;
        Ok(bytes)
    }
}
