#!/bin/sh
# Answers with its name and with how often it has been started: that is in its volume.
set -eu
test "$LEDGER_USERNAME" = "$(/bin/busybox cat /auth/username)"
/bin/busybox mkdir -p /data/www
starts=$(($(/bin/busybox cat /data/starts 2>/dev/null || echo 0) + 1))
echo "$starts" > /data/starts
echo "$(/bin/busybox hostname) starts=$starts" > /data/www/index.html
exec /bin/busybox httpd -f -p "$1" -h /data/www
