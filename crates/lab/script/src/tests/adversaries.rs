//! Scripts that call back at unexpected moments, and scripts that ask for more than there is.

use super::*;

/// Runs an iteration of `body` with all modules at hand, which must end well and have `checks` that all hold.
async fn check_survival(body: &str) {
    let text = format!(
        "import {{ check, group, sleep }} from 'k6'; import crypto from 'k6/crypto'; import encoding from 'k6/encoding';
         import exec from 'k6/execution'; import {{ parseHTML }} from 'k6/html'; import {{ Trend }} from 'k6/metrics';
         const trend = new Trend('own');
         const thrown = (f) => {{ try {{ f() }} catch (error) {{ return String(error) }} }};
         export default () => {{
           const expect = (value) => {{ if (value !== true) throw new Error('got ' + value) }};
           {body}
         }}"
    );
    let mut trial = Trial::new(program(&text));
    trial
        .iterate(1)
        .await
        .unwrap_or_else(|error| panic!("{error}\n{body}"));
}

#[tokio::test(start_paused = true)]
async fn code_that_runs_inside_of_a_call_may_call_the_same_again() {
    let bodies = [
        // A digest that is fed while its input is read.
        "const hash = crypto.createHash('md5');
         hash.update({ get byteOffset() { hash.update('a'); hash.digest('hex'); return 0 }, byteLength: 1, buffer: new ArrayBuffer(1) });
         expect(hash.digest('hex') === crypto.md5('a\\0', 'hex'));",
        // What an exception looks like is up to the script.
        "Error.prepareStackTrace = () => { exec.vu.tags.seen = 'yes'; return '' };
         expect(thrown(() => { exec.vu.tags.bad = {} }).includes('the tag `bad`'));
         expect(exec.vu.tags.seen === 'yes');",
        "Object.defineProperty(Object.prototype, 'name', { set() { exec.vu.tags.inner = 'x' }, configurable: true });
         parseHTML('<form><input name=a></form>').find('form').serializeArray();
         expect(exec.vu.tags.inner === undefined || exec.vu.tags.inner === 'x');",
        "const tags = { get a() { trend.add(1, { b: 'c' }); exec.vu.tags.d = 'e'; return 'f' } };
         expect(trend.add(1, tags));",
        "expect(check(1, { get a() { return check(1, { b: () => group('c', () => true) }) } }));",
        "const page = parseHTML('<p>a<p>b');
         expect(page.find('p').filter(() => page.find('p').map((i, p) => p.text()).length === 2).size() === 2);",
    ];
    for body in bodies {
        check_survival(body).await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_setter_on_the_global_object_may_do_anything() {
    let text = "import exec from 'k6/execution';
        Object.defineProperty(globalThis, '__ITER', { set() { exec.vu.tags.a = 'b' }, get: () => 7 });
        export default () => { if (exec.vu.tags.a !== 'b') throw 'not set' }";
    Trial::new(program(text)).iterate(2).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn endless_recursion_ends_with_an_exception() {
    let recursions = [
        "const f = () => group('x', f); f",
        "const f = () => check(1, { a: f }); f",
        "const f = () => parseHTML('<p>').find('p').each(f); f",
        "const tags = { get a() { trend.add(1, tags) } }; () => trend.add(1, tags)",
        "const url = { toString: () => new URL(url) }; () => new URL(url)",
        "let list = []; for (let i = 0; i < 1e5; i++) list = [list]; () => JSON.stringify(list)",
        "() => JSON.parse('['.repeat(1e6))",
        "() => parseHTML('<div>'.repeat(1e5))",
    ];
    for recursion in recursions {
        let (before, last) = recursion.rsplit_once("; ").unwrap_or(("", recursion));
        check_survival(&format!(
            "{before}; expect(thrown({last}).startsWith('RangeError'));"
        ))
        .await;
    }
}

#[tokio::test(start_paused = true)]
async fn endless_lists_are_refused() {
    for read in [
        "new URLSearchParams(new Array(2 ** 32 - 1))",
        "new URLSearchParams(new Array(2 ** 27))",
        "http.url(new Array(2 ** 32 - 1))",
        "http.batch(new Array(2 ** 32 - 1))",
        "http.get('http://127.0.0.1:1', { cookies: new Array(2 ** 32 - 1) })",
        "new Blob(new Array(2 ** 32 - 1))",
    ] {
        let text = format!(
            "import http from 'k6/http'; import {{ Blob }} from 'k6/websockets';
             export default () => {{ try {{ {read} }} catch {{}} }}"
        );
        Trial::new(program(&text)).iterate(1).await.unwrap();
    }
}

#[tokio::test(start_paused = true)]
async fn an_exception_is_kept_in_part() {
    for thrown in [
        "'x'.repeat(2 ** 24)",
        "new Error('x'.repeat(2 ** 24))",
        "{ a: 'x'.repeat(2 ** 24) }",
    ] {
        let mut trial = Trial::new(program(&format!("export default () => {{ throw {thrown} }}")));
        let error = trial.iterate(1).await.unwrap_err().to_string();
        assert!(
            (1_000..100_000).contains(&error.len()),
            "{} bytes of {thrown}",
            error.len()
        );
    }
}

#[tokio::test(start_paused = true)]
async fn what_scripts_keep_is_bounded_wherever_it_is() {
    let hoards = [
        "crypto.randomBytes(2 ** 22)",
        "encoding.b64decode('A'.repeat(2 ** 22))",
        "new URL('http://host/' + 'a'.repeat(2 ** 20))",
        "new TextEncoder().encode('a'.repeat(2 ** 22))",
    ];
    for hoard in hoards {
        check_survival(&format!(
            "const all = [];
             const error = thrown(() => {{ for (let i = 0; i < 100; i++) all.push({hoard}) }});
             all.length = 0;
             expect(/out of memory/.test(error));
             expect(parseHTML('<p>again').find('p').text() === 'again');"
        ))
        .await;
    }
}

#[tokio::test(start_paused = true)]
async fn texts_with_half_a_character_are_mended() {
    check_survival(
        "expect(encoding.b64encode('\\ud83d!') === encoding.b64encode('\\ufffd!'));
         expect(crypto.md5('\\udc00', 'hex') === crypto.md5('\\ufffd', 'hex'));
         expect(parseHTML('<p>\\ud800').text() === '\\ufffd');
         expect(check(1, { '\\ufffd': '\\ud800' }));",
    )
    .await;
}
