//! Scripts: what they call, what they give back, and how they fail.

use sha1_smol::Sha1;

pub(in super::super) const FORMS: &[&str] = &[
    "( EVAL | EVAL_RO ) $script ( 1 $key | 1 $stream | 2 $key $key | 0 ) [$value ...]",
    "( EVAL | EVAL_RO ) $script 1 $stream $new_id $value",
    "EVAL $script ( -1 | abc | 9 $key | 1 )",
    "( EVALSHA | EVALSHA_RO ) $sha ( 1 $key | 1 $stream | 0 ) [$value ...]",
    "SCRIPT LOAD $script",
    "SCRIPT EXISTS $sha ...",
    "SCRIPT SHOW $sha",
    "SCRIPT FLUSH [( ASYNC | SYNC | NOTHING )]",
    "SCRIPT KILL",
    "SCRIPT HELP",
    "SCRIPT NOTHING",
    "!MULTI ; EVAL $script 1 $stream $value ; EVALSHA $sha 1 $key ; EXEC",
];

/// What runs. Some of them fail to compile, some where they run, some call what scripts may not.
pub(in super::super) const TEXTS: &[&str] = &[
    "return redis.call('XADD', KEYS[1], ARGV[1] or '1-*', 'f', 'v')",
    "return redis.call('XRANGE', KEYS[1], '-', '+')",
    "return {redis.pcall('XADD', KEYS[1], '3-3', 'f', 'v'), redis.pcall('XLEN', KEYS[1])}",
    "return redis.call('XREADGROUP', 'GROUP', 'g', 'a', 'BLOCK', '0', 'STREAMS', KEYS[1], '>')",
    "return redis.call('XREAD', 'COUNT', '1', 'STREAMS', KEYS[1], '0')",
    "redis.setresp(3); return redis.call('XREAD', 'COUNT', '1', 'STREAMS', KEYS[1], '0')",
    "return redis.call('XPENDING', KEYS[1], 'g')",
    "redis.call('XACK', KEYS[1], 'g', '1-1'); return redis.pcall('XGROUP', 'CREATE', KEYS[1], 'g', '$')",
    "return redis.call('SET', KEYS[1], ARGV[1])",
    "return redis.call('GET', KEYS[1])",
    "if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end return 0",
    "return redis.call('INCR', KEYS[1])",
    "redis.call('SET', KEYS[1], 'v'); return redis.call('NOTHING')",
    "return redis.call('PUBLISH', 'c', 'from a script')",
    "return redis.call('SUBSCRIBE', 'c')",
    "return {1, 2.9, -2.9, 'x', true, false, {ok = 'FINE'}, {err = 'MY own'}, nil, 'not seen'}",
    "return {KEYS, ARGV}",
    "return redis.error_reply('MY own')",
    "return redis.error_reply('-MY own')",
    "return redis.status_reply('FINE')",
    "error('thrown')",
    "error({err = 'MY own'})",
    "return nothing",
    "nothing = 1",
    "return (",
    "return redis.sha1hex(ARGV[1] or '')",
    "return cjson.encode({1, 'two', {three = 3.5}, cjson.null})",
    "return cjson.decode('[1, \"two\", {\"three\": 3}, null]')[2]",
    "return cmsgpack.unpack(cmsgpack.pack({1, 'two'}))",
    "return {bit.band(255, 15), bit.tohex(255), struct.size('>I2'), struct.unpack('>I2', struct.pack('>I2', 258))}",
    "redis.setresp(3); return {double = 1.5}",
    "return {map = {a = 1}}",
    "return redis.call()",
    "return redis.call(1.5)",
    "return redis.call('SET', KEYS[1])",
    "return {type(redis.call('GET', 'none')), #ARGV, tostring(KEYS[2])}",
    "#!lua flags=no-writes\nreturn redis.call('SET', KEYS[1], 'v')",
    "#!lua flags=nothing\nreturn 1",
    "#!lua name=x\nreturn 1",
    "#!other\nreturn 1",
];

/// The digests of some of them, and what is none.
pub(in super::super) fn digests() -> Vec<Vec<u8>> {
    let digest = |text: &&str| Sha1::from(text).digest().to_string().into_bytes();
    let known = TEXTS.iter().take(12).map(digest);
    let unknown = ["", "abc", "0000000000000000000000000000000000000000"];
    known
        .chain(unknown.map(|text| text.as_bytes().to_vec()))
        .collect()
}
