//! What a sequence may begin with, so that the commands after it find something.

/// What most sequences begin with: a stream with two groups that have something pending.
pub(in super::super) const START: &[&str] = &[
    "!XADD s 1-1 f v ; XADD s 1-2 f v ; XADD s 2-1 f v ; XGROUP CREATE s g 0 ; XGROUP CREATE s h 0 ; \
     XREADGROUP GROUP g ( a | b ) COUNT 2 STREAMS s >",
    "!XADD s 1-1 f v ; XADD s 1-2 f v ; XADD s 1-3 f v ; XADD s 2-1 f v ; XADD s 3-1 f v ; XGROUP CREATE s g 0 ; \
     XREADGROUP GROUP g a COUNT ( 1 | 2 ) STREAMS s > ; XREADGROUP GROUP g b COUNT 2 STREAMS s >",
    "!XGROUP CREATE s g ( 0 | $ ) MKSTREAM ; XGROUP CREATE s h ( 0 | 1-1 ) ; XADD s ( 1-1 | 1-* | * ) f v",
];

/// What may follow.
pub(in super::super) const FORMS: &[&str] = &[
    "!XADD s 1-* f v",
    "!XADD s 1-* f v",
    "!XADD s 2-* f v",
    "!XADD s $new_id ( $field $value ) ...",
    "!XADD ( s | t ) $new_id $field $value",
    "!XADD t * f v",
    "!XADD s 1-1 f v ; XADD s 1-2 f v ; XADD s 1-3 f v ; XADD s 2-1 f v",
    "!XADD s 3-1 f v ; XADD s 3-2 g w ; XADD s 4-1 f v ; XADD s 5-1 g v h w ; XADD s 6-1 f x",
    "!XGROUP CREATE ( s | t ) ( g | h ) ( 0 | 0 | $ | 1-1 ) MKSTREAM",
    "!XGROUP CREATE s g 0 MKSTREAM",
    "!XGROUP CREATECONSUMER s ( g | h ) ( a | b )",
    "!XREADGROUP GROUP ( g | g | h ) ( a | b ) [COUNT ( 1 | 2 )] STREAMS s >",
    "!XREADGROUP GROUP g a COUNT 3 STREAMS s >",
    "!XDEL s ( 1-1 | 1-2 | 2-1 | 3-1 )",
    "!XTRIM s MAXLEN ( 1 | 2 | 5 )",
    "!SET ( k | n ) $text",
    "!SET ( k | n ) ( 1 | 10 )",
    "!EXPIRE ( s | k | t ) 1000",
    "!CONFIG SET stream-node-max-entries ( 1 | 2 | 4 | 10 | 0 )",
    "!CONFIG SET stream-node-max-bytes ( 40 | 100 | 200 | 0 )",
];
