//! Servers in the hands of a test: `TESTDOUBLE`.

mod clock;
mod faults;
mod off;
