//! The steps that are more than one command, as Lua: the server does nothing else meanwhile, and each writes once, so it is
//! in the append-only file as a whole or not at all.
//!
//! Numbers stay strings, as those of Lua are doubles, which are exact up to 2^53 only.

use ::redis::Script;

use crate::scripts::{ADD, WRITE};

/// A counter; what it has to be, and what it becomes then.
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
        Self { write: Script::new(WRITE), add: Script::new(ADD), lower: Script::new(LOWER) }
    }
}
