//! The timers of a socket, which end with it.

use std::{cell::RefCell, time::Duration};

use rquickjs::{
    Ctx, Exception, Function, JsLifetime, Result,
    class::{Trace, Tracer},
};
use tokio::time::Instant;

/// The largest number of timers on one socket: far beyond the need of working scripts.
const MAX_TIMERS: usize = 10_000;

/// Timers in no order: a socket has a handful.
#[derive(Default, JsLifetime)]
pub(super) struct Timers<'js>(RefCell<Vec<Timer<'js>>>);

#[derive(JsLifetime)]
struct Timer<'js> {
    due: Instant,
    /// `None` is once.
    period: Option<Duration>,
    function: Function<'js>,
}

impl<'js> Timers<'js> {
    /// Adds a timer for `millis` from now on, and so on if it `repeats`.
    ///
    /// # Errors
    /// When the time is not positive, or there are too many.
    pub(super) fn add(
        &self,
        ctx: &Ctx<'js>,
        function: Function<'js>,
        millis: f64,
        repeats: bool,
    ) -> Result<()> {
        let caller = if repeats { "setInterval" } else { "setTimeout" };
        if millis.is_nan() || millis <= 0.0 {
            let text = format!("{caller} requires a >0 timeout parameter, received {millis:.2}");
            return Err(Exception::throw_message(ctx, &text));
        }
        if self.0.borrow().len() >= MAX_TIMERS {
            let text = format!("this socket already has {MAX_TIMERS} timers; wait for some of them first");
            return Err(Exception::throw_range(ctx, &text));
        }
        // More than a clock can hold is never.
        let after = Duration::try_from_secs_f64(millis / 1_000.0).unwrap_or(Duration::MAX);
        let Some(due) = Instant::now().checked_add(after) else {
            return Ok(());
        };
        self.0.borrow_mut().push(Timer {
            due,
            period: repeats.then_some(after),
            function,
        });
        Ok(())
    }

    /// The time of the next due timer.
    pub(super) fn next_due(&self) -> Option<Instant> {
        self.0.borrow().iter().map(|timer| timer.due).min()
    }

    /// The function of the timer that is due longest. An interval is due again one period later, and not before now:
    /// ticks do not pile up behind a slow script.
    pub(super) fn take_due(&self, now: Instant) -> Option<Function<'js>> {
        let mut timers = self.0.borrow_mut();
        let due = timers.iter().enumerate().filter(|(_, timer)| timer.due <= now);
        let (position, _) = due.min_by_key(|(_, timer)| timer.due)?;
        match timers[position].period {
            None => Some(timers.remove(position).function),
            Some(period) => {
                let timer = &mut timers[position];
                timer.due = (timer.due + period).max(now);
                Some(timer.function.clone())
            }
        }
    }
}

impl<'js> Trace<'js> for Timers<'js> {
    fn trace<'a>(&self, tracer: Tracer<'a, 'js>) {
        // A timer that is being added is held by the script, too.
        if let Ok(timers) = self.0.try_borrow() {
            timers.iter().for_each(|timer| timer.function.trace(tracer));
        }
    }
}
