//! Slices of one send as a single one: to the kernel each slice is work of its own.
//!
//! The listeners of a stream mostly wait for the same frames, so the bytes of the session before are those of the next one, too.

use std::io::IoSlice;

/// The most bytes of all sends of one call. It stays in memory: one buffer for each thread.
const CAPACITY: usize = 64 << 10;

/// Up to this mean length of slices, in bytes, copying them costs less than the kernel's work for each.
const MAX_MEAN: usize = 1 << 10;

/// The joined slices of one call.
#[derive(Default)]
pub(super) struct Joined {
    /// It grows to [`CAPACITY`] at once and never again, so that what it holds stays in its place.
    bytes: Vec<u8>,
    /// The slices that were joined last, by address and length, and where their bytes begin.
    last: Vec<(usize, usize)>,
    last_start: usize,
}

impl Joined {
    /// Forgets everything, for another call.
    pub(super) fn clear(&mut self) {
        self.bytes.clear();
        self.last.clear();
    }

    /// The bytes of these slices, which stay valid until [`clear`](Self::clear). `None`: joining them does not pay, or there is no
    /// room.
    pub(super) fn join<'a>(&'a mut self, slices: &'a [IoSlice<'_>]) -> Option<&'a [u8]> {
        if let [slice] = slices {
            return Some(slice);
        }
        if !self.is_last(slices) {
            self.add(slices)?;
        }
        Some(&self.bytes[self.last_start..])
    }

    fn is_last(&self, slices: &[IoSlice<'_>]) -> bool {
        let places = slices.iter().map(place);
        !slices.is_empty() && places.eq(self.last.iter().copied())
    }

    fn add(&mut self, slices: &[IoSlice<'_>]) -> Option<()> {
        let n_bytes: usize = slices.iter().map(|slice| slice.len()).sum();
        if n_bytes > slices.len() * MAX_MEAN || self.bytes.len() + n_bytes > CAPACITY {
            return None;
        }
        self.bytes.reserve_exact(CAPACITY - self.bytes.len());
        self.last_start = self.bytes.len();
        self.last.clear();
        for slice in slices {
            self.bytes.extend_from_slice(slice);
            self.last.push(place(slice));
        }
        Some(())
    }
}

fn place(slice: &IoSlice<'_>) -> (usize, usize) {
    (slice.as_ptr().addr(), slice.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn slices<'a>(parts: &[&'a [u8]]) -> Vec<IoSlice<'a>> {
        parts.iter().map(|part| IoSlice::new(part)).collect()
    }

    #[test]
    fn the_same_slices_are_joined_once() {
        let mut joined = Joined::default();
        let (a, b, other) = (vec![b'a'; 300], vec![b'b'; 200], vec![b'a'; 300]);
        let first = joined.join(&slices(&[&a, &b])).map(<[u8]>::to_vec);
        assert_eq!(first, Some([&a[..], &b].concat()));
        let n_bytes = joined.bytes.len();
        let again = joined.join(&slices(&[&a, &b])).map(<[u8]>::as_ptr);
        assert_eq!(again, Some(joined.bytes.as_ptr()));
        assert_eq!(joined.bytes.len(), n_bytes);
        // The rest of the first frame, as after a partial write, and equal bytes elsewhere are other slices.
        for parts in [[&a[1..], &b], [&other, &b], [&b, &a]] {
            let expected = parts.concat();
            assert_eq!(joined.join(&slices(&parts)).map(<[u8]>::to_vec), Some(expected));
        }
        joined.clear();
        assert_eq!(joined.join(&slices(&[&b, &b])).map(<[u8]>::len), Some(400));
    }

    #[test]
    fn a_single_slice_is_not_copied() {
        let mut joined = Joined::default();
        let bytes = vec![b'x'; 1 << 20];
        let one = joined.join(&slices(&[&bytes])).map(<[u8]>::as_ptr);
        assert_eq!(one, Some(bytes.as_ptr()));
        assert!(joined.bytes.is_empty());
    }

    #[test]
    fn long_slices_and_those_without_room_are_not_joined() {
        let mut joined = Joined::default();
        let long = vec![b'x'; MAX_MEAN + 1];
        assert_eq!(joined.join(&slices(&[&long, &long])), None);
        let part = vec![b'y'; MAX_MEAN];
        let whole = vec![&part[..]; CAPACITY / MAX_MEAN];
        let start = joined.join(&slices(&whole)).map(<[u8]>::as_ptr);
        assert_eq!(joined.join(&slices(&[b"1", b"2"])), None);
        // What was joined is where it was.
        assert_eq!(joined.join(&slices(&whole)).map(<[u8]>::as_ptr), start);
    }
}
