//! Results as JUnit's XML, which every CI system shows.

use std::fmt::Write as _;

use plimsoll_report::html::in_text;

use super::{Family, Results, text::log_lines};
use crate::{Outcome, Verdict};

impl Results {
    /// One test suite per family. Skipped cases and those of features that the target lacks are skipped tests; a bad end of
    /// the connection is a failure. What is non-strict or informational is a passed test with output.
    pub fn junit(&self) -> String {
        let mut xml = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
        let Self { suite, target, .. } = self;
        let name = escaped(&format!("conform {suite}: {}", target.name));
        line(
            &mut xml,
            format_args!("<testsuites name=\"{name}\" {}>", self.sums()),
        );
        for family in self.by_family() {
            self.add_family(&mut xml, &family);
        }
        xml.push_str("</testsuites>\n");
        xml
    }

    fn sums(&self) -> String {
        let outcomes: Vec<_> = self.outcomes.iter().collect();
        sums(&outcomes, self.seconds)
    }

    fn add_family(&self, xml: &mut String, family: &Family<'_>) {
        let name = escaped([family.name, family.title].join(" ").trim_end());
        let seconds = family.outcomes.iter().map(|outcome| outcome.seconds).sum();
        let sums = sums(&family.outcomes, seconds);
        let started = escaped(self.started.trim_end_matches('Z'));
        line(
            xml,
            format_args!("  <testsuite name=\"{name}\" {sums} timestamp=\"{started}\">"),
        );
        let class = escaped(&format!("{}.{}", self.suite, family.name));
        for outcome in &family.outcomes {
            add_case(xml, &class, outcome);
        }
        xml.push_str("  </testsuite>\n");
    }
}

fn sums(outcomes: &[&Outcome], seconds: f64) -> String {
    let n = |is: fn(Verdict) -> bool| outcomes.iter().filter(|outcome| is(outcome.worst())).count();
    let (n_failed, n_skipped) = (n(|verdict| verdict == Verdict::Fail), n(is_skipped));
    format!(
        "tests=\"{}\" failures=\"{n_failed}\" errors=\"0\" skipped=\"{n_skipped}\" time=\"{seconds:.3}\"",
        outcomes.len()
    )
}

fn is_skipped(verdict: Verdict) -> bool {
    matches!(verdict, Verdict::Skipped | Verdict::Unimplemented)
}

fn add_case(xml: &mut String, class: &str, outcome: &Outcome) {
    let case = &outcome.case;
    let name = escaped(&format!("{} {}", case.id, case.title));
    let head = format!(
        "    <testcase classname=\"{class}\" name=\"{name}\" time=\"{:.3}\"",
        outcome.seconds
    );
    let explanation = escaped(&outcome.explanation);
    let clause = escaped(&outcome.clause().to_string());
    let verdict = outcome.worst();
    let content = match verdict {
        Verdict::Pass => return line(xml, format_args!("{head}/>")),
        Verdict::Fail => {
            let log = escaped(&log_lines(&outcome.wire).join("\n"));
            format!("<failure message=\"{explanation}\" type=\"{clause}\">{clause}\n{log}\n</failure>")
        }
        _ if is_skipped(verdict) => format!("<skipped message=\"{verdict}: {explanation}\"/>"),
        _ => format!("<system-out>{verdict}: {explanation} ({clause})</system-out>"),
    };
    line(xml, format_args!("{head}>\n      {content}\n    </testcase>"));
}

/// Text as the content of an element, or of an attribute in quotes. What XML cannot hold at all (XML 1.0 §2.2), not even
/// escaped, becomes the replacement character.
fn escaped(text: &str) -> String {
    in_text(&text.replace(is_forbidden, "\u{fffd}"))
}

/// Control characters other than line ends and tabs, and noncharacters.
fn is_forbidden(character: char) -> bool {
    match character {
        '\t' | '\n' | '\r' => false,
        character => matches!(character, '\0'..='\u{1f}' | '\u{fffe}' | '\u{ffff}'),
    }
}

fn line(xml: &mut String, line: std::fmt::Arguments<'_>) {
    // Writing to a text cannot fail.
    let _always_ok = writeln!(xml, "{line}");
}

#[cfg(test)]
mod tests {
    use expect_test::expect_file;

    use super::*;
    use crate::results::tests::sample;

    #[test]
    fn every_verdict_has_a_form() {
        expect_file!["tests/sample.xml"].assert_eq(&sample().junit());
    }

    #[test]
    fn text_of_others_is_text_in_xml() {
        for (text, expected) in [
            (
                "</failure><a b='c'>&]]>",
                "&lt;/failure&gt;&lt;a b=&#39;c&#39;&gt;&amp;]]&gt;",
            ),
            ("\0a\u{1b}\u{ffff}\u{fffe}", "\u{fffd}a\u{fffd}\u{fffd}\u{fffd}"),
            ("1\t2\r\n\u{7f}\u{fffd}é", "1\t2\r\n\u{7f}\u{fffd}é"),
        ] {
            assert_eq!(escaped(text), expected, "{text:?}");
        }
    }
}
