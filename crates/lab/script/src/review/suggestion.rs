//! The next step for a name that is not defined.

use plimsoll_load::nearest::nearest;

use crate::interface::Interface;

/// Globals of other programs, each with a replacement.
const ELSEWHERE: [(&str, &str); 8] = [
    (
        "Buffer",
        "this is not Node.js: use Uint8Array, and k6/encoding for base64",
    ),
    ("XMLHttpRequest", "there is no browser: use k6/http"),
    (
        "__dirname",
        "this is not Node.js: a relative path in open() starts at the folder of the script",
    ),
    ("alert", "there is no browser: use console.log"),
    ("document", "there is no browser: parse pages with k6/html"),
    ("fetch", "use k6/http"),
    ("process", "this is not Node.js: __ENV has the environment"),
    ("window", "there is no browser: use globalThis"),
];

/// The names from which suggestions are made.
pub(super) struct Suggestions<'i> {
    pub(super) interface: &'i Interface,
}

impl Suggestions<'_> {
    /// What to do about a name that is neither declared nor a global. `visible` is the nearest declared name.
    pub(super) fn of_free(&self, name: &str, visible: Option<&str>) -> String {
        if let Some((_, instead)) = ELSEWHERE.iter().find(|(known, _)| *known == name) {
            return (*instead).to_owned();
        }
        if let Some(import) = self.import(name) {
            return format!("import it: {import}");
        }
        let globals = self.interface.globals.iter().map(String::as_str);
        match nearest(name, visible.into_iter().chain(globals)) {
            Some(nearest) => format!("did you mean `{nearest}`?"),
            None => "declare or import it".to_owned(),
        }
    }

    /// The import that defines this name: a module with this last name, or a module that exports it.
    fn import(&self, name: &str) -> Option<String> {
        let mut modules = self.interface.modules.iter();
        let ids = self.interface.modules.keys();
        let is_stable = |id: &&String| !id.contains("experimental");
        let mut named_so = ids
            .filter(is_stable)
            .filter(|id| id.rsplit('/').next() == Some(name));
        if let Some(id) = named_so.next() {
            return Some(format!("import {name} from {id:?}"));
        }
        let (id, _) = modules.find(|(id, members)| is_stable(id) && members.exports.contains(name))?;
        Some(format!("import {{ {name} }} from {id:?}"))
    }
}

/// Whether a list of names is shorter and clearer without this one: what every object has, and constants.
pub(super) fn is_noise(name: &str) -> bool {
    name.starts_with("__")
        || name
            .chars()
            .all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_')
        || [
            "constructor",
            "hasOwnProperty",
            "isPrototypeOf",
            "propertyIsEnumerable",
            "toLocaleString",
            "toString",
            "valueOf",
        ]
        .contains(&name)
}
