//! Trends as Prometheus's native histograms.

use std::collections::BTreeMap;

use super::message::{Histogram, Span};
use crate::distribution::{Distribution, SCALE, Values};

/// The native histogram of a trend with exponential buckets.
pub(super) fn histogram(trend: &Distribution, timestamp: i64) -> Option<Histogram> {
    let Values::Exponential(buckets) = &trend.values else {
        return None;
    };
    let (positive_spans, positive_deltas) = spans(&buckets.positive);
    let (negative_spans, negative_deltas) = spans(&buckets.negative);
    Some(Histogram {
        count: Some(trend.count),
        sum: trend.sum,
        schema: SCALE,
        zero_count: Some(buckets.n_zero),
        negative_spans,
        negative_deltas,
        positive_spans,
        positive_deltas,
        timestamp,
    })
}

/// Runs of neighbouring buckets, and each bucket's difference from the previous one.
fn spans(buckets: &BTreeMap<i32, u64>) -> (Vec<Span>, Vec<i64>) {
    let mut spans: Vec<Span> = Vec::new();
    let mut deltas = Vec::new();
    let (mut next, mut before) = (0, 0);
    for (&index, &count) in buckets {
        // Prometheus numbers buckets by their upper bound, this code by the lower one.
        let index = index.saturating_add(1);
        match spans.last_mut() {
            Some(span) if index == next => span.length += 1,
            _ => spans.push(Span {
                offset: index - next,
                length: 1,
            }),
        }
        let count = i64::try_from(count).unwrap_or(i64::MAX);
        deltas.push(count - before);
        (next, before) = (index.saturating_add(1), count);
    }
    (spans, deltas)
}
