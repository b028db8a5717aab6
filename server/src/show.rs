//! Layouts and IDs as text for people: at most 80 columns, where names are short. The same in every language.

mod figures;
mod ids;

use std::fmt::Write as _;
use std::io::{IsTerminal as _, stdout};

use snowmint_core::{Layout, layouts};

pub use self::figures::Figures;
use self::figures::{ends, instant};
pub use self::ids::{Decoded, Found, candidates, decoded};

/// Whether headlines are bold.
#[derive(Clone, Copy, Debug)]
pub struct Style(bool);

impl Style {
    /// They are on a terminal that wants it.
    pub fn of_terminal() -> Self {
        let wanted = |name| std::env::var_os(name).is_none_or(|value| value.is_empty());
        Self(stdout().is_terminal() && wanted("NO_COLOR") && std::env::var_os("TERM").is_none_or(|term| term != "dumb"))
    }

    fn headline(self, text: &str) -> String {
        if self.0 { format!("\x1b[1m{text}\x1b[0m") } else { text.to_owned() }
    }
}

/// The name of a layout that is a preset.
pub fn name(layout: &Layout) -> Option<&'static str> {
    layouts::all().find(|(_, preset)| preset == layout).map(|(name, _)| name)
}

/// A number with commas.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// The fields but `unused`, high to low, with their widths.
fn fields(layout: &Layout) -> impl Iterator<Item = (&str, u32)> {
    layout.fields().map(|(name, field)| (name.as_str(), field.width())).filter(|(name, _)| *name != "unused")
}

/// A line for each layout.
pub fn table(layouts: &[Layout], style: Style) -> String {
    let mut text = style.headline(&format!(
        "{:<11}  {:<16}  {:>9}  {:>10}  {:<10}  {:<12}",
        "name", "bits", "nodes", "IDs/s", "ends", "signed until"
    ));
    for layout in layouts {
        let day = |text: String| text.chars().take(10).collect::<String>();
        let (ends, signed) = (day(ends(Some(layout.ends_at_ms()))), day(ends(layout.signed_until_ms())));
        let (nodes, rate) = (grouped(layout.nodes()), grouped(layout.ids_per_second()));
        // Writing to a string cannot fail; below too.
        let _ = write!(
            text,
            "\n{:<11}  {:>16}  {nodes:>9}  {rate:>10}  {ends:<10}  {signed}",
            name(layout).unwrap_or_default(),
            letters(layout)
        );
    }
    text.push_str("\n\nbits: T time, N node, S sequence, R random, a letter for 4. IDs/s: of each node.");
    text.push_str("\nsigned until: when IDs turn negative in a signed column.");
    text
}

fn letters(layout: &Layout) -> String {
    let mut bits: Vec<char> = Vec::new();
    for (name, width) in fields(layout) {
        let letter = match name {
            "time" => 'T',
            "sequence" => 'S',
            "random" => 'R',
            _ => 'N',
        };
        bits.extend((0..width).map(|_| letter));
    }
    bits.reverse();
    bits.resize(layout.bits() as usize, '.');
    // From the low end on; the letter of the middle stands for its four.
    let letters: Vec<_> = bits.into_iter().skip(2).step_by(4).collect();
    letters.into_iter().rev().collect()
}

/// A layout in detail, a column for each bit.
pub fn picture(layout: &Layout, style: Style) -> String {
    let unused = layout.bits() - fields(layout).map(|(_, width)| width).sum::<u32>();
    let spans: Vec<_> = (unused > 0).then_some(("unused", unused)).into_iter().chain(fields(layout)).collect();
    let mut lines = vec![style.headline(name(layout).unwrap_or("layout")), layout.to_string(), String::new()];
    let labels: String = spans.iter().map(|(name, width)| label(name, *width as usize)).collect();
    lines.push(labels.trim_end().to_owned());
    let ruler = |width: u32| format!("|{:-<1$}", "", width as usize - 1);
    lines.push(spans.iter().map(|(_, width)| ruler(*width)).collect::<String>() + "|");
    let mut high = layout.bits();
    for (name, width) in &spans {
        high -= width;
        let bits = if *width == 1 { format!("bit {high}") } else { format!("bits {high} to {}", high + width - 1) };
        lines.push(format!("  {name:<12} {width:>2}  {bits:<13}  {}", meaning(layout, name)).trim_end().to_owned());
    }
    lines.push(String::new());
    lines.push(format!("  ends          {}", ends(Some(layout.ends_at_ms()))));
    lines.push(format!("  signed until  {}", ends(layout.signed_until_ms())));
    lines.push(format!("  nodes         {}", grouped(layout.nodes())));
    lines.push(format!("  IDs a second  {} of each node", grouped(layout.ids_per_second())));
    lines.push(format!("  JavaScript    {}", if layout.js_safe() { "a safe integer" } else { "a bigint" }));
    lines.join("\n")
}

/// The name in the middle of its field's columns, as far as there is room.
fn label(name: &str, width: usize) -> String {
    let room = width - 1;
    let shown = &name[..name.len().min(room)];
    let blanks = room - shown.len();
    // The odd blank stands where the other command lines put it.
    let before = (blanks >> 1) + (blanks & room & 1);
    format!(" {:before$}{shown}{:after$}", "", "", after = blanks - before)
}

fn meaning(layout: &Layout, name: &str) -> String {
    match name {
        "time" => {
            let text = layout.to_string();
            let tick = text.rsplit('=').next().unwrap_or_default();
            let epoch = instant(layout.epoch_ms()).unwrap_or_else(|| format!("{} ms", layout.epoch_ms()));
            format!("ticks of {tick} since {epoch}")
        }
        "sequence" => format!("{} a tick", grouped(layout.ids_per_tick())),
        "random" | "unused" => String::new(),
        _ => {
            let most = layout.fields().find(|(field, _)| field.as_str() == name).map_or(0, |(_, field)| field.max());
            format!("0 to {}", grouped(most))
        }
    }
}
