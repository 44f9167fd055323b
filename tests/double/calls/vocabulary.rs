//! What clients say in a pipeline.

use tailrace_storage::Rng;
use tailrace_tests::encode;

/// Some calls. Rough clients also do what ends others, or themselves, or has calls wait.
pub(super) fn random_calls(rng: &mut Rng, is_rough: bool) -> Vec<Vec<u8>> {
    let count = 4 + rng.below(50);
    let mut calls: Vec<_> = (0..count).map(|_| random_call(rng, is_rough)).collect();
    if rng.below(3) == 0 {
        calls.insert(0, words("HELLO 3"));
    }
    calls
}

fn random_call(rng: &mut Rng, is_rough: bool) -> Vec<u8> {
    match rng.below(100) {
        0..55 => words(one_of(rng, USUAL)),
        55..88 => words(one_of(rng, OTHERS)),
        88..96 => one_of(rng, TYPED).to_vec(),
        96 if is_rough => large(rng),
        97 if is_rough && rng.below(3) == 0 => one_of(rng, BROKEN).to_vec(),
        _ if is_rough => words(one_of(rng, RARE)),
        _ => words("GET k"),
    }
}

/// Replies that tell of it are longer than what is kept of one.
fn large(rng: &mut Rng) -> Vec<u8> {
    let value = vec![b'x'; 60_000 + rng.below(20_000)];
    encode(&[&b"SET"[..], b"big", &value])
}

fn one_of<T: Copy>(rng: &mut Rng, all: &[T]) -> T {
    all[rng.below(all.len())]
}

pub(super) fn words(line: &str) -> Vec<u8> {
    encode(&line.split(' ').collect::<Vec<_>>())
}

/// Each is answered at once and changes nothing about its client.
const USUAL: &[&str] = &[
    "XADD a * f v",
    "XADD a * field value",
    "XADD w * f v",
    "LENGTH a",
    "XLEN a",
    "XRANGE a - +",
    "SET k v",
    "GET k",
    "DEL k a",
    "MGET k big n",
    "GET big",
    "EXISTS a w",
    "WAIT 0 0",
    "TYPE a",
    "SCAN 0",
    "KEYS *",
    "GETRANGE big 0 40000",
    "SETRANGE big 70000 xyz",
    "APPEND big hello",
    "SET k v PX 100",
    "SET e v PX 5",
    "EXPIRE w 1",
    "RENAME a b",
    "COPY b w REPLACE",
    "FLUSHALL",
    "OBJECT ENCODING k",
    "OBJECT HELP",
    "DUMP a",
    "LCS k big",
    "INCR n",
    "INCR k",
    "INCRBYFLOAT n 1.5",
    "GETBIT k 3",
    "BITFIELD k GET u8 0 GET u8 100",
    "XPENDING w g",
    "XPENDING w g - + 10",
    "XINFO GROUPS w",
    "XINFO CONSUMERS w g",
    "XAUTOCLAIM w g me 0 0",
    "XGROUP CREATECONSUMER w g c3",
    "XTRIM a MAXLEN 1",
    "XREAD STREAMS a 0",
    "XREAD BLOCK 0 STREAMS a 0",
    "SORT k BY nosort",
    "TOUCH k",
    "PERSIST k",
    "TTL k",
    "MSET k 1 n 2",
];

/// After these something else may be noted.
const OTHERS: &[&str] = &[
    "PING",
    "NO SUCH",
    "XADD a 0-0 f v",
    "XADD a",
    "MULTI",
    "EXEC",
    "MULTI",
    "EXEC",
    "DISCARD",
    "WATCH w a",
    "CLIENT REPLY SKIP",
    "CLIENT SETNAME someone",
    "CLIENT SETNAME another",
    "CLIENT TRACKING ON",
    "CLIENT TRACKING ON NOLOOP",
    "CLIENT TRACKING OFF",
    "SELECT 1",
    "SELECT 0",
    "XREADGROUP GROUP g me STREAMS w >",
    "XREADGROUP GROUP g me STREAMS w 0",
    "XREADGROUP GROUP g me COUNT 1 STREAMS w >",
    "XREADGROUP GROUP g me NOACK STREAMS w >",
    "TD CALLS COUNT",
    "TD CALLS LIMIT 2",
    "TD CALLS CLIENT someone LIMIT 3",
    "TD CALLS CMD xlen",
    "TD CALLS CMD xadd KEY w",
    "TD CALLS CMD xreadgroup GROUP g",
    "TD CALLS UNSUPPORTED",
    "TD ASSERT CALLS == 0 CMD xadd ERRORS",
    "TD ASSERT CALLS == 1 CMD xadd ERRORS",
    "TD WAIT CALLS > 2 CMD xadd TIMEOUT 100000",
    "TD LEDGER ON",
    "TD LEDGER w g",
    "XACK w g 1000000-0",
    "XDEL w 1000000-0",
    "EVAL return{redis.call('INCR',KEYS[1])} 1 n",
    "EVAL return{redis.call('XADD','w','*','f','v'),redis.call('SET','k','v')} 0",
    "EVAL return{redis.call('NOSUCH')} 0",
    "XINFO STREAM a FULL",
    "PUBLISH chan hello",
    "CLIENT UNBLOCK 3",
    "CLIENT UNBLOCK 6 ERROR",
    "CLIENT UNBLOCK 8",
    "CLIENT KILL ID 7",
    "CLIENT NO-EVICT ON",
    "CLIENT NO-TOUCH ON",
    "XGROUP DESTROY w g",
    "XGROUP CREATE w g $ MKSTREAM",
    "XGROUP SETID w g 0",
    "XGROUP DELCONSUMER w g c4",
    "ASKING",
    "CLIENT INFOO",
    "CONFIG GET maxmemory",
    "MIGRATE 127.0.0.1 1 nokey 0 10",
];

/// These are not for every pipeline.
const RARE: &[&str] = &[
    "CLIENT TRACKING ON BCAST",
    "SUBSCRIBE __keyspace@0__:a chan",
    "PSUBSCRIBE __key*",
    "UNSUBSCRIBE",
    "PUNSUBSCRIBE",
    "CLIENT REPLY OFF",
    "CLIENT REPLY ON",
    "RESET",
    "HELLO 2",
    "HELLO 3 SETNAME me",
    "HELLO 4",
    "XREADGROUP GROUP g me BLOCK 0 STREAMS w >",
    "XREADGROUP GROUP g me BLOCK 10 STREAMS w b > >",
    "XREAD BLOCK 0 STREAMS w $",
    "TD CALLS CLEAR",
    "TD FAULT ADD nil CMD get TIMES 2 AFTER NIL",
    "TD FAULT ADD hold CMD xlen BEFORE HOLD",
    "TD FAULT ADD hold CMD xadd AFTER HOLD",
    "TD FAULT ADD err CMD xadd TIMES 2 BEFORE ERROR oops",
    "TD FAULT ADD cut CMD xadd AFTER CUT 3",
    "TD FAULT ADD drip CMD xrange AFTER DRIP 3 5",
    "TD FAULT ADD drop CMD invalidate ALWAYS PUSH DROP",
    "TD FAULT ADD drop2 CMD message ALWAYS PUSH DROP",
    "TD FAULT ADD raw CMD get AFTER REPLY :1",
    "TD FAULT CLEAR",
    "TD FAULT DEL err",
    "TD RELEASE hold",
    "TD CLOCK TICK 5",
    "TD CLOCK TICK 0",
    "TD CLOCK ADVANCE 10",
    "TD CLOCK ADVANCE 100",
    "TD CLOCK NEXT",
    "TD SNAPSHOT SAVE s",
    "TD SNAPSHOT RESTORE s",
    "TD RESET",
    "TD RESTART",
    "TD RESTART LOSE LOADING 5",
    "TD PAUSE",
    "TD KILL CLIENT someone",
    "TD KILL CLIENT wait5",
    "TD KILL CONSUMER w g c6",
    "TD KILL CONSUMER w g me",
    "TD STATE",
    "TD CALLS NO SUCH",
    "TD NO SUCH",
    "QUIT",
    "CLIENT KILL TYPE normal SKIPME yes",
    "CLIENT KILL SKIPME no ID 12",
    "MONITOR",
    "CLIENT PAUSE 100 WRITE",
    "CLIENT PAUSE 100",
    "CLIENT UNPAUSE",
    "CONFIG SET maxmemory 1",
    "CONFIG SET maxmemory 0",
    "SWAPDB 0 1",
    "DEBUG SLEEP 0",
    "FUNCTION LIST",
    "SHUTDOWN ABORT",
];

/// As a person types it.
const TYPED: &[&[u8]] = &[
    b"SET k 'a b'\r\n",
    b"SET k \"a\\x00\\r\\nb\"\r\n",
    b"td calls count\r\n",
    b"\r\n",
    b"\n",
    b"GET k\n",
    b"   \r\n",
    b"*0\r\n",
    b"*-1\r\n",
    b"XADD w * f v\r\n",
    b"set   k\t v  \r\n",
    b"$3\r\n",
];

/// What comes behind is not read.
const BROKEN: &[&[u8]] = &[
    b"SET k 'a b\r\n",
    b"*1\r\n!3\r\n",
    b"*x\r\n",
    b"POST / HTTP\r\n",
];
