//! One person's requests: connections, cookies, authentication, redirects, and the time limit for all of them.

use std::{
    borrow::Cow,
    cell::RefCell,
    net::IpAddr,
    sync::Arc,
    time::{Instant, SystemTime},
};

use http::Method;
use tokio::time::timeout;

use super::{
    Authentication, CookieJar, Exchange, Expectation, HttpError, Redirects, Request, Response, Settings,
    connection::Connection,
    content_coding::decode,
    credentials,
    digest::{Challenge, Credentials},
    exchange::Underway,
    head::{self, Additions},
    http2::Http2,
    negotiation::Negotiation,
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
    /// The negotiation of NTLM, if the next exchange is a part of one. Rare, so on the heap.
    negotiation: Option<Box<Negotiation>>,
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
            negotiation: Negotiation::of(request),
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
        let sink = self.sink(request);
        match lease {
            Lease::Http1(connection) => {
                let exchanged = self.over_http1(connection, request, sink, underway).await;
                let (response, reusable) = exchanged?;
                if let Some(connection) = reusable {
                    self.pool.put_back(origin.clone(), connection);
                }
                Ok(response)
            }
            Lease::Http2(connection) => Box::pin(over_http2(&connection, request, sink, underway)).await,
        }
    }

    /// One exchange of a negotiation: over its connection if that is still open, and over another one of HTTP/1.1
    /// otherwise. The connection stays with the negotiation.
    async fn negotiate(
        &self,
        negotiation: &mut Negotiation,
        request: &Request,
        underway: &mut Underway,
    ) -> Result<Response, HttpError> {
        let origin = Origin::of(&request.url)?;
        for _ in 0..MAX_REPEATS {
            let Some(connection) = self.connection_of(negotiation, &origin).await else {
                break;
            };
            let exchanged = self.negotiate_over(connection, &origin, negotiation, request, underway);
            match exchanged.await {
                Err(failed) if failed.can_repeat => underway.marks.restart(),
                outcome => return outcome.map_err(|failed| failed.error),
            }
        }
        let connection = self.pool.connect_http1(&origin, underway).await?;
        let outcome = self.negotiate_over(connection, &origin, negotiation, request, underway);
        outcome.await.map_err(|failed| failed.error)
    }

    async fn connection_of(&self, negotiation: &mut Negotiation, origin: &Origin) -> Option<Connection> {
        if let Some((_, mut connection)) = negotiation.connection.take()
            && connection.is_idle().await
        {
            return Some(connection);
        }
        self.pool.reuse_http1(origin).await
    }

    async fn negotiate_over(
        &self,
        connection: Connection,
        origin: &Origin,
        negotiation: &mut Negotiation,
        request: &Request,
        underway: &mut Underway,
    ) -> Result<Response, Failed> {
        underway.marks.connected = Some(Instant::now());
        let exchanged = self.over_http1(connection, request, self.sink(request), underway);
        let (response, reusable) = exchanged.await?;
        negotiation.connection = reusable.map(|connection| (origin.clone(), connection));
        Ok(response)
    }

    fn sink(&self, request: &Request) -> Sink {
        let settings = &self.settings;
        Sink::new(request.keep, settings.max_body_bytes, &settings.kept_bodies)
    }

    /// The response, and the connection if it can be used again.
    async fn over_http1(
        &self,
        mut connection: Connection,
        request: &Request,
        sink: Sink,
        underway: &mut Underway,
    ) -> Result<(Response, Option<Connection>), Failed> {
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
        let is_reusable = is_whole && reader.is_persistent() && !asks_to_close(request);
        let response = reader.into_response().map_err(Failed::finally)?;
        Ok((response, is_reusable.then_some(connection)))
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
        underway.challenge = self.expectation();
        underway.request_head = self.head()?;
        let Some(negotiation) = &mut self.negotiation else {
            return self.client.exchange(&self.request, underway).await;
        };
        Box::pin(self.client.negotiate(negotiation, &self.request, underway)).await
    }

    /// k6 expects a challenge of NTLM only as the first answer of all.
    fn expectation(&self) -> Expectation {
        if self.authorization.is_some() {
            return Expectation::None;
        }
        match self.request.authentication {
            Authentication::Digest if credentials::of_url(&self.request.url).is_some() => {
                Expectation::Certain
            }
            Authentication::Ntlm if self.n_redirects == 0 => Expectation::Possible,
            _ => Expectation::None,
        }
    }

    fn head(&self) -> Result<Vec<u8>, HttpError> {
        let authorization = match (&self.authorization, self.request.authentication) {
            (Some(answer), _) => Some(Cow::Borrowed(answer.as_str())),
            (None, Authentication::Basic) => credentials::basic(&self.request).map(Cow::Owned),
            (None, Authentication::Digest | Authentication::Ntlm) => None,
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
                hides_authorization: self.negotiation.is_some(),
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
        if response.status == 401
            && let Some(answer) = self.answer_challenge(response, underway)?
        {
            self.authorization = Some(answer);
            return Ok(Next::Again);
        }
        self.end_negotiation();
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
        self.negotiation = Negotiation::of(&self.request);
        Ok(Next::Again)
    }

    /// The connection of a negotiation is free for other requests.
    fn end_negotiation(&mut self) {
        let negotiation = self.negotiation.as_mut();
        if let Some((origin, connection)) = negotiation.and_then(|negotiation| negotiation.connection.take())
        {
            self.client.pool.put_back(origin, connection);
        }
    }

    /// The `Authorization` field of the next exchange, if a response with status 401 is not the final one.
    fn answer_challenge(
        &mut self,
        response: &Response,
        underway: &Underway,
    ) -> Result<Option<String>, HttpError> {
        if let Some(negotiation) = &mut self.negotiation {
            return Ok(negotiation.answer(response)?);
        }
        let asked = underway.challenge == Expectation::Certain;
        Ok(asked.then(|| self.answer_digest(response)).flatten())
    }

    fn answer_digest(&self, response: &Response) -> Option<String> {
        let fields = response.headers.get_all("www-authenticate");
        let challenge = Challenge::choose(fields.filter_map(|field| std::str::from_utf8(field).ok()))?;
        let url = &self.request.url;
        let (user, password) = credentials::of_url(url)?;
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
