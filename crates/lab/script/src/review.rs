//! Mistakes that the text of a script shows before any of it runs: names that do not exist, and calls that must fail.

mod arity;
mod suggestion;

use std::collections::HashSet;

use plimsoll_load::nearest::nearest;

use self::suggestion::Suggestions;
use crate::{
    error::ScriptError,
    interface::{Interface, Members},
    modules,
    source::{
        Location, Resolved, Source, SourceKind, Sources, Specifier,
        usage::{Call, FreeName, Member, Path, Usage, Whole},
        usage_of,
    },
};

/// The most findings of a script. A person does not fix more at a time.
const MAX_FINDINGS: usize = 100;

/// The most names that a sentence lists.
const MOST_LISTED: usize = 20;

/// A mistake in the text of a script.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The place.
    pub location: Location,
    /// The name as the script writes it: `http.gett`.
    pub name: String,
    /// The problem, the expected name, and the next step.
    pub problem: String,
    /// Whether the script may handle the mistake, or never meet it.
    pub is_warning: bool,
}

/// A script whose text was read for names.
#[derive(Debug)]
pub struct Review<'s> {
    interface: Interface,
    modules: Vec<(&'s Source, Usage)>,
    /// The exports of each module, for imports from it.
    sources: &'s Sources,
}

impl<'s> Review<'s> {
    /// Reads the files of a script for names. Fetched modules are left out: their authors check them.
    ///
    /// # Errors
    /// When there is no memory for a runtime, or no thread for the parser.
    pub fn read(sources: &'s Sources) -> Result<Self, ScriptError> {
        let files = sources
            .modules
            .iter()
            .filter(|source| !source.specifier.is_remote());
        let read = |source: &'s Source| {
            let usage = usage_of(source).map_err(|error| ScriptError::new(error.to_string()))?;
            Ok((source, usage))
        };
        Ok(Self {
            interface: Interface::read()?,
            modules: files.map(read).collect::<Result<_, ScriptError>>()?,
            sources,
        })
    }

    /// The mistakes of all files in the order of the text, at most 100.
    pub fn findings(&self) -> Vec<Finding> {
        let defined: HashSet<&str> = self
            .modules
            .iter()
            .flat_map(|(_, usage)| usage.globals.iter().map(String::as_str))
            .collect();
        let is_open = self.modules.iter().any(|(_, usage)| usage.is_open);
        let mut findings = Vec::new();
        for (source, usage) in &self.modules {
            let reading = Reading {
                review: self,
                source,
                // A library may have code for other programs that never runs here.
                is_library: source.kind == SourceKind::CommonJs && source.specifier != self.sources.entry,
            };
            let free = usage.free.iter();
            let free = free.filter(|free| {
                !self.interface.globals.contains(&free.name) && !defined.contains(free.name.as_str())
            });
            findings.extend(free.map(|free| reading.free(free, is_open)));
            findings.extend(usage.members.iter().filter_map(|member| reading.member(member)));
            findings.extend(usage.paths.iter().filter_map(|path| reading.path(path)));
            findings.extend(usage.calls.iter().filter_map(|call| reading.call(call)));
            if findings.len() > MAX_FINDINGS {
                break;
            }
        }
        findings.truncate(MAX_FINDINGS);
        let position = |finding: &Finding| (finding.location.line, finding.location.column);
        findings.sort_by(|a, b| (&a.location.file, position(a)).cmp(&(&b.location.file, position(b))));
        findings
    }

    /// The place of an option in the entry's literal, by its path: `scenarios.chat.exec`. A path that does not exist has
    /// the place of the nearest key above it. `None` if the options are no literal.
    pub fn option(&self, path: &str) -> Option<Location> {
        let (source, usage) = self.entry()?;
        let literal = usage.options.as_ref()?;
        let mut known = path;
        let offset = loop {
            if let Some(offset) = literal.places.get(known) {
                break *offset;
            }
            match known.rfind(['.', '[']) {
                Some(end) => known = &known[..end],
                None => break literal.offset,
            }
        };
        Some(source.place(offset))
    }

    /// Exported functions of the entry that no scenario calls, if the text has all scenarios. `called` are the functions
    /// of the scenarios.
    pub fn idle_functions(&self, called: &[&str]) -> Vec<Finding> {
        /// Functions that the run calls by itself.
        const OF_RUN: [&str; 3] = ["setup", "teardown", "handleSummary"];
        let Some((source, usage)) = self.entry() else {
            return Vec::new();
        };
        let is_fixed = usage
            .options
            .as_ref()
            .is_some_and(|options| options.has_fixed_scenarios);
        let exports = usage.exports.iter().flatten().filter(|_| is_fixed);
        let idle = exports.filter(|(name, export)| {
            export.is_idle_function && !called.contains(&name.as_str()) && !OF_RUN.contains(&name.as_str())
        });
        idle.map(|(name, export)| Finding {
            location: source.place(export.offset),
            name: name.clone(),
            problem:
                "no scenario calls this function; name it in the `exec` of a scenario, or do not export it"
                    .to_string(),
            is_warning: true,
        })
        .collect()
    }

    fn entry(&self) -> Option<&(&'s Source, Usage)> {
        self.modules
            .iter()
            .find(|(source, _)| source.specifier == self.sources.entry)
    }

    fn usage(&self, specifier: &Specifier) -> Option<&Usage> {
        let mut modules = self.modules.iter();
        let (_, usage) = modules
            .find(|(source, _)| source.specifier == *specifier && source.kind == SourceKind::EsModule)?;
        Some(usage)
    }
}

/// One file.
struct Reading<'r, 's> {
    review: &'r Review<'s>,
    source: &'s Source,
    is_library: bool,
}

impl Reading<'_, '_> {
    fn free(&self, free: &FreeName, is_open: bool) -> Finding {
        let interface = &self.review.interface;
        let suggestions = Suggestions { interface };
        Finding {
            location: self.source.place(free.offset),
            name: free.name.clone(),
            problem: format!(
                "is not defined; {}",
                suggestions.of_free(&free.name, free.nearest.as_deref())
            ),
            is_warning: is_open || self.is_library || !free.is_certain,
        }
    }

    fn member(&self, member: &Member) -> Option<Finding> {
        let problem = match self.resolve(&member.module)? {
            Resolved::Builtin(id) => missing_of_builtin(id, self.review.interface.modules.get(id)?, member)?,
            Resolved::Module(specifier) => missing_of_file(self.review.usage(specifier)?, member)?,
        };
        Some(Finding {
            location: self.source.place(member.offset),
            name: member.written.clone(),
            problem,
            is_warning: self.is_library || !member.is_certain,
        })
    }

    fn path(&self, path: &Path) -> Option<Finding> {
        let Resolved::Builtin(id) = self.resolve(&path.module)? else {
            return None;
        };
        let class = modules::class_of_default(id)?;
        if path.class.as_deref().is_some_and(|of| of != class) {
            return None;
        }
        Some(Finding {
            location: self.source.place(path.offset),
            name: path.written.clone(),
            problem: missing_of_path(id, self.review.interface.modules.get(id)?, &path.names)?,
            is_warning: self.is_library || !path.is_certain,
        })
    }

    fn call(&self, call: &Call) -> Option<Finding> {
        let Resolved::Builtin(id) = self.resolve(&call.module)? else {
            return None;
        };
        Some(Finding {
            location: self.source.place(call.offset),
            name: call.name.clone(),
            problem: arity::problem(id, &call.name, call.n_arguments)?,
            is_warning: self.is_library,
        })
    }

    /// The meaning of an import's text in this file.
    fn resolve(&self, written: &str) -> Option<&Resolved> {
        let imports = self.source.imports.iter();
        let mut resolved = imports.filter(|import| import.written == written);
        resolved.next().map(|import| &import.resolved)
    }
}

fn missing_of_builtin(id: &str, members: &Members, member: &Member) -> Option<String> {
    let has = match member.whole {
        Whole::Named => members.exports.contains(&member.name),
        Whole::Default => members.of_default.contains(&member.name),
        Whole::Namespace => members.exports.contains(&member.name) || member.name == "default",
    };
    if has {
        return None;
    }
    let names = match member.whole {
        Whole::Default => &members.of_default,
        Whole::Named | Whole::Namespace => &members.exports,
    };
    Some(missing(
        id,
        &member.name,
        names.iter().filter(|name| *name != "default"),
    ))
}

/// The problem of a property of an object. An object that does not exist is the problem of its own name.
fn missing_of_path(id: &str, members: &Members, names: &[String]) -> Option<String> {
    let (module, name, known) = match names {
        [name] => (id.to_owned(), name, &members.of_default),
        [object, name] => (
            format!("`{object}` of {id}"),
            name,
            members.of_objects.get(object)?,
        ),
        _ => return None,
    };
    (!known.contains(name)).then(|| missing(&module, name, known.iter()))
}

fn missing_of_file(usage: &Usage, member: &Member) -> Option<String> {
    let exports = usage.exports.as_ref()?;
    // The default of a file is any value.
    if member.whole == Whole::Default || exports.contains_key(&member.name) {
        return None;
    }
    Some(missing(&member.module, &member.name, exports.keys()))
}

fn missing<'n>(module: &str, name: &str, names: impl Iterator<Item = &'n String> + Clone) -> String {
    let next = match nearest(name, names.clone()) {
        Some(nearest) => format!("did you mean `{nearest}`?"),
        None => {
            let own = names.filter(|name| !suggestion::is_noise(name));
            let listed: Vec<_> = own.take(MOST_LISTED + 1).map(String::as_str).collect();
            match listed.len() {
                0 => "it exports nothing".to_owned(),
                n if n > MOST_LISTED => format!("it has: {}, …", listed[..MOST_LISTED].join(", ")),
                _ => format!("it has: {}", listed.join(", ")),
            }
        }
    };
    format!("{module} has no `{name}`; {next}")
}

#[cfg(test)]
mod tests;
