//! Mints an ID: the lines of the README.

fn main() -> Result<(), snowmint::Error> {
    let generator = snowmint::Snowflake::lease(snowmint::LeaseOptions::new())?; // a node of this machine
    println!("{}", generator.next_id()?);
    Ok(())
}
