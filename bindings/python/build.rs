//! Sets which Python the crate is built for: `Py_GIL_DISABLED`, if threads run without an interpreter's lock.

fn main() {
    pyo3_build_config::use_pyo3_cfgs();
}
