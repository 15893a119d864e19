//! Keys in their formats.

use super::{
    algorithm::Family,
    error::{Error, Kind},
    import::Format,
    jwk::Jwk,
    key::{Key, Material},
};

/// An exported key.
pub(crate) enum Exported {
    Bytes(Vec<u8>),
    Jwk(Box<Jwk>),
}

/// The key in a format.
///
/// # Errors
/// When the key must not be exported, or has no such format.
pub(crate) fn export(key: &Key, format: Format) -> Result<Exported, Error> {
    if key.algorithm.family() == Family::Pbkdf2 {
        return Err(Kind::NotSupported.error("a key of PBKDF2 cannot be exported"));
    }
    if !key.is_extractable {
        let text = "the key is not extractable; pass true when it is imported or generated";
        return Err(Kind::InvalidAccess.error(text));
    }
    let bytes = match (format, &key.material) {
        (Format::Jwk, _) => return Ok(Exported::Jwk(Box::new(Jwk::of(key)?))),
        (Format::Raw, Material::Secret(secret)) => secret.clone(),
        (Format::Raw, Material::EcPublic(public)) => public.to_point(),
        (Format::Spki, Material::EcPublic(public)) => public.to_spki()?,
        (Format::Spki, Material::RsaPublic(public)) => public.to_spki()?,
        (Format::Pkcs8, Material::EcPrivate(private)) => private.to_pkcs8()?,
        (Format::Pkcs8, Material::RsaPrivate(private)) => private.to_pkcs8()?,
        _ => {
            let text = format!(
                "a {} key of {} has no format `{}`",
                key.key_type().name(),
                key.algorithm.family().name(),
                format.name()
            );
            let is_asymmetric = !matches!(key.material, Material::Secret(_)) && format != Format::Raw;
            let kind = if is_asymmetric {
                Kind::InvalidAccess
            } else {
                Kind::NotSupported
            };
            return Err(kind.error(text));
        }
    };
    Ok(Exported::Bytes(bytes))
}
