//! Keys of pairs in their documents, of any kind that Node and OpenSSL write: PKCS#1 (RFC 8017), PKCS#8 (RFC 5958),
//! SEC 1 (RFC 5915) and SubjectPublicKeyInfo (RFC 5280), as DER or as PEM.

use x509_cert::der::{Decode as _, Encode as _};

use super::{
    ec::{self, Curve},
    error::{Error, Kind},
    key::{KeyType, Material},
    pem, rsa,
};

/// A form of a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    Pkcs1,
    Pkcs8,
    Sec1,
    Spki,
}

/// Why a document has no key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unreadable {
    /// The text has no key of the wanted kind.
    NoKey,
    /// The key is encrypted.
    Encrypted,
    /// The key is malformed, or neither of RSA nor of a curve that exists here.
    Unsupported,
}

impl Form {
    /// The form of Node's name.
    pub(crate) fn parse(name: &str) -> Option<Self> {
        match name {
            "pkcs1" => Some(Self::Pkcs1),
            "pkcs8" => Some(Self::Pkcs8),
            "sec1" => Some(Self::Sec1),
            "spki" => Some(Self::Spki),
            _ => None,
        }
    }
}

impl Material {
    /// The key of a DER document: the private or the public one.
    pub(crate) fn of_der(form: Form, wanted: KeyType, der: &[u8]) -> Option<Self> {
        match (form, wanted) {
            (Form::Pkcs1, KeyType::Private) => {
                let key = rsa::Private::from_pkcs1(der).ok()?;
                Some(Self::RsaPrivate(Box::new(key)))
            }
            (Form::Pkcs1, _) => {
                let key = rsa::Public::from_pkcs1(der).ok()?;
                Some(Self::RsaPublic(Box::new(key)))
            }
            (Form::Pkcs8, _) => of_pkcs8(der),
            (Form::Spki, _) => of_spki(der),
            (Form::Sec1, _) => {
                let on = |curve| ec::Private::from_sec1(curve, der).ok();
                Curve::ALL.into_iter().find_map(on).map(Self::EcPrivate)
            }
        }
    }

    /// The first key of a PEM text that is private, if `wanted` is, and of any kind otherwise: a public key can be found
    /// in a private key and in a certificate.
    ///
    /// # Errors
    /// When there is none.
    pub(crate) fn of_pem(text: &str, wanted: KeyType) -> Result<Self, Unreadable> {
        for block in pem::blocks(text) {
            let (form, found) = match block.label {
                "RSA PRIVATE KEY" => (Form::Pkcs1, KeyType::Private),
                "EC PRIVATE KEY" => (Form::Sec1, KeyType::Private),
                "PRIVATE KEY" => (Form::Pkcs8, KeyType::Private),
                "ENCRYPTED PRIVATE KEY" => return Err(Unreadable::Encrypted),
                "RSA PUBLIC KEY" => (Form::Pkcs1, KeyType::Public),
                "PUBLIC KEY" => (Form::Spki, KeyType::Public),
                "CERTIFICATE" if wanted == KeyType::Public => {
                    return of_certificate(&block.der).ok_or(Unreadable::Unsupported);
                }
                _ => continue,
            };
            if wanted == KeyType::Private && found == KeyType::Public {
                continue;
            }
            if block.is_encrypted {
                return Err(Unreadable::Encrypted);
            }
            return Self::of_der(form, found, &block.der).ok_or(Unreadable::Unsupported);
        }
        Err(Unreadable::NoKey)
    }

    /// The key as a DER document.
    ///
    /// # Errors
    /// When the key has no such form.
    pub(crate) fn to_der(&self, form: Form) -> Result<Vec<u8>, Error> {
        match (form, self) {
            (Form::Pkcs1, Self::RsaPrivate(key)) => key.to_pkcs1(),
            (Form::Pkcs1, Self::RsaPublic(key)) => key.to_pkcs1(),
            (Form::Pkcs8, Self::RsaPrivate(key)) => key.to_pkcs8(),
            (Form::Pkcs8, Self::EcPrivate(key)) => key.to_pkcs8(),
            (Form::Sec1, Self::EcPrivate(key)) => key.to_sec1(),
            (Form::Spki, Self::RsaPublic(key)) => key.to_spki(),
            (Form::Spki, Self::EcPublic(key)) => key.to_spki(),
            _ => Err(Kind::NotSupported.error(format!("the key has no form {form:?}"))),
        }
    }
}

fn of_pkcs8(der: &[u8]) -> Option<Material> {
    if let Ok(key) = rsa::Private::from_pkcs8(der) {
        return Some(Material::RsaPrivate(Box::new(key)));
    }
    let on = |curve| ec::Private::from_pkcs8(curve, der).ok();
    Curve::ALL.into_iter().find_map(on).map(Material::EcPrivate)
}

fn of_spki(der: &[u8]) -> Option<Material> {
    if let Ok(key) = rsa::Public::from_spki(der) {
        return Some(Material::RsaPublic(Box::new(key)));
    }
    let on = |curve| ec::Public::from_spki(curve, der).ok();
    Curve::ALL.into_iter().find_map(on).map(Material::EcPublic)
}

fn of_certificate(der: &[u8]) -> Option<Material> {
    let certificate = x509_cert::Certificate::from_der(der).ok()?;
    let info = certificate.tbs_certificate().subject_public_key_info();
    of_spki(&info.to_der().ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A private key in all its forms, read again.
    fn check(key: &Material, forms: &[Form]) {
        for form in forms {
            let der = key.to_der(*form).unwrap();
            let again = Material::of_der(*form, KeyType::Private, &der).unwrap();
            assert_eq!(
                again.to_der(Form::Pkcs8).unwrap(),
                key.to_der(Form::Pkcs8).unwrap()
            );
            for cut in [0, 1, der.len() / 2, der.len() - 1] {
                let cut = Material::of_der(*form, KeyType::Private, &der[..cut]);
                assert!(cut.is_none(), "{form:?}");
            }
        }
        let public = key.public_half().unwrap();
        let der = public.to_der(Form::Spki).unwrap();
        let again = Material::of_der(Form::Spki, KeyType::Public, &der).unwrap();
        assert_eq!(again.to_der(Form::Spki).unwrap(), der);
    }

    #[test]
    fn keys_come_back_from_their_documents() {
        for curve in Curve::ALL {
            let key = Material::EcPrivate(ec::Private::generate(curve).unwrap());
            check(&key, &[Form::Pkcs8, Form::Sec1]);
            assert!(key.to_der(Form::Pkcs1).is_err());
        }
        let key = rsa::Private::generate(1024, &[1, 0, 1]).unwrap();
        let key = Material::RsaPrivate(Box::new(key));
        check(&key, &[Form::Pkcs8, Form::Pkcs1]);
        let public = key.public_half().unwrap();
        let der = public.to_der(Form::Pkcs1).unwrap();
        assert!(Material::of_der(Form::Pkcs1, KeyType::Public, &der).is_some());
    }

    #[test]
    fn texts_without_a_key_are_refused() {
        let check = |text: &str, wanted: KeyType, expected: Unreadable| {
            let found = Material::of_pem(text, wanted).map(|key| key.key_type());
            assert_eq!(found.unwrap_err(), expected, "{text}");
        };
        let block = |label: &str| format!("-----BEGIN {label}-----\nYQ==\n-----END {label}-----");
        for wanted in [KeyType::Private, KeyType::Public] {
            check("secret", wanted, Unreadable::NoKey);
            check(&block("EC PARAMETERS"), wanted, Unreadable::NoKey);
            check(&block("PRIVATE KEY"), wanted, Unreadable::Unsupported);
            check(&block("ENCRYPTED PRIVATE KEY"), wanted, Unreadable::Encrypted);
        }
        for label in ["PUBLIC KEY", "CERTIFICATE"] {
            check(&block(label), KeyType::Private, Unreadable::NoKey);
            check(&block(label), KeyType::Public, Unreadable::Unsupported);
        }
    }
}
