//! `Client.healthCheck`: gRPC's health service.

use std::time::Instant;

use plimsoll_clients::grpc::{Head, Status};
use plimsoll_grpc::Code;
use prost::Message as _;
use rquickjs::{Ctx, Exception, Object, Result};

use super::{samples::CallTags, session::Session, state::State};
use crate::{
    host::Host,
    protobuf::{Health, HealthAnswer},
};

const PATH: &str = "/grpc.health.v1.Health/Check";

/// Asks whether a service works; the empty name stands for the whole server.
///
/// # Errors
/// The server does not answer, or not so.
pub(super) fn check<'js>(ctx: &Ctx<'js>, state: &State, service: String) -> Result<Object<'js>> {
    let (host, session) = (Host::of(ctx), Session::of(ctx));
    let server = state.server(ctx)?;
    let recorder = session.enter(ctx, &host)?;
    let head = Head {
        path: PATH.to_owned(),
        ..Head::default()
    };
    let message = Health { service }.encode_to_vec();
    let started = Instant::now();
    let reply = host.park(ctx, server.channel.unary(&head, &message))?;
    // A call of the module itself: without the tags of a method.
    let tags = CallTags {
        path: PATH.to_owned(),
        ..CallTags::default()
    };
    let end = (reply.remote, reply.failure.as_ref());
    session
        .samples
        .ended(&host.program, &recorder, &tags, end, started.elapsed());
    session.count_bytes(&recorder, &host.metrics().data);
    let answer = match reply.failure {
        Some(failure) => Err(failure),
        None => HealthAnswer::decode(reply.message.unwrap_or_default())
            .map_err(|error| Status::new(Code::Internal, error.to_string())),
    };
    let answer = answer.map_err(|failure| Exception::throw_message(ctx, &failure.to_string()))?;
    let response = Object::new(ctx.clone())?;
    response.set("status", answer.status)?;
    Ok(response)
}
