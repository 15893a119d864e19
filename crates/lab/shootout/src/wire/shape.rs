//! Reading a message's id without parsing its JSON.
//!
//! All broadcasts of a run that one server sends have the same bytes before the id's number. After one full
//! parse those bytes are known, and the next message needs one comparison and a few digits instead. This is the
//! listener's hot path: 10,000 clients receive every broadcast.

use super::Kind;

/// The bytes of a message around its id.
#[derive(Debug)]
pub(super) struct Shape {
    /// All bytes before the number.
    prefix: Box<[u8]>,
    /// The last bytes; empty when the prefix alone tells the kind.
    suffix: Box<[u8]>,
    kind: Kind,
}

impl Shape {
    /// The shape of `frame`, a message of `kind`, in which `id` ends with the number, `name` is what told the
    /// kind and `payload` is the object with the id. All three must be parts of `frame` itself; otherwise (a
    /// string that had to be unescaped) there is no shape.
    pub(super) fn learn(frame: &str, kind: Kind, name: &str, payload: &str, id: &str) -> Option<Self> {
        let id_at = offset_in(frame, id)?;
        let number_at = id_at + id.find('.')? + 1;
        let name_at = offset_in(frame, name)?;
        let payload_end = offset_in(frame, payload)? + payload.len();
        let suffix = if name_at < id_at {
            ""
        } else {
            &frame[payload_end..]
        };
        let prefix = &frame.as_bytes()[..number_at];
        Some(Self {
            prefix: prefix.into(),
            suffix: suffix.as_bytes().into(),
            kind,
        })
    }

    /// The kind and the number of `frame` if it has this shape.
    pub(super) fn read(&self, frame: &str) -> Option<(Kind, u64)> {
        let frame = frame.as_bytes();
        let rest = frame.strip_prefix(&*self.prefix)?;
        let n_digits = rest.iter().position(|byte| !byte.is_ascii_digit())?;
        let is_whole = n_digits > 0 && rest[n_digits] == b'"' && rest.ends_with(&self.suffix);
        if is_whole {
            Some((self.kind, number(&rest[..n_digits])?))
        } else {
            None
        }
    }
}

fn number(digits: &[u8]) -> Option<u64> {
    digits.iter().try_fold(0_u64, |sum, digit| {
        sum.checked_mul(10)?.checked_add(u64::from(digit - b'0'))
    })
}

/// The offset of `part` in `whole`, by address; `None` when it lies elsewhere.
fn offset_in(whole: &str, part: &str) -> Option<usize> {
    let offset = part.as_ptr().addr().checked_sub(whole.as_ptr().addr())?;
    if offset + part.len() <= whole.len() {
        Some(offset)
    } else {
        None
    }
}
