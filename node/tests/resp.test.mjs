// Where the network cuts replies does not matter.

import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { test } from "node:test";

const require = createRequire(import.meta.url);
// No part of what the package offers.
const { Decoder, encode, ReplyError, toRecord } = require(join(dirname(require.resolve("tailrace")), "resp.js"));

const WIRE = Buffer.from(
  "+OK\r\n-ERR no\r\n:-7\r\n$5\r\nh\r\nlo\r\n$0\r\n\r\n$-1\r\n*-1\r\n*2\r\n*1\r\n$3\r\n\u00fcx\r\n_\r\n" +
    "%1\r\n+a\r\n,1.5\r\n#t\r\n=6\r\ntxt:ab\r\n~1\r\n:1\r\n>1\r\n:2\r\n",
);
const SAID = [
  "OK",
  new ReplyError("ERR no"),
  -7,
  "h\r\nlo",
  "",
  null,
  null,
  [["\u00fcx"], null],
  new Map([["a", 1.5]]),
  true,
  "txt:ab",
  [1],
  [2],
];

test("replies are the same however they are cut", () => {
  for (let size = 1; size <= WIRE.length; size += 1) {
    const decoder = new Decoder();
    const replies = [];
    for (let at = 0; at < WIRE.length; at += size) {
      replies.push(...decoder.feed(WIRE.subarray(at, at + size)));
    }
    assert.deepEqual(replies, SAID, `in pieces of ${size}`);
  }
});

test("what is no reply is refused", () => {
  assert.throws(() => new Decoder().feed(Buffer.from("HTTP\r\n")), /cannot begin with "H"/);
});

test("lengths of commands are in bytes", () => {
  assert.equal(encode(["SET", "\u00fc", 1]).toString(), "*3\r\n$3\r\nSET\r\n$2\r\n\u00fc\r\n$1\r\n1\r\n");
});

test("names and values are an object however they came", () => {
  const wanted = { a: 1, b: null };
  for (const reply of [["a", 1, "b", null], new Map([["a", 1], ["b", null]]), wanted]) {
    assert.deepEqual(toRecord(reply), wanted);
  }
});
