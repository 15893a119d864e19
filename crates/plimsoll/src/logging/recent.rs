//! The last warnings and errors of the log, for operators who did not watch it.

use std::{
    collections::VecDeque,
    fmt::{self, Write as _},
    sync::{Arc, Mutex, PoisonError},
    time::{SystemTime, UNIX_EPOCH},
};

use plimsoll_server::Warning;
use tracing::{
    Event, Level, Subscriber,
    field::{Field, Visit},
};
use tracing_subscriber::{Layer, layer::Context};

/// The most warnings that are kept. The oldest ones go first.
const MAX_KEPT: usize = 50;

/// The most characters of one.
const MAX_CHARS: usize = 500;

/// The last warnings and errors. A clone is the same list.
#[derive(Debug, Clone, Default)]
pub(crate) struct Recent(Arc<Mutex<VecDeque<Warning>>>);

impl Recent {
    /// The warnings, oldest first.
    pub(crate) fn list(&self) -> Vec<Warning> {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.iter().cloned().collect()
    }

    fn add(&self, warning: Warning) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(last) = kept.back_mut()
            && (last.level, &last.text) == (warning.level, &warning.text)
        {
            last.times += warning.times;
            last.at_ms = warning.at_ms;
            return;
        }
        if kept.len() == MAX_KEPT {
            kept.pop_front();
        }
        kept.push_back(warning);
    }
}

impl<S: Subscriber> Layer<S> for Recent {
    fn on_event(&self, event: &Event<'_>, _context: Context<'_, S>) {
        let mut text = Text::default();
        event.record(&mut text);
        let at = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        self.add(Warning {
            at_ms: u64::try_from(at.as_millis()).unwrap_or(u64::MAX),
            level: if *event.metadata().level() == Level::ERROR {
                "error"
            } else {
                "warn"
            },
            text: text.shortened(),
            times: 1,
        });
    }
}

/// An event as a line of text: the message, then the fields.
#[derive(Default)]
struct Text {
    message: String,
    fields: String,
}

impl Visit for Text {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        // Writing to a text does not fail.
        let _infallible = match field.name() {
            "message" => write!(self.message, "{value:?}"),
            name => write!(self.fields, " {name}={value:?}"),
        };
    }
}

impl Text {
    fn shortened(mut self) -> String {
        self.message.push_str(&self.fields);
        if let Some((end, _)) = self.message.char_indices().nth(MAX_CHARS) {
            self.message.truncate(end);
            self.message.push('…');
        }
        self.message
    }
}

#[cfg(test)]
mod tests {
    use tracing::{dispatcher, level_filters::LevelFilter};
    use tracing_subscriber::{Registry, layer::SubscriberExt as _};

    use super::*;

    fn kept(log: impl FnOnce()) -> Vec<(&'static str, String, u64)> {
        let recent = Recent::default();
        let dispatch = Registry::default()
            .with(recent.clone().with_filter(LevelFilter::WARN))
            .into();
        dispatcher::with_default(&dispatch, log);
        let warnings = recent.list().into_iter();
        warnings
            .map(
                |Warning {
                     level, text, times, ..
                 }| (level, text, times),
            )
            .collect()
    }

    #[test]
    fn warnings_and_errors_are_kept_with_their_fields() {
        let kept = kept(|| {
            tracing::info!("A server starts.");
            tracing::warn!(stream = "a", n = 2, "The disk is full.");
            tracing::error!("It stays {}.", "full");
        });
        let expected = [
            ("warn", r#"The disk is full. stream="a" n=2"#, 1),
            ("error", "It stays full.", 1),
        ];
        assert_eq!(
            kept,
            expected.map(|(level, text, times)| (level, text.to_owned(), times))
        );
    }

    #[test]
    fn equal_ones_in_a_row_are_one_and_old_ones_go() {
        let repeated = kept(|| (0..3).for_each(|_| tracing::warn!("again")));
        assert_eq!(repeated, [("warn", "again".to_owned(), 3)]);
        let many = kept(|| (0..MAX_KEPT + 5).for_each(|n| tracing::warn!("{n}")));
        assert_eq!(many.len(), MAX_KEPT);
        assert_eq!(many[0].1, "5");
    }

    #[test]
    fn long_ones_are_cut_between_characters() {
        let kept = kept(|| tracing::warn!("{}", "ü".repeat(MAX_CHARS + 1)));
        assert_eq!(kept[0].1, format!("{}…", "ü".repeat(MAX_CHARS)));
    }
}
