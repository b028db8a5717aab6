//! A proxy in front of a server that lets a test act between two requests.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, Shutdown, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

type Hook = (Vec<u8>, Box<dyn FnOnce() + Send>);

/// Passes bytes on, in order.
pub struct Hooked {
    port: u16,
    hook: Arc<Mutex<Option<Hook>>>,
}

impl Hooked {
    /// Starts a proxy in front of a port.
    pub fn before(server: u16) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port");
        let port = listener.local_addr().expect("an address").port();
        let hook = Arc::new(Mutex::new(None));
        let hooks = Arc::clone(&hook);
        thread::spawn(move || {
            for client in listener.incoming() {
                let (Ok(client), Ok(server)) = (client, TcpStream::connect((Ipv4Addr::LOCALHOST, server))) else {
                    return;
                };
                let (back, forth) = (client.try_clone().expect("a socket"), server.try_clone().expect("a socket"));
                let hooks = Arc::clone(&hooks);
                thread::spawn(move || pass(client, forth, |request| act(&hooks, request)));
                thread::spawn(move || pass(server, back, |_| ()));
            }
        });
        Self { port, hook }
    }

    /// Returns the URL of the server with the port of this proxy.
    pub fn url(&self, url: &str, server: u16) -> String {
        url.replace(&format!(":{server}"), &format!(":{}", self.port))
    }

    /// Acts once, before the next request with `marker` passes.
    pub fn act_before(&self, marker: &str, act: impl FnOnce() + Send + 'static) {
        *self.hook.lock().expect("no panic") = Some((marker.as_bytes().to_vec(), Box::new(act)));
    }
}

fn act(hooks: &Mutex<Option<Hook>>, request: &[u8]) {
    let is_there = |(marker, _): &mut Hook| request.windows(marker.len()).any(|part| part == marker.as_slice());
    let found = hooks.lock().expect("no panic").take_if(is_there);
    if let Some((_, act)) = found {
        act();
    }
}

fn pass(mut from: TcpStream, mut to: TcpStream, seen: impl Fn(&[u8])) {
    let mut bytes = vec![0; 1 << 16];
    while let Ok(count @ 1..) = from.read(&mut bytes) {
        seen(&bytes[..count]);
        if to.write_all(&bytes[..count]).is_err() {
            break;
        }
    }
    let _ = to.shutdown(Shutdown::Both);
}
