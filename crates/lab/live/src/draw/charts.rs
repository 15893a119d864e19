//! Users over the whole run with their plan, and the main latency over the last two minutes.

use std::time::Duration;

use plimsoll_report::quantity;
use ratatui::{
    buffer::Buffer,
    layout::Rect,
    style::Style,
    symbols::Marker,
    text::{Line, Span},
    widgets::{Axis, Block, Borders, Chart, Dataset, GraphType, Widget},
};

use super::{Look, line};
use crate::board::{Board, Quantiles, WINDOW};

/// Points of the plan's curve. Reason: two for each column of a wide chart.
const N_PLAN_POINTS: u32 = 160;

/// Lines of one chart.
type Points = Vec<(f64, f64)>;

pub(super) fn users(board: &Board, area: Rect, look: Look, buffer: &mut Buffer) {
    let now = board.now.map_or(Duration::ZERO, |now| now.elapsed);
    let end = board
        .planned
        .end
        .unwrap_or(now)
        .max(now)
        .max(Duration::from_secs(1));
    let plan: Option<Points> = (0..=N_PLAN_POINTS)
        .map(|n| {
            let at = end * n / N_PLAN_POINTS;
            let users = board.planned.users(at)?;
            Some((at.as_secs_f64(), f64::from(users)))
        })
        .collect();
    let points = board.users.points().iter();
    let active: Points = points.map(|(at, n)| (at.as_secs_f64(), f64::from(*n))).collect();
    let highest = [plan.as_deref().unwrap_or_default(), &active].concat();
    let highest = highest.iter().map(|point| point.1).fold(1.0, f64::max);
    let text = board.now.map_or_else(
        || "–".to_owned(),
        |now| format!("{} of {}", now.active_vus, now.max_vus),
    );
    let mut title = vec![
        Span::raw("users "),
        Span::styled(format!("{text} active "), look.curve(0)),
    ];
    let mut curves = Vec::new();
    if let Some(plan) = &plan {
        title.push(Span::styled(" planned ", look.dim()));
        curves.push((plan, look.dim()));
    }
    curves.push((&active, look.curve(0)));
    let frame = Frame {
        title: line(title),
        x: [
            "0".to_owned(),
            quantity::duration(Duration::from_secs(end.as_secs())),
        ],
        bounds: [0.0, end.as_secs_f64()],
        highest,
        y: format!("{highest:.0}"),
    };
    frame.render(&curves, area, buffer, look);
}

pub(super) fn latency(board: &Board, area: Rect, look: Look, buffer: &mut Buffer) {
    let figure = board.figures.main_latency();
    let seconds: Vec<(f64, Quantiles)> = figure
        .and_then(|figure| board.figures.quantiles(&figure.name))
        .map(|window| {
            window
                .iter()
                .map(|(at, second)| (at.as_secs_f64(), *second))
                .collect()
        })
        .unwrap_or_default();
    let points = PERCENTILES.map(|percentile| -> Points {
        let points = seconds.iter();
        points
            .map(|(at, second)| (*at, (percentile.of)(second).as_secs_f64()))
            .collect()
    });
    let highest = points.iter().flatten().map(|point| point.1).fold(1e-6, f64::max);
    let now = board.now.map_or(0.0, |now| now.elapsed.as_secs_f64());
    let start = (now - WINDOW.as_secs_f64()).max(0.0);
    let latest = seconds.last().map(|(_, second)| *second);
    let name = figure.map_or("latency", |figure| figure.name.as_str());
    let mut title = vec![Span::raw(name.to_owned())];
    for (number, Percentile { label, of }) in PERCENTILES.iter().enumerate() {
        let text = latest.map_or_else(|| "–".to_owned(), |latest| quantity::duration(of(&latest)));
        title.push(Span::styled(format!(" {label} {text} "), look.curve(number)));
    }
    let x = |at: f64| quantity::duration(Duration::from_secs(at as u64));
    let frame = Frame {
        title: line(title),
        x: [x(start), x(now)],
        // A run that has just begun has no width.
        bounds: [start, now.max(start + 1.0)],
        highest,
        y: quantity::duration(Duration::from_secs_f64(highest)),
    };
    let curves: Vec<_> = points
        .iter()
        .zip([0, 1, 2].map(|number| look.curve(number)))
        .collect();
    frame.render(&curves, area, buffer, look);
}

/// A curve of the chart.
struct Percentile {
    label: &'static str,
    of: fn(&Quantiles) -> Duration,
}

/// From below.
const PERCENTILES: [Percentile; 3] = [
    Percentile {
        label: "p50",
        of: |quantiles| quantiles.p50,
    },
    Percentile {
        label: "p95",
        of: |quantiles| quantiles.p95,
    },
    Percentile {
        label: "p99",
        of: |quantiles| quantiles.p99,
    },
];

/// The frame around curves.
struct Frame<'a> {
    title: Line<'a>,
    /// Labels of the left and the right end.
    x: [String; 2],
    bounds: [f64; 2],
    highest: f64,
    /// The label of `highest`.
    y: String,
}

impl Frame<'_> {
    /// Draws the curves on top of each other.
    fn render(self, curves: &[(&Points, Style)], area: Rect, buffer: &mut Buffer, look: Look) {
        let datasets = curves.iter().map(|(points, style)| {
            Dataset::default()
                .marker(Marker::Braille)
                .graph_type(GraphType::Line)
                .style(*style)
                .data(points.as_slice())
        });
        let block = Block::new()
            .borders(Borders::TOP)
            .border_style(look.dim())
            .title(self.title);
        let axis = |bounds, labels| {
            Axis::default()
                .style(look.dim())
                .bounds(bounds)
                .labels::<[String; 2]>(labels)
        };
        Chart::new(datasets.collect())
            .block(block)
            .legend_position(None)
            .x_axis(axis(self.bounds, self.x))
            .y_axis(axis([0.0, self.highest], ["0".to_owned(), self.y]))
            .render(area, buffer);
    }
}
