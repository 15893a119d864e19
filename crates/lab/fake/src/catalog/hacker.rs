//! Words of computing.

use crate::{
    function::{Function, text, word},
    generator::Generator,
    words::{Words, words},
};

pub(super) const FUNCTIONS: &[Function] = &[
    word("hackerAbbreviation", ABBREVIATIONS),
    word("hackerAdjective", ADJECTIVES),
    word("hackerNoun", NOUNS),
    text("hackerPhrase", phrase),
    word("hackerVerb", VERBS),
    word("hackeringVerb", PARTICIPLES),
];

const ABBREVIATIONS: Words = words(
    "API, ASCII, BIOS, CPU, CSS, DNS, FTP, GPU, HTTP, IDE, IRC, JSON, LAN, NFS, PCI, RAM, RSS, SMTP, SQL, \
     SSH, TCP, UDP, USB, XML",
);
const ADJECTIVES: Words = words(
    "asynchronous, binary, cached, distributed, embedded, encrypted, idle, legacy, local, parallel, \
     persistent, remote, stateless, virtual, volatile",
);
const NOUNS: Words = words(
    "array, bitmap, cache, circuit, cluster, compiler, daemon, driver, firewall, interface, kernel, packet, \
     port, protocol, queue, register, router, sensor, socket, thread",
);
const VERBS: Words = words(
    "allocate, compile, compress, debug, decode, encrypt, flush, index, parse, patch, poll, reboot, route, \
     scan, stream, trace",
);
const PARTICIPLES: Words = words(
    "allocating, compiling, compressing, debugging, decoding, encrypting, flushing, indexing, parsing, \
     patching, polling, rebooting, routing, scanning, streaming, tracing",
);

fn phrase(generator: &mut Generator) -> String {
    let [verb, adjective, noun, abbreviation, participle] =
        [VERBS, ADJECTIVES, NOUNS, ABBREVIATIONS, PARTICIPLES].map(|words| generator.pick(words));
    match generator.integer(0..=2) {
        0 => format!("Always {verb} the {adjective} {noun} before the {abbreviation} port is closed."),
        1 => format!("The {abbreviation} {noun} is {adjective}, so {participle} it changes nothing."),
        _ => format!("By {participle} the {noun} we {verb} the {adjective} {abbreviation} bus!"),
    }
}
