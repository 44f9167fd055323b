//! Strings.

pub(in super::super) const FORMS: &[&str] = &[
    "( GET | GETDEL | STRLEN ) $text_key",
    "( GETSET | SETNX | APPEND ) $text_key $text",
    "GETEX $text_key { [( EX $seconds | PX $ms | EXAT $seconds_at | PXAT $ms_at | PERSIST )] [PERSIST] }",
    "GETEX $text_key ( EX 1000 | PX 1000000 | PERSIST )",
    "( GETRANGE | SUBSTR ) $text_key $offset $offset",
    "SETRANGE $text_key ( 0 | 1 | 3 | 50 | -1 | $offset ) $text",
    "SET $text_key $text",
    "SET $text_key $text { [( NX | XX | IFEQ $text )] [GET] [( EX $seconds | PX $ms | EXAT $seconds_at | PXAT $ms_at | KEEPTTL )] }",
    "SET $key $text { [( NX | XX )] [GET] [KEEPTTL] [EX $seconds] }",
    "( SETEX $text_key $seconds | PSETEX $text_key $ms ) $text",
    "DELIFEQ $text_key $text",
    "LCS $key $text_key { [LEN] [IDX] [MINMATCHLEN ( 0 | 1 | 2 | -1 | $integer )] [WITHMATCHLEN] }",
    "MGET $key ...",
    "( MSET | MSETNX ) ( $text_key $text ) ...",
    "MSETEX ( 1 $text_key $text | 2 $text_key $text $text_key $text ) { [( NX | XX )] [( EX $seconds | PX $ms | EXAT $seconds_at | PXAT $ms_at | KEEPTTL )] }",
    "( INCR | DECR ) $text_key",
    "( INCRBY | DECRBY ) $text_key $integer",
    "INCRBYFLOAT $text_key $float",
];
