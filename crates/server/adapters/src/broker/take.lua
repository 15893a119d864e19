-- Takes a record, once (docs/reference/redis-broker.md, Sessions).
--
-- KEYS: the record.
-- ARGV: 1 if the record must have a guard, that guard, an owner that counts as gone, the time in milliseconds for which the
--       record stays marked as taken.
-- Returns nothing if there is no such record, or its owner, or the three texts guard, time of the first change and content.
-- An error FOREIGN says that another program, or another version of this one, has written the record, which stays as it is.
local found = redis.call('HMGET', KEYS[1], 'owner', 'guard', 'since', 'content')
local owner, guard = found[1], found[2]
if not owner or owner == '-' or (ARGV[1] == '1' and guard ~= ARGV[2]) then return {} end
if owner ~= '' and owner ~= ARGV[3] then return {owner} end
if not (guard and tonumber(found[3]) and found[4]) then
  return redis.error_reply('FOREIGN the hash does not have guard, since and content')
end
redis.call('DEL', KEYS[1])
redis.call('HSET', KEYS[1], 'owner', '-')
redis.call('PEXPIRE', KEYS[1], ARGV[4])
return {guard, found[3], found[4]}
