//! Histograms as text, compared with the library's own encoder and decoder.

use std::time::Duration;

use hdrhistogram::serialization::{Deserializer, Serializer, V2DeflateSerializer};
use proptest::prelude::*;

use super::*;

fn histogram(samples: &[(u64, u64)]) -> Histogram {
    let mut histogram = Histogram::of_numbers();
    for &(us, n) in samples {
        histogram.record_n(Duration::from_micros(us), n);
    }
    histogram
}

/// What a text holds: buckets. Samples that a histogram of few knows one by one are not in it.
fn filled(histogram: &Histogram) -> Vec<(u64, u64)> {
    histogram.filled().collect()
}

/// The text as encoded by the library.
fn foreign_text(histogram: &Histogram) -> String {
    let mut bytes = Vec::new();
    V2DeflateSerializer::new()
        .serialize(&histogram.buckets, &mut bytes)
        .unwrap();
    STANDARD.encode(bytes)
}

/// Decodes with the library.
fn read_by_the_library(text: &str) -> hdrhistogram::Histogram<u64> {
    let bytes = STANDARD.decode(text).unwrap();
    Deserializer::new().deserialize(&mut bytes.as_slice()).unwrap()
}

prop_compose! {
    /// Values and how often each occurs: few samples, which a histogram keeps one by one, or many.
    fn samples()(
        most in prop_oneof![Just(4_u64), Just(1_000_000)],
        exponents in prop::collection::vec((0_u32..62, any::<u64>(), any::<u64>()), 0..40),
    ) -> Vec<(u64, u64)> {
        let within = |(bits, random, n): (u32, u64, u64)| (random >> (63 - bits), 1 + n % most);
        exponents.into_iter().map(within).collect()
    }
}

proptest! {
    #[test]
    fn what_was_written_is_read(samples in samples()) {
        let written = histogram(&samples);
        let read = Histogram::decode(&written.encode()).unwrap();
        prop_assert_eq!(filled(&read), filled(&written));
        prop_assert_eq!(read.count(), written.count());
        let exact = read.with_exact(written.sum(), written.min(), written.max());
        prop_assert_eq!((exact.sum(), exact.min(), exact.max()), (written.sum(), written.min(), written.max()));
        let p95 = |histogram: &Histogram| (!histogram.is_empty()).then(|| histogram.bucket_at_quantile(0.95));
        prop_assert_eq!(p95(&exact), p95(&written));
    }

    #[test]
    fn the_library_reads_what_was_written(samples in samples()) {
        let written = histogram(&samples);
        prop_assert_eq!(read_by_the_library(&written.encode()), written.buckets);
    }

    #[test]
    fn what_the_library_writes_is_read(samples in samples()) {
        let written = histogram(&samples);
        let read = Histogram::decode(&foreign_text(&written)).unwrap();
        prop_assert_eq!(filled(&read), filled(&written));
    }

    #[test]
    fn any_bytes_are_read_or_refused(
        bytes in prop::collection::vec(any::<u8>(), 0..80),
        samples in samples(),
        at in any::<prop::sample::Index>(),
        byte in any::<u8>(),
    ) {
        let mut damaged = histogram(&samples).plain();
        let place = at.index(damaged.len());
        damaged[place] = byte;
        for plain in [&bytes, &damaged] {
            if let Ok(read) = Histogram::from_plain(plain) {
                // Whatever it is, it can be used.
                let mut sum = Histogram::of_numbers();
                sum.merge(&read);
                prop_assert_eq!(sum.count(), read.count());
            }
            drop(Histogram::decode(&STANDARD.encode(plain)));
        }
    }
}

#[test]
fn positions_of_counters_are_those_of_the_library() {
    for value in [
        0,
        1,
        2_047,
        2_048,
        2_049,
        4_095,
        4_096,
        1_000_003,
        u64::from(u32::MAX),
        HIGHEST_NUMBER,
    ] {
        let lowest = histogram(&[(value, 1)]).buckets.lowest_equivalent(value);
        assert_eq!(value_at(index_of(value)), Some(lowest), "{value}");
    }
}

#[test]
fn a_histogram_that_is_read_can_be_merged_with_any() {
    let mut durations = Histogram::new();
    durations.record(Duration::from_millis(3));
    let mut read = Histogram::decode(&durations.encode()).unwrap();
    read.merge(&durations);
    read.merge(&histogram(&[(1 << 50, 1)]));
    assert_eq!(read.count(), 3);
}

#[test]
fn what_is_no_histogram_is_refused() {
    let good = histogram(&[(5, 1)]);
    let with = |at: usize, byte: u8| {
        let mut plain = good.plain();
        plain[at] = byte;
        Histogram::from_plain(&plain).map(drop)
    };
    let decode = |text: &str| Histogram::decode(text).map(drop);
    for (found, expected) in [
        (decode("!"), DecodeError::NotBase64),
        (decode(""), DecodeError::NotAHistogram),
        (decode("AAAAAAAAAAAA"), DecodeError::NotAHistogram),
        (decode(&good.encode()[..24]), DecodeError::Damaged),
        (with(3, 0), DecodeError::NotAHistogram),
        (with(7, 99), DecodeError::Damaged),
        (with(15, 2), DecodeError::OtherResolution),
        (with(23, 2), DecodeError::OtherResolution),
        (with(HEADER_LENGTH + 1, 0x80), DecodeError::Damaged),
    ] {
        assert_eq!(found, Err(expected));
    }
}
