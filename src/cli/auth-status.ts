// `crab auth status`, as text for people and as JSON for scripts (docs/guide/authentication.md).

import type { CredentialStatus } from '../parts/auth/status.ts';

export function statusJson(all: readonly CredentialStatus[]): string {
  return `${JSON.stringify({ providers: all }, undefined, 2)}\n`;
}

export function statusText(all: readonly CredentialStatus[]): string {
  const found = all.filter(({ stored, problem, usable }) => stored !== null || problem !== null || usable);
  const without = all.filter((each) => !found.includes(each)).map(({ provider }) => provider);
  const width = Math.max(0, ...found.map(({ provider }) => provider.length)) + 2;
  const lines = found.map((each) => `${each.provider.padEnd(width)}${describe(each)}\n`);
  if (without.length > 0) lines.push(`No credential: ${without.join(', ')}\n`);
  return lines.join('');
}

function describe({ source, kind, expires, usable, problem }: CredentialStatus): string {
  const what = [source ?? (usable ? 'no key needed' : 'no key'), kind === 'login' ? ' (login)' : ''].join('');
  const until = expires === null ? '' : `, good until ${expires.slice(0, 16).replace('T', ' ')} UTC`;
  return usable ? `${what}${until}` : `${what}: not usable. ${problem ?? ''}`.trim();
}
