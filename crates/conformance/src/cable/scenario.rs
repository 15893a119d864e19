//! The scenarios: the title, the origin and the function of each.

mod closing;
mod confirmation;
mod connection;
mod extended;
mod faults;
mod fidelity;
mod history;
mod identifier;
mod options;
mod order;
mod presence;
mod races;
mod resume;
mod size;
mod state;
mod streams;
mod subscriptions;

use std::pin::Pin;

use super::{stage::Stage, stop::Checked};
use crate::{Case, CaseId, Clause, Level};

type Running<'a> = Pin<Box<dyn Future<Output = Checked> + 'a>>;

/// One scenario.
pub(super) struct Scenario {
    pub(super) id: &'static str,
    title: &'static str,
    clause: Clause,
    pub(super) run: for<'a> fn(&'a Stage<'a>) -> Running<'a>,
    /// Whether others would be disturbed by it.
    pub(super) alone: bool,
    /// Whether it takes long by its nature.
    pub(super) long: bool,
}

impl Scenario {
    pub(super) fn case(&self) -> Case {
        Case {
            id: CaseId::new(self.id),
            title: self.title.into(),
            clause: self.clause.clone(),
        }
    }

    const fn alone(mut self) -> Self {
        self.alone = true;
        self
    }

    const fn long(mut self) -> Self {
        self.long = true;
        self
    }

    /// How binding the clause is, if it does not say MUST.
    const fn level(mut self, level: Level) -> Self {
        self.clause.level = level;
        self
    }
}

macro_rules! scenario {
    ($run:path, $id:literal, $clause:literal, $title:literal) => {
        Scenario {
            id: concat!("cable/", $id),
            title: $title,
            clause: Clause::must($clause),
            run: |stage| Box::pin($run(stage)),
            alone: false,
            long: false,
        }
    };
}

/// The clause of payloads, whatever else a case is about.
const MESSAGES: Clause = Clause::must("Action Cable messages");

/// The clause of whispers.
const WHISPERS: Clause = Clause::must("AnyCable whispers");

/// The names of the families.
pub(super) const FAMILIES: &[(&str, &str)] = &[
    ("cable/connection", "Connecting"),
    ("cable/subscriptions", "Subscriptions and actions"),
    ("cable/streams", "Streams"),
    ("cable/state", "State of channels"),
    ("cable/closing", "Ends of connections"),
    ("cable/order", "Order"),
    ("cable/confirmation", "Confirmations"),
    ("cable/races", "Races"),
    ("cable/fidelity", "Fidelity of payloads"),
    ("cable/size", "Sizes"),
    ("cable/faults", "Faults of clients"),
    ("cable/options", "AnyCable: options and whispers"),
    ("cable/history", "AnyCable: history"),
    ("cable/resume", "AnyCable: resumed sessions"),
    ("cable/presence", "AnyCable: presence"),
];

/// All scenarios, in the order of their output.
#[rustfmt::skip]
pub(super) const SCENARIOS: &[Scenario] = &[
    scenario!(connection::welcome, "connection/welcome", "AnyT core/welcome", "the first message is a welcome"),
    scenario!(connection::ping_timestamps, "connection/ping-timestamps", "AnyT core/ping", "pings carry the time, as integers that grow").long(),
    scenario!(connection::ping_interval, "connection/ping-interval", "Action Cable pings", "pings come at a steady interval").long().level(Level::Should),
    scenario!(connection::protocol, "connection/sub-protocol", "Action Cable connecting", "the sub-protocol that is offered is agreed on"),
    scenario!(connection::protocol_among_others, "connection/sub-protocol-among-others", "Action Cable connecting", "it is \
        chosen among unknown sub-protocols, as Rails' client offers it"),
    scenario!(connection::protocol_unknown, "connection/sub-protocol-unknown", "RFC 6455 §4.2.2", "the server chooses \
        no sub-protocol that was not offered"),
    scenario!(connection::no_protocol, "connection/sub-protocol-none", "RFC 6455 §4.2.2", "a client without sub-protocols is served"),
    scenario!(connection::own_origin, "connection/origin-own", "Action Cable connecting", "a page of the target's own host may connect"),
    scenario!(connection::foreign_origin, "connection/origin-foreign", "Action Cable connecting", "how the \
        server treats a page of another origin").level(Level::Informational),
    scenario!(connection::url, "connection/url", "AnyT request/connection", "the application knows the URL of the connection"),
    scenario!(connection::cookies_missing, "connection/cookies-missing", "AnyT request/connection", "a client without the cookie is refused"),
    scenario!(connection::cookies, "connection/cookies", "AnyT request/connection", "a client with the cookie is welcome"),
    scenario!(connection::headers_missing, "connection/header-missing", "AnyT request/connection", "a client without the header is refused"),
    scenario!(connection::headers, "connection/header", "AnyT request/connection", "a client with the header x-api-token is welcome"),
    scenario!(connection::unauthorized, "connection/unauthorized", "AnyT request/disconnect_reasons", "a refused \
        client gets the reason, and must not reconnect"),
    scenario!(connection::channel_request, "connection/channel-request", "AnyT request/channel", "a channel knows the request of its connection"),

    scenario!(subscriptions::confirmed, "subscriptions/confirmed", "AnyT subscriptions/ack", "a subscription is confirmed"),
    scenario!(subscriptions::rejected, "subscriptions/rejected", "AnyT subscriptions/ack", "a subscription is rejected"),
    scenario!(subscriptions::params, "subscriptions/params", "AnyT subscriptions/params", "one channel with different parameters is subscribed twice"),
    scenario!(subscriptions::perform, "subscriptions/perform", "AnyT subscriptions/perform", "an action without arguments is answered"),
    scenario!(subscriptions::perform_arguments, "subscriptions/perform-arguments", "AnyT subscriptions/perform", "an action with arguments is answered"),
    scenario!(subscriptions::transmissions, "subscriptions/transmissions", "AnyT subscriptions/transmissions", "a \
        transmission during the subscribe arrives before the confirmation"),
    scenario!(subscriptions::same_identifier, "subscriptions/same-identifier", "Action Cable messages", "two clients of one user with the same identifier do not disturb each other"),
    scenario!(subscriptions::right_subscription, "subscriptions/right-one", "Action Cable messages", "an answer goes \
        to the subscription that asked, out of ten"),

    scenario!(streams::receives, "streams/receives", "AnyT streams/single", "messages of a stream arrive"),
    scenario!(streams::unsubscribed, "streams/unsubscribed", "AnyT streams/single", "nothing arrives after the subscription is removed"),
    scenario!(streams::one_copy_each, "streams/one-copy-each", "AnyT streams/single", "each subscription gets its copy, with different parameters on one stream"),
    scenario!(streams::two_streams, "streams/two", "AnyT streams/multiple", "messages of both streams of a subscription arrive"),
    scenario!(streams::two_streams_unsubscribed, "streams/two-unsubscribed", "AnyT streams/multiple", "nothing arrives of either stream after the subscription is removed"),
    scenario!(streams::two_clients, "streams/clients", "AnyT streams/multiple_clients", "all clients of a stream get its messages"),
    scenario!(streams::one_client_leaves, "streams/client-leaves", "AnyT streams/multiple_clients", "when one client unsubscribes, the other still gets messages"),
    scenario!(streams::stop, "streams/stop", "AnyT streams/stop", "a stopped stream is silent, while the other \
        stream still delivers"),
    scenario!(streams::stop_all, "streams/stop-all", "AnyCable RPC replies", "a subscription with only stopped \
        streams is silent and alive"),
    scenario!(streams::follow, "streams/follow", "AnyCable RPC replies", "a stream that an action adds delivers its \
        messages"),
    scenario!(streams::broadcast_object, "streams/broadcast-object", "AnyT streams/broadcast", "a nested object is kept"),
    scenario!(streams::broadcast_text, "streams/broadcast-text", "AnyT streams/broadcast", "a text with HTML is kept"),
    scenario!(streams::broadcast_json_text, "streams/broadcast-json-text", "AnyT streams/broadcast", "JSON in a text stays a text"),

    scenario!(state::kept, "state/kept", "AnyT features/channel_state", "the state of a channel is kept between commands"),
    scenario!(state::at_the_end, "state/at-the-end", "AnyT features/channel_state", "the channel still has its state \
        when the client disconnects"),
    scenario!(state::two_channels, "state/end-two-channels", "AnyT request/disconnection", "different channels are \
        told when their client disconnects"),
    scenario!(state::two_subscriptions, "state/end-two-subscriptions", "AnyT request/disconnection", "two \
        subscriptions to one channel are told when their client disconnects"),
    scenario!(state::own, "state/own", "AnyCable RPC state", "each subscription has its own state"),

    scenario!(closing::remote, "closing/remote", "AnyT features/remote_disconnect", "a remotely disconnected session \
        gets a disconnect message and is closed"),
    scenario!(closing::remote_for_good, "closing/remote-for-good", "AnyCable remote disconnect", "reconnect: false of a remote disconnect reaches the client"),
    scenario!(closing::remote_others, "closing/remote-others", "AnyCable remote disconnect", "sessions of other users \
        continue"),
    scenario!(closing::remote_many, "closing/remote-many", "AnyCable remote disconnect", "all fifty sessions of a user are ended").long(),
    scenario!(closing::by_application, "closing/by-application", "AnyCable RPC replies", "a channel that closes the \
        connection does so after its last message"),
    scenario!(closing::restart, "closing/restart", "AnyT features/server_restart", "clients are told of a restart, \
        and to reconnect").alone().long(),
    scenario!(closing::restart_crowd, "closing/restart-crowd", "Action Cable disconnect reasons", "1,000 clients are told of a \
        restart, and all reconnect").alone().long(),

    scenario!(order::commands, "order/commands", "Action Cable commands", "commands of a connection are answered in their order, from the subscribe on"),
    scenario!(order::broadcasts, "order/broadcasts", "AnyCable broadcasts", "broadcasts to a stream reach all clients in their order"),
    scenario!(order::thousand, "order/thousand", "AnyCable broadcasts", "1,000 broadcasts arrive exactly once, in their order").long(),
    scenario!(order::last_words, "order/last-words", "AnyCable RPC replies", "nothing follows the disconnect message \
        of a session"),

    scenario!(confirmation::never_missed, "confirmation/never-missed", "Action Cable messages", "no message is missed \
        that is published after the confirmation"),
    scenario!(confirmation::first, "confirmation/first", "AnyCable RPC replies", "under load, the confirmation comes \
        before broadcasts, and none is missed after the first"),

    scenario!(races::duplicate, "races/duplicate", "Action Cable repeated subscribes", "a repeated subscribe does no harm"),
    scenario!(races::duplicate_in_flight, "races/duplicate-in-flight", "Action Cable repeated subscribes", "repeated subscribes while the first is in flight are one subscription"),
    scenario!(races::subscribe_again, "races/subscribe-again", "Action Cable commands", "subscribe, unsubscribe, subscribe at once is one subscription"),
    scenario!(races::resubscribe, "races/resubscribe", "Action Cable commands", "ten times unsubscribe and subscribe at \
        once lose no message"),
    scenario!(races::unsubscribe_in_flight, "races/unsubscribe-in-flight", "Action Cable commands", "an unsubscribe while the subscribe is in flight wins"),

    scenario!(fidelity::numbers, "fidelity/numbers", "RFC 8259 §6", "numbers keep their digits, beyond 2^53 too").level(Level::Informational),
    scenario!(fidelity::keys, "fidelity/key-order", "RFC 8259 §4", "keys keep their order").level(Level::Informational),
    scenario!(fidelity::unicode, "fidelity/unicode", "Action Cable messages", "all of Unicode arrives, U+2028 too"),
    scenario!(fidelity::escapes, "fidelity/escapes", "Action Cable messages", "<, >, &, quotes and control characters arrive"),
    scenario!(fidelity::kinds, "fidelity/kinds", "Action Cable messages", "booleans, empty values and deep ones arrive"),
    scenario!(fidelity::transmitted, "fidelity/transmitted", "Action Cable messages", "transmissions of a channel \
        arrive as unchanged as broadcasts"),
    scenario!(fidelity::not_json, "fidelity/not-json", "AnyCable broadcasts", "data that is not JSON arrives as \
        text"),
    scenario!(identifier::verbatim, "fidelity/identifier", "Action Cable messages", "identifiers are returned \
        verbatim, in any notation"),

    scenario!(size::empty, "size/empty", "Action Cable messages", "empty texts, objects and lists arrive"),
    scenario!(size::large, "size/64-kib", "Action Cable messages", "a message of 64 KiB arrives whole"),
    scenario!(size::huge, "size/1-mb", "Action Cable messages", "a message of 1,000,000 bytes arrives whole"),
    scenario!(size::large_command, "size/command", "AnyCable limits", "a command of 48 KiB is carried out").level(Level::Should),
    scenario!(size::many_channels, "size/channels", "Action Cable commands", "each of 100 subscriptions of a \
        connection gets its copy").long(),
    scenario!(size::slow_reader, "size/slow-reader", "AnyCable limits", "a client that does not read does not \
        disturb other clients").long().level(Level::Should),

    scenario!(faults::unknown_command, "faults/unknown-command", "Action Cable mistakes", "an unknown command is ignored"),
    scenario!(faults::no_identifier, "faults/no-identifier", "Action Cable mistakes", "a command without identifier is ignored or refused"),
    scenario!(faults::identifier_not_json, "faults/identifier-not-json", "Action Cable mistakes", "an identifier that is not JSON is ignored or refused"),
    scenario!(faults::data_not_text, "faults/data-not-text", "Action Cable mistakes", "data that is not a string is ignored").level(Level::Should),
    scenario!(faults::not_subscribed, "faults/not-subscribed", "Action Cable mistakes", "commands for a missing \
        subscription are ignored"),
    scenario!(faults::not_json, "faults/not-json", "Action Cable mistakes", "a message that is not a command is ignored, or ends the connection properly").level(Level::Should),

    scenario!(options::to_others, "options/to-others", "anycable broadcast_tests/options", "a broadcast to others \
        skips the client that caused it"),
    scenario!(options::whisper, "options/whisper", "anycable broadcast_tests/whisper", "other clients receive a \
        whisper, its sender does not"),
    scenario!(options::whispered_numbers, "options/whispered-numbers", "RFC 8259 §6", "numbers of a whisper keep their digits, beyond 2^53 too").level(Level::Informational),
    scenario!(options::not_granted, "options/whisper-not-granted", "AnyCable whispers", "a whisper in a channel that does not let \
        clients whisper reaches no client"),
    scenario!(options::ping, "options/ping", "AnyCable pings", "the command `ping` is answered").level(Level::Should),

    scenario!(history::since_time, "history/since", "anycable broker_tests/history", "messages since a time are replayed, also those from before the subscription"),
    scenario!(history::since_later, "history/since-later", "AnyCable history", "since a time after the last message, \
        nothing is replayed, and the request is confirmed"),
    scenario!(history::since_never, "history/since-never", "AnyCable history", "of a stream without messages, \
        nothing is replayed, and the request is confirmed"),
    scenario!(history::after_offset, "history/offset", "anycable broker_tests/history", "messages after an offset are replayed"),
    scenario!(history::up_to_date, "history/up-to-date", "AnyCable history", "after the last offset, nothing is \
        replayed, and the request is confirmed"),
    scenario!(history::positions, "history/positions", "AnyCable history", "offsets grow, and replayed messages have the positions that they had"),
    scenario!(history::subscribe, "history/subscribe", "anycable broker_tests/history", "a subscribe can ask for history, which comes after the confirmation"),
    scenario!(history::subscribe_refused, "history/subscribe-refused", "AnyCable history", "a subscription is valid \
        even if its history is refused"),
    scenario!(history::unknown_epoch, "history/unknown-epoch", "AnyCable history", "offsets of another epoch are refused"),
    scenario!(history::offset_ahead, "history/offset-ahead", "AnyCable history", "an offset in the future is \
        refused"),
    scenario!(history::unknown_stream, "history/unknown-stream", "AnyCable history", "an offset of a stream without \
        messages is refused"),
    scenario!(history::without_gaps, "history/without-gaps", "AnyCable history", "after an old offset, all messages \
        are replayed, or history is refused"),
    scenario!(history::latest, "history/latest", "AnyCable history", "of many messages since a time, the latest are \
        replayed, without gaps, or history is refused"),
    scenario!(history::two_streams, "history/two-streams", "AnyCable history", "each stream of a subscription is replayed from its offset"),
    scenario!(history::all_or_nothing, "history/all-or-nothing", "AnyCable history", "if one stream is refused, nothing is replayed"),
    scenario!(history::concurrent_publishers, "history/concurrent-publishers", "AnyCable history", "messages that several \
        backends publish at once arrive in the order of their offsets").level(Level::Should),
    scenario!(history::while_publishing, "history/while-publishing", "AnyCable history", "a replay and the live messages behind \
        it have no gap, no duplicate and one order").level(Level::Should),
    scenario!(history::not_subscribed, "history/not-subscribed", "AnyCable history", "a client without a \
        subscription gets no history"),
    scenario!(history::transient, "history/transient", "AnyCable broadcasts", "transient messages are not kept"),
    scenario!(history::truncated, "history/truncated", "AnyCable history", "all messages since a time are replayed, or history \
        is refused").level(Level::Should),
    scenario!(history::no_start, "history/no-start", "AnyCable history", "a request without a time and offsets is \
        refused").level(Level::Should),
    scenario!(history::repeated_subscribe, "history/repeated-subscribe", "AnyCable history", "the history of a repeated \
        subscribe is served").level(Level::Should),
    scenario!(history::stream_names, "history/stream-names", "AnyCable history", "streams with any name have a history"),
    scenario!(history::restart, "history/restart", "AnyCable history", "after a restart, a position from before is \
        refused or served, and never taken for one of other messages").alone().long(),

    scenario!(resume::by_header, "resume/header", "anycable broker_tests/restore", "a session is resumed with its subscriptions, and a new sid"),
    scenario!(resume::by_query, "resume/query", "AnyCable resumed sessions", "the sid may be in the URL"),
    scenario!(resume::header_first, "resume/header-first", "AnyCable resumed sessions", "the header overrides the \
        URL"),
    scenario!(resume::twice, "resume/twice", "AnyCable resumed sessions", "a resumed session can be resumed"),
    scenario!(resume::missed, "resume/missed", "AnyCable resumed sessions", "a resumed session gets the messages \
        that it missed"),
    scenario!(resume::state, "resume/state", "AnyCable resumed sessions", "channels keep their state"),
    scenario!(resume::user, "resume/user", "AnyCable resumed sessions", "a resumed session belongs to its user, and \
        ends with the user's other sessions"),
    scenario!(resume::unsubscribed, "resume/unsubscribed", "AnyCable resumed sessions", "a subscription that was removed is not restored"),
    scenario!(resume::unknown, "resume/unknown", "AnyCable resumed sessions", "an unknown sid begins a new session"),
    scenario!(resume::unknown_refused, "resume/unknown-refused", "AnyCable resumed sessions", "an unknown sid does \
        not bypass the application"),
    scenario!(resume::base, "resume/base", "AnyCable resumed sessions", "sessions of the base protocol are not resumed"),
    scenario!(resume::old_connection, "resume/old-connection", "AnyCable resumed sessions", "the older connection of a resumed \
        session is ended").level(Level::Should),
    scenario!(resume::in_order, "resume/order", "AnyCable resumed sessions", "restored_ids are in the order of the \
        subscribes").level(Level::Should),
    scenario!(resume::in_flight, "resume/in-flight", "AnyCable resumed sessions", "a subscribe that was in flight when the \
        connection ended is restored").level(Level::Should),
    scenario!(resume::no_calls, "resume/no-calls", "AnyCable resumed sessions", "the application is not asked about the \
        subscriptions of a resumed session").alone(),

    scenario!(presence::perform, "presence/perform", "anycable presence_tests/perform", "channels let clients join and leave"),
    scenario!(presence::commands, "presence/commands", "AnyCable presence", "clients join and leave by commands"),
    scenario!(presence::subscribe_command, "presence/subscribe-command", "AnyCable presence", "a subscribe can ask for history and join, in this order"),
    scenario!(presence::disconnect, "presence/subscribe", "anycable presence_tests/subscribe", "a subscribing client \
        joins, a disconnecting client leaves").long(),
    scenario!(presence::sessions, "presence/sessions", "anycable presence_tests/subscribe", "a second session of one presence is silent, and only the last one leaves").long(),
    scenario!(presence::back_in_time, "presence/back-in-time", "AnyCable presence", "a client that loses the \
        connection and reconnects never left").long(),
    scenario!(presence::info, "presence/info", "AnyCable presence", "clients can ask who is present"),
    scenario!(presence::info_replaced, "presence/info-replaced", "AnyCable presence", "the info about a present user \
        is that of the last session"),
    scenario!(presence::one_id, "presence/one-id", "AnyCable presence", "a session is present once, not twice"),
    scenario!(presence::stays, "presence/stays", "AnyCable presence", "a member of the base protocol is present for as \
        long as it is connected").long(),
    scenario!(presence::number_only, "presence/number-only", "AnyCable presence", "clients can ask for the number of members \
        alone").level(Level::Should),
    scenario!(presence::empty_id, "presence/empty-id", "AnyCable presence", "a client is not present without an id").level(Level::Should),
    scenario!(presence::always_answered, "presence/always-answered", "AnyCable presence", "a client that asks who is present gets \
        an answer in any case").level(Level::Should),
    scenario!(presence::leave_own, "presence/leave-own", "AnyCable presence", "a client that leaves takes no other session \
        with it"),
    scenario!(presence::transient, "presence/transient", "AnyCable presence", "joins and leaves are not kept in \
        history"),
];

/// An identifier of a channel that hears `streams`; `n` tells several of them apart.
fn streams_channel(streams: &[&str], n: u32) -> String {
    let streams = serde_json::to_string(streams).expect("strings always serialise");
    format!(r#"{{"channel":"StreamsChannel","streams":{streams},"n":{n}}}"#)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn every_scenario_has_a_name_of_its_own() {
        let ids: HashSet<_> = SCENARIOS.iter().map(|scenario| scenario.id).collect();
        assert_eq!(ids.len(), SCENARIOS.len());
    }

    #[test]
    fn all_of_anyt_is_there() {
        let of = |source: &str| {
            SCENARIOS
                .iter()
                .filter(|scenario| scenario.clause.place.starts_with(source))
                .count()
        };
        assert_eq!((of("AnyT "), of("anycable ")), (32, 9));
    }

    /// The page and the heading that describe what a clause demands. AnyT's tests are examples of the same pages.
    const PAGES: &[(&str, &str, &str)] = &[
        ("Action Cable connecting", "cable.md", "## Connecting"),
        ("Action Cable messages", "cable.md", "## Messages of the server"),
        ("Action Cable pings", "cable.md", "### Pings"),
        ("Action Cable commands", "cable.md", "## Commands"),
        (
            "Action Cable repeated subscribes",
            "cable.md",
            "### Repeated subscribes",
        ),
        ("Action Cable mistakes", "cable.md", "### Mistakes"),
        (
            "Action Cable disconnect reasons",
            "cable.md",
            "## Disconnect reasons",
        ),
        ("AnyCable RPC replies", "rpc.md", "### Command"),
        ("AnyCable RPC state", "rpc.md", "### State"),
        ("AnyCable broadcasts", "broadcasts.md", "## Payloads"),
        (
            "AnyCable remote disconnect",
            "broadcasts.md",
            "## Remote disconnect",
        ),
        ("AnyCable history", "extended.md", "## History"),
        ("AnyCable resumed sessions", "extended.md", "## Resuming"),
        ("AnyCable presence", "extended.md", "## Presence"),
        ("AnyCable whispers", "extended.md", "## Whispers"),
        ("AnyT ", "cable.md", "# Action Cable, the base protocol"),
        ("anycable ", "extended.md", "# The extended protocol"),
        ("RFC 6455 §4.2.2", "cable.md", "## Connecting"),
    ];

    #[test]
    fn what_can_fail_is_described_on_a_page() {
        let docs = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/protocols");
        for scenario in SCENARIOS {
            let Case { id, clause, .. } = scenario.case();
            if clause.level != Level::Must {
                continue;
            }
            let page = PAGES.iter().find(|(place, ..)| match place.strip_suffix(' ') {
                Some(suite) => clause.place.starts_with(suite),
                None => clause.place == *place,
            });
            let (_, file, heading) = page.unwrap_or_else(|| panic!("{id}: {clause} is on no page"));
            let text = std::fs::read_to_string(docs.join(file)).unwrap();
            assert!(
                text.lines().any(|line| line == *heading),
                "{file} has no {heading}"
            );
        }
    }
}
