//! Outboxes over connections that take more or fewer bytes.

use std::io::{Error, ErrorKind};

use super::*;

fn frame(text: &str) -> Frame {
    Frame::new(text.as_bytes().into(), &Budget::new(usize::MAX))
}

fn outbox() -> Outbox {
    Outbox::new(&Budget::new(usize::MAX))
}

/// The memory for one frame of `n_bytes` bytes in a queue with four slots.
fn cost(n_bytes: usize) -> usize {
    n_bytes + Frame::OVERHEAD + 4 * SLOT
}

/// A connection that takes `room` bytes and then blocks.
struct Connection {
    room: usize,
    taken: Vec<u8>,
    n_writes: usize,
}

impl Connection {
    fn with_room(room: usize) -> Self {
        Self {
            room,
            taken: Vec::new(),
            n_writes: 0,
        }
    }

    fn write(&mut self, slices: &[IoSlice<'_>]) -> std::io::Result<usize> {
        if slices.is_empty() {
            return Ok(0);
        }
        self.n_writes += 1;
        let before = self.taken.len();
        for slice in slices {
            let n = slice.len().min(self.room);
            self.taken.extend_from_slice(&slice[..n]);
            self.room -= n;
        }
        match self.taken.len() - before {
            0 => Err(Error::from(ErrorKind::WouldBlock)),
            n => Ok(n),
        }
    }
}

#[test]
fn a_connection_that_holds_bytes_back_is_blocked_until_it_has_passed_them_on() {
    let mut outbox = outbox();
    outbox.push(frame("one"), 10).expect("not blocked, so not capped");
    let holding = |slices: &[IoSlice<'_>]| match slices {
        [] => Err(Error::from(ErrorKind::WouldBlock)),
        [slice, ..] => Ok(slice.len()),
    };
    assert_eq!(outbox.flush(holding).ok(), Some(Flush::Blocked));
    assert!(outbox.is_empty() && outbox.is_blocked());
    assert_eq!(outbox.flush(|_| Ok(0)).ok(), Some(Flush::Complete));
    assert!(!outbox.is_blocked());
}

#[test]
fn many_frames_leave_in_one_write() {
    let mut outbox = outbox();
    for text in ["one", "two", "three"] {
        outbox.push(frame(text), 10).expect("not blocked, so not capped");
    }
    assert!(!outbox.is_empty());
    let mut connection = Connection::with_room(100);
    assert_eq!(
        outbox.flush(|slices| connection.write(slices)).ok(),
        Some(Flush::Complete)
    );
    assert_eq!(
        (connection.taken.as_slice(), connection.n_writes),
        (b"onetwothree".as_slice(), 1)
    );
    assert!(outbox.is_empty());
}

#[test]
fn any_cut_of_the_writes_gives_the_same_bytes() {
    for first_room in 0..11 {
        let mut outbox = outbox();
        for text in ["one", "two", "three"] {
            outbox.push(frame(text), 100).expect("room");
        }
        let mut connection = Connection::with_room(first_room);
        assert_eq!(
            outbox.flush(|slices| connection.write(slices)).ok(),
            Some(Flush::Blocked)
        );
        assert!(outbox.is_blocked());
        assert_eq!(outbox.pending_bytes(), 11 - first_room);
        connection.room = 100;
        assert_eq!(
            outbox.flush(|slices| connection.write(slices)).ok(),
            Some(Flush::Complete)
        );
        assert_eq!(connection.taken, b"onetwothree", "after {first_room} bytes");
        assert!(!outbox.is_blocked());
    }
}

#[test]
fn the_cap_holds_only_while_blocked() {
    let mut outbox = outbox();
    outbox
        .push(frame("0123456789"), 5)
        .expect("a frame larger than the cap still leaves");
    outbox.push(frame("01234"), 5).expect("not known to be blocked");
    let mut full = Connection::with_room(0);
    assert_eq!(
        outbox.flush(|slices| full.write(slices)).ok(),
        Some(Flush::Blocked)
    );
    let held = outbox.held_bytes();
    assert_eq!(
        outbox.push(frame("0"), held + cost(1) - 4 * SLOT - 1),
        Err(PushError::Full)
    );
    assert_eq!(outbox.push(frame("0"), held + cost(1) - 4 * SLOT), Ok(()));
}

/// Otherwise a message longer than the cap could never be delivered.
#[test]
fn a_single_frame_is_taken_into_an_empty_outbox_even_of_a_blocked_connection() {
    let mut outbox = outbox();
    outbox.hold();
    outbox.reserve(1000);
    assert_eq!(outbox.push(frame("0123456789"), 5), Ok(()));
    assert_eq!(outbox.push(frame("0"), 5), Err(PushError::Full));
    assert_eq!(outbox.pending_bytes(), 10);
}

#[test]
fn a_queue_that_has_to_grow_counts_its_growth() {
    let mut outbox = outbox();
    outbox.hold();
    for _ in 0..4 {
        outbox.push(frame("0"), 10_000).expect("room");
    }
    assert_eq!(outbox.frames.capacity(), 4);
    let enough = outbox.held_bytes() + cost(1);
    assert_eq!(outbox.push(frame("0"), enough - 1), Err(PushError::Full));
    assert_eq!(outbox.push(frame("0"), enough), Ok(()));
    assert_eq!(outbox.held_bytes(), enough);
}

#[test]
fn a_gigabyte_is_the_most_that_waits_in_any_case() {
    let budget = Budget::new(usize::MAX);
    let mut outbox = Outbox::new(&budget);
    // Zeroed pages that are never touched take no memory.
    let quarter = Frame::new(vec![0; MAX_PENDING_BYTES / 4], &budget);
    for _ in 0..4 {
        assert_eq!(outbox.push(quarter.clone(), 10), Ok(()));
    }
    assert_eq!(outbox.push(frame("0"), usize::MAX), Err(PushError::Full));
    outbox.seal_with(b"bye".into());
    assert_eq!((outbox.n_frames(), outbox.is_sealed()), (4, true));
}

/// The cap applies to the memory of messages, not only to their bytes.
#[test]
fn small_frames_cost_more_than_their_bytes() {
    const CAP: usize = 1 << 20;
    for n_bytes in [1, 100, 10_000] {
        let budget = Budget::new(usize::MAX);
        let mut outbox = Outbox::new(&budget);
        outbox.hold();
        let is_taken = |_: &usize| outbox.push(Frame::new(vec![0; n_bytes], &budget), CAP).is_ok();
        let n_frames = (0..CAP / 10).take_while(is_taken).count();
        assert!(n_frames < CAP / Frame::OVERHEAD, "{n_frames} frames");
        assert!(budget.used() <= CAP, "{} bytes, {n_bytes} each", budget.used());
        assert!(budget.used() > CAP / 3, "{} bytes, {n_bytes} each", budget.used());
        let kept = KEPT_CAPACITY * SLOT;
        assert_eq!(budget.used(), outbox.held_bytes() - kept, "no frame is shared");
    }
}

#[test]
fn what_the_session_occupies_elsewhere_is_under_the_cap_too() {
    let mut outbox = outbox();
    outbox.hold();
    outbox.push(frame("first"), 1000).expect("room");
    outbox.reserve(900);
    assert_eq!(outbox.push(frame("second"), 1000), Err(PushError::Full));
    outbox.unreserve(900);
    assert_eq!(outbox.push(frame("second"), 1000), Ok(()));
}

#[test]
fn what_is_taken_back_is_at_most_what_is_reserved() {
    let budget = Budget::new(usize::MAX);
    let mut outbox = Outbox::new(&budget);
    for (reserved, taken_back, left) in [(100, 0, 100), (50, 30, 120), (0, 1000, 0), (7, 0, 7)] {
        outbox.reserve(reserved);
        outbox.unreserve(taken_back);
        assert_eq!((outbox.held_bytes(), budget.used()), (left, left));
    }
}

#[test]
fn a_frame_that_is_partly_written_is_still_held_whole() {
    let mut outbox = outbox();
    outbox.push(frame("0123456789"), 1000).expect("room");
    let mut connection = Connection::with_room(9);
    outbox.flush(|slices| connection.write(slices)).expect("blocked");
    assert_eq!((outbox.pending_bytes(), outbox.held_bytes()), (1, cost(10)));
}

#[test]
fn an_outbox_gives_back_all_that_it_counted() {
    let budget = Budget::new(usize::MAX);
    for abandons in [false, true] {
        let mut outbox = Outbox::new(&budget);
        for _ in 0..100 {
            outbox.push(Frame::new(vec![0; 10], &budget), 10).expect("room");
        }
        outbox.reserve(1000);
        let mut connection = Connection::with_room(5);
        outbox.flush(|slices| connection.write(slices)).expect("blocked");
        if abandons {
            outbox.abandon();
            assert_eq!((budget.used(), outbox.is_sealed()), (0, true));
            assert_eq!((outbox.pending_bytes(), outbox.held_bytes()), (0, 0));
            outbox.unreserve(1000);
        }
        drop(outbox);
        assert_eq!(budget.used(), 0);
    }
}

#[test]
fn an_outbox_is_small() {
    assert_eq!(size_of::<Outbox>(), 56);
}

#[test]
fn a_last_word_never_tears_a_frame() {
    let mut outbox = outbox();
    for text in ["first", "second", "third"] {
        outbox.push(frame(text), 100).expect("room");
    }
    let mut connection = Connection::with_room(2);
    assert_eq!(
        outbox.flush(|slices| connection.write(slices)).ok(),
        Some(Flush::Blocked)
    );
    outbox.drop_unsent();
    assert_eq!((outbox.n_frames(), outbox.pending_bytes()), (1, 3));
    outbox.push(frame("bye"), 1000).expect("room");
    assert!(!outbox.is_sealed());
    outbox.seal();
    assert_eq!(outbox.push(frame("late"), 100), Err(PushError::Sealed));
    connection.room = 100;
    assert_eq!(
        outbox.flush(|slices| connection.write(slices)).ok(),
        Some(Flush::Complete)
    );
    assert_eq!(connection.taken, b"firstbye");
}

#[test]
fn a_lost_connection_is_an_error() {
    let mut outbox = outbox();
    outbox.push(frame("x"), 100).expect("room");
    let error = outbox
        .flush(|_| Err(Error::from(ErrorKind::BrokenPipe)))
        .expect_err("broken");
    assert_eq!(error.kind(), ErrorKind::BrokenPipe);
}

#[test]
fn an_interrupted_write_is_tried_again() {
    let mut outbox = outbox();
    outbox.push(frame("x"), 100).expect("room");
    let mut outcomes = [
        Err(ErrorKind::Interrupted),
        Ok(1),
        Err(ErrorKind::Interrupted),
        Ok(0),
    ]
    .into_iter();
    let flushed = outbox.flush(|_| outcomes.next().expect("one more").map_err(Error::from));
    assert_eq!((flushed.ok(), outcomes.next()), (Some(Flush::Complete), None));
}

#[test]
fn dropping_what_was_not_sent_drops_all_of_a_connection_that_took_nothing() {
    let mut outbox = outbox();
    outbox.push(frame("first"), 100).expect("room");
    outbox.drop_unsent();
    assert_eq!(
        (outbox.n_frames(), outbox.pending_bytes(), outbox.held_bytes()),
        (0, 0, 0)
    );
}

#[test]
fn last_words_are_taken_whatever_the_cap() {
    for (last_words, expected) in [("bye", "heldbye"), ("", "held")] {
        let mut outbox = outbox();
        outbox.hold();
        outbox.push(frame("held"), 10).expect("empty");
        assert_eq!(outbox.push(frame("bye"), 10), Err(PushError::Full));
        outbox.seal_with(last_words.into());
        assert!(outbox.is_sealed());
        let mut connection = Connection::with_room(100);
        outbox
            .flush(|slices| connection.write(slices))
            .expect("takes all");
        assert_eq!(connection.taken, expected.as_bytes());
        assert_eq!(outbox.n_frames(), 0);
    }
}

#[test]
fn a_write_gets_a_bounded_number_of_slices() {
    let mut outbox = outbox();
    for _ in 0..100 {
        outbox.push(frame("x"), 10).expect("room");
    }
    let mut n_slices = Vec::new();
    let flushed = outbox.flush(|slices| {
        n_slices.push(slices.len());
        Ok(slices.len())
    });
    assert_eq!((flushed.ok(), n_slices), (Some(Flush::Complete), vec![64, 36, 0]));
}

#[test]
fn an_empty_outbox_keeps_little_room() {
    for (n_frames, kept) in [(1, 4), (16, 16), (17, 0), (1000, 0)] {
        let budget = Budget::new(usize::MAX);
        let mut outbox = Outbox::new(&budget);
        for _ in 0..n_frames {
            outbox.push(Frame::new(b"x".into(), &budget), 10).expect("room");
        }
        let mut connection = Connection::with_room(10_000);
        outbox
            .flush(|slices| connection.write(slices))
            .expect("takes all");
        assert_eq!(
            (outbox.frames.capacity(), budget.used()),
            (kept, 0),
            "{n_frames} frames"
        );
    }
}

#[test]
fn what_is_held_waits_under_the_cap_and_goes_out_behind_the_first_frame() {
    let mut outbox = outbox();
    outbox.hold();
    assert!(outbox.is_blocked());
    assert_eq!(outbox.push(frame("held"), 150), Ok(()));
    assert_eq!(outbox.push(frame("too much"), 150), Err(PushError::Full));
    outbox.seal();
    outbox.release(frame("first "));
    assert!(!outbox.is_blocked());
    assert_eq!((outbox.pending_bytes(), outbox.n_frames()), (10, 2));
    let mut connection = Connection::with_room(100);
    assert_eq!(
        outbox.flush(|slices| connection.write(slices)).ok(),
        Some(Flush::Complete)
    );
    assert_eq!(connection.taken, b"first held");
}
