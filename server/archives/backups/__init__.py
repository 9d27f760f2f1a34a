"""All that the database holds in one encrypted file, and a database made of it.

`backup_writer` says how it is read while others write, `containers` and `envelopes` what the file is, `restoring` how
it becomes a database again, and `running_surveys` what it tells of studies that still run, and what is left out on
request.
"""

from server.archives.backups.backup_writer import BackupSummary, write_backup
from server.archives.backups.containers import Contents
from server.archives.backups.envelopes import DamagedError, Lock, Unlock
from server.archives.backups.restoring import RefusedTargetError, restore_backup, verify_backup
from server.archives.backups.running_surveys import Running
