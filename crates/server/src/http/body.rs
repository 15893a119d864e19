//! Request bodies that are small by nature: read whole, up to a size and within a time.

use std::time::Duration;

use http_body_util::{BodyExt, LengthLimitError, Limited};
use hyper::{StatusCode, body::Incoming};

use super::{Answer, text};

/// The body; what cannot be read is answered here.
pub(super) async fn read(body: Incoming, max_bytes: usize, patience: Duration) -> Result<Vec<u8>, Answer> {
    let collected = Limited::new(body, max_bytes).collect();
    match tokio::time::timeout(patience, collected).await {
        Ok(Ok(body)) => Ok(body.to_bytes().into()),
        Ok(Err(error)) if error.is::<LengthLimitError>() => Err(text(
            StatusCode::PAYLOAD_TOO_LARGE,
            &format!("The body is larger than {max_bytes} bytes."),
        )),
        Ok(Err(error)) => Err(text(
            StatusCode::BAD_REQUEST,
            &format!("The body is broken: {error}."),
        )),
        Err(_) => Err(text(
            StatusCode::REQUEST_TIMEOUT,
            "The body did not arrive in time.",
        )),
    }
}
