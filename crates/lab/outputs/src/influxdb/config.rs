//! The settings of InfluxDB: the argument, then k6's variables `K6_INFLUXDB_…`.

use std::{collections::BTreeMap, time::Duration};

use base64::{Engine as _, prelude::BASE64_STANDARD};
use http::{
    HeaderMap, HeaderValue, Uri,
    header::{AUTHORIZATION, CONTENT_TYPE, USER_AGENT},
};
use percent_encoding::{NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use rustls::ClientConfig;

use super::line::{FieldKind, Precision};
use crate::{
    OutputError,
    settings::{Settings, http_url},
    tls::{self, Tls},
};

/// The time limit of one request.
pub(super) const REQUEST_LIMIT: Duration = Duration::from_secs(10);

const ADDRESS: &str = "http://localhost:8086";
const DATABASE: &str = "k6";
const FIELDS: &str = "vu,iter,url";

const URL_EXPECTED: &str = "the URL of a server and a database, for example `http://localhost:8086/k6`";
const FIELDS_EXPECTED: &str =
    "a list of tags, each with `:string`, `:bool`, `:float` or `:int`, such as `vu:int,url`";
const PRECISION_EXPECTED: &str = "`ns`, `u`, `ms` or `s`";

/// A database, and what is written to it.
#[derive(Clone, Debug)]
pub(crate) struct InfluxDb {
    /// For people: server and database.
    pub(crate) place: String,
    pub(super) write: Uri,
    pub(super) create: Uri,
    pub(super) headers: HeaderMap,
    pub(super) tls: ClientConfig,
    pub(super) fields: BTreeMap<String, FieldKind>,
    pub(super) precision: Precision,
}

/// The argument in its parts; what it lacks comes from variables.
#[derive(Default)]
struct Argument {
    address: Option<String>,
    database: Option<String>,
    user: Option<(String, String)>,
    query: BTreeMap<String, String>,
}

impl InfluxDb {
    /// `argument` goes before the variables.
    pub(crate) fn read(argument: Option<&str>, settings: Settings<'_>) -> Result<Self, OutputError> {
        let refused = |problem: String| OutputError::Argument {
            output: format!(
                "influxdb={}",
                plimsoll_redacted::url_with_query(argument.unwrap_or_default())
            ),
            problem,
        };
        let parts = argument.map(Argument::parse).transpose().map_err(refused)?;
        let Argument {
            address,
            database,
            user,
            mut query,
        } = parts.unwrap_or_default();
        let mut chosen = |key: &str, variable: &str| {
            let variable = format!("K6_INFLUXDB_{variable}");
            query.remove(key).or_else(|| settings.text(&[&variable]))
        };
        let insecure =
            chosen("insecure", "INSECURE").is_some_and(|value| matches!(value.as_str(), "true" | "1" | "t"));
        let precision = chosen("precision", "PRECISION");
        let retention = chosen("retention", "RETENTION");
        let consistency = chosen("consistency", "CONSISTENCY");
        let fields = chosen("tagsAsFields", "TAGS_AS_FIELDS");
        // How often and how much is sent follows the run here; HTTP has no payloads of UDP.
        for key in ["pushInterval", "concurrentWrites", "payload_size"] {
            query.remove(key);
        }
        if let Some(key) = query.keys().next() {
            return Err(refused(format!(
                "it has no `{key}`; expected insecure, precision, retention, consistency or tagsAsFields"
            )));
        }
        settings.refuse(
            &["K6_INFLUXDB_PROXY"],
            "proxies of the database are not supported; send to it directly, or to a relay",
        )?;
        let address = address
            .or_else(|| settings.text(&["K6_INFLUXDB_ADDR"]))
            .unwrap_or_else(|| ADDRESS.to_owned());
        let address = address.trim_end_matches('/');
        let base = http_url(address).ok_or_else(|| OutputError::Variable {
            variable: "K6_INFLUXDB_ADDR".to_owned(),
            expected: URL_EXPECTED.to_owned(),
            value: plimsoll_redacted::url_with_query(address).into_owned(),
        })?;
        let database = database
            .or_else(|| settings.text(&["K6_INFLUXDB_DB"]))
            .unwrap_or_else(|| DATABASE.to_owned());
        let precision = match precision.as_deref() {
            None | Some("n" | "ns") => Precision::Nanoseconds,
            Some("u" | "us") => Precision::Microseconds,
            Some("ms") => Precision::Milliseconds,
            Some("s") => Precision::Seconds,
            Some(other) => return Err(of_variable("PRECISION", PRECISION_EXPECTED, other)),
        };
        let fields = fields.unwrap_or_else(|| FIELDS.to_owned());
        let fields = kinds(&fields).ok_or_else(|| of_variable("TAGS_AS_FIELDS", FIELDS_EXPECTED, &fields))?;
        let mut write = format!(
            "{address}/write?db={}&precision={}",
            encoded(&database),
            precision.name()
        );
        for (key, value) in [("rp", retention), ("consistency", consistency)] {
            if let Some(value) = value {
                write.push_str(&format!("&{key}={}", encoded(&value)));
            }
        }
        let statement = format!("CREATE DATABASE \"{}\"", database.replace('"', "\\\""));
        let uri = |text: String| text.parse::<Uri>().map_err(|error| refused(error.to_string()));
        let tls = Tls {
            versions: tls::SINCE_1_2,
            believes_anybody: insecure,
            authorities: None,
            identity: None,
        };
        Ok(Self {
            place: format!("{address}, {database}"),
            create: uri(format!("{address}/query?q={}", encoded(&statement)))?,
            write: uri(write)?,
            headers: headers(user, settings)?,
            tls: tls.for_url(&base)?,
            fields,
            precision,
        })
    }
}

impl Argument {
    /// `http://user:password@host:8086/database?precision=ms`
    fn parse(text: &str) -> Result<Self, String> {
        let expected = || format!("expected {URL_EXPECTED}");
        let (rest, query) = text.split_once('?').unwrap_or((text, ""));
        let (scheme, rest) = rest.split_once("://").ok_or_else(expected)?;
        if scheme == "udp" {
            return Err(
                "points over UDP are not supported; expected the URL of its HTTP interface".to_owned(),
            );
        }
        let (authority, path) = rest.split_once('/').unwrap_or((rest, ""));
        let (user, host) = match authority.rsplit_once('@') {
            Some((user, host)) => (Some(user.split_once(':').unwrap_or((user, ""))), host),
            None => (None, authority),
        };
        let decoded = |text: &str| percent_decode_str(text).decode_utf8_lossy().into_owned();
        let address = format!("{scheme}://{host}");
        http_url(&address).ok_or_else(expected)?;
        let mut pairs = BTreeMap::<String, String>::new();
        for pair in query.split('&').filter(|pair| !pair.is_empty()) {
            let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
            // `tagsAsFields` may be repeated.
            let known = pairs.entry(decoded(key)).or_default();
            if !known.is_empty() {
                known.push(',');
            }
            known.push_str(&decoded(value));
        }
        Ok(Self {
            address: Some(address),
            database: Some(decoded(path)).filter(|path| !path.is_empty()),
            user: user.map(|(user, password)| (decoded(user), decoded(password))),
            query: pairs,
        })
    }
}

fn of_variable(name: &str, expected: &str, value: &str) -> OutputError {
    OutputError::Variable {
        variable: format!("K6_INFLUXDB_{name}"),
        expected: expected.to_owned(),
        value: value.to_owned(),
    }
}

fn encoded(text: &str) -> String {
    utf8_percent_encode(text, NON_ALPHANUMERIC).to_string()
}

/// `vu:int,url`: tags with the types of their fields.
fn kinds(text: &str) -> Option<BTreeMap<String, FieldKind>> {
    let mut kinds = BTreeMap::new();
    for part in text.split(',').filter(|part| !part.is_empty()) {
        let (name, kind) = part.split_once(':').unwrap_or((part, "string"));
        let kind = match kind {
            "string" => FieldKind::Text,
            "bool" => FieldKind::Truth,
            "float" => FieldKind::Float,
            "int" => FieldKind::Integer,
            _ => return None,
        };
        if kinds.insert(name.to_owned(), kind).is_some() {
            return None;
        }
    }
    Some(kinds)
}

fn headers(user: Option<(String, String)>, settings: Settings<'_>) -> Result<HeaderMap, OutputError> {
    let password = settings.text(&["K6_INFLUXDB_PASSWORD"]).unwrap_or_default();
    let user = user.or_else(|| Some((settings.text(&["K6_INFLUXDB_USERNAME"])?, password)));
    let mut headers = HeaderMap::new();
    if let Some((user, password)) = user {
        let text = format!("Basic {}", BASE64_STANDARD.encode(format!("{user}:{password}")));
        let mut value = HeaderValue::try_from(text).expect("Base64 is plain ASCII");
        value.set_sensitive(true);
        headers.insert(AUTHORIZATION, value);
    }
    headers.insert(
        CONTENT_TYPE,
        HeaderValue::from_static("text/plain; charset=utf-8"),
    );
    headers.insert(
        USER_AGENT,
        HeaderValue::from_static(concat!("plimsoll/", env!("CARGO_PKG_VERSION"))),
    );
    Ok(headers)
}
