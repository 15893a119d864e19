//! The class `Client`.

use std::{rc::Rc, sync::Arc, time::Instant};

use plimsoll_clients::grpc::{Channel, Endpoint};
use rquickjs::{
    Ctx, Exception, FromJs as _, JsLifetime, Object, Persistent, Promise, Result, Value,
    class::Trace,
    function::{Opt, Rest},
};

use super::{
    call::UnaryCall,
    connect_params::ConnectParams,
    definitions, health, reflection, response,
    session::Session,
    state::{Server, State},
};
use crate::{arguments::Text, events::Callback, host::Host};

/// A client of one server.
#[derive(Trace, JsLifetime)]
#[rquickjs::class(frozen)]
pub(super) struct Client {
    #[qjs(skip_trace)]
    pub(super) state: Rc<State>,
}

#[rquickjs::methods(rename_all = "camelCase")]
impl Client {
    #[qjs(constructor)]
    fn new() -> Self {
        Self { state: Rc::default() }
    }

    fn load<'js>(&self, ctx: Ctx<'js>, arguments: Rest<Value<'js>>) -> Result<Value<'js>> {
        definitions::load(&ctx, &self.state, &arguments.0)
    }

    fn load_protoset<'js>(&self, ctx: Ctx<'js>, path: Opt<Value<'js>>) -> Result<Value<'js>> {
        let path = text(&ctx, path)?;
        definitions::load_protoset(&ctx, &self.state, path)
    }

    fn connect<'js>(&self, ctx: Ctx<'js>, address: Opt<Value<'js>>, params: Opt<Value<'js>>) -> Result<bool> {
        let host = Host::of(&ctx);
        if !host.is_at_work() {
            let text = "connecting to a gRPC server in the init context is not supported";
            return Err(Exception::throw_message(&ctx, text));
        }
        let address = text(&ctx, address)?;
        let params = ConnectParams::read(&ctx, params.0.as_ref())?;
        connect(&ctx, &host, &self.state, address, &params)?;
        Ok(true)
    }

    fn invoke<'js>(&self, ctx: Ctx<'js>, arguments: Rest<Value<'js>>) -> Result<Value<'js>> {
        let call = UnaryCall::read(&ctx, &self.state, &arguments.0)?;
        let answer = Host::of(&ctx).park(&ctx, call.perform())?;
        response::of(&ctx, &call.state, &answer)
    }

    fn async_invoke<'js>(&self, ctx: Ctx<'js>, arguments: Rest<Value<'js>>) -> Result<Promise<'js>> {
        let (promise, resolve, reject) = ctx.promise()?;
        let call = match UnaryCall::read(&ctx, &self.state, &arguments.0) {
            Ok(call) => call,
            Err(error) if error.is_exception() => {
                reject.call::<_, ()>((ctx.catch(),))?;
                return Ok(promise);
            }
            Err(error) => return Err(error),
        };
        let held = (Persistent::save(&ctx, resolve), Persistent::save(&ctx, reject));
        Host::of(&ctx).event(&ctx, async move {
            let answer = call.perform().await;
            Box::new(move |ctx: &Ctx<'_>| {
                let (resolve, reject) = (held.0.restore(ctx)?, held.1.restore(ctx)?);
                match response::of(ctx, &call.state, &answer) {
                    Ok(response) => resolve.call((response,)),
                    Err(_) => reject.call((ctx.catch(),)),
                }
            }) as Callback
        })?;
        Ok(promise)
    }

    fn health_check<'js>(&self, ctx: Ctx<'js>, service: Opt<Value<'js>>) -> Result<Object<'js>> {
        let service = text(&ctx, service)?;
        health::check(&ctx, &self.state, service)
    }

    fn close(&self) {
        if let Some(server) = self.state.replace_server(None) {
            server.channel.close();
        }
    }
}

fn text<'js>(ctx: &Ctx<'js>, value: Opt<Value<'js>>) -> Result<String> {
    let text = value.0.map(|value| Text::from_js(ctx, value)).transpose()?;
    Ok(text.map(|text| text.0).unwrap_or_default())
}

/// Connects a client, and asks the server for its definitions if the script wants it.
fn connect(ctx: &Ctx<'_>, host: &Host, state: &State, address: String, params: &ConnectParams) -> Result<()> {
    let fail = |text: &str| Exception::throw_message(ctx, text);
    let network = host.program.network().map_err(|error| fail(&error.to_string()))?;
    let (name, port) = split(&address).map_err(|error| fail(&error))?;
    let mut endpoint = Endpoint::new(name, port, Arc::clone(&network.dialer));
    endpoint.source = network.source_of(host.vu);
    endpoint.user_agent.clone_from(&network.user_agent);
    if !params.is_plaintext {
        let tls = match &params.tls {
            None => Ok(Arc::clone(&network.tls)),
            Some(own) => network.tls_with(own).map(Arc::new),
        };
        endpoint.tls = Some(tls.map_err(|error| fail(&error))?);
    }
    if let Some(authority) = &params.authority {
        endpoint.authority.clone_from(authority);
    }
    if let Some(bytes) = params.max_received_bytes {
        endpoint.max_received_bytes = bytes;
    }
    if let Some(bytes) = params.max_sent_bytes {
        endpoint.max_sent_bytes = bytes;
    }
    let session = Session::of(ctx);
    let recorder = session.enter(ctx, host)?;
    let channel = Rc::new(Channel::new(endpoint, Rc::clone(&session.traffic)));
    let started = Instant::now();
    if params.timeout.is_zero() {
        return Err(fail("context deadline exceeded"));
    }
    let connected = host.park(ctx, channel.connect(params.timeout))?;
    session.count_bytes(&recorder, &host.metrics().data);
    connected.map_err(|error| {
        recorder.fault(
            &format!("gRPC: {}", error.cause()),
            &format!("connecting to {}: {error}", plimsoll_redacted::url(&address)),
        );
        fail(&error.to_string())
    })?;
    state.replace_server(Some(Server {
        channel: Rc::clone(&channel),
        address,
    }));
    if !params.reflects {
        return Ok(());
    }
    let rest = params.timeout.saturating_sub(started.elapsed());
    let reflecting = tokio::time::timeout(rest, reflection::reflect(&channel, &params.reflection_metadata));
    let reflected = host.park(ctx, reflecting)?;
    session.count_bytes(&recorder, &host.metrics().data);
    let overdue = "can't list services: rpc error: code = DeadlineExceeded desc = context deadline exceeded";
    let definitions = reflected.unwrap_or_else(|_| Err(overdue.to_owned()));
    state.add(Arc::new(definitions.map_err(|error| fail(&error))?));
    Ok(())
}

/// Host, without brackets, and port.
fn split(address: &str) -> std::result::Result<(&str, u16), String> {
    let words = |text: &str| format!("connection error: desc = \"transport: error while dialing: {text}\"");
    let plain = ["dns:///", "passthrough:///"]
        .iter()
        .find_map(|scheme| address.strip_prefix(scheme))
        .unwrap_or(address);
    let named = if plain.is_empty() {
        String::new()
    } else {
        format!("address {plain}: ")
    };
    let (name, port) = plain
        .rsplit_once(':')
        .filter(|(name, _)| !name.contains(':') || name.ends_with(']'))
        .ok_or_else(|| words(&format!("{named}missing port in address")))?;
    let number = port.parse();
    let number = number.map_err(|_| {
        words(&format!(
            "{named}invalid port; expected something like localhost:50051"
        ))
    })?;
    Ok((name.trim_start_matches('[').trim_end_matches(']'), number))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_hosts_and_ports() {
        let check = |address: &str, expected: std::result::Result<(&str, u16), &str>| {
            let found = split(address);
            match expected {
                Ok(expected) => assert_eq!(found, Ok(expected)),
                Err(text) => assert!(
                    found.as_ref().is_err_and(|error| error.contains(text)),
                    "{found:?}"
                ),
            }
        };
        check("a.example:50051", Ok(("a.example", 50051)));
        check("[::1]:1", Ok(("::1", 1)));
        check("dns:///a:2", Ok(("a", 2)));
        check(
            "127.0.0.1",
            Err("dialing: address 127.0.0.1: missing port in address"),
        );
        check("", Err("dialing: missing port in address"));
        check("::1", Err("missing port"));
        check("a:b", Err("invalid port"));
    }
}
