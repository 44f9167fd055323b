//! Keys that move between Tailrace and the reference server, to and fro: are they there what they were here?

mod dump;
mod migrate;
mod side;
