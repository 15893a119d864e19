//! The fields of a response.

/// The names of all fields, in k6's order.
pub(super) const FIELDS: [&str; 16] = [
    "remote_ip",
    "remote_port",
    "url",
    "status",
    "status_text",
    "proto",
    "headers",
    "cookies",
    "body",
    "timings",
    "tls_version",
    "tls_cipher_suite",
    "ocsp",
    "error",
    "error_code",
    "request",
];
