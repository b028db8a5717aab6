-- wrk asks by the method of the first argument, and in the end prints percentiles of the time of a request. The second argument
-- is how many names there are: each request is for one of them by chance, in place of NAME in the path.
function init(arguments)
   wrk.method = arguments[1]
   local names = tonumber(arguments[2])
   if names then
      local path = wrk.path
      math.randomseed(os.time())
      request = function()
         return wrk.format(nil, (path:gsub("NAME", tostring(math.random(names)))))
      end
   end
end

function done(_, latency, _)
   for _, percent in ipairs({ "50", "99", "99.9" }) do
      io.write(string.format("within %s %d us\n", percent, latency:percentile(tonumber(percent))))
   end
end
