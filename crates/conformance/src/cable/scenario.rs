//! The scenarios: what each is called, where it comes from, and the function that is it.

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
use crate::{Case, CaseId};

type Running<'a> = Pin<Box<dyn Future<Output = Checked> + 'a>>;

/// One scenario.
pub(super) struct Scenario {
    pub(super) id: &'static str,
    title: &'static str,
    clause: &'static str,
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
            clause: self.clause.into(),
        }
    }

    const fn alone(self) -> Self {
        Self { alone: true, ..self }
    }

    const fn long(self) -> Self {
        Self { long: true, ..self }
    }
}

macro_rules! scenario {
    ($run:path, $id:literal, $clause:literal, $title:literal) => {
        Scenario {
            id: concat!("cable/", $id),
            title: $title,
            clause: $clause,
            run: |stage| Box::pin($run(stage)),
            alone: false,
            long: false,
        }
    };
}

/// What families are called.
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

/// All of them, in the order in which they are shown.
#[rustfmt::skip]
pub(super) const SCENARIOS: &[Scenario] = &[
    scenario!(connection::welcome, "connection/welcome", "AnyT core/welcome", "the first message is a welcome"),
    scenario!(connection::ping_timestamps, "connection/ping-timestamps", "AnyT core/ping", "pings carry the time, as integers that grow").long(),
    scenario!(connection::ping_interval, "connection/ping-interval", "Action Cable messages", "pings come at a steady interval").long(),
    scenario!(connection::protocol, "connection/sub-protocol", "RFC 6455 §4.2.2", "the sub-protocol that is offered is agreed on"),
    scenario!(connection::protocol_among_others, "connection/sub-protocol-among-others", "RFC 6455 §4.2.2", "it is agreed on among unknown ones, as Rails' client offers it"),
    scenario!(connection::protocol_unknown, "connection/sub-protocol-unknown", "RFC 6455 §4.1", "nothing is agreed on that was not offered"),
    scenario!(connection::no_protocol, "connection/sub-protocol-none", "RFC 6455 §4.1", "a client without sub-protocols is served"),
    scenario!(connection::own_origin, "connection/origin-own", "Action Cable request origin", "a page of the target's own host may connect"),
    scenario!(connection::foreign_origin, "connection/origin-foreign", "Action Cable request origin", "what becomes of a page from elsewhere"),
    scenario!(connection::url, "connection/url", "AnyT request/connection", "the application knows the URL of the connection"),
    scenario!(connection::cookies_missing, "connection/cookies-missing", "AnyT request/connection", "a client without the cookie is refused"),
    scenario!(connection::cookies, "connection/cookies", "AnyT request/connection", "a client with the cookie is welcome"),
    scenario!(connection::headers_missing, "connection/header-missing", "AnyT request/connection", "a client without the header is refused"),
    scenario!(connection::headers, "connection/header", "AnyT request/connection", "a client with the header x-api-token is welcome"),
    scenario!(connection::unauthorized, "connection/unauthorized", "AnyT request/disconnect_reasons", "who is refused is told why, and not to come back"),
    scenario!(connection::channel_request, "connection/channel-request", "AnyT request/channel", "a channel knows the request of its connection"),

    scenario!(subscriptions::confirmed, "subscriptions/confirmed", "AnyT subscriptions/ack", "a subscription is confirmed"),
    scenario!(subscriptions::rejected, "subscriptions/rejected", "AnyT subscriptions/ack", "a subscription is rejected"),
    scenario!(subscriptions::params, "subscriptions/params", "AnyT subscriptions/params", "one channel with different parameters is subscribed twice"),
    scenario!(subscriptions::perform, "subscriptions/perform", "AnyT subscriptions/perform", "an action without arguments is answered"),
    scenario!(subscriptions::perform_arguments, "subscriptions/perform-arguments", "AnyT subscriptions/perform", "an action with arguments is answered"),
    scenario!(subscriptions::transmissions, "subscriptions/transmissions", "AnyT subscriptions/transmissions", "what a channel transmits while subscribing comes before the confirmation"),
    scenario!(subscriptions::same_identifier, "subscriptions/same-identifier", "Action Cable commands", "two clients of one user with the same identifier do not disturb each other"),
    scenario!(subscriptions::right_subscription, "subscriptions/right-one", "Action Cable messages", "an answer goes to the subscription that asked, among ten"),

    scenario!(streams::receives, "streams/receives", "AnyT streams/single", "messages of a stream arrive"),
    scenario!(streams::unsubscribed, "streams/unsubscribed", "AnyT streams/single", "nothing arrives after the subscription is removed"),
    scenario!(streams::one_copy_each, "streams/one-copy-each", "AnyT streams/single", "each subscription gets its copy, with different parameters on one stream"),
    scenario!(streams::two_streams, "streams/two", "AnyT streams/multiple", "messages of both streams of a subscription arrive"),
    scenario!(streams::two_streams_unsubscribed, "streams/two-unsubscribed", "AnyT streams/multiple", "nothing arrives of either stream after the subscription is removed"),
    scenario!(streams::two_clients, "streams/clients", "AnyT streams/multiple_clients", "all clients of a stream get its messages"),
    scenario!(streams::one_client_leaves, "streams/client-leaves", "AnyT streams/multiple_clients", "when one client unsubscribes, the other still gets messages"),
    scenario!(streams::stop, "streams/stop", "AnyT streams/stop", "a stream that the channel stops is silent, the other one is not"),
    scenario!(streams::stop_all, "streams/stop-all", "AnyCable RPC replies", "a subscription whose streams are all stopped is silent and alive"),
    scenario!(streams::follow, "streams/follow", "AnyCable RPC replies", "a stream that an action adds is heard"),
    scenario!(streams::broadcast_object, "streams/broadcast-object", "AnyT streams/broadcast", "a nested object is kept"),
    scenario!(streams::broadcast_text, "streams/broadcast-text", "AnyT streams/broadcast", "a text with HTML is kept"),
    scenario!(streams::broadcast_json_text, "streams/broadcast-json-text", "AnyT streams/broadcast", "JSON in a text stays a text"),

    scenario!(state::kept, "state/kept", "AnyT features/channel_state", "the state of a channel is kept between commands"),
    scenario!(state::at_the_end, "state/at-the-end", "AnyT features/channel_state", "the state is there when a channel hears of the end"),
    scenario!(state::two_channels, "state/end-two-channels", "AnyT request/disconnection", "different channels hear of the end of their client"),
    scenario!(state::two_subscriptions, "state/end-two-subscriptions", "AnyT request/disconnection", "two subscriptions to one channel hear of the end of their client"),
    scenario!(state::own, "state/own", "AnyCable RPC state", "each subscription has a state of its own"),

    scenario!(closing::remote, "closing/remote", "AnyT features/remote_disconnect", "a session that is ended from outside is told, and closed"),
    scenario!(closing::remote_for_good, "closing/remote-for-good", "AnyCable broadcasts", "reconnect: false of a remote disconnect reaches the client"),
    scenario!(closing::remote_others, "closing/remote-others", "AnyCable broadcasts", "other users' sessions go on"),
    scenario!(closing::remote_many, "closing/remote-many", "basecamp/fizzy#3093", "all fifty sessions of a user are ended").long(),
    scenario!(closing::by_application, "closing/by-application", "AnyCable RPC replies", "a channel that ends the connection ends it after its last words"),
    scenario!(closing::restart, "closing/restart", "AnyT features/server_restart", "a restart is told, and to come back").alone().long(),
    scenario!(closing::restart_crowd, "closing/restart-crowd", "AnyCable shutdown", "1,000 clients are told of a restart, and all come back").alone().long(),

    scenario!(order::commands, "order/commands", "Action Cable commands", "commands of a connection are answered in their order, from the subscribe on"),
    scenario!(order::broadcasts, "order/broadcasts", "AnyCable broadcasts", "broadcasts to a stream reach all clients in their order"),
    scenario!(order::thousand, "order/thousand", "AnyCable broadcasts", "1,000 broadcasts arrive exactly once, in their order").long(),
    scenario!(order::last_words, "order/last-words", "AnyCable RPC replies", "nothing follows the goodbye of a session"),

    scenario!(confirmation::never_missed, "confirmation/never-missed", "rails/rails#52420", "what is published once a subscription is confirmed is never missed"),
    scenario!(confirmation::first, "confirmation/first", "AnyCable RPC replies", "the confirmation comes before broadcasts, under fire, and none is missed from the first on"),

    scenario!(races::duplicate, "races/duplicate", "@rails/actioncable guarantor", "a repeated subscribe does no harm"),
    scenario!(races::duplicate_in_flight, "races/duplicate-in-flight", "@rails/actioncable guarantor", "repeated subscribes while the first is in flight are one subscription"),
    scenario!(races::subscribe_again, "races/subscribe-again", "rails/rails#44652", "subscribe, unsubscribe, subscribe at once is one subscription"),
    scenario!(races::resubscribe, "races/resubscribe", "rails/rails#38668", "unsubscribe and subscribe at once, ten times, loses nothing"),
    scenario!(races::unsubscribe_in_flight, "races/unsubscribe-in-flight", "rails/rails#44652", "an unsubscribe while the subscribe is in flight wins"),

    scenario!(fidelity::numbers, "fidelity/numbers", "RFC 8259 §6", "numbers keep their digits, beyond 2^53 too"),
    scenario!(fidelity::keys, "fidelity/key-order", "RFC 8259 §4", "keys keep their order"),
    scenario!(fidelity::unicode, "fidelity/unicode", "RFC 8259 §8", "all of Unicode arrives, U+2028 too"),
    scenario!(fidelity::escapes, "fidelity/escapes", "RFC 8259 §7", "<, >, &, quotes and control characters arrive"),
    scenario!(fidelity::kinds, "fidelity/kinds", "RFC 8259 §3", "booleans, empty values and deep ones arrive"),
    scenario!(fidelity::transmitted, "fidelity/transmitted", "Action Cable messages", "what a channel transmits arrives as well as what is broadcast"),
    scenario!(fidelity::not_json, "fidelity/not-json", "Action Cable messages", "data that is no JSON arrives as a text"),
    scenario!(identifier::verbatim, "fidelity/identifier", "Action Cable messages", "identifiers come back verbatim, however they are written"),

    scenario!(size::empty, "size/empty", "Action Cable messages", "empty texts, objects and lists arrive"),
    scenario!(size::large, "size/64-kib", "AnyCable limits", "a message of 64 KiB arrives whole"),
    scenario!(size::huge, "size/1-mb", "AnyCable limits", "a message of 1,000,000 bytes arrives whole"),
    scenario!(size::large_command, "size/command", "AnyCable limits", "a command of 48 KiB is carried out"),
    scenario!(size::many_channels, "size/channels", "Action Cable commands", "100 subscriptions of a connection each get their copy").long(),
    scenario!(size::slow_reader, "size/slow-reader", "AnyCable limits", "a client that does not read harms nobody else").long(),

    scenario!(faults::unknown_command, "faults/unknown-command", "Action Cable commands", "an unknown command is ignored"),
    scenario!(faults::no_identifier, "faults/no-identifier", "Action Cable commands", "a command without identifier is ignored or refused"),
    scenario!(faults::identifier_not_json, "faults/identifier-not-json", "Action Cable commands", "an identifier that is no JSON is ignored or refused"),
    scenario!(faults::data_not_text, "faults/data-not-text", "Action Cable commands", "data that is no string is ignored"),
    scenario!(faults::not_subscribed, "faults/not-subscribed", "Action Cable commands", "commands for a subscription that is not there are ignored"),
    scenario!(faults::not_json, "faults/not-json", "Action Cable commands", "a message that is no JSON is ignored, or ends the connection properly"),

    scenario!(options::to_others, "options/to-others", "anycable broadcast_tests/options", "a broadcast to others spares the client that caused it"),
    scenario!(options::whisper, "options/whisper", "anycable broadcast_tests/whisper", "others hear a whisper, its sender does not"),
    scenario!(options::whispered_numbers, "options/whispered-numbers", "RFC 8259 §6", "numbers of a whisper keep their digits, beyond 2^53 too"),

    scenario!(history::since_time, "history/since", "anycable broker_tests/history", "messages since a time are replayed, also those from before the subscription"),
    scenario!(history::since_later, "history/since-later", "AnyCable history", "of a time after the last message nothing is replayed, and that is confirmed"),
    scenario!(history::since_never, "history/since-never", "AnyCable history", "of a stream that never had a message nothing is replayed, and that is confirmed"),
    scenario!(history::after_offset, "history/offset", "anycable broker_tests/history", "messages after an offset are replayed"),
    scenario!(history::up_to_date, "history/up-to-date", "AnyCable history", "after the last offset nothing is replayed, and that is confirmed"),
    scenario!(history::positions, "history/positions", "AnyCable history", "offsets grow, and replayed messages have the positions that they had"),
    scenario!(history::subscribe, "history/subscribe", "anycable broker_tests/history", "a subscribe can ask for history, which comes after the confirmation"),
    scenario!(history::subscribe_refused, "history/subscribe-refused", "AnyCable history", "a subscription is there even if its history is refused"),
    scenario!(history::unknown_epoch, "history/unknown-epoch", "AnyCable history", "offsets of another epoch are refused"),
    scenario!(history::offset_ahead, "history/offset-ahead", "AnyCable history", "an offset that is yet to come is refused"),
    scenario!(history::unknown_stream, "history/unknown-stream", "AnyCable history", "an offset of a stream that never had a message is refused"),
    scenario!(history::without_gaps, "history/without-gaps", "AnyCable history", "after an old offset all is replayed, or history is refused"),
    scenario!(history::latest, "history/latest", "AnyCable history", "of many messages since a time the latest are replayed, without gaps"),
    scenario!(history::two_streams, "history/two-streams", "AnyCable history", "each stream of a subscription is replayed from its offset"),
    scenario!(history::all_or_nothing, "history/all-or-nothing", "AnyCable history", "if one stream is refused, nothing is replayed"),
    scenario!(history::not_subscribed, "history/not-subscribed", "AnyCable history", "who is not subscribed gets no history"),
    scenario!(history::transient, "history/transient", "AnyCable broadcasts", "transient messages are not kept"),

    scenario!(resume::by_header, "resume/header", "anycable broker_tests/restore", "a session is resumed with its subscriptions, and a new sid"),
    scenario!(resume::by_query, "resume/query", "AnyCable resumed sessions", "the sid may stand in the URL"),
    scenario!(resume::header_first, "resume/header-first", "AnyCable resumed sessions", "the header wins over the URL"),
    scenario!(resume::twice, "resume/twice", "AnyCable resumed sessions", "a resumed session can be resumed"),
    scenario!(resume::missed, "resume/missed", "AnyCable resumed sessions", "what was published meanwhile is replayed to a resumed session"),
    scenario!(resume::state, "resume/state", "AnyCable resumed sessions", "channels remember what they knew"),
    scenario!(resume::user, "resume/user", "AnyCable resumed sessions", "a resumed session is its user's, and ends with the user's others"),
    scenario!(resume::unsubscribed, "resume/unsubscribed", "AnyCable resumed sessions", "a subscription that was removed is not restored"),
    scenario!(resume::unknown, "resume/unknown", "AnyCable resumed sessions", "an unknown sid begins a new session"),
    scenario!(resume::unknown_refused, "resume/unknown-refused", "AnyCable resumed sessions", "an unknown sid is no way past the application"),
    scenario!(resume::base, "resume/base", "AnyCable resumed sessions", "sessions of the base protocol are not resumed"),

    scenario!(presence::perform, "presence/perform", "anycable presence_tests/perform", "channels let clients join and leave"),
    scenario!(presence::commands, "presence/commands", "AnyCable presence", "clients join and leave by commands"),
    scenario!(presence::subscribe_command, "presence/subscribe-command", "AnyCable presence", "a subscribe can ask for history and join, in this order"),
    scenario!(presence::disconnect, "presence/subscribe", "anycable presence_tests/subscribe", "who subscribes joins, who disconnects leaves").long(),
    scenario!(presence::sessions, "presence/sessions", "anycable presence_tests/subscribe", "a second session of one presence is silent, and only the last one leaves").long(),
    scenario!(presence::back_in_time, "presence/back-in-time", "AnyCable presence", "who loses the connection and comes back never left").long(),
    scenario!(presence::info, "presence/info", "AnyCable presence", "who is there is told to those who ask"),
    scenario!(presence::info_replaced, "presence/info-replaced", "AnyCable presence", "what is told of somebody is what the last session said"),
    scenario!(presence::one_id, "presence/one-id", "AnyCable presence", "a session is there as one, not as two"),
    scenario!(presence::transient, "presence/transient", "AnyCable presence", "who came and went is not kept in history"),
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
                .filter(|scenario| scenario.clause.starts_with(source))
                .count()
        };
        assert_eq!((of("AnyT "), of("anycable ")), (32, 9));
    }
}
