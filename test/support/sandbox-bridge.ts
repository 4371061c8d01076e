// The bridge as a program of its own; the product has it behind a subcommand.

import { runBridge } from '../../src/parts/sandbox/bridge.ts';

process.exitCode = await runBridge(process.argv.slice(2));
