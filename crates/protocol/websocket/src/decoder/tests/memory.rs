//! The memory of a decoder, and when it is freed.

use super::*;

#[test]
fn a_decoder_is_small() {
    assert!(size_of::<Decoder>() <= 24, "{} bytes", size_of::<Decoder>());
}

#[test]
fn a_whole_frame_is_borrowed_from_the_input() {
    let mut decoder = Decoder::new();
    let mut input = masked(Opcode::Text, true, b"Hello");
    let input_range = input.as_ptr_range();
    let Ok(Decoded {
        event: Some(Event::Text(text)),
        ..
    }) = decoder.decode(&config(Role::Server), &mut input)
    else {
        panic!("no text");
    };
    assert!(input_range.contains(&text.as_ptr()));
    assert!(decoder.partial.is_none());
}

#[test]
fn the_memory_of_a_message_is_freed_by_the_call_after_it() {
    let config = config(Role::Server);
    let mut decoder = Decoder::new();
    let mut input = masked(Opcode::Text, true, b"Hello");
    let (head, tail) = input.split_at_mut(8);

    assert_eq!(
        decoder.decode(&config, head),
        Ok(Decoded {
            consumed: 8,
            event: None
        })
    );
    assert!(!decoder.is_idle());
    let event = Some(Event::Text("Hello"));
    assert_eq!(decoder.decode(&config, tail), Ok(Decoded { consumed: 3, event }));
    assert!(decoder.is_idle());
    assert_eq!(
        decoder.decode(&config, &mut []),
        Ok(Decoded {
            consumed: 0,
            event: None
        })
    );
    assert!(decoder.partial.is_none());
}

#[test]
fn memory_follows_the_bytes_that_came_not_the_length_announced() {
    let config = config(Role::Server);
    let mut decoder = Decoder::new();
    let mut input = masked(Opcode::Binary, true, &vec![1; 60_000]);
    decoder.decode(&config, &mut input[..100]).unwrap();
    let message = decoder
        .partial
        .as_ref()
        .and_then(|partial| partial.message.as_ref())
        .unwrap();
    assert!(message.capacity() < 256, "{} bytes for 92", message.capacity());
}

#[test]
fn an_inflater_lives_only_as_long_as_its_window_is_needed() {
    let config = config(Role::Client);
    for context_takeover in [false, true] {
        let mut decoder = Decoder::with_deflate(&config, &agreed(context_takeover, WindowBits::MAX));
        assert!(decoder.inflater.is_none(), "made by the first compressed message");
        decoder.decode(&config, &mut b"\x81\x01a".to_vec()).unwrap();
        assert!(decoder.inflater.is_none(), "made by the first compressed message");
        decoder
            .decode(&config, &mut b"\xc1\x07\xf2\x48\xcd\xc9\xc9\x07\x00".to_vec())
            .unwrap();
        assert_eq!(decoder.inflater.is_some(), context_takeover);
    }
}

#[test]
fn what_is_held_is_counted_and_nothing_between_messages() {
    for opcode in [Opcode::Text, Opcode::Binary] {
        let config = config(Role::Server);
        let mut decoder = Decoder::new();
        let mut input = masked(opcode, true, &[b'x'; 60_000]);
        let (head, tail) = input.split_at_mut(50_000);
        decoder.decode(&config, head).unwrap();
        assert!(
            (49_000..120_000).contains(&decoder.held_bytes()),
            "{}",
            decoder.held_bytes()
        );
        decoder.decode(&config, tail).unwrap();
        decoder.decode(&config, &mut []).unwrap();
        assert_eq!(decoder.held_bytes(), 0);
    }
}

#[test]
fn the_payload_of_a_control_frame_is_counted() {
    let config = config(Role::Server);
    let mut decoder = Decoder::new();
    let mut input = masked(Opcode::Ping, true, &[b'x'; 100]);
    decoder.decode(&config, &mut input[..66]).unwrap();
    // 60 bytes of payload, and at most as much unused capacity.
    let n_counted = decoder.held_bytes() - size_of::<Partial>();
    assert!((60..=120).contains(&n_counted), "{n_counted}");
}

#[test]
fn logs_name_an_inflater_without_its_window() {
    let inflater = Inflater::new(WindowBits::MAX);
    assert_eq!(format!("{inflater:?}"), "Inflater");
}

#[test]
fn an_inflater_is_counted_while_it_is_kept() {
    let config = config(Role::Server);
    let mut decoder = Decoder::with_deflate(&config, &agreed(false, WindowBits::MAX));
    let mut deflated = Vec::new();
    Deflater::new(Direction::STATELESS).compress(&[b'x'; 1000], &mut deflated);
    let mut input = Vec::new();
    Frame {
        fin: true,
        compressed: true,
        opcode: Opcode::Text,
        payload: &deflated,
    }
    .encode(Some([1, 2, 3, 4]), &mut input);
    let (head, tail) = input.split_at_mut(8);
    decoder.decode(&config, head).unwrap();
    assert!(decoder.held_bytes() > 48_000, "{}", decoder.held_bytes());
    assert!(decoder.decode(&config, tail).unwrap().event.is_some());
    decoder.decode(&config, &mut []).unwrap();
    assert_eq!(decoder.held_bytes(), 0);
}
