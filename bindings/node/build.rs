//! Links against symbols that Node provides.
fn main() {
    napi_build::setup();
}
