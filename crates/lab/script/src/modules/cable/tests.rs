//! Scripts with cable clients, against a server in the same thread. Their own checks tell how it went.

use std::{cell::RefCell, rc::Rc};

use tokio::task::LocalSet;

use crate::tests::{Trial, program};

mod peer;

/// Runs one iteration of a function body, in which `URL`, `connect()`, `room()` and `ok(name, condition)` are there, and
/// gives the samples, but for bytes and durations of iterations.
async fn run(body: &str) -> (Vec<String>, String) {
    let requests: Rc<RefCell<String>> = Rc::default();
    let seen = Rc::clone(&requests);
    let local = LocalSet::new();
    let samples = local.run_until(async move {
        let url = peer::serve(move |request| seen.borrow_mut().push_str(&request)).await;
        let text = format!(
            "import {{ check, sleep }} from 'k6';
             import {{ Trend, Counter }} from 'k6/metrics';
             import cable from 'k6/x/cable';
             const URL = '{url}', trend = new Trend('my_trend', true), counter = new Counter('my_counter');
             const ok = (name, condition, seen) => {{
               if (!check(null, {{ [name]: !!condition }})) throw new Error(name + ': ' + JSON.stringify(seen));
             }};
             const connect = (options) => cable.connect(URL, options);
             const room = (options) => connect(options).subscribe('Room');
             const throws = (f) => {{ try {{ f(); return '' }} catch (e) {{ return String(e) }} }};
             export default function () {{ {body} }}"
        );
        let mut trial = Trial::new(program(&text));
        trial.iterate(1).await.unwrap_or_else(|error| panic!("{error}\n{body}"));
        trial.recorded()
    });
    let samples = samples.await;
    let samples = samples
        .into_iter()
        .filter(|sample| !sample.starts_with("data_") && !sample.starts_with("checks"));
    let requests = requests.take();
    (samples.collect(), requests)
}

/// Runs a body and expects these samples.
async fn check(body: &str, expected: &[&str]) {
    let (samples, _) = run(body).await;
    assert_eq!(samples, expected, "{body}");
}

#[tokio::test(start_paused = true)]
async fn a_session_is_measured() {
    check(
        "const client = connect();
         const channel = client.subscribe('Room', { id: 1 });
         ok('identifier', channel.identifier === '{\"channel\":\"Room\",\"id\":1}', channel.identifier);
         ok('ack', channel.ackDuration() > 0 && channel.ackDuration() < 60000, channel.ackDuration());
         channel.perform('echo', { b: 1, a: 'x' });
         const message = channel.receive();
         ok('echo', message.action === 'echo' && message.b === 1 && message.a === 'x', message);
         ok('timestamp', Math.abs(Date.now() - message.__timestamp__) < 60000, message);
         ok('bare', (channel.perform('bare'), channel.receive().action) === 'bare');
         client.disconnect();
         ok('closed', client.ending === 'disconnected by this client', client.ending);
         ok('after', throws(() => channel.perform('echo')).includes('disconnected by this client'));",
        &[
            "ws_sessions=1",
            "ws_connecting=#1",
            "ws_session_duration=#1",
            "ws_msgs_sent=3",
            "ws_msgs_received=3",
            "cable_subscribe_duration=#1",
        ],
    )
    .await;
}

#[tokio::test(start_paused = true)]
async fn a_session_that_is_not_disconnected_ends_with_the_iteration() {
    check(
        "connect()",
        &["ws_sessions=1", "ws_connecting=#1", "ws_session_duration=#1"],
    )
    .await;
}

#[tokio::test(start_paused = true)]
async fn the_upgrade_says_what_the_options_say() {
    let (_, request) = run(
        "connect({ cookies: 'uid=1', headers: { cookie: 'uid=2', 'X-Who': 'me' }, COOKIES: undefined, tags: { a: 'b' } })",
    )
    .await;
    for line in [
        "Cookie: uid=1",
        "X-Who: me",
        "Sec-WebSocket-Protocol: actioncable-v1-json",
    ] {
        assert!(request.lines().any(|it| it == line), "{line}\n{request}");
    }
    assert!(!request.contains("uid=2"), "{request}");
    let host = request
        .lines()
        .find_map(|line| line.strip_prefix("Host: "))
        .unwrap();
    assert!(
        request
            .lines()
            .any(|line| line == format!("Origin: http://{host}")),
        "{request}"
    );
    let (_, request) =
        run("connect({ headers: { Origin: 'http://me' }, protocol: 'actioncable-v1-ext-json' })").await;
    assert!(
        request.contains("Origin: http://me\r\n") && !request.contains("Origin: http://127"),
        "{request}"
    );
    assert!(
        request.contains("Sec-WebSocket-Protocol: actioncable-v1-ext-json\r\n"),
        "{request}"
    );
}

#[tokio::test(start_paused = true)]
async fn wrong_options_are_named() {
    for (options, expected) in [
        (
            "{ recieveTimeoutMs: 1 }",
            "the option recieveTimeoutMs of cable.connect() is 1; expected one of the options",
        ),
        ("{ receiveTimeoutMs: 1.5 }", "is 1.5; expected a whole number"),
        ("{ handshakeTimeoutS: -1 }", "is -1; expected a whole number"),
        ("{ headers: { a: 1 } }", "expected an object of strings"),
        ("{ codec: 'x' }", "expected json, msgpack or protobuf"),
        ("{ codec: 'mesgpack' }", "did you mean \\`msgpack\\`?"),
        (
            "{ codec: 'msgpack', protocol: 'actioncable-v1-ext-json' }",
            "the codec msgpack needs actioncable-v1-ext-msgpack",
        ),
        ("{ logLevel: 'loud' }", "expected one of panic"),
        ("{ protocol: 'x' }", "actioncable-v1-ext-json"),
        ("{ resume: {} }", "expected a client of an earlier connect()"),
        ("7", "the options of cable.connect() are 7"),
    ] {
        run(&format!(
            "ok('named', (seen = throws(() => connect({options}))).includes(`{expected}`), seen); var seen"
        ))
        .await;
    }
    run("ok('case', connect({ receiveTimeoutMS: 5, logLevel: 'WARNING', CODEC: 'json' }))").await;
}

#[tokio::test(start_paused = true)]
async fn what_does_not_connect_is_null_and_counted() {
    check(
        "ok('refused', connect.call(null) && cable.connect(URL + '?refuse', { logLevel: 'panic' }) === null);",
        &["ws_sessions=2", "ws_connecting=#2", "ws_session_duration=#1"],
    )
    .await;
    run("ok('url', cable.connect('http//x') === null)").await;
    run("ok('port', cable.connect('ws://127.0.0.1:1/') === null)").await;
    run(
        "const text = throws(() => cable.connect(URL + '?refuse', { throw: true }));
         ok('throw', text.includes('unauthorized'), text)",
    )
    .await;
}

#[tokio::test(start_paused = true)]
async fn rejections_and_silence_are_null() {
    check(
        "const client = connect({ receiveTimeoutMs: 50, logLevel: 'fatal' });
         ok('rejected', client.subscribe('Forbidden') === null);
         ok('again', client.subscribe('Forbidden') === null);
         ok('silent', client.subscribe('Mute') === null);
         ok('params', throws(() => client.subscribe('Room', [1])).includes('expected an object'));",
        &[
            "ws_sessions=1",
            "ws_connecting=#1",
            "ws_session_duration=#1",
            "ws_msgs_sent=3",
            "ws_msgs_received=2",
            "cable_rejected=2",
        ],
    )
    .await;
    run("const client = connect({ receiveTimeoutMs: 50, throw: true });
         ok('rejected', throws(() => client.subscribe('Forbidden')).includes('rejected'));
         ok('silent', throws(() => client.subscribe('Mute')).includes('no answer within 50 ms'));
         ok('async', throws(() => client.subscribeAsync('Forbidden').await()).includes('rejected'));")
    .await;
}

#[tokio::test(start_paused = true)]
async fn subscriptions_can_be_waited_for_later_and_twice() {
    check(
        "const client = connect();
         const pending = [1, 2].map((id) => client.subscribeAsync('Room', { id }));
         const [one, two] = pending.map((subscription) => subscription.await(5000));
         ok('both', one.identifier !== two.identifier);
         ok('twice', pending[0].await().identifier === one.identifier);
         const same = client.subscribe('Room', { id: 1 });
         same.perform('say', { messages: ['hi'] });
         ok('live', one.receive() === 'hi');",
        &[
            "ws_sessions=1",
            "ws_connecting=#1",
            "ws_session_duration=#1",
            "ws_msgs_sent=3",
            "ws_msgs_received=3",
            "cable_subscribe_duration=#2",
        ],
    )
    .await;
}

#[tokio::test(start_paused = true)]
async fn conditions_choose_messages() {
    run("const channel = room({ receiveTimeoutMs: 100, logLevel: 'error' });
         const messages = ['text', { a: 1, to: 'x' }, { a: 2, to: 'y' }, { a: 3, to: 'x' }, [1], null];
         channel.perform('say', { messages });
         ok('object', channel.receive({ to: 'x' }).a === 1);
         ok('function', channel.receive((m) => m && m.a > 2).to === 'x');
         ok('array', channel.receive()[0] === 1);
         ok('null', channel.receive() === null && channel.received === 6);
         ok('timeout', channel.receive() === null);
         channel.perform('say', { messages });
         ok('text', channel.receive('text') === 'text');
         ok('many', channel.receiveN(2, { to: 'x' }).map((m) => m.a).join() === '1,3');
         ok('few', channel.receiveN(3).length === 2 && channel.lastReceivedAt > 0);
         channel.perform('say', { messages });
         ok('all', channel.receiveAll(0.1).length === 6);
         channel.perform('say', { messages });
         ok('some', channel.receiveAll(0.1, (m) => m && m.to).length === 3);
         const more = () => { sleep(0.02); channel.perform('say', { messages: [{ to: 'y' }] }); return true };
         ok('window', (more(), channel.receiveAll(0.1, more).length) <= 6, 'as long as something comes');
         channel.receiveAll(0.1);
         ok('none', channel.receiveN(0).length === 0 && channel.receiveN(1).length === 0);
         ok('bad', throws(() => channel.receive(7)).includes('the condition is 7'));
         ok('thrown', (channel.perform('x'), throws(() => channel.receive(() => { throw new Error('mine') }))).includes('mine'));")
    .await;
}

#[tokio::test(start_paused = true)]
async fn observers_are_called_while_the_script_waits() {
    run("const channel = room();
         const seen = [];
         channel.onMessage((m) => seen.push('1' + m));
         channel.onMessage((m) => { seen.push('2' + m); if (m === 'b') throw new Error('logged') });
         channel.perform('say', { messages: ['a', 'b'] });
         while (seen.length < 4) sleep(0.01);
         ok('order', seen.join() === '1a,2a,1b,2b', seen);
         ok('kept', channel.receiveN(2).join() === 'a,b');
         channel.ignoreReads();
         channel.perform('say', { messages: ['c'] });
         while (seen.length < 6) sleep(0.01);
         ok('ignored', channel.receiveAll(0.01).length === 0);")
    .await;
}

#[tokio::test(start_paused = true)]
async fn a_callback_can_wait_itself() {
    run("const channel = room();
         const answers = [];
         channel.onMessage((m) => {
           if (m.action === 'ask') { sleep(0.01); channel.perform('answer', { to: m.n }) } else answers.push(m.to);
         });
         channel.perform('ask', { n: 1 });
         channel.perform('ask', { n: 2 });
         ok('answers', (channel.receiveN(4).length, answers.join()) === '1,2', answers);")
    .await;
}

#[tokio::test(start_paused = true)]
async fn a_callback_that_waits_is_not_interrupted_by_others() {
    run("const channel = room();
         let inside = 0, told = 0, deepest = 0;
         channel.onMessage(() => { told++; deepest = Math.max(deepest, ++inside); sleep(0.02); inside-- });
         channel.perform('say', { messages: ['a', 'b', 'c'] });
         while (told < 3) sleep(0.01);
         ok('one at a time', deepest === 1, deepest);")
    .await;
}

#[tokio::test(start_paused = true)]
async fn a_loop_ends_with_something_true_or_an_exception() {
    run(
        "const client = connect({ logLevel: 'panic' }), channel = client.subscribe('Room');
         let n = 0, heard = 0;
         channel.onMessage(() => heard++);
         channel.perform('say', { messages: [1, 2, 3] });
         client.loop(() => ++n > 2 && heard === 3);
         ok('true', n > 2 && heard === 3);
         client.loop(() => { if (client.subscribe('Other')) throw new Error('ends') });
         ok('exception', true);",
    )
    .await;
}

#[tokio::test(start_paused = true)]
async fn a_round_trip_is_measured_natively() {
    check(
        "const channel = room({ receiveTimeoutMs: 100, logLevel: 'error' });
         channel.perform('say', { messages: [{ action: 'ask', old: true }] });
         sleep(0.02);
         const answer = channel.roundTrip('ask', { n: 1 }, { action: 'ask' });
         ok('answer', answer.n === 1 && !answer.old, answer);
         channel.roundTrip('ask', { n: 2 }, (m) => m.n === 2, trend);
         channel.roundTrip('ask', null, null, trend);
         ok('none', channel.roundTrip('ask', {}, 'never') === null);
         ok('counter', throws(() => channel.roundTrip('ask', {}, null, counter)).includes('expected a Trend'));",
        &[
            "ws_sessions=1",
            "ws_connecting=#1",
            "ws_session_duration=#1",
            "ws_msgs_sent=6",
            "ws_msgs_received=6",
            "cable_subscribe_duration=#1",
            "cable_rtt=#1",
            "my_trend=#2",
        ],
    )
    .await;
}

#[tokio::test(start_paused = true)]
async fn a_storm_is_counted_outside_of_the_script() {
    check(
        "const channel = room();
         channel.onMessage(() => { throw new Error('never') });
         channel.countOnly({ timestampField: 'ts', trend });
         channel.perform('storm', { n: 5000 });
         while (channel.received < 5000) sleep(0.01);
         ok('bad', throws(() => channel.countOnly({ trend })).includes('one of two options is missing'));
         ok('unknown', throws(() => channel.countOnly({ x: 1 })).includes('`x` is not an option'));",
        &[
            "ws_sessions=1",
            "ws_connecting=#1",
            "ws_session_duration=#1",
            "ws_msgs_sent=2",
            "ws_msgs_received=5001",
            "cable_subscribe_duration=#1",
            "my_trend=#5000",
        ],
    )
    .await;
}

#[tokio::test(start_paused = true)]
async fn a_full_inbox_loses_nothing() {
    run("const channel = room();
         channel.perform('storm', { n: 5000 });
         sleep(0.05);
         ok('all', channel.receiveN(5000).every((m, i) => m.n === i) && channel.received === 5000);")
    .await;
}

#[tokio::test(start_paused = true)]
async fn the_servers_goodbye_is_told() {
    check(
        "const client = connect({ receiveTimeoutMs: 50, logLevel: 'error' }), channel = client.subscribe('Room');
         const told = [];
         client.onDisconnect((it) => told.push(it.reason + it.reconnect + it.code));
         client.onClose((it) => told.push(it.message));
         channel.perform('leave_me');
         while (told.length < 2) sleep(0.01);
         ok('told', told[0] === 'remotetrue1001' && told[1].includes('remote'), told);
         ok('code', client.closeCode === 1001 && client.ending.includes('remote'));
         ok('null', channel.receive() === null && client.subscribe('Room2') === null);",
        &[
            "ws_sessions=1",
            "ws_connecting=#1",
            "ws_session_duration=#1",
            "ws_msgs_sent=2",
            "ws_msgs_received=2",
            "cable_subscribe_duration=#1",
        ],
    )
    .await;
}

#[tokio::test(start_paused = true)]
async fn unsubscribing_ends_a_channel() {
    run("const client = connect({ receiveTimeoutMs: 50, logLevel: 'error' }), channel = client.subscribe('Room');
         channel.unsubscribe();
         channel.perform('say', { messages: [1] });
         ok('nothing', channel.receive() === null && channel.received === 0);
         const again = client.subscribe('Room');
         again.perform('say', { messages: [1] });
         ok('again', again.receive() === 1);")
    .await;
}

#[tokio::test(start_paused = true)]
async fn the_extended_protocol() {
    run(
        "const client = connect({ protocol: 'actioncable-v1-ext-json' }), channel = client.subscribe('Room');
         ok('sid', client.sid === 'sid-1' && client.restored === false);
         ok('since', channel.history({ since: 5 }) && channel.receive().since === 5);
         ok('duration', channel.historyDuration() >= 0);
         channel.whisper({ typing: true });
         ok('whisper', channel.receive().typing);
         const seen = [];
         channel.onPresence((event) => seen.push(event.type + event.id + event.info.name));
         channel.join('7', { name: 'Kay' });
         while (!seen.length) sleep(0.01);
         ok('join', seen.join() === 'join7Kay', seen);
         ok('presence', channel.presence().records[0].id === '7');
         channel.leave();
         channel.perform('number');
         ok('number', channel.receive() === 1);
         client.disconnect();
         const next = connect({ resume: client });
         ok('restored', next.restored);
         const same = next.subscribe('Room');
         ok('position', same.history() && same.receive().streams.s.offset === 7);
         ok('positions', same.positions.s.offset === 7 && same.positions.s.epoch === 'e');
         const third = connect({ resume: client });
         const asked = third.subscribe('Room', null, { history: { since: 9 } });
         ok('replayed', asked.replayed() && asked.historyDuration() >= 0);
         const request = asked.receive();
         ok('in one step', request.since === 9 && request.streams.s.offset === 7, request);
         const fourth = connect({ protocol: 'actioncable-v1-ext-json' });
         const fresh = fourth.subscribe('Room', {}, { history: { since: 9 } });
         ok('with the subscription', fresh.replayed() && fresh.receive().since === 9);",
    )
    .await;
    run("const client = connect({ logLevel: 'panic' });
         for (const [options, text] of [[{ histroy: true }, 'unknown option histroy'], [{ history: 5 }, 'history of subscribe() is 5'], [7, 'are 7']]) {
           let error = '';
           try { client.subscribe('Room', {}, options); } catch (e) { error = e.message; }
           ok(text, error.includes(text) && error.includes('expected { history: true }'), error);
         }
         ok('nothing asked', client.subscribe('Room', {}, { history: true }).replayed() === false);")
    .await;
    run("const channel = room({ logLevel: 'panic' });
         ok('no position', channel.history() === false && channel.historyDuration() === null);")
    .await;
}

#[tokio::test(start_paused = true)]
async fn the_init_context_has_no_sockets() {
    let program = program(
        "import cable from 'k6/x/cable'; cable.connect('ws://127.0.0.1:1/'); export default () => {}",
    );
    let error = crate::Script::read(program).unwrap_err().to_string();
    assert!(
        error.contains("cable.connect() does not work in the init context"),
        "{error}"
    );
}
