//! A change next to its parent: both programs take turns, and a figure fails when it is worse beyond the noise that these
//! turns had.
//!
//! The machine drifts, so only the two runs of one turn are compared, and the order changes from turn to turn. What is
//! compared are the figures that have budgets; less is better for all of them.

use std::{
    collections::BTreeMap,
    fmt, fs,
    path::{Path, PathBuf},
};

use serde_json::Value;

use super::{Benchmark, Error, Name, Plan, chosen};
use crate::{BoxedError, command, repository};

/// The least number of turns: of three the scatter is hardly known.
pub(super) const MIN_TURNS: u32 = 4;

/// Growth that is not worth a failure, whatever the noise: changes of that size are within what a build differs by.
const TOLERATED: f64 = 1.03;

/// Both-sided 95 % quantiles of Student's t for 3, 4, … degrees of freedom.
const STUDENT: [f64; 9] = [3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201];

/// What is compared, and how often.
pub(super) struct Guard<'a> {
    /// The program of the parent. `None`: it is built.
    pub(super) parent: Option<&'a Path>,
    /// Whose figures. Empty: those of [`USUAL`].
    pub(super) of: &'a [Name],
    pub(super) turns: u32,
}

/// The benchmarks without programs of others, which take a few minutes each.
const USUAL: [Name; 4] = [Name::Fanout, Name::Client, Name::Idle, Name::Avalanche];

/// A figure of a benchmark, by its name and circumstances.
type Figure = (String, String);

/// The figure of both programs in each turn.
type Turns = BTreeMap<Figure, Vec<Pair>>;

/// What both programs had in one turn.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Pair {
    parent: f64,
    change: f64,
}

/// What the turns say about a figure.
#[derive(Debug, PartialEq)]
enum Verdict {
    /// The change, as a multiple of the parent, with the interval in which it lies with 95 % confidence.
    Ratio {
        is_worse: bool,
        ratio: f64,
        low: f64,
        high: f64,
    },
    /// Both had nothing in all turns, as for failures.
    Nothing,
    /// The parent had nothing in some turn, and the change something.
    Appeared,
}

impl Guard<'_> {
    /// Runs both programs in turn, and prints what each figure did.
    ///
    /// # Errors
    /// A benchmark fails, or a figure is worse.
    pub(super) fn run(&self, plan: &Plan) -> Result<(), BoxedError> {
        let parent = match self.parent {
            Some(program) => program.to_owned(),
            None => build_parent(&plan.target)?,
        };
        let names: Vec<Name> = if self.of.is_empty() {
            USUAL.to_vec()
        } else {
            self.of.to_vec()
        };
        let benchmarks: Vec<Benchmark> = names.into_iter().flat_map(chosen).collect();
        let mut turns = Turns::new();
        for turn in 0..self.turns {
            for benchmark in &benchmarks {
                println!("turn {} of {}: {}", turn + 1, self.turns, benchmark.name());
                let before = || figures(*benchmark, plan, &parent);
                let after = || figures(*benchmark, plan, &plan.server);
                let (before, after) = if turn % 2 == 0 {
                    let before = before()?;
                    (before, after()?)
                } else {
                    let after = after()?;
                    (before()?, after)
                };
                add(&mut turns, before, after);
            }
        }
        let (text, worse) = report(&turns);
        println!("{text}");
        if worse.is_empty() {
            Ok(())
        } else {
            Err(format!("worse than the parent: {}", worse.join(", ")).into())
        }
    }
}

/// The figures of one round of a benchmark with one program.
fn figures(benchmark: Benchmark, plan: &Plan, program: &Path) -> Result<BTreeMap<Figure, f64>, Error> {
    let plan = Plan {
        server: program.to_owned(),
        generator: program.to_owned(),
        target: plan.target.clone(),
        connections: plan.connections.clone(),
        rounds: 1,
    };
    let outcome = benchmark.run(&plan)?;
    let verdicts = outcome
        .raw
        .iter()
        .filter_map(|sheet| sheet["verdicts"].as_array());
    let figures = verdicts.flatten().filter_map(|verdict| {
        let text = |key: &str| Some(verdict.get(key)?.as_str()?.to_owned());
        let unit = text("unit")?;
        let name = format!("{} ({unit})", text("budget")?);
        Some((
            (name, text("circumstances")?),
            verdict.get("measured").and_then(Value::as_f64)?,
        ))
    });
    Ok(figures.collect())
}

fn add(turns: &mut Turns, before: BTreeMap<Figure, f64>, mut after: BTreeMap<Figure, f64>) {
    for (figure, parent) in before {
        if let Some(change) = after.remove(&figure) {
            turns.entry(figure).or_default().push(Pair { parent, change });
        }
    }
}

/// A line for each figure, and the names of those that are worse.
fn report(turns: &Turns) -> (String, Vec<String>) {
    let mut lines = Vec::new();
    let mut worse = Vec::new();
    for ((name, circumstances), pairs) in turns {
        let verdict = judge(pairs);
        if verdict.is_worse() {
            worse.push(name.clone());
        }
        lines.push(format!("{verdict}  {name}, {circumstances}"));
    }
    (lines.join("\n"), worse)
}

/// Judges the turns of one figure. Ratios are multiplicative, so their logarithms are averaged.
fn judge(pairs: &[Pair]) -> Verdict {
    if pairs.iter().any(|pair| pair.parent <= 0.0) {
        let is_more = |pair: &Pair| pair.change > pair.parent;
        return if pairs.iter().any(is_more) {
            Verdict::Appeared
        } else {
            Verdict::Nothing
        };
    }
    let logs: Vec<f64> = pairs
        .iter()
        .map(|pair| (pair.change / pair.parent).max(f64::MIN_POSITIVE).ln())
        .collect();
    let n = logs.len() as f64;
    let mean = logs.iter().sum::<f64>() / n;
    let half = match logs.len().checked_sub(MIN_TURNS as usize) {
        Some(place) => {
            let variance = logs.iter().map(|log| (log - mean).powi(2)).sum::<f64>() / (n - 1.0);
            // Of more turns, the quantile is hardly less.
            let student = STUDENT
                .get(place)
                .or(STUDENT.last())
                .copied()
                .unwrap_or(f64::INFINITY);
            student * (variance / n).sqrt()
        }
        None => f64::INFINITY,
    };
    let (ratio, low, high) = (mean.exp(), (mean - half).exp(), (mean + half).exp());
    Verdict::Ratio {
        is_worse: low > 1.0 && ratio > TOLERATED,
        ratio,
        low,
        high,
    }
}

impl Verdict {
    fn is_worse(&self) -> bool {
        match self {
            Self::Ratio { is_worse, .. } => *is_worse,
            Self::Nothing => false,
            Self::Appeared => true,
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ratio {
                is_worse,
                ratio,
                low,
                high,
            } => {
                let word = if *is_worse { "WORSE" } else { "ok   " };
                write!(f, "{word}  {ratio:.3} × ({low:.3} to {high:.3})")
            }
            Self::Nothing => write!(f, "ok     none in both"),
            Self::Appeared => write!(f, "WORSE  none in the parent"),
        }
    }
}

/// Builds the parent of the present commit, in folders of its own below the target folder, which later calls use again.
fn build_parent(target: &Path) -> Result<PathBuf, BoxedError> {
    let source = target.join("guard/source");
    let there = source.to_string_lossy();
    let parent = command::read(repository::command("git").args(["rev-parse", "HEAD~1"]))?;
    let git = |arguments: &[&str]| command::run(repository::command("git").args(arguments));
    if fs::exists(source.join(".git"))? {
        git(&["-C", &there, "checkout", "--quiet", "--detach", &parent])?;
    } else {
        // A folder that was deleted is still registered.
        git(&["worktree", "prune"])?;
        git(&["worktree", "add", "--quiet", "--detach", &there, &parent])?;
    }
    let built = target.join("guard/target");
    let mut build = repository::cargo();
    build.current_dir(&source).env("CARGO_TARGET_DIR", &built).args([
        "build",
        "--locked",
        "--release",
        "--package",
        "plimsoll",
    ]);
    command::run(&mut build)?;
    Ok(built.join("release/plimsoll"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(ratios: &[f64], is_worse: bool, expected: &str) {
        // The parent drifts from turn to turn, as machines do.
        let pairs: Vec<Pair> = ratios
            .iter()
            .zip([2.0, 3.1, 1.4, 2.7, 5.0, 0.9].into_iter().cycle())
            .map(|(ratio, parent)| Pair {
                parent,
                change: parent * ratio,
            })
            .collect();
        let verdict = judge(&pairs);
        assert_eq!(
            (verdict.is_worse(), verdict.to_string().as_str()),
            (is_worse, expected),
            "{ratios:?}"
        );
    }

    #[test]
    fn worse_is_what_is_beyond_the_noise_and_the_tolerance() {
        check(&[1.0; 5], false, "ok     1.000 × (1.000 to 1.000)");
        check(&[1.1; 5], true, "WORSE  1.100 × (1.100 to 1.100)");
        check(
            &[1.09, 1.11, 1.10, 1.12, 1.08],
            true,
            "WORSE  1.100 × (1.080 to 1.120)",
        );
        // As much on average, and too much noise to say so.
        check(
            &[0.8, 1.5, 1.0, 1.4, 0.9],
            false,
            "ok     1.086 × (0.771 to 1.530)",
        );
        // Certain, and not worth a failure.
        check(&[1.02; 5], false, "ok     1.020 × (1.020 to 1.020)");
        check(&[0.7; 5], false, "ok     0.700 × (0.700 to 0.700)");
        // Too few turns to know the noise.
        check(&[2.0; 3], false, "ok     2.000 × (0.000 to inf)");
    }

    #[test]
    fn failures_that_appear_are_worse() {
        let pair = |parent, change| Pair { parent, change };
        assert_eq!(judge(&[pair(0.0, 0.0); 4]), Verdict::Nothing);
        assert_eq!(judge(&[pair(0.0, 0.0), pair(0.0, 1.0)]), Verdict::Appeared);
        assert_eq!(judge(&[pair(2.0, 1.0), pair(0.0, 0.0)]), Verdict::Nothing);
    }

    #[test]
    fn figures_are_paired_by_name_and_circumstances() {
        let figures = |pairs: &[(&str, f64)]| -> BTreeMap<Figure, f64> {
            pairs
                .iter()
                .map(|(name, value)| (((*name).to_owned(), "1,000".to_owned()), *value))
                .collect()
        };
        let mut turns = Turns::new();
        for _ in 0..4 {
            add(
                &mut turns,
                figures(&[("CPU", 1.0), ("gone", 1.0)]),
                figures(&[("CPU", 1.5), ("new", 1.0)]),
            );
        }
        let (text, worse) = report(&turns);
        assert_eq!(text, "WORSE  1.500 × (1.500 to 1.500)  CPU, 1,000");
        assert_eq!(worse, ["CPU"]);
    }
}
