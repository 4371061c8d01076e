#!/usr/bin/env node
'use strict';

// The `crabd` command: `crab daemon` under the name that service files expect. Without a command it serves.

const first = process.argv[2];
if (!/^(?:--version|-v)$/.test(first)) {
  const serves = first === undefined || (/^-/.test(first) && !/^(?:--help|-h)$/.test(first));
  process.argv.splice(2, 0, 'daemon', ...(serves ? ['run'] : []));
}
require('./crab.cjs');
