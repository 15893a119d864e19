//! A module of the host, and its comparison with k6.

/// The comparison of an entry with k6.
pub use plimsoll_load::parity::Parity as K6;
use rquickjs::{Ctx, Object, Result};

/// A module of the host.
pub(crate) struct Module {
    /// The name that a script writes after `from`.
    pub(crate) id: &'static str,
    /// Makes its exports; once per virtual user, when the script first imports it.
    pub(crate) build: for<'js> fn(&Ctx<'js>) -> Result<Object<'js>>,
    /// The API, for people.
    pub(crate) api: &'static [Api],
}

/// One entry of a module's API.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Api {
    /// The name: `check`, or `Counter.add` for a method.
    pub name: &'static str,
    /// The comparison with k6.
    pub k6: K6,
}

/// Shorthand in the tables of the modules for an API that works as in k6.
pub(super) const fn same(name: &'static str) -> Api {
    Api { name, k6: K6::Same }
}

/// Shorthand for an API that differs from k6's.
pub(super) const fn differs(name: &'static str, how: &'static str) -> Api {
    Api {
        name,
        k6: K6::Differs(how),
    }
}

/// Shorthand for an API that k6 does not have.
pub(super) const fn beyond(name: &'static str, what: &'static str) -> Api {
    Api {
        name,
        k6: K6::Beyond(what),
    }
}

/// Shorthand for an API of k6 that is unsupported.
pub(super) const fn absent(name: &'static str, instead: &'static str) -> Api {
    Api {
        name,
        k6: K6::Absent(instead),
    }
}
