UPDATE snowmint.counters SET value = value + $1
WHERE name = $2 AND value <= 9223372036854775807 - $1 RETURNING value
