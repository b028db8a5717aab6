INSERT INTO snowmint_guards (name, uses) VALUES ('read', 1) ON DUPLICATE KEY UPDATE uses = uses + 1
