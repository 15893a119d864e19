//! The status at the end of a call.

use http::{HeaderMap, StatusCode};
use plimsoll_grpc::decode_text;

use crate::status::{Code, Status};

/// The status that the application gives to the call, if any.
pub(crate) fn outcome(fields: &HeaderMap) -> Option<Result<(), Status>> {
    let code = Code::parse(fields.get("grpc-status")?.as_bytes());
    if code == Code::Ok {
        return Some(Ok(()));
    }
    let text = fields
        .get("grpc-message")
        .map(|text| decode_text(text.as_bytes()));
    Some(Err(Status::new(code, text.unwrap_or_default())))
}

/// The status for an answer without one. It does not come from a gRPC application (gRPC's http-grpc-status-mapping).
pub(super) fn missing(answer: StatusCode) -> Status {
    let code = Code::of_http_status(answer.as_u16());
    Status::new(
        code,
        format!("the answer has no gRPC status, and its HTTP status is {answer}"),
    )
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
        check(
            &[("grpc-status", "8"), ("grpc-message", "caf%C3%A9")],
            Some(Err((Code::ResourceExhausted, "café"))),
        );
        check(&[("grpc-status", "x")], Some(Err((Code::Unknown, ""))));
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
