//! The flags about the way to the server, and about what is shown of the exchanges: `-X`, `-P`, `-b`, `-v`.

use clap::Args;
use plimsoll_clients::dial::Proxy;
use plimsoll_shootout::http::Detail;

/// The way of a request, and what is shown of it.
#[derive(Debug, Clone, Args)]
pub(crate) struct ExchangeArgs {
    /// The HTTP proxy for all requests; those over TLS go through a tunnel (CONNECT)
    #[arg(short = 'X', long, value_name = "HOST:PORT")]
    proxy: Option<Proxy>,
    /// User and password for the proxy
    #[arg(short = 'P', long, value_name = "USER:PASSWORD", requires = "proxy", value_parser = password)]
    proxy_auth: Option<(String, String)>,
    /// The size of each socket's send and receive buffer in bytes [default: chosen by the system]
    #[arg(short = 'b', long, value_name = "BYTES", value_parser = clap::value_parser!(u32).range(1..))]
    windowsize: Option<u32>,
    /// Show the exchanges: from 2 the request and the heads of the responses, from 3 all statuses. It slows the run
    #[arg(short = 'v', long, value_name = "LEVEL")]
    verbosity: Option<u8>,
}

impl ExchangeArgs {
    /// The proxy with its password.
    pub(crate) fn proxy(&self) -> Option<Proxy> {
        let proxy = self.proxy.clone()?;
        Some(match &self.proxy_auth {
            Some((user, password)) => proxy.with_password(user, password),
            None => proxy,
        })
    }

    /// The size of the sockets' buffers.
    pub(crate) fn buffer_bytes(&self) -> Option<u32> {
        self.windowsize
    }

    /// What is shown.
    pub(crate) fn detail(&self) -> Option<Detail> {
        match self.verbosity? {
            0 | 1 => None,
            2 => Some(Detail::Heads),
            3.. => Some(Detail::Statuses),
        }
    }
}

fn password(text: &str) -> Result<(String, String), String> {
    let (user, password) = text
        .split_once(':')
        .ok_or("it has no colon; expected a user and a password such as alice:secret")?;
    Ok((user.to_owned(), password.to_owned()))
}
