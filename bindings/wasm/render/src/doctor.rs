//! Examines the place of a generator over a store of JavaScript. JavaScript passes each reply of the store to a function, which
//! adds its findings to the output.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt::{self, Write};
use core::str;

use glue::Single;
use snowmint_core::ErrorKind;
use snowmint_core::Layout;
use snowmint_core::doctor::{Accepted, Finding, Level, Origin, StoreNodes, judge};
use snowmint_core::durability::{Accepting, Engine};
use snowmint_core::lease::{Floor, NamespaceName, NamespaceRecord, Record};
use snowmint_core::render::Format;
use snowmint_core::store::KeyPart;

use crate::{INPUT, OUTPUT, format, text};

/// A look at one store.
struct Look {
    layout: &'static Layout,
    format: Format,
    namespace: String,
    nodes: Option<StoreNodes<'static>>,
    is_well: bool,
}

static LOOK: Single<Option<Look>> = Single::new(None);

fn look() -> Option<&'static mut Look> {
    LOOK.get().as_mut()
}

fn add(finding: &Finding<'_>) {
    if let Some(look) = look() {
        look.is_well &= finding.level() != Level::Mend;
        // Writing to a string cannot fail.
        let _ = finding.write(OUTPUT.get(), look.format);
    }
}

fn refuse(kind: ErrorKind, sentence: &str) {
    add(&Finding::Refused(kind, sentence));
}

/// Writes a sentence of several parts, and refuses with it.
fn refuse_by(kind: ErrorKind, write: impl FnOnce(&mut String) -> fmt::Result) {
    let mut sentence = String::new();
    // Writing to a string cannot fail.
    let _ = write(&mut sentence);
    refuse(kind, &sentence);
}

/// Begins a look for generators of the layout of the input, at `now_ms` (Unix ms).
#[unsafe(no_mangle)]
pub extern "C" fn doctor_begin(now_ms: i64, json: u32, bold: u32) {
    OUTPUT.get().clear();
    let Ok(layout) = Layout::parse(text()) else { return };
    let layout: &'static Layout = Box::leak(Box::new(layout));
    let format = format(json, bold);
    *LOOK.get() = Some(Look { layout, format, namespace: String::new(), nodes: None, is_well: true });
    add(&Finding::Layout(layout, now_ms));
}

/// Takes the name of the store. `variable` says whether its URL is in the environment.
#[unsafe(no_mangle)]
pub extern "C" fn doctor_store(variable: u32, service: u32) {
    let origin = if variable > 0 { Origin::StoreVariable } else { Origin::Store };
    add(&if service > 0 { Finding::Service(text(), origin) } else { Finding::Store(text(), origin) });
}

/// Takes an error: its code, a blank, its sentence.
#[unsafe(no_mangle)]
pub extern "C" fn doctor_refused() {
    let (code, sentence) = text().split_once(' ').unwrap_or(("", text()));
    let kind = ErrorKind::ALL.into_iter().find(|kind| kind.code() == code);
    refuse(kind.unwrap_or(ErrorKind::StoreUnavailable), sentence);
}

/// Takes the sentence of an error that `allowUnsafe` accepts.
#[unsafe(no_mangle)]
pub extern "C" fn doctor_allowed() {
    add(&Finding::Allowed(text()));
}

/// Takes the path of a file in a safe place.
#[unsafe(no_mangle)]
pub extern "C" fn doctor_place() {
    add(&Finding::Place(text()));
}

/// Takes the settings of a server: the name of the engine, and lines `NAME=VALUE`. The first line is empty if the store reports no settings.
#[unsafe(no_mangle)]
pub extern "C" fn doctor_settings(lossy: u32, standby: u32) {
    let mut lines = text().lines();
    let Some(engine) = lines.next().and_then(Engine::find) else { return add(&Finding::NoSettings) };
    let found: Vec<_> = lines.filter_map(|line| line.split_once('=')).collect();
    let accepted = Accepted { lossy: lossy > 0, standby: standby > 0 };
    judge(engine, &found, accepted, &Accepting::JAVASCRIPT, add);
}

/// Takes the store's clock, if it has one, and this machine's before and after the answer, all Unix ms.
#[unsafe(no_mangle)]
pub extern "C" fn doctor_clock(has_clock: u32, store_ms: i64, sent_ms: i64, answered_ms: i64) {
    let store_ms = (has_clock > 0).then_some(store_ms);
    add(&Finding::Clock { store_ms, sent_ms, answered_ms });
}

/// Takes the name of the namespace; without a name it is the layout's. Returns the address of the namespace as a part of
/// keys, or 0 for a name that is not allowed.
#[unsafe(no_mangle)]
pub extern "C" fn doctor_namespace(is_named: u32) -> u32 {
    static KEY: Single<String> = Single::new(String::new());
    let Some(look) = look() else { return 0 };
    let name =
        if is_named > 0 { NamespaceName::new(text()) } else { Ok(NamespaceName::Default(look.layout.numbers())) };
    let key = KEY.get();
    match name {
        Ok(name) => {
            look.namespace.clear();
            let _ = write!(look.namespace, "{name}");
            key.clear();
            let _ = write!(KeyPart::new(key), "{name}");
            key.push('\0');
            key.as_ptr() as u32
        }
        Err(error) => {
            refuse_by(error.kind(), |sentence| write!(sentence, "{error}"));
            0
        }
    }
}

/// Begins with the nodes. The input is the namespace's record (1), the store's floor (2), or neither (0). `node` is the only
/// node to claim, or negative. Returns whether the record is for this layout.
#[unsafe(no_mangle)]
pub extern "C" fn doctor_nodes(record: u32, node: f64, window_ms: u32) -> bool {
    let Some(look) = look() else { return false };
    let found = match record {
        1 => match NamespaceRecord::read_for(INPUT.get(), look.layout) {
            Ok((_, record)) => (Some(record), None),
            Err(refusal) => {
                refuse_by(refusal.kind(), |sentence| refusal.write(sentence, &look.namespace));
                return false;
            }
        },
        2 => match Floor::read(INPUT.get()) {
            Ok(floor) => (None, Some(floor)),
            Err(error) => {
                refuse_by(error.kind(), |sentence| write!(sentence, "{}: {error}", Floor::KEY));
                return false;
            }
        },
        _ => (None, None),
    };
    add(&Finding::Namespace(&look.namespace, found.0.is_some()));
    // A node is below 2^32.
    #[allow(clippy::cast_sign_loss, reason = "such a cast saturates")]
    let node = (node >= 0.0).then_some(node as u32);
    look.nodes = Some(StoreNodes::new(look.layout, node, u64::from(window_ms), found.0, found.1));
    true
}

/// Takes the record of a node, ascending, at `now_ms` (Unix ms).
#[unsafe(no_mangle)]
pub extern "C" fn doctor_see(node: u32, version: u64, now_ms: i64) {
    if let Some(nodes) = look().and_then(|look| look.nodes.as_mut()) {
        let record = Record::from_bytes(INPUT.get()).ok();
        nodes.see(node, record.as_ref().map(|record| (record, version)), now_ms);
    }
}

/// Ends the look at the nodes. `store_ms` is the store's clock, if it has one. Both times are Unix ms.
#[unsafe(no_mangle)]
pub extern "C" fn doctor_seen(now_ms: i64, has_clock: u32, store_ms: i64) {
    let Some(nodes) = look().and_then(|look| look.nodes.take()) else { return };
    let (outlook, tally) = nodes.end(now_ms, (has_clock > 0).then_some(store_ms));
    for finding in Finding::of_nodes(&outlook, &tally) {
        add(&finding);
    }
}

/// Ends the look. Returns the length of the output, negative if something must be mended.
#[unsafe(no_mangle)]
pub extern "C" fn doctor_end() -> i32 {
    let len = OUTPUT.get().len() as i32;
    if LOOK.get().take().is_some_and(|look| look.is_well) { len } else { -len }
}
