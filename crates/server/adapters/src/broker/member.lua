-- Changes which servers have a member of a stream, and announces what that changes for clients
-- (docs/reference/redis-broker.md, Presence).
--
-- KEYS: the members of the stream, and the number of them that each server has.
-- ARGV: the change (enter, exit, gone), the server, the channel, the lifetime of the keys in milliseconds; of enter and exit
--       the id, of enter the info, which is empty if there is none.
-- Fields of the members: n, the number of changes; i:ID, the info; v:ID, the number of servers that have the member;
-- s:SERVER:ID for each of them.
-- Returns the changes that were announced, each as j (came), u (other info) or l (left) with the id.
local members, counts = KEYS[1], KEYS[2]
local change, server, channel, ttl = ARGV[1], ARGV[2], ARGV[3], ARGV[4]
local announced = {}

local function announce(kind, id, info)
  if redis.call('HEXISTS', members, 'n') == 0 then
    -- Greater than any number that the stream had before its keys were gone.
    local now = redis.call('TIME')
    redis.call('HSET', members, 'n', string.format('%.0f', tonumber(now[1]) * 1000000 + tonumber(now[2])))
  end
  local number = redis.call('HINCRBY', members, 'n', 1)
  local text = string.format('= %.0f %s %d ', number, kind, #id) .. id .. info
  redis.call('PUBLISH', channel, text)
  announced[#announced + 1] = kind .. id
end

local function leave(id)
  if redis.call('HDEL', members, 's:' .. server .. ':' .. id) == 0 then return end
  if redis.call('HINCRBY', counts, server, -1) <= 0 then redis.call('HDEL', counts, server) end
  if redis.call('HINCRBY', members, 'v:' .. id, -1) > 0 then return end
  redis.call('HDEL', members, 'v:' .. id, 'i:' .. id)
  announce('l', id, '')
end

if change == 'enter' then
  local id, info = ARGV[5], ARGV[6]
  local is_new = false
  if redis.call('HSETNX', members, 's:' .. server .. ':' .. id, '') == 1 then
    redis.call('HINCRBY', counts, server, 1)
    is_new = redis.call('HINCRBY', members, 'v:' .. id, 1) == 1
  end
  local before = redis.call('HGET', members, 'i:' .. id)
  redis.call('HSET', members, 'i:' .. id, info)
  if is_new then
    announce('j', id, info)
  elseif before ~= info then
    announce('u', id, info)
  end
elseif change == 'exit' then
  leave(ARGV[5])
else
  local beginning = 's:' .. server .. ':'
  for _, field in ipairs(redis.call('HKEYS', members)) do
    if string.sub(field, 1, #beginning) == beginning then leave(string.sub(field, #beginning + 1)) end
  end
  redis.call('HDEL', counts, server)
end
redis.call('PEXPIRE', members, ttl)
redis.call('PEXPIRE', counts, ttl)
return announced
