//! `k6/net/grpc`: calls over gRPC, with messages as JSON.

mod call;
mod client;
mod connect_params;
mod debug;
mod definitions;
mod go_syntax;
mod health;
mod metadata;
mod params;
mod reflection;
mod request_json;
mod response;
mod samples;
mod session;
mod state;
mod stream;

use plimsoll_grpc::Code;
use rquickjs::{Class, Ctx, Function, Object, Result, Value, function::Rest};

use self::{client::Client, session::Session};
use super::module::{Api, Module, differs, same};

pub(super) const MODULE: Module = Module {
    id: "k6/net/grpc",
    build,
    api: API,
};

const API: &[Api] = &[
    same("Client"),
    differs(
        "Client.load",
        "definitions are loaded once for all virtual users; syntax errors have other texts",
    ),
    same("Client.loadProtoset"),
    differs(
        "Client.connect",
        "a `tls.key` with a password is refused; addresses are host and port, also after `dns:///`",
    ),
    differs(
        "Client.invoke",
        "a call that ends by its own timeout is in `grpc_req_duration`, too; no compressed answers; JSON is at most 100 \
         levels deep; in the list of failures are calls that ended as Unknown, DeadlineExceeded, ResourceExhausted, \
         Unimplemented, Internal, Unavailable or DataLoss",
    ),
    same("Client.asyncInvoke"),
    differs(
        "Client.healthCheck",
        "before connect() it is an error, where k6 crashes",
    ),
    same("Client.close"),
    differs(
        "Stream",
        "a server is not read while 1,000 messages or 1 MiB wait for the script; write() waits while 1 MiB waits for the \
         server",
    ),
    differs("Stream.on", "the `details` of an error are JSON"),
    same("Stream.write"),
    same("Stream.end"),
    differs(
        "StatusOK",
        "a number, as all statuses; in k6 they are equal to numbers, and texts of them are names",
    ),
    same("StatusCanceled"),
    same("StatusUnknown"),
    same("StatusInvalidArgument"),
    same("StatusDeadlineExceeded"),
    same("StatusNotFound"),
    same("StatusAlreadyExists"),
    same("StatusPermissionDenied"),
    same("StatusResourceExhausted"),
    same("StatusFailedPrecondition"),
    same("StatusAborted"),
    same("StatusOutOfRange"),
    same("StatusUnimplemented"),
    same("StatusInternal"),
    same("StatusUnavailable"),
    same("StatusDataLoss"),
    same("StatusUnauthenticated"),
    same("HealthCheckUnknown"),
    same("HealthCheckServing"),
    same("HealthCheckNotServing"),
    same("HealthCheckServiceUnkown"),
];

/// States of a server in the order of their numbers. The last name is as k6 spells it.
const SERVING: [&str; 4] = [
    "HealthCheckUnknown",
    "HealthCheckServing",
    "HealthCheckNotServing",
    "HealthCheckServiceUnkown",
];

fn build<'js>(ctx: &Ctx<'js>) -> Result<Object<'js>> {
    Session::install(ctx)?;
    let exports = Object::new(ctx.clone())?;
    Class::<Client>::define(&exports)?;
    let stream = |ctx: Ctx<'js>, arguments: Rest<Value<'js>>| stream::construct(&ctx, arguments.0);
    let stream = Function::new(ctx.clone(), stream)?;
    exports.set("Stream", stream.with_name("Stream")?.with_constructor(true))?;
    for code in Code::ALL {
        exports.set(format!("Status{}", code.name()), code as u8)?;
    }
    for (status, name) in SERVING.into_iter().enumerate() {
        exports.set(name, status)?;
    }
    Ok(exports)
}
