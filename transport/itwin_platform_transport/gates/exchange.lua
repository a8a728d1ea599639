-- One exchange between a process and the gate that it shares. The process reports the permits that ended and says how
-- many it wants. Free permits go to the processes that wait, in turn. The parts are those of `window.py` and
-- `learned_rate.py`, with the same names; two tests compare them. The time is that of the server, and never goes back.
-- All keys share one hash tag and expire.
--
-- The script PUBLISHes an empty wake-up to the next process of the queue, which then exchanges and gets its permit. A
-- wake-up that is lost, late or doubled costs no permit: a process that does not exchange in time gives its turn to the
-- next one, and a process that receives no messages polls. Permits and waiting processes are counted in their sets, so
-- a lost key costs no permit for longer than a lease.
--
-- KEYS: state, permits in flight with the time at which each expires, queue, log of grants
-- ARGV: one JSON array, because an argument takes longer to pass than a value of the array: channel, lease,
--       max_in_flight, (requests, seconds) of each rate, settings, process, whether it had lost the server, how many
--       permits it wants, whether it listens, numbers of the permits whose lease it renews, and each report: (kind,
--       number, granted at), with the seconds of a cooldown, and a jitter for a 429
-- Returns one string for the same reason: wait, rank, cooldown, the seconds in which only 429s have come or a number
-- below 0, whether a process waits, whether another process has other settings, the time, the number of each permit.
local STATE, FLIGHT, QUEUE, LOG = unpack(KEYS)
local channel, lease, most, rates, settings, me, rejoins, wants, listens, kept, ended = unpack(cjson.decode(ARGV[1]))
-- Constants of the window: see `window.py`.
local PROBE_INTERVAL, LONGEST_GROWTH, MOST_DOUBLINGS, KEPT_SHARE = 60, 20, 63, 0.9
-- Constants of the learned rate: see `learned_rate.py`.
local MARGIN, FEWEST_REQUESTS, LONGEST_PERIOD, ROUNDED_UP, SLOWER, SHARE_OF_MEASURED = 1.04, 8, 20, 0.5, 0.95, 0.85
local FIRST_PROBE, CAREFUL_PROBE, CAREFUL_BELOW, SMALLEST_PROBE, LARGEST_PROBE = 0.5, 0.1, 1.5, 1 / 32, 0.25
local COSTS_BETWEEN_PROBES, LEAST_COST = 3, 0.5
-- Seconds of rounding that may be left of a time that is over.
local CLOCK_ERROR = 0.000001
-- Seconds for which a woken process keeps its turn; seconds within which it exchanges if it has received the wake-up;
-- seconds between two polls of a process that receives none.
local TURN_TIMEOUT, PROMPT, FAST_POLL = 0.25, 0.02, 0.1
-- Most expired permits and most woken processes of one exchange, because the script blocks the server.
local MOST_AT_ONCE = 100

local function exact(number) return string.format('%.17g', number) end

-- The state: each part with the names of its class. Of the queue: when each process was woken, the processes that have
-- missed a wake-up, and the last turn. Of the clock: its last time, and how far it is ahead of the server's time. A
-- field that is nil is not stored.
local stored = redis.call('GET', STATE)
local s = stored and cmsgpack.unpack(stored) or {
  cooldown = { ends = 0, probe_at = 0, grown = 0, kept = 0, had_success = true, lasted = 0 },
  slow_start = { open = most, in_period = 0, began = 0, previous = 0 },
  learned = { requests = 0, seconds = 0, good_seconds = 0, share = FIRST_PROBE, probe_at = 0, accepted = 0 },
  number = 0, longest_rate = 0, woken_at = {}, missed = {}, turn = 0, clock = 0, shift = 0,
}
local cooldown, slow_start, learned = s.cooldown, s.slow_start, s.learned
local clock = redis.call('TIME')
local now = clock[1] + clock[2] / 1000000 + s.shift
if now < s.clock then
  -- The clock was set back, or another server took over.
  s.shift, now = s.shift + s.clock - now, s.clock
end
s.clock = now
if not stored then
  -- A lost state may have granted permits that have not ended: their numbers must not be granted again.
  s.number = math.floor(now * 1000)
  slow_start.began, slow_start.previous = s.number, s.number
end
local in_flight, queued = redis.call('ZCARD', FLIGHT), redis.call('ZCARD', QUEUE)
slow_start.in_period = math.min(slow_start.in_period, in_flight)

-- The log is kept for the longest rate of any process: their settings may differ.
for _, rate in ipairs(rates) do s.longest_rate = math.max(s.longest_rate, rate[2]) end
local differs = s.settings and s.settings ~= settings
s.settings = settings

-- Permits: in flight until they end or their lease expires.
local function finish(number, process)
  -- A permit whose lease has expired was removed before.
  if redis.call('ZREM', FLIGHT, number .. ' ' .. process) == 0 then return end
  in_flight = in_flight - 1
  if number > slow_start.began then slow_start.in_period = slow_start.in_period - 1 end
end

-- Queue: processes by turn.
local function enqueue(process)
  s.woken_at[process] = nil
  s.turn = s.turn + 1
  queued = queued + redis.call('ZADD', QUEUE, s.turn, process)
end

local function dequeue(process)
  s.woken_at[process], s.missed[process] = nil, nil
  queued = queued - redis.call('ZREM', QUEUE, process)
end

-- A permit whose lease is renewed is in flight, also if the key of the permits was lost, or the lease had expired.
for _, number in ipairs(kept) do
  if redis.call('ZADD', FLIGHT, exact(now + lease), string.format('%.0f %s', number, me)) == 1 then
    in_flight = in_flight + 1
    if number > slow_start.began then slow_start.in_period = slow_start.in_period + 1 end
  end
end
-- A process that was silent for longer than a lease loses its permits, and its place in the queue.
for _, permit in ipairs(redis.call('ZRANGEBYSCORE', FLIGHT, '-inf', exact(now), 'LIMIT', 0, MOST_AT_ONCE)) do
  local number, process = string.match(permit, '(%d+) (.+)')
  finish(tonumber(number), process)
  if process ~= me then dequeue(process) end
end
if rejoins then
  -- The other permits of this process have ended, and the report was lost.
  local is_kept = {}
  for _, number in ipairs(kept) do is_kept[number] = true end
  for _, permit in ipairs(redis.call('ZRANGE', FLIGHT, 0, -1)) do
    local number, process = string.match(permit, '(%d+) (.+)')
    if process == me and not is_kept[tonumber(number)] then finish(tonumber(number), process) end
  end
end

-- Known and learned rates: returns how many requests of a rate may start now, or 0 and the seconds until one may start
-- after `ahead` others.
local function until_free(requests, per, ahead)
  local after = '(' .. exact(now - per + CLOCK_ERROR)
  local count = redis.call('ZCARD', LOG)
  if count >= requests then count = redis.call('ZCOUNT', LOG, after, '+inf') end
  if count < requests then return requests - count, 0 end
  local index = math.min(count - requests + ahead, count - 1)
  local entry = redis.call('ZRANGEBYSCORE', LOG, after, '+inf', 'WITHSCORES', 'LIMIT', index, 1)
  return 0, entry[2] + per - now
end

-- LearnedRate: `settle` and `try_faster`.
local function counted_seconds(seconds)
  return seconds < 1 and seconds or math.floor(seconds) * MARGIN
end

local function set_rate(requests, seconds, costs)
  learned.requests, learned.seconds = requests, seconds
  learned.probe_at = now + math.max(costs * math.max(cooldown.lasted, LEAST_COST * seconds), seconds)
end

local function keep_to(requests, seconds, share)
  learned.good_seconds = seconds
  learned.share = seconds < CAREFUL_BELOW and math.min(share, CAREFUL_PROBE) or share
  set_rate(requests, seconds, 1 / learned.share)
end

local function try_faster()
  if learned.seconds < learned.good_seconds then learned.share = math.min(2 * learned.share, LARGEST_PROBE) end
  learned.good_seconds = learned.seconds
  set_rate(learned.requests, learned.seconds * (1 - learned.share), COSTS_BETWEEN_PROBES)
end

local function settle()
  local span, count = learned.span, learned.span <= LONGEST_PERIOD and learned.accepted or 0
  learned.span = nil
  if learned.requests == 0 and count > 0 and count < FEWEST_REQUESTS then return end
  learned.began, learned.accepted = nil, 0
  if learned.requests == 0 then
    if count > 0 and span > 0 then keep_to(count, counted_seconds(span), FIRST_PROBE) end
  elseif learned.seconds < learned.good_seconds then
    keep_to(learned.requests, learned.good_seconds, math.max(learned.share / 2, SMALLEST_PROBE))
  else
    local requests, share, seconds_each = learned.requests, learned.share, learned.seconds / learned.requests / SLOWER
    if count > 0 then
      local measured = counted_seconds(math.max(span - ROUNDED_UP, math.min(span, 1)))
      seconds_each = math.max(seconds_each, measured / count / SHARE_OF_MEASURED)
      requests = math.max(1, math.floor(math.min(requests, count) * SHARE_OF_MEASURED))
    end
    if requests * seconds_each >= CAREFUL_BELOW then share = FIRST_PROBE end
    keep_to(requests, requests * seconds_each, share)
  end
end

-- Window: `advance` and `next_start`. Returns how many requests may start now, or 0 and the seconds until one may:
-- -1 if one has to end first.
local asked = wants > 0
local function startable(ahead)
  local left = cooldown.ends - now
  if left > CLOCK_ERROR and cooldown.probe_at - now > CLOCK_ERROR then
    return 0, math.min(left, cooldown.probe_at - now)
  end
  if learned.span then settle() end
  local free = math.min(math.min(slow_start.open, most) - slow_start.in_period, most - in_flight)
  if free <= 0 then return 0, -1 end
  if learned.requests > 0 and now >= learned.probe_at and (asked or queued > 0)
    and until_free(learned.requests, learned.seconds, 0) == 0 then
    slow_start.open = math.min(slow_start.in_period + 1, most)
    try_faster()
    free = math.min(free, slow_start.open - slow_start.in_period)
  end
  if left > CLOCK_ERROR then free = 1 end
  local longest = 0
  for _, rate in ipairs(learned.requests > 0 and { { learned.requests, learned.seconds }, unpack(rates) } or rates) do
    local vacant, seconds = until_free(rate[1], rate[2], ahead)
    free, longest = math.min(free, vacant), math.max(longest, seconds)
  end
  return free, longest
end

-- Window: the ends of permits. Without functions, because each exchange would create them again.
for _, report in ipairs(ended) do
  local kind, number, at, value, jitter = unpack(report)
  local is_current = number > slow_start.began
  if kind ~= 'cooldown' then finish(number, me) end
  if kind == 'unused' then
    redis.call('ZREM', LOG, number)
    if number == cooldown.probe then cooldown.probe, cooldown.probe_at = nil, 0 end
  elseif kind == 'responded' then
    cooldown.rejecting_since = nil
    if number == cooldown.probe then cooldown.ends = 0 end
    if number > (learned.span and slow_start.previous or slow_start.began) then
      learned.accepted = learned.accepted + 1
    end
    if is_current then
      if cooldown.grown > 0 and not cooldown.had_success then cooldown.kept = cooldown.lasted end
      cooldown.had_success, slow_start.open = true, math.min(slow_start.open + 1, most)
    end
  elseif kind ~= 'abandoned' then
    -- A 429, or the cooldown of a process that had lost the server: its number is 0.
    cooldown.rejecting_since, cooldown.probe_at = cooldown.rejecting_since or now, now + PROBE_INTERVAL
    if kind == 'cooldown' then slow_start.open = 1 end
    if not is_current then
      cooldown.ends = math.max(cooldown.ends, now + value)
    else
      learned.span = at - (learned.began or at) + value
      cooldown.grown = cooldown.had_success and 0 or cooldown.grown + 1
      local shortest = value
      if cooldown.grown == 0 and cooldown.kept > value then
        shortest, cooldown.kept = cooldown.kept, cooldown.kept * KEPT_SHARE
      end
      local longest = math.max(shortest, math.min(value * 2 ^ math.min(cooldown.grown, MOST_DOUBLINGS), LONGEST_GROWTH))
      cooldown.lasted, cooldown.had_success = shortest + jitter * (longest - shortest), false
      cooldown.ends = math.max(number == cooldown.probe and 0 or cooldown.ends, now + cooldown.lasted)
      slow_start.previous, slow_start.began = slow_start.began, s.number
      slow_start.in_period, slow_start.open = 0, 1
    end
  end
end

-- Window: `begin`.
local granted = ''
local function take()
  in_flight, slow_start.in_period, s.number = in_flight + 1, slow_start.in_period + 1, s.number + 1
  learned.began = learned.began or now
  if cooldown.ends - now > CLOCK_ERROR then cooldown.probe, cooldown.probe_at = s.number, now + PROBE_INTERVAL end
  redis.call('ZADD', FLIGHT, exact(now + lease), string.format('%.0f %s', s.number, me))
  local longest = math.max(s.longest_rate, learned.seconds)
  if longest > 0 then
    redis.call('ZREMRANGEBYSCORE', LOG, '-inf', exact(now - longest))
    redis.call('ZADD', LOG, exact(now), s.number)
  end
  granted = granted .. string.format(' %.0f', s.number)
  wants = wants - 1
end

-- Queue: a woken process takes its share of the free permits. Another process takes a permit only if no process waits.
local turns = 0
if wants > 0 and queued > 0 then
  if s.woken_at[me] then
    if now - s.woken_at[me] < PROMPT then s.missed[me] = nil end
    turns = math.max(1, math.floor(startable(0) / queued))
    enqueue(me)
  elseif not redis.call('ZSCORE', QUEUE, me) then
    enqueue(me)
  end
end
while wants > 0 and (queued == 0 or turns > 0) and startable(0) > 0 do
  take()
  turns = turns - 1
end

-- Queue: wake as many processes as requests may start. Returns whether the queue has changed.
local function wake()
  for _, head in ipairs(redis.call('ZRANGE', QUEUE, 0, math.min(startable(0), MOST_AT_ONCE) - 1)) do
    if head == me then
      if wants > 0 then take() end
      if wants > 0 then enqueue(me) else dequeue(me) end
      return true
    end
    local at = s.woken_at[head]
    if not at then
      s.missed[head] = redis.call('PUBLISH', channel .. head, '') == 0 or s.missed[head]
    elseif now - at > TURN_TIMEOUT then
      -- Redis counts the subscriber even if its messages are lost. The process polls until it is prompt again.
      s.missed[head] = true
      enqueue(head)
      return true
    end
    s.woken_at[head] = at or now
  end
  return false
end
local rounds = 0
while queued > 0 and rounds < MOST_AT_ONCE and startable(0) > 0 and wake() do rounds = rounds + 1 end

local rank = queued
if wants > 0 then
  if not redis.call('ZSCORE', QUEUE, me) then enqueue(me) end
  rank = redis.call('ZRANK', QUEUE, me)
elseif queued > 0 then
  dequeue(me)
end
local _, seconds = startable(rank)
-- Free permits are reserved for the processes that were woken.
if seconds == 0 and wants > 0 then seconds = TURN_TIMEOUT end
-- A process that receives no wake-ups polls for the end of a permit, and for its turn: their times are not known.
if (s.missed[me] or not listens) and wants > 0 and (seconds < 0 or seconds == TURN_TIMEOUT) then seconds = FAST_POLL end

-- All keys expire with the state, after 31 years at most: Redis rejects more milliseconds than 64 bits can hold, and a
-- service may send any delay.
local lifetime = math.ceil(math.min(1e9, math.max(3600, 2 * s.longest_rate, cooldown.ends - now + PROBE_INTERVAL)))
redis.call('SET', STATE, cmsgpack.pack(s), 'EX', string.format('%.0f', lifetime))
for _, key in ipairs({ FLIGHT, QUEUE, LOG }) do redis.call('EXPIRE', key, lifetime) end
return string.format(
  '%.6f %d %.6f %.6f %d %d %.6f', seconds, rank, math.max(0, cooldown.ends - now),
  now - (cooldown.rejecting_since or now + 1), queued > 0 and 1 or 0, differs and 1 or 0, now
) .. granted
