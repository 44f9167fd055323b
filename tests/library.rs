//! Tailrace as a library: how servers start and end inside another program, and how their time goes.

mod doubles;
mod scripts;
mod starts;
mod threads;
mod time;
mod verbs;
