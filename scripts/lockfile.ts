// `node scripts/lockfile.ts` adds to package-lock.json the binaries for other platforms that npm leaves out when the
// registry it asks does not have them. Without them `npm ci` refuses the file, on every platform.

import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

interface Locked {
  readonly version?: string;
  readonly dev?: boolean;
  readonly optional?: boolean;
  readonly os?: readonly string[];
  readonly cpu?: readonly string[];
  readonly libc?: readonly string[];
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

export interface Lockfile {
  readonly packages: Readonly<Record<string, Locked>>;
}

const SYSTEMS = ['android', 'darwin', 'freebsd', 'linux', 'openharmony', 'win32'];
const PROCESSORS = ['arm', 'arm64', 'ia32', 'ppc64', 'riscv64', 's390x', 'wasm32', 'x64'];

/** Entries that optional dependencies name and that are not there. */
export function missingEntries({ packages }: Lockfile): Readonly<Record<string, Locked>> {
  const missing: Record<string, Locked> = {};
  for (const [path, { dev, optionalDependencies = {} }] of Object.entries(packages)) {
    for (const [name, version] of Object.entries(optionalDependencies)) {
      const key = `node_modules/${name}`;
      const nested = path === '' ? key : `${path}/${key}`;
      if (packages[key] === undefined && packages[nested] === undefined) {
        missing[key] = { version, ...(dev && { dev }), optional: true, ...platformOf(name) };
      }
    }
  }
  return missing;
}

/** What such packages say of themselves, read off their names: `@biomejs/cli-linux-x64-musl`. */
function platformOf(name: string): Pick<Locked, 'os' | 'cpu' | 'libc'> {
  const words = name.split(/[/-]/);
  const os = words.find((word) => SYSTEMS.includes(word));
  const cpu = words.find((word) => PROCESSORS.includes(word));
  const libc = words.some((word) => word.startsWith('musl')) ? 'musl' : 'glibc';
  const named = words.some((word) => /^(?:musl|gnu)/.test(word));
  return { ...(cpu && { cpu: [cpu] }), ...(named && { libc: [libc] }), ...(os && { os: [os] }) };
}

function complete(path: string): void {
  const lockfile: Lockfile = JSON.parse(readFileSync(path, 'utf8'));
  const missing = missingEntries(lockfile);
  const entries = Object.entries({ ...lockfile.packages, ...missing }).sort(([a], [b]) => (a < b ? -1 : 1));
  const completed = { ...lockfile, packages: Object.fromEntries(entries) };
  writeFileSync(path, `${JSON.stringify(completed, null, 2)}\n`);
  console.log(`${Object.keys(missing).length} entries added to package-lock.json`);
}

if (import.meta.main) complete(fileURLToPath(new URL('../package-lock.json', import.meta.url)));
