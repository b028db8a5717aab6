SELECT set_config('synchronous_commit',
    CASE current_setting('synchronous_commit') WHEN 'remote_apply' THEN 'remote_apply' ELSE 'on' END, true),
  set_config('statement_timeout', '0', true),
  set_config('lock_timeout', '5000', true),
  set_config('bytea_output', 'hex', true)
