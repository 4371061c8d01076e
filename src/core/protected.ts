// Names of what something else starts or obeys later: a hook, an editor's task, another agent's settings. Permissions ask
// before they are written, and the sandbox keeps them from commands: one list, so that neither is a way around the other.
// All in lower case, since file systems may ignore it.

/** Folders whose content starts programs, or says which may be started. `.git` is judged by its parts where that matters. */
export const STARTING_FOLDERS: ReadonlySet<string> = new Set([
  '.claude',
  '.crab',
  '.devcontainer',
  '.fleet',
  '.husky',
  '.idea',
  '.vscode',
  '.zed',
]);

export const STARTING_FILES: ReadonlySet<string> = new Set([
  '.bash_aliases',
  '.bash_login',
  '.bash_profile',
  '.bashrc',
  '.claude.json',
  '.devcontainer.json',
  '.envrc',
  '.gitconfig',
  '.mcp.json',
  '.profile',
  '.zlogin',
  '.zprofile',
  '.zshenv',
  '.zshrc',
]);

/** What git and package managers write themselves, too: asked about, and left to commands. */
export const CONFIGURING_FILES: ReadonlySet<string> = new Set([
  '.gitmodules',
  '.lefthook.yml',
  '.npmrc',
  '.pnp.cjs',
  '.pnp.loader.mjs',
  '.pre-commit-config.yaml',
  '.ripgreprc',
  '.yarnrc',
  '.yarnrc.yml',
  'lefthook.yml',
]);

/** What agents of this and other kinds obey as if a person had said it: who writes there speaks to the next one. */
export const INSTRUCTING_FOLDERS: ReadonlySet<string> = new Set([
  '.agents',
  '.amazonq',
  '.clinerules',
  '.codex',
  '.continue',
  '.cursor',
  '.gemini',
  '.junie',
  '.kiro',
  '.opencode',
  '.roo',
  '.trae',
  '.windsurf',
]);

export const INSTRUCTING_FILES: ReadonlySet<string> = new Set([
  '.aider.conf.yml',
  '.clinerules',
  '.cursorrules',
  '.goosehints',
  '.roorules',
  '.rules',
  '.windsurfrules',
  'agent.md',
  'agents.md',
  'agents.override.md',
  'claude.local.md',
  'claude.md',
  'copilot-instructions.md',
  'crab.md',
  'gemini.md',
  'opencode.json',
  'qwen.md',
  'warp.md',
]);
