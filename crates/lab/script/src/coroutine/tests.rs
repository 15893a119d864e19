//! Coroutines on a paused clock.

use std::time::Duration;

use tokio::time::{Instant, sleep};

use super::*;

const STACK_BYTES: usize = 256 << 10;

/// Drives to the end of the current task.
async fn drive(coroutine: &mut Coroutine) -> Turn {
    std::future::poll_fn(|cx| match coroutine.resume(cx.waker()) {
        Turn::Pending => Poll::Pending,
        Turn::Busy => {
            cx.waker().wake_by_ref();
            Poll::Pending
        }
        turn => Poll::Ready(turn),
    })
    .await
}

#[tokio::test(start_paused = true)]
async fn code_that_blocks_looks_like_a_future() {
    let begin = Instant::now();
    let mut coroutine = Coroutine::new(STACK_BYTES, |switch| {
        switch.park(sleep(Duration::from_secs(2))).unwrap();
        switch.idle();
        switch.park(sleep(Duration::from_secs(3))).unwrap();
    })
    .unwrap();
    assert_eq!(drive(&mut coroutine).await, Turn::Idle);
    assert_eq!(begin.elapsed().as_secs(), 2);
    assert_eq!(drive(&mut coroutine).await, Turn::Ended);
    assert_eq!(begin.elapsed().as_secs(), 5);
}

#[tokio::test(start_paused = true)]
async fn an_interrupted_coroutine_does_not_wait() {
    let mut coroutine = Coroutine::new(STACK_BYTES, |switch| {
        assert_eq!(switch.park(sleep(Duration::from_secs(9))), Err(Interrupted));
        assert_eq!(switch.park(std::future::ready(())), Err(Interrupted));
        switch.recover();
        assert_eq!(switch.park(std::future::ready(7)), Ok(7));
    })
    .unwrap();
    assert_eq!(coroutine.resume(Waker::noop()), Turn::Pending);
    coroutine.switch().interrupt();
    assert_eq!(coroutine.resume(Waker::noop()), Turn::Ended);
}

#[tokio::test]
async fn a_dropped_coroutine_ends_by_itself() {
    let has_ended = Rc::new(Cell::new(false));
    let ended = Rc::clone(&has_ended);
    let mut coroutine = Coroutine::new(STACK_BYTES, move |switch| {
        assert_eq!(switch.park(std::future::pending::<()>()), Err(Interrupted));
        switch.idle();
        ended.set(true);
    })
    .unwrap();
    coroutine.resume(Waker::noop());
    drop(coroutine);
    assert!(has_ended.get());
}

#[test]
fn a_coroutine_that_never_began_is_dropped() {
    drop(Coroutine::new(STACK_BYTES, |_| panic!("must not run")).unwrap());
}

#[tokio::test]
async fn a_panic_reaches_the_caller() {
    let mut coroutine = Coroutine::new(STACK_BYTES, |_| panic!("boom")).unwrap();
    let caught = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        coroutine.resume(Waker::noop());
    }));
    assert!(caught.is_err());
}

#[test]
fn code_that_computes_lets_others_run() {
    let mut coroutine = Coroutine::new(STACK_BYTES, |switch| while !switch.take_turns() {}).unwrap();
    assert_eq!(coroutine.resume(Waker::noop()), Turn::Busy);
    assert_eq!(coroutine.resume(Waker::noop()), Turn::Busy);
    coroutine.switch().interrupt();
    assert_eq!(coroutine.resume(Waker::noop()), Turn::Ended);
}
