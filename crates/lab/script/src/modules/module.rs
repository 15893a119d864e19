//! What a module of the host is, and how what it has compares with k6.

use rquickjs::{Ctx, Object, Result};

/// A module of the host.
pub(crate) struct Module {
    /// What a script writes after `from`.
    pub(crate) id: &'static str,
    /// Makes its exports; once per virtual user, when the script first imports it.
    pub(crate) build: for<'js> fn(&Ctx<'js>) -> Result<Object<'js>>,
    /// What it has, for people.
    pub(crate) api: &'static [Api],
}

/// One thing of a module.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Api {
    /// The name: `check`, or `Counter.add` for a method.
    pub name: &'static str,
    /// How it compares with k6.
    pub k6: K6,
}

/// How something compares with k6.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum K6 {
    /// It does the same.
    Same,
    /// It differs, and how.
    Differs(&'static str),
    /// k6 has it and this program has not, and why or what to do instead.
    Absent(&'static str),
    /// This program has it and k6 has not, and what it does.
    Beyond(&'static str),
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
