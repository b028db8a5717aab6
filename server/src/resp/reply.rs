//! A reply in RESP2 or RESP3.

use std::fmt::{self, Write as _};

use bytes::BytesMut;
use snowmint_core::shown::Shown;

/// A reply to a client.
#[derive(Debug, PartialEq, Eq)]
pub enum Reply {
    Simple(&'static str),
    Integer(i64),
    Bulk(Vec<u8>),
    Nil,
    /// A text that begins with a code, such as `ERR`.
    Error(String),
    Empty,
    /// The replies of a transaction.
    Array(Vec<Self>),
    /// Names and values: in RESP2 a flat array.
    Map(Vec<(&'static str, Self)>),
}

impl Reply {
    /// Appends the reply, in the form of the [protocol](https://redis.io/docs/latest/develop/reference/protocol-spec/).
    pub fn write(&self, out: &mut BytesMut, resp3: bool) {
        match self {
            Self::Simple(text) => line(out, format_args!("+{text}")),
            Self::Integer(number) => line(out, format_args!(":{number}")),
            Self::Bulk(bytes) => bulk(out, bytes),
            Self::Nil => line(out, format_args!("{}", if resp3 { "_" } else { "$-1" })),
            // A line end would end the error early.
            Self::Error(text) => line(out, format_args!("-{}", Shown(text))),
            Self::Empty => line(out, format_args!("*0")),
            Self::Array(replies) => {
                line(out, format_args!("*{}", replies.len()));
                for reply in replies {
                    reply.write(out, resp3);
                }
            }
            Self::Map(pairs) => {
                let head = if resp3 { ('%', pairs.len()) } else { ('*', 2 * pairs.len()) };
                line(out, format_args!("{}{}", head.0, head.1));
                for (name, value) in pairs {
                    bulk(out, name.as_bytes());
                    value.write(out, resp3);
                }
            }
        }
    }
}

fn line(out: &mut BytesMut, text: fmt::Arguments<'_>) {
    // The buffer grows as needed, so writing never fails.
    let _ = write!(out, "{text}\r\n");
}

fn bulk(out: &mut BytesMut, bytes: &[u8]) {
    line(out, format_args!("${}", bytes.len()));
    out.extend_from_slice(bytes);
    out.extend_from_slice(b"\r\n");
}

#[cfg(test)]
mod tests {
    use super::*;

    fn both(reply: &Reply) -> [String; 2] {
        [false, true].map(|resp3| {
            let mut out = BytesMut::new();
            reply.write(&mut out, resp3);
            String::from_utf8(out.to_vec()).expect("text")
        })
    }

    #[test]
    fn replies_are_written_as_redis_does() {
        assert_eq!(both(&Reply::Simple("OK")), ["+OK\r\n"; 2]);
        assert_eq!(both(&Reply::Integer(-5)), [":-5\r\n"; 2]);
        assert_eq!(both(&Reply::Bulk(b"12".to_vec())), ["$2\r\n12\r\n"; 2]);
        assert_eq!(both(&Reply::Nil), ["$-1\r\n", "_\r\n"]);
        assert_eq!(both(&Reply::Error("ERR a\r\nb".to_owned())), ["-ERR a\\r\\nb\r\n"; 2]);
        assert_eq!(both(&Reply::Empty), ["*0\r\n"; 2]);
        let several = Reply::Array(vec![Reply::Integer(1), Reply::Nil, Reply::Error("ERR a".to_owned())]);
        assert_eq!(both(&several), ["*3\r\n:1\r\n$-1\r\n-ERR a\r\n", "*3\r\n:1\r\n_\r\n-ERR a\r\n"]);
        let map = Reply::Map(vec![("proto", Reply::Integer(3))]);
        assert_eq!(both(&map), ["*2\r\n$5\r\nproto\r\n:3\r\n", "%1\r\n$5\r\nproto\r\n:3\r\n"]);
    }
}
