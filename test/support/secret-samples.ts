// One made-up secret of each shape. They are put together here, so that no file holds what a scanner of secrets, in a
// repository or in an editor, would take for a real one.

const LETTERS = 'aB3dE5gH7jK9mN2pQ4rS6tU8vW0xY1zCfLiOqTyXsRuVwZbDnGkPhJcMeFa';

/** So many letters and digits, different for each `seed`. */
function letters(count: number, seed: number, alphabet = LETTERS): string {
  let text = '';
  for (let at = 0; at < count; at++)
    text += alphabet.charAt((seed * 7 + at * (seed + 3) + at * at) % alphabet.length);
  return text;
}

const hex = (count: number, seed: number) => letters(count, seed, '0123456789abcdef');
const capitals = (count: number, seed: number) => letters(count, seed, 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567');

/** [vendor, prefix, what follows] */
const PARTS: readonly (readonly [string, string, string])[] = [
  ['Anthropic', 'sk-ant-', `api03-${letters(40, 1)}`],
  ['OpenRouter', 'sk-or-', `v1-${hex(64, 2)}`],
  ['OpenAI project', 'sk-proj-', letters(48, 3)],
  ['OpenAI', 'sk-', letters(48, 4)],
  ['DeepSeek', 'sk-', hex(32, 5)],
  ['Google API', 'AIza', letters(35, 6)],
  ['Google access token', 'ya29.', letters(60, 7)],
  ['Google refresh token', '1//0', letters(40, 8)],
  ['Google client secret', 'GOCSPX-', letters(28, 9)],
  ['Groq', 'gsk_', letters(52, 10)],
  ['xAI', 'xai-', letters(80, 11)],
  ['Perplexity', 'pplx-', letters(48, 12)],
  ['NVIDIA', 'nvapi-', letters(64, 13)],
  ['Replicate', 'r8_', letters(37, 14)],
  ['Hugging Face', 'hf_', letters(34, 15)],
  ['Fireworks', 'fw_', letters(24, 16)],
  ['Cerebras', 'csk-', letters(48, 17)],
  ['Tavily', 'tvly-', letters(32, 18)],
  ['AWS access key id', 'AKIA', capitals(16, 19)],
  ['AWS temporary key id', 'ASIA', capitals(16, 20)],
  ['Bedrock', 'bedrock-api-key-', letters(60, 21)],
  ['Azure client secret', `${letters(3, 22)}8Q~`, letters(34, 23)],
  ['GitHub', 'ghp_', letters(36, 24)],
  ['GitHub app', 'ghs_', letters(36, 25)],
  ['GitHub OAuth', 'gho_', letters(36, 26)],
  ['GitHub fine-grained', 'github_pat_', `11${letters(20, 27)}_${letters(59, 28)}`],
  ['GitLab', 'glpat-', letters(20, 29)],
  ['Bitbucket', 'ATBB', letters(32, 30)],
  ['Atlassian', 'ATATT3', letters(60, 31)],
  ['Slack bot', 'xoxb-', `${letters(12, 32, '0123456789')}-${letters(24, 33)}`],
  ['Slack user', 'xoxp-', `${letters(12, 34, '0123456789')}-${letters(24, 35)}`],
  ['Slack app', 'xapp-', `1-${letters(30, 36)}`],
  ['Discord bot', 'M', `${letters(24, 37)}.${letters(6, 38)}.${letters(28, 39)}`],
  ['Telegram bot', '123456789:', `AA${letters(33, 40)}`],
  ['npm', 'npm_', letters(36, 41)],
  ['PyPI', 'pypi-', letters(60, 42)],
  ['RubyGems', 'rubygems_', hex(48, 43)],
  ['crates.io', 'cio', letters(32, 44)],
  ['Docker Hub', 'dckr_pat_', letters(27, 45)],
  ['SendGrid', 'SG.', `${letters(22, 46)}.${letters(43, 47)}`],
  ['Mailgun', 'key-', hex(32, 48)],
  ['Mailchimp', '', `${hex(32, 49)}-us12`],
  ['Square', 'sq0atp-', letters(22, 50)],
  ['Stripe', 'sk_live_', letters(24, 51)],
  ['Stripe webhook', 'whsec_', letters(32, 52)],
  ['Twilio', 'SK', hex(32, 53)],
  ['Shopify', 'shpat_', hex(32, 54)],
  ['DigitalOcean', 'dop_v1_', hex(64, 55)],
  ['Databricks', 'dapi', hex(32, 56)],
  ['Vault', 'hvs.', letters(24, 57)],
  ['Doppler', 'dp.pt.', letters(43, 58)],
  ['New Relic', 'NRAK-', capitals(27, 59)],
  ['Grafana', 'glsa_', letters(41, 60)],
  ['Linear', 'lin_api_', letters(40, 61)],
  ['Notion', 'ntn_', letters(46, 62)],
  ['Figma', 'figd_', letters(40, 63)],
  ['Postman', 'PMAK-', `${hex(24, 64)}-${hex(34, 65)}`],
  ['PlanetScale', 'pscale_tkn_', letters(43, 66)],
  ['Supabase', 'sbp_', hex(40, 67)],
  ['Tailscale', 'tskey-auth-', letters(30, 68)],
  ['JSON Web Token', 'eyJ', `${letters(33, 69)}.${letters(60, 70)}.${letters(43, 71)}`],
  ['age secret key', 'AGE-SECRET-KEY-1', capitals(58, 72)],
];

export interface SecretSample {
  readonly vendor: string;
  readonly secret: string;
}

export const SECRET_SAMPLES: readonly SecretSample[] = PARTS.map(([vendor, prefix, rest]) => ({
  vendor,
  secret: prefix + rest,
}));

/** Secrets that only what stands around them gives away: [what, the text, the part of it that is secret]. */
export const SECRETS_IN_TEXT: readonly (readonly [string, string, string])[] = [
  ['database password', 'postgres://app:PW@db.example.com:5432/app', letters(20, 80)],
  ['password in a proxy URL', 'http://user:PW@proxy.example.com:8080/', letters(12, 81)],
  ['token as a user name', 'https://PW@github.example.com/x.git', letters(40, 82)],
  ['Basic header', 'Authorization: Basic PW', letters(30, 83)],
  ['Bearer header', 'authorization: Bearer PW', letters(40, 84)],
  ['AWS secret', 'AWS_SECRET_ACCESS_KEY=PW', letters(40, 85)],
  ['AWS secret in JSON', '{"SecretAccessKey":"PW"}', letters(40, 86)],
  ['signed URL', 'https://x.example.com/a?X-Amz-Signature=PW&b=1', hex(64, 87)],
  ['Azure storage', 'AccountName=a;AccountKey=PW==;Suffix=b', letters(86, 88)],
  ['OAuth refresh token', '{"refresh_token": "PW"}', letters(40, 89)],
  ['key header', "-H 'x-api-key: PW'", letters(32, 90)],
  ['npm registry', '//registry.example.com/:_authToken=PW', letters(36, 91)],
  [
    'Slack webhook',
    `https://hooks.${'slack'}.com/services/PW`,
    `T${capitals(8, 92)}/B${capitals(8, 93)}/${letters(24, 94)}`,
  ],
  [
    'private key',
    `-----BEGIN RSA ${'PRIVATE'} KEY-----\nPW\n-----END RSA ${'PRIVATE'} KEY-----`,
    letters(64, 95),
  ],
].map(([what = '', text = '', secret = '']) => [what, text.replace('PW', secret), secret] as const);
