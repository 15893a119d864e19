//! Companies and jobs.

use super::names::LAST_NAMES;
use crate::{
    function::{Function, plain, text, word},
    generator::Generator,
    parameter::Kind,
    prose::capitalized,
    value::Value,
    words::{Words, words},
};

pub(super) const FUNCTIONS: &[Function] = &[
    word("blurb", BLURBS),
    word("bs", QUALITIES),
    word("buzzword", BUZZWORDS),
    text("company", name),
    word("companySuffix", SUFFIXES),
    plain("job", Kind::Object, job),
    word("jobDescriptor", DESCRIPTORS),
    word("jobLevel", LEVELS),
    word("jobTitle", JOBS),
    text("slogan", slogan),
];

const BLURBS: Words = words(
    "Care, Courage, Craft, Focus, Growth, Honesty, Patience, Pride, Quality, Reach, Service, Trust, Value",
);
const QUALITIES: Words = words(
    "agile, all-in-one, around-the-clock, customer-led, data-driven, frictionless, hands-on, industry-wide, \
     low-touch, next-level, paperless, scalable, turn-key, world-class",
);
const BUZZWORDS: Words = words(
    "alignment, bandwidth, benchmark, blueprint, convergence, ecosystem, enablement, framework, insight, \
     leverage, mindshare, outreach, pipeline, platform, roadmap, stakeholder, synergy, touchpoint, workflow",
);
const SUFFIXES: Words = words("AG, and Partners, and Sons, Corp, Group, Inc, Ltd, LLC");
const DESCRIPTORS: Words = words(
    "Acting, Assistant, Chief, Deputy, Group, Head, Interim, Junior, Lead, Principal, Regional, Senior",
);
const LEVELS: Words = words(
    "Accounts, Assembly, Branding, Communications, Compliance, Logistics, Marketing, Operations, \
     Procurement, Quality, Research, Sales, Security, Support, Training",
);
/// Professions.
pub const JOBS: Words = words(
    "Accountant, Analyst, Architect, Baker, Carpenter, Consultant, Designer, Developer, Director, Editor, \
     Electrician, Engineer, Gardener, Librarian, Manager, Nurse, Pilot, Planner, Teacher, Technician, \
     Translator",
);

/// The name of a company: `Baker and Clark`.
pub fn name(generator: &mut Generator) -> String {
    format!(
        "{} and {}",
        generator.pick(LAST_NAMES),
        generator.pick(LAST_NAMES)
    )
}

pub(super) fn job(generator: &mut Generator) -> Value {
    Value::object([
        ("company", name(generator).into()),
        ("title", generator.pick(JOBS).into()),
        ("descriptor", generator.pick(DESCRIPTORS).into()),
        ("level", generator.pick(LEVELS).into()),
    ])
}

fn slogan(generator: &mut Generator) -> String {
    let quality = capitalized(generator.pick(QUALITIES));
    let (buzzword, blurb) = (generator.pick(BUZZWORDS), generator.pick(BLURBS));
    format!("{quality} {buzzword}. {blurb}.")
}
