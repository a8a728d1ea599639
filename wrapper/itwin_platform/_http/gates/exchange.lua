-- One exchange between a process and the gate that it shares: the process reports what ended and how many permits it
-- wants; free permits go to the processes that wait, in turn. The rules are those of
-- `_http/gates/window.py`; a test compares the two. Time is the server's alone. All keys hold one hash tag and expire.
--
-- KEYS: state, leases, queue, wants, log of sends
-- ARGV: one JSON array, because an argument takes longer to pass than its value: channel, lease, max_in_flight,
--       (requests, seconds) of each rate, process, wants, listens, holds, (kind, period, number, value, jitter) of each
--       report
-- Returns one string for the same reason: known, wait, rank, cooldown, whether a process waits, and the period and the
-- number of each permit.
local STATE, LEASES, QUEUE, WANTS, LOG = unpack(KEYS)
local channel, lease, most, rates, me, wants, listens, holds, ended = unpack(cjson.decode(ARGV[1]))
local PROBE_INTERVAL, LONGEST_GROWTH, FEWEST_LEARNED, CLOCK_ERROR = 60, 20, 8, 0.000001
local clock = redis.call('TIME')
local now = clock[1] + clock[2] / 1000000

local function exact(number) return string.format('%.17g', number) end

-- One field holds what all share, each other one what a process holds: as numbers, which take less time than names.
local SHARED, ENTRY = '<ddddddddddddddddd', '<dddd'
local shared, of_mine = unpack(redis.call('HMGET', STATE, 'shared', me))
local s = {
  period = 0, number = 0, open = most, started = 0, allowed = 0, allowed_before = 0, learned = 0, mark = -1,
  cooldown = 0, probe = -1, probe_at = 0, strikes = 0, in_flight = 0, in_period = 0, turn = 0, queued = 0,
  prune_at = 0,
}
if shared then
  s.period, s.number, s.open, s.started, s.allowed, s.allowed_before, s.learned, s.mark,
  s.cooldown, s.probe, s.probe_at, s.strikes, s.in_flight, s.in_period, s.turn, s.queued,
  s.prune_at = struct.unpack(SHARED, shared)
end

local longest_rate = 0
for _, rate in ipairs(rates) do longest_rate = math.max(longest_rate, rate[2]) end
local has_rates = longest_rate > 0

-- What a process holds: permits in all, those of the period that it was last granted one in, and until when.
local function unpacked(packed)
  local entry = {held = 0, period = -1, in_period = 0, expires = 0}
  if packed then entry.held, entry.period, entry.in_period, entry.expires = struct.unpack(ENTRY, packed) end
  return entry
end

local function packed(entry)
  return struct.pack(ENTRY, entry.held, entry.period, entry.in_period, entry.expires)
end

-- Only permits need a lease: a process that waits without one is not asked to renew anything.
local function renew(process, entry)
  if entry.expires >= now + lease * 2 / 3 then return end
  entry.expires = now + lease
  redis.call('ZADD', LEASES, exact(entry.expires), process)
end

local function forget(process)
  if s.queued > 0 and redis.call('ZREM', QUEUE, process) == 1 then
    redis.call('HDEL', WANTS, process)
    s.queued = s.queued - 1
  end
end

local function release(entry)
  s.in_flight = s.in_flight - entry.held
  if entry.period == s.period then s.in_period = s.in_period - entry.in_period end
  entry.held, entry.in_period = 0, 0
end

local mine = unpacked(of_mine)
local known = mine.expires > now or not holds
-- A process whose lease has expired gives everything back; one that held something does not wait any more either.
if now >= s.prune_at then
  s.prune_at = now + lease / 10
  for _, process in ipairs(redis.call('ZRANGEBYSCORE', LEASES, '-inf', exact(now))) do
    local entry = process == me and mine or unpacked(redis.call('HGET', STATE, process))
    if entry.held > 0 and process ~= me then forget(process) end
    release(entry)
    redis.call('HDEL', STATE, process)
    redis.call('ZREM', LEASES, process)
  end
end
if mine.expires <= now then release(mine) end
renew(me, mine)

-- Returns the seconds until one more may start: 0 for now, -1 for until another ends.
local function wait(ahead)
  local left = s.cooldown - now
  if left > CLOCK_ERROR and s.probe_at - now > CLOCK_ERROR then return math.min(left, s.probe_at - now) end
  if s.in_period >= math.min(s.open, most) or s.in_flight >= most then return -1 end
  local longest = 0
  local logged = has_rates and redis.call('ZCARD', LOG)
  for _, rate in ipairs(rates) do
    local requests, per = unpack(rate)
    local after = '(' .. exact(now - per + CLOCK_ERROR)
    local count = logged >= requests and redis.call('ZCOUNT', LOG, after, '+inf') or logged
    if count >= requests then
      local index = math.min(count - requests + ahead, count - 1)
      local entry = redis.call('ZRANGEBYSCORE', LOG, after, '+inf', 'WITHSCORES', 'LIMIT', index, 1)
      longest = math.max(longest, entry[2] + per - now)
    end
  end
  return longest
end

local function begin(entry)
  if entry.period ~= s.period then entry.period, entry.in_period = s.period, 0 end
  entry.held, entry.in_period = entry.held + 1, entry.in_period + 1
  s.in_flight, s.in_period = s.in_flight + 1, s.in_period + 1
  s.started, s.number = s.started + 1, s.number + 1
  if s.started == s.learned and s.started >= FEWEST_LEARNED then s.open, s.mark = 1, s.number end
  if s.cooldown - now > CLOCK_ERROR then s.probe, s.probe_at = s.number, now + PROBE_INTERVAL end
  if has_rates then redis.call('ZADD', LOG, exact(now), s.number) end
end

local function finish(period)
  -- After an expired lease it was given back already.
  if mine.held == 0 then return end
  mine.held, s.in_flight = mine.held - 1, s.in_flight - 1
  if period == s.period and mine.period == period and mine.in_period > 0 then
    mine.in_period, s.in_period = mine.in_period - 1, s.in_period - 1
  end
end

-- Not a function for each kind: each exchange would create them all, which takes longer than to run one.
for _, report in ipairs(ended) do
  local kind, period, number, value, jitter = unpack(report)
  if kind == 'cooldown' then
    -- A process that was alone for a while knows of it.
    s.cooldown, s.probe_at, s.open = math.max(s.cooldown, now + value), now + PROBE_INTERVAL, 1
  else
    finish(period)
  end
  if kind == 'unused' then
    redis.call('ZREM', LOG, number)
    if period == s.period then s.started = s.started - 1 end
    if number == s.probe then s.probe_at = 0 end
  elseif kind == 'answered' then
    if number == s.probe then s.cooldown = 0 end
    if period == s.period then
      s.allowed = s.allowed + 1
      if s.mark < 0 or number > s.mark then s.open = math.min(s.open + 1, most) end
    elseif period == s.period - 1 then
      s.allowed_before = s.allowed_before + 1
      s.learned = s.allowed_before
    end
  elseif kind == 'rate_limited' and period ~= s.period then
    s.cooldown, s.probe_at = math.max(s.cooldown, now + value), now + PROBE_INTERVAL
  elseif kind == 'rate_limited' then
    if s.allowed > 0 or s.period == 0 then s.strikes = 0 else s.strikes = s.strikes + 1 end
    local longest = math.max(value, math.min(value * 2 ^ s.strikes, LONGEST_GROWTH))
    local ends = now + value + jitter * (longest - value)
    if number == s.probe then s.cooldown = ends else s.cooldown = math.max(s.cooldown, ends) end
    s.probe_at, s.period = now + PROBE_INTERVAL, s.period + 1
    if s.allowed > 0 then s.learned = s.allowed end
    s.allowed_before, s.started, s.allowed, s.in_period = s.allowed, 0, 0, 0
    s.open, s.mark = 1, -1
  end
end
-- It ended its subscription while a permit was on its way to it.
if not listens and not holds then release(mine) end
if has_rates then redis.call('ZREMRANGEBYSCORE', LOG, '-inf', exact(now - longest_rate)) end

local function enqueue(process)
  s.turn = s.turn + 1
  redis.call('ZADD', QUEUE, s.turn, process)
end

-- Those that wait are served in turn, one permit each; without a queue this process is.
local granted = ''
if s.queued > 0 and wants > 0 and not redis.call('ZSCORE', QUEUE, me) then
  enqueue(me)
  s.queued = s.queued + 1
end
while (s.queued > 0 or wants > 0) and wait(0) == 0 do
  local head = s.queued > 0 and redis.call('ZRANGE', QUEUE, 0, 0)[1] or me
  local left = 0
  if head == me then
    if wants > 0 then
      begin(mine)
      granted = granted .. string.format(' %.0f %.0f', s.period, s.number)
      wants = wants - 1
    end
    left = wants
  -- A process that does not listen any more gets nothing.
  elseif redis.call('PUBLISH', channel .. head, string.format('%.0f %.0f', s.period, s.number + 1)) > 0 then
    local entry = unpacked(redis.call('HGET', STATE, head))
    begin(entry)
    renew(head, entry)
    redis.call('HSET', STATE, head, packed(entry))
    left = redis.call('HINCRBY', WANTS, head, -1)
  end
  if s.queued > 0 and left > 0 then enqueue(head) else forget(head) end
end

-- All keys last as long as the state: without the leases, nothing would end what a crashed process holds.
-- At most 31 years: Redis rejects a life that is no 64-bit number of milliseconds, and a service may send any delay.
local life = math.ceil(math.min(1e9, math.max(3600, 2 * longest_rate, s.cooldown - now + PROBE_INTERVAL)))
local rank = s.queued
if wants > 0 and listens then
  if not redis.call('ZSCORE', QUEUE, me) then
    enqueue(me)
    s.queued = s.queued + 1
  end
  redis.call('HSET', WANTS, me, wants)
  rank = redis.call('ZRANK', QUEUE, me)
  redis.call('EXPIRE', QUEUE, life)
  redis.call('EXPIRE', WANTS, life)
else
  forget(me)
end
shared = struct.pack(
  SHARED, s.period, s.number, s.open, s.started, s.allowed, s.allowed_before, s.learned, s.mark,
  s.cooldown, s.probe, s.probe_at, s.strikes, s.in_flight, s.in_period, s.turn, s.queued,
  s.prune_at
)
redis.call('HSET', STATE, 'shared', shared, me, packed(mine))
redis.call('EXPIRE', STATE, life)
redis.call('EXPIRE', LEASES, life)
if has_rates then redis.call('EXPIRE', LOG, life) end
return string.format(
  '%d %.6f %d %.6f %d', known and 1 or 0, wait(rank), rank, math.max(0, s.cooldown - now),
  s.queued > 0 and 1 or 0
) .. granted
