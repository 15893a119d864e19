-- Stores a message, gives it its place, and announces it (docs/reference/redis-broker.md, Scripts).
--
-- KEYS: the log, its head, and the record of the idempotency key if there is one.
-- ARGV: channel, payload, most messages, their lifetime, the lifetime of the head, an epoch for a new log,
--       the known place (epoch, offset, time), the lifetime of the record. Times are in milliseconds.
-- Returns epoch, offset, time, and 1 if the message had been stored before. An error FOREIGN says that another program, or
-- another version of this one, has written the head.
local function number(value) return string.format('%.0f', value) end

if KEYS[3] then
  local known = redis.call('HMGET', KEYS[3], 'e', 's', 't')
  if known[1] then
    -- A write, so that WAIT waits until replicas have everything up to here, the message included.
    redis.call('PEXPIRE', KEYS[3], ARGV[10])
    return {known[1], known[2], known[3], 1}
  end
end

local head = redis.call('HMGET', KEYS[2], 'e', 's', 't')
local epoch, top, before = head[1], tonumber(head[2] or 0), tonumber(head[3] or 0)
local known_offset, known_at = tonumber(ARGV[8]), tonumber(ARGV[9])
-- Below the greatest number that Lua has exactly; a text that is no number is nil.
local is_ours = top and before and top >= 0 and top < 2^53 and before >= 0 and before < 2^53
if not is_ours or (not epoch and (head[2] or head[3])) then
  return redis.error_reply('FOREIGN the hash does not have an epoch e, an offset s and a time t')
end
if not epoch then
  epoch, top, before = ARGV[6], 0, 0
  redis.call('DEL', KEYS[1])
  redis.call('HSET', KEYS[2], 'e', epoch, 'earlier', '', 'renamed_at', 0)
elseif epoch == ARGV[7] and (top < known_offset or (top == known_offset and known_at > 0 and known_at ~= before)) then
  -- The store has gone back in time: messages that were announced are not here.
  redis.call('HSET', KEYS[2], 'e', ARGV[6], 'earlier', epoch, 'renamed_at', number(math.max(top - 256, 0)))
  epoch = ARGV[6]
end

local now = redis.call('TIME')
local at = math.max(tonumber(now[1]) * 1000 + math.floor(tonumber(now[2]) / 1000), before)
local offset, limit = number(top + 1), tonumber(ARGV[3])
if limit > 0 then
  redis.call('XADD', KEYS[1], 'MAXLEN', limit, offset .. '-0', 't', number(at), 'b', number(before), 'p', ARGV[2])
  redis.call('PEXPIRE', KEYS[1], ARGV[4])
end
redis.call('HSET', KEYS[2], 's', offset, 't', number(at))
redis.call('PEXPIRE', KEYS[2], ARGV[5])
if KEYS[3] then
  redis.call('HSET', KEYS[3], 'e', epoch, 's', offset, 't', number(at))
  redis.call('PEXPIRE', KEYS[3], ARGV[10])
end
local place = epoch .. ' ' .. offset .. ' ' .. number(at) .. ' ' .. number(before) .. ' '
redis.call('PUBLISH', ARGV[1], place .. ARGV[2])
return {epoch, offset, number(at), 0}
