//! A call from its begin to its end.

use std::{future::Future, net::IpAddr, pin::pin, rc::Rc};

use bytes::Bytes;
use http::Request;
use plimsoll_grpc::Code;
use tokio::time::{Instant, timeout_at};

use super::{Endpoint, Metadata, Receiver, Sender, Status, endpoint::Connection};

/// A call that has begun.
pub struct Call {
    /// Sends messages.
    pub sender: Sender,
    /// Receives messages and the status.
    pub receiver: Receiver,
    /// The server's address.
    pub remote: IpAddr,
}

/// The answer to a unary call.
#[derive(Debug, Default)]
pub struct Reply {
    /// The failure; `None` for success.
    pub failure: Option<Status>,
    /// The server's message, if it sent one.
    pub message: Option<Bytes>,
    /// The server's fields before its message.
    pub headers: Metadata,
    /// The server's fields after it.
    pub trailers: Metadata,
    /// The server's address; `None` without a connection.
    pub remote: Option<IpAddr>,
}

impl Call {
    /// Sends the head.
    pub(super) async fn start(
        connection: Rc<Connection>,
        request: Request<()>,
        endpoint: &Endpoint,
    ) -> Result<Self, Status> {
        let ready = connection.shared.ready().await;
        let mut requests = ready.map_err(|error| Status::broken_off(&error))?;
        let sent = requests.send_request(request, false);
        let (response, stream) = sent.map_err(|error| Status::broken_off(&error))?;
        connection.shared.flush();
        Ok(Self {
            remote: connection.remote.ip(),
            sender: Sender::new(Rc::clone(&connection), stream, endpoint.max_sent_bytes),
            receiver: Receiver::new(connection, response, endpoint.max_received_bytes),
        })
    }
}

/// A unary call that `start` begins; after the deadline it is given up.
pub(super) async fn unary(
    deadline: Option<Instant>,
    start: impl Future<Output = Result<Call, Status>>,
    message: &[u8],
) -> Reply {
    let mut reply = Reply::default();
    let started = within(deadline, start).await;
    let Call {
        mut sender,
        mut receiver,
        remote,
    } = match started {
        Ok(call) => call,
        Err(failure) => {
            reply.failure = Some(failure);
            return reply;
        }
    };
    reply.remote = Some(remote);
    let exchange = async {
        let (mut sending, mut receiving) = (pin!(sender.send_last(message)), pin!(receive(&mut receiver)));
        // A server may answer before it has read the whole request.
        tokio::select! {
            received = &mut receiving => received,
            sent = &mut sending => match sent {
                Ok(_) => receiving.await,
                Err(status) => Err(status.into()),
            },
        }
    };
    let outcome = within(deadline, async { Ok(exchange.await) }).await;
    match outcome {
        Ok(Ok(message)) => reply.message = Some(message),
        Ok(Err(Failed { status, message })) => {
            reply.failure = Some(status);
            reply.message = message;
        }
        Err(failure) => reply.failure = Some(failure),
    }
    reply.headers = receiver.take_headers();
    reply.trailers = receiver.take_trailers();
    reply
}

async fn within<T>(
    deadline: Option<Instant>,
    work: impl Future<Output = Result<T, Status>>,
) -> Result<T, Status> {
    match deadline {
        None => work.await,
        Some(deadline) => timeout_at(deadline, work)
            .await
            .unwrap_or_else(|_| Err(Status::deadline_exceeded())),
    }
}

/// A call that failed, perhaps after a message.
struct Failed {
    status: Status,
    message: Option<Bytes>,
}

impl From<Status> for Failed {
    fn from(status: Status) -> Self {
        Self {
            status,
            message: None,
        }
    }
}

/// The only message, and the status after it.
async fn receive(receiver: &mut Receiver) -> Result<Bytes, Failed> {
    let violation = |text: &str| Status::new(Code::Internal, format!("cardinality violation: {text}"));
    let Some(message) = receiver.next().await? else {
        let text = "received no response message from non-server-streaming RPC";
        return Err(violation(text).into());
    };
    match receiver.next().await {
        Ok(None) => Ok(message),
        Ok(Some(second)) => Err(Failed {
            status: violation("expected <EOF> for non server-streaming RPCs, but received another message"),
            message: Some(second),
        }),
        Err(status) => Err(Failed {
            status,
            message: Some(message),
        }),
    }
}
