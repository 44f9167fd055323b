//! Connections that are cut, slow, half closed or gone, and servers that end under them.

mod cuts;
mod departures;
mod ends;
mod slow;
mod subscribers;
