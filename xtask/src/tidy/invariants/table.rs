//! The invariants of all crates, clause by clause, with what shows that they hold.

/// What a crate must not know.
#[derive(Debug)]
pub(super) struct Invariant {
    /// The crate: the name of its folder.
    pub(super) of: &'static str,
    /// The other crates of ours that it may depend on.
    pub(super) knows: &'static [&'static str],
    /// As in ARCHITECTURE.md, where `; ` stands between them.
    pub(super) clauses: &'static [Clause],
}

/// One thing that a crate must not know, or must hold.
#[derive(Debug)]
pub(super) struct Clause {
    pub(super) says: &'static str,
    pub(super) checks: &'static [Check],
}

/// What shows that a clause holds. Names are paths or parts of them (`std::net`), methods (`.elapsed`) and macros
/// (`println!`).
#[derive(Debug)]
pub(super) enum Check {
    /// Packages that the crate does not depend on.
    NoCrates(&'static [&'static str]),
    /// It depends on nothing.
    NoCratesAtAll,
    /// Crates of ours that it does not need through others either.
    NotThrough(&'static [&'static str]),
    /// Names that its code does not use.
    NoNames(&'static [&'static str]),
    /// Names that these files and folders below `src` do not use.
    NoNamesIn(&'static [&'static str], &'static [&'static str]),
    /// Names that all files but these do not use.
    NoNamesBut(&'static [&'static str], &'static [&'static str]),
    /// Of this package it uses only this module.
    OnlyModule(&'static str, &'static str),
    /// All other crates do without these packages and names, `besides` some.
    Alone {
        packages: &'static [&'static str],
        banned: &'static [&'static str],
        besides: &'static [&'static str],
    },
    /// A test in this file.
    Test(&'static str, &'static str),
}

use super::names::{CLOCK, COMMAND_LINE, FILES, PROCESS, RUNTIME, SOCKETS, STARTS, THREADS};
use Check::{Alone, NoCrates, NoCratesAtAll, NoNames, NoNamesBut, NoNamesIn, NotThrough, OnlyModule, Test};

pub(super) const TABLE: &[Invariant] = &[
    Invariant {
        of: "adapters",
        knows: &["broker", "nats", "telemetry", "trust"],
        clauses: &[
            Clause {
                says: "the only crate that knows Redis and NATS",
                checks: &[Alone {
                    packages: &["redis", "plimsoll-nats"],
                    banned: &[],
                    besides: &[],
                }],
            },
            Clause {
                says: "knows neither sessions nor the contents of a payload",
                checks: &[
                    NoCrates(&["serde", "serde_json"]),
                    NotThrough(&["cable", "hub", "server"]),
                ],
            },
        ],
    },
    Invariant {
        of: "broker",
        knows: &[],
        clauses: &[
            Clause {
                says: "no sockets, no runtime, no clock, no threads",
                checks: &[
                    NoNames(SOCKETS),
                    NoCrates(RUNTIME),
                    NoNames(CLOCK),
                    NoNames(THREADS),
                ],
            },
            Clause {
                says: "no client misses a message without being told",
                checks: &[Test(
                    "crates/server/broker/src/history/tests/interleavings.rs",
                    "no_client_misses_a_message_without_being_told",
                )],
            },
        ],
    },
    Invariant {
        of: "cable",
        knows: &[],
        clauses: &[
            Clause {
                says: "no sockets, no runtime, no clock",
                checks: &[NoNames(SOCKETS), NoCrates(RUNTIME), NoNames(CLOCK)],
            },
            Clause {
                says: "the application's JSON is embedded, never parsed into values and written again, so key order and \
                       numbers over 2^53 survive (`token` is read only)",
                checks: &[
                    NoNamesBut(
                        &["token"],
                        &[
                            "json!",
                            "serde_json::Map",
                            "serde_json::Number",
                            "serde_json::Value",
                        ],
                    ),
                    NoNamesIn(
                        &["token"],
                        &["json!", "serde_json::to_string", "serde_json::to_vec"],
                    ),
                    Test(
                        "crates/protocol/cable/src/reply/tests.rs",
                        "the_applications_json_keeps_its_bytes",
                    ),
                ],
            },
        ],
    },
    Invariant {
        of: "clients",
        knows: &["cable", "grpc", "redacted", "trust", "websocket"],
        clauses: &[Clause {
            says: "knows no crate of the load side, so no executors and no metrics",
            checks: &[NotThrough(&["load", "report"])],
        }],
    },
    Invariant {
        of: "conformance",
        knows: &["load", "redacted", "report"],
        clauses: &[
            Clause {
                says: "shares no codec with what it tests, neither `websocket` nor `cable`",
                checks: &[NotThrough(&["cable", "clients", "server", "websocket"])],
            },
            Clause {
                says: "a case never outlives its deadline",
                checks: &[Test(
                    "crates/conformance/src/run/tests.rs",
                    "a_case_without_an_end_fails_and_keeps_its_log",
                )],
            },
        ],
    },
    Invariant {
        of: "fake",
        knows: &[],
        clauses: &[
            Clause {
                says: "no script engine",
                checks: &[NoCrates(&["oxc_ast", "oxc_parser", "rquickjs"])],
            },
            Clause {
                says: "no clock, no sockets",
                checks: &[NoNames(CLOCK), NoNames(SOCKETS), NoCrates(RUNTIME)],
            },
            Clause {
                says: "a call costs a bounded amount of memory, whatever its arguments",
                checks: &[Test(
                    "crates/lab/fake/src/tests.rs",
                    "the_size_of_a_value_is_bounded",
                )],
            },
        ],
    },
    Invariant {
        of: "grpc",
        knows: &[],
        clauses: &[Clause {
            says: "no sockets, no runtime, no clock, no messages of protobuf",
            checks: &[
                NoCrates(&["h2", "prost", "tokio"]),
                NoNames(&["Instant", "SystemTime", "std::net"]),
            ],
        }],
    },
    Invariant {
        of: "fleet",
        knows: &["load", "redacted", "trust"],
        clauses: &[
            Clause {
                says: "of the laboratory it knows only `load`",
                checks: &[NotThrough(&[
                    "clients", "report", "scenario", "script", "shootout",
                ])],
            },
            Clause {
                says: "the only crate that knows NATS' own client library",
                checks: &[Alone {
                    packages: &["async-nats"],
                    banned: &[],
                    besides: &[],
                }],
            },
            Clause {
                says: "knows no command line and no signals",
                checks: &[NoCrates(COMMAND_LINE), NoNames(PROCESS)],
            },
        ],
    },
    Invariant {
        of: "history",
        knows: &[],
        clauses: &[
            Clause {
                says: "no executors, no terminal",
                checks: &[
                    NoCrates(&["ratatui", "terminal_size", "tokio"]),
                    NoNames(&["IsTerminal"]),
                ],
            },
            Clause {
                says: "knows neither the contents of a summary nor the location of its folder",
                checks: &[NoCrates(&["serde", "serde_json"]), NoNames(&["std::env"])],
            },
            Clause {
                says: "a file that it cannot read stays unchanged",
                checks: &[
                    Test(
                        "crates/lab/history/src/history/tests.rs",
                        "a_file_that_is_no_database_is_left_alone",
                    ),
                    Test(
                        "crates/lab/history/src/history/tests.rs",
                        "the_database_of_another_program_is_left_alone",
                    ),
                    Test(
                        "crates/lab/history/src/history/tests.rs",
                        "a_newer_format_is_left_alone",
                    ),
                ],
            },
        ],
    },
    Invariant {
        of: "hub",
        knows: &[],
        clauses: &[
            Clause {
                says: "no sockets, no runtime, no clock, no threads",
                checks: &[
                    NoNames(SOCKETS),
                    NoCrates(RUNTIME),
                    NoNames(CLOCK),
                    NoNames(THREADS),
                ],
            },
            Clause {
                says: "knows no other crate of ours: a \"connection\" is a type parameter",
                checks: &[],
            },
        ],
    },
    Invariant {
        of: "line",
        knows: &["load", "report"],
        clauses: &[
            Clause {
                says: "no runtime, no sockets, no clock",
                checks: &[NoCrates(RUNTIME), NoNames(SOCKETS), NoNames(CLOCK)],
            },
            Clause {
                says: "a search is a function of the votes so far, without chance",
                checks: &[NoCrates(&["fastrand", "getrandom"])],
            },
        ],
    },
    Invariant {
        of: "live",
        knows: &["load", "loopback", "report"],
        clauses: &[
            Clause {
                says: "code under the board's lock (`board`, `draw`) writes to nothing",
                checks: &[
                    NoNamesIn(
                        &["board", "draw"],
                        &["std::io", "std::fs::File", "std::fs::write", "tokio"],
                    ),
                    NoNamesIn(&["board", "draw"], SOCKETS),
                ],
            },
            Clause {
                says: "knows no arguments and no signals",
                checks: &[NoCrates(COMMAND_LINE), NoNames(PROCESS)],
            },
        ],
    },
    Invariant {
        of: "load",
        knows: &["redacted"],
        clauses: &[Clause {
            says: "does not know what an iteration does: no sockets, no protocol, no script",
            checks: &[
                NoNames(SOCKETS),
                NoCrates(&[
                    "h2",
                    "http",
                    "hyper",
                    "hyper-util",
                    "rquickjs",
                    "rustls",
                    "tokio-rustls",
                ]),
            ],
        }],
    },
    Invariant {
        of: "loopback",
        knows: &[],
        clauses: &[Clause {
            says: "knows no page",
            checks: &[NoNames(&["include!", "include_bytes!", "include_str!"])],
        }],
    },
    Invariant {
        of: "nats",
        knows: &[],
        clauses: &[Clause {
            says: "no sockets, no runtime, no clock",
            checks: &[NoNames(SOCKETS), NoCrates(RUNTIME), NoNames(CLOCK)],
        }],
    },
    Invariant {
        of: "outputs",
        knows: &["load", "redacted", "report", "trust"],
        clauses: &[
            Clause {
                says: "an output cannot reach the run",
                checks: &[NoNames(&["plimsoll_load::run"])],
            },
            Clause {
                says: "a sample is written, or counted as not written",
                checks: &[
                    Test(
                        "crates/lab/outputs/src/outputs/tests.rs",
                        "a_full_disk_is_reported_and_its_samples_are_counted",
                    ),
                    Test(
                        "crates/lab/load/src/metrics/sample/tests.rs",
                        "a_full_queue_holds_up_neither_the_worker_nor_another_queue",
                    ),
                ],
            },
        ],
    },
    Invariant {
        of: "plimsoll",
        knows: &[
            "adapters",
            "broker",
            "cable",
            "clients",
            "conformance",
            "fleet",
            "history",
            "line",
            "live",
            "load",
            "loopback",
            "outputs",
            "probe",
            "redacted",
            "report",
            "rpc",
            "scenario",
            "script",
            "server",
            "shootout",
            "telemetry",
            "trust",
        ],
        clauses: &[Clause {
            says: "the only crate that knows arguments, the environment, signals, standard streams and exit codes",
            checks: &[Alone {
                packages: COMMAND_LINE,
                banned: PROCESS,
                besides: &[],
            }],
        }],
    },
    Invariant {
        of: "probe",
        knows: &["cable", "clients", "redacted", "websocket"],
        clauses: &[Clause {
            says: "opens connections in `caller` only, which bounds their number and time",
            checks: &[NoNamesBut(&["caller.rs"], &["Attempt::make", "Channel::new"])],
        }],
    },
    Invariant {
        of: "redacted",
        knows: &[],
        clauses: &[Clause {
            says: "depends on nothing and parses nothing, because a URL is shown most often when it does not parse",
            checks: &[NoCratesAtAll, NoNames(&[".parse", "FromStr"])],
        }],
    },
    Invariant {
        of: "report",
        knows: &["load"],
        clauses: &[
            Clause {
                says: "does not know how samples were made",
                checks: &[
                    NoCrates(RUNTIME),
                    NoNames(SOCKETS),
                    NoNames(CLOCK),
                    NoNames(&["plimsoll_load::vu", "plimsoll_load::run::run"]),
                ],
            },
            Clause {
                says: "percentiles of histograms are read here, by the thresholds of `load`, and nowhere else",
                checks: &[Alone {
                    packages: &[],
                    banned: &[".interpolated_us", ".value_at_quantile"],
                    besides: &["load"],
                }],
            },
        ],
    },
    Invariant {
        of: "rpc",
        knows: &["grpc", "redacted", "server", "telemetry", "trust"],
        clauses: &[Clause {
            says: "knows no sessions: of `server` only the `application` seam",
            checks: &[OnlyModule("plimsoll_server", "application")],
        }],
    },
    Invariant {
        of: "scenario",
        knows: &["cable", "clients", "fake", "load", "websocket"],
        clauses: &[
            Clause {
                says: "no script engine",
                checks: &[NoCrates(&["oxc_ast", "oxc_parser", "rquickjs"])],
            },
            Clause {
                says: "starts no run, no runtime and no thread",
                checks: &[NoNames(STARTS), NoNames(THREADS)],
            },
            Clause {
                says: "a file costs a bounded amount of memory, whatever its contents",
                checks: &[Test(
                    "crates/lab/scenario/src/document/tests.rs",
                    "the_cost_of_a_document_is_bounded",
                )],
            },
        ],
    },
    Invariant {
        of: "script",
        knows: &[
            "cable",
            "clients",
            "fake",
            "grpc",
            "load",
            "redacted",
            "scenario",
            "trust",
            "websocket",
        ],
        clauses: &[
            Clause {
                says: "starts no run, no runtime of tokio, and no thread but the parser's",
                checks: &[
                    NoNames(STARTS),
                    NoNamesBut(&["source/ecmascript/parser"], THREADS),
                ],
            },
            Clause {
                says: "knows no report",
                checks: &[NotThrough(&["outputs", "report"])],
            },
            Clause {
                says: "`source` knows no engine",
                checks: &[NoNamesIn(&["source"], &["rquickjs"])],
            },
        ],
    },
    Invariant {
        of: "server",
        knows: &[
            "broker",
            "cable",
            "hub",
            "loopback",
            "redacted",
            "telemetry",
            "trust",
            "websocket",
        ],
        clauses: &[Clause {
            says: "knows neither the load side nor the process (arguments, environment, signals, exit codes)",
            checks: &[
                NotThrough(&["clients", "load", "report"]),
                NoCrates(COMMAND_LINE),
                NoNames(PROCESS),
            ],
        }],
    },
    Invariant {
        of: "shootout",
        knows: &["cable", "clients", "load", "redacted", "report", "websocket"],
        clauses: &[
            Clause {
                says: "knows no command line and no signals",
                checks: &[NoCrates(COMMAND_LINE), NoNames(PROCESS)],
            },
            Clause {
                says: "server types only define the format of messages",
                checks: &[NoNamesIn(&["server_type", "wire"], SOCKETS)],
            },
            Clause {
                says: "they never touch the accounting",
                checks: &[NoNamesIn(&["server_type", "wire"], ACCOUNTING)],
            },
        ],
    },
    Invariant {
        of: "telemetry",
        knows: &[],
        clauses: &[
            Clause {
                says: "no sockets, no runtime",
                checks: &[NoNames(SOCKETS), NoCrates(RUNTIME)],
            },
            Clause {
                says: "knows no metric by name, so it registers none itself",
                checks: &[NoNamesBut(
                    &["registry"],
                    &[
                        ".counter",
                        ".gauge",
                        ".gauge_fn",
                        ".histogram",
                        ".labelled_counter",
                    ],
                )],
            },
        ],
    },
    Invariant {
        of: "trust",
        knows: &[],
        clauses: &[
            Clause {
                says: "no sockets, no files but the system's list of authorities",
                checks: &[NoNames(SOCKETS), NoNames(FILES)],
            },
            Clause {
                says: "knows no settings",
                checks: &[NoNames(&["std::env"]), NoCrates(&["serde", "toml"])],
            },
        ],
    },
    Invariant {
        of: "websocket",
        knows: &[],
        clauses: &[
            Clause {
                says: "no sockets, no runtime, no clock",
                checks: &[NoNames(SOCKETS), NoCrates(RUNTIME), NoNames(CLOCK)],
            },
            Clause {
                says: "an idle decoder owns no buffer",
                checks: &[Test(
                    "crates/protocol/websocket/src/decoder/tests/memory.rs",
                    "what_is_held_is_counted_and_nothing_between_messages",
                )],
            },
        ],
    },
];

/// Where `shootout` counts what was sent, what came, and what was lost.
const ACCOUNTING: &[&str] = &[
    "crate::journal",
    "crate::ledger",
    "crate::measures",
    "crate::meter",
    "crate::outcome",
    "crate::samples",
];
