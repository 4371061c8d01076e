// Which path is which wire. A wire is loaded with its first request: most servers speak one, and tests start
// them by the hundred.

import type { Wire, WireName } from './wire.ts';

export interface Route {
  readonly name: WireName;
  /** For people: `{model}` stands for the id of a model. */
  readonly path: string;
  /** The group `model` is the id, percent-encoded. */
  readonly pattern: RegExp;
  load(): Promise<Wire>;
}

export const ROUTES: readonly Route[] = [
  {
    name: 'anthropic',
    path: '/v1/messages',
    pattern: /^\/v1\/messages$/,
    load: async () => (await import('./anthropic-wire.ts')).anthropicWire,
  },
  {
    name: 'openai',
    path: '/v1/chat/completions',
    pattern: /^\/v1\/chat\/completions$/,
    load: async () => (await import('./openai-wire.ts')).openaiWire,
  },
  {
    name: 'responses',
    path: '/v1/responses',
    pattern: /^(?:\/openai)?(?:\/v1)?\/responses$/,
    load: async () => (await import('./responses-wire.ts')).responsesWire,
  },
  {
    name: 'gemini',
    path: '/v1beta/models/{model}:streamGenerateContent',
    pattern:
      /^\/v1(?:beta1?|alpha)?\/(?:[^:]+\/)?models\/(?<model>[^/:]+):(?:streamGenerateContent|generateContent)$/,
    load: async () => (await import('./gemini-wire.ts')).geminiWire,
  },
  {
    name: 'bedrock',
    path: '/model/{model}/invoke-with-response-stream',
    pattern: /^\/model\/(?<model>[^/]+)\/invoke(?:-with-response-stream)?$/,
    load: async () => (await import('./bedrock-wire.ts')).bedrockWire,
  },
  {
    name: 'vertex',
    path: '/v1/…/publishers/anthropic/models/{model}:streamRawPredict',
    pattern: /^(?:\/.+)?\/publishers\/anthropic\/models\/(?<model>[^/:]+):(?:streamRawPredict|rawPredict)$/,
    load: async () => (await import('./vertex-wire.ts')).vertexWire,
  },
];

/** The route of this path, and the model that it names. */
export function findRoute(
  path: string,
): { readonly route: Route; readonly model: string | undefined } | undefined {
  for (const route of ROUTES) {
    const match = route.pattern.exec(path);
    if (match !== null) return { route, model: decoded(match.groups?.['model']) };
  }
  return undefined;
}

function decoded(text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
