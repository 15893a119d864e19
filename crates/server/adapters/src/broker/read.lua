-- Reads the messages of a log behind a place (docs/reference/redis-broker.md, Scripts).
--
-- KEYS: the log and its head.
-- ARGV: the known place (epoch, offset, time; the epoch * asks for the end of the log), the number of messages at the
--       end of a log that are wanted, the most messages of one answer, the lifetime of the head in milliseconds, an
--       epoch for a log that is renamed.
-- Returns epoch, last offset and its time, earlier epoch, the offset behind which the messages begin, whether there are more, and
-- the messages: offset, time, time of the message before it, payload. Of an entry with other fields there is nothing. An error
-- FOREIGN says that another program, or another version of this one, has written the head.
local function number(value) return string.format('%.0f', value) end

local head = redis.call('HMGET', KEYS[2], 'e', 's', 't', 'earlier', 'renamed_at')
local epoch, top, last_at = head[1], tonumber(head[2] or 0), tonumber(head[3] or 0)
local earlier, renamed_at = head[4], tonumber(head[5] or 0)
-- Below the greatest number that Lua has exactly; a text that is no number is nil.
local is_ours = top and last_at and renamed_at and top >= 0 and top < 2^53 and last_at >= 0 and last_at < 2^53
if not is_ours or (not epoch and (head[2] or head[3])) then
  return redis.error_reply('FOREIGN the hash does not have an epoch e, an offset s and a time t')
end
if not epoch then return {'', '0', '0', '', '0', 0, {}} end
local known_epoch, known_offset, known_at = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3])

if epoch == known_epoch then
  local at
  if top == known_offset then
    at = last_at
  else
    local id = number(known_offset + 1) .. '-0'
    local next = redis.call('XRANGE', KEYS[1], id, id)[1]
    if next and next[2][3] == 'b' then at = tonumber(next[2][4]) end
  end
  if top < known_offset or (at and known_at > 0 and known_at ~= at) then
    -- The store has gone back in time: messages that were announced are not here, or others are in their place.
    earlier, epoch, renamed_at = epoch, ARGV[7], math.max(math.min(top, known_offset) - 256, 0)
    redis.call('HSET', KEYS[2], 'e', epoch, 'earlier', earlier, 'renamed_at', number(renamed_at))
  end
end

local start
if known_epoch == '*' then
  start = math.max(top - tonumber(ARGV[4]), 0)
elseif known_epoch == epoch then
  start = known_offset
elseif known_epoch == '' then
  start = 0
elseif known_epoch == earlier then
  start = math.min(known_offset, renamed_at)
else
  start = renamed_at
end

-- A log that is heard keeps its epoch, however silent it is.
redis.call('PEXPIRE', KEYS[2], ARGV[6])
local page = tonumber(ARGV[5])
local found = redis.call('XRANGE', KEYS[1], number(start + 1) .. '-0', '+', 'COUNT', page + 1)
local has_more = 0
if #found > page then
  has_more = 1
  found[#found] = nil
end
local messages = {}
for i, entry in ipairs(found) do
  local fields = entry[2]
  if fields[1] == 't' and fields[3] == 'b' and fields[5] == 'p' then
    messages[i] = {string.match(entry[1], '^%d+'), fields[2], fields[4], fields[6]}
  else
    messages[i] = {}
  end
end
return {epoch, number(top), number(last_at), earlier or '', number(start), has_more, messages}
