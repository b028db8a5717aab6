-- wrk asks by the method of the first argument, and in the end prints percentiles of the time of a request.
function init(arguments)
   wrk.method = arguments[1]
end

function done(_, latency, _)
   for _, percent in ipairs({ "50", "99", "99.9" }) do
      io.write(string.format("within %s %d us\n", percent, latency:percentile(tonumber(percent))))
   end
end
