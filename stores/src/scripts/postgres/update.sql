UPDATE snowmint_records SET value = $1, version = version + 1 WHERE name = $2 AND version = $3 RETURNING version
