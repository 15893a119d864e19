//! One person's requests: connections, cookies, authentication, redirects, and the time limit for all of them.

use std::{
    borrow::Cow,
    cell::RefCell,
    net::IpAddr,
    sync::Arc,
    time::{Instant, SystemTime},
};

use base64::{Engine, prelude::BASE64_STANDARD};
use http::Method;
use tokio::time::timeout;

use super::{
    Authentication, CookieJar, Exchange, HttpError, Redirects, Request, Response, Settings,
    connection::Connection,
    content_coding::decode,
    digest::{Challenge, Credentials},
    exchange::Underway,
    head::{self, Additions},
    http2::Http2,
    pool::{Lease, Origin, Pool},
    redirect,
    response_reader::{ResponseReader, Sink},
};

/// Sends requests, any number at a time, over its own connections.
#[derive(Debug)]
pub struct Client {
    settings: Arc<Settings>,
    pool: Pool,
}

/// How often a request is repeated that a server did not answer on a reused connection, as in Go's client. Without a
/// limit, a server that refuses each stream would get it forever.
const MAX_REPEATS: usize = 6;

/// What all exchanges of a request share.
struct Sending<'a> {
    client: &'a Client,
    jar: Option<&'a RefCell<CookieJar>>,
    /// The next request.
    request: Cow<'a, Request>,
    referer: Option<String>,
    /// The answer to a challenge.
    authorization: Option<String>,
    n_redirects: u32,
}

/// What follows an exchange.
enum Next {
    Nothing,
    Again,
}

impl Client {
    /// A client without connections. `source` is their local address.
    pub fn new(settings: Arc<Settings>, source: Option<IpAddr>) -> Self {
        Self {
            pool: Pool::new(Arc::clone(&settings), source),
            settings,
        }
    }

    /// Sends a request and follows redirects. Every exchange except the last is passed to `on_exchange` when it is
    /// over; the last is the result. Cookies of the answers go into `jar`.
    ///
    /// Dropping the future closes the connection in use; the current exchange is lost.
    pub async fn send(
        &self,
        request: &Request,
        jar: Option<&RefCell<CookieJar>>,
        mut on_exchange: impl FnMut(Exchange),
    ) -> Exchange {
        let mut underway = Underway::new(request.method.clone(), request.url.clone());
        let mut sending = Sending {
            client: self,
            jar,
            request: Cow::Borrowed(request),
            referer: None,
            authorization: None,
            n_redirects: 0,
        };
        let work = sending.run(&mut underway, &mut on_exchange);
        let (ended, outcome) = match timeout(request.timeout, work).await {
            Ok(ended) => ended,
            Err(_elapsed) => {
                let after = request.timeout;
                (Instant::now(), Err(HttpError::Timeout { after }))
            }
        };
        underway.end(ended, outcome)
    }

    /// Bytes sent and received over all connections since the last call.
    pub fn take_traffic(&self) -> (u64, u64) {
        self.pool.traffic.take()
    }

    /// Closes the connections that no request uses.
    pub fn close_idle(&self) {
        self.pool.close_idle();
    }

    /// One exchange, over an existing or a new connection.
    async fn exchange(&self, request: &Request, underway: &mut Underway) -> Result<Response, HttpError> {
        let origin = Origin::of(&request.url)?;
        for _ in 0..MAX_REPEATS {
            let Some(lease) = self.pool.reuse(&origin).await else {
                break;
            };
            match self.exchange_over(lease, &origin, request, underway).await {
                // The server closed it in the moment in which we wrote.
                Err(failed) if failed.can_repeat => underway.marks.restart(),
                outcome => return outcome.map_err(|failed| failed.error),
            }
        }
        // Rare and large, so on the heap and not in the future of each request.
        let lease = Box::pin(self.pool.connect(&origin, underway)).await?;
        let outcome = self.exchange_over(lease, &origin, request, underway).await;
        outcome.map_err(|failed| failed.error)
    }

    async fn exchange_over(
        &self,
        lease: Lease,
        origin: &Origin,
        request: &Request,
        underway: &mut Underway,
    ) -> Result<Response, Failed> {
        underway.marks.connected = Some(Instant::now());
        let sink = Sink::new(
            request.keep,
            self.settings.max_body_bytes,
            &self.settings.kept_bodies,
        );
        match lease {
            Lease::Http1(connection) => self.over_http1(connection, origin, request, sink, underway).await,
            Lease::Http2(connection) => Box::pin(over_http2(&connection, request, sink, underway)).await,
        }
    }

    async fn over_http1(
        &self,
        mut connection: Connection,
        origin: &Origin,
        request: &Request,
        sink: Sink,
        underway: &mut Underway,
    ) -> Result<Response, Failed> {
        underway.remote = Some(connection.remote);
        underway.tls.clone_from(&connection.tls);
        let mut reader = ResponseReader::new(request.method == Method::HEAD, sink);
        let exchanged = connection
            .exchange(
                &underway.request_head,
                &request.body,
                &mut reader,
                &mut underway.marks,
            )
            .await;
        if let Err(broken) = exchanged {
            return Err(Failed {
                can_repeat: !broken.has_response && Request::is_replayable(&request.method),
                error: broken.error,
            });
        }
        let is_whole = underway.marks.sent.is_some();
        if is_whole && reader.is_persistent() && !asks_to_close(request) {
            self.pool.put_back(origin.clone(), connection);
        }
        reader.into_response().map_err(Failed::finally)
    }
}

/// An exchange over one connection failed.
struct Failed {
    error: HttpError,
    /// Whether the request may be sent again if the connection was not new.
    can_repeat: bool,
}

impl Failed {
    fn finally(error: HttpError) -> Self {
        Self {
            error,
            can_repeat: false,
        }
    }
}

async fn over_http2(
    connection: &Http2,
    request: &Request,
    sink: Sink,
    underway: &mut Underway,
) -> Result<Response, Failed> {
    underway.remote = Some(connection.remote);
    underway.tls.clone_from(&connection.tls);
    let converted = head::for_http2(request, &underway.request_head).map_err(Failed::finally)?;
    let exchanged = connection.exchange(converted, request.body.clone().into(), sink, &mut underway.marks);
    exchanged.await.map_err(|error| {
        let is_unanswered = underway.marks.first_byte.is_none();
        let can_repeat = was_refused(&error) || Request::is_replayable(&request.method);
        Failed {
            can_repeat: is_unanswered && can_repeat,
            error,
        }
    })
}

/// Whether the server has not worked on the request (RFC 9113 §8.7): it has refused the stream, or a GOAWAY says that
/// the stream was too late. Streams that were in time do not end with a GOAWAY.
fn was_refused(error: &HttpError) -> bool {
    let HttpError::Http2(error) = error else {
        return false;
    };
    error.reason() == Some(h2::Reason::REFUSED_STREAM) || (error.is_go_away() && error.is_remote())
}

pub(super) fn asks_to_close(request: &Request) -> bool {
    let mut fields = request.headers.iter();
    fields.any(|(name, value)| name.eq_ignore_ascii_case("connection") && value.eq_ignore_ascii_case("close"))
}

impl Sending<'_> {
    /// All exchanges, and the time at which the last one ended.
    async fn run(
        &mut self,
        underway: &mut Underway,
        on_exchange: &mut impl FnMut(Exchange),
    ) -> (Instant, Result<Response, HttpError>) {
        loop {
            let outcome = self.one(underway).await;
            let ended = Instant::now();
            let response = match outcome {
                Ok(response) => response,
                Err(error) => return (ended, Err(error)),
            };
            self.remember_cookies(&response);
            match self.next(&response, underway) {
                Err(error) => return (ended, Err(error)),
                Ok(Next::Nothing) => return (ended, self.finish(response)),
                Ok(Next::Again) => {
                    let next = Underway::new(self.request.method.clone(), self.request.url.clone());
                    let before = std::mem::replace(underway, next);
                    on_exchange(before.end(ended, Ok(response)));
                }
            }
        }
    }

    async fn one(&mut self, underway: &mut Underway) -> Result<Response, HttpError> {
        let is_digest =
            self.request.authentication == Authentication::Digest && credentials(&self.request).is_some();
        underway.asks_for_challenge = is_digest && self.authorization.is_none();
        underway.request_head = self.head()?;
        self.client.exchange(&self.request, underway).await
    }

    fn head(&self) -> Result<Vec<u8>, HttpError> {
        let authorization = match (&self.authorization, self.request.authentication) {
            (Some(answer), _) => Some(Cow::Borrowed(answer.as_str())),
            (None, Authentication::Basic) => basic(&self.request).map(Cow::Owned),
            (None, Authentication::Digest) => None,
        };
        let cookies = self.cookies();
        let settings = &self.client.settings;
        // Almost no run has a proxy, and a request has to be cheap.
        let origin = (!settings.dialer.proxies.is_empty())
            .then(|| Origin::of(&self.request.url))
            .transpose()?;
        let proxy = origin.as_ref().and_then(|origin| origin.plain_proxy(settings));
        head::write(
            &self.request,
            &Additions {
                cookies: &cookies,
                authorization: authorization.as_deref(),
                referer: self.referer.as_deref(),
                user_agent: &settings.user_agent,
                proxy: proxy.map(|proxy| &**proxy),
            },
        )
    }

    /// The `Cookie` field: cookies of the request, then those of the jar.
    fn cookies(&self) -> String {
        let mut field = String::new();
        let mut add = |name: &str, value: &str| {
            let semicolon = if field.is_empty() { "" } else { "; " };
            // As in Go's client, these two characters need quotes.
            let quote = if value.contains([' ', ',']) { "\"" } else { "" };
            field.extend([semicolon, name, "=", quote]);
            // A value must not create another cookie or field.
            field.extend(value.split(|c: char| c == ';' || c.is_ascii_control()));
            field.push_str(quote);
        };
        let own = &self.request.cookies;
        own.iter().for_each(|cookie| add(&cookie.name, &cookie.value));
        if let Some(jar) = self.jar.map(RefCell::borrow)
            && !jar.is_empty()
        {
            for (name, value) in jar.matching(&self.request.url, SystemTime::now()) {
                if !own.iter().any(|cookie| cookie.replace && cookie.name == name) {
                    add(name, value);
                }
            }
        }
        field
    }

    fn remember_cookies(&self, response: &Response) {
        let Some(jar) = self.jar else { return };
        jar.borrow_mut().store_all(&self.request.url, &response.headers);
    }

    /// The next request, if there is one.
    fn next(&mut self, response: &Response, underway: &Underway) -> Result<Next, HttpError> {
        if underway.asks_for_challenge && response.status == 401 {
            self.authorization = self.answer_challenge(response);
            return Ok(if self.authorization.is_some() {
                Next::Again
            } else {
                Next::Nothing
            });
        }
        let location = redirect::location(&self.request.url, response);
        let Some(location) = location else {
            return Ok(Next::Nothing);
        };
        let (rules, most) = (self.request.redirects, self.request.max_redirects);
        if self.n_redirects >= most {
            return match rules {
                // Without a limit above zero, redirects are not followed at all.
                Redirects::Got if most > 0 => Err(HttpError::TooManyRedirects(most)),
                Redirects::Got | Redirects::Go => Ok(Next::Nothing),
            };
        }
        let next = location?;
        self.n_redirects += 1;
        self.authorization = None;
        self.referer = redirect::referer(&self.request.url, &next).filter(|_| rules == Redirects::Go);
        redirect::follow(self.request.to_mut(), response.status, next);
        Ok(Next::Again)
    }

    fn answer_challenge(&self, response: &Response) -> Option<String> {
        let fields = response.headers.get_all("www-authenticate");
        let challenge = Challenge::choose(fields.filter_map(|field| std::str::from_utf8(field).ok()))?;
        let (user, password) = credentials(&self.request)?;
        let url = &self.request.url;
        let path = match url.query() {
            Some(query) => Cow::Owned(format!("{}?{query}", url.path())),
            None => Cow::Borrowed(url.path()),
        };
        let cnonce = format!("{:016x}", fastrand::u64(..));
        let credentials = Credentials {
            user: &user,
            password: &password,
        };
        Some(challenge.answer(&credentials, self.request.method.as_str(), &path, &cnonce))
    }

    /// The response without its content codings.
    fn finish(&self, mut response: Response) -> Result<Response, HttpError> {
        if !response.body.is_empty()
            && let Some(codings) = response.headers.text("content-encoding").map(str::to_owned)
        {
            let settings = &self.client.settings;
            let max_bytes = settings.max_body_bytes.min(settings.kept_bodies.room());
            response.body = decode(&codings, response.body, max_bytes).map_err(|error| match error {
                HttpError::TooLarge { .. } if max_bytes < settings.max_body_bytes => {
                    settings.kept_bodies.no_room()
                }
                error => error,
            })?;
            response.share.resize(response.body.capacity())?;
        }
        Ok(response)
    }
}

/// User and password of the URL, decoded.
fn credentials(request: &Request) -> Option<(String, String)> {
    let url = &request.url;
    if url.username().is_empty() && url.password().is_none() {
        return None;
    }
    let decode = |text: &str| {
        percent_encoding::percent_decode_str(text)
            .decode_utf8_lossy()
            .into_owned()
    };
    Some((decode(url.username()), decode(url.password().unwrap_or_default())))
}

/// RFC 7617.
pub(super) fn basic(request: &Request) -> Option<String> {
    let (user, password) = credentials(request)?;
    Some(format!(
        "Basic {}",
        BASE64_STANDARD.encode(format!("{user}:{password}"))
    ))
}
