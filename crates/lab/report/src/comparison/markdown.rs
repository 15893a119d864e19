//! A comparison as a table for a pull request.

use super::{
    Comparison, Verdict,
    cells::{cells, heads},
};

impl Comparison {
    /// GitHub's Markdown: the verdict, a table of all figures, and the obstacles.
    pub fn markdown(&self) -> String {
        let mut text = format!("**{}**\n\n", escape(&self.headline()));
        let remarks: String = self
            .remarks()
            .map(|sentence| format!("- {}\n", escape(sentence)))
            .collect();
        text.push_str(&remarks);
        if !remarks.is_empty() {
            text.push('\n');
        }
        text.push_str(&line(&heads(self).map(|head| escape(&head))));
        text.push_str("|:--|--:|--:|--:|:-:|:--|\n");
        for difference in &self.differences {
            let mut cells = cells(difference).map(|cell| escape(&cell));
            let [.., verdict] = &mut cells;
            *verdict = match difference.verdict {
                Verdict::Worse => format!("🔴 {verdict}"),
                Verdict::Better => format!("🟢 {verdict}"),
                Verdict::Equal | Verdict::Inconclusive => verdict.clone(),
            };
            text.push_str(&line(&cells));
        }
        text.push_str(&format!(
            "\nBaseline: {}. Candidate: {}. {}\n",
            escape(&self.baseline.text()),
            escape(&self.candidate.text()),
            self.legend()
        ));
        text
    }
}

fn line(cells: &[String; 6]) -> String {
    format!("| {} |\n", cells.join(" | "))
}

/// Escapes characters with a meaning in a table's cell, because names come from scripts.
fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '\\' | '|' | '*' | '_' | '`' | '<' | '>' | '[' | ']' | '~' | '#' | '&' | '@' | '!' => {
                escaped.extend(['\\', character]);
            }
            // A line break would end the table.
            character if character.is_control() => escaped.push(' '),
            character => escaped.push(character),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::comparison::tests::{comparison_of, made_up};

    #[test]
    fn names_keep_their_characters_in_a_table() {
        for (text, expected) in [
            ("plain text 1.5 %", "plain text 1.5 %"),
            (r"a\b|c*d_e`f", r"a\\b\|c\*d\_e\`f"),
            ("<a>[b]~c#d&e@f!", r"\<a\>\[b\]\~c\#d\&e\@f\!"),
            ("two\nlines\tand\u{1b}", "two lines and "),
        ] {
            assert_eq!(escape(text), expected);
        }
    }

    #[test]
    fn a_verdict_has_its_colour() {
        for (slowdown, colour) in [(1.3, Some("🔴 worse")), (0.7, Some("🟢 better")), (1.0, None)] {
            let text = comparison_of(&made_up(1.0, 1), &made_up(slowdown, 2)).markdown();
            let found = ["🔴 worse", "🟢 better"]
                .into_iter()
                .find(|colour| text.contains(colour));
            assert_eq!(found, colour, "{text}");
        }
    }

    #[test]
    fn obstacles_advice_and_notices_stand_between_headline_and_table() {
        for (is_other_machine, is_newer, parts) in [
            (false, false, ["would decide", ""]),
            (
                false,
                true,
                [
                    "would decide",
                    "different versions of Plimsoll: 0.1.0 and 0.2.0\n",
                ],
            ),
            (
                true,
                false,
                [
                    "run-2 ran on a different machine from run-1: 4 cores, not 2\n- repeat the runs",
                    "",
                ],
            ),
        ] {
            let mut candidate = made_up(1.0, 2);
            if is_other_machine {
                candidate.environment.cores = 4;
            }
            if is_newer {
                candidate.metadata.plimsoll = "0.2.0".to_owned();
            }
            let text = comparison_of(&made_up(1.0, 1), &candidate).markdown();
            let (above, _) = text.split_once("| figure |").unwrap();
            assert!(above.starts_with("**inconclusive: http"), "{text}");
            let [first, second] = parts.map(|part| above.rfind(part));
            assert!(first.is_some() && first < second, "{text}");
        }
    }
}
