//! Bytes at the limits: the longest that is taken, one past it, and very many at once.

mod crowds;
mod limits;
mod volume;
