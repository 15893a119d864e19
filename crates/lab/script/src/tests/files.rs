//! Files that scripts read in parts, records of files, and streams.

use super::*;
use crate::source::test_folder::Folder;

/// Runs one iteration of a script beside `users.csv`, for two users, and expects these samples of the second one.
async fn check_beside_users(text: &str, expected: &[&str]) {
    let folder = Folder::with(&[("users.csv", "name,age\nada,36\nbob,41\n"), ("script.js", text)]);
    let entry = folder.specifier("script.js").as_str().to_owned();
    let module = SourceModule::of_text(text);
    let program = Program::new(
        entry.clone(),
        [(entry, module)].into(),
        BTreeMap::new(),
        folder.path().to_owned(),
    );
    let mut trial = Trial::new(program);
    trial
        .iterate(1)
        .await
        .unwrap_or_else(|error| panic!("{error}\n{text}"));
    trial
        .iterate(2)
        .await
        .unwrap_or_else(|error| panic!("{error}\n{text}"));
    assert_eq!(trial.recorded(), expected, "{text}");
}

#[tokio::test(start_paused = true)]
async fn each_user_reads_a_file_at_its_own_position() {
    check_beside_users(
        "import { check } from 'k6';
         import { open, SeekMode } from 'k6/experimental/fs';
         const file = await open('users.csv');
         const buffer = new Uint8Array(10);
         export default async function () {
           const n = await file.read(buffer.subarray(2, 6));
           const at = await file.seek(0, SeekMode.Current);
           const text = String.fromCharCode(...buffer);
           const late = await open('users.csv').catch((error) => `${error}`);
           check(__ITER, {
             parts: (i) => n === 4 && at === 4 * (i + 1) && text === (i === 0 ? '\\0\\0name\\0\\0\\0\\0' : '\\0\\0,age\\0\\0\\0\\0'),
             late: () => late.startsWith('ForbiddenError: open() works only in the init context'),
           });
         }",
        &["checks=6/6"],
    )
    .await;
}

#[tokio::test(start_paused = true)]
async fn records_are_shared_or_read_one_by_one() {
    check_beside_users(
        "import { check } from 'k6';
         import csv from 'k6/experimental/csv';
         import { open } from 'k6/experimental/fs';
         const all = await csv.parse(await open('users.csv'), { asObjects: true });
         const again = await csv.parse(await open('users.csv'), { skipFirstLine: true });
         const parser = new csv.Parser(await open('users.csv'), { skipFirstLine: true });
         const failed = await csv.parse(await open('users.csv'), { fromLine: 9 }).catch((error) => error.message);
         export default async function () {
           const { done, value } = await parser.next();
           let late;
           try { new csv.Parser() } catch (error) { late = error.message }
           check(__ITER, {
             all: () => all.length === 2 && all[1].name === 'bob' && Object.isFrozen(all[0]) && again[0].join() === 'ada,36',
             next: (i) => !done && value.join() === (i === 0 ? 'ada,36' : 'bob,41'),
             failed: () => failed.includes('users.csv`: the file ends before the line before fromLine'),
             late: () => late.includes('only in the init context'),
           });
         }",
        &["checks=12/12"],
    )
    .await;
}

#[tokio::test(start_paused = true)]
async fn what_is_no_file_is_refused() {
    for (call, expected) in [
        (
            "csv.parse('users.csv')",
            "csv.parse() was given string; expected a file",
        ),
        (
            "new csv.Parser()",
            "new csv.Parser() was given undefined; expected a file",
        ),
    ] {
        let script = format!("import csv from 'k6/experimental/csv'; {call}; export default () => {{}}");
        let error = Script::read(program(&script)).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    }
}

#[tokio::test(start_paused = true)]
async fn streams_pull_what_their_readers_read() {
    check(
        "import { check, sleep } from 'k6';
         import { ReadableStream } from 'k6/experimental/streams';
         const numbers = () => {
           let n = 0;
           return new ReadableStream({
             async pull(controller) {
               await new Promise((resolve) => setTimeout(resolve, 10));
               controller.enqueue(++n);
               if (n === 3) controller.close();
             },
           });
         };
         const failure = async (run) => { try { await run() } catch (error) { return error.message } };
         export default async function () {
           const read = [];
           const reader = numbers().getReader();
           for (let part = await reader.read(); !part.done; part = await reader.read()) read.push(part.value);
           const failing = new ReadableStream({ start(controller) { controller.error(new Error('broken')) } });
           const closed = new ReadableStream({ start: (controller) => controller.close() });
           check(null, {
             all: () => read.join() === '1,2,3',
             locked: () => closed.locked === false,
           });
           check(await failure(() => failing.getReader().read()), { broken: (m) => m === 'broken' });
           check(await failure(() => new ReadableStream({ type: 'bytes' })), { bytes: (m) => m.includes('not supported') });
           check(await failure(() => ReadableStream.prototype.getReader.call({})), { foreign: (m) => m.includes('not a ReadableStream') });
           check(await closed.getReader().read(), { done: (part) => part.done });
         }",
        &["checks=6/6"],
    )
    .await;
}

#[tokio::test(start_paused = true)]
async fn streams_hand_chunks_to_their_sink_one_by_one() {
    check(
        "import { check } from 'k6';
         import { WritableStream, WritableStreamDefaultWriter } from 'k6/experimental/streams';
         const failure = async (promise) => { try { await promise } catch (error) { return error.message ?? error } };
         export default async function () {
           const log = [];
           const slow = (chunk) => new Promise((resolve) => setTimeout(() => resolve(log.push(chunk)), 10));
           const stream = new WritableStream({ start: () => log.push('start'), write: slow, close: () => log.push('close') }, { highWaterMark: 2 });
           const writer = stream.getWriter();
           const room = [writer.desiredSize];
           writer.write(1);
           writer.write(2);
           room.push(writer.desiredSize);
           let isReady = false;
           writer.ready.then(() => { isReady = true });
           await Promise.resolve();
           const wasReady = isReady;
           await writer.ready;
           await writer.close();
           check(log, { 'in order': (all) => all.join() === 'start,1,2,close' });
           check(room, { room: ([before, after]) => before === 2 && after === 0 && !wasReady });
           check(await failure(writer.write(3)), { 'no more': (m) => m.includes('closed') });
           const broken = new WritableStreamDefaultWriter(new WritableStream({ write() { throw new Error('full') } }));
           check(await failure(broken.write(1)), { fails: (m) => m === 'full' });
           check(await failure(broken.closed), { 'stays broken': (m) => m === 'full' && broken.desiredSize === null });
           const reasons = [];
           const aborted = new WritableStream({ abort: (reason) => reasons.push(reason) }).getWriter();
           await aborted.abort('enough');
           check(await failure(aborted.write(1)), { aborted: (m) => m === 'enough' && reasons.join() === 'enough' });
           const locked = new WritableStream();
           locked.getWriter();
           check(await failure(locked.close()), { locked: (m) => m.includes('locked') });
         }",
        &["checks=7/7"],
    )
    .await;
}
