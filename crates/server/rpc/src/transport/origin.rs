//! Who makes a call, and what each thread that makes calls has of its own.

/// Who makes a call.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Origin<'a> {
    /// The id of the session that it is made for.
    pub(crate) sid: &'a str,
    /// `None`: the background thread.
    shard: Option<usize>,
}

/// One for every thread that makes calls. Connections are driven by the thread that made them, so that a call wakes no
/// other one.
pub(super) struct PerThread<T> {
    background: T,
    shards: Box<[T]>,
}

impl<'a> Origin<'a> {
    /// The shard with this number, on its own thread.
    pub(crate) fn new(shard: usize, sid: &'a str) -> Self {
        Self {
            sid,
            shard: Some(shard),
        }
    }

    /// The background thread, for a session that has ended.
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

    /// The one of the thread that makes this call.
    pub(super) fn of(&self, origin: Origin<'_>) -> &T {
        match origin.shard {
            Some(number) => &self.shards[number],
            None => &self.background,
        }
    }
}
