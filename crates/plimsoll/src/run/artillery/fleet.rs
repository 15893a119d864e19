//! An Artillery file on a fleet: the coordinator packs all that it has read, and each agent makes its segment of the plan.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    sync::Arc,
};

use plimsoll_fleet::{Task, take_part};
use plimsoll_load::{
    plan::{Plan, Scenario},
    preflight::UserKind,
    segment::Split,
};
use plimsoll_scenario::artillery::{Test, Users};

use super::{
    super::line::{SteadyLoad, judged},
    input::{Input, Source},
    library::{Kept, Library},
    options::{LayerFlags, Options, TestFlags},
};
use crate::{
    exit::{Failure, TestFailure},
    fleet::{ArtilleryPackage, Errand, FileSet, Package, Wanted},
    session::{Crowd, check_memory},
    surroundings::Surroundings,
};

/// Variables that name proxies. They belong to a machine, so each agent has its own.
const PROXIES: [&str; 4] = ["HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"];

/// A test that a fleet is going to run, as the coordinator has read it.
pub(in crate::run) struct Read<'a> {
    pub(in crate::run) sources: &'a [Source],
    pub(in crate::run) plan: &'a Plan,
    /// All files that the test has read.
    pub(in crate::run) kept: &'a Kept,
    /// The variables of the coordinator's environment.
    pub(in crate::run) system: &'a BTreeMap<String, String>,
    pub(in crate::run) seed: u64,
}

/// Packs a test for a fleet.
///
/// # Errors
/// Several machines cannot make this run together, or it cannot be packed.
pub(super) fn errand(
    wanted: Wanted,
    options: &Options,
    test: &Test,
    read: &Read<'_>,
) -> Result<Errand, Failure> {
    let obstacles = test.obstacles();
    if !obstacles.is_empty() {
        return Err(Failure::Usage(format!("--fleet: {}", obstacles.join("; "))));
    }
    let results = &options.results;
    let head = ArtilleryPackage {
        is_solo: results.solo,
        max_duration: results.max_duration,
        ..ArtilleryPackage::default()
    };
    pack(wanted, &options.test, head, read)
}

/// Packs a step of a search for a fleet.
///
/// # Errors
/// It cannot be packed.
pub(in crate::run) fn errand_of_step(
    wanted: Wanted,
    flags: &TestFlags,
    steady: SteadyLoad,
    read: &Read<'_>,
) -> Result<Errand, Failure> {
    let head = ArtilleryPackage {
        steady: Some(steady),
        ..ArtilleryPackage::default()
    };
    pack(wanted, flags, head, read)
}

fn pack(
    wanted: Wanted,
    flags: &TestFlags,
    head: ArtilleryPackage,
    read: &Read<'_>,
) -> Result<Errand, Failure> {
    let package = package(flags, head, read);
    let package = package.map_err(|problem| Failure::Usage(format!("--fleet: {problem}")))?;
    Ok(Errand::equal(wanted, read.plan, package))
}

fn package(flags: &TestFlags, head: ArtilleryPackage, read: &Read<'_>) -> Result<Vec<u8>, String> {
    let name = |path: &Path| {
        let name = path.to_str().map(str::to_owned);
        name.ok_or_else(|| {
            format!(
                "the path {} is not UTF-8, as those of a package are",
                path.display()
            )
        })
    };
    let TestFlags {
        target,
        environment,
        variables,
        scenario_name,
        insecure,
        layers,
        ..
    } = flags;
    let mut files = read.kept.files();
    let mut sources = Vec::new();
    for source in read.sources {
        let path = name(&source.path)?;
        files.insert(path.clone(), source.text.clone().into_bytes());
        sources.push(path);
    }
    let (entries, contents) = files.write();
    let package = ArtilleryPackage {
        sources,
        config: layers.config.as_deref().map(name).transpose()?,
        payload: layers.payload.as_deref().map(name).transpose()?,
        overrides: layers.overrides.clone(),
        target: target.clone(),
        environment: environment.clone(),
        variables: variables.clone(),
        scenario_name: scenario_name.clone(),
        is_insecure: *insecure,
        seed: read.seed,
        system: needed(flags, read),
        files: entries,
        processors: read.kept.processors()?,
        ..head
    };
    Package::Artillery(Box::new(package)).write(&contents)
}

/// The variables of the environment that the test may read: those that it names, and those of `--dotenv`.
fn needed(flags: &TestFlags, read: &Read<'_>) -> BTreeMap<String, String> {
    let flags = [&flags.variables, &flags.layers.overrides].into_iter().flatten();
    let texts: Vec<_> = read
        .sources
        .iter()
        .map(|source| &source.text)
        .chain(flags)
        .collect();
    let is_named = |name: &str| texts.iter().any(|text| has_word(text, name)) || read.kept.mentions(name);
    let variables = read
        .system
        .iter()
        .filter(|(name, _)| !PROXIES.contains(&name.as_str()) && is_named(name));
    variables
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect()
}

/// Whether a text has a name that is not a part of another one.
fn has_word(text: &str, word: &str) -> bool {
    let is_letter = |c: char| c.is_alphanumeric() || c == '_';
    text.match_indices(word).any(|(at, _)| {
        let (before, behind) = (
            text[..at].chars().next_back(),
            text[at + word.len()..].chars().next(),
        );
        !before.is_some_and(is_letter) && !behind.is_some_and(is_letter)
    })
}

/// The plan of a search: one scenario stands for the phases of the file.
///
/// # Errors
/// The file has no users.
pub(in crate::run) fn of_search(planned: Plan) -> Result<Plan, Failure> {
    let first = planned
        .scenarios
        .first()
        .map(|scenario| scenario.executor.clone());
    let executor = first.ok_or_else(|| Failure::Usage("the phases of the file have no users".to_owned()))?;
    Ok(Plan {
        scenarios: vec![Scenario {
            exec: "line".to_owned(),
            ..Scenario::new("line", executor)
        }],
        ..planned
    })
}

/// Carries out an agent's part of a file, and tells of it.
pub(crate) async fn take_part_in_artillery(
    package: &ArtilleryPackage,
    contents: &[u8],
    task: &Task,
    surroundings: &Surroundings<'_>,
) {
    match prepare(package, contents, task, surroundings) {
        Ok((plan, users)) => {
            let Users {
                registry,
                factory,
                mut stages,
                ..
            } = users;
            let judged = judged(package.steady.as_ref());
            take_part(&task.duty, plan, registry, factory, &mut stages, judged).await;
        }
        Err(failure) => task.duty.refuse(failure.message(), failure.is_of_script()).await,
    }
}

fn prepare(
    package: &ArtilleryPackage,
    contents: &[u8],
    task: &Task,
    surroundings: &Surroundings<'_>,
) -> Result<(Plan, Users), Failure> {
    let test = read(package, contents, surroundings)?;
    let invalid = |error: &dyn std::fmt::Display| TestFailure::InvalidOptions.because(error);
    let whole = test.plan().map_err(|error| invalid(&error))?;
    let split = Split::equal(task.n_instances, task.instance);
    let (whole, plan) = match &package.steady {
        None => (whole.clone(), whole.segment(&split)),
        Some(steady) => {
            let whole = steady.plan(&of_search(whole)?)?;
            (whole.clone(), steady.segment(whole, &split)?)
        }
    };
    check_memory(Crowd::of(UserKind::Scenario, &plan))?;
    Ok((plan, test.part_of_users(&whole)))
}

/// Reads the test of a package, without a look at this machine's files.
fn read(
    package: &ArtilleryPackage,
    contents: &[u8],
    surroundings: &Surroundings<'_>,
) -> Result<Test, Failure> {
    let files = FileSet::read(&package.files, contents).map_err(Failure::Usage)?;
    let files = Arc::new(files);
    let flags = TestFlags {
        target: package.target.clone(),
        environment: package.environment.clone(),
        variables: package.variables.clone(),
        scenario_name: package.scenario_name.clone(),
        insecure: package.is_insecure,
        layers: LayerFlags {
            config: package.config.as_ref().map(PathBuf::from),
            payload: package.payload.as_ref().map(PathBuf::from),
            overrides: package.overrides.clone(),
            ..LayerFlags::default()
        },
        ..TestFlags::default()
    };
    let mut system = package.system.clone();
    let own = PROXIES
        .iter()
        .filter_map(|&name| Some((name.to_owned(), surroundings.variable(name)?.to_owned())));
    system.extend(own);
    let sources = package.sources.iter().map(|path| {
        let path = PathBuf::from(path);
        let text = files
            .text(&path)
            .map_err(|error| Failure::unreadable(&path, &error))?;
        Ok(Source { path, text })
    });
    let sources = sources.collect::<Result<Vec<_>, Failure>>()?;
    let mut input = Input::new(&flags);
    input.is_solo = package.is_solo;
    input.max_duration = package.max_duration;
    input.seed = package.seed;
    let library = Library::Package {
        files,
        processors: package.processors.clone(),
    };
    input.read_from(&sources, &system, &library)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A package of these files, of which `test.yml` is the test.
    fn package(files: &[(&str, &str)]) -> (ArtilleryPackage, Vec<u8>) {
        let mut set = FileSet::default();
        for (path, text) in files {
            set.insert((*path).to_owned(), text.as_bytes().to_vec());
        }
        let (files, contents) = set.write();
        let package = ArtilleryPackage {
            sources: vec!["../a/test.yml".to_owned()],
            files,
            ..ArtilleryPackage::default()
        };
        (package, contents)
    }

    fn file(path: &str) -> String {
        format!(
            "config: {{ target: 'http://h', payload: {{ path: '{path}', fields: [a] }} }}\nscenarios: [{{ flow: [{{ get: {{ url: \
             '/{{{{ a }}}}{{{{ $env.ROOM }}}}' }} }}] }}]"
        )
    }

    #[test]
    fn a_test_is_read_from_its_package_alone() {
        let surroundings = Surroundings::of_variables(&[("ROOM", "of this machine")]);
        let (package, contents) = package(&[
            ("../a/test.yml", &file("../b/users.csv")),
            ("../a/../b/users.csv", "1\n"),
        ]);
        let test = read(&package, &contents, &surroundings)
            .unwrap_or_else(|failure| panic!("{}", failure.message()));
        assert!(test.warnings().is_empty(), "{:?}", test.warnings());
    }

    #[test]
    fn a_package_reaches_no_file_of_this_machine() {
        let check = |text: &str, words: &str| {
            // A name that leads out of the folder is a name.
            let (package, contents) = package(&[("../a/test.yml", text), ("../../../../etc/x", "1\n")]);
            let failure = read(&package, &contents, &Surroundings::of_process())
                .map(drop)
                .unwrap_err();
            assert!(failure.message().contains(words), "{}", failure.message());
        };
        let own = std::env::current_exe().unwrap();
        for path in [
            &*own.to_string_lossy(),
            "/etc/hostname",
            "../../../../../../../etc/hostname",
            "users.csv",
        ] {
            check(&file(path), "it is not among the files that the coordinator sent");
            let with_functions =
                file("users.csv").replace("payload:", &format!("processor: '{path}', payload:"));
            check(
                &with_functions,
                "it is not among the modules that the coordinator sent",
            );
        }
    }

    #[test]
    fn variables_are_found_by_their_whole_names() {
        let check = |text: &str, expected: bool| assert_eq!(has_word(text, "TOKEN"), expected, "{text}");
        check("{{ $env.TOKEN }}", true);
        check("$processEnvironment.TOKEN", true);
        check("TOKEN", true);
        check("MY_TOKEN TOKENS", false);
        check("MY_TOKEN, TOKEN", true);
        check("ÄTOKEN", false);
        check("", false);
    }
}
