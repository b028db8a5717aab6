//! Every store does the same: one suite, on real servers.

#[cfg(feature = "engines")]
mod crashes;
#[cfg(feature = "engines")]
mod etcd_only;
#[cfg(feature = "engines")]
mod faults;
#[cfg(feature = "engines")]
mod file_only;
mod forks;
#[cfg(feature = "engines")]
mod leases;
#[cfg(feature = "engines")]
mod live_settings;
#[cfg(feature = "engines")]
mod mariadb_only;
mod numbers;
#[cfg(feature = "engines")]
mod outages;
#[cfg(feature = "engines")]
mod postgres_only;
#[cfg(feature = "engines")]
mod redis_only;
#[cfg(feature = "engines")]
mod restores;
mod scene;
#[cfg(feature = "engines")]
mod server_settings;
#[cfg(feature = "engines")]
mod side_by_side;
#[cfg(feature = "engines")]
mod sql_scenes;
#[cfg(feature = "engines")]
mod sqlite_only;
#[path = "../faults/support.rs"]
mod support;
mod verbs;
#[cfg(feature = "engines")]
mod zookeeper_only;

use scene::{Kind, shared};
#[cfg(feature = "engines")]
use snowmint_tests::engines::Engine;

/// One test for each property of a list, on a store.
macro_rules! holds {
    ($kind:expr; $($group:ident::$property:ident,)*) => {
        $(#[test]
        fn $property() {
            shared($kind).run($group::$property);
        })*
    };
}

/// What every store does.
macro_rules! store {
    ($kind:expr) => {
        holds! { $kind;
            verbs::a_record_is_written_only_over_the_version_that_was_seen,
            verbs::of_many_writers_at_once_one_is_first,
            verbs::a_list_has_every_record_right_under_its_prefix_and_no_other,
            verbs::values_and_keys_come_back_as_they_are,
            verbs::a_counter_begins_at_its_start_and_gives_each_sum_once,
            verbs::a_counter_ends_at_2_63_and_stays,
            verbs::numbers_are_given_back_only_by_who_had_the_last,
            verbs::a_clock_is_within_a_minute_of_ours,
            numbers::a_segment_gives_the_numbers_of_its_tag_from_the_first_on,
            numbers::segments_of_several_clients_never_repeat,
            numbers::numbers_of_a_closed_segment_are_given_back,
            numbers::tickets_count_in_steps_from_their_offsets_whichever_store_gives_them,
            numbers::another_number_or_order_of_ticket_stores_is_refused,
            numbers::a_sequence_does_what_psql_shows,
            numbers::a_sequence_is_as_it_was_created_for_every_session,
            numbers::a_sequence_of_several_sessions_never_repeats,
            numbers::every_user_of_a_section_goes_on_above_all_its_numbers_after_a_restart,
            numbers::a_section_has_one_allocator_at_a_time_and_another_after_it,
            numbers::another_size_of_sections_is_refused,
            numbers::a_section_nobody_asks_for_makes_room,
        }
    };
}

/// What every store does that several processes can use.
#[cfg(feature = "engines")]
macro_rules! leases {
    ($kind:expr) => {
        holds! { $kind;
            leases::eight_processes_claim_eight_nodes,
            leases::a_stopped_holder_that_wakes_after_its_node_was_given_away_mints_nothing_more,
            leases::a_node_given_back_is_had_at_once_and_a_killed_holders_after_its_window,
            leases::a_namespace_keeps_its_layout_and_excluded_nodes_are_not_leased,
            leases::what_is_connected_is_not_for_forked_children,
        }
    };
}

#[cfg(feature = "engines")]
macro_rules! suite {
    ($($store:ident: $kind:expr, $($forks:ident)?;)*) => {
        $(mod $store {
            use super::*;

            store!($kind);
            leases!($kind);
            holds! { $kind; $(leases::$forks,)? }
        })*
    };
}

mod memory {
    use super::*;

    store!(Kind::Memory);
}

// The leases of `file:` are slots, which have tests of their own.
mod file {
    use super::*;

    store!(Kind::File);
}

#[cfg(feature = "engines")]
suite! {
    sqlite: Kind::Sqlite, forked_children_lease_nodes_of_their_own;
    postgres: Kind::Server(Engine::Postgres), forked_children_lease_nodes_of_their_own;
    mariadb: Kind::Server(Engine::Mariadb), forked_children_lease_nodes_of_their_own;
    redis: Kind::Server(Engine::Redis), forked_children_lease_nodes_of_their_own;
    etcd: Kind::Server(Engine::Etcd), forked_children_lease_nodes_of_their_own;
    // Its client has a thread for the process, which a child is without.
    zookeeper: Kind::Server(Engine::Zookeeper), forked_children_are_told_that_they_cannot_connect;
}
