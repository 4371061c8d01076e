// A memory in a person's own editor.

import assert from 'node:assert/strict';
import { readFile, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { test } from 'node:test';
import { terminal } from './terminal.ts';

test('what a person wrote is not lost where the memory was changed meanwhile', async () => {
  await using at = await terminal({ replies: [] });
  const { workspace } = at;
  await workspace.write(
    'editor.sh',
    'echo "by another" | "$crab" memory edit deploy\necho "by hand" > "$1"\n',
  );
  await at.shell(
    'echo first | "$crab" memory edit deploy; EDITOR="sh editor.sh" "$crab" memory edit deploy; echo "left $?"',
  );
  const screen = await at.waitFor(/left \d+\n/);
  assert.match(screen, /The memory "deploy" was changed meanwhile\. \[memory-taken\]\n[\s\S]*left 1\n/);
  const [, path = ''] = /What you wrote is in ([\s\S]*?\.md)\./.exec(screen) ?? [];
  const kept = path.replaceAll('\n', '');
  assert.equal(await readFile(kept, 'utf8'), 'by hand\n');
  await rm(dirname(kept), { recursive: true });
  await at.shell('"$crab" memory show deploy; echo shown');
  await at.waitFor(/by another\nshown\n/);
});
