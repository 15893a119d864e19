//! The messages of remote write 1.0, as far as they are sent (Prometheus's `prompb/types.proto` and `remote.proto`).

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use bytes::Bytes;
use prost::Message;

/// The number that marks the end of a series in Prometheus.
const STALE: u64 = 0x7ff0_0000_0000_0002;

/// One request.
#[derive(Clone, PartialEq, Message)]
pub(super) struct WriteRequest {
    #[prost(message, repeated, tag = "1")]
    pub(super) timeseries: Vec<TimeSeries>,
}

/// Values of one series.
#[derive(Clone, PartialEq, Message)]
pub(super) struct TimeSeries {
    /// By name, in the order of bytes.
    #[prost(message, repeated, tag = "1")]
    pub(super) labels: Vec<Label>,
    #[prost(message, repeated, tag = "2")]
    pub(super) samples: Vec<Number>,
    #[prost(message, repeated, tag = "4")]
    pub(super) histograms: Vec<Histogram>,
}

/// A label of a series.
#[derive(Clone, PartialEq, Message)]
pub(super) struct Label {
    #[prost(string, tag = "1")]
    pub(super) name: String,
    #[prost(string, tag = "2")]
    pub(super) value: String,
}

/// A value and its time in milliseconds.
#[derive(Clone, Copy, PartialEq, Message)]
pub(super) struct Number {
    #[prost(double, tag = "1")]
    pub(super) value: f64,
    #[prost(int64, tag = "2")]
    pub(super) timestamp: i64,
}

/// A native histogram and its time.
#[derive(Clone, PartialEq, Message)]
pub(super) struct Histogram {
    #[prost(uint64, optional, tag = "1")]
    pub(super) count: Option<u64>,
    #[prost(double, tag = "3")]
    pub(super) sum: f64,
    #[prost(sint32, tag = "4")]
    pub(super) schema: i32,
    #[prost(uint64, optional, tag = "6")]
    pub(super) zero_count: Option<u64>,
    #[prost(message, repeated, tag = "8")]
    pub(super) negative_spans: Vec<Span>,
    #[prost(sint64, repeated, tag = "9")]
    pub(super) negative_deltas: Vec<i64>,
    #[prost(message, repeated, tag = "11")]
    pub(super) positive_spans: Vec<Span>,
    #[prost(sint64, repeated, tag = "12")]
    pub(super) positive_deltas: Vec<i64>,
    #[prost(int64, tag = "15")]
    pub(super) timestamp: i64,
}

/// Neighbouring buckets.
#[derive(Clone, Copy, PartialEq, Message)]
pub(super) struct Span {
    /// Buckets between the previous span and this one; for the first span, the index of its first bucket.
    #[prost(sint32, tag = "1")]
    pub(super) offset: i32,
    #[prost(uint32, tag = "2")]
    pub(super) length: u32,
}

impl WriteRequest {
    /// A request for these series, encoded and compressed.
    pub(super) fn compressed(time_series: &[TimeSeries]) -> Bytes {
        let request = Self {
            timeseries: time_series.to_vec(),
        };
        let compressed = snap::raw::Encoder::new().compress_vec(&request.encode_to_vec());
        compressed
            .expect("2,000 series are far below the 4 GiB that Snappy can hold")
            .into()
    }
}

impl TimeSeries {
    pub(super) fn of_number(labels: Vec<Label>, value: f64, timestamp: i64) -> Self {
        Self {
            labels,
            samples: vec![Number { value, timestamp }],
            histograms: Vec::new(),
        }
    }

    pub(super) fn of_histogram(labels: Vec<Label>, histogram: Histogram) -> Self {
        Self {
            labels,
            samples: Vec::new(),
            histograms: vec![histogram],
        }
    }
}

impl TimeSeries {
    /// The end marker of the series, a millisecond after its last value.
    pub(super) fn into_stale(mut self) -> Self {
        let stale = f64::from_bits(STALE);
        for number in &mut self.samples {
            *number = Number {
                value: stale,
                timestamp: number.timestamp + 1,
            };
        }
        for histogram in &mut self.histograms {
            *histogram = Histogram {
                sum: stale,
                timestamp: histogram.timestamp + 1,
                ..Histogram::default()
            };
        }
        self
    }
}

/// Milliseconds since 1970.
pub(super) fn millis(time: SystemTime) -> i64 {
    let since_epoch = time.duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO);
    i64::try_from(since_epoch.as_millis()).unwrap_or(i64::MAX)
}
