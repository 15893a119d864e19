//! k6's web dashboard: `--out web-dashboard` and `K6_WEB_DASHBOARD_*` become `--ui` and `--report`.

use std::ffi::OsString;

use plimsoll_outputs::DASHBOARDS;

use super::mistake::Mistake;
use crate::surroundings::Surroundings;

/// k6's port.
const PORT: &str = "5665";

/// Settings of k6's dashboard that change nothing here: how often and by which tags it sums up.
const WITHOUT_EFFECT: [&str; 2] = ["period", "tag"];

/// Replaces the dashboard in the arguments of `run`, if they or the variables ask for it.
///
/// # Errors
/// Settings that this program does not have.
pub(super) fn translated(
    arguments: Vec<OsString>,
    surroundings: &Surroundings<'_>,
) -> Result<Vec<OsString>, Mistake> {
    let (mut rest, argument) = without_output(arguments);
    let is_on = surroundings
        .variable("K6_WEB_DASHBOARD")
        .is_some_and(|value| matches!(value, "true" | "1"));
    let Some(argument) = argument.or_else(|| is_on.then(String::new)) else {
        return Ok(rest);
    };
    let has = |flag: &str, rest: &[OsString]| {
        let mut words = rest.iter().filter_map(|word| word.to_str());
        words.any(|word| word == flag || word.strip_prefix(flag).is_some_and(|rest| rest.starts_with('=')))
    };
    let settings = Settings::read(&argument, surroundings)?;
    let at = rest.len().min(2);
    if let Some(file) = settings.export {
        rest.insert(at, format!("--report={file}").into());
    }
    if let Some(address) = settings.address
        && !has("--ui", &rest)
    {
        rest.insert(at, format!("--ui={address}").into());
    }
    Ok(rest)
}

/// The arguments without the output, and what stands behind its name.
fn without_output(arguments: Vec<OsString>) -> (Vec<OsString>, Option<String>) {
    let (mut rest, mut found) = (Vec::new(), None);
    let mut words = arguments.into_iter().peekable();
    while let Some(word) = words.next() {
        let text = word.to_str().unwrap_or_default();
        let attached = text.strip_prefix("--out=").or_else(|| {
            let behind = text.strip_prefix("-o")?;
            (!behind.is_empty()).then(|| behind.trim_start_matches('='))
        });
        let is_alone = matches!(text, "--out" | "-o");
        let next = words.peek().and_then(|next| next.to_str()).filter(|_| is_alone);
        let argument = attached.or(next).and_then(of_dashboard).map(str::to_owned);
        match argument {
            Some(argument) => {
                found = Some(argument);
                if is_alone {
                    words.next();
                }
            }
            None => rest.push(word),
        }
    }
    (rest, found)
}

/// What stands behind the name of the dashboard; `None` for other outputs.
fn of_dashboard(output: &str) -> Option<&str> {
    let (name, argument) = output.split_once('=').unwrap_or((output, ""));
    DASHBOARDS.contains(&name).then_some(argument)
}

/// What the dashboard was asked for.
struct Settings {
    /// Where the page is; `None` without one.
    address: Option<String>,
    /// The file of the report.
    export: Option<String>,
}

impl Settings {
    /// `port=5665&export=report.html`, then the variables.
    fn read(argument: &str, surroundings: &Surroundings<'_>) -> Result<Self, Mistake> {
        let mistake = |name: &str, problem: String| Mistake::new(format!("web-dashboard, {name}"), problem);
        let pairs = argument.split('&').filter(|pair| !pair.is_empty());
        let pairs: Vec<_> = pairs
            .map(|pair| pair.split_once('=').unwrap_or((pair, "")))
            .collect();
        const KNOWN: [&str; 5] = ["host", "port", "export", "open", "record"];
        let is_known =
            |name: &str| KNOWN.contains(&name) || WITHOUT_EFFECT.contains(&name.trim_end_matches('s'));
        if let Some((name, _)) = pairs.iter().find(|(name, _)| !is_known(name)) {
            return Err(mistake(
                name,
                format!("there is no such setting; expected {}", KNOWN.join(", ")),
            ));
        }
        let get = |name: &str| {
            let written = pairs
                .iter()
                .find(|(known, _)| *known == name)
                .map(|&(_, value)| value);
            let variable = format!("K6_WEB_DASHBOARD_{}", name.to_ascii_uppercase());
            let value = written.or_else(|| surroundings.variable(&variable));
            value.filter(|value| !value.is_empty()).map(str::to_owned)
        };
        if get("open").is_some_and(|value| !matches!(value.as_str(), "false" | "0")) {
            return Err(mistake(
                "open",
                "no browser is opened; remove the setting, and open the address that the run prints"
                    .to_owned(),
            ));
        }
        if get("record").is_some() {
            return Err(mistake(
                "record",
                "recordings of the dashboard are not supported; --out json=FILE writes all samples"
                    .to_owned(),
            ));
        }
        let host = get("host").unwrap_or_else(|| "localhost".to_owned());
        let port = get("port").unwrap_or_else(|| PORT.to_owned());
        let address = match port.parse::<i64>() {
            Ok(-1) => None,
            Ok(number) if u16::try_from(number).is_ok() => Some(format!("{host}:{number}")),
            _ => {
                return Err(mistake(
                    "port",
                    format!("expected a port, 0 for a free one or -1 for no page, found `{port}`"),
                ));
            }
        };
        Ok(Self {
            address,
            export: get("export"),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(typed: &str, environment: &[(&str, &str)], expected: Result<&str, &str>) {
        let surroundings = Surroundings::of_variables(environment);
        let arguments = typed.split_whitespace().map(OsString::from).collect();
        let found = translated(arguments, &surroundings);
        let found = found.map(|words| {
            let words: Vec<_> = words.iter().map(|word| word.to_str().unwrap()).collect();
            words.join(" ")
        });
        match (found, expected) {
            (Ok(found), Ok(expected)) => assert_eq!(found, expected),
            (Err(found), Err(expected)) => assert!(found.to_string().contains(expected), "{found}"),
            (found, expected) => panic!("{found:?} instead of {expected:?}"),
        }
    }

    #[test]
    fn the_dashboard_is_a_page_and_a_report() {
        for (typed, environment, expected) in [
            ("p run a.js", &[][..], "p run a.js"),
            (
                "p run -o json a.js",
                &[("K6_WEB_DASHBOARD", "false")],
                "p run -o json a.js",
            ),
            (
                "p run a.js",
                &[("K6_WEB_DASHBOARD", "true")],
                "p run --ui=localhost:5665 a.js",
            ),
            (
                "p run --out web-dashboard a.js",
                &[],
                "p run --ui=localhost:5665 a.js",
            ),
            (
                "p run -o=csv --out=web-dashboard=port=0&export=r.html&period=1s a.js",
                &[("K6_WEB_DASHBOARD_HOST", "127.0.0.1")],
                "p run --ui=127.0.0.1:0 --report=r.html -o=csv a.js",
            ),
            (
                "p run --ui=:1 -o dashboard a.js",
                &[("K6_WEB_DASHBOARD_EXPORT", "x.html")],
                "p run --report=x.html --ui=:1 a.js",
            ),
            ("p run -oweb-dashboard=port=-1 a.js", &[], "p run a.js"),
        ] {
            check(typed, environment, Ok(expected));
        }
    }

    #[test]
    fn what_is_missing_is_said() {
        for (argument, expected) in [
            ("open", "no browser is opened"),
            ("open=true", "no browser is opened"),
            ("record=a.ndjson", "--out json=FILE"),
            ("port=x", "expected a port"),
            (
                "colour=red",
                "there is no such setting; expected host, port, export",
            ),
        ] {
            if argument == "open" {
                check(
                    "p run -o web-dashboard a.js",
                    &[("K6_WEB_DASHBOARD_OPEN", "1")],
                    Err(expected),
                );
            } else {
                check(
                    &format!("p run -o web-dashboard={argument} a.js"),
                    &[],
                    Err(expected),
                );
            }
        }
    }
}
