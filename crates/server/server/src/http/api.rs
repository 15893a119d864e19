//! The REST API for backends (docs/reference/rest-api.md): publish, history, streams, presence, disconnect.
//!
//! Paths and authentication are AnyCable's where AnyCable has them. Beyond it, the names of streams may be percent-encoded,
//! a body that cannot be published is refused, and a key makes repetitions of a request harmless.

use hyper::{Method, Request, StatusCode, body::Incoming, header};

use super::{
    answers::{Answer, text, with_header},
    broadcast, percent,
};
use crate::{config::Api, idempotency::Begin, purpose::Purpose, shard::Shard};

mod disconnect;
mod history;
mod presence;
mod streams;

pub(super) use self::disconnect::may_reconnect;

/// A request to the API.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Route {
    Publish,
    Disconnect,
    Streams,
    /// The history of the stream with this name.
    History(String),
    /// The members of the stream with this name.
    Presence(String),
    /// There is nothing at this path of the API.
    Nothing,
}

impl Route {
    /// The route of a path below that of the API, as it was sent.
    fn of(path: &str) -> Self {
        match path {
            "/publish" => Self::Publish,
            "/disconnect" => Self::Disconnect,
            "/streams" => Self::Streams,
            path => Self::of_stream(path).unwrap_or(Self::Nothing),
        }
    }

    /// The route of a path that names a stream.
    fn of_stream(path: &str) -> Option<Self> {
        let name = |part: &str| {
            let is_name = !part.is_empty() && !part.contains('/');
            is_name.then(|| percent::decoded(part)).flatten()
        };
        if let Some(stream) = path.strip_prefix("/history/") {
            return name(stream).map(Self::History);
        }
        let stream = path.strip_prefix("/presence/")?.strip_suffix("/users")?;
        name(stream).map(Self::Presence)
    }

    fn method(&self) -> Method {
        match self {
            Self::Publish | Self::Disconnect => Method::POST,
            Self::Streams | Self::History(_) | Self::Presence(_) | Self::Nothing => Method::GET,
        }
    }
}

/// The route of a request to the API; `None` if the API is not here.
pub(super) fn of_request<B>(shard: &Shard, request: &Request<B>, purpose: Purpose) -> Option<Route> {
    let api = shard.config.api.as_ref()?;
    let is_here = match purpose {
        Purpose::Clients => api.on_main_port,
        Purpose::Api => true,
        Purpose::Broadcasts | Purpose::Metrics => false,
    };
    let below = request.uri().path().strip_prefix(api.path.as_str())?;
    (is_here && below.starts_with('/')).then(|| Route::of(below))
}

pub(super) async fn answer(shard: &Shard, route: Route, request: Request<Incoming>) -> Answer {
    let Some(Api { access, .. }) = &shard.config.api else {
        return text(StatusCode::NOT_FOUND, "There is nothing at this path.");
    };
    if let Some(answer) = broadcast::refused(request.headers(), access, None) {
        return answer;
    }
    if route != Route::Nothing && request.method() != route.method() {
        return other_method(&route);
    }
    let query = request.uri().query().unwrap_or_default().to_owned();
    match route {
        Route::Publish => publish(shard, request).await,
        Route::Disconnect => disconnect::answer(shard, request.into_body()).await,
        Route::Streams => streams::answer(shard, &query),
        Route::History(stream) => history::answer(shard, &stream, &query).await,
        Route::Presence(stream) => presence::answer(shard, &stream, &query).await,
        Route::Nothing => {
            let paths = "The API has publish, disconnect, streams, history/<stream> and presence/<stream>/users. \
                         A / in a name is written %2F.";
            text(StatusCode::NOT_FOUND, paths)
        }
    }
}

/// AnyCable's status for another method.
fn other_method(route: &Route) -> Answer {
    let (status, method) = (StatusCode::UNPROCESSABLE_ENTITY, route.method());
    let refusal = text(status, &format!("This path is used with {method}."));
    let allowed = if method == Method::POST { "POST" } else { "GET" };
    with_header(refusal, header::ALLOW, allowed)
}

/// Publishes the body, once for each key.
async fn publish(shard: &Shard, request: Request<Incoming>) -> Answer {
    let (head, body) = request.into_parts();
    let key = match broadcast::idempotency_key(&head.headers) {
        Ok(key) => key,
        Err(refusal) => return refusal.answer(shard),
    };
    let body = match broadcast::read(shard, body).await {
        Ok(body) => body,
        Err(refusal) => return refusal.answer(shard),
    };
    let begun = key.map(|key| shard.shared.publications.begin(key, body.bytes()));
    let pass = match begun {
        None => None,
        Some(Begin::First(pass)) => Some(pass),
        Some(Begin::Done) => {
            let answer = text(StatusCode::CREATED, "Published earlier.");
            let replayed = header::HeaderName::from_static("idempotent-replayed");
            return with_header(answer, replayed, "true");
        }
        Some(Begin::UnderWay) => {
            let refusal = "A request with this Idempotency-Key is being published.";
            return with_header(text(StatusCode::CONFLICT, refusal), header::RETRY_AFTER, "1");
        }
        Some(Begin::OtherBody) => {
            let refusal =
                "Nothing was published: this Idempotency-Key belongs to a request with another body.";
            return text(StatusCode::UNPROCESSABLE_ENTITY, refusal);
        }
    };
    match shard.publisher.accept_once(body.bytes(), key).await {
        Ok(()) => {
            if let Some(pass) = pass {
                pass.done();
            }
            text(StatusCode::CREATED, "Published.")
        }
        Err(error) => broadcast::Refusal::from(error).answer(shard),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_of_the_api() {
        let history = |name: &str| Route::History(name.to_owned());
        let presence = |name: &str| Route::Presence(name.to_owned());
        for (path, expected) in [
            ("/publish", Route::Publish),
            ("/disconnect", Route::Disconnect),
            ("/streams", Route::Streams),
            ("/history/room", history("room")),
            ("/history/chat%2F1", history("chat/1")),
            ("/history/a+b%20c", history("a+b c")),
            ("/history/%E2%82%AC", history("€")),
            ("/history/%FF", Route::Nothing),
            ("/history/%2", Route::Nothing),
            ("/history/", Route::Nothing),
            ("/history/a/b", Route::Nothing),
            ("/presence/room/users", presence("room")),
            ("/presence/chat%2F1/users", presence("chat/1")),
            ("/presence/users/users", presence("users")),
            ("/presence//users", Route::Nothing),
            ("/presence/users", Route::Nothing),
            ("/presence/a/b/users", Route::Nothing),
            ("/presence/%FF/users", Route::Nothing),
            ("/presence/room", Route::Nothing),
            ("/publish/", Route::Nothing),
            ("/", Route::Nothing),
        ] {
            assert_eq!(Route::of(path), expected, "{path}");
        }
    }
}
