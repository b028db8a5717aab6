//! Formatted numbers.

use alloc::string::{String, ToString};
use alloc::vec::Vec;

use js_sys::Object;
use snowmint_core::formatted::{Date, Definition, Overflow, Pattern, Period, StoreClock, Zone, refuse_cycle};
use snowmint_core::sequence::Options;
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;

use super::sequences::value;
use crate::convert::{integer, set};
use crate::error::raise;

/// A pattern, the sequence of each period, and the clock of the store.
#[wasm_bindgen]
pub struct Formatted {
    definition: Definition,
    clock: StoreClock,
}

#[wasm_bindgen]
impl Formatted {
    /// Reads a pattern. Missing options are undefined.
    #[wasm_bindgen(constructor)]
    pub fn new(
        pattern: &str,
        period: Option<String>,
        zone: Option<String>,
        overflow: Option<String>,
        start: Option<String>,
        increment: Option<String>,
    ) -> Result<Formatted, JsValue> {
        let read = || {
            let period = period.as_deref().map_or(Ok(Period::default()), Period::find)?;
            let zone = zone.as_deref().map_or(Ok(Zone::default()), Zone::parse)?;
            let overflow = overflow.as_deref().map_or(Ok(Overflow::default()), Overflow::find)?;
            let [start, increment] = [&start, &increment].map(|digits| digits.as_deref().map(value));
            Definition::new(Pattern::new(pattern, period, zone, overflow)?, start, increment)
        };
        Ok(Self { definition: read().map_err(raise)?, clock: StoreClock::default() })
    }

    /// Refuses a name that has no room for the period.
    #[wasm_bindgen(js_name = refuseName)]
    pub fn refuse_name(&self, name: &str) -> Result<(), JsValue> {
        self.definition.pattern().period().refuse_name(name).map_err(raise)
    }

    /// Returns the definition of the sequence of each period.
    #[wasm_bindgen(getter)]
    pub fn record(&self) -> Vec<u8> {
        self.definition.sequence().to_string().into_bytes()
    }

    /// Returns whether texts show a time.
    #[wasm_bindgen(getter, js_name = showsTime)]
    pub fn shows_time(&self) -> bool {
        self.definition.pattern().shows_time()
    }

    /// Returns whether the clock of the store should be read. The time is of the monotonic clock, ms.
    #[wasm_bindgen(js_name = isStale)]
    pub fn is_stale(&self, now_ms: f64) -> bool {
        self.clock.is_stale(us(now_ms))
    }

    /// Returns whether the store has answered.
    #[wasm_bindgen(getter, js_name = isKnown)]
    pub fn is_known(&self) -> bool {
        self.clock.is_known()
    }

    /// Takes the clock of the store: Unix ms, NaN if the store has none. The other times are of the monotonic clock, ms.
    pub fn heed(&mut self, clock_ms: f64, sent_ms: f64, heard_ms: f64) {
        let clock_ms = (!clock_ms.is_nan()).then_some(clock_ms as i64);
        self.clock.heed(clock_ms, us(sent_ms), us(heard_ms));
    }

    /// Returns the time that a text shows, in Unix ms, from the time of this host and from the monotonic clock, ms.
    #[wasm_bindgen(js_name = timeMs)]
    pub fn time_ms(&self, own_ms: f64, now_ms: f64) -> f64 {
        self.clock.time_ms(own_ms as i64, us(now_ms)) as f64
    }

    /// Returns the name of the sequence that counts at a time, in Unix ms.
    pub fn sequence(&self, name: &str, unix_ms: f64) -> Result<String, JsValue> {
        let period = self.definition.pattern().period_at(unix_ms as i64).map_err(raise)?;
        period.sequence(name).map(|name| name.to_string()).map_err(raise)
    }

    /// Returns the text of a number at a time, in Unix ms.
    pub fn text(&self, number: &str, unix_ms: f64) -> Result<String, JsValue> {
        let text = self.definition.pattern().format(integer(number), unix_ms as i64).map_err(raise)?;
        Ok(text.to_string())
    }

    /// Reads a text back. Parts of the date that the text does not show are undefined.
    pub fn parse(&self, text: &str) -> Result<Object, JsValue> {
        let reading = self.definition.pattern().parse(text).map_err(raise)?;
        let Date { year, month, day, hour } = reading.date();
        let found = Object::new();
        set(&found, "number", reading.number());
        set(&found, "period", reading.period().to_string());
        set(&found, "year", year);
        set(&found, "month", month);
        set(&found, "day", day);
        set(&found, "hour", hour);
        Ok(found)
    }
}

fn us(ms: f64) -> i64 {
    (ms * 1000.0) as i64
}

/// Returns whether the definition of a sequence cycles.
#[wasm_bindgen]
pub fn cycles(definition: &[u8]) -> Result<bool, JsValue> {
    Options::read(definition).map(|options| options.cycle).map_err(raise)
}

/// Refuses a sequence that cycles.
#[wasm_bindgen(js_name = refuseCycle)]
pub fn refuse(cycle: bool) -> Result<(), JsValue> {
    refuse_cycle(cycle).map_err(raise)
}
