//! Texts of errors.

use crate::{
    function::{Function, text, word},
    generator::Generator,
    words::{Words, words},
};

pub(super) const FUNCTIONS: &[Function] = &[
    word("databaseError", OF_DATABASES),
    text("error", error),
    word("errorObjectWord", OBJECTS),
    word("gRPCError", OF_GRPC),
    word("httpClientError", OF_HTTP_CLIENTS),
    text("httpError", |generator| {
        let words = generator.one_of(&[OF_HTTP_CLIENTS, OF_HTTP_SERVERS]);
        generator.pick(words).to_owned()
    }),
    word("httpServerError", OF_HTTP_SERVERS),
    word("runtimeError", OF_RUNTIMES),
    word("validationError", OF_VALIDATION),
];

const OF_DATABASES: Words = words(
    "connection pool exhausted, constraint violated, deadlock detected, duplicate key, lock wait timed out, \
     no such column, no such table, read-only transaction, statement too long, transaction aborted",
);
const OBJECTS: Words = words(
    "address, argument, buffer, certificate, cursor, field, file, header, index, key, path, pointer, \
     response, stream",
);
/// Texts in the manner of gRPC's status codes.
const OF_GRPC: Words = words(
    "call cancelled, data lost, deadline exceeded, message too large, method not implemented, permission \
     denied, resource exhausted, service unavailable, stream reset, unknown service",
);
/// Reasons of statuses from 400 (RFC 9110, section 15.5).
const OF_HTTP_CLIENTS: Words = words(
    "bad request, conflict, content too large, expectation failed, forbidden, gone, length required, method \
     not allowed, not acceptable, not found, precondition failed, request timeout, unauthorized, \
     unsupported media type, uri too long",
);
/// Reasons of statuses from 500 (RFC 9110, section 15.6).
const OF_HTTP_SERVERS: Words = words(
    "bad gateway, gateway timeout, http version not supported, internal server error, not implemented, \
     service unavailable",
);
const OF_RUNTIMES: Words = words(
    "address already in use, broken pipe, division by zero, index out of range, no space left on device, \
     null pointer, out of memory, permission denied, stack overflow, too many open files",
);
const OF_VALIDATION: Words = words(
    "date in the past, expected a number, field is required, invalid characters, invalid email address, \
     length out of range, must be unique, too many items, value too large, value too small",
);
const PROBLEMS: Words =
    words("corrupt, empty, expired, invalid, locked, malformed, missing, not found, too long, unexpected");

fn error(generator: &mut Generator) -> String {
    format!("{} {}", generator.pick(OBJECTS), generator.pick(PROBLEMS))
}
