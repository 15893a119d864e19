//! The options of a script's connection.

use std::{collections::BTreeMap, time::Duration};

use plimsoll_cable::{encoding::Encoding, subprotocol::Dialect};
use plimsoll_clients::cable::session::Resumption;
use plimsoll_load::nearest::nearest;
use rquickjs::{Class, Ctx, Exception, Result, Value};

use super::{client::Client, log::LogLevel};
use crate::{arguments::utf8, inspect::inspect};

/// The options of `cable.connect`. An unknown one is an error, as in k6's extension; upper and lower case are equal.
pub(super) struct ConnectOptions {
    /// The `Cookie` header; empty for none. It replaces a `Cookie` among the headers.
    pub(super) cookies: String,
    /// Header lines of the upgrade.
    pub(super) headers: BTreeMap<String, String>,
    /// Tags of all samples of the client.
    pub(super) tags: BTreeMap<String, String>,
    /// The time limit from the name lookup until the welcome. Default 60 s, also for 0.
    pub(super) handshake_timeout: Duration,
    /// The time limit of subscribing and receiving. Default 1 s, also for 0.
    pub(super) receive_timeout: Duration,
    /// The level of this client's log lines.
    pub(super) log: LogLevel,
    /// Whether failures to connect and to subscribe are exceptions.
    pub(super) throws: bool,
    /// The encoding of messages.
    codec: Option<Encoding>,
    /// The sub-protocol that the script names.
    protocol: Option<Dialect>,
    /// Whether to resume the session of an earlier client. Only the extended protocol supports this.
    resumes: bool,
    /// The data of the session to resume; `None` for a new session.
    pub(super) resumption: Option<Resumption>,
}

impl Default for ConnectOptions {
    fn default() -> Self {
        Self {
            cookies: String::new(),
            headers: BTreeMap::new(),
            tags: BTreeMap::new(),
            handshake_timeout: Duration::from_secs(60),
            receive_timeout: Duration::from_secs(1),
            log: LogLevel::default(),
            throws: false,
            codec: None,
            protocol: None,
            resumes: false,
            resumption: None,
        }
    }
}

const KNOWN: &str =
    "cookies, headers, tags, handshakeTimeoutS, receiveTimeoutMs, logLevel, codec, throw, protocol, resume";

impl ConnectOptions {
    /// Reads them; `undefined` and `null` mean the default, for the whole and for each.
    ///
    /// # Errors
    /// A TypeError that names the option, what it was, and what was expected.
    pub(super) fn read<'js>(ctx: &Ctx<'js>, options: Option<Value<'js>>) -> Result<Self> {
        let mut read = Self::default();
        let Some(options) = options.filter(|options| !is_nothing(options)) else {
            return Ok(read);
        };
        let Some(object) = options.as_object() else {
            let text = format!(
                "the options of cable.connect() are {}; expected an object",
                inspect(&options)
            );
            return Err(Exception::throw_type(ctx, &text));
        };
        for entry in object.props::<String, Value<'js>>() {
            let (key, value) = entry?;
            if !is_nothing(&value) {
                let set = read.set(&key, &value);
                set.map_err(|expected| refuse(ctx, &key, &value, &expected))?;
            }
        }
        let is_possible = read.check_dialect();
        is_possible.map_err(|text| Exception::throw_type(ctx, &text))?;
        Ok(read)
    }

    /// The offered protocol: the one that the script names, or else the base protocol, or to resume a session the
    /// extended one, in the codec.
    pub(super) fn dialect(&self) -> Dialect {
        self.protocol.unwrap_or(Dialect {
            encoding: self.codec.unwrap_or_default(),
            is_extended: self.resumes,
        })
    }

    /// Checks that the options fit together. The error says what to write instead.
    fn check_dialect(&self) -> std::result::Result<(), String> {
        let Dialect {
            encoding,
            is_extended,
        } = self.dialect();
        if let Some(codec) = self.codec.filter(|codec| *codec != encoding) {
            let wanted = Dialect {
                encoding: codec,
                is_extended,
            };
            return Err(format!(
                "the options codec and protocol of cable.connect() contradict each other: the codec {codec} needs {}",
                wanted.subprotocol()
            ));
        }
        Ok(())
    }

    /// Sets one option. The error names the expected value.
    fn set(&mut self, key: &str, value: &Value<'_>) -> std::result::Result<(), String> {
        match key.to_ascii_lowercase().as_str() {
            "cookies" => self.cookies = text(value)?,
            "headers" => self.headers = texts(value)?,
            "tags" => self.tags = texts(value)?,
            "handshaketimeouts" => set_timeout(&mut self.handshake_timeout, value, Duration::from_secs)?,
            "receivetimeoutms" => set_timeout(&mut self.receive_timeout, value, Duration::from_millis)?,
            "loglevel" => self.log = LogLevel::parse(&text(value)?)?,
            "codec" => self.codec = Some(codec(&text(value)?)?),
            "throw" => self.throws = value.as_bool().ok_or("true or false")?,
            "protocol" => self.protocol = Some(protocol(&text(value)?)?),
            "resume" => {
                self.resumption = resumption(value)?;
                self.resumes = true;
            }
            _ => return Err(format!("one of the options {KNOWN}")),
        }
        Ok(())
    }

    /// Something came to nothing: an exception with `throw`, otherwise a line in the log.
    ///
    /// # Errors
    /// With `throw`.
    pub(super) fn failed(&self, ctx: &Ctx<'_>, text: &str) -> Result<()> {
        if self.throws {
            return Err(Exception::throw_message(ctx, text));
        }
        self.log.error(text);
        Ok(())
    }
}

fn is_nothing(value: &Value<'_>) -> bool {
    value.is_undefined() || value.is_null()
}

fn refuse(ctx: &Ctx<'_>, key: &str, value: &Value<'_>, expected: &str) -> rquickjs::Error {
    let text = format!(
        "the option {key} of cable.connect() is {}; expected {expected}",
        inspect(value)
    );
    Exception::throw_type(ctx, &text)
}

fn text(value: &Value<'_>) -> std::result::Result<String, String> {
    let text = value.as_string().and_then(|text| utf8(text).ok());
    text.ok_or_else(|| "a text".to_owned())
}

fn texts(value: &Value<'_>) -> std::result::Result<BTreeMap<String, String>, String> {
    let expected = || "an object of strings, for example { name: 'value' }".to_owned();
    let object = value.as_object().ok_or_else(expected)?;
    let entries = object.props::<String, Value<'_>>().map(|entry| {
        let (name, value) = entry.map_err(|_| expected())?;
        Ok((name, text(&value).map_err(|_| expected())?))
    });
    entries.collect()
}

fn set_timeout(
    timeout: &mut Duration,
    value: &Value<'_>,
    unit: fn(u64) -> Duration,
) -> std::result::Result<(), String> {
    let number = value
        .as_number()
        .filter(|number| number.fract() == 0.0 && (0.0..=1e12).contains(number));
    let number = number.ok_or("a whole number of 0 (the default) or more")?;
    if number > 0.0 {
        *timeout = unit(number as u64);
    }
    Ok(())
}

fn codec(name: &str) -> std::result::Result<Encoding, String> {
    let codec = name.parse::<Encoding>();
    codec.map_err(|_| {
        let guess = nearest(name, Encoding::ALL.map(Encoding::name));
        let guess = guess.map(|guess| format!("; did you mean `{guess}`?"));
        format!("json, msgpack or protobuf{}", guess.unwrap_or_default())
    })
}

fn protocol(name: &str) -> std::result::Result<Dialect, String> {
    Dialect::named(name).ok_or_else(|| {
        let names: Vec<_> = Dialect::names().collect();
        format!("one of {}", names.join(", "))
    })
}

fn resumption(value: &Value<'_>) -> std::result::Result<Option<Resumption>, String> {
    let client =
        Class::<Client>::from_value(value).map_err(|_| "a client of an earlier connect()".to_owned())?;
    let resumption = client.borrow().resumption();
    // Without an id there is no session to resume. A new session begins, as if the server had forgotten the old one.
    Ok(resumption)
}
