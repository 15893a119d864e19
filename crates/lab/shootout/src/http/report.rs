//! Writing results for people, for machines, and for plots.

mod html;
mod json;
mod percentiles;
mod tables;
mod text;

pub use self::{html::HtmlAttributes, text::Layout};
pub(crate) use self::{
    html::html,
    json::document as json,
    tables::{csv, gnuplot},
    text::text,
};
