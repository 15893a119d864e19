//! Why a call failed, in words that help to fix it.

use std::{error::Error, io, iter::successors};

use crate::status::{Code, Status};

type Cause<'a> = &'a (dyn Error + 'static);

/// The fault, with advice where the cause is known.
pub(crate) fn text(status: &Status) -> String {
    let causes: Vec<_> = status.source().map(chain).into_iter().flatten().collect();
    let mut text = status.message().to_owned();
    for cause in &causes {
        let part = cause.to_string();
        // Libraries often repeat the text of their cause.
        if !text.contains(&part) {
            text = if text.is_empty() {
                part
            } else {
                format!("{text}: {part}")
            };
        }
    }
    if text.is_empty() {
        text = status.code().to_string();
    }
    let hint = causes.iter().find_map(|cause| hint(*cause)).or_else(|| match status.code() {
        Code::Unimplemented => Some(
            "the application does not have this call of the gRPC service anycable.RPC, protocol version v1; \
             --rpc_host must name an AnyCable RPC server, which Rails starts with `bundle exec anycable`",
        ),
        _ => None,
    });
    match hint {
        Some(hint) => format!("{text}. Hint: {hint}"),
        None => text,
    }
}

/// The chain of an error's causes, beginning with the error itself.
pub(crate) fn chain(error: Cause<'_>) -> impl Iterator<Item = Cause<'_>> {
    successors(Some(error), |error| {
        let error: Cause<'_> = *error;
        match error.downcast_ref::<io::Error>().and_then(io::Error::get_ref) {
            // The wrapper's source is the source of the error inside, which would be skipped.
            Some(inside) => Some(inside as Cause<'_>),
            None => error.source(),
        }
    })
}

fn hint(cause: Cause<'_>) -> Option<&'static str> {
    if let Some(error) = cause.downcast_ref::<rustls::Error>() {
        return tls_hint(error);
    }
    if let Some(error) = cause.downcast_ref::<h2::Error>() {
        let speaks_otherwise = !error.is_remote() && error.reason().is_some_and(is_garbage);
        return speaks_otherwise.then_some(
            "the answer is not gRPC; for an application over HTTP, --rpc_host must begin with http://, and an \
             application with TLS needs --rpc_enable_tls",
        );
    }
    let error = cause.downcast_ref::<hyper::Error>()?;
    // The other side sent data before it got a request. hyper has no predicate for this.
    let is_unexpected = error.source().is_none()
        && !(error.is_incomplete_message() || error.is_canceled() || error.is_closed() || error.is_timeout());
    (error.is_parse() || is_unexpected).then_some(
        "the answer is not HTTP/1.1; for a gRPC application, --rpc_host must be host:port without http://, and for \
         an application with TLS it must begin with https://",
    )
}

fn is_garbage(reason: h2::Reason) -> bool {
    matches!(reason, h2::Reason::FRAME_SIZE_ERROR | h2::Reason::PROTOCOL_ERROR)
}

fn tls_hint(error: &rustls::Error) -> Option<&'static str> {
    use rustls::{CertificateError as Certificate, Error};
    Some(match error {
        Error::InvalidMessage(_) => {
            "the application does not speak TLS on this port; remove --rpc_enable_tls, or use http://"
        }
        Error::InvalidCertificate(Certificate::UnknownIssuer | Certificate::BadSignature) => {
            "name the certificate authority that made the application's certificate with --rpc_tls_root_ca"
        }
        Error::InvalidCertificate(
            Certificate::NotValidForName | Certificate::NotValidForNameContext { .. },
        ) => "--rpc_host must be a name that is in the application's certificate",
        Error::InvalidCertificate(Certificate::Expired | Certificate::ExpiredContext { .. }) => {
            "the application's certificate has expired, or this machine's clock is wrong"
        }
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(status: &Status, expected: &str) {
        assert_eq!(text(status), expected);
    }

    fn with_source(message: &str, source: impl Error + Send + Sync + 'static) -> Status {
        Status::unavailable(message).with_source(source)
    }

    #[test]
    fn causes_are_told_once_each() {
        check(&Status::internal("no such table"), "no such table");
        check(
            &with_source("connect error", io::Error::other("no route")),
            "connect error: no route",
        );
        check(&with_source("no route", io::Error::other("no route")), "no route");
    }

    #[test]
    fn a_known_cause_comes_with_advice_however_deep_it_is() {
        let unknown = rustls::Error::InvalidCertificate(rustls::CertificateError::UnknownIssuer);
        check(
            &with_source("connect error", io::Error::other(unknown)),
            "connect error: invalid peer certificate: UnknownIssuer. Hint: name the certificate authority that made \
             the application's certificate with --rpc_tls_root_ca",
        );
        check(
            &with_source("x", h2::Error::from(h2::Reason::FRAME_SIZE_ERROR)),
            "x: protocol error: frame with invalid size. Hint: the answer is not gRPC; for an application over HTTP, \
             --rpc_host must begin with http://, and an application with TLS needs --rpc_enable_tls",
        );
    }

    #[test]
    fn an_application_without_the_call_is_told_what_is_expected() {
        let text = text(&Status::new(Code::Unimplemented, ""));
        assert!(text.contains("anycable.RPC, protocol version v1"), "{text}");
    }
}
