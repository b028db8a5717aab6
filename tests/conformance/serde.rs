//! IDs and layouts in formats of serde: JSON, and a binary one.

use serde::de::DeserializeOwned;
use serde::de::value::BytesDeserializer;
use serde::{Deserialize as _, Serialize};
use snowmint_core::{Error, Id, Layout, ObjectId, Ulid, Uuid, layouts};

const UUID: &str = "017f22e2-79b0-7cc3-98c4-dc0c0c07398f";
const ULID: &str = "01ARYZ6S410000000000000000";
const OBJECT_ID: &str = "507f1f77bcf86cd799439011";

fn json<T: Serialize + DeserializeOwned + PartialEq + std::fmt::Debug>(value: &T, text: &str) {
    let quoted = format!("\"{text}\"");
    assert_eq!(serde_json::to_string(value).expect("it writes"), quoted);
    assert_eq!(serde_json::from_str::<T>(&quoted).expect("it reads"), *value);
}

/// A length, then the bytes: the binary format has no types.
fn binary<T: Serialize + DeserializeOwned + PartialEq + std::fmt::Debug>(value: &T, bytes: &[u8]) {
    let written = postcard::to_allocvec(value).expect("it writes");
    assert_eq!((usize::from(written[0]), &written[1..]), (bytes.len(), bytes));
    assert_eq!(postcard::from_bytes::<T>(&written).expect("it reads"), *value);
}

fn refused<T: DeserializeOwned + std::fmt::Debug>(json: &str) -> String {
    serde_json::from_str::<T>(json).expect_err(json).to_string()
}

#[test]
fn ids_are_texts_in_json_and_bytes_in_binary() {
    let uuid: Uuid = UUID.parse().expect("a UUID");
    let ulid: Ulid = ULID.parse().expect("a ULID");
    let object_id: ObjectId = OBJECT_ID.parse().expect("an ObjectId");
    json(&uuid, UUID);
    json(&ulid, ULID);
    json(&object_id, OBJECT_ID);
    binary(&uuid, &uuid.to_bytes());
    binary(&ulid, &ulid.to_bytes());
    binary(&object_id, &object_id.to_bytes());
}

#[test]
fn a_64_bit_id_is_digits_in_json_and_a_number_in_binary() {
    for number in [0, 1 << 53, u64::MAX] {
        let id = Id::new(number);
        json(&id, &number.to_string());
        assert_eq!(serde_json::from_str::<Id>(&number.to_string()).expect("a number"), id);
        let written = postcard::to_allocvec(&id).expect("it writes");
        assert_eq!(written, postcard::to_allocvec(&number).expect("it writes"));
        assert_eq!(postcard::from_bytes::<Id>(&written).expect("it reads"), id);
    }
    assert!(refused::<Id>("\"-1\"").starts_with("an ID is 1 to 20 digits"));
    assert!(refused::<Id>("-1").contains("expected an ID: decimal digits in a string, or a number of 64 bits"));
}

#[test]
fn ids_are_keys_of_maps() {
    let uuid: Uuid = UUID.parse().expect("a UUID");
    let map = std::collections::HashMap::from([(uuid, 1)]);
    assert_eq!(serde_json::to_string(&map).expect("it writes"), format!("{{\"{UUID}\":1}}"));
}

#[test]
fn a_layout_is_its_text_and_presets_are_read_by_name() {
    let text = layouts::TWITTER.to_string();
    json(&layouts::TWITTER, &text);
    binary(&layouts::TWITTER, text.as_bytes());
    assert_eq!(serde_json::from_str::<Layout>("\"twitter\"").expect("a preset"), layouts::TWITTER);
}

#[test]
fn other_texts_are_refused_in_the_words_of_core() {
    for (message, core) in [
        (refused::<Uuid>("\"017f22e2\""), "017f22e2".parse::<Uuid>().map(drop)),
        (refused::<Ulid>("\"\""), "".parse::<Ulid>().map(drop)),
        (refused::<ObjectId>("\"507f\""), "507f".parse::<ObjectId>().map(drop)),
        (refused::<Layout>("\"myspace\""), Layout::preset("myspace").map(drop)),
        (refused::<Layout>("\"time:65;epoch=0\""), Layout::parse("time:65;epoch=0").map(drop)),
    ] {
        let core = core.expect_err("not a text of it").to_string();
        assert!(message.starts_with(&core), "{message}");
    }
    assert!(refused::<Uuid>("5").starts_with("invalid type: integer `5`, expected a UUID"));
    // The binary format drops messages, and serde's own deserializer of bytes keeps them.
    assert!(postcard::from_bytes::<Uuid>(&[&[15][..], &[0; 15]].concat()).is_err());
    let short = BytesDeserializer::<serde::de::value::Error>::new(&[0; 15]);
    let message = Uuid::deserialize(short).expect_err("15 bytes").to_string();
    assert_eq!(message, Error::id_bytes(16, 15).to_string());
}
