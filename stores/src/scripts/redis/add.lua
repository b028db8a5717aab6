if redis.call('EXISTS', KEYS[1]) == 0 then
  if ARGV[2] == '' then return false end
  redis.call('SET', KEYS[1], ARGV[2])
  return ARGV[2]
end
local done = redis.pcall('INCRBY', KEYS[1], ARGV[1])
if type(done) == 'table' and done.err then
  if string.find(done.err, 'overflow', 1, true) then return false end
  return done
end
return redis.call('GET', KEYS[1])
