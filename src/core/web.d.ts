// The few globals that every JavaScript runtime has. The pure rooms are compiled with these and nothing
// else, so that a timer, a file, a process or a random number in them is a compile error.
interface AbortSignal {
  readonly aborted: boolean;
  readonly reason: unknown;
  throwIfAborted(): void;
  addEventListener(type: 'abort', listener: () => void, options?: { once?: boolean }): void;
  removeEventListener(type: 'abort', listener: () => void): void;
}
declare var AbortSignal: { any(signals: readonly AbortSignal[]): AbortSignal };
interface AbortController {
  readonly signal: AbortSignal;
  abort(reason?: unknown): void;
}
declare var AbortController: { new (): AbortController };
interface TextEncoder {
  encode(text?: string): Uint8Array<ArrayBuffer>;
}
declare var TextEncoder: { new (): TextEncoder };
interface TextDecoder {
  decode(bytes?: Uint8Array, options?: { stream?: boolean }): string;
}
declare var TextDecoder: {
  new (label?: string, options?: { fatal?: boolean; ignoreBOM?: boolean }): TextDecoder;
};
interface URL {
  readonly href: string;
  readonly protocol: string;
  readonly hostname: string;
  readonly pathname: string;
}
declare var URL: { new (url: string, base?: string): URL };
declare function queueMicrotask(callback: () => void): void;
