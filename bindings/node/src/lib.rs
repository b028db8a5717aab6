//! snowmint-core for Node.
