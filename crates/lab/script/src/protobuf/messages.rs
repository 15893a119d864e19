//! The messages of gRPC's own services: health, reflection, and the details of a status.

use prost_types::Any;

/// `grpc.health.v1.HealthCheckRequest`.
#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct Health {
    /// The service to ask about; empty for the whole server.
    #[prost(string, tag = "1")]
    pub(crate) service: String,
}

/// `grpc.health.v1.HealthCheckResponse`.
#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct HealthAnswer {
    /// 0 unknown, 1 serving, 2 not serving, 3 unknown service.
    #[prost(int32, tag = "1")]
    pub(crate) status: i32,
}

/// `google.rpc.Status`.
#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct StatusDetails {
    /// The code.
    #[prost(int32, tag = "1")]
    pub(crate) code: i32,
    /// The text.
    #[prost(string, tag = "2")]
    pub(crate) message: String,
    /// Anything that the server adds.
    #[prost(message, repeated, tag = "3")]
    pub(crate) details: Vec<Any>,
}

/// `ServerReflectionRequest` of `grpc.reflection.v1` and `v1alpha`, which are the same. One field is set.
#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct Reflection {
    /// Asks for a file by its name.
    #[prost(string, optional, tag = "3")]
    pub(crate) file_by_filename: Option<String>,
    /// Asks for the file that defines a service or message.
    #[prost(string, optional, tag = "4")]
    pub(crate) file_containing_symbol: Option<String>,
    /// Asks for the names of all services.
    #[prost(string, optional, tag = "7")]
    pub(crate) list_services: Option<String>,
}

/// `ServerReflectionResponse`. One field is set.
#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct ReflectionAnswer {
    /// Files, as descriptors.
    #[prost(message, optional, tag = "4")]
    pub(crate) files: Option<ReflectedFiles>,
    /// Services.
    #[prost(message, optional, tag = "6")]
    pub(crate) services: Option<ReflectedServices>,
    /// A failure.
    #[prost(message, optional, tag = "7")]
    pub(crate) error: Option<ReflectionError>,
}

/// `FileDescriptorResponse`.
#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct ReflectedFiles {
    /// Each a `FileDescriptorProto`.
    #[prost(bytes = "vec", repeated, tag = "1")]
    pub(crate) file_descriptor_proto: Vec<Vec<u8>>,
}

/// `ListServiceResponse`.
#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct ReflectedServices {
    /// The services.
    #[prost(message, repeated, tag = "1")]
    pub(crate) service: Vec<ReflectedService>,
}

/// `ServiceResponse`.
#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct ReflectedService {
    /// Its full name.
    #[prost(string, tag = "1")]
    pub(crate) name: String,
}

/// `ErrorResponse`.
#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct ReflectionError {
    /// The code.
    #[prost(int32, tag = "1")]
    pub(crate) error_code: i32,
    /// The text.
    #[prost(string, tag = "2")]
    pub(crate) error_message: String,
}
