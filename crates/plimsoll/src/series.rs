//! `--repeat` and `--against`: the runs that a comparison needs, made by any load command.
//!
//! Each run is a process of its own with the same arguments, so that runs differ as runs by hand do: another layout of
//! memory, other ports, nothing left from the run before. With a second target the runs alternate between the two, so
//! that a change of the machine hits both.

mod flags;
mod leading;
mod member;

pub(crate) use self::{
    flags::{RepeatFlags, SeriesFlags},
    leading::{Targeted, lead},
    member::Member,
};
