//! Channels.

pub(in super::super) const FORMS: &[&str] = &[
    "( SUBSCRIBE | SSUBSCRIBE ) $channel ...",
    "PSUBSCRIBE $channel_pattern ...",
    "( UNSUBSCRIBE | SUNSUBSCRIBE ) $channel ...",
    "PUNSUBSCRIBE $channel_pattern ...",
    "( UNSUBSCRIBE | SUNSUBSCRIBE | PUNSUBSCRIBE )",
    "PUBLISH $channel $text",
    "PUBLISH $channel $text",
    "SPUBLISH $channel $text",
    "PUBSUB ( CHANNELS | SHARDCHANNELS ) [$channel_pattern]",
    "PUBSUB ( NUMSUB | SHARDNUMSUB ) [$channel ...]",
    "PUBSUB ( NUMPAT | HELP | NOTHING )",
];
