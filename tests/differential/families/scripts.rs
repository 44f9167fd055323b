//! Scripts.

pub(in super::super) const FORMS: &[&str] = &[
    "EVAL $script 1 $key [$text]",
    "EVAL $script ( 0 | 1 $key | 2 $key $key ) [$text ...]",
    "( EVAL | EVAL_RO ) $script ( 1 | 1 | 2 | -1 | abc ) $key [$key]",
    "!EVAL $stream_script 1 ( s | s | t | k )",
    "!EVAL $stream_script 1 ( s | s | t | k )",
    "EVAL_RO $stream_script 1 $stream",
    "( EVALSHA | EVALSHA_RO ) $sha ( 0 | 1 $key ) [$text]",
    "!SCRIPT LOAD $script ; EVALSHA $sha 1 $key",
    "SCRIPT ( EXISTS $sha ... | LOAD $script | SHOW $sha | FLUSH [( SYNC | ASYNC | NOTHING )] | KILL )",
    "!SCRIPT ( HELP | NOTHING | LOAD | EXISTS | SHOW )",
];
