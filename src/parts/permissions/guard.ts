// What no rule opens by accident: places outside the workspace that decide what runs by itself, and files that hold
// secrets. It is judged on a survey that is done, so that shell and file tools meet the same guard.

import { relative, sep } from 'node:path';
import type { GateRequest } from '../../core/permission.ts';
import { INSTRUCTING_FOLDERS, STARTING_FOLDERS } from '../../core/protected.ts';
import { isWithin } from './path-scope.ts';
import { globMeansSecrets, isSecretFile } from './secret-files.ts';
import { type Survey, shorten, type Touch } from './survey.ts';

export interface Guard {
  /** Crab's own home and the like; absolute. */
  readonly guarded: readonly string[];
  readonly home?: string;
  readonly resolve: (path: string) => Promise<string>;
}

/** Of the home folder: read by a shell, a login, a desktop or a program of everybody's before anybody is asked. */
const HOME_FILES =
  /^\.(?:bashrc|bash_profile|bash_login|bash_logout|bash_aliases|profile|zshrc|zshenv|zprofile|zlogin|zlogout|kshrc|cshrc|tcshrc|login|inputrc|gitconfig|gitignore|npmrc|yarnrc(?:\.yml)?|pypirc|netrc|curlrc|wgetrc|vimrc|exrc|emacs|tmux\.conf|screenrc|editorconfig|xinitrc|xprofile|xsession|pam_environment|forward|my\.cnf|pgpass|psqlrc|gdbinit|lldbinit|pythonrc|irbrc|Rprofile)$/i;
const HOME_FOLDERS = new Set([
  ...STARTING_FOLDERS,
  ...INSTRUCTING_FOLDERS,
  ...'.ssh .gnupg .aws .azure .kube .docker .config .local .cargo .rustup .npm .nvm .pyenv .rbenv .vim .emacs.d .mozilla .oh-my-zsh .terraform.d .gradle .m2 .git .password-store library'.split(
    ' ',
  ),
]);
/** Anywhere: a repository beside this one has hooks, too. */
const FOLDERS = new Set([...STARTING_FOLDERS, '.git', '.ssh']);
/** Of the machine: what starts by itself, or is started by everybody. Other files there are only outside. */
const SYSTEM =
  /^(?:\/private)?\/(?:etc\/(?:profile|profile\.d|bash[^/]*|zsh[^/]*|environment|cron[^/]*|anacrontab|sudoers[^/]*|pam[^/]*|ssh|systemd|init[^/]*|rc[^/]*|ld\.so[^/]*|xdg|passwd|shadow|group)|bin|sbin|lib(?:32|64)?|boot|sys|proc|usr\/(?:local\/)?(?:bin|sbin|lib[^/]*)|var\/spool\/cron|System|Library)(?:\/|$)/;

/** The survey with every write to such a place as what it is. */
export async function guarded(surveyed: Survey, guard: Guard): Promise<Survey> {
  if (surveyed.column !== 'outside' && surveyed.column !== 'write') return surveyed;
  for (const touch of surveyed.touches) {
    if (touch.how !== 'write') continue;
    const why = await protectedElsewhere(touch, guard);
    if (why === undefined) continue;
    const fact = `${shorten(touch.asked)} is protected, because ${why}`;
    return { ...surveyed, column: 'dangerous', fact };
  }
  return surveyed;
}

async function protectedElsewhere({ place }: Touch, guard: Guard): Promise<string | undefined> {
  for (const folder of guard.guarded) {
    const real = await guard.resolve(folder).catch(() => folder);
    if (isWithin(place.path, real)) return 'Crab keeps its own settings and sessions there';
  }
  if (place.where !== 'outside') return undefined;
  const { path } = place;
  const { home } = guard;
  const realHome = home === undefined ? undefined : await guard.resolve(home).catch(() => home);
  if (realHome !== undefined && isWithin(path, realHome)) {
    const [first = '', ...rest] = relative(realHome, path).split(sep);
    if (rest.length === 0 && HOME_FILES.test(first)) return `~/${first} decides what runs by itself`;
    if (HOME_FOLDERS.has(first.toLowerCase())) return `~/${first} decides what runs by itself`;
  } else if (SYSTEM.test(path)) return 'it belongs to the system';
  const folder = path.split(sep).find((component) => FOLDERS.has(component.toLowerCase()));
  return folder === undefined ? undefined : `${folder}/ decides what runs by itself`;
}

export interface Secret {
  /** As it was asked for. */
  readonly name: string;
  /** With links followed; undefined where a pattern stands for it. */
  readonly path: string | undefined;
}

/** What of a request is secret by its name; undefined when nothing is. */
export function secretsIn({ access }: GateRequest, surveyed: Survey): readonly Secret[] | undefined {
  const isCommand = access.kind === 'command';
  const opening = surveyed.parts.filter(({ part }) => !part.namesOnly);
  const touches = isCommand ? opening.flatMap((each) => each.touches) : surveyed.touches;
  const found = touches
    // What a command only writes shows it nothing.
    .filter(({ how, asked, place }) => (how === 'read' || !isCommand) && isSecret(asked, place.path))
    .map(({ asked, place }): Secret => ({ name: asked, path: place.path }));
  for (const { part } of opening) {
    const glob = part.globs.find(globMeansSecrets);
    if (glob !== undefined) found.push({ name: glob, path: undefined });
    if (part.effect === 'read') continue;
    // Of a part that is not understood, any word may be a file that it reads.
    const mentioned = part.mentions.filter((path) => isSecretFile(path) && !part.writes.includes(path));
    found.push(...mentioned.map((path) => ({ name: path, path })));
  }
  return found.length === 0 ? undefined : found;
}

function isSecret(asked: string, real: string): boolean {
  return isSecretFile(asked) || isSecretFile(real);
}
