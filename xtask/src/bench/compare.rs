//! Whether comparisons are right: no pair of equal runs is to differ, and a target whose answers take 30 % longer is to be
//! worse. `benchmarks/compare/pairs.mjs` asks the harder question about 20 %.
//!
//! The target is a server of this program that holds its answers, so that what is right is known; everything else, the load
//! client and the machine with its neighbours, is as it always is.

mod target;

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
    time::Duration,
};

use serde_json::{Value, json};

use self::target::Target;
use super::{Error, Outcome, Plan, budget, generator, sheet::Sheet};
use crate::command;

/// Pairs of equal runs, and as many of different ones.
const N_PAIRS: usize = 10;

/// How long answers are held, as in the experience that comparisons rest on (decision 7).
const HELD: Duration = Duration::from_millis(20);

/// 30 % longer.
const HELD_LONGER: Duration = Duration::from_millis(26);

/// Of each run. A comparison takes eight whole seconds.
const SECONDS: &str = "9s";

/// Places that ask without pauses.
const CONCURRENCY: &str = "10";

/// The verdicts that are right for equal runs: which of the two depends on the noise.
const OF_EQUAL: &[&str] = &["equal", "inconclusive"];
const OF_SLOWED: &[&str] = &["worse"];

const FIRST: &str = "first p50 ms";
const SECOND: &str = "second p50 ms";
const SLOWED: &str = "slowed p50 ms";
const EQUAL_WRONG: &str = "equal wrong";
const SLOWED_WRONG: &str = "slowed wrong";

/// Makes all runs, one after the other, and compares them.
pub(super) fn run(plan: &Plan) -> Result<Outcome, Error> {
    let folder = folder(plan)?;
    let title = format!(
        "compare: {CONCURRENCY} requests at a time for {SECONDS}, answers held {} ms and {} ms",
        HELD.as_millis(),
        HELD_LONGER.as_millis()
    );
    let mut sheet = Sheet::new(title, &[FIRST, SECOND, SLOWED, EQUAL_WRONG, SLOWED_WRONG]);
    let mut reports = Vec::new();
    let mut n_wrong = [0.0; 2];
    for pair in 0..N_PAIRS {
        let report = |name: &str| folder.join(format!("{pair}-{name}.json"));
        let (first, second, slowed) = (report("first"), report("second"), report("slowed"));
        let p50 = [
            load(plan, HELD, &first)?,
            load(plan, HELD, &second)?,
            load(plan, HELD_LONGER, &slowed)?,
        ];
        let [equal, slower] = [(&second, OF_EQUAL), (&slowed, OF_SLOWED)].map(|(candidate, right)| {
            let comparison = compare(plan, &first, candidate)?;
            let verdict = comparison.pointer("/0/verdict").and_then(Value::as_str);
            let is_wrong = !verdict.is_some_and(|verdict| right.contains(&verdict));
            Ok::<_, Error>((f64::from(u8::from(is_wrong)), comparison))
        });
        let ((equal_wrong, equal), (slower_wrong, slower)) = (equal?, slower?);
        n_wrong = [n_wrong[0] + equal_wrong, n_wrong[1] + slower_wrong];
        sheet.push(vec![p50[0], p50[1], p50[2], equal_wrong, slower_wrong]);
        reports.push(json!({ "equal": equal, "slowed": slower }));
    }
    let verdicts = [
        budget::COMPARE_WRONG.judge("equal runs".into(), n_wrong[0]),
        budget::COMPARE_WRONG.judge("answers held 30 % longer".into(), n_wrong[1]),
    ];
    let mut outcome = Outcome::default();
    outcome.add(&sheet, &verdicts, &reports);
    Ok(outcome)
}

/// One run against a fresh target; writes its report. Returns the median latency in milliseconds.
fn load(plan: &Plan, held: Duration, report: &Path) -> Result<f64, Error> {
    let target = Target::start(held).map_err(Error::Limit)?;
    let url = format!("http://{}/", target.address());
    let path = report.display().to_string();
    let arguments = [
        "http",
        "-k",
        "-q",
        "-c",
        CONCURRENCY,
        "--duration",
        SECONDS,
        "--report",
        &path,
        &url,
    ];
    let found = generator::run(&plan.generator, &arguments)?;
    Ok(found.number("/latency_us/p50")? / 1e3)
}

/// What the program says of two runs.
fn compare(plan: &Plan, baseline: &Path, candidate: &Path) -> Result<Value, Error> {
    let mut program = Command::new(&plan.generator);
    program
        .arg("report")
        .args([baseline, candidate])
        .args(["--format", "json"]);
    let line = command::line(&program);
    // Its exit code says what the verdict says, too.
    let output = program.output().map_err(|source| Error::Start {
        program: line,
        source,
    })?;
    Ok(serde_json::from_slice(&output.stdout)?)
}

/// For the reports of the runs.
fn folder(plan: &Plan) -> Result<PathBuf, Error> {
    let folder = plan.target.join("bench-compare");
    fs::create_dir_all(&folder).map_err(Error::Folder)?;
    Ok(folder)
}
