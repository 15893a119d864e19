//! The origin of a call, and the state that each calling thread has of its own.

/// The origin of a call.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Origin<'a> {
    /// The id of the session.
    pub(crate) sid: &'a str,
    /// The shard's number. `None`: the background thread.
    shard: Option<usize>,
}

/// One value per thread that makes calls. A connection is driven by the thread that made it, so that a call wakes no
/// other thread.
pub(super) struct PerThread<T> {
    background: T,
    shards: Box<[T]>,
}

impl<'a> Origin<'a> {
    /// A call from the shard with this number, on its own thread.
    pub(crate) fn new(shard: usize, sid: &'a str) -> Self {
        Self {
            sid,
            shard: Some(shard),
        }
    }

    /// A call from the background thread, for an ended session.
    pub(crate) fn background(sid: &'a str) -> Self {
        Self { sid, shard: None }
    }
}

impl<T> PerThread<T> {
    pub(super) fn new(n_shards: usize, make: impl Fn() -> T) -> Self {
        Self {
            background: make(),
            shards: (0..n_shards).map(|_| make()).collect(),
        }
    }

    /// The value for the thread that makes this call.
    pub(super) fn of(&self, origin: Origin<'_>) -> &T {
        match origin.shard {
            Some(number) => &self.shards[number],
            None => &self.background,
        }
    }
}
