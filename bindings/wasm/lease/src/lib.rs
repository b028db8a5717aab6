//! Leases by handle: core's machines that claim a node and renew its window, for a driver in JavaScript that calls the
//! store.
//!
//! Most functions return the next step as a place in [`Next`]. Its values are in the words, and a record in the text.
//! Times are Unix ms.
#![cfg(target_arch = "wasm32")]
#![no_std]
#![allow(unsafe_code, reason = "an export keeps its name; unsafe blocks are in the glue")]
#![allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, clippy::cast_precision_loss)]

use core::fmt::Write;

use glue::{TEXT, Text, Told, answer, buffer, escape, failed, keep, kept, kept_mut};
use snowmint_core::bytes::label;
use snowmint_core::lease::{
    self, Claim, ClaimStep, Floor, NamespaceName, NamespaceRecord, NamespaceRefusal, RECORD_BYTES, Record, Renewal,
    RenewalStep, Terms,
};
use snowmint_core::store::{Ask, KeyPart, Reply};
use snowmint_core::{Error, Layout, Numbers, Window, Words};

/// The next step of the driver: the function to call with the reply, and in brackets the words with the step's values.
#[repr(u32)]
enum Next {
    /// `pinned`.
    ReadLayout,
    /// `floor`.
    ReadFloor,
    /// `pinning` (length, version). The record is in the text.
    WriteLayout,
    /// `see` and `skip`, then `seen`.
    List,
    /// `clock`.
    Clock,
    /// `replied` (node).
    Read,
    /// `replied` (node, version); the record is in the text.
    Write,
    /// The window is durable (node, start, end, whether there is a skew, skew).
    Window,
    /// Try again after that time (ms); or give up with the error, which `take_error` returns.
    Wait,
    /// Try again at once, or give up with the error.
    Taken,
    /// The store has not answered.
    Unanswered,
    /// There is an error.
    Failed,
    /// The lease is over, and there is an error.
    Lost,
    /// The namespace's record is not a layout (length); the sentence is in the text.
    NoLayout,
    /// The namespace is of another layout (length); the sentence is in the text.
    AnotherLayout,
    Released,
}

/// A lease, granted or not.
struct Held {
    layout: &'static Layout,
    /// The layout as the namespace's record has it, or will have it.
    pinned: Layout,
    flow: Flow,
}

#[allow(clippy::large_enum_variant, reason = "there are few")]
enum Flow {
    Claim(Claim<'static>),
    Renewal(Renewal),
}

/// A new handle of a claim. Words: two of the nonce. The text: `label_len` bytes of the label in UTF-8, then the layout.
/// `window_ms`, `last_node` and `node` are `NaN` if missing. Word 0 of the answer: the length of a window.
#[unsafe(no_mangle)]
pub extern "C" fn claim(
    max_ahead_ms: f64,
    window_ms: f64,
    default_ms: f64,
    last_node: f64,
    node: f64,
    system_clock: bool,
    now_ms: f64,
    label_len: u32,
    len: u32,
) -> i32 {
    let buffer = buffer();
    let (told, layout) = buffer.text(len).split_at_checked(label_len as usize).unwrap_or_default();
    let label = label(str::from_utf8(told).unwrap_or_default());
    let layout: &'static Layout = match Layout::parse(layout) {
        Ok(layout) => kept(keep(layout)),
        Err(error) => return failed(error),
    };
    let length = length_ms(layout, max_ahead_ms, window_ms, default_ms);
    let length = length.and_then(|ms| layout.refuse_outside(now_ms as i64).map(|()| ms));
    answer(length, |window_ms| {
        let terms = Terms {
            layout,
            node: (!node.is_nan()).then_some(node as u32),
            max_ahead_ms: max_ahead_ms as u64,
            window_ms,
            last_node: (!last_node.is_nan()).then_some(last_node as u32),
            system_clock,
            nonce: u128::from(buffer.words[0]) | u128::from(buffer.words[1]) << 64,
            label,
        };
        buffer.words[0] = window_ms;
        keep(Held { layout, pinned: *layout, flow: Flow::Claim(Claim::new(terms)) })
    })
}

/// Refuses windows that a claim would refuse, for a generator that shares an existing lease. Words: the layout's
/// numbers.
#[unsafe(no_mangle)]
pub extern "C" fn check_window(max_ahead_ms: f64, window_ms: f64, default_ms: f64) -> i32 {
    answer(length_ms(&layout_of_words(), max_ahead_ms, window_ms, default_ms), |_| 0)
}

fn numbers() -> Numbers {
    let mut words = [0; 7];
    words.copy_from_slice(&buffer().words[..7]);
    Numbers::from_words(words)
}

fn layout_of_words() -> Layout {
    Numbers::layout_of(numbers().to_words())
}

fn length_ms(layout: &Layout, max_ahead_ms: f64, window_ms: f64, default_ms: f64) -> Result<u64, Error> {
    let given = (!window_ms.is_nan()).then_some(window_ms as u64);
    Window::length_ms(layout, given, default_ms as u64, max_ahead_ms as u64)
}

/// Whether the caller vouches for the node that it gives.
#[unsafe(no_mangle)]
pub extern "C" fn is_vouched(has_store: bool, has_namespace: bool) -> bool {
    lease::is_vouched(has_store, has_namespace)
}

/// Refuses a lease of one node that the caller excludes, or that this realm uses without a lease.
#[unsafe(no_mangle)]
pub extern "C" fn check_node(node: u32, is_excluded: bool, is_vouched: bool) -> i32 {
    answer(lease::check_node(node, is_excluded, is_vouched), |()| 0)
}

/// Writes a namespace as a part of keys into the text, and returns its length: the name in the text if it is given,
/// otherwise the default name of the layout in the words.
#[unsafe(no_mangle)]
pub extern "C" fn namespace(is_given: bool, len: u32) -> i32 {
    let name = Told::take(len);
    let name = if is_given { NamespaceName::new(name.text()) } else { Ok(NamespaceName::Default(numbers())) };
    answer(name, |name| {
        let mut text = Text { len: 0 };
        let _ = write!(KeyPart::new(&mut text), "{name}");
        text.len as u32
    })
}

/// The ms from a renewal to the next one.
#[unsafe(no_mangle)]
pub extern "C" fn renewal_pause_ms(window_ms: f64, has_failed: bool) -> f64 {
    lease::renewal_pause_ms(window_ms as u64, has_failed) as f64
}

/// How far a lessor's clock is ahead of the monotonic clock, in µs; `before_us` is `NaN` for the first answer.
#[unsafe(no_mangle)]
pub extern "C" fn lessor_ahead_us(before_us: f64, clock_ms: f64, sent_us: f64, heard_us: f64) -> f64 {
    let before_us = (!before_us.is_nan()).then_some(before_us as i64);
    lease::lessor_ahead_us(before_us, clock_ms as i64, sent_us as i64, heard_us as i64) as f64
}

/// Passes on the namespace's record (version 0: no record). The text: the name of the namespace, then the record.
#[unsafe(no_mangle)]
pub extern "C" fn pinned(lease: u32, version: f64, name_len: u32, len: u32) -> u32 {
    let held = held(lease);
    held.pinned = *held.layout;
    if version == 0.0 {
        return claiming(lease, |claiming| claiming.namespace(None));
    }
    let told = Told::take((name_len + len).min(TEXT as u32));
    let (name, record) = told.bytes().split_at(name_len as usize);
    let record = record.get(..len as usize).unwrap_or(b" ");
    match NamespaceRecord::read_for(record, held.layout) {
        Ok((first, namespace)) => {
            held.pinned = first;
            claiming(lease, |claiming| claiming.namespace(Some((namespace, version as u64))))
        }
        Err(refusal) => {
            let mut text = Text { len: 0 };
            let _ = refusal.write(&mut text, str::from_utf8(name).unwrap_or_default());
            buffer().words[0] = text.len as u64;
            match refusal {
                NamespaceRefusal::NoLayout => Next::NoLayout as u32,
                NamespaceRefusal::AnotherLayout(_) => Next::AnotherLayout as u32,
            }
        }
    }
}

/// Replaces the count of nodes in the namespace's record in the text, for a store that puts back a part of its records. Returns
/// the new length. Other texts stay.
#[unsafe(no_mangle)]
pub extern "C" fn recounted(len: u32, nodes: f64) -> u32 {
    let told = Told::take(len);
    let Ok((layout, namespace)) = NamespaceRecord::read(told.bytes()) else { return len };
    let namespace = NamespaceRecord { nodes: nodes as u64, ..namespace };
    let mut text = Text { len: 0 };
    let _ = write!(text, "{}{namespace}", str::from_utf8(layout).unwrap_or_default());
    text.len as u32
}

/// Passes on the store's floor in the text (length 0: no floor).
#[unsafe(no_mangle)]
pub extern "C" fn floor(lease: u32, len: u32) -> u32 {
    match (len > 0).then(|| Floor::read(buffer().text(len))).transpose() {
        Ok(floor) => claiming(lease, |claiming| claiming.floor(floor)),
        Err(error) => {
            failed(error);
            Next::Failed as u32
        }
    }
}

/// Passes on the outcome of writing the namespace's record: 0 no answer, 1 the store holds another version, 2 written
/// as `version`.
#[unsafe(no_mangle)]
pub extern "C" fn pinning(lease: u32, outcome: u32, version: f64) -> u32 {
    let reply = match outcome {
        0 => Reply::Unknown,
        1 => Reply::Conflict,
        _ => Reply::Written(version as u64),
    };
    claiming(lease, |claiming| claiming.namespace_reply(reply))
}

/// Excludes a node that cannot be claimed.
#[unsafe(no_mangle)]
pub extern "C" fn skip(lease: u32, node: u32) {
    if let Flow::Claim(claiming) = &mut held(lease).flow {
        claiming.skip(node);
    }
}

/// Passes on a node and its record in the text. Returns 0, or 1 if the text is not a record. Fails if a later version
/// of this package wrote the record.
#[unsafe(no_mangle)]
pub extern "C" fn see(lease: u32, node: u32, version: f64, now_ms: f64, len: u32) -> i32 {
    let Flow::Claim(claiming) = &mut held(lease).flow else { return 1 };
    match Record::from_bytes(buffer().text(len)) {
        Ok(record) => {
            claiming.see(node, &record, version as u64, now_ms as i64);
            0
        }
        Err(error) if error.is_later_version() => failed(error),
        Err(_) => {
            claiming.skip(node);
            1
        }
    }
}

/// Ends the list of nodes; `records` is the count of nodes that have a record, valid or not.
#[unsafe(no_mangle)]
pub extern "C" fn seen(lease: u32, now_ms: f64, records: f64) -> u32 {
    claiming(lease, |claiming| claiming.listed(now_ms as i64, records as u64))
}

/// Says that the chosen node cannot be claimed after all.
#[unsafe(no_mangle)]
pub extern "C" fn again(lease: u32) -> u32 {
    claiming(lease, Claim::again)
}

/// Writes the escape of a character that is never shown as it is, and returns its length; 0 for any other character.
#[unsafe(no_mangle)]
pub extern "C" fn shown(code: u32) -> u32 {
    escape(code)
}

/// Writes the label of the busy node's holder into the text, after `Wait` for a node that the caller names. Returns its
/// length; 0 if there is no such holder.
#[unsafe(no_mangle)]
pub extern "C" fn holder(lease: u32) -> u32 {
    let Flow::Claim(claiming) = &held(lease).flow else { return 0 };
    let mut text = Text { len: 0 };
    if let Some(record) = claiming.holder() {
        let _ = record.label_text().write(&mut text);
    }
    text.len as u32
}

/// Passes on the clocks of the store (`NaN`: the store has no clock) and of this host.
#[unsafe(no_mangle)]
pub extern "C" fn clock(lease: u32, store_ms: f64, own_ms: f64) -> u32 {
    let store_ms = (!store_ms.is_nan()).then_some(store_ms as i64);
    let held = held(lease);
    match &mut held.flow {
        Flow::Claim(claiming) => {
            let todo = claiming.clock(store_ms, own_ms as i64);
            held.take(&todo)
        }
        Flow::Renewal(keeping) => next_of(keeping.clock(store_ms, own_ms as i64), keeping.node()),
    }
}

/// Passes on the outcome of a read or write: 0 no answer, 1 the store holds another version, 2 written as `version`, 3
/// read the record in the text (length 0: no record) with that version.
#[unsafe(no_mangle)]
pub extern "C" fn replied(lease: u32, outcome: u32, version: f64, len: u32) -> u32 {
    let version = version as u64;
    let reply = match outcome {
        0 => Reply::Unknown,
        1 => Reply::Conflict,
        2 => Reply::Written(version),
        _ if len == 0 => Reply::Record(None, version),
        _ => match Record::from_bytes(buffer().text(len)) {
            Ok(record) => Reply::Record(Some(record), version),
            Err(error) => {
                failed(error);
                return Next::Failed as u32;
            }
        },
    };
    let held = held(lease);
    match &mut held.flow {
        Flow::Claim(claiming) => {
            let todo = claiming.reply(reply);
            held.take(&todo)
        }
        Flow::Renewal(keeping) => next_of(keeping.reply(reply), keeping.node()),
    }
}

/// Starts a renewal, for a generator whose first unused tick begins at `last_ms`. The new window ends `reach_ms` past
/// the clock.
#[unsafe(no_mangle)]
pub extern "C" fn renew(lease: u32, now_ms: f64, last_ms: f64, reach_ms: f64) -> u32 {
    keeping(lease, |keeping| keeping.renew(now_ms as i64, last_ms as i64, reach_ms as u64))
}

/// Starts a release of the rest of the window; no time from `end_ms` on was used.
#[unsafe(no_mangle)]
pub extern "C" fn release(lease: u32, end_ms: f64) -> u32 {
    keeping(lease, |keeping| keeping.release(end_ms as i64))
}

/// Writes the state with which `resume` keeps the lease elsewhere. Words: node, version; the record is in the text.
#[unsafe(no_mangle)]
pub extern "C" fn save(lease: u32) {
    if let Flow::Renewal(keeping) = &held(lease).flow {
        let (record, version) = keeping.saved();
        asked(Ask::Write(record, version), keeping.node());
    }
}

/// Whether two records in the text, one after the other, have the same holder. The arguments are their lengths.
#[unsafe(no_mangle)]
pub extern "C" fn is_held(first: u32, second: u32) -> bool {
    let (found, saved) = buffer().text(first + second).split_at(first as usize);
    let (found, saved) = (Record::from_bytes(found), Record::from_bytes(saved));
    found.is_ok_and(|found| saved.is_ok_and(|saved| found.is_held_by(saved.nonce)))
}

/// Resumes a saved lease: `Window`, or `Failed` if the text is not a record.
#[unsafe(no_mangle)]
pub extern "C" fn resume(lease: u32, node: u32, version: f64, len: u32) -> u32 {
    let held = held(lease);
    let system_clock = match &held.flow {
        Flow::Claim(claiming) => claiming.terms().system_clock,
        Flow::Renewal(keeping) => keeping.system_clock(),
    };
    match Record::from_bytes(buffer().text(len)) {
        Ok(record) => {
            let keeping = Renewal::resume(node, record, version as u64, system_clock);
            let granted = window(node, keeping.window(), None);
            held.flow = Flow::Renewal(keeping);
            granted
        }
        Err(error) => {
            failed(error);
            Next::Failed as u32
        }
    }
}

/// Opens the cell in words 0 and 1 for the window; if not `first`, extends the open cell to the window's end.
#[unsafe(no_mangle)]
pub extern "C" fn open_cell(lease: u32, first: bool, start_ms: f64, end_ms: f64) {
    let layout = held(lease).layout;
    let window = Window { start_ms: start_ms as i64, end_ms: end_ms as i64 };
    let words = Words::of(cell());
    if first {
        words.open(layout, window);
    } else {
        words.extend(layout, window.end_ms);
    }
    buffer().words[..2].copy_from_slice(&words.to_words());
}

/// The instant at which the first unused tick of the cell in words 0 and 1 begins; `NaN` if the cell is closed.
#[unsafe(no_mangle)]
pub extern "C" fn unused_from(lease: u32) -> f64 {
    Words::of(cell()).unused_from_ms(held(lease).layout).map_or(f64::NAN, |ms| ms as f64)
}

fn cell() -> [u64; 2] {
    [buffer().words[0], buffer().words[1]]
}

fn held(lease: u32) -> &'static mut Held {
    kept_mut(lease)
}

fn keeping(lease: u32, step: impl FnOnce(&mut Renewal) -> RenewalStep) -> u32 {
    let Flow::Renewal(keeping) = &mut held(lease).flow else { return Next::Released as u32 };
    next_of(step(keeping), keeping.node())
}

fn claiming(lease: u32, step: impl FnOnce(&mut Claim<'static>) -> ClaimStep) -> u32 {
    let held = held(lease);
    let Flow::Claim(claiming) = &mut held.flow else { return Next::Released as u32 };
    let todo = step(claiming);
    held.take(&todo)
}

impl Held {
    fn take(&mut self, todo: &ClaimStep) -> u32 {
        let next = match *todo {
            ClaimStep::ReadNamespace => Next::ReadLayout,
            ClaimStep::ReadFloor => Next::ReadFloor,
            ClaimStep::WriteNamespace(pin, version) => {
                let mut text = Text { len: 0 };
                let _ = write!(text, "{}{pin}", self.pinned);
                buffer().words[..2].copy_from_slice(&[text.len as u64, version]);
                Next::WriteLayout
            }
            ClaimStep::ListNodes => Next::List,
            ClaimStep::ReadClock => Next::Clock,
            ClaimStep::Ask(node, ask) => return asked(ask, node),
            ClaimStep::Granted(renewal, skew_ms) => {
                self.flow = Flow::Renewal(renewal);
                return window(renewal.node(), renewal.window(), skew_ms);
            }
            ClaimStep::Wait(wait_ms, error) => {
                failed(error);
                buffer().words[0] = wait_ms;
                Next::Wait
            }
            ClaimStep::Taken(error) => {
                failed(error);
                Next::Taken
            }
            ClaimStep::Unanswered => Next::Unanswered,
            ClaimStep::Refused(error) => {
                failed(error);
                Next::Failed
            }
        };
        next as u32
    }
}

fn next_of(keep: RenewalStep, node: u32) -> u32 {
    let next = match keep {
        RenewalStep::ReadClock => Next::Clock,
        RenewalStep::Ask(ask) => return asked(ask, node),
        RenewalStep::Window(durable, skew_ms) => return window(node, durable, skew_ms),
        RenewalStep::Later(None) => Next::Unanswered,
        RenewalStep::Later(Some(error)) => {
            failed(error);
            Next::Failed
        }
        RenewalStep::Lost(error) => {
            failed(error);
            Next::Lost
        }
        RenewalStep::Released => Next::Released,
    };
    next as u32
}

fn asked(ask: Ask<Record>, node: u32) -> u32 {
    let buffer = buffer();
    buffer.words[0] = u64::from(node);
    let Ask::Write(record, version) = ask else { return Next::Read as u32 };
    buffer.words[1] = version;
    buffer.text[..RECORD_BYTES].copy_from_slice(&record.to_bytes());
    Next::Write as u32
}

fn window(node: u32, window: Window, skew_ms: Option<i64>) -> u32 {
    buffer().words[..5].copy_from_slice(&[
        u64::from(node),
        window.start_ms as u64,
        window.end_ms as u64,
        u64::from(skew_ms.is_some()),
        skew_ms.unwrap_or_default() as u64,
    ]);
    Next::Window as u32
}
