//! `plimsoll runs import`: results of other tools and other machines in the history.

mod artillery;
mod k6;

use std::{
    fs::{self, File},
    io::{self, BufRead as _, BufReader, Read, Write},
    path::{Path, PathBuf},
    time::SystemTime,
};

use clap::{Parser, ValueHint};
use plimsoll_history::{History, Run};
use plimsoll_report::{Summary, parse_rfc3339, rfc3339, summary::run_id};
use serde_json::Value;

use super::{
    entry,
    imported::{IMPORTED, Imported},
    place,
    tag::valid_tag,
};
use crate::{
    exit::{Failure, Status},
    surroundings::Surroundings,
};

/// The largest document that is read at once: k6's summaries and Artillery's reports are far smaller.
const MAX_BYTES: u64 = 256 << 20;

const EXAMPLES: &str = "\
Examples:
  k6 run --summary-export=summary.json chat.js; plimsoll runs import summary.json
  k6 run --out json=samples.json chat.js; plimsoll runs import --name chat.js samples.json
  artillery run -o report.json chat.yml; plimsoll runs import --tag artillery report.json
  plimsoll runs import ci-run.json       what --report ci-run.json wrote on another machine";

/// Import results: of k6, of Artillery, or of plimsoll on another machine.
#[derive(Debug, Parser)]
#[command(after_help = EXAMPLES)]
pub(super) struct Options {
    /// Files: k6's --summary-export, handleSummary data or --out json; Artillery's report (-o); or plimsoll's --report FILE.json.
    #[arg(value_name = "FILE", required = true, value_hint = ValueHint::FilePath)]
    files: Vec<PathBuf>,
    /// Name of the test in the history. Default: the name of the file.
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
    /// Tag of the imported runs; may be given several times.
    #[arg(long, value_name = "TAG", value_parser = valid_tag)]
    tag: Vec<String>,
    /// Note about them.
    #[arg(long, value_name = "TEXT")]
    note: Option<String>,
}

/// What a file holds.
enum Content {
    /// A run of plimsoll.
    Summary(Box<Summary>),
    /// Figures of another tool.
    Imported(Imported),
}

impl Options {
    pub(super) fn execute(self, surroundings: &Surroundings<'_>) -> Result<Status, Failure> {
        // All of them first, so that a bad one leaves nothing half done.
        let contents: Vec<_> = self
            .files
            .iter()
            .map(|path| read(path))
            .collect::<Result<_, _>>()?;
        let mut history = History::open(&place::folder(surroundings)?)?;
        let mut entries = Vec::new();
        for (path, content) in self.files.iter().zip(&contents) {
            let (run, document) = self.entry(path, content)?;
            if history.document(&run.id).is_ok() {
                let problem = format!("{}: the history has the run {} already", path.display(), run.id);
                return Err(Failure::Usage(problem));
            }
            entries.push((path, run, document));
        }
        for (path, run, document) in entries {
            history.save(&run, &document)?;
            writeln!(io::stderr(), "{}: saved as {}", path.display(), run.id)?;
        }
        Ok(Status::Success)
    }

    fn entry(&self, path: &Path, content: &Content) -> Result<(Run, String), Failure> {
        let (run, document) = match content {
            Content::Summary(summary) => (entry::of(summary), plimsoll_report::json(summary)?),
            Content::Imported(imported) => (entry_of(path, imported), serde_json::to_string(imported)?),
        };
        let run = Run {
            name: self.name.clone().unwrap_or(run.name),
            tags: self.tag.clone(),
            note: self.note.clone(),
            ..run
        };
        Ok((run, document))
    }
}

fn entry_of(path: &Path, imported: &Imported) -> Run {
    let started = parse_rfc3339(&imported.started_at).unwrap_or(SystemTime::UNIX_EPOCH);
    Run {
        id: run_id(started, fastrand::u32(..)),
        started_at: imported.started_at.clone(),
        name: name_of(path),
        kind: IMPORTED.to_owned(),
        command: format!("plimsoll runs import {}", path.display()),
        duration_seconds: imported.duration_seconds.unwrap_or(0.0),
        vus_max: imported.users(),
        verdict: imported.verdict().to_owned(),
        doubtful: false,
        figures: imported.highlights(),
        note: None,
        tags: Vec::new(),
    }
}

fn name_of(path: &Path) -> String {
    path.file_name()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned()
}

/// Reads a file of any kind that is known.
fn read(path: &Path) -> Result<Content, Failure> {
    let refused = |problem: String| Failure::Usage(format!("{}: {problem}", path.display()));
    let unreadable = |error: io::Error| refused(format!("cannot be read: {error}"));
    let file = name_of(path);
    let mut input = BufReader::new(File::open(path).map_err(unreadable)?);
    if is_of_samples(input.fill_buf().map_err(unreadable)?) {
        // Of any length, so it is read line by line.
        let imported = k6::samples(&file, input).map_err(|error| refused(error.to_string()))?;
        return Ok(Content::Imported(imported));
    }
    let text = read_text(input).map_err(unreadable)?;
    if let Ok(summary) = Summary::read(&text) {
        return Ok(Content::Summary(Box::new(summary)));
    }
    let document: Value =
        serde_json::from_str(&text).map_err(|error| refused(format!("is not JSON: {error}. {EXPECTED}")))?;
    let imported = artillery::report(&file, &document)
        .or_else(|| k6::summary(&file, &document))
        .ok_or_else(|| refused(format!("is JSON of another kind. {EXPECTED}")))?;
    let imported = if imported.is_time_of_file {
        let written = fs::metadata(path).and_then(|metadata| metadata.modified());
        Imported {
            started_at: rfc3339(written.unwrap_or(SystemTime::UNIX_EPOCH)),
            ..imported
        }
    } else {
        imported
    };
    Ok(Content::Imported(imported))
}

/// Whether a file begins with the definition of a metric, as k6's samples do.
fn is_of_samples(beginning: &[u8]) -> bool {
    let line = beginning.split(|byte| *byte == b'\n').next().unwrap_or_default();
    let line = String::from_utf8_lossy(line);
    line.starts_with('{') && line.contains(r#""type":"Metric""#)
}

const EXPECTED: &str = "Expected k6's --summary-export, the data of handleSummary, k6's --out json, Artillery's report (-o), or \
     plimsoll's --report FILE.json";

fn read_text(input: impl Read) -> io::Result<String> {
    let mut text = String::new();
    input.take(MAX_BYTES + 1).read_to_string(&mut text)?;
    if text.len() as u64 > MAX_BYTES {
        return Err(io::Error::other(format!(
            "it is longer than {} MiB",
            MAX_BYTES >> 20
        )));
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};
    use plimsoll_report::Style;

    use super::*;

    fn check(imported: Option<Imported>, expected: &Expect) {
        let imported = imported.expect("a result");
        let kept = serde_json::to_string(&imported).unwrap();
        assert_eq!(Imported::read(&kept), Some(imported.clone()));
        expected.assert_eq(&format!(
            "{} {:?} {:?}\n{}",
            imported.verdict(),
            imported.highlights(),
            imported.failed(),
            imported.text(Style::PLAIN)
        ));
    }

    fn json(text: &str) -> Value {
        serde_json::from_str(text).unwrap()
    }

    #[test]
    fn the_older_summary_of_k6() {
        let document = json(
            r#"{"metrics": {
                "http_req_duration": {"avg": 1.5, "med": 1, "p(95)": 3.25, "thresholds": {"p(95)<3": true, "avg<2": false}},
                "size": {"avg": 300, "med": 200, "p(95)": 900},
                "http_req_failed": {"passes": 1, "fails": 3, "value": 0.25},
                "vus_max": {"value": 5, "min": 5, "max": 7}}, "root_group": {}}"#,
        );
        check(
            k6::summary("old.json", &document),
            &expect![[r#"
            fail "http_req_duration p95=3.25ms" Some(0.25)
            Imported from k6, old.json: figures as k6 printed them.
            The time is that of the file, which does not say when the run began.

              http_req_duration...: avg=1.5ms med=1ms p(95)=3.25ms
              http_req_failed.....: fails=3 passes=1 value=0.25
              size................: avg=300 med=200 p(95)=900
              vus_max.............: max=7 min=5 value=5

              ✗ http_req_duration: p(95)<3
              ✓ http_req_duration: avg<2
        "#]],
        );
    }

    #[test]
    fn the_data_of_handle_summary() {
        let document = json(
            r#"{"state": {"testRunDurationMs": 2500}, "metrics": {
                "rtt": {"type": "trend", "contains": "time", "values": {"avg": 5, "p(95)": 6.5}, "thresholds": {"p(95)<10": {"ok": true}}},
                "size": {"type": "trend", "contains": "default", "values": {"avg": 300, "p(95)": 900}}}}"#,
        );
        check(
            k6::summary("data.json", &document),
            &expect![[r#"
            pass "rtt p95=6.5ms" None
            Imported from k6, data.json: figures as k6 printed them.
            The time is that of the file, which does not say when the run began.

              rtt....: avg=5ms p(95)=6.5ms
              size...: avg=300 p(95)=900

              ✓ rtt: p(95)<10
        "#]],
        );
    }

    #[test]
    fn the_samples_of_k6() {
        let metric = |name: &str, kind: &str, contains: &str| {
            format!(
                r#"{{"type":"Metric","data":{{"name":"{name}","type":"{kind}","contains":"{contains}"}},"metric":"{name}"}}"#
            )
        };
        let point = |name: &str, time: &str, value: f64| {
            format!(
                r#"{{"metric":"{name}","type":"Point","data":{{"time":"{time}","value":{value},"tags":{{}}}}}}"#
            )
        };
        let mut lines = vec![
            metric("rtt", "trend", "time"),
            metric("iterations", "counter", "default"),
            metric("checks", "rate", "default"),
            metric("vus_max", "gauge", "default"),
            point("rtt", "2026-11-29T12:00:02.5+01:00", 40.0),
            point("rtt", "2026-11-29T11:00:00.5Z", 10.0),
            point("checks", "2026-11-29T11:00:01Z", 1.0),
            point("checks", "2026-11-29T11:00:01Z", 0.0),
            point("iterations", "2026-11-29T11:00:01Z", 3.0),
            point("vus_max", "2026-11-29T11:00:01Z", 2.0),
        ];
        let read = |lines: &[String]| k6::samples("samples.json", lines.join("\n").as_bytes());
        let imported = read(&lines).unwrap();
        assert_eq!(
            (imported.started_at.as_str(), imported.duration_seconds),
            ("2026-11-29T11:00:00.500Z", Some(2.0))
        );
        check(
            Some(imported),
            &expect![[r#"
            unjudged "rtt p95=38.5ms" None
            Imported from k6, samples.json: figures of all samples that k6 wrote.

              checks.......: fails=1 passes=1 rate=0.5
              iterations...: count=3 rate=1.5
              rtt..........: avg=25ms count=2 max=40ms med=25ms min=10ms p(90)=37ms p(95)=38.5ms p(99)=39.7ms
              vus_max......: max=2 min=2 value=2
        "#]],
        );
        let problem = |lines: &[String]| read(lines).unwrap_err().to_string();
        lines.push(point("unknown", "2026-11-29T11:00:01Z", 0.0));
        assert!(
            problem(&lines)
                .starts_with("line 11 is not a line of k6's --out json: no line before it defines")
        );
        lines[10] = point("rtt", "yesterday", 0.0);
        assert!(
            problem(&lines).contains("is not a time of RFC 3339"),
            "{}",
            problem(&lines)
        );
        lines[10] = "{".to_owned();
        assert!(problem(&lines).starts_with("line 11 "));
        assert_eq!(problem(&lines[..4]), "has no samples");
    }

    #[test]
    fn the_report_of_artillery() {
        let document = json(
            r#"{"aggregate": {
                "counters": {"vusers.created": 10, "vusers.failed": 2, "http.codes.200": 8},
                "rates": {"http.request_rate": 5},
                "firstMetricAt": 1795290543120, "lastMetricAt": 1795290545120,
                "summaries": {"http.response_time": {"min": 1, "max": 9, "count": 8, "p95": 7.9, "p99": 7.9, "p999": 9, "mean": 3.5},
                              "vusers.session_length": {"min": 2, "max": 12, "count": 8, "p95": 10.1},
                              "bytes_of_mine": {"min": 2, "max": 12, "count": 8, "p95": 10.1}}},
               "intermediate": []}"#,
        );
        let imported = artillery::report("report.json", &document);
        assert_eq!(imported.as_ref().unwrap().started_at, "2026-11-21T19:49:03.120Z");
        check(
            imported,
            &expect![[r#"
                unjudged "http.response_time p95=7.9ms" Some(0.2)
                Imported from Artillery, report.json: figures as Artillery printed them.

                  bytes_of_mine...........: count=8 max=12 min=2 p95=10.1
                  http.codes.200..........: count=8
                  http.request_rate.......: rate=5
                  http.response_time......: count=8 max=9ms mean=3.5ms min=1ms p95=7.9ms p99=7.9ms p999=9ms
                  vusers.created..........: count=10
                  vusers.failed...........: count=2
                  vusers.session_length...: count=8 max=12ms min=2ms p95=10.1ms
            "#]],
        );
    }

    #[test]
    fn other_documents_are_none_of_these() {
        for document in [
            "{}",
            "[]",
            "1",
            r#"{"metrics": {}}"#,
            r#"{"metrics": 1}"#,
            r#"{"aggregate": {}}"#,
        ] {
            let document = json(document);
            assert_eq!(k6::summary("x", &document), None, "{document}");
            assert_eq!(artillery::report("x", &document), None, "{document}");
        }
        for (beginning, expected) in [
            (&b"{\"type\":\"Metric\",\"data\":{}}\n"[..], true),
            (b"{\"metrics\":{}}", false),
            (b"", false),
            (b"\xff{\"type\":\"Metric\"", false),
        ] {
            assert_eq!(is_of_samples(beginning), expected, "{beginning:?}");
        }
    }
}
