// What the daemon says of itself, for people: one line each, a new file every day and whenever one is full. Writing waits
// for nobody, and a disk that takes no more costs lines and never a run. Nothing that looks like a secret goes in (law 10).

import {
  createWriteStream,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  type WriteStream,
} from 'node:fs';
import { join } from 'node:path';
import { maskShapes } from '../../core/secret-shapes.ts';
import { makeFolder } from '../../disk/make-folder.ts';
import { visibleLine } from '../../faces/visible.ts';

export interface DaemonLog {
  readonly path: string;
  /** One line, whatever stands in the text. */
  write(text: string): void;
  /** What is not given goes back to what it is by itself. */
  resize(room: LogRoom): void;
  /** Resolves when everything that was said is in the file, or cannot be. */
  close(): Promise<void>;
}

export interface LogOptions extends LogRoom {
  readonly folder: string;
  now(): number;
  /** Takes out what is known to be a secret. */
  redact?(text: string): string;
}

export interface LogRoom {
  /** Bytes of a file. */
  readonly room?: number;
  /** Files that are kept beside the one in use. */
  readonly keep?: number;
}

const ROOM = 10 * 1024 * 1024;
const KEEP = 14;
/** Characters of a line. */
const MAX_LINE = 2000;
/** Bytes that may wait for the disk; beyond that lines are lost, and counted. */
const MAX_WAITING = 1024 * 1024;

const OLD = /^daemon-\d{4}-\d\d-\d\d(?:\.\d+)?\.log$/;

export function openDaemonLog(options: LogOptions): DaemonLog {
  const { folder, now, redact = (text) => text } = options;
  let { room = ROOM, keep = KEEP } = options;
  const path = join(folder, 'daemon.log');
  let stream: WriteStream | undefined;
  let size = 0;
  let day = '';
  let lost = 0;

  function open(today: string): WriteStream {
    makeFolder(folder);
    const found = statSync(path, { throwIfNoEntry: false });
    const foundDay = found === undefined ? today : dayOf(found.mtimeMs);
    if (found !== undefined && (foundDay !== today || found.size >= room)) setAside(foundDay);
    size = statSync(path, { throwIfNoEntry: false })?.size ?? 0;
    day = today;
    const opened = createWriteStream(path, { fd: openSync(path, 'a', 0o600) });
    // Whatever is wrong with it, the next line tries again.
    opened.on('error', () => {
      if (stream === opened) stream = undefined;
    });
    return opened;
  }

  function setAside(of: string): void {
    const all = readdirSync(folder);
    let name = `daemon-${of}.log`;
    for (let count = 1; all.includes(name); count++) name = `daemon-${of}.${count}.log`;
    renameSync(path, join(folder, name));
    const old = [...all.filter((file) => OLD.test(file)), name];
    const byAge = old.map((file) => ({ file, at: statSync(join(folder, file)).mtimeMs }));
    for (const { file } of byAge.sort((one, other) => other.at - one.at).slice(keep))
      rmSync(join(folder, file));
  }

  function write(text: string): void {
    const at = new Date(now());
    const said = lost === 0 ? text : `${text} (${lost} lines before this are lost)`;
    const line = `${at.toISOString()} ${visibleLine(maskShapes(redact(said)), MAX_LINE)}\n`;
    const today = dayOf(at.getTime());
    try {
      if (stream !== undefined && (today !== day || size >= room)) {
        stream.end();
        stream = undefined;
        setAside(day);
      }
      stream ??= open(today);
      if (stream.writableLength > MAX_WAITING) {
        lost++;
        return;
      }
      lost = 0;
      size += Buffer.byteLength(line);
      stream.write(line);
    } catch {
      lost++;
    }
  }

  return {
    path,
    write,
    resize(wanted) {
      ({ room = ROOM, keep = KEEP } = wanted);
    },
    close: () =>
      new Promise((resolve) => {
        if (stream === undefined) return resolve();
        stream.on('error', () => resolve());
        stream.end(resolve);
        stream = undefined;
      }),
  };
}

/** In the person's time zone, as the file's own time is shown to them. */
function dayOf(time: number): string {
  const date = new Date(time);
  const two = (number: number) => String(number).padStart(2, '0');
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
}
