//! Samples that go into a queue, those that do not, and the end of a queue.

use std::time::Duration;

use super::*;
use crate::metrics::{Contains, CounterId, MetricSet, Recorder};

fn recorder(queues: Vec<SampleSender>) -> (Recorder, CounterId) {
    let mut registry = Registry::new();
    let reqs = registry.counter("reqs", Contains::Default).unwrap();
    for name in ["duration", "size"] {
        registry.trend(name).unwrap();
    }
    registry.gauge("users", Contains::Default).unwrap();
    registry.rate("failed").unwrap();
    registry.check("is up");
    (
        Recorder::with_queues(MetricSet::new(Arc::new(registry)), queues),
        reqs,
    )
}

/// All samples in the queue, one a line.
fn drain(receiver: &mut SampleReceiver) -> Vec<String> {
    let mut lines = Vec::new();
    while !receiver.is_empty() {
        let batch = receiver.blocking_recv().unwrap();
        lines.extend(batch.samples.iter().map(|sample| {
            let name = &batch.registry.definition(sample.metric).name;
            format!("{name} {} {:?}", sample.value, sample.tags)
        }));
    }
    lines
}

#[test]
fn samples_of_all_kinds_go_out_with_their_tags() {
    let (sender, mut receiver) = sample_queue();
    let (recorder, reqs) = recorder(vec![sender]);
    assert!(recorder.reads_tags());
    let mut registry = Registry::new();
    let (duration, size) = (
        registry.trend("duration").unwrap(),
        registry.trend("size").unwrap(),
    );
    let users = registry.gauge("users", Contains::Default).unwrap();
    let failed = registry.rate("failed").unwrap();
    let is_up = registry.check("is up");

    recorder.add(reqs, 2.5);
    let tagged = recorder.with_tags([("method", "GET")]);
    tagged.record(duration, Duration::from_nanos(1_234_567));
    tagged.record_number(size, -0.000_1);
    tagged.with_tags([("method", "POST")]).set(users, 7.0);
    tagged.rate(failed, true);
    tagged.check(is_up, false);
    recorder.check_named("", "is down", true);
    assert!(receiver.is_empty(), "nothing goes out before its time");
    recorder.take();
    expect_test::expect![[r#"
        reqs 2.5 {}
        duration 1.234567 {"method": "GET"}
        size -0.0001 {"method": "GET"}
        users 7 {"method": "POST"}
        failed 1 {"method": "GET"}
        checks 0 {"check": "is up", "method": "GET"}
        checks 1 {"check": "is down"}"#]]
    .assert_eq(&drain(&mut receiver).join("\n"));
}

#[test]
fn a_full_batch_goes_out_at_once_and_nothing_goes_twice() {
    let (sender, mut receiver) = sample_queue();
    let (recorder, reqs) = recorder(vec![sender]);
    for _ in 0..BATCH_SIZE + 1 {
        recorder.count(reqs, 1);
    }
    assert_eq!(drain(&mut receiver).len(), BATCH_SIZE);
    recorder.take();
    recorder.take();
    assert_eq!(drain(&mut receiver).len(), 1);
}

#[test]
fn a_full_queue_holds_up_neither_the_worker_nor_another_queue() {
    let ((slow_sender, slow), (sender, mut receiver)) = (sample_queue(), sample_queue());
    let (recorder, reqs) = recorder(vec![slow_sender, sender]);
    let mut n_received = 0;
    for _ in 0..QUEUE_CAPACITY + 3 {
        for _ in 0..BATCH_SIZE {
            recorder.count(reqs, 1);
        }
        n_received += drain(&mut receiver).len();
    }
    assert_eq!(n_received, (QUEUE_CAPACITY + 3) * BATCH_SIZE);
    assert_eq!(receiver.n_dropped(), 0);
    assert_eq!(slow.n_dropped(), 3 * BATCH_SIZE as u64);
}

#[tokio::test]
async fn a_queue_ends_behind_what_is_in_it_and_then_takes_nothing() {
    let (sender, mut receiver) = sample_queue();
    let (recorder, reqs) = recorder(vec![sender.clone()]);
    recorder.count(reqs, 1);
    recorder.take();
    sender.end().await;
    assert_eq!(receiver.recv().await.unwrap().samples.len(), 1);
    assert!(receiver.recv().await.is_none());
    recorder.count(reqs, 1);
    recorder.take();
    assert_eq!(receiver.n_dropped(), 1);
    assert!(receiver.recv().await.is_none());
}

#[tokio::test(start_paused = true)]
async fn times_are_those_of_recording() {
    let (sender, mut receiver) = sample_queue();
    let (recorder, reqs) = recorder(vec![sender]);
    recorder.count(reqs, 1);
    tokio::time::advance(Duration::from_millis(1_500)).await;
    recorder.count(reqs, 1);
    recorder.take();
    let batch = receiver.recv().await.unwrap();
    let between = batch.samples[1].time.duration_since(batch.samples[0].time);
    assert_eq!(between.unwrap(), Duration::from_millis(1_500));
}
