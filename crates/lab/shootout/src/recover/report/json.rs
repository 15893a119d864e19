//! A run as one JSON object.

use std::collections::BTreeMap;

use plimsoll_load::generator::Health;
use plimsoll_report::{
    Distribution, rfc3339,
    summary::{Losses, Target, Threshold},
};
use serde::Serialize;

use crate::{
    meter::{Watched, seconds},
    recover::{
        cost::Costs,
        outcome::RecoverOutcome,
        tally::{Round, Tally},
    },
};

#[derive(Serialize)]
struct Document<'a> {
    version: &'static str,
    workload: &'static str,
    url: String,
    protocol: &'static str,
    began: String,
    seconds: f64,
    clients: usize,
    ready: u64,
    streams: usize,
    workers: usize,
    rate: f64,
    duration_seconds: f64,
    cuts_per_client: u32,
    away_seconds: f64,
    herd: bool,
    broadcasts: u64,
    broadcasts_failed: u64,
    messages: Losses,
    repeated: u64,
    rearranged: u64,
    foreign: u64,
    cuts: u64,
    dropped: u64,
    returns: Returns,
    failed_attempts: u64,
    recovery_us: Distribution,
    reconnect_us: Distribution,
    connect_us: Distribution,
    broadcast_us: Distribution,
    rounds: Vec<RoundObject>,
    base: Option<Base>,
    cost: Costs,
    causes: BTreeMap<String, u64>,
    thresholds: &'a [Threshold],
    generator: GeneratorObject<'a>,
    watch: Option<Watched>,
    targets: &'a [Target],
    interrupted: bool,
    faulty: bool,
    notes: Vec<String>,
}

#[derive(Serialize)]
struct Returns {
    total: u64,
    resumed: u64,
    history: u64,
    refused: u64,
    unanswered: u64,
    without_history: u64,
    whole: u64,
    incomplete: u64,
}

#[derive(Serialize)]
struct RoundObject {
    round: usize,
    cuts: u64,
    resumed: u64,
    history: u64,
    refused: u64,
    unanswered: u64,
    without_history: u64,
    whole: u64,
    received: u64,
    lost: u64,
    duplicated: u64,
    reordered: u64,
    repeated: u64,
    rearranged: u64,
}

/// Clients of the base protocol beside the others.
#[derive(Serialize)]
struct Base {
    clients: usize,
    ready: u64,
    cuts: u64,
    returns: u64,
    received: u64,
    missed: u64,
    lost: u64,
    duplicated: u64,
    reordered: u64,
}

#[derive(Serialize)]
struct GeneratorObject<'a> {
    cpu_seconds: f64,
    #[serde(flatten)]
    health: &'a Health,
}

/// The document, with a line feed at the end.
pub(crate) fn document(outcome: &RecoverOutcome) -> String {
    let text = serde_json::to_string_pretty(&object(outcome))
        .expect("numbers, texts and maps with text keys always serialize");
    text + "\n"
}

fn object(outcome: &RecoverOutcome) -> Document<'_> {
    let (options, tally, totals) = (&outcome.options, &outcome.tally, outcome.totals());
    let cuts = options.timetable.cuts();
    let causes = [&tally.failures, &outcome.published.failures];
    Document {
        version: env!("CARGO_PKG_VERSION"),
        workload: "recover",
        url: options.target.to_string(),
        protocol: options.protocol.name(),
        began: rfc3339(outcome.began),
        seconds: outcome.elapsed.as_secs_f64(),
        clients: options.n_clients,
        ready: tally.n_opened,
        streams: options.n_streams,
        workers: outcome.n_workers,
        rate: options.schedule.rate().per_second(),
        duration_seconds: options.schedule.duration().as_secs_f64(),
        cuts_per_client: cuts.n_cuts,
        away_seconds: cuts.away.as_secs_f64(),
        herd: cuts.is_herd,
        broadcasts: outcome.published.n_sent,
        broadcasts_failed: outcome.published.failures.total(),
        messages: outcome.losses(),
        repeated: totals.n_repeated,
        rearranged: totals.n_rearranged,
        foreign: tally.n_foreign,
        cuts: totals.n_cuts,
        dropped: tally.n_dropped,
        returns: Returns {
            total: totals.ways.total(),
            resumed: totals.ways.n_resumed,
            history: totals.ways.n_history,
            refused: totals.ways.n_refused,
            unanswered: totals.ways.n_unanswered,
            without_history: totals.ways.n_bare,
            whole: totals.n_whole,
            incomplete: tally.n_incomplete,
        },
        failed_attempts: tally.n_failed_attempts,
        recovery_us: Distribution::from(&tally.recovery),
        reconnect_us: Distribution::from(&tally.reconnect),
        connect_us: Distribution::from(&tally.connect),
        broadcast_us: Distribution::from(&outcome.published.rtt),
        rounds: tally.rounds.iter().enumerate().map(round).collect(),
        base: (options.n_beside > 0).then(|| base(options.n_beside, tally)),
        cost: outcome.costs,
        causes: causes.iter().flat_map(|causes| causes.by_count()).collect(),
        thresholds: &outcome.thresholds,
        generator: GeneratorObject {
            cpu_seconds: seconds(outcome.period.generator_cpu),
            health: &outcome.health,
        },
        watch: outcome.period.watched,
        targets: &outcome.targets,
        interrupted: outcome.is_interrupted,
        faulty: outcome.is_faulty(),
        notes: outcome.remarks(),
    }
}

fn base(n_clients: usize, tally: &Tally) -> Base {
    let counts = &tally.beside;
    Base {
        clients: n_clients,
        ready: tally.n_beside_opened,
        cuts: counts.n_cuts,
        returns: counts.ways.total(),
        received: counts.n_new,
        missed: counts.n_missed,
        lost: counts.n_lost,
        duplicated: counts.n_duplicated,
        reordered: counts.n_reordered,
    }
}

fn round((idx, round): (usize, &Round)) -> RoundObject {
    RoundObject {
        round: idx,
        cuts: round.n_cuts,
        resumed: round.ways.n_resumed,
        history: round.ways.n_history,
        refused: round.ways.n_refused,
        unanswered: round.ways.n_unanswered,
        without_history: round.ways.n_bare,
        whole: round.n_whole,
        received: round.n_new,
        lost: round.n_lost,
        duplicated: round.n_duplicated,
        reordered: round.n_reordered,
        repeated: round.n_repeated,
        rearranged: round.n_rearranged,
    }
}
