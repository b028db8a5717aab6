SELECT NEXT VALUE FOR `{sequence}` FROM seq_1_to_1000000 LIMIT {count}
