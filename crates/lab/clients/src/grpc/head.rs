//! The head of a call.

use std::time::Duration;

use http::{
    HeaderMap, HeaderValue, Method, Request, Uri, Version,
    header::{CONTENT_TYPE, TE, USER_AGENT},
};
use plimsoll_grpc::{Code, timeout_field};

use super::{Endpoint, Metadata, Status};

/// What a call is, apart from its messages.
#[derive(Debug, Clone, Default)]
pub struct Head {
    /// Service and method: `/package.Service/Method`.
    pub path: String,
    /// The caller's own fields.
    pub metadata: Metadata,
    /// How long the caller waits, which the server is told; `None` for as long as it takes.
    pub timeout: Option<Duration>,
}

impl Head {
    /// The head of the request.
    ///
    /// # Errors
    /// The path or a field cannot be sent.
    pub(super) fn request(&self, endpoint: &Endpoint) -> Result<Request<()>, Status> {
        let refused = |text: String| Status::new(Code::Internal, text);
        let mut fields = HeaderMap::new();
        fields.insert(CONTENT_TYPE, HeaderValue::from_static("application/grpc"));
        if let Ok(user_agent) = HeaderValue::from_str(&endpoint.user_agent) {
            fields.insert(USER_AGENT, user_agent);
        }
        fields.insert(TE, HeaderValue::from_static("trailers"));
        if let Some(timeout) = self.timeout {
            let timeout = HeaderValue::try_from(timeout_field(timeout));
            fields.insert(
                "grpc-timeout",
                timeout.map_err(|error| refused(error.to_string()))?,
            );
        }
        self.metadata.write(&mut fields)?;
        let uri = Uri::builder()
            .scheme(if endpoint.tls.is_some() { "https" } else { "http" })
            .authority(endpoint.authority.as_str())
            .path_and_query(self.path.as_str());
        let uri = uri.build().map_err(|error| {
            let (authority, path) = (&endpoint.authority, &self.path);
            refused(format!(
                "malformed authority {authority:?} or method {path:?}: {error}"
            ))
        });
        let mut request = Request::new(());
        *request.method_mut() = Method::POST;
        *request.uri_mut() = uri?;
        *request.version_mut() = Version::HTTP_2;
        *request.headers_mut() = fields;
        Ok(request)
    }
}
