//! Publishes the messages over HTTP, as a backend does (docs/protocols/broadcasts.md).
//!
//! Each stream has a lane, which sends its next message only when the last one is answered: so the numbers of a stream are
//! the order of its messages, and a message that arrives before an earlier one is out of order.

use std::{
    cell::RefCell,
    rc::Rc,
    sync::Arc,
    time::{Duration, Instant},
};

use plimsoll_clients::{
    dial::Dialer,
    http::{Client, HttpError, Keep, Method, Request, Settings},
    tls::{Tls, TlsError, TlsOptions},
};
use plimsoll_load::{causes::Causes, histogram::Histogram};
use tokio::{sync::watch, time::sleep_until};

use super::{
    board::Board,
    message::{Message, body},
    options::RecoverOptions,
};
use crate::wire::padding;

/// What was published since the last call of [`Publisher::take`].
#[derive(Debug, Clone, Default)]
pub(crate) struct Published {
    /// Broadcasts that were sent.
    pub(crate) n_sent: u64,
    /// Those that were not acknowledged.
    pub(crate) failures: Causes,
    /// From sending to the acknowledgement.
    pub(crate) rtt: Histogram,
    /// From the scheduled time until a broadcast was sent.
    pub(crate) lateness: Histogram,
}

/// Publishes the messages of all streams.
#[derive(Debug)]
pub(crate) struct Publisher {
    client: Client,
    request: Request,
    padding: String,
    published: RefCell<Published>,
    on_rtt: RefCell<Vec<Duration>>,
    keeps_rtts: bool,
    begin: Instant,
}

impl Published {
    pub(crate) fn merge(&mut self, other: &Self) {
        self.n_sent += other.n_sent;
        self.failures.merge(&other.failures);
        self.rtt.merge(&other.rtt);
        self.lateness.merge(&other.lateness);
    }
}

impl Publisher {
    /// A publisher that begins at this instant. `keeps_rtts`: single times are wanted.
    ///
    /// # Errors
    /// TLS cannot be used.
    pub(crate) fn new(options: &RecoverOptions, begin: Instant, keeps_rtts: bool) -> Result<Self, TlsError> {
        let tls = match &options.tls {
            Some(tls) => Arc::clone(tls),
            None => Arc::new(Tls::new(TlsOptions::default())?),
        };
        let settings = Settings {
            max_idle: options.n_streams,
            max_idle_per_host: options.n_streams,
            ..Settings::new(Arc::new(Dialer::default()), tls)
        };
        let mut request = Request::new(Method::POST, options.broadcast_url.clone());
        request.timeout = options.answer_timeout;
        request.keep = Keep::Nothing;
        request.max_redirects = 0;
        request
            .headers
            .push(("Content-Type".to_owned(), "application/json".to_owned()));
        if let Some(key) = &options.broadcast_key {
            request
                .headers
                .push(("Authorization".to_owned(), format!("Bearer {key}")));
        }
        Ok(Self {
            client: Client::new(Arc::new(settings), None),
            request,
            padding: padding(options.n_padding_bytes),
            published: RefCell::default(),
            on_rtt: RefCell::default(),
            keeps_rtts,
            begin,
        })
    }

    /// Sends the messages of one stream at their times, until the end of the schedule or an order to stop.
    pub(crate) async fn lane(
        self: Rc<Self>,
        stream: usize,
        options: Rc<RecoverOptions>,
        board: Arc<Board>,
        mut stop: watch::Receiver<bool>,
    ) {
        let name = options.stream(stream);
        let mut idx = stream;
        let mut number = 0;
        while let Some(due) = options.schedule.start(idx).map(|offset| self.begin + offset) {
            tokio::select! {
                biased;
                // The sender outlives the lanes.
                _ = stop.wait_for(|stop| *stop) => return,
                () = sleep_until(due.into()) => {}
            }
            idx += options.n_streams;
            number += 1;
            board.begin(stream, number);
            let is_published = self.publish(&name, number, due).await;
            board.settle(stream, number, is_published);
        }
    }

    /// The counts since the last call, and the single times.
    pub(crate) fn take(&self) -> (Published, Vec<Duration>) {
        (self.published.take(), self.on_rtt.take())
    }

    async fn publish(&self, stream: &str, number: u64, due: Instant) -> bool {
        let message = Message {
            stream: stream.into(),
            number,
            padding: self.padding.as_str().into(),
        };
        let request = Request {
            body: body(&message),
            ..self.request.clone()
        };
        let sent_at = Instant::now();
        let exchange = self.client.send(&request, None, drop).await;
        let mut published = self.published.borrow_mut();
        published.n_sent += 1;
        published.lateness.record(sent_at.saturating_duration_since(due));
        let failure = match &exchange.outcome {
            Ok(response) if (200..300).contains(&response.status) => None,
            Ok(response) => Some(refusal(response.status)),
            Err(error) => Some(words(error)),
        };
        if let Some((cause, example)) = &failure {
            let at = self.begin.elapsed();
            published.failures.add(cause, example, 1, at);
            return false;
        }
        let rtt = sent_at.elapsed();
        published.rtt.record(rtt);
        if self.keeps_rtts {
            self.on_rtt.borrow_mut().push(rtt);
        }
        true
    }
}

fn refusal(status: u16) -> (String, String) {
    let advice = match status {
        401 | 403 => "; give its key with --broadcast-key",
        404 | 405 | 426 => "; give its address with --broadcast-url",
        _ => "",
    };
    let cause = format!("broadcast: the server answered {status}{advice}");
    (cause.clone(), cause)
}

fn words(error: &HttpError) -> (String, String) {
    (
        format!("broadcast: {}", error.words()),
        format!("broadcast: {error}"),
    )
}
