-- Changes a record that one server owns (docs/reference/redis-broker.md, Sessions).
--
-- KEYS: the record.
-- ARGV: the change (hold, leave, remove, touch), the server, the lifetime in milliseconds, the guard, the content.
-- Returns 1 if the change was made, 0 if there is no record to touch, -1 if the record is not the server's.
local owner = redis.call('HGET', KEYS[1], 'owner')
if owner and owner ~= ARGV[2] then return -1 end
if ARGV[1] == 'remove' then
  redis.call('DEL', KEYS[1])
  return 1
end
if ARGV[1] == 'touch' then return redis.call('PEXPIRE', KEYS[1], ARGV[3]) end

local now = redis.call('TIME')
redis.call('HSETNX', KEYS[1], 'since', string.format('%.0f', tonumber(now[1]) * 1000 + math.floor(tonumber(now[2]) / 1000)))
redis.call('HSET', KEYS[1], 'owner', ARGV[1] == 'hold' and ARGV[2] or '', 'guard', ARGV[4], 'content', ARGV[5])
redis.call('PEXPIRE', KEYS[1], ARGV[3])
return 1
