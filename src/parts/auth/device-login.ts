// A login for a machine without a browser (RFC 8628): a short code is entered on any other device, and we ask until it
// was, no more often than we were told.

import { CrabError } from '../../core/errors.ts';
import type { StoredEntry } from './entry.ts';
import { LOGIN_LIMIT_MS, type LoginOptions } from './oauth-login.ts';
import { askForm, type TokenCall, TokenError, tokens } from './token-endpoint.ts';

const GRANT = 'urn:ietf:params:oauth:grant-type:device_code';

/** RFC 8628 3.5: what is taken where nothing is said, and what `slow_down` adds. */
const INTERVAL_MS = 5000;

export type DeviceLoginOptions = Omit<LoginOptions, 'readLine'> & { readonly deviceUrl: string };

/** Throws `auth-refused`, `auth-failed`. */
export async function deviceLogin(options: DeviceLoginOptions): Promise<StoredEntry> {
  const { client, provider, clock, send, signal, show, openBrowser } = options;
  const call: TokenCall = { provider, send, now: clock.now, signal };
  const scope = (options.scopes ?? client.scopes).join(' ');
  const fields = { client_id: client.clientId, ...(scope !== '' && { scope }) };
  const asked = await askForm(options.deviceUrl, fields, call);
  const { device_code: device, user_code: code, verification_uri: where } = asked;
  if (
    typeof device !== 'string' ||
    typeof code !== 'string' ||
    typeof where !== 'string' ||
    !URL.canParse(where)
  )
    throw new CrabError('provider-protocol', `${new URL(options.deviceUrl).host} did not hand out a code.`);
  const whole = asked['verification_uri_complete'];
  await show(
    `Open this address to log in to ${provider}:\n\n  ${plain(where)}\n\nand enter this code: ${plain(code)}\n\n`,
  );
  openBrowser?.(typeof whole === 'string' && URL.canParse(whole) ? whole : where);
  const seconds = Number(asked['expires_in'] ?? Number.NaN);
  const limitMs = Math.min(Number.isFinite(seconds) ? seconds * 1000 : LOGIN_LIMIT_MS, 2 * LOGIN_LIMIT_MS);
  const until = clock.monotonic() + limitMs;
  let pause = Number(asked['interval'] ?? Number.NaN) * 1000;
  if (!(pause > 0)) pause = INTERVAL_MS;
  while (clock.monotonic() < until) {
    await clock.sleep(pause, signal);
    try {
      const grant = { grant_type: GRANT, device_code: device, client_id: client.clientId };
      return await tokens(client, call, grant);
    } catch (thrown) {
      if (!(thrown instanceof TokenError)) throw thrown;
      if (thrown.reason === 'slow_down') pause += INTERVAL_MS;
      else if (thrown.reason !== 'authorization_pending') throw explained(provider, thrown);
    }
  }
  throw expired();
}

function explained(provider: string, error: TokenError): CrabError {
  if (error.reason === 'expired_token') return expired();
  if (error.reason !== 'access_denied') return error;
  return new CrabError('auth-refused', `${provider} did not allow the login.`, { hint: error.hint });
}

function expired(): CrabError {
  return new CrabError('auth-failed', 'The code has run out before it was entered.', {
    hint: 'Start the login again.',
  });
}

/** Text from outside on its way to a screen. */
function plain(text: string): string {
  return text.replace(/[\p{Cc}\p{Zl}\p{Zp}]/gu, '');
}
