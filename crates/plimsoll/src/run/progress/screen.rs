//! Standard error while a run goes on: log lines that stay, and below them a block that is drawn anew.

use std::{
    io::{self, IsTerminal, Write},
    sync::{Mutex, PoisonError},
};

/// Shared by the progress display and the log.
#[derive(Debug)]
pub(in crate::run) struct Screen<W> {
    inner: Mutex<Inner<W>>,
}

#[derive(Debug)]
struct Inner<W> {
    output: W,
    /// Empty when none is drawn.
    block: String,
}

impl Screen<io::Stderr> {
    /// Standard error, and whether it is a terminal that can be drawn on.
    pub(in crate::run) fn stderr() -> (Self, bool) {
        let is_drawable =
            io::stderr().is_terminal() && std::env::var("TERM").is_ok_and(|term| term != "dumb");
        (Self::new(io::stderr()), is_drawable)
    }
}

impl<W: Write> Screen<W> {
    pub(in crate::run) fn new(output: W) -> Self {
        Self {
            inner: Mutex::new(Inner {
                output,
                block: String::new(),
            }),
        }
    }

    /// Puts `block`, whole lines, in the place of the one that is drawn. The terminal must be wide enough for each.
    pub(in crate::run) fn draw(&self, block: String) {
        self.change(|inner| {
            let erased = inner.erasing();
            inner.block = block;
            [erased, inner.block.clone()].concat()
        });
    }

    /// Writes lines that stay.
    pub(in crate::run) fn print(&self, lines: &str) {
        self.change(|inner| [&inner.erasing(), lines, &inner.block].concat());
    }

    fn change(&self, change: impl FnOnce(&mut Inner<W>) -> String) {
        // A panic while somebody wrote has left no half state that matters here.
        let mut inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        let text = change(&mut inner);
        // In one piece, so that a terminal does not flicker. If the output is closed, nobody watches.
        let _nobody_reads = inner
            .output
            .write_all(text.as_bytes())
            .and_then(|()| inner.output.flush());
    }
}

impl<W> Inner<W> {
    /// Moves to the first line of the block and erases from there (ECMA-48 CPL and ED).
    fn erasing(&self) -> String {
        match self.block.matches('\n').count() {
            0 => String::new(),
            n_lines => format!("\x1b[{n_lines}F\x1b[J"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn log_lines_stay_above_the_block() {
        let screen = Screen::new(Vec::new());
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
}
