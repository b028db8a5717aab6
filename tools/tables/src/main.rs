//! `snowmint-tables FOLDER`: writes core's tables for JavaScript, as TypeScript. The sentences of each wasm module are a file
//! of their own, so that a page loads only those of the modules that it loads.

use std::path::PathBuf;
use std::{env, fs, io};

use snowmint_core::ksuid::Ksuid;
use snowmint_core::lease::{NOT_SNOWMINT, REFUSALS, TOKEN_REFUSED};
use snowmint_core::mask::{Mask, MaskKey, UuidMask};
use snowmint_core::prefix::{self, Prefix};
use snowmint_core::ulid::UlidState;
use snowmint_core::{
    Error, ErrorKind, Integer, Layout, ObjectId, Options, TextForm, Ulid, Uuid, UuidForm, Window, Xid, layouts, scatter,
};

fn main() -> io::Result<()> {
    let folder = PathBuf::from(env::args_os().nth(1).expect("the argument is the folder of the files"));
    for (name, text) in tables() {
        fs::write(folder.join(name), format!("// Generated from core by tools/tables.\n\n{text}"))?;
    }
    Ok(())
}

/// Returns the place of an error's sentence.
fn place(error: Option<Error>) -> usize {
    error.and_then(|error| usize::try_from(error.to_words()[0]).ok()).expect("these calls fail, and rows are few")
}

/// What comes up where IDs change their form.
fn forms() -> Vec<usize> {
    let text = |text: &str| place(TextForm::Decimal.decode(text).err());
    vec![
        place(Integer::Beyond.id().err()),
        text(""),
        text("0000000000000000000x"),
        text("99999999999999999999"),
        place(scatter::reverse_bits(u64::MAX).err()),
        place(scatter::rotate_digits(0, 1).err()),
        place(scatter::rotate_digits(u64::MAX >> 1, 1).err()),
        place(scatter::shard_high(0, 64).err()),
    ]
}

/// What comes up with IDs of 128, 160 and 96 bits.
fn wide() -> Vec<usize> {
    let last_ulid = Ulid::from_bits((1 << 80) - 1);
    vec![
        place("".parse::<Uuid>().err()),
        place("".parse::<Ulid>().err()),
        place("".parse::<ObjectId>().err()),
        place(Some(Error::id_bytes(16, 0))),
        place(Ulid::from_parts(0, u128::MAX).err()),
        place(Ulid::from_parts(-1, 0).err()),
        place(Ulid::from_parts(i64::MAX, 0).err()),
        place(UlidState::after(last_ulid).next(0, || 0).err()),
        place("".parse::<Ksuid>().err()),
        place("".parse::<Xid>().err()),
        place(UuidForm::find("").err()),
        place(UuidForm::Base58.decode("").err()),
        place(Uuid::v7_range(1, 0).err()),
    ]
}

/// What comes up with prefixed IDs.
fn prefixes() -> Vec<usize> {
    let read = |text: &str| place(prefix::decode::<u64>("a", text).err());
    vec![
        place(Integer::Beyond.id().err()),
        place("".parse::<Uuid>().err()),
        place(Prefix::new("_").err()),
        read("b_0000000000000"),
        read("a_"),
        read("a_000000000000l"),
        read("a_g000000000000"),
    ]
}

/// What comes up with masks.
fn masks() -> Vec<usize> {
    let key = MaskKey::new([0; 16]).expect("16 bytes");
    vec![
        place(Integer::Beyond.id().err()),
        place("".parse::<Uuid>().err()),
        place(MaskKey::new([]).err()),
        place(MaskKey::parse("").err()),
        place(Mask::new(key).with_tweak([0; 65]).err()),
        place(Mask::new(key).with_digits(0).err()),
        place(Mask::new(key).encode(u64::MAX).err()),
        place(Mask::new(key).with_digits(6).and_then(|mask| mask.encode(u64::MAX)).err()),
        place(UuidMask::new(key).encode(Uuid::NIL).err()),
    ]
}

/// What JavaScript looks up itself, so that the wasm modules need no texts: the sentences of errors and the texts of
/// presets; and what it would otherwise have to ask for.
fn tables() -> [(&'static str, String); 7] {
    let rows: Vec<(&str, &str)> = snowmint_core::sentences().collect();
    let row = |at: usize| format!("{:?}", format!("{} {}", rows[at].0, camel_case(rows[at].1)));
    // What cannot come up in the module that mints keeps its place, without a text: it has no windows that end or have a
    // length, and no forks. The rows after the name of a text form are of other modules, or of machines that none here has.
    let last = place(TextForm::find("").err());
    let length = place(Window::length_ms(&layouts::SNOWMINT, Some(0), 0, 0).err());
    let never = |at: usize| {
        at == length
            || rows[at].0 == ErrorKind::Forked.code()
            || (rows[at].0 == ErrorKind::WindowClosed.code() && at != place(Some(Error::closed())))
    };
    let sentences = (0..=last).map(|at| format!("  {},\n", if never(at) { "\"\"".to_owned() } else { row(at) }));
    // What comes up in a module with windows, beside what the one that mints knows.
    let leases = (0..rows.len()).filter(|at| never(*at) && rows[*at].0 != ErrorKind::Forked.code() && *at <= last);
    let leases = leases.chain(snowmint_core::lease::sentences()).map(|at| format!("  {at}: {},\n", row(at)));
    let sorted = |mut places: Vec<usize>| {
        places.sort_unstable();
        places.iter().map(|at| format!("  {at}: {},\n", row(*at))).collect::<Vec<_>>().concat()
    };
    let presets = layouts::all().map(|(name, layout)| format!("  {name}: \"{layout}\",\n"));
    let table = |of: &str, rows: String| {
        format!(
            "/** \"CODE sentence\" of what can fail in the module of {of}, by place. */\nexport const SENTENCES: Record<number, string> = {{\n{rows}}};\n"
        )
    };
    let main = format!(
        r#"/** The places of errors that come up outside core. */
export const CLOSED = {};
export const NO_PRESET = {};
export const NO_FORM = {};
export const WINDOW_OVER = {};

/** The lengths of windows of slots and over other stores, where a caller gives none, ms. */
export const SLOT_MS = {};
export const ENGINE_MS = {};

/** `maxAheadMs` and `maxWaitMs` where a caller gives none: of calls that wait without blocking, in Node, and in browsers. */
export const AHEAD_MS = {};
export const WAIT_MS = {};
export const EVENT_LOOP_WAIT_MS = {};
export const NONBLOCKING_AHEAD_MS = {};
export const NONBLOCKING_WAIT_MS = {};

/** "CODE sentence" of what can fail in the module that mints, in the order of core's errors. */
export const SENTENCES = [
{}];

/** The texts of the presets by name, in the order of the documentation. */
export const PRESETS = {{
{}}} as const;
"#,
        place(Some(Error::closed())),
        place(Layout::preset("").err()),
        place(TextForm::find("").err()),
        place(Some(Error::window_over())),
        Window::SLOT_MS,
        Window::ENGINE_MS,
        Options::DEFAULT.max_ahead_ms,
        Options::DEFAULT.max_wait_ms,
        Options::EVENT_LOOP.max_wait_ms,
        Options::NONBLOCKING.max_ahead_ms,
        Options::NONBLOCKING.max_wait_ms,
        sentences.collect::<String>(),
        presets.collect::<String>(),
    );
    let namespaces = format!(
        r#"
/** The namespaces of versions 3 and 5. */
export const NAMESPACE_DNS = "{}";
export const NAMESPACE_URL = "{}";
export const NAMESPACE_OID = "{}";
export const NAMESPACE_X500 = "{}";
"#,
        Uuid::NAMESPACE_DNS,
        Uuid::NAMESPACE_URL,
        Uuid::NAMESPACE_OID,
        Uuid::NAMESPACE_X500,
    );
    [
        ("tables.ts", main),
        ("tables.service.ts", service()),
        ("tables.forms.ts", table("text forms and scatter", sorted(forms()))),
        ("tables.lease.ts", table("leases, beside those of the module that mints", leases.collect())),
        ("tables.wide.ts", table("UUIDs, ULIDs, ObjectIds, KSUIDs and xids", sorted(wide())) + &namespaces),
        ("tables.prefix.ts", table("prefixed IDs", sorted(prefixes()))),
        ("tables.mask.ts", table("masks", sorted(masks()))),
    ]
}

/// What `HttpStore` makes of answers that are no leases.
fn service() -> String {
    format!(
        r"/** The codes of the service's refusals; an answer with any other code is a `STORE_UNAVAILABLE`. */
export const REFUSALS: readonly string[] = {REFUSALS:?};

/** The sentences about a refused token, and about an `{{answer}}` that no service of snowmint gives. */
export const TOKEN_REFUSED = {TOKEN_REFUSED:?};
export const NOT_SNOWMINT = {NOT_SNOWMINT:?};
"
    )
}

/// A sentence with the names of options as JavaScript has them: `max_wait_ms` is `maxWaitMs`.
fn camel_case(sentence: &str) -> String {
    let mut text = String::new();
    let mut rest = sentence.chars().peekable();
    while let Some(character) = rest.next() {
        let letter = rest.next_if(|next| character == '_' && next.is_ascii_lowercase());
        text.push(letter.map_or(character, |letter| letter.to_ascii_uppercase()));
    }
    text
}
