import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { parseProto } from '../../scripts/protocol/parse-proto.ts';
import { generated } from '../../scripts/protocol.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

test('what is generated from crab.proto is what stands in the repository', () => {
  for (const [path, text] of generated())
    assert.equal(readFileSync(join(ROOT, path), 'utf8'), text, `${path}: run npm run protocol`);
});

test('a schema that is not understood is refused by its line', () => {
  const refused = (text: string, message: RegExp) => assert.throws(() => parseProto(text), message);
  refused('message A {\n  bytes b = 1;\n}', /A\.b: there is no type bytes/);
  refused('message A {\n  string b = 1;\n  string c = 1;\n}', /A: two fields have the number 1/);
  refused('message A {\n  map<string, string> b = 1;\n}', /crab\.proto:2: not understood/);
});
