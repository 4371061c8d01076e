// The way out for programs that may reach certain hosts: an HTTP proxy (CONNECT, and plain requests) that decides on each
// connection. Programs come to it through one pipe, as HTTP/2 streams that `bridge.ts` makes of their connections: so
// there is no port here that others could use, and none in the sandbox that leads anywhere else.

import { lookup } from 'node:dns/promises';
import { createServer, type ServerHttp2Stream } from 'node:http2';
import { connect, isIP, type Socket } from 'node:net';
import { Duplex } from 'node:stream';
import type { SandboxHosts, SandboxViolation } from '../../core/sandbox.ts';
import { type HostRules, hostOf, hostRules } from './proxy-rules.ts';

export interface HostProxy {
  /** `stream` is the pipe to one bridge; what is refused is told to `report`. It lives as long as the pipe. */
  serve(stream: unknown, report: (violation: SandboxViolation) => void): void;
}

/** Bytes of a request's head. */
const MAX_HEAD = 64 * 1024;
const CONNECT_TIMEOUT_MS = 30_000;

export async function createProxy(hosts: SandboxHosts): Promise<HostProxy> {
  const rules = hostRules(hosts);
  return {
    serve(stream, report) {
      if (!(stream instanceof Duplex)) throw new TypeError('The bridge needs a pipe of Node.');
      const server = createServer();
      server.on('stream', (tunnel: ServerHttp2Stream) => {
        tunnel.on('error', () => {});
        tunnel.respond({ ':status': 200 });
        handle(tunnel, rules, report).catch(() => tunnel.close());
      });
      server.on('sessionError', () => stream.destroy());
      server.emit('connection', stream);
    },
  };
}

interface Head {
  readonly method: string;
  readonly target: string;
  /** Lines behind the first. */
  readonly lines: readonly string[];
  /** What came behind the head already. */
  readonly rest: Buffer;
}

async function handle(
  client: Duplex,
  rules: HostRules,
  report: (violation: SandboxViolation) => void,
): Promise<void> {
  const head = await readHead(client);
  if (head === undefined) return refuse(client, 400, 'this proxy speaks HTTP/1.1');
  const isTunnel = head.method === 'CONNECT';
  const place = isTunnel ? hostOf(head.target) : urlHost(head.target);
  if (place === undefined) return refuse(client, 400, `there is no host in ${JSON.stringify(head.target)}`);
  const address = await permitted(place.host, rules);
  if (typeof address !== 'string') {
    const target = `${place.host}:${place.port}`;
    report({
      what: 'network',
      target,
      detail: `The sandbox does not let ${target} be reached: ${address.why}.`,
    });
    return refuse(client, 403, `${target} is blocked by the sandbox: ${address.why}`);
  }
  const upstream = await dial(address, place.port);
  if (upstream === undefined) return refuse(client, 502, `${place.host}:${place.port} cannot be reached`);
  if (isTunnel) client.write('HTTP/1.1 200 Connection established\r\n\r\n');
  else upstream.write(plainHead(head));
  upstream.write(head.rest);
  join(client, upstream);
}

/** The address to connect to: it is looked up once, so that what was checked is what is reached. */
async function permitted(host: string, rules: HostRules): Promise<string | { readonly why: string }> {
  if (!rules.allows(host)) return { why: 'it is not among the allowed hosts' };
  const found = isIP(host) > 0 ? [{ address: host }] : await lookup(host, { all: true }).catch(() => []);
  if (found.length === 0) return { why: 'its name is not known' };
  const address = found.find((one) => rules.allowsAddress(host, one.address))?.address;
  return address ?? { why: 'it has a private address' };
}

function urlHost(target: string): { readonly host: string; readonly port: number } | undefined {
  const authority = /^http:\/\/([^/?#@]+)(?:[/?#]|$)/i.exec(target)?.[1];
  return authority === undefined ? undefined : hostOf(authority);
}

/** One request on one connection: what follows on it could name another host. */
function plainHead({ method, target, lines }: Head): string {
  const path = target.replace(/^http:\/\/[^/?#]+/i, '') || '/';
  const authority = /^http:\/\/([^/?#]+)/i.exec(target)?.[1] ?? '';
  const kept = lines.filter((line) => !/^(?:proxy-[\w-]+|connection|host)\s*:/i.test(line));
  const all = [
    `${method} ${path.startsWith('/') ? path : `/${path}`} HTTP/1.1`,
    `Host: ${authority}`,
    ...kept,
  ];
  return `${[...all, 'Connection: close'].join('\r\n')}\r\n\r\n`;
}

function dial(address: string, port: number): Promise<Socket | undefined> {
  return new Promise((resolve) => {
    const socket = connect({ host: address, port, timeout: CONNECT_TIMEOUT_MS });
    const fail = () => {
      socket.destroy();
      resolve(undefined);
    };
    socket.once('error', fail);
    socket.once('timeout', fail);
    socket.once('connect', () => {
      socket.removeAllListeners('error');
      socket.setTimeout(0);
      resolve(socket);
    });
  });
}

function join(client: Duplex, upstream: Socket): void {
  upstream.on('error', () => client.destroy());
  client.on('close', () => upstream.destroy());
  client.pipe(upstream);
  upstream.pipe(client);
}

function refuse(client: Duplex, status: number, why: string): void {
  const text = `${why}\n`;
  client.end(
    `HTTP/1.1 ${status} Refused\r\nContent-Type: text/plain\r\nContent-Length: ${Buffer.byteLength(text)}\r\nConnection: close\r\n\r\n${text}`,
  );
}

function readHead(client: Duplex): Promise<Head | undefined> {
  return new Promise((resolve) => {
    let bytes = Buffer.alloc(0);
    const settle = (head: Head | undefined) => {
      client.off('data', take);
      client.off('end', end);
      client.pause();
      resolve(head);
    };
    const end = () => settle(undefined);
    const take = (piece: Buffer) => {
      bytes = Buffer.concat([bytes, piece]);
      const at = bytes.indexOf('\r\n\r\n');
      if (at >= 0) settle(parseHead(bytes.subarray(0, at).toString('latin1'), bytes.subarray(at + 4)));
      else if (bytes.length > MAX_HEAD) settle(undefined);
    };
    client.on('data', take);
    client.once('end', end);
  });
}

function parseHead(text: string, rest: Buffer): Head | undefined {
  const [first = '', ...lines] = text.split('\r\n');
  const [, method, target] = /^([A-Z]+) (\S+) HTTP\/1\.[01]$/.exec(first) ?? [];
  // A lone line end, or a line that goes on in the next, is read differently by whoever comes behind.
  if (method === undefined || target === undefined || lines.some((line) => /[\r\n\0]|^[ \t]/.test(line)))
    return undefined;
  return { method, target, lines, rest };
}
