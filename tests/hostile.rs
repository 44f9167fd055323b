//! Clients that mean harm, over real sockets, to a server in a process of its own: while they are at it another client's
//! replies stay right, and the server's memory stays within bounds.

mod crowd;
mod flood;
mod host;
mod neighbour;
mod payloads;
mod requests;
