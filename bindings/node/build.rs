//! Links against symbols that Node provides, and on Linux with `-z nodelete`: the renewing thread outlives a worker
//! that alone has loaded the addon.
fn main() {
    napi_build::setup();
}
