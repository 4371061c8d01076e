// `npm run protocol` writes what is generated from crab.proto and from the core types: the codecs, the checks, and the pages
// and schemas for those who write a client.

import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { RESULTS } from '../src/protocol/json-rpc-client.ts';
import { coreSchema, ROOTS } from './protocol/core-schema.ts';
import { emitCode } from './protocol/emit-code.ts';
import { emitFields } from './protocol/emit-fields.ts';
import { emitPage } from './protocol/emit-page.ts';
import { emitCoreSchema, emitSchema } from './protocol/emit-schema.ts';
import { parseProto } from './protocol/parse-proto.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));

/** What each message of a client is answered with. */
const ANSWERS: Readonly<Record<string, string>> = {
  ...Object.fromEntries(Object.entries(RESULTS).map(([name, result]) => [name, `\`${result}\``])),
  stream: '`stream` until `end`',
  prompt: '`coreEvents` until `runEnd`',
  watch: '`coreEvents`, then `watchEnd` where the server ends it',
  subscribeEvents: '`agentEvent`',
};

/** Path in the repository to text. */
export function generated(): ReadonlyMap<string, string> {
  const schema = parseProto(readFileSync(join(ROOT, 'src/protocol/crab.proto'), 'utf8'));
  const core = coreSchema(join(ROOT, 'src/core'));
  return new Map([
    ['src/protocol/messages.ts', formatted(emitCode(schema))],
    ['src/protocol/types.ts', formatted(emitFields(schema))],
    ['src/protocol/core-schema.ts', formatted(emitCore(core))],
    [
      'docs/wire/README.md',
      emitPage(schema, readFileSync(join(ROOT, 'docs/wire/wire.md.in'), 'utf8'), ANSWERS),
    ],
    ['docs/wire/crab.schema.json', emitSchema(schema)],
    ['docs/wire/core.schema.json', emitCoreSchema(core, ROOTS)],
  ]);
}

/** What the checks need: without the words for people. */
function emitCore(core: ReturnType<typeof coreSchema>): string {
  const bare = JSON.stringify(core, (name, value) =>
    name === 'description' && typeof value === 'string' ? undefined : value,
  );
  return `${CORE_HEAD}export const CORE: Readonly<Record<string, CheckSchema>> = ${bare};\n`;
}

const CORE_HEAD = `// Generated from src/core by \`npm run protocol\`. Do not edit.

import type { CheckSchema } from './check.ts';

`;

function formatted(text: string): string {
  const args = ['format', '--stdin-file-path=messages.ts'];
  return execFileSync(join(ROOT, 'node_modules/.bin/biome'), args, {
    input: text,
    encoding: 'utf8',
    cwd: ROOT,
  });
}

if (import.meta.main) {
  for (const [path, text] of generated()) writeFileSync(join(ROOT, path), text);
}
