//! Load tests that are written as files and not as scripts, in the dialects of other tools.
//!
//! [`document`] reads YAML and JSON so that every mistake has a position; [`dialect`] detects the tool. A dialect's
//! front end turns a document into virtual users for the engine. No script engine is needed, so a user costs a few
//! kilobytes. [`schema`] describes the files for editors, and [`listing`] their keys for the reference page.

pub mod artillery;
pub mod dialect;
pub mod document;
pub mod listing;
pub mod schema;
pub mod wsdirector;
