UPDATE snowmint.records SET value = $1, version = $2 WHERE name = $3 AND version = $4 RETURNING version
