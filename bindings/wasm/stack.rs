//! Sets the size of a wasm module's stack. A short stack makes low addresses, which take fewer bytes in the module. A
//! call that needs more stack traps; the deepest call takes a third of it.

fn main() {
    println!("cargo::rerun-if-changed=../stack.rs");
    let variable = |name| std::env::var(name).unwrap_or_default();
    let bytes = match variable("CARGO_PKG_NAME").as_str() {
        // A list of candidates takes some kB, and so do texts of an audit.
        "snowmint-wasm-inspect" | "snowmint-wasm-render" | "snowmint-wasm-audit" => 65_536,
        // The keys of AES are copied some times.
        "snowmint-wasm-mask" | "snowmint-wasm-sql" => 16_384,
        _ => 8_192,
    };
    if variable("CARGO_CFG_TARGET_ARCH") == "wasm32" {
        println!("cargo::rustc-link-arg-cdylib=-zstack-size={bytes}");
    }
}
