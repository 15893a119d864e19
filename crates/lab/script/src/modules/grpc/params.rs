//! The parameters of calls and streams.

use std::{collections::BTreeMap, time::Duration};

use plimsoll_clients::grpc::Metadata;
use plimsoll_load::plan::parse_duration;
use rquickjs::{Ctx, Exception, FromJs as _, Result, Value};

use super::{go_syntax, metadata};
use crate::{
    arguments::{Text, utf8},
    modules::k6::is_truthy,
};

/// The parameters of one call.
#[derive(Debug, Default)]
pub(super) struct Params {
    pub(super) metadata: Metadata,
    pub(super) tags: BTreeMap<String, String>,
    /// `None` without one. A negative one is zero: it is over before the call begins.
    pub(super) timeout: Option<Duration>,
    pub(super) discards_message: bool,
}

impl Params {
    /// Reads parameters; `whose` begins the texts of errors.
    ///
    /// # Errors
    /// An Error: a parameter is unknown or has the wrong type.
    pub(super) fn read<'js>(ctx: &Ctx<'js>, value: Option<&Value<'js>>, whose: &str) -> Result<Self> {
        let mut params = Self::default();
        let fail = |text: String| Exception::throw_message(ctx, &format!("{whose} parameters: {text}"));
        for (name, value) in entries(value)? {
            let taken = params.take(ctx, &name, &value)?;
            taken.map_err(fail)?;
        }
        Ok(params)
    }

    fn take<'js>(
        &mut self,
        ctx: &Ctx<'js>,
        name: &str,
        value: &Value<'js>,
    ) -> Result<std::result::Result<(), String>> {
        match name {
            "metadata" => match metadata::read(value)? {
                Ok(metadata) => self.metadata = metadata,
                Err(error) => return Ok(Err(format!("invalid metadata param: {error}"))),
            },
            "tags" => {
                for (name, value) in entries(Some(value))? {
                    if !(value.is_string() || value.is_number() || value.is_bool()) {
                        return Ok(Err(format!(
                            "metric tags: invalid value for metric tag '{name}': only String, Boolean and Number types \
                             are accepted as a metric tag values"
                        )));
                    }
                    self.tags.insert(name, Text::from_js(ctx, value)?.0);
                }
            }
            "timeout" => match duration(value) {
                Ok(timeout) => self.timeout = timeout,
                Err(error) => return Ok(Err(format!("invalid timeout value: {error}"))),
            },
            "discardResponseMessage" => self.discards_message = is_truthy(value),
            unknown => return Ok(Err(format!("unknown param: {unknown:?}"))),
        }
        Ok(Ok(()))
    }
}

/// The own properties of a value that is taken for an object. Numbers have none, and texts one for each character.
pub(super) fn entries<'js>(value: Option<&Value<'js>>) -> Result<Vec<(String, Value<'js>)>> {
    let Some(value) = value else { return Ok(Vec::new()) };
    if let Some(text) = value.as_string() {
        let first = utf8(text)?.chars().next();
        return Ok(first
            .map(|_| ("0".to_owned(), value.clone()))
            .into_iter()
            .collect());
    }
    let object = value.as_object();
    object.map_or_else(|| Ok(Vec::new()), |object| object.props().collect())
}

/// Milliseconds, or a text such as `10s`. `None` for zero, which stands for no timeout of its own.
///
/// # Errors
/// For people, in k6's words.
pub(super) fn duration(value: &Value<'_>) -> std::result::Result<Option<Duration>, String> {
    let time = if let Some(ms) = value.as_number() {
        if ms < 0.0 {
            return Ok(Some(Duration::ZERO));
        }
        Duration::try_from_secs_f64(ms / 1000.0).unwrap_or(Duration::MAX)
    } else if let Some(text) = value.as_string() {
        let text = utf8(text).unwrap_or_default();
        parse_duration(&text).map_err(|_| format!("time: invalid duration {text:?}"))?
    } else {
        let kind = go_syntax::type_of(value);
        return Err(format!("unable to use type {kind} as a duration value"));
    };
    Ok((!time.is_zero()).then_some(time))
}
