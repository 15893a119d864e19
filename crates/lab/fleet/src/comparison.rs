//! One comparison of the coordinator's clock with that of an agent.

use crate::{
    FleetError, Link, Member, Timepiece,
    clock::Exchange,
    message::{Answer, Order, Request},
    recruit::ANSWER_WITHIN,
};

/// Asks an agent what its clock shows.
///
/// # Errors
/// It does not say.
pub(crate) async fn exchange(
    link: &Link,
    run: &str,
    member: &Member,
    timepiece: Timepiece,
) -> Result<Exchange, FleetError> {
    let name = &member.profile.name;
    let request = Request {
        run: run.to_owned(),
        order: Order::Tell,
    };
    let sent = timepiece.now();
    let answer = link
        .ask_in_json(link.agent(&member.profile.id), &request, ANSWER_WITHIN)
        .await;
    let received = timepiece.now();
    match answer.map_err(|error| FleetError::of(name, error))? {
        Answer::Time { ns } => Ok(Exchange {
            sent,
            received,
            theirs: ns,
        }),
        _ => Err(FleetError::of(name, "it does not say what its clock shows")),
    }
}
