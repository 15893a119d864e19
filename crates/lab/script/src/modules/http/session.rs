//! The data of one virtual user that lasts between requests.

use std::{
    cell::{Cell, OnceCell, RefCell},
    rc::Rc,
    sync::Arc,
};

use plimsoll_clients::http::{Client, CookieJar};
use plimsoll_load::metrics::Recorder;
use rquickjs::{Ctx, Exception, JsLifetime, Result};

use super::{debug::Debug, expected::Expected, samples::Samples};
use crate::{context_data, host::Host, network::NetworkError};

/// Connections, cookies, and which answers are expected.
pub(super) struct Session {
    client: OnceCell<Client>,
    /// The jar of requests that name no other.
    pub(super) jar: Rc<RefCell<CookieJar>>,
    /// The value of `setResponseCallback`; `None` when nothing is judged.
    pub(super) expected: RefCell<Option<Rc<Expected>>>,
    pub(super) samples: Samples,
    pub(super) debug: OnceCell<Option<Debug>>,
    /// Whether the end of this iteration has been seen to.
    is_entered: Cell<bool>,
    habits: OnceCell<Habits>,
}

/// What the options of the run say about the end of each iteration. Looked up once, because iterations are short.
#[derive(Clone, Copy)]
struct Habits {
    keeps_cookies: bool,
    closes: bool,
}

#[derive(JsLifetime)]
struct OfContext(Rc<Session>);

impl Habits {
    fn of(host: &Host) -> Self {
        let is_on = |key: &str| host.program.option(key) == Some(&serde_json::Value::Bool(true));
        Self {
            keeps_cookies: is_on("noCookiesReset"),
            closes: is_on("noVUConnectionReuse"),
        }
    }
}

impl Session {
    /// Prepares a context, once.
    pub(super) fn install(ctx: &Ctx<'_>) -> Result<()> {
        let session = Rc::new(Self {
            client: OnceCell::new(),
            jar: Rc::default(),
            expected: RefCell::new(Some(Rc::default())),
            samples: Samples::default(),
            debug: OnceCell::new(),
            is_entered: Cell::new(false),
            habits: OnceCell::new(),
        });
        context_data::store(ctx, OfContext(session))
    }

    /// The session of a context in which the module was built.
    pub(super) fn of(ctx: &Ctx<'_>) -> Rc<Self> {
        Self::find(ctx).expect("the functions that ask were made by the module's building")
    }

    /// The session of a context, if the module was built there.
    pub(super) fn find(ctx: &Ctx<'_>) -> Option<Rc<Self>> {
        ctx.userdata::<OfContext>().map(|session| Rc::clone(&session.0))
    }

    /// Sees to the end of the iteration, and gives the recorder of the moment.
    ///
    /// # Errors
    /// In the init context.
    pub(super) fn enter(self: &Rc<Self>, ctx: &Ctx<'_>, host: &Host, what: &str) -> Result<Recorder> {
        let recorder = host.recorder(ctx, what)?;
        if !self.is_entered.replace(true) {
            let Habits {
                keeps_cookies,
                closes,
            } = *self.habits.get_or_init(|| Habits::of(host));
            let (session, recorder, data) = (Rc::clone(self), recorder.clone(), host.metrics().data);
            host.at_end(move || {
                session.is_entered.set(false);
                session.count_bytes(&recorder, &data);
                if !keeps_cookies {
                    session.jar.take();
                }
                if let Some(client) = session.client.get().filter(|_| closes) {
                    client.close_idle();
                }
            });
        }
        Ok(recorder)
    }

    /// The connections, made with the options of the run.
    ///
    /// # Errors
    /// When an option cannot be used; that was found out before the run.
    pub(super) fn client(&self, ctx: &Ctx<'_>, host: &Host) -> Result<&Client> {
        if let Some(client) = self.client.get() {
            return Ok(client);
        }
        let unusable = |error: NetworkError| Exception::throw_message(ctx, &error.to_string());
        let network = host.program.network().map_err(unusable)?;
        let settings = host.program.http().map_err(unusable)?;
        let client = || Client::new(Arc::clone(&settings.client), network.source_of(host.vu));
        Ok(self.client.get_or_init(client))
    }

    /// The client, once a request was made.
    pub(super) fn made_client(&self) -> &Client {
        self.client.get().expect("a request is made with a client")
    }

    /// Records the bytes that went over connections since the last call.
    pub(super) fn count_bytes(&self, recorder: &Recorder, data: &plimsoll_load::metrics::built_in::Data) {
        let (sent, received) = self.client.get().map(Client::take_traffic).unwrap_or_default();
        if sent > 0 {
            recorder.count(data.sent, sent);
        }
        if received > 0 {
            recorder.count(data.received, received);
        }
    }
}
