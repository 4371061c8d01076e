// What the clouds demand of a body in Anthropic's format, beyond what Anthropic does.

import type { JsonObject } from '../core/schema.ts';
import { type Finding, finding } from './history-check.ts';

export function requireVersion(body: JsonObject, version: string): readonly Finding[] {
  if (body['anthropic_version'] === version) return [];
  return [finding('anthropic_version', `anthropic_version is not ${JSON.stringify(version)}`)];
}

/** Fields that belong into the path, and are refused in the body. */
export function extraneous(body: JsonObject, names: readonly string[]): readonly Finding[] {
  return names
    .filter((name) => body[name] !== undefined)
    .map((name) => finding(name, `extraneous key [${name}] is not permitted`));
}
