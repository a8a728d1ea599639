-- One exchange between a process and the gate that it shares: the process reports what ended and how many permits it
-- wants; free permits go to the processes that wait, in turn. The rules are those of
-- `_attempts/admission/window.py`; a test compares the two. Time is the server's alone. All keys hold one hash tag and expire.
--
-- KEYS: state, leases, processes, queue, wants, log of sends
-- ARGV: process, wants, listens, holds, channel, lease, max_in_flight, retry budget, change of the retry budget,
--       number of rates, (requests, seconds) of each, (kind, period, number, value, jitter) of each report
local STATE, LEASES, PROCESSES, QUEUE, WANTS, LOG = unpack(KEYS)
local me, wants, listens, holds, channel = ARGV[1], tonumber(ARGV[2]), ARGV[3] == '1', ARGV[4] == '1', ARGV[5]
local lease, most, capacity = tonumber(ARGV[6]), tonumber(ARGV[7]), tonumber(ARGV[8])
local PROBE_INTERVAL, LONGEST_GROWTH, CLOCK_ERROR, NEVER = 60, 20, 0.000001, 1000000000
local clock = redis.call('TIME')
local now = clock[1] + clock[2] / 1000000

local function exact(number) return string.format('%.17g', number) end

local stored = redis.call('GET', STATE)
local s = stored and cmsgpack.unpack(stored) or {
  period = 0, number = 0, open = most, started = 0, allowed = 0, allowed_before = 0, learned = 0, mark = -1,
  cooldown = 0, probe = -1, probe_at = 0, strikes = 0, in_flight = 0, in_period = 0, turn = 0, queued = 0,
  budget = capacity, prune_at = 0,
}

local rates, longest_rate = {}, 0
for i = 1, tonumber(ARGV[10]) do
  rates[i] = {requests = tonumber(ARGV[9 + 2 * i]), per = tonumber(ARGV[10 + 2 * i])}
  longest_rate = math.max(longest_rate, rates[i].per)
end
local has_rates = longest_rate > 0
local life = math.ceil(math.max(3600, 2 * longest_rate, s.cooldown - now + PROBE_INTERVAL))

-- What a process holds: permits in all, those of the period that it was last granted one in, those that it has not
-- reported as sent where there are rates, and until when.
local function load(process)
  local packed = redis.call('HGET', PROCESSES, process)
  return packed and cmsgpack.unpack(packed) or {held = 0, period = -1, in_period = 0, expires = 0, unsent = {}}
end

local function store(process, entry)
  redis.call('HSET', PROCESSES, process, cmsgpack.pack(entry))
end

-- Only permits need a lease: a process that waits without one is not asked to renew anything.
local function renew(process, entry)
  if entry.expires >= now + lease * 2 / 3 then return end
  entry.expires = now + lease
  redis.call('ZADD', LEASES, exact(entry.expires), process)
  redis.call('EXPIRE', LEASES, life)
  redis.call('EXPIRE', PROCESSES, life)
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
  for _, number in ipairs(entry.unsent) do redis.call('ZREM', LOG, number) end
  entry.held, entry.in_period, entry.unsent = 0, 0, {}
end

-- A process whose lease has expired gives everything back; one that held something does not wait any more either.
if now >= s.prune_at then
  s.prune_at = now + lease / 10
  for _, process in ipairs(redis.call('ZRANGEBYSCORE', LEASES, '-inf', exact(now))) do
    local entry = load(process)
    if entry.held > 0 and process ~= me then forget(process) end
    release(entry)
    redis.call('HDEL', PROCESSES, process)
    redis.call('ZREM', LEASES, process)
  end
end
local mine = load(me)
local known = mine.expires > now or not holds
if mine.expires <= now then release(mine) end
renew(me, mine)

-- Returns the seconds until one more may start: 0 for now, -1 for until another ends.
local function wait(ahead)
  local left = s.cooldown - now
  if left > CLOCK_ERROR and s.probe_at - now > CLOCK_ERROR then return math.min(left, s.probe_at - now) end
  if s.in_period >= math.min(s.open, most) or s.in_flight >= most then return -1 end
  local longest = 0
  for _, rate in ipairs(rates) do
    local after = '(' .. exact(now - rate.per + CLOCK_ERROR)
    local count = redis.call('ZCOUNT', LOG, after, '+inf')
    if count >= rate.requests then
      local index = math.min(count - rate.requests + ahead, count - 1)
      local entry = redis.call('ZRANGEBYSCORE', LOG, after, '+inf', 'WITHSCORES', 'LIMIT', index, 1)
      if tonumber(entry[2]) > now then return -1 end
      longest = math.max(longest, entry[2] + rate.per - now)
    end
  end
  return longest
end

local function begin(entry)
  if entry.period ~= s.period then entry.period, entry.in_period = s.period, 0 end
  entry.held, entry.in_period = entry.held + 1, entry.in_period + 1
  s.in_flight, s.in_period = s.in_flight + 1, s.in_period + 1
  s.started, s.number = s.started + 1, s.number + 1
  if s.started == s.learned then s.open, s.mark = 1, s.number end
  if s.cooldown - now > CLOCK_ERROR then s.probe, s.probe_at = s.number, now + PROBE_INTERVAL end
  -- Until it is reported as sent, it counts against every rate.
  if has_rates then
    redis.call('ZADD', LOG, exact(now + NEVER), s.number)
    table.insert(entry.unsent, s.number)
  end
end

local function finish(period)
  -- After an expired lease it was given back already.
  if mine.held == 0 then return end
  mine.held, s.in_flight = mine.held - 1, s.in_flight - 1
  if period == s.period and mine.period == period and mine.in_period > 0 then
    mine.in_period, s.in_period = mine.in_period - 1, s.in_period - 1
  end
end

local reports = {}

local function no_longer_unsent(number)
  for index, unsent in ipairs(mine.unsent) do
    if unsent == number then return table.remove(mine.unsent, index) end
  end
end

function reports.sent(period, number, ago)
  no_longer_unsent(number)
  redis.call('ZADD', LOG, 'XX', exact(now - ago), number)
end

function reports.unused(period, number)
  finish(period)
  no_longer_unsent(number)
  redis.call('ZREM', LOG, number)
  if period == s.period then s.started = s.started - 1 end
  if number == s.probe then s.probe_at = 0 end
end

function reports.abandoned(period)
  finish(period)
end

function reports.answered(period, number)
  finish(period)
  if number == s.probe then s.cooldown = 0 end
  if period == s.period then
    s.allowed = s.allowed + 1
    if s.mark < 0 or number > s.mark then s.open = math.min(s.open + 1, most) end
  elseif period == s.period - 1 then
    s.allowed_before = s.allowed_before + 1
    s.learned = s.allowed_before
  end
end

function reports.rate_limited(period, number, seconds, jitter)
  finish(period)
  s.probe_at = now + PROBE_INTERVAL
  if period ~= s.period then
    s.cooldown = math.max(s.cooldown, now + seconds)
    return
  end
  if s.allowed > 0 or s.period == 0 then s.strikes = 0 else s.strikes = s.strikes + 1 end
  local longest = math.max(seconds, math.min(seconds * 2 ^ s.strikes, LONGEST_GROWTH))
  local ends = now + seconds + jitter * (longest - seconds)
  if number == s.probe then s.cooldown = ends else s.cooldown = math.max(s.cooldown, ends) end
  s.period = s.period + 1
  if s.allowed > 0 then s.learned = s.allowed end
  s.allowed_before, s.started, s.allowed, s.in_period = s.allowed, 0, 0, 0
  s.open, s.mark = 1, -1
end

-- A process that was alone for a while knows of a cooldown.
function reports.cooldown(period, number, seconds)
  s.cooldown, s.probe_at, s.open = math.max(s.cooldown, now + seconds), now + PROBE_INTERVAL, 1
end

for i = 11 + 2 * #rates, #ARGV, 5 do
  reports[ARGV[i]](tonumber(ARGV[i + 1]), tonumber(ARGV[i + 2]), tonumber(ARGV[i + 3]), tonumber(ARGV[i + 4]))
end
-- It ended its subscription while a permit was on its way to it.
if not listens and not holds then release(mine) end
s.budget = math.min(capacity, s.budget + tonumber(ARGV[9]))
if has_rates then redis.call('ZREMRANGEBYSCORE', LOG, '-inf', exact(now - longest_rate)) end

local granted = {}
local function grant()
  begin(mine)
  granted[#granted + 1] = string.format('%.0f %.0f', s.period, s.number)
  wants = wants - 1
end

local function enqueue(process)
  s.turn = s.turn + 1
  redis.call('ZADD', QUEUE, s.turn, process)
end

-- Those that wait are served in turn, one permit each.
if s.queued > 0 and wants > 0 and not redis.call('ZSCORE', QUEUE, me) then
  enqueue(me)
  s.queued = s.queued + 1
end
while s.queued > 0 and wait(0) == 0 do
  local head = redis.call('ZRANGE', QUEUE, 0, 0)[1]
  local left = 0
  if head == me then
    if wants > 0 then grant() end
    left = wants
  -- A process that does not listen any more gets nothing.
  elseif redis.call('PUBLISH', channel .. head, string.format('%.0f %.0f', s.period, s.number + 1)) > 0 then
    local entry = load(head)
    begin(entry)
    renew(head, entry)
    store(head, entry)
    left = redis.call('HINCRBY', WANTS, head, -1)
  end
  if left > 0 then enqueue(head) else forget(head) end
end
while s.queued == 0 and wants > 0 and wait(0) == 0 do grant() end
store(me, mine)

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
redis.call('SET', STATE, cmsgpack.pack(s), 'EX', life)
if has_rates then redis.call('EXPIRE', LOG, life) end
return {
  known and '1' or '0', exact(wait(rank)), exact(rank), exact(math.max(0, s.cooldown - now)),
  s.queued > 0 and '1' or '0', exact(s.budget), unpack(granted)
}
