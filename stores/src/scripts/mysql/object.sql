SELECT VERSION(), (SELECT CAST(table_type AS CHAR) FROM information_schema.tables WHERE table_schema = DATABASE() AND table_name = '{sequence}')
