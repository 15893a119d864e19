//! Tags as text, made once for all samples that share them.

use std::{fmt, sync::Arc};

use plimsoll_load::metrics::Tags;

/// The text of the last tags. Samples of one request are consecutive and share their tags, so one entry saves most of
/// the work.
pub(crate) struct TagCache {
    render: Box<dyn Fn(&Tags) -> String + Send>,
    last: Option<(Arc<Tags>, String)>,
}

impl TagCache {
    pub(crate) fn new(render: impl Fn(&Tags) -> String + Send + 'static) -> Self {
        Self {
            render: Box::new(render),
            last: None,
        }
    }

    pub(crate) fn text(&mut self, tags: &Arc<Tags>) -> &str {
        let known = self.last.take().filter(|(last, _)| Arc::ptr_eq(last, tags));
        let entry = known.unwrap_or_else(|| (Arc::clone(tags), (self.render)(tags)));
        &self.last.insert(entry).1
    }
}

impl fmt::Debug for TagCache {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TagCache")
            .field("last", &self.last)
            .finish_non_exhaustive()
    }
}
