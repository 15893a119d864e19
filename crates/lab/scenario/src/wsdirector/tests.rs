//! Valid files and their meaning, and the errors for mistakes.

use std::{sync::Arc, time::Duration};

use expect_test::{Expect, expect};
use plimsoll_load::{
    metrics::{MetricSet, Recorder},
    run::RunHandle,
    vu::{Cancellation, IterationContext, VuId},
};
use tokio::time::Instant;

use super::{
    scenario::{Action, Outgoing},
    *,
};
use crate::document::Document;

fn read(text: &str, scale: u32) -> Scenario {
    let document = Document::read("test.yml", text).unwrap();
    Scenario::read(&document, scale).unwrap_or_else(|mistakes| panic!("{mistakes}"))
}

/// Groups with their numbers of clients, and the turns of each.
fn told(scenario: &Scenario) -> String {
    let groups = scenario.groups().map(|group| {
        let turns = group.course.iter().map(|turn| {
            let step = &group.steps[turn.step as usize];
            let sample = turn
                .sample
                .map(|sample| format!(" ({} of #{})", sample.limit, sample.counter));
            let action = match &step.action {
                Action::Send(Outgoing::Text(text)) => format!(" {text}"),
                Action::Send(Outgoing::Phoenix {
                    topic,
                    event,
                    payload,
                }) => format!(" {topic} {event} {payload}"),
                Action::Receive(receive) => {
                    let order = if receive.is_ordered { " next" } else { "" };
                    format!(" {} in {:?}{order}", receive.expected.shown, receive.timeout)
                }
                Action::ReceiveAll(all) => {
                    let expected = all.expected.iter();
                    expected
                        .map(|(expected, times)| format!(" {times} x {}", expected.shown))
                        .collect()
                }
                Action::Sleep { time, shift } => format!(" {time:?} ± {shift:?}"),
                Action::Debug(text)
                | Action::Subscribe { identifier: text }
                | Action::Leave { topic: text } => {
                    format!(" {text}")
                }
                Action::Join { topic, payload } => format!(" {topic} {payload}"),
                Action::WaitAll => String::new(),
            };
            format!("  {}{}{action}\n", step.name, sample.unwrap_or_default())
        });
        let turns: String = turns.collect();
        format!(
            "{} x {} {:?}\n{turns}",
            group.n_clients, group.name, group.protocol
        )
    });
    groups.collect()
}

#[track_caller]
fn means(text: &str, scale: u32, expected: &Expect) {
    expected.assert_eq(&told(&read(text, scale)));
}

#[track_caller]
fn refused(text: &str, expected: &Expect) {
    let document = Document::read("test.yml", text).unwrap();
    match Scenario::read(&document, 10) {
        Err(mistakes) => expected.assert_eq(&mistakes.to_string()),
        Ok(scenario) => panic!("{scenario:?}"),
    }
}

#[test]
fn a_list_of_steps_is_one_client() {
    means(
        r#"
- receive: {data: {type: welcome}}
- send:
    data: {command: subscribe, identifier: '{"channel":"Chat"}'}
- receive:
    "data>": {type: confirm_subscription}
    timeout: 0.5
    ordered: true
- wait_all
- sleep: {time: 1, shift: 0.5}
- debug: {message: done}
- receive
- receive:
"#,
        1,
        &expect![[r#"
            1 x default Base
              receive {"type":"welcome"} in 5s
              send {"command":"subscribe","identifier":"{\"channel\":\"Chat\"}"}
              receive at least {"type":"confirm_subscription"} in 500ms next
              wait_all
              sleep 1s ± 500ms
              debug done
              receive any message in 5s
              receive any message in 5s
        "#]],
    );
    means(
        "[]",
        1,
        &expect![[r#"
        1 x default Base
    "#]],
    );
    means(
        r#"[{"send": {"data": "hi"}}, {"send": {"data": 1.5}}]"#,
        1,
        &expect![[r#"
            1 x default Base
              send hi
              send 1.5
        "#]],
    );
}

#[test]
fn groups_have_numbers_that_depend_on_the_scale() {
    means(
        r#"
- client:
    name: publisher
    multiplier: ":scale"
    actions:
      - send: {data: a, sample: ":scale / 2"}
      - wait_all
      - send: {data: b, multiplier: ":scale / 3", sample: 1}
- client:
    multiplier: ":scale * 2"
    loop:
      multiplier: 2
      actions:
        - receive: {data: a}
        - loop:
            multiplier: 0
            actions: [receive]
        - loop:
            multiplier: 2
            actions:
              - send: {data: c, sample: 0}
- client:
    name: 3rd
    multiplier: ":scale - 10"
    actions: []
"#
        .replace("      - wait_all\n", "")
        .as_str(),
        10,
        &expect![[r#"
            10 x publisher Base
              send (5 of #0) a
              send (1 of #1) b
              send (1 of #2) b
              send (1 of #3) b
            20 x 2 Base
              receive "a" in 5s
              send (1 of #0) c
              send (1 of #1) c
              receive "a" in 5s
              send (1 of #2) c
              send (1 of #3) c
            0 x 3rd Base
        "#]],
    );
}

#[test]
fn steps_of_action_cable_become_its_messages() {
    means(
        r#"
- client:
    protocol: action_cable
    actions:
      - subscribe: &chat {channel: Chat, params: {id: 2, channel: ignored, last: ~}}
      - perform: {<<: *chat, action: speak, data: {text: hi}}
      - perform: {channel: Chat, action: ping}
      - receive: {channel: Chat, "data>": {text: hi}, offset: 3, epoch: x}
      - receive: {channel: Chat, data: hi}
      - receive_all:
          messages:
            - {channel: Chat, data: {a: 1}, multiplier: ":scale"}
            - {data: raw}
      - unsubscribe: {channel: Chat}
      - send: {data: raw}
"#,
        10,
        &expect![[r#"
            1 x 1 ActionCable
              subscribe {"id":2,"last":null,"channel":"Chat"}
              perform {"command":"message","identifier":"{\"id\":2,\"last\":null,\"channel\":\"Chat\"}","data":"{\"text\":\"hi\",\"action\":\"speak\"}"}
              perform {"command":"message","identifier":"{\"channel\":\"Chat\"}","data":"{\"action\":\"ping\"}"}
              receive at least {"text":"hi"} from {"channel":"Chat"}, offset 3, epoch "x" in 5s
              receive "hi" from {"channel":"Chat"} in 5s
              receive_all 10 x {"a":1} from {"channel":"Chat"} 1 x "raw"
              unsubscribe {"command":"unsubscribe","identifier":"{\"channel\":\"Chat\"}"}
              send raw
        "#]],
    );
}

#[test]
fn steps_of_phoenix_become_its_messages() {
    means(
        r#"
- client:
    protocol: phoenix
    connection_options: {query: {token: a b}}
    actions:
      - join: {topic: room:1, params: {token: x}}
      - send: {topic: room:1, event: new, data: {n: 1}}
      - receive: {topic: room:1, event: new, "data>": {n: 1}}
      - leave: {topic: room:1}
"#,
        10,
        &expect![[r#"
            1 x 1 Phoenix
              join room:1 {"token":"x"}
              send room:1 new {"n":1}
              receive new with at least {"n":1} from room:1 in 5s
              leave room:1
        "#]],
    );
}

#[test]
fn connecting_is_told_by_the_file() {
    let scenario = read(
        r#"
- client:
    protocol: phoenix
    ignore: [!ruby/regexp '/"type": ?"ping"/i', '/a.b/m', plain]
    connection_options:
      headers: {Authorization: Bearer x, X-Count: 5}
      cookies: {uid: a b, x: é}
      query: {"q[]": "1&2", b: true}
      subprotocol: mine
"#,
        1,
    );
    let group = scenario.groups().next().unwrap();
    let is_ignored = |text: &str| group.ignore.iter().any(|regex| regex.is_match(text));
    for (text, expected) in [
        (r#"{"TYPE": "ping"}"#, true),
        (r#"{"type":"pong"}"#, false),
        ("a\nb", true),
        ("A b", false),
        ("so plain.", true),
    ] {
        assert_eq!(is_ignored(text), expected, "{text}");
    }
    expect![[r#"
        Connecting {
            headers: [
                (
                    "Authorization",
                    "Bearer x",
                ),
                (
                    "X-Count",
                    "5",
                ),
                (
                    "Cookie",
                    "uid=a+b; x=%C3%A9",
                ),
            ],
            query: "q%5B%5D=1%262&b=true&vsn=2.0.0",
            subprotocol: Some(
                "mine",
            ),
        }
    "#]]
    .assert_debug_eq(&group.connecting);
}

#[test]
fn all_mistakes_of_a_file_are_told() {
    refused(
        "hello",
        &expect![[r#"test.yml:1:1: expected a list, found "hello""#]],
    );
    refused(
        "- hello\n- sned: {data: hi}\n- subscribe: {channel: x}\n- 5\n- send: {data: 1}\n  receive: {}\n",
        &expect![[r#"
            test.yml:1:3: [0]: `hello` is not a step; expected one of send, receive, receive_all, wait_all, sleep, debug, loop
            test.yml:2:9: [1].sned: `sned` is not a step; did you mean `send`?
            test.yml:3:14: [2].subscribe: `subscribe` is a step of another protocol; write protocol: action_cable for this client
            test.yml:4:3: [3]: expected a step, for example wait_all or send: {data: hi}, found 5
            test.yml:5:3: [4]: expected a step, for example wait_all or send: {data: hi}, found 2 keys; are the parts of the step indented below it?"#]],
    );
    refused(
        r#"
- send: {daat: hi}
- send: hi
- receive: {data: 1, "data>": 2}
- receive: {ordered: yes, timeout: soon, print: 1}
- receive: {timeout: -1}
- wait_all: {sample: 1}
- sleep: {shift: 1}
- sleep: {time: 1e9}
- debug: {message: [1]}
- loop: {multiplier: x}
- loop: {actions: []}
- send: {data: hi, multiplier: ":scael"}
- send: {data: hi, multiplier: ":scale - 11", sample: 1 / 0}
- receive_all: {messages: [{multiplier: 1.5}, {data: 1, x: 2}]}
- receive_all: {}
- debug: {message: !ruby/regexp /x/}
"#,
        &expect![[r#"
            test.yml:2:9: [0].send: `data` is missing: expected what to send, for example data: hi
            test.yml:2:10: [0].send.daat: is not a key here; did you mean `data`?
            test.yml:3:9: [1].send: expected a map, found "hi"
            test.yml:4:31: [2].receive.data>: expected either data, the whole message, or data>, a part of it
            test.yml:5:22: [3].receive.ordered: expected true or false, found "yes"
            test.yml:5:36: [3].receive.timeout: expected seconds from 0 to 86400, for example 0.5, found "soon"
            test.yml:5:49: [3].receive.print: expected true or false, found 1
            test.yml:6:22: [4].receive.timeout: expected seconds from 0 to 86400, for example 0.5, found -1
            test.yml:7:22: [5].wait_all.sample: wait_all waits for all clients, so it cannot have a sample
            test.yml:8:10: [6].sleep: `time` is missing: expected seconds, for example time: 0.5
            test.yml:9:17: [7].sleep.time: expected seconds from 0 to 86400, for example 0.5, found 1000000000.0
            test.yml:10:20: [8].debug.message: expected a text, found a list
            test.yml:11:9: [9].loop: `actions` is missing: expected the steps to repeat, for example actions: [wait_all]
            test.yml:11:22: [9].loop.multiplier: expected a whole number or an expression with :scale, for example ":scale * 2"
            test.yml:12:9: [10].loop: `multiplier` is missing: expected the number of repetitions, for example multiplier: 10
            test.yml:13:32: [11].send.multiplier: expected a whole number or an expression with :scale, for example ":scale * 2"
            test.yml:14:32: [12].send.multiplier: this gives -1; expected 0 to 1000000
            test.yml:14:55: [12].send.sample: this divides by zero
            test.yml:15:41: [13].receive_all.messages[0].multiplier: expected a whole number or an expression with :scale, for example ":scale * 2", found 1.5
            test.yml:15:57: [13].receive_all.messages[1].x: is not a key here; expected one of data, data>, multiplier
            test.yml:16:16: [14].receive_all: `messages` is missing: expected a list, for example messages: [{data: hi, multiplier: 2}]
            test.yml:17:33: the tag `!ruby/regexp` is not known here; write the value without it"#]],
    );
    refused(
        r#"
- client:
    name: a
    protocol: actioncable
    multiplier: two
    acitons: []
- client:
    name: a
    protocol: MyProtocol
    ignore: "/(/"
    connection_options: {header: {}, cookies: [1]}
    actions: []
    loop: {multiplier: 1, actions: []}
- clinet: {}
- client:
    protocol: action_cable
    actions:
      - subscribe: {params: {}}
      - subscribe: {channel: 5}
      - perform: {channel: x}
      - join: {topic: x}
      - receive: {channel: x, params: 5, dta: 1}
- client:
    protocol: phoenix
    actions:
      - send: {topic: x}
      - receive: {topic: 1, event: 2}
      - join
"#,
        &expect![[r#"
            test.yml:4:15: [0].client.protocol: `actioncable` is not a protocol; did you mean `action_cable`?
            test.yml:5:17: [0].client.multiplier: expected a whole number or an expression with :scale, for example ":scale * 2"
            test.yml:6:5: [0].client.acitons: is not a key here; did you mean `actions`?
            test.yml:9:15: [1].client.protocol: `MyProtocol` is not a protocol; expected base, action_cable or phoenix (protocols written in Ruby are not supported)
            test.yml:10:13: [1].client.ignore: this is not a regular expression: regex parse error:
                (
                ^
            error: unclosed group
            test.yml:11:26: [1].client.connection_options.header: is not a key here; did you mean `headers`?
            test.yml:11:47: [1].client.connection_options.cookies: expected a map, found a list
            test.yml:13:11: [1].client.loop: a client cannot have both actions and a loop; write the loop as one of the actions
            test.yml:14:3: [2]: `client` is missing: expected a client, for example client: {actions: [wait_all]}
            test.yml:14:3: [2].clinet: is not a key here; did you mean `client`?
            test.yml:18:20: [3].client.actions[0].subscribe: `channel` is missing: expected a channel, for example channel: ChatChannel
            test.yml:19:30: [3].client.actions[1].subscribe.channel: expected a text, found 5
            test.yml:20:18: [3].client.actions[2].perform: `action` is missing: expected what to perform, for example action: speak
            test.yml:21:15: [3].client.actions[3].join: `join` is a step of another protocol; write protocol: phoenix for this client
            test.yml:22:39: [3].client.actions[4].receive.params: expected a map, for example {id: 2}, found 5
            test.yml:22:42: [3].client.actions[4].receive.dta: is not a key here; did you mean `data`?
            test.yml:26:15: [4].client.actions[0].send: `event` is missing: expected an event, for example event: new_msg
            test.yml:27:26: [4].client.actions[1].receive.topic: expected a text, found 1
            test.yml:27:36: [4].client.actions[1].receive.event: expected a text, found 2
            test.yml:28:9: [4].client.actions[2]: `topic` is missing: expected a topic, for example topic: room:lobby"#]],
    );
}

#[test]
fn what_cannot_work_is_told_before_the_run() {
    refused(
        "- client: {actions: [wait_all]}\n- client: {name: b, actions: [wait_all, wait_all]}\n- client: {multiplier: 0}\n",
        &expect![
            "test.yml:1:1: group 1 meets at wait_all 1 times and group b 2 times, so some clients would wait \
             forever; expected the same number for all groups"
        ],
    );
    refused(
        "- client: {multiplier: 0}\n",
        &expect![
            "test.yml:1:1: no group has a client at this scale; expected a multiplier of at least 1, or a larger --scale"
        ],
    );
    let many = "- client: {loop: {multiplier: 600000, actions: [receive]}}\n";
    refused(
        &many.repeat(3),
        &expect![
            "test.yml:2:3: [1]: the groups up to this one have more than 1000000 steps with all repetitions; lower \
             the multipliers or the --scale"
        ],
    );
    refused(
        "- loop: {multiplier: 1000000, actions: [{loop: {multiplier: 1000000, actions: [receive, receive]}}]}\n",
        &expect![
            "test.yml:1:1: each client would have more than 1000000 steps with all repetitions; lower the \
             multipliers or the --scale"
        ],
    );
    // An empty loop ends.
    let nothing = "- loop: {multiplier: 1000000, actions: [{loop: {multiplier: 1000000, actions: []}}]}\n";
    assert_eq!(read(nothing, 1).groups().next().unwrap().course.len(), 0);
}

#[test]
fn groups_may_share_a_name() {
    let file = "- client: {name: a}\n- client: {name: a (2)}\n- client: {name: a}\n- client: {name: a}\n";
    let scenario = Scenario::read(&Document::read("test.yml", file).unwrap(), 1).unwrap();
    let names: Vec<_> = scenario
        .groups()
        .map(|group| (group.name.as_str(), group.key.as_str()))
        .collect();
    assert_eq!(
        names,
        [("a", "a"), ("a (2)", "a (2)"), ("a", "a (3)"), ("a", "a (4)")]
    );
}

#[tokio::test]
async fn a_client_that_waits_is_small() {
    let scenario = read("- client:\n    actions:\n      - sleep: {time: 1}\n", 1);
    let connect = Connect {
        url: "ws://127.0.0.1:9/".to_owned(),
        tls: None,
        subprotocol: None,
        barrier_timeout: Duration::from_secs(1),
        voice: Voice::new(false, |_| {}),
    };
    let users = Users::new(scenario, &connect).await.unwrap();
    let part = users.plan().remove(0);
    let mut context = IterationContext {
        vu: VuId::FIRST,
        iteration: 0,
        iteration_in_scenario: 0,
        scenario_iteration: 0,
        scenario_iteration_in_test: 0,
        scenario: Arc::new(part),
        intended_start: Instant::now(),
        start: Instant::now(),
        cancellation: Cancellation::default(),
        metrics: Recorder::new(MetricSet::new(Arc::new(users.registry.clone()))),
        run: RunHandle::new(),
    };
    let mut user = users.factory().create(VuId::FIRST).unwrap();
    // Without its connection, whose buffers are only as large as needed. The limit is a size class of the allocator.
    let n_bytes = size_of_val(&*user.iterate(&mut context));
    assert!(n_bytes <= 1792, "{n_bytes} bytes");
}
