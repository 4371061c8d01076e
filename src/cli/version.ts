// The version of this build. The bundler puts the number in; run from source, it is read from the package.

import { readFileSync } from 'node:fs';

declare const CRAB_VERSION: string | undefined;

export const VERSION: string =
  typeof CRAB_VERSION === 'string' ? CRAB_VERSION : (readPackage().version ?? '0.0.0');

function readPackage(): { readonly version?: string } {
  return JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));
}
