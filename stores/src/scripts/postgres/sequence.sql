SELECT coalesce(v.value, (SELECT last_value FROM "{sequence}"), p.seqstart), (v.value IS NOT NULL)::int,
  p.seqincrement, p.seqmin, p.seqmax, p.seqcycle::int, c.relpersistence::text
FROM pg_sequence p JOIN pg_class c ON c.oid = p.seqrelid, pg_sequence_last_value(p.seqrelid) AS v(value)
WHERE p.seqrelid = '"{sequence}"'::regclass
