SELECT CAST(next_not_cached_value AS SIGNED), 0, CAST(increment AS SIGNED), CAST(minimum_value AS SIGNED),
CAST(maximum_value AS SIGNED), CAST(cycle_option AS SIGNED),
(SELECT CAST(COALESCE(engine, 'none') AS CHAR) FROM information_schema.tables WHERE table_schema = DATABASE() AND table_name = '{sequence}')
FROM `{sequence}`
