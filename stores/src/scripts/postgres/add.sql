INSERT INTO snowmint.counters AS c (value, name) VALUES ($1, $2) ON CONFLICT (name) DO UPDATE
SET value = c.value + $3 WHERE c.value <= 9223372036854775807 - $3 RETURNING value
