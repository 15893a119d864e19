-- Remembers when the records with a guard were revoked (docs/reference/redis-broker.md, Sessions).
--
-- KEYS: the time of the revocation. ARGV: how long it is remembered, in milliseconds.
local now = redis.call('TIME')
local at = string.format('%.0f', tonumber(now[1]) * 1000 + math.floor(tonumber(now[2]) / 1000))
redis.call('SET', KEYS[1], at, 'PX', ARGV[1])
return 1
