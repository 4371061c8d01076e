// A copy of the source tree with files planted in it, judged by the real linter and the real compiler under
// the real configuration. The working tree itself is never touched.

import { execFile, execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { cp, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const ROOT = fileURLToPath(new URL('../..', import.meta.url));

const CONFIGURATION = ['biome.json', 'package.json', 'tsconfig.json', 'tsconfig.pure.json', 'scripts'];

export interface Finding {
  /** Relative to the root of the tree. */
  readonly file: string;
  readonly line: number;
  /** The linter's category, or the compiler's code. */
  readonly rule: string;
  readonly message: string;
}

export interface Linted {
  readonly findings: readonly Finding[];
  readonly filesChecked: number;
}

export interface PlantedTree extends AsyncDisposable {
  readonly root: string;
  /** Of the planted files alone: the rest of the tree is linted where it stands. */
  lint(): Promise<Linted>;
  compile(project: string): Promise<readonly Finding[]>;
}

/** What git knows of and what is new, below `folder`. A schema is no source: what is generated from it is. */
export function sourceFiles(folder: string): readonly string[] {
  // In a container the files often belong to another user, which git refuses unless it is told.
  const trusted = ['-c', `safe.directory=${ROOT.replace(/\/$/, '')}`];
  const args = [...trusted, 'ls-files', '-z', '--cached', '--others', '--exclude-standard', folder];
  const files = execFileSync('git', args, { cwd: ROOT, encoding: 'utf8' }).split('\0');
  return files.filter((file) => file !== '' && !file.endsWith('.proto') && existsSync(join(ROOT, file)));
}

/** `files` maps a path below the root to its text. */
export async function plantTree(files: ReadonlyMap<string, string>): Promise<PlantedTree> {
  const root = await mkdtemp(join(tmpdir(), 'crab-rules-'));
  for (const file of [...CONFIGURATION, ...sourceFiles('src')]) {
    await cp(join(ROOT, file), join(root, file), { recursive: true });
  }
  await symlink(join(ROOT, 'node_modules'), join(root, 'node_modules'));
  for (const [file, text] of files) {
    await mkdir(dirname(join(root, file)), { recursive: true });
    await writeFile(join(root, file), text);
  }
  return {
    root,
    lint: () => lint(root, [...files.keys()]),
    compile: (project) => compile(root, project),
    [Symbol.asyncDispose]: () => rm(root, { recursive: true }),
  };
}

/** `paths` are relative to `root`. */
export async function lint(root: string, paths: readonly string[] = ['src']): Promise<Linted> {
  const args = ['lint', '--reporter=json', '--max-diagnostics=none', ...paths];
  const report = await output(root, 'biome', args);
  const { summary, diagnostics } = JSON.parse(report);
  return {
    filesChecked: summary.changed + summary.unchanged,
    findings: diagnostics.map((one: Readonly<Record<string, never>>) => ({
      file: Object(one['location']).path,
      line: Object(one['location']).start?.line ?? 0,
      rule: one['category'],
      message: one['message'],
    })),
  };
}

async function compile(root: string, project: string): Promise<readonly Finding[]> {
  const report = await output(root, 'tsc', ['-p', project, '--pretty', 'false']);
  return [...report.matchAll(/^(.+)\((\d+),\d+\): error (TS\d+): (.*)$/gm)].map((found) => {
    const [, file = '', line, rule = '', message = ''] = found;
    return { file, line: Number(line), rule, message };
  });
}

/** Files of ours that a project compiles, relative to the root. */
export async function compiledFiles(project: string): Promise<readonly string[]> {
  const report = await output(ROOT, 'tsc', ['-p', project, '--listFilesOnly']);
  const prefix = ROOT.replaceAll('\\', '/');
  return report
    .split('\n')
    .map((file) => file.trim().replace(prefix, ''))
    .filter((file) => file !== '' && !file.includes('node_modules/'))
    .sort();
}

/** Standard output, whatever the status: findings make it 1. */
function output(cwd: string, command: string, args: readonly string[]): Promise<string> {
  const program = join(ROOT, 'node_modules/.bin', command);
  return new Promise((done, fail) => {
    execFile(program, args, { cwd, maxBuffer: 64 * 1024 * 1024 }, (error, stdout, stderr) => {
      if (error !== null && typeof error.code !== 'number') fail(error);
      else if (stdout === '' && error !== null) fail(new Error(`${command} says nothing but ${stderr}`));
      else done(stdout);
    });
  });
}
