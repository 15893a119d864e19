//! The flags and values that the tools have, with their comparison. Those that are refused are in the tables of the code
//! that refuses them.

use plimsoll_load::parity::Parity::{self, Absent, Differs, Same};
use serde_json::{Value, json};

type Table = &'static [(&'static str, Parity)];

/// The flags of `k6 run`.
pub(super) const K6: Table = &[
    ("vus", Same),
    ("duration", Same),
    ("iterations", Same),
    ("stage", Same),
    ("execution-segment", Same),
    ("execution-segment-sequence", Same),
    ("paused", Same),
    ("no-setup", Same),
    ("no-teardown", Same),
    ("max-redirects", Same),
    ("batch", Same),
    ("batch-per-host", Same),
    ("rps", Same),
    ("user-agent", Differs("the default is `plimsoll/<version>`")),
    ("http-debug", Same),
    ("insecure-skip-tls-verify", Same),
    ("no-connection-reuse", Same),
    ("no-vu-connection-reuse", Same),
    ("min-iteration-duration", Same),
    ("throw", Same),
    ("blacklist-ip", Same),
    ("block-hostnames", Same),
    ("summary-trend-stats", Same),
    ("summary-time-unit", Same),
    ("system-tags", Same),
    ("tag", Same),
    ("console-output", Same),
    ("discard-response-bodies", Same),
    ("local-ips", Same),
    ("dns", Same),
    ("include-system-env-vars", Same),
    ("compatibility-mode", Same),
    ("type", Same),
    ("env", Same),
    ("no-thresholds", Same),
    ("summary-mode", Same),
    ("summary-export", Same),
    ("new-machine-readable-summary", Same),
    ("out", Same),
    ("linger", Same),
    (
        "no-usage-report",
        Differs("without effect: nothing is ever reported"),
    ),
    (
        "address",
        Differs("off without it; addresses of this machine only"),
    ),
    ("config", Same),
    ("log-format", Same),
    ("log-output", Same),
    ("no-color", Same),
    ("quiet", Same),
    ("secret-source", Same),
    ("verbose", Same),
];

/// The executors and the fields of scenarios.
pub(super) const SCENARIOS: Table = &[
    (
        "scenarios.*.executor: shared-iterations (vus, iterations, maxDuration)",
        Same,
    ),
    (
        "scenarios.*.executor: per-vu-iterations (vus, iterations, maxDuration)",
        Same,
    ),
    ("scenarios.*.executor: constant-vus (vus, duration)", Same),
    (
        "scenarios.*.executor: ramping-vus (startVUs, stages, gracefulRampDown)",
        Same,
    ),
    (
        "scenarios.*.executor: constant-arrival-rate (rate, timeUnit, duration, preAllocatedVUs, maxVUs)",
        Same,
    ),
    (
        "scenarios.*.executor: ramping-arrival-rate (startRate, timeUnit, stages, preAllocatedVUs, maxVUs)",
        Same,
    ),
    (
        "scenarios.*.executor: externally-controlled (vus, maxVUs, duration)",
        Parity::Beyond("k6 has removed it"),
    ),
    ("scenarios.*.startTime", Same),
    ("scenarios.*.gracefulStop", Same),
    ("scenarios.*.exec", Same),
    ("scenarios.*.env", Same),
    ("scenarios.*.tags", Same),
    (
        "scenarios.*.options",
        Differs("without effect: k6 has options of `k6/browser` there, which is absent"),
    ),
];

/// A scenario with all fields of an executor.
pub(super) fn fields_of(executor: &str) -> Value {
    let stages = json!([{ "duration": "1s", "target": 2 }]);
    let mut fields = match executor {
        "shared-iterations" | "per-vu-iterations" => {
            json!({ "vus": 1, "iterations": 2, "maxDuration": "9s" })
        }
        "constant-vus" => json!({ "vus": 1, "duration": "1s" }),
        "ramping-vus" => json!({ "startVUs": 1, "stages": stages, "gracefulRampDown": "1s" }),
        "constant-arrival-rate" => {
            json!({ "rate": 1, "timeUnit": "1s", "duration": "1s", "preAllocatedVUs": 1, "maxVUs": 2 })
        }
        "ramping-arrival-rate" => {
            json!({ "startRate": 1, "timeUnit": "1s", "stages": stages, "preAllocatedVUs": 1, "maxVUs": 2 })
        }
        _ => return json!({ "executor": executor, "vus": 1, "maxVUs": 2, "duration": "1s" }),
    };
    fields["executor"] = executor.into();
    fields["startTime"] = "1s".into();
    fields["gracefulStop"] = "1s".into();
    fields["exec"] = "default".into();
    fields["env"] = json!({ "A": "1" });
    fields["tags"] = json!({ "a": "1" });
    fields["options"] = json!({ "browser": { "type": "chromium" } });
    fields
}

/// Kinds of `--secret-source`.
pub(super) const SECRETS: Table = &[
    ("mock", Same),
    ("file", Same),
    (
        "url",
        Differs(
            "redirections are not followed, http:// URLs go without a proxy, responsePath takes only keys and numbers \
             of elements, and an unknown key in the file of config is refused",
        ),
    ),
    ("cloud", Absent("secrets from `cloud` are not supported")),
];

/// Kinds of `--log-output`.
pub(super) const LOGS: Table = &[
    ("stderr", Same),
    ("stdout", Same),
    ("none", Same),
    ("file", Same),
    ("loki", Absent("log output to Loki is not supported")),
];

/// The flags of `artillery run`.
pub(super) const ARTILLERY: Table = &[
    ("target", Same),
    ("config", Same),
    ("environment", Differs("an unknown environment is a mistake")),
    (
        "scenario-name",
        Differs("an exact name is enough, even if it is part of another name"),
    ),
    ("output", Same),
    ("dotenv", Same),
    ("env-file", Same),
    ("variables", Same),
    ("overrides", Same),
    ("insecure", Same),
    ("quiet", Same),
    ("input", Same),
    (
        "payload",
        Differs("with a list of tables, or without a table, it is a mistake"),
    ),
    ("solo", Same),
    (
        "count",
        Differs("without effect, with a warning, as on one machine"),
    ),
    ("name", Differs("the name of the run in `plimsoll runs`")),
    ("tags", Differs("the tags of the run in `plimsoll runs`")),
    ("note", Differs("the note of the run in `plimsoll runs`")),
];

/// Commands of Artillery.
pub(super) const ARTILLERY_COMMANDS: Table = &[
    ("run", Same),
    (
        "quick",
        Differs(
            "the server is examined first, and the result is one screen; flags as of `run`: see `plimsoll quick --help`",
        ),
    ),
    (
        "report",
        Differs("`plimsoll report` makes a page of the JSON reports"),
    ),
];

/// The flags of wsdirector.
pub(super) const WSDIRECTOR: Table = &[
    ("file", Same),
    ("url", Same),
    ("scale", Differs("at most 1,000,000")),
    ("timeout", Differs("counts from the last client that arrived")),
    ("include", Same),
    ("subprotocol", Same),
    ("color", Same),
    ("no-color", Same),
    ("verbose", Differs("-v logs the steps, -vv the messages, too")),
];

/// The flags of ab.
pub(super) const AB: Table = &[
    ("-n", Same),
    ("-c", Same),
    ("-t", Same),
    ("-s", Same),
    ("-b", Same),
    ("-B", Same),
    ("-p", Same),
    ("-u", Same),
    ("-T", Same),
    ("-v", Same),
    ("-w", Same),
    ("-i", Same),
    ("-x", Same),
    ("-y", Same),
    ("-z", Same),
    ("-C", Same),
    ("-H", Same),
    ("-A", Same),
    ("-P", Same),
    ("-X", Same),
    ("-k", Same),
    ("-d", Same),
    ("-S", Same),
    ("-q", Same),
    ("-l", Same),
    ("-g", Same),
    ("-e", Same),
    ("-r", Same),
    ("-m", Same),
    ("-I", Same),
    (
        "-Z",
        Differs("the suites of TLS 1.2 and 1.3 with forward secrecy"),
    ),
    (
        "-f",
        Differs("TLS1.2, TLS1.3 and ALL; older versions are refused"),
    ),
    ("-E", Same),
];
