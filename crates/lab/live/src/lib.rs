//! The live view of a load run.
//!
//! A [`Board`] receives the state of the run once per second and keeps the data for charts, in bounded memory. A
//! [`View`] draws it as text for a terminal of any size, and handles keys, on a thread of its own. Neither can hold up
//! the run: the board is locked for as long as a few numbers take to copy, and never while a terminal is written to.

mod board;
mod draw;
pub mod page;
mod view;

pub use self::{
    board::{Board, Planned, Subject, Watched},
    draw::{Look, Mood},
    view::{Keys, NoTerminal, Orders, Paper, View},
};
