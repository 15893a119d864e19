//! The purposes that a key may be used for.

use super::error::{Error, Kind};

/// A purpose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Usage {
    Encrypt,
    Decrypt,
    Sign,
    Verify,
    DeriveKey,
    DeriveBits,
    WrapKey,
    UnwrapKey,
}

/// A set of purposes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Usages(u8);

impl Usage {
    /// All, in the order in which keys list them.
    const ALL: [Self; 8] = [
        Self::Encrypt,
        Self::Decrypt,
        Self::Sign,
        Self::Verify,
        Self::DeriveKey,
        Self::DeriveBits,
        Self::WrapKey,
        Self::UnwrapKey,
    ];

    /// The name in W3C's specification.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Encrypt => "encrypt",
            Self::Decrypt => "decrypt",
            Self::Sign => "sign",
            Self::Verify => "verify",
            Self::DeriveKey => "deriveKey",
            Self::DeriveBits => "deriveBits",
            Self::WrapKey => "wrapKey",
            Self::UnwrapKey => "unwrapKey",
        }
    }

    /// The usage of this name.
    ///
    /// # Errors
    /// When there is no such usage.
    pub(crate) fn parse(name: &str) -> Result<Self, Error> {
        let found = Self::ALL.into_iter().find(|usage| usage.name() == name);
        found.ok_or_else(|| {
            let names: Vec<_> = Self::ALL.iter().map(|usage| usage.name()).collect();
            Kind::Type.error(format!(
                "`{name}` is not a key usage; expected {}",
                names.join(", ")
            ))
        })
    }
}

impl Usages {
    /// A set of some.
    pub(crate) const fn of(usages: &[Usage]) -> Self {
        let mut bits = 0;
        let mut at = 0;
        while at < usages.len() {
            bits |= 1 << usages[at] as u8;
            at += 1;
        }
        Self(bits)
    }

    /// Whether `usage` is in the set.
    pub(crate) fn has(self, usage: Usage) -> bool {
        self.0 & (1 << usage as u8) != 0
    }

    /// Whether the set has no usage.
    pub(crate) fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// The usages of both sets.
    pub(crate) fn and(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    /// The usages, in the order of W3C's specification.
    pub(crate) fn iter(self) -> impl Iterator<Item = Usage> {
        Usage::ALL.into_iter().filter(move |usage| self.has(*usage))
    }

    /// # Errors
    /// When the set has a usage that is not among the `allowed` ones.
    pub(crate) fn within(self, allowed: Self, of: &str) -> Result<(), Error> {
        match self.iter().find(|usage| !allowed.has(*usage)) {
            None => Ok(()),
            Some(usage) => {
                let allowed: Vec<_> = allowed.iter().map(Usage::name).collect();
                let text = match allowed.as_slice() {
                    [] => format!("{of} has no usages, not `{}`", usage.name()),
                    allowed => format!(
                        "`{}` is not a usage of {of}; expected {}",
                        usage.name(),
                        allowed.join(", ")
                    ),
                };
                Err(Kind::Syntax.error(text))
            }
        }
    }
}

impl FromIterator<Usage> for Usages {
    fn from_iter<I: IntoIterator<Item = Usage>>(usages: I) -> Self {
        usages
            .into_iter()
            .fold(Self::default(), |set, usage| Self(set.0 | Self::of(&[usage]).0))
    }
}
