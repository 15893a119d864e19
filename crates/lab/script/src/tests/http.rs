//! `k6/http` against a server on loopback.

mod server;

use futures_util::FutureExt as _;
use serde_json::json;

use self::server::Server;
use super::*;

/// Runs one iteration of a script in which `BASE` is the server's URL, and expects all its checks to pass.
async fn passes(text: &str) {
    let server = Server::start().await;
    let mut trial = Trial::new(program(&server.script(text)));
    let result = trial.iterate(1).await;
    result.unwrap_or_else(|error| panic!("{error}\n{text}"));
    let (recorded, failed) = trial.outcome();
    assert!(failed.is_empty(), "{failed:?} of {text}");
    assert!(
        recorded.iter().any(|line| line.starts_with("checks=")),
        "{recorded:?} of {text}"
    );
}

/// Runs one iteration and gives the tags of each sample of `metric`.
async fn tags_of(metric: &str, options: &serde_json::Value, text: &str) -> Vec<String> {
    let server = Server::start().await;
    let (mut trial, mut samples) = Trial::with_samples(program(&server.script(text)), options);
    let result = trial.iterate(1).await;
    result.unwrap_or_else(|error| panic!("{error}\n{text}"));
    trial.recorded();
    let mut all = Vec::new();
    while let Some(Some(batch)) = samples.recv().now_or_never() {
        let named = batch
            .samples
            .iter()
            .filter(|sample| batch.registry.definition(sample.metric).name == metric);
        all.extend(named.map(|sample| {
            let tags: Vec<_> = sample
                .tags
                .iter()
                .map(|(name, value)| format!("{name}={value}"))
                .collect();
            format!("{} {}", sample.value, tags.join(" ")).replace(&server.base, "BASE")
        }));
    }
    all
}

async fn fails(text: &str, expected: &str) {
    let server = Server::start().await;
    check_failure(&server.script(text), expected).await;
}

#[tokio::test]
async fn a_response_can_be_listed_and_copied() {
    passes(
        "import http from 'k6/http';
         import { check } from 'k6';
         const expected = 'remote_ip,remote_port,url,status,status_text,proto,headers,cookies,body,timings,tls_version,'
           + 'tls_cipher_suite,ocsp,error,error_code,request,clickLink,html,json,submitForm';
         const walked = (of) => { const names = []; for (const name in of) names.push(name); return names };
         export default () => {
           const list = http.get('BASE/list');
           const page = http.get('BASE/page');
           const copy = { ...list };
           const { json, status } = list;
           const other = Object.assign({}, page);
           check(list, {
             keys: (r) => Object.keys(r).join() === expected && Object.hasOwn(r, 'status'),
             walked: (r) => walked(r).slice(0, 20).join() === expected,
             copied: () => Object.keys(copy).join() === expected && copy.status === 200 && copy.body === list.body,
             'one object': (r) => copy.timings === r.timings && r.timings === r.timings,
             methods: () => JSON.stringify(copy.json()) === JSON.stringify(json()) && status === 200,
             pages: () => other.html('a').size() === page.html('a').size(),
             text: () => JSON.stringify(copy) === JSON.stringify(list),
             assigned: (r) => { r.status = 5; r.json = 7; return r.status === 5 && r.json === 7 && copy.status === 200 },
             others: () => page.status === 200,
             'listed once': (r) => Object.keys(r).filter((key) => key === 'status').length === 1 && 'status' in r,
             added: (r) => { r.more = 1; return r.more === 1 && 'more' in r && Object.keys(r).includes('more') && !('less' in r) },
             deleted: (r) => delete r.url && r.url === undefined && !('url' in r) && !Object.keys(r).includes('url'),
             'no panic': () => { try { page.clickLink({ get selector() { return page.status + page.url } }) } catch {} return page.status === 200 },
             failed: () => Object.keys(http.get('http://127.0.0.1:1/')).join() === expected,
           });
         }",
    )
    .await;
}

#[tokio::test]
async fn a_path_into_a_body_that_is_not_json_leads_nowhere() {
    passes(
        "import http from 'k6/http';
         import { check } from 'k6';
         const reason = (ask) => { try { return ask() } catch (error) { return error.message } };
         export default () => {
           const page = http.get('BASE/page');
           check(page, {
             path: (r) => r.body.includes('<') && r.json('a.b') === undefined && r.json('a') === undefined,
             whole: (r) => reason(() => r.json()).startsWith('cannot parse the body as JSON'),
           });
         }",
    )
    .await;
}

#[tokio::test]
async fn bytes_that_no_word_announces_are_refused() {
    fails(
        "import http from 'k6/http';
         const params = { ['respon' + 'seType']: 'bin' + 'ary' };
         export default () => http.get('BASE/echo', params).body",
        "write the word ArrayBuffer in the script",
    )
    .await;
}

#[tokio::test]
async fn a_response_has_the_fields_of_k6() {
    passes(
        "import http from 'k6/http';
         import { check } from 'k6';
         export default function () {
           const r = http.get('BASE/echo?a=1', { headers: { 'x-own': 7, accept: '*/*' } });
           const port = Number('BASE'.split(':')[2]);
           check(r, {
             status: r.status === 200 && r.status_text === '200 OK' && r.proto === 'HTTP/1.1',
             url: r.url === 'BASE/echo?a=1',
             remote: r.remote_ip === '127.0.0.1' && r.remote_port === port,
             headers: r.headers['X-Twice'] === 'a, b' && r.headers === r.headers,
             json: r.json().method === 'GET' && r.json('path') === '/echo?a=1' && r.json('none.x') === undefined,
             sent: r.json('headers.x-own') === '7' && r.json('headers.user-agent').startsWith('plimsoll/'),
             body: typeof r.body === 'string' && JSON.parse(r.body).path === '/echo?a=1',
             timings: r.timings.duration > 0 && r.timings.looking_up === 0 && r.timings.connecting > 0 &&
               Math.abs(r.timings.duration - r.timings.sending - r.timings.waiting - r.timings.receiving) < 1e-6,
             error: r.error === '' && r.error_code === 0,
             tls: r.tls_version === '' && r.tls_cipher_suite === '' && r.ocsp.status === '',
             request: r.request.method === 'GET' && r.request.url === 'BASE/echo?a=1' &&
               r.request.headers['X-Own'][0] === '7' && r.request.headers.Host === undefined,
             stringify: JSON.parse(JSON.stringify(r)).status === 200,
             enumerable: 'status' in r && Object.keys(JSON.parse(JSON.stringify(r))).length === 16,
           });
         }",
    )
    .await;
}

#[tokio::test]
async fn bodies_are_what_the_script_gives() {
    passes(
        "import http from 'k6/http';
         import { check } from 'k6';
         const sent = (body, params) => http.post('BASE/echo', body, params).json();
         export default function () {
           const form = sent({ b: 'x y', a: [1, 2], n: null, t: true, 'k&': 'ä~' });
           const bytes = new Uint8Array([65, 66, 67]);
           const multipart = sent({ f: http.file(bytes.buffer, 'a.txt', 'text/plain'), field: 'v' });
           check(null, {
             text: sent('hello').body === 'hello' && sent('hello').headers['content-type'] === undefined,
             bytes: sent(bytes.buffer).body === 'ABC' && sent(bytes.subarray(1)).body === 'BC',
             none: sent(null).body === '' && sent().headers['content-length'] === '0',
             form: form.body === 'a=1&a=2&b=x+y&k%26=%C3%A4~&n=&t=true' &&
               form.headers['content-type'] === 'application/x-www-form-urlencoded',
             'own type': sent({ a: 1 }, { headers: { 'content-type': 'own' } }).headers['content-type'] === 'own',
             file: multipart.body.includes('name=\"f\"; filename=\"a.txt\"\\r\\nContent-Type: text/plain\\r\\n\\r\\nABC'),
             field: multipart.body.includes('form-data; name=\"field\"\\r\\n\\r\\nv\\r\\n'),
             boundary: multipart.body.startsWith('--' + multipart.headers['content-type'].split('boundary=')[1]),
             compressed: http.post('BASE/gunzip', 'hello', { compression: 'gzip' }).body === 'hello',
             'is known uncompressed': http.post('BASE/gunzip', 'hello', { compression: 'gzip,br' }).request.body === 'hello',
             methods: ['put', 'patch', 'del', 'options']
               .map((name) => http[name]('BASE/echo', 'x').json('method') + http[name]('BASE/echo', 'x').json('body'))
               .join() === 'PUTx,PATCHx,DELETEx,OPTIONSx',
             head: http.head('BASE/echo').status === 200 && http.head('BASE/echo').body === '',
             request: http.request('PROPFIND', 'BASE/echo').json('method') === 'PROPFIND',
           });
         }",
    )
    .await;
}

#[tokio::test]
async fn responses_are_read_as_asked() {
    passes(
        "import http from 'k6/http';
         import { check } from 'k6';
         export default function () {
           const binary = http.get('BASE/gzip', { responseType: 'binary' });
           const none = http.get('BASE/gzip', { responseType: 'none' });
           check(null, {
             text: http.get('BASE/gzip').body === 'hello',
             binary: new Uint8Array(binary.body)[0] === 104 && binary.body.byteLength === 5,
             none: none.body === null && none.status === 200,
             'no content': http.get('BASE/status/204').body === null,
             'texts are numbers': http.get('BASE/redirect/1', { redirects: '0' }).status === 302,
           });
         }",
    )
    .await;
}

#[tokio::test]
async fn redirects_and_cookies_are_followed() {
    passes(
        "import http from 'k6/http';
         import { check } from 'k6';
         export default function () {
           const jar = http.cookieJar();
           jar.set('BASE', 'mine', 'x', { path: '/', max_age: 60 });
           const followed = http.get('BASE/redirect/2');
           const stopped = http.get('BASE/redirect/2', { redirects: 1 });
           const set = http.get('BASE/cookie');
           const own = new http.CookieJar();
           own.set('BASE/echo', 'own', 'y');
           const cookie = (params) => http.get('BASE/echo', params).json('headers.cookie');
           check(null, {
             followed: followed.status === 200 && followed.url === 'BASE/echo',
             stopped: stopped.status === 302 && stopped.url === 'BASE/redirect/1',
             cookies: set.cookies.sid[0].value === '1' && set.cookies.sid[0].http_only === true,
             jar: cookie() === 'mine=x; sid=1' && jar.cookiesForURL('BASE/').sid[0] === '1',
             extra: cookie({ cookies: { e: 'z' } }) === 'e=z; mine=x; sid=1',
             replaced: cookie({ cookies: { sid: { value: '2', replace: true } } }) === 'sid=2; mine=x',
             other: cookie({ jar: own }) === 'own=y' && cookie({ jar: null }) === undefined,
             deleted: (jar.delete('BASE', 'sid'), cookie() === 'mine=x'),
             sent: http.get('BASE/echo', { cookies: { e: 'z y' } }).request.cookies.e[0].value === 'z y',
             cleared: (jar.clear('BASE'), cookie() === undefined),
           });
         }",
    )
    .await;
}

#[tokio::test]
async fn a_jar_lasts_for_an_iteration() {
    let check = async |options: serde_json::Value, expected: &str| {
        let server = Server::start().await;
        let text = "import http from 'k6/http';
             import { check } from 'k6';
             export default function () {
               const before = http.get('BASE/echo').json('headers.cookie');
               http.get('BASE/cookie');
               check(before, { kept: (cookie) => cookie === 'sid=1' });
             }";
        let mut trial = Trial::with_options(program(&server.script(text)), &options);
        trial.iterate(3).await.unwrap();
        let recorded = trial.recorded();
        assert!(recorded.contains(&expected.to_owned()), "{recorded:?}");
        assert!(recorded.contains(&"http_reqs=6".to_owned()), "{recorded:?}");
        assert_eq!(server.n_connections(), 1);
    };
    check(json!({}), "checks=0/3").await;
    check(json!({ "noCookiesReset": true }), "checks=2/3").await;
}

#[tokio::test]
async fn requests_can_be_made_at_the_same_time() {
    passes(
        "import http from 'k6/http';
         import { check } from 'k6';
         export default async function () {
           const listed = http.batch([
             'BASE/echo?1',
             ['POST', 'BASE/echo', 'b', { headers: { x: 'y' } }],
             { method: 'PUT', url: 'BASE/echo', body: 'c' },
             http.url`BASE/echo?${4}`,
           ]);
           const named = http.batch({ one: 'BASE/echo', two: { url: 'BASE/status/404', params: { tags: { a: 'b' } } } });
           const many = http.batch(Array(30).fill('BASE/echo'));
           const promised = http.asyncRequest('POST', 'BASE/echo', 'later');
           const order = [];
           promised.then((r) => order.push(r.json('body')));
           order.push('first');
           await promised;
           check(null, {
             listed: listed.map((r) => r.json('method')).join() === 'GET,POST,PUT,GET',
             bodies: listed[1].json('body') === 'b' && listed[2].json('body') === 'c',
             params: listed[1].json('headers.x') === 'y',
             template: listed[3].json('path') === '/echo?4',
             body: http.batch([['GET', 'BASE/echo', 'd']])[0].json('body') === 'd',
             named: named.one.status === 200 && named.two.status === 404,
             many: many.length === 30 && many.every((r) => r.status === 200),
             promised: order.join() === 'first,later',
           });
         }",
    )
    .await;
}

#[tokio::test]
async fn each_hop_is_recorded() {
    let server = Server::start().await;
    let text = "import http from 'k6/http'; export default () => { http.get('BASE/redirect/2'); http.get('BASE/status/500') }";
    let mut trial = Trial::new(program(&server.script(text)));
    trial.iterate(1).await.unwrap();
    let recorded = trial.recorded();
    let without_bytes = recorded.iter().filter(|line| !line.starts_with("data_"));
    let expected = [
        "http_reqs=4",
        "http_req_duration=#4",
        "http_req_blocked=#4",
        "http_req_connecting=#4",
        "http_req_tls_handshaking=#4",
        "http_req_sending=#4",
        "http_req_waiting=#4",
        "http_req_receiving=#4",
        "http_req_failed=1/4",
    ];
    assert_eq!(
        without_bytes.collect::<Vec<_>>(),
        expected.iter().collect::<Vec<_>>()
    );
    assert_eq!(recorded.len(), expected.len() + 2, "{recorded:?}");
}

#[tokio::test]
async fn samples_carry_the_tags_of_k6() {
    let text = "import http from 'k6/http';
        export default function () {
          http.get('BASE');
          http.get('BASE/redirect/1', { tags: { own: 'x' } });
          http.get(http.url`BASE/status/${404}`);
          http.setResponseCallback(http.expectedStatuses(404, { min: 500, max: 599 }));
          http.get('BASE/status/404', { tags: { name: 'n' } });
          http.setResponseCallback(null);
          http.get('BASE/status/404');
          http.get('BASE/status/204', { responseCallback: http.expectedStatuses(200) });
        }";
    let expected = expect_test::expect![[r#"
        1 expected_response=true group= method=GET name=BASE proto=HTTP/1.1 status=200 url=BASE
        1 expected_response=true group= method=GET name=BASE/redirect/1 own=x proto=HTTP/1.1 status=302 url=BASE/redirect/1
        1 expected_response=true group= method=GET name=BASE/echo own=x proto=HTTP/1.1 status=200 url=BASE/echo
        1 error_code=1404 expected_response=false group= method=GET name=BASE/status/${} proto=HTTP/1.1 status=404 url=BASE/status/${}
        1 error_code=1404 expected_response=true group= method=GET name=n proto=HTTP/1.1 status=404 url=n
        1 error_code=1404 group= method=GET name=BASE/status/404 proto=HTTP/1.1 status=404 url=BASE/status/404
        1 expected_response=false group= method=GET name=BASE/status/204 proto=HTTP/1.1 status=204 url=BASE/status/204"#]];
    let all = tags_of("http_reqs", &json!({}), text).await;
    expected.assert_eq(&all.join("\n"));
    let failed = tags_of("http_req_failed", &json!({}), text).await;
    let values: Vec<_> = failed.iter().map(|line| &line[..1]).collect();
    assert_eq!(values, ["0", "0", "0", "1", "0", "1"]);
}

#[tokio::test]
async fn failures_are_responses() {
    passes(
        "import http from 'k6/http';
         import { check } from 'k6';
         export default function () {
           const refused = http.get('http://127.0.0.1:1/');
           const invalid = http.get('http://[nope/');
           const relative = http.get('/path');
           const split = http.get('BASE/echo\\r\\nX: y');
           const hostless = http.get('http:///echo');
           const slow = http.get('BASE/slow', { timeout: '20ms' });
           const late = http.get('BASE/slow', { timeout: 0 });
           const missing = http.get('BASE/status/404');
           check(null, {
             refused: refused.status === 0 && refused.error_code === 1212 && refused.body === null,
             text: refused.error === 'dial: connection refused',
             invalid: invalid.status === 0 && invalid.error_code === 1020 && relative.error_code === 1000 &&
               relative.error.startsWith('unsupported protocol scheme'),
             split: split.error_code === 1020 && hostless.error_code === 1000 && hostless.url === 'http:///echo',
             late: late.error_code === 1050,
             slow: slow.error_code === 1050 && slow.error === 'request timeout' && slow.timings.waiting > 10,
             missing: missing.error_code === 1404 && missing.error === '',
           });
         }",
    )
    .await;
    let text = "import http from 'k6/http'; export default () => { http.get('http://127.0.0.1:1/', { tags: { a: 1 } }) }";
    let failed = tags_of("http_req_failed", &json!({}), text).await;
    assert_eq!(failed.len(), 1);
    let start = "1 a=1 error=dial: connection refused error_code=1212 ";
    assert!(failed[0].starts_with(start), "{failed:?}");
    assert!(
        failed[0].ends_with("method=GET name=http://127.0.0.1:1/ status=0 url=http://127.0.0.1:1/"),
        "{failed:?}"
    );
    // A request to a relative URL (a forgotten base URL) is recorded as failed. A text that is not a URL is not
    // recorded, as in k6.
    let text = "import http from 'k6/http'; export default () => {
        http.get('/path', { tags: { a: 1 } });
        http.batch(['/b']);
        http.get('http://[/');
    }";
    let failed = tags_of("http_req_failed", &json!({}), text).await;
    let tags =
        "error=unsupported protocol scheme \"\" error_code=1000 expected_response=false group= method=GET";
    let expected = [
        format!("1 a=1 {tags} name=/path status=0 url=/path"),
        format!("1 {tags} name=/b status=0 url=/b"),
    ];
    assert_eq!(failed, expected);
}

#[tokio::test]
async fn mistakes_are_explained() {
    let check = async |call: &str, expected: &str| {
        fails(
            &format!("import http from 'k6/http'; export default () => {{ {call} }}"),
            expected,
        )
        .await;
    };
    check(
        "http.get('http://127.0.0.1:1', { throw: true })",
        "GET \"http://127.0.0.1:1\": dial",
    )
    .await;
    check(
        "http.get('x', { throw: true })",
        "unsupported protocol scheme \"\" in \"x\"; expected a URL",
    )
    .await;
    check("http.get(5)", "the URL of a request is int; expected a text").await;
    check("http.request('G T', 'BASE')", "\"G T\" is not an HTTP method").await;
    check("http.post('BASE', 5)", "unknown request body type: int").await;
    check("http.get('BASE', 5)", "the parameters of a request are int").await;
    check(
        "http.get('BASE', { timeout: 'soon' })",
        "`timeout` of a request is \"soon\"; expected milliseconds",
    )
    .await;
    check(
        "http.get('BASE', { auth: 'kerberos' })",
        "'basic', 'digest' or 'ntlm'",
    )
    .await;
    check(
        "http.get('BASE', { responseType: 'blob' })",
        "'text', 'binary' or 'none'",
    )
    .await;
    check("http.get('BASE', { jar: {} })", "expected http.cookieJar()").await;
    check(
        "http.get('BASE', { responseCallback: () => true })",
        "expected http.expectedStatuses",
    )
    .await;
    check(
        "http.post('BASE', 'x', { compression: 'rar' })",
        "unknown compression \"rar\"",
    )
    .await;
    check(
        "http.get('BASE/gzip').json()",
        "cannot parse the body as JSON: expected value at line 1 column 1",
    )
    .await;
    check("http.get('BASE', { responseType: 'none' }).json()", "has no body").await;
    check("http.get('BASE/echo').json('a|b')", "pipes are not supported").await;
    check("http.batch(5)", "needs an array or an object").await;
    check("http.batch([[5, 'BASE']])", "a method that is int").await;
    check("http.expectedStatuses('x')", "expected statuses and ranges").await;
    check("http.cookieJar().set('x', 'a', 'b')", "invalid URL \"x\"").await;
    check(
        "http.cookieJar().set('BASE', 'a', 'b', { expires: 'soon' })",
        "\"soon\" is not a date",
    )
    .await;
    check("http.url('x')", "the tag of a template literal").await;
    check("http.get('BASE/switch')", "unsupported response status: 101").await;
    let text = "import http from 'k6/http'; http.get('http://a.test'); export default () => {}";
    check_refusal(text, "does not work in the init context");
}

#[tokio::test]
async fn options_hold_for_all_requests() {
    let options = json!({
        "discardResponseBodies": true,
        "maxRedirects": 0,
        "userAgent": "me",
        "hosts": { "app.test": "127.0.0.1" },
        "blockHostnames": ["*.blocked"],
        "noConnectionReuse": true,
        "httpDebug": "full",
        "rps": 1000,
    });
    let server = Server::start().await;
    let text = "import http from 'k6/http';
        import { check } from 'k6';
        export default function () {
          const named = 'BASE'.replace('127.0.0.1', 'app.test');
          check(null, {
            discarded: http.get('BASE/echo').body === null,
            kept: http.get(named + '/echo', { responseType: 'text' }).json('headers.user-agent') === 'me',
            redirect: http.get('BASE/redirect/1').status === 302,
            blocked: http.get('http://a.blocked/').error_code === 1111,
          });
        }";
    let mut trial = Trial::with_options(program(&server.script(text)), &options);
    trial.iterate(1).await.unwrap();
    assert_eq!(trial.outcome().1, Vec::<String>::new());
    assert_eq!(server.n_connections(), 3);
    let options = json!({ "hosts": { "a": "b" } });
    let mut trial = Trial::with_options(program("export default () => {}"), &options);
    let error = trial.iterate(1).await.unwrap_err().to_string();
    assert!(
        error.contains("option `hosts`: \"b\" is not an address"),
        "{error}"
    );
}

#[tokio::test(start_paused = true)]
async fn an_interrupted_request_ends() {
    let server = Server::start().await;
    let text = "import http from 'k6/http'; export default () => { http.get('BASE/slow') }";
    let mut trial = Trial::new(program(&server.script(text)));
    let interrupted = tokio::time::timeout(std::time::Duration::from_millis(50), trial.iterate(1)).await;
    assert!(interrupted.is_err());
    let recorded = trial.recorded();
    let [sent] = recorded.as_slice() else {
        panic!("{recorded:?}");
    };
    assert!(sent.starts_with("data_sent="), "{sent}");
}

#[tokio::test]
async fn pages_are_read_and_their_forms_and_links_are_sent() {
    passes(
        "import http from 'k6/http';
         import { check } from 'k6';
         export default function () {
           const page = http.get('BASE/page');
           const say = page.submitForm({ fields: { text: 'hello you' }, params: { headers: { 'x-own': 'mine' } } });
           const search = page.submitForm({ formSelector: '#search', fields: { q: 'a&b' } });
           const next = page.clickLink();
           check(page, {
             html: (p) => p.html().find('#messages turbo-cable-stream-source').attr('channel') === 'C',
             selector: (p) => p.html('title').text() === 'Room' && p.html('none').size() === 0 && p.html() === p.html(),
             say: () => say.json('method') === 'POST' && say.json('path') === '/say' && say.json('headers.x-own') === 'mine' &&
               say.json('body') === 'a=1&a=2&go=Go&text=hello+you' &&
               say.json('headers.content-type') === 'application/x-www-form-urlencoded',
             search: () => search.json('method') === 'GET' && search.json('path') === '/find?q=a%26b',
             next: () => next.url === 'BASE/echo' && page.clickLink({ selector: 'a:contains(\"Next\")' }).status === 200,
           });
         }",
    )
    .await;
    for (call, expected) in [
        (
            "http.get('BASE/page').submitForm({ formSelector: '#no' })",
            "no form of the page matches `#no`",
        ),
        (
            "http.get('BASE/page').clickLink({ selector: '[name=top]' })",
            "has no href",
        ),
        (
            "http.get('BASE/page').html('p[')",
            "the selector `p[` is not supported CSS",
        ),
        (
            "http.get('BASE/page', { responseType: 'none' }).html()",
            "no body, so no page",
        ),
    ] {
        fails(
            &format!("import http from 'k6/http'; export default () => {call}"),
            expected,
        )
        .await;
    }
}
