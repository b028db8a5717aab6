INSERT INTO snowmint_guards (name, uses) VALUES ('{sequence}', 1) ON DUPLICATE KEY UPDATE uses = uses + 1
