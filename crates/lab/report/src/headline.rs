//! What a run carried, in a part of a sentence: the highest load that was held, for how long, and the figures of that time.
//!
//! Each figure is that of the load beside it. If the run held no load, the figures are those of its band with the highest
//! loads; a figure that is known for the whole run only says so.

use crate::{
    Distribution, Highlights, Summary,
    by_load::{ByLoad, Level, LoadUnit, Usage},
    readable,
    summary::{Agent, Losses, Target},
};

/// The least share of a planned rate that is told as that rate.
const AS_PLANNED: f64 = 0.98;

/// `held 200 users for 10 s: p95 of rtt 12.2 ms (4,120 samples), server 0.8 cores and 31 MB; in the whole run 0 lost of
/// 394,029`.
pub(crate) fn course(summary: &Summary, highlights: &Highlights) -> String {
    let seconds = readable::seconds(rounded(summary.metadata.duration_seconds));
    let users = format!(
        "{}{}",
        counted(highlights.users, "user"),
        from_agents(summary, 0.0)
    );
    let Some(by_load) = &summary.by_load else {
        let whole = whole_run(summary, highlights);
        return sentence(&format!("up to {users} in {seconds}"), &[], &whole);
    };
    if let Some(level) = highlights.level.as_ref().filter(|_| highlights.is_held) {
        let load = load(by_load, level);
        let time = readable::seconds(rounded(level.seconds));
        return sentence(
            &format!(
                "held {load}{} for {time}",
                from_agents(summary, level.start_seconds)
            ),
            &figures(summary, by_load, level),
            &losses_of_all(summary, level),
        );
    }
    if highlights.users == 0 && by_load.unit == LoadUnit::Users {
        return format!("no user was active in {seconds}");
    }
    let reached = match by_load.unit {
        LoadUnit::Users => format!("reached {users}, held no load"),
        LoadUnit::IterationsPerSecond => "held no rate".to_owned(),
    };
    match &highlights.level {
        Some(band) => {
            let time = readable::seconds(rounded(band.seconds));
            let within = format!("{reached}: with {} ({time})", range(by_load, band));
            let figures = figures(summary, by_load, band).join(", ");
            sentence(&format!("{within} {figures}"), &[], &losses_of_all(summary, band))
        }
        None => sentence(
            &format!("{reached} in {seconds}"),
            &[],
            &whole_run(summary, highlights),
        ),
    }
}

/// With a capital letter at the beginning.
pub(crate) fn capitalized(sentence: &str) -> String {
    let mut characters = sentence.chars();
    characters.next().map_or_else(String::new, |first| {
        first.to_uppercase().chain(characters).collect()
    })
}

/// What was done, the figures of that time, and those of the whole run.
fn sentence(done: &str, figures: &[String], whole: &[String]) -> String {
    let of_time = if figures.is_empty() {
        String::new()
    } else {
        format!(": {}", figures.join(", "))
    };
    let of_all = if whole.is_empty() {
        String::new()
    } else {
        format!("; in the whole run {}", whole.join(", "))
    };
    format!("{done}{of_time}{of_all}")
}

/// Whole seconds for times that are long enough, tenths for those above a second, and hundredths for shorter ones: 20.4 s
/// were planned as 20 s.
fn rounded(seconds: f64) -> f64 {
    match seconds {
        ..1.0 => (seconds * 100.0).round() / 100.0,
        ..10.0 => (seconds * 10.0).round() / 10.0,
        _ => seconds.round(),
    }
}

fn counted(n: u64, noun: &str) -> String {
    match n {
        1 => format!("1 {noun}"),
        n => format!("{} {noun}s", readable::count(n)),
    }
}

/// The number of agents that were not lost before this second: ` from 3 agents`. Empty for a run of one machine.
fn from_agents(summary: &Summary, second: f64) -> String {
    let stayed = |agent: &&Agent| agent.lost_at_seconds.is_none_or(|lost| lost > second);
    match summary.agents.iter().filter(stayed).count() {
        0 => String::new(),
        n => format!(" from {}", counted(n as u64, "agent")),
    }
}

/// The load of a level: `200 users`, `500 iterations/s`, `431 of 500 planned iterations/s`.
fn load(by_load: &ByLoad, level: &Level) -> String {
    match by_load.unit {
        LoadUnit::Users => counted(level.least.max(0.0) as u64, "user"),
        LoadUnit::IterationsPerSecond => {
            let planned = readable::digits(level.mean);
            let found = level.iterations as f64 / level.seconds.max(f64::MIN_POSITIVE);
            if found >= AS_PLANNED * level.mean {
                format!("{planned} iterations/s")
            } else {
                format!("{} of {planned} planned iterations/s", readable::digits(found))
            }
        }
    }
}

/// The loads of a band: `176 to 200 users`.
fn range(by_load: &ByLoad, band: &Level) -> String {
    let (least, most) = (band.least.max(0.0) as u64, band.most.max(0.0) as u64);
    let noun = match by_load.unit {
        LoadUnit::Users if most == 1 => "user",
        LoadUnit::Users => "users",
        LoadUnit::IterationsPerSecond => "planned iterations/s",
    };
    if least == most {
        format!("{} {noun}", readable::count(most))
    } else {
        format!("{} to {} {noun}", readable::count(least), readable::count(most))
    }
}

/// The figures of a level: latency, losses, and the resource use of the first target with any.
fn figures(summary: &Summary, by_load: &ByLoad, level: &Level) -> Vec<String> {
    let name = by_load.latency.as_deref();
    let latency = name.map(|name| match &level.latency {
        Some(found) => latency_text(name, found),
        None => format!("no sample of {name}"),
    });
    let nothing =
        (name.is_none() && summary.iterations.complete == 0).then(|| "no iteration was completed".to_owned());
    let losses = level.losses.as_ref().map(lost);
    let used = level.targets.iter().find_map(used);
    [latency, nothing, losses, used].into_iter().flatten().collect()
}

/// The figures of a run whose levels are not known.
fn whole_run(summary: &Summary, highlights: &Highlights) -> Vec<String> {
    let latency = highlights.latency_of(summary);
    let latency = latency.map(|(name, found)| latency_text(name, found));
    let losses = summary.losses.as_ref().map(lost);
    let mut targets = summary.targets.iter();
    let used = targets.find_map(|target| Some(format!("{} {}", target.name, usage(target)?)));
    [latency, losses, used].into_iter().flatten().collect()
}

/// The losses of the run, if those of the level are not known.
fn losses_of_all(summary: &Summary, level: &Level) -> Vec<String> {
    let losses = summary.losses.filter(|_| level.losses.is_none());
    losses.as_ref().map(lost).into_iter().collect()
}

fn latency_text(name: &str, found: &Distribution) -> String {
    let (mark, p95) = (found.mark(found.p95), readable::duration(found.p95 as f64));
    format!("p95 of {name} {mark}{p95} ({})", counted(found.count, "sample"))
}

fn lost(losses: &Losses) -> String {
    format!(
        "{} lost of {}",
        readable::count(losses.lost),
        readable::count(losses.expected)
    )
}

fn used(usage: &Usage) -> Option<String> {
    let cores = usage.cores.map(readable::cores);
    let memory = usage.rss_bytes.map(readable::bytes);
    let known: Vec<_> = [cores, memory].into_iter().flatten().collect();
    (!known.is_empty()).then(|| format!("{} {}", usage.name, known.join(" and ")))
}

/// CPU and memory of a target, if known.
pub(crate) fn usage(target: &Target) -> Option<String> {
    let cores = target.cores.map(readable::cores);
    let memory = target.rss_max_bytes.map(|bytes| readable::bytes(bytes as f64));
    let known: Vec<_> = [cores, memory].into_iter().flatten().collect();
    Some(known.join(" and ")).filter(|usage| !usage.is_empty())
}

#[cfg(test)]
mod tests;
