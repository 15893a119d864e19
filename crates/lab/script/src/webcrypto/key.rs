//! Keys.

use super::{
    algorithm::Algorithm,
    ec,
    error::{Error, Kind},
    rsa,
    usage::{Usage, Usages},
};

/// A key with all that Web Cryptography knows about it.
#[derive(Clone)]
pub(crate) struct Key {
    /// The algorithm that it is for.
    pub(crate) algorithm: Algorithm,
    /// Whether it can be exported.
    pub(crate) is_extractable: bool,
    /// The operations that it may be used for.
    pub(crate) usages: Usages,
    /// The numbers.
    pub(super) material: Material,
}

/// The numbers of a key.
#[derive(Clone)]
pub(crate) enum Material {
    Secret(Vec<u8>),
    EcPrivate(ec::Private),
    EcPublic(ec::Public),
    RsaPrivate(Box<rsa::Private>),
    RsaPublic(Box<rsa::Public>),
}

/// Who may know a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum KeyType {
    Secret,
    Private,
    Public,
}

impl KeyType {
    /// The name in W3C's specification.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Secret => "secret",
            Self::Private => "private",
            Self::Public => "public",
        }
    }
}

impl Key {
    /// A key, after a check of its usages.
    ///
    /// # Errors
    /// When a usage does not belong to the algorithm, or a key that is not public has none.
    pub(super) fn new(
        algorithm: Algorithm,
        material: Material,
        is_extractable: bool,
        usages: Usages,
    ) -> Result<Self, Error> {
        let family = algorithm.family();
        let key_type = material.key_type();
        let allowed = match key_type {
            KeyType::Public => family.public_usages(),
            KeyType::Private | KeyType::Secret => family.private_usages(),
        };
        usages.within(
            allowed,
            &format!("a {} key of {}", key_type.name(), family.name()),
        )?;
        if usages.is_empty() && key_type != KeyType::Public {
            let text = format!("the usages of a {} key must not be empty", key_type.name());
            return Err(Kind::Syntax.error(text));
        }
        Ok(Self {
            algorithm,
            is_extractable,
            usages,
            material,
        })
    }

    /// Who may know it.
    pub(crate) fn key_type(&self) -> KeyType {
        self.material.key_type()
    }

    /// The length of a secret key or of an RSA modulus, in bits; `None` for keys of curves.
    pub(crate) fn bits(&self) -> Option<usize> {
        self.material.bits()
    }

    /// The public exponent of an RSA key, big-endian.
    pub(crate) fn exponent(&self) -> Option<Vec<u8>> {
        self.material.exponent()
    }

    /// Whether operations with the key take milliseconds: those with a private RSA key, or on a curve other than P-256
    /// (docs/decisions/0003-libraries.md, Cryptography of scripts).
    pub(crate) fn is_slow(&self) -> bool {
        match &self.material {
            Material::RsaPrivate(_) => true,
            Material::EcPrivate(key) => key.curve() != ec::Curve::P256,
            Material::EcPublic(key) => key.curve() != ec::Curve::P256,
            Material::Secret(_) | Material::RsaPublic(_) => false,
        }
    }

    /// About how much memory it takes, in bytes.
    pub(crate) fn n_bytes(&self) -> usize {
        size_of::<Self>() - size_of::<Material>() + self.material.n_bytes()
    }

    /// # Errors
    /// When the key is not for this usage.
    pub(super) fn allow(&self, usage: Usage) -> Result<(), Error> {
        if self.usages.has(usage) {
            return Ok(());
        }
        let usages: Vec<_> = self.usages.iter().map(Usage::name).collect();
        let text = format!(
            "the key is not for `{}`; its usages are [{}]",
            usage.name(),
            usages.join(", ")
        );
        Err(Kind::InvalidAccess.error(text))
    }
}

impl Material {
    /// As for [`Key::bits`].
    pub(crate) fn bits(&self) -> Option<usize> {
        let of_modulus = |key: &rsa::Public| {
            let modulus = key.modulus();
            let unused = modulus.first().map_or(0, |first| first.leading_zeros() as usize);
            modulus.len() * 8 - unused
        };
        match self {
            Self::Secret(bytes) => Some(bytes.len() * 8),
            Self::RsaPrivate(key) => Some(of_modulus(&key.public())),
            Self::RsaPublic(key) => Some(of_modulus(key)),
            Self::EcPrivate(_) | Self::EcPublic(_) => None,
        }
    }

    /// As for [`Key::exponent`].
    pub(crate) fn exponent(&self) -> Option<Vec<u8>> {
        match self {
            Self::RsaPrivate(key) => Some(key.public().exponent()),
            Self::RsaPublic(key) => Some(key.exponent()),
            _ => None,
        }
    }

    /// The curve of the key.
    pub(crate) fn curve(&self) -> Option<ec::Curve> {
        match self {
            Self::EcPrivate(key) => Some(key.curve()),
            Self::EcPublic(key) => Some(key.curve()),
            _ => None,
        }
    }

    /// About how much memory it takes, in bytes.
    pub(crate) fn n_bytes(&self) -> usize {
        /// Numbers of the size of the modulus that a private key holds, prepared ones included.
        const RSA_NUMBERS: usize = 16;
        size_of::<Self>()
            + match self {
                Self::Secret(bytes) => bytes.len(),
                Self::EcPrivate(_) | Self::EcPublic(_) => 0,
                Self::RsaPrivate(_) | Self::RsaPublic(_) => self.bits().unwrap_or_default() / 8 * RSA_NUMBERS,
            }
    }

    /// Who may know it.
    pub(crate) fn key_type(&self) -> KeyType {
        match self {
            Self::Secret(_) => KeyType::Secret,
            Self::EcPrivate(_) | Self::RsaPrivate(_) => KeyType::Private,
            Self::EcPublic(_) | Self::RsaPublic(_) => KeyType::Public,
        }
    }
}

/// The error for a key of another algorithm or kind than an operation needs.
pub(super) fn unfit(key: &Key, what: &str) -> Error {
    let text = format!(
        "{what} does not work with a {} key of {}",
        key.key_type().name(),
        key.algorithm.family().name()
    );
    Kind::InvalidAccess.error(text)
}
