// Builds what users install into `dist/`: a folder that `npm publish ./dist` can send as it stands. The
// output is CommonJS because an ES import of `node:http` fires its lazy getters, which load undici (+25 ms and
// +14 MB on Node 22 and newer), while `require` does not; see `bundle` for the option that this depends on.

import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { build } from 'rolldown';
import manifest from '../package.json' with { type: 'json' };

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const DIST = `${ROOT}dist/`;
const MAX_PACKED_BYTES = 10 * 1024 * 1024;

/** Installed beside Crab where the platform has them; never part of the bundle. */
const OPTIONAL_PACKAGES = ['@vscode/ripgrep'] as const;

/** Returns the folders of the packages that became part of the bundle. */
async function bundle(): Promise<readonly string[]> {
  const { output } = await build({
    cwd: ROOT,
    input: { main: 'src/main.ts' },
    platform: 'node',
    external: [...OPTIONAL_PACKAGES],
    transform: { define: { CRAB_VERSION: JSON.stringify(manifest.version) } },
    output: {
      dir: DIST,
      format: 'cjs',
      chunkFileNames: '[name].js',
      // Otherwise `await import('node:http')` stays an ES import, with the cost that CommonJS is to avoid.
      dynamicImportInCjs: false,
      // Names stay whole: they make stack traces readable, and shorter ones start no faster.
      minify: { compress: true, mangle: false, codegen: true },
    },
  });
  const modules = output.flatMap((each) => (each.type === 'chunk' ? each.moduleIds : []));
  const folders = modules.flatMap((id) => /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+/.exec(id)?.[0] ?? []);
  return [...new Set(folders)].sort();
}

const LICENSES = 'THIRD-PARTY-LICENSES.txt';

/** Their authors allow it on the condition that their names and terms come along. */
function writeLicenses(folders: readonly string[]): void {
  const byTerms = new Map<string, string[]>();
  for (const folder of folders) {
    const { name, version, license } = JSON.parse(readFileSync(`${folder}/package.json`, 'utf8'));
    if (typeof license !== 'string') throw new Error(`${folder} does not say its license`);
    const files = readdirSync(folder).filter((file) => /^(?:licen[cs]e|notice|copying)/i.test(file));
    const terms = files.map((file) => readFileSync(`${folder}/${file}`, 'utf8').trim()).join('\n\n');
    byTerms.set(terms, [...(byTerms.get(terms) ?? []), `${name} ${version} (${license})`]);
  }
  const parts = [...byTerms].map(([terms, names]) => [...names, '', terms].join('\n').trim());
  writeFileSync(DIST + LICENSES, `${parts.join(`\n\n${'-'.repeat(78)}\n\n`)}\n`);
}

function writeManifest(): void {
  const { name, version, description, license, engines, optionalDependencies } = manifest;
  const published = {
    name,
    version,
    description,
    license,
    type: 'commonjs',
    bin: { crab: 'crab.cjs' },
    engines,
    optionalDependencies: Object.fromEntries(
      OPTIONAL_PACKAGES.map((one) => [one, optionalDependencies[one]]),
    ),
    files: readdirSync(DIST).filter((file) => /\.(?:c?js|md)$/.test(file) || file === LICENSES),
  };
  writeFileSync(`${DIST}package.json`, `${JSON.stringify(published, null, 2)}\n`);
}

/** Everything but the standalone binary, which another script owns. */
function clean(): void {
  mkdirSync(DIST, { recursive: true });
  for (const entry of readdirSync(DIST)) {
    if (entry !== 'standalone') rmSync(DIST + entry, { recursive: true });
  }
}

interface Packed {
  readonly size: number;
  readonly unpackedSize: number;
  readonly entryCount: number;
}

/** What `npm publish` would send, as npm itself counts it. */
function pack(): Packed {
  const report = execFileSync('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], {
    cwd: DIST,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const parsed: unknown = JSON.parse(report);
  const [packed] = (Array.isArray(parsed) ? parsed : Object.values(Object(parsed))) as Packed[];
  if (packed === undefined) throw new Error(`npm pack reported nothing: ${report}`);
  return packed;
}

function kilobytes(bytes: number): string {
  return `${(bytes / 1024).toFixed(1)} KB`;
}

clean();
writeLicenses(await bundle());
cpSync(`${ROOT}src/crab.cjs`, `${DIST}crab.cjs`);
for (const file of ['README.md', 'LICENSE', 'CHANGELOG.md']) cpSync(ROOT + file, DIST + file);
writeManifest();

for (const file of readdirSync(DIST).filter((name) => /\.c?js$/.test(name))) {
  console.log(`${kilobytes(statSync(DIST + file).size).padStart(10)}  dist/${file}`);
}
const packed = pack();
console.log(
  `${kilobytes(packed.size).padStart(10)}  packed (${kilobytes(packed.unpackedSize)} unpacked, ${packed.entryCount} files)`,
);
if (packed.size > MAX_PACKED_BYTES) {
  throw new Error(`the package is ${packed.size} bytes, more than the ${MAX_PACKED_BYTES} allowed`);
}
