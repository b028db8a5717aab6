SELECT s.last_value, s.is_called::int, p.seqincrement, p.seqmin, p.seqmax, p.seqcycle::int, c.relpersistence::text
FROM "{sequence}" s, pg_sequence p JOIN pg_class c ON c.oid = p.seqrelid
WHERE p.seqrelid = '"{sequence}"'::regclass
