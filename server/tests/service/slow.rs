//! A slow path to a store, like the path to another machine.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{sleep, spawn};
use std::time::{Duration, Instant};

/// A proxy in front of a real server: passes bytes on, in order, after a delay.
pub struct Way {
    port: u16,
    to: u16,
    state: Arc<State>,
}

#[derive(Default)]
struct State {
    /// The delay of each direction.
    delay_ms: AtomicU64,
    stopped: AtomicBool,
    /// Whether bytes are held back.
    holds: AtomicBool,
}

impl Way {
    /// Opens a path to the server of a URL on this machine, without a delay.
    pub fn to(url: &str) -> Self {
        let port = url.rsplit_once(':').expect("a port").1;
        let to = port.chars().take_while(char::is_ascii_digit).collect::<String>().parse().expect("a port");
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let way = Self { port: listener.local_addr().expect("an address").port(), to, state: Arc::default() };
        let state = Arc::clone(&way.state);
        spawn(move || {
            for client in listener.incoming().map_while(Result::ok) {
                let Ok(server) = TcpStream::connect(("127.0.0.1", to)) else { continue };
                for stream in [&client, &server] {
                    stream.set_nodelay(true).expect("set");
                }
                pass(clone(&client), clone(&server), Arc::clone(&state));
                pass(server, client, Arc::clone(&state));
            }
        });
        way
    }

    /// Returns the URL that leads through the proxy.
    pub fn url(&self, url: &str) -> String {
        url.replace(&format!(":{}", self.to), &format!(":{}", self.port))
    }

    /// Sets the delay of both directions together, in ms.
    pub fn takes_ms(&self, ms: u64) {
        self.state.delay_ms.store(ms / 2, Ordering::Relaxed);
    }

    /// Holds all bytes back, or lets them pass again.
    pub fn stop(&self, stopped: bool) {
        self.state.stopped.store(stopped, Ordering::Relaxed);
    }

    /// Waits until bytes have been held back.
    pub fn wait_until_it_holds(&self) {
        let begun = Instant::now();
        while !self.state.holds.load(Ordering::Relaxed) {
            assert!(begun.elapsed() < Duration::from_mins(1), "nothing comes");
            sleep(Duration::from_millis(5));
        }
    }
}

fn clone(stream: &TcpStream) -> TcpStream {
    stream.try_clone().expect("a second handle")
}

/// Passes on the bytes of one direction.
fn pass(mut from: TcpStream, to: TcpStream, state: Arc<State>) {
    let (sender, receiver): (Sender<(Instant, Vec<u8>)>, _) = channel();
    let writing = Arc::clone(&state);
    spawn(move || write(to, &receiver, &writing));
    spawn(move || {
        let mut buffer = vec![0; 64 * 1024];
        while let Ok(read @ 1..) = from.read(&mut buffer) {
            let due = Instant::now() + Duration::from_millis(state.delay_ms.load(Ordering::Relaxed));
            if sender.send((due, buffer[..read].to_vec())).is_err() {
                return;
            }
        }
    });
}

fn write(mut to: TcpStream, receiver: &Receiver<(Instant, Vec<u8>)>, state: &State) {
    for (due, bytes) in receiver {
        sleep(due.saturating_duration_since(Instant::now()));
        while state.stopped.load(Ordering::Relaxed) {
            state.holds.store(true, Ordering::Relaxed);
            sleep(Duration::from_millis(5));
        }
        if to.write_all(&bytes).is_err() {
            return;
        }
    }
    // The sender has closed its side.
    let _ = to.shutdown(std::net::Shutdown::Both);
}
