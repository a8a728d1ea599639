-- One exchange between a process and the gate that it shares: the process reports what ended and how many permits it
-- wants; free permits go to the processes that wait, in turn. The rules are those of `_http/gates/window.py`; a test
-- compares the two. Time is the server's alone, and never goes back. All keys hold one hash tag and expire.
--
-- Those whose turn it is are called by a message, which carries nothing: they come and take a permit. A message that is
-- lost, late or doubled loses no permit; who does not come in time gives its turn to the next one.
--
-- KEYS: state, leases, queue, called, log of grants
-- ARGV: one JSON array, because an argument takes longer to pass than its value: channel, lease, max_in_flight,
--       (requests, seconds) of each rate, settings, process, wants, listens, holds, (kind, period, number, granted at,
--       value, jitter) of each report
-- Returns one string for the same reason: known, wait, rank, cooldown, whether a process waits, whether another process
-- has other settings, the time, and the period and the number of each permit.
local STATE, LEASES, QUEUE, CALLED, LOG = unpack(KEYS)
local channel, lease, most, rates, settings, me, wants, listens, holds, ended = unpack(cjson.decode(ARGV[1]))
local PROBE_INTERVAL, LONGEST_GROWTH, CLOCK_ERROR, PATIENCE, AT_ONCE = 60, 20, 0.000001, 0.25, 100
local KEPT_SHARE, LEARNED_MARGIN, SLOWER_SHARE, MEASURED_SHARE, ROUNDED_UP = 0.9, 1.02, 0.95, 0.85, 0.5
local LARGEST_PROBE, CAREFUL_PROBE, CAREFUL_BELOW, SMALLEST_PROBE, FEWEST_MEASURED = 0.5, 0.1, 1.5, 1 / 64, 8

local function exact(number) return string.format('%.17g', number) end

-- One field holds what all share, each other one what a process holds: as numbers, which take less time than names.
local SHARED, ENTRY = '<' .. string.rep('d', 27), '<dddd'
local shared, of_mine, stored = unpack(redis.call('HMGET', STATE, 'shared', me, 'settings'))
local s = {
  period = 0, number = 0, open = most, allowed = 0, cooldown = 0, probe = -1, probe_at = 0, strikes = 0,
  waited = 0, kept_wait = 0, learned = 0, seconds = 0, good_seconds = 0, began = -1, measured = 0, named = 0,
  probe_share = LARGEST_PROBE, rate_probe_at = 0, in_flight = 0, in_period = 0, turn = 0, queued = 0,
  prune_at = 0, longest_rate = 0, clock = 0, shift = 0, span = -1,
}
if shared then
  s.period, s.number, s.open, s.allowed, s.cooldown, s.probe, s.probe_at, s.strikes,
  s.waited, s.kept_wait, s.learned, s.seconds, s.good_seconds, s.began, s.measured, s.named,
  s.probe_share, s.rate_probe_at, s.in_flight, s.in_period, s.turn, s.queued,
  s.prune_at, s.longest_rate, s.clock, s.shift, s.span = struct.unpack(SHARED, shared)
end

local clock = redis.call('TIME')
local now = clock[1] + clock[2] / 1000000 + s.shift
if now < s.clock then
  -- The clock was set back, or another server took over.
  s.shift, now = s.shift + s.clock - now, s.clock
end
s.clock = now

-- Kept for the longest rate of any process: their settings may differ.
for _, rate in ipairs(rates) do s.longest_rate = math.max(s.longest_rate, rate[2]) end
local differs = stored and stored ~= settings
if stored ~= settings then redis.call('HSET', STATE, 'settings', settings) end

-- What a process holds: permits in all, those of the period that it was last granted one in, and until when.
local function unpacked(packed)
  local entry = {held = 0, period = -1, in_period = 0, expires = 0}
  if packed then entry.held, entry.period, entry.in_period, entry.expires = struct.unpack(ENTRY, packed) end
  return entry
end

local function forget(process)
  if s.queued > 0 and redis.call('ZREM', QUEUE, process) == 1 then
    redis.call('HDEL', CALLED, process)
    s.queued = s.queued - 1
  end
end

local function enqueue(process)
  s.turn = s.turn + 1
  redis.call('HDEL', CALLED, process)
  s.queued = s.queued + redis.call('ZADD', QUEUE, s.turn, process)
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
  local dead = redis.call('ZRANGEBYSCORE', LEASES, '-inf', exact(now), 'LIMIT', 0, AT_ONCE)
  if #dead < AT_ONCE then s.prune_at = now + lease / 10 end
  for _, process in ipairs(dead) do
    local entry = process == me and mine or unpacked(redis.call('HGET', STATE, process))
    if entry.held > 0 and process ~= me then forget(process) end
    release(entry)
    redis.call('HDEL', STATE, process)
    redis.call('ZREM', LEASES, process)
  end
end
if mine.expires <= now then release(mine) end
if mine.expires < now + lease * 2 / 3 then
  mine.expires = now + lease
  redis.call('ZADD', LEASES, exact(mine.expires), me)
end

-- Returns how many of a rate may start now, and else the seconds until one may, after `ahead` others.
local function of_rate(requests, per, ahead)
  local after = '(' .. exact(now - per + CLOCK_ERROR)
  local count = redis.call('ZCARD', LOG)
  if count >= requests then count = redis.call('ZCOUNT', LOG, after, '+inf') end
  if count < requests then return requests - count, 0 end
  local index = math.min(count - requests + ahead, count - 1)
  local entry = redis.call('ZRANGEBYSCORE', LOG, after, '+inf', 'WITHSCORES', 'LIMIT', index, 1)
  return 0, entry[2] + per - now
end

local function counted_seconds(seconds)
  return seconds < 1 and seconds or math.floor(seconds) * LEARNED_MARGIN
end

local function set_rate(requests, seconds, probe_share)
  s.learned, s.seconds, s.probe_share = requests, seconds, probe_share
  if seconds < CAREFUL_BELOW then s.probe_share = math.min(probe_share, CAREFUL_PROBE) end
  s.rate_probe_at = now + math.max(s.named / s.probe_share, seconds)
end

-- Changes the learned rate after a cooldown, when the responses have come to what was sent before it.
local function learn()
  local span = s.span
  local measured = span <= LONGEST_GROWTH and s.measured or 0
  s.span = -1
  if s.learned == 0 and measured > 0 and measured < FEWEST_MEASURED then return end
  s.began, s.measured = -1, 0
  if s.learned == 0 then
    if measured == 0 or span <= 0 then return end
    set_rate(measured, counted_seconds(span), LARGEST_PROBE)
  elseif s.seconds < s.good_seconds then
    set_rate(s.learned, s.good_seconds, math.max(s.probe_share / 2, SMALLEST_PROBE))
  else
    local requests, each, share = s.learned, s.seconds / s.learned / SLOWER_SHARE, s.probe_share
    if measured > 0 then
      local counted = counted_seconds(math.max(span - ROUNDED_UP, math.min(span, 1)))
      each = math.max(each, counted / measured / MEASURED_SHARE)
      requests = math.max(1, math.floor(math.min(requests, measured) * MEASURED_SHARE))
    end
    if requests * each >= CAREFUL_BELOW then share = LARGEST_PROBE end
    set_rate(requests, requests * each, share)
  end
  s.good_seconds = s.seconds
end

-- Returns how many may start now, and else the seconds until one more may: -1 for until another ends.
local asked = wants > 0
local function room(ahead)
  local left = s.cooldown - now
  if left > CLOCK_ERROR and s.probe_at - now > CLOCK_ERROR then return 0, math.min(left, s.probe_at - now) end
  if s.span >= 0 then learn() end
  local free = math.min(math.min(s.open, most) - s.in_period, most - s.in_flight)
  if free <= 0 then return 0, -1 end
  if left > CLOCK_ERROR then free = 1 end
  local longest = 0
  for _, rate in ipairs(rates) do
    local vacant, seconds = of_rate(rate[1], rate[2], ahead)
    free, longest = math.min(free, vacant), math.max(longest, seconds)
  end
  if s.learned > 0 then
    local vacant, seconds = of_rate(s.learned, s.seconds, ahead)
    if vacant == 0 and now >= s.rate_probe_at and (asked or s.queued > 0) then
      s.good_seconds, s.open = s.seconds, math.min(s.in_period + 1, most)
      set_rate(s.learned, s.seconds * (1 - s.probe_share), s.probe_share)
      vacant, seconds = of_rate(s.learned, s.seconds, ahead)
      free = math.min(free, s.open - s.in_period)
    end
    free, longest = math.min(free, vacant), math.max(longest, seconds)
  end
  return free, longest
end

local function finish(period)
  -- After an expired lease it was given back already.
  if mine.held == 0 then return end
  mine.held, s.in_flight = mine.held - 1, s.in_flight - 1
  if period == s.period and mine.period == period and mine.in_period > 0 then
    mine.in_period, s.in_period = mine.in_period - 1, s.in_period - 1
  end
end

local function answer()
  if s.strikes > 0 and s.allowed == 0 then s.kept_wait = s.waited end
  s.allowed, s.open = s.allowed + 1, math.min(s.open + 1, most)
end

-- Not a function for each kind: each exchange would create them all, which takes longer than to run one.
for _, report in ipairs(ended) do
  local kind, period, number, at, value, jitter = unpack(report)
  if kind == 'cooldown' then
    -- A process that was alone for a while knows of it.
    s.cooldown, s.probe_at, s.open = math.max(s.cooldown, now + value), now + PROBE_INTERVAL, 1
  else
    finish(period)
  end
  if kind == 'unused' then
    redis.call('ZREM', LOG, number)
    if number == s.probe then s.probe, s.probe_at = -1, 0 end
  elseif kind == 'answered' then
    if number == s.probe then s.cooldown = 0 end
    if period == s.period or (s.span >= 0 and period == s.period - 1) then s.measured = s.measured + 1 end
    if period == s.period then answer() end
  elseif kind == 'rate_limited' and period ~= s.period then
    s.cooldown, s.probe_at = math.max(s.cooldown, now + value), now + PROBE_INTERVAL
  elseif kind == 'rate_limited' then
    s.span, s.named = value, value
    if s.began >= 0 then s.span = at - s.began + value end
    if s.allowed > 0 or s.period == 0 then s.strikes = 0 else s.strikes = s.strikes + 1 end
    local shortest = value
    if s.strikes == 0 and s.kept_wait > value then
      shortest, s.kept_wait = s.kept_wait, s.kept_wait * KEPT_SHARE
    end
    local longest = math.max(shortest, math.min(value * 2 ^ s.strikes, LONGEST_GROWTH))
    s.waited = shortest + jitter * (longest - shortest)
    local ends = now + s.waited
    if number == s.probe then s.cooldown = ends else s.cooldown = math.max(s.cooldown, ends) end
    s.probe_at, s.period = now + PROBE_INTERVAL, s.period + 1
    s.allowed, s.in_period, s.open = 0, 0, 1
  end
end

local granted = ''
local function take()
  if mine.period ~= s.period then mine.period, mine.in_period = s.period, 0 end
  mine.held, mine.in_period = mine.held + 1, mine.in_period + 1
  s.in_flight, s.in_period, s.number = s.in_flight + 1, s.in_period + 1, s.number + 1
  if s.began < 0 then s.began = now end
  if s.cooldown - now > CLOCK_ERROR then s.probe, s.probe_at = s.number, now + PROBE_INTERVAL end
  local longest = math.max(s.longest_rate, s.seconds)
  if longest > 0 then
    redis.call('ZREMRANGEBYSCORE', LOG, '-inf', exact(now - longest))
    redis.call('ZADD', LOG, exact(now), s.number)
  end
  granted = granted .. string.format(' %.0f %.0f', s.period, s.number)
  wants = wants - 1
end

-- Who was called and comes has its turn now, and takes its share of what is free. The others take what nobody waits for.
local turns = 0
if wants > 0 and s.queued > 0 then
  if redis.call('HGET', CALLED, me) then
    turns = math.max(1, math.floor(room(0) / s.queued))
    enqueue(me)
  elseif not redis.call('ZSCORE', QUEUE, me) then
    enqueue(me)
  end
end
while wants > 0 and (s.queued == 0 or turns > 0) and room(0) > 0 do
  take()
  turns = turns - 1
end

-- As many of those that wait as may start are called. Returns whether something changed.
local function call()
  local free = room(0)
  for _, head in ipairs(redis.call('ZRANGE', QUEUE, 0, math.min(free, AT_ONCE) - 1)) do
    if head == me then
      if wants > 0 then take() end
      if wants > 0 then enqueue(me) else forget(me) end
      return true
    end
    local at = redis.call('HGET', CALLED, head)
    if not at then
      if redis.call('PUBLISH', channel .. head, '') > 0 then
        redis.call('HSET', CALLED, head, exact(now))
      else
        forget(head)
        return true
      end
    elseif now - at > PATIENCE then
      enqueue(head)
      return true
    end
  end
  return false
end
local rounds = 0
while s.queued > 0 and rounds < AT_ONCE and room(0) > 0 and call() do rounds = rounds + 1 end

-- All keys last as long as the state: without the leases, nothing would end what a crashed process holds.
-- At most 31 years: Redis rejects a life that is no 64-bit number of milliseconds, and a service may send any delay.
local life = math.ceil(math.min(1e9, math.max(3600, 2 * s.longest_rate, s.cooldown - now + PROBE_INTERVAL)))
local rank = s.queued
if wants > 0 and listens then
  if not redis.call('ZSCORE', QUEUE, me) then enqueue(me) end
  rank = redis.call('ZRANK', QUEUE, me)
else
  forget(me)
end
local _, seconds = room(rank)
-- What is free is kept for those that were called.
if seconds == 0 and wants > 0 then seconds = PATIENCE end
shared = struct.pack(
  SHARED, s.period, s.number, s.open, s.allowed, s.cooldown, s.probe, s.probe_at, s.strikes,
  s.waited, s.kept_wait, s.learned, s.seconds, s.good_seconds, s.began, s.measured, s.named,
  s.probe_share, s.rate_probe_at, s.in_flight, s.in_period, s.turn, s.queued,
  s.prune_at, s.longest_rate, s.clock, s.shift, s.span
)
local entry = struct.pack(ENTRY, mine.held, mine.period, mine.in_period, mine.expires)
redis.call('HSET', STATE, 'shared', shared, me, entry)
redis.call('EXPIRE', STATE, life)
redis.call('EXPIRE', LEASES, life)
if s.queued > 0 then
  redis.call('EXPIRE', QUEUE, life)
  redis.call('EXPIRE', CALLED, life)
end
redis.call('EXPIRE', LOG, life)
return string.format(
  '%d %.6f %d %.6f %d %d %.6f', known and 1 or 0, seconds, rank, math.max(0, s.cooldown - now),
  s.queued > 0 and 1 or 0, differs and 1 or 0, now
) .. granted
