//! The parameters of `Client.connect`.

use std::time::Duration;

use plimsoll_clients::grpc::Metadata;
use rquickjs::{Ctx, Exception, Object, Result, Value};

use super::{
    go_syntax, metadata,
    params::{duration, entries},
};
use crate::{arguments::utf8, network::OwnTls};

/// How long connecting may take.
const DEFAULT_TIMEOUT: Duration = Duration::from_secs(60);

/// The parameters.
#[derive(Debug)]
pub(super) struct ConnectParams {
    pub(super) is_plaintext: bool,
    pub(super) reflects: bool,
    pub(super) reflection_metadata: Metadata,
    pub(super) timeout: Duration,
    /// `None` for the default.
    pub(super) max_received_bytes: Option<usize>,
    /// `None` for the default.
    pub(super) max_sent_bytes: Option<usize>,
    pub(super) tls: Option<OwnTls>,
    pub(super) authority: Option<String>,
}

impl Default for ConnectParams {
    fn default() -> Self {
        Self {
            is_plaintext: false,
            reflects: false,
            reflection_metadata: Metadata::default(),
            timeout: DEFAULT_TIMEOUT,
            max_received_bytes: None,
            max_sent_bytes: None,
            tls: None,
            authority: None,
        }
    }
}

impl ConnectParams {
    /// Reads parameters.
    ///
    /// # Errors
    /// An Error: a parameter is unknown or has the wrong type.
    pub(super) fn read<'js>(ctx: &Ctx<'js>, value: Option<&Value<'js>>) -> Result<Self> {
        let mut params = Self::default();
        for (name, value) in entries(value)? {
            params.take(&name, &value)?.map_err(|error| {
                let text = format!("invalid grpc.connect() parameters: {error}");
                Exception::throw_message(ctx, &text)
            })?;
        }
        Ok(params)
    }

    fn take(&mut self, name: &str, value: &Value<'_>) -> Result<std::result::Result<(), String>> {
        let taken = match name {
            "plaintext" => truth(name, value).map(|value| self.is_plaintext = value),
            "reflect" => truth(name, value).map(|value| self.reflects = value),
            "reflectMetadata" => match metadata::read(value)? {
                Ok(metadata) => {
                    self.reflection_metadata = metadata;
                    Ok(())
                }
                Err(error) => Err(format!("invalid reflectMetadata param: {error}")),
            },
            "timeout" => match duration(value) {
                // Zero is over at once here.
                Ok(timeout) => {
                    self.timeout = timeout.unwrap_or_default();
                    Ok(())
                }
                Err(error) => Err(format!("invalid timeout value: {error}")),
            },
            "maxReceiveSize" => size(name, value).map(|bytes| self.max_received_bytes = bytes),
            "maxSendSize" => size(name, value).map(|bytes| self.max_sent_bytes = bytes),
            "tls" => tls(value).map(|tls| self.tls = Some(tls)),
            "authority" => match value.as_string() {
                Some(text) => {
                    self.authority = Some(utf8(text)?).filter(|text| !text.is_empty());
                    Ok(())
                }
                None => Err(wrong(name, value, "it needs to be a string")),
            },
            unknown => Err(format!("unknown connect param: {unknown:?}")),
        };
        Ok(taken)
    }
}

fn wrong(name: &str, value: &Value<'_>, expected: &str) -> String {
    format!("invalid {name} value: '{}', {expected}", go_syntax::value(value))
}

fn truth(name: &str, value: &Value<'_>) -> std::result::Result<bool, String> {
    value
        .as_bool()
        .ok_or_else(|| wrong(name, value, "it needs to be boolean"))
}

/// A number of bytes; zero stands for the default.
fn size(name: &str, value: &Value<'_>) -> std::result::Result<Option<usize>, String> {
    let number = value.as_number().filter(|number| number.fract() == 0.0);
    let number = number.ok_or_else(|| wrong(name, value, "it needs to be an integer"))?;
    if number < 0.0 {
        // Without the second quote, as in k6.
        let shown = go_syntax::value(value);
        return Err(format!(
            "invalid {name} value: '{shown}, it needs to be a positive integer"
        ));
    }
    Ok((number > 0.0).then_some(number as usize))
}

fn tls(value: &Value<'_>) -> std::result::Result<OwnTls, String> {
    let expected = "expected (optional) keys: cert, key, password, and cacerts";
    let object = value.as_object().filter(|object| !object.is_array());
    let object = object.ok_or_else(|| wrong("tls", value, expected))?;
    let pem = "it needs to be a PEM formatted string";
    let one = |name: &str, expected: &str| match property(object, name) {
        None => Ok(String::new()),
        Some(found) => found
            .as_string()
            .and_then(|text| utf8(text).ok())
            .ok_or_else(|| wrong(&format!("tls {name}"), value, expected)),
    };
    let tls = OwnTls {
        certificate: one("cert", pem)?,
        key: one("key", pem)?,
        authorities: Vec::new(),
    };
    if !one("password", "it needs to be a string")?.is_empty() {
        let text = "the key in tls.key has a password, which is not supported; write it without one, for example with \
            `openssl pkey -in key.pem -out plain.pem`";
        return Err(text.to_owned());
    }
    let Some(authorities) = property(object, "cacerts") else {
        return Ok(tls);
    };
    let texts = match authorities.as_array() {
        Some(list) => list.iter::<Value<'_>>().filter_map(Result::ok).collect(),
        None => vec![authorities.clone()],
    };
    let texts: Option<Vec<_>> = texts.iter().map(|text| utf8(text.as_string()?).ok()).collect();
    let expected = "it needs to be a string or an array of PEM formatted strings";
    let authorities = texts.ok_or_else(|| wrong("tls cacerts", value, expected))?;
    Ok(OwnTls { authorities, ..tls })
}

fn property<'js>(object: &Object<'js>, name: &str) -> Option<Value<'js>> {
    object.contains_key(name).ok()?.then(|| object.get(name).ok())?
}
