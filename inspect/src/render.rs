//! Layouts and IDs as the command lines of all languages print them: text of at most 80 columns where names are short, or
//! JSON with one object per line.

use core::fmt::{self, Display, Formatter, Write};

use crate::inspect::{Candidate, Confidence, Kind};
use snowmint_core::Error;
use snowmint_core::Integer;
use snowmint_core::shown::Shown;
use snowmint_core::time;
use snowmint_core::{Layout, Parts};

/// The first instant of the year 1, Unix ms.
const FIRST_DATE_MS: i64 = -62_135_596_800_000;
/// The first instant of the year 10000, Unix ms.
const END_OF_DATES_MS: i64 = 253_402_300_800_000;

/// The form of the output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Text.
    Plain,
    /// Text with bold headlines, for a terminal.
    Bold,
    /// JSON in ASCII, one object per line.
    Json,
}

impl Format {
    /// Returns the format of a command line: JSON if the user asked for it, otherwise text.
    ///
    /// # Examples
    /// ```
    /// use snowmint_inspect::render::Format;
    /// assert_eq!((Format::of(true, true), Format::of(false, true)), (Format::Json, Format::Bold));
    /// ```
    pub const fn of(json: bool, bold: bool) -> Self {
        match (json, bold) {
            (true, _) => Self::Json,
            (false, true) => Self::Bold,
            (false, false) => Self::Plain,
        }
    }

    /// Writes a headline and the end of its line.
    pub(crate) fn headline(self, out: &mut impl Write, text: impl Display) -> fmt::Result {
        match self {
            Self::Bold => writeln!(out, "\x1b[1m{text}\x1b[0m"),
            Self::Plain | Self::Json => writeln!(out, "{text}"),
        }
    }
}

/// Writes a table with one line per layout.
///
/// # Errors
/// The errors of `out`.
///
/// # Examples
/// ```
/// use snowmint_core::layouts::TWITTER;
/// use snowmint_inspect::render::{Format, table};
/// let mut text = String::new();
/// table(&mut text, &[TWITTER], Format::Plain)?;
/// assert!(text.contains("twitter      TTTTTTTTTTTNNSSS      1,024   4,096,000  2080-07-10  never"));
/// # Ok::<(), std::fmt::Error>(())
/// ```
pub fn table(out: &mut impl Write, layouts: &[Layout], format: Format) -> fmt::Result {
    if format == Format::Json {
        return layouts.iter().try_for_each(|layout| figures(out, layout));
    }
    let headline = format_args!(
        "{:<11}  {:<16}  {:>9}  {:>10}  {:<10}  {:<12}",
        "name", "bits", "nodes", "IDs/s", "ends", "signed until"
    );
    format.headline(out, headline)?;
    for layout in layouts {
        writeln!(
            out,
            "{:<11}  {:>16}  {:>9}  {:>10}  {:<10.10}  {:.10}",
            layout.name().unwrap_or_default(),
            letters(layout),
            grouped(layout.nodes()),
            grouped(layout.ids_per_second()),
            end(Some(layout.ends_at_ms())),
            end(layout.signed_until_ms())
        )?;
    }
    out.write_str(
        "\nbits: T time, N node, S sequence, R random, a letter for 4. IDs/s: of each node.\n\
         signed until: when IDs turn negative in a signed column.\n",
    )
}

/// Writes each layout in detail, with one column per bit.
///
/// # Errors
/// The errors of `out`.
///
/// # Examples
/// ```
/// use snowmint_core::layouts::SAFE53;
/// use snowmint_inspect::render::{Format, pictures};
/// let mut text = String::new();
/// pictures(&mut text, &[SAFE53], Format::Plain)?;
/// assert!(text.starts_with("safe53\n") && text.contains("\n  node          3  bits 9 to 11   0 to 7\n"));
/// # Ok::<(), std::fmt::Error>(())
/// ```
pub fn pictures(out: &mut impl Write, layouts: &[Layout], format: Format) -> fmt::Result {
    if format == Format::Json {
        return layouts.iter().try_for_each(|layout| figures(out, layout));
    }
    for (place, layout) in layouts.iter().enumerate() {
        if place > 0 {
            out.write_str("\n")?;
        }
        picture(out, layout, format)?;
    }
    Ok(())
}

/// An ID under one layout.
#[derive(Clone, Copy, Debug)]
pub struct Decoded {
    value: Integer,
    id: u64,
    layout: Layout,
    parts: Parts,
}

impl Decoded {
    /// Decodes an integer. A negative one is the signed form of the same 64 bits.
    ///
    /// # Errors
    /// `InvalidId`, if the layout cannot have minted the ID.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::layouts::TWITTER;
    /// use snowmint_inspect::render::{Decoded, Format};
    /// let mut text = String::new();
    /// Decoded::new(1_541_815_603_606_036_480_u64.into(), &TWITTER)?.write(&mut text, Format::Plain).expect("a string");
    /// assert_eq!(text, "1541815603606036480  2022-06-28T16:07:40.105Z  datacenter 11  worker 26  sequence 0\n");
    /// # Ok::<(), snowmint_core::Error>(())
    /// ```
    pub fn new(value: Integer, layout: &Layout) -> Result<Self, Error> {
        let id = value.id()?;
        Ok(Self { value, id, layout: *layout, parts: layout.decode(id)? })
    }

    /// Writes the ID and its parts on one line.
    ///
    /// # Errors
    /// The errors of `out`.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::layouts::SNOWMINT;
    /// use snowmint_inspect::render::{Decoded, Format};
    /// let mut text = String::new();
    /// Decoded::new(0.into(), &SNOWMINT)?.write(&mut text, Format::Plain).expect("a string");
    /// assert_eq!(text, "0  2025-01-01T00:00:00.000Z  node 0  sequence 0\n");
    /// # Ok::<(), snowmint_core::Error>(())
    /// ```
    pub fn write(&self, out: &mut impl Write, format: Format) -> fmt::Result {
        let sign = if matches!(self.value, Integer::Negative(_)) { "-" } else { "" };
        let digits = self.value.magnitude();
        if format != Format::Json {
            write!(out, "{sign}{digits}  ")?;
            self.write_parts(out)?;
            return out.write_str("\n");
        }
        write!(out, "{{\"id\": \"{sign}{digits}\", \"layout\": \"")?;
        match self.layout.name() {
            Some(name) => out.write_str(name)?,
            None => write!(out, "{}", self.layout)?,
        }
        out.write_str("\", ")?;
        self.write_members(out)?;
        out.write_str("}\n")
    }

    /// Writes time, nodes, sequence and random bits.
    fn write_parts(&self, out: &mut impl Write) -> fmt::Result {
        match self.instant() {
            Some(time) => write!(out, "{time}")?,
            None => write!(out, "{} ms", self.parts.timestamp_ms)?,
        }
        let counters = ["sequence", "random", "opaque"];
        for (name, value) in self.layout.field_values(self.id) {
            if name.as_str() != "time" && !counters.contains(&name.as_str()) {
                write!(out, "  {} {value}", name.as_str())?;
            }
        }
        for counter in counters {
            if let Some((_, value)) = self.layout.field_values(self.id).find(|(name, _)| name.as_str() == counter) {
                write!(out, "  {counter} {value}")?;
            }
        }
        Ok(())
    }

    /// Returns the time in RFC 3339, with microseconds if the ticks are not whole ms.
    fn instant(&self) -> Option<Short> {
        instant_us(self.parts.timestamp_ms, self.layout.has_fine_ticks().then_some(self.parts.extra_us))
    }

    /// Writes the parts as members of a JSON object.
    fn write_members(&self, out: &mut impl Write) -> fmt::Result {
        let Parts { timestamp_ms, tick, node, sequence, .. } = self.parts;
        let timestamp = self.instant();
        let timestamp = Json(timestamp.as_ref().map(Short::as_str));
        write!(out, "\"timestamp\": {timestamp}, \"timestamp_ms\": {timestamp_ms}, ")?;
        write!(out, "\"timestamp_us\": {}, \"tick\": {tick}, ", self.parts.timestamp_us())?;
        write!(out, "\"node\": {node}, \"sequence\": {sequence}, \"fields\": ")?;
        write_map(out, self.layout.field_values(self.id).map(|(name, value)| (name.as_str(), value)))
    }
}

/// Writes the candidates of a value, which is the text that was inspected.
///
/// # Errors
/// The errors of `out`.
///
/// # Examples
/// ```
/// use snowmint_inspect::inspect;
/// use snowmint_inspect::render::{Format, candidates};
/// let mut text = String::new();
/// candidates(&mut text, "garbage", &inspect("garbage", 1_790_000_000_000), Format::Json)?;
/// assert_eq!(text, "{\"id\": \"garbage\", \"candidates\": []}\n");
/// # Ok::<(), std::fmt::Error>(())
/// ```
pub fn candidates(out: &mut impl Write, value: &str, found: &[Candidate], format: Format) -> fmt::Result {
    if format == Format::Json {
        write!(out, "{{\"id\": {}, \"candidates\": [", Json(Some(value)))?;
        for (place, candidate) in found.iter().enumerate() {
            out.write_str(if place > 0 { ", " } else { "" })?;
            write_candidate(out, candidate)?;
        }
        return out.write_str("]}\n");
    }
    format.headline(out, Shown(value))?;
    for candidate in found {
        let (name, reason) = (candidate.system().unwrap_or(candidate.kind().name()), candidate.reason());
        write!(out, "  {name:<11}  ")?;
        if let Some(decoded) = decoded(candidate) {
            decoded.write_parts(out)?;
            write!(out, "\n  {:<11}  ", "")?;
        }
        // The reason of an unlikely candidate says so.
        match candidate.confidence() {
            Confidence::Unlikely => {}
            confidence => write!(out, "{}: ", confidence.name())?,
        }
        writeln!(out, "{reason}")?;
    }
    out.write_str(if found.is_empty() { "  nothing known to us looks like this\n" } else { "" })
}

fn write_candidate(out: &mut impl Write, candidate: &Candidate) -> fmt::Result {
    write!(out, "{{\"layout\": {}, ", Json(candidate.system()))?;
    if candidate.system().is_none() {
        write!(out, "\"kind\": \"{}\", ", candidate.kind().name())?;
    }
    if let Some(decoded) = decoded(candidate) {
        decoded.write_members(out)?;
        out.write_str(", ")?;
    } else if let Some(timestamp_ms) = candidate.timestamp_ms() {
        let timestamp = instant(timestamp_ms);
        let timestamp = Json(timestamp.as_ref().map(Short::as_str));
        write!(out, "\"timestamp\": {timestamp}, \"timestamp_ms\": {timestamp_ms}, ")?;
    }
    write!(out, "\"form\": \"{}\", \"confidence\": \"{}\", ", candidate.form().name(), candidate.confidence().name())?;
    write!(out, "\"reason\": \"{}\"}}", candidate.reason())
}

/// Returns the parts of a candidate that is a snowflake.
fn decoded(candidate: &Candidate) -> Option<Decoded> {
    match (candidate.kind(), candidate.layout()) {
        (Kind::Snowflake { id, .. }, Some(layout)) => Decoded::new(id.into(), &layout).ok(),
        _ => None,
    }
}

/// Writes the properties of a layout as JSON.
fn figures(out: &mut impl Write, layout: &Layout) -> fmt::Result {
    let bits = layout.bits();
    write!(out, "{{\"name\": {}, \"text\": \"{layout}\", \"bits\": {bits}, \"fields\": ", Json(layout.name()))?;
    write_map(out, fields(layout).map(|(name, width)| (name, width.into())))?;
    write!(out, ", \"epoch_ms\": {}, \"tick_ms\": {}, ", layout.epoch_ms(), layout.tick_ms())?;
    write!(out, "\"tick_us\": {}, ", layout.tick_us())?;
    for (key, ms) in [("ends_at", Some(layout.ends_at_ms())), ("signed_until", layout.signed_until_ms())] {
        let time = ms.and_then(instant);
        write!(out, "\"{key}\": {}, \"{key}_ms\": ", Json(time.as_ref().map(Short::as_str)))?;
        match ms {
            Some(ms) => write!(out, "{ms}, ")?,
            None => out.write_str("null, ")?,
        }
    }
    let (nodes, ids_per_tick) = (layout.nodes(), layout.ids_per_tick());
    write!(out, "\"js_safe\": {}, \"nodes\": {nodes}, \"ids_per_tick\": {ids_per_tick}, ", layout.js_safe())?;
    writeln!(out, "\"ids_per_second\": {}}}", layout.ids_per_second())
}

fn write_map<'a>(out: &mut impl Write, members: impl Iterator<Item = (&'a str, u64)>) -> fmt::Result {
    out.write_str("{")?;
    for (place, (name, value)) in members.enumerate() {
        let comma = if place > 0 { ", " } else { "" };
        write!(out, "{comma}\"{name}\": {value}")?;
    }
    out.write_str("}")
}

fn picture(out: &mut impl Write, layout: &Layout, format: Format) -> fmt::Result {
    let unused = layout.bits() - fields(layout).map(|(_, width)| width).sum::<u32>();
    let spans = || (unused > 0).then_some(("unused", unused)).into_iter().chain(fields(layout));
    format.headline(out, layout.name().unwrap_or("layout"))?;
    write!(out, "{layout}\n\n")?;
    let mut labels = Trimmed::new(out);
    for (name, width) in spans() {
        write_label(&mut labels, name, width as usize)?;
    }
    out.write_str("\n")?;
    for (_, width) in spans() {
        write!(out, "|{:-<1$}", "", width as usize - 1)?;
    }
    out.write_str("|\n")?;
    let mut high = layout.bits();
    for (name, width) in spans() {
        high -= width;
        let mut bits = Short::new();
        match width {
            1 => write!(bits, "bit {high}")?,
            _ => write!(bits, "bits {high} to {}", high + width - 1)?,
        }
        let mut row = Trimmed::new(out);
        write!(row, "  {name:<12} {width:>2}  {bits:<13}  ")?;
        write_meaning(&mut row, layout, name)?;
        out.write_str("\n")?;
    }
    writeln!(out, "\n  ends          {}", end(Some(layout.ends_at_ms())))?;
    writeln!(out, "  signed until  {}", end(layout.signed_until_ms()))?;
    writeln!(out, "  nodes         {}", grouped(layout.nodes()))?;
    writeln!(out, "  IDs a second  {} of each node", grouped(layout.ids_per_second()))?;
    writeln!(out, "  JavaScript    {}", if layout.js_safe() { "a safe integer" } else { "a bigint" })
}

/// Writes a name in the middle of its field's columns, cut to the room.
fn write_label(out: &mut impl Write, name: &str, width: usize) -> fmt::Result {
    let room = width - 1;
    let shown = &name[..name.len().min(room)];
    let blanks = room - shown.len();
    // An odd blank stands where Python's `center` puts it.
    let before = (blanks >> 1) + (blanks & room & 1);
    write!(out, " {:before$}{shown}{:after$}", "", "", after = blanks - before)
}

fn write_meaning(out: &mut impl Write, layout: &Layout, name: &str) -> fmt::Result {
    match name {
        "time" => {
            let (tick, unit) = match layout.tick_us() {
                us if us.is_multiple_of(1_000_000) => (us / 1_000_000, "s"),
                us if us.is_multiple_of(1000) => (us / 1000, "ms"),
                us => (us, "us"),
            };
            write!(out, "ticks of {tick}{unit} since ")?;
            match instant(layout.epoch_ms()) {
                Some(epoch) => write!(out, "{epoch}"),
                None => write!(out, "{} ms", layout.epoch_ms()),
            }
        }
        "sequence" => write!(out, "{} a tick", grouped(layout.ids_per_tick())),
        "random" | "unused" => Ok(()),
        "opaque" => out.write_str("known to its minter alone"),
        _ => {
            let Some((_, field)) = layout.fields().find(|(field, _)| field.as_str() == name) else { return Ok(()) };
            match layout.fixed_value(field) {
                Some(value) => write!(out, "always {}", grouped(value)),
                None => write!(out, "0 to {}", grouped(field.max())),
            }
        }
    }
}

/// Returns the fields except `unused`, high to low, with their widths.
fn fields(layout: &Layout) -> impl Iterator<Item = (&str, u32)> {
    layout.fields().map(|(name, field)| (name.as_str(), field.width())).filter(|(name, _)| *name != "unused")
}

/// Returns one letter for each 4 bits, counted from the low end. The field of the third bit decides.
fn letters(layout: &Layout) -> Short {
    let mut letters = Short::new();
    for bit in (2..layout.bits()).rev().filter(|bit| bit % 4 == 2) {
        let field = layout.fields().find(|(_, field)| field.mask() >> bit & 1 == 1);
        letters.push(match field.map_or("unused", |(name, _)| name.as_str()) {
            "time" => 'T',
            "sequence" => 'S',
            "random" => 'R',
            "opaque" => 'O',
            "unused" => '.',
            _ => 'N',
        });
    }
    letters
}

/// Returns a number with a comma before each group of three digits.
pub(crate) fn grouped(number: u64) -> Short {
    let mut text = Short::new();
    let mut unit = 1;
    while number / unit >= 1000 {
        unit *= 1000;
    }
    // The text has room for the 26 characters of the largest number; below too.
    let _ = write!(text, "{}", number / unit);
    while unit > 1 {
        unit /= 1000;
        let _ = write!(text, ",{:03}", number / unit % 1000);
    }
    text
}

/// Returns an instant in RFC 3339, or `None` outside the years 1 to 9999.
fn instant(unix_ms: i64) -> Option<Short> {
    instant_us(unix_ms, None)
}

/// Works as `instant`, maybe with the microseconds after `unix_ms`.
fn instant_us(unix_ms: i64, extra_us: Option<u16>) -> Option<Short> {
    let mut text = Short::new();
    let fits = (FIRST_DATE_MS..END_OF_DATES_MS).contains(&unix_ms);
    let written = fits && time::write_rfc3339(&mut text, unix_ms).is_ok();
    if let Some(us) = extra_us.filter(|_| written) {
        // Before the Z.
        text.len -= 1;
        let _ = write!(text, "{us:03}Z");
    }
    written.then_some(text)
}

/// Returns the end of a range of time, for people.
pub(crate) fn end(unix_ms: Option<i64>) -> Short {
    let text = |text: &str| {
        let mut short = Short::new();
        let _ = short.write_str(text);
        short
    };
    unix_ms.map_or_else(|| text("never"), |ms| instant(ms).unwrap_or_else(|| text("after 9999")))
}

/// A text of at most 32 bytes, which can be padded and cut.
pub(crate) struct Short {
    bytes: [u8; 32],
    len: usize,
}

impl Short {
    const fn new() -> Self {
        Self { bytes: [0; 32], len: 0 }
    }

    fn as_str(&self) -> &str {
        core::str::from_utf8(&self.bytes[..self.len]).unwrap_or_default()
    }

    fn push(&mut self, letter: char) {
        let _ = self.write_char(letter);
    }
}

impl Write for Short {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let end = self.len + text.len();
        self.bytes.get_mut(self.len..end).ok_or(fmt::Error)?.copy_from_slice(text.as_bytes());
        self.len = end;
        Ok(())
    }
}

impl Display for Short {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// Passes a line on without the blanks at its end.
struct Trimmed<'a, W> {
    out: &'a mut W,
    blanks: usize,
}

impl<'a, W> Trimmed<'a, W> {
    const fn new(out: &'a mut W) -> Self {
        Self { out, blanks: 0 }
    }
}

impl<W: Write> Write for Trimmed<'_, W> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let shown = text.trim_end_matches(' ');
        if !shown.is_empty() {
            write!(self.out, "{:1$}{shown}", "", self.blanks)?;
            self.blanks = 0;
        }
        self.blanks += text.len() - shown.len();
        Ok(())
    }
}

/// A string of JSON in ASCII, or `null`.
struct Json<'a>(Option<&'a str>);

impl Display for Json<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Some(text) = self.0 else { return f.write_str("null") };
        f.write_char('"')?;
        Escaped(f).write_str(text)?;
        f.write_char('"')
    }
}

/// Passes text on as the inside of a string of JSON in ASCII.
pub(crate) struct Escaped<'a, W>(pub(crate) &'a mut W);

impl<W: Write> Write for Escaped<'_, W> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let Self(out) = self;
        for letter in text.chars() {
            match letter {
                '"' | '\\' => write!(out, "\\{letter}")?,
                '\n' => out.write_str("\\n")?,
                '\r' => out.write_str("\\r")?,
                '\t' => out.write_str("\\t")?,
                ' '..='~' => out.write_char(letter)?,
                _ => {
                    for unit in letter.encode_utf16(&mut [0; 2]) {
                        write!(out, "\\u{unit:04x}")?;
                    }
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    extern crate std;

    use std::borrow::ToOwned as _;
    use std::string::{String, ToString};
    use std::vec::Vec;

    use super::*;
    use crate::inspect;
    use snowmint_core::layouts;

    fn written(write: impl FnOnce(&mut String) -> fmt::Result) -> String {
        let mut text = String::new();
        write(&mut text).expect("a string takes everything");
        text
    }

    fn lines(write: impl FnOnce(&mut String) -> fmt::Result) -> Vec<String> {
        written(write).lines().map(str::to_owned).collect()
    }

    #[test]
    fn numbers_have_commas() {
        let numbers = [0, 999, 1000, 1_000_000, 12_034_567, u64::MAX];
        let texts = ["0", "999", "1,000", "1,000,000", "12,034,567", "18,446,744,073,709,551,615"];
        assert_eq!(numbers.map(|number| grouped(number).to_string()), texts);
    }

    #[test]
    fn a_picture_has_one_column_per_bit() {
        let layout = Layout::parse("unused:3,random:5,time:50;epoch=-1;tick=7s").expect("a layout");
        let shown = lines(|out| pictures(out, &[layout], Format::Plain));
        assert_eq!(shown[..2], ["layout", "unused:3,random:5,time:50;epoch=-1;tick=7s"]);
        assert_eq!(shown[3], " un rand                        time");
        assert_eq!(shown[4], "|--|----|-------------------------------------------------|");
        assert_eq!(shown[5], "  unused        3  bits 55 to 57");
        assert_eq!(shown[7], "  time         50  bits 0 to 49   ticks of 7s since 1969-12-31T23:59:59.999Z");
        assert_eq!(shown[9], "  ends          after 9999");
    }

    #[test]
    fn every_preset_fits_into_80_columns() {
        let presets: Vec<_> = layouts::all().map(|(_, layout)| layout).collect();
        let shown = lines(|out| table(out, &presets, Format::Plain));
        assert_eq!(shown.len(), presets.len() + 4);
        assert!(shown.iter().all(|line| line.len() <= 80), "{shown:?}");
        let baidu = shown.iter().find(|line| line.starts_with("baidu")).expect("a preset");
        let words: Vec<_> = baidu.split_whitespace().collect();
        assert_eq!(words, ["baidu", "TTTTTTTNNNNNNSSS", "4,194,304", "8,192", "2024-11-20", "never"]);
        let bold = written(|out| table(out, &presets, Format::Bold));
        assert!(bold.starts_with("\x1b[1mname") && bold.contains("signed until\x1b[0m\n"));
    }

    #[test]
    fn json_of_a_layout_holds_all_its_properties() {
        let json = written(|out| pictures(out, &[layouts::SAFE53], Format::Json));
        assert_eq!(
            json,
            concat!(
                r#"{"name": "safe53", "text": "time:41,node:3,sequence:9;epoch=1735689600000;tick=1ms", "bits": 53, "#,
                r#""fields": {"time": 41, "node": 3, "sequence": 9}, "epoch_ms": 1735689600000, "tick_ms": 1, "#,
                r#""tick_us": 1000, "ends_at": "2094-09-07T15:47:35.551Z", "ends_at_ms": 3934712855551, "#,
                r#""signed_until": null, "signed_until_ms": null, "js_safe": true, "nodes": 8, "ids_per_tick": 512, "#,
                r#""ids_per_second": 512000}"#,
                "\n"
            )
        );
    }

    #[test]
    fn a_negative_id_keeps_its_sign() {
        let decoded = Decoded::new(Integer::from(-1), &layouts::MASTODON).expect("an ID");
        let text = written(|out| decoded.write(out, Format::Plain));
        assert!(text.starts_with("-1  ") && text.ends_with("  sequence 65535\n"), "{text}");
        let json = written(|out| decoded.write(out, Format::Json));
        assert!(json.starts_with(r#"{"id": "-1", "layout": "mastodon", "timestamp": null, "#), "{json}");
        assert!(Decoded::new(Integer::from(-1), &layouts::TWITTER).is_err());
    }

    #[test]
    fn candidates_have_a_line_for_parts_and_one_for_the_reason() {
        let tweet = "1541815603606036480";
        let found = inspect(tweet, 1_790_000_000_000);
        let shown = lines(|out| candidates(out, tweet, &found, Format::Plain));
        assert_eq!(
            shown[..2],
            [tweet, "  twitter      2022-06-28T16:07:40.105Z  datacenter 11  worker 26  sequence 0"]
        );
        assert_eq!(shown[2], "               high: time 2022-06-28, 4.2 years before now; sequence 0");
        assert_eq!(lines(|out| candidates(out, "5\u{1b}[2J\r", &[], Format::Plain))[0], r"5\u{1b}[2J\r");
        let uuid = "017f22e2-79b0-7cc3-98c4-dc0c0c07398f";
        let found = inspect(uuid, 1_790_000_000_000);
        let json = written(|out| candidates(out, uuid, &found, Format::Json));
        assert!(
            json.contains(r#"[{"layout": null, "kind": "uuid7", "timestamp": "2022-02-22T19:22:22.000Z", "#),
            "{json}"
        );
    }

    #[test]
    fn json_of_any_text_is_ascii() {
        let text = "a\"\\\n\r\t\u{1}é\u{1f600}";
        let json = written(|out| candidates(out, text, &[], Format::Json));
        let quoted = r#"{"id": "a\"\\\n\r\t\u0001\u00e9\ud83d\ude00", "candidates": []}"#;
        assert_eq!(json.trim_end(), quoted);
    }
}
