INSERT INTO snowmint_records (version, value, name) VALUES (1, $1, $2) ON CONFLICT DO NOTHING RETURNING version
