//! No two files of a crate use each other: a reader of one file must be able to leave the other one for later.
//!
//! File A uses file B when A names something that B defines: a type, a function, a constant, a macro. Where A took the
//! name from does not matter: names that a file only passes on (`pub use`) belong to the file that defines them. So a
//! parent that declares its child and passes on the child's names does not use it, and a child that takes from its
//! parent what a third file defines does not use the parent. What tests use does not count, nor do methods: the files
//! with the `impl` blocks of a type use the file of the type, and not the other way round.

use std::collections::{BTreeMap, VecDeque};

use super::{
    Finding,
    names::{Form, Import, Mention},
    workspace::{Crate, File, Module},
};

#[cfg(test)]
mod tests;

/// The crates without cycles, which stay so. The others are to follow.
const HELD: [&str; 14] = [
    "broker",
    "cable",
    "fake",
    "hub",
    "load",
    "loopback",
    "plimsoll",
    "redacted",
    "rpc",
    "script",
    "server",
    "telemetry",
    "trust",
    "websocket",
];

/// How often names may be passed on. Only a cycle of `pub use` is longer.
const MOST_STEPS: usize = 30;

/// For each file, the files that it uses: for each of them a line and a name.
type Uses<'a> = BTreeMap<Module<'a>, BTreeMap<Module<'a>, (usize, &'a str)>>;

/// One finding for each cycle in crates that are held to have none.
pub(super) fn findings(crates: &BTreeMap<&str, Crate<'_>>) -> Vec<Finding> {
    let held = HELD.iter().filter_map(|name| crates.get(name));
    held.flat_map(cycles_of).collect()
}

fn cycles_of(of: &Crate<'_>) -> Vec<Finding> {
    let uses = uses(of);
    let mut told: Vec<Module<'_>> = Vec::new();
    let mut findings = Vec::new();
    for module in uses.keys() {
        if told.contains(module) {
            continue;
        }
        if let Some(cycle) = shortest_cycle(&uses, module) {
            findings.push(finding(of, &uses, &cycle));
            told.extend(cycle);
        }
    }
    findings
}

fn finding(of: &Crate<'_>, uses: &Uses<'_>, cycle: &[Module<'_>]) -> Finding {
    let next = |position: usize| &cycle[(position + 1) % cycle.len()];
    let steps = cycle.iter().enumerate().map(|(position, module)| {
        let (line, name) = uses[module][next(position)];
        let (user, used) = (
            of.files[module].path.display(),
            of.files[next(position)].path.display(),
        );
        format!("{user}:{line} uses `{name}` of {used}")
    });
    let steps: Vec<_> = steps.collect();
    Finding {
        path: of.files[&cycle[0]].path.to_owned(),
        line: uses[&cycle[0]][next(0)].0,
        what: format!(
            "files of `{}` use each other: {}; move what is used by both to a file of its own",
            of.name,
            steps.join(", ")
        ),
    }
}

/// The fewest files, `start` first, each of which uses the next one, and the last one `start`.
fn shortest_cycle<'a>(uses: &Uses<'a>, start: &Module<'a>) -> Option<Vec<Module<'a>>> {
    let mut from: BTreeMap<&Module<'a>, &Module<'a>> = BTreeMap::new();
    let mut waiting = VecDeque::from([uses.get_key_value(start)?.0]);
    while let Some(module) = waiting.pop_front() {
        for used in uses.get(module).into_iter().flat_map(BTreeMap::keys) {
            if used == start {
                let mut cycle = vec![module.clone()];
                while cycle.last() != Some(start) {
                    let before = from[cycle.last().expect("it has the first module at least")];
                    cycle.push(before.clone());
                }
                cycle.reverse();
                return Some(cycle);
            }
            if !from.contains_key(used) {
                from.insert(used, module);
                waiting.push_back(used);
            }
        }
    }
    None
}

fn uses<'a>(of: &Crate<'a>) -> Uses<'a> {
    let mut uses = Uses::new();
    for (module, file) in &of.files {
        let imported = file
            .names
            .imports
            .iter()
            .filter(|import| !import.is_exported)
            .map(|import| (&import.path, import.line));
        let mentioned = file
            .names
            .mentions
            .iter()
            .filter(|mention| names_an_item(mention, file))
            .map(|mention| (&mention.path, mention.line));
        let mut of_file = BTreeMap::new();
        for (path, line) in imported.chain(mentioned) {
            if let Some((used, name)) = definition(of, module, path, MOST_STEPS)
                && used != *module
            {
                of_file.entry(used).or_insert((line, name));
            }
        }
        uses.insert(module.clone(), of_file);
    }
    uses
}

/// Whether a mention may be of something that another file defines. A word alone in lower case may as well be a variable,
/// unless it is called; and one that is imported counts with its import already.
fn names_an_item(mention: &Mention<'_>, file: &File<'_>) -> bool {
    let is_member = matches!(mention.form, Form::Method | Form::Field);
    let [name] = mention.path[..] else {
        return !is_member;
    };
    let is_variable = name.starts_with(|first: char| first.is_lowercase());
    match mention.form {
        _ if is_member => false,
        Form::Plain if is_variable => false,
        _ => file.names.import(name).is_none_or(|import| import.is_exported),
    }
}

/// The file in which what `path` names is defined, seen from `module`, and its name there.
fn definition<'a>(
    of: &Crate<'a>,
    module: &Module<'a>,
    path: &[&'a str],
    steps: usize,
) -> Option<(Module<'a>, &'a str)> {
    let (mut module, mut path) = (module.clone(), path);
    loop {
        match path.split_first()? {
            (&"crate", rest) => (module, path) = (Module::new(), rest),
            (&"self", rest) => path = rest,
            (&"super", rest) => {
                module.pop()?;
                path = rest;
            }
            _ => return inside(of, &module, path, steps),
        }
    }
}

/// As [`definition`], for a path that begins with a name in `module`.
fn inside<'a>(
    of: &Crate<'a>,
    module: &Module<'a>,
    path: &[&'a str],
    steps: usize,
) -> Option<(Module<'a>, &'a str)> {
    let steps = steps.checked_sub(1)?;
    let (name, rest) = path.split_first()?;
    let names = &of.files.get(module)?.names;
    // A function and a module may have the same name; a path goes on only behind the module.
    if names.modules.contains(name) && !rest.is_empty() {
        let child: Module<'_> = module.iter().chain([name]).copied().collect();
        return inside(of, &child, rest, steps);
    }
    if names.items.contains(name) {
        return Some((module.clone(), *name));
    }
    if let Some(import) = names.import(name) {
        return imported(of, module, import, rest, steps);
    }
    let all = names.imports.iter().filter(|import| import.name == "*");
    all.filter_map(|import| {
        let (_, of_module) = import.path.split_last()?;
        let longer: Vec<_> = of_module.iter().chain(path).copied().collect();
        // The module itself may be one that is seen only from here.
        definition(of, module, &longer, steps).filter(|(found, _)| found != module)
    })
    .next()
}

fn imported<'a>(
    of: &Crate<'a>,
    module: &Module<'a>,
    import: &Import<'a>,
    rest: &[&'a str],
    steps: usize,
) -> Option<(Module<'a>, &'a str)> {
    // `use a;` brings in `a` itself, which is no name of this module.
    if import.path.len() == 1 {
        return None;
    }
    let longer: Vec<_> = import.path.iter().chain(rest).copied().collect();
    definition(of, module, &longer, steps)
}
