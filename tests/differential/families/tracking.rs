//! Client-side caching.
//!
//! Who hears of prefixes hears of its own changes once the server has executed all that it read, which may be before
//! or after its next reply: transcripts show that. The numbers of clients differ, so that nobody hears for another.

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
