//! The JSON report of Artillery's second version.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde_json::{Map, Value, json};

use super::{FIGURES, Figures, rounded_rate, summary_figure};

/// The whole run and its periods. The times of first and last samples are the bounds of their stretch.
pub fn json(aggregate: &Figures, periods: &[Figures]) -> Value {
    json!({
        "aggregate": object(aggregate),
        "intermediate": periods.iter().map(object).collect::<Value>(),
    })
}

fn object(figures: &Figures) -> Value {
    let summaries: Map<_, _> = figures
        .summaries
        .iter()
        .map(|(name, histogram)| {
            let figures = FIGURES
                .iter()
                .filter_map(|&figure| Some((figure.to_owned(), number(summary_figure(histogram, figure)?))));
            (name.clone(), Value::Object(figures.collect()))
        })
        .collect();
    let rates: Map<_, _> = figures
        .rates
        .iter()
        .map(|(name, rate)| (name.clone(), number(rounded_rate(*rate))))
        .collect();
    let (first, last) = (millis(figures.start), millis(figures.start + figures.width));
    json!({
        "counters": figures.counters,
        "rates": rates,
        "firstCounterAt": first,
        "firstHistogramAt": first,
        "lastCounterAt": last,
        "lastHistogramAt": last,
        "firstMetricAt": first,
        "lastMetricAt": last,
        "period": first.to_string(),
        "summaries": summaries.clone(),
        "histograms": summaries,
    })
}

/// Whole numbers without a fraction, as JavaScript writes them.
fn number(number: f64) -> Value {
    if number.fract() == 0.0 && number.abs() < 1e15 {
        json!(number as i64)
    } else {
        json!(number)
    }
}

fn millis(time: SystemTime) -> u64 {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO);
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}
