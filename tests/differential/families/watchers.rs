//! Who looks on: at keyspace events, at commands, at messages.

pub(in super::super) const FORMS: &[&str] = &[
    "!PSUBSCRIBE ( __key*__:* | __keyevent@*__:* | __keyspace@?__:s )",
    "!PSUBSCRIBE __key*__:*",
    "!PSUBSCRIBE __keyevent@0__:x* __keyspace@*__:[sk]",
    "!SUBSCRIBE __keyevent@0__:xadd __keyspace@0__:s",
    "!SUBSCRIBE ( c | d ) ; PSUBSCRIBE ( c* | * )",
    "!SSUBSCRIBE ( c | d | e )",
    "!MONITOR",
    "!MONITOR",
    "!MONITOR ; MONITOR",
    "!MULTI ; MONITOR ; EXEC",
    "MONITOR extra",
    "PING [$text]",
    "PING",
    "GET k",
    "XLEN s",
    "CLIENT ( INFO | LIST | ID )",
    "UNSUBSCRIBE",
    "PUNSUBSCRIBE",
    "RESET",
    "HELLO ( 2 | 3 )",
];
