//! Payloads arrive as they were sent. Other escapes mean the same to every reader and are not strict; another text is wrong.
//! Other digits beyond 2^53 and another order of keys are graded: RFC 8259 lets readers of JSON do both.

use super::{
    super::{
        client::Client,
        fidelity::Fidelity,
        stage::Stage,
        stop::{Checked, Stop},
    },
    MESSAGES, streams_channel,
};
use crate::Score;

const NUMBERS: &[&str] = &[
    r#"{"id":9007199254740993}"#,
    r#"{"id":12345678901234567890,"list":[-9223372036854775808,18446744073709551615]}"#,
    "9007199254740993",
    r#"{"f":1.5,"e":1e3,"long":0.1,"zero":0,"negative":-1}"#,
];

const KEYS: &[&str] = &[
    r#"{"b":1,"a":2,"c":{"z":1,"y":2,"x":3}}"#,
    r#"[{"id":2,"a":1},{"id":1,"a":2}]"#,
    r#"{"10":1,"9":2,"1":3}"#,
];

const UNICODE: &[&str] = &[
    r#""é ß 漢字 🚀 👩‍👩‍👧""#,
    "\"line\u{2028}paragraph\u{2029}mark\u{feff}\"",
    r#"{"ключ":"\u00e9\ud83d\ude80"}"#,
    "\"\u{10ffff}\u{7f}\u{80}\"",
];

const ESCAPES: &[&str] = &[
    r#""<b>&amp;</b> ' \" \\ \/""#,
    r#"{"<&>":"</script>"}"#,
    r#""\b\f\n\r\t\u0000\u001f""#,
];

const KINDS: &[&str] = &[
    "true",
    "false",
    "0",
    "[]",
    "{}",
    r#"[null,true,false,0,"",[],{}]"#,
    r#"{"a":{"b":{"c":{"d":{"e":{"f":{"g":{"h":[[[[[[1]]]]]]}}}}}}}}"#,
];

pub(super) async fn numbers(stage: &Stage<'_>) -> Checked {
    let arrival = broadcast(stage, NUMBERS).await?;
    Err(arrival.graded("kept their numbers"))
}

pub(super) async fn keys(stage: &Stage<'_>) -> Checked {
    let arrival = broadcast(stage, KEYS).await?;
    Err(arrival.graded("kept the order of their keys"))
}

pub(super) async fn unicode(stage: &Stage<'_>) -> Checked {
    broadcast(stage, UNICODE).await?.judged()
}

pub(super) async fn escapes(stage: &Stage<'_>) -> Checked {
    broadcast(stage, ESCAPES).await?.judged()
}

pub(super) async fn kinds(stage: &Stage<'_>) -> Checked {
    broadcast(stage, KINDS).await?.judged()
}

async fn broadcast(stage: &Stage<'_>, payloads: &[&str]) -> Checked<Arrival> {
    let stream = stage.name("a");
    let mut client = stage.client().await?;
    let identifier = streams_channel(&[&stream], 1);
    client.subscribe(&identifier).await?;
    let publish = async |_: &mut Client, payload: &str| stage.publish(&stream, payload).await;
    each_comes(&mut client, &identifier, payloads, publish).await
}

pub(super) async fn transmitted(stage: &Stage<'_>) -> Checked {
    let mut client = stage.client().await?;
    let identifier = streams_channel(&[], 1);
    client.subscribe(&identifier).await?;
    let payloads = [NUMBERS, KEYS, UNICODE, ESCAPES, KINDS].concat();
    let say = async |client: &mut Client, payload: &str| {
        let action = format!(r#"{{"action":"say","message":{payload}}}"#);
        client.perform(&identifier, &action).await
    };
    each_comes(&mut client, &identifier, &payloads, say)
        .await?
        .judged()
}

pub(super) async fn not_json(stage: &Stage<'_>) -> Checked {
    stage.needs_rpc("data that is not JSON")?;
    let stream = stage.name("a");
    let mut client = stage.client().await?;
    let identifier = streams_channel(&[&stream], 1);
    client.subscribe(&identifier).await?;
    for (data, expected) in [
        ("plain text", r#""plain text""#),
        ("{\"broken\":", r#""{\"broken\":""#),
        ("1 2", r#""1 2""#),
    ] {
        stage.publish(&stream, data).await?;
        client.hears(&identifier, expected).await?;
    }
    Ok(())
}

/// How payloads arrived.
#[derive(Default)]
struct Arrival {
    n_payloads: u32,
    /// The first payload that came in other bytes with the same meaning, and their number.
    rewritten: Option<String>,
    n_rewritten: u32,
    /// The first difference that RFC 8259 allows, and the number of payloads with one.
    allowed: Option<String>,
    n_allowed: u32,
}

impl Arrival {
    fn score(&self) -> Score {
        Score {
            kept: self.n_payloads - self.n_allowed,
            of: self.n_payloads,
        }
    }

    /// How many kept what the specification does not ask them to keep.
    fn graded(&self, kept: &str) -> Stop {
        let score = self.score();
        let first = self
            .allowed
            .as_ref()
            .map_or_else(String::new, |first| format!("; {first}"));
        let Score { kept: n_kept, of } = score;
        Stop::graded(score, format!("{n_kept} of {of} payloads {kept}{first}"))
    }

    /// Other bytes with the same meaning are not strict.
    fn judged(&self) -> Checked {
        if self.n_allowed > 0 {
            return Err(self.graded("kept their numbers and the order of their keys"));
        }
        match &self.rewritten {
            None => Ok(()),
            Some(first) => Err(Stop::non_strict(format!(
                "expected the bytes that were sent; {} payloads arrived in other bytes with the same meaning, such as \
                 {first}",
                self.n_rewritten
            ))),
        }
    }
}

/// Sends payloads one after the other, and compares each with the message that the client gets.
async fn each_comes(
    client: &mut Client,
    identifier: &str,
    payloads: &[&str],
    send: impl AsyncFn(&mut Client, &str) -> Checked,
) -> Checked<Arrival> {
    let mut arrival = Arrival::default();
    for payload in payloads {
        send(client, payload).await?;
        arrival.n_payloads += 1;
        match client.fidelity(identifier, payload).await? {
            Fidelity::Exact => {}
            Fidelity::Rewritten => {
                arrival.n_rewritten += 1;
                arrival.rewritten.get_or_insert_with(|| (*payload).to_owned());
            }
            Fidelity::Allowed(difference) => {
                arrival.n_allowed += 1;
                arrival.allowed.get_or_insert(difference);
            }
            // Whatever a case is graded for, another value is wrong.
            Fidelity::Changed(difference) => {
                return Err(
                    Stop::fail(format!("expected the payload as it was sent; {difference}"))
                        .against(MESSAGES),
                );
            }
        }
    }
    Ok(arrival)
}
