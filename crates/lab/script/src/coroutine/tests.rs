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

/// Uses a quarter of the stack, and returns.
#[inline(never)]
fn go_deep() {
    std::hint::black_box([1_u8; STACK_BYTES / 4]);
}

/// A wait that is pending once.
async fn wait() {
    tokio::task::yield_now().await;
}

#[test]
fn memory_of_the_stack_is_given_back_before_long_waits() {
    #[track_caller]
    fn check(what: &str, are_given_back: &[bool], body: fn(&Switch)) {
        let mut coroutine = Coroutine::new(STACK_BYTES, move |switch| {
            let kept: [usize; 64] = std::array::from_fn(|n| n * n);
            let kept = std::hint::black_box(kept);
            body(&switch);
            assert!((0..64).all(|n| kept[n] == n * n));
        })
        .unwrap();
        for (n, is_given_back) in are_given_back.iter().enumerate() {
            coroutine.resume(Waker::noop());
            let n_bytes = coroutine.depth.resident_bytes(STACK_BYTES);
            let is_little = n_bytes < STACK_BYTES / 8;
            assert_eq!(is_little, *is_given_back, "{what}: {n_bytes} B after wait {n}");
        }
        assert_eq!(coroutine.resume(Waker::noop()), Turn::Ended, "{what}");
    }
    check("nothing was used", &[true], |switch| {
        switch.park(wait()).unwrap();
    });
    check("short waits", &[false, false], |switch| {
        go_deep();
        switch.park(wait()).unwrap();
        switch.park(wait()).unwrap();
    });
    check("a long wait, then a short one", &[true, false], |switch| {
        go_deep();
        switch.expect_wait(LONG_WAIT);
        switch.park(wait()).unwrap();
        go_deep();
        switch.park(wait()).unwrap();
    });
    check("notable waits", &[true, false, true], |switch| {
        for _ in 0..2 {
            go_deep();
            switch.expect_wait(NOTABLE_WAIT);
            switch.park(wait()).unwrap();
        }
        switch.given_back_at.update(|at| Some(at.unwrap() - RARE));
        switch.expect_wait(NOTABLE_WAIT);
        switch.park(wait()).unwrap();
    });
    check("a long wait that needs no waiting", &[false], |switch| {
        go_deep();
        switch.expect_wait(LONG_WAIT);
        switch.park(std::future::ready(())).unwrap();
        switch.park(wait()).unwrap();
    });
    check("a wait that became long", &[false, true, true], |switch| {
        go_deep();
        switch.resumed_at.update(|resumed_at| resumed_at - LONG_WAIT);
        switch
            .park(async {
                for _ in 0..3 {
                    wait().await;
                }
            })
            .unwrap();
    });
    check("computing", &[false], |switch| {
        go_deep();
        switch.resumed_at.update(|resumed_at| resumed_at - LONG_WAIT);
        switch.take_turns();
    });
    check("after a task", &[false], |switch| {
        go_deep();
        switch.idle();
    });
}

#[test]
fn memory_of_the_stack_is_given_back_at_rest() {
    let mut coroutine = Coroutine::new(STACK_BYTES, |switch| {
        let kept = std::hint::black_box([7_usize; 64]);
        go_deep();
        switch.idle();
        assert_eq!(kept, [7; 64]);
    })
    .unwrap();
    coroutine.rest();
    assert_eq!(coroutine.resume(Waker::noop()), Turn::Idle);
    coroutine.rest();
    assert!(coroutine.depth.resident_bytes(STACK_BYTES) < STACK_BYTES / 8);
    assert_eq!(coroutine.resume(Waker::noop()), Turn::Ended);
    coroutine.rest();
}
