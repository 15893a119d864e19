//! The flags about TLS, in ab's words, which are OpenSSL's.

use std::{fs, io, path::PathBuf, str::FromStr};

use clap::Args;
use plimsoll_clients::tls::{Identity, TlsOptions, TlsVersion, Versions};

use crate::{session::Format, trust::Insecure};

/// OpenSSL's names of the supported cipher suites of TLS 1.2, and those of IANA.
const SUITES: [(&str, &str); 6] = [
    (
        "ECDHE-ECDSA-AES128-GCM-SHA256",
        "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256",
    ),
    (
        "ECDHE-ECDSA-AES256-GCM-SHA384",
        "TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384",
    ),
    (
        "ECDHE-ECDSA-CHACHA20-POLY1305",
        "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256",
    ),
    (
        "ECDHE-RSA-AES128-GCM-SHA256",
        "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256",
    ),
    (
        "ECDHE-RSA-AES256-GCM-SHA384",
        "TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384",
    ),
    (
        "ECDHE-RSA-CHACHA20-POLY1305",
        "TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256",
    ),
];

/// TLS for `https`.
#[derive(Debug, Clone, Args)]
pub(crate) struct TlsArgs {
    #[command(flatten)]
    insecure: Insecure,
    /// The form of the result (text or json), or ab's version of TLS (TLS1.2, TLS1.3 or ALL); may be given for both
    #[arg(short = 'f', value_name = "FORMAT|PROTOCOL")]
    form: Vec<Form>,
    /// The cipher suites of TLS 1.2, in OpenSSL's or IANA's names, separated by colons
    #[arg(short = 'Z', long, value_name = "SUITES")]
    ciphersuite: Option<Suites>,
    /// The file (PEM) with a client certificate, its chain and its private key
    #[arg(short = 'E', long, value_name = "FILE")]
    certfile: Option<PathBuf>,
    /// Do not tell the server which host is wanted (SNI)
    #[arg(short = 'I', long)]
    no_server_name: bool,
}

/// A value of `-f`, which is one thing in ab and another in websocket-bench.
#[derive(Debug, Clone, Copy)]
enum Form {
    Result(Format),
    Tls(Versions),
}

/// IANA's names of cipher suites.
#[derive(Debug, Clone)]
struct Suites(Vec<String>);

impl TlsArgs {
    /// The form of the result, if `-f` names it.
    pub(crate) fn format(&self) -> Option<Format> {
        let forms = self.form.iter().rev();
        forms.into_iter().find_map(|form| match form {
            Form::Result(format) => Some(*format),
            Form::Tls(_) => None,
        })
    }

    /// The options for connections.
    ///
    /// # Errors
    /// The file of `-E`, and why it cannot be read.
    pub(crate) fn options(&self) -> Result<TlsOptions, (PathBuf, io::Error)> {
        let versions = self.form.iter().rev().find_map(|form| match form {
            Form::Tls(versions) => Some(*versions),
            Form::Result(_) => None,
        });
        let identity = self.certfile.as_ref().map(|path| {
            let text = fs::read_to_string(path).map_err(|error| (path.clone(), error))?;
            Ok(Identity {
                domains: Vec::new(),
                certificates: text.clone(),
                key: text,
            })
        });
        Ok(TlsOptions {
            believe: self.insecure.believe(),
            versions: versions.unwrap_or_default(),
            cipher_suites: self.ciphersuite.clone().map(|Suites(names)| names),
            identities: identity.transpose()?.into_iter().collect(),
            hides_server_name: self.no_server_name,
        })
    }
}

impl FromStr for Form {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let only = |version| {
            Ok(Self::Tls(Versions {
                min: version,
                max: version,
            }))
        };
        match text.to_ascii_uppercase().as_str() {
            "TEXT" => Ok(Self::Result(Format::Text)),
            "JSON" => Ok(Self::Result(Format::Json)),
            "ALL" => Ok(Self::Tls(Versions::default())),
            "TLS1.2" => only(TlsVersion::Tls12),
            "TLS1.3" => only(TlsVersion::Tls13),
            "SSL2" | "SSL3" | "TLS1" | "TLS1.0" | "TLS1.1" => Err(format!(
                "{text} is not supported because it was withdrawn (RFC 7568, RFC 8996); use TLS1.2, TLS1.3 or ALL"
            )),
            _ => Err("expected text or json, or a version of TLS: TLS1.2, TLS1.3 or ALL".to_owned()),
        }
    }
}

impl FromStr for Suites {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let suite = |name: &str| {
            let found = SUITES
                .iter()
                .find(|(openssl, iana)| [*openssl, *iana].contains(&name));
            found.map(|(_, iana)| (*iana).to_owned()).ok_or_else(|| {
                let known = SUITES.map(|(openssl, _)| openssl);
                format!(
                    "the cipher suite {name:?} is not supported; expected one of {}",
                    known.join(", ")
                )
            })
        };
        text.split(':').map(suite).collect::<Result<_, _>>().map(Self)
    }
}
