// Reading JSON that a stranger sent: what is not of the expected shape reads as nothing.

import type { JsonObject } from '../core/schema.ts';

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function asList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

export function asText(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/** Whether this is the JSON text of an object. */
export function isJsonObject(text: unknown): boolean {
  if (typeof text !== 'string') return false;
  try {
    return isObject(JSON.parse(text));
  } catch {
    return false;
  }
}
