//! The health of a fleet: several generators, the agents, that make one load together.

use super::judgement::Health;

impl Health {
    /// The health of all agents together, each of which comes with its name. It is doubtful if that of any agent is. The
    /// doubt is the worst one, and the bound the largest.
    ///
    /// Every sentence begins with the name of its agent. The agents with the worst doubts come first.
    pub fn of_agents<'a>(agents: impl IntoIterator<Item = (&'a str, Self)>) -> Self {
        let mut agents: Vec<_> = agents.into_iter().collect();
        // The order of agents with the same doubt stays.
        agents.sort_by_key(|(_, health)| (health.doubt.is_none(), health.doubt));
        let bounds = agents.iter().filter_map(|(_, health)| health.lateness_bound_ms);
        let reasons = agents
            .iter()
            .flat_map(|(name, health)| health.reasons.iter().map(|reason| of_agent(name, reason)));
        let other_programs: Vec<_> = agents
            .iter()
            .filter_map(|(name, health)| Some(of_agent(name, health.other_programs.as_ref()?)))
            .collect();
        Self {
            doubtful: agents.iter().any(|(_, health)| health.doubtful),
            doubt: agents.iter().find_map(|(_, health)| health.doubt),
            reasons: reasons.collect(),
            lateness_bound_ms: bounds.reduce(f64::max),
            other_programs: (!other_programs.is_empty()).then(|| other_programs.join("; ")),
        }
    }
}

/// The sentence with the name of its agent: `agent a2: other programs on this machine took 0.50 cores`.
fn of_agent(name: &str, sentence: &str) -> String {
    format!("agent {name}: {sentence}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generator::Doubt;

    fn calm(lateness_bound_ms: Option<f64>) -> Health {
        Health {
            lateness_bound_ms,
            ..Health::default()
        }
    }

    fn doubtful(doubt: Doubt, reasons: &[&str]) -> Health {
        Health {
            doubtful: true,
            doubt: Some(doubt),
            reasons: reasons.iter().map(|&reason| reason.to_owned()).collect(),
            ..Health::default()
        }
    }

    fn beside(program: &str) -> Health {
        Health {
            other_programs: Some(format!("other programs on this machine took {program}")),
            ..Health::default()
        }
    }

    fn check(agents: &[(&str, Health)], expected: &Health) {
        assert_eq!(Health::of_agents(agents.to_vec()), *expected, "{agents:?}");
    }

    #[test]
    fn a_fleet_is_doubtful_if_one_agent_is() {
        check(&[], &Health::default());
        check(&[("a1", calm(None)), ("a2", calm(None))], &Health::default());
        check(
            &[
                ("a1", calm(None)),
                ("a2", doubtful(Doubt::Late, &["it was late"])),
            ],
            &doubtful(Doubt::Late, &["agent a2: it was late"]),
        );
    }

    #[test]
    fn the_worst_doubt_comes_first() {
        check(
            &[
                ("a1", doubtful(Doubt::Dropped, &["it dropped"])),
                ("a2", calm(None)),
                ("a3", doubtful(Doubt::Busy, &["it was busy", "it was late"])),
                ("a4", doubtful(Doubt::Late, &["it was late"])),
                ("a5", doubtful(Doubt::Busy, &["it was busy"])),
            ],
            &doubtful(
                Doubt::Busy,
                &[
                    "agent a3: it was busy",
                    "agent a3: it was late",
                    "agent a5: it was busy",
                    "agent a4: it was late",
                    "agent a1: it dropped",
                ],
            ),
        );
    }

    #[test]
    fn the_bound_is_the_largest() {
        for (bounds, expected) in [
            ([None, None], None),
            ([Some(1.5), None], Some(1.5)),
            ([Some(1.5), Some(20.0)], Some(20.0)),
            ([Some(20.0), Some(1.5)], Some(20.0)),
        ] {
            check(&bounds.map(|bound| ("a", calm(bound))), &calm(expected));
        }
    }

    #[test]
    fn other_programs_have_the_name_of_their_machine() {
        check(
            &[
                ("a1", beside("1 core")),
                ("a2", calm(None)),
                ("a3", beside("2 cores")),
            ],
            &Health {
                other_programs: Some(
                    "agent a1: other programs on this machine took 1 core; \
                     agent a3: other programs on this machine took 2 cores"
                        .to_owned(),
                ),
                ..Health::default()
            },
        );
    }
}
