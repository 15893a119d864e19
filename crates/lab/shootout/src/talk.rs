//! Output for people during a run: lines, and on a terminal a last line that is redrawn.

use std::io::Write;

/// Back to the beginning of the line, and erase it (ECMA-48 EL).
const CLEAR_LINE: &str = "\r\x1b[2K";

/// The current number of columns of a terminal.
pub type Columns = fn() -> usize;

/// Standard error, or its replacement in tests. Text that cannot be written is lost.
pub(crate) struct Talk<'a> {
    out: &'a mut dyn Write,
    /// `None` where no terminal shows it.
    columns: Option<Columns>,
    is_drawn: bool,
}

impl<'a> Talk<'a> {
    pub(crate) fn new(out: &'a mut dyn Write, columns: Option<Columns>) -> Self {
        Self {
            out,
            columns,
            is_drawn: false,
        }
    }

    /// Whether a line can be drawn.
    pub(crate) fn is_terminal(&self) -> bool {
        self.columns.is_some()
    }

    /// Draws the line anew, cut to the width of the terminal: of one that is wrapped, the first part would stay. Says
    /// whether there is a terminal to draw on.
    pub(crate) fn draw(&mut self, line: &str) -> bool {
        let Some(columns) = self.columns else { return false };
        // A full line would already be wrapped by some terminals.
        let line: String = line.chars().take(columns().saturating_sub(1)).collect();
        self.is_drawn = true;
        self.write(&format!("{CLEAR_LINE}{line}"));
        true
    }

    /// Takes the drawn line away.
    pub(crate) fn clear(&mut self) {
        if std::mem::take(&mut self.is_drawn) {
            self.write(CLEAR_LINE);
        }
    }

    /// A line that stays.
    pub(crate) fn say(&mut self, line: &str) {
        self.clear();
        self.write(&format!("{line}\n"));
    }

    fn write(&mut self, text: &str) {
        let _ = self
            .out
            .write_all(text.as_bytes())
            .and_then(|()| self.out.flush());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_cut_to_the_terminal_and_never_left_behind() {
        let mut out = Vec::new();
        let mut talk = Talk::new(&mut out, Some(|| 9));
        assert!(talk.draw("a long long line"));
        assert!(talk.draw("short"));
        talk.say("a remark as long as it is");
        talk.clear();
        let expected = "\r\x1b[2Ka long l\r\x1b[2Kshort\r\x1b[2Ka remark as long as it is\n";
        assert_eq!(String::from_utf8(out).unwrap(), expected);
    }

    #[test]
    fn nothing_is_drawn_where_nobody_watches() {
        let mut out = Vec::new();
        let mut talk = Talk::new(&mut out, None);
        assert!(!talk.draw("a line"));
        talk.say("a remark");
        assert_eq!(out, b"a remark\n");
    }
}
