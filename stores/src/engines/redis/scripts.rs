//! The steps that are more than one command, as Lua: the server does nothing else meanwhile, and each writes once, so it is
//! in the append-only file as a whole or not at all.
//!
//! Numbers stay strings, as those of Lua are doubles, which are exact up to 2^53 only.

use ::redis::Script;

/// A hash; a field, the version that is expected, and what to put there.
const WRITE: &str = r"
local version = '0'
local there = redis.call('HGET', KEYS[1], ARGV[1])
if there then
  version = string.match(there, '^(%d+):')
  if not version then return redis.error_reply('ERR not a record of snowmint: ' .. ARGV[1]) end
end
if version ~= ARGV[2] then return 0 end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[3])
return 1
";

/// A counter; what to add, and what it is afterwards if it is new, or nothing. Nil if it would be too much.
const ADD: &str = r"
if redis.call('EXISTS', KEYS[1]) == 0 then
  if ARGV[2] == '' then return false end
  redis.call('SET', KEYS[1], ARGV[2])
  return ARGV[2]
end
local done = redis.pcall('INCRBY', KEYS[1], ARGV[1])
if type(done) == 'table' and done.err then
  if string.find(done.err, 'overflow', 1, true) then return false end
  return done
end
return redis.call('GET', KEYS[1])
";

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
