//! The run in a browser: a page for this machine only, with charts that grow, buttons, and the report at the end.
//!
//! Its address holds a secret, so that other users of this machine and web pages cannot guess it. It answers only under
//! the names of this machine, so that no other name can be pointed to it. It accepts orders only from itself. A thread
//! of its own serves it. Each tab gets the complete newest state: a late tab gets all of it, and a slow tab misses
//! states in between, not the newest. While there is no tab, no state is made or sent.

use std::{
    fmt, io,
    net::{SocketAddr, TcpListener},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering::Relaxed},
    },
    thread,
    time::Duration,
};

use bytes::Bytes;
use plimsoll_loopback::ListenError;
use tokio::{sync::watch, time::timeout};

use crate::{draw::Mood, view::Orders};

mod answers;
mod serving;

/// How long open tabs may take to fetch the report when the run is over.
const REPORT_WITHIN: Duration = Duration::from_secs(5);

/// Why the page cannot be served.
#[derive(Debug, thiserror::Error)]
pub enum PageError {
    /// The page cannot listen on this address.
    #[error("--ui={address}: {source}")]
    Listen {
        /// As typed.
        address: String,
        /// Why not.
        source: ListenError,
    },
    /// The system gives no thread, or no random numbers.
    #[error("--ui: {0}")]
    System(#[from] io::Error),
}

/// What a page is about.
pub struct Subject {
    /// For people.
    pub name: String,
    /// Whether the run can be paused.
    pub can_pause: bool,
    /// Another page of this machine that belongs to the run, with its name: the chat of the demo. It is shown in a
    /// frame.
    pub link: Option<(String, String)>,
}

/// A page, served until it is dropped.
pub struct Page {
    url: String,
    shared: Arc<Shared>,
    /// The thread ends when this is dropped.
    _stop: tokio::sync::oneshot::Sender<()>,
}

/// What the page and its connections share.
struct Shared {
    address: SocketAddr,
    /// The first part of every path.
    secret: String,
    subject: Subject,
    orders: Box<dyn Orders + Sync>,
    /// The newest state as an event. Empty before the first.
    state: watch::Sender<Bytes>,
    report: Mutex<Option<Bytes>>,
    n_tabs: AtomicUsize,
    /// The number of tabs that have the report.
    n_reports: watch::Sender<usize>,
}

impl fmt::Debug for Page {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Page")
            .field("url", &self.url)
            .finish_non_exhaustive()
    }
}

impl Page {
    /// Listens on `address`, `host:port` of this machine, and serves the page from now on.
    ///
    /// # Errors
    /// The address is not a loopback address, or is in use.
    pub fn serve(
        address: &str,
        subject: Subject,
        orders: impl Orders + Sync + 'static,
    ) -> Result<Self, PageError> {
        let listener = plimsoll_loopback::listen(address).map_err(|source| PageError::Listen {
            address: address.to_owned(),
            source,
        })?;
        let address = listener.local_addr()?;
        let secret = plimsoll_loopback::secret()?;
        let shared = Arc::new(Shared {
            address,
            subject,
            orders: Box::new(orders),
            state: watch::Sender::new(Bytes::new()),
            report: Mutex::default(),
            n_tabs: AtomicUsize::new(0),
            n_reports: watch::Sender::new(0),
            secret,
        });
        let (stop, stopped) = tokio::sync::oneshot::channel();
        start(listener, Arc::clone(&shared), stopped)?;
        Ok(Self {
            url: format!("http://{address}/{}/", shared.secret),
            shared,
            _stop: stop,
        })
    }

    /// Where it is.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Whether a tab is open.
    pub fn has_tabs(&self) -> bool {
        self.shared.n_tabs.load(Relaxed) > 0
    }

    /// Shows the state of the run: `run` is JSON as reports have it, and `planned` what the plan says, as JSON.
    pub fn show(&self, run: &str, planned: &str) {
        let mood = self.shared.mood();
        self.shared.publish(&format!(
            "{{\"mood\":{mood},\"run\":{run},\"planned\":{planned}}}"
        ));
    }

    /// Shows the state of a search: `search` is JSON as its report has it, or null before the first step has ended;
    /// `present` is a text in JSON that says how the current step goes.
    pub fn show_search(&self, search: &str, present: &str) {
        let mood = self.shared.mood();
        self.shared.publish(&format!(
            "{{\"mood\":{mood},\"search\":{search},\"present\":{present}}}"
        ));
    }

    /// The run is over: shows its report, a page, and waits until all tabs have it, up to five seconds.
    pub async fn finish(self, report: String) {
        let n_tabs = self.shared.n_tabs.load(Relaxed);
        *lock(&self.shared.report) = Some(report.into());
        self.shared.publish("{\"over\":true}");
        let mut n_reports = self.shared.n_reports.subscribe();
        let all = n_reports.wait_for(|n_reports| *n_reports >= n_tabs);
        // Tabs that have not fetched it by then are gone or do not read.
        drop(timeout(REPORT_WITHIN, all).await);
    }
}

impl Shared {
    /// Sends all tabs a new state, which is one line of JSON.
    fn publish(&self, json: &str) {
        self.state.send_replace(Bytes::from(format!("data: {json}\n\n")));
    }

    /// As JSON.
    fn mood(&self) -> String {
        let Mood { is_paused, is_ending } = self.orders.mood();
        format!("{{\"isPaused\":{is_paused},\"isEnding\":{is_ending}}}")
    }
}

/// Serves on a thread with an event loop of its own.
fn start(
    listener: TcpListener,
    shared: Arc<Shared>,
    stopped: tokio::sync::oneshot::Receiver<()>,
) -> io::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let listener = {
        let _inside = runtime.enter();
        tokio::net::TcpListener::from_std(listener)?
    };
    let serve = move || {
        let tasks = tokio::task::LocalSet::new();
        tasks.block_on(&runtime, async {
            tokio::select! {
                () = serving::serve(listener, shared) => {}
                _ = stopped => {}
            }
        });
    };
    thread::Builder::new().name("page".to_owned()).spawn(serve)?;
    Ok(())
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
