//! The metrics that the live view shows, and their order: the script's own before those of protocols.

use std::collections::HashSet;

use plimsoll_load::metrics::{
    Definition, RegisterError, Registry,
    built_in::{Data, Execution, Http, WebSocket},
};

/// Built-in metrics that are shown. The others say more in the summary.
const WATCHED: [&str; 10] = [
    "checks",
    "http_reqs",
    "http_req_failed",
    "http_req_duration",
    "ws_sessions",
    "ws_connecting",
    "ws_msgs_sent",
    "ws_msgs_received",
    "dropped_iterations",
    "iteration_duration",
];

/// The order of metrics.
#[derive(Debug)]
pub struct Watched {
    built_in: HashSet<String>,
}

impl Default for Watched {
    fn default() -> Self {
        Self {
            // The built-in metrics are registered alone, so no name is in use.
            built_in: built_in().unwrap_or_default(),
        }
    }
}

impl Watched {
    /// The position of a metric: checks first, then the script's own, then built-in ones. `None` if it is not shown.
    pub fn rank(&self, definition: &Definition) -> Option<usize> {
        let name = definition.name.as_str();
        if definition.selection.is_some() {
            return None;
        }
        match WATCHED.iter().position(|watched| *watched == name) {
            Some(0) => Some(0),
            Some(position) => Some(position + 1),
            None => (!self.built_in.contains(name)).then_some(1),
        }
    }
}

fn built_in() -> Result<HashSet<String>, RegisterError> {
    let mut registry = Registry::new();
    Execution::register(&mut registry)?;
    Data::register(&mut registry)?;
    Http::register(&mut registry)?;
    WebSocket::register(&mut registry)?;
    let names = registry
        .definitions()
        .iter()
        .map(|definition| definition.name.clone());
    Ok(names.collect())
}
