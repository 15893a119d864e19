//! The report for people.

use std::fmt::{self, Write};

use plimsoll_load::histogram::Histogram;
use plimsoll_report::percentile;

use crate::recover::{
    outcome::RecoverOutcome,
    tally::{Round, Ways},
};

/// The most rounds that are listed. Reason: a person reads the first few, and the JSON has all.
const MAX_ROUNDS: usize = 20;

/// The whole report.
pub(crate) fn text(outcome: &RecoverOutcome) -> String {
    let mut text = String::new();
    // A String takes everything.
    let _ = write(&mut text, outcome);
    text
}

fn write(out: &mut String, outcome: &RecoverOutcome) -> fmt::Result {
    let totals = outcome.totals();
    writeln!(out, "Plimsoll {}, recovery benchmark", env!("CARGO_PKG_VERSION"))?;
    writeln!(out, "{}\n", outcome.options.words())?;
    messages(out, outcome, &totals)?;
    beside(out, outcome)?;
    returns(out, outcome, &totals)?;
    times(out, "recovery", &outcome.tally.recovery)?;
    times(out, "reconnect", &outcome.tally.reconnect)?;
    times(out, "broadcast", &outcome.published.rtt)?;
    rounds(out, &outcome.tally.rounds)?;
    writeln!(out, "\nIn {}", outcome.period)?;
    outcome
        .targets
        .iter()
        .for_each(|target| out.push_str(&target.text()));
    for (cause, n) in outcome.tally.failures.by_count() {
        writeln!(out, "failed: {n} × {cause}")?;
    }
    for (cause, n) in outcome.published.failures.by_count() {
        writeln!(out, "failed: {n} × {cause}")?;
    }
    for sentence in outcome.health.sentences() {
        writeln!(out, "{sentence}")?;
    }
    out.push_str(&crate::output::thresholds(&outcome.thresholds));
    for remark in outcome.remarks() {
        writeln!(out, "Note: {remark}")?;
    }
    Ok(())
}

fn messages(out: &mut String, outcome: &RecoverOutcome, totals: &Round) -> fmt::Result {
    let losses = outcome.losses();
    line(
        out,
        "broadcasts",
        &format!(
            "{} sent, {} acknowledged",
            outcome.published.n_sent,
            outcome.published.rtt.count()
        ),
    )?;
    line(
        out,
        "messages",
        &format!("{} expected, {} received", losses.expected, losses.received),
    )?;
    line(
        out,
        "",
        &format!(
            "{} lost, {} duplicated, {} reordered",
            losses.lost, losses.duplicated, losses.out_of_order
        ),
    )?;
    line(
        out,
        "",
        &format!(
            "before the protocol's rule: {} repeated, {} rearranged",
            totals.n_repeated, totals.n_rearranged
        ),
    )
}

/// The clients of the base protocol beside the others.
fn beside(out: &mut String, outcome: &RecoverOutcome) -> fmt::Result {
    let n_beside = outcome.options.n_beside;
    if n_beside == 0 {
        return Ok(());
    }
    let Round {
        n_new,
        n_missed,
        n_lost,
        n_duplicated,
        n_reordered,
        ..
    } = outcome.tally.beside;
    line(
        out,
        "base",
        &format!("{n_beside} clients: {n_new} messages received, {n_missed} missed while away"),
    )?;
    line(
        out,
        "",
        &format!("{n_lost} lost while connected, {n_duplicated} duplicated, {n_reordered} reordered"),
    )
}

fn returns(out: &mut String, outcome: &RecoverOutcome, totals: &Round) -> fmt::Result {
    let Ways {
        n_resumed,
        n_history,
        n_refused,
        n_unanswered,
        n_bare,
    } = totals.ways;
    line(
        out,
        "returns",
        &format!(
            "{} of {} cuts: {n_resumed} resumed, {n_history} by history, {n_refused} refused, {n_unanswered} \
             unanswered, {n_bare} without history",
            totals.ways.total(),
            totals.n_cuts
        ),
    )?;
    line(
        out,
        "",
        &format!(
            "{} whole, {} incomplete",
            totals.n_whole, outcome.tally.n_incomplete
        ),
    )?;
    if outcome.tally.n_dropped > 0 {
        line(
            out,
            "",
            &format!(
                "{} further cuts by the server or the network",
                outcome.tally.n_dropped
            ),
        )?;
    }
    Ok(())
}

fn times(out: &mut String, name: &str, samples: &Histogram) -> fmt::Result {
    if samples.is_empty() {
        return Ok(());
    }
    let ms = |percent| percentile(samples, percent).as_secs_f64() * 1e3;
    let max = samples.max().as_secs_f64() * 1e3;
    line(
        out,
        name,
        &format!(
            "p50 {:.1} ms, p95 {:.1} ms, p99 {:.1} ms, max {max:.1} ms",
            ms(50.0),
            ms(95.0),
            ms(99.0)
        ),
    )
}

/// A row per round: round 0 is before the first cut.
fn rounds(out: &mut String, rounds: &[Round]) -> fmt::Result {
    writeln!(
        out,
        "\n{:<8}{:>9}{:>9}{:>9}{:>9}{:>9}{:>8}{:>11}{:>10}{:>9}",
        "after",
        "returns",
        "resumed",
        "history",
        "refused",
        "whole",
        "lost",
        "duplicated",
        "reordered",
        "repeated"
    )?;
    for (idx, round) in rounds.iter().enumerate().take(MAX_ROUNDS) {
        let name = if idx == 0 {
            "connect".to_owned()
        } else {
            format!("cut {idx}")
        };
        writeln!(
            out,
            "{name:<8}{:>9}{:>9}{:>9}{:>9}{:>9}{:>8}{:>11}{:>10}{:>9}",
            round.ways.total(),
            round.ways.n_resumed,
            round.ways.n_history,
            round.ways.n_refused,
            round.n_whole,
            round.n_lost,
            round.n_duplicated,
            round.n_reordered,
            round.n_repeated
        )?;
    }
    if rounds.len() > MAX_ROUNDS {
        writeln!(
            out,
            "{} further rounds are in the JSON",
            rounds.len() - MAX_ROUNDS
        )?;
    }
    Ok(())
}

fn line(out: &mut String, name: &str, value: &str) -> fmt::Result {
    writeln!(out, "{name:<12}{value}")
}
