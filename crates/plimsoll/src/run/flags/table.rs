//! Every flag that sets an option, with k6's names, by topic.

use super::{
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
    short('d', "duration", "duration", Value("TIME"), LOAD, "How long they iterate, for example 30s or 1h30m"),
    short('i', "iterations", "iterations", Value("N"), LOAD, "Iterations of all users together"),
    short('s', "stage", "stages", List("TIME:N"), LOAD, "A stage of a ramp: how long it takes, and how many users there are at its end; may be given several times"),
    flag("min-iteration-duration", "minIterationDuration", Value("TIME"), LOAD, "A user that is done sooner waits until then"),
    short('p', "paused", "paused", Switch, LOAD, "Wait for `plimsoll resume` before the start; needs --address"),
    flag("no-setup", "noSetup", Switch, STAGES, "Leave setup() out"),
    flag("no-teardown", "noTeardown", Switch, STAGES, "Leave teardown() out"),
    flag("rps", "rps", Value("N"), HTTP, "Most HTTP requests per second of all users together [default: no limit]"),
    flag("max-redirects", "maxRedirects", Value("N"), HTTP, "Redirects that are followed [default: 10]"),
    flag("batch", "batch", Value("N"), HTTP, "Requests of one http.batch() at the same time [default: 20]"),
    flag("batch-per-host", "batchPerHost", Value("N"), HTTP, "The same for one host [default: 6]"),
    flag("user-agent", "userAgent", Value("TEXT"), HTTP, "The User-Agent header"),
    flag("discard-response-bodies", "discardResponseBodies", Switch, HTTP, "Do not keep the bodies of responses"),
    short('w', "throw", "throw", Switch, HTTP, "Failed requests are exceptions"),
    flag("http-debug", "httpDebug", Optional("headers", "full"), HTTP, "Log requests and responses; =full with their bodies"),
    flag("websocket-debug", "websocketDebug", Optional("headers", "full"), HTTP, "Log WebSocket handshakes; =full with all messages (not in k6)"),
    flag("no-connection-reuse", "noConnectionReuse", Switch, NETWORK, "A new connection for each request"),
    flag("no-vu-connection-reuse", "noVUConnectionReuse", Switch, NETWORK, "New connections for each iteration"),
    flag("insecure-skip-tls-verify", "insecureSkipTLSVerify", Switch, NETWORK, "Do not verify TLS certificates"),
    flag("blacklist-ip", "blacklistIPs", List("RANGE"), NETWORK, "Addresses that must not be called, for example 10.0.0.0/8"),
    flag("block-hostnames", "blockHostnames", List("NAME"), NETWORK, "Hosts that must not be called, for example *.example.com"),
    flag("local-ips", "localIPs", Value("RANGES"), NETWORK, "Source addresses, used in turn: addresses, ranges and CIDRs with commas"),
    flag("dns", "dns", Value("SETTINGS"), NETWORK, "How names are resolved [default: ttl=5m,select=random,policy=preferIPv4]"),
    flag("tag", "tags", List("NAME=VALUE"), METRICS, "A tag for all samples; may be given several times"),
    flag("system-tags", "systemTags", List("NAMES"), METRICS, "The tags that samples get by themselves, with commas"),
    flag("summary-trend-stats", "summaryTrendStats", List("FIGURES"), METRICS, "Which figures of trends the summary shows [default: avg,min,med,max,p(90),p(95)]"),
    flag("summary-time-unit", "summaryTimeUnit", Value("s|ms|us"), METRICS, "The unit of durations in the summary [default: the one that suits each]"),
    flag("console-output", "consoleOutput", Value("FILE"), METRICS, "Write what the script says with console.log to this file"),
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
