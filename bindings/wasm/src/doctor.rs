//! Examines the place of a generator over a store of JavaScript, which passes each reply of the store to a function.

use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt::{self, Write};

use js_sys::{Array, Map};
use snowmint_core::durability::{Accepting, Engine};
use snowmint_core::lease::StoreNodes;
use snowmint_core::lease::{Floor, NamespaceName, NamespaceRecord, Record};
use snowmint_core::store::KeyPart;
use snowmint_core::{ErrorKind, Layout};
use snowmint_inspect::doctor::{Accepted, Finding, Level, Origin, judge};
use snowmint_inspect::render::Format;
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;

use crate::error::raise;

self_cell::self_cell!(
    /// The nodes of a store, with the layout that they borrow.
    struct Nodes {
        owner: Layout,
        #[not_covariant]
        dependent: StoreNodes,
    }
);

/// A look at one store, which writes its findings.
#[wasm_bindgen]
pub struct Look {
    layout: Layout,
    format: Format,
    namespace: String,
    nodes: Option<Nodes>,
    is_well: bool,
    out: String,
}

#[wasm_bindgen]
impl Look {
    /// Begins a look for generators of a layout, at `now_ms` (Unix ms).
    #[wasm_bindgen(constructor)]
    pub fn new(layout: &str, now_ms: f64, json: bool, bold: bool) -> Result<Look, JsValue> {
        let layout = Layout::parse(layout).map_err(raise)?;
        let format = Format::of(json, bold);
        let mut look =
            Self { layout, format, namespace: String::new(), nodes: None, is_well: true, out: String::new() };
        look.add(&Finding::Layout(&layout, now_ms as i64));
        Ok(look)
    }

    /// Takes the name of the store. `by_variable` says whether its URL is in the environment.
    pub fn store(&mut self, name: &str, by_variable: bool, is_service: bool) {
        let origin = if by_variable { Origin::StoreVariable } else { Origin::Store };
        self.add(&if is_service { Finding::Service(name, origin) } else { Finding::Store(name, origin) });
    }

    /// Takes an error.
    pub fn refused(&mut self, code: &str, sentence: &str) {
        let kind = ErrorKind::ALL.into_iter().find(|kind| kind.code() == code);
        self.add(&Finding::Refused(kind.unwrap_or(ErrorKind::StoreUnavailable), sentence));
    }

    /// Takes the sentence of an error that `allowUnsafe` accepts.
    pub fn allowed(&mut self, sentence: &str) {
        self.add(&Finding::Allowed(sentence));
    }

    /// Takes the path of a file in a safe place.
    pub fn place(&mut self, path: &str) {
        self.add(&Finding::Place(path));
    }

    /// Takes the settings of a server; without an engine the store reports no settings.
    pub fn settings(&mut self, engine: Option<String>, values: &Map, lossy: bool, standby: bool) {
        let Some(engine) = engine.and_then(|engine| Engine::find(&engine)) else {
            return self.add(&Finding::NoSettings);
        };
        let values: Vec<_> = values.entries().into_iter().filter_map(|entry| entry_of(&entry.ok()?.into())).collect();
        let found: Vec<_> = values.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        judge(engine, &found, Accepted { lossy, standby }, &Accepting::JAVASCRIPT, |finding| self.add(finding));
    }

    /// Takes the store's clock, if it has one, and this machine's before and after the answer, all Unix ms.
    pub fn clock(&mut self, store_ms: Option<f64>, sent_ms: f64, answered_ms: f64) {
        let store_ms = store_ms.map(|ms| ms as i64);
        self.add(&Finding::Clock { store_ms, sent_ms: sent_ms as i64, answered_ms: answered_ms as i64 });
    }

    /// Takes the name of the namespace; without a name it is the layout's. Returns the namespace as a part of keys; undefined for a
    /// name that is not allowed.
    pub fn namespace(&mut self, name: Option<String>) -> Option<String> {
        let name = match &name {
            Some(name) => NamespaceName::new(name),
            None => Ok(NamespaceName::Default(self.layout.numbers())),
        };
        match name {
            Ok(name) => {
                let mut key = String::new();
                // Writing to a string cannot fail.
                let _ = write!(KeyPart::new(&mut key), "{name}");
                self.namespace = name.to_string();
                Some(key)
            }
            Err(error) => {
                self.refuse(error.kind(), |sentence| write!(sentence, "{error}"));
                None
            }
        }
    }

    /// Begins with the nodes. Takes the namespace's record, or else the store's floor, or neither, and the only node to claim.
    /// Returns whether the record is for this layout.
    pub fn nodes(
        &mut self,
        record: Option<Vec<u8>>,
        floor: Option<Vec<u8>>,
        node: Option<u32>,
        window_ms: f64,
    ) -> bool {
        let found = match (record, floor) {
            (Some(record), _) => match NamespaceRecord::read_for(&record, &self.layout) {
                Ok((_, record)) => (Some(record), None),
                Err(refusal) => {
                    let namespace = self.namespace.clone();
                    self.refuse(refusal.kind(), |sentence| refusal.write(sentence, &namespace));
                    return false;
                }
            },
            (None, Some(floor)) => match Floor::read(&floor) {
                Ok(floor) => (None, Some(floor)),
                Err(error) => {
                    self.refuse(error.kind(), |sentence| write!(sentence, "{}: {error}", Floor::KEY));
                    return false;
                }
            },
            (None, None) => (None, None),
        };
        let namespace = self.namespace.clone();
        self.add(&Finding::Namespace(&namespace, found.0.is_some()));
        self.nodes =
            Some(Nodes::new(self.layout, |layout| StoreNodes::new(layout, node, window_ms as u64, found.0, found.1)));
        true
    }

    /// Takes the record of a node, ascending, at `now_ms` (Unix ms).
    pub fn see(&mut self, node: u32, record: &[u8], version: f64, now_ms: f64) {
        if let Some(nodes) = &mut self.nodes {
            let record = Record::from_bytes(record).ok();
            let record = record.as_ref().map(|record| (record, version as u64));
            nodes.with_dependent_mut(|_, nodes| nodes.see(node, record, now_ms as i64));
        }
    }

    /// Ends the look at the nodes. `store_ms` is the store's clock, if it has one. Both times are Unix ms.
    pub fn seen(&mut self, now_ms: f64, store_ms: Option<f64>) {
        let Some(mut nodes) = self.nodes.take() else { return };
        let (outlook, tally) =
            nodes.with_dependent_mut(|_, nodes| nodes.end(now_ms as i64, store_ms.map(|ms| ms as i64)));
        for finding in Finding::of_nodes(&outlook, &tally) {
            self.add(&finding);
        }
    }

    /// Returns the findings.
    #[wasm_bindgen(getter)]
    pub fn lines(&self) -> String {
        self.out.clone()
    }

    /// Returns whether nothing must be mended.
    #[wasm_bindgen(getter, js_name = isWell)]
    pub fn is_well(&self) -> bool {
        self.is_well
    }

    fn add(&mut self, finding: &Finding<'_>) {
        self.is_well &= finding.level() != Level::Mend;
        // Writing to a string cannot fail.
        let _ = finding.write(&mut self.out, self.format);
    }

    /// Refuses with a sentence of several parts.
    fn refuse(&mut self, kind: ErrorKind, write: impl FnOnce(&mut String) -> fmt::Result) {
        let mut sentence = String::new();
        // Writing to a string cannot fail.
        let _ = write(&mut sentence);
        self.add(&Finding::Refused(kind, &sentence));
    }
}

fn entry_of(entry: &Array) -> Option<(String, String)> {
    Some((entry.get(0).as_string()?, entry.get(1).as_string()?))
}
