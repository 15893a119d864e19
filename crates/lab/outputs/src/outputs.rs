//! The outputs that the user asked for with `--out`, checked before the run.

use std::{fmt, io::Write, time::SystemTime};

use plimsoll_load::{nearest::nearest, parity::Parity, plan::Plan};

use crate::{
    OutputError, Running,
    csv::{Csv, TimeFormat},
    file::{self, Format, Place},
    influxdb::{self, InfluxDb},
    json::Json,
    opentelemetry::{Collector, OpenTelemetry},
    passing::pass_on,
    prometheus::{Prometheus, PrometheusRw},
    push::push,
    series::SeriesStore,
    settings::Settings,
    statsd::{self, StatsD},
};

/// All outputs, as messages list them.
pub(crate) const NAMES: [&str; 6] = [
    "json",
    "csv",
    "prometheus-rw",
    "opentelemetry",
    "influxdb",
    "statsd",
];

/// Outputs of k6 and its extensions that are not here.
const NOT_BUILT: [&str; 7] = [
    "cloud",
    "xk6-influxdb",
    "datadog",
    "kafka",
    "xk6-kafka",
    "timescaledb",
    "elasticsearch",
];

/// k6's names of its web dashboard, in k6 and in the extension that it was. `plimsoll run` turns it into other flags; other
/// commands refuse it.
pub const DASHBOARDS: [&str; 2] = ["web-dashboard", "dashboard"];

/// What takes the dashboard's place.
const DASHBOARD_INSTEAD: &str =
    "`run` turns it into --ui and --report, which other commands have under these names";

/// What to do without one of them.
const INSTEAD: &str = "many databases accept one of these, some through an OpenTelemetry collector";

/// All outputs, also those of k6 that are not here, each compared with k6's of the same name: for the reference page.
pub fn catalog() -> impl Iterator<Item = (&'static str, Parity)> {
    let here = NAMES.into_iter().map(|name| (name, Parity::Same));
    let dashboards = DASHBOARDS
        .into_iter()
        .map(|name| (name, Parity::Differs(DASHBOARD_INSTEAD)));
    let absent = NOT_BUILT.into_iter().map(|name| (name, Parity::Absent(INSTEAD)));
    here.chain(dashboards).chain(absent)
}

/// Outputs of a run, before it starts.
#[derive(Debug, Default)]
pub struct Outputs {
    chosen: Vec<Output>,
}

#[derive(Debug)]
enum Output {
    Json(Place),
    Csv(Place, TimeFormat),
    Prometheus(Box<PrometheusRw>),
    OpenTelemetry(Box<OpenTelemetry>),
    InfluxDb(Box<InfluxDb>),
    StatsD(StatsD),
}

impl Outputs {
    /// Parses the values of `--out`, each `name` or `name=argument`, and the outputs' environment variables.
    ///
    /// # Errors
    /// An output does not exist, or its argument is invalid.
    pub fn parse(args: &[String], env: &dyn Fn(&str) -> Option<String>) -> Result<Self, OutputError> {
        let chosen = args.iter().map(|arg| Output::parse(arg, Settings(env)));
        let outputs = Self {
            chosen: chosen.collect::<Result<_, _>>()?,
        };
        outputs.check_places()?;
        Ok(outputs)
    }

    /// Adds the outputs of another list.
    ///
    /// # Errors
    /// Two outputs write to one file.
    pub fn extend(&mut self, others: Self) -> Result<(), OutputError> {
        self.chosen.extend(others.chosen);
        self.check_places()
    }

    /// Whether there are no outputs. Such a run pays nothing for them.
    pub fn is_empty(&self) -> bool {
        self.chosen.is_empty()
    }

    /// What each output is, for people: `json (samples.json)`.
    pub fn descriptions(&self) -> Vec<String> {
        self.chosen.iter().map(ToString::to_string).collect()
    }

    /// Opens files and starts a thread for each output. `stdout` is for an output that writes to `-`.
    ///
    /// # Errors
    /// A file cannot be created, or the system provides no thread.
    pub fn start(self, plan: &Plan, stdout: Box<dyn Write + Send>) -> Result<Running, OutputError> {
        let mut stdout = Some(stdout);
        let mut running = Running::default();
        for output in self.chosen {
            output.start(plan, &mut stdout, &mut running)?;
        }
        Ok(running)
    }

    /// Checks that no two outputs write to one file.
    fn check_places(&self) -> Result<(), OutputError> {
        let places: Vec<_> = self.chosen.iter().filter_map(Output::place).collect();
        for (position, place) in places.iter().enumerate() {
            if places[..position].contains(place) {
                let place = match place {
                    Place::Stdout => "the standard output".to_owned(),
                    Place::File(name) => format!("`{name}`"),
                };
                return Err(OutputError::SamePlace { place });
            }
        }
        Ok(())
    }
}

impl Output {
    fn parse(arg: &str, settings: Settings<'_>) -> Result<Self, OutputError> {
        let (name, argument) = match arg.split_once('=') {
            Some((name, argument)) => (name, Some(argument)),
            None => (arg, None),
        };
        if argument == Some("") {
            return Err(OutputError::Argument {
                output: arg.to_owned(),
                problem: format!(
                    "there is nothing after `=`; expected a file, for example `{name}=samples.gz`"
                ),
            });
        }
        match name {
            "json" => Ok(Self::Json(Place::named(argument.unwrap_or("-")))),
            "csv" => {
                let file = argument
                    .map(str::to_owned)
                    .or_else(|| settings.text(&["K6_CSV_FILENAME"]));
                let place = Place::named(file.as_deref().unwrap_or("file.csv"));
                Ok(Self::Csv(place, time_format(settings)?))
            }
            "prometheus-rw" | "experimental-prometheus-rw" => Ok(Self::Prometheus(Box::new(
                PrometheusRw::read(argument, settings)?,
            ))),
            "opentelemetry" | "experimental-opentelemetry" => match argument {
                None => Ok(Self::OpenTelemetry(Box::new(OpenTelemetry::read(settings)?))),
                Some(_) => Err(OutputError::Argument {
                    output: arg.to_owned(),
                    problem:
                        "it takes no argument; set OTEL_EXPORTER_OTLP_ENDPOINT to the URL of the collector, for \
                         example `http://localhost:4317`"
                            .to_owned(),
                }),
            },
            "influxdb" => Ok(Self::InfluxDb(Box::new(InfluxDb::read(argument, settings)?))),
            "statsd" | "output-statsd" => Ok(Self::StatsD(StatsD::read(argument, settings)?)),
            _ => Err(unknown(name)),
        }
    }

    fn place(&self) -> Option<&Place> {
        match self {
            Self::Json(place) | Self::Csv(place, _) => Some(place),
            Self::Prometheus(_) | Self::OpenTelemetry(_) | Self::InfluxDb(_) | Self::StatsD(_) => None,
        }
    }

    fn start(
        self,
        plan: &Plan,
        stdout: &mut Option<Box<dyn Write + Send>>,
        running: &mut Running,
    ) -> Result<(), OutputError> {
        let name = self.to_string();
        match self {
            Self::Json(place) => start_file(name, "json", &place, Json::new(plan), stdout, running),
            Self::Csv(place, format) => {
                start_file(name, "csv", &place, Csv::new(plan, format), stdout, running)
            }
            Self::Prometheus(config) => {
                let store = SeriesStore::new(config.trend_style(), &plan.system_tags);
                let period = config.period;
                let database = Prometheus::new(*config);
                running.spawn_async(name, move |receiver| push(receiver, store, database, period))
            }
            Self::OpenTelemetry(config) => {
                let store = SeriesStore::new(config.trend_style, &plan.system_tags);
                let (period, start) = (config.period, SystemTime::now());
                running.spawn_async(name, async move |receiver| {
                    push(receiver, store, Collector::new(*config, start), period).await
                })
            }
            Self::InfluxDb(config) => running.spawn_async(name, async move |receiver| {
                pass_on(receiver, influxdb::Database::new(*config)).await
            }),
            Self::StatsD(config) => running.spawn_async(name, async move |receiver| {
                pass_on(receiver, statsd::Server::new(config)).await
            }),
        }
    }
}

fn start_file(
    name: String,
    output: &'static str,
    place: &Place,
    format: impl Format + Send + 'static,
    stdout: &mut Option<Box<dyn Write + Send>>,
    running: &mut Running,
) -> Result<(), OutputError> {
    let sink = place.open(stdout).map_err(|error| OutputError::File {
        output,
        path: place.to_string(),
        error,
    })?;
    running.spawn(name, move |receiver| file::write(receiver, format, sink))
}

fn time_format(settings: Settings<'_>) -> Result<TimeFormat, OutputError> {
    let names = TimeFormat::ALL.map(|(name, _)| name).join(", ");
    let read = |value: &str| {
        let known = TimeFormat::ALL.iter().find(|(name, _)| *name == value);
        known.map(|(_, format)| *format)
    };
    let format = settings.read(&["K6_CSV_TIME_FORMAT"], &format!("one of {names}"), read)?;
    Ok(format.unwrap_or_default())
}

fn unknown(name: &str) -> OutputError {
    let plain = name.trim_start_matches("xk6-");
    if DASHBOARDS.contains(&name) {
        return OutputError::NotBuilt {
            name: name.to_owned(),
            instead: DASHBOARD_INSTEAD,
        };
    }
    if NOT_BUILT.contains(&name) || NOT_BUILT.contains(&plain) {
        return OutputError::NotBuilt {
            name: name.to_owned(),
            instead: INSTEAD,
        };
    }
    OutputError::Unknown {
        name: name.to_owned(),
        suggestion: nearest(name, NAMES)
            .map_or_else(String::new, |known| format!(" (did you mean `{known}`?)")),
    }
}

impl fmt::Display for Output {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Json(place) => write!(f, "json ({place})"),
            Self::Csv(place, _) => write!(f, "csv ({place})"),
            Self::Prometheus(config) => write!(f, "prometheus-rw ({})", config.url),
            Self::OpenTelemetry(config) => write!(f, "opentelemetry ({})", config.place()),
            Self::InfluxDb(config) => write!(f, "influxdb ({})", config.place),
            Self::StatsD(config) => write!(f, "statsd ({})", config.address),
        }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Stdout => "-",
            Self::File(name) => name,
        })
    }
}

#[cfg(test)]
mod tests;
