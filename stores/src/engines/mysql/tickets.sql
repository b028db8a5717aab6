CREATE TABLE IF NOT EXISTS `Tickets64` (
  id bigint(20) unsigned NOT NULL AUTO_INCREMENT,
  stub char(1) NOT NULL DEFAULT '',
  PRIMARY KEY (id),
  UNIQUE KEY stub (stub)
) ENGINE=InnoDB
