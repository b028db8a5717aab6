//! A table of layouts, and a picture of each.

use serde::Serialize;
use snowmint_core::Layout;

use super::ids::Fields;
use super::{grouped, headline, instant};

/// Returns a table with one line per layout.
pub(crate) fn table(layouts: &[Layout], bold: bool) -> String {
    let head = ["name", "bits", "nodes", "IDs/s", "ends", "signed until"];
    let [name, bits, nodes, ids, ends, signed] = head;
    let head = format!("{name:<11}  {bits:<16}  {nodes:>9}  {ids:>10}  {ends:<10}  {signed:<12}");
    let rows = layouts.iter().map(|layout| {
        format!(
            "{:<11}  {:>16}  {:>9}  {:>10}  {:<10.10}  {:.10}\n",
            layout.name().unwrap_or_default(),
            letters(layout),
            grouped(layout.nodes()),
            grouped(layout.ids_per_second()),
            end(Some(layout.ends_at_ms())),
            end(layout.signed_until_ms())
        )
    });
    let notes = "\nbits: T time, N node, S sequence, R random, a letter for 4. IDs/s: of each node.\n\
                 signed until: when IDs turn negative in a signed column.\n";
    headline(&head, bold) + &rows.collect::<String>() + notes
}

/// Returns each layout in detail, with one column per bit.
pub(crate) fn pictures(layouts: &[Layout], bold: bool) -> String {
    layouts.iter().map(|layout| picture(layout, bold)).collect::<Vec<_>>().join("\n")
}

/// The properties of a layout, for JSON.
#[derive(Debug, Serialize)]
pub(crate) struct Figures {
    name: Option<&'static str>,
    text: String,
    bits: u32,
    fields: Fields,
    epoch_ms: i64,
    tick_ms: u64,
    tick_us: u64,
    ends_at: Option<String>,
    ends_at_ms: i64,
    signed_until: Option<String>,
    signed_until_ms: Option<i64>,
    js_safe: bool,
    nodes: u64,
    ids_per_tick: u64,
    ids_per_second: u64,
}

impl Figures {
    pub(crate) fn of(layout: &Layout) -> Self {
        Self {
            name: layout.name(),
            text: layout.to_string(),
            bits: layout.bits(),
            fields: Fields(fields(layout).map(|(name, width)| (name.to_owned(), width.into())).collect()),
            epoch_ms: layout.epoch_ms(),
            tick_ms: layout.tick_ms(),
            tick_us: layout.tick_us(),
            ends_at: instant(layout.ends_at_ms()),
            ends_at_ms: layout.ends_at_ms(),
            signed_until: layout.signed_until_ms().and_then(instant),
            signed_until_ms: layout.signed_until_ms(),
            js_safe: layout.js_safe(),
            nodes: layout.nodes(),
            ids_per_tick: layout.ids_per_tick(),
            ids_per_second: layout.ids_per_second(),
        }
    }
}

fn picture(layout: &Layout, bold: bool) -> String {
    let unused = layout.bits() - fields(layout).map(|(_, width)| width).sum::<u32>();
    let spans: Vec<_> = (unused > 0).then_some(("unused", unused)).into_iter().chain(fields(layout)).collect();
    let room = |width: u32| width as usize - 1;
    let labels: String = spans.iter().map(|(name, width)| format!(" {name:^0$.0$}", room(*width))).collect();
    let rule: String = spans.iter().map(|(_, width)| format!("|{:-<1$}", "", room(*width))).collect();
    let mut high = layout.bits();
    let rows = spans.iter().map(|(name, width)| {
        high -= width;
        let bits = match width {
            1 => format!("bit {high}"),
            _ => format!("bits {high} to {}", high + width - 1),
        };
        let row = format!("  {name:<12} {width:>2}  {bits:<13}  {}", meaning(layout, name));
        format!("{}\n", row.trim_end())
    });
    let rows: String = rows.collect();
    let head = headline(layout.name().unwrap_or("layout"), bold);
    let (ends, signed) = (end(Some(layout.ends_at_ms())), end(layout.signed_until_ms()));
    let (nodes, ids) = (grouped(layout.nodes()), grouped(layout.ids_per_second()));
    let integer = if layout.js_safe() { "a safe integer" } else { "a bigint" };
    format!(
        "{head}{layout}\n\n{}\n{rule}|\n{rows}
  ends          {ends}
  signed until  {signed}
  nodes         {nodes}
  IDs a second  {ids} of each node
  JavaScript    {integer}
",
        labels.trim_end()
    )
}

fn meaning(layout: &Layout, name: &str) -> String {
    match name {
        "time" => {
            let (tick, unit) = match layout.tick_us() {
                us if us.is_multiple_of(1_000_000) => (us / 1_000_000, "s"),
                us if us.is_multiple_of(1000) => (us / 1000, "ms"),
                us => (us, "us"),
            };
            let epoch_ms = layout.epoch_ms();
            let epoch = instant(epoch_ms).unwrap_or_else(|| format!("{epoch_ms} ms"));
            format!("ticks of {tick}{unit} since {epoch}")
        }
        "sequence" => format!("{} a tick", grouped(layout.ids_per_tick())),
        "random" | "unused" => String::new(),
        "opaque" => "known to its minter alone".to_owned(),
        _ => {
            let found = layout.fields().find(|(field, _)| field.as_str() == name);
            let text = found.map(|(_, field)| match layout.fixed_value(field) {
                Some(value) => format!("always {}", grouped(value)),
                None => format!("0 to {}", grouped(field.max())),
            });
            text.unwrap_or_default()
        }
    }
}

/// Returns the fields except `unused`, high to low, with their widths.
fn fields(layout: &Layout) -> impl Iterator<Item = (&str, u32)> {
    layout.fields().map(|(name, field)| (name.as_str(), field.width())).filter(|(name, _)| *name != "unused")
}

/// Returns one letter for each 4 bits, counted from the low end. The field of the third bit decides.
fn letters(layout: &Layout) -> String {
    let letter = |bit: u32| {
        let field = layout.fields().find(|(_, field)| field.mask() >> bit & 1 == 1);
        match field.map_or("unused", |(name, _)| name.as_str()) {
            "time" => 'T',
            "sequence" => 'S',
            "random" => 'R',
            "opaque" => 'O',
            "unused" => '.',
            _ => 'N',
        }
    };
    (2..layout.bits()).rev().filter(|bit| bit % 4 == 2).map(letter).collect()
}

/// Returns the end of a range of time, for people.
fn end(unix_ms: Option<i64>) -> String {
    unix_ms.map_or_else(|| "never".to_owned(), |ms| instant(ms).unwrap_or_else(|| "after 9999".to_owned()))
}

#[cfg(test)]
mod tests {
    use snowmint_core::layouts;

    use super::*;

    #[test]
    fn a_picture_has_one_column_per_bit() {
        let layout = Layout::parse("unused:3,random:5,time:50;epoch=-1;tick=7s").expect("a layout");
        let text = pictures(&[layout], false);
        let shown: Vec<_> = text.lines().collect();
        assert_eq!(shown[..2], ["layout", "unused:3,random:5,time:50;epoch=-1;tick=7s"]);
        assert_eq!(shown[3], " un rand                       time");
        assert_eq!(shown[4], "|--|----|-------------------------------------------------|");
        assert_eq!(shown[5], "  unused        3  bits 55 to 57");
        assert_eq!(shown[7], "  time         50  bits 0 to 49   ticks of 7s since 1969-12-31T23:59:59.999Z");
        assert_eq!(shown[9], "  ends          after 9999");
    }

    #[test]
    fn every_preset_fits_into_80_columns() {
        let presets: Vec<_> = layouts::all().map(|(_, layout)| layout).collect();
        let text = table(&presets, false);
        let shown: Vec<_> = text.lines().collect();
        assert_eq!(shown.len(), presets.len() + 4);
        assert!(shown.iter().all(|line| line.len() <= 80), "{text}");
        let baidu = shown.iter().find(|line| line.starts_with("baidu")).expect("a preset");
        let words: Vec<_> = baidu.split_whitespace().collect();
        assert_eq!(words, ["baidu", "TTTTTTTNNNNNNSSS", "4,194,304", "8,192", "2024-11-20", "never"]);
        let bold = table(&presets, true);
        assert!(bold.starts_with("\x1b[1mname") && bold.contains("signed until\x1b[0m\n"));
    }

    #[test]
    fn json_of_a_layout_holds_all_its_properties() {
        let figures = serde_json::to_string(&Figures::of(&layouts::SAFE53)).expect("JSON");
        assert_eq!(
            figures,
            concat!(
                r#"{"name":"safe53","text":"time:41,node:3,sequence:9;epoch=1735689600000;tick=1ms","bits":53,"#,
                r#""fields":{"time":41,"node":3,"sequence":9},"epoch_ms":1735689600000,"tick_ms":1,"#,
                r#""tick_us":1000,"ends_at":"2094-09-07T15:47:35.551Z","ends_at_ms":3934712855551,"#,
                r#""signed_until":null,"signed_until_ms":null,"js_safe":true,"nodes":8,"ids_per_tick":512,"#,
                r#""ids_per_second":512000}"#,
            )
        );
    }
}
