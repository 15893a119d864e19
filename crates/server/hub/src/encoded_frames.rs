//! Frames of one publication, encoded once for all listeners with the same identifier and format.

use rustc_hash::FxHashMap;

use crate::{Format, Frame, identifiers::IdentifierId};

/// Frames of one publication, one per identifier and format. `encode` returns `None` when there is no room for another
/// frame.
///
/// Most streams have one identifier, so the last result is tried before the map.
#[derive(Default)]
pub(crate) struct EncodedFrames {
    last: Option<(Key, Frame)>,
    others: FxHashMap<Key, Frame>,
}

type Key = (Option<IdentifierId>, Format);

impl EncodedFrames {
    pub(crate) fn get_or_encode(
        &mut self,
        identifier: Option<IdentifierId>,
        format: Format,
        encode: impl FnOnce() -> Option<Frame>,
    ) -> Option<Frame> {
        let key = (identifier, format);
        if let Some((last, frame)) = &self.last
            && *last == key
        {
            return Some(Frame::clone(frame));
        }
        let frame = match self.others.get(&key) {
            Some(known) => Frame::clone(known),
            None => {
                let frame = encode()?;
                self.others.insert(key, Frame::clone(&frame));
                frame
            }
        };
        self.last = Some((key, Frame::clone(&frame)));
        Some(frame)
    }
}
