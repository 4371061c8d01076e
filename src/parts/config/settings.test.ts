import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, suite, test } from 'node:test';
import { CrabError } from '../../core/errors.ts';
import { NO_SETTINGS, type Settings } from '../../core/settings.ts';
import { PERMISSION_KEYS } from './permission-values.ts';
import {
  BROWSER_KEYS,
  BUDGET_KEYS,
  DAEMON_KEYS,
  HISTORY_KEYS,
  LSP_KEYS,
  MODEL_KEYS,
  NETWORK_KEYS,
  OAUTH_KEYS,
  POLICY_KEYS,
  PRICE_KEYS,
  PROVIDER_KEYS,
  REMOTE_KEYS,
  SANDBOX_KEYS,
  SHELL_KEYS,
  TOOL_KEYS,
  TOP_KEYS,
  WEB_KEYS,
} from './schema.ts';
import { readSettings, type SettingsOptions } from './settings.ts';

let home: string;
let warnings: string[];

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'crab-settings-'));
  warnings = [];
});

afterEach(() => rmSync(home, { recursive: true, force: true }));

function read(toml?: string | Uint8Array, options: Partial<SettingsOptions> = {}): Promise<Settings> {
  if (toml !== undefined) writeFileSync(join(home, 'config.toml'), toml, { mode: 0o600 });
  const warn = (text: string) => void warnings.push(text);
  return readSettings({ home, homeFolder: '/home/me', env: {}, files: [], warn, ...options });
}

async function refusal(...args: Parameters<typeof read>): Promise<string> {
  try {
    await read(...args);
  } catch (error) {
    assert.ok(error instanceof CrabError && error.code === 'settings-invalid', String(error));
    return error.message.replaceAll(home, 'HOME');
  }
  throw new Error('accepted');
}

suite('settings', () => {
  test('without a file there are none', async () => {
    assert.deepEqual(await read(), NO_SETTINGS);
  });

  test('every key is read', async () => {
    const settings = await read(
      `
model = "acme/big"
fallback_models = ["acme/small", "local"]
small_model = "acme/small"
plan_model = "acme/thinker"
effort = "high"
fast = true
max_tokens = 9000
api_key_helper = "pass show key"
api_key_helper_ttl = 1.5

[providers.acme]
api = "openai-completions"
base_url = "https://\${HOST:-acme.example}/v1"
api_key_env = "ACME_KEY"
headers = { "X-Team" = "\${TEAM}" }
default_model = "big"
models = ["big", "small"]
max_retries = 0
quirks = { max_tokens_field = "max_tokens", strict = false }

[providers.acme.oauth]
authorize_url = "https://acme.example/authorize"
token_url = "https://acme.example/token"
client_id = "crab"
scopes = ["chat"]
port = 1455

[models."acme/big"]
context_window = 200_000
max_output = 8192
price = { input = 1, output = 2.5 }
input = ["image"]
reasoning = true

[budget]
run_usd = 1
day_usd = 20.5

[network]
proxy = "http://proxy:3128"
ca_file = "ca.pem"
client_cert = "~/cert.pem"
client_key = "/etc/key.pem"
[policy]
auto_compact = false
compact_reserve_tokens = 1000
compact_keep_recent_tokens = 0
compact_at = 0.5
snip_at = 1
`,
      { env: { TEAM: 'blue' } },
    );
    assert.deepEqual(settings, {
      model: 'acme/big',
      fallbackModels: ['acme/small', 'local'],
      smallModel: 'acme/small',
      planModel: 'acme/thinker',
      effort: 'high',
      fast: true,
      maxTokens: 9000,
      apiKeyHelper: 'pass show key',
      apiKeyHelperTtlMs: 1500,
      providers: {
        acme: {
          api: 'openai-completions',
          baseUrl: 'https://acme.example/v1',
          apiKeyEnv: 'ACME_KEY',
          headers: { 'X-Team': 'blue' },
          defaultModel: 'big',
          models: ['big', 'small'],
          maxRetries: 0,
          quirks: { max_tokens_field: 'max_tokens', strict: false },
          oauth: {
            authorizeUrl: 'https://acme.example/authorize',
            tokenUrl: 'https://acme.example/token',
            clientId: 'crab',
            scopes: ['chat'],
            port: 1455,
          },
        },
      },
      models: {
        'acme/big': {
          contextWindow: 200_000,
          maxOutput: 8192,
          price: { input: 1, output: 2.5 },
          input: ['image'],
          reasoning: true,
        },
      },
      budget: { runUsd: 1, dayUsd: 20.5 },
      network: {
        proxy: 'http://proxy:3128',
        caFile: join(home, 'ca.pem'),
        clientCert: '/home/me/cert.pem',
        clientKey: '/etc/key.pem',
      },
      policy: {
        autoCompact: false,
        compactReserveTokens: 1000,
        compactKeepRecentTokens: 0,
        compactAt: 0.5,
        snipAt: 1,
      },
    } satisfies Settings);
    assert.deepEqual(warnings, []);
  });

  test('of the sandbox each key is told with its place, the winning one of several', async () => {
    const other = join(home, 'other.toml');
    writeFileSync(other, '[sandbox]\nmax_memory_mib = 512\n', { mode: 0o600 });
    const toml =
      '[sandbox]\nmode = "required"\nmax_processes = 99\nmax_memory_mib = 2048\nbackend = "landlock"\n';
    const { sandbox } = await read(toml, { files: [other] });
    assert.deepEqual(sandbox, {
      mode: 'required',
      maxProcesses: 99,
      maxMemoryMib: 512,
      backend: 'landlock',
      sources: {
        mode: `${home}/config.toml:2`,
        max_processes: `${home}/config.toml:3`,
        max_memory_mib: `${other}:2`,
        backend: `${home}/config.toml:5`,
      },
    });
  });

  test('a profile lies over the file, a file of the command over both, key by key', async () => {
    const other = join(home, 'other.toml');
    writeFileSync(other, '[budget]\nrun_usd = 3\n[providers.a.headers]\nx = "2"\n', { mode: 0o600 });
    const toml = `
profile = "play"
model = "one"
effort = "low"
[providers.a]
base_url = "http://a"
headers = { x = "1", y = "1" }
[profiles.play]
effort = "max"
[profiles.work]
model = "two"
[profiles.work.budget]
day_usd = 5
run_usd = 1
`;
    assert.deepEqual(await read(toml, { files: [other], profile: 'work' }), {
      ...NO_SETTINGS,
      model: 'two',
      effort: 'low',
      providers: { a: { baseUrl: 'http://a', headers: { x: '2', y: '1' } } },
      budget: { dayUsd: 5, runUsd: 3 },
    });
    assert.equal((await read(toml)).effort, 'max');
  });

  for (const [name, toml, message] of [
    ['broken TOML', 'model = "x"\nmodel =', /^HOME\/config\.toml:2:\d+: .+\.$/],
    ['an unknown key', '\nmodle = "x"', /^HOME\/config\.toml:2: there is no setting "modle"\.$/],
    [
      'an unknown key in a table',
      '[providers.a]\nbase = "x"',
      /^HOME\/config\.toml:2: there is no setting "base" in providers\.a\.$/,
    ],
    ['a number for a text', 'model = 3', /:1: model must be a text in quotes that is not empty\.$/],
    ['an empty text', 'model = " "', /:1: model must be a text/],
    ['a text for a list', 'fallback_models = "x"', /:1: fallback_models must be a list/],
    ['a wrong item of a list', 'fallback_models = ["x", 1]', /fallback_models\.1 must be a text/],
    [
      'a wrong choice',
      'effort = "huge"',
      /:1: effort must be one of "off", "low", "medium", "high", "max"\.$/,
    ],
    [
      'a negative budget',
      '[budget]\nday_usd = -1',
      /:2: budget\.day_usd must be a number that is not negative\.$/,
    ],
    ['a budget that is no number', '[budget]\nday_usd = nan', /:2: budget\.day_usd must be a number/],
    ['half a price', '[models.x]\nprice = { input = 1 }', /:2: models\.x\.price needs output\.$/],
    ['half a client', '[providers.a.oauth]\nport = 1', /:1: providers\.a\.oauth needs authorize_url\.$/],
    ['a date for a table', 'budget = 2026-01-01', /:1: budget must be a table\.$/],
    [
      'an unset variable',
      '[network]\nproxy = "http://${NOPE}"',
      /:2: network\.proxy names the variable NOPE, which is not set\.$/,
    ],
    ['a share above one', '[policy]\nsnip_at = 70', /policy\.snip_at must be a number above 0 and up to 1/],
    ['profiles that are no tables', 'profiles = 1', /profiles must be tables/],
    ['a key of an object', '__proto__ = 1', /there is no setting "__proto__"/],
  ] as const) {
    test(`${name} is refused with its place`, async () => {
      assert.match(await refusal(toml), message);
    });
  }

  test('a profile that is not there is refused', async () => {
    assert.equal(await refusal('model = "x"', { profile: 'work' }), 'There is no profile "work".');
  });

  test('what is no text file is refused at once', async () => {
    assert.equal(await refusal(Uint8Array.of(0xff, 0xfe)), 'HOME/config.toml is not UTF-8.');
    assert.equal(
      await refusal('#'.repeat(1024 * 1024 + 1)),
      'HOME/config.toml has 1048577 bytes; the limit is 1048576.',
    );
    rmSync(join(home, 'config.toml'));
    mkdirSync(join(home, 'config.toml'));
    assert.equal(await refusal(), 'HOME/config.toml is no regular file.');
    assert.equal(await refusal(undefined, { files: ['/dev/zero'] }), 'HOME/config.toml is no regular file.');
    rmSync(join(home, 'config.toml'), { recursive: true });
    assert.equal(await refusal(undefined, { files: ['/dev/zero'] }), '/dev/zero is no regular file.');
    assert.equal(
      await refusal(undefined, { files: [join(home, 'none.toml')] }),
      'HOME/none.toml is not there.',
    );
  });

  test('a file that everybody may write is refused', { skip: process.platform === 'win32' }, async () => {
    writeFileSync(join(home, 'config.toml'), '');
    chmodSync(join(home, 'config.toml'), 0o666);
    assert.equal(await refusal(), 'HOME/config.toml may be written by everybody.');
  });

  test('a key in the file is accepted, with a warning when others can read it', async () => {
    const settings = await read('[providers.a]\napi_key = "sk-1"');
    assert.equal(settings.providers['a']?.apiKey, 'sk-1');
    assert.deepEqual(warnings, []);
    chmodSync(join(home, 'config.toml'), 0o644);
    await read();
    assert.deepEqual(warnings, [
      `${join(home, 'config.toml')} holds a key, and other users of this machine can read it: run \`chmod 600\` on it`,
    ]);
  });

  test('the guide lists every key and no other', () => {
    const guide = readFileSync(new URL('../../../docs/guide/settings.md', import.meta.url), 'utf8');
    const listed = [...guide.matchAll(/^\| `([a-z_]+)`/gm)].map(([, key = '']) => key);
    const keys = [
      TOP_KEYS,
      PROVIDER_KEYS,
      OAUTH_KEYS,
      MODEL_KEYS,
      PRICE_KEYS,
      BUDGET_KEYS,
      DAEMON_KEYS,
      NETWORK_KEYS,
      HISTORY_KEYS,
      POLICY_KEYS,
      PERMISSION_KEYS,
      TOOL_KEYS,
      SHELL_KEYS,
      LSP_KEYS,
      WEB_KEYS,
      BROWSER_KEYS,
      SANDBOX_KEYS,
      REMOTE_KEYS,
    ].flatMap((one) => Object.keys(one));
    const tables = [
      'providers',
      'models',
      'budget',
      'network',
      'history',
      'policy',
      'permissions',
      'tools',
      'shell',
      'sandbox',
      'lsp',
      'oauth',
      'models',
      'web',
      'browser',
      'daemon',
      'remotes',
    ];
    const names = keys.filter((key) => !tables.includes(key));
    // Some are a key of one table and the name of another.
    const expected = [...names, 'models', 'profile', 'network', 'sandbox'].sort();
    assert.deepEqual(listed.sort(), expected);
  });
});
