//! What a load run shows while it goes on, for people who watch it.
//!
//! A [`Board`] takes in the state of the run once per second and keeps what charts need, in bounded memory. A [`View`] makes
//! text of it for a terminal of any size, and takes keys, on a thread of its own. None of them
//! can hold up the run: the board is locked for as long as a few numbers take to copy, and never while a terminal is
//! written to.

mod board;
mod draw;
pub mod page;
mod view;

pub use self::{
    board::{Board, Subject, Watched},
    draw::{Look, Mood},
    view::{Keys, NoTerminal, Orders, Paper, View},
};
