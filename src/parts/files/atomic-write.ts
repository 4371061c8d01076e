// Replaces a file in one step: whoever looks, and whatever stops us, finds the old content or the new one and never
// a part. The price is a new inode: other names of a hard-linked file keep the old content, and extended
// attributes are not carried over. The system is an argument so that a test can make each step fail.

import * as promises from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { errnoOf, ToolFailure } from '../../core/errors.ts';

export type WriteSystem = Pick<typeof promises, 'access' | 'mkdir' | 'open' | 'rename' | 'stat' | 'unlink'>;

interface Owner {
  readonly uid: number;
  readonly gid: number;
  readonly mode: number;
}

/**
 * `target` is resolved: no link is followed any more. `named` is what messages call it. Throws system errors, or
 * `ToolFailure` for no regular file.
 */
export async function atomicWrite(
  target: string,
  bytes: Uint8Array,
  system: WriteSystem = promises,
  named = target,
): Promise<void> {
  const old = await replaced(target, named, system);
  const folder = dirname(target);
  const { path, handle } = await openTemporary(folder, old, system);
  try {
    try {
      await handle.writeFile(bytes);
      if (old !== undefined) await keepOwner(handle, old);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await system.rename(path, target);
  } catch (error) {
    await system.unlink(path).catch(() => {});
    throw error;
  }
  await syncFolder(folder, system);
}

async function replaced(target: string, named: string, system: WriteSystem): Promise<Owner | undefined> {
  let info: Awaited<ReturnType<typeof promises.stat>>;
  try {
    info = await system.stat(target);
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return undefined;
    throw error;
  }
  if (info.isDirectory()) throw new ToolFailure(`Cannot write ${named}: it is a folder, not a file.`);
  if (!info.isFile()) throw new ToolFailure(`Cannot write ${named}: it is no regular file.`);
  // A rename needs no permission on the file itself: without this a write-protected file would be replaced.
  await system.access(target, promises.constants.W_OK);
  // As any write does, this one drops the bits that lend the owner's rights to whoever runs the file.
  return { uid: info.uid, gid: info.gid, mode: info.mode & 0o1777 };
}

async function openTemporary(folder: string, old: Owner | undefined, system: WriteSystem) {
  const mode = old === undefined ? 0o666 : 0o600;
  for (let attempt = 0; ; attempt++) {
    const path = join(folder, `.crab-${process.pid}-${Math.random().toString(36).slice(2, 12)}.tmp`);
    try {
      return { path, handle: await system.open(path, 'wx', mode) };
    } catch (error) {
      const code = errnoOf(error);
      if (attempt >= 8 || (code !== 'EEXIST' && code !== 'ENOENT')) throw error;
      if (code === 'ENOENT') await system.mkdir(folder, { recursive: true });
    }
  }
}

async function keepOwner(handle: promises.FileHandle, old: Owner): Promise<void> {
  const info = await handle.stat();
  if (info.uid !== old.uid || info.gid !== old.gid) {
    // Only root may give a file away; others keep what they can, as an editor does.
    await handle.chown(old.uid, old.gid).catch(() => {});
  }
  await handle.chmod(old.mode);
}

async function syncFolder(folder: string, system: WriteSystem): Promise<void> {
  const handle = await system.open(folder, 'r').catch(() => undefined);
  if (handle === undefined) return;
  try {
    await handle.sync();
  } catch (error) {
    // Some file systems cannot sync a folder; the new content is in place all the same.
    if (errnoOf(error) === 'EIO') throw error;
  } finally {
    await handle.close();
  }
}
