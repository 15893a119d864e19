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
             keys: Object.keys(exec.vu.tags).sort().join() === 'group,n,page',
             gone: delete exec.vu.tags.page && exec.vu.tags.page === undefined,
             env: __ENV.NAME === 'value',
             options: typeof exec.test.options === 'object',
           });
         }",
        &["checks=8/8"],
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
