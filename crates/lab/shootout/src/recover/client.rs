//! One client: connects, listens to its stream, is cut, comes back, and accounts for every message.

use std::{
    cell::{Cell, RefCell},
    rc::Rc,
    sync::{Arc, atomic::Ordering::SeqCst},
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};

use plimsoll_cable::subprotocol::Dialect;
use plimsoll_clients::{
    cable::{
        ConnectError, Ending, InquiryError, SubscribeError, check_agreed,
        session::{Channel, Reader, Resumption, Session},
    },
    cause::Cause,
    websocket,
};
use tokio::time::{sleep, sleep_until, timeout};

use super::{
    account::{Account, Findings},
    message,
    options::Protocol,
    shared::{Setup, Shared, Stage},
    tally::Way,
};

/// The pause after a failed attempt to come back. Reason: a server that refuses all clients must not be flooded by them.
const RETRY_AFTER: Duration = Duration::from_secs(1);

/// The margin of the first request by time: history is asked for from so long before the first subscription. Reason: the
/// server's clock may be behind. There are no earlier messages, because the streams of a run are its own.
const SINCE_MARGIN: Duration = Duration::from_secs(60);

/// A client of a run.
pub(crate) struct Client {
    shared: Rc<Shared>,
    /// Its number in the run.
    idx: usize,
    protocol: Protocol,
    identifier: String,
    books: Rc<Books>,
    resumption: Option<Resumption>,
    /// Whether the next connection may name the last session.
    may_resume: bool,
    /// The time from which messages are asked for when no position is known.
    since: Option<i64>,
    /// The stage that the client has acted on.
    stage: Stage,
}

/// What the client's listener writes to.
struct Books {
    shared: Rc<Shared>,
    /// Whether the client is beside the others: it gets what the base protocol gives, and is counted separately.
    is_beside: bool,
    stream: usize,
    stream_name: String,
    account: RefCell<Account>,
    /// The number of cuts so far.
    round: Cell<usize>,
    /// Whether the client has told that it has everything.
    is_complete: Cell<bool>,
}

/// A connection that listens.
struct Link {
    session: Session,
    reader: Reader,
    channel: Channel,
}

/// Why a client is not connected.
struct Failure {
    cause: String,
    example: String,
}

/// What ended the reading.
enum Event {
    /// The planned cut is due.
    Due,
    /// The run has entered this stage.
    Stage(Stage),
    Ended(Ending),
}

impl Client {
    pub(crate) fn new(shared: Rc<Shared>, idx: usize) -> Self {
        let options = &shared.setup.options;
        let protocol = options.protocol_of(idx);
        let stream = idx % options.n_streams;
        let stream_name = options.stream(stream);
        let books = Books {
            stream,
            is_beside: options.is_beside(idx),
            account: RefCell::new(Account::new(protocol == Protocol::Extended)),
            round: Cell::new(0),
            is_complete: Cell::new(false),
            shared: Rc::clone(&shared),
            stream_name,
        };
        Self {
            identifier: options.identifier(&books.stream_name),
            idx,
            protocol,
            books: Rc::new(books),
            resumption: None,
            may_resume: false,
            since: None,
            stage: Stage::Opening,
            shared,
        }
    }

    /// Lives until the end of the run.
    pub(crate) async fn run(mut self) {
        let first = self.first().await;
        self.shared.setup.board.n_begun.fetch_add(1, SeqCst);
        match first {
            Some(link) => self.live(link).await,
            // A client that was never ready is out of the run, and misses nothing.
            None => self.books.leave(),
        }
    }

    async fn first(&mut self) -> Option<Link> {
        let setup = Rc::clone(&self.shared);
        // The semaphore is never closed.
        let _place = setup.opening.acquire().await.ok()?;
        let started = Instant::now();
        match self.open().await {
            Ok((link, _)) => {
                let took = started.elapsed();
                self.shared.connected(self.books.is_beside, false, took);
                Some(link)
            }
            Err(failure) => {
                self.shared.fail(&failure.cause, &failure.example);
                None
            }
        }
    }

    async fn live(mut self, link: Link) {
        let setup = Arc::clone(&self.shared.setup);
        let setup = &*setup;
        let timetable = setup.options.timetable;
        let mut link = Some(link);
        let mut round = 0;
        while let Some(open) = &mut link {
            let is_cut_again = self.stage == Stage::Publishing && round < timetable.cuts().n_cuts;
            let begin = setup.begin.get().filter(|_| is_cut_again);
            let due = begin.map(|begin| *begin + timetable.cut(self.idx, round));
            match next_event(setup, self.stage, &mut open.reader, due).await {
                Event::Due => {
                    round += 1;
                    self.note_session(link.take());
                    self.books.cut(round as usize);
                    link = self.away_and_back(timetable.cuts().away).await;
                }
                Event::Ended(ending) => {
                    self.note_session(link.take());
                    self.dropped(&ending);
                    link = self.come_back().await;
                }
                Event::Stage(Stage::Over) => break,
                Event::Stage(stage) => {
                    self.stage = stage;
                    self.books.check_complete();
                }
            }
        }
        self.close(link).await;
        self.books.finish(round as usize);
    }

    /// Takes the connection away, without a word to the server, and keeps what the next session needs.
    fn note_session(&mut self, link: Option<Link>) {
        let Some(link) = link else { return };
        self.shared.setup.board.n_connected.fetch_sub(1, SeqCst);
        let resumption = link.session.resumption();
        self.may_resume = resumption.is_some();
        self.resumption = resumption.or(self.resumption.take());
        drop(link.reader);
        self.books.release();
    }

    fn dropped(&mut self, ending: &Ending) {
        // A client that was told to go does not resume, as those of AnyCable do not.
        self.may_resume &= !matches!(ending, Ending::Disconnected { .. });
        let cause = format!("dropped: {}", ending.cause().described());
        self.shared.tally.borrow_mut().n_dropped += 1;
        self.shared.fault(&cause, &format!("dropped: {ending}"));
    }

    async fn away_and_back(&mut self, away: Duration) -> Option<Link> {
        let mut stage = self.shared.setup.stage.subscribe();
        tokio::select! {
            () = sleep(away) => {}
            // The sender outlives the workers.
            _ = stage.wait_for(|stage| *stage == Stage::Over) => return None,
        }
        self.come_back().await
    }

    /// Connects until it succeeds, or until the run is over.
    async fn come_back(&mut self) -> Option<Link> {
        let started = Instant::now();
        let first_missed = self.books.begin_return(started);
        let mut stage = self.shared.setup.stage.subscribe();
        loop {
            let opened = tokio::select! {
                opened = self.open() => opened,
                _ = stage.wait_for(|stage| *stage == Stage::Over) => return None,
            };
            match opened {
                Ok((link, is_restored)) => {
                    self.shared
                        .connected(self.books.is_beside, true, started.elapsed());
                    self.books.was_away(first_missed);
                    return self.ask(link, is_restored).await;
                }
                Err(failure) => self.shared.fail(&failure.cause, &failure.example),
            }
            tokio::select! {
                () = sleep(RETRY_AFTER) => {}
                _ = stage.wait_for(|stage| *stage == Stage::Over) => return None,
            }
        }
    }

    /// Connects and subscribes. Also returns whether the server restored the session.
    async fn open(&mut self) -> Result<(Link, bool), Failure> {
        let setup = &self.shared.setup;
        self.shared.tally.borrow_mut().n_attempts += 1;
        let dialect = setup.dialect(self.protocol);
        let mut route = setup.routes[self.idx % setup.routes.len()].clone();
        route.protocols = vec![dialect.subprotocol().to_owned()];
        if let Some(resumption) = self.resumption.as_ref().filter(|_| self.may_resume) {
            let sid = resumption.sid().to_owned();
            route.headers.push(("X-ANYCABLE-RESTORE-SID".to_owned(), sid));
        }
        let started = Instant::now();
        let limit = setup.options.connect_timeout;
        let (connection, _) = websocket::connect(&route, &self.shared.traffic)
            .await
            .map_err(ConnectError::from)?;
        check_agreed(&connection, dialect)?;
        if dialect.is_extended && !Dialect::of(connection.protocol()).is_extended {
            return Err(Failure::not_extended(connection.protocol()));
        }
        let left = limit.saturating_sub(started.elapsed());
        let (session, mut reader) = Session::open(connection, left, self.resumption.clone()).await?;
        let is_return = self.books.account.borrow().is_returning();
        if is_return {
            self.books.account.borrow_mut().hold();
        }
        let channel = if is_return && dialect.is_extended {
            session
                .subscribe_with_history(&self.identifier, self.since)
                .await?
        } else {
            session.subscribe(&self.identifier).await?
        };
        channel.listen(Books::listener(&self.books));
        let left = limit.saturating_sub(started.elapsed());
        reader.read_during(channel.confirmed(left)).await?;
        self.since.get_or_insert_with(now_with_margin);
        let is_restored = session.is_restored();
        let link = Link {
            session,
            reader,
            channel,
        };
        Ok((link, is_restored))
    }

    /// Waits for what the client missed.
    async fn ask(&mut self, mut link: Link, is_restored: bool) -> Option<Link> {
        let options = &self.shared.setup.options;
        if self.protocol == Protocol::Base {
            self.books.answered(Way::Bare);
            return Some(link);
        }
        let limit = options.answer_timeout;
        let answer = link.channel.replayed(limit);
        let mut stage = self.shared.setup.stage.subscribe();
        let answer = tokio::select! {
            answer = link.reader.read_during(answer) => answer,
            _ = stage.wait_for(|stage| *stage == Stage::Over) => return Some(link),
        };
        match answer {
            Ok((true, _)) if is_restored => self.books.answered(Way::Resumed),
            Ok((true, _)) => self.books.answered(Way::History),
            Ok((false, _)) => self.books.answered(Way::Refused),
            Err(error @ (InquiryError::TimedOut { .. } | InquiryError::NoPosition)) => {
                self.shared
                    .fault("history: no answer", &format!("history: {error}"));
                self.books.answered(Way::Unanswered);
            }
            // The next read tells why.
            Err(InquiryError::Ended(_)) => {}
        }
        Some(link)
    }

    async fn close(&self, link: Option<Link>) {
        let Some(mut link) = link else { return };
        let leaving = link.session.disconnect();
        let _closed = timeout(
            websocket::Conversation::CLOSE_TIMEOUT,
            link.reader.read_during(leaving),
        )
        .await;
    }
}

impl Books {
    /// Gets the messages of a subscription.
    fn listener(books: &Rc<Self>) -> plimsoll_clients::cable::session::OnArrival {
        let books = Rc::clone(books);
        Box::new(move |arrival| {
            let Some(number) = message::number(arrival.json, &books.stream_name) else {
                books.shared.tally.borrow_mut().n_foreign += 1;
                return;
            };
            let position = arrival
                .position
                .map(|position| (&*position.epoch, position.offset));
            let findings = books.account.borrow_mut().arrive(number, position, arrival.at);
            books.note(findings, arrival.at);
        })
    }

    fn note(&self, findings: Findings, at: Instant) {
        self.shared.add(self.is_beside, self.round.get(), findings, at);
        if findings.n_new > 0 {
            self.shared
                .setup
                .board
                .n_arrived
                .fetch_add(findings.n_new, SeqCst);
            self.check_complete();
        }
    }

    fn release(&self) {
        let findings = self.account.borrow_mut().release();
        self.note(findings, Instant::now());
    }

    /// The client is cut for this round.
    fn cut(&self, round: usize) {
        self.give_up();
        self.round.set(round);
        self.shared.tally.borrow_mut().side(self.is_beside, round).n_cuts += 1;
    }

    fn answered(&self, way: Way) {
        let now = Instant::now();
        self.shared
            .tally
            .borrow_mut()
            .side(self.is_beside, self.round.get())
            .ways
            .add(way);
        let findings = self.account.borrow_mut().answered(now);
        self.note(findings, now);
    }

    /// The client begins to come back at `started`. Returns the number after the last message that it has.
    fn begin_return(&self, started: Instant) -> u64 {
        let (target, uncertain) = self.shared.setup.board.settled(self.stream);
        let mut account = self.account.borrow_mut();
        if !self.is_beside {
            account.begin_return(started, target, &uncertain);
        }
        account.highest() + 1
    }

    /// The client has subscribed again. Everything from the number `first` on whose broadcast has begun by now may have been
    /// published while it was away.
    fn was_away(&self, first: u64) {
        let last = self.shared.setup.board.begun(self.stream);
        self.account.borrow_mut().was_away(first..=last);
    }

    fn give_up(&self) {
        if self.account.borrow_mut().give_up() {
            let mut tally = self.shared.tally.borrow_mut();
            tally.n_returns += 1;
            tally.n_incomplete += 1;
        }
    }

    /// After the last broadcast: tells when nothing is missing.
    fn check_complete(&self) {
        if self.is_complete.get() || self.shared.stage() < Stage::Draining {
            return;
        }
        let account = self.account.borrow();
        if !account.is_returning() && self.n_lost(&account) == 0 {
            drop(account);
            self.leave();
        }
    }

    fn leave(&self) {
        if !self.is_complete.replace(true) {
            self.shared.setup.board.n_complete.fetch_add(1, SeqCst);
        }
    }

    /// The number of messages that the client should have and does not have.
    fn n_lost(&self, account: &Account) -> u64 {
        let (last, uncertain) = self.shared.setup.board.settled(self.stream);
        account.n_missing(1..=last, &uncertain) - self.n_missed(account)
    }

    /// The number of messages that a client beside the others was not connected for. The others must get them.
    fn n_missed(&self, account: &Account) -> u64 {
        if !self.is_beside {
            return 0;
        }
        let (last, uncertain) = self.shared.setup.board.settled(self.stream);
        account.n_missed(1..=last, &uncertain)
    }

    /// The run is over: whatever is missing is lost.
    fn finish(&self, round: usize) {
        self.release();
        self.give_up();
        let account = self.account.borrow();
        let mut tally = self.shared.tally.borrow_mut();
        let counts = tally.side(self.is_beside, round);
        counts.n_lost += self.n_lost(&account);
        counts.n_missed += self.n_missed(&account);
    }
}

/// Reads until the cut is due, the run enters a later stage than `seen`, or the connection ends.
async fn next_event(setup: &Setup, seen: Stage, reader: &mut Reader, due: Option<Instant>) -> Event {
    let mut stage = setup.stage.subscribe();
    let due = async {
        match due {
            Some(due) => sleep_until(due.into()).await,
            None => std::future::pending().await,
        }
    };
    let reading = async {
        loop {
            if let Err(ending) = reader.read().await {
                return ending;
            }
        }
    };
    tokio::select! {
        biased;
        // The sender outlives the workers.
        Ok(stage) = stage.wait_for(|stage| *stage > seen) => Event::Stage(*stage),
        () = due => Event::Due,
        ending = reading => Event::Ended(ending),
    }
}

impl Failure {
    fn not_extended(chosen: Option<&str>) -> Self {
        let chosen = chosen.unwrap_or("none");
        let cause = format!(
            "the server does not speak the extended protocol (it chose the sub-protocol {chosen}); try --protocol base"
        );
        Self {
            example: cause.clone(),
            cause,
        }
    }

    fn of(cause: &Cause, error: &impl ToString) -> Self {
        Self {
            cause: cause.described(),
            example: error.to_string(),
        }
    }
}

impl From<ConnectError> for Failure {
    fn from(error: ConnectError) -> Self {
        Self::of(&error.cause(), &error)
    }
}

impl From<SubscribeError> for Failure {
    fn from(error: SubscribeError) -> Self {
        Self::of(&error.cause(), &error)
    }
}

impl From<Ending> for Failure {
    fn from(error: Ending) -> Self {
        Self::of(&error.cause(), &error)
    }
}

fn now_with_margin() -> i64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(now.saturating_sub(SINCE_MARGIN).as_secs()).unwrap_or(i64::MAX)
}
