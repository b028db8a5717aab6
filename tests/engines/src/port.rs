//! Ports of the loopback, each for one server of these tests at a time.

use std::fs::{self, File};
use std::net::{Ipv4Addr, TcpListener};
use std::os::unix::fs::MetadataExt;
use std::sync::atomic::{AtomicU32, Ordering};

/// A port that no other server of these tests gets while this value lives: also while its own server is down, in which time
/// another process could start one there, and clients would take it for theirs.
#[derive(Debug)]
pub struct Port {
    number: u16,
    /// The lock on a file of this number, which all processes of these tests lock.
    _lock: File,
}

impl Port {
    /// Takes a free port.
    ///
    /// It is below the ports that the kernel gives to clients, so that no connection has it. It is below 22,768, because Redis
    /// as a cluster also uses the port 10,000 above it.
    pub fn free() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let user = fs::metadata("/proc/self").expect("this process").uid();
        let locks = std::env::temp_dir().join(format!("snowmint-ports-{user}"));
        fs::create_dir_all(&locks).expect("a directory of locks");
        loop {
            // Processes start at different ports, and a process tries a port again only after all others.
            let number = std::process::id().wrapping_mul(97).wrapping_add(NEXT.fetch_add(1, Ordering::Relaxed));
            let number = 10_000 + u16::try_from(number % 12_768).expect("less than 12,768");
            let lock = File::create(locks.join(number.to_string())).expect("a lock");
            if lock.try_lock().is_ok() && TcpListener::bind((Ipv4Addr::LOCALHOST, number)).is_ok() {
                return Self { number, _lock: lock };
            }
        }
    }

    /// Returns the number of the port.
    pub const fn number(&self) -> u16 {
        self.number
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn nobody_gets_a_port_whose_server_is_down() {
        let first = Port::free();
        let locks =
            std::env::temp_dir().join(format!("snowmint-ports-{}", fs::metadata("/proc/self").expect("it").uid()));
        let other = File::open(locks.join(first.number().to_string())).expect("its lock");
        assert!(other.try_lock().is_err(), "another process could take {first:?}");
        drop(first);
        assert!(other.try_lock().is_ok());
        let ports: Vec<_> = (0..100).map(|_| Port::free()).collect();
        assert_eq!(ports.iter().map(Port::number).collect::<BTreeSet<_>>().len(), 100);
    }
}
