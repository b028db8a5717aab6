//! Steps of several commands, in Lua. The server runs a script alone. Each script writes once, so the append-only file has
//! all of it or nothing.
//!
//! Numbers stay strings: Lua's numbers are doubles, exact only up to 2^53.

use ::redis::Script;

use crate::scripts::{REDIS_ADD, REDIS_WRITE};

/// Key: a counter. Arguments: its expected and its new number.
const LOWER: &str = r"
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
redis.call('SET', KEYS[1], ARGV[2])
return 1
";

pub(super) struct Scripts {
    pub(super) write: Script,
    pub(super) add: Script,
    pub(super) lower: Script,
}

impl Default for Scripts {
    fn default() -> Self {
        Self { write: Script::new(REDIS_WRITE), add: Script::new(REDIS_ADD), lower: Script::new(LOWER) }
    }
}
