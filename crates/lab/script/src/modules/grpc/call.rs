//! A unary call of a script.

use std::{
    rc::Rc,
    sync::Arc,
    time::{Duration, Instant},
};

use plimsoll_clients::grpc::{Head, Reply, Status};
use plimsoll_grpc::Code;
use plimsoll_load::metrics::Recorder;
use prost::Message as _;
use prost_reflect::{DynamicMessage, MethodDescriptor};
use rquickjs::{Ctx, Exception, FromJs as _, Result, Value};

use super::{
    debug::CallLog,
    params::Params,
    request_json,
    samples::CallTags,
    session::Session,
    state::{Server, State},
};
use crate::{
    arguments::Text,
    host::Host,
    program::Program,
    protobuf::{Types, read},
};

/// The timeout of calls that have none of their own.
const DEFAULT_TIMEOUT: Duration = Duration::from_secs(120);

/// A call that can be made.
pub(super) struct UnaryCall {
    pub(super) state: Rc<State>,
    server: Server,
    method: MethodDescriptor,
    head: Head,
    message: Vec<u8>,
    discards_message: bool,
    tags: CallTags,
    recorder: Recorder,
    session: Rc<Session>,
    program: Arc<Program>,
    log: Option<CallLog>,
}

/// The answer to a call.
pub(super) struct Answer {
    pub(super) reply: Reply,
    /// `None` when the script does not want it.
    pub(super) message: Option<DynamicMessage>,
}

impl UnaryCall {
    /// Reads the arguments of `invoke`.
    ///
    /// # Errors
    /// The call cannot be made.
    pub(super) fn read<'js>(ctx: &Ctx<'js>, state: &Rc<State>, arguments: &[Value<'js>]) -> Result<Self> {
        let host = Host::of(ctx);
        let fail = |text: &str| Exception::throw_message(ctx, text);
        if !host.is_at_work() {
            return Err(fail("invoking RPC methods in the init context is not supported"));
        }
        let server = state.server(ctx)?;
        let name = arguments
            .first()
            .map(|name| Text::from_js(ctx, name.clone()))
            .transpose()?;
        let name = name.map(|name| name.0).unwrap_or_default();
        let (path, method) = state.method(&name).map_err(|error| fail(&error))?;
        let params = Params::read(ctx, arguments.get(2), "invalid GRPC's client.invoke()")?;
        let Some(request) = arguments.get(1) else {
            return Err(fail("request cannot be nil"));
        };
        let json = request_json::of_request(ctx, request)?;
        let message = read(&json, &method.input(), Types(&state.definitions())).map_err(|error| {
            fail(&format!(
                "unable to serialise request object to protocol buffer: {error}"
            ))
        })?;
        let session = Session::of(ctx);
        let recorder = session.enter(ctx, &host)?;
        Ok(Self {
            tags: CallTags {
                url: format!("{}{path}", server.address),
                path: path.clone(),
                own: params.tags,
                has_name: host.tag("name").is_some(),
            },
            head: Head {
                path,
                metadata: params.metadata,
                timeout: params.timeout.or(Some(DEFAULT_TIMEOUT)),
            },
            log: CallLog::of(&host.program, &method, state),
            state: Rc::clone(state),
            server,
            method,
            message: message.encode_to_vec(),
            discards_message: params.discards_message,
            recorder,
            session,
            program: Arc::clone(&host.program),
        })
    }

    /// Makes the call and records it.
    pub(super) async fn perform(&self) -> Answer {
        let started = Instant::now();
        if let Some(log) = &self.log {
            log.sent_head(&self.head.path, &self.server.address, &self.head.metadata);
            log.sent(&self.message);
        }
        let mut reply = match self.head.timeout {
            // Over before it begins.
            Some(Duration::ZERO) => Reply {
                failure: Some(Status::deadline_exceeded()),
                ..Reply::default()
            },
            _ => self.server.channel.unary(&self.head, &self.message).await,
        };
        if let Some(log) = &self.log {
            log.received_head(&reply.headers);
            if let Some(message) = &reply.message {
                log.received(message);
            }
            log.ended(&reply.trailers, reply.failure.as_ref());
        }
        let message = self.decode(&mut reply);
        let end = (reply.remote, reply.failure.as_ref());
        let (session, program) = (&self.session, &self.program);
        session
            .samples
            .ended(program, &self.recorder, &self.tags, end, started.elapsed());
        session.count_bytes(&self.recorder, &program.metrics().data);
        Answer { reply, message }
    }

    /// The message of a reply; one with the default values if there is none.
    fn decode(&self, reply: &mut Reply) -> Option<DynamicMessage> {
        if self.discards_message {
            return None;
        }
        let kind = self.method.output();
        let bytes = reply.message.take().unwrap_or_default();
        match DynamicMessage::decode(kind.clone(), bytes) {
            Ok(message) => Some(message),
            Err(error) => {
                let text = format!("grpc: failed to unmarshal the received message: {error}");
                reply.failure.get_or_insert(Status::new(Code::Internal, text));
                Some(DynamicMessage::new(kind))
            }
        }
    }
}
