//! A Prometheus endpoint as a target. The caller fetches the page: this crate has no HTTP.

use std::{fmt, sync::Arc, time::Instant};

use super::{WatchError, choice::Choice, exposition::Exposition, figure::Reading, target::Page};

/// Fetches one page again and again, on the thread that watches it.
pub trait Fetch {
    /// The body of the page. Must end within seconds, and bound its size.
    ///
    /// # Errors
    /// The reason, in words: `connection refused`, `it answered 404 Not Found`.
    fn fetch(&mut self) -> Result<Vec<u8>, String>;
}

/// Creates the fetcher for the page of a URL. Called on the thread that will use it.
pub type OpenPage = Arc<dyn Fn(&str) -> Result<Box<dyn Fetch>, String> + Send + Sync>;

/// An endpoint and its followed series.
pub(super) struct Endpoint {
    /// The URL for people.
    url: String,
    page: Box<dyn Fetch>,
    choice: Choice,
}

impl Endpoint {
    /// Prepares to fetch.
    ///
    /// # Errors
    /// The URL can never be fetched.
    pub(super) fn attach(page: &Page, open: &OpenPage) -> Result<Self, WatchError> {
        let url = page.shown();
        match open(&page.url) {
            Ok(fetch) => Ok(Self {
                choice: Choice::new(page.wanted.clone()),
                page: fetch,
                url,
            }),
            Err(reason) => Err(WatchError::Page { url, reason }),
        }
    }

    /// Fetches the page.
    ///
    /// # Errors
    /// The page is unavailable, or has no wanted series. It may have some later.
    pub(super) fn read(&mut self) -> Result<Reading, WatchError> {
        let fetched = self.page.fetch();
        let taken_at = Instant::now();
        let body = fetched.map_err(|reason| self.failed(&reason))?;
        let text = str::from_utf8(&body).map_err(|_| self.failed("it is not UTF-8 text"))?;
        let page = Exposition::parse(text).map_err(|error| self.failed(&error.to_string()))?;
        let figures = self.choice.take(&page);
        if figures.is_empty() {
            return Err(self.failed(&self.choice.missing()));
        }
        Ok(Reading { taken_at, figures })
    }

    /// Wanted series beyond the limit.
    pub(super) fn n_left_out(&self) -> usize {
        self.choice.n_left_out()
    }

    /// Its host and port, for people.
    pub(super) fn name(&self) -> Option<String> {
        let host = self.url.split_once("://")?.1.split(['/', '?']).next()?;
        (!host.is_empty()).then(|| host.to_owned())
    }

    fn failed(&self, reason: &str) -> WatchError {
        WatchError::Page {
            url: self.url.clone(),
            reason: reason.to_owned(),
        }
    }
}

impl fmt::Debug for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Endpoint")
            .field("url", &self.url)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A server that answers with these pages, one after the other.
    fn pages(pages: &[Result<&str, &str>]) -> OpenPage {
        struct Pages(Vec<Result<Vec<u8>, String>>);
        impl Fetch for Pages {
            fn fetch(&mut self) -> Result<Vec<u8>, String> {
                self.0.pop().unwrap()
            }
        }
        let pages: Vec<_> = pages
            .iter()
            .rev()
            .map(|page| page.map(|text| text.as_bytes().to_owned()).map_err(str::to_owned))
            .collect();
        Arc::new(move |_| Ok(Box::new(Pages(pages.clone()))))
    }

    fn page(wanted: &[&str]) -> Page {
        Page {
            url: "http://user:secret@h:9/metrics".to_owned(),
            wanted: wanted.iter().map(|&name| name.to_owned()).collect(),
        }
    }

    #[test]
    fn what_cannot_be_watched_is_said() {
        for (body, wanted, words) in [
            (Err("connection refused"), vec![], "connection refused"),
            (Ok("<html>\n"), vec![], "line 1 is not a sample: `<html>`"),
            (Ok("a_info 1\n"), vec![], "no counter, gauge or histogram"),
            (Ok("a 1\n"), vec!["b", "c*"], "no metric named b,c*"),
        ] {
            let mut endpoint = Endpoint::attach(&page(&wanted), &pages(&[body])).unwrap();
            let error = endpoint.read().unwrap_err().to_string();
            assert!(
                error.starts_with("no metrics from http://h:9/metrics: "),
                "{error}"
            );
            assert!(error.contains(words), "{error}");
        }
    }

    #[test]
    fn a_page_that_is_missing_once_comes_back() {
        let open = pages(&[Ok("a 1"), Err("it answered 503"), Ok("a 2\nb 3")]);
        let mut endpoint = Endpoint::attach(&page(&[]), &open).unwrap();
        assert_eq!(endpoint.read().unwrap().figures.len(), 1);
        assert!(endpoint.read().is_err());
        assert_eq!(endpoint.read().unwrap().figures.len(), 2);
        // A password is not part of the name.
        assert_eq!(endpoint.name().as_deref(), Some("h:9"));
    }
}
