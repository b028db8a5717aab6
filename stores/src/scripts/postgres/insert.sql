INSERT INTO snowmint.records (value, version, name) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING RETURNING version
