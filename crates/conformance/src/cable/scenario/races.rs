//! Subscribes and unsubscribes that overtake each other in clients: @rails/actioncable repeats a subscribe every half
//! second until it is confirmed, and pages subscribe again as fast as they unsubscribe.

use super::{
    super::{
        client::{self, Client},
        message::Message,
        stage::Stage,
        stop::{Checked, Stop},
    },
    streams_channel,
};

/// Milliseconds that the slow channel takes. Reason: longer than commands that were sent together need to arrive.
const SLOW_MS: u32 = 150;

fn slow_channel(stream: &str) -> String {
    format!(r#"{{"channel":"SlowChannel","streams":["{stream}"],"ms":{SLOW_MS}}}"#)
}

/// A client and the confirmations that it has heard. Servers may confirm from another thread than the one that carries out
/// commands, so a confirmation may come at any time, and only their number is judged.
struct Hearing {
    client: Client,
    identifier: String,
    n_confirmations: usize,
}

impl Hearing {
    /// Connects and sends commands in one packet.
    async fn of(stage: &Stage<'_>, identifier: &str, commands: &[String]) -> Checked<Self> {
        let mut client = stage.client().await?;
        client.send_together(commands).await?;
        Ok(Self {
            client,
            identifier: identifier.to_owned(),
            n_confirmations: 0,
        })
    }

    /// The next message that is no confirmation.
    async fn message(&mut self, expected: &str) -> Checked<Message> {
        loop {
            let message = self.client.message(expected).await?;
            if !self.is_confirmation(&message) {
                return Ok(message);
            }
        }
    }

    /// Counts a message if it confirms the subscription.
    fn is_confirmation(&mut self, message: &Message) -> bool {
        let is_it =
            message.is("confirm_subscription") && message.identifier.as_ref() == Some(&self.identifier);
        self.n_confirmations += usize::from(is_it);
        is_it
    }

    /// The subscription is live: an action is answered, and a confirmation has come.
    async fn is_live(&mut self) -> Checked {
        let identifier = self.identifier.clone();
        self.client.perform(&identifier, r#"{"action":"tick"}"#).await?;
        self.hears(&identifier, r#""tock""#).await?;
        if self.n_confirmations == 0 {
            self.client.is_confirmed(&identifier).await?;
            self.n_confirmations = 1;
        }
        Ok(())
    }

    async fn hears(&mut self, identifier: &str, payload: &str) -> Checked {
        let expected = format!("{payload} on {identifier}");
        let message = self.message(&expected).await?;
        if message.is_for(identifier) && message.payload() == payload {
            Ok(())
        } else {
            Err(self.client.unexpected(&expected, &message))
        }
    }

    /// Messages to the stream arrive exactly once, at the subscription `identifier`.
    async fn hears_once(&mut self, stage: &Stage<'_>, identifier: &str, stream: &str) -> Checked {
        for message in [r#""once""#, r#""next""#] {
            stage.publish(stream, message).await?;
            self.hears(identifier, message).await?;
        }
        for message in self.client.settle().await? {
            if !self.is_confirmation(&message) {
                return Err(self.client.unexpected("each message once", &message));
            }
        }
        Ok(())
    }

    /// One confirmation is enough; more do no harm.
    fn one_is_enough(&self) -> Checked {
        match self.n_confirmations {
            1 => Ok(()),
            n => Err(Stop::non_strict(format!(
                "expected one confirmation for repeated subscribes; got {n}"
            ))),
        }
    }
}

pub(super) async fn duplicate(stage: &Stage<'_>) -> Checked {
    let stream = stage.name("a");
    is_one_subscription(stage, &streams_channel(&[&stream], 1), &stream, 2).await
}

pub(super) async fn duplicate_in_flight(stage: &Stage<'_>) -> Checked {
    let stream = stage.name("a");
    is_one_subscription(stage, &slow_channel(&stream), &stream, 3).await
}

async fn is_one_subscription(
    stage: &Stage<'_>,
    identifier: &str,
    stream: &str,
    n_subscribes: usize,
) -> Checked {
    let commands = vec![client::subscribe(identifier); n_subscribes];
    let mut hearing = Hearing::of(stage, identifier, &commands).await?;
    hearing.is_live().await?;
    hearing.hears_once(stage, identifier, stream).await?;
    hearing.one_is_enough()
}

pub(super) async fn subscribe_again(stage: &Stage<'_>) -> Checked {
    let stream = stage.name("a");
    let identifier = slow_channel(&stream);
    let subscribe = client::subscribe(&identifier);
    let commands = [subscribe.clone(), client::unsubscribe(&identifier), subscribe];
    let mut hearing = Hearing::of(stage, &identifier, &commands).await?;
    hearing.is_live().await?;
    hearing.hears_once(stage, &identifier, &stream).await
}

pub(super) async fn unsubscribe_in_flight(stage: &Stage<'_>) -> Checked {
    let stream = stage.name("a");
    let identifier = slow_channel(&stream);
    let witness = streams_channel(&[&stream], 1);
    let commands = [
        client::subscribe(&identifier),
        client::unsubscribe(&identifier),
        client::subscribe(&witness),
    ];
    let mut hearing = Hearing::of(stage, &identifier, &commands).await?;
    let message = hearing
        .message("the confirmation of the other subscription")
        .await?;
    if !(message.is("confirm_subscription") && message.identifier.as_ref() == Some(&witness)) {
        return Err(hearing
            .client
            .unexpected("the confirmation of the other subscription", &message));
    }
    hearing.hears_once(stage, &witness, &stream).await
}

pub(super) async fn resubscribe(stage: &Stage<'_>) -> Checked {
    let stream = stage.name("a");
    let identifier = streams_channel(&[&stream], 1);
    let mut client = stage.client().await?;
    client.subscribe(&identifier).await?;
    for _ in 0..10 {
        let commands = [client::unsubscribe(&identifier), client::subscribe(&identifier)];
        client.send_together(&commands).await?;
        client.is_confirmed(&identifier).await?;
    }
    for message in [r#""once""#, r#""next""#] {
        stage.publish(&stream, message).await?;
        client.hears(&identifier, message).await?;
    }
    client.settles_silently().await
}
