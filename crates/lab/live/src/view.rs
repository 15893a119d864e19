//! The board in a terminal, and the keys: on a thread of its own, which checks ten times a second whether there is
//! something new to show.

use std::{
    io::{self, PipeReader, PipeWriter},
    sync::{Arc, Mutex, PoisonError},
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

mod keys;

use self::keys::Event;
pub use self::keys::{Keys, NoTerminal};
use crate::{
    board::Board,
    draw::{self, Look, Mood, Scene},
};

/// The least time between two pictures. Figures change once per second; this is how soon a key shows.
const EVERY: Duration = Duration::from_millis(100);

/// What a person may order.
pub trait Orders: Send {
    /// The run is to end in good order.
    fn end(&self);
    /// Pauses the run, or resumes a paused one.
    ///
    /// # Errors
    /// Why the run cannot be paused, for people.
    fn pause_or_resume(&self) -> Result<(), String>;
    /// What was ordered, by whomever.
    fn mood(&self) -> Mood;
}

/// Where pictures go.
pub trait Paper: Send {
    /// Columns and lines now.
    fn size(&self) -> (u16, u16);
    /// Replaces the previous lines.
    fn show(&self, lines: String);
}

/// A shown board. Its drop restores the terminal.
#[derive(Debug)]
pub struct View {
    /// The thread ends when this is closed.
    stop: Option<PipeWriter>,
    thread: Option<JoinHandle<()>>,
}

impl View {
    /// Shows the board from now on.
    ///
    /// # Errors
    /// The system provides no thread.
    pub fn start(
        board: Arc<Mutex<Board>>,
        keys: Keys,
        look: Look,
        paper: impl Paper + 'static,
        orders: impl Orders + 'static,
    ) -> io::Result<Self> {
        let (stopped, stop) = io::pipe()?;
        let viewer = Viewer {
            board,
            keys,
            stopped,
            look,
            paper,
            orders,
            scene: Scene::default(),
        };
        let thread = thread::Builder::new().name("view".to_owned());
        Ok(Self {
            stop: Some(stop),
            thread: Some(thread.spawn(move || viewer.serve())?),
        })
    }
}

impl Drop for View {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            // If it panicked, the terminal was given back while it unwound.
            let _it_said_so = thread.join();
        }
    }
}

struct Viewer<P, O> {
    board: Arc<Mutex<Board>>,
    keys: Keys,
    stopped: PipeReader,
    look: Look,
    paper: P,
    orders: O,
    scene: Scene,
}

impl<P: Paper, O: Orders> Viewer<P, O> {
    fn serve(mut self) {
        let mut shown = None;
        let mut next = Instant::now();
        loop {
            self.scene.mood = self.orders.mood();
            let state = (self.revision(), self.paper.size(), self.scene.clone());
            if shown.as_ref() != Some(&state) && Instant::now() >= next {
                self.show(state.1);
                shown = Some(state);
                next = Instant::now() + EVERY;
            }
            match self.keys.wait(&self.stopped, EVERY) {
                Event::Key(key) => self.obey(key),
                Event::Nothing => {}
                // Without a terminal the view ends, and the run continues.
                Event::Stopped | Event::Closed => return,
            }
        }
    }

    fn revision(&self) -> u64 {
        lock(&self.board).revision
    }

    fn show(&self, size: (u16, u16)) {
        // The lock is not held while the terminal is written to.
        let lines = draw::draw(&lock(&self.board), size, self.look, &self.scene);
        self.paper.show(lines);
    }

    fn obey(&mut self, key: u8) {
        self.scene.answer = None;
        match key {
            b'q' | b'Q' => self.orders.end(),
            b'p' | b'P' => self.scene.answer = self.orders.pause_or_resume().err(),
            b'?' | b'h' => self.scene.help = !self.scene.help,
            _ => {}
        }
    }
}

fn lock(board: &Mutex<Board>) -> std::sync::MutexGuard<'_, Board> {
    // A panic during a write leaves at worst a second that is half new.
    board.lock().unwrap_or_else(PoisonError::into_inner)
}
