//! Tailrace as a library: how servers start and end inside another program, and how their time goes.

mod scripts;
mod starts;
mod threads;
mod time;
