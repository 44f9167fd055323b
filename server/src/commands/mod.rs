//! The command table. To add a command: write its file beside the others, then list its `SPEC` here.

mod acl;
mod append;
mod asking;
mod auth;
mod bit_args;
mod bitcount;
mod bitfield;
mod bitop;
mod bitpos;
mod client;
mod cluster;
mod clusterscan;
mod command;
mod commandlog;
mod config;
mod copy;
mod db_args;
mod dbsize;
mod debug;
mod del;
mod delifeq;
mod discard;
mod dump;
mod echo;
mod encode;
mod encode_entry;
mod eval;
mod exec;
mod exists;
mod expire;
mod expiry_args;
pub(crate) mod flush;
mod get;
mod getbit;
mod getdel;
mod getex;
mod getrange;
mod getset;
mod group_args;
pub(crate) mod hello;
mod incr;
mod incrbyfloat;
mod info;
mod interval_args;
mod key_type;
mod keys;
mod lastsave;
mod latency;
mod lcs;
mod lolwut;
mod memory;
mod mget;
pub(crate) mod migrate;
mod module;
mod monitor;
mod move_key;
mod mset;
mod msetex;
mod multi;
mod object;
mod persist;
mod ping;
mod publish;
mod pubsub;
mod quit;
mod randomkey;
mod read_args;
mod readonly;
mod rename;
mod reset;
mod restore;
mod role;
mod scan;
mod script;
mod select;
mod set;
mod setex;
mod setnx;
mod setrange;
mod shutdown;
mod slowlog;
mod strlen;
mod subscribe;
mod swapdb;
mod time;
mod timeout_args;
mod trim_args;
mod ttl;
mod unsubscribe;
mod unwatch;
mod wait;
mod watch;
mod xack;
mod xadd;
mod xautoclaim;
mod xclaim;
mod xdel;
mod xgroup;
mod xinfo;
mod xlen;
mod xpending;
mod xrange;
mod xread;
mod xreadgroup;
mod xrevrange;
mod xsetid;
mod xtrim;

use std::collections::HashMap;
use std::sync::LazyLock;

use tailrace_protocol::ReplyWriter;

use crate::args::Args;
use crate::call::Call;
use crate::call::Flow;
use crate::error::CommandError;
use crate::spec::Spec;

/// Every command, in no particular order. `COMMAND` lists them by name.
pub static COMMANDS: &[&Spec] = &[
    &acl::SPEC,
    &append::SPEC,
    &asking::SPEC,
    &auth::SPEC,
    &bitcount::SPEC,
    &bitfield::BITFIELD,
    &bitfield::BITFIELD_RO,
    &bitop::SPEC,
    &bitpos::SPEC,
    &client::SPEC,
    &cluster::SPEC,
    &clusterscan::SPEC,
    &command::SPEC,
    &config::SPEC,
    &commandlog::SPEC,
    &copy::SPEC,
    &dbsize::SPEC,
    &debug::SPEC,
    &del::DEL,
    &del::UNLINK,
    &delifeq::SPEC,
    &discard::SPEC,
    &dump::SPEC,
    &echo::SPEC,
    &eval::EVAL,
    &eval::EVALSHA,
    &eval::EVALSHA_RO,
    &eval::EVAL_RO,
    &exec::SPEC,
    &exists::EXISTS,
    &exists::TOUCH,
    &expire::EXPIRE,
    &expire::EXPIREAT,
    &expire::PEXPIRE,
    &expire::PEXPIREAT,
    &flush::FLUSHALL,
    &flush::FLUSHDB,
    &get::SPEC,
    &getbit::GETBIT,
    &getbit::SETBIT,
    &getdel::SPEC,
    &getex::SPEC,
    &getrange::GETRANGE,
    &getrange::SUBSTR,
    &getset::SPEC,
    &hello::SPEC,
    &incr::DECR,
    &incr::DECRBY,
    &incr::INCR,
    &incr::INCRBY,
    &incrbyfloat::SPEC,
    &info::SPEC,
    &key_type::SPEC,
    &keys::SPEC,
    &lastsave::SPEC,
    &latency::SPEC,
    &lcs::SPEC,
    &lolwut::SPEC,
    &memory::SPEC,
    &mget::SPEC,
    &migrate::SPEC,
    &module::SPEC,
    &monitor::SPEC,
    &move_key::SPEC,
    &mset::MSET,
    &mset::MSETNX,
    &msetex::SPEC,
    &multi::SPEC,
    &object::SPEC,
    &persist::SPEC,
    &ping::SPEC,
    &publish::SPEC,
    &publish::SPUBLISH,
    &pubsub::SPEC,
    &quit::SPEC,
    &randomkey::SPEC,
    &readonly::READONLY,
    &readonly::READWRITE,
    &rename::RENAME,
    &rename::RENAMENX,
    &reset::SPEC,
    &restore::RESTORE,
    &restore::RESTORE_ASKING,
    &role::SPEC,
    &scan::SPEC,
    &script::SPEC,
    &select::SPEC,
    &set::SPEC,
    &setex::PSETEX,
    &setex::SETEX,
    &setnx::SPEC,
    &setrange::SPEC,
    &shutdown::SPEC,
    &slowlog::SPEC,
    &strlen::SPEC,
    &subscribe::PSUBSCRIBE,
    &subscribe::SPEC,
    &subscribe::SSUBSCRIBE,
    &swapdb::SPEC,
    &time::SPEC,
    &ttl::EXPIRETIME,
    &ttl::PEXPIRETIME,
    &ttl::PTTL,
    &ttl::TTL,
    &unsubscribe::PUNSUBSCRIBE,
    &unsubscribe::SPEC,
    &unsubscribe::SUNSUBSCRIBE,
    &unwatch::SPEC,
    &wait::SPEC,
    &watch::SPEC,
    &xack::SPEC,
    &xadd::SPEC,
    &xautoclaim::SPEC,
    &xclaim::SPEC,
    &xdel::SPEC,
    &xgroup::SPEC,
    &xinfo::SPEC,
    &xlen::SPEC,
    &xpending::SPEC,
    &xrange::SPEC,
    &xread::SPEC,
    &xreadgroup::SPEC,
    &xrevrange::SPEC,
    &xsetid::SPEC,
    &xtrim::SPEC,
];

/// The command of this name, in any case, whatever a server's configuration calls it.
pub(crate) fn find(name: &[u8]) -> Option<&'static Spec> {
    let mut lower = [0; NAME_BYTES_MAX];
    let lower = lower.get_mut(..name.len())?;
    lower.copy_from_slice(name);
    lower.make_ascii_lowercase();
    BY_NAME.get(&*lower).copied()
}

static BY_NAME: LazyLock<HashMap<&'static [u8], &'static Spec, foldhash::fast::FixedState>> =
    LazyLock::new(|| {
        COMMANDS
            .iter()
            .map(|spec| (spec.name.as_bytes(), *spec))
            .collect()
    });

/// The handler of a command that only holds subcommands.
pub(crate) fn never_run(
    call: &mut Call<'_>,
    _: Args<'_>,
    _: &mut ReplyWriter<'_>,
) -> Result<Flow, CommandError> {
    Err(CommandError::arity(call.spec))
}

/// No name is longer.
const NAME_BYTES_MAX: usize = 32;
