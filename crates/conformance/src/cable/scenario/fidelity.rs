//! Payloads arrive as they were sent. Other escapes mean the same to every reader and are not strict; other digits, another
//! order of keys or another text are wrong.

use super::{
    super::{
        client::Client,
        fidelity::Fidelity,
        stage::Stage,
        stop::{Checked, Stop},
    },
    streams_channel,
};

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
    broadcast(stage, NUMBERS).await
}

pub(super) async fn keys(stage: &Stage<'_>) -> Checked {
    broadcast(stage, KEYS).await
}

pub(super) async fn unicode(stage: &Stage<'_>) -> Checked {
    broadcast(stage, UNICODE).await
}

pub(super) async fn escapes(stage: &Stage<'_>) -> Checked {
    broadcast(stage, ESCAPES).await
}

pub(super) async fn kinds(stage: &Stage<'_>) -> Checked {
    broadcast(stage, KINDS).await
}

async fn broadcast(stage: &Stage<'_>, payloads: &[&str]) -> Checked {
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
    each_comes(&mut client, &identifier, &payloads, say).await
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

/// Sends payloads one after the other, and compares each with the message that the client gets.
async fn each_comes(
    client: &mut Client,
    identifier: &str,
    payloads: &[&str],
    send: impl AsyncFn(&mut Client, &str) -> Checked,
) -> Checked {
    let mut rewritten = Vec::new();
    for payload in payloads {
        send(client, payload).await?;
        match client.fidelity(identifier, payload).await? {
            Fidelity::Exact => {}
            Fidelity::Rewritten => rewritten.push(payload),
            Fidelity::Changed(difference) => {
                return Err(Stop::fail(format!(
                    "expected the payload as it was sent; {difference}"
                )));
            }
        }
    }
    match rewritten.as_slice() {
        [] => Ok(()),
        [first, ..] => Err(Stop::non_strict(format!(
            "expected the bytes that were sent; {} payloads arrived in other bytes with the same meaning, such as \
             {first}",
            rewritten.len()
        ))),
    }
}
