//! The memory of all kept response bodies, over all users of a run.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use super::HttpError;

/// The limit of all bodies together. All clones share the count.
#[derive(Clone, Debug)]
pub struct KeptBodies(Arc<Total>);

#[derive(Debug)]
struct Total {
    used: AtomicUsize,
    limit: usize,
}

/// One body's share of the total, until it is dropped.
#[derive(Debug)]
pub(super) struct Share {
    total: KeptBodies,
    n_bytes: usize,
}

impl KeptBodies {
    /// Up to `limit` bytes in all.
    pub fn new(limit: usize) -> Self {
        let used = AtomicUsize::new(0);
        Self(Arc::new(Total { used, limit }))
    }

    /// Bytes that are in use.
    pub fn used(&self) -> usize {
        self.0.used.load(Ordering::Relaxed)
    }

    /// Bytes that are free.
    pub(super) fn room(&self) -> usize {
        self.0.limit.saturating_sub(self.used())
    }

    /// The error of a body for which there is no room.
    pub(super) fn no_room(&self) -> HttpError {
        HttpError::NoRoom { limit: self.0.limit }
    }

    pub(super) fn share(&self) -> Share {
        Share {
            total: self.clone(),
            n_bytes: 0,
        }
    }
}

impl Share {
    /// Grows or shrinks the share to `n_bytes`.
    ///
    /// # Errors
    /// [`HttpError::NoRoom`]; the share is unchanged.
    pub(super) fn resize(&mut self, n_bytes: usize) -> Result<(), HttpError> {
        let Total { used, limit } = &*self.total.0;
        if n_bytes > self.n_bytes {
            let more = n_bytes - self.n_bytes;
            if used.fetch_add(more, Ordering::Relaxed) + more > *limit {
                used.fetch_sub(more, Ordering::Relaxed);
                return Err(self.total.no_room());
            }
        } else {
            used.fetch_sub(self.n_bytes - n_bytes, Ordering::Relaxed);
        }
        self.n_bytes = n_bytes;
        Ok(())
    }
}

/// A copy takes its own share, even beyond the limit, because the body already exists.
impl Clone for Share {
    fn clone(&self) -> Self {
        self.total.0.used.fetch_add(self.n_bytes, Ordering::Relaxed);
        Self {
            total: self.total.clone(),
            n_bytes: self.n_bytes,
        }
    }
}

/// Shares are always equal, so that they do not affect the comparison of responses.
impl PartialEq for Share {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for Share {}

impl Drop for Share {
    fn drop(&mut self) {
        self.total.0.used.fetch_sub(self.n_bytes, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_take_from_one_total_and_give_it_back() {
        let total = KeptBodies::new(100);
        let (mut first, mut second) = (total.share(), total.share());
        first.resize(60).unwrap();
        let refused = second.resize(50).unwrap_err().to_string();
        assert!(refused.contains("more than 100 bytes"), "{refused}");
        assert_eq!((total.used(), total.room()), (60, 40));
        first.resize(50).unwrap();
        second.resize(50).unwrap();
        assert_eq!(total.room(), 0);
        drop((first.clone(), first, second));
        assert_eq!(total.used(), 0);
    }
}
