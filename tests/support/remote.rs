//! A Tailrace that somebody else started, with a clock that goes by itself.

use std::env;
use std::io::Error;
use std::io::Result;
use std::net::SocketAddr;
use std::net::ToSocketAddrs;

use crate::control::Control;
use crate::target::TOLERANCE_MS;
use crate::target::Target;
use crate::target::really_wait;
use crate::value::Value;

/// The server. It loses its data and the connections' settings when a transcript begins, and gets its
/// configuration back when one ends.
#[derive(Debug)]
pub struct Remote {
    address: SocketAddr,
    /// Names and values, as they were at first.
    settings: Vec<(String, String)>,
}

impl Remote {
    /// The address that `TAILRACE_ADDR` names, if it is set.
    pub fn address_given() -> Option<String> {
        env::var("TAILRACE_ADDR").ok()
    }

    /// Empties the server at `address`.
    ///
    /// # Errors
    ///
    /// If there is no such address, or nobody there.
    pub fn empty(address: &str) -> Result<Self> {
        let address = address
            .to_socket_addrs()?
            .next()
            .ok_or_else(|| Error::other("no address"))?;
        let mut control = Control::connect(address)?;
        control.ask(&["FLUSHALL"]);
        control.ask(&["CONFIG", "RESETSTAT"]);
        for kind in ["slow", "large-request", "large-reply"] {
            control.ask(&["COMMANDLOG", "RESET", kind]);
        }
        Ok(Self {
            address,
            settings: settings(&mut control),
        })
    }
}

impl Target for Remote {
    fn address(&self) -> SocketAddr {
        self.address
    }

    fn is_reference(&self) -> bool {
        false
    }

    fn has_manual_clock(&self) -> bool {
        false
    }

    fn tolerance_ms(&self) -> i64 {
        TOLERANCE_MS
    }

    fn set_clock(&mut self, _: u64) -> std::result::Result<(), String> {
        Err("a server elsewhere keeps the time of its host".to_owned())
    }

    fn advance(&mut self, ms: u64) {
        really_wait(ms);
    }
}

impl Drop for Remote {
    fn drop(&mut self) {
        let Ok(mut control) = Control::connect(self.address) else {
            return;
        };
        let now = settings(&mut control);
        for (name, value) in self.settings.iter().filter(|pair| !now.contains(pair)) {
            control.ask(&["CONFIG", "SET", name, value]);
        }
    }
}

fn settings(control: &mut Control) -> Vec<(String, String)> {
    let Some(Value::Array(parts)) = control.ask(&["CONFIG", "GET", "*"]) else {
        return Vec::new();
    };
    let text = |part: &Value| String::from_utf8_lossy(part.text()).into_owned();
    parts
        .chunks_exact(2)
        .map(|pair| (text(&pair[0]), text(&pair[1])))
        .collect()
}
