//! StatsD's text protocol, with the three tag formats of its servers.
//!
//! Source: <https://github.com/statsd/statsd/blob/master/docs/metric_types.md>. A gauge with a sign is a change of the
//! gauge there, so negative levels, which do not occur here, are sent as 0.

use std::{fmt::Write, str::FromStr};

use crate::{Amount, Reading, Tags};

/// The format of packets.
#[derive(Debug, Clone)]
pub struct StatsdFormat {
    /// The prefix of every name, for example `anycable_go.`.
    pub prefix: String,
    /// The most bytes in a packet: what a network carries in one piece. A longer line is sent in a packet of its own.
    pub max_packet_bytes: usize,
    /// How labels and tags are written. `None`: labels become parts of the name, and tags are left out.
    pub tags_format: Option<TagsFormat>,
    /// Tags of every metric.
    pub tags: Tags,
}

/// A server's tag format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TagsFormat {
    /// `name:1|c|#tag:value,…`
    Datadog,
    /// `name,tag=value,…:1|c`
    Influxdb,
    /// `name;tag=value;…:1|c`
    Graphite,
}

/// A name that is not a tag format.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not a format of tags; expected datadog, influxdb or graphite")]
pub struct UnknownTagsFormat(String);

impl FromStr for TagsFormat {
    type Err = UnknownTagsFormat;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "datadog" => Ok(Self::Datadog),
            "influxdb" => Ok(Self::Influxdb),
            "graphite" => Ok(Self::Graphite),
            _ => Err(UnknownTagsFormat(text.to_owned())),
        }
    }
}

impl StatsdFormat {
    /// Writes readings into packets, one line each. Counters that did not grow are left out.
    pub fn packets(&self, readings: &[Reading]) -> Vec<String> {
        let mut packets = Vec::<String>::new();
        let told = readings
            .iter()
            .filter(|reading| reading.amount != Amount::Increase(0));
        for line in told.map(|reading| self.line(reading)) {
            match packets.last_mut() {
                Some(packet) if packet.len() + 1 + line.len() <= self.max_packet_bytes => {
                    packet.push('\n');
                    packet.push_str(&line);
                }
                _ => packets.push(line),
            }
        }
        packets
    }

    fn line(&self, reading: &Reading) -> String {
        let own = reading.labels.iter().map(|(name, value)| (*name, value.as_str()));
        let tags = self
            .tags
            .iter()
            .filter(|(name, _)| reading.labels.iter().all(|(known, _)| known != name));
        let tags: Vec<_> = own
            .clone()
            .chain(tags)
            .map(|(name, value)| (name, clean(value)))
            .collect();
        let name = format!("{}{}", self.prefix, reading.name);
        let value = match reading.amount {
            Amount::Increase(n) => format!("{n}|c"),
            Amount::Level(n) => format!("{}|g", n.max(0.0)),
        };
        match self.tags_format {
            None => {
                let labels: String = own.map(|(_, value)| format!(".{}", clean(value))).collect();
                format!("{name}{labels}:{value}")
            }
            Some(TagsFormat::Datadog) if tags.is_empty() => format!("{name}:{value}"),
            Some(TagsFormat::Datadog) => {
                let tags: Vec<_> = tags
                    .iter()
                    .map(|(name, value)| format!("{name}:{value}"))
                    .collect();
                format!("{name}:{value}|#{}", tags.join(","))
            }
            Some(TagsFormat::Influxdb) => format!("{name}{}:{value}", behind(',', &tags)),
            Some(TagsFormat::Graphite) => format!("{name}{}:{value}", behind(';', &tags)),
        }
    }
}

/// `,name=value,name=value`
fn behind(separator: char, tags: &[(&str, String)]) -> String {
    let mut text = String::new();
    for (name, value) in tags {
        write!(text, "{separator}{name}={value}").expect("a String takes everything");
    }
    text
}

/// Removes the characters that the protocol or one of the tag formats uses itself.
fn clean(value: &str) -> String {
    let is_reserved = |c: char| matches!(c, ':' | '|' | '#' | ',' | ';' | '=' | '@') || c.is_whitespace();
    value.replace(is_reserved, "_")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn format(tags_format: Option<TagsFormat>, tags: &str, max_packet_bytes: usize) -> StatsdFormat {
        StatsdFormat {
            prefix: "p.".to_owned(),
            max_packet_bytes,
            tags_format,
            tags: tags.parse().expect("tags"),
        }
    }

    fn reading(name: &str, labels: &[(&'static str, &str)], amount: Amount) -> Reading {
        Reading {
            name: name.to_owned(),
            labels: labels
                .iter()
                .map(|(name, value)| (*name, (*value).to_owned()))
                .collect(),
            amount,
        }
    }

    #[test]
    fn tags_are_written_as_the_server_takes_them() {
        let refused = reading("refused_total", &[("reason", "full")], Amount::Increase(2));
        let level = reading("clients_num", &[], Amount::Level(7.0));
        for (tags_format, tags, expected) in [
            (None, "env:x", "p.refused_total.full:2|c\np.clients_num:7|g"),
            (
                Some(TagsFormat::Datadog),
                "env:a|b c",
                "p.refused_total:2|c|#reason:full,env:a_b_c\np.clients_num:7|g|#env:a_b_c",
            ),
            (
                Some(TagsFormat::Datadog),
                "",
                "p.refused_total:2|c|#reason:full\np.clients_num:7|g",
            ),
            (
                Some(TagsFormat::Influxdb),
                "env:x,region:eu",
                "p.refused_total,reason=full,env=x,region=eu:2|c\np.clients_num,env=x,region=eu:7|g",
            ),
            (
                Some(TagsFormat::Graphite),
                "reason:mine",
                "p.refused_total;reason=full:2|c\np.clients_num;reason=mine:7|g",
            ),
        ] {
            let packets = format(tags_format, tags, 1_400).packets(&[refused.clone(), level.clone()]);
            assert_eq!(packets, [expected], "{tags_format:?}");
        }
    }

    #[test]
    fn formats_have_names() {
        for (name, expected) in [
            ("datadog", Ok(TagsFormat::Datadog)),
            ("influxdb", Ok(TagsFormat::Influxdb)),
            ("graphite", Ok(TagsFormat::Graphite)),
            (
                "Datadog",
                Err(
                    r#""Datadog" is not a format of tags; expected datadog, influxdb or graphite"#.to_owned(),
                ),
            ),
        ] {
            assert_eq!(
                name.parse::<TagsFormat>().map_err(|error| error.to_string()),
                expected
            );
        }
    }

    #[test]
    fn values_keep_nothing_that_a_server_takes_for_its_own() {
        for reserved in [":", "|", "#", ",", ";", "=", "@", " ", "\t", "\n"] {
            assert_eq!(clean(&format!("a{reserved}b")), "a_b", "{reserved:?}");
        }
        assert_eq!(clean("a.b-c_1"), "a.b-c_1");
    }

    #[test]
    fn packets_are_bounded_and_what_did_not_happen_is_left_out() {
        let readings: Vec<_> = (0..5).map(|n| reading("a", &[], Amount::Increase(n))).collect();
        let packets = |max| format(None, "", max).packets(&readings);
        assert_eq!(packets(15), ["p.a:1|c\np.a:2|c", "p.a:3|c\np.a:4|c"]);
        assert_eq!(packets(14), ["p.a:1|c", "p.a:2|c", "p.a:3|c", "p.a:4|c"]);
        assert_eq!(packets(1), packets(14));
        let negative = [reading("g", &[], Amount::Level(-1.0))];
        assert_eq!(format(None, "", 99).packets(&negative), ["p.g:0|g"]);
    }
}
