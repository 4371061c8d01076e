// The part of the library that is used here; it brings no types.

declare module 'ws' {
  import type { ClientRequestArgs, IncomingMessage } from 'node:http';
  import type { Duplex } from 'node:stream';

  interface Events {
    open: [];
    message: [data: Buffer, isBinary: boolean];
    ping: [];
    pong: [];
    close: [code: number, reason: Buffer];
    error: [error: Error];
    upgrade: [response: IncomingMessage];
    'unexpected-response': [request: unknown, response: IncomingMessage];
  }

  interface Limits {
    /** Bytes of a message. */
    readonly maxPayload: number;
    readonly perMessageDeflate: false;
    /** Milliseconds that the closing handshake may take. */
    readonly closeTimeout?: number;
  }

  class WebSocket {
    constructor(
      url: string,
      protocols: readonly string[],
      options: Limits & ClientRequestArgs & { readonly handshakeTimeout: number; readonly ca?: string },
    );
    on<Name extends keyof Events>(name: Name, listener: (...said: Events[Name]) => void): this;
    readonly readyState: number;
    readonly isPaused: boolean;
    send(text: string): void;
    ping(): void;
    pause(): void;
    resume(): void;
    close(code?: number, reason?: string): void;
    terminate(): void;
  }

  class WebSocketServer {
    constructor(
      options: Limits & {
        readonly noServer: true;
        readonly clientTracking: false;
        readonly maxFragments: number;
        readonly handleProtocols: (protocols: ReadonlySet<string>) => string | false;
      },
    );
    handleUpgrade(
      request: IncomingMessage,
      socket: Duplex,
      head: Buffer,
      done: (client: WebSocket) => void,
    ): void;
  }
}
