//! Why iterations failed: each distinct reason with how often it occurred, and reasons that differ only in numbers and
//! ids together, with when they did.

use std::{collections::BTreeMap, time::Duration};

/// Distinct reasons that are kept. Reason: more than a person reads; a reason with an id or a time in it must not
/// make memory grow with the run.
const MAX_REASONS: usize = 20;

/// Causes that are told apart. Reason: as for reasons; they are fewer, and more can be looked through in a table.
const MAX_CAUSES: usize = 100;

/// Digits that make a word one of many. Reason: statuses (`503`) and short counts mean something by themselves; ids,
/// ports and times do not.
const DIGITS_OF_AN_ID: usize = 4;

/// Stands for a word that is one of many.
const ANY: &str = "…";

/// Failed iterations by reason and by cause.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Failures {
    reasons: BTreeMap<String, u64>,
    n_other: u64,
    causes: BTreeMap<String, Cause>,
    other: Option<Cause>,
}

/// What failures with the same cause have in common.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cause {
    /// The reason of one of them, in full.
    pub example: String,
    /// How many there are, and when.
    pub span: Span,
}

/// How many failures there were between two times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// How many.
    pub n: u64,
    /// When the first one was, since the start of the run.
    pub first: Duration,
    /// When the last one was.
    pub last: Duration,
}

impl Failures {
    /// All failed iterations.
    pub fn count(&self) -> u64 {
        self.reasons.values().sum::<u64>() + self.n_other
    }

    /// Each of the first 20 distinct reasons and how often it occurred, in the order of the text.
    pub fn reasons(&self) -> impl Iterator<Item = (&str, u64)> {
        self.reasons.iter().map(|(reason, &n)| (reason.as_str(), n))
    }

    /// Failures with further reasons, whose text is not kept.
    pub fn n_other(&self) -> u64 {
        self.n_other
    }

    /// Each of the first 100 causes, in the order of the text: a reason in which `…` stands for every word with at least
    /// four digits.
    pub fn causes(&self) -> impl Iterator<Item = (&str, &Cause)> {
        self.causes.iter().map(|(text, cause)| (text.as_str(), cause))
    }

    /// Failures with further causes, if there are any; the example is one of them.
    pub fn other_causes(&self) -> Option<&Cause> {
        self.other.as_ref()
    }

    /// Counts `n` failures with this reason, all `at` the same time since the start of the run.
    pub fn add(&mut self, reason: &str, n: u64, at: Duration) {
        self.add_reason(reason, n);
        let span = Span {
            n,
            first: at,
            last: at,
        };
        self.add_cause(&generalized(reason), reason, span);
    }

    pub(super) fn merge(&mut self, other: &Self) {
        for (reason, n) in other.reasons() {
            self.add_reason(reason, n);
        }
        self.n_other += other.n_other;
        for (text, cause) in other.causes() {
            self.add_cause(text, &cause.example, cause.span);
        }
        if let Some(cause) = &other.other {
            add(&mut self.other, &cause.example, cause.span);
        }
    }

    fn add_reason(&mut self, reason: &str, n: u64) {
        if let Some(known) = self.reasons.get_mut(reason) {
            *known += n;
        } else if self.reasons.len() < MAX_REASONS {
            self.reasons.insert(reason.to_owned(), n);
        } else {
            self.n_other += n;
        }
    }

    fn add_cause(&mut self, text: &str, example: &str, span: Span) {
        if let Some(known) = self.causes.get_mut(text) {
            known.span.extend(span);
        } else if self.causes.len() < MAX_CAUSES {
            self.causes.insert(text.to_owned(), Cause::new(example, span));
        } else {
            add(&mut self.other, example, span);
        }
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
        self.n += other.n;
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

/// The reason without what makes it one of many.
fn generalized(reason: &str) -> String {
    let mut text = String::with_capacity(reason.len());
    let mut rest = reason;
    while !rest.is_empty() {
        let end = rest.find(|c| !is_of_word(c)).unwrap_or(rest.len());
        let (word, after) = rest.split_at(end);
        let n_digits = word.bytes().filter(u8::is_ascii_digit).count();
        text.push_str(if n_digits >= DIGITS_OF_AN_ID { ANY } else { word });
        let end = after.find(is_of_word).unwrap_or(after.len());
        let (between, next) = after.split_at(end);
        text.push_str(between);
        rest = next;
    }
    text
}

/// Hyphens belong to words: dates and UUIDs are one word each.
fn is_of_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || "-_".contains(c)
}

#[cfg(test)]
mod tests {
    use super::*;

    const AT: fn(u64) -> Duration = Duration::from_secs;

    #[test]
    fn equal_reasons_are_counted_together_and_many_do_not_grow() {
        let mut failures = Failures::default();
        let mut others = Failures::default();
        for n in 0..30 {
            failures.add("connection refused", 1, AT(n));
            others.add(&format!("user {n:02} timed out"), 2, AT(n));
        }
        failures.merge(&others);
        assert_eq!((failures.count(), failures.n_other()), (90, 2 * 11));
        assert_eq!(failures.reasons().next(), Some(("connection refused", 30)));
        assert_eq!(failures.reasons().count(), MAX_REASONS);
    }

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
            ("", ""),
        ] {
            assert_eq!(generalized(reason), expected);
        }
    }

    #[test]
    fn a_cause_knows_its_first_and_last_time_wherever_it_was_counted() {
        let (mut one, mut other) = (Failures::default(), Failures::default());
        one.add("item 10001 is gone", 1, AT(5));
        other.add("item 10002 is gone", 2, AT(3));
        other.add("item 10003 is gone", 1, AT(9));
        one.merge(&other);
        let causes: Vec<_> = one.causes().collect();
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
    fn many_causes_do_not_grow_and_none_is_lost() {
        let mut failures = Failures::default();
        for n in 0..900 {
            failures.add(&format!("cause {n:03}"), 1, AT(n));
        }
        let mut all = Failures::default();
        all.merge(&failures);
        all.merge(&failures);
        let other = all.other_causes().unwrap();
        assert_eq!(all.causes().count(), MAX_CAUSES);
        assert_eq!((other.example.as_str(), other.span.n), ("cause 100", 1_600));
        assert_eq!((other.span.first, other.span.last), (AT(100), AT(899)));
        let n_causes: u64 = all.causes().map(|(_, cause)| cause.span.n).sum();
        assert_eq!(n_causes + other.span.n, all.count());
    }
}
