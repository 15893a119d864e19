//! Findings in the texts of scripts, and none in texts that work.

use expect_test::{Expect, expect};

use super::*;
use crate::{
    modules,
    source::{self, Builtins, Entry, test_folder::Folder},
};

/// The findings in `main.js` (or `main.ts`), with these other files.
fn findings(files: &[(&str, &str)]) -> String {
    let folder = Folder::with(files);
    let present: Vec<_> = modules::ids().collect();
    let builtins = Builtins {
        present: &present,
        absent: modules::ABSENT,
        node: None,
    };
    let entry = Entry::File(folder.path().join(files[0].0));
    let sources = source::load_files(entry, builtins).unwrap();
    let review = Review::read(&sources).unwrap();
    let lines = review.findings().into_iter().map(|finding| {
        let Finding {
            location,
            name,
            problem,
            is_warning,
        } = finding;
        let kind = if is_warning { "warning: " } else { "" };
        format!(
            "{kind}{}: {name}: {problem}\n",
            folder.hide(&location.to_string())
        )
    });
    lines.collect()
}

fn check(text: &str, expected: &Expect) {
    expected.assert_eq(&findings(&[("main.js", text)]));
}

#[test]
fn names_that_do_not_exist() {
    check(
        "import http from 'k6/http';
export default function () {
  const response = http.get('x');
  console.log(resposne.status);
  slep(1);
  sleep(1);
  ws.connect('x', {}, () => {});
  process.exit(1);
  n = 1;
  zzzzzzz();
}",
        &expect![[r#"
    main.js:4:15: resposne: is not defined; did you mean `response`?
    main.js:5:3: slep: is not defined; declare or import it
    main.js:6:3: sleep: is not defined; import it: import { sleep } from "k6"
    main.js:7:3: ws: is not defined; import it: import ws from "k6/ws"
    main.js:8:3: process: is not defined; this is not Node.js: __ENV has the environment
    main.js:9:3: n: is not defined; declare or import it
    main.js:10:3: zzzzzzz: is not defined; declare or import it
"#]],
    );
}

#[test]
fn members_that_modules_do_not_have() {
    check(
        "import cable from 'k6/x/cable';
import { chek, sleep } from 'k6';
import http, { foo } from 'k6/http';
import * as all from 'k6/x/cable';
export default function () {
  cable.conect('ws://x');
  http.gett('x');
  new http.CookieJarr();
  all.conect();
  http.file.length;
  http.unknown.length;
}",
        &expect![[r#"
    main.js:2:10: chek: k6 has no `chek`; did you mean `check`?
    main.js:3:16: foo: k6/http has no `foo`; it has: CookieJar, asyncRequest, batch, cookieJar, del, expectedStatuses, file, get, head, options, patch, post, put, request, setResponseCallback, url
    main.js:6:9: cable.conect: k6/x/cable has no `conect`; did you mean `connect`?
    main.js:7:8: http.gett: k6/http has no `gett`; did you mean `get`?
    main.js:8:12: http.CookieJarr: k6/http has no `CookieJarr`; did you mean `CookieJar`?
    main.js:9:7: all.conect: k6/x/cable has no `conect`; did you mean `connect`?
    main.js:11:8: http.unknown: k6/http has no `unknown`; it has: CookieJar, asyncRequest, batch, cookieJar, del, expectedStatuses, file, get, head, options, patch, post, put, request, setResponseCallback, url
"#]],
    );
}

#[test]
fn functions_that_fakers_do_not_have() {
    check(
        "import faker, { Faker } from 'k6/x/faker';
const own = new Faker(11);
let other = new Faker(11);
other = {};
export default function () {
  faker.person.firstNam();
  faker.persn.firstName();
  faker.zen.firstName();
  faker.call('firstName').length;
  faker.person.constructor.name;
  own.adress.city();
  own.time.now();
  own.company.company();
  own.cal('city');
  other.x.y();
  faker.word.definition?.();
}",
        &expect![[r#"
    main.js:6:16: faker.person.firstNam: `person` of k6/x/faker has no `firstNam`; did you mean `firstName`?
    main.js:7:9: faker.persn: k6/x/faker has no `persn`; did you mean `person`?
    main.js:11:7: own.adress: k6/x/faker has no `adress`; did you mean `address`?
    main.js:12:12: own.time.now: `time` of k6/x/faker has no `now`; it has: date, dateRange, day, futureTime, hour, minute, month, monthString, nanosecond, pastTime, second, timezone, timezoneAbbreviation, timezoneFull, timezoneOffset, timezoneRegion, weekday, year
    main.js:14:7: own.cal: k6/x/faker has no `cal`; did you mean `call`?
    warning: main.js:16:14: faker.word.definition: `word` of k6/x/faker has no `definition`; it has: actionVerb, adjective, adverb, adverbDegree, adverbFrequencyDefinite, adverbFrequencyIndefinite, adverbManner, adverbPhrase, adverbPlace, adverbTimeDefinite, adverbTimeIndefinite, comment, connective, connectiveCasual, connectiveComparitive, connectiveComplaint, connectiveExamplify, connectiveListing, connectiveTime, demonstrativeAdjective, …
"#]],
    );
}

#[test]
fn names_of_own_files() {
    expect![[r#"
    warning: lib/legacy.js:1:29: absent: is not defined; declare or import it
    lib/user.js:1:34: missing: is not defined; declare or import it
    main.js:1:17: lgout: ./lib/user.js has no `lgout`; did you mean `logout`?
    main.js:5:53: user.logn: ./lib/user.js has no `logn`; did you mean `login`?
"#]]
    .assert_eq(&findings(&[
        (
            "main.js",
            "import { login, lgout } from './lib/user.js';
import * as user from './lib/user.js';
import { any } from './lib/all.js';
import legacy from './lib/legacy.js';
export default function () { login(); lgout(); user.logn(); any(); legacy.x(); }",
        ),
        (
            "lib/user.js",
            "export function login() { return missing; }\nexport const logout = 1;",
        ),
        ("lib/all.js", "export * from './user.js';"),
        ("lib/legacy.js", "module.exports = { x: () => absent };"),
    ]));
}

#[test]
fn names_that_a_script_may_handle_are_warnings() {
    for text in [
        "if (http.unknown) http.unknown();",
        "http.unknown?.();",
        "try { http.unknown() } catch {}",
        "try { absent() } catch {}",
        "globalThis[key] = 1; defined();",
        "eval('var defined = 1'); defined();",
        "Object.assign(globalThis, { defined: 1 }); defined();",
    ] {
        let text =
            format!("import http from 'k6/http';\nconst key = 'x';\nexport default () => {{ {text} }}");
        let found = findings(&[("main.js", &text)]);
        assert!(
            found.lines().all(|line| line.starts_with("warning: ")) && !found.is_empty(),
            "{text}: {found}"
        );
    }
}

#[test]
fn names_that_exist_are_not_reported() {
    for text in [
        "typeof absent === 'undefined' ? 1 : absent();",
        "globalThis.made = 1; made();",
        "globalThis.absent;",
        "globalThis['made'] = 1; made();",
        "function f(http) { return http.gett() } f({ gett: () => 1 });",
        "{ const http = { gett: 1 }; http.gett; }",
        "const name = 'gett'; http[name];",
        "label: for (const x of []) { continue label; }",
        "hoisted(); function hoisted() { return later; } var later = 1;",
        "(function () { return arguments.length; })();",
        "class A { static b = 1; #c = 2; d() { return this.#c + A.b; } } new A();",
        "const { a, b: { c = a }, ...rest } = {}; [a, c, rest];",
        "try { throw 1 } catch (error) { error; }",
        "const f = function g(n) { return n ? g(n - 1) : 0 }; f(1);",
        "__ENV.A; __VU; __ITER; open; require; console.log(undefined, NaN, Infinity);",
        "new Uint8Array(1); new TextEncoder(); URL; setTimeout(() => {}); performance.now(); crypto.randomUUID();",
        "http.hasOwnProperty('get');",
        "check({}, {}); group('x', () => {}); group(...[1, 2]);",
        "import.meta.url;",
    ] {
        let text = format!(
            "import http from 'k6/http';\nimport {{ check, group }} from 'k6';\nexport default () => {{ {text} }}"
        );
        assert_eq!(findings(&[("main.js", &text)]), "", "{text}");
    }
}

#[test]
fn types_are_not_names() {
    let text = "import type { Options } from 'k6/options';
import { Params } from 'k6/http';
enum Colour { Red }
declare const given: number;
interface User { id: number }
export const options: Options = {};
export default function (data: User, params?: Params): void { Colour.Red; const n: Missing = 1; n as Absent; abent; }";
    expect![[r#"
    main.ts:7:110: abent: is not defined; declare or import it
"#]]
    .assert_eq(&findings(&[("main.ts", text)]));
}

#[test]
fn calls_with_too_few_arguments() {
    check(
        "import http from 'k6/http';
import { check } from 'k6';
export default () => { check(http.get()); check(1, {}); http.get('x'); }",
        &expect![[r#"
    main.js:3:24: check: has 1 of at least 2 arguments; expected: check(response, { "status is 200": (r) => r.status === 200 })
    main.js:3:35: get: has 0 of at least 1 argument; expected: http.get("https://example.com")
"#]],
    );
}

#[test]
fn options_have_places() {
    let folder = Folder::with(&[(
        "main.js",
        "export const options = {\n  scenarios: {\n    a: { executor: 'x', stages: [{ target: 1 }] } } };\nexport default () => {};\nexport function idle() {}\nexport function used() {}",
    )]);
    let entry = Entry::File(folder.path().join("main.js"));
    let sources = source::load_files(entry, Builtins::default()).unwrap();
    let review = Review::read(&sources).unwrap();
    for (path, expected) in [
        ("scenarios.a.executor", "main.js:3:10"),
        ("scenarios.a.stages[0].target", "main.js:3:36"),
        ("scenarios.a.stages[0].duration", "main.js:3:34"),
        ("thresholds.x", "main.js:1:24"),
    ] {
        let place = review.option(path).map(|place| folder.hide(&place.to_string()));
        assert_eq!(place.as_deref(), Some(expected), "{path}");
    }
    let idle = review.idle_functions(&["used"]);
    let names: Vec<_> = idle.iter().map(|finding| finding.name.as_str()).collect();
    assert_eq!(names, ["default", "idle"]);
}
