//! Failures by cause. Failures that differ only in numbers and ids share a cause. Each cause has the times of its first
//! and last failure.

use std::{cmp::Reverse, collections::BTreeMap, time::Duration};

use serde::{Deserialize, Serialize};

/// The most causes. Reason: a person cannot look through more, and a cause with an id or a time in it must not make
/// memory grow with the run.
const MAX_CAUSES: usize = 100;

/// The number of digits from which on a word counts as variable. Reason: statuses (`503`) and short counts have a
/// meaning; ids, ports and times do not.
const DIGITS_OF_AN_ID: usize = 4;

/// Replaces a variable word.
const ANY: &str = "…";

/// The number of failures by cause.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "Unbounded")]
pub struct Causes {
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    causes: BTreeMap<String, Cause>,
    #[serde(skip_serializing_if = "Option::is_none")]
    other: Option<Cause>,
}

/// Causes from outside, which may be more than [`MAX_CAUSES`].
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Unbounded {
    #[serde(default)]
    causes: BTreeMap<String, Cause>,
    other: Option<Cause>,
}

/// One cause of failures.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cause {
    /// One of the failures, in full.
    pub example: String,
    /// The number of failures, and when they occurred.
    pub span: Span,
}

/// The number of failures between two times.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Span {
    /// How many.
    pub n: u64,
    /// The first failure, since the start of the run.
    pub first: Duration,
    /// The last failure.
    pub last: Duration,
}

impl Causes {
    /// The first 100 causes, in the order of the text. `…` stands for every word with at least four digits.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Cause)> {
        self.causes.iter().map(|(text, cause)| (text.as_str(), cause))
    }

    /// Failures with further causes, if there are any. The example is one of them.
    pub fn other(&self) -> Option<&Cause> {
        self.other.as_ref()
    }

    /// The number of all failures.
    pub fn total(&self) -> u64 {
        let all = self.causes.values().chain(&self.other);
        all.fold(0, |sum, cause| sum.saturating_add(cause.span.n))
    }

    /// Whether there are no failures.
    pub fn is_empty(&self) -> bool {
        self.causes.is_empty() && self.other.is_none()
    }

    /// The causes and their numbers of failures, the most frequent first; the last one stands for all further causes.
    pub fn by_count(&self) -> Vec<(String, u64)> {
        let mut counts: Vec<_> = self
            .iter()
            .map(|(text, cause)| (text.to_owned(), cause.span.n))
            .collect();
        counts.sort_by_key(|(_, n)| Reverse(*n));
        counts.extend(
            self.other()
                .map(|other| ("other causes".to_owned(), other.span.n)),
        );
        counts
    }

    /// Counts `n` failures, all `at` one time since the start of the run. `example` has more detail than `cause`.
    pub fn add(&mut self, cause: &str, example: &str, n: u64, at: Duration) {
        self.add_as(&generalized(cause), example, n, at);
    }

    /// Counts `n` failures of a cause that has no variable words, so that numbers such as close codes stay in its text;
    /// see [`Self::add`].
    pub fn add_as(&mut self, cause: &str, example: &str, n: u64, at: Duration) {
        let span = Span {
            n,
            first: at,
            last: at,
        };
        self.add_span(cause, example, span);
    }

    /// Adds all failures of `other`.
    pub fn merge(&mut self, other: &Self) {
        for (text, cause) in other.iter() {
            self.add_span(text, &cause.example, cause.span);
        }
        if let Some(cause) = &other.other {
            add(&mut self.other, &cause.example, cause.span);
        }
    }

    fn add_span(&mut self, text: &str, example: &str, span: Span) {
        if let Some(known) = self.causes.get_mut(text) {
            known.span.extend(span);
        } else if self.causes.len() < MAX_CAUSES {
            self.causes.insert(text.to_owned(), Cause::new(example, span));
        } else {
            add(&mut self.other, example, span);
        }
    }
}

impl From<Unbounded> for Causes {
    fn from(Unbounded { causes, other }: Unbounded) -> Self {
        let mut bounded = Self::default();
        bounded.merge(&Self { causes, other });
        bounded
    }
}

impl Cause {
    fn new(example: &str, span: Span) -> Self {
        Self {
            example: example.to_owned(),
            span,
        }
    }
}

impl Span {
    fn extend(&mut self, other: Self) {
        // Numbers from other machines may be any.
        self.n = self.n.saturating_add(other.n);
        self.first = self.first.min(other.first);
        self.last = self.last.max(other.last);
    }
}

fn add(known: &mut Option<Cause>, example: &str, span: Span) {
    match known {
        Some(known) => known.span.extend(span),
        None => *known = Some(Cause::new(example, span)),
    }
}

/// The reason without its variable words: `…` stands for every word with at least four digits.
pub fn generalized(reason: &str) -> String {
    let mut text = String::with_capacity(reason.len());
    let mut rest = reason;
    let mut before = "";
    while !rest.is_empty() {
        let end = rest.find(|c| !is_of_word(c)).unwrap_or(rest.len());
        let (word, after) = rest.split_at(end);
        let n_digits = word.bytes().filter(u8::is_ascii_digit).count();
        // A close code of WebSocket has four digits and is no id.
        let is_code = matches!(before, "code" | "close") && word.len() == DIGITS_OF_AN_ID;
        let is_variable = n_digits >= DIGITS_OF_AN_ID && !is_code;
        text.push_str(if is_variable { ANY } else { word });
        before = word;
        let end = after.find(is_of_word).unwrap_or(after.len());
        let (between, next) = after.split_at(end);
        text.push_str(between);
        rest = next;
    }
    text
}

/// Whether a character belongs to a word. Hyphens do: dates and UUIDs are one word each.
fn is_of_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || "-_".contains(c)
}

#[cfg(test)]
mod tests {
    use super::*;

    const AT: fn(u64) -> Duration = Duration::from_secs;

    #[test]
    fn reasons_that_differ_in_ids_have_one_cause() {
        for (reason, expected) in [
            ("GET /items/48151 answered 503", "GET /items/… answered 503"),
            (
                "no room 7f3a91c2-77aa-4d11-9a2b-0c5f for 12 users",
                "no room … for 12 users",
            ),
            ("127.0.0.1:45231: refused", "127.0.0.1:…: refused"),
            ("größer als 10000 ms", "größer als … ms"),
            ("timed out after 10 s", "timed out after 10 s"),
            ("closed with code 4001: 123456", "closed with code 4001: …"),
            ("no code 123456", "no code …"),
            ("", ""),
        ] {
            assert_eq!(generalized(reason), expected);
        }
    }

    #[test]
    fn a_cause_knows_its_first_and_last_time_wherever_it_was_counted() {
        let (mut one, mut other) = (Causes::default(), Causes::default());
        let add = |causes: &mut Causes, example: &str, n, at| causes.add(example, example, n, AT(at));
        add(&mut one, "item 10001 is gone", 1, 5);
        add(&mut other, "item 10002 is gone", 2, 3);
        add(&mut other, "item 10003 is gone", 1, 9);
        one.merge(&other);
        let causes: Vec<_> = one.iter().collect();
        let span = Span {
            n: 4,
            first: AT(3),
            last: AT(9),
        };
        assert_eq!(
            causes,
            [("item … is gone", &Cause::new("item 10001 is gone", span))]
        );
    }

    #[test]
    fn a_known_cause_keeps_its_numbers_and_the_most_frequent_comes_first() {
        let mut causes = Causes::default();
        causes.add_as("closed with code 4001", "closed with code 4001: why", 1, AT(0));
        causes.add_as("refused", "refused", 3, AT(1));
        let expected = [("refused", 3), ("closed with code 4001", 1)];
        assert_eq!(
            causes.by_count(),
            expected.map(|(cause, n)| (cause.to_owned(), n))
        );
        assert_eq!(causes.total(), 4);
    }

    #[test]
    fn causes_are_sent_whole_and_bounded_on_arrival() {
        let mut causes = Causes::default();
        assert_eq!(serde_json::to_string(&causes).unwrap(), "{}");
        for n in 0..MAX_CAUSES as u64 + 5 {
            causes.add(&format!("cause {n:03}"), "example", n, AT(n));
        }
        let mut json = serde_json::to_value(&causes).unwrap();
        assert_eq!(serde_json::from_value::<Causes>(json.clone()).unwrap(), causes);
        let many = json["causes"].as_object_mut().unwrap();
        for n in 0..50 {
            many.insert(format!("more {n}"), many["cause 000"].clone());
            many[&format!("more {n}")]["span"]["n"] = 1.into();
        }
        let bounded: Causes = serde_json::from_value(json).unwrap();
        assert_eq!(
            (bounded.iter().count(), bounded.total()),
            (MAX_CAUSES, causes.total() + 50)
        );
    }

    #[test]
    fn many_causes_do_not_grow_and_none_is_lost() {
        let mut causes = Causes::default();
        for n in 0..900 {
            let text = format!("cause {n:03}");
            causes.add(&text, &text, 1, AT(n));
        }
        let mut all = Causes::default();
        all.merge(&causes);
        all.merge(&causes);
        let other = all.other().unwrap();
        assert_eq!(all.iter().count(), MAX_CAUSES);
        assert_eq!((other.example.as_str(), other.span.n), ("cause 100", 1_600));
        assert_eq!((other.span.first, other.span.last), (AT(100), AT(899)));
        let n_causes: u64 = all.iter().map(|(_, cause)| cause.span.n).sum();
        assert_eq!(n_causes + other.span.n, 1_800);
    }
}
