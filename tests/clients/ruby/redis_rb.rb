# frozen_string_literal: true

# A worker's life cycle with redis-rb: HOST:PORT PROTOCOL default|cluster. This version speaks RESP2 only.

require "redis"
require "securerandom"

GROUP = "workers"

# How often the second connection looks whether the first one waits. Each look is a round trip.
LOOKS_MAX = 20_000

# Fails unless both are equal.
def equal(actual, expected, what)
  abort "#{what}: got #{actual.inspect}, expected #{expected.inspect}" unless actual == expected
end

class LifeCycle
  # In a cluster the key is given, together with the address of the node that has it.
  def initialize(address, protocol, choice)
    url = "redis://#{address}"
    @protocol = protocol
    @db = choice == "cluster" ? Redis.new(cluster: [url]) : Redis.new(url: url)
    @other = Redis.new(url: choice == "cluster" ? "redis://#{ENV.fetch('CLIENTS_NODE')}" : url)
    @key = ENV["CLIENTS_KEY"] || "clients:redis-rb:#{Process.pid}:#{SecureRandom.hex(4)}"
  end

  def run
    info = @other.client(:info)
    equal info[/ resp=(\d)/, 1], @protocol, "protocol spoken"

    join_and_add
    read_and_acknowledge
    reread_and_claim
    look_around

    equal @db.xtrim(@key, 10), 90, "XTRIM"
    equal @db.xlen(@key), 10, "XLEN after XTRIM"

    wait_in_vain_and_be_woken

    equal @db.xgroup(:destroy, @key, GROUP), 1, "XGROUP DESTROY"
    equal @db.del(@key), 1, "DEL"
    @db.close
    @other.close
  end

  private

  def join_and_add
    equal @db.xgroup(:create, @key, GROUP, "0", mkstream: true), "OK", "XGROUP CREATE"
    begin
      @db.xgroup(:create, @key, GROUP, "0", mkstream: true)
    rescue Redis::CommandError => e
      error = e.message
    end
    equal error, "BUSYGROUP Consumer Group name already exists", "XGROUP CREATE again"

    @ids = @db.pipelined do |pipeline|
      100.times { |n| pipeline.xadd(@key, { "n" => n, "kind" => "order" }) }
    end
  end

  def read_and_acknowledge
    entries = read(">", count: 100)
    equal entries.map(&:first), @ids, "ids read"
    fields = Array.new(100) { |n| { "n" => n.to_s, "kind" => "order" } }
    equal entries.map(&:last), fields, "fields read"
    equal deliveries(@ids), { 1 => 100 }, "deliveries after reading"
    equal @db.xack(@key, GROUP, *@ids[0, 60]), 60, "XACK"
  end

  def reread_and_claim
    equal read("0", count: 100).map(&:first), @ids[60..], "history"
    equal deliveries(@ids), { 2 => 40 }, "deliveries after reading again"

    two = @ids[60, 2]
    claimed = @db.xclaim(@key, GROUP, "bob", 0, *two)
    equal claimed.map(&:first), two, "XCLAIM"
    equal deliveries(two), { 3 => 2 }, "deliveries after XCLAIM"
    equal @db.xclaim(@key, GROUP, "bob", 0, *two, justid: true), two, "XCLAIM JUSTID"
    equal deliveries(two), { 3 => 2 }, "deliveries after JUSTID"

    reply = @db.xautoclaim(@key, GROUP, "carol", 0, "0-0", count: 10)
    equal reply["next"], @ids[70], "cursor of XAUTOCLAIM"
    equal reply["entries"].map(&:first), @ids[60, 10], "XAUTOCLAIM"
    equal deliveries(@ids), { 4 => 2, 3 => 8, 2 => 30 }, "deliveries at last"
  end

  def look_around
    summary = @db.xpending(@key, GROUP)
    facts = summary.values_at("size", "min_entry_id", "max_entry_id")
    equal facts, [40, @ids[60], @ids[99]], "XPENDING"
    # The counts in the summary are strings on the wire.
    equal summary["consumers"], { "alice" => "30", "carol" => "10" }, "consumers in XPENDING"
    rows = @db.xpending(@key, GROUP, "-", "+", 100, "carol")
    equal rows.map { |row| row["entry_id"] }, @ids[60, 10], "XPENDING of a consumer"

    info = @db.xinfo(:stream, @key)
    facts = info.values_at("length", "groups", "entries-added", "last-generated-id")
    equal facts, [100, 1, 100, @ids[99]], "XINFO STREAM"
    group, = @db.xinfo(:groups, @key)
    facts = group.values_at("name", "consumers", "pending", "last-delivered-id", "entries-read", "lag")
    equal facts, [GROUP, 3, 40, @ids[99], 100, 0], "XINFO GROUPS"
    rows = @db.xinfo(:consumers, @key, GROUP)
    pending = rows.to_h { |row| row.values_at("name", "pending") }
    equal pending, { "alice" => 30, "bob" => 0, "carol" => 10 }, "XINFO CONSUMERS"
  end

  def wait_in_vain_and_be_woken
    equal read(">", block: 10), [], "a wait in vain"

    blocked = -> { @other.info("clients")["blocked_clients"].to_i }
    before = blocked.call
    waiting = Thread.new { read(">", count: 1, block: 5000) }
    looks = 0
    looks += 1 until blocked.call > before || looks == LOOKS_MAX
    equal looks < LOOKS_MAX, true, "the read waits"
    woken = @other.xadd(@key, { "n" => "woken" })
    equal waiting.value, [[woken, { "n" => "woken" }]], "the read that was woken"
  end

  # Reads as alice.
  def read(after, **options)
    @db.xreadgroup(GROUP, "alice", @key, after, **options).fetch(@key, [])
  end

  # How many pending entries were delivered how often.
  def deliveries(ids)
    rows = @db.xpending(@key, GROUP, ids.first, ids.last, 100)
    rows.map { |row| row["count"] }.tally
  end
end

LifeCycle.new(*ARGV).run
