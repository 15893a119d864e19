//! From a document to its scenario at one scale.

use std::{collections::HashSet, sync::Arc};

use plimsoll_load::nearest::nearest;
use regex::{Regex, RegexBuilder};

use super::{
    course::{Course, MOST_TURNS},
    expression::evaluate,
    keys::{CONNECTION_OPTIONS, GROUP, VOCABULARIES, Vocabulary},
    scenario::{Action, Connecting, Group, Protocol, Scenario},
    steps::Steps,
};
use crate::document::{Document, Fields, Mistakes, Node, Part, Value};

/// The key of a group of clients.
const CLIENT: &str = "client";

impl Scenario {
    /// Reads a scenario. `scale` is the value of `:scale` in its expressions.
    ///
    /// # Errors
    /// All its mistakes.
    pub fn read(document: &Document, scale: u32) -> Result<Self, Mistakes> {
        let root = document.root();
        let mut groups = groups(&root, scale);
        tell_apart(&mut groups);
        check(&root, &groups);
        document.finish()?;
        Ok(Self {
            file: document.name().to_owned(),
            groups: groups.into_iter().map(Arc::new).collect(),
        })
    }
}

fn groups(root: &Part<'_>, scale: u32) -> Vec<Group> {
    let Some(items) = root.list() else {
        return Vec::new();
    };
    let items: Vec<_> = items.collect();
    let has_clients = items
        .first()
        .is_some_and(|first| first.node().value.get(CLIENT).is_some());
    if !has_clients {
        let course = Course::read(root, Steps::new(Protocol::Base, scale));
        return vec![bare_group("default".to_owned(), 1, course)];
    }
    let (mut groups, mut n_turns) = (Vec::new(), 0);
    for (position, item) in items.iter().enumerate() {
        let Some(mut fields) = item.fields_of(&GROUP) else {
            continue;
        };
        let client = fields.require(CLIENT, "a client, for example client: {actions: [wait_all]}");
        fields.finish();
        let group = client.and_then(|client| group(&client, position, scale));
        let n_own = group.as_ref().map_or(0, |group| group.course.len());
        n_turns += n_own;
        groups.extend(group);
        if n_own > MOST_TURNS {
            // That was reported at its steps.
            break;
        }
        if n_turns > MOST_TURNS {
            item.mistake(format!(
                "the groups up to this one have more than {MOST_TURNS} steps with all repetitions; lower the \
                 multipliers or the --scale"
            ));
            break;
        }
    }
    groups
}

fn bare_group(name: String, n_clients: u32, course: Course) -> Group {
    Group {
        key: name.clone(),
        name,
        n_clients,
        protocol: Protocol::Base,
        ignore: Vec::new(),
        connecting: Connecting::default(),
        steps: course.steps,
        course: course.turns,
        n_samples: course.n_samples,
    }
}

fn group(client: &Part<'_>, position: usize, scale: u32) -> Option<Group> {
    let protocol = written_protocol(client);
    let mut fields = client.fields_of(Vocabulary::of(protocol).client)?;
    let name = fields.get("name").and_then(|part| plain_text(&part));
    let n_clients = fields
        .get("multiplier")
        .map_or(Some(1), |part| evaluate(&part, scale));
    if let Some(part) = fields.get("protocol") {
        check_protocol(&part);
    }
    let ignore = fields.get("ignore").map(|part| ignore(&part)).unwrap_or_default();
    let connecting = fields
        .get("connection_options")
        .and_then(|part| connecting(&part));
    let mut connecting = connecting.unwrap_or_default();
    if protocol == Protocol::Phoenix {
        connecting.add_query("vsn=2.0.0");
    }
    let course = course(&mut fields, Steps::new(protocol, scale));
    fields.finish();
    Some(Group {
        protocol,
        ignore,
        connecting,
        ..bare_group(
            name.unwrap_or_else(|| (position + 1).to_string()),
            n_clients.unwrap_or(1),
            course,
        )
    })
}

/// `actions`, or the older `loop` in their place.
fn course(fields: &mut Fields<'_>, steps: Steps) -> Course {
    match (fields.get("actions"), fields.get("loop")) {
        (Some(_), Some(repeated)) => {
            repeated.mistake(
                "a client cannot have both actions and a loop; write the loop as one of the actions",
            );
            Course::default()
        }
        (Some(actions), None) => Course::read(&actions, steps),
        (None, Some(repeated)) => Course::read_loop(&repeated, steps),
        (None, None) => Course::default(),
    }
}

/// The protocol of a client. Its steps are read even if it is invalid.
fn written_protocol(client: &Part<'_>) -> Protocol {
    let name = client.node().value.get("protocol").map(|node| &node.value);
    let mut known = VOCABULARIES.iter();
    known
        .find(|known| matches!(name, Some(Value::Text(name)) if name == known.name))
        .map_or(Protocol::Base, |known| known.protocol)
}

fn check_protocol(part: &Part<'_>) {
    let Some(name) = part.text() else { return };
    let names = VOCABULARIES.iter().map(|known| known.name);
    if !names.clone().any(|known| known == name) {
        part.mistake(match nearest(name, names) {
            Some(nearest) => format!("`{name}` is not a protocol; did you mean `{nearest}`?"),
            None => format!(
                "`{name}` is not a protocol; expected base, action_cable or phoenix (protocols written in Ruby are \
                 not supported)"
            ),
        });
    }
}

/// A text, or a number as written.
fn plain_text(part: &Part<'_>) -> Option<String> {
    part.read("a text", |value| match value {
        Value::Text(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Boolean(boolean) => Some(boolean.to_string()),
        _ => None,
    })
}

fn ignore(part: &Part<'_>) -> Vec<Regex> {
    match &part.node().value {
        Value::List(_) => {
            let items = part.list().into_iter().flatten();
            items.filter_map(|item| regular_expression(&item)).collect()
        }
        _ => regular_expression(part).into_iter().collect(),
    }
}

/// `/ping/i` or `ping`, with Ruby's tag or without.
fn regular_expression(part: &Part<'_>) -> Option<Regex> {
    part.accept_tag("ruby/regexp");
    let text = part.read(
        "a regular expression, for example /\"type\": ?\"ping\"/",
        |value| match value {
            Value::Text(text) => Some(text.as_str()),
            _ => None,
        },
    )?;
    let slashed = text
        .strip_prefix('/')
        .and_then(|text| text.rsplit_once('/'))
        .filter(|(_, flags)| flags.chars().all(|flag| "imx".contains(flag)));
    let (pattern, flags) = slashed.unwrap_or((text, ""));
    let regex = RegexBuilder::new(pattern)
        .case_insensitive(flags.contains('i'))
        .dot_matches_new_line(flags.contains('m'))
        .ignore_whitespace(flags.contains('x'))
        // In Ruby these always are the ends of lines.
        .multi_line(true)
        .build();
    regex
        .map_err(|error| part.mistake(format!("this is not a regular expression: {error}")))
        .ok()
}

fn connecting(part: &Part<'_>) -> Option<Connecting> {
    let mut fields = part.fields_of(&CONNECTION_OPTIONS)?;
    let mut headers = pairs(fields.get("headers"));
    let cookies = pairs(fields.get("cookies")).into_iter();
    let cookies: Vec<_> = cookies
        .map(|(name, value)| format!("{}={}", escaped(&name), escaped(&value)))
        .collect();
    if !cookies.is_empty() {
        headers.push(("Cookie".to_owned(), cookies.join("; ")));
    }
    let query = pairs(fields.get("query")).into_iter();
    let query: Vec<_> = query
        .map(|(name, value)| format!("{}={}", escaped(&name), escaped(&value)))
        .collect();
    let subprotocol = fields.get("subprotocol").and_then(|part| part.text());
    fields.finish();
    Some(Connecting {
        headers,
        query: query.join("&"),
        subprotocol: subprotocol.map(str::to_owned),
    })
}

/// The names and values of a map of texts.
fn pairs(part: Option<Part<'_>>) -> Vec<(String, String)> {
    let fields = part.and_then(|part| part.fields());
    let pairs = fields
        .into_iter()
        .flat_map(|fields| fields.all().collect::<Vec<_>>());
    pairs
        .filter_map(|(name, part)| Some((name.to_owned(), plain_text(&part)?)))
        .collect()
}

fn escaped(text: &str) -> String {
    form_urlencoded::byte_serialize(text.as_bytes()).collect()
}

/// Gives groups that share a name keys of their own: `listener`, `listener (2)`.
fn tell_apart(groups: &mut [Group]) {
    let mut taken: HashSet<String> = groups.iter().map(|group| group.name.clone()).collect();
    let mut used = HashSet::new();
    for group in groups {
        let mut number = 2_usize;
        while !used.insert(group.key.clone()) {
            group.key = format!("{} ({number})", group.name);
            number += 1;
            if !taken.insert(group.key.clone()) {
                // Another group has this as its name.
                group.key.clone_from(&group.name);
            }
        }
    }
}

/// What can only be judged of all groups together.
fn check(root: &Part<'_>, groups: &[Group]) {
    if !groups.is_empty() && groups.iter().all(|group| group.n_clients == 0) {
        root.mistake(
            "no group has a client at this scale; expected a multiplier of at least 1, or a larger --scale",
        );
    }
    let n_barriers = |group: &Group| {
        let is_barrier = |step: u32| matches!(group.steps[step as usize].action, Action::WaitAll);
        group.course.iter().filter(|turn| is_barrier(turn.step)).count()
    };
    let mut counts = groups.iter().filter(|group| group.n_clients > 0);
    let Some(first) = counts.next() else { return };
    for other in counts.filter(|other| n_barriers(other) != n_barriers(first)) {
        root.mistake(format!(
            "group {} meets at wait_all {} times and group {} {} times, so some clients would wait forever; expected \
             the same number for all groups",
            first.name,
            n_barriers(first),
            other.name,
            n_barriers(other)
        ));
    }
}

/// A node as JSON text.
pub(super) fn json_text(node: &Node) -> String {
    serde_json::to_string(node).expect("keys are texts, and numbers are JSON's")
}
