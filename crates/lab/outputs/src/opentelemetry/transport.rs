//! The two ways to a collector.

use http::{
    HeaderValue, Uri,
    header::{CONTENT_TYPE, USER_AGENT},
    uri::PathAndQuery,
};
use hyper_rustls::HttpsConnectorBuilder;
use hyper_util::client::legacy::connect::HttpConnector;
use opentelemetry_proto::tonic::collector::metrics::v1::{
    ExportMetricsServiceRequest, ExportMetricsServiceResponse,
};
use prost::Message;
use tonic::{
    Code, Request, Status,
    client::Grpc,
    metadata::MetadataMap,
    transport::{Channel, Endpoint},
};
use tonic_prost::ProstCodec;

use super::config::{Connection, Protocol};
use crate::post::{Post, Refusal, text};

/// OTLP's method of the metrics service.
const EXPORT: &str = "/opentelemetry.proto.collector.metrics.v1.MetricsService/Export";

const AGENT: &str = concat!("plimsoll/", env!("CARGO_PKG_VERSION"));

pub(super) enum Transport {
    Http(Box<Post>),
    Grpc(Box<Channeled>),
}

/// A connection that reconnects on its own, and the metadata of each call.
pub(super) struct Channeled {
    channel: Channel,
    metadata: MetadataMap,
    url: Uri,
}

impl Transport {
    /// Connects with the first request.
    pub(super) fn new(connection: Connection) -> Self {
        let Connection {
            protocol,
            url,
            mut headers,
            tls,
            limit,
        } = connection;
        match protocol {
            Protocol::Http => {
                headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/x-protobuf"));
                headers.insert(USER_AGENT, HeaderValue::from_static(AGENT));
                Self::Http(Box::new(Post::new(url, headers, tls, limit)))
            }
            Protocol::Grpc => {
                let mut tcp = HttpConnector::new();
                tcp.enforce_http(false);
                tcp.set_nodelay(true);
                let connector = HttpsConnectorBuilder::new()
                    .with_tls_config(tls)
                    .https_or_http()
                    .enable_http2()
                    .wrap_connector(tcp);
                let endpoint = Endpoint::from(url.clone())
                    .user_agent(AGENT)
                    .expect("a name and a version are a valid header")
                    .connect_timeout(limit)
                    .timeout(limit);
                Self::Grpc(Box::new(Channeled {
                    channel: endpoint.connect_with_connector_lazy(connector),
                    metadata: MetadataMap::from_headers(headers),
                    url,
                }))
            }
        }
    }

    pub(super) async fn send(&self, message: &ExportMetricsServiceRequest) -> Result<(), Refusal> {
        let answer = match self {
            Self::Http(post) => {
                let answer = post.send(message.encode_to_vec().into()).await?;
                // A server with another answer has accepted the request nevertheless.
                ExportMetricsServiceResponse::decode(answer).unwrap_or_default()
            }
            Self::Grpc(grpc) => grpc
                .call(message.clone())
                .await
                .map_err(|status| grpc.refusal(&status))?,
        };
        match answer.partial_success {
            Some(partial) if partial.rejected_data_points > 0 => Err(Refusal {
                is_temporary: false,
                retry_after: None,
                reason: format!(
                    "the collector refused {} values: {}",
                    partial.rejected_data_points, partial.error_message
                ),
            }),
            _ => Ok(()),
        }
    }
}

impl Channeled {
    async fn call(
        &self,
        message: ExportMetricsServiceRequest,
    ) -> Result<ExportMetricsServiceResponse, Status> {
        let mut request = Request::new(message);
        *request.metadata_mut() = self.metadata.clone();
        let mut client = Grpc::new(self.channel.clone());
        client
            .ready()
            .await
            .map_err(|error| Status::from_error(error.into()))?;
        let codec = ProstCodec::<ExportMetricsServiceRequest, ExportMetricsServiceResponse>::default();
        let reply = client
            .unary(request, PathAndQuery::from_static(EXPORT), codec)
            .await?;
        Ok(reply.into_inner())
    }

    /// A refusal. OTLP's specification defines which codes are temporary.
    fn refusal(&self, status: &Status) -> Refusal {
        let is_temporary = matches!(
            status.code(),
            Code::Cancelled
                | Code::DeadlineExceeded
                | Code::ResourceExhausted
                | Code::Aborted
                | Code::OutOfRange
                | Code::Unavailable
                | Code::DataLoss
        );
        let reason = match std::error::Error::source(status) {
            Some(cause) => format!("{}: {}", self.url, text(cause)),
            None => format!("{} answered {:?}: {}", self.url, status.code(), status.message()),
        };
        Refusal {
            is_temporary,
            retry_after: None,
            reason,
        }
    }
}
