//! Pushgateways of `publish-metrics`: the figures of each period, as Artillery's reporter pushes them.

use plimsoll_outputs::{Exposition, OutputError, Pushgateway, PushgatewayAddress, Pushing};
use plimsoll_report::artillery::Figures;
use plimsoll_scenario::artillery::{Gateway, Publication, Test};

/// The Pushgateways of a run.
#[derive(Default)]
pub(super) struct Gateways(Vec<(Exposition, Pushing)>);

impl Gateways {
    /// Those that the file names.
    ///
    /// # Errors
    /// One cannot be used.
    pub(super) fn begin(test: &Test) -> Result<Self, OutputError> {
        let gateways = test.publications().iter().filter_map(|it| match it {
            Publication::Gateway(gateway) => Some(begin(gateway)),
            Publication::Samples { .. } => None,
        });
        gateways.collect::<Result<_, _>>().map(Self)
    }

    /// Pushes the figures of a period. Counters are sums of all periods.
    pub(super) fn push(&mut self, figures: &Figures) {
        for (exposition, pushing) in &mut self.0 {
            for (name, n) in &figures.counters {
                exposition.count(name, *n);
            }
            for (name, rate) in figures.rounded_rates() {
                exposition.set_rate(name, rate);
            }
            for (name, figure, value) in figures.readings() {
                exposition.set_summary(name, figure, value);
            }
            pushing.push(exposition.text());
        }
    }

    /// Waits until the last figures are pushed.
    pub(super) async fn finish(self) {
        for (_, pushing) in self.0 {
            pushing.finish().await;
        }
    }
}

fn begin(gateway: &Gateway) -> Result<(Exposition, Pushing), OutputError> {
    let pushgateway = Pushgateway::new(PushgatewayAddress {
        url: &gateway.url,
        job: &gateway.job,
        authorities: gateway.authorities.as_deref(),
    })?;
    let exposition = Exposition::new(&gateway.prefix, &gateway.labels);
    Ok((exposition, pushgateway.begin()))
}
