-- The servers that are there (docs/reference/redis-broker.md, Sessions).
--
-- KEYS: names by the time until which they count as being there.
-- ARGV: a server, and the time in milliseconds for which it counts from now on; 0: it is only asked about.
-- Returns the number of servers, and 1 if this one is there.
local clock = redis.call('TIME')
local now = tonumber(clock[1]) * 1000 + math.floor(tonumber(clock[2]) / 1000)
local lifetime = tonumber(ARGV[2])
if lifetime > 0 then
  redis.call('ZADD', KEYS[1], now + lifetime, ARGV[1])
  redis.call('PEXPIRE', KEYS[1], 60000)
end
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now)
return {redis.call('ZCARD', KEYS[1]), redis.call('ZSCORE', KEYS[1], ARGV[1]) and 1 or 0}
