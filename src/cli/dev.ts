// `crab dev`: tools for people who build on Crab.

import { parseArgs } from 'node:util';
import { CrabError, EXIT } from '../core/errors.ts';
import { runFakeProvider } from '../dev/run-fake-provider.ts';
import { fileText } from './file-text.ts';
import { stopOnSignals } from './signals.ts';

const HELP = `Usage: crab dev fake-provider --script FILE [--port N]

  A model provider that says what FILE tells it to, on every wire that Crab speaks, on this machine alone, with no
  key and no cost. It checks every request it gets.

  --script FILE      the scenario, as JSON; docs/guide/fake-provider.md describes it
  --port N           where to listen; 0 (the default) takes a free port and says which
`;

export async function dev(argv: readonly string[]): Promise<number> {
  const [tool, ...rest] = argv;
  if (tool === undefined || tool === '--help' || tool === '-h' || rest.includes('--help')) {
    process.stdout.write(HELP);
    return tool === undefined ? EXIT.usage : EXIT.success;
  }
  if (tool !== 'fake-provider')
    throw new CrabError('usage', `There is no \`crab dev ${tool}\`.`, {
      hint: 'There is `crab dev fake-provider`.',
    });
  const { file, port } = readFlags(rest);
  const stop = stopOnSignals(() => {});
  const print = (line: string) => void process.stdout.write(`${line}\n`);
  const script = await fileText('--script', file);
  await runFakeProvider({ script, file, port, cwd: process.cwd(), print }, stop.signal);
  return EXIT.success;
}

interface DevFlags {
  readonly file: string;
  readonly port: number;
}

function readFlags(argv: readonly string[]): DevFlags {
  const { script, port = '0' } = parse(argv);
  const hint = 'Run `crab dev --help`.';
  if (script === undefined) throw new CrabError('usage', '--script FILE is missing.', { hint });
  const number = Number(port);
  if (!/^\d+$/.test(port) || number > 65_535)
    throw new CrabError('usage', `--port ${port} is not a port: 0 to 65535.`, { hint });
  return { file: script, port: number };
}

function parse(argv: readonly string[]): { script?: string; port?: string } {
  try {
    return parseArgs({
      args: [...argv],
      options: { script: { type: 'string' }, port: { type: 'string' } },
    }).values;
  } catch (cause) {
    const message = cause instanceof Error ? cause.message : String(cause);
    throw new CrabError('usage', message, { hint: 'Run `crab dev --help`.', cause });
  }
}
