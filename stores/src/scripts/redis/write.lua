local version = '0'
local there = redis.call('HGET', KEYS[1], ARGV[1])
if there then
  version = string.match(there, '^(%d+):')
  if not version then return redis.error_reply('ERR not a record of snowmint: ' .. ARGV[1]) end
end
if version ~= ARGV[2] then return 0 end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[3])
return 1
