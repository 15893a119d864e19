//! Unsupported flags of ab. Each one is refused with an alternative.

use clap::Args;

/// The unsupported flags on the command line.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct AbOnly {
    #[arg(short = 'v', hide = true, value_name = "N")]
    verbosity: Option<String>,
    #[arg(short = 'b', hide = true, value_name = "BYTES")]
    window_size: Option<String>,
    #[arg(short = 'X', hide = true, value_name = "PROXY:PORT")]
    proxy: Option<String>,
    #[arg(short = 'P', hide = true, value_name = "USER:PASSWORD")]
    proxy_auth: Option<String>,
    #[arg(short = 'w', hide = true)]
    html: bool,
    #[arg(short = 'x', hide = true, value_name = "ATTRIBUTES")]
    table_attributes: Option<String>,
    #[arg(short = 'y', hide = true, value_name = "ATTRIBUTES")]
    row_attributes: Option<String>,
    #[arg(short = 'z', hide = true, value_name = "ATTRIBUTES")]
    cell_attributes: Option<String>,
    #[arg(short = 'I', hide = true)]
    no_server_name: bool,
    #[arg(short = 'Z', hide = true, value_name = "SUITE")]
    cipher_suite: Option<String>,
    #[arg(short = 'E', hide = true, value_name = "FILE")]
    client_certificate: Option<String>,
}

impl AbOnly {
    /// The first unsupported flag on the command line, and the alternative.
    pub(crate) fn refused(&self) -> Option<(&'static str, &'static str)> {
        const HTML: &str = "the report is text or JSON (--format json)";
        const PROXY: &str = "requests go straight to the server; name the proxy's own URL to measure it";
        const TLS: &str = "plimsoll run has TLS options for scripts";
        let typed = [
            ("-v", self.verbosity.is_some(), "curl -v shows a single exchange"),
            (
                "-b",
                self.window_size.is_some(),
                "the system sizes the socket buffers (net.ipv4.tcp_rmem, tcp_wmem)",
            ),
            ("-X", self.proxy.is_some(), PROXY),
            ("-P", self.proxy_auth.is_some(), PROXY),
            ("-w", self.html, HTML),
            ("-x", self.table_attributes.is_some(), HTML),
            ("-y", self.row_attributes.is_some(), HTML),
            ("-z", self.cell_attributes.is_some(), HTML),
            (
                "-I",
                self.no_server_name,
                "TLS names the server; an IP address in the URL sends none",
            ),
            ("-Z", self.cipher_suite.is_some(), TLS),
            ("-E", self.client_certificate.is_some(), TLS),
        ];
        let (flag, _, instead) = typed.into_iter().find(|(_, is_typed, _)| *is_typed)?;
        Some((flag, instead))
    }
}
