//! Tickets from servers that are down, or count with a wrong increment or offset.

use std::collections::HashSet;

use proptest::prelude::*;
use snowmint_core::store::Reply;
use snowmint_core::ticket::{BACK_OFF_MS, Form, MAX_BACK_OFF_MS, MAX_INCREMENT, MAX_SERVERS, Take, Tickets, Turn};
use snowmint_core::{Error, ErrorKind};

/// Servers that give `offset`, `offset + increment` and so on.
struct Servers {
    form: Form,
    increment: u64,
    offsets: Vec<u64>,
    counts: Vec<u64>,
    down: Vec<bool>,
    /// The servers that were asked.
    asked: Vec<usize>,
}

impl Servers {
    fn new(form: Form, increment: u64, offsets: &[u64]) -> (Self, Tickets) {
        let tickets = Tickets::new(form, increment, offsets).expect("valid");
        let count = offsets.len();
        let (counts, down) = (vec![0; count], vec![false; count]);
        (Self { form, increment, offsets: offsets.to_vec(), counts, down, asked: Vec::new() }, tickets)
    }

    fn take(&mut self, tickets: &mut Tickets, start: u64, now_ms: u64) -> Result<u64, Error> {
        let (mut take, mut reply) = (Take::from(start), None);
        loop {
            match tickets.next(&mut take, reply, now_ms)? {
                Turn::Done(ticket) => return Ok(ticket),
                Turn::Ask(server) => {
                    self.asked.push(server);
                    reply = Some(self.answer(server));
                }
            }
        }
    }

    fn answer(&mut self, server: usize) -> Reply<std::convert::Infallible> {
        if self.down[server] {
            return Reply::Unknown;
        }
        self.counts[server] += 1;
        Reply::Sum(match self.form {
            Form::Counter => self.counts[server],
            Form::Ticket => (self.counts[server] - 1) * self.increment + self.offsets[server],
        })
    }

    fn asked(&mut self) -> Vec<usize> {
        std::mem::take(&mut self.asked)
    }
}

#[test]
fn two_of_three_servers_down_still_serves() {
    for form in [Form::Counter, Form::Ticket] {
        let (mut servers, mut tickets) = Servers::new(form, 3, &[1, 2, 3]);
        let mut take = |start| servers.take(&mut tickets, start, 0);
        assert_eq!([0, 1, 2, 3].map(&mut take), [Ok(1), Ok(2), Ok(3), Ok(4)]);
        (servers.down[0], servers.down[2]) = (true, true);
        let mut take = |start| servers.take(&mut tickets, start, 0);
        assert_eq!([0, 1, 2].map(&mut take), [Ok(5), Ok(8), Ok(11)]);
        servers.down[1] = true;
        let error = servers.take(&mut tickets, 0, 0).expect_err("all down");
        assert_eq!(error.kind(), ErrorKind::StoreUnavailable);
        assert_eq!(error.to_string(), "none of the 3 ticket servers answers");
        servers.down[2] = false;
        assert_eq!(servers.take(&mut tickets, 0, 0), Ok(6), "at once");
    }
}

#[test]
fn a_failed_server_comes_last_for_a_doubling_time() {
    let (mut servers, mut tickets) = Servers::new(Form::Counter, 2, &[1, 2]);
    servers.down[0] = true;
    let mut now_ms = 5;
    for back_off_ms in [1, 2, 4, 8, 16, 32, 32, 32].map(|times| times * BACK_OFF_MS) {
        servers.take(&mut tickets, 0, now_ms).expect("a ticket");
        assert_eq!(servers.asked(), [0, 1], "asked again");
        now_ms += back_off_ms;
        servers.take(&mut tickets, 0, now_ms - 1).expect("a ticket");
        assert_eq!(servers.asked(), [1], "left out");
    }
    assert_eq!(MAX_BACK_OFF_MS, 32 * BACK_OFF_MS);
    servers.down = vec![false, true];
    servers.take(&mut tickets, 1, now_ms).expect("a ticket");
    servers.take(&mut tickets, 1, now_ms).expect("a ticket");
    assert_eq!(servers.asked(), [1, 0, 0]);
    // Both failed lately: the server whose back-off ends first is asked first.
    servers.down = vec![true, true];
    servers.take(&mut tickets, 0, now_ms + 1).expect_err("all down");
    assert_eq!(servers.asked(), [0, 1]);
}

#[test]
fn a_single_failed_server_is_still_asked() {
    let (mut servers, mut tickets) = Servers::new(Form::Ticket, 1, &[1]);
    servers.down[0] = true;
    servers.take(&mut tickets, 9, 0).expect_err("down");
    servers.down[0] = false;
    assert_eq!(servers.take(&mut tickets, u64::MAX, 1), Ok(1));
}

#[test]
fn a_server_with_a_wrong_offset_is_refused() {
    let (mut servers, mut tickets) = Servers::new(Form::Ticket, 2, &[1, 2]);
    // A server without its offset.
    servers.offsets[1] = 1;
    let error = servers.take(&mut tickets, 1, 0).expect_err("a ticket of the other one");
    assert_eq!(error.kind(), ErrorKind::InvalidStore);
    assert_eq!(
        error.to_string(),
        "1 is not a ticket of a server with offset 2 and increment 2: set both on that server"
    );
    assert_eq!(servers.take(&mut tickets, 1, 0), Ok(1), "the other one is asked first now");
    servers.offsets[1] = 2;
    assert_eq!(servers.take(&mut tickets, 1, BACK_OFF_MS), Ok(4));
    // LAST_INSERT_ID() of a connection that has inserted nothing.
    let mut take = Take::from(1);
    assert_eq!(tickets.next(&mut take, None, 9999), Ok(Turn::Ask(1)));
    assert!(tickets.next(&mut take, Some(Reply::Sum(0)), 9999).is_err());
}

#[test]
fn tickets_have_64_bits_and_counters_63() {
    let ask = |form, answer| {
        let mut tickets = Tickets::new(form, 3, &[3, 1]).expect("valid");
        let mut take = Take::from(0);
        tickets.next(&mut take, None, 0).expect("asked");
        tickets.next(&mut take, Some(Reply::Sum(answer)), 0)
    };
    assert_eq!(ask(Form::Ticket, u64::MAX), Ok(Turn::Done(u64::MAX)), "it is a multiple of 3");
    let last = (1 << 63) / 3;
    assert_eq!(ask(Form::Counter, last), Ok(Turn::Done(last * 3)));
    for answer in [last + 1, u64::MAX / 3 + 1, u64::MAX] {
        assert_eq!(ask(Form::Counter, answer).map_err(|error| error.kind()), Err(ErrorKind::Exhausted));
    }
    assert_eq!(ask(Form::Counter, 0).map_err(|error| error.kind()), Err(ErrorKind::StoreUnavailable));
}

#[test]
fn servers_have_different_offsets_up_to_the_increment() {
    let many: Vec<u64> = (1..=33).collect();
    let refused: [(u64, &[u64]); 7] =
        [(1, &[]), (0, &[1]), (2, &[0, 1]), (2, &[1, 3]), (2, &[1, 1]), (33, &many), (MAX_INCREMENT + 1, &[1])];
    for (increment, offsets) in refused {
        let error = Tickets::new(Form::Ticket, increment, offsets).expect_err("invalid");
        assert_eq!(error.kind(), ErrorKind::InvalidId);
        assert_eq!(
            error.to_string(),
            "tickets need 1 to 32 servers with different offsets from 1 to the increment, and an increment of at most 65535"
        );
    }
    assert!(Tickets::new(Form::Ticket, MAX_INCREMENT, &many[..MAX_SERVERS]).is_ok());
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_ticket_is_given_twice_while_servers_come_and_go(
        ticket: bool,
        script in proptest::collection::vec((any::<u64>(), 0u64..2000, any::<[bool; 4]>()), 1..100),
    ) {
        let form = if ticket { Form::Ticket } else { Form::Counter };
        let (mut servers, mut tickets) = Servers::new(form, 5, &[4, 1, 5, 2]);
        let (mut given, mut now_ms) = (HashSet::new(), 0);
        for (start, passed_ms, down) in script {
            now_ms += passed_ms;
            servers.down = down.to_vec();
            let ticket = servers.take(&mut tickets, start, now_ms);
            prop_assert_eq!(ticket.is_err(), down == [true; 4]);
            prop_assert!(ticket.is_err() || ticket.is_ok_and(|ticket| given.insert(ticket) && ticket > 0 && ticket % 5 != 3));
            let asked = servers.asked();
            prop_assert!(asked.len() <= 4 && asked.iter().collect::<HashSet<_>>().len() == asked.len());
        }
    }
}
