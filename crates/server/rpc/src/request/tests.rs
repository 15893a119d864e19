//! prost's encoding of the contract is the reference for the encoding written by hand.

use proptest::{
    collection::{btree_map, vec},
    prelude::*,
};
use prost::Message;

use super::*;

/// Texts that are long enough for lengths of two bytes, and empty now and then.
fn text() -> impl Strategy<Value = String> {
    prop_oneof![Just(String::new()), ".{0,20}", "[a-z]{120,200}"]
}

fn env() -> impl Strategy<Value = proto::Env> {
    let entries = || btree_map(text(), text(), 0..4);
    (text(), entries(), entries(), entries()).prop_map(|(url, headers, cstate, istate)| proto::Env {
        url,
        headers,
        cstate,
        istate,
    })
}

/// The maps of an `Env`, as a session has them.
fn maps(env: &proto::Env) -> [Entries; 3] {
    [&env.headers, &env.cstate, &env.istate].map(|map| map.clone().into_iter().collect())
}

fn borrowed<'a>(env: &'a proto::Env, [headers, cstate, istate]: &'a [Entries; 3]) -> Env<'a> {
    Env {
        url: &env.url,
        headers,
        cstate,
        istate: Cow::Borrowed(istate),
    }
}

fn check(request: &impl Request, expected: &(impl Message + Serialize)) {
    let mut written = Vec::new();
    request.write(&mut written);
    assert_eq!(written, expected.encode_to_vec());
    assert_eq!(request.len(), written.len());
    let [json, expected] = [serde_json::to_value(request), serde_json::to_value(expected)];
    assert_eq!(json.expect("strings"), expected.expect("strings"));
}

proptest! {
    #[test]
    fn requests_are_what_prost_would_write(
        env in env(), identifier in text(), identifiers in text(), data in text(), subscriptions in vec(text(), 0..3)
    ) {
        let maps = maps(&env);
        let connect = ConnectionRequest { env: borrowed(&env, &maps) };
        check(&connect, &proto::ConnectionRequest { env: Some(env.clone()) });
        let command = CommandMessage {
            command: "message",
            identifier: &identifier,
            connection_identifiers: &identifiers,
            data: &data,
            env: borrowed(&env, &maps),
        };
        check(&command, &proto::CommandMessage {
            command: "message".to_owned(),
            identifier: identifier.clone(),
            connection_identifiers: identifiers.clone(),
            data: data.clone(),
            env: Some(env.clone()),
        });
        let boxed: Vec<_> = subscriptions.iter().map(|text| text.as_str().into()).collect();
        let disconnect = DisconnectRequest {
            identifiers: &identifiers,
            subscriptions: &boxed,
            env: borrowed(&env, &maps),
        };
        check(&disconnect, &proto::DisconnectRequest {
            identifiers: identifiers.clone(),
            subscriptions,
            env: Some(env.clone()),
        });
    }
}
