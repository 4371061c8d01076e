// The environment that programs are started with: the person's own, without the keys that pay for models,
// and set so that nothing can wait for somebody who is not there.

/** Providers of models, as their variables begin. A key of theirs is of no use to a build, and worth stealing. */
const PROVIDERS = [
  'AI_GATEWAY',
  'ANTHROPIC',
  'AZURE_OPENAI',
  'BASETEN',
  'CEREBRAS',
  'CLAUDE',
  'CODEX',
  'COHERE',
  'COPILOT',
  'CRAB',
  'DASHSCOPE',
  'DEEPINFRA',
  'DEEPSEEK',
  'FIREWORKS',
  'GEMINI',
  'GITHUB_MODELS',
  'GOOGLE_AI',
  'GOOGLE_API',
  'GOOGLE_GENERATIVE_AI',
  'GROQ',
  'LITELLM',
  'LLAMACPP',
  'LMSTUDIO',
  'MINIMAX',
  'MISTRAL',
  'MOONSHOT',
  'NEBIUS',
  'NOVITA',
  'NVIDIA',
  'OLLAMA',
  'OPENAI',
  'OPENCODE',
  'OPENROUTER',
  'PERPLEXITY',
  'REPLICATE',
  'SILICONFLOW',
  'TOGETHER',
  'TOGETHERAI',
  'VLLM',
  'VOYAGE',
  'XAI',
  'XIAOMI',
  'ZAI',
  'ZHIPU',
  'ZHIPUAI',
] as const;

// Credentials of whole clouds (AWS_ACCESS_KEY_ID, GOOGLE_APPLICATION_CREDENTIALS) are passed on: `aws`, `terraform` and
// `gcloud` are what a person works with, and run with them in any shell. What Crab itself signs with is taken out of
// their output.

/** `<provider>…KEY`, `…TOKEN`, `…SECRET`, also with a number or a name behind; and two that keep to no such form. */
const PROVIDER_KEY = new RegExp(
  `^(?:(?:${PROVIDERS.join('|')})(?:_[A-Z0-9_]*)?_(?:KEYS?|TOKEN|SECRET)(?:_[A-Z0-9_]*)?|AWS_BEARER_TOKEN_BEDROCK|CO_API_KEY)$`,
  'i',
);

/** Tells a program that an agent started it. */
const CHILD_VARIABLE = 'CRAB';
/** Names the call that a process belongs to, so that it can be found wherever it went. */
export const CALL_VARIABLE = 'CRAB_CALL';

const UNATTENDED: Readonly<Record<string, string>> = {
  [CHILD_VARIABLE]: '1',
  TERM: 'dumb',
  PAGER: 'cat',
  GIT_PAGER: 'cat',
  MANPAGER: 'cat',
  SYSTEMD_PAGER: 'cat',
  // An editor fails: taking its file as it is would commit what nobody wrote.
  EDITOR: 'false',
  VISUAL: 'false',
  GIT_EDITOR: 'false',
  GIT_SEQUENCE_EDITOR: 'false',
  GIT_TERMINAL_PROMPT: '0',
  GIT_ASKPASS: 'false',
  SSH_ASKPASS: 'false',
  SSH_ASKPASS_REQUIRE: 'never',
  SUDO_ASKPASS: 'false',
  DEBIAN_FRONTEND: 'noninteractive',
};

/** Names of the person's terminal, which a password prompt would take over. */
const TERMINAL_VARIABLES = ['GPG_TTY', 'SSH_TTY'];

export function isProviderKey(name: string): boolean {
  // Few names get as far as the long pattern.
  return LIKE_KEY.test(name) && PROVIDER_KEY.test(name);
}

const LIKE_KEY = /KEY|TOKEN|SECRET/i;

/** What is said about a key and is none, such as the file that it is in. */
const ABOUT_KEY = /_(?:FILE|PATH|DIR|URL|MS|HELPER)$/i;

/** The keys among the values of the variables that are not passed on. */
export function keysIn(
  host: Readonly<Record<string, string | undefined>>,
  keys: readonly string[] = [],
): readonly string[] {
  const names = Object.keys(host).filter((name) => isProviderKey(name) || keys.includes(name));
  return names.filter((name) => !ABOUT_KEY.test(name)).map((name) => host[name]?.trim() ?? '');
}

/** Made once from the host's environment; a call adds its own to a copy. `keys` are dropped beside those known here. */
export function declaredEnvironment(
  host: Readonly<Record<string, string | undefined>>,
  keys: readonly string[] = [],
): Readonly<Record<string, string>> {
  const declared: Record<string, string> = {};
  for (const [name, value] of Object.entries(host)) {
    if (value !== undefined && !isProviderKey(name) && !keys.includes(name)) declared[name] = value;
  }
  for (const name of TERMINAL_VARIABLES) delete declared[name];
  return Object.assign(declared, UNATTENDED);
}
