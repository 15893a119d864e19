//! How a call's messages become bytes and come back.

use std::{marker::PhantomData, sync::Arc};

use tonic::{
    Status,
    codec::{BufferSettings, Codec, EncodeBuf, Encoder},
};
use tonic_prost::ProstDecoder;

use crate::proto::Call;

/// What a call and its reply get to begin with; it grows by as much. Most are a few hundred bytes, and the library's
/// own 8 KiB, twice per call, are more than the allocator's cache serves.
const BUFFER_BYTES: usize = 512;
/// Bytes after which the library passes on what is encoded; its own default. Of one message there is nothing to pass on
/// earlier.
const YIELD_THRESHOLD_BYTES: usize = 32 * 1024;

/// Protobuf, with requests that are shared: an attempt that is repeated needs its request again, and a copy of one,
/// with all its headers and state, costs more than the encoding.
pub(super) struct CallCodec<C>(PhantomData<C>);

/// Writes shared requests.
pub(super) struct SharedEncoder<C>(PhantomData<C>);

impl<C> Default for CallCodec<C> {
    fn default() -> Self {
        Self(PhantomData)
    }
}

impl<C: Call> Codec for CallCodec<C> {
    type Encode = Arc<C>;
    type Decode = C::Reply;
    type Encoder = SharedEncoder<C>;
    type Decoder = ProstDecoder<C::Reply>;

    fn encoder(&mut self) -> Self::Encoder {
        SharedEncoder(PhantomData)
    }

    fn decoder(&mut self) -> Self::Decoder {
        ProstDecoder::new(buffers())
    }
}

impl<C: Call> Encoder for SharedEncoder<C> {
    type Item = Arc<C>;
    type Error = Status;

    fn encode(&mut self, item: Arc<C>, buffer: &mut EncodeBuf<'_>) -> Result<(), Status> {
        item.encode(buffer)
            .map_err(|error| Status::internal(error.to_string()))
    }

    fn buffer_settings(&self) -> BufferSettings {
        buffers()
    }
}

fn buffers() -> BufferSettings {
    BufferSettings::new(BUFFER_BYTES, YIELD_THRESHOLD_BYTES)
}
