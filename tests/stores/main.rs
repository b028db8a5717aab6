//! One suite for every store, on real servers.

#[cfg(feature = "engines")]
mod crashes;
#[cfg(feature = "engines")]
mod doctor;
#[cfg(feature = "engines")]
mod drops;
#[cfg(feature = "engines")]
mod etcd_only;
#[cfg(feature = "engines")]
mod faults;
#[cfg(feature = "engines")]
mod file_only;
#[cfg(feature = "engines")]
mod followers;
mod forks;
#[cfg(feature = "engines")]
mod hooked;
#[cfg(feature = "engines")]
mod leases;
#[cfg(feature = "engines")]
mod live_settings;
#[cfg(feature = "engines")]
mod mariadb_only;
#[cfg(feature = "engines")]
mod misconfigured;
#[cfg(feature = "engines")]
mod nats_only;
mod numbers;
#[cfg(feature = "engines")]
mod numbers_vectors;
#[cfg(feature = "engines")]
mod outages;
#[cfg(feature = "engines")]
mod poolers;
#[cfg(feature = "engines")]
mod postgres_only;
#[cfg(feature = "engines")]
mod redis_only;
#[cfg(feature = "engines")]
mod reservations;
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

/// The properties of every store.
macro_rules! store {
    ($kind:expr) => {
        holds! { $kind;
            verbs::a_write_needs_the_version_that_was_read,
            verbs::exactly_one_of_many_concurrent_writers_succeeds,
            verbs::a_list_has_exactly_the_records_directly_under_its_prefix,
            verbs::a_deep_list_has_every_record_below_its_prefix,
            verbs::values_and_keys_are_stored_unchanged,
            verbs::the_leases_of_all_namespaces_are_listed,
            verbs::a_counter_begins_at_its_start_and_repeats_no_sum,
            verbs::a_counter_ends_at_2_63_and_stays,
            verbs::a_counter_is_lowered_only_from_its_present_value,
            verbs::a_clock_is_within_a_minute_of_ours,
            numbers::a_segment_starts_at_the_first_number_of_its_tag,
            numbers::an_open_makes_a_missing_tag_and_keeps_a_tag_that_exists,
            numbers::segments_of_several_clients_never_repeat,
            numbers::a_closed_segment_returns_its_unused_numbers,
            numbers::tickets_over_two_stores_have_no_gap_and_no_repeat,
            numbers::another_number_or_order_of_ticket_stores_is_refused,
            numbers::a_sequence_answers_like_psql,
            numbers::every_session_uses_the_first_definition_of_a_sequence,
            numbers::a_sequence_of_several_sessions_never_repeats,
            numbers::a_restart_keeps_every_users_numbers_increasing,
            numbers::a_section_has_one_allocator_and_then_a_successor,
            numbers::another_size_of_sections_is_refused,
            numbers::an_idle_section_makes_room,
        }
    };
}

/// The properties of every store that several processes can use.
#[cfg(feature = "engines")]
macro_rules! leases {
    ($kind:expr) => {
        holds! { $kind;
            leases::eight_processes_claim_eight_nodes,
            leases::a_paused_holder_mints_nothing_after_its_node_was_reassigned,
            leases::a_given_node_repeats_nothing_under_any_fault,
            leases::released_nodes_are_free_at_once_others_after_their_window,
            leases::a_namespace_keeps_its_layout_and_skips_excluded_nodes,
            leases::forked_children_cannot_use_their_parents_connections,
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
    holds! { Kind::Memory; numbers::a_full_memory_forgets_users_and_gives_unused_sections_back, }
}

// The leases of `file:` are slots; ../faults tests the others.
mod file {
    use super::*;

    store!(Kind::File);
    #[cfg(feature = "engines")]
    holds! { Kind::File; leases::a_given_node_repeats_nothing_under_any_fault, }
}

#[cfg(feature = "engines")]
suite! {
    sqlite: Kind::Sqlite, forked_children_lease_separate_nodes;
    postgres: Kind::Server(Engine::Postgres), forked_children_lease_separate_nodes;
    mariadb: Kind::Server(Engine::Mariadb), forked_children_lease_separate_nodes;
    redis: Kind::Server(Engine::Redis), forked_children_lease_separate_nodes;
    etcd: Kind::Server(Engine::Etcd), forked_children_lease_separate_nodes;
    // A thread of the process drives ZooKeeper's client, and a forked child does not have that thread.
    zookeeper: Kind::Server(Engine::Zookeeper), forked_children_are_refused_a_connection;
    nats: Kind::Server(Engine::Nats), forked_children_lease_separate_nodes;
}
