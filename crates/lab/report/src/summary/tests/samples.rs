//! The samples of trends in a summary.

use plimsoll_load::{
    histogram::Histogram,
    metrics::{Definition, Value},
};

use super::{run, summary, trend_stats};
use crate::{Distribution, Summary, summary::metrics};

#[test]
fn all_samples_of_a_trend_are_in_the_summary() {
    let run = run();
    let metrics = metrics::all(&run.metrics, 1.0, std::iter::empty(), &trend_stats());
    let samples = metrics["rtt"].samples().unwrap().unwrap();
    let recorded = run.metrics.iter().find_map(trend_named_rtt).unwrap();
    assert_eq!(Distribution::from(&samples), Distribution::from(recorded));
    assert!(metrics["data_received"].samples().unwrap().is_none());
}

#[test]
fn few_samples_are_exact_after_reading_and_those_of_older_files_within_a_thousandth() {
    let run = run();
    let mut summary = summary(&run);
    let recorded = run.metrics.iter().find_map(trend_named_rtt).unwrap();
    let read = |summary: &Summary| {
        let text = crate::json(summary).unwrap();
        Summary::read(&text).unwrap().metrics["rtt"]
            .samples()
            .unwrap()
            .unwrap()
    };
    assert_eq!(read(&summary).exact(), recorded.exact());
    assert!(recorded.exact().is_some());
    summary.metrics.get_mut("rtt").unwrap().exact.clear();
    let older = read(&summary);
    assert_eq!((older.count(), older.exact()), (recorded.count(), None));
    let [found, expected] = [&older, recorded].map(|histogram| histogram.interpolated_us(95.0));
    assert!(
        (found - expected).abs() <= expected * 0.001,
        "{found} of {expected}"
    );
}

fn trend_named_rtt<'a>((definition, value): (&Definition, Value<'a>)) -> Option<&'a Histogram> {
    match value {
        Value::Trend(histogram) if definition.name == "rtt" => Some(histogram),
        _ => None,
    }
}
