// Builds what users install into `dist/`: a folder that `npm publish ./dist` can send as it stands. The
// output is CommonJS because an ES import of `node:http` fires its lazy getters, which load undici (+25 ms and
// +14 MB on Node 22 and newer), while `require` does not; see `bundle` for the option that this depends on.

import { execFileSync } from 'node:child_process';
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, posix } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'rolldown';
import manifest from '../package.json' with { type: 'json' };
import { MINIFY, packagesOf, writeDocumentThread } from './document-thread.ts';
import { writeGrammar } from './grammar.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const DIST = `${ROOT}dist/`;
const MAX_PACKED_BYTES = 10 * 1024 * 1024;

/** Installed beside Crab where the platform has them; never part of the bundle. */
const OPTIONAL_PACKAGES = ['@lydell/node-pty', '@vscode/ripgrep'] as const;

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
      // By its content, so that a Crab that was updated while it runs finds no module of the other version under a name that it
      // knows. What it says then is in crab.cjs.
      chunkFileNames: '[name].[hash].js',
      // Otherwise `await import('node:http')` stays an ES import, with the cost that CommonJS is to avoid.
      dynamicImportInCjs: false,
      minify: MINIFY,
    },
  });
  return packagesOf(output);
}

/** `crab/client`: modules of their own, for Node and for browsers, with what a type checker wants to know. */
async function bundleClient(): Promise<void> {
  await build({
    cwd: ROOT,
    input: { node: 'src/client/node.ts', browser: 'src/client/browser.ts' },
    platform: 'neutral',
    external: [/^node:/],
    output: { dir: `${DIST}client`, format: 'esm', chunkFileNames: '[name].js', minify: MINIFY },
  });
  writeFileSync(`${DIST}client/package.json`, `${JSON.stringify({ type: 'module' })}\n`);
  writeTypes(`${DIST}client/`);
}

/** The declarations that a program of somebody else's needs: those that can be reached from the two entries. */
function writeTypes(folder: string): void {
  const all = mkdtempSync(join(tmpdir(), 'crab-types-'));
  const flags = ['--declaration', '--emitDeclarationOnly', '--noEmit', 'false', '--outDir', all];
  const config = join(all, 'tsconfig.json');
  const files = ['node', 'browser'].map((name) => `${ROOT}src/client/${name}.ts`);
  writeFileSync(
    config,
    JSON.stringify({
      extends: `${ROOT}tsconfig.json`,
      compilerOptions: { rootDir: `${ROOT}src`, typeRoots: [`${ROOT}node_modules/@types`] },
      files,
      include: [],
    }),
  );
  execFileSync(`${ROOT}node_modules/.bin/tsc`, ['-p', config, ...flags], { stdio: 'inherit' });
  const wanted = new Set(['client/node', 'client/browser']);
  for (const name of wanted) {
    const text = readFileSync(join(all, `${name}.d.ts`), 'utf8');
    const shown = text.replaceAll(/(from ['"])(\.[^'"]+)\.ts(['"])/g, (_, before, path, after) => {
      wanted.add(posix.join(posix.dirname(name), path));
      return `${before}${path}.js${after}`;
    });
    mkdirSync(dirname(join(folder, 'types', name)), { recursive: true });
    writeFileSync(join(folder, 'types', `${name}.d.ts`), shown);
  }
  rmSync(all, { recursive: true });
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
    bin: { crab: 'crab.cjs', crabd: 'crabd.cjs' },
    exports: {
      './client': {
        types: './client/types/client/node.d.ts',
        node: './client/node.js',
        default: './client/browser.js',
      },
      './package.json': './package.json',
    },
    engines,
    optionalDependencies: Object.fromEntries(
      OPTIONAL_PACKAGES.map((one) => [one, optionalDependencies[one]]),
    ),
    files: [
      ...readdirSync(DIST).filter((file) => /\.(?:c?js|md|wasm\.gz)$/.test(file) || file === LICENSES),
      'client',
    ],
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
const bundled = [...(await bundle()), ...(await writeDocumentThread(DIST))];
writeLicenses([...new Set([...bundled, ...writeGrammar(DIST).folders])].sort());
for (const file of ['crab.cjs', 'crabd.cjs']) cpSync(`${ROOT}src/${file}`, DIST + file);
for (const file of ['README.md', 'LICENSE', 'CHANGELOG.md']) cpSync(ROOT + file, DIST + file);
await bundleClient();
writeManifest();

for (const file of readdirSync(DIST).filter((name) => /\.(?:c?js|wasm\.gz)$/.test(name))) {
  console.log(`${kilobytes(statSync(DIST + file).size).padStart(10)}  dist/${file}`);
}
const packed = pack();
console.log(
  `${kilobytes(packed.size).padStart(10)}  packed (${kilobytes(packed.unpackedSize)} unpacked, ${packed.entryCount} files)`,
);
if (packed.size > MAX_PACKED_BYTES) {
  throw new Error(`the package is ${packed.size} bytes, more than the ${MAX_PACKED_BYTES} allowed`);
}
