//! The layer of the environment. It is shared with the application, so an unknown name is a warning and
//! never an error.

use std::ffi::OsString;

use super::{
    catalog::{Catalog, Meaning, is_setting},
    layer::{Given, Layer, Origin},
};

/// Variables that AnyCable's Ruby gems read and servers do not, and variables about usage data, which this server
/// never sends.
const OF_OTHERS: [&str; 29] = [
    "ACCESS_LOGS_DISABLED",
    "BATCH_BROADCASTS",
    "DISABLE_TELEMETRY",
    "DISABLE_RPC_POOL_SIZE_WARNING",
    "EMBEDDED",
    "HTTP_BROADCAST_URL",
    "HTTP_HEALTH_PATH",
    "HTTP_HEALTH_PORT",
    "HTTP_RPC",
    "HTTP_RPC_MOUNT_PATH",
    "JWT_ID_TTL",
    "JWT_TTL",
    "LOG_FILE",
    "LOG_GRPC",
    "NATS_OPTIONS",
    "PERSISTENT_SESSION_ENABLED",
    "REDISX_STREAM_NAME",
    "RPC_MAX_CONNECTION_AGE",
    "RPC_MAX_WAITING_REQUESTS",
    "RPC_POLL_PERIOD",
    "RPC_POOL_KEEP_ALIVE",
    "RPC_POOL_SIZE",
    "RPC_SERVER_ARGS",
    "RPC_TLS_CERT",
    "RPC_TLS_KEY",
    "SOCKET_ID_HEADER",
    "USE_WARDEN_MANAGER",
    "VERSION_CHECK_ENABLED",
    "WEBSOCKET_URL",
];

/// Variables of `plimsoll runs`, which load commands on the same machine read.
const OF_OTHER_COMMANDS: [&str; 2] = ["PLIMSOLL_DATA_DIR", "PLIMSOLL_NO_SAVE"];

/// Variables of the platforms on which AnyCable listens on all addresses without being told.
const OF_PLATFORMS: [&str; 2] = ["FLY_APP_NAME", "HEROKU_APP_ID"];

/// The warning on such a platform for a server on localhost, which other machines cannot reach.
pub(super) fn warn_of_platform(environment: &[(OsString, OsString)]) -> Option<String> {
    let is_set = |known: &&str| environment.iter().any(|(name, _)| name == *known);
    let variable = OF_PLATFORMS.into_iter().find(is_set)?;
    Some(format!(
        "{variable} is set, but platforms are not detected, and other machines cannot reach this server on \
         localhost; set PLIMSOLL_HOST=0.0.0.0."
    ))
}

/// Reads the variables that are settings.
pub(super) fn read(catalog: &Catalog<'_>, environment: &[(OsString, OsString)]) -> Layer {
    let mut layer = Layer::default();
    let mut known = Vec::new();
    for (name, value) in environment {
        let Some(name) = name.to_str().filter(|name| is_setting(name)) else {
            continue;
        };
        match (catalog.variable(name), value.to_str()) {
            (None, _) => layer.warnings.extend(unknown(catalog, name)),
            (Some(_), None) => layer.errors.push(format!("{name}: the value is not UTF-8")),
            (Some(variable), Some(value)) => {
                let is_old = matches!(variable.meaning, Meaning::Renamed(_));
                known.push((is_old, variable.rank, name, variable.meaning, value));
            }
        }
    }
    known.sort_unstable_by_key(|(is_old, rank, name, ..)| (*is_old, *rank, *name));
    layer.warnings.sort_unstable();
    for (_, _, name, meaning, value) in known {
        layer.note(
            meaning,
            Given::One(value.to_owned()),
            Origin::Variable(name.to_owned()),
        );
    }
    layer
}

fn unknown(catalog: &Catalog<'_>, name: &str) -> Option<String> {
    let is_of_others = name
        .strip_prefix("ANYCABLE_")
        .is_some_and(|rest| OF_OTHERS.contains(&rest))
        || OF_OTHER_COMMANDS.contains(&name);
    let hint = match catalog.nearest_variable(name) {
        Some(nearest) => format!(" Did you mean {nearest}?"),
        None => String::new(),
    };
    (!is_of_others).then(|| format!("{name} is unknown and has no effect.{hint}"))
}
