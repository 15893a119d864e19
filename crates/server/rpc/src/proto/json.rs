//! Variants of JSON that applications may send instead of the plain form of the messages.

use serde::{Deserialize, Deserializer, de::Error};

use super::Status;

/// Reads `null` like a missing field.
pub(super) fn or_default<'de, D: Deserializer<'de>, T: Default + Deserialize<'de>>(
    deserializer: D,
) -> Result<T, D::Error> {
    Option::deserialize(deserializer).map(Option::unwrap_or_default)
}

/// Reads a number, as in the contract, or a name.
pub(super) fn status<'de, D: Deserializer<'de>>(deserializer: D) -> Result<i32, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum NumberOrName {
        Number(i32),
        Name(String),
    }
    let unknown = || D::Error::custom("status must be 0 (ERROR), 1 (SUCCESS) or 2 (FAILURE)");
    match NumberOrName::deserialize(deserializer).map_err(|_| unknown())? {
        NumberOrName::Number(number) => Ok(number),
        NumberOrName::Name(name) => Status::from_str_name(&name).map(i32::from).ok_or_else(unknown),
    }
}

#[cfg(test)]
mod tests {
    use super::super::{CommandResponse, ConnectionResponse, DisconnectResponse, EnvResponse};
    use super::*;

    #[track_caller]
    fn check(json: &str, expected: Result<CommandResponse, &str>) {
        let got: Result<CommandResponse, _> = serde_json::from_str(json);
        match (got, expected) {
            (Ok(got), Ok(expected)) => assert_eq!(got, expected),
            (Err(error), Err(expected)) => assert!(error.to_string().contains(expected), "{error}"),
            (got, _) => panic!("{json}: {got:?}"),
        }
    }

    #[test]
    fn replies_in_all_their_forms() {
        let success = || CommandResponse {
            status: Status::Success.into(),
            ..CommandResponse::default()
        };
        check(r#"{"status":1}"#, Ok(success()));
        check(r#"{"status":"SUCCESS","from_the_future":{}}"#, Ok(success()));
        check(
            r#"{"status":1,"disconnect":null,"streams":null,"transmissions":null,"env":null,"presence":null}"#,
            Ok(success()),
        );
        check(
            r#"{"status":1,"disconnect":true,"stop_streams":true,"streams":["a"],"stopped_streams":["b"],
                "transmissions":["{}"],"env":{"istate":{"k":"v"}}}"#,
            Ok(CommandResponse {
                disconnect: true,
                stop_streams: true,
                streams: vec!["a".to_owned()],
                stopped_streams: vec!["b".to_owned()],
                transmissions: vec!["{}".to_owned()],
                env: Some(EnvResponse {
                    istate: [("k".to_owned(), "v".to_owned())].into(),
                    ..EnvResponse::default()
                }),
                ..success()
            }),
        );
    }

    #[test]
    fn what_is_no_reply_is_told_so() {
        check("{}", Err("missing field `status`"));
        check(
            r#"{"status":"FINE"}"#,
            Err("status must be 0 (ERROR), 1 (SUCCESS) or 2 (FAILURE)"),
        );
        check(r#"{"status":null}"#, Err("status must be 0"));
        check(r#"{"status":1,"streams":"room"}"#, Err("expected a sequence"));
        check("<!doctype html>", Err("expected value"));
    }

    #[test]
    fn every_reply_has_its_status() {
        assert!(serde_json::from_str::<ConnectionResponse>("{}").is_err());
        assert!(serde_json::from_str::<DisconnectResponse>("{}").is_err());
        assert!(serde_json::from_str::<ConnectionResponse>(r#"{"status":2}"#).is_ok());
        assert!(serde_json::from_str::<DisconnectResponse>(r#"{"status":2}"#).is_ok());
    }
}
