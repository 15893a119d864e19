//! Standard error during a run: permanent log lines, and below them a block that is redrawn.

use std::{
    io::{self, IsTerminal, Write},
    sync::{Mutex, PoisonError},
};

use crate::terminal;

/// Shared by the progress display and the log.
#[derive(Debug)]
pub(crate) struct Screen<W> {
    inner: Mutex<Inner<W>>,
    /// The width of the terminal now.
    columns: fn() -> usize,
}

#[derive(Debug)]
struct Inner<W> {
    output: W,
    /// The current block; empty when none is drawn.
    block: String,
}

impl Screen<io::Stderr> {
    /// Standard error, and whether it is a terminal that can be drawn on.
    pub(crate) fn stderr() -> (Self, bool) {
        let is_drawable =
            io::stderr().is_terminal() && std::env::var("TERM").is_ok_and(|term| term != "dumb");
        (Self::new(io::stderr(), || terminal::size().0), is_drawable)
    }
}

impl<W: Write> Screen<W> {
    pub(crate) fn new(output: W, columns: fn() -> usize) -> Self {
        Self {
            inner: Mutex::new(Inner {
                output,
                block: String::new(),
            }),
            columns,
        }
    }

    /// Puts `block`, whole lines, in the place of the one that is drawn. The terminal must be wide enough for each.
    pub(crate) fn draw(&self, block: String) {
        self.change(|inner| {
            let erased = inner.erasing((self.columns)());
            inner.block = block;
            [&erased, inner.block.as_str()].concat()
        });
    }

    /// Writes lines that stay.
    pub(crate) fn print(&self, lines: &str) {
        self.change(|inner| [&inner.erasing((self.columns)()), lines, &inner.block].concat());
    }

    /// Removes the block while `write` writes elsewhere, perhaps to the same terminal.
    pub(crate) fn beside<T>(&self, write: impl FnOnce() -> T) -> T {
        let mut inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        let erasing = inner.erasing((self.columns)());
        inner.write(&erasing);
        let written = write();
        let block = inner.block.clone();
        inner.write(&block);
        written
    }

    fn change(&self, change: impl FnOnce(&mut Inner<W>) -> String) {
        // A panic during a write has left no half state that matters here.
        let mut inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        let text = change(&mut inner);
        inner.write(&text);
    }
}

impl<W: Write> Inner<W> {
    fn write(&mut self, text: &str) {
        // In one piece, so that a terminal does not flicker. A closed output has no reader, so the error is ignored.
        let _nobody_reads = self
            .output
            .write_all(text.as_bytes())
            .and_then(|()| self.output.flush());
    }

    /// Moves to the first line of the block and erases from there (ECMA-48 CPL and ED).
    fn erasing(&self, columns: usize) -> String {
        let rows = self.block.lines().map(|line| n_rows(line, columns));
        match rows.sum::<usize>() {
            0 => String::new(),
            n_rows => format!("\x1b[{n_rows}F\x1b[J"),
        }
    }
}

/// Rows of the terminal that a line takes. It had room for the line when that was drawn; if it has become narrower since,
/// it has wrapped it.
fn n_rows(line: &str, columns: usize) -> usize {
    let mut n_columns = 0_usize;
    let mut characters = line.chars();
    while let Some(character) = characters.next() {
        match character {
            // The sequences that a block has (SGR) end with m.
            '\x1b' => {
                characters.find(|character| *character == 'm');
            }
            _ => n_columns += 1,
        }
    }
    n_columns.div_ceil(columns.max(1)).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn log_lines_stay_above_the_block() {
        let screen = Screen::new(Vec::new(), || 80);
        screen.print("one\n");
        screen.draw("bar 1\nbar 2\n".to_owned());
        screen.print("two\n");
        screen.draw("bar 3\n".to_owned());
        screen.draw(String::new());
        screen.print("three\n");
        let written = String::from_utf8(screen.inner.into_inner().unwrap().output).unwrap();
        assert_eq!(
            written.replace('\x1b', "ESC"),
            "one\nbar 1\nbar 2\nESC[2FESC[Jtwo\nbar 1\nbar 2\nESC[2FESC[Jbar 3\nESC[1FESC[Jthree\n"
        );
    }

    #[test]
    fn what_is_written_elsewhere_does_not_mix_with_the_block() {
        let screen = Screen::new(Vec::new(), || 80);
        screen.draw("bar\n".to_owned());
        assert_eq!(screen.beside(|| 42), 42);
        let written = String::from_utf8(screen.inner.into_inner().unwrap().output).unwrap();
        assert_eq!(written.replace('\x1b', "ESC"), "bar\nESC[1FESC[Jbar\n");
    }

    #[test]
    fn a_narrower_terminal_has_wrapped_the_block() {
        for (line, columns, expected) in [
            ("", 80, 1),
            ("12345", 5, 1),
            ("123456", 5, 2),
            ("\x1b[0;1;36m12345\x1b[0m", 5, 1),
            ("▁▂▃▄▅▆", 3, 2),
            ("12345", 0, 5),
        ] {
            assert_eq!(n_rows(line, columns), expected, "{line:?} {columns}");
        }
    }
}
