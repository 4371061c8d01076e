// Model servers on this machine, found where they usually listen: Ollama, LM Studio, llama.cpp, vLLM. Asked once, on
// loopback alone, and only when somebody wants to know.

import { get } from 'node:http';

const PORTS = [11434, 1234, 8080, 8000];
const PATIENCE_MS = 400;
const MAX_BYTES = 1024 * 1024;

export interface LocalServer {
  /** What OPENAI_BASE_URL would be. */
  readonly url: string;
  /** The first model that it offers. */
  readonly model: string;
}

export async function findLocalServers(ports: readonly number[] = PORTS): Promise<readonly LocalServer[]> {
  const found = await Promise.all(ports.map((port) => ask(`http://127.0.0.1:${port}/v1`)));
  return found.filter((server) => server !== undefined);
}

function ask(url: string): Promise<LocalServer | undefined> {
  return new Promise((resolve) => {
    const request = get(`${url}/models`, { timeout: PATIENCE_MS, agent: false }, (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (chunk: string) => {
        text += chunk;
        if (text.length > MAX_BYTES) request.destroy();
      });
      response.on('end', () => resolve(serverOf(url, text)));
      response.on('error', () => resolve(undefined));
      response.on('close', () => resolve(undefined));
    });
    request.on('timeout', () => request.destroy());
    request.on('error', () => resolve(undefined));
  });
}

function serverOf(url: string, text: string): LocalServer | undefined {
  try {
    const { data } = JSON.parse(text) as { readonly data?: readonly { readonly id?: unknown }[] };
    const model = data?.[0]?.id;
    // The name is printed as part of a command: only what needs no quoting is.
    return typeof model === 'string' && /^[\w.:/@-]{1,200}$/.test(model) ? { url, model } : undefined;
  } catch {
    return undefined;
  }
}
