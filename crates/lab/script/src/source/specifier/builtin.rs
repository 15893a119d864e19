//! Ids that begin with `k6` and are not among the modules of this program.

use plimsoll_load::nearest::nearest;

use super::Unresolved;
use crate::source::Platform;

/// The modules that need no source.
#[derive(Clone, Copy, Debug, Default)]
pub struct Builtins<'a> {
    /// Their ids.
    pub present: &'a [&'a str],
    /// Ids that k6 has, and what to do instead.
    pub absent: &'a [(&'a str, &'a str)],
    /// The names of Node's modules, for sources that were written for Node; `None` for those for k6.
    pub node: Option<&'a [&'a str]>,
}

impl Builtins<'_> {
    /// What the sources were written for.
    pub fn platform(&self) -> Platform {
        match self.node {
            Some(_) => Platform::Node,
            None => Platform::K6,
        }
    }
}

/// The error for `written`, which is not among the built-in modules that are present.
pub(super) fn unknown(written: &str, builtins: Builtins<'_>) -> Unresolved {
    let owned = written.to_owned();
    if let Some((_, instead)) = builtins.absent.iter().find(|(id, _)| *id == written) {
        return Unresolved::Unsupported {
            written: owned,
            instead: (*instead).to_owned(),
        };
    }
    let known = || builtins.present.join(", ");
    if let Some(name) = written.strip_prefix("k6/x/")
        && nearest(written, builtins.present).is_none()
    {
        let instead = format!(
            "extensions ({name}) are built into k6 and cannot be loaded here; available modules: {}",
            known()
        );
        return Unresolved::Unsupported {
            written: owned,
            instead,
        };
    }
    let hint = match nearest(written, builtins.present) {
        Some(id) => format!("; did you mean {id:?}?"),
        None => format!("; available modules: {}", known()),
    };
    Unresolved::UnknownBuiltin { written: owned, hint }
}
