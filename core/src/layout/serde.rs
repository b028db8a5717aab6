//! The traits of serde: a layout is its text in every format.

use core::fmt;

use serde_core::de::{self, Deserialize, Deserializer, Visitor};
use serde_core::ser::{Serialize, Serializer};

use super::Layout;

/// Writes the canonical text.
impl Serialize for Layout {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// Reads the text of a layout or the name of a preset, as [`Layout::find`] does.
impl<'de> Deserialize<'de> for Layout {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_str(Reader)
    }
}

/// Reads the text of a layout or the name of a preset.
struct Reader;

impl Visitor<'_> for Reader {
    type Value = Layout;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the text of a layout, or the name of a preset")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Layout, E> {
        Layout::find(text).map_err(E::custom)
    }
}
