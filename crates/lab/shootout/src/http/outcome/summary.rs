//! A run of `http` as a summary.

use plimsoll_report::{
    Summary,
    summary::{End, Generator, Iterations, Measured, Origin, Threshold},
};

use super::HttpOutcome;
use crate::http::{self, threshold::Finding};

impl HttpOutcome {
    /// The title of the run for people: the command and its target.
    pub fn name(&self) -> String {
        http::name(&self.setting.url)
    }

    /// Everything there is to say about the run.
    pub fn summarize(&self, origin: Origin<'_>) -> Summary {
        let chronicle = &self.chronicle;
        Summary::of_measured(Measured {
            origin,
            started_at: self.began,
            seconds: self.elapsed.as_secs_f64(),
            plan: self.plan.clone(),
            n_workers: self.setting.n_workers,
            end: match &self.trouble {
                Some(reason) => End::Aborted {
                    reason: reason.clone(),
                },
                None if self.is_interrupted => End::Shutdown,
                None => End::Complete,
            },
            thresholds: self.findings.iter().map(threshold).collect(),
            notices: self.remarks(),
            iterations: Iterations {
                complete: chronicle.n_complete,
                interrupted: self.n_abandoned,
                failed: chronicle.n_failed,
                failures: Vec::new(),
            },
            metrics: &chronicle.metrics,
            steps: Vec::new(),
            timeline: chronicle.timeline.clone(),
            legs: chronicle.legs.clone(),
            levels: Vec::new(),
            losses: None,
            in_flight: Vec::new(),
            targets: self.targets.clone(),
            generator: Generator::new(self.period.evidence(), &self.health, chronicle.generator.clone()),
        })
    }
}

/// The threshold in the form of summaries.
pub(crate) fn threshold(finding: &Finding) -> Threshold {
    let (metric, expression) = finding.threshold.split_once(':').unwrap_or_default();
    Threshold {
        metric: metric.to_owned(),
        key: finding.metric.to_owned(),
        expression: expression.to_owned(),
        aggregation: finding.aggregation.clone(),
        value: Some(finding.value),
        passed: finding.passed,
        aborted: false,
    }
}
