//! Client-side caching.
//!
//! Who hears of prefixes hears of its own changes once the server has executed all that it read, which may be before
//! or after its next reply: so prefixes are only for those of whom it is not compared what comes between two replies.

/// Nobody hears for another, or of prefixes.
pub(in super::super) const FORMS: &[&str] = &[
    "CLIENT TRACKING ON [( OPTIN | OPTOUT )] [NOLOOP]",
    "CLIENT TRACKING ON",
    "CLIENT TRACKING OFF { [BCAST] [NOLOOP] [PREFIX $key] }",
    "CLIENT TRACKING ( ON | OFF | MAYBE ) { [REDIRECT ( 0 | 99999999 | abc )] [NOLOOP] [OPTIN] }",
    "CLIENT TRACKING ON BCAST ( OPTIN | OPTOUT ) [PREFIX $key]",
    "CLIENT TRACKING ON PREFIX $key",
    "CLIENT CACHING ( YES | NO | MAYBE )",
    "CLIENT CACHING YES ; GET $key",
    "CLIENT CACHING NO ; MGET $key ...",
    "CLIENT TRACKINGINFO",
    "CLIENT GETREDIR",
    "MGET $key ...",
    "XRANGE $stream - + COUNT 1",
];

/// Said by clients of which some wait.
pub(in super::super) const AMONG_OTHERS: &[&str] = &[
    "!CLIENT TRACKING ON [NOLOOP]",
    "!CLIENT TRACKING ON [NOLOOP] ; XLEN s ; MGET t k",
    "!CLIENT TRACKING ON ; XREAD BLOCK 0 STREAMS ( s | t ) $ ; XLEN s",
    "!CLIENT TRACKING ON ; XREAD BLOCK ( 0 | 30 ) STREAMS s t $ $",
    "!CLIENT TRACKING ON OPTIN ; CLIENT CACHING YES ; XREAD BLOCK 0 STREAMS s t $ $ ; XLEN t",
    "!CLIENT TRACKING ON OPTOUT ; CLIENT CACHING NO ; XREAD BLOCK 0 STREAMS s $ ; XLEN t",
    "!CLIENT TRACKING ON BCAST [NOLOOP] [PREFIX ( s | t )]",
    "!CLIENT TRACKING ON BCAST PREFIX s REDIRECT $client",
    "!CLIENT TRACKING ON [NOLOOP] REDIRECT $client ; XRANGE s - + COUNT 1 ; XLEN t",
    "!CLIENT TRACKING ON REDIRECT $client ; XREADGROUP GROUP g ( a | b ) BLOCK 0 STREAMS s > ; XLEN s",
    "!CLIENT TRACKING OFF",
    "!XLEN s ; XLEN t",
    "!MULTI ; XLEN s ; XADD s 1-* f v ; DEL t ; XLEN t ; EXEC",
    "!XADD ( s | t ) 1-* f v",
    "!DEL s t",
    "!SUBSCRIBE __redis__:invalidate",
    "!CLIENT INFO",
];
