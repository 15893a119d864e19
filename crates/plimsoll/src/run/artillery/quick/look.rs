//! The subject of a quick look: the server, its users, and their work.

use super::load::Load;

/// What a quick look is about.
#[derive(Debug)]
pub(in super::super) struct Look {
    /// The URL without its secrets.
    pub(super) url: String,
    pub(super) load: Load,
    pub(super) n_users: u64,
    /// How often each user does its work.
    pub(super) n_each: u64,
    pub(super) has_headers: bool,
}
