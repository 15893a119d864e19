//! Call failures: gRPC's status codes, which are used for failures over HTTP as well.

use std::{error::Error, sync::Arc};

pub(crate) use plimsoll_grpc::Code;

/// A failed call, or a failed attempt.
#[derive(Debug, Clone)]
pub(crate) struct Status {
    code: Code,
    message: String,
    source: Option<Arc<dyn Error + Send + Sync>>,
    is_untouched: bool,
}

impl Status {
    pub(crate) fn new(code: Code, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
            source: None,
            is_untouched: false,
        }
    }

    pub(crate) fn deadline_exceeded(message: impl Into<String>) -> Self {
        Self::new(Code::DeadlineExceeded, message)
    }

    pub(crate) fn internal(message: impl Into<String>) -> Self {
        Self::new(Code::Internal, message)
    }

    pub(crate) fn out_of_range(message: impl Into<String>) -> Self {
        Self::new(Code::OutOfRange, message)
    }

    pub(crate) fn unavailable(message: impl Into<String>) -> Self {
        Self::new(Code::Unavailable, message)
    }

    pub(crate) fn unknown(message: impl Into<String>) -> Self {
        Self::new(Code::Unknown, message)
    }

    /// Adds the cause of a transport failure. Failures that the application reports have none.
    pub(crate) fn with_source(mut self, source: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        self.source = Some(source.into().into());
        self
    }

    /// Marks that the application has certainly not begun to work on the request.
    pub(crate) fn untouched(mut self) -> Self {
        self.is_untouched = true;
        self
    }

    /// Whether the application has certainly not begun to work on the request, so that it can be repeated.
    pub(crate) fn is_untouched(&self) -> bool {
        self.is_untouched
    }

    pub(crate) fn code(&self) -> Code {
        self.code
    }

    pub(crate) fn message(&self) -> &str {
        &self.message
    }

    pub(crate) fn source(&self) -> Option<&(dyn Error + 'static)> {
        let source = self.source.as_deref()?;
        Some(source)
    }
}
