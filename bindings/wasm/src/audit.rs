//! Says why a pile of IDs has duplicates.

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use js_sys::{BigUint64Array, Object};
use snowmint_core::prefix::Prefix;
use snowmint_core::{Error, Layout, TextForm};
use snowmint_inspect::audit::{Audit, AuditOptions, Reader, Report, Source};
use snowmint_inspect::render::Format;
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;

use crate::convert::{id, set};
use crate::error::raise;

/// The IDs that are read from an array at once.
const CHUNK: u32 = 1024;

/// The IDs of an audit, and then its report.
#[wasm_bindgen]
pub struct Pile {
    /// The IDs until the audit ends.
    reader: Option<Reader>,
    report: Option<Report>,
}

#[wasm_bindgen]
#[allow(clippy::too_many_arguments, reason = "the options of an audit; objects of JavaScript would need as many names")]
impl Pile {
    /// Begins an audit. Core's default stands for a missing value. All times are Unix ms.
    #[wasm_bindgen(constructor)]
    pub fn new(
        layout: &str,
        since_ms: Option<f64>,
        until_ms: Option<f64>,
        jitter_ms: Option<f64>,
        unordered: bool,
        now_ms: f64,
        format: Option<String>,
        prefix: Option<String>,
        column: Option<String>,
    ) -> Result<Pile, JsValue> {
        let ms = |given: Option<f64>| given.map(|ms| ms as i64);
        let mut options =
            AuditOptions { since_ms: ms(since_ms), until_ms: ms(until_ms), unordered, ..AuditOptions::default() };
        if let Some(ms) = jitter_ms {
            options.jitter_ms = ms as u64;
        }
        let (layout, source) = layout_and_source(layout, format, prefix, column).map_err(raise)?;
        let audit = Audit::at(&layout, &options, now_ms as i64);
        Ok(Self { reader: Some(Reader::new(audit, source)), report: None })
    }

    /// Adds the next ID.
    pub fn add(&mut self, value: &str) -> Result<(), JsValue> {
        let id = id(value)?;
        if let Some(reader) = &mut self.reader {
            reader.add_id(id);
        }
        Ok(())
    }

    /// Adds the next IDs.
    #[wasm_bindgen(js_name = addArray)]
    pub fn add_array(&mut self, ids: &BigUint64Array) {
        let Some(reader) = &mut self.reader else { return };
        let mut chunk = [0; CHUNK as usize];
        let mut from = 0;
        while from < ids.length() {
            let to = ids.length().min(from + CHUNK);
            let part = &mut chunk[..(to - from) as usize];
            ids.subarray(from, to).copy_to(part);
            for id in part {
                reader.add_id(*id);
            }
            from = to;
        }
    }

    /// Reads the next bytes of a text. Returns a sentence if the text cannot be read at all.
    pub fn push(&mut self, bytes: &[u8]) -> Option<String> {
        self.reader.as_mut()?.push(bytes).err()
    }

    /// Ends a text, and with it the audit. Returns sentences about its wrong lines, or a single one if the text has no ID.
    #[wasm_bindgen(js_name = endText, unchecked_return_type = "{ complaints: string[]; isEmpty: boolean }")]
    pub fn end_text(&mut self) -> Object {
        let (complaints, is_empty) = match self.reader.take().map(Reader::end) {
            Some(Ok(reading)) => {
                self.report = Some(reading.audit.finish());
                (reading.complaints, false)
            }
            Some(Err(sentence)) => ([sentence].into(), true),
            None => (Vec::new(), false),
        };
        let ended = Object::new();
        set(&ended, "complaints", complaints);
        set(&ended, "isEmpty", is_empty);
        ended
    }

    /// Ends an audit of IDs.
    pub fn end(&mut self) {
        self.report = self.reader.take().map(|reader| reader.into_audit().finish());
    }

    /// Returns the number of findings.
    #[wasm_bindgen(getter)]
    pub fn findings(&self) -> u32 {
        self.report.as_ref().map_or(0, |report| report.findings().len() as u32)
    }

    /// Returns the IDs a second of each node.
    #[wasm_bindgen(getter, js_name = idsPerSecond)]
    pub fn ids_per_second(&self) -> Vec<f64> {
        let nodes = self.report.as_ref().map(Report::nodes).unwrap_or_default();
        nodes.iter().map(|node| node.ids_per_second).collect()
    }

    /// Returns the report as text, which may have bold headlines.
    pub fn text(&self, bold: bool) -> String {
        self.written(|report, out| report.write(out, Format::of(false, bold)))
    }

    /// Returns the report as JSON.
    pub fn json(&self) -> String {
        self.written(|report, out| report.write(out, Format::Json))
    }

    /// Returns the report as a picture.
    pub fn svg(&self) -> String {
        self.written(Report::plot)
    }

    fn written(&self, write: impl FnOnce(&Report, &mut String) -> fmt::Result) -> String {
        let mut out = String::new();
        if let Some(report) = &self.report {
            // Writing to a string cannot fail.
            let _ = write(report, &mut out);
        }
        out
    }
}

fn layout_and_source(
    layout: &str,
    format: Option<String>,
    prefix: Option<String>,
    column: Option<String>,
) -> Result<(Layout, Source), Error> {
    let given = |text: Option<String>| text.filter(|text| !text.is_empty());
    let source = Source {
        format: given(format).map(TextForm::find).transpose()?,
        prefix: given(prefix).map(Prefix::new).transpose()?,
        column: given(column),
    };
    Ok((Layout::find(layout)?, source))
}
