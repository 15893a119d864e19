//! Whether a server has the suite's channels at all. Without them nearly every case fails, each after its own patience.

use std::time::Duration;

use super::{
    Rpc,
    client::{Client, subscribe},
    message::Message,
    stage::Stage,
    stop::Checked,
};

/// The time limit for the answer to a subscribe. Reason: the channel has nothing to do.
const ANSWERS_WITHIN: Duration = Duration::from_secs(2);

/// The subscription that every server of the suite confirms.
const IDENTIFIER: &str = r#"{"channel":"StreamsChannel","streams":[],"n":0}"#;

/// Subscribes once. Says in one line why no case can come to anything, if the server welcomes a client and does not know the
/// suite's channels; `None` if it does, and if there is not even a welcome, which the cases about connecting judge.
pub(super) async fn missing(stage: &Stage<'_>) -> Option<String> {
    let mut client = stage.client().await.ok()?;
    let answer = answer(&mut client).await;
    if matches!(&answer, Some(message) if message.is("confirm_subscription")) {
        return None;
    }
    let got = answer.map_or_else(
        || "does not answer".to_owned(),
        |message| format!("answers {}", message.text),
    );
    let who = match stage.rpc() {
        Rpc::None => {
            "the server does not have the suite's channels (--rpc none needs those of conformance/rails)"
                .to_owned()
        }
        // The application was asked, so its answers and what becomes of them are for the cases to judge.
        Rpc::Grpc | Rpc::Http if stage.n_commands() > 0 => return None,
        Rpc::Grpc | Rpc::Http => format!(
            "the server does not ask the suite's application at {}, so it does not have the suite's channels",
            stage.rpc_host()
        ),
    };
    let next = match stage.rpc() {
        Rpc::None => String::new(),
        Rpc::Grpc | Rpc::Http => format!("; start it with --rpc_host {}", stage.rpc_host()),
    };
    Some(format!("{who}: it {got} to a subscribe for {IDENTIFIER}{next}"))
}

async fn answer(client: &mut Client) -> Option<Message> {
    let answer = async {
        client.send(&subscribe(IDENTIFIER)).await?;
        let answer: Checked<Message> = client.message("an answer to a subscribe").await;
        answer
    };
    tokio::time::timeout(ANSWERS_WITHIN, answer).await.ok()?.ok()
}
