//! The streams of a bench. A view in the terminal stays below their lines.

use std::{
    io::{self, Write},
    sync::Arc,
};

use crate::screen::Screen;

/// Results and remarks without a view.
pub(super) fn plain() -> (Box<dyn Write>, Box<dyn Write>) {
    (Box::new(io::stdout()), Box::new(io::stderr()))
}

/// Streams for results and remarks that share the screen with the view.
pub(super) fn beside(screen: &Arc<Screen<io::Stderr>>) -> (Box<dyn Write>, Box<dyn Write>) {
    let screen = || Arc::clone(screen);
    (Box::new(Results(screen())), Box::new(Remarks(screen())))
}

/// Standard output, which may be the terminal that the view is drawn on.
struct Results(Arc<Screen<io::Stderr>>);

impl Write for Results {
    fn write(&mut self, text: &[u8]) -> io::Result<usize> {
        self.0.beside(|| {
            let mut stdout = io::stdout();
            stdout.write_all(text).and_then(|()| stdout.flush())
        })?;
        Ok(text.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Lines above the view.
struct Remarks(Arc<Screen<io::Stderr>>);

impl Write for Remarks {
    fn write(&mut self, text: &[u8]) -> io::Result<usize> {
        self.0.print(&String::from_utf8_lossy(text));
        Ok(text.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
