-- One exchange between a process and the gate that it shares: the process reports what ended and how many permits it
-- wants; free permits go to the processes that wait, in turn. The rules are those of `gates/window.py`; a test
-- compares the two. Time is the server's alone, and never goes back. All keys hold one hash tag and expire.
--
-- Those whose turn it is are called by a message, which carries nothing: they come and take a permit. A message that is
-- lost, late or doubled loses no permit; who does not come in time gives its turn to the next one, and whoever hears
-- nothing asks often. What is in flight and who waits is counted in the sets: a key that is lost, by whatever, loses no
-- permit for longer than a lease.
--
-- KEYS: state, permits in flight with the time at which each expires, queue, log of grants
-- ARGV: one JSON array, because an argument takes longer to pass than its value: channel, lease, max_in_flight,
--       (requests, seconds) of each rate, settings, process, whether it lost the server before, wants, listens, numbers of
--       the permits to keep for another lease, (kind, number, granted at) of each report, and
--       of a cooldown its seconds; of a 429 also a jitter
-- Returns one string for the same reason: wait, rank, cooldown, whether a process waits, whether another process has
-- other settings, the time, and the number of each permit.
local STATE, FLIGHT, QUEUE, LOG = unpack(KEYS)
local channel, lease, most, rates, settings, me, rejoins, wants, listens, kept, ended = unpack(cjson.decode(ARGV[1]))
local PROBE_INTERVAL, LONGEST_GROWTH, CLOCK_ERROR, PATIENCE, OFTEN, PROMPT, AT_ONCE = 60, 20, 0.000001, 0.25, 0.1, 0.02, 100
local KEPT_SHARE, LEARNED_MARGIN, SLOWER_SHARE, MEASURED_SHARE, ROUNDED_UP = 0.9, 1.04, 0.95, 0.85, 0.5
local LARGEST_PROBE, CAREFUL_PROBE, CAREFUL_BELOW, SMALLEST_PROBE, LEAST_LOSS = 0.5, 0.1, 1.5, 1 / 32, 0.5
local LARGEST_NEXT_PROBE, NEXT_PROBE_AFTER, FEWEST_MEASURED = 0.25, 3, 8

local function exact(number) return string.format('%.17g', number) end

-- The names are those of the window. Also: the processes whose turn it is and when they were called, those that did not
-- hear it, the turn of the last one in the queue, and the clock with its shift. What is nil is not stored.
local stored = redis.call('GET', STATE)
local s = stored and cmsgpack.unpack(stored) or {
  number = 0, boundary = 0, previous = 0, in_period = 0, open = most, allowed = 0, cooldown = 0,
  probe_at = 0, strikes = 0, waited = 0, kept_wait = 0, learned = 0, seconds = 0, good_seconds = 0, measured = 0,
  probe_share = LARGEST_PROBE, rate_probe_at = 0, longest_rate = 0, called = {}, unheard = {}, turn = 0, clock = 0,
  shift = 0,
}
local clock = redis.call('TIME')
local now = clock[1] + clock[2] / 1000000 + s.shift
if now < s.clock then
  -- The clock was set back, or another server took over.
  s.shift, now = s.shift + s.clock - now, s.clock
end
s.clock = now
if not stored then
  -- Permits that are out may be of a state that was lost: their numbers must not come again.
  s.number = math.floor(now * 1000)
  s.boundary, s.previous = s.number, s.number
end
local in_flight, queued = redis.call('ZCARD', FLIGHT), redis.call('ZCARD', QUEUE)
s.in_period = math.min(s.in_period, in_flight)

-- Kept for the longest rate of any process: their settings may differ.
for _, rate in ipairs(rates) do s.longest_rate = math.max(s.longest_rate, rate[2]) end
local differs = s.settings and s.settings ~= settings
s.settings = settings

local function forget(process)
  s.called[process], s.unheard[process] = nil, nil
  queued = queued - redis.call('ZREM', QUEUE, process)
end

local function enqueue(process)
  s.called[process] = nil
  s.turn = s.turn + 1
  queued = queued + redis.call('ZADD', QUEUE, s.turn, process)
end

local function finish(number, process)
  -- After an expired lease it is gone already.
  if redis.call('ZREM', FLIGHT, number .. ' ' .. process) == 0 then return end
  in_flight = in_flight - 1
  if number > s.boundary then s.in_period = s.in_period - 1 end
end

-- A process that is silent for too long gives its permits back, and does not wait any more either. What it keeps is in
-- flight, also where the key of the permits was lost, or their lease had ended.
for _, number in ipairs(kept) do
  if redis.call('ZADD', FLIGHT, exact(now + lease), string.format('%.0f %s', number, me)) == 1 then
    in_flight = in_flight + 1
    if number > s.boundary then s.in_period = s.in_period + 1 end
  end
end
for _, permit in ipairs(redis.call('ZRANGEBYSCORE', FLIGHT, '-inf', exact(now), 'LIMIT', 0, AT_ONCE)) do
  local number, process = string.match(permit, '(%d+) (.+)')
  finish(tonumber(number), process)
  if process ~= me then forget(process) end
end

if rejoins then
  -- What it does not hold any more has ended unheard.
  local is_kept = {}
  for _, number in ipairs(kept) do is_kept[number] = true end
  for _, permit in ipairs(redis.call('ZRANGE', FLIGHT, 0, -1)) do
    local number, process = string.match(permit, '(%d+) (.+)')
    if process == me and not is_kept[tonumber(number)] then finish(tonumber(number), process) end
  end
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

local function set_rate(requests, seconds, losses)
  s.learned, s.seconds = requests, seconds
  s.rate_probe_at = now + math.max(losses * math.max(s.waited, LEAST_LOSS * seconds), seconds)
end

local function keep_to(requests, seconds, probe_share)
  s.good_seconds = seconds
  s.probe_share = seconds < CAREFUL_BELOW and math.min(probe_share, CAREFUL_PROBE) or probe_share
  set_rate(requests, seconds, 1 / s.probe_share)
end

local function try_faster()
  if s.seconds < s.good_seconds then s.probe_share = math.min(2 * s.probe_share, LARGEST_NEXT_PROBE) end
  s.good_seconds, s.open = s.seconds, math.min(s.in_period + 1, most)
  set_rate(s.learned, s.seconds * (1 - s.probe_share), NEXT_PROBE_AFTER)
end

-- Changes the learned rate after a cooldown, when the responses have come to what was sent before it.
local function learn()
  local span = s.span
  local measured = span <= LONGEST_GROWTH and s.measured or 0
  s.span = nil
  if s.learned == 0 and measured > 0 and measured < FEWEST_MEASURED then return end
  s.began, s.measured = nil, 0
  if s.learned == 0 then
    if measured == 0 or span <= 0 then return end
    keep_to(measured, counted_seconds(span), LARGEST_PROBE)
  elseif s.seconds < s.good_seconds then
    keep_to(s.learned, s.good_seconds, math.max(s.probe_share / 2, SMALLEST_PROBE))
  else
    local requests, each, share = s.learned, s.seconds / s.learned / SLOWER_SHARE, s.probe_share
    if measured > 0 then
      local counted = counted_seconds(math.max(span - ROUNDED_UP, math.min(span, 1)))
      each = math.max(each, counted / measured / MEASURED_SHARE)
      requests = math.max(1, math.floor(math.min(requests, measured) * MEASURED_SHARE))
    end
    if requests * each >= CAREFUL_BELOW then share = LARGEST_PROBE end
    keep_to(requests, requests * each, share)
  end
end

-- Returns how many may start now, and else the seconds until one more may: -1 for until another ends.
local asked = wants > 0
local function room(ahead)
  local left = s.cooldown - now
  if left > CLOCK_ERROR and s.probe_at - now > CLOCK_ERROR then return 0, math.min(left, s.probe_at - now) end
  if s.span then learn() end
  local free = math.min(math.min(s.open, most) - s.in_period, most - in_flight)
  if free <= 0 then return 0, -1 end
  if left > CLOCK_ERROR then free = 1 end
  local longest = 0
  for _, rate in ipairs(rates) do
    local vacant, seconds = of_rate(rate[1], rate[2], ahead)
    free, longest = math.min(free, vacant), math.max(longest, seconds)
  end
  if s.learned > 0 then
    local vacant, seconds = of_rate(s.learned, s.seconds, ahead)
    if vacant == 0 and now >= s.rate_probe_at and (asked or queued > 0) then
      try_faster()
      vacant, seconds = of_rate(s.learned, s.seconds, ahead)
      free = math.min(free, s.open - s.in_period)
    end
    free, longest = math.min(free, vacant), math.max(longest, seconds)
  end
  return free, longest
end

-- Not a function for each kind: each exchange would create them all, which takes longer than to run one.
for _, report in ipairs(ended) do
  local kind, number, at, value, jitter = unpack(report)
  local is_of_period = number > s.boundary
  if kind == 'cooldown' then
    -- A process that was alone for a while knows of it.
    s.cooldown, s.probe_at, s.open = math.max(s.cooldown, now + value), now + PROBE_INTERVAL, 1
  else
    finish(number, me)
  end
  if kind == 'unused' then
    redis.call('ZREM', LOG, number)
    if number == s.probe then s.probe, s.probe_at = nil, 0 end
  elseif kind == 'responded' then
    if number == s.probe then s.cooldown = 0 end
    if number > (s.span and s.previous or s.boundary) then s.measured = s.measured + 1 end
    if is_of_period then
      if s.strikes > 0 and s.allowed == 0 then s.kept_wait = s.waited end
      s.allowed, s.open = s.allowed + 1, math.min(s.open + 1, most)
    end
  elseif kind == 'rate_limited' and not is_of_period then
    s.cooldown, s.probe_at = math.max(s.cooldown, now + value), now + PROBE_INTERVAL
  elseif kind == 'rate_limited' then
    s.span = at - (s.began or at) + value
    if s.allowed > 0 or s.boundary == s.previous then s.strikes = 0 else s.strikes = s.strikes + 1 end
    local shortest = value
    if s.strikes == 0 and s.kept_wait > value then
      shortest, s.kept_wait = s.kept_wait, s.kept_wait * KEPT_SHARE
    end
    local longest = math.max(shortest, math.min(value * 2 ^ s.strikes, LONGEST_GROWTH))
    s.waited = shortest + jitter * (longest - shortest)
    local ends = now + s.waited
    if number == s.probe then s.cooldown = ends else s.cooldown = math.max(s.cooldown, ends) end
    s.probe_at, s.previous, s.boundary = now + PROBE_INTERVAL, s.boundary, s.number
    s.allowed, s.in_period, s.open = 0, 0, 1
  end
end

local granted = ''
local function take()
  in_flight, s.in_period, s.number, s.began = in_flight + 1, s.in_period + 1, s.number + 1, s.began or now
  if s.cooldown - now > CLOCK_ERROR then s.probe, s.probe_at = s.number, now + PROBE_INTERVAL end
  redis.call('ZADD', FLIGHT, exact(now + lease), string.format('%.0f %s', s.number, me))
  local longest = math.max(s.longest_rate, s.seconds)
  if longest > 0 then
    redis.call('ZREMRANGEBYSCORE', LOG, '-inf', exact(now - longest))
    redis.call('ZADD', LOG, exact(now), s.number)
  end
  granted = granted .. string.format(' %.0f', s.number)
  wants = wants - 1
end

-- Who was called and comes has its turn now, and takes its share of what is free. The others take what nobody waits for.
local turns = 0
if wants > 0 and queued > 0 then
  if s.called[me] then
    if now - s.called[me] < PROMPT then s.unheard[me] = nil end
    turns = math.max(1, math.floor(room(0) / queued))
    enqueue(me)
  elseif not redis.call('ZSCORE', QUEUE, me) then
    enqueue(me)
  end
end
while wants > 0 and (queued == 0 or turns > 0) and room(0) > 0 do
  take()
  turns = turns - 1
end

-- As many of those that wait as may start are called. Returns whether something changed.
local function call()
  for _, head in ipairs(redis.call('ZRANGE', QUEUE, 0, math.min(room(0), AT_ONCE) - 1)) do
    if head == me then
      if wants > 0 then take() end
      if wants > 0 then enqueue(me) else forget(me) end
      return true
    end
    local at = s.called[head]
    if not at then
      s.unheard[head] = redis.call('PUBLISH', channel .. head, '') == 0 or s.unheard[head]
    elseif now - at > PATIENCE then
      -- Where messages are lost on their way, a receiver is counted all the same. It asks often until it comes promptly.
      s.unheard[head] = true
      enqueue(head)
      return true
    end
    s.called[head] = at or now
  end
  return false
end
local rounds = 0
while queued > 0 and rounds < AT_ONCE and room(0) > 0 and call() do rounds = rounds + 1 end

local rank = queued
if wants > 0 then
  if not redis.call('ZSCORE', QUEUE, me) then enqueue(me) end
  rank = redis.call('ZRANK', QUEUE, me)
elseif queued > 0 then
  forget(me)
end
local _, seconds = room(rank)
-- What is free is kept for those that were called.
if seconds == 0 and wants > 0 then seconds = PATIENCE end
-- Whoever hears nothing asks often for what nobody can know: when another permit ends, and when its turn comes.
local is_deaf = s.unheard[me] or not listens
if is_deaf and wants > 0 and (seconds < 0 or seconds == PATIENCE) then seconds = OFTEN end

-- All keys last as long as the state.
-- At most 31 years: Redis rejects a life that is no 64-bit number of milliseconds, and a service may send any delay.
local life = math.ceil(math.min(1e9, math.max(3600, 2 * s.longest_rate, s.cooldown - now + PROBE_INTERVAL)))
redis.call('SET', STATE, cmsgpack.pack(s), 'EX', string.format('%.0f', life))
redis.call('EXPIRE', FLIGHT, life)
if queued > 0 then redis.call('EXPIRE', QUEUE, life) end
if s.longest_rate + s.seconds > 0 then redis.call('EXPIRE', LOG, life) end
return string.format(
  '%.6f %d %.6f %d %d %.6f', seconds, rank, math.max(0, s.cooldown - now), queued > 0 and 1 or 0, differs and 1 or 0, now
) .. granted
