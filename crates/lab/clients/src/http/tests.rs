//! The client against a scripted server, byte by byte, and against hyper over TLS.

mod http2;
mod ntlm;
mod peer;
mod repeater;
mod scripted;
