//! Placeholder for the tests below.
