//! The commands of the Redis protocol.

use std::ops::{Range, RangeInclusive};

use bytes::BytesMut;
use snowmint_core::ErrorKind;
use snowmint_stores::Error;
use tokio::sync::{Semaphore, SemaphorePermit};

use super::reply::Reply;
use super::{Get, Resp, frame, info};
use crate::auth::{Role, role_of_command};
use crate::service::Failure;

/// The limit of the commands between MULTI and EXEC, in bytes.
const MAX_QUEUED_BYTES: usize = 256 * 1024;
/// A permit for each byte of such commands, over all connections.
static ROOM: Semaphore = Semaphore::const_new(32 * 1024 * 1024);

/// The error of a transaction without memory.
const BUSY: &str = "BUSY transactions of other clients take all memory for them: send this transaction again later";

/// A client's connection.
pub struct Session<'a> {
    shared: &'a Resp,
    /// The role of the client. `None` before it has sent a token that is needed.
    role: Option<Role>,
    resp3: bool,
    /// The commands since MULTI.
    queue: Option<Queue>,
    /// Whether the client has sent QUIT.
    pub over: bool,
}

/// Commands that wait for EXEC.
#[derive(Default)]
struct Queue {
    bytes: Vec<u8>,
    /// Whether a command was refused.
    refused: bool,
    room: Option<SemaphorePermit<'static>>,
}

impl Queue {
    /// Adds a command. `false` if the transactions of all clients take all memory.
    fn add(&mut self, command: &[u8]) -> bool {
        // EXEC runs no command after a refusal.
        if self.refused {
            return true;
        }
        // A command is at most 64 kB long.
        let room = u32::try_from(command.len()).ok().and_then(|bytes| ROOM.try_acquire_many(bytes).ok());
        let Some(room) = room.filter(|_| self.bytes.try_reserve(command.len()).is_ok()) else { return false };
        match &mut self.room {
            Some(before) => before.merge(room),
            before @ None => *before = Some(room),
        }
        self.bytes.extend_from_slice(command);
        true
    }
}

/// The words of a command, the name at place 0.
struct Words<'a> {
    buffer: &'a [u8],
    ranges: &'a [Range<usize>],
}

impl<'a> Words<'a> {
    fn get(&self, place: usize) -> &'a [u8] {
        self.ranges.get(place).map_or(&[], |range| &self.buffer[range.clone()])
    }

    /// Returns the name of the command in upper case, which takes `place`; no name for one that is longer than any.
    fn name<'p>(&self, place: &'p mut [u8; 16]) -> &'p [u8] {
        let Some(name) = place.get_mut(..self.get(0).len()) else { return b"" };
        name.copy_from_slice(self.get(0));
        name.make_ascii_uppercase();
        name
    }

    fn key(&self, place: usize) -> Result<&'a str, Error> {
        std::str::from_utf8(self.get(place))
            .map_err(|_| Error::new(ErrorKind::InvalidText, "a key must be UTF-8 text of 1 to 128 bytes"))
    }

    /// Reads an integer. As in Redis it has one form: no plus, no blanks, no zeros before it, and no minus before a zero.
    fn number(&self, place: usize) -> Result<i64, Error> {
        let text = std::str::from_utf8(self.get(place)).unwrap_or_default();
        let is_plain = text == "0" || !text.strip_prefix('-').unwrap_or(text).starts_with(['0', '+']);
        let number = text.parse().ok().filter(|_| is_plain);
        number.ok_or_else(|| Error::new(ErrorKind::InvalidId, "value is not an integer or out of range"))
    }
}

impl<'a> Session<'a> {
    pub fn new(shared: &'a Resp) -> Self {
        let role = shared.tokens.client(b"").map(|client| client.role);
        Self { shared, role, resp3: false, queue: None, over: false }
    }

    /// Returns whether the client may do anything.
    pub const fn is_known(&self) -> bool {
        self.role.is_some()
    }

    /// Runs a command, and appends its reply.
    pub async fn answer(&mut self, buffer: &[u8], ranges: &[Range<usize>], out: &mut BytesMut) {
        let words = Words { buffer, ranges };
        let counts = &self.shared.metrics.redis;
        counts.requests.inc();
        let reply = match self.in_transaction(&words) {
            Transaction::Answer(reply) => reply,
            Transaction::None => self.reply(&words).await,
            Transaction::Run(queue) => self.run_all(&queue.bytes).await,
        };
        reply.write(out, self.resp3);
    }

    async fn reply(&mut self, words: &Words<'_>) -> Reply {
        match self.run(words).await {
            Ok(reply) => reply,
            Err(error) => {
                self.shared.metrics.redis.failed(error.code());
                match error {
                    Failure::Busy(why) => Reply::Error(format!("{} {why}", Failure::BUSY)),
                    failure => Reply::Error(format!("ERR {} {failure}", failure.code())),
                }
            }
        }
    }

    /// Queues commands after MULTI, and refuses at once a command that EXEC could not run.
    fn in_transaction(&mut self, words: &Words<'_>) -> Transaction {
        if !self.is_known() {
            return Transaction::None;
        }
        let mut place = [0; 16];
        let name = words.name(&mut place);
        let error = |text: &str| Transaction::Answer(Reply::Error(text.to_owned()));
        let (shared, role) = (self.shared, self.role);
        match (name, &mut self.queue) {
            (b"MULTI" | b"EXEC" | b"DISCARD", queue) if words.ranges.len() != 1 => {
                if let Some(queue) = queue {
                    queue.refused = true;
                }
                Transaction::Answer(wrong_number(name))
            }
            (b"MULTI", Some(_)) => error("ERR MULTI calls can not be nested"),
            (b"MULTI", queue) => {
                *queue = Some(Queue::default());
                Transaction::Answer(Reply::Simple("OK"))
            }
            (b"EXEC" | b"DISCARD", queue) => match queue.take() {
                None => {
                    Transaction::Answer(Reply::Error(format!("ERR {} without MULTI", String::from_utf8_lossy(name))))
                }
                Some(_) if name == b"DISCARD" => Transaction::Answer(Reply::Simple("OK")),
                Some(queue) if queue.refused => {
                    error("EXECABORT Transaction discarded because of previous errors: no command ran")
                }
                Some(queue) => Transaction::Run(queue),
            },
            (_, None) | (b"QUIT", _) => Transaction::None,
            (_, Some(queue)) => {
                let fits = queue.bytes.len() + words.buffer.len() <= MAX_QUEUED_BYTES;
                let refusal = match arguments(name) {
                    None => Some(unknown(words)),
                    Some(counts) if !counts.contains(&words.ranges.len()) => Some(wrong_number(name)),
                    Some(_) if !fits => Some(Reply::Error("ERR a transaction takes at most 256 kB".to_owned())),
                    Some(_) => forbidden(shared, role, name)
                        .or_else(|| (!queue.add(words.buffer)).then(|| Reply::Error(BUSY.to_owned()))),
                };
                if let Some(refusal) = refusal {
                    *queue = Queue { refused: true, ..Queue::default() };
                    return Transaction::Answer(refusal);
                }
                Transaction::Answer(Reply::Simple("QUEUED"))
            }
        }
    }

    /// Runs the commands of a transaction, one after the other.
    async fn run_all(&mut self, mut commands: &[u8]) -> Reply {
        let (mut replies, mut ranges) = (Vec::new(), Vec::new());
        // Each command was read without an error before it was queued.
        while let Ok(Some(length)) = frame::read(commands, &mut ranges) {
            let (command, rest) = commands.split_at(length);
            replies.push(self.reply(&Words { buffer: command, ranges: &ranges }).await);
            commands = rest;
        }
        Reply::Array(replies)
    }

    async fn run(&mut self, words: &Words<'_>) -> Result<Reply, Failure> {
        let mut place = [0; 16];
        let name = words.name(&mut place);
        let service = &self.shared.service;
        if let Some(forbidden) = forbidden(self.shared, self.role, name) {
            return Ok(forbidden);
        }
        match (name, words.ranges.len()) {
            (b"AUTH", 2) => Ok(self.auth(words.get(1))),
            // The user name has no effect: the token decides the role.
            (b"AUTH", 3) => Ok(self.auth(words.get(2))),
            (b"HELLO", _) => Ok(self.hello(words)),
            (b"QUIT", 1) => {
                self.over = true;
                Ok(Reply::Simple("OK"))
            }
            _ if !self.is_known() => Ok(Reply::Error("NOAUTH Authentication required.".to_owned())),
            (b"INCR", 2) => self.next(words.key(1)?).await.map(Reply::Integer),
            (b"INCRBY", 3) => self.reserve(words.key(1)?, words.number(2)?).await.map(Reply::Integer),
            (b"GET", 2) if self.shared.get == Get::Peek => {
                let last = service.keys.last_if_there(words.key(1)?).await?;
                Ok(last.map_or(Reply::Nil, |last| Reply::Bulk(last.to_string().into_bytes())))
            }
            (b"GET", 2) => {
                let key = words.key(1)?;
                let next = match service.keys.try_next(key) {
                    Some(next) => Some(next),
                    None => service.keys.next_if_there(key).await?,
                };
                self.shared.metrics.redis.numbers.inc_by(u64::from(next.is_some()));
                Ok(next.map_or(Reply::Nil, |next| Reply::Bulk(next.to_string().into_bytes())))
            }
            (b"SET", 3) => {
                let value = u64::try_from(words.number(2)?).map_err(|_| {
                    Error::new(ErrorKind::InvalidId, "SET takes 0 to 2^63-2: numbers are never negative")
                })?;
                service.keys.set(words.key(1)?, value).await?;
                Ok(Reply::Simple("OK"))
            }
            (b"EXISTS", 2..) => {
                let mut there = 0;
                for place in 1..words.ranges.len() {
                    there += i64::from(service.keys.exists(words.key(place)?).await?);
                }
                Ok(Reply::Integer(there))
            }
            (b"DEL" | b"UNLINK", 2..) => {
                let mut gone = 0;
                for place in 1..words.ranges.len() {
                    gone += i64::from(service.keys.delete(words.key(place)?).await?);
                }
                Ok(Reply::Integer(gone))
            }
            (b"PING", 1) => Ok(Reply::Simple("PONG")),
            (b"PING" | b"ECHO", 2) => Ok(Reply::Bulk(words.get(1).to_vec())),
            (b"SELECT", 2) if words.get(1) == b"0" => Ok(Reply::Simple("OK")),
            (b"SELECT", 2) => Ok(Reply::Error("ERR DB index is out of range: the only keyspace is 0".to_owned())),
            (b"INFO", _) => Ok(info::info(self.shared)),
            // Client libraries send these when they connect.
            (b"CLIENT", 2..) => Ok(client(words)),
            (b"COMMAND", _) => Ok(Reply::Empty),
            _ if arguments(name).is_some() => Ok(wrong_number(name)),
            _ => Ok(unknown(words)),
        }
    }

    fn auth(&mut self, shown: &[u8]) -> Reply {
        if !self.shared.tokens.are_set() {
            return Reply::Error("ERR AUTH: this server needs no token".to_owned());
        }
        let Some(client) = self.shared.tokens.client(shown) else {
            self.shared.metrics.redis.failed("UNAUTHORIZED");
            return Reply::Error("WRONGPASS wrong token".to_owned());
        };
        self.role = Some(client.role);
        Reply::Simple("OK")
    }

    /// Runs `HELLO [2|3 [AUTH user token] [SETNAME name]]`.
    fn hello(&mut self, words: &Words<'_>) -> Reply {
        let resp3 = match words.get(1) {
            b"" => self.resp3,
            b"2" => false,
            b"3" => true,
            _ => return Reply::Error("NOPROTO unsupported protocol version".to_owned()),
        };
        let mut at = 2;
        while at < words.ranges.len() {
            if words.get(at).eq_ignore_ascii_case(b"AUTH") && at + 2 < words.ranges.len() {
                if let refused @ Reply::Error(_) = self.auth(words.get(at + 2)) {
                    return refused;
                }
                at += 3;
            } else if words.get(at).eq_ignore_ascii_case(b"SETNAME") && at + 1 < words.ranges.len() {
                at += 2;
            } else {
                return Reply::Error("ERR Syntax error in HELLO".to_owned());
            }
        }
        if !self.is_known() {
            return Reply::Error("NOAUTH HELLO must be called with AUTH default TOKEN, or after AUTH".to_owned());
        }
        self.resp3 = resp3;
        info::hello(resp3)
    }

    #[inline]
    async fn next(&self, key: &str) -> Result<i64, Failure> {
        let keys = &self.shared.service.keys;
        let next = match keys.try_next(key) {
            Some(next) => next,
            None => keys.next(key).await?,
        };
        self.shared.metrics.redis.numbers.inc();
        Ok(signed(next))
    }

    async fn reserve(&self, key: &str, count: i64) -> Result<i64, Failure> {
        let count = u64::try_from(count)
            .map_err(|_| Error::new(ErrorKind::InvalidId, "INCRBY takes 0 or more: numbers never go back"))?;
        let last = self.shared.service.keys.reserve(key, count).await?;
        self.shared.metrics.redis.numbers.inc_by(count);
        Ok(signed(last))
    }
}

/// The next step of a command with regard to MULTI and EXEC.
enum Transaction {
    /// There is no transaction: run the command.
    None,
    /// The reply is ready: the command was queued or refused, or controls the transaction.
    Answer(Reply),
    /// EXEC: run these commands.
    Run(Queue),
}

/// Returns how many words a command takes, its name included, or `None` for an unknown command.
fn arguments(name: &[u8]) -> Option<RangeInclusive<usize>> {
    Some(match name {
        b"QUIT" => 1..=1,
        b"PING" => 1..=2,
        b"GET" | b"INCR" | b"ECHO" | b"SELECT" => 2..=2,
        b"AUTH" => 2..=3,
        b"INCRBY" | b"SET" => 3..=3,
        b"EXISTS" | b"DEL" | b"UNLINK" | b"CLIENT" => 2..=usize::MAX,
        b"HELLO" | b"INFO" | b"COMMAND" => 1..=usize::MAX,
        _ => return None,
    })
}

/// Refuses a command that the client's role may not send.
fn forbidden(shared: &Resp, role: Option<Role>, name: &[u8]) -> Option<Reply> {
    if role.is_none_or(|role| role == Role::Admin) {
        return None;
    }
    let needed = role_of_command(name);
    if role >= Some(needed) {
        return None;
    }
    shared.metrics.redis.failed(Failure::FORBIDDEN);
    let name = String::from_utf8_lossy(name).to_ascii_lowercase();
    let (role, flag) = (needed.name(), needed.flag());
    Some(Reply::Error(format!("NOPERM '{name}' needs the role {role}: send AUTH with a token of {flag}")))
}

fn wrong_number(name: &[u8]) -> Reply {
    let name = String::from_utf8_lossy(name).to_ascii_lowercase();
    Reply::Error(format!("ERR wrong number of arguments for '{name}' command"))
}

/// Converts a number of a key. These are below 2^63.
fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

fn client(words: &Words<'_>) -> Reply {
    match words.get(1).to_ascii_uppercase().as_slice() {
        b"SETNAME" | b"SETINFO" => Reply::Simple("OK"),
        b"ID" => Reply::Integer(0),
        b"GETNAME" => Reply::Nil,
        _ => unknown(words),
    }
}

fn unknown(words: &Words<'_>) -> Reply {
    let name: String = String::from_utf8_lossy(words.get(0)).chars().take(64).collect();
    Reply::Error(format!(
        "ERR unknown command '{name}': use GET, INCR, INCRBY, SET, EXISTS, DEL, MULTI, EXEC, DISCARD, PING, ECHO, AUTH, \
         HELLO, SELECT, INFO or QUIT"
    ))
}
