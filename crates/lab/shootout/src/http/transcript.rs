//! The exchanges themselves, for ab's `-v`: the request, the heads of the responses, and their statuses.
//!
//! A lane that has something to show waits until the coordinator has room for it, so nothing is missing from a
//! transcript, and a run with one is slower than a run without.

use plimsoll_clients::http::{Attempt, Template, Version};
use tokio::sync::mpsc;

/// The texts that wait to be written. Reason: about a screen for each lane of a run that people read.
const N_WAITING: usize = 256;

/// How much is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Detail {
    /// The request, the heads of the responses, and statuses other than 2xx (`-v 2`).
    Heads,
    /// All statuses as well (`-v 3`).
    Statuses,
}

/// The lanes' side: shows exchanges.
#[derive(Debug, Clone)]
pub(crate) struct Transcript {
    detail: Detail,
    version: Version,
    texts: mpsc::Sender<String>,
}

impl Transcript {
    /// A transcript, and the texts in it.
    pub(crate) fn new(detail: Detail, version: Version) -> (Self, mpsc::Receiver<String>) {
        let (texts, written) = mpsc::channel(N_WAITING);
        let transcript = Self {
            detail,
            version,
            texts,
        };
        (transcript, written)
    }

    /// Shows the end of one request.
    pub(crate) async fn show(&self, attempt: &Attempt) {
        // The coordinator outlives the lanes.
        let _ = self.texts.send(self.text(attempt)).await;
    }

    fn text(&self, attempt: &Attempt) -> String {
        let reply = match &attempt.outcome {
            Ok(reply) => reply,
            Err(error) => return format!("WARNING: The request failed: {}\n", error.words()),
        };
        let version = match self.version {
            Version::Http11 => "1.1",
            Version::Http2 => "2",
        };
        let mut text = format!("LOG: header received:\nHTTP/{version} {}\n", reply.status);
        let details = reply.details.iter();
        for (name, value) in details.flat_map(|details| details.headers.iter()) {
            text.push_str(&format!("{name}: {}\n", String::from_utf8_lossy(value)));
        }
        text.push('\n');
        match reply.status {
            200..300 if self.detail < Detail::Statuses => {}
            200..300 => text.push_str(&format!("LOG: Response code = {}\n", reply.status)),
            status => text.push_str(&format!("WARNING: Response code not 2xx ({status})\n")),
        }
        text
    }
}

/// The request as all lanes send it.
pub(crate) fn request(template: &Template, method: &str) -> String {
    let bytes = template.bytes();
    format!(
        "INFO: {method} header == \n---\n{}\n---\n",
        String::from_utf8_lossy(&bytes).replace("\r\n", "\n")
    )
}
