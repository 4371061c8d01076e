// Which rules, mode and folders a conversation starts with, from the command line, the person's settings, what the
// person always allows here, and the project's own files. Until the person trusts a project its files can only
// tighten (law 11): deny and ask rules hold at once, everything else waits and is told of.

import { CrabError } from '../core/errors.ts';
import { PERMISSION_MODES, type PermissionMode, type Rule } from '../core/permission.ts';
import type { PermissionSettings, Settings } from '../core/settings.ts';
import { visibleLine } from '../faces/visible.ts';
import { parseRules, readRule } from '../parts/permissions/rules.ts';
import { type Arguments, conflict } from './arguments.ts';
import type { Environment } from './home.ts';
import { type Project, projectOf } from './project.ts';

export interface Policy {
  readonly mode: PermissionMode;
  readonly rules: readonly Rule[];
  /** Absolute, those of the command line not among them. */
  readonly directories: readonly string[];
  readonly project: Project;
}

export interface PolicyOptions {
  readonly args?: Arguments;
  readonly env: Environment;
  readonly settings: Settings;
  readonly cwd: string;
  /** Asks the person once whether to obey the project; absent where nobody is there. Undefined leaves it open. */
  readonly confirm?: ((project: Project) => Promise<boolean | undefined>) | undefined;
  warn(text: string): void;
}

/** Throws `CrabError`: `usage` for a rule that cannot be read, `settings-invalid` for a file. */
export async function policyOf(options: PolicyOptions): Promise<Policy> {
  const { args, settings, warn } = options;
  const found = await projectOf(options.cwd, options.env);
  const project = await decided(found, options);
  const trusted = project.trusted === true;
  const own = settings.permissions;
  const theirs = project.settings;
  if (!trusted && theirs !== undefined) tellIgnored(project, theirs, own, warn);
  const fromProject = (theirs?.rules ?? []).filter(({ decision }) => trusted || decision !== 'allow');
  const rules = [...(own?.rules ?? []), ...project.grants, ...fromProject];
  for (const rule of rules) readRule(rule.text, rule.source);
  return {
    mode: modeOf(options, trusted, theirs?.mode),
    rules: [
      ...parseRules(args?.values('allowedTools') ?? [], 'allow', '--allowedTools'),
      ...parseRules(args?.values('disallowedTools') ?? [], 'deny', '--disallowedTools'),
      ...rules,
    ],
    directories: [...(own?.directories ?? []), ...(trusted ? (theirs?.directories ?? []) : [])],
    project,
  };
}

async function decided(project: Project, { args, confirm }: PolicyOptions): Promise<Project> {
  if (args?.has('trust') === true) return { ...project, trusted: true };
  if (project.trusted !== undefined || confirm === undefined || wishesOf(project).length === 0)
    return project;
  const trusted = await confirm(project);
  return trusted === undefined ? project : { ...project, trusted };
}

/** What the project's files ask for that waits for trust, each as one line. */
export function wishesOf({ settings }: Pick<Project, 'settings'>): readonly string[] {
  if (settings === undefined) return [];
  const { rules, directories, mode } = settings;
  return [
    ...rules
      .filter(({ decision }) => decision === 'allow')
      .map(({ text, source }) => `allow ${text} (${source})`),
    ...directories.map((path) => `treat ${path} like the project`),
    ...(mode === undefined || !isWider(mode, 'default') ? [] : [`permission mode ${mode}`]),
  ];
}

function tellIgnored(
  project: Project,
  theirs: PermissionSettings,
  own: PermissionSettings | undefined,
  warn: (text: string) => void,
): void {
  const allows = theirs.rules.filter(({ decision }) => decision === 'allow').length;
  const wider = theirs.mode !== undefined && isWider(theirs.mode, own?.mode ?? 'default');
  const ignored = [
    ...(allows > 0 ? [`${allows} allow ${allows === 1 ? 'rule' : 'rules'}`] : []),
    ...(theirs.directories.length > 0 ? ['additional_directories'] : []),
    ...(wider ? [`default_mode ${theirs.mode}`] : []),
  ];
  if (ignored.length === 0) return;
  const where = visibleLine(project.files.join(' and '), 500);
  const root = visibleLine(project.root, 500);
  warn(`${where}: ignored ${ignored.join(', ')}, because ${root} is not trusted; see \`crab trust --help\``);
}

/** The names of the modes are in order, from the most careful on. */
function isWider(mode: PermissionMode, than: PermissionMode): boolean {
  return PERMISSION_MODES.indexOf(mode) > PERMISSION_MODES.indexOf(than);
}

function modeOf(
  { args, settings, warn }: PolicyOptions,
  trusted: boolean,
  proposed: PermissionMode | undefined,
): PermissionMode {
  const flag = modeFlag(args);
  if (flag !== undefined) return flag;
  const own = settings.permissions?.mode;
  if (proposed !== undefined && (trusted || !isWider(proposed, own ?? 'default'))) return proposed;
  if (own === 'trustProject' && !trusted) {
    warn('default_mode trustProject holds in trusted folders only; see `crab trust --help`');
    return 'default';
  }
  return own ?? 'default';
}

function modeFlag(args: Arguments | undefined): PermissionMode | undefined {
  if (args === undefined) return undefined;
  conflict(args, ['permission-mode', 'dangerously-skip-permissions']);
  if (args.has('dangerously-skip-permissions')) return 'bypassPermissions';
  const given = args.value('permission-mode');
  const mode = PERMISSION_MODES.find((known) => known === given);
  if (given !== undefined && mode === undefined)
    throw new CrabError('usage', `There is no permission mode ${given}.`);
  return mode;
}
