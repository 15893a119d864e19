//! The status at the end of a call.

use http::{HeaderMap, StatusCode};

use crate::status::{Code, Status};

/// The status that the application gives to the call, if any.
pub(crate) fn outcome(fields: &HeaderMap) -> Option<Result<(), Status>> {
    let code = Code::parse(fields.get("grpc-status")?.as_bytes());
    if code == Code::Ok {
        return Some(Ok(()));
    }
    let text = fields.get("grpc-message").map(|text| decode(text.as_bytes()));
    Some(Err(Status::new(code, text.unwrap_or_default())))
}

/// The status for an answer without one. It does not come from a gRPC application (gRPC's http-grpc-status-mapping).
pub(super) fn missing(answer: StatusCode) -> Status {
    let code = match answer {
        StatusCode::BAD_REQUEST => Code::Internal,
        StatusCode::UNAUTHORIZED => Code::Unauthenticated,
        StatusCode::FORBIDDEN => Code::PermissionDenied,
        StatusCode::NOT_FOUND => Code::Unimplemented,
        StatusCode::TOO_MANY_REQUESTS
        | StatusCode::BAD_GATEWAY
        | StatusCode::SERVICE_UNAVAILABLE
        | StatusCode::GATEWAY_TIMEOUT => Code::Unavailable,
        _ => Code::Unknown,
    };
    Status::new(
        code,
        format!("the answer has no gRPC status, and its HTTP status is {answer}"),
    )
}

/// Decodes percent-encoding. Invalid sequences stay unchanged.
fn decode(text: &[u8]) -> String {
    let mut decoded = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((&byte, behind)) = rest.split_first() {
        let encoded = behind.split_at_checked(2).filter(|_| byte == b'%');
        match encoded.and_then(|(digits, behind)| Some((hexadecimal(digits)?, behind))) {
            Some((value, behind)) => {
                decoded.push(value);
                rest = behind;
            }
            None => {
                decoded.push(byte);
                rest = behind;
            }
        }
    }
    String::from_utf8_lossy(&decoded).into_owned()
}

fn hexadecimal(digits: &[u8]) -> Option<u8> {
    digits.iter().try_fold(0, |value, digit| {
        let digit = char::from(*digit).to_digit(16)?;
        Some(value << 4 | u8::try_from(digit).ok()?)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(fields: &[(&'static str, &'static str)], expected: Option<Result<(), (Code, &str)>>) {
        let fields = fields
            .iter()
            .map(|(name, value)| (name.parse().expect("a name"), value.parse().expect("a value")));
        let outcome = outcome(&fields.collect());
        let outcome = outcome.as_ref().map(|outcome| match outcome {
            Ok(()) => Ok(()),
            Err(status) => Err((status.code(), status.message())),
        });
        assert_eq!(outcome, expected);
    }

    #[test]
    fn trailers_say_what_became_of_the_call() {
        check(&[], None);
        check(&[("grpc-message", "lost")], None);
        check(&[("grpc-status", "0")], Some(Ok(())));
        check(&[("grpc-status", "13")], Some(Err((Code::Internal, ""))));
        check(&[("grpc-status", "x")], Some(Err((Code::Unknown, ""))));
    }

    #[test]
    fn texts_are_decoded_as_far_as_they_are_encoded() {
        for (sent, expected) in [
            ("no such table", "no such table"),
            ("caf%C3%A9%0A", "café\n"),
            ("caf%c3%a9", "café"),
            ("100%", "100%"),
            ("%4", "%4"),
            ("%zz%+1%41", "%zz%+1A"),
            ("%FF", "\u{fffd}"),
        ] {
            check(
                &[("grpc-status", "8"), ("grpc-message", sent)],
                Some(Err((Code::ResourceExhausted, expected))),
            );
        }
    }

    #[test]
    fn an_answer_of_a_proxy_has_the_code_of_its_http_status() {
        let status = missing(StatusCode::SERVICE_UNAVAILABLE);
        assert_eq!(status.code(), Code::Unavailable);
        assert_eq!(
            status.message(),
            "the answer has no gRPC status, and its HTTP status is 503 Service Unavailable"
        );
        assert_eq!(missing(StatusCode::OK).code(), Code::Unknown);
    }
}
