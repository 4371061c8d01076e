// Files that usually hold keys, told by their names alone: opening one to see whether it is secret would be reading
// it. No mode but bypassPermissions reads them unasked, and only a rule that names them lifts that.

import { foldedName } from './folded-name.ts';
import { nameGlob } from './pattern.ts';

/** Templates without values are no secrets. */
const TEMPLATE = /\.(?:example|sample|template|tmpl|dist|defaults?|schema)$/;

const NAMES: readonly RegExp[] = [
  /^\.env(?:[._~-].*|rc)?$/,
  /^.+\.env$/,
  /^id_(?:rsa|dsa|ecdsa|ed25519)(?:_sk)?(?:[._~-](?!pub$).*)?$/,
  /^.+\.(?:pem|p12|pfx|ppk|jks|keystore|kdbx|p8|asc)$/,
  /^.*(?:private|server|client|tls|ssl|secret|master|signing)[\w.-]*\.key$/,
  /^(?:\.|_)netrc$/,
  /^\.(?:pgpass|pypirc|git-credentials|my\.cnf|htpasswd|dockercfg|dockerconfigjson|vault-token|secrets?|token)$/,
  /^(?:\.|.*[_-])?credentials(?:\.(?:json|ya?ml|toml|ini|xml|properties))?$/,
  /^(?:client_secret|service[-_]?account)[\w.-]*\.json$/,
  /^secrets?\.(?:json|ya?ml|toml|ini|properties|tfvars)$/,
  /^auth\.json$/,
  /^.+\.(?:tfstate(?:\.backup)?|keychain(?:-db)?)$/,
  /^\.?kubeconfig(?:\.ya?ml)?$/,
  /^\.\w+_(?:history|hist)$/,
  /^(?:key[34]\.db|logins\.json|cookies\.sqlite|login data)$/,
  /^(?:shadow|gshadow)-?$/,
];
/** What lies below them, the keys that anybody may see apart. */
const FOLDERS = new Set(['.ssh', '.gnupg', '.aws', '.azure', '.kube', '.password-store']);
const OPEN_IN_FOLDERS = /^(?:known_hosts(?:\.old)?|.+\.pub)$/;
const CERTIFICATE = /(?:^|[._-])(?:ca|cert|certs|cacert|chain|fullchain|bundle|pub|public)(?:[._-]|$)/;
/** The end of a path, for names that mean nothing elsewhere. */
const ENDS: readonly RegExp[] = [
  /(?:^|\/)\.docker\/config\.json$/,
  /(?:^|\/)\.config\/(?:gcloud|gh|hub)(?:\/|$)/,
  /(?:^|\/)\.crab\/auth(?:\/|$)/,
  /^\/proc\/[^/]+\/(?:environ|mem|cmdline)$/,
];

/** `path` may be absolute or not; separators of both kinds count. */
export function isSecretFile(path: string): boolean {
  const components = path.split(/[\\/]/).map(foldedName);
  const name = components.at(-1) ?? '';
  if (components.some((component) => FOLDERS.has(component))) return !OPEN_IN_FOLDERS.test(name);
  if (ENDS.some((end) => end.test(components.join('/')))) return true;
  if (TEMPLATE.test(name)) return false;
  if (/\.pem$|\.asc$/.test(name) && CERTIFICATE.test(name.replace(/\.\w+$/, ''))) return false;
  return NAMES.some((pattern) => pattern.test(name));
}

/**
 * Whether the pattern of a rule was written for secrets, as `.env*` and `~/.ssh/**` are: one for a whole tree was
 * written by somebody who thought of other files.
 */
export function namesSecrets(spec: string): boolean {
  const pattern = spec.replace(/(?:\/\*\*?)+$/, '');
  const name = pattern.split('/').at(-1) ?? '';
  if (!/[*?[]/.test(name)) return isSecretFile(pattern);
  return isSecretFile(pattern.replaceAll(/\*+/g, '')) || isSecretFile(pattern.replaceAll(/[*?]+/g, 'a'));
}

/** Whether a pattern of the shell, such as `.e*` or `*.pem`, was written for what may be secret. `*` alone was not. */
export function globMeansSecrets(glob: string): boolean {
  const name = (glob.split('/').at(-1) ?? '').toLowerCase();
  if (!/[^*?]/.test(name)) return false;
  try {
    const matches = nameGlob(name);
    // The shell finds no file that begins with a dot by a pattern that does not.
    return PROBES.some((probe) => matches(probe) && probe.startsWith('.') === name.startsWith('.'));
  } catch {
    return true;
  }
}

/**
 * The same of a pattern that files are looked for by, as `find -name` does: there a letter for any letter stands for a
 * leading dot, too.
 */
export function nameMeansSecrets(glob: string): boolean {
  const name = (glob.split('/').at(-1) ?? '').toLowerCase();
  if (/[^*?.]/.test(name) && /^[*?]/.test(name)) {
    try {
      const matches = nameGlob(name);
      return PROBES.some(matches);
    } catch {
      return true;
    }
  }
  return globMeansSecrets(glob);
}

/** Whether an expression that lines are chosen by was written for such names. */
export function expressionMeansSecrets(text: string): boolean {
  if (!/[a-z]{3}/i.test(text)) return false;
  try {
    const expression = new RegExp(text, 'i');
    return PROBES.some((probe) => expression.test(probe) || expression.test(`./${probe}`));
  } catch {
    return PROBES.some((probe) => probe.includes(text.toLowerCase()));
  }
}

/** One of each kind; where any name will do, it is one that no letters of a pattern spell. */
const PROBES = [
  '.env',
  '.env.local',
  '.netrc',
  '.git-credentials',
  'id_rsa',
  'id_ed25519',
  '\u0001.pem',
  '\u0001.env',
  '\u0001.tfstate',
  '\u0001.p12',
];
