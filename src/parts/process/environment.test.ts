import assert from 'node:assert/strict';
import { test } from 'node:test';
import { declaredEnvironment, isProviderKey, keysIn } from './environment.ts';

test('keys of model providers are known by name', () => {
  const keys = [
    'ANTHROPIC_API_KEY',
    'ANTHROPIC_AUTH_TOKEN',
    'OPENAI_API_KEY',
    'openai_api_key',
    'OPENAI_API_KEY_2',
    'OPENAI_KEY',
    'AZURE_OPENAI_API_KEY',
    'GEMINI_API_KEY',
    'GOOGLE_API_KEY',
    'GOOGLE_GENERATIVE_AI_API_KEY',
    'CLAUDE_CODE_OAUTH_TOKEN',
    'OPENROUTER_API_KEY',
    'AWS_BEARER_TOKEN_BEDROCK',
    'CRAB_API_KEY',
    'CRAB_SERVER_SECRET',
  ];
  assert.deepEqual(
    keys.filter((name) => !isProviderKey(name)),
    [],
  );
});

test('what programs need stays', () => {
  const others = [
    'PATH',
    'GITHUB_TOKEN',
    'NPM_TOKEN',
    'AWS_SECRET_ACCESS_KEY',
    'OPENAI_BASE_URL',
    'ANTHROPIC_MODEL',
    'CLAUDE_CODE_MAX_OUTPUT_TOKENS',
    'GOOGLE_APPLICATION_CREDENTIALS',
    'CRAB_HOME',
    'CRAB_CALL',
    'MY_OPENAI_API_KEY_HELPER',
  ];
  assert.deepEqual(others.filter(isProviderKey), []);
});

test('the declared environment adds what keeps programs from waiting, and nothing else', () => {
  const env = declaredEnvironment({
    HOME: '/h',
    NO_COLOR: '1',
    EDITOR: 'vim',
    GPG_TTY: '/dev/pts/1',
    ANTHROPIC_API_KEY: 'secret',
    GONE: undefined,
  });
  assert.deepEqual(env, {
    HOME: '/h',
    NO_COLOR: '1',
    CRAB: '1',
    TERM: 'dumb',
    PAGER: 'cat',
    GIT_PAGER: 'cat',
    MANPAGER: 'cat',
    SYSTEMD_PAGER: 'cat',
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
  });
});

test('variables that settings name as keys are dropped as well', () => {
  const { MY_GATEWAY, OTHER } = declaredEnvironment({ MY_GATEWAY: 'secret', OTHER: 'x' }, ['MY_GATEWAY']);
  assert.deepEqual([MY_GATEWAY, OTHER], [undefined, 'x']);
});

test('the keys of an environment are known, but not what is only said about them', () => {
  const env = {
    PATH: '/bin',
    OPENAI_API_KEY: ' secret-1\n',
    MY_GATEWAY: 'secret-2',
    ANTHROPIC_API_KEY_FILE: '/run/secrets/key',
    CRAB_API_KEY_HELPER_TTL_MS: '300000',
  };
  assert.deepEqual(keysIn(env, ['MY_GATEWAY']), ['secret-1', 'secret-2']);
});
