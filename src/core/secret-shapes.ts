// What secrets of the field look like, for texts that Crab itself makes public: error messages, logs, recordings. A
// shape is a guess, so tool results and files are never rewritten by it; what is known to be a secret is
// `redact.ts`. Shapes are those that vendors publish for secret scanning, as in gitleaks and GitHub's list.

import { REDACTED } from './redact.ts';

export interface SecretShape {
  readonly name: string;
  /** Global. A first group is kept in front of the mark, a second one behind it. */
  readonly pattern: RegExp;
}

/** Letters that may not stand before a key: it would be the end of a longer word. */
const START = '(?<![A-Za-z0-9_])';
const END = '(?![A-Za-z0-9_])';

function shape(name: string, body: string, flags = 'g'): SecretShape {
  return { name, pattern: new RegExp(`${START}${body}`, flags) };
}

/** A value that is secret because of the name before it: `name = "value"`, in any of the usual ways to write that. */
function named(name: string, variable: string, value: string): SecretShape {
  return { name, pattern: new RegExp(`(\\b${variable}["']?\\s*[:=]\\s*["']?)${value}`, 'gi') };
}

export const SECRET_SHAPES: readonly SecretShape[] = [
  {
    name: 'private key',
    pattern:
      /-----BEGIN (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----(?:[^-]*-----END (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----|[A-Za-z0-9+/=\s\\]*)/g,
  },
  {
    name: 'PuTTY private key',
    pattern: /(PuTTY-User-Key-File-\d:[\s\S]{0,2000}?Private-Lines: \d+\s)[A-Za-z0-9+/=\s]+/g,
  },
  shape('age secret key', 'AGE-SECRET-KEY-1[A-Z0-9]{50,}'),
  shape('JSON Web Token', 'eyJ[A-Za-z0-9_-]{8,}\\.[A-Za-z0-9_-]{4,}(?:\\.[A-Za-z0-9_-]*){0,3}'),

  shape('Anthropic', 'sk-ant-[A-Za-z0-9_-]{10,}'),
  shape('OpenRouter', 'sk-or-[A-Za-z0-9_-]{10,}'),
  shape('OpenAI project', 'sk-(?:proj|svcacct|admin|None)-[A-Za-z0-9_-]{10,}'),
  shape('Langfuse', '[sp]k-lf-[0-9a-f-]{20,}'),
  shape('key of the sk- form', 'sk-[A-Za-z0-9_-]{16,}'),
  shape('Google API', 'AIza[A-Za-z0-9_-]{30,}'),
  shape('Google OAuth access token', 'ya29\\.[A-Za-z0-9_-]{10,}'),
  shape('Google OAuth refresh token', '1//0[A-Za-z0-9_-]{20,}'),
  shape('Google OAuth client secret', 'GOCSPX-[A-Za-z0-9_-]{16,}'),
  shape('Groq', 'gsk_[A-Za-z0-9]{16,}'),
  shape('xAI', 'xai-[A-Za-z0-9_-]{16,}'),
  shape('Perplexity', 'pplx-[A-Za-z0-9]{16,}'),
  shape('NVIDIA', 'nvapi-[A-Za-z0-9_-]{16,}'),
  shape('Replicate', 'r8_[A-Za-z0-9]{16,}'),
  shape('Hugging Face', '(?:hf|api_org)_[A-Za-z0-9]{16,}'),
  shape('Fireworks', 'fw_[A-Za-z0-9]{16,}'),
  shape('Cerebras', 'csk-[A-Za-z0-9]{16,}'),
  shape('Together', 'tgp_v1_[A-Za-z0-9_-]{16,}'),
  shape('Tavily', 'tvly-[A-Za-z0-9-]{16,}'),
  shape('Bedrock', 'bedrock-api-key-[A-Za-z0-9+/=_-]{16,}'),
  shape('ABSK of Bedrock', 'ABSK[A-Za-z0-9+/]{40,}={0,2}'),

  shape('AWS access key id', `(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}${END}`),
  named('AWS secret', 'aws_?(?:secret_?access_?key|session_?token|secret)', '[A-Za-z0-9/+=]{30,}'),
  named('AWS secret in JSON', '(?:SecretAccessKey|SessionToken)', '[A-Za-z0-9/+=]{30,}'),
  {
    name: 'signature in a URL',
    pattern: /([?&](?:X-Amz-(?:Signature|Security-Token|Credential)|X-Goog-Signature|sig)=)[^&\s"'<>]{8,}/gi,
  },
  named('Azure storage', 'AccountKey', '[A-Za-z0-9+/]{40,}={0,2}'),
  named('Azure shared access', 'SharedAccessKey', '[A-Za-z0-9+/]{20,}={0,2}'),
  shape('Azure AD client secret', '[A-Za-z0-9_~.]{3}\\dQ~[A-Za-z0-9_~.-]{31,34}'),
  named(
    'key in a header',
    '(?:api-?key|x-api-key|x-goog-api-key|ocp-apim-subscription-key)',
    '[A-Za-z0-9_.~+/=-]{12,}',
  ),
  named(
    'password or secret by its name',
    '(?:client_secret|refresh_token|access_token|id_token|api_key|apikey|secret_key|private_token|password|passwd)',
    '(?=[^\\s"\',;&<>]*\\d)[^\\s"\',;&<>]{8,}',
  ),

  shape('GitHub', 'gh[pousr]_[A-Za-z0-9]{16,}'),
  shape('GitHub fine-grained', 'github_pat_[A-Za-z0-9_]{20,}'),
  shape('GitLab', 'gl(?:pat|dt|rt|soat|cbt|ptt|ft|imt|agent)-[A-Za-z0-9_.=-]{16,}'),
  shape('Bitbucket', 'ATBB[A-Za-z0-9]{24,}'),
  shape('Atlassian', 'ATATT3[A-Za-z0-9_=-]{40,}'),
  shape('Slack', 'xox[abeoprs](?:\\.xox[bp])?-[A-Za-z0-9-]{10,}'),
  shape('Slack app', 'xapp-\\d-[A-Za-z0-9-]{10,}'),
  {
    name: 'Slack webhook',
    pattern: /(hooks\.slack\.com\/(?:services|workflows|triggers)\/)[A-Za-z0-9/_-]{20,}/g,
  },
  { name: 'Discord webhook', pattern: /(discord(?:app)?\.com\/api\/webhooks\/\d+\/)[A-Za-z0-9_-]{20,}/g },
  shape('Discord bot', '[MNO][A-Za-z0-9_-]{23,27}\\.[A-Za-z0-9_-]{6}\\.[A-Za-z0-9_-]{27,}'),
  shape('Telegram bot', '\\d{8,10}:AA[A-Za-z0-9_-]{32,34}'),
  shape('npm', 'npm_[A-Za-z0-9]{20,}'),
  { name: 'npm registry', pattern: /(_authToken\s*=\s*)[^\s"']{8,}/g },
  shape('PyPI', 'pypi-[A-Za-z0-9_-]{16,}'),
  shape('RubyGems', 'rubygems_[0-9a-f]{32,}'),
  shape('crates.io', 'cio[A-Za-z0-9]{32}'),
  shape('Docker Hub', 'dckr_(?:pat|oat)_[A-Za-z0-9_-]{16,}'),
  shape('SendGrid', 'SG\\.[A-Za-z0-9_-]{10,}\\.[A-Za-z0-9_-]{10,}'),
  shape('Mailgun', `key-[0-9a-f]{32}${END}`),
  shape('Mailchimp', `[0-9a-f]{32}-us\\d{1,2}${END}`),
  shape('Square', 'sq0[a-z]{3}-[A-Za-z0-9_-]{16,}'),
  shape('Stripe', '(?:sk|rk|pk)_(?:live|test)_[A-Za-z0-9]{10,}'),
  shape('Stripe webhook', 'whsec_[A-Za-z0-9+/=]{16,}'),
  shape('Twilio', `(?:SK|AC)[0-9a-f]{32}${END}`),
  shape('Shopify', 'shp(?:at|ca|pa|ss)_[0-9a-fA-F]{32}'),
  shape('DigitalOcean', 'do[opr]_v1_[0-9a-f]{32,}'),
  shape('Databricks', 'dapi[0-9a-f]{32}(?:-\\d)?'),
  shape('Vault', 'hv[sbr]\\.[A-Za-z0-9_-]{20,}'),
  shape('Terraform Cloud', '[A-Za-z0-9]{14}\\.atlasv1\\.[A-Za-z0-9_=-]{40,}'),
  shape('Doppler', 'dp\\.(?:pt|st|sa|ct|scim|audit)\\.[A-Za-z0-9._-]{16,}'),
  shape('1Password', 'ops_eyJ[A-Za-z0-9+/=_-]{20,}'),
  shape('New Relic', 'NR(?:AK|JS|II|RA)-[A-Za-z0-9_-]{16,}'),
  shape('Sentry', 'sntry[su]_[A-Za-z0-9+/=_-]{20,}'),
  shape('Grafana', 'gl(?:sa|c)_[A-Za-z0-9+/=_]{20,}'),
  shape('Linear', 'lin_(?:api|oauth)_[A-Za-z0-9]{16,}'),
  shape('Notion', '(?:ntn_|secret_)[A-Za-z0-9]{30,}'),
  shape('Figma', 'figd_[A-Za-z0-9_-]{16,}'),
  shape('Postman', 'PMAK-[0-9a-f]{20,}-[0-9a-f]{20,}'),
  shape('PlanetScale', 'pscale_(?:tkn|pw|oauth)_[A-Za-z0-9_.=-]{16,}'),
  shape('Supabase', 'sb[ps]_[A-Za-z0-9_]{16,}'),
  shape('Heroku', 'HRKU-[A-Za-z0-9_-]{20,}'),
  shape('Tailscale', 'tskey-[a-z]+-[A-Za-z0-9-]{16,}'),
  shape('Cloudflare origin CA', 'v1\\.0-[0-9a-f]{20,}-[0-9a-f]{60,}'),
  shape('Airtable', 'pat[A-Za-z0-9]{14}\\.[0-9a-f]{60,}'),

  {
    name: 'password in a URL',
    pattern: /([a-z][a-z0-9+.-]{1,30}:\/\/[^\s/?#:@"'<>]{0,200}:)[^\s/?#@"'<>]{1,500}(@)/gi,
  },
  { name: 'user name that is a token, in a URL', pattern: /(https?:\/\/)[A-Za-z0-9_.~+=-]{20,}(@)/gi },
  {
    name: 'authorization header',
    pattern: /(\b(?:bearer|basic|token)\s+)(?=[A-Za-z0-9_.~+/=-]*\d)[A-Za-z0-9_.~+/=-]{16,}/gi,
  },
];

/** The text with everything that looks like a secret masked. */
export function maskShapes(text: string): string {
  let masked = text;
  for (const { pattern } of SECRET_SHAPES)
    masked = masked.replace(
      pattern,
      (...found: unknown[]) => `${groupOf(found, 1)}${REDACTED}${groupOf(found, 2)}`,
    );
  return masked;
}

/** A replacer is called with the match, its groups, and then the offset, which is a number. */
function groupOf(found: readonly unknown[], group: number): string {
  const text = found[group];
  return typeof text === 'string' && typeof found.at(-2) === 'number' && group < found.length - 2 ? text : '';
}

/** What something in the text looks like, such as `GitHub`; undefined where nothing looks like a secret. */
export function secretIn(text: string): string | undefined {
  return SECRET_SHAPES.find(({ pattern }) => text.search(pattern) >= 0)?.name;
}
