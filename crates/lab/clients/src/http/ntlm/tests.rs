//! The examples of MS-NLMP 4.2, and what servers must not be able to do.

use proptest::prelude::*;

use super::{
    response::{lm_response, nt_response, owner_key},
    *,
};

/// The values of MS-NLMP 4.2.1.
const SERVER: [u8; 8] = [0x01, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd, 0xef];
const CLIENT: [u8; 8] = [0xaa; 8];
const USER: Account<'_> = Account {
    domain: "Domain",
    user: "User",
    password: "Password",
};

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A fact about a server: a number, a length and a name in UTF-16.
fn fact(id: u16, name: &str) -> Vec<u8> {
    let value: Vec<u8> = name.encode_utf16().flat_map(u16::to_le_bytes).collect();
    fact_of_bytes(id, &value)
}

fn fact_of_bytes(id: u16, value: &[u8]) -> Vec<u8> {
    let length = u16::try_from(value.len()).unwrap();
    [&id.to_le_bytes()[..], &length.to_le_bytes(), value].concat()
}

fn target_info() -> Vec<u8> {
    [fact(2, "Domain"), fact(1, "Server"), vec![0; 4]].concat()
}

/// A challenge with these options and facts.
fn message(flags: u32, facts: &[u8]) -> Vec<u8> {
    let length = u16::try_from(facts.len()).unwrap().to_le_bytes();
    [
        SIGNATURE,
        &2_u32.to_le_bytes()[..],
        &[0; 8],
        &flags.to_le_bytes(),
        &SERVER,
        &[0; 8],
        &length,
        &length,
        &48_u32.to_le_bytes(),
        facts,
    ]
    .concat()
}

#[test]
fn the_examples_of_the_specification_come_out() {
    let key = owner_key(&USER);
    assert_eq!(hex(&key), "0c868a403bfd7a93a3001ef22ef02e3f");
    let lm = lm_response(&key, SERVER, CLIENT);
    assert_eq!(hex(&lm), "86c35097ac9cec102554764a57cccc19aaaaaaaaaaaaaaaa");
    let nt = nt_response(&key, SERVER, CLIENT, [0; 8], &target_info());
    assert_eq!(hex(&nt[..16]), "68cd0ab851e51c96aabc927bebef6a1c");
    assert_eq!(nt.len(), 16 + 28 + target_info().len() + 4);
}

#[test]
fn names_are_split_as_people_write_them() {
    let check = |name: &str, domain: &str, user: &str| {
        let account = Account::new(name, "p");
        assert_eq!((account.domain, account.user), (domain, user), "{name}");
    };
    check("user", "", "user");
    check(r"DOMAIN\user", "DOMAIN", "user");
    check("user@example.com", "", "user@example.com");
    check(r"D\a\b", "D", r"a\b");
}

#[test]
fn capitals_do_not_change_the_length_of_a_name() {
    let key = |user: &str| {
        owner_key(&Account {
            user,
            domain: "",
            password: "",
        })
    };
    assert_eq!(key("zoé"), key("ZOÉ"));
    assert_ne!(key("groß"), key("GROSS"));
}

#[test]
fn the_first_message_asks_for_version_2() {
    let expected = "4e544c4d53535000010000000582 88a0 0000000020000000 0000000020000000";
    assert_eq!(hex(&negotiate()), expected.replace(' ', ""));
}

#[test]
fn the_last_message_has_all_parts_where_its_head_says() {
    let facts = [fact(1, "Server"), fact_of_bytes(7, &[9; 8]), vec![0; 4]].concat();
    let challenge = message(flags::OFFERED, &facts);
    let challenge = Challenge::parse(&challenge).unwrap();
    assert_eq!(challenge.timestamp, Some([9; 8]));
    let fresh = Fresh { nonce: 1, now: 2 };
    let answer = challenge.answer(&USER, fresh).unwrap();
    let part = |index: usize| {
        let at = 12 + index * 8;
        let length = usize::from(u16::from_le_bytes([answer[at], answer[at + 1]]));
        let offset = u32::from_le_bytes(answer[at + 4..at + 8].try_into().unwrap()) as usize;
        &answer[offset..offset + length]
    };
    assert_eq!(part(0), [0; 24]);
    let nt = nt_response(&owner_key(&USER), SERVER, 1_u64.to_be_bytes(), [9; 8], &facts);
    assert_eq!(part(1), nt);
    assert_eq!(String::from_utf8_lossy(part(2)).replace('\0', ""), "Domain");
    assert_eq!(String::from_utf8_lossy(part(3)).replace('\0', ""), "User");
    assert_eq!((part(4).len(), part(5).len()), (0, 0));
}

#[test]
fn a_server_without_a_clock_gets_both_proofs() {
    let challenge = message(flags::UNICODE, &[]);
    let challenge = Challenge::parse(&challenge).unwrap();
    assert_eq!((challenge.target_info, challenge.timestamp), (&[][..], None));
    let answer = challenge.answer(&USER, Fresh { nonce: 1, now: 2 }).unwrap();
    let lm = lm_response(&owner_key(&USER), SERVER, 1_u64.to_be_bytes());
    assert_eq!(answer[64..88], lm);
}

#[test]
fn a_challenge_that_cannot_be_answered_is_named() {
    let check = |message: &[u8], expected: &str| {
        let error = Challenge::parse(message).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    };
    check(b"", "not a message of NTLM");
    check(b"`\x82 a token of Kerberos", "not a message of NTLM");
    check(&negotiate(), "not a message of NTLM");
    check(
        &message(flags::UNICODE, &[])[..24],
        "its random part does not fit",
    );
    check(&message(0, &[]), "names that are not Unicode");
    check(&message(flags::UNICODE | flags::LM_KEY, &[]), "NTLM version 1");
    check(
        &message(flags::UNICODE | flags::KEY_EXCHANGE, &[]),
        "a session key",
    );
    let facts = target_info();
    let whole = message(flags::OFFERED, &facts);
    check(&whole[..whole.len() - 1], "its list of facts about the server");
    check(&message(flags::OFFERED, &facts[..9]), "its fact about the server");
    let clock = fact_of_bytes(7, &[1]);
    check(&message(flags::OFFERED, &clock), "its clock");
}

#[test]
fn a_name_that_does_not_fit_is_an_error() {
    let challenge = message(flags::UNICODE, &[]);
    let long = "x".repeat(1 << 15);
    let account = Account { user: &long, ..USER };
    let answer = Challenge::parse(&challenge)
        .unwrap()
        .answer(&account, Fresh { nonce: 0, now: 0 });
    assert_eq!(answer, Err(NtlmError::TooLong("user's name")));
}

proptest! {
    #[test]
    fn no_bytes_of_a_server_end_the_program(rest in proptest::collection::vec(any::<u8>(), 0..96), flags: u32) {
        let mut bytes = message((flags & !flags::LM_KEY & !flags::KEY_EXCHANGE) | flags::UNICODE, &[]);
        bytes.truncate(40);
        bytes.extend(rest);
        if let Ok(challenge) = Challenge::parse(&bytes) {
            let answer = challenge.answer(&USER, Fresh { nonce: 0, now: 0 });
            prop_assert!(answer.unwrap().len() < 1 << 10);
        }
    }
}
