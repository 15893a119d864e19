//! What each module of the host does, as scripts see it.

use super::*;

#[tokio::test(start_paused = true)]
async fn checks_groups_and_metrics_are_counted() {
    check(
        "import { check, group, sleep } from 'k6';
         export default () => {
           check({ a: 1 }, { one: (r) => r.a === 1, two: (r) => r.a === 2, three: true });
           group('g', () => sleep(0.5));
         }",
        &["checks=2/3", "group_duration=#1"],
    )
    .await;
    check(
        "import k6, { check } from 'k6';
         import { Counter, Gauge, Rate, Trend } from 'k6/metrics';
         const c = new Counter('my_counter'), g = new Gauge('my_gauge'), r = new Rate('my_rate');
         const t = new Trend('my_trend', true);
         export default function () {
           c.add(2); c.add('3', { tag: 'x' }); g.add(7.5); r.add(true); r.add(0); t.add(12.5);
           check(null, { 'is rejected': c.add(NaN) === false, name: () => t.name === 'my_trend' });
           k6.sleep(1);
         }",
        &[
            "checks=2/2",
            "my_counter=5",
            "my_gauge=7.5",
            "my_rate=1/2",
            "my_trend=#1",
        ],
    )
    .await;
}

#[tokio::test(start_paused = true)]
async fn samples_of_checks_with_the_tag_of_a_check_answer_it() {
    let mut trial = Trial::new(program(
        "import { check } from 'k6';
         import { Rate } from 'k6/metrics';
         const checks = new Rate('checks'), other = new Rate('other');
         export default function () {
           check(1, { one: true });
           checks.add(false);
           checks.add(false, { check: 'two' });
           checks.add(1, { check: 'one' });
           other.add(false, { check: 'three' });
         }",
    ));
    trial.iterate(1).await.unwrap();
    let (recorded, failed) = trial.outcome();
    assert_eq!(recorded, ["checks=2/4", "other=0/1"]);
    assert_eq!(failed, ["two"]);
}

#[test]
fn a_script_can_end_the_test_before_it_begins() {
    let script = "import exec from 'k6/execution'; exec.test.abort('no'); export default () => {}";
    let error = Script::read(program(script)).unwrap_err();
    assert!(error.is_abort, "{error}");
    let error = Script::read(program("throw new Error('no')")).unwrap_err();
    assert!(!error.is_abort, "{error}");
}

#[tokio::test(start_paused = true)]
async fn thrown_values_are_told_as_javascript_writes_them() {
    for (thrown, expected) in [
        ("'text'", "text"),
        ("1n", "1"),
        ("Symbol('q')", "q"),
        ("Infinity", "Infinity"),
        ("undefined", "undefined"),
        ("new RangeError('far')", "RangeError: far"),
    ] {
        check_failure(&format!("export default () => {{ throw {thrown} }}"), expected).await;
    }
}

#[tokio::test(start_paused = true)]
async fn the_environment_is_an_object_like_any_other() {
    // What a script does first with it decides when its properties are made.
    for expression in [
        "__ENV.NAME === 'value' && __ENV.OTHER === undefined",
        "__ENV.toString === Object.prototype.toString && __ENV[Symbol.iterator] === undefined",
        "'NAME' in __ENV && !('OTHER' in __ENV)",
        "Object.keys(__ENV).join() === 'NAME' && __ENV.NAME === 'value'",
        "JSON.stringify(__ENV) === '{\"NAME\":\"value\"}'",
        "({ ...__ENV }).NAME === 'value'",
        "(__ENV.OTHER = 'x', Object.keys(__ENV).join() === 'NAME,OTHER' && __ENV.OTHER === 'x')",
        "(__ENV.NAME = 'x', __ENV.NAME === 'x')",
        "delete __ENV.NAME && __ENV.NAME === undefined",
        "(Object.freeze(__ENV), (() => { try { __ENV.NAME = 'x' } catch { return __ENV.NAME === 'value' } })())",
        "JSON.stringify(Object.getOwnPropertyDescriptor(__ENV, 'NAME')) === \
         '{\"value\":\"value\",\"writable\":true,\"enumerable\":true,\"configurable\":true}'",
        "(Object.defineProperty(__ENV, 'NAME', { value: 1 }), __ENV.NAME === 1 && Object.keys(__ENV).length === 1)",
        "Object.getPrototypeOf(__ENV) === Object.prototype && typeof __ENV === 'object'",
    ] {
        let text = format!(
            "import {{ check }} from 'k6'; export default () => {{ check({expression}, {{ holds: (it) => it }}) }}"
        );
        check(&text, &["checks=1/1"]).await;
    }
}

#[tokio::test(start_paused = true)]
async fn globals_that_are_made_late_are_ordinary_ones() {
    check(
        "import { check } from 'k6';
         export default () => {
           const { log } = console;
           check(null, {
             console: typeof log === 'function' && console === global.console && console.log === log,
             crypto: crypto.randomUUID().length === 36 && crypto === crypto,
             set: (global.crypto = 1) === 1 && crypto === 1,
             'no DOMException': typeof DOMException === 'undefined',
             bytes: new Uint8Array(2).length === 2,
           });
         }",
        &["checks=5/5"],
    )
    .await;
}

#[tokio::test(start_paused = true)]
async fn sleep_takes_as_long_as_it_says() {
    let begin = Instant::now();
    check(
        "import { sleep } from 'k6'; export default () => { sleep(1.5); sleep(-1); sleep(0) }",
        &[],
    )
    .await;
    assert_eq!(begin.elapsed().as_millis(), 1_500);
}

#[tokio::test(start_paused = true)]
async fn an_iteration_lasts_until_nothing_is_pending() {
    let text = "import { check, sleep } from 'k6';
        import { setTimeout as later } from 'k6/timers';
        const wait = (ms) => new Promise((resolve) => later(resolve, ms));
        export default async function () {
          const order = [];
          setTimeout((x) => order.push(x), 300, 'c');
          const cancelled = setTimeout(() => order.push('never'), 100);
          clearTimeout(cancelled);
          let n = 0;
          const interval = setInterval(() => { order.push('i'); if (++n === 2) clearInterval(interval) }, 50);
          await wait(200);
          order.push('b');
          await wait(200);
          check(order.join(''), { order: (o) => o === 'iibc' });
        }";
    let begin = Instant::now();
    check(text, &["checks=1/1"]).await;
    assert_eq!(begin.elapsed().as_millis(), 400);
}

#[tokio::test(start_paused = true)]
async fn the_run_is_known() {
    check(
        "import exec from 'k6/execution';
         import { check } from 'k6';
         export default () => {
           exec.vu.tags.page = 'home';
           exec.vu.metrics.tags['n'] = 3;
           check(null, {
             vu: exec.vu.idInTest === 1 && __VU === 1,
             iteration: __ITER === 0 && exec.vu.iterationInScenario === 0,
             scenario: exec.scenario.name === 'default' && exec.scenario.executor === 'per-vu-iterations',
             tags: exec.vu.tags.page === 'home' && exec.vu.metrics.tags.n === '3',
             keys: Object.keys(exec.vu.tags).sort().join() === 'group,n,page,scenario' && exec.vu.tags.scenario === 'default',
             gone: delete exec.vu.tags.page && exec.vu.tags.page === undefined,
             env: __ENV.NAME === 'value',
             options: typeof exec.test.options === 'object',
           'not replaced': (() => { try { exec.vu.metrics.tags = {} } catch (e) { return e instanceof TypeError } })(),
           });
         }",
        &["checks=9/9"],
    )
    .await;
}

#[tokio::test(start_paused = true)]
async fn what_scripts_do_wrong_is_said() {
    check_failure(
        "import { check } from 'k6'; export default () => check(1, { 'a::b': true })",
        "contains `::`",
    )
    .await;
    check_failure(
        "import { fail } from 'k6'; export default () => fail('no luck')",
        "no luck (script.js:1:",
    )
    .await;
    check_failure(
        "export default () => { nothing.here }",
        "ReferenceError: nothing is not defined",
    )
    .await;
    check_failure("export default () => { throw 'text' }", "text").await;
    check_failure("export default () => { throw { a: 1 } }", "{\"a\":1}").await;
    check_failure(
        "export default async () => { await new Promise(() => {}) }",
        "never settles",
    )
    .await;
    check_failure(
        "export default async () => { throw new TypeError('late') }",
        "TypeError: late",
    )
    .await;
    check_failure(
        "export default () => { Promise.reject(new Error('lost')) }",
        "lost",
    )
    .await;
    check_failure("export default function f() { f() }", "stack").await;
    check_failure(
        "export default () => 'x'.repeat(2 ** 30)",
        "invalid string length",
    )
    .await;
    check_failure("export default () => setTimeout('text', 1)", "needs a function").await;
    check_failure(
        "import { Counter } from 'k6/metrics'; export default () => new Counter('xx')",
        "init context",
    )
    .await;
    check_failure("export default () => open('x')", "init context").await;
}

#[tokio::test(start_paused = true)]
async fn shared_data_is_an_array_that_nobody_changes() {
    check(
        "import { SharedArray } from 'k6/data'; import { check } from 'k6';
         const users = new SharedArray('users', () => [{ name: 'a', tags: ['x'] }, { name: 'b' }, 3]);
         const again = new SharedArray('users', () => { throw 'made twice' });
         const refuses = (f) => { try { f(); return false } catch (e) { return e instanceof TypeError } };
         export default () => check(users, {
           length: (u) => u.length === 3 && again.length === 3,
           items: (u) => u[0].name === 'a' && u[2] === 3 && u[3] === undefined,
           loop: (u) => [...u].length === 3 && u.map((x) => x.name).join() === 'a,b,' && u.indexOf(3) === 2,
           array: (u) => Array.isArray(u) && JSON.stringify(u[0]) === '{\"name\":\"a\",\"tags\":[\"x\"]}',
           keys: (u) => Object.keys(u).join() === '0,1,2' && Object.entries(u)[1][1].name === 'b' && Object.hasOwn(u, 2) && !(3 in u),
           frozen: (u) => refuses(() => { u[0].tags.push(1) }) && refuses(() => { u.push(1) }) && refuses(() => { u[0] = 1 }),
         })",
        &["checks=6/6"],
    )
    .await;
    check_refusal(
        "import { SharedArray } from 'k6/data'; new SharedArray('n', () => 7); export default () => {}",
        "expected an array",
    );
}

#[tokio::test(start_paused = true)]
async fn digests_and_base64_are_the_standard_ones() {
    check(
        "import crypto from 'k6/crypto'; import { check } from 'k6'; import encoding from 'k6/encoding';
         const mac = crypto.createHMAC('sha256', 'key'); mac.update('The quick brown fox '); mac.update('jumps over the lazy dog');
         export default () => check(null, {
           md4: crypto.md4('abc', 'hex') === 'a448017aaf21d8525fc10ae87aa6729d',
           md5: crypto.md5('abc', 'hex') === '900150983cd24fb0d6963f7d28e17f72',
           sha1: crypto.sha1('abc', 'hex') === 'a9993e364706816aba3e25717850c26c9cd0d89d',
           sha256: crypto.sha256('abc', 'base64') === 'ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0=',
           sha512_256: crypto.sha512_256('abc', 'hex') === '53048e2681941ef99b2e29b76b4c7dabe4c2d0c634fc6d46e0e2f13107e7af23',
           ripemd160: crypto.ripemd160('abc', 'hex') === '8eb208f7e05d987a9b044a8e98c6b087f15a0bfc',
           hmac: mac.digest('hex') === 'f7bc83f430538424b13298e6aa6fb143ef4d59a14946175997479dbc2d1a3cd8',
           same: mac.digest('base64rawurl') === crypto.hmac('sha256', 'key', 'The quick brown fox jumps over the lazy dog', 'base64rawurl'),
           hash: (() => { const h = crypto.createHash('sha1'); h.update(new Uint8Array([97, 98, 99])); return h.digest('hex') })()
             === 'a9993e364706816aba3e25717850c26c9cd0d89d',
           hex: crypto.hexEncode(new Uint8Array([1, 255]).buffer) === '01ff',
           binary: crypto.md5('abc', 'binary').byteLength === 16,
           random: crypto.randomBytes(8).byteLength === 8,
           std: encoding.b64encode('hello?>') === 'aGVsbG8/Pg==' && encoding.b64decode('aGVsbG8/Pg==', 'std', 's') === 'hello?>',
           url: encoding.b64encode('hello?>', 'rawurl') === 'aGVsbG8_Pg' && encoding.b64decode('aGVsbG8_Pg', 'rawurl').byteLength === 7,
         })",
        &["checks=14/14"],
    )
    .await;
    check_failure(
        "import c from 'k6/crypto'; export default () => c.sha1('a', 'hax')",
        "expected hex",
    )
    .await;
    check_failure(
        "import c from 'k6/crypto'; export default () => c.md5('a')",
        "expected hex",
    )
    .await;
    check_failure(
        "import c from 'k6/crypto'; export default () => c.createHash('sha3')",
        "is not a digest",
    )
    .await;
    check_failure(
        "import c from 'k6/crypto'; export default () => c.randomBytes(-1)",
        "expected 1 to",
    )
    .await;
    check_failure(
        "import e from 'k6/encoding'; export default () => e.b64decode('***')",
        "not base64",
    )
    .await;
}

#[tokio::test(start_paused = true)]
async fn the_usual_globals_of_the_web_are_there() {
    check(
        "import { check } from 'k6';
         const url = new URL('../b?x=1&x=2#frag', 'https://user:pw@example.com:8443/a/c/d');
         url.searchParams.set('x', 'ä b'); url.searchParams.append('y', 3); url.hash = 'top';
         const params = new URLSearchParams({ b: 2, a: 'one two' }); params.sort();
         const random = crypto.getRandomValues(new Uint16Array(8));
         export default () => check(null, {
           href: url.href === 'https://user:pw@example.com:8443/a/b?x=%C3%A4+b&y=3#top',
           parts: url.host === 'example.com:8443' && url.pathname === '/a/b' && url.protocol === 'https:' && url.search.startsWith('?x='),
           params: params.toString() === 'a=one+two&b=2' && [...params].length === 2 && params.get('none') === null,
           set: (() => { const u = new URL(url); u.port = 99; u.hostname = 'h'; u.username = 'a'; u.password = ''; return u.href.startsWith('https://a@h:99/') })(),
           keys: [...new URLSearchParams('?q=1&r=').keys()].join() === 'q,r',
           invalid: (() => { try { new URL('nonsense') } catch (e) { return e instanceof TypeError } })(),
           uuid: /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/.test(crypto.randomUUID()),
           random: random.length === 8 && random.some((n) => n > 0),
           text: new TextDecoder().decode(new TextEncoder().encode('grün')) === 'grün',
           fatal: (() => { try { new TextDecoder('utf-8', { fatal: true }).decode(new Uint8Array([255])) } catch (e) { return true } })(),
           time: performance.now() >= 0 && typeof queueMicrotask === 'function',
           'parts of a millisecond': Array.from({ length: 50 }, () => performance.now()).some((ms) => ms % 1 !== 0),
         })",
        &["checks=12/12"],
    )
    .await;
}

#[tokio::test(start_paused = true)]
async fn classes_of_the_web_are_ordinary_globals() {
    check(
        "import { check } from 'k6';
         const descriptor = (name) => Object.getOwnPropertyDescriptor(globalThis, name);
         const listed = Object.keys(globalThis).includes('URLSearchParams') && 'TextDecoder' in globalThis;
         const params = new URL('https://example.com/?q=1').searchParams;
         const shared = URL;
         TextEncoder = 1;
         delete globalThis.TextDecoder;
         export default () => check(null, {
           listed: listed,
           kind: typeof URL === 'function' && URL.name === 'URL' && URL === shared,
           related: params instanceof URLSearchParams && params.constructor === URLSearchParams && [...params].length === 1,
           property: descriptor('URL').value === URL && descriptor('URL').writable && descriptor('URL').enumerable,
           replaced: TextEncoder === 1 && descriptor('TextEncoder').value === 1,
           deleted: typeof TextDecoder === 'undefined',
         })",
        &["checks=6/6"],
    )
    .await;
}

#[tokio::test(start_paused = true)]
async fn groups_are_left_however_they_end() {
    check(
        "import exec from 'k6/execution'; import { check, group } from 'k6';
         const now = () => exec.vu.tags.group;
         export default () => {
           group('a', () => group('b', () => check(now(), { inner: (g) => g === '::a::b' })) && check(now(), { outer: (g) => g === '::a' }));
           try { group('c', () => { throw 'away' }) } catch (e) { check(e, { thrown: (e) => e === 'away' }) }
           check(now(), { left: (g) => g === '' });
         }",
        &["checks=4/4", "group_duration=#3"],
    )
    .await;
}

#[tokio::test(start_paused = true)]
async fn a_rejection_that_is_handled_in_time_is_none() {
    check(
        "export default async () => {
           const promise = Promise.reject(new Error('handled'));
           await null;
           await promise.catch(() => {});
         }",
        &[],
    )
    .await;
}

#[tokio::test(start_paused = true)]
async fn an_interval_does_not_make_up_for_ticks_that_it_missed() {
    check(
        "import { check, sleep } from 'k6';
         export default async () => {
           let ticks = 0;
           const interval = setInterval(() => { if ((ticks += 1) === 1) sleep(0.1) }, 10);
           await new Promise((resolve) => setTimeout(resolve, 145));
           clearInterval(interval);
           check(ticks, { 'at 10, twice at 110, and three more': (n) => n === 6 });
         }",
        &["checks=1/1"],
    )
    .await;
}
