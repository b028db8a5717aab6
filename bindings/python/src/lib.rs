//! snowmint-core for Python: convert in, call core, convert out.
//!
//! The classes live here, their types and documentation in `python/src/snowmint/_stubs/`.

mod audit;
mod buffer;
mod clock;
mod command_line;
mod convert;
mod error;
mod forks;
mod host;
mod hot;
mod inspect;
mod interpreter;
mod ksuid;
mod layout;
mod mask;
mod numbers;
mod object_id;
mod parking;
mod prefix;
mod reference;
mod scatter;
mod snowflake;
mod sql;
mod standard_uuid;
mod stop;
mod store;
mod text;
mod ulid;
mod uuid;
mod work;
mod xid;

#[pyo3::pymodule(gil_used = false)]
mod _snowmint {
    use pyo3::prelude::*;
    use snowmint::stores::scripts;
    use snowmint_core::lease;

    use crate::{convert, hot, interpreter};

    #[pymodule_export]
    use crate::{
        audit::pickle::{audit_finding, audit_node, audit_report},
        audit::{AuditFinding, AuditNode, AuditReport, audit},
        command_line::main,
        error::{error_classes, shown},
        forks::{after_fork_in_parent, before_fork},
        inspect::{Candidate, candidate, inspect},
        ksuid::{Ksuid, ksuid},
        layout::{Layout, find_layout, parts::Parts, presets},
        mask::{Mask, UuidMask},
        numbers::formatted::Formatted,
        numbers::native::NativeNumbers,
        numbers::segments::Segments,
        numbers::sequences::{Sequence, Sequences, virtual_range},
        numbers::tickets::Tickets,
        numbers::users::{Users, users},
        numbers::waiting::Call,
        object_id::{ObjectId, object_id},
        prefix::{prefix_decode_id, prefix_decode_uuid, prefix_encode, prefix_is_uuid, type_id_parts},
        scatter::{reverse_bits, rotate_digits, shard_high, unrotate_digits, unshard_high},
        snowflake::Snowflake,
        sql::{SqlParts, postgres_wide_function},
        stop::Stop,
        store::{
            engine_settings, is_overtaken, is_run_out, is_undone, misconfigured, refuse_lossy_place, refuse_unsafe,
            release_leases, standby_risk,
        },
        text::{text_decode, text_encode, text_forms},
        ulid::{Ulid, ulid},
        uuid::{
            uuid_from_bin, uuid_from_text, uuid_to_bin, uuid_to_text, uuid1, uuid3, uuid4, uuid5, uuid6, uuid7,
            uuid7_range, uuid8,
        },
        xid::{Xid, xid},
    };

    #[pymodule_export]
    #[allow(non_upper_case_globals, reason = "a name of Python's")]
    const __version__: &str = env!("CARGO_PKG_VERSION");

    #[pymodule_init]
    fn complete(module: &Bound<'_, PyModule>) -> PyResult<()> {
        interpreter::refuse_second(module.py())?;
        // Now, because tools such as freezegun replace the class later.
        convert::datetime_class(module.py())?;
        for (name, text) in [
            ("MYSQL_CLOCK", scripts::MYSQL_CLOCK),
            ("MYSQL_FLUSH", scripts::MYSQL_FLUSH),
            ("MYSQL_GUARD", scripts::MYSQL_GUARD),
            ("MYSQL_LEAF", scripts::MYSQL_LEAF),
            ("MYSQL_NEXTVAL", scripts::MYSQL_NEXTVAL),
            ("MYSQL_OBJECT", scripts::MYSQL_OBJECT),
            ("MYSQL_SCHEMA", scripts::MYSQL_SCHEMA),
            ("MYSQL_SEQUENCE", scripts::MYSQL_SEQUENCE),
            ("MYSQL_TABLES", scripts::MYSQL_TABLES),
            ("POSTGRES_ADD", scripts::POSTGRES_ADD),
            ("POSTGRES_CLOCK", scripts::POSTGRES_CLOCK),
            ("POSTGRES_CURE", scripts::POSTGRES_CURE),
            ("POSTGRES_EXISTING", scripts::POSTGRES_EXISTING),
            ("POSTGRES_INSERT", scripts::POSTGRES_INSERT),
            ("POSTGRES_LEAF", scripts::POSTGRES_LEAF),
            ("POSTGRES_NEXTVAL", scripts::POSTGRES_NEXTVAL),
            ("POSTGRES_OBJECT", scripts::POSTGRES_OBJECT),
            ("POSTGRES_RAISE", scripts::POSTGRES_RAISE),
            ("POSTGRES_READ", scripts::POSTGRES_READ),
            ("POSTGRES_SCHEMA", scripts::POSTGRES_SCHEMA),
            ("POSTGRES_SEQUENCE", scripts::POSTGRES_SEQUENCE),
            ("POSTGRES_SETTINGS", scripts::POSTGRES_SETTINGS),
            ("POSTGRES_UPDATE", scripts::POSTGRES_UPDATE),
            ("REDIS_ADD", scripts::REDIS_ADD),
            ("REDIS_LOOK", scripts::REDIS_LOOK),
            ("REDIS_WRITE", scripts::REDIS_WRITE),
            ("SERVICE_NOT_SNOWMINT", lease::NOT_SNOWMINT),
            ("SERVICE_TOKEN_REFUSED", lease::TOKEN_REFUSED),
            ("SQLITE_SCHEMA", scripts::SQLITE_SCHEMA),
        ] {
            // Not `add`, because `__all__` must not list names that only this package's stores use.
            module.setattr(name, text)?;
        }
        module.setattr("SERVICE_REFUSALS", lease::REFUSALS)?;
        #[cfg(not(Py_GIL_DISABLED))]
        hot::mint_by_interpreter_lock();
        hot::add_texts(module)?;
        let class = module.py().get_type::<Snowflake>();
        // The collector calls `__del__` only if it is set from outside: pyo3 does not know this slot.
        class.setattr("__del__", class.getattr("__del__")?)?;
        hot::add_next_id(&class)
    }
}
