//! Commands: what a client of Redis does to have numbers.

use std::ops::Range;

use bytes::BytesMut;
use snowmint_core::ErrorKind;
use snowmint_stores::Error;

use super::reply::Reply;
use super::{Resp, info};

/// One client.
pub struct Session<'a> {
    shared: &'a Resp,
    known: bool,
    resp3: bool,
    /// Whether the client is done.
    pub over: bool,
}

/// The words after the first, as text where they are keys.
struct Words<'a> {
    buffer: &'a [u8],
    ranges: &'a [Range<usize>],
}

impl<'a> Words<'a> {
    fn get(&self, place: usize) -> &'a [u8] {
        self.ranges.get(place).map_or(&[], |range| &self.buffer[range.clone()])
    }

    fn key(&self, place: usize) -> Result<&'a str, Error> {
        std::str::from_utf8(self.get(place))
            .map_err(|_| Error::told(ErrorKind::InvalidText, "a key is text in UTF-8, of 1 to 128 bytes"))
    }

    fn number(&self, place: usize) -> Result<i64, Error> {
        let text = std::str::from_utf8(self.get(place)).ok().filter(|text| !text.starts_with('+'));
        text.and_then(|text| text.parse().ok())
            .ok_or_else(|| Error::told(ErrorKind::InvalidId, "value is not an integer or out of range"))
    }
}

impl<'a> Session<'a> {
    pub fn new(shared: &'a Resp) -> Self {
        Self { shared, known: !shared.token.is_set(), resp3: false, over: false }
    }

    /// Does what a command says, and appends the answer.
    pub async fn answer(&mut self, buffer: &[u8], ranges: &[Range<usize>], out: &mut BytesMut) {
        let words = Words { buffer, ranges };
        let counts = &self.shared.metrics.redis;
        counts.requests.inc();
        let reply = match self.do_it(&words).await {
            Ok(reply) => reply,
            Err(error) => {
                counts.failed(error.code());
                Reply::Error(format!("ERR {} {error}", error.code()))
            }
        };
        reply.write(out, self.resp3);
    }

    async fn do_it(&mut self, words: &Words<'_>) -> Result<Reply, Error> {
        let mut name = [0; 16];
        let name = match name.get_mut(..words.get(0).len()) {
            Some(name) => {
                name.copy_from_slice(words.get(0));
                name.make_ascii_uppercase();
                &*name
            }
            None => b"",
        };
        let service = &self.shared.service;
        match (name, words.ranges.len()) {
            (b"AUTH", 2) => Ok(self.auth(words.get(1))),
            // The user does not matter: there is one token.
            (b"AUTH", 3) => Ok(self.auth(words.get(2))),
            (b"HELLO", _) => Ok(self.hello(words)),
            (b"QUIT", 1) => {
                self.over = true;
                Ok(Reply::Simple("OK"))
            }
            _ if !self.known => Ok(Reply::Error("NOAUTH Authentication required.".to_owned())),
            (b"INCR", 2) => self.next(words.key(1)?).await.map(Reply::Integer),
            (b"INCRBY", 3) => self.reserve(words.key(1)?, words.number(2)?).await.map(Reply::Integer),
            (b"GET", 2) => {
                let key = words.key(1)?;
                let next = match service.keys.at_hand(key) {
                    Some(next) => Some(next),
                    None => service.keys.next_if_there(key).await?,
                };
                self.shared.metrics.redis.numbers.inc_by(u64::from(next.is_some()));
                Ok(next.map_or(Reply::Nil, |next| Reply::Bulk(next.to_string().into_bytes())))
            }
            (b"SET", 3) => {
                let value = u64::try_from(words.number(2)?)
                    .map_err(|_| Error::told(ErrorKind::InvalidId, "numbers are 0 or more, so no key is set below"))?;
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
            (b"SELECT", 2) => words.number(1).map(|_| Reply::Simple("OK")),
            (b"INFO", _) => Ok(info::info(self.shared)),
            // What clients ask on their own account.
            (b"CLIENT", 2..) => Ok(client(words)),
            (b"COMMAND", _) => Ok(Reply::Empty),
            (
                b"AUTH" | b"QUIT" | b"INCR" | b"INCRBY" | b"GET" | b"SET" | b"EXISTS" | b"DEL" | b"UNLINK" | b"PING"
                | b"ECHO" | b"SELECT" | b"CLIENT",
                _,
            ) => {
                let name = String::from_utf8_lossy(name).to_ascii_lowercase();
                Ok(Reply::Error(format!("ERR wrong number of arguments for '{name}' command")))
            }
            _ => Ok(unknown(words)),
        }
    }

    fn auth(&mut self, shown: &[u8]) -> Reply {
        if !self.shared.token.is_set() {
            return Reply::Error("ERR AUTH: this server has no token, so none is needed".to_owned());
        }
        if !self.shared.token.is(shown) {
            self.shared.metrics.redis.failed("UNAUTHORIZED");
            return Reply::Error("WRONGPASS this is not the token".to_owned());
        }
        self.known = true;
        Reply::Simple("OK")
    }

    /// `HELLO [2|3 [AUTH user token] [SETNAME name]]`.
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
        if !self.known {
            return Reply::Error("NOAUTH HELLO must be called with AUTH default TOKEN, or after AUTH".to_owned());
        }
        self.resp3 = resp3;
        info::hello(resp3)
    }

    #[inline]
    async fn next(&self, key: &str) -> Result<i64, Error> {
        let keys = &self.shared.service.keys;
        let next = match keys.at_hand(key) {
            Some(next) => next,
            None => keys.next(key).await?,
        };
        self.shared.metrics.redis.numbers.inc();
        Ok(signed(next))
    }

    async fn reserve(&self, key: &str, count: i64) -> Result<i64, Error> {
        let count = u64::try_from(count)
            .map_err(|_| Error::told(ErrorKind::InvalidId, "numbers do not go back: INCRBY takes 0 and more"))?;
        let last = self.shared.service.keys.reserve(key, count).await?;
        self.shared.metrics.redis.numbers.inc_by(count);
        Ok(signed(last))
    }
}

/// Numbers are below 2^63.
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
        "ERR unknown command '{}': there are GET, INCR, INCRBY, SET, EXISTS, DEL, PING, ECHO, AUTH, HELLO, SELECT, INFO \
         and QUIT",
        name.escape_debug()
    ))
}
