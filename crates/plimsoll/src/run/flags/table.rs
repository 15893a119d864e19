//! Every flag that sets an option, with k6's names, by topic.

use super::flag::{
    Flag,
    Form::{self, List, Optional, Switch, Value},
};

const LOAD: &str = "Load";
const STAGES: &str = "Setup and teardown";
const HTTP: &str = "Requests";
const NETWORK: &str = "Network";
const METRICS: &str = "Metrics";

#[rustfmt::skip]
pub(super) const FLAGS: &[Flag] = &[
    short('u', "vus", "vus", Value("N"), LOAD, "Virtual users"),
    short('d', "duration", "duration", Value("TIME"), LOAD, "Duration of the iterations, for example 30s or 1h30m"),
    short('i', "iterations", "iterations", Value("N"), LOAD, "Iterations of all users together"),
    short('s', "stage", "stages", List("TIME:N"), LOAD, "Stage of a ramp: its duration and the number of users at \
        its end; may be given several times"),
    flag("min-iteration-duration", "minIterationDuration", Value("TIME"), LOAD, "Shortest duration of an iteration; \
        a user that finishes earlier waits"),
    flag("execution-segment", "executionSegment", Value("FROM:TO"), LOAD, "The part of the load that this instance of a \
        split test makes, for example 0:1/4"),
    flag("execution-segment-sequence", "executionSegmentSequence", Value("ENDS"), LOAD, "The ends of all parts of a split \
        test, for example 0,1/4,1/2,1"),
    short('p', "paused", "paused", Switch, LOAD, "Wait for `plimsoll resume` before the start; needs --address"),
    flag("no-setup", "noSetup", Switch, STAGES, "Do not run setup()"),
    flag("no-teardown", "noTeardown", Switch, STAGES, "Do not run teardown()"),
    flag("rps", "rps", Value("N"), HTTP, "Most HTTP requests per second of all users together [default: no limit]"),
    flag("max-redirects", "maxRedirects", Value("N"), HTTP, "Redirects that are followed [default: 10]"),
    flag("batch", "batch", Value("N"), HTTP, "Requests of one http.batch() at the same time [default: 20]"),
    flag("batch-per-host", "batchPerHost", Value("N"), HTTP, "Requests to one host of one http.batch() at the same \
        time [default: 6]"),
    flag("user-agent", "userAgent", Value("TEXT"), HTTP, "The User-Agent header"),
    flag("discard-response-bodies", "discardResponseBodies", Switch, HTTP, "Do not keep the bodies of responses"),
    short('w', "throw", "throw", Switch, HTTP, "Throw an exception for a failed request"),
    flag("http-debug", "httpDebug", Optional("headers", "full"), HTTP, "Log requests and responses; =full with their bodies"),
    flag("websocket-debug", "websocketDebug", Optional("headers", "full"), HTTP, "Log WebSocket handshakes; =full with all messages (not in k6)"),
    flag("no-connection-reuse", "noConnectionReuse", Switch, NETWORK, "Use a new connection for each request"),
    flag("no-vu-connection-reuse", "noVUConnectionReuse", Switch, NETWORK, "Use new connections for each iteration"),
    flag("insecure-skip-tls-verify", "insecureSkipTLSVerify", Switch, NETWORK, "Do not verify TLS certificates"),
    flag("blacklist-ip", "blacklistIPs", List("RANGE"), NETWORK, "Blocked addresses, for example 10.0.0.0/8"),
    flag("block-hostnames", "blockHostnames", List("NAME"), NETWORK, "Blocked hosts, for example *.example.com"),
    flag("local-ips", "localIPs", Value("RANGES"), NETWORK, "Source addresses, used in turn: comma-separated \
        addresses, ranges and CIDRs"),
    flag("dns", "dns", Value("SETTINGS"), NETWORK, "How names are resolved [default: ttl=5m,select=random,policy=preferIPv4]"),
    flag("tag", "tags", List("NAME=VALUE"), METRICS, "A tag for all samples; may be given several times. \
        A kept run gets its own with plimsoll runs tag"),
    flag("system-tags", "systemTags", List("NAMES"), METRICS, "Automatic tags of samples, comma-separated"),
    flag("summary-trend-stats", "summaryTrendStats", List("FIGURES"), METRICS, "Trend statistics in the summary \
        [default: avg,min,med,max,p(90),p(95)]"),
    flag("summary-time-unit", "summaryTimeUnit", Value("s|ms|us"), METRICS, "The unit of durations in the summary \
        [default: fits each value]"),
    flag("console-output", "consoleOutput", Value("FILE"), METRICS, "Write the output of console.log to this file"),
];

const fn flag(
    long: &'static str,
    key: &'static str,
    form: Form,
    heading: &'static str,
    help: &'static str,
) -> Flag {
    Flag {
        key,
        long,
        short: None,
        form,
        heading,
        help,
    }
}

const fn short(
    short: char,
    long: &'static str,
    key: &'static str,
    form: Form,
    heading: &'static str,
    help: &'static str,
) -> Flag {
    Flag {
        short: Some(short),
        ..flag(long, key, form, heading, help)
    }
}
