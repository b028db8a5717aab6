//! A reply in RESP2 or RESP3.

use bytes::BytesMut;
use redis_protocol::resp2::encode as encode2;
use redis_protocol::resp2::types::BorrowedFrame as Two;
use redis_protocol::resp3::encode::complete as encode3;
use redis_protocol::resp3::types::{BorrowedFrame as Three, FrameMap};

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
    /// Appends the reply.
    pub fn write(&self, out: &mut BytesMut, resp3: bool) {
        if let Self::Array(replies) = self {
            out.extend_from_slice(format!("*{}\r\n", replies.len()).as_bytes());
            for reply in replies {
                reply.write(out, resp3);
            }
            return;
        }
        let begun = out.len();
        let written = if resp3 { self.write3(out) } else { self.write2(out) };
        if let Err(error) = written {
            // Unreachable with the frames below.
            tracing::error!(%error, "a reply was not written");
            out.truncate(begun);
            out.extend_from_slice(b"-ERR the answer cannot be written\r\n");
        }
    }

    fn write2(&self, out: &mut BytesMut) -> Result<usize, redis_protocol::error::RedisProtocolError> {
        let mut put = |frame: &Two<'_>| encode2::extend_encode_borrowed(out, frame, false);
        match self {
            Self::Simple(text) => put(&Two::SimpleString(text.as_bytes())),
            Self::Integer(number) => put(&Two::Integer(*number)),
            Self::Bulk(bytes) => put(&Two::BulkString(bytes)),
            Self::Nil => put(&Two::Null),
            Self::Error(text) => put(&Two::Error(&in_a_line(text))),
            Self::Empty | Self::Array(_) => put(&Two::Array(&[])),
            Self::Map(pairs) => {
                let names_and_values: Vec<_> =
                    pairs.iter().flat_map(|(name, value)| [Two::BulkString(name.as_bytes()), value.plain2()]).collect();
                put(&Two::Array(&names_and_values))
            }
        }
    }

    /// Returns the frame of a map's value. Values hold no further maps.
    fn plain2(&self) -> Two<'_> {
        match self {
            Self::Integer(number) => Two::Integer(*number),
            Self::Bulk(bytes) => Two::BulkString(bytes),
            Self::Simple(text) => Two::SimpleString(text.as_bytes()),
            Self::Empty | Self::Array(_) | Self::Map(_) => Two::Array(&[]),
            Self::Nil | Self::Error(_) => Two::Null,
        }
    }

    fn write3(&self, out: &mut BytesMut) -> Result<usize, redis_protocol::error::RedisProtocolError> {
        let mut put = |frame: &Three<'_>| encode3::extend_encode_borrowed(out, frame, false);
        match self {
            Self::Error(text) => put(&Three::SimpleError { data: &in_a_line(text), attributes: None }),
            Self::Map(pairs) => {
                let names_and_values: FrameMap<_, _> = pairs
                    .iter()
                    .map(|(name, value)| {
                        (Three::BlobString { data: name.as_bytes(), attributes: None }, value.plain3())
                    })
                    .collect();
                put(&Three::Map { data: &names_and_values, attributes: None })
            }
            plain => put(&plain.plain3()),
        }
    }

    fn plain3(&self) -> Three<'_> {
        match self {
            Self::Integer(number) => Three::Number { data: *number, attributes: None },
            Self::Bulk(bytes) => Three::BlobString { data: bytes, attributes: None },
            Self::Simple(text) => Three::SimpleString { data: text.as_bytes(), attributes: None },
            Self::Empty | Self::Array(_) | Self::Map(_) => Three::Array { data: &[], attributes: None },
            Self::Nil | Self::Error(_) => Three::Null,
        }
    }
}

/// Replaces line ends, which would end an error early.
fn in_a_line(text: &str) -> String {
    text.replace(['\r', '\n'], " ")
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
        assert_eq!(both(&Reply::Error("ERR a\r\nb".to_owned())), ["-ERR a  b\r\n"; 2]);
        assert_eq!(both(&Reply::Empty), ["*0\r\n"; 2]);
        let several = Reply::Array(vec![Reply::Integer(1), Reply::Nil, Reply::Error("ERR a".to_owned())]);
        assert_eq!(both(&several), ["*3\r\n:1\r\n$-1\r\n-ERR a\r\n", "*3\r\n:1\r\n_\r\n-ERR a\r\n"]);
        let map = Reply::Map(vec![("proto", Reply::Integer(3))]);
        assert_eq!(both(&map), ["*2\r\n$5\r\nproto\r\n:3\r\n", "%1\r\n$5\r\nproto\r\n:3\r\n"]);
    }
}
