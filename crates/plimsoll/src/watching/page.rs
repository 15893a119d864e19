//! Pages of metrics that are watched beside a run, fetched over HTTP.

use std::{sync::Arc, time::Duration};

use plimsoll_clients::{
    dial::Dialer,
    http::{Client, Method, Request, Settings, Url},
    tls::{Tls, TlsOptions},
};
use plimsoll_load::watch::Fetch;
use tokio::runtime::{Builder, Runtime};

/// How long a page of metrics may take. Reason: it is wanted once per second, and the end of a run waits for it.
const TIMEOUT: Duration = Duration::from_secs(3);

/// The largest page. Reason: pages of large applications have some hundred kilobytes; this one is read each second.
const MAX_PAGE_BYTES: usize = 8 << 20;

/// A page of metrics, over one connection that stays open.
pub(super) struct Page {
    runtime: Runtime,
    client: Client,
    request: Request,
}

impl Page {
    pub(super) fn open(url: &str) -> Result<Self, String> {
        let url = Url::parse(url).map_err(|error| format!("it is not a URL: {error}"))?;
        let tls = Tls::new(TlsOptions::default()).map_err(|error| error.to_string())?;
        let settings = Settings {
            max_body_bytes: MAX_PAGE_BYTES,
            ..Settings::new(Arc::new(Dialer::default()), Arc::new(tls))
        };
        let accept = ("Accept".to_owned(), "text/plain;version=0.0.4".to_owned());
        Ok(Self {
            runtime: Builder::new_current_thread()
                .enable_all()
                .build()
                .map_err(|error| error.to_string())?,
            client: Client::new(Arc::new(settings), None),
            request: Request {
                headers: vec![accept],
                timeout: TIMEOUT,
                ..Request::new(Method::GET, url)
            },
        })
    }
}

impl Fetch for Page {
    fn fetch(&mut self) -> Result<Vec<u8>, String> {
        let exchange = self.runtime.block_on(self.client.send(&self.request, None, drop));
        match exchange.outcome {
            Ok(response) if response.status == 200 => Ok(response.body),
            Ok(response) => Err(format!("it answered {} {}", response.status, response.reason)),
            Err(error) => Err(error.to_string()),
        }
    }
}
