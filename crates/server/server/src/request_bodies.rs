//! The memory of all HTTP request bodies while they are read and answered.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use plimsoll_telemetry::{Counter, Registry};

/// A body counts twice: as received, and as the messages made from it.
const COPIES: usize = 2;

/// The first allocation for a body, in bytes. Each further one doubles it.
const FIRST_STEP: usize = 4096;

/// The bodies of all shards. All clones share the total.
#[derive(Debug, Clone)]
pub(crate) struct RequestBodies(Arc<Total>);

#[derive(Debug)]
struct Total {
    used: AtomicUsize,
    limit: usize,
    refused: Counter,
}

/// One body, as far as it has arrived. It counts until it is dropped.
#[derive(Debug)]
pub(crate) struct RequestBody {
    bytes: Vec<u8>,
    total: RequestBodies,
}

/// The limit for all bodies together would be exceeded. The request is answered 503.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct NoRoom;

impl RequestBodies {
    /// Allows up to `limit` bytes in total.
    pub(crate) fn new(limit: usize, registry: &Registry) -> Self {
        let refused = registry.counter(
            "refused_bodies_total",
            "Requests that were answered 503 because all request bodies together took too much memory",
        );
        let total = Arc::new(Total {
            used: AtomicUsize::new(0),
            limit,
            refused,
        });
        let counted = Arc::clone(&total);
        registry.gauge_fn(
            "request_body_bytes",
            "Memory of the request bodies that are being read or answered",
            move || counted.used.load(Ordering::Relaxed) as f64,
        );
        Self(total)
    }

    /// Begins an empty body.
    pub(crate) fn begin(&self) -> RequestBody {
        RequestBody {
            bytes: Vec::new(),
            total: self.clone(),
        }
    }
}

impl RequestBody {
    /// Appends received bytes. Memory is allocated in steps as bytes arrive, whatever length was announced, and never
    /// for more than `max_bytes` bytes.
    ///
    /// # Errors
    /// [`NoRoom`]; the body cannot be used after that.
    pub(crate) fn extend(&mut self, data: &[u8], max_bytes: usize) -> Result<(), NoRoom> {
        let needed = self.bytes.len() + data.len();
        if needed > self.bytes.capacity() {
            let room = (self.bytes.capacity() * 2)
                .max(FIRST_STEP)
                .min(max_bytes)
                .max(needed);
            self.total.take((room - self.bytes.capacity()) * COPIES)?;
            self.bytes.reserve_exact(room - self.bytes.len());
            // If the vector allocated more than that, the excess counts as well and is released with the vector.
            let extra = self.bytes.capacity() - room;
            self.total.0.used.fetch_add(extra * COPIES, Ordering::Relaxed);
        }
        self.bytes.extend_from_slice(data);
        Ok(())
    }

    /// The bytes received so far.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }
}

impl RequestBodies {
    fn take(&self, n_bytes: usize) -> Result<(), NoRoom> {
        let Total { used, limit, refused } = &*self.0;
        let in_all = used.fetch_add(n_bytes, Ordering::Relaxed) + n_bytes;
        if in_all <= *limit {
            return Ok(());
        }
        used.fetch_sub(n_bytes, Ordering::Relaxed);
        refused.increment();
        Err(NoRoom)
    }
}

impl Drop for RequestBody {
    fn drop(&mut self) {
        let n_bytes = self.bytes.capacity() * COPIES;
        self.total.0.used.fetch_sub(n_bytes, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MAX: usize = 1 << 20;

    fn used(bodies: &RequestBodies) -> usize {
        bodies.0.used.load(Ordering::Relaxed)
    }

    #[test]
    fn bodies_share_one_total_and_give_it_back() {
        let bodies = RequestBodies::new(4 * MAX, &Registry::default());
        let (mut first, mut second, mut third) = (bodies.begin(), bodies.begin(), bodies.begin());
        assert_eq!(first.extend(&[b'x'; MAX], MAX), Ok(()));
        assert_eq!(second.extend(&[b'x'; MAX], MAX), Ok(()));
        assert_eq!(used(&bodies), 4 * MAX);
        assert_eq!(third.extend(b"x", MAX), Err(NoRoom));
        assert_eq!(bodies.0.refused.get(), 1);
        drop(first);
        assert_eq!(third.extend(b"x", MAX), Ok(()));
        drop((second, third));
        assert_eq!(used(&bodies), 0);
    }

    #[test]
    fn memory_follows_the_bytes_that_came() {
        let bodies = RequestBodies::new(usize::MAX, &Registry::default());
        let mut body = bodies.begin();
        for n_arrived in (1000..MAX).step_by(1000) {
            assert_eq!(body.extend(&[b'x'; 1000], MAX), Ok(()));
            let room = n_arrived.next_power_of_two().clamp(FIRST_STEP, MAX);
            assert_eq!(used(&bodies), room * COPIES, "after {n_arrived} bytes");
        }
        assert_eq!(body.bytes().len(), 1_048_000);
    }
}
