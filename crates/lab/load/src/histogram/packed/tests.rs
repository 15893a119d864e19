//! Histograms through JSON: without loss, and never a panic.

use proptest::prelude::*;

use super::*;
use crate::histogram::HIGHEST;

fn empty(numbers: bool) -> Histogram {
    if numbers {
        Histogram::of_numbers()
    } else {
        Histogram::new()
    }
}

fn sent(histogram: &Histogram) -> Histogram {
    serde_json::from_str(&serde_json::to_string(histogram).unwrap()).unwrap()
}

/// Everything that can be asked of a histogram.
fn figures(histogram: &Histogram) -> String {
    let quantiles = [0.0, 0.01, 0.5, 0.9, 0.95, 0.999, 1.0];
    let percentiles = quantiles.map(|share| histogram.value_at_quantile(share));
    let exact = [histogram.sum(), histogram.min(), histogram.max()];
    let counts = [histogram.count(), histogram.n_saturated()];
    let recorded: Vec<_> = histogram.recorded().collect();
    format!(
        "{counts:?} {exact:?} {percentiles:?} {:?} {recorded:?}",
        histogram.exact()
    )
}

prop_compose! {
    /// Samples of up to `bits` bits, each some times.
    fn samples(bits: u32)(
        most in prop_oneof![Just(3_u64), Just(300)],
        samples in prop::collection::vec((0..bits, any::<u64>(), any::<u64>()), 0..60),
    ) -> Vec<(Duration, u64)> {
        let of = |(bits, random, n): (u32, u64, u64)| (Duration::from_micros(random >> (63 - bits)), 1 + n % most);
        samples.into_iter().map(of).collect()
    }
}

proptest! {
    // Each case packs a megabyte or more.
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn parts_that_were_sent_add_up_to_the_whole(
        numbers: bool,
        samples in samples(64),
        parts in prop::collection::vec(0_usize..4, 60),
    ) {
        let mut whole = empty(numbers);
        let mut split = [(); 4].map(|()| empty(numbers));
        for (&(value, n), part) in samples.iter().zip(parts) {
            whole.record_n(value, n);
            split[part].record_n(value, n);
        }
        let (mut total, mut of_originals) = (empty(numbers), empty(numbers));
        for part in &split {
            let received = sent(part);
            prop_assert_eq!(figures(&received), figures(part));
            total.merge(&received);
            of_originals.merge(part);
        }
        prop_assert_eq!(figures(&total), figures(&whole));
        prop_assert_eq!(figures(&total), figures(&of_originals));
        // What came in can itself be the total, and be sent on.
        let mut onward = sent(&split[0]);
        split[1..].iter().for_each(|part| onward.merge(&sent(part)));
        prop_assert_eq!(figures(&sent(&onward)), figures(&whole));
    }

    // With 48 bits, sums fit.
    #[test]
    fn later_samples_are_found_in_what_was_received(before in samples(48), after in samples(48)) {
        let (mut earlier, mut later) = (Histogram::new(), Histogram::new());
        before.iter().for_each(|&(value, n)| earlier.record_n(value, n));
        after.iter().for_each(|&(value, n)| later.record_n(value, n));
        let mut all = earlier.clone();
        all.merge(&later);
        let since = all.since(&earlier);
        prop_assert_eq!(figures(&sent(&since)), figures(&since));
    }

    #[test]
    fn any_figures_are_read_or_refused(
        samples in samples(64),
        numbers: bool,
        figures in prop::array::uniform4(any::<Option<u64>>()),
    ) {
        let mut whole = Histogram::of_numbers();
        samples.iter().for_each(|&(value, n)| whole.record_n(value, n));
        let [sum_us, min_us, max_us, n_saturated] = figures;
        let buckets = Buckets {
            hdr: whole.encode(),
            sum_us: sum_us.unwrap_or(whole.sum_us),
            min_us: min_us.unwrap_or(whole.min_us),
            max_us: max_us.unwrap_or(whole.max_us),
            n_saturated: n_saturated.unwrap_or(whole.n_saturated),
        };
        use_any(&Packed { numbers, us: Vec::new(), buckets: Some(buckets) });
    }

    #[test]
    fn any_samples_are_read_or_refused(numbers: bool, us in prop::collection::vec(any::<u64>(), 0..300)) {
        let is_too_long = us.len() > MOST_EXACT;
        let packed = Packed { numbers, us, buckets: None };
        prop_assert_eq!(packed.unpack().is_err(), is_too_long);
        use_any(&packed);
    }
}

/// Does everything that is done with a received histogram.
fn use_any(packed: &Packed) {
    let Ok(received) = packed.unpack() else { return };
    let mut total = empty(packed.numbers);
    for _ in 0..3 {
        let before = total.clone();
        total.merge(&received);
        drop(figures(&total));
        drop(figures(&total.since(&before)));
    }
}

#[test]
fn forms_are_as_documented() {
    let check = |histogram: &Histogram, expected: &str| {
        assert_eq!(serde_json::to_string(histogram).unwrap(), expected);
    };
    let mut some = Histogram::new();
    check(&some, "{}");
    some.record(Duration::from_micros(9));
    some.record(Duration::from_micros(5));
    check(&some, r#"{"us":[9,5]}"#);
    let mut numbers = Histogram::of_numbers();
    numbers.record(Duration::from_micros(7));
    check(&numbers, r#"{"numbers":true,"us":[7]}"#);
    let mut many = Histogram::new();
    many.record_n(HIGHEST * 2, 257);
    let text = serde_json::to_string(&many).unwrap();
    assert!(text.starts_with(r#"{"buckets":{"hdr":"HISTFAAAA"#), "{text}");
    assert!(
        text.ends_with(
            r#","sum_us":1850400000000,"min_us":7200000000,"max_us":7200000000,"n_saturated":257}}"#
        ),
        "{text}"
    );
}

#[test]
fn contradictions_are_refused() {
    let mut many = Histogram::new();
    many.record_n(Duration::from_micros(5_000), 300);
    many.record_n(Duration::from_micros(100), 300);
    let good = Packed::of(&many);
    assert!(good.durations().is_ok());
    let check = |change: &dyn Fn(&mut Buckets), expected: &str| {
        let mut packed = good.clone();
        change(packed.buckets.as_mut().unwrap());
        assert_eq!(packed.unpack().unwrap_err().to_string(), expected);
    };
    check(&|it| it.min_us = 99, "its minimum contradicts its buckets");
    check(&|it| it.min_us = 6_000, "its minimum contradicts its buckets");
    check(&|it| it.max_us = 99, "its maximum contradicts its buckets");
    check(&|it| it.max_us = u64::MAX, "its maximum contradicts its buckets");
    check(&|it| it.sum_us = 59_999, "its sum contradicts its buckets");
    check(&|it| it.sum_us = u64::MAX, "its sum contradicts its buckets");
    check(
        &|it| it.n_saturated = 1,
        "its number of too long samples contradicts its buckets",
    );
    check(&|it| it.hdr = "!".to_owned(), "not base64");
    check(
        &|it| it.hdr = Histogram::new().encode(),
        "its count contradicts its buckets",
    );
    let mut beyond = Histogram::of_numbers();
    beyond.record_n(HIGHEST * 2, 300);
    let beyond = Packed {
        numbers: false,
        ..Packed::of(&beyond)
    };
    assert_eq!(
        beyond.unpack().unwrap_err(),
        UnpackError::Contradiction { figure: "minimum" }
    );
    let mut countless = Histogram::new();
    countless.record_n(Duration::from_micros(5), MAX_COUNT + 1);
    assert_eq!(
        Packed::of(&countless).unpack().unwrap_err(),
        UnpackError::Contradiction { figure: "count" }
    );
    let two = Packed {
        us: vec![1],
        ..good.clone()
    };
    assert_eq!(two.unpack().unwrap_err(), UnpackError::TwoForms);
    assert_eq!(
        good.numbers().unwrap_err().to_string(),
        "expected a histogram of numbers"
    );
}
