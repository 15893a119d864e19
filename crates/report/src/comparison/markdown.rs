//! A comparison as a table for a pull request.

use super::{
    Comparison, Verdict,
    cells::{HEADLINES, cells},
};

impl Comparison {
    /// GitHub's Markdown: the verdict, a table of all figures, and what stands in the way.
    pub fn markdown(&self) -> String {
        let mut text = format!("**{}**\n\n", escape(&self.headline()));
        for sentence in self.obstacles.iter().chain(&self.notices) {
            text.push_str(&format!("- {}\n", escape(sentence)));
        }
        if !(self.obstacles.is_empty() && self.notices.is_empty()) {
            text.push('\n');
        }
        text.push_str(&line(&HEADLINES.map(str::to_owned)));
        text.push_str("|:--|--:|--:|--:|:-:|:--|\n");
        for difference in &self.differences {
            let mut cells = cells(difference).map(|cell| escape(&cell));
            let [.., verdict] = &mut cells;
            *verdict = match difference.verdict {
                Verdict::Regressed => format!("🔴 {verdict}"),
                Verdict::Improved => format!("🟢 {verdict}"),
                Verdict::NoSignificantDifference | Verdict::CannotTell => verdict.clone(),
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

/// Names come from scripts: what has a meaning in a table's cell stands for itself.
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
