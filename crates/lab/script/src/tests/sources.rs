//! Scripts as people have them, from their text on: TypeScript, and the libraries that are embedded.

use crate::{
    modules,
    source::{Builtins, Entry, LoadOptions, load},
};

use super::*;

/// Runs one iteration of a file of this name and expects these samples.
async fn check_file(name: &str, text: &str, expected: &[&str]) {
    let present: Vec<&str> = modules::ids().collect();
    let options = LoadOptions {
        builtins: Builtins {
            present: &present,
            absent: modules::ABSENT,
            node: None,
        },
        is_offline: true,
        ..LoadOptions::default()
    };
    let entry = Entry::Text {
        path: format!("/test/{name}").into(),
        text: text.to_owned(),
    };
    let sources = load(entry, &options)
        .await
        .unwrap_or_else(|error| panic!("{error}"));
    let mut trial = Trial::new(Program::from_sources(sources, BTreeMap::new(), "/test".into()));
    trial
        .iterate(1)
        .await
        .unwrap_or_else(|error| panic!("{error}\n{text}"));
    assert_eq!(trial.recorded(), expected, "{text}");
}

#[tokio::test(start_paused = true)]
async fn typescript_runs() {
    check_file(
        "chat.ts",
        "import { Options } from 'k6/options';
         import { check } from 'k6';
         export const options: Options = { vus: 1 };
         enum Level { Low, High = 5, Higher, Both = Low | High, Name = 'n' }
         enum Level { More = 9 }
         class User<T> { constructor(private readonly id: T, public name?: string) {} get(): T { return this.id } }
         class Admin extends User<number> { rights!: string[]; constructor() { super(7, 'root') } }
         export default function (data: unknown): void {
           const user = new Admin() as User<number>;
           check(user!, {
             enums: Level.Higher === 6 && Level[6] === 'Higher' && Level.Both === 5 && Level.More === 9,
             names: Level.Name === 'n' && !('n' in Level),
             properties: (user: User<number>): boolean => user.get() === 7 && user.name === 'root',
           } satisfies object);
         }",
        &["checks=3/3"],
    )
    .await;
}

#[tokio::test(start_paused = true)]
async fn embedded_libraries_run() {
    check_file(
        "chat.js",
        "import { check } from 'k6';
         import { findBetween, parseDuration, randomIntBetween, randomString, uuidv4 }
           from 'https://jslib.k6.io/k6-utils/1.3.0/index.js';
         import { humanizeValue, jUnit, textSummary } from 'https://jslib.k6.io/k6-summary/0.0.1/index.js';
         import { csrfToken } from 'http://anycable.io/xk6-cable/jslib/k6-rails/0.1.0/index.js';
         const data = {
           root_group: { name: '', groups: [], checks: [{ name: 'up', passes: 1, fails: 0 }] },
           metrics: { iterations: { type: 'counter', values: { count: 3, rate: 1.5 }, thresholds: {} }, gone: undefined },
         };
         export default () => check(null, {
           random: randomIntBetween(3, 3) === 3 && randomString(4, 'x') === 'xxxx',
           uuid: /^[0-9a-f-]{36}$/.test(uuidv4()),
           between: findBetween('<b>1</b>', '<b>', '</b>') === '1',
           duration: parseDuration('1m30s') === 90000,
           human: humanizeValue(0.29, { contains: 'time' }) === '290µs',
           text: textSummary(data, { indent: '', enableColors: false }) === '    ✓ up\\n\\n    iterations...: 3 1.5/s',
           xml: jUnit(data).includes('tests=\"0\"'),
           rails: csrfToken({ find: (selector) => ({ attr: () => selector }) }) === 'meta[name=csrf-token]',
         })",
        &["checks=8/8"],
    )
    .await;
}
