//! Counts of samples by number, packed: most pairs of a number and its count take two or three bytes.

/// Numbers with their counts, in ascending order: differences of numbers and counts in turn, in base 128.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Packed(Box<[u8]>);

impl Packed {
    /// Packs pairs of a number and its count. Numbers must not descend; the counts of equal ones are added.
    pub(crate) fn of(pairs: impl Iterator<Item = (u32, u64)>) -> Self {
        let mut writer = Writer::default();
        for (number, n) in pairs {
            writer.add(number, n);
        }
        writer.finish()
    }

    pub(crate) fn merged(&self, other: &Self) -> Self {
        let (mut ours, mut theirs) = (self.iter().peekable(), other.iter().peekable());
        Self::of(std::iter::from_fn(|| match (ours.peek(), theirs.peek()) {
            (Some(one), Some(other)) if one.0 <= other.0 => ours.next(),
            (Some(_), None) => ours.next(),
            _ => theirs.next(),
        }))
    }

    /// The pairs, in ascending order of the numbers.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (u32, u64)> {
        let mut bytes = &*self.0;
        let mut number = 0;
        std::iter::from_fn(move || {
            let difference = read(&mut bytes)?;
            let n = read(&mut bytes)?;
            number += u32::try_from(difference).expect("differences of 32-bit numbers have 32 bits");
            Some((number, n))
        })
    }

    /// The bytes that it takes.
    pub(crate) fn n_bytes(&self) -> usize {
        self.0.len()
    }
}

#[derive(Default)]
struct Writer {
    bytes: Vec<u8>,
    last: u32,
    /// The pair that is being filled.
    open: Option<(u32, u64)>,
}

impl Writer {
    fn add(&mut self, number: u32, n: u64) {
        match &mut self.open {
            Some((known, count)) if *known == number => *count += n,
            _ => {
                self.close();
                self.open = Some((number, n));
            }
        }
    }

    fn close(&mut self) {
        if let Some((number, n)) = self.open.take() {
            write(&mut self.bytes, u64::from(number - self.last));
            write(&mut self.bytes, n);
            self.last = number;
        }
    }

    fn finish(mut self) -> Packed {
        self.close();
        Packed(self.bytes.into())
    }
}

fn write(bytes: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        bytes.push((number & 0x7f) as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

fn read(bytes: &mut &[u8]) -> Option<u64> {
    let mut number = 0;
    for shift in (0..64).step_by(7) {
        let (&byte, rest) = bytes.split_first()?;
        *bytes = rest;
        number |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            break;
        }
    }
    Some(number)
}
