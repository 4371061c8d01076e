#!/bin/bash
# Runs a command and writes to file descriptor 3 what it cost: start and end in seconds since the epoch, then the
# processor time of what it waited for, as `times` prints it. Node cannot ask the kernel about a child; bash can.
started=$EPOCHREALTIME
"$@"
status=$?
ended=$EPOCHREALTIME
{ echo "$started $ended"; times; } >&3
exit "$status"
