//! The load line: the greatest load at which a target still meets its objectives.
//!
//! [`search`] decides which load to try next and when the line is found, and knows neither clocks nor targets;
//! [`objective`] is a condition on every step; [`step`] the result of a step; [`report`] the forms for people and
//! machines. Any code that can put a load on a target can drive it:
//!
//! ```
//! use plimsoll_line::search::{Next, Search, Settings, Vote};
//!
//! let mut search = Search::new(Settings { start: 10, ..Settings::default() });
//! let line = loop {
//!     match search.next() {
//!         Next::Take(load) => search.record(load, if load <= 740 { Vote::Held } else { Vote::Broke }),
//!         Next::Done(line) => break line,
//!     }
//! };
//! let interval = line.interval.expect("an exact target is found");
//! assert!(interval.low <= 740 && interval.high.is_some_and(|high| high >= 740));
//! assert!(interval.within().is_some_and(|within| within <= 0.05));
//! ```

pub mod objective;
pub mod proportion;
pub mod report;
pub mod search;
pub mod step;
pub mod verdict;
