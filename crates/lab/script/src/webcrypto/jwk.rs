//! JSON Web Keys (RFC 7517 and 7518).

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use serde::{Deserialize, Serialize};

use super::{
    algorithm::Algorithm,
    ec::{self, Curve},
    error::{Error, Kind},
    key::{Key, Material},
    rsa,
    usage::Usage,
};

/// A JSON Web Key; the parts that belong to the kind of key.
#[derive(Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Jwk {
    kty: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    k: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    crv: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    x: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    y: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    n: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    e: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    d: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    p: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    q: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    dp: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    dq: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    qi: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    alg: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ext: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    key_ops: Option<Vec<String>>,
}

impl Jwk {
    /// The numbers of the key, for this algorithm.
    ///
    /// # Errors
    /// When a part is missing or malformed, or belongs to another algorithm.
    pub(super) fn material(&self, algorithm: Algorithm) -> Result<Material, Error> {
        match algorithm {
            Algorithm::Aes(_) | Algorithm::Hmac(_) => {
                self.expect_kty("oct")?;
                Ok(Material::Secret(required("k", self.k.as_ref())?))
            }
            Algorithm::Ecdsa(curve) | Algorithm::Ecdh(curve) => self.on_curve(curve),
            Algorithm::RsaOaep(_) | Algorithm::RsaPss(_) | Algorithm::RsaPkcs1(_) => self.rsa(),
            Algorithm::Pbkdf2 => Err(Kind::NotSupported.error("a key of PBKDF2 is imported as \"raw\"")),
        }
    }

    /// The numbers of a private or public key, whatever it is for.
    ///
    /// # Errors
    /// When a part is missing or malformed, or the kind of key is not supported.
    pub(crate) fn of_a_pair(&self) -> Result<Material, Error> {
        if self.kty == "EC" {
            return self.on_curve(Curve::parse(self.crv.as_deref().unwrap_or_default())?);
        }
        self.rsa()
    }

    fn on_curve(&self, curve: Curve) -> Result<Material, Error> {
        self.expect_kty("EC")?;
        let crv = self.crv.as_deref().unwrap_or_default();
        if crv != curve.name() {
            let text = format!(
                "the `crv` of the JSON Web Key is `{crv}`, and namedCurve is {}",
                curve.name()
            );
            return Err(Kind::Data.error(text));
        }
        let (x, y) = (required("x", self.x.as_ref())?, required("y", self.y.as_ref())?);
        let public = ec::Public::from_coordinates(curve, &x, &y)?;
        let Some(d) = part("d", self.d.as_ref())? else {
            return Ok(Material::EcPublic(public));
        };
        let private = ec::Private::from_scalar(curve, &d)?;
        if private.public().to_point() != public.to_point() {
            return Err(Kind::Data.error("`d` of the JSON Web Key does not belong to `x` and `y`"));
        }
        Ok(Material::EcPrivate(private))
    }

    fn rsa(&self) -> Result<Material, Error> {
        self.expect_kty("RSA")?;
        let (n, e) = (required("n", self.n.as_ref())?, required("e", self.e.as_ref())?);
        let Some(d) = part("d", self.d.as_ref())? else {
            return Ok(Material::RsaPublic(Box::new(rsa::Public::from_numbers(&n, &e)?)));
        };
        let (p, q) = (required("p", self.p.as_ref())?, required("q", self.q.as_ref())?);
        let private = rsa::Private::from_numbers(&n, &e, &d, &p, &q)?;
        Ok(Material::RsaPrivate(Box::new(private)))
    }

    fn expect_kty(&self, expected: &str) -> Result<(), Error> {
        if self.kty == expected {
            return Ok(());
        }
        let text = format!(
            "the `kty` of the JSON Web Key is `{}`; expected `{expected}`",
            self.kty
        );
        Err(Kind::Data.error(text))
    }

    /// The JSON Web Key of a key.
    ///
    /// # Errors
    /// Never, for a key that exists; the library's interface allows for one.
    pub(super) fn of(key: &Key) -> Result<Self, Error> {
        let key_ops = key.usages.iter().map(|usage: Usage| usage.name().to_owned());
        Ok(Self {
            alg: alg(key),
            ext: Some(key.is_extractable),
            key_ops: Some(key_ops.collect()),
            ..Self::of_material(&key.material)?
        })
    }

    /// The numbers of a key, without what it is for.
    ///
    /// # Errors
    /// Never, for a key that exists; the library's interface allows for one.
    pub(crate) fn of_material(material: &Material) -> Result<Self, Error> {
        let mut jwk = Self::default();
        match material {
            Material::Secret(secret) => {
                jwk.kty = "oct".to_owned();
                jwk.k = encoded(secret);
            }
            Material::EcPublic(public) => jwk.set_point(public),
            Material::EcPrivate(private) => {
                jwk.set_point(&private.public());
                jwk.d = encoded(&private.to_scalar());
            }
            Material::RsaPublic(public) => jwk.set_modulus(public),
            Material::RsaPrivate(private) => {
                jwk.set_modulus(&private.public());
                let numbers = private.numbers();
                let numbers = numbers.ok_or_else(|| Kind::Operation.error("the key has not two primes"))?;
                jwk.d = encoded(&numbers.d);
                jwk.p = encoded(&numbers.p);
                jwk.q = encoded(&numbers.q);
                jwk.dp = encoded(&numbers.dp);
                jwk.dq = encoded(&numbers.dq);
                jwk.qi = encoded(&numbers.qi);
            }
        }
        Ok(jwk)
    }

    fn set_point(&mut self, public: &ec::Public) {
        self.kty = "EC".to_owned();
        self.crv = Some(public.curve().name().to_owned());
        let point = public.to_point();
        // The first byte says that both coordinates follow.
        let (x, y) = point[1..].split_at(public.curve().n_bytes());
        self.x = encoded(x);
        self.y = encoded(y);
    }

    fn set_modulus(&mut self, public: &rsa::Public) {
        self.kty = "RSA".to_owned();
        self.n = encoded(&public.modulus());
        self.e = encoded(&public.exponent());
    }
}

/// The name of an algorithm in JSON Web Keys; `None` where RFC 7518 has none.
fn alg(key: &Key) -> Option<String> {
    let digest = key
        .algorithm
        .hash()
        .map(|hash| hash.name().trim_start_matches("SHA-"));
    match (key.algorithm, digest) {
        (Algorithm::Aes(mode), _) => {
            let mode = mode.name().trim_start_matches("AES-");
            Some(format!("A{}{mode}", key.bits().unwrap_or_default()))
        }
        (Algorithm::Hmac(_), Some(digest)) => Some(format!("HS{digest}")),
        (Algorithm::RsaPkcs1(_), Some(digest)) => Some(format!("RS{digest}")),
        (Algorithm::RsaPss(_), Some(digest)) => Some(format!("PS{digest}")),
        (Algorithm::RsaOaep(_), Some("1")) => Some("RSA-OAEP".to_owned()),
        (Algorithm::RsaOaep(_), Some(digest)) => Some(format!("RSA-OAEP-{digest}")),
        _ => None,
    }
}

fn encoded(bytes: &[u8]) -> Option<String> {
    Some(URL_SAFE_NO_PAD.encode(bytes))
}

fn required(name: &str, part_text: Option<&String>) -> Result<Vec<u8>, Error> {
    part(name, part_text)?.ok_or_else(|| Kind::Data.error(format!("the JSON Web Key has no `{name}`")))
}

/// The bytes of a part; `None` for a missing or an empty one.
fn part(name: &str, text: Option<&String>) -> Result<Option<Vec<u8>>, Error> {
    let Some(text) = text.filter(|text| !text.is_empty()) else {
        return Ok(None);
    };
    let bytes = URL_SAFE_NO_PAD.decode(text);
    bytes.map(Some).map_err(|_| {
        Kind::Data.error(format!(
            "`{name}` of the JSON Web Key is not base64url without padding"
        ))
    })
}
