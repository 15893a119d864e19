//! Reports on a load run for people and machines.
//!
//! A [`Summary`] is derived once; text and JSON both come from it, and it is the only place where percentiles are
//! computed, so that no two outputs can disagree. This crate does not know how the samples were made.

mod agents;
pub mod artillery;
mod bar;
pub mod by_load;
pub mod comparison;
mod distribution;
mod document;
pub mod fit;
mod headline;
mod highlights;
pub mod html;
mod layout;
mod legs;
pub mod markdown;
mod packed;
pub mod quantity;
pub mod readable;
mod schema;
mod script_data;
mod sentence;
mod style;
pub mod summary;
mod text;
pub mod timeline;
mod timestamp;
mod verdict;

pub use self::{
    bar::bar,
    distribution::{Distribution, percentile, trend_figure},
    document::json,
    highlights::Highlights,
    layout::{Layout, SummaryMode, SummaryModeError},
    legs::{Legs, Offered},
    schema::schema,
    script_data::{ScriptOptions, path_id},
    sentence::Headline,
    style::{Environment, Style},
    summary::Summary,
    text::{status_line, wrap},
    timestamp::{asctime, parse_rfc3339, rfc3339, rfc3339_nanos, rfc3339_secs},
    verdict::Verdict,
};
