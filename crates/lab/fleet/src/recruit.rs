//! Finding agents, and reserving as many as a run needs.

use std::{collections::BTreeMap, time::Duration};

use futures_util::StreamExt;
use tokio::time::{Instant, MissedTickBehavior, interval, sleep_until};

use crate::{
    FleetError,
    crew::{Crew, Member},
    link::Link,
    message::{Answer, Order, PROTOCOL, Profile, Request},
    observers::Observers,
};

/// The pause between two calls for agents.
const CALL_EVERY: Duration = Duration::from_millis(500);

/// How long an agent that answered may take to be reserved.
pub(crate) const ANSWER_WITHIN: Duration = Duration::from_secs(10);

/// How long a run waits for agents that watch, when there are enough of the others. Reason: all are called at the same
/// time, and answer at once.
const MORE_WITHIN: Duration = Duration::from_millis(500);

/// The most agents that are listed.
const MAX_AGENTS: usize = 1_000;

/// What a run needs of a fleet.
#[derive(Clone, Debug)]
pub struct Terms {
    /// The number of the run.
    pub run: String,
    /// How many agents.
    pub n_agents: usize,
    /// How long to wait for them.
    pub patience: Duration,
    /// The version that they must have.
    pub version: String,
    /// The fleet in words, for errors: its name and its servers.
    pub fleet: String,
}

/// The agents that answer within `patience`, by name. Ends as soon as `is_enough`.
///
/// # Errors
/// The connection cannot be used.
pub async fn profiles(
    link: &Link,
    patience: Duration,
    is_enough: impl Fn(&[Profile]) -> bool,
) -> Result<Vec<Profile>, FleetError> {
    roll_call(link, patience, Duration::ZERO, is_enough).await
}

/// As [`profiles`], and goes on for a while when it `is_enough`.
async fn roll_call(
    link: &Link,
    patience: Duration,
    more_within: Duration,
    is_enough: impl Fn(&[Profile]) -> bool,
) -> Result<Vec<Profile>, FleetError> {
    let inbox = link.inbox();
    let mut answers = link.subscribe(inbox.clone()).await?;
    let mut calls = interval(CALL_EVERY);
    calls.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut deadline = Instant::now() + patience;
    let mut was_enough = false;
    let mut found: BTreeMap<(String, String), Profile> = BTreeMap::new();
    loop {
        tokio::select! {
            _ = calls.tick() => link.scatter(link.hello(), inbox.clone()).await?,
            Some(answer) = answers.next() => {
                let profile = serde_json::from_slice::<Profile>(&answer.payload).ok();
                if let Some(profile) = profile.filter(|_| found.len() < MAX_AGENTS) {
                    found.insert((profile.name.clone(), profile.id.clone()), profile);
                }
                if !was_enough {
                    let all: Vec<_> = found.values().cloned().collect();
                    was_enough = is_enough(&all);
                    if was_enough && more_within.is_zero() {
                        return Ok(all);
                    }
                    if was_enough {
                        deadline = deadline.min(Instant::now() + more_within);
                    }
                }
            }
            () = sleep_until(deadline) => return Ok(found.into_values().collect()),
        }
    }
}

/// The agents of a run.
pub struct Recruited {
    /// Those that make the load. They are reserved.
    pub crew: Crew,
    /// Those that watch.
    pub observers: Observers,
}

/// Reserves the agents of a run: the first by name of those that are free and have the right version. Agents that watch are
/// not counted, and come along.
///
/// # Errors
/// There are too few, or one of them refuses.
pub async fn recruit(link: Link, terms: &Terms) -> Result<Recruited, FleetError> {
    let is_fit = |profile: &Profile| profile.watches.is_empty() && unfitness(profile, terms).is_none();
    let is_enough = |all: &[Profile]| all.iter().filter(|it| is_fit(it)).count() >= terms.n_agents;
    let found = roll_call(&link, terms.patience, MORE_WITHIN, is_enough).await?;
    if !is_enough(&found) {
        return Err(FleetError::TooFew(too_few(&found, terms)));
    }
    let (watching, found): (Vec<_>, Vec<_>) =
        found.into_iter().partition(|profile| !profile.watches.is_empty());
    for profile in &found {
        if let Some(reason) = unfitness(profile, terms) {
            tracing::warn!("Agent {} takes no part: {reason}.", profile.name);
        }
    }
    let chosen = found.into_iter().filter(is_fit);
    let mut members = Vec::new();
    for profile in chosen.take(terms.n_agents) {
        match reserve(&link, &terms.run, &terms.version, &profile).await {
            Ok(nonce) => members.push(Member::new(profile, nonce)),
            Err(error) => {
                release(&link, &terms.run, &members).await;
                return Err(error);
            }
        }
    }
    tell_apart(&mut members);
    let with_fitness = |profile| {
        let reason = unfitness(&profile, terms);
        (profile, reason)
    };
    let observers = Observers {
        run: terms.run.clone(),
        version: terms.version.clone(),
        profiles: watching.into_iter().map(with_fitness).collect(),
    };
    let crew = Crew::new(link, terms.run.clone(), members).await?;
    Ok(Recruited { crew, observers })
}

/// Gives agents with the same name different ones.
pub(crate) fn tell_apart(members: &mut [Member]) {
    let mut known: BTreeMap<String, usize> = BTreeMap::new();
    for member in members {
        let n = known.entry(member.profile.name.clone()).or_default();
        *n += 1;
        if *n > 1 {
            member.profile.name = format!("{}-{n}", member.profile.name);
        }
    }
}

async fn reserve(link: &Link, run: &str, version: &str, profile: &Profile) -> Result<String, FleetError> {
    reserve_within(link, run, version, profile, ANSWER_WITHIN).await
}

/// Reserves an agent within this time. Returns the word that its package has to be signed for.
pub(crate) async fn reserve_within(
    link: &Link,
    run: &str,
    version: &str,
    profile: &Profile,
    patience: Duration,
) -> Result<String, FleetError> {
    let request = Request {
        run: run.to_owned(),
        order: Order::Reserve {
            version: version.to_owned(),
            protocol: PROTOCOL,
        },
    };
    let answer = link
        .ask_in_json(link.agent(&profile.id), &request, patience)
        .await;
    match answer.map_err(|error| FleetError::of(&profile.name, error))? {
        Answer::Reserved { nonce } => Ok(nonce),
        Answer::Refused { reason } => Err(FleetError::of(&profile.name, reason)),
        Answer::Done | Answer::Time { .. } => {
            Err(FleetError::of(&profile.name, "it gave an unexpected answer"))
        }
    }
}

async fn release(link: &Link, run: &str, members: &[Member]) {
    for member in members {
        let request = Request {
            run: run.to_owned(),
            order: Order::Release,
        };
        let asked = link.ask_in_json::<_, Answer>(link.agent(&member.profile.id), &request, ANSWER_WITHIN);
        // An agent that does not hear it ends without the coordinator's beats.
        drop(asked.await);
    }
}

/// Why an agent cannot take part.
fn unfitness(profile: &Profile, terms: &Terms) -> Option<String> {
    if profile.version != terms.version || profile.protocol != PROTOCOL {
        return Some(format!(
            "it has version {}, and this is {}",
            profile.version, terms.version
        ));
    }
    profile
        .busy_with
        .as_ref()
        .map(|run| format!("it works for run {run}"))
}

fn too_few(found: &[Profile], terms: &Terms) -> String {
    let n_fit = found
        .iter()
        .filter(|profile| profile.watches.is_empty() && unfitness(profile, terms).is_none())
        .count();
    let unfit = found.iter().filter_map(|profile| {
        let reason = if profile.watches.is_empty() {
            unfitness(profile, terms)?
        } else {
            format!("it watches {} and makes no load", profile.watches.join(", "))
        };
        Some(format!("; agent {}: {reason}", profile.name))
    });
    format!(
        "{n_fit} of {} agents came within {} s in the fleet {}{}. Start agents with `plimsoll agent --fleet ADDRESS`, \
         and see who is there with `plimsoll agents --fleet ADDRESS`",
        terms.n_agents,
        terms.patience.as_secs(),
        terms.fleet,
        unfit.collect::<String>(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn profile(name: &str, version: &str, busy_with: Option<&str>) -> Profile {
        Profile {
            id: name.to_owned(),
            name: name.to_owned(),
            version: version.to_owned(),
            protocol: PROTOCOL,
            cores: 2,
            memory_bytes: None,
            open_files: None,
            busy_with: busy_with.map(str::to_owned),
            watches: Vec::new(),
            is_private: true,
        }
    }

    #[test]
    fn an_error_says_who_was_there_and_why_it_was_not_enough() {
        let terms = Terms {
            run: "r2".to_owned(),
            n_agents: 3,
            patience: Duration::from_secs(5),
            version: "0.1.0".to_owned(),
            fleet: "`default` at nats://h:4222".to_owned(),
        };
        let found = [
            profile("a1", "0.1.0", None),
            profile("a2", "0.1.0", Some("r1")),
            profile("a3", "0.0.9", None),
            Profile {
                watches: vec![":80".to_owned(), "redis".to_owned()],
                ..profile("db", "0.1.0", None)
            },
        ];
        assert_eq!(
            too_few(&found, &terms),
            "1 of 3 agents came within 5 s in the fleet `default` at nats://h:4222; agent a2: it works for run r1; \
             agent a3: it has version 0.0.9, and this is 0.1.0; agent db: it watches :80, redis and makes no load. Start agents with `plimsoll agent --fleet ADDRESS`, \
             and see who is there with `plimsoll agents --fleet ADDRESS`"
        );
    }

    #[test]
    fn agents_of_one_name_are_told_apart() {
        let mut members: Vec<_> = ["a", "b", "a", "a"]
            .map(|name| Member::new(profile(name, "1", None), String::new()))
            .into();
        tell_apart(&mut members);
        let names: Vec<_> = members
            .iter()
            .map(|member| member.profile.name.as_str())
            .collect();
        assert_eq!(names, ["a", "b", "a-2", "a-3"]);
    }
}
