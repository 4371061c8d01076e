// Large attachments in Anthropic's Files API (platform.claude.com/docs/en/build-with-claude/files): uploaded once, and
// named in every later request of the conversation in place of megabytes. Whatever goes wrong here, the attachment goes
// along in the request as it would without. Files are found again by their content, and cleared up after a month.

import type { Credential } from '../../core/credential.ts';
import type { DocumentContent, ImageContent, Message } from '../../core/message.ts';
import { readText } from './attempt.ts';
import { below } from './endpoint.ts';
import type { Http, HttpRequest } from './http.ts';

export interface FilesSetup {
  readonly http: Http;
  readonly baseUrl: URL;
  readonly credential: Credential | undefined;
  /** Sent with every request. */
  readonly headers: Readonly<Record<string, string>>;
  /** Milliseconds since the epoch. */
  now(): number;
}

type Attachment = ImageContent | DocumentContent;

export interface AnthropicFiles {
  /** Uploads what is large and new in these messages. Undefined when there is nothing to do. Never rejects. */
  prepare(messages: readonly Message[], signal: AbortSignal): Promise<void> | undefined;
  /** The name that an attachment was uploaded under. */
  idOf(block: Attachment): string | undefined;
  /** Whether anything was uploaded. */
  readonly used: boolean;
}

export const FILES_BETA = 'files-api-2025-04-14';

/** Characters of base64. */
const LARGE = 4 * 1024 * 1024;
const STEP_MS = 60_000;
const KEPT_MS = 30 * 24 * 3_600_000;
const ANSWER_BYTES = 1024 * 1024;
/** The most that one listing holds. */
const PAGE = 1000;
/** Of files that are Crab's own: nothing else is ever deleted. */
const PREFIX = 'crab-';

interface RemoteFile {
  readonly id: string;
  readonly filename: string;
  readonly created_at?: string;
}

/** The endpoint has no Files API, or not for this account. */
class NoFiles extends Error {}

export function createFiles(setup: FilesSetup): AnthropicFiles {
  const ids = new WeakMap<Attachment, string>();
  const seen = new WeakSet<Message>();
  /** By name; undefined before the first listing, which is made once. */
  let listing: Promise<Map<string, string>> | undefined;
  let isOff = false;
  let used = false;

  /** Files of Crab's by name. Those that are old are deleted on the way. */
  async function list(signal: AbortSignal): Promise<Map<string, string>> {
    const answer = await ask(setup, { method: 'GET', path: `/v1/files?limit=${PAGE}` }, signal);
    const names = new Map<string, string>();
    const old: string[] = [];
    for (const { id, filename, created_at: created } of filesIn(answer)) {
      if (!filename.startsWith(PREFIX)) continue;
      if (created !== undefined && Date.parse(created) < setup.now() - KEPT_MS) old.push(id);
      else names.set(filename, id);
    }
    // One that cannot be deleted is there the next time as well.
    const remove = (id: string) => ask(setup, { method: 'DELETE', path: `/v1/files/${id}` }, signal);
    await Promise.allSettled(old.map(remove));
    return names;
  }

  async function put(block: Attachment, signal: AbortSignal): Promise<void> {
    const bytes = Buffer.from(block.data, 'base64');
    const name = await nameOf(bytes, block.mimeType);
    listing ??= list(signal);
    const names = await listing.catch((thrown: unknown) => {
      listing = undefined;
      throw thrown;
    });
    const id = names.get(name) ?? (await upload(setup, { name, type: block.mimeType, bytes }, signal));
    names.set(name, id);
    ids.set(block, id);
    used = true;
  }

  async function putAll(blocks: readonly Attachment[], signal: AbortSignal): Promise<void> {
    for (const block of blocks) {
      if (isOff || signal.aborted) return;
      try {
        await put(block, AbortSignal.any([signal, AbortSignal.timeout(STEP_MS)]));
      } catch (thrown) {
        isOff = thrown instanceof NoFiles;
      }
    }
  }

  return {
    prepare(messages, signal) {
      if (isOff) return undefined;
      const blocks: Attachment[] = [];
      // A history grows at its end, so what comes before a message that was looked at was looked at, too.
      for (let at = messages.length - 1; at >= 0; at--) {
        const message = messages[at];
        if (message === undefined || seen.has(message)) break;
        seen.add(message);
        blocks.push(...largeIn(message));
      }
      return blocks.length === 0 ? undefined : putAll(blocks, signal);
    },
    idOf: (block) => ids.get(block),
    get used() {
      return used;
    },
  };
}

function largeIn({ role, content }: Message): readonly Attachment[] {
  if (role === 'assistant' || typeof content === 'string') return [];
  return content.filter((block) => block.type !== 'text').filter(({ data }) => data.length > LARGE);
}

/** The same for the same content, on every machine of the account. */
async function nameOf(bytes: Uint8Array, mimeType: string): Promise<string> {
  const { createHash } = await import('node:crypto');
  const digest = createHash('sha256').update(bytes).digest('hex');
  return `${PREFIX}${digest}.${mimeType.split('/').at(-1)}`;
}

async function upload(
  setup: FilesSetup,
  { name, type, bytes }: { readonly name: string; readonly type: string; readonly bytes: Buffer },
  signal: AbortSignal,
): Promise<string> {
  // The digest in the name stands nowhere in the content that it was made of.
  const boundary = name.slice(0, 60);
  const head = `--${boundary}\r\ncontent-disposition: form-data; name="file"; filename="${name}"\r\ncontent-type: ${type}\r\n\r\n`;
  const body = [Buffer.from(head), bytes, Buffer.from(`\r\n--${boundary}--\r\n`)];
  const headers = { 'content-type': `multipart/form-data; boundary=${boundary}` };
  const answer = await ask(setup, { method: 'POST', path: '/v1/files', headers, body }, signal);
  const { id } = (answer ?? {}) as { readonly id?: unknown };
  if (typeof id !== 'string') throw new NoFiles();
  return id;
}

function filesIn(answer: unknown): readonly RemoteFile[] {
  const { data } = (answer ?? {}) as { readonly data?: unknown };
  if (!Array.isArray(data)) throw new NoFiles();
  return data.filter(({ id, filename }) => typeof id === 'string' && typeof filename === 'string');
}

interface Question {
  readonly method: HttpRequest['method'];
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: readonly Buffer[];
}

async function ask(
  { http, baseUrl, credential, headers }: FilesSetup,
  { path, ...question }: Question,
  signal: AbortSignal,
): Promise<unknown> {
  const own = { 'anthropic-version': '2023-06-01', 'anthropic-beta': FILES_BETA, ...question.headers };
  const request = { ...question, url: below(baseUrl, path), headers: { ...headers, ...own } };
  const access = await credential?.headers(request);
  const answer = await http.send({ ...request, headers: { ...request.headers, ...access } }, signal);
  try {
    const text = await readText(answer, ANSWER_BYTES);
    if (answer.status >= 200 && answer.status < 300) return JSON.parse(text);
    // What passes is tried again with the next attachment; what does not is not.
    if (answer.status >= 500 || answer.status === 429) throw new Error(`status ${answer.status}`);
    throw new NoFiles();
  } catch (thrown) {
    throw thrown instanceof SyntaxError ? new NoFiles() : thrown;
  } finally {
    answer.destroy();
  }
}
