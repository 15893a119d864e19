//! Names that AnyCable has deprecated and still accepts, with their meaning in today's names.

/// A deprecated option.
#[derive(Debug, Clone, Copy)]
pub(super) struct Renamed {
    /// The old flag without its leading dashes.
    pub(super) flag: &'static str,
    /// The old key in a settings file, where there was one.
    pub(super) key: Option<&'static str>,
    /// Whether it is on or off and needs no value. One that is off says nothing.
    pub(super) is_switch: bool,
    /// The flags of today that it sets.
    pub(super) sets: &'static [(&'static str, Sets)],
}

/// The value that a deprecated option gives to a flag of today.
#[derive(Debug, Clone, Copy)]
pub(super) enum Sets {
    /// The option's own value.
    Same,
    /// This one.
    To(&'static str),
}

use Sets::{Same, To};

/// All deprecated names.
#[rustfmt::skip]
pub(super) const RENAMED: &[Renamed] = &[
    Renamed { key: Some("http_broadcast.secret"), ..value("http-broadcast-secret", &[("broadcast-key", Same)]) },
    value("jwt-id-key", &[("jwt-secret", Same)]),
    value("jwt-id-param", &[("jwt-param", Same)]),
    switch("jwt-id-enforce", &[("enforce-jwt", To("true"))]),
    value("turbo-rails-key", &[("turbo-streams", To("true")), ("turbo-streams-secret", Same)]),
    switch("turbo-rails-cleartext", &[("public-streams", To("true"))]),
    value("cable-ready-key", &[("cable-ready", To("true")), ("cable-ready-secret", Same)]),
    switch("cable-ready-cleartext", &[("public-streams", To("true"))]),
    value("metrics-log-interval", &[("metrics-log", To("true")), ("metrics-rotate-interval", Same)]),
    value("disconnect-timeout", &[("shutdown-timeout", Same)]),
    switch("disable-disconnect", &[("disconnect-mode", To("never"))]),
    Renamed { key: Some("rpc.http_request_timeout"), ..value("http-rpc-timeout", &[("rpc-request-timeout", Same)]) },
];

const fn value(flag: &'static str, sets: &'static [(&'static str, Sets)]) -> Renamed {
    Renamed {
        flag,
        key: None,
        is_switch: false,
        sets,
    }
}

const fn switch(flag: &'static str, sets: &'static [(&'static str, Sets)]) -> Renamed {
    Renamed {
        is_switch: true,
        ..value(flag, sets)
    }
}
