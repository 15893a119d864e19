//! Encryption and decryption.

use super::{
    aes::{self, Mode},
    algorithm::{Algorithm, Family},
    block::Direction,
    error::Error,
    key::{Key, Material, unfit},
    rsa::Envelope,
    usage::Usage,
};

/// An algorithm with the parameters of one operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Cipher {
    /// AES-CBC.
    Cbc {
        /// The initialization vector.
        iv: Vec<u8>,
    },
    /// AES-CTR.
    Ctr {
        /// The first counter block.
        counter: Vec<u8>,
        /// How many of its last bits count.
        bits: u32,
    },
    /// AES-GCM.
    Gcm {
        /// The initialization vector.
        iv: Vec<u8>,
        /// Data that are authenticated and not encrypted.
        additional: Vec<u8>,
        /// The length of the tag, in bits.
        tag_bits: u32,
    },
    /// RSA-OAEP.
    Oaep {
        /// The label.
        label: Vec<u8>,
    },
}

impl Cipher {
    /// The algorithm.
    fn family(&self) -> Family {
        match self {
            Self::Cbc { .. } => Family::Aes(Mode::Cbc),
            Self::Ctr { .. } => Family::Aes(Mode::Ctr),
            Self::Gcm { .. } => Family::Aes(Mode::Gcm),
            Self::Oaep { .. } => Family::RsaOaep,
        }
    }

    /// Encrypts `data`.
    ///
    /// # Errors
    /// When the key does not fit, or a parameter is not valid.
    pub(crate) fn encrypt(&self, key: &Key, data: &[u8]) -> Result<Vec<u8>, Error> {
        self.fits(key, "encrypt()")?;
        key.allow(Usage::Encrypt)?;
        match (&key.material, key.algorithm) {
            (Material::RsaPublic(public), Algorithm::RsaOaep(hash)) => match self {
                Self::Oaep { label } => public.encrypt(Envelope::Oaep(hash, label), data),
                _ => Err(unfit(key, "encrypt()")),
            },
            (Material::Secret(secret), _) => self.apply(Direction::Encrypt, key, secret, data),
            _ => Err(unfit(key, "encrypt()")),
        }
    }

    /// Decrypts `data`.
    ///
    /// # Errors
    /// When the key does not fit, a parameter is not valid, or the data are not from [`Self::encrypt`].
    pub(crate) fn decrypt(&self, key: &Key, data: &[u8]) -> Result<Vec<u8>, Error> {
        self.fits(key, "decrypt()")?;
        key.allow(Usage::Decrypt)?;
        match (&key.material, key.algorithm) {
            (Material::RsaPrivate(private), Algorithm::RsaOaep(hash)) => match self {
                Self::Oaep { label } => private.decrypt(Envelope::Oaep(hash, label), data),
                _ => Err(unfit(key, "decrypt()")),
            },
            (Material::Secret(secret), _) => self.apply(Direction::Decrypt, key, secret, data),
            _ => Err(unfit(key, "decrypt()")),
        }
    }

    fn apply(&self, direction: Direction, key: &Key, secret: &[u8], data: &[u8]) -> Result<Vec<u8>, Error> {
        match self {
            Self::Cbc { iv } => aes::cbc(direction, secret, iv, data),
            Self::Ctr { counter, bits } => aes::ctr(secret, counter, *bits, data),
            Self::Gcm {
                iv,
                additional,
                tag_bits,
            } => aes::gcm(direction, secret, iv, additional, *tag_bits, data),
            Self::Oaep { .. } => Err(unfit(key, "RSA-OAEP")),
        }
    }

    fn fits(&self, key: &Key, what: &str) -> Result<(), Error> {
        if key.algorithm.family() == self.family() {
            return Ok(());
        }
        Err(unfit(key, &format!("{what} with {}", self.family().name())))
    }
}
