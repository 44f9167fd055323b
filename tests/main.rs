//! Everything that needs the whole server, in one binary.
